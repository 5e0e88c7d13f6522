//! The tokens of Murphi: their kinds, their keywords, and their names in messages.

use logos::Logos;
use quotient_ir::Span;

/// A token and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// Declares the token kinds: keywords with their spelling, then those that the lexer recognises itself.
macro_rules! token_kinds {
    ($($keyword:ident = $spelling:literal,)+ ; $($(#[$attribute:meta])+ $kind:ident = $shown:literal,)+ ; $($other:ident = $name:literal,)+) => {
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
        #[logos(skip r"[ \t\r\n\f\x0B\u{FEFF}]+")]
        #[logos(skip(r"--[^\n]*", allow_greedy = true))]
        pub(super) enum TokenKind {
            $($keyword,)+
            $($(#[$attribute])+ $kind,)+
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
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Identifier = "a name",
    #[regex("0[xX][0-9a-fA-F]+")]
    #[regex("[0-9]+")]
    Number = "a number",
    #[regex(r"[0-9]*\.[0-9]+")]
    RealNumber = "a real number",
    #[token("\"")]
    #[token("“")]
    Text = "a string",
    #[token("/*")]
    Comment = "a comment",
    #[regex("#[^\n]*", allow_greedy = true)]
    Directive = "a directive",
    #[regex("'[^'\n]*'")]
    Quoted = "a string in single quotes",
    #[token("∀")]
    ForallSign = "`∀`",
    #[token("∃")]
    ExistsSign = "`∃`",
    #[token(":=")]
    #[token("≔")]
    Assign = "`:=`",
    #[token("==>")]
    #[token("⇒")]
    Arrow = "`==>`",
    #[token("=>")]
    ShortArrow = "`=>`",
    #[token("->")]
    #[token("→")]
    Implies = "`->`",
    #[token("||")]
    #[token("∨")]
    OrOr = "`||`",
    #[token("&&")]
    #[token("∧")]
    AndAnd = "`&&`",
    #[token("|")]
    Pipe = "`|`",
    #[token("^")]
    Caret = "`^`",
    #[token("&")]
    Ampersand = "`&`",
    #[token("!")]
    #[token("¬")]
    Not = "`!`",
    #[token("~")]
    Tilde = "`~`",
    #[token("=")]
    Equal = "`=`",
    #[token("==")]
    DoubleEqual = "`==`",
    #[token("!=")]
    #[token("≠")]
    NotEqual = "`!=`",
    #[token("<")]
    Less = "`<`",
    #[token("<=")]
    #[token("≤")]
    LessOrEqual = "`<=`",
    #[token(">")]
    Greater = "`>`",
    #[token(">=")]
    #[token("≥")]
    GreaterOrEqual = "`>=`",
    #[token("<<")]
    ShiftLeft = "`<<`",
    #[token(">>")]
    ShiftRight = "`>>`",
    #[token("+")]
    Plus = "`+`",
    #[token("-")]
    #[token("−")]
    Minus = "`-`",
    #[token("*")]
    #[token("×")]
    Star = "`*`",
    #[token("/")]
    #[token("÷")]
    #[token("∕")]
    Slash = "`/`",
    #[token("%")]
    Percent = "`%`",
    #[token("?")]
    Question = "`?`",
    #[token(":")]
    Colon = "`:`",
    #[token(";")]
    Semicolon = "`;`",
    #[token(",")]
    Comma = "`,`",
    #[token(".")]
    Dot = "`.`",
    #[token("..")]
    DotDot = "`..`",
    #[token("(")]
    LeftParenthesis = "`(`",
    #[token(")")]
    RightParenthesis = "`)`",
    #[token("[")]
    LeftBracket = "`[`",
    #[token("]")]
    RightBracket = "`]`",
    #[token("{")]
    LeftBrace = "`{`",
    #[token("}")]
    RightBrace = "`}`",
    ;
    // A string without its closing quote, taken up to the end of its line. The lexer reports it.
    BrokenText = "a string",
    // Characters that start no token. The lexer reports them.
    Unknown = "an unexpected character",
    EndOfFile = "the end of the file",
}

impl TokenKind {
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
