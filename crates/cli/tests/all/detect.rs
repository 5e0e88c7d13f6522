//! `quotient detect` where a transcript does not suffice: files that it writes, and several runs.

use crate::transcript::{Transcript, expect, quotient, quotient_with};
use snapbox::str;

const READERS_WRITERS: &str = "../../../../models/murphi/readers_writers.m";

/// Detects the symmetries of a model and reads what was exported.
fn export(model: &str, file: &str, more: &[&str]) -> (Transcript, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    let mut arguments = vec!["detect".as_ref(), "--export".as_ref(), path.as_os_str(), model.as_ref()];
    arguments.extend(more.iter().map(std::ffi::OsStr::new));
    let transcript = quotient(arguments);
    (transcript, std::fs::read_to_string(&path).expect("the export is there"))
}

/// An assumption is not a property to choose, but it decides which states there are.
#[test]
fn assumptions() {
    let model = |assumption: &str| {
        let text = format!(
            "var x, y: boolean; startstate begin x := true; y := true; end; rule true ==> x := !x; end; \
             rule true ==> y := !y; end; {assumption}"
        );
        quotient_with(["detect", "--no-properties", "-"], text.as_bytes(), &[]).stdout
    };
    assert!(model("").starts_with("symmetries: 2, S2\n"), "{}", model(""));
    assert!(model("assume x | y;").starts_with("symmetries: 2, S2\n"));
    assert!(model("assume x;").starts_with("symmetries: 1, "));
}

#[test]
fn fixed_variables() {
    let text = "var x, y, u, v: boolean;
ruleset b: boolean do startstate begin x := b; y := !b; u := true; v := true; end; end;
rule \"wait\" begin while x do x := y; end; end;
rule begin u := !u; end;
rule begin v := !v; end;
";
    expect(
        quotient_with(["detect", "-"], text.as_bytes(), &[]),
        str![[r#"
symmetries: 2, S2

  u ↔ v

variables    u, v
fixed        x: a loop does not end after 4096 iterations whatever the state (<stdin>:3:1)
fixed        y: a loop does not end after 4096 iterations whatever the state (<stdin>:3:1)
generators   1
certified    …
text         shows none of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn why_not_a_symmetry() {
    for (request, whole) in
        [("process 1 2", "\n  (process 1 2)\n"), ("process 1 1", ""), ("at[1] at[2]", "\n  (process 1 2)\n")]
    {
        let transcript = quotient(["detect", READERS_WRITERS, "--why-not", request]);
        assert!(transcript.stdout.ends_with(&format!("`{request}` is a symmetry\n{whole}")), "{transcript}");
        assert_eq!(transcript.status, Some(0), "{transcript}");
    }
}

#[test]
fn families() {
    expect(
        quotient(["detect", READERS_WRITERS, "--why-not"]),
        str![[r#"
symmetries: 2, S2

process: {1, 2} {3}  distinguished
  1 | 3: rule "enter beside readers" can fire for p = 1, but never for p = 3
    ../../../../models/murphi/readers_writers.m:44:3
    44 |   rule "enter beside readers"
---- exit status 0

"#]],
    );
    // The model may follow the flag; it is no request.
    let after = quotient(["detect", "--why-not", READERS_WRITERS]);
    assert_eq!(after.to_string(), quotient(["detect", READERS_WRITERS, "--why-not"]).to_string());
}

#[test]
fn bad_requests() {
    for (request, words) in [
        ("proc 1 2", "there is no type `proc`"),
        ("process 1 9", "`9` is not a value of process: 1..3"),
        ("process 1", "no variable `process`"),
        ("rotate", "expected"),
        ("", "expected"),
        ("at[1] at", "different shapes"),
    ] {
        let transcript = quotient(["detect", READERS_WRITERS, "--why-not", request]);
        assert_eq!(transcript.status, Some(2), "{request}: {transcript}");
        assert!(transcript.stderr.contains(words), "{request}: {transcript}");
        assert!(transcript.stdout.is_empty(), "{request}: {transcript}");
    }
}

#[test]
fn wrong_usage() {
    for (arguments, words) in [
        (&["detect"][..], "which model?"),
        (&["detect", "--property", "nothing", "mutex.m"], "no property `nothing`"),
        (&["detect", "--property", "both try", "--no-properties", "mutex.m"], "cannot be used with"),
        (&["detect", "--symmetry", "some", "mutex.m"], "possible values: auto, declared, off"),
        (&["detect", "--export", "graph.png", "mutex.m"], "must end in .dimacs"),
        (&["detect", "--export", "graph.dot", "--symmetry", "off", "mutex.m"], "only --symmetry auto"),
        (&["detect", "--export", "no/such/folder/graph.dot", "mutex.m"], "cannot write"),
        (&["detect", "--certificate", "no/such/folder/certificate.json", "mutex.m"], "cannot write"),
        (&["detect", "--certificate", "certificate.json", "--partial", "mutex.m"], "cannot be used with"),
    ] {
        let transcript = quotient(arguments);
        assert_eq!(transcript.status, Some(2), "{arguments:?}\n{transcript}");
        assert!(transcript.stderr.contains(words), "{arguments:?}\n{transcript}");
        assert!(transcript.stdout.is_empty(), "{arguments:?}\n{transcript}");
    }
}

#[test]
fn invalid_model() {
    let transcript = quotient(["detect", "nowhere.m"]);
    assert_eq!(transcript.status, Some(3), "{transcript}");
    assert!(transcript.stderr.contains("cannot read") && transcript.stdout.is_empty(), "{transcript}");
    let transcript = quotient(["detect", "--format", "json", "invalid.m"]);
    assert_eq!(transcript.status, Some(3), "{transcript}");
    assert!(transcript.stdout.contains("\"command\":\"detect\""), "{transcript}");
}

#[test]
fn dot() {
    let (_, graph) = export("twins.m", "graph.dot", &[]);
    expect(
        graph,
        str![[r#"
graph {
  node [style=filled, colorscheme=set312];
  0 [label="x", fillcolor=1, tooltip="colour 0"];
  1 [label="x = false", fillcolor=2, tooltip="colour 1"];
  2 [label="x = true", fillcolor=2, tooltip="colour 1"];
  3 [label="y", fillcolor=1, tooltip="colour 0"];
  4 [label="y = false", fillcolor=2, tooltip="colour 1"];
  5 [label="y = true", fillcolor=2, tooltip="colour 1"];
  6 [label="both down", fillcolor=3, tooltip="colour 2"];
  7 [label=":=", fillcolor=4, tooltip="colour 3"];
  8 [label=":=", fillcolor=4, tooltip="colour 3"];
  9 [label="raise x", fillcolor=5, tooltip="colour 4"];
  10 [label=":=", fillcolor=4, tooltip="colour 3"];
  11 [label="lift y", fillcolor=5, tooltip="colour 4"];
  12 [label=":=", fillcolor=4, tooltip="colour 3"];
  13 [label="not both", fillcolor=6, tooltip="colour 5"];
  14 [label="or", fillcolor=7, tooltip="colour 6"];
  0 -- 1;
  0 -- 2;
  1 -- 7;
  1 -- 9;
  1 -- 14;
  2 -- 10;
  3 -- 4;
  3 -- 5;
  4 -- 8;
  4 -- 11;
  4 -- 14;
  5 -- 12;
  6 -- 7;
  6 -- 8;
  9 -- 10;
  11 -- 12;
  13 -- 14;
}

"#]],
    );
}

#[test]
fn gap() {
    let (_, program) = export("twins.m", "group.g", &[]);
    expect(
        program,
        str![[r##"
# The symmetries of twins.m on the literals that they move:
# 1: x = false
# 2: x = true
# 3: y = false
# 4: y = true
symmetries := Group([
  (1,3)(2,4)
]);
Print(Size(symmetries), "\n");

"##]],
    );
}

#[test]
fn gap_without_symmetry() {
    let (_, program) = export("mutex.m", "group.gap", &["--symmetry", "off"]);
    expect(
        program,
        str![[r##"
# The symmetries of mutex.m on the literals that they move:
symmetries := Group(());
Print(Size(symmetries), "\n");

"##]],
    );
}

#[test]
fn dimacs_and_dreadnaut() {
    let (_, graph) = export("mutex.m", "graph.bliss", &[]);
    assert!(graph.starts_with("p edge "), "{graph}");
    let (_, graph) = export("mutex.m", "graph.dre", &[]);
    assert!(graph.starts_with("As -a -m\nn=") && graph.ends_with("]\nx\n"), "{graph}");
}

/// The guide's worked example is what the program says, and its drawing shows every vertex.
#[test]
fn worked_example_of_the_guide() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let text = std::fs::read_to_string(guide.join("detection.md")).expect("the guide");
    let block = |opening: &str| {
        let start = text.find(opening).expect("the block is there") + opening.len();
        &text[start..start + text[start..].find("```").expect("a block has an end")]
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (model, graph) = (folder.path().join("lock.m"), folder.path().join("lock.dot"));
    std::fs::write(&model, block("```murphi\n")).expect("the model is written");
    let transcript = quotient(["detect".as_ref(), "--export".as_ref(), graph.as_os_str(), model.as_os_str()]);
    let expected = block("```\n$ quotient detect lock.m\n");
    assert_eq!(transcript.stdout.lines().count(), expected.lines().count(), "{transcript}");
    for (said, expected) in transcript.stdout.lines().zip(expected.lines()) {
        if !["certified  ", "text  ", "time  "].iter().any(|name| said.starts_with(name) && expected.starts_with(name))
        {
            assert_eq!(said, expected, "{transcript}");
        }
    }
    let drawing = std::fs::read_to_string(guide.join("detection-lock.svg")).expect("the drawing");
    let graph = std::fs::read_to_string(&graph).expect("the graph");
    let labels: Vec<&str> = graph.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(drawing.matches("<text").count(), labels.len());
    for label in labels {
        assert!(drawing.contains(&format!(">{label}<")), "{label}");
    }
}
