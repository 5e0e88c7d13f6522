//! Searches of orbits as planned: the main search, then one for each orbit of liveness instances that the main search could
//! not decide. The same in one process and in several, as an [`Explorer`] has it.

use quotient_ir::{DeadlockMode, Interpreter, Interrupt, Layout, Model, PropertyId, PropertyKind, SlotId, TableIndex};

use crate::cross_check;
use crate::exploration::Exploration;
use crate::judging::{Explorer, Orbits, search_and_judge};
use crate::store::StateNumber;
use quotient_search::{
    Batches, Clock, EngineError, Instances, LivenessReport, LivenessScope, Observer, Progress, Report, Representatives,
    SearchOptions, SearchSpace, StopReason, Subject, TransitionSystem, Verdict,
};
use quotient_systems::{
    DeferredSystem, Guard, LivenessSearch, PassingSystem, Patience, QuotientSystem, Reduction, ReductionPlan,
    SLOW_STEPS, SpecialisedSystem, StartsUpTo, layout_of_possible,
};

/// Searches the orbits of a model as planned, with states packed by the values that detection considers possible where
/// that saves something. The plan must have a reduction.
///
/// # Errors
/// As for [`check_quotient`].
pub fn check_orbits(
    explorer: &dyn Explorer,
    model: &Model,
    layout: &Layout,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    if let Some(report) = check_possible(explorer, model, layout, plan, options, observer)? {
        return Ok(report);
    }
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt());
    // An observer of the graph knows the representatives of the plan.
    let mut tuned = if plan.is_tunable() && !observer.wants_graph() { plan.repacked(model, layout) } else { None };
    if let Some(tuned) = &mut tuned {
        tuned.tune(&evaluator, layout);
    }
    let plan = tuned.as_ref().unwrap_or(plan);
    check_quotient(explorer, &evaluator, &interpreter, plan, options, observer).map(|(report, _)| report)
}

/// Searches the orbits of a model as planned, with states packed by the possible values. `None` if that saves nothing
/// or did not work out.
///
/// # Errors
/// As for [`check_quotient`].
fn check_possible(
    explorer: &dyn Explorer,
    model: &Model,
    layout: &Layout,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Option<Report>, EngineError> {
    let is_saved = options.checkpoint.is_some() || options.resume.is_some();
    let depends_on_words = is_saved || observer.wants_graph();
    // Markers are computed from the codes of the whole layout.
    let has_markers = plan.reduction.as_ref().is_some_and(|reduction| reduction.markers.is_some());
    if depends_on_words || has_markers || !layout.multisets().is_empty() {
        return Ok(None);
    }
    let narrow = layout_of_possible(model, layout, &plan.symmetry.group);
    if narrow.bits() >= layout.bits() {
        return Ok(None);
    }
    let Some(mut plan) = plan.repacked(model, &narrow) else { return Ok(None) };
    let whole = Interpreter::new(model, layout);
    let starts = SpecialisedSystem::of_starts(&whole, observer.interrupt());
    let interpreter = Interpreter::new(model, &narrow);
    let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt()).with_starts(&starts);
    plan.tune(&evaluator, &narrow);
    // Other processes have the same layout, and cannot begin again.
    let patience = if explorer.is_shared() { u64::MAX } else { SLOW_STEPS };
    let mut watch = Patience::new(observer, &evaluator, patience);
    let result = check_quotient(explorer, &evaluator, &interpreter, &plan, options, &mut watch);
    if explorer.is_shared()
        && let Some(state) = evaluator.outgrown()
    {
        let literals = plan.symmetry.group.literals().slots();
        let is_impossible = |slot: &SlotId| !literals[*slot].values.contains(&state.0[slot.position()]);
        let name = literals.indices().find(is_impossible).map(|slot| layout.slots[slot].name.clone());
        return Err(EngineError::ImpossibleValue(name.unwrap_or_default()));
    }
    if evaluator.outgrown().is_some() || watch.is_spent() {
        return Ok(None);
    }
    result.map(|(report, _)| Some(report))
}

/// Searches the orbits of a model as planned, and compares with the unreduced search if requested.
pub fn check_quotient(
    explorer: &dyn Explorer,
    evaluator: &SpecialisedSystem<'_>,
    interpreter: &Interpreter<'_>,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    let system = DeferredSystem::for_search(evaluator, true, options);
    let (mut report, exploration) = check_planned(explorer, &system, interpreter, plan, options, observer)?;
    evaluator.fired().report(plan.rule_classes(), &mut report);
    report.method = plan.reduction.is_some().then(|| plan.method.clone());
    if options.cross_check {
        let comparison =
            cross_check::compare(explorer, &system, interpreter, plan, options, observer, (&report, &exploration))?;
        report.cross_check = Some(comparison);
    }
    Ok((report, exploration))
}

/// Searches a system as planned and checks its properties.
///
/// # Errors
/// If a violation cannot be replayed or a slot holds a value that detection considered impossible: defects of this
/// program, and never a verdict.
fn check_planned<S: Batches + StartsUpTo>(
    explorer: &dyn Explorer,
    system: &S,
    interpreter: &Interpreter<'_>,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    let Some(reduction) = &plan.reduction else {
        let system = PassingSystem::new(system, interpreter, options);
        return search_and_judge(explorer, &system, interpreter, options, None, observer, None);
    };
    let is_checked =
        |property: PropertyId| options.properties.as_ref().is_none_or(|selected| selected.contains(&property));
    let mut main = options.clone();
    for orbit in plan.exchanged.iter().filter(|orbit| is_checked(orbit.property)) {
        let instances = Instances::AllBut(orbit.instances.clone());
        main.liveness.push(LivenessScope { property: orbit.property, instances });
    }
    let (mut report, exploration) = check_reduced(explorer, system, interpreter, reduction, &main, observer)?;
    if report.stop_reason.is_none() {
        for search in &plan.liveness_searches {
            if search.instances.iter().any(|instance| is_checked(instance.property)) {
                judge(explorer, system, interpreter, search, options, observer, &mut report)?;
            }
        }
        report.summarize();
    }
    Ok((report, exploration))
}

/// Searches one state of each orbit, as far as the reduction goes.
fn check_reduced<S: Batches + StartsUpTo>(
    explorer: &dyn Explorer,
    system: &S,
    interpreter: &Interpreter<'_>,
    reduction: &Reduction,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, Exploration), EngineError> {
    let Reduction { group, canonicalizer, markers, .. } = reduction;
    let layout = interpreter.layout();
    let clock = observer.clock();
    let system = PassingSystem::new(system, interpreter, options).watched(Guard::new(layout, group.literals()));
    let quotient = QuotientSystem::new(&system, layout, reduction, clock);
    let orbits = Orbits {
        size: &|workspace, state| canonicalizer.represented(workspace, state),
        rule_classes: group.rule_classes(),
        are_exact: reduction.is_exact(),
        is_sound: &|| quotient.impossible_slot().or(system.impossible_slot()).is_none(),
    };
    let result = search_and_judge(explorer, &quotient, interpreter, options, None, observer, Some(orbits));
    // This comes first: all other findings are then invalid, and it may be the reason why a run could not be rebuilt.
    if let Some(slot) = quotient.impossible_slot().or(system.impossible_slot()) {
        return Err(EngineError::ImpossibleValue(layout.slots[slot].name.clone()));
    }
    let (mut report, exploration) = result?;
    report.canonicalization = quotient.canonicalization_time();
    if !reduction.is_exact() {
        report.represented = None;
    }
    report.marker_collisions = match markers {
        Some(markers) if markers.decides => collisions(&quotient, &exploration),
        Some(_) if reduction.is_exact() => Some(0),
        _ => None,
    };
    if reduction.is_approximate() {
        approximate(&mut report, interpreter.model());
    }
    Ok((report, exploration))
}

/// The number of stored states whose marker equals that of a state stored before. Unknown if states were forgotten.
fn collisions<S: SearchSpace + StartsUpTo>(quotient: &QuotientSystem<'_, S>, exploration: &Exploration) -> Option<u64> {
    if exploration.approximation.is_some() {
        return None;
    }
    let mut scratch = quotient.scratch();
    let store = &exploration.store;
    let counted = store.numbers().filter(|number| !exploration.surplus.contains(number));
    let mut by_key: Vec<(u64, StateNumber)> =
        counted.map(|number| (quotient.key(&mut scratch, store.state(number)), number)).collect();
    by_key.sort_unstable();
    let mut collisions = 0;
    let mut same_key: Vec<Vec<u64>> = Vec::new();
    for (position, &(key, number)) in by_key.iter().enumerate() {
        if position == 0 || by_key[position - 1].0 != key {
            same_key.clear();
        }
        let marker = quotient.marker(&mut scratch, store.state(number));
        if same_key.iter().any(|known| known == marker) {
            collisions += 1;
        } else {
            same_key.push(marker.to_vec());
        }
    }
    Some(collisions)
}

/// An approximate search may miss violations: only the runs it finds count.
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
    report.summarize();
}

/// Checks liveness in a separate search and adds the result to a report.
fn judge<S: Batches + StartsUpTo>(
    explorer: &dyn Explorer,
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
        // Only the main search can be interrupted and resumed.
        checkpoint: None,
        resume: None,
        statistics: false,
        ..options.clone()
    };
    let mut silent = Watched(observer);
    let (found, _) = match &search.reduction {
        Some(reduction) => check_reduced(explorer, system, interpreter, reduction, &own, &mut silent)?,
        None => {
            let system = PassingSystem::new(system, interpreter, &own);
            search_and_judge(explorer, &system, interpreter, &own, None, &mut silent, None)?
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
    // It ends early only if it could not be finished: it reached a limit that the main search did not.
    let unfinished = found.stop_reason.filter(|reason| *reason != StopReason::Violation);
    if report.stop_reason.is_none() && unfinished.is_some() {
        (report.stop_reason, report.fault) = (unfinished, found.fault);
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

/// An observer that can stop the search, but is not shown the graph a second time.
struct Watched<'a>(&'a mut dyn Observer);

impl Observer for Watched<'_> {
    fn progress(&mut self, progress: &Progress) -> std::ops::ControlFlow<StopReason> {
        self.0.progress(progress)
    }
    fn glance(&mut self, progress: &Progress) {
        self.0.glance(progress);
    }
    fn interrupt(&self) -> Interrupt {
        self.0.interrupt()
    }
    fn clock(&self) -> Option<Clock> {
        self.0.clock()
    }
}
