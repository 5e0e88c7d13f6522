//! Names of properties, rules, starts and arguments, here and in every output. Unnamed objects are called by their kind
//! and number, counted from 1 in order of declaration.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use quotient_ir::{
    Action, Caption, Interpreter, Local, LocalId, Model, Parameter, Participant, Property, PropertyId, PropertyKind,
    Rule, RuleId, SourceStatement, Span, Start, StartId, Table, TableIndex, TypeId, TypeKind, Valuation,
};
use quotient_search::Subject;

/// The name of the built-in property that there is no deadlock.
pub const DEADLOCK: &str = "deadlock";
/// The name of the built-in property that there are no run-time errors.
pub const ERRORS: &str = "errors";

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

/// Rules that are one to those who read the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleGroup {
    /// Their name.
    pub name: String,
    /// The first of them, which is where they are.
    pub first: RuleId,
    /// Whether none of them ever fires.
    pub is_never_fired: bool,
}

/// The rules as the text has them, in the order of their first ones: an operation may be several rules (INITIALISATION is
/// none), and an event that several processes take part in, or that occurs in a definition used in several places, is one of
/// that name there.
pub fn rule_groups(model: &Model, never_fired: &[RuleId]) -> Vec<RuleGroup> {
    let mut never = vec![false; model.rules.len()];
    for rule in never_fired {
        never[rule.position()] = true;
    }
    let mut groups: Vec<RuleGroup> = Vec::new();
    let mut known: HashMap<(Option<&str>, Option<Span>), usize> = HashMap::new();
    for (id, rule) in model.rules.iter_enumerated() {
        let (key, name) = match model.operations.as_ref().map(|operations| &operations.calls[id]) {
            Some(call) if !call.is_operation => continue,
            Some(call) => ((Some(call.name.as_str()), None), visible(&call.name)),
            None => ((rule.name.as_deref(), Some(rule.span)), rule_name(model, id)),
        };
        let is_never_fired = never[id.position()];
        match known.entry(key) {
            Entry::Occupied(group) => groups[*group.get()].is_never_fired &= is_never_fired,
            Entry::Vacant(vacant) => {
                vacant.insert(groups.len());
                groups.push(RuleGroup { name, first: id, is_never_fired });
            }
        }
    }
    groups
}

/// The name of what a verdict is about.
pub fn subject_name(model: &Model, subject: Subject) -> String {
    match subject {
        Subject::Property(id) => property_name(model, id),
        Subject::Deadlock => DEADLOCK.to_owned(),
        Subject::Errors => ERRORS.to_owned(),
    }
}

/// The word for the kind of what a verdict is about.
pub fn subject_kind(model: &Model, subject: Subject) -> &'static str {
    match subject {
        Subject::Property(id) => property_kind(model, id),
        Subject::Deadlock => DEADLOCK,
        Subject::Errors => ERRORS,
    }
}

/// The title of what a verdict is about, for human readers: `invariant "mutual exclusion"`, `no deadlock`.
pub fn subject_title(model: &Model, subject: Subject) -> String {
    match subject {
        Subject::Property(id) => property_title(model, id),
        Subject::Deadlock | Subject::Errors => format!("no {}", subject_name(model, subject)),
    }
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

/// The title of an action for human readers: `Rule "SendReqS"`, `Rule 3`.
pub fn action_title(model: &Model, action: Action) -> String {
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
pub fn participants(model: &Model, action: Action, arguments: &[i64]) -> Option<Vec<String>> {
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
pub fn is_remark(model: &Model, action: Action) -> bool {
    let Action::Rule(rule) = action else { return false };
    let caption = model.presentation.as_ref().and_then(|presentation| presentation.caption(rule));
    matches!(caption, Some(Caption::Remark(..)))
}

/// An action of a model with operations for human readers: `operation choose(n=bob) --> r=TRUE`. Arguments that follow
/// from the state, and results, are included if the previous state is given.
pub fn operation_title(
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

/// An instance for human readers, in two parts: what it is called, `Rule "SendReqS"`, and the rest of its title, its
/// arguments `, i: id_2`. What follows from the previous state is included if that is given.
pub fn instance_title(
    interpreter: &Interpreter<'_>,
    action: Action,
    arguments: &[i64],
    before: Option<&Valuation>,
) -> (String, String) {
    let model = interpreter.model();
    let own = || operation_title(interpreter, action, arguments, before);
    if let Some(title) = joint_title(model, action, arguments).or_else(own) {
        return (title, String::new());
    }
    let arguments = action_arguments_text(model, action, arguments);
    let rest = if arguments.is_empty() { arguments } else { format!(", {arguments}") };
    (action_title(model, action), rest)
}

/// The location of a step: of the statement that the first participant executes, or of the rule or start.
pub fn step_span(model: &Model, action: Action) -> Span {
    let statement = || {
        let Action::Rule(rule) = action else { return None };
        let presentation = model.presentation.as_ref()?;
        let participant = match presentation.caption(rule)? {
            Caption::Statements(all) => all.first()?,
            Caption::Remark(participant, _) => participant.as_ref()?,
        };
        Some(presentation.statements[participant.statement].span)
    };
    statement().unwrap_or_else(|| action_span(model, action))
}

/// All participants in an action, on one line.
pub fn joint_title(model: &Model, action: Action, arguments: &[i64]) -> Option<String> {
    let lines = participants(model, action, arguments)?;
    Some(match &lines[..] {
        [first, second] => format!("{first} → {second}"),
        [first, .., last] => format!("{first} … {last}"),
        lines => lines.concat(),
    })
}

/// The location of an action.
pub fn action_span(model: &Model, action: Action) -> Span {
    match action {
        Action::Start(start) => model.starts[start].span,
        Action::Rule(rule) => model.rules[rule].span,
    }
}

/// Whether an action was given a name.
pub fn action_is_named(model: &Model, action: Action) -> bool {
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
pub fn action_arguments_text(model: &Model, action: Action, arguments: &[i64]) -> String {
    let texts = argument_texts(model, action_signature(model, action), arguments);
    texts.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// The arguments of a property for human readers; empty if there are none.
pub fn property_arguments_text(model: &Model, property: PropertyId, arguments: &[i64]) -> String {
    let Property { parameters, locals, .. } = &model.properties[property];
    let texts = argument_texts(model, Signature { parameters, locals }, arguments);
    texts.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// An action with its arguments as the label of an edge: `SendReqS(id_2)`.
pub fn edge_label(interpreter: &Interpreter<'_>, action: Action, arguments: &[i64]) -> String {
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
pub fn scalar_text(model: &Model, ty: TypeId, value: Option<i64>) -> String {
    value.map_or_else(|| "undefined".to_owned(), |value| model.value_name(ty, value))
}

/// A value of any type on one line: `{kind: Req, from: Proc_1}`, `[true, false]`.
pub fn value_text(model: &Model, ty: TypeId, cells: &mut impl Iterator<Item = Option<i64>>) -> String {
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
pub fn kind_title(model: &Model, property: PropertyId) -> &'static str {
    match model.properties[property].kind {
        PropertyKind::AlwaysReachable => "liveness (AG EF)",
        _ => property_kind(model, property),
    }
}
