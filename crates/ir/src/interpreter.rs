//! The reference interpreter: naive and obviously right. Every other way to run a model is
//! compared with it, and every violation is replayed on it.
//!
//! The doc comments of expressions, places and statements say what they mean; this follows them to
//! the letter, over cells that hold an integer or nothing. What they leave open is settled here:
//! * Shifts by 64 or more in either direction give 0, whatever is shifted; a shift to the left
//!   drops the bits that leave the word.
//! * The quotient and the remainder of the least integer by -1 overflow.
//! * A bound variable or loop variable has its own contents inside the binder; what the local held
//!   before is there again after it.
//! * Copying nothing into a cell that cannot be undefined is an undefined read.
//! * A failed assume statement that a guard calls makes the guard false.

mod evaluation;
mod execution;
mod instances;
mod machine;
mod type_facts;

use crate::fault::Fault;
use crate::index::{LocalId, PropertyId, RuleId, StartId, Table};
use crate::layout::{Layout, Valuation};
use crate::model::{Local, Model, Parameter};
use instances::Instances;
use machine::{Machine, Stop};
use type_facts::TypeFacts;

/// What a step of a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// An initial-state program.
    Start(StartId),
    /// A rule.
    Rule(RuleId),
}

/// What came of executing an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A state.
    Next {
        /// The state after the step, its multisets in normal form.
        state: Valuation,
        /// The properties of the cover statements reached with a true condition, each once, in
        /// increasing order.
        covered: Vec<PropertyId>,
    },
    /// An assume statement failed: the step is dropped.
    Pruned,
    /// The step went wrong.
    Fault(Fault),
}

/// Runs a model one step at a time.
#[derive(Clone, Debug)]
pub struct Interpreter<'m> {
    model: &'m Model,
    layout: &'m Layout,
    facts: TypeFacts,
}

impl<'m> Interpreter<'m> {
    /// An interpreter for a model that [`crate::verify()`] accepts. On others it may panic.
    pub fn new(model: &'m Model, layout: &'m Layout) -> Self {
        Self { model, layout, facts: TypeFacts::new(model) }
    }
    /// The model it runs.
    pub fn model(&self) -> &'m Model {
        self.model
    }
    /// The layout of its states.
    pub fn layout(&self) -> &'m Layout {
        self.layout
    }
    /// All valuations of parameters in order, the last one fastest; the cells of all parameters
    /// one after the other. Made one at a time: there may be very many.
    pub fn instances(
        &self,
        parameters: &[Parameter],
        locals: &Table<LocalId, Local>,
    ) -> impl Iterator<Item = Vec<i64>> + use<'m> {
        debug_assert!(parameters.iter().all(|parameter| locals.get(parameter.local).is_some()));
        Instances::new(self.model, parameters)
    }
    /// Whether `arguments` is one of the [`Interpreter::instances`], without a walk through them.
    pub fn is_instance(&self, parameters: &[Parameter], arguments: &[i64]) -> bool {
        Instances::new(self.model, parameters).contains(arguments)
    }
    /// Runs an instance of an initial-state program on the state with nothing in it.
    pub fn run_start(&self, start: StartId, arguments: &[i64]) -> Outcome {
        let entry = &self.model.starts[start];
        let initial = self.layout.initial();
        let mut machine = Machine::new(self, &initial.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        let result = machine.execute_all(&entry.body);
        self.outcome(machine, result.map(|_| ()))
    }
    /// Whether an instance of a rule can fire.
    ///
    /// # Errors
    /// If the guard has no value.
    pub fn enabled(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Result<bool, Fault> {
        let entry = &self.model.rules[rule];
        let mut machine = Machine::new(self, &state.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        condition(machine.evaluate(entry.guard))
    }
    /// Runs the body of an instance of a rule, without a look at its guard.
    pub fn fire(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Outcome {
        let entry = &self.model.rules[rule];
        let mut machine = Machine::new(self, &state.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        let result = machine.execute_all(&entry.body);
        self.outcome(machine, result.map(|_| ()))
    }
    /// Whether the condition of an instance of a property holds in a state. The property of a
    /// cover statement, which has no condition, holds nowhere.
    ///
    /// # Errors
    /// If the condition has no value.
    pub fn holds(&self, property: PropertyId, arguments: &[i64], state: &Valuation) -> Result<bool, Fault> {
        let entry = &self.model.properties[property];
        let Some(expression) = entry.condition else {
            return Ok(false);
        };
        let mut machine = Machine::new(self, &state.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        condition(machine.evaluate(expression))
    }

    fn outcome(&self, machine: Machine<'_, '_>, result: Result<(), Box<Stop>>) -> Outcome {
        match result {
            Ok(()) => {
                let (cells, covered) = machine.finish();
                let mut state = Valuation(cells);
                self.layout.normalize(&mut state);
                Outcome::Next { state, covered }
            }
            Err(stop) => match *stop {
                Stop::Pruned => Outcome::Pruned,
                Stop::Fault(fault) => Outcome::Fault(fault),
            },
        }
    }
}

fn condition(result: Result<i64, Box<Stop>>) -> Result<bool, Fault> {
    match result {
        Ok(value) => Ok(value != 0),
        Err(stop) => match *stop {
            Stop::Pruned => Ok(false),
            Stop::Fault(fault) => Err(fault),
        },
    }
}

#[cfg(test)]
mod tests;
