//! The order of a group, exactly, by whatever is cheapest: one generator, transpositions, generators that
//! stay within a block, a regular action on tuples, and a stabiliser chain for the rest.
//!
//! All but the last cost about as much as the generators have moved points, times a few.

use crate::action::{Action, BlockSystem};
use crate::automorphism::product;
use crate::chain::StabiliserChain;
use crate::permutation::greatest_common_divisor;
use crate::reduction::faithful_orbits;
use crate::{Permutation, Point, SparsePermutation, Watch};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest degree up to which a quotient gets a chain of its own.
const SMALL_DEGREE: usize = 64;
/// Points of a tuple in the search for a regular action, at most.
const LONGEST_TUPLE: usize = 8;
/// Steps that the proof of a regular action may take.
const REGULAR_STEPS: usize = 20_000_000;

/// The order of the group that the generators of an action generate.
pub(crate) fn order(action: &Action) -> BigUint {
    action.disjoint_factors().iter().map(|(_, factor)| Reduced::new(factor).order).product()
}

/// A group that acts faithfully on few orbits.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    pub(crate) action: Action,
    pub(crate) order: BigUint,
    /// If it was seen to be a wreath product: the action within a block and the blocks.
    pub(crate) wreath: Option<(Inner, BlockSystem)>,
}

/// What acts within a block.
#[derive(Debug, Clone)]
pub(crate) enum Inner {
    /// All permutations of its points.
    Symmetric,
    /// This group.
    Action(Action),
}

impl Reduced {
    /// The same, with somebody to ask while something is computed from it.
    pub(crate) fn watched(mut self, watch: &Watch) -> Self {
        self.action = self.action.watched(watch);
        if let Some((Inner::Action(inner), _)) = &mut self.wreath {
            *inner = inner.clone().watched(watch);
        }
        self
    }

    /// Leaves out orbits that follow from others and finds the order.
    pub(crate) fn new(factor: &Action) -> Self {
        if let Some(order) = single_generator_order(factor) {
            return Self { action: factor.clone(), order, wreath: None };
        }
        let orbits = faithful_orbits(factor);
        let points: Vec<Point> = orbits.iter().flatten().copied().collect();
        Self::of_faithful(factor.restricted_to(&points))
    }

    /// The same for an action on orbits none of which follows from others.
    pub(crate) fn of_faithful(action: Action) -> Self {
        if let [orbit] = &action.orbits()[..] {
            if let Some(blocks) = transposition_blocks(&action) {
                let quotient = order(&action.on_blocks(&blocks));
                let order = product(2..=blocks.size as u32).pow(blocks.count as u32) * quotient;
                return Self { action, order, wreath: Some((Inner::Symmetric, blocks)) };
            }
            if orbit.len() > SMALL_DEGREE
                && let Some((inner, blocks)) = local_wreath(&action)
            {
                let quotient = order(&action.on_blocks(&blocks));
                let order = order(&inner).pow(blocks.count as u32) * quotient;
                return Self { action, order, wreath: Some((Inner::Action(inner), blocks)) };
            }
        }
        let order = regular_images(&action)
            .map_or_else(|| StabiliserChain::of_action(&action, None).order(), |images| BigUint::from(images.count()));
        Self { action, order, wreath: None }
    }

    /// The order of an image of the group: an action that was made from its generators in their order.
    pub(crate) fn order_of_image(&self, image: &Action) -> BigUint {
        if let Some(order) = single_generator_order(image) {
            return order;
        }
        if image.orbits().len() == 1
            && let Some(blocks) = transposition_blocks(image)
        {
            let quotient = self.order_of_image(&image.on_blocks(&blocks));
            return product(2..=blocks.size as u32).pow(blocks.count as u32) * quotient;
        }
        if image.degree() <= SMALL_DEGREE {
            return StabiliserChain::of_action(image, None).order();
        }
        if self.wreath.is_some() {
            return order(image);
        }
        if let Some(images) = regular_images(image) {
            return BigUint::from(images.count());
        }
        // The group itself after its image: as many elements, which saves the verification, and base points
        // in the image as long as there is one that moves. What these give is the order of the image.
        let both = Action::side_by_side(&[image, &self.action]);
        let chain = StabiliserChain::of_action(&both, Some(&self.order));
        let of_image = |&(&base, _): &(&Point, u32)| (base as usize) < image.degree();
        product(chain.base().iter().zip(chain.orbit_lengths()).take_while(of_image).map(|(_, length)| length))
    }
}

/// The order of a group with one generator: the least common multiple of the lengths of its cycles.
pub(crate) fn single_generator_order(action: &Action) -> Option<BigUint> {
    let mut proper = action.generators().iter().filter(|generator| !generator.is_identity());
    let (generator, second) = (proper.next(), proper.next());
    if second.is_some() {
        return None;
    }
    Some(generator.map_or_else(|| BigUint::from(1u32), cycle_order))
}

/// The order of a permutation.
pub(crate) fn cycle_order(generator: &SparsePermutation) -> BigUint {
    let lengths: FxHashSet<usize> = generator.cycles().iter().map(Vec::len).collect();
    lengths.into_iter().fold(BigUint::from(1u32), |order, length| {
        let length = BigUint::from(length);
        let divisor = greatest_common_divisor(order.clone(), length.clone());
        order * (length / divisor)
    })
}

/// For a transitive action that contains a transposition: the blocks within which it contains all. Being
/// exchanged by a transposition of the group is an equivalence that the group preserves, so its classes are
/// blocks of equal size m, the group contains the full symmetric group on each, and is the wreath product of
/// it with the action on the blocks. The classes contain the block generated by one transposed pair, and
/// these are all when the quotient is looked at in turn.
pub(crate) fn transposition_blocks(action: &Action) -> Option<BlockSystem> {
    let pair = action.generators().iter().find_map(transposition_power)?;
    let orbit: Vec<Point> = (0..action.degree() as Point).collect();
    Some(action.block_system(&orbit, &pair))
}

/// The two points of a transposition among the powers of a permutation: there is one when exactly one cycle
/// has even length, and that length is two.
fn transposition_power(generator: &SparsePermutation) -> Option<[Point; 2]> {
    if generator.support().len() == 2 {
        return Some([generator.support()[0], generator.support()[1]]);
    }
    let mut found = None;
    for cycle in generator.cycles() {
        if cycle.len() % 2 == 0 {
            if cycle.len() != 2 || found.is_some() {
                return None;
            }
            found = Some([cycle[0], cycle[1]]);
        }
    }
    found
}

/// A wreath product by generators that move the points of one block only. The group lies in the wreath
/// product of what the stabiliser of a block does on it with the action on the blocks. If the generators
/// that stay within some block do all of that already, their conjugates do it in every block by itself, and
/// the group is the whole wreath product.
fn local_wreath(action: &Action) -> Option<(Action, BlockSystem)> {
    let generators = || action.generators().iter().filter(|generator| !generator.is_identity());
    let local = generators().min_by_key(|generator| generator.support().len())?;
    if local.support().len() * 2 > action.degree() {
        return None;
    }
    let orbit: Vec<Point> = (0..action.degree() as Point).collect();
    let blocks = action.block_system(&orbit, local.support());
    if blocks.count < 2 || blocks.size > LARGEST_LOCAL_BLOCK {
        return None;
    }
    let (all, within) = block_elements(action, &blocks);
    let inner = Action::new(blocks.size, all).watched(action.watch());
    let local = Action::new(blocks.size, within).watched(action.watch());
    (order(&inner) == order(&local)).then_some((inner, blocks))
}

/// The largest block that is looked into for generators that stay within it.
const LARGEST_LOCAL_BLOCK: usize = 2_000;

/// The generators that move a point of each block, and, for each block, where an element of the group that
/// takes the first block there takes each point of it.
pub(crate) fn block_coordinates(action: &Action, blocks: &BlockSystem) -> (Vec<Vec<u32>>, Vec<Vec<Point>>) {
    let members = blocks.blocks();
    let block_of = |point: Point| blocks.block_of(point).expect("the action is transitive") as usize;
    // Which generators move a point of a block.
    let mut movers: Vec<Vec<u32>> = vec![Vec::new(); blocks.count];
    for (index, generator) in action.generators().iter().enumerate() {
        for &point in generator.support() {
            let list = &mut movers[block_of(point)];
            if list.last() != Some(&(index as u32)) {
                list.push(index as u32);
            }
        }
    }
    let mut there: Vec<Vec<Point>> = vec![Vec::new(); blocks.count];
    there[0] = members[0].clone();
    let mut queue = vec![0usize];
    let mut next = 0;
    while next < queue.len() {
        let block = queue[next];
        next += 1;
        for &generator in &movers[block] {
            let images: Vec<Point> = there[block].iter().map(|&point| action.image(generator, point)).collect();
            let to = block_of(images[0]);
            if there[to].is_empty() {
                there[to] = images;
                queue.push(to);
            }
        }
    }
    (movers, there)
}

/// Generators of what the stabiliser of the first block does on it, whose points are numbered from zero; and
/// those of them that come from elements that move nothing else.
pub(crate) fn block_elements(
    action: &Action,
    blocks: &BlockSystem,
) -> (Vec<SparsePermutation>, Vec<SparsePermutation>) {
    let (movers, there) = block_coordinates(action, blocks);
    let block_of = |point: Point| blocks.block_of(point).expect("the action is transitive") as usize;
    // The name, in the first block, of each point.
    let mut names: Vec<Point> = vec![0; action.degree()];
    for images in &there {
        for (name, &point) in images.iter().enumerate() {
            names[point as usize] = name as Point;
        }
    }
    let (mut seen, mut seen_within) = (FxHashSet::default(), FxHashSet::default());
    let (mut all, mut within): (Vec<SparsePermutation>, Vec<SparsePermutation>) = (Vec::new(), Vec::new());
    for block in 0..blocks.count {
        for &index in &movers[block] {
            if action.watch().work(blocks.size as u64) {
                return (all, within);
            }
            let generator = &action.generators()[index as usize];
            let moves = there[block]
                .iter()
                .enumerate()
                .map(|(name, &point)| (name as Point, names[action.image(index, point) as usize]))
                .collect();
            let element = SparsePermutation::from_moves(moves).expect("an element acts on its block");
            if element.is_identity() {
                continue;
            }
            let is_local = generator.support().len() <= blocks.size
                && generator.support().iter().all(|&point| block_of(point) == block);
            if is_local && seen_within.insert(element.clone()) {
                within.push(element.clone());
            }
            if seen.insert(element.clone()) {
                all.push(element);
            }
        }
    }
    (all, within)
}

/// The elements of a group that is not much larger than its degree, one for each image of a tuple: a tuple of points with one of each orbit is
/// lengthened until no element but the identity fixes it, which is proved, so that there are as many elements
/// as images of the tuple. Nothing if these are too many.
///
/// The group acts regularly on the images of a tuple when the maps that commute with all generators are
/// transitive. There is such a map that takes the tuple to its image under a generator if that, continued
/// along the generators, contradicts itself nowhere; products of these maps then take it everywhere. A
/// contradiction gives an element that fixes the tuple, and a point that it moves.
pub(crate) fn regular_images(action: &Action) -> Option<TupleImages> {
    let generators: Vec<u32> = (0..action.generators().len() as u32)
        .filter(|&generator| !action.generators()[generator as usize].is_identity())
        .collect();
    let mut tuple: Vec<Point> = action.orbits().iter().map(|orbit| orbit[0]).collect();
    if generators.is_empty() {
        return None;
    }
    let steps = generators.len() * generators.len() * action.degree();
    if tuple.len() > LONGEST_TUPLE || steps > REGULAR_STEPS {
        return None;
    }
    let limit = (REGULAR_STEPS / (generators.len() * generators.len())).min(300 + 3 * action.degree());
    loop {
        let images = TupleImages::new(action, &generators, &tuple, limit)?;
        if action.watch().work(images.next.len() as u64) {
            return None;
        }
        match images.moved_by_stabiliser() {
            None => return Some(images),
            Some(point) => tuple.push(point),
        }
        if tuple.len() > LONGEST_TUPLE {
            return None;
        }
    }
}

/// The images of a tuple under a group.
#[derive(Debug, Clone)]
pub(crate) struct TupleImages {
    /// How many points a tuple has.
    pub(crate) length: usize,
    /// All images one after the other.
    pub(crate) tuples: Vec<Point>,
    /// For each image and each generator the image that follows.
    next: Vec<u32>,
    generators: usize,
}

impl TupleImages {
    fn new(action: &Action, generators: &[u32], tuple: &[Point], limit: usize) -> Option<Self> {
        let length = tuple.len();
        let mut numbers: FxHashMap<Box<[Point]>, u32> = FxHashMap::default();
        // Single points need no table.
        let mut number_of_point = vec![u32::MAX; if length == 1 { action.degree() } else { 0 }];
        let mut images = Self { length, tuples: tuple.to_vec(), next: Vec::new(), generators: generators.len() };
        match length {
            1 => number_of_point[tuple[0] as usize] = 0,
            _ => drop(numbers.insert(tuple.into(), 0)),
        }
        let mut at = 0;
        let mut image = vec![0; length];
        while at < images.count() {
            for &generator in generators {
                for (coordinate, image) in image.iter_mut().enumerate() {
                    *image = action.image(generator, images.tuples[at * length + coordinate]);
                }
                let new = images.count() as u32;
                let number = if length == 1 {
                    let known = &mut number_of_point[image[0] as usize];
                    if *known == u32::MAX {
                        *known = new;
                    }
                    *known
                } else if let Some(&known) = numbers.get(&image[..]) {
                    known
                } else {
                    numbers.insert(image.clone().into_boxed_slice(), new);
                    new
                };
                if number == new {
                    if images.count() == limit {
                        return None;
                    }
                    images.tuples.extend(&image);
                }
                images.next.push(number);
            }
            at += 1;
        }
        Some(images)
    }

    pub(crate) fn count(&self) -> usize {
        self.tuples.len() / self.length
    }

    fn next(&self, image: u32, generator: usize) -> u32 {
        self.next[image as usize * self.generators + generator]
    }

    /// A point that an element moves which fixes the tuple; nothing if there is none among its points and
    /// their images.
    fn moved_by_stabiliser(&self) -> Option<Point> {
        (0..self.generators).find_map(|first| self.commuting_map(first).err())
    }

    /// The maps of images to images that commute with the group, one for each generator: they take the first
    /// image where the generator takes it. The group must act regularly on the images.
    pub(crate) fn commuting_maps(&self) -> Vec<Vec<u32>> {
        (0..self.generators).filter_map(|first| self.commuting_map(first).ok()).collect()
    }

    /// The map that commutes with the group and takes the first image where a generator takes it; or a point
    /// that an element moves which fixes the tuple.
    fn commuting_map(&self, first: usize) -> Result<Vec<u32>, Point> {
        let mut map = vec![u32::MAX; self.count()];
        map[0] = self.next(0, first);
        // The images are numbered in order of discovery, so that each is mapped when it is its turn.
        for image in 0..self.count() as u32 {
            for generator in 0..self.generators {
                let from = self.next(image, generator);
                let to = self.next(map[image as usize], generator);
                let known = map[from as usize];
                if known == u32::MAX {
                    map[from as usize] = to;
                } else if known != to {
                    // Two words lead from the tuple to the same image, but apart from its image under the
                    // first generator: one and the inverse of the other fix the tuple and not that.
                    let tuple = |image: u32| &self.tuples[image as usize * self.length..][..self.length];
                    let differ = |&coordinate: &usize| tuple(known)[coordinate] != tuple(to)[coordinate];
                    let coordinate = (0..self.length).find(differ).expect("different images differ");
                    return Err(tuple(self.next(0, first))[coordinate]);
                }
            }
        }
        Ok(map)
    }
}

/// The generators that are not the identity, with one image stored a point.
pub(crate) fn proper_generators(action: &Action) -> Vec<Permutation> {
    action.dense_generators().into_iter().filter(|generator| !generator.is_identity()).collect()
}
