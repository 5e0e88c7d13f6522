//! No Promela text makes the front end panic, hang, exhaust the stack or the memory: models and snippets of
//! everything in the language, changed at random, and texts that ask for too much.

use quotient_kit::{LoadOptions, source_from_bytes};
use quotient_language_testkit::random::Random;
use quotient_language_testkit::robustness::{self, examples};
use quotient_language_testkit::switches::number_from;
use quotient_promela::LANGUAGE;

/// Reads a text, with its claims or without.
fn read(text: &str, watch_claims: bool) -> Result<(), Vec<&'static str>> {
    robustness::read(text, &LANGUAGE, &LoadOptions { watch_claims, ..LoadOptions::default() })
}

/// Something of everything.
const SNIPPETS: &[&str] = &[
    "mtype = { a, b }; chan c = [2] of { mtype, byte }; active [2] proctype P() { mtype m; do :: c!a,1 :: c?m,_ :: c??b(2) od }",
    "chan r = [0] of { byte, chan }; active proctype P() { chan k; byte x; r!1,k; r?x,k; k?<x>; x = len(k) + r?[1,_] }",
    "#define N 2\n#define MAX(a, b) ((a) > (b) -> (a) : (b))\n#if N > 1 && defined(N)\nbyte a[N]; init { a[MAX(0, 1)] = N }\n#endif",
    "typedef S { byte f[2]; bit b }; S s[2]; proctype P(S t; chan q) { t.f[1] = s[0].b } init { chan q = [1] of { S }; run P(s[1], q) priority 2; q!s[0] }",
    "byte x; active proctype P() priority 3 provided (x < 3) { x++; set_priority(_pid, 2); _priority = get_priority(0) }",
    "inline f(a, b) { int t; t = a + b; return t } int x; active proctype P() { x = f(1, x); L: if :: x > 2 -> goto L :: else fi }",
    "byte x; active proctype P() { atomic { x = 1; d_step { do :: x < 3 -> x++ :: else -> break od }; L: x = 2 }; { x = 3 } unless { x == 2 -> goto L } }",
    "byte x; active [2] proctype P() { byte l; M: for (l : 0 .. 1) { select (x : 0 .. 3) }; timeout; P[0]@M && P[1]:l == 1 } active proctype Q() { enabled(0) }",
    "byte x; active proctype P() { x = 1 } never { T: do :: x == 1 -> break :: else od } ltl p { [] (x < 2 && (x == 0 -> x != 3)) }",
    "mtype = { a, b }; chan q = [2] of { mtype, byte }; chan r = [0] of { byte }; byte x; active proctype P() { q!a,1; q!!b(2); r!3; q?a,x; q??b,_; x = pc_value(0) } active proctype Q() { r?x } trace { end: do :: q!a,_; q!b,2 :: q?a,1; r!3; break od }",
    "unsigned u : 3 = 5; hidden int h; short s = -1; bool b; pid p; mtype:k = { m }; mtype:k z = m; init { u++; h = u << 2 | s & ~p; b = !b; xr c; xs c } chan c = [1] of { int }",
];

/// Words and signs to put in.
const WORDS: &[&str] = &[
    " active ",
    " proctype ",
    " init ",
    " never ",
    " typedef ",
    " inline ",
    " mtype ",
    " chan ",
    " byte ",
    " int ",
    " unsigned ",
    " atomic ",
    " d_step ",
    " if ",
    " fi ",
    " do ",
    " od ",
    " :: ",
    " else ",
    " -> ",
    " goto ",
    " break ",
    " unless ",
    " timeout ",
    " run ",
    " assert ",
    " select ",
    " for ",
    " provided ",
    " priority ",
    " set_priority ",
    " eval ",
    " len ",
    " full ",
    " enabled ",
    " pc_value ",
    " np_ ",
    " _pid ",
    " _nr_pr ",
    " _last ",
    " _priority ",
    " _ ",
    " return ",
    " ltl ",
    " trace ",
    " c_code ",
    " x ",
    " P ",
    " a ",
    " 0 ",
    " 255 ",
    " 70000 ",
    " 4294967295 ",
    "!",
    "!!",
    "?",
    "??",
    "?[",
    "?<",
    "@",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ";",
    ",",
    ":",
    "..",
    ".",
    "=",
    "==",
    "<",
    ">",
    "<<",
    "+",
    "-",
    "--",
    "++",
    "*",
    "/",
    "%",
    "&&",
    "||",
    "|",
    "^",
    "~",
    "#",
    "##",
    "\n#define x ",
    "\n#if ",
    "\n#else\n",
    "\n#endif\n",
    "\n#include \"x\"\n",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "\\\n",
    "\u{0}",
    "é",
    "[]",
    "<>",
    " U ",
    " X ",
];

/// Words, numbers and signs, each with the blanks before it.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut last = ' ';
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    for (offset, letter) in text.char_indices() {
        let continues = last.is_whitespace() || is_word(last) && is_word(letter);
        if !continues && offset > start {
            pieces.push(&text[start..offset]);
            start = offset;
        }
        last = letter;
    }
    pieces.push(&text[start..]);
    pieces
}

fn changed(random: &mut Random, texts: &[Vec<&str>]) -> String {
    let which = random.below(texts.len());
    let mut text: Vec<&str> = texts[which].clone();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len());
        match random.below(6) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, text[at]),
            2 => {
                let other = random.below(text.len());
                text.swap(at, other);
            }
            3 => text[at] = WORDS[random.below(WORDS.len())],
            4 => text.insert(at, WORDS[random.below(WORDS.len())]),
            _ => {
                let donor = &texts[random.below(texts.len())];
                let from = random.below(donor.len());
                let to = (from + 1 + random.below(6)).min(donor.len());
                text.splice(at..at, donor[from..to].iter().copied());
            }
        }
        if text.is_empty() {
            break;
        }
    }
    text.concat()
}

#[test]
fn random_changes() {
    let models = examples("promela");
    let small: Vec<Vec<&str>> = SNIPPETS.iter().map(|text| pieces(text)).collect();
    let large: Vec<Vec<&str>> = models.iter().map(|text| pieces(text)).collect();
    let count = number_from("QUOTIENT_PROMELA_CHANGES", 20_000);
    let mut random = Random::new(7);
    for round in 0..count {
        let text = changed(&mut random, if round % 20 == 0 { &large } else { &small });
        let _ = read(&text, round % 2 == 0);
    }
}

#[test]
fn snippets_are_right() {
    for text in SNIPPETS {
        assert_eq!(read(text, true), Ok(()), "{text}");
    }
}

#[test]
fn texts_that_ask_for_too_much() {
    let deep: String = (1..60).map(|it| format!("typedef T{it} {{ T{} a[9] }}\n", it - 1)).collect();
    let nested = |open: &str, close: &str| format!("{}skip{}", open.repeat(300), close.repeat(300));
    for text in [
        "active [256] proctype P() { skip }".to_owned(),
        "active [4294967295] proctype P() { skip }".to_owned(),
        "byte a[4294967295]; init { skip }".to_owned(),
        "typedef T { T x }; T t; init { skip }".to_owned(),
        "typedef T { byte a[60000] }; typedef U { T b[60000] }; typedef V { U c[60000] }; V v; init { v.c[1].b[1].a[1] = 1 }".to_owned(),
        "typedef T { byte a[60000] }; typedef U { T b[60000] }; chan c = [200] of { U }; init { U u; c!u }".to_owned(),
        format!("typedef T0 {{ byte x }}\n{deep}T59 t; init {{ t.a[0].a[0].a[0] = 1 }}"),
        "chan c[60000] = [255] of { int, int, int, int }; init { c[3]!1,2,3,4 }".to_owned(),
        "proctype P(byte n) { run P(n); run P(n) } init { run P(1) }".to_owned(),
        "active [255] proctype P() { byte x[255]; chan c[255] = [255] of { int }; c[1]!x[2] }".to_owned(),
        "#define A B\n#define B A\nbyte A; init { A = 1 }".to_owned(),
        "#define F(x) F(F(x))\nbyte a; init { a = F(F(F(1))) }".to_owned(),
        "#define A(x) x x x x x x x x\nbyte a; init { A(A(A(A(A(A(A(A(a = 1;)))))))) }".to_owned(),
        "inline a() { b() } inline b() { a() } init { a() }".to_owned(),
        format!("init {{ {} }}", nested("atomic { ", " }")),
        format!("init {{ {} }}", nested("do :: ", " od")),
        format!("byte x; init {{ {} }}", nested("{ x = 1 } unless { ", " }")),
        format!("byte x; init {{ x = {}1{} }}", "(x -> ".repeat(300), " : 2)".repeat(300)),
        format!("#if {}1{}\nbyte x;\n#endif\ninit {{ skip }}", "(".repeat(5000), ")".repeat(5000)),
        format!("#if {}1\nbyte x;\n#endif\ninit {{ skip }}", "!".repeat(50_000)),
        format!("byte x; init {{ {} }}", "x = 1; ".repeat(30_000)),
        format!("ltl p {{ {} true }}\ninit {{ skip }}", "[] ".repeat(5000)),
        format!("{}{}", "#if 1\n".repeat(50_000), "init { skip }"),
        "init { /* never closed".to_owned(),
        "init { printf(\"never closed }".to_owned(),
        "init { do :: skip :: ".to_owned(),
        "byte x = ".to_owned(),
        "chan c = [".to_owned(),
        "#define".to_owned(),
        "#include".to_owned(),
        "#include \".\"".to_owned(),
        String::new(),
        " \n\t".to_owned(),
        "\u{0}\u{1}\u{7f}".to_owned(),
    ] {
        let _ = read(&text, true);
    }
    let noise: Vec<u8> = (0..20_000u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    if let Ok(source) = source_from_bytes("noise.pml", &noise) {
        assert!(read(&source.text, false).is_err());
    }
}
