//! The quotient of a transition system by a group of its symmetries: the same steps, but every state
//! replaced by the representative of its orbit.

use std::ops::ControlFlow;

use quotient_ir::{Fault, PropertyId};
use quotient_symmetry::{Canonicalizer, Workspace};

use crate::system::{Event, Instance, TransitionSystem};

/// A transition system whose states are representatives.
#[derive(Debug)]
pub struct QuotientSystem<'a, S> {
    inner: &'a S,
    canonicalizer: &'a Canonicalizer,
}

/// The memory of one run of a quotient.
#[derive(Debug)]
pub struct QuotientScratch<T> {
    inner: T,
    workspace: Workspace,
    state: Vec<u64>,
}

impl<'a, S: TransitionSystem> QuotientSystem<'a, S> {
    /// The quotient of a system. The canonicalizer must be one of the system's model, for a group
    /// that preserves whatever is asked of the quotient.
    pub fn new(inner: &'a S, canonicalizer: &'a Canonicalizer) -> Self {
        Self { inner, canonicalizer }
    }

    /// Passes an event on with the representative of its state.
    fn pass_on(
        &self,
        workspace: &mut Workspace,
        buffer: &mut Vec<u64>,
        instance: Instance<'_>,
        event: Event<'_>,
        visit: &mut impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match event {
            Event::Next { state, covered } => {
                buffer.clear();
                buffer.extend_from_slice(state);
                self.canonicalizer.canonicalize(workspace, buffer);
                visit(instance, Event::Next { state: buffer, covered })
            }
            other => visit(instance, other),
        }
    }
}

impl<S: TransitionSystem> TransitionSystem for QuotientSystem<'_, S> {
    type Scratch = QuotientScratch<S::Scratch>;

    fn scratch(&self) -> Self::Scratch {
        QuotientScratch { inner: self.inner.scratch(), workspace: Workspace::default(), state: Vec::new() }
    }

    fn words(&self) -> usize {
        self.inner.words()
    }

    fn starts(&self, scratch: &mut Self::Scratch, mut visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>) {
        let QuotientScratch { inner, workspace, state: buffer } = scratch;
        self.inner.starts(inner, |instance, event| self.pass_on(workspace, buffer, instance, event, &mut visit));
    }

    fn successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        mut visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        let QuotientScratch { inner, workspace, state: buffer } = scratch;
        self.inner
            .successors(inner, state, |instance, event| self.pass_on(workspace, buffer, instance, event, &mut visit));
    }

    fn evaluate(
        &self,
        scratch: &mut Self::Scratch,
        property: PropertyId,
        state: &[u64],
        visit: impl FnMut(&[i64], Result<bool, Fault>) -> ControlFlow<()>,
    ) {
        self.inner.evaluate(&mut scratch.inner, property, state, visit);
    }

    fn represent(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        self.canonicalizer.canonicalize(&mut scratch.workspace, state);
    }

    fn concrete_starts(
        &self,
        scratch: &mut Self::Scratch,
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.inner.starts(&mut scratch.inner, visit);
    }

    fn concrete_successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.inner.successors(&mut scratch.inner, state, visit);
    }
}
