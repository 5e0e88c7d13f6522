//! The choice whether a search takes a part of the steps where that suffices.
//!
//! If that is left open, a search takes all steps, and a part of them is tried beside it: see [`Shortcut`].

use std::ops::ControlFlow;
use std::sync::Arc;

use quotient_engines::partial_order::{Obstacle, Relations};
use quotient_engines::{
    Observer, Progress, ReductionPlan, Report, SearchOptions, SearchOrder, StopReason, StoreMode, TemporalParts,
    Verdict,
};
use quotient_ir::Interrupt;
use quotient_symmetry::Strategy;

use crate::control::Follower;
use crate::error::Error;
use crate::options::{Options, PartialOrder, Reduction};
use crate::plan::{Plan, Refusal};
use crate::report::PartialOrderReport;
use crate::run::Found;
use crate::search;

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
/// The same if it is promising: with its share, it is deeper than the search.
const PROMISING_SHARE: u64 = 2;
/// The factor by which the number of states grows before the next attempt.
const GROWTH: u64 = 4;
/// The attempts that may disappoint before there are no more.
const DISAPPOINTMENTS: u32 = 3;
/// The work for relations, in nodes of functions, that is allowed in any case: some milliseconds.
const LEAST_WORK: u64 = 80_000;
/// The work that is allowed for as many steps of the search, which take about as long.
const EQUAL_WORK: u64 = 320_000;
/// The steps of the search for which one node more is allowed.
const STEPS_PER_NODE: u64 = 8;
/// Memory that an attempt may always take.
const LEAST_BYTES: u64 = 1 << 20;

/// Searches with a part of the steps, beside a search with all of them.
///
/// Choosing steps takes longer than taking them, so it pays only where few suffice. An attempt begins after some states,
/// and may store a small share of those stored so far; if it is then deeper than the search, a large one. If it ends, its
/// result is the answer; if not, the search continues, and there is another attempt when it is some times as large. Work is
/// counted, so that the choice does not depend on the clock.
pub(crate) struct Shortcut {
    relations: Option<Arc<Relations>>,
    /// The number of states at the next attempt, if there is to be one.
    next: Option<u64>,
    disappointments: u32,
    /// The work that did not suffice for relations. There is another attempt when half as much again is allowed.
    too_little: u64,
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
            relations: None,
            next: is_tried.then_some(FIRST_STATES),
            disappointments: 0,
            too_little: 0,
            unused: None,
        }
    }

    /// Makes an attempt if one is due, with the symmetries of the search. Its report, if it decides everything.
    pub(crate) fn attempt(
        &mut self,
        plan: &Plan,
        method: Option<&ReductionPlan>,
        progress: &Progress,
        follower: &Follower,
    ) -> Option<Result<Report, Error>> {
        self.next.filter(|&next| progress.states >= next)?;
        self.next = Some(progress.states.saturating_mul(GROWTH));
        let relations = self.relations(plan, progress, follower.control().interrupt())?;
        let mut share = SHARE;
        loop {
            let options = SearchOptions {
                partial_order: Some(Arc::clone(&relations)),
                max_states: Some(progress.states / share),
                max_memory: Some((progress.memory_bytes / share).max(LEAST_BYTES)),
                spill: None,
                ..plan.search.clone()
            };
            let mut bound = Bound { follower, depth: 0 };
            let report = match search::run_within(&plan.model, method, &options, &mut bound) {
                Ok(report) => report,
                Err(error) => return Some(Err(Error::of_engine(plan.model.source(), error))),
            };
            if report.verdict != Verdict::Inconclusive {
                return Some(Ok(report));
            }
            let is_too_large =
                matches!(report.stop_reason, Some(StopReason::StateLimit(_) | StopReason::MemoryLimit(_)));
            if !is_too_large || share == PROMISING_SHARE {
                return None;
            }
            if bound.depth <= progress.depth {
                self.disappointments += 1;
                if self.disappointments == DISAPPOINTMENTS {
                    self.next = None;
                }
                return None;
            }
            share = PROMISING_SHARE;
        }
    }

    /// What steps do to each other, if it is known or found out with the work that the search is worth.
    fn relations(&mut self, plan: &Plan, progress: &Progress, interrupt: &Interrupt) -> Option<Arc<Relations>> {
        if self.relations.is_none() {
            let work = work_for(progress.transitions);
            if work / 3 * 2 < self.too_little {
                return None;
            }
            let (model, layout) = (plan.model.ir(), plan.model.layout());
            match Relations::with_work(work, model, layout, &plan.search, interrupt) {
                Ok(relations) => self.relations = Some(Arc::new(relations)),
                Err(Obstacle::TooMuchWork(_)) => self.too_little = work,
                Err(Obstacle::Refused(reason)) => (self.next, self.unused) = (None, Some(reason)),
            }
        }
        self.relations.clone()
    }
}

/// Follows an attempt.
struct Bound<'a> {
    follower: &'a Follower,
    /// How deep it is.
    depth: u64,
}

impl Observer for Bound<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.depth = progress.depth;
        self.follower.stop_reason().map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }

    fn interrupt(&self) -> Interrupt {
        self.follower.interrupt()
    }
}

/// The work for relations, in nodes of functions, that a search of some steps is worth.
fn work_for(steps: u64) -> u64 {
    LEAST_WORK + steps.min(EQUAL_WORK) + steps / STEPS_PER_NODE
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
                true => TemporalParts::IfFew { states: report.states * TEMPORAL_SHARE, work: PARTIAL_WORK },
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
