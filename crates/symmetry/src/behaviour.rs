//! A whole model as functions of its state: all events and properties, over the values each slot
//! can ever hold. Values that never occur are left out here, so that they cannot permute (the
//! "redundant value symmetries" of Zhang et al. 2013, section IV-D2).

use std::collections::BTreeSet;

use quotient_ir::{
    Action, Domain, Interpreter, Iteration, Layout, Local, LocalId, Model, Parameter, PropertyId, PropertyKind, Span,
    Table, TableIndex, VariableId,
};

use rustc_hash::FxHashMap;

use crate::certify::{Instance, Subject};
use crate::circuit::{CASE_LIMIT, Circuit, Node, NodeId, Relabelling};
use crate::literals::{Literals, StateMap};
use crate::mentions::Mentions;
use crate::possible::{Holds, is_enumerated, possible_values, scalar_types};
use crate::unfold::{Event, Refusal, Unfolder, Write, Written};

/// The functions of a model.
#[derive(Debug)]
pub(crate) struct Behaviour {
    /// All nodes. Slots from `slots` on are inputs.
    pub(crate) circuit: Circuit,
    /// How many of the circuit's slots are slots of the state.
    pub(crate) slots: usize,
    /// The inputs that belong to an action whose parameters are not enumerated.
    pub(crate) inputs: Vec<(Action, std::ops::Range<u32>)>,
    /// Instances of rules and initial-state programs.
    pub(crate) events: Vec<Event>,
    /// Instances of rules that can do nothing at all, whatever the state.
    pub(crate) idle: Vec<Instance>,
    /// Instances of properties.
    pub(crate) claims: Vec<Claim>,
    /// Variables that are treated as fixed, and why.
    pub(crate) fixed: Vec<Fixed>,
}

impl Behaviour {
    /// The literals of the state.
    pub(crate) fn literals(&self) -> Literals {
        let slots = 0..self.slots as u32;
        Literals::new(slots.map(|slot| (self.circuit.values(slot).to_vec(), self.circuit.is_wide(slot))))
    }

    /// A map of states as a relabelling of the circuit's slots and values, inputs included.
    pub(crate) fn relabelling(&self, map: &StateMap) -> Relabelling {
        let mut relabelling = Relabelling::default();
        for slot_move in map.moves() {
            let (from, to) = (slot_move.from.position() as u32, slot_move.to.position() as u32);
            let positions = (!self.circuit.is_wide(from)).then(|| {
                let image_of = |value: &Option<i64>| {
                    let image = slot_move.value(*value);
                    self.circuit.values(to).binary_search(&image).expect("the action maps onto the values") as u16
                };
                self.circuit.values(from).iter().map(image_of).collect()
            });
            relabelling.insert(from, to, positions);
        }
        self.extend_to_inputs(&mut relabelling);
        relabelling
    }

    /// What becomes of the inputs of initial-state programs: an input that is copied to a slot goes
    /// where the slot goes. Any permutation of the inputs gives the same initial states, so it is
    /// enough that this one works.
    fn extend_to_inputs(&self, relabelling: &mut Relabelling) {
        let mut copies: FxHashMap<u32, u32> = FxHashMap::default();
        let mut copied_to: FxHashMap<u32, u32> = FxHashMap::default();
        for event in self.events.iter().filter(|event| matches!(event.action, Action::Start(_))) {
            for write in &event.writes {
                if let Some(input) = self.copied_input(write) {
                    copies.insert(write.slot, input);
                    copied_to.entry(input).or_insert(write.slot);
                }
            }
        }
        for (&input, &slot) in &copied_to {
            let image_slot = relabelling.slot(slot);
            let Some(&image) = copies.get(&image_slot) else { continue };
            let values = self.circuit.values(input);
            let image_values = self.circuit.values(image);
            let (slot_values, image_slot_values) = (self.circuit.values(slot), self.circuit.values(image_slot));
            let positions: Option<Vec<u16>> = values
                .iter()
                .map(|value| {
                    let position = slot_values.binary_search(value).ok()?;
                    let image_value = image_slot_values[relabelling.position(slot, position)];
                    image_values.binary_search(&image_value).ok().map(|position| position as u16)
                })
                .collect();
            if let Some(positions) = positions
                && (image != input || positions.iter().enumerate().any(|(from, &to)| from != to as usize))
            {
                relabelling.insert(input, image, Some(positions));
            }
        }
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

/// An instance of a property.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) property: PropertyId,
    /// The cells of its parameters.
    pub(crate) arguments: Vec<i64>,
    /// Whether it must be preserved by itself, and not only together with the other instances.
    pub(crate) by_itself: bool,
    pub(crate) condition: NodeId,
    pub(crate) fault: NodeId,
}

impl Claim {
    /// What it is a claim of: its property, and its arguments if it stands by itself.
    pub(crate) fn subject(&self) -> (PropertyId, Option<Vec<i64>>) {
        (self.property, self.by_itself.then(|| self.arguments.clone()))
    }
}

/// How a symmetry must treat the instances of a liveness property with parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LivenessInstances {
    /// It may exchange them, as it may those of other properties.
    #[default]
    Together,
    /// It must preserve each by itself. A search in the quotient needs that: whether one instance
    /// can be reached from a state is not a question about its orbit otherwise.
    OneByOne,
}

/// A variable whose slots and values are not permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The variable.
    pub variable: VariableId,
    /// Why.
    pub reason: String,
    /// The text that is responsible.
    pub span: Span,
}

/// Unfolds a model, with the properties of a run.
pub(crate) fn unfold(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    liveness: LivenessInstances,
) -> Behaviour {
    let interpreter = Interpreter::new(model, layout);
    let mut actions: Vec<(Action, &[Parameter], &Table<LocalId, Local>)> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        actions.push((Action::Start(start), &entry.parameters, &entry.locals));
    }
    for (rule, entry) in model.rules.iter_enumerated() {
        actions.push((Action::Rule(rule), &entry.parameters, &entry.locals));
    }
    let possible = possible_values(model, layout);
    let mut values: Vec<Vec<Option<i64>>> = possible.iter().map(Holds::values).collect();
    let mut wide: Vec<bool> = possible.iter().map(Holds::is_wide).collect();
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
                        values.push(interpreter_values(&interpreter, parameter, locals));
                    }
                }
            }
            inputs.push((action, first..values.len() as u32));
        }
    }
    let mut fixed: Vec<Fixed> = Vec::new();
    let mut fix = |variables: BTreeSet<VariableId>, reason: &Refusal, span: Span| {
        for variable in variables {
            if !fixed.iter().any(|entry| entry.variable == variable) {
                fixed.push(Fixed { variable, reason: reason.to_string(), span });
            }
        }
    };
    let mut unfolder = Unfolder::new(model, layout, values, wide);
    let mut events = Vec::new();
    let mut idle = Vec::new();
    for &(action, parameters, locals) in &actions {
        let first_input = inputs.iter().find(|(owner, _)| *owner == action).map(|(_, range)| range.start);
        let mut unfold_one = |arguments: &[i64]| unfolder.event(action, arguments, first_input);
        let result: Result<Vec<Event>, Refusal> = if first_input.is_some() {
            unfold_one(&[]).map(|event| vec![event])
        } else {
            interpreter.instances(parameters, locals).map(|arguments| unfold_one(&arguments)).collect()
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
            Err(refusal) => {
                fix(Mentions::of_action(model, action).into_variables(), &refusal, action_span(model, action))
            }
        }
    }
    let mut claims = Vec::new();
    for &property in properties {
        let entry = &model.properties[property];
        let by_itself = liveness == LivenessInstances::OneByOne && entry.kind == PropertyKind::Liveness;
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            match unfolder.property(property, &arguments) {
                Ok((condition, fault)) => claims.push(Claim { property, arguments, by_itself, condition, fault }),
                Err(refusal) => {
                    fix(Mentions::of_property(model, property).into_variables(), &refusal, entry.span);
                    break;
                }
            }
        }
    }
    Behaviour { circuit: unfolder.circuit, slots: layout.slots.len(), inputs, events, idle, claims, fixed }
}

/// Whether a slot has too many values to list.
fn is_wide(domain: &Domain) -> bool {
    domain.size() == 0 || domain.size() > CASE_LIMIT as u64
}

fn interpreter_values(
    interpreter: &Interpreter<'_>,
    parameter: &Parameter,
    locals: &Table<LocalId, Local>,
) -> Vec<Option<i64>> {
    interpreter.instances(std::slice::from_ref(parameter), locals).map(|cells| Some(cells[0])).collect()
}

fn action_span(model: &Model, action: Action) -> Span {
    match action {
        Action::Start(start) => model.starts[start].span,
        Action::Rule(rule) => model.rules[rule].span,
    }
}
