//! The location of slots in their variables: the index values and fields on the path to each, and the shortest way to
//! write many of them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use quotient_ir::{Layout, Model, PartStep, SlotId, TableIndex, TypeId, TypeKind, VariableId};

/// The largest number of values of one index that are listed.
const LISTED_VALUES: usize = 12;

/// The path from a variable to one of its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The variable, the fields and the number of indices: slots of one shape differ only in the values of the indices.
    pub(crate) shape: u32,
    /// The types and values of the indices, outermost first.
    pub(crate) indices: Vec<(TypeId, i64)>,
}

/// The paths to all slots of a model.
#[derive(Clone, Debug)]
pub(crate) struct Places<'m> {
    model: &'m Model,
    layout: &'m Layout,
    paths: Vec<Path>,
    /// For each shape, the text around the indices.
    shapes: Vec<Vec<String>>,
    /// For each shape of a variable with a display name, the path: fields, and `None` for an index.
    ways: Vec<Option<(VariableId, Vec<Option<u32>>)>>,
    slots_of_shape: Vec<Vec<SlotId>>,
    slots: FxHashMap<(u32, Vec<i64>), SlotId>,
}

impl<'m> Places<'m> {
    pub(crate) fn new(model: &'m Model, layout: &'m Layout) -> Self {
        let mut places = Self {
            model,
            layout,
            paths: Vec::with_capacity(layout.slots.len()),
            shapes: Vec::new(),
            ways: Vec::new(),
            slots_of_shape: Vec::new(),
            slots: FxHashMap::default(),
        };
        let mut known = FxHashMap::default();
        for (variable, entry) in model.variables.iter_enumerated() {
            places.walk(entry.ty, vec![entry.name.clone()], &mut Vec::new(), &mut known);
            if model.calling(variable).is_some() {
                let mut way = Vec::new();
                places.find_ways(variable, entry.ty, &mut way, &mut layout.first_slot(variable).position());
            }
        }
        places
    }

    /// Records the paths to the shapes of a variable with a display name. The depth of the recursion is that of the
    /// type.
    fn find_ways(&mut self, variable: VariableId, ty: TypeId, way: &mut Vec<Option<u32>>, next: &mut usize) {
        let model = self.model;
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in 0..model.domain(*index).size() {
                    way.push(None);
                    self.find_ways(variable, *element, way, next);
                    way.pop();
                }
            }
            TypeKind::Record { fields } => {
                for (position, field) in fields.iter().enumerate() {
                    way.push(Some(position as u32));
                    self.find_ways(variable, field.ty, way, next);
                    way.pop();
                }
            }
            _ => {
                let shape = self.paths[*next].shape as usize;
                self.ways[shape].get_or_insert_with(|| (variable, way.clone()));
                *next += model.cells(ty) as usize;
            }
        }
    }

    /// Adds the slots of a part of a variable. The depth of the recursion is that of the type.
    fn walk(
        &mut self,
        ty: TypeId,
        text: Vec<String>,
        indices: &mut Vec<(TypeId, i64)>,
        known: &mut FxHashMap<Vec<String>, u32>,
    ) {
        let model = self.model;
        let with = |more: &str| {
            let mut text = text.clone();
            text.last_mut().expect("a variable has a name").push_str(more);
            text
        };
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let mut text = with("[");
                text.push("]".to_owned());
                for value in model.domain(*index).values() {
                    indices.push((*index, value));
                    self.walk(*element, text.clone(), indices, known);
                    indices.pop();
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.walk(field.ty, with(&format!(".{}", field.name)), indices, known);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                for position in 0..*capacity {
                    let text = with(&format!("[{position}]"));
                    let mut present = text.clone();
                    present[0].insert_str(0, "present(");
                    present.last_mut().expect("a variable has a name").push(')');
                    self.push(present, indices, known);
                    self.walk(*element, text, indices, known);
                }
            }
            _ => self.push(text, indices, known),
        }
    }

    fn push(&mut self, text: Vec<String>, indices: &[(TypeId, i64)], known: &mut FxHashMap<Vec<String>, u32>) {
        let slot = SlotId::from_position(self.paths.len());
        let shape = *known.entry(text).or_insert_with_key(|text| {
            self.shapes.push(text.clone());
            self.ways.push(None);
            self.slots_of_shape.push(Vec::new());
            self.shapes.len() as u32 - 1
        });
        self.slots_of_shape[shape as usize].push(slot);
        self.slots.insert((shape, indices.iter().map(|&(_, value)| value).collect()), slot);
        self.paths.push(Path { shape, indices: indices.to_vec() });
    }

    /// The path to a slot.
    pub(crate) fn path(&self, slot: SlotId) -> &Path {
        &self.paths[slot.position()]
    }

    /// The slot at the end of a path, if there is one.
    pub(crate) fn slot(&self, shape: u32, indices: Vec<i64>) -> Option<SlotId> {
        self.slots.get(&(shape, indices)).copied()
    }

    /// Names for a set of slots, with `*` for an index that takes all its values. Slots that are not `notable` may be
    /// omitted or included, whichever is shorter.
    pub(crate) fn names(&self, slots: &BTreeSet<SlotId>, notable: impl Fn(SlotId) -> bool) -> Vec<String> {
        let mut by_shape: Vec<(u32, Vec<SlotId>)> = Vec::new();
        for &slot in slots {
            let shape = self.path(slot).shape;
            match by_shape.iter_mut().find(|(known, _)| *known == shape) {
                Some((_, members)) => members.push(slot),
                None => by_shape.push((shape, vec![slot])),
            }
        }
        let mut names = Vec::new();
        for (shape, members) in by_shape {
            let all: Vec<SlotId> =
                self.slots_of_shape[shape as usize].iter().copied().filter(|&slot| notable(slot)).collect();
            let full = self.index_values(&all);
            self.add_names(&members, &all, &full, &mut names);
        }
        names
    }

    /// Names slots of one shape. The depth of the recursion is the number of indices.
    fn add_names(&self, slots: &[SlotId], all: &[SlotId], full: &[BTreeSet<i64>], names: &mut Vec<String>) {
        let values = self.index_values(slots);
        let in_box =
            |slot: SlotId| self.path(slot).indices.iter().zip(&values).all(|((_, value), of)| of.contains(value));
        let box_size = all.iter().filter(|&&slot| in_box(slot)).count();
        let listable = values.iter().zip(full).all(|(of, full)| of == full || of.len() <= LISTED_VALUES);
        if (box_size == slots.len() && listable) || values.is_empty() {
            names.push(self.pattern(slots[0], &values, full));
            return;
        }
        let dimension = values.iter().position(|of| of.len() > 1).unwrap_or(0);
        for &value in &values[dimension] {
            let at_value = |slot: SlotId| self.path(slot).indices[dimension].1 == value;
            let part: Vec<SlotId> = slots.iter().copied().filter(|&slot| at_value(slot)).collect();
            let rest: Vec<SlotId> = all.iter().copied().filter(|&slot| at_value(slot)).collect();
            self.add_names(&part, &rest, full, names);
        }
    }

    /// The values that each index takes.
    fn index_values(&self, slots: &[SlotId]) -> Vec<BTreeSet<i64>> {
        let mut values: Vec<BTreeSet<i64>> = Vec::new();
        for &slot in slots {
            let indices = &self.path(slot).indices;
            values.resize(indices.len(), BTreeSet::new());
            for (of, &(_, value)) in values.iter_mut().zip(indices) {
                of.insert(value);
            }
        }
        values
    }

    /// The name of a value of a slot; `None` is undefined.
    pub(crate) fn value(&self, slot: SlotId, value: Option<i64>) -> String {
        let Some(value) = value else { return "undefined".to_owned() };
        let ty = self.layout.slots[slot].ty;
        match &self.ways[self.path(slot).shape as usize] {
            Some((variable, way)) => {
                let step = |field: &Option<u32>| field.map_or(PartStep::Indices(String::new()), PartStep::Field);
                self.model.value_title(*variable, &way.iter().map(step).collect::<Vec<_>>(), ty, value)
            }
            None => self.model.value_name(ty, value),
        }
    }

    /// The name of a slot.
    pub(crate) fn name(&self, slot: SlotId) -> String {
        let values = self.index_values(&[slot]);
        self.pattern(slot, &values, &values)
    }

    fn pattern(&self, slot: SlotId, values: &[BTreeSet<i64>], full: &[BTreeSet<i64>]) -> String {
        let path = self.path(slot);
        let index = |dimension: usize, ty: TypeId| {
            let (of, full) = (&values[dimension], &full[dimension]);
            let names: Vec<String> = of.iter().map(|&value| self.model.value_name(ty, value)).collect();
            match &names[..] {
                [name] => name.clone(),
                _ if of == full => "*".to_owned(),
                _ => format!("{{{}}}", names.join(", ")),
            }
        };
        let indices: Vec<String> =
            path.indices.iter().enumerate().map(|(dimension, &(ty, _))| index(dimension, ty)).collect();
        if let Some((variable, way)) = &self.ways[path.shape as usize] {
            let mut dimensions = values.iter().zip(indices).map(|(of, text)| match of.len() {
                1 => PartStep::Index(text, of.first().copied()),
                _ => PartStep::Indices(text),
            });
            let step = |field: &Option<u32>| field.map(PartStep::Field).or_else(|| dimensions.next());
            let steps: Vec<PartStep> = way.iter().filter_map(step).collect();
            return self.model.part_title(*variable, &steps);
        }
        let variable = self.layout.slots[slot].variable;
        let steps: Vec<PartStep> = indices.iter().cloned().map(PartStep::Indices).collect();
        let has_fields = self.shapes[path.shape as usize].iter().any(|piece| piece.contains('.'));
        if let Some(text) = self.notated(variable, &steps).filter(|_| !has_fields) {
            return text;
        }
        let pieces = &self.shapes[path.shape as usize];
        let mut text = pieces[0].clone();
        for (dimension, index) in indices.iter().enumerate() {
            text.push_str(index);
            text.push_str(&pieces[dimension + 1]);
        }
        text
    }

    /// A cell of a variable in the notation of the language, if it has one and the path consists of indices.
    fn notated(&self, variable: VariableId, steps: &[PartStep]) -> Option<String> {
        let (_, notation) = self.model.notations.iter().find(|(notated, _)| *notated == variable)?;
        let index = |step: &PartStep| match step {
            PartStep::Index(text, _) | PartStep::Indices(text) => Some(text.clone()),
            PartStep::Field(_) => None,
        };
        let indices: Vec<String> = steps.iter().map(index).collect::<Option<_>>()?;
        notation.cell_name(&self.model.variables[variable].name, &indices)
    }

    /// The part of a variable that starts at a slot and has the shape of a type, as written in the text. `None` if no
    /// such part starts there.
    pub(crate) fn part(&self, first: SlotId, ty: TypeId) -> Option<String> {
        let variable: VariableId = self.layout.slots[first].variable;
        let mut base = self.layout.first_slot(variable).position() as u64;
        let mut current = self.model.variables[variable].ty;
        let mut text = self.model.variables[variable].name.clone();
        let mut steps = Vec::new();
        let first = first.position() as u64;
        loop {
            if base == first && have_one_shape(self.model, current, ty) {
                let is_called = self.model.calling(variable).is_some();
                return Some(if is_called {
                    self.model.part_title(variable, &steps)
                } else {
                    self.notated(variable, &steps).unwrap_or(text)
                });
            }
            match &self.model.types[current].kind {
                TypeKind::Array { index, element } => {
                    let stride = self.model.cells(*element);
                    let code = (first - base).checked_div(stride)?;
                    let value = self.model.domain(*index).value_of(code);
                    let shown = self.model.value_name(*index, value);
                    text.push_str(&format!("[{shown}]"));
                    steps.push(PartStep::Index(shown, Some(value)));
                    base += code * stride;
                    current = *element;
                }
                TypeKind::Record { fields } => {
                    let mut found = None;
                    for (position, field) in fields.iter().enumerate() {
                        let cells = self.model.cells(field.ty);
                        if first < base + cells {
                            found = Some((position, field));
                            break;
                        }
                        base += cells;
                    }
                    let (position, field) = found?;
                    steps.push(PartStep::Field(position as u32));
                    text.push_str(&format!(".{}", field.name));
                    current = field.ty;
                }
                _ => return None,
            }
        }
    }
}

/// Whether two types have the same cells in the same order.
fn have_one_shape(model: &Model, left: TypeId, right: TypeId) -> bool {
    if left == right {
        return true;
    }
    match (&model.types[left].kind, &model.types[right].kind) {
        (
            TypeKind::Array { index: left_index, element: left },
            TypeKind::Array { index: right_index, element: right },
        ) => model.domain(*left_index) == model.domain(*right_index) && have_one_shape(model, *left, *right),
        (TypeKind::Record { fields: left }, TypeKind::Record { fields: right }) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| have_one_shape(model, left.ty, right.ty))
        }
        _ => model.is_scalar(left) && model.is_scalar(right),
    }
}
