//! Formulas of CTL: the sets of states where they hold, by fixpoints over steps backwards (Burch, Clarke, McMillan, Dill,
//! Hwang, "Symbolic model checking: 10^20 states and beyond", 1992).
//!
//! Steps between transient states are steps as others; a formula is about the states between which they lie. A state
//! without a step is repeated forever, unless a run-time error prevents every step.
//!
//! A fair run exists from a state if it leads to a set of states, each with a step into the set, in which each class that
//! is treated weakly fairly can be satisfied again and again, and each that is treated strongly fairly can be taken
//! wherever it is enabled. The largest such set is a fixpoint (after Kesten, Pnueli, Raviv, "Algorithmic verification of
//! linear temporal logic specifications", 1998): a component of it that no step leaves has fair cycles, and the states
//! that a fair run visits again and again form such a set.

use quotient_ir::{
    Budget, DeadlockMode, Fairness, Fault, FaultKind, Interpreter, Layout, Model, Positions, PropertyId, PropertyKind,
    Span, TemporalClaim, Trace, Valuation, Violation,
};
use quotient_temporal::branching::{CtlOperator, PathStep, Separation, separate};
use quotient_temporal::{Atom, Formula, Formulas, Node, PathQuantifier};
use rustc_hash::FxHashMap;

use crate::diagrams::{NODE_BYTES, Set};
use crate::machine::{Machine, Relation};
use crate::runs::{NoRun, stop_reason};
use crate::search::{Halt, Search};
use crate::{SymbolicError, SymbolicSymmetry, USUAL_BYTES, saturated, suited, translated};
use quotient_graphs::classes::{Before, Classes};
use quotient_graphs::{AtomicModel, ProductReport, TemporalReport, UsedSymmetry};
use quotient_search::{Checks, EngineError, FairnessMode, Observer, SearchOptions, StopReason, Verdict};

/// Checks a formula of CTL with decision diagrams. Symmetries must be those of the model; the formula need not be
/// preserved by them.
///
/// # Errors
/// If the claim is not one of CTL, the model cannot be translated, or there is a defect of this program.
pub fn check_symbolic_tree(
    model: &Model,
    layout: &Layout,
    property: PropertyId,
    symmetry: Option<SymbolicSymmetry<'_>>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<TemporalReport, SymbolicError> {
    let entry = &model.properties[property];
    let refused = |reason: &str| SymbolicError::Refused { reason: reason.to_owned(), span: entry.span };
    let temporal = entry.formula.temporal();
    let Some((temporal, TemporalClaim::Branching { pool, formula })) = temporal.map(|it| (it, &it.claim)) else {
        return Err(refused("the property is not a formula of CTL"));
    };
    if options.fairness == FairnessMode::Global {
        return Err(refused("global fairness is for explicit searches"));
    }
    let mut pool = pool.clone();
    let first = Atom(temporal.atoms.len() as u32);
    let separation = separate(&mut pool, *formula, first).map_err(|error| EngineError::Formula(error.to_string()))?;
    if separation.steps.iter().any(|step| step.operator == CtlOperator::None) {
        return Err(refused("the formula is one of CTL*: a path quantifier governs more than one temporal operator"));
    }
    let atomic = AtomicModel::new(model, property, temporal, None);
    let (functions, order) = translated(&atomic.model, layout, &atomic.atoms, &Budget::until(&observer.interrupt()))?;
    let mut report = TemporalReport::new(property, options.fairness);
    let bytes = options.max_memory.unwrap_or(USUAL_BYTES);
    let unfinished = |mut report: TemporalReport, reason: StopReason| {
        report.verdict = Verdict::Inconclusive;
        report.stop_reason = Some(reason);
        Ok(report)
    };
    let full = StopReason::MemoryLimit(bytes);
    let Ok(mut machine) = Machine::new(&atomic.model, &functions, &order, bytes) else {
        return unfinished(report, full);
    };
    // Whatever it is, the start fails before there is a run.
    if machine.failing_start().is_some() && machine.diagrams.is_empty(&machine.initial) {
        return Ok(report);
    }
    let Ok(symmetries) = suited(&mut machine, layout, symmetry) else { return unfinished(report, full) };
    let symmetries = symmetries?;
    let interpreter = Interpreter::new(model, layout);
    let is_fair =
        options.fairness != FairnessMode::None || model.rules.iter().any(|rule| rule.fairness != Fairness::None);
    let classes = is_fair.then(|| Classes::new(&interpreter, options.fairness));
    if classes.as_ref().is_some_and(Classes::depend_on_states) {
        return Err(refused("which events are treated fairly depends on the state"));
    }
    let checks = Checks::new(&atomic.model, Some(&[]));
    let used = symmetries.as_ref().map(|(symmetries, way)| (symmetries, *way));
    let all = SearchOptions { properties: Some(Vec::new()), deadlock: DeadlockMode::Off, ..options.clone() };
    let mut search = Search::of_all(&mut machine, used, &all, &checks, observer);
    let judge = Judge {
        interpreter: &interpreter,
        atomic: &atomic,
        property,
        store_passing: options.store_passing || temporal.positions == Positions::All,
        classes: classes.as_ref(),
    };
    let found = judge.run(&mut search, &mut pool, separation);
    let states = search.machine.count(&search.reached.clone());
    report.searches.push(ProductReport {
        instances: interpreter.instances(&entry.parameters, &entry.locals).collect(),
        automaton: (1, 0),
        symmetry: symmetries.as_ref().map_or(UsedSymmetry::None, |(it, _)| UsedSymmetry::Whole(it.order().clone())),
        parts: None,
        states: saturated(&states),
        transitions: 0,
        memory_bytes: search.machine.diagrams.peak() as u64 * NODE_BYTES,
    });
    match found {
        Ok(None) => Ok(report),
        Ok(Some((trace, remarks))) => {
            report.verdict = Verdict::Violated;
            (report.trace, report.remarks) = (Some(trace), remarks);
            report.stop_reason = Some(StopReason::Violation);
            Ok(report)
        }
        Err(NoRun::Halt(halt)) => unfinished(report, stop_reason(&halt, bytes)),
        Err(NoRun::Unknown(fault)) if fault.kind == FaultKind::Exhausted => {
            unfinished(report, StopReason::Exhausted(fault))
        }
        Err(NoRun::Unknown(fault)) => unfinished(report, StopReason::Fault(fault)),
        Err(NoRun::Error(error)) => Err(error.into()),
    }
}

/// A violated claim: a run that illustrates it, and what the run does not show.
type Illustration = (Trace, Vec<String>);

/// What is judged.
struct Judge<'a, 'm> {
    interpreter: &'a Interpreter<'m>,
    atomic: &'a AtomicModel,
    property: PropertyId,
    store_passing: bool,
    classes: Option<&'a Classes<'a, 'm>>,
}

impl Judge<'_, '_> {
    /// Reaches all states, and looks for an instance of the formula that does not hold in all starts.
    fn run(
        &self,
        search: &mut Search<'_, '_>,
        pool: &mut Formulas,
        separation: Separation,
    ) -> Result<Option<Illustration>, NoRun> {
        match search.run() {
            Ok(()) => {}
            Err(Halt::Found(states)) => return Err(self.without_value(search, &states)),
            Err(halt) => return Err(halt.into()),
        }
        let entry = &self.interpreter.model().properties[self.property];
        let mut tree = Tree::new(search, self.store_passing)?;
        if let Some(classes) = self.classes {
            tree.add_classes(classes)?;
        }
        let starts = tree.starts()?;
        for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
            let mut labels = Vec::with_capacity(self.atomic.atoms.len());
            for (&atom, mentioned) in self.atomic.atoms.iter().zip(&self.atomic.mentioned) {
                let own: Vec<i64> = mentioned.iter().map(|&position| arguments[position]).collect();
                labels.push(self.label(&mut tree, atom, &own)?);
            }
            tree.decide(pool, &separation.steps, labels)?;
            let holds = tree.states_of(pool, separation.condition)?;
            let wrong = tree.diagrams().without(&starts, &holds)?;
            if tree.diagrams().is_empty(&wrong) {
                continue;
            }
            let violation = Violation::Temporal { property: self.property, arguments };
            let names = &entry.formula.temporal().expect("it is one").names;
            return tree
                .illustrate(self.interpreter, (pool, &separation), &wrong, violation, names, self.classes)
                .map(Some);
        }
        Ok(None)
    }

    /// Why a search ends in states in which an assumption has no value.
    fn without_value(&self, search: &Search<'_, '_>, states: &Set) -> NoRun {
        let state = search.machine.pick(states);
        let failing = state.and_then(|state| {
            let assumptions = self.interpreter.model().properties.iter_enumerated();
            let mut assumptions = assumptions.filter(|(_, entry)| entry.kind == PropertyKind::Assumption);
            assumptions.find_map(|(property, entry)| {
                let mut instances = self.interpreter.instances(&entry.parameters, &entry.locals);
                instances.find_map(|arguments| self.interpreter.holds(property, &arguments, &state).err())
            })
        });
        failing.map_or(NoRun::Error(EngineError::Rebuild("an assumption has a value after all")), NoRun::Unknown)
    }

    /// Where an atom is true, if it has a value everywhere.
    fn label(&self, tree: &mut Tree<'_, '_, '_>, atom: PropertyId, arguments: &[i64]) -> Result<Set, NoRun> {
        let claims = &tree.search.machine.claims;
        let claim = claims.iter().find(|claim| claim.property == atom && claim.arguments == arguments);
        let claim = claim.ok_or(NoRun::Error(EngineError::Rebuild("an atom has no function")))?;
        let (holds, fault) = (claim.holds.clone(), claim.fault.clone());
        let stored = tree.stored.clone();
        let failing = tree.diagrams().common(&stored, &fault)?;
        if let Some(state) = tree.search.machine.pick(&failing) {
            let layout = self.interpreter.layout();
            let value = Interpreter::new(&self.atomic.model, layout).holds(atom, arguments, &state);
            return Err(match value {
                Err(fault) => NoRun::Unknown(fault),
                Ok(_) => NoRun::Error(EngineError::Rebuild("an atom has a value after all")),
            });
        }
        Ok(tree.diagrams().common(&stored, &holds)?)
    }
}

/// What is treated fairly, as relations.
pub(crate) struct Class {
    pub(crate) strength: Fairness,
    /// Instances of rules, and their relations with the arguments that belong to the class.
    pub(crate) members: Vec<(usize, Relation)>,
    /// Where it can take a step.
    pub(crate) enabled: Set,
}

/// The states of a model and the formulas that hold in them.
pub(crate) struct Tree<'t, 's, 'm> {
    pub(crate) search: &'t mut Search<'s, 'm>,
    /// All states that can be reached.
    whole: Set,
    /// Those that formulas are about, and the others.
    pub(crate) stored: Set,
    pub(crate) passing: Set,
    /// Stored states in which a run stays forever.
    pub(crate) stuck: Set,
    pub(crate) classes: Vec<Class>,
    /// Where an infinite run that counts begins, once it is known.
    live: Option<Set>,
    /// The states where each atom of the formula is true.
    labels: Vec<Set>,
    /// The same for its quantified path formulas.
    values: Vec<Set>,
}

impl<'t, 's, 'm> Tree<'t, 's, 'm> {
    /// The states that a finished search has reached.
    fn new(search: &'t mut Search<'s, 'm>, store_passing: bool) -> Result<Self, NoRun> {
        let reached = search.reached.clone();
        let whole = search.orbits_of(&reached)?;
        let empty = search.machine.diagrams.empty().clone();
        let passing = match store_passing {
            true => empty.clone(),
            false => search.machine.diagrams.common(&whole, &search.machine.passing.clone())?,
        };
        let stored = search.machine.diagrams.without(&whole, &passing)?;
        let mut tree = Self {
            search,
            whole,
            stored: stored.clone(),
            passing,
            stuck: empty,
            classes: Vec::new(),
            live: None,
            labels: Vec::new(),
            values: Vec::new(),
        };
        let moving = tree.next(&stored)?;
        let still = tree.diagrams().without(&stored, &moving)?;
        // A run that ends in an error is none that stays.
        let mut faults = Vec::new();
        for number in 0..tree.search.machine.rules.len() {
            faults.push(tree.search.machine.fault(number)?);
        }
        let whole = tree.whole.clone();
        let failing = quotient_booleans::Logic::any(tree.diagrams(), faults)?;
        let failing = tree.diagrams().common(&failing, &whole)?;
        let passing = tree.passing.clone();
        let leading = tree.reach_back(&failing, &passing)?;
        let leading = tree.diagrams().common(&leading, &passing)?;
        let before = tree.before(&leading)?;
        let failing = tree.diagrams().union(&failing, &before)?;
        let stuck = tree.diagrams().without(&still, &failing)?;
        tree.stuck = stuck.clone();
        let into = tree.before(&whole)?;
        let endless = tree.diagrams().common(&stuck, &into)?;
        if !tree.diagrams().is_empty(&endless) {
            return Err(NoRun::Unknown(Fault {
                kind: FaultKind::Exhausted,
                span: Span::default(),
                message: "a run stays in an atomic sequence forever, where a temporal formula sees no state".into(),
            }));
        }
        Ok(tree)
    }

    /// The package of diagrams.
    pub(crate) fn diagrams(&mut self) -> &mut crate::diagrams::Diagrams {
        &mut self.search.machine.diagrams
    }

    /// Adds what is treated fairly.
    fn add_classes(&mut self, classes: &Classes<'_, '_>) -> Result<(), NoRun> {
        let nothing = Valuation(Vec::new());
        let mut members: Vec<Vec<(usize, Relation)>> = vec![Vec::new(); classes.len()];
        for number in 0..self.search.machine.rules.len() {
            let action = self.search.machine.rules[number].action;
            let Some(singles) = self.search.machine.singles(number)? else {
                return Err(NoRun::Error(EngineError::Refused("a rule has too many instances to treat them fairly")));
            };
            for (arguments, relation) in singles {
                for class in classes.of(action, &arguments, Before::Plain(&nothing)) {
                    members[class as usize].push((number, relation.clone()));
                }
            }
        }
        // A step leads on if it leads to a state that a formula is about, at once or through transient ones.
        let (stored, passing) = (self.stored.clone(), self.passing.clone());
        let onward = self.reach_back(&stored, &passing)?;
        for (members, strength) in members.into_iter().zip(classes.strengths()) {
            if strength != Fairness::None {
                let enabled = self.before_by(&members, &onward)?;
                self.classes.push(Class { strength, members, enabled });
            }
        }
        Ok(())
    }

    /// The states that formulas are about in which runs begin.
    fn starts(&mut self) -> Result<Set, NoRun> {
        let initial = self.search.machine.initial.clone();
        let initial = self.search.machine.assumed(&initial)?;
        let passing = self.passing.clone();
        let reached = self.reach_on(&initial, &passing)?;
        let stored = self.stored.clone();
        Ok(self.diagrams().common(&reached, &stored)?)
    }

    /// The states with a step into a set.
    pub(crate) fn before(&mut self, states: &Set) -> Result<Set, NoRun> {
        self.search.pause()?;
        let before = self.search.machine.any_preimage(states)?;
        let whole = self.whole.clone();
        Ok(self.diagrams().common(&before, &whole)?)
    }

    /// The stored states with a step of a class into a set.
    pub(crate) fn before_class(&mut self, class: usize, states: &Set) -> Result<Set, NoRun> {
        let members = self.classes[class].members.clone();
        self.before_by(&members, states)
    }

    fn before_by(&mut self, members: &[(usize, Relation)], states: &Set) -> Result<Set, NoRun> {
        let mut all = self.diagrams().empty().clone();
        for (number, relation) in members {
            let own = self.search.machine.preimage_by(*number, relation, states)?;
            all = self.diagrams().union(&all, &own)?;
        }
        let stored = self.stored.clone();
        Ok(self.diagrams().common(&all, &stored)?)
    }

    /// The states with a step into a set, or that are repeated in it.
    fn before_or_staying(&mut self, states: &Set) -> Result<Set, NoRun> {
        let before = self.before(states)?;
        let stuck = self.stuck.clone();
        let staying = self.diagrams().common(states, &stuck)?;
        Ok(self.diagrams().union(&before, &staying)?)
    }

    /// The stored states whose next one, for some run, is in a set of stored states.
    fn next(&mut self, states: &Set) -> Result<Set, NoRun> {
        let passing = self.passing.clone();
        let into = self.reach_back(states, &passing)?;
        let before = self.before_or_staying(&into)?;
        let stored = self.stored.clone();
        Ok(self.diagrams().common(&before, &stored)?)
    }

    /// The states in a goal, and those inside from which one of them can be reached through states inside.
    pub(crate) fn reach_back(&mut self, goal: &Set, inside: &Set) -> Result<Set, NoRun> {
        Ok(self.search.reach_back(goal, inside)?)
    }

    /// The states of a set, and those that can be reached from them through states inside; the last may be outside.
    fn reach_on(&mut self, from: &Set, inside: &Set) -> Result<Set, NoRun> {
        let onward = |machine: &mut Machine<'_>, number: usize, states: &Set| {
            let moving = machine.diagrams.common(states, inside)?;
            machine.image(number, &moving)
        };
        let whole = self.whole.clone();
        Ok(self.search.closure(from, &whole, onward)?)
    }

    /// The states of a set inside another, and those that can be reached from them without leaving it.
    pub(crate) fn reach_within(&mut self, from: &Set, inside: &Set) -> Result<Set, NoRun> {
        Ok(self.search.closure(from, inside, Machine::image)?)
    }

    /// Whether there are transient states.
    pub(crate) fn has_passing(&self) -> bool {
        !self.search.machine.diagrams.is_empty(&self.passing)
    }

    /// Stored states and transient ones.
    pub(crate) fn with_passing(&mut self, states: &Set) -> Result<Set, NoRun> {
        let passing = self.passing.clone();
        Ok(self.diagrams().union(states, &passing)?)
    }

    /// The largest set inside in which a run that counts can stay from everywhere, with transient states.
    pub(crate) fn staying(&mut self, inside: &Set) -> Result<Set, NoRun> {
        let mut all = self.with_passing(inside)?;
        loop {
            let before = all.clone();
            loop {
                let leading = self.before_or_staying(&all)?;
                let fewer = self.diagrams().common(&all, &leading)?;
                if fewer == all {
                    break;
                }
                all = fewer;
            }
            if self.has_passing() {
                let stored = self.stored.clone();
                let goal = self.diagrams().common(&all, &stored)?;
                all = self.reach_back(&goal, &all)?;
            }
            for number in 0..self.classes.len() {
                let (taken, idle) = self.satisfied(number, &all)?;
                all = match self.classes[number].strength {
                    Fairness::None => all,
                    Fairness::Weak => {
                        let goal = self.diagrams().union(&taken, &idle)?;
                        self.reach_back(&goal, &all)?
                    }
                    Fairness::Strong => {
                        let leading = self.reach_back(&taken, &all)?;
                        let enabled = self.classes[number].enabled.clone();
                        let neglecting = self.diagrams().without(&enabled, &leading)?;
                        self.diagrams().without(&all, &neglecting)?
                    }
                };
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// The stored states of a set in which a class takes a step within it, and those in which it is not enabled.
    pub(crate) fn satisfied(&mut self, class: usize, inside: &Set) -> Result<(Set, Set), NoRun> {
        let taken = self.before_class(class, inside)?;
        let taken = self.diagrams().common(&taken, inside)?;
        let stored = self.stored.clone();
        let here = self.diagrams().common(inside, &stored)?;
        let enabled = self.classes[class].enabled.clone();
        let idle = self.diagrams().without(&here, &enabled)?;
        Ok((taken, idle))
    }

    /// The stored states in which an infinite run that counts begins.
    pub(crate) fn live(&mut self) -> Result<Set, NoRun> {
        if self.live.is_none() {
            let stored = self.stored.clone();
            let stays = self.staying(&stored)?;
            let whole = self.whole.clone();
            let live = self.reach_back(&stays, &whole)?;
            self.live = Some(self.diagrams().common(&live, &stored)?);
        }
        Ok(self.live.clone().expect("it was found above"))
    }

    /// Decides quantified path formulas, from the inside to the outside.
    fn decide(&mut self, pool: &mut Formulas, steps: &[PathStep], labels: Vec<Set>) -> Result<(), NoRun> {
        (self.labels, self.values) = (labels, Vec::new());
        for step in steps {
            let (_, operator) = step.existential(pool);
            let mut states = self.some_path(pool, operator)?;
            if step.quantifier == PathQuantifier::All {
                let stored = self.stored.clone();
                states = self.diagrams().without(&stored, &states)?;
            }
            self.values.push(states);
        }
        Ok(())
    }

    /// The stored states in which a run begins that satisfies an operator.
    fn some_path(&mut self, pool: &Formulas, operator: CtlOperator) -> Result<Set, NoRun> {
        let found = match operator {
            CtlOperator::Next(a) => {
                let goal = self.live_where(pool, a)?;
                self.next(&goal)?
            }
            CtlOperator::Until(a, b) => {
                let (through, goal) = (self.states_of(pool, a)?, self.live_where(pool, b)?);
                let through = self.with_passing(&through)?;
                self.reach_back(&goal, &through)?
            }
            CtlOperator::Release(a, b) => {
                let inside = self.states_of(pool, b)?;
                let (released, stays) = (self.released(pool, a, b)?, self.staying(&inside)?);
                let goal = self.diagrams().union(&released, &stays)?;
                let through = self.with_passing(&inside)?;
                self.reach_back(&goal, &through)?
            }
            CtlOperator::None => return Err(NoRun::Error(EngineError::Rebuild("only formulas of CTL are decided"))),
        };
        let stored = self.stored.clone();
        Ok(self.diagrams().common(&found, &stored)?)
    }

    /// The states in which a condition holds and a run that counts begins.
    pub(crate) fn live_where(&mut self, pool: &Formulas, condition: Formula) -> Result<Set, NoRun> {
        let (states, live) = (self.states_of(pool, condition)?, self.live()?);
        Ok(self.diagrams().common(&states, &live)?)
    }

    /// The states in which `b` is released: both hold, and a run begins.
    pub(crate) fn released(&mut self, pool: &Formulas, a: Formula, b: Formula) -> Result<Set, NoRun> {
        let (one, other) = (self.live_where(pool, a)?, self.states_of(pool, b)?);
        Ok(self.diagrams().common(&one, &other)?)
    }

    /// The states in which a boolean combination of atoms and steps is true.
    pub(crate) fn states_of(&mut self, pool: &Formulas, condition: Formula) -> Result<Set, NoRun> {
        let (stored, nothing) = (self.stored.clone(), self.diagrams().empty().clone());
        let mut values: FxHashMap<Formula, Set> = FxHashMap::default();
        for part in pool.subformulas(condition) {
            let value = match pool.node(part) {
                Node::True => stored.clone(),
                Node::False => nothing.clone(),
                Node::Atom(atom) => {
                    let number = atom.0 as usize;
                    let known = self.labels.len();
                    if number < known { self.labels[number].clone() } else { self.values[number - known].clone() }
                }
                Node::Not(a) => self.diagrams().without(&stored, &values[a])?,
                Node::And(parts) => {
                    let mut all = stored.clone();
                    for part in parts {
                        all = self.diagrams().common(&all, &values[part])?;
                    }
                    all
                }
                Node::Or(parts) => {
                    let mut any = nothing.clone();
                    for part in parts {
                        any = self.diagrams().union(&any, &values[part])?;
                    }
                    any
                }
                _ => return Err(NoRun::Error(EngineError::Rebuild("a condition has no temporal operators"))),
            };
            values.insert(part, value);
        }
        Ok(values.remove(&condition).expect("a formula is one of its parts"))
    }
}
