//! No input makes a front end panic, hang, exhaust the stack or the memory: mutations of good
//! models, random bytes, files that are too large or nested too deep.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use quotient_ir::Diagnostic;
use quotient_kit::{LoadOptions, MAXIMUM_SOURCE_BYTES, source_from_bytes};
use quotient_murphi::LANGUAGE;

/// Models that use every construct of the language at least once.
const SEEDS: &[&str] = &[
    include_str!("../seeds/constructs.m"),
    include_str!("../seeds/cmurphi.m"),
    include_str!("../seeds/protocol.m"),
    include_str!("../seeds/unicode.m"),
];

/// Reads bytes as the command line would.
fn read(bytes: &[u8]) -> Result<(), Vec<Diagnostic>> {
    let source = source_from_bytes("test.m", bytes).map_err(|diagnostic| vec![diagnostic])?;
    LANGUAGE.load(source, &LoadOptions::default()).map(drop)
}

/// The codes of everything said about a text.
fn codes(text: &str) -> Vec<&'static str> {
    read(text.as_bytes()).err().unwrap_or_default().iter().map(|it| it.code).collect()
}

/// A rough split into words, numbers, signs and spaces: enough to mutate token by token.
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

#[derive(Clone, Debug)]
enum Mutation {
    Delete(prop::sample::Index),
    Duplicate(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Truncate(prop::sample::Index),
    Insert(prop::sample::Index, String),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        at().prop_map(Mutation::Delete),
        at().prop_map(Mutation::Duplicate),
        (at(), at()).prop_map(|(one, other)| Mutation::Swap(one, other)),
        at().prop_map(Mutation::Truncate),
        (at(), "[ -~]{1,3}|end|begin|if|rule|var|\\PC").prop_map(|(at, text)| Mutation::Insert(at, text)),
    ]
}

fn mutate(seed: &str, mutations: &[Mutation]) -> String {
    let mut pieces: Vec<String> = pieces(seed).into_iter().map(str::to_owned).collect();
    for mutation in mutations {
        if pieces.is_empty() {
            break;
        }
        let count = pieces.len();
        match mutation {
            Mutation::Delete(at) => {
                pieces.remove(at.index(count));
            }
            Mutation::Duplicate(at) => {
                let piece = pieces[at.index(count)].clone();
                pieces.insert(at.index(count), piece);
            }
            Mutation::Swap(one, other) => pieces.swap(one.index(count), other.index(count)),
            Mutation::Truncate(at) => pieces.truncate(at.index(count)),
            Mutation::Insert(at, text) => pieces.insert(at.index(count), text.clone()),
        }
    }
    pieces.concat()
}

fn mutated_model() -> impl Strategy<Value = String> {
    (prop::sample::select(SEEDS), prop::collection::vec(mutation(), 1..8))
        .prop_map(|(seed, mutations)| mutate(seed, &mutations))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_models_are_read_or_refused(text in mutated_model()) {
        let _ = read(text.as_bytes());
    }

    #[test]
    fn random_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn random_words_are_refused_or_read(
        words in prop::collection::vec(prop::sample::select(pieces(SEEDS.concat().leak())), 0..200)
    ) {
        let _ = read(words.join(" ").as_bytes());
    }
}

#[test]
fn seeds_are_right() {
    for seed in SEEDS {
        let read = read(seed.as_bytes());
        assert!(read.is_ok(), "{seed}\n{read:#?}");
    }
}

/// Found by mutation: the type was numbered for the first of its names, which is in no union.
#[test]
fn names_that_share_a_type_may_stand_in_unions() {
    let text =
        "type N: scalarset(2); A, H: enum {h, k}; U: union {N, H}; var u: U; a: A; startstate begin u := a; end;";
    assert_eq!(read(text.as_bytes()), Ok(()));
}

#[test]
fn large_files_are_refused_at_once() {
    let bytes = vec![b'a'; 100_000_000];
    let start = Instant::now();
    let diagnostics = read(&bytes).expect_err("this is no model");
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(diagnostics.iter().map(|it| it.code).collect::<Vec<_>>(), ["file-too-large"]);
    assert!(read(&bytes[..=MAXIMUM_SOURCE_BYTES]).is_err());
}

#[test]
fn binary_garbage_is_refused() {
    let bytes: Vec<u8> = (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert_eq!(read(&bytes).expect_err("this is no text")[0].code, "not-text");
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte.max(1)).collect();
    let diagnostics = read(&bytes).expect_err("this is no model");
    assert!(diagnostics.len() <= 51);
}

#[test]
fn other_encodings_do_no_harm_in_comments() {
    assert_eq!(read(b"-- M\xFCller\nvar x: boolean; startstate begin x := true; end; rule begin end;"), Ok(()));
    let diagnostics = read(b"var x\xFC: boolean;").expect_err("this is no name");
    assert_eq!(diagnostics[0].message, "unexpected character that is not UTF-8");
}

/// Nesting that the parser accepts must not exhaust the stack of any phase after it, and nesting
/// that it refuses must not exhaust its own. Tests run with two megabytes of it.
#[test]
fn nesting_is_safe_at_any_depth() {
    let head = "var a: array [0..1] of 0..1; x: 0..1; b: boolean; startstate begin x := 0; end;\n";
    for (before, open, middle, close, after) in [
        ("invariant ", "(", "b", ")", ""),
        ("invariant ", "!", "b", "", ""),
        ("invariant ", "b & (b | ", "b", ")", ""),
        ("invariant ", "(b ? b : ", "b", ")", ""),
        ("invariant x = ", "- ", "x", "", ""),
        ("invariant x = ", "x + (", "x", ")", ""),
        ("invariant x = ", "x + ", "x", "", ""),
        ("invariant x = ", "a[", "x", "]", ""),
        ("invariant ", "forall i: 0..1 do ", "b", " end", ""),
        ("invariant ", "exists i: 0..1 do b & ", "b", " end", ""),
        ("invariant forall ", "i: 0..1; ", "i: 0..1", "", " do b end"),
        ("type t: ", "array [0..1] of ", "boolean", "", ""),
        ("type t: ", "record a: ", "boolean", " end", ""),
        ("rule begin ", "if b then ", "x := 1", " end", " end"),
        ("rule begin ", "if b then x := 0 else ", "x := 1", " end", " end"),
        ("rule begin ", "while b do ", "x := 1", " end", " end"),
        ("rule begin ", "for i: 0..1 do ", "x := 1", " end", " end"),
        ("rule begin ", "switch x case 0: ", "x := 1", " end", " end"),
        ("rule begin ", "alias c: x do ", "x := 1", " end", " end"),
        ("rule begin for ", "i: 0..1; ", "i: 0..1", "", " do x := 1 end end"),
        ("", "ruleset i: 0..1 do ", "rule begin end", " end", ""),
        ("", "alias c: x do ", "rule begin end", " end", ""),
    ] {
        for depth in [60, 64, 100, 125, 128, 200, 250, 254, 255, 256, 300, 50_000] {
            let text = format!("{head}{before}{}{middle}{}{after}", open.repeat(depth), close.repeat(depth));
            let codes = codes(&text);
            let refused = codes.contains(&"too-deeply-nested");
            assert!(refused || depth < 256, "{open} at {depth}: {codes:?}");
            assert!(!refused || depth > 60, "{open} at {depth}: {codes:?}");
        }
    }
}

/// Time must stay linear: twice the text may not take much more than twice the time.
#[test]
fn long_texts_take_linear_time() {
    let head = "var x: 0..1; b: boolean; startstate begin x := 0; end;\n";
    for (before, repeated, after) in [
        ("rule begin ", "x := 1; ", "end;"),
        ("rule begin if b then ", "elsif b then x := 1; ", "end end;"),
        ("", "rule begin x := 1; end;\n", ""),
        ("", "invariant b & x = 1;\n", ""),
        ("invariant b ", "& b ", ";"),
        ("", "@ ", ""),
        ("", ";", ""),
        ("", "\"", ""),
        ("", "/*", ""),
        ("", "end ", ""),
        ("", "'", ""),
        ("", "#", ""),
        ("", "((((((((", ""),
        ("", "rule x := ", ""),
        ("", "rule begin if ", ""),
    ] {
        let time = |size: usize| {
            let text = format!("{head}{before}{}{after}", repeated.repeat(size / repeated.len()));
            let start = Instant::now();
            let _ = read(text.as_bytes());
            start.elapsed()
        };
        let (short, long) = (time(100_000), time(800_000));
        assert!(long < short * 8 * 6 + Duration::from_millis(500), "{repeated:?}: {short:?} and {long:?}");
    }
}
