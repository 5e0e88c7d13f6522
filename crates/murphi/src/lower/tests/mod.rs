//! Tests of lowered models.

mod rendering;

use quotient_ir::{Diagnostic, Model, Source, TypeKind};
use quotient_kit::LoadOptions;

use super::super::syntax::parse;
use super::lower;

/// Declarations that most tests need.
const PRELUDE: &str = "
const N: 3; yes: true;
type index: 0..N; colour: enum {red, green, blue}; node: scalarset(2);
     pair: record left: index; right: boolean; end; row: array [index] of boolean;
const favourite: green;
var i, j: index; b: boolean; c: colour; n: node; p, q: pair; r: row; s: array [node] of index;
    m: multiset [2] of index; mp: multiset [2] of pair;
";

fn lowered(text: &str, constants: &[(&str, &str)]) -> (Option<Model>, Vec<Diagnostic>) {
    let source = Source::new("test.m", text);
    let (tree, diagnostics) = parse(&source);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{text}\n{diagnostics:#?}");
    let constants = constants.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    lower(&source, &tree, &LoadOptions { constants, ..LoadOptions::default() })
}

#[track_caller]
fn model(text: &str) -> Model {
    let (model, diagnostics) = lowered(text, &[]);
    let model = model.unwrap_or_else(|| panic!("{text}\n{diagnostics:#?}"));
    assert_eq!(quotient_ir::verify(&model), Ok(()), "{text}");
    model
}

/// Compares what a model after the prelude is lowered to.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(rendering::owners(&model(&format!("{PRELUDE}{text}"))), expected, "{text}");
}

/// Compares what the body of a rule is lowered to.
#[track_caller]
fn check_body(text: &str, expected: &str) {
    check(&format!("rule begin {text} end;"), &format!("rule true ==> {{{expected}}}"));
}

/// The codes of what is said about a model.
fn codes(text: &str, constants: &[(&str, &str)]) -> Vec<&'static str> {
    let (_, diagnostics) = lowered(text, constants);
    diagnostics.iter().map(|diagnostic| diagnostic.code).filter(|&code| code != "no-start").collect()
}

#[test]
fn assignments() {
    check_body("i := j + 1;", "i := j + 1");
    check_body("p := q;", "copy p := q");
    check_body("p.left := i; r[i] := p.right;", "p.left := i; r[i] := p.right");
    check_body("s[n] := N; c := blue; b := yes;", "s[n] := 3; c := blue; b := true");
    check_body("p := b ? p : q;", "copy p := (b ? p : q)");
    check_body("clear p; undefine r[0];", "clear p; undefine r[0]");
}

#[test]
fn constants_are_computed() {
    check_body("i := N - 1 + 2 * 3 % 4;", "i := 4");
    check_body("b := 1 < 2 & !(N = 4);", "b := true");
    check_body("c := N > 2 ? favourite : red;", "c := green");
    // What has no value stays for the run to report.
    check_body("i := 1 / 0;", "i := 1 / 0");
    check_body("i := 1 << 64;", "i := 1 << 64");
    check_body("b := false & 1 / 0 = 1;", "b := false");
    check_body("i := -7 / 2 + 4; i := -7 % 2 + 2;", "i := 1; i := 1");
}

#[test]
fn operators_depend_on_types() {
    check_body("b := b & b | !b -> b;", "b := b & b | !b -> b");
    check_body("i := i & 1 | j ^ 2;", "i := i & 1 | j ^ 2");
    check_body("b := b ^ (i = j);", "b := b != (i = j)");
    check_body("b := p = q; b := p != q;", "b := p = q; b := p != q");
    check_body("i := +i; i := ~i;", "i := i; i := ~i");
}

#[test]
fn control() {
    check_body(
        "if b then i := 0; elsif i = 1 then i := 2; else return; end;",
        "if b {i := 0} else if i = 1 {i := 2} else {return}",
    );
    check_body("while i < 3 do i := i + 1; end;", "while i < 3 {i := i + 1}");
    check_body("for k: node do s[k] := 0; end;", "for k: node over node {s[k] := 0}");
    check_body("for k := 0 to 2 do i := k; end;", "for k: 0..2 from 0 to 2 {i := k}");
    // A model with multisets is for CMurphi, where there may be no steps.
    check_body("for k := i to 0 by -1 do j := k; end;", "if i >= 0 {for k: integer from i to 0 by -1 {j := k}}");
    check_body("error \"no\"; assert b; assert \"why\" i  =  0;", "error \"no\"; assert b \"b\"; assert i = 0 \"why\"");
    check_body("assert i  =\n 0;", "assert i = 0 \"i = 0\"");
    check("rule begin cover \"seen\" b; assume b; end;", "rule true ==> {cover b Some(\"seen\"); assume b}\nCover -");
}

#[test]
fn switch_evaluates_its_subject_once() {
    check_body(
        "switch c case red: i := 0; case green, blue: i := 1; else i := 2; end;",
        "if c = red {i := 0} else if c = green | c = blue {i := 1} else {i := 2}",
    );
    check_body("switch i else b := true; end;", "subject := i; b := true");
    check(
        "function f(): index; begin i := 1; return i; end; rule begin switch f() case 1: j := 0; end; end;",
        "function f() {i := 1; return i}\nrule true ==> {subject := f(); if subject = 1 {j := 0}}",
    );
}

#[test]
fn aliases_in_bodies_are_evaluated_once() {
    // What is always the same place or value is simply used.
    check_body("alias a: p.left; d: r[1]; e: N do a := e; d := b; end;", "p.left := 3; r[1] := b");
    check_body("alias a: r[i] do i := 0; a := true; end;", "bind a = r[i]; i := 0; a := true");
    check_body("alias a: i + 1 do i := 0; j := a; end;", "a := i + 1; i := 0; j := a");
    check_body("alias a: b ? p : q do i := a.left; end;", "bind a = (b ? p : q); i := a.left");
    check_body("alias a: r; d: a[i] do d := b; end;", "bind d = r[i]; d := b");
}

#[test]
fn aliases_around_rules_are_substituted_in_guards() {
    check("alias a: p.left do rule a = 1 ==> begin a := 2; end; end;", "rule p.left = 1 ==> {p.left := 2}");
    check(
        "alias a: r[i] do rule a ==> begin a := false; end; end;",
        "rule (isundefined(r[i]) | !isundefined(r[i])) & r[i] ==> {bind a = r[i]; a := false}",
    );
    check(
        "ruleset k: index do alias a: r[k] do rule a ==> begin a := false; end; invariant a; end; end;",
        "rule [k over index] r[k] ==> {bind a = r[k]; a := false}\nInvariant [k over index] r[k]",
    );
    check(
        "alias a: i + 1 do invariant a < 3; startstate begin j := a; end; end;",
        "start {a := i + 1; j := a}\nInvariant i + 1 = i + 1 & i + 1 < 3",
    );
}

#[test]
fn rulesets_become_parameters() {
    check(
        "ruleset k: index; l: node do rule r[k] ==> begin s[l] := k; end; rule begin end; end;",
        "rule [k over index; l over node] r[k] ==> {s[l] := k}\nrule [k over index; l over node] true ==> {}",
    );
    check("ruleset k := 0 to 4 by 2 do startstate begin i := k; end; end;", "start [k from 0 to 4 by 2] {i := k}");
    check("ruleset k: row do startstate begin r := k; end; end;", "start [k over row] {copy r := k}");
    check("ruleset k: pair do invariant k = p -> b; end;", "Invariant [k over pair] k = p -> b");
    check(
        "ruleset k: index do ruleset k: node do liveness s[k] = 0; end; end;",
        "AlwaysReachable [k over node; k over index] s[k] = 0",
    );
}

#[test]
fn multisets() {
    check_body("multisetadd(i, m); multisetadd(i + 1, m);", "add copy i to m; add i + 1 to m");
    check_body("multisetadd(p, mp); multisetremove(0, mp);", "add copy p to mp; remove 0 from mp");
    check_body("multisetremovepred(k: m, m[k] = 1);", "remove k from m if m[k] = 1");
    check_body("i := multisetcount(k: mp, mp[k].right);", "i := multisetcount(k: mp, mp[k].right)");
    check(
        "choose k: mp do rule mp[k].right ==> begin i := mp[k].left; multisetremove(k, mp); end; end;",
        "rule [k over 0..1] ispresent(mp[k]) & mp[k].right ==> {i := mp[k].left; remove k from mp}",
    );
    check("choose k: m do invariant m[k] < 3; end;", "Invariant [k over 0..1] ispresent(m[k]) -> m[k] < 3");
    check("choose k: m do cover m[k] = 3; end;", "Cover [k over 0..1] ispresent(m[k]) & m[k] = 3");
}

#[test]
fn functions() {
    check(
        "procedure f(var x: index; y: index; z: pair); begin x := y + z.left; end;
         rule begin f(i, j, p); f(p.left, j + 1, b ? p : q); end;",
        "function f(x, y, z) {x := y + z.left}
rule true ==> {call f(var i, copy j, copy p); call f(var p.left, j + 1, copy (b ? p : q))}",
    );
    check(
        "function f(x: pair): pair; begin return x; end; function g(x: index): index; begin return g(x); end;
         rule begin p := f(q); i := g(1); g(2); end;",
        "function f(x) {return copy x}\nfunction g(x) {return g(x)}
rule true ==> {copy p := f(q); i := g(1); call g(2)}",
    );
}

#[test]
fn functions_that_only_look_may_stand_in_guards() {
    let looks = "function f(var x: row): boolean; var y: row; begin y := x; y[0] := true; return y[1]; end;";
    assert_eq!(codes(&format!("{PRELUDE}{looks} rule f(r) ==> begin end;"), &[]), [""; 0]);
    for body in ["x[0] := true;", "i := 1;", "cover b;", "assume b;", "alias y: x do clear y; end;"] {
        let text = format!("{PRELUDE} function f(var x: row): boolean; begin {body} return b; end; invariant f(r);");
        assert_eq!(codes(&text, &[]), ["side-effect"], "{body}");
        let text = format!(
            "{PRELUDE} function f(var x: row): boolean; begin {body} return b; end;
             function g(x: row): boolean; var y: row; begin y := x; return f(y); end; invariant g(r);"
        );
        let local = body.starts_with('x') || body.starts_with("alias");
        assert_eq!(codes(&text, &[]), if local { vec![] } else { vec!["side-effect"] }, "{body}");
    }
    // What a recursive function passes on to itself counts, too.
    let swaps = "function f(var x: row; var y: row): boolean; begin
      if b then x[0] := true; else return f(y, x); end; return b; end;
      function g(var x: row): boolean; var y: row; begin return f(y, x); end; invariant g(r);";
    assert_eq!(codes(&format!("{PRELUDE}{swaps}"), &[]), ["side-effect"]);
}

#[test]
fn put_only_evaluates() {
    check_body("put \"text\"; put 1; put i; put p; put r[0];", "");
    check_body("put r[i]; put i + 1; put b & b;", "bind shown = r[i]; shown := i + 1; if b & b {}");
    check_body("for k: index do put r[k]; end;", "for k: index over index {}");
}

#[test]
fn constants_can_be_set() {
    let text = "const N: 2; on: true; type colour: enum {blue}; var x: 0..N; const d: blue;";
    let set = |constants: &[(&str, &str)]| codes(text, constants);
    assert_eq!(set(&[("N", "7"), ("on", "FALSE"), ("d", "blue")]), [""; 0]);
    assert_eq!(set(&[("N", "x")]), ["bad-constant-value"]);
    assert_eq!(set(&[("N", "9223372036854775808")]), ["bad-constant-value"]);
    assert_eq!(set(&[("on", "1")]), ["bad-constant-value"]);
    assert_eq!(set(&[("d", "green")]), ["bad-constant-value"]);
    assert_eq!(set(&[("N", "-1")]), ["empty-range"]);
    assert_eq!(set(&[("M", "1"), ("x", "1")]), ["unknown-constant", "unknown-constant"]);
    let (model, _) = lowered(text, &[("N", "7"), ("N", "8")]);
    let model = model.expect("the model is right");
    let ty = model.variables.iter().next().expect("there is a variable").ty;
    assert_eq!(model.types[ty].kind, TypeKind::Range { low: 0, high: 8 });
}

#[test]
fn suggestions_for_constants() {
    let (_, diagnostics) = lowered("const Limit: 2; var x: 0..Limit; startstate begin end;", &[("limit", "1")]);
    assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `Limit`?"));
    let (_, diagnostics) = lowered("const Limit: 2; var x: 0..Limit; startstate begin end;", &[("x", "1")]);
    assert_eq!(diagnostics[0].help.as_deref(), Some("`x` is a variable; only constants of the top level can be set"));
}

#[test]
fn members_of_unions_are_numbered_apart() {
    let model = model(
        "type free: scalarset(9); a: scalarset(2); b: enum {x, y, z}; other: b; u: union {a, other, enum {w}};
         var v: u; startstate begin v := w; if ismember(v, a) then v := y; end; end;",
    );
    let stretch = |name: &str| {
        let found = model.types.iter().find(|ty| ty.name.as_deref() == Some(name)).expect("the type is there");
        match found.kind {
            TypeKind::Scalarset { first, size } => (first, size),
            TypeKind::Enumeration { first, ref members } => (first, members.len() as u64),
            _ => panic!("neither a scalarset nor an enumeration"),
        }
    };
    assert_eq!(stretch("free"), (0, 9));
    assert_eq!(stretch("a"), (0, 2));
    assert_eq!(stretch("b"), (2, 3));
    let union = model.types.indices().find(|&ty| model.types[ty].name.as_deref() == Some("u")).expect("it is there");
    assert_eq!(model.domain(union).pieces(), [(0, 5)]);
    assert_eq!(model.value_name(union, 1), "a_1");
    assert_eq!(model.value_name(union, 3), "y");
    assert_eq!(model.value_name(union, 5), "w");
}

#[test]
fn names_that_share_a_declaration_share_its_type() {
    let model =
        model("var x, y: enum {p, q}; procedure f(a, b: enum {r, s}); begin end; startstate begin x := y; end;");
    assert_eq!(model.variables.as_slice()[0].ty, model.variables.as_slice()[1].ty);
    // The members of a type in the header of a ruleset are known in each of its rules.
    let text =
        "var x: boolean; ruleset k: enum {p, q} do rule k = p ==> begin x := k = q; end; invariant k = q | x; end;";
    assert_eq!(codes(text, &[]), [""; 0]);
}

#[test]
fn many_cases_and_aliases_stay_shallow() {
    let cases: Vec<String> = (0..5000).map(|value| value.to_string()).collect();
    let text = format!("var x: 0..9999; rule begin switch x case {}: x := 0; end; end;", cases.join(", "));
    assert_eq!(codes(&text, &[]), [""; 0]);
    let aliases: Vec<String> = (0..5000).map(|value| format!("a{value}: r[x + {value}]")).collect();
    let text = format!("var x: 0..9; r: array [0..9] of boolean; alias {} do rule begin end; end;", aliases.join("; "));
    assert_eq!(codes(&text, &[]), [""; 0]);
    let chain: Vec<String> = (1..2000).map(|value| format!("a{value}: a{} + 1", value - 1)).collect();
    let text = format!("var x: 0..9; alias a0: x; {} do rule a1999 = 0 ==> begin end; end;", chain.join("; "));
    assert_eq!(codes(&text, &[]), ["alias-too-large"]);
}

#[test]
fn true_and_false_are_names_in_any_case() {
    check_body("b := TRUE; b := False;", "b := true; b := false");
    check("rule var true: index; begin true := 1; i := True; end;", "rule true ==> {true := 1; i := true}");
}

#[test]
fn types_that_share_parts_are_compared_once() {
    let family = |name: &str| {
        let first = format!("{name}0: record end; ");
        (1..100).fold(first, |text, at| {
            let part = format!("{name}{}", at - 1);
            text + &format!("{name}{at}: record a: {part}; b: {part}; end; ")
        })
    };
    let text = format!("type {}{} var x: p99; y: q99; startstate begin x := y; end;", family("p"), family("q"));
    assert_eq!(codes(&text, &[]), ["state-too-large"]);
}

#[test]
fn a_parameter_hides_a_type_behind_the_header() {
    check(
        "function f(index: index; a: index): index; begin return index + a; end;",
        "function f(index, a) {return index + a}",
    );
    check("procedure f(var row, other: row); begin row := other; end;", "function f(row, other) {copy row := other}");
    let body = |text: &str| codes(&format!("{PRELUDE}{text}"), &[]);
    assert_eq!(body("procedure f(index: index); var a: index; begin end;"), ["not-a-type"]);
    assert_eq!(body("ruleset index: index do rule begin for k: index do end; end; end;"), ["not-a-type"]);
}

#[test]
fn undefined_is_copied_and_compared_as_in_cmurphi() {
    // CMurphi's rules apply wherever the model uses `undefined`; elsewhere reading an undefined value is an error.
    check_body("i := j; b := n = n;", "i := j; b := n = n");
    check_body("i := undefined; p := UNDEFINED;", "undefine i; undefine p");
    check_body(
        "undefine p; i := undefined; i := j;",
        "undefine p; undefine i; if isundefined(j) {undefine i} else {i := j}",
    );
    check_body("i := undefined; i := j + 1; b := i = j;", "undefine i; i := j + 1; b := i = j");
    check_body("b := i = undefined; b := undefined != c;", "b := isundefined(i); b := !isundefined(c)");
    check(
        "procedure f(a: index; q: pair); begin end; rule begin f(undefined, undefined); end;",
        "function f(a, q) {}\nrule true ==> {call f(undefined, undefined)}",
    );
    check(
        "ruleset k: node do rule n = k ==> begin n := undefined; end; end;",
        "rule [k over node] !isundefined(n) & n = k ==> {undefine n}",
    );
    // Places are evaluated once if that calls functions, the target first.
    check(
        "function f(): index; begin i := 1; return i; end; rule begin undefine j; j := undefined; s[n] := s[n]; r[f()] := r[f()]; end;",
        "function f() {i := 1; return i}\nrule true ==> {undefine j; undefine j; if isundefined(s[n]) {undefine s[n]} else {s[n] := s[n]}; bind target = r[f()]; bind source = r[f()]; if isundefined(source) {undefine target} else {target := source}}",
    );
}

#[test]
fn undefined_stands_for_no_value_only_where_there_can_be_none() {
    let body = |text: &str| codes(&format!("{PRELUDE}{text}"), &[]);
    assert_eq!(body("rule begin i := undefined + 1; end;"), ["undefined-value"]);
    assert_eq!(body("rule undefined ==> begin end;"), ["undefined-value"]);
    assert_eq!(body("rule begin switch i case undefined: i := 0; end; end;"), ["undefined-value"]);
    assert_eq!(body("rule begin b := undefined = undefined; end;"), ["undefined-value"; 2]);
    assert_eq!(body("rule begin b := p = undefined; end;"), ["not-scalar"]);
    assert_eq!(body("rule begin b := i + 1 = undefined; end;"), ["not-a-variable"]);
    assert_eq!(body("function f(): index; begin return undefined; end;"), ["undefined-value"]);
    assert_eq!(body("procedure f(var a: index); begin end; rule begin f(undefined); end;"), ["undefined-value"]);
    assert_eq!(body("rule begin undefined := i; end;"), ["unknown-name"]);
    // A name that the model declares is that name.
    check(
        "type u: enum {undefined, other}; var w: u; rule begin w := undefined; end;",
        "rule true ==> {w := undefined}",
    );
}

#[test]
fn priorities_become_guards() {
    check("rule 3 b ==> begin end; rule 3 begin end;", "rule b ==> {}\nrule true ==> {}");
    check(
        "rule 7 begin i := 0; end; ruleset k: index do rule 2 r[k] ==> begin i := k; end; end; rule b ==> begin j := 0; end;",
        "function enabled() {return exists k: index do r[k] end}\n\
         function enabled() {return b}\n\
         function preceded() {return enabled()}\n\
         function preceded() {return enabled() | enabled()}\n\
         rule b ==> {j := 0}\n\
         rule [k over index] r[k] & !preceded() ==> {i := k}\n\
         rule true & !preceded() ==> {i := 0}",
    );
    let body = |text: &str| codes(&format!("{PRELUDE}{text}"), &[]);
    assert_eq!(body("ruleset k: pair do rule 1 begin end; end; rule 2 begin end;"), ["unsupported-priority"]);
    // Nothing depends on whether the last ones are enabled.
    assert_eq!(body("ruleset k: pair do rule 2 begin end; end; rule 1 begin end;"), [""; 0]);
}
