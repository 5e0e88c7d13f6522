//! What formulas look like in a language: which symbols belong to the logic and which to expressions, how atoms are
//! delimited, how chains of operators associate.

/// The role of a token in the expressions of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A name, number or string.
    Operand,
    /// An operator between two operands, such as `==`.
    Infix,
    /// An operator between two operands that binds more tightly than a negation, such as `.`.
    Selector,
    /// An operator before an operand, such as `~`.
    Prefix,
    /// An operator that is both, such as `-`.
    Sign,
    /// Something after an operand that belongs to it, such as `->x` in DVE.
    Postfix,
}

/// The tokens of the expressions of a language, as far as needed to find where an atom ends.
///
/// Names and numbers (letters, digits, `_`), strings in quotes, brackets, and words that are operators of the logic are
/// recognised for every language.
pub trait Expressions {
    /// The token of an expression at the beginning of a text, and its length in bytes. The text starts with neither a
    /// letter nor white space. Where a symbol of the logic matches as well, the longer of both is taken, and that of the
    /// logic if they are equally long.
    fn piece(&self, text: &str) -> Option<(usize, Piece)>;
    /// Whether a spelling of a connective, constant or quantifier is one of expressions too.
    fn is_connective(&self, spelling: &str) -> bool;
    /// Whether a colon can stand between two operands, as in Promela's `P[1]:x`.
    fn has_colon(&self) -> bool {
        false
    }
    /// Whether a comment starts with `--`.
    fn has_dash_comments(&self) -> bool {
        false
    }
}

/// The longest of a list of symbols at the beginning of a text.
fn longest(text: &str, symbols: &[(&str, Piece)]) -> Option<(usize, Piece)> {
    symbols
        .iter()
        .filter(|(symbol, _)| text.starts_with(symbol))
        .max_by_key(|(symbol, _)| symbol.len())
        .map(|(symbol, piece)| (symbol.len(), *piece))
}

/// The operators that Promela and DVE have from C, without connectives.
const OPERATORS_OF_C: &[(&str, Piece)] = &[
    ("==", Piece::Infix),
    ("!=", Piece::Infix),
    ("<=", Piece::Infix),
    (">=", Piece::Infix),
    ("<", Piece::Infix),
    (">", Piece::Infix),
    ("<<", Piece::Infix),
    (">>", Piece::Infix),
    ("+", Piece::Infix),
    ("-", Piece::Sign),
    ("*", Piece::Infix),
    ("/", Piece::Infix),
    ("%", Piece::Infix),
    ("&", Piece::Infix),
    ("|", Piece::Infix),
    ("^", Piece::Infix),
    ("~", Piece::Prefix),
    (".", Piece::Selector),
    (",", Piece::Infix),
];

/// Expressions of Promela.
#[derive(Clone, Copy, Debug, Default)]
pub struct PromelaExpressions;

impl Expressions for PromelaExpressions {
    fn piece(&self, text: &str) -> Option<(usize, Piece)> {
        let own = [("@", Piece::Selector), ("?", Piece::Selector), ("??", Piece::Selector)];
        longest(text, OPERATORS_OF_C).or_else(|| longest(text, &own))
    }
    fn is_connective(&self, spelling: &str) -> bool {
        ["&&", "||", "!", "true", "false"].contains(&spelling)
    }
    fn has_colon(&self) -> bool {
        true
    }
}

/// Expressions of Murphi.
#[derive(Clone, Copy, Debug, Default)]
pub struct MurphiExpressions;

impl Expressions for MurphiExpressions {
    fn piece(&self, text: &str) -> Option<(usize, Piece)> {
        use Piece::{Infix, Selector, Sign};
        longest(
            text,
            &[
                ("=", Infix),
                ("==", Infix),
                ("!=", Infix),
                ("<=", Infix),
                (">=", Infix),
                ("<", Infix),
                (">", Infix),
                ("+", Infix),
                ("-", Sign),
                ("*", Infix),
                ("/", Infix),
                ("%", Infix),
                (".", Selector),
                ("?", Infix),
                (",", Infix),
            ],
        )
    }
    fn is_connective(&self, spelling: &str) -> bool {
        ["&", "|", "!", "->", "true", "false", "forall", "exists"].contains(&spelling)
    }
    fn has_dash_comments(&self) -> bool {
        true
    }
}

/// Expressions of DVE. A variable of a process, `P->x`, is written without blanks.
#[derive(Clone, Copy, Debug, Default)]
pub struct DveExpressions;

impl Expressions for DveExpressions {
    fn piece(&self, text: &str) -> Option<(usize, Piece)> {
        if let Some(name) = text.strip_prefix("->") {
            let length = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
            let is_name = length > 0 && !name.starts_with(|c: char| c.is_ascii_digit());
            return is_name.then_some((2 + length, Piece::Postfix));
        }
        longest(text, OPERATORS_OF_C)
    }
    fn is_connective(&self, spelling: &str) -> bool {
        ["&&", "||", "and", "or", "not", "imply", "true", "false"].contains(&spelling)
    }
}

/// Atoms in delimiters: `{predicate}`, `[operation]`, and words with or without arguments, such as `e(operation)`,
/// `deadlock` and `sink`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delimited;

impl Expressions for Delimited {
    fn piece(&self, text: &str) -> Option<(usize, Piece)> {
        // Only arguments have them.
        longest(text, &[(",", Piece::Infix), (".", Piece::Selector)])
    }
    fn is_connective(&self, _: &str) -> bool {
        false
    }
}

/// How a chain of operators of the same strength is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Associativity {
    /// `(a U b) U c`.
    Left,
    /// `a U (b U c)`, if all are the same operator; otherwise refused.
    Right,
    /// Refused: parentheses are needed.
    Refused,
}

/// What formulas look like in a language.
///
/// In all dialects operators with one operand bind most tightly, then the temporal ones with two, `&&`, `||`, and last
/// implication and equivalence. `A` and `E` govern a formula in brackets, or else up to the next boolean connective.
#[derive(Clone, Copy)]
pub struct Dialect<'a> {
    /// What atoms look like.
    pub expressions: &'a dyn Expressions,
    /// Words that are operators even if the model has such a name.
    pub reserved: &'a [&'a str],
    /// Whether a word is a name of the model, and so not an operator unless it is reserved.
    pub is_name: Option<&'a dyn Fn(&str) -> bool>,
    /// Whether `{…}` and `[…]` are atoms.
    pub delimited: bool,
    /// Whether `&` and `|` are connectives.
    pub single_symbols: bool,
    /// Whether `=>` and `<=>` are connectives.
    pub double_arrows: bool,
    /// Whether there are the path quantifiers `A` and `E`.
    pub branching: bool,
    /// How chains of `U` and the like are read.
    pub until: Associativity,
    /// How chains of implications and equivalences are read.
    pub implication: Associativity,
}

impl std::fmt::Debug for Dialect<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Dialect")
            .field("reserved", &self.reserved)
            .field("delimited", &self.delimited)
            .field("branching", &self.branching)
            .field("until", &self.until)
            .field("implication", &self.implication)
            .finish_non_exhaustive()
    }
}

impl Dialect<'static> {
    /// Formulas over names: what papers and other tools use.
    pub fn plain() -> Self {
        Self {
            expressions: &Delimited,
            reserved: &[],
            is_name: None,
            delimited: false,
            single_symbols: true,
            double_arrows: true,
            branching: true,
            until: Associativity::Right,
            implication: Associativity::Right,
        }
    }
    /// Formulas over Promela expressions. Chains associate as in SPIN's `ltl` blocks: all to the left.
    pub fn promela() -> Self {
        Self {
            expressions: &PromelaExpressions,
            reserved: &[
                "U",
                "V",
                "W",
                "X",
                "always",
                "eventually",
                "next",
                "until",
                "stronguntil",
                "weakuntil",
                "release",
                "implies",
                "equivalent",
                "true",
                "false",
            ],
            is_name: None,
            delimited: false,
            single_symbols: false,
            double_arrows: false,
            branching: true,
            until: Associativity::Left,
            implication: Associativity::Left,
        }
    }
    /// Formulas over Murphi expressions.
    pub fn murphi() -> Self {
        Self {
            expressions: &MurphiExpressions,
            reserved: &["forall", "exists", "true", "false"],
            is_name: None,
            delimited: false,
            single_symbols: true,
            double_arrows: false,
            branching: true,
            until: Associativity::Refused,
            implication: Associativity::Refused,
        }
    }
    /// Formulas over DVE expressions.
    pub fn dve() -> Self {
        Self {
            expressions: &DveExpressions,
            reserved: &["true", "false", "and", "or", "not", "imply"],
            is_name: None,
            delimited: false,
            single_symbols: false,
            double_arrows: true,
            branching: true,
            until: Associativity::Refused,
            implication: Associativity::Refused,
        }
    }
    /// Formulas as in ProB, over `{predicate}`, `[operation]`, `e(operation)`, `deadlock`, `sink`.
    pub fn prob() -> Self {
        Self { delimited: true, until: Associativity::Refused, implication: Associativity::Refused, ..Self::plain() }
    }
}

impl<'a> Dialect<'a> {
    /// The dialect for a model with certain names.
    #[must_use]
    pub fn with_names<'b>(self, is_name: &'b dyn Fn(&str) -> bool) -> Dialect<'b>
    where
        'a: 'b,
    {
        Dialect { is_name: Some(is_name), ..self }
    }
}
