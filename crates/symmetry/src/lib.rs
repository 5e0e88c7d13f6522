//! Finds the symmetries of a model automatically: permutations of its literals (slot = value) that preserve behaviour
//! and properties. From text to functions (the crate `quotient_functions`), from functions to a coloured graph
//! (`graph`), from its automorphisms to candidates (`detect`), and from candidates to a certified group (`certify`).
//!
//! Certification shares with detection the functions and their normal forms, both computed by the same code, so a
//! mistake there can mislead both. It does not share the graph, the search for its automorphisms, or their
//! interpretation. Only the exhaustive evaluation of the text by the reference interpreter (`certify/exhaust.rs`) is
//! independent of all of that; it has a budget and does not cover everything. The [`CertificationReport`] counts what
//! it covered.
//!
//! Everything that can take long draws on a [`Budget`](quotient_ir::Budget) and gives up when it is spent or
//! interrupted: this is an error ([`DetectionError::GaveUp`]), never another group.

mod certify;
mod declared;
mod describe;
mod detect;
mod error;
mod exchanges;
mod explain;
mod graph;
mod individuals;
mod interchangeable;
mod literals;
mod markers;
mod partial;
mod places;
mod relabelling;
mod text;
mod watch;

pub use certify::{CertificationReport, CertifiedGroup, Certifier, FirstSlots, InstanceAction, InstanceMap, Rejection};
pub use declared::{Declared, Refused, declared, declared_preserving};
pub use describe::{Describer, Description, Moved, TypeMove, ValueMove};
pub use detect::{Detection, PhaseTimes, PropertyCost, detect, detect_preserving, detect_with_cost};
pub use error::{DetectionError, Uncertified};
pub use explain::{Completed, EXPLAINED, Explainer, Explanation, Family, Reason, Request};
pub use individuals::Individuals;
pub use interchangeable::{InstanceOrbit, InterchangeableValues};
pub use literals::{Literals, NoAction, SlotLiterals, SlotMove, StateMap};
pub use markers::{MarkerScratch, Marking, NoMarkers};
pub use partial::{
    Arrangement, Cause, Classification, Desk, Edge, EdgeInstance, Families, Family as MemberFamily, Held, Kind, Need,
    OwnPart, PartialSymmetry, Partition, PropertySymmetry, Refusal as PartialRefusal, RuleSymmetry, Sharing, Target,
    TooManyStates, Witness, classify, most_permutations, unwind,
};
pub use quotient_functions::{Fixed, Instance, Preserved, Subject};
pub use text::{
    Contradiction, Limit, Role, RoleReport, Scope, Shape, Shapes, TextSymmetries, Uses, symmetries_of_text,
};
pub use watch::watch;
