//! Boolean functions as an and-inverter graph: equal gates are made once, constants are folded.

use quotient_ir::Interrupt;
use rustc_hash::FxHashMap;

use quotient_booleans::{Full, Logic};

/// How many gates are made between looks at the interrupt.
const INTERVAL: usize = 1 << 12;

/// A function: a node of the graph, or its negation. The lowest bit says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bit(u32);

impl Bit {
    pub(crate) const FALSE: Self = Self(0);
    pub(crate) const TRUE: Self = Self(1);

    /// The node.
    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the function is the negation of its node.
    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same, or its negation.
    pub(crate) fn negated_if(self, negated: bool) -> Self {
        Self(self.0 ^ u32::from(negated))
    }
}

impl std::ops::Not for Bit {
    type Output = Self;

    fn not(self) -> Self {
        self.negated_if(true)
    }
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// False; only the first node.
    False,
    /// A variable.
    Input,
    /// A conjunction of two functions of earlier nodes.
    And(Bit, Bit),
}

/// The graph.
#[derive(Debug)]
pub(crate) struct Formula {
    gates: Vec<Gate>,
    known: FxHashMap<(Bit, Bit), Bit>,
    most: usize,
    interrupt: Interrupt,
}

impl Formula {
    /// A graph with room for so many nodes, until the interrupt is raised.
    pub(crate) fn new(most: usize, interrupt: Interrupt) -> Self {
        Self { gates: vec![Gate::False], known: FxHashMap::default(), most: most.min(1 << 30), interrupt }
    }

    /// A new variable.
    pub(crate) fn input(&mut self) -> Result<Bit, Full> {
        self.push(Gate::Input)
    }

    /// The nodes; operands come first.
    pub(crate) fn gates(&self) -> &[Gate] {
        &self.gates
    }

    fn push(&mut self, gate: Gate) -> Result<Bit, Full> {
        let number = self.gates.len();
        if number >= self.most || number.is_multiple_of(INTERVAL) && self.interrupt.is_raised() {
            return Err(Full);
        }
        self.gates.push(gate);
        Ok(Bit((number as u32) << 1))
    }

    fn conjunction(&mut self, left: Bit, right: Bit) -> Result<Bit, Full> {
        let (left, right) = if left < right { (left, right) } else { (right, left) };
        match () {
            () if left == Bit::FALSE || left == !right => return Ok(Bit::FALSE),
            () if left == Bit::TRUE || left == right => return Ok(right),
            () => {}
        }
        if let Some(&known) = self.known.get(&(left, right)) {
            return Ok(known);
        }
        let bit = self.push(Gate::And(left, right))?;
        self.known.insert((left, right), bit);
        Ok(bit)
    }

    /// The values of all nodes, given those of the inputs by node.
    pub(crate) fn evaluate(&self, input: impl Fn(usize) -> bool) -> Values {
        let mut values: Vec<bool> = Vec::with_capacity(self.gates.len());
        let of = |values: &[bool], bit: Bit| values[bit.node()] ^ bit.is_negated();
        for (node, gate) in self.gates.iter().enumerate() {
            let value = match *gate {
                Gate::False => false,
                Gate::Input => input(node),
                Gate::And(left, right) => of(&values, left) && of(&values, right),
            };
            values.push(value);
        }
        Values(values)
    }
}

/// The values of all nodes of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Values(Vec<bool>);

impl Values {
    /// The value of a function.
    pub(crate) fn of(&self, bit: Bit) -> bool {
        self.0[bit.node()] ^ bit.is_negated()
    }
}

impl Logic for Formula {
    type Bit = Bit;

    fn constant(&self, value: bool) -> Bit {
        Bit::FALSE.negated_if(value)
    }

    fn known(&self, bit: &Bit) -> Option<bool> {
        (bit.node() == 0).then_some(bit.is_negated())
    }

    fn not(&mut self, bit: &Bit) -> Result<Bit, Full> {
        Ok(!*bit)
    }

    fn and(&mut self, left: &Bit, right: &Bit) -> Result<Bit, Full> {
        self.conjunction(*left, *right)
    }

    fn or(&mut self, left: &Bit, right: &Bit) -> Result<Bit, Full> {
        Ok(!self.conjunction(!*left, !*right)?)
    }

    fn xor(&mut self, left: &Bit, right: &Bit) -> Result<Bit, Full> {
        let neither = self.conjunction(!*left, !*right)?;
        let both = self.conjunction(*left, *right)?;
        self.conjunction(!neither, !both)
    }

    fn choose(&mut self, condition: &Bit, then: &Bit, otherwise: &Bit) -> Result<Bit, Full> {
        if then == otherwise {
            return Ok(*then);
        }
        if *then == !*otherwise {
            return Ok(!self.xor(condition, then)?);
        }
        let first = self.conjunction(*condition, *then)?;
        let second = self.conjunction(!*condition, *otherwise)?;
        self.or(&first, &second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All functions of three inputs that two rounds of operations make have the truth table of the operation.
    #[test]
    fn operations_have_their_truth_tables() {
        let mut formula = Formula::new(1 << 20, Interrupt::new());
        let inputs: Vec<Bit> = (0..3).map(|_| formula.input().expect("room")).collect();
        let mut known: Vec<(Bit, u8)> = vec![(Bit::FALSE, 0), (Bit::TRUE, 255)];
        known.extend(inputs.iter().zip([0b1010_1010, 0b1100_1100, 0b1111_0000]).map(|(&bit, table)| (bit, table)));
        for _ in 0..2 {
            for (left, one) in known.clone() {
                known.push((formula.not(&left).expect("room"), !one));
                for &(right, other) in &known.clone()[..known.len().min(12)] {
                    known.push((formula.and(&left, &right).expect("room"), one & other));
                    known.push((formula.or(&left, &right).expect("room"), one | other));
                    known.push((formula.xor(&left, &right).expect("room"), one ^ other));
                    let chosen = formula.choose(&inputs[0], &left, &right).expect("room");
                    known.push((chosen, 0b1010_1010 & one | !0b1010_1010 & other));
                }
                known.sort_unstable();
                known.dedup();
            }
        }
        for assignment in 0..8 {
            let values = formula.evaluate(|node| assignment >> (node - 1) & 1 == 1);
            for &(bit, table) in &known {
                assert_eq!(values.of(bit), table >> assignment & 1 == 1, "{bit:?}");
            }
        }
        for (bit, table) in known {
            assert_eq!(formula.known(&bit), [None, Some(table == 255)][usize::from(bit.node() == 0)]);
        }
    }

    #[test]
    fn a_full_graph_says_so() {
        let mut formula = Formula::new(3, Interrupt::new());
        let (left, right) = (formula.input().expect("room"), formula.input().expect("room"));
        assert_eq!(formula.and(&left, &right), Err(Full));
        assert_eq!(formula.and(&left, &!left), Ok(Bit::FALSE));
    }
}
