//! The nodes that a path formula or a condition leaves of a graph: states inside a set, and pairs of a state and a state
//! of an automaton.

use quotient_temporal::{Atom, Automaton, Transition};

use crate::components::{MOST_NODES, Space, Step, Watch};
use crate::graph::{Graph, Reverse, StateSet};
use quotient_search::StopReason;

/// The part of a graph inside a set of states.
pub(super) struct Part<'a> {
    pub(super) graph: &'a Graph,
    pub(super) inside: &'a StateSet,
}

impl Space for Part<'_> {
    type Cursor = usize;

    fn nodes(&self) -> usize {
        self.graph.states()
    }
    fn state(&self, node: u32) -> u32 {
        node
    }
    fn sets(&self) -> u64 {
        0
    }
    #[inline]
    fn first(&self, node: u32) -> usize {
        self.graph.edges(node).start
    }
    #[inline]
    fn next(&self, node: u32, cursor: &mut usize) -> Option<Step> {
        let end = self.graph.edges(node).end;
        while *cursor < end {
            let edge = *cursor;
            *cursor += 1;
            let to = self.graph.target(edge);
            if self.inside.contains(to) {
                return Some(Step { to, edge, acceptance: 0 });
            }
        }
        None
    }
}

/// The product of a graph with an automaton. The node of state `s` and state `q` of the automaton is
/// `s * automaton.states + q`; a step reads the letter of the state that it leaves.
pub(super) struct Product<'a> {
    graph: &'a Graph,
    automaton: &'a Automaton,
    /// The states where each atom of the automaton is true.
    labels: Vec<&'a StateSet>,
    /// Where the transitions of each state of the automaton begin; one more entry for the end.
    leaving: Vec<usize>,
    /// The transitions by the state that they enter.
    entering: Vec<Vec<Transition>>,
}

impl<'a> Product<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        automaton: &'a Automaton,
        label: impl Fn(Atom) -> &'a StateSet,
    ) -> Result<Self, StopReason> {
        let states = automaton.states as usize;
        if graph.states().checked_mul(states).is_none_or(|nodes| nodes > MOST_NODES) {
            return Err(StopReason::TooManyStates);
        }
        let mut leaving = vec![0; states + 1];
        let mut entering = vec![Vec::new(); states];
        for transition in &automaton.transitions {
            leaving[transition.from as usize + 1] += 1;
            entering[transition.to as usize].push(*transition);
        }
        for state in 0..states {
            leaving[state + 1] += leaving[state];
        }
        let labels = automaton.atoms.iter().map(|&atom| label(atom)).collect();
        Ok(Self { graph, automaton, labels, leaving, entering })
    }
    /// The nodes where the paths from a state begin.
    pub(super) fn initial(&self, state: u32) -> impl Iterator<Item = u32> + '_ {
        self.automaton.initial.iter().map(move |initial| state * self.automaton.states + initial)
    }
    fn letter(&self, state: u32) -> u64 {
        let bits = self.labels.iter().enumerate();
        bits.fold(0, |letter, (bit, label)| letter | u64::from(label.contains(state)) << bit)
    }
    /// Adds the nodes from which the set can be reached.
    pub(super) fn reach_back(
        &self,
        reverse: &Reverse,
        mut reached: StateSet,
        watch: &mut Watch<'_>,
    ) -> Result<StateSet, StopReason> {
        let mut pending: Vec<u32> = reached.iter().collect();
        while let Some(node) = pending.pop() {
            let entering = &self.entering[(node % self.automaton.states) as usize];
            for &state in reverse.sources(self.state(node)) {
                watch.tick()?;
                let letter = self.letter(state);
                for transition in entering.iter().filter(|transition| transition.cube.contains(letter)) {
                    let from = state * self.automaton.states + transition.from;
                    if reached.insert(from) {
                        pending.push(from);
                    }
                }
            }
        }
        Ok(reached)
    }
}

impl Space for Product<'_> {
    /// A transition of the automaton whose cube has the letter, and an edge.
    type Cursor = (usize, usize);

    fn nodes(&self) -> usize {
        self.graph.states() * self.automaton.states as usize
    }
    fn state(&self, node: u32) -> u32 {
        node / self.automaton.states
    }
    fn sets(&self) -> u64 {
        self.automaton.all_sets()
    }
    fn first(&self, node: u32) -> (usize, usize) {
        let (state, inner) = (self.state(node), (node % self.automaton.states) as usize);
        (self.matching(state, inner, self.leaving[inner]), self.graph.edges(state).start)
    }
    #[inline]
    fn next(&self, node: u32, cursor: &mut (usize, usize)) -> Option<Step> {
        let (state, inner) = (self.state(node), (node % self.automaton.states) as usize);
        let (transition, edge) = *cursor;
        let edges = self.graph.edges(state);
        if transition == self.leaving[inner + 1] || edges.is_empty() {
            return None;
        }
        let found = &self.automaton.transitions[transition];
        let to = self.graph.target(edge) * self.automaton.states + found.to;
        *cursor = if edge + 1 < edges.end {
            (transition, edge + 1)
        } else {
            (self.matching(state, inner, transition + 1), edges.start)
        };
        Some(Step { to, edge, acceptance: found.acceptance })
    }
}

impl Product<'_> {
    /// The first transition from a position on whose cube has the letter of a state.
    fn matching(&self, state: u32, inner: usize, from: usize) -> usize {
        let (letter, end) = (self.letter(state), self.leaving[inner + 1]);
        (from..end).find(|&at| self.automaton.transitions[at].cube.contains(letter)).unwrap_or(end)
    }
}
