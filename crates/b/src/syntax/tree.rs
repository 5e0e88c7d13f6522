//! The syntax tree of a machine. Predicates and expressions are one kind of node, a formula: only typing distinguishes
//! them, because a definition may be either.

use std::sync::Arc;

use quotient_ir::Span;

/// A name and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: Arc<str>,
    pub(crate) span: Span,
}

/// A formula: an expression or a predicate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formula {
    pub(crate) kind: FormulaKind,
    pub(crate) span: Span,
}

/// The kinds of formulas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FormulaKind {
    Number(i64),
    Text(Arc<str>),
    /// A name, or a built-in constant or function such as `card`.
    Name(Arc<str>),
    /// `x$0`: the value before.
    Before(Arc<str>),
    /// A reserved word that is a value or a set: `TRUE`, `NAT`, `MAXINT`, …
    Word(&'static str),
    Unary(&'static str, Box<Formula>),
    Binary(&'static str, Box<Formula>, Box<Formula>),
    /// `f(x)`, with one argument: several are a pair. Also a use of a definition or a built-in, whose arguments are
    /// kept separate.
    Apply(Box<Formula>, Vec<Formula>),
    /// `r[S]`
    Image(Box<Formula>, Box<Formula>),
    /// `r~`
    Inverse(Box<Formula>),
    /// `r'f`
    Field(Box<Formula>, Name),
    /// `{a, b}`
    Extension(Vec<Formula>),
    /// `{x, y | P}`
    Comprehension(Vec<Name>, Box<Formula>),
    /// `[a, b]`
    Sequence(Vec<Formula>),
    /// `!x.(P)` and `#x.(P)`
    Quantified(&'static str, Vec<Name>, Box<Formula>),
    /// `%x.(P | E)`, `SIGMA(x).(P | E)`, `PI`, `UNION`, `INTER`
    Binder(&'static str, Vec<Name>, Box<Formula>, Box<Formula>),
    /// `bool(P)`
    Truth(Box<Formula>),
    /// `rec(a: x, b: y)` and `struct(a: S, b: T)`
    Record(&'static str, Vec<(Name, Formula)>),
    /// `IF P THEN a ELSE b END`
    Conditional(Box<Formula>, Box<Formula>, Box<Formula>),
    /// `LET x BE x = E IN F END`
    Let(Vec<Name>, Box<Formula>, Box<Formula>),
}

/// A substitution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Substitution {
    pub(crate) kind: SubstitutionKind,
    pub(crate) span: Span,
}

/// The kinds of substitutions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SubstitutionKind {
    /// `skip`, and what could not be parsed.
    Skip,
    /// `x, f(y) := a, b`
    Assign(Vec<Formula>, Vec<Formula>),
    /// `x :: S`
    Choose(Vec<Formula>, Formula),
    /// `x : (P)`
    Become(Vec<Formula>, Formula),
    Parallel(Vec<Substitution>),
    Sequence(Vec<Substitution>),
    Block(Box<Substitution>),
    Precondition(Formula, Box<Substitution>),
    Assert(Formula, Box<Substitution>),
    /// Branches and the `ELSE` branch, which is `skip` if absent.
    If(Vec<(Formula, Substitution)>, Option<Box<Substitution>>),
    Select(Vec<(Formula, Substitution)>, Option<Box<Substitution>>),
    Choice(Vec<Substitution>),
    Any(Vec<Name>, Formula, Box<Substitution>),
    Let(Vec<Name>, Formula, Box<Substitution>),
    Var(Vec<Name>, Box<Substitution>),
    Case(Formula, Vec<(Vec<Formula>, Substitution)>, Option<Box<Substitution>>),
    While {
        condition: Formula,
        body: Box<Substitution>,
        invariant: Option<Formula>,
        variant: Option<Formula>,
    },
    /// `x, y <-- op(a, b)`, and a use of a definition that is a substitution.
    Call {
        outputs: Vec<Formula>,
        operation: Name,
        arguments: Vec<Formula>,
    },
}

/// A set declared in the SETS clause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetDeclaration {
    pub(crate) name: Name,
    /// Its members, if it is enumerated.
    pub(crate) members: Option<Vec<Name>>,
}

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    pub(crate) parameters: Vec<Name>,
    pub(crate) body: DefinitionBody,
}

/// The body of a definition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DefinitionBody {
    Formula(Formula),
    Substitution(Substitution),
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) name: Name,
    pub(crate) outputs: Vec<Name>,
    pub(crate) parameters: Vec<Name>,
    pub(crate) body: Substitution,
    pub(crate) span: Span,
}

/// A machine that another one mentions: `prefix.Name(actual parameters)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) name: Name,
    pub(crate) arguments: Vec<Formula>,
}

/// What kind of component a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Component {
    #[default]
    Machine,
    Refinement,
    Implementation,
}

/// A machine, refinement or implementation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Machine {
    pub(crate) component: Component,
    pub(crate) name: Option<Name>,
    pub(crate) parameters: Vec<Name>,
    pub(crate) refines: Option<Name>,
    pub(crate) sets: Vec<SetDeclaration>,
    pub(crate) constants: Vec<Name>,
    pub(crate) constraints: Option<Formula>,
    pub(crate) properties: Option<Formula>,
    pub(crate) values: Vec<(Name, Formula)>,
    pub(crate) definitions: Vec<Definition>,
    /// Files with more definitions.
    pub(crate) definition_files: Vec<Name>,
    pub(crate) variables: Vec<Name>,
    pub(crate) invariant: Option<Formula>,
    pub(crate) assertions: Vec<Formula>,
    pub(crate) initialisation: Option<Substitution>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) includes: Vec<Reference>,
    pub(crate) extends: Vec<Reference>,
    pub(crate) imports: Vec<Reference>,
    pub(crate) sees: Vec<Reference>,
    pub(crate) uses: Vec<Reference>,
    pub(crate) promotes: Vec<Name>,
}
