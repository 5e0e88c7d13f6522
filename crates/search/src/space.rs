//! A search space of any type, behind virtual calls.
//!
//! Searches are generic, but instantiated for this type only: compiled once, not again for every combination of system and
//! reduction. The price is a few virtual calls for each state expanded; successors are bare states in a buffer and cost none ([why](../../../docs/adr/0063-searches-are-compiled-once.md)).

use std::any::Any;

use quotient_groups::SparsePermutation;
use quotient_ir::PropertyId;

use crate::seam::{
    Batches, Facts, Identity, Parts, Representatives, SearchSpace, Selection, Share, Sink, Steps, TransitionSystem,
    Visit, VisitTruth,
};

/// Any search space.
#[derive(Clone, Copy)]
pub struct Space<'a>(&'a dyn Erased);

/// The working memory of the system inside.
#[derive(Debug)]
pub struct SpaceScratch(Box<dyn Any>);

impl<'a> Space<'a> {
    /// Hides the type of a system.
    pub fn new<S: SearchSpace>(system: &'a S) -> Self {
        Self(system)
    }
}

/// Working memory as the type that the system made.
#[inline]
fn own<T: 'static>(scratch: &mut dyn Any) -> &mut T {
    scratch.downcast_mut().expect("working memory is used with the system that made it")
}

/// Writes the methods of the seam three times: as a trait without associated types, for all systems, and for [`Space`].
macro_rules! erase {
    ($(
        $seam:ident {
            $(alone: $alone:ident($($alone_argument:ident: $alone_type:ty),*) $(-> $alone_result:ty)?;)*
            $(within: $within:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*
            $(written: { $($written:tt)* })?
        }
    )+) => {
        /// The seam without associated types.
        trait Erased: Sync {
            fn new_scratch(&self) -> Box<dyn Any>;
            $(
                $(fn $alone(&self, $($alone_argument: $alone_type),*) $(-> $alone_result)?;)*
                $(fn $within(&self, scratch: &mut dyn Any, $($argument: $type),*) $(-> $result)?;)*
            )+
        }

        impl<S: SearchSpace> Erased for S {
            fn new_scratch(&self) -> Box<dyn Any> {
                Box::new(TransitionSystem::scratch(self))
            }
            $(
                $(fn $alone(&self, $($alone_argument: $alone_type),*) $(-> $alone_result)? {
                    $seam::$alone(self, $($alone_argument),*)
                })*
                $(fn $within(&self, scratch: &mut dyn Any, $($argument: $type),*) $(-> $result)? {
                    $seam::$within(self, own(scratch), $($argument),*)
                })*
            )+
        }

        $(
            impl $seam for Space<'_> {
                $($($written)*)?
                $(#[inline]
                fn $alone(&self, $($alone_argument: $alone_type),*) $(-> $alone_result)? {
                    self.0.$alone($($alone_argument),*)
                })*
                $(#[inline]
                fn $within(&self, scratch: &mut SpaceScratch, $($argument: $type),*) $(-> $result)? {
                    self.0.$within(&mut *scratch.0, $($argument),*)
                })*
            }
        )+
    };
}

erase! {
    TransitionSystem {
        alone: words() -> usize;
        within: starts(visit: &mut Visit<'_>);
        within: successors(state: &[u64], visit: &mut Visit<'_>);
        within: evaluate(property: PropertyId, state: &[u64], visit: &mut VisitTruth<'_>);
        written: {
            type Scratch = SpaceScratch;

            fn scratch(&self) -> SpaceScratch {
                SpaceScratch(self.0.new_scratch())
            }
        }
    }
    Batches {
        alone: facts() -> &dyn Facts;
        within: expand(state: &[u64], sink: &mut dyn Sink);
        within: expand_some(state: &[u64], selection: Selection<'_>, sink: &mut dyn Sink);
    }
    Parts {
        alone: reduces() -> bool;
        within: expand_part(state: &[u64], sink: &mut dyn Sink) -> Share;
        within: expand_rest(state: &[u64], sink: &mut dyn Sink);
        within: passed_between(from: &[u64], to: &[u64]) -> Vec<Vec<u64>>;
    }
    Steps {
        within: first_steps(visit: &mut Visit<'_>);
        within: steps(state: &[u64], visit: &mut Visit<'_>);
        within: is_passed_through(state: &[u64]) -> bool;
    }
    Representatives {
        alone: name() -> &'static str;
        alone: identity() -> Identity;
        within: represent(state: &mut [u64]);
        within: represent_with_witness(state: &mut [u64]) -> SparsePermutation;
        within: identify(state: &mut [u64]);
        within: concrete_successors(state: &[u64], visit: &mut Visit<'_>);
        within: key(state: &[u64]) -> u64;
        within: is_same(stored: &[u64], state: &[u64]) -> bool;
    }
}
