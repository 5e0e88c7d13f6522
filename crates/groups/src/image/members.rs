//! The objects a group acts on in the search for images: a few orbits and blocks of orbits on which it is faithful, and
//! the incidences of each point with them.
//!
//! Blocks are used instead of points if they carry the same information: the rows and columns of a matrix instead of
//! its cells. Incidences are maps from points to small sets of members that commute with every generator. They are
//! guessed from a few elements of a point's stabiliser and then checked, so a bad guess only costs search time.

use crate::action::Action;
use crate::parts::candidates;
use crate::random::Random;
use crate::reduction::{ClassesOfPoints, OrbitTree};
use crate::{OrbitPartition, Point};
use num_bigint::BigUint;

/// The number of block systems kept although they are not needed: those of a tree help, those of a ring do not.
const EXTRA_SYSTEMS: usize = 3;
/// The largest set of members kept as an incidence.
const LARGEST_VALUE: usize = 16;
/// The number of incidences kept for an orbit of points.
const ROLES: usize = 6;
/// The number of attempts at guessing incidences, each with more elements.
const ATTEMPTS: usize = 5;
/// The number of stabiliser elements used for guessing incidences at each attempt.
const STABILISER_ELEMENTS: usize = 10;

/// The members of a group and the incidences of its points.
#[derive(Debug, Clone)]
pub(super) struct Members {
    /// The action on the members.
    pub(super) action: Action,
    /// The number of the orbit of each point.
    pub(super) orbit_of_point: Vec<u32>,
    /// The number of the orbit of each member.
    pub(super) orbit_of_member: Vec<u32>,
    /// The members each point is incident with, and their roles.
    pub(super) of_points: Incidences,
    /// The other members each member is incident with, and their roles.
    pub(super) of_members: Incidences,
}

/// For each number, a list of roles and members.
#[derive(Debug, Clone)]
pub(super) struct Incidences {
    offsets: Vec<u32>,
    entries: Vec<(u32, Point)>,
}

impl Incidences {
    fn new(lists: Vec<Vec<(u32, Point)>>) -> Self {
        let mut offsets = vec![0];
        let mut entries = Vec::new();
        for list in lists {
            entries.extend(list);
            offsets.push(entries.len() as u32);
        }
        Self { offsets, entries }
    }

    pub(super) fn of(&self, number: Point) -> &[(u32, Point)] {
        let number = number as usize;
        &self.entries[self.offsets[number] as usize..self.offsets[number + 1] as usize]
    }
}

impl Members {
    pub(super) fn new(action: &Action, order: &BigUint) -> Self {
        let members = faithful_action(action, order);
        let combined = Action::side_by_side(&[&members, action]);
        let count = members.degree();
        let (mut of_members, of_points) = incidences(&combined, count);
        for (member, list) in of_members.iter_mut().enumerate() {
            list.retain(|&(_, other)| other as usize != member);
        }
        let numbers = |action: &Action| {
            let mut numbers = vec![0; action.degree()];
            let mut orbits = OrbitPartition::of_generators(action.degree(), action.generators());
            for (orbit, points) in orbits.classes(1).iter().enumerate() {
                for &point in points {
                    numbers[point as usize] = orbit as u32;
                }
            }
            numbers
        };
        Self {
            orbit_of_point: numbers(action),
            orbit_of_member: numbers(&members),
            action: members,
            of_points: Incidences::new(of_points),
            of_members: Incidences::new(of_members),
        }
    }
}

/// A faithful action on orbits and blocks of orbits, small ones first, including a few blocks that are not needed.
fn faithful_action(action: &Action, order: &BigUint) -> Action {
    let (candidates, needed) = candidates(action, order);
    let largest =
        candidates.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(action, _)| action.degree()).max();
    let mut extra = 0;
    let mut chosen: Vec<&Action> = Vec::new();
    for (action, needed) in candidates.iter().zip(&needed) {
        let is_extra = !needed && extra < EXTRA_SYSTEMS && largest.is_some_and(|largest| action.degree() < largest);
        extra += usize::from(is_extra);
        if *needed || is_extra {
            chosen.push(action);
        }
    }
    Action::side_by_side(&chosen)
}

/// Lists of roles and members, number by number.
type Lists = Vec<Vec<(u32, Point)>>;

/// For each member and each point of a combined action (members first) the members it is incident with.
fn incidences(combined: &Action, members: usize) -> (Lists, Lists) {
    let mut lists: Lists = vec![Vec::new(); combined.degree()];
    let all: Vec<Point> = (0..members as Point).collect();
    let mut role = 0;
    for orbit in combined.orbits() {
        let tree = OrbitTree::new(combined, &orbit);
        let mut random = Random::new(orbit.len() as u64);
        let mut classes = ClassesOfPoints::new(&all);
        for generator in combined.generators().iter().filter(|generator| !generator.moves_point(orbit[0])) {
            classes.merge_moves(generator);
        }
        let mut maps: Vec<Vec<Vec<Point>>> = Vec::new();
        for _ in 0..ATTEMPTS {
            for _ in 0..STABILISER_ELEMENTS {
                let word = tree.random_stabiliser_word(combined, &mut random);
                classes.merge_by(|point| word.iter().fold(point, |point, step| step.apply(combined, point)));
            }
            let mut values = classes.classes();
            // A class of all members of an orbit carries no information.
            values.retain(|value| value.len() <= LARGEST_VALUE && value.len() < members);
            values.sort_by_key(Vec::len);
            let guesses = values.len();
            maps = values.into_iter().filter_map(|value| tree.equivariant_map(combined, value)).collect();
            if maps.len() == guesses {
                break;
            }
        }
        for map in maps.into_iter().take(ROLES) {
            for (point, value) in tree.points().iter().zip(map) {
                lists[*point as usize].extend(value.into_iter().map(|member| (role, member)));
            }
            role += 1;
        }
    }
    let of_points = lists.split_off(members);
    (lists, of_points)
}
