//! No machine makes the B front end panic, hang, exhaust the stack or the memory: every example machine
//! with a token left out, doubled or exchanged with the next, machines nested too deep, and machines that
//! ask for too much.

use std::path::Path;
use std::time::{Duration, Instant};

use quotient_b::LANGUAGE;
use quotient_ir::Source;
use quotient_kit::LoadOptions;

/// The codes of everything said about a text.
fn codes(text: &str) -> Vec<&'static str> {
    let started = Instant::now();
    let result = LANGUAGE.load(Source::new("test.mch", text), &LoadOptions::default());
    assert!(started.elapsed() < Duration::from_secs(60), "too slow:\n{text}");
    match result {
        Ok(loaded) => loaded.warnings.iter().map(|it| it.code).collect(),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "refused without a word:\n{text}");
            for label in diagnostics.iter().filter_map(|it| it.primary.as_ref()) {
                assert!(label.span.start <= label.span.end && label.span.end as usize <= text.len(), "{label:?}");
            }
            diagnostics.iter().map(|it| it.code).collect()
        }
    }
}

/// A rough split into words, numbers and signs.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let kind = |it: char| if it.is_alphanumeric() || it == '_' { 0 } else { 1 + u32::from(it) };
    let mut last = None;
    for (offset, character) in text.char_indices() {
        if last.is_some_and(|it| it != kind(character)) {
            pieces.push(&text[start..offset]);
            start = offset;
        }
        last = Some(kind(character));
    }
    pieces.push(&text[start..]);
    pieces
}

#[test]
fn small_changes_of_machines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/b");
    let mut seeds: Vec<_> =
        std::fs::read_dir(folder).expect("the machines").map(|entry| entry.expect("an entry").path()).collect();
    seeds.sort();
    let mut count = 0;
    for (seed, path) in seeds.iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("a machine");
        // Comments say nothing about the front end.
        let text: String = text.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
        let pieces = pieces(&text);
        for at in (seed % 3..pieces.len()).step_by(3).filter(|at| !pieces[*at].trim().is_empty()) {
            let mut changed: Vec<&str> = pieces.clone();
            match (at / 3 + seed) % 3 {
                0 => {
                    changed.remove(at);
                }
                1 => changed.insert(at, pieces[at]),
                _ => changed.swap(at, (at + 2).min(pieces.len() - 1)),
            }
            codes(&changed.concat());
            count += 1;
        }
    }
    assert!(count > 500);
}

#[test]
fn machines_nested_too_deep() {
    let machine = |predicate: &str| {
        format!("MACHINE m VARIABLES x INVARIANT x : BOOL & {predicate} INITIALISATION x := TRUE END")
    };
    assert!(codes(&machine(&format!("{}x = x{}", "(".repeat(100_000), ")".repeat(100_000)))).contains(&"too-deep"));
    assert!(codes(&machine(&"not ".repeat(100_000))).contains(&"too-deep"));
    assert!(codes(&machine(&vec!["x = x"; 100_000].join(" & "))).contains(&"too-deep"));
    assert!(codes(&machine(&format!("{}x", "-".repeat(100_000)))).contains(&"too-deep"));
    assert!(codes(&machine(&vec!["x = x"; 1_000].join(" & "))).is_empty());
    let begins = format!("MACHINE m OPERATIONS op = {} skip {} END", "BEGIN ".repeat(50_000), "END ".repeat(50_000));
    assert!(codes(&begins).contains(&"too-deep"));
}

#[test]
fn definitions_that_grow() {
    let mut text = String::from("MACHINE m DEFINITIONS d0(x) == x + x");
    for level in 1..30 {
        text.push_str(&format!("; d{level}(x) == d{}(x) + d{}(x)", level - 1, level - 1));
    }
    text.push_str(" VARIABLES v INVARIANT v : 0..d29(1) INITIALISATION v := 0 END");
    assert!(codes(&text).contains(&"too-large"));
}

#[test]
fn machines_that_ask_for_too_much() {
    let with = |clauses: &str| codes(&format!("MACHINE m SETS S {clauses} END"));
    assert!(with("DEFINITIONS scope_S == 40 CONSTANTS f PROPERTIES f : S --> S").contains(&"too-large"));
    assert!(with("CONSTANTS n PROPERTIES n : NATURAL & n * n = 7").contains(&"no-solution"));
    assert!(with("CONSTANTS n PROPERTIES n : NATURAL & n * n = 4").contains(&"assumed-bounds"));
    assert!(with("CONSTANTS n PROPERTIES n <: NATURAL & 7 : n").contains(&"unbounded"));
    assert!(
        with("DEFINITIONS scope_S == 60 VARIABLES v INVARIANT v : POW(POW(S)) INITIALISATION v := {}")
            .contains(&"too-large")
    );
    assert!(
        with("DEFINITIONS scope_S == 20 VARIABLES v INVARIANT v <: S INITIALISATION v :: POW(S)")
            .contains(&"too-many-values")
    );
    assert!(with("VARIABLES v INVARIANT v <: 0..1000000000 INITIALISATION v := {}").contains(&"too-large"));
}

/// A total bijection between sets of eight: forty thousand candidates of sixteen million functions.
#[test]
fn bijections_are_not_searched_among_all_functions() {
    let text = "MACHINE m SETS S; T DEFINITIONS scope_S == 8; scope_T == 8 CONSTANTS f, g
        PROPERTIES f : S >->> T & g : S & !x.(x : S => x : dom(f)) & f = f & 1 = 2 END";
    let started = Instant::now();
    assert!(codes(text).contains(&"no-solution"));
    assert!(started.elapsed() < Duration::from_secs(30));
}
