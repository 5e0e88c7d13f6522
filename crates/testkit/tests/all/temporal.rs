//! Temporal properties of random models: the searches of products, with and without symmetries, CTL* on graphs, and graphs
//! of counted objects agree with the brute-force oracle, with each sort of fairness. So do searches of random CSP# programs, whose steps are events
//! of several processes.
//!
//! A few hundred models are tried; `QUOTIENT_TEMPORAL_MODELS` and `QUOTIENT_RANDOM_CSP` set other numbers, and `QUOTIENT_RANDOM_SEED` the first
//! seed.

use std::ops::ControlFlow;

use quotient::languages::{Language, LoadOptions, Loaded, load};
use quotient_counters::{CountersError, check_temporal_by_counters};
use quotient_graphs::UsedSymmetry;
use quotient_graphs::{
    tree::EdgeClasses, tree::Ending, tree::Graph, tree::GraphBuilder, tree::TreeOptions, tree::check_tree,
};
use quotient_ir::{
    Expr, Fairness, Formula as PropertyFormula, Layout, Model, Positions, PropertyId, PropertyKind, Source, TableIndex,
    Temporal, TemporalClaim,
};
use quotient_runs::check_temporal;
use quotient_search::{EngineError, FairnessMode, FairnessScope, SearchOptions, Silent, Verdict};
use quotient_sets::{SymbolicError, SymbolicSymmetry, check_symbolic_tree};
use quotient_systems::SymmetrySource;
use quotient_temporal::{Atom, Automaton, Cube, Transition};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_csp::random_csp;
use quotient_testkit::random_temporal::{TemporalModel, random_temporal};
use quotient_testkit::search::plan;
use quotient_testkit::switches::number_from;
use quotient_testkit::temporal_oracle::{
    Assumption, Compared, ModelGraph, OracleLimits, Scope, Silence, Told, compare, explore, judge_under, letters,
};

/// What happened to a model.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    models: u64,
    silent: u64,
    without_symmetries: Compared,
    with_symmetries: Compared,
    trees: Compared,
    /// Trees by decision diagrams, with and without symmetries.
    sets: Compared,
    /// With counted objects, without fairness.
    counters: Compared,
    /// With symmetries, under global fairness.
    global: Compared,
    /// Properties for which symmetries were used, and for which more of them where the automaton needs less.
    reduced: u64,
    annotated: u64,
}

fn sum(one: Compared, other: Compared) -> Compared {
    Compared { held: one.held + other.held, violated: one.violated + other.violated, unsaid: one.unsaid + other.unsaid }
}

impl Count {
    fn add(self, other: Self) -> Self {
        Self {
            models: self.models + other.models,
            silent: self.silent + other.silent,
            without_symmetries: sum(self.without_symmetries, other.without_symmetries),
            with_symmetries: sum(self.with_symmetries, other.with_symmetries),
            trees: sum(self.trees, other.trees),
            sets: sum(self.sets, other.sets),
            counters: sum(self.counters, other.counters),
            global: sum(self.global, other.global),
            reduced: self.reduced + other.reduced,
            annotated: self.annotated + other.annotated,
        }
    }
}

/// What a search of products says about a property.
fn told(
    model: &Model,
    property: PropertyId,
    fairness: FairnessMode,
    source: Option<SymmetrySource>,
    used: &mut Vec<UsedSymmetry>,
) -> Told {
    let layout = Layout::new(model).expect("a small model");
    // Small products would be decided before symmetries are looked for.
    let temporal_trial = if source.is_some() { 0 } else { SearchOptions::default().temporal_trial };
    // Every other property with two threads.
    let threads = 1 + property.position() as u32 % 2;
    let options = SearchOptions { fairness, temporal_trial, threads, ..SearchOptions::default() };
    match check_temporal(model, &layout, property, source, &options, &mut Silent) {
        Ok(report) => {
            used.extend(report.searches.iter().map(|search| search.symmetry.clone()));
            match report.verdict {
                Verdict::Holds => Told::Holds,
                Verdict::Violated => Told::Violated,
                Verdict::Inconclusive => Told::Nothing(format!("{:?}", report.stop_reason)),
            }
        }
        Err(EngineError::Refused(reason)) => Told::Nothing(reason.to_owned()),
        Err(error) => Told::Defect(error.to_string()),
    }
}

/// The runs that count, as the oracle says it.
fn assumption(mode: FairnessMode) -> Assumption {
    let scope = match mode.scope() {
        FairnessScope::Usual => Scope::Usual,
        FairnessScope::Events => Scope::Events,
        FairnessScope::Processes => Scope::Processes,
    };
    if mode == FairnessMode::Global { Assumption::Global } else { Assumption::Classes(scope, mode.strength()) }
}

/// The graph of a model as the engine for trees sees it, with the classes of each edge.
fn tree_graph(graph: &ModelGraph, atoms: usize, letters: &[u64]) -> (Graph, Vec<Vec<u32>>) {
    let (mut builder, mut classes) = (GraphBuilder::new(atoms), Vec::new());
    for (state, arcs) in graph.structure.arcs.iter().enumerate() {
        for arc in arcs {
            builder.edge(arc.to as u32);
            classes.push(arc.taken().map(|class| class as u32).collect());
        }
        // States that are repeated forever have an arc already.
        builder.end_state(Ending::Stops);
        for atom in (0..atoms as u32).filter(|atom| letters[state] >> atom & 1 == 1) {
            builder.label(Atom(atom), state as u32);
        }
    }
    graph.structure.starts.iter().for_each(|&start| builder.start(start as u32));
    (builder.build(), classes)
}

/// What fixpoints and automata on the graph say about a property of trees.
fn told_of_tree(model: &Model, property: PropertyId, fairness: Fairness, limits: &OracleLimits) -> Told {
    let temporal = model.properties[property].formula.temporal().expect("a temporal property");
    let TemporalClaim::Branching { pool, formula } = &temporal.claim else {
        return Told::Nothing("it is about runs".to_owned());
    };
    let graph = explore(model, temporal.positions, limits.states).expect("the oracle explored it");
    let mut told = Told::Holds;
    for (_, letters) in letters(model, property, temporal, &graph.states).expect("the oracle evaluated them") {
        let (tree, classes) = tree_graph(&graph, temporal.atoms.len(), &letters);
        let strengths = graph.structure.classes.iter().map(|class| class.with(fairness)).collect();
        let numbers = (0..classes.len() as u32).collect();
        let classes = EdgeClasses::new(&tree, strengths, classes, numbers);
        let options = TreeOptions { fairness: Some(&classes), max_memory: None };
        let answer = check_tree(&tree, &mut pool.clone(), *formula, &options, &mut || ControlFlow::Continue(()));
        if !answer.expect("a small formula").holds_everywhere() {
            told = Told::Violated;
        }
    }
    told
}

/// What decision diagrams say about a property of trees. The states are reached with the symmetries of the model, if it
/// has some and they are asked for; a run is replayed.
fn told_of_sets(model: &Model, property: PropertyId, fairness: FairnessMode, symmetries: bool) -> Told {
    let layout = Layout::new(model).expect("a small model");
    let options = SearchOptions { fairness, max_memory: Some(32 << 20), ..SearchOptions::default() };
    let plan = plan(model, &layout, &[], SymmetrySource::Detected, None).expect("a small model");
    let group = &plan.symmetry.group;
    let symmetry = symmetries.then_some(SymbolicSymmetry { group, way: None });
    match check_symbolic_tree(model, &layout, property, symmetry, &options, &mut Silent) {
        Ok(report) => match (report.verdict, report.trace) {
            (Verdict::Holds, None) => Told::Holds,
            (Verdict::Violated, Some(_)) => Told::Violated,
            (Verdict::Inconclusive, None) => Told::Nothing(format!("{:?}", report.stop_reason)),
            other => Told::Defect(format!("{other:?}")),
        },
        Err(SymbolicError::Refused { reason, .. }) => Told::Nothing(reason),
        Err(error) => Told::Defect(error.to_string()),
    }
}

/// What the graph of states with counted objects says about a property. A run is replayed.
fn told_of_counters(model: &Model, property: PropertyId) -> Told {
    let layout = Layout::new(model).expect("a small model");
    match check_temporal_by_counters(model, &layout, property, &SearchOptions::default(), &mut Silent) {
        Ok(report) => match (report.verdict, report.trace) {
            (Verdict::Holds, None) => Told::Holds,
            (Verdict::Violated, Some(_)) => Told::Violated,
            (Verdict::Inconclusive, None) => Told::Nothing(format!("{:?}", report.stop_reason)),
            other => Told::Defect(format!("{other:?}")),
        },
        Err(CountersError::Refused(refused)) => Told::Nothing(refused.reason),
        Err(error) => Told::Defect(error.to_string()),
    }
}

fn check_model(seed: u64) -> Result<Count, String> {
    // One text in a thousand is not a model.
    let Ok(TemporalModel { model, text }) = random_temporal(seed) else {
        return Ok(Count { models: 1, silent: 1, ..Count::default() });
    };
    let limits = OracleLimits::default();
    let mut count = Count { models: 1, ..Count::default() };
    let declares_fairness = model.rules.iter().any(|rule| rule.fairness != Fairness::None);
    for mode in FairnessMode::ALL {
        let fairness = mode.strength();
        // Which process moves between two stored states is not settled.
        let is_global = mode == FairnessMode::Global;
        if !is_global && model.passing().next().is_some() && (fairness != Fairness::None || declares_fairness) {
            continue;
        }
        if mode.scope() == FairnessScope::Processes && !model.has_processes() {
            continue;
        }
        let verdicts = match judge_under(&model, assumption(mode), &limits) {
            Ok(verdicts) => verdicts,
            Err(Silence::TooLarge | Silence::AtomFails | Silence::AssumptionFails | Silence::StuckInTransient) => {
                count.silent += 1;
                continue;
            }
        };
        let context = |who: &str| format!("seed {seed}, {who}, {mode:?}");
        let mut used = Vec::new();
        let whole = compare(&model, &verdicts, |property| told(&model, property, mode, None, &mut used))
            .map_err(|difference| format!("{}: {difference}\n{text}", context("without symmetries")))?;
        used.clear();
        let source = Some(SymmetrySource::Detected);
        let reduced = compare(&model, &verdicts, |property| told(&model, property, mode, source, &mut used))
            .map_err(|difference| format!("{}: {difference}\n{text}", context("with symmetries")))?;
        count.reduced += used.iter().filter(|used| **used != UsedSymmetry::None).count() as u64;
        count.annotated += used.iter().filter(|used| matches!(used, UsedSymmetry::Annotated { .. })).count() as u64;
        count.without_symmetries = sum(count.without_symmetries, whole);
        count.with_symmetries = sum(count.with_symmetries, reduced);
        if is_global {
            count.global = sum(count.global, reduced);
        }
        if !matches!(mode, FairnessMode::None | FairnessMode::Weak | FairnessMode::Strong) {
            continue;
        }
        if mode == FairnessMode::None {
            count.counters = compare(&model, &verdicts, |property| told_of_counters(&model, property))
                .map_err(|difference| format!("{}: {difference}\n{text}", context("counters")))?;
        }
        let trees = compare(&model, &verdicts, |property| told_of_tree(&model, property, fairness, &limits))
            .map_err(|difference| format!("{}: {difference}\n{text}", context("trees")))?;
        count.trees = sum(count.trees, trees);
        for symmetries in [false, true] {
            let sets = compare(&model, &verdicts, |property| told_of_sets(&model, property, mode, symmetries))
                .map_err(|difference| format!("{}: {difference}\n{text}", context("sets")))?;
            count.sets = sum(count.sets, sets);
        }
    }
    Ok(count)
}

#[test]
fn searches_agree_with_the_oracle() {
    let (models, first) = (number_from("QUOTIENT_TEMPORAL_MODELS", 300), number_from("QUOTIENT_RANDOM_SEED", 0));
    let seeds: Vec<u64> = (first..first + models).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let results = map_on_workers(workers, &seeds, |&seed| {
        let result = std::panic::catch_unwind(|| check_model(seed));
        result.unwrap_or_else(|_| Err(format!("seed {seed} panics, as told above")))
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    if let Some(failure) = failures.first() {
        let seeds: Vec<u64> =
            (first..).zip(&results).filter(|(_, result)| result.is_err()).map(|(seed, _)| seed).collect();
        panic!("{} of {models} models differ, with the seeds {seeds:?}; the first: {failure}", failures.len());
    }
    let count = results.into_iter().flatten().fold(Count::default(), Count::add);
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{count:?}");
    }
    if models >= 200 {
        let enough = |compared: Compared, least: u64| compared.held >= least && compared.violated >= least;
        assert!(count.silent < models, "the oracle is silent too often: {count:?}");
        assert!(enough(count.without_symmetries, models / 5), "{count:?}");
        assert!(enough(count.with_symmetries, models / 5), "{count:?}");
        assert!(enough(count.trees, models / 20), "{count:?}");
        assert!(enough(count.sets, models / 20), "{count:?}");
        assert!(enough(count.counters, models / 20), "{count:?}");
        assert!(enough(count.global, models / 20), "{count:?}");
        assert!(count.reduced > models / 5 && count.annotated > models / 50, "{count:?}");
    }
}

/// Compares formulas about a random CSP# program, whose events synchronise and depend on values; how many there were,
/// and for how many symmetries were used.
fn check_program(seed: u64) -> Result<(Compared, u64), String> {
    let formulas = ["[]<> p", "<>[] q", "[] (p -> <> q)", "(p U q) || []<> (! p)", "[]<> a -> []<> p", "X (q U p)"];
    let mut text = random_csp(seed).text();
    if seed.is_multiple_of(2) {
        text = text.replace("(a -> ", "(wf(a) -> ").replace("(b -> ", "(sf(b) -> ");
    }
    text.push_str("#define p (v0 == 1);\n#define q (v1 != 2);\n");
    let formula = formulas[seed as usize % formulas.len()];
    text.push_str(&format!("#assert System() |= {formula};\n"));
    let loaded = load(Source::new("random.csp", text.as_str()), Language::Csp, &LoadOptions::default());
    // Some have events that would have to synchronise and are not constant, or no event `a`.
    let Ok(Loaded { model, .. }) = loaded else { return Ok((Compared::default(), 0)) };
    let limits = OracleLimits { states: 300, ..OracleLimits::default() };
    let (mut all, mut reduced) = (Compared::default(), 0);
    for mode in FairnessMode::ALL {
        let Ok(verdicts) = judge_under(&model, assumption(mode), &limits) else { continue };
        for source in [None, Some(SymmetrySource::Detected)] {
            let mut used = Vec::new();
            let compared = compare(&model, &verdicts, |property| told(&model, property, mode, source, &mut used))
                .map_err(|difference| format!("seed {seed}, {mode:?}, {source:?}: {difference}\n{text}"))?;
            all = sum(all, compared);
            reduced += used.iter().filter(|used| **used != UsedSymmetry::None).count() as u64;
        }
    }
    Ok((all, reduced))
}

#[test]
fn fairness_of_events_and_processes_agrees_with_the_oracle() {
    let (programs, first) = (number_from("QUOTIENT_RANDOM_CSP", 100), number_from("QUOTIENT_RANDOM_SEED", 1));
    let seeds: Vec<u64> = (first..first + programs).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let result = std::panic::catch_unwind(|| check_program(seed));
        result.unwrap_or_else(|_| Err(format!("seed {seed} panics, as told above")))
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} of {programs} programs differ; the first: {}", failures.len(), failures[0]);
    let none = (Compared::default(), 0);
    let (count, reduced) =
        results.into_iter().flatten().fold(none, |(all, reduced), (one, more)| (sum(all, one), reduced + more));
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{count:?}, {reduced} reduced");
    }
    if programs >= 100 {
        assert!(count.held > programs && count.violated > programs, "{count:?}");
        assert!(reduced > programs / 20, "{reduced} reduced");
    }
}

/// An automaton that counts the parity of a step that a symmetry preserves. Whoever is at the token tells the parity,
/// but in a quotient where the two are one, both parities go with both.
#[test]
fn parity_of_a_symmetric_step() {
    let text = "type P: 0 .. 1; var at: P; var moved: boolean;
        ruleset p: P do startstate begin at := p; moved := false; end; end;
        rule !moved ==> begin at := 1 - at; moved := true; end;
        rule moved ==> begin moved := false; end;
        invariant \"t\" ((moved) & (at = 0));";
    let mut model = load_murphi("parity.m", text, &[]).expect("a model");
    let (id, _) = model.properties.iter_enumerated().next().expect("a property");
    let condition = model.properties[id].formula.condition().expect("a condition");
    let Expr::Binary { left, right, .. } = model.pool[condition] else { panic!("a conjunction") };
    let cube = |positive, negative| Cube { positive, negative };
    let step = |from, to, cube, acceptance| Transition { from, to, cube, acceptance };
    // State 0 reads who is there at first; 1 and 2 are the parities of steps since then.
    let begun = [step(0, 1, cube(0b10, 0b01), 0), step(1, 1, cube(0, 1), 0), step(1, 2, cube(1, 0), 0)];
    let odd = |wanted| [step(2, 2, cube(wanted, 1 | (2 & !wanted)), 1), step(2, 2, cube(2 & !wanted, 1 | wanted), 0)];
    for (wanted, holds) in [(0b10, true), (0, false)] {
        let mut transitions = begun.to_vec();
        transitions.extend(odd(wanted));
        transitions.push(step(2, 1, cube(1, 0), 0));
        let atoms = vec![Atom(0), Atom(1)];
        let automaton = Automaton { atoms, states: 3, initial: vec![0], acceptance_sets: 1, transitions };
        let claim = TemporalClaim::Never(automaton);
        let names = vec!["moved".to_owned(), "at = 0".to_owned()];
        let (atoms, text, positions) = (vec![left, right], "parity".to_owned(), Positions::Stored);
        model.properties[id].kind = PropertyKind::Temporal;
        model.properties[id].formula =
            PropertyFormula::Temporal(Box::new(Temporal { claim, atoms, names, text, positions }));
        let verdicts = judge_under(&model, Assumption::Global, &OracleLimits::default()).expect("a small model");
        assert_eq!(verdicts.iter().map(|it| it.holds).collect::<Vec<_>>(), [holds]);
        for source in [None, Some(SymmetrySource::Detected)] {
            let expected = if holds { Told::Holds } else { Told::Violated };
            assert_eq!(told(&model, id, FairnessMode::Global, source, &mut Vec::new()), expected, "{source:?}");
        }
    }
}
