//! The table of what goes together (`quotient_search::need`), cell by cell: whatever it allows is searched and comes to the
//! right verdict, whatever it excludes is refused with its reason. The guide shows the same table.

use std::fmt::Write as _;
use std::path::Path;

use quotient::ir::DeadlockMode;
use quotient::{
    Checkpoint, Control, Engine, Error, Every, EveryMethod, EverySize, ExploreOptions, FairnessMode, Keep, Language,
    Limits, LoadOptions, Model, Options, PartialOrder, Plan, Reduction, SearchOrder, Silent, SolverMethod, Spill,
    StopReason, StoreMode, Strategy, Symmetry, Verdict, ViolationLimit, Way, explore,
};
use quotient_search::{need::Ask, need::EngineKind, need::Need, need::Reason, need::Support, need::pair};
use quotient_testkit::examples::workspace;
use quotient_testkit::workers::{Crew, memberships};

/// A model that every engine can search: nothing is wrong, and all processes are interchangeable.
const LOCK: &str = r#"
    const N: 3;
    type process: scalarset(N);
    var waiting: array [process] of boolean; busy: boolean;
    startstate begin for p: process do waiting[p] := true; end; busy := false; end;
    ruleset p: process do
      rule "enter" waiting[p] & !busy ==> begin waiting[p] := false; busy := true; end;
      rule "leave" !waiting[p] & busy ==> begin waiting[p] := true; busy := false; end;
    end;
    invariant "free" busy | forall p: process do waiting[p] end;
"#;
/// The same question with a best state.
const BEST: &str = "var x = 0; P() = [x < 3]up{x = x + 1;} -> P() [] [x == 3]down{x = 0;} -> P(); \
                    #define some (x > 1); #assert P() reaches some with max(x);";
/// Where the guide shows the table.
const PAGE: &str = "docs/guide/engines.md";
const BEGIN: &str = "<!-- the table: written by crates/testkit/tests/all/combinations.rs -->\n";
const END: &str = "<!-- the end of the table -->\n";

/// A request as a user would make it.
struct Request {
    text: String,
    language: Language,
    loading: LoadOptions,
    options: Options,
}

impl Request {
    fn new() -> Self {
        let (text, loading) = (LOCK.to_owned(), LoadOptions::default());
        Self { text, language: Language::Murphi, loading, options: Options::default() }
    }

    fn model(&self) -> Model {
        let bytes = self.text.as_bytes();
        Model::from_bytes("combinations", bytes, self.language, &self.loading, &Control::default()).expect("a model")
    }

    /// Asks for one thing. Returns what else it takes, or nothing if it cannot be asked of a check.
    fn ask(&mut self, ask: Ask, folder: &Path) -> Option<Vec<Ask>> {
        let options = &mut self.options;
        let (linear, branching) = ("[] (busy | !busy)".to_owned(), "AG (busy | !busy)".to_owned());
        let mut more = Vec::new();
        match ask {
            Ask::Graph | Ask::AutoSymmetry => return None,
            Ask::Deadlock => options.deadlock = Some(DeadlockMode::Stuttering),
            Ask::Liveness => self.text.push_str("liveness \"again\" !busy;"),
            Ask::Linear => self.loading.ltl.push(linear),
            Ask::Branching => self.loading.ctl.push(branching),
            Ask::Fairness => {
                self.loading.ctl.push(branching);
                options.fairness = FairnessMode::Weak;
                more.push(Ask::Branching);
            }
            Ask::GlobalFairness => {
                self.loading.ltl.push(linear);
                options.fairness = FairnessMode::Global;
                more.push(Ask::Linear);
            }
            // A text in another language, in which the other questions would read differently.
            Ask::Objective if self.text != LOCK || !self.loading.ltl.is_empty() => return None,
            Ask::Objective => (self.text, self.language) = (BEST.to_owned(), Language::Csp),
            Ask::Constraint => self.loading.constraint = Some("busy | !busy".to_owned()),
            Ask::NamedEngine => {
                if options.engine == Engine::Auto {
                    options.engine = Engine::Explicit;
                }
            }
            Ask::DepthFirst => options.order = SearchOrder::DepthFirst,
            Ask::NoSymmetry => options.symmetry = Symmetry::Off,
            Ask::DeclaredSymmetry => options.symmetry = Symmetry::Declared,
            Ask::Unreduced => options.reduction = Reduction::None,
            Ask::Canonical => options.reduction = Reduction::By(Strategy::Canonical),
            Ask::Representatives => options.reduction = Reduction::By(Strategy::Segmented),
            Ask::Markers => options.reduction = Reduction::By(Strategy::Markers),
            Ask::MarkersCanonical => options.reduction = Reduction::By(Strategy::MarkersCanonical),
            Ask::Adaptive => options.reduction = Reduction::Adaptive,
            Ask::ReductionOfSets => options.reduction = Reduction::OfSets(Way::Dynamic),
            Ask::PartialOrder => options.partial_order = PartialOrder::On,
            Ask::NoPartialOrder => options.partial_order = PartialOrder::Off,
            Ask::ApproximateStore => options.store = StoreMode::Compact,
            Ask::DenseStore => options.store = StoreMode::Dense,
            Ask::StorePassing => options.store_passing = true,
            Ask::Workers => options.workers = memberships(Crew { processes: 1, workers: 1 }).pop(),
            Ask::Threads => options.threads = 2,
            Ask::ExactOrder => options.exact_order = true,
            Ask::Spill => options.spill = Some(Spill { folder: folder.to_owned(), max_bytes: None }),
            Ask::Checkpoint => options.checkpoint = Some(Checkpoint::new(folder.join("saved"))),
            Ask::Resume => options.resume = Some(folder.join("earlier")),
            Ask::CrossCheck => options.cross_check = true,
            Ask::Statistics => options.statistics = true,
            Ask::AllErrors => options.violations = ViolationLimit::All,
            Ask::CoverRuns => options.cover_runs = true,
            Ask::ExactCounts => options.exact_counts = true,
            Ask::MaxStates => options.limits.max_states = Some(100_000),
            Ask::MaxDepth => options.limits.max_depth = Some(1_000),
        }
        more.push(ask);
        Some(more)
    }

    /// The engine that it goes to, and what that has to do besides.
    fn choose(&mut self, engine: EngineKind, folder: &Path) -> Option<(EngineKind, Vec<Ask>)> {
        let named = match engine {
            EngineKind::Explicit => return Some((EngineKind::Explicit, Vec::new())),
            EngineKind::Every => return Some((EngineKind::Every, Vec::new())),
            EngineKind::Sets => Engine::Symbolic,
            EngineKind::Proofs => Engine::Solver(SolverMethod::Ic3),
            EngineKind::Counters => Engine::Counters,
            EngineKind::StateSpace | EngineKind::SetOfStates | EngineKind::CountedStates | EngineKind::GuardedGraph => {
                return None;
            }
            // Every check of a net asks it, and nobody can choose it.
            EngineKind::Nets => return None,
            EngineKind::Distributed
            | EngineKind::DepthFirst
            | EngineKind::Adaptive
            | EngineKind::Approximate
            | EngineKind::Disk
            | EngineKind::Dense
            | EngineKind::Liveness
            | EngineKind::Runs
            | EngineKind::Markers
            | EngineKind::MarkersCanonical
            | EngineKind::Unreduced
            | EngineKind::PartialOrder => {
                let asks = self.ask(engine.ask().expect("it is no main engine"), folder)?;
                return Some((EngineKind::Explicit, asks));
            }
        };
        self.options.engine = named;
        Some((engine, vec![Ask::NamedEngine]))
    }

    /// The verdict on it.
    fn answer(&self, main: EngineKind) -> Result<Verdict, Error> {
        let (model, options) = (self.model(), &self.options);
        if main == EngineKind::Every {
            let sizes = vec![EverySize { constant: "N".to_owned(), from: 1 }];
            let claim = Every { sizes, method: EveryMethod::Auto };
            let control = Control::start(&options.limits);
            return Ok(quotient::every(&model, &claim, options, &control, &mut Silent)?.verdict);
        }
        if let Some(path) = &options.resume {
            // What is continued was interrupted in its first states.
            let limits = Limits { max_states: Some(1), ..Limits::default() };
            let checkpoint = Some(Checkpoint::new(path));
            let first = Options { resume: None, spill: None, checkpoint, limits, ..options.clone() };
            let Ok(plan) = Plan::new(&model, &first) else {
                return Plan::new(&model, options)?.run().map(|it| it.verdict);
            };
            let ended = plan.run()?;
            assert!(matches!(ended.stop_reason, Some(StopReason::StateLimit(_))), "{:?}", ended.stop_reason);
        }
        Ok(Plan::new(&model, options)?.run()?.verdict)
    }
}

/// The option that something is a value of, if it excludes other values.
fn option(ask: Ask) -> Option<&'static str> {
    match ask {
        Ask::NoSymmetry | Ask::DeclaredSymmetry => Some("--symmetry"),
        Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::Adaptive
        | Ask::ReductionOfSets => Some("--reduction"),
        Ask::PartialOrder | Ask::NoPartialOrder => Some("--partial-order"),
        Ask::ApproximateStore | Ask::DenseStore => Some("--store"),
        _ => None,
    }
}

/// Whether a refusal gives a reason of the table.
fn gives(said: &str, reason: &Reason) -> bool {
    let mut rest = said;
    let expected = reason.about("\0", "\0");
    for part in expected.split('\0') {
        let Some(position) = rest.find(part) else { return false };
        rest = &rest[position + part.len()..];
    }
    true
}

/// Whether a request is refused or answered as the table says; what is wrong otherwise.
fn compare(engine: EngineKind, ask: Ask) -> Result<bool, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut request = Request::new();
    let Some((main, mut asks)) = request.choose(engine, folder.path()) else { return Ok(false) };
    if (main, ask) == (EngineKind::Every, Ask::Objective) {
        // That text has no constant.
        return Ok(false);
    }
    if ask == Ask::Objective && matches!(engine, EngineKind::Counters | EngineKind::Adaptive) {
        // Nothing in that text is interchangeable.
        return Ok(false);
    }
    if option(ask).is_some() && asks.iter().any(|other| *other != ask && option(*other) == option(ask)) {
        return Ok(false);
    }
    if !asks.contains(&ask) {
        let Some(more) = request.ask(ask, folder.path()) else { return Ok(false) };
        asks.extend(more);
    }
    if main == EngineKind::Every {
        // Its options are refused before it looks at the text.
        asks.retain(|other| *other == ask);
    }
    let need = asks.into_iter().fold(Need::default(), Need::with);
    match (need.supported_by(main), request.answer(main)) {
        (Support::Yes, Ok(Verdict::Holds)) => Ok(true),
        (Support::Yes, Ok(Verdict::Inconclusive)) if need.has(Ask::ApproximateStore) => Ok(true),
        // A solver leaves open what can always be reached, and decides the rest.
        (Support::Yes, Ok(Verdict::Inconclusive)) if (main, ask) == (EngineKind::Proofs, Ask::Liveness) => Ok(true),
        (Support::Yes, found) => Err(format!("allowed, but {found:?}")),
        (Support::No(reason), Err(error)) if gives(&error.to_string(), &reason) => Ok(true),
        (Support::No(reason), found) => Err(format!("{found:?}, and not {:?}", reason.about("…", "…"))),
    }
}

#[test]
fn what_the_table_allows_is_searched_and_what_it_excludes_is_refused() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for engine in EngineKind::ALL {
        for ask in Ask::ALL {
            match compare(engine, ask) {
                Ok(was_asked) => compared += usize::from(was_asked),
                Err(reason) => wrong.push(format!("{engine:?}, {ask:?}: {reason}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 500, "{compared} cells can be asked for");
}

/// What an exploration is asked for, if it can be.
fn exploration(engine: EngineKind, ask: Ask, folder: &Path) -> Option<(ExploreOptions, Need)> {
    let mut options = ExploreOptions::default();
    match engine {
        EngineKind::StateSpace => {}
        EngineKind::SetOfStates => options.engine = Engine::Symbolic,
        EngineKind::CountedStates => options.engine = Engine::Counters,
        EngineKind::GuardedGraph => options.reduction = Reduction::Adaptive,
        _ => return None,
    }
    let mut request = Request::new();
    match ask {
        Ask::Graph => options.keep = Keep::Edges,
        Ask::AutoSymmetry => options.symmetry = Some(Symmetry::Auto),
        Ask::Deadlock
        | Ask::DepthFirst
        | Ask::NoSymmetry
        | Ask::DeclaredSymmetry
        | Ask::Unreduced
        | Ask::Canonical
        | Ask::Representatives
        | Ask::Markers
        | Ask::MarkersCanonical
        | Ask::ReductionOfSets
        | Ask::PartialOrder
        | Ask::StorePassing
        | Ask::Workers
        | Ask::Threads
        | Ask::MaxStates
        | Ask::MaxDepth => {
            request.ask(ask, folder)?;
            let Options { symmetry, reduction, partial_order, deadlock, order, threads, .. } = request.options;
            let Options { store_passing, workers, limits, .. } = request.options;
            if reduction != Reduction::Auto {
                if engine == EngineKind::GuardedGraph {
                    return None;
                }
                options.reduction = reduction;
            }
            if partial_order == PartialOrder::On {
                options.partial_order = partial_order;
            }
            // By default none are used, with which no reduction goes.
            let is_reduced = !matches!(options.reduction, Reduction::Auto | Reduction::None | Reduction::Adaptive);
            let usual = (is_reduced && engine == EngineKind::StateSpace).then_some(Symmetry::Auto);
            options.symmetry = Some(symmetry).filter(|own| *own != Symmetry::Auto).or(usual);
            options = ExploreOptions { deadlock, order, threads, store_passing, workers, limits, ..options };
        }
        _ => return None,
    }
    Some((options, Need::default().with(ask)))
}

#[test]
fn explorations() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    let model = Request::new().model();
    for engine in EngineKind::ALL {
        for ask in Ask::ALL {
            let folder = tempfile::tempdir().expect("a folder");
            let Some((options, need)) = exploration(engine, ask, folder.path()) else { continue };
            compared += 1;
            let found = explore(&model, &options, &Control::default(), &mut Silent);
            match (need.supported_by(engine), found) {
                (Support::Yes, Ok(found)) if found.report.stop_reason.is_none() => {}
                (Support::No(reason), Err(error)) if gives(&error.to_string(), &reason) => {}
                (support, found) => {
                    let found = found.map(|found| found.report.stop_reason);
                    wrong.push(format!("{engine:?}, {ask:?}: {support:?}, but {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 50, "{compared} cells can be asked for");
}

/// The table in the guide: one row for what can be asked, one column for what answers. A cell is empty if both are values of
/// the same option.
fn table() -> String {
    let mut text = String::from("| |");
    let kinds = EngineKind::OF_CHECKS;
    for kind in kinds {
        let _ = write!(text, " {} |", kind.name());
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(kinds.len()));
    text.push('\n');
    for ask in Ask::ALL {
        // Stores and reductions are those of a search of states one by one.
        let is_explicit = |kind: EngineKind| kind.ask().is_some() && kind != EngineKind::Runs;
        let refused = |kind: EngineKind| {
            pair(kind, ask) != Support::Yes || is_explicit(kind) && pair(EngineKind::Explicit, ask) != Support::Yes
        };
        let is_other_value = |kind: EngineKind| {
            kind.ask().is_some_and(|own| own != ask && option(own).is_some() && option(own) == option(ask))
        };
        if !kinds.into_iter().any(refused) {
            continue;
        }
        let _ = write!(text, "| {} |", ask.words());
        for kind in kinds {
            text.push_str(match () {
                () if is_other_value(kind) => " |",
                () if refused(kind) => " – |",
                () => " yes |",
            });
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_guide_shows_the_table() {
    let path = workspace().join(PAGE);
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (shown, after) = rest.split_once(END).expect("the table ends");
    let table = table();
    if shown == table {
        return;
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page can be written");
        return;
    }
    panic!("{PAGE} shows another table; SNAPSHOTS=overwrite writes it:\n{table}");
}
