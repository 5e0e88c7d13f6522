//! From a search to a report: one verdict for each subject, each violation with a replayed run.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_ir::{DeadlockMode, Interpreter, PropertyKind, Violation};

use crate::OrbitSize;
use crate::checkpoint::{Saved, fingerprint};
use crate::judge::Checks;
use crate::liveness::find_dead_ends;
use crate::observer::{Observer, Progress};
use crate::options::SearchOptions;
use crate::passing::PassingSystem;
use crate::rebuild::rebuild;
use crate::report::{EngineError, PropertyReport, Report, StopReason, Subject, Verdict};
use crate::search::{End, Exploration, explore};
use crate::spill::Overflow;
use crate::system::TransitionSystem;

/// How many orbits are measured between reports of progress.
const COUNTING_INTERVAL: usize = 4096;

/// Searches the reachable states of a transition system of a model and checks the properties of
/// the model. States for which the model says so are passed through. The interpreter replays what is found.
///
/// # Errors
/// If a violation cannot be replayed, which is a defect of this program and never a verdict.
pub fn check_system<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    let system = PassingSystem::new(system, interpreter, options);
    check_counted(&system, interpreter, options, observer, None).map(|(report, _)| report)
}

/// The same with the states that were found, counting the states that the stored ones stand for if they
/// stand for others.
pub(crate) fn check_counted<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
    orbit_size: Option<OrbitSize<'_>>,
) -> Result<(Report, Exploration), EngineError> {
    check_from(system, interpreter, options, None, observer, orbit_size)
}

/// The same where another search may have left off.
pub(crate) fn check_from<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
    orbit_size: Option<OrbitSize<'_>>,
) -> Result<(Report, Exploration), EngineError> {
    let model = interpreter.model();
    let checks = Checks::new(model, options.properties.as_deref());
    let fingerprint = match (&options.checkpoint, &options.resume) {
        (None, None) => 0,
        _ => fingerprint(model, options, system.name()),
    };
    let exploration = explore(system, &checks, options, fingerprint, begin, observer)?;

    // What is said of each subject unless something better is known.
    let mut reports = Vec::new();
    let undecided = match exploration.end {
        End::Finished => Verdict::Holds,
        End::Stopped(_) | End::Found(_) => Verdict::Inconclusive,
    };
    for (id, property) in model.properties.iter_enumerated() {
        let verdict = match property.kind {
            PropertyKind::Invariant if checks.invariants.contains(&id) => undecided,
            PropertyKind::AlwaysReachable if checks.liveness.contains(&id) => undecided,
            PropertyKind::Cover if checks.covers.contains(&id) => match exploration.end {
                _ if exploration.covered.contains(&id) => Verdict::Holds,
                End::Finished => Verdict::Violated,
                End::Stopped(_) | End::Found(_) => Verdict::Inconclusive,
            },
            _ => continue,
        };
        reports.push(PropertyReport { subject: Subject::Property(id), verdict, trace: None });
    }
    if options.deadlock != DeadlockMode::Off {
        reports.push(PropertyReport { subject: Subject::Deadlock, verdict: undecided, trace: None });
    }
    if options.errors {
        reports.push(PropertyReport { subject: Subject::Errors, verdict: undecided, trace: None });
    }

    let stop_reason = match &exploration.end {
        End::Stopped(reason) => Some(reason.clone()),
        End::Found(finding) => match rebuild(system, &exploration.store, finding, interpreter) {
            Ok(trace) => {
                let report = report_on(&mut reports, subject_of(&finding.violation));
                report.verdict = Verdict::Violated;
                report.trace = Some(trace);
                Some(StopReason::Violation)
            }
            // What cannot be shown is not claimed.
            Err(EngineError::Disk(reason)) => Some(StopReason::SpillFailed(reason)),
            Err(error) => return Err(error),
        },
        End::Finished => judge_liveness(system, interpreter, &checks, options, &exploration, observer, &mut reports)?,
    };
    let report = Report {
        verdict: summarize(&reports, stop_reason.as_ref()),
        stop_reason,
        states: exploration.states,
        approximation: exploration.approximation,
        represented: match orbit_size {
            Some(_) if exploration.approximation.is_some() => None,
            None => Some(exploration.states.into()),
            Some(orbit_size) => count_represented(&exploration, orbit_size, observer),
        },
        transitions: exploration.transitions,
        depth: exploration.depth,
        memory_bytes: exploration.memory_bytes,
        words: system.words(),
        disk_bytes: exploration.store.overflow.as_ref().map_or(0, Overflow::peak_bytes),
        properties: reports,
        liveness_searches: Vec::new(),
        canonicalization: None,
        marker_collisions: None,
        never_fired: None,
    };
    Ok((report, exploration))
}

/// Adds up the sizes of the orbits of all stored states, unless that takes longer than the observer allows.
fn count_represented(
    exploration: &Exploration,
    orbit_size: OrbitSize<'_>,
    observer: &mut dyn Observer,
) -> Option<BigUint> {
    let progress = Progress {
        states: exploration.states,
        transitions: exploration.transitions,
        frontier: 0,
        depth: exploration.depth,
        memory_bytes: exploration.memory_bytes,
    };
    let mut represented = BigUint::ZERO;
    let mut position = 0;
    let counted = exploration.store.visit(&exploration.surplus, |state| {
        let Some(size) = orbit_size(state) else { return ControlFlow::Break(()) };
        represented += size;
        position += 1;
        if position % COUNTING_INTERVAL == 0 && observer.progress(&progress).is_break() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    matches!(counted, Ok(ControlFlow::Continue(()))).then_some(represented)
}

/// Fills in the verdicts on liveness after a finished search; returns why it could not.
fn judge_liveness<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    checks: &Checks,
    options: &SearchOptions,
    exploration: &Exploration,
    observer: &mut dyn Observer,
    reports: &mut [PropertyReport],
) -> Result<Option<StopReason>, EngineError> {
    if checks.liveness.is_empty() {
        return Ok(None);
    }
    match find_dead_ends(system, exploration, checks, options, observer) {
        Ok(findings) => {
            for (&property, finding) in checks.liveness.iter().zip(findings) {
                if let Some(finding) = finding {
                    let report = report_on(reports, Subject::Property(property));
                    report.trace = Some(rebuild(system, &exploration.store, &finding, interpreter)?);
                    report.verdict = Verdict::Violated;
                }
            }
            Ok(None)
        }
        Err(reason) => {
            for &property in &checks.liveness {
                report_on(reports, Subject::Property(property)).verdict = Verdict::Inconclusive;
            }
            Ok(Some(reason))
        }
    }
}

/// The subject that a violation is about.
fn subject_of(violation: &Violation) -> Subject {
    match violation {
        Violation::Property { property, .. } | Violation::Unreachable { property, .. } => Subject::Property(*property),
        Violation::Deadlock(_) => Subject::Deadlock,
        Violation::Fault { .. } | Violation::PropertyFault { .. } => Subject::Errors,
    }
}

fn report_on(reports: &mut [PropertyReport], subject: Subject) -> &mut PropertyReport {
    let found = reports.iter_mut().find(|report| report.subject == subject);
    found.expect("a search finds only what it was asked for")
}

/// A search that did not finish is inconclusive even if nobody asked for anything.
pub(crate) fn summarize(reports: &[PropertyReport], stop_reason: Option<&StopReason>) -> Verdict {
    let any = |verdict| reports.iter().any(|report| report.verdict == verdict);
    if any(Verdict::Violated) {
        Verdict::Violated
    } else if any(Verdict::Inconclusive) || stop_reason.is_some() && reports.is_empty() {
        Verdict::Inconclusive
    } else {
        Verdict::Holds
    }
}
