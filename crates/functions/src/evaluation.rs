//! The value of a function in a state: compared with the reference interpreter by tests, and the definition of what a
//! node means.

use quotient_ir::Valuation;
use rustc_hash::FxHashMap;

use crate::circuit::{Circuit, Linear, Node, NodeId, Relation};
use crate::event::{Write, Written};

/// The contents of the slots of a circuit: those of a state, then the inputs of one action.
#[derive(Clone, Debug)]
pub struct Assignment<'a> {
    state: &'a Valuation,
    first_input: u32,
    inputs: &'a [i64],
}

impl<'a> Assignment<'a> {
    /// The slots of a state. Functions of inputs have no value.
    pub fn of_state(state: &'a Valuation) -> Self {
        Self { state, first_input: u32::MAX, inputs: &[] }
    }

    /// A state with values of the inputs from a slot on.
    pub fn with_inputs(state: &'a Valuation, first_input: u32, inputs: &'a [i64]) -> Self {
        Self { state, first_input, inputs }
    }

    /// The content of a slot; `None` if the assignment does not cover it.
    fn value(&self, slot: u32) -> Option<Option<i64>> {
        match self.state.0.get(slot as usize) {
            Some(&value) => Some(value),
            None => self.inputs.get(slot.checked_sub(self.first_input)? as usize).map(|&input| Some(input)),
        }
    }
}

/// Evaluates nodes of one circuit under one assignment. Results are cached.
#[derive(Debug)]
pub struct Evaluation<'a> {
    circuit: &'a Circuit,
    assignment: Assignment<'a>,
    known: FxHashMap<NodeId, Option<i64>>,
}

impl<'a> Evaluation<'a> {
    /// Prepares the evaluation.
    pub fn new(circuit: &'a Circuit, assignment: Assignment<'a>) -> Self {
        Self { circuit, assignment, known: FxHashMap::default() }
    }

    /// The number a node evaluates to; conditions are 0 or 1. `None` if it has no value: an undefined slot used as a
    /// number, a value considered impossible, an operation without a result. A connective has a value if its operands
    /// with a value decide it, or if all have one.
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

    /// Whether a condition holds; `None` if it has no value.
    pub fn holds(&mut self, condition: NodeId) -> Option<bool> {
        self.number(condition).map(|number| number != 0)
    }

    /// The value of a sum; `None` if a term has no value or the sum exceeds 64 bits.
    pub fn form(&mut self, form: &Linear) -> Option<i64> {
        let mut sum = i128::from(form.constant);
        for &(node, coefficient) in &form.terms {
            sum += i128::from(self.number(node)?) * i128::from(coefficient);
        }
        i64::try_from(sum).ok()
    }

    /// The content of a slot after a step with this write, provided that the event takes a step. `None` if the value
    /// written has none.
    pub fn next(&mut self, write: &Write) -> Option<Option<i64>> {
        let old = self.assignment.value(write.slot)?;
        match &write.written {
            Written::Cases(cases) => {
                // Writing the value a slot already holds is the same as not writing it; for that value, the condition
                // of the case is meaningless.
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

    /// The position of the slot's content among its values.
    fn position(&self, slot: u32) -> Option<usize> {
        self.circuit.values(slot).binary_search(&self.assignment.value(slot)?).ok()
    }
}
