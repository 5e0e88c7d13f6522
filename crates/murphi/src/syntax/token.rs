//! The tokens of Murphi: their kinds, their keywords, and their names in messages.

use std::ops::Range;

use quotient_ir::Span;

/// A token and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// Declares the token kinds: keywords with their spelling; kinds recognised in the text, with their signs if any; and kinds
/// that only the lexer assigns.
macro_rules! token_kinds {
    ($($keyword:ident = $spelling:literal,)+ ; $($kind:ident = $shown:literal $([$($sign:literal),+])?,)+ ; $($other:ident = $name:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum TokenKind {
            $($keyword,)+
            $($kind,)+
            $($other,)+
        }

        impl TokenKind {
            /// The keyword spelt like this, in any case.
            pub(super) fn keyword(word: &str) -> Option<Self> {
                let mut lower = [0; LONGEST_KEYWORD];
                let lower = lower.get_mut(..word.len())?;
                lower.copy_from_slice(word.as_bytes());
                lower.make_ascii_lowercase();
                match std::str::from_utf8(lower).ok()? {
                    $($spelling => Some(Self::$keyword),)+
                    _ => None,
                }
            }

            /// The signs of all kinds that have some.
            const SIGNS: &[(&str, Self)] = &[$($($(($sign, Self::$kind),)+)?)+];

            /// The keywords as they are usually spelt.
            pub(super) const KEYWORDS: &[&str] = &[$($spelling),+];

            pub(super) fn is_keyword(self) -> bool {
                matches!(self, $(Self::$keyword)|+)
            }

            /// Its name in messages.
            pub(super) fn shown(self) -> &'static str {
                match self {
                    $(Self::$keyword => concat!("`", $spelling, "`"),)+
                    $(Self::$kind => $shown,)+
                    $(Self::$other => $name,)+
                }
            }
        }

        const LONGEST_KEYWORD: usize = {
            let lengths = [$($spelling.len()),+];
            let (mut longest, mut at) = (0, 0);
            while at < lengths.len() {
                longest = if lengths[at] > longest { lengths[at] } else { longest };
                at += 1;
            }
            longest
        };
    };
}

token_kinds! {
    Alias = "alias",
    Array = "array",
    Assert = "assert",
    Assume = "assume",
    Begin = "begin",
    Boolean = "boolean",
    By = "by",
    Case = "case",
    Clear = "clear",
    Const = "const",
    Cover = "cover",
    Do = "do",
    Else = "else",
    Elsif = "elsif",
    End = "end",
    EndAlias = "endalias",
    EndExists = "endexists",
    EndFor = "endfor",
    EndForall = "endforall",
    EndFunction = "endfunction",
    EndIf = "endif",
    EndProcedure = "endprocedure",
    EndRecord = "endrecord",
    EndRule = "endrule",
    EndRuleset = "endruleset",
    EndStartstate = "endstartstate",
    EndSwitch = "endswitch",
    EndWhile = "endwhile",
    Enum = "enum",
    Error = "error",
    Exists = "exists",
    For = "for",
    Forall = "forall",
    Function = "function",
    If = "if",
    Invariant = "invariant",
    IsUndefined = "isundefined",
    Liveness = "liveness",
    Of = "of",
    Procedure = "procedure",
    Put = "put",
    RealType = "real",
    Record = "record",
    Return = "return",
    Rule = "rule",
    Ruleset = "ruleset",
    Scalarset = "scalarset",
    Startstate = "startstate",
    Switch = "switch",
    Then = "then",
    To = "to",
    Type = "type",
    Undefine = "undefine",
    Union = "union",
    Var = "var",
    While = "while",
    ;
    Identifier = "a name",
    Number = "a number",
    RealNumber = "a real number",
    Text = "a string" ["\"", "“"],
    Comment = "a comment" ["/*"],
    Directive = "a directive",
    Quoted = "a string in single quotes",
    ForallSign = "`∀`" ["∀"],
    ExistsSign = "`∃`" ["∃"],
    Assign = "`:=`" [":=", "≔"],
    Arrow = "`==>`" ["==>", "⇒"],
    ShortArrow = "`=>`" ["=>"],
    Implies = "`->`" ["->", "→"],
    OrOr = "`||`" ["||", "∨"],
    AndAnd = "`&&`" ["&&", "∧"],
    Pipe = "`|`" ["|"],
    Caret = "`^`" ["^"],
    Ampersand = "`&`" ["&"],
    Not = "`!`" ["!", "¬"],
    Tilde = "`~`" ["~"],
    Equal = "`=`" ["="],
    DoubleEqual = "`==`" ["=="],
    NotEqual = "`!=`" ["!=", "≠"],
    Less = "`<`" ["<"],
    LessOrEqual = "`<=`" ["<=", "≤"],
    Greater = "`>`" [">"],
    GreaterOrEqual = "`>=`" [">=", "≥"],
    ShiftLeft = "`<<`" ["<<"],
    ShiftRight = "`>>`" [">>"],
    Plus = "`+`" ["+"],
    Minus = "`-`" ["-", "−"],
    Star = "`*`" ["*", "×"],
    Slash = "`/`" ["/", "÷", "∕"],
    Percent = "`%`" ["%"],
    Question = "`?`" ["?"],
    Colon = "`:`" [":"],
    Semicolon = "`;`" [";"],
    Comma = "`,`" [","],
    Dot = "`.`" ["."],
    DotDot = "`..`" [".."],
    LeftParenthesis = "`(`" ["("],
    RightParenthesis = "`)`" [")"],
    LeftBracket = "`[`" ["["],
    RightBracket = "`]`" ["]"],
    LeftBrace = "`{`" ["{"],
    RightBrace = "`}`" ["}"],
    ;
    // A string without its closing quote, taken up to the end of its line. The lexer reports it.
    BrokenText = "a string",
    // Characters that start no token. The lexer reports them.
    Unknown = "an unexpected character",
    EndOfFile = "the end of the file",
}

impl TokenKind {
    /// The next token at or after a position, skipping white space and line comments; `None` at the end of the text. Keywords
    /// are returned as names. A character that starts no token has no kind.
    pub(super) fn first(text: &str, from: usize) -> Option<(Option<Self>, Range<usize>)> {
        let start = from + skipped(&text[from..]);
        let rest = &text[start..];
        let (kind, length) = match rest.chars().next()? {
            'a'..='z' | 'A'..='Z' | '_' => {
                (Some(Self::Identifier), span_of(rest, |it| it.is_ascii_alphanumeric() || it == b'_'))
            }
            '0'..='9' | '.' => number(rest).unwrap_or_else(|| sign(rest)),
            '#' => (Some(Self::Directive), line_of(rest)),
            '\'' => match rest[1..].find(['\'', '\n']) {
                Some(length) if rest[1 + length..].starts_with('\'') => (Some(Self::Quoted), length + 2),
                _ => (None, 1),
            },
            _ => sign(rest),
        };
        Some((kind, start..start + length))
    }

    /// Whether it opens a section of declarations.
    pub(super) fn starts_declarations(self) -> bool {
        matches!(self, Self::Const | Self::Type | Self::Var)
    }

    /// Whether it occurs only at the top level, so that it ends any construct left open before it.
    pub(super) fn starts_top_level(self) -> bool {
        matches!(self, Self::Rule | Self::Ruleset | Self::Startstate | Self::Function | Self::Procedure)
    }

    /// Whether it is a property's category.
    pub(super) fn starts_property(self) -> bool {
        matches!(self, Self::Invariant | Self::Assert | Self::Assume | Self::Cover | Self::Liveness)
    }

    /// Whether it is a keyword that starts a statement.
    pub(super) fn starts_keyword_statement(self) -> bool {
        self.starts_property()
            || matches!(
                self,
                Self::Alias
                    | Self::Clear
                    | Self::Error
                    | Self::For
                    | Self::If
                    | Self::Put
                    | Self::Return
                    | Self::Switch
                    | Self::Undefine
                    | Self::While
            )
    }

    /// Whether an expression can start with it.
    pub(super) fn starts_expression(self) -> bool {
        matches!(
            self,
            Self::Identifier
                | Self::Number
                | Self::RealNumber
                | Self::Forall
                | Self::Exists
                | Self::IsUndefined
                | Self::Not
                | Self::Tilde
                | Self::Plus
                | Self::Minus
                | Self::LeftParenthesis
        )
    }

    /// Whether a type can start with it.
    pub(super) fn starts_type(self) -> bool {
        self.starts_expression()
            || matches!(
                self,
                Self::Boolean
                    | Self::Enum
                    | Self::Scalarset
                    | Self::Union
                    | Self::Array
                    | Self::Record
                    | Self::RealType
            )
    }

    /// Whether it closes a construct: `end` or one of its variants.
    pub(super) fn is_end(self) -> bool {
        matches!(
            self,
            Self::End
                | Self::EndAlias
                | Self::EndExists
                | Self::EndFor
                | Self::EndForall
                | Self::EndFunction
                | Self::EndIf
                | Self::EndProcedure
                | Self::EndRecord
                | Self::EndRule
                | Self::EndRuleset
                | Self::EndStartstate
                | Self::EndSwitch
                | Self::EndWhile
        )
    }
}

/// The length of leading white space and line comments.
fn skipped(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0C', '\x0B', '\u{FEFF}']);
        if !rest.starts_with("--") {
            return text.len() - rest.len();
        }
        rest = &rest[line_of(rest)..];
    }
}

/// The length of the rest of the line.
fn line_of(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The number of leading bytes that satisfy a condition.
fn span_of(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&byte| is(byte)).count()
}

/// The number that a text begins with: decimal, hexadecimal or real.
fn number(text: &str) -> Option<(Option<TokenKind>, usize)> {
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        let length = span_of(digits, |byte| byte.is_ascii_hexdigit());
        if length > 0 {
            return Some((Some(TokenKind::Number), 2 + length));
        }
    }
    let whole = span_of(text, |byte| byte.is_ascii_digit());
    let part = text[whole..].strip_prefix('.').map_or(0, |part| span_of(part, |byte| byte.is_ascii_digit()));
    match (whole, part) {
        (0, 0) => None,
        (_, 0) => Some((Some(TokenKind::Number), whole)),
        _ => Some((Some(TokenKind::RealNumber), whole + 1 + part)),
    }
}

/// The longest sign that a text begins with, or the length of its first character.
fn sign(text: &str) -> (Option<TokenKind>, usize) {
    let signs = TokenKind::SIGNS.iter().filter(|(sign, _)| text.starts_with(sign));
    match signs.max_by_key(|(sign, _)| sign.len()) {
        Some(&(sign, kind)) => (Some(kind), sign.len()),
        None => (None, text.chars().next().map_or(0, char::len_utf8)),
    }
}
