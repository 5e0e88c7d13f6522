//! From a branch beside the first path to the automorphism it suggests.
//!
//! The map takes each vertex that is a singleton on the first path to the singleton at the same position of the branch,
//! and every vertex that is in the same cell on both sides to itself. This may leave vertices open: an exchange of two
//! processes moves all rules of the one to the rules of the other, long before refinement has distinguished these
//! rules. Each open vertex is matched with the one vertex of its cell whose neighbours include the images of its known
//! neighbours, in waves that spread from what is known. If several vertices are alike, they are matched in order, one
//! cell at a time. This is right if they are interchangeable, as the subtrees at a vertex of a tree are. It is a guess;
//! the verification at the end confirms or rejects it.

use super::partition::{Difference, Partition};
use crate::{ColouredGraph, Point, SparsePermutation};

const UNKNOWN: Point = Point::MAX;

/// The number of vertices that may be examined for each event that completing the branch would cost.
const WORK_PER_EVENT: usize = 1;

/// Working memory for guesses.
#[derive(Debug, Default)]
pub(super) struct Guess {
    /// The image of each vertex: itself if it is not misplaced, `UNKNOWN` while it is open.
    image: Vec<Point>,
    /// Whether a vertex is already an image, as those that are not misplaced are.
    taken: Vec<bool>,
    /// Marks for the verification: a vertex is marked if its entry equals `mark`.
    marks: Vec<u32>,
    mark: u32,
    /// The vertices to be mapped.
    domain: Side,
    /// The vertices to be mapped to.
    range: Side,
    matched: Vec<(Point, Point)>,
    table: Vec<Slot>,
}

/// The vertices with a given key, on both sides.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    /// The number of vertices of the domain; zero if the slot is empty.
    count: u32,
    /// The number of vertices of the range.
    targets: u32,
    /// The last vertex of the range.
    target: Point,
}

/// The open vertices of one side.
#[derive(Debug, Default)]
struct Side {
    /// For each open vertex, a hash of its cell and of the known images around it.
    keys: Vec<u64>,
    /// The wave that last reached the vertex.
    waves: Vec<u32>,
    /// All vertices open at the start, with their cells.
    open: Vec<(Point, u32)>,
    /// The open vertices that the current wave reached, with their keys.
    reached: Vec<(u64, Point)>,
}

impl Side {
    fn new(vertices: usize) -> Self {
        Self { keys: vec![0; vertices], waves: vec![0; vertices], open: Vec::new(), reached: Vec::new() }
    }

    /// Adds a known image to the key of a vertex.
    fn reach(&mut self, vertex: Point, image: Point, wave: u32) {
        let key = &mut self.keys[vertex as usize];
        *key = key.wrapping_add(mix(image));
        if self.waves[vertex as usize] != wave {
            self.waves[vertex as usize] = wave;
            self.reached.push((0, vertex));
        }
    }

    /// Fills in the keys of the vertices reached.
    fn update_reached(&mut self) {
        for (key, vertex) in &mut self.reached {
            *key = self.keys[*vertex as usize];
        }
    }
}

#[inline]
fn mix(number: u32) -> u64 {
    let mixed = (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// The key of a vertex of that cell without known neighbours.
fn bare_key(cell: u32) -> u64 {
    mix(!cell)
}

impl Guess {
    pub(super) fn new(vertices: usize) -> Self {
        Self {
            image: (0..vertices as Point).collect(),
            taken: vec![true; vertices],
            marks: vec![0; vertices],
            domain: Side::new(vertices),
            range: Side::new(vertices),
            ..Self::default()
        }
    }

    /// The automorphism of the current branch, if the map can be completed and is one. `events` is the number of events
    /// from the branch to its leaf: a guess should not cost more than going there.
    pub(super) fn automorphism(
        &mut self,
        graph: &ColouredGraph,
        partition: &Partition,
        events: usize,
    ) -> Option<SparsePermutation> {
        let difference = partition.difference.as_ref().expect("set with the reference");
        let found = if self.complete(graph, partition, difference, events) && self.verify(graph, difference) {
            let mut moves: Vec<(Point, Point)> =
                difference.misplaced.iter().map(|&vertex| (vertex, self.image[vertex as usize])).collect();
            moves.sort_unstable();
            SparsePermutation::from_moves(moves).ok()
        } else {
            None
        };
        for &vertex in &difference.misplaced {
            self.image[vertex as usize] = vertex;
            self.taken[vertex as usize] = true;
        }
        for side in [&mut self.domain, &mut self.range] {
            for (vertex, _) in side.open.drain(..) {
                side.waves[vertex as usize] = 0;
            }
            side.reached.clear();
        }
        found
    }

    /// Fills in the images of all misplaced vertices; false if some remain unknown.
    fn complete(
        &mut self,
        graph: &ColouredGraph,
        partition: &Partition,
        difference: &Difference,
        events: usize,
    ) -> bool {
        for &vertex in &difference.misplaced {
            self.image[vertex as usize] = UNKNOWN;
            self.taken[vertex as usize] = false;
        }
        for &vertex in &difference.misplaced {
            // The cell of the branch at the vertex's position on the first path.
            let position = partition.places[vertex as usize].reference;
            let target = partition.order[position as usize];
            let cell = partition.places[target as usize].cell;
            if partition.length(cell) == 1 {
                self.image[vertex as usize] = target;
                self.taken[target as usize] = true;
            } else {
                self.domain.open.push((vertex, cell));
            }
            let cell = partition.places[vertex as usize].cell;
            if partition.length(cell) > 1 {
                self.range.open.push((vertex, cell));
            }
        }
        let mut budget = events.saturating_mul(WORK_PER_EVENT);
        let mut remaining = self.domain.open.len();
        // If nearly everything moves, there is little to spread from.
        if remaining > 0 && (remaining > budget || remaining > self.image.len() / 4 * 3) {
            return false;
        }
        self.collect_keys(graph);
        let mut wave = 1;
        while remaining > 0 {
            if !self.match_reached() {
                return false;
            }
            if self.matched.is_empty() {
                if remaining > budget {
                    return false;
                }
                budget -= remaining;
                if !self.match_remaining() {
                    return false;
                }
            }
            remaining -= self.matched.len();
            for &(vertex, target) in &self.matched {
                self.image[vertex as usize] = target;
                self.taken[target as usize] = true;
            }
            if remaining > 0 {
                wave += 1;
                self.spread(graph, wave);
            }
        }
        true
    }

    /// The keys of all open vertices; those that have a known neighbour are the first wave.
    fn collect_keys(&mut self, graph: &ColouredGraph) {
        let Self { image, taken, domain, range, .. } = self;
        for &(vertex, cell) in &domain.open {
            let mut key = bare_key(cell);
            for &next in graph.neighbours(vertex) {
                let image = image[next as usize];
                if image != UNKNOWN {
                    key = key.wrapping_add(mix(image));
                }
            }
            domain.keys[vertex as usize] = key;
            if key != bare_key(cell) {
                domain.reached.push((key, vertex));
            }
        }
        for &(vertex, cell) in &range.open {
            let mut key = bare_key(cell);
            for &next in graph.neighbours(vertex) {
                if taken[next as usize] {
                    key = key.wrapping_add(mix(next));
                }
            }
            range.keys[vertex as usize] = key;
            if key != bare_key(cell) {
                range.reached.push((key, vertex));
            }
        }
    }

    /// Matches the vertices the wave reached whose keys are unique; false if the sides do not fit.
    fn match_reached(&mut self) -> bool {
        self.matched.clear();
        let (domain, range) = (&mut self.domain, &mut self.range);
        if domain.reached.len() != range.reached.len() {
            return false;
        }
        domain.update_reached();
        range.update_reached();
        // An open-addressing table by key, at most half full.
        let size = (2 * domain.reached.len()).next_power_of_two();
        self.table.clear();
        self.table.resize(size, Slot::default());
        let find = |table: &[Slot], key: u64| {
            let mut index = (key >> 20) as usize & (size - 1);
            while table[index].count > 0 && table[index].key != key {
                index = (index + 1) & (size - 1);
            }
            index
        };
        for &(key, _) in &domain.reached {
            let index = find(&self.table, key);
            self.table[index].key = key;
            self.table[index].count += 1;
        }
        for &(key, vertex) in &range.reached {
            let index = find(&self.table, key);
            let slot = &mut self.table[index];
            slot.targets += 1;
            slot.target = vertex;
            if slot.targets > slot.count {
                return false;
            }
        }
        // The counts agree on both sides and no key has too many: the sides fit.
        for &(key, vertex) in &domain.reached {
            let slot = self.table[find(&self.table, key)];
            if slot.count == 1 {
                self.matched.push((vertex, slot.target));
            }
        }
        true
    }

    /// Considers all vertices still open. Matches those determined by elimination, or, if there are none, the classes
    /// of one cell in order: the cell of the smallest class next to something known.
    fn match_remaining(&mut self) -> bool {
        let Self { image, taken, domain, range, .. } = self;
        domain.reached.clear();
        range.reached.clear();
        domain.reached.extend(
            domain.open.iter().filter(|(vertex, _)| image[*vertex as usize] == UNKNOWN).map(|&(vertex, _)| (0, vertex)),
        );
        range
            .reached
            .extend(range.open.iter().filter(|(vertex, _)| !taken[*vertex as usize]).map(|&(vertex, _)| (0, vertex)));
        if !self.match_reached() {
            return false;
        }
        if !self.matched.is_empty() {
            return true;
        }
        let (domain, range) = (&mut self.domain, &mut self.range);
        domain.reached.sort_unstable();
        range.reached.sort_unstable();
        let mut cell_of: rustc_hash::FxHashMap<Point, u32> = rustc_hash::FxHashMap::default();
        cell_of.extend(domain.open.iter().copied());
        let mut best = (true, usize::MAX, 0);
        let mut start = 0;
        while start < domain.reached.len() {
            let (key, vertex) = domain.reached[start];
            let alike = domain.reached[start..].iter().take_while(|reached| reached.0 == key).count();
            let cell = cell_of[&vertex];
            best = best.min((key == bare_key(cell), alike, cell));
            start += alike;
        }
        for (&(_, vertex), &(_, target)) in domain.reached.iter().zip(&range.reached) {
            if cell_of[&vertex] == best.2 {
                self.matched.push((vertex, target));
            }
        }
        true
    }

    /// Updates the open neighbours of the vertices just matched.
    fn spread(&mut self, graph: &ColouredGraph, wave: u32) {
        let Self { image, taken, domain, range, matched, .. } = self;
        domain.reached.clear();
        range.reached.clear();
        for &(vertex, target) in matched.iter() {
            for &next in graph.neighbours(vertex) {
                if image[next as usize] == UNKNOWN {
                    domain.reach(next, target, wave);
                }
            }
            for &next in graph.neighbours(target) {
                if !taken[next as usize] {
                    range.reach(next, target, wave);
                }
            }
        }
    }

    /// Whether the map preserves colours and edges; only moved vertices and their edges need to be checked.
    fn verify(&mut self, graph: &ColouredGraph, difference: &Difference) -> bool {
        difference.misplaced.iter().all(|&vertex| {
            let target = self.image[vertex as usize];
            if graph.colour(vertex) != graph.colour(target) || graph.degree(vertex) != graph.degree(target) {
                return false;
            }
            if self.mark == u32::MAX {
                self.marks.fill(0);
                self.mark = 0;
            }
            self.mark += 1;
            for &next in graph.neighbours(vertex) {
                self.marks[self.image[next as usize] as usize] = self.mark;
            }
            graph.neighbours(target).iter().all(|&next| self.marks[next as usize] == self.mark)
        })
    }
}
