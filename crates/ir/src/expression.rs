//! Expressions and places. Both are hash-consed in the [`Pool`] of a model: equal trees have equal
//! ids. Locals are numbered per owner (rule, function, …), so one expression node may occur under
//! several owners and means the local of that number there.

use rustc_hash::FxHashMap;

use crate::index::{ExprId, FunctionId, LocalId, PlaceId, Table, TypeId, VariableId};

/// An expression with a scalar value. Evaluation goes from left to right and can fail with a run-time error (see
/// [`crate::FaultKind`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A literal. `ty` is its type for display: a boolean, an enumeration, a scalarset, or `Integer`.
    Constant {
        /// The value.
        value: i64,
        /// The type to show it as.
        ty: TypeId,
    },
    /// The value at a scalar place. Reading an undefined value is a run-time error.
    Read(PlaceId),
    /// An operator with one operand.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// Its operand.
        operand: ExprId,
    },
    /// An operator with two operands.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `condition ? then : otherwise`; only the chosen branch is evaluated.
    Conditional {
        /// The condition.
        condition: ExprId,
        /// The value if true.
        then: ExprId,
        /// The value if false.
        otherwise: ExprId,
    },
    /// `forall` or `exists`; stops at the first value that decides.
    Quantified {
        /// The quantifier.
        quantifier: Quantifier,
        /// The bound variable.
        local: LocalId,
        /// What it ranges over.
        range: Iteration,
        /// The condition.
        body: ExprId,
    },
    /// The number of present positions of a multiset that satisfy a condition on the position.
    Count {
        /// The bound position (an integer from 0).
        local: LocalId,
        /// The multiset.
        multiset: PlaceId,
        /// The condition.
        body: ExprId,
    },
    /// Whether a scalar place is undefined.
    IsUndefined(PlaceId),
    /// Whether a position of a multiset holds an element. A position out of range is a run-time error.
    IsPresent {
        /// The multiset.
        multiset: PlaceId,
        /// The position, from 0.
        position: ExprId,
    },
    /// Whether a value belongs to a scalar type.
    IsMember {
        /// The value.
        value: ExprId,
        /// The type.
        ty: TypeId,
    },
    /// Whether two places of the same array or record type have the same contents, including undefined cells.
    SameContents {
        /// One place.
        left: PlaceId,
        /// The other.
        right: PlaceId,
    },
    /// The scalar result of a function. It may have side effects if it occurs in a rule body.
    Call {
        /// The function.
        function: FunctionId,
        /// One argument per parameter.
        arguments: Vec<Argument>,
    },
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// Boolean negation.
    Not,
    /// Arithmetic negation; overflow is a run-time error.
    Negate,
    /// Bitwise complement.
    Complement,
}

/// Operators with two operands. Arithmetic is on 64-bit integers and overflow is a run-time error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// Boolean conjunction; the right operand is evaluated only if the left is true.
    And,
    /// Boolean disjunction; the right operand is evaluated only if the left is false.
    Or,
    /// Boolean implication; the right operand is evaluated only if the left is true.
    Implies,
    /// Equal values.
    Equal,
    /// Different values.
    NotEqual,
    /// Less than.
    Less,
    /// Less than or equal.
    LessOrEqual,
    /// Greater than.
    Greater,
    /// Greater than or equal.
    GreaterOrEqual,
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, rounded towards zero; division by zero is a run-time error.
    Divide,
    /// Remainder with the sign of the dividend; division by zero is a run-time error.
    Remainder,
    /// Shift left; by a negative count shifts right.
    ShiftLeft,
    /// Arithmetic shift right; by a negative count shifts left.
    ShiftRight,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
}

impl UnaryOperator {
    /// Its value for a value; `None` is a run-time error.
    pub fn apply(self, value: i64) -> Option<i64> {
        match self {
            Self::Not => Some(i64::from(value == 0)),
            Self::Negate => value.checked_neg(),
            Self::Complement => Some(!value),
        }
    }
}

/// Shifts left, or arithmetically right by a negative count. A shift by 64 or more in either direction gives 0, even
/// for a negative number.
fn shift_left(value: i64, count: i128) -> i64 {
    match count {
        0..64 => value << count,
        -63..0 => value >> -count,
        _ => 0,
    }
}

impl BinaryOperator {
    /// Whether it compares two values.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::NotEqual | Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual
        )
    }

    /// Its value for two values; `None` is a run-time error. Connectives are evaluated as if both operands were.
    pub fn apply(self, left: i64, right: i64) -> Option<i64> {
        let truth = |holds: bool| Some(i64::from(holds));
        match self {
            Self::And => truth(left != 0 && right != 0),
            Self::Or => truth(left != 0 || right != 0),
            Self::Implies => truth(left == 0 || right != 0),
            Self::Equal => truth(left == right),
            Self::NotEqual => truth(left != right),
            Self::Less => truth(left < right),
            Self::LessOrEqual => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::GreaterOrEqual => truth(left >= right),
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
            Self::Remainder => left.checked_rem(right),
            Self::ShiftLeft => Some(shift_left(left, i128::from(right))),
            Self::ShiftRight => Some(shift_left(left, -i128::from(right))),
            Self::BitAnd => Some(left & right),
            Self::BitOr => Some(left | right),
            Self::BitXor => Some(left ^ right),
        }
    }

    /// Whether it maps two numbers to a number.
    pub fn is_arithmetic(self) -> bool {
        !self.is_comparison() && !matches!(self, Self::And | Self::Or | Self::Implies)
    }
}

/// The two quantifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Universal.
    All,
    /// Existential.
    Any,
}

/// The range of a bound variable, loop variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Iteration {
    /// All values of a type, in increasing order. A parameter of a rule or initial-state program
    /// may also be of an array or record type; then it ranges over all its fully defined values,
    /// the last cell fastest.
    Over(TypeId),
    /// From one integer to another, both included; the step is 1 (or -1 if `to < from`) unless
    /// given. A step of zero, or one that leads away from `to`, is a run-time error.
    Steps {
        /// The first value.
        from: ExprId,
        /// The last value, if the steps reach it.
        to: ExprId,
        /// The step.
        step: Option<ExprId>,
    },
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A scalar value for a value parameter. Out of the parameter's range is a run-time error.
    Value(ExprId),
    /// The contents of a place, including undefined cells, for a value parameter. A defined scalar out of the
    /// parameter's range is a run-time error.
    Copy(PlaceId),
    /// The place itself, for a reference parameter.
    Reference(PlaceId),
    /// No value for a value parameter: every cell of it is undefined, and a multiset is empty.
    Undefined,
}

/// Something that can be read or written: a root and a path into it. Index expressions are
/// evaluated and checked from left to right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The root.
    pub root: Root,
    /// The path from there.
    pub steps: Vec<Step>,
    /// The type of its contents.
    pub ty: TypeId,
}

/// The root of a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A global variable.
    Variable(VariableId),
    /// A local; if it is a reference, the place it refers to.
    Local(LocalId),
    /// A copy of the array or record that a function returns. Never written to.
    Result {
        /// The function.
        function: FunctionId,
        /// One argument per parameter.
        arguments: Vec<Argument>,
    },
    /// One of two places of the same array or record type. Never written to.
    Choice {
        /// The condition.
        condition: ExprId,
        /// The place if true.
        then: PlaceId,
        /// The place if false.
        otherwise: PlaceId,
    },
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A field of a record, by position.
    Field(u32),
    /// An element of an array (by a value of its index type) or of a multiset (by position from
    /// 0). Out of range is a run-time error; for a multiset an absent position is a run-time error, too.
    Index(ExprId),
}

/// The hash-consed expressions and places of a model.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    expressions: Table<ExprId, Expr>,
    places: Table<PlaceId, Place>,
    expression_ids: FxHashMap<Expr, ExprId>,
    place_ids: FxHashMap<Place, PlaceId>,
}

impl Pool {
    /// The id of an expression; the same for equal ones.
    pub fn expression(&mut self, expression: Expr) -> ExprId {
        if let Some(&id) = self.expression_ids.get(&expression) {
            return id;
        }
        let id = self.expressions.push(expression.clone());
        self.expression_ids.insert(expression, id);
        id
    }
    /// The id of a place; the same for equal ones.
    pub fn place(&mut self, place: Place) -> PlaceId {
        if let Some(&id) = self.place_ids.get(&place) {
            return id;
        }
        let id = self.places.push(place.clone());
        self.place_ids.insert(place, id);
        id
    }
    /// All expressions. Operands come before what uses them, except through calls.
    pub fn expressions(&self) -> &Table<ExprId, Expr> {
        &self.expressions
    }
    /// All places.
    pub fn places(&self) -> &Table<PlaceId, Place> {
        &self.places
    }
}

impl std::ops::Index<ExprId> for Pool {
    type Output = Expr;
    fn index(&self, id: ExprId) -> &Expr {
        &self.expressions[id]
    }
}

impl std::ops::Index<PlaceId> for Pool {
    type Output = Place;
    fn index(&self, id: PlaceId) -> &Place {
        &self.places[id]
    }
}
