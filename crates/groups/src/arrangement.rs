//! Groups that permute objects freely: full symmetric groups, nested ones (wreath products) and direct products of
//! these, acting so that every point belongs to one object; also rotations. For these groups a canonical image is found
//! by sorting, or as the least rotation.

use crate::action::Action;
use crate::automorphism::product;
use crate::chain::StabiliserChain;
use crate::order::transposition_blocks;
use crate::parts::faithful_parts;
use crate::random::Random;
use crate::reduction::{ClassesOfPoints, OrbitTree};
use crate::structure;
use crate::{OrbitPartition, Point, SparsePermutation};
use num_bigint::BigUint;
use rustc_hash::FxHashSet;

/// The number of elements tried in the search for a rotation.
const ROTATION_ATTEMPTS: usize = 60;
/// The number of stabiliser elements from which the object of a point is guessed.
const STABILISER_ELEMENTS: usize = 24;
/// The number of times that more elements are tried as long as they move further objects.
const STABILISER_ROUNDS: usize = 8;
/// The number of block systems considered if no generator shows a transposition.
const SYSTEMS: usize = 24;

/// Objects nested in objects, where siblings can be permuted freely: the full symmetric group if there is one level,
/// iterated wreath products of symmetric groups if there are more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nesting {
    /// The number of children of the root, then of each of its children, and so on.
    pub arities: Vec<usize>,
}

impl Nesting {
    /// The number of nodes of a level; level 0 is directly below the root. If each node has c children, those of node k
    /// are the nodes from k · c on of the next level.
    pub fn node_count(&self, level: usize) -> usize {
        self.arities[..=level].iter().product()
    }

    /// The number of arrangements.
    pub fn order(&self) -> BigUint {
        let mut order = BigUint::from(1u32);
        let mut parents = 1;
        for &arity in &self.arities {
            order *= product(2..=arity as u32).pow(parents);
            parents *= arity as u32;
        }
        order
    }
}

/// The node that a point belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePosition {
    /// The index of the nesting.
    pub nesting: usize,
    /// The level within the nesting.
    pub level: usize,
    /// The node within the level.
    pub node: usize,
}

/// A group that is the direct product of the automorphism groups of nestings. Each point belongs to a node if the
/// stabiliser of the point is that of the node.
#[derive(Debug, Clone)]
pub struct Arrangement {
    /// The nestings.
    pub nestings: Vec<Nesting>,
    /// The position of each point, if it has one. All points of an orbit have the same nesting and level, one at each
    /// node; or none of them has a position, because they belong to several nodes.
    pub places: Vec<Option<NodePosition>>,
    /// The number of the orbit of each point.
    pub orbits: Vec<usize>,
    /// The action on the nodes of each level: nesting, level and action.
    levels: Vec<(usize, usize, Action)>,
}

impl Arrangement {
    /// Whether every point belongs to a single node.
    pub fn is_complete(&self) -> bool {
        self.places.iter().all(Option::is_some)
    }

    /// For each point, the nodes that determine it, in an order that is consistent over the point's orbit: an element
    /// of the group maps the point of some nodes to the point of their images. Points that the group fixes have none.
    /// `None` if a point is not determined by nodes, such as one that belongs to an unordered pair, or if it needs more
    /// than `most` nodes. The action is the one in which the arrangement was found.
    pub fn tuples(&self, action: &Action, most: usize) -> Option<Vec<Vec<NodePosition>>> {
        let mut actions: Vec<&Action> = self.levels.iter().map(|(_, _, action)| action).collect();
        let nodes: usize = actions.iter().map(|action| action.degree()).sum();
        actions.push(action);
        let combined = Action::side_by_side(&actions);
        let all: Vec<Point> = (0..nodes as Point).collect();
        let mut positions = Vec::with_capacity(nodes);
        for (nesting, level, on_level) in &self.levels {
            positions.extend((0..on_level.degree()).map(|node| NodePosition {
                nesting: *nesting,
                level: *level,
                node,
            }));
        }
        let mut tuples: Vec<Vec<NodePosition>> =
            self.places.iter().map(|place| place.iter().copied().collect()).collect();
        for orbit in combined.orbits().into_iter().filter(|orbit| orbit[0] as usize >= nodes) {
            if !tuples[orbit[0] as usize - nodes].is_empty() {
                continue;
            }
            let tree = OrbitTree::new(&combined, &orbit);
            let mut map = tree.equivariant_tuples(&combined, fixed_nodes(&combined, &tree, &all))?;
            if !are_distinct(&map) {
                return None;
            }
            // Nodes that the others determine are omitted, those of upper levels first.
            let mut column = 0;
            while column < map[0].len() {
                let without = |tuple: &Vec<Point>| {
                    let mut tuple = tuple.clone();
                    tuple.remove(column);
                    tuple
                };
                let shorter: Vec<Vec<Point>> = map.iter().map(without).collect();
                if are_distinct(&shorter) {
                    map = shorter;
                } else {
                    column += 1;
                }
            }
            if map[0].len() > most {
                return None;
            }
            for (&point, tuple) in tree.points().iter().zip(map) {
                tuples[point as usize - nodes] = tuple.into_iter().map(|node| positions[node as usize]).collect();
            }
        }
        Some(tuples)
    }

    /// The actions on the nodes of the lowest levels, one for each nesting.
    fn leaves(&self) -> Vec<&Action> {
        (0..self.nestings.len())
            .map(|nesting| {
                let of_nesting = self.levels.iter().filter(|(other, _, _)| *other == nesting);
                of_nesting
                    .max_by_key(|(_, level, _)| *level)
                    .map(|(_, _, action)| action)
                    .expect("a nesting has levels")
            })
            .collect()
    }

    /// The number of pairs of siblings.
    pub fn sibling_pairs(&self) -> usize {
        let pairs = |nesting: &Nesting| -> usize {
            (0..nesting.arities.len()).map(|level| nesting.node_count(level) * (nesting.arities[level] - 1) / 2).sum()
        };
        self.nestings.iter().map(pairs).sum()
    }

    /// For each pair of siblings, the element of the group that exchanges them, together with everything below them in
    /// order, and fixes all other nodes of all nestings. The element is a permutation of the points of any action made
    /// from the same generators. Sorted by nesting, then level, then first and second sibling.
    pub fn exchanges(&self, action: &Action, order: &BigUint) -> Vec<Exchange> {
        let leaves = self.leaves();
        let mut actions = leaves.clone();
        let nodes: usize = actions.iter().map(|action| action.degree()).sum();
        actions.push(action);
        let combined = Action::side_by_side(&actions);
        let base: Vec<Point> = (0..nodes as Point).collect();
        let chain = StabiliserChain::of_action_with_base(&combined, &base, Some(order));
        let mut exchanges = Vec::new();
        if combined.watch().is_stopped() {
            return exchanges;
        }
        let mut offset = 0;
        for (number, nesting) in self.nestings.iter().enumerate() {
            for (level, &arity) in nesting.arities.iter().enumerate() {
                let below: usize = nesting.arities[level + 1..].iter().product();
                for first in 0..nesting.node_count(level) {
                    for second in first + 1..(first / arity + 1) * arity {
                        let mut images = base.clone();
                        for leaf in 0..below {
                            images.swap(offset + first * below + leaf, offset + second * below + leaf);
                        }
                        let element = chain.element_with_images(&images).expect("siblings can be exchanged");
                        let moves = (nodes..combined.degree())
                            .map(|point| ((point - nodes) as Point, element.image(point as Point) - nodes as Point));
                        let element = SparsePermutation::from_moves(moves.collect()).expect("an element of the group");
                        exchanges.push(Exchange { nesting: number, level, first, second, element });
                    }
                }
            }
            offset += leaves[number].degree();
        }
        exchanges
    }
}

fn are_distinct(tuples: &[Vec<Point>]) -> bool {
    let mut seen = FxHashSet::default();
    tuples.iter().all(|tuple| seen.insert(tuple.as_slice()))
}

/// The nodes that the stabiliser of the first point of an orbit fixes, as far as a few of its elements show.
fn fixed_nodes(combined: &Action, tree: &OrbitTree, nodes: &[Point]) -> Vec<Point> {
    let first = tree.points()[0];
    let mut classes = ClassesOfPoints::new(nodes);
    for generator in combined.generators().iter().filter(|generator| !generator.moves_point(first)) {
        classes.merge_moves(generator);
    }
    let mut random = Random::new(tree.points().len() as u64);
    let mut fixed: Vec<Point> = Vec::new();
    for round in 0..STABILISER_ROUNDS {
        for number in 0..STABILISER_ELEMENTS {
            let word = match number % 2 {
                0 => tree.random_stabiliser_word(combined, &mut random),
                _ => tree.random_stabiliser_walk(combined, 8 << round.min(4), &mut random),
            };
            classes.merge_by(|point| word.iter().fold(point, |point, step| step.apply(combined, point)));
        }
        let left: Vec<Point> = classes.classes().into_iter().filter(|class| class.len() == 1).flatten().collect();
        // Few are fixed in truth, and those that are not are soon moved.
        if round > 0 && (left == fixed || left.len() <= 2) {
            return left;
        }
        fixed = left;
    }
    fixed
}

/// The exchange of two siblings.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The index of the nesting.
    pub nesting: usize,
    /// The level within the nesting.
    pub level: usize,
    /// One node of the level.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// The action of the exchange on the points.
    pub element: SparsePermutation,
}

/// Recognises an arrangement in a group of known order whose generators do not split into factors with disjoint
/// supports.
pub fn arrangement(action: &Action, order: &BigUint) -> Option<Arrangement> {
    let parts = faithful_parts(action, order);
    let trees: Vec<Tree> = parts.iter().map(Tree::new).collect::<Option<_>>()?;
    let nestings: Vec<Nesting> = trees.iter().map(|tree| Nesting { arities: tree.arities.clone() }).collect();
    if nestings.iter().map(Nesting::order).product::<BigUint>() != *order {
        return None;
    }
    // The nodes of all levels of all trees, and then the points.
    let mut levels: Vec<(usize, usize, Action)> = Vec::new();
    for (number, (tree, part)) in trees.iter().zip(&parts).enumerate() {
        for level in 0..tree.arities.len() {
            levels.push((number, level, tree.on_level(part, level)));
        }
    }
    let mut actions: Vec<&Action> = levels.iter().map(|(_, _, action)| action).collect();
    let nodes: usize = actions.iter().map(|action| action.degree()).sum();
    actions.push(action);
    let combined = Action::side_by_side(&actions);
    let mut places = vec![None; action.degree()];
    let mut orbits = vec![0; action.degree()];
    let all: Vec<Point> = (0..nodes as Point).collect();
    for (number, orbit) in combined.orbits().into_iter().filter(|orbit| orbit[0] as usize >= nodes).enumerate() {
        for &point in &orbit {
            orbits[point as usize - nodes] = number;
        }
        if levels.iter().all(|(_, _, action)| action.degree() != orbit.len()) {
            continue;
        }
        let tree = OrbitTree::new(&combined, &orbit);
        let fixed = fixed_nodes(&combined, &tree, &all);
        let mut offset = 0;
        'levels: for (nesting, level, on_level) in &levels {
            let range = offset..offset + on_level.degree() as Point;
            offset = range.end;
            if on_level.degree() != orbit.len() {
                continue;
            }
            for &node in fixed.iter().filter(|&node| range.contains(node)) {
                let Some(map) = tree.equivariant_map(&combined, vec![node]) else { continue };
                let mut seen = vec![false; on_level.degree()];
                for value in &map {
                    seen[(value[0] - range.start) as usize] = true;
                }
                if seen.contains(&false) {
                    continue;
                }
                for (&point, value) in tree.points().iter().zip(map) {
                    let node = (value[0] - range.start) as usize;
                    places[point as usize - nodes] = Some(NodePosition { nesting: *nesting, level: *level, node });
                }
                break 'levels;
            }
        }
    }
    Some(Arrangement { nestings, places, orbits, levels })
}

/// A transitive action, recognised as the automorphism group of a nesting.
struct Tree {
    arities: Vec<usize>,
    /// The leaf of each point.
    leaf_of: Vec<usize>,
}

impl Tree {
    fn new(action: &Action) -> Option<Self> {
        let degree = action.degree();
        let order = structure::order(action);
        if order == product(2..=degree as u32) {
            return Some(Self { arities: vec![degree], leaf_of: (0..degree).collect() });
        }
        let orbit: Vec<Point> = (0..degree as Point).collect();
        let mut systems: Vec<_> = transposition_blocks(action).into_iter().collect();
        if systems.is_empty() {
            let partners = structure::partners(action, &orbit);
            systems = action.block_systems(&orbit, &partners, SYSTEMS);
            // Finest first, since the group inside a block must be the full symmetric group.
            systems.reverse();
        }
        for blocks in systems {
            let outer = action.on_blocks(&blocks);
            if blocks.count == 1
                || product(2..=blocks.size as u32).pow(blocks.count as u32) * structure::order(&outer) != order
            {
                continue;
            }
            let Some(outer) = Tree::new(&outer) else { continue };
            let mut leaf_of = vec![0; degree];
            for (block, points) in blocks.blocks().into_iter().enumerate() {
                for (position, point) in points.into_iter().enumerate() {
                    leaf_of[point as usize] = outer.leaf_of[block] * blocks.size + position;
                }
            }
            let mut arities = outer.arities;
            arities.push(blocks.size);
            return Some(Self { arities, leaf_of });
        }
        None
    }

    /// The action on the nodes of a level.
    fn on_level(&self, part: &Action, level: usize) -> Action {
        let below: usize = self.arities[level + 1..].iter().product();
        let nodes: usize = self.arities[..=level].iter().product();
        let generators = part.generators().iter().map(|generator| {
            let mut moves: Vec<(Point, Point)> = generator
                .moves()
                .map(|(point, image)| {
                    ((self.leaf_of[point as usize] / below) as Point, (self.leaf_of[image as usize] / below) as Point)
                })
                .collect();
            moves.sort_unstable();
            moves.dedup();
            SparsePermutation::from_moves(moves).expect("nodes go to nodes")
        });
        Action::new(nodes, generators).watched(part.watch())
    }
}

/// An element whose cycles all have the same length and cover all points, if one is found: the group it generates
/// rotates everything at once. Returns the element and the cycle length.
pub fn rotation(action: &Action) -> Option<(SparsePermutation, usize)> {
    let degree = action.degree();
    let moved = OrbitPartition::of_generators(degree, action.generators()).classes(2);
    let all: usize = moved.iter().map(Vec::len).sum();
    let shortest = moved.iter().map(Vec::len).min()?;
    let mut random = Random::new(degree as u64);
    let mut best: Option<(SparsePermutation, usize)> = None;
    let generators: Vec<&SparsePermutation> =
        action.generators().iter().filter(|generator| !generator.is_identity()).collect();
    for attempt in 0..generators.len().min(ROTATION_ATTEMPTS) + ROTATION_ATTEMPTS {
        let element = match generators.get(attempt).filter(|_| attempt < ROTATION_ATTEMPTS) {
            Some(generator) => (*generator).clone(),
            None => {
                let mut product = generators[random.below(generators.len())].clone();
                for _ in 0..1 + random.below(3) {
                    product = product.then(generators[random.below(generators.len())]);
                }
                product
            }
        };
        let mut lengths: Vec<usize> = element.cycles().iter().map(Vec::len).collect();
        lengths.sort_unstable();
        lengths.dedup();
        // The powers that make all cycles equally long include those that bring them to the shortest length.
        for &length in &lengths {
            for power in [1, length, lengths.last().map_or(1, |longest| longest / length)] {
                let candidate = if power == 1 { element.clone() } else { element.power(power as i64) };
                let cycles = candidate.cycles();
                let Some(first) = cycles.first().map(Vec::len) else { continue };
                let is_free = cycles.iter().all(|cycle| cycle.len() == first) && candidate.support().len() == all;
                if is_free && best.as_ref().is_none_or(|(_, longest)| first > *longest) {
                    best = Some((candidate, first));
                }
            }
        }
        if best.as_ref().is_some_and(|&(_, length)| length == shortest) {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(degree: usize, generators: &[&str]) -> Action {
        Action::new(degree, generators.iter().map(|text| SparsePermutation::parse(text).expect("a permutation")))
    }

    fn arities(degree: usize, generators: &[&str]) -> Option<Vec<Vec<usize>>> {
        let action = action(degree, generators);
        let found = arrangement(&action, &structure::order(&action))?;
        for generator in action.generators() {
            for (point, image) in generator.moves() {
                let kind = |point: Point| found.places[point as usize].map(|place| (place.nesting, place.level));
                assert_eq!(kind(point), kind(image));
                assert_eq!(found.orbits[point as usize], found.orbits[image as usize]);
            }
        }
        if !found.is_complete() {
            return None;
        }
        Some(found.nestings.into_iter().map(|nesting| nesting.arities).collect())
    }

    #[test]
    fn arrangements_are_recognised() {
        for (degree, generators, expected) in [
            (5, vec!["(0 1)", "(0 1 2 3 4)"], Some(vec![vec![5]])),
            (10, vec!["(0 1)(5 6)", "(0 1 2 3 4)(5 6 7 8 9)"], Some(vec![vec![5]])),
            (6, vec!["(0 1)", "(0 2 4)(1 3 5)", "(0 2)(1 3)"], Some(vec![vec![3, 2]])),
            // The blocks have points of their own.
            (9, vec!["(0 1)", "(0 2 4)(1 3 5)(6 7 8)", "(0 2)(1 3)(6 7)"], Some(vec![vec![3, 2]])),
            // Two factors that the generators move together.
            (5, vec!["(0 1)(2 3)", "(0 1)(2 3 4)"], Some(vec![vec![2], vec![3]])),
            // A matrix: its cells belong to a row and a column.
            (4, vec!["(0 1)(2 3)", "(0 2)(1 3)"], None),
            (5, vec!["(0 1 2 3 4)"], None),
            (4, vec!["(0 1 2)", "(1 2 3)"], None),
        ] {
            assert_eq!(arities(degree, &generators), expected, "{generators:?}");
        }
    }

    #[test]
    fn exchanges_are_of_the_group() {
        // Four objects and their ordered pairs.
        let action = action(16, &["(0 5)(1 4)(2 6)(3 7)(8 9)(12 13)", "(0 5 10 15)(1 6 11 12)(2 7 8 13)(3 4 9 14)"]);
        let order = structure::order(&action);
        let found = arrangement(&action, &order).expect("the symmetric group");
        assert!(!found.is_complete());
        let exchanges = found.exchanges(&action, &order);
        assert_eq!((exchanges.len(), found.sibling_pairs()), (6, 6));
        assert_eq!(exchanges[0].element.to_string(), "(0 5)(1 4)(2 6)(3 7)(8 9)(12 13)");
    }

    #[test]
    fn points_are_tuples_of_nodes() {
        // Four objects and their ordered pairs: the pair of an object with itself is the object.
        let ordered = action(16, &["(0 5)(1 4)(2 6)(3 7)(8 9)(12 13)", "(0 5 10 15)(1 6 11 12)(2 7 8 13)(3 4 9 14)"]);
        let found = arrangement(&ordered, &structure::order(&ordered)).expect("the symmetric group");
        let tuples = found.tuples(&ordered, 2).expect("pairs");
        let nodes = |point: usize| tuples[point].iter().map(|place| place.node).collect::<Vec<_>>();
        // The objects have some order, and each pair one of the two.
        let thing = |number: usize| nodes(number * 5)[0];
        let is_turned = nodes(1) != [thing(0), thing(1)];
        for first in 0..4 {
            for second in (0..4).filter(|&second| second != first) {
                let expected = if is_turned { [thing(second), thing(first)] } else { [thing(first), thing(second)] };
                assert_eq!(nodes(first * 4 + second), expected);
            }
        }
        assert!(found.tuples(&ordered, 1).is_none());
        // A matrix of three rows and four columns: a cell is a row and a column.
        let matrix = action(
            12,
            &[
                "(0 4)(1 5)(2 6)(3 7)",
                "(0 4 8)(1 5 9)(2 6 10)(3 7 11)",
                "(0 1)(4 5)(8 9)",
                "(0 1 2 3)(4 5 6 7)(8 9 10 11)",
            ],
        );
        if let Some(found) = arrangement(&matrix, &structure::order(&matrix)) {
            assert!(found.tuples(&matrix, 2).expect("rows and columns").iter().all(|tuple| tuple.len() == 2));
        }
        // Unordered pairs are not tuples: four objects and their six pairs.
        let unordered = action(10, &["(0 1)(5 7)(6 8)", "(0 1 2 3)(4 7 9 6)(5 8)"]);
        let found = arrangement(&unordered, &structure::order(&unordered)).expect("the symmetric group");
        assert!(found.tuples(&unordered, 3).is_none());
    }

    #[test]
    fn rotations_are_recognised() {
        for (degree, generators, expected) in [
            (6, vec!["(0 1 2 3 4 5)"], Some(6)),
            (6, vec!["(0 1 2)(3 4 5)"], Some(3)),
            (12, vec!["(0 1 2 3 4 5)(6 7 8 9 10 11)", "(1 5)(2 4)(6 11)(7 10)(8 9)"], Some(6)),
            (5, vec!["(0 1 2)(3 4)"], None),
        ] {
            let found = rotation(&action(degree, &generators));
            assert_eq!(found.map(|(_, length)| length), expected, "{generators:?}");
        }
    }
}
