//! What symmetries exchange freely: values of types, and instances of properties.

use quotient_groups::SparsePermutation;
use quotient_ir::{PropertyId, TypeId};

/// Values of a type that can be exchanged freely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterchangeableValues {
    /// The type.
    pub ty: TypeId,
    /// The values, at least two.
    pub values: Vec<i64>,
    /// The certified exchange of each value with the next.
    pub exchanges: Vec<SparsePermutation>,
}

/// Instances of a property that symmetries exchange: what one of them says about a state, every other one says about an
/// image of that state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceOrbit {
    /// The property.
    pub property: PropertyId,
    /// The cells of the parameters of each instance, in order of enumeration. At least two.
    pub instances: Vec<Vec<i64>>,
}
