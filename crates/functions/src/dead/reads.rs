//! At which control values a condition reads which parts: operands are evaluated from left to right, so what the left
//! one says holds where the right one is read.

use quotient_ir::{Argument, BinaryOperator, Expr, ExprId, Iteration, PlaceId, Root, Step};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::lens::Lens;
use super::values::Values;
use crate::slice::classes::Part;

/// The nesting of expressions beyond which nothing is masked.
const DEPTH_LIMIT: usize = 1000;

/// The control values at which each part is read.
#[derive(Default)]
pub(super) struct Reads {
    at: FxHashMap<Part, Values>,
    /// Whether the text is too deep or too long.
    pub(super) is_incomplete: bool,
}

impl Reads {
    pub(super) fn add(&mut self, part: Part, values: &Values) {
        match self.at.get_mut(&part) {
            Some(own) => {
                own.add(values);
            }
            None => {
                self.at.insert(part, values.clone());
            }
        }
    }
    pub(super) fn of(&self, part: Part) -> Option<&Values> {
        self.at.get(&part)
    }

    /// Adds what an expression reads where the facts hold.
    pub(super) fn expression(&mut self, lens: &Lens<'_, '_, '_>, expression: ExprId, facts: &Facts, depth: usize) {
        if depth >= DEPTH_LIMIT || !lens.control.visits() {
            self.is_incomplete = true;
            return;
        }
        let model = lens.model();
        let next = depth + 1;
        match &model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) | Expr::IsUndefined(place) => self.place(lens, *place, facts, next),
            Expr::Unary { operand, .. } => self.expression(lens, *operand, facts, next),
            Expr::Binary { operator, left, right } => {
                self.expression(lens, *left, facts, next);
                let truth = match operator {
                    BinaryOperator::And | BinaryOperator::Implies => Some(true),
                    BinaryOperator::Or => Some(false),
                    _ => None,
                };
                self.under(lens, truth.map(|truth| (*left, truth)), *right, facts, next);
            }
            Expr::Conditional { condition, then, otherwise } => {
                self.expression(lens, *condition, facts, next);
                self.under(lens, Some((*condition, true)), *then, facts, next);
                self.under(lens, Some((*condition, false)), *otherwise, facts, next);
            }
            Expr::Quantified { local, range, body, .. } => {
                self.range(lens, range, facts, next);
                self.expression(lens, *body, &facts.without(model, *local), next);
            }
            Expr::Count { local, multiset, body } => {
                self.place(lens, *multiset, facts, next);
                self.expression(lens, *body, &facts.without(model, *local), next);
            }
            Expr::IsPresent { multiset, position } => {
                self.place(lens, *multiset, facts, next);
                self.expression(lens, *position, facts, next);
            }
            Expr::IsMember { value, .. } => self.expression(lens, *value, facts, next),
            Expr::SameContents { left, right } => {
                self.place(lens, *left, facts, next);
                self.place(lens, *right, facts, next);
            }
            Expr::Call { arguments, .. } => self.arguments(lens, arguments, facts, next),
        }
    }

    /// Adds what an expression reads where the facts and a condition hold.
    fn under(
        &mut self,
        lens: &Lens<'_, '_, '_>,
        condition: Option<(ExprId, bool)>,
        expression: ExprId,
        facts: &Facts,
        depth: usize,
    ) {
        match condition {
            Some((condition, truth)) => {
                let facts = facts.clone().and(Facts::from_condition(lens, condition, truth));
                if !facts.is_impossible() {
                    self.expression(lens, expression, &facts, depth);
                }
            }
            None => self.expression(lens, expression, facts, depth),
        }
    }

    fn range(&mut self, lens: &Lens<'_, '_, '_>, range: &Iteration, facts: &Facts, depth: usize) {
        if let Iteration::Steps { from, to, step } = range {
            for bound in [Some(*from), Some(*to), *step].into_iter().flatten() {
                self.expression(lens, bound, facts, depth);
            }
        }
    }

    fn arguments(&mut self, lens: &Lens<'_, '_, '_>, arguments: &[Argument], facts: &Facts, depth: usize) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expression(lens, *value, facts, depth),
                Argument::Copy(place) | Argument::Reference(place) => self.place(lens, *place, facts, depth),
                Argument::Undefined => {}
            }
        }
    }

    /// Adds a read of all of a place.
    pub(super) fn place(&mut self, lens: &Lens<'_, '_, '_>, place: PlaceId, facts: &Facts, depth: usize) {
        self.location(lens, place, facts, depth);
        if let Some(denoted) = lens.parts.denoted(place) {
            let values = facts.of(lens, lens.member(&denoted));
            for part in denoted.parts {
                self.add(part, &values);
            }
        }
    }

    /// Adds what the location of a place reads.
    pub(super) fn location(&mut self, lens: &Lens<'_, '_, '_>, place: PlaceId, facts: &Facts, depth: usize) {
        if depth >= DEPTH_LIMIT || !lens.control.visits() {
            self.is_incomplete = true;
            return;
        }
        let entry = &lens.model().pool[place];
        match &entry.root {
            Root::Variable(_) | Root::Local(_) => {}
            Root::Result { arguments, .. } => self.arguments(lens, arguments, facts, depth + 1),
            Root::Choice { condition, then, otherwise } => {
                self.expression(lens, *condition, facts, depth + 1);
                self.place(lens, *then, facts, depth + 1);
                self.place(lens, *otherwise, facts, depth + 1);
            }
        }
        for step in &entry.steps {
            if let Step::Index(index) = step {
                self.expression(lens, *index, facts, depth + 1);
            }
        }
    }
}
