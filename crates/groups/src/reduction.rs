//! Redundant orbits: if the action on some orbits determines the action on another, the latter can be dropped without
//! losing the group.
//!
//! A map f from the points of an orbit B to sets of points of the kept orbits is equivariant if f(y)·g = f(y·g) for
//! every generator g. If such maps together distinguish the points of B, an element that fixes all kept points fixes
//! all of B. The maps are guessed from a few elements of a point stabiliser (the value at a point must be a union of
//! orbits of its stabiliser) and then checked for every generator, so a bad guess costs a reduction but never
//! correctness.
//!
//! For example, a symmetric group on n processes that also acts on the n² cells of a matrix becomes a group of degree
//! n.

use crate::action::Action;
use crate::random::Random;
use crate::{OrbitPartition, Point, SparsePermutation};
use rustc_hash::FxHashMap;

/// The number of stabiliser elements used for a guess; twice as many for the second attempt.
const STABILISER_ELEMENTS: usize = 8;

/// The largest set tried as a value of a map.
const LARGEST_VALUE: usize = 64;

/// Some orbits on which the group acts faithfully; preferably one.
pub(crate) fn faithful_orbits(action: &Action) -> Vec<Vec<Point>> {
    reduce(action).kept
}

/// Orbits on which the group acts faithfully, and how they determine the others.
pub(crate) struct Reduction {
    pub(crate) kept: Vec<Vec<Point>>,
    /// Each is determined by the kept orbits and those before it here.
    pub(crate) determined: Vec<Determined>,
}

/// An orbit determined by others: equivariant maps to sets of their points that together distinguish its points.
pub(crate) struct Determined {
    /// The points.
    pub(crate) points: Vec<Point>,
    /// For each point, the values of all maps, concatenated.
    pub(crate) values: Vec<Vec<Point>>,
    /// For each map, the number of points of a value.
    pub(crate) sizes: Vec<usize>,
}

/// Finds orbits that are determined by others.
pub(crate) fn reduce(action: &Action) -> Reduction {
    let mut orbits = action.orbits();
    orbits.sort_by_key(Vec::len);
    let mut kept: Vec<Vec<Point>> = Vec::new();
    let mut determined = Vec::new();
    for orbit in orbits {
        if action.watch().work(orbit.len() as u64) {
            break;
        }
        match determine(action, &kept, &orbit) {
            Some(found) => determined.push(found),
            None => kept.push(orbit),
        }
    }
    // A small orbit that was kept first may be determined by a larger one: servers by their clients.
    let mut index = 0;
    while kept.len() > 1 && index < kept.len() {
        if action.watch().is_stopped() {
            break;
        }
        let orbit = kept.remove(index);
        match determine(action, &kept, &orbit) {
            // Orbits dropped before may depend on this one.
            Some(found) => determined.insert(0, found),
            None => {
                kept.insert(index, orbit);
                index += 1;
            }
        }
    }
    Reduction { kept, determined }
}

/// How the action on the `kept` orbits determines that on `orbit`, if this is found.
fn determine(action: &Action, kept: &[Vec<Point>], orbit: &[Point]) -> Option<Determined> {
    if kept.is_empty() {
        return None;
    }
    let tree = OrbitTree::new(action, orbit);
    let points: Vec<Point> = kept.iter().flatten().copied().collect();
    let mut random = Random::new(orbit.len() as u64);
    let mut classes = ClassesOfPoints::new(&points);
    // Generators that fix the root are elements of its stabiliser for free.
    for generator in action.generators().iter().filter(|generator| !generator.moves_point(orbit[0])) {
        classes.merge_moves(generator);
    }
    for _ in 0..2 {
        for _ in 0..STABILISER_ELEMENTS {
            let word = tree.random_stabiliser_word(action, &mut random);
            if action.watch().work((points.len() * word.len()) as u64) {
                return None;
            }
            classes.merge_by(|point| word.iter().fold(point, |point, step| step.apply(action, point)));
        }
        // All maps from one guess: values of every size, the small first, until they separate the orbit.
        let mut guesses = classes.classes();
        guesses.retain(|value| value.len() <= LARGEST_VALUE);
        guesses.sort_by_key(Vec::len);
        let mut values: Vec<Vec<Point>> = vec![Vec::new(); orbit.len()];
        let mut sizes = Vec::new();
        for guess in guesses.into_iter().take(8) {
            let size = guess.len();
            if let Some(map) = tree.equivariant_map(action, guess) {
                for (values, value) in values.iter_mut().zip(map) {
                    values.extend(value);
                }
                sizes.push(size);
                let mut sorted: Vec<&Vec<Point>> = values.iter().collect();
                sorted.sort_unstable();
                if sorted.windows(2).all(|pair| pair[0] != pair[1]) {
                    return Some(Determined { points: tree.points, values, sizes });
                }
            }
        }
    }
    None
}

/// One generator or its inverse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    generator: u32,
    inverse: bool,
}

impl Step {
    pub(crate) fn apply(self, action: &Action, point: Point) -> Point {
        if self.inverse { action.preimage(self.generator, point) } else { action.image(self.generator, point) }
    }
}

/// A breadth-first tree of an orbit.
pub(crate) struct OrbitTree {
    /// The points in order of discovery.
    points: Vec<Point>,
    /// Position of each point in `points`.
    position: FxHashMap<Point, u32>,
    /// For each position, the generator that led there and the position it came from.
    parent: Vec<(u32, u32)>,
}

impl OrbitTree {
    pub(crate) fn new(action: &Action, orbit: &[Point]) -> Self {
        let mut tree = Self { points: vec![orbit[0]], position: FxHashMap::default(), parent: vec![(0, 0)] };
        tree.position.insert(orbit[0], 0);
        let mut next = 0;
        while next < tree.points.len() {
            for &(generator, image) in action.moves_of(tree.points[next]) {
                if !tree.position.contains_key(&image) {
                    tree.position.insert(image, tree.points.len() as u32);
                    tree.points.push(image);
                    tree.parent.push((generator, next as u32));
                }
            }
            next += 1;
        }
        tree
    }

    /// The points in order of discovery.
    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// The generators from the root to a position, last first.
    fn path(&self, mut position: u32) -> Vec<u32> {
        let mut path = Vec::new();
        while position != 0 {
            let (generator, from) = self.parent[position as usize];
            path.push(generator);
            position = from;
        }
        path
    }

    /// A random Schreier generator of the root's stabiliser, as a word.
    pub(crate) fn random_stabiliser_word(&self, action: &Action, random: &mut Random) -> Vec<Step> {
        // Near the root, where words are short.
        let position = random.below(self.points.len().min(64)) as u32;
        let moves = action.moves_of(self.points[position as usize]);
        // Generators that fix the root are Schreier generators too, and often the most informative ones.
        let (generator, image) = if random.below(4) == 0 || moves.is_empty() {
            let generator = random.below(action.generators().len()) as u32;
            (generator, action.image(generator, self.points[position as usize]))
        } else {
            moves[random.below(moves.len())]
        };
        let mut word: Vec<Step> =
            self.path(position).into_iter().rev().map(|generator| Step { generator, inverse: false }).collect();
        word.push(Step { generator, inverse: false });
        word.extend(self.path(self.position[&image]).into_iter().map(|generator| Step { generator, inverse: true }));
        word
    }

    /// A random element of the root's stabiliser, as a word: a walk from the root, and the way back.
    pub(crate) fn random_stabiliser_walk(&self, action: &Action, length: usize, random: &mut Random) -> Vec<Step> {
        let mut word = Vec::with_capacity(2 * length);
        let mut point = self.points[0];
        for _ in 0..length {
            let generator = random.below(action.generators().len()) as u32;
            word.push(Step { generator, inverse: false });
            point = action.image(generator, point);
        }
        word.extend(self.path(self.position[&point]).into_iter().map(|generator| Step { generator, inverse: true }));
        word
    }

    /// The equivariant map with this value at the root: its values in the order of `points`, each sorted. `None` if
    /// there is no such map.
    pub(crate) fn equivariant_map(&self, action: &Action, root: Vec<Point>) -> Option<Vec<Vec<Point>>> {
        self.map_by(action, root, |image| image.sort_unstable())
    }

    /// The same for ordered tuples.
    pub(crate) fn equivariant_tuples(&self, action: &Action, root: Vec<Point>) -> Option<Vec<Vec<Point>>> {
        self.map_by(action, root, |_| ())
    }

    fn map_by(&self, action: &Action, root: Vec<Point>, arrange: impl Fn(&mut [Point])) -> Option<Vec<Vec<Point>>> {
        let apply = |value: &[Point], generator: u32| {
            let mut image: Vec<Point> = value.iter().map(|&point| action.image(generator, point)).collect();
            arrange(&mut image);
            image
        };
        let mut map: Vec<Vec<Point>> = Vec::with_capacity(self.points.len());
        map.push(root);
        for &(generator, from) in &self.parent[1..] {
            let value = apply(&map[from as usize], generator);
            map.push(value);
        }
        for (position, &point) in self.points.iter().enumerate() {
            if action.watch().work(map[position].len() as u64) {
                return None;
            }
            // A generator that moves neither the point nor its value cannot contradict the map.
            let moving = map[position].iter().chain(std::iter::once(&point)).flat_map(|&point| action.moves_of(point));
            for &(generator, _) in moving {
                let image = action.image(generator, point);
                if map[self.position[&image] as usize] != apply(&map[position], generator) {
                    return None;
                }
            }
        }
        Some(map)
    }
}

/// Classes of some of the points.
pub(crate) struct ClassesOfPoints<'p> {
    points: &'p [Point],
    name: FxHashMap<Point, Point>,
    classes: OrbitPartition,
}

impl<'p> ClassesOfPoints<'p> {
    pub(crate) fn new(points: &'p [Point]) -> Self {
        let name = points.iter().enumerate().map(|(name, &point)| (point, name as Point)).collect();
        Self { points, name, classes: OrbitPartition::new(points.len()) }
    }

    pub(crate) fn merge_by(&mut self, image: impl Fn(Point) -> Point) {
        for (name, &point) in self.points.iter().enumerate() {
            self.classes.merge(name as Point, self.name[&image(point)]);
        }
    }

    pub(crate) fn merge_moves(&mut self, generator: &SparsePermutation) {
        if self.points.len() < generator.moves().len() {
            return self.merge_by(|point| generator.image(point));
        }
        for (point, image) in generator.moves() {
            if let Some(&name) = self.name.get(&point) {
                self.classes.merge(name, self.name[&image]);
            }
        }
    }

    pub(crate) fn classes(&mut self) -> Vec<Vec<Point>> {
        let mut classes = self.classes.classes(1);
        for class in &mut classes {
            for name in class.iter_mut() {
                *name = self.points[*name as usize];
            }
            class.sort_unstable();
        }
        classes
    }
}

/// Some elements of the stabiliser of point 0 in a transitive action, multiplied out.
pub(crate) fn stabiliser_elements(action: &Action, count: usize) -> Vec<SparsePermutation> {
    let orbit: Vec<Point> = (0..action.degree() as Point).collect();
    let tree = OrbitTree::new(action, &orbit);
    let mut random = Random::new(action.degree() as u64);
    let fixing = action.generators().iter().filter(|generator| !generator.moves_point(0)).cloned();
    fixing
        .chain((0..count).map(|_| {
            let word = tree.random_stabiliser_word(action, &mut random);
            let moves = orbit
                .iter()
                .map(|&point| (point, word.iter().fold(point, |point, step| step.apply(action, point))))
                .collect();
            SparsePermutation::from_moves(moves).expect("a word of permutations is one")
        }))
        .collect()
}
