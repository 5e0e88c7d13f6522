//! Building blocks of the representation: constants, simplifying operators, places.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Iteration, Model, Place, PlaceId, Quantifier, Root, Span, Statement, StatementKind,
    Step, Type, TypeId, TypeKind, UnaryOperator,
};
use quotient_kit::Building;

use super::emission::Emission;
use super::owner::Owner;

/// A value with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) expression: ExprId,
    /// Whether it is a truth value rather than a number.
    pub(super) is_boolean: bool,
    /// The least it can be.
    pub(super) low: i64,
    /// The greatest it can be.
    pub(super) high: i64,
}

impl Building for Emission<'_, '_> {
    fn model(&self) -> &Model {
        &self.model
    }

    fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    fn not(&mut self, operand: ExprId) -> ExprId {
        if let Some(value) = self.constant_of(operand) {
            return self.truth(value == 0);
        }
        if let Expr::Unary { operator: UnaryOperator::Not, operand: inner } = self.model.pool[operand] {
            return inner;
        }
        self.model.pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand })
    }

    fn and(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(0), _) => left,
            (Some(_), _) => right,
            (_, Some(1)) => left,
            (_, Some(0)) if self.has_value(left, 0) => right,
            _ if left == right => left,
            _ => self.binary(BinaryOperator::And, left, right),
        }
    }

    fn or(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(0), _) => right,
            (Some(_), _) => left,
            (_, Some(0)) => left,
            _ if left == right => left,
            _ => self.binary(BinaryOperator::Or, left, right),
        }
    }

    /// Whether two numbers are equal.
    fn equal(&mut self, left: ExprId, right: ExprId) -> ExprId {
        if let (Some(left), Some(right)) = (self.constant_of(left), self.constant_of(right)) {
            return self.truth(left == right);
        }
        self.binary(BinaryOperator::Equal, left, right)
    }
}

impl Emission<'_, '_> {
    pub(super) fn number_value(&mut self, value: i64) -> Value {
        Value { expression: self.number(value), is_boolean: false, low: value, high: value }
    }
    pub(super) fn boolean_value(&self, expression: ExprId) -> Value {
        match self.constant_of(expression) {
            Some(value) => Value { expression, is_boolean: true, low: value, high: value },
            None => Value { expression, is_boolean: true, low: 0, high: 1 },
        }
    }
    /// Whether a condition or number has a value in every state, as far as types determine: everything read is defined
    /// in these models, so only indices and arithmetic can fail.
    fn has_value(&self, expression: ExprId, depth: u32) -> bool {
        if depth > 20 {
            return false;
        }
        match self.model.pool[expression] {
            Expr::Constant { .. } => true,
            Expr::Read(place) => self.exists(place, depth + 1),
            Expr::Unary { operator: UnaryOperator::Not, operand } => self.has_value(operand, depth + 1),
            Expr::Binary { operator, left, right } => {
                (operator.is_comparison() || matches!(operator, BinaryOperator::And | BinaryOperator::Or))
                    && self.has_value(left, depth + 1)
                    && self.has_value(right, depth + 1)
            }
            _ => false,
        }
    }
    /// Whether every index on the path to a place is certainly in range.
    fn exists(&self, place: PlaceId, depth: u32) -> bool {
        let Place { root, steps, .. } = &self.model.pool[place];
        let mut ty = match root {
            Root::Variable(variable) => self.model.variables[*variable].ty,
            Root::Local(_) => return steps.is_empty(),
            _ => return false,
        };
        for step in steps {
            ty = match (step, &self.model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                (&Step::Index(index), &TypeKind::Array { index: indices, element }) => {
                    let allowed = self.model.domain(indices);
                    let (low, high) = match self.model.pool[index] {
                        Expr::Constant { value, .. } => (value, value),
                        Expr::Read(place) => {
                            let domain = self.model.domain(self.model.pool[place].ty);
                            (domain.least(), domain.greatest())
                        }
                        _ => return false,
                    };
                    if low < allowed.least() || high > allowed.greatest() || !self.has_value(index, depth) {
                        return false;
                    }
                    element
                }
                _ => return false,
            };
        }
        true
    }
    pub(super) fn compare(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> ExprId {
        if let (Some(left), Some(right)) = (self.constant_of(left), self.constant_of(right)) {
            let holds = match operator {
                BinaryOperator::Equal => left == right,
                BinaryOperator::NotEqual => left != right,
                BinaryOperator::Less => left < right,
                BinaryOperator::LessOrEqual => left <= right,
                BinaryOperator::Greater => left > right,
                _ => left >= right,
            };
            return self.truth(holds);
        }
        self.binary(operator, left, right)
    }
    pub(super) fn add(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match (self.constant_of(left), self.constant_of(right)) {
            (Some(left), Some(right)) => self.number(left + right),
            (Some(0), _) => right,
            (_, Some(0)) => left,
            _ => self.binary(BinaryOperator::Add, left, right),
        }
    }
    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: quotient_ir::LocalId,
        ty: TypeId,
        body: ExprId,
    ) -> ExprId {
        if self.constant_of(body).is_some() {
            return body;
        }
        self.model.pool.expression(Expr::Quantified { quantifier, local, range: Iteration::Over(ty), body })
    }

    /// A type of consecutive numbers.
    pub(super) fn range_type(&mut self, low: i64, high: i64) -> TypeId {
        if let Some(&ty) = self.ranges.get(&(low, high)) {
            return ty;
        }
        let ty = self.model.types.push(Type { name: None, kind: TypeKind::Range { low, high } });
        self.ranges.insert((low, high), ty);
        ty
    }
    pub(super) fn array_type(&mut self, index: TypeId, element: TypeId) -> TypeId {
        self.model.types.push(Type { name: None, kind: TypeKind::Array { index, element } })
    }

    pub(super) fn local_place(&mut self, owner: &Owner, local: quotient_ir::LocalId) -> PlaceId {
        let ty = owner.locals[local].ty;
        self.model.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty })
    }
    pub(super) fn read_local(&mut self, owner: &Owner, local: quotient_ir::LocalId) -> ExprId {
        let place = self.local_place(owner, local);
        self.read(place)
    }
    pub(super) fn set(&mut self, target: PlaceId, value: ExprId, span: Span) -> Statement {
        Statement { kind: StatementKind::Assign { target, value }, span }
    }
    pub(super) fn set_number(&mut self, target: PlaceId, value: i64, span: Span) -> Statement {
        let value = self.number(value);
        self.set(target, value, span)
    }
    pub(super) fn when(condition: ExprId, then: Vec<Statement>, otherwise: Vec<Statement>, span: Span) -> Statement {
        Statement { kind: StatementKind::If { branches: vec![(condition, then)], otherwise }, span }
    }
}
