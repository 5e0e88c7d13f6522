//! A state being expanded: what comes of its instances goes into the batch of a search, and what is no bare
//! successor is sorted out here, in the same way for all searches.

use std::ops::ControlFlow;

use quotient_ir::{DeadlockMode, PropertyId, Violation};

use crate::explicit::End;
use crate::explicit::batch::Batch;
use crate::explicit::judge::end_with;
use crate::explicit::store::{NO_PARENT, StateNumber};
use crate::options::SearchOptions;
use crate::seam::{Event, Instance, Sink, Successors, Tag};

/// A search that expands states. Whoever breaks keeps the reason.
pub(crate) trait Expander {
    /// Where successors wait until they are looked up.
    fn batch(&mut self) -> &mut Batch;
    /// Takes all successors out of the batch. All of them are closed.
    fn drain(&mut self) -> ControlFlow<()>;
    /// A step reaches cover statements. What is in the batch comes before it.
    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()>;
    /// A chance to stop in a long expansion.
    fn pause(&mut self) -> ControlFlow<()>;
    /// What ends the search, after what is in the batch, unless the search continues past it.
    fn end(&mut self, end: End) -> ControlFlow<()>;
}

/// A state (or the starts) being expanded.
pub(crate) struct Expansion<'x, X> {
    pub(crate) expander: &'x mut X,
    options: &'x SearchOptions,
    /// None while starts are run.
    state: Option<&'x [u64]>,
    /// The number of the state.
    origin: Option<StateNumber>,
    /// What the batch calls it.
    parent: StateNumber,
    /// The first of its successors in the batch that was not looked at.
    first: usize,
    /// Whether a step leads from it, to another state if that matters.
    moved: bool,
}

impl<'x, X: Expander> Expansion<'x, X> {
    /// Expands the state with a number, which the batch may call otherwise.
    #[inline]
    pub(crate) fn of_state(
        expander: &'x mut X,
        options: &'x SearchOptions,
        state: &'x [u64],
        origin: StateNumber,
        parent: StateNumber,
    ) -> Self {
        let first = expander.batch().len();
        Self { expander, options, state: Some(state), origin: Some(origin), parent, first, moved: false }
    }

    /// Runs the starts.
    pub(crate) fn of_starts(expander: &'x mut X, options: &'x SearchOptions) -> Self {
        let first = expander.batch().len();
        Self { expander, options, state: None, origin: None, parent: NO_PARENT, first, moved: true }
    }

    /// Ends the expansion: all successors so far belong to the state. Returns whether a step leads from it.
    #[inline]
    pub(crate) fn close(mut self) -> bool {
        self.look_for_moves();
        self.expander.batch().close(self.parent);
        self.moved
    }

    /// Looks for steps among the successors in the batch.
    #[inline]
    fn look_for_moves(&mut self) {
        let batch = self.expander.batch();
        let end = batch.len();
        if !self.moved
            && self.first < end
            && let Some(state) = self.state
        {
            self.moved = self.options.deadlock != DeadlockMode::Stuttering || batch.leaves(self.first, state);
        }
        self.first = end;
    }

    /// Makes room in the batch.
    fn drain(&mut self) -> ControlFlow<()> {
        self.look_for_moves();
        self.expander.batch().close(self.parent);
        self.first = 0;
        self.expander.drain()
    }

    /// Something is wrong after the successors so far.
    fn found(&mut self, state: Option<&[u64]>, violation: Violation) -> ControlFlow<()> {
        self.expander.end(end_with(self.origin, state, violation))?;
        // What can go wrong can be done: that is no deadlock.
        self.moved = true;
        self.first = self.expander.batch().len();
        ControlFlow::Continue(())
    }
}

impl<X: Expander> Sink for Expansion<'_, X> {
    #[inline]
    fn successors(&mut self) -> &mut Successors {
        &mut self.expander.batch().successors
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        // What was passed through counts before what comes now.
        self.look_for_moves();
        self.expander.batch().close(self.parent);
        match event {
            Event::Next { state, covered } => {
                if !covered.is_empty() {
                    self.expander.cover(covered)?;
                    self.first = self.expander.batch().len();
                }
                let batch = self.expander.batch();
                batch.successors.push(state, Tag::EVERYTHING);
                if batch.is_full() { self.drain() } else { ControlFlow::Continue(()) }
            }
            Event::Pruned => ControlFlow::Continue(()),
            Event::Passed { steps, covered } => {
                if !covered.is_empty() {
                    self.expander.cover(covered)?;
                    self.first = self.expander.batch().len();
                }
                self.expander.batch().successors.pass(steps);
                ControlFlow::Continue(())
            }
            Event::Wrong { state, violation } => self.found(Some(state), violation),
            Event::Fault(fault) => {
                let Instance { action, arguments } = instance;
                self.found(None, Violation::Fault { action, arguments: arguments.to_vec(), fault })
            }
            Event::Idle => {
                self.drain()?;
                self.expander.pause()
            }
        }
    }
}

/// Shows each step from a state of the model, one at a time.
pub(crate) type EachStep<'x> = &'x mut dyn FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>;

/// The deadlock in a state from which no step was seen to lead, if it is one: no step leads to a state of the
/// model, or to another one if that matters. In a quotient, a step to another state of the same orbit is a step
/// all the same, so `steps` must show those of the model itself.
pub(crate) fn deadlock(mode: DeadlockMode, state: &[u64], steps: impl FnOnce(EachStep<'_>)) -> Option<Violation> {
    if mode == DeadlockMode::Off {
        return None;
    }
    let mut is_stuck = true;
    steps(&mut |_, event| match event {
        Event::Next { state: next, .. } if mode != DeadlockMode::Stuttering || next != state => {
            is_stuck = false;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    is_stuck.then_some(Violation::Deadlock(mode))
}
