//! A strongly connected component of a product as a graph of its own, with what fairness needs: which classes are
//! enabled in each node, which are taken on each edge, and how symmetries rename the classes along it.

use std::ops::ControlFlow;
use std::rc::Rc;

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Budget, Fairness, Model, Spent};
use rustc_hash::FxHashMap;

use crate::explicit::store::StateNumber;
use crate::report::StopReason;
use crate::seam::SearchSpace;
use crate::temporal::classes::{ClassAction, ClassId, Classes};
use crate::temporal::components::{Components, Space, Step, Watch, components};
use crate::temporal::product::{Product, ProductStep, Trouble};
use crate::temporal::search::Search;
use crate::temporal::tree::FairnessClasses;

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
    pub(crate) fn fair_part(
        &self,
        (marks, sets): (&[u64], u64),
        strength: &[Fairness],
        poll: &mut dyn FnMut() -> ControlFlow<StopReason>,
    ) -> Result<Option<Vec<u32>>, StopReason> {
        let space = Accepted { component: self, marks, sets };
        let classes = FollowedClasses { component: self, strength };
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
    strength: &'a [Fairness],
}

impl FairnessClasses for FollowedClasses<'_> {
    fn count(&self) -> usize {
        self.component.classes
    }
    fn strength(&self, class: u32) -> Fairness {
        self.strength[class as usize]
    }
    fn enabled(&self, node: u32, visit: &mut dyn FnMut(u32)) {
        let classes = 0..self.component.classes as ClassId;
        classes.filter(|&class| self.component.is_enabled(node, class)).for_each(visit);
    }
    fn taken(&self, edge: usize, visit: &mut dyn FnMut(u32)) {
        self.component.edges[edge].taken().for_each(visit);
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
