//! The search for a canonical image, level by level of the chain.

use super::{ImageSearch, members::Members};
use crate::{OrbitPartition, Point, SparsePermutation};
use num_bigint::BigUint;

/// Working memory for searches, and the result of the last one.
#[derive(Debug, Clone, Default)]
pub struct ImageScratch {
    /// One for each level and one for the end.
    frames: Vec<Frame>,
    /// The members chosen at branch points, by their original numbers.
    path: Vec<Point>,
    /// The members chosen at each level, by their numbers at that level.
    choices: Vec<Point>,
    /// The trace of the best result so far, level by level.
    best_trace: Vec<u64>,
    best: Best,
    /// Whether the current path is better than the best result, or there is none.
    is_fresh: bool,
    /// Symmetries of the set, on the members.
    automorphisms: Vec<Box<[Point]>>,
    /// The number attached to each point of the set.
    burdens: Vec<u64>,
    /// For each point, one more than its position in the set, or zero.
    marks: Vec<u32>,
    sorted: Vec<(Point, u64)>,
    refinement: Refinement,
}

/// The best result so far.
#[derive(Debug, Clone, Default)]
struct Best {
    /// The image of each point of the set.
    set: Vec<Point>,
    /// The same with the attached numbers, in increasing order.
    sorted: Vec<(Point, u64)>,
    /// The inverse of the element on the members.
    inverse: Vec<Point>,
    path: Vec<Point>,
    choices: Vec<Point>,
    /// For each member of the path, the size of its class of equal candidates at that point.
    equals: Vec<u32>,
    /// The content of the image at each point.
    contents: Vec<Content>,
}

/// The set after some levels: everything is renamed by the elements chosen so far.
#[derive(Debug, Clone, Default)]
struct Frame {
    /// The points of the set, numbered after the members.
    set: Vec<Point>,
    /// The name of each original member in this frame.
    members: Vec<Point>,
    /// For each member of this frame, the number of members with a lesser colour.
    colours: Vec<u32>,
    /// The number of colours.
    cells: usize,
    is_discrete: bool,
    /// The original members to try here.
    candidates: Vec<Point>,
    /// Classes of members that symmetries of the set map to each other.
    equals: OrbitPartition,
    /// The content of the image at each point, if the next choice is the last.
    contents: Vec<Content>,
}

/// The content of a set at a point: whether it is empty, and the attached number. Nonempty comes before empty.
type Content = (bool, u64);

const NOTHING: Content = (true, 0);

#[derive(Debug, Clone, Default)]
struct Refinement {
    signatures: Vec<u64>,
    /// Colour, signature and member, sorted.
    order: Vec<(u32, u64, Point)>,
    sizes: Vec<u32>,
}

/// Mixes two numbers so that sums of results distinguish multisets.
#[inline]
fn mix(left: u64, right: u64) -> u64 {
    let mut mixed = (left ^ right.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^= mixed >> 32;
    mixed = mixed.wrapping_add(right).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

impl Refinement {
    /// Splits the colours by orbits, by the set and by the static incidences, until nothing changes. Returns a number
    /// that is equal for frames that an element of the group maps to each other.
    fn refine(&mut self, members: &Members, orbits: &[u32], burdens: &[u64], frame: &mut Frame) -> u64 {
        let count = frame.colours.len();
        let Self { signatures, order, .. } = self;
        let mut trace = 0;
        let mut cells = frame.cells;
        loop {
            signatures.clear();
            signatures.extend(orbits.iter().map(|&orbit| u64::from(orbit)));
            for (&number, &burden) in frame.set.iter().zip(burdens) {
                let point = number - count as Point;
                let incident = members.of_points.of(point);
                let mut seen = mix(u64::from(members.orbit_of_point[point as usize]), burden.wrapping_add(1));
                for &(role, member) in incident {
                    seen = seen.wrapping_add(mix(u64::from(role) + 2, u64::from(frame.colours[member as usize]) + 1));
                }
                for &(role, member) in incident {
                    let signature = &mut signatures[member as usize];
                    *signature = signature.wrapping_add(mix(seen, u64::from(role) + 1));
                }
            }
            for (member, signature) in signatures.iter_mut().enumerate() {
                for &(role, other) in members.of_members.of(member as Point) {
                    let colour = u64::from(frame.colours[other as usize]);
                    *signature = signature.wrapping_add(mix(u64::from(role) << 32 | colour, 7));
                }
            }
            order.clear();
            order.extend((0..count).map(|member| (frame.colours[member], signatures[member], member as Point)));
            order.sort_unstable();
            let before = cells;
            cells = 0;
            let mut first = 0;
            let mut last = None;
            for (position, &(colour, signature, member)) in order.iter().enumerate() {
                if last != Some((colour, signature)) {
                    last = Some((colour, signature));
                    first = position as u32;
                    cells += 1;
                    trace = mix(trace, mix(u64::from(colour), signature));
                }
                frame.colours[member as usize] = first;
            }
            trace = mix(trace, cells as u64);
            if cells == count || cells == before {
                frame.is_discrete = cells == count;
                frame.cells = cells;
                return trace;
            }
        }
    }

    /// The first of the smallest cells among the members of the base point's orbit.
    fn smallest_cell(&mut self, orbits: &[u32], base: Point, colours: &[u32]) -> (u32, u32) {
        self.sizes.clear();
        self.sizes.resize(colours.len(), 0);
        for (member, &colour) in colours.iter().enumerate() {
            if orbits[member] == orbits[base as usize] {
                self.sizes[colour as usize] += 1;
            }
        }
        let mut best = (u32::MAX, 0);
        for (colour, &size) in self.sizes.iter().enumerate() {
            if size > 0 && size < best.0 {
                best = (size, colour as u32);
                if size == 1 {
                    break;
                }
            }
        }
        best
    }
}

impl ImageScratch {
    /// Takes into account the symmetries found since the last call that fix the members chosen so far.
    fn learn(&mut self, level: usize, known: &mut usize) {
        let Self { automorphisms, path, frames, .. } = self;
        for automorphism in &automorphisms[*known..] {
            if path.iter().all(|&member| automorphism[member as usize] == member) {
                let moves = automorphism.iter().enumerate().filter(|&(member, &image)| image != member as Point);
                for (member, &image) in moves {
                    frames[level].equals.merge(member as Point, image);
                }
            }
        }
        *known = automorphisms.len();
    }

    /// The images of the points of the last set, in the order they were given.
    pub fn images(&self, search: &ImageSearch) -> impl Iterator<Item = Point> + '_ {
        let members = search.member_count() as Point;
        self.best.set.iter().map(move |&number| number - members)
    }

    /// The order of the last set's stabiliser.
    pub fn stabiliser_order(&self) -> BigUint {
        self.best.equals.iter().map(|&equals| BigUint::from(equals)).product()
    }

    /// An element that maps the last set to its canonical image.
    pub fn element(&self, search: &ImageSearch) -> SparsePermutation {
        search.product(&self.best.choices)
    }
}

impl ImageSearch {
    /// Finds the canonical image of a set of points, each with an attached number; the result is read from the working
    /// memory.
    pub fn search(&self, scratch: &mut ImageScratch, set: impl Iterator<Item = (Point, u64)>) {
        let count = self.member_count();
        scratch.frames.resize_with(self.levels.len() + 1, Frame::default);
        scratch.best_trace.clear();
        scratch.best_trace.resize(self.levels.len() + 1, 0);
        scratch.path.clear();
        scratch.choices.clear();
        scratch.automorphisms.clear();
        scratch.is_fresh = true;
        let ImageScratch { frames, refinement, burdens, .. } = scratch;
        let frame = &mut frames[0];
        frame.set.clear();
        burdens.clear();
        for (point, burden) in set {
            frame.set.push(point + count as Point);
            burdens.push(burden);
        }
        frame.members.clear();
        frame.members.extend(0..count as Point);
        frame.colours.clear();
        frame.colours.resize(count, 0);
        frame.is_discrete = false;
        frame.cells = 0;
        if !self.levels.is_empty() {
            refinement.refine(&self.members, &self.members.orbit_of_member, burdens, frame);
        }
        if !scratch.frames[0].is_discrete {
            self.try_exchanges(scratch);
        }
        self.visit(scratch, 0);
    }

    /// Finds exchanges that preserve the set: enough to generate all of them.
    fn try_exchanges(&self, scratch: &mut ImageScratch) {
        if self.exchanges.is_empty() {
            return;
        }
        let count = self.member_count() as Point;
        let ImageScratch { frames, marks, burdens, automorphisms, .. } = scratch;
        marks.clear();
        marks.resize(self.points, 0);
        for (place, &number) in frames[0].set.iter().enumerate() {
            marks[(number - count) as usize] = place as u32 + 1;
        }
        let content = |point: Point| marks[point as usize].checked_sub(1).map(|place| burdens[place as usize]);
        let colours = &frames[0].colours;
        let mut alike = OrbitPartition::new(count as usize);
        // Members are tried in increasing order, and symmetries must fix those already chosen, so everything is
        // exchanged with the last object of its class.
        for exchange in self.exchanges.iter().rev() {
            let (first, second) = exchange.pair;
            if colours[first as usize] == colours[second as usize]
                && alike.find(first) != alike.find(second)
                && exchange.points.iter().all(|&(from, to)| content(from) == content(to))
            {
                alike.merge(first, second);
                automorphisms.push(exchange.members.clone());
            }
        }
    }

    /// Explores everything below a frame. Returns a depth to backtrack to if everything below that depth's current
    /// choice is known to be redundant. The recursion is as deep as there are choices.
    fn visit(&self, scratch: &mut ImageScratch, mut level: usize) -> Option<usize> {
        // With a single candidate there is nothing to backtrack to.
        let start = scratch.choices.len();
        let mut result = None;
        loop {
            let Some(entry) = self.levels.get(level) else {
                result = self.leaf(scratch);
                break;
            };
            let ImageScratch { frames, refinement, .. } = scratch;
            let frame = &mut frames[level];
            let (size, cell) = refinement.smallest_cell(&entry.orbits, entry.base, &frame.colours);
            if size == 1 {
                let member = frame.colours.iter().position(|&colour| colour == cell).expect("the cell has a member");
                if !self.descend(scratch, level, member as Point) {
                    break;
                }
                level += 1;
                continue;
            }
            frame.candidates.clear();
            let colours = &frame.colours;
            frame.candidates.extend(
                (0..frame.members.len() as Point)
                    .filter(|&member| colours[frame.members[member as usize] as usize] == cell),
            );
            result = self.branch(scratch, level);
            break;
        }
        scratch.choices.truncate(start);
        result
    }

    fn branch(&self, scratch: &mut ImageScratch, level: usize) -> Option<usize> {
        let depth = scratch.path.len();
        let is_last = level + 1 == self.levels.len();
        if is_last {
            let count = self.member_count();
            let ImageScratch { frames, burdens, .. } = scratch;
            let Frame { set, contents, .. } = &mut frames[level];
            contents.clear();
            contents.resize(self.points, NOTHING);
            for (&number, &burden) in set.iter().zip(burdens.iter()) {
                contents[number as usize - count] = (false, burden);
            }
        }
        scratch.frames[level].equals.reset(self.member_count());
        let mut known = 0;
        let mut next = 0;
        while let Some(&candidate) = scratch.frames[level].candidates.get(next) {
            scratch.learn(level, &mut known);
            let Frame { candidates, equals, members, contents, .. } = &mut scratch.frames[level];
            let tried = &candidates[..next];
            let class = equals.find(candidate);
            next += 1;
            if known > 0 && tried.iter().any(|&other| equals.find(other) == class) {
                continue;
            }
            let member = members[candidate as usize];
            if is_last && !scratch.is_fresh && self.is_worse(level, member, contents, &scratch.best.contents) {
                continue;
            }
            if self.descend(scratch, level, member) {
                scratch.path.push(candidate);
                let back = self.visit(scratch, level + 1);
                scratch.path.pop();
                scratch.choices.pop();
                if let Some(back) = back
                    && back < depth
                {
                    return Some(back);
                }
            }
        }
        // Symmetries found at the last candidate count as well.
        scratch.learn(level, &mut known);
        let best = &mut scratch.best;
        if best.path.len() > depth && best.path[..depth] == scratch.path[..] {
            best.equals[depth] = scratch.frames[level].equals.class_size(best.path[depth]);
        }
        None
    }

    /// Whether the image under the last element to be chosen is worse than the best so far, as far as this can be
    /// decided without computing all of it.
    fn is_worse(&self, level: usize, member: Point, contents: &[Content], best: &[Content]) -> bool {
        let Some(inverse) = self.inverse(level, member) else { return false };
        let count = self.member_count();
        for (&point, best) in inverse[count..].iter().zip(best) {
            let here = &contents[point as usize - count];
            if here != best {
                return here > best;
            }
        }
        false
    }

    /// Makes the frame of the next level by mapping a member to the base point. False if the result cannot be as good
    /// as the best.
    fn descend(&self, scratch: &mut ImageScratch, level: usize, member: Point) -> bool {
        let ImageScratch { frames, refinement, best_trace, is_fresh, choices, burdens, .. } = scratch;
        let (above, below) = frames.split_at_mut(level + 1);
        let (frame, next) = (&above[level], &mut below[0]);
        let count = self.member_count();
        next.set.clone_from(&frame.set);
        self.apply(level, member, &mut next.set);
        next.members.clone_from(&frame.members);
        self.apply(level, member, &mut next.members);
        next.is_discrete = frame.is_discrete;
        next.cells = frame.cells;
        let mut trace = 0;
        if let Some(following) = self.levels.get(level + 1) {
            // The colours move with the members.
            next.colours.clear();
            next.colours.resize(count, 0);
            for original in 0..count {
                next.colours[next.members[original] as usize] = frame.colours[frame.members[original] as usize];
            }
            if !next.is_discrete {
                let base = self.levels[level].base as usize;
                let colour = next.colours[base];
                let mut alone = true;
                for (member, other) in next.colours.iter_mut().enumerate().filter(|(_, other)| **other == colour) {
                    alone &= member == base;
                    *other += 1;
                }
                next.colours[base] = colour;
                next.cells += usize::from(!alone);
                trace = refinement.refine(&self.members, &following.orbits, burdens, next);
            }
        }
        if *is_fresh || trace < best_trace[level + 1] {
            *is_fresh = true;
            best_trace[level + 1] = trace;
        } else if trace > best_trace[level + 1] {
            return false;
        }
        choices.push(member);
        true
    }

    fn leaf(&self, scratch: &mut ImageScratch) -> Option<usize> {
        let frame = &scratch.frames[self.levels.len()];
        scratch.sorted.clear();
        scratch.sorted.extend(frame.set.iter().copied().zip(scratch.burdens.iter().copied()));
        scratch.sorted.sort_unstable();
        let best = &mut scratch.best;
        if scratch.is_fresh || scratch.sorted < best.sorted {
            scratch.is_fresh = false;
            best.set.clone_from(&frame.set);
            best.sorted.clone_from(&scratch.sorted);
            best.path.clone_from(&scratch.path);
            best.choices.clone_from(&scratch.choices);
            best.inverse.clear();
            best.inverse.resize(frame.members.len(), 0);
            for (original, &member) in frame.members.iter().enumerate() {
                best.inverse[member as usize] = original as Point;
            }
            best.equals.clear();
            best.equals.resize(best.path.len(), 1);
            best.contents.clear();
            best.contents.resize(self.points, NOTHING);
            let count = self.member_count();
            for &(number, burden) in &best.sorted {
                best.contents[number as usize - count] = (false, burden);
            }
            return None;
        }
        if scratch.sorted > best.sorted {
            return None;
        }
        let automorphism = frame.members.iter().map(|&member| best.inverse[member as usize]).collect();
        scratch.automorphisms.push(automorphism);
        Some(scratch.path.iter().zip(&best.path).take_while(|(left, right)| left == right).count())
    }
}
