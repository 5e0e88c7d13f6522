//! Hints for the probable cause of a syntax error: typing mistakes, and words of other languages.

use super::Parser;
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    /// A hint for an error at the current token, whatever was expected there.
    pub(super) fn hint(&self) -> Option<String> {
        let token = self.token(0);
        let previous = self.position.checked_sub(1).map(|at| self.tokens[at]);
        let adjacent = previous.is_some_and(|it| it.span.end == token.span.start);
        let previous = previous.map(|it| it.kind);
        let hint = match (previous, token.kind) {
            (_, TokenKind::ShortArrow) => "a guard ends with `==>`, an implication is written `->`, a comparison `>=`",
            (_, TokenKind::Assign) => "`:=` assigns; a comparison is written `=`",
            (_, TokenKind::Arrow) => "`==>` ends the guard of a rule; an implication is written `->`",
            (_, TokenKind::RealNumber | TokenKind::RealType) => "real types are not supported",
            (Some(TokenKind::Less), TokenKind::Greater) if adjacent => "different from is written `!=`",
            (Some(TokenKind::Equal), TokenKind::Less) if adjacent => "at most is written `<=`",
            (Some(TokenKind::Not), TokenKind::DoubleEqual) if adjacent => "different from is written `!=`",
            (Some(TokenKind::Implies), TokenKind::Begin) => "a guard ends with `==>`",
            (_, TokenKind::LeftBrace) => {
                "braces hold the members of an `enum` or `union`; statements stand between `begin` and `end`"
            }
            (_, TokenKind::Identifier) => return self.foreign_word(),
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// A word that means something in other languages.
    fn foreign_word(&self) -> Option<String> {
        let word = self.slice(self.span()).to_ascii_lowercase();
        let ours = match word.as_str() {
            "and" => "`&`",
            "or" => "`|`",
            "not" => "`!`",
            "xor" => "`^`",
            "mod" => "`%`",
            "div" => "`/`",
            "elseif" | "elif" | "elsif" => "`elsif`",
            "constant" | "constants" => "`const`",
            "types" => "`type`",
            "variable" | "variables" => "`var`",
            "bool" => "`boolean`",
            "proc" => "`procedure`",
            "func" => "`function`",
            "start" | "init" => "`startstate`",
            "endchoose" => "`end`",
            _ => return None,
        };
        Some(format!("`{word}` is written {ours} in Murphi"))
    }
}
