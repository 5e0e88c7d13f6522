//! Hash-consed functions of a state: conditions over literals (slot = value) and integer terms.
//!
//! Nodes are kept in a normal form independent of the order in which the text mentions things. So two copies of a text
//! that differ by a permutation of slots and values give nodes that differ by that permutation:
//!
//! * all conditions on one slot are one [`Node::In`];
//! * a condition over few assignments is its truth table, factored into independent parts;
//! * larger conjunctions and disjunctions are flat and unordered; negation is pushed to the leaves;
//! * sums are linear forms, so that counting in a loop does not depend on the order of the loop.

mod assignments;
mod relabelling;

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Budget};
use rustc_hash::FxHashMap;

use crate::intervals;
use assignments::{Assignments, TABLE_LIMIT, members};

pub use relabelling::{Relabelling, Users};

/// A node of a [`Circuit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The condition that never holds.
    pub const FALSE: Self = Self(0);
    /// The condition that always holds.
    pub const TRUE: Self = Self(1);
    /// The number of the node; a node comes after its operands.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// A set of values of one slot, by their positions in [`Circuit::values`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueSet(Box<[u64]>);

impl ValueSet {
    fn empty(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)].into_boxed_slice())
    }
    fn insert(&mut self, value: usize) {
        self.0[value / 64] |= 1 << (value % 64);
    }
    /// Whether a position is in the set.
    pub fn contains(&self, value: usize) -> bool {
        self.0[value / 64] >> (value % 64) & 1 == 1
    }
    fn intersect(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }
    /// Whether two sets of positions of one slot have a common one.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(word, other)| word & other != 0)
    }
    fn complement(&self, size: usize) -> Self {
        let mut words: Box<[u64]> = self.0.iter().map(|word| !word).collect();
        if let Some(last) = words.last_mut().filter(|_| !size.is_multiple_of(64)) {
            *last &= (1 << (size % 64)) - 1;
        }
        Self(words)
    }
    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    /// The positions in the set, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let lowest = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (lowest < 64).then_some(index * 64 + lowest)
            })
        })
    }
}

/// For some slots, the set of values they are known to be in.
pub type KnownValues = FxHashMap<u32, ValueSet>;

/// A function of a state. Conditions have the values 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Never.
    False,
    /// Always.
    True,
    /// The slot holds one of the values (a proper nonempty subset).
    In {
        /// The slot.
        slot: u32,
        /// The values, by their positions.
        values: ValueSet,
    },
    /// The slots hold one of the tuples of value positions. At least two slots, all essential, none independent of the
    /// others.
    Table {
        /// The slots, in increasing order.
        slots: Box<[u32]>,
        /// The tuples, in increasing order.
        tuples: Box<[Box<[u16]>]>,
    },
    /// A conjunction of at least two conditions, none itself a conjunction.
    And(Box<[NodeId]>),
    /// A disjunction of at least two conditions, none itself a disjunction.
    Or(Box<[NodeId]>),
    /// A linear form compared with zero.
    Compare {
        /// The relation to zero.
        relation: Relation,
        /// The form.
        form: Linear,
    },
    /// The value of a slot as a number. Ties the slot's values to their numbers.
    SlotValue(u32),
    /// A product of at least two forms, unordered.
    Product(Box<[Linear]>),
    /// An operation without algebraic laws, on ordered operands.
    Operation {
        /// The operator.
        operation: Operation,
        /// The left operand.
        left: Linear,
        /// The right operand.
        right: Linear,
    },
}

/// A relation of a form to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// It is at most zero.
    NotPositive,
    /// It is zero.
    Zero,
    /// It is not zero.
    NotZero,
}

/// Operations that are kept unevaluated on large operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Division, truncating towards zero.
    Divide,
    /// The remainder of that division.
    Remainder,
    /// A shift to the left.
    ShiftLeft,
    /// A shift to the right.
    ShiftRight,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
}

/// `constant + Σ coefficient · node`, terms in increasing order of their nodes, no zero
/// coefficients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Linear {
    /// The constant term.
    pub constant: i64,
    /// Nodes and their coefficients.
    pub terms: Vec<(NodeId, i64)>,
}

impl Linear {
    /// A number that does not depend on the state.
    pub fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }
    fn node(node: NodeId) -> Self {
        Self { constant: 0, terms: vec![(node, 1)] }
    }
    /// The number, if it does not depend on the state.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
    /// `self + factor · other`, or `None` on overflow.
    fn plus(&self, factor: i64, other: &Self) -> Option<Self> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (node, coefficient) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(&&(node, coefficient)), None) => {
                    left.next();
                    (node, coefficient)
                }
                (None, Some(&&(node, coefficient))) => {
                    right.next();
                    (node, coefficient.checked_mul(factor)?)
                }
                (Some(&&(a, x)), Some(&&(b, y))) => {
                    let y = y.checked_mul(factor)?;
                    match a.cmp(&b) {
                        std::cmp::Ordering::Less => {
                            left.next();
                            (a, x)
                        }
                        std::cmp::Ordering::Greater => {
                            right.next();
                            (b, y)
                        }
                        std::cmp::Ordering::Equal => {
                            left.next();
                            right.next();
                            (a, x.checked_add(y)?)
                        }
                    }
                }
            };
            if coefficient != 0 {
                terms.push((node, coefficient));
            }
        }
        Some(Self { constant, terms })
    }
}

/// An integer as a function of a state: always a linear form, and, if it has few values, also the condition for each
/// value. The conditions exclude each other; one of them holds wherever the value is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number as a sum.
    pub form: Linear,
    /// Each number it can be, in increasing order, with its condition.
    pub cases: Option<Rc<[(i64, NodeId)]>>,
}

impl Value {
    /// Whether it is the value of something undefined.
    pub fn is_nothing(&self) -> bool {
        self.cases.as_ref().is_some_and(|cases| cases.is_empty())
    }
}

/// Why a function could not be represented.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// A number can exceed 64 bits.
    #[error("a number can exceed 64 bits")]
    Overflow,
    /// A value has too many cases.
    #[error("a value has too many cases")]
    Cases,
}

/// The largest number of operands for which a connective is searched for an operand and its negation.
const NEGATION_LIMIT: usize = 32;
/// The largest number of values for which an integer is represented by the condition for each value.
pub(crate) const CASE_LIMIT: usize = 4096;

/// The pool of nodes over the slots of one model.
#[derive(Debug)]
pub struct Circuit {
    // Dropped before the nodes, so that these are freed in the order of allocation; freeing them in hash order takes
    // many times as long.
    ids: FxHashMap<Rc<Node>, NodeId>,
    /// Shared with the keys of `ids`.
    nodes: Vec<Rc<Node>>,
    /// The slots a condition depends on, if they have few assignments.
    supports: Vec<Option<Box<[u32]>>>,
    negations: FxHashMap<NodeId, NodeId>,
    /// The values each slot can hold, in increasing order, undefined (`None`) first.
    values: Vec<Vec<Option<i64>>>,
    /// Slots with too many values to list: `values` then has only the least and the greatest, and such numbers are
    /// never split into cases.
    wide: Vec<bool>,
    slot_numbers: Vec<Option<Value>>,
    bounds: Vec<(i64, i64)>,
    budget: Budget,
    /// Work not yet charged to the budget.
    work: u64,
    /// Whether the budget is spent. From then on, all functions are arbitrary constants and no node is made.
    is_spent: bool,
}

/// The work of bringing a truth table into normal form, beside the nodes that are made for it.
const WORK_OF_TABLE: usize = 4;
/// The work after which the budget is charged.
const WORK_BETWEEN_QUESTIONS: u64 = 256;

impl Circuit {
    /// A circuit over slots with the given values, in increasing order; for a wide slot, only the least and the
    /// greatest. Making nodes draws on the budget.
    pub fn new(values: Vec<Vec<Option<i64>>>, wide: Vec<bool>, budget: &Budget) -> Self {
        let mut circuit = Self {
            nodes: Vec::new(),
            ids: FxHashMap::default(),
            supports: Vec::new(),
            negations: FxHashMap::default(),
            slot_numbers: vec![None; values.len()],
            values,
            wide,
            bounds: Vec::new(),
            budget: budget.clone(),
            work: 0,
            is_spent: false,
        };
        assert_eq!(circuit.intern(Node::False), NodeId::FALSE);
        assert_eq!(circuit.intern(Node::True), NodeId::TRUE);
        circuit
    }

    /// From now on, making nodes draws on this budget.
    pub fn draw_on(&mut self, budget: &Budget) {
        self.budget = budget.clone();
        self.work = 0;
        // Functions made after the previous budget was spent remain invalid.
        self.is_spent |= budget.is_spent();
    }

    /// Whether the budget was spent while functions were made. Functions made since then are meaningless; nothing may
    /// be concluded from them.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Records work, which may be other than making nodes. Returns true if the budget is spent.
    #[inline]
    pub fn charge(&mut self, work: usize) -> bool {
        self.work += work as u64;
        if self.work >= WORK_BETWEEN_QUESTIONS {
            self.is_spent |= self.budget.spend(std::mem::take(&mut self.work)).is_err();
        }
        self.is_spent
    }

    /// The number of nodes, including the two constants.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// All nodes. Each comes after its operands.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
    /// The node with this number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.position()]
    }
    /// The values a slot can hold.
    pub fn values(&self, slot: u32) -> &[Option<i64>] {
        &self.values[slot as usize]
    }

    /// The number of slots.
    pub fn slot_count(&self) -> usize {
        self.values.len()
    }
    /// Whether a slot has too many values to list.
    pub fn is_wide(&self, slot: u32) -> bool {
        self.wide[slot as usize]
    }

    fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        if self.charge(1 + node.size() / 8) {
            return NodeId::FALSE;
        }
        let support = match &node {
            Node::False | Node::True => Some(Box::default()),
            Node::In { slot, .. } if self.values[*slot as usize].len() <= TABLE_LIMIT && !self.wide[*slot as usize] => {
                Some(vec![*slot].into_boxed_slice())
            }
            Node::Table { slots, .. } => Some(slots.clone()),
            Node::And(children) | Node::Or(children) => self.joint_support(children),
            _ => None,
        };
        let bounds = match &node {
            Node::SlotValue(slot) => {
                let mut numbers = self.values[*slot as usize].iter().flatten();
                let least = numbers.next().copied().unwrap_or(0);
                (least, numbers.next_back().copied().unwrap_or(least))
            }
            Node::Product(factors) => {
                let (low, high) = self.product_bounds(factors);
                (clamp(low), clamp(high))
            }
            Node::Operation { operation, left, right } => {
                let [left, right] = [left, right].map(|form| {
                    let (low, high) = self.wide_bounds(form);
                    (clamp(low), clamp(high))
                });
                intervals::arithmetic(operation.operator(), left, right)
            }
            _ => (0, 1),
        };
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        let node = Rc::new(node);
        self.nodes.push(Rc::clone(&node));
        self.supports.push(support);
        self.bounds.push(bounds);
        self.ids.insert(node, id);
        id
    }

    fn wide_bounds(&self, form: &Linear) -> (i128, i128) {
        let mut bounds = (i128::from(form.constant), i128::from(form.constant));
        for &(node, coefficient) in &form.terms {
            let (low, high) = self.bounds[node.position()];
            let (a, b) = (i128::from(low) * i128::from(coefficient), i128::from(high) * i128::from(coefficient));
            bounds.0 += a.min(b);
            bounds.1 += a.max(b);
        }
        bounds
    }

    fn product_bounds(&self, factors: &[Linear]) -> (i128, i128) {
        let mut bounds = (1i128, 1i128);
        for factor in factors {
            let (low, high) = self.wide_bounds(factor);
            let corners = [bounds.0, bounds.1].map(|own| [low, high].map(|other| own.saturating_mul(other)));
            let corners = corners.as_flattened();
            bounds = (*corners.iter().min().expect("four"), *corners.iter().max().expect("four"));
        }
        bounds
    }

    /// A product, unless it can exceed 64 bits.
    fn product_node(&mut self, mut factors: Vec<Linear>) -> Result<NodeId, TooLarge> {
        factors.sort();
        let (low, high) = self.product_bounds(&factors);
        if low < i128::from(i64::MIN) || high > i128::from(i64::MAX) {
            return Err(TooLarge::Overflow);
        }
        Ok(self.intern(Node::Product(factors.into_boxed_slice())))
    }

    /// The union of the slots of several conditions, if they have few assignments.
    fn joint_support(&self, nodes: &[NodeId]) -> Option<Box<[u32]>> {
        let mut slots: Vec<u32> = Vec::new();
        let mut assignments = 1usize;
        for node in nodes {
            for &slot in self.supports[node.position()].as_ref()?.iter() {
                if let Err(position) = slots.binary_search(&slot) {
                    slots.insert(position, slot);
                    assignments *= self.values[slot as usize].len().max(1);
                    if assignments > TABLE_LIMIT {
                        return None;
                    }
                }
            }
        }
        Some(slots.into_boxed_slice())
    }

    /// The condition that a slot holds a value at one of the given positions.
    pub fn slot_in(&mut self, slot: u32, positions: impl IntoIterator<Item = usize>) -> NodeId {
        let size = self.values[slot as usize].len();
        let mut set = ValueSet::empty(size);
        for position in positions {
            set.insert(position);
        }
        self.slot_in_set(slot, set)
    }

    fn slot_in_set(&mut self, slot: u32, values: ValueSet) -> NodeId {
        match values.len() {
            0 => NodeId::FALSE,
            count if count == self.values[slot as usize].len() => NodeId::TRUE,
            _ => self.intern(Node::In { slot, values }),
        }
    }

    /// The assignments to some slots, in increasing order, if these are few.
    fn assignments(&self, slots: Vec<u32>) -> Option<Assignments> {
        let sizes = slots.iter().map(|&slot| self.values[slot as usize].len()).collect();
        Assignments::new(slots, sizes)
    }

    /// The assignments under which a condition holds that depends on these slots only.
    fn table(&self, node: NodeId, assignments: &Assignments) -> u64 {
        match self.node(node) {
            Node::False => 0,
            Node::True => assignments.all(),
            Node::In { slot, values } => assignments.with(assignments.column(*slot), values.iter()),
            Node::Table { slots, tuples } => {
                assignments.of_tuples(slots.iter().map(|&slot| assignments.column(slot)), tuples)
            }
            Node::And(children) => {
                children.iter().fold(assignments.all(), |all, &child| all & self.table(child, assignments))
            }
            Node::Or(children) => children.iter().fold(0, |all, &child| all | self.table(child, assignments)),
            _ => unreachable!("only conditions over few assignments have a support"),
        }
    }

    /// The normal form of a relation given by its assignments, which depends on all of the slots.
    fn relation(&mut self, assignments: &Assignments, set: u64) -> NodeId {
        if self.charge(WORK_OF_TABLE) {
            return NodeId::FALSE;
        }
        if set == 0 {
            return NodeId::FALSE;
        }
        if set == assignments.all() {
            return NodeId::TRUE;
        }
        if let [slot] = assignments.slots[..] {
            return self.slot_in(slot, members(set));
        }
        if let Some(node) = self.factored(assignments, set, true) {
            return node;
        }
        if let Some(node) = self.factored(assignments, assignments.all() & !set, false) {
            return node;
        }
        let tuples = members(set).map(|assignment| assignments.tuple(assignment)).collect();
        self.intern(Node::Table { slots: assignments.slots.as_slice().into(), tuples })
    }

    /// Splits the relation (or, if not `positive`, its complement) into a set of one slot and a rest that does not
    /// depend on it, if it is such a product for some slot. The factors of all such slots are split off at once.
    fn factored(&mut self, assignments: &Assignments, set: u64, positive: bool) -> Option<NodeId> {
        let mut parts = Vec::new();
        let mut rest: Option<(Assignments, u64)> = None;
        for (column, &slot) in assignments.slots.iter().enumerate() {
            let with = |position: usize| assignments.rest(set, column, position);
            let own = || (0..assignments.size(column)).filter(|&position| with(position) != 0);
            let Some(first) = own().next() else { continue };
            let common = with(first);
            if own().all(|position| with(position) == common) {
                parts.push(self.slot_in(slot, own()));
                // What is left has the same factors.
                let (left, set) = rest.unwrap_or_else(|| (assignments.clone(), set));
                let column = left.column(slot);
                rest = Some((left.without(column), left.rest(set, column, first)));
            }
        }
        let (left, set) = rest?;
        if !left.slots.is_empty() {
            parts.push(self.relation(&left, set));
        }
        if positive {
            Some(self.and(parts))
        } else {
            let negated: Vec<NodeId> = parts.into_iter().map(|part| self.not(part)).collect();
            Some(self.or(negated))
        }
    }

    /// The conjunction of the conditions.
    pub fn and(&mut self, conditions: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.connective(conditions, true)
    }

    /// The disjunction of the conditions.
    pub fn or(&mut self, conditions: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.connective(conditions, false)
    }

    fn connective(&mut self, conditions: impl IntoIterator<Item = NodeId>, conjunction: bool) -> NodeId {
        let (neutral, absorbing) =
            if conjunction { (NodeId::TRUE, NodeId::FALSE) } else { (NodeId::FALSE, NodeId::TRUE) };
        let mut children: Vec<NodeId> = Vec::new();
        let mut sets: Vec<(u32, ValueSet)> = Vec::new();
        let mut pending: Vec<NodeId> = conditions.into_iter().collect();
        if self.charge(1 + pending.len() / 8) {
            return NodeId::FALSE;
        }
        while let Some(condition) = pending.pop() {
            match &*self.nodes[condition.position()] {
                _ if condition == neutral => {}
                _ if condition == absorbing => return absorbing,
                Node::And(inner) if conjunction => pending.extend(inner.iter()),
                Node::Or(inner) if !conjunction => pending.extend(inner.iter()),
                Node::In { slot, values } => {
                    // Disjunctions are intersected as complements.
                    let size = self.values[*slot as usize].len();
                    let values = if conjunction { values.clone() } else { values.complement(size) };
                    sets.push((*slot, values));
                }
                _ => children.push(condition),
            }
        }
        sets.sort_by_key(|&(slot, _)| slot);
        sets.dedup_by(|(slot, values), (kept_slot, kept)| {
            let same = slot == kept_slot;
            if same {
                kept.intersect(values);
            }
            same
        });
        for (slot, values) in sets {
            let size = self.values[slot as usize].len();
            let node = self.slot_in_set(slot, if conjunction { values } else { values.complement(size) });
            if node == absorbing {
                return absorbing;
            }
            if node != neutral {
                children.push(node);
            }
        }
        children.sort_unstable();
        children.dedup();
        match children[..] {
            [] => return neutral,
            [only] => return only,
            _ => {}
        }
        if children
            .iter()
            .any(|child| self.negations.get(child).is_some_and(|negation| children.binary_search(negation).is_ok()))
        {
            return absorbing;
        }
        if children.len() <= NEGATION_LIMIT
            && let Some(reduced) = self.absorbed(&children, conjunction)
        {
            return self.connective(reduced, conjunction);
        }
        // A truth table is simpler than the connective only if operands share slots.
        if let Some(slots) = self.joint_support(&children) {
            let separate: usize = children
                .iter()
                .map(|child| self.supports[child.position()].as_ref().map_or(0, |slots| slots.len()))
                .sum();
            if separate > slots.len()
                && let Some(assignments) = self.assignments(slots.into_vec())
            {
                let tables = children.iter().map(|&child| self.table(child, &assignments));
                let set = match conjunction {
                    true => tables.fold(assignments.all(), |all, own| all & own),
                    false => tables.fold(0, |all, own| all | own),
                };
                return self.essential_relation(assignments, set);
            }
        }
        let children = children.into_boxed_slice();
        self.intern(if conjunction { Node::And(children) } else { Node::Or(children) })
    }

    /// Drops what the other operands of a connective make redundant: operands of the opposite kind that contain another
    /// operand, and, from the rest, whatever contradicts another operand. A condition on a slot decides other
    /// conditions on that slot, at any depth. `None` if nothing is redundant.
    fn absorbed(&mut self, children: &[NodeId], conjunction: bool) -> Option<Vec<NodeId>> {
        let nodes = children.iter().map(|child| &self.nodes[child.position()]);
        let opposites: Vec<Rc<Node>> = nodes.filter(|node| node.operands(!conjunction).is_some()).cloned().collect();
        if opposites.is_empty() {
            return None;
        }
        // An operand that contains all parts of another contains the first of them.
        let mut by_first: FxHashMap<NodeId, Vec<&[NodeId]>> = FxHashMap::default();
        for node in &opposites {
            if let Some(inner @ [first, ..]) = node.operands(!conjunction) {
                by_first.entry(*first).or_default().push(inner);
            }
        }
        let mut known = KnownValues::default();
        for &child in children {
            if let Node::In { slot, values } = self.node(child) {
                // The other operands of a disjunction matter only where this one fails.
                let size = self.values[*slot as usize].len();
                known.insert(*slot, if conjunction { values.clone() } else { values.complement(size) });
            }
        }
        let mut reduced = Vec::with_capacity(children.len());
        let mut changed = false;
        'children: for &child in children {
            let node = Rc::clone(&self.nodes[child.position()]);
            let Some(inner) = node.operands(!conjunction) else {
                reduced.push(child);
                continue;
            };
            // An operand that contains all parts of another is redundant. Parts are sorted.
            let contains =
                |other: &&[NodeId]| other.len() < inner.len() && other.iter().all(|it| inner.binary_search(it).is_ok());
            let candidates = || inner.iter().filter_map(|part| by_first.get(part)).flatten();
            if self.charge(inner.len() + candidates().count() / 4) {
                return None;
            }
            if candidates().any(contains) {
                changed = true;
                continue;
            }
            let mut kept = Vec::with_capacity(inner.len());
            let mut child_changed = false;
            for &part in inner {
                if children.binary_search(&part).is_ok() || self.decided_by(part, &known) == Some(conjunction) {
                    changed = true;
                    continue 'children;
                }
                let opposite = self.not(part);
                if children.binary_search(&opposite).is_ok() || self.decided_by(part, &known).is_some() {
                    child_changed = true;
                    continue;
                }
                let part_node = Rc::clone(&self.nodes[part.position()]);
                match part_node.operands(conjunction).filter(|_| !known.is_empty()) {
                    None => kept.push(part),
                    Some(pieces) => {
                        let decisions: Vec<Option<bool>> =
                            pieces.iter().map(|&piece| self.decided_by(piece, &known)).collect();
                        if decisions.contains(&Some(!conjunction)) {
                            child_changed = true;
                        } else if decisions.iter().all(Option::is_none) {
                            kept.push(part);
                        } else {
                            child_changed = true;
                            let rest: Vec<NodeId> = pieces
                                .iter()
                                .zip(&decisions)
                                .filter(|(_, decision)| decision.is_none())
                                .map(|(&piece, _)| piece)
                                .collect();
                            kept.push(self.connective(rest, conjunction));
                        }
                    }
                }
            }
            if child_changed {
                changed = true;
                reduced.push(self.connective(kept, !conjunction));
            } else {
                reduced.push(child);
            }
        }
        changed.then_some(reduced)
    }

    /// The value of a condition on one slot, if the known values decide it.
    fn decided_by(&self, node: NodeId, known: &KnownValues) -> Option<bool> {
        let Node::In { slot, values } = self.node(node) else { return None };
        let possible = known.get(slot)?;
        if possible.0.iter().zip(&values.0).all(|(possible, values)| possible & !values == 0) {
            Some(true)
        } else if possible.0.iter().zip(&values.0).all(|(possible, values)| possible & values == 0) {
            Some(false)
        } else {
            None
        }
    }

    /// The values that a conjunction allows for single slots.
    pub fn known_values(&self, condition: NodeId) -> KnownValues {
        let mut known = KnownValues::default();
        let mut note = |node: NodeId| {
            if let Node::In { slot, values } = self.node(node) {
                known.insert(*slot, values.clone());
            }
        };
        match self.node(condition) {
            Node::And(children) => children.iter().copied().for_each(note),
            _ => note(condition),
        }
        known
    }

    /// Records that a slot does not hold the value at a position. Returns false if no value remains.
    pub fn exclude(&self, known: &mut KnownValues, slot: u32, position: usize) -> bool {
        let size = self.values[slot as usize].len();
        let mut other = ValueSet::empty(size);
        other.insert(position);
        let other = other.complement(size);
        let values = known.entry(slot).and_modify(|values| values.intersect(&other)).or_insert(other);
        values.len() > 0
    }

    /// A condition simplified by the known values of slots.
    pub fn given(&mut self, node: NodeId, known: &KnownValues, memory: &mut FxHashMap<NodeId, NodeId>) -> NodeId {
        if self.charge(1) {
            return NodeId::FALSE;
        }
        let content = Rc::clone(&self.nodes[node.position()]);
        match &*content {
            Node::In { .. } => match self.decided_by(node, known) {
                Some(true) => NodeId::TRUE,
                Some(false) => NodeId::FALSE,
                None => node,
            },
            Node::Table { slots, tuples } => {
                if slots.iter().all(|slot| !known.contains_key(slot)) {
                    return node;
                }
                let is_open = |slot: u32, position: usize| known.get(&slot).is_none_or(|set| set.contains(position));
                let open: usize = slots
                    .iter()
                    .map(|&slot| (0..self.values[slot as usize].len()).filter(|&at| is_open(slot, at)).count())
                    .product();
                let inside = tuples
                    .iter()
                    .filter(|tuple| slots.iter().zip(tuple.iter()).all(|(&slot, &at)| is_open(slot, at as usize)))
                    .count();
                match inside {
                    0 => NodeId::FALSE,
                    _ if inside == open => NodeId::TRUE,
                    _ => node,
                }
            }
            Node::And(children) | Node::Or(children) => {
                // Leaves are decided faster than they are looked up.
                if let Some(&result) = memory.get(&node) {
                    return result;
                }
                let conjunction = matches!(&*content, Node::And(_));
                let decisive = if conjunction { NodeId::FALSE } else { NodeId::TRUE };
                let mut parts = Vec::with_capacity(children.len());
                let mut result = None;
                for &child in children {
                    let part = self.given(child, known, memory);
                    if part == decisive {
                        result = Some(decisive);
                        break;
                    }
                    parts.push(part);
                }
                let result = match result {
                    Some(decisive) => decisive,
                    None if parts[..] == children[..] => node,
                    None => self.connective(parts, conjunction),
                };
                memory.insert(node, result);
                result
            }
            _ => node,
        }
    }

    /// Whether several conditions together have so few assignments that their normal forms are canonical.
    pub fn is_small(&self, conditions: &[NodeId]) -> bool {
        self.joint_support(conditions).is_some()
    }

    /// The normal form of a relation after dropping the slots it does not depend on.
    fn essential_relation(&mut self, mut assignments: Assignments, mut set: u64) -> NodeId {
        let mut column = 0;
        while column < assignments.slots.len() {
            let rest = assignments.rest(set, column, 0);
            if (1..assignments.size(column)).all(|position| assignments.rest(set, column, position) == rest) {
                (assignments, set) = (assignments.without(column), rest);
            } else {
                column += 1;
            }
        }
        self.relation(&assignments, set)
    }

    /// The negation of a condition.
    pub fn not(&mut self, condition: NodeId) -> NodeId {
        if let Some(&negation) = self.negations.get(&condition) {
            return negation;
        }
        if self.charge(1) {
            return NodeId::FALSE;
        }
        let content = Rc::clone(&self.nodes[condition.position()]);
        let negation = match &*content {
            Node::False => NodeId::TRUE,
            Node::True => NodeId::FALSE,
            Node::In { slot, values } => {
                let size = self.values[*slot as usize].len();
                self.slot_in_set(*slot, values.complement(size))
            }
            Node::Table { slots, .. } => {
                let assignments = self.assignments(slots.to_vec()).expect("a table has few assignments");
                let set = assignments.all() & !self.table(condition, &assignments);
                self.relation(&assignments, set)
            }
            Node::And(children) => {
                let negated: Vec<NodeId> = children.iter().map(|&child| self.not(child)).collect();
                self.or(negated)
            }
            Node::Or(children) => {
                let negated: Vec<NodeId> = children.iter().map(|&child| self.not(child)).collect();
                self.and(negated)
            }
            Node::Compare { relation, form } => match relation {
                Relation::Zero => self.intern(Node::Compare { relation: Relation::NotZero, form: form.clone() }),
                Relation::NotZero => self.intern(Node::Compare { relation: Relation::Zero, form: form.clone() }),
                Relation::NotPositive => {
                    // not (f <= 0)  is  1 - f <= 0
                    let form = Linear::constant(1).plus(-1, form).expect("bounds were checked when it was built");
                    self.intern(Node::Compare { relation: Relation::NotPositive, form })
                }
            },
            Node::SlotValue(_) | Node::Product(_) | Node::Operation { .. } => {
                unreachable!("numbers have no negation")
            }
        };
        self.negations.insert(condition, negation);
        self.negations.insert(negation, condition);
        negation
    }

    /// `condition ? then : otherwise`.
    pub fn choose(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
        let opposite = self.not(condition);
        let first = self.and([condition, then]);
        let second = self.and([opposite, otherwise]);
        self.or([first, second])
    }

    // ---- numbers ----

    /// A number that does not depend on the state.
    pub fn constant(&self, value: i64) -> Value {
        Value { form: Linear::constant(value), cases: Some(Rc::new([(value, NodeId::TRUE)])) }
    }

    /// The value of something undefined: it has no number. Every use of it is a run-time error; none of its cases
    /// holds, so that nothing derived from it favours an index or value.
    pub fn nothing(&self) -> Value {
        Value { form: Linear::constant(0), cases: Some(Rc::new([])) }
    }

    /// A condition as 0 or 1.
    pub fn indicator(&mut self, condition: NodeId) -> Value {
        match condition {
            NodeId::FALSE => self.constant(0),
            NodeId::TRUE => self.constant(1),
            _ => {
                let opposite = self.not(condition);
                Value { form: Linear::node(condition), cases: Some(Rc::new([(0, opposite), (1, condition)])) }
            }
        }
    }

    /// A value of 0 or 1 as a condition.
    pub fn condition(&mut self, value: &Value) -> Result<NodeId, TooLarge> {
        self.equals_constant(value, 1)
    }

    /// The number in a slot, if it is defined.
    pub fn slot(&mut self, slot: u32) -> Value {
        if let Some(value) = &self.slot_numbers[slot as usize] {
            return value.clone();
        }
        let value = self.new_slot(slot);
        self.slot_numbers[slot as usize] = Some(value.clone());
        value
    }

    fn new_slot(&mut self, slot: u32) -> Value {
        if self.wide[slot as usize] {
            return Value { form: Linear::node(self.intern(Node::SlotValue(slot))), cases: None };
        }
        let numbers: Vec<(usize, i64)> = self.values[slot as usize]
            .iter()
            .enumerate()
            .filter_map(|(position, value)| value.map(|value| (position, value)))
            .collect();
        match numbers[..] {
            [] => self.nothing(),
            [(position, value)] => {
                let condition = self.slot_in(slot, [position]);
                Value { form: Linear::constant(value), cases: Some(Rc::new([(value, condition)])) }
            }
            _ => {
                let cases: Vec<(i64, NodeId)> =
                    numbers.iter().map(|&(position, value)| (value, self.slot_in(slot, [position]))).collect();
                let form = match cases[..] {
                    // Two values need no number: the condition distinguishes them.
                    [(low, _), (high, is_high)] => Linear { constant: low, terms: vec![(is_high, high - low)] },
                    _ => Linear::node(self.intern(Node::SlotValue(slot))),
                };
                Value { form, cases: Some(cases.into()) }
            }
        }
    }

    /// A value from the condition of each case; cases with equal numbers are merged.
    pub fn value_of_cases(&mut self, cases: Vec<(i64, NodeId)>) -> Result<Value, TooLarge> {
        let cases = self.joined(cases);
        // Sums grow by one term at a time.
        if self.charge(cases.len() * cases.len() / 64) {
            return Ok(self.nothing());
        }
        let form = match cases[..] {
            [] => Linear::constant(0),
            [(value, _)] => Linear::constant(value),
            [(low, _), ref others @ ..] => {
                let mut form = Linear::constant(low);
                for &(value, condition) in others {
                    let step = value.checked_sub(low).ok_or(TooLarge::Overflow)?;
                    form = form.plus(step, &Linear::node(condition)).ok_or(TooLarge::Overflow)?;
                }
                form
            }
        };
        if cases.len() > CASE_LIMIT {
            return Err(TooLarge::Cases);
        }
        Ok(Value { form, cases: Some(cases.into()) })
    }

    fn joined(&mut self, mut cases: Vec<(i64, NodeId)>) -> Vec<(i64, NodeId)> {
        cases.retain(|&(_, condition)| condition != NodeId::FALSE);
        cases.sort_by_key(|&(value, _)| value);
        let mut joined: Vec<(i64, NodeId)> = Vec::new();
        let mut start = 0;
        while start < cases.len() {
            let mut end = start;
            while end < cases.len() && cases[end].0 == cases[start].0 {
                end += 1;
            }
            let condition = self.or(cases[start..end].iter().map(|&(_, condition)| condition).collect::<Vec<_>>());
            joined.push((cases[start].0, condition));
            start = end;
        }
        joined
    }

    /// The value of a form, with its cases if they are few.
    fn value_of_form(&mut self, form: Linear) -> Result<Value, TooLarge> {
        let (low, high) = self.wide_bounds(&form);
        if low < i128::from(i64::MIN) || high > i128::from(i64::MAX) {
            return Err(TooLarge::Overflow);
        }
        let cases = match form.terms[..] {
            [] => Some(vec![(form.constant, NodeId::TRUE)]),
            [(node, coefficient)] => match self.node(node).clone() {
                Node::SlotValue(slot) if self.wide[slot as usize] => None,
                Node::SlotValue(slot) => Some(
                    (0..self.values[slot as usize].len())
                        .filter_map(|position| {
                            let value = self.values[slot as usize][position]?;
                            Some((form.constant + coefficient * value, self.slot_in(slot, [position])))
                        })
                        .collect(),
                ),
                Node::Product(_) | Node::Operation { .. } => None,
                _ => {
                    let opposite = self.not(node);
                    Some(vec![(form.constant, opposite), (form.constant + coefficient, node)])
                }
            },
            _ => self.tabulated(&form),
        };
        let cases = cases.map(|cases| self.joined(cases).into());
        Ok(Value { form, cases })
    }

    /// The cases of a form over few assignments.
    fn tabulated(&mut self, form: &Linear) -> Option<Vec<(i64, NodeId)>> {
        let mut slots: Vec<u32> = Vec::new();
        for &(node, _) in &form.terms {
            match self.node(node) {
                Node::SlotValue(slot) if self.wide[*slot as usize] => return None,
                Node::SlotValue(slot) => slots.push(*slot),
                _ => slots.extend(self.supports[node.position()].as_ref()?.iter()),
            }
        }
        slots.sort_unstable();
        slots.dedup();
        let assignments = self.assignments(slots)?;
        if self.charge(form.terms.len() * WORK_OF_TABLE) {
            return None;
        }
        /// What a term depends on.
        enum Term {
            Slot(u32, usize),
            Condition(u64),
        }
        let terms = form.terms.iter().map(|&(node, coefficient)| match self.node(node) {
            Node::SlotValue(slot) => (Term::Slot(*slot, assignments.column(*slot)), coefficient),
            _ => (Term::Condition(self.table(node, &assignments)), coefficient),
        });
        let terms: Vec<(Term, i64)> = terms.collect();
        let mut cases: Vec<(i64, u64)> = Vec::new();
        'assignments: for assignment in members(assignments.all()) {
            let mut sum = form.constant;
            for (term, coefficient) in &terms {
                let number = match *term {
                    Term::Slot(slot, column) => {
                        match self.values[slot as usize][assignments.position(column, assignment)] {
                            Some(value) => value,
                            None => continue 'assignments,
                        }
                    }
                    Term::Condition(set) => (set >> assignment & 1) as i64,
                };
                sum += coefficient * number;
            }
            match cases.iter_mut().find(|(value, _)| *value == sum) {
                Some((_, set)) => *set |= 1 << assignment,
                None => cases.push((sum, 1 << assignment)),
            }
        }
        let cases: Vec<(i64, NodeId)> =
            cases.into_iter().map(|(value, set)| (value, self.essential_relation(assignments.clone(), set))).collect();
        Some(cases)
    }

    /// `left + factor · right`.
    pub fn sum(&mut self, left: &Value, factor: i64, right: &Value) -> Result<Value, TooLarge> {
        if left.is_nothing() || right.is_nothing() {
            return Ok(self.nothing());
        }
        let form = left.form.plus(factor, &right.form).ok_or(TooLarge::Overflow)?;
        // Adding a constant keeps cases that are not apparent from the form alone.
        for (varying, constant, factor_of_varying) in [(left, right, 1), (right, left, factor)] {
            if let (Some(cases), Some(_)) = (&varying.cases, constant.form.as_constant()) {
                let offset = form_offset(&form, &varying.form, factor_of_varying).ok_or(TooLarge::Overflow)?;
                let mut shifted = Vec::with_capacity(cases.len());
                for &(value, condition) in cases.iter() {
                    let value = value.checked_mul(factor_of_varying).and_then(|value| value.checked_add(offset));
                    shifted.push((value.ok_or(TooLarge::Overflow)?, condition));
                }
                shifted.sort_by_key(|&(value, _)| value);
                return Ok(Value { form, cases: Some(shifted.into()) });
            }
        }
        self.value_of_form(form)
    }

    /// Applies a function to each pair of cases, if these are few; the function returns `None` where the operation is a
    /// run-time error.
    pub fn combine(
        &mut self,
        left: &Value,
        right: &Value,
        function: impl Fn(i64, i64) -> Option<i64>,
    ) -> Option<Result<Value, TooLarge>> {
        let (Some(left), Some(right)) = (&left.cases, &right.cases) else { return None };
        if left.len() * right.len() > TABLE_LIMIT && left.len() > 1 && right.len() > 1 {
            return None;
        }
        let mut cases = Vec::with_capacity(left.len() * right.len());
        for &(a, first) in left.iter() {
            for &(b, second) in right.iter() {
                if let Some(value) = function(a, b) {
                    cases.push((value, self.and([first, second])));
                }
            }
        }
        Some(self.value_of_cases(cases))
    }

    /// A product with too many cases to list.
    pub fn product(&mut self, left: &Value, right: &Value) -> Result<Value, TooLarge> {
        let factor = |constant: i64, form: &Linear| Linear::constant(0).plus(constant, form).ok_or(TooLarge::Overflow);
        let form = match (left.form.as_constant(), right.form.as_constant()) {
            (Some(constant), _) => factor(constant, &right.form)?,
            (_, Some(constant)) => factor(constant, &left.form)?,
            _ => Linear::node(self.product_node(vec![left.form.clone(), right.form.clone()])?),
        };
        self.value_of_form(form)
    }

    /// An operation with too many cases to list.
    pub fn operation(&mut self, operation: Operation, left: &Value, right: &Value) -> Result<Value, TooLarge> {
        let (mut a, mut b) = (left.form.clone(), right.form.clone());
        if operation.commutes() && b < a {
            std::mem::swap(&mut a, &mut b);
        }
        let node = self.intern(Node::Operation { operation, left: a, right: b });
        self.value_of_form(Linear::node(node))
    }

    /// `condition ? then : otherwise`.
    pub fn choose_value(&mut self, condition: NodeId, then: &Value, otherwise: &Value) -> Result<Value, TooLarge> {
        if condition == NodeId::TRUE || then == otherwise || otherwise.is_nothing() {
            return Ok(then.clone());
        }
        if condition == NodeId::FALSE || then.is_nothing() {
            return Ok(otherwise.clone());
        }
        let difference = then.form.plus(-1, &otherwise.form).ok_or(TooLarge::Overflow)?;
        let form = difference
            .as_constant()
            .map(|step| otherwise.form.plus(step, &Linear::node(condition)).ok_or(TooLarge::Overflow))
            .transpose()?;
        let cases = match (&then.cases, &otherwise.cases) {
            (Some(first), Some(second)) => {
                let (first, second) = (first.clone(), second.clone());
                let opposite = self.not(condition);
                let mut cases = Vec::with_capacity(first.len() + second.len());
                for &(value, case) in first.iter() {
                    cases.push((value, self.and([condition, case])));
                }
                for &(value, case) in second.iter() {
                    cases.push((value, self.and([opposite, case])));
                }
                Some(self.joined(cases))
            }
            _ => None,
        };
        match (form, cases) {
            (Some(form), cases) => Ok(Value { form, cases: cases.map(Into::into) }),
            (None, Some(cases)) => self.value_of_cases(cases),
            (None, None) => {
                // condition · (then - otherwise) + otherwise
                let product = self.product_node(vec![Linear::node(condition), difference])?;
                let form = otherwise.form.plus(1, &Linear::node(product)).ok_or(TooLarge::Overflow)?;
                self.value_of_form(form)
            }
        }
    }

    /// The condition that two values are equal.
    pub fn equal(&mut self, left: &Value, right: &Value) -> Result<NodeId, TooLarge> {
        if let (Some(first), Some(second)) = (&left.cases, &right.cases) {
            let (first, second) = (first.clone(), second.clone());
            let mut both = Vec::new();
            for &(value, case) in first.iter() {
                if let Ok(position) = second.binary_search_by_key(&value, |&(value, _)| value) {
                    both.push(self.and([case, second[position].1]));
                }
            }
            return Ok(self.or(both));
        }
        let form = left.form.plus(-1, &right.form).ok_or(TooLarge::Overflow)?;
        self.compare(Relation::Zero, form)
    }

    /// The condition that a value is a certain number.
    pub fn equals_constant(&mut self, value: &Value, number: i64) -> Result<NodeId, TooLarge> {
        if let Some(cases) = &value.cases {
            return Ok(cases
                .iter()
                .find(|&&(case, _)| case == number)
                .map_or(NodeId::FALSE, |&(_, condition)| condition));
        }
        let form = value.form.plus(-1, &Linear::constant(number)).ok_or(TooLarge::Overflow)?;
        self.compare(Relation::Zero, form)
    }

    /// The condition that a value is one of the numbers that pass a test, if it has cases.
    pub fn satisfies(&mut self, value: &Value, test: impl Fn(i64) -> bool) -> Option<NodeId> {
        let cases: Vec<NodeId> = value
            .cases
            .as_ref()?
            .iter()
            .filter(|&&(number, _)| test(number))
            .map(|&(_, condition)| condition)
            .collect();
        Some(self.or(cases))
    }

    /// The condition `left < right + slack`.
    pub fn less(&mut self, left: &Value, right: &Value, slack: i64) -> Result<NodeId, TooLarge> {
        if left.is_nothing() || right.is_nothing() {
            return Ok(NodeId::FALSE);
        }
        // left - right - slack + 1 <= 0
        let form = left.form.plus(-1, &right.form).ok_or(TooLarge::Overflow)?;
        let form = form.plus(1 - slack, &Linear::constant(1)).ok_or(TooLarge::Overflow)?;
        self.compare(Relation::NotPositive, form)
    }

    fn compare(&mut self, relation: Relation, form: Linear) -> Result<NodeId, TooLarge> {
        let test = |number: i64| match relation {
            Relation::NotPositive => number <= 0,
            Relation::Zero => number == 0,
            Relation::NotZero => number != 0,
        };
        let value = self.value_of_form(form)?;
        if let Some(condition) = self.satisfies(&value, test) {
            return Ok(condition);
        }
        let (low, high) = self.wide_bounds(&value.form);
        let mut form = value.form;
        // A number is zero if and only if its negation is.
        if relation != Relation::NotPositive && form.terms.first().is_some_and(|&(_, coefficient)| coefficient < 0) {
            form = Linear::constant(0).plus(-1, &form).ok_or(TooLarge::Overflow)?;
        }
        match relation {
            Relation::NotPositive if high <= 0 => return Ok(NodeId::TRUE),
            Relation::NotPositive if low > 0 => return Ok(NodeId::FALSE),
            Relation::Zero if low > 0 || high < 0 => return Ok(NodeId::FALSE),
            Relation::NotZero if low > 0 || high < 0 => return Ok(NodeId::TRUE),
            _ => {}
        }
        Ok(self.intern(Node::Compare { relation, form }))
    }

    /// The least and greatest number a value can be.
    pub fn range(&self, value: &Value) -> (i64, i64) {
        if let Some(cases) = &value.cases
            && let (Some(first), Some(last)) = (cases.first(), cases.last())
        {
            return (first.0, last.0);
        }
        let (low, high) = self.wide_bounds(&value.form);
        (clamp(low), clamp(high))
    }
}

impl Operation {
    /// Whether the operation is commutative.
    pub fn commutes(self) -> bool {
        matches!(self, Self::BitAnd | Self::BitOr | Self::BitXor)
    }

    /// The operator of the model.
    fn operator(self) -> BinaryOperator {
        match self {
            Self::Divide => BinaryOperator::Divide,
            Self::Remainder => BinaryOperator::Remainder,
            Self::ShiftLeft => BinaryOperator::ShiftLeft,
            Self::ShiftRight => BinaryOperator::ShiftRight,
            Self::BitAnd => BinaryOperator::BitAnd,
            Self::BitOr => BinaryOperator::BitOr,
            Self::BitXor => BinaryOperator::BitXor,
        }
    }

    /// The result, if there is one.
    pub fn apply(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Self::Divide => left.checked_div(right),
            Self::Remainder => left.checked_rem(right),
            Self::ShiftLeft => Some(shift(left, right)),
            Self::ShiftRight => Some(shift(left, right.saturating_neg())),
            Self::BitAnd => Some(left & right),
            Self::BitOr => Some(left | right),
            Self::BitXor => Some(left ^ right),
        }
    }
}

/// Shifts left by a count, or right by a negative one; 64 or more gives 0, as in the interpreter.
pub(crate) fn shift(value: i64, count: i64) -> i64 {
    match count {
        0..64 => value.wrapping_shl(count as u32),
        -63..0 => value >> -count,
        _ => 0,
    }
}

impl Node {
    /// The operands of a conjunction, or of a disjunction.
    fn operands(&self, conjunction: bool) -> Option<&[NodeId]> {
        match self {
            Self::And(operands) if conjunction => Some(operands),
            Self::Or(operands) if !conjunction => Some(operands),
            _ => None,
        }
    }

    /// Its approximate size.
    fn size(&self) -> usize {
        match self {
            Self::False | Self::True | Self::SlotValue(_) => 1,
            Self::In { values, .. } => values.0.len(),
            Self::Table { slots, tuples } => slots.len() * tuples.len(),
            Self::And(children) | Self::Or(children) => children.len(),
            Self::Compare { form, .. } => form.terms.len(),
            Self::Product(factors) => factors.iter().map(|factor| factor.terms.len()).sum(),
            Self::Operation { left, right, .. } => left.terms.len() + right.terms.len(),
        }
    }

    /// Visits the operands of the node.
    pub fn for_each_child(&self, mut visit: impl FnMut(NodeId)) {
        let mut form = |form: &Linear| form.terms.iter().for_each(|&(node, _)| visit(node));
        match self {
            Self::And(children) | Self::Or(children) => children.iter().copied().for_each(visit),
            Self::Compare { form: inner, .. } => form(inner),
            Self::Product(factors) => factors.iter().for_each(form),
            Self::Operation { left, right, .. } => {
                form(left);
                form(right);
            }
            Self::False | Self::True | Self::In { .. } | Self::Table { .. } | Self::SlotValue(_) => {}
        }
    }
}

/// The constant by which `form` differs from `factor · other`.
fn form_offset(form: &Linear, other: &Linear, factor: i64) -> Option<i64> {
    form.constant.checked_sub(other.constant.checked_mul(factor)?)
}

fn clamp(number: i128) -> i64 {
    number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
