//! Run-time errors inside formulas, and which expressions may cause one. A quantifier over a condition that may fail is
//! an error whenever the condition fails for some value (the B-Book's well-definedness), not only if it fails before
//! the first decisive value. Otherwise the result would depend on the order of the elements of a set.

use quotient_ir::{
    Argument, BinaryOperator, Expr as IrExpr, ExprId, Function, FunctionId, Iteration, LocalId, PlaceId,
    Quantifier as IrQuantifier, Root, Span, Statement, StatementKind, Step, Table, TypeId, UnaryOperator,
};
use quotient_kit::Building;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowerer;

/// What is known about run-time errors in expressions.
#[derive(Default)]
pub(super) struct Failures {
    /// A function for each message and type that only raises the error.
    messages: FxHashMap<(String, TypeId), FunctionId>,
    /// The messages of these functions, without the location.
    reasons: FxHashMap<FunctionId, String>,
    /// All functions that may cause a run-time error.
    functions: FxHashSet<FunctionId>,
    expressions: FxHashMap<ExprId, bool>,
}

impl Lowerer<'_> {
    /// An expression that is a run-time error when it is evaluated.
    pub(super) fn failure(&mut self, message: &str, ty: TypeId, span: Span) -> ExprId {
        let reason = message;
        let message = format!("{reason} ({})", self.model.source.locate(span));
        let function = match self.failures.messages.get(&(message.clone(), ty)) {
            Some(function) => *function,
            None => {
                let body = vec![Self::statement(StatementKind::Error { message: message.clone() }, span)];
                let name = format!("undefined_{}", self.failures.messages.len() + 1);
                let (parameters, locals) = (Vec::new(), Table::default());
                let function =
                    self.model.functions.push(Function { name, parameters, locals, result: Some(ty), body, span });
                self.failures.messages.insert((message, ty), function);
                self.failures.functions.insert(function);
                self.failures.reasons.insert(function, reason.to_owned());
                function
            }
        };
        self.expression(IrExpr::Call { function, arguments: Vec::new() })
    }

    /// The message of a function that only raises an error.
    pub(super) fn failure_reason(&self, function: FunctionId) -> Option<String> {
        self.failures.reasons.get(&function).cloned()
    }

    /// Whether a function may cause a run-time error.
    pub(super) fn function_may_fail(&self, function: FunctionId) -> bool {
        self.failures.functions.contains(&function)
    }

    /// Records whether a new function may cause a run-time error.
    pub(super) fn note_failures(&mut self, function: FunctionId) {
        let body = self.model.functions[function].body.clone();
        if body.iter().any(|statement| self.statement_may_fail(statement)) {
            self.failures.functions.insert(function);
        }
    }

    /// A condition on all or some values. No shape is empty.
    pub(super) fn quantify(&mut self, quantifier: IrQuantifier, binders: &[(LocalId, TypeId)], body: ExprId) -> ExprId {
        if self.constant_of(body).is_some() {
            return body;
        }
        if let Some((condition, rest, failure)) = self.failing_first(body, binders) {
            let rest = self.quantify(quantifier, binders, rest);
            return self.conditional(condition, rest, failure);
        }
        let value = self.quantify_plainly(quantifier, binders, body);
        if binders.is_empty() || !self.may_fail(body) {
            return value;
        }
        // This is true, or an error if the condition fails for any value.
        let truth = self.truth(true);
        let anyway = self.binary(BinaryOperator::Or, body, truth);
        let defined = self.quantify_plainly(IrQuantifier::All, binders, anyway);
        self.binary(BinaryOperator::And, defined, value)
    }

    /// Splits a condition that starts with something that fails unless another condition holds, which does not depend
    /// on the bound variables: that condition, the rest, and the error.
    fn failing_first(&mut self, body: ExprId, binders: &[(LocalId, TypeId)]) -> Option<(ExprId, ExprId, ExprId)> {
        match self.model.pool[body].clone() {
            IrExpr::Conditional { condition, then, otherwise } => {
                let is_failure = matches!(&self.model.pool[otherwise],
                    IrExpr::Call { function, arguments } if arguments.is_empty() && self.failures.functions.contains(function));
                let is_free = is_failure && !self.may_fail(condition) && !self.mentions_any(condition, binders);
                is_free.then_some((condition, then, otherwise))
            }
            IrExpr::Unary { operator: UnaryOperator::Not, operand } => {
                let (condition, rest, failure) = self.failing_first(operand, binders)?;
                Some((condition, self.not(rest), failure))
            }
            IrExpr::Binary { operator, left, right }
                if matches!(operator, BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies) =>
            {
                let (condition, rest, failure) = self.failing_first(left, binders)?;
                let rest = match operator {
                    BinaryOperator::And => self.and(rest, right),
                    BinaryOperator::Or => self.or(rest, right),
                    _ => self.implies(rest, right),
                };
                Some((condition, rest, failure))
            }
            _ => None,
        }
    }

    /// Whether an expression mentions one of some bound variables.
    fn mentions_any(&self, expression: ExprId, binders: &[(LocalId, TypeId)]) -> bool {
        let place = |place: PlaceId| self.place_mentions(place, binders);
        match &self.model.pool[expression] {
            IrExpr::Constant { .. } => false,
            IrExpr::Read(it) | IrExpr::IsUndefined(it) => place(*it),
            IrExpr::Unary { operand, .. } => self.mentions_any(*operand, binders),
            IrExpr::Binary { left, right, .. } => {
                self.mentions_any(*left, binders) || self.mentions_any(*right, binders)
            }
            IrExpr::Conditional { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().any(|part| self.mentions_any(*part, binders))
            }
            IrExpr::Quantified { body, .. } | IrExpr::Count { body, .. } => self.mentions_any(*body, binders),
            IrExpr::IsMember { value, .. } => self.mentions_any(*value, binders),
            IrExpr::SameContents { left, right } => place(*left) || place(*right),
            IrExpr::Call { arguments, .. } => self.arguments_mention(arguments, binders),
            IrExpr::IsPresent { .. } => true,
        }
    }

    /// Whether an expression depends only on parameters, so that its value is known for each rule instance.
    pub(super) fn is_fixed(&self, expression: ExprId) -> bool {
        let place = |place: PlaceId| {
            let place = &self.model.pool[place];
            matches!(place.root, Root::Local(_))
                && place
                    .steps
                    .iter()
                    .all(|step| matches!(step, Step::Field(_)) || matches!(step, Step::Index(it) if self.is_fixed(*it)))
        };
        match &self.model.pool[expression] {
            IrExpr::Constant { .. } => true,
            IrExpr::Read(it) | IrExpr::IsUndefined(it) => place(*it),
            IrExpr::Unary { operand, .. } => self.is_fixed(*operand),
            IrExpr::Binary { left, right, .. } => self.is_fixed(*left) && self.is_fixed(*right),
            IrExpr::Conditional { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().all(|part| self.is_fixed(*part))
            }
            IrExpr::Quantified { body, .. } => self.is_fixed(*body),
            IrExpr::IsMember { value, .. } => self.is_fixed(*value),
            IrExpr::SameContents { left, right } => place(*left) && place(*right),
            IrExpr::Call { .. } | IrExpr::Count { .. } | IrExpr::IsPresent { .. } => false,
        }
    }

    fn arguments_mention(&self, arguments: &[Argument], binders: &[(LocalId, TypeId)]) -> bool {
        arguments.iter().any(|argument| match argument {
            Argument::Value(value) => self.mentions_any(*value, binders),
            Argument::Copy(place) | Argument::Reference(place) => self.place_mentions(*place, binders),
            Argument::Undefined => false,
        })
    }

    fn place_mentions(&self, place: PlaceId, binders: &[(LocalId, TypeId)]) -> bool {
        let place = &self.model.pool[place];
        let root = match &place.root {
            Root::Variable(_) => false,
            Root::Local(local) => binders.iter().any(|(bound, _)| bound == local),
            Root::Result { arguments, .. } => self.arguments_mention(arguments, binders),
            Root::Choice { condition, then, otherwise } => {
                self.mentions_any(*condition, binders)
                    || self.place_mentions(*then, binders)
                    || self.place_mentions(*otherwise, binders)
            }
        };
        root || place.steps.iter().any(|step| matches!(step, Step::Index(it) if self.mentions_any(*it, binders)))
    }

    pub(super) fn quantify_plainly(
        &mut self,
        quantifier: IrQuantifier,
        binders: &[(LocalId, TypeId)],
        body: ExprId,
    ) -> ExprId {
        binders.iter().rev().fold(body, |body, (local, ty)| {
            self.expression(IrExpr::Quantified { quantifier, local: *local, range: Iteration::Over(*ty), body })
        })
    }

    pub(super) fn statement_may_fail(&mut self, statement: &Statement) -> bool {
        let any = |lowerer: &mut Self, body: &[Statement]| body.iter().any(|it| lowerer.statement_may_fail(it));
        match &statement.kind {
            StatementKind::Error { .. } | StatementKind::Assert { .. } | StatementKind::Require { .. } => true,
            StatementKind::Assign { target, value } => self.place_may_fail(*target) || self.may_fail(*value),
            StatementKind::Copy { source, .. } => self.place_may_fail(*source),
            StatementKind::If { branches, otherwise } => {
                branches.iter().any(|(condition, body)| self.may_fail(*condition) || any(self, body))
                    || any(self, otherwise)
            }
            StatementKind::While { condition, body } => self.may_fail(*condition) || any(self, body),
            StatementKind::For { body, .. } => any(self, body),
            StatementKind::Return(Some(quotient_ir::ReturnValue::Value(value))) => self.may_fail(*value),
            _ => false,
        }
    }

    pub(super) fn place_may_fail(&mut self, place: PlaceId) -> bool {
        let place = self.model.pool[place].clone();
        let root = match &place.root {
            Root::Result { function, arguments } => self.call_may_fail(*function, arguments),
            Root::Choice { condition, then, otherwise } => {
                self.may_fail(*condition) || self.place_may_fail(*then) || self.place_may_fail(*otherwise)
            }
            Root::Variable(_) | Root::Local(_) => false,
        };
        root || place.steps.iter().any(|step| matches!(step, Step::Index(index) if self.may_fail(*index)))
    }

    fn call_may_fail(&mut self, function: FunctionId, arguments: &[Argument]) -> bool {
        self.failures.functions.contains(&function)
            || arguments.iter().any(|argument| match argument {
                Argument::Value(value) => self.may_fail(*value),
                Argument::Copy(place) | Argument::Reference(place) => self.place_may_fail(*place),
                Argument::Undefined => false,
            })
    }

    /// Whether an expression may cause a run-time error.
    pub(super) fn may_fail(&mut self, expression: ExprId) -> bool {
        if let Some(known) = self.failures.expressions.get(&expression) {
            return *known;
        }
        let fails = match self.model.pool[expression].clone() {
            IrExpr::Constant { .. } => false,
            IrExpr::IsMember { value, .. } => self.may_fail(value),
            IrExpr::Read(place) | IrExpr::IsUndefined(place) => self.place_may_fail(place),
            IrExpr::Unary { operand, .. } => self.may_fail(operand),
            IrExpr::Binary { operator, left, right } => {
                let divides = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
                (divides && self.constant_of(right).is_none_or(|divisor| divisor == 0))
                    || self.may_fail(left)
                    || self.may_fail(right)
            }
            IrExpr::Conditional { condition, then, otherwise } => {
                self.may_fail(condition) || self.may_fail(then) || self.may_fail(otherwise)
            }
            IrExpr::Quantified { body, .. } | IrExpr::Count { body, .. } => self.may_fail(body),
            IrExpr::SameContents { left, right } => self.place_may_fail(left) || self.place_may_fail(right),
            IrExpr::Call { function, arguments } => self.call_may_fail(function, &arguments),
            IrExpr::IsPresent { .. } => true,
        };
        self.failures.expressions.insert(expression, fails);
        fails
    }
}
