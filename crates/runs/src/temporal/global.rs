//! Global fairness: every step of a state that is visited again and again is taken again and again, and so is every finite
//! sequence of steps. A formula holds on such runs if its probability is one where each step of a state has a positive
//! probability.
//!
//! The graph of the orbits under the symmetries that preserve all atoms is a chain, too: the orbit after a step does not
//! depend on which state of an orbit takes it, so sequences of letters have the same probabilities in both. Symmetries
//! that preserve only what an automaton may still ask for would not do: what is almost sure in a component is not the same
//! for a state and its image.

use std::ops::ControlFlow;

use quotient_ir::{Temporal, TemporalClaim, Trace};
use quotient_temporal::{Automaton, simplify};

use crate::temporal::chain::{Chain, Elimination, Refutation};
use crate::temporal::lasso::{Failure, Goal, PathStep, unwind};
use crate::temporal::product::Trouble;
use crate::temporal::search::Search;
use quotient_graphs::components::Watch;
use quotient_graphs::tree::StateSet;
use quotient_search::{EngineError, SearchSpace, StopReason};
use quotient_states::store::StateNumber;

/// Why a claim cannot be checked under global fairness, if it cannot.
pub fn global_obstacle(temporal: &Temporal) -> Option<&'static str> {
    match &temporal.claim {
        TemporalClaim::Linear { .. } | TemporalClaim::Behaviour(_) => None,
        TemporalClaim::Never(automaton) if is_deterministic(automaton) => None,
        TemporalClaim::Never(_) => {
            Some("its automaton is not deterministic, so it has no bottom components to look at")
        }
        TemporalClaim::Branching { .. } => Some("it is about trees of runs, which have no probability"),
    }
}

/// Whether an automaton has at most one run on a word.
fn is_deterministic(automaton: &Automaton) -> bool {
    let excludes = |one: &quotient_temporal::Cube, other: &quotient_temporal::Cube| {
        one.positive & other.negative | one.negative & other.positive != 0
    };
    let all = &automaton.transitions;
    let is_alone = |(position, one): (usize, &quotient_temporal::Transition)| {
        all[position + 1..].iter().all(|other| other.from != one.from || excludes(&one.cube, &other.cube))
    };
    automaton.initial.len() <= 1 && all.iter().enumerate().all(is_alone)
}

/// A run that violates a claim, if the claim does not hold with probability one; and a remark about it.
pub(super) fn check_global<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    temporal: &Temporal,
    goal: &Goal<'_, '_>,
    max_memory: Option<u64>,
) -> Result<Option<(Trace, Vec<String>)>, Failure> {
    let (chain, atoms) = build(search, temporal.atoms.len(), max_memory)?;
    let bytes = search.store.memory_bytes();
    let mut poll = || match search.poll(bytes, 0) {
        Ok(()) => ControlFlow::Continue(()),
        Err(Trouble::Stop(reason)) => ControlFlow::Break(reason),
        Err(Trouble::Impossible(_)) => ControlFlow::Break(StopReason::Withdrawn),
    };
    let mut watch = Watch::new(&mut poll);
    let left = max_memory.map(|limit| limit.saturating_sub(bytes));
    let elimination = Elimination::new(chain, atoms, &mut watch, left);
    let found = match &temporal.claim {
        TemporalClaim::Linear { pool, formula } => {
            let mut pool = pool.clone();
            let formula = simplify(&mut pool, *formula);
            elimination.refute(&pool, formula)
        }
        TemporalClaim::Never(automaton) => elimination.accepted(automaton),
        TemporalClaim::Branching { .. } | TemporalClaim::Behaviour(_) => {
            return Err(EngineError::Refused("the claim is not about the probability of runs").into());
        }
    };
    let limit = |reason| match (reason, max_memory) {
        // The limit is that of the whole search.
        (StopReason::MemoryLimit(_), Some(limit)) => StopReason::MemoryLimit(limit),
        (reason, _) => reason,
    };
    let Some(Refutation { stem, cycle, component, is_complete }) =
        found.map_err(|reason| Trouble::Stop(limit(reason)))?
    else {
        return Ok(None);
    };
    let cycle: Vec<PathStep> = cycle.into_iter().map(|to| PathStep { to, ordinal: None }).collect();
    let trace = unwind(search, &stem, &cycle, goal)?;
    let nodes = if component == 1 { "one node".to_owned() } else { format!("{component} nodes") };
    let shown = if is_complete { "; the cycle takes all of its steps" } else { "" };
    let remark = format!("the cycle is in a component of {nodes} that no step leaves{shown}");
    Ok(Some((trace, vec![remark])))
}

/// The chain of all nodes, and where each atom is true.
fn build<S: SearchSpace>(
    search: &mut Search<'_, '_, S>,
    atoms: usize,
    max_memory: Option<u64>,
) -> Result<(Chain, Vec<StateSet>), Trouble> {
    let mut starts = search.starts()?;
    starts.sort_unstable();
    starts.dedup();
    let (mut offsets, mut targets): (Vec<usize>, Vec<StateNumber>) = (vec![0], Vec::new());
    let mut labels = vec![StateSet::default(); atoms];
    let mut node: StateNumber = 0;
    let (mut depth, mut level_end) = (0, search.store.len());
    while u64::from(node) < search.store.len() {
        if u64::from(node) == level_end {
            (depth, level_end) = (depth + 1, search.store.len());
            if let Some(limit) = search.options.max_depth.filter(|&limit| depth > limit) {
                return Err(Trouble::Stop(StopReason::DepthLimit(limit)));
            }
        }
        let words = search.store.state(node).to_vec();
        let letter = search.product.letter_of(&mut search.scratch, &words, atoms)?;
        for (_, label) in labels.iter_mut().enumerate().filter(|(atom, _)| letter >> atom & 1 == 1) {
            label.insert(node);
        }
        let mut steps: Vec<StateNumber> = search.successors(node)?.into_iter().map(|(to, _)| to).collect();
        steps.sort_unstable();
        steps.dedup();
        targets.extend(steps);
        offsets.push(targets.len());
        node += 1;
        if node.is_multiple_of(1024) {
            let bytes = search.store.memory_bytes() + 8 * offsets.len() as u64 + 4 * targets.len() as u64;
            if let Some(limit) = max_memory.filter(|&limit| bytes > limit) {
                return Err(Trouble::Stop(StopReason::MemoryLimit(limit)));
            }
            search.poll(bytes, search.store.len() - u64::from(node))?;
        }
    }
    let (chain, kept) = Chain::of_infinite_runs(offsets, targets, starts);
    let labels = labels.into_iter().map(|label| {
        let mut kept_label = StateSet::empty(kept.len());
        for (number, _) in (0..).zip(&kept).filter(|(_, node)| label.contains(**node)) {
            kept_label.insert(number);
        }
        kept_label
    });
    let labels = labels.collect();
    Ok((chain, labels))
}
