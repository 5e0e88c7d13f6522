//! The choice whether a search takes a part of the steps where that suffices.
//!
//! If that is left open, a search takes all steps, and a part of them is tried beside it: see [`Shortcut`].

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};

use quotient_engines::partial_order::{Obstacle, Relations};
use quotient_engines::{Progress, Report, SearchOptions, SearchOrder, StopReason, StoreMode, TemporalParts, Verdict};
use quotient_ir::{Budget, Interrupt, Meter};
use quotient_representatives::Strategy;

use crate::attempt::{Attempt, Reached};
use crate::control::{Control, STACK_BYTES};
use crate::defect::{self, Defect};
use crate::error::Error;
use crate::forecast::Forecast;
use crate::options::{Options, PartialOrder, Reduction};
use crate::plan::{Plan, Refusal};
use crate::report::PartialOrderReport;
use crate::run::Found;

/// The options of a search with what partial order needs, if it has to be used; and what to report about it.
///
/// # Errors
/// If it cannot be used.
pub(crate) fn applied(
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<(SearchOptions, Option<PartialOrderReport>), Error> {
    let search = plan.search.clone();
    if plan.options.partial_order != PartialOrder::On {
        return Ok((search, None));
    }
    let relations = match obstacle(&plan.options) {
        Some(reason) => Err(reason.to_owned()),
        None => Relations::of(plan.model.ir(), plan.model.layout(), &search, interrupt),
    };
    match relations {
        Ok(relations) => {
            let search = SearchOptions { partial_order: Some(Arc::new(relations)), ..search };
            Ok((search, Some(PartialOrderReport { unused: None })))
        }
        // A run that is stopped says so itself.
        Err(reason) if interrupt.is_raised() => Ok((search, Some(PartialOrderReport { unused: Some(reason) }))),
        Err(reason) => Err(Refusal::PartialOrder(reason).into()),
    }
}

/// The number of states before the first attempt: smaller searches are over before it pays.
const FIRST_STATES: u64 = 4_096;
/// An attempt may store one part in this many of the states stored so far.
const SHARE: u64 = 8;
/// The same, at least, if it is promising.
const PROMISING_SHARE: u64 = 4;
/// The factor by which the number of states grows before an attempt that disappoints continues.
const GROWTH: u64 = 2;
/// How often an attempt may disappoint before it is given up.
const DISAPPOINTMENTS: u32 = 3;
/// How many states the search must still be expected to store for one of the attempt. That one takes four to eight times as
/// long, and what is expected of an attempt early is half of the truth at times.
const GAIN: u64 = 16;
/// Nothing is looked for or tried while fewer than one state in this many waits: such a search is over soon.
const WAITING_SHARE: u64 = 256;
/// A promising attempt continues when the search has one part in this many more states.
const PORTION: u64 = 8;
/// An attempt may take one part in this many of the memory for states, and only while the search has not taken half of it.
const MEMORY_SHARE: u64 = 4;
/// The work for relations, in nodes of functions, that is allowed in any case: some twenty milliseconds.
const LEAST_WORK: u64 = 240_000;
/// The steps that must still be expected of the search: one that has fewer is over before that work pays.
const LEAST_REST: u64 = 20_000;
/// The steps of the search for which one node more is allowed. A node takes 50 to 150 ns, and a step where there is something
/// to reduce 100 to 250 ns: so this is about a sixth of the search.
const STEPS_PER_NODE: u64 = 3;
/// The least work that is granted at a time: the search is not interrupted for less.
const LEAST_GRANT: u64 = 20_000;
/// How many times as large a search may become while it looks for a shortest run to a violation that is known.
const PATIENCE: u64 = 2;

/// Begins a search with some options beside another one, with the same symmetries.
pub(crate) type Start<'a> = dyn Fn(SearchOptions) -> Option<Attempt> + 'a;

/// Searches with a part of the steps, beside a search with all of them.
///
/// Choosing steps takes longer than taking them, so it pays only where few suffice. An attempt begins after some states,
/// and may store a small share of those stored so far; if it is then expected to end well before the search
/// ([`Forecast`]), it continues to a large one, in step with the search. If it ends, its result is the answer; if it
/// disappoints, it continues when the search is some times as large. Work is counted, so that the choice does not depend
/// on the clock.
///
/// If an attempt finds a violation, its run need not be a shortest one: the search continues for a while, and if it finds
/// one, too, that is the answer.
pub(crate) struct Shortcut {
    /// How large the search will be.
    forecast: Forecast,
    relations: Option<Arc<Relations>>,
    /// Finds them out.
    request: Option<Request>,
    /// The number of states when an attempt begins or continues, if one is to.
    next: Option<u64>,
    disappointments: u32,
    /// A violation that an attempt found, and the number of states of the search at which it is the answer.
    violated: Option<(Report, u64)>,
    /// Why all steps are needed, if that was found out.
    pub(crate) unused: Option<String>,
}

impl Shortcut {
    /// Attempts for a plan. None are made if partial order is not to be used, or what is asked needs all steps.
    pub(crate) fn new(plan: &Plan) -> Self {
        let Plan { options, search, .. } = plan;
        let is_tried = options.partial_order == PartialOrder::Auto
            && obstacle(options).is_none()
            && search.order == SearchOrder::BreadthFirst
            && search.store == StoreMode::Exact
            && search.max_depth.is_none()
            && search.checkpoint.is_none()
            && search.resume.is_none();
        Self {
            forecast: Forecast::default(),
            relations: None,
            request: None,
            next: is_tried.then_some(FIRST_STATES),
            disappointments: 0,
            violated: None,
            unused: None,
        }
    }

    /// Whether a violation is known.
    pub(crate) fn is_violated(&self) -> bool {
        self.violated.is_some()
    }

    /// The report of an attempt that found a violation, if the search has found none.
    pub(crate) fn into_violation(self) -> Option<Report> {
        self.violated.map(|(report, _)| report)
    }

    /// Begins an attempt, or continues it, if that is due. The report of one that is the answer.
    pub(crate) fn attempt(
        &mut self,
        plan: &Plan,
        (ongoing, start): (&mut Option<Attempt>, &Start<'_>),
        progress: &Progress,
        control: &Control,
    ) -> Option<Result<Report, Error>> {
        if let Some((_, end)) = self.violated {
            let report = self.violated.take_if(|_| progress.states >= end);
            return report.map(|(report, _)| Ok(report));
        }
        self.forecast.note(progress);
        let is_over_soon = progress.frontier < progress.states / WAITING_SHARE;
        let next = self.next.filter(|_| progress.states >= FIRST_STATES && !is_over_soon)?;
        let relations = match self.relations(plan, progress, control.interrupt())? {
            Ok(relations) => relations,
            Err(defect) => return Some(Err(defect.into())),
        };
        if progress.states < next {
            return None;
        }
        let memory = control.store_bytes(plan.search.threads, false);
        let attempt = match ongoing {
            _ if memory.is_some_and(|memory| progress.memory_bytes > memory / 2) => None,
            Some(attempt) => Some(attempt),
            None => {
                let max_memory = memory.map(|memory| memory / MEMORY_SHARE);
                // In order, so that several threads wait in the middle of a level, too.
                let options = SearchOptions {
                    partial_order: Some(relations),
                    max_memory,
                    spill: None,
                    ordered_states: u64::MAX,
                    ..plan.search.clone()
                };
                *ongoing = start(options);
                ongoing.as_mut()
            }
        };
        let Some(attempt) = attempt else {
            (self.next, *ongoing) = (None, None);
            return None;
        };
        let (states, interrupt) = (progress.states, control.interrupt());
        let mut found = attempt.proceed(states / SHARE, interrupt);
        if found.is_none() {
            let reached = attempt.reached();
            let rest = self.forecast.states().map(|expected| expected.saturating_sub(states));
            let is_promising = is_promising(&reached, progress, rest);
            self.next = Some(match is_promising {
                true => states.saturating_add(states / PORTION),
                false => states.saturating_mul(GROWTH),
            });
            if is_promising {
                let further = reached.progress.states.saturating_add(rest.unwrap_or(0) / (2 * GAIN));
                found = attempt.proceed(further.max(states / PROMISING_SHARE), interrupt);
            } else {
                self.disappointments += 1;
            }
        }
        let Some(found) = found else {
            if self.disappointments == DISAPPOINTMENTS {
                (self.next, *ongoing) = (None, None);
            }
            return None;
        };
        // It is over.
        (self.next, *ongoing) = (None, None);
        match found {
            Ok(report) if report.verdict == Verdict::Inconclusive => None,
            Ok(report) if report.verdict == Verdict::Violated => {
                self.violated = Some((report, states.saturating_mul(PATIENCE)));
                None
            }
            found => Some(found),
        }
    }

    /// The number of steps that the search is expected to have.
    fn expected_steps(&self, progress: &Progress) -> u64 {
        let states = self.forecast.states().unwrap_or(0).max(progress.states);
        let steps = u128::from(progress.transitions) * u128::from(states) / u128::from(progress.states.max(1));
        u64::try_from(steps).unwrap_or(u64::MAX)
    }

    /// What steps do to each other, if it is found out with the work that the search is worth.
    fn relations(
        &mut self,
        plan: &Plan,
        progress: &Progress,
        interrupt: &Interrupt,
    ) -> Option<Result<Arc<Relations>, Defect>> {
        if let Some(relations) = &self.relations {
            return Some(Ok(Arc::clone(relations)));
        }
        let steps = self.expected_steps(progress);
        if self.request.is_none() {
            if self.forecast.states().is_some() && steps.saturating_sub(progress.transitions) < LEAST_REST {
                return None;
            }
            self.request = Request::start(plan);
        }
        let work = work_for(steps);
        let answer = match &mut self.request {
            None => Err(TryRecvError::Disconnected),
            Some(request) => request.answer(work, interrupt),
        };
        match answer {
            Err(TryRecvError::Empty) => return None,
            Ok(Ok(Ok(relations))) => self.relations = Some(Arc::new(relations)),
            Ok(Ok(Err(Obstacle::Refused(reason)))) => (self.next, self.unused) = (None, Some(reason)),
            Ok(Ok(Err(Obstacle::TooMuchWork(_)))) | Err(TryRecvError::Disconnected) => self.next = None,
            Ok(Err(defect)) => return Some(Err(defect)),
        }
        self.request = None;
        self.relations.clone().map(Ok)
    }
}

/// What a request for relations ends with.
type Answer = Result<Result<Relations, Obstacle>, Defect>;

/// Finds out what steps do to each other, on its own thread, but never at the same time as the search, which grants work
/// and waits until it is used up: so nothing has to be begun again when there is more.
struct Request {
    receiver: Receiver<Answer>,
    meter: Meter,
    /// Stops it when nobody waits for it any longer.
    interrupt: Interrupt,
    granted: u64,
}

impl Drop for Request {
    fn drop(&mut self) {
        self.interrupt.raise();
        self.meter.end();
    }
}

impl Request {
    /// Begins, without any work. None if there are too few resources.
    fn start(plan: &Plan) -> Option<Self> {
        let (sender, receiver) = mpsc::channel();
        let (interrupt, meter) = (Interrupt::new(), Meter::new(0));
        let (model, options, ended) = (plan.model.clone(), plan.search.clone(), meter.clone());
        let budget = Budget::metered(&meter, &interrupt);
        let work = move || {
            let found = defect::catch(|| Relations::with_budget(&budget, model.ir(), model.layout(), &options));
            // The receiver is gone if the result is no longer needed.
            let _ = sender.send(found);
            ended.end();
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).ok()?;
        Some(Self { receiver, meter, interrupt, granted: 0 })
    }

    /// The answer, if it takes no more than this work in all.
    fn answer(&mut self, work: u64, interrupt: &Interrupt) -> Result<Answer, TryRecvError> {
        if work < self.granted.saturating_add(LEAST_GRANT) {
            return Err(TryRecvError::Empty);
        }
        self.granted = work;
        self.meter.grant(work, interrupt);
        self.receiver.try_recv()
    }
}

/// Whether an attempt will be over well before the search beside which it is made, whose rest is expected to have some
/// states. If nothing is expected yet: whether it is nearer to its end, since it is deeper, or fewer of its states wait.
/// States are passed through in an attempt, so depth alone would not do.
fn is_promising(attempt: &Reached, search: &Progress, rest: Option<u64>) -> bool {
    let Reached { progress, expected } = attempt;
    match (expected, rest) {
        (Some(expected), Some(rest)) => expected.saturating_sub(progress.states).saturating_mul(GAIN) <= rest,
        _ => {
            let waiting = |of: &Progress, beside: &Progress| u128::from(of.frontier) * u128::from(beside.states);
            progress.depth > search.depth || waiting(progress, search) < waiting(search, progress)
        }
    }
}

/// The work for relations, in nodes of functions, that a search of some steps is worth.
fn work_for(steps: u64) -> u64 {
    LEAST_WORK + steps / STEPS_PER_NODE
}

/// A search for a temporal property may have one part in this many of the states that the search of the states stored.
const TEMPORAL_SHARE: u64 = 4;
/// The work for the relations of a temporal property where those of the states were found and paid.
const PARTIAL_WORK: u64 = 100_000_000;

/// Whether a search for a temporal property takes a part of the steps. `found` is what the search of the states found.
pub(crate) fn for_temporal(plan: &Plan, found: &Found) -> TemporalParts {
    let report = &found.report;
    let ended = report.stop_reason.as_ref().is_none_or(|reason| *reason == StopReason::Violation);
    match plan.options.partial_order {
        PartialOrder::On => TemporalParts::Always,
        PartialOrder::Auto
            if obstacle(&plan.options).is_none()
                && plan.options.reduction == Reduction::Auto
                && plan.search.max_depth.is_none()
                && plan.searches_states()
                && ended =>
        {
            let is_partial = found.partial_order.as_ref().is_some_and(|it| it.unused.is_none());
            // Then all states are many more.
            match is_partial {
                // States that were passed through are stored for formulas, so steps are counted.
                true => TemporalParts::IfFew { states: report.transitions * TEMPORAL_SHARE, work: PARTIAL_WORK },
                false => {
                    let (states, work) = (report.states / TEMPORAL_SHARE, work_for(report.transitions));
                    TemporalParts::IfFew { states, work }
                }
            }
        }
        _ => TemporalParts::Never,
    }
}

/// Why options need all steps.
pub(crate) fn obstacle(options: &Options) -> Option<&'static str> {
    let is_marked = matches!(
        options.reduction,
        Reduction::By(Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical)
    );
    match () {
        () if options.reduction == Reduction::Adaptive => Some("adaptive reduction needs all steps"),
        () if is_marked => Some("with markers, the states that are stored depend on the order"),
        () if options.cross_check => Some("a cross-check compares all states"),
        () if options.statistics => Some("how often rules fire would not be exact"),
        () if options.violations.collects() => Some("only the first violation is preserved"),
        () if options.exact_counts => Some("--exact-counts counts all states"),
        () => None,
    }
}
