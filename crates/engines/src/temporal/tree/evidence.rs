//! Why a formula of CTL* is true or false in a state: a path that shows it, and what the path does not show.
//!
//! A quantified path formula has a linear witness if it says that there is a path, and is true, or that something is so on
//! all paths, and is false. What holds at the end of a finite witness is shown in turn, by making the path longer. Where a
//! claim about all paths is to be shown, the path stops: that is the branching point.

use quotient_temporal::branching::CtlOperator;
use quotient_temporal::{Formula, Node, PathQuantifier, translate};

use super::graph::StateSet;
use super::product::{Part, Product};
use super::ways::{Lasso, Ways, lasso};
use super::{Check, TreeError, label};
use crate::temporal::components::{Space, components};

/// A path through a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The states, at least one.
    pub states: Vec<u32>,
    /// The edges between them: edge `n` leads from state `n` to state `n + 1`. If the path has a cycle, there is one more
    /// edge, from the last state to the state where the cycle begins.
    pub edges: Vec<usize>,
    /// The position of the state where the cycle begins, if the path is infinite. A finite path shows what it shows
    /// however it is continued.
    pub cycle: Option<usize>,
}

/// A claim about a state of a path that the path does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The position on the path.
    pub position: usize,
    /// The state there.
    pub state: u32,
    /// The state formula.
    pub formula: Formula,
    /// Whether it holds there.
    pub holds: bool,
}

/// Why a formula is true or false in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// A path from the state.
    pub path: Path,
    /// The branching points: with what holds there, the path shows the value of the formula. If there are none, the path
    /// alone shows it.
    pub open: Vec<Open>,
}

impl Path {
    fn last(&self) -> u32 {
        *self.states.last().expect("a path has a state")
    }
    fn push(&mut self, edge: usize, to: u32) {
        self.edges.push(edge);
        self.states.push(to);
    }
    fn push_lasso<S: Space>(&mut self, space: &S, lasso: &Lasso) {
        for step in &lasso.stem {
            self.push(step.edge, space.state(step.to));
        }
        self.cycle = Some(self.states.len() - 1);
        let (last, others) = lasso.cycle.split_last().expect("a cycle has a step");
        for step in others {
            self.push(step.edge, space.state(step.to));
        }
        self.edges.push(last.edge);
    }
}

impl Check<'_, '_> {
    /// Evidence for the value of a boolean combination of atoms and steps in a state.
    pub(super) fn evidence(&mut self, state: u32, condition: Formula, value: bool) -> Result<Evidence, TreeError> {
        let mut evidence =
            Evidence { path: Path { states: vec![state], edges: Vec::new(), cycle: None }, open: Vec::new() };
        let (mut claim, mut value) = (condition, value);
        // Each turn looks at a part of the formula, or at one of an earlier step.
        loop {
            let state = evidence.path.last();
            match self.pool.node(claim).clone() {
                Node::Not(inner) => (claim, value) = (inner, !value),
                node @ (Node::And(_) | Node::Or(_)) => {
                    let parts = node.children();
                    let any_suffices = matches!(node, Node::Or(_)) == value;
                    let (steps, plain): (Vec<Formula>, Vec<Formula>) =
                        parts.iter().partition(|part| self.has_steps(**part));
                    if any_suffices {
                        if plain.iter().any(|part| self.is_true(*part, state) == value) {
                            return Ok(evidence);
                        }
                        claim = steps
                            .into_iter()
                            .find(|part| self.is_true(*part, state) == value)
                            .expect("one part decides the value");
                    } else {
                        match steps[..] {
                            [] => return Ok(evidence),
                            [only] => claim = only,
                            _ => {
                                self.leave_open(&mut evidence, claim, value);
                                return Ok(evidence);
                            }
                        }
                    }
                }
                Node::Atom(atom) if atom.0 as usize >= self.graph.atoms() => {
                    let step = self.steps[atom.0 as usize - self.graph.atoms()].clone();
                    if (step.quantifier == PathQuantifier::Some) != value {
                        self.leave_open(&mut evidence, claim, value);
                        return Ok(evidence);
                    }
                    let (path, operator) = self.existential(&step);
                    match self.witness(&mut evidence, path, operator)? {
                        Some(rest) => (claim, value) = (rest, true),
                        None => return Ok(evidence),
                    }
                }
                _ => return Ok(evidence),
            }
        }
    }

    /// Continues a path so that a path formula holds on it from here on. Returns what remains to be shown at its end.
    fn witness(
        &mut self,
        evidence: &mut Evidence,
        path: Formula,
        operator: CtlOperator,
    ) -> Result<Option<Formula>, TreeError> {
        let first = evidence.path.states.len() - 1;
        match operator {
            CtlOperator::Next(a) => {
                let goal = self.states_of(a).and(self.live()?);
                let state = evidence.path.last();
                let edge = self.graph.edges(state).find(|&edge| goal.contains(self.graph.target(edge)));
                let edge = edge.expect("a state with a witness has such a successor");
                evidence.path.push(edge, self.graph.target(edge));
                Ok(Some(a))
            }
            CtlOperator::Until(a, b) => {
                let (through, goal) = (self.states_of(a), self.states_of(b).and(self.live()?));
                self.walk(&mut evidence.path, &through, &goal)?.expect("a state with a witness reaches the goal");
                let last = evidence.path.states.len() - 1;
                self.leave_open_along(evidence, first..last, a);
                Ok(Some(b))
            }
            CtlOperator::Release(a, b) => {
                let (goal, inside) = (self.released(a, b)?, self.states_of(b));
                if self.walk(&mut evidence.path, &inside, &goal)?.is_some() {
                    let last = evidence.path.states.len() - 1;
                    self.leave_open_along(evidence, first..last, b);
                    return Ok(Some(self.pool.and([a, b])));
                }
                let stays = self.staying(&inside)?;
                let part = Part { graph: self.graph, inside: &inside };
                let start = [evidence.path.last()];
                let lasso = lasso(&part, &start, &stays, self.fair, &mut self.watch)?;
                evidence.path.push_lasso(&part, &lasso.expect("a state with a witness reaches a component"));
                self.leave_open_along(evidence, first..evidence.path.states.len(), b);
                Ok(None)
            }
            CtlOperator::None => {
                let automaton = translate(self.pool, path)?;
                self.claim_product(&automaton)?;
                let Self { graph, values, fair, watch, .. } = self;
                let product = Product::new(graph, &automaton, |atom| label(graph, values, atom))?;
                let starts: Vec<u32> = product.initial(evidence.path.last()).collect();
                let found = components(&product, starts.iter().copied(), *fair, watch)?;
                let lasso = lasso(&product, &starts, &found, *fair, watch)?;
                evidence.path.push_lasso(&product, &lasso.expect("a state with a witness reaches a component"));
                for atom in self.pool.atoms(path) {
                    let atom = self.pool.atom(atom);
                    self.leave_open_along(evidence, first..evidence.path.states.len(), atom);
                }
                Ok(None)
            }
        }
    }

    /// Continues a path to the nearest goal, over states in `through`. Returns whether that is possible.
    fn walk(&mut self, path: &mut Path, through: &StateSet, goal: &StateSet) -> Result<Option<()>, TreeError> {
        let state = path.last();
        if goal.contains(state) {
            return Ok(Some(()));
        }
        if !through.contains(state) {
            return Ok(None);
        }
        let inside = through.clone().or(goal);
        let part = Part { graph: self.graph, inside: &inside };
        // The first goal ends the search, so that all before it are in `through`.
        let way = Ways::new(&part).find(&[state], |_| true, |step| goal.contains(step.to), &mut self.watch)?;
        Ok(way.map(|(_, steps)| steps.iter().for_each(|step| path.push(step.edge, step.to))))
    }

    fn has_steps(&self, formula: Formula) -> bool {
        self.pool.atoms(formula).last().is_some_and(|atom| atom.0 as usize >= self.graph.atoms())
    }

    /// Leaves the value of a formula open at the end of the path.
    fn leave_open(&mut self, evidence: &mut Evidence, formula: Formula, holds: bool) {
        let (position, state) = (evidence.path.states.len() - 1, evidence.path.last());
        let formula = self.restored(formula);
        evidence.open.push(Open { position, state, formula, holds });
    }

    /// Leaves the value of a formula open in a range of positions, if it does not just depend on the states there.
    fn leave_open_along(&mut self, evidence: &mut Evidence, positions: std::ops::Range<usize>, formula: Formula) {
        if !self.has_steps(formula) {
            return;
        }
        let restored = self.restored(formula);
        for position in positions {
            let state = evidence.path.states[position];
            let holds = self.is_true(formula, state);
            evidence.open.push(Open { position, state, formula: restored, holds });
        }
    }

    /// The formula with the quantified path formulas that its atoms stand for.
    fn restored(&mut self, formula: Formula) -> Formula {
        let known = self.graph.atoms();
        let mut images: Vec<Formula> = Vec::new();
        for step in &self.steps {
            let path = self.pool.substitute(step.path, |pool, atom| {
                (atom.0 as usize).checked_sub(known).map_or_else(|| pool.atom(atom), |step| images[step])
            });
            images.push(self.pool.path(step.quantifier, path));
        }
        self.pool.substitute(formula, |pool, atom| {
            (atom.0 as usize).checked_sub(known).map_or_else(|| pool.atom(atom), |step| images[step])
        })
    }
}
