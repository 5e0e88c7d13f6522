//! Permutations stored by their support: a generator on a million points that moves ten of them costs ten entries.

use super::cycles::{self, ParseError};
use super::{Permutation, PermutationError};
use crate::Point;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::fmt;

/// A permutation of any degree, stored as its moved points and their images, in increasing order of the
/// points.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SparsePermutation {
    points: Box<[Point]>,
    images: Box<[Point]>,
}

impl SparsePermutation {
    /// The identity.
    pub fn identity() -> Self {
        Self::default()
    }

    /// The permutation that maps each first component to the second and fixes all other points.
    ///
    /// # Errors
    /// If a point is given twice, two points have the same image, or an image is not itself moved.
    pub fn from_moves(mut moves: Vec<(Point, Point)>) -> Result<Self, PermutationError> {
        moves.sort_unstable();
        for pair in moves.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(PermutationError::Repeated { point: pair[0].0 });
            }
        }
        moves.retain(|(point, image)| point != image);
        let mut images: Vec<Point> = moves.iter().map(|&(_, image)| image).collect();
        images.sort_unstable();
        for (&(point, _), &image) in moves.iter().zip(&images) {
            if point != image {
                return Err(PermutationError::NotClosed { point: image });
            }
        }
        Ok(Self::from_sorted_moves(moves))
    }

    /// A permutation from moves that are sorted, without fixed points and closed by construction.
    pub(crate) fn from_sorted_moves(moves: Vec<(Point, Point)>) -> Self {
        debug_assert!(moves.windows(2).all(|pair| pair[0].0 < pair[1].0));
        debug_assert!(moves.iter().all(|(point, image)| point != image));
        Self {
            points: moves.iter().map(|&(point, _)| point).collect(),
            images: moves.iter().map(|&(_, image)| image).collect(),
        }
    }

    /// The permutation with the given disjoint cycles.
    ///
    /// # Errors
    /// If a point occurs twice.
    pub fn from_cycles(cycles: &[Vec<Point>]) -> Result<Self, PermutationError> {
        let mut moves = Vec::new();
        for cycle in cycles {
            for (index, &point) in cycle.iter().enumerate() {
                moves.push((point, cycle[(index + 1) % cycle.len()]));
            }
        }
        Self::from_moves(moves)
    }

    /// Parses cycles such as `(0 1 2)(3 4)`; commas may separate points, and `()` is the identity.
    ///
    /// # Errors
    /// If the text is malformed or a point occurs twice.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Self::from_cycles(&cycles::parse_cycles(text)?)?)
    }

    /// The moved points in increasing order.
    pub fn support(&self) -> &[Point] {
        &self.points
    }

    /// Each moved point with its image.
    pub fn moves(&self) -> impl ExactSizeIterator<Item = (Point, Point)> + '_ {
        self.points.iter().copied().zip(self.images.iter().copied())
    }

    /// Whether this is the identity.
    pub fn is_identity(&self) -> bool {
        self.points.is_empty()
    }

    /// The image of `point`. Costs a binary search in the support.
    pub fn image(&self, point: Point) -> Point {
        self.points.binary_search(&point).map_or(point, |index| self.images[index])
    }

    /// Whether `point` moves.
    pub fn moves_point(&self, point: Point) -> bool {
        self.points.binary_search(&point).is_ok()
    }

    /// First `self`, then `next`.
    #[must_use]
    pub fn then(&self, next: &SparsePermutation) -> SparsePermutation {
        let mut moves = Vec::with_capacity(self.points.len() + next.points.len());
        let (mut left, mut right) = (0, 0);
        while left < self.points.len() || right < next.points.len() {
            let from_left = self.points.get(left).copied().unwrap_or(Point::MAX);
            let from_right = next.points.get(right).copied().unwrap_or(Point::MAX);
            // The indices decide, not the values, so MAX as a real point is handled correctly too.
            let take_left = left < self.points.len() && (right == next.points.len() || from_left <= from_right);
            let take_right = right < next.points.len() && (left == self.points.len() || from_right <= from_left);
            let (point, image) =
                if take_left { (from_left, next.image(self.images[left])) } else { (from_right, next.images[right]) };
            left += usize::from(take_left);
            right += usize::from(take_right);
            if point != image {
                moves.push((point, image));
            }
        }
        Self::from_sorted_moves(moves)
    }

    /// The inverse permutation.
    #[must_use]
    pub fn inverse(&self) -> SparsePermutation {
        let mut moves: Vec<(Point, Point)> = self.moves().map(|(point, image)| (image, point)).collect();
        moves.sort_unstable();
        Self::from_sorted_moves(moves)
    }

    /// This permutation applied `exponent` times; negative exponents apply the inverse.
    #[must_use]
    pub fn power(&self, exponent: i64) -> SparsePermutation {
        let mut moves = Vec::with_capacity(self.points.len());
        for cycle in self.cycles() {
            let shift = exponent.rem_euclid(cycle.len() as i64) as usize;
            if shift != 0 {
                for (index, &point) in cycle.iter().enumerate() {
                    moves.push((point, cycle[(index + shift) % cycle.len()]));
                }
            }
        }
        moves.sort_unstable();
        Self::from_sorted_moves(moves)
    }

    /// The order: the least positive power that is the identity.
    pub fn order(&self) -> BigUint {
        cycles::order_of_cycles(self.cycles().iter().map(Vec::len))
    }

    /// The cycles of length two or more; each starts with its least point, ordered by that point.
    pub fn cycles(&self) -> Vec<Vec<Point>> {
        let mut seen = vec![false; self.points.len()];
        let mut cycles = Vec::new();
        for start in 0..self.points.len() {
            let mut cycle = Vec::new();
            let mut index = start;
            while !seen[index] {
                seen[index] = true;
                cycle.push(self.points[index]);
                index = self.points.binary_search(&self.images[index]).expect("an image moves on");
            }
            if !cycle.is_empty() {
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The restriction to the points for which `keep` holds, renamed by `rename`: the action on a union of orbits.
    /// Returns `None` if a kept point is mapped to one that is not kept, because then there is no such action.
    pub fn restricted(
        &self,
        keep: impl Fn(Point) -> bool,
        rename: impl Fn(Point) -> Point,
    ) -> Option<SparsePermutation> {
        let mut moves = Vec::new();
        for (point, image) in self.moves() {
            match (keep(point), keep(image)) {
                (true, true) => moves.push((rename(point), rename(image))),
                (false, false) => {}
                _ => return None,
            }
        }
        Self::from_moves(moves).ok()
    }

    /// The action on the points that have a new name, under these names; the caller guarantees that these points are a
    /// union of orbits.
    pub(crate) fn renamed(&self, names: &FxHashMap<Point, Point>) -> SparsePermutation {
        let mut moves: Vec<(Point, Point)> =
            self.moves().filter_map(|(point, image)| Some((*names.get(&point)?, *names.get(&image)?))).collect();
        moves.sort_unstable();
        Self::from_sorted_moves(moves)
    }

    /// The same permutation in dense form, with one image for each point of `0..degree`.
    ///
    /// # Errors
    /// If a moved point is not below `degree`.
    pub fn to_dense(&self, degree: usize) -> Result<Permutation, PermutationError> {
        let mut images: Vec<Point> = (0..degree as Point).collect();
        for (point, image) in self.moves() {
            *images.get_mut(point as usize).ok_or(PermutationError::OutOfRange { point, degree })? = image;
        }
        Ok(Permutation::from_images_unchecked(images))
    }

    /// The cycles in GAP notation: points counted from one and separated by commas.
    pub fn to_gap(&self) -> String {
        let mut text = String::new();
        cycles::write_cycles(&mut text, &self.cycles(), 1, ',').expect("writing to a string cannot fail");
        text
    }
}

impl fmt::Display for SparsePermutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        cycles::write_cycles(formatter, &self.cycles(), 0, ' ')
    }
}

impl fmt::Debug for SparsePermutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SparsePermutation{self}")
    }
}
