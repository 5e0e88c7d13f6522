//! The action of a certified group on the instances of rules, starts and properties: if an instance leads from a
//! state to another, its image leads from the image of the one to the image of the other.
//!
//! Certification has shown for every generator which instances go where, by their functions. Here that is kept and
//! extended to all elements of the group. What an element does to instances is determined by what it does to
//! literals, because functions are over literals; so an element that is given as a permutation of literals is
//! lifted ([`quotient_groups::Lifting`]).
//!
//! Instances that do the same, whatever the state, cannot be distinguished by functions: they are one *class*, and
//! it is the classes that the group permutes. The n-th instance of a class, in the order of enumeration, goes to
//! the n-th of the image. Where some class that a class can go to has fewer instances, those beyond that number are
//! taken for the last within it (which does the same), also by the identity. With that, images of products are
//! images of images.

use std::sync::{Arc, OnceLock};

use quotient_functions::{Instance, Subject};
use quotient_groups::{Lifting, OrbitPartition, Point, SparsePermutation};
use quotient_ir::{Action, Budget, Spent};
use rustc_hash::FxHashMap;

use super::CertifiedGroup;
use crate::graph::watch;
use crate::literals::Literals;

/// Classes and their images, by the numbers of their first instances; those that stay are left out.
type ClassMoves = Vec<(u32, u32)>;

/// What certification knows of instances, shared by all groups made of its generators.
#[derive(Clone, Debug, Default)]
pub(super) struct CertifiedInstances {
    /// Those of the events, then those of the claims.
    pub(super) instances: Vec<Instance>,
    /// For each the first that does the same.
    pub(super) representatives: Vec<u32>,
    /// Whether each chooses an element of a multiset by its position.
    pub(super) positional: Vec<bool>,
    /// Actions with too many instances to list.
    pub(super) open: Vec<Action>,
    /// What each generator that passed does to classes.
    pub(super) moves: FxHashMap<SparsePermutation, ClassMoves>,
    /// The numbers of the instances, once somebody asks for them.
    pub(super) numbers: OnceLock<FxHashMap<Instance, usize>>,
}

impl CertifiedInstances {
    /// Whether a generator that passed maps the class of an instance to that of another. Instances without functions
    /// can never do anything, and stay.
    pub(super) fn maps(&self, generator: &SparsePermutation, from: &Instance, to: &Instance) -> bool {
        let Some(moves) = self.moves.get(generator) else { return false };
        let numbers = self.numbers.get_or_init(|| {
            let numbered = self.instances.iter().enumerate();
            numbered.map(|(number, instance)| (instance.clone(), number)).collect()
        });
        let class = |instance: &Instance| numbers.get(instance).map(|&number| self.representatives[number]);
        match (class(from), class(to)) {
            (Some(from), Some(to)) => {
                let image = moves.iter().find(|&&(class, _)| class == from).map_or(from, |&(_, image)| image);
                image == to
            }
            (None, None) => from == to,
            _ => false,
        }
    }
}

/// How a certified group acts on instances.
#[derive(Debug)]
pub struct InstanceAction {
    known: Arc<CertifiedInstances>,
    generators: Vec<SparsePermutation>,
    literals: Literals,
    ids: FxHashMap<Instance, u32>,
    /// For each instance its place in its class.
    places: Vec<u32>,
    /// For each class, by the number of its first instance, all its instances.
    members: FxHashMap<u32, Vec<u32>>,
    /// For each class that moves, how many instances the smallest class has that it can go to.
    limits: FxHashMap<u32, u32>,
    lifting: OnceLock<Lifting>,
}

/// What one element of the group does to instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceMap {
    classes: FxHashMap<u32, u32>,
}

impl CertifiedGroup {
    /// How the group acts on instances. Costs as much as the instances are many; nothing is computed before.
    pub fn instance_action(&self) -> InstanceAction {
        let known = Arc::clone(&self.instances);
        let ids = known.instances.iter().enumerate().map(|(number, instance)| (instance.clone(), number as u32));
        let ids = ids.collect();
        let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut places = Vec::with_capacity(known.instances.len());
        for (number, &class) in known.representatives.iter().enumerate() {
            let class = members.entry(class).or_default();
            places.push(class.len() as u32);
            class.push(number as u32);
        }
        let mut orbits = OrbitPartition::new(known.instances.len());
        for &(from, to) in self.generators.iter().flat_map(|generator| &known.moves[generator]) {
            orbits.merge(from, to);
        }
        let mut least: FxHashMap<Point, u32> = FxHashMap::default();
        let mut limits = FxHashMap::default();
        for (&class, own) in &members {
            let least = least.entry(orbits.find(class)).or_insert(u32::MAX);
            *least = (*least).min(own.len() as u32);
        }
        for &class in members.keys() {
            limits.insert(class, least[&orbits.find(class)]);
        }
        let generators = self.generators.clone();
        let literals = self.literals.clone();
        InstanceAction { known, generators, literals, ids, places, members, limits, lifting: OnceLock::new() }
    }
}

impl InstanceAction {
    /// What a generator of the group does, by its position among these.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn of_generator(&self, position: usize) -> InstanceMap {
        InstanceMap { classes: self.known.moves[&self.generators[position]].iter().copied().collect() }
    }

    /// What an element of the group does, given as a permutation of literals (such as the one that leads to a
    /// representative). Nothing if it is not in the group. The first time this prepares a stabiliser chain.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn of_element(&self, element: &SparsePermutation, budget: &Budget) -> Result<Option<InstanceMap>, Spent> {
        let first_class = self.literals.degree() as Point;
        let lifting = match self.lifting.get() {
            Some(lifting) => lifting,
            None => {
                let transferred = |generator: &SparsePermutation| {
                    let classes = self.known.moves[generator].iter();
                    let classes = classes.map(|&(from, to)| (first_class + from, first_class + to));
                    let moves = self.varying(generator).chain(classes).collect();
                    SparsePermutation::from_moves(moves).expect("a symmetry permutes the classes")
                };
                let generators: Vec<SparsePermutation> = self.generators.iter().map(transferred).collect();
                let (points, classes) = (self.literals.degree(), self.known.instances.len());
                let lifting = Lifting::new(points, points + classes, &generators, &watch(budget)).ok_or(Spent)?;
                self.lifting.get_or_init(|| lifting)
            }
        };
        let element = SparsePermutation::from_moves(self.varying(element).collect()).ok();
        Ok(element.and_then(|element| lifting.lift(&element)).map(|lifted| {
            let classes = lifted.moves().filter(|&(from, _)| from >= first_class);
            InstanceMap { classes: classes.map(|(from, to)| (from - first_class, to - first_class)).collect() }
        }))
    }

    /// What a permutation does to the literals of slots that can change. Functions do not depend on others, and what
    /// becomes of these need not be said.
    fn varying<'a>(&'a self, permutation: &'a SparsePermutation) -> impl Iterator<Item = (Point, Point)> + 'a {
        permutation.moves().filter(|&(point, _)| {
            let slot = &self.literals.slots()[self.literals.slot_of(point)];
            slot.wide || slot.values.len() > 1
        })
    }

    /// The image of an instance. An instance that can never do anything stays, and so does one without functions,
    /// because the group fixes all that its text mentions. Nothing for an instance of a property that the group was
    /// not asked to preserve, for one of an action with too many instances to list, and for one that chooses an element
    /// of a multiset by its position: elements are sorted again in the image of a state, so that its image depends on
    /// the state.
    pub fn image(&self, map: &InstanceMap, instance: &Instance) -> Option<Instance> {
        let Some(&number) = self.ids.get(instance) else {
            return match instance.subject {
                Subject::Action(action) if !self.known.open.contains(&action) => Some(instance.clone()),
                Subject::Action(_) | Subject::Property(_) => None,
            };
        };
        let is_open = matches!(instance.subject, Subject::Action(action) if self.known.open.contains(&action));
        if is_open || self.known.positional[number as usize] {
            return None;
        }
        let class = self.known.representatives[number as usize];
        let image = map.classes.get(&class).copied().unwrap_or(class);
        let place = self.places[number as usize].min(self.limits[&class] - 1);
        let image = self.members[&image][place as usize];
        Some(self.known.instances[image as usize].clone())
    }
}
