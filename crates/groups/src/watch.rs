//! Somebody to ask whether long work is to go on.
//!
//! Work is told in small units (an edge looked at, a point mapped), so that whoever is asked can count it.
//! Once the answer was to stop, it stays that: what was being computed is then cut short and of no use, and
//! the functions that take a [`Watch`] give nothing instead of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Is told of work done, and says whether to stop. Clones ask the same one.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<Watcher>>);

struct Watcher {
    ask: Box<dyn Fn(u64) -> bool + Send + Sync>,
    stopped: AtomicBool,
}

impl Watch {
    /// Nobody, who never wants anything to stop.
    pub fn nobody() -> Self {
        Self(None)
    }

    /// Asks a function, which is told how much was done since it was asked last and gives true to stop.
    pub fn new(ask: impl Fn(u64) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Watcher { ask: Box::new(ask), stopped: AtomicBool::new(false) })))
    }

    /// Tells of work done. Gives true if no more is to be done.
    #[inline]
    pub(crate) fn work(&self, units: u64) -> bool {
        match &self.0 {
            None => false,
            Some(watcher) => watcher.work(units),
        }
    }

    /// Whether it was said to stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.as_ref().is_some_and(|watcher| watcher.stopped.load(Ordering::Relaxed))
    }

    /// A result, unless the work that led to it was cut short.
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
