//! Canonical images: one set for each orbit of a group on sets of points, found without enumerating the group.
//!
//! A search in a stabiliser chain (Linton 2004; Jefferson, Jonauskyte, Pfeiffer and Waldecker 2019) with the refinement
//! of graph canonical labelling (McKay 1981). The group acts faithfully on a few *members* (`members`: orbits and
//! blocks of orbits), and every point is incident with some of them in a way that the group respects. At each level,
//! one member is mapped to the base point of the level. Colours decide which one: the colour of a member summarises
//! what the set contains among the points incident with it. If several members share the chosen colour, each is tried,
//! except those that are images of a tried one under symmetries of the set found so far. Exchanges of two
//! interchangeable objects are tried as symmetries of the set before anything else. The least of all results (colours
//! first, then points) is the canonical image. The symmetries found generate the stabiliser of the set, whose order is
//! returned with it.

mod members;
mod search;

use crate::action::Action;
use crate::arrangement::arrangement;
use crate::chain::StabiliserChain;
use crate::{Permutation, Point, SparsePermutation};
use members::Members;
use num_bigint::BigUint;
pub use search::ImageScratch;

/// The largest number of sibling pairs for which exchanges are kept.
const EXCHANGE_LIMIT: usize = 2_000;

/// The total size, in numbers, of tabulated transversals; beyond it, elements are multiplied out when used.
const TABLE_LIMIT: usize = 4_000_000;

/// A group prepared for the search for canonical images of sets of its points.
#[derive(Debug, Clone)]
pub struct ImageSearch {
    points: usize,
    members: Members,
    order: BigUint,
    levels: Vec<Level>,
    /// Generators of the trees and their inverses, on members and points.
    strong: Vec<Permutation>,
    /// Exchanges that are tried as symmetries of a set before the search.
    exchanges: Vec<Exchange>,
}

/// An element that exchanges two objects and fixes everything else.
#[derive(Debug, Clone)]
struct Exchange {
    /// Two of the exchanged members.
    pair: (Point, Point),
    /// The image of each member.
    members: Box<[Point]>,
    /// The exchanged points; each pair once.
    points: Vec<(Point, Point)>,
}

/// One nontrivial level of the stabiliser chain.
#[derive(Debug, Clone)]
struct Level {
    base: Point,
    /// The number of the orbit of each member under the group of this level.
    orbits: Vec<u32>,
    transversal: Transversal,
}

/// For each member of the base point's orbit, an element that maps it to the base point.
#[derive(Debug, Clone)]
enum Transversal {
    /// The images of members and points, element by element; for each member, the number of its element. Inverses are
    /// kept for the last level only.
    Table { row: Vec<u32>, images: Vec<Point>, inverses: Vec<Point> },
    /// For each member, the strong generator that maps it one step closer to the base point.
    Tree { step: Vec<u32> },
}

/// No element: the member is outside the orbit, or is the base point itself.
const NONE: u32 = u32::MAX;

impl ImageSearch {
    /// Prepares the group of an action of known order.
    pub fn new(action: &Action, order: &BigUint) -> Self {
        let members = Members::new(action, order);
        let combined = Action::side_by_side(&[&members.action, action]);
        let count = members.action.degree();
        let base: Vec<Point> = (0..count as Point).collect();
        let chain = StabiliserChain::of_action_with_base(&combined, &base, Some(order));
        let exchanges = arrangement(action, order)
            .filter(|found| found.sibling_pairs() <= EXCHANGE_LIMIT)
            .map(|found| found.exchanges(&combined, order))
            .unwrap_or_default();
        let exchanges = exchanges.iter().filter_map(|exchange| {
            let members: Box<[Point]> = (0..count as Point).map(|member| exchange.element.image(member)).collect();
            let pair = exchange.element.moves().next().filter(|&(from, _)| from < count as Point)?;
            let points = exchange.element.moves().filter(|&(from, to)| from >= count as Point && from < to);
            let points = points.map(|(from, to)| (from - count as Point, to - count as Point)).collect();
            Some(Exchange { pair, members, points })
        });
        let mut search = Self {
            points: action.degree(),
            exchanges: exchanges.collect(),
            members,
            order: order.clone(),
            levels: Vec::new(),
            strong: Vec::new(),
        };
        let lengths = chain.orbit_lengths();
        let entries: usize = lengths.iter().map(|&length| length as usize * combined.degree()).sum();
        let degree = combined.degree();
        for (number, &base) in chain.base().iter().enumerate() {
            if lengths[number] == 1 {
                continue;
            }
            let mut partition = crate::OrbitPartition::new(count);
            for generator in chain.stabiliser_generators(number) {
                for member in 0..count as Point {
                    partition.merge(member, generator.image(member));
                }
            }
            let mut orbits = vec![0; count];
            for (orbit, class) in partition.classes(1).iter().enumerate() {
                for &member in class {
                    orbits[member as usize] = orbit as u32;
                }
            }
            let transversal = if entries <= TABLE_LIMIT {
                let mut row = vec![NONE; count];
                let mut images = Vec::new();
                let mut inverses = Vec::new();
                let is_last = lengths[number + 1..].iter().all(|&length| length == 1);
                for (member, element) in chain.transversal(number) {
                    row[member as usize] = (images.len() / degree) as u32;
                    images.extend_from_slice(element.inverse().images());
                    if is_last {
                        inverses.extend_from_slice(element.images());
                    }
                }
                Transversal::Table { row, images, inverses }
            } else {
                let mut step = vec![NONE; count];
                for (member, element) in chain.steps_to_base(number) {
                    step[member as usize] = search.strong.len() as u32;
                    // Elements recur from level to level, so the last few are checked.
                    let known = search.strong.iter().rev().take(64).position(|other| *other == element);
                    match known {
                        Some(back) => step[member as usize] = (search.strong.len() - 1 - back) as u32,
                        None => search.strong.push(element),
                    }
                }
                Transversal::Tree { step }
            };
            search.levels.push(Level { base, orbits, transversal });
        }
        search
    }

    /// The order of the group.
    pub fn order(&self) -> &BigUint {
        &self.order
    }

    /// The number of members the search works with.
    pub fn member_count(&self) -> usize {
        self.members.action.degree()
    }

    /// Applies the element that maps `member` to the base point of a level, in place, to numbers of members and points.
    fn apply(&self, level: usize, member: Point, numbers: &mut [Point]) {
        let level = &self.levels[level];
        match &level.transversal {
            Transversal::Table { row, images, .. } => {
                let degree = self.member_count() + self.points;
                let start = row[member as usize] as usize * degree;
                let images = &images[start..start + degree];
                for number in numbers {
                    *number = images[*number as usize];
                }
            }
            Transversal::Tree { step } => {
                let mut at = member;
                while at != level.base {
                    let element = &self.strong[step[at as usize] as usize];
                    for number in numbers.iter_mut() {
                        *number = element.image(*number);
                    }
                    at = element.image(at);
                }
            }
        }
    }

    /// The inverse of the element that maps `member` to the base point of a level, if it is tabulated.
    fn inverse(&self, level: usize, member: Point) -> Option<&[Point]> {
        match &self.levels[level].transversal {
            Transversal::Table { row, inverses, .. } => {
                let degree = self.member_count() + self.points;
                let start = row[member as usize] as usize * degree;
                inverses.get(start..start + degree)
            }
            Transversal::Tree { .. } => None,
        }
    }

    /// The product of the elements chosen at each level, on the points.
    fn product(&self, choices: &[Point]) -> SparsePermutation {
        let members = self.member_count() as Point;
        let mut images: Vec<Point> = (members..members + self.points as Point).collect();
        for (level, &member) in choices.iter().enumerate() {
            self.apply(level, member, &mut images);
        }
        let moves = images.iter().enumerate().map(|(point, &image)| (point as Point, image - members));
        SparsePermutation::from_moves(moves.collect()).expect("a product of permutations is one")
    }
}

#[cfg(test)]
mod tests;
