//! Adaptive reduction: running the search, and reporting what each rule distinguishes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_explicit::{
    AdaptiveError, AdaptiveReport, GuardedQuotient, PartitionTime, check_adaptive, guarded_quotient,
};
use quotient_ir::{Budget, Model as Representation, PropertyId, PropertyKind, RuleId, Spent, expression_text};
use quotient_search::{Observer, Report, SearchOptions, SearchOrder, StopReason, StoreMode};
use quotient_symmetry::{PartialRefusal, PartialSymmetry, Partition, most_permutations};

use crate::control::{Follower, Phase};
use crate::error::Error;
use crate::model::Model;
use crate::names::rule_name;
use crate::plan::Plan;
use crate::search::within_memory;

/// Adaptive reduction is tried automatically if most rules are preserved by this many times more permutations than the
/// whole model.
const MUCH_MORE: u32 = 1000;

/// Details of an adaptive search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdaptiveUse {
    /// The families, such as `6 values of process`.
    pub families: Vec<String>,
    /// What each rule distinguishes.
    pub rules: Vec<RuleUse>,
    /// The number of different partitions.
    pub partitions: usize,
    /// The number of states not expanded because other annotated states subsume them.
    pub removed: u64,
    /// Why this reduction was chosen, if it was not requested.
    pub reason: Option<String>,
    /// The time taken to compute the partitions.
    pub elapsed: Duration,
}

/// What one rule distinguishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleUse {
    /// The rule.
    pub name: String,
    /// Its partition; none if the rule was never considered.
    pub partition: Option<String>,
    /// Whether it distinguishes anything.
    pub tells_apart: bool,
    /// The text that causes it.
    pub cause: Option<String>,
}

/// The outcome of an adaptive search.
pub(crate) struct Searched {
    pub(crate) used: AdaptiveUse,
    pub(crate) report: Report,
}

/// Runs a search with adaptive reduction.
pub(crate) fn search(
    model: &Model,
    properties: &[PropertyId],
    options: &SearchOptions,
    follower: &mut Follower,
) -> Result<Searched, Error> {
    let control = follower.control().clone();
    control.enter(Phase::Partitioning);
    let mut work = || {
        let started = Instant::now();
        let mut partial = partial_symmetry(model, properties, &Budget::until(control.interrupt()))?;
        let elapsed = started.elapsed();
        control.enter(if options.cross_check { Phase::Comparing } else { Phase::Searching });
        let options = within_memory(options, &control);
        let report = check_adaptive(&mut partial, &options, PartitionTime::IfNeeded, follower)?;
        Ok(Searched { used: describe(&mut partial, &report, elapsed)?, report: report.report })
    };
    work().map_err(|error| Error::of_adaptive(model.source(), error))
}

/// Whether an adaptive search beside that of a plan can answer all that it asks.
pub(crate) fn can_answer(plan: &Plan) -> bool {
    let Plan { model, search, properties, .. } = plan;
    let is_safety = |&property: &PropertyId| model.ir().properties[property].kind != PropertyKind::AlwaysReachable;
    properties.iter().all(is_safety)
        && search.order == SearchOrder::BreadthFirst
        && search.store == StoreMode::Exact
        && !search.violations.collects()
        && !search.cross_check
        && model.ir().properties.iter().all(|property| property.kind != PropertyKind::Constraint)
        && search.partial_order.is_none()
        && search.checkpoint.is_none()
        && search.resume.is_none()
}

/// An adaptive search that was not requested: run if the rules of a model share much more symmetry than the whole
/// model, and abandoned if it exceeds its share of the work.
pub(crate) fn attempt(
    model: &Model,
    properties: &[PropertyId],
    options: &SearchOptions,
    symmetries: &BigUint,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Attempt {
    let enough = symmetries * MUCH_MORE;
    match most_permutations(model.ir(), model.layout(), budget) {
        Ok(most) if most < enough => return Attempt::Pointless,
        Ok(_) => {}
        Err(Spent) => return Attempt::TooMuch,
    }
    let mut work = || {
        let started = Instant::now();
        let mut partial = partial_symmetry(model, properties, budget)?;
        let sharing = partial.sharing()?;
        let elapsed = started.elapsed();
        if sharing.order < enough {
            return Ok(Attempt::Pointless);
        }
        let report = check_adaptive(&mut partial, options, PartitionTime::Lazy, observer)?;
        if !matches!(report.report.stop_reason, None | Some(StopReason::Violation)) {
            return Ok(Attempt::TooMuch);
        }
        let mut used = describe(&mut partial, &report, elapsed)?;
        let (order, whole) = (large_number(&sharing.order), large_number(symmetries));
        let have = if *symmetries == BigUint::from(1u32) { "symmetry" } else { "symmetries" };
        used.reason = Some(format!(
            "chosen because {} of {} rules allow {order} permutations, and the whole model has {whole} {have}",
            sharing.rules, sharing.of
        ));
        Ok(Attempt::Made(Box::new(Searched { used, report: report.report })))
    };
    match work() {
        Ok(attempt) => attempt,
        // A defect must not be hidden by falling back to another search.
        Err(error @ (AdaptiveError::Engine(_) | AdaptiveError::Uncertified(_))) => {
            Attempt::Failed(Error::of_adaptive(model.source(), error))
        }
        Err(AdaptiveError::GaveUp(_) | AdaptiveError::Refused(PartialRefusal::GaveUp(_))) => Attempt::TooMuch,
        Err(AdaptiveError::Refused(_) | AdaptiveError::Unsupported(_)) => Attempt::Pointless,
    }
}

/// The outcome of an attempt.
pub(crate) enum Attempt {
    /// It decides every property.
    Made(Box<Searched>),
    /// It would exceed the work it is allowed.
    TooMuch,
    /// The rules do not share enough symmetry.
    Pointless,
    /// A defect in this program.
    Failed(Error),
}

/// A number with thousands separators, or its order of magnitude.
fn large_number(number: &BigUint) -> String {
    let digits = number.to_string();
    if digits.len() > 12 {
        return format!("{}.{}e{}", &digits[..1], &digits[1..2], digits.len() - 1);
    }
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The guarded annotated quotient of a model, what its rules distinguish, and the details to report.
pub(crate) fn explore(
    model: &Model,
    max_nodes: Option<u64>,
    follower: &mut Follower,
    collect: impl FnOnce(&GuardedQuotient, &PartialSymmetry<'_>),
) -> Result<(AdaptiveUse, Report), Error> {
    let control = follower.control().clone();
    control.enter(Phase::Partitioning);
    let work = || {
        let started = Instant::now();
        let mut partial = partial_symmetry(model, &[], &Budget::until(control.interrupt()))?;
        let elapsed = started.elapsed();
        control.enter(Phase::Searching);
        let quotient = guarded_quotient(&mut partial, max_nodes, follower)?;
        collect(&quotient, &partial);
        let mut rules = Vec::new();
        for rule in model.ir().rules.indices() {
            let known = partial.is_known(rule);
            rules.push((rule, if known { Some(partial.rule(rule)?.partition.clone()) } else { None }));
        }
        let report = quotient.report(model.layout());
        let used = AdaptiveUse {
            families: family_texts(&partial),
            rules: rule_uses(&mut partial, &rules)?,
            partitions: rules.iter().flat_map(|(_, partition)| partition).collect::<BTreeSet<_>>().len(),
            removed: 0,
            reason: Some("a guarded annotated quotient: nodes may contain states that are not reachable".to_owned()),
            elapsed,
        };
        Ok((used, report))
    };
    work().map_err(|error| Error::of_adaptive(model.source(), error))
}

fn describe(
    partial: &mut PartialSymmetry<'_>,
    report: &AdaptiveReport,
    elapsed: Duration,
) -> Result<AdaptiveUse, AdaptiveError> {
    Ok(AdaptiveUse {
        families: family_texts(partial),
        rules: rule_uses(partial, &report.rules)?,
        partitions: report.partitions,
        removed: report.removed,
        reason: None,
        elapsed,
    })
}

/// What each rule distinguishes.
pub(crate) fn partial_symmetry<'m>(
    model: &'m Model,
    properties: &[PropertyId],
    budget: &Budget,
) -> Result<PartialSymmetry<'m>, AdaptiveError> {
    Ok(PartialSymmetry::new(model.ir(), model.layout(), properties, budget)?)
}

fn family_texts(partial: &PartialSymmetry<'_>) -> Vec<String> {
    partial.families().list().iter().map(|family| format!("{} values of {}", family.size, family.name)).collect()
}

/// What rules distinguish, in source terms.
pub(crate) fn rule_uses(
    partial: &mut PartialSymmetry<'_>,
    partitions: &[(RuleId, Option<Partition>)],
) -> Result<Vec<RuleUse>, AdaptiveError> {
    let model = partial.model();
    let coarsest = partial.coarsest();
    let mut rules = Vec::new();
    for (rule, partition) in partitions {
        let name = rule_name(model, *rule);
        let Some(partition) = partition else {
            rules.push(RuleUse { name, partition: None, tells_apart: false, cause: None });
            continue;
        };
        // A rule that distinguishes nothing may not have been analysed separately.
        let cause = if *partition == coarsest { None } else { partial.rule(*rule)?.cause.clone() };
        rules.push(RuleUse {
            name,
            partition: Some(partition.describe(partial.families())),
            tells_apart: *partition != coarsest,
            cause: cause.map(|cause| cause_text(model, *rule, &cause)),
        });
    }
    Ok(rules)
}

/// The text that distinguishes members.
fn cause_text(model: &Representation, rule: RuleId, cause: &quotient_symmetry::Cause) -> String {
    let place = model.source.locate(cause.span);
    match cause.part {
        Some(part) => format!("{} ({place})", expression_text(model, &model.rules[rule].locals, part)),
        None => format!("what it does ({place})"),
    }
}
