//! Adaptive symmetry reduction (Wahl: Adaptive Symmetry Reduction, 2007): a search for safety
//! properties of models that are only partly symmetric.
//!
//! Each state is annotated with the partition of the members of families that the path to it has not
//! told apart, and stands for all that permutations inside of the cells make of it. A state that stands
//! for no more than another one is not explored. The partition of each rule is computed from the text
//! and certified ([`quotient_symmetry::PartialSymmetry`]), by default only when the rule may fire.

mod count;
mod guarded;
mod initial;
mod partitions;
mod search;
mod stepper;
mod trace;

pub use guarded::{GuardedEdge, GuardedQuotient, guarded_quotient};

use quotient_ir::{Interpreter, Layout, Model, PropertyId, PropertyKind, RuleId, TableIndex};
use quotient_symmetry::{PartialRefusal, PartialSymmetry, Partition, Uncertified};

use crate::evaluator::SpecialisedSystem;
use crate::observer::Observer;
use crate::options::{SearchOptions, SearchOrder};
use crate::report::{EngineError, Report};

/// When the partitions of rules are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionTime {
    /// When a state is met in which the rule may fire: what is never met costs nothing (Wahl and
    /// D'Silva: A Lazy Approach to Symmetry Reduction).
    #[default]
    Lazy,
    /// Before the search.
    Eager,
}

/// The result of an adaptive search.
#[derive(Clone, Debug)]
pub struct AdaptiveReport {
    /// Verdicts and counts. `states` counts annotated states, `represented` the states of the model that
    /// they stand for, each once, unless that is too much work.
    pub report: Report,
    /// How many annotated states were not expanded, because one found later stands for more.
    pub removed: u64,
    /// How many different partitions there were.
    pub partitions: usize,
    /// The partition of each rule, unless nobody asked.
    pub rules: Vec<(RuleId, Option<Partition>)>,
    /// The annotated states, for those who want to look: packed state and partition.
    pub annotated: Vec<(Vec<u64>, Partition)>,
}

/// Why there is no adaptive search.
#[derive(Debug, thiserror::Error)]
pub enum AdaptiveError {
    /// The model is beyond it.
    #[error("adaptive reduction does not apply: {0}")]
    Refused(#[from] PartialRefusal),
    /// Something is asked that it cannot answer.
    #[error("adaptive reduction does not apply: {0}")]
    Unsupported(String),
    /// A mistake in this program.
    #[error(transparent)]
    Uncertified(#[from] Uncertified),
    /// The search went wrong.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Searches the reachable states of a model by annotated states and checks its properties.
///
/// # Errors
/// If the model or what is asked of it is beyond this reduction, or a violation cannot be replayed,
/// which is a defect of this program and never a verdict.
pub fn check_adaptive(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    time: PartitionTime,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    let mut partial = PartialSymmetry::new(model, layout, &checked_properties(model, options))?;
    check_prepared(&mut partial, options, time, observer)
}

/// The same for a model whose partial symmetry is being looked at already. It must have been prepared
/// with the properties that are checked.
///
/// # Errors
/// As for [`check_adaptive`].
pub fn check_prepared(
    partial: &mut PartialSymmetry<'_>,
    options: &SearchOptions,
    time: PartitionTime,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    let model = partial.model();
    let properties = checked_properties(model, options);
    let liveness = properties.iter().find(|&&property| model.properties[property].kind == PropertyKind::Liveness);
    if let Some(&property) = liveness {
        let name = model.properties[property].name.clone();
        let name = name.unwrap_or_else(|| format!("number {}", property.position() + 1));
        return Err(AdaptiveError::Unsupported(format!(
            "it decides what can be reached, and liveness property `{name}` asks for more"
        )));
    }
    if options.store != crate::options::StoreMode::Exact {
        return Err(AdaptiveError::Unsupported("it stores every annotated state exactly".to_owned()));
    }
    if options.checkpoint.is_some() || options.resume.is_some() {
        return Err(AdaptiveError::Unsupported("it cannot be interrupted and continued later".to_owned()));
    }
    if options.order != SearchOrder::BreadthFirst {
        return Err(AdaptiveError::Unsupported("it searches breadth-first only".to_owned()));
    }
    let interpreter = Interpreter::new(model, partial.layout());
    let system = SpecialisedSystem::new(&interpreter);
    search::run(partial, &system, &interpreter, options, time, observer)
}

/// The properties that a search checks, assumptions included.
fn checked_properties(model: &Model, options: &SearchOptions) -> Vec<PropertyId> {
    let is_checked = |id: PropertyId| options.properties.as_ref().is_none_or(|selected| selected.contains(&id));
    let checked = model.properties.iter_enumerated();
    checked
        .filter(|(id, property)| property.kind == PropertyKind::Assumption || is_checked(*id))
        .map(|(id, _)| id)
        .collect()
}
