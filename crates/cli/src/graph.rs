//! The state graph of `explore`, written as Aldebaran (`.aut`) or Graphviz (`.dot`).

use std::io::{self, Write};

use quotient::StateGraph;
use quotient_ir::{Layout, Model, Valuation};

use crate::names::edge_label;
use crate::render::state::StateShape;

/// Lines of a node's label; what never changes is left out first.
const LABEL_LINES: usize = 16;

/// Writes the graph in Aldebaran's format: a line with the initial state and the numbers of
/// edges and states, then a line for each edge. The format has one initial state, number 0; if
/// there are several (or none), that is an extra root with an internal edge, `i`, to each.
pub(crate) fn write_aldebaran(graph: &StateGraph, model: &Model, mut writer: impl Write) -> io::Result<()> {
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
    let labels = label_texts(graph, model);
    for edge in graph.edges() {
        let mut label = labels[edge.label as usize].clone();
        if let Some(permutation) = graph.permutation(edge) {
            label.push_str(&format!(" {} {permutation}", link(graph)));
        }
        writeln!(writer, "({}, \"{}\", {})", edge.from + shift, label.replace('"', "'"), edge.to + shift)?;
    }
    writer.flush()
}

/// Writes the graph for Graphviz. The nodes of a small graph show what varies in their states.
pub(crate) fn write_dot(graph: &StateGraph, model: &Model, layout: &Layout, mut writer: impl Write) -> io::Result<()> {
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(writer, "digraph \"{}\" {{", quote(&model.source.name))?;
    writeln!(writer, "  node [shape=box, fontname=\"monospace\"];")?;
    writeln!(writer, "  edge [fontname=\"sans-serif\"];")?;
    for initial in graph.initial() {
        writeln!(writer, "  initial{initial} [shape=point];\n  initial{initial} -> {initial};")?;
    }
    let states: Vec<Valuation> = graph.states().iter().map(|state| layout.unpack(state)).collect();
    let shape = StateShape::new(model, layout);
    let varying = shape.varying(&states);
    for (number, state) in states.iter().enumerate() {
        write!(writer, "  {number} [label=\"")?;
        let entries = shape.entries_of(&varying, state);
        for entry in entries.iter().take(LABEL_LINES) {
            write!(writer, "{}: {}\\l", quote(&entry.name), quote(&entry.value))?;
        }
        match entries.len() {
            0 => write!(writer, "{number}")?,
            count if count > LABEL_LINES => write!(writer, "and {} more\\l", count - LABEL_LINES)?,
            _ => {}
        }
        writeln!(writer, "\"];")?;
    }
    if states.is_empty() {
        for number in 0..graph.state_count() {
            writeln!(writer, "  {number};")?;
        }
    }
    let labels = label_texts(graph, model);
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

fn label_texts(graph: &StateGraph, model: &Model) -> Vec<String> {
    graph.labels().iter().map(|(action, arguments)| edge_label(model, *action, arguments)).collect()
}
