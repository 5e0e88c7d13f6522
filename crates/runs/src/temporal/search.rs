//! Accepting components, on the fly: one depth-first search of the product for strongly connected components, with the
//! acceptance sets of the transitions inside each (J.-M. Couvreur, "On-the-fly verification of linear temporal logic",
//! FM 1999; the path-based algorithm is Dijkstra's and Gabow's). It stops as soon as a component has them all, before
//! the component is complete, unless fairness must be judged: then complete components are given to a judge.
//!
//! A node is expanded once; its successors are stored at once and wait on a stack.
//!
//! Only nodes whose state of the automaton is on an accepting cycle of the automaton need this. The others are searched
//! breadth-first, as fast as states without an automaton; what they lead to is searched depth-first at once. For most
//! formulas those are nearly all nodes.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::temporal::crew::Crew;
use crate::temporal::product::{Product, ProductScratch, Trouble};
use quotient_search::words::Hash;
use quotient_search::{Observer, Progress, SearchOptions, SearchOrder, SearchSpace, StopReason, Successors};
use quotient_states::batch::Batch;
use quotient_states::recent::Recent;
use quotient_states::store::{Entries, Full, NO_PARENT, Probe, StateNumber, Store};

/// The rank of a node that was not visited.
const UNVISITED: u32 = 0;
/// The rank of a node whose component is complete.
const COMPLETE: u32 = u32::MAX;
/// The number of hits among sixteen lookups of recent successors that makes this lookup worthwhile.
pub(crate) const RECENT_WORTH: u32 = 3;
/// Expansions between reports of progress.
const PROGRESS_INTERVAL: u64 = 1024;

/// A search of a product, with its nodes.
pub(crate) struct Search<'a, 'p, S: SearchSpace> {
    pub(crate) product: &'a Product<'p, S>,
    pub(crate) scratch: ProductScratch<S>,
    pub(crate) store: Store,
    pub(super) options: &'a SearchOptions,
    observer: &'a mut dyn Observer,
    ranks: Vec<u32>,
    /// Nodes that no accepting cycle goes through, and which wait for expansion.
    dull: VecDeque<StateNumber>,
    /// Whether a component was found: what its run needs is not limited.
    is_found: bool,
    /// The nodes that are searched depth-first.
    live: u64,
    /// The nodes, rule instances and bytes of the threads, if there are any.
    by_crew: Option<(u64, u64, u64)>,
    /// Whether all nodes are searched depth-first, although no accepting cycle may go through them.
    is_depth_first: bool,
    found: Successors,
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

/// Which successors are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    All,
    /// Those whose component is not known, and which an accepting cycle can go through.
    Open,
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
            dull: VecDeque::new(),
            is_found: false,
            live: 0,
            by_crew: None,
            is_depth_first: options.order == SearchOrder::DepthFirst || options.max_depth.is_some(),
            found: Successors::new(product.code.words),
            hashes: Vec::new(),
            expansions: 0,
            cut: 0,
            depth: 0,
        }
    }

    /// Searches for an accepting component. With a judge, components must be complete, and it decides.
    pub(crate) fn run(&mut self, mut judge: Option<Judge<'_, 'a, 'p, S>>) -> Result<Outcome, Trouble> {
        let mut edges: Vec<Edge> = Vec::new();
        self.product.starts(&mut self.scratch, &mut self.found)?;
        self.intern_all(NO_PARENT, Listed::Open, &mut edges)?;
        let mut roots: Vec<StateNumber> = edges.drain(..).map(|edge| edge.to).collect();
        let mut recent = Recent::new(self.product.code.words, RECENT_WORTH);
        let by_crew = match self.options.threads {
            0 | 1 => None,
            _ => {
                let roots = roots.clone();
                Crew::with(self.product, self.options, |crew| {
                    let found = self.search_with(crew, roots, &mut judge);
                    self.by_crew = Some(crew.figures());
                    found
                })
            }
        };
        let found = match by_crew {
            Some(found) => found?,
            None => {
                let mut batch = Batch::new(self.product.code.words);
                loop {
                    if let Some(outcome) = self.search_roots(&mut roots, &mut judge)? {
                        break Some(outcome);
                    }
                    if self.dull.is_empty() {
                        break None;
                    }
                    self.expand_dull(&mut batch, &mut recent, &mut roots)?;
                }
            }
        };
        if let Some(outcome) = found {
            self.is_found = true;
            return Ok(outcome);
        }
        if self.cut > 0 {
            let limit = self.options.max_depth.unwrap_or_default();
            return Err(Trouble::Stop(StopReason::DepthLimit(limit)));
        }
        Ok(Outcome::Empty)
    }

    /// Searches from nodes that accepting cycles can go through, while threads search the others.
    fn search_with(
        &mut self,
        crew: &Crew<'_>,
        mut roots: Vec<StateNumber>,
        judge: &mut Option<Judge<'_, 'a, 'p, S>>,
    ) -> Result<Option<Outcome>, Trouble> {
        let words = self.product.code.words;
        let mut turns = 0u32;
        loop {
            if let Some(outcome) = self.search_roots(&mut roots, judge)? {
                return Ok(Some(outcome));
            }
            while let Some(node) = self.dull.pop_front() {
                crew.send(self.store.state(node))?;
            }
            let Some(received) = crew.receive()? else { return Ok(None) };
            for node in received.chunks_exact(words) {
                roots.push(self.number(node)?);
            }
            turns = turns.wrapping_add(1);
            if received.is_empty() || turns.is_multiple_of(64) {
                self.by_crew = Some(crew.figures());
                let memory = self.figures().2;
                if let Some(limit) = self.options.max_memory.filter(|&limit| memory > limit) {
                    return Err(Trouble::Stop(StopReason::MemoryLimit(limit)));
                }
                self.poll(memory, 0)?;
            }
        }
    }

    /// The nodes, the rule instances fired, and the bytes used.
    pub(crate) fn figures(&self) -> (u64, u64, u64) {
        let (fired, bytes) = (self.scratch.fired, self.store.memory_bytes() + 4 * self.store.len());
        match self.by_crew {
            None => (self.store.len(), fired, bytes),
            // What the threads have stored, and what only this thread searches.
            Some((dull, by_crew, more)) => (dull + self.live, fired + by_crew, bytes + more),
        }
    }

    /// Whether every node is in the store of this thread.
    pub(crate) fn knows_all(&self) -> bool {
        self.by_crew.is_none()
    }

    /// Searches from nodes that accepting cycles can go through.
    fn search_roots(
        &mut self,
        roots: &mut Vec<StateNumber>,
        judge: &mut Option<Judge<'_, 'a, 'p, S>>,
    ) -> Result<Option<Outcome>, Trouble> {
        for root in roots.drain(..) {
            if self.ranks[root as usize] == UNVISITED
                && let Some(outcome) = self.search_from(root, judge)?
            {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    /// Expands some of the nodes that no accepting cycle goes through. The others among their successors become roots.
    fn expand_dull(
        &mut self,
        batch: &mut Batch,
        recent: &mut Recent,
        roots: &mut Vec<StateNumber>,
    ) -> Result<(), Trouble> {
        batch.clear();
        while !batch.is_full()
            && let Some(node) = self.dull.pop_front()
        {
            self.tick(4 * self.dull.len() as u64, self.dull.len() as u64)?;
            self.product.expand(&mut self.scratch, self.store.state(node), &mut batch.successors)?;
            batch.close(node);
        }
        batch.prepare(&self.store, recent);
        self.admit(batch, roots)
    }

    /// Stores the new nodes of a batch.
    fn admit(&mut self, batch: &Batch, roots: &mut Vec<StateNumber>) -> Result<(), Trouble> {
        let mut number = 0;
        while let Some(run) = batch.run(number) {
            number += 1;
            for position in run.first..run.end {
                if batch.is_known(position) {
                    continue;
                }
                if let Probe::Vacant(place) = batch.probe(position, &self.store) {
                    let (node, _, hash) = batch.entry(position);
                    let new = self.add(node, hash, place, run.parent)?;
                    if self.ranks[new as usize] == UNVISITED {
                        roots.push(new);
                    }
                }
            }
        }
        Ok(())
    }

    /// Searches the components that can be reached from a node.
    fn search_from(
        &mut self,
        start: StateNumber,
        judge: &mut Option<Judge<'_, 'a, 'p, S>>,
    ) -> Result<Option<Outcome>, Trouble> {
        let all = self.product.automaton.all_sets();
        let (mut frames, mut roots, mut live): (Vec<Frame>, Vec<Root>, Vec<StateNumber>) = Default::default();
        let mut edges: Vec<Edge> = Vec::new();
        self.enter(start, 0, &mut frames, &mut roots, &mut live, &mut edges)?;
        while let Some(frame) = frames.last_mut() {
            let Some(&edge) = edges.get(frame.next) else {
                let Frame { node, first, .. } = frames.pop().expect("there is a frame");
                edges.truncate(first);
                if let Some(outcome) = self.leave(node, all, &mut roots, &mut live, judge)? {
                    return Ok(Some(outcome));
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
                        return Ok(Some(Outcome::Accepting(live.split_off(first))));
                    }
                }
            }
        }
        Ok(None)
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
        self.intern_all(node, Listed::Open, edges)
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
        self.found.clear();
        self.product.expand(&mut self.scratch, self.store.state(node), &mut self.found)
    }

    /// Stores what was found, and lists it.
    fn intern_all(&mut self, parent: StateNumber, listed: Listed, edges: &mut Vec<Edge>) -> Result<(), Trouble> {
        let words = self.product.code.words;
        let found = std::mem::replace(&mut self.found, Successors::new(words));
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(found.records().map(|record| Hash::of(&record[..words])));
        self.store.prefetch(&hashes);
        let mut result = Ok(());
        for (record, &hash) in found.records().zip(&hashes) {
            match self.intern(&record[..words], hash, parent) {
                Ok(to) if listed == Listed::Open && self.ranks[to as usize] == COMPLETE => {}
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
        match self.store.probe(node, hash) {
            Probe::Stored(number) => Ok(number),
            Probe::Vacant(position) => self.add(node, hash, position, parent),
        }
    }

    /// Stores a new node.
    #[inline]
    fn add(&mut self, node: &[u64], hash: Hash, position: usize, parent: StateNumber) -> Result<StateNumber, Trouble> {
        let limit = self.options.max_states.filter(|_| !self.is_found);
        if let Some(limit) = limit.filter(|&limit| self.store.len() >= limit) {
            return Err(Trouble::Stop(StopReason::StateLimit(limit)));
        }
        let number = self.store.insert(node, hash, position, parent).map_err(|full| self.full(full))?;
        if self.is_depth_first || self.product.is_live(node) {
            self.ranks.push(UNVISITED);
            self.live += 1;
        } else {
            self.ranks.push(COMPLETE);
            self.dull.push_back(number);
        }
        Ok(number)
    }

    fn full(&self, full: Full) -> Trouble {
        Trouble::Stop(full.reason(self.options))
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
        let (states, transitions, _) = self.figures();
        let progress = Progress { states, transitions, frontier, depth: self.depth, memory_bytes };
        match self.observer.progress(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(Trouble::Stop(reason)),
        }
    }

    /// The numbers of the successors of a node, with their marks. All are stored.
    pub(crate) fn successors(&mut self, node: StateNumber) -> Result<Vec<(StateNumber, u32)>, Trouble> {
        self.expand(node)?;
        let mut edges = Vec::new();
        self.intern_all(node, Listed::All, &mut edges)?;
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
        self.intern_all(NO_PARENT, Listed::All, &mut edges)?;
        Ok(edges.into_iter().map(|edge| edge.to).collect())
    }
}
