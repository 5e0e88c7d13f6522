//! Membership tests and random elements for a group, by the structure of the group: rotations, wreath products, small
//! groups by all their elements, and a stabiliser chain for the rest. Orbits that are determined by others are checked
//! last, through the maps that determine them (see `reduction`).
//!
//! A test costs about the degree of the permutation, whatever the order of the group, unless a chain is needed.

use crate::action::{Action, BlockSystem};
use crate::chain::StabiliserChain;
use crate::order::{Inner, Reduced, TupleImages, block_coordinates, regular_images, single_generator_order};
use crate::random::Random;
use crate::reduction::{Determined, reduce};
use crate::{Permutation, Point};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// Not a point.
const NOWHERE: Point = Point::MAX;

/// A membership test and source of random elements for a group.
pub(crate) struct Membership {
    degree: usize,
    /// Factors with disjoint supports: their points, and the group on these, numbered in that order.
    factors: Vec<(Vec<Point>, Connected)>,
}

/// A group whose generators do not split into factors with disjoint supports.
struct Connected {
    /// The points on which it acts faithfully, and its structure there, numbered in that order.
    core: Vec<Point>,
    kind: Kind,
    determined: Vec<Lifting>,
}

/// The structure of a group.
enum Kind {
    /// The powers of a permutation with these cycles.
    Cyclic { cycles: Vec<Vec<Point>>, order: BigUint },
    /// A wreath product.
    Wreath(Wreath),
    /// A group with one element for each image of a tuple.
    Regular(Regular),
    /// Any other group.
    Chain(StabiliserChain),
}

struct Wreath {
    /// For each block its points, ordered so that equal positions correspond.
    there: Vec<Vec<Point>>,
    /// The block of each point and its position there.
    place: Vec<(Point, Point)>,
    /// The group that acts within a block, on positions; `None` for the full symmetric group.
    inner: Option<Box<Membership>>,
    outer: Box<Membership>,
}

struct Regular {
    images: TupleImages,
    numbers: FxHashMap<Box<[Point]>, u32>,
    /// Maps of images that commute with the group and together map the first image to all others.
    commuting: Vec<Vec<u32>>,
}

/// An orbit determined by others.
struct Lifting {
    by: Determined,
    points_by_value: FxHashMap<Vec<Point>, Point>,
}

impl Membership {
    pub(crate) fn new(action: &Action) -> Self {
        let factors = action.disjoint_factors().into_iter();
        let factors = factors.map(|(points, factor)| (points, Connected::new(&factor))).collect();
        Self { degree: action.degree(), factors }
    }

    /// Whether the permutation with these images is in the group.
    pub(crate) fn contains(&self, images: &[Point]) -> bool {
        let mut place = vec![(NOWHERE, NOWHERE); self.degree];
        for (number, (points, _)) in self.factors.iter().enumerate() {
            for (name, &point) in points.iter().enumerate() {
                place[point as usize] = (number as Point, name as Point);
            }
        }
        let mut accounted = 0;
        for (number, (points, factor)) in self.factors.iter().enumerate() {
            let mut own: Vec<Point> = Vec::with_capacity(points.len());
            for &point in points {
                let (other, name) = place[images[point as usize] as usize];
                if other as usize != number {
                    return false;
                }
                own.push(name);
            }
            if !factor.contains(&own) {
                return false;
            }
            accounted += points.iter().filter(|&&point| images[point as usize] != point).count();
        }
        accounted == images.iter().enumerate().filter(|&(point, &image)| point as Point != image).count()
    }

    /// The images of a uniformly random element.
    pub(crate) fn random_images(&self, random: &mut Random) -> Vec<Point> {
        let mut images: Vec<Point> = (0..self.degree as Point).collect();
        for (points, factor) in &self.factors {
            for (number, image) in factor.random_images(points.len(), random).into_iter().enumerate() {
                images[points[number] as usize] = points[image as usize];
            }
        }
        images
    }
}

impl Connected {
    fn new(action: &Action) -> Self {
        let generator = action.generators().iter().find(|generator| !generator.is_identity());
        if let (Some(generator), Some(order)) = (generator, single_generator_order(action)) {
            let core = (0..action.degree() as Point).collect();
            let kind = Kind::Cyclic { cycles: generator.cycles(), order };
            return Self { core, kind, determined: Vec::new() };
        }
        let reduction = reduce(action);
        let mut core: Vec<Point> = reduction.kept.into_iter().flatten().collect();
        core.sort_unstable();
        let reduced = Reduced::of_faithful(action.restricted_to(&core));
        let kind = match reduced.wreath {
            Some((inner, blocks)) => Kind::Wreath(Wreath::new(&reduced.action, &blocks, inner)),
            None => match regular_images(&reduced.action) {
                Some(images) => Kind::Regular(Regular::new(images)),
                None => Kind::Chain(StabiliserChain::of_action(&reduced.action, Some(&reduced.order))),
            },
        };
        let determined = reduction.determined.into_iter().map(Lifting::new).collect();
        Self { core, kind, determined }
    }

    fn contains(&self, images: &[Point]) -> bool {
        let mut name = vec![NOWHERE; images.len()];
        for (number, &point) in self.core.iter().enumerate() {
            name[point as usize] = number as Point;
        }
        let own: Vec<Point> = self.core.iter().map(|&point| name[images[point as usize] as usize]).collect();
        !own.contains(&NOWHERE)
            && self.kind.contains(own)
            && self.determined.iter().all(|lifting| {
                let by = &lifting.by;
                by.points.iter().zip(&by.values).all(|(&point, value)| {
                    lifting.points_by_value.get(&by.image(value, images)) == Some(&images[point as usize])
                })
            })
    }

    fn random_images(&self, degree: usize, random: &mut Random) -> Vec<Point> {
        let mut images: Vec<Point> = (0..degree as Point).collect();
        for (number, image) in self.kind.random_images(self.core.len(), random).into_iter().enumerate() {
            images[self.core[number] as usize] = self.core[image as usize];
        }
        for lifting in &self.determined {
            for (&point, value) in lifting.by.points.iter().zip(&lifting.by.values) {
                images[point as usize] = lifting.points_by_value[&lifting.by.image(value, &images)];
            }
        }
        images
    }
}

impl Lifting {
    fn new(by: Determined) -> Self {
        let points_by_value = by.values.iter().cloned().zip(by.points.iter().copied()).collect();
        Self { by, points_by_value }
    }
}

impl Determined {
    /// The image of the values at a point.
    fn image(&self, values: &[Point], images: &[Point]) -> Vec<Point> {
        let mut image: Vec<Point> = values.iter().map(|&point| images[point as usize]).collect();
        let mut rest = &mut image[..];
        for &size in &self.sizes {
            let (value, others) = rest.split_at_mut(size);
            value.sort_unstable();
            rest = others;
        }
        image
    }
}

impl Kind {
    fn contains(&self, images: Vec<Point>) -> bool {
        match self {
            Self::Cyclic { cycles, .. } => is_power(cycles, &images),
            Self::Wreath(wreath) => wreath.contains(&images),
            Self::Regular(regular) => regular.contains(&images),
            Self::Chain(chain) => chain.contains(&Permutation::from_images_unchecked(images)),
        }
    }

    fn random_images(&self, degree: usize, random: &mut Random) -> Vec<Point> {
        match self {
            Self::Cyclic { cycles, order } => random_power(cycles, order, degree, random),
            Self::Wreath(wreath) => wreath.random_images(degree, random),
            Self::Regular(regular) => regular.random_images(degree, random),
            Self::Chain(chain) => chain.random_element(random).images().to_vec(),
        }
    }
}

/// Whether some power of the permutation with these cycles has these images.
fn is_power(cycles: &[Vec<Point>], images: &[Point]) -> bool {
    // The shift of each cycle: the same for cycles of equal length.
    let mut turns: FxHashMap<usize, usize> = FxHashMap::default();
    for cycle in cycles {
        let length = cycle.len();
        let turn = match turns.get(&length) {
            Some(&turn) => turn,
            None => match cycle.iter().position(|&point| point == images[cycle[0] as usize]) {
                Some(turn) => turn,
                None => return false,
            },
        };
        turns.insert(length, turn);
        let follows = |(place, &point): (usize, &Point)| images[point as usize] == cycle[(place + turn) % length];
        if !cycle.iter().enumerate().all(follows) {
            return false;
        }
    }
    // A power with all these shifts exists if one exists for any two of them (the Chinese remainder theorem).
    let turns: Vec<(usize, usize)> = turns.into_iter().collect();
    turns.iter().enumerate().all(|(index, &(length, turn))| {
        turns[..index].iter().all(|&(other, other_turn)| {
            let divisor = common_divisor(length, other);
            turn % divisor == other_turn % divisor
        })
    })
}

fn common_divisor(mut left: usize, mut right: usize) -> usize {
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn random_power(cycles: &[Vec<Point>], order: &BigUint, degree: usize, random: &mut Random) -> Vec<Point> {
    // Random numbers with as many bits as the order, until one is below it.
    let bits = order.bits();
    let exponent = loop {
        let words = bits.div_ceil(32);
        let digits = (0..words).map(|word| {
            let used = (bits - 32 * word).min(32);
            (random.number() >> (64 - used)) as u32
        });
        let number = BigUint::new(digits.collect());
        if number < *order {
            break number;
        }
    };
    let mut images: Vec<Point> = (0..degree as Point).collect();
    let mut turns: FxHashMap<usize, usize> = FxHashMap::default();
    for cycle in cycles {
        let turn = *turns.entry(cycle.len()).or_insert_with(|| {
            let turn = &exponent % BigUint::from(cycle.len());
            turn.try_into().expect("less than the length of a cycle")
        });
        for (place, &point) in cycle.iter().enumerate() {
            images[point as usize] = cycle[(place + turn) % cycle.len()];
        }
    }
    images
}

impl Wreath {
    fn new(action: &Action, blocks: &BlockSystem, inner: Inner) -> Self {
        let (there, inner) = match inner {
            Inner::Symmetric => (blocks.blocks(), None),
            Inner::Action(inner) => (block_coordinates(action, blocks).1, Some(Box::new(Membership::new(&inner)))),
        };
        let mut place = vec![(NOWHERE, NOWHERE); action.degree()];
        for (block, points) in there.iter().enumerate() {
            for (number, &point) in points.iter().enumerate() {
                place[point as usize] = (block as Point, number as Point);
            }
        }
        Self { there, place, inner, outer: Box::new(Membership::new(&action.on_blocks(blocks))) }
    }

    fn contains(&self, images: &[Point]) -> bool {
        let mut outer = Vec::with_capacity(self.there.len());
        for points in &self.there {
            let (block, _) = self.place[images[points[0] as usize] as usize];
            let mut within = Vec::with_capacity(points.len());
            for &point in points {
                let (other, place) = self.place[images[point as usize] as usize];
                if other != block {
                    return false;
                }
                within.push(place);
            }
            if self.inner.as_ref().is_some_and(|inner| !inner.contains(&within)) {
                return false;
            }
            outer.push(block);
        }
        self.outer.contains(&outer)
    }

    fn random_images(&self, degree: usize, random: &mut Random) -> Vec<Point> {
        let mut images = vec![0; degree];
        for (points, block) in self.there.iter().zip(self.outer.random_images(random)) {
            let within = match &self.inner {
                Some(inner) => inner.random_images(random),
                None => {
                    let mut within: Vec<Point> = (0..points.len() as Point).collect();
                    random.shuffle(&mut within);
                    within
                }
            };
            for (&point, place) in points.iter().zip(within) {
                images[point as usize] = self.there[block as usize][place as usize];
            }
        }
        images
    }
}

impl Regular {
    fn new(images: TupleImages) -> Self {
        let tuples = images.tuples.chunks(images.length).enumerate();
        let numbers = tuples.map(|(number, tuple)| (tuple.into(), number as u32)).collect();
        Self { commuting: images.commuting_maps(), images, numbers }
    }

    /// A permutation that commutes with the centraliser of a regular group is in the group.
    fn contains(&self, images: &[Point]) -> bool {
        let tuples = self.images.tuples.chunks(self.images.length);
        let numbers: Option<Vec<u32>> = tuples
            .map(|tuple| {
                let image: Box<[Point]> = tuple.iter().map(|&point| images[point as usize]).collect();
                self.numbers.get(&image).copied()
            })
            .collect();
        numbers.is_some_and(|numbers| {
            self.commuting.iter().all(|map| {
                let commutes = |(number, &to): (usize, &u32)| numbers[to as usize] == map[numbers[number] as usize];
                map.iter().enumerate().all(commutes)
            })
        })
    }

    fn random_images(&self, degree: usize, random: &mut Random) -> Vec<Point> {
        let count = self.images.count();
        let mut numbers = vec![u32::MAX; count];
        numbers[0] = random.below(count) as u32;
        // The centraliser maps the first image to all others.
        let mut queue = vec![0u32];
        let mut next = 0;
        while next < queue.len() {
            let number = queue[next];
            next += 1;
            for map in &self.commuting {
                let to = map[number as usize];
                if numbers[to as usize] == u32::MAX {
                    numbers[to as usize] = map[numbers[number as usize] as usize];
                    queue.push(to);
                }
            }
        }
        let mut images: Vec<Point> = (0..degree as Point).collect();
        let tuple = |number: usize| &self.images.tuples[number * self.images.length..][..self.images.length];
        for (number, &to) in numbers.iter().enumerate() {
            for (&point, &image) in tuple(number).iter().zip(tuple(to as usize)) {
                images[point as usize] = image;
            }
        }
        images
    }
}
