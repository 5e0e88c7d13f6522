//! States, values and steps as a front end wants them shown: the text of its data in `presentation`, `notation` and
//! `operations`. Nothing here affects the meaning of a model.

mod notation;
mod operations;

use crate::index::{TableIndex, TypeId};
use crate::layout::{Layout, Valuation};
use crate::model::Model;
use crate::presentation::ShownPart;
use crate::types::TypeKind;

impl ShownPart {
    /// The position of its first cell in a state.
    pub fn first_slot(&self, layout: &Layout) -> usize {
        layout.first_slot(self.variable).position() + self.first
    }
    /// The position in a state of the cell that says whether it is present.
    pub fn presence_slot(&self, layout: &Layout) -> Option<usize> {
        self.presence.map(|cell| layout.first_slot(self.variable).position() + cell)
    }
}

/// The messages of a queue as `[request,2][answer,0]`; `[]` if there are none. `cells` are those of the queue.
pub fn queue_text(model: &Model, ty: TypeId, cells: &[Option<i64>]) -> String {
    let TypeKind::Record { fields } = &model.types[ty].kind else { return String::new() };
    let Some(messages) = fields.get(1) else { return String::new() };
    let TypeKind::Array { element, .. } = model.types[messages.ty].kind else { return String::new() };
    let TypeKind::Record { fields } = &model.types[element].kind else { return String::new() };
    let length = cells.first().copied().flatten().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    if length == 0 {
        return "[]".into();
    }
    let message = |cells: &[Option<i64>]| {
        let values = fields.iter().zip(cells).map(|(field, value)| match value {
            Some(value) => model.value_name(field.ty, *value),
            None => "undefined".into(),
        });
        format!("[{}]", values.collect::<Vec<_>>().join(","))
    };
    cells[1..].chunks(fields.len().max(1)).take(length).map(message).collect()
}

impl Model {
    /// Whether a state is only intermediate, between two that are shown.
    pub fn is_between(&self, layout: &Layout, state: &Valuation) -> bool {
        let variable = self.presentation.as_ref().and_then(|presentation| presentation.between);
        variable.is_some_and(|variable| state[layout.first_slot(variable)] != Some(0))
    }
}
