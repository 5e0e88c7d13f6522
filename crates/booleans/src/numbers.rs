//! Arithmetic on numbers whose bits are Boolean functions. Results are as wide as they need to be, so nothing overflows.

use crate::{Full, Logic};

/// A number in two's complement, least significant bit first; the last bit is the sign. Never empty.
#[derive(Clone, Debug)]
pub(super) struct Number<B>(pub(super) Vec<B>);

impl<B: Clone> Number<B> {
    /// The bit at a position, which the sign continues.
    fn bit(&self, position: usize) -> &B {
        &self.0[position.min(self.0.len() - 1)]
    }

    fn sign(&self) -> &B {
        &self.0[self.0.len() - 1]
    }

    fn width(&self) -> usize {
        self.0.len()
    }
}

/// The number of bits of a constant, with its sign.
fn width_of(constant: i128) -> usize {
    let magnitude = if constant < 0 { !constant } else { constant } as u128;
    (u128::BITS - magnitude.leading_zeros()) as usize + 1
}

/// A constant.
pub(super) fn constant<L: Logic>(logic: &L, value: i128) -> Number<L::Bit> {
    Number((0..width_of(value)).map(|bit| logic.constant(value >> bit & 1 == 1)).collect())
}

/// A number that is not negative, from its bits.
pub(super) fn unsigned<L: Logic>(logic: &L, mut bits: Vec<L::Bit>) -> Number<L::Bit> {
    bits.push(logic.constant(false));
    Number(bits)
}

/// The sum, in one bit more than the wider operand.
pub(super) fn add<L: Logic>(
    logic: &mut L,
    left: &Number<L::Bit>,
    right: &Number<L::Bit>,
) -> Result<Number<L::Bit>, Full> {
    let zero = logic.constant(false);
    sum(logic, left, right, zero)
}

fn sum<L: Logic>(
    logic: &mut L,
    left: &Number<L::Bit>,
    right: &Number<L::Bit>,
    mut carry: L::Bit,
) -> Result<Number<L::Bit>, Full> {
    let width = left.width().max(right.width()) + 1;
    let mut bits = Vec::with_capacity(width);
    for position in 0..width {
        let (one, other) = (left.bit(position), right.bit(position));
        let differs = logic.xor(one, other)?;
        bits.push(logic.xor(&differs, &carry)?);
        carry = logic.choose(&differs, &carry, one)?;
    }
    Ok(trimmed(logic, bits))
}

/// Drops bits that repeat the sign, where that is known.
fn trimmed<L: Logic>(logic: &L, mut bits: Vec<L::Bit>) -> Number<L::Bit> {
    while let [.., before, sign] = &bits[..]
        && logic.known(sign).is_some()
        && logic.known(before) == logic.known(sign)
    {
        bits.pop();
    }
    Number(bits)
}

/// The difference.
pub(super) fn subtract<L: Logic>(
    logic: &mut L,
    left: &Number<L::Bit>,
    right: &Number<L::Bit>,
) -> Result<Number<L::Bit>, Full> {
    let inverted: Result<Vec<L::Bit>, Full> = right.0.iter().map(|bit| logic.not(bit)).collect();
    let one = logic.constant(true);
    sum(logic, left, &Number(inverted?), one)
}

/// The negative.
fn negate<L: Logic>(logic: &mut L, number: &Number<L::Bit>) -> Result<Number<L::Bit>, Full> {
    let zero = constant(logic, 0);
    subtract(logic, &zero, number)
}

fn choose<L: Logic>(
    logic: &mut L,
    condition: &L::Bit,
    then: &Number<L::Bit>,
    otherwise: &Number<L::Bit>,
) -> Result<Number<L::Bit>, Full> {
    let width = then.width().max(otherwise.width());
    let bits: Result<Vec<L::Bit>, Full> =
        (0..width).map(|position| logic.choose(condition, then.bit(position), otherwise.bit(position))).collect();
    Ok(trimmed(logic, bits?))
}

/// The product with a constant.
pub(super) fn scale<L: Logic>(logic: &mut L, number: &Number<L::Bit>, factor: i64) -> Result<Number<L::Bit>, Full> {
    let mut result = constant(logic, 0);
    let magnitude = factor.unsigned_abs();
    for bit in (0..u64::BITS as usize).filter(|&bit| magnitude >> bit & 1 == 1) {
        let shifted = shifted(logic, number, bit);
        result = add(logic, &result, &shifted)?;
    }
    if factor < 0 { negate(logic, &result) } else { Ok(result) }
}

/// The product with a power of two.
fn shifted<L: Logic>(logic: &L, number: &Number<L::Bit>, by: usize) -> Number<L::Bit> {
    let zeros = std::iter::repeat_n(logic.constant(false), by);
    Number(zeros.chain(number.0.iter().cloned()).collect())
}

/// The product.
pub(super) fn multiply<L: Logic>(
    logic: &mut L,
    left: &Number<L::Bit>,
    right: &Number<L::Bit>,
) -> Result<Number<L::Bit>, Full> {
    let mut result = constant(logic, 0);
    let zero = constant(logic, 0);
    for position in 0..right.width() {
        let shifted = shifted(logic, left, position);
        let part = choose(logic, &right.0[position], &shifted, &zero)?;
        // The sign counts negatively.
        result = match position + 1 == right.width() {
            true => subtract(logic, &result, &part)?,
            false => add(logic, &result, &part)?,
        };
    }
    Ok(result)
}

/// Whether a number is zero.
pub(super) fn is_zero<L: Logic>(logic: &mut L, number: &Number<L::Bit>) -> Result<L::Bit, Full> {
    let some = logic.any(number.0.clone())?;
    logic.not(&some)
}

/// Whether a number is at most zero.
pub(super) fn is_not_positive<L: Logic>(logic: &mut L, number: &Number<L::Bit>) -> Result<L::Bit, Full> {
    let zero = is_zero(logic, number)?;
    logic.or(number.sign(), &zero)
}

/// Whether a number is a constant.
pub(super) fn equals<L: Logic>(logic: &mut L, number: &Number<L::Bit>, value: i128) -> Result<L::Bit, Full> {
    let value = constant(logic, value);
    let mut same = Vec::new();
    for position in 0..number.width().max(value.width()) {
        let differs = logic.xor(number.bit(position), value.bit(position))?;
        same.push(logic.not(&differs)?);
    }
    logic.all(same)
}

/// A bitwise operation.
pub(super) fn bitwise<L: Logic>(
    logic: &mut L,
    left: &Number<L::Bit>,
    right: &Number<L::Bit>,
    operation: impl Fn(&mut L, &L::Bit, &L::Bit) -> Result<L::Bit, Full>,
) -> Result<Number<L::Bit>, Full> {
    let width = left.width().max(right.width());
    let bits: Result<Vec<L::Bit>, Full> =
        (0..width).map(|position| operation(logic, left.bit(position), right.bit(position))).collect();
    Ok(trimmed(logic, bits?))
}

/// The magnitude, which is not negative.
fn magnitude<L: Logic>(logic: &mut L, number: &Number<L::Bit>) -> Result<Number<L::Bit>, Full> {
    let negative = negate(logic, number)?;
    choose(logic, number.sign(), &negative, number)
}

/// A quotient and a remainder.
type Division<B> = (Number<B>, Number<B>);

/// The quotient, truncated towards zero, and the remainder. Arbitrary if the divisor is zero.
pub(super) fn divide<L: Logic>(
    logic: &mut L,
    left: &Number<L::Bit>,
    right: &Number<L::Bit>,
) -> Result<Division<L::Bit>, Full> {
    let (dividend, divisor) = (magnitude(logic, left)?, magnitude(logic, right)?);
    let mut remainder = constant(logic, 0);
    let mut quotient = Vec::new();
    for bit in dividend.0.iter().rev() {
        let mut bits = vec![bit.clone()];
        bits.extend(remainder.0.iter().cloned());
        remainder = trimmed(logic, bits);
        let rest = subtract(logic, &remainder, &divisor)?;
        let fits = logic.not(rest.sign())?;
        remainder = choose(logic, &fits, &rest, &remainder)?;
        quotient.push(fits);
    }
    quotient.reverse();
    let quotient = unsigned(logic, quotient);
    let (negative_quotient, negative_remainder) = (negate(logic, &quotient)?, negate(logic, &remainder)?);
    let opposite = logic.xor(left.sign(), right.sign())?;
    let quotient = choose(logic, &opposite, &negative_quotient, &quotient)?;
    let remainder = choose(logic, left.sign(), &negative_remainder, &remainder)?;
    Ok((quotient, remainder))
}

/// A shift to the left by a count, or to the right by a negative one, of a number of 64 bits: 64 or more gives 0.
pub(super) fn shift<L: Logic>(
    logic: &mut L,
    number: &Number<L::Bit>,
    count: &Number<L::Bit>,
) -> Result<Number<L::Bit>, Full> {
    const WORD: usize = 64;
    let mut result = constant(logic, 0);
    for by in 1 - WORD as i64..WORD as i64 {
        let is_count = equals(logic, count, i128::from(by))?;
        if logic.known(&is_count) == Some(false) {
            continue;
        }
        let bits = match usize::try_from(by) {
            // Bits beyond the word are lost, and the last that is left is the sign.
            Ok(left) => {
                let mut bits = shifted(logic, number, left).0;
                let sign = bits[bits.len() - 1].clone();
                bits.resize(bits.len().max(WORD), sign);
                bits.truncate(WORD);
                bits
            }
            Err(_) => {
                let right = by.unsigned_abs() as usize;
                (right..number.width().max(right + 1)).map(|position| number.bit(position).clone()).collect()
            }
        };
        let shifted = trimmed(logic, bits);
        result = choose(logic, &is_count, &shifted, &result)?;
    }
    Ok(result)
}
