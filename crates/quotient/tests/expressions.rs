//! Expressions of every language: values and conditions in states, and searches for a state.

use quotient::ir::{Interpreter, Valuation};
use quotient::walk::{self, Consequence};
use quotient::{Control, Error, Expression, Language, Model, Options, Reached, Silent, reach};

/// A counter from 0 to 3 in each language.
const COUNTERS: [(Language, &str); 5] = [
    (
        Language::Murphi,
        "type colour: enum { red, green }; var x: 0..3; c: colour; a: array [0..1] of boolean; u: 0..3;
         startstate begin x := 0; c := red; a[0] := true; a[1] := false; end;
         rule x < 3 ==> begin x := x + 1; c := green; end;",
    ),
    (Language::Promela, "byte x = 0; active proctype count() { do :: x < 3 -> x = x + 1 od }"),
    (
        Language::B,
        "MACHINE counter VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS count = PRE x < 3 THEN x := x + 1 END END",
    ),
    (
        Language::Dve,
        "byte x = 0; process P { state a; init a; trans a -> a { guard x < 3; effect x = x + 1; }; } system async;",
    ),
    (Language::Csp, "var x = 0; P() = [x < 3] count { x = x + 1; } -> P(); #assert P() deadlockfree;"),
];

/// All states in the order of a search.
fn states(model: &Model) -> Vec<Valuation> {
    let interpreter = Interpreter::new(model.ir(), model.layout());
    let mut states: Vec<Valuation> = Vec::new();
    let add = |states: &mut Vec<Valuation>, candidates: walk::Candidates| {
        for candidate in candidates.list {
            if let Consequence::State(state) = candidate.consequence
                && !states.contains(&state)
            {
                states.push(state);
            }
        }
    };
    add(&mut states, walk::starts(&interpreter));
    let mut next = 0;
    while next < states.len() {
        let successors = walk::successors(&interpreter, &states[next]);
        add(&mut states, successors);
        next += 1;
    }
    states
}

#[test]
fn values_and_conditions() {
    for (language, text) in COUNTERS {
        let model = Model::from_text("counter", text, language).unwrap_or_else(|error| panic!("{language:?}: {error}"));
        let states = states(&model);
        let values = |text: &str| {
            let expression = Expression::new(&model, text, &Control::default());
            let expression = expression.unwrap_or_else(|error| panic!("{language:?}: `{text}`: {error}"));
            let mut values: Vec<String> = expression.values(&states).into_iter().flatten().collect();
            values.dedup();
            values
        };
        assert_eq!(values("x"), ["0", "1", "2", "3"], "{language:?}");
        assert_eq!(values("x + 1"), ["1", "2", "3", "4"], "{language:?}");
        // Conditions of DVE are numbers.
        let truth = if language == Language::Dve { ["0", "1"] } else { ["false", "true"] };
        assert_eq!(values("x > 1"), truth, "{language:?}");
        let condition = Expression::condition(&model, "x > 1", &Control::default()).expect("a condition");
        assert_eq!(condition.holds(&states).last(), Some(&Some(true)), "{language:?}");
        for wrong in ["", "x +", "nothing", "x ; x", "(x"] {
            assert!(Expression::new(&model, wrong, &Control::default()).is_err(), "{language:?}: {wrong}");
        }
    }
}

#[test]
fn names_of_values_and_no_value() {
    let (language, text) = COUNTERS[0];
    let model = Model::from_text("counter", text, language).expect("a model");
    let states = states(&model);
    let values = |text: &str| Expression::new(&model, text, &Control::default()).expect("one").values(&states);
    let some = |texts: [&str; 4]| texts.map(|text| Some(text.to_owned())).to_vec();
    assert_eq!(values("c"), some(["red", "green", "green", "green"]));
    assert_eq!(values("a[0]"), some(["true"; 4]));
    assert_eq!(values("u"), [const { None }; 4]);
    assert_eq!(values("exists i: 0..1 do !a[i] end"), some(["true"; 4]));
    assert_eq!(values("10 / x").first(), Some(&None));
    // Whole arrays have no single value.
    assert!(Expression::new(&model, "a", &Control::default()).is_err());
}

#[test]
fn states_are_reached_or_not() {
    for (language, text) in COUNTERS {
        let model = Model::from_text("counter", text, language).expect("a model");
        let equal = if matches!(language, Language::Murphi | Language::B) { "=" } else { "==" };
        let sought = |condition: &str| {
            let found = reach(&model, condition, &Options::default(), &Control::default(), &mut Silent);
            found.unwrap_or_else(|error| panic!("{language:?}: {error}"))
        };
        let Reached::Run(trace) = sought(&format!("x {equal} 2")) else { panic!("{language:?}") };
        let expression = Expression::new(&model, "x", &Control::default()).expect("an expression");
        let last = trace.steps.last().map(|step| &step.state);
        assert_eq!(expression.values(last), [Some("2".to_owned())], "{language:?}");
        assert!(matches!(sought(&format!("x {equal} 7")), Reached::Nowhere), "{language:?}");
    }
}

#[test]
fn a_model_without_a_text_has_no_expressions() {
    let mut builder = quotient::builder::ModelBuilder::new("built");
    let x = builder.variable("x", quotient::builder::Type::boolean());
    builder.start("dark", |start| start.assign(&x, false));
    let model = Model::new(builder.build().expect("a model")).expect("a model");
    let read = Expression::new(&model, "x", &Control::default());
    assert!(matches!(read, Err(Error::Refused(_))), "{read:?}");
}
