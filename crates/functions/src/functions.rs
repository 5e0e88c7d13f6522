//! The functions of a model by instance: the interface for callers who want to know what an instance of a rule, start
//! or property reads, writes and does, but not how that was determined.

use std::ops::Range;

use quotient_ir::{Budget, Layout, Model, SlotId, Spent, TableIndex, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::behaviour::{Behaviour, Claim, Preserved, Refused, unfold};
use crate::circuit::{Circuit, Node, NodeId};
use crate::evaluation::{Assignment, Evaluation};
use crate::event::{Event, Write, Written};
use crate::instance::Instance;

/// An instance of [`Functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(u32);

impl InstanceId {
    /// The number of the instance.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// A model as functions of its state, by instance.
#[derive(Debug)]
pub struct Functions {
    behaviour: Behaviour,
    /// The instances of the events, then of the claims, then those that never have an effect.
    instances: Vec<Instance>,
    ids: FxHashMap<Instance, InstanceId>,
}

/// The effect of an instance of a rule in a state, according to its functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It cannot fire, or an assumption in its body drops the step.
    Disabled,
    /// Its guard or its body causes a run-time error.
    Fault,
    /// The state after the step, with multisets in normal form.
    Next(Valuation),
}

impl Functions {
    /// The functions of a model, including some properties and all its assumptions.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn of(model: &Model, layout: &Layout, preserved: Preserved<'_>, budget: &Budget) -> Result<Self, Spent> {
        Ok(Self::of_behaviour(unfold(model, layout, preserved, budget)?))
    }

    /// The same for an unfolded model.
    pub fn of_behaviour(behaviour: Behaviour) -> Self {
        let events = behaviour.events.iter().map(Event::instance);
        let claims = behaviour.claims.iter().map(Claim::instance);
        let instances: Vec<Instance> = events.chain(claims).chain(behaviour.idle.iter().cloned()).collect();
        let numbered = instances.iter().enumerate();
        let ids = numbered.map(|(number, instance)| (instance.clone(), InstanceId(number as u32))).collect();
        Self { behaviour, instances, ids }
    }

    /// The whole unfolded model.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// The pool of the nodes.
    pub fn circuit(&self) -> &Circuit {
        &self.behaviour.circuit
    }

    /// Rules, starts and properties without functions. Callers who need to know about every instance must assume that
    /// these can read and write everything their text mentions.
    pub fn refused(&self) -> &[Refused] {
        &self.behaviour.refused
    }

    /// All instances that have functions. If a property is an assumption that can cause a run-time error, its instances
    /// are evaluated in order and count as one, without arguments. An action with too many instances to list counts as
    /// one, too, with [`Functions::inputs`].
    pub fn instances(&self) -> impl ExactSizeIterator<Item = InstanceId> + use<> {
        (0..self.instances.len() as u32).map(InstanceId)
    }

    /// The instance with this number.
    pub fn instance(&self, id: InstanceId) -> &Instance {
        &self.instances[id.position()]
    }

    /// The number of an instance.
    pub fn id(&self, instance: &Instance) -> Option<InstanceId> {
        self.ids.get(instance).copied()
    }

    /// An instance of a rule or start, unless it never has an effect.
    pub fn event(&self, id: InstanceId) -> Option<&Event> {
        self.behaviour.events.get(id.position())
    }

    /// An instance of a property.
    pub fn claim(&self, id: InstanceId) -> Option<&Claim> {
        self.behaviour.claims.get(id.position().checked_sub(self.behaviour.events.len())?)
    }

    /// The condition under which an instance of a rule fires, wherever it neither causes a run-time error nor is
    /// dropped; or the condition of a property, wherever it does not cause a run-time error.
    pub fn guard(&self, id: InstanceId) -> NodeId {
        match (self.event(id), self.claim(id)) {
            (Some(event), _) => event.guard,
            (None, Some(claim)) => claim.condition,
            (None, None) => NodeId::FALSE,
        }
    }

    /// When an instance causes a run-time error.
    pub fn fault(&self, id: InstanceId) -> NodeId {
        match (self.event(id), self.claim(id)) {
            (Some(event), _) => event.fault,
            (None, Some(claim)) => claim.fault,
            (None, None) => NodeId::FALSE,
        }
    }

    /// When an assumption in the body drops the step, given that the guard holds and there is no run-time error.
    pub fn dropped(&self, id: InstanceId) -> NodeId {
        self.event(id).map_or(NodeId::FALSE, |event| event.dropped)
    }

    /// What an instance writes to a slot; `None` if it never changes the slot. [`Written`] says where this is
    /// meaningful. Elements added to multisets are in [`Functions::additions`].
    pub fn next(&self, id: InstanceId, slot: SlotId) -> Option<&Written> {
        let writes = &self.event(id)?.writes;
        let found = writes.binary_search_by_key(&(slot.position() as u32), |write| write.slot).ok()?;
        Some(&writes[found].written)
    }

    /// The elements that an instance adds to multisets, each as the writes to the columns of one.
    pub fn additions(&self, id: InstanceId) -> &[Vec<Write>] {
        self.event(id).map_or(&[], |event| &event.additions)
    }

    /// The slots of the circuit that represent the parameters of an instance that are not enumerated.
    pub fn inputs(&self, id: InstanceId) -> Range<u32> {
        let action = self.event(id).map(|event| event.action);
        let found = self.behaviour.inputs.iter().find(|(owner, _)| Some(*owner) == action);
        found.map_or(0..0, |(_, range)| range.clone())
    }

    /// The slots that an instance can change, in increasing order. If a slot of a multiset is among them, all its slots
    /// are, because its elements are sorted after a step.
    pub fn writes(&self, id: InstanceId) -> Vec<SlotId> {
        let Some(event) = self.event(id) else { return Vec::new() };
        let written = event.writes.iter().chain(event.additions.iter().flatten()).map(|write| write.slot);
        self.state_slots(written)
    }

    /// The slots on which the effect of an instance depends, in increasing order: in two states that agree on these, it
    /// fires in both or in neither, and every slot it can change is either unchanged in both or gets the same value in
    /// both. All slots of a multiset that is written or read are included. Costs one traversal of the functions.
    pub fn reads(&self, id: InstanceId) -> Vec<SlotId> {
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut slots: Vec<u32> = Vec::new();
        let mut pending = match (self.event(id), self.claim(id)) {
            (Some(event), _) => {
                let is_in_multiset = |slot: &u32| self.multiset_at(*slot).is_some();
                let written = event.writes.iter().chain(event.additions.iter().flatten()).map(|write| write.slot);
                slots.extend(written.filter(is_in_multiset));
                event.roots()
            }
            (None, Some(claim)) => vec![claim.condition, claim.fault],
            (None, None) => Vec::new(),
        };
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            match self.circuit().node(node) {
                Node::In { slot, .. } | Node::SlotValue(slot) => slots.push(*slot),
                Node::Table { slots: own, .. } => slots.extend(own.iter()),
                other => other.for_each_child(|child| pending.push(child)),
            }
        }
        self.state_slots(slots.into_iter())
    }

    /// The values that a slot can hold in a reachable state, in increasing order, undefined first; for a wide slot,
    /// only the least and the greatest.
    pub fn values(&self, slot: SlotId) -> &[Option<i64>] {
        self.circuit().values(slot.position() as u32)
    }

    /// Whether a slot can hold too many values to list.
    pub fn is_wide(&self, slot: SlotId) -> bool {
        self.circuit().is_wide(slot.position() as u32)
    }

    /// The effect of an instance of a rule in a state; if it has inputs, with these values of its parameters. `None` if
    /// the functions do not determine it, which is possible only in unreachable states.
    pub fn effect(&self, layout: &Layout, id: InstanceId, state: &Valuation, inputs: &[i64]) -> Option<Effect> {
        let Some(event) = self.event(id) else { return Some(Effect::Disabled) };
        let assignment = Assignment::with_inputs(state, self.inputs(id).start, inputs);
        let mut evaluation = Evaluation::new(self.circuit(), assignment);
        if evaluation.holds(event.fault)? {
            return Some(Effect::Fault);
        }
        if !evaluation.holds(event.guard)? || evaluation.holds(event.dropped)? {
            return Some(Effect::Disabled);
        }
        let mut next = state.clone();
        for write in &event.writes {
            next[SlotId::from_position(write.slot as usize)] = evaluation.next(write)?;
        }
        for addition in &event.additions {
            self.add(&mut evaluation, addition, &mut next)?;
        }
        layout.normalize(&mut next);
        Some(Effect::Next(next))
    }

    /// Puts an element at the first free position of its multiset, if the element is added at all.
    fn add(&self, evaluation: &mut Evaluation<'_>, addition: &[Write], next: &mut Valuation) -> Option<()> {
        let presence = addition.first()?;
        let mut value_of = |write: &Write| match &write.written {
            Written::Cases(cases) => {
                for &(value, condition) in cases {
                    if evaluation.holds(condition)? {
                        return Some(Some(value));
                    }
                }
                Some(None)
            }
            Written::Number { when, undefined, value } => Some(if !evaluation.holds(*when)? {
                None
            } else if evaluation.holds(*undefined)? {
                Some(None)
            } else {
                Some(Some(evaluation.form(value)?))
            }),
        };
        if value_of(presence)? != Some(Some(1)) {
            return Some(());
        }
        let multisets = &self.behaviour.multisets;
        let entry = *multisets.iter().find(|entry| entry.columns == presence.slot)?;
        let slot = |position: u32, column: u32| SlotId::from_position(entry.slot(position, column) as usize);
        let free = (0..entry.capacity).find(|&position| next[slot(position, 0)] != Some(1))?;
        next[slot(free, 0)] = Some(1);
        for column in 1..entry.stride {
            let write = addition.iter().find(|write| write.slot == entry.columns + column);
            // A column that is not written has a single value.
            next[slot(free, column)] = match write {
                Some(write) => value_of(write)??,
                None => self.circuit().values(entry.columns + column).iter().copied().flatten().next(),
            };
        }
        Some(())
    }

    /// The range of slots of the multiset that a slot or column belongs to.
    fn multiset_at(&self, slot: u32) -> Option<Range<u32>> {
        let multisets = &self.behaviour.multisets;
        let of_column = || multisets.iter().find(|entry| (entry.columns..entry.columns + entry.stride).contains(&slot));
        let entry = multisets.of_slot(slot).map(|(_, entry)| entry).or_else(of_column)?;
        Some(entry.first..entry.first + entry.capacity * entry.stride)
    }

    /// Slots of the circuit as slots of the state; all slots of a multiset if one of them is included.
    fn state_slots(&self, slots: impl Iterator<Item = u32>) -> Vec<SlotId> {
        let mut all: Vec<u32> = Vec::new();
        for slot in slots {
            match self.multiset_at(slot) {
                Some(range) => all.extend(range),
                None if (slot as usize) < self.behaviour.slots => all.push(slot),
                None => {}
            }
        }
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|slot| SlotId::from_position(slot as usize)).collect()
    }
}
