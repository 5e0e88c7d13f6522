//! What properties and rules are called, here and in every output. Things without a name are called by their
//! kind and number, counted from 1 in order of declaration.

use quotient_ir::{Model, PropertyId, PropertyKind, RuleId, TableIndex};

/// Text from a model made safe to show on one line of a terminal.
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

/// The word for a kind of property, which programs read, too.
pub fn kind_name(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Invariant => "invariant",
        PropertyKind::Assumption => "assumption",
        PropertyKind::Cover => "cover",
        PropertyKind::AlwaysReachable => "liveness",
        PropertyKind::Passing => "passing",
    }
}

/// The name of a property; one without a name is counted among its kind.
pub fn property_name(model: &Model, property: PropertyId) -> String {
    let entry = &model.properties[property];
    match &entry.name {
        Some(name) => visible(name),
        None => format!("{} {}", kind_name(entry.kind), number_in_kind(model, property)),
    }
}

/// A property as a title for people: `invariant "mutual exclusion"`, `invariant 2`.
pub fn property_title(model: &Model, property: PropertyId) -> String {
    let entry = &model.properties[property];
    match &entry.name {
        Some(name) => format!("{} \"{}\"", kind_name(entry.kind), visible(name)),
        None => format!("{} {}", kind_name(entry.kind), number_in_kind(model, property)),
    }
}

fn number_in_kind(model: &Model, property: PropertyId) -> usize {
    let kind = model.properties[property].kind;
    model.properties.iter().take(property.position() + 1).filter(|other| other.kind == kind).count()
}
