//! Temporal formulas of B machines mean what they mean in ProB: random graphs as machines, random formulas in ProB's
//! notation, and their values by definition: LTL on all short maximal paths, finite ones included, CTL by fixpoints. The
//! formula that the front end makes is decided by the brute-force oracle, on the model with its root and its repeated last
//! states.

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{Fairness, Source};
use quotient_temporal::{Atom, Formula, Formulas, Lasso};
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::temporal_oracle::{OracleLimits, Silence, judge};

/// The longest path that is looked at.
const LONGEST: usize = 8;
const LABELS: [&str; 4] = ["a", "b", "c(0)", "c(1)"];

/// A graph with labelled edges.
#[derive(Clone, Debug)]
struct Graph {
    states: usize,
    starts: Vec<usize>,
    /// From, label, to.
    edges: Vec<(usize, usize, usize)>,
}

impl Graph {
    fn random(random: &mut Random) -> Self {
        let states = 1 + random.below(4);
        let mut starts: Vec<usize> = (0..states).filter(|_| random.percent(40)).collect();
        if starts.is_empty() {
            starts.push(0);
        }
        let count = random.below(2 * states + 2);
        let mut edges: Vec<(usize, usize, usize)> =
            (0..count).map(|_| (random.below(states), random.below(LABELS.len()), random.below(states))).collect();
        edges.sort_unstable();
        edges.dedup();
        Self { states, starts, edges }
    }
    fn leaving(&self, state: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.edges.iter().filter(move |edge| edge.0 == state).map(|&(_, label, to)| (label, to))
    }
    /// The machine with this graph. Some have constants, so that there is one more stage before the first state.
    fn machine(&self, definition: &str, random: &mut Random) -> String {
        let branches = |labels: &[usize]| -> String {
            let edges = self.edges.iter().filter(|edge| labels.contains(&edge.1));
            let branches: Vec<String> = edges
                .map(|&(from, label, to)| {
                    let parameter =
                        if labels.len() > 1 { format!(" & p = {}", label - labels[0]) } else { String::new() };
                    format!("x = {from}{parameter} THEN x := {to}")
                })
                .collect();
            if branches.is_empty() { "1 = 2 THEN skip".to_owned() } else { branches.join(" WHEN ") }
        };
        let starts: Vec<String> = self.starts.iter().map(ToString::to_string).collect();
        let constants = if random.percent(40) { "CONSTANTS k PROPERTIES k : 5..6\n" } else { "" };
        // A condition after a first assignment is one on an intermediate value.
        let late = if random.percent(30) {
            format!("b = BEGIN skip ; x := x + 10 ; SELECT {} END END", branches(&[1]).replace("x = ", "x = 10 + "))
        } else {
            format!("b = SELECT {} END", branches(&[1]))
        };
        format!(
            "MACHINE M\nDEFINITIONS {definition}\n{constants}VARIABLES x\nINVARIANT x : 0..20\nINITIALISATION x :: {{{}}}\n\
             OPERATIONS\n a = SELECT {} END;\n {late};\n c(p) = PRE p : 0..1 THEN SELECT {} END END\nEND\n",
            starts.join(", "),
            branches(&[0]),
            branches(&[2, 3]),
        )
    }
}

/// An atom: its text, and its value in a state with a next step, if there is one.
type Value = fn(&Graph, usize, Option<usize>) -> bool;

const STATE_ATOMS: [(&str, Value); 8] = [
    ("{x = 0}", |_, state, _| state == 0),
    ("{x > 1}", |_, state, _| state > 1),
    ("e(a)", |graph, state, _| graph.leaving(state).any(|(label, _)| label == 0)),
    ("e(b)", |graph, state, _| graph.leaving(state).any(|(label, _)| label == 1)),
    ("e(c(1))", |graph, state, _| graph.leaving(state).any(|(label, _)| label == 3)),
    ("deadlock", |graph, state, _| graph.leaving(state).next().is_none()),
    ("deadlock(a, c)", |graph, state, _| graph.leaving(state).all(|(label, _)| label == 1)),
    ("controller(a, b, c)", |graph, state, _| {
        let enabled = |labels: &[usize]| graph.leaving(state).any(|(label, _)| labels.contains(&label));
        [enabled(&[0]), enabled(&[1]), enabled(&[2, 3])].into_iter().filter(|it| *it).count() == 1
    }),
];
const STEP_ATOMS: [(&str, Value); 4] = [
    ("[a]", |_, _, next| next == Some(0)),
    ("[b]", |_, _, next| next == Some(1)),
    ("[c]", |_, _, next| matches!(next, Some(2 | 3))),
    ("[c(1)]", |_, _, next| next == Some(3)),
];

fn atoms() -> Vec<(&'static str, Value)> {
    STATE_ATOMS.iter().chain(&STEP_ATOMS).copied().collect()
}

#[derive(Clone, Debug)]
enum Linear {
    Constant(bool),
    Atom(usize),
    Unary(&'static str, Box<Linear>),
    Binary(&'static str, Box<Linear>, Box<Linear>),
}

impl Linear {
    fn random(random: &mut Random, size: usize, past: bool) -> Self {
        if size == 0 || random.percent(12) {
            return if random.percent(8) {
                Self::Constant(random.percent(50))
            } else {
                Self::Atom(random.below(atoms().len()))
            };
        }
        let unary = if past { &["not", "X", "G", "F", "Y", "H", "O"][..] } else { &["not", "X", "G", "F"][..] };
        let binary =
            if past { &["&", "or", "=>", "U", "W", "R", "S", "T"][..] } else { &["&", "or", "=>", "U", "W", "R"][..] };
        if random.percent(55) {
            Self::Unary(random.pick::<&'static str>(unary), Box::new(Self::random(random, size - 1, past)))
        } else {
            let left = random.below(size);
            let (left, right) = (Self::random(random, left, past), Self::random(random, size - 1 - left, past));
            Self::Binary(random.pick::<&'static str>(binary), Box::new(left), Box::new(right))
        }
    }
    fn text(&self) -> String {
        match self {
            Self::Constant(value) => value.to_string(),
            Self::Atom(atom) => atoms()[*atom].0.to_owned(),
            Self::Unary(operator, operand) => format!("{operator}({})", operand.text()),
            Self::Binary(operator, left, right) => format!("(({}) {operator} ({}))", left.text(), right.text()),
        }
    }
    /// The formula for infinite words.
    fn formula(&self, pool: &mut Formulas) -> Formula {
        match self {
            Self::Constant(value) => pool.constant(*value),
            Self::Atom(atom) => pool.atom(Atom(*atom as u32)),
            Self::Unary(operator, operand) => {
                let operand = operand.formula(pool);
                match *operator {
                    "not" => pool.not(operand),
                    "X" => pool.next(operand),
                    "G" => pool.always(operand),
                    "F" => pool.eventually(operand),
                    "Y" => pool.yesterday(operand),
                    "H" => pool.historically(operand),
                    _ => pool.once(operand),
                }
            }
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.formula(pool), right.formula(pool));
                match *operator {
                    "&" => pool.and([left, right]),
                    "or" => pool.or([left, right]),
                    "=>" => pool.implies(left, right),
                    "U" => pool.until(left, right),
                    "W" => pool.weak_until(left, right),
                    "R" => pool.release(left, right),
                    "S" => pool.since(left, right),
                    _ => pool.triggered(left, right),
                }
            }
        }
    }
    /// The values at all positions of a finite path.
    fn values(&self, letters: &[u64]) -> Vec<bool> {
        let positions = 0..letters.len();
        match self {
            Self::Constant(value) => vec![*value; letters.len()],
            Self::Atom(atom) => letters.iter().map(|letter| letter >> atom & 1 == 1).collect(),
            Self::Unary(operator, operand) => {
                let inner = operand.values(letters);
                let value = |at: usize| match *operator {
                    "not" => !inner[at],
                    "X" => inner.get(at + 1).copied().unwrap_or(false),
                    "G" => inner[at..].iter().all(|it| *it),
                    "F" => inner[at..].iter().any(|it| *it),
                    "Y" => at > 0 && inner[at - 1],
                    "H" => inner[..=at].iter().all(|it| *it),
                    _ => inner[..=at].iter().any(|it| *it),
                };
                positions.map(value).collect()
            }
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.values(letters), right.values(letters));
                let until = |a: &[bool], b: &[bool]| (0..b.len()).any(|at| b[at] && a[..at].iter().all(|it| *it));
                let not = |values: &[bool]| -> Vec<bool> { values.iter().map(|it| !it).collect() };
                let backwards = |values: &[bool]| -> Vec<bool> { values.iter().rev().copied().collect() };
                let value = |at: usize| match *operator {
                    "&" => left[at] && right[at],
                    "or" => left[at] || right[at],
                    "=>" => !left[at] || right[at],
                    "U" => until(&left[at..], &right[at..]),
                    "W" => until(&left[at..], &right[at..]) || left[at..].iter().all(|it| *it),
                    "R" => !until(&not(&left[at..]), &not(&right[at..])),
                    "S" => until(&backwards(&left[..=at]), &backwards(&right[..=at])),
                    _ => !until(&not(&backwards(&left[..=at])), &not(&backwards(&right[..=at]))),
                };
                positions.map(value).collect()
            }
        }
    }
}

/// Calls `visit` with every short maximal path: its letters, and where it goes back to if it is infinite.
fn paths(graph: &Graph, visit: &mut dyn FnMut(&[u64], Option<usize>)) {
    let all = atoms();
    let letter = |state: usize, next: Option<usize>| {
        all.iter().enumerate().filter(|(_, (_, value))| value(graph, state, next)).map(|(bit, _)| 1 << bit).sum::<u64>()
    };
    fn extend(
        graph: &Graph,
        letter: &dyn Fn(usize, Option<usize>) -> u64,
        states: &mut Vec<usize>,
        letters: &mut Vec<u64>,
        visit: &mut dyn FnMut(&[u64], Option<usize>),
    ) {
        let here = *states.last().expect("a path has a state");
        if graph.leaving(here).next().is_none() {
            letters.push(letter(here, None));
            visit(letters, None);
            letters.pop();
            return;
        }
        for (label, to) in graph.leaving(here) {
            letters.push(letter(here, Some(label)));
            for (position, _) in states.iter().enumerate().filter(|(_, state)| **state == to) {
                visit(letters, Some(position));
            }
            if states.len() < LONGEST {
                states.push(to);
                extend(graph, letter, states, letters, visit);
                states.pop();
            }
            letters.pop();
        }
    }
    for &start in &graph.starts {
        extend(graph, &letter, &mut vec![start], &mut Vec::new(), visit);
    }
}

fn holds_on_paths(graph: &Graph, formula: &Linear) -> bool {
    let mut pool = Formulas::new();
    let infinite = formula.formula(&mut pool);
    let mut holds = true;
    paths(graph, &mut |letters, back| {
        holds &= match back {
            None => formula.values(letters)[0],
            Some(back) => {
                let lasso = Lasso { prefix: letters[..back].to_vec(), cycle: letters[back..].to_vec() };
                lasso.satisfies(&pool, infinite)
            }
        };
    });
    holds
}

#[derive(Clone, Debug)]
enum Branching {
    Atom(usize),
    Unary(&'static str, Box<Branching>),
    Binary(&'static str, Box<Branching>, Box<Branching>),
    /// `EX[op] f`.
    Step(usize, Box<Branching>),
}

impl Branching {
    fn random(random: &mut Random, size: usize) -> Self {
        if size == 0 || random.percent(10) {
            return Self::Atom(random.below(STATE_ATOMS.len()));
        }
        match random.below(10) {
            0..=5 => {
                let operators = ["not", "EX", "AX", "EF", "AF", "EG", "AG"];
                Self::Unary(random.pick::<&'static str>(&operators), Box::new(Self::random(random, size - 1)))
            }
            6 => Self::Step(random.below(STEP_ATOMS.len()), Box::new(Self::random(random, size - 1))),
            _ => {
                let left = random.below(size);
                let (left, right) = (Self::random(random, left), Self::random(random, size - 1 - left));
                Self::Binary(random.pick::<&'static str>(&["&", "or", "=>", "U"]), Box::new(left), Box::new(right))
            }
        }
    }
    fn text(&self) -> String {
        match self {
            Self::Atom(atom) => STATE_ATOMS[*atom].0.to_owned(),
            Self::Unary(operator, operand) => format!("{operator}({})", operand.text()),
            Self::Binary("U", left, right) => format!("(E (({}) U ({})))", left.text(), right.text()),
            Self::Binary(operator, left, right) => format!("(({}) {operator} ({}))", left.text(), right.text()),
            Self::Step(step, operand) => format!("(EX{} ({}))", STEP_ATOMS[*step].0, operand.text()),
        }
    }
    fn values(&self, graph: &Graph) -> Vec<bool> {
        let all = 0..graph.states;
        let next = |truth: &[bool]| -> Vec<bool> {
            (0..graph.states).map(|state| graph.leaving(state).any(|(_, to)| truth[to])).collect()
        };
        let not = |truth: &[bool]| -> Vec<bool> { truth.iter().map(|it| !it).collect() };
        let until = |a: &[bool], b: &[bool]| -> Vec<bool> {
            let mut truth = b.to_vec();
            for _ in 0..graph.states {
                let later = next(&truth);
                truth = (0..graph.states).map(|state| b[state] || a[state] && later[state]).collect();
            }
            truth
        };
        // On some maximal path, also one that ends.
        let globally = |a: &[bool]| -> Vec<bool> {
            let mut truth = a.to_vec();
            for _ in 0..graph.states {
                let later = next(&truth);
                truth = (0..graph.states)
                    .map(|state| a[state] && (later[state] || graph.leaving(state).next().is_none()))
                    .collect();
            }
            truth
        };
        match self {
            Self::Atom(atom) => all.map(|state| STATE_ATOMS[*atom].1(graph, state, None)).collect(),
            Self::Unary(operator, operand) => {
                let inner = operand.values(graph);
                match *operator {
                    "not" => not(&inner),
                    "EX" => next(&inner),
                    "AX" => not(&next(&not(&inner))),
                    "EF" => until(&vec![true; graph.states], &inner),
                    "AF" => not(&globally(&not(&inner))),
                    "EG" => globally(&inner),
                    _ => not(&until(&vec![true; graph.states], &not(&inner))),
                }
            }
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.values(graph), right.values(graph));
                match *operator {
                    "&" => all.map(|state| left[state] && right[state]).collect(),
                    "or" => all.map(|state| left[state] || right[state]).collect(),
                    "=>" => all.map(|state| !left[state] || right[state]).collect(),
                    _ => until(&left, &right),
                }
            }
            Self::Step(step, operand) => {
                let inner = operand.values(graph);
                all.map(|state| {
                    graph.leaving(state).any(|(label, to)| STEP_ATOMS[*step].1(graph, state, Some(label)) && inner[to])
                })
                .collect()
            }
        }
    }
}

/// What the front end and the oracle say about the only formula of a machine.
fn decided(text: &str, extra_nodes: bool) -> Result<bool, Silence> {
    let options = LoadOptions { extra_nodes, ..LoadOptions::default() };
    let loaded = load(Source::new("test.mch", text), Language::B, &options);
    let model = loaded.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}")).model;
    let limits = OracleLimits { lassos: 0, nodes: 20_000, ..OracleLimits::default() };
    let judged = judge(&model, Fairness::None, &limits)?;
    assert_eq!(judged.len(), 1, "{text}");
    Ok(judged[0].holds)
}

fn count(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// The machines with which ProB tests its own LTL checker; all their formulas hold.
#[test]
fn formulas_that_prob_tests_hold() {
    let Some(folder) = corpus("b", "temporal formulas of ProB's own tests") else { return };
    for (name, number) in [("LTL_1State", 12), ("LTL_4States", 194)] {
        let text = std::fs::read_to_string(folder.join(format!("B/LTL/Tests/{name}.mch"))).expect("it can be read");
        let model = load(Source::new(name, text), Language::B, &LoadOptions::default()).expect("it is read").model;
        let limits = OracleLimits { lassos: 0, nodes: 1_000_000, ..OracleLimits::default() };
        let judged = judge(&model, Fairness::None, &limits).expect("it is small");
        assert_eq!(judged.len(), number);
        for it in judged {
            assert!(it.holds, "{name}: {:?}", model.properties[it.property].name);
        }
    }
}

/// A machine whose author noted the answers of ProB.
#[test]
fn formulas_with_noted_answers() {
    let Some(folder) = corpus("b", "temporal formulas with answers of ProB") else { return };
    let path = folder.join("B/Ivo/BenchmarksPOR/other/Cruise_finite1.mch");
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("it can be read")).into_owned();
    let noted = [
        ("N1", "G (e(SetCruiseSpeed) => e(CruiseBecomesNotAllowed))", true),
        ("N2", "G (e(CruiseBecomesNotAllowed) => e(SetCruiseSpeed))", true),
        ("N3", "G (e(CruiseBecomesNotAllowed) => e(ObstacleDisappears))", false),
        ("N4", "G (e(CruiseBecomesAllowed) => X e(SetCruiseSpeed))", false),
        ("N5", "G ([CruiseBecomesAllowed] => X e(SetCruiseSpeed))", true),
        ("N6", "G( e(CruiseOff) => Y O [SetCruiseSpeed])", true),
        ("N7", "G( e(CruiseOff) => O [CruiseBecomesNotAllowed])", false),
    ];
    let definitions: String =
        noted.iter().map(|(name, text, _)| format!("ASSERT_LTL_{name} == \"{text}\";\n")).collect();
    let text = text.replacen("ASSERT_LTL ==", &format!("{definitions}ASSERT_LTL ==\n"), 1);
    let model = load(Source::new("Cruise_finite1.mch", text), Language::B, &LoadOptions::default());
    let model = quotient::Model::new(model.expect("it is read").model).expect("a model");
    let options = quotient::Options { deadlock: Some(quotient_ir::DeadlockMode::Off), ..quotient::Options::default() };
    let plan = quotient::Plan::new(&model, &options).expect("it can be checked");
    let report = plan.run_with(&quotient::Control::default(), &mut quotient::Silent).expect("a report");
    for (name, formula, holds) in noted {
        let found = report.properties.iter().find(|it| match it.subject {
            quotient::Subject::Property(id) => {
                model.ir().properties[id].name.as_deref() == Some(&format!("ASSERT_LTL_{name}"))
            }
            _ => false,
        });
        let expected = if holds { quotient::Verdict::Holds } else { quotient::Verdict::Violated };
        assert_eq!(found.map(|it| it.verdict), Some(expected), "{formula}");
    }
}

#[test]
fn linear_formulas_mean_what_they_mean_in_prob() {
    let number = count("QUOTIENT_RANDOM_FORMULAS", 400);
    let (mut violated, mut holds, mut silent) = (0, 0, 0);
    for seed in 0..number {
        let mut random = Random::new(seed);
        let graph = Graph::random(&mut random);
        let size = 1 + random.below(5);
        let past = random.percent(40);
        let formula = Linear::random(&mut random, size, past);
        let text = graph.machine(&format!("ASSERT_LTL == \"{}\"", formula.text()), &mut random);
        let by_definition = holds_on_paths(&graph, &formula);
        match decided(&text, random.percent(70)) {
            // A violating path may be longer than those looked at, but not here.
            Ok(found) => assert_eq!(found, by_definition, "seed {seed}: {}\n{text}", formula.text()),
            Err(_) => silent += 1,
        }
        if by_definition { holds += 1 } else { violated += 1 }
    }
    assert!(silent * 4 < number && holds * 8 > number && violated * 8 > number, "{holds} {violated} {silent}");
}

#[test]
fn branching_formulas_mean_what_they_mean_in_prob() {
    let number = count("QUOTIENT_RANDOM_FORMULAS", 400);
    let mut silent = 0;
    for seed in 0..number {
        let mut random = Random::new(seed ^ 0xc71);
        let graph = Graph::random(&mut random);
        let size = 1 + random.below(5);
        let formula = Branching::random(&mut random, size);
        let text = graph.machine(&format!("ASSERT_CTL == \"{}\"", formula.text()), &mut random);
        let truth = formula.values(&graph);
        let by_definition = graph.starts.iter().all(|&start| truth[start]);
        match decided(&text, random.percent(70)) {
            Ok(found) => assert_eq!(found, by_definition, "seed {seed}: {}\n{text}", formula.text()),
            Err(_) => silent += 1,
        }
    }
    assert!(silent * 4 < number, "{silent}");
}
