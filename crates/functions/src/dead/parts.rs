//! The scalar parts of variables with the way to them, and which of their members a place denotes.
//!
//! A part is a scalar of a variable with its indices erased (`slice::classes`). If some index on the way to it has
//! several values, the first such index says which *member* of the part is meant: `client[p].x` is the member `p` of
//! `client[].x`.

use quotient_ir::{ExprId, Layout, Model, PlaceId, Root, SlotId, Step, TableIndex, TypeId, TypeKind, VariableId};

use crate::slice::classes::{Classes, Part};

/// A step on the way to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Field(u32),
    /// To an element; the type of the index.
    Index(TypeId),
}

/// A scalar part of a variable.
#[derive(Clone, Debug)]
pub(super) struct PartInfo {
    pub(super) variable: VariableId,
    pub(super) path: Vec<PathStep>,
    pub(super) ty: TypeId,
    /// The types of the indices with several values, in order.
    pub(super) dimensions: Vec<TypeId>,
    /// Whether nothing follows the second and further such indices except more of them.
    pub(super) is_plain_behind_first: bool,
    /// The same for the first.
    pub(super) is_plain: bool,
}

/// All scalar parts of the variables of a model; those of multisets are missing.
pub(super) struct Parts<'c, 'm> {
    pub(super) classes: &'c Classes<'m>,
    /// By part; parts of locals and multisets have none.
    infos: Vec<Option<PartInfo>>,
    /// The slots of each part, with the first index that has several values.
    slots: Vec<Vec<(SlotId, Option<i64>)>>,
    next_slot: usize,
}

/// What a place denotes: parts, and the indices with several values that it specifies.
pub(super) struct Denoted {
    pub(super) parts: std::ops::Range<Part>,
    pub(super) given: Vec<ExprId>,
}

impl<'c, 'm> Parts<'c, 'm> {
    pub(super) fn new(classes: &'c Classes<'m>, layout: &Layout) -> Self {
        let model = classes.model;
        let mut parts =
            Self { classes, infos: vec![None; classes.len()], slots: vec![Vec::new(); classes.len()], next_slot: 0 };
        for (id, variable) in model.variables.iter_enumerated() {
            parts.add(id, variable.ty, classes.variable(id), &mut Vec::new());
            parts.add_slots(variable.ty, classes.variable(id), None);
        }
        debug_assert_eq!(parts.next_slot, layout.slots.len());
        parts
    }

    fn add(&mut self, variable: VariableId, ty: TypeId, first: Part, path: &mut Vec<PathStep>) {
        let model = self.classes.model;
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                path.push(PathStep::Index(*index));
                self.add(variable, *element, first, path);
                path.pop();
            }
            TypeKind::Record { fields } => {
                let mut at = first;
                for (position, field) in fields.iter().enumerate() {
                    path.push(PathStep::Field(position as u32));
                    self.add(variable, field.ty, at, path);
                    path.pop();
                    at += self.classes.count(field.ty);
                }
            }
            TypeKind::Multiset { .. } => {}
            _ => {
                let several = |step: &PathStep| match step {
                    PathStep::Index(index) => has_several(model, *index).then_some(*index),
                    PathStep::Field(_) => None,
                };
                let dimensions: Vec<TypeId> = path.iter().filter_map(several).collect();
                let is_plain_from = |number: usize| {
                    let behind = path.iter().enumerate().filter(|(_, step)| several(step).is_some()).nth(number);
                    behind.is_none_or(|(at, _)| path[at..].iter().all(|step| several(step).is_some()))
                };
                self.infos[first] = Some(PartInfo {
                    variable,
                    is_plain: is_plain_from(0),
                    is_plain_behind_first: is_plain_from(1),
                    path: path.clone(),
                    ty,
                    dimensions,
                });
            }
        }
    }

    fn add_slots(&mut self, ty: TypeId, first: Part, member: Option<i64>) {
        let model = self.classes.model;
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let is_first = member.is_none() && has_several(model, *index);
                for value in model.domain(*index).values() {
                    self.add_slots(*element, first, if is_first { Some(value) } else { member });
                }
            }
            TypeKind::Record { fields } => {
                let mut at = first;
                for field in fields {
                    self.add_slots(field.ty, at, member);
                    at += self.classes.count(field.ty);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    self.next_slot += 1;
                    self.add_slots(*element, first + 1, member);
                }
            }
            _ => {
                self.slots[first].push((SlotId::from_position(self.next_slot), member));
                self.next_slot += 1;
            }
        }
    }

    pub(super) fn get(&self, part: Part) -> Option<&PartInfo> {
        self.infos[part].as_ref()
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = (Part, &PartInfo)> {
        self.infos.iter().enumerate().filter_map(|(part, info)| info.as_ref().map(|info| (part, info)))
    }
    /// The slots of a part, each with the first index that has several values.
    pub(super) fn slots(&self, part: Part) -> &[(SlotId, Option<i64>)] {
        &self.slots[part]
    }

    /// What a place of the state denotes; none for places of locals and results, and for choices.
    pub(super) fn denoted(&self, place: PlaceId) -> Option<Denoted> {
        let model = self.classes.model;
        let entry = &model.pool[place];
        let Root::Variable(variable) = entry.root else { return None };
        let mut ty = model.variables[variable].ty;
        let mut first = self.classes.variable(variable);
        let mut given = Vec::new();
        for step in &entry.steps {
            match (step, &model.types[ty].kind) {
                (Step::Field(field), TypeKind::Record { fields }) => {
                    first += fields[..*field as usize].iter().map(|field| self.classes.count(field.ty)).sum::<usize>();
                    ty = fields[*field as usize].ty;
                }
                (Step::Index(at), TypeKind::Array { index, element }) => {
                    if has_several(model, *index) {
                        given.push(*at);
                    }
                    ty = *element;
                }
                (Step::Index(_), TypeKind::Multiset { element, .. }) => {
                    first += 1;
                    ty = *element;
                }
                _ => unreachable!("verified: a step fits the type it starts from"),
            }
        }
        Some(Denoted { parts: first..first + self.classes.count(ty), given })
    }

    /// The name of a part for users, without indices.
    pub(super) fn title(&self, part: Part) -> String {
        let Some(info) = self.get(part) else { return String::new() };
        let model = self.classes.model;
        let mut title = crate::slice::Title::new(model, info.variable);
        let mut ty = model.variables[info.variable].ty;
        for step in &info.path {
            ty = match (step, &model.types[ty].kind) {
                (PathStep::Field(field), TypeKind::Record { fields }) => {
                    title.fields.push(&fields[*field as usize].name);
                    fields[*field as usize].ty
                }
                (_, TypeKind::Array { element, .. }) => *element,
                _ => ty,
            };
        }
        title.text()
    }
}

/// Whether a type of indices has several values.
pub(super) fn has_several(model: &Model, index: TypeId) -> bool {
    model.domain(index).size() != 1
}
