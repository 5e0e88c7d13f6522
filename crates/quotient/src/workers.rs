//! A search on several machines: the processes find each other before anything else, then each finds the same
//! symmetries, and searches its share of the states.

use std::sync::Arc;

use quotient_distributed::{Distributed, JoinError, Shared};
use quotient_ir::Source;
use quotient_search::{EngineError, Membership, SearchOptions};

use crate::control::{Control, Follower, Phase};
use crate::detection::{self, Symmetries, ToPreserve};
use crate::error::Error;
use crate::found::{Found, stopped};
use crate::identity::TextHash;
use crate::model::Model;
use crate::options::{Reduction, Symmetry};
use crate::plan::{Plan, Refusal};
use crate::report::Remark;
use crate::search::{answer, within_memory};

/// Searches a model as planned, together with other processes.
pub(crate) fn check(plan: &Plan, membership: &Membership, control: &Control) -> Result<Found, Error> {
    let Plan { model, options, search, properties, .. } = plan;
    let facts = facts(plan);
    let preserved = ToPreserve::of_search(properties.clone(), search);
    let follower = Follower::new(control, options.checkpoint.as_ref().map(|checkpoint| checkpoint.every));
    let wish = (options.symmetry, options.reduction);
    let found = match conduct(model, (membership, &facts), search, (wish, preserved), control, follower)? {
        Conducted::Searched(found) => *found,
        Conducted::Stopped(symmetries) => {
            let reason = control.reason();
            return Ok(stopped(plan, *symmetries, reason, control));
        }
    };
    // A run to a remark would take another search.
    let mut reached = found.report.remarks.clone();
    reached.sort();
    let remarks = reached.into_iter().map(|property| Remark { property, trace: None }).collect();
    Ok(Found { remarks, ..found })
}

/// The result of a search together with others.
pub(crate) enum Conducted {
    /// It has taken place. A note says who took part.
    Searched(Box<Found>),
    /// It was stopped before.
    Stopped(Box<Option<Symmetries>>),
}

/// Finds the other processes and the symmetries, and searches.
pub(crate) fn conduct(
    model: &Model,
    (membership, facts): (&Membership, &[(String, String)]),
    search: &SearchOptions,
    (wish, preserved): ((Symmetry, Reduction), ToPreserve),
    control: &Control,
    follower: Follower,
) -> Result<Conducted, Error> {
    control.enter(Phase::Joining);
    let network = match quotient_distributed::join(membership, facts, control.interrupt()) {
        Ok(network) => network,
        Err(JoinError::Interrupted) => return Ok(Conducted::Stopped(Box::new(None))),
        Err(error) => return Err(Refusal::Workers(error.to_string()).into()),
    };
    let symmetries = detection::find(model, wish, preserved, control)?;
    if control.check().is_some() {
        return Ok(Conducted::Stopped(Box::new(symmetries)));
    }
    control.enter(Phase::Searching);
    // The others have to be told before this process ends.
    control.write_at_the_end();
    let options = SearchOptions { threads: membership.workers, ..search.clone() };
    let options = within_memory(&options, control);
    let plan = symmetries.as_ref().and_then(Symmetries::plan).cloned();
    let shared = Shared { plan, network: Arc::clone(&network) };
    let report = answer(Distributed, model.job(options, shared), follower, control)?
        .map_err(|error| error_of(model.source(), error, search))?;
    let (processes, workers) = (network.processes(), network.workers());
    let note = format!(
        "{processes} process{} of {workers} worker{}; this one sent {} bytes",
        if processes == 1 { "" } else { "es" },
        if workers == 1 { "" } else { "s" },
        network.bytes_sent()
    );
    Ok(Conducted::Searched(Box::new(Found { notes: vec![note], ..Found::new(symmetries, report) })))
}

/// The error of a search on several machines about a model.
fn error_of(source: &Source, error: EngineError, search: &SearchOptions) -> Error {
    match error {
        EngineError::Lost { .. } => Error::Lost { message: error.to_string(), checkpoint: search.checkpoint.clone() },
        EngineError::Network(reason) => Refusal::Workers(reason).into(),
        error => Error::of_engine(source, error),
    }
}

/// What must be the same in all processes, by the names of options.
fn facts(plan: &Plan) -> Vec<(String, String)> {
    let Plan { model, options, search, .. } = plan;
    let mut facts = facts_of_model(model);
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    add("--property", if options.properties.is_empty() { "all".to_owned() } else { options.properties.join(", ") });
    add("--deadlock", format!("{:?}", search.deadlock).to_lowercase());
    add("--symmetry", format!("{:?}", options.symmetry).to_lowercase());
    add("--reduction", format!("{:?}", options.reduction).to_lowercase());
    add("--all-errors", format!("{:?}", search.violations).to_lowercase());
    add("--max-states", format!("{:?}", search.max_states));
    add("--max-depth", format!("{:?}", search.max_depth));
    add("--store-passing", search.store_passing.to_string());
    add("--exact-counts", options.exact_counts.to_string());
    add("--resume", if search.resume.is_some() { "on" } else { "off" }.to_owned());
    facts
}

/// The same about the model.
pub(crate) fn facts_of_model(model: &Model) -> Vec<(String, String)> {
    let mut facts = vec![("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
    facts.extend(model.origin());
    // What else was said about it on the command line.
    let ir = quotient_ir::Model { source: Source::new("", ""), ..model.ir().clone() };
    facts.push(("the model as it was read".to_owned(), TextHash::of(format!("{ir:?}").as_bytes()).to_string()));
    facts
}
