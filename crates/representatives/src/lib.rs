//! Representatives: one state of each orbit of a certified group.
//!
//! A state is a set of points that the group permutes (`points`). The group is decomposed into factors that move
//! different points (`factor`), and each factor is treated by a method that suits its structure: interchangeable
//! objects are sorted by their keys (`keys`, `nesting`) or, if they refer to each other, labelled by colour refinement
//! (`labelling`), rings are rotated (`rotation`), the elements of small groups are listed (`elements`) or chosen by
//! sums over the parts of a state (`invariants`), and everything else is searched in the stabiliser chain
//! ([`quotient_groups::ImageSearch`]). The action of one factor does not depend on the points of another, so treating
//! them one after the other is exact. Knows nothing of how the group was found.
//!
//! `canonicalizer` applies the method that `strategy` names. `near` sorts successors of a representative, `twins`
//! finds successors that are alike, `rows` and `stages` avoid labelling where that is possible, `segments` has the
//! published methods for comparison. `multisets` sorts elements again; `orbit` and `cardinality` enumerate and count
//! orbits.

mod canonicalizer;
mod cardinality;
mod elements;
mod factor;
mod invariants;
mod keys;
mod labelling;
mod multisets;
mod near;
mod nesting;
mod orbit;
mod points;
mod rotation;
mod rows;
mod segments;
mod stages;
mod strategy;
mod twins;

pub use canonicalizer::{Canonicalizer, Workspace};
pub use cardinality::Cardinality;
pub use factor::MethodKind;
pub use strategy::{Strategy, Unsupported};
