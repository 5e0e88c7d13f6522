//! Conditions without a value: a function applied outside its domain, a division by zero, the least member of an empty
//! set. In the guard of an operation, and in any other condition that decides how it continues, they count as false, as
//! in ProB. A condition is split into one that says whether it has a value, and a value that is evaluated only then, so
//! engines need no special support. If a condition has no value in some reachable state, a remark of the model says so:
//! one for each location in the text.

use quotient_ir::{
    Argument, BinaryOperator, Expr as IrExpr, ExprId, Function, FunctionId, Iteration, Local, LocalId, LocalKind,
    Model, Parameter, Place, PlaceId, Property, PropertyKind, Quantifier as IrQuantifier, ReturnValue, Root, Span,
    Statement, StatementKind, Step, Table, TypeId, TypeKind, UnaryOperator,
};
use quotient_kit::Building;
use rustc_hash::{FxHashMap, FxHashSet};

use super::items::Item;
use super::paths::Path;
use super::{Lowered, Lowerer, Owner};

/// What is known about values that may be missing.
#[derive(Default)]
pub(super) struct Definedness {
    expressions: FxHashMap<ExprId, Defined>,
    /// Functions that say whether another one has a value, and why it may have none.
    twins: FxHashMap<FunctionId, (FunctionId, Vec<String>)>,
    /// What statements assume because it would otherwise have no value.
    assumed: FxHashMap<(ExprId, Span), Doubt>,
    remarks: Vec<RemarkDraft>,
}

/// An expression, split into definedness and value.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    /// Whether it has a value; this condition itself always has one.
    pub(super) has_value: ExprId,
    /// The value if it has one.
    pub(super) value: ExprId,
    /// Why it may have none.
    reasons: Vec<String>,
}

/// A condition of the text that may have no value.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    span: Span,
    reasons: Vec<String>,
}

/// A guard without which a later one has no value.
#[derive(Clone, Debug)]
pub(super) struct GuardDoubt {
    /// Its position among the guards of the path.
    at: usize,
    doubt: Doubt,
}

/// A remark under construction: that a condition of the text has no value, on any path.
struct RemarkDraft {
    doubt: Doubt,
    locals: Table<LocalId, Local>,
    condition: ExprId,
    known: FxHashSet<(ExprId, Vec<(LocalId, TypeId)>)>,
}

impl Lowerer<'_> {
    /// Whether conditions of operations without a value count as false.
    pub(super) fn is_lenient(&self) -> bool {
        !self.settings.strict_guards
    }

    /// Splits an expression into definedness and value.
    pub(super) fn defined(&mut self, expression: ExprId) -> Defined {
        if !self.may_fail(expression) {
            return Defined { has_value: self.truth(true), value: expression, reasons: Vec::new() };
        }
        if let Some(known) = self.definedness.expressions.get(&expression) {
            return known.clone();
        }
        let mut reasons = Vec::new();
        let (has_value, value) = self.take_apart(expression, &mut reasons);
        reasons.sort();
        reasons.dedup();
        let defined = Defined { has_value, value, reasons };
        self.definedness.expressions.insert(expression, defined.clone());
        defined
    }

    fn part(&mut self, expression: ExprId, reasons: &mut Vec<String>) -> (ExprId, ExprId) {
        let defined = self.defined(expression);
        reasons.extend(defined.reasons);
        (defined.has_value, defined.value)
    }

    fn take_apart(&mut self, expression: ExprId, reasons: &mut Vec<String>) -> (ExprId, ExprId) {
        match self.model.pool[expression].clone() {
            IrExpr::Unary { operator, operand } => {
                let (has_value, operand) = self.part(operand, reasons);
                let value = match operator {
                    UnaryOperator::Not => self.not(operand),
                    _ => self.expression(IrExpr::Unary { operator, operand }),
                };
                (has_value, value)
            }
            IrExpr::Binary { operator, left, right } => {
                let (first, left) = self.part(left, reasons);
                let (second, right) = self.part(right, reasons);
                self.take_binary_apart(operator, (first, left), (second, right), reasons)
            }
            IrExpr::Conditional { condition, then, otherwise } => {
                let (first, condition) = self.part(condition, reasons);
                let ((one, then), (other, otherwise)) = (self.part(then, reasons), self.part(otherwise, reasons));
                let (value, rest) = match (self.constant_of(one), self.constant_of(other)) {
                    (_, Some(0)) => (then, self.and(condition, one)),
                    (Some(0), _) => {
                        let not = self.not(condition);
                        (otherwise, self.and(not, other))
                    }
                    _ => (self.conditional(condition, then, otherwise), self.conditional(condition, one, other)),
                };
                (self.and(first, rest), value)
            }
            IrExpr::Quantified { quantifier, local, range, body } => {
                let (has_value, body) = self.part(body, reasons);
                let mut over = |quantifier, body| match self.constant_of(body) {
                    Some(_) => body,
                    None => self.expression(IrExpr::Quantified { quantifier, local, range: range.clone(), body }),
                };
                (over(IrQuantifier::All, has_value), over(quantifier, body))
            }
            IrExpr::IsMember { value, ty } => {
                let (has_value, value) = self.part(value, reasons);
                (has_value, self.expression(IrExpr::IsMember { value, ty }))
            }
            IrExpr::Read(place) => {
                let (has_value, place) = self.defined_place(place, reasons);
                (has_value, self.read(place))
            }
            IrExpr::IsUndefined(place) => {
                let (has_value, place) = self.defined_place(place, reasons);
                (has_value, self.expression(IrExpr::IsUndefined(place)))
            }
            IrExpr::SameContents { left, right } => {
                let (first, left) = self.defined_place(left, reasons);
                let (second, right) = self.defined_place(right, reasons);
                (self.and(first, second), self.expression(IrExpr::SameContents { left, right }))
            }
            IrExpr::Call { function, arguments } => {
                if let Some(reason) = self.failure_reason(function) {
                    reasons.push(reason);
                    return (self.truth(false), expression);
                }
                let (has_value, arguments) = self.defined_call(function, &arguments, reasons);
                (has_value, self.expression(IrExpr::Call { function, arguments }))
            }
            IrExpr::Constant { .. } | IrExpr::Count { .. } | IrExpr::IsPresent { .. } => (self.truth(true), expression),
        }
    }

    /// An operation on two expressions that are already split.
    fn take_binary_apart(
        &mut self,
        operator: BinaryOperator,
        (first, left): (ExprId, ExprId),
        (second, right): (ExprId, ExprId),
        reasons: &mut Vec<String>,
    ) -> (ExprId, ExprId) {
        let is_certain = self.constant_of(second) == Some(1);
        // The right side matters only if it is evaluated.
        let second = match operator {
            _ if is_certain && !matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder) => second,
            BinaryOperator::And | BinaryOperator::Implies => self.implies(left, second),
            BinaryOperator::Or => self.or(left, second),
            BinaryOperator::Divide | BinaryOperator::Remainder => {
                reasons.push("a division by zero".to_owned());
                let zero = self.number(0);
                let is_zero = self.equal(right, zero);
                let divides = self.not(is_zero);
                self.and(second, divides)
            }
            _ => second,
        };
        let value = match (operator, self.constant_of(right)) {
            (BinaryOperator::Or, Some(1)) => right,
            (BinaryOperator::And, _) => self.and(left, right),
            (BinaryOperator::Or, _) => self.or(left, right),
            (BinaryOperator::Implies, _) => self.implies(left, right),
            (BinaryOperator::Equal, _) => self.equal(left, right),
            _ => self.binary(operator, left, right),
        };
        (self.and(first, second), value)
    }

    fn defined_place(&mut self, place: PlaceId, reasons: &mut Vec<String>) -> (ExprId, PlaceId) {
        if !self.place_may_fail(place) {
            return (self.truth(true), place);
        }
        let Place { root, steps, ty } = self.model.pool[place].clone();
        let (mut has_value, root) = match root {
            Root::Result { function, arguments } => {
                let (has_value, arguments) = self.defined_call(function, &arguments, reasons);
                (has_value, Root::Result { function, arguments })
            }
            Root::Choice { condition, then, otherwise } => {
                let (first, condition) = self.part(condition, reasons);
                let (one, then) = self.defined_place(then, reasons);
                let (other, otherwise) = self.defined_place(otherwise, reasons);
                let rest = self.conditional(condition, one, other);
                (self.and(first, rest), Root::Choice { condition, then, otherwise })
            }
            root => (self.truth(true), root),
        };
        let mut inner = Vec::new();
        for step in steps {
            inner.push(match step {
                Step::Index(index) => {
                    let (next, index) = self.part(index, reasons);
                    has_value = self.and(has_value, next);
                    Step::Index(index)
                }
                other => other,
            });
        }
        (has_value, self.model.pool.place(Place { root, steps: inner, ty }))
    }

    fn defined_call(
        &mut self,
        function: FunctionId,
        arguments: &[Argument],
        reasons: &mut Vec<String>,
    ) -> (ExprId, Vec<Argument>) {
        let mut has_value = self.truth(true);
        let mut passed = Vec::new();
        for argument in arguments {
            let (next, argument) = match *argument {
                Argument::Value(value) => {
                    let (next, value) = self.part(value, reasons);
                    (next, Argument::Value(value))
                }
                Argument::Copy(place) => {
                    let (next, place) = self.defined_place(place, reasons);
                    (next, Argument::Copy(place))
                }
                Argument::Reference(place) => (self.truth(true), Argument::Reference(place)),
                Argument::Undefined => (self.truth(true), Argument::Undefined),
            };
            has_value = self.and(has_value, next);
            passed.push(argument);
        }
        if self.function_may_fail(function) {
            let (twin, own) = self.twin(function);
            reasons.extend(own);
            let call = self.expression(IrExpr::Call { function: twin, arguments: passed.clone() });
            has_value = self.and(has_value, call);
        }
        (has_value, passed)
    }

    /// A function that says whether another one has a value, and why it may have none.
    fn twin(&mut self, function: FunctionId) -> (FunctionId, Vec<String>) {
        if let Some(known) = self.definedness.twins.get(&function) {
            return known.clone();
        }
        let original = self.model.functions[function].clone();
        let mut reasons = Vec::new();
        let mut body = Vec::new();
        // What follows the last statement that may fail changes nothing.
        let mut last = 0;
        for (position, statement) in original.body.iter().enumerate() {
            if self.statement_may_fail(statement) {
                last = position + 1;
            }
        }
        for statement in &original.body[..last] {
            self.twin_statement(statement, &mut body, &mut reasons);
        }
        body.push(self.answer(true, original.span));
        let name = format!("has_{}", original.name);
        let twin = Function { name, result: Some(Model::BOOLEAN), body, ..original };
        let twin = self.model.functions.push(twin);
        reasons.sort();
        reasons.dedup();
        self.definedness.twins.insert(function, (twin, reasons.clone()));
        (twin, reasons)
    }

    fn answer(&mut self, answer: bool, span: Span) -> Statement {
        let value = self.truth(answer);
        Self::statement(StatementKind::Return(Some(ReturnValue::Value(value))), span)
    }

    /// Ends a function with an answer unless a condition holds.
    fn answer_unless(&mut self, condition: ExprId, answer: bool, span: Span, body: &mut Vec<Statement>) {
        if self.constant_of(condition) == Some(1) {
            return;
        }
        let not = self.not(condition);
        let answer = self.answer(answer, span);
        let branches = vec![(not, vec![answer])];
        body.push(Self::statement(StatementKind::If { branches, otherwise: Vec::new() }, span));
    }

    fn twin_block(&mut self, statements: &[Statement], reasons: &mut Vec<String>) -> Vec<Statement> {
        let mut body = Vec::new();
        for statement in statements {
            self.twin_statement(statement, &mut body, reasons);
        }
        body
    }

    /// The same as a statement of a function. The function returns false where the original would fail, and true where
    /// the original returns.
    fn twin_statement(&mut self, statement: &Statement, body: &mut Vec<Statement>, reasons: &mut Vec<String>) {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::Assign { target, value } => {
                let (first, target) = self.defined_place(*target, reasons);
                let (second, value) = self.part(*value, reasons);
                let both = self.and(first, second);
                self.answer_unless(both, false, span, body);
                StatementKind::Assign { target, value }
            }
            StatementKind::Copy { target, source } => {
                let (has_value, source) = self.defined_place(*source, reasons);
                self.answer_unless(has_value, false, span, body);
                StatementKind::Copy { target: *target, source }
            }
            StatementKind::If { branches, otherwise } => {
                let Some(((condition, then), rest)) = branches.split_first() else {
                    body.extend(self.twin_block(otherwise, reasons));
                    return;
                };
                let (has_value, condition) = self.part(*condition, reasons);
                self.answer_unless(has_value, false, span, body);
                let then = self.twin_block(then, reasons);
                let rest = StatementKind::If { branches: rest.to_vec(), otherwise: otherwise.clone() };
                let otherwise = self.twin_block(&[Self::statement(rest, span)], reasons);
                StatementKind::If { branches: vec![(condition, then)], otherwise }
            }
            StatementKind::While { condition, body: turn } => {
                let (has_value, condition) = self.part(*condition, reasons);
                self.answer_unless(has_value, false, span, body);
                let mut turn = self.twin_block(turn, reasons);
                self.answer_unless(has_value, false, span, &mut turn);
                StatementKind::While { condition, body: turn }
            }
            StatementKind::For { local, range, body: turn } => {
                let turn = self.twin_block(turn, reasons);
                StatementKind::For { local: *local, range: range.clone(), body: turn }
            }
            StatementKind::Return(value) => {
                let (has_value, _) = match value {
                    Some(ReturnValue::Value(value)) => self.part(*value, reasons),
                    Some(ReturnValue::Copy(place)) => {
                        let (has_value, _) = self.defined_place(*place, reasons);
                        (has_value, has_value)
                    }
                    None => (self.truth(true), self.truth(true)),
                };
                StatementKind::Return(Some(ReturnValue::Value(has_value)))
            }
            StatementKind::Error { message } => {
                reasons.push(message.clone());
                body.push(self.answer(false, span));
                return;
            }
            StatementKind::Assert { condition, message, .. } | StatementKind::Require { condition, message } => {
                reasons.push(message.clone());
                let (has_value, condition) = self.part(*condition, reasons);
                let both = self.and(has_value, condition);
                self.answer_unless(both, false, span, body);
                return;
            }
            other => other.clone(),
        };
        body.push(Self::statement(kind, span));
    }

    // Conditions of operations.

    /// Only if a condition of the text has a value; returns the value.
    pub(super) fn require_value(&mut self, condition: ExprId, initial: bool, span: Span, path: &mut Path) -> ExprId {
        let Defined { has_value, value, reasons } = self.defined(condition);
        if self.constant_of(has_value) != Some(1) {
            let doubt = Doubt { span, reasons };
            if initial {
                path.doubts.push(GuardDoubt { at: path.guards.len(), doubt });
                path.guards.push(has_value);
            } else {
                path.statements.push(self.assume_value(has_value, doubt));
            }
        }
        value
    }

    /// The conditions of a conditional, evaluated in order until one holds, by statements that drop the step if the
    /// next one has no value; their values.
    pub(super) fn require_values(
        &mut self,
        conditions: &[(ExprId, Span)],
        statements: &mut Vec<Statement>,
    ) -> Vec<ExprId> {
        if !self.is_lenient() {
            return conditions.iter().map(|(condition, _)| *condition).collect();
        }
        let mut before = self.truth(false);
        let mut values = Vec::new();
        for (condition, span) in conditions {
            let Defined { has_value, value, reasons } = self.defined(*condition);
            if self.constant_of(has_value) != Some(1) {
                let decided = self.or(before, has_value);
                statements.push(self.assume_value(decided, Doubt { span: *span, reasons }));
            }
            before = self.or(before, value);
            values.push(value);
        }
        values
    }

    fn assume_value(&mut self, has_value: ExprId, doubt: Doubt) -> Statement {
        let span = doubt.span;
        self.definedness.assumed.insert((has_value, span), doubt);
        Self::statement(StatementKind::Assume(has_value), span)
    }

    /// The value that an equation of a guard gives a symbol. If it has none, neither does the guard.
    pub(super) fn equation_value(&mut self, item: Item, initial: bool, span: Span, path: &mut Path) -> Lowered<Item> {
        if !self.is_lenient() {
            return Ok(item);
        }
        Ok(match item {
            Item::Scalar(value, scalar) => Item::Scalar(self.require_value(value, initial, span, path), scalar),
            Item::Pair(left, right) => {
                let left = self.equation_value((*left).clone(), initial, span, path)?;
                Item::pair(left, self.equation_value((*right).clone(), initial, span, path)?)
            }
            Item::Record(fields) => {
                let mut items = Vec::new();
                for (name, field) in fields {
                    items.push((name, self.equation_value(field, initial, span, path)?));
                }
                Item::Record(items)
            }
            Item::Set(_) => {
                // Membership in a set is evaluated member by member; comparing it with itself evaluates all of them.
                if let Ok(same) = self.same(&item, &item)
                    && self.may_fail(same)
                {
                    self.require_value(same, initial, span, path);
                }
                item
            }
        })
    }

    // Remarks.

    /// Records where conditions on a path to a rule have no value, given the condition on the stage of the machine.
    pub(super) fn note_doubts(&mut self, path: &Path, stage: ExprId, body: &[Statement]) {
        for GuardDoubt { at, doubt } in &path.doubts {
            let mut condition = stage;
            for guard in &path.guards[..*at] {
                condition = self.and(condition, *guard);
            }
            let missing = self.not(path.guards[*at]);
            let condition = self.and(condition, missing);
            let value = StatementKind::Return(Some(ReturnValue::Value(condition)));
            self.remark(doubt, &path.owner, condition, vec![Self::statement(value, doubt.span)]);
        }
        let mut keys = Vec::new();
        assumptions(body, &mut |condition, span| {
            if !keys.contains(&(condition, span)) {
                keys.push((condition, span));
            }
        });
        for key in keys {
            let Some(doubt) = self.definedness.assumed.get(&key).cloned() else { continue };
            let is_there = |statement: &Statement| {
                let mut found = false;
                assumptions(std::slice::from_ref(statement), &mut |condition, span| found |= (condition, span) == key);
                found
            };
            let last = body.iter().rposition(is_there).map_or(0, |position| position + 1);
            if body[..last].iter().any(|statement| self.writes_state(statement)) {
                continue;
            }
            let mut guard = stage;
            for condition in &path.guards {
                guard = self.and(guard, *condition);
            }
            // Without earlier computations, a condition says the same in a form that does not depend on the order in
            // which parameters are tried.
            let is_assumption = |statement: &Statement| matches!(statement.kind, StatementKind::Assume(_));
            if body[..last].iter().all(is_assumption) {
                let mut condition = guard;
                for statement in &body[..last - 1] {
                    if let StatementKind::Assume(before) = statement.kind {
                        condition = self.and(condition, before);
                    }
                }
                let missing = self.not(key.0);
                let condition = self.and(condition, missing);
                let value = StatementKind::Return(Some(ReturnValue::Value(condition)));
                self.remark(&doubt, &path.owner, condition, vec![Self::statement(value, doubt.span)]);
                continue;
            }
            let mut own = Vec::new();
            self.answer_unless(guard, false, doubt.span, &mut own);
            for statement in &body[..last] {
                self.watch_statement(statement, key, &mut own);
            }
            own.push(self.answer(false, doubt.span));
            let mark = self.and(guard, key.0);
            self.remark(&doubt, &path.owner, mark, own);
        }
    }

    /// The same as a statement of a rule, which answers whether an assumption fails.
    fn watch_statement(&mut self, statement: &Statement, key: (ExprId, Span), body: &mut Vec<Statement>) {
        let span = statement.span;
        let block = |lowerer: &mut Self, statements: &[Statement]| {
            let mut body = Vec::new();
            statements.iter().for_each(|statement| lowerer.watch_statement(statement, key, &mut body));
            body
        };
        let kind = match &statement.kind {
            StatementKind::Assume(condition) => {
                return self.answer_unless(*condition, (*condition, span) == key, span, body);
            }
            StatementKind::Assert { condition, .. } | StatementKind::Require { condition, .. } => {
                return self.answer_unless(*condition, false, span, body);
            }
            StatementKind::Error { .. } => {
                body.push(self.answer(false, span));
                return;
            }
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches.iter().map(|(condition, then)| (*condition, block(self, then))).collect(),
                otherwise: block(self, otherwise),
            },
            StatementKind::While { condition, body } => {
                StatementKind::While { condition: *condition, body: block(self, body) }
            }
            StatementKind::For { local, range, body } => {
                StatementKind::For { local: *local, range: range.clone(), body: block(self, body) }
            }
            other => other.clone(),
        };
        body.push(Self::statement(kind, span));
    }

    fn writes_state(&self, statement: &Statement) -> bool {
        let is_state = |place: PlaceId| matches!(self.model.pool[place].root, Root::Variable(_));
        let any = |body: &[Statement]| body.iter().any(|statement| self.writes_state(statement));
        match &statement.kind {
            StatementKind::Assign { target, .. } | StatementKind::Copy { target, .. } => is_state(*target),
            StatementKind::Clear(place) | StatementKind::Undefine(place) => is_state(*place),
            StatementKind::If { branches, otherwise } => branches.iter().any(|(_, body)| any(body)) || any(otherwise),
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => any(body),
            StatementKind::Bind { .. } | StatementKind::Call { .. } => true,
            _ => false,
        }
    }

    /// Adds a way in which a condition of the text may have no value: the statements return so for some values of the
    /// parameters of an owner. `mark` distinguishes this way from others.
    fn remark(&mut self, doubt: &Doubt, owner: &Owner, mark: ExprId, statements: Vec<Statement>) {
        let position = match self.definedness.remarks.iter().position(|known| known.doubt.span == doubt.span) {
            Some(position) => position,
            None => {
                let (locals, condition) = (Table::default(), self.truth(false));
                let known = FxHashSet::default();
                self.definedness.remarks.push(RemarkDraft { doubt: doubt.clone(), locals, condition, known });
                self.definedness.remarks.len() - 1
            }
        };
        let draft = &mut self.definedness.remarks[position];
        draft.doubt.reasons.extend(doubt.reasons.iter().cloned());
        let parameters = owner.parameters.iter().map(|it| (it.local, owner.locals[it.local].ty)).collect();
        if !draft.known.insert((mark, parameters)) {
            return;
        }
        let function = self.remark_function(owner, statements, doubt.span);
        let entry = &self.model.functions[function];
        let parameters: Vec<Local> = entry.parameters.iter().map(|local| entry.locals[*local].clone()).collect();
        let mut binders = Vec::new();
        let mut arguments = Vec::new();
        for parameter in parameters {
            let ty = parameter.ty;
            let local = self.definedness.remarks[position].locals.push(parameter);
            let place = self.place(Root::Local(local), ty);
            binders.push((local, ty));
            arguments.push(Argument::Value(self.read(place)));
        }
        let call = self.expression(IrExpr::Call { function, arguments });
        let some = self.quantify_plainly(IrQuantifier::Any, &binders, call);
        let before = self.definedness.remarks[position].condition;
        self.definedness.remarks[position].condition = self.or(before, some);
    }

    /// A function of the scalars that the parameters of an owner consist of.
    fn remark_function(&mut self, owner: &Owner, statements: Vec<Statement>, span: Span) -> FunctionId {
        let mut locals = owner.locals.clone();
        let mut parameters = Vec::new();
        let mut body = Vec::new();
        for Parameter { local, range } in &owner.parameters {
            debug_assert!(matches!(range, Iteration::Over(_)), "parameters of operations range over types");
            let ty = locals[*local].ty;
            if self.model.is_scalar(ty) {
                parameters.push(*local);
                continue;
            }
            locals[*local].kind = LocalKind::Variable;
            let whole = self.place(Root::Local(*local), ty);
            let mut pending = vec![whole];
            while let Some(place) = pending.pop() {
                let ty = self.model.pool[place].ty;
                match self.model.types[ty].kind.clone() {
                    TypeKind::Array { index, .. } => {
                        for value in self.model.domain(index).values() {
                            let index = self.expression(IrExpr::Constant { value, ty: index });
                            pending.push(self.element(place, index));
                        }
                    }
                    TypeKind::Record { fields } => {
                        pending.extend((0..fields.len()).map(|field| self.field(place, field as u32)))
                    }
                    _ => {
                        let name = format!("{}_{}", locals[*local].name, parameters.len());
                        let cell = locals.push(Local { name, ty, kind: LocalKind::Parameter, span });
                        parameters.push(cell);
                        let from = self.place(Root::Local(cell), ty);
                        let value = self.read(from);
                        body.push(Self::statement(StatementKind::Assign { target: place, value }, span));
                    }
                }
            }
        }
        body.extend(statements);
        let name = format!("no_value_{}", self.model.functions.iter().count() + 1);
        let result = Some(Model::BOOLEAN);
        self.model.functions.push(Function { name, parameters, locals, result, body, span })
    }

    /// Adds the remarks to the model, in the order of the text.
    pub(super) fn add_remarks(&mut self) {
        let mut drafts = std::mem::take(&mut self.definedness.remarks);
        drafts.sort_by_key(|draft| draft.doubt.span);
        for RemarkDraft { doubt, locals, condition, .. } in drafts {
            if self.constant_of(condition) == Some(0) {
                continue;
            }
            let Doubt { span, mut reasons } = doubt;
            reasons.sort();
            reasons.dedup();
            let text = self.model.source.text.get(span.start as usize..span.end as usize).unwrap_or("this condition");
            let text: Vec<&str> = text.split_whitespace().collect();
            let name = format!("`{}` has no value: {}", text.join(" "), reasons.join(", or "));
            self.model.properties.push(Property {
                name: Some(name),
                kind: PropertyKind::Remark,
                parameters: Vec::new(),
                locals,
                formula: condition.into(),
                span,
            });
        }
    }
}

/// Calls `visit` with all that statements assume.
fn assumptions(statements: &[Statement], visit: &mut dyn FnMut(ExprId, Span)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assume(condition) => visit(*condition, statement.span),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| assumptions(body, visit));
                assumptions(otherwise, visit);
            }
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => assumptions(body, visit),
            _ => {}
        }
    }
}
