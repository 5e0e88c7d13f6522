//! The quotient of a transition system by a group of its symmetries: the same steps, but one state for each orbit.
//!
//! Either every state is replaced by the canonical representative of its orbit, or states are stored as they were
//! reached, and the first one found with a marker represents the others ([`quotient_symmetry::Marking`]). If states of
//! different orbits may share a marker, this is an approximation, unless a canonicalizer decides between states with
//! equal markers: then canonicalization is needed only if a marker is already known.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quotient_groups::SparsePermutation;
use quotient_ir::{Layout, SlotId};
use quotient_representatives::{Canonicalizer, Workspace};
use quotient_symmetry::MarkerScratch;

use crate::guard::Guard;
use crate::reduction::{Markers, Reduction};
use crate::starts::{StartSieve, StartsUpTo};
use quotient_search::words::Hash;
use quotient_search::{
    Batches, Clock, Event, Identity, Instance, Parts, Representatives, SearchSpace, Selection, Share, Sink, Steps,
    Successors, Tag, TransitionSystem, Visit, Wrapper, forward,
};

/// The number of times that finding representatives is timed at first.
const FIRST_SAMPLES: u32 = 64;
/// The number of typical times that one is at most taken for.
const MOST_TYPICAL: u32 = 4;
/// One of how many times is timed later: reading the clock costs as much as several representatives.
const SAMPLING_INTERVAL: u32 = 128;

/// The number of consecutive starts that may be skipped before the search is notified.
const IDLE_INTERVAL: u32 = 4096;

/// The number of cached markers and canonical states, if states are compared by these.
const REMEMBERED: usize = 1 << 12;

/// A transition system in which one state represents each orbit.
#[derive(Debug)]
pub struct QuotientSystem<'a, S> {
    inner: &'a S,
    reduction: &'a Reduction,
    guard: Guard,
    /// Whether the guard has anything to check.
    is_guarded: bool,
    clock: Option<Clock>,
    /// The cost of reading the clock.
    reading: Duration,
    /// The time spent on canonicalization, as sampled.
    nanoseconds: AtomicU64,
}

/// The working memory of one run of a quotient.
#[derive(Debug)]
pub struct QuotientScratch<T> {
    inner: T,
    finder: Finder,
    state: Vec<u64>,
}

/// The data for finding representatives.
#[derive(Debug, Default)]
struct Finder {
    workspace: Workspace,
    /// The workspace of the exact canonicalizer.
    exact: Workspace,
    marker: MarkerScratch,
    markers: Remembered,
    canonical: Remembered,
    form: Vec<u64>,
    timed: u32,
    /// A typical time, as of late.
    typical: Duration,
    /// The number of representatives before the next one is timed.
    wait: u32,
}

/// A cache of recent results, by the hash of the state. Evicted results are recomputed, so it never changes a result.
#[derive(Debug, Default)]
struct Remembered(Vec<(Vec<u64>, Vec<u64>)>);

impl Remembered {
    /// The result for a state.
    fn of(&mut self, state: &[u64], compute: impl FnOnce(&mut Vec<u64>)) -> &[u64] {
        if self.0.is_empty() {
            self.0.resize(REMEMBERED, (Vec::new(), Vec::new()));
        }
        let (known, form) = &mut self.0[Hash::of(state).low(REMEMBERED - 1)];
        if known != state {
            known.clear();
            known.extend_from_slice(state);
            compute(form);
        }
        form
    }
}

impl<'a, S: TransitionSystem> QuotientSystem<'a, S> {
    /// The quotient of a system by a reduction of its model that preserves everything checked in the quotient.
    pub fn new(inner: &'a S, layout: &Layout, reduction: &'a Reduction, clock: Option<Clock>) -> Self {
        let reading = clock.map_or(Duration::ZERO, |clock| {
            let mut readings: Vec<Duration> = (0..9).map(|_| clock().abs_diff(clock())).collect();
            readings.sort_unstable();
            readings[readings.len() / 2]
        });
        let guard = Guard::new(layout, reduction.group.literals());
        Self { inner, reduction, is_guarded: !guard.is_empty(), guard, clock, reading, nanoseconds: AtomicU64::new(0) }
    }

    /// The slot that held a value detection considered impossible. Then no result of the quotient can be trusted.
    pub fn impossible_slot(&self) -> Option<SlotId> {
        self.guard.caught()
    }

    /// The time spent on canonicalization so far, estimated from samples; none without a clock, or if states are not
    /// replaced by representatives.
    pub fn canonicalization_time(&self) -> Option<Duration> {
        self.clock
            .filter(|_| self.reduction.markers.is_none())
            .map(|_| Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)))
    }

    /// The marker of a state, if there are markers.
    pub fn marker<'f>(&self, scratch: &'f mut QuotientScratch<S::Scratch>, state: &[u64]) -> &'f [u64] {
        let markers = self.reduction.markers.as_ref().expect("asked where states are compared by markers");
        scratch.finder.marker_of(markers, state)
    }

    /// Replaces a state by its representative.
    #[inline]
    fn canonicalize(&self, finder: &mut Finder, state: &mut [u64]) {
        if self.reduction.markers.is_some() {
            return;
        }
        self.timed(finder, |workspace| self.reduction.canonicalizer.canonicalize(workspace, state));
    }

    /// The same for a state that differs little from `before`, or else from other states of late.
    #[inline]
    fn canonicalize_near(&self, finder: &mut Finder, before: Option<&[u64]>, state: &mut [u64]) {
        if self.reduction.markers.is_some() {
            return;
        }
        let canonicalizer = &self.reduction.canonicalizer;
        self.timed(finder, |workspace| canonicalizer.canonicalize_near(workspace, before, state));
    }

    /// Replaces the successors of a state by their representatives. Each is a record: its words and a tag.
    #[inline]
    fn canonicalize_records(&self, finder: &mut Finder, before: &[u64], records: &mut [u64]) {
        let stride = before.len() + 1;
        let is_passed = !self.is_guarded || self.passes_records(before, records);
        // The image of an impossible value under canonicalization is of no interest, and no other result will be.
        if self.reduction.markers.is_some() || !is_passed {
            return;
        }
        let canonicalizer = &self.reduction.canonicalizer;
        self.timed(finder, |workspace| canonicalizer.canonicalize_records(workspace, Some(before), records, stride));
        // Canonicalization may move what the step touched. That nothing was touched remains true, since the group
        // preserves what is checked.
        for record in records.chunks_exact_mut(stride) {
            record[stride - 1] = record[stride - 1].min(Tag::EVERYTHING);
        }
    }

    /// Whether all successors of a state hold only possible values.
    #[inline]
    fn passes_records(&self, before: &[u64], records: &[u64]) -> bool {
        let mut records = records.chunks_exact(before.len() + 1);
        records.all(|record| self.guard.passes(Some(before), &record[..before.len()]))
    }

    /// Runs something that finds representatives, and measures the time every now and then.
    #[inline]
    fn timed(&self, finder: &mut Finder, run: impl FnOnce(&mut Workspace)) {
        match self.clock {
            Some(clock) if finder.wait == 0 => {
                let before = clock();
                run(&mut finder.workspace);
                let spent = clock().saturating_sub(before).saturating_sub(self.reading);
                self.note_time(finder, spent);
            }
            _ => {
                finder.wait = finder.wait.wrapping_sub(1);
                run(&mut finder.workspace);
            }
        }
    }

    #[cold]
    fn note_time(&self, finder: &mut Finder, mut spent: Duration) {
        // A sample during which something else ran says nothing.
        finder.typical = match finder.timed {
            0 => spent,
            _ => (7 * finder.typical + spent.min(MOST_TYPICAL * finder.typical)) / 8,
        };
        spent = spent.min(MOST_TYPICAL * finder.typical);
        if finder.timed < FIRST_SAMPLES {
            finder.timed += 1;
        } else {
            spent *= SAMPLING_INTERVAL;
            finder.wait = SAMPLING_INTERVAL - 1;
        }
        self.nanoseconds.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Forwards an event with the representative of its state. `before` is the state it came from.
    #[inline]
    fn pass_on(
        &self,
        (finder, buffer): (&mut Finder, &mut Vec<u64>),
        before: Option<&[u64]>,
        instance: Instance<'_>,
        event: Event<'_>,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        match event {
            Event::Next { state, covered } => {
                // The image of an impossible value under canonicalization is of no interest.
                if !self.guard.passes(before, state) {
                    return visit(instance, Event::Pruned);
                }
                buffer.clear();
                buffer.extend_from_slice(state);
                match before {
                    Some(_) => self.canonicalize_near(finder, before, buffer),
                    None => self.canonicalize(finder, buffer),
                }
                visit(instance, Event::Next { state: buffer, covered })
            }
            other => visit(instance, other),
        }
    }
}

impl<S: SearchSpace + StartsUpTo> TransitionSystem for QuotientSystem<'_, S> {
    type Scratch = QuotientScratch<S::Scratch>;

    forward!(words, evaluate);

    fn scratch(&self) -> Self::Scratch {
        QuotientScratch { inner: self.inner.scratch(), finder: Finder::default(), state: Vec::new() }
    }

    fn starts(&self, scratch: &mut Self::Scratch, visit: &mut Visit<'_>) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        let canonicalizer = &self.reduction.canonicalizer;
        // Symmetries map starts to starts, so the representative of a start's orbit is also a start state, and it is
        // enough to continue from those that are representatives themselves. If an orbit may have several
        // representatives, the representative of a start need not be a start state. A sieve leaves one start of each
        // orbit, or a few, which need not be representatives.
        let only_representatives = canonicalizer.is_exact() && self.reduction.markers.is_none();
        let mut passed_over = 0u32;
        let none = StartSieve::default();
        let sieve = if only_representatives { &self.reduction.starts } else { &none };
        self.inner.starts_up_to(inner, sieve, &mut |instance, event| {
            if only_representatives
                && !sieve.sieves(instance.action)
                && let Event::Next { state, covered: [] } = event
                && self.guard.passes(None, state)
                && !canonicalizer.is_representative(&mut finder.workspace, state)
            {
                passed_over = passed_over.wrapping_add(1);
                let event = if passed_over.is_multiple_of(IDLE_INTERVAL) { Event::Idle } else { Event::Pruned };
                return visit(instance, event);
            }
            self.pass_on((finder, buffer), None, instance, event, visit)
        });
    }

    fn successors(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        self.inner.successors(inner, state, &mut |instance, event| {
            self.pass_on((finder, buffer), Some(state), instance, event, visit)
        });
    }
}

impl<S: SearchSpace + StartsUpTo> Wrapper for QuotientSystem<'_, S> {
    type Inner = S;

    #[inline]
    fn inner(&self) -> &Self::Inner {
        self.inner
    }

    #[inline]
    fn inner_scratch(scratch: &mut Self::Scratch) -> &mut <Self::Inner as TransitionSystem>::Scratch {
        &mut scratch.inner
    }
}

impl<S: SearchSpace + StartsUpTo> Batches for QuotientSystem<'_, S> {
    forward!(facts);

    fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        let first = sink.successors().len();
        let mut representing = RepresentingSink { quotient: self, finder, buffer, before: state, first, sink };
        self.inner.expand(inner, state, &mut representing);
        representing.represent();
    }

    fn expand_some(&self, scratch: &mut Self::Scratch, state: &[u64], selection: Selection<'_>, sink: &mut dyn Sink) {
        let QuotientScratch { inner, finder, state: buffer } = scratch;
        let first = sink.successors().len();
        let mut representing = RepresentingSink { quotient: self, finder, buffer, before: state, first, sink };
        self.inner.expand_some(inner, state, selection, &mut representing);
        representing.represent();
    }
}

/// All instances are needed.
impl<S: SearchSpace + StartsUpTo> Parts for QuotientSystem<'_, S> {
    fn reduces(&self) -> bool {
        false
    }

    #[inline]
    fn expand_part(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink) -> Share {
        self.expand(scratch, state, sink);
        Share::Enough
    }

    fn expand_rest(&self, _scratch: &mut Self::Scratch, _state: &[u64], _sink: &mut dyn Sink) {}

    fn passed_between(&self, _scratch: &mut Self::Scratch, _from: &[u64], _to: &[u64]) -> Vec<Vec<u64>> {
        Vec::new()
    }
}

impl<S: SearchSpace + StartsUpTo> Steps for QuotientSystem<'_, S> {
    forward!(first_steps, steps, is_passed_through);
}

impl<S: SearchSpace + StartsUpTo> Representatives for QuotientSystem<'_, S> {
    forward!(concrete_successors);

    fn name(&self) -> &'static str {
        self.reduction.strategy().name()
    }

    fn represent(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        if self.guard.passes(None, state) {
            self.canonicalize_near(&mut scratch.finder, None, state);
        }
    }

    fn represent_with_witness(&self, scratch: &mut Self::Scratch, state: &mut [u64]) -> SparsePermutation {
        if self.reduction.markers.is_some() || !self.guard.passes(None, state) {
            return SparsePermutation::identity();
        }
        self.reduction.canonicalizer.canonicalize_with_witness(&mut scratch.finder.workspace, state)
    }

    fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        // With markers, states are stored as they were reached.
        if self.reduction.markers.is_none() {
            self.reduction.exact().canonicalize(&mut scratch.finder.exact, state);
        }
    }

    fn identity(&self) -> Identity {
        self.reduction.identity()
    }

    fn key(&self, scratch: &mut Self::Scratch, state: &[u64]) -> u64 {
        Hash::of(self.marker(scratch, state)).value()
    }

    fn is_same(&self, scratch: &mut Self::Scratch, stored: &[u64], state: &[u64]) -> bool {
        let markers = self.reduction.markers.as_ref().expect("asked where states are compared by markers");
        let finder = &mut scratch.finder;
        if stored == state {
            return true;
        }
        let mut form = std::mem::take(&mut finder.form);
        form.clear();
        let is_same = if markers.decides {
            form.extend_from_slice(finder.canonical_of(&self.reduction.canonicalizer, state));
            form == finder.canonical_of(&self.reduction.canonicalizer, stored)
        } else {
            form.extend_from_slice(finder.marker_of(markers, state));
            form == finder.marker_of(markers, stored)
        };
        finder.form = form;
        is_same
    }
}

impl Finder {
    #[inline]
    fn marker_of(&mut self, markers: &Markers, state: &[u64]) -> &[u64] {
        let Self { marker: scratch, markers: remembered, .. } = self;
        remembered.of(state, |marker| markers.marking.marker(scratch, state, marker))
    }

    #[inline]
    fn canonical_of(&mut self, canonicalizer: &Canonicalizer, state: &[u64]) -> &[u64] {
        let Self { workspace, canonical, .. } = self;
        canonical.of(state, |form| {
            form.clear();
            form.extend_from_slice(state);
            canonicalizer.canonicalize(workspace, form);
        })
    }
}

/// Replaces successors by representatives before another sink sees them.
struct RepresentingSink<'a, 'q, S> {
    quotient: &'a QuotientSystem<'q, S>,
    finder: &'a mut Finder,
    buffer: &'a mut Vec<u64>,
    /// The state being expanded.
    before: &'a [u64],
    /// The first successor that may not be a representative.
    first: usize,
    sink: &'a mut dyn Sink,
}

impl<S: SearchSpace> RepresentingSink<'_, '_, S> {
    fn represent(&mut self) {
        let successors = self.sink.successors();
        if self.first < successors.len() {
            self.quotient.canonicalize_records(self.finder, self.before, successors.records_from(self.first));
        }
        self.first = successors.len();
    }
}

impl<S: SearchSpace> Sink for RepresentingSink<'_, '_, S> {
    fn successors(&mut self) -> &mut Successors {
        self.sink.successors()
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        // The other sink may read all successors now.
        self.represent();
        let Self { quotient, finder, buffer, before, sink, .. } = self;
        let mut visit = |instance: Instance<'_>, event: Event<'_>| sink.event(instance, event);
        let flow = quotient.pass_on((finder, buffer), Some(before), instance, event, &mut visit);
        self.first = self.sink.successors().len();
        flow
    }
}
