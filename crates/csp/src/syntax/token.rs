//! The words and signs of the language.

use quotient_kit::tokens::Lexicon;

/// How a text is split into tokens.
pub(super) const LEXICON: Lexicon = Lexicon {
    language: "CSP#",
    keywords: KEYWORDS,
    symbols: SYMBOLS,
    word_signs: b"_",
    has_texts: true,
    skips_byte_order_marks: true,
};

/// Reserved words. Words that only occur behind `#` or in assertions are names elsewhere.
pub(crate) const KEYWORDS: &[&str] = &[
    "Skip",
    "Stop",
    "atomic",
    "case",
    "channel",
    "default",
    "else",
    "enum",
    "false",
    "hvar",
    "if",
    "ifa",
    "ifb",
    "interrupt",
    "tau",
    "true",
    "var",
    "while",
];

/// Operators and brackets, longer ones first: the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "<->", "|||", "[*]", "->", "==", "!=", "<=", ">=", "<>", "&&", "||", "|=", "++", "--", "+=", "-=", "*=", "/=",
    "%=", "..", "/\\", "\\/", "[]", "{", "}", "(", ")", "[", "]", ";", ",", ".", "?", "!", "=", "<", ">", "+", "-",
    "*", "/", "%", "&", "|", "^", "~", ":", "\\", "#", "@", "$",
];
