//! Stops searches whose layout is so narrow that most steps need the reference interpreter.

use std::ops::ControlFlow;

use quotient_ir::Interrupt;

use crate::evaluator::SpecialisedSystem;
use quotient_search::{Clock, Observer, Progress, StopReason};

/// The number of steps of the reference interpreter after which a layout is abandoned: a few are no loss.
pub const SLOW_STEPS: u64 = 1 << 12;

/// Stops a search in which the reference interpreter has too much work.
pub struct Patience<'a, 'm> {
    observer: &'a mut dyn Observer,
    evaluator: &'a SpecialisedSystem<'m>,
    /// The number of steps it may do.
    steps: u64,
    is_slow: bool,
}

impl<'a, 'm> Patience<'a, 'm> {
    /// An observer that allows the reference interpreter some steps.
    pub fn new(observer: &'a mut dyn Observer, evaluator: &'a SpecialisedSystem<'m>, steps: u64) -> Self {
        Self { observer, evaluator, steps, is_slow: false }
    }

    /// Whether it has stopped the search.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.is_slow
    }
}

impl Observer for Patience<'_, '_> {
    #[inline]
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.observer.progress(progress)?;
        self.is_slow = self.evaluator.consulted() > self.steps;
        if self.is_slow { ControlFlow::Break(StopReason::Withdrawn) } else { ControlFlow::Continue(()) }
    }

    fn glance(&mut self, progress: &Progress) {
        self.observer.glance(progress);
    }

    fn interrupt(&self) -> Interrupt {
        self.observer.interrupt()
    }

    fn clock(&self) -> Option<Clock> {
        self.observer.clock()
    }
}
