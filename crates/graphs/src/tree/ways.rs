//! Shortest ways through a space, and lassos that are accepted and fair.

use quotient_ir::Fairness;

use crate::components::{ClassSet, Components, Space, Step, Watch, steps};
use crate::graph::FairnessClasses;
use quotient_search::StopReason;

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
    /// The node where it begins.
    pub(super) start: u32,
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
    fair: Option<&dyn FairnessClasses>,
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
            return Ok(Some(Lasso { start, stem, cycle }));
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
    fair: Option<&'a dyn FairnessClasses>,
    /// The strongly fair classes.
    guaranteed: ClassSet,
    /// Weakly fair classes that were enabled in all states so far and not taken.
    weak: ClassSet,
    /// Strongly fair classes that were enabled and not taken.
    strong: ClassSet,
    taken: ClassSet,
    here: ClassSet,
}

impl<'a> Needs<'a> {
    fn new(sets: u64, fair: Option<&'a dyn FairnessClasses>) -> Self {
        let count = fair.map_or(0, FairnessClasses::count);
        let none = ClassSet::empty(count);
        let of_strength = |strength: Fairness| {
            let mut set = none.clone();
            let fitting = (0..count as u32).filter(|&class| fair.is_some_and(|fair| fair.strength(class) == strength));
            fitting.for_each(|class| set.insert(class));
            set
        };
        let (weak, guaranteed) = (of_strength(Fairness::Weak), of_strength(Fairness::Strong));
        Self { sets, fair, guaranteed, weak, strong: none.clone(), taken: none.clone(), here: none }
    }
    fn is_met(&self) -> bool {
        self.sets == 0 && self.weak.is_empty() && self.strong.is_empty()
    }
    fn visit(&mut self, state: u32) {
        let Some(fair) = self.fair else { return };
        let here = &mut self.here;
        here.clear();
        fair.enabled(state, &mut |class| here.insert(class));
        self.weak.keep(here);
        here.keep(&self.guaranteed);
        here.remove(&self.taken);
        self.strong.add(here);
    }
    fn take(&mut self, step: &Step) {
        self.sets &= !step.acceptance;
        if let Some(fair) = self.fair {
            fair.taken(step.edge, &mut |class| self.taken.insert(class));
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
        fair.taken(step.edge, &mut |class| here.insert(class));
        if here.meets(&self.weak) || here.meets(&self.strong) {
            return true;
        }
        if self.weak.is_empty() {
            return false;
        }
        here.clear();
        fair.enabled(to, &mut |class| here.insert(class));
        !self.weak.is_subset(here)
    }
}
