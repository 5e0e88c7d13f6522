//! Explicit search of the reachable states, breadth-first or depth-first.
//!
//! The order is that of the model's text throughout, and what is counted and checked when is the
//! same as in rumur, so that numbers can be compared even when a run ends at its first violation:
//! a fired instance counts before its successor is looked at; assumptions come before invariants
//! and both before the state is stored; conditions of cover and liveness properties are evaluated
//! on every stored state; deadlock is judged after all instances of a state were tried.

use std::ops::ControlFlow;

use quotient_ir::{DeadlockMode, Fault, FaultKind, Model, PropertyId, PropertyKind, Violation};

use crate::batch::Batch;
use crate::observer::{Edge, Observer, Progress};
use crate::options::{SearchOptions, SearchOrder};
use crate::report::StopReason;
use crate::store::{Full, Hash, NO_PARENT, StateNumber, Store};
use crate::system::{Event, Instance, TransitionSystem};

/// How many units of work (successors looked up, states expanded) pass between reports of
/// progress.
const PROGRESS_INTERVAL: usize = 2048;

/// The properties a search checks, by kind, each in order of declaration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    pub(crate) assumptions: Vec<PropertyId>,
    pub(crate) invariants: Vec<PropertyId>,
    pub(crate) covers: Vec<PropertyId>,
    pub(crate) liveness: Vec<PropertyId>,
}

impl Checks {
    /// The properties of a model that are selected; assumptions always are.
    pub(crate) fn new(model: &Model, selection: Option<&[PropertyId]>) -> Self {
        let mut checks = Self::default();
        for (id, property) in model.properties.iter_enumerated() {
            let selected = selection.is_none_or(|selection| selection.contains(&id));
            match property.kind {
                PropertyKind::Assumption => checks.assumptions.push(id),
                PropertyKind::Invariant if selected => checks.invariants.push(id),
                PropertyKind::Cover if selected => checks.covers.push(id),
                PropertyKind::Liveness if selected => checks.liveness.push(id),
                _ => {}
            }
        }
        checks
    }
}

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
    pub(crate) store: Store,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    pub(crate) memory_bytes: u64,
    /// The cover properties that were reached.
    pub(crate) covered: Vec<PropertyId>,
}

/// Searches the reachable states of a system.
pub(crate) fn explore<S: TransitionSystem>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Exploration {
    let graph = observer.wants_graph();
    let mut search = Search {
        system,
        property_scratch: system.scratch(),
        checks,
        options,
        observer,
        graph,
        store: Store::new(system.words(), options.max_memory),
        batch: Batch::new(system.words()),
        stack: Vec::new(),
        level: 0,
        depth: 0,
        expanded: 0,
        transitions: 0,
        covered: Vec::new(),
        work: 0,
        stack_peak: 0,
    };
    let end = match search.run() {
        Ok(()) => End::Finished,
        Err(end) => *end,
    };
    Exploration {
        end,
        transitions: search.transitions,
        depth: search.depth,
        memory_bytes: search.store.peak_bytes() + search.stack_peak,
        covered: search.covered,
        store: search.store,
    }
}

/// An early end, boxed since it is large and rare.
type Halt = Box<End>;

fn stop(reason: StopReason) -> Halt {
    Box::new(End::Stopped(reason))
}

struct Search<'a, S: TransitionSystem> {
    system: &'a S,
    /// Properties are evaluated while a state is being expanded.
    property_scratch: S::Scratch,
    checks: &'a Checks,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    graph: bool,
    store: Store,
    batch: Batch,
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
}

impl<S: TransitionSystem> Search<'_, S> {
    fn run(&mut self) -> Result<(), Halt> {
        self.begin()?;
        match self.options.order {
            SearchOrder::BreadthFirst => self.breadth_first(),
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
        self.flush()?;
        self.stack.reverse();
        Ok(())
    }

    fn breadth_first(&mut self) -> Result<(), Halt> {
        let mut scratch = self.system.scratch();
        let mut state = vec![0; self.system.words()];
        let mut number = 0;
        loop {
            let end_of_level = self.store.len();
            if number == end_of_level {
                return Ok(());
            }
            if let Some(limit) = self.options.max_depth.filter(|&limit| self.level >= limit) {
                return Err(stop(StopReason::DepthLimit(limit)));
            }
            self.level += 1;
            while number < end_of_level {
                self.expand(number as StateNumber, &mut scratch, &mut state)?;
                number += 1;
            }
            self.flush()?;
        }
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
        state.copy_from_slice(self.store.state(number));
        if self.graph {
            return self.expand_with_edges(number, scratch, state);
        }
        let state = &*state;
        let stuttering = self.options.deadlock == DeadlockMode::Stuttering;
        let mut moved = false;
        let mut result = Ok(());
        let system = self.system;
        system.successors(scratch, state, |instance, event| {
            if let Event::Next { state: next, .. } = &event {
                moved = moved || !stuttering || *next != state;
            }
            result = self.visit(Some(number), instance, event);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
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
        if !moved && self.options.deadlock != DeadlockMode::Off && !self.leaves(state, scratch) {
            self.flush()?;
            let violation = Violation::Deadlock(self.options.deadlock);
            return Err(Box::new(End::Found(Finding { origin: Some(number), state: None, violation })));
        }
        if self.work >= PROGRESS_INTERVAL {
            self.flush()?;
            self.report_progress()?;
        }
        Ok(())
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

    /// Takes note of what came of an instance.
    #[inline]
    fn visit(&mut self, from: Option<StateNumber>, instance: Instance<'_>, event: Event<'_>) -> Result<(), Halt> {
        match event {
            Event::Next { state, covered } => {
                for &property in covered {
                    self.note_cover(property);
                }
                self.batch.push(state, from.unwrap_or(NO_PARENT));
                if self.batch.is_full() {
                    self.flush()?;
                }
                Ok(())
            }
            Event::Pruned => Ok(()),
            Event::Fault(fault) => {
                self.flush()?;
                let violation =
                    Violation::Fault { action: instance.action, arguments: instance.arguments.to_vec(), fault };
                Err(self.fault_found(from, None, violation))
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
        batch.prepare(&self.store);
        let mut last = None;
        let mut result = Ok(());
        for position in 0..batch.len() {
            let (state, hash, parent) = batch.entry(position);
            if parent != NO_PARENT {
                self.transitions += 1;
            }
            last = self.store.find(state, hash);
            if last.is_none() {
                match self.admit(state, hash, parent) {
                    Ok(number) => last = number,
                    Err(halt) => {
                        result = Err(halt);
                        break;
                    }
                }
            }
        }
        self.work += batch.len();
        batch.clear();
        self.batch = batch;
        result?;
        if self.work >= 2 * PROGRESS_INTERVAL {
            self.report_progress()?;
        }
        Ok(last)
    }

    /// Checks and stores a state that was not seen before.
    fn admit(&mut self, state: &[u64], hash: Hash, parent: StateNumber) -> Result<Option<StateNumber>, Halt> {
        let origin = (parent != NO_PARENT).then_some(parent);
        let checks = self.checks;
        for &property in &checks.assumptions {
            if self.first_failure(property, state, origin, Some(state))?.is_some() {
                return Ok(None);
            }
        }
        for &property in &checks.invariants {
            if let Some(arguments) = self.first_failure(property, state, origin, Some(state))? {
                let violation = Violation::Property { property, arguments };
                return Err(Box::new(End::Found(Finding { origin, state: Some(state.to_vec()), violation })));
            }
        }
        if let Some(limit) = self.options.max_states.filter(|&limit| self.store.len() >= limit) {
            return Err(stop(StopReason::StateLimit(limit)));
        }
        let number = self.store.insert(state, hash, parent).map_err(|full| {
            stop(match full {
                Full::Numbers => StopReason::TooManyStates,
                Full::Memory => StopReason::MemoryLimit(self.options.max_memory.unwrap_or(u64::MAX)),
                Full::System => StopReason::OutOfMemory,
            })
        })?;
        self.depth = self.depth.max(self.level);
        if self.options.order == SearchOrder::DepthFirst {
            self.stack.push((number, u32::try_from(self.level).unwrap_or(u32::MAX)));
            self.stack_peak = self.stack_peak.max(8 * self.stack.capacity() as u64);
        }
        if self.graph {
            self.observer.state(u64::from(number), state, origin.is_none());
        }
        for &property in &checks.covers {
            if self.holds_somewhere(property, state, number)? {
                self.note_cover(property);
            }
        }
        for &property in &checks.liveness {
            // Only to see whether it has a value; what it is matters at the end.
            self.holds_somewhere(property, state, number)?;
        }
        Ok(Some(number))
    }

    /// The first valuation of parameters for which a property does not hold in a state that may
    /// not be stored.
    fn first_failure(
        &mut self,
        property: PropertyId,
        state: &[u64],
        origin: Option<StateNumber>,
        unstored: Option<&[u64]>,
    ) -> Result<Option<Vec<i64>>, Halt> {
        let mut failure = None;
        self.system.evaluate(&mut self.property_scratch, property, state, |arguments, result| match result {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => {
                failure = Some((arguments.to_vec(), None));
                ControlFlow::Break(())
            }
            Err(fault) => {
                failure = Some((arguments.to_vec(), Some(fault)));
                ControlFlow::Break(())
            }
        });
        match failure {
            None => Ok(None),
            Some((arguments, None)) => Ok(Some(arguments)),
            Some((arguments, Some(fault))) => {
                let violation = Violation::PropertyFault { property, arguments, fault };
                Err(self.fault_found(origin, unstored, violation))
            }
        }
    }

    /// Whether a property holds in a stored state for some valuation of its parameters. All are
    /// evaluated, since any may have no value.
    fn holds_somewhere(&mut self, property: PropertyId, state: &[u64], number: StateNumber) -> Result<bool, Halt> {
        let mut holds = false;
        let mut failure = None;
        let options = self.options;
        self.system.evaluate(&mut self.property_scratch, property, state, |arguments, result| match result {
            _ if !options.evaluates(property, arguments) => ControlFlow::Continue(()),
            Ok(value) => {
                holds |= value;
                ControlFlow::Continue(())
            }
            Err(fault) => {
                failure = Some(Violation::PropertyFault { property, arguments: arguments.to_vec(), fault });
                ControlFlow::Break(())
            }
        });
        match failure {
            None => Ok(holds),
            Some(violation) => Err(self.fault_found(Some(number), None, violation)),
        }
    }

    /// A fault ends the search, as a violation if it is one.
    fn fault_found(&self, origin: Option<StateNumber>, state: Option<&[u64]>, violation: Violation) -> Halt {
        let (Violation::Fault { fault, .. } | Violation::PropertyFault { fault, .. }) = &violation else {
            unreachable!("only faults are reported here")
        };
        let fault: &Fault = fault;
        if fault.kind == FaultKind::Exhausted {
            stop(StopReason::Exhausted(fault.clone()))
        } else if self.options.errors {
            Box::new(End::Found(Finding { origin, state: state.map(<[u64]>::to_vec), violation }))
        } else {
            stop(StopReason::Fault(fault.clone()))
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
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(stop(reason)),
        }
    }
}
