//! The syntax tree of a Murphi model, before names and types are resolved.

use quotient_ir::Span;
use quotient_temporal::PathQuantifier;
use quotient_temporal::syntax;

/// A name and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// As written.
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A whole model. Sections may come in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) items: Vec<Item>,
    /// Whether CMurphi's word `undefined` means no value somewhere.
    pub(crate) uses_undefined: bool,
    /// Whether it has something that only CMurphi reads: unions, multisets, priorities, that word.
    pub(crate) is_for_cmurphi: bool,
}

/// The items at the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Declaration(Declaration),
    Function(Function),
    Rule(Rule),
    Fairness(Fairness),
}

/// `fairness weak "rule"`, an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fairness {
    pub(crate) kind: FairnessKind,
    pub(crate) rule: Text,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FairnessKind {
    Weak,
    Strong,
}

/// A temporal formula, an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formula {
    pub(crate) kind: FormulaKind,
    pub(crate) span: Span,
    /// The operator, if it has one.
    pub(crate) operator: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FormulaKind {
    Constant(bool),
    Condition(Expr),
    Unary(syntax::Unary, Box<Formula>),
    Binary(syntax::Binary, Box<Formula>, Box<Formula>),
    Path(PathQuantifier, Box<Formula>),
    Quantified { universal: bool, quantifier: Box<Quantifier>, body: Box<Formula> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declaration {
    Constant {
        name: Name,
        value: Expr,
    },
    Type {
        name: Name,
        ty: TypeExpr,
    },
    /// `a, b: T` gives one of these per name.
    Variable {
        name: Name,
        ty: TypeExpr,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) parameters: Vec<FormalParameter>,
    pub(crate) result: Option<TypeExpr>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormalParameter {
    pub(crate) by_reference: bool,
    pub(crate) name: Name,
    pub(crate) ty: TypeExpr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeExpr {
    pub(crate) kind: TypeExprKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeExprKind {
    Named(Name),
    Boolean,
    Range {
        low: Box<Expr>,
        high: Box<Expr>,
    },
    Enumeration(Vec<Name>),
    Scalarset(Box<Expr>),
    /// Member types: names of scalarsets and enumerations, or enumerations in place.
    Union(Vec<TypeExpr>),
    /// `array [I, J] of T` gives nested arrays.
    Array {
        index: Box<TypeExpr>,
        element: Box<TypeExpr>,
    },
    Record(Vec<(Name, TypeExpr)>),
    Multiset {
        capacity: Box<Expr>,
        element: Box<TypeExpr>,
    },
    /// A placeholder for a type that could not be parsed. The error has been reported, so whatever depends on it is
    /// accepted silently.
    Missing,
}

/// `i: T`, or `i := a to b by c`; for `choose`, `i: multiset` parses as `i: T` with a named type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quantifier {
    pub(crate) name: Name,
    pub(crate) range: QuantifierRange,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QuantifierRange {
    Type(TypeExpr),
    Steps { from: Expr, to: Expr, by: Option<Expr> },
}

/// `alias name: expr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) name: Name,
    pub(crate) value: Expr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) kind: RuleKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RuleKind {
    Start {
        name: Option<Text>,
        declarations: Vec<Declaration>,
        body: Vec<Stmt>,
    },
    Rule {
        /// CMurphi's priority, 0 unless it is given: a rule fires only where no rule with a lower number is enabled.
        priority: u64,
        name: Option<Text>,
        guard: Option<Expr>,
        declarations: Vec<Declaration>,
        body: Vec<Stmt>,
    },
    Property {
        category: Category,
        name: Option<Text>,
        condition: Expr,
    },
    /// `ltl "name" formula` or `ctl "name" formula`, extensions.
    Temporal {
        branching: bool,
        name: Text,
        formula: Formula,
        /// Where the formula is.
        text: Span,
    },
    Ruleset {
        quantifiers: Vec<Quantifier>,
        rules: Vec<Rule>,
    },
    /// `choose i: M do … endchoose`, where `M` is a multiset variable (a designator).
    Choose {
        name: Name,
        multiset: Expr,
        rules: Vec<Rule>,
    },
    Alias {
        aliases: Vec<Alias>,
        rules: Vec<Rule>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Assert,
    Invariant,
    Assume,
    Cover,
    Liveness,
}

/// A string literal, escapes as written, without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StmtKind {
    Assign {
        target: Expr,
        value: Expr,
    },
    Property {
        category: Category,
        message: Option<Text>,
        condition: Expr,
    },
    Alias {
        aliases: Vec<Alias>,
        body: Vec<Stmt>,
    },
    Error(Text),
    Clear(Expr),
    Undefine(Expr),
    For {
        quantifier: Quantifier,
        body: Vec<Stmt>,
    },
    /// Each branch with its condition, then the `else` branch.
    If {
        branches: Vec<(Expr, Vec<Stmt>)>,
        otherwise: Option<Vec<Stmt>>,
    },
    Switch {
        subject: Expr,
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        otherwise: Option<Vec<Stmt>>,
    },
    While {
        condition: Expr,
        body: Vec<Stmt>,
    },
    PutText(Text),
    Put(Expr),
    /// `putstate`
    PutState,
    Return(Option<Expr>),
    Call {
        function: Name,
        arguments: Vec<Expr>,
    },
    /// `multisetadd(element, multiset)`.
    MultisetAdd {
        element: Expr,
        multiset: Expr,
    },
    /// `multisetremove(position, multiset)`.
    MultisetRemove {
        position: Expr,
        multiset: Expr,
    },
    /// `multisetremovepred(i: multiset, condition)`.
    MultisetRemoveIf {
        name: Name,
        multiset: Expr,
        condition: Expr,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExprKind {
    Name(String),
    /// A literal that fits; a larger one is a syntax error.
    Number(i64),
    Field {
        record: Box<Expr>,
        field: Name,
    },
    Index {
        array: Box<Expr>,
        index: Box<Expr>,
    },
    Unary {
        operator: UnaryOperator,
        operand: Box<Expr>,
    },
    Binary {
        operator: BinaryOperator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Forall {
        quantifier: Box<Quantifier>,
        body: Box<Expr>,
    },
    Exists {
        quantifier: Box<Quantifier>,
        body: Box<Expr>,
    },
    Call {
        function: Name,
        arguments: Vec<Expr>,
    },
    IsUndefined(Box<Expr>),
    /// CMurphi's word `undefined` for no value, unless the model declares that name.
    Undefined,
    /// `ismember(value, type)`.
    IsMember {
        value: Box<Expr>,
        ty: Box<TypeExpr>,
    },
    /// `multisetcount(i: multiset, condition)`.
    MultisetCount {
        name: Name,
        multiset: Box<Expr>,
        condition: Box<Expr>,
    },
    /// A placeholder for an expression that could not be parsed. The error has been reported, so whatever depends on it
    /// is accepted silently.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOperator {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Implies,
    /// `||`: always logical.
    OrOr,
    /// `&&`: always logical.
    AndAnd,
    /// `|`: logical on booleans, bitwise on integers.
    Pipe,
    /// `&`: logical on booleans, bitwise on integers.
    Ampersand,
    Caret,
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
