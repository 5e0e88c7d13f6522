//! Searches by adaptive reduction: what each rule tells apart, and what came of it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_engines::{
    AdaptiveError, AdaptiveReport, CrossCheck, Observer, PartitionTime, Report, SearchOptions, StopReason,
    check_adaptive, guarded_quotient,
};
use quotient_ir::{Budget, Model, PropertyId, RuleId, expression_text};
use quotient_symmetry::{PartialRefusal, PartialSymmetry, Partition, most_permutations};

use crate::commands::engine_failure;
use crate::commands::reduction::{STACK_BYTES, Symmetries};
use crate::failure::Failure;
use crate::graph::CollectedGraph;
use crate::load::LoadedModel;
use crate::names::rule_name;
use crate::render::quantity;
use crate::watch::Watch;

/// How many times more permutations must preserve most rules than the whole model, for adaptive reduction
/// to be tried as a matter of course.
const MUCH_MORE: u32 = 1000;

/// How an adaptive search went about it.
pub(crate) struct AdaptiveUse {
    /// The families, such as `6 values of process`.
    pub(crate) families: Vec<String>,
    /// What each rule tells apart.
    pub(crate) rules: Vec<RuleUse>,
    /// How many different partitions there were.
    pub(crate) partitions: usize,
    /// How many states were not expanded because others stand for more.
    pub(crate) removed: u64,
    /// Why this reduction was chosen, if nobody asked for it.
    pub(crate) reason: Option<String>,
    /// How long the partitions took.
    pub(crate) elapsed: Duration,
}

/// What one rule tells apart.
pub(crate) struct RuleUse {
    /// The rule.
    pub(crate) name: String,
    /// Its partition; none if the rule never came into question.
    pub(crate) partition: Option<String>,
    /// Whether it tells anything apart.
    pub(crate) tells_apart: bool,
    /// The text that does.
    pub(crate) cause: Option<String>,
}

/// What came of an adaptive search.
pub(super) struct Searched {
    pub(super) used: AdaptiveUse,
    pub(super) report: Report,
    pub(super) cross_check: Option<CrossCheck>,
}

/// Searches by adaptive reduction, and perhaps compares with a search without reduction.
pub(super) fn search(
    loaded: &LoadedModel,
    properties: &[PropertyId],
    options: &SearchOptions,
    compares: bool,
    watch: &mut Watch,
) -> Result<Searched, Failure> {
    let LoadedModel { model, layout, .. } = loaded;
    watch.announce("looking at what rules tell apart");
    let work = || {
        let started = Instant::now();
        let mut partial =
            PartialSymmetry::new(model, layout, properties, &Budget::unlimited()).map_err(AdaptiveError::from)?;
        let elapsed = started.elapsed();
        let options = SearchOptions { cross_check: compares, ..options.clone() };
        let mut report = check_adaptive(&mut partial, &options, PartitionTime::IfNeeded, watch)?;
        let cross_check = report.report.cross_check.take();
        Ok(Searched { used: describe(&mut partial, &report, elapsed)?, report: report.report, cross_check })
    };
    on_a_large_stack(work).map_err(|error| failure(loaded, error))
}

/// An adaptive search that nobody asked for: made if the rules of a model share much more than the model
/// as a whole, and given up if it is more work than it may be.
pub(super) fn attempt(
    loaded: &LoadedModel,
    properties: &[PropertyId],
    options: &SearchOptions,
    symmetries: &BigUint,
    observer: &mut (dyn Observer + Send),
) -> Attempt {
    let LoadedModel { model, layout, .. } = loaded;
    let enough = symmetries * MUCH_MORE;
    if most_permutations(model, layout, &Budget::unlimited()).is_ok_and(|most| most < enough) {
        return Attempt::Pointless;
    }
    let work = || {
        let started = Instant::now();
        let mut partial =
            PartialSymmetry::new(model, layout, properties, &Budget::unlimited()).map_err(AdaptiveError::from)?;
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
        Ok(Attempt::Made(Box::new(Searched { used, report: report.report, cross_check: None })))
    };
    match on_a_large_stack(work) {
        Ok(attempt) => attempt,
        // Defects are not hidden by searching in another way.
        Err(error @ (AdaptiveError::Engine(_) | AdaptiveError::Uncertified(_))) => {
            Attempt::Failed(failure(loaded, error))
        }
        Err(AdaptiveError::GaveUp(_)) => Attempt::TooMuch,
        Err(AdaptiveError::Refused(_) | AdaptiveError::Unsupported(_)) => Attempt::Pointless,
    }
}

/// What came of an attempt.
pub(super) enum Attempt {
    /// It answers everything.
    Made(Box<Searched>),
    /// It would be more work than it was allowed.
    TooMuch,
    /// The rules do not share enough.
    Pointless,
    Failed(Failure),
}

/// A number as it is, or about what it is.
fn large_number(number: &BigUint) -> String {
    let digits = number.to_string();
    if digits.len() <= 12 {
        return quantity::digits(&digits);
    }
    format!("{}.{}e{}", &digits[..1], &digits[1..2], digits.len() - 1)
}

/// The guarded annotated quotient of a model, as a graph.
pub(super) fn explore(
    loaded: &LoadedModel,
    max_nodes: Option<u64>,
    watch: &mut Watch,
) -> Result<(CollectedGraph, Symmetries, Report), Failure> {
    let LoadedModel { model, layout, .. } = loaded;
    watch.announce("looking at what rules tell apart");
    let work = || {
        let started = Instant::now();
        let mut partial =
            PartialSymmetry::new(model, layout, &[], &Budget::unlimited()).map_err(AdaptiveError::from)?;
        let elapsed = started.elapsed();
        let quotient = guarded_quotient(&mut partial, max_nodes, watch)?;
        let graph = CollectedGraph::of_guarded_quotient(&quotient, partial.families());
        let mut rules = Vec::new();
        for rule in model.rules.indices() {
            let known = partial.is_known(rule);
            rules.push((rule, if known { Some(partial.rule(rule)?.partition.clone()) } else { None }));
        }
        let report = quotient.report(layout);
        let used = AdaptiveUse {
            families: family_texts(&partial),
            rules: rule_uses(&mut partial, &rules)?,
            partitions: rules.iter().flat_map(|(_, partition)| partition).collect::<BTreeSet<_>>().len(),
            removed: 0,
            reason: Some("a guarded annotated quotient: nodes may contain states that are not reachable".to_owned()),
            elapsed,
        };
        Ok((graph, Symmetries::of_adaptive(used), report))
    };
    on_a_large_stack(work).map_err(|error| failure(loaded, error))
}

/// Runs something that unfolds a text, which follows the nesting of the text.
pub(super) fn on_a_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, AdaptiveError> + Send,
) -> Result<T, AdaptiveError> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        match worker {
            Ok(worker) => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Err(AdaptiveError::Unsupported("there are too few resources".to_owned())),
        }
    })
}

pub(super) fn failure(loaded: &LoadedModel, error: AdaptiveError) -> Failure {
    match error {
        AdaptiveError::Engine(error) => engine_failure(&loaded.model.source, error),
        AdaptiveError::Uncertified(error) => Failure::Internal(error.to_string()),
        AdaptiveError::GaveUp(_) | AdaptiveError::Refused(PartialRefusal::GaveUp(_)) => {
            Failure::Internal(error.to_string())
        }
        AdaptiveError::Refused(PartialRefusal::Opaque { .. } | PartialRefusal::NoFamilies)
        | AdaptiveError::Refused(PartialRefusal::NothingShared(_))
        | AdaptiveError::Unsupported(_) => Failure::Usage(error.to_string()),
    }
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

fn family_texts(partial: &PartialSymmetry<'_>) -> Vec<String> {
    partial.families().list().iter().map(|family| format!("{} values of {}", family.size, family.name)).collect()
}

/// What rules tell apart, in source terms.
pub(super) fn rule_uses(
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
        // A rule that tells nobody apart need not have been looked at by itself.
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

/// The text that tells members apart.
pub(super) fn cause_text(model: &Model, rule: RuleId, cause: &quotient_symmetry::Cause) -> String {
    let place = model.source.locate(cause.span);
    match cause.part {
        Some(part) => format!("{} ({place})", expression_text(model, &model.rules[rule].locals, part)),
        None => format!("what it does ({place})"),
    }
}
