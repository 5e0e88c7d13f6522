//! The choice of adaptive reduction by itself: while a search with the symmetries of the whole model (or
//! without any) goes on and on, an adaptive search is tried. It must be much smaller at the same distance
//! from the start, or it is given up at once; otherwise it may do an eighth of the work done so far, in an eighth of
//! the memory. If it gets to the end, that is the answer; if not, the search that is under way continues as if
//! nothing had happened. Work is counted in states and steps, so that what is chosen does not depend on the clock.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_engines::{Clock, Observer, Progress, SearchOptions, SearchOrder, StopReason, StoreMode};
use quotient_ir::{Budget, Interrupt, PropertyId, PropertyKind};

use crate::adaptive::{Attempt, Searched, attempt};
use crate::control::Follower;
use crate::error::Error;
use crate::model::Model;

/// States before the first attempt: smaller models are not worth the thought.
const FIRST_STATES: u64 = 20_000;
/// How many times more before the next one.
const GROWTH: u64 = 8;
/// The part of the states stored so far that an attempt may store up to the same distance from the start.
const PROMISING_SHARE: u64 = 64;
/// An attempt may take one of so many parts of what the search has taken so far: of the states it may store, of
/// the steps it may do, of the work of looking at rules (counted in nodes of circuits against steps of the
/// search), and of the memory.
const SHARE: u64 = 8;
/// Memory that an attempt may take in any case: less is not worth a thought.
const LEAST_BYTES: u64 = 1 << 20;
/// Work of looking at rules that an attempt may do in any case: some ten milliseconds.
const LEAST_WORK: u64 = 1 << 17;

/// A search beside which adaptive reduction is tried.
pub(crate) struct Trial<'a> {
    follower: &'a mut Follower,
    model: &'a Model,
    properties: &'a [PropertyId],
    options: &'a SearchOptions,
    symmetries: BigUint,
    /// The number of states for the next attempt, if there is to be one.
    next: Option<u64>,
    /// What came of an attempt that answers everything.
    pub(crate) found: Option<Result<Box<Searched>, Error>>,
}

impl<'a> Trial<'a> {
    /// Watches a search with a number of symmetries. Nothing is tried without that number, nor if adaptive
    /// reduction cannot answer what is asked.
    pub(crate) fn new(
        follower: &'a mut Follower,
        model: &'a Model,
        properties: &'a [PropertyId],
        options: &'a SearchOptions,
        symmetries: Option<BigUint>,
    ) -> Self {
        let is_safety = |&property: &PropertyId| model.ir().properties[property].kind != PropertyKind::AlwaysReachable;
        let can_answer = symmetries.is_some()
            && properties.iter().all(is_safety)
            && options.order == SearchOrder::BreadthFirst
            && options.store == StoreMode::Exact
            && !options.violations.collects()
            && model.ir().properties.iter().all(|property| property.kind != PropertyKind::Constraint)
            && options.checkpoint.is_none()
            && options.resume.is_none();
        let symmetries = symmetries.unwrap_or_default();
        Self { follower, model, properties, options, symmetries, next: can_answer.then_some(FIRST_STATES), found: None }
    }
}

impl Observer for Trial<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.follower.progress(progress)?;
        let Some(next) = self.next.filter(|&next| progress.states >= next) else { return ControlFlow::Continue(()) };
        let limit = progress.states / SHARE;
        let options = SearchOptions {
            max_states: Some(self.options.max_states.map_or(limit, |own| own.min(limit))),
            max_memory: Some((progress.memory_bytes / SHARE).max(LEAST_BYTES)),
            spill: None,
            ..self.options.clone()
        };
        let work = (progress.transitions / SHARE).max(LEAST_WORK);
        let budget = Budget::new(work, self.follower.control().interrupt().clone());
        let mut bound = Bound { follower: self.follower, beside: *progress, is_promising: true };
        let found = attempt(self.model, self.properties, &options, &self.symmetries, &budget, &mut bound);
        self.next = None;
        self.found = match found {
            Attempt::TooMuch if bound.is_promising => {
                self.next = Some(next.saturating_mul(GROWTH));
                return ControlFlow::Continue(());
            }
            Attempt::TooMuch | Attempt::Pointless => return ControlFlow::Continue(()),
            Attempt::Made(searched) => Some(Ok(searched)),
            Attempt::Failed(error) => Some(Err(error)),
        };
        ControlFlow::Break(StopReason::Interrupted)
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

/// Ends an attempt that is not worth while.
struct Bound<'a> {
    follower: &'a Follower,
    /// How far the search is that it is tried beside.
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
