//! Terms: multisets of tokens on arcs and in markings, and the conditions of transitions.

use super::ClassId;

/// A value of a class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// A component of a variable of the net.
    Variable {
        /// The variable.
        variable: usize,
        /// Which component.
        component: usize,
    },
    /// A constant.
    Constant(i64),
    /// The value some places further in the class, around its end. In a class without a cycle, a condition says that the
    /// end is not passed.
    Shifted {
        /// The value.
        of: Box<Value>,
        /// How far: 1 or -1.
        by: i64,
        /// The class.
        class: ClassId,
    },
    /// The number of the part of a partition that a value is in.
    Part {
        /// The value.
        of: Box<Value>,
        /// The partition.
        partition: usize,
    },
}

/// A component of the tokens of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Factor {
    /// One value.
    One(Value),
    /// Every value of the class.
    All,
}

/// A summand of a multiset: a number of each token that the factors represent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) coefficient: i64,
    pub(crate) factors: Vec<Factor>,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The condition of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Constant(bool),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Compare(Comparison, Value, Value),
    /// One of them, and not both.
    Differ(Box<Condition>, Box<Condition>),
}

impl Value {
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Variable { .. } => false,
            Self::Constant(_) => true,
            Self::Shifted { of, .. } | Self::Part { of, .. } => of.is_closed(),
        }
    }
}

impl Condition {
    /// A condition that also requires others.
    pub(crate) fn all(mut required: Vec<Self>, condition: Self) -> Self {
        if required.is_empty() {
            return condition;
        }
        required.push(condition);
        Self::And(required)
    }
}

impl Term {
    /// So many black tokens.
    pub(crate) fn black(coefficient: i64, components: usize) -> Vec<Self> {
        let factors = vec![Factor::One(Value::Constant(0)); components];
        if coefficient == 0 { Vec::new() } else { vec![Self { coefficient, factors }] }
    }
    /// Whether it has no variable.
    pub(crate) fn is_closed(&self) -> bool {
        self.factors.iter().all(|factor| match factor {
            Factor::One(value) => value.is_closed(),
            Factor::All => true,
        })
    }
}

/// Adds up terms for the same tokens, and leaves out those that are zero.
pub(crate) fn merged(terms: Vec<Term>) -> Vec<Term> {
    let mut positions: rustc_hash::FxHashMap<Vec<Factor>, usize> = rustc_hash::FxHashMap::default();
    let mut sums: Vec<Term> = Vec::new();
    for term in terms {
        match positions.get(&term.factors) {
            Some(&position) => sums[position].coefficient += term.coefficient,
            None => {
                positions.insert(term.factors.clone(), sums.len());
                sums.push(term);
            }
        }
    }
    sums.retain(|term| term.coefficient != 0);
    sums
}
