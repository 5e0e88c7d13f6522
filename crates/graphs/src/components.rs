//! Strongly connected components that a fair accepting path can stay in.
//!
//! The single-array form of Tarjan's algorithm is due to D. J. Pearce, "A space-efficient algorithm for finding strongly
//! connected components", Information Processing Letters 116 (2016). Weak fairness is a condition on a component: a class
//! that is enabled in all of its states is taken inside. For strong fairness, the states where a class is enabled that is
//! not taken inside are removed, and the rest is decomposed again (Emerson and Lei, "Modalities for model checking",
//! Science of Computer Programming 8, 1987).
//!
//! In a quotient a class has no fixed name: following an edge, it goes by another. So each class is followed as a
//! *thread* through the pairs of a node and a class; an edge is a bijection between the classes of its two ends. Pairs
//! that are connected are even strongly connected, since every edge is on a cycle. A run that stays in the component
//! and takes every edge again and again takes every thread through all pairs connected to it, and a run that stays
//! inside takes a thread nowhere else. Hence what is said above about classes holds for threads (E. A. Emerson and
//! A. P. Sistla, "Utilizing symmetry when model checking under fairness assumptions", TOPLAS 1997). This takes as many
//! steps as the component has pairs; no set of classes is part of a node. Where classes keep their names, the threads are
//! the classes.

use std::ops::ControlFlow;

use quotient_ir::Fairness;

use crate::graph::{FairnessClasses, StateSet};
use quotient_search::StopReason;

/// A graph whose nodes are states, perhaps together with states of an automaton.
pub trait Space {
    /// A position among the steps of a node.
    type Cursor: Copy;

    /// How many nodes there are, numbered from 0.
    fn nodes(&self) -> usize;
    /// The state of a node.
    fn state(&self, node: u32) -> u32;
    /// All acceptance sets, as bits.
    fn sets(&self) -> u64;
    /// The position before the first step of a node.
    fn first(&self, node: u32) -> Self::Cursor;
    /// The next step of a node.
    fn next(&self, node: u32, cursor: &mut Self::Cursor) -> Option<Step>;
}

/// A step from a node.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The node it enters.
    pub to: u32,
    /// The edge of the graph.
    pub edge: usize,
    /// The acceptance sets it belongs to, as bits.
    pub acceptance: u64,
}

/// The steps of a node.
pub(super) fn steps<S: Space>(space: &S, node: u32) -> impl Iterator<Item = Step> + '_ {
    let mut cursor = space.first(node);
    std::iter::from_fn(move || space.next(node, &mut cursor))
}

/// Says from time to time that work goes on, and learns whether to stop.
pub struct Watch<'a> {
    poll: &'a mut dyn FnMut() -> ControlFlow<StopReason>,
    work: u32,
}

impl<'a> Watch<'a> {
    /// Calls a function from time to time; a break of it stops the work.
    pub fn new(poll: &'a mut dyn FnMut() -> ControlFlow<StopReason>) -> Self {
        Self { poll, work: 0 }
    }
    /// Units of work between polls.
    const INTERVAL: u32 = 1 << 14;

    /// Counts a unit of work.
    ///
    /// # Errors
    /// The reason to stop, if there is one.
    #[inline]
    pub fn tick(&mut self) -> Result<(), StopReason> {
        self.work += 1;
        if self.work < Self::INTERVAL {
            return Ok(());
        }
        self.work = 0;
        match (self.poll)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(reason),
        }
    }
}

/// The rank of an unvisited node.
const UNVISITED: u32 = 0;
/// The bit of a node whose component is complete. The other bits say which one, if a path can stay in it.
const COMPLETE: u32 = 1 << 31;
/// The rank of the nodes of the component that is being judged.
const CURRENT: u32 = u32::MAX;
/// The most nodes: their ranks and the numbers of components must be below `COMPLETE`.
pub const MOST_NODES: usize = COMPLETE as usize - 2;

/// The components that a path can stay in such that it is accepted and fair.
#[derive(Debug)]
pub struct Components {
    ranks: Vec<u32>,
}

impl Components {
    /// The component that was found first.
    pub const FIRST: u32 = 1;

    /// The component of a node, if it is one of these.
    pub fn of(&self, node: u32) -> Option<u32> {
        let component = self.ranks[node as usize] ^ COMPLETE;
        (component != 0 && component & COMPLETE == 0).then_some(component)
    }
    /// All nodes of these components.
    #[inline]
    pub(super) fn members(&self) -> StateSet {
        let mut members = StateSet::empty(self.ranks.len());
        for node in (0..self.ranks.len() as u32).filter(|&node| self.of(node).is_some()) {
            members.insert(node);
        }
        members
    }
    /// The bytes for a space with so many nodes, without the path.
    pub(super) fn bytes_for(nodes: u64) -> u64 {
        nodes * 4
    }
}

/// Finds the components that can be reached from some nodes.
pub fn components<S: Space>(
    space: &S,
    roots: impl Iterator<Item = u32>,
    fair: Option<&dyn FairnessClasses>,
    watch: &mut Watch<'_>,
) -> Result<Components, StopReason> {
    let nodes = space.nodes();
    if nodes > MOST_NODES {
        return Err(StopReason::TooManyStates);
    }
    let mut search = Decomposition {
        space,
        fair,
        ranks: vec![UNVISITED; nodes],
        path: Vec::new(),
        pending: Vec::new(),
        again: Vec::new(),
        found: 0,
        positions: Vec::new(),
    };
    for root in roots {
        if search.ranks[root as usize] == UNVISITED {
            search.visit_from(root, watch)?;
        }
    }
    // All else is complete by now, so a part is decomposed by itself.
    while let Some(part) = search.again.pop() {
        for &node in &part {
            search.ranks[node as usize] = UNVISITED;
        }
        for &node in &part {
            if search.ranks[node as usize] == UNVISITED {
                search.visit_from(node, watch)?;
            }
        }
    }
    Ok(Components { ranks: search.ranks })
}

struct Decomposition<'a, S: Space> {
    space: &'a S,
    fair: Option<&'a dyn FairnessClasses>,
    /// The order of the visit, lowered to that of the earliest node known to be in the same component; at the end the
    /// component.
    ranks: Vec<u32>,
    path: Vec<(u32, u32, S::Cursor)>,
    /// Visited nodes that are off the path but whose component is incomplete.
    pending: Vec<u32>,
    /// Parts of components that must be decomposed again.
    again: Vec<Vec<u32>>,
    /// The number of components found.
    found: u32,
    /// The positions of nodes in the component being judged, if classes change their names.
    positions: Vec<u32>,
}

impl<S: Space> Decomposition<'_, S> {
    fn visit_from(&mut self, root: u32, watch: &mut Watch<'_>) -> Result<(), StopReason> {
        let mut next_rank = 1;
        self.ranks[root as usize] = next_rank;
        self.path.push((root, next_rank, self.space.first(root)));
        while let Some((node, entered, cursor)) = self.path.last_mut() {
            watch.tick()?;
            let node = *node;
            if let Some(step) = self.space.next(node, cursor) {
                match self.ranks[step.to as usize] {
                    UNVISITED => {
                        next_rank += 1;
                        self.ranks[step.to as usize] = next_rank;
                        self.path.push((step.to, next_rank, self.space.first(step.to)));
                    }
                    rank if rank & COMPLETE == 0 => {
                        let own = &mut self.ranks[node as usize];
                        *own = rank.min(*own);
                    }
                    _ => {}
                }
                continue;
            }
            let entered = *entered;
            self.path.pop();
            let rank = self.ranks[node as usize];
            if rank < entered {
                self.pending.push(node);
                let (parent, ..) = self.path.last().expect("the first node of a component is on the path");
                let above = &mut self.ranks[*parent as usize];
                *above = rank.min(*above);
            } else {
                next_rank -= self.complete(node, entered, watch)?;
            }
        }
        Ok(())
    }

    /// Completes the component whose first visited node is `root`. Returns its size.
    fn complete(&mut self, root: u32, entered: u32, watch: &mut Watch<'_>) -> Result<u32, StopReason> {
        let below = self.pending.iter().rposition(|&node| self.ranks[node as usize] < entered);
        let first = below.map_or(0, |below| below + 1);
        self.pending.push(root);
        for &node in &self.pending[first..] {
            self.ranks[node as usize] = CURRENT;
        }
        let rank = match self.judge(first, watch)? {
            Judgement::Stays => {
                self.found += 1;
                COMPLETE | self.found
            }
            Judgement::Leaves => COMPLETE,
            Judgement::Within(rest) => {
                self.again.push(rest);
                COMPLETE
            }
        };
        for &node in &self.pending[first..] {
            self.ranks[node as usize] = rank;
        }
        let size = (self.pending.len() - first) as u32;
        self.pending.truncate(first);
        Ok(size)
    }

    /// Judges the component of the pending nodes from a position on.
    fn judge(&mut self, first: usize, watch: &mut Watch<'_>) -> Result<Judgement, StopReason> {
        let Self { space, ranks, positions, .. } = self;
        let members = &self.pending[first..];
        let inner = |node: u32| steps(*space, node).filter(|step| ranks[step.to as usize] == CURRENT);
        let (mut acceptance, mut has_cycle) = (0, false);
        for step in members.iter().flat_map(|&node| inner(node)) {
            watch.tick()?;
            has_cycle = true;
            acceptance |= step.acceptance;
        }
        if !has_cycle || acceptance != space.sets() {
            return Ok(Judgement::Leaves);
        }
        let Some(fair) = self.fair else { return Ok(Judgement::Stays) };
        let classes = fair.count();
        if fair.has_renamings() && members.len().saturating_mul(classes) > u32::MAX as usize {
            return Err(StopReason::TooManyStates);
        }
        let mut threads = Threads::new(fair, members, space.nodes(), positions);
        if fair.has_renamings() {
            for &node in members {
                for step in inner(node) {
                    watch.tick()?;
                    threads.join(node, &step);
                }
            }
        }
        let mut known = vec![Thread::default(); threads.count()];
        let mut here = ClassSet::empty(classes);
        for &node in members {
            watch.tick()?;
            for step in inner(node) {
                fair.taken(step.edge, &mut |class| known[threads.of(step.to, class)].is_taken = true);
            }
            here.clear();
            fair.enabled(space.state(node), &mut |class| here.insert(class));
            for class in 0..classes as u32 {
                let thread = &mut known[threads.of(node, class)];
                thread.strength = fair.strength(class);
                thread.rests |= !here.contains(class);
            }
        }
        if known.iter().any(|thread| thread.strength == Fairness::Weak && !thread.is_taken && !thread.rests) {
            return Ok(Judgement::Leaves);
        }
        // Fair paths leave nodes where a class is enabled that is not taken.
        let mut is_neglected = |node: u32| {
            let mut neglected = false;
            fair.enabled(space.state(node), &mut |class| {
                let thread = known[threads.of(node, class)];
                neglected |= thread.strength == Fairness::Strong && !thread.is_taken;
            });
            neglected
        };
        let rest: Vec<u32> = members.iter().copied().filter(|&node| !is_neglected(node)).collect();
        Ok(match rest.len() {
            0 => Judgement::Leaves,
            all if all == members.len() => Judgement::Stays,
            _ => Judgement::Within(rest),
        })
    }
}

/// What is known about a component.
enum Judgement {
    /// A path that visits everything in it again and again counts.
    Stays,
    /// No path that stays in it counts.
    Leaves,
    /// A path that counts finally stays among these nodes.
    Within(Vec<u32>),
}

/// What is known about a class, followed through a component.
#[derive(Clone, Copy, Default)]
struct Thread {
    strength: Fairness,
    /// Whether it is taken inside, and whether it is not enabled somewhere.
    is_taken: bool,
    rests: bool,
}

/// The classes, followed through a component.
struct Threads<'a> {
    classes: &'a dyn FairnessClasses,
    /// The position of each node among the members, if classes change their names.
    positions: &'a [u32],
    /// Disjoint sets of pairs of a position and a class.
    pairs: Vec<u32>,
}

impl<'a> Threads<'a> {
    fn new(classes: &'a dyn FairnessClasses, members: &[u32], nodes: usize, positions: &'a mut Vec<u32>) -> Self {
        if !classes.has_renamings() {
            return Self { classes, positions: &[], pairs: Vec::new() };
        }
        positions.resize(nodes, 0);
        for (position, &node) in (0..).zip(members) {
            positions[node as usize] = position;
        }
        Self { classes, positions, pairs: (0..(members.len() * classes.count()) as u32).collect() }
    }

    /// A bound of the numbers of threads.
    #[inline]
    fn count(&self) -> usize {
        if self.positions.is_empty() { self.classes.count() } else { self.pairs.len() }
    }

    #[inline]
    fn pair(&self, node: u32, class: u32) -> usize {
        self.positions[node as usize] as usize * self.classes.count() + class as usize
    }

    /// The thread of a class by its name at a node.
    fn of(&mut self, node: u32, class: u32) -> usize {
        if self.positions.is_empty() {
            return class as usize;
        }
        let mut pair = self.pair(node, class);
        while self.pairs[pair] as usize != pair {
            let above = self.pairs[self.pairs[pair] as usize];
            self.pairs[pair] = above;
            pair = above as usize;
        }
        pair
    }

    /// Follows all classes along a step.
    #[inline]
    fn join(&mut self, node: u32, step: &Step) {
        for class in 0..self.classes.count() as u32 {
            let name = self.classes.renamed(step.edge, class);
            let (before, after) = (self.of(node, class), self.of(step.to, name));
            self.pairs[before.max(after)] = before.min(after) as u32;
        }
    }
}

/// A set of fairness classes.
#[derive(Clone, Debug)]
pub(super) struct ClassSet {
    words: Vec<u64>,
}

impl ClassSet {
    #[inline]
    pub(super) fn empty(classes: usize) -> Self {
        Self { words: vec![0; classes.div_ceil(64)] }
    }
    #[inline]
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
    #[inline]
    pub(super) fn contains(&self, class: u32) -> bool {
        self.words[class as usize / 64] >> (class % 64) & 1 == 1
    }
    #[inline]
    pub(super) fn insert(&mut self, class: u32) {
        self.words[class as usize / 64] |= 1 << (class % 64);
    }
    #[inline]
    pub(super) fn keep(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine &= yours);
    }
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine |= yours);
    }
    #[inline]
    pub(super) fn remove(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine &= !yours);
    }
    #[inline]
    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(mine, yours)| mine & !yours == 0)
    }
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, yours)| mine & yours != 0)
    }
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }
}
