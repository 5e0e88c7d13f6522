//! The state graph of `explore`, written as Aldebaran (`.aut`) or Graphviz (`.dot`).

use std::collections::HashMap;
use std::io::{self, Write};

use quotient::StateGraph;
use quotient_ir::{Interpreter, Layout, Model, Valuation};

use quotient::names::edge_label;
use quotient::shown::StateShape;

/// Writes the graph in Aldebaran's format: a line with the initial state and the numbers of edges and states, then a
/// line for each edge. The format has one initial state, number 0; if there are several (or none), an extra root is
/// added, with an internal edge, `i`, to each.
pub(crate) fn write_aldebaran(
    graph: &StateGraph,
    interpreter: &Interpreter<'_>,
    mut writer: impl Write,
) -> io::Result<()> {
    let has_root = graph.initial() != [0];
    let shift = u64::from(has_root);
    let states = graph.state_count() as u64 + shift;
    let edges = graph.edges().len() + if has_root { graph.initial().len() } else { 0 };
    writeln!(writer, "des (0, {edges}, {states})")?;
    if has_root {
        for initial in graph.initial() {
            writeln!(writer, "(0, \"i\", {})", initial + shift)?;
        }
    }
    let labels = label_texts(graph, interpreter);
    for edge in graph.edges() {
        let mut label = labels[edge.label as usize].clone();
        if let Some(permutation) = graph.permutation(edge) {
            label.push_str(&format!(" {} {permutation}", link(graph)));
        }
        writeln!(writer, "({}, \"{}\", {})", edge.from + shift, label.replace('"', "'"), edge.to + shift)?;
    }
    writer.flush()
}

/// The label of each node, or the name of a variable that the model does not have. By default a label shows the
/// variables whose values differ among the states. Nodes with equal labels are numbered.
pub(crate) fn node_labels(
    graph: &StateGraph,
    model: &Model,
    layout: &Layout,
    variables: &[String],
) -> Result<Vec<Vec<String>>, String> {
    let states: Vec<Valuation> = graph.states().iter().map(|state| layout.unpack(state)).collect();
    let shape = StateShape::new(model, layout);
    let chosen = shape.chosen(variables, &states)?;
    let label = |state: &Valuation| {
        let entries = shape.entries_of(&chosen, state);
        entries.into_iter().map(|entry| format!("{}: {}", entry.name, entry.value)).collect::<Vec<_>>()
    };
    let mut labels: Vec<Vec<String>> = states.iter().map(label).collect();
    let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
    for label in &labels {
        *counts.entry(label.clone()).or_default() += 1;
    }
    for (number, label) in labels.iter_mut().enumerate() {
        if label.is_empty() || counts[label] > 1 {
            label.insert(0, format!("state {number}"));
        }
    }
    Ok(labels)
}

/// Writes the graph for Graphviz, with these labels; without labels, the nodes have numbers.
pub(crate) fn write_dot(
    graph: &StateGraph,
    interpreter: &Interpreter<'_>,
    labels: &[Vec<String>],
    mut writer: impl Write,
) -> io::Result<()> {
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(writer, "digraph \"{}\" {{", quote(&interpreter.model().source.name))?;
    writeln!(writer, "  node [shape=box, fontname=\"monospace\"];")?;
    writeln!(writer, "  edge [fontname=\"sans-serif\"];")?;
    for initial in graph.initial() {
        writeln!(writer, "  initial{initial} [shape=point];\n  initial{initial} -> {initial};")?;
    }
    for (number, label) in labels.iter().enumerate() {
        let lines: String = label.iter().map(|line| format!("{}\\l", quote(line))).collect();
        writeln!(writer, "  {number} [label=\"{lines}\"];")?;
    }
    if labels.is_empty() {
        for number in 0..graph.state_count() {
            writeln!(writer, "  {number};")?;
        }
    }
    let labels = label_texts(graph, interpreter);
    for edge in graph.edges() {
        let mut label = quote(&labels[edge.label as usize]);
        if let Some(permutation) = graph.permutation(edge) {
            label.push_str(&format!("\\n{} {}", link(graph), quote(permutation)));
        }
        writeln!(writer, "  {} -> {} [label=\"{label}\"];", edge.from, edge.to)?;
    }
    writeln!(writer, "}}")?;
    writer.flush()
}

fn link(graph: &StateGraph) -> &'static str {
    if graph.is_guarded() { "within" } else { "then" }
}

fn label_texts(graph: &StateGraph, interpreter: &Interpreter<'_>) -> Vec<String> {
    graph.labels().iter().map(|(action, arguments)| edge_label(interpreter, *action, arguments)).collect()
}
