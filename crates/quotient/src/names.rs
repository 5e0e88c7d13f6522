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
        PropertyKind::Remark => "remark",
    }
}

/// The word for the kind of a property: that of its kind, unless the language has one of its own for it.
pub fn property_kind(model: &Model, property: PropertyId) -> &'static str {
    if model.assertions.contains(&property) { "assertion" } else { kind_name(model.properties[property].kind) }
}

/// The name of a property; one without a name is counted among its kind.
pub fn property_name(model: &Model, property: PropertyId) -> String {
    let entry = &model.properties[property];
    match &entry.name {
        Some(name) => visible(name),
        None => format!("{} {}", property_kind(model, property), number_in_kind(model, property)),
    }
}

/// A property as a title for people: `invariant "mutual exclusion"`, `invariant 2`.
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
