//! A strongly connected component of a product as a graph of its own, with what fairness needs: which classes are
//! enabled in each node, which are taken on each edge, and how symmetries rename the classes along it.

use std::ops::ControlFlow;
use std::rc::Rc;

use quotient_groups::SparsePermutation;
use quotient_ir::{Budget, Fairness, Spent};
use rustc_hash::FxHashMap;

use crate::temporal::product::{Product, ProductStep, Trouble};
use crate::temporal::search::Search;
use quotient_graphs::classes::{Before, ClassAction, ClassId, Classes};
use quotient_graphs::components::{Components, Space, Step, Watch, components};
use quotient_graphs::tree::FairnessClasses;
use quotient_search::{SearchSpace, StopReason};
use quotient_states::store::StateNumber;

/// The images of all classes under a symmetry.
type Renaming = Rc<[ClassId]>;

/// What is known about fairness: the classes, and the action of each level's group on them (none without a group).
pub(crate) struct FairnessData<'a> {
    pub(crate) classes: &'a Classes<'a, 'a>,
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
    /// The combination of classes taken, by the names at its end.
    taken: u32,
}

/// A component, or a part of one, as a graph.
pub(crate) struct Component {
    pub(crate) nodes: Vec<StateNumber>,
    offsets: Vec<usize>,
    edges: Vec<ComponentEdge>,
    /// What each class is guaranteed, and the enabled ones of each node, as bits.
    strengths: Vec<Fairness>,
    enabled: Vec<u64>,
    /// Renamings of classes. The first one changes nothing, and has no entries.
    turns: Vec<Rc<[ClassId]>>,
    /// Combinations of classes that are taken together.
    combinations: Vec<Vec<ClassId>>,
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
        let mut component = Self {
            nodes: nodes.to_vec(),
            offsets: vec![0],
            edges: Vec::new(),
            strengths: Vec::new(),
            enabled: Vec::new(),
            turns: vec![Rc::new([])],
            combinations: vec![Vec::new()],
        };
        let mut known: FxHashMap<Rc<[ClassId]>, u32> = FxHashMap::default();
        let mut known_combinations: FxHashMap<Vec<ClassId>, u32> = FxHashMap::default();
        known_combinations.insert(Vec::new(), 0);
        // Some classes are only known when they occur.
        let mut enabled: Vec<Vec<ClassId>> = Vec::new();
        for (position, &number) in nodes.iter().enumerate() {
            if position % 1024 == 1023 {
                search.poll(search.store.memory_bytes(), nodes.len() as u64)?;
            }
            let node = search.store.state(number).to_vec();
            let mut ordinal = 0;
            let mut spent = None;
            let store = &search.store;
            let Self { edges, turns, combinations, .. } = &mut component;
            product.steps(&mut search.scratch, &node, &mut |step| {
                ordinal += 1;
                let Some(to) = store.find(step.node, quotient_search::words::Hash::of(step.node)) else { return };
                let Some(&to) = local.get(&to) else { return };
                let mut edge = ComponentEdge { to, marks: step.marks, turn: 0, ordinal: ordinal - 1, taken: 0 };
                if let Some(fairness) = fairness {
                    match fairness.follow(&step) {
                        Ok((turn, taken)) => {
                            edge.taken = *known_combinations.entry(taken).or_insert_with_key(|taken| {
                                combinations.push(taken.clone());
                                combinations.len() as u32 - 1
                            });
                            edge.turn = turn.map_or(0, |turn| {
                                *known.entry(turn).or_insert_with_key(|turn| {
                                    turns.push(Rc::clone(turn));
                                    turns.len() as u32 - 1
                                })
                            });
                        }
                        Err(error) => spent = Some(error),
                    }
                }
                edges.push(edge);
            })?;
            if spent.is_some() {
                return Err(Trouble::Stop(StopReason::Withdrawn));
            }
            component.offsets.push(component.edges.len());
            if let Some(fairness) = fairness {
                let mut state = Vec::new();
                product.code.state(&node, &mut state);
                let mut here = Vec::new();
                product.enabled(&mut search.scratch, &state, &mut |instance| {
                    let before = Before::Packed(&state);
                    here.extend(fairness.classes.of(instance.action, instance.arguments, before));
                })?;
                here.sort_unstable();
                here.dedup();
                enabled.push(here);
            }
        }
        if let Some(fairness) = fairness {
            component.strengths = fairness.classes.strengths();
            let width = component.strengths.len().div_ceil(64);
            component.enabled = vec![0; width * nodes.len()];
            for (position, here) in enabled.iter().enumerate() {
                let bits = &mut component.enabled[position * width..][..width];
                here.iter().for_each(|&class| bits[class as usize / 64] |= 1 << (class % 64));
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
        if edge.turn == 0 { class } else { self.turns[edge.turn as usize][class as usize] }
    }

    /// The classes taken along an edge, by the names at its end.
    pub(crate) fn taken(&self, edge: &ComponentEdge) -> &[ClassId] {
        &self.combinations[edge.taken as usize]
    }

    /// What a class is guaranteed.
    pub(crate) fn strength(&self, class: ClassId) -> Fairness {
        self.strengths[class as usize]
    }

    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.strengths.len()
    }

    /// Whether a class is enabled in a node.
    pub(crate) fn is_enabled(&self, node: u32, class: ClassId) -> bool {
        let width = self.classes().div_ceil(64);
        self.enabled[node as usize * width + class as usize / 64] >> (class % 64) & 1 == 1
    }

    /// A part of the component, strongly connected and with all acceptance sets, that has a fair run.
    pub(crate) fn fair_part(
        &self,
        (marks, sets): (&[u64], u64),
        poll: &mut dyn FnMut() -> ControlFlow<StopReason>,
    ) -> Result<Option<Vec<u32>>, StopReason> {
        let space = Accepted { component: self, marks, sets };
        let classes = FollowedClasses { component: self };
        let nodes = 0..self.nodes.len() as u32;
        let found = components(&space, nodes.clone(), Some(&classes), &mut Watch::new(poll))?;
        let part: Vec<u32> = nodes.filter(|&node| found.of(node) == Some(Components::FIRST)).collect();
        Ok((!part.is_empty()).then_some(part))
    }
}

/// A component with its acceptance sets.
struct Accepted<'a> {
    component: &'a Component,
    /// The combinations of acceptance sets, and all of them.
    marks: &'a [u64],
    sets: u64,
}

impl Space for Accepted<'_> {
    type Cursor = usize;

    fn nodes(&self) -> usize {
        self.component.nodes.len()
    }
    fn state(&self, node: u32) -> u32 {
        node
    }
    fn sets(&self) -> u64 {
        self.sets
    }
    fn first(&self, node: u32) -> usize {
        self.component.offsets[node as usize]
    }
    fn next(&self, node: u32, cursor: &mut usize) -> Option<Step> {
        let number = *cursor;
        let edge = self.component.edges[..self.component.offsets[node as usize + 1]].get(number)?;
        *cursor += 1;
        Some(Step { to: edge.to, edge: number, acceptance: self.marks[edge.marks as usize] })
    }
}

/// The fairness classes of a component, which symmetries rename.
struct FollowedClasses<'a> {
    component: &'a Component,
}

impl FairnessClasses for FollowedClasses<'_> {
    fn count(&self) -> usize {
        self.component.classes()
    }
    fn strength(&self, class: u32) -> Fairness {
        self.component.strength(class)
    }
    fn enabled(&self, node: u32, visit: &mut dyn FnMut(u32)) {
        let classes = 0..self.component.classes() as ClassId;
        classes.filter(|&class| self.component.is_enabled(node, class)).for_each(visit);
    }
    fn taken(&self, edge: usize, visit: &mut dyn FnMut(u32)) {
        self.component.taken(&self.component.edges[edge]).iter().copied().for_each(visit);
    }
    fn has_renamings(&self) -> bool {
        // The first renaming changes nothing.
        self.component.turns.len() > 1
    }
    fn renamed(&self, edge: usize, class: u32) -> u32 {
        self.component.turned(&self.component.edges[edge], class)
    }
}

impl FairnessData<'_> {
    /// The images of all classes under a symmetry of a level; none if it changes nothing.
    pub(crate) fn renaming(&self, level: usize, element: &SparsePermutation) -> Result<Option<Renaming>, Spent> {
        match &self.actions[level] {
            Some(action) if !element.is_identity() => action.of(self.classes, element, self.budget).map(Some),
            _ => Ok(None),
        }
    }

    /// The renaming of classes along a step, and the classes it takes, by the names at its end, in order.
    pub(crate) fn follow(&self, step: &ProductStep<'_>) -> Result<(Option<Renaming>, Vec<ClassId>), Spent> {
        let after = self.renaming(step.level, step.after)?;
        let mut taken = Vec::new();
        if let Some(instance) = step.instance {
            taken = self.classes.of(instance.action, instance.arguments, Before::Packed(step.state));
            if let Some(after) = &after {
                taken.iter_mut().for_each(|class| *class = after[*class as usize]);
                taken.sort_unstable();
            }
        }
        let turn = match step.before {
            None => after,
            Some(turn) => {
                let first = self.renaming(turn.first_level, &turn.first)?;
                let second = self.renaming(turn.second_level, &turn.second)?;
                let all = [first, second, after];
                let image = |class: ClassId| all.iter().flatten().fold(class, |class, images| images[class as usize]);
                let changes = all.iter().any(Option::is_some);
                changes.then(|| (0..self.classes.len() as ClassId).map(image).collect())
            }
        };
        Ok((turn, taken))
    }
}
