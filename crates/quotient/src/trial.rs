//! Reductions that are tried beside a search: a part of the steps ([`Shortcut`]), and adaptive reduction.
//!
//! Automatic choice of adaptive reduction: during a long search with the symmetries of the whole model (or without
//! any), an adaptive search is tried. It must be much smaller at the same depth, or it is abandoned at once; otherwise
//! it may do an eighth of the work done so far, in an eighth of the memory. If it finishes, its result is the answer;
//! if not, the current search continues unaffected. Work is counted in states and steps, so that the choice does not
//! depend on the clock.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_engines::{Clock, Observer, Progress, Report, SearchOptions, SearchOrder, StopReason, StoreMode};
use quotient_ir::{Budget, Interrupt, PropertyId, PropertyKind};

use crate::adaptive::{self, Searched};
use crate::attempt::Attempt;
use crate::control::Follower;
use crate::error::Error;
use crate::partial_order::{Shortcut, Start};
use crate::plan::Plan;

/// The number of states before the first attempt: smaller models are not worth it.
const FIRST_STATES: u64 = 20_000;
/// The factor by which the number of states grows before the next attempt.
const GROWTH: u64 = 8;
/// The share of the states stored so far that an attempt may store up to the same depth.
const PROMISING_SHARE: u64 = 64;
/// An attempt may take one part in this many of what the search has taken so far: of the states stored, of the steps, and
/// of the memory.
const SHARE: u64 = 8;
/// The steps of the search for which an attempt may do one unit of the work of analysing rules, which takes as long as a
/// step or a little longer.
const STEPS_PER_UNIT: u64 = 16;
/// Memory that an attempt may always take; less is not worth an attempt.
const LEAST_BYTES: u64 = 1 << 20;
/// Work of analysing rules that the first attempt may do in any case: some ten milliseconds.
const LEAST_WORK: u64 = 1 << 17;

/// A search during which adaptive reduction is tried.
pub(crate) struct Trial<'a> {
    follower: &'a mut Follower,
    plan: &'a Plan,
    shortcut: &'a mut Shortcut,
    /// Begins an attempt with a part of the steps.
    start: &'a Start<'a>,
    /// The one that has begun.
    ongoing: Option<Attempt>,
    /// The number of symmetries, once it is known.
    pub(crate) symmetries: Option<BigUint>,
    /// The number of states at the next attempt, if there is to be one.
    next: Option<u64>,
    /// The outcome of an attempt that decides everything.
    pub(crate) found: Option<Result<Outcome, Error>>,
}

/// What decides everything before the search does.
pub(crate) enum Outcome {
    /// A search with a part of the steps.
    Shortcut(Box<Report>),
    /// An adaptive search.
    Adaptive(Box<Searched>),
}

impl<'a> Trial<'a> {
    /// Watches a search with this number of symmetries. Adaptive reduction is not tried while the number is unknown, or if
    /// it does not support the query.
    pub(crate) fn new(
        follower: &'a mut Follower,
        plan: &'a Plan,
        (shortcut, start): (&'a mut Shortcut, &'a Start<'a>),
        symmetries: Option<BigUint>,
    ) -> Self {
        let Plan { model, search, properties, .. } = plan;
        let is_safety = |&property: &PropertyId| model.ir().properties[property].kind != PropertyKind::AlwaysReachable;
        let can_answer = properties.iter().all(is_safety)
            && search.order == SearchOrder::BreadthFirst
            && search.store == StoreMode::Exact
            && !search.violations.collects()
            && model.ir().properties.iter().all(|property| property.kind != PropertyKind::Constraint)
            && search.checkpoint.is_none()
            && search.resume.is_none();
        let next = can_answer.then_some(FIRST_STATES);
        Self { follower, plan, shortcut, start, ongoing: None, symmetries, next, found: None }
    }
}

impl Observer for Trial<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.follower.progress(progress)?;
        let attempts = (&mut self.ongoing, self.start);
        if let Some(found) = self.shortcut.attempt(self.plan, attempts, progress, self.follower.control()) {
            self.found = Some(found.map(|report| Outcome::Shortcut(Box::new(report))));
            return ControlFlow::Break(StopReason::Interrupted);
        }
        if self.shortcut.is_violated() {
            return ControlFlow::Continue(());
        }
        let Some(next) = self.next.filter(|&next| progress.states >= next) else { return ControlFlow::Continue(()) };
        let Some(symmetries) = &self.symmetries else { return ControlFlow::Continue(()) };
        let (own, limit) = (&self.plan.search, progress.states / SHARE);
        let options = SearchOptions {
            max_states: Some(own.max_states.map_or(limit, |own| own.min(limit))),
            max_memory: Some((progress.memory_bytes / SHARE).max(LEAST_BYTES)),
            spill: None,
            ..own.clone()
        };
        let work = progress.transitions / STEPS_PER_UNIT;
        let work = if next == FIRST_STATES { work.max(LEAST_WORK) } else { work };
        let budget = Budget::new(work, self.follower.control().interrupt().clone());
        let mut bound = Bound { follower: self.follower, beside: *progress, is_promising: true };
        let found =
            adaptive::attempt(&self.plan.model, &self.plan.properties, &options, symmetries, &budget, &mut bound);
        self.next = None;
        self.found = match found {
            adaptive::Attempt::TooMuch if bound.is_promising => {
                self.next = Some(next.saturating_mul(GROWTH));
                return ControlFlow::Continue(());
            }
            adaptive::Attempt::TooMuch | adaptive::Attempt::Pointless => return ControlFlow::Continue(()),
            adaptive::Attempt::Made(searched) => Some(Ok(Outcome::Adaptive(searched))),
            adaptive::Attempt::Failed(error) => Some(Err(error)),
        };
        ControlFlow::Break(StopReason::Interrupted)
    }

    fn glance(&mut self, progress: &Progress) {
        self.follower.glance(progress);
    }

    fn resumed(&mut self, states: u64) {
        self.follower.resumed(states);
    }

    fn wants_checkpoint(&mut self) -> bool {
        self.follower.wants_checkpoint()
    }

    fn interrupt(&self) -> Interrupt {
        self.follower.interrupt()
    }

    fn clock(&self) -> Option<Clock> {
        self.follower.clock()
    }
}

/// Ends an attempt that does not pay.
struct Bound<'a> {
    follower: &'a Follower,
    /// The progress of the search during which it is tried.
    beside: Progress,
    is_promising: bool,
}

impl Observer for Bound<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        if let Some(reason) = self.follower.stop_reason() {
            return ControlFlow::Break(reason);
        }
        let share = self.beside.states / PROMISING_SHARE;
        self.is_promising &= progress.states <= share || progress.depth > self.beside.depth;
        if !self.is_promising || progress.transitions > self.beside.transitions / SHARE {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        ControlFlow::Continue(())
    }

    fn interrupt(&self) -> Interrupt {
        self.follower.interrupt()
    }
}
