//! Temporal properties of random models: the searches of products, with and without symmetries, and CTL* on graphs agree
//! with the brute-force oracle, with each sort of fairness.
//!
//! A few hundred models are tried; `QUOTIENT_TEMPORAL_MODELS` sets another number, and `QUOTIENT_RANDOM_SEED` the first
//! seed.

use std::ops::ControlFlow;

use quotient_engines::temporal::tree::{EdgeClasses, Ending, Graph, GraphBuilder, TreeOptions, check_tree};
use quotient_engines::{
    EngineError, FairnessMode, SearchOptions, Silent, SymmetrySource, UsedSymmetry, Verdict, check_temporal,
};
use quotient_ir::{Fairness, Layout, Model, PropertyId, TableIndex, TemporalClaim};
use quotient_temporal::Atom;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_temporal::{TemporalModel, random_temporal};
use quotient_testkit::temporal_oracle::{
    Compared, ModelGraph, OracleLimits, Silence, Told, compare, explore, judge, letters,
};

fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")),
        Err(_) => default,
    }
}

/// What happened to a model.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    models: u64,
    silent: u64,
    without_symmetries: Compared,
    with_symmetries: Compared,
    trees: Compared,
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
            reduced: self.reduced + other.reduced,
            annotated: self.annotated + other.annotated,
        }
    }
}

/// What a search of products says about a property.
fn told(
    model: &Model,
    property: PropertyId,
    fairness: Fairness,
    source: Option<SymmetrySource>,
    used: &mut Vec<UsedSymmetry>,
) -> Told {
    let layout = Layout::new(model).expect("a small model");
    let fairness = match fairness {
        Fairness::None => FairnessMode::None,
        Fairness::Weak => FairnessMode::Weak,
        Fairness::Strong => FairnessMode::Strong,
    };
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

fn check_model(seed: u64) -> Result<Count, String> {
    // One text in a thousand is not a model.
    let Ok(TemporalModel { model, text }) = random_temporal(seed) else {
        return Ok(Count { models: 1, silent: 1, ..Count::default() });
    };
    let limits = OracleLimits::default();
    let mut count = Count { models: 1, ..Count::default() };
    let declares_fairness = model.rules.iter().any(|rule| rule.fairness != Fairness::None);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        // Which process moves between two stored states is not settled.
        if model.passing().next().is_some() && (fairness != Fairness::None || declares_fairness) {
            continue;
        }
        let verdicts = match judge(&model, fairness, &limits) {
            Ok(verdicts) => verdicts,
            Err(Silence::TooLarge | Silence::AtomFails | Silence::AssumptionFails | Silence::StuckInTransient) => {
                count.silent += 1;
                continue;
            }
        };
        let context = |who: &str| format!("seed {seed}, {who}, {fairness:?}");
        let mut used = Vec::new();
        let whole = compare(&model, &verdicts, |property| told(&model, property, fairness, None, &mut used))
            .map_err(|difference| format!("{}: {difference}\n{text}", context("without symmetries")))?;
        used.clear();
        let source = Some(SymmetrySource::Detected);
        let reduced = compare(&model, &verdicts, |property| told(&model, property, fairness, source, &mut used))
            .map_err(|difference| format!("{}: {difference}\n{text}", context("with symmetries")))?;
        count.reduced += used.iter().filter(|used| **used != UsedSymmetry::None).count() as u64;
        count.annotated += used.iter().filter(|used| matches!(used, UsedSymmetry::Annotated { .. })).count() as u64;
        let trees = compare(&model, &verdicts, |property| told_of_tree(&model, property, fairness, &limits))
            .map_err(|difference| format!("{}: {difference}\n{text}", context("trees")))?;
        count.without_symmetries = sum(count.without_symmetries, whole);
        count.with_symmetries = sum(count.with_symmetries, reduced);
        count.trees = sum(count.trees, trees);
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
        assert!(count.reduced > models / 5 && count.annotated > models / 50, "{count:?}");
    }
}
