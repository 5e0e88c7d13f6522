//! Finds the symmetry of a model by itself: permutations of its literals (slot = value) that leave
//! behaviour and properties unchanged. Text to functions (`unfold`, `circuit`, `behaviour`),
//! functions to a coloured graph (`graph`), its automorphisms to candidates (`detect`), and, sharing
//! no code with any of that, candidates to a certified group (`certify`).

mod behaviour;
mod canonical;
mod certify;
mod circuit;
mod declared;
mod describe;
mod detect;
mod exchanges;
mod explain;
mod graph;
mod literals;
mod mentions;
mod places;
mod possible;
mod unfold;

pub use behaviour::{Fixed, LivenessInstances};
pub use canonical::{Canonicalizer, Strategy, Unsupported, Workspace};
pub use certify::{
    CertificationReport, CertifiedGroup, Certifier, Instance, InterchangeableValues, Rejection, Subject,
};
pub use declared::{Declared, Refused, declared};
pub use describe::{Describer, Description, Moved, TypeMove, ValueMove};
pub use detect::{Detection, PhaseTimes, Uncertified, detect, detect_with};
pub use explain::{Explainer, Family, Reason, Request};
pub use literals::{Literals, NoAction, SlotLiterals, SlotMove, StateMap};
