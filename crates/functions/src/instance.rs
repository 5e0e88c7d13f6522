//! Instances: a rule, an initial-state program or a property together with the values of its parameters.

use quotient_ir::{Action, PropertyId};

/// An instance of a rule, initial-state program or property.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// What it is an instance of.
    pub subject: Subject,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
}

/// What there are instances of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A rule or an initial-state program.
    Action(Action),
    /// A property.
    Property(PropertyId),
}
