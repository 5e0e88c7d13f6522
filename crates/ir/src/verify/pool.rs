//! The structure of expressions and places (ids and order), and the classes of values. These depend only on the pool,
//! not on its users.

use rustc_hash::FxHashSet;

use crate::expression::{Argument, Expr, Iteration, Root, Step, UnaryOperator};
use crate::index::{ExprId, FunctionId, PlaceId, Table, TableIndex, TypeId};
use crate::model::Model;
use crate::statement::{MultisetElement, PrintForm, PrintPiece, ReturnValue, Statement, StatementKind};
use crate::types::TypeKind;

/// The class of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Boolean,
    Number,
    Symbol,
    /// Not a scalar at all.
    Compound,
}

/// The class of a type.
pub(crate) fn class_of(model: &Model, ty: TypeId) -> Class {
    match &model.types[ty].kind {
        TypeKind::Boolean => Class::Boolean,
        TypeKind::Integer | TypeKind::Range { .. } => Class::Number,
        TypeKind::Enumeration { .. } | TypeKind::Scalarset { .. } | TypeKind::Union { .. } => Class::Symbol,
        TypeKind::Array { .. } | TypeKind::Record { .. } | TypeKind::Multiset { .. } => Class::Compound,
    }
}

/// The direct parts of an expression or place.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) expressions: Vec<ExprId>,
    pub(super) places: Vec<PlaceId>,
    pub(super) types: Vec<TypeId>,
    pub(super) functions: Vec<FunctionId>,
}

impl Parts {
    pub(super) fn of_expression(expression: &Expr) -> Self {
        let mut parts = Self::default();
        match expression {
            Expr::Constant { ty, .. } => parts.types.push(*ty),
            Expr::Read(place) | Expr::IsUndefined(place) => parts.places.push(*place),
            Expr::Unary { operand, .. } => parts.expressions.push(*operand),
            Expr::Binary { left, right, .. } => parts.expressions.extend([*left, *right]),
            Expr::Conditional { condition, then, otherwise } => {
                parts.expressions.extend([*condition, *then, *otherwise]);
            }
            Expr::Quantified { range, body, .. } => {
                parts.add_range(range);
                parts.expressions.push(*body);
            }
            Expr::Count { multiset, body, .. } => {
                parts.places.push(*multiset);
                parts.expressions.push(*body);
            }
            Expr::IsPresent { multiset, position } => {
                parts.places.push(*multiset);
                parts.expressions.push(*position);
            }
            Expr::IsMember { value, ty } => {
                parts.expressions.push(*value);
                parts.types.push(*ty);
            }
            Expr::SameContents { left, right } => parts.places.extend([*left, *right]),
            Expr::Call { function, arguments } => parts.add_call(*function, arguments),
        }
        parts
    }

    pub(super) fn of_place(model: &Model, place: PlaceId) -> Self {
        let entry = &model.pool[place];
        let mut parts = Self { types: vec![entry.ty], ..Self::default() };
        match &entry.root {
            Root::Variable(_) | Root::Local(_) => {}
            Root::Result { function, arguments } => parts.add_call(*function, arguments),
            Root::Choice { condition, then, otherwise } => {
                parts.expressions.push(*condition);
                parts.places.extend([*then, *otherwise]);
            }
        }
        parts.expressions.extend(entry.steps.iter().filter_map(|step| match step {
            Step::Index(index) => Some(*index),
            Step::Field(_) => None,
        }));
        parts
    }

    pub(super) fn add_range(&mut self, range: &Iteration) {
        match range {
            Iteration::Over(ty) => self.types.push(*ty),
            Iteration::Steps { from, to, step } => self.expressions.extend([*from, *to].into_iter().chain(*step)),
        }
    }

    pub(super) fn add_call(&mut self, function: FunctionId, arguments: &[Argument]) {
        self.functions.push(function);
        for argument in arguments {
            match *argument {
                Argument::Value(value) => self.expressions.push(value),
                Argument::Copy(place) | Argument::Reference(place) => self.places.push(place),
                Argument::Undefined => {}
            }
        }
    }

    /// The direct parts of a statement, without those of the statements nested in it.
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
            StatementKind::If { branches, .. } => {
                self.expressions.extend(branches.iter().map(|(condition, _)| *condition));
            }
            StatementKind::For { range, .. } => self.add_range(range),
            StatementKind::Call { function, arguments } => self.add_call(*function, arguments),
            StatementKind::Return(Some(ReturnValue::Value(value))) => self.expressions.push(*value),
            StatementKind::Return(Some(ReturnValue::Copy(place))) => self.places.push(*place),
            StatementKind::Return(None) | StatementKind::Error { .. } => {}
            StatementKind::Print(pieces) => {
                for piece in pieces {
                    match piece {
                        PrintPiece::Value(value, form) => {
                            self.expressions.push(*value);
                            self.types.extend(if let PrintForm::Typed(ty) = form { Some(*ty) } else { None });
                        }
                        PrintPiece::Contents(place) => self.places.push(*place),
                        PrintPiece::Text(_) | PrintPiece::State => {}
                    }
                }
            }
            StatementKind::Assert { condition, violates, .. } => {
                self.expressions.push(*condition);
                self.expressions.extend(violates.iter().flat_map(|it| &it.value).map(|(_, value)| *value));
            }
            StatementKind::While { condition, .. }
            | StatementKind::Require { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.expressions.push(*condition),
            StatementKind::MultisetAdd { multiset, element } => {
                self.places.push(*multiset);
                match element {
                    MultisetElement::Value(value) => self.expressions.push(*value),
                    MultisetElement::Copy(place) => self.places.push(*place),
                }
            }
            StatementKind::MultisetRemove { multiset, position: expression }
            | StatementKind::MultisetRemoveIf { multiset, condition: expression, .. } => {
                self.places.push(*multiset);
                self.expressions.push(*expression);
            }
        }
    }

    /// Whether all parts exist.
    pub(super) fn exist(&self, model: &Model) -> bool {
        self.expressions.iter().all(|&expression| model.pool.expressions().get(expression).is_some())
            && self.places.iter().all(|&place| model.pool.places().get(place).is_some())
            && self.types.iter().all(|&ty| model.types.get(ty).is_some())
            && self.functions.iter().all(|&function| model.functions.get(function).is_some())
    }
}

/// The blocks nested directly in a statement.
pub(super) fn blocks(statement: &Statement) -> Vec<&[Statement]> {
    match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            branches.iter().map(|(_, body)| &body[..]).chain([&otherwise[..]]).collect()
        }
        StatementKind::While { body, .. } | StatementKind::For { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// A part of an expression or place, at any depth.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    Expression(ExprId),
    Place(PlaceId),
}

/// Visits expressions and places and all their parts, each once. All ids must exist.
pub(super) fn for_each_inside(model: &Model, roots: Parts, mut visit: impl FnMut(Inside)) {
    let mut expressions_seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut places_seen: FxHashSet<PlaceId> = FxHashSet::default();
    let mut pending = roots;
    loop {
        if let Some(expression) = pending.expressions.pop() {
            let Some(entry) = model.pool.expressions().get(expression) else {
                continue;
            };
            if expressions_seen.insert(expression) {
                visit(Inside::Expression(expression));
                let parts = Parts::of_expression(entry);
                pending.expressions.extend(parts.expressions);
                pending.places.extend(parts.places);
            }
        } else if let Some(place) = pending.places.pop() {
            if model.pool.places().get(place).is_some() && places_seen.insert(place) {
                visit(Inside::Place(place));
                let parts = Parts::of_place(model, place);
                pending.expressions.extend(parts.expressions);
                pending.places.extend(parts.places);
            }
        } else {
            return;
        }
    }
}

/// Checks that all ids in the pool exist and that it has no cycles: a place consists of earlier places, and an
/// expression of earlier expressions, including those inside its places.
pub(super) fn check_structure(model: &Model, problems: &mut Vec<String>) {
    // The last expression inside each place.
    let mut last_inside: Table<PlaceId, Option<usize>> = Table::new();
    for (id, place) in model.pool.places().iter_enumerated() {
        let parts = Parts::of_place(model, id);
        let variable_exists = match place.root {
            Root::Variable(variable) => model.variables.get(variable).is_some(),
            _ => true,
        };
        if !variable_exists || !parts.exist(model) {
            problems.push(format!("{id:?} mentions what does not exist"));
        }
        if parts.places.iter().any(|&part| part.position() >= id.position()) {
            problems.push(format!("{id:?} is made of a place that does not stand before it"));
            return;
        }
        let expressions = parts.expressions.iter().map(|part| part.position());
        let inside = parts.places.iter().filter_map(|&part| last_inside[part]);
        last_inside.push(expressions.chain(inside).max());
    }
    for (id, expression) in model.pool.expressions().iter_enumerated() {
        let parts = Parts::of_expression(expression);
        if !parts.exist(model) {
            problems.push(format!("{id:?} mentions what does not exist"));
            continue;
        }
        let expressions = parts.expressions.iter().map(|part| part.position());
        let inside = parts.places.iter().filter_map(|&part| last_inside[part]);
        if expressions.chain(inside).any(|part| part >= id.position()) {
            problems.push(format!("{id:?} is made of an expression that does not stand before it"));
        }
    }
}

/// The class of each expression, for a pool that [`check_structure`] accepts.
pub(super) fn classes(model: &Model) -> Table<ExprId, Class> {
    let mut classes: Table<ExprId, Class> = Table::new();
    for expression in model.pool.expressions().iter() {
        let class = match expression {
            Expr::Constant { ty, .. } => class_of(model, *ty),
            Expr::Read(place) => class_of(model, model.pool[*place].ty),
            Expr::Unary { operator: UnaryOperator::Not, .. }
            | Expr::Quantified { .. }
            | Expr::IsUndefined(_)
            | Expr::IsPresent { .. }
            | Expr::IsMember { .. }
            | Expr::SameContents { .. } => Class::Boolean,
            Expr::Unary { operator: UnaryOperator::Negate | UnaryOperator::Complement, .. } | Expr::Count { .. } => {
                Class::Number
            }
            Expr::Binary { operator, .. } if operator.is_arithmetic() => Class::Number,
            Expr::Binary { .. } => Class::Boolean,
            Expr::Conditional { then, .. } => classes[*then],
            Expr::Call { function, .. } => model.functions[*function].result.map_or(Class::Compound, |result| {
                model.types.get(result).map_or(Class::Compound, |_| class_of(model, result))
            }),
        };
        classes.push(class);
    }
    classes
}
