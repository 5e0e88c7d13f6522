//! Prints, for every small example model and some hundred random ones, how many symmetries detection
//! finds and how many there are: over the states that can be reached, over all states made of possible
//! values, and of the latter those that map each event to an event, which is what detection looks for.
//!
//! ```text
//! cargo run --release -p quotient-testkit --example completeness [RANDOM MODELS [FIRST SEED]]
//! cargo run --release -p quotient-testkit --example completeness symmetric|nearly|random SEED
//! ```
//!
//! The second form prints one random model, as a line of the first names it.
//!
//! `docs/detection-completeness.md` explains the classes.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use num_bigint::BigUint;
use quotient_ir::{Layout, Model};
use quotient_testkit::examples::{load_murphi, murphi_examples};
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::symmetry_oracle::{Audit, Comparison, Extent, audit, describe};

/// The most states of a state space that is compared.
const MOST_STATES: usize = 5000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [sort, seed] = &words[..]
        && let Ok(seed) = seed.parse::<u64>()
        && let Some((_, text)) = random_models(seed).into_iter().find(|(known, _)| known == sort)
    {
        println!("{text}");
        return ExitCode::SUCCESS;
    }
    let mut arguments = words.iter().map(|argument| argument.parse::<u64>());
    let (Ok(count), Ok(first)) = (arguments.next().unwrap_or(Ok(300)), arguments.next().unwrap_or(Ok(0))) else {
        println!("usage: completeness [RANDOM MODELS [FIRST SEED]] or completeness symmetric|nearly|random SEED");
        return ExitCode::from(2);
    };
    let mut table = Table::default();
    println!(
        "{:<44} {:>9} {:>20} {:>9} {:>24}  class",
        "model", "reachable", "found/all", "possible", "found/events/all"
    );
    for example in murphi_examples() {
        for case in &example.header.cases {
            if case.states <= MOST_STATES as u64 {
                let name = format!("{} {}", example.name, case.label());
                table.add("examples", &name, example.load(case), true);
            }
        }
    }
    for seed in first..first + count {
        for (sort, text) in random_models(seed) {
            table.add(sort, &format!("{sort} {seed}"), load_murphi("random", &text, &[]), false);
        }
    }
    table.summary();
    if table.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The random models of a seed and what sort of models they are.
fn random_models(seed: u64) -> [(&'static str, String); 3] {
    let options = ProgramOptions { size: 2, most_states: 2000, extensions: seed.is_multiple_of(2) };
    [
        ("symmetric", symmetric_program(seed, Kind::Symmetric)),
        ("nearly", symmetric_program(seed, Kind::NearlySymmetric)),
        ("random", random_program(seed, &options)),
    ]
}

#[derive(Default)]
struct Table {
    /// How many models of each sort are in each class.
    classes: BTreeMap<(&'static str, &'static str), u64>,
    wrong: u64,
}

impl Table {
    fn add(&mut self, sort: &'static str, name: &str, model: Result<Model, String>, print_all: bool) {
        let Ok(model) = model else { return };
        let layout = Layout::new(&model).expect("a small model");
        let (line, class) = match audit(&model, MOST_STATES, Extent::Completeness) {
            Err(reason) => {
                self.wrong += 1;
                (reason, "WRONG")
            }
            Ok(audit) => {
                let class = class(&audit);
                let missed = audit.possible.as_ref().or(audit.reachable.as_ref()).and_then(|one| one.missed.as_ref());
                let missed =
                    missed.map_or_else(String::new, |map| format!("; missed {}", describe(&model, &layout, map)));
                let mut line = format!("{}  {class}", numbers(&audit));
                if class == FIXED {
                    line.push_str(&format!(" ({})", audit.fixed.join("; ")));
                }
                if class != COMPLETE {
                    line.push_str(&missed);
                }
                (line, class)
            }
        };
        *self.classes.entry((sort, class)).or_default() += 1;
        if print_all || class != COMPLETE {
            println!("{name:<44} {}", line.chars().take(240).collect::<String>());
        }
    }

    fn summary(&self) {
        println!();
        for ((sort, class), count) in &self.classes {
            println!("{count:>7} {sort:<10} {class}");
        }
    }
}

const COMPLETE: &str = "complete";
const FIXED: &str = "a variable is treated as fixed";

/// Why not all symmetries were found.
fn class(audit: &Audit) -> &'static str {
    let is_whole = |one: &Comparison| one.all.as_ref() == Some(&one.found);
    match (&audit.reachable, &audit.possible) {
        (None, None) => "too many states to compare",
        (reachable, Some(possible)) => {
            if is_whole(possible) {
                if reachable.as_ref().is_none_or(is_whole) {
                    COMPLETE
                } else {
                    "complete but for what cannot be reached"
                }
            } else if possible.by_events.is_none() {
                "too many events to compare"
            } else if possible.by_events.as_ref() == Some(&possible.found) {
                "no event goes to an event"
            } else if !audit.fixed.is_empty() {
                FIXED
            } else {
                "equal functions look different"
            }
        }
        (Some(reachable), None) if is_whole(reachable) => COMPLETE,
        (Some(_), None) => "more symmetries of what can be reached",
    }
}

fn numbers(audit: &Audit) -> String {
    let short = |number: &BigUint| {
        let text = number.to_string();
        if text.len() > 12 { format!("~1e{}", text.len() - 1) } else { text }
    };
    let order = |number: &Option<BigUint>| number.as_ref().map_or_else(|| "?".to_owned(), short);
    let (mut states, mut found) = (String::from("-"), String::from("-"));
    if let Some(reachable) = &audit.reachable {
        states = reachable.states.to_string();
        found = format!("{}/{}", short(&reachable.found), order(&reachable.all));
    }
    let (mut all_states, mut all_found) = (String::from("-"), String::from("-"));
    if let Some(possible) = &audit.possible {
        all_states = possible.states.to_string();
        all_found = format!("{}/{}/{}", short(&possible.found), order(&possible.by_events), order(&possible.all));
    }
    format!("{states:>9} {found:>20} {all_states:>9} {all_found:>24}")
}
