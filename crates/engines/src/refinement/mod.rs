//! Claims about the events of processes: refinement of traces, failures, and failures and divergences; freedom from
//! divergence; determinism.
//!
//! A refinement is decided on pairs of a state of the process and a node of the specification, which is made
//! deterministic on the fly (`normal`). A pair is left out if a known one has the same state and a node with fewer
//! states: what a node allows, a larger one allows, too (antichains: De Wulf, Doyen, Henzinger and Raskin, 2006; for
//! refinement Wang and others, 2012). The search is breadth-first, so runs are shortest. All of it is on the whole state
//! space: symmetries are not used.

mod graph;
mod normal;

use quotient_ir::{
    Action, Behaviour, BehaviourClaim, Interpreter, Layout, Model, PropertyId, PropertyKind, Refinement, Trace,
    TraceStep, Violation, replay,
};
use rustc_hash::FxHashMap;

use crate::explicit::store::StateNumber;
use crate::observer::Observer;
use crate::options::{FairnessMode, SearchOptions};
use crate::report::{EngineError, StopReason, Verdict};
use crate::seam::TransitionSystem;
use crate::systems::compiled::CompiledSystem;
use crate::systems::evaluator::SpecialisedSystem;
use crate::temporal::{ProductReport, TemporalReport, UsedSymmetry};
use graph::{EventId, Graph, INTERNAL};
use normal::{NodeId, Nodes, is_subset, ready};

/// How often the observer is asked, in pairs.
const POLL_INTERVAL: usize = 4096;

/// The most events that a remark lists.
const LISTED: usize = 12;

/// A pair of the search, or a state if there is no specification.
#[derive(Clone, Copy, Debug)]
struct Pair {
    state: StateNumber,
    node: NodeId,
    /// The pair before it, or its own number.
    parent: u32,
    depth: u32,
}

/// How a claim is violated, in the last pair of a path.
enum Finding {
    /// The specification has no such step.
    Event(EventId, StateNumber),
    /// More is refused than the specification may refuse.
    Refusal,
    /// Internal steps can go on forever.
    Divergence,
    /// Steps with this event lead to different states.
    Choice(EventId),
}

/// Why a search ends without an answer.
enum Trouble {
    Stop(StopReason),
    Defect(EngineError),
}

impl From<StopReason> for Trouble {
    fn from(reason: StopReason) -> Self {
        Self::Stop(reason)
    }
}

/// Checks a claim about events.
///
/// # Errors
/// If the model has states that are passed through or dropped, or a run cannot be replayed, which is a defect.
pub(crate) fn check_behaviour(
    model: &Model,
    layout: &Layout,
    (property, behaviour): (PropertyId, &Behaviour),
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<TemporalReport, EngineError> {
    let is_obstacle =
        |kind| matches!(kind, PropertyKind::Passing | PropertyKind::Assumption | PropertyKind::Constraint);
    if model.properties.iter().any(|entry| is_obstacle(entry.kind)) {
        return Err(EngineError::Refused("claims about events need all states: none is transient or dropped"));
    }
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt());
    let compiled = CompiledSystem::new(&evaluator, true);
    let graph = Graph::new(&compiled, &interpreter, (property, behaviour), options, observer);
    let mut search = Search {
        graph,
        nodes: Nodes::default(),
        behaviour,
        pairs: Vec::new(),
        known: FxHashMap::default(),
        is_cut: None,
        options,
    };
    let mut report = TemporalReport {
        property,
        verdict: Verdict::Holds,
        trace: None,
        remarks: Vec::new(),
        stop_reason: None,
        searches: Vec::new(),
        all_steps: None,
        fairness: FairnessMode::None,
    };
    let found = search.run(&interpreter, property);
    report.searches.push(ProductReport {
        instances: Vec::new(),
        automaton: (u32::try_from(search.nodes.len()).unwrap_or(u32::MAX), 0),
        symmetry: UsedSymmetry::None,
        parts: None,
        states: search.pairs.len() as u64,
        transitions: search.graph.transitions,
        memory_bytes: search.graph.memory_bytes(),
    });
    match found {
        Ok(None) => {}
        Ok(Some((trace, remark))) => {
            report.verdict = Verdict::Violated;
            report.trace = Some(trace);
            report.remarks.push(remark);
            report.stop_reason = Some(StopReason::Violation);
        }
        Err(Trouble::Stop(reason)) => {
            report.verdict = Verdict::Inconclusive;
            report.stop_reason = Some(reason);
        }
        Err(Trouble::Defect(error)) => return Err(error),
    }
    Ok(report)
}

struct Search<'s, 'm, S: TransitionSystem> {
    graph: Graph<'s, 'm, S>,
    nodes: Nodes,
    behaviour: &'s Behaviour,
    pairs: Vec<Pair>,
    /// The nodes of each state that no other one is within.
    known: FxHashMap<StateNumber, Vec<NodeId>>,
    /// The limit on the depth, if a pair was beyond it.
    is_cut: Option<u64>,
    options: &'s SearchOptions,
}

impl<S: TransitionSystem> Search<'_, '_, S> {
    fn run(&mut self, interpreter: &Interpreter<'_>, property: PropertyId) -> Result<Option<(Trace, String)>, Trouble> {
        let node = match self.behaviour.claim {
            BehaviourClaim::Refines { specification, .. } => {
                let starts = self.graph.starts(specification)?;
                self.nodes.closed(&mut self.graph, starts)?
            }
            BehaviourClaim::DivergenceFree | BehaviourClaim::Deterministic => 0,
        };
        for state in self.graph.starts(self.behaviour.process)? {
            self.add(state, node, None)?;
        }
        let mut position = 0;
        while position < self.pairs.len() {
            if position % POLL_INTERVAL == 0 {
                self.tell_progress(position)?;
            }
            if let Some(finding) = self.expand(position)? {
                let remark = self.remark(position, &finding)?;
                let trace = self.trace(position, &finding, interpreter, property)?;
                return Ok(Some((trace, remark)));
            }
            position += 1;
        }
        match self.is_cut {
            Some(limit) => Err(StopReason::DepthLimit(limit).into()),
            None => Ok(None),
        }
    }

    fn tell_progress(&mut self, position: usize) -> Result<(), StopReason> {
        self.graph.pairs = self.pairs.len() as u64;
        self.graph.depth = u64::from(self.pairs[position].depth);
        let pairs = self.pairs.len() * (size_of::<Pair>() + 2 * size_of::<NodeId>()) + self.known.len() * 48;
        self.graph.other_bytes = pairs as u64 + self.nodes.memory_bytes();
        self.graph.poll((self.pairs.len() - position) as u64)
    }

    /// Adds a pair, unless a known one makes it superfluous.
    fn add(&mut self, state: StateNumber, node: NodeId, parent: Option<usize>) -> Result<(), StopReason> {
        let nodes = &self.nodes;
        let known = self.known.entry(state).or_default();
        let has_nodes = nodes.len() > 0;
        if known.iter().any(|&other| other == node || has_nodes && nodes.is_within(other, node)) {
            return Ok(());
        }
        if let Some(limit) = self.options.max_states.filter(|&limit| self.pairs.len() as u64 >= limit) {
            return Err(StopReason::StateLimit(limit));
        }
        let number = u32::try_from(self.pairs.len()).map_err(|_| StopReason::TooManyStates)?;
        let (parent, depth) = match parent {
            Some(parent) => (parent as u32, self.pairs[parent].depth + 1),
            None => (number, 0),
        };
        if let Some(limit) = self.options.max_depth.filter(|&limit| u64::from(depth) > limit) {
            self.is_cut = Some(limit);
            return Ok(());
        }
        known.retain(|&other| !(has_nodes && nodes.is_within(node, other)));
        known.push(node);
        self.pairs.push(Pair { state, node, parent, depth });
        Ok(())
    }

    /// Looks at a pair; how it violates the claim, if it does.
    fn expand(&mut self, position: usize) -> Result<Option<Finding>, StopReason> {
        let Pair { state, node, .. } = self.pairs[position];
        // One with fewer states of the specification was found since.
        if !self.known[&state].contains(&node) {
            return Ok(None);
        }
        let sense = match self.behaviour.claim {
            BehaviourClaim::Refines { sense, .. } => Some(sense),
            BehaviourClaim::DivergenceFree => {
                if self.graph.diverges(state)? {
                    return Ok(Some(Finding::Divergence));
                }
                None
            }
            BehaviourClaim::Deterministic => {
                // Equal steps were removed.
                let steps = self.graph.steps(state)?;
                if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    return Ok(Some(Finding::Choice(pair[0].0)));
                }
                None
            }
        };
        if sense == Some(Refinement::FailuresDivergences) {
            if self.nodes.diverges(&mut self.graph, node)? {
                return Ok(None);
            }
            if self.graph.diverges(state)? {
                return Ok(Some(Finding::Divergence));
            }
        }
        if matches!(sense, Some(Refinement::Failures | Refinement::FailuresDivergences)) {
            let ready = ready(&mut self.graph, state)?;
            if ready.first() != Some(&INTERNAL) {
                let acceptances = self.nodes.acceptances(&mut self.graph, node)?;
                if !acceptances.iter().any(|set| is_subset(set, &ready)) {
                    // An event that is not allowed says more.
                    let possible = self.nodes.events(&mut self.graph, node)?;
                    if is_subset(&ready, &possible) {
                        return Ok(Some(Finding::Refusal));
                    }
                }
            }
        }
        for (event, next) in self.graph.steps(state)?.to_vec() {
            let after = if sense.is_none() || event == INTERNAL {
                node
            } else {
                match self.nodes.after(&mut self.graph, node, event)? {
                    Some(after) => after,
                    None => return Ok(Some(Finding::Event(event, next))),
                }
            };
            self.add(next, after, Some(position))?;
        }
        Ok(None)
    }

    /// The run to a finding, replayed.
    fn trace(
        &mut self,
        position: usize,
        finding: &Finding,
        interpreter: &Interpreter<'_>,
        property: PropertyId,
    ) -> Result<Trace, Trouble> {
        let mut path = vec![self.pairs[position]];
        let mut number = position as u32;
        while self.pairs[number as usize].parent != number {
            number = self.pairs[number as usize].parent;
            path.push(self.pairs[number as usize]);
        }
        path.reverse();
        let mut states: Vec<(EventId, StateNumber)> = vec![(INTERNAL, path[0].state)];
        for pair in path.windows(2) {
            // Any step that leads to the next pair.
            let mut event = None;
            for (candidate, next) in self.graph.steps(pair[0].state)?.to_vec() {
                let fits = next == pair[1].state
                    && match self.behaviour.claim {
                        BehaviourClaim::Refines { .. } if candidate == INTERNAL => pair[0].node == pair[1].node,
                        BehaviourClaim::Refines { .. } => {
                            self.nodes.after(&mut self.graph, pair[0].node, candidate)? == Some(pair[1].node)
                        }
                        BehaviourClaim::DivergenceFree | BehaviourClaim::Deterministic => true,
                    };
                if fits {
                    event = Some(candidate);
                    break;
                }
            }
            let event = event.ok_or(Trouble::Defect(EngineError::Rebuild("a step is missing")))?;
            states.push((event, pair[1].state));
        }
        let mut cycle = None;
        match finding {
            Finding::Event(event, next) => states.push((*event, *next)),
            Finding::Refusal | Finding::Choice(_) => {}
            Finding::Divergence => {
                // Internal steps to states that diverge, until one is met again.
                let begin = states.len() - 1;
                loop {
                    let (_, last) = states[states.len() - 1];
                    let mut next = None;
                    for candidate in self.graph.internal(last)? {
                        if self.graph.diverges(candidate)? {
                            next = Some(candidate);
                            break;
                        }
                    }
                    let next = next.ok_or(Trouble::Defect(EngineError::Rebuild("a divergence ends")))?;
                    let met = states[begin..].iter().position(|(_, state)| *state == next);
                    states.push((INTERNAL, next));
                    if let Some(met) = met {
                        cycle = Some(begin + met);
                        break;
                    }
                }
            }
        }
        let packed: Vec<Vec<u64>> = states.iter().map(|(_, state)| self.graph.state(*state).to_vec()).collect();
        let missing = || Trouble::Defect(EngineError::Rebuild("an instance is missing"));
        let mut steps = Vec::with_capacity(states.len());
        let layout = interpreter.layout();
        let (action, arguments) = self.graph.first_instance(self.behaviour.process, &packed[0]).ok_or_else(missing)?;
        steps.push(TraceStep { action, arguments, state: layout.unpack(&packed[0]) });
        for (position, (event, _)) in states.iter().enumerate().skip(1) {
            let (from, to) = (&packed[position - 1], &packed[position]);
            let found = self.graph.instance(from, (*event, to))?;
            let (action, arguments): (Action, Vec<i64>) = found.ok_or_else(missing)?;
            steps.push(TraceStep { action, arguments, state: layout.unpack(to) });
        }
        let violation = Some(Violation::Temporal { property, arguments: Vec::new() });
        let trace = match cycle {
            Some(begin) => Trace::lasso(steps, begin, violation),
            None => Trace::new(steps, violation),
        };
        replay(interpreter, &trace).map_err(|error| Trouble::Defect(error.into()))?;
        Ok(trace)
    }

    /// What the run does not show.
    fn remark(&mut self, position: usize, finding: &Finding) -> Result<String, StopReason> {
        let Pair { state, node, .. } = self.pairs[position];
        Ok(match finding {
            Finding::Event(event, _) => {
                let possible = self.nodes.events(&mut self.graph, node)?;
                let event = self.graph.name(*event).to_owned();
                format!("the specification cannot do {event} here; it may do {}", self.listed(&possible))
            }
            Finding::Refusal => {
                let ready = ready(&mut self.graph, state)?;
                let acceptances = self.nodes.acceptances(&mut self.graph, node)?;
                let here = match ready.len() {
                    0 => "everything is refused here".to_owned(),
                    _ => format!("everything but {} is refused here", self.listed(&ready)),
                };
                let sets: Vec<String> = acceptances.iter().take(LISTED).map(|set| self.listed(set)).collect();
                match sets.len() {
                    0 => format!("{here}; the specification is never without an internal step"),
                    _ => format!("{here}; the specification accepts at least {}", sets.join(", or ")),
                }
            }
            Finding::Divergence if matches!(self.behaviour.claim, BehaviourClaim::Refines { .. }) => {
                "internal steps go on forever; those of the specification end here".to_owned()
            }
            Finding::Divergence => "internal steps go on forever".to_owned(),
            Finding::Choice(event) => {
                format!("{} leads to different states from here", self.graph.name(*event))
            }
        })
    }

    fn listed(&self, events: &[EventId]) -> String {
        let mut names: Vec<&str> = events.iter().map(|&event| self.graph.name(event)).collect();
        names.sort_unstable();
        let more = names.len().saturating_sub(LISTED);
        names.truncate(LISTED);
        match (names.len(), more) {
            (0, _) => "nothing".to_owned(),
            (_, 0) => format!("{{{}}}", names.join(", ")),
            (_, more) => format!("{{{}, and {more} more}}", names.join(", ")),
        }
    }
}
