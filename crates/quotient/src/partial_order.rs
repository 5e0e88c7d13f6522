//! The choice whether a search takes a part of the steps where that suffices.

use std::sync::Arc;

use quotient_engines::SearchOptions;
use quotient_engines::partial_order::Relations;
use quotient_ir::Interrupt;
use quotient_symmetry::Strategy;

use crate::error::Error;
use crate::options::{Options, PartialOrder, Reduction};
use crate::plan::{Plan, Refusal};
use crate::report::PartialOrderReport;

/// The options of a search with what partial order needs, if it is used; and what to report about it.
///
/// # Errors
/// If it has to be used and cannot.
pub(crate) fn applied(
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<(SearchOptions, Option<PartialOrderReport>), Error> {
    let search = plan.search.clone();
    let wish = plan.options.partial_order;
    if wish == PartialOrder::Off || (wish == PartialOrder::Auto && plan.options.exact_counts) {
        return Ok((search, None));
    }
    let relations = match obstacle(&plan.options, !plan.temporal.is_empty()) {
        Some(reason) => Err(reason.to_owned()),
        None if wish == PartialOrder::Auto => {
            Relations::with_little_work(plan.model.ir(), plan.model.layout(), &search, interrupt)
        }
        None => Relations::of(plan.model.ir(), plan.model.layout(), &search, interrupt),
    };
    match relations {
        Ok(relations) => {
            let search = SearchOptions { partial_order: Some(Arc::new(relations)), ..search };
            Ok((search, Some(PartialOrderReport { unused: None })))
        }
        // A run that is stopped says so itself.
        Err(reason) if wish == PartialOrder::Auto || interrupt.is_raised() => {
            Ok((search, Some(PartialOrderReport { unused: Some(reason) })))
        }
        Err(reason) => Err(Refusal::PartialOrder(reason).into()),
    }
}

/// Why options or temporal properties need all steps.
pub(crate) fn obstacle(options: &Options, has_temporal: bool) -> Option<&'static str> {
    let is_marked = matches!(
        options.reduction,
        Reduction::By(Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical)
    );
    match () {
        () if has_temporal => Some("temporal properties need all steps"),
        () if options.reduction == Reduction::Adaptive => Some("adaptive reduction needs all steps"),
        () if is_marked => Some("with markers, the states that are stored depend on the order"),
        () if options.cross_check => Some("a cross-check compares all states"),
        () if options.statistics => Some("how often rules fire would not be exact"),
        () if options.violations.collects() => Some("only the first violation is preserved"),
        () if options.exact_counts => Some("--exact-counts counts all states"),
        () => None,
    }
}
