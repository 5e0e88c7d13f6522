//! In place of rules compiled to machine code, in a build without the feature `machine-code`: the evaluator runs
//! everything, as on processors for which there is no code generator.

use crate::evaluator::{EvaluatorScratch, SpecialisedSystem};
use crate::starts::{StartSieve, StartsUpTo};
use quotient_search::{Batches, Facts, TransitionSystem, Visit, Wrapper, forward};

/// A model without compiled rules.
#[derive(Debug)]
pub struct CompiledSystem<'m> {
    evaluator: &'m SpecialisedSystem<'m>,
}

impl<'m> CompiledSystem<'m> {
    /// The evaluator, as are all others.
    pub fn new(evaluator: &'m SpecialisedSystem<'m>, _whole: bool) -> Self {
        Self::without_code(evaluator)
    }

    /// The evaluator.
    pub fn quickly(evaluator: &'m SpecialisedSystem<'m>, _whole: bool) -> Self {
        Self::without_code(evaluator)
    }

    /// The evaluator.
    pub fn with_tables(evaluator: &'m SpecialisedSystem<'m>, _whole: bool) -> Self {
        Self::without_code(evaluator)
    }

    /// The evaluator.
    pub fn without_code(evaluator: &'m SpecialisedSystem<'m>) -> Self {
        Self { evaluator }
    }

    /// The number of nodes of tests and commands compiled: none.
    pub(crate) fn size(&self) -> u32 {
        0
    }

    /// The numbers of rule instances that are compiled and that are not. A rule that is not specialised to its
    /// instances counts as one.
    pub fn coverage(&self) -> (usize, usize) {
        (0, self.evaluator.rules().indices().count())
    }
}

impl TransitionSystem for CompiledSystem<'_> {
    type Scratch = EvaluatorScratch;

    forward!(words, starts, successors, evaluate);

    fn scratch(&self) -> EvaluatorScratch {
        self.evaluator.scratch()
    }
}

impl StartsUpTo for CompiledSystem<'_> {
    fn starts_up_to(&self, scratch: &mut EvaluatorScratch, sieve: &StartSieve, visit: &mut Visit<'_>) {
        self.evaluator.starts_up_to(scratch, sieve, visit);
    }
}

impl<'m> Wrapper for CompiledSystem<'m> {
    type Inner = SpecialisedSystem<'m>;

    #[inline]
    fn inner(&self) -> &Self::Inner {
        self.evaluator
    }

    #[inline]
    fn inner_scratch(scratch: &mut Self::Scratch) -> &mut <Self::Inner as TransitionSystem>::Scratch {
        scratch
    }
}

impl Batches for CompiledSystem<'_> {
    forward!(expand, expand_some);

    #[inline]
    fn facts(&self) -> &dyn Facts {
        self
    }
}

impl Facts for CompiledSystem<'_> {
    forward!(field_test, last_word, fired_rules, note_fired_rules);

    #[inline]
    fn is_safe(&self, _tag: u64, _state: &[u64]) -> bool {
        false
    }
}
