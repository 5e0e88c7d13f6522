//! Which expressions and places can cause a run-time error, whatever the values of the state are: by the types of what
//! they read.

use quotient_ir::{
    BinaryOperator, Domain, Expr, ExprId, Iteration, Model, PlaceId, Root, Step, TypeId, TypeKind, UnaryOperator,
};
use rustc_hash::FxHashMap;

use super::classes::{Classes, OwnerId};
use crate::intervals::{Interval, arithmetic};

/// The deepest nesting of expressions that is considered.
const DEPTH_LIMIT: usize = 4000;

/// Every number.
const EVERYTHING: Interval = (i64::MIN, i64::MAX);

/// Answers, remembered.
#[derive(Default)]
pub(super) struct Faults {
    intervals: FxHashMap<ExprId, Interval>,
    expressions: FxHashMap<(OwnerId, ExprId), bool>,
    depth: usize,
}

impl Faults {
    /// Whether an expression can cause a run-time error. A call always can.
    pub(super) fn of_expression(&mut self, classes: &Classes<'_>, owner: OwnerId, expression: ExprId) -> bool {
        if let Some(&known) = self.expressions.get(&(owner, expression)) {
            return known;
        }
        if self.depth == DEPTH_LIMIT {
            return true;
        }
        self.depth += 1;
        let result = self.of_expression_here(classes, owner, expression);
        self.depth -= 1;
        self.expressions.insert((owner, expression), result);
        result
    }

    fn of_expression_here(&mut self, classes: &Classes<'_>, owner: OwnerId, expression: ExprId) -> bool {
        let model = classes.model;
        match &model.pool[expression] {
            Expr::Constant { .. } => false,
            Expr::Read(place) => {
                self.of_place(classes, owner, *place)
                    || classes.parts(owner, *place).any(|part| classes.traits(part).may_be_undefined())
            }
            Expr::Unary { operator, operand } => {
                self.of_expression(classes, owner, *operand)
                    || *operator == UnaryOperator::Negate && self.interval(model, *operand).0 == i64::MIN
            }
            Expr::Binary { operator, left, right } => {
                self.of_expression(classes, owner, *left)
                    || self.of_expression(classes, owner, *right)
                    || self.of_operation(model, *operator, *left, *right)
            }
            Expr::Conditional { condition, then, otherwise } => {
                [*condition, *then, *otherwise].into_iter().any(|part| self.of_expression(classes, owner, part))
            }
            Expr::Quantified { local, range, body, .. } => {
                let fits = match range {
                    Iteration::Over(ty) => {
                        let bound = classes.owners.get(owner).locals[*local].ty;
                        is_subset(&model.domain(*ty), &model.domain(bound))
                    }
                    Iteration::Steps { .. } => false,
                };
                !fits || self.of_expression(classes, owner, *body)
            }
            Expr::IsUndefined(place) => self.of_place(classes, owner, *place),
            Expr::IsMember { value, .. } => self.of_expression(classes, owner, *value),
            Expr::SameContents { left, right } => {
                self.of_place(classes, owner, *left) || self.of_place(classes, owner, *right)
            }
            Expr::Count { .. } | Expr::IsPresent { .. } | Expr::Call { .. } => true,
        }
    }

    /// Whether an operation on two values can fail by itself.
    pub(super) fn of_operation(
        &mut self,
        model: &Model,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
    ) -> bool {
        match operator {
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => {
                let (low, high) = arithmetic(operator, self.interval(model, left), self.interval(model, right));
                low == i64::MIN || high == i64::MAX
            }
            // The least integer divided by -1 overflows.
            BinaryOperator::Divide | BinaryOperator::Remainder => self.interval(model, right).0 <= 0,
            _ => false,
        }
    }

    /// Whether the location of a place can fail.
    pub(super) fn of_place(&mut self, classes: &Classes<'_>, owner: OwnerId, place: PlaceId) -> bool {
        let model = classes.model;
        let entry = &model.pool[place];
        let mut ty = match &entry.root {
            Root::Variable(variable) => model.variables[*variable].ty,
            Root::Local(local) => classes.owners.get(owner).locals[*local].ty,
            Root::Result { .. } => return true,
            Root::Choice { condition, then, otherwise } => {
                if self.of_expression(classes, owner, *condition)
                    || self.of_place(classes, owner, *then)
                    || self.of_place(classes, owner, *otherwise)
                {
                    return true;
                }
                model.pool[*then].ty
            }
        };
        for step in &entry.steps {
            ty = match (step, &model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                (Step::Index(index), TypeKind::Array { index: of, element }) => {
                    if self.of_expression(classes, owner, *index) || !self.fits(model, *index, *of) {
                        return true;
                    }
                    *element
                }
                // An element of a multiset may be absent.
                _ => return true,
            };
        }
        false
    }

    /// Whether every value of an expression belongs to a type.
    pub(super) fn fits(&mut self, model: &Model, expression: ExprId, ty: TypeId) -> bool {
        let domain = model.domain(ty);
        if let Expr::Read(place) = &model.pool[expression] {
            return is_subset(&model.domain(model.pool[*place].ty), &domain);
        }
        let (low, high) = self.interval(model, expression);
        domain.pieces().iter().any(|&(first, last)| first <= low && high <= last)
    }

    /// The bounds of the values of an expression.
    fn interval(&mut self, model: &Model, expression: ExprId) -> Interval {
        if let Some(&known) = self.intervals.get(&expression) {
            return known;
        }
        if self.depth == DEPTH_LIMIT {
            return EVERYTHING;
        }
        self.depth += 1;
        let of_type = |ty: TypeId| {
            let domain = model.domain(ty);
            (domain.least(), domain.greatest())
        };
        let result = match &model.pool[expression] {
            Expr::Constant { value, .. } => (*value, *value),
            Expr::Read(place) => of_type(model.pool[*place].ty),
            Expr::Unary { operator, operand } => {
                let (low, high) = self.interval(model, *operand);
                match operator {
                    UnaryOperator::Not => (0, 1),
                    UnaryOperator::Negate => (high.saturating_neg(), low.saturating_neg()),
                    UnaryOperator::Complement => (!high, !low),
                }
            }
            Expr::Binary { operator, left, right } if operator.is_arithmetic() => {
                arithmetic(*operator, self.interval(model, *left), self.interval(model, *right))
            }
            Expr::Conditional { then, otherwise, .. } => {
                let (one, two) = (self.interval(model, *then), self.interval(model, *otherwise));
                (one.0.min(two.0), one.1.max(two.1))
            }
            Expr::Count { .. } => (0, i64::MAX),
            Expr::Call { function, .. } => model.functions[*function].result.map_or(EVERYTHING, of_type),
            Expr::Binary { .. }
            | Expr::Quantified { .. }
            | Expr::IsUndefined(_)
            | Expr::IsPresent { .. }
            | Expr::IsMember { .. }
            | Expr::SameContents { .. } => (0, 1),
        };
        self.depth -= 1;
        self.intervals.insert(expression, result);
        result
    }
}

/// Whether all values of one domain belong to another.
pub(super) fn is_subset(inner: &Domain, outer: &Domain) -> bool {
    inner.pieces().iter().all(|&(low, high)| outer.pieces().iter().any(|&(first, last)| first <= low && high <= last))
}
