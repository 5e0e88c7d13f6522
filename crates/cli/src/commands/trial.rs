//! The choice of adaptive reduction by itself: while a search with the symmetries of the whole model (or
//! without any) goes on and on, an adaptive search is tried. It must be much smaller at the same distance
//! from the start, or it is given up at once; otherwise it may do a part of the work done so far. If it gets
//! to the end, that is the answer; if not, the search that is under way goes on as if nothing had happened.
//! Work is counted in states and steps, so that what is chosen does not depend on the clock.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_engines::{Clock, Observer, Progress, SearchOptions, SearchOrder, StopReason, StoreMode};
use quotient_ir::{PropertyId, PropertyKind};

use crate::commands::adaptive::{Attempt, Searched, attempt};
use crate::failure::Failure;
use crate::load::LoadedModel;
use crate::watch::Watch;

/// States before the first attempt: smaller models are not worth the thought.
const FIRST_STATES: u64 = 20_000;
/// How many times more before the next one.
const GROWTH: u64 = 8;
/// The part of the states stored so far that an attempt may store up to the same distance from the start.
const PROMISING_SHARE: u64 = 64;
/// The part of the states stored so far that the first attempt may store.
const FIRST_SHARE: u64 = 2;
/// The part that others may store.
const LATER_SHARE: u64 = 8;

/// A search beside which adaptive reduction is tried.
pub(super) struct Trial<'a> {
    watch: &'a mut Watch,
    loaded: &'a LoadedModel,
    properties: &'a [PropertyId],
    options: &'a SearchOptions,
    symmetries: BigUint,
    /// The number of states for the next attempt, if there is to be one.
    next: Option<u64>,
    /// What came of an attempt that answers everything.
    pub(super) found: Option<Result<Box<Searched>, Failure>>,
}

impl<'a> Trial<'a> {
    /// Watches a search with a number of symmetries. Nothing is tried without that number, nor if adaptive
    /// reduction cannot answer what is asked.
    pub(super) fn new(
        watch: &'a mut Watch,
        loaded: &'a LoadedModel,
        properties: &'a [PropertyId],
        options: &'a SearchOptions,
        symmetries: Option<BigUint>,
    ) -> Self {
        let is_safety =
            |&property: &PropertyId| loaded.model.properties[property].kind != PropertyKind::AlwaysReachable;
        let can_answer = symmetries.is_some()
            && properties.iter().all(is_safety)
            && options.order == SearchOrder::BreadthFirst
            && options.store == StoreMode::Exact
            && options.checkpoint.is_none()
            && options.resume.is_none();
        let symmetries = symmetries.unwrap_or_default();
        Self { watch, loaded, properties, options, symmetries, next: can_answer.then_some(FIRST_STATES), found: None }
    }
}

impl Observer for Trial<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.watch.progress(progress)?;
        let Some(next) = self.next.filter(|&next| progress.states >= next) else { return ControlFlow::Continue(()) };
        let limit = progress.states / if next == FIRST_STATES { FIRST_SHARE } else { LATER_SHARE };
        let options = SearchOptions {
            max_states: Some(self.options.max_states.map_or(limit, |own| own.min(limit))),
            spill: None,
            ..self.options.clone()
        };
        let mut bound = Bound { watch: self.watch, beside: *progress, is_promising: true };
        let found = attempt(self.loaded, self.properties, &options, &self.symmetries, &mut bound);
        self.next = None;
        self.found = match found {
            Attempt::TooMuch if bound.is_promising => {
                self.next = Some(next.saturating_mul(GROWTH));
                return ControlFlow::Continue(());
            }
            Attempt::TooMuch | Attempt::Pointless => return ControlFlow::Continue(()),
            Attempt::Made(searched) => Some(Ok(searched)),
            Attempt::Failed(failure) => Some(Err(failure)),
        };
        ControlFlow::Break(StopReason::Interrupted)
    }

    fn wants_checkpoint(&mut self) -> bool {
        self.watch.wants_checkpoint()
    }

    fn clock(&self) -> Option<Clock> {
        self.watch.clock()
    }
}

/// Ends an attempt that is not worth while.
struct Bound<'a> {
    watch: &'a Watch,
    /// How far the search is that it is tried beside.
    beside: Progress,
    is_promising: bool,
}

impl Observer for Bound<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        if let Some(reason) = self.watch.stop_reason() {
            return ControlFlow::Break(reason);
        }
        let share = self.beside.states / PROMISING_SHARE;
        self.is_promising &= progress.states <= share || progress.depth > self.beside.depth;
        if !self.is_promising || progress.transitions > self.beside.transitions {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        ControlFlow::Continue(())
    }
}
