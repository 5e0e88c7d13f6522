//! Wrappers around transition systems: a wrapper says what is inside, and which methods it leaves to that.

use crate::seam::TransitionSystem;

/// A system around another one. [`forward!`](crate::forward) writes the methods that it leaves to the other one.
pub trait Wrapper: TransitionSystem {
    /// The system inside.
    type Inner: TransitionSystem;

    /// The system inside.
    fn inner(&self) -> &Self::Inner;

    /// The working memory of the system inside.
    fn inner_scratch(scratch: &mut Self::Scratch) -> &mut <Self::Inner as TransitionSystem>::Scratch;
}

/// Inside of an implementation of a trait of the seam for a [`Wrapper`]: the methods of these names, as the system inside
/// has them. What is neither written nor listed does not compile.
#[macro_export]
macro_rules! forward {
    ($($method:ident),+ $(,)?) => {
        $($crate::forward!(@ $method);)+
    };
    // TransitionSystem
    (@ words) => {
        #[inline]
        fn words(&self) -> usize {
            $crate::Wrapper::inner(self).words()
        }
    };
    (@ starts) => {
        $crate::forward!(@visit starts());
    };
    (@ successors) => {
        $crate::forward!(@visit successors(state: &[u64]));
    };
    (@ evaluate) => {
        #[inline]
        fn evaluate(
            &self,
            scratch: &mut Self::Scratch,
            property: quotient_ir::PropertyId,
            state: &[u64],
            visit: &mut $crate::VisitTruth<'_>,
        ) {
            $crate::Wrapper::inner(self).evaluate(Self::inner_scratch(scratch), property, state, visit);
        }
    };
    // Facts
    (@ field_test) => {
        fn field_test(&self, property: quotient_ir::PropertyId) -> Option<$crate::FieldTest> {
            $crate::Wrapper::inner(self).field_test(property)
        }
    };
    (@ last_word) => {
        fn last_word(&self) -> u64 {
            $crate::Wrapper::inner(self).last_word()
        }
    };
    (@ fired_rules) => {
        fn fired_rules(&self) -> Vec<quotient_ir::RuleId> {
            $crate::Wrapper::inner(self).fired_rules()
        }
    };
    (@ note_fired_rules) => {
        fn note_fired_rules(&self, rules: &[quotient_ir::RuleId]) {
            $crate::Wrapper::inner(self).note_fired_rules(rules);
        }
    };
    // Batches
    (@ facts) => {
        #[inline]
        fn facts(&self) -> &dyn $crate::Facts {
            $crate::Wrapper::inner(self).facts()
        }
    };
    (@ expand) => {
        #[inline]
        fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn $crate::Sink) {
            $crate::Wrapper::inner(self).expand(Self::inner_scratch(scratch), state, sink);
        }
    };
    (@ expand_some) => {
        #[inline]
        fn expand_some(
            &self,
            scratch: &mut Self::Scratch,
            state: &[u64],
            selection: $crate::Selection<'_>,
            sink: &mut dyn $crate::Sink,
        ) {
            $crate::Wrapper::inner(self).expand_some(Self::inner_scratch(scratch), state, selection, sink);
        }
    };
    // Steps
    (@ first_steps) => {
        $crate::forward!(@visit first_steps());
    };
    (@ steps) => {
        $crate::forward!(@visit steps(state: &[u64]));
    };
    (@ is_passed_through) => {
        fn is_passed_through(&self, scratch: &mut Self::Scratch, state: &[u64]) -> bool {
            $crate::Wrapper::inner(self).is_passed_through(Self::inner_scratch(scratch), state)
        }
    };
    // Representatives
    (@ name) => {
        fn name(&self) -> &'static str {
            $crate::Wrapper::inner(self).name()
        }
    };
    (@ represent) => {
        #[inline]
        fn represent(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
            $crate::Wrapper::inner(self).represent(Self::inner_scratch(scratch), state);
        }
    };
    (@ represent_with_witness) => {
        fn represent_with_witness(
            &self,
            scratch: &mut Self::Scratch,
            state: &mut [u64],
        ) -> quotient_groups::SparsePermutation {
            $crate::Wrapper::inner(self).represent_with_witness(Self::inner_scratch(scratch), state)
        }
    };
    (@ identify) => {
        #[inline]
        fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
            $crate::Wrapper::inner(self).identify(Self::inner_scratch(scratch), state);
        }
    };
    (@ concrete_successors) => {
        $crate::forward!(@visit concrete_successors(state: &[u64]));
    };
    (@ identity) => {
        #[inline]
        fn identity(&self) -> $crate::Identity {
            $crate::Wrapper::inner(self).identity()
        }
    };
    (@ key) => {
        #[inline]
        fn key(&self, scratch: &mut Self::Scratch, state: &[u64]) -> u64 {
            $crate::Wrapper::inner(self).key(Self::inner_scratch(scratch), state)
        }
    };
    (@ is_same) => {
        #[inline]
        fn is_same(&self, scratch: &mut Self::Scratch, stored: &[u64], state: &[u64]) -> bool {
            $crate::Wrapper::inner(self).is_same(Self::inner_scratch(scratch), stored, state)
        }
    };
    // Methods that report instances and events.
    (@visit $method:ident($($argument:ident: $type:ty)?)) => {
        #[inline]
        fn $method(
            &self,
            scratch: &mut Self::Scratch,
            $($argument: $type,)?
            visit: &mut $crate::Visit<'_>,
        ) {
            $crate::Wrapper::inner(self).$method(Self::inner_scratch(scratch), $($argument,)? visit);
        }
    };
}
