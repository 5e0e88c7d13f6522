//! The action of a certified group on the instances of rules, starts and properties: if an instance leads from one
//! state to another, its image leads from the image of the first to the image of the second.
//!
//! Certification has established the images of instances under every generator, by their functions. Here these are kept
//! and extended to all elements of the group. The action of an element on instances is determined by its action on
//! literals, because functions are over literals; so an element given as a permutation of literals is lifted
//! ([`quotient_groups::Lifting`]).
//!
//! Instances with the same effect in every state cannot be distinguished by functions: they form a *class*, and the
//! group permutes the classes. The n-th instance of a class, in the order of enumeration, is mapped to the n-th
//! instance of the image. If some class in the orbit has fewer instances, those beyond that number are identified with
//! the last one within it (which has the same effect), also by the identity. With this rule, images of products are
//! images of images.

use std::sync::{Arc, OnceLock};

use quotient_functions::{Instance, Subject};
use quotient_groups::{Lifting, OrbitPartition, Point, SparsePermutation};
use quotient_ir::{Action, Budget, Spent};
use rustc_hash::FxHashMap;

use super::{CertifiedGroup, KnownInstances};
use crate::literals::Literals;
use crate::text::{Motion, TextInstances};
use crate::watch::watch;

/// Classes and their images, by the numbers of their first instances; fixed classes are omitted.
type ClassMoves = Vec<(u32, u32)>;

/// Instance data of a certification, shared by all groups made of its generators.
#[derive(Clone, Debug, Default)]
pub(super) struct CertifiedInstances {
    /// The instances of the events, then those of the claims.
    pub(super) instances: Vec<Instance>,
    /// For each instance, the first one with the same effect.
    pub(super) representatives: Vec<u32>,
    /// Whether each selects an element of a multiset by its position.
    pub(super) positional: Vec<bool>,
    /// Actions with too many instances to list.
    pub(super) open: Vec<Action>,
    /// The action on classes of each generator that passed.
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

/// The action of a certified group on instances.
#[derive(Debug)]
pub struct InstanceAction(Source);

#[derive(Debug)]
enum Source {
    Functions(Box<FunctionAction>),
    Text { instances: Arc<TextInstances>, literals: Literals },
}

/// The action that functions determine.
#[derive(Debug)]
struct FunctionAction {
    known: Arc<CertifiedInstances>,
    generators: Vec<SparsePermutation>,
    literals: Literals,
    ids: FxHashMap<Instance, u32>,
    /// The position of each instance in its class.
    places: Vec<u32>,
    /// For each class, by the number of its first instance, all its instances.
    members: FxHashMap<u32, Vec<u32>>,
    /// For each class that moves, the number of instances of the smallest class in its orbit.
    limits: FxHashMap<u32, u32>,
    lifting: OnceLock<Lifting>,
}

/// The action of one element of the group on instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceMap {
    classes: FxHashMap<u32, u32>,
    motion: Motion,
}

impl CertifiedGroup {
    /// The action of the group on instances. Linear in the number of instances; nothing is computed before this call.
    pub fn instance_action(&self) -> InstanceAction {
        let known = match &self.instances {
            KnownInstances::Functions(known) => Arc::clone(known),
            KnownInstances::Text(known) => {
                let (instances, literals) = (Arc::clone(known), self.literals.clone());
                return InstanceAction(Source::Text { instances, literals });
            }
        };
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
        let lifting = OnceLock::new();
        let action = FunctionAction { known, generators, literals, ids, places, members, limits, lifting };
        InstanceAction(Source::Functions(Box::new(action)))
    }
}

impl InstanceAction {
    /// The action of a generator of the group, by its position.
    ///
    /// # Panics
    /// If there is no such generator.
    pub fn of_generator(&self, position: usize) -> InstanceMap {
        match &self.0 {
            Source::Functions(action) => action.of_generator(position),
            Source::Text { instances, .. } => {
                InstanceMap { motion: instances.generator(position).clone(), ..InstanceMap::default() }
            }
        }
    }

    /// The action of an element of the group, given as a permutation of literals (such as the one that leads to a
    /// representative). `None` if it is not in the group. The first call prepares a stabiliser chain.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn of_element(&self, element: &SparsePermutation, budget: &Budget) -> Result<Option<InstanceMap>, Spent> {
        match &self.0 {
            Source::Functions(action) => action.of_element(element, budget),
            Source::Text { instances, literals } => {
                budget.spend(1 + element.support().len() as u64)?;
                Ok(Some(InstanceMap { motion: instances.motion(literals, element), ..InstanceMap::default() }))
            }
        }
    }

    /// Whether an instance is known to never fire, in no state.
    pub fn is_idle(&self, instance: &Instance) -> bool {
        match (&self.0, instance.subject) {
            (Source::Functions(action), Subject::Action(it)) => {
                !action.ids.contains_key(instance) && !action.known.open.contains(&it)
            }
            _ => false,
        }
    }

    /// The image of an instance. An instance that never has an effect is its own image, and so is one without
    /// functions, because the group fixes everything its text mentions. `None` for an instance of a property that the
    /// group was not required to preserve, for one of an action with too many instances to list, and for one that
    /// selects an element of a multiset by its position: elements are sorted again in the image of a state, so its
    /// image depends on the state.
    pub fn image(&self, map: &InstanceMap, instance: &Instance) -> Option<Instance> {
        match &self.0 {
            Source::Functions(action) => action.image(map, instance),
            Source::Text { instances, .. } => instances.image(&map.motion, instance),
        }
    }
}

impl FunctionAction {
    fn of_generator(&self, position: usize) -> InstanceMap {
        let classes = self.known.moves[&self.generators[position]].iter().copied().collect();
        InstanceMap { classes, ..InstanceMap::default() }
    }

    fn of_element(&self, element: &SparsePermutation, budget: &Budget) -> Result<Option<InstanceMap>, Spent> {
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
            let classes = classes.map(|(from, to)| (from - first_class, to - first_class)).collect();
            InstanceMap { classes, ..InstanceMap::default() }
        }))
    }

    /// The action of a permutation on the literals of slots that can change. Functions do not depend on other literals,
    /// whose images need not be given.
    fn varying<'a>(&'a self, permutation: &'a SparsePermutation) -> impl Iterator<Item = (Point, Point)> + 'a {
        permutation.moves().filter(|&(point, _)| {
            let slot = &self.literals.slots()[self.literals.slot_of(point)];
            slot.wide || slot.values.len() > 1
        })
    }

    fn image(&self, map: &InstanceMap, instance: &Instance) -> Option<Instance> {
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
