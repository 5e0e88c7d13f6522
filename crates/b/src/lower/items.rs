//! Items: the values of formulas during lowering. A scalar is an expression. A set is its storage location, or the
//! formula whose members are tested one by one, so that no set is constructed where only membership is needed.

use std::collections::BTreeSet;
use std::rc::Rc;

use quotient_ir::{ExprId, PlaceId};
use rustc_hash::FxHashMap;

use super::super::core::{Expr, SymbolId};
use super::super::evaluation::Value;
use super::shapes::{Scalar, Shape};

/// The items that the symbols in scope denote.
pub(crate) type Environment = Rc<FxHashMap<SymbolId, Item>>;

/// The value of a formula.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Scalar(ExprId, Scalar),
    Pair(Box<Item>, Box<Item>),
    Record(Vec<(String, Item)>),
    Set(SetItem),
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) enum SetItem {
    /// A bit for each possible member.
    Bits { place: PlaceId, element: Shape },
    /// A function: a cell for each possible argument, undefined outside the domain. A total one has a
    /// value in every cell.
    Cells { place: PlaceId, domain: Shape, value: Scalar, total: bool },
    /// A function to non-scalar values: a cell for each possible argument, with a bit for whether there is a value.
    Table { place: PlaceId, domain: Shape, value: Shape },
    /// One of two sets.
    Choice { condition: ExprId, then: Box<SetItem>, otherwise: Box<SetItem> },
    /// A number with a bit for each possible member.
    Code { code: ExprId, element: Shape },
    /// Known members.
    Value(Rc<BTreeSet<Value>>, Shape),
    /// The members that a formula has.
    Formula(Rc<Expr>, Environment),
}

impl Item {
    /// Both parts of a pair.
    pub(crate) fn parts(&self) -> (&Self, &Self) {
        match self {
            Self::Pair(left, right) => (left, right),
            other => (other, other),
        }
    }
    pub(crate) fn pair(left: Self, right: Self) -> Self {
        Self::Pair(Box::new(left), Box::new(right))
    }
}

/// The environment with one more symbol.
pub(crate) fn bind(environment: &Environment, symbol: SymbolId, item: Item) -> Environment {
    let mut inner = (**environment).clone();
    inner.insert(symbol, item);
    Rc::new(inner)
}
