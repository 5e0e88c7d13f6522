//! `quotient explore` where a transcript does not suffice: the graphs that it writes.

use crate::transcript::{Transcript, expect, quotient};
use snapbox::str;

/// Explores a model and reads what was exported.
fn export(model: &str, file: &str, more: &[&str]) -> (Transcript, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    let mut arguments = vec!["explore".as_ref(), "--export".as_ref(), path.as_os_str(), model.as_ref()];
    arguments.extend(more.iter().map(std::ffi::OsStr::new));
    let mut transcript = quotient(arguments);
    transcript.stderr = transcript.stderr.replace(&*path.to_string_lossy(), file);
    (transcript, std::fs::read_to_string(&path).expect("the export is there"))
}

#[test]
fn aldebaran() {
    let (transcript, graph) = export("counter.m", "graph.aut", &[]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    expect(
        graph,
        str![[r#"
des (0, 4, 4)
(0, "increment", 1)
(1, "increment", 2)
(2, "increment", 3)
(3, "reset", 0)

"#]],
    );
}

#[test]
fn aldebaran_with_arguments() {
    let (_, graph) = export("mutex.m", "graph.aut", &["--max-states", "3"]);
    expect(
        graph,
        str![[r#"
des (0, 2, 3)
(0, "try(process_0)", 1)
(0, "try(process_1)", 2)

"#]],
    );
}

#[test]
fn aldebaran_with_several_initial_states() {
    let (_, graph) = export("starts.m", "graph.aut", &[]);
    expect(
        graph,
        str![[r#"
des (0, 4, 4)
(0, "i", 1)
(0, "i", 2)
(0, "i", 3)
(1, "up", 2)

"#]],
    );
}

#[test]
fn dot() {
    let (_, graph) = export("mutex.m", "graph.dot", &["--max-depth", "1"]);
    expect(
        graph,
        str![[r#"
digraph "mutex.m" {
  node [shape=box, fontname="monospace"];
  edge [fontname="sans-serif"];
  initial0 [shape=point];
  initial0 -> 0;
  0 [label="at[process_0]: idle\lat[process_1]: idle\l"];
  1 [label="at[process_0]: trying\lat[process_1]: idle\l"];
  2 [label="at[process_0]: idle\lat[process_1]: trying\l"];
  0 -> 1 [label="try(process_0)"];
  0 -> 2 [label="try(process_1)"];
}

"#]],
    );
}

#[test]
fn large_dot() {
    let (transcript, graph) = export("counter.m", "graph.dot", &["-D", "Limit=1000"]);
    expect(
        transcript.stderr,
        str![[r#"
note: the graph has more than 500 states; its nodes are only numbered

"#]],
    );
    assert!(graph.contains("\n  1000;\n") && !graph.contains("count:"), "{graph}");
}

/// Labels are whole; chosen variables may make states look alike, which are numbered then.
#[test]
fn chosen_variables() {
    let (_, whole) = export("mutex.m", "graph.dot", &[]);
    let labels: Vec<&str> = whole.lines().filter(|line| line.contains("[label=\"") && !line.contains("->")).collect();
    assert_eq!(labels.len(), 26);
    assert!(!whole.contains("more") && !whole.contains("state 0"), "{whole}");
    let (said, chosen) = export("mutex.m", "graph.dot", &["--variables", "locked,last", "--symmetry", "auto"]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(chosen.contains("0 [label=\"state 0\\llocked: false\\llast: undefined\\l\"]"), "{chosen}");
    assert!(!chosen.contains("at["), "{chosen}");
    let nodes: Vec<&str> = chosen.lines().filter(|line| line.contains("[label=\"") && !line.contains("->")).collect();
    let texts: std::collections::BTreeSet<&str> =
        nodes.iter().filter_map(|line| line.split_once(" [")).map(|it| it.1).collect();
    assert_eq!(texts.len(), nodes.len(), "{chosen}");
    let said = quotient(["explore", "--export", "none.dot", "--variables", "blocked", "mutex.m"]);
    assert!(said.status == Some(2) && said.stderr.contains("the model has no variable `blocked`"), "{said}");
    let said = quotient(["explore", "--variables", "locked", "mutex.m"]);
    assert!(said.status == Some(2) && said.stderr.contains("--variables is for --export"), "{said}");
}
