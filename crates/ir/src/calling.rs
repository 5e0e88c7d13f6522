//! Display names of variables and their parts: as written in the text of the representation, unless a front end
//! specifies otherwise. For example, a process may be an element of an array of records here, and `client(1)` to the
//! author of the model.

use std::fmt::Write;

use crate::index::{TypeId, VariableId};
use crate::model::Model;
use crate::presentation::{Calling, PartKind};
use crate::types::TypeKind;

/// A step on the path from a variable to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartStep {
    /// To an element of an array: the index as text, and its number if known.
    Index(String, Option<i64>),
    /// To several elements of an array.
    Indices(String),
    /// To a field of a record, by its position.
    Field(u32),
}

impl Model {
    /// The display name of a variable, if it differs from its name in the text.
    pub fn calling(&self, variable: VariableId) -> Option<&Calling> {
        let callings = &self.presentation.as_ref()?.callings;
        callings.iter().find(|(it, _)| *it == variable).map(|(_, calling)| calling)
    }

    /// The title of a whole variable.
    pub fn variable_title(&self, variable: VariableId) -> &str {
        match self.calling(variable) {
            Some(Calling::Processes(name) | Calling::Queues { name, .. }) => name,
            None => &self.variables[variable].name,
        }
    }

    /// The title of the part at the end of a path.
    pub fn part_title(&self, variable: VariableId, steps: &[PartStep]) -> String {
        let mut ty = self.variables[variable].ty;
        let mut text = self.variable_title(variable).to_owned();
        let mut rest = steps;
        match self.calling(variable) {
            Some(Calling::Processes(_)) => {
                if let [PartStep::Index(index, _) | PartStep::Indices(index), further @ ..] = steps {
                    let _ = write!(text, "({index})");
                    (ty, rest) = (self.behind(ty, &steps[0]), further);
                }
                match rest {
                    [PartStep::Field(0)] => return format!("the position of {text}"),
                    [PartStep::Field(field), further @ ..] => {
                        let _ = write!(text, ":{}", self.field_name(ty, *field));
                        (ty, rest) = (self.behind(ty, &rest[0]), further);
                    }
                    _ => {}
                }
            }
            Some(Calling::Queues { names, .. }) => {
                if let (TypeKind::Array { index, .. }, [first, further @ ..]) = (&self.types[ty].kind, steps) {
                    let name = |value: i64| names.get(self.domain(*index).code_of(value)? as usize).cloned();
                    match first {
                        // An index that is not the number of a channel is shown as text.
                        PartStep::Index(shown, value) => text = value.and_then(name).unwrap_or_else(|| shown.clone()),
                        PartStep::Indices(shown) => {
                            let _ = write!(text, "[{shown}]");
                        }
                        PartStep::Field(_) => {}
                    }
                    rest = further;
                }
                return match rest {
                    [] | [PartStep::Field(1)] => format!("queue ({text})"),
                    [PartStep::Field(0), ..] => format!("len({text})"),
                    [_, message, further @ ..] => {
                        let message = match message {
                            PartStep::Index(_, Some(value)) => (value + 1).to_string(),
                            PartStep::Index(text, None) | PartStep::Indices(text) => text.clone(),
                            PartStep::Field(field) => field.to_string(),
                        };
                        let field = match further {
                            [PartStep::Field(field), ..] => format!("field {} of ", field + 1),
                            _ => String::new(),
                        };
                        format!("{field}message {message} of {text}")
                    }
                    [_] => text,
                };
            }
            None => {}
        }
        for step in rest {
            let _ = match step {
                PartStep::Index(index, _) | PartStep::Indices(index) => write!(text, "[{index}]"),
                PartStep::Field(field) => write!(text, ".{}", self.field_name(ty, *field)),
            };
            ty = self.behind(ty, step);
        }
        text
    }

    /// The title of the values of an index type, if a front end has one.
    pub fn index_title(&self, ty: TypeId) -> Option<String> {
        Some(match self.index_calling(ty)? {
            Calling::Processes(name) => format!("processes {name}"),
            Calling::Queues { name, .. } => format!("channels {name}"),
        })
    }

    /// The title of a value of such a type.
    pub fn index_value_title(&self, ty: TypeId, value: i64) -> String {
        let called = match self.index_calling(ty) {
            Some(Calling::Queues { names, .. }) => {
                self.domain(ty).code_of(value).and_then(|code| names.get(code as usize)).cloned()
            }
            _ => None,
        };
        called.unwrap_or_else(|| self.value_name(ty, value))
    }

    /// The display names of what a type indexes; processes come before what they own.
    fn index_calling(&self, ty: TypeId) -> Option<&Calling> {
        let callings = &self.presentation.as_ref()?.callings;
        let is_indexed = |variable: VariableId| match self.types[self.variables[variable].ty].kind {
            TypeKind::Array { index, .. } => index == ty,
            _ => false,
        };
        callings.iter().find(|(variable, _)| is_indexed(*variable)).map(|(_, calling)| calling)
    }

    /// The title of the elements of an array, all together.
    pub fn elements_title(&self, variable: VariableId) -> String {
        match self.calling(variable) {
            Some(Calling::Processes(name)) => format!("processes {name}"),
            Some(Calling::Queues { name, .. }) => format!("channels {name}"),
            None => format!("elements of {}", self.variables[variable].name),
        }
    }

    /// The title of one element of an array.
    pub fn element_title(&self, variable: VariableId, value: i64) -> String {
        let TypeKind::Array { index, .. } = self.types[self.variables[variable].ty].kind else {
            return value.to_string();
        };
        let called = match self.calling(variable) {
            Some(Calling::Queues { names, .. }) => {
                self.domain(index).code_of(value).and_then(|code| names.get(code as usize)).cloned()
            }
            _ => None,
        };
        called.unwrap_or_else(|| self.value_name(index, value))
    }

    /// The title of a value at the end of a path.
    pub fn value_title(&self, variable: VariableId, steps: &[PartStep], ty: TypeId, value: i64) -> String {
        match (self.calling(variable), steps) {
            (Some(Calling::Processes(_)), [_, PartStep::Field(0)]) => self.position_title(variable, value),
            _ => self.value_name(ty, value),
        }
    }

    /// The program location of a process in an array of processes, by the number of the position.
    pub(crate) fn position_title(&self, variable: VariableId, position: i64) -> String {
        let texts = self.positions(variable).unwrap_or_default();
        match usize::try_from(position).ok().and_then(|position| texts.get(position)).filter(|_| position != 0) {
            Some(text) => format!("at {text}"),
            None => "not there".to_owned(),
        }
    }

    fn positions(&self, variable: VariableId) -> Option<&[String]> {
        let parts = &self.presentation.as_ref()?.parts;
        parts.iter().filter(|part| part.variable == variable).find_map(|part| match &part.kind {
            PartKind::Position(texts) => Some(&texts[..]),
            _ => None,
        })
    }

    fn behind(&self, ty: TypeId, step: &PartStep) -> TypeId {
        match (&self.types[ty].kind, step) {
            (TypeKind::Array { element, .. }, PartStep::Index(..) | PartStep::Indices(_)) => *element,
            (TypeKind::Record { fields }, PartStep::Field(field)) => fields.get(*field as usize).map_or(ty, |it| it.ty),
            _ => ty,
        }
    }

    fn field_name(&self, ty: TypeId, field: u32) -> String {
        match &self.types[ty].kind {
            TypeKind::Record { fields } => fields.get(field as usize).map(|field| field.name.clone()),
            _ => None,
        }
        .unwrap_or_else(|| field.to_string())
    }
}
