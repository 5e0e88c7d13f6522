//! Traversals of the expressions, places and statements of one owner, without recursion into expressions: those of
//! generated models can be deeper than the machine's stack.

use rustc_hash::FxHashSet;

use crate::expression::{Argument, Expr, Iteration, Root, Step};
use crate::index::{ExprId, PlaceId};
use crate::model::Model;
use crate::statement::{MultisetElement, ReturnValue, Statement, StatementKind};

/// An expression or a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An expression.
    Expression(ExprId),
    /// A place.
    Place(PlaceId),
}

/// Calls `visit` for the given nodes and every node below them, each once, operands first.
pub fn visit_nodes(model: &Model, roots: impl IntoIterator<Item = Node>, mut visit: impl FnMut(Node)) {
    let mut seen: FxHashSet<Node> = FxHashSet::default();
    let mut stack: Vec<(Node, bool)> = Vec::new();
    let mut children = Vec::new();
    for root in roots {
        stack.push((root, false));
        while let Some((node, expanded)) = stack.pop() {
            if expanded {
                visit(node);
            } else if seen.insert(node) {
                stack.push((node, true));
                children.clear();
                push_children(model, node, &mut children);
                stack.extend(children.iter().rev().filter(|child| !seen.contains(child)).map(|&child| (child, false)));
            }
        }
    }
}

/// The operands of a node, in order of evaluation.
fn push_children(model: &Model, node: Node, children: &mut Vec<Node>) {
    match node {
        Node::Expression(id) => match &model.pool[id] {
            Expr::Constant { .. } => {}
            &Expr::Read(place) | &Expr::IsUndefined(place) => children.push(Node::Place(place)),
            &Expr::Unary { operand, .. } => children.push(Node::Expression(operand)),
            &Expr::Binary { left, right, .. } => {
                children.extend([Node::Expression(left), Node::Expression(right)]);
            }
            &Expr::Conditional { condition, then, otherwise } => {
                children.extend([condition, then, otherwise].map(Node::Expression));
            }
            Expr::Quantified { range, body, .. } => {
                push_iteration(range, children);
                children.push(Node::Expression(*body));
            }
            &Expr::Count { multiset, body, .. } => {
                children.extend([Node::Place(multiset), Node::Expression(body)]);
            }
            &Expr::IsPresent { multiset, position } => {
                children.extend([Node::Place(multiset), Node::Expression(position)]);
            }
            &Expr::IsMember { value, .. } => children.push(Node::Expression(value)),
            &Expr::SameContents { left, right } => children.extend([Node::Place(left), Node::Place(right)]),
            Expr::Call { arguments, .. } => push_arguments(arguments, children),
        },
        Node::Place(id) => {
            let place = &model.pool[id];
            match &place.root {
                Root::Variable(_) | Root::Local(_) => {}
                Root::Result { arguments, .. } => push_arguments(arguments, children),
                &Root::Choice { condition, then, otherwise } => {
                    children.extend([Node::Expression(condition), Node::Place(then), Node::Place(otherwise)]);
                }
            }
            for step in &place.steps {
                if let &Step::Index(index) = step {
                    children.push(Node::Expression(index));
                }
            }
        }
    }
}

fn push_iteration(range: &Iteration, children: &mut Vec<Node>) {
    if let &Iteration::Steps { from, to, step } = range {
        children.extend([from, to].map(Node::Expression));
        children.extend(step.map(Node::Expression));
    }
}

fn push_arguments(arguments: &[Argument], children: &mut Vec<Node>) {
    children.extend(arguments.iter().filter_map(|argument| match *argument {
        Argument::Value(value) => Some(Node::Expression(value)),
        Argument::Copy(place) | Argument::Reference(place) => Some(Node::Place(place)),
        Argument::Undefined => None,
    }));
}

/// Calls `visit` for every statement of a body, outer before inner ones.
pub fn visit_statements<'s>(body: &'s [Statement], visit: &mut impl FnMut(&'s Statement)) {
    for statement in body {
        visit(statement);
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                for (_, branch) in branches {
                    visit_statements(branch, visit);
                }
                visit_statements(otherwise, visit);
            }
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => visit_statements(body, visit),
            _ => {}
        }
    }
}

/// The nodes a statement uses directly, not those of the statements inside it.
pub fn push_statement_nodes(statement: &Statement, nodes: &mut Vec<Node>) {
    match &statement.kind {
        &StatementKind::Assign { target, value } => nodes.extend([Node::Place(target), Node::Expression(value)]),
        &StatementKind::Copy { target, source } => nodes.extend([Node::Place(target), Node::Place(source)]),
        &StatementKind::Clear(place) | &StatementKind::Undefine(place) | &StatementKind::Bind { place, .. } => {
            nodes.push(Node::Place(place));
        }
        StatementKind::If { branches, .. } => {
            nodes.extend(branches.iter().map(|&(condition, _)| Node::Expression(condition)));
        }
        &StatementKind::While { condition, .. }
        | &StatementKind::Assert { condition, .. }
        | &StatementKind::Require { condition, .. }
        | &StatementKind::Assume(condition)
        | &StatementKind::Cover { condition, .. } => nodes.push(Node::Expression(condition)),
        StatementKind::For { range, .. } => push_iteration(range, nodes),
        StatementKind::Call { arguments, .. } => push_arguments(arguments, nodes),
        StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
        &StatementKind::Return(Some(ReturnValue::Value(value))) => nodes.push(Node::Expression(value)),
        &StatementKind::Return(Some(ReturnValue::Copy(place))) => nodes.push(Node::Place(place)),
        &StatementKind::MultisetAdd { multiset, element } => {
            nodes.push(Node::Place(multiset));
            nodes.push(match element {
                MultisetElement::Value(value) => Node::Expression(value),
                MultisetElement::Copy(place) => Node::Place(place),
            });
        }
        &StatementKind::MultisetRemove { multiset, position } => {
            nodes.extend([Node::Place(multiset), Node::Expression(position)]);
        }
        &StatementKind::MultisetRemoveIf { multiset, condition, .. } => {
            nodes.extend([Node::Place(multiset), Node::Expression(condition)]);
        }
    }
}

/// All nodes the statements of a body use directly, including those of nested statements.
pub fn body_nodes(body: &[Statement]) -> Vec<Node> {
    let mut nodes = Vec::new();
    visit_statements(body, &mut |statement| push_statement_nodes(statement, &mut nodes));
    nodes
}
