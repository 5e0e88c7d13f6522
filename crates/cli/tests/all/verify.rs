//! Certificates: written by `quotient detect --certificate`, checked by `quotient verify`.

use std::path::{Path, PathBuf};

use crate::transcript::{Transcript, expect, models, quotient};
use serde_json::Value;
use snapbox::str;
use tempfile::TempDir;

fn example(name: &str) -> String {
    PathBuf::from("../../../../models").join(name).display().to_string()
}

/// Writes the certificate of a model.
fn certify(folder: &TempDir, arguments: &[&str]) -> PathBuf {
    let path = folder.path().join("certificate.json");
    let option = path.display().to_string();
    let said = quotient([&["detect"], arguments, &["--certificate", &option]].concat());
    assert_eq!(said.status, Some(0), "{arguments:?}: {}", said.stderr);
    path
}

fn verify(certificate: &Path, model: &str) -> Transcript {
    quotient(["verify".as_ref(), certificate.as_os_str(), model.as_ref()])
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("there is a certificate")).expect("it is JSON")
}

/// Changes a certificate.
fn tamper(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut certificate = read(path);
    change(&mut certificate);
    std::fs::write(path, certificate.to_string()).expect("it can be written");
}

#[test]
fn the_symmetries_of_every_example_are_certified() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = std::fs::read_to_string(models().join("../../../../docs/schema/certificate.json")).expect("a schema");
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let (mut certified, mut symmetric) = (0, 0);
    for language in ["murphi", "promela", "b"] {
        let examples = std::fs::read_dir(models().join("../../../../models").join(language)).expect("the examples");
        for entry in examples {
            let path = entry.expect("an entry").path();
            let name = path.display().to_string();
            let certificate = folder.path().join("certificate.json");
            let option = certificate.display().to_string();
            let said = quotient(["detect", &name, "--certificate", &option]);
            if said.status == Some(3) {
                continue;
            }
            assert_eq!(said.status, Some(0), "{name}: {}", said.stderr);
            let object = read(&certificate);
            assert!(schema.is_valid(&object), "{name}");
            let said = verify(&certificate, &name);
            assert!(said.stdout.starts_with("certified: "), "{name}: {said}");
            assert_eq!(said.status, Some(0), "{name}");
            certified += 1;
            symmetric += usize::from(object["order"] != "1");
        }
    }
    assert!(certified > 50 && symmetric > 35, "{certified} certified, {symmetric} with symmetries");
}

#[test]
fn a_certificate_is_checked_with_the_constants_it_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = example("murphi/peterson.m");
    let certificate = certify(&folder, &[&model, "-D", "N=4"]);
    assert_eq!(read(&certificate)["definitions"]["N"], "4");
    let said = verify(&certificate, &model);
    assert!(said.stdout.starts_with("certified"), "{said}");
    // Three processes have other cells.
    tamper(&certificate, |it| it["definitions"] = serde_json::json!({ "N": "3" }));
    let said = verify(&certificate, &model);
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.contains("the model has no cell"), "{said}");
}

#[test]
fn what_is_no_symmetry_is_refuted_with_its_rule() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = example("murphi/readers_writers.m");
    let certificate = certify(&folder, &[&model]);
    let text = std::fs::read_to_string(&certificate).expect("there is a certificate");
    // Process 3 in place of process 2: a writer in place of a reader.
    std::fs::write(&certificate, text.replace("at[2]", "at[3]")).expect("it can be written");
    expect(
        verify(&certificate, &model),
        str![[r#"
refuted: generator 1: Rule "enter beside readers", p: 2 has no image under it
  ../../../../models/murphi/readers_writers.m:44:3
  44 |   rule "enter beside readers"
11 reachable states compared with their images by the reference interpreter
---- exit status 1

"#]],
    );
}

#[test]
fn what_is_no_permutation_is_refuted() {
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = certify(&folder, &["mutex.m"]);
    tamper(&certificate, |it| {
        it["generators"][0]["cells"].as_array_mut().expect("cells").remove(0);
    });
    let said = verify(&certificate, "mutex.m");
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.starts_with("refuted: generator 1: not a permutation of states"), "{said}");
}

#[test]
fn wrong_images_and_orders_are_refuted() {
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = certify(&folder, &["mutex.m"]);
    tamper(&certificate, |it| it["order"] = "6".into());
    let said = verify(&certificate, "mutex.m");
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.contains("a group of order 2, not 6"), "{said}");
    let certificate = certify(&folder, &["mutex.m"]);
    tamper(&certificate, |it| {
        let rule = it["generators"][0]["rules"][0].clone();
        it["generators"][0]["rules"][0]["to"] = rule["from"].clone();
    });
    let said = verify(&certificate, "mutex.m");
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.contains("refuted: generator 1: it does not map"), "{said}");
}

#[test]
fn what_can_neither_be_certified_nor_refuted_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("late.m");
    // Only states that nobody visits in a reasonable time distinguish `a` and `b`.
    let text = "var n: 0..1000000; a, b: boolean;
        startstate begin n := 0; a := false; b := false; end;
        rule \"count\" n < 1000000 ==> begin n := n + 1; end;
        rule \"turn a\" true ==> begin a := !a; end;
        rule \"turn b\" true ==> begin b := !b; end;
        rule \"late\" n = 900000 & a ==> begin n := 0; end;";
    std::fs::write(&path, text).expect("a model");
    let model = path.to_str().expect("a name");
    let certificate = certify(&folder, &[model]);
    assert_eq!(read(&certificate)["order"], "1");
    tamper(&certificate, |it| {
        it["order"] = "2".into();
        let cells = serde_json::json!([{ "from": "a", "to": "b" }, { "from": "b", "to": "a" }]);
        it["generators"] = serde_json::json!([{ "cycles": ["a ↔ b"], "cells": cells, "rules": [] }]);
    });
    let said = verify(&certificate, model);
    assert_eq!(said.status, Some(4), "{said}");
    assert!(said.stdout.starts_with("cannot decide: generator 1: Rule \"late\" has no image under it"), "{said}");
    assert!(said.stdout.contains("late.m:6:9"), "{said}");
    // A state in which it matters early on refutes it.
    std::fs::write(&path, text.replace("900000", "9")).expect("a model");
    let hash = quotient::TextHash::of(&std::fs::read(&path).expect("the model")).to_string();
    tamper(&certificate, |it| it["model"]["sha256"] = hash.into());
    let said = verify(&certificate, model);
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.starts_with("refuted: generator 1: Rule \"late\""), "{said}");
    // Images of rules that do not exist are no reason to crash.
    tamper(&certificate, |it| {
        let rule = serde_json::json!({ "rule": "none", "number": 77, "arguments": [] });
        it["generators"] = serde_json::json!([{ "cycles": [], "cells": [], "rules": [{ "from": rule, "to": rule }] }]);
    });
    let said = verify(&certificate, model);
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.contains("it does not map none to none"), "{said}");
}

#[test]
fn a_certificate_of_another_model_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = certify(&folder, &["mutex.m"]);
    let said = verify(&certificate, "workers.m");
    assert_eq!(said.status, Some(3), "{said}");
    assert!(said.stderr.contains("the certificate is about another text"), "{said}");
    std::fs::write(&certificate, "{ \"schema\": \"quotient-certificate/1\",\n  \"nonsense\": 1 }").expect("a file");
    let said = verify(&certificate, "mutex.m");
    assert_eq!(said.status, Some(3), "{said}");
    assert!(said.stderr.contains("this is not a certificate") && said.stderr.contains(":2:"), "{said}");
    let said = verify(Path::new("nowhere.json"), "mutex.m");
    assert_eq!(said.status, Some(3), "{said}");
}
