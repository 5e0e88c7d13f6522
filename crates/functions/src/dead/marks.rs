//! What dead slots hold: something that no symmetry can move, so that marks break none.
//!
//! Undefined, where a slot can be undefined. Else the value that all slots of the part have in all start states: a
//! symmetry maps start states to start states, so it maps that value to itself. Else a value that these slots never hold.

use std::rc::Rc;

use quotient_ir::{Budget, Expr, Interpreter, Interrupt, Layout, Outcome, StatementKind, Valuation, walk};

use super::facts::Member;
use super::lens::Control;
use super::parts::Parts;
use super::solution::{Dead, Setting};
use super::values::{Values, code_of};
use crate::possible::{Possible, possible_values};
use crate::slice::classes::Part;

/// The most start states that are looked at.
const START_LIMIT: usize = 1000;
/// The work that finding unused values may take.
const WORK_LIMIT: u64 = 2_000_000;

/// A part that is dead at times, with its mark.
pub(super) struct Marked {
    pub(super) dead: Dead,
    pub(super) mark: Option<i64>,
    /// The control values at which it is dead and has something else in a start state.
    pub(super) at_start: Values,
}

/// The parts for which there is a mark; none if there are no parts.
pub(super) fn marked(parts: &Parts<'_, '_>, layout: &Layout, found: Vec<Dead>) -> Option<Vec<Marked>> {
    if found.is_empty() {
        return None;
    }
    let model = parts.classes.model;
    let interpreter = Interpreter::new(model, layout);
    let mut starts: Vec<Valuation> = Vec::new();
    for (id, start) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&start.parameters, &start.locals) {
            if starts.len() == START_LIMIT {
                return None;
            }
            if let Outcome::Next { state, .. } = interpreter.run_start(id, &arguments) {
                starts.push(state);
            }
        }
    }
    let mut possible: Option<Option<Rc<Possible>>> = None;
    let mut marked = Vec::new();
    for mut dead in found {
        let slots = parts.slots(dead.part);
        let mark = if parts.classes.traits(dead.part).undefinable {
            None
        } else {
            let mut held = starts.iter().flat_map(|state| slots.iter().map(|&(slot, _)| state[slot]));
            let first = held.next().flatten();
            let common = first.filter(|_| held.all(|value| value == first));
            let known = match common {
                Some(value) => Some(value),
                None => {
                    let possible = possible.get_or_insert_with(|| {
                        let budget = Budget::new(WORK_LIMIT, Interrupt::new());
                        possible_values(model, layout, &budget).ok().map(Rc::new)
                    });
                    possible.as_ref().and_then(|possible| unused(layout, possible, slots))
                }
            };
            let Some(value) = known else { continue };
            // Arrays are set as a whole, to the least value.
            let is_array = parts
                .get(dead.part)
                .is_some_and(|info| info.dimensions.len() > usize::from(dead.control.members.is_some()));
            if is_array && slots.first().is_some_and(|&(slot, _)| layout.slots[slot].least != value) {
                continue;
            }
            Some(value)
        };
        dead.sets.retain(|set| !is_set_already(parts, layout, &dead.control, dead.part, set, mark));
        if dead.sets.is_empty() {
            continue;
        }
        let mut at_start = Values::none(dead.control.codes);
        for state in &starts {
            for &(slot, member) in slots {
                let control = control_slot(parts, &dead, member);
                let code = control.and_then(|control| code_of(&dead.control.domain, state[control]));
                if let Some(code) = code.filter(|&code| dead.values.contains(code) && state[slot] != mark) {
                    at_start.insert(code);
                }
            }
        }
        if at_start.count() > 0 && model.starts.iter().any(|start| ends_early(&start.body)) {
            continue;
        }
        marked.push(Marked { dead, mark, at_start });
    }
    (!marked.is_empty()).then_some(marked)
}

/// Whether the last thing that a rule does to a member of a part is to give it the mark.
fn is_set_already(
    parts: &Parts<'_, '_>,
    layout: &Layout,
    control: &Control,
    part: Part,
    set: &Setting,
    mark: Option<i64>,
) -> bool {
    let model = parts.classes.model;
    let least = parts.slots(part).first().map(|&(slot, _)| layout.slots[slot].least);
    for statement in model.rules[set.rule].body.iter().rev() {
        let (place, is_mark) = match &statement.kind {
            StatementKind::Undefine(place) => (*place, mark.is_none()),
            StatementKind::Clear(place) => (*place, mark.is_some() && mark == least),
            StatementKind::Assign { target, value } => {
                let is_mark = matches!(model.pool[*value], Expr::Constant { value, .. } if mark == Some(value));
                (*target, is_mark)
            }
            StatementKind::Copy { target, .. } => (*target, false),
            StatementKind::Assert { .. } | StatementKind::Print(_) => continue,
            _ => return false,
        };
        let Some(denoted) = parts.denoted(place) else { continue };
        if !denoted.parts.contains(&part) {
            continue;
        }
        let member = match set.member {
            Member::At(index) => Some(index),
            Member::Only | Member::Unknown => None,
        };
        let is_whole = denoted.given.len() == usize::from(control.members.is_some());
        return is_mark && is_whole && denoted.given.first().copied() == member;
    }
    false
}

/// The control slot of a member.
pub(super) fn control_slot(parts: &Parts<'_, '_>, dead: &Dead, member: Option<i64>) -> Option<quotient_ir::SlotId> {
    let member = member.filter(|_| dead.control.members.is_some());
    parts.slots(dead.control.part).iter().find(|(_, other)| *other == member).map(|(slot, _)| *slot)
}

/// A value of these slots that none of them can hold.
fn unused(layout: &Layout, possible: &Possible, slots: &[(quotient_ir::SlotId, Option<i64>)]) -> Option<i64> {
    use quotient_ir::TableIndex;
    let &(first, _) = slots.first()?;
    let domain = &layout.slots[first].domain;
    let mut held = Vec::new();
    for &(slot, _) in slots {
        let holds = &possible.holds[slot.position()];
        if holds.is_wide() {
            return None;
        }
        held.extend(holds.values().into_iter().flatten());
    }
    held.sort_unstable();
    held.dedup();
    domain.values().take(held.len() + 1).find(|value| held.binary_search(value).is_err())
}

fn ends_early(body: &[quotient_ir::Statement]) -> bool {
    let mut found = false;
    walk::visit_statements(body, &mut |statement| found |= matches!(statement.kind, StatementKind::Return(_)));
    found
}
