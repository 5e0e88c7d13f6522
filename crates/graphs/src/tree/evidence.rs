//! Why a formula of CTL* is true or false in a state: a path that shows it, and what the path does not show.
//!
//! A quantified path formula has a linear witness if it says that there is a path, and is true, or that something is so on
//! all paths, and is false. What holds at the end of a finite witness is shown in turn, by making the path longer. Where a
//! claim about all paths is to be shown, the path stops: that is the branching point.

use quotient_temporal::branching::{CtlOperator, PathStep, restored};
use quotient_temporal::{Atom, Formula, Formulas, Node, PathQuantifier, translate};

use super::product::{Part, Product};
use super::ways::{Lasso, Ways, lasso};
use super::{Check, TreeError, label};
use crate::components::{Space, components};
use crate::graph::StateSet;

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
    /// The path of a single state.
    fn of(state: u32) -> Self {
        Self { states: vec![state], edges: Vec::new(), cycle: None }
    }
    /// The path of a lasso.
    pub(super) fn of_lasso<S: Space>(space: &S, lasso: &Lasso) -> Self {
        let mut path = Self::of(space.state(lasso.start));
        path.push_lasso(space, lasso);
        path
    }
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

/// A path under construction that is to show the value of a formula: what is known at its end, and how it goes on.
pub trait Guide {
    /// Why it cannot go on.
    type Error;
    /// The formulas.
    fn pool(&self) -> &Formulas;
    /// The quantified path formula that an atom stands for, if it does.
    fn step_of(&self, atom: Atom) -> Option<PathStep>;
    /// Whether a boolean combination of atoms and steps is true at the end of the path.
    fn is_true(&mut self, condition: Formula) -> Result<bool, Self::Error>;
    /// Notes that the path does not show the value of a formula at its end.
    fn leave_open(&mut self, condition: Formula, value: bool) -> Result<(), Self::Error>;
    /// Makes the path longer so that a step shows its value. Returns what remains to be shown at its end.
    fn follow(&mut self, step: &PathStep) -> Result<Option<Formula>, Self::Error>;
    /// Whether a formula does not just depend on the state.
    fn has_steps(&self, formula: Formula) -> bool {
        self.pool().atoms(formula).last().is_some_and(|&atom| self.step_of(atom).is_some())
    }
}

/// Makes a path longer until it shows the value of a boolean combination of atoms and steps at its end.
pub fn explain<G: Guide>(guide: &mut G, condition: Formula, value: bool) -> Result<(), G::Error> {
    let (mut claim, mut value) = (condition, value);
    // Each turn looks at a part of the formula, or at one of an earlier step.
    loop {
        match guide.pool().node(claim).clone() {
            Node::Not(inner) => (claim, value) = (inner, !value),
            node @ (Node::And(_) | Node::Or(_)) => {
                let any_suffices = matches!(node, Node::Or(_)) == value;
                let (steps, plain): (Vec<Formula>, Vec<Formula>) =
                    node.children().iter().partition(|part| guide.has_steps(**part));
                if any_suffices {
                    for part in plain {
                        if guide.is_true(part)? == value {
                            return Ok(());
                        }
                    }
                    let mut deciding = None;
                    for part in steps {
                        if deciding.is_none() && guide.is_true(part)? == value {
                            deciding = Some(part);
                        }
                    }
                    claim = deciding.expect("one part decides the value");
                } else {
                    match steps[..] {
                        [] => return Ok(()),
                        [only] => claim = only,
                        _ => return guide.leave_open(claim, value),
                    }
                }
            }
            Node::Atom(atom) => {
                let Some(step) = guide.step_of(atom) else { return Ok(()) };
                if (step.quantifier == PathQuantifier::Some) != value {
                    return guide.leave_open(claim, value);
                }
                match guide.follow(&step)? {
                    Some(rest) => (claim, value) = (rest, true),
                    None => return Ok(()),
                }
            }
            _ => return Ok(()),
        }
    }
}

/// Evidence under construction.
struct Showing<'c, 'a, 'p> {
    check: &'c mut Check<'a, 'p>,
    evidence: Evidence,
}

impl Guide for Showing<'_, '_, '_> {
    type Error = TreeError;
    fn pool(&self) -> &Formulas {
        self.check.pool
    }
    fn step_of(&self, atom: Atom) -> Option<PathStep> {
        self.check.step_of(atom).cloned()
    }
    fn is_true(&mut self, condition: Formula) -> Result<bool, TreeError> {
        Ok(self.check.is_true(condition, self.evidence.path.last()))
    }
    fn leave_open(&mut self, condition: Formula, value: bool) -> Result<(), TreeError> {
        self.check.leave_open(&mut self.evidence, condition, value);
        Ok(())
    }
    fn follow(&mut self, step: &PathStep) -> Result<Option<Formula>, TreeError> {
        let (path, operator) = step.existential(self.check.pool);
        self.check.witness(&mut self.evidence, path, operator)
    }
}

impl Check<'_, '_> {
    /// Evidence for the value of a boolean combination of atoms and steps in a state.
    pub(super) fn evidence(&mut self, state: u32, condition: Formula, value: bool) -> Result<Evidence, TreeError> {
        let evidence = Evidence { path: Path::of(state), open: Vec::new() };
        let mut showing = Showing { check: self, evidence };
        explain(&mut showing, condition, value)?;
        Ok(showing.evidence)
    }

    fn step_of(&self, atom: Atom) -> Option<&PathStep> {
        (atom.0 as usize).checked_sub(self.graph.atoms()).map(|number| &self.steps[number])
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
        self.pool.atoms(formula).last().is_some_and(|&atom| self.step_of(atom).is_some())
    }

    /// Leaves the value of a formula open at the end of the path.
    fn leave_open(&mut self, evidence: &mut Evidence, formula: Formula, holds: bool) {
        let (position, state) = (evidence.path.states.len() - 1, evidence.path.last());
        let formula = restored(self.pool, &self.steps, formula);
        evidence.open.push(Open { position, state, formula, holds });
    }

    /// Leaves the value of a formula open in a range of positions, if it does not just depend on the states there.
    fn leave_open_along(&mut self, evidence: &mut Evidence, positions: std::ops::Range<usize>, formula: Formula) {
        if !self.has_steps(formula) {
            return;
        }
        let restored = restored(self.pool, &self.steps, formula);
        for position in positions {
            let state = evidence.path.states[position];
            let holds = self.is_true(formula, state);
            evidence.open.push(Open { position, state, formula: restored, holds });
        }
    }
}
