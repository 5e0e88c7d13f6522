//! Certification: a permutation of literals is shown to map rules to rules, initial states to
//! initial states and properties to themselves. It does not look at the coloured graph or at the
//! search that found the permutation, and it alone makes a [`CertifiedGroup`].
//!
//! Two arguments, and a generator must pass both:
//!
//! * **Normal forms.** The functions of each event (guard, faults, values written) are relabelled by
//!   the permutation and brought to normal form again; the result must be the functions of another
//!   event, node for node. Equal normal forms are equal functions.
//! * **Exhaustive evaluation** (`exhaust`), where an event reads little: the reference interpreter
//!   runs the event for every assignment of what it reads, and its image for the image of that
//!   assignment; the outcomes must correspond. This does not rely on normal forms at all.

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Layout, Model, PropertyId, TableIndex, TypeId};

use crate::behaviour::Behaviour;
use crate::circuit::NodeId;
use crate::literals::{Literals, NoAction, StateMap};
use crate::unfold::EventKey;

/// A group of permutations of literals, each of which was shown to be a symmetry of the model and
/// of the properties it was certified for. Only [`certify`] makes one.
#[derive(Clone, Debug)]
pub struct CertifiedGroup {
    literals: Literals,
    generators: Vec<SparsePermutation>,
    maps: Vec<StateMap>,
    interchangeable: Vec<InterchangeableValues>,
}

/// Values of a type that can be exchanged freely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterchangeableValues {
    /// The type.
    pub ty: TypeId,
    /// The values, at least two.
    pub values: Vec<i64>,
    /// The certified exchange of each value with the next.
    pub exchanges: Vec<SparsePermutation>,
}

impl CertifiedGroup {
    /// The points that are permuted.
    pub fn literals(&self) -> &Literals {
        &self.literals
    }
    /// The generators as permutations of the points.
    pub fn generators(&self) -> &[SparsePermutation] {
        &self.generators
    }
    /// The generators as maps of states.
    pub fn maps(&self) -> &[StateMap] {
        &self.maps
    }
    /// Values of types that can be exchanged freely: full symmetric groups inside this group.
    pub fn interchangeable(&self) -> &[InterchangeableValues] {
        &self.interchangeable
    }
    /// Whether there is nothing but the identity.
    pub fn is_trivial(&self) -> bool {
        self.generators.is_empty()
    }
}

/// Why a permutation is no symmetry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It does not act on states.
    #[error(transparent)]
    NoAction(#[from] NoAction),
    /// It moves a variable whose behaviour is not known.
    #[error("it moves {0}, which is treated as fixed")]
    MovesFixed(String),
    /// An event has no image.
    #[error("no instance of a rule does for the permuted state what this one does for the original")]
    Event {
        /// What it is an instance of.
        action: Action,
        /// The values of its parameters.
        arguments: Vec<i64>,
    },
    /// A property changes.
    #[error("a property does not mean the same for the permuted state")]
    Property(PropertyId),
}

/// Certifies generators of a group.
pub(crate) struct Certifier<'m> {
    model: &'m Model,
    layout: &'m Layout,
    literals: Literals,
    behaviour: Behaviour,
    events: FxHashSet<(bool, EventKey)>,
    claims: FxHashSet<(PropertyId, NodeId, NodeId)>,
    /// For each slot, the events and claims that read or write it.
    event_users: Vec<Vec<u32>>,
    claim_users: Vec<Vec<u32>>,
    fixed: Vec<bool>,
}

impl<'m> Certifier<'m> {
    /// Prepares a model with the properties that were unfolded.
    pub(crate) fn new(model: &'m Model, layout: &'m Layout, literals: Literals, behaviour: Behaviour) -> Self {
        let slot_count = behaviour.circuit.slot_count();
        let mut event_users = vec![Vec::new(); slot_count];
        for (number, event) in behaviour.events.iter().enumerate() {
            let mut slots = behaviour.circuit.slots_below(event.roots());
            slots.extend(event.writes.iter().map(|write| write.slot));
            slots.sort_unstable();
            slots.dedup();
            for slot in slots {
                event_users[slot as usize].push(number as u32);
            }
        }
        let mut claim_users = vec![Vec::new(); slot_count];
        for (number, claim) in behaviour.claims.iter().enumerate() {
            for slot in behaviour.circuit.slots_below([claim.condition, claim.fault]) {
                claim_users[slot as usize].push(number as u32);
            }
        }
        let mut fixed = vec![false; layout.slots.len()];
        for entry in &behaviour.fixed {
            let first = layout.first_slot(entry.variable).position();
            let cells = model.cells(model.variables[entry.variable].ty) as usize;
            fixed[first..first + cells].fill(true);
        }
        let events = behaviour.events.iter().map(|event| (is_start(event.action), event.key())).collect();
        let claims = behaviour.claims.iter().map(|claim| (claim.property, claim.condition, claim.fault)).collect();
        Self { model, layout, literals, behaviour, events, claims, event_users, claim_users, fixed }
    }

    /// Shows that a permutation of literals is a symmetry.
    pub(crate) fn check(&mut self, generator: &SparsePermutation) -> Result<StateMap, Rejection> {
        let map = self.literals.action(self.layout, generator)?;
        for slot_move in map.moves() {
            if self.fixed[slot_move.from.position()] {
                return Err(Rejection::MovesFixed(self.layout.slots[slot_move.from].name.clone()));
            }
        }
        let relabelling = self.behaviour.relabelling(&map);
        let mut known = FxHashMap::default();
        let (mut events, mut claims): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for slot in relabelling.moved() {
            events.extend(&self.event_users[slot as usize]);
            claims.extend(&self.claim_users[slot as usize]);
        }
        for list in [&mut events, &mut claims] {
            list.sort_unstable();
            list.dedup();
        }
        for number in events {
            let event = self.behaviour.events[number as usize].clone();
            let image = event.relabelled(&mut self.behaviour.circuit, &relabelling, &mut known);
            if !image.is_some_and(|image| self.events.contains(&(is_start(event.action), image))) {
                return Err(Rejection::Event { action: event.action, arguments: event.arguments });
            }
        }
        for number in claims {
            let claim = self.behaviour.claims[number as usize].clone();
            let circuit = &mut self.behaviour.circuit;
            let condition = circuit.relabelled(claim.condition, &relabelling, &mut known);
            let fault = circuit.relabelled(claim.fault, &relabelling, &mut known);
            let known_claim = condition
                .zip(fault)
                .is_some_and(|(condition, fault)| self.claims.contains(&(claim.property, condition, fault)));
            if !known_claim {
                return Err(Rejection::Property(claim.property));
            }
        }
        Ok(map)
    }

    /// The group of generators that were checked.
    pub(crate) fn group(
        self,
        generators: Vec<(SparsePermutation, StateMap)>,
        interchangeable: Vec<InterchangeableValues>,
    ) -> CertifiedGroup {
        let (generators, maps) = generators.into_iter().unzip();
        CertifiedGroup { literals: self.literals, generators, maps, interchangeable }
    }

    pub(crate) fn model(&self) -> &'m Model {
        self.model
    }
}

fn is_start(action: Action) -> bool {
    matches!(action, Action::Start(_))
}
