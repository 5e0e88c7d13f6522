//! Permutations of the points `0..degree`: a dense form (one image per point) and a sparse form (moved points only).
//!
//! Convention: permutations act on the right, and products read from left to right. `p.then(&q)` first
//! applies `p`, then `q`; its image of `x` is `q.image(p.image(x))`.

mod cycles;
mod sparse;

use crate::Point;
pub use cycles::ParseError;
use num_bigint::BigUint;
pub use sparse::SparsePermutation;
use std::fmt;
use thiserror::Error;

/// Why a list of images is not a permutation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PermutationError {
    /// An image (or point) is outside `0..degree`.
    #[error("point {point} is outside 0..{degree}")]
    OutOfRange {
        /// The point in question.
        point: Point,
        /// The number of points.
        degree: usize,
    },
    /// Two points have the same image, or one point is given twice.
    #[error("point {point} occurs twice")]
    Repeated {
        /// The point in question.
        point: Point,
    },
    /// A point is mapped to a point that is itself not moved.
    #[error("point {point} is reached but does not move on")]
    NotClosed {
        /// The point in question.
        point: Point,
    },
}

/// A permutation with one stored image for each point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permutation {
    images: Box<[Point]>,
}

impl Permutation {
    /// The identity on `0..degree`.
    pub fn identity(degree: usize) -> Self {
        Self { images: (0..degree as Point).collect() }
    }

    /// The permutation that maps point `i` to `images[i]`.
    ///
    /// # Errors
    /// If `images` is not a rearrangement of `0..images.len()`.
    pub fn from_images(images: Vec<Point>) -> Result<Self, PermutationError> {
        let mut seen = vec![false; images.len()];
        for &image in &images {
            match seen.get_mut(image as usize) {
                None => return Err(PermutationError::OutOfRange { point: image, degree: images.len() }),
                Some(seen) if *seen => return Err(PermutationError::Repeated { point: image }),
                Some(seen) => *seen = true,
            }
        }
        Ok(Self { images: images.into() })
    }

    /// A permutation from images that are a rearrangement by construction.
    pub(crate) fn from_images_unchecked(images: Vec<Point>) -> Self {
        debug_assert!(Self::from_images(images.clone()).is_ok());
        Self { images: images.into() }
    }

    /// The permutation with the given disjoint cycles.
    ///
    /// # Errors
    /// If a point is out of range or occurs twice.
    pub fn from_cycles(degree: usize, cycles: &[Vec<Point>]) -> Result<Self, PermutationError> {
        SparsePermutation::from_cycles(cycles)?.to_dense(degree)
    }

    /// Reads cycles such as `(0 1 2)(3 4)`; commas may separate points, and `()` is the identity.
    ///
    /// # Errors
    /// If the text is malformed, or a point is out of range or occurs twice.
    pub fn parse(text: &str, degree: usize) -> Result<Self, ParseError> {
        Ok(SparsePermutation::parse(text)?.to_dense(degree)?)
    }

    /// The number of points, moved or not.
    pub fn degree(&self) -> usize {
        self.images.len()
    }

    /// The image of `point`. Points beyond the degree are fixed.
    pub fn image(&self, point: Point) -> Point {
        self.images.get(point as usize).copied().unwrap_or(point)
    }

    /// The images of `0..degree` in order.
    pub fn images(&self) -> &[Point] {
        &self.images
    }

    /// First `self`, then `next`. The degree is the larger of the two.
    #[must_use]
    pub fn then(&self, next: &Permutation) -> Permutation {
        if self.degree() == next.degree() {
            let mut product = self.clone();
            product.append(next);
            return product;
        }
        let degree = self.degree().max(next.degree());
        Self { images: (0..degree as Point).map(|point| next.image(self.image(point))).collect() }
    }

    /// Replaces `self` by first `self`, then `next`, which must have the same degree.
    pub(crate) fn append(&mut self, next: &Permutation) {
        debug_assert_eq!(self.degree(), next.degree());
        for image in &mut self.images {
            *image = next.images[*image as usize];
        }
    }

    /// The inverse permutation.
    #[must_use]
    pub fn inverse(&self) -> Permutation {
        let mut images = vec![0; self.images.len()];
        for (point, &image) in self.images.iter().enumerate() {
            images[image as usize] = point as Point;
        }
        Self { images: images.into() }
    }

    /// This permutation applied `exponent` times; negative exponents apply the inverse.
    #[must_use]
    pub fn power(&self, exponent: i64) -> Permutation {
        let mut images = vec![0; self.images.len()];
        for cycle in cycles::cycles_of(self.degree(), |point| self.image(point), true) {
            let shift = exponent.rem_euclid(cycle.len() as i64) as usize;
            for (index, &point) in cycle.iter().enumerate() {
                images[point as usize] = cycle[(index + shift) % cycle.len()];
            }
        }
        Self { images: images.into() }
    }

    /// `by.inverse().then(self).then(by)`: the same permutation with its points renamed by `by`.
    #[must_use]
    pub fn conjugate(&self, by: &Permutation) -> Permutation {
        by.inverse().then(self).then(by)
    }

    /// The order: the least positive power that is the identity.
    pub fn order(&self) -> BigUint {
        cycles::order_of_cycles(self.cycles().iter().map(Vec::len))
    }

    /// Whether this is the identity.
    pub fn is_identity(&self) -> bool {
        self.images.iter().enumerate().all(|(point, &image)| point as Point == image)
    }

    /// Whether the permutation is a product of an even number of transpositions.
    pub fn is_even(&self) -> bool {
        self.cycles().iter().filter(|cycle| cycle.len() % 2 == 0).count() % 2 == 0
    }

    /// The points that move, in increasing order.
    pub fn support(&self) -> Vec<Point> {
        (0..self.degree() as Point).filter(|&point| self.image(point) != point).collect()
    }

    /// The cycles of length two or more; each starts with its least point, ordered by that point.
    pub fn cycles(&self) -> Vec<Vec<Point>> {
        cycles::cycles_of(self.degree(), |point| self.image(point), false)
    }

    /// The same permutation in sparse form.
    pub fn to_sparse(&self) -> SparsePermutation {
        SparsePermutation::from_sorted_moves(
            (0..self.degree() as Point).map(|point| (point, self.image(point))).filter(|(p, i)| p != i).collect(),
        )
    }
}

impl fmt::Display for Permutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        cycles::write_cycles(formatter, &self.cycles(), 0, ' ')
    }
}

impl fmt::Debug for Permutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Permutation[{}]{self}", self.degree())
    }
}

/// The greatest common divisor of two non-negative numbers.
pub(crate) fn greatest_common_divisor(mut left: BigUint, mut right: BigUint) -> BigUint {
    let zero = BigUint::ZERO;
    while right != zero {
        (left, right) = (right.clone(), left % right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permutation(text: &str) -> Permutation {
        Permutation::parse(text, 8).expect("a well-formed permutation")
    }

    #[test]
    fn then_applies_left_first() {
        let (p, q) = (permutation("(0 1)"), permutation("(1 2)"));
        assert_eq!(p.then(&q).image(0), 2);
        assert_eq!(p.then(&q).to_string(), "(0 2 1)");
        assert_eq!(q.then(&p).to_string(), "(0 1 2)");
    }

    #[test]
    fn display_and_parse() {
        for (text, shown) in
            [("()", "()"), ("", "()"), (" (3 4) (2, 1 ,0) ", "(0 2 1)(3 4)"), ("(5)", "()"), ("(7 0)", "(0 7)")]
        {
            assert_eq!(permutation(text).to_string(), shown, "{text}");
        }
        for text in ["(0 0)", "(0 1)(1 2)", "(8 1)", "0 1", "(0 1", "(0 x)", "(99999999999)"] {
            assert!(Permutation::parse(text, 8).is_err(), "{text}");
        }
    }

    #[test]
    fn images_are_checked() {
        assert_eq!(Permutation::from_images(vec![0, 3]), Err(PermutationError::OutOfRange { point: 3, degree: 2 }));
        assert_eq!(Permutation::from_images(vec![0, 0]), Err(PermutationError::Repeated { point: 0 }));
    }

    #[test]
    fn orders_and_powers() {
        let p = permutation("(0 1 2)(3 4)(5 6)");
        assert_eq!(p.order(), BigUint::from(6u32));
        assert!(!p.then(&p).is_identity());
        assert!(p.power(6).is_identity());
        assert_eq!(p.power(-1), p.inverse());
        assert_eq!(p.power(5), p.inverse());
        assert!(p.is_even());
        assert!(!permutation("(0 1)").is_even());
        assert_eq!(permutation("(0 1)").conjugate(&permutation("(1 5)")).to_string(), "(0 5)");
    }

    proptest! {
        #[test]
        fn dense_and_sparse_agree(
            left in Just((0..9u32).collect::<Vec<_>>()).prop_shuffle(),
            right in Just((0..9u32).collect::<Vec<_>>()).prop_shuffle(),
            exponent in -20i64..20,
        ) {
            let (p, q) = (Permutation::from_images(left).unwrap(), Permutation::from_images(right).unwrap());
            let (sp, sq) = (p.to_sparse(), q.to_sparse());
            prop_assert_eq!(p.then(&q).to_sparse(), sp.then(&sq));
            prop_assert_eq!(p.inverse().to_sparse(), sp.inverse());
            prop_assert_eq!(p.power(exponent).to_sparse(), sp.power(exponent));
            prop_assert_eq!(p.order(), sp.order());
            prop_assert_eq!(p.to_string(), sp.to_string());
            prop_assert_eq!(p.cycles(), sp.cycles());
            prop_assert_eq!(sp.to_dense(9).unwrap(), p.clone());
            prop_assert_eq!(&Permutation::parse(&p.to_string(), 9).unwrap(), &p);
            prop_assert!(p.then(&p.inverse()).is_identity());
            prop_assert_eq!(p.is_even() == q.is_even(), p.then(&q).is_even());
            for point in 0..12 {
                prop_assert_eq!(p.image(point), sp.image(point));
            }
        }
    }
}
