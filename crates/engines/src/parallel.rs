//! Breadth-first search on several threads, with the same result as on one.
//!
//! States are shared out among stores by their hashes. A level is searched in rounds, each in three
//! phases with all threads waiting for each other in between:
//!
//! 1. The states of the round, cut into blocks, are expanded. Each block sorts its successors by
//!    the store that is responsible for them and numbers them in order.
//! 2. Each store takes its successors, block by block, and keeps the new ones. No other thread
//!    touches it meanwhile, so nothing is locked state by state.
//! 3. Each block learns which of its successors were new and puts them in order.
//!
//! So the next level has the order that a search on one thread gives it, whichever thread did what,
//! and so have counts, verdicts and traces: a violation counts if it is the first in that order,
//! and what was stored beyond it does not count.

use std::any::Any;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use quotient_ir::{DeadlockMode, PropertyId, Violation};
use rustc_hash::FxHashSet;

use crate::checkpoint::{self, Restored, Snapshot, Standing, can_go_on};
use crate::judge::{Checks, Judge, Judgement, end_with};
use crate::observer::{Observer, Progress};
use crate::options::SearchOptions;
use crate::report::{EngineError, StopReason};
use crate::search::{End, Exploration};
use crate::shards::Shards;
use crate::store::{Entries, Full, Hash, NO_PARENT, Probe, StateNumber, Store};
use crate::system::{Event, Instance, Sink, Successors, Tag, TransitionSystem};

/// States of a block.
const BLOCK: usize = 256;
/// Blocks of a round. Their successors should fit into the cache.
const BLOCKS: usize = 64;
/// Rounds of fewer states are not worth waking other threads.
const SMALL_ROUND: usize = 4 * BLOCK;
/// Lookups whose waits for memory overlap.
const LOOKAHEAD: usize = 64;
/// In place of the label of a successor that was not new.
const NOT_NEW: u64 = u64::MAX;

/// What goes with a successor on its way to a store: its place in the block, the position of its
/// parent in the block, and its tag; in one word, since there are very many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Label {
    place: u32,
    parent: u16,
    tag: u16,
}

impl Label {
    /// The position of the parent of a state that a start led to.
    const NO_PARENT: u16 = u16::MAX;

    fn pack(self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.parent) << 16 | u64::from(self.tag)
    }
    fn unpack(word: u64) -> Self {
        Self { place: (word >> 32) as u32, parent: (word >> 16) as u16, tag: word as u16 }
    }
    /// The label of a successor that was new: its place and its number.
    fn of_new(place: u32, number: StateNumber) -> u64 {
        u64::from(place) << 32 | u64::from(number)
    }
}

/// Searches the reachable states of a system on several threads.
pub(crate) fn explore_in_parallel<S: TransitionSystem>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    entries: Entries,
    fingerprint: u64,
    observer: &mut dyn Observer,
) -> Result<Exploration, EngineError> {
    // More stores than threads, so that they share the work evenly. Their number must not change
    // anything, and does not.
    let bits = if options.threads <= 8 { 4 } else { 6 };
    let words = system.words();
    let mut stores: Vec<Store> =
        (0..1 << bits).map(|_| Store::shard(words, entries, options.max_memory, bits)).collect();
    let resumed =
        match &options.resume {
            None => None,
            Some(path) => {
                let restored =
                    checkpoint::read(path, fingerprint, words).and_then(|saved| saved.restore(&mut stores, bits));
                Some(restored.map_err(|error| EngineError::Resume {
                    path: path.display().to_string(),
                    reason: error.to_string(),
                })?)
            }
        };
    let search = Search {
        system,
        checks,
        options,
        words,
        bits,
        stores: stores.into_iter().map(RwLock::new).collect(),
        level: RwLock::new(Vec::new()),
        round: RwLock::new(Round::default()),
        blocks: (0..BLOCKS).map(|_| Mutex::new(Block::new(1 << bits))).collect(),
        cells: (0..BLOCKS << bits).map(|_| Mutex::new(Vec::new())).collect(),
        next: [const { AtomicUsize::new(0) }; 3],
        barrier: OnceLock::new(),
        panic: Mutex::new(None),
        finished: AtomicBool::new(false),
        fingerprint,
    };
    let (end, counts) = std::thread::scope(|scope| {
        // How many threads there really are is known only when they have been started; until then
        // they wait at this gate.
        let gate = lock(&search.panic);
        let mut threads = 1;
        for _ in 1..options.threads {
            let started = std::thread::Builder::new().spawn_scoped(scope, || search.work());
            threads += usize::from(started.is_ok());
        }
        search.barrier.get_or_init(|| Barrier::new(threads));
        drop(gate);
        let worker = search.worker();
        let mut conductor = Conductor { search: &search, counts: Counts::default(), worker, observer };
        let end = catch_unwind(AssertUnwindSafe(|| conductor.run(resumed)));
        let counts = conductor.counts;
        search.finished.store(true, Ordering::Release);
        search.wait();
        (end.unwrap_or_else(|panic| resume_unwind(panic)), counts)
    });
    let stores: Vec<Store> =
        search.stores.into_iter().map(|store| store.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let peak: u64 = stores.iter().map(Store::peak_bytes).sum();
    Ok(Exploration {
        end,
        store: Shards::several(stores),
        states: counts.states,
        surplus: counts.surplus,
        transitions: counts.transitions,
        depth: counts.depth,
        memory_bytes: peak + counts.other_bytes,
        covered: counts.covered,
        approximation: None,
    })
}

/// What all threads share.
struct Search<'a, S: TransitionSystem> {
    system: &'a S,
    checks: &'a Checks,
    options: &'a SearchOptions,
    words: usize,
    bits: u32,
    stores: Vec<RwLock<Store>>,
    /// The states of the level in order.
    level: RwLock<Vec<StateNumber>>,
    round: RwLock<Round>,
    blocks: Vec<Mutex<Block>>,
    /// For each block and each store: records of a state and its label (later its place and
    /// number, if it is new).
    cells: Vec<Mutex<Vec<u64>>>,
    /// What to do next in each phase.
    next: [AtomicUsize; 3],
    barrier: OnceLock<Barrier>,
    /// What a thread panicked with. It goes on to meet the others, and the first thread panics
    /// between two rounds.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    finished: AtomicBool,
    fingerprint: u64,
}

/// The states of the level that are expanded in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    first: usize,
    end: usize,
    /// Whether this is the round of the starts, which are in the first block.
    starts: bool,
}

impl Round {
    fn blocks(self) -> usize {
        if self.starts { 1 } else { (self.end - self.first).div_ceil(BLOCK) }
    }
}

/// When something happened in a block: twice the place of a successor while it was looked at, and
/// one more after it was stored.
type Moment = u64;

fn at(place: u32) -> Moment {
    2 * u64::from(place)
}

/// What came of a block.
#[derive(Debug)]
struct Block {
    /// How many successors there are.
    successors: u32,
    /// What ends the search, and when. Only the first counts.
    end: Option<(Moment, End)>,
    /// Covers and when they were reached; each once.
    covered: Vec<(PropertyId, Moment)>,
    /// New states in order, with their places.
    new: Vec<(u32, StateNumber)>,
    /// Successors on their way to the cells.
    outgoing: Vec<Vec<u64>>,
}

impl Block {
    fn new(stores: usize) -> Self {
        let outgoing = vec![Vec::new(); stores];
        Self { successors: 0, end: None, covered: Vec::new(), new: Vec::new(), outgoing }
    }

    fn clear(&mut self) {
        self.successors = 0;
        self.end = None;
        self.covered.clear();
        self.new.clear();
    }

    fn note_end(&mut self, moment: Moment, end: End) {
        if self.end.as_ref().is_none_or(|&(known, _)| moment < known) {
            self.end = Some((moment, end));
        }
    }

    fn note_cover(&mut self, property: PropertyId, moment: Moment) {
        match self.covered.iter_mut().find(|(known, _)| *known == property) {
            Some((_, earliest)) => *earliest = moment.min(*earliest),
            None => self.covered.push((property, moment)),
        }
    }
}

/// What a thread needs to work.
struct Worker<'a, S: TransitionSystem> {
    scratch: S::Scratch,
    judge: Judge<'a, S>,
    successors: Successors,
    state: Vec<u64>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    known: Vec<bool>,
}

impl<'a, S: TransitionSystem> Search<'a, S> {
    fn worker(&self) -> Worker<'a, S> {
        Worker {
            scratch: self.system.scratch(),
            judge: Judge::new(self.system, self.checks, self.options),
            successors: Successors::new(self.words),
            state: vec![0; self.words],
            hashes: Vec::new(),
            entries: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Works on rounds until the search is finished.
    fn work(&self) {
        drop(lock(&self.panic));
        let mut worker = self.worker();
        loop {
            self.wait();
            if self.finished.load(Ordering::Acquire) {
                return;
            }
            self.phases(&mut worker, true);
        }
    }

    /// The three phases of a round, with others or alone.
    fn phases(&self, worker: &mut Worker<'a, S>, together: bool) {
        let round = *read(&self.round);
        let mut phase = |work: &mut dyn FnMut(&mut Worker<'a, S>)| {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(worker))) {
                *lock(&self.panic) = Some(panic);
            }
            if together {
                self.wait();
            }
        };
        phase(&mut |worker| self.expand_blocks(worker, round));
        phase(&mut |worker| {
            while let Some(store) = self.take(1, self.stores.len()) {
                self.keep_new(worker, round, store);
            }
        });
        phase(&mut |_| {
            while let Some(block) = self.take(2, round.blocks()) {
                self.put_in_order(block);
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
    fn expand_blocks(&self, worker: &mut Worker<'a, S>, round: Round) {
        let stores: Vec<RwLockReadGuard<'_, Store>> = self.stores.iter().map(read).collect();
        let level = read(&self.level);
        while let Some(number) = self.take(0, round.blocks()) {
            let mut block = lock(&self.blocks[number]);
            block.clear();
            if round.starts {
                self.run_starts(worker, &mut block);
            } else {
                let first = round.first + number * BLOCK;
                let states = &level[first..(first + BLOCK).min(round.end)];
                for (position, &state) in (0..).zip(states) {
                    let words = stores[state as usize & ((1 << self.bits) - 1)].state(state >> self.bits);
                    worker.state.copy_from_slice(words);
                    self.expand(worker, &mut block, state, position);
                    if block.end.is_some() {
                        break;
                    }
                }
            }
            for (store, outgoing) in block.outgoing.iter_mut().enumerate() {
                let mut cell = lock(&self.cells[number << self.bits | store]);
                std::mem::swap(&mut *cell, outgoing);
                outgoing.clear();
            }
        }
    }

    fn run_starts(&self, worker: &mut Worker<'a, S>, block: &mut Block) {
        let mut expansion = Expansion {
            search: self,
            block,
            successors: &mut worker.successors,
            state: None,
            parent: NO_PARENT,
            position: Label::NO_PARENT,
            moved: false,
        };
        self.system.starts(&mut worker.scratch, |instance, event| expansion.event(instance, event));
        expansion.send();
    }

    fn expand(&self, worker: &mut Worker<'a, S>, block: &mut Block, parent: StateNumber, position: u16) {
        let Worker { scratch, successors, state, .. } = worker;
        let mut expansion =
            Expansion { search: self, block, successors, state: Some(state), parent, position, moved: false };
        self.system.expand(scratch, state, &mut expansion);
        expansion.send();
        let moved = expansion.moved;
        if !moved && self.options.deadlock != DeadlockMode::Off && block.end.is_none() && !self.leaves(state, scratch) {
            let end = end_with(self.options, Some(parent), None, Violation::Deadlock(self.options.deadlock));
            block.note_end(at(block.successors), end);
        }
    }

    /// Whether some step leads from a state of the model to another one.
    fn leaves(&self, state: &[u64], scratch: &mut S::Scratch) -> bool {
        let stuttering = self.options.deadlock == DeadlockMode::Stuttering;
        let mut leaves = false;
        self.system.concrete_successors(scratch, state, |_, event| match event {
            Event::Next { state: next, .. } if !stuttering || next != state => {
                leaves = true;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
        leaves
    }

    /// The second phase for one store.
    fn keep_new(&self, worker: &mut Worker<'a, S>, round: Round, number: usize) {
        let mut store = self.stores[number].write().unwrap_or_else(PoisonError::into_inner);
        let level = read(&self.level);
        let stride = self.words + 1;
        for block in 0..round.blocks() {
            let mut cell = lock(&self.cells[block << self.bits | number]);
            for records in cell.chunks_mut(LOOKAHEAD * stride) {
                worker.hashes.clear();
                worker.hashes.extend(records.chunks_exact(stride).map(|record| Hash::of(&record[..self.words])));
                worker.entries.clear();
                worker.entries.extend(worker.hashes.iter().map(|&hash| store.touch(hash)));
                worker.known.clear();
                let entries = worker.entries.iter().zip(&worker.hashes).zip(records.chunks_exact(stride));
                worker.known.extend(entries.map(|((&entry, &hash), record)| store.confirms(entry, hash, record)));
                for (position, record) in records.chunks_exact_mut(stride).enumerate() {
                    let (state, rest) = record.split_at_mut(self.words);
                    let hash = worker.hashes[position];
                    let label = std::mem::replace(&mut rest[0], NOT_NEW);
                    if worker.known[position] {
                        continue;
                    }
                    let Probe::Vacant(vacancy) = store.probe(state, hash) else { continue };
                    let Label { place, parent, tag } = Label::unpack(label);
                    let origin =
                        (parent != Label::NO_PARENT).then(|| level[round.first + block * BLOCK + usize::from(parent)]);
                    let parent = origin.unwrap_or(NO_PARENT);
                    match worker.judge.judge(state, u64::from(tag)) {
                        Judgement::Admitted => {}
                        Judgement::Dropped => continue,
                        Judgement::Wrong(violation) => {
                            let end = end_with(self.options, origin, Some(state), violation);
                            lock(&self.blocks[block]).note_end(at(place), end);
                            continue;
                        }
                    }
                    let new = match store.insert(state, hash, vacancy, parent) {
                        Ok(new) => new << self.bits | number as StateNumber,
                        Err(full) => {
                            let reason = match full {
                                Full::Numbers => StopReason::TooManyStates,
                                Full::Memory => StopReason::MemoryLimit(self.options.max_memory.unwrap_or(u64::MAX)),
                                Full::System => StopReason::OutOfMemory,
                            };
                            lock(&self.blocks[block]).note_end(at(place), End::Stopped(reason));
                            continue;
                        }
                    };
                    rest[0] = Label::of_new(place, new);
                    let observed = worker.judge.observe(state, |property| {
                        lock(&self.blocks[block]).note_cover(property, at(place) + 1);
                    });
                    if let Err(violation) = observed {
                        // The state counts.
                        let end = end_with(self.options, Some(new), None, violation);
                        lock(&self.blocks[block]).note_end(at(place) + 1, end);
                    }
                }
            }
        }
    }

    /// The third phase for one block.
    fn put_in_order(&self, number: usize) {
        let mut block = lock(&self.blocks[number]);
        let stride = self.words + 1;
        for store in 0..self.stores.len() {
            let mut cell = lock(&self.cells[number << self.bits | store]);
            for record in cell.chunks_exact(stride) {
                let label = record[self.words];
                if label != NOT_NEW {
                    block.new.push(((label >> 32) as u32, label as StateNumber));
                }
            }
            cell.clear();
        }
        block.new.sort_unstable();
    }
}

/// A state (or the starts) being expanded.
struct Expansion<'x, 'a, S: TransitionSystem> {
    search: &'x Search<'a, S>,
    block: &'x mut Block,
    successors: &'x mut Successors,
    state: Option<&'x [u64]>,
    parent: StateNumber,
    /// Where the state is in the block.
    position: u16,
    moved: bool,
}

impl<S: TransitionSystem> Expansion<'_, '_, S> {
    /// Sends the successors so far to the stores that are responsible for them.
    fn send(&mut self) {
        let words = self.search.words;
        let stuttering = self.search.options.deadlock == DeadlockMode::Stuttering;
        for record in self.successors.records() {
            let state = &record[..words];
            self.moved = self.moved || !stuttering || Some(state) != self.state;
            // Tags beyond what fits say nothing that would be wrong to forget.
            let tag = u16::try_from(record[words]).unwrap_or(Tag::EVERYTHING as u16);
            let label = Label { place: self.block.successors, parent: self.position, tag };
            let outgoing = &mut self.block.outgoing[Hash::of(state).shard(self.search.bits)];
            outgoing.extend_from_slice(state);
            outgoing.push(label.pack());
            self.block.successors += 1;
        }
        self.successors.clear();
    }
}

impl<S: TransitionSystem> Sink for Expansion<'_, '_, S> {
    fn successors(&mut self) -> &mut Successors {
        self.successors
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Next { state, covered } => {
                self.send();
                for &property in covered {
                    self.block.note_cover(property, at(self.block.successors));
                }
                self.successors.push(state, Tag::EVERYTHING);
                ControlFlow::Continue(())
            }
            Event::Pruned | Event::Idle => ControlFlow::Continue(()),
            Event::Fault(fault) => {
                self.send();
                let violation =
                    Violation::Fault { action: instance.action, arguments: instance.arguments.to_vec(), fault };
                let origin = (self.parent != NO_PARENT).then_some(self.parent);
                let end = end_with(self.search.options, origin, None, violation);
                self.block.note_end(at(self.block.successors), end);
                ControlFlow::Break(())
            }
        }
    }
}

/// What is counted.
#[derive(Debug, Default)]
struct Counts {
    states: u64,
    transitions: u64,
    depth: u64,
    covered: Vec<PropertyId>,
    surplus: FxHashSet<StateNumber>,
    /// Most bytes used for levels and successors.
    other_bytes: u64,
}

/// A moment between two rounds.
struct Place {
    /// The first state of the level that waits.
    first: usize,
    /// How many states of the next level there are.
    found: usize,
    /// How many states each store has.
    lengths: Vec<u64>,
    standing: Standing,
}

/// The thread that leads the others.
struct Conductor<'s, 'a, S: TransitionSystem> {
    search: &'s Search<'a, S>,
    counts: Counts,
    worker: Worker<'a, S>,
    observer: &'s mut dyn Observer,
}

impl<S: TransitionSystem> Conductor<'_, '_, S> {
    fn run(&mut self, resumed: Option<Restored>) -> End {
        let mut level = Vec::new();
        let mut next = Vec::new();
        let mut depth = 0;
        match resumed {
            None => {
                if let Some(end) = self.round(Round { first: 0, end: 0, starts: true }, &mut level) {
                    return end;
                }
            }
            Some(Restored { standing, current, next: found }) => {
                let Standing { level: reached, depth: deepest, transitions, covered } = standing;
                self.counts.states = self.search.stores.iter().map(|store| read(store).len()).sum();
                (self.counts.depth, self.counts.transitions, self.counts.covered) = (deepest, transitions, covered);
                (depth, level, next) = (reached, current, found);
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
            if let Some(limit) = self.search.options.max_depth.filter(|&limit| depth >= limit) {
                let here = self.here(0, depth, &next);
                return self.end(End::Stopped(StopReason::DepthLimit(limit)), &here, &next);
            }
            let mut first = 0;
            while first < length {
                let end = (first + BLOCK * BLOCKS).min(length);
                let before = self.here(first, depth, &next);
                let ended = self.round(Round { first, end, starts: false }, &mut next);
                if next.len() > before.found {
                    self.counts.depth = depth + 1;
                }
                if let Some(end) = ended {
                    return self.end(end, &before, &next);
                }
                first = end;
                if let Some(end) = self.report(first, depth, &next, length - first) {
                    return end;
                }
            }
            level = std::mem::take(&mut next);
            depth += 1;
        }
        End::Finished
    }

    /// Where the search is.
    fn here(&self, first: usize, depth: u64, next: &[StateNumber]) -> Place {
        let Counts { transitions, depth: deepest, covered, .. } = &self.counts;
        Place {
            first,
            found: next.len(),
            lengths: self.search.stores.iter().map(|store| read(store).len()).collect(),
            standing: Standing { level: depth, depth: *deepest, transitions: *transitions, covered: covered.clone() },
        }
    }

    /// Ends the search, with a checkpoint of where it was before if it can go on from there.
    fn end(&self, end: End, before: &Place, next: &[StateNumber]) -> End {
        match &end {
            End::Stopped(reason) if can_go_on(reason) => match self.save(before, next) {
                Ok(()) => end,
                Err(error) => End::Stopped(StopReason::CheckpointFailed(error.to_string())),
            },
            _ => end,
        }
    }

    /// Writes a checkpoint, if there is to be one.
    fn save(&self, place: &Place, next: &[StateNumber]) -> io::Result<()> {
        let search = self.search;
        let Some(path) = &search.options.checkpoint else { return Ok(()) };
        let stores: Vec<RwLockReadGuard<'_, Store>> = search.stores.iter().map(read).collect();
        let stores: Vec<(&Store, u64)> =
            stores.iter().zip(&place.lengths).map(|(store, &length)| (&**store, length)).collect();
        let level = read(&search.level);
        let snapshot = Snapshot {
            fingerprint: search.fingerprint,
            words: search.words,
            stores: &stores,
            standing: &place.standing,
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
        search.phases(&mut self.worker, together);
        if let Some(panic) = lock(&search.panic).take() {
            resume_unwind(panic);
        }
        let mut ended = None;
        for number in 0..round.blocks() {
            let mut block = lock(&search.blocks[number]);
            if ended.is_some() {
                self.counts.surplus.extend(block.new.iter().map(|&(_, state)| state));
                continue;
            }
            ended = self.count(&mut block, round.starts, next);
        }
        ended
    }

    /// Counts what belongs to a block up to where the search ends.
    fn count(&mut self, block: &mut Block, starts: bool, next: &mut Vec<StateNumber>) -> Option<End> {
        let mut end = block.end.take();
        if let Some(limit) = self.search.options.max_states {
            let left = limit.saturating_sub(self.counts.states);
            if let Some(&(place, _)) = usize::try_from(left).ok().and_then(|left| block.new.get(left))
                && end.as_ref().is_none_or(|&(known, _)| at(place) < known)
            {
                end = Some((at(place), End::Stopped(StopReason::StateLimit(limit))));
            }
        }
        let (cut, end) = match end {
            Some((moment, end)) => (moment, Some(end)),
            None => (Moment::MAX, None),
        };
        for &(place, state) in &block.new {
            if at(place) < cut {
                next.push(state);
                self.counts.states += 1;
            } else {
                self.counts.surplus.insert(state);
            }
        }
        for &(property, moment) in &block.covered {
            if moment <= cut && !self.counts.covered.contains(&property) {
                self.counts.covered.push(property);
            }
        }
        if !starts {
            // A step counts even if what it leads to ends the search.
            self.counts.transitions += u64::from(block.successors).min(cut / 2 + 1);
        }
        end
    }

    fn report(&mut self, first: usize, depth: u64, next: &[StateNumber], waiting: usize) -> Option<End> {
        let search = self.search;
        let stored: u64 = search.stores.iter().map(|store| read(store).memory_bytes()).sum();
        let level = read(&search.level).capacity();
        let other = 4 * (level + next.len()) as u64;
        self.counts.other_bytes = self.counts.other_bytes.max(other);
        let progress = Progress {
            states: self.counts.states,
            transitions: self.counts.transitions,
            frontier: (next.len() + waiting) as u64,
            depth: self.counts.depth,
            memory_bytes: stored + other,
        };
        let here = self.here(first, depth, next);
        if let Some(limit) = search.options.max_memory.filter(|&limit| progress.memory_bytes > limit) {
            return Some(self.end(End::Stopped(StopReason::MemoryLimit(limit)), &here, next));
        }
        match self.observer.progress(&progress) {
            ControlFlow::Break(reason) => Some(self.end(End::Stopped(reason), &here, next)),
            ControlFlow::Continue(()) if search.options.checkpoint.is_some() && self.observer.wants_checkpoint() => {
                let saved = self.save(&here, next);
                saved.err().map(|error| End::Stopped(StopReason::CheckpointFailed(error.to_string())))
            }
            ControlFlow::Continue(()) => None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panics takes the search down with it; no other sees what it left.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
