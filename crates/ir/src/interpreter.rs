//! The reference interpreter: naive and obviously right. Every other way to run a model is
//! compared with it, and every violation is replayed on it.

use crate::fault::Fault;
use crate::index::{LocalId, PropertyId, RuleId, StartId, Table};
use crate::layout::{Layout, Valuation};
use crate::model::{Local, Model, Parameter};

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
        /// The state after the step.
        state: Valuation,
        /// The cover statements reached with a true condition, in order, each once.
        covered: Vec<PropertyId>,
    },
    /// An assume statement failed: the step is dropped.
    Pruned,
    /// The step went wrong.
    Fault(Fault),
}

/// Runs a model one step at a time.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'m> {
    model: &'m Model,
    layout: &'m Layout,
}

impl<'m> Interpreter<'m> {
    /// An interpreter for a model that [`crate::verify()`] accepts.
    pub fn new(model: &'m Model, layout: &'m Layout) -> Self {
        Self { model, layout }
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
    /// one after the other.
    pub fn instances(
        &self,
        parameters: &[Parameter],
        locals: &Table<LocalId, Local>,
    ) -> impl Iterator<Item = Vec<i64>> + use<'m> {
        let _ = (parameters, locals);
        std::iter::once(Vec::new())
    }
    /// Runs an initial-state program.
    pub fn run_start(&self, start: StartId, arguments: &[i64]) -> Outcome {
        let _ = (start, arguments);
        Outcome::Pruned
    }
    /// Whether an instance of a rule can fire.
    ///
    /// # Errors
    /// If the guard has no value.
    pub fn enabled(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Result<bool, Fault> {
        let _ = (rule, arguments, state);
        Ok(false)
    }
    /// Runs the body of an instance of a rule, without a look at its guard.
    pub fn fire(&self, rule: RuleId, arguments: &[i64], state: &Valuation) -> Outcome {
        let _ = (rule, arguments, state);
        Outcome::Pruned
    }
    /// Whether the condition of an instance of a property holds in a state. A cover property
    /// without a condition holds nowhere.
    ///
    /// # Errors
    /// If the condition has no value.
    pub fn holds(&self, property: PropertyId, arguments: &[i64], state: &Valuation) -> Result<bool, Fault> {
        let _ = (property, arguments, state);
        Ok(false)
    }
}
