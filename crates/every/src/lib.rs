//! Claims about every size: a property of all members of a family of models that differ in the number of
//! interchangeable objects of one type ([why so](../../../docs/adr/0038-every-size.md)) or
//! [two](../../../docs/adr/0044-two-types-for-every-size.md), or of [objects in a
//! line](../../../docs/adr/0049-order-for-every-size.md). Knows no other engine; the facade searches small members.
//!
//! * `family`: what the members share, and their states as what is shared and what each object holds;
//! * `comparison`: whether two models are the same text;
//! * `classification`: how many objects a step concerns, shown from the text, or what stands against it;
//! * `rows`: the numbers of what objects hold, and in which order they stand;
//! * `scope`: which members a search is about, and which it needs;
//! * `views`: a set of views of states that no step leaves;
//! * `backward`: parts of states that no reachable state contains, found from what is wrong;
//! * `cutoff`: [how many objects suffice](../../../docs/adr/0053-cut-offs.md) for any number of them, shown from the
//!   text;
//! * `recheck`: what was found by either, checked by other code, and whether a small member has all views.
//!
//! To accept more texts, see `classification` (what a step concerns) and `family` (states of objects); compare with
//! brute force in `testkit/tests/all/every.rs`. `testkit/src/random_families.rs` has random families.

mod backward;
mod classification;
mod comparison;
mod cutoff;
mod family;
mod obstacle;
mod recheck;
mod rows;
mod scope;
mod sizes;
mod views;

pub use backward::{Backward, BackwardLimits, backward};
pub use classification::{Need, Needs, classify};
pub use cutoff::{CutOff, Guards, cut_off};
pub use family::{Member, Objects};
pub use obstacle::Obstacle;
pub use recheck::{Comparison, Contradiction, Unchecked, compare, compare_smaller, recheck};
pub use scope::Scope;
pub use sizes::{MOST_SORTS, Sizes};
pub use views::{Attempt, Invariant, Members, attempt, contents_of_one};
