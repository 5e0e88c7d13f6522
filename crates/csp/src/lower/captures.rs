//! Which values that a step fixes are used in what it does.

use rustc_hash::FxHashSet;

use super::steps::Action;
use super::terms::{Statement, StatementKind as Kind, Value};

pub(super) fn reads_register(value: &Value) -> bool {
    match value {
        Value::Register(_) => true,
        Value::Unary(_, inner) => reads_register(inner),
        Value::Binary(_, left, right) => reads_register(left) || reads_register(right),
        _ => false,
    }
}

pub(super) fn captured_in(value: &Value, used: &mut FxHashSet<u32>) {
    match value {
        Value::Captured(number) => {
            used.insert(*number);
        }
        Value::Unary(_, inner) => captured_in(inner, used),
        Value::Binary(_, left, right) => {
            captured_in(left, used);
            captured_in(right, used);
        }
        Value::Global(_, indices, _) | Value::Local(_, indices) | Value::Queue(_, _, indices) => {
            indices.iter().for_each(|index| captured_in(index, used));
        }
        Value::Number(_) | Value::Truth(_) | Value::Bound(_) | Value::Register(_) => {}
    }
}

fn captured_in_block(block: &[Statement], used: &mut FxHashSet<u32>) {
    for statement in block {
        match &statement.kind {
            Kind::Assign(_, indices, value) | Kind::AssignLocal(_, indices, value) => {
                indices.iter().for_each(|index| captured_in(index, used));
                captured_in(value, used);
            }
            Kind::Declare(_, _, _, value) => value.iter().for_each(|value| captured_in(value, used)),
            Kind::If(condition, then, otherwise) => {
                captured_in(condition, used);
                captured_in_block(then, used);
                captured_in_block(otherwise, used);
            }
            Kind::While(condition, body) => {
                captured_in(condition, used);
                captured_in_block(body, used);
            }
            Kind::Require(condition, _) => captured_in(condition, used),
        }
    }
}

pub(super) fn captured_in_action(action: &Action, used: &mut FxHashSet<u32>) {
    match action {
        Action::Block(block) => captured_in_block(block, used),
        Action::Enqueue(_, indices, values, _) => {
            indices.iter().chain(values).for_each(|value| captured_in(value, used));
        }
        Action::Dequeue(_, indices, _) => indices.iter().for_each(|index| captured_in(index, used)),
    }
}
