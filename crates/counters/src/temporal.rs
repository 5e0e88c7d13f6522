//! Temporal formulas on counted objects: the graph of all states is that of the orbits under the permutations that preserve
//! every condition of the formula, so it satisfies the same formulas of CTL* as the graph of the model. What a formula
//! says about one object, it says about one that is tracked.
//!
//! Fairness to single objects is refused: a step of the graph does not say which of several objects takes it, and a cycle
//! that treats the counted objects fairly as a whole may leave one of them out.

use std::ops::ControlFlow;

use quotient_ir::{
    Fairness, FaultKind, Interpreter, Layout, Model, Outcome as Concrete, PropertyId, PropertyKind, Temporal,
    TemporalClaim, Trace, Violation, replay,
};
use quotient_temporal::Atom;

use super::columns::Scheme;
use super::concrete::{NoRun, Runs, counted, starts};
use super::steps::{Outcome, Stepper, Steps, Truth};
use super::store::{Number, Store};
use super::tracked::Tracked;
use super::{CountersError, Refused, refuse_unsupported};
use quotient_graphs::tree::{
    Ending, Evidence, GraphBuilder, Path, StateSet, TreeError, TreeOptions, accepted_path, check_tree,
};
use quotient_graphs::{ProductReport, TemporalReport, UsedSymmetry, negated, remarks};
use quotient_search::{
    Checks, EngineError, FairnessMode, Observer, Progress, SearchOptions, StopReason, Verdict, failure,
};

/// States between reports of progress.
const INTERVAL: u32 = 512;

/// Checks a temporal property with counters.
///
/// # Errors
/// If counters do not show what the model does or what the property says, or there is a defect of this program.
pub fn check_temporal_by_counters(
    model: &Model,
    layout: &Layout,
    property: PropertyId,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<TemporalReport, CountersError> {
    let entry = &model.properties[property];
    let refused = |reason: &str| Refused { reason: reason.to_owned(), span: entry.span };
    let Some(temporal) = entry.formula.temporal() else {
        return Err(EngineError::Refused("the property is not temporal").into());
    };
    if let TemporalClaim::Behaviour(_) = temporal.claim {
        return Err(refused("a claim about events cannot be decided with them").into());
    }
    refuse_fairness(model, options)?;
    refuse_unsupported(model)?;
    let tracked = Tracked::new(model, layout, property, PropertyKind::Atom)?;
    let mut report = TemporalReport::new(property, options.fairness);
    let unfinished = |mut report: TemporalReport, reason: StopReason| {
        report.verdict = Verdict::Inconclusive;
        report.stop_reason = Some(reason);
        Ok(report)
    };
    let Some(text) = tracked.symmetries(&observer.interrupt())? else {
        return unfinished(report, StopReason::Withdrawn);
    };
    let scheme = Scheme::new(&tracked.model, &tracked.layout, &text)?;
    let interpreter = Interpreter::new(&tracked.model, &tracked.layout).until(&observer.interrupt());
    let runs = Runs { scheme: &scheme, interpreter: &interpreter };
    let mut explored = Explored::new(temporal.atoms.len(), &scheme);
    let found = explored.explore(&tracked, &runs, options, observer);
    report.searches.push(ProductReport {
        instances: Interpreter::new(model, layout).instances(&entry.parameters, &entry.locals).collect(),
        automaton: (1, 0),
        symmetry: UsedSymmetry::Counted(scheme.families.iter().map(|family| family.size).collect()),
        parts: None,
        states: explored.store.len() as u64,
        transitions: explored.transitions,
        memory_bytes: explored.memory(),
    });
    let illustration = match found.and_then(|()| explored.judge(temporal, options, observer)) {
        Ok(None) => return Ok(report),
        Ok(Some(illustration)) => illustration,
        Err(NoVerdict::Stopped(reason)) => return unfinished(report, reason),
        Err(NoVerdict::Error(error)) => return Err(error),
    };
    let trace = match explored.run_along(&runs, &illustration.0) {
        Ok(trace) => trace,
        Err(NoRun::Unknown(reason)) => return unfinished(report, reason),
        Err(NoRun::Refused(refused)) => return Err(refused.into()),
        Err(NoRun::Error(error)) => return Err(error.into()),
    };
    let (mut trace, arguments) = tracked.untracked(trace);
    trace.violation = Some(Violation::Temporal { property, arguments });
    replay(&Interpreter::new(model, layout), &trace).map_err(EngineError::from)?;
    report.verdict = Verdict::Violated;
    (report.trace, report.remarks) = (Some(trace), illustration.1);
    report.stop_reason = Some(StopReason::Violation);
    Ok(report)
}

fn refuse_fairness(model: &Model, options: &SearchOptions) -> Result<(), Refused> {
    let reason =
        "fairness cannot be decided with them: a step does not say which of several objects takes it".to_owned();
    if options.fairness != FairnessMode::None {
        return Err(Refused { reason, span: Default::default() });
    }
    match model.rules.iter().find(|rule| rule.fairness != Fairness::None) {
        Some(rule) => Err(Refused { reason, span: rule.span }),
        None => Ok(()),
    }
}

/// Why a formula has no verdict.
enum NoVerdict {
    Stopped(StopReason),
    Error(CountersError),
}

impl From<StopReason> for NoVerdict {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

impl<E: Into<CountersError>> From<E> for NoVerdict {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// The states found, and the graph of their steps.
struct Explored<'s> {
    stepper: Stepper<'s>,
    store: Store,
    builder: GraphBuilder,
    transitions: u64,
    /// The states in which a run stays forever.
    stays: StateSet,
}

impl<'s> Explored<'s> {
    fn new(atoms: usize, scheme: &'s Scheme<'s>) -> Self {
        let (stepper, builder) = (Stepper::new(scheme), GraphBuilder::new(atoms));
        Self { stepper, store: Store::default(), builder, transitions: 0, stays: StateSet::default() }
    }

    /// Builds the graph of all states.
    fn explore(
        &mut self,
        tracked: &Tracked,
        runs: &Runs<'_>,
        options: &SearchOptions,
        observer: &mut dyn Observer,
    ) -> Result<(), NoVerdict> {
        let scheme = runs.scheme;
        let checks = Checks::new(&tracked.model, Some(&[]));
        for (start, arguments) in starts(runs.interpreter) {
            // A start that goes wrong begins no run.
            if tracked.is_first(scheme, &arguments)
                && let Concrete::Next { state, .. } = runs.interpreter.run_start(start, &arguments)
            {
                let key = counted(scheme, &state)?.stored.key;
                let known = self.store.len();
                if let Some(number) = self.number(runs, &checks, options, &key, None)?
                    && self.store.len() > known
                {
                    self.builder.start(number);
                }
            }
        }
        let (mut next, mut depth, mut level_end): (Number, u64, usize) = (0, 0, self.store.len());
        while (next as usize) < self.store.len() {
            if next as usize == level_end {
                (depth, level_end) = (depth + 1, self.store.len());
                if let Some(limit) = options.max_depth.filter(|&limit| depth > limit) {
                    return Err(StopReason::DepthLimit(limit).into());
                }
            }
            if next % INTERVAL == 0 {
                self.report(next, depth, options, observer)?;
            }
            self.expand(next, tracked, runs, &checks, options)?;
            next += 1;
        }
        Ok(())
    }

    fn expand(
        &mut self,
        number: Number,
        tracked: &Tracked,
        runs: &Runs<'_>,
        checks: &Checks,
        options: &SearchOptions,
    ) -> Result<(), NoVerdict> {
        self.stepper.load(self.store.key(number));
        for (atom, &condition) in (0..).zip(&tracked.conditions) {
            match self.stepper.truth(condition, true)? {
                Truth::True => self.builder.label(Atom(atom), number),
                Truth::False => {}
                Truth::Fault => return Err(self.without_value(runs, condition, self.store.keys_to(Some(number)))),
            }
        }
        let mut taken = Steps::default();
        self.stepper.expand(self.store.key(number), &mut taken)?;
        let mut ending = Ending::Stays;
        let mut targets: Vec<Number> = Vec::new();
        for firing in &taken.firings {
            match &firing.outcome {
                Outcome::Next { next, .. } => {
                    self.transitions =
                        self.transitions.saturating_add(u64::try_from(firing.weight).unwrap_or(u64::MAX));
                    targets.extend(self.number(runs, checks, options, taken.key(next), Some(number))?);
                }
                Outcome::Pruned => {}
                Outcome::Fault => ending = Ending::Stops,
            }
        }
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            self.builder.edge(target);
        }
        if self.builder.end_state(ending).is_some() {
            self.stays.insert(number);
        }
        Ok(())
    }

    /// The number of a state, unless an assumption drops it.
    fn number(
        &mut self,
        runs: &Runs<'_>,
        checks: &Checks,
        options: &SearchOptions,
        key: &[u8],
        origin: Option<Number>,
    ) -> Result<Option<Number>, NoVerdict> {
        if let Some(number) = self.store.number(key) {
            return Ok(Some(number));
        }
        if !checks.assumptions.is_empty() {
            self.stepper.load(key);
            for &property in &checks.assumptions {
                match self.stepper.truth(property, false)? {
                    Truth::True => {}
                    Truth::False => return Ok(None),
                    Truth::Fault => {
                        let mut keys = self.store.keys_to(origin);
                        keys.push(key.to_vec());
                        return Err(self.without_value(runs, property, keys));
                    }
                }
            }
        }
        if let Some(limit) = options.max_states.filter(|&limit| self.store.len() as u64 >= limit) {
            return Err(StopReason::StateLimit(limit).into());
        }
        if self.store.len() as u64 == u64::from(Number::MAX) {
            return Err(StopReason::TooManyStates.into());
        }
        Ok(Some(self.store.push(key, origin)))
    }

    /// Why a condition without a value in the last of some states leaves the formula undecided.
    fn without_value(&self, runs: &Runs<'_>, property: PropertyId, keys: Vec<Vec<u8>>) -> NoVerdict {
        let steps = match runs.through(&keys) {
            Ok(steps) => steps,
            Err(NoRun::Unknown(reason)) => return reason.into(),
            Err(NoRun::Refused(refused)) => return refused.into(),
            Err(NoRun::Error(error)) => return error.into(),
        };
        let last = steps.last().and_then(|step| failure(runs.interpreter, property, &step.state, true));
        match last.as_ref().and_then(Violation::fault) {
            Some(fault) if fault.kind == FaultKind::Exhausted => StopReason::Exhausted(fault.clone()).into(),
            Some(fault) => StopReason::Fault(fault.clone()).into(),
            None => EngineError::Rebuild("a condition has no value with counted objects only").into(),
        }
    }

    fn memory(&self) -> u64 {
        self.store.memory() + self.builder.memory_bytes()
    }

    fn report(
        &self,
        next: Number,
        depth: u64,
        options: &SearchOptions,
        observer: &mut dyn Observer,
    ) -> Result<(), StopReason> {
        let states = self.store.len() as u64;
        let (transitions, frontier, memory_bytes) = (self.transitions, states - u64::from(next), self.memory());
        let progress = Progress { states, transitions, frontier, depth, memory_bytes };
        if let ControlFlow::Break(reason) = observer.progress(&progress) {
            return Err(reason);
        }
        match options.max_memory {
            Some(limit) if self.memory() > limit => Err(StopReason::MemoryLimit(limit)),
            _ => Ok(()),
        }
    }

    /// A path that shows that a claim does not hold, and what it does not show.
    fn judge(
        &mut self,
        temporal: &Temporal,
        options: &SearchOptions,
        observer: &mut dyn Observer,
    ) -> Result<Option<(Path, Vec<String>)>, NoVerdict> {
        let (states, memory_bytes) = (self.store.len() as u64, self.memory());
        let progress = Progress { states, transitions: self.transitions, frontier: 0, depth: 0, memory_bytes };
        let mut poll = || observer.progress(&progress);
        let max_memory = options.max_memory.map(|limit| limit.saturating_sub(memory_bytes));
        let graph = std::mem::replace(&mut self.builder, GraphBuilder::new(0)).build();
        let TemporalClaim::Branching { pool, formula } = &temporal.claim else {
            let path = accepted_path(&graph, &negated(temporal)?, max_memory, &mut poll)?;
            return Ok(path.map(|path| (path, Vec::new())));
        };
        let mut pool = pool.clone();
        let tree = TreeOptions { fairness: None, max_memory };
        let answer = match check_tree(&graph, &mut pool, *formula, &tree, &mut poll) {
            Ok(answer) => answer,
            Err(TreeError::Stopped(reason)) => return Err(reason.into()),
            Err(error) => return Err(EngineError::Formula(error.to_string()).into()),
        };
        if answer.holds_everywhere() {
            return Ok(None);
        }
        let Evidence { path, open } = answer.evidence.expect("a start that violates the formula has evidence");
        let remarks = remarks(&pool, temporal, &open, &|position| position);
        Ok(Some((path, remarks)))
    }

    /// A run of the model along a path.
    fn run_along(&self, runs: &Runs<'_>, path: &Path) -> Result<Trace, NoRun> {
        let keys: Vec<&[u8]> = path.states.iter().map(|&state| self.store.key(state)).collect();
        let last = path.states.iter().position(|&state| self.stays.contains(state));
        match (last, path.cycle) {
            // The rest of the path is in that state.
            (Some(last), _) => Ok(Trace::new(runs.through(&keys[..=last])?, None)),
            (None, Some(begin)) => runs.lasso(&keys, begin),
            (None, None) => Ok(Trace::new(runs.through(&keys)?, None)),
        }
    }
}
