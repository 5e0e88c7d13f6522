//! How much work a phase may take, and whether somebody wants it to stop.
//!
//! Work is counted, not timed, so that a run repeats. The wish to stop comes from outside (a limit of
//! time or memory, a user) and is only ever a reason to give up, never a reason for another answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A wish to stop, shared between whoever may have it and whoever works.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that nobody has raised yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Asks all who share it to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether somebody asked.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Work that may still be done. Once it is spent, it stays spent. Clones draw on the same work, so that whatever
/// works for long can keep one.
#[derive(Clone, Debug)]
pub struct Budget {
    interrupt: Interrupt,
    limit: u64,
    used: Arc<AtomicU64>,
}

/// A phase gave up, since its budget was spent or somebody wanted it to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("gave up: the work it may take was used up, or it was interrupted")]
pub struct Spent;

impl Budget {
    /// As much work as it takes, and nobody interrupts it.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, Interrupt::new())
    }
    /// As much work as it takes, until somebody raises the interrupt.
    pub fn until(interrupt: &Interrupt) -> Self {
        Self::new(u64::MAX, interrupt.clone())
    }
    /// So many units of work, or until somebody raises the interrupt.
    pub fn new(limit: u64, interrupt: Interrupt) -> Self {
        Self { interrupt, limit, used: Arc::new(AtomicU64::new(0)) }
    }
    /// Takes note of work.
    ///
    /// # Errors
    /// If the phase is to give up.
    #[inline]
    pub fn spend(&self, work: u64) -> Result<(), Spent> {
        self.used.fetch_add(work, Ordering::Relaxed);
        if self.is_spent() { Err(Spent) } else { Ok(()) }
    }
    /// Whether the phase is to give up.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.limit || self.interrupt.is_raised()
    }
    /// How much work was done.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
    /// The wish to stop that it listens to.
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
