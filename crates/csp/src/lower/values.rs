//! Values and statements in the representation. Truth values stay booleans until they are used as numbers.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Iteration, Local, LocalId, LocalKind, Model, Place, PlaceId, Root, Span, Statement,
    StatementKind, Table, UnaryOperator,
};
use quotient_kit::Building;
use quotient_kit::watched;
use rustc_hash::FxHashMap;

use super::emission::Emission;
use super::resolution::Watched;
use super::steps::Action;
use super::symbols::NUMBERS;
use super::terms::{self, Question, Value};
use crate::syntax::tree::{Binary, Unary};

/// A value in the representation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lowered {
    pub(super) expression: ExprId,
    pub(super) is_boolean: bool,
}

/// Where values are evaluated.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    /// The component whose registers are meant.
    pub(super) component: usize,
    /// Captured values.
    pub(super) captured: &'c FxHashMap<u32, Lowered>,
}

/// The rule under construction.
#[derive(Default)]
pub(super) struct Body {
    pub(super) locals: Table<LocalId, Local>,
    /// Variables of blocks.
    pub(super) declared: FxHashMap<u32, LocalId>,
    pub(super) statements: Vec<Statement>,
}

impl Building for Emission<'_, '_> {
    fn model(&self) -> &Model {
        &self.model
    }

    fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }
}

impl Emission<'_, '_> {
    pub(super) fn local_place(&mut self, locals: &Table<LocalId, Local>, local: LocalId) -> PlaceId {
        let ty = locals[local].ty;
        self.model.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty })
    }

    /// A value as a condition.
    pub(super) fn condition_of(&mut self, value: Lowered) -> ExprId {
        self.as_condition(value.expression, value.is_boolean)
    }

    /// A value as a number.
    pub(super) fn number_of(&mut self, value: Lowered) -> ExprId {
        self.as_number(value.expression, value.is_boolean)
    }

    pub(super) fn condition(&mut self, value: &Value, context: Context<'_>, body: Option<&Body>) -> ExprId {
        let value = self.value(value, context, body);
        self.condition_of(value)
    }

    pub(super) fn number_value(&mut self, value: &Value, context: Context<'_>, body: Option<&Body>) -> ExprId {
        let value = self.value(value, context, body);
        self.number_of(value)
    }

    /// A value; in a body, variables of blocks are known.
    pub(super) fn value(&mut self, value: &Value, context: Context<'_>, body: Option<&Body>) -> Lowered {
        let number = |expression| Lowered { expression, is_boolean: false };
        let boolean = |expression| Lowered { expression, is_boolean: true };
        match value {
            Value::Number(value) => number(self.number(*value)),
            Value::Truth(value) => boolean(self.truth(*value)),
            // Templates are closed by their parameters before anything is lowered.
            Value::Bound(_) => number(self.number(0)),
            Value::Register(register) => {
                let variable = self.registers[context.component][*register as usize];
                let place = self.variable_place(variable);
                number(self.read(place))
            }
            Value::Captured(captured) => match context.captured.get(captured) {
                Some(lowered) => *lowered,
                None => number(self.number(0)),
            },
            Value::Global(variable, indices, is_boolean) => {
                let place = self.global_place(*variable, indices, context, body);
                Lowered { expression: self.read(place), is_boolean: *is_boolean }
            }
            Value::Local(local, indices) => {
                match body.and_then(|body| self.block_place(*local, indices, context, body)) {
                    Some(place) => number(self.read(place)),
                    None => number(self.number(0)),
                }
            }
            Value::Unary(Unary::Not, inner) => {
                let inner = self.condition(inner, context, body);
                boolean(self.not(inner))
            }
            Value::Unary(Unary::Minus, inner) => {
                let operand = self.number_value(inner, context, body);
                number(self.model.pool.expression(Expr::Unary { operator: UnaryOperator::Negate, operand }))
            }
            Value::Binary(operator, left, right) => self.operation(*operator, left, right, context, body),
            Value::Queue(question, channel, indices) => self.question(*question, *channel, indices, context, body),
        }
    }

    /// Makes an expression the one to evaluate.
    pub(super) fn watch(&mut self, expression: &Watched, span: Span) {
        let captured = FxHashMap::default();
        let context = Context { component: 0, captured: &captured };
        let value = match expression {
            Watched::Value(value) => watched::Value::Scalar(self.value(value, context, None).expression),
            Watched::Array(variable, indices) => {
                watched::Value::Whole(self.global_place(*variable, indices, context, None))
            }
            Watched::Contents(channel, indices) => match self.queue_place(*channel, indices, context, None) {
                Some(queue) => watched::Value::Queue(queue),
                None => return,
            },
        };
        watched::watch(&mut self.model, Table::new(), value, span);
    }

    fn operation(
        &mut self,
        operator: Binary,
        left: &Value,
        right: &Value,
        context: Context<'_>,
        body: Option<&Body>,
    ) -> Lowered {
        let lowered = match operator {
            Binary::And => BinaryOperator::And,
            Binary::Or => BinaryOperator::Or,
            Binary::Equal => BinaryOperator::Equal,
            Binary::NotEqual | Binary::Xor => BinaryOperator::NotEqual,
            Binary::Less => BinaryOperator::Less,
            Binary::LessOrEqual => BinaryOperator::LessOrEqual,
            Binary::Greater => BinaryOperator::Greater,
            Binary::GreaterOrEqual => BinaryOperator::GreaterOrEqual,
            Binary::Add => BinaryOperator::Add,
            Binary::Subtract => BinaryOperator::Subtract,
            Binary::Multiply => BinaryOperator::Multiply,
            Binary::Divide => BinaryOperator::Divide,
            Binary::Remainder => BinaryOperator::Remainder,
            Binary::BitAnd => BinaryOperator::BitAnd,
            Binary::BitOr => BinaryOperator::BitOr,
            Binary::BitXor => BinaryOperator::BitXor,
        };
        let (left, right) = (self.value(left, context, body), self.value(right, context, body));
        let (left, right) = match operator {
            Binary::And | Binary::Or | Binary::Xor => (self.condition_of(left), self.condition_of(right)),
            Binary::Equal | Binary::NotEqual if left.is_boolean && right.is_boolean => {
                (left.expression, right.expression)
            }
            _ => (self.number_of(left), self.number_of(right)),
        };
        Lowered { expression: self.binary(lowered, left, right), is_boolean: operator.is_boolean() }
    }

    pub(super) fn global_place(
        &mut self,
        variable: usize,
        indices: &[Value],
        context: Context<'_>,
        body: Option<&Body>,
    ) -> PlaceId {
        let mut place = self.variable_place(self.variables[variable]);
        for index in indices {
            let index = self.number_value(index, context, body);
            place = self.element(place, index);
        }
        place
    }

    fn block_place(&mut self, local: u32, indices: &[Value], context: Context<'_>, body: &Body) -> Option<PlaceId> {
        let mut place = self.local_place(&body.locals, *body.declared.get(&local)?);
        for index in indices {
            let index = self.number_value(index, context, Some(body));
            place = self.element(place, index);
        }
        Some(place)
    }

    /// The buffer of a channel.
    fn queue_place(
        &mut self,
        channel: usize,
        indices: &[Value],
        context: Context<'_>,
        body: Option<&Body>,
    ) -> Option<PlaceId> {
        let mut place = self.variable_place(self.queues[channel]?);
        for index in indices {
            let index = self.number_value(index, context, body);
            place = self.element(place, index);
        }
        Some(place)
    }

    fn message_place(&mut self, queue: PlaceId, position: ExprId, part: usize) -> PlaceId {
        let messages = self.field(queue, 1);
        let message = self.element(messages, position);
        self.field(message, part as u32)
    }

    fn question(
        &mut self,
        question: Question,
        channel: usize,
        indices: &[Value],
        context: Context<'_>,
        body: Option<&Body>,
    ) -> Lowered {
        let Some(queue) = self.queue_place(channel, indices, context, body) else {
            return Lowered { expression: self.number(0), is_boolean: false };
        };
        if let Question::First(part) = question {
            let zero = self.number(0);
            let place = self.message_place(queue, zero, part);
            return Lowered { expression: self.read(place), is_boolean: false };
        }
        let length = self.field(queue, 0);
        let length = self.read(length);
        let capacity = self.number(self.symbols.channels[channel].capacity);
        match question {
            Question::IsFull => Lowered { expression: self.equal(length, capacity), is_boolean: true },
            Question::IsEmpty => {
                let zero = self.number(0);
                Lowered { expression: self.equal(length, zero), is_boolean: true }
            }
            Question::Capacity => Lowered { expression: capacity, is_boolean: false },
            Question::Count | Question::First(_) => Lowered { expression: length, is_boolean: false },
        }
    }

    pub(super) fn assign(&mut self, target: PlaceId, value: ExprId, span: Span, body: &mut Body) {
        body.statements.push(Statement { kind: StatementKind::Assign { target, value }, span });
    }

    /// A new variable of a rule with a value.
    pub(super) fn remember(&mut self, name: String, value: ExprId, span: Span, body: &mut Body) -> ExprId {
        let ty = self.range(NUMBERS.0, NUMBERS.1);
        let local = body.locals.push(Local { name, ty, kind: LocalKind::Variable, span });
        let place = self.local_place(&body.locals, local);
        self.assign(place, value, span, body);
        self.read(place)
    }

    pub(super) fn action(&mut self, action: &Action, context: Context<'_>, body: &mut Body) {
        match action {
            Action::Block(block) => self.block(block, context, body),
            Action::Enqueue(channel, indices, values, at) => {
                let Some(queue) = self.queue_place(*channel, indices, context, Some(body)) else { return };
                let length_place = self.field(queue, 0);
                let length = self.read(length_place);
                for (part, value) in values.iter().enumerate() {
                    let value = self.number_value(value, context, Some(body));
                    let target = self.message_place(queue, length, part);
                    self.assign(target, value, at.0, body);
                }
                let one = self.number(1);
                let longer = self.binary(BinaryOperator::Add, length, one);
                self.assign(length_place, longer, at.0, body);
            }
            Action::Dequeue(channel, indices, at) => {
                let Some(queue) = self.queue_place(*channel, indices, context, Some(body)) else { return };
                let capacity = self.symbols.channels[*channel].capacity;
                let parts = self.symbols.channels[*channel].parts.map_or(1, |(parts, _)| parts);
                for message in 0..capacity {
                    for part in 0..parts {
                        let here = self.number(message);
                        let target = self.message_place(queue, here, part);
                        let value = if message + 1 == capacity {
                            self.number(0)
                        } else {
                            let next = self.number(message + 1);
                            let next = self.message_place(queue, next, part);
                            self.read(next)
                        };
                        self.assign(target, value, at.0, body);
                    }
                }
                let length_place = self.field(queue, 0);
                let (length, one) = (self.read(length_place), self.number(1));
                let shorter = self.binary(BinaryOperator::Subtract, length, one);
                self.assign(length_place, shorter, at.0, body);
            }
        }
    }

    fn block(&mut self, block: &[terms::Statement], context: Context<'_>, body: &mut Body) {
        for statement in block {
            self.statement(statement, context, body);
        }
    }

    /// A block as statements of their own.
    fn nested(&mut self, block: &[terms::Statement], context: Context<'_>, body: &mut Body) -> Vec<Statement> {
        let before = std::mem::take(&mut body.statements);
        self.block(block, context, body);
        std::mem::replace(&mut body.statements, before)
    }

    fn statement(&mut self, statement: &terms::Statement, context: Context<'_>, body: &mut Body) {
        let span = statement.at.0;
        match &statement.kind {
            terms::StatementKind::Assign(variable, indices, value) => {
                let target = self.global_place(*variable, indices, context, Some(body));
                let value = self.value(value, context, Some(body));
                let value = match self.symbols.variables[*variable].is_boolean {
                    true => self.condition_of(value),
                    false => self.number_of(value),
                };
                self.assign(target, value, span, body);
            }
            terms::StatementKind::AssignLocal(local, indices, value) => {
                let value = self.number_value(value, context, Some(body));
                if let Some(target) = self.block_place(*local, indices, context, body) {
                    self.assign(target, value, span, body);
                }
            }
            terms::StatementKind::Declare(number, name, size, value) => {
                let value = match value {
                    Some(value) => self.number_value(value, context, Some(body)),
                    None => self.number(0),
                };
                let mut ty = self.range(NUMBERS.0, NUMBERS.1);
                if let Some(size) = size {
                    ty = self.array(*size, ty);
                }
                // A loop may pass here again.
                let known = body.declared.get(number).copied();
                let local = known.unwrap_or_else(|| {
                    body.locals.push(Local { name: name.to_string(), ty, kind: LocalKind::Variable, span })
                });
                body.declared.insert(*number, local);
                let place = self.local_place(&body.locals, local);
                match size {
                    None => self.assign(place, value, span, body),
                    Some(size) => {
                        let index = self.range(0, size - 1);
                        let bound = Local { name: "position".into(), ty: index, kind: LocalKind::Parameter, span };
                        let bound = body.locals.push(bound);
                        let position = self.local_place(&body.locals, bound);
                        let position = self.read(position);
                        let target = self.element(place, position);
                        let assign = Statement { kind: StatementKind::Assign { target, value }, span };
                        let range = Iteration::Over(index);
                        let kind = StatementKind::For { local: bound, range, body: vec![assign] };
                        body.statements.push(Statement { kind, span });
                    }
                }
            }
            terms::StatementKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition, context, Some(body));
                let then = self.nested(then, context, body);
                let otherwise = self.nested(otherwise, context, body);
                let kind = StatementKind::If { branches: vec![(condition, then)], otherwise };
                body.statements.push(Statement { kind, span });
            }
            terms::StatementKind::While(condition, inner) => {
                let condition = self.condition(condition, context, Some(body));
                let inner = self.nested(inner, context, body);
                body.statements.push(Statement { kind: StatementKind::While { condition, body: inner }, span });
            }
            terms::StatementKind::Require(condition, message) => {
                let condition = self.condition(condition, context, Some(body));
                let message = message.to_string();
                body.statements.push(Statement { kind: StatementKind::Require { condition, message }, span });
            }
        }
    }
}
