//! Runs to remarks. A remark that a search reached is searched for again as if its absence were claimed. So a shortest
//! run to it is found like a counterexample, with the same reduction.

use quotient_explicit::Explicit;
use quotient_ir::{DeadlockMode, Expr, Formula, PropertyId, PropertyKind, UnaryOperator};
use quotient_search::SearchOptions;

use crate::control::{Control, Limited};
use crate::detection::Symmetries;
use crate::error::Error;
use crate::found::Found;
use crate::plan::Plan;
use crate::report::Remark;
use crate::search;

/// The remarks that a search reached, in the order of the text, each with a run if time permits.
pub(crate) fn with_runs(plan: &Plan, found: &Found, control: &Control) -> Result<Vec<Remark>, Error> {
    let mut reached = found.report.remarks.clone();
    reached.sort();
    reached.into_iter().map(|property| with_run(plan, found, property, control)).collect()
}

fn with_run(plan: &Plan, found: &Found, property: PropertyId, control: &Control) -> Result<Remark, Error> {
    if control.check().is_some() {
        return Ok(Remark { property, trace: None });
    }
    let mut model = plan.model.ir().clone();
    let condition = model.properties[property].formula.condition().expect("a remark is a condition");
    let absent = model.pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand: condition });
    model.properties[property].kind = PropertyKind::Invariant;
    model.properties[property].formula = Formula::from(absent);
    let options = SearchOptions {
        properties: Some(vec![property]),
        deadlock: DeadlockMode::Off,
        errors: false,
        checkpoint: None,
        resume: None,
        cross_check: false,
        ..plan.search.clone()
    };
    // What preserves a remark preserves its absence, so the same symmetries can be used.
    let symmetries = found.symmetries.as_ref().filter(|symmetries| symmetries.adaptive.is_none());
    let method = symmetries.and_then(Symmetries::plan).cloned();
    let job = plan.model.with_ir(model).job(search::within_memory(&options, control), method);
    let report = search::answer(Explicit, job, Limited(control.clone()), control)?
        .map_err(|error| Error::of_engine(plan.model.source(), error))?;
    let trace = report.properties.into_iter().find_map(|report| report.trace);
    Ok(Remark { property, trace })
}
