//! Constants: their declarations, their values, and overriding values from the user.

use quotient_ir::{Diagnostic, Model, Span, TypeId, TypeKind};
use quotient_kit::LoadOptions;

use super::super::syntax::tree::{Expr, Name};
use super::Lowering;
use super::operands::{Constancy, Failure, Form, Operand};
use super::scopes::{Meaning, nearest};

/// The values set from outside, and which of them found their constant.
#[derive(Debug)]
pub(super) struct Overrides {
    entries: Vec<Override>,
    /// The names of the constants at the top level.
    known: Vec<String>,
}

#[derive(Debug)]
struct Override {
    name: String,
    value: String,
    used: bool,
}

impl Overrides {
    pub(super) fn new(options: &LoadOptions) -> Self {
        let entry = |(name, value): &(String, String)| Override {
            name: name.trim().into(),
            value: value.trim().into(),
            used: false,
        };
        Self { entries: options.constants.iter().map(entry).collect(), known: Vec::new() }
    }

    /// The value set for a constant; the last one counts.
    fn take(&mut self, name: &str) -> Option<String> {
        self.known.push(name.into());
        let mut value = None;
        for entry in self.entries.iter_mut().filter(|entry| entry.name == name) {
            entry.used = true;
            value = Some(entry.value.clone());
        }
        value
    }
}

impl Lowering<'_> {
    /// A constant; at the top level its value may be set from outside.
    pub(super) fn constant_declaration(&mut self, name: &Name, value: &Expr, at_top_level: bool) {
        let new_value = if at_top_level { self.overrides.take(&name.text) } else { None };
        let operand = self.in_pure_context("in a constant", |this| this.expression(value));
        let Some(ty) = operand.ty else {
            self.declare(name, Meaning::Unknown);
            return;
        };
        if !self.model.is_scalar(ty) {
            let message = format!("{} cannot be the type of a constant", self.type_text(ty));
            self.report(Diagnostic::error("not-constant", message, value.span));
            self.declare(name, Meaning::Unknown);
            return;
        }
        let ty = if self.is_integer(ty) { Model::INTEGER } else { ty };
        let known = self.known_value(&operand, "the value of a constant");
        let known = match new_value {
            Some(text) => self.override_value(name, ty, &text),
            None => known,
        };
        let meaning = match known {
            Some(known) => Meaning::named(self.constant_operand(known, ty, name.span), "constant"),
            None => Meaning::Unknown,
        };
        self.declare(name, meaning);
    }

    fn override_value(&mut self, name: &Name, ty: TypeId, text: &str) -> Option<i64> {
        let (value, expected) = match &self.model.types[ty].kind {
            TypeKind::Boolean => {
                let known = [("false", 0), ("true", 1)].into_iter().find(|(it, _)| it.eq_ignore_ascii_case(text));
                (known.map(|(_, value)| value), "`true` or `false`".into())
            }
            TypeKind::Enumeration { first, members } => {
                let known = (*first..).zip(members).find(|(_, member)| *member == text);
                (known.map(|(value, _)| value), format!("one of {}", Self::listed(members)))
            }
            _ => (text.parse::<i64>().ok(), "an integer of at most 64 bits".into()),
        };
        if value.is_none() {
            let message = format!("`{text}` is not a value for the constant `{}`", name.text);
            let error = Diagnostic::error("bad-constant-value", message, name.span)
                .with_label("declared here")
                .with_help(format!("its value must be {expected}"));
            self.report(error);
        }
        value
    }

    /// Complains about values set for constants that do not exist.
    pub(super) fn report_unused_overrides(&mut self) {
        let mut complaints = Vec::new();
        for entry in self.overrides.entries.iter().filter(|entry| !entry.used) {
            let message = format!("the model has no constant `{}` to set", entry.name);
            let error = Diagnostic { primary: None, ..Diagnostic::error("unknown-constant", message, Span::default()) };
            let help = if let Some(name) = nearest(&entry.name, self.overrides.known.iter().map(String::as_str)) {
                format!("did you mean `{name}`?")
            } else if let Some(symbol) = self.scopes.find(&entry.name) {
                format!("`{}` is a {}; only constants of the top level can be set", entry.name, symbol.meaning.noun())
            } else if self.overrides.known.is_empty() {
                "it has no constants at all".into()
            } else {
                format!("its constants are {}", Self::listed(&self.overrides.known))
            };
            complaints.push(error.with_help(help));
        }
        self.diagnostics.extend(complaints);
    }

    /// The value of a constant integer expression.
    pub(super) fn constant_integer(&mut self, expression: &Expr, what: &str) -> Option<i64> {
        let operand = self.in_pure_context("in a constant", |this| this.expression(expression));
        let ty = operand.ty?;
        if !self.is_integer(ty) {
            let message = format!("{what} must be an integer");
            let error = Diagnostic::error("not-an-integer", message, expression.span)
                .with_label(format!("this is of type {}", self.type_text(ty)));
            self.report(error);
            return None;
        }
        self.known_value(&operand, what)
    }

    /// The value of an operand where only a constant will do.
    pub(super) fn known_value(&mut self, operand: &Operand, what: &str) -> Option<i64> {
        if operand.form == Form::Nothing {
            return None;
        }
        let error = match operand.constancy {
            Constancy::Known(value) => return Some(value),
            Constancy::Varies(span) => Diagnostic::error("not-constant", format!("{what} must be constant"), span)
                .with_label("this is known only when the model runs"),
            Constancy::Fails(span, Failure::Overflow) => {
                Diagnostic::error("constant-overflow", format!("{what} is too large"), span)
                    .with_label("this does not fit into 64 bits")
            }
            Constancy::Fails(span, Failure::DivisionByZero) => {
                Diagnostic::error("division-by-zero", format!("{what} cannot be computed"), span)
                    .with_label("this divides by zero")
            }
        };
        self.report(error);
        None
    }
}
