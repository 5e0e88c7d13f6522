//! The search tree: the first path, and for each of its levels the search for an automorphism that maps the level's
//! base point to another vertex of its cell.
//!
//! The first path individualises a vertex of some cell and refines, until the partition is discrete. Its levels are
//! then treated from the deepest to the root. At a level, every generator found so far fixes the base points above. So
//! the orbits of the generators so far are orbits of the stabiliser, and a cell is done when each of its orbits was
//! either joined to the base point's orbit or refuted. The generators are therefore strong with respect to the base,
//! and the product of the orbit lengths is the order of the group.
//!
//! The following keep the search near linear on long bases (wreath products, many independent factors):
//! * A branch is compared with the first path event by event and abandoned at the first difference.
//! * A branch ends as soon as all vertices outside singleton cells are in the cell they have on the first path: then
//!   the map of singletons, with the identity elsewhere, is the automorphism (the idea of saucy, Darga, Sakallah and
//!   Markov 2008). The reference order of the leaf represents all partitions of the first path, since refinement only
//!   rearranges within cells.
//! * If such vertices remain, the map is guessed from the neighbours whose images are known (see `guess`).
//! * Below the current level, the stabilisers on the first path are known. An automorphism maps the orbit of a base
//!   point to an orbit of equal length, so a branch whose cell has c vertices need try only c - (orbit length) + 1 of
//!   them; if the cell is one orbit, only one is tried.
//! * The next cell is taken from the latest splits, so a component is finished before the next is begun.

use super::guess::Guess;
use super::partition::Partition;
use super::{AutomorphismGroup, BasePoint, SearchLimits, Statistics};
use crate::{ColouredGraph, OrbitPartition, Point, SparsePermutation, Watch};

/// A level of the first path.
struct Level {
    /// The cell with the individualised vertex: its first position and length.
    cell: u32,
    length: u32,
    base: Point,
    /// The start of the level's events in the trace; they end where the next level's begin.
    events: usize,
    /// The length of the history before individualising.
    history: usize,
    /// Set once the level is done.
    orbit_length: u32,
}

/// A level of a branch compared with the first path.
struct Branch {
    history: usize,
    misplaced: usize,
    unsettled: usize,
    /// The vertex being tried.
    vertex: Point,
    /// The number of vertices that may still be tried.
    remaining: u32,
    /// The vertices still to try; filled only once the first has failed.
    alternatives: Option<Vec<Point>>,
}

/// All automorphisms, or those found within the limits. `None` if the watch stops.
pub(super) fn search(graph: &ColouredGraph, limits: &SearchLimits, watch: &Watch) -> Option<AutomorphismGroup> {
    if watch.work(graph.vertex_count() as u64) {
        return None;
    }
    let mut search = AutomorphismSearch {
        graph,
        partition: Partition::new(graph, watch),
        levels: Vec::new(),
        events_end: 0,
        orbits: OrbitPartition::new(graph.vertex_count()),
        refuted_at: vec![usize::MAX; graph.vertex_count()],
        generators: Vec::new(),
        statistics: Statistics::default(),
        limits,
        watch,
        exhausted: false,
        guess: Guess::default(),
    };
    search.partition.refine();
    search.walk_first_path();
    if !search.levels.is_empty() && !watch.is_stopped() {
        search.guess = Guess::new(graph.vertex_count());
        search.partition.set_reference();
        for level in (0..search.levels.len()).rev() {
            search.treat_level(level);
        }
    }
    watch.unless_stopped(AutomorphismGroup {
        base: search
            .levels
            .iter()
            .map(|level| BasePoint { point: level.base, orbit_length: level.orbit_length })
            .collect(),
        degree: graph.vertex_count(),
        generators: search.generators,
        orbits: search.orbits,
        complete: !search.exhausted,
        statistics: search.statistics,
    })
}

struct AutomorphismSearch<'g, 'l> {
    graph: &'g ColouredGraph,
    partition: Partition<'g>,
    levels: Vec<Level>,
    events_end: usize,
    orbits: OrbitPartition,
    /// The level at which the orbit of this representative was refuted last.
    refuted_at: Vec<usize>,
    generators: Vec<SparsePermutation>,
    statistics: Statistics,
    limits: &'l SearchLimits,
    watch: &'l Watch,
    exhausted: bool,
    guess: Guess,
}

impl AutomorphismSearch<'_, '_> {
    /// Individualises and refines until the partition is discrete.
    ///
    /// The next cell is taken from a stack of ranges of positions: first what the last refinement split off, smallest
    /// part first, then the rest of the last cell, then earlier ranges. So a component is finished before another is
    /// begun. (Continuing in the last cell at once is tempting but bad: in a projective plane it takes the points of
    /// one line in turn, which carry little information.)
    fn walk_first_path(&mut self) {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        self.push_cells(&mut ranges, 0, self.graph.vertex_count() as u32);
        self.partition.history.clear();
        while let Some((cell, length)) = ranges.pop() {
            if self.watch.is_stopped() {
                return;
            }
            if self.partition.length(cell) != length {
                self.push_cells(&mut ranges, cell, length);
                continue;
            }
            let history = self.partition.history.len();
            let events = self.partition.trace.events.len();
            let base = self.partition.last_member(cell);
            self.levels.push(Level { cell, length, base, events, history, orbit_length: 1 });
            self.partition.individualise(base);
            self.partition.refine();
            self.statistics.refinements += 1;
            ranges.push((cell, length));
            let first = ranges.len();
            for split in &self.partition.history[history..] {
                let length = self.partition.length(split.start);
                if length > 1 {
                    ranges.push((split.start, length));
                }
            }
            ranges[first..].sort_unstable_by_key(|&(start, length)| std::cmp::Reverse((length, start)));
        }
        debug_assert!(self.partition.is_discrete());
        self.events_end = self.partition.trace.events.len();
    }

    /// Pushes the cells of two or more vertices between two positions, smallest last.
    fn push_cells(&self, ranges: &mut Vec<(u32, u32)>, mut start: u32, length: u32) {
        let (first, end) = (ranges.len(), start + length);
        while start < end {
            let length = self.partition.length(start);
            if length > 1 {
                ranges.push((start, length));
            }
            start += length;
        }
        ranges[first..].sort_unstable_by_key(|&(start, length)| std::cmp::Reverse((length, start)));
    }

    /// Finds the orbit of the level's base point under the stabiliser of the base points above.
    fn treat_level(&mut self, index: usize) {
        let Level { cell, length, base, history, .. } = self.levels[index];
        self.partition.undo_to(history);
        // From the back, the order in which the first path split the cell: the first candidates are the base points of
        // deeper levels, for which short branches suffice.
        for position in (cell..cell + length).rev() {
            if self.orbits.class_size(base) == length || self.partition.is_stopped_after(1) {
                break;
            }
            let difference = self.partition.difference.as_ref().expect("set with the reference");
            let vertex = difference.reference[position as usize];
            let root = self.orbits.find(vertex);
            if root == self.orbits.find(base) || self.refuted_at[root as usize] == index {
                continue;
            }
            match self.seek(index, vertex) {
                Some(generator) => {
                    for (point, image) in generator.moves() {
                        let (left, right) = (self.orbits.find(point), self.orbits.find(image));
                        let refuted =
                            self.refuted_at[left as usize] == index || self.refuted_at[right as usize] == index;
                        if let Some(root) = self.orbits.merge(left, right)
                            && refuted
                        {
                            self.refuted_at[root as usize] = index;
                        }
                    }
                    self.generators.push(generator);
                }
                None => self.refuted_at[root as usize] = index,
            }
        }
        self.levels[index].orbit_length = self.orbits.class_size(base);
    }

    /// An automorphism that fixes the base points above level `index` and maps its base point to `vertex`.
    fn seek(&mut self, index: usize, vertex: Point) -> Option<SparsePermutation> {
        let mut branches: Vec<Branch> = vec![self.branch(vertex, 1)];
        let mut found = None;
        let mut descend = self.enter(index, vertex);
        loop {
            if descend {
                let unsettled = self.partition.difference.as_ref().expect("set with the reference").unsettled;
                // Guessing the rest costs about as much as verifying. At doubling depths, failed guesses cost little
                // compared with the branch.
                let next = self.levels.get(index + branches.len()).map_or(self.events_end, |level| level.events);
                let guess = unsettled > 0
                    && branches.len().is_power_of_two()
                    && self.statistics.bad_guesses <= 2 + self.statistics.good_guesses;
                if unsettled == 0 || guess {
                    // A guess examines the neighbours of all moved vertices.
                    let moved = self.partition.difference.as_ref().map_or(0, |difference| difference.misplaced.len());
                    self.partition.is_stopped_after(moved);
                    found = self.guess.automorphism(self.graph, &self.partition, self.events_end - next);
                    self.statistics.good_guesses += u64::from(guess && found.is_some());
                    self.statistics.bad_guesses += u64::from(guess && found.is_none());
                    self.statistics.bad_leaves += u64::from(!guess && found.is_none());
                    if found.is_some() {
                        break;
                    }
                }
                let depth = index + branches.len();
                if let Some(level) = self.levels.get(depth)
                    && self.partition.length(level.cell) == level.length
                {
                    let remaining = level.length - level.orbit_length + 1;
                    let vertex = self.preferred_vertex(level);
                    branches.push(self.branch(vertex, remaining));
                    descend = self.enter(depth, vertex);
                    continue;
                }
            }
            // The branch failed: try the next vertex at the deepest level that has one.
            if !self.next_alternative(&mut branches) {
                break;
            }
            let depth = index + branches.len() - 1;
            let vertex = branches[branches.len() - 1].vertex;
            descend = self.enter(depth, vertex);
        }
        self.leave(&branches[0]);
        found
    }

    /// A new deepest level of a branch, at the current partition.
    fn branch(&self, vertex: Point, remaining: u32) -> Branch {
        let difference = self.partition.difference.as_ref().expect("set with the reference");
        Branch {
            history: self.partition.history.len(),
            misplaced: difference.misplaced.len(),
            unsettled: difference.unsettled,
            vertex,
            remaining: remaining - 1,
            alternatives: None,
        }
    }

    /// Individualises `vertex` and refines as the first path did at `depth`; false if it differs.
    fn enter(&mut self, depth: usize, vertex: Point) -> bool {
        let is_at_limit = self.limits.refinements.is_some_and(|limit| self.statistics.refinements >= limit);
        if is_at_limit || self.watch.is_stopped() {
            self.exhausted = true;
            return false;
        }
        self.statistics.refinements += 1;
        let end = self.levels.get(depth + 1).map_or(self.events_end, |next| next.events);
        self.partition.trace.compare = Some((self.levels[depth].events, end));
        self.partition.individualise(vertex);
        self.partition.refine()
    }

    /// Returns to the partition before the branch's level.
    fn leave(&mut self, branch: &Branch) {
        self.partition.undo_to(branch.history);
        let difference = self.partition.difference.as_mut().expect("set with the reference");
        difference.rewind(branch.misplaced, branch.unsettled);
    }

    /// Moves the deepest level that has an alternative to its next vertex, dropping those below; false if there is
    /// none.
    fn next_alternative(&mut self, branches: &mut Vec<Branch>) -> bool {
        while let Some(mut branch) = branches.pop() {
            self.leave(&branch);
            if self.exhausted || branch.remaining == 0 || branches.is_empty() {
                if branches.is_empty() {
                    branches.push(branch);
                    return false;
                }
                continue;
            }
            let alternatives = match &mut branch.alternatives {
                Some(alternatives) => alternatives,
                empty => empty.insert(self.alternatives(branches, branch.vertex)),
            };
            if let Some(vertex) = alternatives.pop() {
                branch.vertex = vertex;
                branch.remaining -= 1;
                branches.push(branch);
                return true;
            }
        }
        false
    }

    /// The vertices to try after `failed` in its cell: one of each orbit under the known automorphisms
    /// that fix the branch so far, without the orbit of `failed`.
    fn alternatives(&mut self, above: &[Branch], failed: Point) -> Vec<Point> {
        let cell = self.partition.places[failed as usize].cell;
        let mut members = self.partition.members(cell).to_vec();
        members.sort_unstable();
        let mut classes = OrbitPartition::new(members.len());
        let index_of = |vertex: &Point| members.binary_search(vertex).ok();
        for generator in &self.generators {
            if self.watch.work(1 + members.len() as u64) {
                break;
            }
            if above.iter().any(|branch| generator.moves_point(branch.vertex)) {
                continue;
            }
            for (index, &member) in members.iter().enumerate() {
                if let Some(image) = index_of(&generator.image(member)) {
                    classes.merge(index as Point, image as Point);
                }
            }
        }
        let failed = index_of(&failed).expect("the failed vertex is in its cell") as Point;
        let failed_class = classes.find(failed);
        let mut chosen: Vec<Point> = (0..members.len() as Point)
            .filter(|&index| classes.find(index) == index && index != failed_class)
            .map(|index| members[index as usize])
            .collect();
        // Popped from the back, so in the order of the vertices.
        chosen.reverse();
        chosen
    }

    /// The image to try first for the level's base point: the point itself if possible, or the one that closes the
    /// cycle, so that the automorphism moves few points.
    fn preferred_vertex(&self, level: &Level) -> Point {
        let difference = self.partition.difference.as_ref().expect("set with the reference");
        let mut vertex = level.base;
        loop {
            let cell = self.partition.places[vertex as usize].cell;
            if cell == level.cell {
                return vertex;
            }
            if self.partition.length(cell) > 1 {
                break;
            }
            // `vertex` is already the image of that vertex.
            vertex = difference.reference[cell as usize];
        }
        self.partition.last_member(level.cell)
    }
}
