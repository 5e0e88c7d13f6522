//! A barrier for threads. Threads that arrive early spin for a short while before they sleep: phases are short, and
//! waking a thread takes a substantial part of a phase.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The number of polls before a thread sleeps: some ten microseconds.
const LOOKS: u32 = 1 << 10;

/// The sleep interval of a thread with periodic work.
const PATIENCE: Duration = Duration::from_millis(100);

/// A reusable barrier for a fixed number of threads.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    /// How often all threads have met.
    meetings: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    /// A barrier for a number of threads.
    pub(crate) fn new(threads: usize) -> Self {
        let (arrived, meetings) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { threads, arrived, meetings, sleep: Mutex::new(()), wake: Condvar::new() }
    }

    /// Waits until all threads have arrived. Everything they did before is visible to all afterwards.
    pub(crate) fn wait(&self) {
        self.wait_and(None);
    }

    /// The same, with periodic work during a long wait.
    pub(crate) fn wait_and(&self, mut meanwhile: Option<&mut dyn FnMut()>) {
        let meeting = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // Under the lock, so that no thread falls asleep between polling and sleeping.
            let guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.meetings.store(meeting.wrapping_add(1), Ordering::Release);
            drop(guard);
            self.wake.notify_all();
            return;
        }
        for _ in 0..LOOKS {
            if self.meetings.load(Ordering::Acquire) != meeting {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        while self.meetings.load(Ordering::Acquire) == meeting {
            let Some(meanwhile) = &mut meanwhile else {
                guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let woken = self.wake.wait_timeout(guard, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            if woken.1.timed_out() {
                drop(woken.0);
                meanwhile();
                guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            } else {
                guard = woken.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_are_there() {
        const THREADS: usize = 4;
        const ROUNDS: usize = 500;
        let barrier = Barrier::new(THREADS);
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (barrier, count) = (&barrier, &count);
                scope.spawn(move || {
                    for round in 1..=ROUNDS {
                        if thread == round % THREADS {
                            std::thread::yield_now();
                        }
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::Relaxed), round * THREADS);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
