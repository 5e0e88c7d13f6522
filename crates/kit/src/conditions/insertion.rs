//! What is put into a text, and where.

use quotient_temporal::syntax;

use super::role::{Condition, Role};

/// Something to put into a text.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// Where.
    pub at: usize,
    /// What, in this order.
    pub pieces: Vec<Piece>,
}

/// A part of what is put into a text.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Text around conditions.
    Around(String),
    /// A condition, or the condition of a formula with blanks around it.
    Given {
        /// What is put into the text.
        read: String,
        /// What is shown in messages; as long as what is read.
        shown: String,
        /// The number of the condition or formula.
        number: usize,
        /// Which condition of the formula it is.
        part: Option<syntax::Span>,
    },
}

impl Piece {
    /// A whole condition.
    pub fn given(number: usize, Condition { expression, .. }: &Condition) -> Self {
        Self::Given { read: expression.clone(), shown: expression.clone(), number, part: None }
    }
}

impl Insertion {
    /// Conditions at the end of a text. `around` gives the text before and after each, from its role and the name of the
    /// property that carries it.
    pub fn at_end(at: usize, conditions: &[Condition], around: fn(Role, &str) -> (String, &'static str)) -> Self {
        let mut pieces = Vec::new();
        for (number, condition) in conditions.iter().enumerate() {
            let (before, after) = around(condition.role, &formula_name(number));
            pieces.extend([Piece::Around(before), Piece::given(number, condition), Piece::Around(after.to_owned())]);
        }
        Self { at, pieces }
    }
}

/// How the names of formulas begin that carry conditions.
pub const CARRIER: &str = "quotient_condition_";

/// The name of the formula that carries a condition.
pub fn formula_name(number: usize) -> String {
    format!("{CARRIER}{number}")
}

/// The last occurrence of a word.
pub fn last_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let occurrences = text
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part));
    occurrences.last()
}
