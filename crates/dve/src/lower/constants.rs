//! The values of constant expressions: sizes, initial values and constants.

use std::rc::Rc;

use quotient_ir::Diagnostic;
use rustc_hash::FxHashMap;

use super::symbols::Variable;
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Unary};

/// The constants known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    values: FxHashMap<Rc<str>, Vec<i64>>,
}

impl Constants {
    /// Remembers a variable if it is a constant, and forgets another of its name.
    pub(super) fn learn(&mut self, variable: &Variable<'_>) {
        let name = variable.tree.name.text.clone();
        if variable.tree.is_constant {
            self.values.insert(name, variable.values.clone());
        } else {
            self.values.remove(&name);
        }
    }

    /// The value of an expression; if it has none, a message says why.
    pub(super) fn value(&self, expression: &Expression, diagnostics: &mut Vec<Diagnostic>) -> Option<i64> {
        match self.evaluate(expression) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                None
            }
        }
    }

    fn evaluate(&self, expression: &Expression) -> Result<i64, Box<Diagnostic>> {
        let problem = |code, message: String| Err(Box::new(Diagnostic::error(code, message, expression.span)));
        Ok(match &expression.kind {
            ExpressionKind::Number(value) => *value,
            ExpressionKind::Truth(value) => i64::from(*value),
            ExpressionKind::Variable { process: None, name, index } => {
                let Some(values) = self.values.get(&name.text) else {
                    let mut error = Diagnostic::error(
                        "not-constant",
                        format!("`{}` is not a constant declared before", name.text),
                        name.span,
                    );
                    let known = self.values.keys().map(|it| &**it);
                    error.help = quotient_kit::similar(&name.text, known).map(|it| format!("did you mean `{it}`?"));
                    return Err(Box::new(error));
                };
                let position = match index {
                    Some(index) => self.evaluate(index)?,
                    None => 0,
                };
                match usize::try_from(position).ok().and_then(|position| values.get(position)) {
                    Some(value) => *value,
                    None => return problem("index-out-of-range", format!("there is no element {position}")),
                }
            }
            ExpressionKind::Variable { .. } | ExpressionKind::InState { .. } => {
                return problem("not-constant", "this is not a constant".into());
            }
            ExpressionKind::Unary(operator, operand) => {
                let value = self.evaluate(operand)?;
                wrapped(match operator {
                    Unary::Not => i64::from(value == 0),
                    Unary::Negate => -value,
                    Unary::Complement => !value,
                })
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                match binary(*operator, left, right) {
                    Some(value) => value,
                    None => return problem("division-by-zero", "a division by zero has no value".into()),
                }
            }
        })
    }
}

/// The value of an operator on numbers of 32 bits; none for a division by zero.
pub(super) fn binary(operator: Binary, left: i64, right: i64) -> Option<i64> {
    // A shift by a negative number goes the other way.
    let shift = |count: i64| match count {
        0..=62 => (i128::from(left) << count) as i64,
        63.. => 0,
        -62..=-1 => left >> -count,
        _ => left >> 62,
    };
    let value = match operator {
        Binary::Imply => i64::from(left == 0 || right != 0),
        Binary::Or => i64::from(left != 0 || right != 0),
        Binary::And => i64::from(left != 0 && right != 0),
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::BitAnd => left & right,
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::Less => i64::from(left < right),
        Binary::LessOrEqual => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::GreaterOrEqual => i64::from(left >= right),
        Binary::ShiftLeft => shift(right),
        Binary::ShiftRight => shift(-right),
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left.checked_div(right)?,
        Binary::Remainder => left.checked_rem(right)?,
    };
    Some(wrapped(value))
}

/// The last 32 bits of a number, with a sign.
pub(super) fn wrapped(value: i64) -> i64 {
    i64::from(value as i32)
}
