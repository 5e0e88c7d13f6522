//! Symbolic searches and proofs by a solver from the command line.

mod transcript;

use transcript::quotient;

const READERS: &str = "../../../../models/murphi/readers_writers.m";
const GERMAN: &str = "../../../../models/murphi/german.m";
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
    for engine in ["symbolic", "sat", "sat-bounded"] {
        let said = quotient(["check", "--engine", engine, FORGOTTEN]);
        assert_eq!(said.status, Some(1), "{said}");
        assert!(said.stdout.contains("Startstate \"all caches empty\""), "{said}");
    }
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
