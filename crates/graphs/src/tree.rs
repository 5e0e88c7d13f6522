//! CTL and CTL* on an explicit graph.
//!
//! A formula is checked from the inside to the outside ([`quotient_temporal::branching`]): each quantified path formula
//! becomes a set of states. Operators of CTL are fixpoints (Clarke, Emerson and Sistla, "Automatic verification of
//! finite-state concurrent systems using temporal logic specifications", TOPLAS 8, 1986); other path formulas are products
//! with their automaton (Emerson and Lei, "Modalities for model checking", 1987). Both end in a decomposition into
//! components, which also handles fairness. The time is linear in the graph times the automaton, and with strong
//! fairness times the number of classes.
//!
//! Path quantifiers are about infinite paths, and about fair ones if there is fairness. `A` or `E` before a condition is
//! the condition, even in a state without such a path.

mod evidence;
mod product;
#[cfg(test)]
mod tests;
mod ways;

use std::ops::ControlFlow;

use quotient_temporal::branching::{CtlOperator, NotAStateFormula, PathStep, Separation, separate};
use quotient_temporal::{Atom, Automaton, Formula, Formulas, Node, PathQuantifier, TranslationError, translate};
use rustc_hash::FxHashMap;

use crate::components::{Components, Watch, components};
use crate::graph::Reverse;
pub use crate::graph::{EdgeClasses, Ending, FairnessClasses, Graph, GraphBuilder, StateSet};
pub use evidence::{Evidence, Open, Path};
pub use evidence::{Guide, explain};
use product::{Part, Product};
use quotient_search::StopReason;
use ways::lasso;

/// How a formula is checked.
#[derive(Clone, Copy, Default)]
pub struct TreeOptions<'a> {
    /// The fairness classes, if only fair paths count.
    pub fairness: Option<&'a dyn FairnessClasses>,
    /// The most bytes to use besides the graph.
    pub max_memory: Option<u64>,
}

/// The truth of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeAnswer {
    /// Whether it holds in each start state, in the order of the graph's starts.
    pub holds: Vec<bool>,
    /// Evidence from the first start state where it does not hold, or if there is none, from the first start state that
    /// it does. Missing if there are no start states.
    pub evidence: Option<Evidence>,
}

impl TreeAnswer {
    /// Whether the formula holds in every start state.
    pub fn holds_everywhere(&self) -> bool {
        self.holds.iter().all(|&holds| holds)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A temporal operator is not inside a path quantifier.
    #[error(transparent)]
    NotAStateFormula(#[from] NotAStateFormula),
    /// A path formula has no automaton.
    #[error(transparent)]
    Translation(#[from] TranslationError),
    /// The graph has no labels for this atom.
    #[error("the graph has no labels for atom {}", .0.0)]
    UnknownAtom(Atom),
    /// It was stopped.
    #[error("the check was stopped")]
    Stopped(StopReason),
}

impl From<StopReason> for TreeError {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// Decides a state formula of CTL* in the start states of a graph. Atom `n` of the formula is atom `n` of the graph. New
/// formulas are added to the pool; evidence refers to formulas of the pool. `poll` is called from time to time, and can
/// stop the check.
///
/// # Errors
/// If the formula is not a state formula, has unknown atoms or is too large, if there is too little memory, or `poll` says
/// to stop.
pub fn check_tree(
    graph: &Graph,
    pool: &mut Formulas,
    formula: Formula,
    options: &TreeOptions<'_>,
    poll: &mut dyn FnMut() -> ControlFlow<StopReason>,
) -> Result<TreeAnswer, TreeError> {
    let first = Atom(graph.atoms() as u32);
    if let Some(&atom) = pool.atoms(formula).iter().find(|&&atom| atom >= first) {
        return Err(TreeError::UnknownAtom(atom));
    }
    let Separation { steps, condition } = separate(pool, formula, first)?;
    let mut check = Check {
        graph,
        pool,
        steps,
        values: Vec::new(),
        reverse: None,
        live: None,
        fair: options.fairness,
        max_memory: options.max_memory,
        watch: Watch::new(poll),
    };
    for number in 0..check.steps.len() {
        let step = check.steps[number].clone();
        let value = check.quantified(&step)?;
        check.values.push(value);
    }
    let value = check.states_of(condition);
    let holds: Vec<bool> = graph.starts().iter().map(|&start| value.contains(start)).collect();
    let shown = holds.iter().position(|holds| !holds).or((!holds.is_empty()).then_some(0));
    let evidence = match shown {
        Some(position) => Some(check.evidence(graph.starts()[position], condition, holds[position])?),
        None => None,
    };
    Ok(TreeAnswer { holds, evidence })
}

/// An infinite path from a start that an automaton accepts, if there is one. Atom `n` of the automaton is atom `n` of the
/// graph.
///
/// # Errors
/// If there is too little memory, or `poll` says to stop.
pub fn accepted_path(
    graph: &Graph,
    automaton: &Automaton,
    max_memory: Option<u64>,
    poll: &mut dyn FnMut() -> ControlFlow<StopReason>,
) -> Result<Option<Path>, StopReason> {
    if let Some(limit) = max_memory.filter(|&limit| bytes_of_product(graph, automaton) > limit) {
        return Err(StopReason::MemoryLimit(limit));
    }
    let watch = &mut Watch::new(poll);
    let product = Product::new(graph, automaton, |atom| graph.label(atom))?;
    let starts: Vec<u32> = graph.starts().iter().flat_map(|&start| product.initial(start)).collect();
    let found = components(&product, starts.iter().copied(), None, watch)?;
    let lasso = lasso(&product, &starts, &found, None, watch)?;
    Ok(lasso.map(|lasso| Path::of_lasso(&product, &lasso)))
}

/// The bytes that the search of a product takes: the components, a set of nodes, and at worst all nodes waiting to be
/// visited.
fn bytes_of_product(graph: &Graph, automaton: &Automaton) -> u64 {
    let nodes = (graph.states() as u64).saturating_mul(automaton.states.into());
    Components::bytes_for(nodes).saturating_add(nodes.saturating_mul(4)).saturating_add(nodes / 8)
}

/// What is known about the formula so far.
struct Check<'a, 'p> {
    graph: &'a Graph,
    pool: &'p mut Formulas,
    steps: Vec<PathStep>,
    /// The states where each step is true, as far as they were decided.
    values: Vec<StateSet>,
    /// The edges in the other direction, once they are needed.
    reverse: Option<Reverse>,
    /// The states where an infinite path that counts begins, once they are needed.
    live: Option<StateSet>,
    fair: Option<&'a dyn FairnessClasses>,
    max_memory: Option<u64>,
    watch: Watch<'p>,
}

/// The states where an atom of the formula or of a step is true.
fn label<'x>(graph: &'x Graph, values: &'x [StateSet], atom: Atom) -> &'x StateSet {
    match (atom.0 as usize).checked_sub(graph.atoms()) {
        None => graph.label(atom),
        Some(step) => &values[step],
    }
}

impl Check<'_, '_> {
    /// The states where a quantified path formula is true.
    fn quantified(&mut self, step: &PathStep) -> Result<StateSet, TreeError> {
        let (path, operator) = step.existential(self.pool);
        let states = self.some_path(path, operator)?;
        Ok(match step.quantifier {
            PathQuantifier::Some => states,
            PathQuantifier::All => states.complement(),
        })
    }

    /// The states where a path begins that satisfies a path formula.
    fn some_path(&mut self, path: Formula, operator: CtlOperator) -> Result<StateSet, TreeError> {
        match operator {
            CtlOperator::Next(a) => {
                let goal = self.states_of(a).and(self.live()?);
                let mut states = StateSet::empty(self.graph.states());
                for state in 0..self.graph.states() as u32 {
                    self.watch.tick()?;
                    if self.graph.edges(state).any(|edge| goal.contains(self.graph.target(edge))) {
                        states.insert(state);
                    }
                }
                Ok(states)
            }
            CtlOperator::Until(a, b) => {
                let (through, goal) = (self.states_of(a), self.states_of(b).and(self.live()?));
                self.reach_back(goal, &through)
            }
            CtlOperator::Release(a, b) => {
                let goal = self.released(a, b)?;
                let inside = self.states_of(b);
                let stays = self.staying(&inside)?.members();
                self.reach_back(goal.or(&stays), &inside)
            }
            CtlOperator::None => self.some_accepted(path),
        }
    }

    /// The states where `b` is released: both hold, and a path begins.
    fn released(&mut self, a: Formula, b: Formula) -> Result<StateSet, TreeError> {
        let both = self.states_of(a).and(&self.states_of(b));
        Ok(both.and(self.live()?))
    }

    /// The states where a path begins that the automaton of a path formula accepts.
    fn some_accepted(&mut self, path: Formula) -> Result<StateSet, TreeError> {
        let automaton = translate(self.pool, path)?;
        self.claim_reverse()?;
        self.claim_product(&automaton)?;
        let Self { graph, values, reverse, fair, watch, .. } = self;
        let product = Product::new(graph, &automaton, |atom| label(graph, values, atom))?;
        let states = 0..graph.states() as u32;
        let roots = states.clone().flat_map(|state| product.initial(state));
        let members = components(&product, roots, *fair, watch)?.members();
        let reached = product.reach_back(reverse.as_ref().expect("it was made above"), members, watch)?;
        let mut found = StateSet::empty(graph.states());
        for state in states.filter(|&state| product.initial(state).any(|node| reached.contains(node))) {
            found.insert(state);
        }
        Ok(found)
    }

    /// The components inside a set of states that a path can stay in.
    fn staying(&mut self, inside: &StateSet) -> Result<Components, TreeError> {
        self.claim(Components::bytes_for(self.graph.states() as u64))?;
        let part = Part { graph: self.graph, inside };
        Ok(components(&part, inside.iter(), self.fair, &mut self.watch)?)
    }

    /// The states where an infinite path that counts begins.
    fn live(&mut self) -> Result<&StateSet, TreeError> {
        if self.live.is_none() {
            let all = StateSet::full(self.graph.states());
            self.live = Some(if self.fair.is_none() && self.graph.is_total() {
                all
            } else {
                let stays = self.staying(&all)?.members();
                self.reach_back(stays, &all)?
            });
        }
        Ok(self.live.as_ref().expect("it was found above"))
    }

    /// The states in `reached`, and those in `through` from which one of them can be reached over states in `through`.
    fn reach_back(&mut self, mut reached: StateSet, through: &StateSet) -> Result<StateSet, TreeError> {
        self.claim_reverse()?;
        let reverse = self.reverse.as_ref().expect("it was made above");
        let mut pending: Vec<u32> = reached.iter().collect();
        while let Some(state) = pending.pop() {
            for &source in reverse.sources(state) {
                self.watch.tick()?;
                if through.contains(source) && reached.insert(source) {
                    pending.push(source);
                }
            }
        }
        Ok(reached)
    }

    /// The states where a boolean combination of atoms and steps is true.
    fn states_of(&self, condition: Formula) -> StateSet {
        let mut values: FxHashMap<Formula, StateSet> = FxHashMap::default();
        for part in self.pool.subformulas(condition) {
            let value = match self.pool.node(part) {
                Node::True => StateSet::full(self.graph.states()),
                Node::False => StateSet::empty(self.graph.states()),
                Node::Atom(atom) => label(self.graph, &self.values, *atom).clone(),
                Node::Not(a) => values[a].clone().complement(),
                Node::And(parts) => {
                    parts[1..].iter().fold(values[&parts[0]].clone(), |value, part| value.and(&values[part]))
                }
                Node::Or(parts) => {
                    parts[1..].iter().fold(values[&parts[0]].clone(), |value, part| value.or(&values[part]))
                }
                _ => unreachable!("a condition has no temporal operators"),
            };
            values.insert(part, value);
        }
        values.remove(&condition).expect("a formula is one of its parts")
    }

    /// Whether a boolean combination is true in a state.
    fn is_true(&self, condition: Formula, state: u32) -> bool {
        let mut values: FxHashMap<Formula, bool> = FxHashMap::default();
        for part in self.pool.subformulas(condition) {
            let value = match self.pool.node(part) {
                Node::True => true,
                Node::False => false,
                Node::Atom(atom) => label(self.graph, &self.values, *atom).contains(state),
                Node::Not(a) => !values[a],
                Node::And(parts) => parts.iter().all(|part| values[part]),
                Node::Or(parts) => parts.iter().any(|part| values[part]),
                _ => unreachable!("a condition has no temporal operators"),
            };
            values.insert(part, value);
        }
        values[&condition]
    }

    fn claim_reverse(&mut self) -> Result<(), TreeError> {
        if self.reverse.is_none() {
            self.claim(Reverse::bytes_for(self.graph))?;
            self.reverse = Some(Reverse::of(self.graph));
        }
        Ok(())
    }

    fn claim_product(&self, automaton: &Automaton) -> Result<(), TreeError> {
        self.claim(bytes_of_product(self.graph, automaton))
    }

    /// Fails if so many more bytes are too many.
    fn claim(&self, bytes: u64) -> Result<(), TreeError> {
        let Some(limit) = self.max_memory else { return Ok(()) };
        let sets = self.values.iter().chain(&self.live).map(StateSet::memory_bytes).sum::<u64>();
        let reverse = self.reverse.as_ref().map_or(0, |_| Reverse::bytes_for(self.graph));
        if sets.saturating_add(reverse).saturating_add(bytes) > limit {
            return Err(StopReason::MemoryLimit(limit).into());
        }
        Ok(())
    }
}
