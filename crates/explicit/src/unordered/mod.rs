//! Breadth-first search on several threads, level by level, in no particular order within a level.
//!
//! Each thread expands blocks of states of the level, looks their successors up in one table (`table`) and keeps the new ones
//! in its own arena (`arena`). Nothing is passed between threads, and they wait for each other only at the end of a
//! level and when the table grows. Which thread stores a state that several find is a matter of chance, so numbers and
//! parents are, too. What is reported is not: the set of states of a level and the steps from them do not depend on the
//! order, a level in which something is wrong is searched to its end, and what is wrong there has an order of its own
//! ([`Rank`]). So verdicts, counts, and lengths of runs are the same in each run.
//!
//! A search begins in order, on one thread; only what is left of a large one comes here. When the table and the arenas are
//! large, the states move to dense sets (`shared`), and the arenas keep the level and the next one only.

mod arena;
mod shared;
mod table;

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quotient_ir::PropertyId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::barrier::Barrier;
use crate::form::Form;
use arena::Arena;
use quotient_search::words::Hash;
use quotient_search::{Checks, Observer, Progress, SearchOptions, SearchSpace, StopReason};
use quotient_states::batch::{Batch, Run};
use quotient_states::expansion::{Expander, Expansion, deadlock};
use quotient_states::findings::{Findings, Rank};
use quotient_states::judge::{Admission, Judge, end_with};
use quotient_states::recent::Recent;
use quotient_states::store::{Entries, Full, NO_PARENT, Probe, STATE_LIMIT, StateNumber};
use quotient_states::{End, Exploration, Finding, Rest, Shards, note, stop};
use shared::SharedDense;
use table::{Table, View};

/// The least and the largest number of states of a block. States that follow each other have common successors, so
/// that a thread should expand many in a row.
const LEAST_BLOCK: u64 = 64;
const LARGEST_BLOCK: u64 = 1 << 13;
/// The number of blocks of a level for each thread: they share the work evenly.
const BLOCKS_A_THREAD: u64 = 16;
/// The number of states whose words are read at a time: memory latencies overlap.
const READ: u64 = 256;
/// Smaller levels, by number of states, are not worth waking other threads.
const SMALL_LEVEL: u64 = 512;
/// The least number of entries of the table, and for each thread.
const FIRST_ENTRIES: usize = 1 << 18;
const ENTRIES_A_THREAD: usize = 1 << 14;
/// The number of hits among sixteen lookups of recent successors that makes this lookup worthwhile.
const RECENT_WORTH: u32 = 4;

/// Continues a search on one thread that was stopped. States are identified by their words.
pub(super) fn continue_search<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    form: Form,
    begun: Exploration,
    rest: Rest,
    observer: &mut dyn Observer,
) -> Exploration {
    let words = system.words();
    let entries = if words > 1 { Entries::Numbers } else { form.entries };
    let threads = options.threads as usize;
    let bits = threads.next_power_of_two().ilog2();
    let arenas: Vec<Arena> =
        (0..1 << bits).map(|_| Arena::new(words, STATE_LIMIT >> bits, options.max_memory, 1 << bits)).collect();
    let Exploration { store, levels, covered, .. } = begun;
    let Rest { totals, current, next } = rest;
    let findings = totals.findings.into_iter();
    let moved = |number: StateNumber| number << bits;
    let findings = findings.map(|it| Finding { origin: it.origin.map(moved), ..it }).collect();
    let states = store.len();
    let length = FIRST_ENTRIES.max(ENTRIES_A_THREAD * threads).max(4 * states as usize);
    let mut counts = Counts {
        states,
        transitions: totals.transitions,
        depth: totals.depth,
        levels,
        covered,
        unexpanded: totals.unexpanded,
        findings: Findings::new(checks, options, findings),
        peak_bytes: 0,
        origins: FxHashMap::default(),
    };
    let table = match Table::new(entries, length).and_then(|table| {
        take_over(&store, &table, &arenas)?;
        Ok(table)
    }) {
        Ok(table) => table,
        Err(full) => {
            let end = End::Stopped(full.reason(options));
            return counts.explored(end, store);
        }
    };
    drop(store);
    let search = SharedSearch {
        system,
        checks,
        options,
        words,
        bits,
        load_limit: AtomicU64::new(table.load_limit(table.length())),
        table_bytes: AtomicU64::new(8 * table.length()),
        table,
        stored: Apart(AtomicU64::new(states)),
        arena_bytes: AtomicU64::new(arenas[0].bytes(states)),
        arenas: arenas.into_iter().map(RwLock::new).collect(),
        dense_at: form.dense_at,
        dense: OnceLock::new(),
        job: RwLock::new(Job::default()),
        next: Apart(AtomicUsize::new(0)),
        is_crowded: AtomicBool::new(false),
        outcomes: (0..threads).map(|_| Mutex::new(Outcome::default())).collect(),
        barrier: OnceLock::new(),
        panic: Mutex::new(None),
        finished: AtomicBool::new(false),
        stop: OnceLock::new(),
        has_violations: AtomicBool::new(!counts.findings.is_empty()),
    };
    let (end, lengths) = std::thread::scope(|scope| {
        // The actual number of threads is known only when they have been started; until then they wait at this gate.
        let gate = lock(&search.panic);
        let mut started = 1;
        for _ in 1..threads {
            let (search, number) = (&search, started);
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || search.work(number));
            started += usize::from(thread.is_ok());
        }
        search.barrier.get_or_init(|| Barrier::new(started));
        drop(gate);
        let mut worker = search.worker(0);
        worker.length = states;
        let mut lengths = vec![0; 1 << bits];
        lengths[0] = states;
        let mut firsts = vec![0; 1 << bits];
        firsts[0] = u64::from(current.start);
        let scratch = system.scratch();
        let mut conductor =
            Conductor { search: &search, worker, scratch, counts: &mut counts, observer, lengths, firsts };
        let end = catch_unwind(AssertUnwindSafe(|| conductor.run(totals.level, current, next)));
        let lengths = conductor.lengths;
        search.finished.store(true, Ordering::Release);
        search.wait();
        (end.unwrap_or_else(|panic| resume_unwind(panic)), lengths)
    });
    let stores = match search.dense.into_inner() {
        Some(dense) => dense.into_stores(),
        None => {
            let arenas =
                search.arenas.into_iter().map(|arena| arena.into_inner().unwrap_or_else(PoisonError::into_inner));
            arenas.zip(lengths).map(|(arena, states)| arena.into_store(states)).collect()
        }
    };
    counts.explored(end, Shards::several(stores))
}

/// Copies the states of a store into the first arena, in order, and into the table.
fn take_over(store: &Shards, table: &Table, arenas: &[Arena]) -> Result<(), Full> {
    let guards = table.guards();
    let parts: Vec<&[AtomicU64]> = guards.iter().map(|part| &***part).collect();
    let all: Vec<&Arena> = arenas.iter().collect();
    let view = View::new(table, &parts, &all, None);
    for number in 0..store.len() as StateNumber {
        let state = store.state(number);
        let parent = store.parent(number).map_or(NO_PARENT, |parent| parent << view.bits);
        arenas[0].write(u64::from(number), state, parent)?;
        let hash = Hash::of(state);
        if let Probe::Vacant(position) = view.probe(state, hash) {
            view.claim(state, hash, position, number << view.bits);
        }
    }
    Ok(())
}

/// Some states of an arena.
#[derive(Clone, Copy, Debug)]
struct Block {
    arena: usize,
    first: u64,
    end: u64,
}

/// What all threads do.
#[derive(Debug, Default)]
struct Job {
    task: Task,
    /// The states of the level, in blocks.
    blocks: Vec<Block>,
    /// The number of steps from a start to them.
    level: u64,
    /// The first state of each arena that belongs to the next level.
    levels: Vec<u64>,
}

/// The kinds of jobs.
#[derive(Debug, Default)]
enum Task {
    /// The states of the level are expanded.
    #[default]
    Expand,
    /// The table grows.
    Grow,
    /// All states, in these blocks, move to the dense sets.
    Move(Vec<Block>),
}

/// What a thread has to tell after its part of a job.
#[derive(Debug, Default)]
struct Outcome {
    steps: u64,
    unexpanded: u64,
    covered: Vec<PropertyId>,
    found: Vec<(Rank, Finding)>,
    /// The number of states of its arena.
    length: u64,
}

/// What threads write often, apart from what they read often: a cache line has one of them only.
#[repr(align(128))]
struct Apart<T>(T);

/// State shared by all threads.
struct SharedSearch<'a, S: SearchSpace> {
    system: &'a S,
    checks: &'a Checks,
    options: &'a SearchOptions,
    words: usize,
    /// The binary logarithm of the number of arenas.
    bits: u32,
    table: Table,
    /// Threads read them all the time, except while nothing is done.
    arenas: Vec<RwLock<Arena>>,
    /// The number of bytes from which on the states are in dense sets, if that is possible.
    dense_at: Option<u64>,
    /// These sets, which then replace the table.
    dense: OnceLock<SharedDense>,
    job: RwLock<Job>,
    /// The next block of the level, the next part of the table to grow, or the next block to move.
    next: Apart<AtomicUsize>,
    /// The number of states in the table, up to what threads still have to add, and that at which it should grow.
    stored: Apart<AtomicU64>,
    load_limit: AtomicU64,
    /// Whether that number is reached, or the number of bytes at which states move.
    is_crowded: AtomicBool,
    table_bytes: AtomicU64,
    arena_bytes: AtomicU64,
    /// One for each thread.
    outcomes: Vec<Mutex<Outcome>>,
    barrier: OnceLock<Barrier>,
    /// The payload of a thread's panic. That thread continues to the barrier, and the first thread panics between two
    /// jobs.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    finished: AtomicBool,
    /// Why the search ends at once.
    stop: OnceLock<StopReason>,
    /// Whether a state was stored in which an invariant does not hold.
    has_violations: AtomicBool,
}

/// The working data of a thread.
struct Worker<'a, S: SearchSpace> {
    number: usize,
    judge: Judge<'a, S>,
    batch: Batch,
    recent: Recent,
    /// The states of a block.
    states: Vec<u64>,
    /// The number of states of its arena.
    length: u64,
    /// What is left of a block since the table has to grow.
    left: Option<Block>,
    /// States that were not in the table when it had no more room: words, parent, tag.
    late: Vec<u64>,
    outcome: Outcome,
}

/// Lets the observer look, and returns why the search should end now, if it should.
type Ask<'x> = &'x mut dyn FnMut() -> Option<StopReason>;

impl<'a, S: SearchSpace> SharedSearch<'a, S> {
    fn worker(&self, number: usize) -> Worker<'a, S> {
        Worker {
            number,
            judge: Judge::new(self.system, self.checks, self.options),
            batch: Batch::new(self.words),
            recent: Recent::new(self.words, RECENT_WORTH),
            states: Vec::new(),
            length: 0,
            left: None,
            late: Vec::new(),
            outcome: Outcome::default(),
        }
    }

    /// Does jobs until the search is finished.
    fn work(&self, number: usize) {
        drop(lock(&self.panic));
        let (mut worker, mut scratch) = (self.worker(number), self.system.scratch());
        loop {
            self.wait();
            if self.finished.load(Ordering::Acquire) {
                return;
            }
            self.take_part(&mut worker, &mut scratch, &mut || self.stop.get().cloned());
            self.wait();
        }
    }

    /// Waits for the other threads.
    fn wait(&self) {
        self.barrier.get().expect("the barrier is there before the gate is opened").wait();
    }

    /// The part of a thread in a job.
    fn take_part(&self, worker: &mut Worker<'a, S>, scratch: &mut S::Scratch, ask: Ask<'_>) {
        let job = read(&self.job);
        let work = AssertUnwindSafe(|| match &job.task {
            Task::Grow => self.grow(),
            Task::Move(blocks) => self.move_states(blocks),
            Task::Expand => self.expand(worker, scratch, &job, ask),
        });
        if let Err(panic) = catch_unwind(work) {
            *lock(&self.panic) = Some(panic);
            self.stop.get_or_init(|| StopReason::Withdrawn);
        }
        worker.outcome.length = worker.length;
        *lock(&self.outcomes[worker.number]) = std::mem::take(&mut worker.outcome);
    }

    /// Lets parts of the table grow.
    fn grow(&self) {
        while let Some(part) = self.take(self.table.parts()) {
            if let Err(full) = self.table.grow(part) {
                self.stop.get_or_init(|| full.reason(self.options));
            }
        }
    }

    /// Adds states to the dense sets.
    fn move_states(&self, blocks: &[Block]) {
        let dense = self.dense.get().expect("states move to them");
        let mut states = Vec::new();
        while let Some(number) = self.take(blocks.len()) {
            let Block { arena, first, end } = blocks[number];
            let arena = read(&self.arenas[arena]);
            states.clear();
            (first..end).for_each(|number| arena.read(number, &mut states));
            for state in states.chunks_exact(self.words) {
                match dense.add(state, Hash::of(state), self.room()) {
                    Ok((_, more)) => drop(self.table_bytes.fetch_add(more, Ordering::Relaxed)),
                    Err(full) => {
                        self.stop.get_or_init(|| full.reason(self.options));
                        return;
                    }
                }
            }
        }
    }

    /// The number of bytes that may still be used.
    #[inline]
    fn room(&self) -> u64 {
        let used = self.arena_bytes.load(Ordering::Relaxed) + self.table_bytes.load(Ordering::Relaxed);
        self.options.max_memory.map_or(u64::MAX, |limit| limit.saturating_sub(used))
    }

    fn take(&self, end: usize) -> Option<usize> {
        let number = self.next.0.fetch_add(1, Ordering::Relaxed);
        (number < end).then_some(number)
    }

    /// Expands blocks until there are no more, or the table has to grow, or the search ends.
    fn expand(&self, worker: &mut Worker<'a, S>, scratch: &mut S::Scratch, job: &Job, ask: Ask<'_>) {
        let guards = self.table.guards();
        let parts: Vec<&[AtomicU64]> = guards.iter().map(|part| &***part).collect();
        let arenas: Vec<_> = self.arenas.iter().map(read).collect();
        let arenas: Vec<&Arena> = arenas.iter().map(|arena| &**arena).collect();
        let view = View::new(&self.table, &parts, &arenas, self.dense.get());
        if self.has_violations.load(Ordering::Relaxed) {
            worker.judge.suspect();
        }
        let late = std::mem::take(&mut worker.late);
        let mut expander = BlockExpander { search: self, worker, view, job, ask };
        let before = expander.worker.length;
        for record in late.chunks_exact(self.words + 2) {
            let (state, rest) = record.split_at(self.words);
            let hash = Hash::of(state);
            if let Probe::Vacant(position) = view.probe(state, hash) {
                expander.admit(state, rest[1], hash, position, rest[0] as StateNumber);
            }
        }
        self.stored.0.fetch_add(expander.worker.length - before, Ordering::Relaxed);
        let mut states = std::mem::take(&mut expander.worker.states);
        while self.stop.get().is_none() && !self.is_crowded.load(Ordering::Relaxed) {
            let left = expander.worker.left.take();
            let Some(block) = left.or_else(|| self.take(job.blocks.len()).map(|number| job.blocks[number])) else {
                break;
            };
            let end = block.end.min(block.first + READ);
            states.clear();
            (block.first..end).for_each(|number| arenas[block.arena].read(number, &mut states));
            let mut next = block.first;
            for state in states.chunks_exact(self.words) {
                let number = (next << self.bits) as StateNumber | block.arena as StateNumber;
                next += 1;
                if expander.expand(number, state, scratch).is_break() || self.is_crowded.load(Ordering::Relaxed) {
                    break;
                }
            }
            if next < block.end {
                expander.worker.left = Some(Block { first: next, ..block });
            }
            if (expander.ask)().is_some() {
                break;
            }
        }
        expander.flush();
        expander.worker.states = states;
    }
}

/// Expands the states of blocks.
struct BlockExpander<'x, 'a, S: SearchSpace> {
    search: &'x SharedSearch<'a, S>,
    worker: &'x mut Worker<'a, S>,
    view: View<'x>,
    job: &'x Job,
    ask: Ask<'x>,
}

impl<S: SearchSpace> BlockExpander<'_, '_, S> {
    /// Expands a state.
    #[inline]
    fn expand(&mut self, number: StateNumber, state: &[u64], scratch: &mut S::Scratch) -> ControlFlow<()> {
        let (system, options) = (self.search.system, self.search.options);
        match self.worker.judge.expands(state) {
            Ok(true) => {}
            Ok(false) => {
                self.worker.outcome.unexpanded += 1;
                return ControlFlow::Continue(());
            }
            Err(violation) => return self.receive(end_with(Some(number), None, violation), self.job.level, state),
        }
        let moved = Expansion::of_state(self, options, state, number, number).run(system, scratch);
        if !moved
            && !self.is_halted()
            && let Some(violation) = deadlock(options, state, |each| system.steps(scratch, state, each))
        {
            self.receive(end_with(Some(number), None, violation), self.job.level, state)?;
        }
        if self.worker.batch.is_full() {
            self.flush();
        }
        if self.is_halted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Takes note of what is wrong after so many steps, in a state or after a step from it. The search continues to the
    /// end of the level.
    fn receive(&mut self, end: End, length: u64, state: &[u64]) -> ControlFlow<()> {
        match end {
            End::Finished => ControlFlow::Continue(()),
            End::Stopped(reason) => {
                self.search.stop.get_or_init(|| reason);
                ControlFlow::Break(())
            }
            End::Found(finding) => {
                self.note(finding, length, state);
                ControlFlow::Continue(())
            }
        }
    }

    /// Keeps a violation unless there is one of its kind that comes before it.
    fn note(&mut self, finding: Finding, length: u64, state: &[u64]) {
        let rank = Rank::new(&finding, self.search.checks, length, state);
        let found = &mut self.worker.outcome.found;
        match found.iter_mut().find(|(known, _)| known.kind == rank.kind) {
            Some(known) if rank < known.0 => *known = (rank, finding),
            Some(_) => {}
            None => found.push((rank, finding)),
        }
    }

    /// Looks up all waiting successors.
    fn flush(&mut self) {
        // The batch is moved out while its successors are checked.
        let mut batch = std::mem::replace(&mut self.worker.batch, Batch::new(0));
        batch.prepare(&self.view, &mut self.worker.recent);
        let before = self.worker.length;
        let search = self.search;
        let stored = search.stored.0.load(Ordering::Relaxed);
        let limit = search.load_limit.load(Ordering::Relaxed);
        // Other threads may add as much before they notice.
        let is_full = stored > limit + limit / 8;
        let mut number = 0;
        while let Some(Run { parent, first, end, .. }) = batch.run(number) {
            number += 1;
            for position in first..end {
                if batch.is_known(position) {
                    continue;
                }
                let Probe::Vacant(vacancy) = batch.probe(position, &self.view) else { continue };
                let (state, tag, hash) = batch.entry(position);
                if is_full {
                    self.worker.late.extend_from_slice(state);
                    self.worker.late.extend_from_slice(&[u64::from(parent), tag]);
                    continue;
                }
                self.admit(state, tag, hash, vacancy, parent);
            }
        }
        self.worker.outcome.steps += batch.steps();
        batch.clear();
        self.worker.batch = batch;
        let added = self.worker.length - before;
        if stored + added > limit {
            search.is_crowded.store(true, Ordering::Relaxed);
        }
        if added > 0 {
            search.stored.0.fetch_add(added, Ordering::Relaxed);
        }
    }

    /// Checks and stores a state that was not seen before.
    #[inline]
    fn admit(&mut self, state: &[u64], tag: u64, hash: Hash, position: usize, parent: StateNumber) {
        let (search, view) = (self.search, self.view);
        let Worker { judge, length, number, outcome: Outcome { covered, .. }, .. } = &mut *self.worker;
        let store = || {
            let arena = view.arenas[*number];
            let new = (*length << search.bits) as StateNumber | *number as StateNumber;
            let written = match arena.begins_chunk(*length) {
                true => search.reserve(arena.bytes(1)).and_then(|()| arena.write(*length, state, parent)),
                false => arena.write(*length, state, parent),
            };
            let is_first = written.and_then(|()| match view.dense {
                None => Ok(view.claim(state, hash, position, new)),
                Some(dense) => {
                    let (is_first, more) = dense.add(state, hash, search.room())?;
                    if more != 0 {
                        search.table_bytes.fetch_add(more, Ordering::Relaxed);
                    }
                    Ok(is_first)
                }
            });
            let is_first = is_first.map_err(|full| stop(full.reason(search.options)))?;
            *length += u64::from(is_first);
            Ok(is_first.then_some(new))
        };
        let admission = judge.admit(state, tag, Some(parent), store, |property| note(covered, property));
        let length = self.job.level + 1;
        match admission {
            Admission::Stored(_) | Admission::Dropped => {}
            Admission::DroppedWrong(finding) => self.note(finding, length, state),
            Admission::StoredWrong(_, findings) => {
                self.search.has_violations.store(true, Ordering::Relaxed);
                findings.into_iter().for_each(|finding| self.note(finding, length, state));
            }
            Admission::Refused(halt) | Admission::StoredLast(_, halt) => {
                let _ = self.receive(*halt, length, state);
            }
        }
    }
}

impl<S: SearchSpace> SharedSearch<'_, S> {
    /// Takes note of more memory for states.
    #[cold]
    fn reserve(&self, bytes: u64) -> Result<(), Full> {
        let arenas = self.arena_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let used = arenas + self.table_bytes.load(Ordering::Relaxed);
        if self.is_large(used) {
            self.is_crowded.store(true, Ordering::Relaxed);
        }
        let limit = self.options.max_memory.unwrap_or(u64::MAX);
        if used > limit { Err(Full::Memory) } else { Ok(()) }
    }

    /// Whether states should move to dense sets if they take so many bytes.
    fn is_large(&self, bytes: u64) -> bool {
        self.dense_at.is_some_and(|limit| bytes >= limit) && self.dense.get().is_none()
    }
}

impl<S: SearchSpace> Expander for BlockExpander<'_, '_, S> {
    #[inline]
    fn batch(&mut self) -> &mut Batch {
        &mut self.worker.batch
    }

    fn drain(&mut self) -> ControlFlow<()> {
        self.flush();
        if self.is_halted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()> {
        covered.iter().for_each(|&property| note(&mut self.worker.outcome.covered, property));
        ControlFlow::Continue(())
    }

    fn pause(&mut self) -> ControlFlow<()> {
        match (self.ask)() {
            None => ControlFlow::Continue(()),
            Some(reason) => {
                self.search.stop.get_or_init(|| reason);
                ControlFlow::Break(())
            }
        }
    }

    fn is_new(&mut self, position: usize) -> bool {
        let (state, _) = self.worker.batch.successors.get(position);
        match self.view.probe(state, Hash::of(state)) {
            Probe::Vacant(_) => true,
            Probe::Stored(NO_PARENT) => false,
            Probe::Stored(number) => {
                let arena = number as usize & ((1 << self.search.bits) - 1);
                u64::from(number >> self.search.bits) >= self.job.levels[arena]
            }
        }
    }

    fn is_halted(&self) -> bool {
        self.search.stop.get().is_some()
    }

    fn end(&mut self, end: End) -> ControlFlow<()> {
        // A step that goes wrong leads to no state.
        let (words, length) = match &end {
            End::Found(Finding { state: Some(state), .. }) => (state.clone(), self.job.level + 1),
            End::Found(Finding { origin: Some(origin), .. }) => {
                let mut state = Vec::with_capacity(self.search.words);
                let arena = *origin as usize & ((1 << self.search.bits) - 1);
                self.view.arenas[arena].read(u64::from(origin >> self.search.bits), &mut state);
                (state, self.job.level)
            }
            _ => (Vec::new(), self.job.level),
        };
        self.receive(end, length, &words)
    }
}

/// Counters.
struct Counts<'a> {
    states: u64,
    transitions: u64,
    depth: u64,
    /// States of each level up to the one that is being expanded.
    levels: Vec<u64>,
    covered: Vec<PropertyId>,
    unexpanded: u64,
    findings: Findings<'a>,
    peak_bytes: u64,
    /// The words of the states that findings come from, if arenas have forgotten some.
    origins: FxHashMap<StateNumber, Vec<u64>>,
}

impl Counts<'_> {
    /// The result of the search.
    fn explored(self, end: End, store: Shards) -> Exploration {
        Exploration {
            end,
            store,
            states: self.states,
            surplus: FxHashSet::default(),
            transitions: self.transitions,
            depth: self.depth,
            levels: self.levels,
            memory_bytes: self.peak_bytes,
            covered: self.covered,
            unexpanded: self.unexpanded,
            findings: self.findings.into_list(),
            approximation: None,
            rest: None,
            ancestry: None,
            origins: self.origins,
        }
    }
}

/// The thread that leads the others.
struct Conductor<'s, 'a, S: SearchSpace> {
    search: &'s SharedSearch<'a, S>,
    worker: Worker<'a, S>,
    scratch: S::Scratch,
    counts: &'s mut Counts<'a>,
    observer: &'s mut dyn Observer,
    /// The number of states of each arena.
    lengths: Vec<u64>,
    /// The first state of each arena that belongs to the level.
    firsts: Vec<u64>,
}

impl<S: SearchSpace> Conductor<'_, '_, S> {
    /// Searches from a level on, of which some states are expanded and some of the next level were found.
    fn run(
        &mut self,
        mut level: u64,
        current: std::ops::Range<StateNumber>,
        next: std::ops::Range<StateNumber>,
    ) -> End {
        let options = self.search.options;
        let mut blocks = self.blocks([(0, u64::from(current.start), u64::from(current.end))].into_iter());
        let mut firsts = vec![0; self.lengths.len()];
        firsts[0] = u64::from(next.start);
        loop {
            if let Some(limit) = options.max_depth.filter(|&limit| level >= limit) {
                return End::Stopped(StopReason::DepthLimit(limit));
            }
            // Where a search resumes inside of a level, its length is known.
            let waiting: u64 = blocks.iter().map(|block| block.end - block.first).sum();
            if self.counts.levels.len() as u64 == level {
                self.counts.levels.push(waiting);
            }
            let (found, stopped) = self.level(level, blocks, firsts.clone(), waiting);
            if self.lengths.iter().zip(&firsts).any(|(length, first)| length > first) {
                self.counts.depth = level + 1;
            }
            if let Some(reason) = stopped {
                return End::Stopped(reason);
            }
            if let Some(end) = self.conclude(found) {
                return end;
            }
            let found = (0..).zip(firsts.iter().zip(&self.lengths)).map(|(arena, (&first, &end))| (arena, first, end));
            blocks = self.blocks(found);
            if blocks.is_empty() {
                return End::Finished;
            }
            self.firsts.clone_from(&firsts);
            self.forget();
            firsts.clone_from(&self.lengths);
            level += 1;
        }
    }

    /// States of arenas, each from a first one to an end, in blocks.
    fn blocks(&self, states: impl Iterator<Item = (usize, u64, u64)> + Clone) -> Vec<Block> {
        let all: u64 = states.clone().map(|(_, first, end)| end - first).sum();
        let pieces = BLOCKS_A_THREAD * self.search.outcomes.len() as u64;
        let size = (all / pieces).clamp(LEAST_BLOCK, LARGEST_BLOCK);
        let of_arena = |(arena, first, end): (usize, u64, u64)| {
            (first..end).step_by(size as usize).map(move |first| Block { arena, first, end: end.min(first + size) })
        };
        states.flat_map(of_arena).collect()
    }

    /// Expands the states of a level. Returns what is wrong, and why the search ends, if it does.
    fn level(
        &mut self,
        level: u64,
        blocks: Vec<Block>,
        levels: Vec<u64>,
        waiting: u64,
    ) -> (Vec<(Rank, Finding)>, Option<StopReason>) {
        let search = self.search;
        let settled = Progress {
            states: self.counts.states,
            transitions: self.counts.transitions,
            frontier: waiting + self.lengths.iter().zip(&levels).map(|(length, first)| length - first).sum::<u64>(),
            depth: self.counts.depth,
            memory_bytes: self.bytes(),
        };
        *write(&search.job) = Job { task: Task::Expand, blocks, level, levels };
        search.next.0.store(0, Ordering::Relaxed);
        let mut found = Vec::new();
        loop {
            self.together(waiting > SMALL_LEVEL, &settled);
            for outcome in &search.outcomes {
                let Outcome { steps, unexpanded, covered, found: more, .. } = std::mem::take(&mut *lock(outcome));
                self.counts.transitions += steps;
                self.counts.unexpanded += unexpanded;
                covered.into_iter().for_each(|property| note(&mut self.counts.covered, property));
                found.extend(more);
            }
            self.counts.states = self.lengths.iter().sum();
            let bytes = self.bytes();
            if let Some(reason) = search.stop.get() {
                return (found, Some(reason.clone()));
            }
            let is_crowded = search.is_crowded.load(Ordering::Relaxed);
            let grown = if is_crowded { 8 * (search.table.next_length() - search.table.length()) } else { 0 };
            let reason = match search.is_large(bytes + grown) {
                true => self.condense(&settled),
                false if is_crowded => self.grow(&settled),
                false => None,
            };
            if reason.is_some() || !is_crowded {
                return (found, reason);
            }
        }
    }

    /// Moves all states to dense sets; returns why it cannot.
    fn condense(&mut self, settled: &Progress) -> Option<StopReason> {
        let search = self.search;
        let origins: Vec<StateNumber> = self.counts.findings.list().iter().filter_map(|it| it.origin).collect();
        let dense = match SharedDense::new(search.words, search.system.facts().last_word()) {
            Ok(dense) => dense,
            Err(full) => return Some(full.reason(search.options)),
        };
        search.table.clear();
        search.table_bytes.store(dense.bytes(), Ordering::Relaxed);
        search.dense.get_or_init(|| dense);
        origins.into_iter().for_each(|origin| self.keep_origin(origin));
        let of_arena = |(arena, &end): (usize, &u64)| {
            (0..end).step_by(LARGEST_BLOCK as usize).map(move |first| Block {
                arena,
                first,
                end: end.min(first + LARGEST_BLOCK),
            })
        };
        let blocks = self.lengths.iter().enumerate().flat_map(of_arena).collect();
        self.meanwhile(Task::Move(blocks), settled);
        search.load_limit.store(u64::MAX / 2, Ordering::Relaxed);
        search.is_crowded.store(false, Ordering::Relaxed);
        self.forget();
        search.stop.get().cloned()
    }

    /// Forgets the states before the level if they are in dense sets.
    fn forget(&self) {
        let search = self.search;
        if search.dense.get().is_some() {
            for (arena, &first) in search.arenas.iter().zip(&self.firsts) {
                search.arena_bytes.fetch_sub(write(arena).forget_before(first), Ordering::Relaxed);
            }
        }
    }

    /// Keeps the words of a state that a finding comes from, if arenas forget states.
    fn keep_origin(&mut self, origin: StateNumber) {
        let search = self.search;
        if search.dense.get().is_some() {
            let mut state = Vec::with_capacity(search.words);
            let arena = origin as usize & ((1 << search.bits) - 1);
            read(&search.arenas[arena]).read(u64::from(origin >> search.bits), &mut state);
            self.counts.origins.insert(origin, state);
        }
    }

    /// Has something else done, and continues with the blocks of the level afterwards.
    fn meanwhile(&mut self, task: Task, settled: &Progress) {
        let search = self.search;
        let taken = search.next.0.swap(0, Ordering::Relaxed);
        write(&search.job).task = task;
        self.together(true, settled);
        write(&search.job).task = Task::Expand;
        search.next.0.store(taken, Ordering::Relaxed);
    }

    /// Lets the table grow; returns why it cannot.
    fn grow(&mut self, settled: &Progress) -> Option<StopReason> {
        let search = self.search;
        let length = search.table.next_length();
        if let Some(limit) = search.options.max_memory {
            let bytes = search.arena_bytes.load(Ordering::Relaxed) + 8 * length;
            if bytes > limit {
                return Some(StopReason::MemoryLimit(limit));
            }
        }
        self.meanwhile(Task::Grow, settled);
        search.load_limit.store(search.table.load_limit(length), Ordering::Relaxed);
        search.table_bytes.store(8 * length, Ordering::Relaxed);
        search.stored.0.store(self.counts.states, Ordering::Relaxed);
        search.is_crowded.store(false, Ordering::Relaxed);
        search.stop.get().cloned()
    }

    /// Has a job done, by all threads or by this one alone.
    fn together(&mut self, all: bool, settled: &Progress) {
        let search = self.search;
        let observer = &mut *self.observer;
        let frontier = settled.frontier;
        let mut ask = || {
            if search.stop.get().is_none()
                && let ControlFlow::Break(reason) = observer.progress(settled)
            {
                search.stop.get_or_init(|| reason);
            }
            let states = search.stored.0.load(Ordering::Relaxed);
            observer.glance(&Progress {
                states,
                frontier: frontier.max(states.saturating_sub(settled.states)),
                ..*settled
            });
            search.stop.get().cloned()
        };
        if all {
            search.wait();
        }
        search.take_part(&mut self.worker, &mut self.scratch, &mut ask);
        if all {
            let mut meanwhile = || drop(ask());
            search.barrier.get().expect("it was used just now").wait_and(Some(&mut meanwhile));
        }
        if let Some(panic) = lock(&search.panic).take() {
            resume_unwind(panic);
        }
        for (length, outcome) in self.lengths.iter_mut().zip(&search.outcomes) {
            *length = (*length).max(lock(outcome).length);
        }
    }

    /// What ends the search after a level in which something is wrong.
    fn conclude(&mut self, mut found: Vec<(Rank, Finding)>) -> Option<End> {
        found.sort_by(|left, right| left.0.cmp(&right.0));
        found.iter().filter_map(|(_, finding)| finding.origin).for_each(|origin| self.keep_origin(origin));
        let mut found = found.into_iter().map(|(_, finding)| finding);
        if !self.counts.findings.collects() {
            return found.next().map(End::Found);
        }
        found.find_map(|finding| self.counts.findings.note(finding).err()).map(|halt| *halt)
    }

    /// The bytes in use for states; takes note of the largest number.
    fn bytes(&mut self) -> u64 {
        let search = self.search;
        let bytes = search.arena_bytes.load(Ordering::Relaxed) + search.table_bytes.load(Ordering::Relaxed);
        self.counts.peak_bytes = self.counts.peak_bytes.max(bytes);
        bytes
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panics ends the search; no other thread uses what it left.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
