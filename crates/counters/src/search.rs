//! Breadth-first search of states with counted objects.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_ir::{DeadlockMode, Interpreter, Outcome as Concrete, PropertyId, RuleId, StartId, Table, TableIndex};
use rustc_hash::FxHashMap;

use super::canonical::counts;
use super::columns::Scheme;
use super::concrete::{counted, starts};
use super::orbits::Orbits;
use super::steps::{Outcome, Stepper, Steps, Truth};
use super::store::{Number, Store};
use super::tracked::Tracked;
use super::world::Chosen;
use super::{CountersBounds, Refused};
use quotient_search::{Checks, Observer, Progress, SearchOptions, StopReason};

/// What is wrong, and where.
pub(crate) struct Wrong {
    /// The states to it; the last one may not be stored.
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) kind: WrongKind,
}

pub(crate) enum WrongKind {
    /// An initial-state program goes wrong.
    Start(StartId, Vec<i64>),
    /// A property does not hold in the last state, or has no value.
    Property(PropertyId),
    /// A property has no value in the last state.
    PropertyFault(PropertyId),
    /// A rule goes wrong in the last state.
    Rule(RuleId, Vec<Chosen>),
    Deadlock,
    /// A property cannot be reached from the last state.
    Unreachable(PropertyId),
}

/// How a search ends.
pub(crate) enum End {
    Finished,
    Stopped(StopReason),
    Found(Wrong),
    Refused(Refused),
}

/// A search.
pub(crate) struct Search<'a> {
    pub(crate) scheme: &'a Scheme<'a>,
    pub(crate) interpreter: &'a Interpreter<'a>,
    pub(crate) checks: &'a Checks,
    pub(crate) options: &'a SearchOptions,
    bounds: CountersBounds,
    /// What is tracked, if something is.
    tracked: Option<&'a Tracked>,
    pub(crate) observer: &'a mut dyn Observer,
    stepper: Stepper<'a>,
    /// The steps of the last state.
    taken: Steps,
    pub(crate) store: Store,
    pub(crate) covered: Vec<PropertyId>,
    pub(crate) levels: Vec<u64>,
    pub(crate) transitions: u64,
    /// The states represented, if they can be counted.
    pub(crate) represented: Option<BigUint>,
    pub(crate) orbits: Option<Orbits>,
    /// Of stored states, the numbers of orders with the same encoding that are not 1.
    automorphisms: FxHashMap<Number, u64>,
    /// How often each rule fires in the states represented.
    pub(crate) firings: Table<RuleId, BigUint>,
    pub(crate) has_fired: Table<RuleId, bool>,
    /// The greatest number of entities of a state.
    pub(crate) most_entities: usize,
    /// The most tokens in a cell and in a state, if tokens are counted.
    pub(crate) tokens: Option<(u64, u64)>,
    /// The steps between states, if something should always be reachable.
    steps: Vec<(Number, Number)>,
}

/// States between reports of progress.
const INTERVAL: u32 = 512;

impl<'a> Search<'a> {
    pub(crate) fn new(
        scheme: &'a Scheme<'a>,
        interpreter: &'a Interpreter<'a>,
        (checks, options, bounds): (&'a Checks, &'a SearchOptions, CountersBounds),
        tracked: Option<&'a Tracked>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let orbits = Orbits::new(&scheme.families);
        let rules = scheme.model.rules.len();
        Self {
            scheme,
            interpreter,
            checks,
            options,
            bounds,
            tracked,
            observer,
            stepper: Stepper::new(scheme),
            taken: Steps::default(),
            store: Store::default(),
            covered: Vec::new(),
            levels: Vec::new(),
            transitions: 0,
            represented: orbits.as_ref().map(|_| BigUint::ZERO),
            orbits,
            automorphisms: FxHashMap::default(),
            firings: (0..rules).map(|_| BigUint::ZERO).collect(),
            has_fired: (0..rules).map(|_| false).collect(),
            most_entities: 0,
            tokens: scheme.model.holds_only_amounts().then_some((0, 0)),
            steps: Vec::new(),
        }
    }

    /// Searches all states.
    pub(crate) fn run(&mut self) -> End {
        match self.search() {
            Ok(()) => End::Finished,
            Err(end) => *end,
        }
    }

    fn search(&mut self) -> Result<(), Box<End>> {
        self.levels.push(0);
        for (number, (start, arguments)) in starts(self.interpreter).enumerate() {
            if number >= self.bounds.starts {
                return Err(stopped(StopReason::Withdrawn));
            }
            if self.tracked.is_some_and(|tracked| !tracked.is_first(self.scheme, &arguments)) {
                continue;
            }
            match self.interpreter.run_start(start, &arguments) {
                Concrete::Next { state, covered } => {
                    self.cover(&covered);
                    let counted = counted(self.scheme, &state).map_err(refused)?;
                    self.admit(&counted.stored.key, counted.stored.automorphisms, None)?;
                }
                Concrete::Pruned => {}
                Concrete::Fault(_) => return Err(found(Vec::new(), WrongKind::Start(start, arguments))),
            }
        }
        let (mut next, mut level_end) = (0, 0);
        while (next as usize) < self.store.len() {
            if next as usize == level_end {
                let depth = self.levels.len() as u64 - 1;
                if let Some(limit) = self.options.max_depth.filter(|&limit| depth >= limit) {
                    return Err(stopped(StopReason::DepthLimit(limit)));
                }
                self.levels.push(0);
                level_end = self.store.len();
            }
            if next % INTERVAL == 0 {
                self.report(next)?;
            }
            self.expand(next)?;
            next += 1;
        }
        Ok(())
    }

    fn report(&mut self, next: Number) -> Result<(), Box<End>> {
        let progress = Progress {
            states: self.store.len() as u64,
            transitions: self.transitions,
            frontier: self.store.len() as u64 - u64::from(next),
            depth: self.depth(),
            memory_bytes: self.memory(),
        };
        if let ControlFlow::Break(reason) = self.observer.progress(&progress) {
            return Err(stopped(reason));
        }
        match self.options.max_memory {
            Some(limit) if self.memory() > limit => Err(stopped(StopReason::MemoryLimit(limit))),
            _ => Ok(()),
        }
    }

    /// The bytes that states take.
    pub(crate) fn memory(&self) -> u64 {
        self.store.memory() + self.scheme.numbers.borrow().memory()
    }

    /// The steps from a start to the deepest state.
    pub(crate) fn depth(&self) -> u64 {
        self.levels.iter().rposition(|&states| states > 0).unwrap_or(0) as u64
    }

    fn cover(&mut self, covered: &[PropertyId]) {
        for &property in covered {
            if !self.covered.contains(&property) {
                self.covered.push(property);
            }
        }
    }

    /// Checks a state and stores it, unless it is known or an assumption drops it.
    fn admit(&mut self, key: &[u8], automorphisms: u64, origin: Option<Number>) -> Result<(), Box<End>> {
        // What has parameters has a search of its own.
        let is_followed = |&property: &PropertyId| {
            self.tracked.is_some() || self.scheme.model.properties[property].parameters.is_empty()
        };
        let has_liveness = self.checks.liveness.iter().any(is_followed);
        let link = |steps: &mut Vec<(Number, Number)>, number: Number| {
            steps.extend(origin.filter(|_| has_liveness).map(|origin| (origin, number)));
        };
        if let Some(number) = self.store.number(key) {
            link(&mut self.steps, number);
            return Ok(());
        }
        let stepper = &mut self.stepper;
        stepper.load(key);
        let mut value = |property: PropertyId, decisive: bool| stepper.truth(property, decisive).map_err(refused);
        let wrong = |kind: WrongKind| {
            let mut keys = self.store.keys_to(origin);
            keys.push(key.to_vec());
            found(keys, kind)
        };
        for &property in &self.checks.assumptions {
            match value(property, false)? {
                Truth::True => {}
                Truth::False => return Ok(()),
                Truth::Fault => return Err(wrong(WrongKind::PropertyFault(property))),
            }
        }
        for &property in &self.checks.invariants {
            if value(property, false)? != Truth::True {
                return Err(wrong(WrongKind::Property(property)));
            }
        }
        let mut reached = Vec::new();
        let Checks { covers, liveness, remarks, .. } = self.checks;
        for &property in covers.iter().chain(liveness).chain(remarks) {
            match value(property, true)? {
                Truth::True if !liveness.contains(&property) => reached.push(property),
                Truth::Fault if !remarks.contains(&property) => {
                    return Err(wrong(WrongKind::PropertyFault(property)));
                }
                _ => {}
            }
        }
        self.cover(&reached);
        if let Some(limit) = self.options.max_states.filter(|&limit| self.store.len() as u64 >= limit) {
            return Err(stopped(StopReason::StateLimit(limit)));
        }
        if self.store.len() as u64 == u64::from(Number::MAX) {
            return Err(stopped(StopReason::TooManyStates));
        }
        let number = self.store.push(key, origin);
        link(&mut self.steps, number);
        *self.levels.last_mut().expect("there is the level of the starts") += 1;
        let counts = &self.stepper.world().counts;
        self.most_entities = self.most_entities.max(counts.iter().map(Vec::len).sum());
        if self.most_entities > self.bounds.sorts {
            return Err(stopped(StopReason::Withdrawn));
        }
        if let Some(tokens) = &mut self.tokens {
            let own = self.stepper.world().tokens(self.scheme);
            *tokens = (tokens.0.max(own.0), tokens.1.max(own.1));
        }
        if let (Some(represented), Some(orbits)) = (&mut self.represented, &mut self.orbits) {
            *represented += &*orbits.size(counts, automorphisms);
            if automorphisms > 1 {
                self.automorphisms.insert(number, automorphisms);
            }
        }
        Ok(())
    }

    fn expand(&mut self, number: Number) -> Result<(), Box<End>> {
        let mut taken = std::mem::take(&mut self.taken);
        self.stepper.expand(self.store.key(number), &mut taken).map_err(refused)?;
        let orbit = match &mut self.orbits {
            Some(orbits) if self.options.statistics => {
                let counts = counts(self.scheme, self.store.key(number));
                Some(orbits.size(&counts, self.automorphisms.get(&number).copied().unwrap_or(1)).into_owned())
            }
            _ => None,
        };
        let mut moves = false;
        for firing in &taken.firings {
            let (rule, weight) = (firing.rule, firing.weight);
            match &firing.outcome {
                Outcome::Next { next, covered, has_moved } => {
                    moves |= *has_moved || self.options.deadlock == DeadlockMode::Stuck;
                    self.transitions = self.transitions.saturating_add(u64::try_from(weight).unwrap_or(u64::MAX));
                    self.has_fired[rule] = true;
                    if let Some(orbit) = &orbit {
                        self.firings[rule] += orbit * weight;
                    }
                    self.cover(covered);
                    self.admit(taken.key(next), next.automorphisms, Some(number))?;
                }
                Outcome::Pruned => {}
                Outcome::Fault => {
                    let chosen = taken.chosen(firing).to_vec();
                    return Err(found(self.store.keys_to(Some(number)), WrongKind::Rule(rule, chosen)));
                }
            }
        }
        self.taken = taken;
        if !moves && self.options.deadlock != DeadlockMode::Off {
            return Err(found(self.store.keys_to(Some(number)), WrongKind::Deadlock));
        }
        Ok(())
    }

    /// The states on the way to one from which no instance of a property can be reached, if there is one.
    ///
    /// # Errors
    /// If counters do not show it.
    pub(crate) fn dead_end(&mut self, property: PropertyId) -> Result<Option<Vec<Vec<u8>>>, Refused> {
        let mut before: Vec<Vec<Number>> = vec![Vec::new(); self.store.len()];
        for &(from, to) in &self.steps {
            before[to as usize].push(from);
        }
        let mut reaches = vec![false; self.store.len()];
        let mut pending: Vec<Number> = Vec::new();
        for number in 0..self.store.len() as Number {
            self.stepper.load(self.store.key(number));
            if self.stepper.truth(property, true)? == Truth::True {
                reaches[number as usize] = true;
                pending.push(number);
            }
        }
        while let Some(number) = pending.pop() {
            for &from in &before[number as usize] {
                if !std::mem::replace(&mut reaches[from as usize], true) {
                    pending.push(from);
                }
            }
        }
        let dead_end = reaches.iter().position(|reaches| !reaches);
        Ok(dead_end.map(|number| self.store.keys_to(Some(number as Number))))
    }

    /// The rules that never fired.
    pub(crate) fn never_fired(&self) -> Vec<RuleId> {
        let rules = self.has_fired.iter().enumerate().filter(|(_, fired)| !**fired);
        rules.map(|(rule, _)| RuleId::from_position(rule)).collect()
    }
}

fn found(keys: Vec<Vec<u8>>, kind: WrongKind) -> Box<End> {
    Box::new(End::Found(Wrong { keys, kind }))
}

fn stopped(reason: StopReason) -> Box<End> {
    Box::new(End::Stopped(reason))
}

fn refused(refused: Refused) -> Box<End> {
    Box::new(End::Refused(refused))
}
