//! Which terms are the same process: laws that are applied to terms when they become positions.
//!
//! A recursion through an operator nests the operator again with each round. Where a law makes the nested term equal to
//! one that is known, there are finitely many. All laws hold for strong bisimulation, so no claim distinguishes the sides:
//! `P \ A \ B` is `P \ (A ∪ B)`, `atomic { atomic { P } }` is `atomic { P }`, `P; Q` is `P` if `P` is no composition and never
//! terminates, and `(P interrupt Q) interrupt Q` is `P interrupt Q` if `Q` begins with a visible step.

use std::rc::Rc;

use super::steps::Stepper;
use super::substitution::{Environment, map_values, valuations};
use super::symbols::Definition;
use super::terms::{Events, Term, Value};
use crate::syntax::tree::{Check, Operator};

/// Sets with at most this many events are compared event by event, others by their texts.
const EXPANSION_LIMIT: usize = 64;

/// How often references are followed to see how a process begins.
const REFERENCE_DEPTH: usize = 20;

/// Which definitions may terminate, as far as the text shows: the least solution.
pub(super) fn terminating(definitions: &[Definition]) -> Vec<bool> {
    let mut known = vec![false; definitions.len()];
    loop {
        let mut changed = false;
        for (number, definition) in definitions.iter().enumerate() {
            if !known[number] && may_terminate(&known, &definition.body) {
                known[number] = true;
                changed = true;
            }
        }
        if !changed {
            return known;
        }
    }
}

fn may_terminate(known: &[bool], term: &Term) -> bool {
    let again = |term: &Term| may_terminate(known, term);
    match term {
        Term::Stop | Term::Done => false,
        Term::Skip => true,
        // What the parts of a running composition became is not looked at, so neither is what they are before: otherwise one
        // process would be two positions, by the way that leads to it.
        Term::Running(_)
        | Term::Several(Operator::Interleave | Operator::Parallel, _)
        | Term::Indexed(Operator::Interleave | Operator::Parallel, ..)
        | Term::Parallel(..) => true,
        Term::Reference(definition, ..) => known[*definition],
        Term::Prefix { next, .. } | Term::Output { next, .. } | Term::Input { next, .. } => again(next),
        Term::Guard(_, inner) | Term::Hide(inner, _) | Term::Atomic(inner) => again(inner),
        Term::If(Check::Blocking, _, then, _, _) => again(then),
        Term::If(_, _, then, otherwise, _) => again(then) || again(otherwise),
        Term::Case(branches, default, _) => branches.iter().any(|(_, branch)| again(branch)) || again(default),
        Term::Several(_, parts) => parts.iter().any(|part| again(part)),
        Term::Indexed(_, _, body, _) => again(body),
        Term::Sequence(first, second) => again(first) && again(second),
        Term::Interrupt(first, second) => again(first) || again(second),
    }
}

impl Stepper<'_, '_> {
    /// A term under the laws, wherever it can take a step and stay inside an operator. Compositions that begin there are
    /// not hidden behind names.
    pub(super) fn normal(&mut self, term: &Rc<Term>) -> Rc<Term> {
        match &**term {
            Term::Sequence(first, second) => {
                let first = self.normal(first);
                self.sequence(first, second)
            }
            Term::Interrupt(first, second) => {
                let first = self.normal(first);
                self.interrupt(first, second)
            }
            Term::Hide(inner, events) => {
                let inner = self.normal(inner);
                self.hiding(inner, &sorted(events))
            }
            Term::Atomic(inner) => {
                let inner = self.normal(inner);
                atomic(inner)
            }
            Term::Reference(definition, arguments, _) if self.unfolds_to_composition(term, 0) => {
                let (body, _) = self.unfold(*definition, arguments);
                self.normal(&body)
            }
            _ => term.clone(),
        }
    }

    pub(super) fn sequence(&self, first: Rc<Term>, second: &Rc<Term>) -> Rc<Term> {
        if !may_terminate(&self.terminating, &first) {
            return first;
        }
        Rc::new(Term::Sequence(first, second.clone()))
    }

    pub(super) fn interrupt(&self, first: Rc<Term>, second: &Rc<Term>) -> Rc<Term> {
        match &*first {
            // An internal step of the second process would be taken by one of the two copies only.
            Term::Interrupt(_, inner) if inner == second && self.begins_visibly(second, 0) => first,
            _ => Rc::new(Term::Interrupt(first, second.clone())),
        }
    }

    /// The events are sorted.
    pub(super) fn hiding(&self, inner: Rc<Term>, events: &Rc<[Events]>) -> Rc<Term> {
        match &*inner {
            Term::Hide(hidden, others) if others == events => Rc::new(Term::Hide(hidden.clone(), others.clone())),
            Term::Hide(hidden, others) => {
                let union: Vec<Events> = others.iter().chain(events.iter()).cloned().collect();
                Rc::new(Term::Hide(hidden.clone(), sorted(&union)))
            }
            _ => Rc::new(Term::Hide(inner, events.clone())),
        }
    }

    /// Whether all first steps of a term are visible, as far as its form shows.
    fn begins_visibly(&self, term: &Term, depth: usize) -> bool {
        match term {
            Term::Stop | Term::Output { .. } | Term::Input { .. } => true,
            Term::Prefix { event, .. } => event.is_some(),
            Term::Guard(_, inner) | Term::Atomic(inner) => self.begins_visibly(inner, depth),
            Term::If(Check::Atomic, _, then, otherwise, _) => {
                self.begins_visibly(then, depth) && self.begins_visibly(otherwise, depth)
            }
            Term::Several(Operator::Choice | Operator::External, parts) => {
                parts.iter().all(|part| self.begins_visibly(part, depth))
            }
            Term::Indexed(Operator::Choice | Operator::External, _, body, _) => self.begins_visibly(body, depth),
            Term::Reference(definition, ..) => {
                depth < REFERENCE_DEPTH && self.begins_visibly(&self.symbols.definitions[*definition].body, depth + 1)
            }
            _ => false,
        }
    }
}

pub(super) fn atomic(inner: Rc<Term>) -> Rc<Term> {
    if matches!(*inner, Term::Atomic(_)) { inner } else { Rc::new(Term::Atomic(inner)) }
}

/// The most events of a hiding of the text, after expansion.
pub(super) fn size_in_text(events: &[Events]) -> usize {
    events.iter().map(|set| if set.indices.is_empty() { 1 } else { EXPANSION_LIMIT }).sum()
}

/// The largest number of sets in a hiding of a term, where hidings are merged.
pub(super) fn widest_hiding(term: &Term) -> usize {
    match term {
        Term::Sequence(first, _) | Term::Interrupt(first, _) | Term::Atomic(first) => widest_hiding(first),
        Term::Hide(inner, events) => events.len().max(widest_hiding(inner)),
        _ => 0,
    }
}

/// A set of events in an order that does not depend on the text, each once.
fn sorted(sets: &[Events]) -> Rc<[Events]> {
    let mut all: Vec<Events> = sets.iter().flat_map(expanded).collect();
    all.sort_by_cached_key(|set| {
        let constants: Option<Vec<i64>> = set.arguments.iter().map(Value::constant).collect();
        (set.name.clone(), constants.is_none() || !set.indices.is_empty(), constants)
    });
    let mut result: Vec<Events> = Vec::with_capacity(all.len());
    for set in all {
        if !result.contains(&set) {
            result.push(set);
        }
    }
    result.into()
}

fn expanded(set: &Events) -> Vec<Events> {
    let event = |arguments| Events { indices: Vec::new(), name: set.name.clone(), arguments, at: set.at };
    match valuations(&set.indices) {
        Some(all) if !set.indices.is_empty() && all.len() <= EXPANSION_LIMIT => {
            all.into_iter().map(|valuation| event(map_values(&set.arguments, &mut Environment(valuation)))).collect()
        }
        _ => vec![set.clone()],
    }
}
