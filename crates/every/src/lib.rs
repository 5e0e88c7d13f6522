//! Claims about every size: a property of all members of a family of models that differ in the number of
//! interchangeable objects of one type ([why so](../../../docs/adr/0038-every-size.md)) or
//! [two](../../../docs/adr/0044-two-types-for-every-size.md), or of [objects in a
//! line](../../../docs/adr/0049-order-for-every-size.md). Knows no other engine; the facade searches small members.
//!
//! * `constants`: the constants of a claim, and values of them;
//! * `family`: what the members share, and their states as what is shared and what each object holds;
//! * `comparison`: whether two models are the same text;
//! * `classification`: how many objects a step concerns, shown from the text, or what stands against it;
//! * `exchanges`: whether the text shows that objects can be exchanged;
//! * `regions`: members as they are read, and regions of those in which some constants are fixed;
//! * `rows`: the numbers of what objects hold, and in which order they stand;
//! * `scope`: which members a search is about, and which it needs;
//! * `views`: a set of views of states that no step leaves;
//! * `backward`: parts of states that no reachable state contains, found from what is wrong;
//! * `cutoff`: [how many objects suffice](../../../docs/adr/0053-cut-offs.md) for any number of them, shown from the
//!   text;
//! * `recheck`: what was found by either, checked by other code, and whether a small member has all views;
//! * `door`: each of these searches as an engine, which is started and paced as all others are.
//!
//! To accept more texts, see `classification` (what a step concerns) and `family` (states of objects); compare with
//! brute force in `testkit/tests/all/every.rs`. `testkit/src/random_families.rs` has random families.

mod backward;
mod classification;
mod comparison;
mod constants;
mod cutoff;
mod door;
mod exchanges;
mod family;
mod obstacle;
mod recheck;
mod regions;
mod rows;
mod scope;
mod sizes;
#[cfg(test)]
mod tests;
mod views;

pub use backward::{BackwardLimits, BackwardOutcome};
pub use classification::{Need, Needs};
pub use constants::{EverySize, EveryValue, contain};
pub use cutoff::{CutOff, Guards, multisets};
pub use door::{
    Backward, BackwardQuestion, Comparison, ComparisonQuestion, Contents, ContentsQuestion, Recheck, RecheckQuestion,
    Relation, Views, ViewsQuestion,
};
pub use family::{Member, Members, Objects};
pub use obstacle::Obstacle;
pub use recheck::{Compared, Contradiction, Unchecked};
pub use regions::{Family, Reading, Region, Text, Unread};
pub use scope::{Scope, Selection};
pub use sizes::{MOST_SORTS, Sizes};
pub use views::{Invariant, ViewsOutcome};
