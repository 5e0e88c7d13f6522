//! Attempts made in sequence: what is tried before or after a search of single states, and its limits.

use quotient_search::{StopReason, TemporalParts};

use super::relations_beside;

/// A net with more stored states than this is searched with decision diagrams, which may well be small.
pub(crate) const STATES_BEFORE_SETS: u64 = 100_000;
/// Memory limit for decision diagrams in an attempt. Beyond it they are not small.
pub(crate) const SETS_BYTES: u64 = 1 << 30;

/// Counters are tried before a check from this many interchangeable values on: sorting that many takes longer at each step
/// than counting their local states.
const COUNTED_VALUES: usize = 64;
/// State limit of that attempt for each interchangeable value: it ends before the usual search would have gained anything ([why so](../../../../docs/adr/0048-very-many-objects-are-counted-by-default.md)).
const COUNTED_STATES: u64 = 8;
/// The same for a Petri net, where a transition can fire once for each value, and every firing is a step to sort.
const COUNTED_VALUES_OF_NETS: usize = 16;
const COUNTED_STATES_OF_NETS: u64 = 256;
/// `explore` counts the values of a net from this many on: a step then costs less than with representatives.
const EXPLORED_VALUES: usize = 8;
/// Rule instances that such an attempt may try, about 100 ms, unless there are very many values.
const EXPLORED_INSTANCES: u64 = 200_000;

/// State limit of a search for a formula with a part of the steps: a quarter of the states stored by the state search.
const FORMULA_SHARE: u64 = 4;
/// Work limit for the relations of a formula, where those of the state search were found and paid off.
const FORMULA_RELATIONS: u64 = 100_000_000;

/// The fewest interchangeable values for which counters are tried before a check.
pub(crate) fn counted_values(is_net: bool) -> usize {
    if is_net { COUNTED_VALUES_OF_NETS } else { COUNTED_VALUES }
}

/// How many states counters may store before a check, where the text shows so many interchangeable values of a type. None
/// if they are not tried.
pub(crate) fn counting(values: usize, is_net: bool) -> Option<u64> {
    let states = if is_net { COUNTED_STATES_OF_NETS } else { COUNTED_STATES };
    (values >= counted_values(is_net)).then(|| states * values as u64)
}

/// What counters may do before a net is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// Nothing.
    No,
    /// Store so many states.
    Within(u64),
    /// Count without a limit: no other search gets as far.
    Whole,
}

/// What counters may do before a net with so many interchangeable values of a type is explored, if about so many instances
/// are tried in a state.
pub(crate) fn counting_of_net(values: usize, instances: u64) -> Counting {
    match values {
        0..EXPLORED_VALUES => Counting::No,
        EXPLORED_VALUES..COUNTED_VALUES => Counting::Within((EXPLORED_INSTANCES / instances.max(1)).max(1)),
        _ => Counting::Whole,
    }
}

/// Whether sets are searched after a search of single states ended like this.
pub(crate) fn sets_after(end: Option<&StopReason>) -> bool {
    matches!(end, Some(StopReason::MemoryLimit(_)))
}

/// How far a search for a temporal property goes with a part of the steps, after the search of the states stored so many and
/// took so many steps, itself with a part of them or with all.
pub(crate) fn parts_of_formula(states: u64, steps: u64, is_partial: bool) -> TemporalParts {
    match is_partial {
        // All states are many more then. States that were passed through are stored for formulas, so steps are counted.
        true => TemporalParts::IfFew { states: steps.saturating_mul(FORMULA_SHARE), work: FORMULA_RELATIONS },
        false => TemporalParts::IfFew { states: states / FORMULA_SHARE, work: relations_beside(steps) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_tried_for_many_values() {
        assert_eq!((counting(63, false), counting(64, false)), (None, Some(512)));
        assert_eq!((counting(15, true), counting(16, true)), (None, Some(4096)));
    }

    #[test]
    fn nets_are_counted_within_a_tenth_of_a_second_or_whole() {
        let of = |values| counting_of_net(values, 100);
        assert_eq!(
            (of(7), of(8), of(63), of(64)),
            (Counting::No, Counting::Within(2000), Counting::Within(2000), Counting::Whole)
        );
        assert_eq!(counting_of_net(8, 1 << 40), Counting::Within(1));
    }

    #[test]
    fn sets_follow_only_a_full_memory() {
        assert!(sets_after(Some(&StopReason::MemoryLimit(1))));
        assert!(!sets_after(Some(&StopReason::OutOfMemory)) && !sets_after(None));
    }

    #[test]
    fn formulas_have_a_share_of_what_the_states_took() {
        let whole = TemporalParts::IfFew { states: 250, work: relations_beside(9_000) };
        assert_eq!(parts_of_formula(1_000, 9_000, false), whole);
        let partial = TemporalParts::IfFew { states: 36_000, work: FORMULA_RELATIONS };
        assert_eq!(parts_of_formula(1_000, 9_000, true), partial);
    }
}
