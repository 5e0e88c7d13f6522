//! Expressions to evaluate in states, given separately from the text of a model. Each front end reads its expression where
//! the text has the name [`WATCHED`], and makes it a function of the model that returns the value.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Function, Local, LocalId, Model, PlaceId, ReturnValue, Span, Statement,
    StatementKind, Table, TypeId, UnaryOperator, ValueDisplay, Watched,
};

/// The name in the text of what is to be evaluated.
pub const WATCHED: &str = "quotient_condition_watched";

/// The value of an expression in the representation.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A scalar.
    Scalar(ExprId),
    /// An array, a record or a multiset.
    Whole(PlaceId),
    /// A queue.
    Queue(PlaceId),
}

/// Makes an expression with these bound variables the one to evaluate.
pub fn watch(model: &mut Model, locals: Table<LocalId, Local>, value: Value, span: Span) {
    let (returned, ty, display) = match value {
        Value::Scalar(value) => (ReturnValue::Value(value), type_of(model, value), ValueDisplay::Cells),
        Value::Whole(place) => (ReturnValue::Copy(place), model.pool[place].ty, ValueDisplay::Cells),
        Value::Queue(place) => (ReturnValue::Copy(place), model.pool[place].ty, ValueDisplay::Queue),
    };
    let body = vec![Statement { kind: StatementKind::Return(Some(returned)), span }];
    let function = Function { name: WATCHED.into(), parameters: Vec::new(), locals, result: Some(ty), body, span };
    let function = model.functions.push(function);
    model.watched = Some(Watched { function, display });
}

/// The type that a scalar is shown as, which has all values of it.
fn type_of(model: &Model, expression: ExprId) -> TypeId {
    match &model.pool[expression] {
        Expr::Constant { ty, .. } => *ty,
        Expr::Read(place) => model.pool[*place].ty,
        Expr::Conditional { then, otherwise, .. } => {
            let (then, otherwise) = (type_of(model, *then), type_of(model, *otherwise));
            if then == otherwise { then } else { Model::INTEGER }
        }
        Expr::Call { function, .. } => model.functions[*function].result.unwrap_or(Model::INTEGER),
        Expr::Quantified { .. }
        | Expr::IsUndefined(_)
        | Expr::IsPresent { .. }
        | Expr::IsMember { .. }
        | Expr::SameContents { .. }
        | Expr::Unary { operator: UnaryOperator::Not, .. } => Model::BOOLEAN,
        Expr::Unary { .. } | Expr::Count { .. } => Model::INTEGER,
        Expr::Binary { operator, .. } => match operator {
            BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => Model::BOOLEAN,
            _ if operator.is_comparison() => Model::BOOLEAN,
            _ => Model::INTEGER,
        },
    }
}
