//! `printf` and `printm`. They print in simulations and along a run, and nothing in a search, where only the evaluation
//! of their arguments matters: pan evaluates them as well, and an index out of range is an error there, too.

use quotient_ir::{PrintForm, PrintPiece, Span, Statement, StatementKind};

use super::emission::Emission;
use super::owner::{Context, Owner};
use super::program::walk;
use crate::syntax::tree::{Binary, Expression, ExpressionKind};

impl Emission<'_, '_> {
    /// The statements of `printf`.
    pub(super) fn print(
        &mut self,
        owner: &mut Owner,
        context: Context,
        format: &str,
        arguments: &[Expression],
        span: Span,
    ) -> Vec<Statement> {
        let mut statements = Vec::new();
        let mut pieces = Vec::new();
        let mut arguments = arguments.iter();
        let mut text = String::new();
        let mut characters = format.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => text.push_str(&escaped(characters.next())),
                '%' => match characters.next() {
                    Some(conversion @ ('d' | 'x' | 'o' | 'c' | 'e' | 'u')) => {
                        let Some(argument) = arguments.next() else {
                            text.extend(['%', conversion]);
                            continue;
                        };
                        pieces.push(PrintPiece::Text(std::mem::take(&mut text)));
                        pieces.push(self.printed(owner, context, conversion, argument, span, &mut statements));
                    }
                    Some('%') => text.push('%'),
                    Some(other) => text.extend(['%', other]),
                    None => text.push('%'),
                },
                other => text.push(other),
            }
        }
        pieces.push(PrintPiece::Text(text));
        pieces.retain(|piece| !matches!(piece, PrintPiece::Text(text) if text.is_empty()));
        statements.push(Statement { kind: StatementKind::Print(pieces), span });
        statements
    }

    /// An argument, and a statement that evaluates it if that may fail.
    fn printed(
        &mut self,
        owner: &mut Owner,
        context: Context,
        conversion: char,
        argument: &Expression,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> PrintPiece {
        let known = self.diagnostics.len();
        let Some(value) = self.numeric(owner, context, argument) else {
            // What the state does not have, such as `_last` in a model that only prints it, is not known here.
            let mut fresh = self.diagnostics.split_off(known);
            fresh.retain(|diagnostic| diagnostic.code == "unknown-name");
            self.diagnostics.extend(fresh);
            return PrintPiece::Text("?".into());
        };
        if may_fail(argument) {
            let condition = self.condition_of(value);
            let kind = StatementKind::If { branches: vec![(condition, Vec::new())], otherwise: Vec::new() };
            statements.push(Statement { kind, span });
        }
        let form = match conversion {
            'x' => PrintForm::Hexadecimal,
            'o' => PrintForm::Octal,
            'c' => PrintForm::Character,
            'u' => PrintForm::Unsigned,
            'e' => {
                let mut names: Vec<(i64, String)> =
                    self.message_names(self.subtype(context, argument)).into_iter().collect();
                names.sort();
                PrintForm::Named(names)
            }
            _ => PrintForm::Decimal,
        };
        PrintPiece::Value(value.expression, form)
    }

    /// The subtype of a variable of type `mtype`, if it is one.
    fn subtype(&self, context: Context, argument: &Expression) -> Option<&str> {
        let ExpressionKind::Reference(parts) = &argument.kind else { return None };
        let [part] = &parts[..] else { return None };
        let key = self.program.lookup(context.process, context.scope, &part.name.text)?;
        self.program.variable(key).subtype.as_deref()
    }
}

/// Whether the evaluation of an expression can be an error.
fn may_fail(expression: &Expression) -> bool {
    let mut may_fail = false;
    walk(expression, &mut |part| match &part.kind {
        ExpressionKind::Reference(parts) => may_fail |= parts.iter().any(|part| part.index.is_some()),
        ExpressionKind::RemoteVariable { .. } | ExpressionKind::AtLabel { .. } => may_fail = true,
        ExpressionKind::Binary(Binary::Divide | Binary::Remainder, ..) => may_fail = true,
        _ => {}
    });
    may_fail
}

/// What a character after a backslash prints.
fn escaped(character: Option<char>) -> String {
    match character {
        Some('n') => "\n".into(),
        Some('t') => "\t".into(),
        Some(itself @ ('\\' | '"' | '\'')) => itself.into(),
        Some(other) => format!("\\{other}"),
        None => "\\".into(),
    }
}
