//! Quotients packed by the values that detection considers possible.
//!
//! Detection knows which values each slot can hold. A quotient is searched with a layout that has room for nothing
//! else: states take fewer words, and the parts that symmetries exchange are smaller. Slots that symmetries exchange get
//! the same room. Should a value not fit, or should too many steps pass through values that do not fit, the search is
//! repeated with room for everything.

use quotient_groups::OrbitPartition;
use quotient_ir::walk::visit_statements;
use quotient_ir::{Argument, Layout, Model, PlaceId, Root, StatementKind, TableIndex, VariableId};
use quotient_symmetry::CertifiedGroup;

/// What variables contain in the middle of a step: it is common to make a message undefined, and then to set its
/// parts.
struct Transit {
    /// Whether cells of each variable are made undefined, or set to their least values.
    undefined: Vec<bool>,
    cleared: Vec<bool>,
}

impl Transit {
    fn of(model: &Model) -> Self {
        let mut statements = Vec::new();
        let bodies = model.rules.iter().map(|rule| &rule.body).chain(model.functions.iter().map(|entry| &entry.body));
        bodies.for_each(|body| visit_statements(body, &mut |statement| statements.push(&statement.kind)));
        let root = |place: PlaceId| match model.pool.places()[place].root {
            Root::Variable(variable) => Some(variable),
            _ => None,
        };
        // The variables that references can refer to.
        let mut referred: Vec<VariableId> = Vec::new();
        for statement in &statements {
            match statement {
                StatementKind::Bind { place, .. } => referred.extend(root(*place)),
                StatementKind::Call { arguments, .. } => {
                    let places = arguments.iter().filter_map(|argument| match argument {
                        Argument::Reference(place) => root(*place),
                        _ => None,
                    });
                    referred.extend(places);
                }
                _ => {}
            }
        }
        let mut transit =
            Self { undefined: vec![false; model.variables.len()], cleared: vec![false; model.variables.len()] };
        for statement in statements {
            let (place, marked) = match statement {
                StatementKind::Undefine(place) => (place, &mut transit.undefined),
                StatementKind::Clear(place) => (place, &mut transit.cleared),
                _ => continue,
            };
            match root(*place) {
                Some(variable) => marked[variable.position()] = true,
                None => referred.iter().for_each(|variable| marked[variable.position()] = true),
            }
        }
        transit
    }
}

/// A layout with room for the values that a group is certified for, and for those of states in the middle of a step.
pub fn layout_of_possible(model: &Model, layout: &Layout, group: &CertifiedGroup) -> Layout {
    let transit = Transit::of(model);
    let slots = &layout.slots;
    let mut orbits = OrbitPartition::new(slots.len());
    for slot_move in group.maps().iter().flat_map(quotient_symmetry::StateMap::moves) {
        let (from, to) = (&slots[slot_move.from], &slots[slot_move.to]);
        if from.domain == to.domain && from.has_undefined == to.has_undefined {
            orbits.merge(slot_move.from.position() as u32, slot_move.to.position() as u32);
        }
    }
    // The least and the greatest possible value of each orbit of slots, and whether they can be undefined.
    let mut rooms: Vec<(Option<(i64, i64)>, bool)> = vec![(None, false); slots.len()];
    for (slot, literals) in group.literals().slots().iter_enumerated() {
        let (between, undefined) = &mut rooms[orbits.find(slot.position() as u32) as usize];
        for value in &literals.values {
            match *value {
                Some(value) => {
                    *between = Some(between.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
                }
                None => *undefined = true,
            }
        }
        let entry = &slots[slot];
        *undefined |= transit.undefined[entry.variable.position()];
        if transit.cleared[entry.variable.position()] {
            *between = Some(between.map_or((entry.least, entry.least), |(low, high)| (low.min(entry.least), high)));
        }
    }
    layout.repacked(|id, slot| {
        let (between, undefined) = rooms[orbits.find(id.position() as u32) as usize];
        // A slot that is never defined still needs room for some value.
        let (low, high) = between.unwrap_or((slot.least, slot.least));
        slot.domain.between(low, high).map(|domain| (domain, undefined && slot.has_undefined))
    })
}
