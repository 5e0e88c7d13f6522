//! A search of the model with strict quantifiers, if its text then shows more symmetries
//! ([why](../../../docs/adr/0022-symmetry-from-the-text.md)).

use quotient_ir::{Budget, Expr, Interpreter, Trace, replay};
use quotient_search::PropertyReport;
use quotient_symmetry::{Preserved, symmetries_of_text};

use crate::control::Control;
use crate::found::Found;
use crate::options::{Engine, Reduction, Symmetry};
use crate::plan::Plan;
use crate::schedule::FREE_DETECTION;

/// The plan for the model with strict quantifiers; none if that shows no more symmetries. Not if it matters which error
/// comes first, or if another run must search the same model.
pub(crate) fn strict(plan: &Plan, control: &Control) -> Option<Plan> {
    let options = &plan.options;
    let uses_symmetries = options.symmetry == Symmetry::Auto
        && !matches!(options.reduction, Reduction::None | Reduction::Adaptive)
        && !plan.search.violations.collects();
    let is_alone =
        options.workers.is_none() && options.checkpoint.is_none() && options.resume.is_none() && !options.cross_check;
    let (model, layout) = (plan.model.ir(), plan.model.layout());
    let has_quantifiers = model.pool.expressions().iter().any(|it| matches!(it, Expr::Quantified { .. }));
    if !uses_symmetries || !is_alone || !has_quantifiers || control.check().is_some() {
        return None;
    }
    let preserved = Preserved::Properties(&plan.properties);
    // Counters have no other source of symmetries, so what was asked for may take as long as it does.
    let budget = match options.engine {
        Engine::Counters => Budget::until(control.interrupt()),
        _ => Budget::new(FREE_DETECTION, control.interrupt().clone()),
    };
    let plain = symmetries_of_text(model, layout, preserved, &budget).ok().flatten()?;
    let (strict, _) = plain.with_strict_quantifiers(model, layout, preserved, &budget).ok().flatten()?;
    Some(Plan { model: plan.model.with_ir(strict), ..plan.clone() })
}

/// Whether the runs that a search of the strict model found are runs of the plain one. A search that ends with a run-time
/// error which this order of values does not show has none.
pub(crate) fn are_runs(found: &Found, plain: &Plan) -> bool {
    let interpreter = Interpreter::new(plain.model.ir(), plain.model.layout());
    let report = &found.report;
    let traces = report
        .properties
        .iter()
        .flat_map(|PropertyReport { trace, other_traces, .. }| trace.iter().chain(other_traces.iter()));
    let is_run = |trace: &Trace| replay(&interpreter, trace).is_ok();
    traces.chain(&report.fault).all(is_run)
}
