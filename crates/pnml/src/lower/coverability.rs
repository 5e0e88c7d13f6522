//! Which places of a net are unbounded, what the others can hold at most, and which numbers of tokens can be reached or
//! exceeded: the minimal coverability set.
//!
//! R. M. Karp, R. E. Miller: *Parallel program schemata*, 1969, explore markings with ω for numbers that grow without
//! bound. Leaving out what larger markings cover, as they are found, gives wrong sets if it is done carelessly (A. Finkel,
//! 1991). This is the algorithm of P.-A. Reynier, F. Servais: *Minimal coverability set for Petri nets: Karp and Miller
//! algorithm with pruning*, Petri Nets 2011: nodes that are left out still count when others are judged. Whatever
//! is found is checked: every step from a marking of the set must be covered by the set, so finite bounds are right.

use std::collections::VecDeque;

use super::super::net::Net;
use super::unfolding::{Change, Firing, Unfolding, unfold};

/// The most comparisons of numbers of tokens.
const MOST_WORK: u64 = 200_000_000;

/// A number that grows without bound.
const UNBOUNDED: i64 = i64::MAX;

/// What the markings that can be reached, or exceeded, say about places.
#[derive(Debug)]
pub(super) struct Coverability {
    /// The greatest number of tokens of one colour of each place; none if there is no greatest.
    pub(super) bounds: Vec<Option<i64>>,
    /// A run that can be repeated at its end, if a place is unbounded.
    pub(super) pump: Option<Pump>,
    /// The net, colour by colour.
    pub(super) unfolding: Unfolding,
    /// The minimal coverability set.
    set: Vec<Vec<i64>>,
}

/// A condition on cells that more tokens do not turn false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    All(Vec<Goal>),
    Any(Vec<Goal>),
    /// The sum of some cells, each with a positive weight, is at least this.
    AtLeast {
        weights: Vec<(usize, i64)>,
        tokens: i128,
    },
}

impl Goal {
    /// What always holds.
    pub(super) const ALWAYS: Self = Self::All(Vec::new());
    /// What never holds.
    pub(super) const NEVER: Self = Self::Any(Vec::new());

    /// Whether it holds where numbers of tokens are at least those of a marking, as far as these are finite, and as large as
    /// need be otherwise.
    fn holds_up_to(&self, marking: &[i64]) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds_up_to(marking)),
            Self::Any(parts) => parts.iter().any(|part| part.holds_up_to(marking)),
            Self::AtLeast { weights, tokens } => {
                let is_unbounded = |&(cell, _): &(usize, i64)| marking[cell] == UNBOUNDED;
                let sum = || weights.iter().map(|&(cell, weight)| i128::from(marking[cell]) * i128::from(weight)).sum();
                weights.iter().any(is_unbounded) || tokens <= &sum()
            }
        }
    }
}

impl Coverability {
    /// Whether a condition holds in some reachable marking. Reachable markings come as close as one likes to each marking of the
    /// set, and none exceeds all of them; the condition does not mind more tokens.
    pub(super) fn reaches(&self, goal: &Goal) -> bool {
        self.set.iter().any(|marking| goal.holds_up_to(marking))
    }
}

/// Firings from the initial marking, and then firings that can be repeated for ever, each time with more tokens in a place.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) place: usize,
    pub(super) before: Vec<Firing>,
    pub(super) repeated: Vec<Firing>,
}

/// The same for the cells of an unfolding, with the positions of its changes.
#[derive(Debug)]
struct Cover {
    bounds: Vec<Option<i64>>,
    pump: Option<CellPump>,
    set: Vec<Vec<i64>>,
}

#[derive(Debug, PartialEq, Eq)]
struct CellPump {
    cell: usize,
    before: Vec<usize>,
    repeated: Vec<usize>,
}

/// The coverability of a net, colour by colour. None if that needs too much work.
pub(super) fn coverability(net: &Net) -> Option<Coverability> {
    let unfolding = unfold(net)?;
    let found = unfolding.cover()?;
    let mut bounds = vec![Some(0); net.places.len()];
    for (&place, bound) in unfolding.places.iter().zip(&found.bounds) {
        let known: &mut Option<i64> = &mut bounds[place];
        *known = known.zip(*bound).map(|(known, own)| known.max(own));
    }
    let pump = found.pump.map(|CellPump { cell, before, repeated }| {
        let firings =
            |changes: Vec<usize>| changes.into_iter().map(|it| unfolding.changes[it].firing.clone()).collect();
        Pump { place: unfolding.places[cell], before: firings(before), repeated: firings(repeated) }
    });
    Some(Coverability { bounds, pump, unfolding, set: found.set })
}

impl Change {
    /// The marking after this; none if it cannot fire, an error if numbers become too large.
    fn fire(&self, marking: &[i64]) -> Result<Option<Vec<i64>>, TooLarge> {
        if self.takes.iter().any(|&(place, tokens)| marking[place] < tokens) {
            return Ok(None);
        }
        let mut after = marking.to_vec();
        for &(place, tokens) in self.takes.iter().filter(|(place, _)| marking[*place] != UNBOUNDED) {
            after[place] -= tokens;
        }
        for &(place, tokens) in self.adds.iter().filter(|(place, _)| marking[*place] != UNBOUNDED) {
            after[place] = after[place].checked_add(tokens).filter(|&sum| sum != UNBOUNDED).ok_or(TooLarge)?;
        }
        Ok(Some(after))
    }
}

/// Numbers became too large.
#[derive(Debug)]
struct TooLarge;

/// A node of the tree.
struct Node {
    marking: Vec<i64>,
    parent: Option<usize>,
    /// The position of the transition that leads here.
    by: usize,
    is_active: bool,
}

fn is_covered(marking: &[i64], by: &[i64]) -> bool {
    marking.iter().zip(by).all(|(left, right)| left <= right)
}

impl Unfolding {
    fn cover(&self) -> Option<Cover> {
        let mut work = MOST_WORK;
        let width = self.initial.len().max(1) as u64;
        let mut pump = None;
        let mut nodes = vec![Node { marking: self.initial.clone(), parent: None, by: 0, is_active: true }];
        let mut waiting: VecDeque<(usize, usize)> = (0..self.changes.len()).map(|by| (0, by)).collect();
        while let Some((parent, by)) = waiting.pop_front() {
            if !nodes[parent].is_active {
                continue;
            }
            work = work.checked_sub(1)?;
            let Some(mut marking) = self.changes[by].fire(&nodes[parent].marking).ok()? else { continue };
            work = work.checked_sub(2 * width * nodes.len() as u64)?;
            let ancestors: Vec<usize> = std::iter::successors(Some(parent), |&node| nodes[node].parent).collect();
            self.accelerate(&nodes, &ancestors, by, &mut marking, &mut pump);
            if nodes.iter().any(|node| node.is_active && is_covered(&marking, &node.marking)) {
                continue;
            }
            // What this covers is left out, and all that follows from it.
            let mut is_left_out = vec![false; nodes.len()];
            for number in 0..nodes.len() {
                let node = &nodes[number];
                let is_smaller =
                    (node.is_active || !ancestors.contains(&number)) && is_covered(&node.marking, &marking);
                is_left_out[number] = is_smaller || node.parent.is_some_and(|parent| is_left_out[parent]);
            }
            for (node, is_left_out) in nodes.iter_mut().zip(is_left_out) {
                node.is_active &= !is_left_out;
            }
            let new = nodes.len();
            nodes.push(Node { marking, parent: Some(parent), by, is_active: true });
            waiting.extend((0..self.changes.len()).map(|by| (new, by)));
        }
        let set: Vec<Vec<i64>> = nodes.into_iter().filter(|node| node.is_active).map(|node| node.marking).collect();
        let is_closed = self.is_closed(&set, &mut work)?;
        debug_assert!(is_closed, "a step leaves the coverability set");
        let greatest = |cell: usize| set.iter().map(|marking| marking[cell]).max().filter(|&most| most != UNBOUNDED);
        let bounds = (0..self.initial.len()).map(greatest).collect();
        is_closed.then_some(Cover { bounds, pump, set })
    }

    /// Replaces numbers that have grown since a smaller marking on the way here by ω.
    fn accelerate(
        &self,
        nodes: &[Node],
        ancestors: &[usize],
        by: usize,
        marking: &mut [i64],
        pump: &mut Option<CellPump>,
    ) {
        let before = marking.to_vec();
        for &ancestor in ancestors.iter().filter(|&&ancestor| nodes[ancestor].is_active) {
            let earlier = &nodes[ancestor].marking;
            if !is_covered(earlier, &before) {
                continue;
            }
            for cell in (0..before.len()).filter(|&cell| earlier[cell] < before[cell]) {
                marking[cell] = UNBOUNDED;
                // Without ω before, the run is one of the net.
                if pump.is_none() && !before.contains(&UNBOUNDED) {
                    let mut run: Vec<usize> = ancestors
                        .iter()
                        .filter(|&&node| nodes[node].parent.is_some())
                        .map(|&node| nodes[node].by)
                        .collect();
                    run.reverse();
                    let depth = std::iter::successors(nodes[ancestor].parent, |&node| nodes[node].parent).count();
                    let mut repeated = run.split_off(depth);
                    repeated.push(by);
                    *pump = Some(CellPump { cell, before: run, repeated });
                }
            }
        }
    }

    /// Whether markings cover the initial one and every step from them. None if that is too much work.
    fn is_closed(&self, set: &[Vec<i64>], work: &mut u64) -> Option<bool> {
        let width = self.initial.len().max(1) as u64;
        let is_covered_by_set = |marking: &[i64]| set.iter().any(|known| is_covered(marking, known));
        if !is_covered_by_set(&self.initial) {
            return Some(false);
        }
        for marking in set {
            for change in &self.changes {
                let Some(after) = change.fire(marking).ok()? else { continue };
                *work = work.checked_sub(width * set.len() as u64)?;
                if !is_covered_by_set(&after) {
                    return Some(false);
                }
            }
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(transition: usize, takes: Vec<(usize, i64)>, adds: Vec<(usize, i64)>) -> Change {
        Change { firing: Firing { transition, values: Vec::new() }, takes, adds }
    }

    /// A small net from a seed (xorshift).
    fn random(seed: u64) -> Unfolding {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |limit: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % limit
        };
        let places = 2 + below(4) as usize;
        let initial = (0..places).map(|_| [0, 0, 1, 2][below(4) as usize]).collect();
        let changes = (0..1 + below(5) as usize).map(|number| {
            let mut arcs = |most: u64| {
                let mut tokens = vec![0i64; places];
                for _ in 0..below(most) {
                    tokens[below(places as u64) as usize] += 1;
                }
                tokens.into_iter().enumerate().filter(|(_, tokens)| *tokens > 0).collect::<Vec<_>>()
            };
            change(number, arcs(4), arcs(4))
        });
        Unfolding { initial, changes: changes.collect(), places: (0..places).collect() }
    }

    /// The greatest numbers of tokens, if there are not too many markings.
    fn searched(net: &Unfolding, most: usize) -> Option<Vec<i64>> {
        let mut seen = std::collections::BTreeSet::from([net.initial.clone()]);
        let mut pending = vec![net.initial.clone()];
        while let Some(marking) = pending.pop() {
            if seen.len() > most {
                return None;
            }
            for after in net.changes.iter().filter_map(|change| change.fire(&marking).expect("small numbers")) {
                if seen.insert(after.clone()) {
                    pending.push(after);
                }
            }
        }
        let places = 0..net.initial.len();
        Some(places.map(|place| seen.iter().map(|marking| marking[place]).max().unwrap_or(0)).collect())
    }

    /// The tree of Karp and Miller as it was first, without leaving anything out: where it is unbounded.
    fn tree(net: &Unfolding, most: usize) -> Option<Vec<Option<i64>>> {
        let mut greatest = net.initial.clone();
        let mut branches = vec![vec![net.initial.clone()]];
        let mut nodes = 0;
        while let Some(branch) = branches.pop() {
            nodes += 1;
            if nodes > most {
                return None;
            }
            let last = branch.last().expect("a branch is not empty");
            greatest.iter_mut().zip(last).for_each(|(most, own)| *most = (*most).max(*own));
            if branch[..branch.len() - 1].contains(last) {
                continue;
            }
            for mut after in net.changes.iter().filter_map(|change| change.fire(last).expect("small numbers")) {
                let smaller: Vec<&Vec<i64>> = branch.iter().filter(|marking| is_covered(marking, &after)).collect();
                let grown: Vec<usize> =
                    (0..after.len()).filter(|&place| smaller.iter().any(|it| it[place] < after[place])).collect();
                grown.into_iter().for_each(|place| after[place] = UNBOUNDED);
                branches.push(branch.iter().cloned().chain([after]).collect());
            }
        }
        Some(greatest.into_iter().map(|most| (most != UNBOUNDED).then_some(most)).collect())
    }

    #[test]
    fn random_nets_have_the_bounds_that_a_search_finds() {
        let count = std::env::var("QUOTIENT_RANDOM_COUNTERS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000);
        let (mut bounded, mut unbounded) = (0, 0);
        for seed in 1..=count {
            let net = random(seed);
            let Some(found) = net.cover() else { continue };
            if let Some(expected) = tree(&net, 3_000) {
                assert_eq!(found.bounds, expected, "seed {seed}");
            }
            match (&found.pump, searched(&net, 5_000)) {
                (None, expected) => {
                    if let Some(expected) = expected {
                        assert_eq!(found.bounds, expected.into_iter().map(Some).collect::<Vec<_>>(), "seed {seed}");
                    }
                    bounded += 1;
                }
                (Some(_), Some(_)) => panic!("seed {seed}: a net with few markings is unbounded"),
                (Some(pump), None) => {
                    assert_eq!(found.bounds[pump.cell], None, "seed {seed}");
                    let mut marking = net.initial.clone();
                    let mut run = |numbers: &[usize]| {
                        for &number in numbers {
                            let after = net.changes[number].fire(&marking).expect("small numbers");
                            marking = after.unwrap_or_else(|| panic!("seed {seed}: {number} cannot fire"));
                        }
                        marking[pump.cell]
                    };
                    let mut tokens = run(&pump.before);
                    for _ in 0..5 {
                        let more = run(&pump.repeated);
                        assert!(more > tokens, "seed {seed}");
                        tokens = more;
                    }
                    unbounded += 1;
                }
            }
        }
        assert!(bounded > 100 && unbounded > 100, "{bounded} and {unbounded}");
    }

    /// A place that the marking equation does not bound, and that stays empty: two tokens are never there to fill it.
    #[test]
    fn what_never_fires_fills_nothing() {
        let changes = vec![change(0, vec![(0, 1)], vec![(1, 1)]), change(1, vec![(1, 2)], vec![(1, 2), (2, 1)])];
        let net = Unfolding { initial: vec![1, 0, 0], changes, places: vec![0, 1, 2] };
        let found = net.cover().expect("little work");
        assert_eq!((found.bounds, found.pump), (vec![Some(1), Some(1), Some(0)], None));
    }

    /// What is left out depends on the order in which markings are found; the result must not.
    #[test]
    fn every_order_of_transitions_gives_the_same() {
        for seed in 1..=300 {
            let net = random(seed);
            let Some(expected) = net.cover() else { continue };
            let mut reversed = random(seed);
            reversed.changes.reverse();
            assert_eq!(reversed.cover().expect("the same work").bounds, expected.bounds, "seed {seed}");
        }
    }
}
