//! What models do when they run, on the reference interpreter: one start, and what is asserted
//! there. The rules of the language behind each case are in the user guide.

use quotient_ir::{FaultKind, Interpreter, Layout, Model, Outcome, Source, TableIndex};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;

fn model(text: &str) -> Model {
    let source = Source::new("test.m", text);
    match LANGUAGE.load(source, &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{text}\n{diagnostics:#?}"),
    }
}

/// Declarations that most cases need.
const PRELUDE: &str = "
type index: 0..3; colour: enum {red, green, blue}; node: scalarset(2);
     pair: record left: index; right: boolean; end; row: array [index] of index;
     all: union {node, colour};
var i, j: index; b: boolean; c: colour; n: node; p, q: pair; r, s: row; u: all;
    m: multiset [3] of index; mp: multiset [2] of pair;
function set(x: index): index; begin i := x; return x; end;
function same(x: pair): pair; begin return x; end;
procedure swap(var x: index; var y: index); var z: index; begin z := x; x := y; y := z; end;
function empty(x: index): boolean; begin return isundefined(x); end;
function sum(x: index): index; begin if x = 0 then return 0; end; return x + sum(x - 1) - 1; end;
";

fn run(body: &str) -> Outcome {
    let model = model(&format!("{PRELUDE} startstate begin {body} end;"));
    let layout = Layout::new(&model).expect("the model is small");
    let interpreter = Interpreter::new(&model, &layout);
    interpreter.run_start(model.starts.indices().next().expect("there is a start"), &[])
}

/// The body runs to its end.
#[track_caller]
fn check(body: &str) {
    match run(body) {
        Outcome::Next { .. } => {}
        other => panic!("{body}\n{other:?}"),
    }
}

/// The body fails in a certain way.
#[track_caller]
fn check_fault(body: &str, expected: FaultKind) {
    match run(body) {
        Outcome::Fault(fault) => assert_eq!(fault.kind, expected, "{body}\n{fault:?}"),
        other => panic!("{body}\n{other:?}"),
    }
}

#[test]
fn loops() {
    check("i := 0; for k := 0 to 3 do i := k; end; assert i = 3;");
    check("i := 0; for k := 3 to 1 by -2 do i := i + k - 1; end; assert i = 2;");
    // Bounds that are known only now turn the default direction for rumur; they are evaluated once. A model with unions
    // is for CMurphi, where there are no steps then.
    check("i := 3; j := 0; for k := i to 1 do i := 0; j := j + 1; end; assert j = 0;");
    check("j := 3; for k := 2 to j do j := 0; end; assert j = 0;");
    check("i := 3; assert forall k := i to 1 do false end; assert !exists k := i to 1 do true end;");
    let plain = "var i, j: 0..3; startstate begin i := 3; j := 0; for k := i to 1 do i := 0; j := j + 1; end; end;";
    let model = model(&format!("{plain} invariant j = 3;"));
    let layout = Layout::new(&model).expect("the model is small");
    let outcome = Interpreter::new(&model, &layout).run_start(model.starts.indices().next().expect("a start"), &[]);
    assert!(matches!(outcome, Outcome::Next { state, .. } if state.0 == [Some(0), Some(3)]));
    check_fault("i := 0; for k := 0 to 3 by i do j := k; end;", FaultKind::BadStep);
    // The loop variable is a copy of its own in each round, with the range of the loop.
    check("i := 0; for k := 0 to 2 do k := 2; i := i + 1; end; assert i = 3;");
    check_fault("for k := 0 to 2 do k := 3; end;", FaultKind::OutOfRange);
    check("i := 0; while i < 3 do i := i + 1; end; assert i = 3;");
    check("for k: colour do c := k; end; assert c = blue;");
}

#[test]
fn aliases() {
    check("for k: index do r[k] := 0; end; i := 1; alias a: r[i] do i := 2; a := 3; end; assert r[1] = 3;");
    check("i := 1; alias a: i + 1 do i := 3; assert a = 2; end;");
    check("b := true; p.left := 1; q.left := 2; alias a: b ? p : q do p.left := 3; assert a.left = 3; end;");
    check("p.left := 1; alias a: same(p) do p.left := 2; assert a.left = 1; end;");
    check_fault("alias a: r[i] do b := true; end;", FaultKind::UndefinedRead);
}

#[test]
fn calls() {
    check("i := 1; j := 2; swap(i, j); assert i = 2 & j = 1;");
    check("r[0] := 1; r[1] := 2; swap(r[0], r[1]); assert r[0] = 2;");
    check("assert empty(j); j := 1; assert !empty(j);");
    check("assert sum(3) = 3;");
    check("i := 0; switch set(2) case 0, 1: assert false; case i: assert i = 2; else assert false; end;");
    check("i := 0; put set(3); assert i = 3;");
    check("clear p; q := same(p); assert q = p;");
    check_fault("i := sum(7);", FaultKind::OutOfRange);
}

#[test]
fn undefined_and_out_of_range() {
    check_fault("i := j;", FaultKind::UndefinedRead);
    check_fault("put i + 1;", FaultKind::UndefinedRead);
    check("put i;");
    check_fault("switch i end;", FaultKind::UndefinedRead);
    check("p.left := 1; q := p; assert p = q; assert isundefined(q.right);");
    check_fault("i := 3; i := i + 1;", FaultKind::OutOfRange);
    check_fault("r[3 + 1] := 0;", FaultKind::IndexOutOfRange);
    check_fault("i := 1 / 0;", FaultKind::DivisionByZero);
    check("b := false; assert !(b & 1 / 0 = 0); assert b | !b -> !b;");
    check("clear c; assert c = red; clear p; assert p.left = 0 & !p.right; undefine p; assert isundefined(p.left);");
}

#[test]
fn unions() {
    check("u := green; assert ismember(u, colour) & !ismember(u, node); c := u; assert c = green;");
    check("for k: node do u := k; assert ismember(u, node); n := u; assert n = u; end;");
    check("i := 0; for k: all do if ismember(k, node) then i := i + 1; end; end; assert i = 2;");
    check_fault("for k: node do u := k; end; c := u;", FaultKind::OutOfRange);
}

#[test]
fn multisets() {
    check("multisetadd(1, m); multisetadd(1, m); assert multisetcount(k: m, m[k] = 1) = 2;");
    check(
        "multisetadd(1, m); multisetadd(2, m); multisetremovepred(k: m, m[k] = 1); assert multisetcount(k: m, true) = 1;",
    );
    check("p.left := 1; multisetadd(p, mp); p.left := 2; assert multisetcount(k: mp, mp[k].left = 1) = 1;");
    check("multisetadd(2, m); multisetremove(0, m); assert multisetcount(k: m, true) = 0;");
    check_fault("for k := 0 to 3 do multisetadd(k, m); end;", FaultKind::MultisetFull);
    check_fault("multisetremove(0, m);", FaultKind::AbsentElement);
}

#[test]
fn choice_goes_through_the_elements() {
    let model = model(&format!(
        "{PRELUDE} startstate begin multisetadd(2, m); multisetadd(1, m); i := 0; end;
         choose k: m do rule m[k] > i ==> begin i := m[k]; multisetremove(k, m); end; end;"
    ));
    let layout = Layout::new(&model).expect("the model is small");
    let interpreter = Interpreter::new(&model, &layout);
    let start = model.starts.indices().next().expect("there is a start");
    let Outcome::Next { state, .. } = interpreter.run_start(start, &[]) else { panic!("the start runs") };
    let (id, rule) = model.rules.iter_enumerated().next().expect("there is a rule");
    let mut seen = Vec::new();
    for arguments in interpreter.instances(&rule.parameters, &rule.locals) {
        if interpreter.enabled(id, &arguments, &state).expect("the guard does not fail") {
            let Outcome::Next { state, .. } = interpreter.fire(id, &arguments, &state) else { panic!("it fires") };
            seen.extend(state.0[quotient_ir::SlotId::from_position(0).position()]);
        }
    }
    assert_eq!(seen, [1, 2]);
}

#[test]
fn parameters_range_over_arrays_and_records() {
    let model = model(
        "type row: array [0..2] of boolean; pair: record x: 0..2; y: row; end; var v: pair;
         ruleset all: pair do startstate begin v := all; end; end;",
    );
    let layout = Layout::new(&model).expect("the model is small");
    let interpreter = Interpreter::new(&model, &layout);
    let (id, start) = model.starts.iter_enumerated().next().expect("there is a start");
    let mut states = Vec::new();
    for arguments in interpreter.instances(&start.parameters, &start.locals) {
        let Outcome::Next { state, .. } = interpreter.run_start(id, &arguments) else { panic!("the start runs") };
        states.push(state.0);
    }
    assert_eq!(states.len(), 24);
    assert_eq!(states[1], [Some(0), Some(0), Some(0), Some(1)]);
    states.dedup();
    assert_eq!(states.len(), 24);
}

#[test]
fn undefined_as_in_cmurphi() {
    // Says `undefined` somewhere, so that all of it is read as CMurphi reads it.
    let says = |body: &str| format!("j := undefined; {body}");
    check(&says("i := j; assert isundefined(i);"));
    check(&says("i := 1; i := j; assert i = undefined; j := 2; i := j; assert i = 2 & i != undefined;"));
    check(&says("assert empty(undefined) & !empty(1);"));
    check(&says("q := same(undefined); assert isundefined(q.left) & isundefined(q.right);"));
    check(&says("p.left := 1; p := undefined; assert isundefined(p.left);"));
    // Scalarsets and unions can be compared without a value; other types cannot.
    check(&says("u := undefined; n := undefined; assert u = n & !(u != n) & u != red;"));
    check(&says("u := green; n := undefined; assert u != n; for k: node do assert n != k; assert k != n; end;"));
    check(&says("for k: node do n := k; u := n; end; assert u = n;"));
    check(&says(
        "u := undefined; assert !ismember(u, node) & !ismember(u, colour); u := red; assert ismember(u, colour);",
    ));
    check_fault(&says("u := undefined; b := u = c;"), FaultKind::UndefinedRead);
    check_fault(&says("c := undefined; b := c = red;"), FaultKind::UndefinedRead);
    check_fault(&says("b := i = j;"), FaultKind::UndefinedRead);
    check_fault(&says("i := j + 1;"), FaultKind::UndefinedRead);
    check_fault(&says("r[j] := 1;"), FaultKind::UndefinedRead);
    check_fault("b := n = n;", FaultKind::UndefinedRead);
}
