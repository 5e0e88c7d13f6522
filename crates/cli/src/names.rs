//! Names of the parts of a model in every output: starts, actions, arguments and values, and the names that the library
//! provides. Unnamed objects are called by their kind and number, counted from 1 in order of declaration.

use quotient::names::visible;
pub(crate) use quotient::names::{
    NamedArgument, action_arguments, action_name, property_arguments, property_kind, property_name, property_title,
    rule_name,
};
use quotient_ir::{
    Action, Caption, Interpreter, Local, LocalId, Model, Parameter, Participant, Property, PropertyId, PropertyKind,
    Rule, SourceStatement, Span, Start, Table, TableIndex, TypeId, TypeKind, Valuation,
};

/// The title of an action for human readers: `Rule "SendReqS"`, `Rule 3`.
pub(crate) fn action_title(model: &Model, action: Action) -> String {
    let (word, name, number) = match action {
        Action::Start(start) => ("Startstate", &model.starts[start].name, start.position() + 1),
        Action::Rule(rule) => ("Rule", &model.rules[rule].name, rule.position() + 1),
    };
    match name {
        Some(name) => format!("{word} \"{}\"", visible(name)),
        None => format!("{word} {number}"),
    }
}

/// The processes that take part in an action and the statements they execute, one per line:
/// `proc 1 (client) model.pml:13 [service!request]`. None if the model has no processes.
pub(crate) fn participants(model: &Model, action: Action, arguments: &[i64]) -> Option<Vec<String>> {
    let presentation = model.presentation.as_ref()?;
    let rule = match action {
        Action::Start(_) => return Some(vec!["initial state".into()]),
        Action::Rule(rule) => rule,
    };
    let line = |participant: &Participant| {
        let SourceStatement { process, span, line, text, .. } = &presentation.statements[participant.statement];
        let (number, file) = (participant.number.of(arguments), model.source.short_name(span.start));
        format!("proc {number} ({process}) {file}:{line} [{}]", visible(text))
    };
    Some(match presentation.caption(rule)? {
        Caption::Statements(all) => all.iter().map(line).collect(),
        Caption::Remark(Some(participant), remark) => vec![format!("{} {remark}", line(participant))],
        Caption::Remark(None, remark) => vec![remark.clone()],
    })
}

/// Whether an action does not correspond to a step of the text.
pub(crate) fn is_remark(model: &Model, action: Action) -> bool {
    let Action::Rule(rule) = action else { return false };
    let caption = model.presentation.as_ref().and_then(|presentation| presentation.caption(rule));
    matches!(caption, Some(Caption::Remark(..)))
}

/// An action of a model with operations for human readers: `operation choose(n=bob) --> r=TRUE`. Arguments that follow
/// from the state, and results, are included if the previous state is given.
pub(crate) fn operation_title(
    interpreter: &Interpreter<'_>,
    action: Action,
    arguments: &[i64],
    before: Option<&Valuation>,
) -> Option<String> {
    let operations = interpreter.model().operations.as_ref()?;
    let mut text = visible(&operations.call_text(interpreter, action, arguments, before));
    if operations.is_operation(action) {
        text.insert_str(0, "operation ");
    }
    let results = before.map(|before| operations.results(interpreter, action, arguments, before)).unwrap_or_default();
    for (position, (name, value)) in results.iter().enumerate() {
        let sign = if position == 0 { " -->" } else { "," };
        text.push_str(&format!("{sign} {name}={}", visible(value)));
    }
    Some(text)
}

/// All participants in an action, on one line.
pub(crate) fn joint_title(model: &Model, action: Action, arguments: &[i64]) -> Option<String> {
    let lines = participants(model, action, arguments)?;
    Some(match &lines[..] {
        [first, second] => format!("{first} → {second}"),
        [first, .., last] => format!("{first} … {last}"),
        lines => lines.concat(),
    })
}

/// The location of an action.
pub(crate) fn action_span(model: &Model, action: Action) -> Span {
    match action {
        Action::Start(start) => model.starts[start].span,
        Action::Rule(rule) => model.rules[rule].span,
    }
}

/// Whether an action was given a name.
pub(crate) fn action_is_named(model: &Model, action: Action) -> bool {
    match action {
        Action::Start(start) => model.starts[start].name.is_some(),
        Action::Rule(rule) => model.rules[rule].name.is_some(),
    }
}

/// The parameters of an action or property, with the locals they belong to.
#[derive(Clone, Copy)]
struct Signature<'m> {
    parameters: &'m [Parameter],
    locals: &'m Table<LocalId, Local>,
}

fn action_signature(model: &Model, action: Action) -> Signature<'_> {
    match action {
        Action::Start(start) => {
            let Start { parameters, locals, .. } = &model.starts[start];
            Signature { parameters, locals }
        }
        Action::Rule(rule) => {
            let Rule { parameters, locals, .. } = &model.rules[rule];
            Signature { parameters, locals }
        }
    }
}

/// The arguments of an action for human readers: `i: id_2, votes: [true, false]`; empty if there are none.
pub(crate) fn action_arguments_text(model: &Model, action: Action, arguments: &[i64]) -> String {
    let texts = argument_texts(model, action_signature(model, action), arguments);
    texts.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// The arguments of a property for human readers; empty if there are none.
pub(crate) fn property_arguments_text(model: &Model, property: PropertyId, arguments: &[i64]) -> String {
    let Property { parameters, locals, .. } = &model.properties[property];
    let texts = argument_texts(model, Signature { parameters, locals }, arguments);
    texts.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// An action with its arguments as the label of an edge: `SendReqS(id_2)`.
pub(crate) fn edge_label(interpreter: &Interpreter<'_>, action: Action, arguments: &[i64]) -> String {
    let model = interpreter.model();
    if let Some(title) = joint_title(model, action, arguments) {
        return title;
    }
    if let Some(operations) = &model.operations {
        return visible(&operations.call_text(interpreter, action, arguments, None));
    }
    let name = action_name(model, action);
    let texts = argument_texts(model, action_signature(model, action), arguments);
    let values: Vec<String> = texts.map(|(_, value)| value).collect();
    if values.is_empty() { name } else { format!("{name}({})", values.join(", ")) }
}

fn argument_texts<'m>(
    model: &'m Model,
    signature: Signature<'m>,
    arguments: &[i64],
) -> impl Iterator<Item = (&'m str, String)> {
    let mut cells = arguments.iter().copied().map(Some);
    signature.parameters.iter().map(move |parameter| {
        let local = &signature.locals[parameter.local];
        (local.name.as_str(), value_text(model, local.ty, &mut cells))
    })
}

/// A scalar in source notation.
pub(crate) fn scalar_text(model: &Model, ty: TypeId, value: Option<i64>) -> String {
    value.map_or_else(|| "undefined".to_owned(), |value| model.value_name(ty, value))
}

/// A value of any type on one line: `{kind: Req, from: Proc_1}`, `[true, false]`.
pub(crate) fn value_text(model: &Model, ty: TypeId, cells: &mut impl Iterator<Item = Option<i64>>) -> String {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            let elements: Vec<String> =
                model.domain(*index).values().map(|_| value_text(model, *element, cells)).collect();
            format!("[{}]", elements.join(", "))
        }
        TypeKind::Record { fields } => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{}: {}", field.name, value_text(model, field.ty, cells))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        TypeKind::Multiset { capacity, element } => {
            let mut elements = Vec::new();
            for _ in 0..*capacity {
                let is_present = cells.next() == Some(Some(1));
                let text = value_text(model, *element, cells);
                if is_present {
                    elements.push(text);
                }
            }
            format!("{{|{}|}}", elements.join(", "))
        }
        _ => scalar_text(model, ty, cells.next().flatten()),
    }
}

/// The word for a kind of property, with an explanation if the word alone may mislead: Murphi's liveness means that
/// something *can* happen, not that it will.
pub(crate) fn kind_title(model: &Model, property: PropertyId) -> &'static str {
    match model.properties[property].kind {
        PropertyKind::AlwaysReachable => "liveness (AG EF)",
        _ => property_kind(model, property),
    }
}
