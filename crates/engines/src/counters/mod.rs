//! Checking with counted objects: where values are freely interchangeable, a state is how many of them are in which
//! local state, and the shared part (counter abstraction). It is exact: a state with counted objects stands for all
//! states that differ by a permutation, and nothing else.
//!
//! `columns` says which cells belong to objects, `world` has the cells by entities, `machine` and `execution` evaluate
//! and execute on them, `canonical` is the stored form, `steps` has the steps and the values of properties, `store` and
//! `search` the states, `orbits` how many states of the model they represent, and `concrete` runs of the model. The
//! reference interpreter replays these.
//!
//! What the evaluator does not show exactly is refused, with the place. That values are interchangeable is what the text
//! shows ([`quotient_symmetry::symmetries_of_text`]), checked there.

mod canonical;
mod columns;
mod concrete;
mod execution;
mod machine;
mod orbits;
mod search;
mod steps;
mod store;
mod world;

use quotient_ir::{Action, Interpreter, Layout, Model, Outcome, PropertyKind, Span, Trace, Violation, replay};
use quotient_symmetry::TextSymmetries;

use crate::explicit::judge::Checks;
use crate::observer::Observer;
use crate::options::SearchOptions;
use crate::report::{EngineError, Figures, Report, RuleFirings, StopReason};
use crate::verdicts::{Verdicts, failure};
use columns::Scheme;
use concrete::{NoRun, Runs};
use search::{End, Search, Wrong, WrongKind};

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

/// Checks a model with counters for the values that its text shows to be freely interchangeable.
///
/// # Errors
/// If counters do not show what the model does, or there is a defect of this program.
pub fn check_by_counters(
    model: &Model,
    layout: &Layout,
    text: &TextSymmetries,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<CountersReport, CountersError> {
    let checks = Checks::new(model, options.properties.as_deref());
    let unsupported = |kind: PropertyKind| match kind {
        PropertyKind::Passing => Some("states that are passed through"),
        PropertyKind::Constraint => Some("a constraint"),
        PropertyKind::AlwaysReachable => Some("what can always be reached, for each of several values,"),
        _ => None,
    };
    for (id, property) in model.properties.iter_enumerated() {
        let is_live = property.kind == PropertyKind::AlwaysReachable;
        let is_asked = !is_live || checks.liveness.contains(&id) && !property.parameters.is_empty();
        if let Some(what) = unsupported(property.kind).filter(|_| is_asked) {
            let reason = format!("{what} cannot be decided with them");
            return Err(Refused { reason, span: property.span }.into());
        }
    }
    let scheme = Scheme::new(model, layout, text)?;
    let interpreter = Interpreter::new(model, layout).until(&observer.interrupt());
    let mut search = Search::new(&scheme, &interpreter, (&checks, options), observer);
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
            Err(NoRun::Unknown(fault)) => StopReason::Exhausted(fault),
            Err(NoRun::Refused(refused)) => return Err(refused.into()),
            Err(NoRun::Error(error)) => return Err(error.into()),
        }),
    };
    if is_finished {
        for &property in &checks.liveness {
            let Some(keys) = search.dead_end(property)? else { continue };
            match trace(&runs, Wrong { keys, kind: WrongKind::Unreachable(property) }, options) {
                Ok(trace) => {
                    verdicts.conclude(trace);
                }
                Err(NoRun::Unknown(fault)) => {
                    stop_reason = Some(StopReason::Exhausted(fault));
                    verdicts.leave_open();
                }
                Err(NoRun::Refused(refused)) => return Err(refused.into()),
                Err(NoRun::Error(error)) => return Err(error.into()),
            }
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
        memory_bytes: search.store.memory(),
        words: layout.words(),
        ..Figures::default()
    };
    let mut report = verdicts.report(stop_reason, figures);
    report.never_fired = is_finished.then(|| search.never_fired());
    let families = scheme.families.iter().map(|family| family.size).collect();
    Ok(CountersReport { report, families, most_entities: search.most_entities, tokens: search.tokens })
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
        return Err(NoRun::Unknown(fault.clone()));
    }
    let trace = Trace::new(steps, Some(violation));
    replay(interpreter, &trace).map_err(EngineError::from)?;
    Ok(trace)
}
