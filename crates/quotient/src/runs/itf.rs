//! The Informal Trace Format of Apalache and Quint: <https://apalache-mc.org/docs/adr/015adr-trace.html>.
//!
//! It has states, but no steps. The steps are reconstructed by following the runs of the model that have these states;
//! if several actions do, a hint that this program writes decides.

use std::io::{self, Write};

use quotient_ir::{
    Index, Interpreter, Layout, Model as IrModel, Notation, Trace, TraceStep, TypeId, TypeKind, Valuation,
};

use super::follow::{Followed, Lost, PossibleStep, follow};
use super::json::{Json, JsonKind, Member, quoted};
use super::{Misfit, RunOrigin, document, fault_at, start_of};
use crate::model::Model;
use crate::names::{action_arguments, action_name, visible};

/// Where the format is described.
const DESCRIPTION: &str = "https://apalache-mc.org/docs/adr/015adr-trace.html";
/// The key of the metadata of an object.
const META: &str = "#meta";

/// Writes a run.
pub(super) fn write(out: &mut dyn Write, model: &Model, origin: &RunOrigin<'_>, trace: &Trace) -> io::Result<()> {
    let (ir, layout) = (model.ir(), model.layout());
    let meta = Json::object([
        ("format", Json::text("ITF")),
        ("format-description", Json::text(DESCRIPTION)),
        ("source", Json::text(&model.source().name)),
        ("description", Json::text(format!("Created by quotient {}", env!("CARGO_PKG_VERSION")))),
        ("quotient", Json::object(document::header(model, origin, trace))),
    ]);
    writeln!(out, "{{\n  {}: {},", quoted(META), meta.on_lines(2))?;
    writeln!(out, "  \"params\": [],")?;
    let names = Json::list(ir.variables.iter().map(|variable| Json::text(&variable.name)));
    writeln!(out, "  \"vars\": {},", names.on_lines(2))?;
    // The last state of a lasso is the first of its loop, and is not written twice.
    let written = match trace.cycle {
        Some(begin) => {
            writeln!(out, "  \"loop\": {begin},")?;
            &trace.steps[..trace.steps.len() - 1]
        }
        None => &trace.steps[..],
    };
    write!(out, "  \"states\": [")?;
    for (number, step) in written.iter().enumerate() {
        let action = action_text(ir, step);
        let meta = Json::object([("index", Json::number(number)), ("action", Json::text(action))]);
        let state = Json::object(std::iter::once((META.to_owned(), meta)).chain(variables(ir, layout, &step.state)));
        write!(out, "{}\n    {}", if number == 0 { "" } else { "," }, state.on_lines(4))?;
    }
    writeln!(out, "\n  ]\n}}")
}

/// An action with its arguments.
fn action_text(model: &IrModel, step: &TraceStep) -> String {
    action_line(model, step.action, &step.arguments)
}

fn action_line(model: &IrModel, action: quotient_ir::Action, arguments: &[i64]) -> String {
    let arguments = action_arguments(model, action, arguments);
    let texts = arguments.iter().map(|it| format!("{} = {}", it.name, model.value_name(it.ty, it.value)));
    let texts: Vec<String> = texts.collect();
    let name = action_name(model, action);
    if texts.is_empty() { name } else { format!("{name}({})", texts.join(", ")) }
}

/// The variables of a state with their values.
fn variables<'m>(
    model: &'m IrModel,
    layout: &'m Layout,
    state: &'m Valuation,
) -> impl Iterator<Item = (String, Json)> + use<'m> {
    model.variables.iter_enumerated().map(move |(id, variable)| {
        use quotient_ir::TableIndex;
        let first = layout.first_slot(id).position();
        let mut cells = state.0[first..].iter().copied();
        let notation = model.notations.iter().find(|(it, _)| *it == id).map(|(_, notation)| notation);
        let value = match notation {
            Some(notation) => notated(model, variable.ty, notation, &mut cells),
            None => value(model, variable.ty, &mut cells),
        };
        (variable.name.clone(), value)
    })
}

fn scalar(model: &IrModel, ty: TypeId, value: Option<i64>) -> Json {
    let Some(value) = value else { return Json::object([("#unserializable", Json::text("undefined"))]) };
    match model.types[ty].kind {
        TypeKind::Boolean => Json::boolean(value != 0),
        TypeKind::Integer | TypeKind::Range { .. } => Json::object([("#bigint", Json::text(value.to_string()))]),
        _ => Json::text(model.value_name(ty, value)),
    }
}

/// A value: arrays are maps, multisets are lists of their elements.
fn value(model: &IrModel, ty: TypeId, cells: &mut dyn Iterator<Item = Option<i64>>) -> Json {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => map(model
            .domain(*index)
            .values()
            .map(|key| (scalar(model, *index, Some(key)), value(model, *element, cells)))),
        TypeKind::Record { fields } => {
            Json::object(fields.iter().map(|field| (field.name.clone(), value(model, field.ty, cells))))
        }
        TypeKind::Multiset { capacity, element } => {
            let mut elements = Vec::new();
            for _ in 0..*capacity {
                let is_present = cells.next() == Some(Some(1));
                let element = value(model, *element, cells);
                if is_present {
                    elements.push(element);
                }
            }
            Json::list(elements)
        }
        _ => scalar(model, ty, cells.next().flatten()),
    }
}

fn map(pairs: impl Iterator<Item = (Json, Json)>) -> Json {
    Json::object([("#map", Json::list(pairs.map(|(key, value)| Json::list([key, value]))))])
}

/// A value in the notation of its language: sets are sets, functions are maps.
fn notated(model: &IrModel, ty: TypeId, notation: &Notation, cells: &mut dyn Iterator<Item = Option<i64>>) -> Json {
    let fields = match &model.types[ty].kind {
        TypeKind::Record { fields } => fields.as_slice(),
        _ => &[],
    };
    match notation {
        Notation::Scalar => scalar(model, ty, cells.next().flatten()),
        Notation::Pair(left, right) => {
            let left = notated(model, fields[0].ty, left, cells);
            Json::object([("#tup", Json::list([left, notated(model, fields[1].ty, right, cells)]))])
        }
        Notation::Record(parts) => Json::object(
            parts.iter().zip(fields).map(|((name, part), field)| (name.clone(), notated(model, field.ty, part, cells))),
        ),
        Notation::Set(index) => {
            let keys = keys(model, ty, index);
            let members = keys.into_iter().filter(|_| cells.next().flatten() == Some(1)).map(|(key, _)| key);
            Json::object([("#set", Json::list(members))])
        }
        Notation::Function(index) => map(keys(model, ty, index).into_iter().filter_map(|(key, element)| {
            let value = cells.next().flatten()?;
            Some((key, scalar(model, element, Some(value))))
        })),
        Notation::Table(index, content) => map(keys(model, ty, index).into_iter().filter_map(|(key, element)| {
            let ty = match &model.types[element].kind {
                TypeKind::Record { fields } => fields[1].ty,
                _ => element,
            };
            let is_present = cells.next().flatten() == Some(1);
            let value = notated(model, ty, content, cells);
            is_present.then_some((key, value))
        })),
    }
}

/// The keys of nested arrays in the order of their cells, each with the type of what it leads to.
fn keys(model: &IrModel, ty: TypeId, index: &Index) -> Vec<(Json, TypeId)> {
    match index {
        Index::Scalar => match model.types[ty].kind {
            TypeKind::Array { index, element } => {
                model.domain(index).values().map(|value| (scalar(model, index, Some(value)), element)).collect()
            }
            _ => Vec::new(),
        },
        Index::Set(members) => match model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let chosen = |value: i64| {
                    let chosen = members.iter().enumerate().filter(move |(at, _)| value >> at & 1 == 1);
                    Json::object([("#set", Json::list(chosen.map(|(_, member)| Json::text(member))))])
                };
                model.domain(index).values().map(|value| (chosen(value), element)).collect()
            }
            _ => Vec::new(),
        },
        Index::Pair(left, right) => pairs(model, ty, left, right),
        Index::Record(fields) => {
            let mut records: Vec<(Vec<(String, Json)>, TypeId)> = vec![(Vec::new(), ty)];
            for (name, field) in fields {
                let extended = records.into_iter().flat_map(|(record, ty)| {
                    keys(model, ty, field).into_iter().map(move |(key, element)| {
                        let mut record = record.clone();
                        record.push((name.clone(), key));
                        (record, element)
                    })
                });
                records = extended.collect();
            }
            records.into_iter().map(|(record, element)| (Json::object(record), element)).collect()
        }
    }
}

fn pairs(model: &IrModel, ty: TypeId, left: &Index, right: &Index) -> Vec<(Json, TypeId)> {
    let mut all = Vec::new();
    for (first, inner) in keys(model, ty, left) {
        for (second, element) in keys(model, inner, right) {
            all.push((Json::object([("#tup", Json::list([first.clone(), second]))]), element));
        }
    }
    all
}

/// Finds the run of the model that has the states of a file.
pub(super) fn trace(interpreter: &Interpreter<'_>, contents: &Json) -> Result<Trace, Misfit> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let names = names(model, contents)?;
    let states_json = contents.get("states").expect("that there are states is how the format was recognised");
    let states = states_json.items().filter(|states| !states.is_empty());
    let states = states.ok_or_else(|| fault_at(start_of(states_json.span), "`states` must be a list of states"))?;
    for (number, state) in states.iter().enumerate() {
        check_names(model, &names, number, state)?;
    }
    let begin = match contents.get("loop") {
        None | Some(Json { kind: JsonKind::Null, .. }) => None,
        Some(json) => {
            let begin = json.as_integer().and_then(|begin| usize::try_from(begin).ok());
            let begin = begin.filter(|&begin| begin < states.len());
            Some((begin.ok_or_else(|| fault_at(json.span, "the loop must begin at one of the states"))?, json.span))
        }
    };
    let known: Vec<KnownState<'_>> =
        states.iter().chain(begin.map(|(begin, _)| &states[begin])).map(KnownState::of).collect();
    let known_names = &names;
    let agrees = |position: usize, after: &Valuation| {
        variables(model, layout, after)
            .all(|(name, value)| !known_names.contains(&name) || known[position].has(&name, &value))
    };
    // In a lasso, the last state has the hint of the first state of the loop, which was reached by another step.
    let is_hinted = |position: usize, step: &PossibleStep<'_>| match known[position].hint {
        Some(hint) if position < states.len() => action_line(model, step.action, step.arguments) == hint,
        _ => true,
    };
    let follow_all = |uses_hints: bool| {
        follow(interpreter, known.len(), |position, step| {
            let after = step.after?;
            (agrees(position, after) && (!uses_hints || is_hinted(position, step))).then_some(position + 1)
        })
    };
    let followed = follow_all(true).or_else(|_| follow_all(false));
    let Followed { steps, .. } = followed.map_err(|lost| not_followed(interpreter, &names, &lost, states, begin))?;
    let violation = match contents.get(META).and_then(|meta| meta.get("quotient")?.get("violation")) {
        Some(violation) if !violation.is_null() => {
            Some(document::read_violation(interpreter, violation, steps.last().map(|step| &step.state))?)
        }
        _ => None,
    };
    let Some((begin, span)) = begin else { return Ok(Trace::new(steps, violation)) };
    if steps[begin].state != steps[steps.len() - 1].state {
        let message = "the loop does not close: variables that the file does not have differ";
        return Err(fault_at(span, message));
    }
    Ok(Trace::lasso(steps, begin, violation))
}

/// The information of a file about a state.
struct KnownState<'j> {
    /// The variables and their values, [`normalised`].
    values: Vec<(&'j str, Json)>,
    /// The action that led to it, if this program wrote the file.
    hint: Option<&'j str>,
}

impl<'j> KnownState<'j> {
    fn of(state: &'j Json) -> Self {
        let members = state.members().unwrap_or_default().iter();
        let values = members.map(|member| (member.key.as_str(), normalised(&member.value))).collect();
        Self { values, hint: state.get(META).and_then(|meta| meta.get("action")).and_then(Json::as_text) }
    }

    fn has(&self, name: &str, value: &Json) -> bool {
        self.values.iter().any(|(other, known)| *other == name && *known == normalised(value))
    }
}

/// A value in one form: numbers as `#bigint`, sets and maps in order.
fn normalised(json: &Json) -> Json {
    let kind = match &json.kind {
        JsonKind::Number(number) => return Json::object([("#bigint", Json::text(number))]),
        JsonKind::List(items) => JsonKind::List(items.iter().map(normalised).collect()),
        JsonKind::Object(members) => {
            let member = |member: &Member| {
                let mut value = normalised(&member.value);
                if let (true, JsonKind::List(items)) = (member.key == "#set" || member.key == "#map", &mut value.kind) {
                    items.sort_by_cached_key(Json::on_one_line);
                }
                Member { value, ..member.clone() }
            };
            JsonKind::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    };
    Json { span: json.span, kind }
}

/// The variables of a file, all of which the model must have.
fn names(model: &IrModel, contents: &Json) -> Result<Vec<String>, Misfit> {
    let json = contents.get("vars").expect("that there are variables is how the format was recognised");
    let items = json.items().filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| fault_at(json.span, "`vars` must be a list of names"))?;
    let name = |item: &Json| {
        let name = item.as_text().ok_or_else(|| fault_at(item.span, "the name of a variable must be a text"))?;
        if !model.variables.iter().any(|variable| variable.name == name) {
            return Err(fault_at(item.span, format!("the model has no variable `{}`", visible(name))));
        }
        Ok(name.to_owned())
    };
    items.iter().map(name).collect()
}

fn check_names(model: &IrModel, names: &[String], number: usize, state: &Json) -> Result<(), Misfit> {
    let members = state.members().ok_or_else(|| fault_at(state.span, format!("state {number} must be an object")))?;
    let is_known = |key: &str| key.starts_with('#') || names.iter().any(|name| name == key);
    if let Some(member) = members.iter().find(|member| !is_known(&member.key)) {
        let is_variable = model.variables.iter().any(|variable| variable.name == member.key);
        let list = if is_variable { "`vars`" } else { "the model" };
        let message = format!("{list} has no variable `{}`", visible(&member.key));
        return Err(fault_at(member.key_span, message));
    }
    match names.iter().find(|name| state.get(name).is_none()) {
        Some(name) => Err(fault_at(start_of(state.span), format!("state {number} says nothing about `{name}`"))),
        None => Ok(()),
    }
}

/// Why a run cannot be followed further.
fn not_followed(
    interpreter: &Interpreter<'_>,
    names: &[String],
    lost: &Lost,
    states: &[Json],
    begin: Option<(usize, quotient_ir::Span)>,
) -> Misfit {
    let number = lost.position;
    if let (Some((_, span)), None) = (begin, states.get(number)) {
        return fault_at(span, "no step of the model closes the loop");
    }
    let state = &states[number.min(states.len() - 1)];
    if lost.gave_up {
        return fault_at(start_of(state.span), format!("gave up looking for the step that leads to state {number}"));
    }
    let message = match number {
        0 => "no initial state of the model is state 0".to_owned(),
        _ => format!("no step of the model leads from state {} to state {number}", number - 1),
    };
    // If all steps agree on the value of a variable, and the file does not, that is the difference.
    let candidates = match lost.steps.last() {
        None => crate::walk::starts(interpreter),
        Some(step) => crate::walk::successors(interpreter, &step.state),
    };
    let reached = candidates.list.iter().filter_map(|candidate| match &candidate.consequence {
        crate::walk::Consequence::State(state) => Some(state),
        _ => None,
    });
    let known = KnownState::of(state);
    let differing = |after: &Valuation| {
        let all = variables(interpreter.model(), interpreter.layout(), after);
        all.filter(|(name, value)| names.contains(name) && !known.has(name, value)).collect::<Vec<_>>()
    };
    let nearest = reached.map(differing).min_by_key(Vec::len);
    match nearest.as_deref() {
        Some([(name, value), ..]) => {
            let place = state.get(name).map_or(start_of(state.span), |value| value.span);
            let help = format!("the nearest state that can be reached has `{name}` = {}", value.on_one_line());
            fault_at(place, message).with_help(help)
        }
        _ => fault_at(start_of(state.span), message),
    }
}
