//! The seam between searches and what runs a model: packed states in, successors out.

use std::ops::ControlFlow;

use quotient_ir::{Action, Fault, PropertyId};

/// An action with the cells of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// The start or rule.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: &'a [i64],
}

/// What came of firing an instance.
#[derive(Debug)]
pub enum Event<'a> {
    /// A state.
    Next {
        /// The packed state.
        state: &'a [u64],
        /// The cover statements reached on the way, each once.
        covered: &'a [PropertyId],
    },
    /// An assume statement failed; it is as if the instance had not fired.
    Pruned,
    /// The guard or the body went wrong.
    Fault(Fault),
    /// Many instances in a row could not fire: a chance to stop.
    Idle,
}

/// A model as its searches see it. All orders are those of the model's text: actions in order of
/// declaration, the last parameter fastest. Assumptions are properties like others here; it is
/// the search that drops states.
///
/// A system is not changed by running it, so that several searches can share it; what it needs to
/// run is its `Scratch`.
pub trait TransitionSystem {
    /// The memory of one run.
    type Scratch;

    /// Memory to run in, one for each run that is under way at the same time.
    fn scratch(&self) -> Self::Scratch;

    /// The number of words of a packed state; at least one.
    fn words(&self) -> usize;

    /// Runs every instance of every start in order. Breaking from `visit` ends the enumeration.
    fn starts(&self, scratch: &mut Self::Scratch, visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>);

    /// Fires every enabled instance of every rule in order. Nothing is said about an instance
    /// whose guard is false. Breaking from `visit` ends the enumeration.
    fn successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    );

    /// Evaluates a property for each valuation of its parameters in order. A cover property
    /// without a condition has none. Breaking from `visit` ends the enumeration.
    fn evaluate(
        &self,
        scratch: &mut Self::Scratch,
        property: PropertyId,
        state: &[u64],
        visit: impl FnMut(&[i64], Result<bool, Fault>) -> ControlFlow<()>,
    );

    /// Replaces a state by the one that stands for it in this system. Nothing, unless this is a
    /// quotient.
    fn represent(&self, _scratch: &mut Self::Scratch, _state: &mut [u64]) {}

    /// Replaces a state by one that is the same for all states that stand for each other. It need not
    /// be the one that [`TransitionSystem::represent`] gives.
    fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        self.represent(scratch, state);
    }

    /// Like [`TransitionSystem::starts`], with the states of the model itself also in a quotient.
    fn concrete_starts(
        &self,
        scratch: &mut Self::Scratch,
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.starts(scratch, visit);
    }

    /// Like [`TransitionSystem::successors`], with the states of the model itself also in a
    /// quotient.
    fn concrete_successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.successors(scratch, state, visit);
    }
}
