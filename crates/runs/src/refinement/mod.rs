//! Claims about the events of processes: refinement of traces, failures, and failures and divergences; freedom from
//! divergence; determinism.
//!
//! A refinement is decided on pairs of a state of the process and a node of the specification, which is made
//! deterministic on the fly (`normal`). A pair is left out if a known one has the same state and a node with fewer
//! states: what a node allows, a larger one allows, too (antichains: De Wulf, Doyen, Henzinger and Raskin, 2006; for
//! refinement Wang and others, 2012). The search is breadth-first, so runs are shortest.
//!
//! Symmetries (`symmetries`) that rename visible events alike in both processes act on a pair: its state is replaced by a
//! representative, and its node by the image under the same symmetry.

mod graph;
mod normal;
mod observed;
mod symmetries;

use quotient_groups::SparsePermutation;
use quotient_ir::{
    Action, Behaviour, BehaviourClaim, Budget, Interpreter, Layout, Model, PropertyId, PropertyKind, Refinement, Trace,
    TraceStep, Violation, replay,
};
use rustc_hash::FxHashMap;

use graph::{Edge, EventId, Graph, INTERNAL, Move, Side, Trouble};
use normal::{NodeId, Nodes, is_subset};
use quotient_graphs::{ProductReport, TemporalReport, UsedSymmetry};
use quotient_search::{EngineError, FairnessMode, Observer, SearchOptions, StopReason, TransitionSystem, Verdict};
use quotient_states::store::StateNumber;
use quotient_systems::{DeferredSystem, SpecialisedSystem, SymmetrySource, too_large};
use symmetries::{Symmetries, TurnId};

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
    Event,
    /// More is refused than the specification may refuse.
    Refusal,
    /// Internal steps can go on forever.
    Divergence,
    /// Steps with one event lead to different states.
    Choice,
}

/// Checks a claim about events. Symmetries are looked for if a source is given, and the search is not short.
///
/// # Errors
/// If the model has states that are passed through or dropped, a symmetry cannot be certified, or a run cannot be
/// replayed: the last two are defects.
pub(crate) fn check_behaviour(
    model: &Model,
    layout: &Layout,
    (property, behaviour): (PropertyId, &Behaviour),
    source: Option<SymmetrySource>,
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
    let compiled = DeferredSystem::new(&evaluator, true);
    let claim = Claim { interpreter: &interpreter, system: &compiled, property, behaviour };
    let Some(source) = source.filter(|_| too_large(model).is_none()) else {
        return claim.check(None, None, options, observer);
    };
    let trial = options.temporal_trial;
    if trial > 0 && options.max_states.is_none_or(|limit| limit > trial) {
        let short = SearchOptions { max_states: Some(trial), ..options.clone() };
        let report = claim.check(None, Some(trial), &short, observer)?;
        if report.stop_reason != Some(StopReason::StateLimit(trial)) {
            return Ok(report);
        }
    }
    let detection = Budget::new(options.temporal_detection, observer.interrupt());
    let symmetries = match Symmetries::find(model, layout, behaviour, source, &detection) {
        Ok(symmetries) => symmetries,
        // Looking for them takes more than they would save, or the search is to end.
        Err(EngineError::GaveUp(_)) => None,
        Err(error) => return Err(error),
    };
    claim.check(symmetries, None, options, observer)
}

/// A claim about events, and the system it is about.
struct Claim<'a, 'm, S> {
    interpreter: &'a Interpreter<'m>,
    system: &'a S,
    property: PropertyId,
    behaviour: &'a Behaviour,
}

impl<S: TransitionSystem> Claim<'_, '_, S> {
    /// Searches with some symmetries. `trial` is the number of states that a short search may expand: divergence looks
    /// beyond the pairs.
    fn check(
        &self,
        symmetries: Option<Symmetries<'_>>,
        trial: Option<u64>,
        options: &SearchOptions,
        observer: &mut dyn Observer,
    ) -> Result<TemporalReport, EngineError> {
        let claim = (self.property, self.behaviour);
        let mut graph = Graph::new(self.system, self.interpreter, claim, symmetries, options, observer);
        graph.trial = trial;
        let mut search = Search {
            graph,
            nodes: Nodes::default(),
            behaviour: self.behaviour,
            pairs: Vec::new(),
            known: FxHashMap::default(),
            is_cut: None,
            options,
        };
        let found = search.run(self.interpreter, self.property);
        let mut report = TemporalReport::new(self.property, FairnessMode::None);
        report.searches.push(ProductReport {
            instances: Vec::new(),
            automaton: (u32::try_from(search.nodes.len()).unwrap_or(u32::MAX), 0),
            symmetry: search.graph.order().map_or(UsedSymmetry::None, |order| UsedSymmetry::Whole(order.clone())),
            parts: None,
            // Without pairs that later ones made superfluous, so that the number does not depend on the order.
            states: search.known.values().map(|nodes| nodes.len() as u64).sum(),
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
        let node = self.first_node()?;
        for state in self.graph.starts(self.behaviour.process)? {
            let (state, turn) = self.graph.representative(state)?;
            let node = self.turned(node, turn)?;
            self.add(state, node, None)?;
        }
        let mut position = 0;
        while position < self.pairs.len() {
            if position % POLL_INTERVAL == 0 {
                self.tell_progress(position)?;
            }
            if let Some(finding) = self.expand(position)? {
                return self.violation(position, &finding, interpreter, property).map(Some);
            }
            position += 1;
        }
        match self.is_cut {
            Some(limit) => Err(StopReason::DepthLimit(limit).into()),
            None => Ok(None),
        }
    }

    /// Whether there is a specification.
    fn has_nodes(&self) -> bool {
        matches!(self.behaviour.claim, BehaviourClaim::Refines { .. })
    }

    /// The states in which the specification begins; without one, some number.
    fn first_node(&mut self) -> Result<NodeId, Trouble> {
        match self.behaviour.claim {
            BehaviourClaim::Refines { specification, .. } => {
                let starts = self.graph.starts(specification)?;
                self.nodes.closed(&mut self.graph, starts)
            }
            BehaviourClaim::DivergenceFree | BehaviourClaim::Deterministic => Ok(0),
        }
    }

    /// The image of a node under a turn.
    fn turned(&mut self, node: NodeId, turn: TurnId) -> Result<NodeId, Trouble> {
        match self.has_nodes() {
            true => self.nodes.turned(&mut self.graph, node, turn),
            false => Ok(node),
        }
    }

    /// The node after a step; none if the specification has no such step.
    fn after(&mut self, node: NodeId, event: EventId) -> Result<Option<NodeId>, Trouble> {
        match self.has_nodes() && event != INTERNAL {
            true => self.nodes.after(&mut self.graph, node, event),
            false => Ok(Some(node)),
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
        let has_nodes = self.has_nodes();
        let nodes = &self.nodes;
        let known = self.known.entry(state).or_default();
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
    fn expand(&mut self, position: usize) -> Result<Option<Finding>, Trouble> {
        let Pair { state, node, .. } = self.pairs[position];
        // One with fewer states of the specification was found since.
        if !self.known[&state].contains(&node) {
            return Ok(None);
        }
        match self.behaviour.claim {
            BehaviourClaim::Refines { sense, .. } => {
                if sense == Refinement::FailuresDivergences {
                    if self.nodes.diverges(&mut self.graph, node)? {
                        return Ok(None);
                    }
                    if self.graph.diverges(Side::Process, state)? {
                        return Ok(Some(Finding::Divergence));
                    }
                }
                if sense != Refinement::Traces && self.refuses_too_much(state, node)? {
                    return Ok(Some(Finding::Refusal));
                }
            }
            BehaviourClaim::DivergenceFree => {
                if self.graph.diverges(Side::Process, state)? {
                    return Ok(Some(Finding::Divergence));
                }
            }
            BehaviourClaim::Deterministic => {
                // Equal steps were removed.
                if self.graph.moves(state)?.windows(2).any(|pair| pair[0].event == pair[1].event) {
                    return Ok(Some(Finding::Choice));
                }
            }
        }
        for Move { event, to, turn } in self.graph.moves(state)? {
            let Some(after) = self.after(node, event)? else { return Ok(Some(Finding::Event)) };
            let after = self.turned(after, turn)?;
            self.add(to, after, Some(position))?;
        }
        Ok(None)
    }

    /// Whether a state without internal steps refuses more than the specification may. An event that is not allowed says
    /// more.
    fn refuses_too_much(&mut self, state: StateNumber, node: NodeId) -> Result<bool, Trouble> {
        let ready = self.graph.ready(Side::Process, state)?;
        if ready.first() == Some(&INTERNAL) {
            return Ok(false);
        }
        let acceptances = self.nodes.acceptances(&mut self.graph, node)?;
        if acceptances.iter().any(|set| is_subset(set, &ready)) {
            return Ok(false);
        }
        let possible = self.nodes.events(&mut self.graph, node)?;
        Ok(is_subset(&ready, &possible))
    }

    /// The run to a violation, of the model itself and replayed, and what it does not show.
    fn violation(
        &mut self,
        position: usize,
        finding: &Finding,
        interpreter: &Interpreter<'_>,
        property: PropertyId,
    ) -> Result<(Trace, String), Trouble> {
        let (mut steps, node) = self.path(position)?;
        let (_, last) = *steps.last().expect("a path has a state");
        let remark = self.remark((last, node), finding)?;
        let mut cycle = None;
        match finding {
            Finding::Event => {
                let step = self.forbidden(last, node)?.ok_or(Trouble::Defect(missing("a step is missing")))?;
                steps.push(step);
            }
            Finding::Refusal | Finding::Choice => {}
            Finding::Divergence => {
                // Internal steps to states that diverge, until one is met again.
                let begin = steps.len() - 1;
                while cycle.is_none() {
                    let (_, last) = steps[steps.len() - 1];
                    let mut next = None;
                    for candidate in self.graph.internal(Side::Specification, last)? {
                        let (representative, _) = self.graph.representative(candidate)?;
                        if self.graph.diverges(Side::Process, representative)? {
                            next = Some(candidate);
                            break;
                        }
                    }
                    let next = next.ok_or(Trouble::Defect(missing("a divergence ends")))?;
                    cycle = steps[begin..].iter().position(|(_, state)| *state == next).map(|met| begin + met);
                    steps.push((INTERNAL, next));
                }
            }
        }
        let packed: Vec<Vec<u64>> = steps.iter().map(|(_, state)| self.graph.state(*state).to_vec()).collect();
        let no_instance = || Trouble::Defect(missing("an instance is missing"));
        let mut told = Vec::with_capacity(steps.len());
        let layout = interpreter.layout();
        let first = self.graph.first_instance(self.behaviour.process, &packed[0]);
        let (action, arguments) = first.ok_or_else(no_instance)?;
        told.push(TraceStep { action, arguments, state: layout.unpack(&packed[0]) });
        for (position, (event, _)) in steps.iter().enumerate().skip(1) {
            let (from, to) = (&packed[position - 1], &packed[position]);
            let found = self.graph.instance(from, (*event, to))?;
            let (action, arguments): (Action, Vec<i64>) = found.ok_or_else(no_instance)?;
            told.push(TraceStep { action, arguments, state: layout.unpack(to) });
        }
        let violation = Some(Violation::Temporal { property, arguments: Vec::new() });
        let trace = match cycle {
            Some(begin) => Trace::lasso(told, begin, violation),
            None => Trace::new(told, violation),
        };
        replay(interpreter, &trace).map_err(|error| Trouble::Defect(error.into()))?;
        Ok((trace, remark))
    }

    /// The states of a run that leads to a pair or an image of it, each with the event before it, and the node after
    /// it: of the model itself, not representatives.
    fn path(&mut self, position: usize) -> Result<(Vec<Edge>, NodeId), Trouble> {
        let mut pairs = vec![self.pairs[position]];
        let mut number = position as u32;
        while self.pairs[number as usize].parent != number {
            number = self.pairs[number as usize].parent;
            pairs.push(self.pairs[number as usize]);
        }
        pairs.reverse();
        let no_step = || Trouble::Defect(missing("a step is missing"));
        let mut node = self.first_node()?;
        let mut first = None;
        for start in self.graph.starts(self.behaviour.process)? {
            let (state, element) = self.graph.witness(start)?;
            if self.leads_to((state, node), &element, &pairs[0])? {
                first = Some((start, element));
                break;
            }
        }
        // The symmetry maps the last state and its node to the last pair.
        let (start, mut element) = first.ok_or_else(no_step)?;
        let mut path: Vec<Edge> = vec![(INTERNAL, start)];
        for pair in pairs.windows(2) {
            let mut found = None;
            for (event, next) in self.graph.steps(pair[0].state)?.to_vec() {
                let Some(after) = self.after(pair[0].node, event)? else { continue };
                let (state, turning) = self.graph.witness(next)?;
                if self.leads_to((state, after), &turning, &pair[1])? {
                    found = Some((event, next, after, turning));
                    break;
                }
            }
            let (event, next, after, turning) = found.ok_or_else(no_step)?;
            // The same step of the run has another name.
            let back = element.inverse();
            let next = self.graph.image(next, &back)?;
            let turn = self.graph.turn(&back)?;
            let after = self.turned(after, turn)?;
            let (_, last) = path[path.len() - 1];
            let mut renamed = None;
            for (candidate, to) in self.graph.steps(last)?.to_vec() {
                let fits = to == next && (candidate == INTERNAL) == (event == INTERNAL);
                if fits && self.after(node, candidate)? == Some(after) {
                    renamed = Some(candidate);
                    break;
                }
            }
            path.push((renamed.ok_or_else(no_step)?, next));
            node = after;
            element = element.then(&turning);
        }
        Ok((path, node))
    }

    /// Whether a symmetry that maps a state to a representative maps the node beside it to that of a pair.
    fn leads_to(
        &mut self,
        (representative, node): (StateNumber, NodeId),
        element: &SparsePermutation,
        pair: &Pair,
    ) -> Result<bool, Trouble> {
        if representative != pair.state {
            return Ok(false);
        }
        let turn = self.graph.turn(element)?;
        Ok(self.turned(node, turn)? == pair.node)
    }

    /// A step of a state that the specification does not have.
    fn forbidden(&mut self, state: StateNumber, node: NodeId) -> Result<Option<Edge>, Trouble> {
        for (event, next) in self.graph.steps(state)?.to_vec() {
            if self.after(node, event)?.is_none() {
                return Ok(Some((event, next)));
            }
        }
        Ok(None)
    }

    /// What the run does not show.
    fn remark(&mut self, (state, node): (StateNumber, NodeId), finding: &Finding) -> Result<String, Trouble> {
        Ok(match finding {
            Finding::Event => {
                let possible = self.nodes.events(&mut self.graph, node)?;
                let (event, _) = self.forbidden(state, node)?.ok_or(Trouble::Defect(missing("a step is missing")))?;
                let event = self.graph.name(event).to_owned();
                format!("the specification cannot do {event} here; it may do {}", self.listed(&possible))
            }
            Finding::Refusal => {
                let ready = self.graph.ready(Side::Specification, state)?;
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
            Finding::Divergence if self.has_nodes() => {
                "internal steps go on forever; those of the specification end here".to_owned()
            }
            Finding::Divergence => "internal steps go on forever".to_owned(),
            Finding::Choice => {
                let steps = self.graph.steps(state)?;
                let choice = steps.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
                let event = choice.ok_or(Trouble::Defect(missing("a step is missing")))?;
                format!("{} leads to different states from here", self.graph.name(event))
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

fn missing(what: &'static str) -> EngineError {
    EngineError::Rebuild(what)
}
