//! Temporal formulas checked with a part of the steps: the verdicts of the brute-force oracle on random models of each
//! language, with and without symmetries, on one thread and on two; and models on which other tools go wrong.
//!
//! `QUOTIENT_RANDOM_ORDERS` sets the number of models of each sort, `QUOTIENT_RANDOM_SEED` the first seed.

use std::time::Duration;

use quotient::languages::{Language, LoadOptions, load};
use quotient_graphs::TemporalReport;
use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{
    BinaryOperator, Expr, ExprId, Fairness, Formula as PropertyFormula, Layout, Model, Parameter, Positions, Property,
    PropertyId, PropertyKind, Root, RuleId, Source, Span, Temporal, TemporalClaim, UnaryOperator,
};
use quotient_runs::{check_temporal, parts_obstacle};
use quotient_search::{EngineError, SearchOptions, Silent, TemporalParts, Verdict};
use quotient_systems::SymmetrySource;
use quotient_temporal::print::plain;
use quotient_temporal::random::{FormulaShape, Random as FormulaRandom, random_formula};
use quotient_temporal::{Atom, Automaton, Cube, Formulas, Transition, translate};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::loose_murphi::loose_processes;
use quotient_testkit::partial_murphi::partial_program;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_csp::random_csp;
use quotient_testkit::random_dve::random_dve;
use quotient_testkit::random_murphi::{ProgramOptions, Random, random_program};
use quotient_testkit::random_promela::{random_promela, random_promela_claim};
use quotient_testkit::random_temporal::random_temporal;
use quotient_testkit::spin::Spin;
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::temporal_oracle::{Assumption, OracleLimits, Scope, Told, compare, judge_under};

/// What happened over all models.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    models: u64,
    held: u64,
    violated: u64,
    /// Claims that cannot be checked with a part of the steps, and those without a verdict.
    refused: u64,
    unsaid: u64,
    /// Searches, those in which some steps were left out somewhere, and those of a quotient.
    searches: u64,
    reduced: u64,
    symmetric: u64,
    /// The states that the steps lead to, of all that there are, in searches without symmetries that were reduced.
    states: u64,
    all_states: u64,
}

impl Tally {
    fn add(self, other: Self) -> Self {
        Self {
            models: self.models + other.models,
            held: self.held + other.held,
            violated: self.violated + other.violated,
            refused: self.refused + other.refused,
            unsaid: self.unsaid + other.unsaid,
            searches: self.searches + other.searches,
            reduced: self.reduced + other.reduced,
            symmetric: self.symmetric + other.symmetric,
            states: self.states + other.states,
            all_states: self.all_states + other.all_states,
        }
    }
}

/// The parts of a condition that are conditions themselves.
fn conditions_in(model: &Model, condition: ExprId, found: &mut Vec<ExprId>) {
    found.push(condition);
    match &model.pool[condition] {
        Expr::Unary { operator: UnaryOperator::Not, operand } => conditions_in(model, *operand, found),
        Expr::Binary { operator: BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies, left, right } => {
            conditions_in(model, *left, found);
            conditions_in(model, *right, found);
        }
        _ => {}
    }
}

/// Whether a condition means the same everywhere.
fn is_global(model: &Model, condition: ExprId) -> bool {
    let mut is_global = true;
    visit_nodes(model, [Node::Expression(condition)], |node| {
        is_global &= match node {
            Node::Place(place) => !matches!(model.pool[place].root, Root::Local(_)),
            Node::Expression(id) => !matches!(model.pool[id], Expr::Quantified { .. } | Expr::Count { .. }),
        };
    });
    is_global
}

/// Adds random temporal claims over conditions that occur in a model.
fn with_claims(mut model: Model, seed: u64) -> Model {
    let mut random = Random::new(seed ^ 0x7061_7274_7321);
    for rule in model.rules.indices().collect::<Vec<_>>() {
        model.rules[rule].fairness = Fairness::None;
    }
    for id in model.properties.indices().collect::<Vec<_>>() {
        if model.properties[id].formula.temporal().is_some() {
            model.properties[id].kind = PropertyKind::Remark;
            let truth = model.pool.expression(Expr::Constant { value: 1, ty: Model::BOOLEAN });
            model.properties[id].formula = PropertyFormula::Condition(truth);
            model.properties[id].parameters = Vec::new();
        }
    }
    let mut everywhere = Vec::new();
    let properties = model.properties.iter().filter(|it| it.kind != PropertyKind::Passing);
    for condition in properties.filter_map(|it| it.formula.condition()).chain(model.rules.iter().map(|it| it.guard)) {
        conditions_in(&model, condition, &mut everywhere);
    }
    everywhere.retain(|&condition| is_global(&model, condition));
    everywhere.sort_unstable();
    everywhere.dedup();
    let rules: Vec<RuleId> = model.rules.indices().collect();
    for number in 0..2 {
        // The atoms of a rule, which may mention its parameters, and others.
        let mut atoms = Vec::new();
        let (mut parameters, mut locals): (Vec<Parameter>, _) = (Vec::new(), Default::default());
        if !rules.is_empty() && (everywhere.is_empty() || random.percent(50)) {
            let rule = &model.rules[rules[random.below(rules.len())]];
            let mut own = Vec::new();
            conditions_in(&model, rule.guard, &mut own);
            atoms.push(own[random.below(own.len())]);
            (parameters, locals) = (rule.parameters.clone(), rule.locals.clone());
        }
        while !everywhere.is_empty() && atoms.len() < 1 + number {
            atoms.push(everywhere[random.below(everywhere.len())]);
        }
        if atoms.is_empty() {
            return model;
        }
        let mut pool = Formulas::new();
        let past = random.percent(10);
        let shape = FormulaShape { atoms: atoms.len(), size: 2 + random.below(6), next: false, past, paths: false };
        let formula = random_formula(&mut pool, &mut FormulaRandom::new(seed * 2 + number as u64), &shape);
        let text = plain(&pool, formula);
        let claim = if random.percent(25) {
            let negation = pool.not(formula);
            match translate(&mut pool, negation) {
                Ok(automaton) => TemporalClaim::Never(automaton),
                Err(_) => TemporalClaim::Linear { pool, formula },
            }
        } else {
            TemporalClaim::Linear { pool, formula }
        };
        let names = (0..atoms.len()).map(|atom| format!("p{atom}")).collect();
        let temporal = Temporal { claim, atoms, names, text: text.clone(), positions: Positions::Stored };
        model.properties.push(Property {
            name: Some(text),
            kind: PropertyKind::Temporal,
            parameters,
            locals,
            formula: PropertyFormula::Temporal(Box::new(temporal)),
            span: Span::default(),
        });
    }
    model
}

/// The search of a claim with a part of the steps.
fn search(
    model: &Model,
    property: PropertyId,
    source: Option<SymmetrySource>,
    threads: u32,
) -> Result<TemporalReport, EngineError> {
    let layout = Layout::new(model).expect("a small model");
    let options = SearchOptions { temporal_parts: TemporalParts::Always, threads, ..SearchOptions::default() };
    check_temporal(model, &layout, property, source, &options, &mut Silent)
}

/// Compares the searches of a model with the oracle.
fn check_model(model: &Model, by_symmetries: bool) -> Result<Tally, String> {
    let mut tally = Tally { models: 1, ..Tally::default() };
    let assumption = Assumption::Classes(Scope::Usual, Fairness::None);
    let limits = OracleLimits { states: 1500, nodes: 20_000, lasso: 4, lassos: 20 };
    let Ok(verdicts) = judge_under(model, assumption, &limits) else { return Ok(tally) };
    let mut all_states = 0;
    for (source, threads) in [(None, 1), (None, 2), (Some(SymmetrySource::Detected), 1)] {
        if source.is_some() && !by_symmetries {
            continue;
        }
        let compared = compare(model, &verdicts, |property| {
            let temporal = model.properties[property].formula.temporal().expect("a temporal property");
            if parts_obstacle(model, temporal, &SearchOptions::default()).is_some() {
                tally.refused += 1;
                return Told::Nothing("refused".to_owned());
            }
            let report = match search(model, property, source, threads) {
                Ok(report) => report,
                Err(error) => return Told::Defect(error.to_string()),
            };
            if let Some(reason) = report.all_steps {
                tally.refused += 1;
                return Told::Nothing(reason);
            }
            for parts in report.searches.iter().filter_map(|it| it.parts) {
                tally.searches += 1;
                tally.reduced += u64::from(parts.reduced > 0);
                let is_symmetric = report.searches.iter().any(|it| it.symmetry != quotient_graphs::UsedSymmetry::None);
                tally.symmetric += u64::from(is_symmetric);
                if source.is_none() && threads == 1 && parts.reduced > 0 {
                    if all_states == 0 {
                        let graph = quotient_testkit::temporal_oracle::explore(model, Positions::Stored, limits.states);
                        all_states = graph.map_or(0, |graph| graph.states.len() as u64);
                    }
                    tally.states += parts.states;
                    tally.all_states += all_states;
                    if parts.states > all_states {
                        return Told::Defect(format!("{} states of {all_states}", parts.states));
                    }
                }
            }
            match report.verdict {
                Verdict::Holds => Told::Holds,
                Verdict::Violated => Told::Violated,
                Verdict::Inconclusive => {
                    tally.unsaid += 1;
                    Told::Nothing(format!("{:?}", report.stop_reason))
                }
            }
        })
        .map_err(|difference| format!("symmetries: {}, {threads} threads: {difference}", source.is_some()))?;
        tally.held += compared.held;
        tally.violated += compared.violated;
    }
    Ok(tally)
}

/// Checks models of a sort. In at least a share of the searches, in percent, some steps are left out.
fn check_all(sort: &str, share: u64, usual: u64, make: impl Fn(u64) -> Option<Model> + Sync) {
    let (models, first) = (number_from("QUOTIENT_RANDOM_ORDERS", usual), number_from("QUOTIENT_RANDOM_SEED", 0));
    let seeds: Vec<u64> = (first..first + models).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match make(seed) {
            // Representatives of the large states of Promela can take long.
            Some(model) => check_model(&model, sort != "promela").map_err(|message| format!("seed {seed}: {message}")),
            None => Ok(Tally::default()),
        }));
        result.unwrap_or_else(|_| Err(format!("seed {seed} panics, as told above")))
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{sort}: {} of {models} models differ; the first: {}", failures.len(), failures[0]);
    let tally = results.into_iter().flatten().fold(Tally::default(), Tally::add);
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{sort}: {tally:?}");
    }
    let is_varied = tally.reduced * 100 >= share * tally.searches && tally.held > 0 && tally.violated > 0;
    assert!(is_varied || models < usual, "{sort}: {tally:?}");
}

fn loaded(text: String, language: Language) -> Option<Model> {
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    load(Source::new("random", text), language, &options).ok().map(|loaded| loaded.model)
}

#[test]
fn loosely_coupled_processes() {
    check_all("loose", 30, 200, |seed| {
        let text = loose_processes(seed);
        let model = load_murphi("random", &text, &[]).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        Some(with_claims(model, seed))
    });
}

#[test]
fn random_murphi_programs() {
    check_all("murphi", 20, 60, |seed| {
        let text = match seed % 4 {
            0 => random_program(seed, &ProgramOptions { size: 2, most_states: 1000, extensions: seed % 8 == 0 }),
            1 => partial_program(seed),
            2 => return random_temporal(seed).ok().map(|it| with_claims(it.model, seed)),
            _ => symmetric_program(seed, Kind::Symmetric),
        };
        load_murphi("random", &text, &[]).ok().map(|model| with_claims(model, seed))
    });
}

#[test]
fn random_promela_programs() {
    check_all("promela", 20, 24, |seed| {
        let text = if seed % 4 == 0 { random_promela_claim(seed) } else { random_promela(seed) };
        loaded(text, Language::Promela).map(|model| with_claims(model, seed))
    });
}

#[test]
fn random_dve_systems() {
    check_all("dve", 3, 40, |seed| loaded(random_dve(seed).text(), Language::Dve).map(|it| with_claims(it, seed)));
}

#[test]
fn random_csp_programs() {
    check_all("csp", 20, 60, |seed| loaded(random_csp(seed).text(), Language::Csp).map(|it| with_claims(it, seed)));
}

/// The verdicts on the temporal properties of a model, with a part of the steps and with all, and the states that the steps
/// lead to, with those of which some are left out.
fn verdicts(model: &Model) -> Vec<(Verdict, Verdict, u64, u64)> {
    let layout = Layout::new(model).expect("a small model");
    let temporal = model.properties.iter_enumerated().filter(|(_, it)| it.kind == PropertyKind::Temporal);
    let verdict = |(id, _): (PropertyId, &Property)| {
        let whole = check_temporal(model, &layout, id, None, &SearchOptions::default(), &mut Silent).expect("a search");
        let report = search(model, id, None, 1).expect("a search");
        assert_eq!(report.all_steps, None);
        let parts = report.searches.iter().filter_map(|it| it.parts);
        let (states, reduced) = parts.fold((0, 0), |all, it| (all.0 + it.states, all.1 + it.reduced));
        (whole.verdict, report.verdict, states, reduced)
    };
    temporal.map(verdict).collect()
}

/// One step that toggles a bit, and one that makes `p` true and is visible.
const TOGGLE: &str = "var at: 0..1; p: boolean; startstate at := 0; p := false; end;
    rule \"toggle\" true ==> at := 1 - at; end; rule \"set\" !p ==> p := true; end; invariant \"t\" p;";

/// An automaton that accepts all words with some letters without `p` and then `p` forever: one letter, an even number of
/// them, and an odd number from three on are read by states of their own.
fn by_numbers() -> Automaton {
    let step = |from, to, p: bool, acceptance| {
        let cube = Cube { positive: u64::from(p), negative: u64::from(!p) };
        Transition { from, to, cube, acceptance }
    };
    let (first, one, even, odd, second, end) = (0, 1, [2, 3], [4, 5], 6, 7);
    let mut transitions = vec![
        step(first, one, false, 0),
        step(one, end, true, 0),
        // After an odd number of letters, and after an even one.
        step(first, even[1], false, 0),
        step(even[1], even[0], false, 0),
        step(even[0], even[1], false, 0),
        step(even[0], end, true, 0),
        step(first, second, false, 0),
        step(second, odd[0], false, 0),
        step(odd[0], odd[1], false, 0),
        step(odd[1], odd[0], false, 0),
        step(odd[1], end, true, 0),
        step(end, end, true, 1),
    ];
    transitions.sort_unstable();
    Automaton { atoms: vec![Atom(0)], states: 8, initial: vec![first], acceptance_sets: 1, transitions }
}

/// Whether a search of the product of [`TOGGLE`] with an automaton finds an accepting cycle if it takes the invisible step
/// only, except where that leads back to the path. This is the usual combination.
fn accepts_on_the_fly(automaton: &Automaton) -> bool {
    type Node = (u8, bool, u32);
    fn search(automaton: &Automaton, node: Node, path: &mut Vec<Node>, seen: &mut Vec<Node>) -> bool {
        let (at, p, state) = node;
        path.push(node);
        let moves: Vec<u32> =
            automaton.leaving(state).iter().filter(|it| it.cube.contains(u64::from(p))).map(|it| it.to).collect();
        let mut next: Vec<Node> = moves.iter().map(|&to| (1 - at, p, to)).collect();
        if !p && next.iter().any(|node| path.contains(node)) {
            next.extend(moves.iter().map(|&to| (at, true, to)));
        }
        // The bit is toggled forever, and the last state of the automaton accepts that.
        let mut found = p && state == automaton.states - 1;
        for successor in next {
            if !seen.contains(&successor) {
                seen.push(successor);
                found |= search(automaton, successor, path, seen);
            }
        }
        path.pop();
        found
    }
    search(automaton, (0, false, 0), &mut Vec::new(), &mut vec![(0, false, 0)])
}

/// After Siegel, "What's Wrong with On-the-Fly Partial Order Reduction" (CAV 2019): the language of the automaton is
/// invariant under stuttering, but what its single states accept is not. Where all steps are taken differs from state to
/// state of the automaton, so that each of them sees just the runs that it does not accept.
#[test]
fn the_automaton_does_not_choose_steps() {
    let automaton = by_numbers();
    assert!(!accepts_on_the_fly(&automaton));
    let mut model = load_murphi("toggle.m", TOGGLE, &[]).expect("a model");
    let (id, _) = model.properties.iter_enumerated().next().expect("a property");
    let condition = model.properties[id].formula.condition().expect("a condition");
    let (atoms, names, text) = (vec![condition], vec!["p".to_owned()], "by numbers".to_owned());
    let claim = TemporalClaim::Never(automaton);
    model.properties[id].kind = PropertyKind::Temporal;
    model.properties[id].formula =
        PropertyFormula::Temporal(Box::new(Temporal { claim, atoms, names, text, positions: Positions::Stored }));
    let [(whole, verdict, states, reduced)] = verdicts(&model)[..] else { panic!("one property") };
    assert_eq!((whole, verdict), (Verdict::Violated, Verdict::Violated));
    assert_eq!((states, reduced), (4, 1));
}

/// Promela models with what other tools treat with care: the verdict on each claim, and whether some steps are left out.
const PROMELA: [(&str, &str, &[Verdict], bool); 13] = [
    (
        "a remote reference in a claim",
        "active proctype Q() { byte b; do :: b = 1 - b od }
         active proctype P() { byte a; a = 1; a = 2; a = 3; do :: a = 4 od }
         never { T0: if :: (P:a == 1) -> goto accept :: (1) -> goto T0 fi;
         accept: if :: (P:a == 1) -> goto accept fi }",
        &[Verdict::Violated],
        true,
    ),
    (
        "a remote reference to a label",
        "active proctype Q() { byte b; do :: b = 1 - b od }
         active proctype P() { byte a; a = 1; L: a = 2; a = 3; do :: a = 4 od }
         ltl stays { [] (P@L -> <> !P@L) } ltl comes { <> P@L }",
        &[Verdict::Violated, Verdict::Violated],
        true,
    ),
    (
        "_last",
        "byte x; active proctype P() { do :: x = 1 - x od } active proctype Q() { byte a; do :: a = 1 - a od }
         ltl both { [] <> (_last == 0) && [] <> (_last == 1) } ltl one { [] <> (_last == 0) || [] <> (_last == 1) }",
        &[Verdict::Violated, Verdict::Holds],
        false,
    ),
    (
        "enabled",
        "byte x; active proctype P() { byte a; a = 1; x == 1; a = 2 } active proctype Q() { byte b; b = 1; b = 2; x = 1 }
         never { do :: (1) :: !enabled(0) -> break od; accept: do :: !enabled(0) od }",
        &[Verdict::Violated],
        true,
    ),
    (
        "timeout",
        "byte x; byte done; active proctype P() { byte a; a = 1; timeout -> x = 1 }
         active [2] proctype Q() { byte b; b = 1; b = 2; done++ }
         ltl comes { <> (x == 1) } ltl first { (x == 0) U (done == 1) } ltl late { (x == 0) U (done == 2) }",
        &[Verdict::Holds, Verdict::Holds, Verdict::Holds],
        true,
    ),
    (
        "else",
        "byte x; byte y; active proctype P() { byte a; a = 1; do :: x == 1 -> y = 1; break :: else -> a = 2 od }
         active proctype Q() { byte b; b = 1; b = 2; x = 1 }
         ltl comes { <> (y == 1) } ltl late { (y == 0) U (x == 1) || [] (y == 0) }",
        &[Verdict::Violated, Verdict::Holds],
        true,
    ),
    (
        "rendezvous",
        "chan c = [0] of { byte }; byte got; active [2] proctype S() { byte own; own = 1; own = 2; c!own; own = 3 }
         active proctype R() { byte n; do :: c?got; n++; got = 0 :: n == 2 -> break od }
         ltl gets { <> (got == 2) } ltl stays { <> [] (got == 2) } ltl again { [] (got == 2 -> <> (got == 0)) }",
        &[Verdict::Holds, Verdict::Violated, Verdict::Holds],
        true,
    ),
    (
        "a queue",
        "chan c = [2] of { byte }; byte got; active proctype S() { byte n; do :: n < 2 -> c!n + 1; n++ :: else -> break od }
         active proctype R() { do :: c?got od } active proctype T() { byte a; a = 1; a = 2; a = 3 }
         ltl first { (got == 0) U (got == 1) } ltl last { <> [] (got == 2) }",
        &[Verdict::Holds, Verdict::Holds],
        true,
    ),
    (
        "atomic",
        "byte x; byte y; active proctype P() { byte a; a = 1; atomic { x = 1; a = 2; x = 2 }; a = 3; x = 3 }
         active proctype Q() { byte b; b = 1; b = 2; atomic { y = 1; b = 3 } }
         ltl inside { <> (x == 1) } ltl order { (x == 0) U (y == 1) } ltl comes { <> (x == 3 && y == 1) }",
        &[Verdict::Violated, Verdict::Violated, Verdict::Holds],
        true,
    ),
    (
        "local loops beside a visible step",
        "byte x; active proctype P() { byte a; do :: a = 1; a = 0 od }
         active proctype Q() { byte b; b = 1; b = 2; x = 1 }
         ltl comes { <> (x == 1) } ltl stays { [] (x == 1 -> [] (x == 1)) }",
        &[Verdict::Violated, Verdict::Holds],
        true,
    ),
    (
        "an end that is valid, and one that is not",
        "byte x; active proctype P() { byte a; a = 1; end: x == 2 } active proctype Q() { byte b; b = 1; x = 1; x == 3 }
         ltl comes { <> [] (x == 1) } ltl other { <> (x == 2) }",
        &[Verdict::Holds, Verdict::Violated],
        true,
    ),
    (
        "priorities",
        "byte x; byte y; active proctype P() priority 2 { byte a; a = 1; y == 1; x = 1 }
         active proctype Q() { byte b; b = 1; y = 1; b = 2; y = 2 } active proctype R() { byte c; c = 1; c = 2 }
         ltl late { (y < 2) U (x == 1) } ltl early { (y == 0) U (x == 1) }",
        &[Verdict::Holds, Verdict::Violated],
        true,
    ),
    (
        "processes that are created",
        "byte x; proctype P(byte n) { byte a; a = n; a = 2; x++ } init { byte i; run P(1); i = 1; run P(2); i = 2 }
         ltl comes { <> (x == 2) } ltl three { <> (x == 3) }",
        &[Verdict::Holds, Verdict::Violated],
        true,
    ),
];

#[test]
fn promela_constructs() {
    for (name, text, expected, is_reduced) in PROMELA {
        let model = loaded(text.to_owned(), Language::Promela).unwrap_or_else(|| panic!("{name}"));
        let found = verdicts(&model);
        let (whole, parts): (Vec<Verdict>, Vec<Verdict>) = found.iter().map(|it| (it.0, it.1)).unzip();
        assert_eq!((&whole[..], &parts[..]), (expected, expected), "{name}: {found:?}");
        assert_eq!(found.iter().any(|it| it.3 > 0), is_reduced, "{name}: {found:?}");
    }
}

/// The verifier of SPIN misses the run that violates the claim of the first model with partial order, and finds it without.
#[test]
fn spin_misses_a_remote_reference() {
    let Some(spin) = Spin::find_or_skip("to compare a claim with a remote reference") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("remote.pml");
    std::fs::write(&path, PROMELA[0].1).expect("a file");
    let violates = |directives: &[&str]| spin.violates_runs(&path, directives, &["-a"], Duration::from_secs(60));
    assert!(violates(&[]).expect("an answer"));
    assert!(!violates(&["-UNOREDUCE"]).expect("an answer"));
}
