//! CTL on random graphs: separated formulas, answered with automata, against the fixpoints of CTL.

use quotient_temporal::branching::{CtlOperator, separate};
use quotient_temporal::print::plain;
use quotient_temporal::random::{FormulaShape, Random, random_formula};
use quotient_temporal::{Atom, Automaton, Cube, Formula, Formulas, Node, PathQuantifier, Transition, translate};

const ATOMS: u32 = 2;

/// A graph in which every state has a successor, with the atoms that hold in each state.
struct Graph {
    successors: Vec<Vec<usize>>,
    letters: Vec<u64>,
}

impl Graph {
    fn random(random: &mut Random) -> Self {
        let states = 1 + random.below(6);
        Self {
            successors: (0..states).map(|_| (0..1 + random.below(2)).map(|_| random.below(states)).collect()).collect(),
            letters: (0..states).map(|_| random.number() & 3).collect(),
        }
    }
    /// The paths from a state as an automaton over the atoms below a number.
    fn paths(&self, start: usize, atoms: u32) -> Automaton {
        let all = (1_u64 << atoms) - 1;
        let mut transitions = Vec::new();
        for (from, successors) in self.successors.iter().enumerate() {
            let cube = Cube { positive: self.letters[from], negative: !self.letters[from] & all };
            for to in successors {
                transitions.push(Transition { from: from as u32, to: *to as u32, cube, acceptance: 0 });
            }
        }
        let mut automaton = Automaton {
            atoms: (0..atoms).map(Atom).collect(),
            states: self.successors.len() as u32,
            initial: vec![start as u32],
            acceptance_sets: 0,
            transitions,
        };
        automaton.normalise();
        automaton
    }
    fn states(&self) -> std::ops::Range<usize> {
        0..self.successors.len()
    }
}

fn holds_now(pool: &Formulas, condition: Formula, letter: u64) -> bool {
    match pool.node(condition) {
        Node::True => true,
        Node::False => false,
        Node::Atom(Atom(number)) => letter >> number & 1 == 1,
        Node::Not(a) => !holds_now(pool, *a, letter),
        Node::And(children) => children.iter().all(|child| holds_now(pool, *child, letter)),
        Node::Or(children) => children.iter().any(|child| holds_now(pool, *child, letter)),
        _ => unreachable!("a condition has no temporal operators"),
    }
}

/// The states that satisfy a formula of CTL*: steps from the inside to the outside, each by emptiness of a product.
fn by_automata(pool: &mut Formulas, formula: Formula, graph: &mut Graph) -> Option<Vec<bool>> {
    let separation = separate(pool, formula, Atom(ATOMS)).ok()?;
    for step in &separation.steps {
        let path = match step.quantifier {
            PathQuantifier::Some => step.path,
            PathQuantifier::All => pool.not(step.path),
        };
        let automaton = translate(pool, path).expect("it is small");
        let values: Vec<bool> = graph
            .states()
            .map(|state| {
                let found = !graph.paths(state, step.atom.0).intersection(&automaton).is_empty();
                found == (step.quantifier == PathQuantifier::Some)
            })
            .collect();
        for (letter, value) in graph.letters.iter_mut().zip(values) {
            *letter |= u64::from(value) << step.atom.0;
        }
    }
    Some(graph.letters.iter().map(|letter| holds_now(pool, separation.condition, *letter)).collect())
}

/// The same by the fixpoints of CTL; `None` if the formula is not one of CTL.
fn by_fixpoints(pool: &mut Formulas, formula: Formula, graph: &mut Graph) -> Option<Vec<bool>> {
    let separation = separate(pool, formula, Atom(ATOMS)).ok()?;
    for step in &separation.steps {
        let holds = |condition: Formula| -> Vec<bool> {
            graph.letters.iter().map(|letter| holds_now(pool, condition, *letter)).collect()
        };
        let before = |target: &[bool]| -> Vec<bool> {
            graph
                .successors
                .iter()
                .map(|successors| match step.quantifier {
                    PathQuantifier::All => successors.iter().all(|to| target[*to]),
                    PathQuantifier::Some => successors.iter().any(|to| target[*to]),
                })
                .collect()
        };
        let values = match step.operator {
            CtlOperator::None => return None,
            CtlOperator::Next(a) => before(&holds(a)),
            CtlOperator::Until(a, b) | CtlOperator::Release(a, b) => {
                let until = matches!(step.operator, CtlOperator::Until(..));
                let (a, b) = (holds(a), holds(b));
                let mut current = vec![!until; graph.letters.len()];
                loop {
                    let next = before(&current);
                    let new: Vec<bool> = graph
                        .states()
                        .map(|state| {
                            if until {
                                b[state] || a[state] && next[state]
                            } else {
                                b[state] && (a[state] || next[state])
                            }
                        })
                        .collect();
                    if new == current {
                        break current;
                    }
                    current = new;
                }
            }
        };
        for (letter, value) in graph.letters.iter_mut().zip(values) {
            *letter |= u64::from(value) << step.atom.0;
        }
    }
    Some(graph.letters.iter().map(|letter| holds_now(pool, separation.condition, *letter)).collect())
}

/// A random formula of CTL: each temporal operator right below a path quantifier.
fn random_ctl(pool: &mut Formulas, random: &mut Random, size: usize) -> Formula {
    if size <= 1 {
        return pool.atom(Atom(random.below(ATOMS as usize) as u32));
    }
    let left = 1 + random.below(size - 1);
    let a = random_ctl(pool, random, left.min(size - 1));
    let b = random_ctl(pool, random, size.saturating_sub(left + 1));
    let path = match random.below(9) {
        0 => return pool.not(a),
        1 => return pool.and([a, b]),
        2 => return pool.or([a, b]),
        3 => pool.next(a),
        4 => pool.until(a, b),
        5 => pool.release(a, b),
        6 => pool.eventually(a),
        7 => pool.always(a),
        _ => pool.strong_release(a, b),
    };
    let quantifier = if random.below(2) == 0 { PathQuantifier::All } else { PathQuantifier::Some };
    pool.path(quantifier, path)
}

#[test]
fn automata_agree_with_fixpoints() {
    let mut compared = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let mut pool = Formulas::new();
        let formula = random_ctl(&mut pool, &mut random, 7);
        let graph = Graph::random(&mut random);
        let copies = [(); 2].map(|()| Graph { successors: graph.successors.clone(), letters: graph.letters.clone() });
        let [mut first, mut second] = copies;
        let expected = by_fixpoints(&mut pool, formula, &mut first);
        if expected.is_some() {
            compared += 1;
            assert_eq!(
                by_automata(&mut pool, formula, &mut second),
                expected,
                "seed {seed}, {}",
                plain(&pool, formula)
            );
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn a_formula_of_ctl_star_and_its_negation_exclude_each_other() {
    let mut compared = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut pool = Formulas::new();
        let shape = FormulaShape { paths: true, ..FormulaShape::future(ATOMS as usize, 7) };
        let inner = random_formula(&mut pool, &mut random, &shape);
        let formula = pool.path(PathQuantifier::All, inner);
        let opposite = quotient_temporal::normal::negated(&mut pool, formula);
        let simple = quotient_temporal::simplify(&mut pool, formula);
        let graph = Graph::random(&mut random);
        let copy = || Graph { successors: graph.successors.clone(), letters: graph.letters.clone() };
        let Some(values) = by_automata(&mut pool, formula, &mut copy()) else { continue };
        let text = plain(&pool, formula);
        let negated: Vec<bool> = values.iter().map(|value| !value).collect();
        assert_eq!(by_automata(&mut pool, opposite, &mut copy()), Some(negated), "seed {seed}, {text}");
        assert_eq!(by_automata(&mut pool, simple, &mut copy()), Some(values), "seed {seed}, {text} simplified");
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}
