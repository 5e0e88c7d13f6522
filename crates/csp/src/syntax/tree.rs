//! The syntax tree of a CSP# model.

use std::rc::Rc;

use quotient_ir::{Fairness, Span};

/// A name and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// A whole model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Specification {
    pub(crate) macros: Vec<Macro>,
    pub(crate) enumerations: Vec<Vec<Name>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) alphabets: Vec<Alphabet>,
    pub(crate) assertions: Vec<Assertion>,
    /// An expression to evaluate, given beside the text.
    pub(crate) watched: Option<Expression>,
    /// `#import` and `#include`, with what they name.
    pub(crate) imports: Vec<(Rc<str>, Span)>,
}

/// `#define name(parameters) body;`
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    pub(crate) name: Name,
    pub(crate) parameters: Vec<Name>,
    pub(crate) body: MacroBody,
}

/// What a macro stands for.
#[derive(Clone, Debug)]
pub(crate) enum MacroBody {
    Expression(Expression),
    Block(Block),
}

/// `var x[2]:{0..3} = [1, 2];`
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Name,
    pub(crate) is_hidden: bool,
    /// The class in angle brackets.
    pub(crate) class: Option<Name>,
    /// The sizes of an array, one for each dimension.
    pub(crate) sizes: Vec<Expression>,
    /// The least and the greatest value.
    pub(crate) range: Option<(Option<Expression>, Option<Expression>)>,
    pub(crate) initial: Initial,
}

/// The initial value of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Zero,
    /// `*`, an extension: any values of the range.
    Any(Span),
    Value(Expression),
    List(Vec<Element>, Span),
}

/// An element of a list of initial values.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    One(Expression),
    /// `value(times)`
    Repeated(Expression, Expression),
    /// `from..to`
    Range(Expression, Expression),
}

/// `channel c[2] 3;`
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: Name,
    pub(crate) sizes: Vec<Expression>,
    pub(crate) capacity: Expression,
}

/// `P(i) = … ;`
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    pub(crate) parameters: Vec<Name>,
    pub(crate) body: Process,
}

/// `#alphabet P {a, b.1};`
#[derive(Clone, Debug)]
pub(crate) struct Alphabet {
    pub(crate) name: Name,
    /// Those of the definition, if they are repeated.
    pub(crate) parameters: Vec<Name>,
    pub(crate) events: Vec<EventSet>,
}

/// `a.1`, or `x:{0..2} @ a.x`: events of a set.
#[derive(Clone, Debug)]
pub(crate) struct EventSet {
    pub(crate) ranges: Vec<Range>,
    pub(crate) name: Name,
    pub(crate) arguments: Vec<Expression>,
}

/// `#assert P() claim;`
#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    /// None: it is about all processes that others are about.
    pub(crate) process: Option<(Name, Vec<Expression>)>,
    pub(crate) claim: Claim,
    pub(crate) span: Span,
}

/// What is asserted.
#[derive(Clone, Debug)]
pub(crate) enum Claim {
    DeadlockFree,
    NonTerminating,
    DivergenceFree,
    Deterministic,
    Reaches(Expression, Option<Optimum>),
    /// `#invariant c;`, which PAT does not have: the condition holds in all states.
    Invariant(Expression),
    Linear(Linear),
    /// With the specification.
    Refines(quotient_ir::Refinement, Name, Vec<Expression>),
}

/// `with min(e)`
#[derive(Clone, Debug)]
pub(crate) struct Optimum {
    pub(crate) is_least: bool,
    pub(crate) value: Expression,
}

/// A formula of linear temporal logic.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) kind: LinearKind,
    pub(crate) span: Span,
}

/// The forms of formulas.
#[derive(Clone, Debug)]
pub(crate) enum LinearKind {
    Truth(bool),
    /// A proposition, or an event with what is behind its dots.
    Atom(Name, Vec<Expression>),
    /// An event in quotes.
    Quoted(Rc<str>),
    /// A comparison, which PAT only allows in definitions.
    Condition(Expression),
    Unary(LinearUnary, Box<Linear>),
    Binary(LinearBinary, Box<Linear>, Box<Linear>),
}

/// Operators of formulas with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinearUnary {
    Not,
    Next,
    Always,
    Eventually,
}

/// Operators of formulas with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinearBinary {
    And,
    Or,
    Implies,
    Equivalent,
    Until,
    Release,
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) kind: ProcessKind,
    pub(crate) span: Span,
}

/// The forms of processes.
#[derive(Clone, Debug)]
pub(crate) enum ProcessKind {
    Stop,
    Skip,
    Reference(Name, Vec<Expression>),
    Prefix {
        /// None: `tau`, or only a block.
        event: Option<(Name, Vec<Expression>)>,
        /// Whether it is annotated: `wf(e)`, `sf(e)`.
        fairness: Fairness,
        block: Option<Block>,
        next: Box<Process>,
    },
    Output {
        channel: Name,
        indices: Vec<Expression>,
        values: Vec<Expression>,
        block: Option<Block>,
        next: Box<Process>,
    },
    Input {
        channel: Name,
        indices: Vec<Expression>,
        guard: Option<Expression>,
        patterns: Vec<Expression>,
        block: Option<Block>,
        next: Box<Process>,
    },
    Guard(Expression, Box<Process>),
    If {
        check: Check,
        condition: Expression,
        then: Box<Process>,
        otherwise: Option<Box<Process>>,
    },
    Case {
        branches: Vec<(Expression, Process)>,
        default: Option<Box<Process>>,
    },
    /// Two or more processes.
    Several(Operator, Vec<Process>),
    Indexed {
        operator: Operator,
        ranges: Vec<Range>,
        body: Box<Process>,
    },
    Sequence(Box<Process>, Box<Process>),
    Interrupt(Box<Process>, Box<Process>),
    Hide(Box<Process>, Vec<EventSet>),
    Atomic(Box<Process>),
}

/// When the condition of `if` is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Check {
    /// `if`: in a step of its own.
    Separate,
    /// `ifa`: together with the first step of the chosen process.
    Atomic,
    /// `ifb`: in a step of its own, which waits until the condition holds.
    Blocking,
}

/// Operators on several processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    /// `[]`
    Choice,
    /// `[*]`
    External,
    /// `<>`
    Internal,
    /// `|||`
    Interleave,
    /// `||`
    Parallel,
}

impl Operator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Choice => "[]",
            Self::External => "[*]",
            Self::Internal => "<>",
            Self::Interleave => "|||",
            Self::Parallel => "||",
        }
    }
}

/// The range of an index.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// None: only a number of copies.
    pub(crate) variable: Option<Name>,
    pub(crate) values: RangeValues,
    pub(crate) span: Span,
}

/// The values of an index.
#[derive(Clone, Debug)]
pub(crate) enum RangeValues {
    Interval(Expression, Expression),
    List(Vec<Expression>),
    /// `{..}`
    Unknown,
}

/// `{ … }` behind an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Assign {
        target: Name,
        indices: Vec<Expression>,
        value: Expression,
    },
    Local {
        name: Name,
        sizes: Vec<Expression>,
        value: Option<Expression>,
    },
    If(Expression, Block, Option<Block>),
    While(Expression, Block),
    Block(Block),
    /// The name of a macro, or `call(name, arguments)`.
    Call(Name, Vec<Expression>),
    /// `object.method(arguments)`
    Method(Name, Name, Vec<Expression>),
    /// A field of an object.
    Field(Name),
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Number(i64),
    Truth(bool),
    Name(Rc<str>),
    Element(Name, Vec<Expression>),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `call(name, arguments)`
    Call(Name, Vec<Expression>),
    /// `&& i:{0..2} @ condition`
    Quantified {
        universal: bool,
        ranges: Vec<Range>,
        body: Box<Expression>,
    },
    /// `object.method(arguments)`
    Method(Name, Name, Vec<Expression>),
    /// `new Class(arguments)`
    New(Name, Vec<Expression>),
    /// What is not supported: `#P()`.
    Foreign(&'static str),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Not,
    Minus,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Or,
    And,
    Xor,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
}

impl Binary {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Xor => "xor",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
        }
    }
}
