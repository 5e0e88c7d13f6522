//! Common tests at the end of long guards.
//!
//! Whether no other process can move, for example, depends on all processes, and every instance that tests it tests the
//! same. Such tests become a separate function, which the instances call.

use quotient_ir::{RuleId, TableIndex};
use rustc_hash::FxHashMap;

use crate::evaluator::SpecialisedUnit;
use crate::evaluator::code::TestId;

/// The smallest number of tests worth a call.
const LEAST_TESTS: usize = 12;

/// The largest number of guards compared.
const GUARD_LIMIT: usize = 1000;

/// A guard long enough to be considered.
struct LongGuard<'u> {
    instance: (RuleId, u32),
    tests: &'u [TestId],
}

/// The start of the common end of an instance's guard, and its number.
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
        // An end that others already share is better than one that is slightly longer.
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
