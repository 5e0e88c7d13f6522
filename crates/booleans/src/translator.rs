//! Functions of a model as functions of bits.

use quotient_functions::{Circuit, Linear, Node, NodeId, Operation, Relation, ValueSet, Write, Written};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::encoding::Code;
use crate::numbers::{self, Number};
use crate::{Encoding, Full, Logic};

/// Translates nodes of a circuit to functions of the bits of its slots.
pub struct Translator<'a, L: Logic> {
    pub(crate) logic: &'a mut L,
    circuit: &'a Circuit,
    encoding: &'a Encoding,
    /// The bits of each slot.
    bits: &'a [Vec<L::Bit>],
    known: FxHashMap<NodeId, Term<L::Bit>>,
}

/// What a node becomes.
#[derive(Clone, Debug)]
enum Term<B> {
    Condition(B),
    Number(Number<B>),
}

impl<'a, L: Logic> Translator<'a, L> {
    /// Translates to functions of the given bits of each slot.
    pub fn new(logic: &'a mut L, circuit: &'a Circuit, encoding: &'a Encoding, bits: &'a [Vec<L::Bit>]) -> Self {
        Self { logic, circuit, encoding, bits, known: FxHashMap::default() }
    }

    /// A condition.
    pub(crate) fn condition(&mut self, node: NodeId) -> Result<L::Bit, Full> {
        self.translate(node)?;
        match &self.known[&node] {
            Term::Condition(bit) => Ok(bit.clone()),
            Term::Number(number) => {
                let zero = numbers::is_zero(self.logic, &number.clone())?;
                self.logic.not(&zero)
            }
        }
    }

    /// The bits of a slot after a step with a write.
    pub(crate) fn next(&mut self, write: &Write) -> Result<Vec<L::Bit>, Full> {
        let slot = write.slot;
        let old = self.bits[slot as usize].clone();
        let (when, new) = match &write.written {
            Written::Cases(cases) => {
                let mut parts = Vec::with_capacity(cases.len());
                for &(value, condition) in cases {
                    let Some(code) = self.encoding.encode(slot, value) else { continue };
                    // What is written where the slot has that value already is left open.
                    let condition = self.condition(condition)?;
                    let differs = self.differs(&old, &code)?;
                    parts.push((self.logic.and(&condition, &differs)?, code));
                }
                self.chosen(&parts, old.len())?
            }
            Written::Number { when, undefined, value } => {
                let when = self.condition(*when)?;
                let undefined = self.condition(*undefined)?;
                let number = self.form(value)?;
                (when, self.written_number(slot, &number, &undefined)?)
            }
        };
        old.iter().zip(&new).map(|(old, new)| self.logic.choose(&when, new, old)).collect()
    }

    /// The bits of a slot that a start writes, whatever was there before.
    pub(crate) fn first(&mut self, write: &Write) -> Result<Vec<L::Bit>, Full> {
        match &write.written {
            Written::Cases(cases) => {
                let mut parts = Vec::with_capacity(cases.len());
                for &(value, condition) in cases {
                    let Some(code) = self.encoding.encode(write.slot, value) else { continue };
                    parts.push((self.condition(condition)?, code));
                }
                Ok(self.chosen(&parts, self.encoding.width(write.slot))?.1)
            }
            Written::Number { undefined, value, .. } => {
                let undefined = self.condition(*undefined)?;
                let number = self.form(value)?;
                self.written_number(write.slot, &number, &undefined)
            }
        }
    }

    /// Whether the bits of a slot stand for a value.
    pub fn is_valid(&mut self, slot: u32) -> Result<L::Bit, Full> {
        let bits = &self.bits[slot as usize];
        let (bits, most) = match self.encoding.code(slot) {
            Code::Position { .. } => (bits.clone(), self.encoding.values(slot).len() as i128 - 1),
            Code::Offset { low, is_optional, .. } => {
                let high = self.encoding.values(slot).last().copied().flatten().unwrap_or(low);
                (bits[usize::from(is_optional)..].to_vec(), i128::from(high) - i128::from(low))
            }
        };
        if most + 1 == 1 << bits.len() {
            return Ok(self.logic.constant(true));
        }
        let code = numbers::unsigned(self.logic, bits);
        let most = numbers::constant(self.logic, most);
        let excess = numbers::subtract(self.logic, &code, &most)?;
        numbers::is_not_positive(self.logic, &excess)
    }

    /// Whether one of some exclusive conditions holds, and the code of the one that does.
    fn chosen(&mut self, parts: &[(L::Bit, Vec<bool>)], width: usize) -> Result<(L::Bit, Vec<L::Bit>), Full> {
        let when = self.logic.any(parts.iter().map(|(condition, _)| condition.clone()).collect())?;
        let bit = |position: usize| {
            let own = parts.iter().filter(|(_, code)| code[position]);
            self.logic.any(own.map(|(condition, _)| condition.clone()).collect())
        };
        let bits: Result<Vec<L::Bit>, Full> = (0..width).map(bit).collect();
        Ok((when, bits?))
    }

    /// Whether bits are not those of a code.
    fn differs(&mut self, bits: &[L::Bit], code: &[bool]) -> Result<L::Bit, Full> {
        let mut parts = Vec::with_capacity(bits.len());
        for (bit, &wanted) in bits.iter().zip(code) {
            parts.push(if wanted { self.logic.not(bit)? } else { bit.clone() });
        }
        self.logic.any(parts)
    }

    /// The code of a number that is written to a slot, or of undefined.
    fn written_number(&mut self, slot: u32, number: &Number<L::Bit>, undefined: &L::Bit) -> Result<Vec<L::Bit>, Full> {
        match self.encoding.code(slot) {
            Code::Position { width } => {
                let mut parts = Vec::new();
                for (position, value) in self.encoding.values(slot).to_vec().into_iter().enumerate() {
                    let code: Vec<bool> = (0..width).map(|bit| position >> bit & 1 == 1).collect();
                    let condition = match value {
                        None => undefined.clone(),
                        Some(value) => {
                            let defined = self.logic.not(undefined)?;
                            let is_value = numbers::equals(self.logic, number, i128::from(value))?;
                            self.logic.and(&defined, &is_value)?
                        }
                    };
                    parts.push((condition, code));
                }
                Ok(self.chosen(&parts, width)?.1)
            }
            Code::Offset { low, width, is_optional } => {
                let low = numbers::constant(self.logic, i128::from(low));
                let mut bits = numbers::subtract(self.logic, number, &low)?.0;
                let sign = bits[bits.len() - 1].clone();
                bits.resize(bits.len().max(width), sign);
                bits.truncate(width);
                let flag = is_optional.then(|| undefined.clone());
                let mut all: Vec<L::Bit> = flag.into_iter().collect();
                let defined = self.logic.not(undefined)?;
                for bit in bits {
                    all.push(if is_optional { self.logic.and(&defined, &bit)? } else { bit });
                }
                Ok(all)
            }
        }
    }

    /// Translates a node and all that it consists of, operands first.
    fn translate(&mut self, root: NodeId) -> Result<(), Full> {
        if self.known.contains_key(&root) {
            return Ok(());
        }
        let mut seen: FxHashSet<NodeId> = FxHashSet::from_iter([root]);
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            self.circuit.node(node).for_each_child(|child| {
                if !self.known.contains_key(&child) && seen.insert(child) {
                    pending.push(child);
                }
            });
        }
        let mut needed: Vec<NodeId> = seen.into_iter().collect();
        // Operands have lower numbers.
        needed.sort_unstable();
        for node in needed {
            let term = self.term(node)?;
            self.known.insert(node, term);
        }
        Ok(())
    }

    fn term(&mut self, node: NodeId) -> Result<Term<L::Bit>, Full> {
        let circuit = self.circuit;
        Ok(match circuit.node(node) {
            Node::False => Term::Condition(self.logic.constant(false)),
            Node::True => Term::Condition(self.logic.constant(true)),
            Node::In { slot, values } => Term::Condition(self.is_in(*slot, values)?),
            Node::Table { slots, tuples } => {
                let mut rows = Vec::with_capacity(tuples.len());
                for tuple in tuples {
                    let mut row = Vec::with_capacity(slots.len());
                    for (&slot, &position) in slots.iter().zip(tuple) {
                        row.push(self.holds(slot, position as usize)?);
                    }
                    rows.push(self.logic.all(row)?);
                }
                Term::Condition(self.logic.any(rows)?)
            }
            Node::And(children) => {
                let bits = self.conditions(children)?;
                Term::Condition(self.logic.all(bits)?)
            }
            Node::Or(children) => {
                let bits = self.conditions(children)?;
                Term::Condition(self.logic.any(bits)?)
            }
            Node::Compare { relation, form } => {
                let number = self.form(form)?;
                Term::Condition(match relation {
                    Relation::NotPositive => numbers::is_not_positive(self.logic, &number)?,
                    Relation::Zero => numbers::is_zero(self.logic, &number)?,
                    Relation::NotZero => {
                        let zero = numbers::is_zero(self.logic, &number)?;
                        self.logic.not(&zero)?
                    }
                })
            }
            Node::SlotValue(slot) => Term::Number(self.slot_value(*slot)?),
            Node::Product(factors) => {
                let mut product = numbers::constant(self.logic, 1);
                for factor in factors {
                    let factor = self.form(factor)?;
                    product = numbers::multiply(self.logic, &product, &factor)?;
                }
                Term::Number(product)
            }
            Node::Operation { operation, left, right } => {
                let (left, right) = (self.form(left)?, self.form(right)?);
                Term::Number(self.operation(*operation, &left, &right)?)
            }
        })
    }

    fn operation(
        &mut self,
        operation: Operation,
        left: &Number<L::Bit>,
        right: &Number<L::Bit>,
    ) -> Result<Number<L::Bit>, Full> {
        let logic = &mut *self.logic;
        match operation {
            Operation::Divide => Ok(numbers::divide(logic, left, right)?.0),
            Operation::Remainder => Ok(numbers::divide(logic, left, right)?.1),
            Operation::ShiftLeft => numbers::shift(logic, left, right),
            Operation::ShiftRight => {
                let zero = numbers::constant(logic, 0);
                let count = numbers::subtract(logic, &zero, right)?;
                numbers::shift(logic, left, &count)
            }
            Operation::BitAnd => numbers::bitwise(logic, left, right, L::and),
            Operation::BitOr => numbers::bitwise(logic, left, right, L::or),
            Operation::BitXor => numbers::bitwise(logic, left, right, L::xor),
        }
    }

    fn conditions(&mut self, nodes: &[NodeId]) -> Result<Vec<L::Bit>, Full> {
        nodes.iter().map(|&node| self.condition(node)).collect()
    }

    /// A sum.
    fn form(&mut self, form: &Linear) -> Result<Number<L::Bit>, Full> {
        let mut sum = numbers::constant(self.logic, i128::from(form.constant));
        for &(node, coefficient) in &form.terms {
            self.translate(node)?;
            let number = match self.known[&node].clone() {
                Term::Number(number) => number,
                Term::Condition(bit) => numbers::unsigned(self.logic, vec![bit]),
            };
            let scaled = numbers::scale(self.logic, &number, coefficient)?;
            sum = numbers::add(self.logic, &sum, &scaled)?;
        }
        Ok(sum)
    }

    /// The number in a slot; arbitrary if it is undefined.
    fn slot_value(&mut self, slot: u32) -> Result<Number<L::Bit>, Full> {
        let bits = self.bits[slot as usize].clone();
        match self.encoding.code(slot) {
            Code::Position { .. } => {
                let numbers: Vec<i64> =
                    self.encoding.values(slot).iter().map(|value| value.unwrap_or_default()).collect();
                let width = numbers.iter().map(|&number| 65 - leading_signs(number)).max().unwrap_or(1);
                let number: Result<Vec<L::Bit>, Full> = (0..width)
                    .map(|bit| self.member(&bits, numbers.len(), &|position| numbers[position] >> bit & 1 == 1))
                    .collect();
                Ok(Number(number?))
            }
            Code::Offset { low, is_optional, .. } => {
                let offset = numbers::unsigned(self.logic, bits[usize::from(is_optional)..].to_vec());
                let low = numbers::constant(self.logic, i128::from(low));
                numbers::add(self.logic, &offset, &low)
            }
        }
    }

    /// Whether a slot holds one of some values.
    fn is_in(&mut self, slot: u32, values: &ValueSet) -> Result<L::Bit, Full> {
        let bits = self.bits[slot as usize].clone();
        match self.encoding.code(slot) {
            Code::Position { .. } => {
                let count = self.encoding.values(slot).len();
                self.member(&bits, count, &|position| values.contains(position))
            }
            // The functions ask only whether such a slot is defined.
            Code::Offset { .. } if values.contains(0) => Ok(bits[0].clone()),
            Code::Offset { .. } => self.logic.not(&bits[0]),
        }
    }

    /// Whether a slot holds the value at a position.
    fn holds(&mut self, slot: u32, position: usize) -> Result<L::Bit, Full> {
        let bits = self.bits[slot as usize].clone();
        self.member(&bits, self.encoding.values(slot).len(), &|other| other == position)
    }

    /// Whether the number with the given bits, one below `count`, is in a set.
    fn member(&mut self, bits: &[L::Bit], count: usize, is_in: &dyn Fn(usize) -> bool) -> Result<L::Bit, Full> {
        let Some((high, rest)) = bits.split_last() else {
            return Ok(self.logic.constant(is_in(0)));
        };
        let half = 1 << rest.len();
        let (lower, upper) = (0..half.min(count), half.min(count)..count);
        let constant = |range: std::ops::Range<usize>| {
            let first = is_in(range.start);
            range.skip(1).all(|position| is_in(position) == first).then_some(first)
        };
        if let Some(value) = constant(0..count) {
            return Ok(self.logic.constant(value));
        }
        let then = self.member_of_half(rest, upper, is_in)?;
        let otherwise = self.member_of_half(rest, lower, is_in)?;
        match then {
            Some(then) => {
                let otherwise = otherwise.expect("the lower half is not empty");
                self.logic.choose(high, &then, &otherwise)
            }
            // No code has the high bit.
            None => Ok(otherwise.expect("the lower half is not empty")),
        }
    }

    fn member_of_half(
        &mut self,
        bits: &[L::Bit],
        range: std::ops::Range<usize>,
        is_in: &dyn Fn(usize) -> bool,
    ) -> Result<Option<L::Bit>, Full> {
        if range.is_empty() {
            return Ok(None);
        }
        let start = range.start;
        self.member(bits, range.len(), &|position| is_in(start + position)).map(Some)
    }
}

/// How many leading bits of a number are equal.
fn leading_signs(number: i64) -> usize {
    (if number < 0 { !number } else { number }).leading_zeros() as usize
}
