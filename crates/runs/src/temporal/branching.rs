//! Claims about the tree of runs: the graph of the states, or of their orbits under the symmetries that preserve every
//! atom, is built and given to `tree`. Its evidence becomes a run of the model.

use std::ops::ControlFlow;

use quotient_ir::{Fairness, Temporal, Trace, Violation, replay};
use quotient_temporal::{Atom, Formula, Formulas};

use crate::temporal::component::FairnessData;
use crate::temporal::lasso::{Failure, Goal, PathStep, Run};
use crate::temporal::product::Trouble;
use crate::temporal::search::Search;
use quotient_graphs::classes::{Before, ClassId, is_fair};
use quotient_graphs::remarks;
use quotient_graphs::tree::{
    Ending, Evidence, FairnessClasses, Graph, GraphBuilder, TreeError, TreeOptions, check_tree,
};
use quotient_search::{EngineError, SearchSpace, StopReason};
use quotient_states::store::StateNumber;

/// The fairness classes of a graph.
struct GraphClasses {
    strength: Vec<Fairness>,
    /// Where the classes of each state begin, and of each edge.
    enabled: (Vec<usize>, Vec<ClassId>),
    taken: (Vec<usize>, Vec<ClassId>),
}

impl FairnessClasses for GraphClasses {
    fn count(&self) -> usize {
        self.strength.len()
    }
    fn strength(&self, class: u32) -> Fairness {
        self.strength[class as usize]
    }
    fn enabled(&self, state: u32, visit: &mut dyn FnMut(u32)) {
        let (offsets, classes) = &self.enabled;
        classes[offsets[state as usize]..offsets[state as usize + 1]].iter().for_each(|&class| visit(class));
    }
    fn taken(&self, edge: usize, visit: &mut dyn FnMut(u32)) {
        let (offsets, classes) = &self.taken;
        classes[offsets[edge]..offsets[edge + 1]].iter().for_each(|&class| visit(class));
    }
}

/// A violated claim: a run that illustrates it, and what the run does not show.
pub(crate) type Illustration = (Trace, Vec<String>);

/// Decides a state formula in all starts. With fairness, the product must be one without symmetries.
pub(crate) fn check_branching<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    temporal: &Temporal,
    (pool, formula): (&Formulas, Formula),
    fairness: Option<&FairnessData<'_>>,
    goal: &Goal<'_, '_>,
    max_memory: Option<u64>,
) -> Result<Option<Illustration>, Failure> {
    let (graph, classes) = build(search, temporal.atoms.len(), fairness)?;
    let mut pool = pool.clone();
    let fairness = classes.as_ref().map(|classes| classes as &dyn FairnessClasses);
    let options = TreeOptions { fairness, max_memory };
    let bytes = search.store.memory_bytes() + graph.memory_bytes();
    let states = graph.states() as u64;
    let mut poll = || match search.poll(bytes, states) {
        Ok(()) => ControlFlow::Continue(()),
        Err(Trouble::Stop(reason)) => ControlFlow::Break(reason),
        Err(Trouble::Impossible(_)) => ControlFlow::Break(StopReason::Withdrawn),
    };
    let answer = match check_tree(&graph, &mut pool, formula, &options, &mut poll) {
        Ok(answer) => answer,
        Err(TreeError::Stopped(reason)) => return Err(Failure::Trouble(Trouble::Stop(reason))),
        Err(error) => return Err(Failure::Defect(EngineError::Formula(error.to_string()))),
    };
    if answer.holds_everywhere() {
        return Ok(None);
    }
    let Evidence { path, open } = answer.evidence.expect("a start that violates the formula has evidence");
    // With fairness, it matters which of several steps between two states is taken; edges are in the order of the steps.
    let step = |(&from, &edge): (&u32, &usize)| {
        let ordinal = fairness.map(|_| (edge - graph.edges(from).start) as u32);
        PathStep { to: graph.target(edge), ordinal }
    };
    let steps: Vec<PathStep> = path.states.iter().zip(&path.edges).map(step).collect();
    let mut run = Run::start(search, path.states[0], goal)?;
    let mut lengths = vec![run.steps.len() - 1];
    for &step in &steps[..path.states.len() - 1] {
        run.step(search, step, goal)?;
        lengths.push(run.steps.len() - 1);
    }
    let mut trace = match path.cycle {
        None => Trace::new(run.steps, None),
        Some(begin) => close(search, run, &steps, begin, &lengths, goal)?,
    };
    let arguments = goal.instances.first().cloned().unwrap_or_default();
    trace.violation = Some(Violation::Temporal { property: goal.property, arguments });
    replay(goal.interpreter, &trace).map_err(EngineError::from)?;
    let step = |position: usize| lengths[position.min(lengths.len() - 1)];
    let remarks = remarks(&pool, temporal, &open, &step);
    Ok(Some((trace, remarks)))
}

/// Repeats the cycle of a path until it leads back to its first state. The run is at the last state of the path.
fn close<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    mut run: Run,
    steps: &[PathStep],
    begin: usize,
    lengths: &[usize],
    goal: &Goal<'_, '_>,
) -> Result<Trace, Failure> {
    let head = run.steps[lengths[begin]].state.clone();
    let (&last, others) = steps[begin..].split_last().expect("a cycle has a step");
    run.step(search, last, goal)?;
    while !run.stays && run.steps.last().is_none_or(|step| step.state != head) {
        for &step in others.iter().chain([&last]) {
            run.step(search, step, goal)?;
        }
    }
    let (stays, begin) = (run.stays, lengths[begin]);
    let trace = if stays { Trace::new(run.steps, None) } else { Trace::lasso(run.steps, begin, None) };
    let is_fair = |data: &FairnessData<'_>| is_fair(&trace, goal.interpreter, data.classes);
    debug_assert!(goal.fairness.is_none_or(is_fair), "the cycle of a fair component is fair");
    Ok(trace)
}

/// The graph of all nodes, with its atoms.
fn build<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    atoms: usize,
    fairness: Option<&FairnessData<'_>>,
) -> Result<(Graph, Option<GraphClasses>), Trouble> {
    let mut builder = GraphBuilder::new(atoms);
    let mut starts = search.starts()?;
    starts.sort_unstable();
    starts.dedup();
    starts.iter().for_each(|&start| builder.start(start));
    let mut classes =
        GraphClasses { strength: Vec::new(), enabled: (vec![0], Vec::new()), taken: (vec![0], Vec::new()) };
    let mut node: StateNumber = 0;
    while u64::from(node) < search.store.len() {
        let words = search.store.state(node).to_vec();
        let letter = search.product.letter_of(&mut search.scratch, &words, atoms)?;
        for atom in (0..atoms).filter(|atom| letter >> atom & 1 == 1) {
            builder.label(Atom(atom as u32), node);
        }
        match fairness {
            None => {
                for (to, _) in search.successors(node)? {
                    builder.edge(to);
                }
            }
            Some(data) => {
                let mut targets: Vec<Vec<u64>> = Vec::new();
                search.product.steps(&mut search.scratch, &words, &mut |step| {
                    targets.push(step.node.to_vec());
                    if let Some(instance) = step.instance {
                        let own = data.classes.of(instance.action, instance.arguments, Before::Packed(step.state));
                        classes.taken.1.extend_from_slice(&own);
                        classes.enabled.1.extend(own);
                    }
                    classes.taken.0.push(classes.taken.1.len());
                })?;
                classes.enabled.0.push(classes.enabled.1.len());
                for target in targets {
                    builder.edge(search.number(&target)?);
                }
            }
        }
        // The product says where a run stays.
        builder.end_state(Ending::Stops);
        node += 1;
        if node.is_multiple_of(1024) {
            search.poll(search.store.memory_bytes() + builder.memory_bytes(), u64::from(node))?;
        }
    }
    let graph = builder.build();
    classes.strength = fairness.map_or_else(Vec::new, |data| data.classes.strengths());
    let classes = fairness.is_some().then_some(classes);
    Ok((graph, classes))
}
