//! No DVE text makes the front end panic, hang, exhaust the stack or the memory: models and snippets of everything in
//! the language, changed at random, and texts that ask for too much.

use quotient_dve::LANGUAGE;
use quotient_kit::LoadOptions;
use quotient_language_testkit::robustness::{self, examples, survives_cuts, survives_damage};
use quotient_language_testkit::switches::number_from;

fn read(text: &str) -> Result<(), Vec<&'static str>> {
    robustness::read(text, &LANGUAGE, &LoadOptions::default())
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

#[test]
fn changed_texts_are_read_or_refused() {
    let mut texts: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(examples("dve"));
    texts.sort();
    survives_damage(&LANGUAGE, &texts, WORDS, number_from("QUOTIENT_DVE_CHANGES", 4000));
}

#[test]
fn cut_off_texts_are_refused() {
    survives_cuts(&LANGUAGE, SNIPPETS);
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
