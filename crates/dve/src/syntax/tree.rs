//! The syntax tree of a DVE system.

use std::rc::Rc;

use quotient_ir::Span;

/// A name and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// A whole text.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) variables: Vec<Variable>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) processes: Vec<Process>,
    /// Conditions on all states, an extension: `assert x < 3;` outside of processes.
    pub(crate) assertions: Vec<Expression>,
    /// An expression to evaluate, given beside the text.
    pub(crate) watched: Option<Expression>,
    /// How the processes are composed: the last line of the text.
    pub(crate) composition: Option<Composition>,
}

/// How processes are composed.
#[derive(Clone, Debug)]
pub(crate) struct Composition {
    /// Whether all processes move at the same time.
    pub(crate) is_synchronous: bool,
    /// The process that is the automaton of a property.
    pub(crate) property: Option<Name>,
    pub(crate) span: Span,
}

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    /// 0 to 255.
    Byte,
    /// -32768 to 32767.
    Int,
}

/// A variable or constant.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Name,
    pub(crate) is_constant: bool,
    pub(crate) scalar: Scalar,
    /// The number of elements, if it is an array.
    pub(crate) size: Option<Expression>,
    pub(crate) initial: Initial,
}

/// The initial value of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    /// None is given: zero.
    Zero,
    Value(Expression),
    /// The elements of an array.
    List(Vec<Expression>, Span),
}

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: Name,
    /// The types of the values of a message, if they are declared.
    pub(crate) types: Option<Vec<Scalar>>,
    /// The number of messages it can hold, if that is declared.
    pub(crate) size: Option<Expression>,
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) name: Name,
    pub(crate) variables: Vec<Variable>,
    pub(crate) states: Vec<Name>,
    pub(crate) initial: Option<Name>,
    pub(crate) committed: Vec<Name>,
    pub(crate) accepting: Vec<Name>,
    /// Conditions that hold in a state of the process.
    pub(crate) assertions: Vec<(Name, Expression)>,
    pub(crate) transitions: Vec<Transition>,
    /// The whole of it.
    pub(crate) span: Span,
}

/// A transition of a process.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) guard: Option<Expression>,
    pub(crate) sync: Option<Sync>,
    pub(crate) effects: Vec<Assignment>,
    pub(crate) span: Span,
}

/// The use of a channel by a transition.
#[derive(Clone, Debug)]
pub(crate) struct Sync {
    pub(crate) channel: Name,
    pub(crate) sends: bool,
    /// The values that are sent, or the variables that receive them.
    pub(crate) values: Vec<Expression>,
    pub(crate) span: Span,
}

/// An assignment.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) target: Expression,
    pub(crate) value: Expression,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Number(i64),
    Truth(bool),
    /// `x`, `x[i]`, or `P->x`, `P->x[i]` for a variable of another process.
    Variable {
        process: Option<Name>,
        name: Name,
        index: Option<Box<Expression>>,
    },
    /// `P.s`: whether a process is in a state.
    InState {
        process: Name,
        state: Name,
    },
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Negate,
    Complement,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Imply,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
