//! The transition system on the reference interpreter: slow, and correct by definition. Others are compared with it.

use std::ops::ControlFlow;

use quotient_ir::{Action, Interpreter, Outcome, PropertyId, RuleId};

use quotient_search::{
    Batches, Event, Facts, FieldTest, Instance, RuleInstance, Selection, Sink, TransitionSystem, Visit, VisitTruth,
};
use quotient_systems::{StartSieve, StartsUpTo};

/// The number of consecutive instances that cannot fire before the search is notified.
const IDLE_INTERVAL: u32 = 4096;

/// Runs a model on the reference interpreter.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceSystem<'m> {
    interpreter: &'m Interpreter<'m>,
}

impl<'m> ReferenceSystem<'m> {
    /// The transition system of a model.
    pub fn new(interpreter: &'m Interpreter<'m>) -> Self {
        Self { interpreter }
    }

    fn present(
        &self,
        instance: Instance<'_>,
        outcome: Outcome,
        words: &mut [u64],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        match outcome {
            Outcome::Next { state, covered } => {
                self.interpreter.layout().pack(&state, words);
                visit(instance, Event::Next { state: words, covered: &covered })
            }
            Outcome::Pruned => visit(instance, Event::Pruned),
            Outcome::Fault(fault) => visit(instance, Event::Fault(fault)),
        }
    }
}

impl TransitionSystem for ReferenceSystem<'_> {
    /// The words of a successor.
    type Scratch = Vec<u64>;

    fn scratch(&self) -> Vec<u64> {
        vec![0; self.words()]
    }

    fn words(&self) -> usize {
        self.interpreter.layout().words()
    }

    fn starts(&self, scratch: &mut Vec<u64>, visit: &mut Visit<'_>) {
        for (id, start) in self.interpreter.model().starts.iter_enumerated() {
            for arguments in self.interpreter.instances(&start.parameters, &start.locals) {
                let instance = Instance { action: Action::Start(id), arguments: &arguments };
                let outcome = self.interpreter.run_start(id, &arguments);
                if self.present(instance, outcome, scratch, visit).is_break() {
                    return;
                }
            }
        }
    }

    fn successors(&self, scratch: &mut Vec<u64>, state: &[u64], visit: &mut Visit<'_>) {
        let state = self.interpreter.layout().unpack(state);
        let mut idle = 0;
        for (id, rule) in self.interpreter.model().rules.iter_enumerated() {
            for arguments in self.interpreter.instances(&rule.parameters, &rule.locals) {
                let instance = Instance { action: Action::Rule(id), arguments: &arguments };
                let outcome = match self.interpreter.enabled(id, &arguments, &state) {
                    Ok(true) => self.interpreter.fire(id, &arguments, &state),
                    Ok(false) => {
                        idle += 1;
                        if idle % IDLE_INTERVAL == 0 && visit(instance, Event::Idle).is_break() {
                            return;
                        }
                        continue;
                    }
                    Err(fault) => Outcome::Fault(fault),
                };
                if self.present(instance, outcome, scratch, visit).is_break() {
                    return;
                }
            }
        }
    }

    fn evaluate(&self, _scratch: &mut Vec<u64>, property: PropertyId, state: &[u64], visit: &mut VisitTruth<'_>) {
        let entry = &self.interpreter.model().properties[property];
        if entry.formula.condition().is_none() {
            return;
        }
        let state = self.interpreter.layout().unpack(state);
        for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
            if visit(&arguments, self.interpreter.holds(property, &arguments, &state)).is_break() {
                return;
            }
        }
    }
}

impl StartsUpTo for ReferenceSystem<'_> {
    fn starts_up_to(&self, scratch: &mut Self::Scratch, _sieve: &StartSieve, visit: &mut Visit<'_>) {
        self.starts(scratch, visit);
    }
}

impl Batches for ReferenceSystem<'_> {
    #[inline]
    fn facts(&self) -> &dyn Facts {
        self
    }

    fn expand(&self, scratch: &mut Vec<u64>, state: &[u64], sink: &mut dyn Sink) {
        self.successors(scratch, state, &mut |instance, event| sink.event(instance, event));
    }

    fn expand_some(&self, scratch: &mut Vec<u64>, state: &[u64], selection: Selection<'_>, sink: &mut dyn Sink) {
        self.successors(scratch, state, &mut |instance, event| {
            let is_it = |chosen: &RuleInstance| {
                Action::Rule(chosen.rule) == instance.action && *chosen.arguments == *instance.arguments
            };
            if selection.iter().any(is_it) { sink.event(instance, event) } else { ControlFlow::Continue(()) }
        });
    }
}

impl Facts for ReferenceSystem<'_> {
    fn is_safe(&self, _tag: u64, _state: &[u64]) -> bool {
        false
    }

    fn field_test(&self, _property: PropertyId) -> Option<FieldTest> {
        None
    }

    fn last_word(&self) -> u64 {
        u64::MAX
    }

    fn fired_rules(&self) -> Vec<RuleId> {
        Vec::new()
    }

    fn note_fired_rules(&self, _rules: &[RuleId]) {}
}
