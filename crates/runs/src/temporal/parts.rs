//! Decides for each state which of its steps are taken, before an automaton is looked at (ADR 32).
//!
//! The graph of the states that stubborn sets lead to is searched depth-first. On each cycle of it there must be a state
//! whose set has all visible steps in it. Of a cycle of states whose sets do not, the state of it that was found first is
//! on the path when an edge leads back to it: then that state or the one before it is completed.

use std::ops::ControlFlow;

use quotient_representatives::Workspace;

use crate::temporal::decisions::Decisions;
use crate::temporal::product::{Collector, Level, Trouble};
use quotient_search::partial_order::{Extent, PartialOrderSystem};
use quotient_search::{Batches, Observer, Progress, SearchOptions, SearchSpace, Sink, StopReason, TransitionSystem};
use quotient_states::store::{Full, StateNumber};

/// Expansions between reports of progress.
const PROGRESS_INTERVAL: u64 = 1024;

/// Where a state is in the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Unvisited,
    OnPath,
    Left,
}

/// A state on the path, with its successors that were not looked at.
struct Frame {
    node: StateNumber,
    first: usize,
    next: usize,
    /// Whether what completes the set of the state was expanded.
    is_completed: bool,
}

struct Exploration<'a, S: SearchSpace> {
    system: &'a PartialOrderSystem<'a, S>,
    level: &'a Level<'a>,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    scratch: <PartialOrderSystem<'a, S> as TransitionSystem>::Scratch,
    workspace: Workspace,
    sink: Collector,
    decisions: Decisions,
    statuses: Vec<Status>,
    frames: Vec<Frame>,
    successors: Vec<StateNumber>,
    expansions: u64,
    fired: u64,
}

/// The states that parts of the steps lead to, as representatives of a level, with what is taken in each.
pub(crate) fn decide<S: SearchSpace>(
    system: &PartialOrderSystem<'_, S>,
    level: &Level<'_>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Decisions, Trouble> {
    let words = system.words();
    let mut exploration = Exploration {
        system,
        level,
        options,
        observer,
        scratch: system.scratch(),
        workspace: Workspace::default(),
        sink: Collector::new(words),
        decisions: Decisions::new(words, options.max_memory),
        statuses: Vec::new(),
        frames: Vec::new(),
        successors: Vec::new(),
        expansions: 0,
        fired: 0,
    };
    exploration.run()?;
    Ok(exploration.decisions)
}

impl<S: SearchSpace> Exploration<'_, S> {
    fn run(&mut self) -> Result<(), Trouble> {
        let Self { system, scratch, sink, .. } = self;
        sink.clear();
        system.starts(scratch, &mut |instance, event| sink.event(instance, event));
        self.intern(None)?;
        for start in std::mem::take(&mut self.successors) {
            if self.statuses[start as usize] == Status::Unvisited {
                self.enter(start)?;
                self.follow()?;
            }
        }
        Ok(())
    }

    /// Searches everything that can be reached from the last state of the path.
    fn follow(&mut self) -> Result<(), Trouble> {
        while let Some(frame) = self.frames.last_mut() {
            let node = frame.node;
            if let Some(&to) = self.successors.get(frame.next) {
                frame.next += 1;
                match self.statuses[to as usize] {
                    Status::Unvisited => self.enter(to)?,
                    Status::OnPath => self.break_cycle(node, to),
                    Status::Left => {}
                }
            } else if self.decisions.extent_of(node) == Extent::Completed && !frame.is_completed {
                frame.is_completed = true;
                let Self { system, scratch, sink, decisions, .. } = self;
                sink.clear();
                system.expand_added(scratch, decisions.state(node), sink);
                self.intern(Some(node))?;
            } else {
                self.successors.truncate(frame.first);
                self.statuses[node as usize] = Status::Left;
                self.frames.pop();
            }
        }
        Ok(())
    }

    /// Adds a state to the path.
    fn enter(&mut self, node: StateNumber) -> Result<(), Trouble> {
        self.tick()?;
        self.statuses[node as usize] = Status::OnPath;
        let first = self.successors.len();
        self.frames.push(Frame { node, first, next: first, is_completed: false });
        let Self { system, scratch, sink, decisions, .. } = self;
        sink.clear();
        let is_part = system.expand_chosen(scratch, decisions.state(node), sink);
        sink.check()?;
        if is_part && sink.successors.is_empty() {
            // All ways of the part end inside transient states, or in an error.
            sink.clear();
            system.expand(scratch, decisions.state(node), sink);
        } else if is_part {
            decisions.decide(node, Extent::Part);
        }
        self.intern(Some(node))
    }

    /// Sees to it that a step back on the path closes no cycle of states whose sets leave visible steps out.
    fn break_cycle(&mut self, from: StateNumber, to: StateNumber) {
        let is_part = |node: StateNumber| self.decisions.extent_of(node) == Extent::Part;
        if !is_part(from) || !is_part(to) {
            return;
        }
        let Self { system, scratch, decisions, .. } = self;
        let mut added = |node: StateNumber| system.added(scratch, decisions.state(node));
        let (node, count) = match added(from) {
            0 => (from, 0),
            // The state that was found earlier may be on more cycles.
            own => Some((to, added(to))).filter(|&(_, other)| other <= own).unwrap_or((from, own)),
        };
        self.decisions.decide(node, if count == 0 { Extent::Seeing } else { Extent::Completed });
    }

    /// Stores what was found from a state, and lists it.
    fn intern(&mut self, before: Option<StateNumber>) -> Result<(), Trouble> {
        let Self { sink, level, workspace, decisions, .. } = self;
        sink.check()?;
        self.fired += sink.successors.len() as u64;
        let stride = self.system.words() + 1;
        let state = before.map(|node| decisions.state(node));
        level.represent(workspace, state, sink.successors.records_from(0), stride)?;
        for record in sink.successors.records() {
            let limit = self.options.max_states;
            let known = decisions.len();
            let full = |full: Full| Trouble::Stop(full.reason(self.options));
            let number = decisions.number(&record[..stride - 1]).map_err(full)?;
            if decisions.len() > known {
                if let Some(limit) = limit.filter(|&limit| known >= limit) {
                    return Err(Trouble::Stop(StopReason::StateLimit(limit)));
                }
                self.statuses.push(Status::Unvisited);
            }
            if self.statuses[number as usize] != Status::Left {
                self.successors.push(number);
            }
        }
        Ok(())
    }

    /// Reports progress every now and then.
    fn tick(&mut self) -> Result<(), Trouble> {
        self.expansions += 1;
        if !self.expansions.is_multiple_of(PROGRESS_INTERVAL) {
            return Ok(());
        }
        let path = self.frames.len() * size_of::<Frame>() + self.successors.capacity() * size_of::<StateNumber>();
        let memory_bytes = self.decisions.memory_bytes() + (path + self.statuses.len()) as u64;
        if let Some(limit) = self.options.max_memory.filter(|&limit| memory_bytes > limit) {
            return Err(Trouble::Stop(StopReason::MemoryLimit(limit)));
        }
        let progress = Progress {
            states: self.decisions.len(),
            transitions: self.fired,
            frontier: self.frames.len() as u64,
            depth: self.frames.len() as u64,
            memory_bytes,
        };
        match self.observer.progress(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(Trouble::Stop(reason)),
        }
    }
}
