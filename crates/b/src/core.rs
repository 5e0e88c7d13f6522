//! The core of a machine: names resolved, definitions expanded, every formula typed. Evaluation and lowering both start
//! from it.

use std::rc::Rc;
use std::sync::Arc;

use quotient_ir::Span;
use quotient_temporal::syntax::{Span as Part, SyntaxTree};
use rustc_hash::FxHashMap;

use super::types::{SetId, Type};

/// A constant, variable, parameter or bound variable, by position. Every binder creates its own symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SymbolId(pub(crate) usize);

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// A constant or a scalar parameter of the machine.
    Constant,
    /// A variable.
    Variable,
    /// A variable of a refined machine that the refinement does not keep.
    Abstract,
    /// Everything else.
    Bound,
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: Arc<str>,
    pub(crate) kind: SymbolKind,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// A given set.
#[derive(Clone, Debug)]
pub(crate) struct GivenSet {
    pub(crate) name: Arc<str>,
    /// The members of an enumerated set, or of a deferred set once it is sized.
    pub(crate) members: Vec<Arc<str>>,
    pub(crate) is_deferred: bool,
    pub(crate) span: Span,
}

/// A formula.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// The kinds of formulas.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Integer(i64),
    Boolean(bool),
    /// A predicate that is always true or false.
    Truth(bool),
    /// A string, by position.
    Text(usize),
    /// A member of a given set.
    Member(SetId, usize),
    Symbol(SymbolId),
    /// A whole given set.
    GivenSet(SetId),
    Booleans,
    Texts,
    /// All integers, or all from a lower bound on.
    Integers(Option<i64>),
    Operation(Operator, Vec<Expr>),
    Extension(Vec<Expr>),
    Sequence(Vec<Expr>),
    Comprehension(Vec<SymbolId>, Rc<Expr>),
    Lambda(Vec<SymbolId>, Rc<Expr>, Rc<Expr>),
    Quantified(Quantifier, Vec<SymbolId>, Rc<Expr>),
    Fold(Fold, Vec<SymbolId>, Rc<Expr>, Rc<Expr>),
    Record(Vec<(Arc<str>, Expr)>),
    RecordSet(Vec<(Arc<str>, Expr)>),
    /// A field by position.
    Field(Rc<Expr>, usize),
    Conditional(Rc<Expr>, Rc<Expr>, Rc<Expr>),
    Let(Vec<(SymbolId, Expr)>, Rc<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Any,
}

/// `SIGMA`, `PI`, `UNION`, `INTER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Sum,
    Product,
    Union,
    Intersection,
}

/// What a set of functions requires of its members, in addition to being functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrow {
    pub(crate) total: bool,
    pub(crate) injective: bool,
    pub(crate) surjective: bool,
    /// Whether it must be a function at all.
    pub(crate) function: bool,
}

/// Sets of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequences {
    All,
    Nonempty,
    Injective,
    InjectiveNonempty,
    Permutations,
}

/// Operators, with their number of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    // Predicates.
    And,
    Or,
    Implies,
    Equivalent,
    Not,
    Equal,
    Member,
    Subset,
    StrictSubset,
    Less,
    LessOrEqual,
    // Scalars.
    /// `bool(P)`
    Truth,
    Negate,
    Add,
    /// Of integers or of sets, by the type.
    Minus,
    /// Of integers or of sets, by the type.
    Times,
    Divide,
    Modulo,
    Power,
    Minimum,
    Maximum,
    Cardinality,
    // Pairs.
    Pair,
    // Sets.
    Interval,
    Union,
    Intersection,
    PowerSet,
    PowerSet1,
    GeneralUnion,
    GeneralIntersection,
    // Relations.
    Arrow(Arrow),
    Domain,
    Range,
    Inverse,
    Image,
    DomainRestriction,
    DomainSubtraction,
    RangeRestriction,
    RangeSubtraction,
    Override,
    Composition,
    DirectProduct,
    ParallelProduct,
    Identity,
    FirstProjection,
    SecondProjection,
    Iterate,
    Closure,
    Closure1,
    ToFunction,
    ToRelation,
    Apply,
    // Sequences.
    Sequences(Sequences),
    Size,
    First,
    Last,
    Front,
    Tail,
    Reverse,
    Concatenate,
    Append,
    Prepend,
    Take,
    Drop,
    GeneralConcatenate,
}

/// A substitution.
#[derive(Clone, Debug)]
pub(crate) struct Substitution {
    pub(crate) kind: SubstitutionKind,
    pub(crate) span: Span,
}

/// The kinds of substitutions.
#[derive(Clone, Debug)]
pub(crate) enum SubstitutionKind {
    Skip,
    /// Different symbols and what they become, all at once.
    Assign(Vec<(SymbolId, Expr)>),
    Parallel(Vec<Substitution>),
    Sequence(Vec<Substitution>),
    /// Only if the predicate holds.
    Guard(Expr, Box<Substitution>),
    /// A run-time error if the predicate does not hold.
    Assert(Expr, String, Box<Substitution>),
    If(Vec<(Expr, Substitution)>, Box<Substitution>),
    Select(Vec<(Expr, Substitution)>, Option<Box<Substitution>>),
    Choice(Vec<Substitution>),
    Any(Vec<SymbolId>, Expr, Box<Substitution>),
    Let(Vec<(SymbolId, Expr)>, Box<Substitution>),
    Var(Vec<SymbolId>, Box<Substitution>),
    While(Expr, Option<Expr>, Box<Substitution>),
}

/// An operation that can be called from outside.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) name: Arc<str>,
    pub(crate) parameters: Vec<SymbolId>,
    pub(crate) body: Substitution,
    pub(crate) span: Span,
}

/// A predicate that is checked, with the name to show for it.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) name: String,
    pub(crate) condition: Expr,
}

/// A temporal formula.
#[derive(Clone, Debug)]
pub(crate) struct TemporalFormula {
    /// The name of its definition.
    pub(crate) name: String,
    /// The text, and where it is in the machine.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Whether it is a formula of CTL.
    pub(crate) is_branching: bool,
    pub(crate) tree: SyntaxTree,
    /// The atoms, by their place in the text.
    pub(crate) atoms: FxHashMap<Part, Observation>,
}

/// What an atom of a temporal formula says about a state and the next step.
#[derive(Clone, Debug)]
pub(crate) enum Observation {
    /// A predicate holds.
    Holds(Expr),
    /// An operation is enabled.
    Enabled(Call),
    /// The next step is of an operation. The variable is true after such a step, and false after others.
    Performed(Call, SymbolId),
    /// No operation is enabled.
    Deadlock,
    /// So many of these are enabled.
    Count(Selection, Vec<Call>),
    /// If it is enabled from some time on (or again and again, if strong), it is performed again and again.
    Fair { strong: bool, call: Call, step: SymbolId },
}

/// How many operations are enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    None,
    AtMostOne,
    ExactlyOne,
}

/// An operation by its position, with arguments or with any.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) operation: usize,
    pub(crate) arguments: Option<Vec<Expr>>,
}

impl Observation {
    /// Calls `visit` with all formulas in it.
    fn formulas(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Holds(formula) => visit(formula),
            Self::Enabled(call) | Self::Performed(call, _) | Self::Fair { call, .. } => {
                call.arguments.iter_mut().flatten().for_each(visit);
            }
            Self::Count(_, calls) => {
                calls.iter_mut().flat_map(|call| &mut call.arguments).flatten().for_each(visit);
            }
            Self::Deadlock => {}
        }
    }
}

/// A predicate: symbols have the values of formulas.
pub(crate) fn equations(symbols: &[Symbol], left: &[SymbolId], right: &[Expr]) -> Expr {
    let span = right.first().map_or(Span::default(), |value| value.span);
    let equations = left.iter().zip(right).map(|(symbol, value)| {
        let own = Expr { kind: Kind::Symbol(*symbol), ty: symbols[symbol.0].ty.clone(), span: value.span };
        Expr::operation(Operator::Equal, vec![own, value.clone()], Type::Predicate, value.span)
    });
    let both = |one, other| Expr::operation(Operator::And, vec![one, other], Type::Predicate, span);
    equations.reduce(both).unwrap_or_else(|| Expr::truth(true, span))
}

/// A whole machine, with everything it includes and sees.
#[derive(Debug, Default)]
pub(crate) struct Core {
    pub(crate) sets: Vec<GivenSet>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) texts: Vec<Arc<str>>,
    pub(crate) constants: Vec<SymbolId>,
    /// Whether formulas were substituted for constants.
    pub(crate) has_inlined_constants: bool,
    pub(crate) variables: Vec<SymbolId>,
    /// The conjuncts of the properties.
    pub(crate) properties: Vec<Expr>,
    /// The conjuncts of the invariant.
    pub(crate) invariant: Vec<Claim>,
    pub(crate) assertions: Vec<Claim>,
    pub(crate) goal: Option<Claim>,
    /// An expression to evaluate, given beside the text.
    pub(crate) watched: Option<(SymbolId, Expr)>,
    pub(crate) initialisation: Vec<Substitution>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) temporal: Vec<TemporalFormula>,
    /// Members of deferred sets that temporal formulas name, and where.
    pub(crate) named_members: Vec<(Arc<str>, SetId, usize, Span)>,
}

impl Expr {
    pub(crate) fn operation(operator: Operator, operands: Vec<Self>, ty: Type, span: Span) -> Self {
        Self { kind: Kind::Operation(operator, operands), ty, span }
    }

    pub(crate) fn truth(value: bool, span: Span) -> Self {
        Self { kind: Kind::Truth(value), ty: Type::Predicate, span }
    }

    /// The conjuncts, from left to right.
    pub(crate) fn conjuncts(&self) -> Vec<&Self> {
        let mut pending = vec![self];
        let mut found = Vec::new();
        while let Some(expr) = pending.pop() {
            match &expr.kind {
                Kind::Operation(Operator::And, operands) => pending.extend(operands.iter().rev()),
                Kind::Truth(true) => {}
                _ => found.push(expr),
            }
        }
        found
    }

    /// Calls `visit` with every symbol that occurs, bound ones included.
    pub(crate) fn symbols(&self, visit: &mut dyn FnMut(SymbolId)) {
        match &self.kind {
            Kind::Symbol(symbol) => visit(*symbol),
            Kind::Operation(_, operands) | Kind::Extension(operands) | Kind::Sequence(operands) => {
                operands.iter().for_each(|operand| operand.symbols(visit));
            }
            Kind::Comprehension(_, body) | Kind::Quantified(_, _, body) => body.symbols(visit),
            Kind::Lambda(_, condition, body) | Kind::Fold(_, _, condition, body) => {
                condition.symbols(visit);
                body.symbols(visit);
            }
            Kind::Record(fields) | Kind::RecordSet(fields) => {
                fields.iter().for_each(|(_, field)| field.symbols(visit));
            }
            Kind::Field(record, _) => record.symbols(visit),
            Kind::Conditional(condition, then, otherwise) => {
                condition.symbols(visit);
                then.symbols(visit);
                otherwise.symbols(visit);
            }
            Kind::Let(bindings, body) => {
                bindings.iter().for_each(|(_, value)| value.symbols(visit));
                body.symbols(visit);
            }
            Kind::Integer(_)
            | Kind::Boolean(_)
            | Kind::Truth(_)
            | Kind::Text(_)
            | Kind::Member(..)
            | Kind::GivenSet(_)
            | Kind::Booleans
            | Kind::Texts
            | Kind::Integers(_) => {}
        }
    }

    /// Whether a symbol occurs.
    pub(crate) fn mentions(&self, symbol: SymbolId) -> bool {
        let mut found = false;
        self.symbols(&mut |it| found |= it == symbol);
        found
    }

    /// Substitutes a formula for a symbol.
    pub(crate) fn replace(&mut self, symbol: SymbolId, with: &Self) {
        let again = |part: &mut Rc<Self>| Rc::make_mut(part).replace(symbol, with);
        match &mut self.kind {
            Kind::Symbol(it) if *it == symbol => *self = Self { span: self.span, ..with.clone() },
            Kind::Operation(_, operands) | Kind::Extension(operands) | Kind::Sequence(operands) => {
                operands.iter_mut().for_each(|operand| operand.replace(symbol, with));
            }
            Kind::Comprehension(_, body) | Kind::Quantified(_, _, body) => again(body),
            Kind::Lambda(_, condition, body) | Kind::Fold(_, _, condition, body) => {
                again(condition);
                again(body);
            }
            Kind::Record(fields) | Kind::RecordSet(fields) => {
                fields.iter_mut().for_each(|(_, field)| field.replace(symbol, with));
            }
            Kind::Field(record, _) => again(record),
            Kind::Conditional(condition, then, otherwise) => {
                again(condition);
                again(then);
                again(otherwise);
            }
            Kind::Let(bindings, body) => {
                bindings.iter_mut().for_each(|(_, value)| value.replace(symbol, with));
                again(body);
            }
            Kind::Symbol(_)
            | Kind::Integer(_)
            | Kind::Boolean(_)
            | Kind::Truth(_)
            | Kind::Text(_)
            | Kind::Member(..)
            | Kind::GivenSet(_)
            | Kind::Booleans
            | Kind::Texts
            | Kind::Integers(_) => {}
        }
    }
}

impl Substitution {
    /// Substitutes a formula for a symbol that is never assigned.
    pub(crate) fn replace(&mut self, symbol: SymbolId, with: &Expr) {
        match &mut self.kind {
            SubstitutionKind::Skip => {}
            SubstitutionKind::Assign(assignments) => {
                assignments.iter_mut().for_each(|(_, value)| value.replace(symbol, with));
            }
            SubstitutionKind::Parallel(parts) | SubstitutionKind::Sequence(parts) | SubstitutionKind::Choice(parts) => {
                parts.iter_mut().for_each(|part| part.replace(symbol, with));
            }
            SubstitutionKind::Guard(condition, body)
            | SubstitutionKind::Assert(condition, _, body)
            | SubstitutionKind::Any(_, condition, body) => {
                condition.replace(symbol, with);
                body.replace(symbol, with);
            }
            SubstitutionKind::If(branches, otherwise) => {
                for (condition, body) in branches {
                    condition.replace(symbol, with);
                    body.replace(symbol, with);
                }
                otherwise.replace(symbol, with);
            }
            SubstitutionKind::Select(branches, otherwise) => {
                for (condition, body) in branches {
                    condition.replace(symbol, with);
                    body.replace(symbol, with);
                }
                if let Some(otherwise) = otherwise {
                    otherwise.replace(symbol, with);
                }
            }
            SubstitutionKind::Let(bindings, body) => {
                bindings.iter_mut().for_each(|(_, value)| value.replace(symbol, with));
                body.replace(symbol, with);
            }
            SubstitutionKind::Var(_, body) => body.replace(symbol, with),
            SubstitutionKind::While(condition, invariant, body) => {
                condition.replace(symbol, with);
                if let Some(invariant) = invariant {
                    invariant.replace(symbol, with);
                }
                body.replace(symbol, with);
            }
        }
    }
}

impl Core {
    /// Substitutes a formula for a constant, which is then no longer a constant.
    pub(crate) fn replace_constant(&mut self, constant: SymbolId, with: &Expr) {
        self.constants.retain(|it| *it != constant);
        self.has_inlined_constants = true;
        self.properties.iter_mut().for_each(|property| property.replace(constant, with));
        let claims = self.invariant.iter_mut().chain(&mut self.assertions).chain(&mut self.goal);
        claims.for_each(|claim| claim.condition.replace(constant, with));
        self.watched.iter_mut().for_each(|(_, value)| value.replace(constant, with));
        self.initialisation.iter_mut().for_each(|part| part.replace(constant, with));
        self.operations.iter_mut().for_each(|operation| operation.body.replace(constant, with));
        let atoms = self.temporal.iter_mut().flat_map(|formula| formula.atoms.values_mut());
        atoms.for_each(|atom| atom.formulas(&mut |formula| formula.replace(constant, with)));
    }
}
