//! Trails that SPIN 6.5.2 has written (`spin -a`, `pan -a`), replayed: the end is the one that `spin -t` shows.

use std::fs;

use crate::transcript::{Transcript, expect, quotient};
use snapbox::str;

fn replay(model: &str, more: &[&str]) -> Transcript {
    let trail = format!("trails/{model}.pml.trail");
    let path = format!("trails/{model}.pml");
    let mut arguments = vec!["simulate", "--trail", &trail];
    arguments.extend(more);
    arguments.push(&path);
    quotient(arguments)
}

/// Model, exit status, what is said at the end, the values of global variables at the end.
type Case = (&'static str, i32, &'static str, &'static [(&'static str, i64)]);

const CASES: [Case; 12] = [
    ("merged", 1, "[assert(x != 3)]", &[("x", 3)]),
    ("handshake", 1, "[assert(cnt == 3)]", &[("n", 2), ("cnt", 4)]),
    ("locks", 1, "invalid end state", &[("a", 1), ("b", 1), ("got", 1)]),
    ("clients", 1, "[assert(served != 3)]", &[("served", 3)]),
    ("escape", 1, "[assert(s == 2)]", &[("s", 7), ("tick", 3)]),
    ("workers", 1, "[assert(a[0] != 5)]", &[("a[0]", 5), ("a[1]", 2), ("a[2]", 3), ("ready", 3)]),
    ("structures", 1, "invalid end state", &[("c[1].v", 2), ("c[1].on[0]", 1), ("c[1].on[1]", 0), ("r", 2)]),
    ("formula", 1, "ltl p", &[("x", 3)]),
    ("channels", 1, "[assert(len(q) == 0)]", &[("got", 0)]),
    ("flags", 1, "[assert(inside == 1)]", &[("flag[0]", 1), ("flag[1]", 1), ("inside", 2)]),
    ("claim_first", 1, "never", &[("x", 9)]),
    ("cycle", 0, "the cycle leads back", &[("x", 1)]),
];

#[test]
fn ends_are_those_of_spin() {
    for (model, status, words, values) in CASES {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.json");
        let said = replay(model, &["--trace-to", path.to_str().expect("a path in UTF-8")]);
        assert_eq!(said.status, Some(status), "{model}: {said}");
        assert!(said.stdout.contains(words), "{model}: {said}");
        let run: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).expect("a file")).expect("JSON");
        let state = &run["steps"].as_array().and_then(|steps| steps.last()).expect("steps")["state"];
        for (name, value) in values {
            let found = match &state[*name] {
                serde_json::Value::Bool(truth) => Some(i64::from(*truth)),
                other => other.as_i64(),
            };
            assert_eq!(found, Some(*value), "{model}: {name} in {state}");
        }
        // The number of every transition is known, but where a claim stands before the processes.
        assert_eq!(said.stderr.contains("note: the transition"), model == "claim_first", "{model}: {said}");
    }
}

#[test]
fn a_trail() {
    expect(
        replay("handshake", &[]),
        str![[r#"
 0  initial state
      proc 0 (S): handshake.pml:5 [run R()]
      everything else: 0, or empty
 1  proc 0 (S) handshake.pml:5 [run R()]
      proc 1 (R) starts
 2  proc 0 (S) handshake.pml:6 [y = 2]
      S(0):y: 0 → 2
 3  proc 0 (S) handshake.pml:7 [c!y]
    proc 1 (R) handshake.pml:3 [c?x]
      R(1):x: 0 → 2
 4  proc 1 (R) handshake.pml:3 [q!x]
      queue (q): [2]
 5  proc 1 (R) handshake.pml:3 [n = x]
      n: 0 → 2
 6  proc 1 (R) handshake.pml:3 [-end-]
 7  proc 0 (S) handshake.pml:8 [d_step { cnt++; cnt = cnt + 1 }]
      cnt: 0 → 2
 8  proc 0 (S) handshake.pml:9 [q?y]
      queue (q): []
 9  proc 0 (S) handshake.pml:9 [cnt = cnt+y]
      cnt: 2 → 4
10  proc 0 (S) handshake.pml:10 [n > 0]
    proc 0 (S) handshake.pml:11 [assert(cnt == 3)] fails here: assertion failed: `cnt == 3`
    trails/handshake.pml:11:3
    11 |   assert(cnt == 3)
    where the processes are:
      proc 0 (S) handshake.pml:11 [assert(cnt == 3)]
---- exit status 1

"#]],
    );
}

/// A trail of another model, and files that are no trails.
#[test]
fn what_does_not_fit() {
    let said = quotient(["simulate", "--trail", "trails/handshake.pml.trail", "trails/locks.pml"]);
    expect(
        said,
        str![[r#"
 0  initial state
      proc 0 (P): locks.pml:3 [!a]
      proc 1 (Q): locks.pml:4 [!b]
      everything else: 0
 1  proc 0 (P) locks.pml:3 [!a]
 2  proc 0 (P) locks.pml:3 [a = true]
      a: false → true
 3  proc 0 (P) locks.pml:3 [!b]
 4  proc 0 (P) locks.pml:3 [b = true]
      b: false → true
 5  proc 0 (P) locks.pml:3 [got++]
      got: 0 → 1
 6  proc 0 (P) locks.pml:3 [b = false]
      b: true → false
 7  proc 0 (P) locks.pml:3 [a = false]
      a: true → false
 8  proc 1 (Q) locks.pml:4 [!b]
 9  proc 1 (Q) locks.pml:4 [b = true]
      b: false → true
10  proc 1 (Q) locks.pml:4 [!a]
11  proc 1 (Q) locks.pml:4 [a = true]
      a: false → true
12  proc 1 (Q) locks.pml:4 [got++]
      got: 1 → 2
13  proc 1 (Q) locks.pml:4 [a = false]
      a: true → false
14  proc 1 (Q) locks.pml:4 [b = false]
      b: true → false
15  proc 0 (P) locks.pml:3 [!a]
16  proc 0 (P) locks.pml:3 [a = true]
      a: false → true
17  proc 0 (P) locks.pml:3 [!b]
18  proc 0 (P) locks.pml:3 [b = true]
      b: false → true
---- stderr
note: the transition in line 3 of the trail is not one of this model; the run follows the processes of the trail only, and may not be the one that SPIN has found
---- exit status 0

"#]],
    );
    let said = quotient(["simulate", "--trail", "trails/locks.pml.trail", "mutex.m"]);
    assert!(said.status == Some(3) && said.stderr.contains("the model has no processes"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    for (text, message) in [
        ("", "there is no step in this trail"),
        ("-4:-4:-4\n", "there is no step in this trail"),
        ("1:0:0\nhello\n", "this is not a line of a trail"),
        ("1:0\n", "this is not a line of a trail"),
        ("1:0:0\n2:0:99999999999999999999\n", "this is not a line of a trail"),
        ("1:7:0\n", "process 7 cannot take this step"),
    ] {
        let path = folder.path().join("broken.trail");
        fs::write(&path, text).expect("the folder can be written to");
        let said = quotient(["simulate", "--trail", path.to_str().expect("a path in UTF-8"), "trails/locks.pml"]);
        assert!(said.status == Some(3) && said.stderr.contains(message), "{text:?}: {said}");
    }
    let said = quotient(["simulate", "--trail", "none.trail", "trails/locks.pml"]);
    assert_eq!(said.status, Some(3), "{said}");
}
