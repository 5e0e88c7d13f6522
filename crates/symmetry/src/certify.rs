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

mod exhaust;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Layout, Model, PropertyId, TableIndex, TypeId};

use crate::behaviour::{self, Behaviour, Claim, InputMove, LivenessInstances};
use crate::circuit::NodeId;
use crate::literals::{Literals, NoAction, StateMap};
use crate::unfold::{Event, EventKey};
pub use exhaust::CertificationReport;
use exhaust::{Exhaustion, SlotPermutation};

/// What a claim says: its subject, when it holds, and when it has no value.
type ClaimKey = (PropertyId, Option<Vec<i64>>, NodeId, NodeId);

/// A group of permutations of literals, each of which was shown to be a symmetry of the model and
/// of the properties it was certified for. Only detection by way of a [`Certifier`] makes one.
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

/// An instance of a rule, initial-state program or property.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// What it is an instance of.
    pub subject: Subject,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
}

/// What there are instances of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A rule or an initial-state program.
    Action(Action),
    /// A property.
    Property(PropertyId),
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
    /// An event or property and its image by normal forms differ when they are run.
    #[error("run on a state and on its image, an instance and its image do not do the same")]
    Run {
        /// The instance.
        instance: Instance,
        /// What was taken to be its image.
        image: Instance,
    },
    /// The image of an initial state is none.
    #[error("the image of an initial state is no initial state")]
    InitialStates,
    /// The possible values of a slot are not all that can occur: a mistake in this program, and no
    /// permutation of the literals can be trusted.
    #[error("{slot} can hold a value that was taken to never occur")]
    Impossible {
        /// The instance that writes the value.
        instance: Instance,
        /// Where to.
        slot: String,
    },
    /// An instance was taken to do nothing and does something: a mistake in this program, as before.
    #[error("an instance of a rule that was taken to never fire can")]
    Overlooked(Instance),
}

impl Rejection {
    /// Whether the two arguments contradict each other, which is a mistake in this program.
    pub(crate) fn is_contradiction(&self) -> bool {
        matches!(self, Self::Run { .. } | Self::InitialStates | Self::Impossible { .. } | Self::Overlooked(_))
    }
}

/// Certifies generators of a group of symmetries.
pub struct Certifier<'m> {
    layout: &'m Layout,
    literals: Literals,
    behaviour: Behaviour,
    /// An event for each thing that events do.
    events: FxHashMap<(bool, EventKey), u32>,
    /// A claim for each thing that claims say.
    claims: FxHashMap<ClaimKey, u32>,
    /// For each slot, the events and claims that read or write it.
    event_users: Vec<Vec<u32>>,
    claim_users: Vec<Vec<u32>>,
    fixed: Vec<bool>,
    exhaustion: Exhaustion<'m>,
    is_surveyed: bool,
    /// Generators that passed.
    accepted: FxHashSet<SparsePermutation>,
}

impl<'m> Certifier<'m> {
    /// Prepares a model with some of its properties; symmetries must preserve all assumptions, too.
    pub fn new(model: &'m Model, layout: &'m Layout, properties: &[PropertyId]) -> Self {
        Self::of_behaviour(model, layout, behaviour::unfold(model, layout, properties, LivenessInstances::Together))
    }

    /// Prepares a model that is unfolded.
    pub(crate) fn of_behaviour(model: &'m Model, layout: &'m Layout, behaviour: Behaviour) -> Self {
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
        let mut events = FxHashMap::default();
        for (number, event) in behaviour.events.iter().enumerate() {
            events.entry((is_start(event.action), event.key())).or_insert(number as u32);
        }
        let mut claims = FxHashMap::default();
        for (number, claim) in behaviour.claims.iter().enumerate() {
            let (property, arguments) = claim.subject();
            claims.entry((property, arguments, claim.condition, claim.fault)).or_insert(number as u32);
        }
        let literals = behaviour.literals();
        let exhaustion = Exhaustion::new(model, layout, literals.clone());
        Self {
            layout,
            literals,
            behaviour,
            events,
            claims,
            event_users,
            claim_users,
            fixed,
            exhaustion,
            is_surveyed: false,
            accepted: FxHashSet::default(),
        }
    }

    /// Says how many generators are to be checked, so that each gets its share of the work.
    pub(crate) fn expect(&mut self, generators: usize) {
        self.exhaustion.expected = (generators as u64).max(1);
    }

    /// The points that generators permute.
    pub fn literals(&self) -> &Literals {
        &self.literals
    }

    /// How what was checked so far was certified.
    pub fn report(&self) -> CertificationReport {
        self.exhaustion.report
    }

    /// Shows that a permutation of literals is a symmetry, and gives its action on states.
    ///
    /// # Errors
    /// If it is none, or cannot be shown to be one.
    pub fn check(&mut self, generator: &SparsePermutation) -> Result<StateMap, Rejection> {
        self.check_with(generator, None)
    }

    /// Like [`Certifier::check`], with a hint where the inputs of events go.
    pub(crate) fn check_with(
        &mut self,
        generator: &SparsePermutation,
        inputs: Option<&[InputMove]>,
    ) -> Result<StateMap, Rejection> {
        let map = self.literals.action(self.layout, generator)?;
        if self.accepted.contains(generator) {
            return Ok(map);
        }
        for slot_move in map.moves() {
            if self.fixed[slot_move.from.position()] {
                return Err(Rejection::MovesFixed(self.layout.slots[slot_move.from].name.clone()));
            }
        }
        self.survey()?;
        let relabelling = self.behaviour.relabelling(&map, inputs);
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
        let mut pairs = Vec::with_capacity(events.len() + claims.len());
        for number in events {
            let events = &self.events;
            let key =
                self.behaviour.event_image(number as usize, &relabelling, &mut known, |key| events.contains_key(key));
            let event = &self.behaviour.events[number as usize];
            let image = key.and_then(|key| self.events.get(&(is_start(event.action), key)));
            let Some(&image) = image else {
                return Err(Rejection::Event { action: event.action, arguments: event.arguments.clone() });
            };
            pairs.push((event.instance(), self.behaviour.events[image as usize].instance()));
        }
        for number in claims {
            let claim = &self.behaviour.claims[number as usize];
            let circuit = &mut self.behaviour.circuit;
            let condition = circuit.relabelled(claim.condition, &relabelling, &mut known);
            let fault = circuit.relabelled(claim.fault, &relabelling, &mut known);
            let image = condition.zip(fault).and_then(|(condition, fault)| {
                let (property, arguments) = claim.subject();
                self.claims.get(&(property, arguments, condition, fault))
            });
            let Some(&image) = image else { return Err(Rejection::Property(claim.property)) };
            pairs.push((claim.instance(), self.behaviour.claims[image as usize].instance()));
        }
        self.exhaustion.compare(&SlotPermutation::new(&map), pairs)?;
        self.accepted.insert(generator.clone());
        Ok(map)
    }

    /// The group of generators that were checked, with exchanges of values that were checked, too.
    pub(crate) fn group(
        self,
        generators: Vec<(SparsePermutation, StateMap)>,
        interchangeable: Vec<InterchangeableValues>,
    ) -> CertifiedGroup {
        let (generators, maps) = generators.into_iter().unzip();
        CertifiedGroup { literals: self.literals, generators, maps, interchangeable }
    }

    /// Runs all events and claims by themselves, once.
    fn survey(&mut self) -> Result<(), Rejection> {
        if self.is_surveyed {
            return Ok(());
        }
        let events = self.behaviour.events.iter().map(Event::instance);
        let claims = self.behaviour.claims.iter().map(Claim::instance);
        let instances: Vec<Instance> = events.chain(claims).collect();
        let touched = self.exhaustion.survey(&instances, &self.behaviour.idle)?;
        let event_count = self.behaviour.events.len();
        for (number, slots) in touched.into_iter().enumerate() {
            for slot in slots {
                if number < event_count {
                    self.event_users[slot.position()].push(number as u32);
                } else {
                    self.claim_users[slot.position()].push((number - event_count) as u32);
                }
            }
        }
        self.is_surveyed = true;
        Ok(())
    }
}

impl Event {
    fn instance(&self) -> Instance {
        Instance { subject: Subject::Action(self.action), arguments: self.arguments.clone() }
    }
}

impl Claim {
    fn instance(&self) -> Instance {
        Instance { subject: Subject::Property(self.property), arguments: self.arguments.clone() }
    }
}

fn is_start(action: Action) -> bool {
    matches!(action, Action::Start(_))
}
