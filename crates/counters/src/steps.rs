//! The steps of a state, and the values of properties in it: a rule runs once for each choice of its parameters up to
//! exchange of objects that are alike. Steps that are known are not executed again (`moves`, `local`).

use std::ops::Range;

use quotient_ir::{ExprId, Parameter, PropertyId, RuleId, Span};
use quotient_symmetry::Scope;

use super::Refused;
use super::canonical::{canonical, decode, decode_numbered, sort_multisets};
use super::columns::Scheme;
use super::local::{self, Known, LocalStep, LocalSteps, Own};
use super::machine::{Choice, Machine, Stop};
use super::moves::{Effect, Move, Moves, Next};
use super::numbered::{NUMBERED, Numbered};
use super::world::{Cell, Chosen, World};

/// A step of a state, for all instances that differ by an exchange.
pub(crate) struct Firing {
    pub(crate) rule: RuleId,
    chosen: Range<usize>,
    /// The number of instances.
    pub(crate) weight: u128,
    pub(crate) outcome: Outcome,
}

/// What a step leads to.
pub(crate) enum Outcome {
    /// A state, the covered properties, and whether it is another one than before.
    Next { next: NextState, covered: Vec<PropertyId>, has_moved: bool },
    /// An assume statement drops it.
    Pruned,
    /// A run-time error.
    Fault,
}

/// A state that a step leads to.
#[derive(Clone)]
pub(crate) struct NextState {
    key: Range<usize>,
    /// The number of orders with the same encoding.
    pub(crate) automorphisms: u64,
}

/// The steps of a state.
#[derive(Default)]
pub(crate) struct Steps {
    pub(crate) firings: Vec<Firing>,
    keys: Vec<u8>,
    chosen: Vec<Chosen>,
}

impl Steps {
    /// The stored form of a state.
    pub(crate) fn key(&self, next: &NextState) -> &[u8] {
        &self.keys[next.key.clone()]
    }

    /// The parameters of a step.
    pub(crate) fn chosen(&self, firing: &Firing) -> &[Chosen] {
        &self.chosen[firing.chosen.clone()]
    }

    fn clear(&mut self) {
        self.firings.clear();
        self.keys.clear();
        self.chosen.clear();
    }

    fn push(&mut self, rule: RuleId, chosen: impl IntoIterator<Item = Chosen>, weight: u128, outcome: Outcome) {
        let begin = self.chosen.len();
        self.chosen.extend(chosen);
        self.firings.push(Firing { rule, chosen: begin..self.chosen.len(), weight, outcome });
    }

    /// Adds a state, which appends its stored form.
    fn state(&mut self, automorphisms: u64, write: impl FnOnce(&mut Vec<u8>)) -> NextState {
        let begin = self.keys.len();
        write(&mut self.keys);
        NextState { key: begin..self.keys.len(), automorphisms }
    }
}

/// The value of a property for all its instances, or for some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    False,
    True,
    /// It has no value.
    Fault,
}

/// Takes the steps of states, and evaluates properties in them.
pub(crate) struct Stepper<'s> {
    scheme: &'s Scheme<'s>,
    machine: Machine<'s>,
    /// The machine after a step.
    after: Machine<'s>,
    /// The state after a local step.
    next: World,
    local: LocalSteps,
    /// A state by numbers, the one after a step, and the objects that rules are about.
    state: Numbered,
    after_state: Numbered,
    objects: Vec<Own>,
    found: Vec<(Own, (u32, u32))>,
    /// The steps that are found, in the order of rules, with the position in the list above.
    order: Vec<(RuleId, usize, u32)>,
    moves: Moves,
}

/// A rule that ran for some parameters.
struct Ran<'a, 's> {
    chosen: &'a [Chosen],
    weight: u128,
    before: &'a Machine<'s>,
    after: &'a mut Machine<'s>,
    /// The object that was chosen, split off from others.
    own: Own,
    /// Whether it depends on other objects, but for what it does to all of them, each on its own.
    uses_others: bool,
    /// Whether it copies or sets cells of all objects, each on its own.
    moves_all: bool,
    end: RunEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    Disabled,
    Pruned,
    Fault,
    Next,
}

impl<'s> Stepper<'s> {
    pub(crate) fn new(scheme: &'s Scheme<'s>) -> Self {
        Self {
            scheme,
            machine: Machine::new(scheme),
            after: Machine::new(scheme),
            next: World::default(),
            local: LocalSteps::new(scheme),
            state: Numbered::default(),
            after_state: Numbered::default(),
            objects: Vec::new(),
            found: Vec::new(),
            order: Vec::new(),
            moves: Moves::new(scheme),
        }
    }

    /// Takes a state, in its stored form.
    pub(crate) fn load(&mut self, key: &[u8]) {
        if key[0] == NUMBERED {
            self.state.read(self.scheme.families.len(), key);
            self.load_numbered();
        } else {
            self.machine.load(&decode(self.scheme, key));
        }
    }

    fn load_numbered(&mut self) {
        decode_numbered(self.scheme, &self.state, &mut self.machine.world);
        self.machine.begin_state();
        self.machine.facts.begin(&self.state);
    }

    /// The state that was taken.
    pub(crate) fn world(&self) -> &World {
        &self.machine.world
    }

    /// The steps of a state, which is taken.
    ///
    /// # Errors
    /// If counters do not show what a step does.
    pub(crate) fn expand(&mut self, key: &[u8], steps: &mut Steps) -> Result<(), Refused> {
        steps.clear();
        match key[0] == NUMBERED {
            true => self.expand_numbered(key, steps),
            false => self.expand_encoded(key, steps),
        }
    }

    fn expand_numbered(&mut self, key: &[u8], steps: &mut Steps) -> Result<(), Refused> {
        let scheme = self.scheme;
        self.state.read(scheme.families.len(), key);
        let mut is_loaded = false;
        let mut load = |stepper: &mut Self| {
            if !std::mem::replace(&mut is_loaded, true) {
                stepper.load_numbered();
            }
        };
        let mut objects = std::mem::take(&mut self.objects);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.moves.begin(&self.state, &mut objects);
        for &own in &objects {
            let range = match self.moves.look(&self.state, own) {
                Some(range) => range,
                None => {
                    load(self);
                    self.learn_moves(own)?
                }
            };
            found.push((own, range));
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        for (position, (_, (begin, end))) in found.iter().enumerate() {
            order.extend((*begin..*end).map(|number| (self.moves.step(number).rule, position, number)));
        }
        // Rules about several objects, or all, if nothing is remembered.
        order.extend(self.moves.unknown_rules().map(|rule| (rule, 0, u32::MAX)));
        order.sort_unstable();
        for &(rule, position, number) in &order {
            if number == u32::MAX {
                load(self);
                self.fire(rule, None, steps)?;
                continue;
            }
            let own = found[position].0;
            let step = self.moves.step(number);
            let outcome = match &step.effect {
                Effect::Unknown => {
                    load(self);
                    self.fire(rule, own, steps)?;
                    continue;
                }
                Effect::Pruned => Outcome::Pruned,
                Effect::Fault => Outcome::Fault,
                Effect::Next(next) => match self.moves.apply(&self.state, own, number, &mut self.after_state) {
                    Some(has_moved) => {
                        let covered = next.covered.clone();
                        let next = steps.state(1, |keys| self.after_state.write(keys));
                        Outcome::Next { next, covered, has_moved }
                    }
                    None => {
                        load(self);
                        self.fire_move(number, own, steps)?;
                        continue;
                    }
                },
            };
            let weight = own.map_or(1, |(family, entity)| u128::from(self.state.groups[family][entity].count));
            steps.push(rule, step.chosen(own), weight, outcome);
        }
        self.order = order;
        (self.objects, self.found) = (objects, found);
        Ok(())
    }

    /// The steps of rules about one object, for that object.
    fn learn_moves(&mut self, own: Own) -> Result<(u32, u32), Refused> {
        let scheme = self.scheme;
        let mut found = Vec::new();
        for rule in self.moves.rules_of(own) {
            let (mut steps, mut is_unknown) = (Vec::new(), false);
            let Self { machine, after, state, .. } = self;
            run(scheme, (machine, after), rule, own, &mut |ran| {
                // Where cells of others are set, these can decide whether that goes wrong.
                is_unknown |= ran.uses_others || (ran.moves_all && ran.end != RunEnd::Next);
                let mut rows = Vec::new();
                let effect = match ran.end {
                    _ if is_unknown => return Ok(()),
                    RunEnd::Disabled => return Ok(()),
                    RunEnd::Pruned => Effect::Pruned,
                    RunEnd::Fault => Effect::Fault,
                    RunEnd::Next => {
                        let has_moved = differs(scheme, &ran.before.world, ran.after);
                        match Next::new(scheme, (state, own), (ran.after, ran.own), has_moved) {
                            Some((next, known)) => {
                                rows = known;
                                Effect::Next(next)
                            }
                            None => {
                                is_unknown = true;
                                return Ok(());
                            }
                        }
                    }
                };
                steps.push((Move::new(rule, ran.chosen, effect), rows));
                Ok(())
            })?;
            match is_unknown {
                true => found.push((Move::new(rule, &[], Effect::Unknown), Vec::new())),
                false => found.append(&mut steps),
            }
        }
        Ok(self.moves.learn(&self.state, own, found))
    }

    /// Takes a step that is known but for what becomes of some of the other objects.
    fn fire_move(&mut self, number: u32, own: Own, steps: &mut Steps) -> Result<(), Refused> {
        let step = self.moves.step(number);
        let (rule, chosen) = (step.rule, step.chosen(own).collect::<Vec<Chosen>>());
        let scheme = self.scheme;
        let mut rows = Vec::new();
        let Self { machine, after, state, .. } = self;
        run(scheme, (machine, after), rule, own, &mut |ran| {
            if ran.chosen != &chosen[..] {
                return Ok(());
            }
            if ran.end == RunEnd::Next
                && !ran.uses_others
                && let Some((_, known)) = Next::new(scheme, (state, own), (ran.after, ran.own), true)
            {
                rows = known;
            }
            record(scheme, rule, ran, steps)
        })?;
        self.moves.learn_rows(number, rows);
        Ok(())
    }

    fn expand_encoded(&mut self, key: &[u8], steps: &mut Steps) -> Result<(), Refused> {
        let scheme = self.scheme;
        let world = decode(scheme, key);
        self.machine.load(&world);
        let objects = self.local.begin(&world);
        let mut known = Vec::with_capacity(objects.len());
        for own in objects {
            known.push((self.local_steps(&world, own)?, 0));
        }
        for (rule, entry) in scheme.model.rules.iter_enumerated() {
            let Some(family) = self.local.family_of(rule) else {
                self.fire(rule, None, steps)?;
                continue;
            };
            for (known, at) in known.iter_mut().filter(|(it, _)| it.own.map(|(family, _)| family) == family) {
                while let Some(step) = known.steps.get(*at).filter(|step| step.rule == rule) {
                    *at += 1;
                    let outcome = match &step.effect {
                        local::Effect::Unknown => {
                            self.fire(rule, known.own, steps)?;
                            continue;
                        }
                        local::Effect::Pruned => Outcome::Pruned,
                        local::Effect::Fault => Outcome::Fault,
                        local::Effect::Next { change, covered, has_moved } => {
                            self.next.clone_from(&world);
                            self.local.apply(scheme, known, change, &mut self.next);
                            let next = canonical(scheme, &mut self.next)
                                .map_err(|refused| Refused { span: entry.span, ..refused })?;
                            let next = steps.state(next.automorphisms, |keys| keys.extend(&next.key));
                            Outcome::Next { next, covered: covered.clone(), has_moved: *has_moved }
                        }
                    };
                    let weight = known.own.map_or(1, |(family, entity)| u128::from(world.counts[family][entity]));
                    steps.push(rule, step.chosen(known.own), weight, outcome);
                }
            }
        }
        Ok(())
    }

    /// The steps of rules about one object, for that object.
    fn local_steps(&mut self, world: &World, own: Own) -> Result<Known, Refused> {
        let missing = match self.local.look(self.scheme, world, own) {
            Ok(known) => return Ok(known),
            Err(missing) => missing,
        };
        let scheme = self.scheme;
        let mut found = Vec::new();
        for rule in self.local.rules_of(own) {
            let (mut steps, mut uses_others) = (Vec::new(), false);
            let Self { machine, after, local, .. } = self;
            run(scheme, (machine, after), rule, own, &mut |ran| {
                uses_others |= ran.uses_others || ran.moves_all;
                let effect = match ran.end {
                    _ if uses_others => return Ok(()),
                    RunEnd::Disabled => return Ok(()),
                    RunEnd::Pruned => local::Effect::Pruned,
                    RunEnd::Fault => local::Effect::Fault,
                    RunEnd::Next => {
                        let has_moved = differs(scheme, &ran.before.world, ran.after);
                        let change = local.change(scheme, &missing, &ran.after.world, ran.own);
                        local::Effect::Next { change, covered: ran.after.covered.iter().copied().collect(), has_moved }
                    }
                };
                steps.push(LocalStep::new(rule, ran.chosen, effect));
                Ok(())
            })?;
            match uses_others {
                true => found.push(LocalStep::new(rule, &[], local::Effect::Unknown)),
                false => found.append(&mut steps),
            }
        }
        Ok(self.local.learn(missing, found))
    }

    /// Takes the steps of a rule, for an object if one is given.
    fn fire(&mut self, rule: RuleId, own: Own, steps: &mut Steps) -> Result<(), Refused> {
        let scheme = self.scheme;
        run(scheme, (&mut self.machine, &mut self.after), rule, own, &mut |ran| record(scheme, rule, ran, steps))
    }

    /// Whether all instances of a property hold in the state that was taken, or, if `decisive`, some. No value if one has
    /// none, unless another one is false before it where all have to hold.
    ///
    /// # Errors
    /// If counters do not show it.
    pub(crate) fn truth(&mut self, property: PropertyId, decisive: bool) -> Result<Truth, Refused> {
        let entry = &self.scheme.model.properties[property];
        let Some(condition) = entry.formula.condition() else { return Ok(Truth::False) };
        let machine = &mut self.machine;
        machine.enter(Scope::Property(property));
        let mut found = if decisive { Truth::False } else { Truth::True };
        let mut valuations = Valuations { machine, parameters: &entry.parameters, only: None, span: entry.span };
        valuations.each(&mut |machine, _, _, _| {
            let value = value(machine, condition)?;
            if value == Truth::Fault || (value == Truth::True) == decisive {
                found = value;
            }
            // Where one has to hold, all are evaluated, since any may have no value.
            Ok(value != Truth::Fault && (decisive || value == Truth::True))
        })?;
        Ok(found)
    }
}

/// Records a step that a rule took, if it did.
fn record(scheme: &Scheme<'_>, rule: RuleId, ran: Ran<'_, '_>, steps: &mut Steps) -> Result<(), Refused> {
    let outcome = match ran.end {
        RunEnd::Disabled => return Ok(()),
        RunEnd::Pruned => Outcome::Pruned,
        RunEnd::Fault => Outcome::Fault,
        RunEnd::Next => {
            let has_moved = differs(scheme, &ran.before.world, ran.after);
            let covered = ran.after.covered.iter().copied().collect();
            let span = scheme.model.rules[rule].span;
            let next = canonical(scheme, &mut ran.after.world).map_err(|refused| Refused { span, ..refused })?;
            let next = steps.state(next.automorphisms, |keys| keys.extend(&next.key));
            Outcome::Next { next, covered, has_moved }
        }
    };
    steps.push(rule, ran.chosen.iter().copied(), ran.weight, outcome);
    Ok(())
}

/// Runs a rule for each choice of its parameters, for one object if one is given.
fn run<'s>(
    scheme: &'s Scheme<'s>,
    (machine, after): (&mut Machine<'s>, &mut Machine<'s>),
    rule: RuleId,
    only: Own,
    visit: &mut dyn FnMut(Ran<'_, 's>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let entry = &scheme.model.rules[rule];
    machine.enter(Scope::Rule(rule));
    let mut valuations = Valuations { machine, parameters: &entry.parameters, only, span: entry.span };
    valuations.each(&mut |machine, chosen, objects, weight| {
        let own = objects.iter().copied().flatten().next();
        machine.own.clear();
        machine.own.extend(objects.iter().copied().flatten().take(1));
        (machine.uses_others, machine.moves_all) = (false, false);
        let guard = value(machine, entry.guard)?;
        let mut uses_others = machine.uses_others || machine.moves_all;
        let mut moves_all = false;
        let end = match guard {
            Truth::False => RunEnd::Disabled,
            Truth::Fault => RunEnd::Fault,
            Truth::True => {
                after.clone_from(machine);
                let result = after.execute_all(&entry.body);
                uses_others |= after.uses_others;
                moves_all = after.moves_all;
                match result {
                    Ok(_) => RunEnd::Next,
                    Err(Stop::Pruned) => RunEnd::Pruned,
                    Err(Stop::Fault) => RunEnd::Fault,
                    Err(Stop::Refused(refused)) => return Err(refused),
                }
            }
        };
        visit(Ran { chosen, weight, before: machine, after: &mut *after, own, uses_others, moves_all, end })?;
        Ok(true)
    })?;
    Ok(())
}

/// The value of a condition; the machine is the same afterwards.
fn value(machine: &mut Machine<'_>, condition: ExprId) -> Result<Truth, Refused> {
    let splits = machine.splits();
    let value = match machine.known_or(condition, None, |machine, _| machine.is_true(condition)) {
        Ok(true) => Truth::True,
        Ok(false) => Truth::False,
        Err(Stop::Pruned) => Truth::False,
        Err(Stop::Fault) => Truth::Fault,
        Err(Stop::Refused(refused)) => return Err(refused),
    };
    machine.recover(splits);
    Ok(value)
}

/// The valuations of parameters, up to exchanges.
struct Valuations<'a, 's> {
    machine: &'a mut Machine<'s>,
    parameters: &'a [Parameter],
    /// The only object that is chosen, if one is given.
    only: Own,
    span: Span,
}

/// What is done for a valuation, with the objects that were split off for it; it returns whether to continue.
type Visit<'v, 's> = &'v mut dyn FnMut(&mut Machine<'s>, &[Chosen], &[Own], u128) -> Result<bool, Refused>;

impl<'s> Valuations<'_, 's> {
    fn each(&mut self, visit: Visit<'_, 's>) -> Result<bool, Refused> {
        let mut chosen = Vec::with_capacity(self.parameters.len());
        let mut objects = Vec::with_capacity(self.parameters.len());
        self.from(&mut chosen, &mut objects, 1, visit)
    }

    fn from(
        &mut self,
        chosen: &mut Vec<Chosen>,
        objects: &mut Vec<Own>,
        weight: u128,
        visit: Visit<'_, 's>,
    ) -> Result<bool, Refused> {
        self.machine.begin(self.span);
        let Some(parameter) = self.parameters.get(chosen.len()) else {
            return visit(self.machine, chosen, objects, weight);
        };
        let choices = self.machine.choices(parameter.local, &parameter.range).map_err(|stop| self.refused(stop))?;
        for choice in choices {
            let is_left_out = match (&choice, self.only) {
                (&Choice::Entity(family, entity), Some(only)) => only != (family, entity),
                _ => false,
            };
            if is_left_out {
                continue;
            }
            let splits = self.machine.splits();
            let (value, count, own) = match choice {
                Choice::Value(value) => (Cell::Int(value), 1, Chosen::Value(value)),
                Choice::Entity(family, entity) => {
                    let count = self.machine.world.counts[family][entity];
                    let same = objects.iter().position(|object| *object == Some((family, entity)));
                    let own = same.map_or(Chosen::Object { family, entity }, Chosen::Same);
                    let object = if count > 1 { self.machine.split(family, entity) } else { entity };
                    (Cell::object(family, object), count, own)
                }
            };
            chosen.push(own);
            objects.push(match value {
                Cell::Object { family, entity } => Some((family as usize, entity as usize)),
                _ => None,
            });
            self.machine.bind(parameter.local, value).map_err(|stop| self.refused(stop))?;
            let goes_on = self.from(chosen, objects, weight.saturating_mul(u128::from(count)), visit)?;
            chosen.pop();
            objects.pop();
            self.machine.unite_to(splits);
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn refused(&self, stop: Stop) -> Refused {
        match stop {
            Stop::Refused(refused) => refused,
            _ => Refused { reason: "a parameter has no range".to_owned(), span: self.span },
        }
    }
}

/// Whether a step leads to another state: the same objects have other cells.
fn differs(scheme: &Scheme<'_>, before: &World, after: &mut Machine<'_>) -> bool {
    sort_multisets(scheme, &mut after.world);
    let (now, columns) = (&after.world, &scheme.globals);
    if now.area.single != before.area.single {
        return true;
    }
    let source = |family: usize, mut entity: usize| {
        while entity >= before.counts[family].len() {
            entity = after.sources[family][entity];
        }
        entity
    };
    let entities = |family: usize| (0..now.counts[family].len()).filter(move |&e| now.counts[family][e] > 0);
    for (family, &width) in columns.widths.iter().enumerate() {
        let is_other = |entity: usize| {
            let (own, old) = (entity * width, source(family, entity) * width);
            now.area.each[family][own..own + width] != before.area.each[family][old..old + width]
        };
        if entities(family).any(is_other) {
            return true;
        }
    }
    for (pair, &(first, second)) in scheme.pairs.iter().enumerate().filter(|(pair, _)| columns.pair_widths[*pair] > 0) {
        let width = columns.pair_widths[pair];
        for row in entities(first) {
            for column in entities(second) {
                let is_void = first == second && row == column && now.counts[first][row] < 2;
                let (own, old) = (column * width, source(second, column) * width);
                let was = &before.area.pairs[pair][source(first, row)][old..old + width];
                if !is_void && &now.area.pairs[pair][row][own..own + width] != was {
                    return true;
                }
            }
        }
    }
    false
}
