//! The symmetries that a search for a claim about events uses.
//!
//! They keep each process, internal steps and termination, and rename visible events by one permutation (`observed`).
//! So a pair of a state and a node of the specification may be replaced by the image of both under one symmetry: what
//! violates the claim from there does so with other names.
//!
//! A node holds all states that the specification may be in after some sequence of events. Its image under a symmetry
//! depends only on how that acts on states of the specification: symmetries that act on these alike are one *turn*.

use num_bigint::BigUint;
use quotient_functions::{Holds, possible_values};
use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Behaviour, BehaviourClaim, Budget, Layout, Model, SlotId, StartId, Table, TableIndex};
use quotient_representatives::{Canonicalizer, Workspace};
use quotient_symmetry::{FirstSlots, Preserved};
use rustc_hash::FxHashMap;

use super::observed::ObservedModel;
use quotient_search::EngineError;
use quotient_systems::{Guard, PackedMap, SymmetrySource, symmetries};

/// How symmetries act on the states of the specification, by number. The identity has the number 0.
pub(crate) type TurnId = u32;

/// The identity.
pub(crate) const IDENTITY: TurnId = 0;

/// The number of symmetries that are tried before one between two states is searched for: those of the last successors
/// mostly do.
const RECENT: usize = 32;

/// Symmetries, and how representatives are found.
pub(crate) struct Symmetries<'m> {
    layout: &'m Layout,
    group: FirstSlots,
    canonicalizer: Canonicalizer,
    workspace: Workspace,
    guard: Guard,
    process: Values,
    /// None if there is no specification.
    specification: Option<Values>,
    turns: Vec<PackedMap>,
    numbers: FxHashMap<Box<[(Point, Point)]>, TurnId>,
    /// Symmetries that lead to representatives, with their turns; those used last come first.
    recent: Vec<(PackedMap, TurnId)>,
    image: Vec<u64>,
}

/// The values that slots may have in the states of one process.
struct Values {
    holds: Vec<Holds>,
    guard: Guard,
}

impl<'m> Symmetries<'m> {
    /// The symmetries for a claim, if there are any.
    ///
    /// # Errors
    /// If one cannot be certified, or the budget is spent.
    pub(crate) fn find(
        model: &Model,
        layout: &'m Layout,
        behaviour: &Behaviour,
        source: SymmetrySource,
        budget: &Budget,
    ) -> Result<Option<Self>, EngineError> {
        let Some(observed) = ObservedModel::new(model, behaviour) else { return Ok(None) };
        let preserved = Preserved::Properties(&observed.pins);
        let found = symmetries(&observed.model, &observed.layout, preserved, source, budget)?;
        let Some(group) = found.group.on_first_slots(layout) else { return Ok(None) };
        let process = Values::new(model, layout, behaviour.process, budget)?;
        let specification = match behaviour.claim {
            BehaviourClaim::Refines { specification, .. } => Some(Values::new(model, layout, specification, budget)?),
            BehaviourClaim::DivergenceFree | BehaviourClaim::Deterministic => None,
        };
        // Such as the variable that says which process runs.
        let is_constant = |slot| !process.varies(slot) && specification.as_ref().is_none_or(|it| !it.varies(slot));
        let group = group.without(layout, is_constant).unwrap_or(group);
        let canonicalizer = Canonicalizer::of_first_slots(layout, &group);
        let canonicalizer = canonicalizer.map_err(|error| EngineError::Uncertified(error.to_string()))?;
        if *canonicalizer.order() == BigUint::from(1u32) {
            return Ok(None);
        }
        let identity = group.literals().action(layout, &SparsePermutation::identity());
        let identity = identity.map_err(|error| EngineError::Uncertified(error.to_string()))?;
        Ok(Some(Self {
            layout,
            canonicalizer,
            workspace: Workspace::default(),
            guard: Guard::new(layout, group.literals()),
            group,
            process,
            specification,
            turns: vec![PackedMap::new(layout, &identity)],
            numbers: FxHashMap::default(),
            recent: Vec::new(),
            image: Vec::new(),
        }))
    }

    /// The number of symmetries.
    pub(crate) fn order(&self) -> &BigUint {
        self.canonicalizer.order()
    }

    /// Checks that a state has only values that were considered possible.
    ///
    /// # Errors
    /// If it has others, which is a defect.
    pub(crate) fn check(&self, state: &[u64]) -> Result<(), EngineError> {
        self.guarded(&self.guard, state)
    }

    /// The same for a state of the specification.
    ///
    /// # Errors
    /// If it has others, which is a defect.
    pub(crate) fn check_specified(&self, state: &[u64]) -> Result<(), EngineError> {
        self.specification.as_ref().map_or(Ok(()), |it| self.guarded(&it.guard, state))
    }

    fn guarded(&self, guard: &Guard, state: &[u64]) -> Result<(), EngineError> {
        if guard.passes(None, state) {
            return Ok(());
        }
        let slot = guard.caught().map(|slot| self.layout.slots[slot].name.clone());
        Err(EngineError::ImpossibleValue(slot.unwrap_or_default()))
    }

    /// Replaces a state of the process by its representative; the turn of a symmetry that leads there, if there is a
    /// specification.
    ///
    /// # Errors
    /// If the state has a value that was not considered possible, or a symmetry does not act on states: both are
    /// defects.
    pub(crate) fn represent(&mut self, state: &mut [u64]) -> Result<TurnId, EngineError> {
        self.guarded(&self.process.guard, state)?;
        let before = state.to_vec();
        self.canonicalizer.canonicalize(&mut self.workspace, state);
        if self.specification.is_none() || before == state {
            return Ok(IDENTITY);
        }
        for position in 0..self.recent.len() {
            let (map, turn) = &self.recent[position];
            map.apply(&before, &mut self.image);
            if self.image == state {
                let turn = *turn;
                self.recent[..=position].rotate_right(1);
                return Ok(turn);
            }
        }
        state.copy_from_slice(&before);
        let element = self.witness(state);
        let turn = self.turn(&element)?;
        let map = self.map(&element)?;
        self.recent.truncate(RECENT - 1);
        self.recent.insert(0, (map, turn));
        Ok(turn)
    }

    /// Replaces a state by its representative; a symmetry that leads there.
    pub(crate) fn witness(&mut self, state: &mut [u64]) -> SparsePermutation {
        self.canonicalizer.canonicalize_with_witness(&mut self.workspace, state)
    }

    /// How a symmetry acts on states of the specification.
    ///
    /// # Errors
    /// If it does not act on states, which is a defect.
    pub(crate) fn turn(&mut self, element: &SparsePermutation) -> Result<TurnId, EngineError> {
        let Some(values) = &self.specification else { return Ok(IDENTITY) };
        let literals = self.group.literals();
        // A slot that is the same in all states of the specification stays so.
        let matters = |&(from, to): &(Point, Point)| {
            let (slot, image) = (literals.slot_of(from), literals.slot_of(to));
            let is_possible = literals.slots()[slot].wide || values.may_hold(slot, literals.value_of(from));
            is_possible && (values.varies(slot) || values.varies(image))
        };
        let key: Box<[(Point, Point)]> = element.moves().filter(matters).collect();
        if key.is_empty() {
            return Ok(IDENTITY);
        }
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(known);
        }
        let map = self.map(element)?;
        let number = self.turns.len() as TurnId;
        self.turns.push(map);
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// A symmetry as a map of states.
    ///
    /// # Errors
    /// If it does not act on states, which is a defect.
    pub(crate) fn map(&self, element: &SparsePermutation) -> Result<PackedMap, EngineError> {
        let map = self.group.literals().action(self.layout, element);
        Ok(PackedMap::new(self.layout, &map.map_err(|error| EngineError::Uncertified(error.to_string()))?))
    }

    /// The map of a turn, for states of the specification.
    pub(crate) fn turned(&self, turn: TurnId) -> &PackedMap {
        &self.turns[turn as usize]
    }
}

impl Values {
    fn new(model: &Model, layout: &Layout, process: StartId, budget: &Budget) -> Result<Self, EngineError> {
        let mut alone = model.clone();
        alone.starts = Table::new();
        alone.starts.push(model.starts[process].clone());
        let holds = possible_values(&alone, layout, budget)?.holds;
        let guard = Guard::of_values(layout, |slot| {
            let holds = &holds[slot.position()];
            (holds.values(), holds.is_wide())
        });
        Ok(Self { holds, guard })
    }

    /// Whether a slot may differ between states.
    fn varies(&self, slot: SlotId) -> bool {
        let holds = &self.holds[slot.position()];
        holds.is_wide() || holds.values().len() > 1
    }

    fn may_hold(&self, slot: SlotId, value: Option<i64>) -> bool {
        let holds = &self.holds[slot.position()];
        holds.is_wide() || holds.values().contains(&value)
    }
}
