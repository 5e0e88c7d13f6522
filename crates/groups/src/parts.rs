//! The parts of a group: actions on a few orbits and blocks of orbits that are jointly faithful, for the recognition of
//! arrangements and the search for images.

use num_bigint::BigUint;

use crate::action::Action;
use crate::reduction::faithful_orbits;
use crate::structure;

/// The largest orbit that is searched for blocks.
const LARGEST_ORBIT: usize = 4096;
/// The number of block systems considered for each orbit.
const SYSTEMS: usize = 24;

/// Transitive actions on orbits and blocks of orbits that are jointly faithful, and as few and small as was easy to
/// find.
pub(crate) fn faithful_parts(action: &Action, order: &BigUint) -> Vec<Action> {
    let (candidates, needed) = candidates(action, order);
    candidates.into_iter().zip(needed).filter(|(_, needed)| *needed).map(|(action, _)| action).collect()
}

/// Actions on orbits and blocks of orbits, small ones first, and which of them are kept as jointly faithful.
pub(crate) fn candidates(action: &Action, order: &BigUint) -> (Vec<Action>, Vec<bool>) {
    let mut candidates: Vec<Action> = Vec::new();
    for orbit in faithful_orbits(action) {
        if orbit.len() <= LARGEST_ORBIT {
            let partners = structure::partners(action, &orbit);
            for system in action.block_systems(&orbit, &partners, SYSTEMS) {
                candidates.push(action.on_blocks(&system));
            }
        }
        candidates.push(action.restricted_to(&orbit));
    }
    candidates.sort_by_key(Action::degree);
    candidates.dedup_by(|left, right| left.generators() == right.generators());
    // The largest ones that are not needed are dropped.
    let mut needed = vec![true; candidates.len()];
    for index in (0..candidates.len()).rev() {
        needed[index] = false;
        let rest: Vec<&Action> =
            candidates.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(action, _)| action).collect();
        if rest.is_empty() || structure::order(&Action::side_by_side(&rest)) != *order {
            needed[index] = true;
        }
    }
    (candidates, needed)
}
