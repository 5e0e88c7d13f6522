//! What searches that store states share. Knows nothing of how the states are found: an [`Explorer`] says that, in one
//! process or in several.
//!
//! * **From a search to a report**: `planned` searches orbits as planned ([`check_orbits`]); `judging` judges what was
//!   found, rebuilds runs (`rebuild`) and has them replayed by the reference interpreter. A replay that fails is an
//!   internal error, never a verdict. `cross_check` compares a reduced search with the unreduced one, `statistics`
//!   counts firings.
//! * **A search**: `expansion` expands a state, `batch` and `lookup` find out which successors are new, [`judge`] is
//!   the only way into a store. `exploration` is its result, `recent` has states seen lately. `findings` has the
//!   violations that are kept, and what a kind of error is; `liveness` decides `AG EF`.
//! * **Stores**: `store`; `dense`, a few bytes for each state ([how](../../../docs/adr/0039-compact-stores.md),
//!   [chosen by itself](../../../docs/adr/0046-dense-by-itself.md)); `shards`, `overflow` and `records` for threads
//!   and disk; `checkpoint` saves and resumes. `pages` asks for large pages and has the `unsafe` code of this crate.

pub mod batch;
pub mod checkpoint;
mod cross_check;
pub mod dense;
pub mod expansion;
mod exploration;
pub mod findings;
pub mod judge;
mod judging;
mod liveness;
mod lookup;
mod numbers;
mod overflow;
pub mod pages;
mod planned;
pub mod rebuild;
pub mod recent;
pub mod records;
mod shards;
mod statistics;
pub mod store;
mod violation_kind;

pub use cross_check::{compare_verdicts, differ, state_text, unfinished};
pub use exploration::{End, Exploration, Finding, Halt, Rest, note, stop};
pub use judging::{Explorer, OrbitCounter, Orbits, search_and_judge};
pub use lookup::Lookup;
pub use overflow::Overflow;
pub use planned::{check_orbits, check_quotient};
pub use shards::{Everywhere, Shards};
