//! Runs: made by hand, at random, from counterexamples or from files, and shown step by step.

use std::collections::{BTreeMap, HashMap};

use quotient::ir::{Action, Interpreter, RuleId, StartId, TableIndex, Trace, TraceStep};
use quotient::names::{instance_title, subject_name, visible};
use quotient::shown::{
    ChartMessage, ChartNote, Entry, SequenceChart, StateShape, describe_violation, lanes, sequence_chart,
};
use quotient::walk::{self, Candidates, Consequence, Randomness};
use quotient::{Expression, Model, Report, RunFile, Subject};
use serde_json::{Value, json};

use crate::answers::{Answer, Problem};
use crate::graph::Context;
use crate::texts;

/// The most runs that are kept.
const KEPT: usize = 100;
/// The most steps of a random run.
const LONGEST: u64 = 10_000;

/// The runs that are kept, by number.
#[derive(Default)]
pub(crate) struct Runs {
    list: BTreeMap<u64, Run>,
    last: u64,
}

/// A run and what it is about.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) trace: Trace,
    pub(crate) subject: Option<Subject>,
    notes: Vec<String>,
}

/// What a run begins with.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beginning {
    start: Option<usize>,
    arguments: Option<Vec<i64>>,
    pub(crate) property: Option<String>,
    random: Option<u64>,
    seed: Option<u64>,
    file: Option<String>,
}

/// A step that is chosen.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    after: usize,
    rule: Option<usize>,
    #[serde(default)]
    arguments: Vec<i64>,
}

impl Runs {
    /// Keeps a run, and returns its number.
    pub(crate) fn keep(&mut self, run: Run) -> u64 {
        self.last += 1;
        self.list.insert(self.last, run);
        while self.list.len() > KEPT {
            self.list.pop_first();
        }
        self.last
    }

    /// A run that is kept.
    pub(crate) fn get(&self, number: u64) -> Result<&Run, Problem> {
        self.list.get(&number).ok_or_else(|| Problem::missing(format!("there is no run {number}")))
    }

    /// Changes a run.
    pub(crate) fn replace(&mut self, number: u64, run: Run) {
        self.list.insert(number, run);
    }
}

impl Run {
    /// A run that is about nothing.
    pub(crate) fn new(steps: Vec<TraceStep>, interpreter: &Interpreter<'_>) -> Self {
        let violation = steps.last().and_then(|step| walk::violated_invariant(interpreter, &step.state));
        Self { trace: Trace::new(steps, violation), subject: None, notes: Vec::new() }
    }

    /// The run that a request asks for; `report` has counterexamples.
    pub(crate) fn begin(context: &Context<'_>, asked: Beginning, report: Option<&Report>) -> Result<Self, Problem> {
        let ways = [asked.start.is_some(), asked.property.is_some(), asked.random.is_some(), asked.file.is_some()];
        if ways.iter().filter(|way| **way).count() > 1 {
            return Err(Problem::bad("a run has one beginning: `start`, `property`, `random` or `file`"));
        }
        if (asked.arguments.is_some() && asked.start.is_none()) || (asked.seed.is_some() && asked.random.is_none()) {
            return Err(Problem::bad("`arguments` belong to `start`, and `seed` to `random`"));
        }
        let interpreter = &context.interpreter;
        if let Some(name) = &asked.property {
            return counterexample(context.model, name, report);
        }
        if let Some(text) = &asked.file {
            let recorded = RunFile::from_text("the file", text)?.run_of(context.model)?;
            return Ok(Self { trace: recorded.trace, subject: None, notes: recorded.notes });
        }
        if let Some(most) = asked.random {
            return Ok(random(interpreter, most.min(LONGEST), asked.seed.unwrap_or_else(walk::fresh_seed)));
        }
        let candidates = walk::starts(interpreter);
        let wished = |candidate: &walk::Candidate| match asked.start {
            None => true,
            Some(start) => {
                let same = asked.arguments.as_ref().is_none_or(|wished| *wished == candidate.arguments);
                candidate.action == Action::Start(StartId::from_position(start)) && same
            }
        };
        let candidate = candidates.list.into_iter().find(wished);
        let candidate = candidate.ok_or_else(|| Problem::bad("the model has no such start"))?;
        Ok(Self::new(vec![taken(interpreter, candidate)?], interpreter))
    }

    /// The same with another step after some of its steps, or only cut off there.
    pub(crate) fn continued(&self, interpreter: &Interpreter<'_>, chosen: Chosen) -> Result<Self, Problem> {
        let Some(step) = self.trace.steps.get(chosen.after) else {
            return Err(Problem::bad(format!("the run has no step {}", chosen.after)));
        };
        let mut steps = self.trace.steps[..=chosen.after].to_vec();
        if let Some(rule) = chosen.rule {
            if rule >= interpreter.model().rules.len() {
                return Err(Problem::bad(format!("the model has no rule {rule}")));
            }
            let action = Action::Rule(RuleId::from_position(rule));
            let mut candidates = walk::successors(interpreter, &step.state).list.into_iter();
            let found = candidates.find(|it| it.action == action && it.arguments == chosen.arguments);
            let candidate = found.ok_or_else(|| Problem::bad("this cannot happen here"))?;
            steps.push(taken(interpreter, candidate)?);
        } else if chosen.after + 1 == self.trace.steps.len() {
            return Ok(self.clone());
        }
        Ok(Self::new(steps, interpreter))
    }

    /// The whole run.
    pub(crate) fn object(&self, context: &Context<'_>, number: u64) -> Value {
        let (model, interpreter) = (context.model, &context.interpreter);
        let shape = StateShape::new(model.ir(), model.layout());
        let columns = lanes(model.ir(), &self.trace);
        let mut before: Option<&TraceStep> = None;
        let mut steps = Vec::new();
        for (step, taking) in self.trace.steps.iter().zip(&columns.steps) {
            let previous = before.map(|step| &step.state);
            let (name, rest) = instance_title(interpreter, step.action, &step.arguments, previous);
            let printed = interpreter.printed(step.action, &step.arguments, previous);
            steps.push(json!({
                "title": name + &rest,
                "instance": texts::instance(interpreter, model, step.action, &step.arguments),
                "lanes": taking,
                "changes": previous.map_or_else(|| json!([]), |it| texts::changes(&shape, it, &step.state)),
                "printed": printed.lines().map(visible).collect::<Vec<_>>(),
                "place": texts::place_of_step(model, step.action),
            }));
            before = Some(step);
        }
        let violation = self.trace.violation.as_ref().map(|violation| {
            let text = describe_violation(model.ir(), model.layout(), violation);
            json!({ "message": text.message, "place": text.span.map(|span| texts::place(model, span)) })
        });
        json!({
            "id": number,
            "subject": self.subject.map(|subject| subject_name(model.ir(), subject)),
            "notes": self.notes,
            "steps": steps,
            "cycle": self.trace.cycle,
            "violation": violation,
            "lanes": columns.names,
            "chart": sequence_chart(model.ir(), model.layout(), &self.trace).map(chart_object),
        })
    }

    /// The state after a step, and what can happen then.
    pub(crate) fn step(&self, context: &Context<'_>, number: usize) -> Answer {
        let Some(step) = self.trace.steps.get(number) else {
            return Err(Problem::missing(format!("the run has no step {number}")));
        };
        let shape = StateShape::new(context.model.ir(), context.model.layout());
        let before: Option<HashMap<String, Vec<String>>> = number.checked_sub(1).map(|previous| {
            let mut entries: HashMap<String, Vec<String>> = HashMap::new();
            for Entry { name, value } in shape.entries(&self.trace.steps[previous].state) {
                entries.entry(name).or_default().push(value);
            }
            entries
        });
        let is_changed = |name: &str, value: &String| {
            before.as_ref().is_some_and(|before| before.get(name).is_none_or(|old| !old.contains(value)))
        };
        let entry = |Entry { name, value }| json!({ "is_changed": is_changed(&name, &value), "value": visible(&value), "name": name });
        let candidates = walk::successors(&context.interpreter, &step.state);
        Ok(json!({
            "step": number,
            "state": shape.entries(&step.state).into_iter().map(entry).collect::<Vec<_>>(),
            "orbit": context.orbits.size(&step.state),
            "violates": texts::violation(&context.interpreter, &step.state),
            "is_complete": !candidates.is_cut,
            "enabled": enabled(context, &candidates, Some(step)),
        }))
    }

    /// The values of expressions after every step.
    pub(crate) fn values(&self, expressions: &[(String, Result<Expression, Problem>)]) -> Value {
        let states = || self.trace.steps.iter().map(|step| &step.state);
        let value = |(text, expression): &(String, Result<Expression, Problem>)| match expression {
            Ok(expression) => json!({ "expression": text, "error": null, "values": expression.values(states()) }),
            Err(problem) => json!({ "expression": text, "error": problem.message(), "values": [] }),
        };
        json!({ "values": expressions.iter().map(value).collect::<Vec<_>>() })
    }
}

/// What can happen first.
pub(crate) fn starts(context: &Context<'_>) -> Value {
    json!({ "enabled": enabled(context, &walk::starts(&context.interpreter), None) })
}

/// The step of a candidate that has a successor.
fn taken(interpreter: &Interpreter<'_>, candidate: walk::Candidate) -> Result<TraceStep, Problem> {
    match candidate.consequence {
        Consequence::State(state) => Ok(TraceStep { action: candidate.action, arguments: candidate.arguments, state }),
        other => Err(Problem::bad(texts::fault(interpreter, &other).unwrap_or_default())),
    }
}

/// The counterexample of a property, or the run to a cover property.
fn counterexample(model: &Model, name: &str, report: Option<&Report>) -> Result<Run, Problem> {
    let report = report.ok_or_else(|| Problem::early("the search is not over"))?;
    let violated = report.properties.iter().map(|it| (Some(it.subject), it.trace.as_ref()));
    let covered = report.cover_runs.iter().map(|(id, trace)| (Some(Subject::Property(*id)), Some(trace)));
    let best = report.optima.iter().map(|it| (Some(Subject::Property(it.property)), Some(&it.trace)));
    let fault = report.fault.iter().map(|trace| (Some(Subject::Errors), Some(trace)));
    let mut named = violated
        .chain(covered)
        .chain(best)
        .chain(fault)
        .filter(|(subject, _)| subject.is_some_and(|subject| subject_name(model.ir(), subject) == name))
        .peekable();
    if named.peek().is_none() {
        return Err(Problem::missing(format!("no property `{name}` was checked")));
    }
    match named.find_map(|(subject, trace)| Some((subject, trace?))) {
        Some((subject, trace)) => Ok(Run { trace: trace.clone(), subject, notes: Vec::new() }),
        None => Err(Problem::missing(format!("there is no run for property `{name}`"))),
    }
}

fn random(interpreter: &Interpreter<'_>, most: u64, seed: u64) -> Run {
    let mut steps: Vec<TraceStep> = Vec::new();
    let mut randomness = Randomness::new(seed);
    for _ in 0..=most {
        let candidate = match steps.last() {
            None => walk::random_start(interpreter, &mut randomness),
            Some(step) => walk::take_random(&mut walk::successors(interpreter, &step.state), &mut randomness),
        };
        let Some(Ok(step)) = candidate.map(|candidate| taken(interpreter, candidate)) else { break };
        let is_wrong = walk::violated_invariant(interpreter, &step.state).is_some();
        steps.push(step);
        if is_wrong {
            break;
        }
    }
    Run { notes: vec![format!("random choices with seed {seed}")], ..Run::new(steps, interpreter) }
}

/// Candidates in groups: the instances of a rule that lead to states of one orbit.
fn enabled(context: &Context<'_>, candidates: &Candidates, before: Option<&TraceStep>) -> Value {
    let firsts = context.orbits.firsts(candidates);
    let shape = StateShape::new(context.model.ir(), context.model.layout());
    let mut groups: Vec<((Action, usize), Vec<usize>)> = Vec::new();
    for (position, candidate) in candidates.list.iter().enumerate() {
        let key = (candidate.action, firsts[position]);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(position),
            None => groups.push((key, vec![position])),
        }
    }
    let group = |(_, members): &((Action, usize), Vec<usize>)| {
        let instance = |&position: &usize| {
            let candidate = &candidates.list[position];
            texts::instance(&context.interpreter, context.model, candidate.action, &candidate.arguments)
        };
        let first = &candidates.list[members[0]];
        let changes = match (&first.consequence, before) {
            (Consequence::State(state), Some(before)) => texts::changes(&shape, &before.state, state),
            _ => json!([]),
        };
        json!({
            "instances": members.iter().map(instance).collect::<Vec<_>>(),
            "to_orbit": context.orbits.is_reduced(),
            "fault": texts::fault(&context.interpreter, &first.consequence),
            "changes": changes,
        })
    };
    groups.iter().map(group).collect()
}

fn chart_object(chart: SequenceChart) -> Value {
    let message = |ChartMessage { from, sent, to, text }: &ChartMessage| {
        json!({
            "from": from, "sent": sent, "to": to.map(|it| it.0), "received": to.map(|it| it.1), "text": visible(text),
        })
    };
    let note = |ChartNote { process, step, text }: &ChartNote| json!({ "process": process, "step": step, "text": visible(text) });
    json!({
        "processes": chart.processes,
        "messages": chart.messages.iter().map(message).collect::<Vec<_>>(),
        "local": chart.notes.iter().map(note).collect::<Vec<_>>(),
    })
}
