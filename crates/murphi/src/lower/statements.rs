//! Statements.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr as Lowered, Formula, LocalKind, Model, MultisetElement, Place, PlaceId, PrintForm,
    PrintPiece, Property, PropertyKind, ReturnValue, Root, Span, Statement, StatementKind, Step, Table, TypeId,
    TypeKind,
};

use super::super::syntax::tree::{Alias, Category, Expr, ExprKind, Stmt, StmtKind, Text};
use super::Lowering;
use super::functions::CallUse;
use super::operands::{Access, Constancy, Form, Operand};
use super::owners::OwnerKind;
use super::quantifiers::Bound;
use super::scopes::{Meaning, Size};
use super::types::Fit;

impl Lowering<'_> {
    /// Lowers a list of statements.
    pub(super) fn statements(&mut self, statements: &[Stmt]) -> Vec<Statement> {
        let mut lowered = Vec::with_capacity(statements.len());
        for statement in statements {
            self.statement(statement, &mut lowered);
        }
        lowered
    }

    fn statement(&mut self, statement: &Stmt, output: &mut Vec<Statement>) {
        let span = statement.span;
        let kind = match &statement.kind {
            StmtKind::Assign { target, value } if value.kind == ExprKind::Undefined => {
                self.written(target, "be undefined", span).map(StatementKind::Undefine)
            }
            StmtKind::Assign { target, value } => self.assignment(target, value, span, output),
            StmtKind::Property { category, message, condition } => {
                self.property_statement(*category, message.as_ref(), condition, span)
            }
            StmtKind::Alias { aliases, body } => {
                self.scopes.enter();
                self.bind_aliases(aliases, output);
                for statement in body {
                    self.statement(statement, output);
                }
                self.scopes.leave();
                None
            }
            StmtKind::Error(message) => Some(StatementKind::Error { message: message.text.clone() }),
            StmtKind::Clear(target) => self.written(target, "be cleared", span).map(StatementKind::Clear),
            StmtKind::Undefine(target) => self.written(target, "be undefined", span).map(StatementKind::Undefine),
            StmtKind::For { quantifier, body } => {
                self.scopes.enter();
                let range = self.quantifier(quantifier, Bound::Loop, None);
                let body = self.statements(body);
                self.scopes.leave();
                range.map(|(local, range)| {
                    let are_some = self.steps_are_some(&range);
                    let kind = StatementKind::For { local, range, body };
                    match are_some {
                        None => kind,
                        Some(condition) => StatementKind::If {
                            branches: vec![(condition, vec![Statement { kind, span }])],
                            otherwise: Vec::new(),
                        },
                    }
                })
            }
            StmtKind::If { branches, otherwise } => {
                let branches = branches
                    .iter()
                    .map(|(condition, body)| {
                        (self.condition(condition, "the condition of `if`"), self.statements(body))
                    })
                    .collect();
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |body| self.statements(body));
                Some(StatementKind::If { branches, otherwise })
            }
            StmtKind::Switch { subject, cases, otherwise } => self.switch(subject, cases, otherwise.as_deref(), output),
            StmtKind::While { condition, body } => {
                let condition = self.condition(condition, "the condition of `while`");
                let body = self.statements(body);
                Some(StatementKind::While { condition, body })
            }
            StmtKind::PutText(text) => Some(StatementKind::Print(vec![PrintPiece::Text(printed_text(&text.text))])),
            StmtKind::Put(value) => self.put(value, span, output),
            StmtKind::PutState => Some(StatementKind::Print(vec![PrintPiece::State])),
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span),
            StmtKind::Call { function, arguments } => self
                .call(function, arguments, CallUse::Statement, span)
                .map(|(function, arguments)| StatementKind::Call { function, arguments }),
            StmtKind::MultisetAdd { element, multiset } => self.multiset_add(element, multiset, span),
            StmtKind::MultisetRemove { position, multiset } => {
                let position = self.expression(position);
                let position_fits = self.expect_fit(Some(Model::INTEGER), &position, "the position in a multiset");
                let multiset = self.written_multiset(multiset, span);
                let position = self.value_of(&position);
                multiset
                    .filter(|_| position_fits)
                    .map(|(multiset, _)| StatementKind::MultisetRemove { multiset, position })
            }
            StmtKind::MultisetRemoveIf { name, multiset, condition } => {
                self.scopes.enter();
                let bound = self.multiset_position(name, multiset);
                let condition = self.condition(condition, "the condition of `multisetremovepred`");
                self.scopes.leave();
                // Looked at again as something that is written to.
                let writable = self.written_multiset(multiset, span).is_some();
                bound.filter(|_| writable).map(|(local, multiset)| StatementKind::MultisetRemoveIf {
                    local,
                    multiset,
                    condition,
                })
            }
        };
        output.extend(kind.map(|kind| Statement { kind, span }));
    }

    fn assignment(
        &mut self,
        target: &Expr,
        value: &Expr,
        span: Span,
        output: &mut Vec<Statement>,
    ) -> Option<StatementKind> {
        let calls_before = self.owner.calls;
        let target = self.expression(target);
        let value = self.expression(value);
        let writable = self.expect_writable(&target, "be assigned to");
        let fits = self.expect_fit(target.ty, &value, "the value assigned");
        let Form::Place(place) = target.form else { return None };
        if !writable || !fits {
            return None;
        }
        self.note_write(place, span);
        if target.ty.is_some_and(|ty| self.model.is_scalar(ty)) {
            if let Form::Place(source) = value.form
                && self.undefined_is_a_value
                && self.may_be_undefined(source)
            {
                let once = self.owner.calls > calls_before;
                return Some(self.copy_or_undefine((place, &target), (source, &value), once, span, output));
            }
            let value = self.value_of(&value);
            return Some(StatementKind::Assign { target: place, value });
        }
        match value.form {
            Form::Place(source) => Some(StatementKind::Copy { target: place, source }),
            Form::Value(_) | Form::Nothing => None,
        }
    }

    /// A place that a statement changes.
    fn written(&mut self, target: &Expr, action: &str, span: Span) -> Option<PlaceId> {
        let target = self.expression(target);
        if !self.expect_writable(&target, action) {
            return None;
        }
        let Form::Place(place) = target.form else { return None };
        self.note_write(place, span);
        Some(place)
    }

    fn written_multiset(&mut self, multiset: &Expr, span: Span) -> Option<(PlaceId, TypeId)> {
        let operand = self.expression(multiset);
        let (place, _) = self.place_of_multiset(&operand)?;
        if !self.expect_writable(&operand, "be changed") {
            return None;
        }
        self.note_write(place, span);
        match self.model.types[operand.ty?].kind {
            TypeKind::Multiset { element, .. } => Some((place, element)),
            _ => None,
        }
    }

    fn multiset_add(&mut self, element: &Expr, multiset: &Expr, span: Span) -> Option<StatementKind> {
        let element = self.expression(element);
        let (multiset, ty) = self.written_multiset(multiset, span)?;
        if !self.expect_fit(Some(ty), &element, "the element") {
            return None;
        }
        let element = match element.form {
            // The contents of a variable are taken as they are, undefined cells included.
            Form::Place(place) => MultisetElement::Copy(place),
            Form::Value(value) => MultisetElement::Value(value),
            Form::Nothing => return None,
        };
        Some(StatementKind::MultisetAdd { multiset, element })
    }

    fn property_statement(
        &mut self,
        category: Category,
        message: Option<&Text>,
        condition: &Expr,
        span: Span,
    ) -> Option<StatementKind> {
        let what = match category {
            Category::Assert | Category::Invariant => "an assertion",
            Category::Assume => "an assumption",
            Category::Cover => "the condition of `cover`",
            Category::Liveness => "a liveness property",
        };
        let lowered = self.condition(condition, what);
        match category {
            Category::Assert | Category::Invariant => {
                let message = message.map_or_else(|| self.text_of(condition.span), |message| message.text.clone());
                Some(StatementKind::Assert { condition: lowered, message, violates: None })
            }
            Category::Assume => {
                self.note_path_effect(span);
                Some(StatementKind::Assume(lowered))
            }
            Category::Cover => {
                self.note_path_effect(span);
                let property = self.model.properties.push(Property {
                    name: message.map(|message| message.text.clone()),
                    kind: PropertyKind::Cover,
                    parameters: Vec::new(),
                    locals: Table::new(),
                    formula: Formula::CoverStatement,
                    span,
                });
                Some(StatementKind::Cover { condition: lowered, property })
            }
            Category::Liveness => {
                let error = Diagnostic::error("liveness-statement", "a liveness property cannot be a statement", span)
                    .with_help("it speaks about all runs; declare it at the top level, outside rules and functions");
                self.report(error);
                None
            }
        }
    }

    /// A stretch of the source in one line.
    fn text_of(&self, span: Span) -> String {
        let text = self.model.source.text.get(span.range()).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn switch(
        &mut self,
        subject: &Expr,
        cases: &[(Vec<Expr>, Vec<Stmt>)],
        otherwise: Option<&[Stmt]>,
        output: &mut Vec<Statement>,
    ) -> Option<StatementKind> {
        let calls_before = self.owner.calls;
        let mut operand = self.expression(subject);
        self.expect_scalar(&operand, "the subject of `switch`");
        let mut values: Vec<Vec<Operand>> = Vec::with_capacity(cases.len());
        for (expressions, _) in cases {
            values.push(expressions.iter().map(|expression| self.expression(expression)).collect());
        }
        // The operand is evaluated once, whatever the cases are and do.
        if self.owner.calls > calls_before || values.iter().all(Vec::is_empty) {
            operand = self.stored(&operand, "subject", output);
        }
        let mut branches = Vec::with_capacity(cases.len());
        for (values, (_, body)) in values.iter().zip(cases) {
            let mut conditions = Vec::with_capacity(values.len());
            for value in values {
                if self.expect_fit(operand.ty, value, "the value of this case") {
                    let (left, right) = (self.value_of(&operand), self.value_of(value));
                    let same = Lowered::Binary { operator: BinaryOperator::Equal, left, right };
                    conditions.push(self.model.pool.expression(same));
                }
            }
            let body = self.statements(body);
            if !conditions.is_empty() {
                branches.push((self.joined(BinaryOperator::Or, &conditions), body));
            }
        }
        let otherwise = otherwise.map_or_else(Vec::new, |body| self.statements(body));
        if branches.is_empty() {
            output.extend(otherwise);
            return None;
        }
        Some(StatementKind::If { branches, otherwise })
    }

    /// A local variable that holds the value of an operand from now on.
    fn stored(&mut self, operand: &Operand, name: &str, output: &mut Vec<Statement>) -> Operand {
        let Some(ty) = operand.ty else { return operand.clone() };
        let ty = if self.is_integer(ty) { Model::INTEGER } else { ty };
        let local = self.owner.local(name, ty, LocalKind::Variable, operand.span);
        let target = self.local_place(local);
        let kind = if self.model.is_scalar(ty) {
            StatementKind::Assign { target, value: self.value_of(operand) }
        } else {
            let Form::Place(source) = operand.form else { return operand.clone() };
            StatementKind::Copy { target, source }
        };
        output.push(Statement { kind, span: operand.span });
        self.place_operand(Root::Local(local), ty, Access::ValueOnly, operand.span)
    }

    /// The operand of `put` may fail or have side effects, whether or not its output is displayed, so it becomes a
    /// separate statement.
    fn put(&mut self, value: &Expr, span: Span, output: &mut Vec<Statement>) -> Option<StatementKind> {
        let operand = self.expression(value);
        let ty = operand.ty?;
        let (effect, piece) = match operand.form {
            Form::Nothing => return None,
            Form::Place(place) => {
                if operand.access == Access::ValueOnly && !self.model.is_scalar(ty) && !self.is_named(place) {
                    let error = Diagnostic::error("put-value", "`put` cannot show this value", operand.span)
                        .with_label("this is the result of an expression, not a variable")
                        .with_help("store it in a variable first");
                    self.report(error);
                    return None;
                }
                let effect = self.may_fail(place).then(|| {
                    let origin = self.origin(place);
                    let local = self.owner.reference("shown", ty, LocalKind::Reference, origin, span);
                    StatementKind::Bind { local, place }
                });
                (effect, PrintPiece::Contents(place))
            }
            Form::Value(value) => {
                let effect = match operand.constancy {
                    Constancy::Known(_) => None,
                    _ if ty == Model::BOOLEAN => {
                        Some(StatementKind::If { branches: vec![(value, Vec::new())], otherwise: Vec::new() })
                    }
                    _ => {
                        let local = self.owner.local("shown", ty, LocalKind::Variable, span);
                        let target = self.local_place(local);
                        Some(StatementKind::Assign { target, value })
                    }
                };
                (effect, PrintPiece::Value(value, PrintForm::Typed(ty)))
            }
        };
        output.extend(effect.map(|kind| Statement { kind, span }));
        Some(StatementKind::Print(vec![piece]))
    }

    /// Whether a place starts at a variable, not at the result of a call or choice.
    fn is_named(&self, place: PlaceId) -> bool {
        matches!(self.model.pool[place].root, Root::Variable(_) | Root::Local(_))
    }

    fn return_statement(&mut self, value: Option<&Expr>, span: Span) -> Option<StatementKind> {
        if let Some(Expr { kind: ExprKind::Undefined, span }) = value {
            self.refuse_undefined_result(*span);
            return None;
        }
        let operand = value.map(|value| self.expression(value));
        let error = |message: &str| Diagnostic::error("bad-return", message, span);
        match (self.owner.kind, operand) {
            (OwnerKind::Function { result, declared }, Some(operand)) => {
                match (result, operand.ty) {
                    (Some(expected), Some(found)) if self.fit(expected, found) == Fit::No => {
                        let error = self.mismatch(expected, &operand, "the value returned");
                        self.report(error.with_secondary(declared, "the function is declared here"));
                        return None;
                    }
                    _ => {}
                }
                if !self.expect_fit(result, &operand, "the value returned") {
                    return None;
                }
                let scalar = operand.ty.is_some_and(|ty| self.model.is_scalar(ty));
                let returned = match operand.form {
                    Form::Place(place) if !scalar => ReturnValue::Copy(place),
                    _ => ReturnValue::Value(self.value_of(&operand)),
                };
                Some(StatementKind::Return(Some(returned)))
            }
            (OwnerKind::Function { declared, .. }, None) => {
                self.report(
                    error("a function must return a value")
                        .with_label("no value here")
                        .with_secondary(declared, "declared with a result here"),
                );
                None
            }
            (_, None) => Some(StatementKind::Return(None)),
            (kind, Some(_)) => {
                let error = match kind {
                    OwnerKind::Procedure => error("a procedure returns no value")
                        .with_help("declare a result type (`function f(…): T`), or write `return;`"),
                    _ => error("only functions return values").with_help("write `return;` to end the rule here"),
                };
                self.report(error);
                None
            }
        }
    }

    /// Declares aliases in the innermost scope. What they denote is evaluated once, here.
    pub(super) fn bind_aliases(&mut self, aliases: &[Alias], output: &mut Vec<Statement>) {
        for alias in aliases {
            let operand = self.expression(&alias.value);
            let bound = self.bound(alias, &operand, output);
            self.declare_alias(alias, bound, Size::default());
        }
    }

    /// Declares an alias for an operand.
    pub(super) fn declare_alias(&mut self, alias: &Alias, operand: Operand, size: Size) {
        let meaning = match operand.ty {
            Some(_) => Meaning::Operand { operand, noun: "alias", size },
            None => Meaning::Unknown,
        };
        self.declare(&alias.name, meaning);
    }

    fn bound(&mut self, alias: &Alias, operand: &Operand, output: &mut Vec<Statement>) -> Operand {
        let Some(ty) = operand.ty else { return operand.clone() };
        let name = &alias.name;
        match operand.form {
            Form::Nothing => operand.clone(),
            Form::Value(_) if matches!(operand.constancy, Constancy::Known(_)) => operand.clone(),
            Form::Value(_) => self.stored(operand, &name.text, output),
            Form::Place(place) if self.is_fixed(place) => operand.clone(),
            Form::Place(place) => {
                let origin = self.origin(place);
                let local = self.owner.reference(&name.text, ty, LocalKind::Reference, origin, name.span);
                output.push(Statement { kind: StatementKind::Bind { local, place }, span: alias.value.span });
                self.place_operand(Root::Local(local), ty, operand.access, name.span)
            }
        }
    }

    /// Whether a place is fixed and always exists, so that it need not be evaluated beforehand.
    fn is_fixed(&self, place: PlaceId) -> bool {
        self.steps_are_safe(place, false)
    }

    /// Whether finding a place can fail.
    pub(super) fn may_fail(&self, place: PlaceId) -> bool {
        !self.is_named(place) || !self.steps_are_safe(place, true)
    }

    /// Whether every index on the way to a place is a constant in range, or (if `parameters`) a
    /// parameter whose values are all in range.
    fn steps_are_safe(&self, place: PlaceId, parameters: bool) -> bool {
        let Place { root, steps, .. } = &self.model.pool[place];
        let mut ty = match root {
            Root::Variable(variable) => self.model.variables[*variable].ty,
            Root::Local(local) => self.owner.locals[*local].ty,
            Root::Result { .. } | Root::Choice { .. } => return false,
        };
        for step in steps {
            ty = match (step, &self.model.types[ty].kind) {
                (Step::Field(position), TypeKind::Record { fields }) => fields[*position as usize].ty,
                (Step::Index(index), TypeKind::Array { index: index_type, element }) => {
                    let domain = self.model.domain(*index_type);
                    let safe = match &self.model.pool[*index] {
                        Lowered::Constant { value, .. } => domain.contains(*value),
                        Lowered::Read(place) if parameters => self.is_parameter_within(*place, &domain),
                        _ => false,
                    };
                    if !safe {
                        return false;
                    }
                    *element
                }
                _ => return false,
            };
        }
        true
    }

    fn is_parameter_within(&self, place: PlaceId, domain: &quotient_ir::Domain) -> bool {
        let Place { root: Root::Local(local), steps, ty } = &self.model.pool[place] else { return false };
        if !steps.is_empty() || self.owner.locals[*local].kind != LocalKind::Parameter {
            return false;
        }
        let values = self.model.domain(*ty);
        // A domain of one piece contains every value between the ends of its pieces.
        domain.pieces().iter().any(|&(low, high)| low <= values.least() && values.greatest() <= high)
    }
}

/// What a text prints: `\\n` in it ends a line, as in C.
fn printed_text(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => printed.push('\n'),
                Some('t') => printed.push('\t'),
                Some(escaped @ ('\\' | '"' | '\'')) => printed.push(escaped),
                Some(other) => printed.extend(['\\', other]),
                None => printed.push('\\'),
            },
            other => printed.push(other),
        }
    }
    printed
}
