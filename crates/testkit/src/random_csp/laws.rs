//! Laws under which terms are the same, so that some recursions through operators have finitely many terms.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Check, Choice, Event, Process, RandomCsp};

/// `P \ A \ B` hides `A ∪ B`.
pub(super) fn hide(inner: Rc<Process>, events: &[Event]) -> Rc<Process> {
    let (inner, others) = match &*inner {
        Process::Hide(hidden, others) => (hidden.clone(), &others[..]),
        _ => (inner, &[][..]),
    };
    let union: BTreeSet<Event> = events.iter().chain(others).cloned().collect();
    Rc::new(Process::Hide(inner, union.into_iter().collect()))
}

pub(super) fn atomic(inner: Rc<Process>) -> Rc<Process> {
    if matches!(*inner, Process::Atomic(_)) { inner } else { Rc::new(Process::Atomic(inner)) }
}

impl RandomCsp {
    /// Nothing follows what never terminates, unless it is a composition.
    pub(super) fn sequence(&self, first: Rc<Process>, second: &Rc<Process>) -> Rc<Process> {
        let never = vec![false; self.definitions.len()];
        let one_more = |known: &Vec<bool>| -> Vec<bool> {
            self.definitions.iter().map(|definition| terminates(known, definition)).collect()
        };
        // Which definitions may terminate: the least solution.
        let mut known = never;
        loop {
            let next = one_more(&known);
            if next == known {
                break;
            }
            known = next;
        }
        if terminates(&known, &first) { Rc::new(Process::Sequence(first, second.clone())) } else { first }
    }

    /// What is interrupted twice by the same visible event is interrupted once.
    pub(super) fn interrupt(&self, first: Rc<Process>, second: &Rc<Process>) -> Rc<Process> {
        if matches!(&*first, Process::Interrupt(_, other) if other == second) && self.is_visible(second, 20) {
            return first;
        }
        Rc::new(Process::Interrupt(first, second.clone()))
    }

    /// Whether the first steps are visible, whatever the conditions.
    fn is_visible(&self, process: &Process, depth: usize) -> bool {
        match process {
            Process::Stop | Process::Event(..) | Process::Output(..) | Process::Input(..) => true,
            Process::Guard(_, inner) | Process::Atomic(inner) => self.is_visible(inner, depth),
            Process::If(Check::Atomic, _, then, otherwise) => {
                self.is_visible(then, depth) && self.is_visible(otherwise, depth)
            }
            Process::Choice(Choice::General | Choice::External, parts) => {
                parts.iter().all(|part| self.is_visible(part, depth))
            }
            Process::Reference(definition, _) => {
                depth > 0 && self.is_visible(&self.definitions[*definition], depth - 1)
            }
            _ => false,
        }
    }
}

fn terminates(known: &[bool], process: &Process) -> bool {
    match process {
        Process::Stop | Process::Done => false,
        Process::Skip => true,
        Process::Reference(definition, _) => known[*definition],
        Process::Event(_, _, _, next) | Process::Output(_, _, next) | Process::Input(_, _, next) => {
            terminates(known, next)
        }
        Process::Guard(_, inner) | Process::Hide(inner, _) | Process::Atomic(inner) => terminates(known, inner),
        Process::If(check, _, then, otherwise) => {
            terminates(known, then) || *check != Check::Blocking && terminates(known, otherwise)
        }
        Process::Choice(_, parts) => parts.iter().any(|part| terminates(known, part)),
        // Compositions are not looked into.
        Process::Interleave(_) | Process::Parallel(..) => true,
        Process::Sequence(first, second) => terminates(known, first) && terminates(known, second),
        Process::Interrupt(first, second) => terminates(known, first) || terminates(known, second),
    }
}
