//! A page about a model in a browser: the progress of its search, its quotient as a graph, its runs and its symmetries
//! ([why so](../../../docs/adr/0033-the-explorer.md)).
//!
//! [`Server::start`] searches on a thread of its own and serves the page, which is embedded, and the interface that it
//! uses (`docs/explorer-api.md`). Everything about models comes from the facade; this crate has HTTP, JSON, and the
//! layout of graphs. Nothing is read from or written to the file system.
//!
//! `server` answers requests, by `answers`, `texts`, `runs`, `symmetry` and `search`; `graph` is the quotient on
//! demand, `layered` its layout. To add to the page: a resource in `server` and in `docs/explorer-api.md`, a view in
//! `assets`. Tests are `tests/all/interface.rs`, and `cli/tests/all/explorer.rs` in a browser.

mod answers;
mod assets;
mod graph;
mod layered;
mod orbits;
mod runs;
mod search;
mod server;
mod symmetry;
mod texts;

use quotient::{Control, Error, Model, Observer, Report, Symmetry};

pub use search::Ended;
pub use server::{Server, Stopper};

/// What to show.
pub struct Subject {
    /// The model with all its steps, for runs and the graph.
    pub model: Model,
    /// The model that is searched.
    pub searched: Model,
    /// The command that asks for it, `check` or `explore`.
    pub command: &'static str,
    /// The symmetries whose orbits are the nodes of the graph.
    pub symmetry: Symmetry,
    /// The search.
    pub task: Task,
}

/// A search: reports what it does to an observer, and ends when its control is cancelled.
pub type Task = Box<dyn FnOnce(&Control, &mut dyn Observer) -> Result<Found, Error> + Send>;

/// The result of a search.
#[derive(Debug)]
pub struct Found {
    /// The report.
    pub report: Report,
    /// The same with runs of the model with all its steps.
    pub shown: Report,
    /// The report as JSON, as the command prints it.
    pub json: String,
}
