//! Threads that search the nodes no accepting cycle goes through: plain reachability, in any order.
//!
//! They share a store in parts, each behind a lock, and a queue of nodes. Nodes that accepting cycles can go through are
//! handed to the thread of the search, which alone finds components. Every node is expanded once by whoever gets it, and
//! the search ends when nothing waits, so the verdict and the number of nodes do not depend on the threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::temporal::product::{Product, ProductScratch, Trouble};
use crate::temporal::search::RECENT_WORTH;
use quotient_search::words::{Hash, PART_BITS};
use quotient_search::{SearchOptions, SearchSpace, StopReason, Successors};
use quotient_states::batch::Table;
use quotient_states::recent::Recent;
use quotient_states::store::{Entries, Full, NO_PARENT, Probe, Sighting, Store};

/// The number of nodes that a thread takes at a time.
const NODES: usize = 256;
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
    /// The number of chunks, to look at without the lock.
    waiting: AtomicUsize,
    more: Condvar,
    /// The nodes that wait or are being expanded.
    pending: AtomicU64,
    is_over: AtomicBool,
}

/// The working memory of a thread.
struct Worker<S: SearchSpace> {
    scratch: ProductScratch<S>,
    found: Successors,
    recent: Recent,
    /// The part of the store, the position and the hash of what was found.
    order: Vec<(u32, u32, Hash)>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    sightings: Vec<Sighting>,
}

impl<S: SearchSpace> Worker<S> {
    fn new(product: &Product<'_, S>) -> Self {
        Self {
            scratch: product.scratch(),
            found: Successors::new(product.code.words),
            recent: Recent::new(product.code.words, RECENT_WORTH),
            order: Vec::new(),
            hashes: Vec::new(),
            entries: Vec::new(),
            sightings: Vec::new(),
        }
    }
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
    /// Stores a node that no accepting cycle goes through; whether it is new.
    fn admit(&self, node: &[u64]) -> Result<bool, Trouble> {
        let hash = Hash::of(node);
        let mut store = lock(&self.shards[hash.shard(PART_BITS)]);
        match store.probe(node, hash) {
            Probe::Stored(_) => Ok(false),
            Probe::Vacant(position) => {
                let stop = |full: Full| Trouble::Stop(full.reason(self.options));
                store.insert(node, hash, position, NO_PARENT).map_err(stop)?;
                self.nodes.fetch_add(1, Ordering::Relaxed);
                Ok(true)
            }
        }
    }

    fn push(&self, chunk: Vec<u64>) {
        let mut queue = lock(&self.queue);
        queue.push_back(chunk);
        self.waiting.store(queue.len(), Ordering::Relaxed);
        drop(queue);
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
                Some(chunk) => {
                    self.waiting.store(queue.len(), Ordering::Relaxed);
                    return Some(chunk);
                }
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

    /// Expands some nodes and adds what they lead to. Returns the nodes that accepting cycles can go through.
    fn expand<S: SearchSpace>(
        &self,
        product: &Product<'_, S>,
        worker: &mut Worker<S>,
        nodes: &[u64],
        own: &mut Vec<u64>,
    ) -> Result<Vec<u64>, Trouble> {
        let Worker { scratch, found, recent, order, hashes, entries, sightings } = worker;
        found.clear();
        for node in nodes.chunks_exact(self.words) {
            product.expand(scratch, node, found)?;
        }
        order.clear();
        let is_paused = recent.is_paused(found.len());
        for (position, record) in (0u32..).zip(found.records()) {
            let hash = Hash::of(&record[..self.words]);
            if is_paused || !recent.meets(record, hash) {
                order.push((hash.shard(PART_BITS) as u32, position, hash));
            }
        }
        // Looking up several in the same part lets their memory latencies overlap.
        order.sort_unstable_by_key(|&(shard, position, _)| (shard, position));
        let mut live = Vec::new();
        let mut new = 0;
        for group in order.chunk_by(|left, right| left.0 == right.0) {
            let record = |position: u32| found.get(position as usize).0;
            hashes.clear();
            hashes.extend(group.iter().map(|&(_, _, hash)| hash));
            let mut store = lock(&self.shards[group[0].0 as usize]);
            store.recognise(hashes, group.iter().map(|&(_, position, _)| record(position)), entries, sightings);
            let growths = store.growths();
            for (&(_, position, hash), &sighting) in group.iter().zip(&*sightings) {
                let node = record(position);
                if sighting == Sighting::Stored {
                    continue;
                }
                if let Probe::Vacant(place) = store.probe_sighted(node, hash, sighting, growths) {
                    let stop = |full: Full| Trouble::Stop(full.reason(self.options));
                    store.insert(node, hash, place, NO_PARENT).map_err(stop)?;
                    if product.is_live(node) {
                        live.extend_from_slice(node);
                    } else {
                        own.extend_from_slice(node);
                        new += 1;
                    }
                }
            }
        }
        let count = self.nodes.fetch_add(new, Ordering::Relaxed) + new;
        self.pending.fetch_add(new, Ordering::AcqRel);
        match self.options.max_states {
            Some(limit) if count > limit => Err(Trouble::Stop(StopReason::StateLimit(limit))),
            _ => Ok(live),
        }
    }

    fn work<S: SearchSpace>(&self, product: &Product<'_, S>, results: &Sender<Result<Vec<u64>, Trouble>>) {
        let mut worker = Worker::new(product);
        let size = NODES * self.words;
        // Nodes that only this thread knows of: shared when others have nothing to do.
        let (mut own, mut nodes): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        loop {
            if own.is_empty() {
                match self.pop() {
                    Some(chunk) => own = chunk,
                    None => return,
                }
            } else if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            while own.len() > 2 * size && self.waiting.load(Ordering::Relaxed) < self.options.threads as usize {
                self.push(own.drain(..size).collect());
            }
            nodes.clear();
            nodes.extend(own.drain(own.len().saturating_sub(size)..));
            let expanded = catch_unwind(AssertUnwindSafe(|| self.expand(product, &mut worker, &nodes, &mut own)));
            self.fired.fetch_add(std::mem::take(&mut worker.scratch.fired), Ordering::Relaxed);
            let (result, panic) = match expanded {
                Ok(result) => (result, None),
                // The search must not wait for this thread.
                Err(panic) => (Err(Trouble::Stop(StopReason::Withdrawn)), Some(panic)),
            };
            // What they lead to is handed over before the nodes count as done.
            if !matches!(&result, Ok(live) if live.is_empty()) && results.send(result).is_err() {
                return;
            }
            if let Some(panic) = panic {
                resume_unwind(panic);
            }
            self.pending.fetch_sub((nodes.len() / self.words) as u64, Ordering::AcqRel);
        }
    }
}

impl Crew<'_> {
    /// Runs something with a number of threads, or fewer if the system has no more; `None` if it has none.
    pub(crate) fn with<S: SearchSpace, R>(
        product: &Product<'_, S>,
        options: &SearchOptions,
        run: impl FnOnce(&mut Crew<'_>) -> R,
    ) -> Option<R> {
        let words = product.code.words;
        let shard = || Mutex::new(Store::shard(words, Entries::Numbers, options.max_memory, PART_BITS));
        let shared = Shared {
            options,
            words,
            shards: (0..1 << PART_BITS).map(|_| shard()).collect(),
            nodes: AtomicU64::new(0),
            fired: AtomicU64::new(0),
            queue: Mutex::default(),
            waiting: AtomicUsize::new(0),
            more: Condvar::new(),
            pending: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        let (sender, results) = channel();
        std::thread::scope(|scope| {
            // The threads end even if the search panics.
            let _end = End(&shared);
            let mut started = 0;
            for _ in 0..options.threads {
                let (shared, sender) = (&shared, sender.clone());
                let thread = std::thread::Builder::new().spawn_scoped(scope, move || shared.work(product, &sender));
                started += u32::from(thread.is_ok());
            }
            drop(sender);
            (started > 0).then(|| run(&mut Crew { shared: &shared, results }))
        })
    }

    /// Hands a node to the threads, unless they had it before.
    pub(crate) fn send(&self, node: &[u64]) -> Result<(), Trouble> {
        if self.shared.admit(node)? {
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
