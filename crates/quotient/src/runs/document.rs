//! The run file format of this program: the origin of the run, the violation at its end, and its steps with all values.
//! It is described in the guide, `docs/guide/runs.md`.

use std::io::{self, Write};

use quotient_ir::{
    Action, Caption, DeadlockMode, Interpreter, Model as IrModel, PropertyId, RuleId, SlotId, Span, StartId,
    TableIndex, Trace, TraceStep, Valuation, Violation,
};

use super::json::{Json, JsonKind, quoted};
use super::{FORMAT, Misfit, RunOrigin, VERSION, fault_at, hash_of, scalars, slot_names, start_of};
use crate::languages::WellDefinedness;

use crate::languages::Language;
use crate::lowering::Lowering;
use crate::model::{LoadOptions, Model};
use crate::names::{
    NamedArgument, action_arguments, action_name, parameter_cells, property_arguments, property_name, visible,
};
use crate::walk::{Candidate, Consequence};

/// Writes a run.
pub(super) fn write(out: &mut dyn Write, model: &Model, origin: &RunOrigin<'_>, trace: &Trace) -> io::Result<()> {
    let opening = [("format", Json::text(FORMAT)), ("version", Json::number(VERSION))];
    writeln!(out, "{{")?;
    for (key, value) in opening.into_iter().chain(header(model, origin, trace)) {
        writeln!(out, "  {}: {},", quoted(key), value.on_lines(2))?;
    }
    writeln!(out, "  \"loop\": {},", trace.cycle.map_or_else(Json::null, Json::number).on_one_line())?;
    write!(out, "  \"steps\": [")?;
    let interpreter = Interpreter::new(model.ir(), model.layout());
    for (number, step) in trace.steps.iter().enumerate() {
        let previous = number.checked_sub(1).map(|previous| &trace.steps[previous].state);
        let step = step_object(&interpreter, number, step, previous);
        write!(out, "{}\n    {}", if number == 0 { "" } else { "," }, step.on_lines(4))?;
    }
    writeln!(out, "\n  ]\n}}")
}

/// The origin of a run and the violation at its end.
pub(super) fn header(model: &Model, origin: &RunOrigin<'_>, trace: &Trace) -> Vec<(&'static str, Json)> {
    let LoadOptions { constants, no_extra_nodes, max_processes, lowering, well_definedness, .. } = model.load_options();
    let Lowering { merges_orders, states_only, ignores_claims, .. } = lowering;
    let text_or_null = |text: Option<&str>| text.map_or_else(Json::null, Json::text);
    let options = [
        ("no_extra_nodes", Json::boolean(no_extra_nodes)),
        ("ignore_claims", Json::boolean(ignores_claims)),
        ("max_processes", max_processes.map_or_else(Json::null, Json::number)),
        ("merges_orders", Json::boolean(merges_orders)),
        ("states_only", Json::boolean(states_only)),
        ("well_definedness", text_or_null(well_definedness.map(well_definedness_name))),
    ];
    let property = origin.property.as_ref();
    let property = property.map(|(name, kind)| Json::object([("name", Json::text(name)), ("kind", Json::text(*kind))]));
    vec![
        ("tool", Json::object([("name", Json::text("quotient")), ("version", Json::text(env!("CARGO_PKG_VERSION")))])),
        ("command", Json::text(origin.command)),
        (
            "model",
            Json::object([
                ("file", Json::text(&model.source().name)),
                ("language", text_or_null(model.language().map(Language::identifier))),
                ("sha256", Json::text(hash_of(model))),
            ]),
        ),
        ("definitions", Json::list(constants.iter().map(|(name, value)| Json::text(format!("{name}={value}"))))),
        ("options", Json::object(options)),
        ("property", property.unwrap_or_else(Json::null)),
        ("violation", violation_object(model, origin, trace)),
    ]
}

fn well_definedness_name(kind: WellDefinedness) -> &'static str {
    match kind {
        WellDefinedness::Remark => "note",
        WellDefinedness::Error => "error",
    }
}

fn arguments_object(model: &IrModel, arguments: &[NamedArgument]) -> Json {
    Json::object(arguments.iter().map(|it| (&it.name, scalars::write(model, it.ty, Some(it.value)))))
}

fn action_members(model: &IrModel, action: Action, arguments: &[i64]) -> Vec<(&'static str, Json)> {
    let (kind, position) = match action {
        Action::Start(start) => ("start", start.position()),
        Action::Rule(rule) => ("rule", rule.position()),
    };
    vec![
        ("kind", Json::text(kind)),
        ("name", Json::text(action_name(model, action))),
        ("position", Json::number(position + 1)),
        ("arguments", arguments_object(model, &action_arguments(model, action, arguments))),
    ]
}

fn violation_object(model: &Model, origin: &RunOrigin<'_>, trace: &Trace) -> Json {
    let Some(violation) = &trace.violation else { return Json::null() };
    let ir = model.ir();
    let about = |kind, property, arguments: &[i64]| {
        vec![
            ("kind", Json::text(kind)),
            ("property", Json::text(property_name(ir, property))),
            ("arguments", arguments_object(ir, &property_arguments(ir, property, arguments))),
        ]
    };
    let mut members = match violation {
        Violation::Property { property, arguments } => about("property", *property, arguments),
        Violation::PropertyFault { property, arguments, .. } => about("property-error", *property, arguments),
        Violation::Unreachable { property, arguments } => about("unreachable", *property, arguments),
        Violation::Temporal { property, arguments } => about("temporal", *property, arguments),
        Violation::Fault { action, arguments, .. } => {
            vec![("kind", Json::text("error")), ("action", Json::object(action_members(ir, *action, arguments)))]
        }
        Violation::Deadlock(mode) => {
            let mode = if *mode == DeadlockMode::Stuttering { "stuttering" } else { "stuck" };
            vec![("kind", Json::text("deadlock")), ("mode", Json::text(mode))]
        }
    };
    if let Some(fault) = violation.fault() {
        members.push(("error", Json::text(&fault.message)));
    }
    if let Violation::Fault { action, arguments, .. } = violation {
        let interpreter = Interpreter::new(ir, model.layout());
        let printed = interpreter.printed(*action, arguments, trace.steps.last().map(|step| &step.state));
        if !printed.is_empty() {
            members.push(("printed", Json::text(printed)));
        }
    }
    if let Some((message, span)) = &origin.violation {
        members.push(("message", Json::text(message)));
        if let Some(span) = span {
            let (line, column) = model.source().line_and_column(span.start);
            members.push(("file", Json::text(model.source().file_at(span.start).0)));
            members.push(("line", Json::number(line)));
            members.push(("column", Json::number(column)));
        }
    }
    Json::object(members)
}

fn step_object(interpreter: &Interpreter<'_>, number: usize, step: &TraceStep, previous: Option<&Valuation>) -> Json {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let mut members = vec![("number", Json::number(number))];
    members.extend(action_members(model, step.action, &step.arguments));
    if let Some(processes) = processes(model, step) {
        members.push(("processes", processes));
    }
    let printed = interpreter.printed(step.action, &step.arguments, previous);
    if !printed.is_empty() {
        members.push(("printed", Json::text(printed)));
    }
    let cells = layout.slots.iter_enumerated();
    let state = cells.map(|(slot, entry)| (&entry.name, scalars::write(model, entry.ty, step.state[slot])));
    members.push(("state", Json::object(state)));
    Json::object(members)
}

/// The processes that take part in a step, and what they execute.
fn processes(model: &IrModel, step: &TraceStep) -> Option<Json> {
    let Action::Rule(rule) = step.action else { return None };
    let presentation = model.presentation.as_ref()?;
    let participants = match presentation.caption(rule)? {
        Caption::Statements(participants) => participants.as_slice(),
        Caption::Remark(participant, _) => participant.as_slice(),
    };
    Some(Json::list(participants.iter().map(|participant| {
        let statement = &presentation.statements[participant.statement];
        Json::object([
            ("number", Json::number(participant.number.of(&step.arguments))),
            ("type", Json::text(&statement.process)),
            ("file", Json::text(model.source.file_at(statement.span.start).0)),
            ("line", Json::number(statement.line)),
            ("statement", Json::text(&statement.text)),
        ])
    })))
}

/// The options to load a model with, according to the head of a file.
pub(super) fn load_options(header: Option<&Json>, asked: &LoadOptions) -> Result<LoadOptions, Misfit> {
    let mut options = asked.clone();
    let Some(header) = header else { return Ok(options) };
    if let Some(definitions) = header.get("definitions") {
        options.constants = constants(definitions, &asked.constants)?;
    }
    let flag = |name: &str| match header.get("options").and_then(|options| options.get(name)) {
        None => Ok(None),
        Some(Json { kind: JsonKind::Boolean(value), span }) => Ok(Some((*value, *span))),
        Some(other) => Err(fault_at(other.span, format!("`{name}` must be true or false"))),
    };
    if let Some((value, span)) = flag("no_extra_nodes")? {
        if asked.no_extra_nodes && !value {
            return Err(fault_at(span, "the run was made without --no-extra-nodes"));
        }
        options.no_extra_nodes = value;
    }
    if let Some((value, _)) = flag("ignore_claims")? {
        options.lowering.ignores_claims = value;
    }
    if let Some((value, _)) = flag("merges_orders")? {
        options.lowering.merges_orders = value;
    }
    if let Some((value, _)) = flag("states_only")? {
        options.lowering.states_only = value;
    }
    if let Some(most) = header.get("options").and_then(|options| options.get("max_processes")) {
        let number = most.as_integer().and_then(|number| u8::try_from(number).ok()).filter(|&number| number > 0);
        if number.is_none() && !most.is_null() {
            return Err(fault_at(most.span, "`max_processes` must be a number from 1 to 255, or null"));
        }
        if let Some(asked) = asked.max_processes.filter(|asked| number != Some(*asked)) {
            let made =
                number.map_or_else(|| "without --max-processes".into(), |it| format!("with --max-processes {it}"));
            return Err(fault_at(most.span, format!("the run was made {made}, not {asked}")));
        }
        options.max_processes = number;
    }
    if let Some(kind) = header.get("options").and_then(|options| options.get("well_definedness")) {
        let known = [WellDefinedness::Remark, WellDefinedness::Error];
        let found = known.into_iter().find(|known| kind.as_text() == Some(well_definedness_name(*known)));
        if found.is_none() && !kind.is_null() {
            return Err(fault_at(kind.span, "`well_definedness` must be \"note\", \"error\" or null"));
        }
        if asked.well_definedness.is_some_and(|asked| found != Some(asked)) {
            let made = found.map_or_else(
                || "without --well-definedness".to_owned(),
                |it| format!("with --well-definedness {}", well_definedness_name(it)),
            );
            return Err(fault_at(kind.span, format!("the run was made {made}")));
        }
        options.well_definedness = found;
    }
    if let Some(language) = header.get("model").and_then(|model| model.get("language")).filter(|it| !it.is_null()) {
        let known = [Language::Murphi, Language::Promela, Language::B, Language::Dve, Language::Csp, Language::Pnml];
        let found = known.into_iter().find(|known| language.as_text() == Some(known.identifier()));
        let found = found.ok_or_else(|| {
            fault_at(language.span, "this language is not known").with_help("\"murphi\", \"promela\" and \"b\" are")
        })?;
        if asked.language.is_some_and(|asked| asked != found) {
            let message = format!("the run is one of a model in another language: {}", found.identifier());
            return Err(fault_at(language.span, message));
        }
        options.language = Some(found);
    }
    Ok(options)
}

/// The definitions of a file, which the requested ones must not contradict.
fn constants(definitions: &Json, asked: &[(String, String)]) -> Result<Vec<(String, String)>, Misfit> {
    let expected = "`definitions` must be a list of texts like \"N=3\"";
    let items = definitions.items().ok_or_else(|| fault_at(definitions.span, expected))?;
    let mut constants: Vec<(String, String)> = Vec::new();
    for item in items {
        let pair = item.as_text().and_then(|text| text.split_once('='));
        let (name, value) = pair.ok_or_else(|| fault_at(item.span, expected))?;
        let other = asked.iter().rev().find(|(other, _)| other == name).filter(|(_, other)| other != value);
        if let Some((_, other)) = other {
            return Err(fault_at(item.span, format!("the run was made with {name} = {value}, not {other}")));
        }
        constants.push((name.to_owned(), value.to_owned()));
    }
    let extra = asked.iter().find(|(name, _)| !constants.iter().any(|(other, _)| other == name));
    if let Some((name, value)) = extra {
        return Err(fault_at(definitions.span, format!("the run was made without -D {name}={value}")));
    }
    Ok(constants)
}

/// The note for a model whose text differs from the one the run was written for.
pub(super) fn changed_text(header: Option<&Json>, model: &Model) -> Option<String> {
    let recorded = header?.get("model")?;
    if recorded.get("sha256")?.as_text() == Some(hash_of(model).as_str()) {
        return None;
    }
    let file = recorded.get("file").and_then(Json::as_text).map(|file| format!(" (`{}`)", visible(file)));
    Some(format!("the text of the model is not the one that the run was written for{}", file.unwrap_or_default()))
}

/// Reads the steps, each of which must be one of the model, and the violation at the end.
pub(super) fn trace(interpreter: &Interpreter<'_>, contents: &Json) -> Result<Trace, Misfit> {
    let steps_json = required(contents, "steps")?;
    let items = steps_json.items().ok_or_else(|| fault_at(start_of(steps_json.span), "`steps` must be a list"))?;
    let mut steps: Vec<TraceStep> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let step = step(interpreter, number, item, steps.last().map(|step| &step.state))?;
        steps.push(step);
    }
    let violation = match required(contents, "violation")? {
        none if none.is_null() => None,
        violation => Some(read_violation(interpreter, violation, steps.last().map(|step| &step.state))?),
    };
    if steps.is_empty() && violation.is_none() {
        return Err(fault_at(steps_json.span, "there are no steps"));
    }
    match contents.get("loop") {
        None | Some(Json { kind: JsonKind::Null, .. }) => Ok(Trace::new(steps, violation)),
        Some(begin) => Ok(Trace::lasso(steps.clone(), loop_start(interpreter, begin, &steps)?, violation)),
    }
}

/// The step after which the cycle begins. The last step must lead back to the state after it.
fn loop_start(interpreter: &Interpreter<'_>, json: &Json, steps: &[TraceStep]) -> Result<usize, Misfit> {
    let begin = json.as_integer().and_then(|begin| usize::try_from(begin).ok());
    let begin = begin.filter(|begin| begin + 1 < steps.len()).ok_or_else(|| {
        let most = steps.len().saturating_sub(2);
        fault_at(json.span, "the loop must begin at a step before the last").with_help(format!("0 to {most}, or null"))
    })?;
    let (first, last) = (&steps[begin].state, &steps[steps.len() - 1].state);
    match quotient_ir::changed_slots(first, last).first() {
        None => Ok(begin),
        Some(&slot) => {
            let name = &interpreter.layout().slots[slot].name;
            let message = format!("the last step does not lead back to the state after step {begin}: `{name}` differs");
            Err(fault_at(json.span, message))
        }
    }
}

fn required<'j>(json: &'j Json, key: &str) -> Result<&'j Json, Misfit> {
    json.get(key).ok_or_else(|| fault_at(start_of(json.span), format!("`{key}` is missing")))
}

/// Reads a step and takes it.
fn step(
    interpreter: &Interpreter<'_>,
    number: usize,
    json: &Json,
    before: Option<&Valuation>,
) -> Result<TraceStep, Misfit> {
    if json.members().is_none() {
        return Err(fault_at(json.span, "a step must be an object"));
    }
    if let Some(other) = json.get("number").filter(|other| other.as_integer() != i64::try_from(number).ok()) {
        return Err(fault_at(other.span, format!("this is step {number}: steps are missing, or not in order")));
    }
    let actions = actions(interpreter.model(), json)?;
    match (before, actions[0]) {
        (None, Action::Rule(_)) => return Err(fault_at(start_of(json.span), "the first step must be a start")),
        (Some(_), Action::Start(_)) => {
            return Err(fault_at(start_of(json.span), "only the first step can be a start"));
        }
        _ => {}
    }
    let state_json = required(json, "state")?;
    let state = state(interpreter, state_json)?;
    let mut first_error = None;
    for action in actions {
        match take(interpreter, action, number, json, before, (&state, state_json)) {
            Ok(arguments) => return Ok(TraceStep { action, arguments, state }),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.expect("there is an action, which does not fit"))
}

/// Takes a step with the interpreter. Returns the arguments if it leads to the state.
fn take(
    interpreter: &Interpreter<'_>,
    action: Action,
    number: usize,
    json: &Json,
    before: Option<&Valuation>,
    (state, state_json): (&Valuation, &Json),
) -> Result<Vec<i64>, Misfit> {
    let model = interpreter.model();
    let title = format!("step {number} ({})", action_name(model, action));
    let arguments = action_values(interpreter, action, json)?;
    let place = json.get("name").map_or_else(|| start_of(json.span), |name| name.span);
    let reached = match crate::walk::candidate_of(interpreter, action, &arguments, before) {
        Some(Candidate { consequence: Consequence::State(reached), .. }) => reached,
        Some(Candidate { consequence: Consequence::Violation(violation), .. }) => {
            let why = violation.fault().map_or_else(String::new, |fault| format!(": {}", visible(&fault.message)));
            return Err(fault_at(place, format!("{title} goes wrong{why}")));
        }
        Some(Candidate { consequence: Consequence::Exhausted(fault), .. }) => {
            return Err(fault_at(place, format!("{title} cannot be followed: {}", visible(&fault.message))));
        }
        None => return Err(fault_at(place, format!("{title} is not possible in the state before it"))),
    };
    let Some(&slot) = quotient_ir::changed_slots(&reached, state).first() else { return Ok(arguments) };
    let entry = &interpreter.layout().slots[slot];
    let (led, given) = (scalars::write(model, entry.ty, reached[slot]), scalars::write(model, entry.ty, state[slot]));
    let message = format!(
        "{title} leads to a state in which `{}` is {}, not {}",
        entry.name,
        undefined_or(&led),
        undefined_or(&given)
    );
    Err(fault_at(state_json.get(&entry.name).map_or(state_json.span, |value| value.span), message))
}

fn undefined_or(json: &Json) -> String {
    if json.is_null() { "undefined".into() } else { json.on_one_line() }
}

/// The actions that the name of a step may denote: more than one only if they have the same name and none is at the
/// recorded position.
fn actions(model: &IrModel, json: &Json) -> Result<Vec<Action>, Misfit> {
    let kind = required(json, "kind")?;
    let name_json = required(json, "name")?;
    let name = name_json.as_text().ok_or_else(|| fault_at(name_json.span, "`name` must be a text"))?;
    let all: Vec<Action> = match kind.as_text() {
        Some("start") => (0..model.starts.len()).map(|at| Action::Start(StartId::from_position(at))).collect(),
        Some("rule") => (0..model.rules.len()).map(|at| Action::Rule(RuleId::from_position(at))).collect(),
        _ => return Err(fault_at(kind.span, "`kind` must be \"start\" or \"rule\"")),
    };
    let has_name = |action: &Action| action_name(model, *action) == name;
    if let Some(position) = json.get("position") {
        let position_read = position.as_integer().and_then(|it| usize::try_from(it).ok()).filter(|&it| it > 0);
        let at = position_read.ok_or_else(|| fault_at(position.span, "`position` must be a number from 1 on"))?;
        if let Some(action) = all.get(at - 1).filter(|action| has_name(action)) {
            return Ok(vec![*action]);
        }
    }
    let named: Vec<Action> = all.into_iter().filter(has_name).collect();
    if named.is_empty() {
        let word = if kind.as_text() == Some("start") { "start" } else { "rule" };
        return Err(fault_at(name_json.span, format!("the model has no {word} `{}`", visible(name))));
    }
    Ok(named)
}

/// Reads the arguments of an action.
fn action_values(interpreter: &Interpreter<'_>, action: Action, json: &Json) -> Result<Vec<i64>, Misfit> {
    let model = interpreter.model();
    let (parameters, locals) = match action {
        Action::Start(start) => (&model.starts[start].parameters, &model.starts[start].locals),
        Action::Rule(rule) => (&model.rules[rule].parameters, &model.rules[rule].locals),
    };
    let cells = parameter_cells(model, parameters, locals);
    let values = values(model, &cells, json)?;
    if interpreter.is_instance(parameters, &values) {
        return Ok(values);
    }
    let place = json.get("arguments").map_or_else(|| start_of(json.span), |arguments| arguments.span);
    Err(fault_at(place, format!("`{}` has no such arguments", action_name(model, action))))
}

/// Reads the `arguments` of an object as values of these cells.
fn values(model: &IrModel, cells: &[(String, quotient_ir::TypeId)], json: &Json) -> Result<Vec<i64>, Misfit> {
    let arguments = match json.get("arguments") {
        Some(arguments) => arguments,
        None if cells.is_empty() => return Ok(Vec::new()),
        None => return Err(fault_at(start_of(json.span), "`arguments` is missing")),
    };
    let members = arguments.members().ok_or_else(|| fault_at(arguments.span, "`arguments` must be an object"))?;
    if let Some(member) = members.iter().find(|member| !cells.iter().any(|(name, _)| *name == member.key)) {
        return Err(fault_at(member.key_span, format!("there is no parameter `{}`", visible(&member.key))));
    }
    let value = |(name, ty): &(String, quotient_ir::TypeId)| {
        let json = arguments.get(name);
        let json = json.ok_or_else(|| fault_at(arguments.span, format!("the argument `{name}` is missing")))?;
        let value = scalars::read(model, *ty, name, json)?;
        value.ok_or_else(|| fault_at(json.span, format!("the argument `{name}` cannot be undefined")))
    };
    cells.iter().map(value).collect()
}

/// Reads a state.
fn state(interpreter: &Interpreter<'_>, json: &Json) -> Result<Valuation, Misfit> {
    let layout = interpreter.layout();
    let members = json.members().ok_or_else(|| fault_at(json.span, "`state` must be an object"))?;
    let mut cells: Vec<Option<Option<i64>>> = vec![None; layout.slots.len()];
    for (at, member) in members.iter().enumerate() {
        // The cells are nearly always in order.
        let has_name = |at: usize| layout.slots[SlotId::from_position(at)].name == member.key;
        let position =
            if at < cells.len() && has_name(at) { Some(at) } else { (0..cells.len()).find(|&at| has_name(at)) };
        let Some(position) = position else {
            let near = nearest_name(&member.key, slot_names(layout));
            let diagnostic = fault_at(member.key_span, format!("the model has no variable `{}`", visible(&member.key)));
            return Err(match near {
                Some(near) => diagnostic.with_help(format!("it has `{near}`")),
                None => diagnostic,
            });
        };
        let slot = &layout.slots[SlotId::from_position(position)];
        let value = scalars::read(interpreter.model(), slot.ty, &slot.name, &member.value)?;
        if value.is_none() && !slot.may_be_undefined {
            return Err(fault_at(member.value.span, format!("`{}` cannot be undefined", slot.name)));
        }
        cells[position] = Some(value);
    }
    if let Some(missing) = cells.iter().position(Option::is_none) {
        let name = &layout.slots[SlotId::from_position(missing)].name;
        return Err(fault_at(start_of(json.span), format!("the state says nothing about `{name}`")));
    }
    Ok(Valuation(cells.into_iter().map(Option::flatten).collect()))
}

/// The name probably meant by a misspelled one.
fn nearest_name<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let scored = names.map(|other| (strsim::damerau_levenshtein(name, other), other));
    let (distance, nearest) = scored.min_by_key(|&(distance, _)| distance)?;
    (distance <= 2.max(name.chars().count() / 4)).then_some(nearest)
}

/// Reads the violation at the end.
pub(super) fn read_violation(
    interpreter: &Interpreter<'_>,
    json: &Json,
    last: Option<&Valuation>,
) -> Result<Violation, Misfit> {
    let kind = required(json, "kind")?;
    let no_state = || fault_at(kind.span, "there is no state that could violate anything");
    match kind.as_text() {
        Some("deadlock") => {
            let mode = required(json, "mode")?;
            let mode = match mode.as_text() {
                Some("stuck") => DeadlockMode::Stuck,
                Some("stuttering") => DeadlockMode::Stuttering,
                _ => return Err(fault_at(mode.span, "`mode` must be \"stuck\" or \"stuttering\"")),
            };
            checked(interpreter, Violation::Deadlock(mode), last, kind.span)
        }
        Some("error") => {
            let action_json = required(json, "action")?;
            for action in actions(interpreter.model(), action_json)? {
                let arguments = action_values(interpreter, action, action_json)?;
                let candidate = crate::walk::candidate_of(interpreter, action, &arguments, last);
                if let Some(Candidate { consequence: Consequence::Violation(violation), .. }) = candidate {
                    return same_error(json, violation);
                }
            }
            Err(fault_at(start_of(action_json.span), "this action does not go wrong in the last state"))
        }
        Some(word @ ("property" | "property-error" | "unreachable" | "temporal")) => {
            let property = property(interpreter.model(), json)?;
            let entry = &interpreter.model().properties[property];
            let cells = parameter_cells(interpreter.model(), &entry.parameters, &entry.locals);
            let arguments = values(interpreter.model(), &cells, json)?;
            if !interpreter.is_instance(&entry.parameters, &arguments) {
                return Err(fault_at(start_of(json.span), "the property has no such arguments"));
            }
            let state = last.ok_or_else(no_state)?;
            match word {
                "property" => checked(interpreter, Violation::Property { property, arguments }, last, kind.span),
                "unreachable" => checked(interpreter, Violation::Unreachable { property, arguments }, last, kind.span),
                // Replaying the whole run tells.
                "temporal" => Ok(Violation::Temporal { property, arguments }),
                _ => match interpreter.holds(property, &arguments, state) {
                    Err(fault) => same_error(json, Violation::PropertyFault { property, arguments, fault }),
                    Ok(_) => Err(fault_at(kind.span, "the property has a value in the last state")),
                },
            }
        }
        _ => {
            let words =
                "\"property\", \"property-error\", \"error\", \"deadlock\", \"unreachable\" and \"temporal\" are";
            Err(fault_at(kind.span, "this kind of violation is not known").with_help(words))
        }
    }
}

/// A violation, if the last state has it.
fn checked(
    interpreter: &Interpreter<'_>,
    violation: Violation,
    last: Option<&Valuation>,
    span: Span,
) -> Result<Violation, Misfit> {
    match quotient_ir::check_violation(interpreter, &violation, last) {
        Ok(()) => Ok(violation),
        Err(message) => Err(fault_at(span, format!("the run does not end in this violation: {message}"))),
    }
}

/// A run-time error, if it is the one recorded in the file.
fn same_error(json: &Json, violation: Violation) -> Result<Violation, Misfit> {
    let found = violation.fault().map(|fault| fault.message.as_str());
    match json.get("error") {
        Some(told) if told.as_text() != found => {
            Err(fault_at(told.span, format!("another error happens: {}", visible(found.unwrap_or_default()))))
        }
        _ => Ok(violation),
    }
}

fn property(model: &IrModel, json: &Json) -> Result<PropertyId, Misfit> {
    let name_json = required(json, "property")?;
    let name = name_json.as_text().ok_or_else(|| fault_at(name_json.span, "`property` must be a text"))?;
    let mut ids = (0..model.properties.len()).map(PropertyId::from_position);
    ids.find(|&id| property_name(model, id) == name)
        .ok_or_else(|| fault_at(name_json.span, format!("the model has no property `{}`", visible(name))))
}
