//! A group acting on the points `0..degree`, given by sparse generators, with an index from each point to
//! the generators that move it: what orbits, block systems and quotient actions are computed from, in
//! time proportional to the supports and not to the degree times the number of generators.

use crate::{OrbitPartition, Permutation, Point, SparsePermutation, Watch};
use rustc_hash::FxHashMap;

/// Generators with an index by point.
#[derive(Debug, Clone)]
pub struct Action {
    degree: usize,
    generators: Vec<SparsePermutation>,
    /// Row `p` of `moves`: the generators that move `p`, with the image, in order of the generators.
    offsets: Vec<u32>,
    moves: Vec<(u32, Point)>,
    /// The same rows with the preimages: a generator that moves a point also moves another to it.
    preimages: Vec<(u32, Point)>,
    /// Whom to ask while something is computed from it; those made from it ask the same one.
    watch: Watch,
}

impl Action {
    /// The action of the group that `generators` generate; every moved point must be below `degree`.
    pub fn new(degree: usize, generators: impl IntoIterator<Item = SparsePermutation>) -> Self {
        let generators: Vec<SparsePermutation> = generators.into_iter().collect();
        let mut offsets = vec![0u32; degree + 1];
        for point in generators.iter().flat_map(SparsePermutation::support) {
            offsets[*point as usize + 1] += 1;
        }
        for point in 0..degree {
            offsets[point + 1] += offsets[point];
        }
        let mut next = offsets.clone();
        let mut moves = vec![(0, 0); offsets[degree] as usize];
        let mut preimages = moves.clone();
        let mut next_preimage = offsets.clone();
        for (index, generator) in generators.iter().enumerate() {
            for (point, image) in generator.moves() {
                moves[next[point as usize] as usize] = (index as u32, image);
                next[point as usize] += 1;
                preimages[next_preimage[image as usize] as usize] = (index as u32, point);
                next_preimage[image as usize] += 1;
            }
        }
        Self { degree, generators, offsets, moves, preimages, watch: Watch::nobody() }
    }

    /// The same action, with somebody to ask while something is computed from it.
    pub(crate) fn watched(mut self, watch: &Watch) -> Self {
        self.watch = watch.clone();
        self
    }

    /// Whom to ask while something is computed from it.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The number of points.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The generators. A quotient or restriction keeps one for each of the whole, even if it is trivial.
    pub fn generators(&self) -> &[SparsePermutation] {
        &self.generators
    }

    /// The generators that move `point`, by index, each with the image.
    pub(crate) fn moves_of(&self, point: Point) -> &[(u32, Point)] {
        &self.moves[self.offsets[point as usize] as usize..self.offsets[point as usize + 1] as usize]
    }

    /// Where a generator takes a point.
    pub(crate) fn image(&self, generator: u32, point: Point) -> Point {
        let row = self.moves_of(point);
        row.binary_search_by_key(&generator, |&(index, _)| index).map_or(point, |found| row[found].1)
    }

    /// Which point a generator takes to `point`.
    pub(crate) fn preimage(&self, generator: u32, point: Point) -> Point {
        let row = self.preimages_of(point);
        row.binary_search_by_key(&generator, |&(index, _)| index).map_or(point, |found| row[found].1)
    }

    fn preimages_of(&self, point: Point) -> &[(u32, Point)] {
        &self.preimages[self.offsets[point as usize] as usize..self.offsets[point as usize + 1] as usize]
    }

    /// The orbits with two or more points.
    pub fn orbits(&self) -> Vec<Vec<Point>> {
        OrbitPartition::of_generators(self.degree, &self.generators).classes(2)
    }

    /// Splits the group into factors with disjoint supports: generators belong together when their supports
    /// meet. Each factor is given with its points, which are renumbered from zero in increasing order.
    pub fn disjoint_factors(&self) -> Vec<(Vec<Point>, Action)> {
        let mut classes = OrbitPartition::new(self.degree);
        for generator in &self.generators {
            for pair in generator.support().windows(2) {
                classes.merge(pair[0], pair[1]);
            }
        }
        let parts = classes.classes(2);
        let mut part_of = vec![u32::MAX; self.degree];
        let mut name_in = vec![0; self.degree];
        for (part, points) in parts.iter().enumerate() {
            for (name, &point) in points.iter().enumerate() {
                part_of[point as usize] = part as u32;
                name_in[point as usize] = name as Point;
            }
        }
        let mut generators: Vec<Vec<SparsePermutation>> = vec![Vec::new(); parts.len()];
        for generator in self.generators.iter().filter(|generator| !generator.is_identity()) {
            let part = part_of[generator.support()[0] as usize] as usize;
            generators[part].push(SparsePermutation::from_sorted_moves(
                generator.moves().map(|(point, image)| (name_in[point as usize], name_in[image as usize])).collect(),
            ));
        }
        parts
            .into_iter()
            .zip(generators)
            .map(|(points, generators)| {
                let action = Action::new(points.len(), generators).watched(&self.watch);
                (points, action)
            })
            .collect()
    }

    /// The action on a union of orbits, renumbered from zero in the given order.
    pub fn restricted_to(&self, points: &[Point]) -> Action {
        let names: FxHashMap<Point, Point> =
            points.iter().enumerate().map(|(name, &point)| (point, name as Point)).collect();
        Action::new(points.len(), self.generators.iter().map(|generator| generator.renamed(&names)))
            .watched(&self.watch)
    }

    /// The action on the blocks of a system.
    pub fn on_blocks(&self, blocks: &BlockSystem) -> Action {
        let generators = self.generators.iter().map(|generator| {
            let mut moves: Vec<(Point, Point)> = generator
                .moves()
                .filter_map(|(point, image)| {
                    let (from, to) = (blocks.block_of[point as usize], blocks.block_of[image as usize]);
                    (from != OUTSIDE && from != to).then_some((from, to))
                })
                .collect();
            moves.sort_unstable();
            moves.dedup();
            SparsePermutation::from_sorted_moves(moves)
        });
        Action::new(blocks.count, generators).watched(&self.watch)
    }

    /// Actions of one group side by side, each after the points of those before. They must have been made
    /// from the same generators in the same order.
    pub(crate) fn side_by_side(actions: &[&Action]) -> Action {
        let degree = actions.iter().map(|action| action.degree).sum();
        let count = actions.first().map_or(0, |action| action.generators.len());
        let generators = (0..count).map(|index| {
            let mut moves = Vec::new();
            let mut offset = 0;
            for action in actions {
                moves.extend(action.generators[index].moves().map(|(point, image)| (point + offset, image + offset)));
                offset += action.degree as Point;
            }
            SparsePermutation::from_sorted_moves(moves)
        });
        let watch = actions.first().map_or_else(Watch::nobody, |action| action.watch.clone());
        Action::new(degree, generators).watched(&watch)
    }

    /// The generators with one image stored a point.
    pub(crate) fn dense_generators(&self) -> Vec<Permutation> {
        self.generators
            .iter()
            .map(|generator| generator.to_dense(self.degree).expect("the generators move points of the action"))
            .collect()
    }

    /// The finest block system of the orbit of `seeds[0]` that has all seeds in one block (Atkinson 1975).
    /// The seeds must be of one orbit.
    pub fn block_system(&self, orbit: &[Point], seeds: &[Point]) -> BlockSystem {
        let mut classes = OrbitPartition::new(self.degree);
        let mut queue: Vec<Point> = Vec::new();
        let merge = |classes: &mut OrbitPartition, queue: &mut Vec<Point>, left: Point, right: Point| {
            let (left, right) = (classes.find(left), classes.find(right));
            if let Some(root) = classes.merge(left, right) {
                queue.push(if root == left { right } else { left });
            }
        };
        for &seed in &seeds[1..] {
            merge(&mut classes, &mut queue, seeds[0], seed);
        }
        while let Some(point) = queue.pop() {
            if self.watch.work(1 + self.moves_of(point).len() as u64) {
                // What was merged so far need not be blocks; all in one is a block system at least.
                return BlockSystem::whole(self.degree, orbit);
            }
            let root = classes.find(point);
            for &(generator, image) in self.moves_of(point) {
                merge(&mut classes, &mut queue, image, self.image(generator, root));
            }
            for &(generator, image) in self.moves_of(root) {
                merge(&mut classes, &mut queue, self.image(generator, point), image);
            }
        }
        let mut block_of = vec![OUTSIDE; self.degree];
        let mut count = 0;
        let mut name_of_root: FxHashMap<Point, Point> = FxHashMap::default();
        for &point in orbit {
            let name = *name_of_root.entry(classes.find(point)).or_insert_with(|| {
                count += 1;
                count - 1
            });
            block_of[point as usize] = name;
        }
        BlockSystem { block_of, count: count as usize, size: orbit.len() / (count as usize).max(1) }
    }

    /// Block systems of an orbit: those generated by pairs of points and their joins, at most `limit`,
    /// without the two trivial ones, the coarsest first. `partners` are the points to pair with the first.
    pub fn block_systems(&self, orbit: &[Point], partners: &[Point], limit: usize) -> Vec<BlockSystem> {
        let mut systems: Vec<BlockSystem> = Vec::new();
        let add = |systems: &mut Vec<BlockSystem>, system: BlockSystem| {
            if system.count > 1 && system.size > 1 && systems.len() < limit && !systems.contains(&system) {
                systems.push(system);
            }
        };
        for &partner in partners {
            if self.watch.work(orbit.len() as u64) {
                break;
            }
            add(&mut systems, self.block_system(orbit, &[orbit[0], partner]));
            if systems.len() == limit {
                break;
            }
        }
        // Closing under joins gives every system, because each is the join of those its pairs generate.
        let mut right = 1;
        while right < systems.len() && systems.len() < limit {
            for left in 0..right {
                if self.watch.work(orbit.len() as u64) {
                    return systems;
                }
                let seeds: Vec<Point> = [left, right]
                    .iter()
                    .flat_map(|&index| {
                        let system = &systems[index];
                        let first = system.block_of[orbit[0] as usize];
                        orbit.iter().copied().filter(move |&point| system.block_of[point as usize] == first)
                    })
                    .collect();
                add(&mut systems, self.block_system(orbit, &seeds));
            }
            right += 1;
        }
        systems.sort_by_key(|system| system.count);
        systems
    }
}

/// Not a point of the orbit.
const OUTSIDE: Point = Point::MAX;

/// A partition of an orbit into blocks that the group permutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSystem {
    /// For each point of the orbit its block; blocks are numbered by their first points.
    block_of: Vec<Point>,
    /// How many blocks there are.
    pub count: usize,
    /// How many points each has.
    pub size: usize,
}

impl BlockSystem {
    /// An orbit as one block.
    fn whole(degree: usize, orbit: &[Point]) -> Self {
        let mut block_of = vec![OUTSIDE; degree];
        for &point in orbit {
            block_of[point as usize] = 0;
        }
        Self { block_of, count: 1, size: orbit.len() }
    }

    /// The block of a point, or `None` outside the orbit.
    pub fn block_of(&self, point: Point) -> Option<Point> {
        self.block_of.get(point as usize).copied().filter(|&block| block != OUTSIDE)
    }

    /// The points of each block, in increasing order.
    pub fn blocks(&self) -> Vec<Vec<Point>> {
        let mut blocks = vec![Vec::with_capacity(self.size); self.count];
        for (point, &block) in self.block_of.iter().enumerate() {
            if block != OUTSIDE {
                blocks[block as usize].push(point as Point);
            }
        }
        blocks
    }
}
