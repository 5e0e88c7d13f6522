//! Searches whose states are packed by the values that occur find what others find, however soon they
//! begin to guess and however often the guess is wrong.

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Model, Source};
use quotient_search::{Narrowing, Report, SearchOptions, SearchOrder, Silent};
use quotient_testkit::random_b::random_machine;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::random_promela::random_promela;
use quotient_testkit::search::check;

fn read(name: &str, text: String, language: Language) -> Option<Model> {
    load(Source::new(name, text), language, &LoadOptions::default()).ok().map(|loaded| loaded.model)
}

/// Whatever there is to gain.
const SOON: Narrowing = Narrowing {
    states: 1,
    states_per_node: 0,
    least_words: 0,
    least_saving: 0,
    parallel_saving: 0,
    parallel_states: 0,
    attempts: 1,
};

/// What does not depend on how states are packed.
fn without_memory(report: Report) -> Report {
    Report { memory_bytes: 0, words: 0, outgrown: 0, ..report }
}

/// How often searches of a model packed states, and how often there was too little room.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    packed: usize,
    outgrown: u32,
}

impl Tally {
    fn compare(&mut self, name: &str, model: &Model) {
        self.models += 1;
        let ways = [
            (SearchOrder::BreadthFirst, 1, vec![(1, 2), (7, 8)]),
            (SearchOrder::BreadthFirst, 3, vec![(7, 2)]),
            (SearchOrder::DepthFirst, 1, vec![(20, 1)]),
        ];
        for (order, threads, guesses) in ways {
            let deadlock = DeadlockMode::Stuck;
            let options =
                SearchOptions { order, threads, deadlock, max_states: Some(1000), ..SearchOptions::default() };
            let expected = check(model, &SearchOptions { narrowing: Narrowing::NEVER, ..options.clone() }, &mut Silent)
                .expect("a search");
            let report = without_memory(expected.clone());
            for (states, attempts) in guesses {
                let narrowing = Narrowing { states, attempts, ..SOON };
                let found =
                    check(model, &SearchOptions { narrowing, ..options.clone() }, &mut Silent).expect("a search");
                assert_eq!(without_memory(found.clone()), report, "{name} with {options:?} and {narrowing:?}");
                self.packed += usize::from(found.words < expected.words);
                self.outgrown += found.outgrown;
            }
        }
    }
}

#[test]
fn random_programs() {
    let mut tally = Tally::default();
    for seed in 1..=6 {
        let text = random_program(seed, &ProgramOptions::default());
        tally.compare(&format!("murphi {seed}"), &read("random.m", text, Language::Murphi).expect("a program"));
    }
    for seed in 1..=14 {
        let text = random_promela(seed);
        if let Some(model) = read("random.pml", text, Language::Promela) {
            tally.compare(&format!("promela {seed}"), &model);
        }
    }
    for seed in 1..=4 {
        if let Some(model) = read("random.mch", random_machine(seed), Language::B) {
            tally.compare(&format!("b {seed}"), &model);
        }
    }
    assert!(tally.models >= 18 && tally.packed > 10 && tally.outgrown > 20, "{tally:?}");
}

/// A queue that fills up late, numbers of all kinds that grow, and steps that go wrong in the end.
const GROWING: &str = "
const last: 300;
type number: -40..1000;
var
  steps: 0..last;
  queue: array [0..9] of record tag: 0..100; value: number; end;
  length: 0..10;
  copy: array [0..9] of record tag: 0..100; value: number; end;
  low: number;
  never: number;
  maybe: number;
startstate begin
  clear steps; clear queue; clear length; clear copy; low := 0; never := 77; undefine maybe;
end;
rule steps < last ==> begin
  steps := steps + 1;
  if steps % 25 = 0 & length < 10 then
    queue[length].tag := steps % 101;
    queue[length].value := 3 * steps - 40;
    length := length + 1;
    copy := queue;
  elsif steps % 60 = 0 then
    low := queue[0].value;
    for position: 0..8 do queue[position] := queue[position + 1]; end;
    clear queue[9];
    length := length - 1;
  end;
  if steps > 150 then maybe := never + steps; end;
  if steps = 299 & never = 77 then low := 1001; end;
end;
";

#[test]
fn numbers_that_grow() {
    let model = read("growing.m", GROWING.to_owned(), Language::Murphi).expect("a program");
    let mut tally = Tally::default();
    tally.compare("growing", &model);
    assert!(tally.outgrown > 5, "{tally:?}");
    // The search ends where a value leaves its type, not where it leaves the room for it.
    let options = SearchOptions::default();
    let narrowing = Narrowing { states: 50, attempts: 100, ..SOON };
    let [found, expected] = [narrowing, Narrowing::NEVER].map(|narrowing| {
        check(&model, &SearchOptions { narrowing, ..options.clone() }, &mut Silent).expect("a search")
    });
    assert!(found.outgrown > 3, "{found:?}");
    assert!(expected.properties.iter().any(|property| property.trace.is_some()), "a step goes wrong");
    assert_eq!(without_memory(found), without_memory(expected));
}

/// A variable that is zero in every state and counts inside of steps.
const COUNTING: &str = "
var cells: array[1..6] of 0..4; counter: 0..1000000;
startstate begin for i: 1..6 do cells[i] := 0; end; counter := 0; end;
ruleset i: 1..6 do rule \"up\" cells[i] < 4 ==> begin
  while counter < 3 do counter := counter + 1; end;
  cells[i] := cells[i] + counter - 2;
  counter := 0;
end; end;
";

#[test]
fn counters_inside_of_steps() {
    let model = read("counting.m", COUNTING.to_owned(), Language::Murphi).expect("a program");
    for threads in [1, 2] {
        let options = SearchOptions { threads, ..SearchOptions::default() };
        let narrowing = Narrowing { states: 50, attempts: 100, ..SOON };
        let [found, expected] = [narrowing, Narrowing::NEVER].map(|narrowing| {
            check(&model, &SearchOptions { narrowing, ..options.clone() }, &mut Silent).expect("a search")
        });
        // The layout without room for the counter was given up.
        assert_eq!((found.outgrown, found.words), (1, expected.words));
        assert_eq!(expected.states, 5_u64.pow(6));
        assert_eq!(without_memory(found), without_memory(expected));
    }
}
