//! An element of a group that takes some points to others and leaves the rest alone as far as it easily can: by a
//! stabiliser chain whose base begins with the points that have to move.

use rustc_hash::FxHashMap;

use crate::action::Action;
use crate::chain::StabiliserChain;
use crate::{Point, SparsePermutation, Watch};

/// An element of the group that the generators generate on `0..degree` which takes each wanted point to its image.
/// Points that are not asked for stay where what was decided before allows it, those with the least numbers first.
/// The inner option is empty if there is no such element, the outer one if the watch says to stop.
pub fn transporter(
    degree: usize,
    generators: &[SparsePermutation],
    wanted: &[(Point, Point)],
    watch: &Watch,
) -> Option<Option<SparsePermutation>> {
    let action = Action::new(degree, generators.iter().cloned()).watched(watch);
    let mut is_placed = vec![false; wanted.len()];
    let mut moves = Vec::new();
    for (moved, factor) in action.disjoint_factors() {
        let name = |point: Point| moved.binary_search(&point).ok().map(|name| name as Point);
        let (mut base, mut images) = (Vec::new(), Vec::new());
        let mut known: FxHashMap<Point, Point> = FxHashMap::default();
        for (&(from, to), is_placed) in wanted.iter().zip(&mut is_placed) {
            match (name(from), name(to)) {
                (Some(from), Some(to)) => {
                    *is_placed = true;
                    match known.insert(from, to) {
                        None => {
                            base.push(from);
                            images.push(to);
                        }
                        Some(other) if other != to => return Some(None),
                        Some(_) => {}
                    }
                }
                (None, None) => {}
                _ => return Some(None),
            }
        }
        // Nothing is asked of this factor, or nothing that the identity does not do.
        if base == images {
            continue;
        }
        let order = watch.unless_stopped(crate::order::order(&factor))?;
        let chain = watch.unless_stopped(StabiliserChain::of_action_with_base(&factor, &base, Some(&order)))?;
        let Some(element) = chain.element_with_first_images(&images) else { return Some(None) };
        let all = element.images().iter().enumerate();
        moves.extend(all.map(|(from, &to)| (moved[from], moved[to as usize])).filter(|(from, to)| from != to));
    }
    if wanted.iter().zip(&is_placed).any(|(&(from, to), &is_placed)| !is_placed && from != to) {
        return Some(None);
    }
    Some(Some(SparsePermutation::from_moves(moves).expect("elements of disjoint factors are one permutation")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Permutation;
    use crate::group::families;

    fn ask(degree: usize, generators: &[SparsePermutation], wanted: &[(Point, Point)]) -> Option<SparsePermutation> {
        transporter(degree, generators, wanted, &Watch::nobody()).expect("nobody says to stop")
    }

    /// Every question about one or two points of small groups, against all their elements.
    #[test]
    fn small_groups_by_enumeration() {
        for known in [
            families::symmetric_on_matrix(3),
            families::iterated_wreath(&[2, 3]),
            families::hypercube(3),
            families::dihedral(7),
            families::copies(&families::dihedral(4), 2),
        ] {
            let dense: Vec<Permutation> =
                known.generators.iter().map(|generator| generator.to_dense(known.degree).expect("in range")).collect();
            let elements = StabiliserChain::new(known.degree, &dense).elements(5000).expect("a small group");
            let points = 0..known.degree as Point;
            for from in points.clone() {
                for to in points.clone() {
                    for wanted in [vec![(from, to)], vec![(from, to), (to, from)], vec![(from, to), (0, 0)]] {
                        let does =
                            |images: &dyn Fn(Point) -> Point| wanted.iter().all(|&(from, to)| images(from) == to);
                        let found = ask(known.degree, &known.generators, &wanted);
                        let exists = elements.iter().any(|element| does(&|point| element.image(point)));
                        assert_eq!(found.is_some(), exists, "{wanted:?}");
                        if let Some(found) = found {
                            assert!(does(&|point| found.image(point)), "{wanted:?}");
                            let found = found.to_dense(known.degree).expect("in range");
                            assert!(elements.contains(&found), "{wanted:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn other_points_stay() {
        let exchange = |text: &str| SparsePermutation::parse(text).expect("a permutation");
        let generators = [exchange("(0 1)"), exchange("(1 2)"), exchange("(2 3)"), exchange("(4 5)")];
        assert_eq!(ask(6, &generators, &[(0, 2)]), Some(exchange("(0 2)")));
        assert_eq!(ask(6, &generators, &[(4, 4)]), Some(SparsePermutation::identity()));
        assert_eq!(ask(7, &generators, &[(0, 6)]), None);
        assert_eq!(ask(7, &generators, &[(6, 6), (4, 5)]), Some(exchange("(4 5)")));
    }
}
