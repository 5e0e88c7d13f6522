//! Processes that grow without a bound that was found: which term it is, and which values are watched.
//!
//! A term that is nested too deeply is not represented; a step to it ends the search as inconclusive. Values in registers
//! that are computed from themselves, as in `P(i) = a -> P(i + 1)`, may have a bound that only the search shows, so they
//! are watched.

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Span, Statement, StatementKind};
use quotient_kit::Building;
use rustc_hash::FxHashSet;

use super::components::{Component, Network};
use super::emission::Emission;
use super::moves::Move;
use super::symbols::Symbols;
use super::terms::{Term, Value};
use super::values::Body;
use super::wording;
use crate::syntax::tree::Binary;

/// The largest value of a register that nothing in the text bounds.
pub(super) const VALUE_LIMIT: i64 = 65_536;

/// A term that is too large to be represented.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    pub(super) text: String,
    /// Where the text refers to the process that grows.
    pub(super) span: Span,
}

impl Growth {
    pub(super) fn new(symbols: &Symbols<'_>, term: &Term) -> Self {
        let inner = innermost(term);
        let mut text = wording::term(symbols, inner);
        if !std::ptr::eq(inner, term) {
            text = format!("…({text})…");
        }
        Self { text, span: reference(inner).unwrap_or_default() }
    }
}

/// How deep sequences and compositions are nested.
pub(super) fn nesting(term: &Term) -> usize {
    inside(term).into_iter().map(|part| 1 + nesting(part)).max().unwrap_or(0)
}

/// The operands that can grow.
fn inside(term: &Term) -> Vec<&Rc<Term>> {
    match term {
        Term::Sequence(first, second) | Term::Interrupt(first, second) => vec![first, second],
        Term::Several(_, parts) | Term::Parallel(parts, _) => parts.iter().collect(),
        Term::Hide(inner, _) | Term::Atomic(inner) => vec![inner],
        _ => Vec::new(),
    }
}

/// The part of a nested term that shows how it is nested.
fn innermost(term: &Term) -> &Term {
    let mut term = term;
    while nesting(term) > 2 {
        let Some(part) = inside(term).into_iter().max_by_key(|part| nesting(part)) else { break };
        term = part;
    }
    term
}

fn reference(term: &Term) -> Option<Span> {
    match term {
        Term::Reference(_, _, at) => Some(at.0),
        _ => inside(term).into_iter().find_map(|part| reference(part)),
    }
}

/// The registers of a component that are computed from themselves, and that no condition of the component reads.
pub(super) fn unbounded_registers(network: &Network, component: usize) -> FxHashSet<usize> {
    let it = &network.components[component];
    let count = it.registers;
    // What each register may be computed from.
    let mut sources = vec![vec![false; count]; count];
    let mut grows = vec![false; count];
    for_each_update(it, |register, value| {
        let mut read = FxHashSet::default();
        registers_of(value, &mut read);
        for &source in &read {
            sources[register][source] = true;
        }
        grows[register] |= can_grow(value);
    });
    for middle in 0..count {
        for register in 0..count {
            for source in 0..count {
                sources[register][source] |= sources[register][middle] && sources[middle][source];
            }
        }
    }
    let mut compared = FxHashSet::default();
    for location in &it.locations {
        for condition in location.steps.iter().flat_map(|(step, _)| &step.guards) {
            registers_of(condition, &mut compared);
        }
    }
    // Registers that depend on each other grow together, and a condition on one may bound all.
    let sources = &sources;
    let cycle = |register: usize| {
        (0..count).filter(move |&it| it == register || sources[register][it] && sources[it][register])
    };
    let is_unbounded = |register: usize| {
        sources[register][register]
            && cycle(register).any(|it| grows[it])
            && !cycle(register).any(|it| compared.contains(&it))
    };
    (0..count).filter(|&register| is_unbounded(register)).collect()
}

fn for_each_update(component: &Component, mut visit: impl FnMut(usize, &Value)) {
    for (_, target) in component.locations.iter().flat_map(|location| &location.steps) {
        for (register, value) in target.registers.iter().enumerate() {
            visit(register, value);
        }
    }
}

fn registers_of(value: &Value, registers: &mut FxHashSet<usize>) {
    match value {
        Value::Register(number) => {
            registers.insert(*number as usize);
        }
        Value::Unary(_, inner) => registers_of(inner, registers),
        Value::Binary(_, left, right) => {
            registers_of(left, registers);
            registers_of(right, registers);
        }
        Value::Global(_, indices, _) | Value::Local(_, indices) | Value::Queue(_, _, indices) => {
            indices.iter().for_each(|index| registers_of(index, registers));
        }
        Value::Number(_) | Value::Truth(_) | Value::Bound(_) | Value::Captured(_) => {}
    }
}

/// Whether a value may be larger than the registers in it.
fn can_grow(value: &Value) -> bool {
    match value {
        Value::Binary(Binary::Add | Binary::Subtract | Binary::Multiply, ..) => {
            let mut read = FxHashSet::default();
            registers_of(value, &mut read);
            !read.is_empty()
        }
        Value::Binary(Binary::Divide, left, _) => can_grow(left),
        Value::Unary(_, inner) => can_grow(inner),
        _ => false,
    }
}

impl Emission<'_, '_> {
    /// A step to a term that is not represented ends the search.
    pub(super) fn check_growth(&mut self, it: &Move, span: Span, body: &mut Body) {
        for &part in &it.parts {
            let Some(growth) = &self.step(part).1.grows else { continue };
            let message = format!("the process grows without a bound that was found: `{}`", growth.text);
            let span = if growth.span == Span::default() { span } else { growth.span };
            let condition = self.truth(false);
            body.statements.push(Statement { kind: StatementKind::Require { condition, message }, span });
        }
    }

    /// Values that nothing in the text bounds must not become very large.
    pub(super) fn watch_values(&mut self, it: &Move, span: Span, body: &mut Body) {
        let network = self.network;
        for &part in &it.parts {
            let component = part.component;
            let (_, target) = self.step(part);
            let watched = (0..target.registers.len()).filter(|register| self.unbounded[component].contains(register));
            for register in watched.collect::<Vec<_>>() {
                if target.registers[register] == Value::Register(register as u32) {
                    continue;
                }
                let term = &network.components[component].locations[target.location].term;
                let growth = Growth::new(self.symbols, term);
                let message = format!(
                    "the process grows without a bound that was found: #{} of `{}` is beyond {VALUE_LIMIT}",
                    register + 1,
                    growth.text,
                );
                let place = self.variable_place(self.registers[component][register]);
                let (value, high, low) = (self.read(place), self.number(VALUE_LIMIT), self.number(-VALUE_LIMIT));
                let above = self.binary(BinaryOperator::LessOrEqual, low, value);
                let below = self.binary(BinaryOperator::LessOrEqual, value, high);
                let condition = self.and(above, below);
                let span = if growth.span == Span::default() { span } else { growth.span };
                body.statements.push(Statement { kind: StatementKind::Require { condition, message }, span });
            }
        }
    }
}
