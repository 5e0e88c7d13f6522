//! Constructors used only by tests: types, functions and statements, without names or with distinct spans.

use super::{Assembly, Locals};
use crate::diagnostics::Span;
use crate::expression::{Argument, BinaryOperator, Iteration, Place, Root};
use crate::index::{ExprId, FunctionId, LocalId, PlaceId, RuleId, TypeId, VariableId};
use crate::layout::Layout;
use crate::model::{Function, LocalKind, Model};
use crate::statement::{Statement, StatementKind};
use crate::types::{Field, Type, TypeKind};
use crate::verify::verify;

impl Locals {
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

impl Assembly {
    /// The finished model with its layout.
    ///
    /// # Panics
    /// If it is not well-formed.
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

    /// The array or record result of a call as a place.
    pub(crate) fn result(&mut self, function: FunctionId, arguments: Vec<Argument>) -> PlaceId {
        let ty = self.model.functions[function].result.expect("the function has a result");
        self.model.pool.place(Place { root: Root::Result { function, arguments }, steps: Vec::new(), ty })
    }

    pub(crate) fn choice(&mut self, condition: ExprId, then: PlaceId, otherwise: PlaceId) -> PlaceId {
        let ty = self.model.pool[then].ty;
        self.model.pool.place(Place { root: Root::Choice { condition, then, otherwise }, steps: Vec::new(), ty })
    }

    /// `place = value`
    pub(crate) fn is(&mut self, place: PlaceId, value: i64) -> ExprId {
        let left = self.read(place);
        let ty = self.model.pool[place].ty;
        let ty = if matches!(self.model.types[ty].kind, TypeKind::Range { .. }) { Model::INTEGER } else { ty };
        let right = self.constant(value, ty);
        self.binary(BinaryOperator::Equal, left, right)
    }

    pub(crate) fn steps(&mut self, from: i64, to: i64, step: Option<i64>) -> Iteration {
        let (from, to) = (self.number(from), self.number(to));
        Iteration::Steps { from, to, step: step.map(|step| self.number(step)) }
    }

    /// A statement with its own span.
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

    /// A rule without parameters that can always fire.
    pub(crate) fn body(&mut self, locals: Locals, body: Vec<Statement>) -> RuleId {
        let guard = self.truth(true);
        self.rule(Vec::new(), locals, guard, body)
    }
}
