//! All states of a model by saturation (Ciardo, Lüttgen, Siminiceanu 2001; with contents of levels that are found on the way,
//! Ciardo, Marmorstein, Siminiceanu 2003): a diagram is built from the bottom, and each node is closed under the steps that
//! concern no level above it, before anything above is looked at.
//!
//! `levels` takes steps apart, `forest` has the diagrams, `figures` counts.

mod figures;
mod forest;
mod levels;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use quotient_functions::Functions;
use quotient_ir::{Budget, Interpreter, Outcome, Spent, Valuation};
use rustc_hash::FxHashMap;

use crate::order::Order;
use crate::saturation::figures::Figures;
use crate::saturation::forest::{BOTTOM, EMPTY, Forest, Full, Node};
use crate::saturation::levels::{DONE, Grain, Levels, Next, PartId, Unsuited};
use quotient_search::{Observer, Progress, StopReason};
use quotient_systems::walk;

/// The most initial states: each is added on its own.
const MOST_STARTS: usize = 1_000;
/// The arcs after which the work is counted.
const PATIENCE: u64 = 1 << 10;
/// The same, before the observer is asked.
const MUCH_WORK: u64 = 1 << 18;

/// The bytes of what is known about a node, on average.
const KNOWN_BYTES: u64 = 20;

/// What saturation found.
pub(super) struct Saturated {
    pub(super) figures: Figures,
    /// The nodes of the set.
    pub(super) nodes: usize,
    /// All nodes that were made.
    pub(super) peak_nodes: usize,
    /// The bytes that they took.
    pub(super) bytes: u64,
    /// How often the rest of a step was applied to a node.
    pub(super) images: u64,
}

/// Why there is no result.
pub(super) enum Halt {
    /// Steps are not products of functions, or one goes wrong: this is not for saturation.
    Unsuited,
    /// There is no room.
    Full,
    /// The observer says so.
    Stopped(StopReason),
    /// It was not granted more work.
    Spent,
}

impl From<Unsuited> for Halt {
    fn from(_: Unsuited) -> Self {
        Self::Unsuited
    }
}

impl From<Spent> for Halt {
    fn from(_: Spent) -> Self {
        Self::Spent
    }
}

impl From<Full> for Halt {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// What limits the work, which is counted in arcs of nodes.
pub(super) struct Work<'w> {
    budget: &'w Budget,
    observer: &'w mut dyn Observer,
    /// Done, but not counted yet.
    pending: u64,
    /// Counted since the observer was asked.
    unseen: u64,
    /// The greatest number of bytes.
    bytes: u64,
}

impl<'w> Work<'w> {
    pub(super) fn new(budget: &'w Budget, observer: &'w mut dyn Observer, bytes: u64) -> Self {
        Self { budget, observer, pending: 0, unseen: 0, bytes }
    }

    /// Counts work; so many bytes are in use.
    fn spend(&mut self, arcs: usize, used: impl FnOnce() -> u64) -> Result<(), Halt> {
        self.pending += 1 + arcs as u64;
        if self.pending < PATIENCE {
            return Ok(());
        }
        let done = std::mem::take(&mut self.pending);
        self.budget.spend(done)?;
        let memory_bytes = used();
        if memory_bytes > self.bytes {
            return Err(Halt::Full);
        }
        self.unseen += done;
        if self.unseen < MUCH_WORK {
            return Ok(());
        }
        self.unseen = 0;
        match self.observer.progress(&Progress { memory_bytes, ..Progress::default() }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(reason) => Err(Halt::Stopped(reason)),
        }
    }
}

/// All states, if no step goes wrong in any of them. There must be no assumptions, constraints and transient states.
pub(super) fn saturate(
    interpreter: &Interpreter<'_>,
    functions: &Functions,
    order: &Order,
    mut work: Work<'_>,
) -> Result<Saturated, Halt> {
    let starts = initial_states(interpreter)?;
    match saturate_levels(interpreter, (functions, order, Grain::Elements), &starts, &mut work) {
        Err(Halt::Unsuited) => saturate_levels(interpreter, (functions, order, Grain::Slots), &starts, &mut work),
        found => found,
    }
}

fn saturate_levels(
    interpreter: &Interpreter<'_>,
    (functions, order, grain): (&Functions, &Order, Grain),
    starts: &[Valuation],
    work: &mut Work<'_>,
) -> Result<Saturated, Halt> {
    let mut levels = Levels::new(functions, interpreter.layout(), order, grain, &starts[0], work.budget)?;
    let mut forest = Forest::new(work.bytes);
    let mut root = EMPTY;
    for start in starts {
        let mut node = BOTTOM;
        for level in 0..levels.count() {
            let content = levels.number_in(level, start)?;
            node = forest.node(level as u32, &[(content, node)])?;
        }
        root = forest.union(root, node)?;
    }
    let (known, saturated) = (FxHashMap::default(), FxHashMap::default());
    let mut search = Saturation { levels, forest, work, known, saturated, images: 0 };
    let root = search.saturated(root)?;
    let bytes = search.used();
    let Saturation { mut levels, forest, images, work, .. } = search;
    let rules = interpreter.model().rules.len();
    let figures = Figures::of(&mut levels, &forest, root, (rules, interpreter.model().holds_only_amounts()), work)?;
    Ok(Saturated { nodes: figures.nodes, figures, peak_nodes: forest.len(), bytes, images })
}

fn initial_states(interpreter: &Interpreter<'_>) -> Result<Vec<Valuation>, Unsuited> {
    let mut states = Vec::new();
    for start in walk::starts(interpreter).take(MOST_STARTS + 1) {
        match start.outcome {
            Outcome::Next { state, .. } => states.push(state),
            _ => return Err(Unsuited),
        }
    }
    match states.len() {
        1..=MOST_STARTS => Ok(states),
        _ => Err(Unsuited),
    }
}

struct Saturation<'f, 'w, 'o> {
    levels: Levels<'f>,
    forest: Forest,
    /// What the rest of a step makes of a node, closed.
    known: FxHashMap<(PartId, Node), Node>,
    /// What closed nodes initial ones become.
    saturated: FxHashMap<Node, Node>,
    images: u64,
    work: &'w mut Work<'o>,
}

impl Saturation<'_, '_, '_> {
    /// What can be reached from a node by steps that do not concern levels above it.
    fn saturated(&mut self, node: Node) -> Result<Node, Halt> {
        if node == EMPTY || node == BOTTOM {
            return Ok(node);
        }
        if let Some(&known) = self.saturated.get(&node) {
            return Ok(known);
        }
        let mut children = Vec::new();
        for position in self.forest.span(node) {
            let (content, child) = self.forest.arc(position);
            add(&mut children, content, self.saturated(child)?);
        }
        let closed = self.closed(self.forest.level(node), children)?;
        self.saturated.insert(node, closed);
        Ok(closed)
    }

    /// The node of a level with closed children, closed under the steps whose topmost level it is.
    fn closed(&mut self, level: u32, mut children: Vec<Node>) -> Result<Node, Halt> {
        self.spend(children.len())?;
        let is_any = |children: &[Node], content: usize| children[content] != EMPTY;
        let mut waiting: Vec<usize> = (0..children.len()).filter(|&content| is_any(&children, content)).collect();
        let mut is_waiting: Vec<bool> = children.iter().map(|&child| child != EMPTY).collect();
        while let Some(content) = waiting.pop() {
            is_waiting[content] = false;
            for step in self.levels.moves(level as usize, content as u32)?.iter() {
                let image = self.after(step.rest, children[content])?;
                self.spend(step.to.len())?;
                if image == EMPTY {
                    continue;
                }
                if step.is_wrong {
                    return Err(Halt::Unsuited);
                }
                for to in step.to.iter().map(|&to| to as usize) {
                    if children.len() <= to {
                        children.resize(to + 1, EMPTY);
                        is_waiting.resize(to + 1, false);
                    }
                    let union = self.forest.union(children[to], image)?;
                    if union != children[to] {
                        children[to] = union;
                        if !is_waiting[to] {
                            is_waiting[to] = true;
                            waiting.push(to);
                        }
                    }
                }
            }
        }
        let arcs = children.iter().enumerate().filter(|(_, child)| **child != EMPTY);
        let arcs: Vec<(u32, Node)> = arcs.map(|(content, &child)| (content as u32, child)).collect();
        Ok(self.forest.node(level, &arcs)?)
    }

    /// What the rest of a step makes of a closed node, closed.
    fn after(&mut self, rest: PartId, node: Node) -> Result<Node, Halt> {
        if rest == DONE || node == EMPTY {
            return Ok(node);
        }
        if let Some(&known) = self.known.get(&(rest, node)) {
            return Ok(known);
        }
        self.images += 1;
        self.spend(self.forest.span(node).len())?;
        let (level, part) = (self.forest.level(node), self.levels.part(rest));
        let mut children = Vec::new();
        for position in self.forest.span(node) {
            let (content, child) = self.forest.arc(position);
            let (next, rest) = match part.level == level {
                true => (self.levels.next(part.local, content)?, part.rest),
                false => (Next::To(content), rest),
            };
            if next == Next::Nothing {
                continue;
            }
            let image = self.after(rest, child)?;
            match next {
                _ if image == EMPTY => {}
                Next::To(to) => {
                    let union = self.forest.union(children.get(to as usize).copied().unwrap_or(EMPTY), image)?;
                    add(&mut children, to, union);
                }
                _ => return Err(Halt::Unsuited),
            }
        }
        let closed = match children.is_empty() {
            true => EMPTY,
            false => self.closed(level, children)?,
        };
        self.known.insert((rest, node), closed);
        Ok(closed)
    }

    /// The bytes that nodes and what is known about them take.
    fn used(&self) -> u64 {
        used(&self.forest, &self.known)
    }

    /// Counts work.
    fn spend(&mut self, arcs: usize) -> Result<(), Halt> {
        let (forest, known) = (&self.forest, &self.known);
        self.work.spend(arcs, || used(forest, known))
    }
}

fn used(forest: &Forest, known: &FxHashMap<(PartId, Node), Node>) -> u64 {
    forest.used() + KNOWN_BYTES * known.len() as u64
}

fn add(children: &mut Vec<Node>, content: u32, child: Node) {
    let content = content as usize;
    if children.len() <= content {
        children.resize(content + 1, EMPTY);
    }
    children[content] = child;
}
