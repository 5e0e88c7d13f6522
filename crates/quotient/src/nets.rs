//! Properties of nets that need no search: those that the net engine decides are removed from the plan before the search, and
//! their verdicts added to the report.

use quotient_ir::{PropertyId, PropertyKind};
use quotient_nets::{BY, Coverability};
use quotient_search::{PropertyReport, Report, Subject, Verdict};

use crate::control::{Control, Observer, Supervised};
use crate::error::Error;
use crate::names::property_name;
use crate::plan::Plan;

/// The plan without the properties that need no search. `None` if every property needs one, or if a limit came first.
///
/// # Errors
/// If there is a defect in this program.
pub(crate) fn settle(plan: &Plan, control: &Control, observer: &mut dyn Observer) -> Result<Option<Plan>, Error> {
    let is_asked = |(property, _): &(PropertyId, _)| plan.properties.contains(property);
    if !plan.model.ir().net.as_ref().is_some_and(|net| net.goals.iter().any(is_asked)) {
        return Ok(None);
    }
    let job = plan.model.job(plan.search.clone(), plan.properties.clone());
    let Supervised::Done(answer) = control.ask(Coverability, job, observer)? else { return Ok(None) };
    let Some(settled) = answer? else { return Ok(None) };
    let name = |&property: &PropertyId| format!("`{}`", property_name(plan.model.ir(), property));
    let names: Vec<String> = settled.properties.iter().map(name).collect();
    let note = format!("{} needed no search: decided by {BY}", names.join(", "));
    Ok(Some(plan.without(settled.properties, note)))
}

/// Adds the verdicts on properties that needed no search.
pub(crate) fn add_settled(plan: &Plan, report: &mut Report) {
    if plan.settled.is_empty() {
        return;
    }
    for &property in &plan.settled {
        let verdict = match plan.model.ir().properties[property].kind {
            // It is never reached.
            PropertyKind::Cover => Verdict::Violated,
            _ => Verdict::Holds,
        };
        report.add(PropertyReport {
            subject: Subject::Property(property),
            verdict,
            trace: None,
            other_traces: Vec::new(),
        });
    }
    report.summarize();
}
