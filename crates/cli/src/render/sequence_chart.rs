//! Message sequence charts of runs of Promela and CSP#, as SVG: a line for each process, an arrow for each message from
//! its send to its receive, time going down. A message that is never received ends at a circle. Other statements and
//! events are written beside the lines of their processes.
//!
//! The model identifies the processes that take part in a step. In Promela its queues show what was sent and received, in
//! CSP# events do.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write;

use quotient_ir::{
    Action, Caption, Exchange, Exchanges, Interpreter, Layout, Model, PartKind, Presentation, Shown, ShownPart,
    TableIndex, Trace, TraceStep, TypeKind, Valuation,
};

/// Distances in the picture.
const COLUMN: usize = 190;
const ROW: usize = 30;
const TOP: usize = 50;
/// The maximum length of a text beside a line.
const LABEL_LENGTH: usize = 30;

/// A process: its number and what it is called.
type Process = (i64, String);

/// A process that takes part in a step, and the statement it executes.
struct Doer {
    process: Process,
    statement: String,
}

/// An arrow from a row of a process to a row of another.
struct Message {
    from: (Process, usize),
    to: Option<(Process, usize)>,
    text: String,
}

/// The chart of a run; none if the model has no processes.
pub(crate) fn sequence_chart(model: &Model, layout: &Layout, trace: &Trace) -> Option<String> {
    if let Some(exchanges) = &model.exchanges {
        return Some(chart_of_events(model, layout, exchanges, trace));
    }
    let presentation = model.presentation.as_ref()?;
    let mut chart = Chart::default();
    let queues: Vec<&ShownPart> = presentation.parts.iter().filter(|part| part.kind == PartKind::Queue).collect();
    for (row, pair) in trace.steps.windows(2).enumerate() {
        let Some(doers) = doers(presentation, &pair[1]) else { continue };
        chart.processes.extend(doers.iter().map(|doer| doer.process.clone()));
        match &doers[..] {
            [sender, receiver] if sender.process != receiver.process => chart.messages.push(Message {
                from: (sender.process.clone(), row),
                to: Some((receiver.process.clone(), row)),
                text: sent_text(&sender.statement),
            }),
            [doer, others @ ..] => {
                let mut communicates = false;
                for (number, queue) in queues.iter().enumerate() {
                    let contents = |step: &TraceStep| contents(model, layout, queue, &step.state);
                    communicates |= chart.pass(number, &doer.process, row, &contents(&pair[0]), &contents(&pair[1]));
                }
                if !communicates {
                    let more = if others.is_empty() { "" } else { " …" };
                    chart.local.push((doer.process.clone(), row, format!("{}{more}", doer.statement)));
                }
            }
            [] => {}
        }
    }
    Some(draw(&chart.processes, &chart.messages, &chart.local, trace.steps.len()))
}

/// The chart of a run in which events say what is exchanged.
fn chart_of_events(model: &Model, layout: &Layout, exchanges: &Exchanges, trace: &Trace) -> String {
    let interpreter = Interpreter::new(model, layout);
    let mut chart = Chart::default();
    let mut waiting: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (row, pair) in trace.steps.windows(2).enumerate() {
        let Action::Rule(rule) = pair[1].action else { continue };
        let Some(step) = exchanges.steps.get(rule.position()) else { continue };
        let text = match interpreter.event(&step.label, rule, &pair[0].state) {
            Ok(Shown::Event(text)) => text,
            Ok(Shown::Internal) => "tau".to_owned(),
            Ok(Shown::Nothing) | Err(_) => continue,
        };
        let process = |&number: &usize| (number as i64, exchanges.processes[number].clone());
        let participants: Vec<Process> = step.participants.iter().map(process).collect();
        chart.processes.extend(participants.iter().cloned());
        match (step.exchange, &participants[..]) {
            (Exchange::Passed, [sender, receiver, ..]) => {
                let (from, to) = ((sender.clone(), row), Some((receiver.clone(), row)));
                chart.messages.push(Message { from, to, text });
            }
            (Exchange::Sent(indices), [sender, ..]) => {
                waiting.entry(buffer(&text, indices)).or_default().push_back(chart.messages.len());
                chart.messages.push(Message { from: (sender.clone(), row), to: None, text });
            }
            (Exchange::Received(indices), [receiver, ..]) => {
                // A buffer that was not empty at the beginning of the run has messages without a sender.
                match waiting.entry(buffer(&text, indices)).or_default().pop_front() {
                    Some(message) => chart.messages[message].to = Some((receiver.clone(), row)),
                    None => chart.local.push((receiver.clone(), row, text)),
                }
            }
            (_, all) => chart.local.extend(all.iter().map(|process| (process.clone(), row, text.clone()))),
        }
    }
    draw(&chart.processes, &chart.messages, &chart.local, trace.steps.len())
}

/// The channel of an event such as `c!1.5`, with its indices.
fn buffer(event: &str, indices: usize) -> String {
    let (name, values) = event.split_once(['!', '?']).unwrap_or((event, ""));
    values.split('.').take(indices).fold(name.to_owned(), |channel, index| format!("{channel}[{index}]"))
}

/// What is drawn.
#[derive(Default)]
struct Chart {
    processes: BTreeSet<Process>,
    messages: Vec<Message>,
    /// The messages in each queue, by number.
    queued: HashMap<usize, VecDeque<usize>>,
    local: Vec<(Process, usize, String)>,
}

impl Chart {
    /// Records the effect of a process on a queue; returns whether there was any.
    fn pass(&mut self, queue: usize, process: &Process, row: usize, before: &[String], after: &[String]) -> bool {
        let waiting = self.queued.entry(queue).or_default();
        let changed = before.iter().zip(after).position(|(old, new)| old != new);
        let changed = changed.unwrap_or(before.len().min(after.len()));
        for text in after.iter().skip(changed).take(after.len().saturating_sub(before.len())) {
            // Messages are appended, unless the send is sorted.
            let position = changed.min(waiting.len());
            waiting.insert(position, self.messages.len());
            self.messages.push(Message { from: (process.clone(), row), to: None, text: text.clone() });
        }
        for _ in after.len()..before.len() {
            if let Some(message) = waiting.remove(changed.min(waiting.len().saturating_sub(1))) {
                self.messages[message].to = Some((process.clone(), row));
            }
        }
        before.len() != after.len()
    }
}

/// The messages in a queue: `request(2)`.
fn contents(model: &Model, layout: &Layout, queue: &ShownPart, state: &Valuation) -> Vec<String> {
    let cells = &state.0[queue.first_slot(layout)..][..model.cells(queue.ty) as usize];
    let fields = |ty| match &model.types[ty].kind {
        TypeKind::Record { fields } => &fields[..],
        _ => &[],
    };
    let Some(messages) = fields(queue.ty).get(1) else { return Vec::new() };
    let TypeKind::Array { element, .. } = model.types[messages.ty].kind else { return Vec::new() };
    let length = cells[0].and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let text = |cells: &[Option<i64>]| {
        let values =
            fields(element).iter().zip(cells).map(|(field, value)| model.value_name(field.ty, value.unwrap_or(0)));
        message_text(&values.collect::<Vec<_>>())
    };
    cells[1..].chunks(fields(element).len().max(1)).take(length).map(text).collect()
}

/// `request(2)` of the fields `request` and `2`.
fn message_text(fields: &[impl AsRef<str>]) -> String {
    let fields: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
    match &fields[..] {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first, rest @ ..] => format!("{first}({})", rest.join(",")),
    }
}

/// The message that a statement like `channel!request,2` sends.
fn sent_text(statement: &str) -> String {
    let Some((_, message)) = statement.split_once('!') else { return statement.to_owned() };
    let message = message.trim_start_matches('!').trim();
    if message.contains('(') {
        return message.to_owned();
    }
    message_text(&message.split(',').map(str::trim).collect::<Vec<_>>())
}

/// The participants in a step; none if it is not a step of the text.
fn doers(presentation: &Presentation, step: &TraceStep) -> Option<Vec<Doer>> {
    let Action::Rule(rule) = step.action else { return None };
    let Some(Caption::Statements(participants)) = presentation.caption(rule) else { return None };
    let doer = |participant: &quotient_ir::Participant| {
        let statement = &presentation.statements[participant.statement];
        let number = participant.number.of(&step.arguments);
        let process = (number, format!("{}:{number}", statement.process));
        Doer { process, statement: statement.text.clone() }
    };
    Some(participants.iter().map(doer).collect())
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
        let name = escaped(&process.1);
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>",
            TOP - 20
        );
        let _ = writeln!(text, "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\" stroke=\"#999\"/>", TOP - 10, at(rows));
    }
    for (process, row, statement) in local {
        let (x, y) = (column[process], at(*row));
        let statement = match statement.char_indices().nth(LABEL_LENGTH) {
            Some((end, _)) => &format!("{}…", &statement[..end]),
            None => statement,
        };
        let _ = writeln!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2\"/>");
        let _ = writeln!(text, "<text x=\"{}\" y=\"{}\" fill=\"#666\">{}</text>", x + 6, y + 4, escaped(statement));
    }
    for message in messages {
        let (from, y1) = (column[&message.from.0], at(message.from.1));
        let (to, y2) = match &message.to {
            Some((process, row)) => (column[process], at(*row)),
            None => (from + COLUMN / 3, y1),
        };
        // A message from a process to itself is drawn as a loop at its side.
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
