//! Formulas and their automata on words: all small formulas on all short words, and random ones.
//!
//! `QUOTIENT_RANDOM_FORMULAS` says how many random formulas are tried, `QUOTIENT_RANDOM_SEED` the first seed.

use quotient_temporal::print::plain;
use quotient_temporal::random::{FormulaShape, Random, random_formula, random_lasso};
use quotient_temporal::reduce::{reduce, reduce_state_based};
use quotient_temporal::{
    Atom, Formula, Formulas, Lasso, Letter, TranslationError, TranslationOptions, simplify, translate, translate_with,
};

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not `{text}`")),
        Err(_) => otherwise,
    }
}

/// All formulas with a number of operators and leaves, up to what constructors fold.
fn formulas_of_size(pool: &mut Formulas, smaller: &[Vec<Formula>], size: usize) -> Vec<Formula> {
    if size == 1 {
        return vec![pool.atom(Atom(0)), pool.atom(Atom(1))];
    }
    let mut all = Vec::new();
    for a in smaller[size - 1].clone() {
        let unary: [fn(&mut Formulas, Formula) -> Formula; 8] = [
            Formulas::not,
            Formulas::next,
            Formulas::eventually,
            Formulas::always,
            Formulas::yesterday,
            Formulas::weak_yesterday,
            Formulas::once,
            Formulas::historically,
        ];
        all.extend(unary.map(|operator| operator(pool, a)));
    }
    for left in 1..size.saturating_sub(1) {
        for a in smaller[left].clone() {
            for b in smaller[size - 1 - left].clone() {
                all.extend([pool.and([a, b]), pool.or([a, b])]);
                let binary: [fn(&mut Formulas, Formula, Formula) -> Formula; 6] = [
                    Formulas::until,
                    Formulas::release,
                    Formulas::weak_until,
                    Formulas::strong_release,
                    Formulas::since,
                    Formulas::triggered,
                ];
                all.extend(binary.map(|operator| operator(pool, a, b)));
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// All words over two atoms with a prefix and a cycle of at most these lengths.
fn all_words(prefix: u32, cycle: u32) -> Vec<Lasso> {
    let sequences = |length: u32| {
        (0..4_u64.pow(length))
            .map(move |code| (0..length).map(|place| code >> (2 * place) & 3).collect::<Vec<Letter>>())
    };
    let mut words = Vec::new();
    for before in (0..=prefix).flat_map(sequences) {
        for after in (1..=cycle).flat_map(sequences) {
            words.push(Lasso { prefix: before.clone(), cycle: after });
        }
    }
    words
}

#[test]
fn all_small_formulas_on_all_short_words() {
    let mut pool = Formulas::new();
    let words = all_words(1, 2);
    let mut smaller: Vec<Vec<Formula>> = vec![Vec::new()];
    let mut checked = 0;
    for size in 1..=5 {
        let formulas = formulas_of_size(&mut pool, &smaller, size);
        for formula in &formulas {
            let text = plain(&pool, *formula);
            let automaton = translate(&mut pool, *formula).expect("it is small");
            for word in &words {
                let expected = word.satisfies(&pool, *formula);
                assert_eq!(automaton.accepts(word), expected, "{text} on {word:?}");
            }
            checked += 1;
        }
        smaller.push(formulas);
    }
    assert!(checked > 15_000, "{checked}");
}

/// The value of a formula at a position of a word, by the definition of each operator: positions are tried one after the
/// other, far enough that everything has repeated.
fn value_by_definition(pool: &Formulas, formula: Formula, word: &Lasso, position: usize, horizon: usize) -> bool {
    use quotient_temporal::Node;
    let at = |formula: &Formula, position: usize| value_by_definition(pool, *formula, word, position, horizon);
    let later = position..position + horizon;
    match pool.node(formula) {
        Node::True => true,
        Node::False => false,
        Node::Atom(Atom(number)) => word.letter(position) >> number & 1 == 1,
        Node::Not(a) => !at(a, position),
        Node::And(children) => children.iter().all(|child| at(child, position)),
        Node::Or(children) => children.iter().any(|child| at(child, position)),
        Node::Next(a) => at(a, position + 1),
        Node::Until(a, b) => later.clone().any(|end| at(b, end) && (position..end).all(|before| at(a, before))),
        Node::Release(a, b) => later.clone().all(|end| at(b, end) || (position..end).any(|before| at(a, before))),
        Node::Yesterday(a) => position > 0 && at(a, position - 1),
        Node::WeakYesterday(a) => position == 0 || at(a, position - 1),
        Node::Since(a, b) => {
            (0..=position).any(|start| at(b, start) && (start + 1..=position).all(|after| at(a, after)))
        }
        Node::Triggered(a, b) => {
            (0..=position).all(|start| at(b, start) || (start + 1..=position).any(|after| at(a, after)))
        }
        Node::Path(..) => unreachable!("only LTL is evaluated"),
    }
}

/// The evaluator is the oracle of everything else, so it has one of its own.
#[test]
fn the_evaluator_follows_the_definitions() {
    let mut pool = Formulas::new();
    let words = all_words(1, 2);
    let mut smaller: Vec<Vec<Formula>> = vec![Vec::new()];
    for size in 1..=4 {
        let formulas = formulas_of_size(&mut pool, &smaller, size);
        for formula in &formulas {
            for word in &words {
                // At most three nested operators, each of which the values need a turn of the cycle to repeat for.
                let expected = value_by_definition(&pool, *formula, word, 0, 9);
                assert_eq!(word.satisfies(&pool, *formula), expected, "{} on {word:?}", plain(&pool, *formula));
            }
        }
        smaller.push(formulas);
    }
}

#[test]
fn random_formulas_on_random_words() {
    let count = number("QUOTIENT_RANDOM_FORMULAS", 600);
    let first_seed = number("QUOTIENT_RANDOM_SEED", 0);
    for seed in first_seed..first_seed + count {
        let mut random = Random::new(seed);
        let mut pool = Formulas::new();
        let (past, size) = (random.below(2) == 0, 3 + random.below(9));
        let shape = FormulaShape { past, ..FormulaShape::future(3, size) };
        let formula = random_formula(&mut pool, &mut random, &shape);
        let text = format!("seed {seed}, {}", plain(&pool, formula));
        let raw = TranslationOptions { simplify: false, reduce: false, ..TranslationOptions::default() };
        let raw = match translate_with(&mut pool, formula, &raw) {
            Ok(raw) => Some(raw),
            Err(TranslationError::TooLarge) => None,
            Err(error) => panic!("{error}: {text}"),
        };
        let simple = simplify(&mut pool, formula);
        let reduced = translate(&mut pool, formula).unwrap_or_else(|error| panic!("{error}: {text}"));
        let buchi = reduce(&reduced.degeneralised());
        let states = reduce_state_based(&reduced.state_based());
        for _ in 0..10 {
            let word = random_lasso(&mut random, 3);
            let expected = word.satisfies(&pool, formula);
            let context = || format!("{text} on {word:?}");
            assert_eq!(word.satisfies(&pool, simple), expected, "{}, simplified", context());
            assert!(raw.as_ref().is_none_or(|raw| raw.accepts(&word) == expected), "{}, raw", context());
            assert_eq!(reduced.accepts(&word), expected, "{}, reduced", context());
            assert_eq!(buchi.accepts(&word), expected, "{}, one set", context());
            assert_eq!(states.accepts(&word), expected, "{}, accepting states", context());
        }
    }
}
