//! Search in memory on one thread, breadth-first or depth-first.
//!
//! The order is always that of the model's text, and the order of counting and checking is that of rumur, so that
//! numbers are comparable even if a run ends at its first violation: a fired instance counts before its successor is
//! examined; assumptions come before invariants, and both before the state is stored; conditions of cover and liveness
//! properties are evaluated on every stored state; deadlock is judged after all instances of a state were tried.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use quotient_ir::{DeadlockMode, PropertyId, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::disk::{self, Handover, Waiting};
use crate::form::Form;
use quotient_search::words::Hash;
use quotient_search::{
    Approximation, Checks, Edge, Event, Observer, Progress, SearchOptions, SearchOrder, SearchSpace, Sink, StopReason,
};
use quotient_states::batch::{Batch, Run};
use quotient_states::checkpoint::{
    CheckpointSubject, NO_SUBJECT, ResumeError, Saved, SearchTotals, Snapshot, is_resumable,
};
use quotient_states::dense::Numbers;
use quotient_states::dense::ancestry::Ancestry;
use quotient_states::expansion::{Expander, Expansion, deadlock};
use quotient_states::findings::Findings;
use quotient_states::judge::{Admission, Judge, end_with};
use quotient_states::recent::Recent;
use quotient_states::store::{Entries, NO_PARENT, Probe, StateNumber, Store};
use quotient_states::{End, Exploration, Halt, Lookup, Rest, Shards, checkpoint, note, stop};

/// The number of units of work (successors looked up, states expanded) between reports of progress.
const PROGRESS_INTERVAL: usize = 512;

/// The number of hits among sixteen lookups of recent successors that makes this lookup worthwhile.
const RECENT_WORTH: u32 = 4;

/// Searches the reachable states of a system, from the start or from the point where another search was stopped. If the
/// search may continue on disk, the results before memory was full are returned with the point where to continue.
///
/// # Errors
/// If the state of the other search cannot be taken over.
pub(super) fn search<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    form: Form,
    subject: &CheckpointSubject,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<(Exploration, Option<Handover>), ResumeError> {
    let mut search = MemorySearch::new(system, checks, options, form, subject, observer);
    let resumed = begin.map(|saved| search.restore(saved)).transpose()?.flatten();
    let end = search.run(resumed).map_or_else(|end| *end, |()| End::Finished);
    Ok(search.finish(end))
}

/// Some states, in the order of their numbers, found by repeating the search. Their parents are among them.
pub(super) fn retrace<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    form: Form,
    links: &BTreeMap<StateNumber, Option<StateNumber>>,
    observer: &mut dyn Observer,
) -> Result<Store, StopReason> {
    let mut search = MemorySearch::new(system, checks, options, form, &NO_SUBJECT, observer);
    search.wanted.words = links.keys().map(|&number| (number, Vec::new())).collect();
    search.find_wanted()?;
    let mut states = Store::new(system.words(), Entries::Numbers, None);
    let mut numbers: FxHashMap<StateNumber, StateNumber> = FxHashMap::default();
    for (number, parent) in links {
        let state = &search.wanted.words[number];
        let hash = Hash::of(state);
        if let Probe::Vacant(vacancy) = states.probe(state, hash) {
            let parent = parent.map_or(NO_PARENT, |parent| numbers[&parent]);
            let new = states.insert(state, hash, vacancy, parent).map_err(|_| StopReason::OutOfMemory)?;
            numbers.insert(*number, new);
        }
    }
    Ok(states)
}

/// The numbers of some states in the order of a search on one thread, and the parents of all states before the last of
/// them. The search continues past violations, since a search in another order may have come to these states before the
/// violation that this one would end with.
pub(super) fn locate<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    form: Form,
    states: impl Iterator<Item = Vec<u64>>,
    observer: &mut dyn Observer,
) -> Result<(FxHashMap<Vec<u64>, StateNumber>, Ancestry), StopReason> {
    let mut search = MemorySearch::new(system, checks, options, form, &NO_SUBJECT, observer);
    search.wanted.numbers = states.map(|state| (state, NO_PARENT)).collect();
    search.find_wanted()?;
    Ok((search.wanted.numbers, search.ancestry.expect("the store is dense from the beginning")))
}

/// States that a repeated search is to find.
#[derive(Debug, Default)]
struct Wanted {
    /// By their numbers: their words.
    words: FxHashMap<StateNumber, Vec<u64>>,
    /// By their words: their numbers.
    numbers: FxHashMap<Vec<u64>, StateNumber>,
    /// How many have not been found.
    missing: usize,
}

impl Wanted {
    /// Takes note of a state; returns whether all are found now.
    fn meet(&mut self, number: StateNumber, state: &[u64]) -> bool {
        if let Some(words) = self.words.get_mut(&number) {
            *words = state.to_vec();
            self.missing -= 1;
        }
        if !self.numbers.is_empty()
            && let Some(place) = self.numbers.get_mut(state)
        {
            *place = number;
            self.missing -= 1;
        }
        self.missing == 0
    }
}

struct MemorySearch<'a, S: SearchSpace> {
    system: &'a S,
    lookup: Lookup<'a, S>,
    judge: Judge<'a, S>,
    checks: &'a Checks,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    graph: bool,
    /// Working memory for the representatives of the ends of steps, if the observer wants steps.
    representing: Option<S::Scratch>,
    /// Whether the store is approximate, and forgets states once they are expanded.
    approximate: bool,
    /// The number of bytes at which the store becomes dense, if it still does.
    dense_at: Option<u64>,
    store: Store,
    /// The state that was read last.
    read: Numbers,
    /// The parents of all states, if the store is dense.
    ancestry: Option<Ancestry>,
    batch: Batch,
    recent: Recent,
    /// Depth-first: states to expand, with their depths. Breadth-first search needs none, since states are numbered in
    /// that order.
    stack: Vec<(StateNumber, u32)>,
    /// The depth of the successors waiting in the batch.
    level: u64,
    /// The first state after the level that is expanded; breadth-first only.
    end_of_level: u64,
    depth: u64,
    /// States of each level up to the one that is being expanded; breadth-first only.
    levels: Vec<u64>,
    expanded: u64,
    transitions: u64,
    covered: Vec<PropertyId>,
    findings: Findings<'a>,
    /// States that were not expanded because of a constraint.
    unexpanded: u64,
    work: usize,
    stack_peak: u64,
    subject: &'a CheckpointSubject,
    /// Whether the observer wants a checkpoint at the next opportunity.
    checkpoint_due: bool,
    safe: SafePoint,
    /// Whether all starts were run.
    begun: bool,
    /// Why an expansion was interrupted.
    halt: Option<Halt>,
    wanted: Wanted,
}

/// A point between two expansions at which no successor waits. A search can resume from here; states stored later will
/// be found again.
#[derive(Clone, Copy, Debug, Default)]
struct SafePoint {
    /// The next state to expand.
    number: u64,
    /// The first state after the level.
    end_of_level: u64,
    /// The number of steps from a start to the states of the level.
    level: u64,
    transitions: u64,
    unexpanded: u64,
}

impl<'a, S: SearchSpace> MemorySearch<'a, S> {
    fn new(
        system: &'a S,
        checks: &'a Checks,
        options: &'a SearchOptions,
        form: Form,
        subject: &'a CheckpointSubject,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            system,
            lookup: Lookup::new(system),
            judge: Judge::new(system, checks, options),
            checks,
            options,
            graph: observer.wants_graph(),
            representing: None,
            observer,
            approximate: form.entries.is_approximate(),
            dense_at: form.dense_at,
            store: Store::new(system.words(), form.entries, options.max_memory),
            read: Numbers::default(),
            ancestry: None,
            batch: Batch::new(system.words()),
            recent: Recent::new(system.words(), RECENT_WORTH),
            stack: Vec::new(),
            level: 0,
            end_of_level: 0,
            depth: 0,
            levels: Vec::new(),
            expanded: 0,
            transitions: 0,
            covered: Vec::new(),
            findings: Findings::new(checks, options, Vec::new()),
            unexpanded: 0,
            work: 0,
            stack_peak: 0,
            subject,
            checkpoint_due: false,
            safe: SafePoint::default(),
            begun: false,
            halt: None,
            wanted: Wanted::default(),
        }
    }

    /// Searches until all wanted states are found.
    fn find_wanted(&mut self) -> Result<(), StopReason> {
        self.wanted.missing = self.wanted.words.len() + self.wanted.numbers.len();
        let end = if self.wanted.missing == 0 { Ok(()) } else { self.run(None) };
        if self.wanted.missing == 0 {
            return Ok(());
        }
        Err(match end.map_err(|end| *end) {
            Err(End::Stopped(reason)) => reason,
            _ => StopReason::Withdrawn,
        })
    }

    fn run(&mut self, resumed: Option<SafePoint>) -> Result<(), Halt> {
        self.condense_if_large(resumed.map_or(0, |point| point.number))?;
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
        let (system, options) = (self.system, self.options);
        let mut scratch = system.scratch();
        let mut expansion = Expansion::of_starts(self, options);
        system.starts(&mut scratch, &mut |instance, event| expansion.event(instance, event));
        expansion.close();
        self.halt.take().map_or(Ok(()), Err)?;
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
            let (transitions, unexpanded) = (self.transitions, self.unexpanded);
            self.safe = SafePoint { number, end_of_level, level: self.level, transitions, unexpanded };
            if number == end_of_level {
                return Ok(());
            }
            if let Some(limit) = self.options.max_depth.filter(|&limit| self.level >= limit) {
                return Err(stop(StopReason::DepthLimit(limit)));
            }
            let level = self.level;
            // Where a search resumes inside of a level, its length is known.
            if self.levels.len() as u64 == level {
                self.levels.push(end_of_level - number);
            }
            self.level += 1;
            self.end_of_level = end_of_level;
            while number < end_of_level {
                self.expand(number as StateNumber, &mut scratch, &mut state)?;
                number += 1;
                if self.batch.is_empty() {
                    self.condense_if_large(number)?;
                    if self.approximate || self.ancestry.is_some() {
                        self.store.forget_before(number as StateNumber);
                    }
                    let (transitions, unexpanded) = (self.transitions, self.unexpanded);
                    self.safe = SafePoint { number, end_of_level, level, transitions, unexpanded };
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

    /// Makes the store dense if it has become large. States before a number are expanded, and no successor waits.
    fn condense_if_large(&mut self, number: u64) -> Result<(), Halt> {
        if self.dense_at.is_none_or(|bytes| self.store.memory_bytes() < bytes) {
            return Ok(());
        }
        self.dense_at = None;
        let mut ancestry = Ancestry::default();
        (0..self.store.len() as StateNumber).for_each(|number| ancestry.push(self.store.parent(number)));
        self.ancestry = Some(ancestry);
        let condensed = self.store.condense(self.system.facts().last_word(), number as StateNumber);
        condensed.map_err(|full| stop(full.reason(self.options)))
    }

    /// The results of the search, and where it can continue on disk.
    fn finish(self, mut end: End) -> (Exploration, Option<Handover>) {
        if let End::Stopped(reason) = &end
            && is_resumable(reason)
            && self.options.order == SearchOrder::BreadthFirst
            && let Err(error) = self.save()
        {
            end = End::Stopped(StopReason::CheckpointFailed(error.to_string()));
        }
        let handover = (self.options.spill.is_some() && disk::continues_on_disk(&end)).then(|| Handover {
            begun: self.begun,
            current: Waiting::Range(self.safe.number as StateNumber..self.safe.end_of_level as StateNumber),
            next: Waiting::Range(self.safe.end_of_level as StateNumber..self.store.len() as StateNumber),
            level: self.safe.level,
        });
        let can_rest = matches!(end, End::Stopped(_)) && self.options.order == SearchOrder::BreadthFirst && self.begun;
        let exploration = Exploration {
            rest: (can_rest && !self.approximate && self.ancestry.is_none() && handover.is_none()).then(|| self.rest()),
            end,
            approximation: self
                .approximate
                .then(|| Approximation { omission_probability: self.store.omission_probability() }),
            transitions: if handover.is_some() { self.safe.transitions } else { self.transitions },
            unexpanded: if handover.is_some() { self.safe.unexpanded } else { self.unexpanded },
            depth: self.depth,
            levels: self.levels,
            memory_bytes: self.store.peak_bytes() + self.stack_peak + self.ancestry.as_ref().map_or(0, Ancestry::bytes),
            ancestry: self.ancestry,
            origins: FxHashMap::default(),
            covered: self.covered,
            findings: self.findings.into_list(),
            states: self.store.len(),
            surplus: FxHashSet::default(),
            store: Shards::single(self.store),
        };
        (exploration, handover)
    }

    /// Writes a checkpoint, if one is configured.
    fn save(&self) -> io::Result<()> {
        let Some(path) = &self.options.checkpoint else { return Ok(()) };
        // Before all starts were run, there is nothing to resume from.
        let length = if self.begun { self.store.len() } else { 0 };
        let Rest { mut totals, current, .. } = self.rest();
        if !self.begun {
            // They are found again, in states that are not kept.
            totals.findings.clear();
        }
        let next = current.end..length as StateNumber;
        let snapshot = Snapshot {
            subject: self.subject,
            checks: self.checks,
            words: self.system.words(),
            stores: &[(&self.store, length)],
            totals: &totals,
            fired: self.system.facts().fired_rules(),
            current,
            next,
        };
        checkpoint::write(path, snapshot)
    }

    /// The point where a search can resume.
    fn rest(&self) -> Rest {
        let SafePoint { number, end_of_level, level, transitions, unexpanded } = self.safe;
        Rest {
            totals: SearchTotals {
                level,
                depth: self.depth,
                transitions,
                covered: self.covered.clone(),
                levels: self.levels.clone(),
                unexpanded,
                findings: self.findings.list().to_vec(),
            },
            current: number as StateNumber..end_of_level as StateNumber,
            next: end_of_level as StateNumber..self.store.len() as StateNumber,
        }
    }

    /// Takes over the state of an earlier search; none if it had not begun.
    fn restore(&mut self, saved: Saved) -> Result<Option<SafePoint>, ResumeError> {
        let restored = saved.restore(&mut self.lookup, std::slice::from_mut(&mut self.store), 0)?;
        if self.store.is_empty() {
            return Ok(None);
        }
        self.begun = true;
        let SearchTotals { level, depth, transitions, covered, levels, unexpanded, findings } = restored.totals;
        self.unexpanded = unexpanded;
        if !findings.is_empty() {
            self.judge.suspect();
        }
        self.findings = Findings::new(self.checks, self.options, findings);
        (self.level, self.depth, self.transitions, self.covered) = (level, depth, transitions, covered);
        self.levels = levels;
        // The waiting states were stored last, in order.
        let end_of_level = self.store.len() - restored.next.len() as u64;
        let number = end_of_level - restored.current.len() as u64;
        self.expanded = number;
        let point = SafePoint { number, end_of_level, level, transitions, unexpanded };
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
        self.store.read(number, &mut self.read, state);
        match self.judge.expands(state) {
            Ok(true) => {}
            unmet => return self.leave_unexpanded(number, unmet.err()),
        }
        if self.graph {
            return self.expand_with_edges(number, scratch, state);
        }
        let (state, system, options) = (&*state, self.system, self.options);
        let moved = Expansion::of_state(self, options, state, number, number).run(system, scratch);
        self.finish_expansion(number, scratch, state, moved)
    }

    /// Takes note of a state that is not expanded because of a constraint, or of one that has no value.
    #[cold]
    fn leave_unexpanded(&mut self, number: StateNumber, fault: Option<Violation>) -> Result<(), Halt> {
        self.expanded += 1;
        self.work += 1;
        self.unexpanded += u64::from(fault.is_none());
        if let Some(violation) = fault {
            self.flush()?;
            self.findings.receive(end_with(Some(number), None, violation))?;
        }
        if self.work >= PROGRESS_INTERVAL {
            self.flush()?;
            self.report_progress()?;
        }
        Ok(())
    }

    /// The same for an observer that wants to see each step and its target individually.
    fn expand_with_edges(&mut self, number: StateNumber, scratch: &mut S::Scratch, state: &[u64]) -> Result<(), Halt> {
        let (system, options) = (self.system, self.options);
        let stuttering = options.deadlock == DeadlockMode::Stuttering;
        let mut moved = false;
        let mut representing = self.representing.take().unwrap_or_else(|| system.scratch());
        let mut representative = Vec::new();
        let mut expansion = Expansion::of_state(self, options, state, number, number);
        system.concrete_successors(scratch, state, &mut |instance, event| {
            let Event::Next { state: next, covered } = event else { return expansion.event(instance, event) };
            let changes = next != state;
            moved = moved || !stuttering || changes;
            representative.clear();
            representative.extend_from_slice(next);
            system.represent(&mut representing, &mut representative);
            expansion.event(instance, Event::Next { state: &representative, covered })?;
            let search = &mut *expansion.expander;
            search.batch.close(number);
            match search.flush() {
                Ok(None) => {}
                Ok(Some(to)) => {
                    let (from, to) = (u64::from(number), u64::from(to));
                    search.observer.edge(Edge { from, instance, to, concrete: next, changes });
                }
                Err(halt) => {
                    search.halt = Some(halt);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        expansion.close();
        self.representing = Some(representing);
        self.finish_expansion(number, scratch, state, moved)
    }

    #[inline]
    fn finish_expansion(
        &mut self,
        number: StateNumber,
        scratch: &mut S::Scratch,
        state: &[u64],
        moved: bool,
    ) -> Result<(), Halt> {
        self.halt.take().map_or(Ok(()), Err)?;
        self.expanded += 1;
        self.work += 1;
        if !moved && let Some(violation) = deadlock(self.options, state, |each| self.system.steps(scratch, state, each))
        {
            self.flush()?;
            self.findings.receive(end_with(Some(number), None, violation))?;
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

    /// Continues, or records why not.
    fn proceed(&mut self, result: Result<(), Halt>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(halt) => {
                self.halt = Some(halt);
                ControlFlow::Break(())
            }
        }
    }

    /// Looks up all waiting successors. Returns the number of the last one, unless an assumption dropped it.
    fn flush(&mut self) -> Result<Option<StateNumber>, Halt> {
        // The batch is moved out while its successors are checked.
        let mut batch = std::mem::replace(&mut self.batch, Batch::new(0));
        if self.lookup.is_by_words() {
            batch.prepare(&self.store, &mut self.recent);
        } else {
            self.lookup.hash_all(&mut batch);
        }
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
        let by_words = self.lookup.is_by_words();
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
                let probe = match by_words {
                    true => batch.probe(position, &self.store),
                    false => self.lookup.probe(&self.store, state, hash),
                };
                last = match probe {
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
        let Self { judge, store, ancestry, options, wanted, stack, stack_peak, depth, level, covered, .. } = self;
        let admission = judge.admit(
            state,
            tag,
            origin,
            || {
                if let Some(limit) = options.max_states.filter(|&limit| store.len() >= limit) {
                    return Err(stop(StopReason::StateLimit(limit)));
                }
                let number = store.insert(state, hash, position, parent).map_err(|full| stop(full.reason(options)))?;
                *depth = (*depth).max(*level);
                if let Some(ancestry) = ancestry {
                    ancestry.push(origin);
                }
                if wanted.missing > 0 && wanted.meet(number, state) {
                    return Err(stop(StopReason::Withdrawn));
                }
                if options.order == SearchOrder::DepthFirst {
                    stack.push((number, u32::try_from(*level).unwrap_or(u32::MAX)));
                    *stack_peak = (*stack_peak).max(8 * stack.capacity() as u64);
                }
                Ok(Some(number))
            },
            |property| note(covered, property),
        );
        let (number, result) = match admission {
            Admission::Stored(number) => (number, Ok(Some(number))),
            Admission::StoredLast(number, halt) => (number, Err(halt)),
            Admission::StoredWrong(number, findings) => (
                number,
                findings.into_iter().try_for_each(|finding| self.findings.note(finding)).map(|()| Some(number)),
            ),
            Admission::DroppedWrong(finding) => return self.findings.note(finding).map(|()| None),
            Admission::Dropped => return Ok(None),
            Admission::Refused(halt) => return Err(halt),
        };
        if self.graph {
            self.observer.state(u64::from(number), state, origin.is_none());
        }
        result
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.store.len(),
            transitions: self.transitions,
            frontier: self.store.len() - self.expanded,
            depth: self.depth,
            memory_bytes: self.store.memory_bytes()
                + self.ancestry.as_ref().map_or(0, Ancestry::bytes)
                + 8 * self.stack.capacity() as u64,
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

impl<S: SearchSpace> Expander for MemorySearch<'_, S> {
    #[inline]
    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    fn drain(&mut self) -> ControlFlow<()> {
        let flushed = self.flush().map(|_| ());
        self.proceed(flushed)
    }

    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()> {
        if covered.iter().any(|property| !self.covered.contains(property)) {
            // Earlier successors come first.
            self.drain()?;
            covered.iter().for_each(|&property| note(&mut self.covered, property));
        }
        ControlFlow::Continue(())
    }

    fn pause(&mut self) -> ControlFlow<()> {
        let reported = self.report_progress();
        self.proceed(reported)
    }

    fn is_new(&mut self, position: usize) -> bool {
        let Self { lookup, store, batch, .. } = self;
        let (state, _) = batch.successors.get(position);
        let hash = lookup.hash(state);
        match lookup.probe(store, state, hash) {
            Probe::Vacant(_) => true,
            // States of the next level are expanded later; depth-first, it is not known which wait.
            Probe::Stored(number) => {
                self.options.order == SearchOrder::BreadthFirst
                    && number != NO_PARENT
                    && u64::from(number) >= self.end_of_level
            }
        }
    }

    fn is_halted(&self) -> bool {
        self.halt.is_some()
    }

    fn end(&mut self, end: End) -> ControlFlow<()> {
        self.drain()?;
        let received = self.findings.receive(end);
        self.proceed(received)
    }
}
