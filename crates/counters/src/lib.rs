//! Checking with counted objects: where values are freely interchangeable, a state is how many of them are in which
//! local state, and the shared part (counter abstraction; [why so](../../../docs/adr/0042-counted-objects.md)). It is
//! exact: a state with counted objects stands for all states that differ by a permutation, and nothing else. Knows no
//! other engine.
//!
//! * `columns` says which cells belong to objects, `world` has the cells by entities; `machine` and `execution`
//!   evaluate and execute on them (`watches`: loops over families, `sums`: those that only add up).
//! * `canonical` is the stored form (`numbered`: [by numbers of rows](../../../docs/adr/0054-states-by-numbers.md)).
//! * `steps` has the steps and the values of properties; `moves` and `local` the [steps that are
//!   known](../../../docs/adr/0051-local-steps-are-known.md) already, `known` and `facts` the conditions.
//! * `store` and `search` have the states, `orbits` how many states of the model they represent, `concrete` runs of
//!   the model, which the reference interpreter replays.
//! * `tracked` is a model that follows the objects of a property; `temporal` has the graph of all states, and formulas
//!   on it.
//!
//! What the evaluator does not show exactly is refused, with the place. That values are interchangeable is what the
//! text shows ([`quotient_symmetry::symmetries_of_text`]), checked there. To count more, see `columns` (which
//! declarations have columns) and `execution` (when iterations cannot notice each other).

mod canonical;
mod cell;
mod columns;
mod concrete;
mod door;
mod execution;
mod facts;
mod known;
mod local;
mod machine;
mod moves;
mod numbered;
mod orbits;
mod search;
mod steps;
mod store;
mod sums;
mod temporal;
mod tracked;
mod watches;
mod world;

use quotient_ir::{
    Action, DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Span, Trace, Violation, replay,
};
use quotient_symmetry::TextSymmetries;

use columns::Scheme;
use concrete::{NoRun, Runs};
pub use door::{CountedRuns, Counters, CountersQuestion};
use quotient_search::{
    Checks, EngineError, Figures, Observer, Report, RuleFirings, SearchOptions, StopReason, Verdicts, failure,
};
use search::{End, Search, Wrong, WrongKind};
pub use temporal::check_temporal_by_counters;
use tracked::Tracked;

/// The part of a model that counters do not show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// The reason.
    pub reason: String,
    /// The place.
    pub span: Span,
}

/// Why a model cannot be checked with counters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountersError {
    /// A part of the model is not shown by counters.
    #[error("the model cannot be checked with counters: {0}")]
    Refused(Refused),
    /// As in other searches.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The result of a search with counters.
#[derive(Clone, Debug)]
pub struct CountersReport {
    /// The verdicts and runs.
    pub report: Report,
    /// The number of values of each family that was counted.
    pub families: Vec<u64>,
    /// The greatest number of entities in a state.
    pub most_entities: usize,
    /// The most tokens in a cell and in a state, if the model counts tokens.
    pub tokens: Option<(u64, u64)>,
}

/// How much a search that is only tried may take. Beyond it, it ends as interrupted.
#[derive(Clone, Copy, Debug)]
pub struct CountersBounds {
    /// The largest number of instances of starts: each is run on its own.
    pub starts: usize,
    /// The largest number of sorts of objects in a state.
    pub sorts: usize,
}

/// No bounds.
impl Default for CountersBounds {
    fn default() -> Self {
        Self { starts: usize::MAX, sorts: usize::MAX }
    }
}

/// Checks a model with counters for the values that its text shows to be freely interchangeable.
///
/// # Errors
/// If counters do not show what the model does, or there is a defect of this program.
pub fn check_by_counters(
    model: &Model,
    layout: &Layout,
    text: &TextSymmetries,
    (options, bounds): (&SearchOptions, CountersBounds),
    observer: &mut dyn Observer,
) -> Result<CountersReport, CountersError> {
    let checks = Checks::new(model, options.properties.as_deref());
    refuse_unsupported(model)?;
    let scheme = Scheme::new(model, layout, text)?;
    let interpreter = Interpreter::new(model, layout).until(&observer.interrupt());
    let mut search = Search::new(&scheme, &interpreter, (&checks, options, bounds), None, observer);
    let end = search.run();
    let is_finished = matches!(end, End::Finished);
    let mut verdicts = Verdicts::new(model, &checks, options, is_finished, &search.covered);
    let runs = Runs { scheme: &scheme, interpreter: &interpreter };
    let mut stop_reason = match end {
        End::Finished => None,
        End::Stopped(reason) => Some(reason),
        End::Refused(refused) => return Err(refused.into()),
        End::Found(wrong) => Some(match trace(&runs, wrong, options) {
            Ok(trace) => verdicts.conclude(trace),
            Err(NoRun::Unknown(reason)) => reason,
            Err(NoRun::Refused(refused)) => return Err(refused.into()),
            Err(NoRun::Error(error)) => return Err(error.into()),
        }),
    };
    for &property in checks.liveness.iter().filter(|_| is_finished) {
        let dead_end = match model.properties[property].parameters.is_empty() {
            true => search
                .dead_end(property)?
                .map(|keys| trace(&runs, Wrong { keys, kind: WrongKind::Unreachable(property) }, options)),
            false => dead_end_of_tracked(model, layout, property, options, search.observer).transpose(),
        };
        match dead_end.transpose() {
            Ok(None) => {}
            Ok(Some(trace)) => {
                verdicts.conclude(trace);
            }
            Err(NoRun::Unknown(reason)) => {
                stop_reason = Some(reason);
                verdicts.leave_open();
            }
            Err(NoRun::Refused(refused)) => return Err(refused.into()),
            Err(NoRun::Error(error)) => return Err(error.into()),
        }
    }
    let is_counted = options.statistics && is_finished && search.orbits.is_some();
    let firings = is_counted.then(|| {
        let rules = search.firings.iter_enumerated();
        rules.map(|(rule, times)| RuleFirings { rules: vec![rule], times: times.clone() }).collect()
    });
    let depth = search.depth();
    let levels = search.levels.iter().copied().take_while(|&states| states > 0).collect();
    let figures = Figures {
        states: search.store.len() as u64,
        represented: search.represented.clone(),
        transitions: search.transitions,
        depth,
        levels: Some(levels),
        firings,
        memory_bytes: search.memory(),
        words: layout.words(),
        ..Figures::default()
    };
    let mut report = verdicts.report(stop_reason, figures);
    report.never_fired = is_finished.then(|| search.never_fired());
    let families = scheme.families.iter().map(|family| family.size).collect();
    Ok(CountersReport { report, families, most_entities: search.most_entities, tokens: search.tokens })
}

/// A run to a state from which a property with parameters cannot be reached for some valuation, or has no value. The
/// objects of the valuation are tracked in a search of their own.
fn dead_end_of_tracked(
    model: &Model,
    layout: &Layout,
    property: PropertyId,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Option<Trace>, NoRun> {
    let tracked = Tracked::new(model, layout, property, PropertyKind::AlwaysReachable)?;
    let Some(text) = tracked.symmetries(&observer.interrupt())? else {
        return Err(NoRun::Unknown(StopReason::Withdrawn));
    };
    let scheme = Scheme::new(&tracked.model, &tracked.layout, &text)?;
    let interpreter = Interpreter::new(&tracked.model, &tracked.layout).until(&observer.interrupt());
    let checks = Checks::new(&tracked.model, Some(&tracked.conditions));
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..options.clone() };
    let mut search =
        Search::new(&scheme, &interpreter, (&checks, &options, CountersBounds::default()), Some(&tracked), observer);
    let (keys, is_wrong) = match search.run() {
        End::Finished => match search.dead_end(tracked.conditions[0])? {
            Some(keys) => (keys, false),
            None => return Ok(None),
        },
        End::Stopped(reason) => return Err(NoRun::Unknown(reason)),
        End::Refused(refused) => return Err(refused.into()),
        End::Found(wrong) => (wrong.keys, true),
    };
    let runs = Runs { scheme: &scheme, interpreter: &interpreter };
    let (mut trace, arguments) = tracked.untracked(Trace::new(runs.through(&keys)?, None));
    let interpreter = Interpreter::new(model, layout);
    trace.violation = match trace.steps.last() {
        Some(last) if is_wrong => failure(&interpreter, property, &last.state, true),
        _ => Some(Violation::Unreachable { property, arguments }),
    };
    if trace.violation.is_none() {
        return Err(EngineError::Rebuild("what is wrong with tracked objects is not wrong").into());
    }
    replay(&interpreter, &trace).map_err(EngineError::from)?;
    Ok(Some(trace))
}

/// Refuses models whose states counters do not show.
fn refuse_unsupported(model: &Model) -> Result<(), Refused> {
    for property in model.properties.iter() {
        let what = match property.kind {
            PropertyKind::Passing => "states that are passed through",
            PropertyKind::Constraint => "a constraint",
            _ => continue,
        };
        let reason = format!("{what} cannot be decided with them");
        return Err(Refused { reason, span: property.span });
    }
    Ok(())
}

/// The run of the model to what is wrong, which the interpreter confirms.
fn trace(runs: &Runs<'_>, wrong: Wrong, options: &SearchOptions) -> Result<Trace, NoRun> {
    let steps = runs.through(&wrong.keys)?;
    let missing = || NoRun::Error(EngineError::Rebuild("what is wrong with counted objects is not wrong"));
    let last = || steps.last().map(|step| &step.state).ok_or_else(missing);
    let interpreter = runs.interpreter;
    let violation = match wrong.kind {
        WrongKind::Start(start, arguments) => {
            let Outcome::Fault(fault) = interpreter.run_start(start, &arguments) else { return Err(missing()) };
            Violation::Fault { action: Action::Start(start), arguments, fault }
        }
        WrongKind::Property(property) => failure(interpreter, property, last()?, false).ok_or_else(missing)?,
        WrongKind::PropertyFault(property) => failure(interpreter, property, last()?, true).ok_or_else(missing)?,
        WrongKind::Rule(rule, chosen) => {
            let (arguments, fault) = runs.fault(rule, &chosen, last()?)?;
            Violation::Fault { action: Action::Rule(rule), arguments, fault }
        }
        WrongKind::Deadlock => Violation::Deadlock(options.deadlock),
        WrongKind::Unreachable(property) => Violation::Unreachable { property, arguments: Vec::new() },
    };
    if let Some(fault) = violation.fault().filter(|fault| fault.kind == quotient_ir::FaultKind::Exhausted) {
        return Err(NoRun::Unknown(StopReason::Exhausted(fault.clone())));
    }
    let trace = Trace::new(steps, Some(violation));
    replay(interpreter, &trace).map_err(EngineError::from)?;
    Ok(trace)
}
