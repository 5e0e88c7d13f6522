//! An ordered partition of the vertices and its equitable refinement.
//!
//! A cell is a range of positions and is named by its first position, so names do not depend on the numbering of the
//! vertices: two runs on isomorphic inputs create the same cells in the same order. So a run can be compared with a
//! recorded one, event by event (the trace), and abandoned at the first difference.
//!
//! Refinement is that of Hopcroft's automaton minimisation as used by nauty (McKay 1981) and saucy (Darga et al. 2004):
//! a queue of splitter cells, only the smaller parts of a split are queued, and a split costs the vertices touched,
//! never the whole cell. Undoing a split costs the same.

use crate::{ColouredGraph, Point, Watch};
use std::collections::VecDeque;

/// The number of edges examined between two polls of the watch: some tens of microseconds.
const WORK_BETWEEN_QUESTIONS: u64 = 1 << 14;

/// The refinement data of one vertex; kept together because it is used together.
#[derive(Debug, Clone, Copy)]
pub(super) struct VertexPlace {
    /// First position of the cell.
    pub(super) cell: u32,
    /// The position of the vertex in `order`.
    pub(super) position: u32,
    /// Edges from the current splitter; zero between splitters.
    count: u32,
    /// The position of the vertex in the reference order, once there is one.
    pub(super) reference: u32,
}

/// One cell, stored at its first position.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// Zero if no cell begins here.
    length: u32,
    /// Vertices touched by the current splitter; zero between splitters.
    touched: u32,
    /// Touched vertices already moved to the end of the cell.
    gathered: u32,
    queued: bool,
}

/// Least and greatest count within a cell, by first position of the cell; valid while the cell is touched.
#[derive(Debug, Clone, Copy, Default)]
struct CountRange {
    least: u32,
    greatest: u32,
}

/// A split that can be undone: the cell at `start` was the end of the cell at `parent`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    pub(super) start: u32,
    parent: u32,
}

/// Records the events of a refinement, or compares them with recorded ones.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) events: Vec<u64>,
    /// The next event to compare, and the end of the range to compare. `None`: record.
    pub(super) compare: Option<(usize, usize)>,
}

impl Trace {
    /// Records or compares one event; false if it differs.
    #[inline]
    fn agrees(&mut self, event: u64) -> bool {
        match &mut self.compare {
            None => {
                self.events.push(event);
                true
            }
            Some((next, end)) => {
                if next == end || self.events[*next] != event {
                    return false;
                }
                *next += 1;
                true
            }
        }
    }

    /// Whether all recorded events were seen.
    fn exhausted(&self) -> bool {
        self.compare.is_none_or(|(next, end)| next == end)
    }
}

/// How the current partition differs from a reference: the vertices whose cell is not the one given by the reference
/// order.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// The reference: a discrete refinement of every partition it is compared with.
    pub(super) reference: Vec<Point>,
    /// Vertices in a cell whose range does not contain their reference position, in order of discovery.
    pub(super) misplaced: Vec<Point>,
    flags: Vec<bool>,
    /// How many of them are in cells of two or more vertices.
    pub(super) unsettled: usize,
}

impl Difference {
    /// Forgets the vertices misplaced since there were `count`; `unsettled` is the count at that time.
    pub(super) fn rewind(&mut self, count: usize, unsettled: usize) {
        for vertex in self.misplaced.drain(count..) {
            self.flags[vertex as usize] = false;
        }
        self.unsettled = unsettled;
    }
}

/// The ordered partition with its refinement queue and undo history.
#[derive(Debug)]
pub(super) struct Partition<'g> {
    graph: &'g ColouredGraph,
    pub(super) places: Vec<VertexPlace>,
    /// The vertices, cell by cell.
    pub(super) order: Vec<Point>,
    cells: Vec<Cell>,
    ranges: Vec<CountRange>,
    cell_count: usize,
    pub(super) history: Vec<Split>,
    /// Polled for cancellation.
    watch: &'g Watch,
    /// Work not yet reported to the watch.
    work: u64,
    pub(super) trace: Trace,
    /// Present if a branch is compared with the first path.
    pub(super) difference: Option<Difference>,
    single_queue: VecDeque<u32>,
    cell_queue: VecDeque<u32>,
    // Working memory, empty between splitters.
    touched_vertices: Vec<Point>,
    touched_cells: Vec<u32>,
    splitting_cells: Vec<u32>,
    sorted: Vec<Point>,
    keyed: Vec<u64>,
    histogram: Vec<u32>,
}

#[inline]
fn mix(left: u64, right: u64) -> u64 {
    let mixed = (left ^ right.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

impl<'g> Partition<'g> {
    /// The partition by colours, not yet refined.
    pub(super) fn new(graph: &'g ColouredGraph, watch: &'g Watch) -> Self {
        let count = graph.vertex_count();
        let mut order: Vec<Point> = (0..count as Point).collect();
        // Stable, so that vertices stay in the order of the model within a cell, which is cache-friendly.
        if !graph.colours().is_sorted() {
            order.sort_by_key(|&vertex| graph.colour(vertex));
        }
        let mut partition = Self {
            graph,
            places: vec![VertexPlace { cell: 0, position: 0, count: 0, reference: 0 }; count],
            order,
            cells: vec![Cell::default(); count],
            ranges: vec![CountRange::default(); count],
            cell_count: 0,
            history: Vec::new(),
            watch,
            work: 0,
            trace: Trace::default(),
            difference: None,
            single_queue: VecDeque::new(),
            cell_queue: VecDeque::new(),
            touched_vertices: Vec::new(),
            touched_cells: Vec::new(),
            splitting_cells: Vec::new(),
            sorted: Vec::new(),
            keyed: Vec::new(),
            histogram: Vec::new(),
        };
        let mut start = 0;
        for position in 0..count {
            let vertex = partition.order[position];
            if position > 0 && graph.colour(vertex) != graph.colour(partition.order[position - 1]) {
                start = position;
            }
            let place = &mut partition.places[vertex as usize];
            place.position = position as u32;
            place.cell = start as u32;
            partition.cells[start].length += 1;
        }
        let mut start = 0;
        while start < count {
            partition.cell_count += 1;
            partition.enqueue(start as u32);
            start += partition.cells[start].length as usize;
        }
        partition
    }

    /// The number of vertices in the cell at `start`; zero if no cell begins there.
    #[inline]
    pub(super) fn length(&self, start: u32) -> u32 {
        self.cells[start as usize].length
    }

    /// The vertices of the cell at `start`.
    pub(super) fn members(&self, start: u32) -> &[Point] {
        &self.order[start as usize..(start + self.length(start)) as usize]
    }

    /// The last vertex of the cell at `start`: the one that can be individualised without a swap.
    pub(super) fn last_member(&self, start: u32) -> Point {
        self.order[(start + self.length(start) - 1) as usize]
    }

    /// Whether every cell has one vertex.
    pub(super) fn is_discrete(&self) -> bool {
        self.cell_count == self.order.len()
    }

    #[inline]
    fn enqueue(&mut self, start: u32) {
        let cell = &mut self.cells[start as usize];
        debug_assert!(!cell.queued);
        cell.queued = true;
        if cell.length == 1 {
            self.single_queue.push_back(start);
        } else {
            self.cell_queue.push_back(start);
        }
    }

    /// Puts `vertex`, which shares its cell, in a cell of its own and queues it. The new cell is at the end, so the
    /// rest keeps its name.
    pub(super) fn individualise(&mut self, vertex: Point) {
        let start = self.places[vertex as usize].cell;
        let last = start + self.length(start) - 1;
        debug_assert!(last > start);
        self.swap_to(vertex, last);
        self.split_off(start, last);
        self.enqueue(last);
        self.compare_pieces(start, &[last]);
    }

    /// Moves `vertex` to `position`, and the vertex there to the former position of `vertex`.
    #[inline]
    fn swap_to(&mut self, vertex: Point, position: u32) {
        let from = self.places[vertex as usize].position;
        let other = self.order[position as usize];
        self.order[from as usize] = other;
        self.places[other as usize].position = from;
        self.order[position as usize] = vertex;
        self.places[vertex as usize].position = position;
    }

    /// Splits off the end of the cell at `parent`, from `start` on.
    fn split_off(&mut self, parent: u32, start: u32) {
        let length = parent + self.cells[parent as usize].length - start;
        self.cells[parent as usize].length -= length;
        self.cells[start as usize] = Cell { length, touched: 0, gathered: 0, queued: false };
        for position in start..start + length {
            let vertex = self.order[position as usize];
            self.places[vertex as usize].cell = start;
        }
        self.cell_count += 1;
        self.history.push(Split { start, parent });
    }

    /// Undoes all splits since the history was `length` long.
    pub(super) fn undo_to(&mut self, length: usize) {
        while self.history.len() > length {
            let Some(Split { start, parent }) = self.history.pop() else { return };
            let merged = std::mem::take(&mut self.cells[start as usize].length);
            for position in start..start + merged {
                let vertex = self.order[position as usize];
                self.places[vertex as usize].cell = parent;
            }
            self.cells[parent as usize].length += merged;
            self.cell_count -= 1;
        }
    }

    /// Refines until the queue is empty, the partition is discrete, or the trace disagrees; false in the last case. The
    /// queue is always empty afterwards.
    pub(super) fn refine(&mut self) -> bool {
        let agrees = self.refine_while_agreeing() && self.trace.exhausted();
        for start in self.single_queue.drain(..).chain(self.cell_queue.drain(..)) {
            self.cells[start as usize].queued = false;
        }
        agrees
    }

    /// Records work; true if the search should stop.
    #[inline]
    pub(super) fn is_stopped_after(&mut self, work: usize) -> bool {
        self.work += work as u64;
        self.work >= WORK_BETWEEN_QUESTIONS && self.watch.work(std::mem::take(&mut self.work))
    }

    fn refine_while_agreeing(&mut self) -> bool {
        while !self.is_discrete() {
            if let Some(start) = self.single_queue.pop_front() {
                self.cells[start as usize].queued = false;
                if self.is_stopped_after(1 + self.graph.degree(self.order[start as usize]))
                    || !self.split_by_vertex(start)
                {
                    return false;
                }
            } else if let Some(start) = self.cell_queue.pop_front() {
                self.cells[start as usize].queued = false;
                if !self.split_by_cell(start) || self.is_stopped_after(1) {
                    return false;
                }
            } else {
                return true;
            }
        }
        true
    }

    /// Splits every cell by whether its vertices are joined to the single vertex of the cell at `splitter`.
    fn split_by_vertex(&mut self, splitter: u32) -> bool {
        let graph = self.graph;
        let vertex = self.order[splitter as usize];
        let mut hash = mix(u64::from(splitter), graph.degree(vertex) as u64);
        for &next in graph.neighbours(vertex) {
            let start = self.places[next as usize].cell;
            let cell = &mut self.cells[start as usize];
            if cell.length == 1 {
                hash = hash.wrapping_add(mix(u64::from(start), 1));
                continue;
            }
            if cell.touched == 0 {
                self.touched_cells.push(start);
            }
            cell.touched += 1;
            let position = start + cell.length - cell.touched;
            self.swap_to(next, position);
        }
        let mut touched = std::mem::take(&mut self.touched_cells);
        touched.retain(|&start| {
            let cell = &mut self.cells[start as usize];
            let splits = cell.touched < cell.length;
            if !splits {
                cell.touched = 0;
                hash = hash.wrapping_add(mix(u64::from(start), 1));
            }
            splits
        });
        let mut agrees = self.trace.agrees(hash);
        if agrees {
            touched.sort_unstable();
        }
        for &start in &touched {
            let cell = &mut self.cells[start as usize];
            let count = std::mem::take(&mut cell.touched);
            let piece = start + cell.length - count;
            if !agrees {
                continue;
            }
            if !self.trace.agrees(mix(u64::from(start), u64::from(piece))) {
                agrees = false;
                continue;
            }
            self.split_off(start, piece);
            // If the whole cell is queued, both parts must be; otherwise the smaller part suffices.
            if self.cells[start as usize].queued || count <= self.cells[start as usize].length {
                self.enqueue(piece);
            } else {
                self.enqueue(start);
            }
            self.compare_pieces(start, &[piece]);
        }
        touched.clear();
        self.touched_cells = touched;
        agrees
    }

    /// Splits every cell by the number of edges its vertices have into the cell at `splitter`.
    fn split_by_cell(&mut self, splitter: u32) -> bool {
        let graph = self.graph;
        let mut vertices = std::mem::take(&mut self.touched_vertices);
        for position in splitter..splitter + self.cells[splitter as usize].length {
            let neighbours = graph.neighbours(self.order[position as usize]);
            self.work += 1 + neighbours.len() as u64;
            for &next in neighbours {
                let place = &mut self.places[next as usize];
                if place.count == 0 {
                    vertices.push(next);
                }
                place.count += 1;
            }
        }
        let mut hash = mix(u64::from(splitter), vertices.len() as u64);
        let mut touched = std::mem::take(&mut self.touched_cells);
        vertices.retain(|&vertex| {
            let place = &mut self.places[vertex as usize];
            let cell = &mut self.cells[place.cell as usize];
            if cell.length == 1 {
                hash = hash.wrapping_add(mix(u64::from(place.cell), u64::from(place.count)));
                place.count = 0;
                return false;
            }
            let range = &mut self.ranges[place.cell as usize];
            if cell.touched == 0 {
                touched.push(place.cell);
                *range = CountRange { least: place.count, greatest: place.count };
            } else {
                range.least = range.least.min(place.count);
                range.greatest = range.greatest.max(place.count);
            }
            cell.touched += 1;
            true
        });
        touched.retain(|&start| {
            let cell = &mut self.cells[start as usize];
            let range = self.ranges[start as usize];
            let splits = cell.touched < cell.length || range.least < range.greatest;
            if !splits {
                cell.touched = 0;
                hash = hash.wrapping_add(mix(u64::from(start), u64::from(range.least)));
            }
            splits
        });
        let mut agrees = self.trace.agrees(hash);
        if agrees && !touched.is_empty() {
            for &vertex in &vertices {
                let start = self.places[vertex as usize].cell;
                let cell = &mut self.cells[start as usize];
                if cell.touched > 0 {
                    cell.gathered += 1;
                    let position = start + cell.length - cell.gathered;
                    self.swap_to(vertex, position);
                }
            }
            touched.sort_unstable();
        }
        for &start in &touched {
            let cell = &mut self.cells[start as usize];
            let count = std::mem::take(&mut cell.touched);
            cell.gathered = 0;
            if agrees {
                agrees = self.split_by_counts(start, count);
            }
        }
        for vertex in vertices.drain(..) {
            self.places[vertex as usize].count = 0;
        }
        self.touched_vertices = vertices;
        touched.clear();
        self.touched_cells = touched;
        agrees
    }

    /// Splits the cell at `start`, whose last `touched` vertices have counts, by these counts; vertices without one
    /// stay in front.
    fn split_by_counts(&mut self, start: u32, touched: u32) -> bool {
        let length = self.cells[start as usize].length;
        let first = start + length - touched;
        let range = self.ranges[start as usize];
        if range.least < range.greatest {
            self.sort_by_count(first, start + length, range);
        }
        let mut pieces = std::mem::take(&mut self.splitting_cells);
        let mut hash = mix(u64::from(start), u64::from(length));
        let mut previous = 0;
        for position in first..start + length {
            let count = self.places[self.order[position as usize] as usize].count;
            if count != previous {
                hash = mix(hash, u64::from(position) << 32 | u64::from(count));
                if position != start {
                    pieces.push(position);
                }
                previous = count;
            }
        }
        let agrees = self.trace.agrees(hash);
        if agrees {
            // From the back, so that each piece is split off the end of the rest.
            for &piece in pieces.iter().rev() {
                self.split_off(start, piece);
            }
            if self.cells[start as usize].queued {
                for &piece in &pieces {
                    self.enqueue(piece);
                }
            } else {
                let mut largest = start;
                for &piece in &pieces {
                    if self.cells[piece as usize].length > self.cells[largest as usize].length {
                        largest = piece;
                    }
                }
                if largest != start {
                    self.enqueue(start);
                }
                for &piece in &pieces {
                    if piece != largest {
                        self.enqueue(piece);
                    }
                }
            }
            self.compare_pieces(start, &pieces);
        }
        pieces.clear();
        self.splitting_cells = pieces;
        agrees
    }

    /// Sorts the vertices at positions `first..end` by their counts.
    fn sort_by_count(&mut self, first: u32, end: u32, range: CountRange) {
        let slice = first as usize..end as usize;
        let spread = (range.greatest - range.least) as usize + 1;
        if spread <= 2 * slice.len() + 16 {
            self.histogram.clear();
            self.histogram.resize(spread + 1, 0);
            for &vertex in &self.order[slice.clone()] {
                self.histogram[(self.places[vertex as usize].count - range.least) as usize + 1] += 1;
            }
            for index in 0..spread {
                self.histogram[index + 1] += self.histogram[index];
            }
            self.sorted.clear();
            self.sorted.extend_from_slice(&self.order[slice]);
            for &vertex in &self.sorted {
                let place = &mut self.places[vertex as usize];
                let next = &mut self.histogram[(place.count - range.least) as usize];
                place.position = first + *next;
                self.order[place.position as usize] = vertex;
                *next += 1;
            }
        } else {
            self.keyed.clear();
            let places = &self.places;
            self.keyed.extend(
                self.order[slice]
                    .iter()
                    .map(|&vertex| u64::from(places[vertex as usize].count) << 32 | u64::from(vertex)),
            );
            self.keyed.sort_unstable();
            for (position, &key) in (first..end).zip(&self.keyed) {
                let vertex = key as Point;
                self.order[position as usize] = vertex;
                self.places[vertex as usize].position = position;
            }
        }
    }

    /// Updates the difference from the reference after `pieces` were split off the cell at `start`.
    ///
    /// A vertex of the front part that belongs in a piece is found through that piece's range of the reference; one
    /// that belongs outside the whole cell was misplaced before. So the front part, which may be large, need not be
    /// scanned.
    fn compare_pieces(&mut self, start: u32, pieces: &[u32]) {
        let Some(difference) = &mut self.difference else { return };
        for &piece in std::iter::once(&start).chain(pieces) {
            if self.cells[piece as usize].length == 1 && difference.flags[self.order[piece as usize] as usize] {
                difference.unsettled -= 1;
            }
        }
        for &piece in pieces {
            let range = piece..piece + self.cells[piece as usize].length;
            for position in range.clone() {
                let vertex = self.order[position as usize];
                let belongs = self.places[vertex as usize].reference;
                if !range.contains(&belongs) {
                    Self::misplace(&self.places, &self.cells, difference, vertex);
                }
                let expected = difference.reference[position as usize];
                if self.places[expected as usize].cell != piece {
                    Self::misplace(&self.places, &self.cells, difference, expected);
                }
            }
        }
    }

    fn misplace(places: &[VertexPlace], cells: &[Cell], difference: &mut Difference, vertex: Point) {
        let flag = &mut difference.flags[vertex as usize];
        if !*flag {
            *flag = true;
            difference.misplaced.push(vertex);
            if cells[places[vertex as usize].cell as usize].length > 1 {
                difference.unsettled += 1;
            }
        }
    }

    /// Makes the current order, which is discrete, the reference for all comparisons.
    pub(super) fn set_reference(&mut self) {
        for (position, &vertex) in self.order.iter().enumerate() {
            self.places[vertex as usize].reference = position as u32;
        }
        self.difference = Some(Difference {
            reference: self.order.clone(),
            misplaced: Vec::new(),
            flags: vec![false; self.order.len()],
            unsettled: 0,
        });
    }
}
