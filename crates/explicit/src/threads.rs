//! Breadth-first search on several threads, with the same result as on one.
//!
//! States are distributed among stores by their hashes. A level is searched in rounds. A round has two phases,
//! separated by a barrier for all threads:
//!
//! 1. The states of the round, cut into blocks, are expanded. Successors that the same thread has seen recently are
//!    dropped at once; the others are candidates. Each block sorts its candidates by the responsible store and numbers
//!    them in order.
//! 2. Each store takes its candidates, block by block, and keeps the new ones. No other thread accesses it meanwhile,
//!    so there is no locking per state. The block learns which of its candidates were new.
//!
//! So the next level has the same order as in a search on one thread, however the work was distributed, and so have
//! counts, verdicts and traces: a violation counts if it is the first in that order, and states stored beyond it do not
//! count.

mod block;

use std::any::Any;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use quotient_ir::PropertyId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::barrier::Barrier;
use crate::disk::{self, Handover, Waiting};
use crate::form::Form;
use block::{Block, Label, Moment, at};
use quotient_search::words::{Hash, PART_BITS, append};
use quotient_search::{Checks, EngineError, Observer, Progress, SearchOptions, SearchSpace, Sink, StopReason, Tag};
use quotient_states::batch::{Batch, Run, Table};
use quotient_states::checkpoint::{CheckpointSubject, Restored, Saved, SearchTotals, Snapshot, is_resumable};
use quotient_states::dense::Numbers;
use quotient_states::dense::ancestry::Ancestry;
use quotient_states::expansion::{Expander, Expansion, deadlock};
use quotient_states::findings::Findings;
use quotient_states::judge::{Admission, Judge, end_with};
use quotient_states::recent::Recent;
use quotient_states::store::{NO_PARENT, Probe, Sighting, StateNumber, Store};
use quotient_states::{End, Exploration, Halt, Lookup, Shards, checkpoint, stop};

/// The number of blocks of a round.
const BLOCKS: usize = 64;
/// The largest number of states of a block. The candidates of a round should fit into the cache.
const LARGEST_BLOCK: usize = 256;
/// Smaller rounds, by number of states, are not worth waking other threads.
const SMALL_ROUND: usize = 512;
/// The number of lookups whose memory latencies overlap.
const LOOKAHEAD: usize = 64;
/// The number of hits among sixteen lookups of recent successors that makes this lookup worthwhile: each hit saves the
/// transfer to a store.
const RECENT_WORTH: u32 = 3;
/// Marks a candidate that was not new.
const NOT_NEW: StateNumber = NO_PARENT;

/// Searches the reachable states of a system on several threads. If the search may continue on disk, the results before
/// memory was full are returned with the point where to continue.
pub(super) fn search<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    form: Form,
    subject: &CheckpointSubject,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<(Exploration, Option<Handover>), EngineError> {
    // More stores than threads, so that they share the work evenly. The result does not depend on their number.
    let bits = if options.threads <= 8 { 4 } else { PART_BITS };
    let words = system.words();
    let mut stores: Vec<Store> =
        (0..1 << bits).map(|_| Store::shard(words, form.entries, options.max_memory, bits)).collect();
    // The order of the states of an earlier search is known if that was on one thread.
    let ancestry = match &begin {
        _ if form.dense_at.is_none() => None,
        None => Some(Ancestry::default()),
        Some(saved) => saved.ancestry(),
    };
    let resumed = match begin {
        None => None,
        Some(saved) => {
            Some(saved.restore(&mut Lookup::new(system), &mut stores, bits).map_err(|error| EngineError::Resume {
                path: options.resume.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
                reason: error.to_string(),
            })?)
        }
    };
    let search = ThreadedSearch {
        system,
        checks,
        options,
        words,
        bits,
        stores: stores.into_iter().map(RwLock::new).collect(),
        level: RwLock::new(Vec::new()),
        ends_of_level: RwLock::new(Vec::new()),
        round: RwLock::new(Round::default()),
        blocks: (0..BLOCKS).map(|_| Mutex::new(Block::new(1 << bits))).collect(),
        new: (0..BLOCKS).map(|_| RwLock::new(Vec::new())).collect(),
        cells: (0..BLOCKS << bits).map(|_| Mutex::new(Vec::new())).collect(),
        next: [const { AtomicUsize::new(0) }; 2],
        barrier: OnceLock::new(),
        panic: Mutex::new(None),
        finished: AtomicBool::new(false),
        stop: OnceLock::new(),
        has_violations: AtomicBool::new(false),
        subject,
    };
    let (end, counts, left, order) = std::thread::scope(|scope| {
        // The actual number of threads is known only when they have been started; until then they wait at this gate.
        let gate = lock(&search.panic);
        let mut threads = 1;
        for _ in 1..options.threads {
            let started = std::thread::Builder::new().spawn_scoped(scope, || search.work());
            threads += usize::from(started.is_ok());
        }
        search.barrier.get_or_init(|| Barrier::new(threads));
        drop(gate);
        let worker = search.worker();
        let findings = Findings::new(checks, options, Vec::new());
        let counts = Counts {
            levels: Vec::new(),
            findings,
            states: 0,
            transitions: 0,
            depth: 0,
            covered: Vec::new(),
            surplus: FxHashSet::default(),
            unexpanded: 0,
            other_bytes: 0,
        };
        let order = ancestry.map(|ancestry| Order { ancestry, numbers: FxHashMap::default(), first: 0 });
        let mut conductor =
            Conductor { search: &search, counts, worker, observer, left: None, order, dense_at: form.dense_at };
        let end = catch_unwind(AssertUnwindSafe(|| conductor.run(resumed)));
        let Conductor { counts, left, order, .. } = conductor;
        search.finished.store(true, Ordering::Release);
        search.wait();
        (end.unwrap_or_else(|panic| resume_unwind(panic)), counts, left, order)
    });
    let level = search.level.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut stores: Vec<Store> =
        search.stores.into_iter().map(|store| store.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let peak: u64 = stores.iter().map(Store::peak_bytes).sum();
    let mut counts = counts;
    let handover = left.map(|(place, next)| {
        for (store, &length) in stores.iter_mut().zip(&place.lengths) {
            store.truncate(length);
        }
        let SearchTotals { level: reached, depth, transitions, covered, unexpanded, findings, .. } = place.totals;
        counts.unexpanded = unexpanded;
        counts.states = place.lengths.iter().sum();
        counts.surplus.clear();
        (counts.depth, counts.transitions, counts.covered) = (depth, transitions, covered);
        counts.findings = Findings::new(checks, options, findings);
        let current = Waiting::List(level[place.first..].to_vec());
        Handover { begun: counts.states > 0, level: reached, current, next: Waiting::List(next) }
    });
    let mut exploration = Exploration {
        end,
        store: Shards::several(stores),
        states: counts.states,
        surplus: counts.surplus,
        transitions: counts.transitions,
        depth: counts.depth,
        levels: counts.levels,
        memory_bytes: peak + counts.other_bytes,
        covered: counts.covered,
        unexpanded: counts.unexpanded,
        findings: counts.findings.into_list(),
        approximation: None,
        rest: None,
        ancestry: None,
        origins: FxHashMap::default(),
    };
    if let Some(Order { ancestry, numbers, .. }) = order.filter(|_| exploration.store.is_dense()) {
        let last = if let End::Found(finding) = &mut exploration.end { Some(finding) } else { None };
        for finding in exploration.findings.iter_mut().chain(last) {
            finding.origin = finding.origin.map(|origin| numbers[&origin]);
        }
        exploration.ancestry = Some(ancestry);
    }
    Ok((exploration, handover))
}

/// The order of all states, in case the stores become dense.
struct Order {
    ancestry: Ancestry,
    /// The places in this order of the states that findings come from.
    numbers: FxHashMap<StateNumber, StateNumber>,
    /// The place of the first state of the level.
    first: u64,
}

/// State shared by all threads.
struct ThreadedSearch<'a, S: SearchSpace> {
    system: &'a S,
    checks: &'a Checks,
    options: &'a SearchOptions,
    words: usize,
    bits: u32,
    stores: Vec<RwLock<Store>>,
    /// The states of the level in order.
    level: RwLock<Vec<StateNumber>>,
    /// The number of states of each store up to the level.
    ends_of_level: RwLock<Vec<u64>>,
    round: RwLock<Round>,
    blocks: Vec<Mutex<Block>>,
    /// For each block, the numbers of its candidates once they are stored.
    new: Vec<RwLock<Vec<AtomicU32>>>,
    /// For each block and each store: records of a state and its label.
    cells: Vec<Mutex<Vec<u64>>>,
    /// The next piece of work in each phase.
    next: [AtomicUsize; 2],
    barrier: OnceLock<Barrier>,
    /// The payload of a thread's panic. That thread continues to the barrier, and the first thread panics between two
    /// rounds.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    finished: AtomicBool,
    /// Why the search should end, if the first thread was told so. Long expansions poll it.
    stop: OnceLock<StopReason>,
    /// Whether a state was stored in which an invariant does not hold.
    has_violations: AtomicBool,
    subject: &'a CheckpointSubject,
}

/// Returns why the search should end now, if it should; polled during long expansions.
type Ask<'x> = &'x mut dyn FnMut() -> Option<StopReason>;

/// The states of the level that are expanded in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    first: usize,
    end: usize,
    /// The number of states per block.
    block: usize,
    /// Whether this is the round of the starts, which are in the first block.
    starts: bool,
}

impl Round {
    /// The round that begins with a state of a level of a given length. Rounds of a level have about equal lengths, and
    /// so have blocks of a round.
    fn at(first: usize, length: usize) -> Self {
        let rounds = (length - first).div_ceil(BLOCKS * LARGEST_BLOCK);
        let end = first + (length - first).div_ceil(rounds.max(1));
        Self { first, end, block: (end - first).div_ceil(BLOCKS).max(1), starts: false }
    }
    /// The round of the starts.
    fn of_starts() -> Self {
        Self { first: 0, end: 0, block: 1, starts: true }
    }
    fn blocks(self) -> usize {
        if self.starts { 1 } else { (self.end - self.first).div_ceil(self.block) }
    }
    /// The position in the level where the states of a block begin.
    fn start_of(self, block: usize) -> usize {
        self.first + block * self.block
    }
}

/// All stores, while none of them changes.
struct Snapshots<'s> {
    stores: Vec<RwLockReadGuard<'s, Store>>,
    bits: u32,
    /// The first state of each store that belongs to the next level.
    levels: Vec<u64>,
}

impl Snapshots<'_> {
    /// Copies the words of a state, given the states that were read before.
    #[inline]
    fn read(&self, number: StateNumber, read: &mut [Numbers], state: &mut [u64]) {
        let store = number as usize & ((1 << self.bits) - 1);
        self.stores[store].read(number >> self.bits, &mut read[store], state);
    }
}

/// The working data of a thread.
struct Worker<'a, S: SearchSpace> {
    scratch: S::Scratch,
    judge: Judge<'a, S>,
    sorting: Sorting<'a, S>,
    /// The states of a block.
    states: Vec<u64>,
    /// The state of each store that was read last.
    read: Vec<Numbers>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    sightings: Vec<Sighting>,
}

/// The data a thread needs to sort successors by the responsible stores.
struct Sorting<'a, S: SearchSpace> {
    lookup: Lookup<'a, S>,
    batch: Batch,
    /// The candidates of this thread. Each has been stored since, or comes before the same state in the same round, or
    /// was dropped.
    recent: Recent,
}

impl<'a, S: SearchSpace> ThreadedSearch<'a, S> {
    fn worker(&self) -> Worker<'a, S> {
        Worker {
            scratch: self.system.scratch(),
            judge: Judge::new(self.system, self.checks, self.options),
            sorting: Sorting {
                lookup: Lookup::new(self.system),
                batch: Batch::new(self.words),
                recent: Recent::new(self.words, RECENT_WORTH),
            },
            states: Vec::new(),
            read: vec![Numbers::default(); self.stores.len()],
            hashes: Vec::new(),
            entries: Vec::new(),
            sightings: Vec::new(),
        }
    }

    /// Takes note of where a level ends, given the states of the next one so far. Stores number states in the order in
    /// which they are stored.
    fn note_level(&self, next: &[StateNumber]) {
        let mut ends: Vec<u64> = self.stores.iter().map(|store| read(store).len()).collect();
        for &number in next {
            let end = &mut ends[number as usize & ((1 << self.bits) - 1)];
            *end = (*end).min(u64::from(number >> self.bits));
        }
        *self.ends_of_level.write().unwrap_or_else(PoisonError::into_inner) = ends;
    }

    /// The least numbers of states in each store that are in the level or in the next one.
    fn first_numbers(&self, next: &[StateNumber]) -> Vec<StateNumber> {
        let mut first: Vec<StateNumber> = self.stores.iter().map(|store| read(store).len() as StateNumber).collect();
        for &number in read(&self.level).iter().chain(next) {
            let first = &mut first[number as usize & ((1 << self.bits) - 1)];
            *first = (*first).min(number >> self.bits);
        }
        first
    }

    /// Processes rounds until the search is finished.
    fn work(&self) {
        drop(lock(&self.panic));
        let mut worker = self.worker();
        loop {
            self.wait();
            if self.finished.load(Ordering::Acquire) {
                return;
            }
            self.phases(&mut worker, true, &mut || self.stop.get().cloned());
        }
    }

    /// The two phases of a round, together with other threads or alone.
    fn phases(&self, worker: &mut Worker<'a, S>, together: bool, ask: Ask<'_>) {
        let round = *read(&self.round);
        let mut phase = |work: &mut dyn FnMut(&mut Worker<'a, S>, Ask<'_>)| {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(worker, ask))) {
                *lock(&self.panic) = Some(panic);
            }
            if together {
                let mut meanwhile = || drop(ask());
                let barrier = self.barrier.get().expect("the barrier is there before the gate is opened");
                barrier.wait_and(Some(&mut meanwhile));
            }
        };
        phase(&mut |worker, ask| self.expand_blocks(worker, round, ask));
        phase(&mut |worker, _| {
            // States of this round were found from states of rounds before.
            if self.has_violations.load(Ordering::Relaxed) {
                worker.judge.suspect();
            }
            while let Some(store) = self.take(1, self.stores.len()) {
                self.keep_new(worker, round, store);
            }
        });
    }

    /// Waits for the other threads.
    fn wait(&self) {
        self.barrier.get().expect("the barrier is there before the gate is opened").wait();
    }

    fn take(&self, phase: usize, end: usize) -> Option<usize> {
        let number = self.next[phase].fetch_add(1, Ordering::Relaxed);
        (number < end).then_some(number)
    }

    /// The first phase.
    fn expand_blocks(&self, worker: &mut Worker<'a, S>, round: Round, ask: Ask<'_>) {
        let levels = read(&self.ends_of_level).clone();
        let stores = Snapshots { stores: self.stores.iter().map(read).collect(), bits: self.bits, levels };
        let level = read(&self.level);
        while let Some(number) = self.take(0, round.blocks()) {
            let mut block = lock(&self.blocks[number]);
            block.clear();
            if round.starts {
                self.run_starts(worker, &mut block, ask);
            } else {
                let first = round.start_of(number);
                let numbers = &level[first..(first + round.block).min(round.end)];
                self.expand_block(worker, &stores, &mut block, numbers, ask);
            }
            let mut new = self.new[number].write().unwrap_or_else(PoisonError::into_inner);
            new.clear();
            new.resize_with(block.places.len(), || AtomicU32::new(NOT_NEW));
            for (store, outgoing) in block.outgoing.iter_mut().enumerate() {
                let mut cell = lock(&self.cells[number << self.bits | store]);
                std::mem::swap(&mut *cell, outgoing);
                outgoing.clear();
            }
        }
    }

    fn run_starts(&self, worker: &mut Worker<'a, S>, block: &mut Block, ask: Ask<'_>) {
        let Worker { scratch, sorting, .. } = worker;
        let mut expander = BlockExpander { search: self, sorting, block, ask, stores: None };
        let mut expansion = Expansion::of_starts(&mut expander, self.options);
        self.system.starts(scratch, &mut |instance, event| expansion.event(instance, event));
        expansion.close();
        self.sort(sorting, block);
    }

    fn expand_block(
        &self,
        worker: &mut Worker<'a, S>,
        stores: &Snapshots<'_>,
        block: &mut Block,
        numbers: &[StateNumber],
        ask: Ask<'_>,
    ) {
        let Worker { scratch, sorting, states, read, judge, .. } = worker;
        // Their memory latencies overlap.
        states.resize(numbers.len() * self.words, 0);
        for (&number, state) in numbers.iter().zip(states.chunks_exact_mut(self.words)) {
            stores.read(number, read, state);
        }
        for (position, (&number, state)) in (0..).zip(numbers.iter().zip(states.chunks_exact(self.words))) {
            match judge.expands(state) {
                Ok(true) => {}
                Ok(false) => {
                    block.unexpanded += 1;
                    continue;
                }
                Err(violation) => {
                    let end = end_with(Some(number), None, violation);
                    let moment = at(block.steps + sorting.batch.steps());
                    match block.receive(moment, end, (self.checks, self.options)) {
                        ControlFlow::Continue(()) => continue,
                        ControlFlow::Break(()) => break,
                    }
                }
            }
            let mut expander = BlockExpander { search: self, sorting, block, ask, stores: Some(stores) };
            let expansion = Expansion::of_state(&mut expander, self.options, state, number, position);
            let moved = expansion.run(self.system, scratch);
            if !moved
                && block.end.is_none()
                && let Some(violation) = deadlock(self.options, state, |each| self.system.steps(scratch, state, each))
            {
                let end = end_with(Some(number), None, violation);
                let moment = at(block.steps + sorting.batch.steps());
                let _ = block.receive(moment, end, (self.checks, self.options));
            }
            if block.end.is_some() {
                break;
            }
            if sorting.batch.is_full() {
                self.sort(sorting, block);
            }
        }
        self.sort(sorting, block);
    }

    /// Sorts the candidates among the successors of a batch by the responsible stores.
    fn sort(&self, sorting: &mut Sorting<'a, S>, block: &mut Block) {
        let Sorting { lookup, batch, recent } = sorting;
        lookup.hash_all(batch);
        let is_paused = recent.is_paused(batch.len());
        let (mut number, mut before) = (0, block.steps);
        while let Some(Run { parent, first, end, passed }) = batch.run(number) {
            number += 1;
            before += passed;
            block.runs.push((block.places.len() as u32, parent as u16));
            if parent == NO_PARENT && passed > 0 {
                block.start_steps.push((passed, before + first as u64));
            }
            for position in first..end {
                let (state, tag, hash) = batch.entry(position);
                if !is_paused && recent.meets(state, hash) {
                    continue;
                }
                // Tags that do not fit carry only information that can be safely dropped.
                let tag = u16::try_from(tag).unwrap_or(Tag::EVERYTHING as u16);
                let label = Label { candidate: block.places.len() as u32, parent: parent as u16, tag };
                block.places.push(before + position as u64);
                let outgoing = &mut block.outgoing[hash.shard(self.bits)];
                match *state {
                    [word] => outgoing.extend_from_slice(&[word, label.pack()]),
                    [first, second] => outgoing.extend_from_slice(&[first, second, label.pack()]),
                    _ => {
                        append(outgoing, state);
                        outgoing.push(label.pack());
                    }
                }
            }
        }
        block.steps += batch.steps();
        batch.clear();
    }

    /// The second phase for one store.
    fn keep_new(&self, worker: &mut Worker<'a, S>, round: Round, number: usize) {
        let mut store = self.stores[number].write().unwrap_or_else(PoisonError::into_inner);
        let level = read(&self.level);
        let stride = self.words + 1;
        for block in 0..round.blocks() {
            let mut cell = lock(&self.cells[block << self.bits | number]);
            let stored = read(&self.new[block]);
            for records in cell.chunks(LOOKAHEAD * stride) {
                let Worker { hashes, entries, sightings, judge, sorting: Sorting { lookup, .. }, .. } = worker;
                hashes.clear();
                hashes.extend(records.chunks_exact(stride).map(|record| lookup.hash(&record[..self.words])));
                if lookup.is_by_words() {
                    store.recognise(hashes, records.chunks_exact(stride), entries, sightings);
                } else {
                    sightings.clear();
                    sightings.resize(hashes.len(), Sighting::Unknown);
                }
                let growths = store.growths();
                for (position, record) in records.chunks_exact(stride).enumerate() {
                    let sighting = sightings[position];
                    if sighting == Sighting::Stored {
                        continue;
                    }
                    let (state, label) = record.split_at(self.words);
                    let hash = hashes[position];
                    let probe = match lookup.is_by_words() {
                        true => store.probe_sighted(state, hash, sighting, growths),
                        false => lookup.probe(&store, state, hash),
                    };
                    let Probe::Vacant(vacancy) = probe else { continue };
                    let Label { candidate, parent, tag } = Label::unpack(label[0]);
                    let origin =
                        (parent != Label::NO_PARENT).then(|| level[round.start_of(block) + usize::from(parent)]);
                    let insert = || match store.insert(state, hash, vacancy, origin.unwrap_or(NO_PARENT)) {
                        Ok(new) => Ok(Some(new << self.bits | number as StateNumber)),
                        Err(full) => Err(stop(full.reason(self.options))),
                    };
                    let admission = judge.admit(state, u64::from(tag), origin, insert, |property| {
                        let mut block = lock(&self.blocks[block]);
                        let moment = at(block.places[candidate as usize]) + 1;
                        block.note_cover(property, moment);
                    });
                    let new = match admission {
                        Admission::Stored(new) => new,
                        Admission::Dropped => continue,
                        Admission::Refused(halt) => {
                            lock(&self.blocks[block]).note_end_at(candidate, *halt);
                            continue;
                        }
                        Admission::DroppedWrong(finding) => {
                            let mut block = lock(&self.blocks[block]);
                            let moment = at(block.places[candidate as usize]);
                            block.note_finding(moment, finding, self.checks);
                            continue;
                        }
                        Admission::StoredWrong(new, findings) => {
                            let mut block = lock(&self.blocks[block]);
                            let moment = at(block.places[candidate as usize]) + 1;
                            for finding in findings {
                                block.note_finding(moment, finding, self.checks);
                            }
                            self.has_violations.store(true, Ordering::Relaxed);
                            new
                        }
                        Admission::StoredLast(new, halt) => {
                            let mut block = lock(&self.blocks[block]);
                            let moment = at(block.places[candidate as usize]) + 1;
                            block.note_end(moment, *halt);
                            new
                        }
                    };
                    stored[candidate as usize].store(new, Ordering::Relaxed);
                }
            }
            cell.clear();
        }
    }
}

/// Expands the states of a block.
struct BlockExpander<'x, 'a, S: SearchSpace> {
    search: &'x ThreadedSearch<'a, S>,
    sorting: &'x mut Sorting<'a, S>,
    block: &'x mut Block,
    ask: Ask<'x>,
    /// What was stored before the round; none while starts are run.
    stores: Option<&'x Snapshots<'x>>,
}

impl<S: SearchSpace> BlockExpander<'_, '_, S> {
    /// The point at which the next event occurs.
    fn moment(&self) -> Moment {
        at(self.block.steps + self.sorting.batch.steps())
    }
}

impl<S: SearchSpace> Expander for BlockExpander<'_, '_, S> {
    #[inline]
    fn batch(&mut self) -> &mut Batch {
        &mut self.sorting.batch
    }

    fn drain(&mut self) -> ControlFlow<()> {
        self.search.sort(self.sorting, self.block);
        ControlFlow::Continue(())
    }

    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()> {
        let moment = self.moment();
        covered.iter().for_each(|&property| self.block.note_cover(property, moment));
        ControlFlow::Continue(())
    }

    fn pause(&mut self) -> ControlFlow<()> {
        match (self.ask)() {
            None => ControlFlow::Continue(()),
            Some(reason) => {
                let moment = self.moment();
                self.block.note_end(moment, End::Stopped(reason));
                ControlFlow::Break(())
            }
        }
    }

    fn is_new(&mut self, position: usize) -> bool {
        let Some(stores) = self.stores else { return true };
        let Sorting { lookup, batch, .. } = &mut *self.sorting;
        let (state, _) = batch.successors.get(position);
        let hash = lookup.hash(state);
        let shard = hash.shard(stores.bits);
        match lookup.probe(&stores.stores[shard], state, hash) {
            Probe::Vacant(_) => true,
            Probe::Stored(number) => number != NO_PARENT && u64::from(number) >= stores.levels[shard],
        }
    }

    fn is_halted(&self) -> bool {
        self.block.end.is_some()
    }

    fn end(&mut self, end: End) -> ControlFlow<()> {
        let moment = self.moment();
        self.block.receive(moment, end, (self.search.checks, self.search.options))
    }
}

/// Counters.
#[derive(Debug)]
struct Counts<'a> {
    states: u64,
    transitions: u64,
    depth: u64,
    /// States of each level up to the one that is being expanded.
    levels: Vec<u64>,
    covered: Vec<PropertyId>,
    findings: Findings<'a>,
    unexpanded: u64,
    surplus: FxHashSet<StateNumber>,
    /// The peak number of bytes used for levels and successors.
    other_bytes: u64,
}

/// A point between two rounds.
struct RoundState {
    /// The first waiting state of the level.
    first: usize,
    /// The number of states of the next level.
    found: usize,
    /// The number of states of each store.
    lengths: Vec<u64>,
    totals: SearchTotals,
}

/// The thread that leads the others.
struct Conductor<'s, 'a, S: SearchSpace> {
    search: &'s ThreadedSearch<'a, S>,
    counts: Counts<'a>,
    worker: Worker<'a, S>,
    observer: &'s mut dyn Observer,
    /// Where to continue on disk, with the states of the next level so far.
    left: Option<(RoundState, Vec<StateNumber>)>,
    /// Known if the stores may become dense.
    order: Option<Order>,
    /// The number of bytes at which they do, if they still do.
    dense_at: Option<u64>,
}

impl<S: SearchSpace> Conductor<'_, '_, S> {
    fn run(&mut self, resumed: Option<Restored>) -> End {
        let mut level = Vec::new();
        let mut next = Vec::new();
        let mut depth = 0;
        if resumed.is_none()
            && let Err(halt) = self.condense_if_large(&[])
        {
            return *halt;
        }
        match resumed {
            None => {
                let before = self.here(0, 0, &[]);
                if let Some(end) = self.round(Round::of_starts(), &mut level) {
                    return self.end(end, before, &[]);
                }
            }
            Some(Restored { totals, current, next: found }) => {
                let SearchTotals { level: reached, depth: deepest, transitions, covered, levels, unexpanded, findings } =
                    totals;
                self.counts.levels = levels;
                self.counts.unexpanded = unexpanded;
                self.search.has_violations.store(!findings.is_empty(), Ordering::Relaxed);
                self.counts.findings = Findings::new(self.search.checks, self.search.options, findings);
                self.counts.states = self.search.stores.iter().map(|store| read(store).len()).sum();
                (self.counts.depth, self.counts.transitions, self.counts.covered) = (deepest, transitions, covered);
                (depth, level, next) = (reached, current, found);
                if self.counts.states == 0 {
                    return self.run(None);
                }
                if level.is_empty() {
                    depth += 1;
                    std::mem::swap(&mut level, &mut next);
                }
            }
        }
        while !level.is_empty() {
            let length = level.len();
            {
                let mut shared = self.search.level.write().unwrap_or_else(PoisonError::into_inner);
                *shared = level;
            }
            self.search.note_level(&next);
            if let Some(order) = &mut self.order {
                order.first = self.counts.states - (length + next.len()) as u64;
            }
            self.forget(&next);
            if let Some(limit) = self.search.options.max_depth.filter(|&limit| depth >= limit) {
                let here = self.here(0, depth, &next);
                return self.end(End::Stopped(StopReason::DepthLimit(limit)), here, &next);
            }
            // Where a search resumes inside of a level, its length is known.
            if self.counts.levels.len() as u64 == depth {
                self.counts.levels.push(length as u64);
            }
            let mut first = 0;
            while first < length {
                let round = Round::at(first, length);
                let before = self.here(first, depth, &next);
                let ended = self.round(round, &mut next);
                if next.len() > before.found {
                    self.counts.depth = depth + 1;
                }
                if let Some(end) = ended {
                    return self.end(end, before, &next);
                }
                first = round.end;
                if let Some(end) = self.report(first, depth, &next, length - first) {
                    return end;
                }
                if let Err(halt) = self.condense_if_large(&next) {
                    return *halt;
                }
            }
            level = std::mem::take(&mut next);
            depth += 1;
        }
        End::Finished
    }

    /// Makes the stores dense if they have become large, between two rounds, given the states of the next level so far.
    fn condense_if_large(&mut self, next: &[StateNumber]) -> Result<(), Halt> {
        let search = self.search;
        let bytes = || search.stores.iter().map(|store| read(store).memory_bytes()).sum::<u64>();
        if self.order.is_none() || self.dense_at.is_none_or(|limit| bytes() < limit) {
            return Ok(());
        }
        self.dense_at = None;
        let kept = search.first_numbers(next);
        for (store, first) in search.stores.iter().zip(kept) {
            let mut store = store.write().unwrap_or_else(PoisonError::into_inner);
            let condensed = store.condense(search.system.facts().last_word(), first);
            condensed.map_err(|full| stop(full.reason(search.options)))?;
        }
        Ok(())
    }

    /// Lets dense stores forget the words of expanded states at the beginning of a level, given the states of the next
    /// one so far.
    fn forget(&self, next: &[StateNumber]) {
        let search = self.search;
        if self.order.is_none() || self.dense_at.is_some() {
            return;
        }
        for (store, first) in search.stores.iter().zip(search.first_numbers(next)) {
            store.write().unwrap_or_else(PoisonError::into_inner).forget_before(first);
        }
    }

    /// The current point of the search.
    fn here(&self, first: usize, depth: u64, next: &[StateNumber]) -> RoundState {
        let Counts { transitions, depth: deepest, covered, findings, .. } = &self.counts;
        RoundState {
            first,
            found: next.len(),
            lengths: self.search.stores.iter().map(|store| read(store).len()).collect(),
            totals: SearchTotals {
                level: depth,
                depth: *deepest,
                transitions: *transitions,
                covered: covered.clone(),
                // A deep search has many, and the conductor knows them.
                levels: Vec::new(),
                unexpanded: self.counts.unexpanded,
                findings: findings.list().to_vec(),
            },
        }
    }

    /// Ends the search, with a checkpoint of the previous point if it can be resumed from there.
    fn end(&mut self, end: End, before: RoundState, next: &[StateNumber]) -> End {
        if self.search.options.spill.is_some()
            && self.search.options.checkpoint.is_none()
            && disk::continues_on_disk(&end)
        {
            let next = next[..before.found].to_vec();
            self.left = Some((before, next));
            return end;
        }
        match &end {
            End::Stopped(reason) if is_resumable(reason) => match self.save(&before, next) {
                Ok(()) => end,
                Err(error) => End::Stopped(StopReason::CheckpointFailed(error.to_string())),
            },
            _ => end,
        }
    }

    /// Writes a checkpoint, if one is configured.
    fn save(&self, place: &RoundState, next: &[StateNumber]) -> io::Result<()> {
        let search = self.search;
        let Some(path) = &search.options.checkpoint else { return Ok(()) };
        let stores: Vec<RwLockReadGuard<'_, Store>> = search.stores.iter().map(read).collect();
        let stores: Vec<(&Store, u64)> =
            stores.iter().zip(&place.lengths).map(|(store, &length)| (&**store, length)).collect();
        let level = read(&search.level);
        let totals = SearchTotals { levels: self.counts.levels.clone(), ..place.totals.clone() };
        let snapshot = Snapshot {
            subject: search.subject,
            checks: search.checks,
            words: search.words,
            stores: &stores,
            totals: &totals,
            fired: search.system.facts().fired_rules(),
            current: level[place.first..].iter().copied(),
            next: next[..place.found].iter().copied(),
        };
        checkpoint::write(path, snapshot)
    }

    /// One round; adds its new states to the next level. Returns what ends the search.
    fn round(&mut self, round: Round, next: &mut Vec<StateNumber>) -> Option<End> {
        let search = self.search;
        *search.round.write().unwrap_or_else(PoisonError::into_inner) = round;
        for next in &search.next {
            next.store(0, Ordering::Relaxed);
        }
        let together = round.end - round.first > SMALL_ROUND;
        if together {
            search.wait();
        }
        let progress = self.progress(next.len());
        let observer = &mut *self.observer;
        let mut ask = || {
            if search.stop.get().is_none()
                && let ControlFlow::Break(reason) = observer.progress(&progress)
            {
                search.stop.get_or_init(|| reason);
            }
            search.stop.get().cloned()
        };
        search.phases(&mut self.worker, together, &mut ask);
        if let Some(panic) = lock(&search.panic).take() {
            resume_unwind(panic);
        }
        let mut ended = None;
        for number in 0..round.blocks() {
            let mut block = lock(&search.blocks[number]);
            let new = read(&search.new[number]);
            if ended.is_some() {
                self.counts.surplus.extend(stored(&new).map(|(_, state)| state));
                continue;
            }
            ended = self.count(&mut block, &new, round, number, next);
        }
        ended
    }

    /// Counts what belongs to a block up to the point where the search ends.
    fn count(
        &mut self,
        block: &mut Block,
        new: &[AtomicU32],
        round: Round,
        number: usize,
        next: &mut Vec<StateNumber>,
    ) -> Option<End> {
        let mut end = block.end.take();
        let known = self.counts.findings.list().len();
        if let Some(limit) = self.search.options.max_states {
            let left = limit.saturating_sub(self.counts.states);
            if let Some(candidate) = usize::try_from(left).ok().and_then(|left| stored(new).nth(left)) {
                let moment = at(block.places[candidate.0]);
                if end.as_ref().is_none_or(|&(known, _)| moment < known) {
                    end = Some((moment, End::Stopped(StopReason::StateLimit(limit))));
                }
            }
        }
        block.findings.sort_by_key(|&(moment, _)| moment);
        for (moment, finding) in block.findings.drain(..) {
            if end.as_ref().is_some_and(|&(known, _)| known < moment) {
                break;
            }
            if let Err(halt) = self.counts.findings.note(finding) {
                end = Some((moment, *halt));
                break;
            }
        }
        let (cut, end) = match end {
            Some((moment, end)) => (moment, Some(end)),
            None => (Moment::MAX, None),
        };
        self.counts.unexpanded += block.unexpanded;
        let before = next.len();
        let first = self.order.as_ref().map_or(0, |order| order.first + round.start_of(number) as u64);
        let mut runs = block.runs.iter().copied().peekable();
        let mut parent = Label::NO_PARENT;
        for (candidate, state) in stored(new) {
            if cut == Moment::MAX || at(block.places[candidate]) < cut {
                next.push(state);
                if let Some(order) = &mut self.order {
                    while let Some((_, next)) = runs.next_if(|&(first, _)| first as usize <= candidate) {
                        parent = next;
                    }
                    let parent = (parent != Label::NO_PARENT).then(|| (first + u64::from(parent)) as StateNumber);
                    order.ancestry.push(parent);
                }
            } else {
                self.counts.surplus.insert(state);
            }
        }
        self.counts.states += (next.len() - before) as u64;
        let last = if let Some(End::Found(finding)) = &end { Some(finding) } else { None };
        for finding in self.counts.findings.list()[known..].iter().chain(last) {
            if let (Some(order), Some(origin)) = (&mut self.order, finding.origin) {
                let level = read(&self.search.level);
                let waiting = level[round.first..round.end].iter().position(|&state| state == origin);
                let found = || next.iter().rposition(|&state| state == origin).map(|place| level.len() + place);
                let place = waiting.map(|place| round.first + place).or_else(found).expect("it was found just now");
                order.numbers.insert(origin, (order.first + place as u64) as StateNumber);
            }
        }
        for &(property, moment) in &block.covered {
            if moment <= cut && !self.counts.covered.contains(&property) {
                self.counts.covered.push(property);
            }
        }
        if !round.starts {
            // A step counts even if the state it leads to ends the search.
            self.counts.transitions += block.steps.min(cut / 2 + 1);
        }
        let passed = block.start_steps.iter().filter(|&&(_, place)| at(place) <= cut);
        self.counts.transitions += passed.map(|&(passed, _)| passed).sum::<u64>();
        end
    }

    /// The progress of the search, given the number of states of the next level.
    fn progress(&mut self, found: usize) -> Progress {
        let search = self.search;
        let stored: u64 = search.stores.iter().map(|store| read(store).memory_bytes()).sum();
        let level = read(&search.level).capacity();
        let other = 4 * (level + found) as u64 + self.order.as_ref().map_or(0, |order| order.ancestry.bytes());
        self.counts.other_bytes = self.counts.other_bytes.max(other);
        Progress {
            states: self.counts.states,
            transitions: self.counts.transitions,
            frontier: found as u64,
            depth: self.counts.depth,
            memory_bytes: stored + other,
        }
    }

    fn report(&mut self, first: usize, depth: u64, next: &[StateNumber], waiting: usize) -> Option<End> {
        let search = self.search;
        let progress = self.progress(next.len());
        let progress = Progress { frontier: progress.frontier + waiting as u64, ..progress };
        let here = self.here(first, depth, next);
        if let Some(limit) = search.options.max_memory.filter(|&limit| progress.memory_bytes > limit) {
            return Some(self.end(End::Stopped(StopReason::MemoryLimit(limit)), here, next));
        }
        match self.observer.progress(&progress) {
            ControlFlow::Break(reason) => Some(self.end(End::Stopped(reason), here, next)),
            ControlFlow::Continue(()) if search.options.checkpoint.is_some() && self.observer.wants_checkpoint() => {
                let saved = self.save(&here, next);
                saved.err().map(|error| End::Stopped(StopReason::CheckpointFailed(error.to_string())))
            }
            ControlFlow::Continue(()) => None,
        }
    }
}

/// The candidates of a block that were new, in order, with their numbers as states.
fn stored(new: &[AtomicU32]) -> impl Iterator<Item = (usize, StateNumber)> {
    new.iter().map(|number| number.load(Ordering::Relaxed)).enumerate().filter(|&(_, number)| number != NOT_NEW)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panics ends the search; no other thread uses what it left.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
