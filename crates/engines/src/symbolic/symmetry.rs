//! Symmetries of sets: the image of a set under a permutation, the union of the orbits that a set meets, and
//! representatives in each of the ways of the survey (Wahl, Donaldson 2010, section 5).

use quotient_groups::{PermutationGroup, SparsePermutation};
use quotient_ir::{Layout, TableIndex};
use quotient_symmetry::{CertifiedGroup, StateMap};

use num_bigint::BigUint;

use crate::booleans::{Full, Logic};
use crate::symbolic::diagrams::{Replacement, Set};
use crate::symbolic::machine::Machine;

/// How a symbolic search uses symmetries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The relation of states in the same orbit is built, and gives each state its least one.
    OrbitRelation,
    /// Some permutations are tried on each state, and those that are least among these images stay
    /// (Clarke, Enders, Filkorn, Jha 1996).
    MultipleRepresentatives,
    /// Whatever is reached first in an orbit represents it (Barner, Grumberg 2002).
    OnTheFly,
    /// Sets are sorted: a permutation is applied to the states that it makes less, until there are none
    /// (Emerson, Wahl 2005).
    Dynamic,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OrbitRelation, Self::MultipleRepresentatives, Self::OnTheFly, Self::Dynamic];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrbitRelation => "orbit-relation",
            Self::MultipleRepresentatives => "multiple-representatives",
            Self::OnTheFly => "on-the-fly",
            Self::Dynamic => "dynamic",
        }
    }
}

/// The bits of the order of the largest group that is used: all permutations of some fifty things. Each element of its
/// transversals takes room.
const MOST_BITS: u64 = 200;
/// The largest group all of whose elements are tried in dynamic reduction.
const FEW_ELEMENTS: usize = 128;
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
    /// The states that the permutation makes less, if that is asked for.
    lessens: Option<Set>,
}

/// The symmetries of a model, as they act on sets of its states.
pub(crate) struct Symmetries {
    /// For each level of a chain of subgroups, representatives of the cosets, without the identity: all elements are
    /// products of one from each level.
    levels: Vec<Vec<Action>>,
    order: BigUint,
    /// Permutations by which representatives are least if no one of them makes them less.
    nice: Option<Vec<Action>>,
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
        let levels: Vec<Vec<SparsePermutation>> =
            permutations.factors().iter().flat_map(|factor| factor.transversals()).collect();
        let usual = machine.usual_order().to_vec();
        let nice = match blocks(layout, group, &order) {
            Some(blocks) => Some(blocks),
            None if order <= BigUint::from(FEW_ELEMENTS) => {
                let all = elements(&levels);
                Some((all.iter().filter(|element| !element.is_identity()).map(map).collect(), usual))
            }
            None => None,
        };
        let nice = match nice {
            None => None,
            Some((maps, order)) => {
                let less = machine.less_after(&order)?;
                let mut actions = Vec::with_capacity(maps.len());
                for map in maps {
                    let mut action = Action::new(machine, map)?;
                    action.lessens = Some(action.lessened(machine, &less)?);
                    actions.push(action);
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
        Ok(Some(Self { levels: acting, order, nice }))
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

    /// The representatives of a set of states: each is applied the permutations that make it less.
    pub(crate) fn sorted(&self, machine: &mut Machine<'_>, states: &Set) -> Result<Set, Full> {
        let nice = self.nice.as_ref().expect("the way was chosen because they are known");
        let mut all = states.clone();
        loop {
            let before = all.clone();
            for action in nice {
                let lessens = action.lessens.as_ref().expect("nice permutations know what they make less");
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
        let less = machine.less_after(&order)?;
        for action in &tried {
            let lessens = action.lessened(machine, &less)?;
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
        if self.order > BigUint::from(COUNTED_ELEMENTS) {
            return Ok(None);
        }
        let mut total = machine.count(states);
        let elements: Vec<Vec<&Action>> = self.products();
        for product in elements.into_iter().skip(1) {
            // The states that a product leaves as they are: the relation of each to its image meets the identity.
            let mut relation = machine.identity();
            for action in product {
                relation = action.image_after(machine, &relation)?;
            }
            let identity = machine.identity();
            let fixed = machine.diagrams.common(&relation, &identity)?;
            let after = machine.after_cube();
            let fixed = machine.diagrams.product(&fixed, states, &after)?;
            total += machine.count(&fixed);
        }
        Ok(Some(total / &self.order))
    }

    /// All elements as products of one element of each level, the identity first.
    fn products(&self) -> Vec<Vec<&Action>> {
        let mut all: Vec<Vec<&Action>> = vec![Vec::new()];
        for level in self.levels.iter().rev() {
            let longer: Vec<Vec<&Action>> = level
                .iter()
                .flat_map(|action| all.iter().map(move |product| product.iter().copied().chain([action]).collect()))
                .collect();
            all.extend(longer);
        }
        all
    }
}

impl Action {
    fn new(machine: &mut Machine<'_>, map: StateMap) -> Result<Self, Full> {
        let (before, images) = machine.replacement(&map, false)?;
        let (after, images_after) = machine.replacement(&map, true)?;
        Ok(Self { before, after, images: (images, images_after), lessens: None })
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

    /// The states whose image is less than they are, by a relation from states to lesser ones.
    fn lessened(&self, machine: &mut Machine<'_>, less: &Set) -> Result<Set, Full> {
        let identity = machine.identity();
        let relation = self.image_after(machine, &identity)?;
        let after = machine.after_cube();
        machine.diagrams.product(&relation, less, &after)
    }
}

/// Exchanges of blocks of slots, and the order of slots in which states are compared.
type Blocks = (Vec<StateMap>, Vec<u32>);

/// The exchanges of neighbours, if the group consists of all permutations of blocks of slots, for one set of blocks or
/// several that have no slot in common. States are compared by the first slots of all blocks, then by the second ones
/// and so on: so the least one has its blocks sorted, and an exchange of neighbours shows where they are not.
fn blocks(layout: &Layout, group: &CertifiedGroup, order: &BigUint) -> Option<Blocks> {
    let literals = group.literals();
    let mut is_taken = vec![false; layout.slots.len()];
    let (mut swaps, mut compared) = (Vec::new(), Vec::new());
    let mut known_order = BigUint::from(1u32);
    for values in group.interchangeable() {
        let maps: Vec<StateMap> =
            values.exchanges.iter().map(|exchange| literals.action(layout, exchange).ok()).collect::<Option<_>>()?;
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
        for slot in blocks.iter().flatten() {
            if std::mem::replace(&mut is_taken[*slot as usize], true) {
                return None;
            }
        }
        for column in 0..blocks[0].len() {
            compared.extend(blocks.iter().map(|block| block[column]));
        }
        known_order *= (2..=blocks.len() as u32).map(BigUint::from).product::<BigUint>();
        swaps.extend(maps);
    }
    (known_order == *order && !swaps.is_empty()).then_some((swaps, compared))
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
