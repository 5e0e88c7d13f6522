//! Searches with counted objects: what the text shows to be interchangeable, the engine, and what is refused.

use std::sync::Arc;

use quotient_counters::{CountedRuns, Counters, CountersBounds, CountersError, CountersQuestion, CountersReport};
use quotient_graphs::TemporalReport;
use quotient_ir::{Budget, Iteration, Parameter, PropertyId, Source, TypeId, TypeKind};
use quotient_search::{SearchOptions, StopReason, Verdict};
use quotient_symmetry::{Preserved, TextSymmetries, symmetries_of_text};

use crate::control::{Control, Follower, Phase};
use crate::error::Error;
use crate::found::{Found, stopped};
use crate::model::Model;
use crate::plan::{Plan, Refusal, refuse_counters};
use crate::schedule::trials::{self, Counting};
use crate::search::{answer, unfinished, within_memory};

/// What an attempt may take besides states: a state takes longer with each sort of objects in it.
const TRIAL: CountersBounds = CountersBounds { starts: 64, sorts: 16 };

/// The sorts that interchangeable values are in at a time, usually.
const SORTS: u64 = 2;

/// What was found, and the most tokens in a cell and in all, if the model counts tokens.
pub(crate) type Explored = (Found, Option<(u64, u64)>);

/// Reads the text, and searches with counters for what is interchangeable.
pub(crate) fn search(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let Plan { model, search, properties, .. } = plan;
    let text = text(model, properties, control);
    if let Some(reason) = control.check() {
        return Ok(stopped(plan, None, reason, control));
    }
    let text = text.ok_or_else(too_large)?;
    run(model, &text, (search, CountersBounds::default()), control).map(|(found, _)| found)
}

/// The same where a check is free to choose, if many values are interchangeable, and few states suffice ([`trials`]).
pub(crate) fn try_search(plan: &Plan, control: &Control) -> Result<Option<Found>, Error> {
    let Plan { model, search, properties, .. } = plan;
    let Some((text, most_states)) = tried(plan, properties, false, control) else { return Ok(None) };
    let search = SearchOptions { max_states: Some(most_states), ..search.clone() };
    match run(model, &text, (&search, TRIAL), control) {
        Ok((found, _)) if matches!(found.report.stop_reason, None | Some(StopReason::Violation)) => Ok(Some(found)),
        Err(error @ Error::Internal(_)) => Err(error),
        _ => Ok(None),
    }
}

/// What the text shows, and how many states may be stored, if it shows many interchangeable values.
fn tried(
    plan: &Plan,
    properties: &[PropertyId],
    is_temporal: bool,
    control: &Control,
) -> Option<(Arc<TextSymmetries>, u64)> {
    let is_net = plan.model.ir().holds_only_amounts();
    if !may_count(plan, trials::counted_values(is_net) as u64, is_temporal) {
        return None;
    }
    let text = text(&plan.model, properties, control)?;
    let most_states = trials::counting(most_values(&text), is_net)?;
    Some((text, most_states))
}

/// The most interchangeable values of a type.
fn most_values(text: &TextSymmetries) -> usize {
    text.free().iter().map(|(_, values)| values.len()).max().unwrap_or(0)
}

/// Whether nothing was asked for that counters do not do, or not in the same way.
fn may_count(plan: &Plan, values: u64, is_temporal: bool) -> bool {
    let Plan { model, options, search, .. } = plan;
    let is_bounded = search.max_states.is_some() || search.max_depth.is_some();
    // The text is read only if objects may have local states.
    let ir = model.ir();
    let has_many = ir.types.iter().any(|ty| match ty.kind {
        TypeKind::Array { index, .. } => ir.domain(index).size() >= values,
        _ => false,
    });
    has_many && !is_bounded && options.workers.is_none() && refuse_counters(options, search, is_temporal).is_ok()
}

/// Checks a temporal property of a net where a check is free to choose, as [`try_search`] does.
pub(crate) fn try_temporal(
    plan: &Plan,
    property: PropertyId,
    search: &SearchOptions,
    control: &Control,
) -> Result<Option<TemporalReport>, Error> {
    if !plan.model.ir().holds_only_amounts() {
        return Ok(None);
    }
    let Some((_, most_states)) = tried(plan, &[property], true, control) else { return Ok(None) };
    control.enter(Phase::Searching);
    let search = SearchOptions { max_states: Some(most_states), ..search.clone() };
    match check_temporal(&plan.model, property, &search, control) {
        Ok(report) if report.verdict != Verdict::Inconclusive => Ok(Some(report)),
        Err(error @ Error::Internal(_)) => Err(error),
        _ => Ok(None),
    }
}

/// Checks a temporal property.
pub(crate) fn check_temporal(
    model: &Model,
    property: PropertyId,
    search: &SearchOptions,
    control: &Control,
) -> Result<TemporalReport, Error> {
    let job = model.job(search.clone(), property);
    answer(CountedRuns, job, Follower::new(control, None), control)?.map_err(|error| error_of(model.source(), error))
}

/// The states of a model.
pub(crate) fn explore(model: &Model, search: &SearchOptions, control: &Control) -> Result<Explored, Error> {
    let text = text(model, &[], control);
    if let Some(reason) = control.check() {
        return Ok((Found::new(None, unfinished(model, search, reason, control)), None));
    }
    run(model, &text.ok_or_else(too_large)?, (&counting(search), CountersBounds::default()), control)
}

/// What a trial with counters came to.
pub(crate) enum Trial {
    Explored(Box<Explored>),
    /// There are more states than it may store.
    TooManyStates,
    /// Too few values are interchangeable, or counters do not suit.
    Unsuited,
}

/// The same for a model with many interchangeable values, and within bounds unless there are very many values.
pub(crate) fn try_explore(model: &Model, search: &SearchOptions, control: &Control) -> Result<Trial, Error> {
    let Some(text) = text(model, &[], control) else { return Ok(Trial::Unsuited) };
    let search = counting(search);
    let (is_trial, max_states, bounds) =
        match trials::counting_of_net(most_values(&text), instances_in_state(model, &text)) {
            Counting::No => return Ok(Trial::Unsuited),
            Counting::Within(states) => (true, Some(states), TRIAL),
            Counting::Whole => (false, search.max_states, CountersBounds::default()),
        };
    match run(model, &text, (&SearchOptions { max_states, ..search }, bounds), control) {
        Ok(explored) => Ok(match explored.0.report.stop_reason {
            Some(StopReason::StateLimit(_)) if is_trial => Trial::TooManyStates,
            Some(_) if is_trial => Trial::Unsuited,
            _ => Trial::Explored(Box::new(explored)),
        }),
        Err(error @ Error::Internal(_)) => Err(error),
        Err(_) => Ok(Trial::Unsuited),
    }
}

/// About how many instances of rules are tried in a state: of interchangeable values, a few are.
fn instances_in_state(model: &Model, text: &TextSymmetries) -> u64 {
    let ir = model.ir();
    let families: Vec<TypeId> = text.roles(ir).iter().filter(|role| role.is_free()).map(|role| role.ty).collect();
    let of_parameter = |parameter: &Parameter| match parameter.range {
        Iteration::Over(ty) if families.contains(&ty) => SORTS,
        Iteration::Over(ty) => ir.domain(ty).size(),
        Iteration::Steps { .. } => 1,
    };
    let of_rule = |parameters: &[Parameter]| parameters.iter().map(of_parameter).fold(1, u64::saturating_mul);
    ir.rules.iter().map(|rule| of_rule(&rule.parameters)).fold(1, u64::saturating_add)
}

/// Options with which it is counted how often rules fire.
fn counting(search: &SearchOptions) -> SearchOptions {
    SearchOptions { statistics: true, ..search.clone() }
}

fn text(model: &Model, properties: &[PropertyId], control: &Control) -> Option<Arc<TextSymmetries>> {
    control.enter(Phase::Detecting);
    let budget = Budget::until(control.interrupt());
    symmetries_of_text(model.ir(), model.layout(), Preserved::Properties(properties), &budget)
        .ok()
        .flatten()
        .map(Arc::new)
}

fn too_large() -> Refusal {
    Refusal::Engine("--engine counters: the text is too large to be read for symmetries".into())
}

fn run(
    model: &Model,
    text: &Arc<TextSymmetries>,
    (search, bounds): (&SearchOptions, CountersBounds),
    control: &Control,
) -> Result<Explored, Error> {
    control.enter(Phase::Searching);
    let question = CountersQuestion { text: Arc::clone(text), bounds };
    let job = model.job(within_memory(search, control), question);
    let found = answer(Counters, job, Follower::new(control, None), control)?;
    let found = found.map_err(|error| error_of(model.source(), error))?;
    let CountersReport { report, families, most_entities, tokens } = found;
    let sizes: Vec<String> = families.iter().map(u64::to_string).collect();
    let sizes = sizes.join(" and ");
    let counted = format!("{sizes} interchangeable values are counted, in at most {most_entities} sorts at a time");
    Ok((Found { notes: vec![counted.clone()], counted: Some(counted), ..Found::new(None, report) }, tokens))
}

fn error_of(source: &Source, error: CountersError) -> Error {
    let message = error.to_string();
    match error {
        CountersError::Engine(error) => Error::of_engine(source, error),
        CountersError::Refused(refused) if refused.span == Default::default() => Refusal::Engine(message).into(),
        CountersError::Refused(refused) => Error::unsupported(source, message, refused.span),
    }
}
