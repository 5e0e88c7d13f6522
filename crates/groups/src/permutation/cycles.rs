//! Cycle notation: finding, writing and parsing cycles.

use super::PermutationError;
use crate::Point;
use num_bigint::BigUint;
use std::fmt;
use thiserror::Error;

/// Why a text is not a permutation in cycle notation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// An unexpected character.
    #[error("unexpected {found} at byte {offset} of a permutation")]
    Unexpected {
        /// What was found, quoted for display.
        found: String,
        /// Its position in the text.
        offset: usize,
    },
    /// A number too large for a point.
    #[error("the point at byte {offset} is too large")]
    TooLarge {
        /// Its position in the text.
        offset: usize,
    },
    /// Well-formed, but not a permutation.
    #[error(transparent)]
    NotAPermutation(#[from] PermutationError),
}

/// The cycles of a dense permutation, including fixed points if `with_fixed`.
pub(super) fn cycles_of(degree: usize, image: impl Fn(Point) -> Point, with_fixed: bool) -> Vec<Vec<Point>> {
    let mut seen = vec![false; degree];
    let mut cycles = Vec::new();
    for start in 0..degree as Point {
        if seen[start as usize] || (!with_fixed && image(start) == start) {
            continue;
        }
        let mut cycle = Vec::new();
        let mut point = start;
        while !seen[point as usize] {
            seen[point as usize] = true;
            cycle.push(point);
            point = image(point);
        }
        cycles.push(cycle);
    }
    cycles
}

/// The least common multiple of the lengths.
pub(super) fn order_of_cycles(lengths: impl Iterator<Item = usize>) -> BigUint {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths.into_iter().fold(BigUint::from(1u32), |order, length| {
        let length = BigUint::from(length);
        let divisor = super::greatest_common_divisor(order.clone(), length.clone());
        order * (length / divisor)
    })
}

/// Writes `(0 1 2)(3 4)`, each point increased by `first` and separated by `separator`.
pub(super) fn write_cycles(
    formatter: &mut impl fmt::Write,
    cycles: &[Vec<Point>],
    first: Point,
    separator: char,
) -> fmt::Result {
    if cycles.is_empty() {
        return formatter.write_str("()");
    }
    for cycle in cycles {
        for (index, &point) in cycle.iter().enumerate() {
            formatter.write_char(if index == 0 { '(' } else { separator })?;
            write!(formatter, "{}", u64::from(point) + u64::from(first))?;
        }
        formatter.write_char(')')?;
    }
    Ok(())
}

/// Parses cycles; the points of a cycle are separated by blanks or commas.
pub(super) fn parse_cycles(text: &str) -> Result<Vec<Vec<Point>>, ParseError> {
    let mut cycles = Vec::new();
    let mut open: Option<Vec<Point>> = None;
    let mut characters = text.char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match (&mut open, character) {
            (_, character) if character.is_whitespace() => {}
            (Some(_), ',') => {}
            (None, '(') => open = Some(Vec::new()),
            (Some(cycle), ')') => {
                cycles.push(std::mem::take(cycle));
                open = None;
            }
            (Some(cycle), digit) if digit.is_ascii_digit() => {
                let mut end = offset + 1;
                while characters.next_if(|(_, next)| next.is_ascii_digit()).is_some() {
                    end += 1;
                }
                cycle.push(text[offset..end].parse().map_err(|_| ParseError::TooLarge { offset })?);
            }
            _ => return Err(ParseError::Unexpected { found: format!("{character:?}"), offset }),
        }
    }
    match open {
        Some(_) => Err(ParseError::Unexpected { found: "end".to_owned(), offset: text.len() }),
        None => Ok(cycles),
    }
}
