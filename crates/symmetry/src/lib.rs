//! Finds the symmetry of a model by itself: permutations of its literals (slot = value) that leave
//! behaviour and properties unchanged. Text to functions (`unfold`, `circuit`, `behaviour`),
//! functions to a coloured graph (`graph`), its automorphisms to candidates (`detect`), and, sharing
//! no code with any of that, candidates to a certified group (`certify`).

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
pub use explain::{Explainer, Family, Reason, Request};
pub use full::{NoFullEncoding, full_symmetries};
pub use literals::{Literals, NoAction, SlotLiterals, SlotMove, StateMap};
pub use markers::{MarkerScratch, Marking, NoMarkers};
pub use partial::{
    Arrangement, Cause, Classification, Desk, Edge, EdgeInstance, Families, Family as MemberFamily, Held, Kind, Need,
    OwnPart, PartialSymmetry, Partition, PropertySymmetry, Refusal as PartialRefusal, RuleSymmetry, Sharing, Target,
    TooManyStates, Witness, classify, most_permutations, unwind,
};
pub use quotient_functions::{Fixed, Instance, Preserved, Subject};
