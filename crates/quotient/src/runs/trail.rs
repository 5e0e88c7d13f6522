//! SPIN's trails. A line is `step:process:transition`: the process that moves, and the number of the transition in the
//! table of pan, which counts the elements of all process types in the order of the text. One line may be several steps
//! of one process, since SPIN merges statements that are invisible to others, and a handshake is two lines.

use std::path::Path;

use quotient_ir::{
    Action, Caption, DeadlockMode, Interpreter, Presentation, Source, Span, Trace, TraceStep, Violation,
    check_violation, replay,
};

use super::follow::{Followed, Lost, PossibleStep, follow};
use super::{Misfit, RecordedRun, fault_at};
use crate::error::Error;
use crate::model::{Model, read, unreadable};
use crate::walk::{Candidate, Consequence, successors, violated_invariant};

/// The maximum number of steps after the last line that belong to it.
const MOST_MERGED: usize = 1000;

/// A trail that SPIN has written.
#[derive(Debug)]
pub struct TrailFile {
    source: Source,
    lines: Vec<TrailLine>,
    /// The number of lines before the cycle, if there is one.
    cycle: Option<usize>,
}

/// A move of a process.
#[derive(Clone, Copy, Debug)]
struct TrailLine {
    process: i64,
    transition: i64,
    span: Span,
}

/// How much of a line is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belief {
    /// The process and its transition.
    Transitions,
    /// The process.
    Processes,
}

impl TrailFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no trail.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = std::fs::File::open(path).and_then(read).map_err(|error| unreadable(path, &error))?;
        Self::from_text(&path.to_string_lossy(), &String::from_utf8_lossy(&bytes))
    }

    /// Reads a text, which is called by a name in messages.
    ///
    /// # Errors
    /// If it is no trail.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        let source = Source::new(name, text);
        match lines_of(text) {
            Ok((lines, cycle)) => Ok(Self { source, lines, cycle }),
            Err(misfit) => Err(misfit.in_file(&source)),
        }
    }

    /// The run described by a trail, as a run of a model. It ends with the violation.
    ///
    /// # Errors
    /// If the model has no such run.
    pub fn run_of(&self, model: &Model) -> Result<RecordedRun, Error> {
        let interpreter = Interpreter::new(model.ir(), model.layout());
        let Some(presentation) = &model.ir().presentation else {
            let help = "trails are those of Promela models";
            let misfit = fault_at(self.lines[0].span, "the model has no processes").with_help(help);
            return Err(misfit.in_file(&self.source));
        };
        let with = |belief| self.follow(&interpreter, presentation, belief);
        let mut notes = Vec::new();
        let Followed { mut steps, violation } = match with(Belief::Transitions) {
            Ok(followed) => followed,
            Err(lost) => match with(Belief::Processes) {
                Ok(followed) => {
                    let line =
                        self.source.line_and_column(self.lines[lost.position.min(self.lines.len() - 1)].span.start).0;
                    notes.push(format!(
                        "the transition in line {line} of the trail is not one of this model; the run follows the \
                         processes of the trail only, and may not be the one that SPIN has found"
                    ));
                    followed
                }
                Err(_) => return Err(self.not_followed(&lost, presentation).in_file(&self.source)),
            },
        };
        let violation = violation.or_else(|| self.finish(&interpreter, presentation, &mut steps));
        let cycle = self.cycle.and_then(|lines| self.cycle_of(presentation, &steps, lines));
        let trace = match cycle {
            Some(begin) => Trace::lasso(steps, begin, violation),
            None => Trace::new(steps, violation),
        };
        if self.cycle.is_some() && trace.cycle.is_none() {
            notes.push("the cycle of the trail does not lead back to its first state in this model".into());
        }
        match replay(&interpreter, &trace) {
            Ok(()) => Ok(RecordedRun { trace, notes }),
            Err(error) => {
                let place = self.lines[self.lines.len() - 1].span;
                Err(fault_at(place, format!("this is not a run of the model: {error}")).in_file(&self.source))
            }
        }
    }

    fn follow(
        &self,
        interpreter: &Interpreter<'_>,
        presentation: &Presentation,
        belief: Belief,
    ) -> Result<Followed, Lost> {
        // The start is the step before the first line.
        follow(interpreter, self.lines.len() + 1, |position, step| {
            if step.before.is_none() {
                return Some(1);
            }
            self.advance(presentation, belief, position - 1, step).map(|line| line + 1)
        })
    }

    /// The line after a step, if the step is possible before line `at`.
    fn advance(
        &self,
        presentation: &Presentation,
        belief: Belief,
        at: usize,
        step: &PossibleStep<'_>,
    ) -> Option<usize> {
        let moves = moves(presentation, step.action, step.arguments)?;
        let Some(&(first, _)) = moves.first() else { return Some(at) };
        // A step may be a handshake, or several consecutive statements, including merged ones.
        let mut taken = 0;
        let mut lines = at;
        while let Some(line) = self.lines.get(lines) {
            let fits = |&(process, number): &(i64, i64)| {
                line.process == process && (belief == Belief::Processes || number == line.transition)
            };
            let Some(skipped) = moves[taken..].iter().position(fits) else { break };
            taken += skipped + 1;
            lines += 1;
        }
        let is_told = |process: i64| self.lines[at..lines].iter().any(|line| line.process == process);
        if lines > at {
            return moves.iter().all(|it| is_told(it.0)).then_some(lines);
        }
        // A statement that is merged with the one before it.
        let before = at.checked_sub(1).map(|before| self.lines[before].process);
        (before == Some(first) && moves.iter().all(|it| it.0 == first)).then_some(at)
    }

    /// The violation at the end. Statements that SPIN merged with the last line are executed first, as far as nothing
    /// else can happen: the rest of an atomic sequence.
    fn finish(
        &self,
        interpreter: &Interpreter<'_>,
        presentation: &Presentation,
        steps: &mut Vec<TraceStep>,
    ) -> Option<Violation> {
        let last = self.lines[self.lines.len() - 1].process;
        for _ in 0..MOST_MERGED {
            let state = &steps.last()?.state;
            if let Some(violation) = violated_invariant(interpreter, state) {
                return Some(violation);
            }
            let deadlock = Violation::Deadlock(DeadlockMode::Stuck);
            if check_violation(interpreter, &deadlock, Some(state)).is_ok() {
                return Some(deadlock);
            }
            if !interpreter.passes(state) {
                return None;
            }
            let mut own = successors(interpreter, state).list;
            own.retain(|it| {
                let moves = moves(presentation, it.action, &it.arguments);
                moves.is_some_and(|moves| moves.iter().any(|it| it.0 == last))
            });
            match <[Candidate; 1]>::try_from(own) {
                Ok([Candidate { action, arguments, consequence: Consequence::State(state) }]) => {
                    steps.push(TraceStep { action, arguments, state });
                }
                Ok([Candidate { consequence: Consequence::Violation(violation), .. }]) => return Some(violation),
                _ => return None,
            }
        }
        None
    }

    /// The step after which the cycle begins: the last one before the marked line whose state equals the last state.
    fn cycle_of(&self, presentation: &Presentation, steps: &[TraceStep], lines: usize) -> Option<usize> {
        let last = &steps.last()?.state;
        // Among the steps of the lines before the cycle, including merged ones.
        let mut position = 0;
        let mut candidate = None;
        for (number, step) in steps.iter().enumerate() {
            if number > 0 {
                let before = Some(&steps[number - 1].state);
                let (action, arguments, after) = (step.action, &step.arguments[..], Some(&step.state));
                let step = PossibleStep { action, arguments, before, after };
                position = self.advance(presentation, Belief::Processes, position, &step).unwrap_or(position);
            }
            if position <= lines && step.state == *last && number + 1 < steps.len() {
                candidate = Some(number);
            }
        }
        candidate
    }

    fn not_followed(&self, lost: &Lost, presentation: &Presentation) -> Misfit {
        let line = self.lines[lost.position.saturating_sub(1).min(self.lines.len() - 1)];
        let process = line.process;
        if lost.gave_up {
            return fault_at(line.span, format!("gave up looking for this step of process {process}"));
        }
        let statement = presentation.statements.iter().find(|it| it.transition == line.transition);
        let what = statement.map_or_else(String::new, |it| format!(": `{}`, line {}", it.text, it.line));
        let message = format!("process {process} cannot take this step{what}");
        let help = "a trail fits the model, the preprocessor definitions and the options it was made with";
        fault_at(line.span, message).with_help(help)
    }
}

/// The processes that move in a step, with the numbers of their transitions; none for a step that SPIN does not have.
fn moves(presentation: &Presentation, action: Action, arguments: &[i64]) -> Option<Vec<(i64, i64)>> {
    let Action::Rule(rule) = action else { return None };
    let participants = match presentation.caption(rule)? {
        Caption::Statements(participants) => participants.as_slice(),
        Caption::Remark(participant, _) => participant.as_slice(),
    };
    let number =
        |it: &quotient_ir::Participant| (it.number.of(arguments), presentation.statements[it.statement].transition);
    Some(participants.iter().map(number).collect())
}

/// Reads the lines. Those with negative numbers describe how the trail was made.
fn lines_of(text: &str) -> Result<(Vec<TrailLine>, Option<usize>), Misfit> {
    let mut lines = Vec::new();
    let mut cycle = None;
    let mut has_claim = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let numbers: Result<Vec<i64>, _> = line.trim().split(':').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[-1, _, _]) => cycle = Some(lines.len()),
            Ok(&[-2, _, _]) => has_claim = true,
            Ok(&[step, _, _]) if step < 0 => {}
            Ok(&[_, process, transition]) if process >= 0 => lines.push(TrailLine { process, transition, span }),
            _ => {
                let help = "a line of a trail is `step:process:transition`, three numbers";
                return Err(fault_at(span, "this is not a line of a trail").with_help(help));
            }
        }
    }
    if has_claim {
        // The claim is process 0, and the others are counted from 1.
        let before = |lines: &[TrailLine]| lines.iter().filter(|line| line.process > 0).count();
        cycle = cycle.map(|cycle| before(&lines[..cycle]));
        lines.retain(|line| line.process > 0);
        lines.iter_mut().for_each(|line| line.process -= 1);
    }
    if lines.is_empty() {
        return Err(fault_at(Span::default(), "there is no step in this trail"));
    }
    Ok((lines, cycle))
}
