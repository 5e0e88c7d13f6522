//! The formatter: indentation, spaces and blank lines. Line breaks are the author's, as are comments, strings and temporal
//! formulas. What it gives has the same tokens and comments as the text.

use quotient_ir::Diagnostic;

use super::lexer::{self, Strings};
use super::parser;
use super::token::{Token, TokenKind};

/// The width of one level.
const STEP: usize = 2;

/// A text formatted; `None` if it has syntax errors.
pub(crate) fn format(text: &str) -> Option<String> {
    let is_windows = text.contains("\r\n");
    let text = text.replace("\r\n", "\n");
    let pieces = pieces(&text)?;
    let mut formatted = layout(&pieces);
    debug_assert!(same_pieces(&pieces, &formatted), "a formatted text has the same tokens and comments");
    if !same_pieces(&pieces, &formatted) {
        return None;
    }
    if is_windows {
        formatted = formatted.replace('\n', "\r\n");
    }
    Some(formatted)
}

/// A part of a text that stays as it is.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    kind: PieceKind,
    text: &'a str,
    /// How many line breaks are before it.
    breaks: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    Token(TokenKind),
    /// A comment to the end of the line, or a line for a preprocessor.
    LineComment,
    BlockComment,
    Formula,
}

/// The tokens and comments of a text; `None` if it has syntax errors.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let (tokens, errors) = lexer::tokenize(text, Strings::OverLines)?;
    let parser::Output { errors: about_syntax, formulas, .. } = parser::parse(text, tokens.clone());
    let is_in =
        |token: &Token, formula: &quotient_ir::Span| formula.start <= token.span.start && token.span.end <= formula.end;
    let in_formula = |error: &Diagnostic| {
        let place = error.primary.as_ref().map(|label| label.span);
        place.is_some_and(|place| formulas.iter().any(|it| it.start <= place.start && place.end <= it.end))
    };
    if !about_syntax.is_empty() || errors.iter().any(|error| !in_formula(error)) {
        return None;
    }
    let mut pieces = Vec::new();
    let mut end = 0;
    for token in &tokens {
        if let Some(formula) = formulas.iter().find(|formula| is_in(token, formula)) {
            if (formula.start as usize) < end {
                continue;
            }
            let breaks = gap(&text[end..formula.start as usize], &mut pieces);
            let text = text[formula.range()].trim_end();
            pieces.push(Piece { kind: PieceKind::Formula, text, breaks });
            end = formula.start as usize + text.len();
            continue;
        }
        if (token.span.start as usize) < end {
            continue;
        }
        let breaks = gap(&text[end..token.span.start as usize], &mut pieces);
        end = token.span.end as usize;
        if token.kind != TokenKind::EndOfFile {
            pieces.push(Piece { kind: PieceKind::Token(token.kind), text: &text[token.span.range()], breaks });
        }
    }
    Some(pieces)
}

/// Adds the comments between two tokens, and gives the line breaks behind the last of them.
fn gap<'a>(text: &'a str, pieces: &mut Vec<Piece<'a>>) -> usize {
    let mut breaks = 0;
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\u{c}', '\u{b}', '\u{feff}']);
        let Some(first) = trimmed.chars().next() else { return breaks };
        let (kind, length) = match first {
            '\n' => {
                breaks += 1;
                rest = &trimmed[1..];
                continue;
            }
            '/' => (PieceKind::BlockComment, trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)),
            _ => (PieceKind::LineComment, trimmed.find('\n').unwrap_or(trimmed.len())),
        };
        pieces.push(Piece { kind, text: trimmed[..length].trim_end(), breaks });
        breaks = 0;
        rest = &trimmed[length..];
    }
}

fn same_pieces(pieces: &[Piece<'_>], formatted: &str) -> bool {
    let Some(others) = self::pieces(formatted) else { return false };
    let same = |one: &Piece<'_>, other: &Piece<'_>| one.kind == other.kind && one.text == other.text;
    pieces.len() == others.len() && pieces.iter().zip(&others).all(|(one, other)| same(one, other))
}

/// What is open at some place.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: FrameKind,
    /// The level of the line that opens it.
    level: usize,
    /// The level of the section of declarations in it, if there is one.
    section: Option<usize>,
    /// Whether a statement, declaration or rule has begun and not ended, and the level of its first line.
    statement: Option<usize>,
    /// How many conditional expressions wait for their colon.
    questions: usize,
    /// Whether its body has begun.
    in_body: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    File,
    /// What `end` closes.
    Construct(TokenKind),
    /// A bracket.
    Bracket,
}

impl Frame {
    fn new(kind: FrameKind, level: usize) -> Self {
        Self { kind, level, section: None, statement: None, questions: 0, in_body: false }
    }

    fn is_switch(&self) -> bool {
        self.kind == FrameKind::Construct(TokenKind::Switch)
    }

    /// The level of what begins in it.
    fn inner(&self) -> usize {
        match self.kind {
            FrameKind::File => 0,
            FrameKind::Construct(_) if self.is_switch() => self.level + 2,
            FrameKind::Construct(_) | FrameKind::Bracket => self.level + 1,
        }
    }
}

fn layout(pieces: &[Piece<'_>]) -> String {
    let mut output = String::new();
    let mut frames = vec![Frame::new(FrameKind::File, 0)];
    let mut line_level = 0;
    for (position, piece) in pieces.iter().enumerate() {
        let before = position.checked_sub(1).map(|position| pieces[position]);
        let next = pieces[position + 1..].iter().find(|it| matches!(it.kind, PieceKind::Token(_)));
        let starts_line = piece.breaks > 0 || before.is_none_or(|it| it.kind == PieceKind::LineComment);
        if starts_line {
            if !output.is_empty() {
                output.push('\n');
                if piece.breaks > 1 {
                    output.push('\n');
                }
            }
            line_level = level_of(piece, next, &frames);
            output.extend(std::iter::repeat_n(' ', line_level * STEP));
        } else if let Some(before) = before
            && is_spaced(pieces, position, before, &frames)
        {
            output.push(' ');
        }
        output.push_str(piece.text);
        follow(piece, next, &mut frames, line_level);
    }
    if !output.is_empty() {
        output.push('\n');
    }
    output
}

/// What a token opens, if it opens something that `end` closes.
fn opened(kind: TokenKind, text: &str, next: Option<&Piece<'_>>) -> Option<TokenKind> {
    use TokenKind::{
        Alias, Exists, For, Forall, Function, Identifier, If, Procedure, Record, Rule, Ruleset, Startstate, Switch,
        While,
    };
    let is_choose = kind == Identifier
        && text.eq_ignore_ascii_case("choose")
        && next.is_some_and(|next| next.kind == PieceKind::Token(Identifier));
    match kind {
        Alias | Exists | For | Forall | Function | If | Procedure | Record | Rule | Ruleset | Startstate | Switch
        | While => Some(kind),
        _ => is_choose.then_some(Ruleset),
    }
}

fn closes(kind: TokenKind, text: &str) -> bool {
    kind.is_end() || kind == TokenKind::Identifier && text.eq_ignore_ascii_case("endchoose")
}

/// The level of a line that begins with a piece.
fn level_of(piece: &Piece<'_>, next: Option<&Piece<'_>>, frames: &[Frame]) -> usize {
    let frame = frames.last().expect("the file is never closed");
    let PieceKind::Token(kind) = piece.kind else {
        // A comment belongs to what follows it.
        return match next {
            Some(next) if piece.kind != PieceKind::Formula => level_of(next, None, frames),
            _ => continued(frame),
        };
    };
    let is_closing_bracket =
        matches!(kind, TokenKind::RightParenthesis | TokenKind::RightBracket | TokenKind::RightBrace);
    if is_closing_bracket || closes(kind, piece.text) {
        return if frame.kind == FrameKind::File { 0 } else { frame.level };
    }
    if frame.is_switch() && matches!(kind, TokenKind::Case | TokenKind::Else) {
        return frame.level + 1;
    }
    let is_part = matches!(
        kind,
        TokenKind::Begin | TokenKind::Do | TokenKind::Then | TokenKind::Else | TokenKind::Elsif | TokenKind::Arrow
    );
    if is_part && matches!(frame.kind, FrameKind::Construct(_)) {
        return frame.level;
    }
    if kind.starts_declarations() && frame.statement.is_none() && frame.kind != FrameKind::Bracket {
        return if frame.kind == FrameKind::File { 0 } else { frame.level };
    }
    if frame.kind == FrameKind::File && begins_item(kind) {
        return 0;
    }
    continued(frame)
}

/// Whether a token begins a rule, function or property, which ends a section of declarations.
fn begins_item(kind: TokenKind) -> bool {
    kind.starts_top_level() || kind.starts_property() || kind == TokenKind::Alias
}

/// The level of a line that continues what is open, or begins something in it.
fn continued(frame: &Frame) -> usize {
    match (frame.statement, frame.section) {
        (Some(level), _) => level + 1,
        (None, Some(section)) => section + 1,
        (None, None) => frame.inner(),
    }
}

/// What is open behind a piece.
fn follow(piece: &Piece<'_>, next: Option<&Piece<'_>>, frames: &mut Vec<Frame>, line_level: usize) {
    let kind = match piece.kind {
        PieceKind::Token(kind) => kind,
        PieceKind::Formula => TokenKind::Identifier,
        PieceKind::LineComment | PieceKind::BlockComment => return,
    };
    if closes(kind, piece.text) {
        if frames.len() > 1 {
            frames.pop();
        }
        return;
    }
    let frame = frames.last_mut().expect("the file is never closed");
    let is_construct = matches!(frame.kind, FrameKind::Construct(_));
    match kind {
        TokenKind::RightParenthesis | TokenKind::RightBracket | TokenKind::RightBrace => {
            if frames.len() > 1 {
                frames.pop();
            }
            return;
        }
        TokenKind::Semicolon => {
            frame.statement = None;
            frame.questions = 0;
            return;
        }
        TokenKind::Begin | TokenKind::Do | TokenKind::Then | TokenKind::Else | TokenKind::Arrow if is_construct => {
            frame.in_body = true;
            frame.section = None;
            frame.statement = None;
            return;
        }
        TokenKind::Elsif if is_construct => {
            frame.in_body = false;
            frame.statement = None;
            return;
        }
        TokenKind::Case if frame.is_switch() => {
            frame.in_body = false;
            frame.statement = Some(frame.level + 1);
            return;
        }
        TokenKind::Colon if frame.is_switch() && !frame.in_body && frame.questions == 0 => {
            frame.in_body = true;
            frame.statement = None;
            return;
        }
        TokenKind::Question => frame.questions += 1,
        TokenKind::Colon => frame.questions = frame.questions.saturating_sub(1),
        _ => {}
    }
    if kind.starts_declarations() && frame.statement.is_none() && frame.kind != FrameKind::Bracket {
        frame.section = Some(if frame.kind == FrameKind::File { 0 } else { frame.level });
        return;
    }
    if frame.kind == FrameKind::File && begins_item(kind) {
        frame.section = None;
    }
    // A header is continued one level deeper by itself.
    let is_header = is_construct && !frame.in_body && frame.section.is_none() && !is_record(frame);
    if frame.statement.is_none() && frame.kind != FrameKind::Bracket && !is_header {
        frame.statement = Some(line_level);
    }
    let bracket = matches!(kind, TokenKind::LeftParenthesis | TokenKind::LeftBracket | TokenKind::LeftBrace);
    if bracket {
        frames.push(Frame::new(FrameKind::Bracket, line_level));
    } else if let Some(construct) = opened(kind, piece.text, next) {
        frames.push(Frame::new(FrameKind::Construct(construct), line_level));
    }
}

fn is_record(frame: &Frame) -> bool {
    frame.kind == FrameKind::Construct(TokenKind::Record)
}

/// Whether there is a space between a piece and the one before it on the same line.
fn is_spaced(pieces: &[Piece<'_>], position: usize, before: Piece<'_>, frames: &[Frame]) -> bool {
    use TokenKind::{
        Array, Colon, Comma, Dot, DotDot, Identifier, IsUndefined, LeftBrace, LeftBracket, LeftParenthesis, Minus, Not,
        Plus, RightBrace, RightBracket, RightParenthesis, Scalarset, Semicolon, Tilde,
    };
    let (PieceKind::Token(left), PieceKind::Token(right)) = (before.kind, pieces[position].kind) else {
        return !matches!(pieces[position].kind, PieceKind::Token(Semicolon));
    };
    match (left, right) {
        (_, Semicolon | Comma | RightParenthesis | RightBracket | RightBrace) => false,
        (LeftParenthesis | LeftBracket | LeftBrace, _) => false,
        (Dot | DotDot, _) | (_, Dot | DotDot) => false,
        (_, Colon) => frames.last().is_some_and(|frame| frame.questions > 0),
        (Not | Tilde, _) => false,
        (Plus | Minus, _) => position.checked_sub(2).is_some_and(|earlier| is_operand(&pieces[earlier])),
        (Identifier | Scalarset | IsUndefined, LeftParenthesis) => false,
        (Array, LeftBracket) => true,
        (Identifier | RightBracket | RightParenthesis, LeftBracket) => is_multiset(&before),
        _ => true,
    }
}

/// Whether a piece ends an operand, so that a sign behind it has two operands.
fn is_operand(piece: &Piece<'_>) -> bool {
    matches!(
        piece.kind,
        PieceKind::Token(
            TokenKind::Identifier
                | TokenKind::Number
                | TokenKind::RealNumber
                | TokenKind::RightParenthesis
                | TokenKind::RightBracket
        )
    ) || matches!(piece.kind, PieceKind::Token(kind) if kind.is_end())
}

/// `multiset [n] of T` is written like an array.
fn is_multiset(piece: &Piece<'_>) -> bool {
    piece.text.eq_ignore_ascii_case("multiset")
}
