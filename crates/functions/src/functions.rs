//! The functions of a model by instance: the way in for whoever wants to know what an instance of a rule, start or
//! property reads, writes and does, and not how that was found out.

use std::ops::Range;

use quotient_ir::{Budget, Layout, Model, SlotId, Spent, TableIndex, Valuation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::behaviour::{Behaviour, Claim, Preserved, Refused, unfold};
use crate::circuit::{Circuit, Node, NodeId};
use crate::evaluation::{Assignment, Evaluation};
use crate::instance::Instance;
use crate::unfold::{Event, Write, Written};

/// An instance of [`Functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(u32);

impl InstanceId {
    /// Its number among all instances.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// A model as functions of its state, by instance.
#[derive(Debug)]
pub struct Functions {
    behaviour: Behaviour,
    /// Those of the events, then of the claims, then those that never do anything.
    instances: Vec<Instance>,
    ids: FxHashMap<Instance, InstanceId>,
}

/// What the functions of an instance of a rule say of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It cannot fire, or an assumption in its body drops the step.
    Disabled,
    /// Its guard or its body runs into a fault.
    Fault,
    /// The state after the step, multisets in normal form.
    Next(Valuation),
}

impl Functions {
    /// The functions of a model, with those of some properties and of all its assumptions.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn of(model: &Model, layout: &Layout, preserved: Preserved<'_>, budget: &Budget) -> Result<Self, Spent> {
        Ok(Self::of_behaviour(unfold(model, layout, preserved, budget)?))
    }

    /// The same for a model that is unfolded.
    pub fn of_behaviour(behaviour: Behaviour) -> Self {
        let events = behaviour.events.iter().map(Event::instance);
        let claims = behaviour.claims.iter().map(Claim::instance);
        let instances: Vec<Instance> = events.chain(claims).chain(behaviour.idle.iter().cloned()).collect();
        let numbered = instances.iter().enumerate();
        let ids = numbered.map(|(number, instance)| (instance.clone(), InstanceId(number as u32))).collect();
        Self { behaviour, instances, ids }
    }

    /// All of it as it was unfolded.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// All of it, to be changed: symmetry adds the images of functions.
    pub fn into_behaviour(self) -> Behaviour {
        self.behaviour
    }

    /// The pool of the nodes.
    pub fn circuit(&self) -> &Circuit {
        &self.behaviour.circuit
    }

    /// Rules, starts and properties without functions. Whoever needs to know of every instance must treat these as
    /// able to read and write everything that their text mentions.
    pub fn refused(&self) -> &[Refused] {
        &self.behaviour.refused
    }

    /// All instances that have functions. The instances of a property that is an assumption and can run into a
    /// fault are one, without arguments: they are evaluated in order. An action with too many instances to list
    /// is one, too, with [`Functions::inputs`].
    pub fn instances(&self) -> impl ExactSizeIterator<Item = InstanceId> + use<> {
        (0..self.instances.len() as u32).map(InstanceId)
    }

    /// What an instance is an instance of.
    pub fn instance(&self, id: InstanceId) -> &Instance {
        &self.instances[id.position()]
    }

    /// The number of an instance.
    pub fn id(&self, instance: &Instance) -> Option<InstanceId> {
        self.ids.get(instance).copied()
    }

    /// An instance of a rule or start, unless it never does anything.
    pub fn event(&self, id: InstanceId) -> Option<&Event> {
        self.behaviour.events.get(id.position())
    }

    /// An instance of a property.
    pub fn claim(&self, id: InstanceId) -> Option<&Claim> {
        self.behaviour.claims.get(id.position().checked_sub(self.behaviour.events.len())?)
    }

    /// The condition under which an instance of a rule fires, wherever it neither runs into a fault nor is dropped;
    /// the condition of a property, wherever it does not run into a fault.
    pub fn guard(&self, id: InstanceId) -> NodeId {
        match (self.event(id), self.claim(id)) {
            (Some(event), _) => event.guard,
            (None, Some(claim)) => claim.condition,
            (None, None) => NodeId::FALSE,
        }
    }

    /// When an instance runs into a fault.
    pub fn fault(&self, id: InstanceId) -> NodeId {
        match (self.event(id), self.claim(id)) {
            (Some(event), _) => event.fault,
            (None, Some(claim)) => claim.fault,
            (None, None) => NodeId::FALSE,
        }
    }

    /// When an assumption in the body drops the step, wherever the guard holds and there is no fault.
    pub fn dropped(&self, id: InstanceId) -> NodeId {
        self.event(id).map_or(NodeId::FALSE, |event| event.dropped)
    }

    /// What an instance writes to a slot; nothing if the slot always keeps what it holds. See [`Written`] for where
    /// that means something. What is added to multisets is among [`Functions::additions`].
    pub fn next(&self, id: InstanceId, slot: SlotId) -> Option<&Written> {
        let writes = &self.event(id)?.writes;
        let found = writes.binary_search_by_key(&(slot.position() as u32), |write| write.slot).ok()?;
        Some(&writes[found].written)
    }

    /// The elements that an instance adds to multisets, each as what it writes to the columns of one.
    pub fn additions(&self, id: InstanceId) -> &[Vec<Write>] {
        self.event(id).map_or(&[], |event| &event.additions)
    }

    /// The slots of the circuit that stand for the parameters of an instance which are not enumerated.
    pub fn inputs(&self, id: InstanceId) -> Range<u32> {
        let action = self.event(id).map(|event| event.action);
        let found = self.behaviour.inputs.iter().find(|(owner, _)| Some(*owner) == action);
        found.map_or(0..0, |(_, range)| range.clone())
    }

    /// The slots that an instance can change, in increasing order. All slots of a multiset are among them if one
    /// is: its elements are sorted after a step.
    pub fn writes(&self, id: InstanceId) -> Vec<SlotId> {
        let Some(event) = self.event(id) else { return Vec::new() };
        let written = event.writes.iter().chain(event.additions.iter().flatten()).map(|write| write.slot);
        self.state_slots(written)
    }

    /// The slots that what an instance does depends on, in increasing order: in two states that agree on these, it
    /// fires in both or in neither, and every slot it can change either keeps what it holds in both or gets the
    /// same value in both. All slots of a multiset that is written or read are among them. Costs as much as
    /// walking the functions.
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

    /// The values that a slot can hold in a reachable state, in increasing order, undefined first; of a wide slot
    /// the least and the greatest only.
    pub fn values(&self, slot: SlotId) -> &[Option<i64>] {
        self.circuit().values(slot.position() as u32)
    }

    /// Whether a slot can hold too many values to list.
    pub fn is_wide(&self, slot: SlotId) -> bool {
        self.circuit().is_wide(slot.position() as u32)
    }

    /// What an instance of a rule does in a state; for one with inputs, with these values of its parameters.
    /// Nothing if the functions do not tell, which is so only for states that cannot be reached.
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

    /// Puts an element at the first free position of its multiset, if it is added at all.
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
            // A column that is not written has one value only.
            next[slot(free, column)] = match write {
                Some(write) => value_of(write)??,
                None => self.circuit().values(entry.columns + column).iter().copied().flatten().next(),
            };
        }
        Some(())
    }

    /// The first slot of the multiset that a slot or column belongs to, and one after its last.
    fn multiset_at(&self, slot: u32) -> Option<Range<u32>> {
        let multisets = &self.behaviour.multisets;
        let of_column = || multisets.iter().find(|entry| (entry.columns..entry.columns + entry.stride).contains(&slot));
        let entry = multisets.of_slot(slot).map(|(_, entry)| entry).or_else(of_column)?;
        Some(entry.first..entry.first + entry.capacity * entry.stride)
    }

    /// Slots of the circuit as slots of the state, whole multisets where one of theirs is among them.
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
