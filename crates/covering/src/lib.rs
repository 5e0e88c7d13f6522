//! Vector nets and their minimal coverability sets: which cells are unbounded, what the others can hold at most, and which
//! numbers of tokens can be reached or exceeded. Nothing here knows PNML; a net goes in as vectors, and what comes out is
//! known from a certificate, which is checked by code of its own.
//!
//! R. M. Karp, R. E. Miller: *Parallel program schemata*, 1969, explore markings with ω for numbers that grow without
//! bound. Leaving out what larger markings cover, as they are found, gives wrong sets if it is done carelessly (A. Finkel,
//! 1991). This is the algorithm of P.-A. Reynier, F. Servais: *Minimal coverability set for Petri nets: Karp and Miller
//! algorithm with pruning*, Petri Nets 2011: nodes that are left out still count when others are judged.

mod certificate;

use std::collections::VecDeque;

pub use self::certificate::{Certificate, Goal, Uncertified};

/// The comparisons of numbers of tokens that finding a set should take at most.
pub const MOST_WORK: u64 = 200_000_000;

/// A number that grows without bound, ω.
pub const UNBOUNDED: i64 = i64::MAX;

/// Charges for work, in comparisons of numbers of tokens. None if that is too much.
pub type Charge<'c> = dyn FnMut(u64) -> Option<()> + 'c;

/// Charges up to a limit.
pub fn at_most(limit: u64) -> impl FnMut(u64) -> Option<()> {
    let mut left = limit;
    move |work| {
        left = left.checked_sub(work)?;
        Some(())
    }
}

/// A net of cells whose tokens are all alike.
#[derive(Clone, Debug)]
pub struct VectorNet {
    /// The tokens of each cell.
    pub initial: Vec<i64>,
    /// The ways to fire.
    pub changes: Vec<Change>,
}

/// A way to fire: what it takes of cells, and what it adds to them.
#[derive(Clone, Debug)]
pub struct Change {
    /// Cells and tokens.
    pub takes: Vec<(usize, i64)>,
    /// Cells and tokens.
    pub adds: Vec<(usize, i64)>,
}

/// What is known of the reachable markings.
#[derive(Debug)]
pub struct Covering {
    /// A run that can be repeated at its end, if a cell is unbounded.
    pub pump: Option<Pump>,
    /// Shows what cannot be reached.
    pub certificate: Certificate,
}

/// Changes from the initial marking, and then changes that can be repeated for ever, each time with more tokens in a cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Pump {
    /// A cell that is unbounded.
    pub cell: usize,
    /// The positions of changes from the initial marking.
    pub before: Vec<usize>,
    /// The positions of the changes that are repeated.
    pub repeated: Vec<usize>,
}

/// Whether no cell has more tokens than another marking says.
fn is_covered(marking: &[i64], by: &[i64]) -> bool {
    marking.iter().zip(by).all(|(left, right)| left <= right)
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

impl VectorNet {
    /// The minimal coverability set, checked. None if that needs too much work.
    pub fn cover(&self, charge: &mut Charge<'_>) -> Option<Covering> {
        let width = self.initial.len().max(1) as u64;
        let mut pump = None;
        let mut nodes = vec![Node { marking: self.initial.clone(), parent: None, by: 0, is_active: true }];
        let mut waiting: VecDeque<(usize, usize)> = (0..self.changes.len()).map(|by| (0, by)).collect();
        while let Some((parent, by)) = waiting.pop_front() {
            if !nodes[parent].is_active {
                continue;
            }
            charge(1)?;
            let Some(mut marking) = self.changes[by].fire(&nodes[parent].marking).ok()? else { continue };
            charge(2 * width * nodes.len() as u64)?;
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
        let certificate = Certificate::of(self, set, charge);
        debug_assert_ne!(certificate.as_ref().err(), Some(&Uncertified::NotClosed), "a step leaves the set");
        Some(Covering { pump, certificate: certificate.ok()? })
    }

    /// Replaces numbers that have grown since a smaller marking on the way here by ω.
    fn accelerate(&self, nodes: &[Node], ancestors: &[usize], by: usize, marking: &mut [i64], pump: &mut Option<Pump>) {
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
                    *pump = Some(Pump { cell, before: run, repeated });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(takes: Vec<(usize, i64)>, adds: Vec<(usize, i64)>) -> Change {
        Change { takes, adds }
    }

    fn bounds(found: &Covering) -> Vec<Option<i64>> {
        found.certificate.bounds().collect()
    }

    /// A small net from a seed (xorshift).
    fn random(seed: u64) -> VectorNet {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |limit: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % limit
        };
        let places = 2 + below(4) as usize;
        let initial = (0..places).map(|_| [0, 0, 1, 2][below(4) as usize]).collect();
        let changes = (0..1 + below(5) as usize).map(|_| {
            let mut arcs = |most: u64| {
                let mut tokens = vec![0i64; places];
                for _ in 0..below(most) {
                    tokens[below(places as u64) as usize] += 1;
                }
                tokens.into_iter().enumerate().filter(|(_, tokens)| *tokens > 0).collect::<Vec<_>>()
            };
            change(arcs(4), arcs(4))
        });
        VectorNet { initial, changes: changes.collect() }
    }

    /// The greatest numbers of tokens, if there are not too many markings.
    fn searched(net: &VectorNet, most: usize) -> Option<Vec<i64>> {
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
    fn tree(net: &VectorNet, most: usize) -> Option<Vec<Option<i64>>> {
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
            let Some(found) = net.cover(&mut at_most(MOST_WORK)) else { continue };
            if let Some(expected) = tree(&net, 3_000) {
                assert_eq!(bounds(&found), expected, "seed {seed}");
            }
            match (&found.pump, searched(&net, 5_000)) {
                (None, expected) => {
                    if let Some(expected) = expected {
                        assert_eq!(bounds(&found), expected.into_iter().map(Some).collect::<Vec<_>>(), "seed {seed}");
                    }
                    bounded += 1;
                }
                (Some(_), Some(_)) => panic!("seed {seed}: a net with few markings is unbounded"),
                (Some(pump), None) => {
                    assert_eq!(found.certificate.bound(pump.cell), None, "seed {seed}");
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
        let changes = vec![change(vec![(0, 1)], vec![(1, 1)]), change(vec![(1, 2)], vec![(1, 2), (2, 1)])];
        let net = VectorNet { initial: vec![1, 0, 0], changes };
        let found = net.cover(&mut at_most(MOST_WORK)).expect("little work");
        assert_eq!((bounds(&found), found.pump), (vec![Some(1), Some(1), Some(0)], None));
    }

    /// What is left out depends on the order in which markings are found; the result must not.
    #[test]
    fn every_order_of_transitions_gives_the_same() {
        for seed in 1..=300 {
            let net = random(seed);
            let Some(expected) = net.cover(&mut at_most(MOST_WORK)) else { continue };
            let mut reversed = random(seed);
            reversed.changes.reverse();
            assert_eq!(
                bounds(&reversed.cover(&mut at_most(MOST_WORK)).expect("the same work")),
                bounds(&expected),
                "seed {seed}"
            );
        }
    }

    /// What somebody claims is checked.
    #[test]
    fn only_a_closed_set_is_a_certificate() {
        let net = VectorNet { initial: vec![1, 0], changes: vec![change(vec![(0, 1)], vec![(0, 1), (1, 1)])] };
        let of = |set: Vec<Vec<i64>>| Certificate::of(&net, set, &mut at_most(MOST_WORK)).err();
        assert_eq!(of(vec![vec![1, UNBOUNDED]]), None);
        assert_eq!(of(vec![vec![1, 5]]), Some(Uncertified::NotClosed));
        assert_eq!(of(vec![vec![0, UNBOUNDED]]), Some(Uncertified::NotClosed));
        assert_eq!(of(vec![vec![UNBOUNDED]]), Some(Uncertified::NotClosed), "a cell is missing");
        assert_eq!(of(Vec::new()), Some(Uncertified::NotClosed));
        let too_little = Certificate::of(&net, vec![vec![1, UNBOUNDED]], &mut at_most(1)).err();
        assert_eq!(too_little, Some(Uncertified::TooMuchWork));
    }
}
