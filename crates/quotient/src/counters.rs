//! Searches with counted objects: what the text shows to be interchangeable, the engine, and what is refused.

use quotient_engines::{CountersError, CountersReport, check_by_counters};
use quotient_ir::Budget;
use quotient_symmetry::{Preserved, symmetries_of_text};

use crate::control::{Control, Follower, Phase};
use crate::error::Error;
use crate::plan::{Plan, Refusal};
use crate::run::{Found, stopped};
use crate::search::within_memory;

/// Reads the text, and searches with counters for what is interchangeable.
pub(crate) fn search(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let Plan { model, search, properties, .. } = plan;
    control.enter(Phase::Detecting);
    let budget = Budget::until(control.interrupt());
    let text = symmetries_of_text(model.ir(), model.layout(), Preserved::Properties(properties), &budget);
    if let Some(reason) = control.check() {
        return Ok(stopped(plan, None, reason, control));
    }
    let Some(text) = text.ok().flatten() else {
        return Err(Refusal::Engine("--engine counters: the text is too large to be read for symmetries".into()).into());
    };
    control.enter(Phase::Searching);
    let mut follower = Follower::new(control, None);
    let search = within_memory(search, control);
    let found = check_by_counters(model.ir(), model.layout(), &text, &search, &mut follower);
    let CountersReport { report, families, most_entities } = found.map_err(|error| error_of(plan, error))?;
    let sizes: Vec<String> = families.iter().map(u64::to_string).collect();
    let sizes = sizes.join(" and ");
    let counted = format!("{sizes} interchangeable values are counted, in at most {most_entities} sorts at a time");
    Ok(Found { notes: vec![counted.clone()], counted: Some(counted), ..Found::new(None, report) })
}

fn error_of(plan: &Plan, error: CountersError) -> Error {
    let source = plan.model.source();
    let message = error.to_string();
    match error {
        CountersError::Engine(error) => Error::of_engine(source, error),
        CountersError::Refused(refused) if refused.span == Default::default() => Refusal::Engine(message).into(),
        CountersError::Refused(refused) => Error::unsupported(source, message, refused.span),
    }
}
