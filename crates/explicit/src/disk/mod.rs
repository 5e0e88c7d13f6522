//! Breadth-first search that continues on disk, on one thread, when memory is full.
//!
//! The states in memory stay there. States found later are appended to a file in the order of discovery, with their
//! parents: so the frontier is the end of that file, and runs can be rebuilt. Whether a successor is new is decided for
//! a whole level at once (delayed duplicate detection; Stern and Dill, Using magnetic disk instead of main memory in
//! the Murphi verifier, 1998): successors that are not in memory are sorted, those in the sorted sets of states on disk
//! are dropped, and the rest is put back into the order of discovery. New states are judged in that order, so counts,
//! verdicts and runs are those of a search in memory.

mod sorter;
mod visited;

use std::ops::{ControlFlow, Range};

use quotient_ir::PropertyId;

use quotient_search::words::append;
use quotient_search::{Checks, Observer, Progress, SearchOptions, SearchSpace, Sink, Spill, StopReason, Tag};
use quotient_states::batch::{Batch, Run};
use quotient_states::expansion::{Expander, Expansion, deadlock};
use quotient_states::findings::Findings;
use quotient_states::judge::{Admission, Judge, end_with};
use quotient_states::recent::Recent;
use quotient_states::records::{Disk, DiskError};
use quotient_states::store::{NO_PARENT, STATE_LIMIT, StateNumber};
use quotient_states::{End, Exploration, Halt, Overflow, note, stop};
use sorter::Sorter;
use visited::Visited;

/// The number of states or records between reports of progress.
const PROGRESS_INTERVAL: u64 = 4096;
/// The minimum memory for sorting, which is also used if there is no limit.
const LEAST_ROOM: u64 = 1 << 16;
const USUAL_ROOM: u64 = 1 << 26;

/// The share of a memory limit for the states in memory, if a search may continue on disk.
pub(crate) fn share_for_states(limit: u64) -> u64 {
    limit - limit / 4
}

/// Whether a search that ended for this reason continues on disk.
pub(crate) fn continues_on_disk(end: &End) -> bool {
    matches!(end, End::Stopped(StopReason::MemoryLimit(_) | StopReason::OutOfMemory))
}

/// States in memory that wait for expansion, in order.
#[derive(Debug)]
pub(crate) enum Waiting {
    Range(Range<StateNumber>),
    List(Vec<StateNumber>),
}

impl Waiting {
    fn none() -> Self {
        Self::List(Vec::new())
    }
    fn len(&self) -> u64 {
        match self {
            Self::Range(range) => range.len() as u64,
            Self::List(list) => list.len() as u64,
        }
    }
    fn get(&self, position: u64) -> StateNumber {
        match self {
            Self::Range(range) => range.start + position as StateNumber,
            Self::List(list) => list[position as usize],
        }
    }
}

/// A search in memory at a point between two expansions.
#[derive(Debug)]
pub(crate) struct Handover {
    /// Whether all starts were run. If not, they are run again.
    pub(crate) begun: bool,
    /// The number of steps from a start to the states of the level.
    pub(crate) level: u64,
    /// States of the level that wait for expansion.
    pub(crate) current: Waiting,
    /// States of the next level so far.
    pub(crate) next: Waiting,
}

/// Continues a search on disk. The exploration is as of the handover.
pub(crate) fn search_on_disk<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    spill: &Spill,
    explored: Exploration,
    handover: Handover,
    observer: &mut dyn Observer,
) -> Exploration {
    let words = system.words();
    let disk = match Disk::new(&spill.folder, spill.max_bytes) {
        Ok(disk) => disk,
        Err(error) => return Exploration { end: End::Stopped(error.into()), ..explored },
    };
    let room = options.max_memory.map_or(USUAL_ROOM, |limit| (limit - share_for_states(limit)).max(LEAST_ROOM));
    let mut explored = explored;
    let findings = Findings::new(checks, options, std::mem::take(&mut explored.findings));
    let mut judge = Judge::new(system, checks, options);
    if !findings.is_empty() {
        judge.suspect();
    }
    let mut search = DiskSearch {
        system,
        judge,
        findings,
        options,
        observer,
        words,
        overflow: Overflow::new(&disk, words, explored.store.bound()),
        visited: Visited::new(&disk, words),
        // A candidate is a state, its position among the successors of the level, its parent and its tag.
        candidates: Sorter::new(&disk, words + 2, 0..words + 1, Some(words), room / 2),
        new: Sorter::new(&disk, words + 2, words..words + 1, None, room / 2),
        batch: Batch::new(words),
        // Every hit is worthwhile: it saves a write to disk.
        recent: Recent::new(words, 0),
        depth: 0,
        waiting: 0,
        place: 0,
        start_steps: Vec::new(),
        covered: Vec::new(),
        work: 0,
        halt: None,
        found: None,
        explored: Exploration { memory_bytes: explored.memory_bytes + room, ..explored },
    };
    let end = search.run(handover).map_or_else(|end| *end, |()| End::Finished);
    let DiskSearch { mut explored, overflow, findings, .. } = search;
    explored.findings = findings.into_list();
    explored.store.overflow = Some(overflow);
    Exploration { end, ..explored }
}

struct DiskSearch<'a, S: SearchSpace> {
    system: &'a S,
    judge: Judge<'a, S>,
    findings: Findings<'a>,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    words: usize,
    /// The results so far; transitions up to the level.
    explored: Exploration,
    overflow: Overflow,
    visited: Visited,
    candidates: Sorter,
    new: Sorter,
    batch: Batch,
    recent: Recent,
    /// The number of steps from a start to the states being found.
    depth: u64,
    /// The number of states found and not yet expanded.
    waiting: u64,
    /// The number of successors of the level that have left the batch.
    place: u64,
    /// Steps through transient states after starts, where only these count, and the position after them.
    start_steps: Vec<(u64, u64)>,
    /// Covers reached by steps of the level, with the position of the successor.
    covered: Vec<(PropertyId, u64)>,
    work: u64,
    /// Why an expansion was interrupted.
    halt: Option<Halt>,
    /// What ends the search after the successors so far.
    found: Option<End>,
}

impl<S: SearchSpace> DiskSearch<'_, S> {
    fn run(&mut self, handover: Handover) -> Result<(), Halt> {
        let Handover { begun, mut level, mut current, mut next } = handover;
        let mut found = 0..0;
        self.waiting = current.len() + next.len();
        if !begun {
            let ended = self.run_starts()?;
            self.settle(ended, true)?;
            found = 0..self.overflow.len();
            std::mem::swap(&mut current, &mut next);
        } else if current.len() == 0 {
            std::mem::swap(&mut current, &mut next);
            level += 1;
        }
        loop {
            if current.len() == 0 && found.is_empty() {
                return Ok(());
            }
            if let Some(limit) = self.options.max_depth.filter(|&limit| level >= limit) {
                return Err(Box::new(End::Stopped(StopReason::DepthLimit(limit))));
            }
            // Where the search in memory ended inside of a level, its length is known.
            if self.explored.levels.len() as u64 == level {
                self.explored.levels.push(current.len() + found.end - found.start);
            }
            level += 1;
            self.depth = level;
            let ended = self.expand_level(&current, found.clone())?;
            let before = self.overflow.len();
            self.settle(ended, false)?;
            found = before..self.overflow.len();
            current = std::mem::replace(&mut next, Waiting::none());
        }
    }

    /// Runs the starts. Returns what then ends the search, if anything.
    fn run_starts(&mut self) -> Result<Option<End>, Halt> {
        let (system, options) = (self.system, self.options);
        let mut scratch = system.scratch();
        let mut expansion = Expansion::of_starts(self, options);
        system.starts(&mut scratch, &mut |instance, event| expansion.event(instance, event));
        expansion.close();
        self.halt.take().map_or(Ok(()), Err)?;
        self.send()?;
        Ok(self.found.take())
    }

    /// Expands the states of a level: those in memory, then those on disk. Returns what then ends the search, unless
    /// something did before.
    fn expand_level(&mut self, memory: &Waiting, disk: Range<u64>) -> Result<Option<End>, Halt> {
        let mut scratch = self.system.scratch();
        let mut state = Vec::new();
        for position in 0..memory.len() {
            let number = memory.get(position);
            state.clear();
            append(&mut state, self.explored.store.state(number));
            if let Some(end) = self.expand(&mut scratch, &state, number)? {
                return Ok(Some(end));
            }
        }
        let mut records = Vec::new();
        let mut first = disk.start;
        while first < disk.end {
            let count = self.overflow.records.block().min(disk.end - first);
            self.overflow.records.read(first, count, &mut records).map_err(DiskError::from)?;
            for (position, record) in (first..).zip(records.chunks_exact(self.words + 1)) {
                let number = (self.overflow.first + position) as StateNumber;
                if let Some(end) = self.expand(&mut scratch, &record[..self.words], number)? {
                    return Ok(Some(end));
                }
            }
            first += count;
        }
        self.send()?;
        Ok(None)
    }

    fn expand(&mut self, scratch: &mut S::Scratch, state: &[u64], number: StateNumber) -> Result<Option<End>, Halt> {
        let (system, options) = (self.system, self.options);
        match self.judge.expands(state) {
            Ok(true) => {}
            unmet => {
                self.waiting -= 1;
                self.tick()?;
                self.explored.unexpanded += u64::from(unmet.is_ok());
                let end = unmet.err().map(|violation| end_with(Some(number), None, violation));
                return Ok(end.and_then(|end| self.findings.receive(end).err()).map(|halt| *halt));
            }
        }
        let moved = Expansion::of_state(self, options, state, number, number).run(system, scratch);
        self.halt.take().map_or(Ok(()), Err)?;
        let mut end = self.found.take();
        if !moved
            && end.is_none()
            && let Some(violation) = deadlock(options, state, |each| system.steps(scratch, state, each))
        {
            end = self.findings.receive(end_with(Some(number), None, violation)).err().map(|halt| *halt);
        }
        if end.is_some() || self.batch.is_full() {
            self.send()?;
        }
        self.waiting -= 1;
        self.tick()?;
        Ok(end)
    }

    /// Sends the successors in the batch that are not in memory to the sorter.
    fn send(&mut self) -> Result<(), DiskError> {
        self.batch.hash_all();
        let mut number = 0;
        while let Some(Run { parent, first, end, passed }) = self.batch.run(number) {
            number += 1;
            self.place += passed;
            if parent == NO_PARENT && passed > 0 {
                self.start_steps.push((passed, self.place + first as u64));
            }
            for position in first..end {
                let (state, tag, hash) = self.batch.entry(position);
                if self.recent.meets(state, hash) || self.explored.store.contains_hashed(state, hash) {
                    continue;
                }
                let tag = u32::try_from(tag).unwrap_or(Tag::EVERYTHING as u32);
                let place = self.place + position as u64;
                self.candidates.push([state, &[place, u64::from(parent) << 32 | u64::from(tag)]])?;
            }
        }
        self.place += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }

    /// Keeps the new candidates of the level. `ended` is what ends the search after them.
    fn settle(&mut self, ended: Option<End>, starts: bool) -> Result<(), Halt> {
        let words = self.words;
        let mut addition = self.visited.addition();
        let mut candidates = self.candidates.take();
        candidates.drain(|record| {
            self.tick()?;
            if !self.visited.contains(&record[..words])? {
                addition.push(&record[..words])?;
                self.new.push([record, &[]])?;
            }
            Ok::<(), Halt>(())
        })?;
        drop(candidates);
        self.visited.add(addition)?;
        let mut last = u64::MAX;
        let mut new = self.new.take();
        let result = new.drain(|record| {
            self.tick()?;
            let (state, rest) = record.split_at(words);
            let admitted = self.admit(state, (rest[1] >> 32) as StateNumber, rest[1] & u64::from(u32::MAX));
            if admitted.is_err() {
                last = rest[0];
            }
            admitted
        });
        let places = std::mem::take(&mut self.place);
        if !starts {
            // A step counts even if the state it leads to ends the search.
            self.explored.transitions += places.min(last.saturating_add(1));
        }
        let passed = std::mem::take(&mut self.start_steps).into_iter().filter(|&(_, place)| place <= last);
        self.explored.transitions += passed.map(|(passed, _)| passed).sum::<u64>();
        for (property, place) in std::mem::take(&mut self.covered) {
            if place <= last {
                note(&mut self.explored.covered, property);
            }
        }
        result?;
        ended.map_or(Ok(()), |end| Err(Box::new(end)))
    }

    /// Checks and stores a state that was not seen before.
    fn admit(&mut self, state: &[u64], parent: StateNumber, tag: u64) -> Result<(), Halt> {
        let origin = (parent != NO_PARENT).then_some(parent);
        let Self { judge, options, explored, overflow, waiting, depth, findings, .. } = self;
        let Exploration { states, covered, depth: deepest, .. } = explored;
        let store = || {
            if let Some(limit) = options.max_states.filter(|&limit| *states >= limit) {
                return Err(stop(StopReason::StateLimit(limit)));
            }
            let number = overflow.first + overflow.len();
            if number >= STATE_LIMIT {
                return Err(stop(StopReason::TooManyStates));
            }
            overflow.records.push(state)?;
            overflow.records.push(&[u64::from(parent)])?;
            *states += 1;
            *waiting += 1;
            *deepest = (*deepest).max(*depth);
            Ok(Some(number as StateNumber))
        };
        match judge.admit(state, tag, origin, store, |property| note(covered, property)) {
            Admission::Stored(_) | Admission::Dropped => Ok(()),
            Admission::DroppedWrong(finding) => findings.note(finding),
            Admission::StoredWrong(_, found) => found.into_iter().try_for_each(|finding| findings.note(finding)),
            Admission::Refused(halt) | Admission::StoredLast(_, halt) => Err(halt),
        }
    }

    /// Reports progress periodically.
    fn tick(&mut self) -> Result<(), Halt> {
        self.work += 1;
        if self.work >= PROGRESS_INTERVAL { self.report() } else { Ok(()) }
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

    fn report(&mut self) -> Result<(), Halt> {
        self.work = 0;
        let progress = Progress {
            states: self.explored.states,
            transitions: self.explored.transitions + self.place,
            frontier: self.waiting,
            depth: self.explored.depth,
            memory_bytes: self.explored.memory_bytes,
        };
        match self.observer.progress(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(Box::new(End::Stopped(reason))),
        }
    }
}

impl<S: SearchSpace> Expander for DiskSearch<'_, S> {
    #[inline]
    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    fn drain(&mut self) -> ControlFlow<()> {
        let sent = self.send().map_err(Halt::from);
        self.proceed(sent)
    }

    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()> {
        let place = self.place + self.batch.steps();
        for &property in covered {
            if self.covered.iter().all(|&(known, _)| known != property) {
                self.covered.push((property, place));
            }
        }
        ControlFlow::Continue(())
    }

    fn pause(&mut self) -> ControlFlow<()> {
        let reported = self.report();
        self.proceed(reported)
    }

    fn is_new(&mut self, _position: usize) -> bool {
        // That is not known before the level is sorted.
        false
    }

    fn is_halted(&self) -> bool {
        self.halt.is_some() || self.found.is_some()
    }

    fn end(&mut self, end: End) -> ControlFlow<()> {
        match self.findings.receive(end) {
            Ok(()) => ControlFlow::Continue(()),
            Err(halt) => {
                self.found = Some(*halt);
                ControlFlow::Break(())
            }
        }
    }
}
