//! The reference interpreter: naive and obviously correct. Every other way to run a model is compared with it, and
//! every violation is replayed on it.
//!
//! The doc comments of expressions, places and statements define their meaning; the interpreter follows them literally,
//! over cells that hold an integer or are undefined. What they leave open is defined here:
//! * Shifts by 64 or more in either direction give 0, whatever is shifted; a shift to the left
//!   drops the bits that leave the word.
//! * The quotient and the remainder of the least integer by -1 overflow.
//! * A bound variable or loop variable has its own contents inside the binder; afterwards the local has its previous
//!   contents again.
//! * Copying an undefined cell into a cell that cannot be undefined is an undefined read.
//! * A failed assume statement in a function called by a guard makes the guard false.

mod context;
mod evaluation;
mod execution;
mod footprint;
mod instances;
mod machine;
mod printing;
mod type_facts;

use crate::behaviour::{EventLabel, INTERNAL_EVENT, event_text};
use crate::budget::Interrupt;
use crate::expression::Iteration;
use crate::fault::Fault;
use crate::formula::TemporalClaim;
use crate::index::{ExprId, FunctionId, LocalId, PropertyId, RuleId, StartId, Table, TableIndex};
use crate::layout::{Layout, Valuation};
use crate::model::{Action, Local, Model, Parameter, PropertyKind};
use crate::statement::Statement;
pub use context::{CallContext, DecidingPart, FailureContext, NamedValue};
use execution::Flow;
pub use footprint::Footprint;
use instances::Instances;
use machine::{Machine, Stop};
use type_facts::TypeFacts;

fn fault_of(value: Result<i64, Box<Stop>>) -> Result<i64, Fault> {
    value.map_err(|stop| match *stop {
        Stop::Fault(fault) => fault,
        Stop::Pruned => unreachable!("an expression has no statement that drops a state"),
    })
}

/// What is visible of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It is not a step of a process.
    Nothing,
    /// It is internal.
    Internal,
    /// The text of its event.
    Event(String),
}

/// The outcome of executing an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A state.
    Next {
        /// The state after the step, with multisets in normal form.
        state: Valuation,
        /// The properties of the cover statements reached with a true condition, each once, in
        /// increasing order.
        covered: Vec<PropertyId>,
    },
    /// An assume statement failed: the step is dropped.
    Pruned,
    /// The step caused a run-time error.
    Fault(Fault),
}

/// Runs a model one step at a time.
#[derive(Clone, Debug)]
pub struct Interpreter<'m> {
    model: &'m Model,
    layout: &'m Layout,
    facts: TypeFacts,
    interrupt: Option<Interrupt>,
}

impl<'m> Interpreter<'m> {
    /// An interpreter for a model that [`crate::verify()`] accepts. It may panic on others.
    pub fn new(model: &'m Model, layout: &'m Layout) -> Self {
        Self { model, layout, facts: TypeFacts::new(model), interrupt: None }
    }
    /// The same, but it gives up on a step (as on one that does not seem to terminate) once the interrupt is raised.
    pub fn until(mut self, interrupt: &Interrupt) -> Self {
        self.interrupt = Some(interrupt.clone());
        self
    }
    /// The model it runs.
    pub fn model(&self) -> &'m Model {
        self.model
    }
    /// The layout of its states.
    pub fn layout(&self) -> &'m Layout {
        self.layout
    }
    /// All valuations of parameters in order, the last one fastest; the cells of all parameters concatenated. Generated
    /// one at a time: there may be very many.
    pub fn instances(
        &self,
        parameters: &[Parameter],
        locals: &Table<LocalId, Local>,
    ) -> impl Iterator<Item = Vec<i64>> + use<'m> {
        debug_assert!(parameters.iter().all(|parameter| locals.get(parameter.local).is_some()));
        Instances::new(self.model, parameters)
    }
    /// Whether `arguments` is one of the [`Interpreter::instances`], without enumerating them.
    pub fn is_instance(&self, parameters: &[Parameter], arguments: &[i64]) -> bool {
        Instances::new(self.model, parameters).contains(arguments)
    }
    /// Runs an instance of an initial-state program on the initial state, in which nothing is set.
    pub fn run_start(&self, start: StartId, arguments: &[i64]) -> Outcome {
        let entry = &self.model.starts[start];
        let initial = self.layout.initial();
        let mut machine = Machine::new(self, &initial.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        self.execute(machine, &entry.body).0
    }
    /// Whether an instance of a rule can fire.
    ///
    /// # Errors
    /// If the evaluation of the guard fails.
    pub fn enabled(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Result<bool, Fault> {
        condition(self.rule_machine(rule, arguments, state).evaluate(self.model.rules[rule].guard))
    }
    /// Like [`Interpreter::enabled`], with the slots that the guard reads.
    pub fn enabled_with_footprint(
        &self,
        rule: RuleId,
        arguments: &[i64],
        state: &Valuation,
    ) -> (Result<bool, Fault>, Footprint) {
        let mut machine = self.rule_machine(rule, arguments, state).recording();
        let result = condition(machine.evaluate(self.model.rules[rule].guard));
        (result, machine.footprint())
    }
    /// Runs the body of an instance of a rule, without checking its guard.
    pub fn fire(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Outcome {
        self.execute(self.rule_machine(rule, arguments, state), &self.model.rules[rule].body).0
    }
    /// The text of the event of an instance, which is that of the state before the step. Internal steps are one event.
    /// None if the rule has no event, or a value of it cannot be evaluated.
    pub fn event_of(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Option<String> {
        match &self.model.participation.get(rule.position())?.event {
            EventLabel::Nothing => None,
            EventLabel::Internal => Some(INTERNAL_EVENT.to_owned()),
            EventLabel::Event { name, values } => {
                let value = |&value: &ExprId| self.rule_machine(rule, arguments, state).evaluate(value).ok();
                Some(event_text(name, &values.iter().map(value).collect::<Option<Vec<i64>>>()?))
            }
        }
    }
    /// What a step prints, up to where it goes wrong, if it does. The state before it is that of a rule; a start has
    /// none.
    pub fn printed(&self, action: Action, arguments: &[i64], before: Option<&Valuation>) -> String {
        let initial = self.layout.initial();
        let (mut machine, body) = match (action, before) {
            (Action::Start(start), _) => {
                let entry = &self.model.starts[start];
                let mut machine = Machine::new(self, &initial.0, &entry.locals, entry.span);
                machine.set_parameters(&entry.parameters, arguments);
                (machine, &entry.body)
            }
            (Action::Rule(rule), Some(state)) => {
                (self.rule_machine(rule, arguments, state), &self.model.rules[rule].body)
            }
            (Action::Rule(_), None) => return String::new(),
        };
        machine.printed = Some(String::new());
        // Whether it goes wrong is for others to say.
        let _ = machine.execute_all(body);
        machine.printed.unwrap_or_default()
    }
    /// Like [`Interpreter::fire`], with the slots that the body reads and writes.
    pub fn fire_with_footprint(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> (Outcome, Footprint) {
        self.execute(self.rule_machine(rule, arguments, state).recording(), &self.model.rules[rule].body)
    }
    /// Whether the condition of an instance of a property holds in a state. The property of a
    /// cover statement, which has no condition, holds nowhere.
    ///
    /// # Errors
    /// If the evaluation of the condition fails.
    pub fn holds(&self, property: PropertyId, arguments: &[i64], state: &Valuation) -> Result<bool, Fault> {
        let Some(expression) = self.model.properties[property].formula.condition() else {
            return Ok(false);
        };
        condition(self.property_machine(property, arguments, state).evaluate(expression))
    }
    /// The conditions of an instance of a temporal property that hold in a state, as bits. One without a value does not
    /// hold.
    ///
    /// # Panics
    /// If there are more than 64.
    pub fn letter(&self, property: PropertyId, arguments: &[i64], state: &Valuation) -> u64 {
        let Some(temporal) = self.model.properties[property].formula.temporal() else { return 0 };
        assert!(temporal.atoms.len() <= 64, "a temporal formula has at most 64 conditions");
        let holds = |&atom| condition(self.property_machine(property, arguments, state).evaluate(atom)) == Ok(true);
        temporal.atoms.iter().enumerate().fold(0, |letter, (bit, atom)| letter | u64::from(holds(atom)) << bit)
    }
    /// What is visible of the steps of a rule in a state, for a claim about events.
    ///
    /// # Errors
    /// If a value of the event has none.
    pub fn shown(&self, property: PropertyId, rule: RuleId, state: &Valuation) -> Result<Shown, Fault> {
        let claim = self.model.properties[property].formula.temporal().map(|temporal| &temporal.claim);
        let Some(TemporalClaim::Behaviour(behaviour)) = claim else { return Ok(Shown::Nothing) };
        self.event(&behaviour.labels[rule.position()], rule, state)
    }
    /// What is visible of the steps of a rule without parameters in a state.
    ///
    /// # Errors
    /// If a value of the event has none.
    pub fn event(&self, label: &EventLabel, rule: RuleId, state: &Valuation) -> Result<Shown, Fault> {
        match label {
            EventLabel::Nothing => Ok(Shown::Nothing),
            EventLabel::Internal => Ok(Shown::Internal),
            EventLabel::Event { name, values } => {
                let value = |&value: &ExprId| fault_of(self.rule_machine(rule, &[], state).evaluate(value));
                let values: Result<Vec<i64>, Fault> = values.iter().map(value).collect();
                Ok(Shown::Event(event_text(name, &values?)))
            }
        }
    }
    /// The value of an expression that belongs to a property without parameters, such as one of an event.
    ///
    /// # Errors
    /// If the evaluation fails.
    pub fn value_at(&self, property: PropertyId, value: ExprId, state: &Valuation) -> Result<i64, Fault> {
        fault_of(self.property_machine(property, &[], state).evaluate(value))
    }
    /// Whether no assumption drops a state; one without a value does.
    pub fn is_assumed(&self, state: &Valuation) -> bool {
        let properties = self.model.properties.iter_enumerated();
        properties.filter(|(_, entry)| entry.kind == PropertyKind::Assumption).all(|(property, entry)| {
            let mut instances = self.instances(&entry.parameters, &entry.locals);
            instances.all(|arguments| self.holds(property, &arguments, state) == Ok(true))
        })
    }
    /// Whether a state is transient.
    pub fn passes(&self, state: &Valuation) -> bool {
        self.model.passing().any(|property| self.holds(property, &[], state) == Ok(true))
    }
    /// Like [`Interpreter::holds`], with the slots that the condition reads.
    pub fn holds_with_footprint(
        &self,
        property: PropertyId,
        arguments: &[i64],
        state: &Valuation,
    ) -> (Result<bool, Fault>, Footprint) {
        let Some(expression) = self.model.properties[property].formula.condition() else {
            return (Ok(false), Footprint::default());
        };
        let mut machine = self.property_machine(property, arguments, state).recording();
        let result = condition(machine.evaluate(expression));
        (result, machine.footprint())
    }

    /// What a function without effects gives for the cells of its parameters in a state; nothing if it goes wrong.
    pub fn value_of(&self, function: FunctionId, arguments: &[i64], state: &Valuation) -> Option<Vec<Option<i64>>> {
        let entry = &self.model.functions[function];
        let parameter = |&local: &LocalId| Parameter { local, range: Iteration::Over(entry.locals[local].ty) };
        let parameters: Vec<Parameter> = entry.parameters.iter().map(parameter).collect();
        let mut machine = Machine::new(self, &state.0, &entry.locals, entry.span);
        machine.frames[0] = machine.new_frame(&entry.locals, Some(function));
        machine.set_parameters(&parameters, arguments);
        match machine.execute_all(&entry.body) {
            Ok(Flow::Return(cells)) => cells,
            _ => None,
        }
    }

    fn rule_machine<'i>(&'i self, rule: RuleId, arguments: &[i64], state: &'i Valuation) -> Machine<'i, 'm> {
        let entry = &self.model.rules[rule];
        let mut machine = Machine::new(self, &state.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        machine
    }

    fn property_machine<'i>(
        &'i self,
        property: PropertyId,
        arguments: &[i64],
        state: &'i Valuation,
    ) -> Machine<'i, 'm> {
        let entry = &self.model.properties[property];
        let mut machine = Machine::new(self, &state.0, &entry.locals, entry.span);
        machine.set_parameters(&entry.parameters, arguments);
        machine
    }

    /// Runs a body to its end.
    fn execute(&self, mut machine: Machine<'_, 'm>, body: &'m [Statement]) -> (Outcome, Footprint) {
        let result = machine.execute_all(body).map(|_| ());
        let footprint = machine.footprint();
        (self.outcome(machine, result), footprint)
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
