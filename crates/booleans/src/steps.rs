//! The instances of a model as functions of bits.

use std::ops::Range;

use quotient_functions::{Behaviour, Event, Subject};
use quotient_ir::{Action, Layout, Model, PropertyId, Span};

use crate::{Encoding, Full, Logic, Translator};

/// What a model does and claims, as functions of the bits of its slots.
#[derive(Clone, Debug)]
pub struct Steps<B> {
    /// The instances of initial-state programs. They write all slots.
    pub starts: Vec<Step<B>>,
    /// The instances of rules that can have an effect.
    pub rules: Vec<Step<B>>,
    /// The instances of properties.
    pub conditions: Vec<Condition<B>>,
}

/// An instance of a rule or of an initial-state program.
#[derive(Clone, Debug)]
pub struct Step<B> {
    /// The rule or start.
    pub action: Action,
    /// The cells of its parameters, if it has no inputs.
    pub arguments: Vec<i64>,
    /// The slots of its inputs: parameters that are not enumerated.
    pub inputs: Range<u32>,
    /// Where it takes a step.
    pub enabled: B,
    /// Where it causes a run-time error.
    pub fault: B,
    /// The bits of the slots that it can change, after the step.
    pub next: Vec<(u32, Vec<B>)>,
    /// The cover statements that the step reaches, and where.
    pub covers: Vec<(PropertyId, B)>,
}

/// An instance of a property.
#[derive(Clone, Debug)]
pub struct Condition<B> {
    /// The property.
    pub property: PropertyId,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// Where it holds; for an invariant, where it also has a value.
    pub holds: B,
    /// Where it has no value, unless it is an invariant.
    pub fault: B,
}

/// Why a model has no such functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, in words.
    pub reason: String,
    /// The responsible location in the text.
    pub span: Span,
}

impl Refusal {
    /// The reason why some instance of a model is not a function of bits.
    pub fn of(model: &Model, layout: &Layout, behaviour: &Behaviour) -> Option<Self> {
        if let Some(refused) = behaviour.refused.first() {
            let span = match refused.subject {
                Subject::Action(Action::Rule(rule)) => model.rules[rule].span,
                Subject::Action(Action::Start(start)) => model.starts[start].span,
                Subject::Property(property) => model.properties[property].span,
            };
            return Some(Self { reason: refused.reason.clone(), span });
        }
        let multiset = layout.multisets().iter().find(|multiset| multiset.capacity > 0)?;
        let variable = &model.variables[layout.slots[multiset.first].variable];
        Some(Self { reason: "multisets are not encoded in bits".to_owned(), span: variable.span })
    }
}

impl<B: Clone> Steps<B> {
    /// Translates an unfolded model to functions of the given bits of each slot of its circuit.
    pub fn new<L: Logic<Bit = B>>(
        logic: &mut L,
        behaviour: &Behaviour,
        encoding: &Encoding,
        bits: &[Vec<B>],
    ) -> Result<Self, Full> {
        let mut translator = Translator::new(logic, &behaviour.circuit, encoding, bits);
        let (mut starts, mut rules) = (Vec::new(), Vec::new());
        for event in &behaviour.events {
            let step = step(&mut translator, behaviour, encoding, event)?;
            if event.is_start() { starts.push(step) } else { rules.push(step) }
        }
        let mut conditions = Vec::with_capacity(behaviour.claims.len());
        for claim in &behaviour.claims {
            conditions.push(Condition {
                property: claim.property,
                arguments: claim.arguments.clone(),
                holds: translator.condition(claim.condition)?,
                fault: translator.condition(claim.fault)?,
            });
        }
        Ok(Self { starts, rules, conditions })
    }
}

fn step<L: Logic>(
    translator: &mut Translator<'_, L>,
    behaviour: &Behaviour,
    encoding: &Encoding,
    event: &Event,
) -> Result<Step<L::Bit>, Full> {
    let owned = behaviour.inputs.iter().find(|(action, _)| *action == event.action);
    let inputs = owned.map_or(0..0, |(_, range)| range.clone());
    let mut valid = Vec::new();
    for input in inputs.clone() {
        valid.push(translator.is_valid(input)?);
    }
    let valid = translator.logic.all(valid)?;
    let fault = translator.condition(event.fault)?;
    let fault = translator.logic.and(&fault, &valid)?;
    let guard = translator.condition(event.guard)?;
    let dropped = translator.condition(event.dropped)?;
    let stops = translator.logic.or(&fault, &dropped)?;
    let goes = translator.logic.not(&stops)?;
    let enabled = translator.logic.all(vec![guard, goes, valid])?;
    let mut next = Vec::new();
    if event.is_start() {
        for slot in 0..behaviour.slots as u32 {
            let width = encoding.width(slot);
            if width == 0 {
                continue;
            }
            let bits = match event.writes.binary_search_by_key(&slot, |write| write.slot) {
                Ok(found) => translator.first(&event.writes[found])?,
                Err(_) => vec![translator.logic.constant(false); width],
            };
            next.push((slot, bits));
        }
    } else {
        for write in event.writes.iter().filter(|write| encoding.width(write.slot) > 0) {
            next.push((write.slot, translator.next(write)?));
        }
    }
    let mut covers = Vec::with_capacity(event.covers.len());
    for &(property, condition) in &event.covers {
        let reached = translator.condition(condition)?;
        covers.push((property, translator.logic.and(&reached, &enabled)?));
    }
    let arguments = event.arguments.clone();
    Ok(Step { action: event.action, arguments, inputs, enabled, fault, next, covers })
}
