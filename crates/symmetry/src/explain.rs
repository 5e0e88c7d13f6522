//! Why an expected symmetry is absent: which part of the text changes its meaning when values of a type, processes or
//! variables are exchanged.
//!
//! A request names some objects and their images; whatever refers to them must follow (`completion`), such as process
//! numbers in variables and the queues of channels. Whether the request is a symmetry is decided on the graph that
//! detection uses, so the two cannot disagree. Only if it is not are reasons searched: the locations in the text that a
//! permutation changes. The permutation is the request itself or the nearest candidate for its completion.

mod completion;
mod request;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_functions::{self as functions, Behaviour, Event, InputMove, NodeId, Preserved, Write, Written};
use quotient_groups::SparsePermutation;
use quotient_ir::{
    Action, Budget, Calling, Caption, Iteration, Layout, Model, Number, Owner, Parameter, PropertyId, SlotId, Span,
    Spent, TableIndex, TypeId, TypeKind, called_text,
};

use crate::describe::{Describer, Description, member};
use crate::individuals::Individuals;
use crate::literals::{Literals, StateMap};
use crate::places::Places;
use crate::relabelling::relabelling;
pub use request::Request;

/// The number of searches for the nearest completion in the graph of a part of the model.
const LOOKS: usize = 256;

/// How many instances that change their meaning are looked at for reasons.
pub const EXPLAINED: usize = 2000;

/// A location in the text and its role in the absence of a symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The location.
    pub span: Span,
    /// The explanation.
    pub text: String,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// It is a symmetry, together with what has to follow.
    Symmetry(Completed),
    /// It is not a symmetry, whatever follows.
    NotSymmetry {
        /// Why: places of the text that would change their meaning, at least one. What repeats for other instances of
        /// the same rule is said once.
        reasons: Vec<Reason>,
        /// For each reason, how many more there are like it. No more than [`EXPLAINED`] instances are looked at.
        similar: Vec<usize>,
        /// How many others there are that are not like one of them, and are left out.
        omitted: usize,
        /// The number of instances of rules, starts and properties whose meaning would change; `None` if the request
        /// fails before that can be determined.
        broken: Option<usize>,
    },
}

/// A request, completed to a whole permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The permutation of the literals.
    pub permutation: SparsePermutation,
    /// The same in source terms.
    pub description: Description,
    /// Whether it is one of the symmetries that detection finds. Otherwise only the comparison of normal forms shows
    /// that it is one.
    pub is_detected: bool,
}

/// The classes of interchangeable values of a type that indexes arrays, or of elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The type or array.
    pub of: Individuals,
    /// Classes of values; two values are in one class if some symmetry maps one to the other wherever they occur.
    pub classes: Vec<Vec<i64>>,
    /// For each pair of neighbouring classes: why their first values cannot be exchanged.
    pub separators: Vec<Option<Reason>>,
}

/// Explains expected symmetries of one model.
pub struct Explainer<'m> {
    model: &'m Model,
    layout: &'m Layout,
    places: Places<'m>,
    behaviour: Behaviour,
    literals: Literals,
    keys: FxHashSet<(bool, quotient_functions::EventKey)>,
    claims: FxHashSet<(PropertyId, NodeId, NodeId)>,
    instances: FxHashMap<(Action, Vec<i64>), usize>,
    budget: Budget,
    /// The number of searches left.
    looks: usize,
}

/// The parts of a model that a permutation changes.
struct Changes {
    reasons: Vec<Reason>,
    /// How many more there are like each of them.
    similar: Vec<usize>,
    /// How many others are left out.
    omitted: usize,
    /// The number of instances changed; `None` if the permutation does not even act on states.
    broken: Option<usize>,
}

/// The images of values of types and of processes under a permutation, by their numbers.
#[derive(Default)]
struct Followers {
    types: BTreeMap<TypeId, BTreeMap<i64, i64>>,
    processes: BTreeMap<i64, i64>,
}

impl<'m> Explainer<'m> {
    /// Prepares a model with the properties of a run.
    ///
    /// # Errors
    /// If the budget, on which all explanations draw, is spent.
    pub fn new(
        model: &'m Model,
        layout: &'m Layout,
        properties: &[PropertyId],
        budget: &Budget,
    ) -> Result<Self, Spent> {
        let behaviour = functions::unfold(model, layout, Preserved::Properties(properties), budget)?;
        let literals = Literals::of_functions(&behaviour);
        let keys = behaviour.events.iter().map(|event| (is_start(event.action), event.key())).collect();
        let claims = behaviour.claims.iter().map(|claim| (claim.property, claim.condition, claim.fault)).collect();
        let instances = behaviour
            .events
            .iter()
            .enumerate()
            .map(|(number, event)| ((event.action, event.arguments.clone()), number))
            .collect();
        let places = Places::new(model, layout);
        Ok(Self {
            model,
            layout,
            places,
            behaviour,
            literals,
            keys,
            claims,
            instances,
            budget: budget.clone(),
            looks: LOOKS,
        })
    }

    /// The literals that permutations act on.
    pub fn literals(&self) -> &Literals {
        &self.literals
    }

    /// Whether a request is a symmetry, together with what has to follow; if not, the locations in the text whose
    /// meaning would change, at most `limit`.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn explain(&mut self, request: &Request, limit: usize) -> Result<Explanation, Spent> {
        if let Some(question) = self.question(request, false)
            && let Some(element) = self.ask(&question, true)?
        {
            let map = self.literals.action(self.layout, &element.permutation).expect("a symmetry acts on states");
            return Ok(Explanation::Symmetry(self.completed(element.permutation, &map, true)));
        }
        self.explain_absence(request, limit)
    }

    /// The same for a request that detection does not find.
    fn explain_absence(&mut self, request: &Request, limit: usize) -> Result<Explanation, Spent> {
        let limit = limit.max(1);
        let own = self.changes_of(request, limit);
        self.require_sound()?;
        if own.reasons.is_empty() {
            // Normal forms may show symmetries that detection does not find.
            let permutation = request.permutation(self.model, self.layout, &self.literals);
            let permutation = permutation.expect("otherwise there is a reason");
            let map = self.literals.action(self.layout, &permutation).expect("otherwise there is a reason");
            return Ok(Explanation::Symmetry(self.completed(permutation, &map, false)));
        }
        let mut changes = own;
        let question = self.question(request, true);
        if let Some(element) = question.map_or(Ok(None), |question| self.nearest(&question))?
            && let Ok(map) = self.literals.action(self.layout, &element.permutation)
        {
            let followers = self.followers(request, &map);
            let nearest = self.changes(request, &followers, &map, Some(&element.inputs), limit);
            self.require_sound()?;
            if nearest.reasons.is_empty() {
                return Ok(Explanation::Symmetry(self.completed(element.permutation, &map, false)));
            }
            if nearest.broken.is_some_and(|broken| changes.broken.is_none_or(|own| broken < own)) {
                changes = nearest;
            }
        }
        let Changes { reasons, similar, omitted, broken } = changes;
        Ok(Explanation::NotSymmetry { reasons, similar, omitted, broken })
    }

    fn completed(&self, permutation: SparsePermutation, map: &StateMap, is_detected: bool) -> Completed {
        let description = Describer::new(self.model, self.layout, &self.literals).describe(map);
        Completed { permutation, description, is_detected }
    }

    /// Functions made after the budget was spent explain nothing.
    fn require_sound(&self) -> Result<(), Spent> {
        if self.behaviour.circuit.is_spent() { Err(Spent) } else { Ok(()) }
    }

    /// Why a request alone, if nothing follows, is not a symmetry: the locations in the text whose meaning changes, at
    /// most `limit`. Empty if it is one.
    ///
    /// # Errors
    /// If the budget is spent.
    pub(crate) fn why_not(&mut self, request: &Request, limit: usize) -> Result<Vec<Reason>, Spent> {
        let changes = self.changes_of(request, limit);
        self.require_sound()?;
        Ok(changes.reasons)
    }

    /// The changes caused by a request alone.
    fn changes_of(&mut self, request: &Request, limit: usize) -> Changes {
        let only = |reason: Reason| Changes { reasons: vec![reason], similar: vec![0], omitted: 0, broken: None };
        let permutation = match request.permutation(self.model, self.layout, &self.literals) {
            Ok(permutation) => permutation,
            Err(reason) => return only(reason),
        };
        let map = match self.literals.action(self.layout, &permutation) {
            Ok(map) => map,
            Err(error) => return only(Reason { span: Span::default(), text: error.to_string() }),
        };
        let followers = self.followers(request, &map);
        self.changes(request, &followers, &map, None, limit)
    }

    /// The changes caused by a permutation.
    fn changes(
        &mut self,
        request: &Request,
        followers: &Followers,
        map: &StateMap,
        inputs: Option<&[InputMove]>,
        limit: usize,
    ) -> Changes {
        for slot_move in map.moves() {
            let variable = self.layout.slots[slot_move.from].variable;
            if let Some(fixed) = self.behaviour.fixed.iter().find(|entry| entry.variable == variable) {
                let name = self.model.variable_title(variable);
                let text = format!("`{name}` is treated as fixed because of this: {}", fixed.reason);
                return Changes {
                    reasons: vec![Reason { span: fixed.span, text }],
                    similar: vec![0],
                    omitted: 0,
                    broken: None,
                };
            }
        }
        let mut reasons: Vec<Reason> = Vec::new();
        let mut similar: Vec<usize> = Vec::new();
        let mut broken = 0;
        let relabelling = relabelling(&self.behaviour, map, inputs);
        let mut known = FxHashMap::default();
        let mut seen = FxHashSet::default();
        let mut forms: FxHashMap<(Span, String), usize> = FxHashMap::default();
        let mut others: FxHashSet<(Span, String)> = FxHashSet::default();
        for number in 0..self.behaviour.events.len() {
            if self.behaviour.circuit.is_spent() {
                break;
            }
            let keys = &self.keys;
            if self.behaviour.event_image(number, &relabelling, &mut known, |key| keys.contains(key)).is_some() {
                continue;
            }
            broken += 1;
            // One reason is one reason, however many instances have it.
            if broken > EXPLAINED || limit == 1 && !reasons.is_empty() {
                continue;
            }
            let event = self.behaviour.events[number].clone();
            for reason in self.event_reasons(request, followers, &event, &relabelling, &mut known) {
                match forms.get(&(reason.span, form(&reason.text))) {
                    Some(&position) if seen.insert((reason.span, reason.text.clone())) => similar[position] += 1,
                    Some(_) => {}
                    None if reasons.len() < limit => {
                        seen.insert((reason.span, reason.text.clone()));
                        forms.insert((reason.span, form(&reason.text)), reasons.len());
                        reasons.push(reason);
                        similar.push(0);
                    }
                    None => {
                        others.insert((reason.span, form(&reason.text)));
                    }
                }
            }
        }
        for number in 0..self.behaviour.claims.len() {
            let claim = self.behaviour.claims[number].clone();
            let circuit = &mut self.behaviour.circuit;
            let condition = circuit.relabelled(claim.condition, &relabelling, &mut known);
            let fault = circuit.relabelled(claim.fault, &relabelling, &mut known);
            let is_claimed = condition
                .zip(fault)
                .is_some_and(|(condition, fault)| self.claims.contains(&(claim.property, condition, fault)));
            if is_claimed {
                continue;
            }
            broken += 1;
            let property = &self.model.properties[claim.property];
            if reasons.len() >= limit {
                others.insert((property.span, String::new()));
            } else if seen.insert((property.span, String::new())) {
                let name = property.name.as_ref().map_or_else(String::new, |name| format!(" \"{name}\""));
                reasons.push(Reason {
                    span: property.span,
                    text: format!("the property{name} says something else about the permuted state"),
                });
                similar.push(0);
            }
        }
        // A property that is among the reasons already is not another one.
        others.retain(|other| !seen.contains(other));
        Changes { reasons, similar, omitted: others.len(), broken: Some(broken) }
    }

    /// The images of the values of types and of processes under a permutation.
    fn followers(&self, request: &Request, map: &StateMap) -> Followers {
        let types = Describer::new(self.model, self.layout, &self.literals).value_maps(map);
        let targets: FxHashMap<SlotId, SlotId> = map.moves().iter().map(|entry| (entry.from, entry.to)).collect();
        let mut processes = BTreeMap::new();
        for (variable, entry) in self.model.variables.iter_enumerated() {
            let (Some(Calling::Processes(_)), &TypeKind::Array { index, element }) =
                (self.model.calling(variable), &self.model.types[entry.ty].kind)
            else {
                continue;
            };
            let (first, stride) = (self.layout.first_slot(variable).position(), self.model.cells(element) as usize);
            let domain = self.model.domain(index);
            for (code, value) in domain.values().enumerate() {
                let own = (first + code * stride..first + (code + 1) * stride).map(SlotId::from_position);
                let told = own.filter(|&slot| self.literals.slots()[slot].values.len() > 1).map(|slot| {
                    let to = targets.get(&slot).copied().unwrap_or(slot);
                    (self.layout.slots[to].variable, (to.position() - first.min(to.position())) / stride.max(1))
                });
                let image = match told.into_iter().next() {
                    Some((array, code)) if array == variable => domain.value_of(code as u64),
                    Some(_) => value,
                    None => request.element(self.model, variable, value),
                };
                processes.insert(value, image);
            }
        }
        Followers { types, processes }
    }

    /// The images of the arguments of an instance.
    fn image_arguments(
        &self,
        request: &Request,
        followers: &Followers,
        action: Action,
        parameters: &[Parameter],
        arguments: &[i64],
    ) -> Vec<i64> {
        if parameters.len() != arguments.len() {
            return arguments.to_vec();
        }
        let is_process = |position: usize| {
            let Action::Rule(rule) = action else { return false };
            let number = Number::Parameter(position);
            let caption = self.model.presentation.as_ref().and_then(|it| it.caption(rule));
            let takes_part = match caption {
                Some(Caption::Statements(participants)) => participants.iter().any(|it| it.number == number),
                Some(Caption::Remark(participant, _)) => participant.is_some_and(|it| it.number == number),
                None => false,
            };
            takes_part || self.model.rules[rule].owner == Owner::Process(number)
        };
        let image = |(position, (parameter, &argument)): (usize, (&Parameter, &i64))| match parameter.range {
            _ if is_process(position) => followers.processes.get(&argument).copied().unwrap_or(argument),
            Iteration::Over(ty) => {
                let own = member(self.model, ty, argument);
                let image = followers.types.get(&own).and_then(|values| values.get(&argument)).copied();
                image.unwrap_or_else(|| request.value(self.model, ty, argument))
            }
            Iteration::Steps { .. } => argument,
        };
        parameters.iter().zip(arguments).enumerate().map(image).collect()
    }

    /// The values of each type that indexes an array, and the elements of each array that represents objects, in
    /// classes that symmetries do not distinguish, with what separates the classes.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn families(&mut self) -> Result<Vec<Family>, Spent> {
        let mut families = Vec::new();
        for of in self.individuals() {
            let Some(classes) = self.classes(of)? else { continue };
            let mut separators = Vec::with_capacity(classes.len().saturating_sub(1));
            for pair in classes.windows(2) {
                // Values of different members of a union are never exchanged; this needs no explanation.
                let Ok(request) = of.exchange(self.model, pair[0][0], pair[1][0]) else {
                    separators.push(None);
                    continue;
                };
                separators.push(match self.explain_absence(&request, 1)? {
                    Explanation::NotSymmetry { reasons, .. } => reasons.into_iter().next(),
                    Explanation::Symmetry(_) => None,
                });
            }
            families.push(Family { of, classes, separators });
        }
        Ok(families)
    }

    /// The parts of an event whose meaning changes.
    fn event_reasons(
        &mut self,
        request: &Request,
        followers: &Followers,
        event: &Event,
        relabelling: &quotient_functions::Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Vec<Reason> {
        let (parameters, locals, span, what) = match event.action {
            Action::Start(start) => {
                let entry = &self.model.starts[start];
                (&entry.parameters, &entry.locals, entry.span, named("the start state", entry.name.as_deref()))
            }
            Action::Rule(rule) => {
                let entry = &self.model.rules[rule];
                (&entry.parameters, &entry.locals, entry.span, named("rule", entry.name.as_deref()))
            }
        };
        let shown_arguments = |arguments: &[i64]| {
            if parameters.len() != arguments.len() || parameters.is_empty() {
                return String::new();
            }
            let shown: Vec<String> = parameters
                .iter()
                .zip(arguments)
                .map(|(parameter, &value)| {
                    let local = &locals[parameter.local];
                    format!("{} = {}", local.name, self.model.value_name(local.ty, value))
                })
                .collect();
            format!(" for {}", shown.join(", "))
        };
        let image_arguments = self.image_arguments(request, followers, event.action, parameters, &event.arguments);
        let here = shown_arguments(&event.arguments);
        let there = shown_arguments(&image_arguments);
        let counterpart = self.instances.get(&(event.action, image_arguments)).copied();
        let Some(counterpart) = counterpart.map(|number| self.behaviour.events[number].clone()) else {
            return vec![Reason { span, text: format!("{what} can fire{here}, but never{there}") }];
        };
        let mut reasons = Vec::new();
        let circuit = &mut self.behaviour.circuit;
        for &(part, condition) in &event.guard_parts {
            let image = circuit.relabelled(condition, relabelling, known);
            let found = image.is_some_and(|image| {
                counterpart.guard_parts.iter().any(|&(_, other)| other == image) || image == NodeId::TRUE
            });
            if !found {
                let text = called_text(self.model, locals, part);
                let change = if here == there {
                    "changes its meaning".to_owned()
                } else {
                    format!("does not become the one{there}")
                };
                reasons.push(Reason { span, text: format!("{what}: the condition `{text}`{here} {change}") });
            }
        }
        let image = event.relabelled(circuit, relabelling, known);
        if reasons.is_empty() && image.as_ref().is_some_and(|image| image.0 != counterpart.guard) {
            // Nothing of this event is missing in the other, so something of the other is missing in this one.
            let images: Vec<Option<NodeId>> = event
                .guard_parts
                .iter()
                .map(|&(_, condition)| circuit.relabelled(condition, relabelling, known))
                .collect();
            for &(part, condition) in &counterpart.guard_parts {
                if condition != NodeId::TRUE && !images.contains(&Some(condition)) {
                    let text = called_text(self.model, locals, part);
                    reasons.push(Reason {
                        span,
                        text: format!("{what}: the condition `{text}`{there} asks for more than{here}"),
                    });
                }
            }
        }
        if let Some((_, fault, _, writes, additions, ..)) = image {
            for write in &writes {
                if counterpart.writes.contains(write) {
                    continue;
                }
                // The statement that writes the slot in the counterpart, or in this event if none does.
                let there_position = counterpart.writes.iter().position(|other| other.slot == write.slot);
                let here_position =
                    event.writes.iter().position(|own| relabelling.slot(own.slot) == write.slot).unwrap_or(0);
                let statement = match there_position {
                    Some(position) => counterpart.write_spans[position],
                    None => event.write_spans.get(here_position).copied().unwrap_or(span),
                };
                let name = |slot: u32| self.places.name(SlotId::from_position(slot as usize));
                let own = event.writes.get(here_position).map_or(write.slot, |own| own.slot);
                let constant = |write: &Write| match &write.written {
                    Written::Cases(cases) if cases.len() == 1 && cases[0].1 == NodeId::TRUE => Some(cases[0].0),
                    _ => None,
                };
                let shown =
                    |slot: u32, value: Option<i64>| self.places.value(SlotId::from_position(slot as usize), value);
                let constants = there_position
                    .and_then(|position| Some((constant(write)?, constant(&counterpart.writes[position])?)));
                reasons.push(Reason {
                    span: statement,
                    text: if let Some((wanted, actual)) = constants {
                        format!(
                            "{what} sets `{}` to {}{there}, where the exchange asks for {}",
                            name(write.slot),
                            shown(write.slot, actual),
                            shown(write.slot, wanted)
                        )
                    } else if there_position.is_some() {
                        let (own, other) = (name(own), name(write.slot));
                        if own == other && here == there {
                            format!("{what}: what `{own}` becomes{here} is not the same for the permuted state")
                        } else {
                            format!(
                                "{what}: what `{own}` becomes{here} does not turn into what `{other}` becomes{there}"
                            )
                        }
                    } else {
                        format!("{what} writes `{}`{here}, but not `{}`{there}", name(own), name(write.slot))
                    },
                });
            }
            if additions != counterpart.additions && reasons.is_empty() {
                let than = if here == there { " for the permuted state".to_owned() } else { there.clone() };
                let text = format!("{what} adds something else to a multiset{here} than{than}");
                reasons.push(Reason { span, text });
            }
            if fault != counterpart.fault && reasons.is_empty() {
                let than = if here == there { " in the permuted state".to_owned() } else { there.clone() };
                reasons.push(Reason { span, text: format!("{what} can run into other errors{here} than{than}") });
            }
        }
        if reasons.is_empty() {
            let than = if here == there { " in the permuted state".to_owned() } else { there.clone() };
            reasons.push(Reason { span, text: format!("{what} does something else{here} than{than}") });
        }
        reasons
    }
}

/// The form of a reason, without what differs from instance to instance: values of parameters, and numbers of cells.
/// What conditions say in the words of the text (in backquotes) is part of it.
fn form(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    for (number, segment) in text.split('`').enumerate() {
        if number % 2 == 1 {
            let mut depth = 0;
            for character in segment.chars() {
                depth += i32::from(character == '[') - i32::from(character == ']');
                if depth == 0 || character == '[' {
                    form.push(character);
                }
            }
            continue;
        }
        let mut is_value = false;
        for word in segment.split(' ') {
            if !is_value {
                form.extend(word.chars().filter(|character| !character.is_ascii_digit()));
            }
            is_value = word == "=";
            form.push(' ');
        }
    }
    form
}

fn is_start(action: Action) -> bool {
    matches!(action, Action::Start(_))
}

fn named(kind: &str, name: Option<&str>) -> String {
    name.map_or_else(|| kind.to_owned(), |name| format!("{kind} \"{name}\""))
}

pub(crate) fn collect_index_types(model: &Model, ty: TypeId, found: &mut Vec<TypeId>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            if !found.contains(index) {
                found.push(*index);
            }
            collect_index_types(model, *element, found);
        }
        TypeKind::Record { fields } => {
            for field in fields {
                collect_index_types(model, field.ty, found);
            }
        }
        TypeKind::Multiset { element, .. } => collect_index_types(model, *element, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::form;

    #[test]
    fn reasons_for_other_instances_have_the_same_form() {
        let first = "rule \"enter\": what `at[1].place` becomes for p = 1, q = red does not turn into what `at[3].place` becomes";
        let other = "rule \"enter\": what `at[2].place` becomes for p = 2, q = blue does not turn into what `at[3].place` becomes";
        assert_eq!(form(first), form(other));
        let here = "rule \"enter\": the condition `x < 2` for p = 1 changes its meaning";
        let there = "rule \"enter\": the condition `x < 3` for p = 1 changes its meaning";
        assert_ne!(form(here), form(there));
    }
}
