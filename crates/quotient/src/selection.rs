//! Selection of properties by name.

use quotient_ir::{Model, PropertyId};

use crate::names::{DEADLOCK, ERRORS, property_name};
use crate::refusal::Refusal;

/// All properties of a model, or those selected.
pub(crate) fn claims(model: &Model, selected: Option<&[PropertyId]>) -> Vec<PropertyId> {
    let properties = model.properties.iter_enumerated();
    properties
        .filter(|(id, property)| property.kind.is_claim() && selected.is_none_or(|selected| selected.contains(id)))
        .map(|(id, _)| id)
        .collect()
}

/// The properties with the given names, in order of declaration. The built-in properties are not among them, and not a
/// mistake either.
///
/// # Errors
/// If there is no property of a name.
pub(crate) fn named_properties(model: &Model, names: &[String]) -> Result<Vec<PropertyId>, Refusal> {
    let claims: Vec<_> = model
        .properties
        .iter_enumerated()
        .filter(|(_, property)| property.kind.is_claim())
        .map(|(id, _)| (id, property_name(model, id)))
        .collect();
    for name in names {
        let is_built_in = name == DEADLOCK || name == ERRORS;
        if !is_built_in && !claims.iter().any(|(_, claim)| claim == name) {
            let known = claims.iter().map(|(_, claim)| claim.as_str()).chain([DEADLOCK, ERRORS]);
            return Err(unknown_property(name, known.collect()));
        }
    }
    Ok(claims.iter().filter(|(_, claim)| names.contains(claim)).map(|&(id, _)| id).collect())
}

/// Suggests names: the nearest ones, or all if none is near and there are few.
fn unknown_property(name: &str, mut known: Vec<&str>) -> Refusal {
    const SUGGESTIONS: usize = 3;
    const FEW: usize = 12;
    const SIMILAR: f64 = 0.75;
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    known.dedup();
    let lower = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|&candidate| {
            let other = candidate.to_lowercase();
            let contained = !lower.is_empty() && (other.contains(&lower) || lower.contains(&other));
            (if contained { 1.0 } else { strsim::jaro_winkler(&lower, &other) }, candidate)
        })
        .filter(|&(similarity, _)| similarity >= SIMILAR)
        .collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    let near: Vec<&str> = near.into_iter().map(|(_, candidate)| candidate).take(SUGGESTIONS).collect();
    let hint = if !near.is_empty() {
        format!("; did you mean {}?", quoted(&near))
    } else if known.len() <= FEW {
        format!("; it has {}", quoted(&known))
    } else {
        String::new()
    };
    Refusal::UnknownProperty { name: name.to_owned(), hint }
}
