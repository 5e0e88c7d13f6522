//! Message sequence charts of Promela runs, as SVG: a line for each process, an arrow for each message
//! from where it is sent to where it is received, time going down. A message that is never received
//! ends at a circle. What processes do without messages stands beside their lines.
//!
//! The names of rules say which process moves (`Type line: statement`, two of them joined by an arrow
//! where a message passes without a queue), and the lengths of queues say what was sent and received.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write;

use quotient_ir::{Action, Layout, Model, Trace, TraceStep, TypeKind};

use crate::render::state::{Change, StateShape};

/// Between the names of the two processes of a joint step.
const JOINT: &str = " → ";
/// Distances in the picture.
const COLUMN: usize = 190;
const ROW: usize = 30;
const TOP: usize = 50;

/// A process: its number and its type.
type Process = (i64, String);

/// A process that takes part in a step, and the statement it executes.
struct Part {
    process: Process,
    statement: String,
}

/// An arrow from a row of a process to a row of another.
struct Message {
    from: (Process, usize),
    to: Option<(Process, usize)>,
    text: String,
}

/// The chart of a run.
pub(crate) fn sequence_chart(model: &Model, layout: &Layout, trace: &Trace) -> String {
    let shape = StateShape::new(model, layout);
    let mut processes: BTreeSet<Process> = BTreeSet::new();
    let mut messages: Vec<Message> = Vec::new();
    let mut queued: HashMap<String, VecDeque<usize>> = HashMap::new();
    let mut local: Vec<(Process, usize, String)> = Vec::new();
    for (row, pair) in trace.steps.windows(2).enumerate() {
        let parts = parts(model, &pair[1]);
        processes.extend(parts.iter().map(|part| part.process.clone()));
        match &parts[..] {
            [sender, receiver] => messages.push(Message {
                from: (sender.process.clone(), row),
                to: Some((receiver.process.clone(), row)),
                text: sender.statement.clone(),
            }),
            [part] => {
                let mut communicates = false;
                for change in shape.changes(&pair[0].state, &pair[1].state) {
                    let Change::Value { name, before, after } = change else { continue };
                    let Some(queue) = name.strip_suffix(".len").filter(|it| it.contains(".queue")) else { continue };
                    let (Ok(before), Ok(after)) = (before.parse::<i64>(), after.parse::<i64>()) else { continue };
                    communicates = true;
                    let waiting = queued.entry(queue.to_owned()).or_default();
                    if after > before {
                        waiting.push_back(messages.len());
                        let from = (part.process.clone(), row);
                        messages.push(Message { from, to: None, text: part.statement.clone() });
                    } else if let Some(number) = waiting.pop_front() {
                        messages[number].to = Some((part.process.clone(), row));
                    }
                }
                if !communicates {
                    local.push((part.process.clone(), row, part.statement.clone()));
                }
            }
            _ => {}
        }
    }
    draw(&processes, &messages, &local, trace.steps.len())
}

/// Who takes part in a step.
fn parts(model: &Model, step: &TraceStep) -> Vec<Part> {
    let Action::Rule(rule) = step.action else { return Vec::new() };
    let rule = &model.rules[rule];
    let Some(name) = &rule.name else { return Vec::new() };
    let argument = |name: &str| {
        let position = rule.parameters.iter().position(|it| rule.locals[it.local].name == name)?;
        step.arguments.get(position).copied()
    };
    let mut parts = Vec::new();
    for (words, parameter) in name.split(JOINT).zip(["p", "q"]) {
        let Some((head, statement)) = words.split_once(": ") else { continue };
        let Some((process, _)) = head.rsplit_once(' ') else { continue };
        // Where there is only one process of a type, it is no parameter.
        let only = || {
            let variable = model.variables.iter().find(|variable| variable.name == process)?;
            let TypeKind::Array { index, .. } = model.types[variable.ty].kind else { return None };
            Some(model.domain(index).least())
        };
        if let Some(number) = argument(parameter).or_else(only) {
            parts.push(Part { process: (number, process.to_owned()), statement: statement.to_owned() });
        }
    }
    parts
}

fn draw(
    processes: &BTreeSet<Process>,
    messages: &[Message],
    local: &[(Process, usize, String)],
    rows: usize,
) -> String {
    let column: HashMap<&Process, usize> =
        processes.iter().enumerate().map(|(position, process)| (process, COLUMN / 2 + position * COLUMN)).collect();
    let at = |row: usize| TOP + ROW * (row + 1);
    let (width, height) = (COLUMN * processes.len().max(1), at(rows) + ROW);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (process, x) in processes.iter().map(|process| (process, column[process])) {
        let name = escaped(&format!("{}:{}", process.1, process.0));
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>",
            TOP - 20
        );
        let _ = writeln!(text, "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\" stroke=\"#999\"/>", TOP - 10, at(rows));
    }
    for (process, row, statement) in local {
        let (x, y) = (column[process], at(*row));
        let _ = writeln!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2\"/>");
        let _ = writeln!(text, "<text x=\"{}\" y=\"{}\" fill=\"#666\">{}</text>", x + 6, y + 4, escaped(statement));
    }
    for message in messages {
        let (from, y1) = (column[&message.from.0], at(message.from.1));
        let (to, y2) = match &message.to {
            Some((process, row)) => (column[process], at(*row)),
            None => (from + COLUMN / 3, y1),
        };
        // A message to oneself goes out to the side and back.
        let path = if to == from {
            format!("M{from},{y1} L{x},{y1} L{x},{y2} L{from},{y2}", x = from + COLUMN / 4)
        } else {
            format!("M{from},{y1} L{to},{y2}")
        };
        let _ = writeln!(text, "<path d=\"{path}\" fill=\"none\" stroke=\"black\" marker-end=\"url(#head)\"/>");
        if message.to.is_none() {
            let _ = writeln!(text, "<circle cx=\"{}\" cy=\"{y2}\" r=\"4\" fill=\"none\" stroke=\"black\"/>", to + 4);
        }
        let anchor = if to < from { "end" } else { "start" };
        let x = if to < from { from - 6 } else { from + 6 };
        let statement = escaped(&message.text);
        let _ = writeln!(text, "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{statement}</text>", y1 - 4);
    }
    text.push_str("</svg>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
