//! A model as functions of its state.

mod behaviour;
mod circuit;
mod instance;
mod intervals;
mod mentions;
mod multisets;
mod possible;
mod unfold;

pub use behaviour::{Behaviour, Claim, ClaimKey, Fixed, InputMove, Preserved, unfold, unfold_over};
pub use circuit::{
    Circuit, KnownValues, Linear, Node, NodeId, Operation, Relabelling, Relation, TooLarge, Users, Value, ValueSet,
};
pub use instance::{Instance, Subject};
pub use multisets::{Multiset, Multisets};
pub use possible::{Holds, Possible, TiedSlots, Ties, possible_values, tied_values};
pub use unfold::{Event, EventKey, Write, Written};
