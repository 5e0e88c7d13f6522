//! Names of properties, rules, starts and arguments, here and in every output. Unnamed objects are called by their kind
//! and number, counted from 1 in order of declaration.

use quotient_ir::{
    Action, Local, LocalId, Model, Parameter, Property, PropertyId, PropertyKind, RuleId, StartId, Table, TableIndex,
    TypeId, TypeKind,
};

/// Text from a model, made safe to show on one line of a terminal.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The name of a rule.
pub fn rule_name(model: &Model, rule: RuleId) -> String {
    model.rules[rule].name.as_deref().map_or_else(|| format!("rule {}", rule.position() + 1), visible)
}

/// The word for a kind of property, also used in JSON.
pub fn kind_name(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Invariant => "invariant",
        PropertyKind::Assumption => "assumption",
        PropertyKind::Cover => "cover",
        PropertyKind::AlwaysReachable => "liveness",
        PropertyKind::Passing => "passing",
        PropertyKind::Constraint => "constraint",
        PropertyKind::Remark => "remark",
        PropertyKind::Temporal => "temporal",
        PropertyKind::Atom => "atom",
    }
}

/// The word for the kind of a property: the general one, unless the language has its own.
pub fn property_kind(model: &Model, property: PropertyId) -> &'static str {
    if model.assertions.contains(&property) { "assertion" } else { kind_name(model.properties[property].kind) }
}

/// The name of a property; unnamed ones are numbered within their kind.
pub fn property_name(model: &Model, property: PropertyId) -> String {
    let entry = &model.properties[property];
    match &entry.name {
        Some(name) => visible(name),
        None => format!("{} {}", property_kind(model, property), number_in_kind(model, property)),
    }
}

/// The title of a property for human readers: `invariant "mutual exclusion"`, `invariant 2`.
pub fn property_title(model: &Model, property: PropertyId) -> String {
    let entry = &model.properties[property];
    match &entry.name {
        Some(name) => format!("{} \"{}\"", property_kind(model, property), visible(name)),
        None => format!("{} {}", property_kind(model, property), number_in_kind(model, property)),
    }
}

fn number_in_kind(model: &Model, property: PropertyId) -> usize {
    let kind = property_kind(model, property);
    let properties = model.properties.iter_enumerated().take(property.position() + 1);
    properties.filter(|(other, _)| property_kind(model, *other) == kind).count()
}

/// An argument of an instance, cell by cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedArgument {
    /// The parameter's name, with the path into it if it is an array or record.
    pub name: String,
    /// The type of the value.
    pub ty: TypeId,
    /// The value.
    pub value: i64,
}

/// The name of a start.
pub fn start_name(model: &Model, start: StartId) -> String {
    model.starts[start].name.as_deref().map_or_else(|| format!("startstate {}", start.position() + 1), visible)
}

/// The name of an action.
pub fn action_name(model: &Model, action: Action) -> String {
    match action {
        Action::Start(start) => start_name(model, start),
        Action::Rule(rule) => rule_name(model, rule),
    }
}

/// The arguments of an action, cell by cell.
pub fn action_arguments(model: &Model, action: Action, arguments: &[i64]) -> Vec<NamedArgument> {
    let (parameters, locals) = match action {
        Action::Start(start) => (&model.starts[start].parameters, &model.starts[start].locals),
        Action::Rule(rule) => (&model.rules[rule].parameters, &model.rules[rule].locals),
    };
    named_arguments(parameter_cells(model, parameters, locals), arguments)
}

/// The arguments of a property, cell by cell.
pub fn property_arguments(model: &Model, property: PropertyId, arguments: &[i64]) -> Vec<NamedArgument> {
    let Property { parameters, locals, .. } = &model.properties[property];
    named_arguments(parameter_cells(model, parameters, locals), arguments)
}

fn named_arguments(cells: Vec<(String, TypeId)>, arguments: &[i64]) -> Vec<NamedArgument> {
    let named = cells.into_iter().zip(arguments);
    named.map(|((name, ty), &value)| NamedArgument { name, ty, value }).collect()
}

/// The names and types of the cells of parameters, in the order of the arguments.
pub(crate) fn parameter_cells(
    model: &Model,
    parameters: &[Parameter],
    locals: &Table<LocalId, Local>,
) -> Vec<(String, TypeId)> {
    let mut cells = Vec::new();
    for parameter in parameters {
        let local = &locals[parameter.local];
        name_cells(model, local.name.clone(), local.ty, &mut cells);
    }
    cells
}

/// Names the cells of a type in the order of the layout.
fn name_cells(model: &Model, name: String, ty: TypeId, cells: &mut Vec<(String, TypeId)>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for value in model.domain(*index).values() {
                name_cells(model, format!("{name}[{}]", model.value_name(*index, value)), *element, cells);
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                name_cells(model, format!("{name}.{}", field.name), field.ty, cells);
            }
        }
        _ => cells.push((name, ty)),
    }
}
