//! Searches with symmetry where a transcript does not suffice: `check`, `explore` and `simulate`.

use crate::transcript::{expect, quotient, quotient_with};
use snapbox::str;

#[test]
fn without_symmetry() {
    expect(
        quotient(["check", "--symmetry", "off", "workers.m"]),
        str![[r#"
holds

holds      liveness (AG EF)  works again
holds      invariant         somebody was last
holds      invariant         the first does not finish before anybody began
holds      cover             all work
holds      no deadlock
holds      no errors

states       325
transitions  1,300
depth        9
time         …
memory       …
---- exit status 0

"#]],
    );
    let none = quotient(["check", "--reduction", "none", "workers.m"]);
    assert!(none.stdout.contains("states       325\n"), "{none}");
    assert!(!none.stdout.contains("symmetries"), "{none}");
}

/// Every method gives the same verdicts; those that are not exact say so.
#[test]
fn reductions() {
    for (reduction, is_exact) in
        [("canonical", true), ("sorted", false), ("segmented", true), ("local-search", false), ("flooding", true)]
    {
        let property = ["--property", "all work"];
        let exact = ["check", "--exact-counts", "--reduction", reduction];
        let human = quotient(exact.into_iter().chain(property).chain(["workers.m"]));
        assert_eq!(human.status, Some(0), "{human}");
        let json = quotient(exact.into_iter().chain(property).chain(["--format=json", "workers.m"]));
        assert!(json.stdout.contains(&format!("\"reduction\":\"{reduction}\"")), "{json}");
        let claims_exact = json.stdout.contains("\"exact\":true");
        assert!(claims_exact || !is_exact, "{json}");
        assert_eq!(claims_exact, json.stdout.contains("\"represented\":\"325\""), "{json}");
        assert_eq!(claims_exact, !json.stdout.contains("\"represented\":null"), "{json}");
        assert_eq!(claims_exact, !human.stdout.contains("not exact"), "{human}");
        assert_eq!(claims_exact, human.stdout.contains("representing 325"), "{human}");
    }
}

/// Plain ranges declare nothing.
#[test]
fn nothing_is_declared() {
    let transcript = quotient(["check", "--symmetry", "declared", "workers.m"]);
    assert!(transcript.stdout.contains("symmetries   none"), "{transcript}");
    assert!(transcript.stdout.contains("states       325\n"), "{transcript}");
}

#[test]
fn cross_check_json() {
    for (model, words) in [
        ("workers.m", r#""cross_check":{"compared":"everything","verdict":"holds","stop_reason":null,"states":325,"#),
        ("mutex.m", r#""cross_check":{"compared":"verdicts","verdict":"violated","stop_reason":"violation","#),
    ] {
        let transcript = quotient(["check", "--cross-check", "--format", "json", model]);
        assert!(transcript.stdout.contains(words), "{transcript}");
    }
    let limited = quotient(["check", "--cross-check", "--max-states", "200", "--format", "json", "workers.m"]);
    assert!(limited.stdout.contains(r#""cross_check":{"compared":"nothing","#), "{limited}");
}

#[test]
fn nothing_to_compare() {
    let transcript = quotient(["check", "--cross-check", "counter.m"]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    assert!(transcript.stderr.contains("nothing to compare"), "{transcript}");
}

/// Symmetries that move constants only are not worth anything.
#[test]
fn useless_symmetries() {
    let model = "var x: boolean; a: array[1..3] of 0..1;
        startstate begin x := false; for i: 1..3 do a[i] := 0; end; end;
        rule true ==> x := !x; end;
        invariant \"constant\" forall i: 1..3 do a[i] = 0 end;";
    let transcript = quotient_with(["check", "--exact-counts", "-"], model.as_bytes(), &[]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    assert!(transcript.stdout.contains("states       2\n"), "{transcript}");
}

/// A quantifier that may go wrong is searched as if it looked at all values; the verdict is that of the model.
#[test]
fn quantifiers_that_may_go_wrong() {
    let right = "type p: 0..2; var a: array[p] of boolean; n: 0..1;
        startstate begin a[0] := false; n := 0; end;
        rule forall i: p do a[i] end ==> n := 1; end;
        ruleset i: p do rule i != 0 & n = 0 ==> n := 1; end; end;";
    let wrong = "type p: scalarset(2); var a: array[p] of boolean; n: 0..1;
        ruleset i: p do startstate begin a[i] := false; n := 0; end; end;
        rule exists i: p do !a[i] end ==> n := 1 - n; end;";
    for (model, status) in [(right, 0), (wrong, 1)] {
        for symmetry in ["auto", "off"] {
            let arguments = ["check", "--deadlock", "off", "--symmetry", symmetry, "-"];
            let transcript = quotient_with(arguments, model.as_bytes(), &[]);
            assert_eq!(transcript.status, Some(status), "{transcript}");
        }
    }
}

/// A variable that indexes an array holds one of its positions afterwards, so other values do not permute.
#[test]
fn values_that_never_occur() {
    let model = "var a: array[0..2] of boolean; j: 0..255;
        startstate begin for i: 0..2 do a[i] := false; end; j := 0; end;
        rule !a[j] ==> j := j + 1; end;
        rule j = 3 ==> j := 0; end;";
    let transcript = quotient_with(["detect", "-"], model.as_bytes(), &[]);
    assert!(transcript.stdout.starts_with("symmetries: 1,"), "{transcript}");
}

/// Symmetries are looked for no longer than the time limit allows.
#[test]
fn no_time_for_symmetries() {
    let model = "const N: 60; type p: 1..N; var a: array[p] of array[p] of 0..3; turn: p;
        startstate for i: p do for j: p do a[i][j] := 0; end; end; turn := 1; end;
        ruleset i: p do
          rule turn = i & (exists j: p do forall k: p do a[j][k] = a[k][j] | a[i][j] != a[k][i] end end) ==>
            a[i][turn] := (a[i][turn] + 1) % 4; turn := i % N + 1; end;
        end;";
    let transcript = quotient_with(["check", "--timeout", "1ms", "-"], model.as_bytes(), &[]);
    assert!(matches!(transcript.status, Some(0 | 4)), "{transcript}");
    assert!(transcript.stdout.contains("not known, since the search for them was stopped"), "{transcript}");
    // The search may be over first, or the symmetries be known in time; it ends in any case.
    let transcript = quotient_with(["check", "--max-states", "50", "-"], model.as_bytes(), &[]);
    assert_eq!(transcript.status, Some(4), "{transcript}");
}

#[test]
fn a_model_that_is_too_large() {
    let model = "const N: 1000; type p: 1..N; var x: p; y: p;
        startstate x := 1; y := 1; end;
        ruleset i: p; j: p do rule x = i & y = j & i < 3 ==> x := j; y := i + 1; end; end;";
    let transcript = quotient_with(["check", "--deadlock", "off", "-"], model.as_bytes(), &[]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    assert!(
        transcript.stdout.contains("symmetries   the text shows none, and the model is too large for more"),
        "{transcript}"
    );
}

fn exported(name: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let arguments = ["explore", "--symmetry", "auto", "--export", path.to_str().expect("a path"), "mutex.m"];
    let transcript = quotient(arguments);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    std::fs::read_to_string(&path).expect("the graph was written")
}

/// Each edge says the permutation that takes the state its rule leads to to the one that is stored. Which
/// state of an orbit that is may change.
#[test]
fn the_quotient_for_aldebaran() {
    let graph = exported("quotient.aut");
    assert!(graph.starts_with("des (0, 27, 14)\n"), "{graph}");
    // From the state that both processes agree on, both lead to the same one, and only one by itself.
    let first: Vec<&str> = graph.lines().filter(|line| line.starts_with("(0, ")).collect();
    let moved = |edge: &&&str| edge.contains(" then (process 0 1)\", 1)");
    assert_eq!((first.len(), first.iter().filter(moved).count()), (2, 1), "{graph}");
    assert_eq!(first.iter().filter(|edge| edge.contains(")\", 1)")).count(), 2, "{graph}");
}

#[test]
fn the_quotient_for_graphviz() {
    let graph = exported("quotient.dot");
    assert_eq!(graph.lines().filter(|line| line.contains("[label=\"at[process_0]: ")).count(), 14, "{graph}");
    assert_eq!(graph.lines().filter(|line| line.contains(" -> ")).count(), 28, "{graph}");
    assert!(graph.contains("(process_0)\\nthen (process 0 1)\"]"), "{graph}");
}

/// Steps to states of one orbit are listed once; any can be taken, and all can be listed.
#[test]
fn steps_that_are_alike() {
    expect(
        quotient_with(["simulate", "--interactive", "workers.m"], b"l\n3\nq\n", &[]),
        str![[r#"
  0  Startstate "all rest"
       at[1]: resting
       at[2]: resting
       at[3]: resting
       at[4]: resting
       last: 0

  1) Rule "begin", w: 1
  2) Rule "begin", w: 2 (likewise 3, 4)
> 
  1) Rule "begin", w: 1
  2) Rule "begin", w: 2
  3) Rule "begin", w: 3 (like 2)
  4) Rule "begin", w: 4 (like 2)
>   1  Rule "begin", w: 3
       at[3]: resting → working
       last: 0 → 3

  1) Rule "begin", w: 1
  2) Rule "begin", w: 2 (likewise 3)
  4) Rule "finish", w: 3
> 
---- exit status 0

"#]],
    );
}

#[test]
fn steps_without_symmetry() {
    let arguments = ["simulate", "--interactive", "--symmetry", "off", "workers.m"];
    let transcript = quotient_with(arguments, b"q\n", &[]);
    assert!(!transcript.stdout.contains("like"), "{transcript}");
    assert!(transcript.stdout.contains("  4) Rule"), "{transcript}");
}

/// Several threads take more processor time than passes: it is called by its name.
#[test]
fn the_time_for_representatives_is_that_of_processors() {
    let row = |threads: &str| {
        let said = quotient(["check", "--threads", threads, "mutex.m"]).stdout;
        said.lines().find(|line| line.starts_with("reduction  ")).expect("it is reduced").to_owned()
    };
    assert!(row("2").ends_with(" of processor time for representatives"), "{}", row("2"));
    assert!(row("1").ends_with("ms for representatives"), "{}", row("1"));
}

/// What takes longer to find than the search takes is not waited for; in a long search it is found and used.
#[test]
fn symmetries_are_looked_for_as_long_as_the_search_is_worth_it() {
    let peterson = "../../../../models/promela/peterson.pml";
    // All steps are taken, in all orders: with a part of them there are far fewer states.
    let said = quotient(["check", "--exact-counts", peterson]);
    assert!(said.stdout.contains("not known, since the search was over before they were found"), "{said}");
    assert!(said.stdout.contains("states       29,917"), "{said}");
    let said = quotient(["check", "--exact-counts", "--reduction", "canonical", peterson]);
    assert!(said.stdout.contains("5,114, representing 29,917"), "{said}");
    let said = quotient(["check", "--exact-counts", "-D", "N=4", peterson]);
    assert!(said.stdout.contains("131,947, representing 3,058,788"), "{said}");
}
