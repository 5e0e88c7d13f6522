//! An explicit graph of states with labels, sets of states, and the fairness classes of its edges.

use std::ops::Range;

use quotient_ir::Fairness;
use quotient_temporal::Atom;

/// A set of numbers below a bound, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSet {
    bound: usize,
    /// Bits from the bound on are zero.
    words: Vec<u64>,
}

impl StateSet {
    /// The empty set of numbers below `bound`.
    pub fn empty(bound: usize) -> Self {
        Self { bound, words: vec![0; bound.div_ceil(64)] }
    }
    /// All numbers below `bound`.
    pub fn full(bound: usize) -> Self {
        Self::empty(bound).complement()
    }
    /// The bound of its numbers.
    pub fn bound(&self) -> usize {
        self.bound
    }
    /// Whether it has a number. Numbers from the bound on are not in the set.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
    /// Adds a number. Returns whether it is new. Raises the bound if necessary.
    #[inline]
    pub fn insert(&mut self, number: u32) -> bool {
        if number as usize >= self.bound {
            self.raise(number as usize + 1);
        }
        let (word, bit) = (&mut self.words[number as usize / 64], 1 << (number % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
    fn raise(&mut self, bound: usize) {
        self.bound = bound;
        self.words.resize(bound.div_ceil(64), 0);
    }
    /// How many numbers it has.
    #[inline]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
    /// Its numbers in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(position, &word)| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|&rest| rest != 0)
                .map(move |rest| position as u32 * 64 + rest.trailing_zeros())
        })
    }
    /// The numbers below the bound that it does not have.
    #[must_use]
    pub fn complement(mut self) -> Self {
        for word in &mut self.words {
            *word = !*word;
        }
        if let Some(last) = self.words.last_mut()
            && !self.bound.is_multiple_of(64)
        {
            *last &= (1 << (self.bound % 64)) - 1;
        }
        self
    }
    /// The numbers in both. Both have the same bound.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        debug_assert_eq!(self.bound, other.bound);
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine &= yours);
        self
    }
    /// The numbers in either. Both have the same bound.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        debug_assert_eq!(self.bound, other.bound);
        self.words.iter_mut().zip(&other.words).for_each(|(mine, yours)| *mine |= yours);
        self
    }
    /// The bytes it takes.
    pub fn memory_bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }
}

/// What becomes of a run in a state without successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It stays there forever: the state gets an edge to itself, which belongs to no fairness class.
    Stays,
    /// It ends, and so is not an infinite run: a run-time error prevents every step.
    Stops,
}

/// A graph of states numbered from 0. Edges have numbers as well: those of a state are consecutive, and there may be
/// several to the same target.
#[derive(Clone, Debug)]
pub struct Graph {
    starts: Vec<u32>,
    /// Where the edges of each state begin; one more entry for the end.
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// For each atom, the states where it is true.
    labels: Vec<StateSet>,
    /// Whether every state has a successor.
    is_total: bool,
}

impl Graph {
    /// How many states there are.
    #[inline]
    pub fn states(&self) -> usize {
        self.offsets.len() - 1
    }
    /// How many edges there are.
    #[inline]
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }
    /// The start states, in the order in which they were added.
    #[inline]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }
    /// The edges that leave a state.
    #[inline]
    pub fn edges(&self, state: u32) -> Range<usize> {
        self.offsets[state as usize]..self.offsets[state as usize + 1]
    }
    /// The state that an edge enters.
    #[inline]
    pub fn target(&self, edge: usize) -> u32 {
        self.targets[edge]
    }
    /// How many atoms there are.
    pub fn atoms(&self) -> usize {
        self.labels.len()
    }
    /// The states where an atom is true.
    ///
    /// # Panics
    /// If there is no such atom.
    #[inline]
    pub fn label(&self, atom: Atom) -> &StateSet {
        &self.labels[atom.0 as usize]
    }
    /// Whether every state has a successor.
    #[inline]
    pub fn is_total(&self) -> bool {
        self.is_total
    }
    /// The bytes it takes.
    pub fn memory_bytes(&self) -> u64 {
        let labels: u64 = self.labels.iter().map(StateSet::memory_bytes).sum();
        self.offsets.len() as u64 * 8 + self.targets.len() as u64 * 4 + labels
    }
}

/// Builds a graph state by state: the edges of state 0, then those of state 1, and so on. Labels and starts can be given
/// at any time.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    graph: Graph,
}

impl GraphBuilder {
    /// A graph without states, with atoms numbered from 0.
    pub fn new(atoms: usize) -> Self {
        let (starts, offsets, targets) = (Vec::new(), vec![0], Vec::new());
        Self { graph: Graph { starts, offsets, targets, labels: vec![StateSet::default(); atoms], is_total: true } }
    }
    /// Adds an edge from the state whose turn it is. The target may be a state that comes later. Returns the number of
    /// the edge.
    #[inline]
    pub fn edge(&mut self, to: u32) -> usize {
        self.graph.targets.push(to);
        self.graph.targets.len() - 1
    }
    /// All edges of the state were added; the next state's turn begins. Returns the edge that the state got because it
    /// has no other.
    pub fn end_state(&mut self, ending: Ending) -> Option<usize> {
        let graph = &mut self.graph;
        let state = graph.states();
        let is_stuck = graph.offsets[state] == graph.targets.len();
        let stutter = is_stuck && ending == Ending::Stays;
        if stutter {
            graph.targets.push(state as u32);
        }
        graph.is_total &= !is_stuck || stutter;
        graph.offsets.push(graph.targets.len());
        stutter.then(|| graph.targets.len() - 1)
    }
    /// Adds a start state.
    #[inline]
    pub fn start(&mut self, state: u32) {
        self.graph.starts.push(state);
    }
    /// Makes an atom true in a state.
    ///
    /// # Panics
    /// If there is no such atom.
    #[inline]
    pub fn label(&mut self, atom: Atom, state: u32) {
        self.graph.labels[atom.0 as usize].insert(state);
    }
    /// The bytes that the graph takes so far.
    pub fn memory_bytes(&self) -> u64 {
        self.graph.memory_bytes()
    }
    /// The graph.
    ///
    /// # Panics
    /// If a start, a target or a label is not a state.
    pub fn build(mut self) -> Graph {
        let states = self.graph.states();
        let graph = &mut self.graph;
        for &state in graph.starts.iter().chain(&graph.targets) {
            assert!((state as usize) < states, "state {state} has no edges of its own");
        }
        for label in &mut graph.labels {
            assert!(label.bound <= states, "a label is not on a state");
            label.raise(states);
        }
        self.graph
    }
}

/// The same edges in the other direction.
#[derive(Debug)]
pub(crate) struct Reverse {
    offsets: Vec<usize>,
    sources: Vec<u32>,
}

impl Reverse {
    pub(crate) fn of(graph: &Graph) -> Self {
        let states = graph.states();
        let mut offsets = vec![0; states + 1];
        for &target in &graph.targets {
            offsets[target as usize + 1] += 1;
        }
        for state in 0..states {
            offsets[state + 1] += offsets[state];
        }
        let mut sources = vec![0; graph.targets.len()];
        // Filled from the back, so that afterwards each offset is again where its state begins.
        let mut ends = offsets.split_off(1);
        for state in (0..states as u32).rev() {
            for edge in graph.edges(state).rev() {
                let end = &mut ends[graph.target(edge) as usize];
                *end -= 1;
                sources[*end] = state;
            }
        }
        ends.push(sources.len());
        Self { offsets: ends, sources }
    }
    /// The states with an edge to this one; one for each edge.
    #[inline]
    pub(crate) fn sources(&self, state: u32) -> &[u32] {
        &self.sources[self.offsets[state as usize]..self.offsets[state as usize + 1]]
    }
    /// The bytes that the reverse of a graph takes.
    pub(crate) fn bytes_for(graph: &Graph) -> u64 {
        graph.offsets.len() as u64 * 8 + graph.targets.len() as u64 * 4
    }
}

/// The fairness classes of a graph: processes, rules or instances of rules, numbered from 0.
pub trait FairnessClasses {
    /// How many classes there are.
    fn count(&self) -> usize;
    /// What a class is guaranteed.
    fn strength(&self, class: u32) -> Fairness;
    /// Calls `visit` with each class that is enabled in a state, perhaps repeatedly.
    fn enabled(&self, state: u32, visit: &mut dyn FnMut(u32));
    /// Calls `visit` with each class that takes a step along an edge, perhaps repeatedly. Names are those after the edge.
    fn taken(&self, edge: usize, visit: &mut dyn FnMut(u32));
    /// Whether classes change their names along edges.
    #[inline]
    fn has_renamings(&self) -> bool {
        false
    }
    /// The name of a class after an edge.
    #[inline]
    fn renamed(&self, _edge: usize, class: u32) -> u32 {
        class
    }
}

/// Fairness classes where a class is enabled where an edge of it begins.
#[derive(Clone, Debug)]
pub struct EdgeClasses<'g> {
    graph: &'g Graph,
    /// What each class is guaranteed.
    strengths: Vec<Fairness>,
    /// Different combinations of classes.
    combinations: Vec<Vec<u32>>,
    /// The combination of each edge, by its position above.
    of_edge: Vec<u32>,
}

impl<'g> EdgeClasses<'g> {
    /// The classes of the edges of a graph: what each class is guaranteed, the different combinations of classes, and for
    /// each edge its combination, by position.
    ///
    /// # Panics
    /// If there are not as many edges, or a class or combination is not there.
    pub fn new(graph: &'g Graph, strengths: Vec<Fairness>, combinations: Vec<Vec<u32>>, of_edge: Vec<u32>) -> Self {
        assert_eq!(of_edge.len(), graph.edge_count(), "every edge has an entry");
        assert!(of_edge.iter().all(|&combination| (combination as usize) < combinations.len()), "it is there");
        assert!(combinations.iter().flatten().all(|&class| (class as usize) < strengths.len()), "it is there");
        Self { graph, strengths, combinations, of_edge }
    }
}

impl FairnessClasses for EdgeClasses<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.strengths.len()
    }
    #[inline]
    fn strength(&self, class: u32) -> Fairness {
        self.strengths[class as usize]
    }
    #[inline]
    fn enabled(&self, state: u32, visit: &mut dyn FnMut(u32)) {
        for edge in self.graph.edges(state) {
            self.taken(edge, visit);
        }
    }
    #[inline]
    fn taken(&self, edge: usize, visit: &mut dyn FnMut(u32)) {
        self.combinations[self.of_edge[edge] as usize].iter().for_each(|&class| visit(class));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let mut set = StateSet::empty(130);
        assert!(set.insert(0) && set.insert(64) && set.insert(129) && !set.insert(64));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 129]);
        assert_eq!(set.clone().complement().count(), 127);
        assert_eq!(set.clone().complement().complement(), set);
        assert_eq!(StateSet::full(130).and(&set), set);
        assert_eq!(StateSet::full(128).count(), 128);
        assert!(!set.contains(500));
    }

    #[test]
    fn states_without_successors() {
        let mut builder = GraphBuilder::new(1);
        builder.edge(1);
        builder.edge(2);
        assert_eq!(builder.end_state(Ending::Stays), None);
        assert_eq!(builder.end_state(Ending::Stays), Some(2));
        assert_eq!(builder.end_state(Ending::Stops), None);
        builder.start(0);
        builder.label(Atom(0), 1);
        let graph = builder.build();
        assert!(!graph.is_total());
        assert_eq!((graph.states(), graph.edges(1), graph.edges(2)), (3, 2..3, 3..3));
        let reverse = Reverse::of(&graph);
        assert_eq!([0, 1, 2].map(|state| reverse.sources(state).to_vec()), [vec![], vec![0, 1], vec![0]]);
        assert_eq!(graph.label(Atom(0)).bound(), 3);
    }
}
