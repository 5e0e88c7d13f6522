//! Automata of random LTL formulas beside those of `spin -f` and lbt.
//!
//! No word may be accepted by our automaton of a formula and by the peer's automaton of its negation, nor the other way
//! round. This says that we accept no wrong words; that we accept all right ones is tested on the words that the peer
//! accepts, and on random words with the evaluator.
//!
//! The text of formulas is compared with how SPIN reads its `ltl` blocks, which it prints with all parentheses.
//!
//! `QUOTIENT_RANDOM_FORMULAS` says how many formulas are tried with each peer, `QUOTIENT_RANDOM_SEED` the first seed.

use quotient_temporal::formula::{Atom, Formula, Formulas};
use quotient_temporal::print::{Notation, plain, print};
use quotient_temporal::random::{FormulaShape, Random, random_formula, random_lasso};
use quotient_temporal::syntax::{AtomReader, Binding, Dialect, Quantified, Span, lower, parse};
use quotient_temporal::{Automaton, translate};
use quotient_testkit::automata::{lbt, never};
use quotient_testkit::prerequisites::{Prerequisite, require_or_skip};
use quotient_testkit::switches::number_from;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ATOMS: usize = 3;
/// How long a peer may think about a formula; longer ones are left out.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a program prints; `None` if it takes too long.
fn output(mut command: Command, input: &str) -> Option<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was found before");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("the program reads its input");
    let mut stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let started = Instant::now();
    while child.try_wait().expect("the program can be waited for").is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().expect("the program can be ended");
            child.wait().expect("the program can be waited for");
            return None;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Some(reader.join().expect("reading does not fail").expect("the output is text"))
}

fn installed(program: &str, argument: &str) -> Result<(), String> {
    let started = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    started.map(|_| ()).map_err(|_| format!("`{program}` is not installed"))
}

fn name(Atom(number): Atom) -> String {
    format!("p{number}")
}

fn by_spin(pool: &Formulas, formula: Formula) -> Option<Automaton> {
    let mut command = Command::new("spin");
    command.arg("-f").arg(print(pool, formula, Notation::Spin, &name));
    let text = output(command, "")?;
    let names: Vec<String> = (0..ATOMS as u32).map(|number| name(Atom(number))).collect();
    Some(never::read(&text, &names).unwrap_or_else(|error| panic!("{error} in\n{text}")))
}

fn by_lbt(pool: &Formulas, formula: Formula) -> Option<Automaton> {
    let text = output(Command::new("lbt"), &print(pool, formula, Notation::Lbt, &name))?;
    Some(lbt::read(&text).unwrap_or_else(|error| panic!("{error} in\n{text}")))
}

fn compare(peer: &str, shape: &FormulaShape, automaton_of: &dyn Fn(&Formulas, Formula) -> Option<Automaton>) {
    let count = number_from("QUOTIENT_RANDOM_FORMULAS", 250);
    let first_seed = number_from("QUOTIENT_RANDOM_SEED", 0);
    let mut compared = 0;
    for seed in first_seed..first_seed + count {
        let mut random = Random::new(seed);
        let mut pool = Formulas::new();
        let shape = FormulaShape { size: 3 + random.below(shape.size - 2), ..shape.clone() };
        let formula = random_formula(&mut pool, &mut random, &shape);
        let opposite = pool.not(formula);
        let (Some(theirs), Some(their_opposite)) = (automaton_of(&pool, formula), automaton_of(&pool, opposite)) else {
            continue;
        };
        let text = plain(&pool, formula);
        let context = format!("seed {seed}, {text}, {peer}");
        let ours = translate(&mut pool, formula).unwrap_or_else(|error| panic!("{error}: {context}"));
        let our_opposite = translate(&mut pool, opposite).unwrap_or_else(|error| panic!("{error}: {context}"));
        if let Some(word) = ours.intersection(&their_opposite).accepted_word() {
            panic!("{context}: we accept {word:?}, which the peer says violates it");
        }
        if let Some(word) = our_opposite.intersection(&theirs).accepted_word() {
            panic!("{context}: we reject {word:?}, which the peer says satisfies it");
        }
        let mut words: Vec<_> = (0..5).map(|_| random_lasso(&mut random, ATOMS)).collect();
        words.extend(theirs.accepted_word());
        words.extend(their_opposite.accepted_word());
        for word in words {
            let expected = word.satisfies(&pool, formula);
            assert_eq!(theirs.accepts(&word), expected, "{context}: the peer is wrong about {word:?}");
            assert_eq!(ours.accepts(&word), expected, "{context}: {word:?}");
            assert_eq!(our_opposite.accepts(&word), !expected, "{context}: {word:?}");
        }
        compared += 1;
    }
    assert!(compared * 10 >= count * 9, "only {compared} of {count} formulas were compared");
}

#[test]
fn automata_agree_with_spin() {
    let found = installed("spin", "-V");
    if require_or_skip(Prerequisite::Peer, "automata of spin -f", found).is_some() {
        // SPIN as distributed has no X on its command line.
        let shape = FormulaShape { next: false, ..FormulaShape::future(ATOMS, 9) };
        compare("spin", &shape, &by_spin);
    }
}

#[test]
fn automata_agree_with_lbt() {
    let found = installed("lbt", "--version");
    if require_or_skip(Prerequisite::Peer, "automata of lbt", found).is_some() {
        compare("lbt", &FormulaShape::future(ATOMS, 10), &by_lbt);
    }
}

/// Atoms by their text without spaces and parentheses, which SPIN writes as it likes.
struct Texts<'a> {
    text: &'a str,
    names: &'a mut Vec<String>,
}

impl AtomReader for Texts<'_> {
    type Error = String;
    fn atom(&mut self, pool: &mut Formulas, span: Span, _: &[Binding]) -> Result<Formula, String> {
        let name: String = span.of(self.text).chars().filter(|c| !" ()".contains(*c)).collect();
        let number = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        Ok(pool.atom(Atom(number as u32)))
    }
    fn domain_size(&mut self, _: &Quantified, _: &[Binding]) -> Result<usize, String> {
        Err("there are no quantifiers".into())
    }
}

/// A random formula with few parentheses.
fn random_text(random: &mut Random, size: usize) -> String {
    if size <= 1 {
        let atoms = ["p", "q", "x == 3", "x + 1 > y", "(x + 1) * 2 <= y", "a[x] != 2", "len(c) > 0", "m@here", "x & 1"];
        return atoms[random.below(atoms.len())].into();
    }
    match random.below(5) {
        0 => {
            let operators = ["!", "! !", "[]", "<>", "always", "eventually", "[] <>"];
            let operator = operators[random.below(operators.len())];
            let operand = random_text(random, size - 1);
            // SPIN reads `[] x == 3` as `([] x) == 3` and compares the number of a token with 3.
            if operator.starts_with('!') || ["p", "q"].contains(&operand.as_str()) {
                format!("{operator} {operand}")
            } else {
                format!("{operator} ({operand})")
            }
        }
        1 => format!("({})", random_text(random, size - 1)),
        _ => {
            let operators =
                ["U", "V", "&&", "||", "->", "<->", "until", "stronguntil", "release", "implies", "equivalent"];
            let left = 1 + random.below(size - 1);
            let (a, b) = (random_text(random, left), random_text(random, size - left));
            format!("{a} {} {b}", operators[random.below(operators.len())])
        }
    }
}

#[test]
fn formulas_are_read_as_spin_reads_them() {
    let found = installed("spin", "-V");
    if require_or_skip(Prerequisite::Peer, "ltl blocks of spin", found).is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 0..number_from("QUOTIENT_RANDOM_FORMULAS", 250) {
        let mut random = Random::new(seed);
        let size = 2 + random.below(7);
        let text = random_text(&mut random, size);
        let model = format!(
            "int x, y; bool p, q; byte a[4]; chan c = [2] of {{ byte }};\nltl formula {{ {text} }}\n\
             active proctype m() {{ here: x = 3 }}\n"
        );
        let path = folder.path().join("model.pml");
        std::fs::write(&path, model).expect("the folder can be written");
        let mut command = Command::new("spin");
        command.arg("-u0").arg(&path).current_dir(folder.path());
        // A simulation without steps prints the formula and ends.
        let Some(printed) = output(command, "") else { continue };
        let theirs = printed
            .lines()
            .find_map(|line| line.strip_prefix("ltl formula: "))
            .unwrap_or_else(|| panic!("seed {seed}, {text}: spin says\n{printed}"));
        let mut pool = Formulas::new();
        let mut names = Vec::new();
        let mut formula = |text: &str| {
            let tree = parse(text, &Dialect::promela()).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
            lower(&tree, &mut pool, &mut Texts { text, names: &mut names }).expect("all atoms are read")
        };
        let (ours, spins) = (formula(&text), formula(theirs));
        assert_eq!(ours, spins, "seed {seed}: {text} is for spin {theirs}, for us {}", plain(&pool, ours));
    }
}
