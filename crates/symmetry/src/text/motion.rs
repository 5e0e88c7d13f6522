//! Permutations of the values of roles, and what they do to states.

use std::collections::BTreeMap;

use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Domain, Layout, Model, SlotId, TableIndex, Valuation};

use super::shapes::{Role, Shape, Shapes};
use crate::literals::Literals;

/// A permutation of the values of some roles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Motion {
    moved: BTreeMap<Role, BTreeMap<i64, i64>>,
}

impl Motion {
    /// The exchange of two values of a role.
    pub(super) fn exchange(role: Role, first: i64, second: i64) -> Self {
        Self { moved: BTreeMap::from([(role, BTreeMap::from([(first, second), (second, first)]))]) }
    }

    /// Two permutations that generate all those of a class of values, or one.
    pub(super) fn of_class(role: Role, class: &[i64]) -> Vec<Self> {
        let mut motions = Vec::new();
        if let [first, second, ..] = class {
            motions.push(Self::exchange(role, *first, *second));
        }
        if class.len() > 2 {
            let mut cycle = Self::default();
            let images = class.iter().skip(1).chain(class.first());
            class.iter().zip(images).for_each(|(value, image)| cycle.insert(role, *value, *image));
            motions.push(cycle);
        }
        motions
    }

    /// Adds the image of a value.
    pub(super) fn insert(&mut self, role: Role, value: i64, image: i64) {
        if value != image {
            self.moved.entry(role).or_default().insert(value, image);
        }
    }

    /// Whether nothing is moved.
    pub(super) fn is_identity(&self) -> bool {
        self.moved.is_empty()
    }

    /// The values of a role that are moved, with their images.
    pub(super) fn of(&self, role: Role) -> Option<&BTreeMap<i64, i64>> {
        self.moved.get(&role)
    }

    /// The roles of which values are moved, with the images.
    pub(super) fn roles(&self) -> impl Iterator<Item = (Role, &BTreeMap<i64, i64>)> {
        self.moved.iter().map(|(role, images)| (*role, images))
    }

    /// The image of a value.
    pub(super) fn image(&self, role: Role, value: i64) -> i64 {
        self.of(role).and_then(|images| images.get(&value)).copied().unwrap_or(value)
    }

    /// Whether the values of each role are permuted.
    pub(super) fn is_permutation(&self) -> bool {
        self.moved.values().all(|images| {
            let mut targets: Vec<i64> = images.values().copied().collect();
            targets.sort_unstable();
            targets.into_iter().eq(images.keys().copied())
        })
    }

    /// Whether a set of values is mapped to itself.
    pub(super) fn preserves(&self, role: Role, domain: &Domain) -> bool {
        let Some(images) = self.of(role) else { return true };
        images.iter().all(|(value, image)| domain.contains(*value) == domain.contains(*image))
    }

    fn moves_inside(&self, shape: &Shape) -> bool {
        match shape {
            Shape::Scalar { role, .. } => self.moved.contains_key(role),
            Shape::Array { role, element, .. } => self.moved.contains_key(role) || self.moves_inside(element),
            Shape::Record(fields) => fields.iter().any(|field| self.moves_inside(field)),
            Shape::Multiset { element, .. } => self.moves_inside(element),
        }
    }

    /// Calls `visit` for each slot whose place or contents it moves: the slot, its image, and the role of the contents
    /// (none for the slots that say whether an element is present). Each moved set of indices must be closed.
    pub(super) fn visit_slots(
        &self,
        model: &Model,
        layout: &Layout,
        shapes: &Shapes,
        visit: &mut dyn FnMut(SlotId, SlotId, Option<Role>),
    ) {
        for (variable, shape) in shapes.variables.iter_enumerated() {
            if self.moves_inside(shape) {
                let first = layout.first_slot(variable).position();
                self.walk(model, shape, (first, first), visit);
            }
        }
    }

    fn walk(
        &self,
        model: &Model,
        shape: &Shape,
        (from, to): (usize, usize),
        visit: &mut dyn FnMut(SlotId, SlotId, Option<Role>),
    ) {
        if from == to && !self.moves_inside(shape) {
            return;
        }
        match shape {
            Shape::Scalar { role, .. } => {
                visit(SlotId::from_position(from), SlotId::from_position(to), Some(*role));
            }
            Shape::Array { role, index, element } => {
                let domain = model.domain(*index);
                let stride = size(model, element);
                let mut step = |value: i64, image: i64| {
                    let offset = |value| domain.code_of(value).expect("indices are closed") as usize * stride;
                    self.walk(model, element, (from + offset(value), to + offset(image)), visit);
                };
                if from == to && !self.moves_inside(element) {
                    let images = self.of(*role).into_iter().flatten();
                    images
                        .filter(|(value, _)| domain.contains(**value))
                        .for_each(|(value, image)| step(*value, *image));
                } else {
                    domain.values().for_each(|value| step(value, self.image(*role, value)));
                }
            }
            Shape::Record(fields) => {
                let mut offset = 0;
                for field in fields {
                    self.walk(model, field, (from + offset, to + offset), visit);
                    offset += size(model, field);
                }
            }
            Shape::Multiset { capacity, element } => {
                let stride = 1 + size(model, element);
                for position in 0..*capacity as usize {
                    let offset = position * stride;
                    let present = |base: usize| SlotId::from_position(base + offset);
                    visit(present(from), present(to), None);
                    self.walk(model, element, (from + offset + 1, to + offset + 1), visit);
                }
            }
        }
    }

    /// Whether the image of a state is the state itself.
    pub(super) fn fixes(&self, model: &Model, layout: &Layout, shapes: &Shapes, state: &Valuation) -> bool {
        if layout.multisets().is_empty() {
            let mut same = true;
            self.visit_slots(model, layout, shapes, &mut |from, to, role| {
                same = same && self.contents(role, state.0[from.position()]) == state.0[to.position()];
            });
            return same;
        }
        self.apply(model, layout, shapes, state) == *state
    }

    /// The image of a state.
    pub(super) fn apply(&self, model: &Model, layout: &Layout, shapes: &Shapes, state: &Valuation) -> Valuation {
        let mut image = state.clone();
        self.visit_slots(model, layout, shapes, &mut |from, to, role| {
            image.0[to.position()] = self.contents(role, state.0[from.position()]);
        });
        layout.normalize(&mut image);
        image
    }

    fn contents(&self, role: Option<Role>, value: Option<i64>) -> Option<i64> {
        match role {
            Some(role) => value.map(|value| self.image(role, value)),
            None => value,
        }
    }

    /// The permutation of literals; `None` if some slot has too many values to permute them.
    pub(super) fn literals(
        &self,
        model: &Model,
        layout: &Layout,
        shapes: &Shapes,
        literals: &Literals,
    ) -> Option<SparsePermutation> {
        let mut moves: Vec<(Point, Point)> = Vec::new();
        let mut possible = true;
        self.visit_slots(model, layout, shapes, &mut |from, to, role| {
            let (own, image) = (&literals.slots()[from], &literals.slots()[to]);
            if own.wide || image.wide {
                possible &= role.is_none_or(|role| self.of(role).is_none()) && own.wide && image.wide;
                moves.extend((from != to).then_some((own.first, image.first)));
                return;
            }
            for (position, value) in own.values.iter().enumerate() {
                match literals.point(to, self.contents(role, *value)) {
                    Some(point) if point != own.first + position as Point => {
                        moves.push((own.first + position as Point, point));
                    }
                    Some(_) => {}
                    None => possible = false,
                }
            }
        });
        possible.then(|| SparsePermutation::from_moves(moves).ok()).flatten()
    }
}

/// The number of cells of a value of a shape.
pub(super) fn size(model: &Model, shape: &Shape) -> usize {
    match shape {
        Shape::Scalar { .. } => 1,
        Shape::Array { index, element, .. } => model.domain(*index).size() as usize * size(model, element),
        Shape::Record(fields) => fields.iter().map(|field| size(model, field)).sum(),
        Shape::Multiset { capacity, element } => *capacity as usize * (1 + size(model, element)),
    }
}
