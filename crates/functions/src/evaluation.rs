//! The value of a function in a state: what tests compare with the reference interpreter, and what says without
//! any doubt what a node means.

use quotient_ir::Valuation;
use rustc_hash::FxHashMap;

use crate::circuit::{Circuit, Linear, Node, NodeId, Operation, Relation};
use crate::unfold::{Write, Written};

/// What slots of a circuit hold: those of a state, then the inputs of one action.
#[derive(Clone, Debug)]
pub struct Assignment<'a> {
    state: &'a Valuation,
    first_input: u32,
    inputs: &'a [i64],
}

impl<'a> Assignment<'a> {
    /// A state. Functions of inputs have no value.
    pub fn of_state(state: &'a Valuation) -> Self {
        Self { state, first_input: u32::MAX, inputs: &[] }
    }

    /// A state with values of the inputs from a slot on.
    pub fn with_inputs(state: &'a Valuation, first_input: u32, inputs: &'a [i64]) -> Self {
        Self { state, first_input, inputs }
    }

    /// What a slot holds; nothing for one that it says nothing of.
    fn value(&self, slot: u32) -> Option<Option<i64>> {
        match self.state.0.get(slot as usize) {
            Some(&value) => Some(value),
            None => self.inputs.get(slot.checked_sub(self.first_input)? as usize).map(|&input| Some(input)),
        }
    }
}

/// Evaluates nodes of one circuit under one assignment. What was evaluated is remembered.
#[derive(Debug)]
pub struct Evaluation<'a> {
    circuit: &'a Circuit,
    assignment: Assignment<'a>,
    known: FxHashMap<NodeId, Option<i64>>,
}

impl<'a> Evaluation<'a> {
    /// Prepares it.
    pub fn new(circuit: &'a Circuit, assignment: Assignment<'a>) -> Self {
        Self { circuit, assignment, known: FxHashMap::default() }
    }

    /// The number that a node is; conditions are 0 or 1. Nothing where it has no value: a slot that is undefined
    /// as a number, a value that was taken to be impossible, an operation without a result. A connective has a
    /// value where those of its parts that have one decide it, or all have one.
    pub fn number(&mut self, node: NodeId) -> Option<i64> {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let circuit = self.circuit;
        let value = match circuit.node(node) {
            Node::False => Some(0),
            Node::True => Some(1),
            Node::In { slot, values } => self.position(*slot).map(|position| i64::from(values.contains(position))),
            Node::Table { slots, tuples } => {
                let tuple: Option<Vec<u16>> =
                    slots.iter().map(|&slot| self.position(slot).map(|position| position as u16)).collect();
                tuple.map(|tuple| {
                    i64::from(tuples.binary_search_by(|probe| probe.as_ref().cmp(tuple.as_slice())).is_ok())
                })
            }
            Node::And(children) => self.connective(children, 0),
            Node::Or(children) => self.connective(children, 1),
            Node::Compare { relation, form } => self.form(form).map(|number| {
                i64::from(match relation {
                    Relation::NotPositive => number <= 0,
                    Relation::Zero => number == 0,
                    Relation::NotZero => number != 0,
                })
            }),
            Node::SlotValue(slot) => self.assignment.value(*slot).flatten(),
            Node::Product(factors) => {
                let mut product = Some(1i64);
                for factor in factors {
                    let factor = self.form(factor);
                    product = product.zip(factor).and_then(|(product, factor)| product.checked_mul(factor));
                }
                product
            }
            Node::Operation { operation, left, right } => {
                let (left, right) = (self.form(left), self.form(right));
                left.zip(right).and_then(|(left, right)| operation.apply(left, right))
            }
        };
        self.known.insert(node, value);
        value
    }

    /// Whether a condition holds; nothing where it has no value.
    pub fn holds(&mut self, condition: NodeId) -> Option<bool> {
        self.number(condition).map(|number| number != 0)
    }

    /// The number that a sum is; nothing where a term has no value, or it exceeds 64 bits.
    pub fn form(&mut self, form: &Linear) -> Option<i64> {
        let mut sum = i128::from(form.constant);
        for &(node, coefficient) in &form.terms {
            sum += i128::from(self.number(node)?) * i128::from(coefficient);
        }
        i64::try_from(sum).ok()
    }

    /// What a slot holds after a step that does this write, where the event takes a step. Nothing where the value
    /// written has none.
    pub fn next(&mut self, write: &Write) -> Option<Option<i64>> {
        let old = self.assignment.value(write.slot)?;
        match &write.written {
            Written::Cases(cases) => {
                // Writing the value that a slot has is the same as not writing it; where it has that value, the
                // condition of the case means nothing.
                for &(value, condition) in cases.iter().filter(|&&(value, _)| value != old) {
                    if self.holds(condition)? {
                        return Some(value);
                    }
                }
                Some(old)
            }
            Written::Number { when, undefined, value } => {
                if !self.holds(*when)? {
                    Some(old)
                } else if self.holds(*undefined)? {
                    Some(None)
                } else {
                    self.form(value).map(Some)
                }
            }
        }
    }

    fn connective(&mut self, children: &[NodeId], decisive: i64) -> Option<i64> {
        let mut value = Some(1 - decisive);
        for &child in children {
            match self.number(child) {
                Some(number) if number == decisive => return Some(decisive),
                Some(_) => {}
                None => value = None,
            }
        }
        value
    }

    /// The position of what a slot holds among its values.
    fn position(&self, slot: u32) -> Option<usize> {
        self.circuit.values(slot).binary_search(&self.assignment.value(slot)?).ok()
    }
}

impl Operation {
    /// The result, if there is one.
    fn apply(self, left: i64, right: i64) -> Option<i64> {
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

/// Shifts left by a count, right by a negative one; by 64 or more gives 0, as in the interpreter.
pub(crate) fn shift(value: i64, count: i64) -> i64 {
    match count {
        0..64 => value.wrapping_shl(count as u32),
        -63..0 => value >> -count,
        _ => 0,
    }
}
