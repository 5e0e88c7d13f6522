//! Symbolic searches, proofs by a solver and searches with counters from the command line.

use crate::transcript::{quotient, quotient_with};

const SEMAPHORE: &str = "../../../../models/murphi/semaphore_mutex.m";
const READERS: &str = "../../../../models/murphi/readers_writers.m";
const GERMAN: &str = "../../../../models/murphi/german.m";
const GOLFERS: &str = "../../../../models/murphi/social_golfer.m";
const FORGOTTEN: &str = "../../../../models/murphi/german_forgotten_reader.m";
const LOCKS: &str = "../../../../models/murphi/lock_server.m";

#[test]
fn sets_have_the_counts_of_single_states() {
    let said = quotient(["check", "--engine", "symbolic", "--exact-counts", "-D", "READERS=3", READERS]);
    assert_eq!(said.status, Some(0), "{said}");
    for words in ["representing 62", "dynamic; sets are sorted", "diagrams"] {
        assert!(said.stdout.contains(words), "{words}: {said}");
    }
}

#[test]
fn sets_can_be_astronomically_large() {
    let arguments =
        ["check", "--engine", "symbolic", "--symmetry", "off", "--format", "json", "-D", "READERS=45", READERS];
    let said = quotient(arguments);
    assert_eq!(said.status, Some(0), "{said}");
    for words in [r#""verdict":"holds""#, r#""states":null"#, r#""represented":"5908625448286039486118"#] {
        assert!(said.stdout.contains(words), "{words}: {said}");
    }
}

#[test]
fn sets_and_proofs_find_what_is_wrong() {
    for engine in ["symbolic", "sat", "sat-bounded", "counters"] {
        let said = quotient(["check", "--engine", engine, FORGOTTEN]);
        assert_eq!(said.status, Some(1), "{said}");
        assert!(said.stdout.contains("Startstate \"all caches empty\""), "{said}");
    }
}

#[test]
fn processes_are_counted() {
    let said = quotient(["check", "--engine", "counters", "-D", "N=60", SEMAPHORE]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stdout.contains("121, representing 35,740,566,642,812,256,256"), "{said}");
    assert!(said.stderr.contains("60 interchangeable values are counted, in at most 3 sorts at a time"), "{said}");
}

#[test]
fn very_many_processes_are_counted_by_default() {
    for (arguments, is_counted) in
        [(&["-D", "N=100"][..], true), (&["-D", "N=20"], false), (&["-D", "N=100", "--max-states", "50"], false)]
    {
        let said = quotient([&["check", SEMAPHORE], arguments].concat());
        assert_eq!(said.stderr.contains("100 interchangeable values are counted"), is_counted, "{said}");
    }
}

#[test]
fn what_counters_do_not_show_is_refused_with_its_location() {
    let said = quotient(["check", "--engine", "counters", GOLFERS]);
    assert_eq!(said.status, Some(3), "{said}");
    assert!(said.stderr.contains("social_golfer.m:") && said.stderr.contains("holds such values"), "{said}");
}

#[test]
fn formulas_are_decided_by_counters() {
    let check = |fairness: &str, kind: &str, formula: &str| {
        quotient(["check", "--engine", "counters", "--fairness", fairness, "-D", "N=60", kind, formula, SEMAPHORE])
    };
    let served = "forall p: process do [] (at[p] = trying -> <> at[p] = critical) end";
    let said = check("none", "--ltl", served);
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.contains("the cycle leads back to the state after step"), "{said}");
    assert!(said.stdout.contains("60 values counted"), "{said}");
    for (kind, formula) in [
        ("--ltl", "[] (exists p: process do at[p] = critical end -> <> is_free)"),
        ("--ctl", "forall p: process do AG (at[p] = trying -> EF at[p] = critical) end"),
    ] {
        let said = check("none", kind, formula);
        assert_eq!(said.status, Some(0), "{said}");
    }
    let said = check("weak", "--ltl", served);
    assert_eq!(said.status, Some(2), "{said}");
    assert!(said.stderr.contains("a step does not say which of the objects that are counted takes it"), "{said}");
}

#[test]
fn a_proof_needs_no_states() {
    let said = quotient(["check", "--engine", "sat", "-D", "N=2", "-D", "VALUES=1", GERMAN]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stdout.starts_with("holds\n") && said.stdout.contains("proved by"), "{said}");
}

#[test]
fn what_has_no_bits_is_refused_with_its_location() {
    for engine in ["symbolic", "sat"] {
        let said = quotient(["check", "--engine", engine, LOCKS]);
        assert_eq!(said.status, Some(3), "{said}");
        assert!(said.stderr.contains("lock_server.m:") && said.stderr.contains("multisets"), "{said}");
    }
}

#[test]
fn formulas_of_ctl_are_decided_by_sets() {
    let check = |formula: &str, fairness: &str| {
        let options = ["check", "--engine", "symbolic", "-D", "READERS=3", "--fairness", fairness, "--ctl", formula];
        quotient(options.into_iter().chain([READERS]))
    };
    let said = check("AG EF at[1] = inside", "none");
    assert_eq!(said.status, Some(0), "{said}");
    // Others may enter for ever, unless everyone is treated fairly.
    for (formula, fairness, status) in [
        ("AG (at[1] = trying -> AF at[1] = inside)", "none", 1),
        ("AG (at[1] = trying -> AF at[1] = inside)", "weak", 1),
        ("AG (at[1] = trying -> AF at[1] = inside)", "strong", 0),
        ("A (G F at[1] = inside)", "none", 2),
    ] {
        let said = check(formula, fairness);
        assert_eq!(said.status, Some(status), "{formula} {fairness}: {said}");
        let words = if status == 1 {
            "repeats"
        } else if status == 2 {
            "not a formula of CTL"
        } else {
            "holds"
        };
        assert!(said.to_string().contains(words), "{words}: {said}");
    }
}

#[test]
fn sets_are_tried_if_single_states_do_not_fit() {
    // Many states that are easy to describe, and the same beside a multiset, which has no bits.
    let cells = "var c: array [1..32] of boolean; startstate clear c; end; \
                 ruleset i: 1..32 do rule begin c[i] := !c[i]; end; end; invariant c[1] | !c[1];";
    let bag = cells.replacen("var c", "var m: multiset [1] of boolean; c", 1);
    let check = |text: &str| {
        let limits =
            ["check", "--language", "murphi", "--max-memory", "48MiB", "--symmetry", "off", "--exact-counts", "-"];
        quotient_with(limits, text.as_bytes(), &[])
    };
    let said = check(cells);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stderr.contains("single states did not fit into memory"), "{said}");
    assert!(said.stdout.contains("4,294,967,296"), "{said}");
    let said = check(&bag);
    assert_eq!(said.status, Some(4), "{said}");
    assert!(said.stderr.contains("sets of states were tried") && said.stderr.contains("multisets"), "{said}");
}

#[test]
fn diagrams_keep_within_memory() {
    let limits = ["check", "--engine", "symbolic", "--max-memory", "48MiB", "-D", "N=4"];
    let said = quotient(limits.into_iter().chain(["../../../../models/murphi/mesi.m"]));
    assert_eq!(said.status, Some(4), "{said}");
    assert!(said.stdout.contains("the limit of 48.0 MiB of memory was reached"), "{said}");
}
