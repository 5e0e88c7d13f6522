//! What a proof reports while it runs, and whether it may go on.

use std::ops::ControlFlow;

use crate::clauses::Halted;
use quotient_search::{Observer, Progress, StopReason};

/// The number of questions to the solver between reports.
const INTERVAL: u64 = 64;

/// The observer, and what was done so far.
pub(crate) struct Watch<'w> {
    observer: &'w mut dyn Observer,
    /// Questions to the solver.
    pub(crate) queries: u64,
    /// Clauses that were learned.
    pub(crate) learned: u64,
    progress: Progress,
}

impl<'w> Watch<'w> {
    pub(crate) fn new(observer: &'w mut dyn Observer) -> Self {
        Self { observer, queries: 0, learned: 0, progress: Progress::default() }
    }

    /// Takes note of a question to the solver, at a depth and with so many bytes in use.
    ///
    /// # Errors
    /// If the observer wants to stop.
    pub(crate) fn tick(&mut self, depth: u64, bytes: u64) -> Result<(), Halted> {
        self.queries += 1;
        self.progress.depth = self.progress.depth.max(depth);
        self.progress.memory_bytes = self.progress.memory_bytes.max(bytes);
        if !self.queries.is_multiple_of(INTERVAL) {
            return Ok(());
        }
        match self.observer.progress(&self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(Halted::Stopped(reason)),
        }
    }

    /// The figures so far.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Why the work was stopped.
    pub(crate) fn reason(&mut self, halted: Halted, most_bytes: u64) -> StopReason {
        match halted {
            Halted::Stopped(reason) => reason,
            Halted::Memory => StopReason::MemoryLimit(most_bytes),
            Halted::Interrupted => match self.observer.progress(&self.progress) {
                ControlFlow::Break(reason) => reason,
                ControlFlow::Continue(()) => StopReason::Withdrawn,
            },
        }
    }
}
