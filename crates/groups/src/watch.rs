//! Cancellation of long computations.
//!
//! Work is reported in small units (an edge examined, a point mapped), so that the callback can count it. Once the
//! callback has asked to stop, the answer stays the same: the running computation is cut short, its result is unusable,
//! and functions that take a [`Watch`] return `None`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Receives reports of work done and decides whether to stop. Clones share the same callback.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<Watcher>>);

struct Watcher {
    ask: Box<dyn Fn(u64) -> bool + Send + Sync>,
    stopped: AtomicBool,
}

impl Watch {
    /// A watch that never stops.
    pub fn nobody() -> Self {
        Self(None)
    }

    /// A watch that calls a function with the work done since its last call; the function returns true to stop.
    pub fn new(ask: impl Fn(u64) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Watcher { ask: Box::new(ask), stopped: AtomicBool::new(false) })))
    }

    /// Reports work done. Returns true if the computation should stop.
    #[inline]
    pub(crate) fn work(&self, units: u64) -> bool {
        match &self.0 {
            None => false,
            Some(watcher) => watcher.work(units),
        }
    }

    /// Whether the computation should stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.as_ref().is_some_and(|watcher| watcher.stopped.load(Ordering::Relaxed))
    }

    /// A result, unless the computation was cut short.
    pub(crate) fn unless_stopped<T>(&self, result: T) -> Option<T> {
        (!self.is_stopped()).then_some(result)
    }
}

impl Watcher {
    fn work(&self, units: u64) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        let stop = (self.ask)(units);
        if stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stop
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Watch" } else { "Watch(nobody)" })
    }
}
