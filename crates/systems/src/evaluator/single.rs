//! A single instance of a rule.

use quotient_ir::{Action, RuleId};

use super::{EvaluatorScratch, Fired, SpecialisedSystem, Translation};
use quotient_search::{Instance, Visit};

impl SpecialisedSystem<'_> {
    /// Fires one instance of a rule in a state. Nothing is visited if its guard is false.
    pub fn fire_instance(
        &self,
        scratch: &mut EvaluatorScratch,
        rule: RuleId,
        arguments: &[i64],
        state: &[u64],
        visit: &mut Visit<'_>,
    ) {
        let EvaluatorScratch { memory, words, .. } = scratch;
        memory.set_state(state);
        let fired = match &self.rules[rule] {
            Translation::Specialised(units) => {
                // Units are in the order of their arguments; instances that can never fire have no unit.
                match units.binary_search_by(|unit| unit.arguments[..].cmp(arguments)) {
                    Ok(position) => self.fire(&units[position], arguments, memory, state),
                    Err(_) => Fired::Disabled,
                }
            }
            Translation::General(_, unit) => self.fire(unit, arguments, memory, state),
            Translation::Reference => Fired::Escape,
        };
        let instance = Instance { action: Action::Rule(rule), arguments };
        let _ = self.present(fired, instance, memory, words, state, visit);
    }
}
