//! A strongly connected component of a product as a graph of its own, with what fairness needs: which classes are
//! enabled in each node, which are taken on each edge, and how symmetries rename the classes along it.
//!
//! In a quotient a class has no fixed name: following an edge, it goes by another. So each class is followed as a
//! *thread* through the pairs of a node and a class; an edge is a bijection between the classes of its two ends. Pairs
//! that are connected are even strongly connected, since every edge is on a cycle. A run that stays in the component
//! and takes every edge again and again takes every thread through all pairs connected to it, and a run that stays
//! inside takes a thread nowhere else. Hence (E. A. Emerson and A. P. Sistla, "Utilizing symmetry when model checking
//! under fairness assumptions", TOPLAS 1997):
//!
//! * weak fairness: if the pairs of some thread are all enabled and none is taken, no run inside is fair;
//! * strong fairness: if none is taken, runs that are fair leave the nodes of pairs that are enabled: these are removed,
//!   and the rest is decomposed again.
//!
//! If nothing of this happens, the component has a fair run. This takes as many steps as the component has pairs; no
//! set of classes is part of a node.

use std::rc::Rc;

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Budget, Fairness, Model, Spent};
use rustc_hash::FxHashMap;

use crate::explicit::store::StateNumber;
use crate::report::StopReason;
use crate::seam::SearchSpace;
use crate::temporal::classes::{ClassAction, ClassId, Classes};
use crate::temporal::product::{Product, ProductStep, Trouble};
use crate::temporal::search::Search;

/// What is known about fairness: the classes, and the action of each level's group on them (none without a group).
pub(crate) struct FairnessData<'a> {
    pub(crate) model: &'a Model,
    pub(crate) classes: &'a Classes,
    pub(crate) actions: Vec<Option<ClassAction>>,
    pub(crate) budget: &'a Budget,
}

/// An edge inside a component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComponentEdge {
    pub(crate) to: u32,
    pub(crate) marks: u32,
    /// The renaming of classes along it.
    pub(crate) turn: u32,
    /// Its position among the steps of its node.
    pub(crate) ordinal: u32,
    /// The classes taken, by the names at its end.
    taken: [ClassId; 2],
}

pub(crate) const NO_CLASS: ClassId = ClassId::MAX;

impl ComponentEdge {
    /// The classes taken, by the names at its end.
    pub(crate) fn taken(&self) -> impl Iterator<Item = ClassId> {
        self.taken.into_iter().filter(|&class| class != NO_CLASS)
    }
}

/// A component, or a part of one, as a graph.
pub(crate) struct Component {
    pub(crate) nodes: Vec<StateNumber>,
    offsets: Vec<usize>,
    edges: Vec<ComponentEdge>,
    /// The number of classes, and the enabled ones of each node, as bits.
    classes: usize,
    enabled: Vec<u64>,
    turns: Vec<Rc<[ClassId]>>,
}

impl Component {
    /// The graph of some nodes.
    pub(crate) fn new<S: SearchSpace>(
        search: &mut Search<'_, '_, S>,
        nodes: &[StateNumber],
        fairness: Option<&FairnessData<'_>>,
    ) -> Result<Self, Trouble> {
        let product: &Product<'_, S> = search.product;
        let local: FxHashMap<StateNumber, u32> = (0..).zip(nodes).map(|(number, &node)| (node, number)).collect();
        let classes = fairness.map_or(0, |fairness| fairness.classes.len());
        let width = classes.div_ceil(64);
        let mut component = Self {
            nodes: nodes.to_vec(),
            offsets: vec![0],
            edges: Vec::new(),
            classes,
            enabled: vec![0; width * nodes.len()],
            turns: vec![(0..classes as ClassId).collect()],
        };
        let mut known: FxHashMap<Rc<[ClassId]>, u32> = FxHashMap::default();
        known.insert(Rc::clone(&component.turns[0]), 0);
        for (position, &number) in nodes.iter().enumerate() {
            if position % 1024 == 1023 {
                search.poll(search.store.memory_bytes(), nodes.len() as u64)?;
            }
            let node = search.store.state(number).to_vec();
            let mut ordinal = 0;
            let mut spent = None;
            let store = &search.store;
            let (edges, turns) = (&mut component.edges, &mut component.turns);
            product.steps(&mut search.scratch, &node, &mut |step| {
                ordinal += 1;
                let Some(to) = store.find(step.node, crate::explicit::store::Hash::of(step.node)) else { return };
                let Some(&to) = local.get(&to) else { return };
                let mut edge =
                    ComponentEdge { to, marks: step.marks, turn: 0, ordinal: ordinal - 1, taken: [NO_CLASS; 2] };
                if let Some(fairness) = fairness {
                    match fairness.follow(&step) {
                        Ok((turn, taken)) => {
                            edge.taken = taken;
                            edge.turn = *known.entry(Rc::clone(&turn)).or_insert_with(|| {
                                turns.push(turn);
                                turns.len() as u32 - 1
                            });
                        }
                        Err(error) => spent = Some(error),
                    }
                }
                edges.push(edge);
            })?;
            if spent.is_some() {
                return Err(Trouble::Stop(StopReason::Interrupted));
            }
            component.offsets.push(component.edges.len());
            if let Some(fairness) = fairness {
                let mut state = Vec::new();
                product.code.state(&node, &mut state);
                let enabled = &mut component.enabled[position * width..][..width];
                product.enabled(&mut search.scratch, &state, &mut |instance| {
                    for class in fairness.classes.of_action(fairness.model, instance.action, instance.arguments) {
                        enabled[class as usize / 64] |= 1 << (class % 64);
                    }
                })?;
            }
        }
        Ok(component)
    }

    /// The edges of a node.
    pub(crate) fn edges(&self, node: u32) -> &[ComponentEdge] {
        &self.edges[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// The name of a class after an edge.
    pub(crate) fn turned(&self, edge: &ComponentEdge, class: ClassId) -> ClassId {
        self.turns[edge.turn as usize][class as usize]
    }

    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Whether a class is enabled in a node.
    pub(crate) fn is_enabled(&self, node: u32, class: ClassId) -> bool {
        let width = self.classes.div_ceil(64);
        self.enabled[node as usize * width + class as usize / 64] >> (class % 64) & 1 == 1
    }

    /// A part of the component, strongly connected and with all acceptance sets, that has a fair run.
    pub(crate) fn fair_part(&self, marks: &[u64], all: u64, strength: &[Fairness]) -> Option<Vec<u32>> {
        let mut pending: Vec<Vec<u32>> = vec![(0..self.nodes.len() as u32).collect()];
        while let Some(part) = pending.pop() {
            for component in self.decompose(&part) {
                let is_inside = membership(&component, self.nodes.len());
                let inside = |edge: &&ComponentEdge| is_inside[edge.to as usize];
                let mut sets = 0;
                let mut is_cyclic = false;
                for edge in component.iter().flat_map(|&node| self.edges(node)).filter(inside) {
                    sets |= marks[edge.marks as usize];
                    is_cyclic = true;
                }
                if !is_cyclic || sets != all {
                    continue;
                }
                match self.judge(&component, &is_inside, strength) {
                    Judgement::Fair => return Some(component),
                    Judgement::Unfair => {}
                    Judgement::Without(removed) => {
                        let rest: Vec<u32> = component.into_iter().filter(|node| !removed[*node as usize]).collect();
                        pending.push(rest);
                    }
                }
            }
        }
        None
    }

    /// Follows the threads of a strongly connected part.
    fn judge(&self, part: &[u32], is_inside: &[bool], strength: &[Fairness]) -> Judgement {
        let classes = self.classes;
        if classes == 0 {
            return Judgement::Fair;
        }
        let mut position = vec![u32::MAX; self.nodes.len()];
        for (number, &node) in (0..).zip(part) {
            position[node as usize] = number;
        }
        let pair = |node: u32, class: ClassId| position[node as usize] as usize * classes + class as usize;
        let mut threads = UnionFind::new(part.len() * classes);
        for &node in part {
            for edge in self.edges(node).iter().filter(|edge| is_inside[edge.to as usize]) {
                for class in 0..classes as ClassId {
                    threads.join(pair(node, class), pair(edge.to, self.turned(edge, class)));
                }
            }
        }
        let (mut is_taken, mut rests) = (vec![false; part.len() * classes], vec![false; part.len() * classes]);
        for &node in part {
            for edge in self.edges(node).iter().filter(|edge| is_inside[edge.to as usize]) {
                for class in edge.taken() {
                    is_taken[threads.find(pair(edge.to, class))] = true;
                }
            }
            for class in 0..classes as ClassId {
                if !self.is_enabled(node, class) {
                    rests[threads.find(pair(node, class))] = true;
                }
            }
        }
        let mut removed: Option<Vec<bool>> = None;
        for &node in part {
            for class in 0..classes as ClassId {
                let thread = threads.find(pair(node, class));
                if is_taken[thread] {
                    continue;
                }
                match strength[class as usize] {
                    Fairness::Weak if !rests[thread] => return Judgement::Unfair,
                    Fairness::Strong if self.is_enabled(node, class) => {
                        removed.get_or_insert_with(|| vec![false; self.nodes.len()])[node as usize] = true;
                    }
                    _ => {}
                }
            }
        }
        removed.map_or(Judgement::Fair, Judgement::Without)
    }

    /// The strongly connected components of a part, by Tarjan's algorithm without recursion.
    fn decompose(&self, part: &[u32]) -> Vec<Vec<u32>> {
        const UNVISITED: u32 = u32::MAX;
        let is_inside = membership(part, self.nodes.len());
        let mut ranks = vec![UNVISITED; self.nodes.len()];
        let mut lowest = vec![0u32; self.nodes.len()];
        let mut is_live = vec![false; self.nodes.len()];
        let (mut live, mut path): (Vec<u32>, Vec<(u32, usize)>) = Default::default();
        let (mut next, mut components) = (0, Vec::new());
        for &root in part {
            if ranks[root as usize] != UNVISITED {
                continue;
            }
            path.push((root, 0));
            while let Some((node, edge)) = path.last_mut() {
                let node = *node;
                if *edge == 0 {
                    (ranks[node as usize], lowest[node as usize]) = (next, next);
                    next += 1;
                    live.push(node);
                    is_live[node as usize] = true;
                }
                match self.edges(node).get(*edge) {
                    Some(step) => {
                        *edge += 1;
                        let to = step.to;
                        if !is_inside[to as usize] {
                            continue;
                        }
                        if ranks[to as usize] == UNVISITED {
                            path.push((to, 0));
                        } else if is_live[to as usize] {
                            lowest[node as usize] = lowest[node as usize].min(ranks[to as usize]);
                        }
                    }
                    None => {
                        path.pop();
                        if let Some(&(before, _)) = path.last() {
                            lowest[before as usize] = lowest[before as usize].min(lowest[node as usize]);
                        }
                        if lowest[node as usize] == ranks[node as usize] {
                            let first = live.iter().rposition(|&other| other == node).expect("it is live");
                            let component = live.split_off(first);
                            component.iter().for_each(|&member| is_live[member as usize] = false);
                            components.push(component);
                        }
                    }
                }
            }
        }
        components
    }
}

/// What fairness says about a strongly connected part.
enum Judgement {
    Fair,
    Unfair,
    /// Fair runs finally avoid these nodes.
    Without(Vec<bool>),
}

impl FairnessData<'_> {
    /// The images of all classes under a symmetry of a level.
    pub(crate) fn renaming(&self, level: usize, element: &SparsePermutation) -> Result<Rc<[ClassId]>, Spent> {
        match &self.actions[level] {
            Some(action) => action.of(self.model, self.classes, element, self.budget),
            None => Ok((0..self.classes.len() as ClassId).collect()),
        }
    }

    /// The renaming of classes along a step, and the classes it takes, by the names at its end.
    pub(crate) fn follow(&self, step: &ProductStep<'_>) -> Result<(Rc<[ClassId]>, [ClassId; 2]), Spent> {
        let after = self.renaming(step.level, step.after)?;
        let mut taken = [NO_CLASS; 2];
        if let Some(instance) = step.instance
            && let Action::Rule(rule) = instance.action
        {
            for (place, class) in taken.iter_mut().zip(self.classes.of(self.model, rule, instance.arguments)) {
                *place = after[class as usize];
            }
        }
        let turn = match step.before {
            None => after,
            Some(turn) => {
                let first = self.renaming(turn.first_level, &turn.first)?;
                let second = self.renaming(turn.second_level, &turn.second)?;
                first.iter().map(|&class| after[second[class as usize] as usize]).collect()
            }
        };
        Ok((turn, taken))
    }
}

fn membership(part: &[u32], size: usize) -> Vec<bool> {
    let mut is_inside = vec![false; size];
    part.iter().for_each(|&node| is_inside[node as usize] = true);
    is_inside
}

/// Disjoint sets of numbers.
struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    fn new(size: usize) -> Self {
        Self { parents: (0..size as u32).collect() }
    }
    fn find(&mut self, mut element: usize) -> usize {
        while self.parents[element] as usize != element {
            let grandparent = self.parents[self.parents[element] as usize];
            self.parents[element] = grandparent;
            element = grandparent as usize;
        }
        element
    }
    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        if left != right {
            self.parents[left.max(right)] = left.min(right) as u32;
        }
    }
}
