//! Small graphs with verdicts known by hand. Random graphs are compared with an oracle in the tests of `testkit`.

use std::ops::ControlFlow;

use quotient_ir::Fairness;
use quotient_temporal::print::plain;
use quotient_temporal::syntax::parse_plain;
use quotient_temporal::{Atom, Formulas};

use super::{EdgeClasses, Ending, Graph, GraphBuilder, TreeAnswer, TreeOptions, check_tree};

/// Edges of each state with their class, and the states where `p0` and `p1` are true. State 0 is the start.
fn graph(edges: &[&[(u32, u32)]], labels: [&[u32]; 2]) -> (Graph, Vec<u32>) {
    let (mut builder, mut classes) = (GraphBuilder::new(2), Vec::new());
    for edges in edges {
        for &(to, class) in *edges {
            builder.edge(to);
            classes.push(class);
        }
        // The last combination has no classes.
        classes.extend(builder.end_state(Ending::Stays).map(|_| 2));
    }
    builder.start(0);
    for (atom, states) in (0..).zip(labels) {
        states.iter().for_each(|&state| builder.label(Atom(atom), state));
    }
    (builder.build(), classes)
}

/// The answer, and what it leaves open as text.
fn check((graph, classes): &(Graph, Vec<u32>), text: &str, fairness: Fairness) -> (TreeAnswer, Vec<String>) {
    let mut pool = Formulas::new();
    let formula = parse_plain(&mut pool, text).expect(text);
    let combinations = vec![vec![0], vec![1], Vec::new()];
    let classes = EdgeClasses::new(graph, vec![fairness; 2], combinations, classes.clone());
    let options = TreeOptions { fairness: Some(&classes), max_memory: None };
    let answer = check_tree(graph, &mut pool, formula, &options, &mut || ControlFlow::Continue(())).expect(text);
    let open = answer.evidence.iter().flat_map(|evidence| &evidence.open);
    let open = open.map(|open| format!("{}: {} is {}", open.state, plain(&pool, open.formula), open.holds)).collect();
    (answer, open)
}

/// 0 and 1 form a cycle of class 0; class 1 leads from 0 to 2, where runs end.
fn escape() -> (Graph, Vec<u32>) {
    graph(&[&[(1, 0), (2, 1)], &[(0, 0)], &[]], [&[1], &[2]])
}

#[test]
fn fairness_decides() {
    for (text, expected) in [
        ("AF p1", [false, false, true]),
        ("EF p1", [true; 3]),
        ("AG EF p1", [true; 3]),
        ("EG !p1", [true, true, false]),
        ("A (G F p0 | F p1)", [true; 3]),
        ("A F G p1", [false, false, true]),
        ("E G F p0", [true, true, false]),
        ("EX p0 & EX p1", [true; 3]),
        ("AX p0", [false; 3]),
        ("A[!p1 U p0]", [false; 3]),
        ("E[!p1 W false]", [true, true, false]),
    ] {
        let found = [Fairness::None, Fairness::Weak, Fairness::Strong]
            .map(|fairness| check(&escape(), text, fairness).0.holds_everywhere());
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn linear_evidence_leaves_nothing_open() {
    let (answer, open) = check(&escape(), "AF p1", Fairness::Weak);
    let path = answer.evidence.expect("a start").path;
    assert_eq!((path.states, path.edges, path.cycle), (vec![0, 1], vec![0, 2], Some(0)));
    assert!(open.is_empty());
    // A witness may consist of several parts, one after the other.
    let (answer, open) = check(&escape(), "EF EX p1", Fairness::None);
    let path = answer.evidence.expect("a start").path;
    assert_eq!((path.states, path.cycle), (vec![0, 2], None));
    assert!(open.is_empty());
}

#[test]
fn branching_points_are_left_open() {
    let (answer, open) = check(&escape(), "AG EF p0", Fairness::None);
    assert_eq!(answer.holds, [false]);
    assert_eq!(answer.evidence.expect("a start").path.states, [0, 2]);
    assert_eq!(open, ["2: E F p0 is false"]);
    let (_, open) = check(&escape(), "EF AG p1", Fairness::None);
    assert_eq!(open, ["2: A G p1 is true"]);
    let (_, open) = check(&escape(), "A X p0", Fairness::None);
    assert!(open.is_empty());
}
