//! The state graph of `explore`: collected while the search runs, counted, and written as
//! Aldebaran (`.aut`) or Graphviz (`.dot`).

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::ControlFlow;

use quotient_engines::{Instance, Observer, Progress, StopReason};
use quotient_ir::{Action, DeadlockMode, Layout, Model, Valuation};

use crate::arguments::ExportFormat;
use crate::names::edge_label;
use crate::render::state::StateShape;
use crate::watch::Watch;

/// A drawing with more states than this cannot be read; its nodes are only numbered.
pub(crate) const LABELLED_STATES: usize = 500;
/// Lines of a node's label; what never changes is left out first.
const LABEL_LINES: usize = 16;

/// Collects the graph of a search that a [`Watch`] watches.
pub(crate) struct GraphCollector {
    watch: Watch,
    deadlock: DeadlockMode,
    collected: CollectedGraph,
    keep_edges: bool,
    keep_states: bool,
}

/// What was collected.
#[derive(Default)]
pub(crate) struct CollectedGraph {
    /// For each state, whether a rule leads on from it.
    leads_on: Vec<bool>,
    initial: Vec<u64>,
    labels: Vec<(Action, Vec<i64>)>,
    label_numbers: HashMap<(Action, Vec<i64>), u32>,
    edges: Vec<Edge>,
    /// Packed states; none if there are too many to show.
    states: Vec<Box<[u64]>>,
}

struct Edge {
    from: u64,
    label: u32,
    to: u64,
}

impl GraphCollector {
    /// Collects what is needed to count deadlocks and to export.
    pub(crate) fn new(watch: Watch, deadlock: DeadlockMode, export: Option<ExportFormat>) -> Self {
        Self {
            watch,
            deadlock,
            collected: CollectedGraph::default(),
            keep_edges: export.is_some(),
            keep_states: export == Some(ExportFormat::Dot),
        }
    }
    /// The graph and the watch.
    pub(crate) fn finish(self) -> (CollectedGraph, Watch) {
        (self.collected, self.watch)
    }
}

impl Observer for GraphCollector {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.watch.progress(progress)
    }
    fn wants_graph(&self) -> bool {
        true
    }
    fn state(&mut self, number: u64, state: &[u64], initial: bool) {
        let graph = &mut self.collected;
        graph.leads_on.push(false);
        if initial {
            graph.initial.push(number);
        }
        if self.keep_states {
            if graph.states.len() == LABELLED_STATES {
                self.keep_states = false;
                graph.states = Vec::new();
            } else {
                graph.states.push(state.into());
            }
        }
    }
    fn edge(&mut self, from: u64, instance: Instance<'_>, to: u64) {
        let graph = &mut self.collected;
        let is_way_on = self.deadlock != DeadlockMode::Stuttering || from != to;
        if let Some(leads_on) = usize::try_from(from).ok().and_then(|from| graph.leads_on.get_mut(from)) {
            *leads_on |= is_way_on;
        }
        if self.keep_edges {
            let key = (instance.action, instance.arguments.to_vec());
            let next = u32::try_from(graph.labels.len()).expect("there are fewer than 2^32 rule instances");
            let label = *graph.label_numbers.entry(key).or_insert_with_key(|key| {
                graph.labels.push(key.clone());
                next
            });
            graph.edges.push(Edge { from, label, to });
        }
    }
}

impl CollectedGraph {
    /// How many initial states there are.
    pub(crate) fn initial_states(&self) -> u64 {
        self.initial.len() as u64
    }
    /// How many states no rule leads on from.
    pub(crate) fn deadlocks(&self) -> u64 {
        self.leads_on.iter().filter(|&&leads_on| !leads_on).count() as u64
    }
    /// Whether there are too many states for the nodes of a drawing to show them.
    pub(crate) fn is_too_large_to_label(&self) -> bool {
        self.leads_on.len() > LABELLED_STATES
    }

    /// Writes the graph in Aldebaran's format: a line with the initial state and the numbers of
    /// edges and states, then a line for each edge. The format has one initial state, number 0; if
    /// there are several (or none), that is an extra root with an internal edge, `i`, to each.
    pub(crate) fn write_aldebaran(&self, model: &Model, mut writer: impl Write) -> io::Result<()> {
        let has_root = self.initial != [0];
        let shift = u64::from(has_root);
        let states = self.leads_on.len() as u64 + shift;
        let edges = self.edges.len() + if has_root { self.initial.len() } else { 0 };
        writeln!(writer, "des (0, {edges}, {states})")?;
        if has_root {
            for initial in &self.initial {
                writeln!(writer, "(0, \"i\", {})", initial + shift)?;
            }
        }
        let labels = self.label_texts(model);
        for Edge { from, label, to } in &self.edges {
            let label = labels[*label as usize].replace('"', "'");
            writeln!(writer, "({}, \"{label}\", {})", from + shift, to + shift)?;
        }
        writer.flush()
    }

    /// Writes the graph for Graphviz. The nodes of a small graph show what varies in their states.
    pub(crate) fn write_dot(&self, model: &Model, layout: &Layout, mut writer: impl Write) -> io::Result<()> {
        let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(writer, "digraph \"{}\" {{", quote(&model.source.name))?;
        writeln!(writer, "  node [shape=box, fontname=\"monospace\"];")?;
        writeln!(writer, "  edge [fontname=\"sans-serif\"];")?;
        for initial in &self.initial {
            writeln!(writer, "  initial{initial} [shape=point];\n  initial{initial} -> {initial};")?;
        }
        let states: Vec<Valuation> = self.states.iter().map(|state| layout.unpack(state)).collect();
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
            for number in 0..self.leads_on.len() {
                writeln!(writer, "  {number};")?;
            }
        }
        let labels = self.label_texts(model);
        for Edge { from, label, to } in &self.edges {
            writeln!(writer, "  {from} -> {to} [label=\"{}\"];", quote(&labels[*label as usize]))?;
        }
        writeln!(writer, "}}")?;
        writer.flush()
    }

    fn label_texts(&self, model: &Model) -> Vec<String> {
        self.labels.iter().map(|(action, arguments)| edge_label(model, *action, arguments)).collect()
    }
}
