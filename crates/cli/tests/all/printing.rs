//! What models print: along runs, and never in a search, where it changes nothing.

use std::fs;

use crate::transcript::{Transcript, expect, quotient};
use snapbox::str;

/// Runs the program on a model that is written here.
fn on(text: &str, extension: &str, arguments: &[&str]) -> Transcript {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("model.{extension}"));
    fs::write(&path, text).expect("the folder can be written to");
    let mut said = quotient(arguments.iter().copied().chain([path.to_str().expect("a path in UTF-8")]));
    let prefix = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    said.stdout = said.stdout.replace(&prefix, "");
    said.stderr = said.stderr.replace(&prefix, "");
    said
}

const PUT: &str = r#"
type process: scalarset(2);
var x: 0..5; last: process; r: array [process] of boolean;
startstate "begin" begin x := 0; for i: process do r[i] := false; end; put "start\n"; end;
ruleset i: process do
  rule "go" x < 3 ==> begin
    put "x\tis "; put x + 1; put "\n"; put r; put i; put x = 2;
    x := x + 1;
    r[i] := !r[i];
    last := i;
    if x = 3 then putstate; error "three"; end;
  end;
end;
"#;

#[test]
fn murphi() {
    let said = on(PUT, "m", &["check", "--no-progress", "--exact-counts"]);
    let start = said.stdout.find(" 0  ").expect("a run");
    let end = said.stdout.find("    model.m:").expect("the place of the error");
    expect(
        &said.stdout[start..end],
        str![[r#"
 0  Startstate "begin"
      prints: start
      x: 0
      last: undefined
      r[process_0]: false
      r[process_1]: false
 1  Rule "go", i: process_0
      prints: x    is 1
      prints: r[process_0]:false
      prints: r[process_1]:false
      prints: i:process_0
      prints: false
      x: 0 → 1
      last: undefined → process_0
      r[process_0]: false → true
 2  Rule "go", i: process_1
      prints: x    is 2
      prints: r[process_0]:true
      prints: r[process_1]:false
      prints: i:process_1
      prints: false
      x: 1 → 2
      last: process_0 → process_1
      r[process_1]: false → true
    prints: x    is 3
    prints: r[process_0]:true
    prints: r[process_1]:true
    prints: i:process_0
    prints: truex:3
    prints: last:process_0
    prints: r[process_0]:false
    prints: r[process_1]:true
    Rule "go", i: process_0 fails here: three

"#]],
    );
}

#[test]
fn promela() {
    let text = r#"mtype = {red, green};
byte a[2]; byte i = 1; mtype m = green; int big = -70000; short s = -3;
active proctype P() {
  printf("d %d x %x o %o c %c e %e u %u %% pct\n", i, big, 64, 65, m, big);
  printf("s %x s %u pid %d m %d a %d", s, s, _pid, m, a[i]);
  d_step { printf("one\n"); i = 0; printf("two %e\n", red) };
  printm(m);
  assert(i == 1)
}
"#;
    let said = on(text, "pml", &["check", "--no-progress"]);
    let start = said.stdout.find(" 0  ").expect("a run");
    let end = said.stdout.find("    where the processes are").expect("an end");
    // As `spin` prints it.
    expect(
        &said.stdout[start..end],
        str![[r#"
 0  initial state
      i: 1
      m: green
      big: -70000
      s: -3
      proc 0 (P): model.pml:4 [printf("d %d x %x o %o c %c e %e u %u %% pct\n", i, big, 64, 65, m, big)]
      everything else: 0
 1  proc 0 (P) model.pml:4 [printf("d %d x %x o %o c %c e %e u %u %% pct\n", i, big, 64, 65, m, big)]
      prints: d 1 x fffeee90 o 100 c A e green u 4294897296 % pct
 2  proc 0 (P) model.pml:5 [printf("s %x s %u pid %d m %d a %d", s, s, _pid, m, a[i])]
      prints: s fffffffd s 4294967293 pid 0 m 1 a 0
 3  proc 0 (P) model.pml:6 [d_step { printf("one\n"); i = 0; printf("two %e\n", red) }]
      prints: one
      prints: two red
      i: 1 → 0
 4  proc 0 (P) model.pml:7 [printm(m)]
      prints: green
    proc 0 (P) model.pml:8 [assert(i == 1)] fails here: assertion failed: `i == 1`
    model.pml:8:3
    8 |   assert(i == 1)

"#]],
    );
    let random = on(text, "pml", &["simulate", "--seed", "1", "--steps", "2"]);
    assert!(random.stdout.contains("prints: d 1 x fffeee90 o 100 c A e green u 4294897296 % pct"), "{random}");
}

/// The field of an object of JSON output.
fn field(said: &Transcript, path: &[&str]) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said}"));
    for key in path {
        value = value[*key].take();
    }
    value
}

#[test]
fn json_and_files() {
    let said = on(PUT, "m", &["check", "--no-progress", "--format", "json"]);
    let properties = field(&said, &["properties"]);
    let trace = properties.as_array().into_iter().flatten().find(|it| it["trace"].is_array()).expect("a run");
    assert_eq!(trace["trace"][0]["printed"], "start\n");
    let printed = trace["trace"][1]["printed"].as_str().expect("it prints");
    assert!(printed.starts_with("x\tis 1\nr[process_0]:false\n"), "{printed}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    on(PUT, "m", &["check", "--no-progress", "--trace-to", file.to_str().expect("a path in UTF-8")]);
    let run: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON");
    assert_eq!(run["steps"][0]["printed"], "start\n");
    assert!(run["violation"]["printed"].as_str().is_some_and(|it| it.contains("last:")), "{run}");
}

/// Counts, group and verdict are the same with and without what is printed, whatever runs the model.
#[test]
fn searches_do_not_see_it() {
    let without: String = PUT.lines().filter(|line| !line.contains("put \"x")).collect::<Vec<_>>().join("\n");
    let without = without.replace("put \"start\\n\";", "").replace("putstate;", "");
    assert!(!without.contains("put"));
    let promela = r#"byte x; byte other[3]; mtype = { a, b };
active [3] proctype P() { byte mine; do :: atomic { x < 4 -> x++; mine = x % 2; PRINT } od }
"#;
    let printing = promela.replace("PRINT", r#"printf("%d of %d: %d %e\n", _pid, mine, other[_pid], mine)"#);
    let silent = promela.replace("PRINT", r#"printf("")"#);
    for (extension, with, without) in [("m", PUT, without.as_str()), ("pml", &printing, &silent)] {
        for options in [&["--reduction", "auto"][..], &["--symmetry", "off"], &["--search", "dfs"], &["--cross-check"]]
        {
            let mut arguments = vec!["check", "--no-progress", "--exact-counts", "--format", "json"];
            arguments.extend(options);
            let (one, other) = (on(with, extension, &arguments), on(without, extension, &arguments));
            assert_eq!(one.status, other.status, "{one}\n{other}");
            for path in [&["verdict"][..], &["states"], &["transitions"], &["symmetry", "order"], &["represented"]] {
                assert_eq!(field(&one, path), field(&other, path), "{path:?} with {options:?}");
            }
            assert!(field(&one, &["symmetry", "order"]) != "1" || options[1..] == ["off"], "{one}");
        }
    }
}

/// pan and rumur evaluate what they are to print, and what goes wrong then is an error in a search, too.
#[test]
fn errors_in_what_is_printed() {
    let promela = "byte a[2]; byte i = 5; active proctype P() { printf(\"%d\\n\", a[i]) }";
    let said = on(promela, "pml", &["check", "--no-progress"]);
    assert!(said.status == Some(1) && said.stdout.contains("violated   no errors"), "{said}");
    let murphi =
        "var x: 0..3; r: array [0..1] of 0..3; startstate begin x := 2; end; rule true ==> begin put r[x]; end;";
    let said = on(murphi, "m", &["check", "--no-progress"]);
    assert!(said.status == Some(1) && said.stdout.contains("violated   no errors"), "{said}");
    // A variable without a value is printed as such.
    let murphi = "var x: 0..3; startstate begin end; rule true ==> begin put x; end;";
    let said = on(murphi, "m", &["simulate", "--seed", "1", "--steps", "1"]);
    assert!(said.stdout.contains("prints: x:Undefined"), "{said}");
}
