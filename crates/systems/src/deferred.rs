//! Rules that are compiled to machine code once that pays: generating code takes as long as some thousand states on the
//! evaluator, and a search with a part of the steps seldom runs it. Code is generated quickly at first, and with more effort
//! when the search is long.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::compiled::CompiledSystem;
use crate::evaluator::{EvaluatorScratch, SpecialisedSystem};
use crate::starts::{StartSieve, StartsUpTo};
use quotient_search::{Batches, Facts, SearchOptions, Sink, TransitionSystem, Visit, Wrapper, forward};

/// The number of states that the evaluator expands before machine code is generated, at least, and for each node of the
/// evaluator's code: a node takes some ten microseconds to compile, and a state a few to evaluate. Few in tests, whose models
/// are small: so that they run both.
const EVALUATED: (u32, u32) = if cfg!(debug_assertions) { (8, 0) } else { (2048, 2) };
/// How many times as many that is if a part of the steps is taken where that suffices: those are evaluated anyway.
const EVALUATED_IN_PART: u32 = 2;

/// How many times as many states are expanded before code is generated again, with more effort: that takes twice as long as
/// the first time, and saves up to a tenth.
const OPTIMISED: u32 = if cfg!(debug_assertions) { 4 } else { 128 };

/// A model that the evaluator runs at first, and machine code later. All give the same successors in the same order.
#[derive(Debug)]
pub struct DeferredSystem<'m> {
    evaluator: &'m SpecialisedSystem<'m>,
    /// See [`CompiledSystem::new`].
    whole: bool,
    /// Quickly.
    compiled: OnceLock<CompiledSystem<'m>>,
    /// With more effort.
    optimised: OnceLock<CompiledSystem<'m>>,
    /// The number of states that are expanded without code.
    evaluated: u32,
    /// The number of states that were expanded before code was optimised.
    expanded: AtomicU32,
}

impl<'m> DeferredSystem<'m> {
    /// `whole` is that of [`CompiledSystem::new`].
    pub fn for_search(evaluator: &'m SpecialisedSystem<'m>, whole: bool, options: &SearchOptions) -> Self {
        let system = Self::new(evaluator, whole);
        let times = if options.partial_order.is_some() { EVALUATED_IN_PART } else { 1 };
        Self { evaluated: system.evaluated.saturating_mul(times), ..system }
    }

    /// The same for whatever expands states.
    pub fn new(evaluator: &'m SpecialisedSystem<'m>, whole: bool) -> Self {
        let (least, each) = EVALUATED;
        let nodes = u32::try_from(evaluator.code_size()).unwrap_or(u32::MAX);
        let evaluated = nodes.saturating_mul(each).max(least);
        let (compiled, optimised) = (OnceLock::new(), OnceLock::new());
        Self { evaluator, whole, compiled, optimised, evaluated, expanded: AtomicU32::new(0) }
    }

    /// The number of nodes to compile: that of the evaluator's code as long as it is not known better.
    pub fn size(&self) -> u32 {
        let evaluated = || u32::try_from(self.evaluator.code_size()).unwrap_or(u32::MAX);
        self.compiled.get().map_or_else(evaluated, CompiledSystem::size)
    }

    /// The model in machine code.
    fn compiled(&self) -> &CompiledSystem<'m> {
        self.compiled.get_or_init(|| CompiledSystem::quickly(self.evaluator, self.whole))
    }

    /// Expands a state while code is not optimised.
    fn expand_early(&self, scratch: &mut EvaluatorScratch, state: &[u64], sink: &mut dyn Sink) {
        let expanded = self.expanded.fetch_add(1, Ordering::Relaxed);
        if expanded < self.evaluated {
            self.evaluator.expand(scratch, state, sink);
        } else if expanded == self.evaluated.saturating_mul(OPTIMISED) {
            // Other threads run the other code in the meantime.
            self.optimised.get_or_init(|| CompiledSystem::new(self.evaluator, self.whole)).expand(scratch, state, sink);
        } else {
            self.compiled().expand(scratch, state, sink);
        }
    }
}

impl TransitionSystem for DeferredSystem<'_> {
    type Scratch = EvaluatorScratch;

    forward!(words, starts, successors, evaluate);

    fn scratch(&self) -> EvaluatorScratch {
        self.evaluator.scratch()
    }
}

impl StartsUpTo for DeferredSystem<'_> {
    fn starts_up_to(&self, scratch: &mut EvaluatorScratch, sieve: &StartSieve, visit: &mut Visit<'_>) {
        self.evaluator.starts_up_to(scratch, sieve, visit);
    }
}

impl<'m> Wrapper for DeferredSystem<'m> {
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

impl Batches for DeferredSystem<'_> {
    forward!(expand_some);

    #[inline]
    fn facts(&self) -> &dyn Facts {
        self
    }

    #[inline]
    fn expand(&self, scratch: &mut EvaluatorScratch, state: &[u64], sink: &mut dyn Sink) {
        match self.optimised.get() {
            Some(optimised) => optimised.expand(scratch, state, sink),
            None => self.expand_early(scratch, state, sink),
        }
    }
}

impl Facts for DeferredSystem<'_> {
    forward!(field_test, last_word, fired_rules, note_fired_rules);

    #[inline]
    fn is_safe(&self, tag: u64, state: &[u64]) -> bool {
        let compiled = self.optimised.get().or_else(|| self.compiled.get());
        compiled.is_some_and(|compiled| compiled.is_safe(tag, state))
    }
}
