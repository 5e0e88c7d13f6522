//! Finds the symmetries of a model automatically: permutations of its literals (slot = value) that preserve behaviour
//! and properties. Knows nothing of how states are searched.
//!
//! 1. `text` shows what the text alone tells ([rationale](../../../docs/adr/0022-symmetry-from-the-text.md)). A search
//!    uses this at once; what follows is done beside it, for as much work as that is worth ([by
//!    cost](../../../docs/adr/0024-detection-by-cost.md)).
//! 2. The crate `quotient_functions` makes functions of the model, in a normal form that the order of the text does
//!    not change.
//! 3. `graph` encodes these as a coloured graph; `detect` makes candidates of its automorphisms.
//! 4. `certify` proves for each candidate that it maps rules to rules, starts to starts and properties to themselves.
//!    Only `certify` makes a [`CertifiedGroup`].
//!
//! Certification shares with detection the functions and their normal forms, both computed by the same code, so a
//! mistake there can mislead both. It does not share the graph, the search for its automorphisms, or their
//! interpretation. Only the exhaustive evaluation of the text by the reference interpreter (`certify/exhaust.rs`) is
//! independent of all of that; it has a budget and does not cover everything. The [`CertificationReport`] counts what
//! it covered.
//!
//! In addition: `literals`, `relabelling`, `exchanges` and `interchangeable` are the action of the group on states and
//! values; `markers` has orbit invariants (the crate `quotient_representatives` maps states to representatives);
//! `partial` computes which processes each single rule distinguishes; `describe` writes a symmetry in terms of the
//! text, `explain` finds the part of the text that breaks one, `declared` reads scalarset declarations.
//!
//! To show more from the text, change the inference and the checker, each on its own:
//! `testkit/tests/all/text_symmetry.rs` compares with functions and brute force. To detect more, change the normal
//! forms of `quotient_functions`: `testkit/tests/all/symmetry.rs` compares with all symmetries of small models, and
//! `docs/detection-completeness.md` says how complete detection is. `testkit/src/symmetry_oracle` has the encoding of
//! the paper as an oracle.
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
