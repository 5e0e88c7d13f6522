//! What B machines mean, one small machine for each point: how many states there are, root and valuations of
//! constants included, and what is violated.

use quotient::languages::{Language, LoadOptions, load, mentioned_files};
use quotient::names::{property_kind, property_title};
use quotient_ir::{DeadlockMode, Layout, Model, Source, TableIndex, Violation, verify};
use quotient_search::{Report, SearchOptions, Silent, Subject, Verdict};
use quotient_testkit::search::check;

fn read(source: Source, constants: &[(&str, &str)]) -> (Model, Vec<&'static str>) {
    let constants = constants.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = LoadOptions { constants, ..LoadOptions::default() };
    let loaded = load(source, Language::B, &options).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
    assert_eq!(verify(&loaded.model), Ok(()));
    (loaded.model, loaded.warnings.iter().map(|it| it.code).collect())
}

fn search(model: &Model) -> (Report, String) {
    let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    let report = check(model, &options, &mut Silent).expect("a report");
    let violated = report.properties.iter().find(|property| property.verdict == Verdict::Violated);
    let text = match violated.map(|property| &property.subject) {
        None if report.stop_reason.is_some() => "inconclusive".to_owned(),
        None => "holds".to_owned(),
        Some(Subject::Deadlock) => "deadlock".to_owned(),
        Some(Subject::Errors) => "error".to_owned(),
        Some(Subject::Property(property)) => model.properties[*property].name.clone().unwrap_or_default(),
    };
    (report, text)
}

/// Checks a machine, whose states count only where it holds.
fn expect(text: &str, constants: &[(&str, &str)], verdict: &str, states: u64) {
    let (model, _) = read(Source::new("test.mch", text), constants);
    let (report, found) = search(&model);
    assert_eq!(found, verdict, "{text}");
    if verdict == "holds" {
        assert_eq!(report.states, states, "{text}");
    }
}

/// Machines put together, the first of which is checked.
fn together(machines: &[(&str, &str)]) -> Model {
    let mut sources = machines.iter().map(|(name, text)| Source::new(*name, *text));
    let first = sources.next().expect("a machine");
    read(sources.fold(first, |before, next| before.followed_by(&next)), &[]).0
}

/// Checks machines put together, the first of which is the one that holds or not.
fn expect_together(machines: &[(&str, &str)], verdict: &str, states: u64) {
    let model = together(machines);
    let (report, found) = search(&model);
    let rules: Vec<_> = model.rules.iter().map(|rule| rule.name.clone().unwrap_or_default()).collect();
    assert_eq!((found.as_str(), report.states), (verdict, states), "{machines:#?} with {rules:?}");
}

/// A machine that is included changes as the one that includes it wishes, whoever else reads it.
#[test]
fn operations_that_are_not_promoted() {
    let counter = "MACHINE counter VARIABLES n INVARIANT n : 0..3 INITIALISATION n := 0
        OPERATIONS inc = PRE n < 3 THEN n := n + 1 END; reset = n := 0 END";
    let user = "MACHINE user USES counter VARIABLES last INVARIANT last : 0..3 INITIALISATION last := 0
        OPERATIONS look = last := n END";
    let main = "MACHINE main EXTENDS user INCLUDES counter INVARIANT n <= 1
        OPERATIONS once = SELECT n = 0 THEN inc END END";
    expect_together(&[("main.mch", main), ("user.mch", user), ("counter.mch", counter)], "holds", 4);
    let promotes = main.replace("INVARIANT n <= 1", "PROMOTES reset INVARIANT n <= 1");
    expect_together(&[("main.mch", &promotes), ("user.mch", user), ("counter.mch", counter)], "holds", 5);
    let extends = main.replace("EXTENDS user INCLUDES counter", "EXTENDS counter INCLUDES user");
    let (_, verdict) = search(&together(&[("main.mch", &extends), ("user.mch", user), ("counter.mch", counter)]));
    assert_eq!(verdict, "n <= 1");
    // With parameters, which only the machine that includes it gives.
    let bounded =
        counter.replace("counter", "counter(most)").replace("n : 0..3", "n : 0..most").replace("n < 3", "n < most");
    let gives = main.replace("INCLUDES counter", "INCLUDES counter(3)");
    expect_together(&[("main.mch", &gives), ("user.mch", user), ("counter.mch", &bounded)], "holds", 5);
    // Promoted twice is promoted once.
    let twice = "MACHINE main EXTENDS counter PROMOTES inc END";
    let model = together(&[("main.mch", twice), ("counter.mch", counter)]);
    assert_eq!(model.rules.iter().filter(|rule| rule.name.as_deref() == Some("inc")).count(), 1);
    // What an included machine keeps to itself hides nothing.
    let outer = "MACHINE outer INCLUDES inner OPERATIONS stay = skip END";
    let inner = "MACHINE inner VARIABLES hidden INVARIANT hidden : 0..1 INITIALISATION hidden := 0
        OPERATIONS set = hidden := 1 END";
    let other = "MACHINE other VARIABLES shown INVARIANT shown : 0..1 INITIALISATION shown := 0
        OPERATIONS set = shown := 1 END";
    let main = "MACHINE main INCLUDES other, outer INVARIANT hidden = 0 OPERATIONS go = set END";
    let machines = [("main.mch", main), ("outer.mch", outer), ("inner.mch", inner), ("other.mch", other)];
    expect_together(&machines, "holds", 3);
}

/// Nobody here owns a machine that is seen, so its operations happen at any time, as in ProB.
#[test]
fn operations_of_seen_machines() {
    let clock = "MACHINE clock VARIABLES t INVARIANT t : 0..1 INITIALISATION t := 0
        OPERATIONS tick = t := 1 - t; v <-- time = v := t END";
    for word in ["SEES", "USES"] {
        let main = format!(
            "MACHINE main {word} clock VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
                OPERATIONS take = x <-- time END"
        );
        expect_together(&[("main.mch", &main), ("clock.mch", clock)], "holds", 5);
        let claim = main.replace("x : 0..1", "x : 0..1 & x <= t");
        let (_, verdict) = search(&together(&[("main.mch", &claim), ("clock.mch", clock)]));
        assert_eq!(verdict, "x <= t");
        // Seen twice is there once, however deep.
        let outer = "MACHINE outer SEES clock INCLUDES main PROMOTES take END";
        expect_together(&[("outer.mch", outer), ("main.mch", &main), ("clock.mch", clock)], "holds", 5);
        // Included, it is somebody's.
        let owner = "MACHINE owner INCLUDES clock EXTENDS main END";
        expect_together(&[("owner.mch", owner), ("main.mch", &main), ("clock.mch", clock)], "holds", 2);
    }
    // With names of its own.
    let main = "MACHINE main SEES wall.clock VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
        OPERATIONS take = x := wall.t END";
    let model = together(&[("main.mch", main), ("clock.mch", clock)]);
    assert_eq!(search(&model).0.states, 5);
    assert!(model.rules.iter().any(|rule| rule.name.as_deref() == Some("wall.tick")));
    // A refinement sees what the refined machine sees, and it is part of its state.
    let refined = "MACHINE m SEES clock VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
        OPERATIONS take = x := t END";
    let refinement = "REFINEMENT r REFINES m SEES clock VARIABLES y INVARIANT y : 0..1 & y = x INITIALISATION y := 0
        OPERATIONS take = y := t END";
    expect_together(&[("r.ref", refinement), ("m.mch", refined), ("clock.mch", clock)], "holds", 5);
}

/// Assertions are no part of the invariant.
#[test]
fn assertions() {
    let text = "MACHINE m VARIABLES n INVARIANT n : 0..2 & n >= 0 ASSERTIONS n < 3; n < 2 INITIALISATION n := 0
        OPERATIONS up = SELECT n < 2 THEN n := n + 1 END; stay = skip END";
    let (model, _) = read(Source::new("test.mch", text), &[]);
    let kinds: Vec<&str> = model.properties.indices().map(|id| property_kind(&model, id)).collect();
    assert_eq!(kinds, ["invariant", "invariant", "assertion", "assertion"]);
    assert_eq!(search(&model).1, "n < 2");
    let title = property_title(&model, *model.assertions.last().expect("an assertion"));
    assert_eq!(title, "assertion \"n < 2\"");
}

/// What a violated property says at the end of its run.
fn message(text: &str) -> (String, String) {
    let (model, _) = read(Source::new("test.mch", text), &[]);
    let (report, verdict) = search(&model);
    let trace = report.properties.iter().find_map(|property| property.trace.as_ref());
    match trace.and_then(|trace| trace.violation.as_ref()) {
        Some(Violation::Fault { fault, .. }) => (verdict, fault.message.clone()),
        other => (verdict, format!("{other:?}")),
    }
}

/// A value for which the bounds of the invariant leave no room violates the conjunct that is false then.
#[test]
fn values_beyond_the_bounds_of_the_invariant() {
    let counter = "MACHINE m VARIABLES n INVARIANT n : 0..3 INITIALISATION n := 0
        OPERATIONS up = n := n + 1; stay = skip END";
    let (verdict, said) = message(counter);
    assert_eq!(verdict, "n : 0..3");
    assert_eq!(said, "the invariant `n : 0..3` does not hold: `n` would be 4");
    let check = |invariant: &str, change: &str, verdict: &str| {
        let text = counter.replace("n : 0..3", invariant).replace("n := n + 1", change);
        expect(&text, &[], verdict, 0);
    };
    check("n : NATURAL & n <= 3", "n := n + 1", "n <= 3");
    check("n : NATURAL & n <= 3", "n := n - 1", "n : NATURAL");
    check("n : 0..3 & n /= 2", "n := n + 1", "n /= 2");
    check("n : 0..3", "IF n < 3 THEN n := n + 1 ELSE n := 7 END", "n : 0..3");
    check("n : 0..3", "CHOICE n := 0 OR n := n + 2 END", "n : 0..3");
    // Nothing bounds it above, but something does below.
    check("n : NATURAL", "n := n - 1", "n : NATURAL");
    // What is there on the way does not count.
    expect(&counter.replace("n := n + 1", "BEGIN n := 9; n := 0 END"), &[], "holds", 2);
    expect(&counter.replace("n := 0\n", "n := 5\n"), &[], "n : 0..3", 0);

    // Two variables that bound each other.
    let text = "MACHINE m VARIABLES n, most INVARIANT most : 0..3 & n : 0..most INITIALISATION n, most := 0, 2
        OPERATIONS change = skip END";
    for (change, verdict) in [
        ("n := n + 4", "n : 0..most"),
        ("BEGIN n := n + 4 || most := 3 END", "n : 0..most"),
        ("BEGIN most := most + 1 || n := most END", "most : 0..3"),
    ] {
        expect(&text.replace("skip", change), &[], verdict, 0);
    }

    let sets = "MACHINE m SETS S = {a, b} VARIABLES s, f, g, q
        INVARIANT s <: 0..2 & f : S --> 0..1 & g : S +-> 0..1 & q : seq(S) & size(q) <= 2
        INITIALISATION s := {} || f := S * {0} || g := {} || q := []
        OPERATIONS change = skip END";
    let check = |change: &str, verdict: &str, words: &str| {
        let (found, said) = message(&sets.replace("skip", change));
        assert_eq!(found, verdict, "{change}: {said}");
        assert!(said.ends_with(words), "{change}: {said}");
    };
    check("s := s \\/ {card(s)}", "s <: 0..2", "`s` would contain 3");
    check("s := {x | x : 0..5 & x > 3}", "s <: 0..2", "`s` would contain 4");
    check("f(a) := f(a) + 1", "f : S --> 0..1", "`f` would contain 2");
    check("f := {a |-> 0}", "f : S --> 0..1", "does not hold");
    check("g := g \\/ {a |-> 0} \\/ {a |-> 1}", "g : S +-> 0..1", "does not hold");
    check("q := q <- a", "size(q) <= 2", "");
    // A set has its cells on the way, too: what does not fit there is not known to be wrong.
    check("BEGIN s := {7}; s := {} END", "inconclusive", "");
    check("BEGIN s := {7}; f(b) := 1 END", "s <: 0..2", "`s` would contain 7");
}

/// It counts for the invariant that is asked for, and for no other.
#[test]
fn values_beyond_bounds_with_selected_properties() {
    let text = "MACHINE m VARIABLES n, b INVARIANT n : 0..3 & b : BOOL INITIALISATION n := 0 || b := TRUE
        OPERATIONS up = n := n + 1 END";
    let (model, _) = read(Source::new("test.mch", text), &[]);
    for (position, (property, _)) in model.properties.iter_enumerated().enumerate() {
        let options = SearchOptions {
            deadlock: DeadlockMode::Off,
            errors: false,
            properties: Some(vec![property]),
            ..SearchOptions::default()
        };
        let report = check(&model, &options, &mut Silent).expect("a report");
        let verdict = if position == 0 { Verdict::Violated } else { Verdict::Inconclusive };
        assert_eq!(report.properties[0].verdict, verdict);
        assert_eq!(report.properties[0].trace.is_some(), position == 0);
    }
}

#[test]
fn functions_to_sets() {
    let text = "MACHINE m SETS K; P = {a, b} DEFINITIONS scope_K == 3 VARIABLES has
        INVARIANT has : P --> POW(K) & (has(a) /\\ has(b) = {}) & union(ran(has)) <: K
        INITIALISATION has := {a |-> {}, b |-> {}}
        OPERATIONS
          take(k, p) = SELECT p : P & k : K - union(ran(has)) THEN has(p) := has(p) \\/ {k} END;
          give(k) = SELECT k : has(a) THEN has := has <+ {a |-> has(a) - {k}, b |-> (has(b) \\/ {k})} END;
          stay = skip END";
    expect(text, &[], "holds", 28);
    // A partial one, and sequences as values.
    let text = "MACHINE m SETS S DEFINITIONS scope_S == 2 VARIABLES q INVARIANT q : S +-> iseq(S)
        INITIALISATION q := {}
        OPERATIONS
          open(s) = SELECT s : S - dom(q) THEN q(s) := [] END;
          add(s, t) = SELECT s : dom(q) & t : S - ran(q(s)) THEN q(s) := q(s) <- t END;
          close(s) = SELECT s : dom(q) THEN q := {s} <<| q END END";
    expect(text, &[], "holds", 37);
}

#[test]
fn conditions_without_a_value() {
    let text = "MACHINE m SETS S = {s, t} VARIABLES f INVARIANT f : S +-> 0..2 INITIALISATION f := {s |-> 0}
        OPERATIONS
          up(x) = SELECT x : S & f(x) < 2 THEN f(x) := f(x) + 1 END;
          reset = f := {s |-> 0} END";
    // As in ProB, the operation is not enabled, unless somebody looks for such errors.
    expect(text, &[], "holds", 4);
    expect(text, &[("TRY_FIND_ABORT", "1")], "error", 0);
    let strict = text.replace("VARIABLES f", "DEFINITIONS SET_PREF_TRY_FIND_ABORT == TRUE VARIABLES f");
    expect(&strict, &[], "error", 0);
    expect(&strict, &[("TRY_FIND_ABORT", "0")], "holds", 4);
    // What has a value protects the rest, before it and after it.
    for protected in ["x : dom(f) & f(x) < 2", "f(x) < 2 & x : dom(f)"] {
        expect(&strict.replace("x : S & f(x) < 2", protected), &[], "holds", 4);
    }
    // Elsewhere it is an error.
    let body = text.replace("reset = f := {s |-> 0}", "reset = f := {s |-> f(t)}");
    expect(&body, &[], "error", 0);
    // In whatever order the elements come: the first decides, the second has no value.
    let claim = text.replace("f : S +-> 0..2", "f : S +-> 0..2 & #x.(x : S & f(x) = 0)");
    expect(&claim, &[], "error", 0);
}

/// A condition without a value is neither true nor false: no branch is taken. Each place of the text is remarked on
/// once, if it is reached.
#[test]
fn remarks_on_conditions_without_a_value() {
    let places = |text: &str| -> Vec<String> {
        let (model, _) = read(Source::new("test.mch", text), &[]);
        let (report, verdict) = search(&model);
        assert_eq!(verdict, "holds", "{text}");
        let place = |id: &quotient_ir::PropertyId| model.source.locate(model.properties[*id].span);
        report.remarks.iter().map(place).collect()
    };
    let machine = |operation: &str| {
        format!(
            "MACHINE m SETS S = {{s, t}} VARIABLES f, n INVARIANT f : S +-> 0..2 & n : 0..2
INITIALISATION f := {{s |-> 0}} || n := 0
OPERATIONS stay = skip;
{operation} END"
        )
    };
    for operation in [
        "up(x) = SELECT x : S & f(x) = 1 THEN n := 1 END",
        "up(x) = SELECT x : S & not(f(x) = 0) THEN n := 1 END",
        "up(x) = SELECT x : {t} & (f(x) = 0 or n = 0) THEN n := 1 END",
        "up(x) = SELECT x : {t} & (f(x) = 0 => n = 0) THEN n := 1 END",
        "up(x) = PRE x : {t} THEN IF f(x) = 0 THEN n := 1 ELSE n := 2 END END",
        "up(x) = PRE x : {t} THEN IF n = 1 THEN skip ELSIF f(x) = 0 THEN n := 1 ELSE n := 2 END END",
        "up(x) = PRE x : {t} THEN SELECT f(x) = 0 THEN n := 1 ELSE n := 2 END END",
        "up(x) = PRE x : {t} THEN ANY y WHERE y = f(x) THEN n := 1 END END",
        "up(x) = PRE x : {t} THEN CASE f(x) OF EITHER 0 THEN n := 1 ELSE n := 2 END END END",
        "up = BEGIN f := {}; IF f(s) = 0 THEN n := 1 ELSE n := 2 END END",
        "up = VAR k IN k := 0; WHILE f(t) > k DO k := k + 1 INVARIANT k : 0..2 VARIANT 2 - k END; n := 1 END",
        "up(x) = SELECT x : POW(S) & min(f[x]) = 2 THEN n := 1 END",
        "up(x) = SELECT x : 0..2 & 2 / x = 2 & x /= 1 THEN n := 1 END",
        "up(x) = SELECT x : 0..2 & 2 mod (x - 1) = 1 THEN n := 1 END",
        "up = SELECT 2 ** (n - 1) = 1 THEN n := 1 END",
        "up = SELECT card({x | x : S & f(x) = 0}) = 1 THEN n := 1 END",
        "up = SELECT #x.(x : S & f(x) = 0) THEN n := 1 END",
        "up = SELECT !x.(x : S => f(x) = 1) THEN n := 1 END",
        "up = SELECT SIGMA(x).(x : S | f(x)) = 0 THEN n := 1 END",
        "up = SELECT first(tail([n])) = 0 THEN n := 1 END",
        "up = SELECT inter({x | x : {dom(f)} & n = 1}) = {} THEN n := 1 END",
        "up = SELECT s : INTER(x).(x : S & n = 1 | {x}) THEN n := 1 END",
    ] {
        let found = places(&machine(operation));
        assert!(found.len() == 1 && found[0].starts_with("test.mch:4:"), "{operation}: {found:?}");
        let (model, _) = read(Source::new("test.mch", machine(operation)), &[]);
        // The root and the initial state; one more where another value of the parameter has a condition that holds.
        assert_eq!(search(&model).0.states, 2, "{operation}");
    }
    for operation in [
        "up(x) = SELECT x : dom(f) & f(x) = 1 THEN n := 1 END",
        "up(x) = SELECT x : S & (x /: dom(f) or f(x) = 1) THEN skip END",
        "up(x) = SELECT x : S & f(x) = 1 & x : dom(f) THEN n := 1 END",
        "up = SELECT n = 1 & f(t) = 0 THEN n := 2 END",
        "up = IF n = 0 THEN skip ELSIF f(t) = 0 THEN n := 2 END",
    ] {
        assert!(places(&machine(operation)).is_empty(), "{operation}");
    }
}

#[test]
fn integers_without_bounds() {
    let text = "MACHINE m VARIABLES n, q, s INVARIANT n : NATURAL & q : seq(BOOL) & s <: INTEGER
        INITIALISATION n := 0 || q := [] || s := {}
        OPERATIONS
          next = SELECT n < 1000 THEN n := n + 100 || q := [TRUE] || s := {n mod 7} END;
          choose(m) = SELECT m : NATURAL & n = 1000 THEN n := m END; stay = skip END";
    let (model, warnings) = read(Source::new("test.mch", text), &[]);
    assert_eq!(warnings.iter().filter(|code| **code == "assumed-bounds").count(), 4, "{warnings:?}");
    assert_eq!(search(&model).1, "holds");
    let text = "MACHINE m VARIABLES q INVARIANT q : seq(BOOL) INITIALISATION q := []
        OPERATIONS add = q := q <- TRUE END";
    expect(text, &[], "inconclusive", 0);
    let text = "MACHINE m CONSTANTS c PROPERTIES c : INTEGER VARIABLES n INVARIANT n : 0..1 INITIALISATION n := 0
        OPERATIONS flip = SELECT c > 0 or n = 0 THEN n := 1 - n END; stay = skip END";
    expect(text, &[], "holds", 16);
}

#[test]
fn definitions_from_files() {
    let text = "MACHINE m DEFINITIONS \"more.def\"; two == twice(one) VARIABLES n INVARIANT n : 0..two
        INITIALISATION n := 0 OPERATIONS next = IF n < two THEN n := n + 1 ELSE n := 0 END END";
    let main = Source::new("test.mch", text);
    assert_eq!(mentioned_files(&main, Language::B), [vec!["more.def".to_owned()]]);
    let source = main.followed_by(&Source::new("more.def", "DEFINITIONS twice(x) == x + x; \"rest.def\""));
    assert_eq!(mentioned_files(&source, Language::B), [vec!["rest.def".to_owned()]]);
    let source = source.followed_by(&Source::new("rest.def", "DEFINITIONS one == 1"));
    let (model, _) = read(source, &[]);
    assert_eq!(search(&model).0.states, 4);
    let missing = text.replace("twice(one)", "2");
    let (_, warnings) = read(Source::new("test.mch", missing), &[]);
    assert_eq!(warnings, ["definition-file"]);
}

#[test]
fn implementations() {
    let text = "IMPLEMENTATION i(ITEM, most) REFINES m IMPORTS store(ITEM) INVARIANT size(list) = count
        OPERATIONS
          put(x) = IF size(list) < most THEN append(x) END;
          n <-- double = VAR k, r IN k := 0; r := 0;
            WHILE k < size(list) DO VAR t IN t := 2; r := r + t END; k := k + 1
            INVARIANT r = 2 * k & k <= count VARIANT size(list) - k END; n := r END END";
    let abstraction = "MACHINE m(ITEM, most) CONSTRAINTS most = 2 VARIABLES count INVARIANT count : 0..most
        INITIALISATION count := 0 OPERATIONS put(x) = PRE x : ITEM THEN CHOICE count := 0 OR skip END END;
        n <-- double = n := 2 * count END";
    let part = "MACHINE store(ITEM) VARIABLES list INVARIANT list : seq(ITEM) & size(list) <= 2
        INITIALISATION list := [] OPERATIONS append(x) = PRE x : ITEM & size(list) < 2 THEN list := list <- x END END";
    let source = Source::new("i.imp", text)
        .followed_by(&Source::new("m.mch", abstraction))
        .followed_by(&Source::new("store.mch", part));
    let (model, warnings) = read(source, &[("MAXINT", "8")]);
    assert!(warnings.contains(&"gluing-invariant"), "{warnings:?}");
    let (report, verdict) = search(&model);
    assert_eq!((report.states, verdict.as_str()), (9, "holds"));
}

/// Where two members are too few, or too many, the least sizes that satisfy the properties are taken.
#[test]
fn least_sizes_of_deferred_sets() {
    let check = |sets: &str, constants: &str, properties: &str, expected: &[(&str, usize)]| {
        let text = format!(
            "MACHINE m SETS {sets} CONSTANTS {constants} PROPERTIES {properties}
             VARIABLES n INVARIANT n : 0..1 INITIALISATION n := 0 OPERATIONS stay = skip END"
        );
        let loaded = load(Source::new("test.mch", text.as_str()), Language::B, &LoadOptions::default());
        let loaded = loaded.unwrap_or_else(|diagnostics| panic!("{text}: {diagnostics:#?}"));
        let sizes: Vec<String> =
            loaded.warnings.iter().filter(|it| it.code == "default-size").map(|it| it.message.clone()).collect();
        assert_eq!(sizes.len(), expected.len(), "{text}: {sizes:?}");
        for (found, (set, size)) in sizes.iter().zip(expected) {
            assert!(found.starts_with(&format!("`{set}` gets {size} member")), "{text}: {found}");
        }
    };
    check("S", "a", "a : S", &[("S", 2)]);
    check("S", "a, b, c", "a : S & b : S & c : S & a /= b & b /= c & a /= c", &[("S", 3)]);
    check("S", "a", "a = card(S) & a > 4", &[("S", 5)]);
    check("S", "a", "a : S & S - {a} = {}", &[("S", 1)]);
    check("S; T", "f", "f : S >-> T & f /: S >->> T", &[("S", 1), ("T", 2)]);
    check("S; T", "f", "f : S -->> T & card(T) = 3", &[("S", 3)]);
    // What nothing bounds is tried further than MAXINT.
    check("S", "k", "k : NATURAL & k * k = 100 & card(S) = 1", &[]);
    let none = "MACHINE m SETS S CONSTANTS a PROPERTIES a : S & a /= a END";
    let diagnostics = load(Source::new("test.mch", none), Language::B, &LoadOptions::default()).expect_err("none");
    assert!(diagnostics.iter().any(|it| it.code == "no-solution"), "{diagnostics:#?}");
}

/// A function over all integers has values wherever it is applied.
#[test]
fn functions_over_all_integers() {
    let text = "MACHINE m CONSTANTS next, k PROPERTIES next = %x.(x : INTEGER | x + 1) & k = next(next(5))
        VARIABLES n INVARIANT n : 0..k & next(n) <= 8 INITIALISATION n := 0
        OPERATIONS up = SELECT n < k THEN n := next(n) END; r <-- get(y) = PRE y : 0..20 THEN r := next(y) END END";
    expect(text, &[], "holds", 10);
    let wrong = text.replace("<= 8", "<= 7");
    expect(&wrong, &[], "next(n) <= 7", 0);
}

/// A function to all naturals that is given argument by argument.
#[test]
fn functions_given_pointwise() {
    let text = "MACHINE m SETS S = {a, b} DEFINITIONS SET_PREF_MAXINT == 2 ** 3 - 1 CONSTANTS speed
        PROPERTIES speed : S --> NATURAL1 & speed(a) = 10 & 20 = speed(b)
        VARIABLES t INVARIANT t : 0..40 INITIALISATION t := 0
        OPERATIONS go(s) = PRE s : S & t < MAXINT THEN t := t + speed(s) END; stay = skip END";
    expect(text, &[], "holds", 5);
}

/// Steps are calls with arguments and results, and nothing but what the text names is among them.
#[test]
fn calls_and_results() {
    use quotient_ir::{Action, Interpreter, RuleId};
    let text = "MACHINE m SETS S = {s, t} VARIABLES f, x INVARIANT f : S +-> S & x : S
        INITIALISATION f := {s |-> t} || x :: S
        OPERATIONS
          r, all <-- look(p, q) = PRE p : S * S & q <: S & x = s THEN r := prj1(S, S)(p) || all := f~ END;
          y <-- same(z) = PRE z = x THEN y := bool(z = s) END;
          move = ANY z WHERE z : S THEN x := z END END";
    let (model, _) = read(Source::new("test.mch", text), &[]);
    let layout = Layout::new(&model).expect("a layout");
    let interpreter = Interpreter::new(&model, &layout);
    let operations = model.operations.as_ref().expect("a machine has operations");
    let fire = |state: &quotient_ir::Valuation, name: &str, number: usize| {
        let mut enabled = Vec::new();
        for (id, rule) in model.rules.iter_enumerated() {
            for arguments in interpreter.instances(&rule.parameters, &rule.locals) {
                if operations.calls[id].name == name && interpreter.enabled(id, &arguments, state) == Ok(true) {
                    enabled.push((id, arguments));
                }
            }
        }
        let (id, arguments): &(RuleId, Vec<i64>) = &enabled[number];
        let action = Action::Rule(*id);
        let quotient_ir::Outcome::Next { state: next, .. } = interpreter.fire(*id, arguments, state) else { panic!() };
        let results = operations.results(&interpreter, action, arguments, state);
        let results: Vec<String> = results.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let call = operations.call_text(&interpreter, action, arguments, Some(state));
        (next, format!("{call} --> {}", results.join(", ")))
    };
    let start = quotient_ir::StartId::from_position(0);
    let quotient_ir::Outcome::Next { state: root, .. } = interpreter.run_start(start, &[]) else { panic!() };
    let (state, text) = fire(&root, "INITIALISATION", 0);
    assert_eq!(text, "INITIALISATION --> ");
    assert_eq!(fire(&state, "look", 7).1, "look(p=(s|->t), q={s,t}) --> r=s, all={(t|->s)}");
    assert_eq!(fire(&state, "same", 0).1, "same(z=s) --> y=TRUE");
    let (state, text) = fire(&state, "move", 1);
    assert_eq!(text, "move --> ");
    assert_eq!(fire(&state, "same", 0).1, "same(z=t) --> y=FALSE");
}

/// Values are written as in B.
#[test]
fn notation() {
    let text = "MACHINE m SETS S = {s, t} VARIABLES a, r, f, g, q, p, v, b
        INVARIANT a <: S & r : S <-> S & f : S +-> 0..2 & g : S --> POW(S) & q : seq(S) & size(q) <= 2 &
          p : struct(one : S, all : POW(S)) & v : POW(POW(S)) & b : BOOL & b = FALSE
        INITIALISATION a := {t} || r := {s |-> t} || f := {t |-> 2} || g := {s |-> {}, t |-> S} || q := [t, s] ||
          p := rec(one : s, all : {t}) || v := {{}, {s, t}} || b := TRUE OPERATIONS stay = skip END";
    let (model, _) = read(Source::new("test.mch", text), &[]);
    let layout = Layout::new(&model).expect("a layout");
    let (report, verdict) = search(&model);
    assert_eq!(verdict, "b = FALSE");
    let trace = report.properties.iter().find_map(|property| property.trace.as_ref()).expect("a run");
    let state = &trace.steps.last().expect("a step").state;
    let shown = model.notations.iter().map(|(variable, notation)| {
        let entry = &model.variables[*variable];
        let mut cells = state.0.iter().skip(layout.first_slot(*variable).position()).copied();
        format!("{} = {}", entry.name, notation.text(&model, entry.ty, &mut cells))
    });
    let shown: Vec<String> = shown.collect();
    let expected = [
        "a = {t}",
        "r = {(s|->t)}",
        "f = {(t|->2)}",
        "g = {(s|->{}),(t|->{s,t})}",
        "q = [t,s]",
        "p = rec(all:{t},one:s)",
        "v = {{},{s,t}}",
        "b = TRUE",
    ];
    assert_eq!(shown, expected);
}
