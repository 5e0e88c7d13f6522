//! The state space of a model, or its quotient, without properties: state counts and the graph.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use num_bigint::BigUint;
use quotient_explicit::{GuardedQuotient, check};
use quotient_groups::SparsePermutation;
use quotient_ir::{Action, DeadlockMode, Interrupt, Layout};
use quotient_relations::relations;
use quotient_representatives::Workspace;
use quotient_search::Observer as EngineObserver;
use quotient_search::{
    Clock, Measure, Membership, Progress, Run, SearchOptions, SearchOrder, StopReason, SymbolicReport,
};
use quotient_search::{need::Ask, need::EngineKind, need::Need};
use quotient_symmetry::{Describer, Families};
use quotient_systems::Reduction as Method;

use crate::adaptive;
use crate::control::too_little_memory;
use crate::control::{Control, Follower, Observer, Phase, Supervised};
use crate::costs;
use crate::counters::{self, Trial};
use crate::course::{self, Question, Winner};
use crate::detection::{self, Symmetries, ToPreserve};
use crate::engines::{HAS_SETS, refuse_absent};
use crate::error::Error;
use crate::found::Found;
use crate::languages::Language;
use crate::lowering::Lowering;
use crate::model::Model;
use crate::options::{Engine, Limits, PartialOrder, Reduction, Symmetry};
use crate::plan::{asks_of_reduction, refuse};
use crate::refusal::{MOST_THREADS, Refusal};
use crate::report::{PartialOrderReport, Report};
use crate::schedule::trials;
use crate::schedule::{SetTerms, Terms};
use crate::search;
use crate::symbolic::{self, SetAnswer};
use crate::workers::{self, Conducted};

/// The maximum number of states kept for display: a larger drawing is unreadable.
pub const SHOWN_STATES: usize = 500;

/// What to explore, and how. The default counts the states of the model itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploreOptions {
    /// Which symmetries to use. By default none; those of a Petri net, whose numbers are the same with them, unless its
    /// states are searched as sets or by counters.
    pub symmetry: Option<Symmetry>,
    /// How to use them. [`Reduction::Adaptive`] is the guarded annotated quotient.
    pub reduction: Reduction,
    /// Whether to leave out steps that do not depend on others: then the states represented are not counted, and there is
    /// no graph. Only if it is asked for.
    pub partial_order: PartialOrder,
    /// What counts as a deadlock; the default depends on the language.
    pub deadlock: Option<DeadlockMode>,
    /// How states are searched: one by one, as sets, or by counters. By default one by one; a Petri net with many
    /// interchangeable values by counters, and one with many states as sets, unless its graph is asked for.
    pub engine: Engine,
    /// Which state to expand next.
    pub order: SearchOrder,
    /// The maximum number of threads; a graph is built by one.
    pub threads: u32,
    /// Whether transient states, those inside atomic sequences, are stored and counted.
    pub store_passing: bool,
    /// What to keep of the graph.
    pub keep: Keep,
    /// The processes that search together, if there are several: then there is no graph.
    pub workers: Option<Membership>,
    /// When to stop.
    pub limits: Limits,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        Self {
            symmetry: None,
            reduction: Reduction::Auto,
            partial_order: PartialOrder::Off,
            deadlock: None,
            engine: Engine::Auto,
            order: SearchOrder::default(),
            threads: 1,
            store_passing: false,
            keep: Keep::default(),
            workers: None,
            limits: Limits::default(),
        }
    }
}

/// What to keep of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keep {
    /// Only counts.
    #[default]
    Counts,
    /// The edges.
    Edges,
    /// The edges, and the states unless there are more than [`SHOWN_STATES`].
    States,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The model whose states were visited: that of the request, without its claims.
    pub model: Model,
    /// The report of the search.
    pub report: Report,
    /// The graph, as far as it was requested.
    pub graph: StateGraph,
    /// States without successors; unknown if the search did not finish, or if they were not requested.
    pub deadlocks: Option<u64>,
    /// The numbers of a Petri net, if it is one, and they are known.
    pub net: Option<NetCounts>,
}

/// What the Model Checking Contest asks about the state space of a net. All numbers are those of the net itself, also if
/// one state of each orbit was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetCounts {
    /// The reachable markings.
    pub states: BigUint,
    /// The firings: for each marking, the transitions and values of their variables that are possible there.
    pub transitions: BigUint,
    /// The most tokens of one colour in a place.
    pub most_in_place: u64,
    /// The most tokens in a marking.
    pub most_in_marking: u64,
}

/// A graph of states, numbered from 0 in the order of discovery.
#[derive(Clone, Debug, Default)]
pub struct StateGraph {
    /// For each state, whether it has a successor.
    has_successor: Vec<bool>,
    initial: Vec<u64>,
    labels: Vec<(Action, Vec<i64>)>,
    label_numbers: HashMap<(Action, Vec<i64>), u32>,
    edges: Vec<GraphEdge>,
    /// Symmetries on edges of a quotient, in source terms; partitions on those of a guarded one.
    permutations: Vec<String>,
    is_guarded: bool,
    states: Vec<Box<[u64]>>,
}

/// A step from one stored state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// The state it starts from.
    pub from: u64,
    /// The number of its label in [`StateGraph::labels`].
    pub label: u32,
    /// One of the permutations, counted from one; zero for the identity.
    permutation: u32,
    /// The state it leads to.
    pub to: u64,
}

impl StateGraph {
    /// The number of states.
    pub fn state_count(&self) -> usize {
        self.has_successor.len()
    }
    /// The initial states.
    pub fn initial(&self) -> &[u64] {
        &self.initial
    }
    /// The rule instances on edges: the rule, and the cells of its parameters.
    pub fn labels(&self) -> &[(Action, Vec<i64>)] {
        &self.labels
    }
    /// The edges, if requested.
    pub fn edges(&self) -> &[GraphEdge] {
        &self.edges
    }
    /// Packed states; none if they were not requested or are too many to show.
    pub fn states(&self) -> &[Box<[u64]>] {
        &self.states
    }
    /// Whether the edges are those of a guarded annotated quotient. If so, [`StateGraph::permutation`] is the partition
    /// within which an edge exists.
    pub fn is_guarded(&self) -> bool {
        self.is_guarded
    }
    /// The permutation from the successor of a step to its stored representative, if they differ.
    pub fn permutation(&self, edge: &GraphEdge) -> Option<&str> {
        let position = (edge.permutation as usize).checked_sub(1)?;
        self.permutations.get(position).map(String::as_str)
    }
    fn deadlocks(&self) -> u64 {
        self.has_successor.iter().filter(|&&has_successor| !has_successor).count() as u64
    }
    fn label(&mut self, action: Action, arguments: &[i64]) -> u32 {
        let key = (action, arguments.to_vec());
        let next = u32::try_from(self.labels.len()).expect("there are fewer than 2^32 rule instances");
        *self.label_numbers.entry(key).or_insert_with_key(|key| {
            self.labels.push(key.clone());
            next
        })
    }

    /// The graph of a guarded quotient. An edge is labelled with the permutations under which it exists, unless these
    /// are all.
    fn of_guarded_quotient(quotient: &GuardedQuotient, families: &Families) -> Self {
        let mut graph = Self { is_guarded: true, has_successor: vec![false; quotient.nodes.len()], ..Self::default() };
        graph.initial = quotient.initial.iter().map(|&(_, _, node)| u64::from(node)).collect();
        graph.initial.sort_unstable();
        graph.initial.dedup();
        if quotient.nodes.len() <= SHOWN_STATES {
            graph.states = quotient.nodes.iter().map(|state| state.clone().into_boxed_slice()).collect();
        }
        let mut texts: HashMap<String, u32> = HashMap::new();
        for edge in &quotient.edges {
            graph.has_successor[edge.from as usize] |= edge.before != edge.after;
            let label = graph.label(Action::Rule(edge.rule), &edge.arguments);
            let text = edge.partition.describe(families);
            let permutation = if text == "all alike" || edge.partition.cell_count() == families.list().len() {
                0
            } else {
                let next = graph.permutations.len() as u32 + 1;
                let number = *texts.entry(text.clone()).or_insert(next);
                if number == next {
                    graph.permutations.push(text);
                }
                number
            };
            graph.edges.push(GraphEdge { from: u64::from(edge.from), label, permutation, to: u64::from(edge.to) });
        }
        graph
    }
}

/// Visits the states of a model, or one of each orbit, without checking properties.
///
/// # Errors
/// If the options cannot be used, or there is a defect in this program.
pub fn explore(
    model: &Model,
    options: &ExploreOptions,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Exploration, Error> {
    let options = &options.for_model(model);
    let mut notes = check_options(options)?;
    let model = &model.lowered(Lowering::for_exploration(), control)?;
    let started = Instant::now();
    control.tighten(&options.limits);
    let search = SearchOptions {
        order: options.order,
        deadlock: DeadlockMode::Off,
        properties: Some(Vec::new()),
        max_states: options.limits.max_states,
        max_depth: options.limits.max_depth,
        store_passing: options.store_passing,
        // Only so are the firings of a quotient known.
        statistics: model.ir().holds_only_amounts()
            && options.wished_symmetry() != Symmetry::Off
            && options.workers.is_none(),
        ..SearchOptions::default()
    };
    let stopped = |reason| Found::new(None, search::unfinished(model, &search, reason, control));
    let (found, graph, tokens) = if control.is_out_of_memory() {
        notes.extend(too_little_memory(control));
        (stopped(control.stop_reason().unwrap_or(StopReason::OutOfMemory)), StateGraph::default(), None)
    } else {
        let (job, asked, own, watched) = (model.clone(), options.clone(), search.clone(), control.clone());
        match control.supervise(observer, move || conduct(&job, &asked, &own, &watched))? {
            Supervised::Done(found) => found?,
            Supervised::Abandoned(reason) => (stopped(reason), StateGraph::default(), None),
        }
    };
    let deadlock = options.deadlock.unwrap_or_else(|| model.usual_deadlock_mode());
    let net = tokens.and_then(|tokens| net_counts(&found, tokens));
    let is_drawn = options.partial_order == PartialOrder::Off
        && !graph.is_guarded
        && options.workers.is_none()
        && found.sets.is_none()
        && found.counted.is_none();
    let is_known = found.report.stop_reason.is_none() && deadlock != DeadlockMode::Off && is_drawn;
    let deadlocks = is_known.then(|| graph.deadlocks());
    let report = found.into_report(notes, control, started.elapsed());
    Ok(Exploration { model: model.clone(), report, graph, deadlocks, net })
}

/// The numbers of a net, if the search finished and counted them.
fn net_counts(found: &Found, (most_in_place, most_in_marking): (u64, u64)) -> Option<NetCounts> {
    let report = &found.report;
    if report.stop_reason.is_some() || found.partial_order.is_some() {
        return None;
    }
    let states = report.represented.clone()?;
    let transitions = match (&found.sets, &report.firings) {
        (Some(sets), _) => sets.transitions.clone(),
        (None, Some(firings)) => firings.iter().map(|firings| &firings.times).sum(),
        (None, None) if states == BigUint::from(report.states) => report.transitions.into(),
        (None, None) => return None,
    };
    Some(NetCounts { states, transitions, most_in_place, most_in_marking })
}

impl ExploreOptions {
    /// Refuses what [`explore`] refuses before it searches.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self, model: &Model) -> Result<(), Error> {
        check_options(&self.for_model(model))?;
        Ok(())
    }

    /// The same with what was left open.
    fn for_model(&self, model: &Model) -> Self {
        let uses_symmetries =
            model.language() == Some(Language::Pnml) && !matches!(self.engine, Engine::Symbolic | Engine::Counters);
        let usual = if uses_symmetries { Symmetry::Auto } else { Symmetry::Off };
        Self { symmetry: self.symmetry.or(Some(usual)), ..self.clone() }
    }

    fn wished_symmetry(&self) -> Symmetry {
        self.symmetry.unwrap_or(Symmetry::Off)
    }
}

/// Refuses invalid combinations, and notes deviations from the options.
fn check_options(options: &ExploreOptions) -> Result<Vec<String>, Refusal> {
    if !(1..=MOST_THREADS).contains(&options.threads) {
        return Err(Refusal::Threads(options.threads));
    }
    if options.limits.max_states == Some(0) || options.limits.max_memory == Some(0) {
        return Err(Refusal::NoRoom);
    }
    refuse_absent(options.engine, options.workers.is_some())?;
    let main = match (options.engine, options.reduction) {
        (Engine::Symbolic, _) => EngineKind::SetOfStates,
        (Engine::Counters, _) => EngineKind::CountedStates,
        (Engine::Solver(_), _) => return Err(Refusal::Explore("a solver does not visit states")),
        (Engine::Auto | Engine::Explicit, Reduction::Adaptive) => EngineKind::GuardedGraph,
        (Engine::Auto | Engine::Explicit, _) => EngineKind::StateSpace,
    };
    refuse(need(options, main).supported_by(main), options.reduction)?;
    if options.partial_order == PartialOrder::Auto {
        return Err(Refusal::PartialOrder("`explore` uses it only if it is asked for".to_owned()));
    }
    let note = format!("a graph is drawn by one thread, not {}", options.threads);
    Ok((options.threads > 1).then_some(note).into_iter().collect())
}

/// What an exploration asks for.
fn need(options: &ExploreOptions, main: EngineKind) -> Need {
    let asked = Need::new([
        (Ask::Deadlock, options.deadlock.is_some()),
        (Ask::Graph, options.keep != Keep::Counts),
        (Ask::DepthFirst, options.order == SearchOrder::DepthFirst),
        (Ask::AutoSymmetry, options.wished_symmetry() == Symmetry::Auto),
        (Ask::PartialOrder, options.partial_order == PartialOrder::On),
        (Ask::StorePassing, options.store_passing),
        (Ask::Workers, options.workers.is_some()),
        (Ask::Threads, options.threads > 1),
        (Ask::MaxStates, options.limits.max_states.is_some()),
        (Ask::MaxDepth, options.limits.max_depth.is_some()),
    ]);
    // Annotated states need no symmetries of the whole model; sets and counters find their own, or none.
    let uses_symmetries = main == EngineKind::StateSpace;
    let is_about = |ask: &Ask| match ask {
        Ask::NoSymmetry => uses_symmetries,
        Ask::Adaptive => main != EngineKind::GuardedGraph,
        _ => true,
    };
    let reduction = Need::new(asks_of_reduction(options.wished_symmetry(), options.reduction));
    reduction.asks().filter(is_about).fold(asked, Need::with)
}

/// The greatest number of tokens in one cell, and in all.
type Tokens = (u64, u64);

/// What was found, its graph, and the tokens if they are counted.
type Counted = (Found, StateGraph, Option<Tokens>);

/// The result of a search of single states, beside which the set of all of them may be computed.
enum Explored {
    /// The states, and the set as far as it got.
    States(Box<Counted>, Option<Run<SetAnswer>>),
    /// The set was complete first.
    Set(Box<SymbolicReport>),
}

impl Explored {
    fn states(found: Found, graph: StateGraph, tokens: Option<Tokens>) -> Self {
        Self::States(Box::new((found, graph, tokens)), None)
    }
}

/// What is known from the set of all states.
fn as_set(report: SymbolicReport) -> Counted {
    noted(symbolic::counted(report))
}

fn noted((mut found, tokens): (Found, Option<Tokens>)) -> Counted {
    found.notes.push("all states were found as a set before they were found one by one".to_owned());
    (found, StateGraph::default(), tokens)
}

/// Searches with the engine that is asked for, or that suits.
fn conduct(
    model: &Model,
    options: &ExploreOptions,
    search: &SearchOptions,
    control: &Control,
) -> Result<Counted, Error> {
    match options.engine {
        Engine::Symbolic => {
            let (found, tokens) = symbolic::explore(model, search, control, u64::MAX)?;
            return Ok((found, StateGraph::default(), tokens));
        }
        Engine::Counters => {
            let (found, tokens) = counters::explore(model, search, control)?;
            return Ok((found, StateGraph::default(), tokens));
        }
        _ => {}
    }
    let may_be_sets = options.engine == Engine::Auto
        && model.ir().holds_only_amounts()
        && options.keep == Keep::Counts
        && options.reduction == Reduction::Auto
        && options.partial_order == PartialOrder::Off
        && options.order == SearchOrder::BreadthFirst
        && options.workers.is_none()
        && search.max_states.is_none_or(|limit| limit > trials::STATES_BEFORE_SETS);
    if !may_be_sets {
        return search_alone(model, options, search, control);
    }
    let trial = match options.wished_symmetry() {
        Symmetry::Auto => counters::try_explore(model, search, control)?,
        _ => Trial::Unsuited,
    };
    let is_counted = match trial {
        Trial::Explored(explored) => {
            let (found, tokens) = *explored;
            return Ok((found, StateGraph::default(), tokens));
        }
        Trial::TooManyStates => true,
        Trial::Unsuited => false,
    };
    if !HAS_SETS && !is_counted {
        return search_alone(model, options, search, control);
    }
    let some = SearchOptions { max_states: Some(trials::STATES_BEFORE_SETS), ..search.clone() };
    let (first, set) = match search_states(model, options, &some, control, HAS_SETS)? {
        Explored::Set(report) => return Ok(as_set(*report)),
        Explored::States(first, set) => (first, set),
    };
    let is_stopped = matches!(first.0.report.stop_reason, Some(StopReason::StateLimit(_)));
    if !is_stopped || control.stop_reason().is_some() {
        return Ok(*first);
    }
    let by_sets = match course::finish_set(model, search, control, set)? {
        Some(report) => return Ok(as_set(report)),
        None if control.stop_reason().is_some() => None,
        // Steps that saturation does not suit.
        None => match symbolic::explore(model, search, control, trials::SETS_BYTES) {
            Ok(counted) => Some(counted).filter(|(found, _)| found.report.stop_reason.is_none()),
            Err(error @ Error::Internal(_)) => return Err(error),
            Err(_) => None,
        },
    };
    match by_sets {
        Some(counted) => Ok(noted(counted)),
        // With representatives, there would be as many states, and each step would take longer.
        None if is_counted => {
            let (found, tokens) = counters::explore(model, search, control)?;
            Ok((found, StateGraph::default(), tokens))
        }
        None => search_alone(model, options, search, control),
    }
}

/// Searches single states, with nothing beside it.
fn search_alone(
    model: &Model,
    options: &ExploreOptions,
    search: &SearchOptions,
    control: &Control,
) -> Result<Counted, Error> {
    match search_states(model, options, search, control, false)? {
        Explored::States(counted, _) => Ok(*counted),
        Explored::Set(report) => Ok(as_set(*report)),
    }
}

/// Searches single states, and computes the set of all of them beside it if `tries_set` says so.
fn search_states(
    model: &Model,
    options: &ExploreOptions,
    search: &SearchOptions,
    control: &Control,
    tries_set: bool,
) -> Result<Explored, Error> {
    let stopped = |symmetries, reason| {
        let found = Found::new(symmetries, search::unfinished(model, search, reason, control));
        Explored::states(found, StateGraph::default(), None)
    };
    if options.reduction == Reduction::Adaptive {
        let mut graph = StateGraph::default();
        let mut follower = Follower::new(control, None);
        let found = adaptive::explore(model, options.limits.max_states, &mut follower, |quotient, partial| {
            graph = StateGraph::of_guarded_quotient(quotient, partial.families());
        });
        return match (found, control.stop_reason()) {
            (Ok((used, report)), _) => {
                let symmetries = Some(Symmetries::of_adaptive(used));
                Ok(Explored::states(Found::new(symmetries, report), graph, None))
            }
            (Err(_), Some(reason)) => Ok(stopped(None, reason)),
            (Err(error), None) => Err(error),
        };
    }
    let wish = (options.wished_symmetry(), options.reduction);
    let preserved = ToPreserve::of_search(Vec::new(), search);
    if let Some(membership) = &options.workers {
        let mut facts = workers::facts_of_model(model);
        facts.push(("the options".to_owned(), format!("{wish:?} {search:?}")));
        let others = (membership, &facts[..]);
        let follower = Follower::new(control, None);
        return match workers::conduct(model, others, search, (wish, preserved), control, follower)? {
            Conducted::Searched(found) => Ok(Explored::states(*found, StateGraph::default(), None)),
            Conducted::Stopped(symmetries) => Ok(stopped(*symmetries, control.reason())),
        };
    }
    let symmetries = detection::find(model, wish, preserved, control)?;
    if let Some(reason) = control.check() {
        return Ok(stopped(symmetries, reason));
    }
    let (mut search, mut partial_order) = (search.clone(), None);
    if options.partial_order == PartialOrder::On {
        match relations(model.ir(), model.layout(), &search, control.interrupt()) {
            Ok(relations) => {
                search.partial_order = Some(Arc::new(relations));
                partial_order = Some(PartialOrderReport { unused: None });
            }
            Err(reason) => match control.check() {
                Some(stop) => return Ok(stopped(symmetries, stop)),
                None => return Err(Refusal::PartialOrder(reason).into()),
            },
        }
    }
    control.enter(Phase::Searching);
    let plan = symmetries.as_ref().and_then(Symmetries::plan).cloned();
    let is_reduced = plan.as_ref().is_some_and(|plan| plan.reduction.is_some());
    let set = tries_set.then(|| SetTerms {
        instances: costs::instances_in_each_state(model.ir()),
        slots: model.layout().slots.len() as u64,
        is_reduced,
    });
    let sink = Sink {
        deadlock: options.deadlock.unwrap_or_else(|| model.usual_deadlock_mode()),
        graph: StateGraph::default(),
        keep: options.keep,
        tokens: model.ir().holds_only_amounts().then_some((0, 0)),
    };
    let draws = partial_order.is_none();
    let mut start = |_, marks| {
        let (model, search, control) = (model.clone(), search.clone(), control.clone());
        let (plan, sink) = (plan.clone(), sink.clone());
        Run::start(control.clone().interrupt(), move |pace| {
            let witnesses = plan.as_ref().and_then(|plan| plan.reduction.as_ref());
            let witnesses = witnesses.map(|method| Witnesses::new(&model, method));
            let layout = model.layout();
            let collector = Collector { follower: Follower::new(&control, None), witnesses, layout, draws, sink };
            let mut observer = pace.observer(collector, Measure::Steps, Some(marks));
            let job = model.job(search::within_memory(&search, &control), plan.clone());
            let report = check(&job.model, &job.layout, plan.as_deref(), &job.options, &mut observer);
            report.map(|report| (report, observer.watched.sink))
        })
    };
    let question = Question { model, search: &search, properties: &[], wish: None, control };
    let finish = course::follow(&question, Terms { set, ..Terms::default() }, &mut start)?;
    match finish.winner {
        Winner::Main(found) => {
            let (report, sink) = found.map_err(|error| Error::of_engine(model.source(), error))?;
            let found = Found { partial_order, ..Found::new(symmetries, report) };
            Ok(Explored::States(Box::new((found, sink.graph, sink.tokens)), finish.set))
        }
        Winner::Set(report) => Ok(Explored::Set(report)),
        Winner::Stopped(reason) => Ok(stopped(symmetries, reason)),
        Winner::Parts(_) | Winner::Adaptive(_) => unreachable!("nothing else is tried where states are counted"),
    }
}

/// What is exported from a search.
#[derive(Clone)]
struct Sink {
    deadlock: DeadlockMode,
    graph: StateGraph,
    keep: Keep,
    /// The most tokens so far. Symmetries exchange cells, so all states of an orbit have the same.
    tokens: Option<Tokens>,
}

/// Lets a search export its graph.
struct Collector<'a> {
    follower: Follower,
    witnesses: Option<Witnesses<'a>>,
    layout: &'a Layout,
    /// Whether all steps are seen.
    draws: bool,
    sink: Sink,
}

/// Finds the symmetry that maps a successor to its representative.
struct Witnesses<'a> {
    model: &'a Model,
    method: &'a Method,
    describer: Describer<'a>,
    workspace: Workspace,
    numbers: HashMap<SparsePermutation, u32>,
}

impl<'a> Witnesses<'a> {
    fn new(model: &'a Model, method: &'a Method) -> Self {
        let describer = Describer::new(model.ir(), model.layout(), method.group.literals());
        Self { model, method, describer, workspace: Workspace::default(), numbers: HashMap::new() }
    }

    /// The number of the permutation for a state; a new permutation is described.
    fn number(&mut self, state: &[u64], texts: &mut Vec<String>) -> u32 {
        let mut image = state.to_vec();
        let permutation = self.method.canonicalizer.canonicalize_with_witness(&mut self.workspace, &mut image);
        if permutation.is_identity() {
            return 0;
        }
        *self.numbers.entry(permutation).or_insert_with_key(|permutation| {
            let action = self.method.group.literals().action(self.model.layout(), permutation);
            texts.push(self.describer.describe(&action.expect("a symmetry acts on states")).to_string());
            u32::try_from(texts.len()).expect("there are fewer than 2^32 permutations")
        })
    }
}

impl EngineObserver for Collector<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.follower.progress(progress)
    }
    fn interrupt(&self) -> Interrupt {
        self.follower.interrupt()
    }
    fn clock(&self) -> Option<Clock> {
        self.follower.clock()
    }
    fn wants_graph(&self) -> bool {
        self.draws
    }
    fn state(&mut self, number: u64, state: &[u64], initial: bool) {
        self.sink.state(self.layout, number, state, initial);
    }
    fn edge(&mut self, edge: quotient_search::Edge<'_>) {
        self.sink.edge(edge, self.witnesses.as_mut());
    }
}

impl Sink {
    fn state(&mut self, layout: &Layout, number: u64, state: &[u64], initial: bool) {
        if let Some((most, sum)) = &mut self.tokens {
            let values = layout.unpack(state);
            let counts = values.0.iter().map(|value| value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0));
            let (largest, all) = counts.fold((0, 0), |(largest, all), count| (count.max(largest), all + count));
            (*most, *sum) = ((*most).max(largest), (*sum).max(all));
        }
        let graph = &mut self.graph;
        graph.has_successor.push(false);
        if initial {
            graph.initial.push(number);
        }
        if self.keep == Keep::States {
            if graph.states.len() == SHOWN_STATES {
                self.keep = Keep::Edges;
                graph.states = Vec::new();
            } else {
                graph.states.push(state.into());
            }
        }
    }

    fn edge(&mut self, edge: quotient_search::Edge<'_>, witnesses: Option<&mut Witnesses<'_>>) {
        let quotient_search::Edge { from, instance, to, concrete, changes } = edge;
        let is_way_on = self.deadlock != DeadlockMode::Stuttering || changes;
        let known = usize::try_from(from).ok().and_then(|from| self.graph.has_successor.get_mut(from));
        if let Some(has_successor) = known {
            *has_successor |= is_way_on;
        }
        if self.keep >= Keep::Edges {
            let label = self.graph.label(instance.action, instance.arguments);
            let permutations = &mut self.graph.permutations;
            let permutation = witnesses.map_or(0, |witnesses| witnesses.number(concrete, permutations));
            self.graph.edges.push(GraphEdge { from, label, permutation, to });
        }
    }
}
