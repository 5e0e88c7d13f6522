//! How the runs of a model with operations (a B machine) are told: each step is a call with arguments and results, and
//! variables are shown once they have values. It means nothing else.

use crate::index::{FunctionId, RuleId, Table, TypeId, VariableId};
use crate::notation::Notation;

/// What a model with operations says about its steps and states.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// What each rule stands for.
    pub calls: Table<RuleId, OperationCall>,
    /// How far a run has come, if the model has a variable for that.
    pub stages: Option<Stages>,
}

/// The variable that says how far a run has come.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The variable, which is not shown.
    pub variable: VariableId,
    /// The variables that have values from some value of it on, and that value.
    pub since: Vec<(VariableId, i64)>,
}

/// What a rule stands for.
#[derive(Clone, Debug)]
pub struct OperationCall {
    /// The name of the operation.
    pub name: String,
    /// Whether it is an operation of the text; otherwise it leads to an initial state.
    pub is_operation: bool,
    /// Its arguments by name, in the order of the text.
    pub arguments: Vec<(String, CallValue)>,
    /// Its results by name.
    pub results: Vec<(String, CallValue)>,
}

/// A value that an operation takes or gives.
#[derive(Clone, Debug)]
pub enum CallValue {
    /// One that is the same for all instances of the rule.
    Text(String),
    /// Cells of the parameters of the rule, from one on.
    Parameters(usize, ParameterNotation),
    /// What a function of the parameters of the rule gives in the state before the step.
    Computed(FunctionId, Notation),
}

/// How the cells of parameters make up a value.
#[derive(Clone, Debug)]
pub enum ParameterNotation {
    /// A value of one parameter.
    Value(TypeId, Notation),
    /// Two values.
    Pair(Box<ParameterNotation>, Box<ParameterNotation>),
    /// A value for each field.
    Record(Vec<(String, ParameterNotation)>),
}
