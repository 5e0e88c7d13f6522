//! Functions after a step: the condition or value that a function of the state has once an instance has fired, as a
//! function of the state before. Two instances commute if both orders give the same functions, wherever both can fire.
//!
//! What is not decided counts as different: numbers too large, multisets (whose elements are sorted after a step), and
//! everything after the budget is spent.

use quotient_functions::{
    Circuit, Event, KnownValues, Linear, Multisets, Node, NodeId, Relation, Value, Write, Written,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of values of a slot that is split into cases.
const SPLIT_VALUES: usize = 16;
/// The largest number of values that are written to a slot whose number is composed with others.
const NUMBER_CASES: usize = 16;
/// The largest number of cases of one comparison.
const SPLITS: usize = 256;
/// The largest number of cases of one refutation.
const REFUTATION_SPLITS: usize = 64;

/// The slots that an event reads, and those that it writes, in increasing order.
pub(super) type Slots = (Vec<u32>, Vec<u32>);

/// Composes functions over one circuit.
pub(super) struct Composer<'a> {
    pub(super) circuit: &'a mut Circuit,
    multisets: &'a Multisets,
    /// The slots that a node depends on, in increasing order.
    supports: FxHashMap<NodeId, std::rc::Rc<[u32]>>,
    /// Which conditions never hold, as far as that was asked.
    refuted: FxHashMap<NodeId, bool>,
}

/// The value of a slot after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    Constant(Option<i64>),
    /// The value that another slot had before.
    Copy(u32),
    Other,
}

impl<'a> Composer<'a> {
    pub(super) fn new(circuit: &'a mut Circuit, multisets: &'a Multisets) -> Self {
        Self { circuit, multisets, supports: FxHashMap::default(), refuted: FxHashMap::default() }
    }

    /// The slots that a node depends on.
    pub(super) fn support(&mut self, node: NodeId) -> std::rc::Rc<[u32]> {
        if let Some(known) = self.supports.get(&node) {
            return known.clone();
        }
        let mut slots: Vec<u32> = Vec::new();
        let mut children = Vec::new();
        match self.circuit.node(node) {
            Node::In { slot, .. } | Node::SlotValue(slot) => slots.push(*slot),
            Node::Table { slots: own, .. } => slots.extend(own.iter()),
            other => other.for_each_child(|child| children.push(child)),
        }
        for child in children {
            slots.extend(self.support(child).iter());
        }
        slots.sort_unstable();
        slots.dedup();
        let support: std::rc::Rc<[u32]> = slots.into();
        self.supports.insert(node, support.clone());
        support
    }

    /// The slots that an event reads and writes. A multiset is one slot.
    pub(super) fn slots(&mut self, event: &Event) -> Slots {
        let mut reads: FxHashSet<u32> = FxHashSet::default();
        for root in event.roots() {
            reads.extend(self.support(root).iter());
        }
        let written = event.writes.iter().chain(event.additions.iter().flatten()).map(|write| write.slot);
        let sorted = |slots: &mut dyn Iterator<Item = u32>| {
            let mut slots: Vec<u32> = slots.map(|slot| self.whole_multiset(slot)).collect();
            slots.sort_unstable();
            slots.dedup();
            slots
        };
        (sorted(&mut reads.into_iter()), sorted(&mut written.into_iter()))
    }

    /// Whether a slot belongs to a multiset or is a column of one.
    pub(super) fn is_in_multiset(&self, slot: u32) -> bool {
        self.multisets.of_slot(slot).is_some()
            || self.multisets.iter().any(|entry| (entry.columns..entry.columns + entry.stride).contains(&slot))
    }

    /// A slot, or the first one of the multiset that it belongs to.
    pub(super) fn whole_multiset(&self, slot: u32) -> u32 {
        whole_multiset(self.multisets, slot)
    }

    /// What is written to a slot.
    fn write(event: &Event, slot: u32) -> Option<&Write> {
        event.writes.binary_search_by_key(&slot, |write| write.slot).ok().map(|found| &event.writes[found])
    }

    /// The condition under which an event that takes a step changes something; `None` if it is not known.
    pub(super) fn changes(&mut self, event: &Event) -> Option<NodeId> {
        if !event.additions.is_empty() || event.writes.iter().any(|write| self.is_in_multiset(write.slot)) {
            return None;
        }
        let mut changes = Vec::new();
        for write in &event.writes {
            changes.push(match &write.written {
                Written::Cases(cases) => {
                    let mut moves = Vec::new();
                    for &(value, condition) in cases {
                        let differs = self.slot_is_not(write.slot, value)?;
                        moves.push(self.circuit.and([differs, condition]));
                    }
                    self.circuit.or(moves)
                }
                Written::Number { when, undefined, value } => {
                    let value = self.value_of_form(value)?;
                    let old = self.circuit.slot(write.slot);
                    let same = self.circuit.equal(&value, &old).ok()?;
                    // An undefined slot has no number to compare with.
                    let is_partial = *undefined != NodeId::FALSE || self.circuit.values(write.slot)[0].is_none();
                    if is_partial {
                        return None;
                    }
                    let differs = self.circuit.not(same);
                    self.circuit.and([*when, differs])
                }
            });
        }
        Some(self.circuit.or(changes))
    }

    /// Whether each step of an event makes a multiset larger: it adds an element, whatever the state, and removes none.
    pub(super) fn always_adds(&self, event: &Event) -> bool {
        // The first write of an addition says when there is one.
        let is_sure = |addition: &Vec<Write>| match addition.first().map(|write| &write.written) {
            Some(Written::Cases(cases)) => matches!(cases[..], [(_, NodeId::TRUE)]),
            _ => false,
        };
        event.additions.iter().any(is_sure) && !event.writes.iter().any(|write| self.is_in_multiset(write.slot))
    }

    /// The condition that a slot does not hold a value; `None` if its values are not listed.
    fn slot_is_not(&mut self, slot: u32, value: Option<i64>) -> Option<NodeId> {
        if self.circuit.is_wide(slot) {
            let number = value?;
            // A slot that may be undefined has no number to compare with.
            self.circuit.values(slot)[0]?;
            let own = self.circuit.slot(slot);
            let same = self.circuit.equals_constant(&own, number).ok()?;
            return Some(self.circuit.not(same));
        }
        let is_it = match self.circuit.values(slot).binary_search(&value) {
            Ok(position) => self.circuit.slot_in(slot, [position]),
            Err(_) => NodeId::FALSE,
        };
        Some(self.circuit.not(is_it))
    }

    /// A condition, simplified by known values.
    pub(super) fn given(&mut self, condition: NodeId, known: &KnownValues) -> NodeId {
        self.circuit.given(condition, known, &mut FxHashMap::default())
    }

    /// The condition that a slot holds one of the values at some positions after an event has taken a step.
    fn next_in(&mut self, event: &Event, slot: u32, positions: &[usize], known: &KnownValues) -> Option<NodeId> {
        let Some(write) = Self::write(event, slot) else {
            return Some(self.circuit.slot_in(slot, positions.iter().copied()));
        };
        if self.circuit.is_wide(slot) || self.is_in_multiset(slot) {
            return None;
        }
        match &write.written {
            Written::Cases(cases) => {
                let mut reached = Vec::new();
                let mut leaves = Vec::new();
                for &(value, condition) in cases {
                    let condition = self.given(condition, known);
                    let differs = self.slot_is_not(slot, value)?;
                    let written = self.circuit.and([differs, condition]);
                    let position = self.circuit.values(slot).binary_search(&value).ok()?;
                    match positions.contains(&position) {
                        true => reached.push(written),
                        false => leaves.push(written),
                    }
                }
                // The slot keeps a value of the set unless one outside is written.
                let left = self.circuit.or(leaves);
                let stays = self.circuit.not(left);
                let was = self.circuit.slot_in(slot, positions.iter().copied());
                reached.push(self.circuit.and([was, stays]));
                Some(self.circuit.or(reached))
            }
            Written::Number { when, undefined, value } => {
                let value = self.value_of_form(value)?;
                let mut is_one = Vec::new();
                let defined = self.circuit.not(*undefined);
                for &position in positions {
                    is_one.push(match self.circuit.values(slot)[position] {
                        None => *undefined,
                        Some(number) => {
                            let same = self.circuit.equals_constant(&value, number).ok()?;
                            self.circuit.and([defined, same])
                        }
                    });
                }
                let then = self.circuit.or(is_one);
                let otherwise = self.circuit.slot_in(slot, positions.iter().copied());
                Some(self.circuit.choose(*when, then, otherwise))
            }
        }
    }

    /// A sum as a value.
    fn value_of_form(&mut self, form: &Linear) -> Option<Value> {
        let mut value = self.circuit.constant(form.constant);
        for &(node, coefficient) in &form.terms {
            let term = self.value_of_node(node)?;
            value = self.circuit.sum(&value, coefficient, &term).ok()?;
        }
        Some(value)
    }

    fn value_of_node(&mut self, node: NodeId) -> Option<Value> {
        match self.circuit.node(node).clone() {
            Node::SlotValue(slot) => Some(self.circuit.slot(slot)),
            Node::Product(factors) => {
                let mut product = self.circuit.constant(1);
                for factor in &factors {
                    let factor = self.value_of_form(factor)?;
                    product = self.circuit.product(&product, &factor).ok()?;
                }
                Some(product)
            }
            Node::Operation { operation, left, right } => {
                let (left, right) = (self.value_of_form(&left)?, self.value_of_form(&right)?);
                self.circuit.operation(operation, &left, &right).ok()
            }
            _ => Some(self.circuit.indicator(node)),
        }
    }

    /// The number of a slot after an event has taken a step.
    fn slot_after(&mut self, event: &Event, slot: u32) -> Option<Value> {
        let old = self.circuit.slot(slot);
        let Some(write) = Self::write(event, slot) else { return Some(old) };
        if self.is_in_multiset(slot) {
            return None;
        }
        match &write.written {
            // Each case is combined with all others.
            Written::Cases(cases) if cases.len() > NUMBER_CASES => None,
            Written::Cases(cases) => {
                let mut value = old;
                for &(number, condition) in cases {
                    let differs = self.slot_is_not(slot, number)?;
                    let written = self.circuit.and([differs, condition]);
                    let constant = self.circuit.constant(number?);
                    value = self.circuit.choose_value(written, &constant, &value).ok()?;
                }
                Some(value)
            }
            Written::Number { when, undefined, value } if *undefined == NodeId::FALSE => {
                let value = self.value_of_form(value)?;
                self.circuit.choose_value(*when, &value, &old).ok()
            }
            Written::Number { .. } => None,
        }
    }

    fn form_after(&mut self, event: &Event, form: &Linear, known: &KnownValues) -> Option<Value> {
        let mut value = self.circuit.constant(form.constant);
        for &(node, coefficient) in &form.terms {
            let term = self.value_after(event, node, known)?;
            value = self.circuit.sum(&value, coefficient, &term).ok()?;
        }
        Some(value)
    }

    fn value_after(&mut self, event: &Event, node: NodeId, known: &KnownValues) -> Option<Value> {
        match self.circuit.node(node).clone() {
            Node::SlotValue(slot) => self.slot_after(event, slot),
            Node::Product(factors) => {
                let mut product = self.circuit.constant(1);
                for factor in &factors {
                    let factor = self.form_after(event, factor, known)?;
                    product = self.circuit.product(&product, &factor).ok()?;
                }
                Some(product)
            }
            Node::Operation { operation, left, right } => {
                let (left, right) = (self.form_after(event, &left, known)?, self.form_after(event, &right, known)?);
                self.circuit.operation(operation, &left, &right).ok()
            }
            _ => {
                let condition = self.after(event, node, known)?;
                Some(self.circuit.indicator(condition))
            }
        }
    }

    /// Whether an event writes a slot that a node depends on.
    pub(super) fn touches(&mut self, event: &Event, node: NodeId) -> bool {
        let support = self.support(node);
        // The elements of a multiset are sorted after a step, so every position may change.
        support.iter().any(|&slot| Self::write(event, slot).is_some())
            || (self.changes_multisets(event) && support.iter().any(|&slot| self.is_in_multiset(slot)))
    }

    /// Whether an event can change a multiset.
    pub(super) fn changes_multisets(&self, event: &Event) -> bool {
        !event.additions.is_empty() || event.writes.iter().any(|write| self.is_in_multiset(write.slot))
    }

    /// A condition after an event has taken a step from a state with some known values.
    pub(super) fn after(&mut self, event: &Event, condition: NodeId, known: &KnownValues) -> Option<NodeId> {
        if self.circuit.is_spent() {
            return None;
        }
        if !self.touches(event, condition) {
            return Some(condition);
        }
        if self.support(condition).iter().any(|&slot| self.is_in_multiset(slot)) {
            return None;
        }
        match self.circuit.node(condition).clone() {
            Node::In { slot, values } => {
                let positions: Vec<usize> = values.iter().collect();
                self.next_in(event, slot, &positions, known)
            }
            Node::Table { slots, tuples } => {
                let mut ways = Vec::with_capacity(tuples.len());
                for tuple in &tuples {
                    let mut parts = Vec::with_capacity(slots.len());
                    for (&slot, &position) in slots.iter().zip(tuple) {
                        let part = self.next_in(event, slot, &[position as usize], known)?;
                        parts.push(self.given(part, known));
                    }
                    ways.push(self.circuit.and(parts));
                }
                Some(self.circuit.or(ways))
            }
            Node::And(children) => {
                let mut parts = Vec::with_capacity(children.len());
                for &child in &children {
                    parts.push(self.after(event, child, known)?);
                }
                Some(self.circuit.and(parts))
            }
            Node::Or(children) => {
                let mut parts = Vec::with_capacity(children.len());
                for &child in &children {
                    parts.push(self.after(event, child, known)?);
                }
                Some(self.circuit.or(parts))
            }
            Node::Compare { relation, form } => {
                let value = self.form_after(event, &form, known)?;
                match relation {
                    Relation::Zero => self.circuit.equals_constant(&value, 0).ok(),
                    Relation::NotZero => {
                        let zero = self.circuit.equals_constant(&value, 0).ok()?;
                        Some(self.circuit.not(zero))
                    }
                    Relation::NotPositive => {
                        let zero = self.circuit.constant(0);
                        self.circuit.less(&value, &zero, 1).ok()
                    }
                }
            }
            _ => None,
        }
    }

    /// What becomes of a slot when an event takes a step from a state with some known values.
    fn next(&mut self, event: &Event, slot: u32, known: &KnownValues) -> Next {
        let only = |circuit: &Circuit, slot: u32| {
            let mut positions = known.get(&slot)?.iter();
            let first = positions.next()?;
            positions.next().is_none().then(|| circuit.values(slot)[first])
        };
        let Some(write) = Self::write(event, slot) else {
            return match only(self.circuit, slot) {
                Some(value) => Next::Constant(value),
                None => Next::Copy(slot),
            };
        };
        let Written::Cases(cases) = &write.written else { return Next::Other };
        if self.circuit.is_wide(slot) {
            return Next::Other;
        }
        if let [(value, NodeId::TRUE)] = cases[..] {
            return Next::Constant(value);
        }
        self.circuit.charge(1 + known.len() / 4);
        // Of each value that the slot may not hold already: when it is written.
        let mut ways: Vec<(Option<i64>, NodeId)> = Vec::new();
        let mut differing = known.clone();
        for &(value, condition) in cases {
            let Ok(position) = self.circuit.values(slot).binary_search(&value) else { return Next::Other };
            match known.get(&slot) {
                Some(values) => differing.insert(slot, values.clone()),
                None => differing.remove(&slot),
            };
            if !self.circuit.exclude(&mut differing, slot, position) {
                continue;
            }
            let condition = self.given(condition, &differing);
            if condition != NodeId::FALSE {
                ways.push((value, condition));
            }
        }
        if ways.is_empty() {
            return match only(self.circuit, slot) {
                Some(value) => Next::Constant(value),
                None => Next::Copy(slot),
            };
        }
        if let [(value, NodeId::TRUE)] = ways[..] {
            return Next::Constant(value);
        }
        // A copy: each value is written if and only if the source holds it.
        let source = match self.circuit.node(ways[0].1) {
            Node::In { slot, .. } => *slot,
            _ => return Next::Other,
        };
        if source == slot || self.circuit.is_wide(source) {
            return Next::Other;
        }
        let open: Vec<usize> = match known.get(&source) {
            Some(values) => values.iter().collect(),
            None => (0..self.circuit.values(source).len()).collect(),
        };
        let held = only(self.circuit, slot);
        let mut matched = 0;
        for position in open {
            let value = self.circuit.values(source)[position];
            let condition = self.circuit.slot_in(source, [position]);
            if ways.contains(&(value, condition)) {
                matched += 1;
            } else if held != Some(value) {
                return Next::Other;
            }
        }
        if matched == ways.len() { Next::Copy(source) } else { Next::Other }
    }

    /// Whether an event writes a value other than the only known one to a slot, from states with some known values.
    pub(super) fn leaves(&mut self, event: &Event, slot: u32, known: &KnownValues) -> bool {
        let held = known.get(&slot).and_then(|values| values.iter().next()).map(|at| self.circuit.values(slot)[at]);
        match (self.next(event, slot, known), held) {
            (Next::Constant(value), Some(held)) => value != held,
            _ => false,
        }
    }

    /// What is known of the state after an event that takes a step from a state with some known values.
    fn known_after(&mut self, event: &Event, known: &KnownValues) -> KnownValues {
        let mut after = KnownValues::default();
        for &slot in known.keys() {
            let next = self.next(event, slot, known);
            self.learn(&mut after, slot, &next, known);
        }
        for write in &event.writes {
            if !known.contains_key(&write.slot) {
                let next = self.next(event, write.slot, known);
                self.learn(&mut after, write.slot, &next, known);
            }
        }
        after
    }

    /// The value of a slot after two events, given what is known of the states before them, and between them.
    fn next_of_both(
        &mut self,
        (first, known): (&Event, &KnownValues),
        (second, between): (&Event, &KnownValues),
        slot: u32,
    ) -> Next {
        match self.next(second, slot, between) {
            Next::Constant(value) => Next::Constant(value),
            Next::Copy(source) => self.next(first, source, known),
            Next::Other => Next::Other,
        }
    }

    /// What is known of single slots after an event takes a step from a state with some known values, as a condition.
    pub(super) fn reached(&mut self, event: &Event, known: &KnownValues) -> NodeId {
        let mut after = KnownValues::default();
        let written = event.writes.iter().map(|write| write.slot);
        let mut slots: Vec<u32> = known.keys().copied().chain(written).collect();
        slots.sort_unstable();
        slots.dedup();
        for &slot in &slots {
            if !(self.changes_multisets(event) && self.is_in_multiset(slot)) {
                let next = self.next(event, slot, known);
                self.learn(&mut after, slot, &next, known);
            }
        }
        let mut parts = Vec::new();
        for slot in slots {
            if let Some(values) = after.get(&slot) {
                parts.push(self.circuit.slot_in(slot, values.iter()));
            }
        }
        self.circuit.and(parts)
    }

    /// Records what is known of a slot after a step.
    fn learn(&mut self, after: &mut KnownValues, slot: u32, next: &Next, before: &KnownValues) {
        let condition = match next {
            Next::Constant(value) => match self.circuit.values(slot).binary_search(value) {
                Ok(position) if !self.circuit.is_wide(slot) => self.circuit.slot_in(slot, [position]),
                _ => return,
            },
            Next::Copy(source) if *source == slot => {
                if let Some(values) = before.get(&slot) {
                    after.insert(slot, values.clone());
                }
                return;
            }
            _ => return,
        };
        if condition != NodeId::TRUE {
            after.extend(self.circuit.known_values(condition));
        }
    }

    /// Whether a condition never holds. False if that is not found out.
    pub(super) fn is_refuted(&mut self, condition: NodeId) -> bool {
        if let Some(&known) = self.refuted.get(&condition) {
            return known;
        }
        let mut splits = REFUTATION_SPLITS;
        let is_refuted = self.refute(condition, &mut splits) && !self.circuit.is_spent();
        self.refuted.insert(condition, is_refuted);
        is_refuted
    }

    fn refute(&mut self, condition: NodeId, splits: &mut usize) -> bool {
        let condition = self.propagated(condition);
        if condition == NodeId::FALSE {
            return true;
        }
        if condition == NodeId::TRUE || self.circuit.is_spent() {
            return false;
        }
        if let Node::And(children) = self.circuit.node(condition)
            && children.iter().all(|&child| matches!(self.circuit.node(child), Node::In { .. }))
        {
            return false;
        }
        let known = self.circuit.known_values(condition);
        let open = |circuit: &Circuit, slot: u32| match known.get(&slot) {
            Some(values) => values.iter().collect(),
            None => (0..circuit.values(slot).len()).collect::<Vec<usize>>(),
        };
        // Of the part that depends on the fewest slots, the slot with the fewest values: parts that have no slot in common
        // are not mixed, and the smallest are contradicted first.
        let mut parts: Vec<NodeId> = match self.circuit.node(condition) {
            Node::And(children) => children.to_vec(),
            _ => vec![condition],
        };
        parts.retain(|&part| !matches!(self.circuit.node(part), Node::In { .. }));
        let mut fewest: Option<(usize, (usize, u32))> = None;
        for part in parts {
            let support = self.support(part);
            if fewest.is_some_and(|(size, _)| size <= support.len()) {
                continue;
            }
            let candidates = support.iter().copied().filter(|&slot| !self.circuit.is_wide(slot));
            let sizes = candidates.map(|slot| (open(self.circuit, slot).len(), slot));
            if let Some(least) = sizes.filter(|&(size, _)| (2..=SPLIT_VALUES).contains(&size)).min() {
                fewest = Some((support.len(), least));
            }
        }
        let Some((_, (values, slot))) = fewest else { return false };
        if *splits < values {
            return false;
        }
        *splits -= values;
        open(self.circuit, slot).into_iter().all(|position| {
            let holds = self.circuit.slot_in(slot, [position]);
            let known = self.circuit.known_values(holds);
            let case = self.given(condition, &known);
            // What does not get simpler never will.
            let is_simpler = case == NodeId::FALSE || !self.support(case).contains(&slot);
            is_simpler && self.refute(case, splits)
        })
    }

    /// A conjunction in which the values that it allows for single slots simplify its other parts.
    fn propagated(&mut self, condition: NodeId) -> NodeId {
        let Node::And(children) = self.circuit.node(condition).clone() else { return condition };
        let known = self.circuit.known_values(condition);
        let mut parts = Vec::with_capacity(children.len());
        for &child in &children {
            let is_known = matches!(self.circuit.node(child), Node::In { .. });
            parts.push(if is_known { child } else { self.given(child, &known) });
        }
        self.circuit.and(parts)
    }

    /// Whether two events accord: wherever both take a step, each does so after the other, and both orders lead to the
    /// same state. The conditions are those under which they take a step.
    pub(super) fn accord(&mut self, first: (&Event, NodeId), second: (&Event, NodeId)) -> bool {
        let both = self.circuit.and([first.1, second.1]);
        if self.is_refuted(both) {
            return true;
        }
        if self.may_disable_given(first.0, second.1, both) || self.may_disable_given(second.0, first.1, both) {
            return false;
        }
        let mut slots: Vec<u32> = Vec::new();
        for (event, other) in [(first.0, second.0), (second.0, first.0)] {
            if !event.additions.is_empty() && !other.additions.is_empty() {
                return false;
            }
            for write in &event.writes {
                let is_affected = Self::write(other, write.slot).is_some()
                    || self.roots(write).iter().any(|&root| self.touches(other, root));
                if is_affected {
                    slots.push(write.slot);
                }
            }
            for addition in &event.additions {
                for write in addition {
                    if self.roots(write).iter().any(|&root| self.touches(other, root)) {
                        return false;
                    }
                }
                // Elements that are added where others are removed or read.
                if other.writes.iter().any(|write| self.is_in_multiset(write.slot)) {
                    return false;
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
        self.same(first.0, second.0, &slots, both)
    }

    /// Whether some slots are the same after two events in either order, from the states of a condition.
    pub(super) fn same(&mut self, first: &Event, second: &Event, slots: &[u32], both: NodeId) -> bool {
        let known = self.circuit.known_values(both);
        let mut splits = SPLITS;
        self.same_after(first, second, slots, both, known, &mut splits) && !self.circuit.is_spent()
    }

    /// Whether one event can end that another takes a step, from states where both do.
    pub(super) fn may_disable_given(&mut self, event: &Event, steps: NodeId, both: NodeId) -> bool {
        if !self.touches(event, steps) {
            return false;
        }
        let known = self.circuit.known_values(both);
        let parts = match self.circuit.node(steps).clone() {
            Node::And(children) => children.to_vec(),
            _ => vec![steps],
        };
        parts.into_iter().any(|part| {
            if !self.touches(event, part) {
                return false;
            }
            let Some(after) = self.after(event, part, &known) else { return true };
            let after = self.given(after, &known);
            let fails = self.circuit.not(after);
            let fails = self.circuit.and([both, fails]);
            !self.is_refuted(fails)
        })
    }

    /// The conditions and numbers that a write is made of.
    fn roots(&self, write: &Write) -> Vec<NodeId> {
        match &write.written {
            Written::Cases(cases) => cases.iter().map(|&(_, condition)| condition).collect(),
            Written::Number { when, undefined, value } => {
                let terms = value.terms.iter().map(|&(node, _)| node);
                [*when, *undefined].into_iter().chain(terms).collect()
            }
        }
    }

    /// The same with what is known of slots, and how many cases may be distinguished.
    fn same_after(
        &mut self,
        first: &Event,
        second: &Event,
        slots: &[u32],
        both: NodeId,
        known: KnownValues,
        splits: &mut usize,
    ) -> bool {
        let mut open = Vec::new();
        let between = [self.known_after(first, &known), self.known_after(second, &known)];
        for &slot in slots {
            if self.is_in_multiset(slot) || self.circuit.is_spent() {
                return false;
            }
            let one = self.next_of_both((first, &known), (second, &between[0]), slot);
            let other = self.next_of_both((second, &known), (first, &between[1]), slot);
            if one == Next::Other || one != other {
                open.push(slot);
            }
        }
        if open.is_empty() {
            return true;
        }
        // A slot that both conditions restrict, such as the length of a queue, often decides which way they go.
        let size = |values: &quotient_functions::ValueSet| values.iter().count();
        let candidates = known.iter().map(|(&slot, values)| (size(values), slot));
        let split = candidates.filter(|&(size, _)| (2..=SPLIT_VALUES).contains(&size)).min();
        if let Some((size, slot)) = split
            && *splits >= size
        {
            *splits -= size;
            let positions: Vec<usize> = known[&slot].iter().collect();
            return positions.into_iter().all(|position| {
                let holds = self.circuit.slot_in(slot, [position]);
                let case = self.circuit.and([both, holds]);
                if case == NodeId::FALSE {
                    return true;
                }
                let mut known = known.clone();
                known.extend(self.circuit.known_values(holds));
                self.same_after(first, second, &open, case, known, splits)
            });
        }
        open.iter().all(|&slot| self.same_values(first, second, slot, both, &known))
    }

    /// The same for one slot, value by value or as numbers.
    fn same_values(&mut self, first: &Event, second: &Event, slot: u32, both: NodeId, known: &KnownValues) -> bool {
        if self.circuit.is_wide(slot) {
            let one = self.number_after_both(first, second, slot, known);
            let other = self.number_after_both(second, first, slot, known);
            return one.is_some() && one == other && !self.circuit.is_spent();
        }
        (0..self.circuit.values(slot).len()).all(|position| {
            let mut ways = [NodeId::FALSE; 2];
            for (way, (one, other)) in ways.iter_mut().zip([(first, second), (second, first)]) {
                let Some(last) = self.next_in(other, slot, &[position], &KnownValues::default()) else { return false };
                let Some(condition) = self.after(one, last, known) else { return false };
                *way = self.given(condition, known);
            }
            let [one, other] = ways;
            if one == other {
                return !self.circuit.is_spent();
            }
            let (not_one, not_other) = (self.circuit.not(one), self.circuit.not(other));
            let less = self.circuit.and([both, one, not_other]);
            let more = self.circuit.and([both, not_one, other]);
            self.is_refuted(less) && self.is_refuted(more)
        })
    }

    /// The number in a slot after two events that write it.
    fn number_after_both(&mut self, first: &Event, second: &Event, slot: u32, known: &KnownValues) -> Option<Value> {
        let Some(write) = Self::write(second, slot) else { return self.slot_after(first, slot) };
        match &write.written {
            Written::Number { when: NodeId::TRUE, undefined: NodeId::FALSE, value } => {
                self.form_after(first, value, known)
            }
            Written::Cases(cases) => match cases[..] {
                [(Some(number), NodeId::TRUE)] => Some(self.circuit.constant(number)),
                _ => None,
            },
            Written::Number { .. } => None,
        }
    }
}

/// Whether two conditions allow no common value of some slot, given what they allow for single slots.
pub(super) fn exclude_each_other(first: &KnownValues, second: &KnownValues) -> bool {
    let (few, many) = if first.len() <= second.len() { (first, second) } else { (second, first) };
    few.iter().any(|(slot, values)| many.get(slot).is_some_and(|other| !values.meets(other)))
}

/// A slot, or the first one of the multiset that it belongs to.
pub(super) fn whole_multiset(multisets: &Multisets, slot: u32) -> u32 {
    let of_column = || multisets.iter().find(|entry| (entry.columns..entry.columns + entry.stride).contains(&slot));
    multisets.of_slot(slot).map(|(_, entry)| entry).or_else(of_column).map_or(slot, |entry| entry.first)
}
