//! Expressions: names, designators, quantifiers, calls in expressions. Operators have a separate module.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr as Lowered, LocalKind, Model, Place, PlaceId, Root, Span, Step, TypeId, TypeKind,
};

use super::super::syntax::tree::{Expr, ExprKind, Name, Quantifier, TypeExpr};
use super::Lowering;
use super::operands::{Access, Constancy, Form, Operand};
use super::quantifiers::Bound;
use super::scopes::{Meaning, nearest};

impl Lowering<'_> {
    /// Lowers an expression.
    pub(super) fn expression(&mut self, expression: &Expr) -> Operand {
        self.owner.measure.enter();
        let operand = self.expression_inside(expression);
        self.owner.measure.leave();
        operand
    }

    fn expression_inside(&mut self, expression: &Expr) -> Operand {
        let span = expression.span;
        match &expression.kind {
            ExprKind::Missing => {
                self.incomplete = true;
                Self::unknown(span)
            }
            ExprKind::Name(text) => self.name(text, span),
            ExprKind::Number(value) => self.constant_operand(*value, Model::INTEGER, span),
            ExprKind::Field { record, field } => self.field(record, field, span),
            ExprKind::Index { array, index } => self.index(array, index, span),
            ExprKind::Unary { operator, operand } => self.unary(*operator, operand, span),
            ExprKind::Binary { operator, left, right } => self.binary(*operator, left, right, span),
            ExprKind::Conditional { condition, then, otherwise } => self.conditional(condition, then, otherwise, span),
            ExprKind::Forall { quantifier, body } => {
                self.quantified(quotient_ir::Quantifier::All, quantifier, body, span)
            }
            ExprKind::Exists { quantifier, body } => {
                self.quantified(quotient_ir::Quantifier::Any, quantifier, body, span)
            }
            ExprKind::Call { function, arguments } => self.call_in_expression(function, arguments, span),
            ExprKind::IsUndefined(operand) => self.is_undefined(operand, span),
            ExprKind::Undefined => self.misplaced_undefined(span),
            ExprKind::IsMember { value, ty } => self.is_member(value, ty, span),
            ExprKind::MultisetCount { name, multiset, condition } => {
                self.multiset_count(name, multiset, condition, span)
            }
        }
    }

    /// Lowers an expression that must be boolean, as `what`.
    pub(super) fn condition(&mut self, expression: &Expr, what: &str) -> quotient_ir::ExprId {
        let operand = self.expression(expression);
        self.expect_boolean(&operand, what);
        if operand.ty == Some(Model::BOOLEAN) { self.value_of(&operand) } else { self.truth() }
    }

    /// The constant `true`.
    pub(super) fn truth(&mut self) -> quotient_ir::ExprId {
        self.model.pool.expression(Lowered::Constant { value: 1, ty: Model::BOOLEAN })
    }

    /// Lowers something where nothing may change, as in "in the guard of a rule".
    pub(super) fn in_pure_context<T>(&mut self, context: &'static str, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.owner.pure;
        self.owner.pure = Some(context);
        let result = work(self);
        self.owner.pure = before;
        result
    }

    fn name(&mut self, text: &str, span: Span) -> Operand {
        let name = Name { text: text.into(), span };
        let Some(symbol) = self.scopes.find(text) else {
            self.report_unknown("unknown-name", "name", &name, |meaning| {
                matches!(meaning, Meaning::Operand { .. } | Meaning::Function(_))
            });
            return Self::unknown(span);
        };
        let declared = symbol.span;
        let (noun, help) = match &symbol.meaning {
            Meaning::Operand { operand, size, .. } => {
                self.owner.measure.add(*size);
                return operand.at(span);
            }
            Meaning::Unknown => return Self::unknown(span),
            Meaning::Type(_) => ("type", "a value is needed here".into()),
            Meaning::Function(_) => ("function", format!("call it with its arguments: `{text}(…)`")),
        };
        let error =
            Diagnostic::error("not-a-value", format!("`{text}` is a {noun}, not a value"), span).with_help(help);
        self.report(Self::with_declaration(error, declared));
        Self::unknown(span)
    }

    /// The place of an operand extended by one step.
    fn extended(&mut self, operand: &Operand, step: Step, ty: TypeId, span: Span) -> Operand {
        let Form::Place(place) = operand.form else { return Operand { ty: Some(ty), ..Self::unknown(span) } };
        let Place { root, mut steps, .. } = self.model.pool[place].clone();
        steps.push(step);
        let place = self.model.pool.place(Place { root, steps, ty });
        let constancy = Constancy::Varies(span);
        Operand { ty: Some(ty), form: Form::Place(place), constancy, access: operand.access, span }
    }

    fn field(&mut self, record: &Expr, field: &Name, span: Span) -> Operand {
        let operand = self.expression(record);
        let Some(ty) = operand.ty else { return Self::unknown(span) };
        let TypeKind::Record { fields } = &self.model.types[ty].kind else {
            let error = Diagnostic::error("not-a-record", format!("`.{}` needs a record", field.text), operand.span)
                .with_label(format!("this is {}", self.of_type(ty)));
            self.report(error);
            return Self::unknown(span);
        };
        let position = self.field_positions.get(&ty).and_then(|positions| positions.get(&field.text));
        if let Some(&position) = position {
            let field_type = fields[position as usize].ty;
            return self.extended(&operand, Step::Field(position), field_type, span);
        }
        let all = Self::listed(fields.iter().map(|known| &known.name));
        let help = match nearest(&field.text, fields.iter().map(|known| known.name.as_str())) {
            Some(name) => format!("did you mean `{name}`? The fields are {all}"),
            None if fields.is_empty() => "this record has no fields".into(),
            None => format!("the fields are {all}"),
        };
        let message = format!("{} has no field `{}`", self.type_text(ty), field.text);
        self.report(
            Diagnostic::error("unknown-field", message, field.span).with_label("no such field").with_help(help),
        );
        Self::unknown(span)
    }

    fn index(&mut self, array: &Expr, index: &Expr, span: Span) -> Operand {
        let operand = self.expression(array);
        let position = self.expression(index);
        let Some(ty) = operand.ty else { return Self::unknown(span) };
        let (expected, element) = match self.model.types[ty].kind {
            TypeKind::Array { index, element } => (index, element),
            TypeKind::Multiset { element, .. } => (Model::INTEGER, element),
            _ => {
                let error = Diagnostic::error("not-an-array", "only arrays and multisets have elements", operand.span)
                    .with_label(format!("this is {}", self.of_type(ty)));
                self.report(error);
                return Self::unknown(span);
            }
        };
        if !self.expect_fit(Some(expected), &position, &format!("the index of {}", self.type_text(ty))) {
            return Operand { ty: Some(element), ..Self::unknown(span) };
        }
        let position = self.value_of(&position);
        self.extended(&operand, Step::Index(position), element, span)
    }

    fn quantified(
        &mut self,
        which: quotient_ir::Quantifier,
        quantifier: &Quantifier,
        body: &Expr,
        span: Span,
    ) -> Operand {
        self.scopes.enter();
        let range = self.quantifier(quantifier, Bound::Expression, None);
        let what = match which {
            quotient_ir::Quantifier::All => "the condition of `forall`",
            quotient_ir::Quantifier::Any => "the condition of `exists`",
        };
        let body = self.condition(body, what);
        self.scopes.leave();
        let Some((local, range)) = range else {
            // Its value is boolean whatever it ranges over.
            return Operand { ty: Some(Model::BOOLEAN), ..Self::unknown(span) };
        };
        let are_some = self.steps_are_some(&range);
        let quantified = Lowered::Quantified { quantifier: which, local, range, body };
        let Some(left) = are_some else { return self.value_operand(quantified, Model::BOOLEAN, span) };
        let operator = match which {
            quotient_ir::Quantifier::All => BinaryOperator::Implies,
            quotient_ir::Quantifier::Any => BinaryOperator::And,
        };
        let right = self.model.pool.expression(quantified);
        self.value_operand(Lowered::Binary { operator, left, right }, Model::BOOLEAN, span)
    }

    fn is_undefined(&mut self, expression: &Expr, span: Span) -> Operand {
        self.without_value(expression, "the operand of `isundefined`", span)
    }

    /// Whether a variable is undefined; `what` describes its role.
    pub(super) fn without_value(&mut self, expression: &Expr, what: &str, span: Span) -> Operand {
        let operand = self.expression(expression);
        if operand.ty.is_some() && self.expect_scalar(&operand, what) {
            match (operand.form, operand.access) {
                (Form::Place(place), Access::Writable | Access::ReadOnly(_) | Access::Position(_)) => {
                    return self.value_operand(Lowered::IsUndefined(place), Model::BOOLEAN, span);
                }
                _ => {
                    let error = Diagnostic::error("not-a-variable", "only a variable can be undefined", operand.span)
                        .with_label("this is a value, not a variable");
                    self.report(error);
                }
            }
        }
        Operand { ty: Some(Model::BOOLEAN), ..Self::unknown(span) }
    }

    fn is_member(&mut self, value: &Expr, ty: &TypeExpr, span: Span) -> Operand {
        let calls_before = self.owner.calls;
        let operand = self.expression(value);
        let id = self.type_of(ty, None);
        let result = Operand { ty: Some(Model::BOOLEAN), ..Self::unknown(span) };
        let (Some(id), true) = (id, self.expect_scalar(&operand, "the first operand of `ismember`")) else {
            return result;
        };
        if !self.model.is_scalar(id) {
            let error = Diagnostic::error("not-scalar", "`ismember` needs the type of a single value", ty.span)
                .with_label(format!("this is {}", self.type_text(id)));
            self.report(error);
            return result;
        }
        if !self.expect_fit(Some(id), &operand, "the first operand of this `ismember`") {
            return result;
        }
        let value = self.value_of(&operand);
        let member = Lowered::IsMember { value, ty: id };
        match operand.form {
            Form::Place(place) if self.undefined_is_a_value && self.owner.calls == calls_before => {
                let member = self.model.pool.expression(member);
                let member = self.unless_undefined(place, operand.ty, member);
                Operand { form: Form::Value(member), ..result }
            }
            _ => self.value_operand(member, Model::BOOLEAN, span),
        }
    }

    fn multiset_count(&mut self, name: &Name, multiset: &Expr, condition: &Expr, span: Span) -> Operand {
        self.scopes.enter();
        let bound = self.multiset_position(name, multiset);
        let body = self.condition(condition, "the condition of `multisetcount`");
        self.scopes.leave();
        let Some((local, multiset)) = bound else {
            return Operand { ty: Some(Model::INTEGER), ..Self::unknown(span) };
        };
        self.value_operand(Lowered::Count { local, multiset, body }, Model::INTEGER, span)
    }

    /// A multiset and the name for a position in it, declared in the innermost scope.
    pub(super) fn multiset_position(
        &mut self,
        name: &Name,
        multiset: &Expr,
    ) -> Option<(quotient_ir::LocalId, PlaceId)> {
        let Some((place, capacity)) = self.multiset(multiset) else {
            self.declare(name, Meaning::Unknown);
            return None;
        };
        let ty = self.range_type(0, capacity - 1);
        let local = self.owner.local(&name.text, ty, LocalKind::Parameter, name.span);
        self.declare_position(name, local);
        Some((local, place))
    }

    /// Declares the name for a position in a multiset.
    pub(super) fn declare_position(&mut self, name: &Name, local: quotient_ir::LocalId) {
        let ty = self.owner.locals[local].ty;
        let operand = self.place_operand(Root::Local(local), ty, Access::Position(name.span), name.span);
        self.declare(name, Meaning::named(operand, "position in a multiset"));
    }

    /// A multiset and its capacity.
    pub(super) fn multiset(&mut self, expression: &Expr) -> Option<(PlaceId, i64)> {
        let operand = self.expression(expression);
        self.place_of_multiset(&operand)
    }

    /// The place and capacity of an operand that must be a multiset.
    pub(super) fn place_of_multiset(&mut self, operand: &Operand) -> Option<(PlaceId, i64)> {
        let ty = operand.ty?;
        if let (TypeKind::Multiset { capacity, .. }, Form::Place(place)) = (&self.model.types[ty].kind, operand.form) {
            return Some((place, i64::try_from(*capacity).expect("capacities come from 64-bit integers")));
        }
        if operand.form == Form::Nothing {
            return None;
        }
        let error = Diagnostic::error("not-a-multiset", "a multiset is needed here", operand.span)
            .with_label(format!("this is {}", self.of_type(ty)));
        self.report(error);
        None
    }
}
