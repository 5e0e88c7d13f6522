//! Expressions and places. Written with a stack of tasks instead of recursion: expressions of
//! generated models can be deeper than the machine's stack.

use std::rc::Rc;

use super::PrintError;
use super::generated::membership;
use super::kinds::Kind;
use super::program::Printer;
use super::scope::{Binding, Scope};
use super::statements::is_true;
use super::types::number_text;
use super::walk::Node;
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Quantifier, Root, Step, UnaryOperator};
use crate::index::{ExprId, FunctionId, LocalId, PlaceId, TypeId};
use crate::model::{LocalKind, Model};
use crate::text::{Level, notation};
use crate::types::TypeKind;

/// The deepest nesting of ranges in the bounds of ranges.
const DEEPEST: usize = 100;

/// The form in which the value of an expression is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// As it is.
    Natural,
    /// As a number.
    Number,
    /// As a value of a type; otherwise a run-time error.
    Stored(TypeId),
}

/// The use of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Its scalar value is read.
    Value,
    /// Its contents are copied or compared.
    Contents,
    /// It is written to, or bound to a reference.
    Target,
    /// It is tested for being undefined.
    Undefined,
}

enum Task {
    Text(&'static str),
    Owned(String),
    Expression(ExprId, Level, Want),
    /// A place with further steps after its own; if a number is given, only that many steps in all.
    Place(PlaceId, Rc<[Step]>, Use, Option<usize>, Level),
    Bind(LocalId, Binding),
    Release(String),
}

impl<'m> Printer<'m> {
    /// An expression, in parentheses if it binds more loosely than `level`.
    pub(super) fn expression(
        &mut self,
        scope: &mut Scope<'m>,
        expression: ExprId,
        level: Level,
        want: Want,
    ) -> Result<String, PrintError> {
        self.run(scope, Task::Expression(expression, level, want))
    }

    /// A condition; a long conjunction is written on several lines.
    pub(super) fn condition(&mut self, scope: &mut Scope<'m>, condition: ExprId) -> Result<String, PrintError> {
        let text = self.expression(scope, condition, Level::Conditional, Want::Natural)?;
        if text.len() <= 100 {
            return Ok(text);
        }
        let mut conjuncts = Vec::new();
        let mut rest = condition;
        while let Expr::Binary { operator: BinaryOperator::And, left, right } = self.model.pool[rest] {
            conjuncts.push(right);
            rest = left;
        }
        if conjuncts.is_empty() {
            return Ok(text);
        }
        let form = notation(BinaryOperator::And);
        let mut lines = self.expression(scope, rest, form.left, Want::Natural)?;
        for conjunct in conjuncts.into_iter().rev() {
            lines.push_str("\n  & ");
            lines.push_str(&self.expression(scope, conjunct, form.right, Want::Natural)?);
        }
        Ok(lines)
    }

    /// A place.
    pub(super) fn place(&mut self, scope: &mut Scope<'m>, place: PlaceId, used: Use) -> Result<String, PrintError> {
        self.run(scope, Task::Place(place, Rc::new([]), used, None, Level::Conditional))
    }

    /// A call with its arguments.
    pub(super) fn call(
        &mut self,
        scope: &mut Scope<'m>,
        function: FunctionId,
        arguments: &[Argument],
    ) -> Result<String, PrintError> {
        let mut tasks = Vec::new();
        self.push_call(scope, function, arguments, &mut tasks)?;
        let mut text = String::new();
        for task in tasks {
            text.push_str(&self.run(scope, task)?);
        }
        Ok(text)
    }

    fn run(&mut self, scope: &mut Scope<'m>, first: Task) -> Result<String, PrintError> {
        // Only the bounds of ranges and counts start a nested run.
        if self.running >= DEEPEST {
            return Err(self.unprintable(&scope.what, "an expression is nested too deeply".into()));
        }
        self.running += 1;
        let result = self.run_tasks(scope, first);
        self.running -= 1;
        result
    }

    fn run_tasks(&mut self, scope: &mut Scope<'m>, first: Task) -> Result<String, PrintError> {
        let mut output = String::new();
        let mut tasks = vec![first];
        let mut next = Vec::new();
        while let Some(task) = tasks.pop() {
            if output.len() > self.options.max_bytes {
                return Err(PrintError::TooLong { limit: self.options.max_bytes });
            }
            match task {
                Task::Text(text) => output.push_str(text),
                Task::Owned(text) => output.push_str(&text),
                Task::Bind(local, binding) => {
                    scope.bind(local, binding);
                }
                Task::Release(name) => scope.release(&name),
                Task::Expression(expression, level, want) => {
                    self.push_expression(scope, expression, level, want, &mut next)?;
                }
                Task::Place(place, tail, used, length, level) => {
                    self.push_place(scope, place, tail, used, length, level, &mut next)?;
                }
            }
            tasks.extend(next.drain(..).rev());
        }
        Ok(output)
    }

    fn push_expression(
        &mut self,
        scope: &mut Scope<'m>,
        id: ExprId,
        level: Level,
        want: Want,
        tasks: &mut Vec<Task>,
    ) -> Result<(), PrintError> {
        let kind = self.kinds.of_expression(id);
        let wanted = match want {
            Want::Natural => kind,
            Want::Number => Kind::Number,
            Want::Stored(ty) => self.kinds.of_type(self.model, ty),
        };
        match (want, &self.model.pool[id]) {
            (Want::Stored(ty), _) if kind == wanted && self.has_gaps(ty) && !self.surely_in(scope, id, ty) => {
                let function = self.checked(ty)?;
                tasks.push(Task::Owned(format!("{function}(")));
                tasks.push(Task::Expression(id, Level::Conditional, Want::Number));
                tasks.push(Task::Text(")"));
                Ok(())
            }
            _ if kind == wanted => self.push_natural(scope, id, level, tasks),
            // A member of an enumeration as the bound of a loop over numbers.
            (_, &Expr::Constant { value, .. }) if wanted == Kind::Number => {
                push_at(number_level(value), level, vec![Task::Owned(number_text(value))], tasks);
                Ok(())
            }
            _ => Err(self.unprintable(&scope.what, "values of different kinds meet".into())),
        }
    }

    /// An expression in its natural form.
    fn push_natural(
        &mut self,
        scope: &mut Scope<'m>,
        id: ExprId,
        level: Level,
        tasks: &mut Vec<Task>,
    ) -> Result<(), PrintError> {
        let model = self.model;
        let mut parts = Vec::new();
        let own = match &model.pool[id] {
            &Expr::Constant { value, ty } => {
                parts.push(Task::Owned(self.constant_text(value, ty)));
                number_level(value)
            }
            &Expr::Read(place) => {
                tasks.push(Task::Place(place, Rc::new([]), Use::Value, None, level));
                return Ok(());
            }
            &Expr::IsUndefined(place) => {
                tasks.push(Task::Place(place, Rc::new([]), Use::Undefined, None, level));
                return Ok(());
            }
            &Expr::Unary { operator, operand } => match operator {
                UnaryOperator::Not => {
                    if let Expr::SameContents { left, right } = model.pool[operand] {
                        self.push_comparison(left, " != ", right, &mut parts)
                    } else {
                        parts.extend([Task::Text("!"), Task::Expression(operand, Level::Unary, Want::Natural)]);
                        Level::Not
                    }
                }
                UnaryOperator::Negate => {
                    parts.extend([Task::Text("-"), Task::Expression(operand, Level::Primary, Want::Number)]);
                    Level::Unary
                }
                UnaryOperator::Complement => {
                    parts.extend([Task::Text("~"), Task::Expression(operand, Level::Primary, Want::Number)]);
                    Level::Unary
                }
            },
            &Expr::Binary { operator: BinaryOperator::And, left, right } if is_true(model, right) => {
                tasks.push(Task::Expression(left, level, Want::Natural));
                return Ok(());
            }
            &Expr::Binary { operator, left, right } => match self.decided(operator, left, right) {
                Some(truth) => {
                    parts.push(Task::Text(if truth { "true" } else { "false" }));
                    Level::Primary
                }
                None => self.push_binary(operator, left, right, &mut parts),
            },
            &Expr::Conditional { condition, then, otherwise } => {
                parts.extend([
                    Task::Expression(condition, Level::Implies, Want::Natural),
                    Task::Text(" ? "),
                    Task::Expression(then, Level::Implies, Want::Natural),
                    Task::Text(" : "),
                    Task::Expression(otherwise, Level::Implies, Want::Natural),
                ]);
                Level::Conditional
            }
            Expr::Quantified { quantifier, local, range, body } => {
                let (variable, head, binding) = self.iteration(scope, *local, range)?;
                let word = match quantifier {
                    Quantifier::All => "forall",
                    Quantifier::Any => "exists",
                };
                let before = scope.binding(*local).clone();
                parts.extend([
                    Task::Owned(format!("{word} {head} do ")),
                    Task::Bind(*local, binding),
                    Task::Expression(*body, Level::Conditional, Want::Natural),
                    Task::Text(" end"),
                    Task::Bind(*local, before),
                    Task::Release(variable),
                ]);
                Level::Primary
            }
            &Expr::Count { local, multiset, body } => {
                parts.push(Task::Owned(self.count(scope, local, multiset, body)?));
                Level::Primary
            }
            &Expr::IsPresent { multiset, position } => {
                parts.push(Task::Place(multiset, Rc::new([]), Use::Contents, None, Level::Primary));
                parts.extend([
                    Task::Text("["),
                    Task::Expression(position, Level::Conditional, Want::Number),
                    Task::Text("].present"),
                ]);
                Level::Primary
            }
            &Expr::IsMember { value, ty } => self.push_membership(scope, value, ty, &mut parts)?,
            &Expr::SameContents { left, right } => self.push_comparison(left, " = ", right, &mut parts),
            Expr::Call { function, arguments } => {
                self.push_call(scope, *function, arguments, &mut parts)?;
                Level::Primary
            }
        };
        push_at(own, level, parts, tasks);
        Ok(())
    }

    fn push_comparison(&self, left: PlaceId, symbol: &'static str, right: PlaceId, parts: &mut Vec<Task>) -> Level {
        for (place, separator) in [(left, symbol), (right, "")] {
            parts.push(Task::Place(place, Rc::new([]), Use::Contents, None, Level::Shift));
            parts.push(Task::Text(separator));
        }
        Level::Comparison
    }

    /// Whether two constants are equal, for a comparison of constants.
    fn decided(&self, operator: BinaryOperator, left: ExprId, right: ExprId) -> Option<bool> {
        match (&self.model.pool[left], &self.model.pool[right], operator) {
            (Expr::Constant { value: left, .. }, Expr::Constant { value: right, .. }, BinaryOperator::Equal) => {
                Some(left == right)
            }
            _ => None,
        }
    }

    fn push_binary(&self, operator: BinaryOperator, left: ExprId, right: ExprId, parts: &mut Vec<Task>) -> Level {
        let form = notation(operator);
        let ambiguous = matches!(operator, BinaryOperator::BitAnd | BinaryOperator::BitOr);
        // After a value of a named range, rumur reads `&` and `|` as the logical operators.
        let plain = if ambiguous && self.has_named_type(left) { " + 0" } else { "" };
        if form.level == Level::Comparison
            && !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual)
            && self.kinds.of_expression(left) == Kind::Boolean
        {
            // Murphi orders numbers, but not truth values.
            for (operand, separator) in [(left, form.symbol), (right, "")] {
                parts.extend([Task::Text("("), Task::Expression(operand, Level::Implies, Want::Natural)]);
                parts.push(Task::Text(if separator.is_empty() { " ? 1 : 0)" } else { " ? 1 : 0) " }));
                parts.extend([Task::Text(separator), Task::Text(if separator.is_empty() { "" } else { " " })]);
            }
            return form.level;
        }
        parts.extend([
            Task::Expression(left, form.left, Want::Natural),
            Task::Text(plain),
            Task::Text(" "),
            Task::Text(form.symbol),
            Task::Text(" "),
            Task::Expression(right, form.right, Want::Natural),
        ]);
        form.level
    }

    /// Whether rumur considers the type of a number to be a named one.
    fn has_named_type(&self, expression: ExprId) -> bool {
        let mut id = expression;
        loop {
            let ty = match &self.model.pool[id] {
                Expr::Conditional { then, .. } => {
                    id = *then;
                    continue;
                }
                Expr::Read(place) => self.model.pool[*place].ty,
                Expr::Call { function, .. } => match self.model.functions[*function].result {
                    Some(ty) => ty,
                    None => return false,
                },
                _ => return false,
            };
            // A local without a range may be declared with the name of the widest one.
            return ty == Model::INTEGER || self.names.ty(ty).is_some();
        }
    }

    fn push_membership(
        &mut self,
        scope: &mut Scope<'m>,
        value: ExprId,
        ty: TypeId,
        parts: &mut Vec<Task>,
    ) -> Result<Level, PrintError> {
        if self.kinds.of_expression(value) != Kind::Number {
            // A value of this very type: only its evaluation remains.
            for separator in [" = ", ""] {
                parts.push(Task::Expression(value, Level::Shift, Want::Natural));
                parts.push(Task::Text(separator));
            }
            return Ok(Level::Comparison);
        }
        let pieces = self.model.domain(ty).pieces().to_vec();
        let bounds = self.interval_type(scope.bounds.of_expression(value));
        let function = self.generate(format!("member {pieces:?} {bounds}"), "is_member", |_, name| {
            let members = membership("value", &pieces);
            Ok(format!("function {name}(value: {bounds}): boolean;\nbegin\n  return {members};\nend;\n"))
        })?;
        // An undefined value is passed on, but then read there.
        parts.push(Task::Owned(format!("{function}(")));
        parts.push(Task::Expression(value, Level::Conditional, Want::Number));
        parts.push(Task::Text(")"));
        Ok(Level::Primary)
    }

    /// Reads a scalar place where Murphi would pass it on undefined.
    fn push_forced_read(&self, value: ExprId, parts: &mut Vec<Task>) {
        parts.extend([
            Task::Text("true ? "),
            Task::Expression(value, Level::Implies, Want::Natural),
            Task::Text(" : "),
            Task::Expression(value, Level::Implies, Want::Natural),
        ]);
    }

    /// Whether an expression is a plain read of a place that can be undefined. Ruleset parameters, loop variables and
    /// bound variables always have a value.
    fn may_be_undefined(&self, scope: &Scope<'m>, value: ExprId) -> bool {
        let Expr::Read(place) = self.model.pool[value] else { return false };
        let place = &self.model.pool[place];
        match place.root {
            Root::Local(local) => {
                scope.owner.locals[local].kind != LocalKind::Parameter || scope.owner.formals.contains(&local)
            }
            _ => true,
        }
    }

    /// Whether the value of an expression certainly belongs to a type with gaps.
    fn surely_in(&self, scope: &Scope<'m>, expression: ExprId, ty: TypeId) -> bool {
        let domain = self.model.domain(ty);
        let mut open = vec![expression];
        while let Some(expression) = open.pop() {
            let inside = |low: i128, high: i128| {
                domain.pieces().iter().any(|&(first, last)| i128::from(first) <= low && high <= i128::from(last))
            };
            let interval = scope.bounds.of_expression(expression);
            if inside(interval.low, interval.high) {
                continue;
            }
            let ty = match &self.model.pool[expression] {
                Expr::Read(place) => Some(self.model.pool[*place].ty),
                Expr::Call { function, .. } => self.model.functions[*function].result,
                Expr::Conditional { then, otherwise, .. } => {
                    open.extend([*then, *otherwise]);
                    continue;
                }
                _ => None,
            };
            let values = ty.map(|ty| self.model.domain(ty));
            if !values.is_some_and(|values| values.pieces().iter().all(|&(low, high)| inside(low.into(), high.into())))
            {
                return false;
            }
        }
        true
    }

    fn push_call(
        &mut self,
        scope: &mut Scope<'m>,
        function: FunctionId,
        arguments: &[Argument],
        parts: &mut Vec<Task>,
    ) -> Result<(), PrintError> {
        let model = self.model;
        let callee = &model.functions[function];
        parts.push(Task::Owned(format!("{}(", self.names.function(function))));
        for (position, (argument, &parameter)) in arguments.iter().zip(&callee.parameters).enumerate() {
            if position > 0 {
                parts.push(Task::Text(", "));
            }
            let ty = callee.locals[parameter].ty;
            match *argument {
                Argument::Value(value) if self.may_be_undefined(scope, value) => {
                    if self.kinds.of_expression(value) == self.kinds.of_type(model, ty)
                        && (!self.has_gaps(ty) || self.surely_in(scope, value, ty))
                    {
                        self.push_forced_read(value, parts);
                    } else {
                        parts.push(Task::Expression(value, Level::Conditional, Want::Stored(ty)));
                    }
                }
                Argument::Value(value) => parts.push(Task::Expression(value, Level::Conditional, Want::Stored(ty))),
                Argument::Undefined => {
                    let name = self.undefined_variable(ty, &scope.what)?;
                    parts.push(Task::Owned(name));
                }
                Argument::Copy(place) | Argument::Reference(place) => {
                    let contents = &model.pool[place];
                    let by_reference = matches!(argument, Argument::Reference(_));
                    if !self.fits(contents.ty, ty, by_reference) {
                        let reason = format!("an argument of `{}` has another type than its parameter", callee.name);
                        return Err(self.unprintable(&scope.what, reason));
                    }
                    let designator = matches!(contents.root, Root::Variable(_) | Root::Local(_));
                    let used = match (by_reference, model.is_scalar(ty)) {
                        (true, _) => Use::Target,
                        // The value is not read here, but the place is written in the same way.
                        (false, true) if designator => Use::Contents,
                        (false, true) => {
                            let reason =
                                format!("`{}` may get an undefined value that is not in a variable", callee.name);
                            return Err(self.unprintable(&scope.what, reason));
                        }
                        (false, false) => Use::Contents,
                    };
                    let part = Task::Place(place, Rc::new([]), used, None, Level::Conditional);
                    // rumur passes a choice without copying it.
                    if matches!(contents.root, Root::Choice { .. }) && !by_reference && !self.is_pure(function) {
                        let copy = self.copy_of(contents.ty)?;
                        parts.extend([Task::Owned(format!("{copy}(")), part, Task::Text(")")]);
                    } else {
                        parts.push(part);
                    }
                }
            }
        }
        parts.push(Task::Text(")"));
        Ok(())
    }

    /// Whether Murphi accepts a place of one type for a parameter of another.
    pub(super) fn fits(&self, argument: TypeId, parameter: TypeId, by_reference: bool) -> bool {
        let model = self.model;
        let mut pairs = vec![(argument, parameter, by_reference)];
        while let Some((one, other, exactly)) = pairs.pop() {
            if one == other {
                continue;
            }
            match (&model.types[one].kind, &model.types[other].kind) {
                (
                    &TypeKind::Array { index: one_index, element: one },
                    &TypeKind::Array { index: other_index, element: other },
                ) => pairs.extend([(one_index, other_index, true), (one, other, true)]),
                (TypeKind::Record { fields: one }, TypeKind::Record { fields: other }) => {
                    let same_names = one.iter().map(|field| &field.name).eq(other.iter().map(|field| &field.name));
                    if !same_names {
                        return false;
                    }
                    pairs.extend(one.iter().zip(other).map(|(one, other)| (one.ty, other.ty, true)));
                }
                (
                    TypeKind::Multiset { capacity: one_capacity, element: one },
                    TypeKind::Multiset { capacity: other_capacity, element: other },
                ) => {
                    if one_capacity != other_capacity {
                        return false;
                    }
                    pairs.push((*one, *other, true));
                }
                _ if model.is_scalar(one) && model.is_scalar(other) => {
                    let same_kind = self.kinds.of_type(model, one) == self.kinds.of_type(model, other);
                    // A value is checked against the range; a place must have the same range. A parameter with gaps
                    // would need a check that accepts "undefined".
                    let (values, allowed) = (model.domain(one), model.domain(other));
                    let within = |&(low, high): &(i64, i64)| {
                        allowed.pieces().iter().any(|&(first, last)| first <= low && high <= last)
                    };
                    let harmless = !self.has_gaps(other) || values.pieces().iter().all(within);
                    if !same_kind || (values != allowed && (exactly || !harmless)) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// The part before `do`: the variable's name, the whole head, and how the local is written in the body. The caller
    /// binds it there, and releases the name afterwards.
    pub(super) fn iteration(
        &mut self,
        scope: &mut Scope<'m>,
        local: LocalId,
        range: &Iteration,
    ) -> Result<(String, String, Binding), PrintError> {
        match *range {
            Iteration::Over(ty) => {
                let variable = scope.name(&self.names, local);
                let (head, binding) = self.over_type(&variable, ty)?;
                Ok((variable.clone(), format!("{variable}{head}"), binding))
            }
            Iteration::Steps { from, to, step } => {
                let constant = |id: ExprId| match self.model.pool[id] {
                    Expr::Constant { value, .. } => Some(value),
                    _ => None,
                };
                let (constant_from, constant_to) = (constant(from), constant(to));
                let constant_step = match step {
                    Some(step) => constant(step),
                    None if constant_from.zip(constant_to).is_some_and(|(from, to)| to < from) => Some(-1),
                    None => Some(1),
                };
                let bad = match (constant_from.zip(constant_to), constant_step) {
                    (_, Some(0)) => true,
                    (Some((from, to)), Some(step)) => (from < to && step < 0) || (from > to && step > 0),
                    _ => false,
                };
                if bad {
                    let reason =
                        format!("rumur rejects the steps of `{}`, which lead nowhere", scope.source_name(local));
                    return Err(self.unprintable(&scope.what, reason));
                }
                let from_text = self.expression(scope, from, Level::Conditional, Want::Number)?;
                let to_text = self.expression(scope, to, Level::Conditional, Want::Number)?;
                let mut tail = format!(" := {from_text} to {to_text}");
                match step {
                    Some(step) => {
                        tail.push_str(" by ");
                        tail.push_str(&self.expression(scope, step, Level::Conditional, Want::Number)?);
                    }
                    // rumur considers a descending loop over constants a mistake unless it has an explicit step.
                    None if constant_step == Some(-1) => tail.push_str(" by -1"),
                    None => {}
                }
                let variable = scope.name(&self.names, local);
                let head = format!("{variable}{tail}");
                Ok((variable.clone(), head, Binding::Name(variable)))
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn push_place(
        &mut self,
        scope: &mut Scope<'m>,
        id: PlaceId,
        tail: Rc<[Step]>,
        used: Use,
        length: Option<usize>,
        level: Level,
        tasks: &mut Vec<Task>,
    ) -> Result<(), PrintError> {
        let model = self.model;
        let place = &model.pool[id];
        let steps: Vec<Step> = place.steps.iter().chain(tail.iter()).copied().collect();
        let shown = &steps[..length.unwrap_or(steps.len())];
        let (root, root_type) = match &place.root {
            Root::Variable(variable) => (self.names.variable(*variable).to_owned(), model.variables[*variable].ty),
            Root::Local(local) => {
                let ty = scope.owner.locals[*local].ty;
                match scope.binding(*local) {
                    Binding::Name(name) => (name.clone(), ty),
                    Binding::Value(value) => {
                        match used {
                            Use::Undefined => tasks.push(Task::Text("false")),
                            Use::Target => return Err(self.unbound(scope, *local)),
                            Use::Value | Use::Contents => tasks.push(Task::Owned(value.clone())),
                        }
                        return Ok(());
                    }
                    Binding::Cells(cells) => {
                        let Some(cell) = self.constant_cell(ty, shown).and_then(|cell| cells.get(cell)) else {
                            return Err(self.unbound(scope, *local));
                        };
                        match used {
                            Use::Undefined => tasks.push(Task::Text("false")),
                            Use::Target => return Err(self.unbound(scope, *local)),
                            Use::Value | Use::Contents => tasks.push(Task::Owned(cell.clone())),
                        }
                        return Ok(());
                    }
                    Binding::None => return Err(self.unbound(scope, *local)),
                }
            }
            &Root::Choice { condition, then, otherwise } => {
                let steps: Rc<[Step]> = steps.into();
                let inner = |branch: PlaceId| {
                    // The branches have their own steps before these.
                    let length = length.map(|length| length + model.pool[branch].steps.len());
                    Task::Place(branch, steps.clone(), used, length, Level::Implies)
                };
                let parts = vec![
                    Task::Expression(condition, Level::Implies, Want::Natural),
                    Task::Text(" ? "),
                    inner(then),
                    Task::Text(" : "),
                    inner(otherwise),
                ];
                push_at(Level::Conditional, level, parts, tasks);
                return Ok(());
            }
            Root::Result { function, arguments } => {
                let mut call = Vec::new();
                self.push_call(scope, *function, arguments, &mut call)?;
                if shown.is_empty() {
                    tasks.extend(call);
                    return Ok(());
                }
                let ty = model.functions[*function].result;
                let Some(ty) = ty else {
                    return Err(self.unprintable(&scope.what, "a procedure is used for its result".into()));
                };
                return self.push_projection(scope, ty, shown, used, call, tasks);
            }
        };
        if used == Use::Undefined {
            tasks.push(Task::Text("isundefined("));
        }
        tasks.push(Task::Owned(root));
        let mut ty = root_type;
        for (position, step) in shown.iter().enumerate() {
            match (*step, &model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) if (field as usize) < fields.len() => {
                    let name = self.names.field(ty, field).expect("every field of a record has a name");
                    tasks.push(Task::Owned(format!(".{name}")));
                    ty = fields[field as usize].ty;
                }
                (Step::Index(index), &TypeKind::Array { index: index_type, element }) => {
                    tasks.extend([
                        Task::Text("["),
                        Task::Expression(index, Level::Conditional, Want::Stored(index_type)),
                        Task::Text("]"),
                    ]);
                    ty = element;
                }
                (Step::Index(index), &TypeKind::Multiset { element, .. }) => {
                    tasks.push(Task::Text("["));
                    let index_task = Task::Expression(index, Level::Conditional, Want::Number);
                    // The cells of an absent element are undefined, so reading one is a run-time error by itself; other
                    // uses need a check.
                    if used == Use::Value {
                        tasks.push(index_task);
                    } else {
                        self.refuse_impure(scope, &steps[..position], index)?;
                        let check = self.presence_check(ty)?;
                        tasks.extend([
                            Task::Owned(format!("{check}(")),
                            Task::Place(id, tail.clone(), Use::Contents, Some(position), Level::Conditional),
                            Task::Text(", "),
                            index_task,
                            Task::Text(")"),
                        ]);
                    }
                    tasks.push(Task::Text("].element"));
                    ty = element;
                }
                _ => return Err(self.unprintable(&scope.what, "a path does not fit the type it leads into".into())),
            }
        }
        if used == Use::Undefined {
            tasks.push(Task::Text(")"));
        }
        Ok(())
    }

    /// The cell that constant steps lead to, counted from the first.
    pub(super) fn constant_cell(&self, ty: TypeId, steps: &[Step]) -> Option<usize> {
        let model = self.model;
        let mut ty = ty;
        let mut cell = 0u64;
        for step in steps {
            match (*step, &model.types[ty].kind) {
                (Step::Field(position), TypeKind::Record { fields }) => {
                    cell += fields.iter().take(position as usize).map(|field| model.cells(field.ty)).sum::<u64>();
                    ty = fields.get(position as usize)?.ty;
                }
                (Step::Index(index), &TypeKind::Array { index: index_type, element }) => {
                    let Expr::Constant { value, .. } = model.pool[index] else { return None };
                    cell += model.domain(index_type).code_of(value)? * model.cells(element);
                    ty = element;
                }
                _ => return None,
            }
        }
        if model.is_scalar(ty) { usize::try_from(cell).ok() } else { None }
    }

    /// A path into the result of a function, which Murphi cannot express: a generated function of the result and the
    /// indices.
    fn push_projection(
        &mut self,
        scope: &mut Scope<'m>,
        ty: TypeId,
        steps: &[Step],
        used: Use,
        call: Vec<Task>,
        tasks: &mut Vec<Task>,
    ) -> Result<(), PrintError> {
        let model = self.model;
        let mut path = String::new();
        let mut formals = String::new();
        let mut indices = Vec::new();
        let mut target = ty;
        for step in steps {
            match (*step, &model.types[target].kind) {
                (Step::Field(field), TypeKind::Record { fields }) if (field as usize) < fields.len() => {
                    path.push('.');
                    path.push_str(self.names.field(target, field).expect("every field of a record has a name"));
                    target = fields[field as usize].ty;
                }
                (Step::Index(index), &TypeKind::Array { index: index_type, element }) => {
                    indices.push((index, index_type));
                    let number = indices.len();
                    path.push_str(&format!("[index_{number}]"));
                    formals.push_str(&format!("; index_{number}: {}", self.type_text(index_type)?));
                    target = element;
                }
                _ => {
                    let reason = "a path leads into a multiset that a function returns";
                    return Err(self.unprintable(&scope.what, reason.into()));
                }
            }
        }
        let key = format!("projection {ty:?} {path} {}", used == Use::Undefined);
        let like = if used == Use::Undefined { "is_undefined_in" } else { "part_of" };
        let function = self.generate(key, like, |printer, name| {
            let whole = printer.type_text(ty)?;
            let (result, value) = match used {
                Use::Undefined => ("boolean".to_owned(), format!("isundefined(whole{path})")),
                _ => (printer.type_text(target)?, format!("whole{path}")),
            };
            Ok(format!("function {name}(whole: {whole}{formals}): {result};\nbegin\n  return {value};\nend;\n"))
        })?;
        tasks.push(Task::Owned(format!("{function}(")));
        tasks.extend(call);
        for (index, index_type) in indices {
            // An undefined index is passed on, but then read there.
            tasks.push(Task::Text(", "));
            tasks.push(Task::Expression(index, Level::Conditional, Want::Stored(index_type)));
        }
        tasks.push(Task::Text(")"));
        Ok(())
    }

    /// A place in the result of a function, as the call and the path from a name for its result.
    pub(super) fn result_path(
        &mut self,
        scope: &mut Scope<'m>,
        place: PlaceId,
        name: &str,
    ) -> Result<(String, String), PrintError> {
        let model = self.model;
        let place = &model.pool[place];
        let Root::Result { function, arguments } = &place.root else {
            return Err(self.unprintable(&scope.what, "a path does not begin at a function's result".into()));
        };
        let call = self.call(scope, *function, arguments)?;
        let mut path = name.to_owned();
        let mut ty = model.functions[*function].result;
        for step in &place.steps {
            let kind = ty.map(|ty| (ty, &model.types[ty].kind));
            ty = match (*step, kind) {
                (Step::Field(field), Some((ty, TypeKind::Record { fields }))) if (field as usize) < fields.len() => {
                    path.push('.');
                    path.push_str(self.names.field(ty, field).expect("every field of a record has a name"));
                    Some(fields[field as usize].ty)
                }
                (Step::Index(index), Some((_, TypeKind::Array { index: index_type, element }))) => {
                    let index = self.expression(scope, index, Level::Conditional, Want::Stored(*index_type))?;
                    path.push_str(&format!("[{index}]"));
                    Some(*element)
                }
                _ => {
                    let reason = "a path leads into a multiset that a function returns";
                    return Err(self.unprintable(&scope.what, reason.into()));
                }
            };
        }
        Ok((call, path))
    }

    /// Refuses to duplicate expressions with side effects.
    fn refuse_impure(&self, scope: &Scope<'m>, steps: &[Step], index: ExprId) -> Result<(), PrintError> {
        let mut nodes = vec![Node::Expression(index)];
        for step in steps {
            if let Step::Index(index) = step {
                nodes.push(Node::Expression(*index));
            }
        }
        let calls = super::walk::called_functions(self.model, nodes, &[]);
        if calls.into_iter().all(|function| self.is_pure(function)) {
            return Ok(());
        }
        Err(self.unprintable(&scope.what, "a function with side effects picks an element of a multiset".into()))
    }

    /// The error for a local that cannot be written where it is used.
    pub(super) fn unbound(&self, scope: &Scope<'m>, local: LocalId) -> PrintError {
        let name = scope.source_name(local);
        self.unprintable(&scope.what, format!("`{name}` is used where Murphi cannot refer to it"))
    }

    /// Whether a guard or condition can be written in Murphi unchanged. Results of functions that are arrays or records
    /// must be inside a body (rumur does not support them elsewhere), and the cells of a parameter can only be selected
    /// by constants.
    pub(super) fn stands_alone(&self, scope: &Scope<'m>, condition: ExprId) -> bool {
        let mut alone = !super::walk::uses_results(self.model, condition);
        super::walk::visit_nodes(self.model, [Node::Expression(condition)], |node| {
            if let Node::Place(id) = node {
                let place = &self.model.pool[id];
                if let Root::Local(local) = place.root
                    && matches!(scope.binding(local), Binding::Cells(_))
                {
                    let ty = scope.owner.locals[local].ty;
                    alone &= self.constant_cell(ty, &place.steps).is_some();
                }
            }
        });
        alone
    }

    /// The value of a condition where only an expression is allowed.
    pub(super) fn guard(&mut self, scope: &mut Scope<'m>, condition: ExprId, like: &str) -> Result<String, PrintError> {
        if self.stands_alone(scope, condition) {
            return self.condition(scope, condition);
        }
        self.wrap(scope, like, &[Node::Expression(condition)], None, "boolean", |printer, inner, lines| {
            let text = printer.condition(inner, condition)?;
            lines.push(format!("return {text};"));
            Ok(())
        })
    }
}

/// Puts parts in parentheses if they bind more loosely than wanted.
fn push_at(own: Level, wanted: Level, parts: Vec<Task>, tasks: &mut Vec<Task>) {
    if own < wanted {
        tasks.push(Task::Text("("));
        tasks.extend(parts);
        tasks.push(Task::Text(")"));
    } else {
        tasks.extend(parts);
    }
}

/// How tightly a number binds: a negative one is a negation, and the least one is in parentheses.
fn number_level(value: i64) -> Level {
    if value < 0 && value != i64::MIN { Level::Unary } else { Level::Primary }
}
