//! The syntax tree of a Promela text, after preprocessing and with inlines expanded.

use std::rc::Rc;

use quotient_ir::Span;
use quotient_kit::watched::WATCHED;
use quotient_temporal::PathQuantifier;

/// A name and its position.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
    /// Where it is written itself, if it comes from a macro. It does not matter to its meaning.
    pub(crate) written: Span,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.span) == (&other.text, other.span)
    }
}

/// A whole specification.
#[derive(Clone, Debug, Default)]
pub(crate) struct Specification {
    /// Message names by the subtype they belong to (none for plain `mtype`).
    pub(crate) mtypes: Vec<MtypeDeclaration>,
    pub(crate) typedefs: Vec<Typedef>,
    pub(crate) globals: Vec<Declaration>,
    /// Process types in order, `init` among them.
    pub(crate) proctypes: Vec<Proctype>,
    pub(crate) formulas: Vec<Formula>,
    /// `never` claims.
    pub(crate) claims: Vec<Claim>,
    /// `trace` and `notrace` definitions.
    pub(crate) traces: Vec<Claim>,
    /// The inlines, which are expanded where they are used.
    pub(crate) inlines: Vec<Inline>,
    /// Whether everything was read, or all but some formulas.
    pub(crate) is_read_but_for_formulas: bool,
}

/// `inline name(a, b) { … }`
#[derive(Clone, Debug)]
pub(crate) struct Inline {
    pub(crate) name: Name,
    pub(crate) parameters: Vec<Name>,
    /// Where its body mentions which parameter.
    pub(crate) mentions: Vec<(usize, Span)>,
    /// Where it is used.
    pub(crate) uses: Vec<Span>,
    pub(crate) span: Span,
}

/// `mtype = { a, b }` or `mtype:colour = { red }`.
#[derive(Clone, Debug)]
pub(crate) struct MtypeDeclaration {
    pub(crate) subtype: Option<Name>,
    pub(crate) members: Vec<Name>,
}

/// `typedef Name { … }`
#[derive(Clone, Debug)]
pub(crate) struct Typedef {
    pub(crate) name: Name,
    pub(crate) fields: Vec<Declaration>,
}

/// `proctype`, or `init`.
#[derive(Clone, Debug)]
pub(crate) struct Proctype {
    pub(crate) name: Name,
    pub(crate) is_init: bool,
    /// `active`, with the number of instances if given.
    pub(crate) active: Option<Option<Expression>>,
    pub(crate) parameters: Vec<Declaration>,
    pub(crate) priority: Option<Expression>,
    pub(crate) provided: Option<Expression>,
    pub(crate) body: Vec<Statement>,
    pub(crate) span: Span,
    /// The bracket at its end.
    pub(crate) closing: Span,
}

/// `ltl name { … }` or `ctl name { … }`
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    pub(crate) name: Option<Name>,
    /// Whether it is about the tree of runs and not about each run.
    pub(crate) branching: bool,
    pub(crate) condition: Expression,
    pub(crate) span: Span,
}

impl Formula {
    /// Whether it only has the expression to evaluate, and claims nothing.
    pub(crate) fn is_watched(&self) -> bool {
        self.name.as_ref().is_some_and(|name| &*name.text == WATCHED)
    }
}

/// A `never` claim, `trace` or `notrace`.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) name: Option<Name>,
    pub(crate) body: Vec<Statement>,
    pub(crate) span: Span,
    /// Whether it is a `notrace`.
    pub(crate) negated: bool,
}

impl Proctype {
    /// A claim as a process, whose statements are drawn like those of others.
    pub(crate) fn of_claim(claim: &Claim, name: Rc<str>) -> Self {
        Self {
            name: Name { text: name, span: claim.span, written: claim.span },
            is_init: false,
            active: None,
            parameters: Vec::new(),
            priority: None,
            provided: None,
            body: claim.body.clone(),
            span: claim.span,
            closing: claim.span,
        }
    }
}

/// The type that a declaration begins with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BaseType {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned,
    Mtype(Option<Name>),
    Chan,
    Pid,
    User(Name),
}

/// Some variables of one type.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    /// Whether SPIN leaves its variables out of states.
    pub(crate) hidden: bool,
    pub(crate) ty: BaseType,
    pub(crate) variables: Vec<Variable>,
}

/// One variable of a declaration.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Name,
    pub(crate) size: Option<Expression>,
    /// The number of bits of an `unsigned`.
    pub(crate) width: Option<Expression>,
    pub(crate) initial: Option<Initial>,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Value(Expression),
    List(Vec<Expression>),
    Channel { capacity: Expression, fields: Vec<BaseType>, span: Span },
}

/// A statement with its labels.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) labels: Vec<Name>,
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Declaration(Declaration),
    /// `xr` or `xs`, with the channels.
    ChannelAssertion(Vec<Expression>),
    Expression(Expression),
    Assign {
        target: Expression,
        value: Expression,
    },
    Send {
        channel: Expression,
        sorted: bool,
        arguments: Vec<Expression>,
    },
    Receive {
        channel: Expression,
        random: bool,
        copying: bool,
        arguments: Vec<Expression>,
    },
    If(Vec<Vec<Statement>>),
    Do(Vec<Vec<Statement>>),
    /// `for (variable : from .. to)`
    For {
        variable: Expression,
        from: Expression,
        to: Expression,
        body: Vec<Statement>,
    },
    /// `for (variable in container)`
    ForIn {
        variable: Expression,
        container: Expression,
        body: Vec<Statement>,
    },
    Select {
        variable: Expression,
        from: Expression,
        to: Expression,
    },
    Atomic(Vec<Statement>),
    DeterministicStep(Vec<Statement>),
    Block(Vec<Statement>),
    /// What an inline was replaced by.
    Inlined(Vec<Statement>),
    Unless {
        main: Box<Statement>,
        escape: Box<Statement>,
    },
    Goto(Name),
    Break,
    Else,
    /// `printf("format", arguments)`; `printm(x)` is the same with the format `%e`.
    Print {
        format: Rc<str>,
        arguments: Vec<Expression>,
    },
    Assert(Expression),
    /// `set_priority(process, priority)`
    SetPriority {
        process: Expression,
        priority: Expression,
    },
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExpressionKind {
    Number(i64),
    /// `true` and `false`.
    Truth(bool),
    /// A string; only in `printf`.
    Text(Rc<str>),
    /// `a.b[i].c`: a name, then fields, each with an index where there is one.
    Reference(Vec<Member>),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `(c -> a : b)`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `len(c)`, `empty(c)` and the other queue functions.
    ChannelQuery(ChannelQuery, Box<Expression>),
    /// `c?[…]` and `c??[…]`
    Poll {
        channel: Box<Expression>,
        random: bool,
        arguments: Vec<Expression>,
    },
    Run {
        proctype: Name,
        arguments: Vec<Expression>,
        priority: Option<Box<Expression>>,
    },
    Eval(Box<Expression>),
    Enabled(Box<Expression>),
    PcValue(Box<Expression>),
    /// `get_priority(p)`
    Priority(Box<Expression>),
    /// `p[i]@label`
    AtLabel {
        proctype: Name,
        process: Option<Box<Expression>>,
        label: Name,
    },
    /// `p[i]:variable`
    RemoteVariable {
        proctype: Name,
        process: Option<Box<Expression>>,
        variable: Vec<Member>,
    },
    Timeout,
    NonProgress,
    /// `A f` or `E f`
    Path(PathQuantifier, Box<Expression>),
    /// `forall p : P : f` or `exists p : P : f`
    Quantified(Box<Quantified>),
}

/// A quantifier in a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantified {
    /// `forall` and not `exists`.
    pub(crate) universal: bool,
    pub(crate) variable: Name,
    pub(crate) domain: Domain,
    pub(crate) body: Expression,
}

/// What a quantifier ranges over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Domain {
    /// The numbers of the processes of a type.
    Processes(Name),
    /// `low .. high`
    Range(Expression, Expression),
}

/// One part of a reference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: Name,
    pub(crate) index: Option<Box<Expression>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Negate,
    Complement,
    Always,
    Eventually,
    Next,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
}

impl Unary {
    /// Whether it belongs to temporal formulas.
    pub(crate) fn is_temporal(self) -> bool {
        !matches!(self, Self::Not | Self::Negate | Self::Complement)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
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
    Implies,
    Equivalent,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Since,
    Triggered,
}

impl Binary {
    /// Whether it belongs to temporal formulas and is not a connective.
    pub(crate) fn is_temporal(self) -> bool {
        matches!(
            self,
            Self::Until | Self::WeakUntil | Self::Release | Self::StrongRelease | Self::Since | Self::Triggered
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelQuery {
    Length,
    Full,
    NotFull,
    Empty,
    NotEmpty,
}
