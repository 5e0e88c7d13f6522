//! Traversals of the expressions, places and statements of one owner, without recursion into expressions: those of
//! generated models can be deeper than the machine's stack.

use rustc_hash::FxHashSet;

use crate::expression::{Argument, Expr, Iteration, Place, Root, Step};
use crate::index::{ExprId, FunctionId, PlaceId};
use crate::model::Model;
use crate::statement::{MultisetElement, ReturnValue, Statement, StatementKind, Violated};

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
        Node::Expression(id) => push_operands(&model.pool[id], children),
        Node::Place(id) => push_place_operands(&model.pool[id], children),
    }
}

/// The operands of an expression, in order of evaluation.
pub fn push_operands(expression: &Expr, operands: &mut Vec<Node>) {
    match expression {
        Expr::Constant { .. } => {}
        &Expr::Read(place) | &Expr::IsUndefined(place) => operands.push(Node::Place(place)),
        &Expr::Unary { operand, .. } => operands.push(Node::Expression(operand)),
        &Expr::Binary { left, right, .. } => operands.extend([Node::Expression(left), Node::Expression(right)]),
        &Expr::Conditional { condition, then, otherwise } => {
            operands.extend([condition, then, otherwise].map(Node::Expression));
        }
        Expr::Quantified { range, body, .. } => {
            push_range(range, operands);
            operands.push(Node::Expression(*body));
        }
        &Expr::Count { multiset, body, .. } => operands.extend([Node::Place(multiset), Node::Expression(body)]),
        &Expr::IsPresent { multiset, position } => {
            operands.extend([Node::Place(multiset), Node::Expression(position)]);
        }
        &Expr::IsMember { value, .. } => operands.push(Node::Expression(value)),
        &Expr::SameContents { left, right } => operands.extend([Node::Place(left), Node::Place(right)]),
        Expr::Call { arguments, .. } => push_arguments(arguments, operands),
    }
}

/// The operands of a place, in order of evaluation.
pub fn push_place_operands(place: &Place, operands: &mut Vec<Node>) {
    match &place.root {
        Root::Variable(_) | Root::Local(_) => {}
        Root::Result { arguments, .. } => push_arguments(arguments, operands),
        &Root::Choice { condition, then, otherwise } => {
            operands.extend([Node::Expression(condition), Node::Place(then), Node::Place(otherwise)]);
        }
    }
    for step in &place.steps {
        if let &Step::Index(index) = step {
            operands.push(Node::Expression(index));
        }
    }
}

/// The call that a node is, if it is one.
pub fn call_of(model: &Model, node: Node) -> Option<(FunctionId, &[Argument])> {
    match node {
        Node::Expression(id) => match &model.pool[id] {
            Expr::Call { function, arguments } => Some((*function, arguments)),
            _ => None,
        },
        Node::Place(id) => match &model.pool[id].root {
            Root::Result { function, arguments } => Some((*function, arguments)),
            _ => None,
        },
    }
}

/// The bounds of a range.
pub fn push_range(range: &Iteration, children: &mut Vec<Node>) {
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

/// The blocks directly inside a statement.
pub fn blocks(statement: &Statement) -> impl Iterator<Item = &[Statement]> {
    let (branches, last): (&[_], &[_]) = match &statement.kind {
        StatementKind::If { branches, otherwise } => (branches, otherwise),
        StatementKind::While { body, .. } | StatementKind::For { body, .. } => (&[], body),
        _ => (&[], &[]),
    };
    branches.iter().map(|(_, body)| &body[..]).chain([last])
}

/// Calls `visit` for every statement of a body, outer before inner ones.
pub fn visit_statements<'s>(body: &'s [Statement], visit: &mut impl FnMut(&'s Statement)) {
    for statement in body {
        visit(statement);
        for block in blocks(statement) {
            visit_statements(block, visit);
        }
    }
}

/// The place that a statement writes to, if it does.
pub fn written_place(statement: &Statement) -> Option<PlaceId> {
    match statement.kind {
        StatementKind::Assign { target: place, .. }
        | StatementKind::Copy { target: place, .. }
        | StatementKind::Clear(place)
        | StatementKind::Undefine(place)
        | StatementKind::MultisetAdd { multiset: place, .. }
        | StatementKind::MultisetRemove { multiset: place, .. }
        | StatementKind::MultisetRemoveIf { multiset: place, .. } => Some(place),
        StatementKind::Bind { .. }
        | StatementKind::If { .. }
        | StatementKind::While { .. }
        | StatementKind::For { .. }
        | StatementKind::Call { .. }
        | StatementKind::Return(_)
        | StatementKind::Assert { .. }
        | StatementKind::Require { .. }
        | StatementKind::Assume(_)
        | StatementKind::Cover { .. }
        | StatementKind::Error { .. }
        | StatementKind::Print(_) => None,
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
        StatementKind::For { range, .. } => push_range(range, nodes),
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

/// A part of an expression, a place or a statement, to be replaced.
#[derive(Debug)]
pub enum PartMut<'a> {
    /// An expression.
    Expression(&'a mut ExprId),
    /// A place.
    Place(&'a mut PlaceId),
    /// The statements inside a statement.
    Block(&'a mut Vec<Statement>),
}

/// Calls `visit` for the operands of an expression, in the order of [`push_operands`].
pub fn visit_operands_mut(expression: &mut Expr, visit: &mut dyn FnMut(PartMut<'_>)) {
    match expression {
        Expr::Constant { .. } => {}
        Expr::Read(place) | Expr::IsUndefined(place) => visit(PartMut::Place(place)),
        Expr::Unary { operand, .. } | Expr::IsMember { value: operand, .. } => visit(PartMut::Expression(operand)),
        Expr::Binary { left, right, .. } => [left, right].map(PartMut::Expression).into_iter().for_each(visit),
        Expr::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].map(PartMut::Expression).into_iter().for_each(visit);
        }
        Expr::Quantified { range, body, .. } => {
            visit_range_mut(range, visit);
            visit(PartMut::Expression(body));
        }
        Expr::Count { multiset, body: operand, .. } | Expr::IsPresent { multiset, position: operand } => {
            visit(PartMut::Place(multiset));
            visit(PartMut::Expression(operand));
        }
        Expr::SameContents { left, right } => [left, right].map(PartMut::Place).into_iter().for_each(visit),
        Expr::Call { arguments, .. } => visit_arguments_mut(arguments, visit),
    }
}

/// Calls `visit` for the operands of a place, in the order of [`push_place_operands`].
pub fn visit_place_operands_mut(place: &mut Place, visit: &mut dyn FnMut(PartMut<'_>)) {
    match &mut place.root {
        Root::Variable(_) | Root::Local(_) => {}
        Root::Result { arguments, .. } => visit_arguments_mut(arguments, visit),
        Root::Choice { condition, then, otherwise } => {
            visit(PartMut::Expression(condition));
            [then, otherwise].map(PartMut::Place).into_iter().for_each(&mut *visit);
        }
    }
    for step in &mut place.steps {
        if let Step::Index(index) = step {
            visit(PartMut::Expression(index));
        }
    }
}

/// Calls `visit` for the bounds of a range.
pub fn visit_range_mut(range: &mut Iteration, visit: &mut dyn FnMut(PartMut<'_>)) {
    if let Iteration::Steps { from, to, step } = range {
        [from, to].into_iter().chain(step).map(PartMut::Expression).for_each(visit);
    }
}

fn visit_arguments_mut(arguments: &mut [Argument], visit: &mut dyn FnMut(PartMut<'_>)) {
    for argument in arguments {
        match argument {
            Argument::Value(value) => visit(PartMut::Expression(value)),
            Argument::Copy(place) | Argument::Reference(place) => visit(PartMut::Place(place)),
            Argument::Undefined => {}
        }
    }
}

/// Calls `visit` for the parts of a statement in the order of the text, except for what is printed, which has no effect.
pub fn visit_parts_mut(statement: &mut Statement, visit: &mut dyn FnMut(PartMut<'_>)) {
    use PartMut::{Block, Expression, Place};
    match &mut statement.kind {
        StatementKind::Assign { target, value } => {
            visit(Place(target));
            visit(Expression(value));
        }
        StatementKind::Copy { target, source } => [target, source].map(Place).into_iter().for_each(visit),
        StatementKind::Clear(place) | StatementKind::Undefine(place) | StatementKind::Bind { place, .. } => {
            visit(Place(place));
        }
        StatementKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit(Expression(condition));
                visit(Block(body));
            }
            visit(Block(otherwise));
        }
        StatementKind::While { condition, body } => {
            visit(Expression(condition));
            visit(Block(body));
        }
        StatementKind::For { range, body, .. } => {
            visit_range_mut(range, visit);
            visit(Block(body));
        }
        StatementKind::Call { arguments, .. } => visit_arguments_mut(arguments, visit),
        StatementKind::Return(None) | StatementKind::Error { .. } | StatementKind::Print(_) => {}
        StatementKind::Return(Some(ReturnValue::Value(value))) => visit(Expression(value)),
        StatementKind::Return(Some(ReturnValue::Copy(place))) => visit(Place(place)),
        StatementKind::Assert { condition, violates, .. } => {
            visit(Expression(condition));
            if let Some(Violated { value: Some((_, value)), .. }) = violates {
                visit(Expression(value));
            }
        }
        StatementKind::Require { condition, .. }
        | StatementKind::Assume(condition)
        | StatementKind::Cover { condition, .. } => visit(Expression(condition)),
        StatementKind::MultisetAdd { multiset, element } => {
            visit(Place(multiset));
            match element {
                MultisetElement::Value(value) => visit(Expression(value)),
                MultisetElement::Copy(place) => visit(Place(place)),
            }
        }
        StatementKind::MultisetRemove { multiset, position: operand }
        | StatementKind::MultisetRemoveIf { multiset, condition: operand, .. } => {
            visit(Place(multiset));
            visit(Expression(operand));
        }
    }
}
