//! The quotient of a transition system by a group of its symmetries: the same steps, but every state
//! replaced by a representative of its orbit.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quotient_ir::{Fault, Layout, PropertyId, RuleId, SlotId};
use quotient_symmetry::{Canonicalizer, Literals, Workspace};

use crate::guard::Guard;
use crate::system::{Event, FieldTest, Instance, Sink, Successors, Tag, TransitionSystem};

/// Tells the time since some moment, best in processor time of the calling thread. Libraries do not read the
/// clock themselves.
pub type Clock = fn() -> Duration;

/// So many representatives in a row are timed at first, and one of so many later.
const SAMPLE: u32 = 64;

/// Starts in a row that may be passed over before the search hears of it.
const IDLE_INTERVAL: u32 = 4096;

/// A transition system whose states are representatives.
#[derive(Debug)]
pub struct QuotientSystem<'a, S> {
    inner: &'a S,
    canonicalizer: &'a Canonicalizer,
    /// One that gives all states of an orbit the same representative.
    exact: &'a Canonicalizer,
    guard: Guard,
    clock: Option<Clock>,
    /// What reading the clock costs by itself.
    reading: Duration,
    /// Time spent to find representatives, as far as it was sampled.
    nanoseconds: AtomicU64,
}

/// The memory of one run of a quotient.
#[derive(Debug)]
pub struct QuotientScratch<T> {
    inner: T,
    finder: Finder,
    state: Vec<u64>,
}

/// What is needed to find representatives.
#[derive(Debug, Default)]
struct Finder {
    workspace: Workspace,
    /// That of the exact canonicalizer.
    exact: Workspace,
    timed: u32,
    /// How many more pass before one is timed.
    wait: u32,
}

impl<'a, S: TransitionSystem> QuotientSystem<'a, S> {
    /// The quotient of a system. The canonicalizer must be one of the system's model, for a group on the
    /// literals that preserves whatever is asked of the quotient; `exact` must be another one for the
    /// same group if the first may give an orbit several representatives.
    pub fn new(
        inner: &'a S,
        layout: &Layout,
        literals: &Literals,
        canonicalizer: &'a Canonicalizer,
        exact: Option<&'a Canonicalizer>,
        clock: Option<Clock>,
    ) -> Self {
        let reading =
            clock.map_or(Duration::ZERO, |clock| (0..8).map(|_| clock().abs_diff(clock())).min().unwrap_or_default());
        Self {
            inner,
            canonicalizer,
            exact: exact.unwrap_or(canonicalizer),
            guard: Guard::new(layout, literals),
            clock,
            reading,
            nanoseconds: AtomicU64::new(0),
        }
    }

    /// The slot that was seen with a value detection took to be impossible. Then nothing that was
    /// found in the quotient can be trusted.
    pub fn impossible_slot(&self) -> Option<SlotId> {
        self.guard.caught()
    }

    /// Time spent to find representatives so far, estimated from samples; none without a clock.
    pub fn canonicalization_time(&self) -> Option<Duration> {
        self.clock.map(|_| Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)))
    }

    /// Replaces a state by its representative.
    #[inline]
    fn canonicalize(&self, finder: &mut Finder, state: &mut [u64]) {
        match self.clock {
            Some(clock) if finder.wait == 0 => self.canonicalize_timed(clock, finder, state),
            _ => {
                finder.wait = finder.wait.wrapping_sub(1);
                self.canonicalizer.canonicalize(&mut finder.workspace, state);
            }
        }
    }

    #[cold]
    fn canonicalize_timed(&self, clock: Clock, finder: &mut Finder, state: &mut [u64]) {
        let before = clock();
        self.canonicalizer.canonicalize(&mut finder.workspace, state);
        let mut spent = clock().saturating_sub(before).saturating_sub(self.reading);
        if finder.timed < SAMPLE {
            finder.timed += 1;
        } else {
            spent *= SAMPLE;
            finder.wait = SAMPLE - 1;
        }
        self.nanoseconds.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Passes an event on with the representative of its state. `before` is the state it came from.
    #[inline]
    fn pass_on(
        &self,
        (finder, buffer): (&mut Finder, &mut Vec<u64>),
        before: Option<&[u64]>,
        instance: Instance<'_>,
        event: Event<'_>,
        visit: &mut impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match event {
            Event::Next { state, covered } => {
                // What the canonicalizer does to values it does not know is of no interest.
                if !self.guard.passes(before, state) {
                    return visit(instance, Event::Pruned);
                }
                buffer.clear();
                buffer.extend_from_slice(state);
                self.canonicalize(finder, buffer);
                visit(instance, Event::Next { state: buffer, covered })
            }
            other => visit(instance, other),
        }
    }
}

impl<S: TransitionSystem> TransitionSystem for QuotientSystem<'_, S> {
    type Scratch = QuotientScratch<S::Scratch>;

    fn scratch(&self) -> Self::Scratch {
        QuotientScratch { inner: self.inner.scratch(), finder: Finder::default(), state: Vec::new() }
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

    fn fills_words(&self) -> bool {
        self.inner.fills_words()
    }

    fn starts(&self, scratch: &mut Self::Scratch, mut visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        // Symmetries map starts to starts, so the representative of a start's orbit is the state of a start,
        // too, and it is enough to go on from those that are representatives themselves. Where an orbit may
        // have several representatives, that of a start need not be among those of the starts.
        let only_representatives = self.canonicalizer.is_exact();
        let mut passed_over = 0u32;
        self.inner.starts(inner, |instance, event| {
            if only_representatives
                && let Event::Next { state, covered: [] } = event
                && self.guard.passes(None, state)
                && !self.canonicalizer.is_representative(&mut finder.workspace, state)
            {
                passed_over = passed_over.wrapping_add(1);
                let event = if passed_over.is_multiple_of(IDLE_INTERVAL) { Event::Idle } else { Event::Pruned };
                return visit(instance, event);
            }
            self.pass_on((finder, buffer), None, instance, event, &mut visit)
        });
    }

    fn successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        mut visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        self.inner.successors(inner, state, |instance, event| {
            self.pass_on((finder, buffer), Some(state), instance, event, &mut visit)
        });
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

    fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut impl Sink) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        let first = sink.successors().len();
        let mut representing = RepresentingSink { quotient: self, finder, buffer, before: state, first, sink };
        self.inner.expand(inner, state, &mut representing);
        representing.represent();
    }

    fn name(&self) -> &'static str {
        "quotient"
    }

    fn is_safe(&self, tag: u64, state: &[u64]) -> bool {
        self.inner.is_safe(tag, state)
    }

    fn field_test(&self, property: PropertyId) -> Option<FieldTest> {
        self.inner.field_test(property)
    }

    fn represent(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        if self.guard.passes(None, state) {
            self.canonicalize(&mut scratch.finder, state);
        }
    }

    fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        self.exact.canonicalize(&mut scratch.finder.exact, state);
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

/// Replaces successors by representatives before another sink sees them.
struct RepresentingSink<'a, 'q, S, K> {
    quotient: &'a QuotientSystem<'q, S>,
    finder: &'a mut Finder,
    buffer: &'a mut Vec<u64>,
    /// The state that is expanded.
    before: &'a [u64],
    /// The first successor that may not be a representative.
    first: usize,
    sink: &'a mut K,
}

impl<S: TransitionSystem, K: Sink> RepresentingSink<'_, '_, S, K> {
    fn represent(&mut self) {
        let successors = self.sink.successors();
        for position in self.first..successors.len() {
            let (state, tag) = successors.get_mut(position);
            // What the canonicalizer does to values it does not know is of no interest.
            if self.quotient.guard.passes(Some(self.before), state) {
                self.quotient.canonicalize(self.finder, state);
            }
            // What the step touched may now be elsewhere. That nothing was touched stays true,
            // since the group preserves what is checked.
            *tag = (*tag).min(Tag::EVERYTHING);
        }
        self.first = successors.len();
    }
}

impl<S: TransitionSystem, K: Sink> Sink for RepresentingSink<'_, '_, S, K> {
    fn successors(&mut self) -> &mut Successors {
        self.sink.successors()
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        // The other sink may look at all successors now.
        self.represent();
        let Self { quotient, finder, buffer, before, sink, .. } = self;
        let mut visit = |instance: Instance<'_>, event: Event<'_>| sink.event(instance, event);
        let flow = quotient.pass_on((finder, buffer), Some(before), instance, event, &mut visit);
        self.first = self.sink.successors().len();
        flow
    }
}
