//! The table of what goes together: which engine or reduction supports what can be asked of a search.
//!
//! A request is a [`Need`]: plain data. It concerns one or several [`EngineKind`]s, since a search on disk by several
//! machines is both, and each of them must support all that is asked. A pair is decided in one place: whether a search
//! on disk may be depth-first is decided for the disk. [`pair`] looks at both sides.
//!
//! Each kind has a function below that lists every [`Ask`], without a wildcard: whoever adds one decides it for all of them.
//! The facade refuses requests, chooses among automatic reductions and writes the table of the guide from here; engines
//! refuse what they do not support by the same functions.

use std::collections::BTreeSet;

/// Something that can be asked of a search, beyond finding out what holds. In the order in which refusals name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// Deadlocks, by name or by a mode of their own.
    Deadlock,
    /// What can always be reached (`AG EF`).
    Liveness,
    /// Temporal properties other than formulas of CTL.
    Linear,
    /// Formulas of CTL.
    Branching,
    /// Fairness of temporal properties, other than global.
    Fairness,
    /// Global fairness.
    GlobalFairness,
    /// A model that asks for a best state.
    Objective,
    /// A constraint: states outside of it are not expanded.
    Constraint,
    /// The graph of the states.
    Graph,
    /// An engine is named.
    NamedEngine,
    /// Depth-first order.
    DepthFirst,
    /// All symmetries of the text, by name.
    AutoSymmetry,
    /// No symmetries.
    NoSymmetry,
    /// The declared symmetries.
    DeclaredSymmetry,
    /// No reduction by symmetries.
    Unreduced,
    /// Canonical representatives.
    Canonical,
    /// Representatives by another strategy.
    Representatives,
    /// Markers, which may be approximate.
    Markers,
    /// Markers with canonical forms where they are equal.
    MarkersCanonical,
    /// Adaptive reduction.
    Adaptive,
    /// A reduction of sets.
    ReductionOfSets,
    /// Partial order, in any case.
    PartialOrder,
    /// No partial order.
    NoPartialOrder,
    /// An approximate store.
    ApproximateStore,
    /// A dense store.
    DenseStore,
    /// Transient states are stored.
    StorePassing,
    /// Several machines.
    Workers,
    /// Several threads.
    Threads,
    /// The order of one thread on several.
    ExactOrder,
    /// A search that continues on disk.
    Spill,
    /// A search that is saved.
    Checkpoint,
    /// A search that continues an earlier one.
    Resume,
    /// A comparison with an unreduced search.
    CrossCheck,
    /// How often rules fire.
    Statistics,
    /// All violations, or several.
    AllErrors,
    /// Runs to cover properties.
    CoverRuns,
    /// The counts of the model as written.
    ExactCounts,
    /// A limit on states.
    MaxStates,
    /// A limit on depth.
    MaxDepth,
}

impl Ask {
    /// All of them.
    pub const ALL: [Self; 39] = [
        Self::Deadlock,
        Self::Liveness,
        Self::Linear,
        Self::Branching,
        Self::Fairness,
        Self::GlobalFairness,
        Self::Objective,
        Self::Constraint,
        Self::Graph,
        Self::NamedEngine,
        Self::DepthFirst,
        Self::AutoSymmetry,
        Self::NoSymmetry,
        Self::DeclaredSymmetry,
        Self::Unreduced,
        Self::Canonical,
        Self::Representatives,
        Self::Markers,
        Self::MarkersCanonical,
        Self::Adaptive,
        Self::ReductionOfSets,
        Self::PartialOrder,
        Self::NoPartialOrder,
        Self::ApproximateStore,
        Self::DenseStore,
        Self::StorePassing,
        Self::Workers,
        Self::Threads,
        Self::ExactOrder,
        Self::Spill,
        Self::Checkpoint,
        Self::Resume,
        Self::CrossCheck,
        Self::Statistics,
        Self::AllErrors,
        Self::CoverRuns,
        Self::ExactCounts,
        Self::MaxStates,
        Self::MaxDepth,
    ];

    /// How a user asks for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Deadlock => "`--property deadlock`",
            Self::Liveness => "liveness (`AG EF`)",
            Self::Linear => "LTL, CTL*, claims about events",
            Self::Branching => "CTL",
            Self::Fairness => "`--fairness`",
            Self::GlobalFairness => "`--fairness global`",
            Self::Objective => "the best state",
            Self::Constraint => "`--constraint`",
            Self::Graph => "`explore --export`",
            Self::NamedEngine => "`--engine`",
            Self::DepthFirst => "`--search dfs`",
            Self::AutoSymmetry => "`--symmetry auto`",
            Self::NoSymmetry => "`--symmetry off`",
            Self::DeclaredSymmetry => "`--symmetry declared`",
            Self::Unreduced => "`--reduction none`",
            Self::Canonical => "`--reduction canonical`",
            Self::Representatives => "other representatives",
            Self::Markers => "`--reduction markers`, `markers-trees`",
            Self::MarkersCanonical => "`--reduction markers-canonical`",
            Self::Adaptive => "`--reduction adaptive`",
            Self::ReductionOfSets => "reductions of sets",
            Self::PartialOrder => "`--partial-order on`",
            Self::NoPartialOrder => "`--partial-order off`",
            Self::ApproximateStore => "`--store compact`, `bitstate`",
            Self::DenseStore => "`--store dense`",
            Self::StorePassing => "`--store-passing`",
            Self::Workers => "`--workers`",
            Self::Threads => "`--threads`",
            Self::ExactOrder => "`--exact-order`",
            Self::Spill => "`--spill`",
            Self::Checkpoint => "`--checkpoint`",
            Self::Resume => "`--resume`",
            Self::CrossCheck => "`--cross-check`",
            Self::Statistics => "`--statistics`",
            Self::AllErrors => "`--all-errors`, `--max-errors`",
            Self::CoverRuns => "`--cover-runs`",
            Self::ExactCounts => "`--exact-counts`",
            Self::MaxStates => "`--max-states`",
            Self::MaxDepth => "`--max-depth`",
        }
    }

    /// The engine or reduction that it brings into a search, if it does.
    pub fn engine(self) -> Option<EngineKind> {
        match self {
            Self::Liveness => Some(EngineKind::Liveness),
            Self::Linear | Self::Branching => Some(EngineKind::Runs),
            Self::DepthFirst => Some(EngineKind::DepthFirst),
            Self::NoSymmetry | Self::Unreduced => Some(EngineKind::Unreduced),
            Self::Markers => Some(EngineKind::Markers),
            Self::MarkersCanonical => Some(EngineKind::MarkersCanonical),
            Self::Adaptive => Some(EngineKind::Adaptive),
            Self::PartialOrder => Some(EngineKind::PartialOrder),
            Self::ApproximateStore => Some(EngineKind::Approximate),
            Self::DenseStore => Some(EngineKind::Dense),
            Self::Workers => Some(EngineKind::Distributed),
            Self::Spill => Some(EngineKind::Disk),
            Self::Deadlock
            | Self::Fairness
            | Self::GlobalFairness
            | Self::Objective
            | Self::Constraint
            | Self::Graph
            | Self::NamedEngine
            | Self::AutoSymmetry
            | Self::DeclaredSymmetry
            | Self::Canonical
            | Self::Representatives
            | Self::ReductionOfSets
            | Self::NoPartialOrder
            | Self::StorePassing
            | Self::Threads
            | Self::ExactOrder
            | Self::Checkpoint
            | Self::Resume
            | Self::CrossCheck
            | Self::Statistics
            | Self::AllErrors
            | Self::CoverRuns
            | Self::ExactCounts
            | Self::MaxStates
            | Self::MaxDepth => None,
        }
    }
}

/// Everything that is asked of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    asks: BTreeSet<Ask>,
}

impl Need {
    /// A need with what is asked of some questions.
    pub fn new<const N: usize>(asked: [(Ask, bool); N]) -> Self {
        Self { asks: asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(ask, _)| ask).collect() }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, ask: Ask) -> Self {
        self.asks.insert(ask);
        self
    }

    /// Whether something is asked.
    pub fn has(&self, ask: Ask) -> bool {
        self.asks.contains(&ask)
    }

    /// What is asked.
    pub fn asks(&self) -> impl Iterator<Item = Ask> {
        self.asks.iter().copied()
    }

    /// The engines and reductions that take part besides the main one, in the order in which they are asked.
    pub fn engines(&self) -> impl Iterator<Item = EngineKind> {
        let taking: BTreeSet<EngineKind> = self.asks().filter_map(Ask::engine).collect();
        taking.into_iter()
    }

    /// Whether an engine and all that take part besides support what is asked.
    pub fn supported_by(&self, main: EngineKind) -> Support {
        let distributed = self.engines().filter(|kind| *kind == EngineKind::Distributed);
        let others = self.engines().filter(|kind| *kind != EngineKind::Distributed);
        // What workers do not support is most specific.
        for engine in distributed.chain([main]).chain(others) {
            if let no @ Support::No(_) = support(engine, self) {
                return no;
            }
        }
        Support::Yes
    }
}

/// Engines, and reductions and stores that have requirements of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineKind {
    /// States one by one, in memory.
    Explicit,
    /// States one by one, on several machines.
    Distributed,
    /// States as sets, by decision diagrams.
    Sets,
    /// A solver.
    Proofs,
    /// Counted objects.
    Counters,
    /// A claim about every size.
    Every,
    /// What unbounded nets never reach.
    Nets,
    /// The states of a model without properties, one by one.
    StateSpace,
    /// The same as a set.
    SetOfStates,
    /// The same by counters.
    CountedStates,
    /// The graph of annotated states.
    GuardedGraph,
    /// Depth-first order.
    DepthFirst,
    /// Annotated states.
    Adaptive,
    /// An approximate store.
    Approximate,
    /// A search that continues on disk.
    Disk,
    /// A dense store.
    Dense,
    /// The graph of all states, for what can always be reached.
    Liveness,
    /// Products with automata, and graphs for formulas about trees.
    Runs,
    /// States that are identified by markers.
    Markers,
    /// States that are identified by markers and canonical forms.
    MarkersCanonical,
    /// No symmetries.
    Unreduced,
    /// A part of the steps.
    PartialOrder,
}

impl EngineKind {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Explicit,
        Self::Distributed,
        Self::Sets,
        Self::Proofs,
        Self::Counters,
        Self::Every,
        Self::Nets,
        Self::StateSpace,
        Self::SetOfStates,
        Self::CountedStates,
        Self::GuardedGraph,
        Self::DepthFirst,
        Self::Adaptive,
        Self::Approximate,
        Self::Disk,
        Self::Dense,
        Self::Liveness,
        Self::Runs,
        Self::Markers,
        Self::MarkersCanonical,
        Self::Unreduced,
        Self::PartialOrder,
    ];

    /// Those that answer a check, or how they store and reduce, in the order of the guide.
    pub const OF_CHECKS: [Self; 13] = [
        Self::Explicit,
        Self::Dense,
        Self::Approximate,
        Self::Disk,
        Self::Distributed,
        Self::Adaptive,
        Self::MarkersCanonical,
        Self::PartialOrder,
        Self::Runs,
        Self::Sets,
        Self::Proofs,
        Self::Counters,
        Self::Every,
    ];

    /// Its name in the guide.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Distributed => "several machines",
            Self::Sets => "sets",
            Self::Proofs => "proofs",
            Self::Counters => "counters",
            Self::Every => "every size",
            Self::Nets => "nets",
            Self::StateSpace => "`explore`",
            Self::SetOfStates => "`explore`, sets",
            Self::CountedStates => "`explore`, counters",
            Self::GuardedGraph => "`explore`, adaptive",
            Self::DepthFirst => "depth-first",
            Self::Adaptive => "adaptive",
            Self::Approximate => "approximate store",
            Self::Disk => "disk",
            Self::Dense => "dense store",
            Self::Liveness => "liveness",
            Self::Runs => "temporal",
            Self::Markers => "markers",
            Self::MarkersCanonical => "markers-canonical",
            Self::Unreduced => "unreduced",
            Self::PartialOrder => "partial order",
        }
    }

    /// What is asked by those who want it, unless it is a main engine.
    pub fn ask(self) -> Option<Ask> {
        match self {
            Self::Distributed => Some(Ask::Workers),
            Self::DepthFirst => Some(Ask::DepthFirst),
            Self::Adaptive => Some(Ask::Adaptive),
            Self::Approximate => Some(Ask::ApproximateStore),
            Self::Disk => Some(Ask::Spill),
            Self::Dense => Some(Ask::DenseStore),
            Self::Liveness => Some(Ask::Liveness),
            Self::Runs => Some(Ask::Linear),
            Self::Markers => Some(Ask::Markers),
            Self::MarkersCanonical => Some(Ask::MarkersCanonical),
            Self::Unreduced => Some(Ask::NoSymmetry),
            Self::PartialOrder => Some(Ask::PartialOrder),
            Self::Explicit
            | Self::Sets
            | Self::Proofs
            | Self::Counters
            | Self::Every
            | Self::Nets
            | Self::StateSpace
            | Self::SetOfStates
            | Self::CountedStates
            | Self::GuardedGraph => None,
        }
    }

    /// What searches with one thread, whatever is permitted; in words.
    pub fn alone(self) -> Option<&'static str> {
        match self {
            Self::Sets => Some("a symbolic search"),
            Self::Counters => Some("a search with counters"),
            Self::Proofs => Some("a solver"),
            Self::DepthFirst => Some("a depth-first search"),
            Self::Adaptive => Some("adaptive reduction"),
            Self::Approximate => Some("an approximate store"),
            Self::Liveness => Some("a search for liveness"),
            Self::Explicit
            | Self::Distributed
            | Self::Every
            | Self::Nets
            | Self::StateSpace
            | Self::SetOfStates
            | Self::CountedStates
            | Self::GuardedGraph
            | Self::Disk
            | Self::Dense
            | Self::Runs
            | Self::Markers
            | Self::MarkersCanonical
            | Self::Unreduced
            | Self::PartialOrder => None,
        }
    }
}

/// Whether an engine supports something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It does.
    Yes,
    /// It does not.
    No(Reason),
}

/// Why something is not supported. Options are called by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Who does not support it.
    pub engine: EngineKind,
    /// What is not supported.
    pub ask: Ask,
    /// A sentence; `{property}` and `{reduction}` are to be replaced by those of the request.
    template: &'static str,
}

impl Reason {
    /// The sentence about a property, such as "liveness property `again`", and a reduction.
    pub fn about(&self, property: &str, reduction: &str) -> String {
        self.template.replace("{property}", property).replace("{reduction}", reduction)
    }

    /// The sentence if it names neither; where it would, only what it is about.
    pub fn unnamed(&self) -> &'static str {
        match self.template.contains('{') {
            false => self.template,
            true => match self.ask {
                Ask::Liveness => "liveness properties need the graph of all states",
                Ask::Linear | Ask::Branching => "temporal properties cannot be searched for in this way",
                _ => "this reduction cannot be used here",
            },
        }
    }
}

/// Whether an engine or reduction supports all that is asked of it; if not, the first reason.
pub fn support(engine: EngineKind, need: &Need) -> Support {
    let no = need.asks().map(|ask| supports(engine, ask)).find(|support| *support != Support::Yes);
    no.unwrap_or(Support::Yes)
}

/// Whether an engine and something that is asked go together, as either side sees it.
pub fn pair(engine: EngineKind, ask: Ask) -> Support {
    match (supports(engine, ask), ask.engine(), engine.ask()) {
        (Support::Yes, Some(other), Some(own)) => supports(other, own),
        (support, ..) => support,
    }
}

/// Whether an engine supports one thing.
fn supports(engine: EngineKind, ask: Ask) -> Support {
    let refused = match engine {
        EngineKind::Explicit => explicit(ask),
        EngineKind::Distributed => distributed(ask),
        EngineKind::Sets => sets(ask),
        EngineKind::Proofs => proofs(ask),
        EngineKind::Counters => counters(ask),
        EngineKind::Every => every(ask),
        // What it does not answer is left to other engines.
        EngineKind::Nets => None,
        EngineKind::StateSpace => state_space(ask),
        EngineKind::SetOfStates => set_of_states(ask),
        EngineKind::CountedStates => counted_states(ask),
        EngineKind::GuardedGraph => guarded_graph(ask),
        EngineKind::DepthFirst => depth_first(ask),
        EngineKind::Adaptive => adaptive(ask),
        EngineKind::Approximate => approximate(ask),
        EngineKind::Disk => disk(ask),
        EngineKind::Dense => dense(ask),
        EngineKind::Liveness => liveness(ask),
        EngineKind::Runs => runs(ask),
        EngineKind::Markers => markers(ask),
        EngineKind::MarkersCanonical => markers_canonical(ask),
        EngineKind::Unreduced => unreduced(ask),
        EngineKind::PartialOrder => partial_order(ask),
    };
    refused.map_or(Support::Yes, |template| Support::No(Reason { engine, ask, template }))
}

/// States one by one, in memory.
fn explicit(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::ReductionOfSets => Some("--reduction {reduction} needs --engine symbolic"),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Several machines.
fn distributed(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Liveness | Ask::Linear | Ask::Branching => Some(
            "--workers cannot be used with {property}, which needs the graph of all states; name others with --property",
        ),
        Ask::Objective => {
            Some("--workers cannot be used with a model that asks for a best state, which takes further searches")
        }
        Ask::Graph => Some("--workers cannot be used with --export: no process has the whole graph"),
        Ask::DepthFirst => Some("--workers cannot be used with --search dfs"),
        Ask::Markers | Ask::MarkersCanonical | Ask::Adaptive | Ask::ReductionOfSets => Some(
            "--workers cannot be used with this reduction: the representative of a state must not depend on what was found before",
        ),
        Ask::PartialOrder => {
            Some("--workers cannot be used with --partial-order on: which steps suffice depends on what was found")
        }
        Ask::ApproximateStore | Ask::DenseStore => {
            Some("--workers cannot be used with a store other than the exact one")
        }
        Ask::Threads => Some("--workers cannot be used with --threads: a process has as many threads as workers"),
        Ask::ExactOrder => Some("--workers cannot be used with --exact-order: workers find states in any order"),
        Ask::Spill => Some("--workers cannot be used with --spill"),
        Ask::CrossCheck => Some("--workers cannot be used with --cross-check"),
        Ask::Statistics => Some("--workers cannot be used with --statistics"),
        Ask::CoverRuns => Some("--workers cannot be used with --cover-runs, which takes further searches"),
        Ask::Deadlock
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Constraint
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::NoPartialOrder
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::AllErrors
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Decision diagrams.
fn sets(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Linear => Some(
            "--engine symbolic cannot be used with {property}, which is not a formula of CTL; name others with --property",
        ),
        Ask::GlobalFairness => Some("--engine symbolic cannot be used with global fairness"),
        Ask::Objective => Some("--engine symbolic cannot be used with a model that asks for a best state"),
        Ask::DepthFirst => Some("--engine symbolic cannot be used with --search dfs"),
        Ask::Canonical | Ask::Representatives | Ask::Markers | Ask::MarkersCanonical | Ask::Adaptive => Some(
            "--engine symbolic cannot be used with a reduction of single states: use orbit-relation, multiple-representatives, on-the-fly or dynamic",
        ),
        Ask::PartialOrder => Some("--engine symbolic cannot be used with --partial-order on"),
        Ask::ApproximateStore => Some("--engine symbolic cannot be used with an approximate store"),
        Ask::DenseStore => Some("--engine symbolic cannot be used with a dense store"),
        Ask::Workers => Some("--workers cannot be used with an engine that does not store single states"),
        Ask::Spill => Some("--engine symbolic cannot be used with --spill"),
        Ask::Checkpoint | Ask::Resume => Some("--engine symbolic cannot be used with --checkpoint and --resume"),
        Ask::CrossCheck => Some("--engine symbolic cannot be used with --cross-check"),
        Ask::Statistics => Some("--engine symbolic cannot be used with --statistics"),
        Ask::AllErrors => Some("--engine symbolic cannot be used with --all-errors and --max-errors"),
        Ask::MaxStates => {
            Some("--engine symbolic cannot be used with --max-states: it counts states at its end; use --max-memory")
        }
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Branching
        | Ask::Fairness
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::ReductionOfSets
        | Ask::NoPartialOrder
        | Ask::StorePassing
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// A solver.
fn proofs(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Constraint => Some("constraints are not encoded in a formula"),
        Ask::Linear | Ask::Branching => {
            Some("--engine sat cannot be used with {property}; name others with --property")
        }
        Ask::Objective => Some("--engine sat cannot be used with a model that asks for a best state"),
        Ask::DepthFirst => Some("--engine sat cannot be used with --search dfs"),
        Ask::Canonical | Ask::Representatives | Ask::Markers | Ask::MarkersCanonical | Ask::Adaptive => {
            Some("--engine sat cannot be used with a reduction of single states: --symmetry off leaves symmetries out")
        }
        Ask::ReductionOfSets => Some("--reduction {reduction} needs --engine symbolic"),
        Ask::PartialOrder => Some("--engine sat cannot be used with --partial-order on"),
        Ask::ApproximateStore => Some("--engine sat cannot be used with an approximate store"),
        Ask::DenseStore => Some("--engine sat cannot be used with a dense store"),
        Ask::Workers => Some("--workers cannot be used with an engine that does not store single states"),
        Ask::Spill => Some("--engine sat cannot be used with --spill"),
        Ask::Checkpoint | Ask::Resume => Some("--engine sat cannot be used with --checkpoint and --resume"),
        Ask::CrossCheck => Some("--engine sat cannot be used with --cross-check"),
        Ask::Statistics => Some("--engine sat cannot be used with --statistics"),
        Ask::AllErrors => Some("--engine sat cannot be used with --all-errors and --max-errors"),
        Ask::MaxStates => {
            Some("--engine sat cannot be used with --max-states: it does not count states; use --max-memory")
        }
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::NoPartialOrder
        | Ask::StorePassing
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Counted objects.
fn counters(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Constraint => Some("the model cannot be checked with counters: a constraint cannot be decided with them"),
        Ask::Fairness | Ask::GlobalFairness => Some(
            "--engine counters cannot be used with --fairness: a step does not say which of the objects that are counted takes it",
        ),
        Ask::DepthFirst => Some("--engine counters cannot be used with --search dfs"),
        Ask::NoSymmetry | Ask::DeclaredSymmetry => {
            Some("--engine counters cannot be used with --symmetry: it uses what the text shows to be interchangeable")
        }
        Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive => Some("--engine counters cannot be used with --reduction: counting is one"),
        Ask::ReductionOfSets => Some("--engine counters cannot be used with a reduction of sets"),
        Ask::PartialOrder => Some("--engine counters cannot be used with --partial-order on"),
        Ask::ApproximateStore => Some("--engine counters cannot be used with an approximate store"),
        Ask::DenseStore => Some("--engine counters cannot be used with a dense store"),
        Ask::Workers => Some("--workers cannot be used with an engine that does not store single states"),
        Ask::Spill => Some("--engine counters cannot be used with --spill"),
        Ask::Checkpoint | Ask::Resume => Some("--engine counters cannot be used with --checkpoint and --resume"),
        Ask::CrossCheck => Some("--engine counters cannot be used with --cross-check"),
        Ask::AllErrors => Some("--engine counters cannot be used with --all-errors and --max-errors"),
        Ask::CoverRuns => Some("--engine counters cannot be used with --cover-runs, which takes further searches"),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Objective
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::NoPartialOrder
        | Ask::StorePassing
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Statistics
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Claims about every size.
fn every(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Constraint => Some("a constraint cannot be used with a claim about every size"),
        Ask::Liveness | Ask::Linear | Ask::Branching => {
            Some("only invariants and run-time errors can be claimed for every size")
        }
        Ask::Deadlock => Some("--every: it cannot be used with deadlocks: they are not claimed for every size"),
        Ask::Fairness | Ask::GlobalFairness => {
            Some("--every: it cannot be used with --fairness: liveness is not claimed for every size")
        }
        Ask::NamedEngine => {
            Some("--every: it cannot be used with --engine: it searches views, and small models in the usual way")
        }
        Ask::DepthFirst => Some("--every: it cannot be used with --search"),
        Ask::NoSymmetry | Ask::DeclaredSymmetry => {
            Some("--every: it cannot be used with --symmetry: all objects must be interchangeable")
        }
        Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets => {
            Some("--every: it cannot be used with --reduction: all objects must be interchangeable")
        }
        Ask::PartialOrder | Ask::NoPartialOrder => Some("--every: it cannot be used with --partial-order"),
        Ask::ApproximateStore | Ask::DenseStore => Some("--every: it cannot be used with --store"),
        Ask::StorePassing => Some("--every: it cannot be used with --store-passing"),
        Ask::Workers => Some("--every: it cannot be used with --workers"),
        Ask::ExactOrder => Some("--every: it cannot be used with --exact-order"),
        Ask::Spill => Some("--every: it cannot be used with --spill"),
        Ask::Checkpoint | Ask::Resume => Some("--every: it cannot be used with --checkpoint and --resume"),
        Ask::CrossCheck => Some("--every: it cannot be used with --cross-check"),
        Ask::Statistics => Some("--every: it cannot be used with --statistics"),
        Ask::AllErrors => {
            Some("--every: it cannot be used with --all-errors and --max-errors: it ends at the first violation")
        }
        Ask::CoverRuns => Some("--every: it cannot be used with --cover-runs"),
        Ask::ExactCounts => Some("--every: it cannot be used with --exact-counts"),
        Ask::MaxStates | Ask::MaxDepth => {
            Some("--every: it cannot be used with --max-states and --max-depth: use --timeout and --max-memory")
        }
        Ask::Objective | Ask::Graph | Ask::Threads | Ask::AutoSymmetry => None,
    }
}

/// The states of a model without properties.
fn state_space(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Markers | Ask::MarkersCanonical => {
            Some("--reduction markers is for `check`: the edges of the graph need representatives")
        }
        Ask::ReductionOfSets => Some("reductions of sets are for `check --engine symbolic`"),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Adaptive
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// The states of a model as a set.
fn set_of_states(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Graph => Some("sets of states have no graph"),
        Ask::DepthFirst => Some("sets have no search order"),
        Ask::AutoSymmetry | Ask::DeclaredSymmetry => Some("sets are counted without symmetries: use --symmetry off"),
        Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets => Some("sets are counted without a reduction"),
        Ask::PartialOrder => Some("sets are counted with all steps"),
        Ask::Workers => Some("sets are counted by one process"),
        Ask::MaxStates => Some("sets are not limited by a number of states"),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxDepth => None,
    }
}

/// The states of a model by counters.
fn counted_states(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Graph => Some("counted objects have no graph"),
        Ask::DepthFirst => Some("counters are searched breadth-first"),
        Ask::AutoSymmetry | Ask::DeclaredSymmetry => Some("what is counted follows from the text: use --symmetry off"),
        Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets => Some("counters are a reduction of their own"),
        Ask::PartialOrder => Some("counters need all steps"),
        Ask::Workers => Some("objects are counted by one process"),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth => None,
    }
}

/// The graph of annotated states.
fn guarded_graph(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Deadlock => Some("deadlocks are not counted in the guarded quotient of --reduction adaptive"),
        Ask::DepthFirst => Some("the guarded quotient of --reduction adaptive is built breadth-first only"),
        Ask::DeclaredSymmetry => Some("the guarded quotient of --reduction adaptive does not use declarations"),
        Ask::PartialOrder => Some("--partial-order on cannot be used: the guarded quotient needs all steps"),
        Ask::StorePassing => Some("--store-passing cannot be used with the guarded quotient of --reduction adaptive"),
        Ask::Workers => Some(
            "--workers cannot be used with this reduction: the representative of a state must not depend on what was found before",
        ),
        Ask::MaxDepth => Some("--max-depth cannot be used with the guarded quotient of --reduction adaptive"),
        Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::AutoSymmetry => None,
    }
}

/// Depth-first order.
fn depth_first(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Checkpoint | Ask::Resume => Some("--checkpoint and --resume need a breadth-first search"),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Annotated states.
fn adaptive(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Liveness | Ask::Linear | Ask::Branching => {
            Some("adaptive reduction does not apply: it decides what can be reached, and {property} asks for more")
        }
        Ask::Constraint => Some("--constraint cannot be used with adaptive reduction"),
        Ask::DepthFirst => Some("adaptive reduction does not apply: it searches breadth-first only"),
        Ask::DeclaredSymmetry => Some("adaptive reduction does not apply: it does not use declarations"),
        Ask::Checkpoint | Ask::Resume => {
            Some("adaptive reduction does not apply: it cannot be interrupted and continued later")
        }
        Ask::Statistics => {
            Some("--statistics cannot be used with adaptive reduction: how often rules fire would not be exact")
        }
        Ask::AllErrors => Some("--all-errors and --max-errors cannot be used with adaptive reduction"),
        Ask::Deadlock
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::CrossCheck
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// An approximate store.
fn approximate(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Liveness => Some("an approximate store cannot be used with liveness properties"),
        Ask::Linear | Ask::Branching => Some("an approximate store cannot be used with temporal properties"),
        Ask::Graph => Some("an approximate store cannot be used with the graph"),
        Ask::DepthFirst => Some("an approximate store cannot be used with a depth-first search"),
        Ask::MarkersCanonical => Some("an approximate store cannot be used with markers-canonical"),
        Ask::Adaptive => Some("an approximate store cannot be used with adaptive reduction"),
        Ask::Checkpoint | Ask::Resume => Some("an approximate store cannot be used with checkpoints"),
        Ask::CrossCheck => Some("an approximate store cannot be used with --cross-check"),
        Ask::Statistics => {
            Some("--statistics cannot be used with an approximate store: how often rules fire would not be exact")
        }
        Ask::AllErrors => Some("--all-errors and --max-errors cannot be used with an approximate store"),
        Ask::Deadlock
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Searches that continue on disk.
fn disk(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Liveness => Some("--spill cannot be used with liveness properties"),
        Ask::Linear | Ask::Branching => Some("--spill cannot be used with temporal properties"),
        Ask::Graph => Some("--spill cannot be used with the graph"),
        Ask::DepthFirst => Some("--spill cannot be used with a depth-first search"),
        Ask::Markers => Some("--spill cannot be used with markers"),
        Ask::MarkersCanonical => Some("--spill cannot be used with markers-canonical"),
        Ask::Adaptive => Some("--spill cannot be used with adaptive reduction"),
        Ask::ApproximateStore => Some("--spill cannot be used with an approximate store"),
        Ask::DenseStore => Some("--spill cannot be used with a dense store"),
        Ask::Checkpoint => Some("--spill cannot be used with checkpoints"),
        Ask::CrossCheck => Some("--spill cannot be used with --cross-check"),
        Ask::Deadlock
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Resume
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// A dense store.
fn dense(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Liveness => Some("a dense store cannot be used with liveness properties"),
        Ask::Linear | Ask::Branching => Some("a dense store cannot be used with temporal properties"),
        Ask::Graph => Some("a dense store cannot be used with the graph"),
        Ask::DepthFirst => Some("a dense store cannot be used with a depth-first search"),
        Ask::Markers => Some("a dense store cannot be used with markers"),
        Ask::MarkersCanonical => Some("a dense store cannot be used with markers-canonical"),
        Ask::Adaptive => Some("a dense store cannot be used with adaptive reduction"),
        Ask::PartialOrder => Some("a dense store cannot be used with --partial-order on"),
        Ask::Checkpoint | Ask::Resume => Some("a dense store cannot be used with checkpoints"),
        Ask::CrossCheck => Some("a dense store cannot be used with --cross-check"),
        Ask::Deadlock
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::NamedEngine
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::ReductionOfSets
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// What can always be reached.
fn liveness(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Constraint => Some(
            "--constraint cannot be used with {property}: what can be reached is not known; name others with --property",
        ),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Temporal properties.
fn runs(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Constraint => Some(
            "--constraint cannot be used with {property}: what can be reached is not known; name others with --property",
        ),
        Ask::Representatives | Ask::Markers | Ask::MarkersCanonical => {
            Some("a reduction other than canonical cannot be used with {property}; name others with --property")
        }
        Ask::Checkpoint | Ask::Resume => {
            Some("--checkpoint and --resume cannot be used with {property}; name others with --property")
        }
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Markers alone.
fn markers(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::CrossCheck => {
            Some("--cross-check compares exact searches, and markers may be approximate: use markers-canonical")
        }
        Ask::Statistics => Some(
            "--statistics cannot be used with markers, which may be approximate: how often rules fire would not be exact",
        ),
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// Markers and canonical forms.
fn markers_canonical(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CrossCheck
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// No symmetries.
fn unreduced(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::DeclaredSymmetry => Some("--symmetry declared is not used with --reduction none"),
        Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets => Some("--reduction {reduction} needs symmetries: add --symmetry auto"),
        Ask::CrossCheck => {
            Some("--cross-check compares a reduced search with an unreduced one, and this one is not reduced")
        }
        Ask::Deadlock
        | Ask::Liveness
        | Ask::Linear
        | Ask::Branching
        | Ask::Fairness
        | Ask::GlobalFairness
        | Ask::Objective
        | Ask::Constraint
        | Ask::Graph
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::Unreduced
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::Statistics
        | Ask::AllErrors
        | Ask::CoverRuns
        | Ask::ExactCounts
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}

/// A part of the steps.
fn partial_order(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::Fairness | Ask::GlobalFairness => Some(
            "--partial-order on cannot be used: {property} needs all steps: whether a run is fair depends on steps that are left out; name others with --property",
        ),
        Ask::Branching => Some(
            "--partial-order on cannot be used: {property} needs all steps: what branches off a run needs all steps; name others with --property",
        ),
        Ask::Constraint => {
            Some("--partial-order on cannot be used: states outside of the constraints are not expanded")
        }
        Ask::Liveness => {
            Some("--partial-order on cannot be used: {property} needs all steps; name others with --property")
        }
        Ask::Graph => Some("--partial-order on cannot be used: the graph needs all steps"),
        Ask::Markers | Ask::MarkersCanonical => {
            Some("--partial-order on cannot be used: with markers, the states that are stored depend on the order")
        }
        Ask::Adaptive => Some("--partial-order on cannot be used: adaptive reduction needs all steps"),
        Ask::CrossCheck => Some("--partial-order on cannot be used: a cross-check compares all states"),
        Ask::Statistics => Some("--partial-order on cannot be used: how often rules fire would not be exact"),
        Ask::AllErrors => Some("--partial-order on cannot be used: only the first violation is preserved"),
        Ask::ExactCounts => Some("--partial-order on cannot be used: --exact-counts counts all states"),
        Ask::Deadlock
        | Ask::Linear
        | Ask::Objective
        | Ask::NamedEngine
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::NoPartialOrder
        | Ask::ApproximateStore
        | Ask::DenseStore
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::ExactOrder
        | Ask::Spill
        | Ask::Checkpoint
        | Ask::Resume
        | Ask::CoverRuns
        | Ask::MaxStates
        | Ask::MaxDepth
        | Ask::AutoSymmetry => None,
    }
}
