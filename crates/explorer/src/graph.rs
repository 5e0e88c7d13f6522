//! The quotient as a graph, made on demand: nodes are orbits, numbered in the order in which they become known.
//!
//! Steps are those of the reference interpreter. The graph does not depend on the search, and has room for any part of a state
//! space that people look at.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use quotient::ir::{Action, Interpreter, TraceStep, Valuation};
use quotient::names::edge_label;
use quotient::shown::{Entry, StateShape};
use quotient::walk::{self, Consequence, Randomness};
use quotient::{Expression, Model};
use serde_json::{Value, json};

use crate::answers::{Answer, Problem};
use crate::layered::Drawing;
use crate::orbits::SharedOrbits;
use crate::texts;

/// How long steps are looked for in one request: a second request goes on.
const PATIENCE: Duration = Duration::from_millis(60);
/// The most nodes that are kept.
const MOST_NODES: usize = 200_000;
/// The most nodes of one answer.
const MOST_SHOWN: usize = 1000;
/// So many nodes are passed through for each that is shown.
const PASSED: usize = 20;
/// The most nodes in a row of a drawing, and the most if they are small.
const ROW: usize = 12;
const LONG_ROW: usize = 28;
/// More nodes than this are small: their states are not shown in the drawing.
const SMALL: usize = 150;
/// The most lines of a node, and their length.
const LINES: usize = 4;
const LINE_LENGTH: usize = 30;

/// The part of the graph that is known.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    numbers: HashMap<Valuation, usize>,
    starts: Option<Vec<usize>>,
}

struct Node {
    state: Valuation,
    depth: usize,
    /// A node before it, on a shortest path that is known.
    parent: Option<usize>,
    is_start: bool,
    violates: Option<String>,
    steps: Option<Steps>,
}

/// The steps from a node.
struct Steps {
    list: Vec<Step>,
    is_complete: bool,
}

/// Steps of a rule to one orbit.
struct Step {
    /// None for a run-time error.
    to: Option<usize>,
    action: Action,
    arguments: Vec<i64>,
    /// How many instances lead there.
    alike: usize,
    /// Leads from the successor of the first to the representative.
    permutation: Vec<String>,
    fault: Option<String>,
}

/// What requests about the graph need.
pub(crate) struct Context<'a> {
    pub(crate) model: &'a Model,
    pub(crate) interpreter: Interpreter<'a>,
    pub(crate) orbits: &'a SharedOrbits,
}

/// A part of the graph.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    from: Option<String>,
    depth: Option<usize>,
    limit: Option<usize>,
    pub(crate) filter: Option<String>,
}

/// Nodes on random walks.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    count: Option<usize>,
    steps: Option<usize>,
    seed: Option<u64>,
}

impl Graph {
    /// The number of a state's orbit.
    pub(crate) fn number(&mut self, context: &Context<'_>, state: Valuation) -> Result<usize, Problem> {
        let (state, _) = context.orbits.representative(state);
        self.add(context, state, usize::MAX / 2, None)
    }

    fn add(
        &mut self,
        context: &Context<'_>,
        state: Valuation,
        depth: usize,
        parent: Option<usize>,
    ) -> Result<usize, Problem> {
        if let Some(&number) = self.numbers.get(&state) {
            let node = &mut self.nodes[number];
            if depth < node.depth {
                (node.depth, node.parent) = (depth, parent);
            }
            return Ok(number);
        }
        if self.nodes.len() == MOST_NODES {
            return Err(Problem::bad(format!("{MOST_NODES} nodes are known, and there is no room for more")));
        }
        let number = self.nodes.len();
        let violates = texts::violation(&context.interpreter, &state);
        self.numbers.insert(state.clone(), number);
        self.nodes.push(Node { state, depth, parent, is_start: false, violates, steps: None });
        Ok(number)
    }

    /// The orbits of initial states.
    fn starts(&mut self, context: &Context<'_>) -> Result<Vec<usize>, Problem> {
        if let Some(starts) = &self.starts {
            return Ok(starts.clone());
        }
        let mut starts = Vec::new();
        for candidate in walk::starts(&context.interpreter).list {
            if let Consequence::State(state) = candidate.consequence {
                let (state, _) = context.orbits.representative(state);
                let number = self.add(context, state, 0, None)?;
                self.nodes[number].is_start = true;
                if !starts.contains(&number) {
                    starts.push(number);
                }
            }
        }
        self.starts = Some(starts.clone());
        Ok(starts)
    }

    /// Finds the steps from a node.
    fn expand(&mut self, context: &Context<'_>, number: usize) -> Result<(), Problem> {
        if self.nodes[number].steps.is_some() {
            return Ok(());
        }
        let depth = self.nodes[number].depth.saturating_add(1);
        let candidates = walk::successors(&context.interpreter, &self.nodes[number].state);
        let mut list: Vec<Step> = Vec::new();
        let mut known: HashMap<(Action, usize), usize> = HashMap::new();
        for candidate in candidates.list {
            let fault = texts::fault(&context.interpreter, &candidate.consequence);
            let (to, permutation) = match candidate.consequence {
                Consequence::State(state) => {
                    let (state, permutation) = context.orbits.representative(state);
                    let to = self.add(context, state, depth, Some(number))?;
                    if let Some(&position) = known.get(&(candidate.action, to)) {
                        let step: &mut Step = &mut list[position];
                        step.alike += 1;
                        // The plainest of them stands for all.
                        if permutation.is_empty() && !step.permutation.is_empty() {
                            (step.arguments, step.permutation) = (candidate.arguments, permutation);
                        }
                        continue;
                    }
                    known.insert((candidate.action, to), list.len());
                    (Some(to), permutation)
                }
                Consequence::Violation(_) | Consequence::Exhausted(_) => (None, Vec::new()),
            };
            let (action, arguments) = (candidate.action, candidate.arguments);
            list.push(Step { to, action, arguments, alike: 1, permutation, fault });
        }
        self.nodes[number].steps = Some(Steps { list, is_complete: !candidates.is_cut });
        Ok(())
    }

    fn node(&self, number: usize) -> Result<&Node, Problem> {
        self.nodes.get(number).ok_or_else(|| Problem::missing(format!("there is no node {number}")))
    }

    /// A part of the graph, drawn.
    pub(crate) fn part(&mut self, context: &Context<'_>, part: &Part, filter: Option<&Expression>) -> Answer {
        let roots = match part.from.as_deref().filter(|from| !from.is_empty()) {
            None => self.starts(context)?,
            Some(list) => {
                let mut roots = Vec::new();
                for word in list.split(',') {
                    let number = word.trim().parse();
                    let number = number.map_err(|_| Problem::bad(format!("`{word}` is not the number of a node")))?;
                    self.node(number)?;
                    roots.push(number);
                }
                roots
            }
        };
        let limit = part.limit.unwrap_or(100);
        if !(1..=MOST_SHOWN).contains(&limit) {
            return Err(Problem::bad(format!("limit: at least one node, and at most {MOST_SHOWN}")));
        }
        let deadline = Instant::now() + PATIENCE;
        let mut seen: HashSet<usize> = roots.iter().copied().collect();
        let mut waiting: VecDeque<(usize, usize)> = roots.iter().map(|&root| (root, 0)).collect();
        let mut shown: Vec<usize> = Vec::new();
        let mut is_complete = true;
        let mut passed = 0;
        while let Some((number, distance)) = waiting.pop_front() {
            if shown.len() == limit || passed > limit * PASSED {
                is_complete = false;
                break;
            }
            passed += 1;
            let fits = match filter {
                Some(filter) => filter.holds([&self.nodes[number].state]) == [Some(true)],
                None => true,
            };
            if fits {
                shown.push(number);
            }
            if part.depth.is_some_and(|depth| distance >= depth) {
                continue;
            }
            if self.nodes[number].steps.is_none() {
                if Instant::now() >= deadline {
                    is_complete = false;
                    continue;
                }
                self.expand(context, number)?;
            }
            let steps = self.nodes[number].steps.iter().flat_map(|steps| &steps.list);
            for to in steps.filter_map(|step| step.to) {
                if seen.insert(to) {
                    waiting.push_back((to, distance + 1));
                }
            }
        }
        Ok(self.drawn(context, &shown, is_complete))
    }

    /// Some nodes with their edges, drawn.
    fn drawn(&self, context: &Context<'_>, shown: &[usize], is_complete: bool) -> Value {
        let position: HashMap<usize, usize> = shown.iter().copied().zip(0..).collect();
        let mut edges: BTreeMap<(usize, usize), Vec<&Step>> = BTreeMap::new();
        for (from, number) in shown.iter().enumerate() {
            for step in self.nodes[*number].steps.iter().flat_map(|steps| &steps.list) {
                if let Some(to) = step.to.and_then(|to| position.get(&to)) {
                    edges.entry((from, *to)).or_default().push(step);
                }
            }
        }
        let pairs: Vec<(usize, usize)> = edges.keys().copied().collect();
        let (lines, row) = match shown.len() > SMALL {
            true => (vec![Vec::new(); shown.len()], LONG_ROW),
            false => (self.lines(context, shown), ROW),
        };
        let layers = rows(&layers(shown.len(), &pairs), row);
        let size = |lines: &Vec<String>| {
            let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            (52.0 + 6.2 * longest.saturating_sub(5) as f64, 26.0 + 13.0 * lines.len() as f64)
        };
        let sizes: Vec<(f64, f64)> = lines.iter().map(size).collect();
        let drawing = Drawing { sizes, layers, edges: pairs };
        let placed = drawing.place();
        let node = |(at, (number, lines)): (usize, (&usize, &Vec<String>))| {
            let node = &self.nodes[*number];
            json!({
                "id": number,
                "x": rounded(placed.nodes[at].0),
                "y": rounded(placed.nodes[at].1),
                "width": rounded(drawing.sizes[at].0),
                "height": rounded(drawing.sizes[at].1),
                "layer": drawing.layers[at],
                "depth": known_depth(node),
                "orbit": context.orbits.size(&node.state),
                "is_start": node.is_start,
                "is_expanded": node.steps.is_some(),
                "violates": node.violates,
                "text": lines,
            })
        };
        let edge = |from: usize, to: usize, steps: &[&Step], bends: &[(f64, f64)]| {
            let mut points = vec![placed.nodes[from]];
            points.extend(bends);
            points.push(placed.nodes[to]);
            let labels: Vec<String> =
                steps.iter().map(|step| edge_label(&context.interpreter, step.action, &step.arguments)).collect();
            json!({
                "from": shown[from],
                "to": shown[to],
                "label": labels.join("; "),
                "count": steps.iter().map(|step| step.alike).sum::<usize>(),
                "permutation": steps[0].permutation,
                "place": texts::place_of_step(context.model, steps[0].action),
                "points": points.iter().map(|point| [rounded(point.0), rounded(point.1)]).collect::<Vec<_>>(),
            })
        };
        json!({
            "reduced": context.orbits.is_reduced(),
            "complete": is_complete,
            "known": self.nodes.len(),
            "width": rounded(placed.width),
            "height": rounded(placed.height),
            "nodes": shown.iter().zip(&lines).enumerate().map(node).collect::<Vec<_>>(),
            "edges": edges.iter().zip(&placed.bends).map(|((ends, steps), bends)| edge(ends.0, ends.1, steps, bends))
                .collect::<Vec<_>>(),
        })
    }

    /// What tells nodes apart: of the parts that vary, those that have another value than in most of them.
    fn lines(&self, context: &Context<'_>, shown: &[usize]) -> Vec<Vec<String>> {
        let shape = StateShape::new(context.model.ir(), context.model.layout());
        let states: Vec<Valuation> = shown.iter().map(|&number| self.nodes[number].state.clone()).collect();
        let varying = shape.varying(&states);
        let entries: Vec<Vec<Entry>> = states.iter().map(|state| shape.entries_of(&varying, state)).collect();
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        for entry in entries.iter().flatten() {
            *counts.entry((&entry.name, &entry.value)).or_default() += 1;
        }
        let mut usual: HashMap<&str, (usize, &str)> = HashMap::new();
        for (&(name, value), &count) in &counts {
            let best = usual.entry(name).or_insert((count, value));
            *best = (*best).max((count, value));
        }
        let lines = |entries: &Vec<Entry>| {
            let telling = entries.iter().filter(|entry| usual[entry.name.as_str()].1 != entry.value);
            let mut lines: Vec<String> = telling.map(line).collect();
            let more = lines.len().saturating_sub(LINES);
            if more > 0 {
                lines.truncate(LINES - 1);
                lines.push(format!("… {} more", more + 1));
            }
            lines
        };
        entries.iter().map(lines).collect()
    }

    /// A node with its state and its steps.
    pub(crate) fn details(&mut self, context: &Context<'_>, number: usize) -> Answer {
        self.node(number)?;
        self.expand(context, number)?;
        let node = &self.nodes[number];
        let shape = StateShape::new(context.model.ir(), context.model.layout());
        let steps = node.steps.as_ref().expect("it was just expanded");
        let step = |step: &Step| {
            let after = step.to.map(|to| texts::changes(&shape, &node.state, &self.nodes[to].state));
            json!({
                "to": step.to,
                "instance": texts::instance(&context.interpreter, context.model, step.action, &step.arguments),
                "alike": step.alike,
                "permutation": step.permutation,
                "changes": after.unwrap_or_else(|| json!([])),
                "fault": step.fault,
            })
        };
        Ok(json!({
            "id": number,
            "state": texts::state(&shape, &node.state),
            "orbit": context.orbits.size(&node.state),
            "depth": known_depth(node),
            "is_start": node.is_start,
            "violates": node.violates,
            "successors": steps.list.iter().map(step).collect::<Vec<_>>(),
            "complete": steps.is_complete,
        }))
    }

    /// The states of a node.
    pub(crate) fn orbit(&self, context: &Context<'_>, number: usize, limit: usize) -> Answer {
        let node = self.node(number)?;
        if !(1..=MOST_SHOWN).contains(&limit) {
            return Err(Problem::bad(format!("limit: at least one state, and at most {MOST_SHOWN}")));
        }
        let shape = StateShape::new(context.model.ir(), context.model.layout());
        let size = context.orbits.size(&node.state);
        let members = context.orbits.members(&node.state, limit);
        let is_complete = members.len().to_string() == size;
        let member = |(state, permutation): (Valuation, Vec<String>)| json!({ "permutation": permutation, "changes": texts::changes(&shape, &node.state, &state) });
        let states: Vec<Value> = members.into_iter().map(member).collect();
        Ok(json!({ "size": size, "complete": is_complete, "states": states }))
    }

    /// A run from a start to a state of a node.
    pub(crate) fn run_to(&mut self, context: &Context<'_>, number: usize) -> Result<Vec<TraceStep>, Problem> {
        self.node(number)?;
        self.starts(context)?;
        let mut path = vec![number];
        while let Some(parent) = self.nodes[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        if !self.nodes[path[0]].is_start {
            return Err(Problem::bad(
                "no path from a start to this node is known yet: expand the graph, or use `find`",
            ));
        }
        let mut steps: Vec<TraceStep> = Vec::with_capacity(path.len());
        for number in path {
            let candidates = match steps.last() {
                None => walk::starts(&context.interpreter),
                Some(step) => walk::successors(&context.interpreter, &step.state),
            };
            let sought = &self.nodes[number].state;
            let found = candidates.list.into_iter().find_map(|candidate| match candidate.consequence {
                Consequence::State(state) if context.orbits.representative(state.clone()).0 == *sought => {
                    Some(TraceStep { action: candidate.action, arguments: candidate.arguments, state })
                }
                _ => None,
            });
            // A step to an orbit exists from every state of an orbit, or from none.
            steps.push(found.ok_or_else(|| Problem::defect("a step of the quotient is not a step of the model"))?);
        }
        Ok(steps)
    }

    /// Nodes on random walks.
    pub(crate) fn sample(&mut self, context: &Context<'_>, sample: &Sample) -> Answer {
        let count = sample.count.unwrap_or(50);
        if !(1..=MOST_SHOWN).contains(&count) {
            return Err(Problem::bad(format!("count: at least one node, and at most {MOST_SHOWN}")));
        }
        let mut randomness = Randomness::new(sample.seed.unwrap_or(1));
        let deadline = Instant::now() + PATIENCE;
        let starts = self.starts(context)?;
        let mut nodes: Vec<usize> = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        while !starts.is_empty() && nodes.len() < count && Instant::now() < deadline {
            let mut here = starts[randomness.position(starts.len())];
            let before = nodes.len();
            for _ in 0..sample.steps.unwrap_or(100) {
                if seen.insert(here) {
                    nodes.push(here);
                }
                if nodes.len() == count || Instant::now() >= deadline {
                    break;
                }
                self.expand(context, here)?;
                let steps = self.nodes[here].steps.iter().flat_map(|steps| &steps.list);
                let next: Vec<usize> = steps.filter_map(|step| step.to).collect();
                if next.is_empty() {
                    break;
                }
                here = next[randomness.position(next.len())];
            }
            if nodes.len() == before && self.nodes.len() == seen.len() {
                break;
            }
        }
        Ok(json!({ "nodes": nodes }))
    }
}

fn known_depth(node: &Node) -> Option<usize> {
    (node.depth < usize::MAX / 2).then_some(node.depth)
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// A part of a state on a short line. Values are worth more than names, and the ends of names more than their beginnings.
fn line(Entry { name, value }: &Entry) -> String {
    // Where a process is: the statement tells more than its line.
    let statement = value.find(" [").filter(|_| value.ends_with(']')).map(|start| &value[start + 1..]);
    let value = shortened(statement.unwrap_or(value), LINE_LENGTH / 2);
    let room = LINE_LENGTH.saturating_sub(value.chars().count() + 2);
    if name.chars().count() <= room {
        return format!("{name}: {value}");
    }
    let end = name.rfind(['[', '.']).map_or("", |start| &name[start..]);
    let end = if end.chars().count() + 2 > room { "" } else { end };
    let begin = shortened(name, room.saturating_sub(end.chars().count() + 1));
    format!("{begin}{end}: {value}")
}

fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The distance of each node from the first ones: nodes that others do not lead to begin anew.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut has_predecessor = vec![false; count];
    for &(from, to) in edges {
        successors[from].push(to);
        has_predecessor[to] |= from != to;
    }
    let mut layers: Vec<Option<usize>> = vec![None; count];
    let roots: Vec<usize> = (0..count).filter(|&node| node == 0 || !has_predecessor[node]).collect();
    for first in std::iter::once(roots).chain((0..count).map(|node| vec![node])) {
        let mut waiting: VecDeque<usize> = VecDeque::new();
        for node in first {
            if layers[node].is_none() {
                layers[node] = Some(0);
                waiting.push_back(node);
            }
        }
        while let Some(node) = waiting.pop_front() {
            let next = layers[node].map(|layer| layer + 1);
            for &successor in &successors[node] {
                if layers[successor].is_none() {
                    layers[successor] = next;
                    waiting.push_back(successor);
                }
            }
        }
    }
    layers.into_iter().flatten().collect()
}

/// Layers as rows of a bounded length. The nodes of a long layer are dealt out to several rows in turn, so that each of them
/// has nodes from the whole layer.
fn rows(layers: &[usize], longest: usize) -> Vec<usize> {
    let depth = layers.iter().max().map_or(0, |most| most + 1);
    let mut sizes = vec![0; depth];
    for &layer in layers {
        sizes[layer] += 1;
    }
    let mut first = Vec::with_capacity(depth);
    let mut next = 0;
    for size in &sizes {
        first.push(next);
        next += usize::div_ceil(*size, longest);
    }
    let mut dealt = vec![0; depth];
    let row = |&layer: &usize| {
        let turn = dealt[layer] % usize::div_ceil(sizes[layer], longest);
        dealt[layer] += 1;
        first[layer] + turn
    };
    layers.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{layers, rows};

    #[test]
    fn layers_are_distances() {
        assert_eq!(layers(5, &[(0, 1), (1, 2), (2, 0), (0, 0), (3, 4)]), [0, 1, 2, 0, 1]);
        // A cycle that nothing leads to begins somewhere.
        assert_eq!(layers(4, &[(0, 1), (2, 3), (3, 2)]), [0, 1, 0, 1]);
        assert_eq!(layers(0, &[]), [] as [usize; 0]);
    }

    #[test]
    fn long_layers_are_several_rows() {
        assert_eq!(rows(&[0, 1, 1, 1, 1, 1, 2], 2), [0, 1, 2, 3, 1, 2, 4]);
        assert_eq!(rows(&[0, 1, 1], 2), [0, 1, 1]);
        assert_eq!(rows(&[], 2), [] as [usize; 0]);
    }
}
