//! Accepting components, on the fly: one depth-first search of the product for strongly connected components, with the
//! acceptance sets of the transitions inside each (J.-M. Couvreur, "On-the-fly verification of linear temporal logic",
//! FM 1999; the path-based algorithm is Dijkstra's and Gabow's). It stops as soon as a component has them all, before
//! the component is complete, unless fairness must be judged: then complete components are given to a judge.
//!
//! A node is expanded once; its successors are stored at once and wait on a stack.

use std::ops::ControlFlow;

use crate::explicit::store::{Entries, Full, Hash, NO_PARENT, Probe, StateNumber, Store};
use crate::observer::{Observer, Progress};
use crate::options::SearchOptions;
use crate::report::StopReason;
use crate::seam::SearchSpace;
use crate::temporal::product::{Found, Product, ProductScratch, Trouble};

/// The rank of a node that was not visited.
const UNVISITED: u32 = 0;
/// The rank of a node whose component is complete.
const COMPLETE: u32 = u32::MAX;
/// Expansions between reports of progress.
const PROGRESS_INTERVAL: u64 = 1024;

/// A search of a product, with its nodes.
pub(crate) struct Search<'a, 'p, S: SearchSpace> {
    pub(crate) product: &'a Product<'p, S>,
    pub(crate) scratch: ProductScratch<S>,
    pub(crate) store: Store,
    options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    ranks: Vec<u32>,
    found: Found,
    hashes: Vec<Hash>,
    expansions: u64,
    /// Nodes that were not expanded, since the path to them is as long as it may be.
    cut: u64,
    pub(crate) depth: u64,
}

/// What is done with a complete component that has all acceptance sets. Breaks if it shows a violation.
pub(crate) type Judge<'j, 'a, 'p, S> =
    &'j mut dyn FnMut(&mut Search<'a, 'p, S>, &[StateNumber]) -> Result<ControlFlow<()>, Trouble>;

/// How a search ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There is no accepting component.
    Empty,
    /// These nodes are strongly connected and have all acceptance sets.
    Accepting(Vec<StateNumber>),
    /// The judge found a violation.
    Judged,
}

/// A step that waits.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: StateNumber,
    marks: u32,
}

/// A node on the path, and its steps that wait.
struct Frame {
    node: StateNumber,
    next: usize,
    first: usize,
}

/// A component of the nodes on the path so far.
struct Root {
    rank: u32,
    /// The acceptance sets of the step that leads to it, and of those inside.
    entering: u64,
    inside: u64,
    is_cyclic: bool,
}

impl<'a, 'p, S: SearchSpace> Search<'a, 'p, S> {
    pub(crate) fn new(product: &'a Product<'p, S>, options: &'a SearchOptions, observer: &'a mut dyn Observer) -> Self {
        Self {
            product,
            scratch: product.scratch(),
            store: Store::new(product.code.words, Entries::Numbers, options.max_memory),
            options,
            observer,
            ranks: Vec::new(),
            found: Found::default(),
            hashes: Vec::new(),
            expansions: 0,
            cut: 0,
            depth: 0,
        }
    }

    /// Searches for an accepting component. With a judge, components must be complete, and it decides.
    pub(crate) fn run(&mut self, mut judge: Option<Judge<'_, 'a, 'p, S>>) -> Result<Outcome, Trouble> {
        let all = self.product.automaton.all_sets();
        let mut edges: Vec<Edge> = Vec::new();
        self.product.starts(&mut self.scratch, &mut self.found)?;
        self.intern_all(NO_PARENT, &mut edges)?;
        let starts = std::mem::take(&mut edges);
        let (mut frames, mut roots, mut live): (Vec<Frame>, Vec<Root>, Vec<StateNumber>) = Default::default();
        for start in starts {
            if self.ranks[start.to as usize] != UNVISITED {
                continue;
            }
            self.enter(start.to, 0, &mut frames, &mut roots, &mut live, &mut edges)?;
            while let Some(frame) = frames.last_mut() {
                let Some(&edge) = edges.get(frame.next) else {
                    let Frame { node, first, .. } = frames.pop().expect("there is a frame");
                    edges.truncate(first);
                    if let Some(outcome) = self.leave(node, all, &mut roots, &mut live, &mut judge)? {
                        return Ok(outcome);
                    }
                    continue;
                };
                frame.next += 1;
                let marks = self.product.marks[edge.marks as usize];
                match self.ranks[edge.to as usize] {
                    COMPLETE => {}
                    UNVISITED => self.enter(edge.to, marks, &mut frames, &mut roots, &mut live, &mut edges)?,
                    rank => {
                        // Everything on the path since that node is one component.
                        let mut inside = marks;
                        while roots.last().is_some_and(|root| root.rank > rank) {
                            let root = roots.pop().expect("there is a root");
                            inside |= root.inside | root.entering;
                        }
                        let root = roots.last_mut().expect("a node that is not complete has a root");
                        root.inside |= inside;
                        root.is_cyclic = true;
                        if root.inside == all && judge.is_none() {
                            let first = live.partition_point(|&node| self.ranks[node as usize] < root.rank);
                            return Ok(Outcome::Accepting(live.split_off(first)));
                        }
                    }
                }
            }
        }
        if self.cut > 0 {
            let limit = self.options.max_depth.unwrap_or_default();
            return Err(Trouble::Stop(StopReason::DepthLimit(limit)));
        }
        Ok(Outcome::Empty)
    }

    fn enter(
        &mut self,
        node: StateNumber,
        entering: u64,
        frames: &mut Vec<Frame>,
        roots: &mut Vec<Root>,
        live: &mut Vec<StateNumber>,
        edges: &mut Vec<Edge>,
    ) -> Result<(), Trouble> {
        let rank = live.len() as u32 + 1;
        self.ranks[node as usize] = rank;
        live.push(node);
        roots.push(Root { rank, entering, inside: 0, is_cyclic: false });
        let first = edges.len();
        frames.push(Frame { node, next: first, first });
        self.depth = self.depth.max(frames.len() as u64);
        if self.options.max_depth.is_some_and(|limit| frames.len() as u64 > limit) {
            self.cut += 1;
            return Ok(());
        }
        self.tick(
            (frames.len() * size_of::<Frame>() + edges.capacity() * size_of::<Edge>()) as u64,
            live.len() as u64,
        )?;
        self.expand(node)?;
        self.intern_all(node, edges)
    }

    /// Leaves a node whose steps are all done.
    fn leave(
        &mut self,
        node: StateNumber,
        all: u64,
        roots: &mut Vec<Root>,
        live: &mut Vec<StateNumber>,
        judge: &mut Option<Judge<'_, 'a, 'p, S>>,
    ) -> Result<Option<Outcome>, Trouble> {
        if roots.last().is_none_or(|root| root.rank != self.ranks[node as usize]) {
            return Ok(None);
        }
        let root = roots.pop().expect("there is a root");
        let members = live.split_off(root.rank as usize - 1);
        for &member in &members {
            self.ranks[member as usize] = COMPLETE;
        }
        if let Some(judge) = judge
            && root.is_cyclic
            && root.inside == all
            && judge(self, &members)?.is_break()
        {
            return Ok(Some(Outcome::Judged));
        }
        Ok(None)
    }

    /// The successors of a node, into `found`.
    pub(crate) fn expand(&mut self, node: StateNumber) -> Result<(), Trouble> {
        self.product.expand(&mut self.scratch, self.store.state(node), &mut self.found)
    }

    /// Stores what was found, and lists it.
    fn intern_all(&mut self, parent: StateNumber, edges: &mut Vec<Edge>) -> Result<(), Trouble> {
        let words = self.product.code.words;
        let found = std::mem::take(&mut self.found);
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(found.records.chunks_exact(words + 1).map(|record| Hash::of(&record[..words])));
        self.store.prefetch(&hashes);
        let mut result = Ok(());
        for (record, &hash) in found.records.chunks_exact(words + 1).zip(&hashes) {
            match self.intern(&record[..words], hash, parent) {
                Ok(to) => edges.push(Edge { to, marks: record[words] as u32 }),
                Err(trouble) => {
                    result = Err(trouble);
                    break;
                }
            }
        }
        (self.found, self.hashes) = (found, hashes);
        result
    }

    #[inline]
    fn intern(&mut self, node: &[u64], hash: Hash, parent: StateNumber) -> Result<StateNumber, Trouble> {
        let position = match self.store.probe(node, hash) {
            Probe::Stored(number) => return Ok(number),
            Probe::Vacant(position) => position,
        };
        if let Some(limit) = self.options.max_states.filter(|&limit| self.store.len() >= limit) {
            return Err(Trouble::Stop(StopReason::StateLimit(limit)));
        }
        let number = self.store.insert(node, hash, position, parent).map_err(|full| self.full(full))?;
        self.ranks.push(UNVISITED);
        Ok(number)
    }

    fn full(&self, full: Full) -> Trouble {
        Trouble::Stop(StopReason::of_full_store(full, self.options))
    }

    /// Reports progress every now and then. `extra` counts bytes of the path.
    fn tick(&mut self, extra: u64, frontier: u64) -> Result<(), Trouble> {
        self.expansions += 1;
        if !self.expansions.is_multiple_of(PROGRESS_INTERVAL) {
            return Ok(());
        }
        let memory_bytes = self.store.memory_bytes() + 4 * self.store.len() + extra;
        if let Some(limit) = self.options.max_memory.filter(|&limit| memory_bytes > limit) {
            return Err(Trouble::Stop(StopReason::MemoryLimit(limit)));
        }
        self.poll(memory_bytes, frontier)
    }

    /// Lets the observer stop the search.
    pub(crate) fn poll(&mut self, memory_bytes: u64, frontier: u64) -> Result<(), Trouble> {
        let progress = Progress {
            states: self.store.len(),
            transitions: self.scratch.fired,
            frontier,
            depth: self.depth,
            memory_bytes,
        };
        match self.observer.progress(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(Trouble::Stop(reason)),
        }
    }

    /// The numbers of the successors of a node, with their marks. All are stored.
    pub(crate) fn successors(&mut self, node: StateNumber) -> Result<Vec<(StateNumber, u32)>, Trouble> {
        self.expand(node)?;
        let mut edges = Vec::new();
        self.intern_all(node, &mut edges)?;
        Ok(edges.into_iter().map(|edge| (edge.to, edge.marks)).collect())
    }

    /// The number of a node, which is stored if it is new.
    pub(crate) fn number(&mut self, node: &[u64]) -> Result<StateNumber, Trouble> {
        self.intern(node, Hash::of(node), NO_PARENT)
    }

    /// The numbers of the nodes in which runs start.
    pub(crate) fn starts(&mut self) -> Result<Vec<StateNumber>, Trouble> {
        self.product.starts(&mut self.scratch, &mut self.found)?;
        let mut edges = Vec::new();
        self.intern_all(NO_PARENT, &mut edges)?;
        Ok(edges.into_iter().map(|edge| edge.to).collect())
    }
}
