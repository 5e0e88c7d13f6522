//! The states before anything is stored: the initial states, and the transient states that they lead to (processes that
//! are created in one atomic sequence, say). They are few, and running them shows what single slots cannot: how often a
//! loop runs, how many processes there are.

use quotient_ir::{Budget, Interpreter, Layout, Model, Outcome, RuleId, Spent, Valuation};
use rustc_hash::FxHashSet;

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
    let mut rules: Vec<(RuleId, Vec<i64>)> = Vec::new();
    for (rule, entry) in model.rules.iter_enumerated() {
        let Some(all) = listed(instances(&interpreter, model, &entry.parameters, &entry.locals, budget))? else {
            return Ok(None);
        };
        rules.extend(all.into_iter().map(|arguments| (rule, arguments)));
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
        budget.spend(1 + (rules.len() + layout.slots.len()) as u64 / PER_WORK)?;
        for (rule, arguments) in &rules {
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

/// The arguments of all instances, if they are enumerated.
fn listed(instances: Result<Vec<Option<Vec<i64>>>, GivenUp>) -> Result<Option<Vec<Vec<i64>>>, Spent> {
    match instances {
        Ok(instances) => Ok(instances.into_iter().collect()),
        Err(GivenUp::Spent) => Err(Spent),
        Err(GivenUp::TooMuch) => Ok(None),
    }
}
