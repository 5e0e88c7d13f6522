//! What occurs in the expressions and statements of one owner.

use rustc_hash::FxHashSet;

use crate::expression::{Expr, Root};
use crate::index::{ExprId, FunctionId, LocalId};
use crate::model::Model;
use crate::statement::{Statement, StatementKind};
pub(super) use crate::walk::{Node, body_nodes, push_statement_nodes, visit_nodes, visit_statements};

/// The functions called below the given nodes, and by the statements of a body.
pub(super) fn called_functions(model: &Model, roots: Vec<Node>, body: &[Statement]) -> Vec<FunctionId> {
    let mut called = Vec::new();
    visit_statements(body, &mut |statement| {
        if let StatementKind::Call { function, .. } = &statement.kind {
            called.push(*function);
        }
    });
    visit_nodes(model, roots.into_iter().chain(body_nodes(body)), |node| match node {
        Node::Expression(id) => {
            if let Expr::Call { function, .. } = &model.pool[id] {
                called.push(*function);
            }
        }
        Node::Place(id) => {
            if let Root::Result { function, .. } = &model.pool[id].root {
                called.push(*function);
            }
        }
    });
    called
}

/// The locals that occur below the given nodes and are not bound there.
pub(super) fn free_locals(model: &Model, roots: impl IntoIterator<Item = Node>) -> Vec<LocalId> {
    let mut used = Vec::new();
    let mut bound = FxHashSet::default();
    visit_nodes(model, roots, |node| match node {
        Node::Expression(id) => match &model.pool[id] {
            Expr::Quantified { local, .. } | Expr::Count { local, .. } => {
                bound.insert(*local);
            }
            _ => {}
        },
        Node::Place(id) => {
            if let Root::Local(local) = model.pool[id].root {
                used.push(local);
            }
        }
    });
    used.retain(|local| !bound.contains(local));
    used.sort_unstable();
    used.dedup();
    used
}

/// Whether the result of a function that returns an array or record is used below a node.
pub(super) fn uses_results(model: &Model, root: ExprId) -> bool {
    let mut found = false;
    visit_nodes(model, [Node::Expression(root)], |node| {
        if let Node::Place(id) = node {
            found |= matches!(model.pool[id].root, Root::Result { .. });
        }
    });
    found
}
