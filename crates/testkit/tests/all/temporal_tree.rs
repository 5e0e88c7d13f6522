//! CTL and CTL* on random graphs: the engine, and the oracle, which uses neither fixpoints nor automata.
//!
//! Two thousand graphs are tried; `QUOTIENT_RANDOM_GRAPHS` sets another number, and `QUOTIENT_RANDOM_SEED` the first
//! seed.

use std::ops::ControlFlow;

use quotient_graphs::{
    tree::EdgeClasses, tree::Ending, tree::Evidence, tree::FairnessClasses, tree::Graph, tree::GraphBuilder,
    tree::TreeError, tree::TreeOptions, tree::check_tree,
};
use quotient_ir::Fairness;
use quotient_search::StopReason;
use quotient_temporal::print::plain;
use quotient_temporal::random::{FormulaShape, Random, random_formula};
use quotient_temporal::{Atom, Formula, Formulas, Lasso, Letter, Node, PathQuantifier, translate};
use quotient_testkit::random_temporal::random_state_formula;
use quotient_testkit::switches::number_from;
use quotient_testkit::temporal_oracle::{
    Arc, Guarantee, MOST_CLASSES, OracleLimits, Structure, branching, linear, never,
};

const ATOMS: usize = 2;

/// A random graph, as the oracle and as the engine see it, with labels and the class of each edge.
struct RandomGraph {
    structure: Structure,
    letters: Vec<Letter>,
    graph: Graph,
    /// The classes of each edge.
    classes: Vec<[Option<usize>; MOST_CLASSES]>,
}

fn random_graph(random: &mut Random) -> RandomGraph {
    let states = 1 + random.below(8);
    let (degree, classes) = (1 + random.below(3), random.below(4));
    let declared = [Fairness::None, Fairness::None, Fairness::Weak, Fairness::Strong];
    let guarantees =
        (0..classes).map(|_| Guarantee { declared: declared[random.below(4)], on_request: random.below(4) > 0 });
    let guarantees = guarantees.collect();
    let mut structure = Structure { starts: Vec::new(), arcs: Vec::new(), classes: guarantees };
    structure.starts.push(random.below(states));
    if random.below(3) == 0 {
        structure.starts.push(random.below(states));
    }
    let letters: Vec<Letter> = (0..states).map(|_| random.number() & ((1 << ATOMS) - 1)).collect();
    let (mut builder, mut of_edge) = (GraphBuilder::new(ATOMS), Vec::new());
    for (state, letter) in letters.iter().enumerate() {
        let mut arcs = Vec::new();
        for _ in 0..random.below(degree + 2) {
            let mut class = || Some(random.below(classes + 1)).filter(|&class| class < classes);
            let classes = [class(), if class().is_some() { None } else { class() }];
            arcs.push(Arc::new(random.below(states), classes.into_iter().flatten()));
        }
        for arc in &arcs {
            builder.edge(arc.to as u32);
        }
        let ending = if random.below(3) == 0 { Ending::Stops } else { Ending::Stays };
        if builder.end_state(ending).is_some() {
            arcs.push(Arc::new(state, []));
        }
        of_edge.extend(arcs.iter().map(|arc| arc.classes));
        for atom in (0..ATOMS as u32).filter(|atom| letter >> atom & 1 == 1) {
            builder.label(Atom(atom), state as u32);
        }
        structure.arcs.push(arcs);
    }
    for &start in &structure.starts {
        builder.start(start as u32);
    }
    RandomGraph { structure, letters, graph: builder.build(), classes: of_edge }
}

impl RandomGraph {
    /// The classes as the engine sees them.
    fn edge_classes(&self, fairness: Fairness) -> EdgeClasses<'_> {
        let mut combinations: Vec<Vec<u32>> = Vec::new();
        let mut of_edge = Vec::new();
        for classes in &self.classes {
            let combination: Vec<u32> = classes.iter().flatten().map(|&class| class as u32).collect();
            let known = combinations.iter().position(|known| *known == combination);
            of_edge.push(known.unwrap_or(combinations.len()) as u32);
            if known.is_none() {
                combinations.push(combination);
            }
        }
        let strengths = self.structure.classes.iter().map(|class| class.with(fairness)).collect();
        EdgeClasses::new(&self.graph, strengths, combinations, of_edge)
    }
}

/// A structure in which a path leads to its last state in the structure, or around its cycle.
fn along(structure: &Structure, letters: &[Letter], evidence: &Evidence) -> (Structure, Vec<Letter>, usize) {
    let (mut structure, mut letters) = (structure.clone(), letters.to_vec());
    let first = structure.arcs.len();
    for (position, &state) in evidence.path.states.iter().enumerate() {
        let is_last = position + 1 == evidence.path.states.len();
        letters.push(letters[state as usize]);
        structure.arcs.push(match evidence.path.cycle {
            Some(cycle) if is_last => vec![Arc::new(first + cycle, [])],
            None if is_last => structure.arcs[state as usize].clone(),
            _ => vec![Arc::new(first + position + 1, [])],
        });
    }
    (structure, letters, first)
}

fn check_evidence(
    random: &RandomGraph,
    pool: &mut Formulas,
    formula: Formula,
    evidence: &Evidence,
    holds: bool,
    fairness: Fairness,
) {
    let path = &evidence.path;
    let limits = OracleLimits::default();
    // It is a path of the graph, and its cycle is fair.
    assert_eq!(path.edges.len(), path.states.len() - usize::from(path.cycle.is_none()));
    let mut steps = Vec::new();
    for (position, &edge) in path.edges.iter().enumerate() {
        let from = path.states[position];
        let to = path.states.get(position + 1).copied().unwrap_or_else(|| path.states[path.cycle.expect("a cycle")]);
        assert!(random.graph.edges(from).contains(&edge));
        assert_eq!(random.graph.target(edge), to);
        steps.push((from as usize, Arc { to: to as usize, classes: random.classes[edge] }));
    }
    if let Some(cycle) = path.cycle {
        assert!(random.structure.is_fair(&steps[cycle..], fairness));
    }
    // What is left open is true.
    for open in &evidence.open {
        assert_eq!(path.states[open.position], open.state);
        let truth = branching(&random.structure, pool, open.formula, &random.letters, fairness, &limits);
        assert_eq!(truth.expect("a small formula")[open.state as usize], open.holds, "{}", plain(pool, open.formula));
    }
    // If nothing is left open, the path alone shows a formula with one quantifier.
    let Node::Path(quantifier, inner) = *pool.node(formula) else { return };
    if !evidence.open.is_empty() || pool.has_path_quantifier(inner) || pool.is_boolean(inner) {
        return;
    }
    assert_eq!(holds, quantifier == PathQuantifier::Some);
    if let Some(cycle) = path.cycle {
        let word: Vec<Letter> = path.states.iter().map(|&state| random.letters[state as usize]).collect();
        let lasso = Lasso { prefix: word[..cycle].to_vec(), cycle: word[cycle..].to_vec() };
        assert_eq!(lasso.satisfies(pool, inner), holds);
        return;
    }
    // However a finite path is continued, it shows it; and it can be continued.
    let (structure, letters, first) = along(&random.structure, &random.letters, evidence);
    let shown = if holds { inner } else { pool.not(inner) };
    let always = pool.path(PathQuantifier::All, shown);
    let sometimes = pool.path(PathQuantifier::Some, shown);
    for claim in [always, sometimes] {
        let truth = branching(&structure, pool, claim, &letters, fairness, &limits).expect("a small formula");
        assert!(truth[first], "{} is not shown", plain(pool, claim));
    }
}

#[test]
fn the_engine_agrees_with_the_oracle() {
    let (count, first) = (number_from("QUOTIENT_RANDOM_GRAPHS", 2000), number_from("QUOTIENT_RANDOM_SEED", 0));
    let (mut held, mut open, mut cycles) = (0, 0, 0);
    for seed in first..first + count {
        let mut random = Random::new(seed ^ 0x7EEE);
        let graph = random_graph(&mut random);
        let mut pool = Formulas::new();
        let formula = random_state_formula(&mut pool, &mut random, ATOMS);
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            let limits = OracleLimits::default();
            let truth = branching(&graph.structure, &pool, formula, &graph.letters, fairness, &limits);
            let truth = truth.expect("a small graph");
            let expected: Vec<bool> = graph.structure.starts.iter().map(|&start| truth[start]).collect();
            let classes = graph.edge_classes(fairness);
            let is_fair = (0..classes.count() as u32).any(|class| classes.strength(class) != Fairness::None);
            let fairness_classes = (is_fair || seed % 2 == 0).then_some(&classes as &dyn FairnessClasses);
            let options = TreeOptions { fairness: fairness_classes, max_memory: None };
            let answer = check_tree(&graph.graph, &mut pool, formula, &options, &mut || ControlFlow::Continue(()));
            let answer = answer.expect("a small formula");
            let text = plain(&pool, formula);
            assert_eq!(
                answer.holds, expected,
                "seed {seed}: {text} with {fairness:?} on {:?} {:?}",
                graph.structure, graph.letters
            );
            let evidence = answer.evidence.clone().expect("there is a start state");
            let shown = answer.holds_everywhere();
            check_evidence(&graph, &mut pool, formula, &evidence, shown, fairness);
            held += u64::from(shown);
            open += u64::from(!evidence.open.is_empty());
            cycles += u64::from(evidence.path.cycle.is_some());
        }
    }
    // Each sort occurs.
    assert!(count < 1000 || [held, 3 * count - held, open, cycles].iter().all(|&times| times > count / 20));
}

#[test]
fn linear_formulas_agree() {
    let (count, first) = (number_from("QUOTIENT_RANDOM_GRAPHS", 2000), number_from("QUOTIENT_RANDOM_SEED", 0));
    let mut held = 0;
    for seed in first..first + count {
        let mut random = Random::new(seed ^ 0x11EA);
        let graph = random_graph(&mut random);
        let mut pool = Formulas::new();
        let shape = FormulaShape { past: random.below(3) == 0, ..FormulaShape::future(ATOMS, 2 + random.below(8)) };
        let formula = random_formula(&mut pool, &mut random, &shape);
        let quantified = pool.path(PathQuantifier::All, formula);
        let negation = pool.not(formula);
        let automaton = translate(&mut pool, negation).expect("a small formula");
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            let limits = OracleLimits::default();
            let (structure, letters) = (&graph.structure, &graph.letters);
            // Each of these has a second opinion of its own.
            let expected = linear(structure, &pool, formula, letters, fairness, &limits).expect("a small graph");
            let by_automaton = never(structure, &automaton, letters, fairness, &limits).expect("a small graph");
            let classes = graph.edge_classes(fairness);
            let options = TreeOptions { fairness: Some(&classes), ..TreeOptions::default() };
            let answer = check_tree(&graph.graph, &mut pool, quantified, &options, &mut || ControlFlow::Continue(()));
            let text = plain(&pool, formula);
            let context = || format!("seed {seed}: {text} with {fairness:?} on {structure:?} {letters:?}");
            assert_eq!(by_automaton, expected, "{}", context());
            // Without a temporal operator, a formula of LTL is also about states where no run begins.
            if !pool.is_boolean(formula) {
                assert_eq!(answer.expect("a small formula").holds_everywhere(), expected, "{}", context());
            }
            held += u64::from(expected);
        }
    }
    assert!(count < 1000 || (count / 5..count * 3 - count / 5).contains(&held));
}

#[test]
fn limits_are_obeyed() {
    let mut random = Random::new(5);
    let graph = random_graph(&mut random);
    let mut pool = Formulas::new();
    let p = pool.atom(Atom(0));
    let again = pool.always(p);
    let again = pool.eventually(again);
    let formula = pool.path(PathQuantifier::All, again);
    let options = TreeOptions { max_memory: Some(3), ..TreeOptions::default() };
    let answer = check_tree(&graph.graph, &mut pool, formula, &options, &mut || ControlFlow::Continue(()));
    assert_eq!(answer, Err(TreeError::Stopped(StopReason::MemoryLimit(3))));
    let unknown = pool.atom(Atom(7));
    let answer =
        check_tree(&graph.graph, &mut pool, unknown, &TreeOptions::default(), &mut || ControlFlow::Continue(()));
    assert_eq!(answer, Err(TreeError::UnknownAtom(Atom(7))));
    let answer = check_tree(&graph.graph, &mut pool, again, &TreeOptions::default(), &mut || ControlFlow::Continue(()));
    assert!(matches!(answer, Err(TreeError::NotAStateFormula(_))));
}
