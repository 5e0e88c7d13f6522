//! The action of permutations of slots and values on functions: the image of a node is the same function of the
//! relabelled slots.
//!
//! The image is built from the images of the operands. If a node with these operands exists, it is the image,
//! regardless of normal forms: the same operation on equal functions. Only otherwise is the image brought to normal
//! form. Nodes that depend on no moved slot are unchanged and not visited.

use std::rc::Rc;

use quotient_ir::{Budget, Spent};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Circuit, Linear, Node, NodeId};

/// The images of slots and of the positions of their values.
#[derive(Clone, Debug, Default)]
pub struct Relabelling {
    slots: FxHashMap<u32, (u32, Option<Vec<u16>>)>,
    /// The nodes that depend on a moved slot, if they were computed.
    affected: Option<Rc<Affected>>,
}

/// Nodes that can change.
#[derive(Debug)]
struct Affected {
    nodes: FxHashSet<NodeId>,
    /// The number of nodes at that time; nothing is known about later ones.
    known: usize,
}

impl Relabelling {
    /// Maps a slot to another, and the positions of its values to others, or to themselves.
    pub fn insert(&mut self, from: u32, to: u32, positions: Option<Vec<u16>>) {
        self.slots.insert(from, (to, positions));
        self.affected = None;
    }
    /// The image of a slot.
    pub fn slot(&self, slot: u32) -> u32 {
        self.slots.get(&slot).map_or(slot, |&(to, _)| to)
    }
    /// The image of the position of a value of a slot.
    pub fn position(&self, slot: u32, position: usize) -> usize {
        match self.slots.get(&slot) {
            Some((_, Some(positions))) => positions[position] as usize,
            _ => position,
        }
    }
    /// The images of the positions of the values of a slot, unless all are fixed.
    pub fn positions(&self, slot: u32) -> Option<Vec<u16>> {
        self.slots.get(&slot).and_then(|(_, positions)| positions.clone())
    }
    /// Whether every value of a slot is mapped to a value at the same position.
    fn keeps_positions(&self, slot: u32) -> bool {
        match self.slots.get(&slot) {
            Some((_, Some(positions))) => positions.iter().enumerate().all(|(from, &to)| from == to as usize),
            _ => true,
        }
    }
    /// The slots that are moved or whose values are.
    pub fn moved(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.keys().copied()
    }
    /// Computes which nodes can change, so that the others need not be visited. All slots must have been inserted, and
    /// from now on only nodes reachable from the roots of `users` may be relabelled.
    pub fn prepare(&mut self, users: &Users) {
        let mut nodes: FxHashSet<NodeId> = FxHashSet::default();
        let mut pending: Vec<NodeId> = Vec::new();
        let mut reach = |users: &[NodeId], pending: &mut Vec<NodeId>| {
            pending.extend(users.iter().copied().filter(|&node| nodes.insert(node)));
        };
        for slot in self.moved() {
            reach(&users.of_slots[slot as usize], &mut pending);
        }
        while let Some(node) = pending.pop() {
            reach(&users.of_nodes[node.position()], &mut pending);
        }
        self.affected = Some(Rc::new(Affected { nodes, known: users.of_nodes.len() }));
    }
    /// The nodes that can change, if the relabelling is prepared.
    pub fn affected(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.affected.iter().flat_map(|affected| affected.nodes.iter().copied())
    }
    fn is_unaffected(&self, node: NodeId) -> bool {
        let is_known = |affected: &Rc<Affected>| node.position() < affected.known && !affected.nodes.contains(&node);
        self.affected.as_ref().is_some_and(is_known)
    }
}

/// For each slot and each node, the nodes that have it as an operand, among those that given functions use.
#[derive(Debug, Default)]
pub struct Users {
    of_slots: Vec<Vec<NodeId>>,
    of_nodes: Vec<Vec<NodeId>>,
}

impl Users {
    /// Omits nodes not reachable from the roots: unfolding leaves many behind.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn new(circuit: &Circuit, roots: impl IntoIterator<Item = NodeId>, budget: &Budget) -> Result<Self, Spent> {
        let mut users =
            Self { of_slots: vec![Vec::new(); circuit.slot_count()], of_nodes: vec![Vec::new(); circuit.len()] };
        let mut seen = vec![false; circuit.len()];
        let mut pending: Vec<NodeId> = roots.into_iter().collect();
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut seen[id.position()], true) {
                continue;
            }
            budget.spend(1)?;
            match circuit.node(id) {
                Node::In { slot, .. } | Node::SlotValue(slot) => users.of_slots[*slot as usize].push(id),
                Node::Table { slots, .. } => slots.iter().for_each(|&slot| users.of_slots[slot as usize].push(id)),
                other => other.for_each_child(|child| {
                    users.of_nodes[child.position()].push(id);
                    pending.push(child);
                }),
            }
        }
        Ok(users)
    }
}

impl Circuit {
    /// The same function of the relabelled slots and values, in normal form. `None` if numbers do not allow it.
    pub fn relabelled(
        &mut self,
        node: NodeId,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Option<NodeId> {
        if relabelling.is_unaffected(node) {
            return Some(node);
        }
        if let Some(&image) = known.get(&node) {
            return image;
        }
        if self.charge(1) {
            return None;
        }
        let image = self.relabelled_node(node, relabelling, known);
        known.insert(node, image);
        image
    }

    fn relabelled_node(
        &mut self,
        node: NodeId,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Option<NodeId> {
        match &*Rc::clone(&self.nodes[node.position()]) {
            Node::False | Node::True => Some(node),
            Node::In { slot, values } => {
                let positions = values.iter().map(|position| relabelling.position(*slot, position));
                Some(self.slot_in(relabelling.slot(*slot), positions))
            }
            Node::Table { slots, tuples } => {
                let size = |slot: u32| self.values[slot as usize].len();
                if slots.iter().any(|&slot| size(slot) != size(relabelling.slot(slot))) {
                    return None;
                }
                let mut columns: Vec<(u32, usize)> =
                    slots.iter().enumerate().map(|(column, &slot)| (relabelling.slot(slot), column)).collect();
                columns.sort_unstable();
                let image_slots: Box<[u32]> = columns.iter().map(|&(slot, _)| slot).collect();
                let mut image: Vec<Box<[u16]>> = tuples
                    .iter()
                    .map(|tuple| {
                        columns
                            .iter()
                            .map(|&(_, column)| relabelling.position(slots[column], tuple[column] as usize) as u16)
                            .collect()
                    })
                    .collect();
                image.sort_unstable();
                let table = Node::Table { slots: image_slots, tuples: image.into_boxed_slice() };
                self.known_or_else(table, |circuit, table| match table {
                    Node::Table { slots, tuples } => {
                        let assignments = circuit.assignments(slots.into_vec())?;
                        let set = assignments.of_tuples(0..assignments.slots.len(), &tuples);
                        Some(circuit.relation(&assignments, set))
                    }
                    _ => None,
                })
            }
            Node::And(children) => {
                let image = self.relabelled_children(children, relabelling, known)?;
                self.known_or_else(Node::And(image), |circuit, node| match node {
                    Node::And(children) => Some(circuit.connective(children, true)),
                    _ => None,
                })
            }
            Node::Or(children) => {
                let image = self.relabelled_children(children, relabelling, known)?;
                self.known_or_else(Node::Or(image), |circuit, node| match node {
                    Node::Or(children) => Some(circuit.connective(children, false)),
                    _ => None,
                })
            }
            Node::Compare { relation, form } => {
                let form = self.relabelled_form(form, relabelling, known)?;
                let image = Node::Compare { relation: *relation, form };
                self.known_or_else(image, |circuit, node| match node {
                    Node::Compare { relation, form } => circuit.compare(relation, form).ok(),
                    _ => None,
                })
            }
            Node::SlotValue(slot) => {
                let image = relabelling.slot(*slot);
                let same = self.values[*slot as usize] == self.values[image as usize];
                (same && relabelling.keeps_positions(*slot)).then(|| self.intern(Node::SlotValue(image)))
            }
            Node::Product(factors) => {
                let mut image = Vec::with_capacity(factors.len());
                for factor in factors {
                    image.push(self.relabelled_form(factor, relabelling, known)?);
                }
                image.sort();
                Some(self.intern(Node::Product(image.into_boxed_slice())))
            }
            Node::Operation { operation, left, right } => {
                let mut left = self.relabelled_form(left, relabelling, known)?;
                let mut right = self.relabelled_form(right, relabelling, known)?;
                if operation.commutes() && right < left {
                    std::mem::swap(&mut left, &mut right);
                }
                Some(self.intern(Node::Operation { operation: *operation, left, right }))
            }
        }
    }

    fn relabelled_children(
        &mut self,
        children: &[NodeId],
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Option<Box<[NodeId]>> {
        let mut image = Vec::with_capacity(children.len());
        for &child in children {
            image.push(self.relabelled(child, relabelling, known)?);
        }
        image.sort_unstable();
        Some(image.into_boxed_slice())
    }

    /// The given node, if it exists, and otherwise a newly made one.
    fn known_or_else(
        &mut self,
        node: Node,
        otherwise: impl FnOnce(&mut Self, Node) -> Option<NodeId>,
    ) -> Option<NodeId> {
        match self.ids.get(&node) {
            Some(&id) => Some(id),
            None => otherwise(self, node),
        }
    }

    /// The same linear form of the relabelled slots and values.
    pub fn relabelled_form(
        &mut self,
        form: &Linear,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Option<Linear> {
        let mut constant = form.constant;
        let mut terms: Vec<(NodeId, i64)> = Vec::with_capacity(form.terms.len());
        for &(node, coefficient) in &form.terms {
            match self.relabelled(node, relabelling, known)? {
                NodeId::FALSE => {}
                NodeId::TRUE => constant = constant.checked_add(coefficient)?,
                image => terms.push((image, coefficient)),
            }
        }
        terms.sort_unstable();
        let mut image = Linear { constant, terms: Vec::with_capacity(terms.len()) };
        for (node, coefficient) in terms {
            match image.terms.last_mut() {
                Some((last, sum)) if *last == node => *sum = sum.checked_add(coefficient)?,
                _ => image.terms.push((node, coefficient)),
            }
        }
        image.terms.retain(|&(_, coefficient)| coefficient != 0);
        Some(image)
    }
}
