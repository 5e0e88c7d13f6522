//! Explicit search of the reachable states, breadth-first or depth-first.
//!
//! The order is that of the model's text throughout, and what is counted and checked when is the
//! same as in rumur, so that numbers can be compared even when a run ends at its first violation:
//! a fired instance counts before its successor is looked at; assumptions come before invariants
//! and both before the state is stored; conditions of cover and liveness properties are evaluated
//! on every stored state; deadlock is judged after all instances of a state were tried.

use std::io;
use std::ops::{ControlFlow, Range};

use quotient_ir::{DeadlockMode, PropertyId, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::batch::{Batch, Run};
use crate::checkpoint::{self, ResumeError, Saved, Snapshot, Standing, can_go_on};
use crate::judge::{Checks, Judge, Judgement, end_with, leaves};
use crate::observer::{Edge, Observer, Progress};
use crate::options::{SearchOptions, SearchOrder, StoreMode};
use crate::parallel::explore_in_parallel;
use crate::recent::Recent;
use crate::report::{Approximation, EngineError, StopReason};
use crate::shards::Shards;
use crate::spill::{self, Handover, Waiting};
use crate::store::{Entries, Hash, NO_PARENT, Probe, StateNumber, Store, copy};
use crate::system::{Event, Instance, Sink, Successors, Tag, TransitionSystem};

/// How many units of work (successors looked up, states expanded) pass between reports of
/// progress.
const PROGRESS_INTERVAL: usize = 2048;

/// Of how many of sixteen successors it must be known that they were met a short while ago, so that it is worth
/// to ask.
const RECENT_WORTH: u32 = 4;

/// What was wrong, and how to get there.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The last stored state of the run; none if a start itself leads to the violation.
    pub(crate) origin: Option<StateNumber>,
    /// A state after the origin that was not stored.
    pub(crate) state: Option<Vec<u64>>,
    /// What is wrong in the last of these states.
    pub(crate) violation: Violation,
}

/// How a search ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// Every reachable state was expanded.
    Finished,
    /// It was stopped.
    Stopped(StopReason),
    /// Something was wrong.
    Found(Finding),
}

/// What a search leaves behind.
#[derive(Debug)]
pub(crate) struct Exploration {
    pub(crate) end: End,
    pub(crate) store: Shards,
    /// How many states count.
    pub(crate) states: u64,
    /// States that were stored after the end and do not count; only with several threads.
    pub(crate) surplus: FxHashSet<StateNumber>,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    pub(crate) memory_bytes: u64,
    /// The cover properties that were reached.
    pub(crate) covered: Vec<PropertyId>,
    /// What may have been missed.
    pub(crate) approximation: Option<Approximation>,
    /// Where another search can go on; only after a breadth-first one on one thread that was stopped.
    pub(crate) rest: Option<Rest>,
}

/// Where a search was stopped.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) standing: Standing,
    /// States of the level that wait to be expanded.
    pub(crate) current: Range<StateNumber>,
    /// States of the next level so far.
    pub(crate) next: Range<StateNumber>,
}

/// Searches the reachable states of a system, from the start or where another search was stopped.
pub(crate) fn explore<S: TransitionSystem>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    fingerprint: u64,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<Exploration, EngineError> {
    let refused = |error: ResumeError| {
        let path = options.resume.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        EngineError::Resume { path, reason: error.to_string() }
    };
    let begin = match (begin, &options.resume) {
        (None, Some(path)) => Some(checkpoint::read(path, fingerprint, system.words()).map_err(refused)?),
        (begin, _) => begin,
    };
    if let Some(saved) = &begin {
        system.note_fired_rules(&saved.fired);
    }
    let graph = observer.wants_graph();
    // Numbers are asked for by those who draw the graph and by liveness only.
    let numbered = graph || !checks.liveness.is_empty() || system.fills_words();
    let entries = if numbered { Entries::Numbers } else { Entries::States };
    // The order of the whole search matters to those who draw the graph and to runs that show a
    // violation of liveness.
    let alone = graph || !checks.liveness.is_empty() || options.order == SearchOrder::DepthFirst;
    let entries = match options.store {
        _ if alone || options.checkpoint.is_some() || options.resume.is_some() => entries,
        StoreMode::Exact => entries,
        StoreMode::Compact => Entries::Hashes,
        StoreMode::Bitstate { bytes } => Entries::Bits(bytes),
    };
    let spill = options.spill.as_ref().filter(|_| !alone && !entries.is_approximate() && options.checkpoint.is_none());
    let limited;
    let (whole, options) = match spill {
        None => (options, options),
        Some(_) => {
            limited = SearchOptions { max_memory: options.max_memory.map(spill::share_for_states), ..options.clone() };
            (options, &limited)
        }
    };
    if options.threads > 1 && !alone && !entries.is_approximate() {
        let (exploration, handover) =
            explore_in_parallel(system, checks, options, entries, fingerprint, begin, &mut *observer)?;
        return Ok(match (spill, handover) {
            (Some(spill), Some(handover)) => {
                spill::go_on(system, checks, whole, spill, exploration, handover, observer)
            }
            _ => exploration,
        });
    }
    let mut search = Search::new(system, checks, options, entries, fingerprint, &mut *observer);
    let mut end = match begin {
        None => search.run(None),
        Some(saved) => {
            let resumed = search.restore(saved).map_err(refused)?;
            search.run(resumed)
        }
    }
    .map_or_else(|end| *end, |()| End::Finished);
    if let End::Stopped(reason) = &end
        && can_go_on(reason)
        && options.order == SearchOrder::BreadthFirst
        && let Err(error) = search.save()
    {
        end = End::Stopped(StopReason::CheckpointFailed(error.to_string()));
    }
    if let Some(spill) = spill
        && spill::goes_on(&end)
    {
        let Search { store, safe, begun, depth, covered, .. } = search;
        let handover = Handover {
            begun,
            current: Waiting::Range(safe.number as StateNumber..safe.end_of_level as StateNumber),
            next: Waiting::Range(safe.end_of_level as StateNumber..store.len() as StateNumber),
            level: safe.level,
        };
        let exploration = Exploration {
            end,
            states: store.len(),
            transitions: safe.transitions,
            depth,
            memory_bytes: store.peak_bytes(),
            covered,
            surplus: FxHashSet::default(),
            approximation: None,
            rest: None,
            store: Shards::single(store),
        };
        return Ok(spill::go_on(system, checks, whole, spill, exploration, handover, observer));
    }
    let approximation =
        entries.is_approximate().then(|| Approximation { omission_probability: search.store.omission_probability() });
    if let End::Found(finding) = &mut end
        && entries.is_approximate()
    {
        // The states of the run were forgotten: the same search again, for these states only.
        let (states, memory_bytes) = (search.store.len(), search.store.peak_bytes());
        let Search { transitions, depth, covered, .. } = search;
        let (store, end) = match retrace(system, checks, options, entries, &search.store, finding, observer) {
            Ok(store) => (store, end),
            Err(reason) => (Store::new(system.words(), Entries::Numbers, None), End::Stopped(reason)),
        };
        let surplus = FxHashSet::default();
        let store = Shards::single(store);
        return Ok(Exploration {
            end,
            store,
            states,
            surplus,
            transitions,
            depth,
            memory_bytes,
            covered,
            approximation,
            rest: None,
        });
    }
    let can_rest = matches!(end, End::Stopped(_)) && options.order == SearchOrder::BreadthFirst && search.begun;
    Ok(Exploration {
        rest: (can_rest && !entries.is_approximate()).then(|| search.rest()),
        end,
        approximation,
        transitions: search.transitions,
        depth: search.depth,
        memory_bytes: search.store.peak_bytes() + search.stack_peak,
        covered: search.covered,
        states: search.store.len(),
        surplus: FxHashSet::default(),
        store: Shards::single(search.store),
    })
}

/// The states of the run to a finding, found by the same search once more; the finding then starts
/// from the last of them.
fn retrace<S: TransitionSystem>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    entries: Entries,
    store: &Store,
    finding: &mut Finding,
    observer: &mut dyn Observer,
) -> Result<Store, StopReason> {
    let mut path = Vec::new();
    let mut number = finding.origin;
    while let Some(state) = number {
        path.push(state);
        number = store.parent(state);
    }
    path.reverse();
    let mut search = Search::new(system, checks, options, entries, 0, observer);
    search.wanted = path.iter().map(|&number| (number, Vec::new())).collect();
    search.missing = path.len();
    let end = if path.is_empty() { Ok(()) } else { search.run(None) };
    if search.missing > 0 {
        return Err(match end.map_err(|end| *end) {
            Err(End::Stopped(reason)) => reason,
            _ => StopReason::Interrupted,
        });
    }
    let mut states = Store::new(system.words(), Entries::Numbers, None);
    for (position, number) in (0..).zip(&path) {
        let state = &search.wanted[number];
        let hash = Hash::of(state);
        if let Probe::Vacant(vacancy) = states.probe(state, hash) {
            let parent = if position == 0 { NO_PARENT } else { position - 1 };
            states.insert(state, hash, vacancy, parent).map_err(|_| StopReason::OutOfMemory)?;
        }
    }
    finding.origin = states.len().checked_sub(1).map(|last| last as StateNumber);
    Ok(states)
}

/// An early end, boxed since it is large and rare.
type Halt = Box<End>;

fn stop(reason: StopReason) -> Halt {
    Box::new(End::Stopped(reason))
}

/// A state being expanded.
struct Expansion<'x, 'a, S: TransitionSystem> {
    search: &'x mut Search<'a, S>,
    number: StateNumber,
    state: &'x [u64],
    /// The first of its successors in the batch that was not looked at.
    first: usize,
    /// Whether a step leads from it, to another state if that matters.
    moved: bool,
    result: Result<(), Halt>,
}

impl<S: TransitionSystem> Expansion<'_, '_, S> {
    /// Looks for steps among the successors in the batch.
    fn look_for_moves(&mut self) {
        let end = self.search.batch.len();
        if !self.moved && self.first < end {
            let stuttering = self.search.options.deadlock == DeadlockMode::Stuttering;
            self.moved = !stuttering || self.search.batch.leaves(self.first, self.state);
        }
        self.first = end;
    }
}

impl<S: TransitionSystem> Sink for Expansion<'_, '_, S> {
    #[inline]
    fn successors(&mut self) -> &mut Successors {
        &mut self.search.batch.successors
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        self.look_for_moves();
        if let Event::Next { state: next, .. } = &event {
            let stuttering = self.search.options.deadlock == DeadlockMode::Stuttering;
            self.moved = self.moved || !stuttering || *next != self.state;
        }
        self.result = self.search.visit(Some(self.number), instance, event);
        self.first = self.search.batch.len();
        if self.result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

struct Search<'a, S: TransitionSystem> {
    system: &'a S,
    judge: Judge<'a, S>,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    graph: bool,
    /// Whether states are forgotten once they are expanded.
    approximate: bool,
    store: Store,
    batch: Batch,
    recent: Recent,
    /// Depth-first: states to expand, with their depths. Breadth-first needs none, since states
    /// are numbered in that order.
    stack: Vec<(StateNumber, u32)>,
    /// The depth of successors that wait in the batch.
    level: u64,
    depth: u64,
    expanded: u64,
    transitions: u64,
    covered: Vec<PropertyId>,
    work: usize,
    stack_peak: u64,
    fingerprint: u64,
    /// Whether the observer wants a checkpoint at the next opportunity.
    checkpoint_due: bool,
    safe: SafePoint,
    /// Whether all starts were run.
    begun: bool,
    /// States whose words are to be kept, and how many of them are missing.
    wanted: FxHashMap<StateNumber, Vec<u64>>,
    missing: usize,
}

/// A moment between two expansions at which no successor waits. From here a search can go on; what
/// was stored later is found again.
#[derive(Clone, Copy, Debug, Default)]
struct SafePoint {
    /// The next state to expand.
    number: u64,
    /// The first state after the level.
    end_of_level: u64,
    /// Steps from a start to the states of the level.
    level: u64,
    transitions: u64,
}

impl<'a, S: TransitionSystem> Search<'a, S> {
    fn new(
        system: &'a S,
        checks: &'a Checks,
        options: &'a SearchOptions,
        entries: Entries,
        fingerprint: u64,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            system,
            judge: Judge::new(system, checks, options),
            options,
            graph: observer.wants_graph(),
            observer,
            approximate: entries.is_approximate(),
            store: Store::new(system.words(), entries, options.max_memory),
            batch: Batch::new(system.words()),
            recent: Recent::new(system.words(), RECENT_WORTH),
            stack: Vec::new(),
            level: 0,
            depth: 0,
            expanded: 0,
            transitions: 0,
            covered: Vec::new(),
            work: 0,
            stack_peak: 0,
            fingerprint,
            checkpoint_due: false,
            safe: SafePoint::default(),
            begun: false,
            wanted: FxHashMap::default(),
            missing: 0,
        }
    }

    fn run(&mut self, resumed: Option<SafePoint>) -> Result<(), Halt> {
        let start = match resumed {
            Some(point) => point,
            None => {
                self.begin()?;
                SafePoint { end_of_level: self.store.len(), ..SafePoint::default() }
            }
        };
        match self.options.order {
            SearchOrder::BreadthFirst => self.breadth_first(start),
            SearchOrder::DepthFirst => self.depth_first(),
        }
    }

    /// Runs the starts.
    fn begin(&mut self) -> Result<(), Halt> {
        let mut scratch = self.system.scratch();
        let mut result = Ok(());
        let system = self.system;
        system.starts(&mut scratch, |instance, event| {
            result = self.visit(None, instance, event);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        self.batch.close(NO_PARENT);
        self.flush()?;
        self.stack.reverse();
        self.begun = true;
        Ok(())
    }

    fn breadth_first(&mut self, start: SafePoint) -> Result<(), Halt> {
        let mut scratch = self.system.scratch();
        let mut state = vec![0; self.system.words()];
        let SafePoint { mut number, mut end_of_level, .. } = start;
        loop {
            self.safe = SafePoint { number, end_of_level, level: self.level, transitions: self.transitions };
            if number == end_of_level {
                return Ok(());
            }
            if let Some(limit) = self.options.max_depth.filter(|&limit| self.level >= limit) {
                return Err(stop(StopReason::DepthLimit(limit)));
            }
            let level = self.level;
            self.level += 1;
            while number < end_of_level {
                self.expand(number as StateNumber, &mut scratch, &mut state)?;
                number += 1;
                if self.batch.len() == 0 {
                    if self.approximate {
                        self.store.forget_before(number as StateNumber);
                    }
                    self.safe = SafePoint { number, end_of_level, level, transitions: self.transitions };
                    if std::mem::take(&mut self.checkpoint_due)
                        && let Err(error) = self.save()
                    {
                        return Err(stop(StopReason::CheckpointFailed(error.to_string())));
                    }
                }
            }
            self.flush()?;
            end_of_level = self.store.len();
        }
    }

    /// Writes a checkpoint, if there is to be one.
    fn save(&self) -> io::Result<()> {
        let Some(path) = &self.options.checkpoint else { return Ok(()) };
        // Without all starts there is nothing to go on from.
        let length = if self.begun { self.store.len() } else { 0 };
        let Rest { standing, current, .. } = self.rest();
        let next = current.end..length as StateNumber;
        let snapshot = Snapshot {
            fingerprint: self.fingerprint,
            words: self.system.words(),
            stores: &[(&self.store, length)],
            standing: &standing,
            fired: self.system.fired_rules(),
            current,
            next,
        };
        checkpoint::write(path, snapshot)
    }

    /// Where a search can go on.
    fn rest(&self) -> Rest {
        let SafePoint { number, end_of_level, level, transitions } = self.safe;
        Rest {
            standing: Standing { level, depth: self.depth, transitions, covered: self.covered.clone() },
            current: number as StateNumber..end_of_level as StateNumber,
            next: end_of_level as StateNumber..self.store.len() as StateNumber,
        }
    }

    /// Takes over what an earlier search left; none if it had not begun.
    fn restore(&mut self, saved: Saved) -> Result<Option<SafePoint>, ResumeError> {
        let restored = saved.restore(std::slice::from_mut(&mut self.store), 0)?;
        if self.store.len() == 0 {
            return Ok(None);
        }
        self.begun = true;
        let Standing { level, depth, transitions, covered } = restored.standing;
        (self.level, self.depth, self.transitions, self.covered) = (level, depth, transitions, covered);
        // Those that wait were stored last, in order.
        let end_of_level = self.store.len() - restored.next.len() as u64;
        let number = end_of_level - restored.current.len() as u64;
        self.expanded = number;
        let point = SafePoint { number, end_of_level, level, transitions };
        if number == end_of_level && end_of_level < self.store.len() {
            self.level += 1;
            return Ok(Some(SafePoint { end_of_level: self.store.len(), level: self.level, ..point }));
        }
        Ok(Some(point))
    }

    /// Expands the state found last, all its successors at once; the first of these is next.
    fn depth_first(&mut self) -> Result<(), Halt> {
        let mut scratch = self.system.scratch();
        let mut state = vec![0; self.system.words()];
        let mut cut = None;
        while let Some((number, depth)) = self.stack.pop() {
            if let Some(limit) = self.options.max_depth.filter(|&limit| u64::from(depth) >= limit) {
                cut = Some(limit);
                continue;
            }
            self.level = u64::from(depth) + 1;
            let below = self.stack.len();
            self.expand(number, &mut scratch, &mut state)?;
            self.flush()?;
            self.stack[below..].reverse();
        }
        match cut {
            Some(limit) => Err(stop(StopReason::DepthLimit(limit))),
            None => Ok(()),
        }
    }

    /// Fires all instances in a state.
    fn expand(&mut self, number: StateNumber, scratch: &mut S::Scratch, state: &mut [u64]) -> Result<(), Halt> {
        copy(state, self.store.state(number));
        if self.graph {
            return self.expand_with_edges(number, scratch, state);
        }
        let state = &*state;
        let first = self.batch.len();
        let mut expansion = Expansion { search: self, number, state, first, moved: false, result: Ok(()) };
        let system = expansion.search.system;
        system.expand(scratch, state, &mut expansion);
        expansion.look_for_moves();
        let Expansion { moved, result, .. } = expansion;
        result?;
        self.batch.close(number);
        self.finish_expansion(number, scratch, state, moved)
    }

    /// The same for an observer that wants to see each step: the state it leads to by itself, too.
    fn expand_with_edges(&mut self, number: StateNumber, scratch: &mut S::Scratch, state: &[u64]) -> Result<(), Halt> {
        let stuttering = self.options.deadlock == DeadlockMode::Stuttering;
        let mut moved = false;
        let mut result = Ok(());
        let system = self.system;
        let mut representing = system.scratch();
        let mut representative = Vec::new();
        system.concrete_successors(scratch, state, |instance, event| {
            let Event::Next { state: next, covered } = event else {
                result = self.visit(Some(number), instance, event);
                return if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            };
            let changes = next != state;
            moved = moved || !stuttering || changes;
            representative.clear();
            representative.extend_from_slice(next);
            system.represent(&mut representing, &mut representative);
            result = self
                .visit(Some(number), instance, Event::Next { state: &representative, covered })
                .and_then(|()| self.flush())
                .map(|to| {
                    if let Some(to) = to {
                        let (from, to) = (u64::from(number), u64::from(to));
                        self.observer.edge(Edge { from, instance, to, concrete: next, changes });
                    }
                });
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        self.batch.close(number);
        self.finish_expansion(number, scratch, state, moved)
    }

    fn finish_expansion(
        &mut self,
        number: StateNumber,
        scratch: &mut S::Scratch,
        state: &[u64],
        moved: bool,
    ) -> Result<(), Halt> {
        self.expanded += 1;
        self.work += 1;
        // In a quotient, a step to another state of the same orbit is a step all the same.
        if !moved
            && self.options.deadlock != DeadlockMode::Off
            && !leaves(self.system, scratch, state, self.options.deadlock)
        {
            self.flush()?;
            let violation = Violation::Deadlock(self.options.deadlock);
            return Err(Box::new(End::Found(Finding { origin: Some(number), state: None, violation })));
        }
        if self.batch.is_full() {
            self.flush()?;
        }
        if self.work >= PROGRESS_INTERVAL {
            self.flush()?;
            self.report_progress()?;
        }
        Ok(())
    }

    /// Takes note of what came of an instance.
    #[inline]
    fn visit(&mut self, from: Option<StateNumber>, instance: Instance<'_>, event: Event<'_>) -> Result<(), Halt> {
        self.batch.close(from.unwrap_or(NO_PARENT));
        match event {
            Event::Next { state, covered } => {
                if covered.iter().any(|property| !self.covered.contains(property)) {
                    // What was found before comes first.
                    self.flush()?;
                    for &property in covered {
                        self.note_cover(property);
                    }
                }
                self.batch.successors.push(state, Tag::EVERYTHING);
                self.batch.close(from.unwrap_or(NO_PARENT));
                if self.batch.is_full() {
                    self.flush()?;
                }
                Ok(())
            }
            Event::Pruned => Ok(()),
            Event::Passed { steps, covered } => {
                if covered.iter().any(|property| !self.covered.contains(property)) {
                    self.flush()?;
                    for &property in covered {
                        self.note_cover(property);
                    }
                }
                self.batch.successors.pass(steps);
                Ok(())
            }
            Event::Wrong { state, violation } => {
                self.flush()?;
                Err(Box::new(end_with(self.options, from, Some(state), violation)))
            }
            Event::Fault(fault) => {
                self.flush()?;
                let violation =
                    Violation::Fault { action: instance.action, arguments: instance.arguments.to_vec(), fault };
                Err(Box::new(end_with(self.options, from, None, violation)))
            }
            Event::Idle => {
                self.flush()?;
                self.report_progress()
            }
        }
    }

    /// Looks up all waiting successors. Returns the number of the last one, unless an assumption
    /// dropped it.
    fn flush(&mut self) -> Result<Option<StateNumber>, Halt> {
        // The batch is lent out while its successors are checked.
        let mut batch = std::mem::replace(&mut self.batch, Batch::new(0));
        batch.prepare(&self.store, &mut self.recent);
        let result = self.look_up(&batch);
        self.work += batch.len();
        batch.clear();
        self.batch = batch;
        let last = result?;
        if self.work >= 2 * PROGRESS_INTERVAL {
            self.report_progress()?;
        }
        Ok(last)
    }

    /// Looks up all successors of a batch; returns the number of the last one if it has one.
    fn look_up(&mut self, batch: &Batch) -> Result<Option<StateNumber>, Halt> {
        let mut last = None;
        let mut number = 0;
        while let Some(Run { parent, first, end, passed }) = batch.run(number) {
            number += 1;
            self.transitions += passed;
            for position in first..end {
                if !self.graph && batch.is_known(position) {
                    continue;
                }
                let (state, tag, hash) = batch.entry(position);
                last = match batch.probe(position, &self.store) {
                    Probe::Stored(number) => Some(number),
                    Probe::Vacant(vacancy) => {
                        let admitted = self.admit(state, tag, hash, vacancy, parent);
                        if admitted.is_err() && parent != NO_PARENT {
                            self.transitions += (position + 1 - first) as u64;
                        }
                        admitted?
                    }
                };
            }
            if parent != NO_PARENT {
                self.transitions += (end - first) as u64;
            }
        }
        Ok(last)
    }

    /// Checks and stores a state that was not seen before.
    fn admit(
        &mut self,
        state: &[u64],
        tag: u64,
        hash: Hash,
        position: usize,
        parent: StateNumber,
    ) -> Result<Option<StateNumber>, Halt> {
        let origin = (parent != NO_PARENT).then_some(parent);
        match self.judge.judge(state, tag) {
            Judgement::Admitted => {}
            Judgement::Dropped => return Ok(None),
            Judgement::Wrong(violation) => {
                return Err(Box::new(end_with(self.options, origin, Some(state), violation)));
            }
        }
        if let Some(limit) = self.options.max_states.filter(|&limit| self.store.len() >= limit) {
            return Err(stop(StopReason::StateLimit(limit)));
        }
        let number = self
            .store
            .insert(state, hash, position, parent)
            .map_err(|full| stop(StopReason::of_full_store(full, self.options)))?;
        self.depth = self.depth.max(self.level);
        if self.missing > 0
            && let Some(words) = self.wanted.get_mut(&number)
        {
            *words = state.to_vec();
            self.missing -= 1;
            if self.missing == 0 {
                return Err(stop(StopReason::Interrupted));
            }
        }
        if self.options.order == SearchOrder::DepthFirst {
            self.stack.push((number, u32::try_from(self.level).unwrap_or(u32::MAX)));
            self.stack_peak = self.stack_peak.max(8 * self.stack.capacity() as u64);
        }
        if self.graph {
            self.observer.state(u64::from(number), state, origin.is_none());
        }
        let covered = &mut self.covered;
        let observed = self.judge.observe(state, |property| {
            if !covered.contains(&property) {
                covered.push(property);
            }
        });
        match observed {
            Ok(()) => Ok(Some(number)),
            Err(violation) => Err(Box::new(end_with(self.options, Some(number), None, violation))),
        }
    }

    fn note_cover(&mut self, property: PropertyId) {
        if !self.covered.contains(&property) {
            self.covered.push(property);
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.store.len(),
            transitions: self.transitions,
            frontier: self.store.len() - self.expanded,
            depth: self.depth,
            memory_bytes: self.store.memory_bytes() + 8 * self.stack.capacity() as u64,
        }
    }

    fn report_progress(&mut self) -> Result<(), Halt> {
        self.work = 0;
        let progress = self.progress();
        if let Some(limit) = self.options.max_memory.filter(|&limit| progress.memory_bytes > limit) {
            return Err(stop(StopReason::MemoryLimit(limit)));
        }
        match self.observer.progress(&progress) {
            ControlFlow::Continue(()) => {
                self.checkpoint_due |= self.options.checkpoint.is_some() && self.observer.wants_checkpoint();
                Ok(())
            }
            ControlFlow::Break(reason) => Err(stop(reason)),
        }
    }
}
