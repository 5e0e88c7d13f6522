//! The constants, operators and places that lowerings build most: a trait, so that each adds to its own model and may fold
//! more than is folded here.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Model, Place, PlaceId, Root, Step, TypeKind, UnaryOperator, VariableId,
};

use crate::joined::joined;

/// Something that builds a model.
pub trait Building {
    /// The model under construction.
    fn model(&self) -> &Model;

    /// The model under construction, to add to it.
    fn model_mut(&mut self) -> &mut Model;

    /// An integer.
    fn number(&mut self, value: i64) -> ExprId {
        self.model_mut().pool.expression(Expr::Constant { value, ty: Model::INTEGER })
    }

    /// A truth value.
    fn truth(&mut self, value: bool) -> ExprId {
        self.model_mut().pool.expression(Expr::Constant { value: i64::from(value), ty: Model::BOOLEAN })
    }

    /// The value of a constant, and `None` for other expressions.
    fn constant_of(&self, expression: ExprId) -> Option<i64> {
        match self.model().pool[expression] {
            Expr::Constant { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The value of a place.
    fn read(&mut self, place: PlaceId) -> ExprId {
        self.model_mut().pool.expression(Expr::Read(place))
    }

    /// An operator applied as it is.
    fn binary(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> ExprId {
        self.model_mut().pool.expression(Expr::Binary { operator, left, right })
    }

    /// The negation of a condition.
    fn not(&mut self, operand: ExprId) -> ExprId {
        self.model_mut().pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand })
    }

    /// The conjunction, without what is always true.
    fn and(&mut self, left: ExprId, right: ExprId) -> ExprId {
        let truth = self.truth(true);
        match (left == truth, right == truth) {
            (true, _) => right,
            (_, true) => left,
            _ => self.binary(BinaryOperator::And, left, right),
        }
    }

    /// The disjunction, without what is always false.
    fn or(&mut self, left: ExprId, right: ExprId) -> ExprId {
        let never = self.truth(false);
        match (left == never, right == never) {
            (true, _) => right,
            (_, true) => left,
            _ => self.binary(BinaryOperator::Or, left, right),
        }
    }

    /// The conjunction of many.
    fn all(&mut self, conditions: impl IntoIterator<Item = ExprId>) -> ExprId {
        let conditions = conditions.into_iter().collect();
        joined(conditions, |left, right| self.and(left, right)).unwrap_or_else(|| self.truth(true))
    }

    /// The disjunction of many.
    fn any(&mut self, conditions: impl IntoIterator<Item = ExprId>) -> ExprId {
        let conditions = conditions.into_iter().collect();
        joined(conditions, |left, right| self.or(left, right)).unwrap_or_else(|| self.truth(false))
    }

    /// Whether two values are equal.
    fn equal(&mut self, left: ExprId, right: ExprId) -> ExprId {
        self.binary(BinaryOperator::Equal, left, right)
    }

    /// One of two values.
    fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.model_mut().pool.expression(Expr::Conditional { condition, then, otherwise })
    }

    /// A value as a condition: a number holds if it is not 0.
    fn as_condition(&mut self, value: ExprId, is_boolean: bool) -> ExprId {
        if is_boolean {
            return value;
        }
        if let Some(value) = self.constant_of(value) {
            return self.truth(value != 0);
        }
        let zero = self.number(0);
        self.binary(BinaryOperator::NotEqual, value, zero)
    }

    /// A value as a number: a truth value is 0 or 1.
    fn as_number(&mut self, value: ExprId, is_boolean: bool) -> ExprId {
        if !is_boolean {
            return value;
        }
        if let Some(value) = self.constant_of(value) {
            return self.number(value);
        }
        let (then, otherwise) = (self.number(1), self.number(0));
        self.conditional(value, then, otherwise)
    }

    /// A whole variable as a place.
    fn variable_place(&mut self, variable: VariableId) -> PlaceId {
        let ty = self.model().variables[variable].ty;
        self.model_mut().pool.place(Place { root: Root::Variable(variable), steps: Vec::new(), ty })
    }

    /// An element of the array at a place.
    fn element(&mut self, array: PlaceId, index: ExprId) -> PlaceId {
        let mut place = self.model().pool[array].clone();
        let TypeKind::Array { element, .. } = self.model().types[place.ty].kind else {
            unreachable!("only arrays are indexed");
        };
        place.ty = element;
        place.steps.push(Step::Index(index));
        self.model_mut().pool.place(place)
    }

    /// A field of the record at a place.
    fn field(&mut self, record: PlaceId, field: u32) -> PlaceId {
        let mut place = self.model().pool[record].clone();
        let TypeKind::Record { fields } = &self.model().types[place.ty].kind else {
            unreachable!("only records have fields");
        };
        place.ty = fields[field as usize].ty;
        place.steps.push(Step::Field(field));
        self.model_mut().pool.place(place)
    }
}
