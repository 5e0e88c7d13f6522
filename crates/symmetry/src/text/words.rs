//! What the text says about the roles of values, in words.

use quotient_ir::{Model, Span, TypeId, TypeKind, VariableId, expression_text};

use super::analysis::Analysis;
use super::inference::{Cause, Computed, Why};
use super::motion::Motion;
use super::shapes::{Part, Role};
use super::uses::Uses;
use crate::explain::Individuals;

/// A place of the text that limits the permutations of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The place; empty if it is no particular one.
    pub span: Span,
    /// What it does.
    pub text: String,
    /// The value that it names, if it names one.
    pub value: Option<i64>,
}

/// What the text says about one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleReport {
    pub(super) role: Role,
    /// What its values are: the name of a type, or where they are used.
    pub name: String,
    /// The type of its values.
    pub ty: TypeId,
    /// How many values there are.
    pub size: usize,
    /// Classes of values that can be permuted freely.
    pub free: Vec<Vec<i64>>,
    /// How many other permutations move its values.
    pub others: usize,
    /// The places that limit the permutations.
    pub limits: Vec<Limit>,
    /// Whether all that is computed with its values is a constant added modulo another.
    pub only_rotated: bool,
    /// How its values are used otherwise.
    pub uses: Uses,
    /// The arrays whose indices they are.
    pub indexes: Vec<VariableId>,
}

impl RoleReport {
    /// Whether all its values are permuted freely.
    pub fn is_free(&self) -> bool {
        matches!(&self.free[..], [class] if class.len() == self.size)
    }

    /// Whether it is the role of the values of a type, or of the elements of an array.
    pub fn is_about(&self, model: &Model, of: Individuals) -> bool {
        match of {
            Individuals::Values(ty) => model.types[ty].name.as_ref() == Some(&self.name),
            Individuals::Elements(variable) => self.indexes.contains(&variable),
        }
    }
}

/// Reports about the roles that index an array or are held by a cell, apart from plain numbers and truth values.
pub(super) fn reports(model: &Model, analysis: &Analysis<'_>) -> Vec<RoleReport> {
    let mut reports: Vec<RoleReport> = Vec::new();
    for (variable, shape) in analysis.findings.shapes.variables.iter_enumerated() {
        shape.visit(&mut |role, ty, part| {
            let name = match (&model.types[ty].name, part) {
                (Some(name), _) => name.clone(),
                (None, Part::Index) => format!("the indices of `{}`", model.variables[variable].name),
                (None, Part::Contents) => format!("the contents of `{}`", model.variables[variable].name),
            };
            let is_named = model.types[ty].name.is_some();
            let indexes: Vec<VariableId> = if part == Part::Index { vec![variable] } else { Vec::new() };
            if let Some(known) = reports.iter_mut().find(|report| report.role == role) {
                known.indexes.extend(indexes);
                if is_named && model.types[known.ty].name.is_none() {
                    (known.name, known.ty) = (name, ty);
                }
                return;
            }
            let Some(universe) = analysis.universes.get(&role) else { return };
            let mut limits: Vec<Limit> = Vec::new();
            if !matches!(model.types[ty].kind, TypeKind::Boolean) {
                limits.extend(universe.fixed.iter().map(|cause| limit(model, ty, cause)));
                limits.extend(universe.named.iter().map(|(_, cause)| limit(model, ty, cause)));
                for computed in &analysis.findings.computed {
                    if computed.leaves.iter().any(|(leaf, _)| *leaf == role) {
                        limits.push(limit(model, ty, &computed.cause));
                    }
                }
            }
            limits.dedup();
            let size = universe.values.len();
            let involves = |computed: &&Computed| {
                computed.result == role || computed.leaves.iter().any(|(leaf, _)| *leaf == role)
            };
            let mut involved = analysis.findings.computed.iter().filter(involves);
            let only_rotated = involved.all(|computed| computed.computation.rotates(model));
            let uses = Uses::of(role, &analysis.findings.uses);
            reports.push(RoleReport { role, name, ty, size, free: Vec::new(), others: 0, limits, only_rotated, uses, indexes });
        });
    }
    reports
}

/// Adds what was found.
pub(super) fn complete(reports: &mut [RoleReport], free: &[(Role, Vec<i64>)], others: &[Motion]) {
    for report in reports {
        let own = free.iter().filter(|(role, _)| *role == report.role);
        report.free = own.map(|(_, class)| class.clone()).collect();
        report.others = others.iter().filter(|motion| motion.of(report.role).is_some()).count();
    }
}

fn limit(model: &Model, ty: TypeId, cause: &Cause) -> Limit {
    let shown = |expression| match cause.scope {
        Some(scope) => expression_text(model, scope.locals(model), expression),
        None => String::new(),
    };
    let local = |local| match cause.scope {
        Some(scope) => scope.locals(model)[local].name.clone(),
        None => String::new(),
    };
    let text = match cause.why {
        Why::Names(value) => format!("`{}` is named", model.value_name(ty, value)),
        Why::Computes(expression) => format!("`{}` computes with it", shown(expression)),
        Why::Decides(expression) => format!("`{}` is used as a number or a condition", shown(expression)),
        Why::Clears => "cells are set to the least value of their type".to_owned(),
        Why::Begins(variable) => {
            format!("`{}` begins with the least value of its type", model.variables[variable].name)
        }
        Why::Visits(variable) => format!("the order of the loop over `{}` can be noticed", local(variable)),
        Why::MayFail(expression) => {
            format!("`{}` may go wrong for one value before another decides it", shown(expression))
        }
        Why::Positions => "an element of a multiset is found by its position".to_owned(),
        Why::Copies => "arrays with different indices are copied".to_owned(),
        Why::Instance(_) => "one instance of the property is preserved".to_owned(),
    };
    let value = if let Why::Names(value) = cause.why { Some(value) } else { None };
    Limit { span: cause.span, text, value }
}
