//! Strongly connected components that a fair accepting path can stay in, and lassos through them.
//!
//! The single-array form of Tarjan's algorithm is due to D. J. Pearce, "A space-efficient algorithm for finding strongly
//! connected components", Information Processing Letters 116 (2016). Weak fairness is a condition on a component: a class
//! that is enabled in all of its states is taken inside. For strong fairness, the states where a class is enabled that is
//! not taken inside are removed, and the rest is decomposed again (Emerson and Lei, "Modalities for model checking",
//! Science of Computer Programming 8, 1987).

use std::ops::ControlFlow;

use quotient_ir::Fairness;

use super::graph::{FairnessClasses, StateSet};
use crate::report::StopReason;

/// A graph whose nodes are states of a [`super::Graph`], perhaps together with states of an automaton.
pub(super) trait Space {
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
pub(super) struct Step {
    /// The node it enters.
    pub(super) to: u32,
    /// The edge of the graph.
    pub(super) edge: usize,
    /// The acceptance sets it belongs to, as bits.
    pub(super) acceptance: u64,
}

/// The steps of a node.
fn steps<S: Space>(space: &S, node: u32) -> impl Iterator<Item = Step> + '_ {
    let mut cursor = space.first(node);
    std::iter::from_fn(move || space.next(node, &mut cursor))
}

/// The fairness classes, and which of them are guaranteed what.
#[derive(Clone)]
pub(super) struct Fair<'a> {
    classes: &'a dyn FairnessClasses,
    weak: ClassSet,
    strong: ClassSet,
}

impl<'a> Fair<'a> {
    pub(super) fn new(classes: &'a dyn FairnessClasses) -> Self {
        let (mut weak, mut strong) = (ClassSet::empty(classes.count()), ClassSet::empty(classes.count()));
        for class in 0..classes.count() as u32 {
            match classes.strength(class) {
                Fairness::None => {}
                Fairness::Weak => weak.insert(class),
                Fairness::Strong => strong.insert(class),
            }
        }
        Self { classes, weak, strong }
    }
    /// A set of classes without members.
    fn none(&self) -> ClassSet {
        ClassSet::empty(self.classes.count())
    }
}

/// Says from time to time that work goes on, and learns whether to stop.
pub(super) struct Watch<'a> {
    poll: &'a mut dyn FnMut() -> ControlFlow<StopReason>,
    work: u32,
}

impl<'a> Watch<'a> {
    pub(super) fn new(poll: &'a mut dyn FnMut() -> ControlFlow<StopReason>) -> Self {
        Self { poll, work: 0 }
    }
    /// Units of work between polls.
    const INTERVAL: u32 = 1 << 14;

    #[inline]
    pub(super) fn tick(&mut self) -> Result<(), StopReason> {
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
/// The most nodes: their ranks and the numbers of components must be below [`COMPLETE`].
pub(super) const MOST_NODES: usize = COMPLETE as usize - 2;

/// The components that a path can stay in such that it is accepted and fair.
#[derive(Debug)]
pub(super) struct Components {
    ranks: Vec<u32>,
}

impl Components {
    /// The component of a node, if it is one of these.
    pub(super) fn of(&self, node: u32) -> Option<u32> {
        let component = self.ranks[node as usize] ^ COMPLETE;
        (component != 0 && component & COMPLETE == 0).then_some(component)
    }
    /// All nodes of these components.
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
pub(super) fn components<S: Space>(
    space: &S,
    roots: impl Iterator<Item = u32>,
    fair: Option<&Fair<'_>>,
    watch: &mut Watch<'_>,
) -> Result<Components, StopReason> {
    let nodes = space.nodes();
    if nodes > MOST_NODES {
        return Err(StopReason::TooManyStates);
    }
    let none = fair.map_or_else(|| ClassSet::empty(0), Fair::none);
    let mut search = Decomposition {
        space,
        fair,
        ranks: vec![UNVISITED; nodes],
        path: Vec::new(),
        pending: Vec::new(),
        again: Vec::new(),
        found: 0,
        everywhere: none.clone(),
        somewhere: none.clone(),
        here: none.clone(),
        taken: none,
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
    fair: Option<&'a Fair<'a>>,
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
    /// Classes of the component being judged: those enabled in all states, in some state, and in one state, and those
    /// taken inside.
    everywhere: ClassSet,
    somewhere: ClassSet,
    here: ClassSet,
    taken: ClassSet,
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
        let judgement = self.judge(first, watch)?;
        let rank = match judgement {
            Judgement::Stays => {
                self.found += 1;
                COMPLETE | self.found
            }
            Judgement::Leaves | Judgement::Unclear => COMPLETE,
        };
        for &node in &self.pending[first..] {
            self.ranks[node as usize] = rank;
        }
        let size = (self.pending.len() - first) as u32;
        if let (Judgement::Unclear, Some(fair)) = (judgement, self.fair) {
            // Nothing that is left out can be part of a fair cycle here.
            let (space, somewhere) = (self.space, &self.somewhere);
            let neglected = |node: u32| {
                let mut neglected = false;
                fair.classes.enabled(space.state(node), &mut |class| neglected |= somewhere.contains(class));
                neglected
            };
            let rest: Vec<u32> = self.pending[first..].iter().copied().filter(|&node| !neglected(node)).collect();
            if !rest.is_empty() {
                self.again.push(rest);
            }
        }
        self.pending.truncate(first);
        Ok(size)
    }

    /// Judges the component of the pending nodes from a position on. If it is unclear, `somewhere` has the classes
    /// that are enabled in it and should be taken.
    fn judge(&mut self, first: usize, watch: &mut Watch<'_>) -> Result<Judgement, StopReason> {
        let Self { space, ranks, fair, everywhere, somewhere, here, taken, .. } = self;
        let (mut acceptance, mut has_cycle) = (0, false);
        for set in [&mut *somewhere, &mut *taken] {
            set.clear();
        }
        everywhere.fill();
        for &node in &self.pending[first..] {
            for step in steps(*space, node).filter(|step| ranks[step.to as usize] == CURRENT) {
                watch.tick()?;
                has_cycle = true;
                acceptance |= step.acceptance;
                if let Some(fair) = fair {
                    fair.classes.taken(step.edge, &mut |class| taken.insert(class));
                }
            }
            if let Some(fair) = fair {
                here.clear();
                fair.classes.enabled(space.state(node), &mut |class| here.insert(class));
                everywhere.keep(here);
                somewhere.add(here);
            }
        }
        if !has_cycle || acceptance != space.sets() {
            return Ok(Judgement::Leaves);
        }
        let Some(fair) = fair else { return Ok(Judgement::Stays) };
        everywhere.keep(&fair.weak);
        if !everywhere.is_subset(taken) {
            return Ok(Judgement::Leaves);
        }
        somewhere.keep(&fair.strong);
        somewhere.remove(taken);
        Ok(if somewhere.is_empty() { Judgement::Stays } else { Judgement::Unclear })
    }
}

/// What is known about a component.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judgement {
    /// A path that visits everything in it again and again counts.
    Stays,
    /// No path that stays in it counts.
    Leaves,
    /// A path that stays in a part of it may count.
    Unclear,
}

/// A set of fairness classes.
#[derive(Clone, Debug)]
struct ClassSet {
    words: Vec<u64>,
}

impl ClassSet {
    fn empty(classes: usize) -> Self {
        Self { words: vec![0; classes.div_ceil(64)] }
    }
    fn clear(&mut self) {
        self.words.fill(0);
    }
    fn fill(&mut self) {
        self.words.fill(u64::MAX);
    }
    fn contains(&self, class: u32) -> bool {
        self.words[class as usize / 64] >> (class % 64) & 1 == 1
    }
    fn insert(&mut self, class: u32) {
        self.words[class as usize / 64] |= 1 << (class % 64);
    }
    fn keep(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine &= yours);
    }
    fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine |= yours);
    }
    fn remove(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine &= !yours);
    }
    fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(mine, yours)| mine & !yours == 0)
    }
    fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, yours)| mine & yours != 0)
    }
    fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }
}

/// Breadth-first searches of a space, with memory that is used again.
pub(super) struct Ways<'a, S: Space> {
    space: &'a S,
    /// The node from which each node was found.
    parents: Vec<u32>,
    queue: Vec<u32>,
}

/// The parent of a node that was not found.
const UNFOUND: u32 = u32::MAX;

impl<'a, S: Space> Ways<'a, S> {
    pub(super) fn new(space: &'a S) -> Self {
        Self { space, parents: vec![UNFOUND; space.nodes()], queue: Vec::new() }
    }
    /// A shortest way from one of some nodes over nodes that are inside, ending with a step that is a goal: the node where
    /// it begins, and the steps.
    pub(super) fn find(
        &mut self,
        starts: &[u32],
        is_inside: impl Fn(u32) -> bool,
        mut is_goal: impl FnMut(&Step) -> bool,
        watch: &mut Watch<'_>,
    ) -> Result<Option<(u32, Vec<Step>)>, StopReason> {
        for node in self.queue.drain(..) {
            self.parents[node as usize] = UNFOUND;
        }
        for &start in starts.iter().filter(|&&start| is_inside(start)) {
            if self.parents[start as usize] == UNFOUND {
                self.parents[start as usize] = start;
                self.queue.push(start);
            }
        }
        let mut done = 0;
        while done < self.queue.len() {
            let node = self.queue[done];
            done += 1;
            for step in steps(self.space, node) {
                watch.tick()?;
                if !is_inside(step.to) {
                    continue;
                }
                if is_goal(&step) {
                    return Ok(Some(self.unwind(node, step)));
                }
                if self.parents[step.to as usize] == UNFOUND {
                    self.parents[step.to as usize] = node;
                    self.queue.push(step.to);
                }
            }
        }
        Ok(None)
    }
    fn unwind(&self, mut node: u32, last: Step) -> (u32, Vec<Step>) {
        let mut way = vec![last];
        while self.parents[node as usize] != node {
            let parent = self.parents[node as usize];
            way.push(steps(self.space, parent).find(|step| step.to == node).expect("the node was found from there"));
            node = parent;
        }
        way.reverse();
        (node, way)
    }
}

/// A way and a cycle at its end.
#[derive(Clone, Debug)]
pub(super) struct Lasso {
    /// The steps to the cycle.
    pub(super) stem: Vec<Step>,
    /// The steps of the cycle.
    pub(super) cycle: Vec<Step>,
}

/// A lasso from one of some nodes, accepted and fair: its stem is as short as possible, its cycle is made greedily. There
/// must be one.
pub(super) fn lasso<S: Space>(
    space: &S,
    starts: &[u32],
    components: &Components,
    fair: Option<&Fair<'_>>,
    watch: &mut Watch<'_>,
) -> Result<Option<Lasso>, StopReason> {
    let mut ways = Ways::new(space);
    let (start, stem) = match starts.iter().find(|&&start| components.of(start).is_some()) {
        Some(&start) => (start, Vec::new()),
        None => match ways.find(starts, |_| true, |step| components.of(step.to).is_some(), watch)? {
            Some(way) => way,
            None => return Ok(None),
        },
    };
    let entry = stem.last().map_or(start, |step| step.to);
    let component = components.of(entry);
    let is_inside = |node: u32| components.of(node) == component;
    let mut needs = Needs::new(space.sets(), fair);
    needs.visit(space.state(entry));
    let (mut cycle, mut at): (Vec<Step>, u32) = (Vec::new(), entry);
    loop {
        while !needs.is_met() {
            let way = ways.find(&[at], is_inside, |step| needs.is_served_by(step, space.state(step.to)), watch)?;
            let (_, way) = way.expect("a fair component has all that a cycle in it needs");
            for step in way {
                at = step.to;
                needs.take(&step);
                needs.visit(space.state(at));
                cycle.push(step);
            }
        }
        if at == entry && !cycle.is_empty() {
            return Ok(Some(Lasso { stem, cycle }));
        }
        let way = ways.find(&[at], is_inside, |step| step.to == entry, watch)?;
        let (_, way) = way.expect("a component is strongly connected");
        for step in way {
            at = step.to;
            needs.take(&step);
            needs.visit(space.state(at));
            cycle.push(step);
        }
    }
}

/// What a cycle still needs to be accepted and fair.
struct Needs<'a> {
    sets: u64,
    fair: Option<&'a Fair<'a>>,
    /// Weakly fair classes that were enabled in all states so far and not taken.
    weak: ClassSet,
    /// Strongly fair classes that were enabled and not taken.
    strong: ClassSet,
    taken: ClassSet,
    here: ClassSet,
}

impl<'a> Needs<'a> {
    fn new(sets: u64, fair: Option<&'a Fair<'a>>) -> Self {
        let none = fair.map_or_else(|| ClassSet::empty(0), Fair::none);
        let weak = fair.map_or_else(|| none.clone(), |fair| fair.weak.clone());
        Self { sets, fair, weak, strong: none.clone(), taken: none.clone(), here: none }
    }
    fn is_met(&self) -> bool {
        self.sets == 0 && self.weak.is_empty() && self.strong.is_empty()
    }
    fn visit(&mut self, state: u32) {
        let Some(fair) = self.fair else { return };
        let here = &mut self.here;
        here.clear();
        fair.classes.enabled(state, &mut |class| here.insert(class));
        self.weak.keep(here);
        here.keep(&fair.strong);
        here.remove(&self.taken);
        self.strong.add(here);
    }
    fn take(&mut self, step: &Step) {
        self.sets &= !step.acceptance;
        if let Some(fair) = self.fair {
            fair.classes.taken(step.edge, &mut |class| self.taken.insert(class));
            self.weak.remove(&self.taken);
            self.strong.remove(&self.taken);
        }
    }
    /// Whether a step to a state brings the cycle closer to being accepted and fair.
    fn is_served_by(&mut self, step: &Step, to: u32) -> bool {
        if step.acceptance & self.sets != 0 {
            return true;
        }
        let Some(fair) = self.fair else { return false };
        let here = &mut self.here;
        here.clear();
        fair.classes.taken(step.edge, &mut |class| here.insert(class));
        if here.meets(&self.weak) || here.meets(&self.strong) {
            return true;
        }
        if self.weak.is_empty() {
            return false;
        }
        here.clear();
        fair.classes.enabled(to, &mut |class| here.insert(class));
        !self.weak.is_subset(here)
    }
}
