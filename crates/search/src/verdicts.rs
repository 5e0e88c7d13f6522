//! The verdicts of a search: one for each subject, each violation with a replayed run.

use quotient_ir::{
    DeadlockMode, Fault, FaultKind, Interpreter, Layout, Model, PropertyId, PropertyKind, Trace, Valuation, Violation,
};

use crate::checks::Checks;
use crate::observer::Progress;
use crate::options::SearchOptions;
use crate::report::{Figures, PropertyReport, Report, StopReason, Subject, Verdict};

/// One verdict for each subject that is checked.
pub struct Verdicts {
    subjects: Vec<PropertyReport>,
    /// Whether run-time errors are one of the subjects.
    errors: bool,
    /// The invariants that count as violated where they have no value. So it is in a search that continues past
    /// violations: symmetries preserve where an invariant is satisfied, and not why it is not.
    invariants: Vec<PropertyId>,
    /// The cover properties that were reached.
    covered: Vec<PropertyId>,
    /// Properties other than invariants that have no value in some state.
    without_value: Vec<PropertyId>,
    /// The run to a run-time error, if they are not.
    fault: Option<Trace>,
    /// The remarks that were reached.
    remarks: Vec<PropertyId>,
}

impl Verdicts {
    /// The initial verdict on each subject, given whether the search finished and which cover properties it reached.
    pub fn new(
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
        let report = |(subject, verdict)| PropertyReport { subject, verdict, trace: None, other_traces: Vec::new() };
        Self {
            subjects: subjects.into_iter().map(report).collect(),
            errors: options.errors,
            invariants: if options.violations.collects() { checks.invariants.clone() } else { Vec::new() },
            covered: covered.to_vec(),
            without_value: Vec::new(),
            fault: None,
            remarks,
        }
    }

    /// Records what a run shows at its end, and returns how that ends the search: a run-time error is a violation only
    /// if it concerns a checked subject.
    pub fn conclude(&mut self, trace: Trace) -> StopReason {
        let is_violation = match &trace.violation {
            Some(Violation::PropertyFault { property, .. }) if self.invariants.contains(property) => true,
            Some(Violation::PropertyFault { property, fault, .. }) => {
                self.without_value.push(*property);
                self.counts(fault)
            }
            Some(Violation::Fault { fault, .. }) => self.counts(fault),
            _ => true,
        };
        match trace.violation.as_ref().and_then(Violation::fault).filter(|_| !is_violation).cloned() {
            Some(fault) => {
                self.fault.get_or_insert(trace);
                StopReason::Fault(fault)
            }
            None => {
                self.violate(trace);
                StopReason::Violation
            }
        }
    }

    /// Whether a fault is a violation of something that is checked. One that represents an invariant is, where
    /// that one is checked.
    fn counts(&self, fault: &Fault) -> bool {
        match fault.kind {
            FaultKind::Invariant(property) => {
                self.subjects.iter().any(|report| report.subject == Subject::Property(property))
            }
            _ => self.errors,
        }
    }

    /// Takes note of what a search continued past. Returns a fault that is no violation of what is checked, after
    /// which nothing is decided but what a run shows.
    pub fn collect(&mut self, traces: Vec<Trace>) -> Option<StopReason> {
        let mut unasked = None;
        for trace in traces {
            if let reason @ StopReason::Fault(_) = self.conclude(trace) {
                unasked.get_or_insert(reason);
            }
        }
        unasked
    }

    /// Says that nothing is decided but what a run shows.
    pub fn leave_open(&mut self) {
        for report in &mut self.subjects {
            let is_shown = match (report.verdict, report.subject) {
                (Verdict::Violated, _) => report.trace.is_some(),
                (Verdict::Holds, Subject::Property(property)) => self.covered.contains(&property),
                _ => false,
            };
            if !is_shown {
                report.verdict = Verdict::Inconclusive;
            }
        }
    }

    /// Takes note of a violation that a run shows. Of several runs that show the same, one of the shortest is kept.
    pub fn violate(&mut self, trace: Trace) {
        let violation = trace.violation.as_ref().expect("a run to a violation");
        let report = self.of(match violation {
            Violation::Property { property, .. }
            | Violation::Unreachable { property, .. }
            | Violation::Temporal { property, .. } => Subject::Property(*property),
            Violation::Deadlock(_) => Subject::Deadlock,
            Violation::PropertyFault { property, .. } if self.invariants.contains(property) => {
                Subject::Property(*property)
            }
            Violation::Fault { fault: Fault { kind: FaultKind::Invariant(property), .. }, .. } => {
                Subject::Property(*property)
            }
            Violation::Fault { .. } | Violation::PropertyFault { .. } => Subject::Errors,
        });
        report.verdict = Verdict::Violated;
        match &mut report.trace {
            Some(_) if report.subject == Subject::Errors => report.other_traces.push(trace),
            Some(known) if known.steps.len() <= trace.steps.len() => {}
            known => *known = Some(trace),
        }
    }

    /// The verdict on a subject.
    pub fn of(&mut self, subject: Subject) -> &mut PropertyReport {
        let found = self.subjects.iter_mut().find(|report| report.subject == subject);
        found.expect("a search finds only what it was asked for")
    }

    /// The report of a search that ended early for a reason, or finished.
    pub fn report(mut self, stop_reason: Option<StopReason>, figures: Figures) -> Report {
        // A property that has no value in some state may or may not hold there.
        for report in &mut self.subjects {
            if let Subject::Property(property) = report.subject
                && self.without_value.contains(&property)
                && report.trace.is_none()
                && !self.covered.contains(&property)
            {
                report.verdict = Verdict::Inconclusive;
            }
        }
        Report { fault: self.fault, remarks: self.remarks, ..Report::new(self.subjects, stop_reason, figures) }
    }
}

/// The first instance of a property that is false or has no value in a state, or only one that has none.
pub fn failure(
    interpreter: &Interpreter<'_>,
    property: PropertyId,
    state: &Valuation,
    only_faults: bool,
) -> Option<Violation> {
    let entry = &interpreter.model().properties[property];
    entry.formula.condition()?;
    interpreter.instances(&entry.parameters, &entry.locals).find_map(|arguments| {
        match interpreter.holds(property, &arguments, state) {
            Ok(false) if !only_faults => Some(Violation::Property { property, arguments }),
            Ok(_) => None,
            Err(fault) => Some(Violation::PropertyFault { property, arguments, fault }),
        }
    })
}

/// How a violation ends a search if it does not count as one: an unknown result is not a violation.
pub fn excuse(violation: &Violation) -> Option<StopReason> {
    let fault = violation.fault().filter(|fault| fault.kind == FaultKind::Exhausted)?;
    Some(StopReason::Exhausted(fault.clone()))
}

/// The report of a check that was stopped before its search could decide anything.
pub fn unfinished(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    reason: StopReason,
    progress: &Progress,
) -> Report {
    let checks = Checks::new(model, options.properties.as_deref());
    let figures = Figures {
        states: progress.states,
        transitions: progress.transitions,
        depth: progress.depth,
        memory_bytes: progress.memory_bytes,
        words: layout.words(),
        ..Figures::default()
    };
    Verdicts::new(model, &checks, options, false, &[]).report(Some(reason), figures)
}
