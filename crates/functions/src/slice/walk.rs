//! Traversals of an owner, with the value that a failed assertion shows.

use quotient_ir::walk::{Node, push_statement_nodes, visit_nodes};
pub(super) use quotient_ir::walk::{visit_nodes as each_node, visit_statements as each_statement};
use quotient_ir::{ExprId, Model, PlaceId, Statement, StatementKind};

use super::classes::{OwnerId, Owners};

/// What a statement uses directly. What is printed has no effect.
pub(super) fn nodes_of(statement: &Statement, nodes: &mut Vec<Node>) {
    push_statement_nodes(statement, nodes);
    if let StatementKind::Assert { violates, .. } = &statement.kind {
        let shown = violates.iter().filter_map(|violated| violated.value.as_ref());
        nodes.extend(shown.map(|value| Node::Expression(value.1)));
    }
}

/// Visits the expressions and places of an owner, with its guard or condition.
pub(super) fn each_expression(
    model: &Model,
    owners: &Owners<'_>,
    owner: OwnerId,
    expression: &mut impl FnMut(ExprId),
    place: &mut impl FnMut(PlaceId),
) {
    let mut nodes: Vec<Node> = owners.get(owner).condition.into_iter().map(Node::Expression).collect();
    each_statement(owners.get(owner).body, &mut |statement| nodes_of(statement, &mut nodes));
    visit_nodes(model, nodes, |node| match node {
        Node::Expression(id) => expression(id),
        Node::Place(id) => place(id),
    });
}
