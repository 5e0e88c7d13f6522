//! The states of a model and their steps with events, found on demand.

use std::ops::ControlFlow;

use quotient_ir::{
    Action, Behaviour, EventLabel, Expr, FaultKind, Interpreter, Layout, PropertyId, StartId, TableIndex, event_text,
};
use rustc_hash::FxHashMap;

use crate::explicit::store::{Entries, Hash, NO_PARENT, Probe, StateNumber, Store};
use crate::observer::{Observer, Progress};
use crate::options::SearchOptions;
use crate::report::StopReason;
use crate::seam::{Event, Instance, TransitionSystem};

/// An event by its number. Internal steps have the number 0.
pub(crate) type EventId = u32;

/// The number of internal steps.
pub(crate) const INTERNAL: EventId = 0;

/// A step: its event, and the state it leads to.
pub(crate) type Edge = (EventId, StateNumber);

/// How often the observer is asked, in states that are expanded.
const POLL_INTERVAL: u64 = 1024;

/// What is visible of a rule, as far as that does not depend on the state.
enum RuleLabel {
    Nothing,
    Known(EventId),
    /// Its values are evaluated in each state.
    Varies,
}

/// The graph of a model, as far as it was looked at.
pub(crate) struct Graph<'g, 'm, S: TransitionSystem> {
    system: &'g S,
    scratch: S::Scratch,
    interpreter: &'g Interpreter<'m>,
    layout: &'g Layout,
    property: PropertyId,
    behaviour: &'g Behaviour,
    labels: Vec<RuleLabel>,
    names: Vec<String>,
    numbers: FxHashMap<String, EventId>,
    store: Store,
    /// Where the steps of each state are, if it was expanded.
    places: Vec<Option<(u32, u32)>>,
    edges: Vec<Edge>,
    /// Whether internal steps can go on forever from a state, if that is known.
    divergence: Vec<Option<bool>>,
    options: &'g SearchOptions,
    observer: &'g mut dyn Observer,
    pub(crate) transitions: u64,
    expanded: u64,
    /// Pairs of the search and bytes for them, for progress.
    pub(crate) pairs: u64,
    pub(crate) depth: u64,
    pub(crate) other_bytes: u64,
}

impl<'g, 'm, S: TransitionSystem> Graph<'g, 'm, S> {
    pub(crate) fn new(
        system: &'g S,
        interpreter: &'g Interpreter<'m>,
        (property, behaviour): (PropertyId, &'g Behaviour),
        options: &'g SearchOptions,
        observer: &'g mut dyn Observer,
    ) -> Self {
        let mut graph = Self {
            system,
            scratch: system.scratch(),
            interpreter,
            layout: interpreter.layout(),
            property,
            behaviour,
            labels: Vec::new(),
            names: vec!["τ".to_owned()],
            numbers: FxHashMap::default(),
            store: Store::new(system.words(), Entries::Numbers, options.max_memory),
            places: Vec::new(),
            edges: Vec::new(),
            divergence: Vec::new(),
            options,
            observer,
            transitions: 0,
            expanded: 0,
            pairs: 0,
            depth: 0,
            other_bytes: 0,
        };
        let pool = &interpreter.model().pool;
        for label in &behaviour.labels {
            let label = match label {
                EventLabel::Nothing => RuleLabel::Nothing,
                EventLabel::Internal => RuleLabel::Known(INTERNAL),
                EventLabel::Event { name, values } => {
                    let constant = |value: &_| match pool[*value] {
                        Expr::Constant { value, .. } => Some(value),
                        _ => None,
                    };
                    match values.iter().map(constant).collect::<Option<Vec<i64>>>() {
                        Some(values) => RuleLabel::Known(graph.event(event_text(name, &values))),
                        None => RuleLabel::Varies,
                    }
                }
            };
            graph.labels.push(label);
        }
        graph
    }

    fn event(&mut self, text: String) -> EventId {
        let next = self.names.len() as EventId;
        let names = &mut self.names;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            names.push(text.clone());
            next
        })
    }

    /// The text of an event.
    pub(crate) fn name(&self, event: EventId) -> &str {
        &self.names[event as usize]
    }

    pub(crate) fn state(&self, number: StateNumber) -> &[u64] {
        self.store.state(number)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let own = self.edges.capacity() * size_of::<Edge>()
            + self.places.capacity() * size_of::<Option<(u32, u32)>>()
            + self.divergence.capacity();
        self.store.memory_bytes() + own as u64 + self.other_bytes
    }

    fn intern(&mut self, state: &[u64]) -> Result<StateNumber, StopReason> {
        let hash = Hash::of(state);
        match self.store.probe(state, hash) {
            Probe::Stored(number) => Ok(number),
            Probe::Vacant(position) => {
                let full = |full| StopReason::of_full_store(full, self.options);
                let number = self.store.insert(state, hash, position, NO_PARENT).map_err(full)?;
                self.places.push(None);
                self.divergence.push(None);
                Ok(number)
            }
        }
    }

    /// The states in which a process begins.
    pub(crate) fn starts(&mut self, start: StartId) -> Result<Vec<StateNumber>, StopReason> {
        let mut states: Vec<Vec<u64>> = Vec::new();
        let mut trouble = None;
        self.system.starts(&mut self.scratch, |instance, event| {
            if instance.action != Action::Start(start) {
                return ControlFlow::Continue(());
            }
            match event {
                Event::Next { state, .. } => states.push(state.to_vec()),
                Event::Fault(fault) => {
                    trouble.get_or_insert(fault);
                }
                Event::Pruned | Event::Passed { .. } | Event::Wrong { .. } | Event::Idle => {}
            }
            ControlFlow::Continue(())
        });
        if let Some(fault) = trouble {
            return Err(stop(fault));
        }
        let mut numbers = Vec::new();
        for state in states {
            numbers.push(self.intern(&state)?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The steps of a state.
    pub(crate) fn steps(&mut self, number: StateNumber) -> Result<&[Edge], StopReason> {
        if self.places[number as usize].is_none() {
            self.expand(number)?;
        }
        let (from, to) = self.places[number as usize].expect("it was expanded");
        Ok(&self.edges[from as usize..to as usize])
    }

    fn expand(&mut self, number: StateNumber) -> Result<(), StopReason> {
        self.expanded += 1;
        if self.expanded % POLL_INTERVAL == 1 {
            self.poll(0)?;
        }
        let state = self.store.state(number).to_vec();
        let mut found: Vec<(usize, Vec<u64>)> = Vec::new();
        let mut trouble = None;
        self.system.successors(&mut self.scratch, &state, |instance, event| {
            let Action::Rule(rule) = instance.action else { return ControlFlow::Continue(()) };
            match event {
                Event::Next { state, .. } => found.push((rule.position(), state.to_vec())),
                Event::Fault(fault) => {
                    trouble.get_or_insert(fault);
                }
                Event::Pruned | Event::Passed { .. } | Event::Wrong { .. } | Event::Idle => {}
            }
            ControlFlow::Continue(())
        });
        if let Some(fault) = trouble {
            return Err(stop(fault));
        }
        let mut steps: Vec<Edge> = Vec::with_capacity(found.len());
        let mut valuation = None;
        for (rule, next) in found {
            let event = match self.labels[rule] {
                RuleLabel::Nothing => continue,
                RuleLabel::Known(event) => event,
                RuleLabel::Varies => {
                    let EventLabel::Event { name, values } = &self.behaviour.labels[rule] else { continue };
                    let before = valuation.get_or_insert_with(|| self.layout.unpack(&state));
                    let value = |&value: &_| self.interpreter.value_at(self.property, value, before);
                    let values: Vec<i64> = values.iter().map(value).collect::<Result<_, _>>().map_err(stop)?;
                    self.event(event_text(name, &values))
                }
            };
            steps.push((event, self.intern(&next)?));
            self.transitions += 1;
        }
        steps.sort_unstable();
        steps.dedup();
        let from = self.edges.len();
        self.edges.extend(steps);
        let place = |position: usize| u32::try_from(position).map_err(|_| StopReason::TooManyStates);
        self.places[number as usize] = Some((place(from)?, place(self.edges.len())?));
        Ok(())
    }

    /// Asks the observer whether to go on.
    pub(crate) fn poll(&mut self, frontier: u64) -> Result<(), StopReason> {
        let memory_bytes = self.memory_bytes();
        if let Some(limit) = self.options.max_memory.filter(|&limit| memory_bytes > limit) {
            return Err(StopReason::MemoryLimit(limit));
        }
        let progress =
            Progress { states: self.pairs, transitions: self.transitions, frontier, depth: self.depth, memory_bytes };
        match self.observer.progress(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(reason),
        }
    }

    /// Whether internal steps can go on forever from a state.
    pub(crate) fn diverges(&mut self, number: StateNumber) -> Result<bool, StopReason> {
        if let Some(known) = self.divergence[number as usize] {
            return Ok(known);
        }
        // Depth-first: a state on the path that is met again closes a cycle. States that were left have none.
        let mut path: Vec<(StateNumber, Vec<StateNumber>)> = vec![(number, self.internal(number)?)];
        let mut on_path: rustc_hash::FxHashSet<StateNumber> = [number].into_iter().collect();
        while let Some((state, rest)) = path.last_mut() {
            let state = *state;
            let Some(next) = rest.pop() else {
                self.divergence[state as usize] = Some(false);
                on_path.remove(&state);
                path.pop();
                continue;
            };
            match self.divergence[next as usize] {
                Some(false) => {}
                known => {
                    if known == Some(true) || on_path.contains(&next) {
                        for (state, _) in &path {
                            self.divergence[*state as usize] = Some(true);
                        }
                        return Ok(true);
                    }
                    let steps = self.internal(next)?;
                    on_path.insert(next);
                    path.push((next, steps));
                }
            }
        }
        Ok(false)
    }

    /// The states that internal steps lead to.
    pub(crate) fn internal(&mut self, number: StateNumber) -> Result<Vec<StateNumber>, StopReason> {
        let steps = self.steps(number)?;
        Ok(steps.iter().take_while(|(event, _)| *event == INTERNAL).map(|(_, next)| *next).collect())
    }

    /// The instance that takes a step from one packed state to another, with its event.
    pub(crate) fn instance(
        &mut self,
        from: &[u64],
        (event, to): (EventId, &[u64]),
    ) -> Result<Option<(Action, Vec<i64>)>, StopReason> {
        let mut candidates: Vec<(Action, Vec<i64>)> = Vec::new();
        self.system.successors(&mut self.scratch, from, |instance: Instance<'_>, outcome| {
            if matches!(outcome, Event::Next { state, .. } if state == to) {
                candidates.push((instance.action, instance.arguments.to_vec()));
            }
            ControlFlow::Continue(())
        });
        let before = self.layout.unpack(from);
        for (action, arguments) in candidates {
            let Action::Rule(rule) = action else { continue };
            let found = match self.labels[rule.position()] {
                RuleLabel::Nothing => continue,
                RuleLabel::Known(known) => known,
                RuleLabel::Varies => {
                    let EventLabel::Event { name, values } = &self.behaviour.labels[rule.position()] else { continue };
                    let value = |&value: &_| self.interpreter.value_at(self.property, value, &before);
                    let values: Vec<i64> = values.iter().map(value).collect::<Result<_, _>>().map_err(stop)?;
                    self.event(event_text(name, &values))
                }
            };
            if found == event {
                return Ok(Some((action, arguments)));
            }
        }
        Ok(None)
    }

    /// The instance of a start that leads to a state.
    pub(crate) fn first_instance(&mut self, start: StartId, to: &[u64]) -> Option<(Action, Vec<i64>)> {
        let mut found = None;
        self.system.starts(&mut self.scratch, |instance, event| {
            if instance.action == Action::Start(start) && matches!(event, Event::Next { state, .. } if state == to) {
                found = Some((instance.action, instance.arguments.to_vec()));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }
}

fn stop(fault: quotient_ir::Fault) -> StopReason {
    if fault.kind == FaultKind::Exhausted { StopReason::Exhausted(fault) } else { StopReason::Fault(fault) }
}
