//! Formulas of LTL on a finite Markov chain: do they hold with probability one? Only the graph of the chain matters, not
//! its probabilities.
//!
//! Temporal operators are eliminated from the inside to the outside (C. Courcoubetis and M. Yannakakis, "The complexity
//! of probabilistic verification", JACM 42, 1995). In some nodes an until certainly holds, in some it certainly does
//! not; each other node is split into one where it holds and one where it does not, and only steps are kept that agree
//! with that. Afterwards the operator is an atom. An operator of the past depends on the path so far: nodes are split by
//! its value, as by a deterministic automaton, and such automata are followed in the same way.
//!
//! A run that comes to a bottom component of the last chain almost surely visits all of it again and again. So any cycle
//! in it on which each until that is waiting is fulfilled satisfies what the nodes say about the formula.

use std::collections::VecDeque;

use quotient_temporal::{Atom, Automaton, Formula, Formulas, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use quotient_graphs::components::{Components, MOST_NODES, Space, Step, Watch, components};
use quotient_graphs::tree::StateSet;
use quotient_search::StopReason;

/// A component with at most so many steps is shown with all of them.
const MOST_SHOWN: usize = 64;

/// A chain. Each node has a step, and is a copy of a node of the graph that it was made of.
#[derive(Debug, Default)]
pub(super) struct Chain {
    origin: Vec<u32>,
    offsets: Vec<usize>,
    targets: Vec<u32>,
    starts: Vec<u32>,
}

/// A run that violates the claim: nodes of the graph that the chain was made of.
#[derive(Debug)]
pub(super) struct Refutation {
    pub(super) stem: Vec<u32>,
    /// The nodes after the last one of the stem, up to where it is met again.
    pub(super) cycle: Vec<u32>,
    /// The nodes of the component that the cycle is in, which no step leaves.
    pub(super) component: usize,
    /// Whether the cycle takes every step of it.
    pub(super) is_complete: bool,
}

impl Chain {
    /// The part of a graph in which infinite runs stay. The steps of a node are in order, without repetition.
    /// Also returns the nodes that are kept.
    pub(super) fn of_infinite_runs(offsets: Vec<usize>, targets: Vec<u32>, starts: Vec<u32>) -> (Self, Vec<u32>) {
        let count = offsets.len() - 1;
        let graph = Self { origin: (0..count as u32).collect(), offsets, targets, starts };
        let mut left: Vec<usize> = (0..count as u32).map(|node| graph.steps(node).len()).collect();
        let mut ended: Vec<u32> = (0..count as u32).filter(|&node| left[node as usize] == 0).collect();
        if ended.is_empty() {
            return (graph, (0..count as u32).collect());
        }
        let reverse = graph.reverse();
        let mut is_ended = StateSet::empty(count);
        while let Some(node) = ended.pop() {
            is_ended.insert(node);
            for &before in reverse.sources(node) {
                left[before as usize] -= 1;
                if left[before as usize] == 0 {
                    ended.push(before);
                }
            }
        }
        let kept: Vec<u32> = (0..count as u32).filter(|&node| !is_ended.contains(node)).collect();
        let mut numbers = vec![u32::MAX; count];
        for (number, &node) in (0..).zip(&kept) {
            numbers[node as usize] = number;
        }
        let mut chain = Self { offsets: vec![0], ..Self::default() };
        for &node in &kept {
            let inside = graph.steps(node).iter().filter(|&&to| !is_ended.contains(to));
            chain.targets.extend(inside.map(|&to| numbers[to as usize]));
            chain.offsets.push(chain.targets.len());
            chain.origin.push(node);
        }
        chain.starts = graph.starts.iter().map(|&start| numbers[start as usize]).filter(|&it| it != u32::MAX).collect();
        (chain, kept)
    }

    fn nodes(&self) -> u32 {
        self.origin.len() as u32
    }

    fn steps(&self, node: u32) -> &[u32] {
        &self.targets[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    fn reverse(&self) -> Reverse {
        let mut offsets = vec![0usize; self.offsets.len()];
        for &to in &self.targets {
            offsets[to as usize + 1] += 1;
        }
        for node in 1..offsets.len() {
            offsets[node] += offsets[node - 1];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0; self.targets.len()];
        for node in 0..self.nodes() {
            for &to in self.steps(node) {
                sources[next[to as usize]] = node;
                next[to as usize] += 1;
            }
        }
        Reverse { offsets, sources }
    }

    fn bytes_for(nodes: u64, steps: u64) -> u64 {
        nodes * 12 + steps * 4
    }
}

impl Space for Chain {
    type Cursor = usize;

    fn nodes(&self) -> usize {
        self.origin.len()
    }
    fn state(&self, node: u32) -> u32 {
        node
    }
    fn sets(&self) -> u64 {
        0
    }
    fn first(&self, node: u32) -> usize {
        self.offsets[node as usize]
    }
    fn next(&self, node: u32, cursor: &mut usize) -> Option<Step> {
        let number = *cursor;
        let to = *self.targets[..self.offsets[node as usize + 1]].get(number)?;
        *cursor += 1;
        Some(Step { to, edge: number, acceptance: 0 })
    }
}

/// The steps in the other direction.
struct Reverse {
    offsets: Vec<usize>,
    sources: Vec<u32>,
}

impl Reverse {
    fn sources(&self, node: u32) -> &[u32] {
        &self.sources[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }
}

/// The elimination of operators.
pub(super) struct Elimination<'a, 'w> {
    chain: Chain,
    /// The nodes where formulas are true.
    values: FxHashMap<Formula, StateSet>,
    atoms: Vec<StateSet>,
    /// For each until, the nodes where it does not wait; a cycle that counts visits each set.
    fulfilled: Vec<StateSet>,
    watch: &'a mut Watch<'w>,
    max_memory: Option<u64>,
}

/// A refined chain in the making: the node and the mark that each new node is of.
struct Refined {
    chain: Chain,
    copies: Vec<u32>,
    marks: Vec<u32>,
}

impl<'a, 'w> Elimination<'a, 'w> {
    /// On a chain, with the nodes where each atom is true.
    pub(super) fn new(chain: Chain, atoms: Vec<StateSet>, watch: &'a mut Watch<'w>, max_memory: Option<u64>) -> Self {
        Self { chain, values: FxHashMap::default(), atoms, fulfilled: Vec::new(), watch, max_memory }
    }

    /// A run that violates a formula, if its probability is below one from some start.
    ///
    /// # Errors
    /// If it is stopped, or there is too little memory.
    pub(super) fn refute(mut self, pool: &Formulas, formula: Formula) -> Result<Option<Refutation>, StopReason> {
        for part in pool.subformulas(formula) {
            self.eliminate(pool, part)?;
        }
        let value = &self.values[&formula];
        let starts: Vec<u32> = self.chain.starts.iter().copied().filter(|&start| !value.contains(start)).collect();
        self.run_from(&starts)
    }

    /// A run that a deterministic automaton accepts, if the probability of those is positive from some start.
    ///
    /// # Errors
    /// If it is stopped, or there is too little memory.
    pub(super) fn accepted(mut self, automaton: &Automaton) -> Result<Option<Refutation>, StopReason> {
        let rejected = automaton.states;
        let letters: Vec<u64> = (0..self.chain.nodes()).map(|node| self.letter(node, &automaton.atoms)).collect();
        let taken = |state: u32, letter: u64| {
            automaton.transitions.iter().find(|it| it.from == state && it.cube.contains(letter))
        };
        let Some(&initial) = automaton.initial.first() else { return Ok(None) };
        let refined = self
            .follow(|_| initial, |node, state, _| taken(state, letters[node as usize]).map_or(rejected, |it| it.to))?;
        // A run that is rejected stays so; besides the acceptance sets there is that of all others.
        let mut sets = vec![StateSet::empty(refined.copies.len()); automaton.acceptance_sets as usize + 1];
        for (number, (&node, &state)) in (0..).zip(refined.copies.iter().zip(&refined.marks)) {
            let Some(transition) = taken(state, letters[node as usize]) else { continue };
            sets[0].insert(number);
            for set in (0..automaton.acceptance_sets).filter(|set| transition.acceptance >> set & 1 == 1) {
                sets[set as usize + 1].insert(number);
            }
        }
        self.replace(refined);
        self.fulfilled = sets;
        let starts = self.chain.starts.clone();
        self.run_from(&starts)
    }

    fn letter(&self, node: u32, atoms: &[Atom]) -> u64 {
        let holds = |atom: &Atom| u64::from(self.atoms[atom.0 as usize].contains(node));
        (0..).zip(atoms).fold(0, |letter, (bit, atom)| letter | holds(atom) << bit)
    }

    /// Gives a formula its value in each node. Its parts have theirs.
    fn eliminate(&mut self, pool: &Formulas, formula: Formula) -> Result<(), StopReason> {
        let count = self.chain.origin.len();
        let at = |part: &Formula| self.values[part].clone();
        let value = match pool.node(formula) {
            Node::True => StateSet::full(count),
            Node::False => StateSet::empty(count),
            Node::Atom(atom) => self.atoms[atom.0 as usize].clone(),
            Node::Not(a) => at(a).complement(),
            Node::And(parts) => parts.iter().fold(StateSet::full(count), |all, part| all.and(&self.values[part])),
            Node::Or(parts) => parts.iter().fold(StateSet::empty(count), |all, part| all.or(&self.values[part])),
            Node::Next(a) => return self.next(formula, &at(a)),
            Node::Until(a, b) => return self.until(formula, at(a), at(b), true),
            // The negation of an until of negations.
            Node::Release(a, b) => return self.until(formula, at(a).complement(), at(b).complement(), false),
            Node::Yesterday(a) => {
                let a = at(a);
                return self.past(formula, |_| false, |node, _, _| a.contains(node));
            }
            Node::WeakYesterday(a) => {
                let a = at(a);
                return self.past(formula, |_| true, |node, _, _| a.contains(node));
            }
            Node::Since(a, b) => {
                let (a, b) = (at(a), at(b));
                return self.past(
                    formula,
                    |start| b.contains(start),
                    |_, value, next| b.contains(next) || a.contains(next) && value,
                );
            }
            Node::Triggered(a, b) => {
                let (a, b) = (at(a), at(b));
                return self.past(
                    formula,
                    |start| b.contains(start),
                    |_, value, next| b.contains(next) && (a.contains(next) || value),
                );
            }
            Node::Path(..) => unreachable!("a formula about single runs has no path quantifier"),
        };
        self.values.insert(formula, value);
        Ok(())
    }

    fn next(&mut self, formula: Formula, a: &StateSet) -> Result<(), StopReason> {
        let count = self.chain.origin.len();
        let (mut some, mut others) = (StateSet::empty(count), StateSet::empty(count));
        for node in 0..self.chain.nodes() {
            self.watch.tick()?;
            for &to in self.chain.steps(node) {
                if a.contains(to) { &mut some } else { &mut others }.insert(node);
            }
        }
        self.split(formula, (&some, &others), |_, value, to, _| value == a.contains(to))
    }

    /// `a U b`, or its negation.
    fn until(&mut self, formula: Formula, a: StateSet, b: StateSet, is_positive: bool) -> Result<(), StopReason> {
        let reverse = self.chain.reverse();
        // Where it may hold, and from there where it may fail.
        let may_hold = self.reaching(&reverse, &b, &a)?;
        let waiting = a.clone().and(&b.clone().complement());
        let may_fail = self.reaching(&reverse, &may_hold.clone().complement(), &waiting)?;
        drop(reverse);
        // Where `b` holds nothing waits, nor where the until does not hold.
        self.fulfilled.push(b.clone());
        self.split(formula, (&may_hold, &may_fail), |node, value, _, next| {
            value == (b.contains(node) || a.contains(node) && next)
        })?;
        let fails = self.values[&formula].clone().complement();
        if let Some(last) = self.fulfilled.pop() {
            self.fulfilled.push(last.or(&fails));
        }
        if !is_positive {
            self.values.insert(formula, fails);
        }
        Ok(())
    }

    /// The nodes from which a goal can be reached through some nodes, goals included.
    fn reaching(&mut self, reverse: &Reverse, goals: &StateSet, through: &StateSet) -> Result<StateSet, StopReason> {
        let mut reached = goals.clone();
        let mut pending: Vec<u32> = goals.iter().collect();
        while let Some(node) = pending.pop() {
            self.watch.tick()?;
            for &before in reverse.sources(node) {
                if through.contains(before) && reached.insert(before) {
                    pending.push(before);
                }
            }
        }
        Ok(reached)
    }

    /// Splits the nodes where a formula may hold and may fail, and keeps the steps that agree with its values before and
    /// after them.
    fn split(
        &mut self,
        formula: Formula,
        (may_hold, may_fail): (&StateSet, &StateSet),
        agrees: impl Fn(u32, bool, u32, bool) -> bool,
    ) -> Result<(), StopReason> {
        let chain = &self.chain;
        let is_open = |node: u32| may_hold.contains(node) && may_fail.contains(node);
        let mut first = Vec::with_capacity(chain.origin.len());
        let (mut copies, mut marks) = (Vec::new(), Vec::new());
        for node in 0..chain.nodes() {
            first.push(copies.len() as u32);
            let values: &[bool] = match (may_fail.contains(node), may_hold.contains(node)) {
                (true, true) => &[false, true],
                (true, false) => &[false],
                _ => &[true],
            };
            copies.extend(values.iter().map(|_| node));
            marks.extend(values.iter().map(|&value| u32::from(value)));
        }
        if copies.len() == chain.origin.len() {
            self.values.insert(formula, may_hold.clone());
            return Ok(());
        }
        self.claim(copies.len() as u64, 2 * chain.targets.len() as u64)?;
        let mut refined = Chain { offsets: vec![0], ..Chain::default() };
        for (&node, &mark) in copies.iter().zip(&marks) {
            self.watch.tick()?;
            for &to in chain.steps(node) {
                let begin = first[to as usize];
                for copy in begin..=begin + u32::from(is_open(to)) {
                    if agrees(node, mark == 1, to, marks[copy as usize] == 1) {
                        refined.targets.push(copy);
                    }
                }
            }
            refined.offsets.push(refined.targets.len());
        }
        for &start in &chain.starts {
            let begin = first[start as usize];
            refined.starts.extend(begin..=begin + u32::from(is_open(start)));
        }
        self.adopt(formula, Refined { chain: refined, copies, marks });
        Ok(())
    }

    /// An operator of the past: its value at a start, and at the node after a step, given the node and its value before.
    fn past(
        &mut self,
        formula: Formula,
        first: impl Fn(u32) -> bool,
        next: impl Fn(u32, bool, u32) -> bool,
    ) -> Result<(), StopReason> {
        let refined =
            self.follow(|start| u32::from(first(start)), |node, value, to| u32::from(next(node, value == 1, to)))?;
        self.adopt(formula, refined);
        Ok(())
    }

    /// Splits nodes by marks that depend on the path so far.
    fn follow(
        &mut self,
        first: impl Fn(u32) -> u32,
        next: impl Fn(u32, u32, u32) -> u32,
    ) -> Result<Refined, StopReason> {
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let (mut copies, mut marks): (Vec<u32>, Vec<u32>) = Default::default();
        let mut number = |node: u32, mark: u32, copies: &mut Vec<u32>, marks: &mut Vec<u32>| {
            *numbers.entry((node, mark)).or_insert_with(|| {
                copies.push(node);
                marks.push(mark);
                copies.len() as u32 - 1
            })
        };
        let mut refined = Chain { offsets: vec![0], ..Chain::default() };
        for &start in &self.chain.starts {
            refined.starts.push(number(start, first(start), &mut copies, &mut marks));
        }
        while refined.offsets.len() <= copies.len() {
            self.watch.tick()?;
            let (node, mark) = (copies[refined.offsets.len() - 1], marks[refined.offsets.len() - 1]);
            for &to in self.chain.steps(node) {
                let to = number(to, next(node, mark, to), &mut copies, &mut marks);
                refined.targets.push(to);
            }
            refined.offsets.push(refined.targets.len());
            if copies.len().is_multiple_of(1 << 16) {
                self.claim(3 * copies.len() as u64, refined.targets.len() as u64)?;
            }
        }
        Ok(Refined { chain: refined, copies, marks })
    }

    /// Continues with a refined chain, in whose nodes the marks are the values of a formula.
    fn adopt(&mut self, formula: Formula, refined: Refined) {
        let marks = refined.marks.iter();
        let value = (0..).zip(marks).filter(|(_, mark)| **mark == 1).map(|(number, _)| number);
        let mut values = StateSet::empty(refined.copies.len());
        value.for_each(|number| {
            values.insert(number);
        });
        self.replace(refined);
        self.values.insert(formula, values);
    }

    /// Replaces the chain.
    fn replace(&mut self, Refined { mut chain, copies, .. }: Refined) {
        let origin = &self.chain.origin;
        chain.origin = copies.iter().map(|&node| origin[node as usize]).collect();
        let copied = |set: &mut StateSet| {
            let mut new = StateSet::empty(copies.len());
            for (number, _) in (0..).zip(&copies).filter(|(_, node)| set.contains(**node)) {
                new.insert(number);
            }
            *set = new;
        };
        self.values.values_mut().chain(&mut self.atoms).chain(&mut self.fulfilled).for_each(copied);
        self.chain = chain;
    }

    /// Fails if a chain of this size is too large.
    fn claim(&self, nodes: u64, steps: u64) -> Result<(), StopReason> {
        if nodes > MOST_NODES as u64 {
            return Err(StopReason::TooManyStates);
        }
        let own = Chain::bytes_for(self.chain.origin.len() as u64, self.chain.targets.len() as u64);
        let sets = (self.values.len() + self.atoms.len() + self.fulfilled.len()) as u64 * nodes / 8;
        match self.max_memory {
            Some(limit) if own + Chain::bytes_for(nodes, steps) + sets > limit => Err(StopReason::MemoryLimit(limit)),
            _ => Ok(()),
        }
    }

    /// A run from one of some nodes to a bottom component that meets all sets, and around in it.
    fn run_from(self, starts: &[u32]) -> Result<Option<Refutation>, StopReason> {
        let Self { chain, fulfilled, watch, .. } = self;
        if starts.is_empty() {
            return Ok(None);
        }
        let found = components(&chain, starts.iter().copied(), None, watch)?;
        let bottoms = bottoms(&chain, &found, &fulfilled, starts);
        let mut parents: FxHashMap<u32, Option<u32>> = starts.iter().map(|&start| (start, None)).collect();
        let mut queue: VecDeque<u32> = starts.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            watch.tick()?;
            if found.of(node).is_some_and(|component| bottoms.contains(&component)) {
                let stem = path_to(node, &parents);
                return Ok(Some(around(&chain, &found, &fulfilled, stem)));
            }
            for &to in chain.steps(node) {
                parents.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    Some(node)
                });
            }
        }
        Ok(None)
    }
}

/// The components that no step leaves and that meet all sets.
fn bottoms(chain: &Chain, found: &Components, sets: &[StateSet], starts: &[u32]) -> FxHashSet<u32> {
    let mut met: FxHashMap<u32, Vec<bool>> = FxHashMap::default();
    let mut left: FxHashSet<u32> = FxHashSet::default();
    let mut seen = StateSet::empty(chain.origin.len());
    let mut pending: Vec<u32> = starts.to_vec();
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let Some(component) = found.of(node) {
            let met = met.entry(component).or_insert_with(|| vec![false; sets.len()]);
            met.iter_mut().zip(sets).for_each(|(met, set)| *met |= set.contains(node));
            if chain.steps(node).iter().any(|&to| found.of(to) != Some(component)) {
                left.insert(component);
            }
        }
        pending.extend(chain.steps(node));
    }
    let is_bottom = |(component, met): &(u32, Vec<bool>)| !left.contains(component) && !met.contains(&false);
    met.into_iter().filter(is_bottom).map(|(component, _)| component).collect()
}

/// The nodes of the path that led to a node.
fn path_to(node: u32, parents: &FxHashMap<u32, Option<u32>>) -> Vec<u32> {
    let mut path = vec![node];
    while let Some(before) = parents[path.last().expect("a path has a node")] {
        path.push(before);
    }
    path.reverse();
    path
}

/// The run along a stem and then around in the component of its last node.
fn around(chain: &Chain, found: &Components, sets: &[StateSet], stem: Vec<u32>) -> Refutation {
    let head = *stem.last().expect("a stem has a node");
    let (mut members, mut seen) = (vec![head], FxHashSet::from_iter([head]));
    let mut next = 0;
    while next < members.len() {
        let inside = chain.steps(members[next]).iter().filter(|&&to| seen.insert(to));
        members.extend(inside.copied().collect::<Vec<_>>());
        next += 1;
    }
    debug_assert!(members.iter().all(|&node| found.of(node) == found.of(head)), "no step leaves the component");
    let steps: usize = members.iter().map(|&node| chain.steps(node).len()).sum();
    let is_complete = steps <= MOST_SHOWN;
    let mut missing: Vec<&StateSet> = sets.iter().collect();
    let mut untaken: FxHashSet<(u32, u32)> = FxHashSet::default();
    if is_complete {
        let pairs = members.iter().flat_map(|&node| chain.steps(node).iter().map(move |&to| (node, to)));
        untaken.extend(pairs);
    }
    let mut walk = vec![head];
    loop {
        let at = *walk.last().expect("a walk has a node");
        missing.retain(|set| !walk.iter().any(|&node| set.contains(node)));
        let way = if !untaken.is_empty() {
            way(chain, at, |from, to| untaken.contains(&(from, to)))
        } else if let Some(set) = missing.first() {
            way(chain, at, |_, to| set.contains(to))
        } else if walk.len() == 1 || at != head {
            way(chain, at, |_, to| to == head)
        } else {
            break;
        };
        for to in way {
            untaken.remove(&(*walk.last().expect("a walk has a node"), to));
            walk.push(to);
        }
    }
    let of = |nodes: &[u32]| nodes.iter().map(|&node| chain.origin[node as usize]).collect();
    Refutation { stem: of(&stem), cycle: of(&walk[1..]), component: members.len(), is_complete }
}

/// The nodes of a shortest way from a node to the end of a step that fits, without the first.
fn way(chain: &Chain, from: u32, fits: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut parents: FxHashMap<u32, Option<u32>> = FxHashMap::from_iter([(from, None)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for &to in chain.steps(node) {
            if fits(node, to) {
                let mut path = path_to(node, &parents);
                path.push(to);
                return path.split_off(1);
            }
            parents.entry(to).or_insert_with(|| {
                queue.push_back(to);
                Some(node)
            });
        }
    }
    unreachable!("a component is strongly connected, and has what is looked for")
}
