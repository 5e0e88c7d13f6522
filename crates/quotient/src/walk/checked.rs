//! Checks many random runs, and keeps the first that violates a property.

use quotient_ir::{
    DeadlockMode, Fault, FaultKind, Interpreter, PropertyId, PropertyKind, Trace, TraceStep, Valuation, Violation,
    replay,
};

use quotient_systems::walk::violated_invariant;

use super::candidates::{Consequence, random_start, successors, take_random};
use super::randomness::Randomness;

/// Which runs to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsOptions {
    /// The seed of the first run; each further run has the next number, so that it can be repeated on its own.
    pub seed: u64,
    /// The number of runs.
    pub runs: u64,
    /// The maximum number of steps of each.
    pub steps: u64,
    /// What counts as a deadlock.
    pub deadlock: DeadlockMode,
}

/// The outcome of checking random runs. The absence of violations proves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsReport {
    /// The number of runs made.
    pub runs: u64,
    /// The total number of steps, not counting starts.
    pub steps: u64,
    /// The first violating run.
    pub violation: Option<ViolatingRun>,
    /// The cover properties that were reached.
    pub covered: Vec<PropertyId>,
    /// A step that did not terminate within its limit, and the number of runs that ended so.
    pub exhausted: Option<(Fault, u64)>,
}

/// A violating run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolatingRun {
    /// Its number, from 1.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// The run, replayed.
    pub trace: Trace,
}

/// Makes random runs, each from a random start, and checks every invariant, assertion and cover property along them;
/// run-time errors and deadlocks are violations, too. Liveness is not checked: a finite run says nothing about it.
///
/// ```
/// use quotient::ir::{DeadlockMode, Interpreter};
/// use quotient::{Language, Model, walk};
///
/// let text = "var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end; invariant x < 3;";
/// let model = Model::from_text("counter", text, Language::Murphi)?;
/// let interpreter = Interpreter::new(model.ir(), model.layout());
/// let options = walk::RunsOptions { seed: 1, runs: 10, steps: 100, deadlock: DeadlockMode::Stuttering };
/// let report = walk::check_runs(&interpreter, &options);
/// assert_eq!(report.violation.expect("a run").trace.steps.len(), 4);
/// # Ok::<(), quotient::Error>(())
/// ```
pub fn check_runs(interpreter: &Interpreter<'_>, options: &RunsOptions) -> RunsReport {
    let mut report = RunsReport::default();
    for number in 1..=options.runs {
        let seed = options.seed.wrapping_add(number - 1);
        let mut steps = Vec::new();
        let ended = run(interpreter, options, seed, &mut steps, &mut report);
        report.runs = number;
        report.steps += steps.len().saturating_sub(1) as u64;
        if let Some(violation) = ended {
            let trace = Trace::new(steps, Some(violation));
            report.violation = Some(ViolatingRun { number, seed, trace });
            break;
        }
    }
    report
}

/// Makes one run; returns its violation.
fn run(
    interpreter: &Interpreter<'_>,
    options: &RunsOptions,
    seed: u64,
    steps: &mut Vec<TraceStep>,
    report: &mut RunsReport,
) -> Option<Violation> {
    let mut randomness = Randomness::new(seed);
    let mut give_up = |fault: Fault| {
        report.exhausted.get_or_insert((fault, 0)).1 += 1;
        None
    };
    for _ in 0..=options.steps {
        let candidate = match steps.last() {
            None => random_start(interpreter, &mut randomness),
            Some(step) => {
                let mut candidates = successors(interpreter, &step.state);
                let leads_on = candidates.is_cut
                    || candidates
                        .list
                        .iter()
                        .any(|candidate| candidate.consequence != Consequence::State(step.state.clone()));
                if !leads_on && is_deadlock(interpreter, options.deadlock, steps) {
                    return Some(Violation::Deadlock(options.deadlock));
                }
                take_random(&mut candidates, &mut randomness)
            }
        };
        let candidate = candidate?;
        let state = match candidate.consequence {
            Consequence::State(state) => state,
            Consequence::Violation(violation) => return Some(violation),
            Consequence::Exhausted(fault) => return give_up(fault),
        };
        steps.push(TraceStep { action: candidate.action, arguments: candidate.arguments, state });
        let state = &steps.last().expect("just pushed").state;
        match violated_invariant(interpreter, state) {
            Some(Violation::PropertyFault { fault, .. }) if fault.kind == FaultKind::Exhausted => {
                return give_up(fault);
            }
            Some(violation) => return Some(violation),
            None => {}
        }
        if let Some(violation) = note_covers(interpreter, state, &mut report.covered) {
            return Some(violation);
        }
    }
    None
}

/// Whether the last state has no successor, by the criterion of the replay.
fn is_deadlock(interpreter: &Interpreter<'_>, mode: DeadlockMode, steps: &[TraceStep]) -> bool {
    mode != DeadlockMode::Off
        && replay(interpreter, &Trace::new(steps.to_vec(), Some(Violation::Deadlock(mode)))).is_ok()
}

/// Records the cover properties that a state reaches; returns one that has no value.
fn note_covers(interpreter: &Interpreter<'_>, state: &Valuation, covered: &mut Vec<PropertyId>) -> Option<Violation> {
    if interpreter.passes(state) {
        return None;
    }
    for (property, entry) in interpreter.model().properties.iter_enumerated() {
        if entry.kind != PropertyKind::Cover || covered.contains(&property) {
            continue;
        }
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            match interpreter.holds(property, &arguments, state) {
                Ok(true) => {
                    covered.push(property);
                    break;
                }
                Ok(false) => {}
                Err(fault) if fault.kind == FaultKind::Exhausted => {}
                Err(fault) => return Some(Violation::PropertyFault { property, arguments, fault }),
            }
        }
    }
    None
}
