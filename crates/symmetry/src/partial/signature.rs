//! Signatures: the role of a member in an event, as a number that does not depend on which member it is. Members that
//! can be exchanged have equal signatures; the converse is decided by certification.
//!
//! The nodes of an event's functions are hashed bottom-up with all members made anonymous; then each node gets its
//! context top-down, and a member collects the contexts of its occurrences. One pass is linear in the size of the
//! event.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::families::{Families, NOBODY};
use quotient_functions::{Circuit, Event, Linear, Node, NodeId, Written};
use quotient_ir::{Layout, SlotId, TableIndex};

/// The members associated with slots.
#[derive(Clone, Debug)]
pub(crate) struct SlotMembers {
    /// The role of each slot of the circuit; slots without one have their own.
    roles: Vec<u32>,
    /// The members on the path of each slot.
    paths: Vec<Box<[u16]>>,
    /// For each role that holds members, the member at each position of the values.
    held: Vec<Option<Box<[u16]>>>,
    members: usize,
}

/// The signature of one event.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// The event with all members anonymous.
    pub(crate) whole: u64,
    /// The role of each member in it; zero for none.
    pub(crate) members: Vec<u64>,
}

fn mix(parts: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    // The sums below need well-distributed bits.
    let mut bits = hasher.finish();
    bits = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1
}

impl SlotMembers {
    pub(crate) fn new(families: &Families, layout: &Layout, circuit: &Circuit) -> Self {
        let role_count = families.roles().len() as u32;
        let mut roles: Vec<u32> = (0..circuit.slot_count() as u32).map(|slot| role_count + slot).collect();
        let mut paths = vec![Box::default(); circuit.slot_count()];
        let mut held = Vec::with_capacity(families.roles().len());
        for (number, role) in families.roles().iter().enumerate() {
            role.for_each_slot(|slot, members| {
                roles[slot] = number as u32;
                paths[slot] = members.iter().map(|&member| member as u16).collect();
            });
            held.push(role.held.as_ref().map(|held| {
                let entry = &layout.slots[SlotId::from_position(role.base)];
                let member_of = |value: &Option<i64>| {
                    let member = value.and_then(|value| held.member(entry.stored(Some(value))?));
                    member.map_or(NOBODY, |member| member as u16)
                };
                circuit.values(role.base as u32).iter().map(member_of).collect()
            }));
        }
        Self { roles, paths, held, members: families.members() }
    }

    /// The member at a position of the values of a slot.
    fn member_at(&self, slot: u32, position: usize) -> Option<u16> {
        let held = self.held.get(self.roles[slot as usize] as usize)?.as_ref()?;
        held.get(position).copied().filter(|&member| member != NOBODY)
    }

    /// Whether a slot can hold members.
    pub(crate) fn holds_members(&self, slot: u32) -> bool {
        self.held.get(self.roles[slot as usize] as usize).is_some_and(Option::is_some)
    }

    /// The members on the path of a slot.
    pub(crate) fn path(&self, slot: u32) -> impl Iterator<Item = usize> + '_ {
        self.paths[slot as usize].iter().map(|&member| member as usize)
    }

    /// A position of the values of a slot, with members anonymous.
    fn anonymous(&self, slot: u32, position: usize) -> u64 {
        match self.member_at(slot, position) {
            Some(_) => mix("member"),
            None => mix(("value", position)),
        }
    }

    /// The signature of an event.
    pub(crate) fn sign(&self, circuit: &Circuit, event: &Event) -> Signature {
        let mut pass = Pass { slots: self, circuit, below: FxHashMap::default() };
        let mut contexts: FxHashMap<NodeId, u64> = FxHashMap::default();
        let mut members = vec![0u64; self.members];
        let mut whole = 0u64;
        let mut root = |pass: &mut Pass<'_>, kind: u64, node: NodeId, contexts: &mut FxHashMap<NodeId, u64>| {
            whole = whole.wrapping_add(mix((kind, pass.below(node))));
            let context = contexts.entry(node).or_default();
            *context = context.wrapping_add(kind);
        };
        root(&mut pass, mix("guard"), event.guard, &mut contexts);
        root(&mut pass, mix("fault"), event.fault, &mut contexts);
        root(&mut pass, mix("dropped"), event.dropped, &mut contexts);
        for &(property, condition) in &event.covers {
            root(&mut pass, mix(("cover", property.position())), condition, &mut contexts);
        }
        for write in &event.writes {
            let role = self.roles[write.slot as usize];
            let mut written = mix(("write", role));
            match &write.written {
                Written::Cases(cases) => {
                    for &(value, condition) in cases {
                        let position = circuit.values(write.slot).binary_search(&value).unwrap_or(usize::MAX);
                        let kind = mix(("case", role, self.anonymous(write.slot, position)));
                        root(&mut pass, kind, condition, &mut contexts);
                        let case = mix((kind, pass.below(condition)));
                        written = written.wrapping_add(case);
                        if let Some(member) = self.member_at(write.slot, position) {
                            let sum = &mut members[member as usize];
                            *sum = sum.wrapping_add(mix(("written", case)));
                        }
                    }
                }
                Written::Number { when, undefined, value } => {
                    root(&mut pass, mix(("when", role)), *when, &mut contexts);
                    root(&mut pass, mix(("undefined", role)), *undefined, &mut contexts);
                    for &(node, coefficient) in &value.terms {
                        root(&mut pass, mix(("term", role, coefficient)), node, &mut contexts);
                    }
                    written = written.wrapping_add(mix((pass.below(*when), pass.form(value))));
                }
            }
            for (axis, &member) in self.paths[write.slot as usize].iter().enumerate() {
                let sum = &mut members[member as usize];
                *sum = sum.wrapping_add(mix(("path", axis, written)));
            }
        }
        // Nodes are made after their operands, so decreasing numbers go top-down.
        let mut pending: std::collections::BTreeSet<NodeId> = contexts.keys().copied().collect();
        while let Some(node) = pending.pop_last() {
            let context = mix((contexts[&node], pass.below(node)));
            let mut add = |member: u16, amount: u64| {
                let sum = &mut members[member as usize];
                *sum = sum.wrapping_add(amount);
            };
            match circuit.node(node) {
                Node::In { slot, values } => {
                    for (axis, &member) in self.paths[*slot as usize].iter().enumerate() {
                        add(member, mix(("path", axis, context)));
                    }
                    if self.holds_members(*slot) {
                        for position in values.iter() {
                            if let Some(member) = self.member_at(*slot, position) {
                                add(member, mix(("value", context)));
                            }
                        }
                    }
                }
                Node::SlotValue(slot) => {
                    for (axis, &member) in self.paths[*slot as usize].iter().enumerate() {
                        add(member, mix(("path", axis, context)));
                    }
                }
                Node::Table { slots, tuples } => {
                    for (column, &slot) in slots.iter().enumerate() {
                        let projection = pass.column(slot, tuples, column);
                        for (axis, &member) in self.paths[slot as usize].iter().enumerate() {
                            add(member, mix(("path", axis, context, projection)));
                        }
                        if self.holds_members(slot) {
                            for tuple in tuples {
                                if let Some(member) = self.member_at(slot, tuple[column] as usize) {
                                    add(member, mix(("value", context, projection)));
                                }
                            }
                        }
                    }
                }
                other => {
                    let mut pass_on = |child: NodeId, amount: u64| {
                        let sum = contexts.entry(child).or_default();
                        *sum = sum.wrapping_add(amount);
                        pending.insert(child);
                    };
                    match other {
                        Node::And(children) | Node::Or(children) => {
                            children.iter().for_each(|&child| pass_on(child, context));
                        }
                        Node::Compare { form, .. } => {
                            form.terms.iter().for_each(|&(child, factor)| pass_on(child, mix((context, factor))));
                        }
                        Node::Product(factors) => {
                            for factor in factors {
                                let inner = mix((context, pass.form(factor)));
                                factor.terms.iter().for_each(|&(child, by)| pass_on(child, mix((inner, by))));
                            }
                        }
                        Node::Operation { left, right, .. } => {
                            for (side, form) in [left, right].into_iter().enumerate() {
                                form.terms
                                    .iter()
                                    .for_each(|&(child, factor)| pass_on(child, mix((context, side, factor))));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        Signature { whole, members }
    }
}

/// The bottom-up hashes of one event's nodes.
struct Pass<'a> {
    slots: &'a SlotMembers,
    circuit: &'a Circuit,
    below: FxHashMap<NodeId, u64>,
}

impl Pass<'_> {
    fn below(&mut self, node: NodeId) -> u64 {
        if let Some(&known) = self.below.get(&node) {
            return known;
        }
        let circuit = self.circuit;
        let hash = match circuit.node(node) {
            Node::False => mix("false"),
            Node::True => mix("true"),
            Node::In { slot, values } => {
                let sum =
                    values.iter().fold(0u64, |sum, position| sum.wrapping_add(self.slots.anonymous(*slot, position)));
                mix(("in", self.slots.roles[*slot as usize], sum))
            }
            Node::Table { slots, tuples } => {
                let mut sum = 0u64;
                for (column, &slot) in slots.iter().enumerate() {
                    let projection = self.column(slot, tuples, column);
                    sum = sum.wrapping_add(mix((self.slots.roles[slot as usize], projection)));
                }
                mix(("table", tuples.len(), sum))
            }
            Node::And(children) | Node::Or(children) => {
                let conjunction = matches!(circuit.node(node), Node::And(_));
                let sum = children.iter().fold(0u64, |sum, &child| sum.wrapping_add(mix(self.below(child))));
                mix(("connective", conjunction, sum))
            }
            Node::Compare { relation, form } => mix(("compare", *relation, self.form(form))),
            Node::SlotValue(slot) => mix(("number", self.slots.roles[*slot as usize])),
            Node::Product(factors) => {
                let sum = factors.iter().fold(0u64, |sum, factor| sum.wrapping_add(mix(self.form(factor))));
                mix(("product", sum))
            }
            Node::Operation { operation, left, right } => {
                let (left, right) = (self.form(left), self.form(right));
                if operation.commutes() {
                    mix(("operation", *operation, left.wrapping_add(right), left ^ right))
                } else {
                    mix(("operation", *operation, left, right))
                }
            }
        };
        self.below.insert(node, hash);
        hash
    }

    fn form(&mut self, form: &Linear) -> u64 {
        let terms =
            form.terms.iter().fold(0u64, |sum, &(node, factor)| sum.wrapping_add(mix((self.below(node), factor))));
        mix((form.constant, terms))
    }

    /// What the tuples say about one of their slots.
    fn column(&self, slot: u32, tuples: &[Box<[u16]>], column: usize) -> u64 {
        tuples.iter().fold(0u64, |sum, tuple| sum.wrapping_add(self.slots.anonymous(slot, tuple[column] as usize)))
    }
}
