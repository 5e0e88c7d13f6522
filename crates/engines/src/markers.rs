//! Searches by symmetry markers: of all states with one marker the first that is found stands for the
//! others. Where only symmetric states have equal markers that is exact; elsewhere it is an approximation,
//! unless a canonicalizer decides between states with equal markers, so that canonical forms are computed
//! only where a marker is known already.
//!
//! The states that are searched are states of the model as they were reached, so runs need no translation.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use quotient_ir::{Fault, Layout, PropertyId, RuleId, SlotId};
use quotient_symmetry::{Canonicalizer, Literals, MarkerScratch, Marking, Workspace};
use rustc_hash::FxHashMap;

use crate::guard::Guard;
use crate::system::{Event, Instance, TransitionSystem};

/// A transition system in which one state stands for all with its marker.
#[derive(Debug)]
pub struct MarkerSystem<'a, S> {
    inner: &'a S,
    marking: &'a Marking,
    /// Decides between states with equal markers.
    canonicalizer: Option<&'a Canonicalizer>,
    guard: Guard,
    known: Mutex<Known>,
}

/// The states that stand for others.
#[derive(Debug, Default)]
struct Known {
    by_marker: FxHashMap<Box<[u64]>, Vec<Standing>>,
    collisions: u64,
    canonical_forms: u64,
}

/// A state that stands for others, with its canonical form once somebody asked for it.
#[derive(Debug)]
struct Standing {
    state: Box<[u64]>,
    canonical: Option<Box<[u64]>>,
}

/// The memory of one run.
#[derive(Debug)]
pub struct MarkerSystemScratch<T> {
    inner: T,
    finder: Finder,
}

#[derive(Debug, Default)]
struct Finder {
    scratch: MarkerScratch,
    workspace: Workspace,
    marker: Vec<u64>,
    state: Vec<u64>,
    canonical: Vec<u64>,
}

impl<'a, S: TransitionSystem> MarkerSystem<'a, S> {
    /// The system reduced by markers, exact if there is a canonicalizer for the same group.
    pub fn new(
        inner: &'a S,
        layout: &Layout,
        literals: &Literals,
        marking: &'a Marking,
        canonicalizer: Option<&'a Canonicalizer>,
    ) -> Self {
        Self { inner, marking, canonicalizer, guard: Guard::new(layout, literals), known: Mutex::default() }
    }

    /// The slot that was seen with a value detection took to be impossible.
    pub fn impossible_slot(&self) -> Option<SlotId> {
        self.guard.caught()
    }

    /// How many states got a marker that a state of another orbit has, if that is known.
    pub fn collisions(&self) -> Option<u64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (self.canonicalizer.is_some() || self.marking.is_exact()).then_some(known.collisions)
    }

    /// How many canonical forms were computed.
    pub fn canonical_forms(&self) -> u64 {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).canonical_forms
    }

    /// Puts into `finder.state` the state that stands for one. A state that nothing stands for yet
    /// stands for itself from now on, if `remember`.
    fn stand_in(&self, finder: &mut Finder, state: &[u64], remember: bool) {
        let Finder { scratch, workspace, marker, state: buffer, canonical } = finder;
        buffer.clear();
        buffer.extend_from_slice(state);
        self.marking.marker(scratch, state, marker);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { by_marker, collisions, canonical_forms } = &mut *known;
        let Some(standing) = by_marker.get_mut(marker.as_slice()) else {
            if remember {
                by_marker.insert(marker.as_slice().into(), vec![Standing { state: state.into(), canonical: None }]);
            }
            return;
        };
        let Some(canonicalizer) = self.canonicalizer else {
            buffer.copy_from_slice(&standing[0].state);
            return;
        };
        if let Some(same) = standing.iter().find(|entry| *entry.state == *state) {
            buffer.copy_from_slice(&same.state);
            return;
        }
        canonical.clear();
        canonical.extend_from_slice(state);
        canonicalizer.canonicalize(workspace, canonical);
        *canonical_forms += 1;
        for entry in standing.iter_mut() {
            let form = entry.canonical.get_or_insert_with(|| {
                let mut form = entry.state.clone();
                canonicalizer.canonicalize(workspace, &mut form);
                *canonical_forms += 1;
                form
            });
            if **form == **canonical {
                buffer.copy_from_slice(&entry.state);
                return;
            }
        }
        if remember {
            *collisions += 1;
            standing.push(Standing { state: state.into(), canonical: Some(canonical.as_slice().into()) });
        }
    }

    fn pass_on(
        &self,
        finder: &mut Finder,
        before: Option<&[u64]>,
        instance: Instance<'_>,
        event: Event<'_>,
        visit: &mut impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match event {
            Event::Next { state, covered } => {
                if !self.guard.passes(before, state) {
                    return visit(instance, Event::Pruned);
                }
                self.stand_in(finder, state, true);
                visit(instance, Event::Next { state: &finder.state, covered })
            }
            other => visit(instance, other),
        }
    }
}

impl<S: TransitionSystem> TransitionSystem for MarkerSystem<'_, S> {
    type Scratch = MarkerSystemScratch<S::Scratch>;

    fn scratch(&self) -> Self::Scratch {
        MarkerSystemScratch { inner: self.inner.scratch(), finder: Finder::default() }
    }

    fn name(&self) -> &'static str {
        "markers"
    }

    fn fired_rules(&self) -> Vec<RuleId> {
        self.inner.fired_rules()
    }

    fn note_fired_rules(&self, rules: &[RuleId]) {
        self.inner.note_fired_rules(rules);
    }

    fn words(&self) -> usize {
        self.inner.words()
    }

    fn starts(&self, scratch: &mut Self::Scratch, mut visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>) {
        let MarkerSystemScratch { inner, finder } = scratch;
        self.inner.starts(inner, |instance, event| self.pass_on(finder, None, instance, event, &mut visit));
    }

    fn successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        mut visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        let MarkerSystemScratch { inner, finder } = scratch;
        self.inner
            .successors(inner, state, |instance, event| self.pass_on(finder, Some(state), instance, event, &mut visit));
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
        if self.guard.passes(None, state) {
            self.stand_in(&mut scratch.finder, state, false);
            state.copy_from_slice(&scratch.finder.state);
        }
    }

    fn identify(&self, _scratch: &mut Self::Scratch, _state: &mut [u64]) {
        // What is stored was reached as it is.
    }

    fn concrete_successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.inner.successors(&mut scratch.inner, state, visit);
    }

    fn first_steps(&self, scratch: &mut Self::Scratch, visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>) {
        self.inner.first_steps(&mut scratch.inner, visit);
    }

    fn steps(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.inner.steps(&mut scratch.inner, state, visit);
    }

    fn goes_on(&self, scratch: &mut Self::Scratch, state: &[u64]) -> bool {
        self.inner.goes_on(&mut scratch.inner, state)
    }
}
