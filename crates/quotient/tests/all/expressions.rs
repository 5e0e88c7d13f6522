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
        let truth = match language {
            // Conditions of DVE are numbers.
            Language::Dve => ["0", "1"],
            Language::B => ["FALSE", "TRUE"],
            _ => ["false", "true"],
        };
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
    assert_eq!(values("a"), some(["[true, false]"; 4]));
}

/// A text, and expressions with their values after a number of steps.
type Case = (Language, &'static str, usize, &'static [(&'static str, &'static str)]);

/// Values of all types.
const CASES: [Case; 5] = [
    (
        Language::Murphi,
        "type colour: enum { red, green }; pair: record c: colour; n: 0..3; end;
         var a: array [colour] of 0..3; r: pair; m: multiset [3] of pair; u: array [0..1] of pair; x: 0..3;
         function both(n: 0..3): pair; var p: pair; begin p.c := green; p.n := n; return p; end;
         startstate begin x := 0; a[red] := 1; a[green] := 2; r.c := red; r.n := 3; u[0].n := 1; end;
         rule x < 1 ==> begin x := x + 1; multisetadd(r, m); multisetadd(both(2), m); end;",
        1,
        &[
            ("a", "[1, 2]"),
            ("r", "{c: red, n: 3}"),
            ("m", "{|{c: red, n: 3}, {c: green, n: 2}|}"),
            ("u", "[{c: undefined, n: 1}, {c: undefined, n: undefined}]"),
            ("u[0]", "{c: undefined, n: 1}"),
            ("both(x)", "{c: green, n: 1}"),
            ("x = 1 ? both(0) : r", "{c: green, n: 0}"),
            ("r.c", "red"),
            ("a[r.c] + r.n", "4"),
            ("multisetcount(i: m, m[i].c = red)", "1"),
        ],
    ),
    (
        Language::Promela,
        "mtype = { request, answer }; typedef pair { byte n; bool flags[2] };
         byte a[3]; pair p; pair ps[2]; chan c = [2] of { mtype, byte }; chan d = [0] of { byte }; mtype last = answer;
         active proctype P() { byte own[2]; atomic { a[1] = 7; p.flags[1] = true; ps[1].n = 4; own[0] = 5;
           c!request,2; c!answer,3 } }",
        6,
        &[
            ("a", "[0, 7, 0]"),
            ("p", "{n: 0, flags: [false, true]}"),
            ("p.flags", "[false, true]"),
            ("ps", "[{n: 0, flags: [false, false]}, {n: 4, flags: [false, false]}]"),
            ("ps[a[1] - 6]", "{n: 4, flags: [false, false]}"),
            ("c", "[request,2][answer,3]"),
            ("len(c)", "2"),
            ("last", "answer"),
            ("P:own", "[5, 0]"),
            ("P[0]:own[0] + 1", "6"),
            ("a[1] > 3 && p.flags[1]", "true"),
        ],
    ),
    (
        Language::Dve,
        "byte a[3]; int x = 2; channel {byte, int} c[2];
         process P { byte own[2] = {1, 2}; state s, t; init s; trans s -> t { sync c!{7, -1}; effect a[x] = 5; }; }
         system async;",
        1,
        &[
            ("a", "[0, 0, 5]"),
            ("P->own", "[1, 2]"),
            ("c", "[7,-1]"),
            ("a[x] * 2", "10"),
            ("P.t", "1"),
        ],
    ),
    (
        Language::Csp,
        "var a[3]; var board[2][2] = [1, 2, 3, 4]; var x = 1; channel c 2; channel row[2] 1; #define twice x + x;
         P() = e { a[x] = 6; } -> c!5.x -> row[1]!8 -> Stop(); #assert P() deadlockfree;",
        3,
        &[
            ("a", "[0, 6, 0]"),
            ("board", "[[1, 2], [3, 4]]"),
            ("board[x]", "[3, 4]"),
            ("board[x][0] + twice", "5"),
            ("c", "[5,1]"),
            ("row[x]", "[8]"),
            ("row", "[[], [8]]"),
            ("call(ccount, c)", "1"),
            ("x == 1", "true"),
        ],
    ),
    (
        Language::B,
        "MACHINE m SETS S = {a1, a2, a3} CONSTANTS k PROPERTIES k = {a1, a2} VARIABLES s, t, r, f, q, p, b, x, v, e
         INVARIANT s <: S & t <: S & r : S <-> S & f : S +-> 0..9 & q : seq(S) & size(q) <= 3 & p : S * BOOL & b : BOOL
           & x : 0..9 & v <: POW(S) & e : struct(l : S, n : 0..3)
         INITIALISATION s := {a1, a2} || t := {a2, a3} || r := {a1 |-> a2, a1 |-> a3, a3 |-> a1} || f := {a1 |-> 4, a3 |-> 2}
           || q := [a3, a1] || p := (a2 |-> TRUE) || b := FALSE || x := 3 || v := {{}, {a1, a3}} || e := rec(l : a1, n : 2)
         OPERATIONS stay = skip END",
        2,
        &[
            ("s", "{a1,a2}"),
            ("dom(r)", "{a1,a3}"),
            ("ran(f)", "{2,4}"),
            ("s \\/ t", "{a1,a2,a3}"),
            ("s /\\ t", "{a2}"),
            ("s - t", "{a1}"),
            ("r[s]", "{a2,a3}"),
            ("r~", "{(a1|->a3),(a2|->a1),(a3|->a1)}"),
            ("(r ; r)", "{(a1|->a1),(a3|->a2),(a3|->a3)}"),
            ("closure1(r)[{a3}]", "{a1,a2,a3}"),
            ("card(r)", "3"),
            ("{y | y : S & y /: s}", "{a3}"),
            ("{y, z | y : s & z : 1..2 & z < f(a3)}", "{(a1|->1),(a2|->1)}"),
            ("%y.(y : dom(f) | f(y) + x)", "{(a1|->7),(a3|->5)}"),
            ("f", "{(a1|->4),(a3|->2)}"),
            ("f <+ {a2 |-> x}", "{(a1|->4),(a2|->3),(a3|->2)}"),
            ("f(a1)", "4"),
            ("q", "[a3,a1]"),
            ("q <- a2", "[a3,a1,a2]"),
            ("rev(q)", "[a1,a3]"),
            ("first(q)", "a3"),
            ("p", "(a2|->TRUE)"),
            ("prj1(S, BOOL)(p)", "a2"),
            ("s * {TRUE}", "{(a1|->TRUE),(a2|->TRUE)}"),
            ("POW(s)", "{{},{a1},{a2},{a1,a2}}"),
            ("v", "{{},{a1,a3}}"),
            ("union(v)", "{a1,a3}"),
            ("e", "rec(l:a1,n:2)"),
            ("e'n", "2"),
            ("k", "{a1,a2}"),
            ("k = s", "TRUE"),
            ("x..x + 2", "{3,4,5}"),
            ("(x, s)", "(3|->{a1,a2})"),
            ("b", "FALSE"),
            ("x > 3 or a1 : s", "TRUE"),
            ("IF b = TRUE THEN s ELSE t END", "{a2,a3}"),
            ("{}", "{}"),
        ],
    ),
];

#[test]
fn values_of_all_types() {
    for (language, text, steps, cases) in CASES {
        let model = Model::from_text("model", text, language).unwrap_or_else(|error| panic!("{language:?}: {error:?}"));
        let interpreter = Interpreter::new(model.ir(), model.layout());
        let first = |candidates: walk::Candidates| {
            candidates.list.into_iter().find_map(|candidate| match candidate.consequence {
                Consequence::State(state) => Some(state),
                _ => None,
            })
        };
        let mut state = first(walk::starts(&interpreter)).expect("a start");
        for _ in 0..steps {
            state = first(walk::successors(&interpreter, &state)).expect("a successor");
        }
        for (expression, expected) in cases {
            let read = Expression::new(&model, expression, &Control::default());
            let read = read.unwrap_or_else(|error| panic!("{language:?}: `{expression}`: {error:?}"));
            assert_eq!(read.values([&state]), [Some((*expected).to_owned())], "{language:?}: `{expression}`");
        }
    }
}

#[test]
fn what_has_no_value_yet() {
    let (language, text, ..) = CASES[4];
    let model = Model::from_text("model", text, language).expect("a model");
    let states = states(&model);
    let has_value = |text: &str| {
        let read = Expression::new(&model, text, &Control::default()).expect("an expression");
        read.values(&states).iter().map(Option::is_some).collect::<Vec<_>>()
    };
    // The root, the constants, the initialised state.
    assert_eq!(has_value("s \\/ k"), [false, false, true]);
    assert_eq!(has_value("card(k)"), [false, true, true]);
    assert_eq!(has_value("{a1}"), [true, true, true]);
    assert_eq!(has_value("f(a2)"), [false, false, false]);
}

#[test]
fn mistakes_are_located_in_the_expression() {
    let wrong: [(usize, &str, &str); 14] = [
        (0, "a + 1", "a"),
        (0, "r.d", "d"),
        (0, "r + m", "r"),
        (1, "p + 1", "p"),
        (1, "nothing[1]", "nothing"),
        (1, "p.other", "other"),
        (2, "b[1]", "b"),
        (2, "x[1]", "x[1]"),
        (3, "a + 1", "a"),
        (3, "board[1][1][1]", "board"),
        (4, "s + 1", "s"),
        (4, "s \\/ x", "x"),
        (4, "dom(x)", "x"),
        (4, "nothing", "nothing"),
    ];
    for (case, expression, part) in wrong {
        let (language, text, ..) = CASES[case];
        let model = Model::from_text("model", text, language).expect("a model");
        let Err(Error::Model(invalid)) = Expression::new(&model, expression, &Control::default()) else {
            panic!("{language:?}: `{expression}` is read");
        };
        let first = invalid.diagnostics.iter().find(|it| it.is_error()).expect("an error");
        let span = first.primary.as_ref().expect("a place").span;
        assert_eq!(invalid.source.file_at(span.start).0, "expression", "{language:?}: `{expression}`");
        assert_eq!(&invalid.source.text[span.range()], part, "{language:?}: `{expression}`: {}", first.message);
    }
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
