//! Symmetries of sets: the image of a set under a permutation, the union of the orbits that a set meets, and
//! representatives in each of the ways of the survey (Wahl, Donaldson 2010, section 5).

use std::collections::BTreeSet;

use quotient_groups::{PermutationGroup, Point, SparsePermutation};
use quotient_ir::{Layout, TableIndex};
use quotient_symmetry::{CertifiedGroup, StateMap};

use num_bigint::BigUint;
use rustc_hash::FxHashSet;

use crate::diagrams::{Replacement, Set};
use crate::machine::Machine;
use quotient_booleans::{Full, Logic};

/// The bits of the order of the largest group that is used: all permutations of 170 things. Each element of its
/// transversals takes room.
const MOST_BITS: u64 = 1_000;
/// The largest group all of whose elements are tried in dynamic reduction.
const FEW_ELEMENTS: usize = 720;
/// The number of sets of which all images are looked for.
const MOST_IMAGES: usize = 256;
/// The largest group whose orbits are counted by the fixed states of each element.
const COUNTED_ELEMENTS: usize = 5_040;

/// A permutation as it acts on sets of states.
pub(crate) struct Action {
    /// Replaces the bits of each moved slot by those that its image has in a state of the image; on states before a
    /// step, and after one.
    before: Replacement,
    after: Replacement,
    /// The states that are images of something, before a step and after one.
    images: (Set, Set),
    map: StateMap,
}

/// The symmetries of a model, as they act on sets of its states.
pub(crate) struct Symmetries {
    /// For each level of a chain of subgroups, representatives of the cosets, without the identity: all elements are
    /// products of one from each level.
    levels: Vec<Vec<Action>>,
    order: BigUint,
    /// Permutations by which representatives are least if no one of them makes them less, and the states that each makes
    /// less.
    nice: Option<Vec<(Action, Set)>>,
    /// All elements except the identity, if there are few enough to count orbits by them.
    elements: Option<Vec<StateMap>>,
}

/// All products of an element of each level, that of the last level applied first.
fn elements(levels: &[Vec<SparsePermutation>]) -> Vec<SparsePermutation> {
    let mut all = vec![SparsePermutation::identity()];
    for level in levels.iter().rev() {
        all = all.iter().flat_map(|element| level.iter().map(move |next| element.then(next))).collect();
    }
    all
}

impl Symmetries {
    /// The symmetries of a certified group. `None` if it is too large, or maps slots to slots that have another number of
    /// values, or too many to list and other codes.
    ///
    /// # Errors
    /// If there is no room for them.
    pub(crate) fn new(
        machine: &mut Machine<'_>,
        layout: &Layout,
        group: &CertifiedGroup,
    ) -> Result<Option<Self>, Full> {
        let literals = group.literals();
        if !group.maps().iter().all(|map| machine.can_replace(map)) {
            return Ok(None);
        }
        let permutations = PermutationGroup::new(literals.degree(), group.generators().to_vec());
        let order = permutations.order();
        if order.bits() > MOST_BITS {
            return Ok(None);
        }
        let map = |permutation: &SparsePermutation| {
            literals.action(layout, permutation).expect("an element of a certified group acts on states")
        };
        let factors: Vec<Vec<Vec<SparsePermutation>>> =
            permutations.factors().iter().map(|factor| factor.transversals()).collect();
        let nice = nice(layout, group, &factors, &order, machine.usual_order());
        let levels: Vec<Vec<SparsePermutation>> = factors.into_iter().flatten().collect();
        let few = (order <= BigUint::from(COUNTED_ELEMENTS)).then(|| {
            elements(&levels).iter().filter(|element| !element.is_identity()).map(map).collect::<Vec<StateMap>>()
        });
        let nice = match nice {
            None => None,
            Some((maps, order)) => {
                let mut actions = Vec::with_capacity(maps.len());
                for map in maps {
                    let lessens = machine.lessened(&map, &order)?;
                    actions.push((Action::new(machine, map)?, lessens));
                }
                Some(actions)
            }
        };
        let mut acting = Vec::with_capacity(levels.len());
        for level in levels {
            let mut actions = Vec::with_capacity(level.len());
            for element in level.iter().filter(|element| !element.is_identity()) {
                actions.push(Action::new(machine, map(element))?);
            }
            acting.push(actions);
        }
        Ok(Some(Self { levels: acting, order, nice, elements: few }))
    }

    /// The number of symmetries.
    pub(crate) fn order(&self) -> &BigUint {
        &self.order
    }

    /// Whether permutations are known that sort sets.
    pub(crate) fn is_nice(&self) -> bool {
        self.nice.is_some()
    }

    /// The union of the orbits that a set of states meets.
    pub(crate) fn orbits(&self, machine: &mut Machine<'_>, states: &Set) -> Result<Set, Full> {
        let mut all = states.clone();
        for level in self.levels.iter().rev() {
            let mut joined = all.clone();
            for action in level {
                let image = action.image(machine, &all)?;
                joined = machine.diagrams.union(&joined, &image)?;
            }
            all = joined;
        }
        Ok(all)
    }

    /// A set of states and its images under all symmetries; only some of them, if there are many.
    pub(crate) fn images_of_set(&self, machine: &mut Machine<'_>, states: &Set) -> Result<Vec<Set>, Full> {
        let actions: Vec<&Action> = match &self.nice {
            Some(nice) => nice.iter().map(|(action, _)| action).collect(),
            None => self.levels.iter().flatten().collect(),
        };
        let mut images = vec![states.clone()];
        let mut done = 0;
        while done < images.len().min(MOST_IMAGES) {
            let set = images[done].clone();
            done += 1;
            for action in &actions {
                let image = action.image(machine, &set)?;
                if !images.contains(&image) {
                    images.push(image);
                }
            }
        }
        Ok(images)
    }

    /// The representatives of a set of states: each is applied the permutations that make it less.
    pub(crate) fn sorted(&self, machine: &mut Machine<'_>, states: &Set) -> Result<Set, Full> {
        let nice = self.nice.as_ref().expect("the way was chosen because they are known");
        let mut all = states.clone();
        loop {
            let before = all.clone();
            for (action, lessens) in nice {
                let wrong = machine.diagrams.common(&all, lessens)?;
                if !machine.diagrams.is_empty(&wrong) {
                    let image = action.image(machine, &wrong)?;
                    let right = machine.diagrams.without(&all, &wrong)?;
                    all = machine.diagrams.union(&right, &image)?;
                }
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// The relation of states in the same orbit, from the state before to the state after.
    pub(crate) fn orbit_relation(&self, machine: &mut Machine<'_>) -> Result<Set, Full> {
        let mut relation = machine.identity();
        for level in self.levels.iter().rev() {
            let mut joined = relation.clone();
            for action in level {
                let image = action.image_after(machine, &relation)?;
                joined = machine.diagrams.union(&joined, &image)?;
            }
            relation = joined;
        }
        Ok(relation)
    }

    /// The relation from each state to the representatives of it, of which there may be several: the images under some
    /// permutations that none of them makes less, or the state itself if there is no such image.
    pub(crate) fn multiple_representatives(&self, machine: &mut Machine<'_>) -> Result<Set, Full> {
        let mut tried: Vec<&Action> = self.levels.first().into_iter().flatten().collect();
        if tried.is_empty() {
            tried = self.levels.iter().flatten().collect();
        }
        let identity = machine.identity();
        let mut least = machine.diagrams.whole().clone();
        let order = machine.usual_order().to_vec();
        for action in &tried {
            let lessens = machine.lessened(&action.map, &order)?;
            least = machine.diagrams.without(&least, &lessens)?;
        }
        let least_after = machine.after(&least)?;
        let mut relation = identity.clone();
        for action in &tried {
            let image = action.image_after(machine, &identity)?;
            relation = machine.diagrams.union(&relation, &image)?;
        }
        let relation = machine.diagrams.common(&relation, &least_after)?;
        let after = machine.after_cube();
        let has_one = machine.diagrams.exists(&relation, &after)?;
        let itself = machine.diagrams.without(&identity, &has_one)?;
        machine.diagrams.union(&relation, &itself)
    }

    /// The least state of each orbit, among all states.
    pub(crate) fn least(&self, machine: &mut Machine<'_>, relation: &Set) -> Result<Set, Full> {
        // Not least: some state of the orbit is less.
        let order = machine.usual_order().to_vec();
        let less = machine.less_after(&order)?;
        let after = machine.after_cube();
        let greater = machine.diagrams.product(relation, &less, &after)?;
        machine.diagrams.not(&greater)
    }

    /// The number of orbits in a set that is a union of orbits, if the group is small enough: the average number of
    /// states that an element leaves as they are (Burnside).
    pub(crate) fn count_orbits(&self, machine: &mut Machine<'_>, states: &Set) -> Result<Option<BigUint>, Full> {
        let Some(elements) = &self.elements else { return Ok(None) };
        let mut total = machine.count(states);
        for map in elements {
            let fixed = machine.fixed(map, states)?;
            total += machine.count(&fixed);
        }
        Ok(Some(total / &self.order))
    }
}

impl Action {
    fn new(machine: &mut Machine<'_>, map: StateMap) -> Result<Self, Full> {
        let (before, images) = machine.replacement(&map, false)?;
        let (after, images_after) = machine.replacement(&map, true)?;
        Ok(Self { before, after, images: (images, images_after), map })
    }

    /// The image of a set of states.
    pub(crate) fn image(&self, machine: &mut Machine<'_>, states: &Set) -> Result<Set, Full> {
        let replaced = machine.diagrams.replaced(states, &self.before)?;
        machine.diagrams.common(&replaced, &self.images.0)
    }

    /// The image of the states after a step.
    fn image_after(&self, machine: &mut Machine<'_>, relation: &Set) -> Result<Set, Full> {
        let replaced = machine.diagrams.replaced(relation, &self.after)?;
        machine.diagrams.common(&replaced, &self.images.1)
    }
}

/// Permutations by which a state is least if no one of them makes it less, if such are known, and the order of slots in
/// which states are compared.
///
/// The group is taken apart into all permutations of blocks of slots, and factors with few elements, all of which are
/// taken. No slot is moved by two of these: what one of them does to its slots does not depend on the others, so a state
/// is least if it is least for each.
fn nice(
    layout: &Layout,
    group: &CertifiedGroup,
    factors: &[Vec<Vec<SparsePermutation>>],
    order: &BigUint,
    usual: &[u32],
) -> Option<(Vec<StateMap>, Vec<u32>)> {
    let mut nice = Nice { is_taken: vec![false; layout.slots.len()], ..Nice::default() };
    let mut known_order = BigUint::from(1u32);
    for values in group.interchangeable() {
        let exchanges = values.exchanges.iter();
        let maps: Option<Vec<StateMap>> =
            exchanges.map(|exchange| group.literals().action(layout, exchange).ok()).collect();
        if let Some(blocks) = maps.and_then(|maps| nice.add_blocks(maps)) {
            known_order *= (2..=blocks as u32).map(BigUint::from).product::<BigUint>();
        }
    }
    for levels in factors {
        // Processes are not values in every language: exchanges of two of them are found from the factor itself.
        let exchanges = exchanges_of_neighbours(levels, group.generators()).unwrap_or_default();
        let maps: Option<Vec<StateMap>> =
            exchanges.iter().map(|exchange| group.literals().action(layout, exchange).ok()).collect();
        if let Some(blocks) = maps.filter(|maps| !maps.is_empty()).and_then(|maps| nice.add_blocks(maps)) {
            known_order *= (2..=blocks as u32).map(BigUint::from).product::<BigUint>();
            continue;
        }
        let size = levels.iter().map(Vec::len).try_fold(1usize, usize::checked_mul);
        if size.is_none_or(|size| size > FEW_ELEMENTS) {
            continue;
        }
        let all = elements(levels);
        let moving = all.iter().filter(|element| !element.is_identity());
        let maps: Option<Vec<StateMap>> = moving.map(|element| group.literals().action(layout, element).ok()).collect();
        if maps.is_some_and(|maps| nice.add_all(maps)) {
            known_order *= all.len();
        }
    }
    let rest: Vec<u32> = usual.iter().copied().filter(|slot| !nice.compared.contains(slot)).collect();
    nice.compared.extend(rest);
    (known_order == *order && !nice.maps.is_empty()).then_some((nice.maps, nice.compared))
}

/// Exchanges of neighbours, of which a factor consists if it permutes some parts in all ways: the exchange in the last level
/// of its chain and its conjugates exchange any two of them. They need not be that; nothing relies on it.
fn exchanges_of_neighbours(
    levels: &[Vec<SparsePermutation>],
    generators: &[SparsePermutation],
) -> Option<Vec<SparsePermutation>> {
    let last = levels.iter().rev().find(|level| level.len() > 1).filter(|level| level.len() == 2)?;
    let parts = levels.iter().map(Vec::len).max()?;
    let mut all: Vec<SparsePermutation> = last.iter().filter(|element| !element.is_identity()).cloned().collect();
    let mut known: FxHashSet<SparsePermutation> = all.iter().cloned().collect();
    let mut done = 0;
    while done < all.len() {
        let exchange = all[done].clone();
        done += 1;
        for element in generators {
            let conjugate = element.inverse().then(&exchange).then(element);
            if known.insert(conjugate.clone()) {
                all.push(conjugate);
            }
        }
        if all.len() > parts * (parts - 1) / 2 {
            return None;
        }
    }
    let moved = |exchange: &SparsePermutation| -> BTreeSet<Point> { exchange.support().iter().copied().collect() };
    let supports: Vec<BTreeSet<Point>> = all.iter().map(moved).collect();
    // From part to part, each exchanged with the one before.
    let first = supports.first()?;
    let part = match supports.iter().find(|other| *other != first && !other.is_disjoint(first)) {
        Some(other) => first.intersection(other).copied().collect(),
        None => return (all.len() == 1).then_some(all),
    };
    let mut visited: BTreeSet<Point> = first.clone();
    let (mut chain, mut part): (Vec<usize>, BTreeSet<Point>) = (vec![0], part);
    while let Some(next) = (0..all.len())
        .find(|&it| supports[it].is_superset(&part) && supports[it].difference(&part).all(|p| !visited.contains(p)))
    {
        part = supports[next].difference(&part).copied().collect();
        visited.extend(&part);
        chain.push(next);
    }
    Some(chain.into_iter().map(|number| all[number].clone()).collect())
}

/// Permutations that sort sets, as far as they are known.
#[derive(Default)]
struct Nice {
    maps: Vec<StateMap>,
    /// The slots that must be compared in this order.
    compared: Vec<u32>,
    /// The slots that are moved.
    is_taken: Vec<bool>,
}

impl Nice {
    /// Adds exchanges of neighbours of which all permutations of blocks of slots are made, and returns the number of
    /// blocks. States are compared by the first slots of all blocks, then by the second ones and so on: so the least one
    /// has its blocks sorted, and an exchange of neighbours shows where they are not.
    fn add_blocks(&mut self, maps: Vec<StateMap>) -> Option<usize> {
        if maps.iter().any(|map| !map.multisets().is_empty() || map.moves().iter().any(|one| one.values.is_some())) {
            return None;
        }
        let mut blocks = vec![first_block(&maps)?];
        for map in &maps {
            let block = blocks.last().expect("there is a first one");
            let next: Vec<u32> = block.iter().map(|&slot| image(map, slot)).collect::<Option<_>>()?;
            // The exchange moves these two blocks and nothing else, and moves them back.
            let moves_back = block.iter().zip(&next).all(|(&slot, &to)| slot != to && image(map, to) == Some(slot));
            if map.moves().len() != 2 * block.len() || !moves_back {
                return None;
            }
            blocks.push(next);
        }
        let mut slots: Vec<u32> = blocks.concat();
        slots.sort_unstable();
        if slots.windows(2).any(|pair| pair[0] == pair[1]) || !self.take(&slots) {
            return None;
        }
        for column in 0..blocks[0].len() {
            self.compared.extend(blocks.iter().map(|block| block[column]));
        }
        self.maps.extend(maps);
        Some(blocks.len())
    }

    /// Adds all elements of a group. Returns whether no other moves their slots.
    fn add_all(&mut self, maps: Vec<StateMap>) -> bool {
        let mut slots: Vec<u32> =
            maps.iter().flat_map(|map| map.moves().iter().map(|one| one.from.position() as u32)).collect();
        slots.sort_unstable();
        slots.dedup();
        let is_free = maps.iter().all(|map| map.multisets().is_empty()) && self.take(&slots);
        if is_free {
            self.maps.extend(maps);
        }
        is_free
    }

    /// Marks slots as moved, if none of them is.
    fn take(&mut self, slots: &[u32]) -> bool {
        let is_free = slots.iter().all(|&slot| !self.is_taken[slot as usize]);
        if is_free {
            slots.iter().for_each(|&slot| self.is_taken[slot as usize] = true);
        }
        is_free
    }
}

/// The slots that only the first of some exchanges of neighbours moves.
fn first_block(maps: &[StateMap]) -> Option<Vec<u32>> {
    let moved = |map: &StateMap| -> Vec<u32> { map.moves().iter().map(|one| one.from.position() as u32).collect() };
    let first = maps.first()?;
    let others = match maps.get(1) {
        Some(second) => moved(second),
        // Of two blocks, the one that comes first in the state.
        None => moved(first).into_iter().filter(|&slot| image(first, slot).is_some_and(|to| to < slot)).collect(),
    };
    Some(moved(first).into_iter().filter(|slot| !others.contains(slot)).collect())
}

fn image(map: &StateMap, slot: u32) -> Option<u32> {
    let moves = map.moves();
    let found = moves.binary_search_by_key(&slot, |one| one.from.position() as u32).ok()?;
    Some(moves[found].to.position() as u32)
}
