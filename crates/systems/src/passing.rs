//! Transient states: a model specifies by a condition the states in which no other process could act or observe
//! anything (such as those inside an atomic sequence); searches neither store nor count them.
//!
//! This is a layer between the system that runs a model and the one that reduces it. A transient successor is expanded
//! at once, and so on until non-transient states are reached. Everything between two stored states is a stretch. A
//! stretch has its own set of states, so that loops in it end and states with several paths to them are expanded once.
//! A violation in a state of a stretch is reported with the state: a run-time error, an assumption whose evaluation
//! fails, or a state without a step, which is a deadlock as elsewhere. Assumptions drop states of stretches as they
//! drop others; no claim applies to them.

use std::ops::ControlFlow;

use quotient_groups::SparsePermutation;
use quotient_ir::{DeadlockMode, Fault, FaultKind, Interpreter, PropertyId, PropertyKind, SlotId, Span, Violation};

use crate::guard::Guard;
use crate::starts::{StartSieve, StartsUpTo};
use quotient_search::words::{Hash, append, copy};
use quotient_search::{
    Batches, Event, FieldTest, Identity, Instance, Parts, Representatives, SearchOptions, Selection, Share, Sink,
    Steps, Successors, Tag, TransitionSystem, Visit, Wrapper, forward, is_passing,
};

/// The number of states of a stretch before the search is notified.
const IDLE_INTERVAL: usize = 1024;
/// The largest number of states of a stretch, and of bytes for them. Beyond it, the search ends as inconclusive.
const STATE_LIMIT: usize = 1 << 22;
const BYTE_LIMIT: u64 = 1 << 28;
/// The largest number of states of a stretch that are compared one by one.
const FEW: usize = 12;

/// A transition system in which some states of another one are transient.
#[derive(Debug)]
pub struct PassingSystem<'a, S> {
    inner: &'a S,
    condition: Condition,
    assumptions: Vec<PropertyId>,
    deadlock: DeadlockMode,
    /// Checks states that are not stored, if reductions rely on the possible values of slots.
    guard: Option<Guard>,
    /// The largest number of states of a stretch.
    limit: usize,
}

/// Which states are transient.
#[derive(Debug)]
enum Condition {
    Never,
    /// None, although the model specifies some.
    Ignored,
    /// The usual case, which needs no evaluator.
    Field(FieldTest),
    Any(Vec<PropertyId>),
}

/// The working memory of one run.
#[derive(Debug)]
pub struct PassingScratch<T> {
    inner: T,
    /// Working memory for evaluating conditions while steps are fired.
    looking: T,
    stretch: Stretch,
    /// The state of the stretch being expanded.
    current: Vec<u64>,
}

impl<'a, S: Batches> PassingSystem<'a, S> {
    /// Treats the states specified by the model as transient.
    pub fn new(inner: &'a S, interpreter: &Interpreter<'_>, options: &SearchOptions) -> Self {
        let model = interpreter.model();
        let passing: Vec<PropertyId> = model.passing().collect();
        let condition = match passing[..] {
            [] => Condition::Never,
            _ if options.store_passing => Condition::Ignored,
            [property] => match inner.facts().field_test(property) {
                Some(FieldTest::Constant(false)) => Condition::Never,
                Some(test) => Condition::Field(test),
                None => Condition::Any(passing),
            },
            _ => Condition::Any(passing),
        };
        let properties = model.properties.iter_enumerated();
        let assumptions = properties.filter(|(_, property)| property.kind == PropertyKind::Assumption);
        // A state, its tag and its table entry.
        let bytes = 8 * inner.words() as u64 + 24;
        let room = options.max_memory.map_or(BYTE_LIMIT, |limit| limit.min(BYTE_LIMIT));
        Self {
            inner,
            condition,
            assumptions: assumptions.map(|(id, _)| id).collect(),
            deadlock: options.deadlock,
            guard: None,
            limit: STATE_LIMIT.min((room / bytes) as usize),
        }
    }

    /// The same, with a guard for the values of transient states.
    pub fn watched(self, guard: Guard) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// The slot that held an impossible value in a state that is not stored.
    pub fn impossible_slot(&self) -> Option<SlotId> {
        self.guard.as_ref().and_then(Guard::caught)
    }

    /// Whether no state is transient.
    #[inline]
    fn is_plain(&self) -> bool {
        matches!(self.condition, Condition::Never | Condition::Ignored)
    }

    #[inline]
    fn passes(&self, scratch: &mut S::Scratch, state: &[u64]) -> bool {
        match &self.condition {
            Condition::Never | Condition::Ignored => false,
            Condition::Field(test) => test.holds(state),
            Condition::Any(properties) => is_passing(self.inner, scratch, properties, state),
        }
    }

    /// Whether a transient state holds only possible values, checking only where it differs from the beginning of the
    /// stretch. If not, the search will be notified.
    #[inline]
    fn is_possible(&self, origin: &[u64], state: &[u64]) -> bool {
        let known = Some(origin).filter(|origin| !origin.is_empty());
        self.guard.as_ref().is_none_or(|guard| guard.passes(known, state))
    }

    /// Whether all assumptions hold in a state.
    ///
    /// # Errors
    /// If the evaluation of one fails.
    fn is_assumed(&self, scratch: &mut S::Scratch, state: &[u64]) -> Result<bool, Violation> {
        let mut failure = Ok(true);
        for &property in &self.assumptions {
            self.inner.evaluate(scratch, property, state, &mut |arguments, result| {
                failure = match result {
                    Ok(true) => return ControlFlow::Continue(()),
                    Ok(false) => Ok(false),
                    Err(fault) => Err(Violation::PropertyFault { property, arguments: arguments.to_vec(), fault }),
                };
                ControlFlow::Break(())
            });
            if failure != Ok(true) {
                break;
            }
        }
        failure
    }

    /// Fires everything (or a selection) in a state, and everything in all transient states reached from it. `BUFFERED`
    /// says that successors may go to the buffer of the sink.
    #[inline]
    fn go_through<const BUFFERED: bool>(
        &self,
        scratch: &mut PassingScratch<S::Scratch>,
        state: &[u64],
        selection: Option<Selection<'_>>,
        sink: &mut dyn Sink,
    ) {
        let PassingScratch { inner, looking, stretch, current } = scratch;
        stretch.clear();
        let mut sieve = Sieve::new(self, looking, stretch, sink, state, BUFFERED);
        if matches!(self.condition, Condition::Ignored) {
            // Claims need not hold in the state itself, so nothing is known about its successors.
            sieve.tag = Tag::EVERYTHING;
        }
        if sieve.fire::<BUFFERED>(inner, state, selection).is_continue() && sieve.stretch.waits() {
            // A break is recorded by the sink.
            let _ = sieve.advance::<BUFFERED>(inner, current);
        }
    }
}

impl<S: Batches> TransitionSystem for PassingSystem<'_, S> {
    type Scratch = PassingScratch<S::Scratch>;

    forward!(words, evaluate);

    fn scratch(&self) -> Self::Scratch {
        PassingScratch {
            inner: self.inner.scratch(),
            looking: self.inner.scratch(),
            stretch: Stretch::new(self.inner.words()),
            current: vec![0; self.inner.words()],
        }
    }

    fn starts(&self, scratch: &mut Self::Scratch, visit: &mut Visit<'_>) {
        if self.is_plain() {
            return self.inner.starts(&mut scratch.inner, visit);
        }
        let PassingScratch { inner, looking, stretch, current } = scratch;
        stretch.clear();
        let mut broken = false;
        self.inner.starts(inner, &mut |instance, event| {
            let flow = match event {
                Event::Next { state, covered } if self.passes(looking, state) => {
                    stretch.add(state, Tag::EVERYTHING);
                    match covered {
                        [] => ControlFlow::Continue(()),
                        _ => visit(instance, Event::Passed { steps: 0, covered }),
                    }
                }
                event => visit(instance, event),
            };
            broken = flow.is_break();
            flow
        });
        if !broken && stretch.waits() {
            let mut visitor = Visitor { visit, none: Successors::new(self.words()) };
            let mut sieve = Sieve::new(self, looking, stretch, &mut visitor, &[], false);
            sieve.from_starts = true;
            let _ = sieve.advance::<false>(inner, current);
        }
    }

    fn successors(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>) {
        if self.is_plain() {
            return self.inner.successors(&mut scratch.inner, state, visit);
        }
        let mut visitor = Visitor { visit, none: Successors::new(self.words()) };
        self.go_through::<false>(scratch, state, None, &mut visitor);
    }
}

impl<S: Batches + StartsUpTo> StartsUpTo for PassingSystem<'_, S> {
    fn starts_up_to(&self, scratch: &mut Self::Scratch, sieve: &StartSieve, visit: &mut Visit<'_>) {
        if self.is_plain() {
            return self.inner.starts_up_to(&mut scratch.inner, sieve, visit);
        }
        self.starts(scratch, visit);
    }
}

impl<S: Batches> Wrapper for PassingSystem<'_, S> {
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

impl<S: Batches> Batches for PassingSystem<'_, S> {
    forward!(facts);

    #[inline]
    fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink) {
        match self.condition {
            Condition::Never => self.inner.expand(&mut scratch.inner, state, sink),
            _ => self.go_through::<true>(scratch, state, None, sink),
        }
    }

    fn expand_some(&self, scratch: &mut Self::Scratch, state: &[u64], selection: Selection<'_>, sink: &mut dyn Sink) {
        match self.condition {
            Condition::Never => self.inner.expand_some(&mut scratch.inner, state, selection, sink),
            _ => self.go_through::<true>(scratch, state, Some(selection), sink),
        }
    }
}

/// All instances are needed.
impl<S: Batches> Parts for PassingSystem<'_, S> {
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

impl<S: Batches> Steps for PassingSystem<'_, S> {
    fn first_steps(&self, scratch: &mut Self::Scratch, visit: &mut Visit<'_>) {
        self.inner.starts(&mut scratch.inner, visit);
    }

    fn steps(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>) {
        self.inner.successors(&mut scratch.inner, state, visit);
    }

    fn is_passed_through(&self, scratch: &mut Self::Scratch, state: &[u64]) -> bool {
        !self.is_plain()
            && self.passes(&mut scratch.looking, state)
            && self.is_assumed(&mut scratch.looking, state) == Ok(true)
    }
}

/// Every state represents itself.
impl<S: Batches> Representatives for PassingSystem<'_, S> {
    fn name(&self) -> &'static str {
        "whole"
    }

    fn represent(&self, _scratch: &mut Self::Scratch, _state: &mut [u64]) {}

    fn represent_with_witness(&self, _scratch: &mut Self::Scratch, _state: &mut [u64]) -> SparsePermutation {
        SparsePermutation::identity()
    }

    fn identify(&self, _scratch: &mut Self::Scratch, _state: &mut [u64]) {}

    fn concrete_successors(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>) {
        self.successors(scratch, state, visit);
    }

    fn identity(&self) -> Identity {
        Identity::Words
    }

    fn key(&self, _scratch: &mut Self::Scratch, state: &[u64]) -> u64 {
        Hash::of(state).value()
    }

    fn is_same(&self, _scratch: &mut Self::Scratch, stored: &[u64], state: &[u64]) -> bool {
        stored == state
    }
}

/// The states of a stretch in the order in which they were found, with what is known about the path to them.
#[derive(Debug)]
struct Stretch {
    words: usize,
    /// Records of a state and a tag.
    records: Vec<u64>,
    length: usize,
    /// The first one not yet expanded.
    next: usize,
    /// A table of state numbers plus one, once there are many states.
    table: Vec<u32>,
}

impl Stretch {
    fn new(words: usize) -> Self {
        Self { words, records: Vec::new(), length: 0, next: 0, table: Vec::new() }
    }

    #[inline]
    fn clear(&mut self) {
        if self.length > 0 {
            self.records.clear();
            (self.length, self.next) = (0, 0);
            self.table.clear();
        }
    }

    /// Whether there are states to expand.
    #[inline]
    fn waits(&self) -> bool {
        self.next < self.length
    }

    /// The next state to expand and its tag.
    #[inline]
    fn take(&mut self, state: &mut [u64]) -> Option<u64> {
        if !self.waits() {
            return None;
        }
        let record = &self.records[self.next * (self.words + 1)..][..self.words + 1];
        copy(state, &record[..self.words]);
        self.next += 1;
        Some(record[self.words])
    }

    #[inline]
    fn state(&self, number: usize) -> &[u64] {
        &self.records[number * (self.words + 1)..][..self.words]
    }

    /// Adds a state unless it is already there.
    #[inline]
    fn add(&mut self, state: &[u64], tag: u64) {
        if self.length < FEW {
            if (0..self.length).any(|number| self.state(number) == state) {
                return;
            }
        } else if !self.enter(state) {
            return;
        }
        append(&mut self.records, state);
        self.records.push(tag);
        self.length += 1;
    }

    /// Enters the next state into the table; false if it is already there.
    #[inline]
    fn enter(&mut self, state: &[u64]) -> bool {
        if 2 * (self.length + 1) > self.table.len() {
            self.table.clear();
            self.table.resize((8 * FEW).max(4 * self.length).next_power_of_two(), 0);
            for number in 0..self.length {
                let place = self.place(self.state(number)).unwrap_or_else(|place| place);
                self.table[place] = number as u32 + 1;
            }
        }
        match self.place(state) {
            Ok(_) => false,
            Err(place) => {
                self.table[place] = self.length as u32 + 1;
                true
            }
        }
    }

    /// The position of a state in the table; as an error, where it belongs.
    #[inline]
    fn place(&self, state: &[u64]) -> Result<usize, usize> {
        let mask = self.table.len() - 1;
        let mut place = Hash::of(state).low(mask);
        loop {
            match self.table[place] {
                0 => return Err(place),
                number if self.state(number as usize - 1) == state => return Ok(place),
                _ => place = (place + 1) & mask,
            }
        }
    }
}

/// Filters transient states out before they reach another sink.
struct Sieve<'x, 'a, S: Batches> {
    system: &'x PassingSystem<'a, S>,
    looking: &'x mut S::Scratch,
    stretch: &'x mut Stretch,
    sink: &'x mut dyn Sink,
    /// The state being searched from; empty for starts.
    origin: &'x [u64],
    /// The first successor in the buffer that was not examined.
    first: usize,
    /// What is known about the state being expanded.
    tag: u64,
    /// Whether a step leads from the state being expanded (to another one, if that is required).
    moved: bool,
    /// Whether the other sink broke.
    broken: bool,
    /// Whether steps to transient states are reported one by one.
    tells: bool,
    /// Whether the steps to the first states of the stretch are starts.
    from_starts: bool,
}

impl<'x, 'a, S: Batches> Sieve<'x, 'a, S> {
    #[inline]
    fn new(
        system: &'x PassingSystem<'a, S>,
        looking: &'x mut S::Scratch,
        stretch: &'x mut Stretch,
        sink: &'x mut dyn Sink,
        origin: &'x [u64],
        buffered: bool,
    ) -> Self {
        let first = sink.successors().len();
        Self {
            system,
            looking,
            stretch,
            sink,
            origin,
            first,
            tag: Tag::NOTHING,
            moved: true,
            broken: false,
            tells: !buffered,
            from_starts: false,
        }
    }

    /// Fires everything in a state, or a selection.
    #[inline]
    fn fire<const BUFFERED: bool>(
        &mut self,
        scratch: &mut S::Scratch,
        state: &[u64],
        selection: Option<Selection<'_>>,
    ) -> ControlFlow<()> {
        let inner = self.system.inner;
        if BUFFERED {
            let mut firing = Firing { sieve: self, state };
            match selection {
                None => inner.expand(scratch, state, &mut firing),
                Some(selection) => inner.expand_some(scratch, state, selection, &mut firing),
            }
            self.sift(state);
        } else {
            inner.successors(scratch, state, &mut |instance, event| self.event(state, instance, event));
        }
        if self.broken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Expands the states of the stretch.
    fn advance<const BUFFERED: bool>(&mut self, scratch: &mut S::Scratch, current: &mut [u64]) -> ControlFlow<()> {
        let system = self.system;
        while let Some(tag) = self.stretch.take(current) {
            let state = &*current;
            if self.stretch.next.is_multiple_of(IDLE_INTERVAL) {
                self.tell(Instance::none(), Event::Idle)?;
            }
            if self.stretch.length > system.limit {
                let message = format!("gave up at more than {} states that are passed through in a row", system.limit);
                let fault = Fault { kind: FaultKind::Exhausted, span: Span::default(), message };
                self.tell(Instance::none(), Event::Fault(fault))?;
            }
            match system.is_assumed(self.looking, state) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(violation) => {
                    self.tell(Instance::none(), Event::Wrong { state, violation })?;
                    continue;
                }
            }
            self.tag = tag;
            self.moved = system.deadlock == DeadlockMode::Off;
            self.fire::<BUFFERED>(scratch, state, None)?;
            if !self.moved {
                let violation = Violation::Deadlock(system.deadlock);
                self.tell(Instance::none(), Event::Wrong { state, violation })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Forwards an event to the other sink.
    #[inline]
    fn tell(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        let flow = self.sink.event(instance, event);
        self.first = self.sink.successors().len();
        self.broken |= flow.is_break();
        flow
    }

    #[inline]
    fn note_move(&mut self, from: &[u64], to: &[u64]) {
        self.moved = self.moved || self.system.deadlock == DeadlockMode::Stuck || from != to;
    }

    /// Removes transient states from the buffer of the sink.
    #[inline]
    fn sift(&mut self, from: &[u64]) {
        let Self { system, looking, stretch, sink, origin, first, tag: known, moved, .. } = self;
        let successors = sink.successors();
        let end = successors.len();
        let mut kept = *first;
        for position in *first..end {
            let (state, tag) = successors.get(position);
            if !*moved {
                *moved = system.deadlock == DeadlockMode::Stuck || from != state;
            }
            if system.passes(looking, state) {
                if system.is_possible(origin, state) {
                    stretch.add(state, Tag::join(*known, tag));
                }
                continue;
            }
            if kept < position {
                successors.replace(kept, position);
            }
            if *known != Tag::NOTHING {
                *successors.get_mut(kept).1 = Tag::join(*known, tag);
            }
            kept += 1;
        }
        if kept < end {
            successors.truncate(kept);
            successors.pass((end - kept) as u64);
        }
        *first = kept;
    }

    /// Handles the outcome of an instance fired in a state.
    fn event(&mut self, from: &[u64], instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        // The other sink may read all successors.
        self.sift(from);
        let is_inside = self.from_starts || from != self.origin;
        match event {
            Event::Next { state, covered } => {
                self.note_move(from, state);
                if self.system.passes(self.looking, state) {
                    if self.system.is_possible(self.origin, state) {
                        self.stretch.add(state, Tag::EVERYTHING);
                    }
                    if self.tells || !covered.is_empty() {
                        return self.tell(instance, Event::Passed { steps: 1, covered });
                    }
                    self.sink.successors().pass(1);
                    return ControlFlow::Continue(());
                }
                if self.from_starts {
                    // Only this distinguishes a step from a start.
                    self.tell(instance, Event::Passed { steps: 1, covered: &[] })?;
                }
                self.tell(instance, Event::Next { state, covered })
            }
            Event::Fault(fault) if is_inside => {
                // What can go wrong can be done: that is no deadlock.
                self.moved = true;
                let arguments = instance.arguments.to_vec();
                let violation = Violation::Fault { action: instance.action, arguments, fault };
                self.tell(instance, Event::Wrong { state: from, violation })
            }
            other => self.tell(instance, other),
        }
    }
}

/// A sieve while it receives the successors of a state.
struct Firing<'f, 'x, 'a, S: Batches> {
    sieve: &'f mut Sieve<'x, 'a, S>,
    state: &'f [u64],
}

impl<S: Batches> Sink for Firing<'_, '_, '_, S> {
    #[inline]
    fn successors(&mut self) -> &mut Successors {
        self.sieve.sink.successors()
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        self.sieve.event(self.state, instance, event)
    }
}

/// A sink that passes each event on individually.
struct Visitor<'v> {
    visit: &'v mut Visit<'v>,
    /// Stays empty.
    none: Successors,
}

impl Sink for Visitor<'_> {
    fn successors(&mut self) -> &mut Successors {
        &mut self.none
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        (self.visit)(instance, event)
    }
}
