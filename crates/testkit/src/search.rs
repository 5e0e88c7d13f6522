//! Searches for tests: of a whole model, by a plan, compared with the unreduced one, or adaptive.

use quotient_explicit::{AdaptiveError, AdaptiveReport, PartitionTime};
use quotient_ir::{Budget, Layout, Model, PropertyId};
use quotient_representatives::Strategy;
use quotient_search::{CrossCheck, EngineError, Extent, Observer, Report, SearchOptions, StopReason};
use quotient_symmetry::{PartialSymmetry, Preserved};
use quotient_systems::{ReductionPlan, SymmetrySource};

/// Finds the symmetries of a model, without a time limit, and plans how to use them.
///
/// # Errors
/// As for [`quotient_systems::plan`].
pub fn plan(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    source: SymmetrySource,
    strategy: Option<Strategy>,
) -> Result<ReductionPlan, EngineError> {
    quotient_systems::plan(model, layout, Preserved::Properties(properties), source, strategy, &Budget::unlimited())
}

/// Searches all states of a model.
///
/// # Errors
/// As for [`quotient_explicit::check`].
pub fn check(model: &Model, options: &SearchOptions, observer: &mut dyn Observer) -> Result<Report, EngineError> {
    quotient_explicit::check(model, &Layout::new(model)?, None, options, observer)
}

/// Searches a model as planned.
///
/// # Errors
/// As for [`quotient_explicit::check`].
pub fn check_with(
    model: &Model,
    layout: &Layout,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    quotient_explicit::check(model, layout, Some(plan), options, observer)
}

/// Searches a model as planned and compares with the unreduced search.
///
/// If the plan has no reduction, the search is its own comparison.
///
/// # Errors
/// As for [`quotient_explicit::check`].
pub fn cross_check(
    model: &Model,
    layout: &Layout,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, CrossCheck), EngineError> {
    let options = SearchOptions { cross_check: true, ..options.clone() };
    let mut report = quotient_explicit::check(model, layout, Some(plan), &options, observer)?;
    let comparison = report.cross_check.take().unwrap_or_else(|| CrossCheck {
        whole: Box::new(report.clone()),
        extent: match &report.stop_reason {
            None => Extent::Everything,
            Some(StopReason::Violation) => Extent::Verdicts,
            Some(reason) => Extent::Nothing(reason.clone()),
        },
    });
    Ok((report, comparison))
}

/// Searches a model by annotated states.
///
/// # Errors
/// As for [`quotient_explicit::check_adaptive`], and if adaptive reduction does not support the model.
pub fn check_adaptive(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    time: PartitionTime,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    let is_checked = |id: PropertyId| options.properties.as_ref().is_none_or(|selected| selected.contains(&id));
    let properties = model.properties.iter_enumerated();
    let properties: Vec<PropertyId> =
        properties.filter(|(id, property)| !property.kind.is_claim() || is_checked(*id)).map(|(id, _)| id).collect();
    let mut partial = PartialSymmetry::new(model, layout, &properties, &Budget::unlimited())?;
    quotient_explicit::check_adaptive(&mut partial, options, time, observer)
}
