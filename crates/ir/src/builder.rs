//! Small models for tests, put together by hand in few words. Each statement gets its own span, so
//! that a fault tells where it happened.

use crate::diagnostics::{Source, Span};
use crate::expression::{Argument, BinaryOperator, Expr, Iteration, Place, Quantifier, Root, Step, UnaryOperator};
use crate::formula::Formula;
use crate::index::{ExprId, FunctionId, LocalId, PlaceId, PropertyId, RuleId, StartId, Table, TypeId, VariableId};
use crate::layout::Layout;
use crate::model::{Function, Local, LocalKind, Model, Parameter, Property, PropertyKind, Rule, Start, Variable};
use crate::ownership::{Fairness, Owner};
use crate::statement::{Statement, StatementKind};
use crate::types::{Field, Type, TypeKind};
use crate::verify::verify;

pub(crate) struct Builder {
    pub(crate) model: Model,
    statements: usize,
}

/// The locals of one owner.
#[derive(Default)]
pub(crate) struct Locals(pub(crate) Table<LocalId, Local>);

impl Locals {
    fn add(&mut self, name: &str, ty: TypeId, kind: LocalKind) -> LocalId {
        self.0.push(Local { name: name.into(), ty, kind, span: Span::default() })
    }
    pub(crate) fn parameter(&mut self, name: &str, ty: TypeId) -> LocalId {
        self.add(name, ty, LocalKind::Parameter)
    }
    pub(crate) fn variable(&mut self, name: &str, ty: TypeId) -> LocalId {
        self.add(name, ty, LocalKind::Variable)
    }
    pub(crate) fn reference(&mut self, name: &str, ty: TypeId) -> LocalId {
        self.add(name, ty, LocalKind::Reference)
    }
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { model: Model::new(Source::new("test.m", "")), statements: 0 }
    }

    /// The finished model with its layout.
    ///
    /// # Panics
    /// If it is not well formed.
    pub(crate) fn finish(self) -> (Model, Layout) {
        assert_eq!(verify(&self.model), Ok(()));
        let layout = Layout::new(&self.model).expect("a small model has a layout");
        (self.model, layout)
    }

    pub(crate) fn ty(&mut self, name: &str, kind: TypeKind) -> TypeId {
        let name = (!name.is_empty()).then(|| name.to_owned());
        self.model.types.push(Type { name, kind })
    }
    pub(crate) fn range(&mut self, low: i64, high: i64) -> TypeId {
        self.ty("", TypeKind::Range { low, high })
    }
    pub(crate) fn enumeration(&mut self, name: &str, first: i64, members: &[&str]) -> TypeId {
        let members = members.iter().map(|&member| member.to_owned()).collect();
        self.ty(name, TypeKind::Enumeration { first, members })
    }
    pub(crate) fn scalarset(&mut self, name: &str, first: i64, size: u64) -> TypeId {
        self.ty(name, TypeKind::Scalarset { first, size })
    }
    pub(crate) fn array(&mut self, index: TypeId, element: TypeId) -> TypeId {
        self.ty("", TypeKind::Array { index, element })
    }
    pub(crate) fn record(&mut self, fields: &[(&str, TypeId)]) -> TypeId {
        let fields = fields.iter().map(|&(name, ty)| Field { name: name.to_owned(), ty }).collect();
        self.ty("", TypeKind::Record { fields })
    }
    pub(crate) fn multiset(&mut self, capacity: u64, element: TypeId) -> TypeId {
        self.ty("", TypeKind::Multiset { capacity, element })
    }

    pub(crate) fn variable(&mut self, name: &str, ty: TypeId) -> VariableId {
        self.add_variable(name, ty, true)
    }
    /// A variable that always has a value.
    pub(crate) fn defined_variable(&mut self, name: &str, ty: TypeId) -> VariableId {
        self.add_variable(name, ty, false)
    }
    fn add_variable(&mut self, name: &str, ty: TypeId, may_be_undefined: bool) -> VariableId {
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
    /// The compound result of a call as a place.
    pub(crate) fn result(&mut self, function: FunctionId, arguments: Vec<Argument>) -> PlaceId {
        let ty = self.model.functions[function].result.expect("the function has a result");
        self.model.pool.place(Place { root: Root::Result { function, arguments }, steps: Vec::new(), ty })
    }
    pub(crate) fn choice(&mut self, condition: ExprId, then: PlaceId, otherwise: PlaceId) -> PlaceId {
        let ty = self.model.pool[then].ty;
        self.model.pool.place(Place { root: Root::Choice { condition, then, otherwise }, steps: Vec::new(), ty })
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
    /// `place = value`
    pub(crate) fn is(&mut self, place: PlaceId, value: i64) -> ExprId {
        let left = self.read(place);
        let ty = self.model.pool[place].ty;
        let ty = if matches!(self.model.types[ty].kind, TypeKind::Range { .. }) { Model::INTEGER } else { ty };
        let right = self.constant(value, ty);
        self.binary(BinaryOperator::Equal, left, right)
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
    pub(crate) fn steps(&mut self, from: i64, to: i64, step: Option<i64>) -> Iteration {
        let (from, to) = (self.number(from), self.number(to));
        Iteration::Steps { from, to, step: step.map(|step| self.number(step)) }
    }

    /// A statement with a span of its own.
    pub(crate) fn statement(&mut self, kind: StatementKind) -> Statement {
        self.statements += 1;
        Statement { kind, span: Span::new(self.statements, self.statements + 1) }
    }
    pub(crate) fn assign(&mut self, target: PlaceId, value: ExprId) -> Statement {
        self.statement(StatementKind::Assign { target, value })
    }
    /// Assigns a number.
    pub(crate) fn set(&mut self, target: PlaceId, value: i64) -> Statement {
        let value = self.number(value);
        self.assign(target, value)
    }
    pub(crate) fn copy(&mut self, target: PlaceId, source: PlaceId) -> Statement {
        self.statement(StatementKind::Copy { target, source })
    }

    pub(crate) fn function(
        &mut self,
        name: &str,
        parameters: Vec<LocalId>,
        locals: Locals,
        result: Option<TypeId>,
        body: Vec<Statement>,
    ) -> FunctionId {
        let span = Span::new(500, 600);
        self.model.functions.push(Function { name: name.into(), parameters, locals: locals.0, result, body, span })
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
    /// A rule that can always fire, without parameters.
    pub(crate) fn body(&mut self, locals: Locals, body: Vec<Statement>) -> RuleId {
        let guard = self.truth(true);
        self.rule(Vec::new(), locals, guard, body)
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
