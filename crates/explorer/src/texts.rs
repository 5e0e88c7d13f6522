//! Parts of a model as JSON: places, instances, states, changes.

use quotient::ir::{Action, Interpreter, Span, TableIndex, TypeKind, Valuation};
use quotient::names::{
    action_name, action_span, edge_label, property_kind, property_name, property_title, step_span, visible,
};
use quotient::shown::{Change, Entry, StateShape, describe_violation};
use quotient::walk::{self, Consequence};
use quotient::{Language, Model};
use serde_json::{Value, json};

/// A place in the text.
pub(crate) fn place(model: &Model, span: Span) -> Value {
    if span == Span::default() {
        return Value::Null;
    }
    let source = model.source();
    let (line, column) = source.line_and_column(span.start);
    json!({ "file": source.file_at(span.start).0, "line": line, "column": column })
}

/// The place of a step.
pub(crate) fn place_of_step(model: &Model, action: Action) -> Value {
    place(model, step_span(model.ir(), action))
}

/// A start or rule with arguments.
pub(crate) fn instance(interpreter: &Interpreter<'_>, model: &Model, action: Action, arguments: &[i64]) -> Value {
    let (key, position) = match action {
        Action::Start(start) => ("start", start.position()),
        Action::Rule(rule) => ("rule", rule.position()),
    };
    json!({
        key: position,
        "arguments": arguments,
        "label": edge_label(interpreter, action, arguments),
        "place": place_of_step(model, action),
    })
}

/// The entries of a state.
pub(crate) fn state(shape: &StateShape<'_>, state: &Valuation) -> Value {
    let entry = |Entry { name, value }| json!({ "name": name, "value": visible(&value) });
    shape.entries(state).into_iter().map(entry).collect()
}

/// The differences between two states.
pub(crate) fn changes(shape: &StateShape<'_>, before: &Valuation, after: &Valuation) -> Value {
    let object = |name: String, kind: &str, before: Option<String>, after: Option<String>| {
        let text = |text: Option<String>| text.map(|text| visible(&text));
        json!({ "name": name, "kind": kind, "before": text(before), "after": text(after) })
    };
    let change = |change| match change {
        Change::Value { name, before, after } => object(name, "value", Some(before), Some(after)),
        Change::Became { name, value } => object(name, "became", None, Some(value)),
        Change::Moved { name, places } => object(name, "moved", None, Some(places)),
        Change::Started { name } => object(name, "started", None, None),
        Change::Added { name, element } => object(name, "added", None, Some(element)),
        Change::Removed { name, element } => object(name, "removed", Some(element), None),
    };
    shape.changes(before, after).into_iter().map(change).collect()
}

/// What is wrong with a state, if anything.
pub(crate) fn violation(interpreter: &Interpreter<'_>, state: &Valuation) -> Option<String> {
    let violation = walk::violated_invariant(interpreter, state)?;
    Some(describe_violation(interpreter.model(), interpreter.layout(), &violation).message)
}

/// What goes wrong in a step, if anything.
pub(crate) fn fault(interpreter: &Interpreter<'_>, consequence: &Consequence) -> Option<String> {
    match consequence {
        Consequence::State(_) => None,
        Consequence::Violation(violation) => {
            Some(describe_violation(interpreter.model(), interpreter.layout(), violation).message)
        }
        Consequence::Exhausted(fault) => Some(format!("this step cannot be followed: {}", visible(&fault.message))),
    }
}

/// The whole model.
pub(crate) fn model(model: &Model, command: &str) -> Value {
    let (ir, source) = (model.ir(), model.source());
    let mut files = Vec::new();
    let mut start = 0;
    while start <= source.text.len() {
        let (name, range) = source.file_at(start as u32);
        files.push(json!({ "name": name, "text": &source.text[range.clone()] }));
        // The line break between two files belongs to neither.
        start = range.end + 1;
        if source.files.iter().all(|(other, _)| (*other as usize) < start) {
            break;
        }
    }
    let variables = ir.variables.iter().map(|variable| {
        let kind = match &ir.types[variable.ty].kind {
            TypeKind::Array { .. } => "array",
            TypeKind::Record { .. } => "record",
            TypeKind::Multiset { .. } => "multiset",
            _ => "scalar",
        };
        json!({ "name": variable.name, "type": kind, "place": place(model, variable.span) })
    });
    let action = |action| json!({ "name": action_name(ir, action), "place": place(model, action_span(ir, action)) });
    let property = |id| {
        let entry = &ir.properties[id];
        json!({
            "name": property_name(ir, id),
            "kind": property_kind(ir, id),
            "title": property_title(ir, id),
            "place": place(model, entry.span),
        })
    };
    json!({
        "name": source.short_name(0),
        "language": model.language().map(Language::identifier),
        "command": command,
        "files": files,
        "variables": variables.collect::<Vec<_>>(),
        "rules": ir.rules.indices().map(|rule| action(Action::Rule(rule))).collect::<Vec<_>>(),
        "starts": ir.starts.indices().map(|start| action(Action::Start(start))).collect::<Vec<_>>(),
        "properties": ir.properties.indices().filter(|id| ir.properties[*id].kind.is_claim()).map(property)
            .collect::<Vec<_>>(),
    })
}
