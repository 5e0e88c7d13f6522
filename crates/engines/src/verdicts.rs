//! From a search to a report: one verdict for each subject, each violation with a replayed run.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_ir::{DeadlockMode, Fault, FaultKind, Interpreter, Model, PropertyId, PropertyKind, Trace, Violation};

use crate::explicit::checkpoint::{Saved, fingerprint};
use crate::explicit::disk::Overflow;
use crate::explicit::judge::Checks;
use crate::explicit::liveness::find_dead_ends;
use crate::explicit::rebuild::rebuild;
use crate::explicit::{End, Exploration, explore};
use crate::observer::{Observer, Progress};
use crate::options::SearchOptions;
use crate::report::{EngineError, Figures, PropertyReport, Report, StopReason, Subject, Verdict};
use crate::seam::SearchSpace;

/// The number of concrete states that a stored state represents, if that is known.
pub(crate) type OrbitSize<'a> = &'a mut dyn FnMut(&[u64]) -> Option<BigUint>;

/// How many orbits are measured between reports of progress.
const COUNTING_INTERVAL: usize = 4096;

/// One verdict for each subject that is checked.
pub(crate) struct Verdicts {
    subjects: Vec<PropertyReport>,
    /// Whether faults are one of the subjects.
    errors: bool,
    /// The run to a fault, if they are not.
    fault: Option<Trace>,
    /// The remarks that were reached.
    remarks: Vec<PropertyId>,
}

impl Verdicts {
    /// What is said of each subject unless something better is known, after a search that is finished or not and
    /// reached some cover properties.
    pub(crate) fn new(
        model: &Model,
        checks: &Checks,
        options: &SearchOptions,
        is_finished: bool,
        covered: &[PropertyId],
    ) -> Self {
        let undecided = if is_finished { Verdict::Holds } else { Verdict::Inconclusive };
        let mut subjects = Vec::new();
        for (id, property) in model.properties.iter_enumerated() {
            let verdict = match property.kind {
                PropertyKind::Invariant if checks.invariants.contains(&id) => undecided,
                PropertyKind::AlwaysReachable if checks.liveness.contains(&id) => undecided,
                PropertyKind::Cover if checks.covers.contains(&id) => match is_finished {
                    _ if covered.contains(&id) => Verdict::Holds,
                    true => Verdict::Violated,
                    false => Verdict::Inconclusive,
                },
                _ => continue,
            };
            subjects.push((Subject::Property(id), verdict));
        }
        if options.deadlock != DeadlockMode::Off {
            subjects.push((Subject::Deadlock, undecided));
        }
        if options.errors {
            subjects.push((Subject::Errors, undecided));
        }
        let remarks = checks.remarks.iter().copied().filter(|id| covered.contains(id)).collect();
        let report = |(subject, verdict)| PropertyReport { subject, verdict, trace: None };
        Self { subjects: subjects.into_iter().map(report).collect(), errors: options.errors, fault: None, remarks }
    }

    /// Takes note of what a run shows at its end, and says how that ends the search: a fault is a violation only if
    /// it is one of something that is checked.
    pub(crate) fn conclude(&mut self, trace: Trace) -> StopReason {
        let fault = trace.violation.as_ref().and_then(Violation::fault).filter(|fault| !self.counts(fault)).cloned();
        match fault {
            Some(fault) => {
                self.fault = Some(trace);
                StopReason::Fault(fault)
            }
            None => {
                self.violate(trace);
                StopReason::Violation
            }
        }
    }

    /// Whether a fault is a violation of something that is checked. One that stands for an invariant is, where
    /// that one is checked.
    fn counts(&self, fault: &Fault) -> bool {
        match fault.kind {
            FaultKind::Invariant(property) => {
                self.subjects.iter().any(|report| report.subject == Subject::Property(property))
            }
            _ => self.errors,
        }
    }

    /// Takes note of a violation that a run shows.
    fn violate(&mut self, trace: Trace) {
        let violation = trace.violation.as_ref().expect("a run to a violation");
        let report = self.of(match violation {
            Violation::Property { property, .. } | Violation::Unreachable { property, .. } => {
                Subject::Property(*property)
            }
            Violation::Deadlock(_) => Subject::Deadlock,
            Violation::Fault { fault: Fault { kind: FaultKind::Invariant(property), .. }, .. } => {
                Subject::Property(*property)
            }
            Violation::Fault { .. } | Violation::PropertyFault { .. } => Subject::Errors,
        });
        report.verdict = Verdict::Violated;
        report.trace = Some(trace);
    }

    /// The verdict on a subject.
    fn of(&mut self, subject: Subject) -> &mut PropertyReport {
        let found = self.subjects.iter_mut().find(|report| report.subject == subject);
        found.expect("a search finds only what it was asked for")
    }

    /// The report of a search that ended for a reason, unless it is finished.
    pub(crate) fn report(self, stop_reason: Option<StopReason>, figures: Figures) -> Report {
        Report { fault: self.fault, remarks: self.remarks, ..Report::new(self.subjects, stop_reason, figures) }
    }
}

/// Searches the reachable states of a system, from the start or where another search left off, and checks the
/// properties of its model. `orbit_size` counts the states that a stored one represents, if it represents others.
/// The interpreter replays what is found.
///
/// # Errors
/// If a violation cannot be replayed, which is a defect of this program and never a verdict.
pub(crate) fn search_and_judge<S: SearchSpace>(
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
    let is_finished = matches!(exploration.end, End::Finished);
    let mut verdicts = Verdicts::new(model, &checks, options, is_finished, &exploration.covered);
    let stop_reason = match &exploration.end {
        End::Stopped(reason) => Some(reason.clone()),
        End::Found(finding) => match rebuild(system, &exploration.store, finding, interpreter) {
            Ok(trace) => Some(verdicts.conclude(trace)),
            // What cannot be shown is not claimed.
            Err(EngineError::Disk(reason)) => Some(StopReason::SpillFailed(reason)),
            Err(error) => return Err(error),
        },
        End::Finished => judge_liveness(system, interpreter, &checks, options, &exploration, observer, &mut verdicts)?,
    };
    let represented = match orbit_size {
        Some(_) if exploration.approximation.is_some() => None,
        None => Some(exploration.states.into()),
        Some(orbit_size) => count_represented(&exploration, orbit_size, observer),
    };
    let figures = Figures {
        states: exploration.states,
        represented,
        transitions: exploration.transitions,
        depth: exploration.depth,
        memory_bytes: exploration.memory_bytes,
        disk_bytes: exploration.store.overflow.as_ref().map_or(0, Overflow::peak_bytes),
        words: system.words(),
        approximation: exploration.approximation,
    };
    Ok((verdicts.report(stop_reason, figures), exploration))
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
fn judge_liveness<S: SearchSpace>(
    system: &S,
    interpreter: &Interpreter<'_>,
    checks: &Checks,
    options: &SearchOptions,
    exploration: &Exploration,
    observer: &mut dyn Observer,
    verdicts: &mut Verdicts,
) -> Result<Option<StopReason>, EngineError> {
    if checks.liveness.is_empty() {
        return Ok(None);
    }
    match find_dead_ends(system, exploration, checks, options, observer) {
        Ok(findings) => {
            for finding in findings.into_iter().flatten() {
                verdicts.violate(rebuild(system, &exploration.store, &finding, interpreter)?);
            }
            Ok(None)
        }
        Err(reason) => {
            for &property in &checks.liveness {
                verdicts.of(Subject::Property(property)).verdict = Verdict::Inconclusive;
            }
            Ok(Some(reason))
        }
    }
}
