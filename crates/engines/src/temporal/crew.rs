//! Threads that search the nodes no accepting cycle goes through: plain reachability, in any order.
//!
//! They share a store in parts, each behind a lock, and a queue of nodes. Nodes that accepting cycles can go through are
//! handed to the thread of the search, which alone finds components. Every node is expanded once by whoever gets it, and
//! the search ends when nothing waits, so the verdict and the number of nodes do not depend on the threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::explicit::store::{Entries, Full, Hash, NO_PARENT, PART_BITS, Probe, Store};
use crate::options::SearchOptions;
use crate::report::StopReason;
use crate::seam::{SearchSpace, Successors};
use crate::temporal::product::{Product, ProductScratch, Trouble};

/// The number of nodes that a thread takes at a time.
const NODES: usize = 64;
/// How long the search waits for something to do before it looks around.
const WAIT: Duration = Duration::from_millis(10);

/// What the threads share.
struct Shared<'o> {
    options: &'o SearchOptions,
    words: usize,
    shards: Vec<Mutex<Store>>,
    /// The nodes stored, and the rule instances fired.
    nodes: AtomicU64,
    fired: AtomicU64,
    /// Chunks of nodes that wait for expansion.
    queue: Mutex<VecDeque<Vec<u64>>>,
    more: Condvar,
    /// The nodes that wait or are being expanded.
    pending: AtomicU64,
    is_over: AtomicBool,
}

/// The threads, as the search sees them.
pub(crate) struct Crew<'s> {
    shared: &'s Shared<'s>,
    /// Nodes that accepting cycles can go through, and troubles.
    results: Receiver<Result<Vec<u64>, Trouble>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// Stores a node; whether it is new. Those that accepting cycles can go through are counted by the search.
    fn admit(&self, node: &[u64], is_live: bool) -> Result<bool, Trouble> {
        let hash = Hash::of(node);
        let mut store = lock(&self.shards[hash.shard(PART_BITS)]);
        match store.probe(node, hash) {
            Probe::Stored(_) => Ok(false),
            Probe::Vacant(position) => {
                let stop = |full: Full| Trouble::Stop(StopReason::of_full_store(full, self.options));
                store.insert(node, hash, position, NO_PARENT).map_err(stop)?;
                drop(store);
                if is_live {
                    return Ok(true);
                }
                let count = self.nodes.fetch_add(1, Ordering::Relaxed) + 1;
                match self.options.max_states {
                    Some(limit) if count > limit => Err(Trouble::Stop(StopReason::StateLimit(limit))),
                    _ => Ok(true),
                }
            }
        }
    }

    fn push(&self, chunk: Vec<u64>) {
        lock(&self.queue).push_back(chunk);
        self.more.notify_one();
    }

    /// The next chunk; none when the search is over.
    fn pop(&self) -> Option<Vec<u64>> {
        let mut queue = lock(&self.queue);
        loop {
            if self.is_over.load(Ordering::Acquire) {
                return None;
            }
            match queue.pop_front() {
                Some(chunk) => return Some(chunk),
                None => queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        // A thread that is about to wait holds the lock.
        drop(lock(&self.queue));
        self.more.notify_all();
    }

    /// Expands the nodes of a chunk. Returns those that accepting cycles can go through.
    fn expand<S: SearchSpace>(
        &self,
        product: &Product<'_, S>,
        scratch: &mut ProductScratch<S>,
        found: &mut Successors,
        chunk: &[u64],
    ) -> Result<Vec<u64>, Trouble> {
        let (mut live, mut new) = (Vec::new(), Vec::new());
        for node in chunk.chunks_exact(self.words) {
            found.clear();
            product.expand(scratch, node, found)?;
            for record in found.records() {
                let node = &record[..self.words];
                let is_live = product.is_live(node);
                if !self.admit(node, is_live)? {
                    continue;
                }
                if is_live {
                    live.extend_from_slice(node);
                } else {
                    self.pending.fetch_add(1, Ordering::AcqRel);
                    new.extend_from_slice(node);
                    if new.len() >= NODES * self.words {
                        self.push(std::mem::take(&mut new));
                    }
                }
            }
        }
        if !new.is_empty() {
            self.push(new);
        }
        Ok(live)
    }

    fn work<S: SearchSpace>(&self, product: &Product<'_, S>, results: &Sender<Result<Vec<u64>, Trouble>>) {
        let mut scratch = product.scratch();
        let mut found = Successors::new(self.words);
        while let Some(chunk) = self.pop() {
            let expanded = catch_unwind(AssertUnwindSafe(|| self.expand(product, &mut scratch, &mut found, &chunk)));
            self.fired.fetch_add(std::mem::take(&mut scratch.fired), Ordering::Relaxed);
            let (result, panic) = match expanded {
                Ok(result) => (result, None),
                // The search must not wait for this thread.
                Err(panic) => (Err(Trouble::Stop(StopReason::Interrupted)), Some(panic)),
            };
            // What it leads to is handed over before the nodes count as done.
            if !matches!(&result, Ok(live) if live.is_empty()) && results.send(result).is_err() {
                return;
            }
            if let Some(panic) = panic {
                resume_unwind(panic);
            }
            self.pending.fetch_sub((chunk.len() / self.words) as u64, Ordering::AcqRel);
        }
    }
}

impl Crew<'_> {
    /// Runs something with a number of threads.
    pub(crate) fn with<S: SearchSpace, R>(
        product: &Product<'_, S>,
        options: &SearchOptions,
        run: impl FnOnce(&mut Crew<'_>) -> R,
    ) -> R {
        let words = product.code.words;
        let shard = || Mutex::new(Store::shard(words, Entries::Numbers, options.max_memory, PART_BITS));
        let shared = Shared {
            options,
            words,
            shards: (0..1 << PART_BITS).map(|_| shard()).collect(),
            nodes: AtomicU64::new(0),
            fired: AtomicU64::new(0),
            queue: Mutex::default(),
            more: Condvar::new(),
            pending: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        let (sender, results) = channel();
        std::thread::scope(|scope| {
            for _ in 0..options.threads {
                let (shared, sender) = (&shared, sender.clone());
                scope.spawn(move || shared.work(product, &sender));
            }
            drop(sender);
            // The threads end even if the search panics.
            let _end = End(&shared);
            run(&mut Crew { shared: &shared, results })
        })
    }

    /// Hands a node to the threads, unless they had it before.
    pub(crate) fn send(&self, node: &[u64]) -> Result<(), Trouble> {
        if self.shared.admit(node, false)? {
            self.shared.pending.fetch_add(1, Ordering::AcqRel);
            self.shared.push(node.to_vec());
        }
        Ok(())
    }

    /// Nodes that accepting cycles can go through; `None` if nothing waits any more, empty if nothing came for a while.
    pub(crate) fn receive(&self) -> Result<Option<Vec<u64>>, Trouble> {
        // What was handed over before the last node was done is in the channel by now.
        let is_done = self.shared.pending.load(Ordering::Acquire) == 0;
        let wait = if is_done { Duration::ZERO } else { WAIT };
        match self.results.recv_timeout(wait) {
            Ok(result) => result.map(Some),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok((!is_done).then(Vec::new)),
        }
    }

    /// The nodes stored, the rule instances fired, and the bytes used.
    pub(crate) fn figures(&self) -> (u64, u64, u64) {
        let bytes = self.shared.shards.iter().map(|shard| lock(shard).memory_bytes()).sum();
        (self.shared.nodes.load(Ordering::Relaxed), self.shared.fired.load(Ordering::Relaxed), bytes)
    }
}

struct End<'s>(&'s Shared<'s>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
