//! The expressions of a model under construction: untyped trees that share their parts. Names and types are resolved
//! when the model is built.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Not, RangeInclusive, Rem, Sub};
use std::sync::Arc;

use super::types::Type;
use crate::expression::{BinaryOperator, Quantifier, UnaryOperator};
use crate::text::{Level, Notation, notation};

/// The deepest nesting of expressions. [`conjunction`] and [`disjunction`] join any number of conditions without coming
/// near it.
pub(super) const EXPRESSION_NESTING_LIMIT: usize = 256;

/// A value or a place of a model: a constant, a variable, a part of one, or an operation on these.
///
/// Wherever an expression is expected, a number, a truth value, the name of an enumeration's member or of a variable,
/// or a reference to an expression can be passed.
#[derive(Clone, Debug)]
pub struct Expression(pub(super) Arc<Node>);

/// An expression and its nesting depth.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    depth: usize,
}

/// The shapes of expressions.
#[derive(Debug)]
pub(super) enum Kind {
    Boolean(bool),
    Number(i64),
    /// Anything with this name: a parameter, bound or local variable, a variable, or a member of an enumeration.
    Name(String),
    /// The variable of this name.
    Variable(String),
    Local(Binder),
    Index(Expression, Expression),
    Field(Expression, String),
    Unary(UnaryOperator, Expression),
    Binary(BinaryOperator, Expression, Expression),
    Conditional(Expression, Expression, Expression),
    Quantified(Quantifier, Binder, Expression),
    IsUndefined(Expression),
    IsMember(Expression, Type),
    /// Nested deeper than [`EXPRESSION_NESTING_LIMIT`]. Its content is dropped, so that no traversal goes too deep.
    TooDeep,
}

/// The declaration of a parameter, a bound variable or a local variable. Each is distinct, whatever its name.
#[derive(Clone, Debug)]
pub(super) struct Binder(Arc<(String, Values)>);

impl Binder {
    pub(super) fn new(name: impl Into<String>, values: impl Into<Values>) -> Self {
        Self(Arc::new((name.into(), values.into())))
    }
    pub(super) fn name(&self) -> &str {
        &self.0.0
    }
    pub(super) fn values(&self) -> &Values {
        &self.0.1
    }
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// What it declares, as an expression.
    pub(super) fn expression(&self) -> Expression {
        Expression::new(Kind::Local(self.clone()))
    }
}

/// The range of a parameter, bound variable or loop variable: a type, a range of integers such as `0..=3`, or the
/// integers from one expression to another.
#[derive(Clone, Debug)]
pub struct Values(pub(super) Range);

/// The shapes of [`Values`].
#[derive(Clone, Debug)]
pub(super) enum Range {
    Over(Type),
    Steps(Expression, Expression),
}

impl Values {
    /// The integers from one to another, inclusive; downwards if the second is less. Only for quantifiers and loops:
    /// parameters have constant bounds.
    pub fn from_to(from: impl Into<Expression>, to: impl Into<Expression>) -> Self {
        Self(Range::Steps(from.into(), to.into()))
    }
}

impl From<Type> for Values {
    fn from(ty: Type) -> Self {
        Self(Range::Over(ty))
    }
}

impl From<&Type> for Values {
    fn from(ty: &Type) -> Self {
        Self(Range::Over(ty.clone()))
    }
}

impl From<RangeInclusive<i64>> for Values {
    fn from(values: RangeInclusive<i64>) -> Self {
        Self(Range::Over(Type::range(values)))
    }
}

/// Whether a condition holds for all values.
pub fn forall<E: Into<Expression>>(
    name: impl Into<String>,
    values: impl Into<Values>,
    body: impl FnOnce(Expression) -> E,
) -> Expression {
    quantified(Quantifier::All, Binder::new(name, values), body)
}

/// Whether a condition holds for some value.
pub fn exists<E: Into<Expression>>(
    name: impl Into<String>,
    values: impl Into<Values>,
    body: impl FnOnce(Expression) -> E,
) -> Expression {
    quantified(Quantifier::Any, Binder::new(name, values), body)
}

fn quantified<E: Into<Expression>>(
    quantifier: Quantifier,
    binder: Binder,
    body: impl FnOnce(Expression) -> E,
) -> Expression {
    let body = body(binder.expression()).into();
    Expression::new(Kind::Quantified(quantifier, binder, body))
}

/// Whether all conditions hold, evaluated from first to last; true if there are none.
pub fn conjunction<E: Into<Expression>>(conditions: impl IntoIterator<Item = E>) -> Expression {
    joined(BinaryOperator::And, conditions.into_iter().map(Into::into).collect())
}

/// Whether some condition holds, evaluated from first to last; false if there are none.
pub fn disjunction<E: Into<Expression>>(conditions: impl IntoIterator<Item = E>) -> Expression {
    joined(BinaryOperator::Or, conditions.into_iter().map(Into::into).collect())
}

/// Joins neighbours until one is left: a chain would be as deep as it is long.
fn joined(operator: BinaryOperator, mut conditions: Vec<Expression>) -> Expression {
    while conditions.len() > 1 {
        let pairs = conditions.chunks(2).map(|pair| match pair {
            [left, right] => Expression::new(Kind::Binary(operator, left.clone(), right.clone())),
            single => single[0].clone(),
        });
        conditions = pairs.collect();
    }
    conditions.pop().unwrap_or_else(|| (operator == BinaryOperator::And).into())
}

impl Expression {
    pub(super) fn new(kind: Kind) -> Self {
        let depth = match &kind {
            Kind::Boolean(_) | Kind::Number(_) | Kind::Name(_) | Kind::Variable(_) | Kind::Local(_) | Kind::TooDeep => {
                0
            }
            Kind::Field(part, _) | Kind::Unary(_, part) | Kind::IsUndefined(part) | Kind::IsMember(part, _) => {
                part.0.depth
            }
            Kind::Index(left, right) | Kind::Binary(_, left, right) => left.0.depth.max(right.0.depth),
            Kind::Conditional(condition, then, otherwise) => condition.0.depth.max(then.0.depth).max(otherwise.0.depth),
            Kind::Quantified(_, binder, body) => match &binder.values().0 {
                Range::Over(_) => body.0.depth,
                Range::Steps(from, to) => body.0.depth.max(from.0.depth).max(to.0.depth),
            },
        };
        if depth >= EXPRESSION_NESTING_LIMIT {
            return Self(Arc::new(Node { kind: Kind::TooDeep, depth: 1 }));
        }
        Self(Arc::new(Node { kind, depth: depth + 1 }))
    }

    fn binary(&self, operator: BinaryOperator, right: impl Into<Expression>) -> Self {
        Self::new(Kind::Binary(operator, self.clone(), right.into()))
    }

    /// An element of an array.
    #[must_use]
    pub fn at(&self, index: impl Into<Expression>) -> Self {
        Self::new(Kind::Index(self.clone(), index.into()))
    }
    /// A field of a record.
    #[must_use]
    pub fn field(&self, name: impl Into<String>) -> Self {
        Self::new(Kind::Field(self.clone(), name.into()))
    }
    /// Whether it is undefined. Any other use of an undefined value is a run-time error.
    #[must_use]
    pub fn is_undefined(&self) -> Self {
        Self::new(Kind::IsUndefined(self.clone()))
    }
    /// Whether its value belongs to a type.
    #[must_use]
    pub fn is_member(&self, ty: impl Into<Type>) -> Self {
        Self::new(Kind::IsMember(self.clone(), ty.into()))
    }
    /// One value if this condition holds, another otherwise. Only the chosen one is evaluated.
    #[must_use]
    pub fn if_else(&self, then: impl Into<Expression>, otherwise: impl Into<Expression>) -> Self {
        Self::new(Kind::Conditional(self.clone(), then.into(), otherwise.into()))
    }
    /// The bitwise complement.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self::new(Kind::Unary(UnaryOperator::Complement, self.clone()))
    }
}

/// Methods for operators with two operands.
macro_rules! binary_methods {
    ($($(#[$meta:meta])* $method:ident => $operator:ident;)*) => {
        impl Expression {$(
            $(#[$meta])*
            #[must_use]
            pub fn $method(&self, right: impl Into<Expression>) -> Self {
                self.binary(BinaryOperator::$operator, right)
            }
        )*}
    };
}

binary_methods! {
    /// Both hold. The second is evaluated only if the first holds.
    and => And;
    /// At least one holds. The second is evaluated only if the first does not hold.
    or => Or;
    /// The second holds if the first does. The second is evaluated only if the first holds.
    implies => Implies;
    /// The same value, or the same contents of arrays and records.
    eq => Equal;
    /// Different values, or different contents of arrays and records.
    ne => NotEqual;
    /// Less than.
    lt => Less;
    /// Less than or equal.
    le => LessOrEqual;
    /// Greater than.
    gt => Greater;
    /// Greater than or equal.
    ge => GreaterOrEqual;
    /// Shifted left.
    shift_left => ShiftLeft;
    /// Shifted right, with the sign.
    shift_right => ShiftRight;
    /// Bitwise and.
    bit_and => BitAnd;
    /// Bitwise or.
    bit_or => BitOr;
    /// Bitwise exclusive or.
    bit_xor => BitXor;
}

/// Rust's operators for arithmetic.
macro_rules! arithmetic {
    ($($operator:ident $method:ident => $binary:ident;)*) => {$(
        impl<R: Into<Expression>> $operator<R> for Expression {
            type Output = Expression;
            fn $method(self, right: R) -> Expression {
                self.binary(BinaryOperator::$binary, right)
            }
        }
        impl<R: Into<Expression>> $operator<R> for &Expression {
            type Output = Expression;
            fn $method(self, right: R) -> Expression {
                self.binary(BinaryOperator::$binary, right)
            }
        }
    )*};
}

arithmetic! {
    Add add => Add;
    Sub sub => Subtract;
    Mul mul => Multiply;
    Div div => Divide;
    Rem rem => Remainder;
}

impl Not for Expression {
    type Output = Expression;
    fn not(self) -> Expression {
        Expression::new(Kind::Unary(UnaryOperator::Not, self))
    }
}

impl Not for &Expression {
    type Output = Expression;
    fn not(self) -> Expression {
        !self.clone()
    }
}

impl Neg for Expression {
    type Output = Expression;
    fn neg(self) -> Expression {
        Expression::new(Kind::Unary(UnaryOperator::Negate, self))
    }
}

impl Neg for &Expression {
    type Output = Expression;
    fn neg(self) -> Expression {
        -self.clone()
    }
}

impl From<&Expression> for Expression {
    fn from(expression: &Expression) -> Self {
        expression.clone()
    }
}

impl From<bool> for Expression {
    fn from(value: bool) -> Self {
        Self::new(Kind::Boolean(value))
    }
}

impl From<i64> for Expression {
    fn from(value: i64) -> Self {
        Self::new(Kind::Number(value))
    }
}

/// Anything with that name where the expression is used: a parameter, bound or local variable, a variable, or a member
/// of an enumeration.
impl From<&str> for Expression {
    fn from(name: &str) -> Self {
        Self::new(Kind::Name(name.to_owned()))
    }
}

/// In Murphi's notation.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            Kind::Boolean(value) => write!(f, "{value}"),
            Kind::Number(value) => write!(f, "{value}"),
            Kind::Name(name) | Kind::Variable(name) => f.write_str(name),
            Kind::Local(binder) => f.write_str(binder.name()),
            Kind::Index(base, index) => write!(f, "{base}[{index}]"),
            Kind::Field(base, name) => write!(f, "{base}.{name}"),
            Kind::Unary(operator, operand) => {
                let sign = match operator {
                    UnaryOperator::Not => "!",
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Complement => "~",
                };
                write!(f, "{sign}{}", Operand(operand, Level::Unary))
            }
            Kind::Binary(operator, left, right) => {
                let Notation { symbol, left: before, right: behind, .. } = notation(*operator);
                write!(f, "{} {symbol} {}", Operand(left, before), Operand(right, behind))
            }
            Kind::Conditional(condition, then, otherwise) => {
                let tight = Level::Conditional.tighter();
                write!(f, "{} ? {} : {}", Operand(condition, tight), Operand(then, tight), Operand(otherwise, tight))
            }
            Kind::Quantified(quantifier, binder, body) => {
                let word = match quantifier {
                    Quantifier::All => "forall",
                    Quantifier::Any => "exists",
                };
                write!(f, "{word} {binder} do {body} end")
            }
            Kind::IsUndefined(place) => write!(f, "isundefined({place})"),
            Kind::IsMember(value, ty) => write!(f, "ismember({value}, {ty})"),
            Kind::TooDeep => f.write_str("…"),
        }
    }
}

/// An expression as an operand, in parentheses if its operator binds too loosely.
struct Operand<'e>(&'e Expression, Level);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match &self.0.0.kind {
            Kind::Binary(operator, ..) => notation(*operator).level,
            Kind::Conditional(..) => Level::Conditional,
            _ => Level::Unary,
        };
        if level < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// `p: process`, `i := 0 to n`.
impl fmt::Display for Binder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values().0 {
            Range::Over(ty) => write!(f, "{}: {ty}", self.name()),
            Range::Steps(from, to) => write!(f, "{} := {from} to {to}", self.name()),
        }
    }
}
