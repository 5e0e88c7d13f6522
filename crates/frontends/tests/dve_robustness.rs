//! No DVE text makes the front end panic, hang, exhaust the stack or the memory: models and snippets of everything in
//! the language, changed at random, and texts that ask for too much.

use std::path::Path;
use std::time::{Duration, Instant};

use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::{Diagnostic, Source};
use quotient_testkit::random_murphi::Random;

/// Reads a text; it must be read or refused in good time, with places that are there.
fn read(text: &str) -> Result<(), Vec<&'static str>> {
    let started = Instant::now();
    let source = Source::new("test.dve", text);
    let result = load(source.clone(), Language::Dve, &LoadOptions::default());
    assert!(started.elapsed() < Duration::from_secs(60), "too slow:\n{text}");
    let diagnostics = match &result {
        Ok(loaded) => &loaded.warnings,
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(Diagnostic::is_error), "refused without a word:\n{text}");
            diagnostics
        }
    };
    for label in diagnostics.iter().flat_map(|it| it.primary.iter().chain(&it.secondary)) {
        assert!(source.text.get(label.span.range()).is_some(), "{label:?} is at no place of\n{text}");
    }
    match result {
        Ok(loaded) => {
            quotient_ir::verify(&loaded.model).expect("a model that was read is well formed");
            Ok(())
        }
        Err(diagnostics) => Err(diagnostics.iter().map(|it| it.code).collect()),
    }
}

/// Something of everything.
const SNIPPETS: &[&str] = &[
    "const byte N = 2; byte a[N] = {1, N}; int b = -3; process P { byte x; state s, t; init s; commit t; assert s x < 3; trans s -> t { guard a[x] > 0 and not (b == 1); effect x = x + 1, b = -b; }, -> s {}, t -> s {}; } system async;",
    "channel c, d; channel {byte, int} e[2]; channel {int} f[0]; process P { int v; byte w; state s; init s; trans s -> s { sync c!v + 1; }, s -> s { sync e!{1, v}; }, s -> s { sync f?v; }; } process Q { int v; byte w; state s; init s; trans s -> s { sync c?v; }, s -> s { sync e?{w, v}; }, s -> s { guard P.s && P->v imply true; sync f!2; }; } system async;",
    "process P { state s; init s; trans s -> s {}; } process Q { state a, b; init a; accept b; trans a -> b { guard P.s || false; }, b -> b {}; } system async property Q;",
    "byte x; process P { state s, t; init s; trans s -> t { effect x = (x << 2 | 1) % 3; }, t -> s { guard ~x & 1 ^ x >> 1; }; } process Q { state s; init s; trans s -> s { guard x != 2; }; } system sync; assert x < 9;",
];

const WORDS: &[&str] = &[
    " process ",
    " state ",
    " init ",
    " trans ",
    " guard ",
    " sync ",
    " effect ",
    " commit ",
    " accept ",
    " assert ",
    " system ",
    " async ",
    " property ",
    " channel ",
    " const ",
    " byte ",
    " int ",
    " true ",
    " not ",
    " and ",
    " imply ",
    " P ",
    " Q ",
    " s ",
    " x ",
    " N ",
    " 0 ",
    " 255 ",
    " 256 ",
    " 70000 ",
    " 2147483647 ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "->",
    ".",
    "!",
    "?",
    "=",
    "==",
    "-",
    "~",
    "/",
    "%",
    "<<",
    "/*",
    "*/",
    "//",
    "\n",
    "é",
];

fn changed(random: &mut Random, text: &str) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len() + 1);
        match random.below(4) {
            0 => {
                let end = (at + random.below(12)).min(text.len());
                text.drain(at..end);
            }
            1 => {
                let end = (at + random.below(30)).min(text.len());
                let copied: Vec<char> = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copied);
            }
            2 if at < text.len() => {
                let other = random.below(text.len());
                text.swap(at, other);
            }
            _ => {
                let word = WORDS[random.below(WORDS.len())];
                text.splice(at..at, word.chars());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn changed_texts_are_read_or_refused() {
    let changes = std::env::var("QUOTIENT_DVE_CHANGES").ok().and_then(|value| value.parse().ok()).unwrap_or(4000u64);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/dve");
    let mut texts: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        texts.push(std::fs::read_to_string(entry.expect("an entry").path()).expect("a text"));
    }
    texts.sort();
    for text in &texts {
        assert_eq!(read(text), Ok(()), "{text}");
    }
    let mut random = Random::new(7);
    let mut refused = 0;
    for _ in 0..changes {
        let text = &texts[random.below(texts.len())];
        refused += usize::from(read(&changed(&mut random, text)).is_err());
    }
    assert!(refused > changes as usize / 4, "only {refused} were refused");
}

#[test]
fn cut_off_texts_are_refused() {
    for text in SNIPPETS {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let _ = read(&text[..end]);
            let _ = read(&text[end..]);
        }
    }
}

#[test]
fn texts_that_ask_for_too_much() {
    let process = |guard: &str| {
        format!("byte x; process P {{ state s; init s; trans s -> s {{ guard {guard}; }}; }} system async;")
    };
    let deep = |open: &str, close: &str| process(&format!("{}1{}", open.repeat(100_000), close.repeat(100_000)));
    assert_eq!(read(&deep("(", ")")), Err(vec!["nested-too-deeply"]));
    assert_eq!(read(&deep("- ", "")), Err(vec!["nested-too-deeply"]));
    assert_eq!(read(&deep("1 + ", "")), Err(vec!["nested-too-deeply"]));
    assert!(read(&process(&format!("1{}", " + x".repeat(400)))).is_ok());
    assert_eq!(read("byte a[2000000000]; system async;").unwrap_err()[0], "too-large");
    assert!(read("byte a[0]; byte b[-1]; system async;").unwrap_err().starts_with(&["wrong-size", "wrong-size"]));
    let many = "s -> s { sync c!; }, s -> s { sync c?; },".repeat(700);
    let pairs = format!("process P_{{}} {{ state s; init s; trans {} s -> s {{}}; }}", many);
    let pairs: String = (0..2).map(|number| pairs.replace("P_{}", &format!("P_{number}"))).collect();
    assert_eq!(read(&format!("channel c; {pairs} system async;")), Err(vec!["too-large"]));
}
