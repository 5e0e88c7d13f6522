//! The classes of answers a checker can give about a model: the words in which checkers are
//! compared with each other and with recorded expectations.

use std::fmt;

/// What a checker says about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerdictClass {
    /// Every property holds.
    Holds,
    /// An invariant is violated.
    Invariant,
    /// An assertion statement fails.
    Assertion,
    /// An error statement is reached.
    ErrorStatement,
    /// There is no way on from a state.
    Deadlock,
    /// A cover property is never reached.
    Cover,
    /// A liveness property cannot be reached again.
    Liveness,
    /// An undefined value is read.
    UndefinedRead,
    /// Any other fault of the model: a value or index out of range, division by zero, overflow, a
    /// loop with a wrong step, a missing return.
    Range,
    /// The model is refused before anything runs.
    Rejected,
    /// The search did not finish.
    Inconclusive,
}

impl VerdictClass {
    /// All classes with the words that stand for them in recorded results.
    const WORDS: [(Self, &'static str); 11] = [
        (Self::Holds, "ok"),
        (Self::Invariant, "invariant"),
        (Self::Assertion, "assertion"),
        (Self::ErrorStatement, "error-stmt"),
        (Self::Deadlock, "deadlock"),
        (Self::Cover, "cover"),
        (Self::Liveness, "liveness"),
        (Self::UndefinedRead, "undefined-read"),
        (Self::Range, "range"),
        (Self::Rejected, "noparse"),
        (Self::Inconclusive, "inconclusive"),
    ];

    /// The word for this class in recorded results.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(class, _)| *class == self).expect("every class has a word").1
    }

    /// The class a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(class, _)| *class)
    }
}

impl fmt::Display for VerdictClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}
