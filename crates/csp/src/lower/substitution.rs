//! Replacing values in terms, in particular bound variables by their values.

use std::rc::Rc;

use super::symbols::Symbols;
use super::terms::{At, Domain, Events, Index, Pattern, Statement, StatementKind, Term, Value, binary, unary};

/// Names with their values.
pub(super) type Bindings = Vec<(Rc<str>, Value)>;

/// A map of values that may know bound variables.
pub(super) trait Mapping {
    /// The image of a value, if it is not that of its parts.
    fn image(&mut self, value: &Value) -> Option<Value>;
    /// Variables of this name are bound to something else from here on; what to restore.
    fn hide(&mut self, name: &str) -> Bindings;
    fn restore(&mut self, hidden: Bindings);
}

/// Bound variables and their values.
pub(super) struct Environment(pub(super) Bindings);

impl Mapping for Environment {
    fn image(&mut self, value: &Value) -> Option<Value> {
        let Value::Bound(name) = value else { return None };
        self.0.iter().rev().find(|(bound, _)| bound == name).map(|(_, value)| value.clone())
    }
    fn hide(&mut self, name: &str) -> Bindings {
        let all = std::mem::take(&mut self.0);
        let (hidden, rest) = all.into_iter().partition(|(bound, _)| **bound == *name);
        self.0 = rest;
        hidden
    }
    fn restore(&mut self, hidden: Bindings) {
        self.0.extend(hidden);
    }
}

/// Variables that nothing assigns, and their values.
pub(super) struct Fixed<'a, 't>(pub(super) &'a Symbols<'t>);

impl Mapping for Fixed<'_, '_> {
    fn image(&mut self, value: &Value) -> Option<Value> {
        let Value::Global(variable, indices, _) = value else { return None };
        let indices = map_values(indices, self);
        self.0.fixed(*variable, &indices)
    }
    fn hide(&mut self, _: &str) -> Bindings {
        Vec::new()
    }
    fn restore(&mut self, _: Bindings) {}
}

pub(super) fn map_value<M: Mapping + ?Sized>(value: &Value, mapping: &mut M) -> Value {
    if let Some(image) = mapping.image(value) {
        return image;
    }
    match value {
        Value::Unary(operator, inner) => unary(*operator, map_value(inner, mapping)),
        Value::Binary(operator, left, right) => {
            let left = map_value(left, mapping);
            binary(*operator, left, map_value(right, mapping))
        }
        Value::Global(variable, indices, boolean) => Value::Global(*variable, map_values(indices, mapping), *boolean),
        Value::Local(local, indices) => Value::Local(*local, map_values(indices, mapping)),
        Value::Queue(question, channel, indices) => Value::Queue(*question, *channel, map_values(indices, mapping)),
        _ => value.clone(),
    }
}

pub(super) fn map_values<M: Mapping + ?Sized>(values: &[Value], mapping: &mut M) -> Vec<Value> {
    values.iter().map(|value| map_value(value, mapping)).collect()
}

fn map_statement<M: Mapping + ?Sized>(statement: &Statement, mapping: &mut M) -> Statement {
    let kind = match &statement.kind {
        StatementKind::Assign(variable, indices, value) => {
            StatementKind::Assign(*variable, map_values(indices, mapping), map_value(value, mapping))
        }
        StatementKind::AssignLocal(local, indices, value) => {
            StatementKind::AssignLocal(*local, map_values(indices, mapping), map_value(value, mapping))
        }
        StatementKind::Declare(local, name, size, value) => {
            let value = value.as_ref().map(|value| map_value(value, mapping));
            StatementKind::Declare(*local, name.clone(), *size, value)
        }
        StatementKind::If(condition, then, otherwise) => {
            let condition = map_value(condition, mapping);
            let then = map_block(then, mapping);
            StatementKind::If(condition, then, map_block(otherwise, mapping))
        }
        StatementKind::While(condition, body) => {
            StatementKind::While(map_value(condition, mapping), map_block(body, mapping))
        }
        StatementKind::Require(condition, message) => {
            StatementKind::Require(map_value(condition, mapping), message.clone())
        }
    };
    Statement { kind, at: statement.at }
}

fn map_block<M: Mapping + ?Sized>(block: &[Statement], mapping: &mut M) -> Vec<Statement> {
    block.iter().map(|statement| map_statement(statement, mapping)).collect()
}

fn map_optional<M: Mapping + ?Sized>(block: &Option<Rc<[Statement]>>, mapping: &mut M) -> Option<Rc<[Statement]>> {
    block.as_ref().map(|block| map_block(block, mapping).into())
}

fn map_indices<M: Mapping + ?Sized>(indices: &[Index], mapping: &mut M) -> Vec<Index> {
    let domain = |domain: &Domain, mapping: &mut M| match domain {
        Domain::Interval(low, high) => {
            let low = map_value(low, mapping);
            Domain::Interval(low, map_value(high, mapping))
        }
        Domain::List(values) => Domain::List(map_values(values, mapping)),
    };
    let map = |index: &Index| Index {
        variable: index.variable.clone(),
        domain: domain(&index.domain, mapping),
        at: index.at,
    };
    indices.iter().map(map).collect()
}

/// Applies a mapping inside of what indices bind.
fn within<M: Mapping + ?Sized, T>(indices: &[Index], mapping: &mut M, inside: impl FnOnce(&mut M) -> T) -> T {
    let names = indices.iter().filter_map(|index| index.variable.clone());
    let hidden: Vec<_> = names.flat_map(|name| mapping.hide(&name)).collect();
    let result = inside(mapping);
    mapping.restore(hidden);
    result
}

/// A set of events under a mapping.
pub(super) fn map_events<M: Mapping + ?Sized>(events: &[Events], mapping: &mut M) -> Rc<[Events]> {
    let map = |set: &Events| {
        let indices = map_indices(&set.indices, mapping);
        let arguments = within(&set.indices, mapping, |mapping| map_values(&set.arguments, mapping));
        Events { indices, name: set.name.clone(), arguments, at: set.at }
    };
    events.iter().map(map).collect()
}

/// A term under a mapping. Indexed processes with constant ranges are expanded.
pub(super) fn map_term<M: Mapping + ?Sized>(term: &Rc<Term>, mapping: &mut M) -> Rc<Term> {
    let image = match &**term {
        Term::Stop | Term::Skip | Term::Done | Term::Running(_) => return term.clone(),
        Term::Reference(definition, arguments, at) => Term::Reference(*definition, map_values(arguments, mapping), *at),
        Term::Prefix { event, fairness, block, at, next } => {
            let event = event.as_ref().map(|(name, arguments)| (name.clone(), map_values(arguments, mapping)));
            let block = map_optional(block, mapping);
            Term::Prefix { event, fairness: *fairness, block, at: *at, next: map_term(next, mapping) }
        }
        Term::Output { channel, indices, values, block, at, next } => {
            let indices = map_values(indices, mapping);
            let values = map_values(values, mapping);
            let block = map_optional(block, mapping);
            Term::Output { channel: *channel, indices, values, block, at: *at, next: map_term(next, mapping) }
        }
        Term::Input { channel, indices, guard, patterns, block, at, next } => {
            let indices = map_values(indices, mapping);
            let mut hidden = Vec::new();
            let mut mapped = Vec::new();
            for pattern in patterns {
                mapped.push(match pattern {
                    Pattern::Bind(name) => {
                        hidden.extend(mapping.hide(name));
                        Pattern::Bind(name.clone())
                    }
                    Pattern::Match(value) => Pattern::Match(map_value(value, mapping)),
                });
            }
            let guard = guard.as_ref().map(|guard| map_value(guard, mapping));
            let block = map_optional(block, mapping);
            let next = map_term(next, mapping);
            mapping.restore(hidden);
            Term::Input { channel: *channel, indices, guard, patterns: mapped, block, at: *at, next }
        }
        Term::Guard(condition, next) => {
            let condition = map_value(condition, mapping);
            Term::Guard(condition, map_term(next, mapping))
        }
        Term::If(check, condition, then, otherwise, at) => {
            let condition = map_value(condition, mapping);
            let then = map_term(then, mapping);
            Term::If(*check, condition, then, map_term(otherwise, mapping), *at)
        }
        Term::Case(branches, default, at) => {
            let map = |(condition, branch): &(Value, Rc<Term>)| {
                let condition = map_value(condition, mapping);
                (condition, map_term(branch, mapping))
            };
            let branches = branches.iter().map(map).collect();
            Term::Case(branches, map_term(default, mapping), *at)
        }
        Term::Several(operator, parts) => {
            Term::Several(*operator, parts.iter().map(|part| map_term(part, mapping)).collect())
        }
        Term::Parallel(parts, alphabets) => {
            Term::Parallel(parts.iter().map(|part| map_term(part, mapping)).collect(), alphabets.clone())
        }
        Term::Indexed(operator, indices, body, at) => {
            let indices = map_indices(indices, mapping);
            let body = within(&indices, mapping, |mapping| map_term(body, mapping));
            return match valuations(&indices) {
                Some(all) if all.len().saturating_mul(body.size()) <= SIZE_LIMIT => {
                    let parts = all.into_iter().map(|valuation| map_term(&body, &mut Environment(valuation)));
                    several(*operator, parts.collect())
                }
                _ => Rc::new(Term::Indexed(*operator, indices, body, *at)),
            };
        }
        Term::Sequence(first, second) => {
            let first = map_term(first, mapping);
            Term::Sequence(first, map_term(second, mapping))
        }
        Term::Interrupt(first, second) => {
            let first = map_term(first, mapping);
            Term::Interrupt(first, map_term(second, mapping))
        }
        Term::Hide(inner, events) => {
            let inner = map_term(inner, mapping);
            Term::Hide(inner, map_events(events, mapping))
        }
        Term::Atomic(inner) => Term::Atomic(map_term(inner, mapping)),
    };
    Rc::new(image)
}

/// Several processes; one is itself, and none behaves like `Skip` in compositions and like `Stop` in choices.
fn several(operator: crate::syntax::tree::Operator, mut parts: Vec<Rc<Term>>) -> Rc<Term> {
    use crate::syntax::tree::Operator;
    match parts.len() {
        0 => match operator {
            Operator::Interleave | Operator::Parallel => Rc::new(Term::Skip),
            _ => Rc::new(Term::Stop),
        },
        1 => parts.swap_remove(0),
        _ => Rc::new(Term::Several(operator, parts)),
    }
}

/// The most instances of an indexed process.
pub(super) const INSTANCE_LIMIT: usize = 2000;

/// The most operators of all instances together.
pub(super) const SIZE_LIMIT: usize = 200_000;

/// All values of indices, the last one fastest; none if a range is not constant or too large.
pub(super) fn valuations(indices: &[Index]) -> Option<Vec<Bindings>> {
    let mut all: Vec<Bindings> = vec![Vec::new()];
    for index in indices {
        let values: Vec<i64> = match (&index.domain, &index.variable) {
            // `{3}` alone is a number of copies.
            (Domain::List(values), None) => {
                let [count] = &values[..] else { return None };
                (0..count.constant()?.min(INSTANCE_LIMIT as i64 + 1)).collect()
            }
            (Domain::List(values), Some(_)) => values.iter().map(Value::constant).collect::<Option<_>>()?,
            (Domain::Interval(low, high), _) => {
                let (low, high) = (low.constant()?, high.constant()?);
                if high.saturating_sub(low) >= INSTANCE_LIMIT as i64 {
                    return None;
                }
                (low..=high).collect()
            }
        };
        if all.len().saturating_mul(values.len()) > INSTANCE_LIMIT {
            return None;
        }
        let extend = |valuation: &Bindings| {
            let valuation = valuation.clone();
            let variable = index.variable.clone();
            values.clone().into_iter().map(move |value| {
                let mut longer = valuation.clone();
                longer.extend(variable.clone().map(|name| (name, Value::Number(value))));
                longer
            })
        };
        all = all.iter().flat_map(extend).collect();
    }
    Some(all)
}

/// A location that nothing depends on.
pub(super) const NOWHERE: At = At(quotient_ir::Span { start: 0, end: 0 });
