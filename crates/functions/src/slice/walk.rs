//! Traversals of statements, and of the expressions and places below them, without recursion into expressions.

use quotient_ir::{
    Argument, Expr, ExprId, Iteration, Model, MultisetElement, PlaceId, ReturnValue, Root, Statement, StatementKind,
    Step,
};
use rustc_hash::FxHashSet;

use super::classes::{OwnerId, Owners};

/// Calls `visit` for every statement of a body, outer before inner ones.
pub(super) fn each_statement<'m>(body: &'m [Statement], visit: &mut impl FnMut(&'m Statement)) {
    for statement in body {
        visit(statement);
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                for (_, branch) in branches {
                    each_statement(branch, visit);
                }
                each_statement(otherwise, visit);
            }
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => each_statement(body, visit),
            _ => {}
        }
    }
}

/// Expressions and places that are still to be visited.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) expressions: Vec<ExprId>,
    pub(super) places: Vec<PlaceId>,
}

impl Nodes {
    /// Adds what a statement uses directly. What is printed has no effect.
    pub(super) fn add_statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.places.push(*target);
                self.expressions.push(*value);
            }
            StatementKind::Copy { target, source } => self.places.extend([*target, *source]),
            StatementKind::Clear(place) | StatementKind::Undefine(place) | StatementKind::Bind { place, .. } => {
                self.places.push(*place);
            }
            StatementKind::If { branches, .. } => self.expressions.extend(branches.iter().map(|branch| branch.0)),
            StatementKind::Assert { condition, violates, .. } => {
                self.expressions.push(*condition);
                self.expressions.extend(violates.iter().filter_map(|it| it.value.as_ref()).map(|value| value.1));
            }
            StatementKind::While { condition, .. }
            | StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.expressions.push(*condition),
            StatementKind::For { range, .. } => self.add_range(range),
            StatementKind::Call { arguments, .. } => self.add_arguments(arguments),
            StatementKind::Return(Some(ReturnValue::Value(value))) => self.expressions.push(*value),
            StatementKind::Return(Some(ReturnValue::Copy(place))) => self.places.push(*place),
            StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
            StatementKind::MultisetAdd { multiset, element } => {
                self.places.push(*multiset);
                match element {
                    MultisetElement::Value(value) => self.expressions.push(*value),
                    MultisetElement::Copy(place) => self.places.push(*place),
                }
            }
            StatementKind::MultisetRemove { multiset, position } => {
                self.places.push(*multiset);
                self.expressions.push(*position);
            }
            StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
                self.places.push(*multiset);
                self.expressions.push(*condition);
            }
        }
    }

    fn add_range(&mut self, range: &Iteration) {
        if let Iteration::Steps { from, to, step } = range {
            self.expressions.extend([*from, *to]);
            self.expressions.extend(*step);
        }
    }

    fn add_arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expressions.push(*value),
                Argument::Copy(place) | Argument::Reference(place) => self.places.push(*place),
                Argument::Undefined => {}
            }
        }
    }

    fn add_expression(&mut self, model: &Model, expression: ExprId) {
        match &model.pool[expression] {
            Expr::Constant { .. } => {}
            Expr::Read(place) | Expr::IsUndefined(place) => self.places.push(*place),
            Expr::Unary { operand, .. } => self.expressions.push(*operand),
            Expr::Binary { left, right, .. } => self.expressions.extend([*left, *right]),
            Expr::Conditional { condition, then, otherwise } => {
                self.expressions.extend([*condition, *then, *otherwise]);
            }
            Expr::Quantified { range, body, .. } => {
                self.add_range(range);
                self.expressions.push(*body);
            }
            Expr::Count { multiset, body, .. } => {
                self.places.push(*multiset);
                self.expressions.push(*body);
            }
            Expr::IsPresent { multiset, position } => {
                self.places.push(*multiset);
                self.expressions.push(*position);
            }
            Expr::IsMember { value, .. } => self.expressions.push(*value),
            Expr::SameContents { left, right } => self.places.extend([*left, *right]),
            Expr::Call { arguments, .. } => self.add_arguments(arguments),
        }
    }

    fn add_place(&mut self, model: &Model, place: PlaceId) {
        let entry = &model.pool[place];
        match &entry.root {
            Root::Variable(_) | Root::Local(_) => {}
            Root::Result { arguments, .. } => self.add_arguments(arguments),
            Root::Choice { condition, then, otherwise } => {
                self.expressions.push(*condition);
                self.places.extend([*then, *otherwise]);
            }
        }
        for step in &entry.steps {
            if let Step::Index(index) = step {
                self.expressions.push(*index);
            }
        }
    }

    /// Visits everything below, each node once.
    pub(super) fn visit(mut self, model: &Model, expression: &mut impl FnMut(ExprId), place: &mut impl FnMut(PlaceId)) {
        let (mut seen, mut seen_places) = (FxHashSet::default(), FxHashSet::default());
        loop {
            if let Some(id) = self.expressions.pop() {
                if seen.insert(id) {
                    expression(id);
                    self.add_expression(model, id);
                }
            } else if let Some(id) = self.places.pop() {
                if seen_places.insert(id) {
                    place(id);
                    self.add_place(model, id);
                }
            } else {
                return;
            }
        }
    }
}

/// Visits the expressions and places of an owner, with its guard or condition.
pub(super) fn each_expression(
    model: &Model,
    owners: &Owners<'_>,
    owner: OwnerId,
    expression: &mut impl FnMut(ExprId),
    place: &mut impl FnMut(PlaceId),
) {
    let mut nodes = Nodes::default();
    nodes.expressions.extend(owners.get(owner).condition);
    each_statement(owners.get(owner).body, &mut |statement| nodes.add_statement(statement));
    nodes.visit(model, expression, place);
}
