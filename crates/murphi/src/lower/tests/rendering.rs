//! Lowered models as short text, to be compared in tests.

use quotient_ir::{
    Argument, Iteration, Local, LocalId, Model, MultisetElement, Parameter, ReturnValue, Statement, StatementKind,
    Table, TypeId, TypeKind, expression_text, place_text,
};

type Locals = Table<LocalId, Local>;

/// Rules, initial-state programs, properties and functions, one a line.
pub(super) fn owners(model: &Model) -> String {
    let mut lines = Vec::new();
    for function in model.functions.iter() {
        let parameters: Vec<&str> =
            function.parameters.iter().map(|&local| function.locals[local].name.as_str()).collect();
        let body = statements(model, &function.locals, &function.body);
        lines.push(format!("function {}({}) {body}", function.name, parameters.join(", ")));
    }
    for start in model.starts.iter() {
        let body = statements(model, &start.locals, &start.body);
        lines.push(format!("start{} {body}", parameters(model, &start.locals, &start.parameters)));
    }
    for rule in model.rules.iter() {
        let body = statements(model, &rule.locals, &rule.body);
        let guard = expression_text(model, &rule.locals, rule.guard);
        lines.push(format!("rule{} {guard} ==> {body}", parameters(model, &rule.locals, &rule.parameters)));
    }
    for property in model.properties.iter() {
        let condition = property.formula.condition().map(|it| expression_text(model, &property.locals, it));
        let parameters = parameters(model, &property.locals, &property.parameters);
        lines.push(format!("{:?}{parameters} {}", property.kind, condition.as_deref().unwrap_or("-")));
    }
    lines.join("\n")
}

fn parameters(model: &Model, locals: &Locals, parameters: &[Parameter]) -> String {
    let texts: Vec<String> = parameters
        .iter()
        .map(|parameter| format!("{} {}", locals[parameter.local].name, iteration(model, locals, &parameter.range)))
        .collect();
    if texts.is_empty() { String::new() } else { format!(" [{}]", texts.join("; ")) }
}

fn iteration(model: &Model, locals: &Locals, range: &Iteration) -> String {
    match range {
        Iteration::Over(ty) => format!("over {}", type_text(model, *ty)),
        Iteration::Steps { from, to, step } => {
            let text = |it| expression_text(model, locals, it);
            let step = step.map_or_else(String::new, |step| format!(" by {}", text(step)));
            format!("from {} to {}{step}", text(*from), text(*to))
        }
    }
}

/// A type in short: its name, or how it is built.
pub(super) fn type_text(model: &Model, ty: TypeId) -> String {
    let entry = &model.types[ty];
    if let Some(name) = &entry.name {
        return name.clone();
    }
    match &entry.kind {
        TypeKind::Integer => "integer".into(),
        TypeKind::Range { low, high } => format!("{low}..{high}"),
        other => format!("{other:?}"),
    }
}

/// Statements on one line.
pub(super) fn statements(model: &Model, locals: &Locals, body: &[Statement]) -> String {
    // What is printed has no effect.
    let effects = body.iter().filter(|it| !matches!(it.kind, StatementKind::Print(_)));
    let texts: Vec<String> = effects.map(|it| statement(model, locals, &it.kind)).collect();
    format!("{{{}}}", texts.join("; "))
}

fn statement(model: &Model, locals: &Locals, kind: &StatementKind) -> String {
    let value = |it| expression_text(model, locals, it);
    let place = |it| place_text(model, locals, it);
    let block = |it: &[Statement]| statements(model, locals, it);
    match kind {
        StatementKind::Assign { target, value: it } => format!("{} := {}", place(*target), value(*it)),
        StatementKind::Copy { target, source } => format!("copy {} := {}", place(*target), place(*source)),
        StatementKind::Clear(it) => format!("clear {}", place(*it)),
        StatementKind::Undefine(it) => format!("undefine {}", place(*it)),
        StatementKind::Bind { local, place: it } => format!("bind {} = {}", locals[*local].name, place(*it)),
        StatementKind::If { branches, otherwise } => {
            let mut texts: Vec<String> =
                branches.iter().map(|(condition, body)| format!("if {} {}", value(*condition), block(body))).collect();
            if !otherwise.is_empty() {
                texts.push(block(otherwise));
            }
            texts.join(" else ")
        }
        StatementKind::While { condition, body } => format!("while {} {}", value(*condition), block(body)),
        StatementKind::For { local, range, body } => {
            let entry = &locals[*local];
            let range = iteration(model, locals, range);
            format!("for {}: {} {range} {}", entry.name, type_text(model, entry.ty), block(body))
        }
        StatementKind::Call { function, arguments } => {
            let texts: Vec<String> = arguments
                .iter()
                .map(|argument| match *argument {
                    Argument::Value(it) => value(it),
                    Argument::Copy(it) => format!("copy {}", place(it)),
                    Argument::Reference(it) => format!("var {}", place(it)),
                    Argument::Undefined => "undefined".into(),
                })
                .collect();
            format!("call {}({})", model.functions[*function].name, texts.join(", "))
        }
        StatementKind::Print(_) => "print".into(),
        StatementKind::Return(None) => "return".into(),
        StatementKind::Return(Some(ReturnValue::Value(it))) => format!("return {}", value(*it)),
        StatementKind::Return(Some(ReturnValue::Copy(it))) => format!("return copy {}", place(*it)),
        StatementKind::Assert { condition, message, .. } => format!("assert {} {message:?}", value(*condition)),
        StatementKind::Require { condition, message } => format!("require {} {message:?}", value(*condition)),
        StatementKind::Assume(condition) => format!("assume {}", value(*condition)),
        StatementKind::Cover { condition, property } => {
            format!("cover {} {:?}", value(*condition), model.properties[*property].name)
        }
        StatementKind::Error { message } => format!("error {message:?}"),
        StatementKind::MultisetAdd { multiset, element } => {
            let element = match *element {
                MultisetElement::Value(it) => value(it),
                MultisetElement::Copy(it) => format!("copy {}", place(it)),
            };
            format!("add {element} to {}", place(*multiset))
        }
        StatementKind::MultisetRemove { multiset, position } => {
            format!("remove {} from {}", value(*position), place(*multiset))
        }
        StatementKind::MultisetRemoveIf { local, multiset, condition } => {
            format!("remove {} from {} if {}", locals[*local].name, place(*multiset), value(*condition))
        }
    }
}
