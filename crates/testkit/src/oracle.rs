//! The brute-force oracle: the state space of a model by a plain breadth-first search on the reference interpreter
//! alone. It follows rumur's evaluation order step by step, so that its counts are rumur's even if a run ends early.
//! Transient states are ordinary states during the search, and are removed at the end.

use std::collections::{HashMap, VecDeque};

use quotient_ir::{
    DeadlockMode, Fault, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Rule, Valuation, verify,
};

use crate::verdict::{VerdictClass, class_of_fault};

/// The result of the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// The verdict. If several cover and liveness properties fail, a cover property comes first, as in rumur.
    pub class: VerdictClass,
    /// The number of non-transient states.
    pub states: u64,
    /// Rules fired.
    pub rules_fired: u64,
    /// These states, in the order in which they were found.
    pub reached: Vec<Valuation>,
}

/// Explores a model until all states are expanded, a violation is found, or there are more states than `limit`.
///
/// # Panics
/// If the model is not well-formed.
pub fn explore(model: &Model, deadlock: DeadlockMode, limit: usize) -> Exploration {
    explore_by(model, deadlock, limit, None)
}

/// The same where, of the rules that are enabled in a state, only those with the lowest number fire. All guards are
/// evaluated before the first rule fires.
///
/// # Panics
/// If the model is not well-formed.
pub fn explore_with_priorities(
    model: &Model,
    deadlock: DeadlockMode,
    limit: usize,
    priority: &dyn Fn(&Rule) -> u64,
) -> Exploration {
    explore_by(model, deadlock, limit, Some(priority))
}

fn explore_by(
    model: &Model,
    deadlock: DeadlockMode,
    limit: usize,
    priority: Option<&dyn Fn(&Rule) -> u64>,
) -> Exploration {
    if let Err(problems) = verify(model) {
        panic!("the model is not well formed: {}", problems.join("; "));
    }
    let layout = Layout::new(model).expect("a model for the oracle is small");
    let interpreter = Interpreter::new(model, &layout);
    let mut search = BruteForce {
        model,
        interpreter: &interpreter,
        numbers: HashMap::new(),
        reached: Vec::new(),
        edges: Vec::new(),
        rules_fired: 0,
        covered: vec![false; model.properties.len()],
        deadlock,
        limit,
        priority,
    };
    let class = search.run().err().unwrap_or_else(|| search.final_class());
    let mut reached = search.reached;
    reached.retain(|state| !interpreter.passes(state));
    Exploration { class, states: reached.len() as u64, rules_fired: search.rules_fired, reached }
}

struct BruteForce<'a> {
    model: &'a Model,
    interpreter: &'a Interpreter<'a>,
    numbers: HashMap<Vec<Option<i64>>, usize>,
    reached: Vec<Valuation>,
    /// The targets of the steps from each state.
    edges: Vec<Vec<usize>>,
    rules_fired: u64,
    covered: Vec<bool>,
    deadlock: DeadlockMode,
    limit: usize,
    priority: Option<&'a dyn Fn(&Rule) -> u64>,
}

impl BruteForce<'_> {
    /// The class of the first violation, as an error.
    fn run(&mut self) -> Result<(), VerdictClass> {
        let model = self.model;
        let mut queue = VecDeque::new();
        for (id, start) in model.starts.iter_enumerated() {
            for arguments in self.interpreter.instances(&start.parameters, &start.locals) {
                let outcome = self.interpreter.run_start(id, &arguments);
                if let Some(state) = self.executed(outcome)?
                    && let Some((number, true)) = self.arrive(state)?
                {
                    queue.push_back(number);
                }
            }
        }
        while let Some(number) = queue.pop_front() {
            let state = self.reached[number].clone();
            let mut stuck = true;
            let first = self.first_priority(&state)?;
            for (id, rule) in model.rules.iter_enumerated() {
                for arguments in self.interpreter.instances(&rule.parameters, &rule.locals) {
                    let enabled = self.interpreter.enabled(id, &arguments, &state);
                    if !enabled.map_err(|fault| class_of_fault(&fault))? {
                        continue;
                    }
                    if self.priority.is_some_and(|priority| Some(priority(rule)) != first) {
                        continue;
                    }
                    let outcome = self.interpreter.fire(id, &arguments, &state);
                    let Some(next) = self.executed(outcome)? else { continue };
                    self.rules_fired += 1;
                    stuck &= self.deadlock == DeadlockMode::Stuttering && next == state;
                    if let Some((to, new)) = self.arrive(next)? {
                        self.edges[number].push(to);
                        if new {
                            queue.push_back(to);
                        }
                    }
                }
            }
            if stuck && self.deadlock != DeadlockMode::Off {
                return Err(VerdictClass::Deadlock);
            }
        }
        Ok(())
    }

    /// The lowest number of a rule that is enabled, if numbers matter.
    fn first_priority(&self, state: &Valuation) -> Result<Option<u64>, VerdictClass> {
        let Some(priority) = self.priority else { return Ok(None) };
        let mut first = None;
        for (id, rule) in self.model.rules.iter_enumerated() {
            for arguments in self.interpreter.instances(&rule.parameters, &rule.locals) {
                let enabled = self.interpreter.enabled(id, &arguments, state);
                if enabled.map_err(|fault| class_of_fault(&fault))? && first.is_none_or(|it| priority(rule) < it) {
                    first = Some(priority(rule));
                }
            }
        }
        Ok(first)
    }

    /// The state after a step, unless the step is dropped.
    fn executed(&mut self, outcome: Outcome) -> Result<Option<Valuation>, VerdictClass> {
        match outcome {
            Outcome::Next { state, covered } => {
                for property in covered {
                    self.cover(property);
                }
                Ok(Some(state))
            }
            Outcome::Pruned => Ok(None),
            Outcome::Fault(fault) => Err(class_of_fault(&fault)),
        }
    }

    /// Checks a state and stores it. Returns its number and whether it is new, unless it is dropped.
    fn arrive(&mut self, state: Valuation) -> Result<Option<(usize, bool)>, VerdictClass> {
        if !self.all_hold(PropertyKind::Assumption, &state)? {
            return Ok(None);
        }
        let passing = self.interpreter.passes(&state);
        if !passing && !self.all_hold(PropertyKind::Invariant, &state)? {
            return Err(VerdictClass::Invariant);
        }
        if let Some(&number) = self.numbers.get(&state.0) {
            return Ok(Some((number, false)));
        }
        let number = self.reached.len();
        self.numbers.insert(state.0.clone(), number);
        self.reached.push(state);
        self.edges.push(Vec::new());
        if self.reached.len() > self.limit {
            return Err(VerdictClass::Inconclusive);
        }
        for kind in [PropertyKind::Cover, PropertyKind::AlwaysReachable].into_iter().filter(|_| !passing) {
            for (id, arguments) in self.instances(kind) {
                let holds = self.holds(id, &arguments, number)?;
                if holds && kind == PropertyKind::Cover {
                    self.cover(id);
                }
            }
        }
        Ok(Some((number, true)))
    }

    fn all_hold(&self, kind: PropertyKind, state: &Valuation) -> Result<bool, VerdictClass> {
        for (id, arguments) in self.instances(kind) {
            let holds: Result<bool, Fault> = self.interpreter.holds(id, &arguments, state);
            if !holds.map_err(|fault| class_of_fault(&fault))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&self, property: PropertyId, arguments: &[i64], state: usize) -> Result<bool, VerdictClass> {
        let holds = self.interpreter.holds(property, arguments, &self.reached[state]);
        holds.map_err(|fault| class_of_fault(&fault))
    }

    /// The instances of all properties of a kind.
    fn instances(&self, kind: PropertyKind) -> Vec<(PropertyId, Vec<i64>)> {
        let mut instances = Vec::new();
        for (id, property) in self.model.properties.iter_enumerated() {
            if property.kind == kind {
                let arguments = self.interpreter.instances(&property.parameters, &property.locals);
                instances.extend(arguments.map(|arguments| (id, arguments)));
            }
        }
        instances
    }

    fn cover(&mut self, property: PropertyId) {
        use quotient_ir::TableIndex;
        self.covered[property.position()] = true;
    }

    /// The verdict once all states are known.
    fn final_class(&self) -> VerdictClass {
        let properties = self.model.properties.iter().zip(&self.covered);
        if properties.into_iter().any(|(property, &covered)| property.kind == PropertyKind::Cover && !covered) {
            return VerdictClass::Cover;
        }
        for (id, arguments) in self.instances(PropertyKind::AlwaysReachable) {
            let passing: Vec<bool> = self.reached.iter().map(|state| self.interpreter.passes(state)).collect();
            let holds = |state| self.holds(id, &arguments, state).expect("it was evaluated when the state was found");
            let mut good: Vec<bool> = (0..passing.len()).map(|state| !passing[state] && holds(state)).collect();
            // Backwards until nothing changes; the simplest way, not the fastest.
            loop {
                let better: Vec<usize> = (0..good.len())
                    .filter(|&state| !good[state] && self.edges[state].iter().any(|&to| good[to]))
                    .collect();
                if better.is_empty() {
                    break;
                }
                for state in better {
                    good[state] = true;
                }
            }
            if good.iter().zip(passing).any(|(&good, passing)| !good && !passing) {
                return VerdictClass::Liveness;
            }
        }
        VerdictClass::Holds
    }
}
