//! Expansion of a state: successors go into the batch of a search, and all other events are handled here, in the same
//! way for all searches.

use std::ops::ControlFlow;

use quotient_ir::{Action, DeadlockMode, PropertyId, Violation};

use crate::batch::Batch;
use crate::exploration::End;
use crate::judge::end_with;
use crate::store::{NO_PARENT, StateNumber};
use quotient_search::{Event, Instance, Parts, SearchOptions, Share, Sink, Successors, Tag};

/// A search that expands states. An implementation that breaks records the reason.
pub trait Expander {
    /// The batch where successors wait for lookup.
    fn batch(&mut self) -> &mut Batch;
    /// Takes all successors out of the batch. All of them are closed.
    fn drain(&mut self) -> ControlFlow<()>;
    /// A step reaches cover statements. The successors in the batch come before it.
    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()>;
    /// An opportunity to stop during a long expansion.
    fn pause(&mut self) -> ControlFlow<()>;
    /// Whether a successor in the batch will be expanded later than all states that were expanded so far.
    fn is_new(&mut self, position: usize) -> bool;
    /// Whether the search is to end.
    fn is_halted(&self) -> bool;
    /// What ends the search, after what is in the batch, unless the search continues past it.
    fn end(&mut self, end: End) -> ControlFlow<()>;
}

/// A state (or the starts) under expansion.
pub struct Expansion<'x, X> {
    /// What receives the successors.
    pub expander: &'x mut X,
    options: &'x SearchOptions,
    /// None while starts are run.
    state: Option<&'x [u64]>,
    /// The number of the state.
    origin: Option<StateNumber>,
    /// Its identification in the batch.
    parent: StateNumber,
    /// The first of its successors in the batch that was not examined.
    first: usize,
    /// Whether a step leads from it (to another state, if that is required).
    moved: bool,
    /// The first of its successors in the batch that was not looked up, and whether one of those before is new.
    unseen: usize,
    has_new: bool,
    /// Whether that matters.
    watches: bool,
}

impl<'x, X: Expander> Expansion<'x, X> {
    /// Expands the state with a number, which may have another identification in the batch.
    #[inline]
    pub fn of_state(
        expander: &'x mut X,
        options: &'x SearchOptions,
        state: &'x [u64],
        origin: StateNumber,
        parent: StateNumber,
    ) -> Self {
        let first = expander.batch().len();
        Self {
            expander,
            options,
            state: Some(state),
            origin: Some(origin),
            parent,
            first,
            moved: false,
            unseen: first,
            has_new: false,
            watches: false,
        }
    }

    /// Runs the starts.
    pub fn of_starts(expander: &'x mut X, options: &'x SearchOptions) -> Self {
        let first = expander.batch().len();
        Self {
            expander,
            options,
            state: None,
            origin: None,
            parent: NO_PARENT,
            first,
            moved: true,
            unseen: first,
            has_new: true,
            watches: false,
        }
    }

    /// Expands the state with a system, or a part of it where that suffices. Returns whether a step leads from it.
    #[inline]
    pub fn run<S: Parts>(mut self, system: &S, scratch: &mut S::Scratch) -> bool {
        let state = self.state.expect("starts are run otherwise");
        self.watches = system.reduces();
        if system.expand_part(scratch, state, &mut self) == Share::Part {
            self.look_for_new();
            if !self.has_new && !self.expander.is_halted() {
                system.expand_rest(scratch, state, &mut self);
            }
        }
        self.close()
    }

    /// Searches the successors in the batch for states that will be expanded later.
    fn look_for_new(&mut self) {
        let end = self.expander.batch().len();
        while !self.has_new && self.unseen < end {
            self.has_new = self.expander.is_new(self.unseen);
            self.unseen += 1;
        }
    }

    /// Ends the expansion: all successors so far belong to the state. Returns whether a step leads from it.
    #[inline]
    pub fn close(mut self) -> bool {
        self.look_for_moves();
        self.expander.batch().close(self.parent);
        self.moved
    }

    /// Searches the successors in the batch for steps.
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

    /// All successors in the batch were examined; it may be another batch by now.
    fn forget(&mut self) {
        self.first = self.expander.batch().len();
        self.unseen = self.first;
    }

    /// Makes room in the batch.
    fn drain(&mut self) -> ControlFlow<()> {
        self.look_for_moves();
        if self.watches {
            self.look_for_new();
        }
        self.expander.batch().close(self.parent);
        (self.first, self.unseen) = (0, 0);
        self.expander.drain()
    }

    /// Something is wrong after the successors so far.
    fn found(&mut self, state: Option<&[u64]>, violation: Violation) -> ControlFlow<()> {
        self.expander.end(end_with(self.origin, state, violation))?;
        // What can go wrong can be done: that is no deadlock.
        self.moved = true;
        self.forget();
        ControlFlow::Continue(())
    }
}

impl<X: Expander> Sink for Expansion<'_, X> {
    #[inline]
    fn successors(&mut self) -> &mut Successors {
        &mut self.expander.batch().successors
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        // Transient states count before the present successor.
        self.look_for_moves();
        if self.watches {
            self.look_for_new();
        }
        self.expander.batch().close(self.parent);
        match event {
            Event::Next { state, covered } => {
                if !covered.is_empty() {
                    self.expander.cover(covered)?;
                    self.forget();
                }
                let batch = self.expander.batch();
                batch.successors.push(state, Tag::EVERYTHING);
                if batch.is_full() { self.drain() } else { ControlFlow::Continue(()) }
            }
            Event::Pruned => ControlFlow::Continue(()),
            Event::Passed { steps, covered } => {
                if !covered.is_empty() {
                    self.expander.cover(covered)?;
                    self.forget();
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

/// Calls back with each step from a state of the model, one at a time.
pub(crate) type EachStep<'x> = &'x mut dyn FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>;

/// The deadlock in a state from which no step was found, if it is one: no step leads to a state of the model, or to
/// another state if that is required. In a quotient, a step to another state of the same orbit still counts as a step,
/// so `steps` must show those of the model itself.
pub fn deadlock(options: &SearchOptions, state: &[u64], steps: impl FnOnce(EachStep<'_>)) -> Option<Violation> {
    let mode = options.deadlock;
    let moves = |action: Action| matches!(action, Action::Rule(rule) if options.moving_rules.contains(&rule));
    if mode == DeadlockMode::Off {
        return None;
    }
    let mut is_stuck = true;
    steps(&mut |instance, event| match event {
        Event::Next { state: next, .. }
            if mode != DeadlockMode::Stuttering || next != state || moves(instance.action) =>
        {
            is_stuck = false;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    is_stuck.then_some(Violation::Deadlock(mode))
}
