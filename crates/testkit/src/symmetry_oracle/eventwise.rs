//! The symmetries that map each event to an event, which is what detection looks for. An instance of a rule is a
//! function on all states composed of possible values; so is an instance of a property. A symmetry of the whole
//! transition system need not be one of these: it may map steps of one event to steps of several.

use std::collections::BTreeMap;

use quotient_groups::{GraphBuilder, Point, generators};
use quotient_ir::{Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, SlotId, Valuation};
use quotient_symmetry::Literals;
use rustc_hash::FxHashMap;

use super::{LiteralMap, all_states};

/// The effect of an event in one state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Effect {
    Fault,
    Holds,
    Next(u32, Vec<PropertyId>),
}

/// The kind of a function: all that a symmetry must preserve about its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Rule,
    Property(PropertyId),
}

/// Generators of the group of event-wise symmetries, if states times events are at most `limit`.
pub(super) fn generators_by_events(
    model: &Model,
    layout: &Layout,
    literals: &Literals,
    limit: usize,
) -> Option<Vec<LiteralMap>> {
    let states = all_states(literals, limit)?;
    let numbers: FxHashMap<&Valuation, u32> = states.iter().zip(0..).collect();
    let interpreter = Interpreter::new(model, layout);
    // Each function once: duplicates make no difference.
    let mut functions: FxHashMap<(Kind, Vec<Option<Effect>>), ()> = FxHashMap::default();
    let mut work = 0;
    for (rule, entry) in model.rules.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            work += states.len();
            if work > limit {
                return None;
            }
            let effect = |state: &Valuation| match interpreter.enabled(rule, &arguments, state) {
                Err(_) => Some(Effect::Fault),
                Ok(false) => None,
                Ok(true) => match interpreter.fire(rule, &arguments, state) {
                    Outcome::Fault(_) => Some(Effect::Fault),
                    // A dropped step does not happen.
                    Outcome::Pruned => None,
                    Outcome::Next { state, covered } => Some(Effect::Next(numbers[&state], covered)),
                },
            };
            functions.insert((Kind::Rule, states.iter().map(effect).collect()), ());
        }
    }
    for (property, entry) in model.properties.iter_enumerated() {
        let mut own = Vec::new();
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            work += states.len();
            if work > limit {
                return None;
            }
            let effect = |state: &Valuation| match interpreter.holds(property, &arguments, state) {
                Ok(true) => Some(Effect::Holds),
                Ok(false) => None,
                Err(_) if matches!(entry.kind, PropertyKind::Invariant | PropertyKind::Passing) => None,
                Err(_) => Some(Effect::Fault),
            };
            own.push(states.iter().map(effect).collect::<Vec<_>>());
        }
        let can_fault = own.iter().flatten().any(|effect| *effect == Some(Effect::Fault));
        if entry.kind == PropertyKind::Assumption && can_fault {
            // The first instance that is false or fails decides, so they count as one.
            let first = |state: usize| {
                let decisive = own.iter().map(|effects| &effects[state]).find(|effect| **effect != Some(Effect::Holds));
                decisive.cloned().unwrap_or(Some(Effect::Holds))
            };
            own = vec![(0..states.len()).map(first).collect()];
        }
        functions.extend(own.into_iter().map(|effects| ((Kind::Property(property), effects), ())));
    }
    // The covers reached on the way to an initial state are part of the effect of a start.
    let mut initial: Vec<Vec<Vec<PropertyId>>> = vec![Vec::new(); states.len()];
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            if let Outcome::Next { state, covered } = interpreter.run_start(start, &arguments) {
                initial[numbers[&state] as usize].push(covered);
            }
        }
    }
    for covered in &mut initial {
        covered.sort_unstable();
        covered.dedup();
    }
    Some(search(literals, &states, &initial, functions.into_keys().collect()))
}

fn search(
    literals: &Literals,
    states: &[Valuation],
    initial: &[Vec<Vec<PropertyId>>],
    mut functions: Vec<(Kind, Vec<Option<Effect>>)>,
) -> Vec<LiteralMap> {
    #[derive(PartialEq, Eq, Hash)]
    enum Colour {
        Slot,
        Literal,
        Undefined,
        State(Vec<Vec<PropertyId>>),
        Target,
        Function(Kind),
        Fault,
        Holds,
        Step(Vec<PropertyId>),
    }
    let mut colours: FxHashMap<Colour, u32> = FxHashMap::default();
    let mut number = move |colour: Colour| {
        let next = colours.len() as u32;
        *colours.entry(colour).or_insert(next)
    };
    // The order of a hash map must not affect the result.
    functions.sort_by_cached_key(|function| format!("{function:?}"));
    let mut builder = GraphBuilder::new();
    let mut vertices: BTreeMap<(SlotId, Option<i64>), Point> = BTreeMap::new();
    for (slot, entry) in literals.slots().iter_enumerated().filter(|(_, entry)| entry.values.len() > 1) {
        let owner = builder.add_vertex(number(Colour::Slot));
        for &value in &entry.values {
            let colour = if value.is_none() { Colour::Undefined } else { Colour::Literal };
            let vertex = builder.add_vertex(number(colour));
            builder.add_edge(owner, vertex);
            vertices.insert((slot, value), vertex);
        }
    }
    let mut sources = Vec::with_capacity(states.len());
    let mut targets = Vec::with_capacity(states.len());
    for (state, starts) in states.iter().zip(initial) {
        let source = builder.add_vertex(number(Colour::State(starts.clone())));
        let target = builder.add_vertex(number(Colour::Target));
        builder.add_edge(source, target);
        for slot in literals.slots().indices() {
            if let Some(&vertex) = vertices.get(&(slot, state[slot])) {
                builder.add_edge(source, vertex);
            }
        }
        sources.push(source);
        targets.push(target);
    }
    for (kind, effects) in functions {
        let function = builder.add_vertex(number(Colour::Function(kind)));
        for (source, effect) in sources.iter().zip(effects) {
            let Some(effect) = effect else { continue };
            let (colour, target) = match effect {
                Effect::Fault => (Colour::Fault, None),
                Effect::Holds => (Colour::Holds, None),
                Effect::Next(next, covered) => (Colour::Step(covered), Some(targets[next as usize])),
            };
            let vertex = builder.add_vertex(number(colour));
            builder.add_edge(function, vertex);
            builder.add_edge(vertex, *source);
            if let Some(target) = target {
                builder.add_edge(vertex, target);
            }
        }
    }
    let graph = builder.build().expect("edges join vertices that exist");
    let found = generators(&graph);
    assert!(found.complete, "the search has no limit");
    let literal_of: FxHashMap<Point, (SlotId, Option<i64>)> =
        vertices.iter().map(|(&literal, &vertex)| (vertex, literal)).collect();
    found
        .generators
        .iter()
        .map(|generator| {
            generator.moves().filter_map(|(from, to)| Some((*literal_of.get(&from)?, literal_of[&to]))).collect()
        })
        .filter(|map: &LiteralMap| !map.is_empty())
        .collect()
}
