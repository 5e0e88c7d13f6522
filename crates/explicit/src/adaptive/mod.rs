//! Adaptive symmetry reduction (Wahl: Adaptive Symmetry Reduction, 2007): a search for safety
//! properties of models that are only partly symmetric.
//!
//! Each state is annotated with a partition of the members of families: members of the same cell have not been
//! distinguished on the path to it. It represents all its images under permutations inside the cells. A state that
//! represents no more than another one is not explored. The partition of each rule is computed from the text and
//! certified ([`quotient_symmetry::PartialSymmetry`]), by default only when the rule may fire.

mod comparison;
mod count;
mod guarded;
mod initial;
mod partitions;
mod search;
mod stepper;
mod trace;

pub use guarded::{GuardedEdge, GuardedQuotient, guarded_quotient};

use quotient_ir::{Interpreter, Model, PropertyId, PropertyKind, RuleId, Spent, TableIndex};
use quotient_symmetry::{Arrangement, Desk, DetectionError, PartialRefusal, PartialSymmetry, Partition, Uncertified};

use crate::explore::OneProcess;
use quotient_search::{EngineError, Observer, Report, SearchOptions, SearchOrder, StoreMode};
use quotient_states::check_quotient;
use quotient_systems::{ReductionPlan, SpecialisedSystem};

/// The largest number of annotated states returned at the end.
const HAND_OUT_LIMIT: usize = 1 << 20;

/// When the partitions of rules are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionTime {
    /// On demand, and not at all for a model that distinguishes no members: it is searched with the symmetries of the
    /// whole model.
    IfNeeded,
    /// When a state is found in which the rule may fire: rules for which this never happens cost nothing (Wahl and
    /// D'Silva: A Lazy Approach to Symmetry Reduction).
    #[default]
    Lazy,
    /// Before the search.
    Eager,
}

/// The result of an adaptive search.
#[derive(Clone, Debug)]
pub struct AdaptiveReport {
    /// Verdicts and counts. `states` counts annotated states that are not transient. `represented` counts the states of
    /// the model that they represent, each once, unless that is too expensive.
    pub report: Report,
    /// The number of annotated states that were not expanded because one found later represents more.
    pub removed: u64,
    /// The number of different partitions.
    pub partitions: usize,
    /// The partition of each rule, if it was computed.
    pub rules: Vec<(RuleId, Option<Partition>)>,
    /// The annotated states: packed state and partition. Empty if no members are distinguished and the search was not
    /// explicitly requested.
    pub annotated: Vec<(Vec<u64>, Partition)>,
}

/// Why there is no adaptive search.
#[derive(Debug, thiserror::Error)]
pub enum AdaptiveError {
    /// The model is not supported.
    #[error("adaptive reduction does not apply: {0}")]
    Refused(#[from] PartialRefusal),
    /// A request that an adaptive search cannot answer.
    #[error("adaptive reduction does not apply: {0}")]
    Unsupported(String),
    /// A defect of this program.
    #[error(transparent)]
    Uncertified(Box<Uncertified>),
    /// The limits on time or work were reached before the partitions of rules were computed.
    #[error(transparent)]
    GaveUp(#[from] Spent),
    /// The search failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<DetectionError> for AdaptiveError {
    fn from(error: DetectionError) -> Self {
        match error {
            DetectionError::Uncertified(error) => Self::Uncertified(error),
            DetectionError::GaveUp(spent) => Self::GaveUp(spent),
        }
    }
}

/// Searches the reachable states of a model by annotated states and checks its properties. Its partial symmetry must
/// have been prepared with the properties that are checked.
///
/// # Errors
/// If this reduction does not support the model or the options, if a violation cannot be replayed, or if a comparison
/// shows a difference; the latter two are defects of this program and never a verdict.
pub fn check_adaptive(
    partial: &mut PartialSymmetry<'_>,
    options: &SearchOptions,
    time: PartitionTime,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    let mut adaptive = match time {
        PartitionTime::Lazy | PartitionTime::Eager => search_annotated(partial, options, time, observer),
        PartitionTime::IfNeeded => search_partial(partial, options, observer),
    }?;
    if options.cross_check {
        let comparison = comparison::compare(partial, &adaptive, options, observer)?;
        adaptive.report.cross_check = Some(comparison);
    }
    Ok(adaptive)
}

/// Searches annotated states.
fn search_annotated(
    partial: &mut PartialSymmetry<'_>,
    options: &SearchOptions,
    time: PartitionTime,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    refuse(partial.model(), options)?;
    let interpreter = Interpreter::new(partial.model(), partial.layout());
    let system = SpecialisedSystem::new(&interpreter);
    let mut found = search::run(partial, &system, &interpreter, options, time, observer)?;
    system.fired().report(None, &mut found.report);
    Ok(found)
}

/// The same, but if a model distinguishes no members at all, the permutations of its families are symmetries, and it is
/// searched with them.
fn search_partial(
    partial: &mut PartialSymmetry<'_>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    let (model, layout) = (partial.model(), partial.layout());
    refuse(model, options)?;
    let coarsest = partial.coarsest();
    let plan = partial.whole_group()?.and_then(|(group, order)| ReductionPlan::of_group(model, layout, group, order));
    let Some(plan) = plan else { return search_annotated(partial, options, PartitionTime::Lazy, observer) };
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::new(&interpreter);
    // The comparison with the unreduced search uses the annotated states.
    let own = SearchOptions { cross_check: false, dense_from: None, ..options.clone() };
    let (report, exploration) = check_quotient(&OneProcess, &evaluator, &interpreter, &plan, &own, observer)?;
    let mut annotated = Vec::new();
    if options.cross_check && report.stop_reason.is_none() && report.states <= HAND_OUT_LIMIT as u64 {
        let states = exploration.store.numbers().map(|number| exploration.store.state(number));
        let arrangement = Arrangement::new(partial.families(), layout);
        let (mut desk, cells) = (Desk::default(), coarsest.cells());
        annotated.extend(states.map(|state| {
            let mut state = state.to_vec();
            arrangement.canonicalize(&mut desk, &mut state, &cells);
            (state, coarsest.clone())
        }));
    }
    let rules = model.rules.indices().map(|rule| (rule, Some(coarsest.clone()))).collect();
    Ok(AdaptiveReport { report, removed: 0, partitions: 1, rules, annotated })
}

/// Refuses what adaptive searches do not support.
fn refuse(model: &Model, options: &SearchOptions) -> Result<(), AdaptiveError> {
    let properties = checked_properties(model, options);
    let liveness =
        properties.iter().find(|&&property| model.properties[property].kind == PropertyKind::AlwaysReachable);
    if let Some(&property) = liveness {
        let name = model.properties[property].name.clone();
        let name = name.unwrap_or_else(|| format!("number {}", property.position() + 1));
        return Err(AdaptiveError::Unsupported(format!(
            "it decides what can be reached, and liveness property `{name}` asks for more"
        )));
    }
    if options.store != StoreMode::Exact {
        return Err(AdaptiveError::Unsupported("it stores every annotated state exactly".to_owned()));
    }
    if options.spill.is_some() {
        return Err(AdaptiveError::Unsupported("it keeps all annotated states in memory".to_owned()));
    }
    if options.checkpoint.is_some() || options.resume.is_some() {
        return Err(AdaptiveError::Unsupported("it cannot be interrupted and continued later".to_owned()));
    }
    if options.order != SearchOrder::BreadthFirst {
        return Err(AdaptiveError::Unsupported("it searches breadth-first only".to_owned()));
    }
    Ok(())
}

/// The properties that a search checks, and assumptions, which are not claims.
fn checked_properties(model: &Model, options: &SearchOptions) -> Vec<PropertyId> {
    let is_checked = |id: PropertyId| options.properties.as_ref().is_none_or(|selected| selected.contains(&id));
    let checked = model.properties.iter_enumerated();
    checked.filter(|(id, property)| !property.kind.is_claim() || is_checked(*id)).map(|(id, _)| id).collect()
}
