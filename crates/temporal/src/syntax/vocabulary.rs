//! The operators and their spellings: SPIN's, ProB's, those of logic textbooks.

use super::tree::{Binary, Quantifier, Unary};
use crate::formula::PathQuantifier;

/// What a symbol or word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Unary(Unary),
    Binary(Binary),
    Path(PathQuantifier),
    /// A path quantifier and an operator in one word: `AG`.
    PathUnary(PathQuantifier, Unary),
    Constant(bool),
    Quantifier(Quantifier),
}

use Meaning::{Binary as B, Constant as C, Path as P, PathUnary as PU, Quantifier as Q, Unary as N};
use PathQuantifier::{All, Some as Exists};

/// Symbols of every dialect.
pub(super) const SYMBOLS: &[(&str, Meaning)] = &[
    ("[]", N(Unary::Always)),
    ("<>", N(Unary::Eventually)),
    ("!", N(Unary::Not)),
    ("&&", B(Binary::And)),
    ("||", B(Binary::Or)),
    ("/\\", B(Binary::And)),
    ("\\/", B(Binary::Or)),
    ("->", B(Binary::Implies)),
    ("<->", B(Binary::Equivalent)),
    ("□", N(Unary::Always)),
    ("◇", N(Unary::Eventually)),
    ("○", N(Unary::Next)),
    ("◯", N(Unary::Next)),
    ("⊖", N(Unary::Yesterday)),
    ("⊟", N(Unary::Historically)),
    ("⟐", N(Unary::Once)),
    ("¬", N(Unary::Not)),
    ("∧", B(Binary::And)),
    ("∨", B(Binary::Or)),
    ("→", B(Binary::Implies)),
    ("⇒", B(Binary::Implies)),
    ("↔", B(Binary::Equivalent)),
    ("⇔", B(Binary::Equivalent)),
    ("⊤", C(true)),
    ("⊥", C(false)),
    ("∀", Q(Quantifier::ForAll)),
    ("∃", Q(Quantifier::Exists)),
];

/// Symbols that are bitwise operators or comparisons in Promela.
pub(super) const SINGLE_SYMBOLS: &[(&str, Meaning)] = &[("&", B(Binary::And)), ("|", B(Binary::Or))];

/// Arrows that start like a comparison.
pub(super) const DOUBLE_ARROWS: &[(&str, Meaning)] = &[("=>", B(Binary::Implies)), ("<=>", B(Binary::Equivalent))];

/// Words of every dialect, unless they are names of the model.
pub(super) const WORDS: &[(&str, Meaning)] = &[
    ("always", N(Unary::Always)),
    ("eventually", N(Unary::Eventually)),
    ("next", N(Unary::Next)),
    ("until", B(Binary::Until)),
    ("stronguntil", B(Binary::Until)),
    ("weakuntil", B(Binary::WeakUntil)),
    ("release", B(Binary::Release)),
    ("implies", B(Binary::Implies)),
    ("imply", B(Binary::Implies)),
    ("equivalent", B(Binary::Equivalent)),
    ("not", N(Unary::Not)),
    ("and", B(Binary::And)),
    ("or", B(Binary::Or)),
    ("yesterday", N(Unary::Yesterday)),
    ("once", N(Unary::Once)),
    ("historically", N(Unary::Historically)),
    ("since", B(Binary::Since)),
    ("triggered", B(Binary::Triggered)),
    ("true", C(true)),
    ("false", C(false)),
    ("TRUE", C(true)),
    ("FALSE", C(false)),
    ("X", N(Unary::Next)),
    ("F", N(Unary::Eventually)),
    ("G", N(Unary::Always)),
    ("U", B(Binary::Until)),
    ("W", B(Binary::WeakUntil)),
    ("R", B(Binary::Release)),
    ("V", B(Binary::Release)),
    ("M", B(Binary::StrongRelease)),
    ("Y", N(Unary::Yesterday)),
    ("Z", N(Unary::WeakYesterday)),
    ("O", N(Unary::Once)),
    ("H", N(Unary::Historically)),
    ("S", B(Binary::Since)),
    ("T", B(Binary::Triggered)),
    ("forall", Q(Quantifier::ForAll)),
    ("exists", Q(Quantifier::Exists)),
];

/// Words of branching time.
pub(super) const BRANCHING_WORDS: &[(&str, Meaning)] = &[
    ("A", P(All)),
    ("E", P(Exists)),
    ("AG", PU(All, Unary::Always)),
    ("AF", PU(All, Unary::Eventually)),
    ("AX", PU(All, Unary::Next)),
    ("EG", PU(Exists, Unary::Always)),
    ("EF", PU(Exists, Unary::Eventually)),
    ("EX", PU(Exists, Unary::Next)),
];

/// The operator that a word was perhaps meant to be.
pub(super) fn suggestion(word: &str, branching: bool) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let known = WORDS.iter().chain(if branching { BRANCHING_WORDS } else { &[] });
    // Short words are near to everything.
    known
        .filter(|(operator, _)| operator.len() >= 3 || operator.eq_ignore_ascii_case(word))
        .map(|(operator, _)| (strsim::damerau_levenshtein(&lower, &operator.to_lowercase()), *operator))
        .filter(|(distance, operator)| *operator != word && *distance * 3 <= operator.len().max(lower.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, operator)| operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_to_what_was_meant() {
        for (word, meant) in [
            ("alwyas", Some("always")),
            ("untill", Some("until")),
            ("Until", Some("until")),
            ("evetually", Some("eventually")),
            ("AND", Some("and")),
            ("weak_until", Some("weakuntil")),
            ("u", Some("U")),
            ("request", None),
            ("x", Some("X")),
            ("pc", None),
        ] {
            assert_eq!(suggestion(word, false), meant, "{word}");
        }
    }
}
