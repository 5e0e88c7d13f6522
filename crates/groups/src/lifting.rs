//! Groups that act on some points and carry others along: an element that is known by what it does to the former is
//! lifted to the latter. By a stabiliser chain whose base are points of the first kind.

use crate::action::Action;
use crate::chain::StabiliserChain;
use crate::{Point, SparsePermutation, Watch};

/// A group on the points `0..points`, whose elements determine what becomes of the points from there on.
#[derive(Debug)]
pub struct Lifting {
    points: usize,
    factors: Vec<Factor>,
}

#[derive(Debug)]
struct Factor {
    /// The points it moves, in increasing order; those that are carried along come last.
    moved: Vec<Point>,
    /// On the moved points, numbered in that order.
    chain: StabiliserChain,
}

impl Lifting {
    /// Prepares the group that generators generate on `0..degree`, of which an element is determined by what it does
    /// to the points below `points`. Nothing if the watch says to stop.
    pub fn new(points: usize, degree: usize, generators: &[SparsePermutation], watch: &Watch) -> Option<Self> {
        let action = Action::new(degree, generators.iter().cloned()).watched(watch);
        let mut factors = Vec::new();
        for (moved, factor) in action.disjoint_factors() {
            let order = watch.unless_stopped(crate::order::order(&factor))?;
            // New base points are the least that move, so that all are of the first kind.
            let chain = watch.unless_stopped(StabiliserChain::of_action(&factor, Some(&order)))?;
            factors.push(Factor { moved, chain });
        }
        Some(Self { points, factors })
    }

    /// What an element does to all points, given what it does to the first ones. Nothing if it is not in the group.
    pub fn lift(&self, element: &SparsePermutation) -> Option<SparsePermutation> {
        let mut moves: Vec<(Point, Point)> = Vec::new();
        let mut accounted = 0;
        for Factor { moved, chain } in &self.factors {
            let name = |point: Point| moved.binary_search(&point).ok().map(|name| name as Point);
            let base = chain.base();
            let images: Option<Vec<Point>> =
                base.iter().map(|&base| name(element.image(moved[base as usize]))).collect();
            let lifted = chain.element_with_images(&images?)?;
            for (number, &point) in moved.iter().enumerate() {
                let image = moved[lifted.image(number as Point) as usize];
                if (point as usize) < self.points && element.image(point) != image {
                    return None;
                }
                if point != image {
                    accounted += usize::from((point as usize) < self.points);
                    moves.push((point, image));
                }
            }
        }
        if accounted != element.support().len() {
            return None;
        }
        SparsePermutation::from_moves(moves).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::families;
    use crate::random::Random;

    #[test]
    fn products_of_generators_are_lifted_to_products() {
        for known in [
            families::symmetric_on_matrix(5),
            families::iterated_wreath(&[2, 3, 2]),
            families::hypercube(4),
            families::copies(&families::dihedral(7), 3),
        ] {
            // Each point has a copy that is carried along, in reverse order.
            let degree = known.degree as Point;
            let doubled: Vec<SparsePermutation> = known
                .generators
                .iter()
                .map(|generator| {
                    let copy = |point: Point| 2 * degree - 1 - point;
                    let moves = generator.moves();
                    let all = moves.flat_map(|(from, to)| [(from, to), (copy(from), copy(to))]).collect();
                    SparsePermutation::from_moves(all).expect("a permutation")
                })
                .collect();
            let lifting = Lifting::new(known.degree, 2 * known.degree, &doubled, &Watch::nobody()).expect("nobody");
            let mut random = Random::new(7);
            for _ in 0..50 {
                let (mut element, mut expected) = (SparsePermutation::identity(), SparsePermutation::identity());
                for _ in 0..random.below(12) {
                    let next = random.below(doubled.len());
                    element = element.then(&known.generators[next]);
                    expected = expected.then(&doubled[next]);
                }
                assert_eq!(lifting.lift(&element), Some(expected));
            }
        }
        let rotation = SparsePermutation::parse("(0 1 2)(3 4 5)").expect("a permutation");
        let lifting = Lifting::new(3, 6, std::slice::from_ref(&rotation), &Watch::nobody()).expect("nobody");
        assert_eq!(lifting.lift(&SparsePermutation::parse("(0 1)").expect("a permutation")), None);
        assert_eq!(lifting.lift(&SparsePermutation::parse("(0 1 2)").expect("a permutation")), Some(rotation));
    }
}
