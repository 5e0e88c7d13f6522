//! Limits on the work of a phase, and requests to stop it.
//!
//! Work is counted, not timed, so that runs are reproducible. A request to stop comes from outside (a limit of time or
//! memory, a user); it can only make a phase give up, never change its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A request to stop, shared between those who may raise it and those who work.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// An interrupt that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }
    /// Requests everyone who shares it to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether it was raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Work that may still be done. Once it is spent, it stays spent. Clones share the same work, so that every
/// long-running part can keep one.
#[derive(Clone, Debug)]
pub struct Budget {
    interrupt: Interrupt,
    limit: u64,
    used: Arc<AtomicU64>,
}

/// A phase gave up because its budget was spent or it was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("gave up: the work it may take was used up, or it was interrupted")]
pub struct Spent;

impl Budget {
    /// Unlimited work, without interrupt.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, Interrupt::new())
    }
    /// Unlimited work, until the interrupt is raised.
    pub fn until(interrupt: &Interrupt) -> Self {
        Self::new(u64::MAX, interrupt.clone())
    }
    /// A limited amount of work, or until the interrupt is raised.
    pub fn new(limit: u64, interrupt: Interrupt) -> Self {
        Self { interrupt, limit, used: Arc::new(AtomicU64::new(0)) }
    }
    /// Charges work.
    ///
    /// # Errors
    /// If the phase must give up.
    #[inline]
    pub fn spend(&self, work: u64) -> Result<(), Spent> {
        self.used.fetch_add(work, Ordering::Relaxed);
        if self.is_spent() { Err(Spent) } else { Ok(()) }
    }
    /// Whether the phase must give up.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.limit || self.interrupt.is_raised()
    }
    /// The amount of work done.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
    /// The interrupt it polls.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Interrupt, Spent};

    #[test]
    fn work_runs_out_and_stays_out() {
        let budget = Budget::new(10, Interrupt::new());
        assert_eq!(budget.spend(10), Ok(()));
        assert_eq!(budget.spend(1), Err(Spent));
        assert!(budget.is_spent());
        assert_eq!(budget.used(), 11);
        assert!(budget.clone().is_spent());
    }

    #[test]
    fn clones_share_what_was_used() {
        let budget = Budget::new(10, Interrupt::new());
        assert_eq!(budget.clone().spend(10), Ok(()));
        assert_eq!(budget.spend(1), Err(Spent));
    }

    #[test]
    fn an_interrupt_reaches_all_who_share_it() {
        let interrupt = Interrupt::new();
        let budget = Budget::until(&interrupt.clone());
        assert_eq!(budget.spend(1 << 40), Ok(()));
        interrupt.raise();
        assert_eq!(budget.spend(0), Err(Spent));
    }
}
