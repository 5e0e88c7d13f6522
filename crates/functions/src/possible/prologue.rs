//! The states before anything is stored: the initial states, and the transient states that they lead to (processes that
//! are created in one atomic sequence, say). They are few, and running them shows what single slots cannot: how often a
//! loop runs, how many processes there are.

use quotient_ir::{Budget, Interpreter, Layout, Model, Outcome, RuleId, SlotId, Spent, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::required::required;
use super::{GivenUp, instances};

/// The largest number of states that are run.
const STATES: usize = 4096;
/// The slots that are copied or packed for one unit of work.
const SLOTS_PER_WORK: u64 = 8;
/// The guards that are evaluated for one unit of work.
const GUARDS_PER_WORK: u64 = 2;

/// The states before anything is stored, by the values of each slot.
pub(super) struct Prologue {
    /// Initial states that are stored.
    pub(super) starts: SlotValues,
    /// The transient states.
    pub(super) passed: SlotValues,
    /// Where they lead to.
    pub(super) ends: SlotValues,
}

/// The values that each slot holds in some states, in increasing order, undefined first.
#[derive(Default)]
pub(super) struct SlotValues {
    pub(super) values: Vec<Vec<Option<i64>>>,
    states: usize,
}

impl SlotValues {
    fn add(&mut self, state: &Valuation) {
        self.states += 1;
        self.values.resize(state.0.len(), Vec::new());
        for (values, &value) in self.values.iter_mut().zip(&state.0) {
            if let Err(position) = values.binary_search(&value) {
                values.insert(position, value);
            }
        }
    }
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
    // Packed, since whole valuations of some thousand states take longer to copy than to find.
    let mut seen: FxHashSet<Box<[u64]>> = FxHashSet::default();
    let mut words = vec![0; layout.words()];
    let mut is_new = |state: &Valuation| {
        words.fill(0);
        layout.try_pack(state, &mut words).then(|| {
            (!seen.contains(&*words)).then(|| {
                let packed: Box<[u64]> = words.as_slice().into();
                seen.insert(packed.clone());
                packed
            })
        })
    };
    let slots = layout.slots.len() as u64;
    let mut pending: Vec<(Box<[u64]>, bool)> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        let Some(all) = listed(instances(&interpreter, model, &entry.parameters, &entry.locals, budget))? else {
            return Ok(None);
        };
        for arguments in all {
            budget.spend(slots / SLOTS_PER_WORK)?;
            if let Outcome::Next { state, .. } = interpreter.run_start(start, &arguments) {
                let Some(packed) = is_new(&state) else { return Ok(None) };
                pending.extend(packed.map(|packed| (packed, interpreter.passes(&state))));
            }
            if pending.len() > STATES {
                return Ok(None);
            }
        }
    }
    let [mut starts, mut passed, mut ends] = [(); 3].map(|()| SlotValues::default());
    while let Some((packed, is_passed)) = pending.pop() {
        let state = layout.unpack(&packed);
        let candidates = rules.candidates(&state);
        budget.spend(1 + candidates.len() as u64 / GUARDS_PER_WORK + slots / SLOTS_PER_WORK)?;
        for (rule, arguments) in candidates {
            if interpreter.enabled(*rule, arguments, &state) != Ok(true) {
                continue;
            }
            let Outcome::Next { state: next, .. } = interpreter.fire(*rule, arguments, &state) else { continue };
            budget.spend(slots / SLOTS_PER_WORK)?;
            match is_new(&next) {
                None => return Ok(None),
                Some(None) => {}
                Some(Some(packed)) if interpreter.passes(&next) => pending.push((packed, true)),
                Some(Some(_)) => ends.add(&next),
            }
        }
        let own = if is_passed { &mut passed } else { &mut starts };
        own.add(&state);
        if starts.states + passed.states + pending.len() + ends.states > STATES {
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
        match required(model, layout, rule, &arguments) {
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

/// The arguments of all instances, if they are enumerated.
fn listed(instances: Result<Vec<Option<Vec<i64>>>, GivenUp>) -> Result<Option<Vec<Vec<i64>>>, Spent> {
    match instances {
        Ok(instances) => Ok(instances.into_iter().collect()),
        Err(GivenUp::Spent) => Err(Spent),
        Err(GivenUp::TooMuch) => Ok(None),
    }
}
