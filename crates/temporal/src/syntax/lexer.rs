//! Tokens of a formula: operators of the logic, tokens of expressions, brackets. Brackets that do not match are reported
//! here and repaired, so that the parser sees balanced ones.

use super::vocabulary::{BRANCHING_WORDS, DOUBLE_ARROWS, Meaning, SINGLE_SYMBOLS, SYMBOLS, WORDS};
use super::{Dialect, Piece, Span, SyntaxError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An operator of the logic.
    Logic(Meaning),
    /// A token of an expression.
    Expression(Piece),
    /// An atom in delimiters.
    Atom,
    Open(char),
    Close(char),
    Colon,
    Assign,
    Do,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
    /// The number of the bracket that belongs to this one.
    pub(super) partner: usize,
}

/// The tokens of a text. Every bracket has a partner.
pub(super) fn tokens(text: &str, dialect: &Dialect<'_>, errors: &mut Vec<SyntaxError>) -> Vec<Token> {
    balance(scan(text, dialect, errors), text.len(), errors)
}

fn scan(text: &str, dialect: &Dialect<'_>, errors: &mut Vec<SyntaxError>) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("/*") {
            at = match rest.find("*/") {
                Some(end) => at + end + 2,
                None => {
                    errors.push(
                        SyntaxError::new("unclosed-comment", "the comment is never closed", Span::new(at, at + 2))
                            .with_help("write `*/` after the comment"),
                    );
                    text.len()
                }
            };
            continue;
        }
        if dialect.expressions.has_dash_comments() && rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let word = word_at(rest);
        if let Some(operators) = glued(word, dialect) {
            for (length, meaning) in operators {
                let (kind, span) = (TokenKind::Logic(meaning), Span::new(at, at + length));
                tokens.push(Token { kind, span, partner: 0 });
                at += length;
            }
            continue;
        }
        let after_path = matches!(tokens.last(), Some(Token { kind: TokenKind::Logic(Meaning::Path(_)), .. }));
        let (length, kind) = if after_path && first == '[' && !rest.starts_with("[]") {
            // `A[p U q]`, also where `[…]` is an atom.
            (1, Some(TokenKind::Open('[')))
        } else if first == ']' {
            (1, Some(TokenKind::Close(']')))
        } else {
            token(rest, first, at, dialect, errors)
        };
        if let Some(kind) = kind {
            tokens.push(Token { kind, span: Span::new(at, at + length), partner: 0 });
        }
        at += length;
    }
    tokens
}

/// The length and kind of the token at the beginning of a text; no kind if it was reported.
fn token(
    rest: &str,
    first: char,
    at: usize,
    dialect: &Dialect<'_>,
    errors: &mut Vec<SyntaxError>,
) -> (usize, Option<TokenKind>) {
    let name = word_at(rest);
    if !name.is_empty() {
        return (name.len(), Some(word(name, dialect)));
    }
    let symbol = SYMBOLS
        .iter()
        .chain(if dialect.single_symbols { SINGLE_SYMBOLS } else { &[] })
        .chain(if dialect.double_arrows { DOUBLE_ARROWS } else { &[] })
        .filter(|(symbol, _)| rest.starts_with(symbol))
        .max_by_key(|(symbol, _)| symbol.len());
    let piece = dialect.expressions.piece(rest).filter(|(length, _)| *length > 0 && rest.is_char_boundary(*length));
    match (symbol, piece) {
        (Some((symbol, meaning)), piece) if piece.is_none_or(|(length, _)| length <= symbol.len()) => {
            return (symbol.len(), Some(TokenKind::Logic(*meaning)));
        }
        (_, Some((length, piece))) => return (length, Some(TokenKind::Expression(piece))),
        _ => {}
    }
    match first {
        '{' | '[' if dialect.delimited => match delimited(rest) {
            Some(length) => (length, Some(TokenKind::Atom)),
            None => {
                let closing = if first == '{' { '}' } else { ']' };
                errors.push(
                    SyntaxError::new("unclosed", format!("`{first}` is never closed"), Span::new(at, at + 1))
                        .with_help(format!("write `{closing}` after the atom")),
                );
                (rest.len(), Some(TokenKind::Atom))
            }
        },
        '(' | '[' => (1, Some(TokenKind::Open(first))),
        ')' => (1, Some(TokenKind::Close(first))),
        ':' if rest.starts_with(":=") => (2, Some(TokenKind::Assign)),
        ':' => (1, Some(TokenKind::Colon)),
        '"' | '\'' => {
            let length = string(rest).unwrap_or_else(|| {
                let message = "the string is never closed";
                errors.push(SyntaxError::new("unclosed", message, Span::new(at, at + 1)));
                rest.len()
            });
            (length, Some(TokenKind::Expression(Piece::Operand)))
        }
        _ => {
            let length = first.len_utf8();
            let span = Span::new(at, at + length);
            let error = SyntaxError::new("unexpected-character", format!("unexpected `{first}` in a formula"), span);
            errors.push(match (first, rest.as_bytes().get(1)) {
                ('=', Some(b'>')) => error.with_help("implication is written `->`"),
                ('=', _) => error.with_help("equality is written `==`"),
                ('{', _) => error.with_help("conditions are written without braces here"),
                ('&', _) => error.with_help("conjunction is written `&&`"),
                ('|', _) => error.with_help("disjunction is written `||`"),
                ('~', _) => error.with_help("negation is written `!`"),
                _ => error,
            });
            match first {
                // What follows is read as its operand, and `=>` is one mistake.
                '=' => (if rest.starts_with("=>") { 2 } else { 1 }, Some(TokenKind::Expression(Piece::Infix))),
                _ => (length, None),
            }
        }
    }
}

/// The letters, digits and underscores at the beginning of a text.
fn word_at(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())]
}

/// The operators of a word such as `GF` or `AGEF`, with their lengths, where it cannot be a name: atoms have delimiters, or
/// the names of the model are known.
fn glued(word: &str, dialect: &Dialect<'_>) -> Option<Vec<(usize, Meaning)>> {
    let is_no_name = dialect.delimited || dialect.is_name.is_some_and(|is_name| !is_name(word));
    if word.len() < 2 || !is_no_name || BRANCHING_WORDS.iter().any(|(known, _)| *known == word) {
        return None;
    }
    let (mut operators, mut rest) = (Vec::new(), word);
    while let Some(letter) = rest.chars().next() {
        let found = match letter {
            'Y' | 'H' | 'O' if !dialect.delimited => None,
            'X' | 'F' | 'G' | 'Y' | 'H' | 'O' => {
                WORDS.iter().find(|(known, _)| known.len() == 1 && known.starts_with(letter))
            }
            'A' | 'E' if dialect.branching => {
                BRANCHING_WORDS.iter().find(|(known, _)| known.len() == 2 && rest.starts_with(known))
            }
            _ => None,
        };
        let (known, meaning) = found?;
        operators.push((known.len(), *meaning));
        rest = &rest[known.len()..];
    }
    Some(operators)
}

fn word(word: &str, dialect: &Dialect<'_>) -> TokenKind {
    let is_name = || !dialect.reserved.contains(&word) && dialect.is_name.is_some_and(|is_name| is_name(word));
    let operator = WORDS
        .iter()
        .chain(if dialect.branching { BRANCHING_WORDS } else { &[] })
        .find(|(operator, _)| *operator == word)
        .map(|(_, meaning)| TokenKind::Logic(*meaning));
    let keyword = match word {
        "do" => Some(TokenKind::Do),
        "end" | "endforall" | "endexists" => Some(TokenKind::End),
        _ => operator,
    };
    match keyword {
        Some(kind) if !is_name() => kind,
        _ => TokenKind::Expression(Piece::Operand),
    }
}

/// The length of a string or character in quotes.
fn string(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut escaped = false;
    for (offset, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return Some(offset + character.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The length of an atom in braces or brackets, which may contain balanced ones and strings.
fn delimited(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let mut skip = 0;
    for (offset, character) in text.char_indices() {
        if offset < skip {
            continue;
        }
        match character {
            '{' => open.push('}'),
            '[' => open.push(']'),
            '"' => skip = offset + string(&text[offset..])?,
            '}' | ']' if open.last() == Some(&character) => {
                open.pop();
                if open.is_empty() {
                    return Some(offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Gives every bracket its partner: drops closing ones without an opening one, and closes at the end what is open.
fn balance(tokens: Vec<Token>, length: usize, errors: &mut Vec<SyntaxError>) -> Vec<Token> {
    let mut balanced: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut open: Vec<usize> = Vec::new();
    let closing = |opening: char| if opening == '(' { ')' } else { ']' };
    let close = |balanced: &mut Vec<Token>, open: usize, kind: TokenKind, span: Span| {
        let here = balanced.len();
        balanced[open].partner = here;
        balanced.push(Token { kind, span, partner: open });
    };
    let unclosed = |opening: char, span: Span| {
        SyntaxError::new("unclosed", format!("`{opening}` is never closed"), span)
            .with_help(format!("write `{}` after what it encloses", closing(opening)))
    };
    for token in tokens {
        match token.kind {
            TokenKind::Open(_) => {
                open.push(balanced.len());
                balanced.push(token);
            }
            TokenKind::Close(found) => {
                let matching = open.iter().rposition(
                    |index| matches!(balanced[*index].kind, TokenKind::Open(opening) if closing(opening) == found),
                );
                match matching {
                    Some(matching) => {
                        while open.len() > matching + 1 {
                            let inner = open.pop().expect("there are more than the matching one");
                            let TokenKind::Open(opening) = balanced[inner].kind else { continue };
                            errors.push(
                                unclosed(opening, balanced[inner].span)
                                    .with_related(token.span, "this bracket closes an earlier one"),
                            );
                            close(&mut balanced, inner, TokenKind::Close(closing(opening)), token.span);
                        }
                        let outer = open.pop().expect("the matching one is there");
                        close(&mut balanced, outer, token.kind, token.span);
                    }
                    None => errors.push(
                        SyntaxError::new("unopened", format!("`{found}` closes nothing"), token.span).with_help(
                            format!(
                                "remove it, or write `{}` before what it closes",
                                if found == ')' { '(' } else { '[' }
                            ),
                        ),
                    ),
                }
            }
            _ => balanced.push(token),
        }
    }
    while let Some(inner) = open.pop() {
        let TokenKind::Open(opening) = balanced[inner].kind else { continue };
        errors.push(unclosed(opening, balanced[inner].span));
        close(&mut balanced, inner, TokenKind::Close(closing(opening)), Span::new(length, length));
    }
    balanced
}
