//! The steps of a state, and the values of properties in it: a rule runs once for each choice of its parameters up to
//! exchange of objects that are alike. Steps that are known are not executed again (`local`).

use quotient_ir::{ExprId, Parameter, PropertyId, RuleId, Span};
use quotient_symmetry::Scope;

use super::Refused;
use super::canonical::{Canonical, canonical, sort_multisets};
use super::columns::Scheme;
use super::local::{Effect, Known, LocalStep, LocalSteps, Own};
use super::machine::{Choice, Machine, Stop};
use super::world::{Cell, World};

/// A parameter of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// A value that is not interchangeable.
    Value(i64),
    /// An object of an entity of the state.
    Object { family: usize, entity: usize },
    /// The same object as an earlier parameter.
    Same(usize),
}

/// A step of a state, for all instances that differ by an exchange.
pub(crate) struct Firing {
    pub(crate) rule: RuleId,
    pub(crate) chosen: Vec<Chosen>,
    /// The number of instances.
    pub(crate) weight: u128,
    pub(crate) outcome: Outcome,
}

/// What a step leads to.
pub(crate) enum Outcome {
    /// A state, the covered properties, and whether it is another one than before.
    Next { next: Canonical, covered: Vec<PropertyId>, has_moved: bool },
    /// An assume statement drops it.
    Pruned,
    /// A run-time error.
    Fault,
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
}

/// A rule that ran for some parameters.
struct Ran<'a, 's> {
    chosen: &'a [Chosen],
    weight: u128,
    before: &'a Machine<'s>,
    after: &'a mut Machine<'s>,
    /// The object that was chosen, split off from others.
    own: Own,
    uses_others: bool,
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
        let (machine, after) = (Machine::new(scheme), Machine::new(scheme));
        Self { scheme, machine, after, next: World::default(), local: LocalSteps::new(scheme) }
    }

    /// Calls `visit` for each step of a state.
    ///
    /// # Errors
    /// If counters do not show what a step does.
    pub(crate) fn expand(&mut self, world: &World, visit: &mut dyn FnMut(Firing)) -> Result<(), Refused> {
        let scheme = self.scheme;
        self.machine.load(world);
        let objects = self.local.begin(world);
        let mut known = Vec::with_capacity(objects.len());
        for own in objects {
            known.push((self.local_steps(world, own)?, 0));
        }
        for (rule, entry) in scheme.model.rules.iter_enumerated() {
            let Some(family) = self.local.family_of(rule) else {
                self.fire(rule, None, visit)?;
                continue;
            };
            for (known, at) in known.iter_mut().filter(|(it, _)| it.own.map(|(family, _)| family) == family) {
                while let Some(step) = known.steps.get(*at).filter(|step| step.rule == rule) {
                    *at += 1;
                    let outcome = match &step.effect {
                        Effect::Unknown => {
                            self.fire(rule, known.own, visit)?;
                            continue;
                        }
                        Effect::Pruned => Outcome::Pruned,
                        Effect::Fault => Outcome::Fault,
                        Effect::Next { change, covered, has_moved } => {
                            self.next.clone_from(world);
                            self.local.apply(scheme, known, change, &mut self.next);
                            let next = canonical(scheme, &mut self.next)
                                .map_err(|refused| Refused { span: entry.span, ..refused })?;
                            Outcome::Next { next, covered: covered.clone(), has_moved: *has_moved }
                        }
                    };
                    let weight = known.own.map_or(1, |(family, entity)| u128::from(world.counts[family][entity]));
                    visit(Firing { rule, chosen: step.chosen(known.own), weight, outcome });
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
                uses_others |= ran.uses_others;
                let effect = match ran.end {
                    _ if uses_others => return Ok(()),
                    RunEnd::Disabled => return Ok(()),
                    RunEnd::Pruned => Effect::Pruned,
                    RunEnd::Fault => Effect::Fault,
                    RunEnd::Next => {
                        let has_moved = differs(scheme, &ran.before.world, ran.after);
                        let change = local.change(scheme, &missing, &ran.after.world, ran.own);
                        Effect::Next { change, covered: ran.after.covered.iter().copied().collect(), has_moved }
                    }
                };
                steps.push(LocalStep::new(rule, ran.chosen, effect));
                Ok(())
            })?;
            match uses_others {
                true => found.push(LocalStep::new(rule, &[], Effect::Unknown)),
                false => found.append(&mut steps),
            }
        }
        Ok(self.local.learn(missing, found))
    }

    /// Calls `visit` for each step of a rule, for an object if one is given.
    fn fire(&mut self, rule: RuleId, own: Own, visit: &mut dyn FnMut(Firing)) -> Result<(), Refused> {
        let scheme = self.scheme;
        let span = scheme.model.rules[rule].span;
        run(scheme, (&mut self.machine, &mut self.after), rule, own, &mut |ran| {
            let outcome = match ran.end {
                RunEnd::Disabled => return Ok(()),
                RunEnd::Pruned => Outcome::Pruned,
                RunEnd::Fault => Outcome::Fault,
                RunEnd::Next => {
                    let has_moved = differs(scheme, &ran.before.world, ran.after);
                    let covered = ran.after.covered.iter().copied().collect();
                    let next =
                        canonical(scheme, &mut ran.after.world).map_err(|refused| Refused { span, ..refused })?;
                    Outcome::Next { next, covered, has_moved }
                }
            };
            visit(Firing { rule, chosen: ran.chosen.to_vec(), weight: ran.weight, outcome });
            Ok(())
        })
    }

    /// Whether all instances of a property hold in a state, or some: the first that decides it, or has no value.
    ///
    /// # Errors
    /// If counters do not show it.
    pub(crate) fn truth(&mut self, world: &World, property: PropertyId, decisive: bool) -> Result<Truth, Refused> {
        let entry = &self.scheme.model.properties[property];
        let Some(condition) = entry.formula.condition() else { return Ok(Truth::False) };
        let machine = &mut self.machine;
        machine.load(world);
        machine.enter(Scope::Property(property));
        let mut found = if decisive { Truth::False } else { Truth::True };
        let mut valuations = Valuations { machine, parameters: &entry.parameters, only: None, span: entry.span };
        valuations.each(&mut |machine, _, _, _| {
            let value = value(machine, condition)?;
            let decides = value == Truth::Fault || (value == Truth::True) == decisive;
            if decides {
                found = value;
            }
            Ok(!decides)
        })?;
        Ok(found)
    }
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
        (machine.own, machine.uses_others) = (own, false);
        let guard = value(machine, entry.guard)?;
        let mut uses_others = machine.uses_others;
        let end = match guard {
            Truth::False => RunEnd::Disabled,
            Truth::Fault => RunEnd::Fault,
            Truth::True => {
                after.clone_from(machine);
                let result = after.execute_all(&entry.body);
                uses_others = after.uses_others;
                match result {
                    Ok(_) => RunEnd::Next,
                    Err(Stop::Pruned) => RunEnd::Pruned,
                    Err(Stop::Fault) => RunEnd::Fault,
                    Err(Stop::Refused(refused)) => return Err(refused),
                }
            }
        };
        visit(Ran { chosen, weight, before: machine, after: &mut *after, own, uses_others, end })?;
        Ok(true)
    })?;
    Ok(())
}

/// The value of a condition; the machine is the same afterwards.
fn value(machine: &mut Machine<'_>, condition: ExprId) -> Result<Truth, Refused> {
    let splits = machine.splits();
    let value = match machine.is_true(condition) {
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
