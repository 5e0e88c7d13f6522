//! Finds the symmetry of a model by itself: permutations of its literals (slot = value) that leave
//! behaviour and properties unchanged. Text to functions (the crate `quotient_functions`), functions to a
//! coloured graph (`graph`), its automorphisms to candidates (`detect`), candidates to a certified group
//! (`certify`).
//!
//! What certification shares with detection: the functions and their normal forms, both by the same code, so that a
//! mistake there can mislead both. What it does not share: the graph, the search for its automorphisms, and what
//! these are taken to mean. Independent of all of that is only the exhaustive evaluation of the text by the
//! reference interpreter (`certify/exhaust.rs`), which has a budget and does not come to everything; the
//! [`CertificationReport`] counts what it came to.
//!
//! Whatever can take long draws on a [`Budget`](quotient_ir::Budget) and gives up when that is spent, or when
//! somebody interrupts it: an error ([`DetectionError::GaveUp`]), never another group.

mod canonical;
mod certify;
mod declared;
mod describe;
mod detect;
mod exchanges;
mod explain;
mod full;
mod graph;
mod literals;
mod markers;
mod partial;
mod places;
mod relabelling;

pub use canonical::{Canonicalizer, Strategy, Unsupported, Workspace};
pub use certify::{
    CertificationReport, CertifiedGroup, Certifier, InstanceAction, InstanceMap, InstanceOrbit, InterchangeableValues,
    Rejection,
};
pub use declared::{Declared, Refused, declared, declared_preserving};
pub use describe::{Describer, Description, Moved, TypeMove, ValueMove};
pub use detect::{
    Detection, DetectionError, PhaseTimes, PropertyCost, Uncertified, detect, detect_preserving, detect_with_cost,
};
pub use explain::{Completed, EXPLAINED, Explainer, Explanation, Family, Individuals, Reason, Request};
pub use full::{NoFullEncoding, full_symmetries};
pub use literals::{Literals, NoAction, SlotLiterals, SlotMove, StateMap};
pub use markers::{MarkerScratch, Marking, NoMarkers};
pub use partial::{
    Arrangement, Cause, Classification, Desk, Edge, EdgeInstance, Families, Family as MemberFamily, Held, Kind, Need,
    OwnPart, PartialSymmetry, Partition, PropertySymmetry, Refusal as PartialRefusal, RuleSymmetry, Sharing, Target,
    TooManyStates, Witness, classify, most_permutations, unwind,
};
pub use quotient_functions::{Fixed, Instance, Preserved, Subject};
