//! Owners of locals: functions, initial-state programs, rules and properties, through one interface.

use crate::index::{ExprId, LocalId, Table, TypeId};
use crate::model::{Function, Local, Model, Parameter, Property, Rule, Start};
use crate::statement::Statement;

/// A function, initial-state program, rule or property.
#[derive(Clone, Copy)]
pub(super) struct Owner<'m> {
    /// Its locals.
    pub(super) locals: &'m Table<LocalId, Local>,
    /// Its parameters, if it is not a function.
    pub(super) parameters: &'m [Parameter],
    /// Its parameters, if it is a function.
    pub(super) formals: &'m [LocalId],
    /// Its guard or condition.
    pub(super) condition: Option<ExprId>,
    /// Its statements.
    pub(super) body: &'m [Statement],
    /// What it returns.
    pub(super) result: Option<TypeId>,
}

impl<'m> Owner<'m> {
    pub(super) fn function(function: &'m Function) -> Self {
        let Function { parameters, locals, result, body, .. } = function;
        Self { locals, parameters: &[], formals: parameters, condition: None, body, result: *result }
    }
    pub(super) fn start(start: &'m Start) -> Self {
        let Start { parameters, locals, body, .. } = start;
        Self { locals, parameters, formals: &[], condition: None, body, result: None }
    }
    pub(super) fn rule(rule: &'m Rule) -> Self {
        let Rule { parameters, locals, guard, body, .. } = rule;
        Self { locals, parameters, formals: &[], condition: Some(*guard), body, result: None }
    }
    pub(super) fn property(property: &'m Property) -> Self {
        let Property { parameters, locals, formula, .. } = property;
        Self { locals, parameters, formals: &[], condition: formula.condition(), body: &[], result: None }
    }
    /// All owners of a model.
    pub(super) fn all(model: &'m Model) -> impl Iterator<Item = Self> {
        let functions = model.functions.iter().map(Self::function);
        let starts = model.starts.iter().map(Self::start);
        let rules = model.rules.iter().map(Self::rule);
        let properties = model.properties.iter().map(Self::property);
        functions.chain(starts).chain(rules).chain(properties)
    }
}
