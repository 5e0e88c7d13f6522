//! The places, transitions and sorts of a net. Their names are ids in attributes, so they are not renamed.

use quotient_ir::Source;
use quotient_kit::outline::{Builder, Kind};

use super::xml::Element;

/// The outline of a document, if it is one.
pub(super) fn outline<'s>(source: &'s Source, root: Option<&Element>) -> Builder<'s> {
    let mut builder = Builder::new(source);
    let mut pending: Vec<&Element> = root.into_iter().collect();
    while let Some(element) = pending.pop() {
        let kind = match element.name.as_str() {
            "place" => Some(Kind::Variable),
            "transition" => Some(Kind::Rule),
            "namedsort" => Some(Kind::Type),
            _ => None,
        };
        if let (Some(kind), Some(id)) = (kind, element.attribute("id")) {
            let name = element.label("name").filter(|name| !name.is_empty());
            let name = name.or(element.attribute("name")).unwrap_or(id);
            builder.add(name, kind, element.span, element.span, format!("{} {id}", element.name));
        }
        pending.extend(element.children.iter().rev());
    }
    builder
}
