//! Tests of the lexer and the parser: what is accepted, and how it is grouped.

use quotient_ir::{Diagnostic, Source};

use super::{parse, rendering};

fn parse_text(text: &str) -> (super::tree::Tree, Vec<Diagnostic>) {
    parse(&Source::new("test.m", text))
}

/// The messages of all errors.
fn errors(text: &str) -> Vec<String> {
    let (_, diagnostics) = parse_text(text);
    diagnostics.iter().filter(|it| it.is_error()).map(|it| it.message.clone()).collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (tree, diagnostics) = parse_text(text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    assert_eq!(rendering::tree(&tree), expected, "{text}");
}

#[track_caller]
fn check_expression(text: &str, expected: &str) {
    check(&format!("invariant {text}"), &format!("Invariant {expected}"));
}

#[track_caller]
fn check_statement(text: &str, expected: &str) {
    check(&format!("rule begin {text} end"), &format!("rule {{{expected}}}"));
}

#[track_caller]
fn check_type(text: &str, expected: &str) {
    check(&format!("type t: {text};"), &format!("type t: {expected}"));
}

#[track_caller]
fn check_refused(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "{text}");
}

#[test]
fn operators_bind_as_in_rumur() {
    check_expression("a ? b : c -> d", "(a ? b : (c -> d))");
    check_expression("a -> b ? c : d", "((a -> b) ? c : d)");
    check_expression("a ? b ? c : d : e", "(a ? (b ? c : d) : e)");
    check_expression("a -> b || c", "(a -> (b || c))");
    check_expression("a || b && c", "(a || (b && c))");
    check_expression("a && b | c", "(a && (b | c))");
    check_expression("a | b ^ c", "(a | (b ^ c))");
    check_expression("a ^ b & c", "(a ^ (b & c))");
    check_expression("a & b = c", "(a & (b = c))");
    check_expression("a = b << c", "(a = (b << c))");
    check_expression("a << b + c", "(a << (b + c))");
    check_expression("a + b * c", "(a + (b * c))");
    check_expression("a * b + c", "((a * b) + c)");
    check_expression("a - b - c + d", "(((a - b) - c) + d)");
    check_expression("a / b * c % d", "(((a / b) * c) % d)");
    check_expression("a | b | c & d & e", "((a | b) | ((c & d) & e))");
    check_expression("a << b >> c", "((a << b) >> c)");
    check_expression("(a | b) & (c)", "((a | b) & c)");
}

#[test]
fn negation_binds_looser_than_comparison() {
    check_expression("!a = b", "(!(a = b))");
    check_expression("!a & b", "((!a) & b)");
    check_expression("!!a != b", "(!(!(a != b)))");
    check_expression("a = !b", "(a = (!b))");
    check_expression("a = !b = c", "(a = (!(b = c)))");
    check_expression("a + !b = c + d | e", "((a + (!(b = (c + d)))) | e)");
}

#[test]
fn signs_bind_like_products() {
    check_expression("-a * b", "((-a) * b)");
    check_expression("-a.b[c] + d", "((-a.b[c]) + d)");
    check_expression("a - -b", "(a - (-b))");
    check_expression("+a % ~b", "((+a) % (~b))");
    check_expression("~a + b", "((~a) + b)");
    check_expression("-~-a", "(-(~(-a)))");
    check_expression("~!a = b", "(~(!(a = b)))");
}

#[test]
fn some_operators_do_not_associate() {
    check_refused("invariant a -> b -> c", &["`->` does not associate"]);
    check_refused("invariant a < b = c", &["`=` does not associate"]);
    check_refused("invariant a ? b : c ? d : e", &["`?` does not associate"]);
    check_expression("(a -> b) -> c", "((a -> b) -> c)");
    check_expression("a < b & b < c", "((a < b) & (b < c))");
}

#[test]
fn long_chains_are_balanced() {
    let depth = |text: &str| {
        let (mut deepest, mut depth) = (0, 0);
        for character in text.chars() {
            depth += i32::from(character == '(') - i32::from(character == ')');
            deepest = deepest.max(depth);
        }
        deepest
    };
    for operator in [" & ", " | ", " && ", " || "] {
        let text = format!("invariant {}", vec!["a"; 5000].join(operator));
        let (tree, diagnostics) = parse_text(&text);
        assert!(diagnostics.is_empty());
        assert_eq!(depth(&rendering::tree(&tree)), 13);
    }
    check_refused(
        &format!("invariant {}", vec!["a"; 5000].join(" + ")),
        &["the model is nested more than 256 levels deep"],
    );
}

#[test]
fn numbers_are_decimal_hexadecimal_or_octal() {
    check_expression("0 + 12 + 0x1f + 0XAB + 007", "((((0 + 12) + 31) + 171) + 7)");
    check_expression("9223372036854775807", "9223372036854775807");
    check_expression("-9223372036854775808", "-9223372036854775808");
    check_refused("invariant 9223372036854775808", &["the number is too large"]);
    check_refused("invariant 0x1ffffffffffffffffff", &["the number is too large"]);
    check_refused("invariant 09 = 3", &["invalid number"]);
    check_refused("invariant 1.5 = x", &["real numbers are not supported"]);
    let (tree, diagnostics) = parse_text("invariant 010 = x");
    assert_eq!(rendering::tree(&tree), "Invariant (8 = x)");
    assert_eq!(diagnostics.len(), 1);
    assert!(!diagnostics[0].is_error());
    let (_, diagnostics) = parse_text(&"invariant 010 = x;".repeat(1000));
    assert_eq!(diagnostics.len(), 5);
    assert!(!diagnostics.iter().any(Diagnostic::is_error));
}

#[test]
fn unicode_operators_are_those_of_ascii() {
    check_expression("a ≥ b ∧ c ≤ d ∨ e ≠ f → ¬g", "((((a >= b) && (c <= d)) || (e != f)) -> (!g))");
    check_expression("a × b ÷ c ∕ d − e", "((((a * b) / c) / d) - e)");
    check_expression("∀i: t do ∃j: t do a end endforall", "(forall i: t do (exists j: t do a))");
    check("rule “a name” x ⇒ x ≔ 1 end", "rule \"a name\" x ==> {x := 1}");
}

#[test]
fn strings_keep_their_escapes() {
    check(r#"rule "a \"b\" \\" end"#, r#"rule "a \\\"b\\\" \\\\" {}"#);
    check("rule \"two\nlines\" end", "rule \"two\\nlines\" {}");
    check("rule “a” end rule \"it is ” b\" end", "rule \"a\" {}\nrule \"it is ” b\" {}");
}

#[test]
fn primaries() {
    check_expression("a.b[c].d", "a.b[c].d");
    check_expression("a[i, j][k]", "a[i][j][k]");
    check_expression("f() + f(a) + f(a, b,)", "((f() + f(a)) + f(a, b))");
    check_expression("isundefined(a.b)", "isundefined(a.b)");
    check_expression("forall i: 0..1 do a end & b", "((forall i: 0..1 do a) & b)");
    check_expression("exists i := 1 to 9 by 2 do a endexists", "(exists i := 1 to 9 by 2 do a)");
    check_expression("forall i: t; j: u do a end", "(forall i: t do (forall j: u do a))");
    check_expression("TRUE & False", "(true & false)");
    check_refused("invariant isundefined(!a)", &["expected a name, found `!`"]);
    check_refused("invariant (a).b", &["expected a declaration, a function or a rule, found `.`"]);
}

#[test]
fn types() {
    check_type("boolean", "boolean");
    check_type("Boolean", "boolean");
    check_type("u", "u");
    check_type("0..N - 1", "0..(N - 1)");
    check_type("(a ? 1 : 2) .. 3", "(a ? 1 : 2)..3");
    check_type("enum {}", "enum {}");
    check_type("enum {a, b,}", "enum {a, b}");
    check_type("scalarset(N)", "scalarset(N)");
    check_type("array [t] of array [0..1] of u", "array [t] of array [0..1] of u");
    check_type("array [t, u] of v", "array [t] of array [u] of v");
    check_type("record end", "record {}");
    check_type("record a, b: t; c: boolean endrecord", "record {a: t; b: t; c: boolean}");
    check_type("record a: t b: record c: u end end", "record {a: t; b: record {c: u}}");
    check_type("union {A, B, enum {c, d}}", "union {A, B, enum {c, d}}");
    check_type("multiset [N + 1] of t", "multiset [(N + 1)] of t");
}

#[test]
fn declarations() {
    check("const a: 1; b, c: a + 1", "const a: 1\nconst b: (a + 1)\nconst c: (a + 1)");
    check("var a, b,: t c: u;;", "var a: t\nvar b: t\nvar c: u");
    check("type t: u; const N: 1 var x: t type v: w", "type t: u\nconst N: 1\nvar x: t\ntype v: w");
    check("const type var", "");
    check("var : boolean; x: t", "var x: t");
    check("var multiset, choose, undefined: t", "var multiset: t\nvar choose: t\nvar undefined: t");
}

#[test]
fn functions() {
    check("procedure p(); begin end;", "function p() {}");
    check("function f(var a, b: t; c: u): v; return a; end", "function f(var a: t; var b: t; c: u): v {return a}");
    check("function f(a: t b: u): v begin endfunction", "function f(a: t; b: u): v {}");
    check("function f() var x: t; begin x := 1 endprocedure;;", "function f() {var x: t; x := 1}");
    check("function f(); var x: t; x := 1; end;", "function f() {var x: t; x := 1}");
    check("function f(): 0..1; return 1 end rule end", "function f(): 0..1 {return 1}\nrule {}");
}

#[test]
fn rules() {
    check("rule end", "rule {}");
    check("rule \"n\" a ==> x := 1; y := 2 end;", "rule \"n\" a ==> {x := 1; y := 2}");
    check("rule a ==> begin x := 1; endrule;;", "rule a ==> {x := 1}");
    check("rule a ==> var y: t; begin y := 1 end", "rule a ==> {var y: t; y := 1}");
    check("rule var y: t begin y := 1 end", "rule {var y: t; y := 1}");
    check("rule if a then end end", "rule {if a {}}");
    check("rule f(a) ==> f(a) end", "rule f(a) ==> {f(a)}");
    check("startstate x := 1 end", "startstate {x := 1}");
    check("startstate \"n\" begin clear x endstartstate", "startstate \"n\" {clear x}");
    check("invariant \"n\" a", "Invariant \"n\" a");
    check("invariant a \"n\"; cover b liveness c", "Invariant \"n\" a\nCover b\nLiveness c");
    check("assume a; assert b", "Assume a\nAssert b");
    check(
        "ruleset i: t; j := 0 to 3 do rule end; invariant a; end",
        "ruleset i: t; j := 0 to 3 {rule {}; Invariant a}",
    );
    check("ruleset i: 0..1;; j: t do ruleset k: u do endruleset endruleset", "ruleset i: 0..1; j: t {ruleset k: u {}}");
    check("alias a: x; b: y do rule end endalias", "alias a: x; b: y {rule {}}");
    check("alias do end", "alias  {}");
    check("choose i: m do rule end endchoose", "choose i: m {rule {}}");
    check("choose i: a[j].m do rule end; end;", "choose i: a[j].m {rule {}}");
    check(
        "rule end; var x: t; function f(); end; rule end; const N: 1",
        "rule {}\nvar x: t\nfunction f() {}\nrule {}\nconst N: 1",
    );
    check("simplerule \"n\" a ==> end", "rule \"n\" a ==> {}");
    check("rule 0 \"n\" a ==> end", "rule \"n\" a ==> {}");
    check("rule 0 = x ==> end", "rule (0 = x) ==> {}");
    check(
        "rule 3 \"n\" a ==> end; rule 7 begin end; rule 2 !a ==> end",
        "rule 3 \"n\" a ==> {}\nrule 7 {}\nrule 2 (!a) ==> {}",
    );
    check_refused("rule 99999999999999999999 \"n\" a ==> end", &["the number is too large"]);
}

#[test]
fn statements() {
    check_statement("x := 1", "x := 1");
    check_statement("x.a[i] := 1;;; y := 2;", "x.a[i] := 1; y := 2");
    check_statement("if a then x := 1 elsif b then else y := 1; endif", "if a {x := 1} elsif b {} else {y := 1}");
    check_statement("switch x case 1, 2,: y := 1 case : else end", "switch x case 1, 2 {y := 1} case  {} else {}");
    check_statement("switch x end", "switch x");
    check_statement("switch x case a ? b : c: y := 1 end", "switch x case (a ? b : c) {y := 1}");
    check_statement(
        "for i: t do end; for i := 1 to 0 by -1 do x := i endfor",
        "for i: t {}; for i := 1 to 0 by (-1) {x := i}",
    );
    check_statement("for i: t; j: u do x := 1 end", "for i: t {for j: u {x := 1}}");
    check_statement("while a do x := 1 endwhile", "while a {x := 1}");
    check_statement("alias a: x; b: a.c do a := 1 end", "alias a: x; b: a.c {a := 1}");
    check_statement("put \"x\"; put x + 1", "put \"x\"; put (x + 1)");
    check_statement("clear a.b; undefine c[1]; error \"e\"", "clear a.b; undefine c[1]; error \"e\"");
    check_statement("return", "return");
    check_statement("return; return x;", "return; return x");
    check_statement("p(); q(a, b)", "p(); q(a, b)");
    check_statement(
        "assert a \"m\"; assume \"m\" a; cover a; invariant a",
        "Assert \"m\" a; Assume \"m\" a; Cover a; Invariant a",
    );
    check_statement("multisetadd(x, m); MultisetRemove(i, m.n)", "add(x, m); remove(i, m.n)");
    check_statement("multisetremovepred(i: m, m[i] = 1)", "removeif(i: m, (m[i] = 1))");
    check_statement("x := multisetcount(i: m, m[i] = 1)", "x := count(i: m, (m[i] = 1))");
    check_statement("x := ismember(y, t)", "x := ismember(y, t)");
    check_statement("x := undefined; f(UNDEFINED, x)", "x := undefined; f(undefined, x)");
    check_expression("x = Undefined", "(x = undefined)");
    check_expression("undefined[i] & undefined.f & undefined(x)", "((undefined[i] & undefined.f) & undefined(x))");
    check("var undefined: t; rule begin x := undefined end", "var undefined: t\nrule {x := undefined}");
    check("type u: enum {undefined} rule begin x := undefined end", "type u: enum {undefined}\nrule {x := undefined}");
}

#[test]
fn words_of_cmurphi_are_names_elsewhere() {
    check_statement("multisetadd := choose + ismember.x", "multisetadd := (choose + ismember.x)");
    check(
        "function ismember(x: t; y: t): u; end; invariant ismember(1, 2 + 3)",
        "function ismember(x: t; y: t): u {}\nInvariant ismember(1, (2 + 3))",
    );
}

#[test]
fn keywords_and_comments() {
    check("RULE a ==> BEGIN x := 1; END;", "rule a ==> {x := 1}");
    check("-- a comment\nrule /* another * one **/ end -- end", "rule {}");
    check("\u{FEFF}rule end", "rule {}");
    check("# 1 \"model.m\"\nrule end\n#pragma once\n", "rule {}");
    check("var End_: t; rules: t", "var End_: t\nvar rules: t");
}

#[test]
fn semicolons_are_as_optional_as_in_rumur() {
    check_refused("; rule end", &["expected a declaration, a function or a rule, found `;`"]);
    check_refused("rule begin ; x := 1 end", &["expected a statement, found `;`"]);
    check_refused("const ; rule end", &["expected a declaration, a function or a rule, found `;`"]);
    check_refused("rule begin x := 1 y := 2 end", &["expected `;`, found `y`"]);
    check_refused("ruleset i: t; do end", &["expected a name, found the keyword `do`"]);
    check_refused("rule var x := 1; end", &["expected `begin`, found `x`"]);
    check_refused("rule begin x: boolean; x := 1; end", &["expected `:=`, found `:`"]);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    for (before, open, middle, close, after) in [
        ("invariant ", "(", "a", ")", ""),
        ("invariant ", "!", "a", "", ""),
        ("invariant ", "- ", "a", "", ""),
        ("invariant ", "a[", "a", "]", ""),
        ("invariant ", "f(", "a", ")", ""),
        ("invariant ", "a ? ", "a", " : a", ""),
        ("invariant ", "(a ? a : ", "a", ")", ""),
        ("invariant ", "forall i: t do ", "a", " end", ""),
        ("invariant ", "forall i: 0..", "1", " do a end", ""),
        ("invariant a", " - a", "", "", ""),
        ("invariant a", ".a", "", "", ""),
        ("invariant a", "[a]", "", "", ""),
        ("invariant a", " = a", "", "", ""),
        ("invariant a", " -> a", "", "", ""),
        ("invariant forall ", "i: t;", "i: t", "", " do a end"),
        ("invariant a[", "a, ", "a", "", "]"),
        ("type t: ", "array [t] of ", "t", "", ""),
        ("type t: ", "record a: ", "t", " end", ""),
        ("type t: array [", "t, ", "t", "", "] of t"),
        ("rule begin ", "if a then ", "x := 1", " end", " end"),
        ("rule begin ", "while a do ", "x := 1", " end", " end"),
        ("rule begin for ", "i: t;", "i: t", "", " do end end"),
        ("", "ruleset i: t do ", "rule end", " end", ""),
    ] {
        let text = format!("{before}{}{middle}{}{after}", open.repeat(deep), close.repeat(deep));
        let found = errors(&text);
        assert_eq!(found.last().map(String::as_str), Some("the model is nested more than 256 levels deep"), "{open}");
    }
}

#[test]
fn nesting_below_the_limit_is_accepted() {
    let text = format!("invariant {}a{}", "(".repeat(200), ")".repeat(200));
    assert_eq!(errors(&text), [""; 0]);
    let text = format!("rule begin {} x := 1 {} end", "if a then ".repeat(120), "end ".repeat(120));
    assert_eq!(errors(&text), [""; 0]);
}

#[test]
fn shared_declarations_cannot_explode() {
    let nested = format!("type t: {}u{};", "record a, b: ".repeat(100), " end".repeat(100));
    assert_eq!(errors(&nested), ["too many names share large declarations"]);
    let wide = format!("var {}a: record {} end;", "a,".repeat(20_000), "a: t;".repeat(20_000));
    assert_eq!(errors(&wide), ["too many names share large declarations"]);
}

#[test]
fn errors_are_capped() {
    let found = errors(&"@ x ;\n".repeat(100_000));
    assert_eq!(found.len(), 51);
    assert_eq!(found[50], "more than 50 errors");
    let found = errors(&"rule begin x = 1 end;\n".repeat(100_000));
    assert_eq!(found.len(), 51);
    assert_eq!(found[50], "more than 50 errors");
}

/// Of the real models that rumur refuses, these break a rule of syntax; all others must parse.
#[test]
fn real_models_parse() {
    let Some(folder) = quotient_language_testkit::prerequisites::corpus("murphi", "parsing real models") else {
        return;
    };
    let mut refused = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the corpus can be listed") {
        let path = entry.expect("the corpus can be listed").path();
        if path.extension().is_some_and(|extension| extension == "m") {
            let text = std::fs::read_to_string(&path).expect("the corpus can be read");
            if !errors(&text).is_empty() {
                refused.push(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
            }
        }
    }
    refused.sort();
    assert_eq!(refused, ["boolean-shadow.m", "isundefined-rvalue2.m", "octal-literal.m"]);
}
