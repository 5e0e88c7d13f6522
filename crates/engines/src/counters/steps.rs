//! The steps of a state, and the values of properties in it: a rule runs once for each choice of its parameters up to
//! exchange of objects that are alike.

use quotient_ir::{ExprId, Parameter, PropertyId, RuleId, Span};
use quotient_symmetry::Scope;

use super::Refused;
use super::canonical::{Canonical, canonical, sort_multisets};
use super::columns::Scheme;
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

/// Calls `visit` for each step of a state.
///
/// # Errors
/// If counters do not show what a step does.
pub(crate) fn expand(scheme: &Scheme<'_>, world: &World, visit: &mut dyn FnMut(Firing)) -> Result<(), Refused> {
    let mut machine: Option<Machine<'_>> = None;
    for (rule, entry) in scheme.model.rules.iter_enumerated() {
        let scope = Scope::Rule(rule);
        let machine = machine.get_or_insert_with(|| Machine::new(scheme, world.clone(), scope, entry.span));
        machine.enter(scope);
        let mut valuations = Valuations { machine, parameters: &entry.parameters, span: entry.span };
        valuations.each(&mut |machine, chosen, weight| {
            let firing = |outcome| Firing { rule, chosen: chosen.to_vec(), weight, outcome };
            match value(machine, entry.guard)? {
                Truth::True => {}
                Truth::False => return Ok(true),
                Truth::Fault => {
                    visit(firing(Outcome::Fault));
                    return Ok(true);
                }
            }
            let mut after = machine.clone();
            let outcome = match after.execute_all(&entry.body) {
                Ok(_) => {
                    let has_moved = differs(scheme, &machine.world, &mut after);
                    let covered = after.covered.iter().copied().collect();
                    let next =
                        canonical(scheme, after.world).map_err(|refused| Refused { span: entry.span, ..refused })?;
                    Outcome::Next { next, covered, has_moved }
                }
                Err(Stop::Pruned) => Outcome::Pruned,
                Err(Stop::Fault) => Outcome::Fault,
                Err(Stop::Refused(refused)) => return Err(refused),
            };
            visit(firing(outcome));
            Ok(true)
        })?;
    }
    Ok(())
}

/// Whether all instances of a property hold in a state, or some: the first that decides it, or has no value.
///
/// # Errors
/// If counters do not show it.
pub(crate) fn truth(
    scheme: &Scheme<'_>,
    world: &World,
    property: PropertyId,
    decisive: bool,
) -> Result<Truth, Refused> {
    let entry = &scheme.model.properties[property];
    let Some(condition) = entry.formula.condition() else { return Ok(Truth::False) };
    let machine = &mut Machine::new(scheme, world.clone(), Scope::Property(property), entry.span);
    let mut found = if decisive { Truth::False } else { Truth::True };
    let mut valuations = Valuations { machine, parameters: &entry.parameters, span: entry.span };
    valuations.each(&mut |machine, _, _| {
        let value = value(machine, condition)?;
        let decides = value == Truth::Fault || (value == Truth::True) == decisive;
        if decides {
            found = value;
        }
        Ok(!decides)
    })?;
    Ok(found)
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
    span: Span,
}

/// What is done for a valuation; it returns whether to continue.
type Visit<'v, 's> = &'v mut dyn FnMut(&mut Machine<'s>, &[Chosen], u128) -> Result<bool, Refused>;

impl<'s> Valuations<'_, 's> {
    fn each(&mut self, visit: Visit<'_, 's>) -> Result<bool, Refused> {
        let mut chosen = Vec::with_capacity(self.parameters.len());
        let mut objects = Vec::with_capacity(self.parameters.len());
        self.from(&mut chosen, &mut objects, 1, visit)
    }

    fn from(
        &mut self,
        chosen: &mut Vec<Chosen>,
        objects: &mut Vec<Option<(usize, usize)>>,
        weight: u128,
        visit: Visit<'_, 's>,
    ) -> Result<bool, Refused> {
        self.machine.begin(self.span);
        let Some(parameter) = self.parameters.get(chosen.len()) else {
            return visit(self.machine, chosen, weight);
        };
        let choices = self.machine.choices(parameter.local, &parameter.range).map_err(|stop| self.refused(stop))?;
        for choice in choices {
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
