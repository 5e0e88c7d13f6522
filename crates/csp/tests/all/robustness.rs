//! No CSP# text makes the front end panic, hang, exhaust the stack or the memory: models and snippets of everything in
//! the language, changed at random, and texts that ask for too much.

use quotient_csp::LANGUAGE;
use quotient_kit::LoadOptions;
use quotient_language_testkit::robustness::{self, examples, survives_cuts, survives_damage};
use quotient_language_testkit::switches::number_from;

fn read(text: &str) -> Result<(), Vec<&'static str>> {
    robustness::read(text, &LANGUAGE, &LoadOptions::default())
}

/// Something of everything.
const SNIPPETS: &[&str] = &[
    "#define N 2; var x = 0; var y[N]:{0..9} = [1(2)]; P(i) = [x < 3 && y[i] != 4] a.i{x = x + 1; y[i] = x % 9; if (x > 2) { x = 0; } else { y[0]++; }} -> P(i) [] b -> tau{var l = 3; while (l > 0) { l -= 1; } x = l} -> Skip; Q = ||| i:{0..N - 1} @ P(i); #define goal (x == 2); #assert Q deadlockfree; #assert Q reaches goal; #assert Q reaches goal with max(x + y[0]); #assert Q |= [] (goal -> <> a.0) && !b U X true;",
    "channel c 0; channel d[2] 2; P() = c!1.2 -> d[0]?x -> d[1]!x + 1 -> P() [*] c?y.2 -> Stop; Q() = c?[x > 0]x.y{z = x;} -> d[0]!y -> Q() <> call_it -> Q(); var z = 0; R = P() ||| Q(); #define full call(cfull, d[0]); #assert R reaches full; #assert R nonterminating; #assert R |= []<> c.1.2 || \"d!0.1\";",
    "P(i) = a -> b.i -> P(i); Q = a -> Skip; Q; R = (P(0) || Q) \\ {a, k:{0..1} @ b.k} interrupt stop -> Skip; #alphabet Q {a, b.0}; S = start -> (R ||| atomic { e -> f -> Skip }); S; #assert S deadlockfree; #assert R() deadlockfree; #assert S refines R; #assert R refines<FD> P(1); #assert S divergencefree; #assert R deterministic;",
    "enum {red, green}; var light = red; var on = true; hvar h; P = if (light == red && on) { go{light = green; on = !on;} -> P } else if (h == 1) { Stop } else { wait{light = red; on = true; h = 1} -> P }; U = ifa (on) { a -> U }; V = ifb (!on) { b -> V }; W = case { on: x -> W light == green: y -> W default: Skip }; Z = P ||| U ||| V ||| W; #define reset(i) {light = i; on = false}; T = e{call(reset, 1)} -> T; #assert Z deadlockfree; #assert T deadlockfree; #invariant (light < 2); #ltl [] (light == 0 || on == on);",
    "#import \"PAT.Lib.Set\"; #import \"PAT.Lib.Queue\"; #import \"PAT.Math\"; var<Set> s:{0..3}; var<Queue> q[2]; var x; \
     P(i) = [!s.Contains(i)] a{s.Add(i); x = q.Dequeue(); s = s.Union(s, s);} -> P(call(max, i, x)) \\ {a, x:{0..2} @ b.x}; \
     #assert P(0) deadlockfree;",
];

const WORDS: &[&str] = &[
    " -> ",
    " [] ",
    " ||| ",
    " || ",
    " <> ",
    " [*] ",
    ";",
    "; ",
    " Skip ",
    " Stop ",
    " P ",
    " Q() ",
    " P(1) ",
    " x ",
    " i ",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ".",
    "..",
    "!",
    "?",
    "=",
    "==",
    "@",
    ":",
    "\\",
    "#define ",
    "#assert ",
    "#alphabet ",
    " var ",
    " channel ",
    " if ",
    " ifa ",
    " else ",
    " while ",
    " case ",
    " atomic ",
    " interrupt ",
    " tau ",
    " deadlockfree",
    " reaches ",
    " refines<F> ",
    " with min(",
    " |= ",
    "|||{3}@",
    "i:{0..2}@",
    " call(",
    ".Add(",
    ".Count()",
    " var<List> ",
    " new Set()",
    ",",
    "-",
    "%",
    "/",
    "1",
    "0",
    "99999",
    "2147483647",
    "*",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "é",
];

#[test]
fn changed_texts_are_read_or_refused() {
    let mut texts: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(examples("csp"));
    texts.sort();
    survives_damage(&LANGUAGE, &texts, WORDS, number_from("QUOTIENT_CSP_CHANGES", 2000));
}

#[test]
fn cut_off_texts_are_refused() {
    survives_cuts(&LANGUAGE, SNIPPETS);
}

#[test]
fn texts_that_ask_for_too_much() {
    assert_eq!(read("var a[2000000000]; P = Skip;").unwrap_err()[0], "too-large");
    assert_eq!(read("var a[0]; P = Skip;").unwrap_err()[0], "wrong-size");
    assert_eq!(read("P = ||| i:{0..1000000000} @ Skip; #assert P deadlockfree;"), Err(vec!["not-constant"]));
    assert_eq!(read("P = ||| i:{..} @ Skip; #assert P deadlockfree;"), Err(vec!["unknown-range"]));
    assert_eq!(read("P = P [] a -> P; #assert P deadlockfree;"), Err(vec!["unguarded-recursion"]));
    assert_eq!(read("P = P ||| P; #assert P deadlockfree;"), Err(vec!["unbounded"]));
    // Every process of an interrupt that begins anew may be anywhere.
    let interrupted = "P = a -> b -> P; R = (P || P) \\ {a} interrupt R; #assert R deadlockfree;";
    assert_eq!(read(interrupted), Err(vec!["unguarded-recursion"]));
    // Internal steps of what may interrupt do not begin it.
    let many = "P = a -> P; Q = P interrupt (||| i:{0..19} @ (tau -> tau -> a -> Skip)); #assert Q deadlockfree;";
    assert_eq!(read(many), Err(vec!["too-large"]));
    // The events of as many processes as are looked at, one inside the other.
    let nested = "P(i) = a.i -> P(i - 1); Q = P(0) || P(1); #assert Q deadlockfree;";
    assert_eq!(read(nested), Err(vec!["unknown-alphabet"]));
    // What an argument is made of doubles with each call.
    let doubled = "channel c 1; P(x) = a -> P(x + x); Q = (c?y -> P(y)) || (c!1 -> a -> Skip); #assert Q deadlockfree;";
    assert_eq!(read(doubled), Ok(()));
    assert_eq!(read("#define a b; #define b a; P = [a == 1] e -> P;").unwrap_err()[0], "recursive-macro");
    assert_eq!(read("#import \"Mine\"; P = Skip;").unwrap_err()[0], "unsupported-import");
    assert_eq!(read("P = a -> ; #import \"Mine\";").unwrap_err(), ["syntax", "unsupported-import"]);
    // Found only when it happens.
    assert_eq!(read("P = a -> (P ||| P); #assert P deadlockfree;"), Ok(()));
    assert_eq!(read("P = a -> P; b -> Skip; #assert P deadlockfree;"), Ok(()));
    // The values of a parameter without a bound are held in a variable.
    assert_eq!(read("P(i) = a -> P(i + 1); #assert P(0) deadlockfree;"), Ok(()));
}

#[test]
fn all_errors_have_places() {
    let text =
        "var x = y; P(i) = [z == 1] a{i = 2; w = 1;} -> Q(1); R = P(); S = c!1 -> d[0]?x -> S; #assert T deadlockfree;";
    let mut codes = read(text).unwrap_err();
    codes.sort_unstable();
    let expected = [
        "not-a-variable",
        "shadowed",
        "unknown-channel",
        "unknown-channel",
        "unknown-name",
        "unknown-name",
        "unknown-name",
        "unknown-process",
        "unknown-process",
        "wrong-arguments",
    ];
    assert_eq!(codes, expected);
}
