//! Why a hoped-for symmetry is absent: which part of the text changes its meaning when values of a
//! type, or variables, are exchanged.

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_functions::{self as functions, Behaviour, Event, NodeId, Preserved, Write, Written};
use quotient_groups::{OrbitPartition, Point, SparsePermutation};
use quotient_ir::{
    Action, Budget, Iteration, Layout, Model, Parameter, PropertyId, SlotId, Span, Spent, TableIndex, TypeId, TypeKind,
    VariableId, called_text,
};

use crate::certify::CertifiedGroup;
use crate::describe::short_value_name;
use crate::literals::Literals;
use crate::places::Places;
use crate::relabelling::relabelling;

/// A permutation that a user hopes for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Exchange two values of a type wherever they occur: as values and as indices.
    Exchange {
        /// The type.
        ty: TypeId,
        /// One value.
        first: i64,
        /// The other.
        second: i64,
    },
    /// Send each value of a type to the next, the last to the first.
    Rotate {
        /// The type.
        ty: TypeId,
    },
    /// Exchange two variables or parts of variables of the same shape.
    ExchangeParts {
        /// The slots of one.
        first: Vec<SlotId>,
        /// The slots of the other, in the same order.
        second: Vec<SlotId>,
    },
}

/// A place in the text and what it has to do with an absent symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
}

/// The classes of interchangeable values of a type that indexes arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The type.
    pub ty: TypeId,
    /// Its values in classes; two values are in one class if the group sends one to the other
    /// wherever the type is an index.
    pub classes: Vec<Vec<i64>>,
    /// Between each class and the next: why the first values of both cannot be exchanged.
    pub separators: Vec<Option<Reason>>,
}

impl Request {
    /// Reads `Type value value`, `rotate Type`, or the names of two variables or parts of them.
    ///
    /// # Errors
    /// Says what is not understood.
    pub fn parse(model: &Model, layout: &Layout, text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let type_named = |name: &str| {
            let found = model.types.iter_enumerated().find(|(_, ty)| ty.name.as_deref() == Some(name));
            let called = || index_called(model, name);
            found.map(|(id, _)| id).filter(|&id| model.is_scalar(id)).or_else(called).ok_or_else(|| {
                let names: Vec<&str> = model
                    .types
                    .iter_enumerated()
                    .filter(|&(id, _)| model.is_scalar(id))
                    .filter_map(|(_, ty)| ty.name.as_deref())
                    .collect();
                format!("there is no type `{name}` with single values; there are {}", names.join(", "))
            })
        };
        let value_named = |ty: TypeId, name: &str| {
            let domain = model.domain(ty);
            // The values of a scalarset are counted from zero, whatever stands for them.
            let origin = match model.types[ty].kind {
                TypeKind::Scalarset { first, .. } => first,
                _ => 0,
            };
            let number = name.parse::<i64>().ok().and_then(|number| number.checked_add(origin));
            let value = number.filter(|&value| domain.contains(value));
            let by_name = || domain.values().take(1 << 16).find(|&value| model.value_name(ty, value) == name);
            value.or_else(by_name).ok_or_else(|| {
                let name_of_type = model.types[ty].name.as_deref().unwrap_or("that type");
                format!("`{name}` is no value of {name_of_type}: {}", values_text(model, ty))
            })
        };
        match words[..] {
            ["rotate", name] => Ok(Self::Rotate { ty: type_named(name)? }),
            [name, first, second] => {
                let ty = type_named(name)?;
                Ok(Self::Exchange { ty, first: value_named(ty, first)?, second: value_named(ty, second)? })
            }
            [first, second] => {
                let part = |name: &str| {
                    let slots: Vec<SlotId> = layout
                        .slots
                        .iter_enumerated()
                        .filter(|(_, slot)| is_part(&slot.name, name))
                        .map(|(id, _)| id)
                        .collect();
                    let slots = if slots.is_empty() { called_part(model, layout, name) } else { slots };
                    if slots.is_empty() { Err(format!("there is no variable `{name}`")) } else { Ok(slots) }
                };
                let (first, second) = (part(first)?, part(second)?);
                if first.len() != second.len() {
                    return Err("the two have different shapes".to_owned());
                }
                Ok(Self::ExchangeParts { first, second })
            }
            _ => Err("expected `Type value value`, `rotate Type`, or two variables".to_owned()),
        }
    }

    /// What becomes of a value of a type.
    fn value(&self, model: &Model, ty: TypeId, value: i64) -> i64 {
        if let TypeKind::Union { members } = &model.types[ty].kind {
            let member = members.iter().find(|&&member| model.domain(member).contains(value));
            return member.map_or(value, |&member| self.value(model, member, value));
        }
        match *self {
            Self::Exchange { ty: own, first, second } if own == ty => match value {
                value if value == first => second,
                value if value == second => first,
                value => value,
            },
            Self::Rotate { ty: own } if own == ty => {
                let domain = model.domain(ty);
                match domain.code_of(value) {
                    Some(code) => domain.value_of((code + 1) % domain.size().max(1)),
                    None => value,
                }
            }
            _ => value,
        }
    }

    /// Whether it moves values of a type.
    fn moves_values(&self, model: &Model, ty: TypeId) -> bool {
        match &model.types[ty].kind {
            TypeKind::Union { members } => members.iter().any(|&member| self.moves_values(model, member)),
            _ => match *self {
                Self::Exchange { ty: own, first, second } => own == ty && first != second,
                Self::Rotate { ty: own } => own == ty,
                Self::ExchangeParts { .. } => false,
            },
        }
    }

    /// What becomes of the arguments of an instance.
    fn arguments(&self, model: &Model, parameters: &[Parameter], arguments: &[i64]) -> Vec<i64> {
        if parameters.len() != arguments.len() {
            return arguments.to_vec();
        }
        parameters
            .iter()
            .zip(arguments)
            .map(|(parameter, &argument)| match parameter.range {
                Iteration::Over(ty) => self.value(model, ty, argument),
                Iteration::Steps { .. } => argument,
            })
            .collect()
    }

    /// The request as a permutation of literals.
    pub(crate) fn permutation(
        &self,
        model: &Model,
        layout: &Layout,
        literals: &Literals,
    ) -> Result<SparsePermutation, Reason> {
        let images = self.slot_images(model, layout);
        let mut moves = Vec::new();
        for (slot, entry) in layout.slots.iter_enumerated() {
            let image = images[slot.position()];
            let own = &literals.slots()[slot];
            if own.wide {
                if self.moves_values(model, entry.ty) {
                    return Err(Reason {
                        span: model.variables[entry.variable].span,
                        text: format!("`{}` has too many values to permute them", entry.name),
                    });
                }
                moves.push((own.first, literals.slots()[image].first));
                continue;
            }
            if own.values.len() == 1 && literals.slots()[image].values.len() == 1 {
                // Constants: what reads them reads their values, wherever they lie.
                continue;
            }
            for (position, &value) in own.values.iter().enumerate() {
                let image_value = value.map(|value| self.value(model, entry.ty, value));
                let Some(point) = literals.point(image, image_value) else {
                    let variable: VariableId = entry.variable;
                    let places = Places::new(model, layout);
                    let (shown, shown_image) = (places.value(slot, value), places.value(slot, image_value));
                    let (name, image_name) = (places.name(slot), places.name(image));
                    return Err(Reason {
                        span: model.variables[variable].span,
                        text: format!("`{name}` can be {shown}, but `{image_name}` can never be {shown_image}"),
                    });
                };
                moves.push((own.first + position as Point, point));
            }
        }
        moves.retain(|(from, to)| from != to);
        SparsePermutation::from_moves(moves).map_err(|_| Reason {
            span: Span::default(),
            text: "the exchange is not one-to-one on the values that occur".to_owned(),
        })
    }

    /// Where each slot goes.
    fn slot_images(&self, model: &Model, layout: &Layout) -> Vec<SlotId> {
        let mut images: Vec<SlotId> = layout.slots.indices().collect();
        if let Self::ExchangeParts { first, second } = self {
            for (&a, &b) in first.iter().zip(second) {
                images[a.position()] = b;
                images[b.position()] = a;
            }
            return images;
        }
        for (variable, entry) in model.variables.iter_enumerated() {
            let first = layout.first_slot(variable).position();
            let mut offsets = Vec::new();
            self.offsets(model, entry.ty, 0, &mut offsets);
            for (offset, image) in offsets.into_iter().enumerate() {
                images[first + offset] = SlotId::from_position(first + image as usize);
            }
        }
        images
    }

    /// Where each cell of a type goes, relative to its first cell.
    fn offsets(&self, model: &Model, ty: TypeId, base: u64, offsets: &mut Vec<u64>) {
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let domain = model.domain(*index);
                let stride = model.cells(*element);
                for value in domain.values() {
                    let image = self.value(model, *index, value);
                    let code = domain.code_of(image).expect("a value of the index type");
                    self.offsets(model, *element, base + code * stride, offsets);
                }
            }
            TypeKind::Record { fields } => {
                let mut base = base;
                for field in fields {
                    self.offsets(model, field.ty, base, offsets);
                    base += model.cells(field.ty);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                let stride = model.cells(*element) + 1;
                for position in 0..*capacity {
                    offsets.push(base + position * stride);
                    self.offsets(model, *element, base + position * stride + 1, offsets);
                }
            }
            _ => offsets.push(base),
        }
    }
}

/// The type of the numbers of what a front end calls by a name.
fn index_called(model: &Model, name: &str) -> Option<TypeId> {
    let indices = model.variables.iter_enumerated().filter_map(|(variable, entry)| match model.types[entry.ty].kind {
        TypeKind::Array { index, .. } if model.calling(variable).is_some() => Some((variable, index)),
        _ => None,
    });
    let mut called = indices.filter(|&(variable, _)| model.variable_title(variable) == name);
    called.next().map(|(_, index)| index)
}

/// The slots of an element, or a part of one, that a front end calls by a name.
fn called_part(model: &Model, layout: &Layout, name: &str) -> Vec<SlotId> {
    let places = Places::new(model, layout);
    for (variable, entry) in model.variables.iter_enumerated().filter(|(it, _)| model.calling(*it).is_some()) {
        let TypeKind::Array { index, element } = model.types[entry.ty].kind else { continue };
        let mut parts = vec![(element, 0)];
        if let TypeKind::Record { fields } = &model.types[element].kind {
            let mut offset = 0;
            for field in fields {
                parts.push((field.ty, offset));
                offset += model.cells(field.ty);
            }
        }
        for code in 0..model.domain(index).size() {
            for &(ty, offset) in &parts {
                let first = layout.first_slot(variable).position() as u64 + code * model.cells(element) + offset;
                if places.part(SlotId::from_position(first as usize), ty).is_some_and(|it| it == name) {
                    return (first..first + model.cells(ty)).map(|it| SlotId::from_position(it as usize)).collect();
                }
            }
        }
    }
    Vec::new()
}

/// Whether a slot is the named variable or a part of it.
fn is_part(slot: &str, name: &str) -> bool {
    slot.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Explains hoped-for symmetries of one model.
pub struct Explainer<'m> {
    model: &'m Model,
    layout: &'m Layout,
    places: Places<'m>,
    behaviour: Behaviour,
    literals: Literals,
    keys: FxHashSet<(bool, quotient_functions::EventKey)>,
    claims: FxHashSet<(PropertyId, NodeId, NodeId)>,
    instances: FxHashMap<(Action, Vec<i64>), usize>,
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
        Ok(Self { model, layout, places, behaviour, literals, keys, claims, instances })
    }

    /// Why a permutation is no symmetry: the places of the text that change their meaning, at most
    /// `limit` of them. Empty if it is one.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn why_not(&mut self, request: &Request, limit: usize) -> Result<Vec<Reason>, Spent> {
        let reasons = self.reasons(request, limit);
        // Functions that were made after the budget was spent explain nothing.
        if self.behaviour.circuit.is_spent() { Err(Spent) } else { Ok(reasons) }
    }

    fn reasons(&mut self, request: &Request, limit: usize) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        let permutation = match request.permutation(self.model, self.layout, &self.literals) {
            Ok(permutation) => permutation,
            Err(reason) => return vec![reason],
        };
        let map = match self.literals.action(self.layout, &permutation) {
            Ok(map) => map,
            Err(error) => return vec![Reason { span: Span::default(), text: error.to_string() }],
        };
        for slot_move in map.moves() {
            let variable = self.layout.slots[slot_move.from].variable;
            if let Some(fixed) = self.behaviour.fixed.iter().find(|entry| entry.variable == variable) {
                let name = self.model.variable_title(variable);
                return vec![Reason {
                    span: fixed.span,
                    text: format!("`{name}` is treated as fixed because of this: {}", fixed.reason),
                }];
            }
        }
        let relabelling = relabelling(&self.behaviour, &map, None);
        let mut known = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for number in 0..self.behaviour.events.len() {
            if reasons.len() >= limit || self.behaviour.circuit.is_spent() {
                return reasons;
            }
            let keys = &self.keys;
            if self.behaviour.event_image(number, &relabelling, &mut known, |key| keys.contains(key)).is_some() {
                continue;
            }
            let event = self.behaviour.events[number].clone();
            for reason in self.event_reasons(request, &event, &relabelling, &mut known) {
                if seen.insert((reason.span, reason.text.clone())) && reasons.len() < limit {
                    reasons.push(reason);
                }
            }
        }
        for number in 0..self.behaviour.claims.len() {
            if reasons.len() >= limit {
                return reasons;
            }
            let claim = self.behaviour.claims[number].clone();
            let circuit = &mut self.behaviour.circuit;
            let condition = circuit.relabelled(claim.condition, &relabelling, &mut known);
            let fault = circuit.relabelled(claim.fault, &relabelling, &mut known);
            let same = condition
                .zip(fault)
                .is_some_and(|(condition, fault)| self.claims.contains(&(claim.property, condition, fault)));
            let property = &self.model.properties[claim.property];
            if !same && seen.insert((property.span, String::new())) {
                let name = property.name.as_ref().map_or_else(String::new, |name| format!(" \"{name}\""));
                reasons.push(Reason {
                    span: property.span,
                    text: format!("the property{name} says something else about the permuted state"),
                });
            }
        }
        reasons
    }

    /// The values of each type that indexes an array, in classes that the group does not tell
    /// apart, and what separates the classes.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn families(&mut self, group: &CertifiedGroup) -> Result<Vec<Family>, Spent> {
        let mut orbits = OrbitPartition::new(group.literals().degree());
        for generator in group.generators() {
            orbits.merge_cycles(generator);
        }
        let mut index_types: Vec<TypeId> = Vec::new();
        for entry in self.model.variables.iter() {
            collect_index_types(self.model, entry.ty, &mut index_types);
        }
        let mut families = Vec::new();
        for ty in index_types {
            let domain = self.model.domain(ty);
            if domain.size() < 2 || domain.size() > 4096 {
                continue;
            }
            // A value's signature: the orbits of the first points of the slots it selects.
            let mut classes: Vec<(Vec<Point>, Vec<i64>)> = Vec::new();
            for value in domain.values() {
                let mut signature = Vec::new();
                for (variable, entry) in self.model.variables.iter_enumerated() {
                    let mut offsets = Vec::new();
                    selected(self.model, entry.ty, ty, value, 0, false, &mut offsets);
                    let first = self.layout.first_slot(variable).position();
                    for offset in offsets {
                        let slot = SlotId::from_position(first + offset as usize);
                        let entry = &self.literals.slots()[slot];
                        signature.push(orbits.find(entry.first));
                    }
                }
                match classes.iter_mut().find(|(known, _)| *known == signature) {
                    Some((_, values)) => values.push(value),
                    None => classes.push((signature, vec![value])),
                }
            }
            let classes: Vec<Vec<i64>> = classes.into_iter().map(|(_, values)| values).collect();
            let mut separators = Vec::with_capacity(classes.len().saturating_sub(1));
            for pair in classes.windows(2) {
                let request = Request::Exchange { ty, first: pair[0][0], second: pair[1][0] };
                separators.push(self.why_not(&request, 1)?.into_iter().next());
            }
            families.push(Family { ty, classes, separators });
        }
        Ok(families)
    }

    /// What in an event changes its meaning.
    fn event_reasons(
        &mut self,
        request: &Request,
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
        let image_arguments = request.arguments(self.model, parameters, &event.arguments);
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
            // Nothing here is missing there, so something there is missing here.
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
        if let Some((_, fault, _, writes, additions, _)) = image {
            for write in &writes {
                if counterpart.writes.contains(write) {
                    continue;
                }
                // The statement that writes the slot in the counterpart, or here if none does.
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

fn is_start(action: Action) -> bool {
    matches!(action, Action::Start(_))
}

/// The values of a type for people: `1..9`, `red, green`.
fn values_text(model: &Model, ty: TypeId) -> String {
    let domain = model.domain(ty);
    let name = |value| short_value_name(model, ty, value);
    if domain.size() == 0 || domain.size() > 8 || matches!(model.types[ty].kind, TypeKind::Range { .. }) {
        return format!("{}..{}", name(domain.least()), name(domain.greatest()));
    }
    domain.values().map(name).collect::<Vec<_>>().join(", ")
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

/// The cells of a type that an index value selects somewhere on their path.
fn selected(model: &Model, ty: TypeId, by: TypeId, value: i64, base: u64, chosen: bool, offsets: &mut Vec<u64>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            let stride = model.cells(*element);
            for (code, index_value) in model.domain(*index).values().enumerate() {
                let here = base + code as u64 * stride;
                if *index != by {
                    selected(model, *element, by, value, here, chosen, offsets);
                } else if index_value == value {
                    selected(model, *element, by, value, here, true, offsets);
                }
            }
        }
        TypeKind::Record { fields } => {
            let mut base = base;
            for field in fields {
                selected(model, field.ty, by, value, base, chosen, offsets);
                base += model.cells(field.ty);
            }
        }
        TypeKind::Multiset { .. } => {}
        _ if chosen => offsets.push(base),
        _ => {}
    }
}
