//! Runs that show why a formula of CTL does not hold in a start: from set to set, state by state.

use quotient_ir::{Fairness, Interpreter, Trace, TraceStep, Valuation, Violation, replay};
use quotient_temporal::branching::{CtlOperator, PathStep, Separation, restored};
use quotient_temporal::print::{Notation, print};
use quotient_temporal::{Atom, Formula, Formulas};

use crate::diagrams::Set;
use crate::runs::{NoRun, step};
use crate::tree::Tree;
use quotient_graphs::classes::{Classes, is_fair};
use quotient_graphs::tree::{Guide, explain};
use quotient_search::EngineError;

/// A claim about a state of a run that the run does not show.
struct Open {
    /// The number of steps to the state.
    steps: usize,
    formula: Formula,
    holds: bool,
}

/// A run under construction. It ends in a state that formulas are about.
struct Run<'r, 't, 's, 'm> {
    tree: &'r mut Tree<'t, 's, 'm>,
    pool: &'r mut Formulas,
    path_steps: &'r [PathStep],
    steps: Vec<TraceStep>,
    /// The step after which the cycle begins, if it is infinite.
    cycle: Option<usize>,
    open: Vec<Open>,
}

fn missing() -> NoRun {
    NoRun::Error(EngineError::Rebuild("no step leads from one set of states to the next"))
}

impl Tree<'_, '_, '_> {
    /// A run from one of some starts that shows why the formula does not hold there, and what it does not show.
    pub(crate) fn illustrate(
        &mut self,
        interpreter: &Interpreter<'_>,
        (pool, separation): (&mut Formulas, &Separation),
        starts: &Set,
        violation: Violation,
        names: &[String],
        classes: Option<&Classes<'_, '_>>,
    ) -> Result<(Trace, Vec<String>), NoRun> {
        let whole = self.with_passing(starts)?;
        let steps = self.search.steps_within(&whole, starts)?;
        let mut run =
            Run { tree: self, pool: &mut *pool, path_steps: &separation.steps, steps, cycle: None, open: Vec::new() };
        explain(&mut run, separation.condition, false)?;
        let Run { steps, cycle, open, .. } = run;
        let trace = match cycle {
            None => Trace::new(steps, Some(violation)),
            Some(begin) => Trace::lasso(steps, begin, Some(violation)),
        };
        replay(interpreter, &trace).map_err(EngineError::from)?;
        if !self.has_passing() && classes.is_some_and(|classes| !is_fair(&trace, interpreter, classes)) {
            return Err(NoRun::Error(EngineError::Rebuild("the cycle of a run is not fair")));
        }
        let name = |atom: Atom| names.get(atom.0 as usize).cloned().unwrap_or_default();
        let remark = |open: &Open| {
            let text = print(pool, open.formula, Notation::Plain, &name);
            let verb = if open.holds { "holds" } else { "does not hold" };
            format!("after step {}: {text} {verb}", open.steps)
        };
        Ok((trace, open.iter().map(remark).collect()))
    }
}

impl Guide for Run<'_, '_, '_, '_> {
    type Error = NoRun;
    fn pool(&self) -> &Formulas {
        self.pool
    }
    fn step_of(&self, atom: Atom) -> Option<PathStep> {
        self.path_steps.iter().find(|step| step.atom == atom).cloned()
    }
    fn is_true(&mut self, condition: Formula) -> Result<bool, NoRun> {
        let states = self.tree.states_of(self.pool, condition)?;
        self.is_in(&states)
    }
    fn leave_open(&mut self, condition: Formula, holds: bool) -> Result<(), NoRun> {
        let formula = restored(self.pool, self.path_steps, condition);
        self.open.push(Open { steps: self.steps.len() - 1, formula, holds });
        Ok(())
    }
    fn follow(&mut self, step: &PathStep) -> Result<Option<Formula>, NoRun> {
        let (_, operator) = step.existential(self.pool);
        let first = self.steps.len();
        match operator {
            CtlOperator::Next(a) => {
                let goal = self.tree.live_where(self.pool, a)?;
                let stuck = self.tree.stuck.clone();
                // A state that is repeated is its own next one.
                if !self.is_in(&stuck)? {
                    let passing = self.tree.passing.clone();
                    self.go(&goal, &passing, None)?;
                }
                Ok(Some(a))
            }
            CtlOperator::Until(a, b) => {
                let (through, goal) = (self.tree.states_of(self.pool, a)?, self.tree.live_where(self.pool, b)?);
                let through = self.tree.with_passing(&through)?;
                self.walk(&goal, &through)?;
                self.leave_open_along(first - 1..self.steps.len() - 1, a)?;
                Ok(Some(b))
            }
            CtlOperator::Release(a, b) => {
                let (released, inside) = (self.tree.released(self.pool, a, b)?, self.tree.states_of(self.pool, b)?);
                let through = self.tree.with_passing(&inside)?;
                if self.can_reach(&released, &through)? {
                    self.walk(&released, &through)?;
                    self.leave_open_along(first - 1..self.steps.len() - 1, b)?;
                    return Ok(Some(self.pool.and([a, b])));
                }
                let stays = self.tree.staying(&inside)?;
                let goal = self.stored_of(&stays)?;
                self.walk(&goal, &through)?;
                self.turn(&stays)?;
                self.leave_open_along(first - 1..self.steps.len(), b)?;
                Ok(None)
            }
            CtlOperator::None => Err(missing()),
        }
    }
}

impl Run<'_, '_, '_, '_> {
    fn last(&self) -> &Valuation {
        &self.steps.last().expect("a run has a start").state
    }

    /// The set of the last state.
    fn here(&mut self) -> Result<Set, NoRun> {
        let state = self.last().clone();
        Ok(self.tree.search.machine.state(&state)?)
    }

    fn is_in(&mut self, states: &Set) -> Result<bool, NoRun> {
        let here = self.here()?;
        Ok(self.tree.diagrams().meet(&here, states)?)
    }

    fn stored_of(&mut self, states: &Set) -> Result<Set, NoRun> {
        let stored = self.tree.stored.clone();
        Ok(self.tree.diagrams().common(states, &stored)?)
    }

    fn can_reach(&mut self, goal: &Set, through: &Set) -> Result<bool, NoRun> {
        let reaching = self.tree.reach_back(goal, through)?;
        self.is_in(&reaching)
    }

    /// Goes on to a goal by a shortest way through some states, if it is not there.
    fn walk(&mut self, goal: &Set, through: &Set) -> Result<(), NoRun> {
        if self.is_in(goal)? { Ok(()) } else { self.go(goal, through, None) }
    }

    /// Goes on to a goal by at least one step, a shortest way through some states; the first step is one of a class, if
    /// one is given.
    fn go(&mut self, goal: &Set, through: &Set, class: Option<usize>) -> Result<(), NoRun> {
        let here = self.here()?;
        let mut rings = vec![goal.clone()];
        let mut known = goal.clone();
        loop {
            let ring = rings.last().expect("there is the goal").clone();
            let before = self.tree.before(&ring)?;
            let leading = match class {
                None => before.clone(),
                Some(class) => self.tree.before_class(class, &ring)?,
            };
            if self.tree.diagrams().meet(&here, &leading)? {
                break;
            }
            let before = self.tree.diagrams().common(&before, through)?;
            let new = self.tree.diagrams().without(&before, &known)?;
            if self.tree.diagrams().is_empty(&new) {
                return Err(missing());
            }
            known = self.tree.diagrams().union(&known, &new)?;
            rings.push(new);
        }
        let mut class = class;
        for ring in rings.iter().rev() {
            let from = self.last().clone();
            let found = match class.take() {
                None => self.tree.search.machine.step_into(&from, ring)?,
                Some(class) => {
                    let members = self.tree.classes[class].members.clone();
                    let mut found = None;
                    for (number, relation) in members {
                        if found.is_none() {
                            found = self.tree.search.machine.step_by(number, &relation, &from, ring)?;
                        }
                    }
                    found
                }
            };
            let (instance, next) = found.ok_or_else(missing)?;
            self.steps.push(step(instance, next));
        }
        Ok(())
    }

    /// Goes on to a state that a cycle leads back to, and around the cycle, within a set in which a run that counts can
    /// stay from everywhere.
    fn turn(&mut self, stays: &Set) -> Result<(), NoRun> {
        let stuck = self.tree.stuck.clone();
        // A component that no step leaves has such a cycle.
        let inside = loop {
            if self.is_in(&stuck)? {
                return Ok(());
            }
            let here = self.here()?;
            let onward = self.tree.reach_within(&here, stays)?;
            let returning = self.tree.reach_back(&here, &onward)?;
            let leaving = self.tree.diagrams().without(&onward, &returning)?;
            if self.tree.diagrams().is_empty(&leaving) {
                break onward;
            }
            let leaving = self.stored_of(&leaving)?;
            let next = self.tree.search.machine.pick(&leaving).ok_or_else(missing)?;
            let next = self.tree.search.machine.state(&next)?;
            self.go(&next, stays, None)?;
        };
        let begin = self.steps.len() - 1;
        let head = self.here()?;
        let passing = self.tree.passing.clone();
        let between = self.tree.diagrams().common(&inside, &passing)?;
        let stored = self.stored_of(&inside)?;
        for class in 0..self.tree.classes.len() {
            let (taken, idle) = self.tree.satisfied(class, &inside)?;
            let enabled = self.tree.classes[class].enabled.clone();
            let strength = self.tree.classes[class].strength;
            let is_idle = match strength {
                Fairness::None => true,
                // It is enough that it is not enabled somewhere.
                Fairness::Weak if !self.tree.diagrams().is_empty(&idle) => {
                    self.walk(&idle, &inside)?;
                    true
                }
                Fairness::Weak | Fairness::Strong => !self.tree.diagrams().meet(&inside, &enabled)?,
            };
            if !is_idle {
                self.walk(&taken, &inside)?;
                self.go(&stored, &between, Some(class))?;
            }
        }
        if self.steps.len() - 1 == begin {
            self.go(&head, &inside, None)?;
        } else {
            self.walk(&head, &inside)?;
        }
        self.cycle = Some(begin);
        Ok(())
    }

    /// Notes the value of a formula after some of the steps, if it does not just depend on the states there.
    fn leave_open_along(&mut self, positions: std::ops::Range<usize>, formula: Formula) -> Result<(), NoRun> {
        if !self.has_steps(formula) {
            return Ok(());
        }
        let states = self.tree.states_of(self.pool, formula)?;
        let restored = restored(self.pool, self.path_steps, formula);
        for position in positions {
            let state = self.steps[position].state.clone();
            let here = self.tree.search.machine.state(&state)?;
            let stored = self.tree.stored.clone();
            if self.tree.diagrams().meet(&here, &stored)? {
                let holds = self.tree.diagrams().meet(&here, &states)?;
                self.open.push(Open { steps: position, formula: restored, holds });
            }
        }
        Ok(())
    }
}
