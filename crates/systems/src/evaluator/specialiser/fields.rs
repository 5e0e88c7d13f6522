//! Tests of bit fields against constants, and how tests combine.
//!
//! A comparison of a narrow field with a constant is a set of the numbers the field may hold, so `a = 1 | a = 2`, `a <
//! 3` and their negations are all one test.

use quotient_ir::BinaryOperator;

use super::Specialiser;
use crate::evaluator::code::{SlotCode, Test, TestId};
use crate::evaluator::machine::calculate;

/// The widest field whose contents are tested as a set.
const SET_WIDTH: u8 = 6;

/// A test of a narrow field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldSet {
    word: u32,
    shift: u8,
    mask: u8,
    partial: bool,
    set: u64,
}

impl FieldSet {
    fn of(test: &Test) -> Option<Self> {
        match *test {
            Test::FieldIn { word, shift, mask, partial, set } => Some(Self { word, shift, mask, partial, set }),
            Test::FieldIs { word, partial, mask, pattern } | Test::FieldIsNot { word, partial, mask, pattern } => {
                if mask == 0 || mask.count_ones() > u32::from(SET_WIDTH) {
                    return None;
                }
                let shift = mask.trailing_zeros() as u8;
                let one = Self { word, shift, mask: (mask >> shift) as u8, partial, set: 1 << (pattern >> shift) };
                Some(if matches!(test, Test::FieldIs { .. }) { one } else { one.complement() })
            }
            _ => None,
        }
    }

    /// All numbers the field may hold, without the one for "undefined".
    fn universe(&self) -> u64 {
        let numbers = u64::MAX >> (63 - self.mask);
        if self.partial { numbers & !1 } else { numbers }
    }

    fn complement(self) -> Self {
        Self { set: self.universe() & !self.set, ..self }
    }

    fn same_field(&self, other: &Self) -> bool {
        Self { set: 0, ..*self } == Self { set: 0, ..*other }
    }

    fn test(self) -> Test {
        let Self { word, shift, mask, partial, set } = self;
        let universe = self.universe();
        let wide_mask = u64::from(mask) << shift;
        let pattern = |set: u64| u64::from(set.trailing_zeros()) << shift;
        if !partial && set == 0 {
            Test::Constant(false)
        } else if !partial && set == universe {
            Test::Constant(true)
        } else if set.is_power_of_two() {
            Test::FieldIs { word, partial, mask: wide_mask, pattern: pattern(set) }
        } else if (universe & !set).is_power_of_two() {
            Test::FieldIsNot { word, partial, mask: wide_mask, pattern: pattern(universe & !set) }
        } else {
            Test::FieldIn { word, shift, mask, partial, set }
        }
    }
}

/// The test of a slot against a constant, if there is a direct one.
pub(super) fn compare_slot(slot: &SlotCode, operator: BinaryOperator, constant: i64) -> Option<Test> {
    let field = slot.field;
    if slot.width > 0 && slot.width <= SET_WIDTH {
        let mask = field.mask as u8;
        let (mut set, mut failing, mut unused) = (0_u64, 0_u64, 0_u64);
        for number in u8::from(field.partial)..=mask {
            let code = u64::from(number - u8::from(field.partial));
            // The field may be wider than its values need.
            if slot.domain.code_of(slot.domain.high).is_some_and(|greatest| code > greatest) {
                unused |= 1 << number;
            } else if calculate(operator, slot.domain.value_of(code), constant)? != 0 {
                set |= 1 << number;
            } else {
                failing |= 1 << number;
            }
        }
        // Contents that never occur are chosen to make the test simpler.
        if failing.count_ones() <= 1 && !set.is_power_of_two() {
            set |= unused;
        }
        let set = FieldSet { word: field.word, shift: field.shift, mask, partial: field.partial, set };
        return Some(set.test());
    }
    if slot.width == 0 {
        return None;
    }
    let pattern = (slot.domain.code_of(constant)? + u64::from(field.partial)) << field.shift;
    let (word, partial, mask) = (field.word, field.partial, field.mask << field.shift);
    match operator {
        BinaryOperator::Equal => Some(Test::FieldIs { word, partial, mask, pattern }),
        BinaryOperator::NotEqual => Some(Test::FieldIsNot { word, partial, mask, pattern }),
        _ => None,
    }
}

/// Whether all tests of a list must succeed, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Junction {
    All,
    Any,
}

impl Specialiser<'_> {
    /// The negation of a test.
    pub(super) fn negate(&mut self, test: Test) -> Test {
        if let Some(set) = FieldSet::of(&test) {
            return set.complement().test();
        }
        match test {
            Test::Constant(value) => Test::Constant(!value),
            Test::FieldIs { word, partial, mask, pattern } => Test::FieldIsNot { word, partial, mask, pattern },
            Test::FieldIsNot { word, partial, mask, pattern } => Test::FieldIs { word, partial, mask, pattern },
            Test::Compare { operator, left, right } => {
                let opposite = match operator {
                    BinaryOperator::Equal => BinaryOperator::NotEqual,
                    BinaryOperator::NotEqual => BinaryOperator::Equal,
                    BinaryOperator::Less => BinaryOperator::GreaterOrEqual,
                    BinaryOperator::LessOrEqual => BinaryOperator::Greater,
                    BinaryOperator::Greater => BinaryOperator::LessOrEqual,
                    BinaryOperator::GreaterOrEqual => BinaryOperator::Less,
                    _ => return Test::Escape,
                };
                Test::Compare { operator: opposite, left, right }
            }
            Test::Not(test) => self.code.tests[test],
            Test::Escape => Test::Escape,
            _ => Test::Not(self.code.tests.add(test)),
        }
    }

    /// Adds a test to a list that is evaluated in order. Returns whether later ones can matter.
    pub(super) fn join(&mut self, junction: Junction, tests: &mut Vec<Test>, test: Test) -> bool {
        let decisive = junction == Junction::Any;
        match test {
            Test::Constant(value) if value != decisive => true,
            Test::Constant(_) | Test::Escape => {
                tests.push(test);
                false
            }
            Test::AllOf(list) if junction == Junction::All => {
                let inner = self.code.test_lists.get(list).to_vec();
                inner.into_iter().all(|inner| self.join(junction, tests, self.code.tests[inner]))
            }
            Test::AnyOf(list) if junction == Junction::Any => {
                let inner = self.code.test_lists.get(list).to_vec();
                inner.into_iter().all(|inner| self.join(junction, tests, self.code.tests[inner]))
            }
            _ => {
                if let Some(last) = tests.last_mut()
                    && let (Some(before), Some(after)) = (FieldSet::of(last), FieldSet::of(&test))
                    && before.same_field(&after)
                {
                    let set = match junction {
                        Junction::All => before.set & after.set,
                        Junction::Any => before.set | after.set,
                    };
                    *last = FieldSet { set, ..before }.test();
                    // The result may be a constant, which must be joined with the rest of the list again.
                    let merged = *last;
                    if matches!(merged, Test::Constant(_)) {
                        tests.pop();
                        return self.join(junction, tests, merged);
                    }
                    return true;
                }
                tests.push(test);
                true
            }
        }
    }

    /// One test for a list.
    pub(super) fn joined(&mut self, junction: Junction, tests: &[Test]) -> Test {
        match tests {
            [] => Test::Constant(junction == Junction::All),
            &[test] => test,
            _ => {
                let tests: Vec<TestId> = tests.iter().map(|&test| self.code.tests.add(test)).collect();
                let list = self.code.test_lists.add(&tests);
                match junction {
                    Junction::All => Test::AllOf(list),
                    Junction::Any => Test::AnyOf(list),
                }
            }
        }
    }
}
