//! Limits on the work of a phase, and requests to stop it.
//!
//! Work is counted, not timed, so that runs are reproducible. A request to stop comes from outside (a limit of time or
//! memory, a user); it can only make a phase give up, never change its answer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a thread that waits for another one checks whether to keep waiting.
const INTERVAL: Duration = Duration::from_millis(20);

/// A request to stop, shared between those who may raise it and those who work.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Request>);

#[derive(Debug, Default)]
struct Request {
    is_raised: AtomicBool,
    above: Option<Interrupt>,
}

impl Interrupt {
    /// An interrupt that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }
    /// An interrupt for a part of the work: it is raised by itself, or with the given one.
    pub fn below(above: &Self) -> Self {
        Self(Arc::new(Request { is_raised: AtomicBool::new(false), above: Some(above.clone()) }))
    }
    /// Requests everyone who shares it to stop.
    pub fn raise(&self) {
        self.0.is_raised.store(true, Ordering::Relaxed);
    }
    /// Whether it was raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        let Request { is_raised, above } = &*self.0;
        is_raised.load(Ordering::Relaxed) || above.as_ref().is_some_and(Self::is_raised)
    }
}

/// Work that may still be done. Once it is spent, it stays spent. Clones share the same work, so that every
/// long-running part can keep one.
#[derive(Clone, Debug)]
pub struct Budget {
    interrupt: Interrupt,
    limit: u64,
    used: Arc<AtomicU64>,
    meter: Option<Meter>,
}

/// Work that is granted step by step. A phase that has used up what it was granted waits for more, on its own thread:
/// so another phase decides by its own work how far this one gets, and both do the same in every run.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Metered>);

#[derive(Debug, Default)]
struct Metered {
    granted: AtomicU64,
    rest: Mutex<Rest>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Rest {
    /// Whether the phase waits for more work.
    waits: bool,
    /// Whether it waits at a mark, whatever it was granted.
    is_held: bool,
    /// Whether it has ended, or nobody waits for its end.
    is_over: bool,
}

impl Meter {
    /// A meter that grants some work at first.
    pub fn new(granted: u64) -> Self {
        let meter = Self::default();
        meter.0.granted.store(granted, Ordering::Relaxed);
        meter
    }
    /// A meter of a phase that is held before it begins.
    pub fn held() -> Self {
        let meter = Self::default();
        {
            let mut rest = meter.rest();
            (rest.waits, rest.is_held) = (true, true);
        }
        meter
    }
    /// Grants work up to this total, and waits until the phase has used it, is held at a mark or has ended, or the
    /// interrupt is raised.
    pub fn grant(&self, total: u64, interrupt: &Interrupt) {
        let mut rest = self.rest();
        let is_more = total > self.0.granted.load(Ordering::Relaxed);
        if is_more || rest.is_held {
            self.0.granted.fetch_max(total, Ordering::Relaxed);
            (rest.waits, rest.is_held) = (false, false);
            self.0.changed.notify_all();
        }
        while !rest.waits && !rest.is_over && !interrupt.is_raised() {
            let waited = self.0.changed.wait_timeout(rest, INTERVAL);
            rest = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    /// Grants as much work as it takes, and does not wait.
    pub fn release(&self) {
        let mut rest = self.rest();
        self.0.granted.store(u64::MAX, Ordering::Relaxed);
        (rest.waits, rest.is_held) = (false, false);
        self.0.changed.notify_all();
    }
    /// Waits at a mark until the next grant, even if work is left. Called by the phase.
    pub fn hold(&self) {
        {
            let mut rest = self.rest();
            (rest.waits, rest.is_held) = (true, true);
            self.0.changed.notify_all();
        }
        self.begin();
    }
    /// Waits while the phase is held. Called by a phase whose meter began [held](Meter::held).
    pub fn begin(&self) {
        let mut rest = self.rest();
        while rest.is_held && !rest.is_over {
            rest = self.0.changed.wait(rest).unwrap_or_else(PoisonError::into_inner);
        }
    }
    /// Ends all waiting: the phase has ended, or nobody needs it any longer.
    pub fn end(&self) {
        self.rest().is_over = true;
        self.0.changed.notify_all();
    }
    /// Waits while more work was used than was granted.
    fn pass(&self, used: &AtomicU64) {
        if used.load(Ordering::Relaxed) <= self.0.granted.load(Ordering::Relaxed) {
            return;
        }
        let mut rest = self.rest();
        while used.load(Ordering::Relaxed) > self.0.granted.load(Ordering::Relaxed) && !rest.is_over {
            rest.waits = true;
            self.0.changed.notify_all();
            rest = self.0.changed.wait(rest).unwrap_or_else(PoisonError::into_inner);
        }
    }
    fn rest(&self) -> MutexGuard<'_, Rest> {
        // Nothing is left half done by a thread that panics.
        self.0.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        Self { interrupt, limit, used: Arc::new(AtomicU64::new(0)), meter: None }
    }
    /// Work that is granted step by step, until the interrupt is raised. Whoever raises it also ends the meter.
    pub fn metered(meter: &Meter, interrupt: &Interrupt) -> Self {
        Self { meter: Some(meter.clone()), ..Self::until(interrupt) }
    }
    /// Charges work.
    ///
    /// # Errors
    /// If the phase must give up.
    #[inline]
    pub fn spend(&self, work: u64) -> Result<(), Spent> {
        self.used.fetch_add(work, Ordering::Relaxed);
        if let Some(meter) = &self.meter {
            meter.pass(&self.used);
        }
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{Budget, Interrupt, Meter, Spent};

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

    #[test]
    fn a_metered_phase_stops_where_its_work_was_granted() {
        let (meter, interrupt) = (Meter::new(10), Interrupt::new());
        let budget = Budget::metered(&meter, &interrupt);
        let done = Arc::new(AtomicU64::new(0));
        let (worker, count) = (budget.clone(), done.clone());
        let thread = std::thread::spawn(move || {
            while worker.spend(1).is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        for (granted, expected) in [(0, 10), (10, 10), (25, 25), (20, 25), (1000, 1000)] {
            meter.grant(granted, &interrupt);
            assert_eq!(done.load(Ordering::SeqCst), expected);
        }
        interrupt.raise();
        meter.end();
        thread.join().expect("the phase ends");
        assert_eq!(done.load(Ordering::SeqCst), 1000);
    }

    #[test]
    fn a_phase_is_held_at_a_mark_whatever_it_was_granted() {
        let (meter, interrupt) = (Meter::new(0), Interrupt::new());
        let budget = Budget::metered(&meter, &interrupt);
        let done = Arc::new(AtomicU64::new(0));
        let (phase, count, own) = (budget.clone(), done.clone(), meter.clone());
        let thread = std::thread::spawn(move || {
            for number in 1..=10 {
                phase.spend(1).expect("it is not stopped");
                count.store(number, Ordering::SeqCst);
                if number % 4 == 0 {
                    own.hold();
                }
            }
            own.end();
        });
        for (granted, expected) in [(2, 2), (u64::MAX, 4), (u64::MAX, 8), (u64::MAX, 10)] {
            meter.grant(granted, &interrupt);
            assert_eq!(done.load(Ordering::SeqCst), expected);
        }
        thread.join().expect("the phase ends");
    }

    #[test]
    fn an_interrupt_below_another_is_raised_with_it() {
        let above = Interrupt::new();
        let [one, other] = [Interrupt::below(&above), Interrupt::below(&above)];
        one.raise();
        assert!(one.is_raised() && !other.is_raised() && !above.is_raised());
        above.raise();
        assert!(other.is_raised());
    }

    #[test]
    fn a_phase_that_has_ended_needs_no_grant() {
        let meter = Meter::new(5);
        meter.end();
        meter.grant(100, &Interrupt::new());
        assert_eq!(Budget::metered(&meter, &Interrupt::new()).spend(1000), Ok(()));
    }
}
