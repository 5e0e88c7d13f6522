//! The Murphi printer on real models: rumur gives for the printed text what our search gives for
//! the model, and reading the printed text gives that text again.
//!
//! The corpus lies outside this repository, see `corpus.rs`.

use std::fs;
use std::path::PathBuf;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Model, PrintOptions, Source, print_murphi};
use quotient_search::{SearchOptions, Silent};
use quotient_testkit::examples::{load_murphi, murphi_examples, promela_examples};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::promela::load_promela;
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::search::check;
use quotient_testkit::verdict::Answer;

/// Unions whose members are not neighbours: the ranges they become have gaps.
const UNIONS: &str = r#"
type
  A: scalarset(2); B: enum {b1, b2}; C: scalarset(2);
  AB: union {A, B}; AC: union {A, C}; BC: union {B, C};
var
  x: AC; y: BC; z: AB;
  marks: array [AC] of boolean;
  where: array [BC] of AC;
function pick(u: AC): AC; begin return u; end;
procedure put_it(var u: AC; v: AC); begin u := v; end;
ruleset u: AC do
startstate "s" begin
  x := u; clear y; z := b2; clear marks; undefine where;
end; end;
ruleset u: AC do
  rule "set" begin x := u; marks[u] := !marks[u]; end;
end;
ruleset a: A do rule "a" begin x := a; z := a; put_it(x, pick(a)); end; end;
ruleset c: C do rule "c" begin y := c; for v: AC do if ismember(v, C) & v != c then marks[v] := false; end; end; end; end;
rule "b" ismember(z, B) & exists u: AC do marks[u] & u = x end ==> begin y := z; where[y] := x; clear marks; end;
rule "clear" begin clear where; end;
rule "bad" isundefined(where[b1]) & ismember(x, C) ==> begin y := x; end;
invariant "inv" forall u: BC do u = u end;
"#;

/// Parameters of array and record types, of which rumur knows nothing.
const PARAMETERS: &str = r#"
type
  P: scalarset(2); Q: 0..1;
  R: record a: 0..1; b: boolean; end;
var
  x: array [P] of 0..2; y: array [Q] of R; k: Q;
ruleset s: array [P] of 0..1; r: array [Q] of R do
startstate "any" begin for p: P do x[p] := s[p]; end; y := r; k := 0; end;
end;
ruleset m: array [Q] of 0..1; rr: R do
  rule "step" m[0] != m[1] & m[k] = 1 & rr.b ==> begin k := 1 - k; y[k] := rr; y[m[k]].a := m[m[k]]; end;
end;
ruleset m: R do
  rule "constant" m.a = 1 ==> begin y[0].a := m.a; end;
end;
invariant "i" k < 2;
"#;

/// Multisets in and of other types, of which rumur knows nothing either.
const MULTISETS: &str = r#"
type
  P: scalarset(2); K: enum {ask, give};
  M: record k: K; from: P; n: 0..1; end;

var
  net: multiset [2] of M;
  boxes: array [P] of multiset [2] of 0..2;
  odd: multiset [2] of record tag: boolean; in_: 0..1; end;
  c: 0..3;
function many(p: P): boolean; begin return multisetcount(i: boxes[p], boxes[p][i] > 0) > 1; end;
startstate begin undefine net; undefine boxes; undefine odd; c := 0; end;
ruleset p: P do
  rule "send" multisetcount(i: net, true) < 2 ==> var m: M; begin m.k := ask; m.from := p; m.n := c % 2; multisetadd(m, net); end;
  choose i: net do
    rule "get" net[i].from = p & multisetcount(j: boxes[p], true) < 2 ==> begin multisetadd(net[i].n, boxes[p]); multisetremove(i, net); end;
  end;
  rule "drop" many(p) ==> begin multisetremovepred(i: boxes[p], boxes[p][i] = 1); c := (c + 1) % 4; end;
  rule "undef" multisetcount(i: net, isundefined(net[i].n)) = 0 & multisetcount(i: net, true) > 0 ==> begin undefine net[0].n; end;
end;
rule "odd" multisetcount(i: odd, true) = 0 ==> var r: record tag: boolean; in_: 0..1; end; begin r.tag := false; r.in_ := 1; multisetadd(r, odd); end;
rule "odd2" multisetcount(i: odd, true) = 1 ==> var r: record tag: boolean; in_: 0..1; end; begin r.tag := true; r.in_ := c % 2; multisetadd(r, odd); end;
choose i: odd do rule "odd3" begin multisetremove(i, odd); end; end;
invariant "small" multisetcount(i: net, net[i].k = give) = 0;
"#;

/// A model to print.
struct Job {
    name: String,
    model: Model,
    deadlock: DeadlockMode,
}

/// States inside of atomic sequences, about which the invariant says nothing: `x` is odd there.
const ATOMIC: &str = "
byte x, y;
active [2] proctype P() {
  do
  :: atomic { x < 6 -> x++; if :: y++ :: y = 0 :: y == 4 -> skip fi; x++ }
  :: atomic { x >= 6 -> x = 1; y = 0; x = 0 }
  od
}
ltl even { [] (x % 2 == 0) }
";

/// The examples with the constants of their first cases, those in Promela, and the corpus if it is there.
fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for example in murphi_examples() {
        let case = &example.header.cases[0];
        let model = example.load(case).unwrap_or_else(|errors| panic!("{}: {errors}", example.name));
        jobs.push(Job { name: example.name.clone(), model, deadlock: example.header.deadlock });
    }
    for path in promela_examples() {
        let name = path.display().to_string();
        let model = load_promela(&path, &[], false).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        jobs.push(Job { name, model, deadlock: DeadlockMode::Stuck });
    }
    let source = Source::new("atomic.pml", ATOMIC);
    let loaded = load(source, Language::Promela, &LoadOptions::default()).expect("a model");
    jobs.push(Job { name: "atomic".into(), model: loaded.model, deadlock: DeadlockMode::Stuck });
    for (name, text) in [("unions", UNIONS), ("parameters", PARAMETERS), ("multisets", MULTISETS)] {
        let model = load_murphi(name, text, &[]).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        jobs.push(Job { name: name.into(), model, deadlock: DeadlockMode::Stuttering });
    }
    let Some(folder) = corpus("murphi", "printing real models") else { return jobs };
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a folder can be read").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "m"));
    paths.sort();
    for path in paths {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let text = fs::read(&path).expect("a file can be read");
        // What is refused on purpose cannot be printed.
        if let Ok(model) = load_murphi(&name, &String::from_utf8_lossy(&text), &[]) {
            jobs.push(Job { name, model, deadlock: DeadlockMode::Stuttering });
        }
    }
    jobs
}

/// Whether something in a model has to be written out in a way that does not come back: the names
/// of members that are printed as numbers are constants, and constants are not part of a model.
fn is_written_out(model: &Model) -> bool {
    model.types.iter().any(|entry| matches!(entry.kind, quotient_ir::TypeKind::Union { .. }))
}

#[test]
fn reading_printed_text_gives_it_again() {
    let jobs = jobs();
    let wrong: Vec<String> = map_on_workers(2, &jobs, |Job { name, model, .. }| {
        let compare = || -> Result<(), String> {
            let print =
                |model: &Model| print_murphi(model, &PrintOptions::default()).map_err(|error| error.to_string());
            let read = |text: &str| load_murphi("printed.m", text, &[]).map_err(|errors| format!("{errors}\n{text}"));
            let mut first = print(model)?;
            let mut second = print(&read(&first)?)?;
            // Assertions of Promela have no message; read again, they have their texts.
            if is_written_out(model) || name.ends_with(".pml") {
                first = second;
                second = print(&read(&first)?)?;
            }
            if first == second { Ok(()) } else { Err(format!("{first}\nbecomes\n{second}")) }
        };
        compare().err().map(|error| format!("{name}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
}

#[test]
fn rumur_counts_the_same_in_printed_models() {
    let Some(rumur) = Rumur::find_or_skip("comparing printed models with rumur") else { return };
    let jobs = jobs();
    let wrong: Vec<String> = map_on_workers(2, &jobs, |Job { name, model, deadlock }| {
        let compare = || -> Result<(), String> {
            let text = print_murphi(model, &PrintOptions::default()).map_err(|error| error.to_string())?;
            // Murphi has no word for states that are passed through.
            let options = SearchOptions { deadlock: *deadlock, store_passing: true, ..SearchOptions::default() };
            let report = check(model, &options, &mut Silent).map_err(|error| error.to_string())?;
            let ours = Answer::of(model, &report);
            // The printed text itself has to make rumur compute in enough bits.
            let options = RumurOptions { deadlock: *deadlock, wide_values: false, ..RumurOptions::default() };
            let theirs = rumur.check(&text, &options).map_err(|failure| format!("{failure}\n{text}"))?;
            if (theirs.class, theirs.states, theirs.rules_fired)
                != (ours.class, Some(ours.states), Some(ours.rules_fired))
            {
                return Err(format!("rumur says {theirs:?} of the printed text, we say {ours:?}\n{text}"));
            }
            Ok(())
        };
        compare().err().map(|error| format!("{name}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
}
