//! From a search to a report: one verdict for each subject, each violation with a replayed run.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use num_bigint::BigUint;
use quotient_ir::{
    DeadlockMode, Fault, FaultKind, Interpreter, Model, PropertyId, PropertyKind, Trace, Valuation, Violation,
};
use quotient_representatives::{Cardinality, Workspace};

use crate::distributed::{self, OrbitCounter};
use crate::explicit::checkpoint::{CheckpointSubject, Saved};
use crate::explicit::disk::Overflow;
use crate::explicit::judge::Checks;
use crate::explicit::liveness::find_dead_ends;
use crate::explicit::rebuild::rebuild;
use crate::explicit::statistics::count_firings;
use crate::explicit::store::StateNumber;
use crate::explicit::{End, Exploration, explore, retrace};
use crate::observer::{Observer, Progress};
use crate::options::SearchOptions;
use crate::partial_order::PartialOrderSystem;
use crate::report::{EngineError, Figures, PropertyReport, Report, StopReason, Subject, Verdict};
use crate::seam::SearchSpace;

/// The number of concrete states that a stored state represents, if known.
pub(crate) type OrbitSize<'a> = &'a mut dyn FnMut(&[u64]) -> Option<Cardinality>;

/// What a search knows of the orbits that its states represent.
pub(crate) struct Orbits<'a> {
    pub(crate) size: OrbitCounter<'a>,
    /// For each rule which others symmetries exchange with it.
    pub(crate) rule_classes: &'a [u32],
    /// Whether each orbit is stored once.
    pub(crate) are_exact: bool,
    /// Whether no value was met that was considered impossible.
    pub(crate) is_sound: &'a (dyn Fn() -> bool + Sync),
}

/// The number of orbits counted between reports of progress.
const COUNTING_INTERVAL: usize = 4096;

/// One verdict for each subject that is checked.
pub(crate) struct Verdicts {
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
    pub(crate) fn conclude(&mut self, trace: Trace) -> StopReason {
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
    fn collect(&mut self, traces: Vec<Trace>) -> Option<StopReason> {
        let mut unasked = None;
        for trace in traces {
            if let reason @ StopReason::Fault(_) = self.conclude(trace) {
                unasked.get_or_insert(reason);
            }
        }
        unasked
    }

    /// Says that nothing is decided but what a run shows.
    pub(crate) fn leave_open(&mut self) {
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
    fn violate(&mut self, trace: Trace) {
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
    fn of(&mut self, subject: Subject) -> &mut PropertyReport {
        let found = self.subjects.iter_mut().find(|report| report.subject == subject);
        found.expect("a search finds only what it was asked for")
    }

    /// The report of a search that ended early for a reason, or finished.
    pub(crate) fn report(mut self, stop_reason: Option<StopReason>, figures: Figures) -> Report {
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

/// Searches the reachable states of a system, from the start or where another search left off, and checks the
/// properties of its model. `orbits` counts the states that a stored one represents, if it represents others.
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
    orbits: Option<Orbits<'_>>,
) -> Result<(Report, Exploration), EngineError> {
    let Some(relations) = &options.partial_order else {
        return search_space_and_judge(system, interpreter, options, begin, observer, orbits);
    };
    let system = PartialOrderSystem::new(system, relations, interpreter.layout());
    search_space_and_judge(&system, interpreter, options, begin, observer, orbits)
}

/// The same, with all reductions in the search space.
fn search_space_and_judge<S: SearchSpace>(
    system: &S,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
    orbits: Option<Orbits<'_>>,
) -> Result<(Report, Exploration), EngineError> {
    let model = interpreter.model();
    let checks = Checks::new(model, options.properties.as_deref());
    let subject = match (&options.checkpoint, &options.resume, &options.network) {
        (None, None, None) => CheckpointSubject::default(),
        _ => CheckpointSubject::new(model, options, system.name()),
    };
    let mut exploration = match &options.network {
        None => explore(system, &checks, options, &subject, begin, observer)?,
        Some(network) => {
            let sound = || true;
            let (size, is_sound) = match &orbits {
                Some(orbits) => (Some(orbits.size), orbits.is_sound),
                None => (None, &sound as _),
            };
            distributed::search(system, &checks, options, &subject, (size, is_sound), network, observer)?
        }
    };
    let mut workspace = Workspace::default();
    let mut size = orbits.as_ref().map(|orbits| |state: &[u64]| (orbits.size)(&mut workspace, state));
    let represented = match (&mut size, &exploration.store.everywhere) {
        // What was left out is not known.
        _ if options.partial_order.is_some() => None,
        (Some(_), _) if exploration.approximation.is_some() => None,
        (None, _) => Some(exploration.states.into()),
        (_, Some(everywhere)) => everywhere.represented.clone(),
        (Some(size), None) => match (&orbits, exploration.store.pieces(COUNTING_INTERVAL)) {
            (Some(orbits), Some(pieces)) if options.threads > 1 && pieces.len() > 1 => {
                count_on_threads(&exploration, orbits.size, pieces, options.threads, observer)
            }
            _ => count_represented(&exploration, size, observer),
        },
    };
    retrace(system, &checks, options, &mut exploration, observer);
    let is_finished = matches!(exploration.end, End::Finished);
    let mut verdicts = Verdicts::new(model, &checks, options, is_finished, &exploration.covered);
    let ended = match &exploration.end {
        End::Stopped(reason) => Some(reason.clone()),
        End::Found(finding) => match rebuild(system, &exploration.store, finding, interpreter) {
            Ok(trace) => Some(verdicts.conclude(trace)),
            // A violation that cannot be shown is not claimed.
            Err(EngineError::Disk(reason)) => Some(StopReason::SpillFailed(reason)),
            Err(error) => return Err(error),
        },
        End::Finished => judge_liveness(system, interpreter, &checks, options, &exploration, observer, &mut verdicts)?,
    };
    let mut unasked = None;
    let mut traces = Vec::with_capacity(exploration.findings.len());
    for finding in &exploration.findings {
        match rebuild(system, &exploration.store, finding, interpreter) {
            Ok(trace) => traces.push(trace),
            Err(EngineError::Disk(reason)) => unasked = Some(StopReason::SpillFailed(reason)),
            Err(error) => return Err(error),
        }
    }
    unasked = verdicts.collect(traces).or(unasked);
    if unasked.is_some() {
        verdicts.leave_open();
    }
    let cut = Some(exploration.unexpanded).filter(|&states| is_finished && states > 0).map(StopReason::Constraint);
    if cut.is_some() {
        verdicts.leave_open();
    }
    // The second pass expands every state, which a search with a constraint does not.
    let is_counted = options.statistics
        && options.partial_order.is_none()
        && is_finished
        && cut.is_none()
        && exploration.findings.is_empty()
        && orbits.as_ref().is_none_or(|orbits| orbits.are_exact);
    let stop_reason = ended.or(unasked).or(cut);
    let firings = if is_counted {
        let classes = orbits.as_ref().map(|orbits| orbits.rule_classes);
        let size = size.as_mut().map(|size| size as OrbitSize<'_>);
        count_firings(system, &exploration, model, classes, size, observer)
    } else {
        None
    };
    let figures = Figures {
        states: exploration.states,
        represented,
        transitions: exploration.transitions,
        depth: exploration.depth,
        levels: exploration.states_per_level(options.order),
        firings,
        memory_bytes: exploration.memory_bytes,
        disk_bytes: exploration.store.overflow.as_ref().map_or(0, Overflow::peak_bytes),
        words: system.words(),
        approximation: exploration.approximation,
    };
    let report = verdicts.report(stop_reason, figures);
    Ok((Report { partial_order: options.partial_order.is_some(), ..report }, exploration))
}

/// The progress of a search that has ended.
fn final_progress(exploration: &Exploration) -> Progress {
    Progress {
        states: exploration.states,
        transitions: exploration.transitions,
        frontier: 0,
        depth: exploration.depth,
        memory_bytes: exploration.memory_bytes,
    }
}

/// Adds up the orbit sizes of the states of all pieces on several threads, unless that takes longer than the observer
/// allows.
fn count_on_threads(
    exploration: &Exploration,
    size: OrbitCounter<'_>,
    pieces: Vec<impl Iterator<Item = StateNumber> + Send>,
    threads: u32,
    observer: &mut dyn Observer,
) -> Option<BigUint> {
    let (store, surplus) = (&exploration.store, &exploration.surplus);
    let progress = final_progress(exploration);
    let is_over = AtomicBool::new(false);
    let pieces = Mutex::new(pieces);
    // None if the size of an orbit is not known.
    let count = |mut is_stopped: Box<dyn FnMut() -> bool + '_>| {
        let (mut workspace, mut sum) = (Workspace::default(), BigUint::ZERO);
        while !is_stopped() {
            let Some(piece) = pieces.lock().unwrap_or_else(PoisonError::into_inner).pop() else { return Some(sum) };
            for number in piece.filter(|number| !surplus.contains(number)) {
                let Some(size) = size(&mut workspace, store.state(number)) else {
                    is_over.store(true, Ordering::Relaxed);
                    return None;
                };
                sum += size;
            }
        }
        None
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .filter_map(|_| {
                let work = || count(Box::new(|| is_over.load(Ordering::Relaxed)));
                std::thread::Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        let mut own = count(Box::new(|| {
            if observer.progress(&progress).is_break() {
                is_over.store(true, Ordering::Relaxed);
            }
            is_over.load(Ordering::Relaxed)
        }));
        for other in others {
            let counted = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            own = own.zip(counted).map(|(own, other)| own + other);
        }
        own
    })
}

/// Adds up the orbit sizes of all stored states, unless that takes longer than the observer allows.
fn count_represented(
    exploration: &Exploration,
    orbit_size: OrbitSize<'_>,
    observer: &mut dyn Observer,
) -> Option<BigUint> {
    let progress = final_progress(exploration);
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

/// Fills in the verdicts on liveness after a finished search; returns the reason if it could not.
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

/// The first instance of a property that is false or has no value in a state, or only one that has none.
pub(crate) fn failure(
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
