//! Slices: a model without the slots that nobody can notice (its cone of influence).
//!
//! What notices a slot: guards, properties that are checked, assumptions and the like, run-time errors, and, where a
//! step that changes nothing counts as none, the question whether a step changes anything. A slot that flows only into
//! others that nobody notices is not noticed either. See M. Weiser, "Program slicing", ICSE 1981, and E. M. Clarke,
//! O. Grumberg and D. Peled, "Model Checking" (1999), section 13.1.
//!
//! A slice is a model with the same variables and rules that never changes these slots. Each of its states stands for
//! all states that differ in them only, and these have the same future: the projection is a bisimulation.
//!
//! * `classes` divides variables and locals into parts, with indices erased, and joins what references may denote;
//! * `faults` tells which expressions can go wrong by the types of what they read;
//! * `needs` computes what can be noticed;
//! * `stuttering` adds what keeps states alive;
//! * `rewriting` makes the model.

pub(crate) mod classes;
mod faults;
mod needs;
mod rewriting;
mod stuttering;
mod walk;

use quotient_ir::{
    Calling, DeadlockMode, Layout, Model, PropertyId, RuleId, SlotId, Table, TypeId, TypeKind, Valuation, VariableId,
};
use rustc_hash::FxHashSet;

use classes::{Classes, Part};
use needs::{Need, Needs};

/// A model without what nobody notices.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The model: the same variables, rules and parameters, but slots that are left out never change.
    pub model: Model,
    /// What nothing reads, such as `Chan1.Data`.
    pub unread: Vec<String>,
    /// What is read only where nobody notices the value, so that it matters only whether it is defined.
    pub only_definedness: Vec<String>,
    /// Where a step that changes nothing counts as none: the rules that change something of the whole model whenever
    /// they can fire, though it may be left out here. A state in which one can fire is not a deadlock.
    pub moving_rules: Vec<RuleId>,
    needs: Table<SlotId, Need>,
}

impl Slice {
    /// The state of the slice that stands for a state of the model.
    pub fn project(&self, layout: &Layout, state: &mut Valuation) {
        for (slot, need) in self.needs.iter_enumerated() {
            match need {
                Need::Nothing => state[slot] = layout.slots[slot].initial(),
                Need::Definedness => state[slot] = state[slot].map(|_| layout.slots[slot].least),
                Need::Value => {}
            }
        }
    }
}

/// The slice of a model for these properties; assumptions and what else is not a claim always count. None if everything
/// can be noticed, or the text is too large to tell.
///
/// The model must be one that [`quotient_ir::verify()`] accepts.
pub fn slice(model: &Model, layout: &Layout, properties: &[PropertyId], deadlock: DeadlockMode) -> Option<Slice> {
    // Steps through transient states are one step, which may change what none of its parts changes.
    if deadlock == DeadlockMode::Stuttering && model.passing().next().is_some() {
        return None;
    }
    let is_checked = |id: &PropertyId| properties.contains(id) || !model.properties[*id].kind.is_claim();
    let checked: FxHashSet<PropertyId> = model.properties.indices().filter(is_checked).collect();
    let classes = Classes::new(model)?;
    let mut needs = Needs::new(&classes);
    let mut moving_rules = Vec::new();
    loop {
        if !needs.solve(&checked) {
            return None;
        }
        if deadlock != DeadlockMode::Stuttering {
            break;
        }
        let moves = stuttering::moves(&needs);
        if moves.noticed.is_empty() {
            moving_rules = moves.moving;
            break;
        }
        for part in moves.noticed {
            needs.raise(part, Need::Value);
        }
    }
    let mut names = Names { needs: &needs, unread: Vec::new(), only_definedness: Vec::new(), slots: Table::new() };
    for (id, variable) in model.variables.iter_enumerated() {
        let first = classes.variable(id);
        names.add_names(&mut Title::new(model, id), variable.ty, first);
        names.add_slots(variable.ty, first);
    }
    let Names { unread, only_definedness, slots, .. } = names;
    debug_assert_eq!(slots.len(), layout.slots.len());
    if unread.is_empty() && only_definedness.is_empty() {
        return None;
    }
    let model = rewriting::rewritten(&mut needs, &checked);
    Some(Slice { model, unread, only_definedness, moving_rules, needs: slots })
}

/// The name of a part of a variable, for users: without indices.
pub(crate) struct Title<'m> {
    model: &'m Model,
    variable: VariableId,
    pub(crate) fields: Vec<&'m str>,
}

impl<'m> Title<'m> {
    pub(crate) fn new(model: &'m Model, variable: VariableId) -> Self {
        Self { model, variable, fields: Vec::new() }
    }

    pub(crate) fn text(&self) -> String {
        let whole = self.model.variable_title(self.variable).to_owned();
        match (self.model.calling(self.variable), &self.fields[..]) {
            (Some(Calling::Queues { .. }), []) => format!("queue ({whole})"),
            // The first field is the number of messages, which is always read; the second are the messages.
            (Some(Calling::Queues { .. }), [_]) => format!("messages of {whole}"),
            (Some(Calling::Queues { .. }), [_, field, ..]) => {
                format!("field {} of the messages of {whole}", field.trim_start_matches('f'))
            }
            (Some(Calling::Processes(_)), [first, rest @ ..]) => {
                rest.iter().fold(format!("{whole}:{first}"), |text, field| format!("{text}.{field}"))
            }
            (_, fields) => fields.iter().fold(whole, |text, field| format!("{text}.{field}")),
        }
    }
}

/// Collects the names of what is left out, and the needs of slots.
struct Names<'n, 'c, 'm> {
    needs: &'n Needs<'c, 'm>,
    unread: Vec<String>,
    only_definedness: Vec<String>,
    slots: Table<SlotId, Need>,
}

impl<'m> Names<'_, '_, 'm> {
    /// The need of all parts of a type, if it is the same.
    fn common(&self, ty: TypeId, first: Part) -> Option<Need> {
        let count = self.needs.classes.count(ty);
        let need = self.needs.of(first);
        (first..first + count).all(|part| self.needs.of(part) == need).then_some(need)
    }

    fn add_names(&mut self, title: &mut Title<'m>, ty: TypeId, first: Part) {
        let model = self.needs.classes.model;
        if self.needs.classes.count(ty) == 0 {
            return;
        }
        match self.common(ty, first) {
            Some(Need::Value) => {}
            // A single value makes no difference.
            Some(_) if self.is_single(ty, first) => {}
            Some(Need::Nothing) => self.unread.push(title.text()),
            Some(Need::Definedness) => self.only_definedness.push(title.text()),
            None => match &model.types[ty].kind {
                TypeKind::Array { element, .. } => self.add_names(title, *element, first),
                TypeKind::Record { fields } => {
                    let mut at = first;
                    for field in fields {
                        title.fields.push(&field.name);
                        self.add_names(title, field.ty, at);
                        title.fields.pop();
                        at += self.needs.classes.count(field.ty);
                    }
                }
                _ => {}
            },
        }
    }

    /// Whether a part has one content only, by its type.
    fn is_single(&self, ty: TypeId, first: Part) -> bool {
        let model = self.needs.classes.model;
        let mut ty = ty;
        while let TypeKind::Array { element, .. } = &model.types[ty].kind {
            ty = *element;
        }
        self.needs.classes.traits(first).definite && model.is_scalar(ty) && model.domain(ty).size() == 1
    }

    fn add_slots(&mut self, ty: TypeId, first: Part) {
        let model = self.needs.classes.model;
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                for _ in 0..model.domain(*index).size() {
                    self.add_slots(*element, first);
                }
            }
            TypeKind::Record { fields } => {
                let mut at = first;
                for field in fields {
                    self.add_slots(field.ty, at);
                    at += self.needs.classes.count(field.ty);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    self.slots.push(self.needs.of(first));
                    self.add_slots(*element, first + 1);
                }
            }
            _ => {
                self.slots.push(self.needs.of(first));
            }
        }
    }
}
