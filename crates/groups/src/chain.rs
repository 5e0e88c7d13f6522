//! Stabiliser chains: a base, and for each base point its orbit under the stabiliser of the points before
//! it, as a tree of strong generators (Sims 1970; Seress, Permutation Group Algorithms, chapter 4).
//!
//! Built by sifting seeded random products until nothing new appears, and then verified: every Schreier
//! generator must sift to the identity. So the result is exact, and the same for the same input. When the
//! order is known beforehand, reaching it is the verification.

use crate::automorphism::product;
use crate::random::Random;
use crate::{Action, Permutation, Point, Watch};
use num_bigint::BigUint;

/// No edge: the point is not in the orbit.
const OUTSIDE: u32 = u32::MAX;
/// The root of the tree: the base point.
const ROOT: u32 = u32::MAX - 1;

/// So many random products in a row must sift to the identity before the verification is tried.
const QUIET_SIFTS: usize = 12;

/// A strong generator with its inverse.
#[derive(Debug, Clone)]
struct StrongGenerator {
    forward: Permutation,
    backward: Permutation,
}

/// One base point with its orbit.
#[derive(Debug, Clone)]
struct Level {
    base: Point,
    /// The orbit in order of discovery; the first is the base point.
    orbit: Vec<Point>,
    /// For each point the strong generator that led to it.
    tree: Vec<u32>,
    /// The strong generators that fix all earlier base points.
    generators: Vec<u32>,
}

/// A base and strong generating set of a permutation group on `0..degree`.
#[derive(Debug, Clone)]
pub struct StabiliserChain {
    degree: usize,
    strong: Vec<StrongGenerator>,
    levels: Vec<Level>,
}

impl StabiliserChain {
    /// The chain of the group that `generators` generate on `0..degree`.
    pub fn new(degree: usize, generators: &[Permutation]) -> Self {
        Self::build(degree, generators, &[], None, &Watch::nobody())
    }

    /// The chain whose base begins with the given points.
    pub fn with_base(degree: usize, generators: &[Permutation], base: &[Point]) -> Self {
        Self::build(degree, generators, base, None, &Watch::nobody())
    }

    /// The chain of the group of an action. Knowing its order saves the verification. A wrong order gives a
    /// wrong chain when it is too small, and no end when it is too large; so the order must come from a
    /// proof. If the action's watch says to stop, the chain is of no use.
    pub(crate) fn of_action(action: &Action, order: Option<&BigUint>) -> Self {
        Self::of_action_with_base(action, &[], order)
    }

    /// The same with a base that begins with the given points.
    pub(crate) fn of_action_with_base(action: &Action, base: &[Point], order: Option<&BigUint>) -> Self {
        Self::build(action.degree(), &action.dense_generators(), base, order, action.watch())
    }

    /// The chain of generators that are strong with respect to the base already, as those of a search
    /// along its first path are. Nothing is verified.
    pub(crate) fn from_strong(degree: usize, base: &[Point], generators: &[Permutation]) -> Self {
        let mut chain = Self { degree, strong: Vec::new(), levels: Vec::new() };
        for &point in base {
            chain.push_level(point);
        }
        for generator in generators.iter().filter(|generator| !generator.is_identity()) {
            chain.add(generator.clone());
        }
        chain.rebuild_all();
        chain
    }

    fn build(
        degree: usize,
        generators: &[Permutation],
        base: &[Point],
        order: Option<&BigUint>,
        watch: &Watch,
    ) -> Self {
        let mut chain = Self { degree, strong: Vec::new(), levels: Vec::new() };
        for &point in base {
            chain.push_level(point);
        }
        let generators: Vec<Permutation> =
            generators.iter().filter(|generator| !generator.is_identity()).cloned().collect();
        for generator in &generators {
            chain.add(generator.clone());
        }
        for level in 0..chain.levels.len() {
            if watch.work((degree * chain.levels[level].generators.len()) as u64) {
                return chain;
            }
            chain.rebuild(level);
        }
        if generators.is_empty() {
            return chain;
        }
        let mut products = RandomProducts::new(degree, &generators, watch);
        loop {
            let mut quiet = 0;
            while quiet < QUIET_SIFTS {
                if order.is_some_and(|order| chain.order() == *order) {
                    return chain;
                }
                if watch.is_stopped() {
                    return chain;
                }
                match chain.residue_from(0, products.next().clone(), watch) {
                    None => quiet += 1,
                    Some(residue) => {
                        chain.insert(residue, watch);
                        quiet = 0;
                    }
                }
            }
            match chain.missing(watch) {
                None => return chain,
                Some(residue) => chain.insert(residue, watch),
            }
        }
    }

    fn push_level(&mut self, base: Point) {
        self.levels.push(Level { base, orbit: vec![base], tree: Vec::new(), generators: Vec::new() });
    }

    /// Adds a strong generator to all levels whose earlier base points it fixes; gives the deepest.
    fn add(&mut self, generator: Permutation) -> usize {
        let index = self.strong.len() as u32;
        let mut depth = 0;
        loop {
            if depth == self.levels.len() {
                let moved = generator
                    .images()
                    .iter()
                    .enumerate()
                    .find(|&(point, &image)| point as Point != image)
                    .map(|(point, _)| point as Point)
                    .expect("the identity is never added");
                self.push_level(moved);
            }
            self.levels[depth].generators.push(index);
            let base = self.levels[depth].base;
            if generator.image(base) != base {
                break;
            }
            depth += 1;
        }
        self.strong.push(StrongGenerator { backward: generator.inverse(), forward: generator });
        depth
    }

    /// Adds a strong generator and brings the orbits up to date.
    fn insert(&mut self, generator: Permutation, watch: &Watch) {
        let depth = self.add(generator);
        for level in 0..=depth {
            if watch.work((self.degree + self.levels[level].orbit.len() * self.levels[level].generators.len()) as u64) {
                return;
            }
            self.rebuild(level);
        }
    }

    fn rebuild_all(&mut self) {
        for level in 0..self.levels.len() {
            self.rebuild(level);
        }
    }

    /// The orbit of a level, breadth first, so that the tree is shallow.
    fn rebuild(&mut self, level: usize) {
        let Level { base, orbit, tree, generators } = &mut self.levels[level];
        tree.clear();
        tree.resize(self.degree, OUTSIDE);
        tree[*base as usize] = ROOT;
        orbit.clear();
        orbit.push(*base);
        let mut next = 0;
        while next < orbit.len() {
            let point = orbit[next];
            next += 1;
            for &generator in generators.iter() {
                let image = self.strong[generator as usize].forward.image(point);
                if tree[image as usize] == OUTSIDE {
                    tree[image as usize] = generator;
                    orbit.push(image);
                }
            }
        }
    }

    /// Sifts from `level` on; `None` when the element is in the group (or it was said to stop), otherwise what
    /// remains of it.
    fn residue_from(&self, level: usize, mut element: Permutation, watch: &Watch) -> Option<Permutation> {
        for Level { base, tree, .. } in &self.levels[level..] {
            let mut point = element.image(*base);
            if tree[point as usize] == OUTSIDE {
                return Some(element);
            }
            while tree[point as usize] != ROOT {
                if watch.work(self.degree as u64) {
                    return None;
                }
                let backward = &self.strong[tree[point as usize] as usize].backward;
                element.append(backward);
                point = backward.image(point);
            }
        }
        (!element.is_identity()).then_some(element)
    }

    fn residue(&self, element: Permutation) -> Option<Permutation> {
        self.residue_from(0, element, &Watch::nobody())
    }

    /// The first Schreier generator that does not sift, from the deepest level up.
    fn missing(&self, watch: &Watch) -> Option<Permutation> {
        for (depth, level) in self.levels.iter().enumerate().rev() {
            for &point in &level.orbit {
                let representative = self.representative(depth, point);
                for &generator in &level.generators {
                    let forward = &self.strong[generator as usize].forward;
                    if level.tree[forward.image(point) as usize] == generator {
                        // An edge of the tree gives the identity.
                        let parent = self.strong[generator as usize].backward.image(forward.image(point));
                        if parent == point {
                            continue;
                        }
                    }
                    if watch.work(self.degree as u64) {
                        return None;
                    }
                    let residue = self.residue_from(depth, representative.then(forward), watch);
                    if residue.is_some() {
                        return residue;
                    }
                }
            }
        }
        None
    }

    /// The element of the transversal that takes the base point of a level to `point` of its orbit.
    fn representative(&self, level: usize, mut point: Point) -> Permutation {
        let tree = &self.levels[level].tree;
        let mut path = Vec::new();
        while tree[point as usize] != ROOT {
            path.push(tree[point as usize]);
            point = self.strong[tree[point as usize] as usize].backward.image(point);
        }
        let mut element = Permutation::identity(self.degree);
        for generator in path.into_iter().rev() {
            element.append(&self.strong[generator as usize].forward);
        }
        element
    }

    /// The number of points.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The base points in order.
    pub fn base(&self) -> Vec<Point> {
        self.levels.iter().map(|level| level.base).collect()
    }

    /// The length of each base point's orbit under the stabiliser of those before it.
    pub fn orbit_lengths(&self) -> Vec<u32> {
        self.levels.iter().map(|level| level.orbit.len() as u32).collect()
    }

    /// The order of the group.
    pub fn order(&self) -> BigUint {
        product(self.orbit_lengths())
    }

    /// Whether the permutation is in the group.
    pub fn contains(&self, element: &Permutation) -> bool {
        let moves_beyond = (self.degree..element.degree()).any(|point| element.image(point as Point) != point as Point);
        !moves_beyond && self.residue(Permutation::identity(self.degree).then(element)).is_none()
    }

    /// The transversal of a level: for each point of the base point's orbit an element that takes the base
    /// point there and fixes the earlier ones.
    pub fn transversal(&self, level: usize) -> Vec<(Point, Permutation)> {
        self.levels[level].orbit.iter().map(|&point| (point, self.representative(level, point))).collect()
    }

    /// An element that takes the base points to the given ones, in order, if there is one.
    pub(crate) fn element_with_images(&self, images: &[Point]) -> Option<Permutation> {
        let mut element = Permutation::identity(self.degree);
        for (level, &image) in images.iter().enumerate().take(self.levels.len()) {
            // What follows is applied before what was found, so the image must be reached through that.
            let point = element.inverse().image(image);
            if self.levels[level].tree[point as usize] == OUTSIDE {
                return None;
            }
            element = self.representative(level, point).then(&element);
        }
        Some(element)
    }

    /// An element that takes the first base points to the given ones, in order, if there is one. Each base point
    /// after these stays where it is if what was decided before allows it.
    pub(crate) fn element_with_first_images(&self, images: &[Point]) -> Option<Permutation> {
        let mut element = Permutation::identity(self.degree);
        for (level, Level { base, tree, .. }) in self.levels.iter().enumerate() {
            let inverse = element.inverse();
            let point = match images.get(level) {
                Some(&image) => Some(inverse.image(image)).filter(|&point| tree[point as usize] != OUTSIDE)?,
                None => Some(inverse.image(*base)).filter(|&point| tree[point as usize] != OUTSIDE).unwrap_or(*base),
            };
            element = self.representative(level, point).then(&element);
        }
        Some(element)
    }

    /// For each point of a level's orbit but the base point, a strong generator that takes it one step nearer
    /// to the base point.
    pub(crate) fn steps_to_base(&self, level: usize) -> impl Iterator<Item = (Point, Permutation)> + '_ {
        let Level { base, orbit, tree, .. } = &self.levels[level];
        orbit
            .iter()
            .filter(move |&point| point != base)
            .map(|&point| (point, self.strong[tree[point as usize] as usize].backward.clone()))
    }

    /// An element of the group; each is equally likely.
    pub fn random_element(&self, random: &mut Random) -> Permutation {
        let mut element = Permutation::identity(self.degree);
        for level in (0..self.levels.len()).rev() {
            let orbit = &self.levels[level].orbit;
            let point = orbit[random.below(orbit.len())];
            element = element.then(&self.representative(level, point));
        }
        element
    }

    /// Strong generators of the stabiliser of the first `count` base points.
    pub fn stabiliser_generators(&self, count: usize) -> Vec<Permutation> {
        match self.levels.get(count) {
            None => Vec::new(),
            Some(level) => {
                level.generators.iter().map(|&generator| self.strong[generator as usize].forward.clone()).collect()
            }
        }
    }

    /// All elements, when there are at most `limit`.
    pub fn elements(&self, limit: usize) -> Option<Vec<Permutation>> {
        if self.order() > BigUint::from(limit) {
            return None;
        }
        let mut elements = vec![Permutation::identity(self.degree)];
        for level in (0..self.levels.len()).rev() {
            let transversal = self.transversal(level);
            elements = elements
                .iter()
                .flat_map(|element| transversal.iter().map(move |(_, next)| element.then(next)))
                .collect();
        }
        Some(elements)
    }

    /// Generators of the subgroup that maps the set of the first `count` base points to itself. Tries the
    /// arrangements of these points that the group allows, so it is meant for few points.
    pub fn set_stabiliser_generators(&self, count: usize) -> Vec<Permutation> {
        let count = count.min(self.levels.len());
        let set: Vec<Point> = self.levels[..count].iter().map(|level| level.base).collect();
        let mut generators = self.stabiliser_generators(count);
        let mut orbits = crate::OrbitPartition::new(self.degree);
        // For the image of each first base point, one element suffices: what maps the points before it to
        // themselves one by one was found at a deeper turn.
        for first in (0..count).rev() {
            for &point in &set[first..] {
                if orbits.find(point) != orbits.find(set[first])
                    && let Some(element) = self.arrange(first, point, &set)
                {
                    orbits.merge_cycles(&element.to_sparse());
                    generators.push(element);
                }
            }
        }
        generators
    }

    /// An element that fixes the first `first` points of `set`, takes the next to `image`, and the others
    /// into the set.
    fn arrange(&self, first: usize, image: Point, set: &[Point]) -> Option<Permutation> {
        if self.levels[first].tree[image as usize] == OUTSIDE {
            return None;
        }
        self.arrange_from(first + 1, self.representative(first, image), set)
    }

    /// Depth-first over the levels of the set; the depth is at most the size of the set.
    fn arrange_from(&self, level: usize, element: Permutation, set: &[Point]) -> Option<Permutation> {
        if level == set.len() {
            return Some(element);
        }
        let mut points = self.levels[level].orbit.clone();
        points.retain(|&point| set.contains(&element.image(point)));
        points
            .into_iter()
            .find_map(|point| self.arrange_from(level + 1, self.representative(level, point).then(&element), set))
    }
}

/// Seeded random products of generators (Celler et al. 1995, with the accumulator of Leedham-Green and
/// Murray).
pub(crate) struct RandomProducts {
    slots: Vec<Permutation>,
    accumulator: Permutation,
    random: Random,
}

impl RandomProducts {
    pub(crate) fn new(degree: usize, generators: &[Permutation], watch: &Watch) -> Self {
        let slots = generators.iter().cycle().take(generators.len().max(10)).cloned().collect();
        let mut products = Self { slots, accumulator: Permutation::identity(degree), random: Random::new(0x5EED) };
        for _ in 0..30 + 2 * generators.len() {
            if watch.work(degree as u64) {
                break;
            }
            products.next();
        }
        products
    }

    pub(crate) fn next(&mut self) -> &Permutation {
        let changed = self.random.below(self.slots.len());
        let other = (changed + 1 + self.random.below(self.slots.len() - 1)) % self.slots.len();
        let factor = if self.random.below(2) == 0 { self.slots[other].clone() } else { self.slots[other].inverse() };
        self.slots[changed] = if self.random.below(2) == 0 {
            self.slots[changed].then(&factor)
        } else {
            factor.then(&self.slots[changed])
        };
        self.accumulator = self.accumulator.then(&self.slots[changed]);
        &self.accumulator
    }
}
