//! Transcripts of `quotient detect --text` and `--family`: what the text alone shows, for one size and for all.

use crate::transcript::{expect, quotient, quotient_with};
use snapbox::str;

#[test]
fn all_permutations_for_all_sizes() {
    expect(
        quotient(["detect", "--family", "../../../../models/murphi/german.m"]),
        str![[r#"
family: S_N × S_VALUES, for all N, VALUES

node: N values, S_N
  11 parameters, 50 indices, 3 comparisons, 1 assignment, 5 quantifiers

value: VALUES values, S_VALUES
  1 parameter, 2 comparisons, 8 assignments

read with    N = 2, 3, 4, 5
read with    VALUES = 1, 2, 3, 4
---- exit status 0

"#]],
    );
}

#[test]
fn rotations_for_all_sizes() {
    expect(
        quotient(["detect", "--family", "../../../../models/murphi/leader_election_ring.m"]),
        str![[r#"
family: C_N, for all N

agent: N values, C_N
  5 parameters, 25 indices, 4 comparisons, 3 assignments, 3 quantifiers
  limited: `(u + 1) % 4` computes with it
    ../../../../models/murphi/leader_election_ring.m:38:5
    38 |     rule "come forward"

read with    N = 3, 4, 5, 6
---- exit status 0

"#]],
    );
}

#[test]
fn a_size_that_is_set() {
    expect(
        quotient(["detect", "--family", "-D", "N=20", "../../../../models/murphi/peterson.m"]),
        str![[r#"
family: S_N, for the sizes that were read

process: N values, S_N, as far as was read
  4 parameters, 19 indices, 3 comparisons, 1 assignment, 3 quantifiers, 1 loop

level: N values, nothing but the identity
  2 indices, 3 assignments
  limited: `1` is named
    ../../../../models/murphi/peterson.m:53:5
    53 |     level_of[p] := 1;
  limited: `0` is named
    ../../../../models/murphi/peterson.m:80:5
    80 |     level_of[p] := 0;
  limited: `level_of[other] < level_of[p]` computes with it
    ../../../../models/murphi/peterson.m:64:3
    64 |   rule "pass a level"
  limited: `level_of[p] < 19` computes with it
    ../../../../models/murphi/peterson.m:69:5
    69 |     if level_of[p] < N - 1 then
  and 2 more

read with    N = 19, 20, 21, 22
---- exit status 0

"#]],
    );
}

#[test]
fn sizes_of_deferred_sets() {
    let said = quotient(["detect", "--family", "../../../../models/b/Library.mch"]);
    assert!(said.stdout.starts_with("family: S_Book × S_Reader, for all Reader, Book\n"), "{said}");
}

#[test]
fn classes_and_channels_as_far_as_was_read() {
    expect(
        quotient(["detect", "--family", "../../../../models/promela/leader_ring.pml"]),
        str![[r#"
family: C_N, for the sizes that were read

the indices of `link`, the contents of `link`: N values, C_N, as far as was read
  5 parameters, 20 indices, 1 quantifier
  limited: `(p + 3 - 1) % 3` computes with it
    ../../../../models/promela/leader_ring.pml:20:6
    20 |   :: !leader && nempty(link[(_pid + N - 1) % N]) -> d_step { nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1; leader = 1 }

read with    N = 2, 3, 4, 5
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "--family", "../../../../models/murphi/home_cache.m"]),
        str![[r#"
family: S_(N - 1), for all N

node: N - 1 of N values, S_(N - 1)
  3 parameters, 12 indices, 3 comparisons, 4 quantifiers, 1 loop
  limited: `1` is named
    ../../../../models/murphi/home_cache.m:54:1
    54 | rule "flush"

read with    N = 4, 5, 6, 7
---- exit status 0

"#]],
    );
}

#[test]
fn a_text_without_sizes() {
    expect(
        quotient(["detect", "--family", "counter.m"]),
        str![[r#"
family: 1, for the sizes that were read

the contents of `count`: Limit + 1 values, nothing but the identity
  3 comparisons, 2 assignments
  limited: `3` is named
    counter.m:15:1
    15 | rule "reset" count = Limit ==>
  limited: `0` is named
    counter.m:17:3
    17 |   count := 0;
  limited: `count < 3` computes with it
    counter.m:10:1
    10 | rule "increment" count < Limit ==>
  limited: `count + 1` computes with it
    counter.m:12:3
    12 |   count := count + 1;
  and 1 more

read with    Limit = 2, 3, 4, 5
---- exit status 0

"#]],
    );
}

#[test]
fn what_cannot_be_a_family() {
    for (arguments, words) in [
        (&["detect", "--family", "--symmetry", "declared", "mutex.m"][..], "it reads the text"),
        (&["detect", "--family", "--partial", "mutex.m"], "cannot be used with"),
    ] {
        let said = quotient(arguments);
        assert_eq!(said.status, Some(2), "{said}");
        assert!(said.stderr.contains(words), "{said}");
    }
    let said = quotient_with(["detect", "--family", "-"], b"var x: 0..1; startstate x := 0; end;", &[]);
    assert_eq!(said.status, Some(2), "{said}");
    assert!(said.stderr.contains("give it as a file"), "{said}");
}

#[test]
fn the_text_alone() {
    expect(
        quotient(["detect", "--text", "-D", "N=1000", "../../../../models/murphi/german.m"]),
        str![[r#"
symmetries: 8.04 × 10^2567, S1000 × S2

preserved    invariant "coherence", invariant "latest value"
text         shows all of them, with strict quantifiers in …
search       of the text only: nothing else was asked for
time         …
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "--text", "-D", "N=1000", "../../../../models/murphi/peterson.m"]),
        str![[r#"
symmetries: 4.02 × 10^2567, S1000

preserved    invariant "mutual exclusion", invariant "someone stays behind at each level"
text         shows all of them in …
search       of the text only: nothing else was asked for
time         …
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "--text", "../../../../models/promela/three_tiered.pml", "--why-not", "client 4 5"]),
        str![[r#"
symmetries: 144, S3 wr S2 × S2

`client 4 5` is not seen to be a symmetry in the text

note: some cells are set to constants
  --> ../../../../models/promela/three_tiered.pml:39:5
   |
39 |     run server(0); run server(1); run server(2);
   |     ^^^^^^^^^^^^^
---- exit status 0

"#]],
    );
}

/// Processes that are created one by one are alike if what is written is; a process that gets another argument is not.
#[test]
fn processes_created_in_one_step() {
    let text = |argument: u32| {
        format!(
            "byte x[3];\nproctype p(byte i) {{ do :: x[i] = 1 od }}\n\
             init {{ atomic {{ run p(0); run p(1); run p({argument}) }} }}\n"
        )
    };
    for (argument, structure) in [(2, "S3"), (1, "S2")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("created.pml");
        std::fs::write(&path, text(argument)).expect("the model is written");
        let said = quotient(["detect".as_ref(), "--text".as_ref(), path.as_os_str()]);
        assert!(said.stdout.contains(structure), "{argument}: {said}");
    }
}

/// The first instance of an assumption that is false or fails decides, so that their order can be noticed.
#[test]
fn assumptions_that_may_fail() {
    let text = "type p: 0..1; var x: array [p] of 0..1;\nstartstate for i: p do x[i] := 0; end; end;\n\
        ruleset i: p do rule undefine x[i]; end; end;\nruleset i: p do assume x[i] = 0; end;\n";
    let said = quotient_with(["detect", "--text", "-"], text.as_bytes(), &[]);
    assert!(said.stdout.contains("symmetries: 1,"), "{said}");
}

/// A condition inside another may go wrong as well: both quantifiers are made strict.
#[test]
fn quantifiers_inside_others_that_may_fail() {
    let text = "type p: scalarset(3); var a: array [p] of 0..1; b: array [p] of boolean;\n\
        startstate for i: p do b[i] := false; end; end;\n\
        ruleset i: p do rule !b[i] ==> b[i] := true; a[i] := 0; end; end;\n\
        rule forall i: p do b[i] end ==> for i: p do b[i] := false; undefine a[i]; end; end;\n\
        invariant forall i: p do forall j: p do b[i] & b[j] -> a[i] = a[j] end end;\n";
    let said = quotient_with(["detect", "--text", "-"], text.as_bytes(), &[]);
    assert!(said.stdout.contains("symmetries: 6, S3") && said.stdout.contains("with strict quantifiers"), "{said}");
    let said = quotient_with(["check", "-"], text.as_bytes(), &[]);
    assert!(said.stdout.contains("4, representing 8"), "{said}");
}
