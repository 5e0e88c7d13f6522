//! The states of a model and their steps with events, found on demand.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_groups::SparsePermutation;
use quotient_ir::{
    Action, Behaviour, BehaviourClaim, EventLabel, Expr, FaultKind, Interpreter, Layout, PropertyId, StartId,
    TableIndex, Valuation, event_text,
};
use rustc_hash::FxHashMap;

use crate::refinement::symmetries::{IDENTITY, Symmetries, TurnId};
use quotient_search::words::Hash;
use quotient_search::{EngineError, Event, Instance, Observer, Progress, SearchOptions, StopReason, TransitionSystem};
use quotient_states::store::{Entries, Full, NO_PARENT, Probe, StateNumber, Store};

/// An event by its number. Internal steps have the number 0.
pub(crate) type EventId = u32;

/// The number of internal steps.
pub(crate) const INTERNAL: EventId = 0;

/// A step: its event, and the state it leads to.
pub(crate) type Edge = (EventId, StateNumber);

/// A step of the process: its event, the representative of the state it leads to, and the turn of a symmetry that maps
/// that state to its representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Move {
    pub(crate) event: EventId,
    pub(crate) to: StateNumber,
    pub(crate) turn: TurnId,
}

/// Which of the two processes a state is looked at for. Steps of the process lead to representatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Process,
    Specification,
}

/// How often the observer is asked, in states that are expanded.
const POLL_INTERVAL: u64 = 1024;

/// Why a search ends without an answer.
pub(crate) enum Trouble {
    Stop(StopReason),
    Defect(EngineError),
}

impl From<StopReason> for Trouble {
    fn from(reason: StopReason) -> Self {
        Self::Stop(reason)
    }
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        Self::Defect(error)
    }
}

/// The steps of states, as far as they are known.
struct Steps<E> {
    places: Vec<Option<(u32, u32)>>,
    steps: Vec<E>,
}

impl<E> Steps<E> {
    fn get(&self, number: StateNumber) -> Option<&[E]> {
        let (from, to) = (*self.places.get(number as usize)?)?;
        Some(&self.steps[from as usize..to as usize])
    }

    fn set(&mut self, number: StateNumber, steps: Vec<E>) -> Result<(), StopReason> {
        let from = self.steps.len();
        self.steps.extend(steps);
        let place = |position: usize| u32::try_from(position).map_err(|_| StopReason::TooManyStates);
        if self.places.len() <= number as usize {
            self.places.resize(number as usize + 1, None);
        }
        self.places[number as usize] = Some((place(from)?, place(self.steps.len())?));
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.steps.capacity() * size_of::<E>() + self.places.capacity() * size_of::<Option<(u32, u32)>>()
    }
}

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
    edges: Steps<Edge>,
    symmetries: Option<Symmetries<'g>>,
    /// The steps of representatives, if symmetries are used.
    moves: Steps<Move>,
    /// Whether internal steps can go on forever from a state, if that is known.
    divergence: Vec<Option<bool>>,
    options: &'g SearchOptions,
    observer: &'g mut dyn Observer,
    pub(crate) transitions: u64,
    expanded: u64,
    /// The number of states that may be expanded, if the search is to be short.
    pub(crate) trial: Option<u64>,
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
        symmetries: Option<Symmetries<'g>>,
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
            edges: Steps { places: Vec::new(), steps: Vec::new() },
            symmetries,
            moves: Steps { places: Vec::new(), steps: Vec::new() },
            divergence: Vec::new(),
            options,
            observer,
            transitions: 0,
            expanded: 0,
            trial: None,
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

    /// The number of symmetries that are used.
    pub(crate) fn order(&self) -> Option<&BigUint> {
        self.symmetries.as_ref().map(Symmetries::order)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let own = self.edges.memory_bytes() + self.moves.memory_bytes() + self.divergence.capacity();
        self.store.memory_bytes() + own as u64 + self.other_bytes
    }

    fn intern(&mut self, state: &[u64]) -> Result<StateNumber, StopReason> {
        let hash = Hash::of(state);
        match self.store.probe(state, hash) {
            Probe::Stored(number) => Ok(number),
            Probe::Vacant(position) => {
                let full = |full: Full| full.reason(self.options);
                let number = self.store.insert(state, hash, position, NO_PARENT).map_err(full)?;
                self.divergence.push(None);
                Ok(number)
            }
        }
    }

    /// The states in which a process begins.
    pub(crate) fn starts(&mut self, start: StartId) -> Result<Vec<StateNumber>, Trouble> {
        let found = collect(self.symmetries.as_ref(), |sink| {
            self.system.starts(
                &mut self.scratch,
                &mut |instance, event| match instance.action == Action::Start(start) {
                    true => sink(instance, event),
                    false => ControlFlow::Continue(()),
                },
            );
        })?;
        let mut numbers = Vec::new();
        for (_, state) in found {
            numbers.push(self.intern(&state)?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The event of a step; none if it is not a step of a process.
    fn event_of(
        &mut self,
        action: Action,
        state: &[u64],
        valuation: &mut Option<Valuation>,
    ) -> Result<Option<EventId>, StopReason> {
        let Action::Rule(rule) = action else { return Ok(None) };
        match self.labels[rule.position()] {
            RuleLabel::Nothing => Ok(None),
            RuleLabel::Known(event) => Ok(Some(event)),
            RuleLabel::Varies => {
                let EventLabel::Event { name, values } = &self.behaviour.labels[rule.position()] else {
                    return Ok(None);
                };
                let before = valuation.get_or_insert_with(|| self.layout.unpack(state));
                let value = |&value: &_| self.interpreter.value_at(self.property, value, before);
                let values: Vec<i64> = values.iter().map(value).collect::<Result<_, _>>().map_err(stop)?;
                Ok(Some(self.event(event_text(name, &values))))
            }
        }
    }

    /// The steps of a state: events, and the packed states after them.
    fn successors(&mut self, number: StateNumber) -> Result<Vec<(EventId, Vec<u64>)>, Trouble> {
        self.expanded += 1;
        if self.expanded % POLL_INTERVAL == 1 {
            self.poll(0)?;
        }
        if let Some(limit) = self.trial.filter(|&limit| self.expanded > limit) {
            return Err(StopReason::StateLimit(limit).into());
        }
        let state = self.store.state(number).to_vec();
        let found = collect(self.symmetries.as_ref(), |sink| {
            self.system.successors(&mut self.scratch, &state, sink);
        })?;
        let mut steps = Vec::new();
        let mut valuation = None;
        for (action, next) in found {
            if let Some(event) = self.event_of(action, &state, &mut valuation)? {
                steps.push((event, next));
                self.transitions += 1;
            }
        }
        Ok(steps)
    }

    /// The steps of a state.
    pub(crate) fn steps(&mut self, number: StateNumber) -> Result<&[Edge], Trouble> {
        if self.edges.get(number).is_none() {
            let mut steps: Vec<Edge> = Vec::new();
            for (event, next) in self.successors(number)? {
                steps.push((event, self.intern(&next)?));
            }
            steps.sort_unstable();
            steps.dedup();
            self.edges.set(number, steps)?;
        }
        Ok(self.edges.get(number).expect("it was expanded"))
    }

    /// The steps of a representative of the process.
    pub(crate) fn moves(&mut self, number: StateNumber) -> Result<Vec<Move>, Trouble> {
        if self.symmetries.is_some() {
            return Ok(self.reduced_steps(number)?.to_vec());
        }
        let step = |&(event, to): &Edge| Move { event, to, turn: IDENTITY };
        Ok(self.steps(number)?.iter().map(step).collect())
    }

    /// The steps of a representative.
    fn reduced_steps(&mut self, number: StateNumber) -> Result<&[Move], Trouble> {
        if self.moves.get(number).is_none() {
            let mut found = self.successors(number)?;
            // Steps to different states are a choice, even if these have one representative.
            let finds_choices = self.behaviour.claim == BehaviourClaim::Deterministic;
            if finds_choices {
                found.sort_unstable();
                found.dedup();
            }
            let mut moves: Vec<Move> = Vec::with_capacity(found.len());
            for (event, next) in found {
                let (to, turn) = self.represented(next)?;
                moves.push(Move { event, to, turn });
            }
            moves.sort_unstable();
            if !finds_choices {
                moves.dedup();
            }
            self.moves.set(number, moves)?;
        }
        Ok(self.moves.get(number).expect("it was expanded"))
    }

    fn represented(&mut self, mut state: Vec<u64>) -> Result<(StateNumber, TurnId), Trouble> {
        let turn = match &mut self.symmetries {
            Some(symmetries) => symmetries.represent(&mut state)?,
            None => IDENTITY,
        };
        Ok((self.intern(&state)?, turn))
    }

    /// The representative of a state, and the turn of a symmetry that maps the state to it.
    pub(crate) fn representative(&mut self, number: StateNumber) -> Result<(StateNumber, TurnId), Trouble> {
        match self.symmetries {
            Some(_) => self.represented(self.store.state(number).to_vec()),
            None => Ok((number, IDENTITY)),
        }
    }

    /// The representative of a state, and a symmetry that maps the state to it.
    pub(crate) fn witness(&mut self, number: StateNumber) -> Result<(StateNumber, SparsePermutation), Trouble> {
        let Some(symmetries) = &mut self.symmetries else { return Ok((number, SparsePermutation::identity())) };
        let mut state = self.store.state(number).to_vec();
        let element = symmetries.witness(&mut state);
        Ok((self.intern(&state)?, element))
    }

    /// The turn of a symmetry.
    pub(crate) fn turn(&mut self, element: &SparsePermutation) -> Result<TurnId, Trouble> {
        match &mut self.symmetries {
            Some(symmetries) => Ok(symmetries.turn(element)?),
            None => Ok(IDENTITY),
        }
    }

    /// The image of a state under a symmetry.
    pub(crate) fn image(&mut self, number: StateNumber, element: &SparsePermutation) -> Result<StateNumber, Trouble> {
        let Some(symmetries) = &self.symmetries else { return Ok(number) };
        let mut image = Vec::new();
        symmetries.map(element)?.apply(self.store.state(number), &mut image);
        Ok(self.intern(&image)?)
    }

    /// The image of a state of the specification under a turn.
    pub(crate) fn turned(&mut self, number: StateNumber, turn: TurnId) -> Result<StateNumber, StopReason> {
        let Some(symmetries) = self.symmetries.as_ref().filter(|_| turn != IDENTITY) else { return Ok(number) };
        let mut image = Vec::new();
        symmetries.turned(turn).apply(self.store.state(number), &mut image);
        self.intern(&image)
    }

    /// Whether steps of a side lead to representatives.
    fn is_reduced(&self, side: Side) -> bool {
        side == Side::Process && self.symmetries.is_some()
    }

    /// The events of the steps of a state, in order.
    pub(crate) fn ready(&mut self, side: Side, number: StateNumber) -> Result<Box<[EventId]>, Trouble> {
        let mut events: Vec<EventId> = match self.is_reduced(side) {
            true => self.reduced_steps(number)?.iter().map(|step| step.event).collect(),
            false => self.steps(number)?.iter().map(|(event, _)| *event).collect(),
        };
        events.dedup();
        Ok(events.into())
    }

    /// Checks that a state of the specification has only values that were considered possible.
    ///
    /// # Errors
    /// If it has others, which is a defect.
    pub(crate) fn check_specified(&self, number: StateNumber) -> Result<(), EngineError> {
        match &self.symmetries {
            Some(symmetries) => symmetries.check_specified(self.store.state(number)),
            None => Ok(()),
        }
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

    /// Whether internal steps can go on forever from a state. A cycle of representatives is one of states, after some
    /// turns of it.
    pub(crate) fn diverges(&mut self, side: Side, number: StateNumber) -> Result<bool, Trouble> {
        if let Some(known) = self.divergence[number as usize] {
            return Ok(known);
        }
        // Depth-first: a state on the path that is met again closes a cycle. States that were left have none.
        let mut path: Vec<(StateNumber, Vec<StateNumber>)> = vec![(number, self.internal(side, number)?)];
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
                    let steps = self.internal(side, next)?;
                    on_path.insert(next);
                    path.push((next, steps));
                }
            }
        }
        Ok(false)
    }

    /// The states that internal steps lead to, or their representatives.
    pub(crate) fn internal(&mut self, side: Side, number: StateNumber) -> Result<Vec<StateNumber>, Trouble> {
        Ok(match self.is_reduced(side) {
            true => {
                let steps = self.reduced_steps(number)?;
                steps.iter().take_while(|step| step.event == INTERNAL).map(|step| step.to).collect()
            }
            false => {
                let steps = self.steps(number)?;
                steps.iter().take_while(|(event, _)| *event == INTERNAL).map(|(_, next)| *next).collect()
            }
        })
    }

    /// The instance that takes a step from one packed state to another, with its event.
    pub(crate) fn instance(
        &mut self,
        from: &[u64],
        (event, to): (EventId, &[u64]),
    ) -> Result<Option<(Action, Vec<i64>)>, StopReason> {
        let mut candidates: Vec<(Action, Vec<i64>)> = Vec::new();
        self.system.successors(&mut self.scratch, from, &mut |instance: Instance<'_>, outcome| {
            if matches!(outcome, Event::Next { state, .. } if state == to) {
                candidates.push((instance.action, instance.arguments.to_vec()));
            }
            ControlFlow::Continue(())
        });
        let mut before = None;
        for (action, arguments) in candidates {
            if self.event_of(action, from, &mut before)? == Some(event) {
                return Ok(Some((action, arguments)));
            }
        }
        Ok(None)
    }

    /// The instance of a start that leads to a state.
    pub(crate) fn first_instance(&mut self, start: StartId, to: &[u64]) -> Option<(Action, Vec<i64>)> {
        let mut found = None;
        self.system.starts(&mut self.scratch, &mut |instance, event| {
            if instance.action == Action::Start(start) && matches!(event, Event::Next { state, .. } if state == to) {
                found = Some((instance.action, instance.arguments.to_vec()));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }
}

/// What is told of each instance that a system fires.
type Told<'t> = &'t mut dyn FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>;

/// The states that a system reports, with their actions.
fn collect(
    symmetries: Option<&Symmetries<'_>>,
    report: impl FnOnce(Told<'_>),
) -> Result<Vec<(Action, Vec<u64>)>, Trouble> {
    let mut found: Vec<(Action, Vec<u64>)> = Vec::new();
    let mut trouble = None;
    report(&mut |instance, event| {
        match event {
            Event::Next { state, .. } => found.push((instance.action, state.to_vec())),
            Event::Fault(fault) => {
                trouble.get_or_insert(fault);
            }
            Event::Pruned | Event::Passed { .. } | Event::Wrong { .. } | Event::Idle => {}
        }
        ControlFlow::Continue(())
    });
    if let Some(fault) = trouble {
        return Err(stop(fault).into());
    }
    if let Some(symmetries) = symmetries {
        for (_, state) in &found {
            symmetries.check(state)?;
        }
    }
    Ok(found)
}

fn stop(fault: quotient_ir::Fault) -> StopReason {
    if fault.kind == FaultKind::Exhausted { StopReason::Exhausted(fault) } else { StopReason::Fault(fault) }
}
