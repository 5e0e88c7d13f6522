//! The structure of expressions and places (ids and order), and the classes of values. These depend only on the pool,
//! not on its users.

use rustc_hash::FxHashSet;

use crate::expression::{Expr, Iteration, Root, UnaryOperator};
use crate::index::{ExprId, FunctionId, PlaceId, Table, TableIndex, TypeId};
use crate::model::Model;
use crate::statement::{PrintForm, PrintPiece, Statement, StatementKind};
use crate::types::TypeKind;
use crate::walk::{Node, push_operands, push_place_operands, push_range, push_statement_nodes};

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
            Expr::Constant { ty, .. } | Expr::IsMember { ty, .. } => parts.types.push(*ty),
            Expr::Quantified { range, .. } => parts.add_type_of(range),
            Expr::Call { function, .. } => parts.functions.push(*function),
            _ => {}
        }
        parts.add_nodes(|nodes| push_operands(expression, nodes));
        parts
    }

    pub(super) fn of_place(model: &Model, place: PlaceId) -> Self {
        let entry = &model.pool[place];
        let mut parts = Self { types: vec![entry.ty], ..Self::default() };
        if let Root::Result { function, .. } = &entry.root {
            parts.functions.push(*function);
        }
        parts.add_nodes(|nodes| push_place_operands(entry, nodes));
        parts
    }

    fn add_nodes(&mut self, push: impl FnOnce(&mut Vec<Node>)) {
        let mut nodes = Vec::new();
        push(&mut nodes);
        for node in nodes {
            match node {
                Node::Expression(expression) => self.expressions.push(expression),
                Node::Place(place) => self.places.push(place),
            }
        }
    }

    pub(super) fn add_range(&mut self, range: &Iteration) {
        self.add_type_of(range);
        self.add_nodes(|nodes| push_range(range, nodes));
    }

    fn add_type_of(&mut self, range: &Iteration) {
        self.types.extend(if let Iteration::Over(ty) = range { Some(*ty) } else { None });
    }

    /// The direct parts of a statement, without those of the statements nested in it.
    pub(super) fn add_statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::For { range, .. } => self.add_type_of(range),
            StatementKind::Call { function, .. } => self.functions.push(*function),
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
            StatementKind::Assert { violates, .. } => {
                self.expressions.extend(violates.iter().flat_map(|it| &it.value).map(|(_, value)| *value));
            }
            _ => {}
        }
        self.add_nodes(|nodes| push_statement_nodes(statement, nodes));
    }

    /// Whether all parts exist.
    pub(super) fn exist(&self, model: &Model) -> bool {
        self.expressions.iter().all(|&expression| model.pool.expressions().get(expression).is_some())
            && self.places.iter().all(|&place| model.pool.places().get(place).is_some())
            && self.types.iter().all(|&ty| model.types.get(ty).is_some())
            && self.functions.iter().all(|&function| model.functions.get(function).is_some())
    }
}

/// Visits expressions and places and all their parts, each once. All ids must exist.
pub(super) fn for_each_inside(model: &Model, roots: Parts, mut visit: impl FnMut(Node)) {
    let mut expressions_seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut places_seen: FxHashSet<PlaceId> = FxHashSet::default();
    let mut pending = roots;
    loop {
        if let Some(expression) = pending.expressions.pop() {
            let Some(entry) = model.pool.expressions().get(expression) else {
                continue;
            };
            if expressions_seen.insert(expression) {
                visit(Node::Expression(expression));
                let parts = Parts::of_expression(entry);
                pending.expressions.extend(parts.expressions);
                pending.places.extend(parts.places);
            }
        } else if let Some(place) = pending.places.pop() {
            if model.pool.places().get(place).is_some() && places_seen.insert(place) {
                visit(Node::Place(place));
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
