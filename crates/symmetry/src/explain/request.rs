//! The requests a user can make: values of types, elements of arrays that represent objects, and parts of variables;
//! and the permutation that a request denotes before anything follows.

use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, Model, SlotId, Span, TableIndex, TypeId, TypeKind, VariableId};

use super::Reason;
use crate::describe::member;
use crate::individuals::Individuals;
use crate::literals::Literals;
use crate::places::Places;

/// A permutation that a user expects to be a symmetry. It fixes only the images of the objects it names: whatever
/// refers to them may have to follow.
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
    /// Map each value of a type to the next, the last to the first.
    Rotate {
        /// The type.
        ty: TypeId,
    },
    /// Exchange two elements of an array that represent objects, as a whole: processes, channels.
    ExchangeElements {
        /// The array.
        variable: VariableId,
        /// The index of one.
        first: i64,
        /// The index of the other.
        second: i64,
    },
    /// Map each element of such an array to the next, the last to the first.
    RotateElements {
        /// The array.
        variable: VariableId,
    },
    /// Exchange two variables or parts of variables of the same shape.
    ExchangeParts {
        /// The slots of one.
        first: Vec<SlotId>,
        /// The slots of the other, in the same order.
        second: Vec<SlotId>,
    },
}

impl Individuals {
    /// The exchange of two of them.
    ///
    /// # Errors
    /// If two values of a union cannot be exchanged, the reason.
    pub(crate) fn exchange(self, model: &Model, first: i64, second: i64) -> Result<Request, String> {
        match self {
            Self::Elements(variable) => Ok(Request::ExchangeElements { variable, first, second }),
            Self::Values(ty) => {
                let (ty, other) = (member(model, ty, first), member(model, ty, second));
                if ty != other {
                    let names = [ty, other].map(|ty| Self::Values(ty).title(model));
                    return Err(format!("one is a value of {}, the other of {}", names[0], names[1]));
                }
                Ok(Request::Exchange { ty, first, second })
            }
        }
    }
}

impl Request {
    /// Parses `Type value value`, `rotate Type`, or the names of two variables or parts of them.
    ///
    /// # Errors
    /// A message about the part that was not understood.
    pub fn parse(model: &Model, layout: &Layout, text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let individuals = |name: &str| Individuals::named(model, name);
        match words[..] {
            ["rotate", name] => Ok(match individuals(name)? {
                Individuals::Values(ty) if matches!(model.types[ty].kind, TypeKind::Union { .. }) => {
                    return Err(format!("`{name}` is a union; name one of its types"));
                }
                Individuals::Values(ty) => Self::Rotate { ty },
                Individuals::Elements(variable) => Self::RotateElements { variable },
            }),
            [name, first, second] => {
                let of = individuals(name)?;
                let (first, second) = (of.value_named(model, first)?, of.value_named(model, second)?);
                of.exchange(model, first, second)
            }
            [first, second] => {
                // A process or channel is more than its variables: its own steps belong to it.
                if let Some((variable, first)) = called_element(model, layout, first)
                    && let Some((other, second)) = called_element(model, layout, second)
                    && variable == other
                {
                    return Ok(Self::ExchangeElements { variable, first, second });
                }
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

    /// The image of a value of a type.
    pub(super) fn value(&self, model: &Model, ty: TypeId, value: i64) -> i64 {
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
            Self::Rotate { ty: own } if own == ty => next_value(model, ty, value),
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
                Self::ExchangeElements { .. } | Self::RotateElements { .. } | Self::ExchangeParts { .. } => false,
            },
        }
    }

    /// The image of an element of an array, by its index.
    pub(super) fn element(&self, model: &Model, array: VariableId, value: i64) -> i64 {
        match *self {
            Self::ExchangeElements { variable, first, second } if variable == array => match value {
                value if value == first => second,
                value if value == second => first,
                value => value,
            },
            Self::RotateElements { variable } if variable == array => match Individuals::Elements(variable).ty(model) {
                Some(ty) => next_value(model, ty, value),
                None => value,
            },
            _ => value,
        }
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
                // Constants: functions read their values, wherever they lie.
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

    /// The image of each slot.
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
            if let (
                Self::ExchangeElements { variable: array, .. } | Self::RotateElements { variable: array },
                TypeKind::Array { index, element },
            ) = (self, &model.types[entry.ty].kind)
                && *array == variable
            {
                let (domain, stride) = (model.domain(*index), model.cells(*element) as usize);
                for (code, value) in domain.values().enumerate() {
                    let image = domain.code_of(self.element(model, variable, value)).expect("an index of the array");
                    for offset in 0..stride {
                        let to = SlotId::from_position(first + image as usize * stride + offset);
                        images[first + code * stride + offset] = to;
                    }
                }
                continue;
            }
            let mut offsets = Vec::new();
            self.offsets(model, entry.ty, 0, &mut offsets);
            for (offset, image) in offsets.into_iter().enumerate() {
                images[first + offset] = SlotId::from_position(first + image as usize);
            }
        }
        images
    }

    /// The image of each cell of a type, relative to its first cell.
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

/// The cyclic successor of a value in a type.
fn next_value(model: &Model, ty: TypeId, value: i64) -> i64 {
    let domain = model.domain(ty);
    domain.code_of(value).map_or(value, |code| domain.value_of((code + 1) % domain.size().max(1)))
}

/// The element of an array with a display name of a front end.
fn called_element(model: &Model, layout: &Layout, name: &str) -> Option<(VariableId, i64)> {
    let places = Places::new(model, layout);
    for (variable, entry) in model.variables.iter_enumerated().filter(|(it, _)| model.calling(*it).is_some()) {
        let TypeKind::Array { index, element } = model.types[entry.ty].kind else { continue };
        for (code, value) in model.domain(index).values().enumerate() {
            let first = layout.first_slot(variable).position() + code * model.cells(element) as usize;
            let title = places.part(SlotId::from_position(first), element);
            if title.is_some_and(|it| it == name) || model.element_title(variable, value) == name {
                return Some((variable, value));
            }
        }
    }
    None
}

/// The slots of an element, or of a part of one, with a display name of a front end.
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
