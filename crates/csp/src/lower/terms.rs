//! Process terms with resolved names: what the operational semantics works on.
//!
//! A term is closed under three sorts of values: constants, *registers* of the sequential component it is the position
//! of ([`Value::Register`]), and *captured* values of the state before a step ([`Value::Captured`]), which exist only
//! between a step and the term that it leads to. Equal terms are equal positions; spans do not count.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use quotient_ir::{Fairness, Span};

use crate::syntax::tree::{Binary, Check, Operator, Unary};

/// A location that does not distinguish terms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At(pub(super) Span);

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for At {}

impl Hash for At {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// An expression with resolved names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Number(i64),
    Truth(bool),
    /// A parameter, an index or a variable of an input.
    Bound(Rc<str>),
    /// A register of the component.
    Register(u32),
    /// A value of the state before the step.
    Captured(u32),
    /// A global variable, by number, with indices, and whether it is boolean.
    Global(usize, Vec<Value>, bool),
    /// A variable of a block, by number, with indices.
    Local(u32, Vec<Value>),
    Unary(Unary, Rc<Value>),
    Binary(Binary, Rc<Value>, Rc<Value>),
    /// A question about a channel, with the indices of the channel.
    Queue(Question, usize, Vec<Value>),
}

/// What can be asked about a channel with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Count,
    Capacity,
    IsFull,
    IsEmpty,
    /// A part of the first message.
    First(usize),
}

/// A statement with resolved names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) at: At,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum StatementKind {
    Assign(usize, Vec<Value>, Value),
    AssignLocal(u32, Vec<Value>, Value),
    /// Declares a variable of a block: an array with a size, or a number.
    Declare(u32, Rc<str>, Option<i64>, Option<Value>),
    If(Value, Vec<Statement>, Vec<Statement>),
    While(Value, Vec<Statement>),
    /// The result is unknown unless this holds: an assumed bound is left.
    Require(Value, Rc<str>),
}

/// What an input does with a part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    Bind(Rc<str>),
    Match(Value),
}

/// The values of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Domain {
    Interval(Value, Value),
    List(Vec<Value>),
}

/// Indices with their values, at a location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Index {
    pub(super) variable: Option<Rc<str>>,
    pub(super) domain: Domain,
    pub(super) at: At,
}

/// Events of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Events {
    pub(super) indices: Vec<Index>,
    pub(super) name: Rc<str>,
    pub(super) arguments: Vec<Value>,
    pub(super) at: At,
}

/// An event without variables.
pub(super) type Event = (Rc<str>, Vec<i64>);

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Stop,
    Skip,
    /// After termination.
    Done,
    Reference(usize, Vec<Value>, At),
    Prefix {
        event: Option<(Rc<str>, Vec<Value>)>,
        /// Whether the event is annotated.
        fairness: Fairness,
        /// None if there is no block; events with one do not synchronise.
        block: Option<Rc<[Statement]>>,
        at: At,
        next: Rc<Term>,
    },
    Output {
        channel: usize,
        indices: Vec<Value>,
        values: Vec<Value>,
        block: Option<Rc<[Statement]>>,
        at: At,
        next: Rc<Term>,
    },
    Input {
        channel: usize,
        indices: Vec<Value>,
        guard: Option<Value>,
        patterns: Vec<Pattern>,
        block: Option<Rc<[Statement]>>,
        at: At,
        next: Rc<Term>,
    },
    Guard(Value, Rc<Term>),
    If(Check, Value, Rc<Term>, Rc<Term>, At),
    Case(Vec<(Value, Rc<Term>)>, Rc<Term>, At),
    /// Choices and interleavings; parallel compositions only until their alphabets are known.
    Several(Operator, Vec<Rc<Term>>),
    Indexed(Operator, Vec<Index>, Rc<Term>, At),
    /// A parallel composition with the alphabet of each part.
    Parallel(Vec<Rc<Term>>, Rc<[Vec<Event>]>),
    Sequence(Rc<Term>, Rc<Term>),
    Interrupt(Rc<Term>, Rc<Term>),
    Hide(Rc<Term>, Rc<[Events]>),
    Atomic(Rc<Term>),
    /// A composition whose parts are components of their own, by number.
    Running(usize),
}

impl Value {
    /// The number, if it is constant. Truth values are 0 and 1.
    pub(super) fn constant(&self) -> Option<i64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Truth(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    pub(super) fn is_boolean(&self) -> bool {
        match self {
            Self::Truth(_) | Self::Global(_, _, true) | Self::Unary(Unary::Not, _) => true,
            Self::Binary(operator, ..) => operator.is_boolean(),
            Self::Queue(question, ..) => matches!(question, Question::IsFull | Question::IsEmpty),
            _ => false,
        }
    }

    /// Whether it depends on global variables or channels.
    pub(super) fn reads_state(&self) -> bool {
        match self {
            Self::Global(..) | Self::Queue(..) => true,
            Self::Unary(_, inner) => inner.reads_state(),
            Self::Binary(_, left, right) => left.reads_state() || right.reads_state(),
            _ => false,
        }
    }

    /// Whether it mentions bound variables or variables of blocks.
    fn is_open(&self) -> bool {
        match self {
            Self::Bound(_) | Self::Local(..) => true,
            Self::Unary(_, inner) => inner.is_open(),
            Self::Binary(_, left, right) => left.is_open() || right.is_open(),
            Self::Global(_, indices, _) | Self::Queue(_, _, indices) => indices.iter().any(Self::is_open),
            _ => false,
        }
    }

    /// Whether it is a value that a step fixes, and not a constant.
    pub(super) fn is_fixed(&self) -> bool {
        !self.is_open() && !self.reads_state() && self.constant().is_none()
    }

    /// The number of its operators and operands.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Unary(_, inner) => 1 + inner.size(),
            Self::Binary(_, left, right) => 1 + left.size() + right.size(),
            Self::Global(_, indices, _) | Self::Local(_, indices) | Self::Queue(_, _, indices) => {
                1 + indices.iter().map(Self::size).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// The negation.
    pub(super) fn negated(self) -> Self {
        unary(Unary::Not, self)
    }
}

impl Binary {
    /// Whether its value is true or false.
    pub(super) fn is_boolean(self) -> bool {
        matches!(
            self,
            Self::Or
                | Self::And
                | Self::Xor
                | Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
        )
    }
}

/// An operation, evaluated if its operand is constant.
pub(super) fn unary(operator: Unary, operand: Value) -> Value {
    match (operator, operand.constant()) {
        (Unary::Not, Some(value)) => Value::Truth(value == 0),
        (Unary::Minus, Some(value)) if fits(-value) => Value::Number(-value),
        _ => Value::Unary(operator, Rc::new(operand)),
    }
}

fn fits(value: i64) -> bool {
    i32::try_from(value).is_ok()
}

/// An operation, evaluated as far as its operands are constant and the result is a number of 32 bits.
pub(super) fn binary(operator: Binary, left: Value, right: Value) -> Value {
    if let (Some(a), Some(b)) = (left.constant(), right.constant()) {
        let number = |value: Option<i64>| value.filter(|&value| fits(value)).map(Value::Number);
        let truth = |value: bool| Some(Value::Truth(value));
        let folded = match operator {
            Binary::Or => truth(a != 0 || b != 0),
            Binary::And => truth(a != 0 && b != 0),
            Binary::Xor => truth((a != 0) != (b != 0)),
            Binary::Equal => truth(a == b),
            Binary::NotEqual => truth(a != b),
            Binary::Less => truth(a < b),
            Binary::LessOrEqual => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterOrEqual => truth(a >= b),
            Binary::Add => number(Some(a + b)),
            Binary::Subtract => number(Some(a - b)),
            Binary::Multiply => number(Some(a * b)),
            Binary::Divide => number(a.checked_div(b)),
            Binary::Remainder => number(a.checked_rem(b)),
            Binary::BitAnd => number(Some(a & b)),
            Binary::BitOr => number(Some(a | b)),
            Binary::BitXor => number(Some(a ^ b)),
        };
        if let Some(folded) = folded {
            return folded;
        }
    }
    // What a connective does not evaluate cannot fail.
    match (operator, left.constant()) {
        (Binary::And, Some(0)) => return Value::Truth(false),
        (Binary::Or, Some(value)) if value != 0 => return Value::Truth(true),
        (Binary::And, Some(_)) | (Binary::Or, Some(_)) if right.is_boolean() => return right,
        _ => {}
    }
    Value::Binary(operator, Rc::new(left), Rc::new(right))
}

/// Whether a term is a composition of components.
pub(super) fn is_composition(term: &Term) -> bool {
    matches!(
        term,
        Term::Several(Operator::Interleave | Operator::Parallel, _)
            | Term::Parallel(..)
            | Term::Indexed(Operator::Interleave | Operator::Parallel, ..)
    )
}

impl Statement {
    fn size(&self) -> usize {
        let all = |block: &[Self]| block.iter().map(Self::size).sum::<usize>();
        match &self.kind {
            StatementKind::Assign(_, indices, value) | StatementKind::AssignLocal(_, indices, value) => {
                value.size() + indices.iter().map(Value::size).sum::<usize>()
            }
            StatementKind::Declare(_, _, _, value) => 1 + value.as_ref().map_or(0, Value::size),
            StatementKind::If(condition, then, otherwise) => condition.size() + all(then) + all(otherwise),
            StatementKind::While(condition, body) => condition.size() + all(body),
            StatementKind::Require(condition, _) => condition.size(),
        }
    }
}

impl Term {
    /// The number of its operators and operands.
    pub(super) fn size(&self) -> usize {
        let values = |values: &[Value]| values.iter().map(Value::size).sum::<usize>();
        let block =
            |block: &Option<Rc<[Statement]>>| block.iter().flat_map(|it| it.iter()).map(Statement::size).sum::<usize>();
        1 + match self {
            Self::Stop | Self::Skip | Self::Done | Self::Running(_) => 0,
            Self::Reference(_, arguments, _) => values(arguments),
            Self::Prefix { event, block: statements, next, .. } => {
                event.as_ref().map_or(0, |(_, arguments)| values(arguments)) + block(statements) + next.size()
            }
            Self::Output { indices, values: sent, block: statements, next, .. } => {
                values(indices) + values(sent) + block(statements) + next.size()
            }
            Self::Input { indices, guard, patterns, block: statements, next, .. } => {
                let guard = guard.as_ref().map_or(0, Value::size);
                values(indices) + guard + patterns.len() + block(statements) + next.size()
            }
            Self::Guard(condition, next) => condition.size() + next.size(),
            Self::If(_, condition, then, otherwise, _) => condition.size() + then.size() + otherwise.size(),
            Self::Case(branches, default, _) => {
                branches.iter().map(|(condition, branch)| condition.size() + branch.size()).sum::<usize>()
                    + default.size()
            }
            Self::Several(_, parts) | Self::Parallel(parts, _) => parts.iter().map(|part| part.size()).sum(),
            Self::Indexed(_, indices, body, _) => indices.len() + body.size(),
            Self::Sequence(first, second) | Self::Interrupt(first, second) => first.size() + second.size(),
            Self::Hide(inner, events) => inner.size() + events.iter().map(|set| values(&set.arguments)).sum::<usize>(),
            Self::Atomic(inner) => inner.size(),
        }
    }
}
