//! A search space in which a part of the steps of a state is taken where that suffices, and states with a local step are
//! passed through.

use std::fmt::Debug;
use std::ops::ControlFlow;

use quotient_ir::Layout;

use crate::forward;
use crate::forwarding::Wrapper;
use crate::partial_order::local::{self, Follower, FollowerScratch};
use crate::partial_order::relations::Relations;
use crate::partial_order::stubborn::{ChoiceScratch, Chooser};
use crate::seam::{
    Batches, Event, Parts, Representatives, SearchSpace, Selection, Share, Sink, Steps, TransitionSystem,
};

/// How many of the steps of a state are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of them.
    All,
    /// Those of a stubborn set.
    Part,
    /// Those of a stubborn set, which has all visible steps in it.
    Seeing,
    /// Those of a stubborn set to which all visible steps were added.
    Completed,
}

/// What was decided for each state before the search: how many of its steps are taken.
pub trait Decided: Debug + Sync {
    /// How many of the steps of a state are taken.
    fn extent(&self, state: &[u64]) -> Extent;
}

/// Another search space, reduced by partial order.
#[derive(Debug)]
pub struct PartialOrderSystem<'a, S> {
    inner: &'a S,
    relations: &'a Relations,
    chooser: Chooser<'a>,
    /// What was decided before, if it was.
    decisions: Option<&'a dyn Decided>,
}

/// The working memory of one run.
#[derive(Debug)]
pub struct PartialOrderScratch<T> {
    inner: T,
    choice: ChoiceScratch,
    following: FollowerScratch<T>,
}

impl<'a, S: SearchSpace> PartialOrderSystem<'a, S> {
    /// The reduction of a system whose states have a layout.
    pub fn new(inner: &'a S, relations: &'a Relations, layout: &Layout) -> Self {
        Self { inner, relations, chooser: Chooser::new(relations, layout), decisions: None }
    }

    /// The same, with what was decided for each state.
    pub fn with(self, decisions: &'a dyn Decided) -> Self {
        Self { decisions: Some(decisions), ..self }
    }

    /// Expands a part of the instances of a state, or all. Returns whether it was a part.
    pub fn expand_chosen(
        &self,
        scratch: &mut PartialOrderScratch<S::Scratch>,
        state: &[u64],
        sink: &mut dyn Sink,
    ) -> bool {
        let PartialOrderScratch { inner, choice, following } = scratch;
        let mut follower = Follower::new(self.inner, &self.chooser, following, state, sink);
        let is_part = self.chooser.choose(state, choice);
        if is_part {
            self.inner.expand_some(inner, state, self.chooser.selection(choice), &mut follower);
        } else {
            self.inner.expand(inner, state, &mut follower);
        }
        follower.follow_all();
        is_part
    }

    /// The number of instances that [`Self::expand_added`] expands.
    pub fn added(&self, scratch: &mut PartialOrderScratch<S::Scratch>, state: &[u64]) -> usize {
        let choice = &mut scratch.choice;
        if self.chooser.choose(state, choice) {
            self.chooser.complete(choice);
        }
        choice.chosen.len()
    }

    /// Expands the instances that are added to the part of a state so that everything that must not be put off is in it.
    pub fn expand_added(&self, scratch: &mut PartialOrderScratch<S::Scratch>, state: &[u64], sink: &mut dyn Sink) {
        self.added(scratch, state);
        let selection = Selection { instances: &self.relations.instances, chosen: &scratch.choice.chosen };
        self.inner.expand_some(&mut scratch.inner, state, selection, sink);
    }
}

impl<S: SearchSpace> TransitionSystem for PartialOrderSystem<'_, S> {
    type Scratch = PartialOrderScratch<S::Scratch>;

    forward!(words, starts, successors, evaluate);

    fn scratch(&self) -> Self::Scratch {
        let following = FollowerScratch::new(self.inner);
        PartialOrderScratch { inner: self.inner.scratch(), choice: ChoiceScratch::default(), following }
    }
}

impl<S: SearchSpace> Wrapper for PartialOrderSystem<'_, S> {
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

impl<S: SearchSpace> Batches for PartialOrderSystem<'_, S> {
    forward!(facts, expand, expand_some);
}

impl<S: SearchSpace> Parts for PartialOrderSystem<'_, S> {
    fn reduces(&self) -> bool {
        true
    }

    fn expand_part(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink) -> Share {
        match self.decisions.map(|decisions| decisions.extent(state)) {
            None => match self.expand_chosen(scratch, state, sink) && !self.relations.targets.is_empty() {
                true => return Share::Part,
                false => return Share::Enough,
            },
            Some(Extent::All) => self.inner.expand(&mut scratch.inner, state, sink),
            Some(Extent::Part | Extent::Seeing) => {
                self.expand_chosen(scratch, state, sink);
            }
            Some(Extent::Completed) => {
                self.expand_chosen(scratch, state, sink);
                self.expand_rest(scratch, state, sink);
            }
        }
        Share::Enough
    }

    fn expand_rest(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink) {
        let PartialOrderScratch { inner, choice, following } = scratch;
        let mut follower = Follower::new(self.inner, &self.chooser, following, state, sink);
        self.chooser.complete(choice);
        self.inner.expand_some(inner, state, self.chooser.selection(choice), &mut follower);
        follower.follow_all();
    }

    fn passed_between(&self, scratch: &mut Self::Scratch, from: &[u64], to: &[u64]) -> Vec<Vec<u64>> {
        let mut successors: Vec<Vec<u64>> = Vec::new();
        self.inner.successors(&mut scratch.inner, from, &mut |_, event| {
            if let Event::Next { state, .. } = event {
                successors.push(state.to_vec());
            }
            ControlFlow::Continue(())
        });
        let ways = successors.into_iter().filter_map(|first| {
            let way = local::way(self.inner, &self.chooser, &mut scratch.following, from, &first);
            way.split_last().filter(|(last, _)| *last == to).map(|(_, passed)| passed.to_vec())
        });
        ways.min_by_key(Vec::len).unwrap_or_default()
    }
}

impl<S: SearchSpace> Steps for PartialOrderSystem<'_, S> {
    forward!(first_steps, steps, is_passed_through);
}

impl<S: SearchSpace> Representatives for PartialOrderSystem<'_, S> {
    forward!(name, represent, represent_with_witness, identify, concrete_successors, identity, key, is_same);
}
