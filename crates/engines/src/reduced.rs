//! Searches in the quotient, as planned: the main one, then one for each orbit of liveness instances that
//! it could not answer for.

use quotient_ir::{DeadlockMode, Interpreter, Model, PropertyId, PropertyKind};
use quotient_symmetry::Workspace;

use crate::guard::Guard;
use crate::markers::MarkerSystem;
use crate::observer::Observer;
use crate::options::{Instances, LivenessScope, SearchOptions};
use crate::passing::PassingSystem;
use crate::plan::{LivenessSearch, Markers, Plan, Reduction};
use crate::quotient::QuotientSystem;
use crate::report::{EngineError, LivenessReport, Report, StopReason, Subject, Verdict};
use crate::search::Exploration;
use crate::system::TransitionSystem;
use crate::verdicts::{check_counted, summarize};

/// Searches a system as planned and checks its properties.
///
/// # Errors
/// If a violation cannot be replayed or a slot holds what detection took to be impossible: defects of
/// this program, and never a verdict.
pub(crate) fn check_planned<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    plan: &Plan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    let Some(reduction) = &plan.reduction else {
        let system = PassingSystem::new(system, interpreter, options);
        return check_counted(&system, interpreter, options, observer, None);
    };
    let is_checked =
        |property: PropertyId| options.properties.as_ref().is_none_or(|selected| selected.contains(&property));
    let mut main = options.clone();
    for orbit in plan.exchanged.iter().filter(|orbit| is_checked(orbit.property)) {
        let instances = Instances::AllBut(orbit.instances.clone());
        main.liveness.push(LivenessScope { property: orbit.property, instances });
    }
    let (mut report, exploration) = check_reduced(system, interpreter, reduction, &main, observer)?;
    if report.stop_reason.is_none() {
        for search in &plan.liveness_searches {
            if search.instances.iter().any(|instance| is_checked(instance.property)) {
                judge(system, interpreter, search, options, observer, &mut report)?;
            }
        }
        report.verdict = summarize(&report.properties, report.stop_reason.as_ref());
    }
    Ok((report, exploration))
}

/// Searches representatives only.
fn check_reduced<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    reduction: &Reduction,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    if let Some(markers) = &reduction.markers {
        return check_marked(system, interpreter, reduction, markers, options, observer);
    }
    let Reduction { group, canonicalizer, exact, .. } = reduction;
    let layout = interpreter.layout();
    let clock = observer.clock();
    let system = PassingSystem::new(system, interpreter, options).watched(Guard::new(layout, group.literals()));
    let quotient = QuotientSystem::new(&system, layout, group.literals(), canonicalizer, exact.as_ref(), clock);
    let mut workspace = Workspace::default();
    let mut orbit_size = |state: &[u64]| canonicalizer.represented(&mut workspace, state);
    let result = check_counted(&quotient, interpreter, options, observer, Some(&mut orbit_size));
    // Before anything else: what was found then means nothing, and it may be why a run was not found.
    if let Some(slot) = quotient.impossible_slot().or(system.impossible_slot()) {
        return Err(EngineError::ImpossibleValue(layout.slots[slot].name.clone()));
    }
    let (mut report, exploration) = result?;
    report.canonicalization = quotient.canonicalization_time();
    if !canonicalizer.is_exact() {
        report.represented = None;
    }
    Ok((report, exploration))
}

/// Searches one state for each marker, or for each orbit by way of markers.
fn check_marked<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    reduction: &Reduction,
    markers: &Markers,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    let layout = interpreter.layout();
    let Reduction { group, canonicalizer, .. } = reduction;
    let decides = markers.decides.then_some(canonicalizer);
    let system = PassingSystem::new(system, interpreter, options).watched(Guard::new(layout, group.literals()));
    let quotient = MarkerSystem::new(&system, layout, group.literals(), &markers.marking, decides);
    let mut workspace = Workspace::default();
    let mut orbit_size = |state: &[u64]| canonicalizer.represented(&mut workspace, state);
    let result = check_counted(&quotient, interpreter, options, observer, Some(&mut orbit_size));
    if let Some(slot) = quotient.impossible_slot().or(system.impossible_slot()) {
        return Err(EngineError::ImpossibleValue(layout.slots[slot].name.clone()));
    }
    let (mut report, exploration) = result?;
    report.marker_collisions = quotient.collisions();
    if reduction.is_approximate() {
        report.represented = None;
        approximate(&mut report, interpreter.model());
    }
    Ok((report, exploration))
}

/// What is not found by an approximate search may be there all the same: only runs count.
fn approximate(report: &mut Report, model: &Model) {
    for property in &mut report.properties {
        let is_cover =
            matches!(property.subject, Subject::Property(id) if model.properties[id].kind == PropertyKind::Cover);
        let is_liveness = matches!(property.subject, Subject::Property(id) if model.properties[id].kind == PropertyKind::AlwaysReachable);
        let is_certain = match property.verdict {
            Verdict::Violated => !is_cover && !is_liveness,
            Verdict::Holds => is_cover,
            Verdict::Inconclusive => true,
        };
        if !is_certain {
            property.verdict = Verdict::Inconclusive;
            property.trace = None;
        }
    }
    report.stop_reason.get_or_insert(StopReason::Approximate);
    report.verdict = summarize(&report.properties, report.stop_reason.as_ref());
}

/// Judges liveness in a search of its own and adds what it finds to a report.
fn judge<S: TransitionSystem>(
    system: &S,
    interpreter: &Interpreter<'_>,
    search: &LivenessSearch,
    options: &SearchOptions,
    observer: &mut dyn Observer,
    report: &mut Report,
) -> Result<(), EngineError> {
    let mut properties: Vec<PropertyId> = search.instances.iter().map(|instance| instance.property).collect();
    properties.dedup();
    let scopes = properties.iter().map(|&property| {
        let instances = search.instances.iter().filter(|instance| instance.property == property);
        let instances = Instances::Only(instances.map(|instance| instance.arguments.clone()).collect());
        LivenessScope { property, instances }
    });
    let own = SearchOptions {
        deadlock: DeadlockMode::Off,
        liveness: scopes.collect(),
        properties: Some(properties.clone()),
        // Only the main search can be interrupted and go on.
        checkpoint: None,
        resume: None,
        ..options.clone()
    };
    let mut silent = Watched(observer);
    let (found, _) = match &search.reduction {
        Some(reduction) => check_reduced(system, interpreter, reduction, &own, &mut silent)?,
        None => {
            let system = PassingSystem::new(system, interpreter, &own);
            check_counted(&system, interpreter, &own, &mut silent, None)?
        }
    };
    for property in found.properties {
        let known = report.properties.iter_mut().find(|known| known.subject == property.subject);
        match (known, property.verdict) {
            // One violated instance is enough; an undecided one does not change that.
            (Some(known), Verdict::Violated) if known.verdict != Verdict::Violated => *known = property,
            (Some(known), Verdict::Inconclusive)
                if known.verdict == Verdict::Holds && property.subject != Subject::Errors =>
            {
                *known = property;
            }
            _ => {}
        }
    }
    // It ends early only where it could not be finished: a limit that the main search did not reach.
    if let Some(reason) = found.stop_reason.filter(|reason| *reason != StopReason::Violation) {
        report.stop_reason.get_or_insert(reason);
    }
    report.memory_bytes = report.memory_bytes.max(found.memory_bytes);
    report.canonicalization = match (report.canonicalization, found.canonicalization) {
        (Some(known), Some(more)) => Some(known + more),
        (known, more) => known.or(more),
    };
    report.liveness_searches.push(LivenessReport {
        instances: search.instances.clone(),
        order: search.order.clone(),
        states: found.states,
        transitions: found.transitions,
    });
    Ok(())
}

/// An observer that is asked whether to go on, and not shown the graph a second time.
struct Watched<'a>(&'a mut dyn Observer);

impl Observer for Watched<'_> {
    fn progress(&mut self, progress: &crate::observer::Progress) -> std::ops::ControlFlow<StopReason> {
        self.0.progress(progress)
    }
    fn clock(&self) -> Option<crate::quotient::Clock> {
        self.0.clock()
    }
}
