//! Positions of multisets.

use quotient_ir::walk::{Node, body_nodes, push_statement_nodes, visit_nodes, visit_statements};
use quotient_ir::{
    Argument, BinaryOperator, Domain, Expr, ExprId, Iteration, LocalId, Model, Root, StatementKind, Step, TypeKind,
};

use super::super::shapes::Scope;

/// Whether a position of a multiset is any position: a parameter of a rule that ranges over all of them, is used for
/// nothing else and requires an element there, or a position bound by a count or a removal.
pub(in super::super) fn is_position(model: &Model, scope: Scope, position: ExprId, capacity: u64) -> bool {
    let Some(local) = read_local(model, position) else { return false };
    if !is_position_only(model, scope, local) {
        return false;
    }
    let range = scope.parameters(model).iter().find(|parameter| parameter.local == local).map(|it| &it.range);
    match (scope, range) {
        (Scope::Rule(_), Some(range)) => {
            let values = match *range {
                Iteration::Over(ty) => Some(model.domain(ty)),
                Iteration::Steps { from, to, step: None } => match (&model.pool[from], &model.pool[to]) {
                    (&Expr::Constant { value: from, .. }, &Expr::Constant { value: to, .. }) if from <= to => {
                        Some(Domain::interval(from, to))
                    }
                    _ => None,
                },
                Iteration::Steps { .. } => None,
            };
            let values = values.filter(|values| (0..capacity as i64).all(|position| values.contains(position)));
            values.is_some() && requires_presence(model, scope, local)
        }
        _ => binds_position(model, scope, local),
    }
}

/// Whether a parameter of a rule selects an element of a multiset by its position.
pub(in super::super) fn selects_element(model: &Model, scope: Scope, local: LocalId) -> bool {
    is_position_only(model, scope, local) && requires_presence(model, scope, local)
}

/// Whether the guard of a rule requires an element at a position.
fn requires_presence(model: &Model, scope: Scope, local: LocalId) -> bool {
    let mut pending = scope.conditions(model);
    while let Some(condition) = pending.pop() {
        match model.pool[condition] {
            Expr::Binary { operator: BinaryOperator::And, left, right } => pending.extend([left, right]),
            Expr::IsPresent { position, .. } if read_local(model, position) == Some(local) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a count or a removal binds the local.
fn binds_position(model: &Model, scope: Scope, local: LocalId) -> bool {
    let mut found = false;
    visit_statements(scope.body(model), &mut |statement| {
        found |= matches!(statement.kind, StatementKind::MultisetRemoveIf { local: bound, .. } if bound == local);
    });
    let mut others = false;
    visit_nodes(model, nodes_of(model, scope), |node| {
        if let Node::Expression(id) = node {
            found |= matches!(model.pool[id], Expr::Count { local: bound, .. } if bound == local);
            others |= matches!(model.pool[id], Expr::Quantified { local: bound, .. } if bound == local);
        }
    });
    visit_statements(scope.body(model), &mut |statement| {
        others |= matches!(statement.kind, StatementKind::For { local: bound, .. } if bound == local);
    });
    found && !others
}

pub(super) fn nodes_of(model: &Model, scope: Scope) -> Vec<Node> {
    let mut nodes = body_nodes(scope.body(model));
    nodes.extend(scope.conditions(model).into_iter().map(Node::Expression));
    nodes
}

/// The local that an expression reads, if it is nothing else.
pub(super) fn read_local(model: &Model, expression: ExprId) -> Option<LocalId> {
    let Expr::Read(place) = model.pool[expression] else { return None };
    match &model.pool[place] {
        place if !place.steps.is_empty() => None,
        place => match place.root {
            Root::Local(local) => Some(local),
            _ => None,
        },
    }
}

/// Whether a local is used as a position of multisets only.
pub(in super::super) fn is_position_only(model: &Model, scope: Scope, local: LocalId) -> bool {
    let is_it = |expression: ExprId| read_local(model, expression) == Some(local);
    let mut only = true;
    let direct = |node: &Node, only: &mut bool| match *node {
        Node::Expression(id) => *only &= !is_it(id),
        Node::Place(id) => *only &= model.pool[id].root != Root::Local(local),
    };
    for condition in scope.conditions(model) {
        direct(&Node::Expression(condition), &mut only);
    }
    visit_statements(scope.body(model), &mut |statement| {
        let mut nodes = Vec::new();
        match &statement.kind {
            StatementKind::MultisetRemove { multiset, .. } => nodes.push(Node::Place(*multiset)),
            _ => push_statement_nodes(statement, &mut nodes),
        }
        nodes.iter().for_each(|node| direct(node, &mut only));
    });
    visit_nodes(model, nodes_of(model, scope), |node| match node {
        Node::Expression(id) => match &model.pool[id] {
            Expr::Constant { .. } | Expr::Read(_) | Expr::IsUndefined(_) | Expr::SameContents { .. } => {}
            Expr::Unary { operand, .. } | Expr::IsMember { value: operand, .. } => only &= !is_it(*operand),
            Expr::Binary { left, right, .. } => only &= !is_it(*left) && !is_it(*right),
            Expr::Conditional { condition, then, otherwise } => {
                only &= ![condition, then, otherwise].into_iter().any(|id| is_it(*id));
            }
            Expr::Quantified { range, body, .. } => {
                only &= !is_it(*body);
                if let Iteration::Steps { from, to, step } = range {
                    only &= !is_it(*from) && !is_it(*to) && !step.is_some_and(is_it);
                }
            }
            Expr::Count { body, .. } => only &= !is_it(*body),
            Expr::IsPresent { .. } => {}
            Expr::Call { arguments, .. } => only &= arguments_avoid(model, arguments, local),
        },
        Node::Place(id) => {
            let place = &model.pool[id];
            let mut ty = match &place.root {
                Root::Variable(variable) => model.variables[*variable].ty,
                Root::Local(own) => scope.locals(model)[*own].ty,
                Root::Result { function, arguments } => {
                    only &= arguments_avoid(model, arguments, local);
                    model.functions[*function].result.expect("verified: it has a result")
                }
                Root::Choice { condition, then, .. } => {
                    only &= !is_it(*condition);
                    model.pool[*then].ty
                }
            };
            for step in &place.steps {
                ty = match (step, &model.types[ty].kind) {
                    (Step::Field(field), TypeKind::Record { fields }) => fields[*field as usize].ty,
                    (Step::Index(index), TypeKind::Array { element, .. }) => {
                        only &= !is_it(*index);
                        *element
                    }
                    (Step::Index(_), TypeKind::Multiset { element, .. }) => *element,
                    _ => unreachable!("verified: a step fits the type it starts from"),
                };
            }
        }
    });
    only
}

fn arguments_avoid(model: &Model, arguments: &[Argument], local: LocalId) -> bool {
    arguments.iter().all(|argument| match *argument {
        Argument::Value(value) => read_local(model, value) != Some(local),
        Argument::Copy(place) | Argument::Reference(place) => model.pool[place].root != Root::Local(local),
        Argument::Undefined => true,
    })
}
