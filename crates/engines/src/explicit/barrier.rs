//! Where threads wait for each other. Those that come first look for the last one for a short while
//! before they sleep: phases are short, and waking a thread takes as long as a good part of one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often a thread looks before it sleeps: some ten microseconds.
const LOOKS: u32 = 1 << 10;

/// How long somebody sleeps who has something to do from time to time.
const PATIENCE: Duration = Duration::from_millis(100);

/// A place where a number of threads wait until all of them are there, again and again.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    /// How often all have met.
    meetings: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    /// A place for so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        let (arrived, meetings) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { threads, arrived, meetings, sleep: Mutex::new(()), wake: Condvar::new() }
    }

    /// Waits until all threads are here. What each did before is seen by all afterwards.
    pub(crate) fn wait(&self) {
        self.wait_and(None);
    }

    /// The same, doing something from time to time if that takes long.
    pub(crate) fn wait_and(&self, mut meanwhile: Option<&mut dyn FnMut()>) {
        let meeting = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // Under the lock, so that nobody falls asleep between looking and sleeping.
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
