//! Certification: proves that a permutation of literals maps rules to rules, initial states to initial states and
//! properties to themselves. It uses neither the coloured graph nor the search that found the permutation, and only it
//! makes a [`CertifiedGroup`].
//!
//! There are two arguments, and a generator must pass both. The first shares with detection the functions of the model
//! and their normal forms (`quotient_functions`): a mistake in these can mislead both. The second shares only the list
//! of possible values with it, which it checks; as far as it goes, it finds such mistakes:
//!
//! * **Normal forms.** The functions of each event (guard, run-time errors, values written) are relabelled by the
//!   permutation and brought to normal form again; the result must be the functions of another event, node for node.
//!   Equal normal forms are equal functions.
//! * **Exhaustive evaluation** (`exhaust`), if an event reads few slots and as far as a fixed budget goes: the
//!   reference interpreter runs every event for every assignment of the slots it reads; the effect of an event must
//!   correspond to the effect of its image. This does not rely on normal forms at all.
//!
//! Only events that the permutation can change are considered: those that depend on a slot that it moves, according to
//! the functions or to the slots that the runs touched.

mod decisions;
mod event_set;
mod exhaust;
mod instances;
mod text;

use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use quotient_functions::{
    self as functions, Behaviour, Claim, ClaimKey, Event, EventKey, InputMove, Instance, NodeId, Preserved,
    Relabelling, Subject, Users,
};
use quotient_groups::{OrbitPartition, PermutationGroup, Point, SparsePermutation, Structure};
use quotient_ir::{Action, Budget, Layout, Model, PropertyId, SlotId, Spent, TableIndex};

use crate::interchangeable::{InstanceOrbit, InterchangeableValues};
use crate::literals::{Literals, NoAction, StateMap};
use crate::relabelling::relabelling;
use crate::text::TextInstances;
use crate::watch::watch;
pub(crate) use event_set::EventSet;
pub use exhaust::CertificationReport;
use exhaust::{Exhaustion, SlotPermutation};
use instances::CertifiedInstances;
pub use instances::{InstanceAction, InstanceMap};

/// A group of permutations of literals, each proved to be a symmetry of the model and of the properties it was
/// certified for. Only detection makes one, through a [`Certifier`].
#[derive(Clone, Debug)]
pub struct CertifiedGroup {
    literals: Literals,
    generators: Vec<SparsePermutation>,
    maps: Vec<StateMap>,
    interchangeable: Vec<InterchangeableValues>,
    /// For each rule, a rule of its orbit under the symmetries of the model, the same for the whole orbit.
    rule_classes: Vec<u32>,
    /// The action of the generators on instances.
    instances: KnownInstances,
}

/// A certified group as it acts on the first slots of the states. See [`CertifiedGroup::on_first_slots`].
#[derive(Clone, Debug)]
pub struct FirstSlots {
    literals: Literals,
    generators: Vec<SparsePermutation>,
    maps: Vec<StateMap>,
}

impl FirstSlots {
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
    /// The same action on states in which some slots always have the same value: these are not moved. `None` if a
    /// symmetry maps one of them to another slot.
    pub fn without(&self, layout: &Layout, constant: impl Fn(SlotId) -> bool) -> Option<Self> {
        let mut left = Self { literals: self.literals.clone(), generators: Vec::new(), maps: Vec::new() };
        for generator in &self.generators {
            let keep = |point: Point| !constant(self.literals.slot_of(point));
            let generator = generator.restricted(keep, |point| point)?;
            if !generator.is_identity() {
                left.maps.push(left.literals.action(layout, &generator).ok()?);
                left.generators.push(generator);
            }
        }
        Some(left)
    }
}

/// What is known about the action of a group on instances.
#[derive(Clone, Debug)]
enum KnownInstances {
    /// From functions.
    Functions(Arc<CertifiedInstances>),
    /// From the text.
    Text(Arc<TextInstances>),
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
    /// The subgroup of the exchanges of some of the [`CertifiedGroup::interchangeable`] values, by position.
    pub(crate) fn exchanging(&self, layout: &Layout, positions: &[usize]) -> Self {
        let interchangeable: Vec<InterchangeableValues> =
            positions.iter().map(|&position| self.interchangeable[position].clone()).collect();
        let generators: Vec<SparsePermutation> =
            interchangeable.iter().flat_map(|entry| entry.exchanges.iter().cloned()).collect();
        let maps = generators
            .iter()
            .map(|generator| self.literals.action(layout, generator).expect("a certified exchange acts on states"))
            .collect();
        let rule_classes = self.rule_classes.clone();
        let instances = match &self.instances {
            KnownInstances::Functions(known) => KnownInstances::Functions(Arc::clone(known)),
            KnownInstances::Text(known) => {
                KnownInstances::Text(Arc::new(known.with_generators(&self.literals, &generators)))
            }
        };
        Self { literals: self.literals.clone(), generators, maps, interchangeable, rule_classes, instances }
    }
    /// For each rule, by position, a rule of its orbit under the symmetries of the model, the same for the whole orbit:
    /// if one of them can ever fire, so may the others.
    pub fn rule_classes(&self) -> &[u32] {
        &self.rule_classes
    }
    /// The order of the group, and its structure, for reports.
    ///
    /// # Errors
    /// If the budget is spent before that is known.
    pub fn order_and_structure(&self, budget: &Budget) -> Result<(BigUint, String), Spent> {
        let watch = watch(budget);
        let permutations =
            PermutationGroup::new_watched(self.literals.degree(), self.generators.clone(), &watch).ok_or(Spent)?;
        let structure = match permutations.structure_watched(&watch).ok_or(Spent)? {
            Structure::Trivial => "trivial".to_owned(),
            structure => structure.to_string(),
        };
        Ok((permutations.order(), structure))
    }
    /// The action of the group on the states of a model that has only the first variables of this one; what is left
    /// out must be such that nothing reads it. `None` if a symmetry maps a slot that is left out to one that is not.
    pub fn on_first_slots(&self, layout: &Layout) -> Option<FirstSlots> {
        let first = self.literals.slots().iter().take(layout.slots.len());
        let literals = Literals::new(first.map(|slot| (slot.values.clone(), slot.wide)));
        let degree = literals.degree() as Point;
        let mut maps: Vec<StateMap> = Vec::new();
        let mut generators: Vec<SparsePermutation> = Vec::new();
        for generator in &self.generators {
            let generator = generator.restricted(|point| point < degree, |point| point)?;
            if !generator.is_identity() {
                maps.push(literals.action(layout, &generator).ok()?);
                generators.push(generator);
            }
        }
        Some(FirstSlots { literals, generators, maps })
    }
    /// Whether the group contains only the identity.
    pub fn is_trivial(&self) -> bool {
        self.generators.is_empty()
    }
}

/// Why a permutation is not a symmetry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It does not act on states.
    #[error(transparent)]
    NoAction(#[from] NoAction),
    /// It moves a variable whose behaviour is unknown.
    #[error("it moves {0}, which is treated as fixed")]
    MovesFixed(String),
    /// An event has no image.
    #[error("no instance of a rule does for the permuted state what this one does for the original")]
    Event {
        /// The action of the event.
        action: Action,
        /// The values of its parameters.
        arguments: Vec<i64>,
    },
    /// An event and its image have different numbers of instances, and that was to be preserved.
    #[error("another number of instances of rules does for the permuted state what this one does for the original")]
    Firings {
        /// The action of the event.
        action: Action,
        /// The values of its parameters.
        arguments: Vec<i64>,
    },
    /// It changes an amount.
    #[error("it changes the amount in {0}")]
    Amount(String),
    /// A property changes.
    #[error("a property does not mean the same for the permuted state")]
    Property(PropertyId),
    /// An event or property differs from its image (by normal forms) when they are run.
    #[error("run on a state and on its image, an instance and its image do not do the same")]
    Run {
        /// The instance.
        instance: Instance,
        /// Its supposed image.
        image: Instance,
    },
    /// The image of an initial state is not an initial state.
    #[error("the image of an initial state is not an initial state")]
    InitialStates,
    /// A value outside the possible values of a slot occurs: a defect of this program. No permutation of the literals
    /// can be trusted.
    #[error("{slot} can hold a value that was taken to never occur")]
    Impossible {
        /// The instance that writes the value.
        instance: Instance,
        /// The slot it is written to.
        slot: String,
    },
    /// The budget was spent before this was decided.
    #[error(transparent)]
    GaveUp(#[from] Spent),
    /// An instance considered to have no effect has one: a defect of this program, as above.
    #[error("an instance of a rule that was taken to never fire can")]
    Overlooked(Instance),
}

impl Rejection {
    /// Whether the two arguments contradict each other, which is a defect of this program.
    pub(crate) fn is_contradiction(&self) -> bool {
        matches!(self, Self::Run { .. } | Self::InitialStates | Self::Impossible { .. } | Self::Overlooked(_))
    }
}

/// Certifies generators of a group of symmetries. Events and claims are numbered together, events first.
pub struct Certifier<'m> {
    layout: &'m Layout,
    literals: Literals,
    behaviour: Behaviour,
    /// An event for each distinct effect.
    events: FxHashMap<(bool, EventKey), u32>,
    /// For each of these events, the number of instances that have the effect, if that is preserved.
    counts: FxHashMap<u32, u128>,
    /// The model, whose amounts are preserved.
    model: &'m Model,
    /// A claim for each distinct content.
    claims: FxHashMap<ClaimKey, u32>,
    users: Users,
    /// For each slot, the events that write it and the events and claims whose runs touched it.
    slot_instances: Vec<Vec<u32>>,
    /// For each node, the events and claims that use it.
    node_instances: Vec<Vec<u32>>,
    fixed: Vec<bool>,
    exhaustion: Exhaustion<'m>,
    budget: Budget,
    is_surveyed: bool,
    /// The instances, and the generators that passed, with their action on the instances.
    instances: Arc<CertifiedInstances>,
    /// Orbits of claims under the generators that passed; claims with equal content are merged.
    claim_orbits: OrbitPartition,
    /// Claims that a generator that passed maps to one with different content.
    exchanged: Vec<bool>,
    /// Orbits of rules, from instances that the generators that passed exchange.
    rule_orbits: OrbitPartition,
}

impl<'m> Certifier<'m> {
    /// Prepares a model with some of its properties; symmetries must also preserve all assumptions.
    ///
    /// # Errors
    /// If the budget, on which all checks draw, is spent.
    pub fn new(
        model: &'m Model,
        layout: &'m Layout,
        properties: &[PropertyId],
        budget: &Budget,
    ) -> Result<Self, Spent> {
        Self::preserving(model, layout, Preserved::Properties(properties), budget)
    }

    /// Prepares a model with the properties that symmetries must preserve.
    pub(crate) fn preserving(
        model: &'m Model,
        layout: &'m Layout,
        preserved: Preserved<'_>,
        budget: &Budget,
    ) -> Result<Self, Spent> {
        Self::of_behaviour(model, layout, functions::unfold(model, layout, preserved, budget)?, budget)
    }

    /// Prepares an unfolded model.
    pub(crate) fn of_behaviour(
        model: &'m Model,
        layout: &'m Layout,
        mut behaviour: Behaviour,
        budget: &Budget,
    ) -> Result<Self, Spent> {
        behaviour.circuit.draw_on(budget);
        let mut slot_instances = vec![Vec::new(); behaviour.circuit.slot_count()];
        let mut node_instances: Vec<Vec<u32>> = vec![Vec::new(); behaviour.circuit.len()];
        let mut all_roots = Vec::new();
        let mut add = |number: usize, roots: &[NodeId]| {
            all_roots.extend(roots);
            for root in roots {
                let instances = &mut node_instances[root.position()];
                if instances.last() != Some(&(number as u32)) {
                    instances.push(number as u32);
                }
            }
        };
        for (number, event) in behaviour.events.iter().enumerate() {
            budget.spend(1 + event.writes.len() as u64)?;
            add(number, &event.roots());
            for write in event.writes.iter().chain(event.additions.iter().flatten()) {
                slot_instances[write.slot as usize].push(number as u32);
            }
        }
        for (number, claim) in behaviour.claims.iter().enumerate() {
            add(behaviour.events.len() + number, &[claim.condition, claim.fault]);
        }
        let users = Users::new(&behaviour.circuit, all_roots, budget)?;
        let mut fixed = vec![false; layout.slots.len()];
        for entry in &behaviour.fixed {
            let first = layout.first_slot(entry.variable).position();
            let cells = model.cells(model.variables[entry.variable].ty) as usize;
            fixed[first..first + cells].fill(true);
        }
        let mut events = FxHashMap::default();
        let mut representatives: Vec<u32> = Vec::with_capacity(behaviour.events.len() + behaviour.claims.len());
        for (number, event) in behaviour.events.iter().enumerate() {
            representatives.push(*events.entry((event.is_start(), event.key())).or_insert(number as u32));
        }
        let mut counts = FxHashMap::default();
        if behaviour.preserves_firings {
            let distinct = behaviour.distinct_events(budget)?.into_iter();
            counts.extend(distinct.map(|(event, count)| (events[&(event.is_start(), event.key())], count)));
        }
        let mut claims = FxHashMap::default();
        let mut claim_orbits = OrbitPartition::new(behaviour.claims.len());
        for (number, claim) in behaviour.claims.iter().enumerate() {
            let same = *claims.entry(claim.key()).or_insert(number as u32);
            claim_orbits.merge(same, number as Point);
            representatives.push(behaviour.events.len() as u32 + same);
        }
        let exchanged = vec![false; behaviour.claims.len()];
        let literals = Literals::of_functions(&behaviour);
        let instances = behaviour.events.iter().map(Event::instance);
        let instances: Vec<Instance> = instances.chain(behaviour.claims.iter().map(Claim::instance)).collect();
        let exhaustion = Exhaustion::new(model, layout, literals.clone(), instances.clone(), budget);
        let positional = behaviour.positional.clone();
        let open = behaviour.inputs.iter().map(|&(action, _)| action).collect();
        let moves = FxHashMap::default();
        let instances = Arc::new(CertifiedInstances {
            instances,
            representatives,
            positional,
            open,
            moves,
            numbers: OnceLock::new(),
        });
        Ok(Self {
            budget: budget.clone(),
            layout,
            literals,
            behaviour,
            events,
            counts,
            model,
            claims,
            users,
            slot_instances,
            node_instances,
            fixed,
            exhaustion,
            is_surveyed: false,
            instances,
            claim_orbits,
            exchanged,
            rule_orbits: OrbitPartition::new(model.rules.len()),
        })
    }

    /// Announces how many generators will be checked, so that each gets its share of the work.
    pub(crate) fn expect(&mut self, generators: usize) {
        self.exhaustion.expected = (generators as u64).max(1);
    }

    /// The points that generators permute.
    pub fn literals(&self) -> &Literals {
        &self.literals
    }

    /// How the generators checked so far were certified.
    pub fn report(&self) -> CertificationReport {
        self.exhaustion.report
    }

    /// Proves that a permutation of literals is a symmetry, and returns its action on states.
    ///
    /// # Errors
    /// If it is not one, or cannot be proved to be one.
    pub fn check(&mut self, generator: &SparsePermutation) -> Result<StateMap, Rejection> {
        self.check_with(generator, None)
    }

    /// Like [`Certifier::check`], with a hint about the images of the inputs of events.
    pub(crate) fn check_with(
        &mut self,
        generator: &SparsePermutation,
        inputs: Option<&[InputMove]>,
    ) -> Result<StateMap, Rejection> {
        self.budget.spend(1 + generator.support().len() as u64)?;
        let map = self.literals.action(self.layout, generator)?;
        if self.instances.moves.contains_key(generator) {
            return Ok(map);
        }
        for slot_move in map.moves() {
            if self.fixed[slot_move.from.position()] {
                return Err(Rejection::MovesFixed(self.layout.slots[slot_move.from].name.clone()));
            }
            if slot_move.values.is_some() && self.model.is_amount(self.layout.slots[slot_move.from].ty) {
                return Err(Rejection::Amount(self.layout.slots[slot_move.from].name.clone()));
            }
        }
        self.survey()?;
        let mut relabelling = relabelling(&self.behaviour, &map, inputs);
        relabelling.prepare(&self.users);
        let numbers = self.affected(&relabelling);
        let mut known = FxHashMap::default();
        let mut pairs = Vec::with_capacity(numbers.len());
        let mut claim_images = Vec::new();
        for number in numbers {
            let image = match (number as usize).checked_sub(self.behaviour.events.len()) {
                None => self.event_image(number, &relabelling, &mut known)?,
                Some(claim) => {
                    let image = self.claim_image(claim, &relabelling, &mut known)?;
                    claim_images.push((claim as u32, image));
                    self.behaviour.events.len() as u32 + image
                }
            };
            pairs.push((number, image));
        }
        let rules = |number: u32| match self.behaviour.events.get(number as usize)?.action {
            Action::Rule(rule) => Some(rule.position() as Point),
            Action::Start(_) => None,
        };
        let exchanged: Vec<(Point, Point)> =
            pairs.iter().filter_map(|&(number, image)| rules(number).zip(rules(image))).collect();
        // Before anything is concluded: functions made after the budget was spent are meaningless.
        self.require_sound()?;
        let representatives = &self.instances.representatives;
        let class_moves = pairs
            .iter()
            .map(|&(number, image)| (number, representatives[image as usize]))
            .filter(|&(number, image)| representatives[number as usize] == number && number != image)
            .collect();
        self.exhaustion.compare(&SlotPermutation::new(&map), pairs)?;
        for (rule, image) in exchanged {
            self.rule_orbits.merge(rule, image);
        }
        Arc::make_mut(&mut self.instances).moves.insert(generator.clone(), class_moves);
        for (number, image) in claim_images {
            self.exchanged[number as usize] |= self.claims[&self.behaviour.claims[number as usize].key()] != image;
            self.claim_orbits.merge(number, image);
        }
        Ok(map)
    }

    /// Whether a generator that passed maps an instance to another, or to one that does the same in every state. False
    /// if nothing is known of the generator or of an instance.
    pub fn maps_instance(&self, generator: &SparsePermutation, from: &Instance, to: &Instance) -> bool {
        self.instances.maps(generator, from, to)
    }

    /// Whether the functions made so far are meaningful.
    fn require_sound(&self) -> Result<(), Spent> {
        if self.behaviour.circuit.is_spent() { Err(Spent) } else { Ok(()) }
    }

    /// The events and claims that a relabelling may change, claims after all events.
    fn affected(&self, relabelling: &Relabelling) -> Vec<u32> {
        let mut numbers: Vec<u32> = Vec::new();
        for slot in relabelling.moved() {
            numbers.extend(&self.slot_instances[slot as usize]);
        }
        for node in relabelling.affected() {
            numbers.extend(&self.node_instances[node.position()]);
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The properties that a permutation does not preserve. Nothing else is checked.
    pub(crate) fn broken_properties(
        &mut self,
        generator: &SparsePermutation,
        inputs: Option<&[InputMove]>,
    ) -> Result<Vec<PropertyId>, Spent> {
        let Ok(map) = self.literals.action(self.layout, generator) else { return Ok(Vec::new()) };
        let mut relabelling = relabelling(&self.behaviour, &map, inputs);
        relabelling.prepare(&self.users);
        let mut known = FxHashMap::default();
        let mut broken = Vec::new();
        for number in self.affected(&relabelling) {
            let Some(claim) = (number as usize).checked_sub(self.behaviour.events.len()) else { continue };
            let property = self.behaviour.claims[claim].property;
            if !broken.contains(&property) && self.claim_image(claim, &relabelling, &mut known).is_err() {
                broken.push(property);
            }
        }
        self.require_sound()?;
        Ok(broken)
    }

    /// The orbits of instances of properties under the generators that passed.
    pub(crate) fn instance_orbits(&mut self) -> Vec<InstanceOrbit> {
        let mut orbits = Vec::new();
        for class in self.claim_orbits.classes(2) {
            if class.iter().any(|&number| self.exchanged[number as usize]) {
                let claims = || class.iter().map(|&number| &self.behaviour.claims[number as usize]);
                let property = claims().next().expect("a class has a claim").property;
                let instances = claims().map(|claim| claim.arguments.clone()).collect();
                orbits.push(InstanceOrbit { property, instances });
            }
        }
        orbits
    }

    /// The image of an event under the permutation.
    fn event_image(
        &mut self,
        number: u32,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Result<u32, Rejection> {
        let events = &self.events;
        let key = self.behaviour.event_image(number as usize, relabelling, known, |key| events.contains_key(key));
        let event = &self.behaviour.events[number as usize];
        self.require_sound()?;
        let image = key.and_then(|key| self.events.get(&(event.is_start(), key)));
        let (action, arguments) = (event.action, || event.arguments.clone());
        let &image = image.ok_or_else(|| Rejection::Event { action, arguments: arguments() })?;
        // Effects are mapped one to one; instances are if as many have an effect as have its image.
        let representative = self.instances.representatives[number as usize];
        if self.counts.get(&representative) == self.counts.get(&image) {
            Ok(image)
        } else {
            Err(Rejection::Firings { action, arguments: arguments() })
        }
    }

    /// The image of a claim under the permutation.
    fn claim_image(
        &mut self,
        claim: usize,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Result<u32, Rejection> {
        let claim = &self.behaviour.claims[claim];
        let circuit = &mut self.behaviour.circuit;
        let condition = circuit.relabelled(claim.condition, relabelling, known);
        let fault = circuit.relabelled(claim.fault, relabelling, known);
        let image = condition
            .zip(fault)
            .and_then(|(condition, fault)| self.claims.get(&(claim.property, condition, fault)).copied());
        self.require_sound()?;
        image.ok_or(Rejection::Property(claim.property))
    }

    /// The group of the checked generators, with exchanges of values that were checked, too.
    pub(crate) fn group(
        &self,
        generators: Vec<(SparsePermutation, StateMap)>,
        interchangeable: Vec<InterchangeableValues>,
    ) -> CertifiedGroup {
        let (generators, maps) = generators.into_iter().unzip();
        let mut orbits = self.rule_orbits.clone();
        let rule_classes = (0..orbits.degree() as Point).map(|rule| orbits.find(rule)).collect();
        let instances = KnownInstances::Functions(Arc::clone(&self.instances));
        CertifiedGroup { literals: self.literals.clone(), generators, maps, interchangeable, rule_classes, instances }
    }

    /// Runs all events and claims individually, once.
    fn survey(&mut self) -> Result<(), Rejection> {
        if self.is_surveyed {
            return Ok(());
        }
        let touched = self.exhaustion.survey(&self.behaviour.idle)?;
        for (number, slots) in touched.into_iter().enumerate() {
            for slot in slots {
                self.slot_instances[slot.position()].push(number as u32);
            }
        }
        self.is_surveyed = true;
        Ok(())
    }
}
