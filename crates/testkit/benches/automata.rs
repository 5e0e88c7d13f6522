//! Sizes of automata of well-known formulas, beside `spin -f` and lbt.
//!
//! `cargo bench -p quotient-testkit --bench automata`
//!
//! Prints a table in Markdown. "states, transitions, sets" is our automaton with acceptance sets on transitions, "Büchi" the
//! same with accepting states, as SPIN has them; lbt has acceptance sets of states. Transitions are counted as each tool
//! writes them: ours have cubes as labels, those of the others any condition. It is an error if a
//! peer accepts a word that our automaton of the negated formula accepts, or if we accept one that lbt's automaton of the
//! negated formula accepts. A dash is a peer that is not installed, does not know an operator, or takes more than ten seconds.

#![allow(clippy::print_stdout)]

use quotient_temporal::print::{Notation, print};
use quotient_temporal::reduce::reduce_state_based;
use quotient_temporal::syntax::{AtomTable, Dialect};
use quotient_temporal::{Atom, Automaton, Formula, Formulas, translate};
use quotient_testkit::automata::{lbt, never};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The formulas of Etessami and Holzmann, Optimizing Büchi automata (2000).
const ETESSAMI_HOLZMANN: &[&str] = &[
    "p U (q & G r)",
    "p U (q & X (r U s))",
    "p U (q & X (r & F (s & X F (t & X F (u & X F v)))))",
    "F (p & X G q)",
    "F (p & X (q & X F r))",
    "F (q & X (p U r))",
    "F G p | G F q",
    "G (p -> (q U r))",
    "G (p & X F (q & X F (r & X F s)))",
    "G F p & G F q & G F r & G F s & G F t",
    "(p U (q U r)) | (q U (r U p)) | (r U (p U q))",
    "G (p -> (q U ((G r) | (G s))))",
];

/// Formulas of Somenzi and Bloem, Efficient Büchi automata from LTL formulae (2000).
const SOMENZI_BLOEM: &[&str] = &[
    "p U q",
    "p U (q U r)",
    "!(p U (q U r))",
    "G F p -> G F q",
    "(F p) U (G q)",
    "(G p) U q",
    "!(F F p <-> F p)",
    "!(G F p -> G F q)",
    "!(G F p <-> G F q)",
    "p R (p | q)",
    "((X p) U (X q)) | !X (p U q)",
    "((X p) U q) | !X (p U (p & q))",
    "G (p -> F q) & (((X p) U q) | !X (p U (p & q)))",
    "G (p -> F q) & (((X p) U (X q)) | !X (p U q))",
    "G (p -> F q)",
    "!G (p -> X (q R r))",
    "!(G F p | F G q)",
    "G (F p & F q)",
    "F p & F !p",
    "((X q) & r) R X (((s U p) R r) U (s R r))",
    "(G (q | G F p) & G (r | G F !p)) | G q | G r",
    "(G (q | F G p) & G (r | F G !p)) | G q | G r",
    "!((G (q | G F p) & G (r | G F !p)) | G q | G r)",
    "!((G (q | F G p) & G (r | F G !p)) | G q | G r)",
    "(G (q | X G p) & G (r | X G !p)) | G q | G r",
    "G (q | (X p & X !p))",
    "p | (q U p)",
];

/// The patterns of Dwyer, Avrunin and Corbett, Patterns in property specifications (1999): globally, before r, after q,
/// between q and r, after q until r.
const DWYER: &[(&str, [&str; 5])] = &[
    (
        "absence",
        ["G !p", "F r -> (!p U r)", "G (q -> G !p)", "G ((q & !r & F r) -> (!p U r))", "G ((q & !r) -> (!p W r))"],
    ),
    (
        "existence",
        [
            "F p",
            "!r W (p & !r)",
            "G !q | F (q & F p)",
            "G ((q & !r) -> (!r W (p & !r)))",
            "G ((q & !r) -> (!r U (p & !r)))",
        ],
    ),
    (
        "bounded existence",
        [
            "!p W (p W (!p W (p W G !p)))",
            "F r -> ((!p & !r) U (r | ((p & !r) U (r | ((!p & !r) U (r | ((p & !r) U (r | (!p U r)))))))))",
            "F q -> (!q U (q & (!p W (p W (!p W (p W G !p))))))",
            "G ((q & F r) -> ((!p & !r) U (r | ((p & !r) U (r | ((!p & !r) U (r | ((p & !r) U (r | (!p U r))))))))))",
            "G (q -> ((!p & !r) U (r | ((p & !r) U (r | ((!p & !r) U (r | ((p & !r) U (r | (!p W r) | G p)))))))))",
        ],
    ),
    (
        "universality",
        ["G p", "F r -> (p U r)", "G (q -> G p)", "G ((q & !r & F r) -> (p U r))", "G ((q & !r) -> (p W r))"],
    ),
    (
        "precedence",
        [
            "!p W s",
            "F r -> (!p U (s | r))",
            "G !q | F (q & (!p W s))",
            "G ((q & !r & F r) -> (!p U (s | r)))",
            "G ((q & !r) -> (!p W (s | r)))",
        ],
    ),
    (
        "response",
        [
            "G (p -> F s)",
            "F r -> ((p -> (!r U (s & !r))) U r)",
            "G (q -> G (p -> F s))",
            "G ((q & !r & F r) -> ((p -> (!r U (s & !r))) U r))",
            "G ((q & !r) -> ((p -> (!r U (s & !r))) W r))",
        ],
    ),
    (
        "precedence chain",
        [
            "F p -> (!p U (s & !p & X (!p U t)))",
            "F r -> (!p U (r | (s & !p & X (!p U t))))",
            "G !q | (!q U (q & (F p -> (!p U (s & !p & X (!p U t))))))",
            "G ((q & F r) -> (!p U (r | (s & !p & X (!p U t)))))",
            "G (q -> (F p -> (!p U (r | (s & !p & X (!p U t))))))",
        ],
    ),
    (
        "response chain",
        [
            "G (s & X F t -> X F (t & F p))",
            "F r -> ((s & X (!r U t) -> X (!r U (t & F p))) U r)",
            "G (q -> G (s & X F t -> X (!t U (t & F p))))",
            "G ((q & F r) -> ((s & X (!r U t) -> X (!r U (t & F p))) U r))",
            "G (q -> ((s & X (!r U t) -> X (!r U (t & F p))) U (r | G (s & X (!r U t) -> X (!r U (t & F p))))))",
        ],
    ),
];

const SCOPES: [&str; 5] = ["globally", "before r", "after q", "between q and r", "after q until r"];

/// States and transitions, as a peer writes them, and what it accepts.
struct Peer {
    states: usize,
    transitions: usize,
    automaton: Automaton,
}

fn output(mut command: Command, input: &str) -> Option<String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let mut stdout = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).ok().map(|_| text)
    });
    let started = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() > Duration::from_secs(10) {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    reader.join().ok()?
}

/// Peers get names that none of them reserves.
fn name(Atom(number): Atom) -> String {
    format!("p{number}")
}

fn by_spin(pool: &Formulas, formula: Formula, atoms: usize) -> Option<Peer> {
    let mut command = Command::new("spin");
    command.arg("-f").arg(print(pool, formula, Notation::Spin, &name));
    let text = output(command, "")?;
    let names: Vec<String> = (0..atoms as u32).map(|number| name(Atom(number))).collect();
    let automaton = never::read(&text, &names).ok()?;
    let states = automaton.states as usize;
    let transitions = text.matches("::").count() + text.matches("skip").count();
    Some(Peer { states, transitions, automaton })
}

fn by_lbt(pool: &Formulas, formula: Formula) -> Option<Peer> {
    let text = output(Command::new("lbt"), &print(pool, formula, Notation::Lbt, &name))?;
    let automaton = lbt::read(&text).ok()?;
    // A state has a line for itself and one that ends its transitions.
    let transitions = text.lines().count().checked_sub(1 + 2 * automaton.states as usize)?;
    Some(Peer { states: automaton.states as usize, transitions, automaton })
}

fn cell(peer: Option<&Peer>) -> String {
    peer.map_or_else(|| "–".to_owned(), |peer| format!("{}, {}", peer.states, peer.transitions))
}

fn row(title: &str, text: &str, sums: &mut [(usize, usize); 4]) {
    let mut pool = Formulas::new();
    let mut table = AtomTable::default();
    let formula = table.parse(&mut pool, text, &Dialect::plain()).expect("the formulas of this file are right");
    let opposite = pool.not(formula);
    let ours = translate(&mut pool, formula).expect("the formulas of this file are small");
    let buchi = reduce_state_based(&ours.state_based());
    let not_ours = translate(&mut pool, opposite).expect("the formulas of this file are small");
    let spin = by_spin(&pool, formula, table.names().len());
    let lbt = by_lbt(&pool, formula);
    for peer in [&spin, &lbt].into_iter().flatten() {
        assert!(peer.automaton.intersection(&not_ours).is_empty(), "{text}: a peer accepts more than we do");
    }
    if let Some(opposite) = by_lbt(&pool, opposite) {
        assert!(ours.intersection(&opposite.automaton).is_empty(), "{text}: we accept what lbt says violates it");
    }
    println!(
        "| {title}`{}` | {}, {}, {} | {}, {} | {} | {} |",
        text.replace('|', "\\|"),
        ours.states,
        ours.transitions.len(),
        ours.acceptance_sets,
        buchi.states,
        buchi.transitions.len(),
        cell(spin.as_ref()),
        cell(lbt.as_ref())
    );
    // Only where all are known can sums be compared.
    if let (Some(spin), Some(lbt)) = (&spin, &lbt) {
        let sizes = [
            (ours.states as usize, ours.transitions.len()),
            (buchi.states as usize, buchi.transitions.len()),
            (spin.states, spin.transitions),
            (lbt.states, lbt.transitions),
        ];
        for (sum, size) in sums.iter_mut().zip(sizes) {
            sum.0 += size.0;
            sum.1 += size.1;
        }
    }
}

fn section(title: &str, formulas: &[(String, &str)]) {
    println!("\n### {title}\n");
    println!("| formula | states, transitions, sets | Büchi | spin -f | lbt |\n| --- | --- | --- | --- | --- |");
    let mut sums = [(0, 0); 4];
    for (name, text) in formulas {
        row(name, text, &mut sums);
    }
    let sums: Vec<String> = sums.iter().map(|(states, transitions)| format!("{states}, {transitions}")).collect();
    println!("| sum of the rows without a dash | {} |", sums.join(" | "));
}

fn main() {
    let plain = |formulas: &[&'static str]| formulas.iter().map(|text| (String::new(), *text)).collect::<Vec<_>>();
    section("Etessami and Holzmann", &plain(ETESSAMI_HOLZMANN));
    section("Somenzi and Bloem", &plain(SOMENZI_BLOEM));
    let patterns: Vec<(String, &str)> = DWYER
        .iter()
        .flat_map(|(pattern, formulas)| {
            formulas.iter().zip(SCOPES).map(move |(text, scope)| (format!("{pattern}, {scope}: "), *text))
        })
        .collect();
    section("Dwyer, Avrunin and Corbett", &patterns);
}
