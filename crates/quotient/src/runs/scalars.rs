//! Scalars in run files: truth values, numbers, names, or nothing.

use quotient_ir::{Model, TypeId, TypeKind};

use super::json::{Json, JsonKind};
use super::{Misfit, fault_at};

/// More names than this are not listed in a message.
const LISTED: u64 = 8;

/// A scalar; `null` if it is undefined.
pub(super) fn write(model: &Model, ty: TypeId, value: Option<i64>) -> Json {
    let Some(value) = value else { return Json::null() };
    match model.types[ty].kind {
        TypeKind::Boolean => Json::boolean(value != 0),
        TypeKind::Integer | TypeKind::Range { .. } => Json::number(value),
        _ => Json::text(model.value_name(ty, value)),
    }
}

/// Reads a scalar of a type; none if it is `null`.
pub(super) fn read(model: &Model, ty: TypeId, name: &str, json: &Json) -> Result<Option<i64>, Misfit> {
    let value = match (&model.types[ty].kind, &json.kind) {
        (_, JsonKind::Null) => return Ok(None),
        (TypeKind::Boolean, JsonKind::Boolean(value)) => Some(i64::from(*value)),
        (TypeKind::Integer, JsonKind::Number(_)) => json.as_integer(),
        (TypeKind::Range { .. }, JsonKind::Number(_)) => {
            json.as_integer().filter(|value| model.domain(ty).contains(*value))
        }
        (TypeKind::Boolean | TypeKind::Integer | TypeKind::Range { .. }, _) => None,
        (_, JsonKind::Text(text)) => model.domain(ty).values().find(|&value| model.value_name(ty, value) == *text),
        _ => None,
    };
    match value {
        Some(value) => Ok(Some(value)),
        None => Err(fault_at(json.span, format!("`{name}` cannot be {}", json.on_one_line()))
            .with_help(format!("its values are {}", values_text(model, ty)))),
    }
}

/// The values of a scalar type, in words.
fn values_text(model: &Model, ty: TypeId) -> String {
    match &model.types[ty].kind {
        TypeKind::Boolean => "true and false".into(),
        TypeKind::Integer => "integers of 64 bits".into(),
        TypeKind::Range { low, high } => format!("{low}..{high}"),
        _ => {
            let domain = model.domain(ty);
            let names =
                domain.values().take(LISTED as usize).map(|value| format!("\"{}\"", model.value_name(ty, value)));
            let more = if domain.size() > LISTED { ", …" } else { "" };
            format!("{}{more}", names.collect::<Vec<_>>().join(", "))
        }
    }
}
