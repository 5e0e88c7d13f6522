//! The words and signs of the language.

use quotient_kit::tokens::Lexicon;

/// How a text is split into tokens.
pub(super) const LEXICON: Lexicon = Lexicon {
    language: "DVE",
    keywords: KEYWORDS,
    symbols: SYMBOLS,
    word_signs: b"_$",
    has_texts: false,
    skips_byte_order_marks: false,
};

/// Reserved words.
pub(crate) const KEYWORDS: &[&str] = &[
    "accept", "and", "assert", "async", "byte", "channel", "commit", "const", "effect", "false", "guard", "imply",
    "init", "int", "not", "or", "process", "property", "state", "sync", "system", "trans", "true",
];

/// Operators and brackets, longer ones first: the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "+=", "-=", "*=", "/=", "%=", ":=", "{", "}", "(", ")", "[",
    "]", ";", ",", ".", "?", "!", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", ":",
];
