//! Every combination of options works or is refused, with a reason.

use std::path::PathBuf;

use crate::models::lock;
use quotient::ir::DeadlockMode;
use quotient::{
    Checkpoint, Control, Engine, Error, ExploreOptions, Limits, LoadOptions, Model, Options, Plan, Reduction, Refusal,
    SearchOrder, Silent, Spill, StoreMode, Strategy, Symmetry, Verdict, ViolationLimit, Way, explore,
};

/// Options without liveness, which much goes with.
fn safe() -> Options {
    Options::default().property("safe")
}

fn spill() -> Option<Spill> {
    Some(Spill { folder: PathBuf::from("."), max_bytes: None })
}

fn refusal(options: &Options) -> Refusal {
    match Plan::new(&lock(), options) {
        Err(Error::Refused(refusal)) => refusal,
        Err(error) => panic!("{options:?}: {error}"),
        Ok(_) => panic!("not refused: {options:?}"),
    }
}

#[test]
fn what_is_refused() {
    let adaptive = || safe().reduction(Reduction::Adaptive);
    let symbolic = || safe().engine(Engine::Symbolic);
    let counters = || safe().engine(Engine::Counters);
    let sets = Reduction::OfSets(Way::Dynamic);
    let by = |strategy| safe().reduction(Reduction::By(strategy));
    let checkpoint = || Some(Checkpoint::new("checkpoint"));
    let resume = || Some(PathBuf::from("checkpoint"));
    let deep = SearchOrder::DepthFirst;
    let compact = StoreMode::Compact;
    let cases: Vec<(Options, &str)> = vec![
        (Options::default().property("sane"), "no property `sane`; did you mean `safe`?"),
        (
            Options { deadlock: Some(DeadlockMode::Off), ..Options::default().property("deadlock") },
            "--property deadlock contradicts --deadlock off",
        ),
        (Options::default().threads(0), "needs a thread"),
        (Options::default().threads(1025), "at most 1024"),
        (Options::default().limits(Limits { max_states: Some(0), ..Limits::default() }), "room for a state"),
        (Options::default().limits(Limits { max_memory: Some(0), ..Limits::default() }), "room for a state"),
        (Options { store: StoreMode::Bitstate { bytes: 0 }, ..safe() }, "room for a state"),
        (Options { order: deep, checkpoint: checkpoint(), ..safe() }, "need a breadth-first search"),
        (Options { order: deep, resume: resume(), ..safe() }, "need a breadth-first search"),
        (Options { order: deep, spill: spill(), ..safe() }, "--spill cannot be used with a depth-first search"),
        (Options { store: compact, spill: spill(), ..safe() }, "--spill cannot be used with an approximate store"),
        (Options { spill: spill(), ..adaptive() }, "--spill cannot be used with adaptive reduction"),
        (Options { spill: spill(), checkpoint: checkpoint(), ..safe() }, "--spill cannot be used with checkpoints"),
        (Options { spill: spill(), ..safe().cross_check() }, "--spill cannot be used with --cross-check"),
        (Options { spill: spill(), ..by(Strategy::Markers) }, "--spill cannot be used with markers"),
        (Options { spill: spill(), ..by(Strategy::MarkersTrees) }, "--spill cannot be used with markers"),
        (Options { spill: spill(), ..by(Strategy::MarkersCanonical) }, "--spill cannot be used with markers-canonical"),
        (Options { spill: spill(), ..Options::default() }, "--spill cannot be used with liveness properties"),
        (Options { store: compact, order: deep, ..safe() }, "approximate store cannot be used with a depth-first"),
        (Options { store: compact, ..adaptive() }, "approximate store cannot be used with adaptive"),
        (Options { store: compact, checkpoint: checkpoint(), ..safe() }, "cannot be used with checkpoints"),
        (Options { store: compact, resume: resume(), ..safe() }, "cannot be used with checkpoints"),
        (Options { store: compact, ..safe().cross_check() }, "cannot be used with --cross-check"),
        (Options { store: compact, ..by(Strategy::MarkersCanonical) }, "cannot be used with markers-canonical"),
        (Options { store: compact, ..Options::default() }, "cannot be used with liveness properties"),
        (safe().symmetry(Symmetry::Off).cross_check(), "this one is not reduced"),
        (safe().reduction(Reduction::None).cross_check(), "this one is not reduced"),
        (by(Strategy::Markers).cross_check(), "use markers-canonical"),
        (by(Strategy::MarkersTrees).cross_check(), "use markers-canonical"),
        (by(Strategy::Sorted).symmetry(Symmetry::Off), "--reduction sorted needs symmetries: add --symmetry auto"),
        (adaptive().symmetry(Symmetry::Off), "--reduction adaptive needs symmetries"),
        (adaptive().symmetry(Symmetry::Declared), "does not use declarations"),
        (safe().reduction(Reduction::None).symmetry(Symmetry::Declared), "not used with --reduction none"),
        (Options::default().reduction(Reduction::Adaptive), "liveness property `again` asks for more"),
        (Options { checkpoint: checkpoint(), ..adaptive() }, "cannot be interrupted and continued later"),
        (Options { resume: resume(), ..adaptive() }, "cannot be interrupted and continued later"),
        (Options { order: deep, ..adaptive() }, "searches breadth-first only"),
        (adaptive().violations(ViolationLimit::All), "--all-errors and --max-errors cannot be used with adaptive"),
        (
            Options { store: compact, ..safe().violations(ViolationLimit::Kinds(2)) },
            "cannot be used with an approximate",
        ),
        (safe().violations(ViolationLimit::Kinds(0)), "--max-errors 0 looks for nothing"),
        (safe().reduction(sets), "--reduction dynamic needs --engine symbolic"),
        (symbolic().reduction(sets).symmetry(Symmetry::Off), "--reduction dynamic needs symmetries"),
        (
            symbolic().reduction(Reduction::Adaptive),
            "--engine symbolic cannot be used with a reduction of single states",
        ),
        (Options { order: deep, ..counters() }, "--engine counters cannot be used with --search dfs"),
        (counters().reduction(sets), "--engine counters cannot be used with a reduction of sets"),
        (counters().symmetry(Symmetry::Off), "--engine counters cannot be used with --symmetry"),
        (counters().reduction(Reduction::None), "--engine counters cannot be used with --reduction"),
        (Options { spill: spill(), ..counters() }, "--engine counters cannot be used with --spill"),
        (counters().cross_check(), "--engine counters cannot be used with --cross-check"),
        (counters().violations(ViolationLimit::All), "--engine counters cannot be used with --all-errors"),
        (Options { order: deep, ..symbolic() }, "--engine symbolic cannot be used with --search dfs"),
        (Options { store: compact, ..symbolic() }, "--engine symbolic cannot be used with an approximate store"),
        (Options { spill: spill(), ..symbolic() }, "--engine symbolic cannot be used with --spill"),
        (Options { checkpoint: checkpoint(), ..symbolic() }, "--engine symbolic cannot be used with --checkpoint"),
        (symbolic().cross_check(), "--engine symbolic cannot be used with --cross-check"),
        (symbolic().violations(ViolationLimit::All), "--engine symbolic cannot be used with --all-errors"),
        (
            symbolic().limits(Limits { max_states: Some(10), ..Limits::default() }),
            "--engine symbolic cannot be used with --max-states",
        ),
    ];
    for (options, words) in cases {
        let said = refusal(&options).to_string();
        assert!(said.contains(words), "{options:?}: {said}");
    }
}

#[test]
fn what_works() {
    let strategies = [
        Strategy::Canonical,
        Strategy::Sorted,
        Strategy::Segmented,
        Strategy::LocalSearch,
        Strategy::Flooding,
        Strategy::Markers,
        Strategy::MarkersTrees,
        Strategy::MarkersCanonical,
    ];
    let reductions = strategies.map(Reduction::By).into_iter();
    for reduction in reductions.chain([Reduction::Auto, Reduction::None, Reduction::Adaptive]) {
        for threads in [1, 2] {
            let plan = Plan::new(&lock(), &safe().reduction(reduction).threads(threads)).expect("this works");
            let report = plan.run().expect("a report");
            assert_ne!(report.verdict, quotient::Verdict::Violated, "{reduction:?}");
            assert_eq!(report.notes.is_empty(), threads == 1 || reduction != Reduction::Adaptive, "{reduction:?}");
        }
    }
}

#[test]
fn threads_are_a_permission() {
    let two = |options: Options| Plan::new(&lock(), &options.threads(2)).expect("a plan").run().expect("a report");
    let words = |report: quotient::Report| report.notes.join("\n");
    assert!(words(two(Options::default())).contains("a search for liveness uses one thread, not 2"));
    let deep = Options { order: SearchOrder::DepthFirst, ..safe() };
    assert!(words(two(deep)).contains("a depth-first search uses one thread"));
    let compact = Options { store: StoreMode::Compact, ..safe() };
    assert!(words(two(compact)).contains("an approximate store uses one thread"));
}

#[test]
fn what_exploration_refuses() {
    let adaptive = || ExploreOptions { reduction: Reduction::Adaptive, ..ExploreOptions::default() };
    let limits = Limits { max_depth: Some(3), ..Limits::default() };
    let cases = [
        (
            ExploreOptions {
                symmetry: Some(Symmetry::Auto),
                reduction: Reduction::By(Strategy::Markers),
                ..ExploreOptions::default()
            },
            "need representatives",
        ),
        (
            ExploreOptions { reduction: Reduction::By(Strategy::Flooding), ..ExploreOptions::default() },
            "add --symmetry auto",
        ),
        (ExploreOptions { threads: 0, ..ExploreOptions::default() }, "needs a thread"),
        (ExploreOptions { symmetry: Some(Symmetry::Declared), ..adaptive() }, "does not use declarations"),
        (ExploreOptions { order: SearchOrder::DepthFirst, ..adaptive() }, "breadth-first only"),
        (ExploreOptions { limits, ..adaptive() }, "--max-depth cannot be used"),
        (ExploreOptions { deadlock: Some(DeadlockMode::Stuck), ..adaptive() }, "deadlocks are not counted"),
        (ExploreOptions { store_passing: true, ..adaptive() }, "--store-passing cannot be used"),
    ];
    for (options, words) in cases {
        let said = explore(&lock(), &options, &Control::default(), &mut Silent).expect_err("refused").to_string();
        assert!(said.contains(words), "{options:?}: {said}");
    }
}

#[test]
fn what_a_constraint_refuses() {
    let text = b"var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end; \
        invariant \"safe\" x < 3; liveness \"again\" x = 0;";
    let constraint = |text: &str| LoadOptions { constraint: Some(text.to_owned()), ..LoadOptions::default() };
    let load = |options: &LoadOptions| {
        Model::from_bytes("test", text, quotient::Language::Murphi, options, &Control::default())
    };
    let model = load(&constraint("x < 2")).expect("a model");
    let refused = |options: &Options| Plan::new(&model, options).expect_err("refused").to_string();
    assert!(refused(&Options::default()).contains("--constraint cannot be used with liveness property `again`"));
    assert!(refused(&safe().reduction(Reduction::Adaptive)).contains("--constraint cannot be used with adaptive"));
    assert_eq!(Plan::new(&model, &safe()).expect("a plan").run().expect("a report").verdict, Verdict::Inconclusive);
    for wrong in ["", " ", "x <", "y = 1", "x", "true; x"] {
        assert!(matches!(load(&constraint(wrong)), Err(Error::Model(_))), "{wrong}");
    }
}

#[test]
fn what_loading_refuses() {
    let options = LoadOptions { no_extra_nodes: true, ..LoadOptions::default() };
    let text = b"var x: boolean; startstate begin x := true; end;";
    let load = |options: &LoadOptions| {
        Model::from_bytes("test", text, quotient::Language::Murphi, options, &Control::default()).map(|_| ())
    };
    assert!(matches!(load(&options), Err(Error::Refused(Refusal::NoExtraNodes))));
    let options = LoadOptions { well_definedness: Some(quotient::WellDefinedness::Error), ..LoadOptions::default() };
    assert!(matches!(load(&options), Err(Error::Refused(Refusal::WellDefinedness))));
    let options = LoadOptions { max_processes: Some(20), ..LoadOptions::default() };
    assert!(matches!(load(&options), Err(Error::Refused(Refusal::MaxProcesses))));
    let options = LoadOptions { language: Some(quotient::Language::B), ..LoadOptions::default() };
    assert!(matches!(load(&options), Err(Error::Refused(Refusal::Language))));
}
