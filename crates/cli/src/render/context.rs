//! Why a property is violated at the end of a run: the call stack, the values of bound variables, and the decisive part
//! of a condition.

use std::fmt::Write;

use quotient::Language;
use quotient_ir::{FailureContext, Interpreter, Layout, Model, NamedValue, Valuation, Violation};
use serde::ser::{Serialize, Serializer};

use crate::render::diagnostics::Lines;
use crate::terminal::{Palette, visible};

/// Why a property is violated in the last state of a run. Part of a condition is shown as in the text; if it does not
/// occur there, it is shown only if the representation reads like the language.
pub(crate) fn failure_context(
    model: &Model,
    layout: &Layout,
    violation: &Violation,
    last: Option<&Valuation>,
) -> FailureContext {
    let mut context = Interpreter::new(model, layout).explain(violation, last);
    let reads_like_text = Language::from_file_name(&model.source.name).is_none_or(|it| it == Language::Murphi);
    if !reads_like_text {
        context.part = context.part.filter(|part| part.span.is_some());
        context.calls.clear();
    }
    context
}

/// The context as text, one line per item.
pub(crate) fn context_lines(model: &Model, context: &FailureContext, indent: &str, palette: Palette) -> String {
    let mut text = String::new();
    for call in &context.calls {
        let arguments = pairs(&call.arguments, ": ");
        let place = palette.faint(&format!("(called from {})", model.source.locate(call.span)));
        let _ = writeln!(text, "{indent}in {}({arguments}) {place}", visible(&call.function));
    }
    let bindings = pairs(&context.bindings, " = ");
    let Some(part) = &context.part else {
        if !bindings.is_empty() {
            let _ = writeln!(text, "{indent}for {bindings}");
        }
        return text;
    };
    let word = if part.holds { "true" } else { "false" };
    let bound = if bindings.is_empty() { String::new() } else { format!(" for {bindings}") };
    let place = part
        .span
        .map_or_else(String::new, |span| format!(" {}", palette.faint(&format!("({})", model.source.locate(span)))));
    let _ = writeln!(text, "{indent}{word}{bound}: {}{place}", palette.strong(&visible(&part.text)));
    for given in &part.given {
        let _ = writeln!(text, "{indent}  while {}", visible(given));
    }
    if !part.values.is_empty() {
        let _ = writeln!(text, "{indent}  here {}", pairs(&part.values, " = "));
    }
    text
}

fn pairs(values: &[NamedValue], between: &str) -> String {
    let pair = |NamedValue { name, value }: &NamedValue| format!("{}{between}{}", visible(name), visible(value));
    values.iter().map(pair).collect::<Vec<_>>().join(", ")
}

/// The context as JSON.
#[derive(serde::Serialize)]
pub(super) struct ContextObject<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallObject<'a>>,
    #[serde(skip_serializing_if = "ValuesObject::is_empty")]
    bindings: ValuesObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<PartObject<'a>>,
}

/// An active call.
#[derive(serde::Serialize)]
struct CallObject<'a> {
    function: String,
    arguments: ValuesObject,
    file: &'a str,
    line: usize,
    column: usize,
}

/// The decisive part of a condition.
#[derive(serde::Serialize)]
struct PartObject<'a> {
    text: String,
    /// Its actual value, which it should not have.
    value: bool,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    /// Conditions that hold, and without which it would not matter.
    given: Vec<String>,
    /// The values that it reads.
    values: ValuesObject,
}

/// Values by their names.
struct ValuesObject(Vec<NamedValue>);

impl ValuesObject {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for ValuesObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|NamedValue { name, value }| (name, value)))
    }
}

impl<'a> ContextObject<'a> {
    /// The object of a context, if it is not empty.
    pub(super) fn of(lines: &Lines<'a>, context: FailureContext) -> Option<Self> {
        if context.is_empty() {
            return None;
        }
        let calls = context.calls.into_iter().map(|call| {
            let place = lines.place(call.span);
            CallObject {
                function: call.function,
                arguments: ValuesObject(call.arguments),
                file: place.file,
                line: place.line,
                column: place.column,
            }
        });
        let part = context.part.map(|part| {
            let place = part.span.map(|span| lines.place(span));
            PartObject {
                text: part.text,
                value: part.holds,
                file: place.map(|place| place.file),
                line: place.map(|place| place.line),
                column: place.map(|place| place.column),
                given: part.given,
                values: ValuesObject(part.values),
            }
        });
        Some(Self { calls: calls.collect(), bindings: ValuesObject(context.bindings), part })
    }
}
