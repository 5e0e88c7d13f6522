//! Tests at the end of long guards that several instances have in common.
//!
//! Whether nobody else can move, for example, is a question about all processes, and every instance that asks it
//! asks the same. Such tests become a function of their own, which the instances call.

use quotient_ir::{RuleId, TableIndex};
use rustc_hash::FxHashMap;

use crate::systems::evaluator::SpecialisedUnit;
use crate::systems::evaluator::code::TestId;

/// Fewer tests than this are not worth a call.
const LEAST_TESTS: usize = 12;

/// Guards that are compared.
const GUARD_LIMIT: usize = 1000;

/// A guard that is long enough to be looked at.
struct LongGuard<'u> {
    instance: (RuleId, u32),
    tests: &'u [TestId],
}

/// Where the common end of the guard of an instance starts, and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) start: usize,
    pub(super) number: usize,
}

/// The common ends, each once, and the instances that have one.
#[derive(Debug, Default)]
pub(super) struct Tails {
    pub(super) lists: Vec<Vec<TestId>>,
    pub(super) of_instances: FxHashMap<(RuleId, u32), Tail>,
}

/// Finds the common ends of long guards.
pub(super) fn tails<'u>(units: impl Iterator<Item = (RuleId, u32, &'u SpecialisedUnit)>) -> Tails {
    let mut guards: Vec<LongGuard<'_>> = units
        .filter(|(_, _, unit)| unit.all_tests.len() >= LEAST_TESTS && !unit.tests_write && !unit.reads_parameters)
        .map(|(rule, number, unit)| LongGuard { instance: (rule, number), tests: &unit.all_tests })
        .take(GUARD_LIMIT)
        .collect();
    // Guards with long common ends are neighbours in this order.
    guards.sort_by_cached_key(|guard| guard.tests.iter().rev().map(|test| test.position()).collect::<Vec<_>>());
    let mut tails = Tails::default();
    let mut numbers: FxHashMap<&[TestId], usize> = FxHashMap::default();
    for (position, guard) in guards.iter().enumerate() {
        let before = position.checked_sub(1).and_then(|before| guards.get(before));
        let neighbours = before.into_iter().chain(guards.get(position + 1));
        let Some(length) = neighbours.map(|other| common_end(guard.tests, other.tests)).max() else { continue };
        // An end that others share already is better than one that is a little longer.
        let known = numbers.keys().filter(|list| guard.tests.ends_with(list)).max_by_key(|list| list.len());
        let start = match known {
            Some(list) if 2 * list.len() >= length => guard.tests.len() - list.len(),
            _ => guard.tests.len() - length,
        };
        let list = &guard.tests[start..];
        if list.len() >= LEAST_TESTS {
            let number = *numbers.entry(list).or_insert_with(|| {
                tails.lists.push(list.to_vec());
                tails.lists.len() - 1
            });
            tails.of_instances.insert(guard.instance, Tail { start, number });
        }
    }
    tails
}

fn common_end(left: &[TestId], right: &[TestId]) -> usize {
    left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count()
}
