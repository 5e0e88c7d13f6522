//! Messages that several modules need: unknown names, incompatible types, operands that cannot be written to.

use quotient_ir::{Diagnostic, Model, Span, TypeId, TypeKind};

use super::super::syntax::tree::Name;
use super::Lowering;
use super::operands::{Access, Constancy, Operand};
use super::scopes::{Meaning, nearest};
use super::types::Fit;

impl Lowering<'_> {
    /// Adds where a name is declared, unless it is built in.
    pub(super) fn with_declaration(error: Diagnostic, declared: Span) -> Diagnostic {
        if declared == Span::default() { error } else { error.with_secondary(declared, "declared here") }
    }

    /// Reports an undeclared name, with the nearest suitable one.
    pub(super) fn report_unknown(
        &mut self,
        code: &'static str,
        noun: &str,
        name: &Name,
        wanted: impl Fn(&Meaning) -> bool,
    ) {
        if self.is_silent() {
            return;
        }
        let error = Diagnostic::error(code, format!("there is no {noun} `{}` here", name.text), name.span);
        let error = if let Some(&later) = self.top_level_names.get(name.text.as_str()) {
            if later.start > name.span.start {
                error
                    .with_label("not declared yet")
                    .with_secondary(later, "declared only here")
                    .with_help("a name can be used only after its declaration; move that up")
            } else {
                error.with_label("used in its own declaration").with_secondary(later, "being declared here")
            }
        } else {
            let error = error.with_label("not declared");
            let mut compared = 0;
            let candidates = self.scopes.names(wanted).take(self.comparisons_left).inspect(|_| compared += 1);
            let known = nearest(&name.text, candidates);
            self.comparisons_left -= compared;
            match known {
                Some(known) => error.with_help(format!("did you mean `{known}`?")),
                None => error,
            }
        };
        self.report(error);
    }

    /// Checks that an operand has the expected type, as `what` ("the value assigned", …). Nothing is reported if either
    /// is unknown.
    pub(super) fn expect_fit(&mut self, expected: Option<TypeId>, operand: &Operand, what: &str) -> bool {
        let (Some(expected), Some(found)) = (expected, operand.ty) else { return false };
        match self.fit(expected, found) {
            Fit::Yes => true,
            Fit::MixedScalarsets => {
                self.warn_mixed(expected, found, operand.span);
                true
            }
            Fit::No => {
                let error = self.mismatch(expected, operand, what);
                self.report(error);
                false
            }
        }
    }

    /// Warns about two separately declared scalarsets that are used as one.
    pub(super) fn warn_mixed(&mut self, left: TypeId, right: TypeId, span: Span) {
        let texts = [self.type_text(left), self.type_text(right)];
        let warning = Diagnostic::warning("mixed-scalarsets", "two scalarsets are used as if they were one", span)
            .with_label(format!("{} and {} meet here", texts[0], texts[1]))
            .with_help("their values are different things that happen to be equally many; declare one scalarset type and use it for both");
        self.report(warning);
    }

    /// The message for an operand that does not have the expected type.
    pub(super) fn mismatch(&self, expected: TypeId, operand: &Operand, what: &str) -> Diagnostic {
        let found = operand.ty.expect("only operands with a type are compared");
        let (expected_text, found_text) = (self.type_text(expected), self.type_text(found));
        let error = |code, message: String| Diagnostic::error(code, message, operand.span);
        let general = || {
            let label = format!("this is {}", self.of_type(found));
            error("type-mismatch", format!("{what} must be of type {expected_text}")).with_label(label)
        };
        match (&self.model.types[expected].kind, &self.model.types[found].kind) {
            (TypeKind::Scalarset { .. }, TypeKind::Integer | TypeKind::Range { .. }) => {
                error("scalarset-from-number", format!("a number cannot stand for a value of scalarset {expected_text}"))
                    .with_label(format!("this is {found_text}"))
                    .with_help("the values of a scalarset are interchangeable and have no numbers: take one from a ruleset parameter, a quantifier or another variable")
            }
            (TypeKind::Scalarset { .. }, TypeKind::Scalarset { .. }) => {
                error("scalarset-mismatch", format!("a value of scalarset {found_text} is not one of {expected_text}"))
                    .with_label(format!("{what} must be of type {expected_text}"))
            }
            (TypeKind::Integer | TypeKind::Range { .. }, TypeKind::Scalarset { .. }) => {
                error("scalarset-as-number", format!("a value of scalarset {found_text} is not a number"))
                    .with_label(format!("{what} must be {}", if expected == Model::INTEGER { expected_text } else { format!("of type {expected_text}") }))
                    .with_help("the values of a scalarset are interchangeable and have no numbers; use a range if they should have")
            }
            (TypeKind::Integer, _) => {
                error("type-mismatch", format!("{what} must be an integer")).with_label(format!("this is of type {found_text}"))
            }
            (TypeKind::Enumeration { members, .. }, TypeKind::Integer | TypeKind::Range { .. }) => {
                general().with_help(format!("its values are {}", Self::listed(members)))
            }
            (TypeKind::Boolean, TypeKind::Integer | TypeKind::Range { .. })
                if matches!(operand.constancy, Constancy::Known(0 | 1)) =>
            {
                general().with_help("its values are false and true")
            }
            (
                TypeKind::Array { .. } | TypeKind::Record { .. } | TypeKind::Multiset { .. },
                TypeKind::Array { .. } | TypeKind::Record { .. } | TypeKind::Multiset { .. },
            ) => general().with_help("arrays, records and multisets must be built alike, with the same bounds"),
            _ => general(),
        }
    }

    /// Checks that an operand is boolean, as `what`.
    pub(super) fn expect_boolean(&mut self, operand: &Operand, what: &str) {
        let Some(found) = operand.ty else { return };
        if found != Model::BOOLEAN {
            let error = Diagnostic::error("not-boolean", format!("{what} must be boolean"), operand.span)
                .with_label(format!("this is {}", self.of_type(found)));
            self.report(error);
        }
    }

    /// "an integer", or "of type `T`".
    pub(super) fn of_type(&self, ty: TypeId) -> String {
        if ty == Model::INTEGER { self.type_text(ty) } else { format!("of type {}", self.type_text(ty)) }
    }

    /// Checks that an operand is a single value, not an array, record or multiset.
    pub(super) fn expect_scalar(&mut self, operand: &Operand, what: &str) -> bool {
        let Some(found) = operand.ty else { return false };
        if self.model.is_scalar(found) {
            return true;
        }
        let error = Diagnostic::error("not-scalar", format!("{what} must be a single value"), operand.span)
            .with_label(format!("this is of type {}", self.type_text(found)));
        self.report(error);
        false
    }

    /// Checks that an operand can be changed; `action` describes how ("be assigned to", …).
    pub(super) fn expect_writable(&mut self, operand: &Operand, action: &str) -> bool {
        if operand.ty.is_none() {
            return false;
        }
        match operand.access {
            Access::Writable => true,
            Access::ReadOnly(declared) => {
                let error = Diagnostic::error("read-only", format!("a value parameter cannot {action}"), operand.span)
                    .with_label("passed by value, so read-only")
                    .with_secondary(declared, "declared here, without `var`")
                    .with_help("make it a `var` parameter, or copy it to a local variable");
                self.report(error);
                false
            }
            Access::Position(declared) => {
                let message = format!("a position in a multiset cannot {action}");
                let error = Diagnostic::error("read-only", message, operand.span)
                    .with_label("this only says which element is meant")
                    .with_secondary(declared, "declared here");
                self.report(error);
                false
            }
            Access::ValueOnly => {
                let error = Diagnostic::error("not-a-variable", format!("this cannot {action}"), operand.span)
                    .with_label("this is a value, not a variable");
                self.report(error);
                false
            }
        }
    }
}
