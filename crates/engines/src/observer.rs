//! Who watches a search: progress, the wish to stop, and the graph for export.

use std::ops::ControlFlow;

use quotient_ir::Interrupt;

use crate::report::StopReason;
use crate::seam::Instance;
use crate::systems::quotient::Clock;

/// How far a search is.
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
    /// The state of the model it leads to; in a quotient the stored one is a representative of it.
    pub concrete: &'a [u64],
    /// Whether that is another state than the one it starts from.
    pub changes: bool,
}

/// Watches a search. Limits of time live here, since a search does not read the clock.
pub trait Observer {
    /// Called at least every few thousand states; breaking ends the search as inconclusive.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        let _ = progress;
        ControlFlow::Continue(())
    }
    /// The search continues from a checkpoint that has so many states; called before its first report of progress.
    fn resumed(&mut self, states: u64) {
        let _ = states;
    }
    /// Whether it is time to write a checkpoint, if there is to be one. Asked after each report of
    /// progress.
    fn wants_checkpoint(&mut self) -> bool {
        false
    }
    /// Whether [`Observer::state`] and [`Observer::edge`] are to be called. Asked once.
    fn wants_graph(&self) -> bool {
        false
    }
    /// A state was stored. Numbers count from 0 in the order of discovery; `initial` tells whether
    /// a start led to it first.
    fn state(&mut self, number: u64, state: &[u64], initial: bool) {
        let _ = (number, state, initial);
    }
    /// A rule instance leads from one stored state to another. Called after [`Observer::state`]
    /// for both ends.
    fn edge(&mut self, edge: Edge<'_>) {
        let _ = edge;
    }
    /// A wish to stop that can be read without asking the observer: what is done before a search listens to it.
    fn interrupt(&self) -> Interrupt {
        Interrupt::new()
    }
    /// Tells the time, for figures only.
    fn clock(&self) -> Option<Clock> {
        None
    }
}

/// An observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
