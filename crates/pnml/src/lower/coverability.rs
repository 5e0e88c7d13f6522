//! What is known of a net that is not bounded by its marking equation, from the vector net that it unfolds to.

use super::unfolding::{Firing, Unfolding, unfold};
use crate::net::Net;
use quotient_covering::{Covering, MOST_WORK, at_most};

/// What the markings that can be reached, or exceeded, say about places.
#[derive(Debug)]
pub(super) struct Coverability {
    /// The greatest number of tokens of one colour of each place; none if there is no greatest.
    pub(super) bounds: Vec<Option<i64>>,
    /// A run that can be repeated at its end, if a place is unbounded.
    pub(super) pump: Option<Pump>,
    /// The net, colour by colour.
    pub(super) unfolding: Unfolding,
    /// Covers all reachable markings.
    pub(super) set: Vec<Vec<i64>>,
}

/// Firings from the initial marking, and then firings that can be repeated for ever, each time with more tokens in a place.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) place: usize,
    pub(super) before: Vec<Firing>,
    pub(super) repeated: Vec<Firing>,
}

/// The coverability of a net, colour by colour. None if that needs too much work.
pub(super) fn coverability(net: &Net) -> Option<Coverability> {
    let unfolding = unfold(net)?;
    let Covering { pump, certificate } = unfolding.net.cover(&mut at_most(MOST_WORK))?;
    let mut bounds = vec![Some(0); net.places.len()];
    for (&place, bound) in unfolding.places.iter().zip(certificate.bounds()) {
        let known: &mut Option<i64> = &mut bounds[place];
        *known = known.zip(bound).map(|(known, own)| known.max(own));
    }
    let pump = pump.map(|pump| {
        let firings = |changes: Vec<usize>| changes.into_iter().map(|it| unfolding.firings[it].clone()).collect();
        Pump { place: unfolding.places[pump.cell], before: firings(pump.before), repeated: firings(pump.repeated) }
    });
    Some(Coverability { bounds, pump, unfolding, set: certificate.markings().to_vec() })
}
