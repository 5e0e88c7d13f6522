//! Message sequence charts of runs of Promela and CSP#: the processes, the messages from their send to their receive, and
//! other statements and events of processes.
//!
//! The model identifies the processes that take part in a step. In Promela its queues show what was sent and received, in
//! CSP# events do.

use std::collections::{BTreeSet, HashMap, VecDeque};

use quotient_ir::{
    Action, Caption, Exchange, Exchanges, Interpreter, Layout, Model, PartKind, Presentation, Shown, ShownPart,
    TableIndex, Trace, TraceStep, TypeKind, Valuation,
};

/// The chart of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceChart {
    /// The names of the processes, in order of their numbers.
    pub processes: Vec<String>,
    /// The messages, in the order in which they are sent.
    pub messages: Vec<ChartMessage>,
    /// Steps without messages.
    pub notes: Vec<ChartNote>,
}

/// A message from a step of a process to a step of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartMessage {
    /// The position of the sender.
    pub from: usize,
    /// The step of the run that sends it.
    pub sent: usize,
    /// The position of the receiver and the step that receives it; none if it is never received.
    pub to: Option<(usize, usize)>,
    /// What is sent.
    pub text: String,
}

/// What a process does by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartNote {
    /// The position of the process.
    pub process: usize,
    /// The step of the run.
    pub step: usize,
    /// The statement or event.
    pub text: String,
}

/// A process: its number and what it is called.
type Process = (i64, String);

/// A process that takes part in a step, and the statement it executes.
struct Doer {
    process: Process,
    statement: String,
}

/// A message from a step of a process to a step of another.
struct Message {
    from: (Process, usize),
    to: Option<(Process, usize)>,
    text: String,
}

/// The chart of a run; none if the model has no processes.
pub fn sequence_chart(model: &Model, layout: &Layout, trace: &Trace) -> Option<SequenceChart> {
    if let Some(exchanges) = &model.exchanges {
        return Some(chart_of_events(model, layout, exchanges, trace));
    }
    let presentation = model.presentation.as_ref()?;
    let mut chart = Chart::default();
    let queues: Vec<&ShownPart> = presentation.parts.iter().filter(|part| part.kind == PartKind::Queue).collect();
    for (step, pair) in (1..).zip(trace.steps.windows(2)) {
        let Some(doers) = doers(presentation, &pair[1]) else { continue };
        chart.processes.extend(doers.iter().map(|doer| doer.process.clone()));
        match &doers[..] {
            [sender, receiver] if sender.process != receiver.process => chart.messages.push(Message {
                from: (sender.process.clone(), step),
                to: Some((receiver.process.clone(), step)),
                text: sent_text(&sender.statement),
            }),
            [doer, others @ ..] => {
                let mut communicates = false;
                for (number, queue) in queues.iter().enumerate() {
                    let contents = |taken: &TraceStep| contents(model, layout, queue, &taken.state);
                    communicates |= chart.pass(number, &doer.process, step, &contents(&pair[0]), &contents(&pair[1]));
                }
                if !communicates {
                    let more = if others.is_empty() { "" } else { " …" };
                    chart.local.push((doer.process.clone(), step, format!("{}{more}", doer.statement)));
                }
            }
            [] => {}
        }
    }
    Some(chart.finished())
}

/// The chart of a run in which events say what is exchanged.
fn chart_of_events(model: &Model, layout: &Layout, exchanges: &Exchanges, trace: &Trace) -> SequenceChart {
    let interpreter = Interpreter::new(model, layout);
    let mut chart = Chart::default();
    let mut waiting: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (step, pair) in (1..).zip(trace.steps.windows(2)) {
        let Action::Rule(rule) = pair[1].action else { continue };
        let Some(taken) = exchanges.steps.get(rule.position()) else { continue };
        let text = match interpreter.event(&taken.label, rule, &pair[0].state) {
            Ok(Shown::Event(text)) => text,
            Ok(Shown::Internal) => "tau".to_owned(),
            Ok(Shown::Nothing) | Err(_) => continue,
        };
        let process = |&number: &usize| (number as i64, exchanges.processes[number].clone());
        let participants: Vec<Process> = taken.participants.iter().map(process).collect();
        chart.processes.extend(participants.iter().cloned());
        match (taken.exchange, &participants[..]) {
            (Exchange::Passed, [sender, receiver, ..]) => {
                let (from, to) = ((sender.clone(), step), Some((receiver.clone(), step)));
                chart.messages.push(Message { from, to, text });
            }
            (Exchange::Sent(indices), [sender, ..]) => {
                waiting.entry(buffer(&text, indices)).or_default().push_back(chart.messages.len());
                chart.messages.push(Message { from: (sender.clone(), step), to: None, text });
            }
            (Exchange::Received(indices), [receiver, ..]) => {
                // A buffer that was not empty at the beginning of the run has messages without a sender.
                match waiting.entry(buffer(&text, indices)).or_default().pop_front() {
                    Some(message) => chart.messages[message].to = Some((receiver.clone(), step)),
                    None => chart.local.push((receiver.clone(), step, text)),
                }
            }
            (_, all) => chart.local.extend(all.iter().map(|process| (process.clone(), step, text.clone()))),
        }
    }
    chart.finished()
}

/// The channel of an event such as `c!1.5`, with its indices.
fn buffer(event: &str, indices: usize) -> String {
    let (name, values) = event.split_once(['!', '?']).unwrap_or((event, ""));
    values.split('.').take(indices).fold(name.to_owned(), |channel, index| format!("{channel}[{index}]"))
}

/// What is known so far.
#[derive(Default)]
struct Chart {
    processes: BTreeSet<Process>,
    messages: Vec<Message>,
    /// The messages in each queue, by number.
    queued: HashMap<usize, VecDeque<usize>>,
    local: Vec<(Process, usize, String)>,
}

impl Chart {
    /// The chart with positions of processes.
    fn finished(self) -> SequenceChart {
        let position: HashMap<&Process, usize> = self.processes.iter().zip(0..).collect();
        let message = |message: &Message| ChartMessage {
            from: position[&message.from.0],
            sent: message.from.1,
            to: message.to.as_ref().map(|(process, step)| (position[process], *step)),
            text: message.text.clone(),
        };
        let note = |(process, step, text): &(Process, usize, String)| ChartNote {
            process: position[process],
            step: *step,
            text: text.clone(),
        };
        SequenceChart {
            messages: self.messages.iter().map(message).collect(),
            notes: self.local.iter().map(note).collect(),
            processes: self.processes.iter().map(|(_, name)| name.clone()).collect(),
        }
    }

    /// Records the effect of a process on a queue; returns whether there was any.
    fn pass(&mut self, queue: usize, process: &Process, step: usize, before: &[String], after: &[String]) -> bool {
        let waiting = self.queued.entry(queue).or_default();
        let changed = before.iter().zip(after).position(|(old, new)| old != new);
        let changed = changed.unwrap_or(before.len().min(after.len()));
        for text in after.iter().skip(changed).take(after.len().saturating_sub(before.len())) {
            // Messages are appended, unless the send is sorted.
            let position = changed.min(waiting.len());
            waiting.insert(position, self.messages.len());
            self.messages.push(Message { from: (process.clone(), step), to: None, text: text.clone() });
        }
        for _ in after.len()..before.len() {
            if let Some(message) = waiting.remove(changed.min(waiting.len().saturating_sub(1))) {
                self.messages[message].to = Some((process.clone(), step));
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
