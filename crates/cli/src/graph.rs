//! The state graph of `explore`: collected while the search runs, counted, and written as
//! Aldebaran (`.aut`) or Graphviz (`.dot`).

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::ControlFlow;

use quotient_engines::{self as engines, Clock, GuardedQuotient, Observer, Progress, Reduction, StopReason};
use quotient_groups::SparsePermutation;
use quotient_ir::{Action, DeadlockMode, Layout, Model, Valuation};
use quotient_symmetry::{Describer, Families, Workspace};

use crate::arguments::ExportFormat;
use crate::names::edge_label;
use crate::render::state::StateShape;
use crate::watch::Watch;

/// A drawing with more states than this cannot be read; its nodes are only numbered.
pub(crate) const LABELLED_STATES: usize = 500;
/// Lines of a node's label; what never changes is left out first.
const LABEL_LINES: usize = 16;

/// Collects the graph of a search that a [`Watch`] watches.
pub(crate) struct GraphCollector<'a> {
    watch: Watch,
    witnesses: Option<Witnesses<'a>>,
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
    /// Symmetries on edges of a quotient, in source terms; partitions on those of a guarded one.
    permutations: Vec<String>,
    /// Whether the edges are guarded by partitions.
    is_guarded: bool,
    /// Packed states; none if there are too many to show.
    states: Vec<Box<[u64]>>,
}

struct Edge {
    from: u64,
    label: u32,
    /// One of the permutations, counted from one; zero for the identity.
    permutation: u32,
    to: u64,
}

/// Finds the symmetry that takes the state a rule leads to to its representative.
pub(crate) struct Witnesses<'a> {
    reduction: &'a Reduction,
    layout: &'a Layout,
    describer: Describer<'a>,
    workspace: Workspace,
    numbers: HashMap<SparsePermutation, u32>,
}

impl<'a> Witnesses<'a> {
    /// Those of a reduction.
    pub(crate) fn new(model: &'a Model, layout: &'a Layout, reduction: &'a Reduction) -> Self {
        let describer = Describer::new(model, layout, reduction.group.literals());
        Self { reduction, layout, describer, workspace: Workspace::default(), numbers: HashMap::new() }
    }

    /// The number of the permutation for a state; a new one is described.
    fn number(&mut self, state: &[u64], texts: &mut Vec<String>) -> u32 {
        let mut image = state.to_vec();
        let permutation = self.reduction.canonicalizer.canonicalize_with_witness(&mut self.workspace, &mut image);
        if permutation.is_identity() {
            return 0;
        }
        *self.numbers.entry(permutation).or_insert_with_key(|permutation| {
            let action = self.reduction.group.literals().action(self.layout, permutation);
            texts.push(self.describer.describe(&action.expect("a symmetry acts on states")).to_string());
            u32::try_from(texts.len()).expect("there are fewer than 2^32 permutations")
        })
    }
}

impl<'a> GraphCollector<'a> {
    /// Collects what is needed to count deadlocks and to export.
    pub(crate) fn new(
        watch: Watch,
        deadlock: DeadlockMode,
        export: Option<ExportFormat>,
        witnesses: Option<Witnesses<'a>>,
    ) -> Self {
        Self {
            watch,
            witnesses,
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

impl Observer for GraphCollector<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.watch.progress(progress)
    }
    fn clock(&self) -> Option<Clock> {
        self.watch.clock()
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
    fn edge(&mut self, edge: engines::Edge<'_>) {
        let engines::Edge { from, instance, to, concrete, changes } = edge;
        let graph = &mut self.collected;
        let is_way_on = self.deadlock != DeadlockMode::Stuttering || changes;
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
            let permutations = &mut graph.permutations;
            let permutation = self.witnesses.as_mut().map_or(0, |witnesses| witnesses.number(concrete, permutations));
            graph.edges.push(Edge { from, label, permutation, to });
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
        for edge in &self.edges {
            let mut label = labels[edge.label as usize].clone();
            if let Some(permutation) = self.permutation(edge) {
                label.push_str(&format!(" {} {permutation}", self.link()));
            }
            writeln!(writer, "({}, \"{}\", {})", edge.from + shift, label.replace('"', "'"), edge.to + shift)?;
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
        for edge in &self.edges {
            let mut label = quote(&labels[edge.label as usize]);
            if let Some(permutation) = self.permutation(edge) {
                label.push_str(&format!("\\n{} {}", self.link(), quote(permutation)));
            }
            writeln!(writer, "  {} -> {} [label=\"{label}\"];", edge.from, edge.to)?;
        }
        writeln!(writer, "}}")?;
        writer.flush()
    }

    /// The graph of a guarded quotient. An edge says under which permutations it is real, unless it is
    /// under all.
    pub(crate) fn of_guarded_quotient(quotient: &GuardedQuotient, families: &Families) -> Self {
        let mut graph = Self { is_guarded: true, leads_on: vec![false; quotient.nodes.len()], ..Self::default() };
        graph.initial = quotient.initial.iter().map(|&(_, _, node)| u64::from(node)).collect();
        graph.initial.sort_unstable();
        graph.initial.dedup();
        if quotient.nodes.len() <= LABELLED_STATES {
            graph.states = quotient.nodes.iter().map(|state| state.clone().into_boxed_slice()).collect();
        }
        let mut texts: HashMap<String, u32> = HashMap::new();
        for edge in &quotient.edges {
            graph.leads_on[edge.from as usize] |= edge.before != edge.after;
            let key = (Action::Rule(edge.rule), edge.arguments.clone());
            let next = graph.labels.len() as u32;
            let label = *graph.label_numbers.entry(key.clone()).or_insert(next);
            if label == next {
                graph.labels.push(key);
            }
            let text = edge.partition.describe(families);
            let permutation = if text == "all alike" || edge.partition.cell_count() == families.list().len() {
                0
            } else {
                let next = graph.permutations.len() as u32 + 1;
                let number = *texts.entry(text.clone()).or_insert(next);
                if number == next {
                    graph.permutations.push(text);
                }
                number
            };
            graph.edges.push(Edge { from: u64::from(edge.from), label, permutation, to: u64::from(edge.to) });
        }
        graph
    }

    fn link(&self) -> &'static str {
        if self.is_guarded { "within" } else { "then" }
    }

    /// What takes the state that a step leads to to the one that is stored, if that is another one.
    fn permutation(&self, edge: &Edge) -> Option<&str> {
        let position = (edge.permutation as usize).checked_sub(1)?;
        self.permutations.get(position).map(String::as_str)
    }

    fn label_texts(&self, model: &Model) -> Vec<String> {
        self.labels.iter().map(|(action, arguments)| edge_label(model, *action, arguments)).collect()
    }
}
