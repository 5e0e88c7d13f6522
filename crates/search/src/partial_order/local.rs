//! States in which a local step can be taken are passed through: a step that accords with everything can be taken at once,
//! wherever it is possible, and the state before it need not be stored.
//!
//! A state is followed along local steps, always the same one of each state, until no local step can be taken, and cut
//! where that would not end. Why that preserves what partial order preserves: ADR 31.

use std::ops::ControlFlow;

use crate::partial_order::stubborn::{ChoiceScratch, Chooser};
use crate::seam::{Event, Instance, SearchSpace, Sink, Successors, Tag};
use crate::words::copy;

/// The largest number of states that are passed through in a row. The states before the end of a way are passed through
/// again from everywhere else that leads to them.
const LONGEST: u64 = 256;

/// The working memory for following states.
#[derive(Debug)]
pub(super) struct FollowerScratch<T> {
    inner: T,
    choice: ChoiceScratch,
    /// What the local step of a state leads to.
    next: Successors,
    /// The present state, and an earlier one with which it is compared.
    state: Vec<u64>,
    earlier: Vec<u64>,
}

impl<T> FollowerScratch<T> {
    pub(super) fn new<S: SearchSpace<Scratch = T>>(system: &S) -> Self {
        let words = system.words();
        Self {
            inner: system.scratch(),
            choice: ChoiceScratch::default(),
            next: Successors::new(words),
            state: vec![0; words],
            earlier: vec![0; words],
        }
    }
}

/// Where a way along local steps leads.
struct Way {
    /// The combined tag of its steps.
    tag: u64,
    /// The number of its steps.
    steps: u64,
}

/// Follows the state in the scratch, a successor of another one, as far as local steps lead. Calls back with each state
/// that is passed through.
fn follow<S: SearchSpace>(
    system: &S,
    chooser: &Chooser<'_>,
    scratch: &mut FollowerScratch<S::Scratch>,
    origin: &[u64],
    mut passed: impl FnMut(&[u64]),
) -> Way {
    let FollowerScratch { inner, choice, next, state, earlier } = scratch;
    let mut way = Way { tag: Tag::NOTHING, steps: 0 };
    let mut links = 0u64;
    while links < LONGEST && state != origin && chooser.choose_local(state, choice) {
        next.clear();
        let mut only = Only { next, is_plain: true };
        system.expand_some(inner, state, chooser.selection(choice), &mut only);
        if !only.is_plain || next.len() != 1 {
            // What is found on the way, or a choice, belongs to a stored state.
            break;
        }
        // A loop is noticed at the latest after three times its length (Brent).
        if links.is_power_of_two() {
            copy(earlier, state);
        }
        passed(state);
        let (after, tag) = next.get(0);
        copy(state, after);
        way.tag = Tag::join(way.tag, tag);
        way.steps += 1 + next.passed();
        links += 1;
        if links > 1 && state == earlier {
            break;
        }
    }
    way
}

/// The states on the way from a successor of a state, the last one included.
pub(super) fn way<S: SearchSpace>(
    system: &S,
    chooser: &Chooser<'_>,
    scratch: &mut FollowerScratch<S::Scratch>,
    origin: &[u64],
    first: &[u64],
) -> Vec<Vec<u64>> {
    copy(&mut scratch.state, first);
    let mut states = Vec::new();
    follow(system, chooser, scratch, origin, |state| states.push(state.to_vec()));
    states.push(scratch.state.clone());
    states
}

/// A sink that replaces the successors of a state by those to which local steps lead from them.
pub(super) struct Follower<'x, 'a, S: SearchSpace> {
    system: &'x S,
    chooser: &'x Chooser<'a>,
    scratch: &'x mut FollowerScratch<S::Scratch>,
    origin: &'x [u64],
    sink: &'x mut dyn Sink,
    /// The first successor of the buffer that was not followed.
    first: usize,
}

impl<'x, 'a, S: SearchSpace> Follower<'x, 'a, S> {
    pub(super) fn new(
        system: &'x S,
        chooser: &'x Chooser<'a>,
        scratch: &'x mut FollowerScratch<S::Scratch>,
        origin: &'x [u64],
        sink: &'x mut dyn Sink,
    ) -> Self {
        let first = sink.successors().len();
        Self { system, chooser, scratch, origin, sink, first }
    }

    /// Follows the state in the scratch.
    fn follow(&mut self) -> Way {
        follow(self.system, self.chooser, self.scratch, self.origin, |_| {})
    }

    /// Follows the successors in the buffer.
    pub(super) fn follow_all(&mut self) {
        for position in self.first..self.sink.successors().len() {
            copy(&mut self.scratch.state, self.sink.successors().get(position).0);
            let way = self.follow();
            if way.steps > 0 {
                let successors = self.sink.successors();
                let (state, tag) = successors.get_mut(position);
                copy(state, &self.scratch.state);
                *tag = Tag::join(*tag, way.tag);
                successors.pass(way.steps);
            }
        }
        self.first = self.sink.successors().len();
    }
}

impl<S: SearchSpace> Sink for Follower<'_, '_, S> {
    #[inline]
    fn successors(&mut self) -> &mut Successors {
        self.sink.successors()
    }

    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        // The other sink may read all successors.
        self.follow_all();
        let flow = match event {
            Event::Next { state, covered } => {
                copy(&mut self.scratch.state, state);
                let way = self.follow();
                self.sink.successors().pass(way.steps);
                self.sink.event(instance, Event::Next { state: &self.scratch.state, covered })
            }
            other => self.sink.event(instance, other),
        };
        self.first = self.sink.successors().len();
        flow
    }
}

/// Receives a single successor, and notes whether there is something else.
struct Only<'x> {
    next: &'x mut Successors,
    is_plain: bool,
}

impl Sink for Only<'_> {
    fn successors(&mut self) -> &mut Successors {
        self.next
    }

    fn event(&mut self, _instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Next { state, covered: [] } => self.next.push(state, Tag::EVERYTHING),
            Event::Passed { steps, covered: [] } => self.next.pass(steps),
            Event::Idle => {}
            _ => {
                self.is_plain = false;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
