//! The numbers of a set of states: how many there are, how often rules can fire in them, and the greatest amounts.

use num_bigint::BigUint;
use quotient_ir::{RuleId, TableIndex};
use rustc_hash::FxHashMap;

use crate::saturation::forest::{BOTTOM, EMPTY, Forest, Node};
use crate::saturation::levels::{DONE, Levels, LocalId, Next, PartId};
use crate::saturation::{Halt, Work};

/// The most counts that are remembered: they are large.
const MOST_KNOWN: usize = 1 << 20;

/// The numbers of a set of states.
pub(crate) struct Figures {
    pub states: BigUint,
    pub transitions: BigUint,
    /// The rules of which no instance can fire.
    pub(crate) never_fired: Vec<RuleId>,
    /// The greatest value of a slot, and the greatest sum of all, if values are numbers of tokens.
    pub(crate) greatest: Option<(u64, u64)>,
    /// The nodes of the set.
    pub(crate) nodes: usize,
}

impl Figures {
    /// The numbers of a set, of a model with so many rules whose values are all amounts or not.
    ///
    /// # Errors
    /// If a step goes wrong in one of the states, or it takes too much work.
    pub(super) fn of(
        levels: &mut Levels<'_>,
        forest: &Forest,
        root: Node,
        (rules, holds_amounts): (usize, bool),
        work: &mut Work<'_>,
    ) -> Result<Self, Halt> {
        let nodes = reached(forest, root, levels.count());
        let below = below(forest, &nodes);
        let above = above(forest, &nodes, root);
        let mut looking = Looking { levels, forest, work, known: FxHashMap::default() };
        for number in 0..looking.levels.faults.len() {
            let fault = looking.levels.faults[number];
            for &node in &nodes[looking.levels.part(fault).level as usize] {
                if looking.occurs(fault, node)? {
                    return Err(Halt::Unsuited);
                }
            }
        }
        let mut counting = Counting { levels, forest, work, below: &below, known: FxHashMap::default() };
        let states = below[&root].clone();
        let mut fired = vec![BigUint::ZERO; rules];
        for (rule, instances) in counting.levels.always.clone() {
            fired[rule.position()] += &states * instances;
        }
        for (level, own) in nodes.iter().enumerate() {
            for group in 0..counting.levels.steps[level].len() {
                let rest = counting.levels.steps[level][group].rest;
                for step in 0..counting.levels.steps[level][group].top.len() {
                    let (local, rule, instances) = counting.levels.steps[level][group].top[step];
                    let mut all = BigUint::ZERO;
                    for &node in own {
                        let possible = counting.possible(local, rest, node)?;
                        if possible != BigUint::ZERO {
                            all += possible * &above[&node];
                        }
                    }
                    fired[rule.position()] += all * instances;
                }
            }
        }
        let never = fired.iter().enumerate().filter(|(_, fired)| **fired == BigUint::ZERO);
        let never_fired = never.map(|(rule, _)| RuleId::from_position(rule)).collect();
        let greatest = holds_amounts.then(|| greatest(levels, forest, &nodes, root));
        let nodes = nodes.iter().map(Vec::len).sum();
        Ok(Self { states, transitions: fired.into_iter().sum(), never_fired, greatest, nodes })
    }
}

/// The nodes of a set, by level.
fn reached(forest: &Forest, root: Node, levels: usize) -> Vec<Vec<Node>> {
    let mut nodes: Vec<Vec<Node>> = vec![Vec::new(); levels];
    let mut current: Vec<Node> = [root].into_iter().filter(|&node| node != BOTTOM).collect();
    for level in (0..levels).rev() {
        current.sort_unstable();
        current.dedup();
        let children = current.iter().flat_map(|&node| forest.arcs(node)).map(|&(_, child)| child);
        let children: Vec<Node> = children.filter(|&child| child != BOTTOM).collect();
        nodes[level] = std::mem::replace(&mut current, children);
    }
    nodes
}

/// For each node the number of contents of the levels up to its own.
fn below(forest: &Forest, nodes: &[Vec<Node>]) -> FxHashMap<Node, BigUint> {
    let mut below = FxHashMap::default();
    below.insert(EMPTY, BigUint::ZERO);
    below.insert(BOTTOM, BigUint::from(1u32));
    for &node in nodes.iter().flatten() {
        let all: BigUint = forest.arcs(node).iter().map(|(_, child)| &below[child]).sum();
        below.insert(node, all);
    }
    below
}

/// For each node the number of contents of the levels above it.
fn above(forest: &Forest, nodes: &[Vec<Node>], root: Node) -> FxHashMap<Node, BigUint> {
    let mut above: FxHashMap<Node, BigUint> = FxHashMap::default();
    above.insert(root, BigUint::from(1u32));
    for &node in nodes.iter().rev().flatten() {
        let own = above[&node].clone();
        for &(_, child) in forest.arcs(node) {
            *above.entry(child).or_default() += &own;
        }
    }
    above
}

/// Looks for contents in which the rest of a step is possible.
struct Looking<'c, 'f, 'w> {
    levels: &'c mut Levels<'f>,
    forest: &'c Forest,
    work: &'c mut Work<'w>,
    known: FxHashMap<(PartId, Node), bool>,
}

impl Looking<'_, '_, '_> {
    fn occurs(&mut self, rest: PartId, node: Node) -> Result<bool, Halt> {
        if rest == DONE {
            return Ok(true);
        }
        if let Some(&known) = self.known.get(&(rest, node)) {
            return Ok(known);
        }
        let (part, forest) = (self.levels.part(rest), self.forest);
        self.work.spend(forest.arcs(node).len(), || forest.used())?;
        let is_here = part.level == forest.level(node);
        let below = if is_here { part.rest } else { rest };
        let mut occurs = false;
        for &(content, child) in forest.arcs(node) {
            let is_possible = !is_here || self.levels.next(part.local, content)? != Next::Nothing;
            if is_possible && self.occurs(below, child)? {
                occurs = true;
                break;
            }
        }
        self.known.insert((rest, node), occurs);
        Ok(occurs)
    }
}

/// Counts where steps are possible.
struct Counting<'c, 'f, 'w> {
    levels: &'c mut Levels<'f>,
    forest: &'c Forest,
    work: &'c mut Work<'w>,
    below: &'c FxHashMap<Node, BigUint>,
    known: FxHashMap<(PartId, Node), BigUint>,
}

impl Counting<'_, '_, '_> {
    /// In how many of the contents of a node the rest of a step is possible.
    fn count(&mut self, rest: PartId, node: Node) -> Result<BigUint, Halt> {
        if rest == DONE || node == EMPTY {
            return Ok(self.below[&node].clone());
        }
        if let Some(known) = self.known.get(&(rest, node)) {
            return Ok(known.clone());
        }
        let (part, forest) = (self.levels.part(rest), self.forest);
        self.work.spend(forest.arcs(node).len(), || forest.used())?;
        let count = match part.level == forest.level(node) {
            true => self.possible(part.local, part.rest, node)?,
            false => {
                let mut all = BigUint::ZERO;
                for &(_, child) in forest.arcs(node) {
                    all += self.count(rest, child)?;
                }
                all
            }
        };
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert((rest, node), count.clone());
        Ok(count)
    }

    /// The same for a step with a function of the node's level.
    fn possible(&mut self, local: LocalId, rest: PartId, node: Node) -> Result<BigUint, Halt> {
        let (mut all, forest) = (BigUint::ZERO, self.forest);
        self.work.spend(forest.arcs(node).len(), || forest.used())?;
        for &(content, child) in forest.arcs(node) {
            match self.levels.next(local, content)? {
                Next::Nothing => {}
                _ => all += self.count(rest, child)?,
            }
        }
        Ok(all)
    }
}

/// The greatest value of a slot, and the greatest sum of all slots.
fn greatest(levels: &Levels<'_>, forest: &Forest, nodes: &[Vec<Node>], root: Node) -> (u64, u64) {
    let value = |value: &Option<i64>| value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0);
    let constants: Vec<u64> = levels.constants().map(|constant| value(&constant)).collect();
    let mut most = constants.iter().copied().max().unwrap_or(0);
    let mut sums: FxHashMap<Node, u64> = FxHashMap::default();
    sums.insert(BOTTOM, 0);
    for (level, own) in nodes.iter().enumerate() {
        for &node in own {
            let mut sum = 0;
            for &(content, child) in forest.arcs(node) {
                let content = levels.content(level, content);
                most = content.iter().map(value).fold(most, u64::max);
                sum = sum.max(content.iter().map(value).sum::<u64>() + sums[&child]);
            }
            sums.insert(node, sum);
        }
    }
    (most, constants.iter().sum::<u64>() + sums[&root])
}
