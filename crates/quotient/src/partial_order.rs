//! The choice whether a search takes a part of the steps where that suffices.
//!
//! If that is left open, a search takes all steps, and a part of them is tried beside it: see [`crate::schedule`].

use std::sync::Arc;

use quotient_ir::Interrupt;
use quotient_relations as relations;
use quotient_search::{SearchOptions, SearchOrder, StopReason, StoreMode, TemporalParts};

use crate::error::Error;
use crate::found::Found;
use crate::options::{PartialOrder, Reduction};
use crate::plan::{Plan, Refusal, permits_partial_order};
use crate::report::PartialOrderReport;
use crate::schedule::trials;

/// The options of a search with what partial order needs, if it has to be used; and what to report about it.
///
/// # Errors
/// If it cannot be used.
pub(crate) fn applied(
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<(SearchOptions, Option<PartialOrderReport>), Error> {
    let search = plan.search.clone();
    if plan.options.partial_order != PartialOrder::On {
        return Ok((search, None));
    }
    match relations::relations(plan.model.ir(), plan.model.layout(), &search, interrupt) {
        Ok(relations) => {
            let search = SearchOptions { partial_order: Some(Arc::new(relations)), ..search };
            Ok((search, Some(PartialOrderReport { unused: None })))
        }
        // A run that is stopped says so itself.
        Err(reason) if interrupt.is_raised() => Ok((search, Some(PartialOrderReport { unused: Some(reason) }))),
        Err(reason) => Err(Refusal::PartialOrder(reason).into()),
    }
}

/// Whether a search with a part of the steps is tried beside one with all of them.
pub(crate) fn is_tried(plan: &Plan) -> bool {
    let Plan { options, search, .. } = plan;
    options.partial_order == PartialOrder::Auto
        && permits_partial_order(options)
        && search.order == SearchOrder::BreadthFirst
        && search.store == StoreMode::Exact
        && search.max_depth.is_none()
        && search.checkpoint.is_none()
        && search.resume.is_none()
}

/// Whether a search for a temporal property takes a part of the steps. `found` is what the search of the states found.
pub(crate) fn for_temporal(plan: &Plan, found: &Found) -> TemporalParts {
    let report = &found.report;
    let ended = report.stop_reason.as_ref().is_none_or(|reason| *reason == StopReason::Violation);
    match plan.options.partial_order {
        PartialOrder::On => TemporalParts::Always,
        PartialOrder::Auto
            if permits_partial_order(&plan.options)
                && plan.options.reduction == Reduction::Auto
                && plan.search.max_depth.is_none()
                && plan.searches_states()
                && ended =>
        {
            let is_partial = found.partial_order.as_ref().is_some_and(|it| it.unused.is_none());
            trials::parts_of_formula(report.states, report.transitions, is_partial)
        }
        _ => TemporalParts::Never,
    }
}
