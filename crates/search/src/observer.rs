//! Observers of a search: progress, requests to stop, and the graph for export.

use std::ops::ControlFlow;
use std::time::Duration;

use quotient_ir::Interrupt;

use crate::report::StopReason;
use crate::seam::Instance;

/// Returns the time since some fixed point, preferably in processor time of the calling thread. Engines read no other
/// clock, and this one only for figures in reports.
pub type Clock = fn() -> Duration;

/// The progress of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States stored.
    pub states: u64,
    /// Rule instances fired.
    pub transitions: u64,
    /// States stored but not yet expanded.
    pub frontier: u64,
    /// Steps from a start to the deepest state.
    pub depth: u64,
    /// Bytes used for stored states.
    pub memory_bytes: u64,
}

/// A step from one stored state to another.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    /// The number of the state it starts from.
    pub from: u64,
    /// The rule and its arguments.
    pub instance: Instance<'a>,
    /// The number of the state it leads to.
    pub to: u64,
    /// The state of the model it leads to; in a quotient, the stored state is its representative.
    pub concrete: &'a [u64],
    /// Whether that differs from the state it starts from.
    pub changes: bool,
}

/// Observes a search. Time limits belong here, since a search does not read the clock.
pub trait Observer {
    /// Called at least every few thousand states; a break ends the search as inconclusive.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        let _ = progress;
        ControlFlow::Continue(())
    }
    /// How far the search is at this moment, to be shown: nothing may depend on it, since it is a matter of chance on
    /// several threads.
    fn glance(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// The search resumes from a checkpoint with this many states; called before its first report of progress.
    fn resumed(&mut self, states: u64) {
        let _ = states;
    }
    /// Whether a checkpoint should be written now, if one is configured. Called after each report of progress.
    fn wants_checkpoint(&mut self) -> bool {
        false
    }
    /// Whether [`Observer::state`] and [`Observer::edge`] should be called. Called once.
    fn wants_graph(&self) -> bool {
        false
    }
    /// A state was stored. Numbers count from 0 in the order of discovery; `initial` says whether a start led to it
    /// first.
    fn state(&mut self, number: u64, state: &[u64], initial: bool) {
        let _ = (number, state, initial);
    }
    /// A rule instance leads from one stored state to another. Called after [`Observer::state`]
    /// for both ends.
    fn edge(&mut self, edge: Edge<'_>) {
        let _ = edge;
    }
    /// An interrupt that can be read without calling the observer: it also stops work before the search.
    fn interrupt(&self) -> Interrupt {
        Interrupt::new()
    }
    /// A clock, for figures in reports only.
    fn clock(&self) -> Option<Clock> {
        None
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
