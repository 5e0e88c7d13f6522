//! What an expression denotes while it is being lowered: a value or a place, its type, whether it may be written to,
//! and its value if already known.

use quotient_ir::{Expr, ExprId, Place, PlaceId, Root, Span, TypeId};

use super::Lowering;

/// What an expression denotes.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Its type; `None` after an error, which has been reported.
    pub(super) ty: Option<TypeId>,
    pub(super) form: Form,
    pub(super) constancy: Constancy,
    pub(super) access: Access,
    pub(super) span: Span,
}

/// How an operand can be used in the representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A scalar value.
    Value(ExprId),
    /// A place: every array, record and multiset, and designated scalars.
    Place(PlaceId),
    /// Nothing, after an error.
    Nothing,
}

/// Whether an operand has a value before the model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constancy {
    Known(i64),
    /// It varies because of this expression.
    Varies(Span),
    /// It would be constant, but this expression has no value.
    Fails(Span, Failure),
}

/// Why a constant expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Overflow,
    DivisionByZero,
}

/// Whether an operand can be assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Writable,
    /// It is a place, but belongs to a value parameter of a function, declared here.
    ReadOnly(Span),
    /// It is the position in a multiset that this name denotes.
    Position(Span),
    /// It is a value only.
    ValueOnly,
}

impl Operand {
    /// A placeholder for something erroneous that has been reported.
    pub(super) fn unknown(span: Span) -> Self {
        let constancy = Constancy::Varies(span);
        Self { ty: None, form: Form::Nothing, constancy, access: Access::Writable, span }
    }

    /// The same, used elsewhere.
    pub(super) fn at(&self, span: Span) -> Self {
        let constancy = match self.constancy {
            Constancy::Known(value) => Constancy::Known(value),
            Constancy::Varies(_) => Constancy::Varies(span),
            Constancy::Fails(_, failure) => Constancy::Fails(span, failure),
        };
        Self { span, constancy, ..self.clone() }
    }
}

impl Lowering<'_> {
    /// A constant of a scalar type.
    pub(super) fn constant_operand(&mut self, value: i64, ty: TypeId, span: Span) -> Operand {
        let expression = self.model.pool.expression(Expr::Constant { value, ty });
        let constancy = Constancy::Known(value);
        Operand { ty: Some(ty), form: Form::Value(expression), constancy, access: Access::ValueOnly, span }
    }

    /// A value that is known only when the model runs.
    pub(super) fn value_operand(&mut self, expression: Expr, ty: TypeId, span: Span) -> Operand {
        let form = Form::Value(self.model.pool.expression(expression));
        Operand { ty: Some(ty), form, constancy: Constancy::Varies(span), access: Access::ValueOnly, span }
    }

    /// The whole of a variable or local.
    pub(super) fn place_operand(&mut self, root: Root, ty: TypeId, access: Access, span: Span) -> Operand {
        let form = Form::Place(self.model.pool.place(Place { root, steps: Vec::new(), ty }));
        Operand { ty: Some(ty), form, constancy: Constancy::Varies(span), access, span }
    }

    /// The value of a scalar operand.
    pub(super) fn value_of(&mut self, operand: &Operand) -> ExprId {
        match operand.form {
            Form::Value(expression) => expression,
            Form::Place(place) => self.model.pool.expression(Expr::Read(place)),
            // Only reached after an error, when no model is returned.
            Form::Nothing => self.model.pool.expression(Expr::Constant { value: 0, ty: quotient_ir::Model::INTEGER }),
        }
    }
}
