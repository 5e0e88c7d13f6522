//! Objects of a model that can be exchanged as a whole, and their names.

use quotient_ir::{Model, TypeId, TypeKind, VariableId};

/// Objects that can be exchanged as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Individuals {
    /// The values of a type, wherever they occur: as values and as indices.
    Values(TypeId),
    /// The elements of an array, by their indices: processes, channels. Other uses of the same numbers are not
    /// included.
    Elements(VariableId),
}

impl Individuals {
    /// The objects with a given name.
    pub(crate) fn named(model: &Model, name: &str) -> Result<Self, String> {
        let is_named =
            |&(id, ty): &(TypeId, &quotient_ir::Type)| ty.name.as_deref() == Some(name) && model.is_scalar(id);
        if let Some((ty, _)) = model.types.iter_enumerated().find(is_named) {
            return Ok(Self::Values(ty));
        }
        let arrays = || {
            let variables =
                model.variables.iter_enumerated().filter(|(variable, _)| model.calling(*variable).is_some());
            variables.filter(|(_, entry)| matches!(model.types[entry.ty].kind, TypeKind::Array { .. }))
        };
        if let Some((variable, _)) = arrays().find(|(variable, _)| model.variable_title(*variable) == name) {
            return Ok(Self::Elements(variable));
        }
        let types = model.types.iter_enumerated().filter(|&(id, _)| model.is_scalar(id));
        let mut names: Vec<&str> = types.filter_map(|(_, ty)| ty.name.as_deref()).collect();
        names.extend(arrays().map(|(variable, _)| model.variable_title(variable)));
        Err(format!("there is no type `{name}` with single values; there are {}", names.join(", ")))
    }

    /// The type of the values that name them; `None` if the variable is not an array.
    pub fn ty(self, model: &Model) -> Option<TypeId> {
        match self {
            Self::Values(ty) => Some(ty),
            Self::Elements(variable) => match model.types[model.variables[variable].ty].kind {
                TypeKind::Array { index, .. } => Some(index),
                _ => None,
            },
        }
    }

    /// The values that name them.
    pub fn values(self, model: &Model) -> impl Iterator<Item = i64> {
        self.ty(model).map(|ty| model.domain(ty)).into_iter().flat_map(|domain| domain.values().collect::<Vec<_>>())
    }

    /// The title of all of them: `process`, `processes client`.
    pub fn title(self, model: &Model) -> String {
        match self {
            Self::Elements(variable) => model.elements_title(variable),
            Self::Values(ty) => model.types[ty].name.clone().unwrap_or_else(|| {
                let domain = model.domain(ty);
                format!("{}..{}", model.value_name(ty, domain.least()), model.value_name(ty, domain.greatest()))
            }),
        }
    }

    /// Whether they have a name; some types have none.
    pub fn is_named(self, model: &Model) -> bool {
        match self {
            Self::Elements(_) => true,
            Self::Values(ty) => model.types[ty].name.is_some(),
        }
    }

    /// The title of one of them.
    pub fn value_title(self, model: &Model, value: i64) -> String {
        match (self, self.ty(model)) {
            (Self::Elements(variable), _) => model.element_title(variable, value),
            (Self::Values(_), Some(ty)) => model.value_name(ty, value),
            (Self::Values(_), None) => value.to_string(),
        }
    }

    /// The value that a user's text denotes.
    pub(crate) fn value_named(self, model: &Model, name: &str) -> Result<i64, String> {
        let ty = self.ty(model).expect("only arrays have elements");
        let domain = model.domain(ty);
        // The values of a scalarset are counted from zero, however they are represented.
        let origin = match model.types[ty].kind {
            TypeKind::Scalarset { first, .. } => first,
            _ => 0,
        };
        let number = name.parse::<i64>().ok().and_then(|number| number.checked_add(origin));
        let value = number.filter(|&value| domain.contains(value));
        let is_called = |value: i64| model.value_name(ty, value) == name || self.value_title(model, value) == name;
        let by_name = || domain.values().take(1 << 16).find(|&value| is_called(value));
        value.or_else(by_name).ok_or_else(|| {
            let whose = match self {
                Self::Values(ty) => model.types[ty].name.as_deref().unwrap_or("that type"),
                Self::Elements(variable) => model.variable_title(variable),
            };
            format!("`{name}` is not a value of {whose}: {}", values_text(model, ty))
        })
    }
}

/// The values of a type for display: `1..9`, `red, green`.
fn values_text(model: &Model, ty: TypeId) -> String {
    let domain = model.domain(ty);
    let name = |value| short_value_name(model, ty, value);
    if domain.size() == 0 || domain.size() > 8 || matches!(model.types[ty].kind, TypeKind::Range { .. }) {
        return format!("{}..{}", name(domain.least()), name(domain.greatest()));
    }
    domain.values().map(name).collect::<Vec<_>>().join(", ")
}

/// A value without the name of its type, as in a request.
pub(crate) fn short_value_name(model: &Model, ty: TypeId, value: i64) -> String {
    match model.types[ty].kind {
        TypeKind::Scalarset { first, .. } => (value - first).to_string(),
        _ => model.value_name(ty, value),
    }
}
