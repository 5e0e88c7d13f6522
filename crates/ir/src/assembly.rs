//! Concise, unchecked construction of models. Used by the model builder for what it has resolved, and by tests for
//! models that may be wrong.

#[cfg(test)]
mod by_hand;

use crate::diagnostics::{Source, Span};
use crate::expression::{BinaryOperator, Expr, Iteration, Place, Quantifier, Root, Step, UnaryOperator};
use crate::formula::Formula;
use crate::index::{ExprId, LocalId, PlaceId, PropertyId, RuleId, StartId, Table, TypeId, VariableId};
use crate::model::{Local, LocalKind, Model, Parameter, Property, PropertyKind, Rule, Start, Variable};
use crate::ownership::{Fairness, Owner};
use crate::statement::Statement;
use crate::types::TypeKind;

/// A model under construction.
pub(crate) struct Assembly {
    pub(crate) model: Model,
    /// The number of statements made by tests; each has its own span.
    #[cfg(test)]
    statements: usize,
}

/// The locals of one owner.
#[derive(Default)]
pub(crate) struct Locals(pub(crate) Table<LocalId, Local>);

impl Locals {
    pub(crate) fn add(&mut self, name: &str, ty: TypeId, kind: LocalKind) -> LocalId {
        self.0.push(Local { name: name.into(), ty, kind, span: Span::default() })
    }
}

impl Assembly {
    pub(crate) fn new() -> Self {
        Self {
            model: Model::new(Source::new("test.m", "")),
            #[cfg(test)]
            statements: 0,
        }
    }
    pub(crate) fn add_variable(&mut self, name: &str, ty: TypeId, may_be_undefined: bool) -> VariableId {
        self.model.variables.push(Variable { name: name.into(), ty, may_be_undefined, span: Span::default() })
    }
    /// A variable as a place.
    pub(crate) fn global(&mut self, variable: VariableId) -> PlaceId {
        let ty = self.model.variables[variable].ty;
        self.model.pool.place(Place { root: Root::Variable(variable), steps: Vec::new(), ty })
    }
    /// A local as a place.
    pub(crate) fn local(&mut self, locals: &Locals, local: LocalId) -> PlaceId {
        let ty = locals.0[local].ty;
        self.model.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty })
    }
    /// An element of an array or multiset.
    pub(crate) fn at(&mut self, place: PlaceId, index: ExprId) -> PlaceId {
        let mut place = self.model.pool[place].clone();
        place.ty = match self.model.types[place.ty].kind {
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => element,
            _ => panic!("only arrays and multisets are indexed"),
        };
        place.steps.push(Step::Index(index));
        self.model.pool.place(place)
    }
    /// A field of a record.
    pub(crate) fn field(&mut self, place: PlaceId, field: u32) -> PlaceId {
        let mut place = self.model.pool[place].clone();
        let TypeKind::Record { fields } = &self.model.types[place.ty].kind else {
            panic!("only records have fields");
        };
        place.ty = fields[field as usize].ty;
        place.steps.push(Step::Field(field));
        self.model.pool.place(place)
    }
    pub(crate) fn expression(&mut self, expression: Expr) -> ExprId {
        self.model.pool.expression(expression)
    }
    pub(crate) fn constant(&mut self, value: i64, ty: TypeId) -> ExprId {
        self.expression(Expr::Constant { value, ty })
    }
    pub(crate) fn number(&mut self, value: i64) -> ExprId {
        self.constant(value, Model::INTEGER)
    }
    pub(crate) fn truth(&mut self, value: bool) -> ExprId {
        self.constant(i64::from(value), Model::BOOLEAN)
    }
    pub(crate) fn read(&mut self, place: PlaceId) -> ExprId {
        self.expression(Expr::Read(place))
    }
    pub(crate) fn unary(&mut self, operator: UnaryOperator, operand: ExprId) -> ExprId {
        self.expression(Expr::Unary { operator, operand })
    }
    pub(crate) fn binary(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> ExprId {
        self.expression(Expr::Binary { operator, left, right })
    }
    pub(crate) fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: LocalId,
        range: Iteration,
        body: ExprId,
    ) -> ExprId {
        self.expression(Expr::Quantified { quantifier, local, range, body })
    }
    pub(crate) fn start(&mut self, parameters: Vec<Parameter>, locals: Locals, body: Vec<Statement>) -> StartId {
        let span = Span::new(600, 700);
        self.model.starts.push(Start { name: None, parameters, locals: locals.0, body, span })
    }
    pub(crate) fn rule(
        &mut self,
        parameters: Vec<Parameter>,
        locals: Locals,
        guard: ExprId,
        body: Vec<Statement>,
    ) -> RuleId {
        let span = Span::new(700, 800);
        self.model.rules.push(Rule {
            name: None,
            owner: Owner::None,
            fairness: Fairness::None,
            parameters,
            locals: locals.0,
            guard,
            body,
            span,
        })
    }
    pub(crate) fn property(
        &mut self,
        kind: PropertyKind,
        parameters: Vec<Parameter>,
        locals: Locals,
        formula: impl Into<Formula>,
    ) -> PropertyId {
        let span = Span::new(800, 900);
        self.model.properties.push(Property {
            name: None,
            kind,
            parameters,
            locals: locals.0,
            formula: formula.into(),
            span,
        })
    }
}
