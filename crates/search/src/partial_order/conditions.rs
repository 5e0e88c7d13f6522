//! The conjuncts of guards, in a form that is evaluated on packed states.

use quotient_functions::{Circuit, Linear, Node, NodeId, Operation, Relation};
use quotient_ir::{Layout, SlotId, TableIndex};

/// A condition of [`Conditions`].
pub type ConditionId = u32;

/// The largest number of bits of a slot whose values are found by a table.
const TABLE_BITS: u32 = 12;
/// Marks a value that is considered impossible.
const IMPOSSIBLE: u32 = u32::MAX;

/// The conditions of one model. The conjuncts come first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    conjuncts: Vec<Condition>,
    /// The values of each slot of the state, undefined first; none of wide slots.
    values: Vec<Vec<Option<i64>>>,
    wide: Vec<bool>,
    slots: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    In { slot: u32, values: Box<[u64]> },
    Table { slots: Box<[u32]>, tuples: Box<[Box<[u16]>]> },
    And(Box<[Condition]>),
    Or(Box<[Condition]>),
    Compare { relation: Relation, form: Form },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Form {
    constant: i64,
    terms: Box<[(Number, i64)]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Number {
    Slot(u32),
    Condition(Box<Condition>),
    Product(Box<[Form]>),
    Operation(Operation, Box<(Form, Form)>),
}

impl Conditions {
    /// None yet, over some slots of a circuit.
    pub fn new(circuit: &Circuit, slots: usize) -> Self {
        let wide: Vec<bool> = (0..slots as u32).map(|slot| circuit.is_wide(slot)).collect();
        let values = (0..slots as u32)
            .map(|slot| if circuit.is_wide(slot) { Vec::new() } else { circuit.values(slot).to_vec() })
            .collect();
        Self { conjuncts: Vec::new(), values, wide, slots: Vec::new() }
    }

    /// Adds a conjunct; `None` if it is not one of slots of the state.
    pub fn add(&mut self, circuit: &Circuit, node: NodeId) -> Option<ConditionId> {
        let condition = self.condition(circuit, node)?;
        self.conjuncts.push(condition);
        Some(self.conjuncts.len() as ConditionId - 1)
    }

    /// The last one was added.
    pub fn seal(&mut self) {
        self.slots.sort_unstable();
        self.slots.dedup();
    }

    /// The number of conjuncts.
    #[inline]
    pub fn len(&self) -> usize {
        self.conjuncts.len()
    }
    /// Whether there are no conjuncts.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot and the positions of values of a condition on one slot.
    #[inline]
    pub(crate) fn on_one_slot(&self, condition: ConditionId) -> Option<(u32, Vec<usize>)> {
        let Condition::In { slot, values } = &self.conjuncts[condition as usize] else { return None };
        let is_in = |position: &usize| values[position / 64] >> (position % 64) & 1 == 1;
        Some((*slot, (0..self.values[*slot as usize].len()).filter(is_in).collect()))
    }

    /// The number of values of a slot.
    #[inline]
    pub(crate) fn values(&self, slot: u32) -> usize {
        self.values[slot as usize].len()
    }

    fn condition(&mut self, circuit: &Circuit, node: NodeId) -> Option<Condition> {
        Some(match circuit.node(node) {
            Node::False => Condition::Or(Box::default()),
            Node::True => Condition::And(Box::default()),
            Node::In { slot, values } => {
                self.note(*slot)?;
                if self.wide[*slot as usize] {
                    return None;
                }
                let mut words = vec![0u64; circuit.values(*slot).len().div_ceil(64)];
                values.iter().for_each(|position| words[position / 64] |= 1 << (position % 64));
                Condition::In { slot: *slot, values: words.into() }
            }
            Node::Table { slots, tuples } => {
                for &slot in slots {
                    self.note(slot)?;
                }
                Condition::Table { slots: slots.clone(), tuples: tuples.clone() }
            }
            Node::And(children) => Condition::And(self.all(circuit, children)?),
            Node::Or(children) => Condition::Or(self.all(circuit, children)?),
            Node::Compare { relation, form } => {
                Condition::Compare { relation: *relation, form: self.form(circuit, form)? }
            }
            Node::SlotValue(_) | Node::Product(_) | Node::Operation { .. } => return None,
        })
    }

    fn all(&mut self, circuit: &Circuit, nodes: &[NodeId]) -> Option<Box<[Condition]>> {
        nodes.iter().map(|&node| self.condition(circuit, node)).collect()
    }

    fn form(&mut self, circuit: &Circuit, form: &Linear) -> Option<Form> {
        let mut terms = Vec::with_capacity(form.terms.len());
        for &(node, coefficient) in &form.terms {
            let number = match circuit.node(node) {
                Node::SlotValue(slot) => {
                    self.note(*slot)?;
                    Number::Slot(*slot)
                }
                Node::Product(factors) => {
                    let factors: Option<Box<[Form]>> = factors.iter().map(|form| self.form(circuit, form)).collect();
                    Number::Product(factors?)
                }
                Node::Operation { operation, left, right } => {
                    let operands = (self.form(circuit, left)?, self.form(circuit, right)?);
                    Number::Operation(*operation, Box::new(operands))
                }
                _ => Number::Condition(Box::new(self.condition(circuit, node)?)),
            };
            terms.push((number, coefficient));
        }
        Some(Form { constant: form.constant, terms: terms.into() })
    }

    /// Takes note of a slot; `None` if it is not one of the state.
    fn note(&mut self, slot: u32) -> Option<()> {
        ((slot as usize) < self.values.len()).then(|| self.slots.push(slot))
    }
}

/// The contents of the slots of a state that conditions read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// For each slot the position of its value among the possible ones.
    positions: Vec<u32>,
    /// For each wide slot its value.
    numbers: Vec<Option<i64>>,
}

/// Reads packed states of one layout.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    fields: Vec<Field>,
    slots: usize,
}

#[derive(Clone, Debug)]
struct Field {
    slot: u32,
    word: usize,
    shift: u32,
    mask: u64,
    decoding: Decoding,
}

#[derive(Clone, Debug)]
enum Decoding {
    /// Positions by stored numbers.
    Table(Box<[u32]>),
    /// Positions found by search among stored numbers.
    Search(Box<[(u64, u32)]>),
    /// The slot is wide.
    Number(Box<quotient_ir::Slot>),
}

impl Reader {
    /// Reads the slots of some conditions.
    pub(crate) fn new(conditions: &Conditions, layout: &Layout) -> Self {
        let field = |&slot: &u32| {
            let entry = &layout.slots[SlotId::from_position(slot as usize)];
            let mask = if entry.width >= 64 { u64::MAX } else { (1 << entry.width) - 1 };
            let decoding = if conditions.wide[slot as usize] {
                Decoding::Number(Box::new(entry.clone()))
            } else {
                let values = conditions.values[slot as usize].iter();
                let stored = values.enumerate().filter_map(|(at, &value)| Some((entry.stored(value)?, at as u32)));
                let mut stored: Vec<(u64, u32)> = stored.collect();
                stored.sort_unstable();
                if entry.width <= TABLE_BITS {
                    let mut table = vec![IMPOSSIBLE; 1 << entry.width];
                    stored.iter().for_each(|&(number, position)| table[number as usize] = position);
                    Decoding::Table(table.into())
                } else {
                    Decoding::Search(stored.into())
                }
            };
            Field { slot, word: entry.bit as usize / 64, shift: entry.bit % 64, mask, decoding }
        };
        Self { fields: conditions.slots.iter().map(field).collect(), slots: layout.slots.len() }
    }

    /// Reads a state. Returns false if a slot holds a value that is considered impossible.
    #[inline]
    pub(crate) fn read(&self, state: &[u64], contents: &mut Contents) -> bool {
        if contents.positions.len() < self.slots {
            contents.positions.resize(self.slots, IMPOSSIBLE);
            contents.numbers.resize(self.slots, None);
        }
        let mut is_possible = true;
        for Field { slot, word, shift, mask, decoding } in &self.fields {
            let stored = if *mask == 0 { 0 } else { state[*word] >> shift & mask };
            let position = match decoding {
                Decoding::Table(table) => table[stored as usize],
                Decoding::Search(known) => {
                    known.binary_search_by_key(&stored, |&(number, _)| number).map_or(IMPOSSIBLE, |at| known[at].1)
                }
                Decoding::Number(entry) => {
                    contents.numbers[*slot as usize] = entry.value(stored);
                    0
                }
            };
            contents.positions[*slot as usize] = position;
            is_possible &= position != IMPOSSIBLE;
        }
        is_possible
    }
}

impl Contents {
    /// The position of the value of a slot.
    #[inline]
    pub(crate) fn position(&self, slot: u32) -> usize {
        self.positions[slot as usize] as usize
    }

    fn number(&self, conditions: &Conditions, slot: u32) -> Option<i64> {
        match conditions.wide[slot as usize] {
            true => self.numbers[slot as usize],
            false => conditions.values[slot as usize][self.position(slot)],
        }
    }
}

impl Conditions {
    /// Whether a conjunct holds; `None` if it has no value.
    #[inline]
    pub(crate) fn holds(&self, condition: ConditionId, contents: &Contents) -> Option<bool> {
        self.value(&self.conjuncts[condition as usize], contents)
    }

    fn value(&self, condition: &Condition, contents: &Contents) -> Option<bool> {
        match condition {
            Condition::In { slot, values } => {
                let position = contents.position(*slot);
                Some(values[position / 64] >> (position % 64) & 1 == 1)
            }
            Condition::Table { slots, tuples } => {
                let found = tuples.binary_search_by(|tuple| {
                    let own = slots.iter().map(|&slot| contents.position(slot) as u16);
                    tuple.iter().copied().cmp(own)
                });
                Some(found.is_ok())
            }
            Condition::And(parts) => self.connective(parts, contents, false),
            Condition::Or(parts) => self.connective(parts, contents, true),
            Condition::Compare { relation, form } => {
                let number = self.form_value(form, contents)?;
                Some(match relation {
                    Relation::NotPositive => number <= 0,
                    Relation::Zero => number == 0,
                    Relation::NotZero => number != 0,
                })
            }
        }
    }

    /// As in [`quotient_functions::Evaluation`]: an operand with a value may decide where others have none.
    fn connective(&self, parts: &[Condition], contents: &Contents, decisive: bool) -> Option<bool> {
        let mut value = Some(!decisive);
        for part in parts {
            match self.value(part, contents) {
                Some(holds) if holds == decisive => return Some(decisive),
                Some(_) => {}
                None => value = None,
            }
        }
        value
    }

    fn form_value(&self, form: &Form, contents: &Contents) -> Option<i64> {
        let mut sum = i128::from(form.constant);
        for (number, coefficient) in &form.terms {
            sum += i128::from(self.number(number, contents)?) * i128::from(*coefficient);
        }
        i64::try_from(sum).ok()
    }

    fn number(&self, number: &Number, contents: &Contents) -> Option<i64> {
        match number {
            Number::Slot(slot) => contents.number(self, *slot),
            Number::Condition(condition) => self.value(condition, contents).map(i64::from),
            Number::Product(factors) => {
                let mut product = 1i64;
                for factor in factors {
                    product = product.checked_mul(self.form_value(factor, contents)?)?;
                }
                Some(product)
            }
            Number::Operation(operation, operands) => {
                let (left, right) = &**operands;
                operation.apply(self.form_value(left, contents)?, self.form_value(right, contents)?)
            }
        }
    }
}
