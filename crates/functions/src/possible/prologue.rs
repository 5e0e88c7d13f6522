//! The states before anything is stored: the initial states, and the transient states that they lead to (processes that
//! are created in one atomic sequence, say). They are few, and running them shows what single slots cannot: how often a
//! loop runs, how many processes there are.

use quotient_ir::{
    BinaryOperator, Budget, Expr, Interpreter, Layout, Model, Outcome, PlaceId, Root, RuleId, SlotId, Spent, Step,
    TableIndex, TypeKind, Valuation,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{GivenUp, instances};

/// The largest number of states that are run.
const STATES: usize = 4096;
/// The instances whose guards are evaluated, or the slots that are copied, for one unit of work.
const PER_WORK: u64 = 2;

/// The states before anything is stored.
pub(super) struct Prologue {
    /// Initial states that are stored.
    pub(super) starts: Vec<Valuation>,
    /// The transient states.
    pub(super) passed: Vec<Valuation>,
    /// Where they lead to.
    pub(super) ends: Vec<Valuation>,
}

/// Runs a model until its states are stored. None if nothing is passed through, or that goes on for long.
pub(super) fn prologue(model: &Model, layout: &Layout, budget: &Budget) -> Result<Option<Prologue>, Spent> {
    if model.passing().next().is_none() || !layout.multisets().is_empty() {
        return Ok(None);
    }
    let interpreter = Interpreter::new(model, layout);
    let mut rules = ByPlace::default();
    for (rule, entry) in model.rules.iter_enumerated() {
        let Some(all) = listed(instances(&interpreter, model, &entry.parameters, &entry.locals, budget))? else {
            return Ok(None);
        };
        for arguments in all {
            rules.insert(model, layout, rule, arguments);
        }
    }
    let mut seen: FxHashSet<Valuation> = FxHashSet::default();
    let mut pending: Vec<Valuation> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        let Some(all) = listed(instances(&interpreter, model, &entry.parameters, &entry.locals, budget))? else {
            return Ok(None);
        };
        for arguments in all {
            budget.spend(layout.slots.len() as u64 / PER_WORK)?;
            if let Outcome::Next { state, .. } = interpreter.run_start(start, &arguments)
                && seen.insert(state.clone())
            {
                pending.push(state);
            }
            if pending.len() > STATES {
                return Ok(None);
            }
        }
    }
    let (mut starts, mut passed, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(state) = pending.pop() {
        let candidates = rules.candidates(&state);
        budget.spend((1 + candidates.len() + layout.slots.len()) as u64 / PER_WORK)?;
        for (rule, arguments) in candidates {
            if interpreter.enabled(*rule, arguments, &state) != Ok(true) {
                continue;
            }
            let Outcome::Next { state: next, .. } = interpreter.fire(*rule, arguments, &state) else { continue };
            if !seen.insert(next.clone()) {
                continue;
            }
            if interpreter.passes(&next) { pending.push(next) } else { ends.push(next) }
        }
        if interpreter.passes(&state) {
            passed.push(state)
        } else {
            starts.push(state)
        }
        if starts.len() + passed.len() + pending.len() + ends.len() > STATES {
            return Ok(None);
        }
    }
    Ok(Some(Prologue { starts, passed, ends }))
}

type RuleArguments = (RuleId, Vec<i64>);

/// Instances of rules by what their guards ask of one slot: that of a place in the text of a process, as a rule.
#[derive(Default)]
struct ByPlace {
    /// For each slot, the instances that need a value of it.
    keyed: FxHashMap<SlotId, FxHashMap<i64, Vec<RuleArguments>>>,
    /// All others.
    others: Vec<RuleArguments>,
}

impl ByPlace {
    fn insert(&mut self, model: &Model, layout: &Layout, rule: RuleId, arguments: Vec<i64>) {
        let mut guard = model.rules[rule].guard;
        // What is asked first is asked in any case.
        while let &Expr::Binary { operator: BinaryOperator::And, left, .. } = &model.pool[guard] {
            guard = left;
        }
        let key = match &model.pool[guard] {
            &Expr::Binary { operator: BinaryOperator::Equal, left, right } => {
                match (&model.pool[left], &model.pool[right]) {
                    (&Expr::Read(place), &Expr::Constant { value, .. }) => {
                        slot_of(model, layout, rule, &arguments, place).map(|slot| (slot, value))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        match key {
            Some((slot, value)) => {
                self.keyed.entry(slot).or_default().entry(value).or_default().push((rule, arguments));
            }
            None => self.others.push((rule, arguments)),
        }
    }

    /// The instances that may be possible in a state, in a fixed order.
    fn candidates(&self, state: &Valuation) -> Vec<&RuleArguments> {
        let held = self.keyed.iter().filter_map(|(&slot, by_value)| by_value.get(&state[slot]?));
        let mut all: Vec<_> = held.flatten().chain(&self.others).collect();
        all.sort_unstable();
        all
    }
}

/// The slot at a place of a rule, if its indices are constants or parameters.
fn slot_of(model: &Model, layout: &Layout, rule: RuleId, arguments: &[i64], place: PlaceId) -> Option<SlotId> {
    let place = &model.pool[place];
    let Root::Variable(variable) = place.root else { return None };
    let mut ty = model.variables[variable].ty;
    let mut offset = 0;
    for step in &place.steps {
        match (step, &model.types[ty].kind) {
            (Step::Field(field), TypeKind::Record { fields }) => {
                offset += fields[..*field as usize].iter().map(|field| model.cells(field.ty)).sum::<u64>();
                ty = fields[*field as usize].ty;
            }
            (&Step::Index(index), &TypeKind::Array { index: index_type, element }) => {
                let value = match model.pool[index] {
                    Expr::Constant { value, .. } => value,
                    Expr::Read(read) => parameter(model, rule, arguments, read)?,
                    _ => return None,
                };
                offset += model.domain(index_type).code_of(value)? * model.cells(element);
                ty = element;
            }
            _ => return None,
        }
    }
    Some(SlotId::from_position(layout.first_slot(variable).position() + offset as usize))
}

/// The value of a parameter of a rule whose parameters are all scalars.
fn parameter(model: &Model, rule: RuleId, arguments: &[i64], place: PlaceId) -> Option<i64> {
    let place = &model.pool[place];
    let parameters = &model.rules[rule].parameters;
    let Root::Local(local) = place.root else { return None };
    let position = parameters.iter().position(|parameter| parameter.local == local)?;
    let is_plain = place.steps.is_empty() && arguments.len() == parameters.len();
    is_plain.then(|| arguments[position])
}

/// The arguments of all instances, if they are enumerated.
fn listed(instances: Result<Vec<Option<Vec<i64>>>, GivenUp>) -> Result<Option<Vec<Vec<i64>>>, Spent> {
    match instances {
        Ok(instances) => Ok(instances.into_iter().collect()),
        Err(GivenUp::Spent) => Err(Spent),
        Err(GivenUp::TooMuch) => Ok(None),
    }
}
