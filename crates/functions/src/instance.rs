//! Instances: a rule, an initial-state program or a property together with the values of its parameters.

use quotient_ir::{Action, PropertyId};

/// An instance of a rule, initial-state program or property.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// The rule, initial-state program or property.
    pub subject: Subject,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
}

/// A rule, initial-state program or property: what an instance is an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A rule or an initial-state program.
    Action(Action),
    /// A property.
    Property(PropertyId),
}
