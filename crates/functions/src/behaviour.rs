//! A whole model as functions of its state: all events and properties, over the possible values of each slot.
//! Impossible values are omitted, so that they are not permuted (the "redundant value symmetries" of Zhang et al. 2013,
//! section IV-D2).

mod positions;

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::ops::Range;

use quotient_ir::{
    Action, Budget, Domain, Interpreter, Iteration, Layout, Local, LocalId, Model, Parameter, PropertyId, PropertyKind,
    RuleId, Span, Spent, Table, TableIndex, VariableId,
};

use rustc_hash::FxHashMap;

use crate::circuit::{CASE_LIMIT, Circuit, Node, NodeId, Relabelling};
use crate::event::{Event, EventKey, Write, Written};
use crate::instance::{Instance, Subject};
use crate::mentions::Mentions;
use crate::multisets::Multisets;
use crate::possible::{Holds, Possible, is_enumerated, possible_values, scalar_types, values_after_prologue};
use crate::unfold::{Refusal, Unfolder, pointers};
use positions::ordered_multisets;

/// The functions of a model.
#[derive(Debug)]
pub struct Behaviour {
    /// All nodes. Slots from `slots` on are inputs.
    pub circuit: Circuit,
    /// The number of circuit slots that are slots of the state.
    pub slots: usize,
    /// The inputs of actions whose parameters are not enumerated.
    pub inputs: Vec<(Action, Range<u32>)>,
    /// The multisets of the state. The last slots of the circuit are their columns.
    pub multisets: Multisets,
    /// Instances of rules and initial-state programs.
    pub events: Vec<Event>,
    /// Instances of rules that have no effect in any state.
    pub idle: Vec<Instance>,
    /// Instances of properties.
    pub claims: Vec<Claim>,
    /// For each event and then for each claim, whether it involves some positions of a multiset but not others. The
    /// order of elements has no meaning, but such an instance selects an element by its position.
    pub positional: Vec<bool>,
    /// Variables that are treated as fixed, with reasons.
    pub fixed: Vec<Fixed>,
    /// Actions and properties without functions, with reasons. All variables they mention are fixed.
    pub refused: Vec<Refused>,
    /// The values of slots in states that are not transient, if less is known of all states.
    pub stored: Option<Vec<Holds>>,
    /// Whether symmetries must preserve how many instances have the same effect.
    pub preserves_firings: bool,
}

/// A rule, initial-state program or property without functions: it is too large to be represented, or does not
/// terminate in any state. Only the variables its text mentions are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The action or property.
    pub subject: Subject,
    /// The reason.
    pub reason: String,
}

impl Behaviour {
    /// Whether the moves map different inputs to different inputs and different values to different values. Then the
    /// inputs of an event can be renamed accordingly, since they range over all values anyway.
    fn permutes_inputs(&self, moves: &[InputMove]) -> bool {
        let sorted = |inputs: &mut dyn Iterator<Item = u32>| {
            let mut inputs: Vec<u32> = inputs.collect();
            inputs.sort_unstable();
            inputs.dedup();
            inputs
        };
        let origins = sorted(&mut moves.iter().map(|input| input.from));
        let images = sorted(&mut moves.iter().map(|input| input.to));
        origins.len() == moves.len()
            && origins == images
            && moves.iter().all(|input| {
                let (own, image) = (self.circuit.values(input.from), self.circuit.values(input.to));
                let is_input = |slot: u32| slot as usize >= self.slots;
                let are_values_permuted = match &input.positions {
                    Some(positions) => {
                        let positions = sorted(&mut positions.iter().map(|&position| u32::from(position)));
                        !self.circuit.is_wide(input.from) && positions.into_iter().eq(0..own.len() as u32)
                    }
                    None => own == image,
                };
                is_input(input.from)
                    && is_input(input.to)
                    && own.len() == image.len()
                    && self.circuit.is_wide(input.from) == self.circuit.is_wide(input.to)
                    && are_values_permuted
            })
    }

    /// An event for each distinct effect, with the number of instances that have it. Unless that is to be preserved, or
    /// for initial states, the number is 1: taking the same step twice leads to no other state.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn distinct_events(&self, budget: &Budget) -> Result<Vec<(&Event, u128)>, Spent> {
        let mut known: FxHashMap<(bool, EventKey), usize> = FxHashMap::default();
        let mut distinct: Vec<(&Event, u128)> = Vec::new();
        for event in &self.events {
            budget.spend(1 + event.writes.len() as u64)?;
            let is_counted = self.preserves_firings && !event.is_start();
            let instances = if is_counted { self.instances_of(event) } else { 1 };
            match known.entry((event.is_start(), event.key())) {
                Entry::Vacant(entry) => {
                    entry.insert(distinct.len());
                    distinct.push((event, instances));
                }
                Entry::Occupied(entry) if is_counted => {
                    let (_, all) = &mut distinct[*entry.get()];
                    *all = all.saturating_add(instances);
                }
                Entry::Occupied(_) => {}
            }
        }
        Ok(distinct)
    }

    /// The number of instances that an event represents: one for each value of its inputs.
    fn instances_of(&self, event: &Event) -> u128 {
        let inputs = self.inputs.iter().filter(|(action, _)| *action == event.action);
        inputs.flat_map(|(_, range)| range.clone()).fold(1u128, |product, input| {
            let values = self.circuit.values(input);
            let size = match (self.circuit.is_wide(input), values.first(), values.last()) {
                (true, Some(Some(least)), Some(Some(greatest))) => {
                    (i128::from(*greatest) - i128::from(*least)) as u128 + 1
                }
                _ => values.len() as u128,
            };
            product.saturating_mul(size)
        })
    }

    /// Extends a relabelling of slots to the inputs: as given, if that permutes them; otherwise an input copied to a
    /// slot follows the slot. Any permutation of the inputs of an event preserves its possible effects, so it is enough
    /// that this one works.
    pub fn extend_to_inputs(&self, relabelling: &mut Relabelling, inputs: Option<&[InputMove]>) {
        if let Some(inputs) = inputs.filter(|inputs| self.permutes_inputs(inputs)) {
            for InputMove { from, to, positions } in inputs {
                relabelling.insert(*from, *to, positions.clone());
            }
            return;
        }
        for (event, range) in self.events_with_inputs() {
            for (input, image, positions) in self.input_moves((event, range), (event, range), relabelling) {
                relabelling.insert(input, image, Some(positions));
            }
        }
    }

    fn events_with_inputs(&self) -> impl Iterator<Item = (&Event, &Range<u32>)> {
        self.events.iter().filter_map(|event| {
            let (_, range) = self.inputs.iter().find(|(action, _)| *action == event.action)?;
            Some((event, range))
        })
    }

    /// The moves of the inputs of one event that turn it into another. Inputs that are not copied to slots stay.
    /// Nothing moves unless different inputs are mapped to different ones.
    fn input_moves(
        &self,
        (event, own): (&Event, &Range<u32>),
        (image_event, others): (&Event, &Range<u32>),
        relabelling: &Relabelling,
    ) -> Vec<(u32, u32, Vec<u16>)> {
        let copies = |event: &Event| -> Vec<(u32, u32)> {
            event.writes.iter().filter_map(|write| Some((self.copied_input(write)?, write.slot))).collect()
        };
        let sources: FxHashMap<u32, u32> = copies(event).into_iter().rev().collect();
        let targets: FxHashMap<u32, u32> = copies(image_event).into_iter().map(|(input, slot)| (slot, input)).collect();
        let mut moves = Vec::with_capacity(own.len());
        for input in own.clone() {
            let goes = sources.get(&input).and_then(|&slot| {
                let image_slot = relabelling.slot(slot);
                let &image = targets.get(&image_slot)?;
                let (values, image_values) = (self.circuit.values(input), self.circuit.values(image));
                let (slot_values, image_slot_values) = (self.circuit.values(slot), self.circuit.values(image_slot));
                let position_of = |value: &Option<i64>| {
                    let position = slot_values.binary_search(value).ok()?;
                    let image_value = image_slot_values[relabelling.position(slot, position)];
                    image_values.binary_search(&image_value).ok().map(|position| position as u16)
                };
                let positions: Vec<u16> = values.iter().map(position_of).collect::<Option<_>>()?;
                (values.len() == image_values.len()).then_some((input, image, positions))
            });
            match goes {
                Some(goes) => moves.push(goes),
                None if own == others => {
                    moves.push((input, input, (0..self.circuit.values(input).len() as u16).collect()));
                }
                None => return Vec::new(),
            }
        }
        let mut images: Vec<u32> = moves.iter().map(|&(_, image, _)| image).collect();
        images.sort_unstable();
        images.dedup();
        if images.len() < own.len() {
            return Vec::new();
        }
        moves.retain(|(input, image, positions)| {
            input != image || positions.iter().enumerate().any(|(from, &to)| from != to as usize)
        });
        moves
    }

    /// The known event that equals the image of an event under a relabelling, if there is one.
    pub fn event_image(
        &mut self,
        number: usize,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
        is_known: impl Fn(&(bool, EventKey)) -> bool,
    ) -> Option<EventKey> {
        let is_start = matches!(self.events[number].action, Action::Start(_));
        if let Some(key) = self.events[number].relabelled(&mut self.circuit, relabelling, known) {
            let key = (is_start, key);
            if is_known(&key) {
                return Some(key.1);
            }
        }
        // With inputs, another event may have the same effect with its own inputs.
        let action = self.events[number].action;
        let (_, own) = self.inputs.iter().find(|(owner, _)| *owner == action)?.clone();
        let event = self.events[number].clone();
        let others: Vec<(Event, Range<u32>)> = self
            .events_with_inputs()
            .filter(|(other, range)| {
                other.action != action
                    && matches!(other.action, Action::Start(_)) == is_start
                    && range.len() == own.len()
            })
            .map(|(other, range)| (other.clone(), range.clone()))
            .collect();
        for (other, range) in others {
            let moves = self.input_moves((&event, &own), (&other, &range), relabelling);
            if moves.len() < own.len() {
                continue;
            }
            let mut extended = relabelling.clone();
            for (input, image, positions) in moves {
                extended.insert(input, image, Some(positions));
            }
            let key = event.relabelled(&mut self.circuit, &extended, &mut FxHashMap::default());
            if key.as_ref() == Some(&other.key()) {
                return key;
            }
        }
        None
    }

    /// The input whose value a write copies, if that is all it does.
    fn copied_input(&self, write: &Write) -> Option<u32> {
        let Written::Cases(cases) = &write.written else { return None };
        let mut input = None;
        for &(value, condition) in cases {
            let Node::In { slot, values } = self.circuit.node(condition) else { return None };
            let is_copy = values.iter().map(|position| self.circuit.values(*slot)[position]).eq([value]);
            if !is_copy || (*slot as usize) < self.slots || input.is_some_and(|known| known != *slot) {
                return None;
            }
            input = Some(*slot);
        }
        input
    }
}

/// The image of an input and of the positions of its values.
#[derive(Clone, Debug)]
pub struct InputMove {
    /// The input, a slot of the circuit.
    pub from: u32,
    /// Its image.
    pub to: u32,
    /// None if there are too many values to list; these stay.
    pub positions: Option<Vec<u16>>,
}

/// An instance of a property.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The property.
    pub property: PropertyId,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// The condition under which it holds.
    pub condition: NodeId,
    /// The condition under which its evaluation causes a run-time error.
    pub fault: NodeId,
}

/// The content of a claim: its property, when it holds, and when it has no value.
pub type ClaimKey = (PropertyId, NodeId, NodeId);

impl Claim {
    /// The content of the claim: equal for equivalent claims.
    pub fn key(&self) -> ClaimKey {
        (self.property, self.condition, self.fault)
    }

    /// The property and its arguments.
    pub fn instance(&self) -> Instance {
        Instance { subject: Subject::Property(self.property), arguments: self.arguments.clone() }
    }
}

/// What symmetries must preserve, in addition to the behaviour and the assumptions (which determine the set of states).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preserved<'a> {
    /// Properties, each as the family of its instances: a symmetry may permute the instances.
    Properties(&'a [PropertyId]),
    /// The same, and more about steps.
    PropertiesAndSteps {
        /// The properties.
        properties: &'a [PropertyId],
        /// Whether it is preserved at which place of the text a step goes wrong.
        errors: bool,
        /// Whether it is preserved how many instances of rules take a step.
        firings: bool,
    },
    /// One instance of each property, with the same arguments.
    Instances {
        /// The properties.
        properties: &'a [PropertyId],
        /// The cells of their parameters.
        arguments: &'a [i64],
    },
}

impl Preserved<'_> {
    /// The properties.
    pub fn properties(&self) -> &[PropertyId] {
        match self {
            Self::Properties(properties)
            | Self::PropertiesAndSteps { properties, .. }
            | Self::Instances { properties, .. } => properties,
        }
    }

    /// Whether it is preserved at which place of the text a step goes wrong.
    pub fn errors(&self) -> bool {
        matches!(self, Self::PropertiesAndSteps { errors: true, .. })
    }

    /// Whether it is preserved how many instances of rules take a step.
    pub fn firings(&self) -> bool {
        matches!(self, Self::PropertiesAndSteps { firings: true, .. })
    }

    fn includes(&self, property: PropertyId, instance: &[i64]) -> bool {
        match *self {
            Self::Instances { properties, arguments } => !properties.contains(&property) || arguments == instance,
            Self::Properties(_) | Self::PropertiesAndSteps { .. } => true,
        }
    }
}

/// A variable whose slots and values are not permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The variable.
    pub variable: VariableId,
    /// The reason.
    pub reason: String,
    /// The responsible location in the text.
    pub span: Span,
}

/// Unfolds a model with the given properties.
///
/// # Errors
/// If the budget is spent.
pub fn unfold(model: &Model, layout: &Layout, preserved: Preserved<'_>, budget: &Budget) -> Result<Behaviour, Spent> {
    unfold_over(model, layout, preserved, possible_values(model, layout, budget)?, budget)
}

/// The same over given values of the slots, which must include all possible ones.
///
/// # Errors
/// If the budget is spent.
pub fn unfold_over(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    possible: Possible,
    budget: &Budget,
) -> Result<Behaviour, Spent> {
    unfold_with(model, layout, preserved, possible, false, budget)
}

/// Unfolds a model; an instance of a rule that finds elements of arrays by the value of slots is one event for each of
/// these values.
///
/// # Errors
/// If the budget is spent.
pub fn unfold_by_pointers(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<Behaviour, Spent> {
    unfold_with(model, layout, preserved, values_after_prologue(model, layout, budget)?, true, budget)
}

fn unfold_with(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    possible: Possible,
    by_pointers: bool,
    budget: &Budget,
) -> Result<Behaviour, Spent> {
    let Possible { mut holds, undefined_elements, stored } = possible;
    // An element of a multiset can be at any position, wherever it was added.
    for entry in Multisets::new(layout, 0).iter() {
        for column in 0..entry.stride {
            let slots = (0..entry.capacity).map(|position| entry.slot(position, column) as usize);
            let joined = slots.clone().fold(Holds::nothing(), |joined, slot| joined.union(&holds[slot]));
            for slot in slots {
                holds[slot] = joined.clone();
            }
        }
    }
    let mut values: Vec<Vec<Option<i64>>> = holds.iter().map(Holds::values).collect();
    let mut wide: Vec<bool> = holds.iter().map(Holds::is_wide).collect();
    let interpreter = Interpreter::new(model, layout);
    let mut actions: Vec<(Action, &[Parameter], &Table<LocalId, Local>)> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        actions.push((Action::Start(start), &entry.parameters, &entry.locals));
    }
    for (rule, entry) in model.rules.iter_enumerated() {
        actions.push((Action::Rule(rule), &entry.parameters, &entry.locals));
    }
    let mut inputs = Vec::new();
    for &(action, parameters, locals) in &actions {
        if !is_enumerated(model, parameters, locals) {
            let first = values.len() as u32;
            for parameter in parameters {
                let mut scalars = Vec::new();
                scalar_types(model, locals[parameter.local].ty, &mut scalars);
                match parameter.range {
                    Iteration::Over(_) => {
                        for ty in scalars {
                            let domain = model.domain(ty);
                            wide.push(is_wide(&domain));
                            values.push(if is_wide(&domain) {
                                vec![Some(domain.least()), Some(domain.greatest())]
                            } else {
                                domain.values().map(Some).collect()
                            });
                        }
                    }
                    Iteration::Steps { .. } => {
                        wide.push(false);
                        values.push(interpreter_values(&interpreter, parameter, locals, budget)?);
                    }
                }
            }
            inputs.push((action, first..values.len() as u32));
        }
    }
    let mut multisets = Multisets::new(layout, values.len() as u32);
    multisets.note_undefined(&undefined_elements);
    for entry in multisets.iter() {
        for column in 0..entry.stride {
            let slot = entry.slot(0, column) as usize;
            values.push(values[slot].clone());
            wide.push(wide[slot]);
        }
    }
    let mut fixed: Vec<Fixed> = Vec::new();
    let mut fix = |variables: BTreeSet<VariableId>, reason: &dyn std::fmt::Display, span: Span| {
        for variable in variables {
            if !fixed.iter().any(|entry| entry.variable == variable) {
                fixed.push(Fixed { variable, reason: reason.to_string(), span });
            }
        }
    };
    for multiset in layout.multisets().iter().filter(|multiset| multiset.capacity > 0) {
        if multisets.at(multiset.first.position() as u32).is_none() {
            let variable = layout.slots[multiset.first].variable;
            let span = model.variables[variable].span;
            fix(BTreeSet::from([variable]), &"multisets inside multisets are not looked into", span);
        }
    }
    let mut refused: Vec<Refused> = Vec::new();
    let mut unfolder =
        Unfolder::new(model, layout, values, wide, multisets.clone(), budget).placing_faults(preserved.errors());
    let mut events = Vec::new();
    let mut idle = Vec::new();
    for &(action, parameters, locals) in &actions {
        let first_input = inputs.iter().find(|(owner, _)| *owner == action).map(|(_, range)| range.start);
        let result: Result<Vec<Event>, Refusal> = match (first_input, action) {
            (Some(_), _) => unfolder.event(action, &[], first_input).map(|event| vec![event]),
            (None, Action::Rule(rule)) if by_pointers => {
                let all = interpreter.instances(parameters, locals);
                let parts: Result<Vec<Vec<Event>>, Refusal> =
                    all.map(|arguments| parts(&mut unfolder, model, layout, rule, &arguments)).collect();
                parts.map(|parts| parts.into_iter().flatten().collect())
            }
            (None, _) => {
                let all = interpreter.instances(parameters, locals);
                all.map(|arguments| unfolder.event(action, &arguments, None)).collect()
            }
        };
        match result {
            Ok(found) => {
                for event in found {
                    if event.guard == NodeId::FALSE && event.fault == NodeId::FALSE {
                        idle.push(Instance { subject: Subject::Action(action), arguments: event.arguments });
                    } else {
                        events.push(event);
                    }
                }
            }
            Err(Refusal::Spent(spent)) => return Err(spent),
            Err(refusal) => {
                refused.push(Refused { subject: Subject::Action(action), reason: refusal.to_string() });
                fix(Mentions::of_action(model, action).into_variables(), &refusal, action_span(model, action))
            }
        }
    }
    let mut claims = Vec::new();
    let properties = preserved.properties();
    // Assumptions and transient states determine the set of states, whatever is checked.
    let assumptions = model.properties.iter_enumerated().filter(|(property, entry)| {
        !entry.kind.is_claim() && entry.kind != PropertyKind::Atom && !properties.contains(property)
    });
    let all: Vec<PropertyId> = properties.iter().copied().chain(assumptions.map(|(property, _)| property)).collect();
    for property in all {
        let entry = &model.properties[property];
        let first = claims.len();
        let instances = interpreter.instances(&entry.parameters, &entry.locals);
        for arguments in instances.filter(|arguments| preserved.includes(property, arguments)) {
            match unfolder.property(property, &arguments) {
                Ok((condition, fault)) => claims.push(Claim { property, arguments, condition, fault }),
                Err(Refusal::Spent(spent)) => return Err(spent),
                Err(refusal) => {
                    refused.push(Refused { subject: Subject::Property(property), reason: refusal.to_string() });
                    fix(Mentions::of_property(model, property).into_variables(), &refusal, entry.span);
                    break;
                }
            }
        }
        let is_assumption = entry.kind == PropertyKind::Assumption;
        if is_assumption && claims[first..].iter().any(|claim: &Claim| claim.fault != NodeId::FALSE) {
            let own = claims.split_off(first);
            claims.push(in_order(&mut unfolder.circuit, own));
        }
    }
    let slots = layout.slots.len();
    let mut behaviour = Behaviour {
        circuit: unfolder.circuit,
        slots,
        inputs,
        multisets,
        events,
        idle,
        claims,
        positional: Vec::new(),
        fixed: Vec::new(),
        refused,
        stored,
        preserves_firings: preserved.firings(),
    };
    for first in ordered_multisets(&mut behaviour) {
        let variable = layout.slots[first].variable;
        let reason = "the text tells its elements apart by their position";
        fix(BTreeSet::from([variable]), &reason, model.variables[variable].span);
    }
    behaviour.fixed = fixed;
    // Functions made after the budget was spent are meaningless.
    if behaviour.circuit.is_spent() { Err(Spent) } else { Ok(behaviour) }
}

/// An instance of a rule, for each combination of values of its pointers.
fn parts(
    unfolder: &mut Unfolder<'_>,
    model: &Model,
    layout: &Layout,
    rule: RuleId,
    arguments: &[i64],
) -> Result<Vec<Event>, Refusal> {
    let count = |slot: u32| if unfolder.circuit.is_wide(slot) { 0 } else { unfolder.circuit.values(slot).len() };
    let slots = pointers(model, layout, &model.rules[rule], arguments, &count);
    let mut all: Vec<Vec<(u32, Option<i64>)>> = vec![Vec::new()];
    for slot in slots {
        let values = unfolder.circuit.values(slot).to_vec();
        let extended = all.iter().flat_map(|known| {
            let with = |&value: &Option<i64>| known.iter().copied().chain([(slot, value)]).collect();
            values.iter().map(with).collect::<Vec<_>>()
        });
        all = extended.collect();
    }
    all.into_iter().map(|assumed| unfolder.event_where(Action::Rule(rule), arguments, assumed)).collect()
}

/// The instances of an assumption as one claim: the first that is false or fails decides, so equality up to order is
/// not enough.
fn in_order(circuit: &mut Circuit, claims: Vec<Claim>) -> Claim {
    let mut reached = NodeId::TRUE;
    let mut faults = Vec::with_capacity(claims.len());
    for claim in &claims {
        faults.push(circuit.and([reached, claim.fault]));
        let has_value = circuit.not(claim.fault);
        reached = circuit.and([reached, claim.condition, has_value]);
    }
    let fault = circuit.or(faults);
    Claim { property: claims[0].property, arguments: Vec::new(), condition: reached, fault }
}

/// Whether a slot has too many values to list.
fn is_wide(domain: &Domain) -> bool {
    domain.size() == 0 || domain.size() > CASE_LIMIT as u64
}

fn interpreter_values(
    interpreter: &Interpreter<'_>,
    parameter: &Parameter,
    locals: &Table<LocalId, Local>,
    budget: &Budget,
) -> Result<Vec<Option<i64>>, Spent> {
    let mut values: Vec<Option<i64>> = Vec::new();
    for cells in interpreter.instances(std::slice::from_ref(parameter), locals) {
        budget.spend(1)?;
        values.push(Some(cells[0]));
    }
    values.sort_unstable();
    Ok(values)
}

fn action_span(model: &Model, action: Action) -> Span {
    match action {
        Action::Start(start) => model.starts[start].span,
        Action::Rule(rule) => model.rules[rule].span,
    }
}
