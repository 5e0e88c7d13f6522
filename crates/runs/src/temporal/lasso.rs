//! From an accepting component to a concrete infinite run: the shortest stem, then a cycle inside the component, with
//! symmetries unwound, replayed by the reference interpreter.
//!
//! The cycle is the shortest accepting one if there is at most one acceptance set and fairness does not matter, unless
//! that takes too long; otherwise it goes to the nearest missing acceptance set or class again and again. In a quotient
//! the cycle leads back to its first node up to a symmetry: it is repeated until it leads back to its first state and
//! shows the violation, at the latest after as many turns as the symmetry has its order.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use quotient_groups::SparsePermutation;
use quotient_ir::{Fairness, Interpreter, PropertyId, Spent, Trace, TraceStep, Violation, replay};
use quotient_symmetry::Literals;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::temporal::component::{Component, ComponentEdge, FairnessData};
use crate::temporal::product::{Product, Trouble};
use crate::temporal::search::Search;
use quotient_graphs::classes::{Before, ClassId, is_fair};
use quotient_search::{EngineError, Event, Instance, SearchSpace, StopReason};
use quotient_states::rebuild::find_steps;
use quotient_states::store::StateNumber;

/// The number of edges that the search for the shortest cycle may look at.
const SHORTEST_WORK: u64 = 20_000_000;
/// The number of nodes that the search for the shortest stem may look at in any case.
const STEM_WORK: u64 = 100_000;
/// The number of turns of a cycle before it is given up as a defect.
const TURN_LIMIT: usize = 100_000;

/// What a run must show.
pub(crate) struct Goal<'a, 'm> {
    /// The original model.
    pub(crate) interpreter: &'a Interpreter<'m>,
    pub(crate) property: PropertyId,
    /// The instances of the property, one of which the run violates.
    pub(crate) instances: &'a [Vec<i64>],
    /// The fairness classes; none if fairness does not matter.
    pub(crate) fairness: Option<&'a FairnessData<'a>>,
    /// The points that symmetries permute.
    pub(crate) literals: Option<&'a Literals>,
}

/// A step of a path: the node it leads to, and which of the steps of its node it is, if that matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathStep {
    pub(crate) to: StateNumber,
    pub(crate) ordinal: Option<u32>,
}

/// Why there is no run.
pub(crate) enum Failure {
    Trouble(Trouble),
    Defect(EngineError),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Defect(error)
    }
}

/// A run through a strongly connected part of a component that has all acceptance sets and is fair.
pub(crate) fn lasso<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    component: &Component,
    part: &[u32],
    goal: &Goal<'_, '_>,
) -> Result<Trace, Failure> {
    let product = search.product;
    let all = product.automaton.all_sets();
    let marks = &product.marks;
    let is_inside: FxHashSet<u32> = part.iter().copied().collect();
    let is_fair = goal.fairness.is_some();
    let simple = !is_fair && all.count_ones() <= 1;
    let cycle = if simple { shortest_cycle(component, &is_inside, marks, all) } else { None };
    let targets: FxHashSet<StateNumber> = match &cycle {
        Some(cycle) => cycle.iter().map(|&(node, _)| component.nodes[node as usize]).collect(),
        None => part.iter().map(|&node| component.nodes[node as usize]).collect(),
    };
    let stem = shortest_stem(search, &targets)?;
    let head = *stem.last().expect("a stem has a node");
    let cycle = match cycle {
        Some(cycle) => rotated(cycle, |node| component.nodes[node as usize] == head),
        None => {
            let head = part.iter().copied().find(|&node| component.nodes[node as usize] == head);
            let head = head.expect("the stem leads to the component");
            Walk::new(component, &is_inside, head).cycle(marks, all)
        }
    };
    let cycle: Vec<PathStep> = cycle
        .iter()
        .map(|(_, edge)| PathStep { to: component.nodes[edge.to as usize], ordinal: Some(edge.ordinal) })
        .collect();
    unwind(search, &stem, &cycle, goal)
}

/// The shortest cycle with all acceptance sets (at most one), as edges with the nodes they leave; `None` if that takes
/// too long.
fn shortest_cycle(
    component: &Component,
    is_inside: &FxHashSet<u32>,
    marks: &[u64],
    all: u64,
) -> Option<Vec<(u32, ComponentEdge)>> {
    let mut nodes: Vec<u32> = is_inside.iter().copied().collect();
    nodes.sort_unstable();
    let mut best: Option<Vec<(u32, ComponentEdge)>> = None;
    let mut work = 0;
    for &from in &nodes {
        for edge in component.edges(from).iter().filter(|edge| is_inside.contains(&edge.to)) {
            if marks[edge.marks as usize] & all != all {
                continue;
            }
            let mut path = match shortest_path(component, is_inside, edge.to, |node| node == from, Some(&mut work)) {
                Some(path) => path,
                None if work > SHORTEST_WORK => return best,
                None => continue,
            };
            path.insert(0, (from, *edge));
            if best.as_ref().is_none_or(|best| path.len() < best.len()) {
                best = Some(path);
            }
            if best.as_ref().is_some_and(|best| best.len() == 1) || work > SHORTEST_WORK {
                return best;
            }
        }
    }
    best
}

/// The shortest path inside from a node to one that fits; gives up when the work exceeds its limit.
fn shortest_path(
    component: &Component,
    is_inside: &FxHashSet<u32>,
    from: u32,
    fits: impl Fn(u32) -> bool,
    mut work: Option<&mut u64>,
) -> Option<Vec<(u32, ComponentEdge)>> {
    let mut parents: FxHashMap<u32, Option<(u32, ComponentEdge)>> = FxHashMap::default();
    parents.insert(from, None);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if fits(node) {
            return Some(path_back(node, |node| parents[&node]));
        }
        for edge in component.edges(node).iter().filter(|edge| is_inside.contains(&edge.to)) {
            if let Some(work) = &mut work {
                **work += 1;
            }
            parents.entry(edge.to).or_insert_with(|| {
                queue.push_back(edge.to);
                Some((node, *edge))
            });
        }
        if work.as_ref().is_some_and(|work| **work > SHORTEST_WORK) {
            return None;
        }
    }
    None
}

/// The edges that led to a place, from the first on.
fn path_back<P: Copy, E: Copy>(mut place: P, parent: impl Fn(P) -> Option<(P, E)>) -> Vec<(P, E)> {
    let mut path = Vec::new();
    while let Some((before, edge)) = parent(place) {
        path.push((before, edge));
        place = before;
    }
    path.reverse();
    path
}

/// A node and the name that a class goes by there.
type Pair = (u32, ClassId);

/// A walk through a component that serves all acceptance sets and all classes, the nearest first.
struct Walk<'a> {
    component: &'a Component,
    is_inside: &'a FxHashSet<u32>,
    head: u32,
    current: u32,
    /// The present name of the class that goes by each name at the head, and whether it is served.
    names: Vec<ClassId>,
    served: Vec<bool>,
    /// The acceptance sets so far.
    sets: u64,
    edges: Vec<(u32, ComponentEdge)>,
}

impl<'a> Walk<'a> {
    fn new(component: &'a Component, is_inside: &'a FxHashSet<u32>, head: u32) -> Self {
        let count = component.classes();
        let names = (0..count as ClassId).collect();
        let (served, edges) = (vec![false; count], Vec::new());
        Self { component, is_inside, head, current: head, names, served, sets: 0, edges }
    }

    /// Whether a class may rest in a node: fairness asks nothing of it there.
    fn rests(&self, node: u32, class: ClassId) -> bool {
        match self.component.strength(class) {
            Fairness::None => true,
            Fairness::Weak => !self.component.is_enabled(node, class),
            // Only a class that is nowhere enabled need not be taken.
            Fairness::Strong => false,
        }
    }

    fn follow(&mut self, path: Vec<(u32, ComponentEdge)>, marks: &[u64]) {
        for (from, edge) in path {
            self.sets |= marks[edge.marks as usize];
            for number in 0..self.names.len() {
                let name = self.component.turned(&edge, self.names[number]);
                self.names[number] = name;
                self.served[number] |= self.component.taken(&edge).contains(&name) || self.rests(edge.to, name);
            }
            self.current = edge.to;
            self.edges.push((from, edge));
        }
    }

    /// The cycle.
    fn cycle(mut self, marks: &[u64], all: u64) -> Vec<(u32, ComponentEdge)> {
        for number in 0..self.names.len() {
            if !self.served[number] {
                // Without a path, the class is nowhere taken, and then it is nowhere enabled.
                if let Some(path) = self.thread_path(self.names[number]) {
                    self.follow(path, marks);
                }
                self.served[number] = true;
            }
        }
        while self.sets != all {
            let (component, is_inside, sets) = (self.component, self.is_inside, self.sets);
            let missing = |node: u32| {
                let own = component.edges(node).iter().filter(|edge| is_inside.contains(&edge.to));
                own.copied().find(|edge| marks[edge.marks as usize] & all & !sets != 0)
            };
            let path = shortest_path(component, is_inside, self.current, |node| missing(node).is_some(), None);
            let mut path = path.expect("a component has its acceptance sets");
            let at = path.last().map_or(self.current, |(_, edge)| edge.to);
            path.push((at, missing(at).expect("the path leads there")));
            self.follow(path, marks);
        }
        if self.edges.is_empty() {
            // Nothing is asked for: any cycle will do.
            let first = self.component.edges(self.head).iter().find(|edge| self.is_inside.contains(&edge.to));
            let first = *first.expect("a cyclic component has an edge");
            self.follow(vec![(self.head, first)], marks);
        }
        let head = self.head;
        let path = shortest_path(self.component, self.is_inside, self.current, |node| node == head, None);
        self.follow(path.expect("a component is strongly connected"), marks);
        self.edges
    }

    /// The shortest path along which the class with a name is taken or rests.
    fn thread_path(&self, name: ClassId) -> Option<Vec<(u32, ComponentEdge)>> {
        let first = (self.current, name);
        if self.rests(first.0, first.1) {
            return Some(Vec::new());
        }
        let mut parents: FxHashMap<Pair, Option<(Pair, ComponentEdge)>> = FxHashMap::default();
        parents.insert(first, None);
        let mut queue = VecDeque::from([first]);
        while let Some((node, class)) = queue.pop_front() {
            for edge in self.component.edges(node).iter().filter(|edge| self.is_inside.contains(&edge.to)) {
                let after = (edge.to, self.component.turned(edge, class));
                if self.component.taken(edge).contains(&after.1) || self.rests(after.0, after.1) {
                    let mut path = path_back((node, class), |pair| parents[&pair]);
                    path.push(((node, class), *edge));
                    return Some(path.into_iter().map(|((node, _), edge)| (node, edge)).collect());
                }
                parents.entry(after).or_insert_with(|| {
                    queue.push_back(after);
                    Some(((node, class), *edge))
                });
            }
        }
        None
    }
}

/// A cycle that begins at a node.
fn rotated(mut cycle: Vec<(u32, ComponentEdge)>, is_first: impl Fn(u32) -> bool) -> Vec<(u32, ComponentEdge)> {
    let first = cycle.iter().position(|&(node, _)| is_first(node)).expect("the stem leads to the cycle");
    cycle.rotate_left(first);
    cycle
}

/// The nodes of a path from a start to one of some nodes: a shortest one, unless that would mean to look at many more
/// nodes than the search did; then the shortest one through nodes that it found.
fn shortest_stem<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    targets: &FxHashSet<StateNumber>,
) -> Result<Vec<StateNumber>, Trouble> {
    let known = search.store.len();
    let most = if search.knows_all() { (2 * known).max(STEM_WORK) } else { u64::MAX };
    let stem = match stem_within(search, targets, None, most)? {
        Some(stem) => Some(stem),
        None => stem_within(search, targets, Some(known), u64::MAX)?,
    };
    Ok(stem.expect("the search reached the component"))
}

/// A shortest path through nodes below a number; none if there are too many of them.
fn stem_within<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    targets: &FxHashSet<StateNumber>,
    known: Option<u64>,
    most: u64,
) -> Result<Option<Vec<StateNumber>>, Trouble> {
    let mut parents: FxHashMap<StateNumber, Option<StateNumber>> = FxHashMap::default();
    let mut queue = VecDeque::new();
    for start in search.starts()? {
        parents.entry(start).or_insert_with(|| {
            queue.push_back(start);
            None
        });
    }
    let mut expansions = 0u64;
    while let Some(node) = queue.pop_front() {
        if targets.contains(&node) {
            let mut stem = vec![node];
            while let Some(before) = parents[stem.last().expect("it is not empty")] {
                stem.push(before);
            }
            stem.reverse();
            return Ok(Some(stem));
        }
        for (to, _) in search.successors(node)? {
            if known.is_none_or(|known| u64::from(to) < known) {
                parents.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    Some(node)
                });
            }
        }
        expansions += 1;
        if expansions >= most {
            return Ok(None);
        }
        if expansions.is_multiple_of(1024) {
            search.poll(search.store.memory_bytes() + 32 * parents.len() as u64, queue.len() as u64)?;
        }
    }
    Ok(None)
}

/// The run along a stem and a cycle.
pub(crate) fn unwind<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    stem: &[StateNumber],
    cycle: &[PathStep],
    goal: &Goal<'_, '_>,
) -> Result<Trace, Failure> {
    let mut run = Run::start(search, stem[0], goal)?;
    for &to in &stem[1..] {
        run.step(search, PathStep { to, ordinal: None }, goal)?;
    }
    let begin = run.steps.len() - 1;
    let (first_state, first_turn) = (run.state.clone(), run.turn.clone());
    for _ in 0..TURN_LIMIT {
        for &step in cycle {
            run.step(search, step, goal)?;
            if run.stays {
                // Nothing else can happen any more.
                return concluded(Trace::new(run.steps, None), goal)?
                    .ok_or(Failure::Defect(EngineError::Rebuild("the run stays in a state and violates nothing")));
            }
        }
        if run.state == first_state {
            let trace = Trace::lasso(run.steps.clone(), begin, None);
            if let Some(trace) = concluded(trace, goal)? {
                return Ok(trace);
            }
            if run.turn == first_turn {
                break;
            }
        }
    }
    Err(Failure::Defect(EngineError::Rebuild("its cycle does not violate the formula")))
}

/// The run with its violation, if it is fair and violates an instance of the property.
fn concluded(trace: Trace, goal: &Goal<'_, '_>) -> Result<Option<Trace>, Failure> {
    if let Some(data) = goal.fairness
        && !is_fair(&trace, goal.interpreter, data.classes)
    {
        return Ok(None);
    }
    let mut reason = None;
    for arguments in goal.instances {
        let violation = Violation::Temporal { property: goal.property, arguments: arguments.clone() };
        let mut trace = trace.clone();
        trace.violation = Some(violation);
        match replay(goal.interpreter, &trace) {
            Ok(()) => return Ok(Some(trace)),
            Err(error @ quotient_ir::ReplayError::Violation { .. }) => reason = Some(error),
            Err(error) => return Err(Failure::Defect(error.into())),
        }
    }
    let _ = reason;
    Ok(None)
}

/// What goes by each name after a renaming, given what went by each name before.
fn renamed(images: &[ClassId], before: Option<&[ClassId]>) -> Vec<ClassId> {
    let mut after = vec![0; images.len()];
    for (class, &image) in (0..).zip(images) {
        after[image as usize] = before.map_or(class, |before| before[class as usize]);
    }
    after
}

fn interrupted(_: Spent) -> Failure {
    Failure::Trouble(Trouble::Stop(StopReason::Withdrawn))
}

/// A run of the model along a path of nodes.
pub(crate) struct Run {
    /// The current node, and the symmetry that maps its state to the state of the run.
    node: StateNumber,
    turn: SparsePermutation,
    /// The class of the run that goes by each name in the node, where symmetries rename classes.
    names: Option<Vec<ClassId>>,
    /// The state of the run.
    state: Vec<u64>,
    /// Whether the run stays in its state.
    pub(crate) stays: bool,
    pub(crate) steps: Vec<TraceStep>,
}

impl Run {
    /// A run that begins in the state of a node.
    pub(crate) fn start<S: SearchSpace>(
        search: &mut Search<'_, '_, S>,
        node: StateNumber,
        goal: &Goal<'_, '_>,
    ) -> Result<Self, Failure> {
        let product: &Product<'_, S> = search.product;
        let words = search.store.state(node).to_vec();
        let mut wanted = Vec::new();
        product.code.state(&words, &mut wanted);
        let level = product.level_of_node(&words);
        let mut starts: Vec<Vec<u64>> = Vec::new();
        product.system.starts(&mut product.system.scratch(), &mut |_, event| {
            if let Event::Next { state, .. } = event {
                starts.push(state.to_vec());
            }
            ControlFlow::Continue(())
        });
        for state in starts {
            let mut representative = state.clone();
            let witness = product.represent_with_witness(&mut search.scratch, level, &mut representative);
            if representative == wanted {
                let layout = goal.interpreter.layout();
                let system = product.system;
                let (steps, state) =
                    find_steps(system, &mut system.scratch(), None, &state, goal.interpreter, &|_| true)?;
                debug_assert!(steps.last().is_some_and(|step| step.state == layout.unpack(&state)));
                let mut names = None;
                if let Some(data) = goal.fairness
                    && let Some(images) = data.renaming(level, &witness).map_err(interrupted)?
                {
                    names = Some(renamed(&images, None));
                }
                return Ok(Self { node, turn: witness.inverse(), names, state, stays: false, steps });
            }
        }
        Err(Failure::Defect(EngineError::Rebuild("no start leads to its first state")))
    }

    /// Continues to a node.
    pub(crate) fn step<S: SearchSpace>(
        &mut self,
        search: &mut Search<'_, '_, S>,
        step: PathStep,
        goal: &Goal<'_, '_>,
    ) -> Result<(), Failure> {
        let product: &Product<'_, S> = search.product;
        let node = search.store.state(self.node).to_vec();
        let wanted = search.store.state(step.to).to_vec();
        let mut ordinal = 0;
        let mut found: Option<(SparsePermutation, bool)> = None;
        let mut classes = Ok(None);
        product.steps(&mut search.scratch, &node, &mut |taken| {
            let is_it = found.is_none() && taken.node == wanted && step.ordinal.is_none_or(|wanted| wanted == ordinal);
            ordinal += 1;
            if is_it {
                let mut back = taken.after.inverse();
                if let Some(turn) = taken.before {
                    back = back.then(&turn.second.inverse()).then(&turn.first.inverse());
                }
                classes = goal.fairness.map(|data| data.follow(&taken)).transpose();
                found = Some((back, taken.instance.is_none()));
            }
        })?;
        let Some((back, stays)) = found else {
            return Err(Failure::Defect(EngineError::Rebuild("no action leads from one state of it to the next")));
        };
        let mut wanted_classes: Option<Vec<ClassId>> = None;
        if let Some((images, taken)) = classes.map_err(interrupted)? {
            if let Some(images) = images {
                self.names = Some(renamed(&images, self.names.as_deref()));
            }
            let name = |class: ClassId| self.names.as_ref().map_or(class, |names| names[class as usize]);
            let mut taken: Vec<ClassId> = taken.into_iter().map(name).collect();
            taken.sort_unstable();
            wanted_classes = Some(taken);
        }
        self.turn = back.then(&self.turn);
        self.node = step.to;
        self.stays = stays;
        if stays {
            return Ok(());
        }
        let mut state = Vec::new();
        product.code.state(&wanted, &mut state);
        let layout = goal.interpreter.layout();
        if let Some(literals) = goal.literals.filter(|_| !self.turn.is_identity()) {
            let map = literals.action(layout, &self.turn);
            let map = map.map_err(|_| EngineError::Rebuild("a symmetry does not act on its states"))?;
            layout.pack(&map.apply(&layout.unpack(&state)), &mut state);
        }
        let system = product.system;
        // Several instances may lead to the same state: fairness tells them apart.
        let fits = |instance: Instance<'_>| match (&wanted_classes, goal.fairness) {
            (Some(wanted), Some(data)) => {
                data.classes.of(instance.action, instance.arguments, Before::Packed(&self.state)) == *wanted
            }
            _ => true,
        };
        let (steps, state) =
            find_steps(system, &mut system.scratch(), Some(&self.state), &state, goal.interpreter, &fits)?;
        self.steps.extend(steps);
        self.state = state;
        Ok(())
    }
}
