//! A permutation group given by sparse generators: order, membership, orbits, factors, structure.
//!
//! Everything is computed factor by factor: generators whose supports do not meet are kept apart, so that a
//! group of many small factors on many points costs what its factors cost.

pub mod families;

use crate::action::Action;
use crate::chain::StabiliserChain;
use crate::membership::Membership;
use crate::order::Reduced;
use crate::random::Random;
use crate::structure::{self, Structure};
use crate::{Point, SparsePermutation, Watch};
use num_bigint::BigUint;

/// A factor with support disjoint from the others.
#[derive(Debug, Clone)]
pub struct Factor {
    /// The points it moves, in increasing order.
    pub points: Vec<Point>,
    /// The action on these points, which are numbered from zero in that order.
    pub action: Action,
    /// The number of its elements.
    pub order: BigUint,
    reduced: Reduced,
}

impl Factor {
    /// The stabiliser chain on the renumbered points. Costs the square of the degree and more: meant for
    /// factors of a few thousand points.
    pub fn chain(&self) -> StabiliserChain {
        StabiliserChain::of_action(&self.action, Some(&self.order))
    }

    /// The structure of the factor.
    pub fn structure(&self) -> Structure {
        structure::structure_of_factors([(&self.action, &self.reduced)])
    }
}

/// A permutation group on the points `0..degree`.
#[derive(Debug, Clone)]
pub struct PermutationGroup {
    degree: usize,
    generators: Vec<SparsePermutation>,
    factors: Vec<Factor>,
}

impl PermutationGroup {
    /// The group that the generators generate; every moved point must be below `degree`.
    pub fn new(degree: usize, generators: Vec<SparsePermutation>) -> Self {
        Self::new_watched(degree, generators, &Watch::nobody()).expect("nobody says to stop")
    }

    /// The same, unless the watch says to stop.
    pub fn new_watched(degree: usize, generators: Vec<SparsePermutation>, watch: &Watch) -> Option<Self> {
        let whole = Action::new(degree, generators).watched(watch);
        let mut factors = Vec::new();
        for (points, action) in whole.disjoint_factors() {
            let reduced = watch.unless_stopped(Reduced::new(&action))?.watched(&Watch::nobody());
            let action = action.watched(&Watch::nobody());
            factors.push(Factor { order: reduced.order.clone(), points, action, reduced });
        }
        Some(Self { degree, generators: whole.generators().to_vec(), factors })
    }

    /// The number of points.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The generators as given.
    pub fn generators(&self) -> &[SparsePermutation] {
        &self.generators
    }

    /// The factors with disjoint supports.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The number of elements.
    pub fn order(&self) -> BigUint {
        self.factors.iter().map(|factor| &factor.order).product()
    }

    /// The orbits with two or more points, each in increasing order, by their first points.
    pub fn orbits(&self) -> Vec<Vec<Point>> {
        Action::new(self.degree, self.generators.iter().cloned()).orbits()
    }

    /// What group it is.
    pub fn structure(&self) -> Structure {
        self.structure_watched(&Watch::nobody()).expect("nobody says to stop")
    }

    /// What group it is, unless the watch says to stop.
    pub fn structure_watched(&self, watch: &Watch) -> Option<Structure> {
        let watched: Vec<(Action, Reduced)> = self
            .factors
            .iter()
            .map(|factor| (factor.action.clone().watched(watch), factor.reduced.clone().watched(watch)))
            .collect();
        watch.unless_stopped(structure::structure_of_factors(watched.iter().map(|(action, reduced)| (action, reduced))))
    }

    /// What tells the elements of the group, for membership and random elements.
    pub fn members(&self) -> GroupMembers {
        let action = Action::new(self.degree, self.generators.iter().cloned());
        GroupMembers { degree: self.degree, membership: Membership::new(&action) }
    }

    /// The group as a GAP program that assigns it to `name`.
    pub fn to_gap(&self, name: &str) -> String {
        let generators: Vec<String> = self.generators.iter().map(SparsePermutation::to_gap).collect();
        if generators.is_empty() {
            format!("{name} := Group(());\n")
        } else {
            format!("{name} := Group([\n  {}\n]);\n", generators.join(",\n  "))
        }
    }
}

/// Tells the elements of a group.
pub struct GroupMembers {
    degree: usize,
    membership: Membership,
}

impl GroupMembers {
    /// Whether the permutation is in the group.
    pub fn contains(&self, element: &SparsePermutation) -> bool {
        match element.to_dense(self.degree) {
            Ok(element) => self.membership.contains(element.images()),
            Err(_) => false,
        }
    }

    /// An element of the group; each is equally likely.
    pub fn random_element(&self, random: &mut Random) -> SparsePermutation {
        let images = self.membership.random_images(random);
        let moves = images.into_iter().enumerate().map(|(point, image)| (point as Point, image));
        SparsePermutation::from_sorted_moves(moves.filter(|(point, image)| point != image).collect())
    }
}
