//! Adaptive reduction, partial symmetry and guarded quotients from the command line.

use crate::transcript::quotient;

const READERS: &str = "../../../../models/murphi/readers_writers.m";
const CONTROLLER: &str = "../../../../models/murphi/resource_controller.m";

#[test]
fn rules_are_shown_with_what_they_tell_apart() {
    let said = quotient(["check", "--reduction", "adaptive", "--property", "a writer is alone", READERS]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stdout.contains("enter beside readers distinguishes | 1, 2 | 3 |, because of p <= 2"), "{said}");
    assert!(said.stdout.contains("9, representing 22"), "{said}");
}

#[test]
fn json_says_the_same() {
    let said = quotient(["check", "--reduction", "adaptive", "--format", "json", CONTROLLER]);
    assert_eq!(said.status, Some(0), "{said}");
    for words in
        [r#""reduction":"adaptive""#, r#""exact":true"#, r#""represented":"388""#, r#""partition":"| 1–3 | 4–6 |""#]
    {
        assert!(said.stdout.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_is_beyond_it_is_refused() {
    for (arguments, words) in [
        (&["check", "--reduction", "adaptive", READERS][..], "liveness property `everyone can enter again`"),
        (&["check", "--reduction", "adaptive", "--search", "dfs", CONTROLLER], "breadth-first only"),
        (&["check", "--reduction", "adaptive", "--spill", "folder", CONTROLLER], "cannot be used with adaptive"),
        (&["check", "--reduction", "adaptive", "--symmetry", "off", CONTROLLER], "add --symmetry auto"),
        (&["check", "--reduction", "adaptive", "--property", "in range", "counter.m"], "no type indexes an array"),
    ] {
        let said = quotient(arguments);
        assert_eq!(said.status, Some(2), "{said}");
        assert!(said.stderr.contains(words), "{said}");
    }
}

#[test]
fn notions_of_symmetry_come_with_witnesses() {
    let said = quotient(["detect", "--partial", READERS]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stdout.contains("try                          all alike"), "{said}");
    assert!(said.stdout.contains("  virtual    no"), "{said}");
    let said = quotient(["detect", "--partial", "--format", "json", READERS]);
    assert!(said.stdout.contains(r#""virtual":{"holds":false,"witness":{"from""#), "{said}");
}

#[test]
fn guarded_quotients_are_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.dot");
    let said = quotient([
        "explore".as_ref(),
        "--reduction".as_ref(),
        "adaptive".as_ref(),
        "--export".as_ref(),
        path.as_os_str(),
        READERS.as_ref(),
    ]);
    assert_eq!(said.status, Some(0), "{said}");
    let graph = std::fs::read_to_string(&path).expect("the export is there");
    assert!(graph.contains("within | 1, 2 | 3 |"), "{graph}");
}

#[test]
fn adaptive_searches_are_held_against_unreduced_ones() {
    let said = quotient(["check", "--reduction", "adaptive", "--cross-check", CONTROLLER]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stdout.contains("agrees with the unreduced search in verdicts and all 388 states"), "{said}");
}

/// Many orbits of few symmetries, and rules that share all permutations: adaptive reduction chooses itself.
#[test]
fn adaptive_reduction_is_chosen_where_rules_share_much_more_than_the_model() {
    let sizes = ["-D", "N=18", "-D", "SIZE=2", "-D", "K=9"];
    let mut arguments = vec!["check", CONTROLLER];
    arguments.extend(sizes);
    let said = quotient(&arguments);
    assert_eq!(said.status, Some(0), "{said}");
    let reason = "chosen because 4 of 5 rules allow 6.4e15 permutations, and the whole model has 512 symmetries";
    assert!(said.stdout.contains(reason), "{said}");
    assert!(said.stdout.contains("505, representing 1,310,716"), "{said}");
    // Few orbits are searched as ever.
    let said = quotient(["check", CONTROLLER]);
    assert!(said.stdout.contains("reduction    canonical"), "{said}");
}
