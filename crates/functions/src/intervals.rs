//! Interval arithmetic: the bounds of an operator's results over two intervals of operands. An operation without a
//! result, or with one beyond 64 bits, ends a run, so it need not be covered.

use quotient_ir::BinaryOperator;

/// The least and the greatest number of an interval.
pub(crate) type Interval = (i64, i64);

/// Every number.
const EVERYTHING: Interval = (i64::MIN, i64::MAX);

/// The bounds of `left operator right`.
pub(crate) fn arithmetic(operator: BinaryOperator, left: Interval, right: Interval) -> Interval {
    use BinaryOperator as Operator;
    let ((a, b), (c, d)) = (left, right);
    match operator {
        Operator::Add => (a.saturating_add(c), b.saturating_add(d)),
        Operator::Subtract => (a.saturating_sub(d), b.saturating_sub(c)),
        Operator::Multiply => corners(left, right, i64::saturating_mul),
        Operator::Divide if c > 0 => corners(left, right, |x, y| x / y),
        // No quotient or remainder is larger than the dividend, apart from its sign.
        Operator::Divide if a > i64::MIN => {
            let largest = a.abs().max(b.abs());
            (-largest, largest)
        }
        // The sign is that of the dividend.
        Operator::Remainder if c > 0 => (a.max(1 - d).min(0), b.min(d - 1).max(0)),
        Operator::Remainder => (a.min(0), b.max(0)),
        // Bits shifted out at the left come back as a sign.
        Operator::ShiftRight if c >= 0 => (a.min(0), b.max(0)),
        Operator::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
        Operator::BitAnd if c >= 0 => (0, d),
        Operator::BitAnd if a >= 0 => (0, b),
        Operator::BitOr if a >= 0 && c >= 0 => (a.max(c), ones(b | d)),
        Operator::BitXor if a >= 0 && c >= 0 => (0, ones(b | d)),
        _ => EVERYTHING,
    }
}

/// The bounds of a function that is monotonic in each of its arguments.
fn corners(left: Interval, right: Interval, function: impl Fn(i64, i64) -> i64) -> Interval {
    let ((a, b), (c, d)) = (left, right);
    let all = [function(a, c), function(a, d), function(b, c), function(b, d)];
    (all.into_iter().fold(i64::MAX, i64::min), all.into_iter().fold(i64::MIN, i64::max))
}

/// The least number of the form 2^k - 1 that is not less than a natural number.
fn ones(number: i64) -> i64 {
    if number <= 0 { 0 } else { i64::MAX >> (number.leading_zeros() - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on every pair of small intervals, compared with all numbers in them.
    #[test]
    fn bounds_hold() {
        use BinaryOperator as Operator;
        type Function = fn(i64, i64) -> Option<i64>;
        let operations: [(Operator, Function); 10] = [
            (Operator::Add, |x, y| Some(x + y)),
            (Operator::Subtract, |x, y| Some(x - y)),
            (Operator::Multiply, |x, y| Some(x * y)),
            (Operator::Divide, i64::checked_div),
            (Operator::Remainder, i64::checked_rem),
            (Operator::ShiftLeft, |x, y| (0..64).contains(&y).then(|| x << y)),
            (Operator::ShiftRight, |x, y| (0..64).contains(&y).then(|| x >> y)),
            (Operator::BitAnd, |x, y| Some(x & y)),
            (Operator::BitOr, |x, y| Some(x | y)),
            (Operator::BitXor, |x, y| Some(x ^ y)),
        ];
        let intervals = || (-5..9).flat_map(|low| (low..9).map(move |high| (low, high)));
        for (operator, function) in operations {
            for left in intervals() {
                for right in intervals() {
                    let (low, high) = arithmetic(operator, left, right);
                    let pairs = (left.0..=left.1).flat_map(|x| (right.0..=right.1).map(move |y| (x, y)));
                    for result in pairs.filter_map(|(x, y)| function(x, y)) {
                        assert!(low <= result && result <= high, "{operator:?} {left:?} {right:?} gives {result}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_cut_to_its_width_keeps_its_bounds() {
        let cut = |bits: u32, number: Interval| {
            let half = 1i64 << (bits - 1);
            let moved = arithmetic(BinaryOperator::Add, number, (half, half));
            let cut = arithmetic(BinaryOperator::BitAnd, moved, (2 * half - 1, 2 * half - 1));
            arithmetic(BinaryOperator::Subtract, cut, (half, half))
        };
        assert_eq!(cut(32, (-(1 << 31), 1 << 31)), (-(1 << 31), (1 << 31) - 1));
        assert_eq!(cut(16, (i64::MIN, i64::MAX)), (-(1 << 15), (1 << 15) - 1));
    }
}
