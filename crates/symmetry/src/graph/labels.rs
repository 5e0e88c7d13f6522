//! Labels for the vertices of a model's graph in drawings.

use quotient_functions::{Event, Operation, Relation};
use quotient_groups::Point;
use quotient_ir::{
    Action, Iteration, Layout, Local, LocalId, Model, Parameter, SlotId, Spent, Table, TableIndex, TypeId, TypeKind,
};

use super::{Colour, Encoder, Kind, Role};

/// A short label for each vertex: the slot, literal or event that it represents, or the meaning of its colour.
///
/// # Errors
/// If the budget is spent.
pub(super) fn all(
    model: &Model,
    layout: &Layout,
    encoder: &Encoder<'_>,
    events: Vec<(Point, String)>,
) -> Result<Vec<String>, Spent> {
    let mut colours = vec![String::new(); encoder.colours.len()];
    for (colour, &number) in &encoder.colours {
        colours[number as usize] = colour_name(model, colour);
    }
    let mut labels: Vec<String> = Vec::with_capacity(encoder.vertex_colours.len());
    for &colour in &encoder.vertex_colours {
        encoder.budget.spend(1)?;
        labels.push(colours[colour as usize].clone());
    }
    for (vertex, name) in events {
        labels[vertex as usize] = name;
    }
    let inputs = input_cells(model, encoder);
    for (slot, vertex) in encoder.slots.iter().enumerate() {
        encoder.budget.spend(1 + (encoder.literals[slot].len() + encoder.wide_literals.len() / 16) as u64)?;
        let (name, ty) = match layout.slots.as_slice().get(slot) {
            Some(entry) => (entry.name.clone(), Some(entry.ty)),
            None => match column_name(layout, encoder, slot as u32) {
                Some(named) => named,
                None => inputs.get(slot - layout.slots.len()).cloned().unwrap_or_default(),
            },
        };
        let shown = |value: Option<i64>| match (value, ty) {
            (None, _) => "undefined".to_owned(),
            (Some(value), Some(ty)) => model.value_name(ty, value),
            (Some(value), None) => value.to_string(),
        };
        if let Some(vertex) = vertex {
            labels[*vertex as usize].clone_from(&name);
        }
        let values = encoder.behaviour.circuit.values(slot as u32);
        for (position, vertex) in encoder.literals[slot].iter().enumerate() {
            if let Some(vertex) = vertex {
                labels[*vertex as usize] = format!("{name} = {}", shown(values[position]));
            }
        }
        for (&(_, value), vertex) in encoder.wide_literals.iter().filter(|((owner, _), _)| *owner as usize == slot) {
            labels[*vertex as usize] = format!("{name} = {}", shown(Some(value)));
        }
    }
    Ok(labels)
}

/// The name and type of a column: those of the slots in it, for any position.
fn column_name(layout: &Layout, encoder: &Encoder<'_>, slot: u32) -> Option<(String, Option<TypeId>)> {
    let mut multisets = encoder.behaviour.multisets.iter();
    let entry = multisets.find(|entry| (entry.columns..entry.columns + entry.stride).contains(&slot))?;
    let first = &layout.slots[SlotId::from_position(entry.slot(0, slot - entry.columns) as usize)];
    let name = match first.name.rfind("[0]") {
        Some(at) => format!("{}[*]{}", &first.name[..at], &first.name[at + 3..]),
        None => first.name.clone(),
    };
    Some((name, Some(first.ty)))
}

/// An event with its arguments: `enter(1)`.
pub(super) fn event(model: &Model, event: &Event) -> String {
    let (name, parameters, locals) = signature(model, event.action);
    let name = name.unwrap_or(if matches!(event.action, Action::Start(_)) { "start" } else { "rule" });
    if parameters.is_empty() || parameters.len() != event.arguments.len() {
        return name.to_owned();
    }
    let arguments: Vec<String> = parameters
        .iter()
        .zip(&event.arguments)
        .map(|(parameter, &value)| model.value_name(locals[parameter.local].ty, value))
        .collect();
    format!("{name}({})", arguments.join(", "))
}

fn signature(model: &Model, action: Action) -> (Option<&str>, &[Parameter], &Table<LocalId, Local>) {
    match action {
        Action::Start(start) => {
            let entry = &model.starts[start];
            (entry.name.as_deref(), &entry.parameters, &entry.locals)
        }
        Action::Rule(rule) => {
            let entry = &model.rules[rule];
            (entry.name.as_deref(), &entry.parameters, &entry.locals)
        }
    }
}

/// The names and types of the inputs, in their order.
fn input_cells(model: &Model, encoder: &Encoder<'_>) -> Vec<(String, Option<TypeId>)> {
    let mut cells = Vec::new();
    for (action, _) in &encoder.behaviour.inputs {
        let (_, parameters, locals) = signature(model, *action);
        for parameter in parameters {
            let local = &locals[parameter.local];
            match parameter.range {
                Iteration::Over(_) => name_cells(model, local.name.clone(), local.ty, &mut cells),
                Iteration::Steps { .. } => cells.push((local.name.clone(), Some(local.ty))),
            }
        }
    }
    cells
}

/// The depth of the recursion is that of the type.
fn name_cells(model: &Model, name: String, ty: TypeId, cells: &mut Vec<(String, Option<TypeId>)>) {
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
        _ => cells.push((name, Some(ty))),
    }
}

fn colour_name(model: &Model, colour: &Colour) -> String {
    match colour {
        Colour::Claim(property) => {
            let entry = &model.properties[*property];
            entry.name.clone().unwrap_or_else(|| "property".to_owned())
        }
        Colour::Role(role) => role_name(*role).to_owned(),
        Colour::Function { kind, .. } => kind_name(kind),
        Colour::Position => "position".to_owned(),
        other => format!("{other:?}"),
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Fault | Role::FaultAt(_) => "error if",
        Role::Dropped => "dropped if",
        Role::Cover(_) => "covers if",
        Role::Set | Role::SetIf | Role::SetNumber => ":=",
        Role::When => "if",
        Role::Undefined => "undefined if",
        Role::Add => "add",
    }
}

fn kind_name(kind: &Kind) -> String {
    let name = match kind {
        Kind::False => "false",
        Kind::True => "true",
        Kind::In => "one of",
        Kind::NotIn => "none of",
        Kind::Table => "table",
        Kind::Tuple => "row",
        Kind::And => "and",
        Kind::Or => "or",
        Kind::Compare(Relation::NotPositive) => "≤",
        Kind::Compare(Relation::Zero) => "=",
        Kind::Compare(Relation::NotZero) => "≠",
        Kind::LowSide(constant) => return format!("at most: {constant} +"),
        Kind::HighSide(constant) => return format!("at least: {constant} +"),
        Kind::Side(constant) | Kind::Form(constant) => return format!("{constant} +"),
        Kind::Coefficient(factor) => return format!("{factor} ×"),
        Kind::Product => "×",
        Kind::Operation(Operation::Divide) => "/",
        Kind::Operation(Operation::Remainder) => "%",
        Kind::Operation(Operation::ShiftLeft) => "<<",
        Kind::Operation(Operation::ShiftRight) => ">>",
        Kind::Operation(Operation::BitAnd) => "bits and",
        Kind::Operation(Operation::BitOr) => "bits or",
        Kind::Operation(Operation::BitXor) => "bits xor",
        Kind::Left => "left",
        Kind::Right => "right",
    };
    name.to_owned()
}
