//! A check from its plan to its report: detection, race with an unreduced search, search, trial of adaptive reduction,
//! comparison.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use num_bigint::BigUint;
use quotient_engines::{
    self as engines, Clock, Observer as EngineObserver, Progress, PropertyReport, SetsReport, StopReason, Subject,
    TemporalReport, Verdict,
};

use quotient_ir::{Interrupt, PropertyKind};

use crate::adaptive::{self, Searched};
use crate::attempt::Attempt;
use crate::background::{self, Background, Found as Symmetric};
use crate::control::{Control, Follower, Observer, Phase, Supervised};
use crate::counters;
use crate::covers;
use crate::detection::{self, Choice, PATIENCE, Pending, Symmetries, ToPreserve};
use crate::error::Error;
use crate::memory::resident_bytes;
use crate::optima;
use crate::options::{Engine, Reduction, Symmetry};
use crate::partial_order::{self, Shortcut};
use crate::plan::Plan;
use crate::remarks;
use crate::report::{PartialOrderReport, ProofReport, Remark, Report, SliceReport};
use crate::search;
use crate::slicing;
use crate::solver;
use crate::strict;
use crate::symbolic;
use crate::temporal;
use crate::trial::{Outcome, Trial};
use crate::workers;

/// The result of a search.
pub(crate) struct Found {
    pub(crate) symmetries: Option<Symmetries>,
    pub(crate) report: engines::Report,
    pub(crate) remarks: Vec<Remark>,
    /// What was left out of the state.
    pub(crate) slice: Option<SliceReport>,
    /// Whether steps were left out, if that was asked for.
    pub(crate) partial_order: Option<PartialOrderReport>,
    /// The searches for temporal properties.
    pub(crate) temporal: Vec<TemporalReport>,
    /// Sets of states, if it was symbolic.
    pub(crate) sets: Option<SetsReport>,
    /// What was counted, in words, if objects were.
    pub(crate) counted: Option<String>,
    /// What a solver did, if one was asked.
    pub(crate) proof: Option<ProofReport>,
    /// What else is to be said.
    pub(crate) notes: Vec<String>,
}

impl Found {
    /// The result of a search, without runs to remarks.
    pub(crate) fn new(symmetries: Option<Symmetries>, report: engines::Report) -> Self {
        Self {
            symmetries,
            report,
            remarks: Vec::new(),
            slice: None,
            temporal: Vec::new(),
            partial_order: None,
            sets: None,
            counted: None,
            proof: None,
            notes: Vec::new(),
        }
    }
}

/// Runs a check as planned.
pub(crate) fn check(plan: &Plan, control: &Control, observer: &mut dyn Observer) -> Result<Report, Error> {
    let started = Instant::now();
    control.tighten(&plan.options.limits);
    let mut notes = plan.notes.clone();
    let checkpoint = plan.options.checkpoint.as_ref().map(|checkpoint| checkpoint.path.as_path());
    let stamp = checkpoint.and_then(stamp_of);
    let stopped = |reason| search::unfinished(&plan.model, &plan.search, reason, control);
    let mut found = if control.is_out_of_memory() {
        notes.extend(too_little_memory(control));
        let reason = control.stop_reason().unwrap_or(StopReason::OutOfMemory);
        Found::new(None, stopped(reason))
    } else {
        let (job, watched) = (plan.clone(), control.clone());
        match control.supervise(observer, move || conduct(&job, &watched))? {
            Supervised::Done(found) => found?,
            Supervised::Abandoned(reason) => Found::new(None, stopped(reason)),
        }
    };
    temporal::leave_open(plan, &mut found);
    add_settled(plan, &mut found.report);
    if plan.options.cross_check && found.report.cross_check.is_none() && found.report.stop_reason.is_none() {
        notes.push("there was nothing to compare, since the search was not reduced".to_owned());
    }
    if plan.options.statistics && found.report.firings.is_none() {
        let reason = if found.report.stop_reason.is_some() {
            "the search did not finish"
        } else if found.report.represented.is_none() {
            "an orbit may be stored several times"
        } else {
            "there was no time left"
        };
        notes.push(format!("how often rules fire is not known: {reason}"));
    }
    if let Some(path) = checkpoint.filter(|path| stamp_of(path).is_some_and(|now| stamp != Some(now)))
        && found.report.stop_reason.as_ref().is_some_and(ends_early)
    {
        let path = path.display();
        notes.push(format!("what was found is in `{path}`: --resume {path} continues from there"));
    }
    let mut report = Report::new(found, notes, control, started.elapsed()).planned(plan);
    if !plan.model.ir().objectives.is_empty() {
        let (optima, stopped) = optima::optima(plan, &report, control, observer)?;
        report.optima = optima;
        // An optimum that is not proved is no answer.
        if let Some(reason) = stopped {
            report.stop_reason = report.stop_reason.or(Some(reason));
            if report.verdict == Verdict::Holds {
                report.verdict = Verdict::Inconclusive;
            }
        }
        report.elapsed = started.elapsed();
    }
    if plan.options.cover_runs {
        report.cover_runs = covers::runs(plan, &report, control, observer)?;
        report.elapsed = started.elapsed();
    }
    Ok(report)
}

/// Adds the verdicts on properties that needed no search.
fn add_settled(plan: &Plan, report: &mut engines::Report) {
    if plan.settled.is_empty() {
        return;
    }
    for &property in &plan.settled {
        let verdict = match plan.model.ir().properties[property].kind {
            // It is never reached.
            PropertyKind::Cover => Verdict::Violated,
            _ => Verdict::Holds,
        };
        report.add(PropertyReport {
            subject: Subject::Property(property),
            verdict,
            trace: None,
            other_traces: Vec::new(),
        });
    }
    report.summarize();
}

/// The modification time and the length of a file, to detect whether it was written since.
fn stamp_of(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Whether a search that ended for this reason can be continued.
fn ends_early(reason: &StopReason) -> bool {
    !matches!(
        reason,
        StopReason::Violation
            | StopReason::Fault(_)
            | StopReason::Exhausted(_)
            | StopReason::Constraint(_)
            | StopReason::Approximate
            | StopReason::Undecided(_)
    )
}

/// Notes that a limit is below what the program itself needs.
pub(crate) fn too_little_memory(control: &Control) -> Option<String> {
    let (limit, taken) = (control.max_memory()?, resident_bytes()?);
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    Some(format!(
        "the limit of {} MiB of memory is for the whole process, which takes {} MiB before the search",
        mebibytes(limit),
        mebibytes(taken)
    ))
}

/// Searches the states, if anything is claimed about them, and then for each temporal property. Runs on a watched
/// thread.
fn conduct(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let mut found = match plan.searches_states() {
        true => search_states(plan, control)?,
        false => Found::new(None, engines::Report::of_nothing(plan.model.layout())),
    };
    temporal::check_all(plan, control, &mut found)?;
    Ok(found)
}

/// Searches the model or its slice, and finds runs to remarks.
fn search_states(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let sliced = slicing::sliced(plan);
    let searched = sliced.as_ref().map_or(plan, |sliced| &sliced.plan);
    let mut found = match (&plan.options.workers, strict::strict(searched, control)) {
        (Some(membership), _) => workers::check(searched, membership, control)?,
        (None, Some(strict)) => match strict.search(searched, control)? {
            Some(found) => found,
            None => search_as_planned(searched, control)?,
        },
        (None, None) => search_as_planned(searched, control)?,
    };
    if plan.options.workers.is_none() {
        found.remarks = remarks::with_runs(searched, &found, control)?;
    }
    if let Some(sliced) = &sliced {
        sliced.lift(plan, &mut found)?;
        found.slice = Some(sliced.report());
    }
    Ok(found)
}

/// Finds out which steps depend on each other, if that is asked for, and searches.
pub(crate) fn search_as_planned(plan: &Plan, control: &Control) -> Result<Found, Error> {
    match plan.options.engine {
        Engine::Symbolic => return symbolic::search(plan, control),
        Engine::Counters => return counters::search(plan, control),
        Engine::Solver(method) => return solver::search(plan, method, control),
        Engine::Auto => {
            if let Some(found) = counters::try_search(plan, control)? {
                return Ok(found);
            }
        }
        Engine::Explicit => {}
    }
    let (search, partial_order) = partial_order::applied(plan, control.interrupt())?;
    let found = search_with_symmetries(&Plan { search, ..plan.clone() }, control)?;
    let found = Found { partial_order: partial_order.or(found.partial_order), ..found };
    match plan.options.engine {
        Engine::Auto => symbolic::instead(plan, found, control),
        _ => Ok(found),
    }
}

/// Finds symmetries and searches with them.
fn search_with_symmetries(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let Plan { model, options, search, properties, .. } = plan;
    let mut follower = Follower::new(control, options.checkpoint.as_ref().map(|checkpoint| checkpoint.every));
    if options.reduction == Reduction::Adaptive {
        let searched = adaptive::search(model, properties, search, &mut follower);
        let Searched { used, report } = match (searched, control.stop_reason()) {
            (Ok(searched), _) => searched,
            // Whatever it returned, it was interrupted.
            (Err(_), Some(reason)) => return Ok(stopped(plan, None, reason, control)),
            (Err(error), None) => return Err(error),
        };
        return Ok(Found::new(Some(Symmetries::of_adaptive(used)), report));
    }
    // A comparison needs both searches, so ending early gains nothing. A search that is continued later must then be
    // the same search.
    let waits = options.cross_check || options.checkpoint.is_some() || options.resume.is_some();
    let patience = (!waits).then_some(PATIENCE);
    let wish = (options.symmetry, options.reduction);
    if wish == (Symmetry::Auto, Reduction::Auto) && !waits {
        return search_by_cost(plan, follower, control);
    }
    let internal = |error| Error::of_engine(model.source(), error);
    let preserved = ToPreserve::of_search(properties.clone(), search);
    let choice = detection::choose(model, wish, preserved, control, patience)?;
    if let Some(reason) = control.check() {
        return Ok(stopped(plan, choice.made(), reason, control));
    }
    control.enter(if options.cross_check { Phase::Comparing } else { Phase::Searching });
    let symmetries = match choice {
        Choice::Made(symmetries) => *symmetries,
        Choice::Pending(pending) => {
            let mut race = Race { follower: &mut follower, pending, found: None };
            let report = search::run(model, None, search, control, &mut race).map_err(internal)?;
            match race.found.take().transpose()? {
                Some(symmetries) if symmetries.reduces() => Some(symmetries),
                symmetries => {
                    let unknown =
                        || race.pending.give_up("not known, since the search was over before they were found");
                    let symmetries = Some(symmetries.unwrap_or_else(unknown));
                    return Ok(Found::new(symmetries, report));
                }
            }
        }
    };
    let method = symmetries.as_ref().and_then(|symmetries| symmetries.plan.as_ref());
    // A search without symmetries may have been requested, or there are none.
    let tries = wish == (Symmetry::Auto, Reduction::Auto) && !options.cross_check && !options.statistics;
    let tries = tries && search.partial_order.is_none();
    let order = method.filter(|_| tries).map(|plan| plan.symmetry.order.clone());
    let mut shortcut = Shortcut::new(plan);
    let (report, outcome) = std::thread::scope(|scope| {
        let start = |options| Attempt::start(scope, model, method, options, control);
        let mut trial = Trial::new(&mut follower, plan, (&mut shortcut, &start), order);
        let report = search::run(model, method, search, control, &mut trial);
        (report, trial.found.take())
    });
    let (report, outcome) = (report.map_err(internal)?, outcome.transpose()?);
    Ok(decided(symmetries, report, outcome, shortcut))
}

/// The result of a search, or of what was tried beside it and decides everything.
fn decided(
    symmetries: Option<Symmetries>,
    report: engines::Report,
    outcome: Option<Outcome>,
    mut shortcut: Shortcut,
) -> Found {
    let reduced = |symmetries: Option<Symmetries>, report: engines::Report| Found {
        partial_order: Some(PartialOrderReport { unused: None }),
        ..Found::new(symmetries, report)
    };
    match outcome {
        Some(Outcome::Shortcut(report)) => reduced(symmetries, *report),
        Some(Outcome::Adaptive(searched)) => {
            let Searched { used, report } = *searched;
            Found::new(symmetries.map(|symmetries| symmetries.with_adaptive(used)), report)
        }
        None => {
            let unused = shortcut.unused.take();
            // A violation that is known need not be found by the search.
            match shortcut.into_violation().filter(|_| report.verdict != Verdict::Violated) {
                Some(known) => reduced(symmetries, known),
                None => {
                    let partial_order = unused.map(|reason| PartialOrderReport { unused: Some(reason) });
                    Found { partial_order, ..Found::new(symmetries, report) }
                }
            }
        }
    }
}

/// Searches with the symmetries that are found for a share of the work of the search.
fn search_by_cost(plan: &Plan, mut follower: Follower, control: &Control) -> Result<Found, Error> {
    let Plan { model, options, search, properties, .. } = plan;
    control.enter(Phase::Detecting);
    let preserved = ToPreserve::of_search(properties.clone(), search);
    let mut background = Background::start(model, preserved, control);
    let begun = Instant::now();
    let mut symmetries = match background.as_mut().map(Background::found).transpose()?.flatten() {
        Some(Symmetric::Some(symmetries)) => Some(symmetries),
        Some(Symmetric::All(symmetries)) => {
            background = None;
            Some(symmetries)
        }
        None => None,
    };
    symmetries = symmetries.map(background::worthwhile);
    let tries = !options.statistics && search.partial_order.is_none();
    let mut shortcut = Shortcut::new(plan);
    loop {
        if let Some(reason) = control.check() {
            let unknown = || Symmetries::unknown("not known, since the search for them was stopped", begun);
            return Ok(stopped(plan, Some(symmetries.unwrap_or_else(unknown)), reason, control));
        }
        control.enter(Phase::Searching);
        let method = symmetries.as_ref().and_then(|symmetries| symmetries.plan.as_ref());
        let order = method.filter(|_| tries).map(|plan| plan.symmetry.order.clone());
        let in_use = method.filter(|plan| plan.reduction.is_some()).map(|plan| plan.symmetry.order.clone());
        let in_use = in_use.unwrap_or_else(|| BigUint::from(1u32));
        let (report, pending, found, outcome, begins_again) = std::thread::scope(|scope| {
            let start = |options| Attempt::start(scope, model, method, options, control);
            let trial = Trial::new(&mut follower, plan, (&mut shortcut, &start), order);
            let mut watch = Watch { trial, tries, background, in_use, found: None, begins_again: false };
            let report = search::run(model, method, search, control, &mut watch);
            let Watch { trial, background, found, begins_again, .. } = watch;
            (report, background, found, trial.found, begins_again)
        });
        let report = report.map_err(|error| Error::of_engine(model.source(), error))?;
        let (found, outcome) = (found.transpose()?, outcome.transpose()?);
        if begins_again {
            (symmetries, background) = (found, pending);
            continue;
        }
        let known = match (symmetries, found) {
            (Some(mut symmetries), Some(later)) if symmetries.reduces() => {
                symmetries.complete_by(&later);
                symmetries
            }
            (_, Some(later)) => later.unused("not used: they were found when most of the search was over"),
            (Some(symmetries), None) => symmetries,
            (None, None) => match &pending {
                Some(background) => background.unknown(),
                None => Symmetries::unknown("not looked for, since there are too few resources", begun),
            },
        };
        return Ok(decided(Some(known), report, outcome, shortcut));
    }
}

/// The symmetries that preserve what is checked, whatever it takes to find them, for engines that do not search single
/// states. A break is the result if everything is stopped before.
pub(crate) fn symmetries_first(
    plan: &Plan,
    symmetry: Symmetry,
    control: &Control,
) -> Result<ControlFlow<Found, Option<Symmetries>>, Error> {
    let preserved = plan.properties.clone().into();
    let symmetries = detection::choose(&plan.model, (symmetry, Reduction::Auto), preserved, control, None)?.made();
    if let Some(reason) = control.check() {
        return Ok(ControlFlow::Break(stopped(plan, symmetries, reason, control)));
    }
    control.enter(Phase::Searching);
    Ok(ControlFlow::Continue(symmetries))
}

/// What is known if everything is stopped before the search.
pub(crate) fn stopped(plan: &Plan, symmetries: Option<Symmetries>, reason: StopReason, control: &Control) -> Found {
    let report = search::unfinished(&plan.model, &plan.search, reason, control);
    Found::new(symmetries, report)
}

/// A search beside which symmetries are looked for. It ends if some are found with which it should begin again.
struct Watch<'a> {
    trial: Trial<'a>,
    tries: bool,
    background: Option<Background>,
    /// The number of symmetries that it is reduced by.
    in_use: BigUint,
    /// What was found.
    found: Option<Result<Symmetries, Error>>,
    begins_again: bool,
}

impl Watch<'_> {
    /// Lets detection work, and decides what to do with what it finds.
    fn look(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        let Some(background) = &mut self.background else { return ControlFlow::Continue(()) };
        let found = background.work(progress);
        let symmetries = match found {
            Ok(None) => return ControlFlow::Continue(()),
            Ok(Some(Symmetric::Some(symmetries))) => symmetries,
            Ok(Some(Symmetric::All(symmetries))) => {
                self.background = None;
                symmetries
            }
            Err(error) => {
                self.found = Some(Err(error));
                return ControlFlow::Break(StopReason::Interrupted);
            }
        };
        if self.tries && self.background.is_none() {
            self.trial.symmetries = symmetries.order().cloned();
        }
        let is_larger = |order| background::pays(progress, order, &self.in_use);
        self.begins_again = symmetries.reduces() && symmetries.order().is_some_and(is_larger);
        self.found = Some(Ok(symmetries));
        if self.begins_again { ControlFlow::Break(StopReason::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

impl EngineObserver for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.look(progress)?;
        self.trial.progress(progress)
    }
    fn glance(&mut self, progress: &Progress) {
        self.trial.glance(progress);
    }
    fn resumed(&mut self, states: u64) {
        self.trial.resumed(states);
    }
    fn wants_checkpoint(&mut self) -> bool {
        self.trial.wants_checkpoint()
    }
    fn interrupt(&self) -> Interrupt {
        self.trial.interrupt()
    }
    fn clock(&self) -> Option<Clock> {
        self.trial.clock()
    }
}

/// A search without symmetries that ends when some are found after all.
struct Race<'w> {
    follower: &'w mut Follower,
    pending: Pending,
    found: Option<Result<Symmetries, Error>>,
}

impl EngineObserver for Race<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        if self.found.is_none() {
            self.found = self.pending.wait(Duration::ZERO).transpose();
        }
        match &self.found {
            Some(Ok(symmetries)) if !symmetries.reduces() => self.follower.progress(progress),
            None => self.follower.progress(progress),
            Some(_) => ControlFlow::Break(StopReason::Interrupted),
        }
    }
    fn glance(&mut self, progress: &Progress) {
        self.follower.glance(progress);
    }
    fn resumed(&mut self, states: u64) {
        self.follower.resumed(states);
    }
    fn interrupt(&self) -> Interrupt {
        self.follower.interrupt()
    }
    fn clock(&self) -> Option<Clock> {
        self.follower.clock()
    }
}
