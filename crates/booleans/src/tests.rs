//! Operations on numbers against those of the processor, with bits that are plain truth values.

use crate::numbers::{self, Number};
use crate::{Full, Logic};

/// Functions of nothing.
struct Values;

impl Logic for Values {
    type Bit = bool;
    fn constant(&self, value: bool) -> bool {
        value
    }
    fn known(&self, bit: &bool) -> Option<bool> {
        Some(*bit)
    }
    fn not(&mut self, bit: &bool) -> Result<bool, Full> {
        Ok(!bit)
    }
    fn and(&mut self, left: &bool, right: &bool) -> Result<bool, Full> {
        Ok(left & right)
    }
    fn or(&mut self, left: &bool, right: &bool) -> Result<bool, Full> {
        Ok(left | right)
    }
    fn xor(&mut self, left: &bool, right: &bool) -> Result<bool, Full> {
        Ok(left ^ right)
    }
    fn choose(&mut self, condition: &bool, then: &bool, otherwise: &bool) -> Result<bool, Full> {
        Ok(if *condition { *then } else { *otherwise })
    }
}

fn value(number: &Number<bool>) -> i128 {
    let (sign, bits) = number.0.split_last().expect("a number has a sign");
    let low = bits.iter().rev().fold(0i128, |value, &bit| value << 1 | i128::from(bit));
    low - (i128::from(*sign) << bits.len())
}

#[test]
fn numbers_are_as_in_the_processor() {
    let logic = &mut Values;
    let mut all: Vec<i64> = (-9..=9).collect();
    all.extend([63, 64, 65, -63, -64, 1 << 40, -(1 << 40), i64::MAX, i64::MIN]);
    for &left in &all {
        let one = numbers::constant(logic, i128::from(left));
        assert_eq!(value(&one), i128::from(left));
        assert_eq!(numbers::is_zero(logic, &one), Ok(left == 0));
        assert_eq!(numbers::is_not_positive(logic, &one), Ok(left <= 0));
        for &right in &all {
            let other = numbers::constant(logic, i128::from(right));
            let (a, b) = (i128::from(left), i128::from(right));
            let number = |result: Result<Number<bool>, Full>| value(&result.expect("there is room"));
            assert_eq!(number(numbers::add(logic, &one, &other)), a + b, "{left} + {right}");
            assert_eq!(number(numbers::subtract(logic, &one, &other)), a - b, "{left} - {right}");
            assert_eq!(number(numbers::multiply(logic, &one, &other)), a * b, "{left} * {right}");
            assert_eq!(number(numbers::scale(logic, &one, right)), a * b, "{left} scaled by {right}");
            assert_eq!(number(numbers::bitwise(logic, &one, &other, Values::and)), a & b, "{left} and {right}");
            assert_eq!(number(numbers::bitwise(logic, &one, &other, Values::xor)), a ^ b, "{left} xor {right}");
            assert_eq!(numbers::equals(logic, &one, b), Ok(left == right), "{left} = {right}");
            if right != 0 {
                let (quotient, remainder) = numbers::divide(logic, &one, &other).expect("there is room");
                assert_eq!((value(&quotient), value(&remainder)), (a / b, a % b), "{left} / {right}");
            }
            let shifted = quotient_functions::Operation::ShiftLeft.apply(left, right);
            let shifted = shifted.map(i128::from).expect("a shift has a result");
            assert_eq!(number(numbers::shift(logic, &one, &other)), shifted, "{left} << {right}");
        }
    }
}
