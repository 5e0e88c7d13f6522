//! What a search found, on its way to a report.

use std::ops::ControlFlow;
use std::time::Duration;

use quotient_graphs::TemporalReport;
use quotient_search::{Extent, SetsReport, StopReason, Way};

use crate::control::{Control, Phase};
use crate::detection::{self, Symmetries};
use crate::error::Error;
use crate::memory::peak_bytes;
use crate::options::{Reduction, Symmetry};
use crate::plan::Plan;
use crate::report::{
    CrossCheck, GroupReport, NONE, PartialOrderReport, ProofReport, ReductionReport, Remark, Report, SliceReport,
    SymmetryReport,
};
use crate::search;

/// The result of a search.
pub(crate) struct Found {
    pub(crate) symmetries: Option<Symmetries>,
    pub(crate) report: quotient_search::Report,
    pub(crate) remarks: Vec<Remark>,
    /// What was left out of the state.
    pub(crate) slice: Option<SliceReport>,
    /// Whether steps were left out, if that was asked for.
    pub(crate) partial_order: Option<PartialOrderReport>,
    /// The searches for temporal properties.
    pub(crate) temporal: Vec<TemporalReport>,
    /// Sets of states, if it was symbolic.
    pub(crate) sets: Option<SetsReport>,
    /// What was counted, in words, if objects were.
    pub(crate) counted: Option<String>,
    /// What a solver did, if one was asked.
    pub(crate) proof: Option<ProofReport>,
    /// What else is to be said.
    pub(crate) notes: Vec<String>,
}

impl Found {
    /// The result of a search, without runs to remarks.
    pub(crate) fn new(symmetries: Option<Symmetries>, report: quotient_search::Report) -> Self {
        Self {
            symmetries,
            report,
            remarks: Vec::new(),
            slice: None,
            temporal: Vec::new(),
            partial_order: None,
            sets: None,
            counted: None,
            proof: None,
            notes: Vec::new(),
        }
    }
}

/// The symmetries that preserve what is checked, whatever it takes to find them, for engines that do not search single
/// states. A break is the result if everything is stopped before.
#[cfg_attr(
    not(any(feature = "sets", feature = "proofs")),
    expect(dead_code, reason = "only `symbolic` and `solver` find symmetries first")
)]
pub(crate) fn symmetries_first(
    plan: &Plan,
    symmetry: Symmetry,
    control: &Control,
) -> Result<ControlFlow<Found, Option<Symmetries>>, Error> {
    let preserved = plan.properties.clone().into();
    let symmetries = detection::find(&plan.model, (symmetry, Reduction::Auto), preserved, control)?;
    if let Some(reason) = control.check() {
        return Ok(ControlFlow::Break(stopped(plan, symmetries, reason, control)));
    }
    control.enter(Phase::Searching);
    Ok(ControlFlow::Continue(symmetries))
}

/// What is known if everything is stopped before the search.
pub(crate) fn stopped(plan: &Plan, symmetries: Option<Symmetries>, reason: StopReason, control: &Control) -> Found {
    let report = search::unfinished(&plan.model, &plan.search, reason, control);
    Found::new(symmetries, report)
}

impl Found {
    /// The report on it.
    pub(crate) fn into_report(self, notes: Vec<String>, control: &Control, elapsed: Duration) -> Report {
        let Self { symmetries, report, remarks, slice, temporal, partial_order, sets, counted, proof, notes: own } =
            self;
        let notes = notes.into_iter().chain(own).collect();
        let quotient_search::Report {
            verdict,
            stop_reason,
            states,
            represented,
            transitions,
            depth,
            levels,
            firings,
            memory_bytes,
            disk_bytes,
            properties,
            fault,
            remarks: _,
            words,
            approximation,
            liveness_searches,
            canonicalization,
            marker_collisions,
            never_fired,
            outgrown: _,
            partial_order: _,
            method,
            cross_check,
        } = report;
        // A store knows only its own share of the limit.
        let own = |reason: StopReason| match (reason, control.max_memory()) {
            (StopReason::MemoryLimit(_), Some(limit)) => StopReason::MemoryLimit(limit),
            // Nobody restarted it, so everything was stopped.
            (StopReason::Withdrawn, _) => control.reason(),
            (reason, _) => reason,
        };
        // A set of representatives may have several of an orbit, which can be counted all the same.
        let states = match sets.as_ref().and_then(|sets| sets.orbits.as_ref()) {
            Some(orbits) => u64::try_from(orbits).unwrap_or(u64::MAX),
            None => states,
        };
        let used = symmetries.as_ref().and_then(Symmetries::reduction).filter(|_| proof.is_none());
        let is_adaptive = symmetries.as_ref().is_some_and(|symmetries| symmetries.adaptive.is_some());
        let is_exact = match &sets {
            Some(sets) => sets.is_exact(),
            None => is_adaptive || used.is_none_or(|used| used.is_exact()),
        };
        let name = match &sets {
            Some(sets) => sets.way.map_or(NONE, Way::name),
            None if is_adaptive => "adaptive",
            None if counted.is_some() => "counters",
            None => used.map_or(NONE, |used| used.strategy().name()),
        };
        let known = symmetries.as_ref().filter(|symmetries| symmetries.group.is_some());
        let is_counted = counted.is_some();
        let reduction = ReductionReport {
            name,
            method: match &sets {
                Some(sets) => Some(sets.method().to_owned()),
                None => counted.or(method).or_else(|| known.map(|symmetries| symmetries.method.clone())),
            },
            exact: is_exact,
            approximate: !is_adaptive && sets.is_none() && used.is_some_and(|used| used.is_approximate()),
            marker_collisions,
            canonicalization,
        };
        let (symmetry, adaptive) = symmetries.map_or((None, None), |symmetries| {
            let Symmetries { group, unknown, generators, elapsed, adaptive, .. } = symmetries;
            let group = group.map(|group| group_report(group, generators)).ok_or(unknown);
            (Some(SymmetryReport { group, elapsed }), adaptive)
        });
        let cross_check = cross_check.map(|quotient_search::CrossCheck { whole, extent }| CrossCheck {
            extent: match extent {
                Extent::Nothing(reason) => Extent::Nothing(own(reason)),
                extent => extent,
            },
            verdict: whole.verdict,
            stop_reason: whole.stop_reason.map(own),
            states: whole.states,
            transitions: whole.transitions,
        });
        Report {
            verdict,
            stop_reason: stop_reason.map(own),
            properties,
            cover_runs: Vec::new(),
            optima: Vec::new(),
            all_errors: false,
            fault,
            remarks,
            unsupported: Vec::new(),
            states,
            transitions,
            depth,
            levels,
            firings,
            represented,
            exact: is_exact && approximation.is_none(),
            approximation,
            slice,
            partial_order,
            reduction,
            symmetry,
            adaptive,
            sets,
            counted: is_counted,
            proof,
            liveness_searches,
            temporal,
            settled: Vec::new(),
            cross_check,
            never_fired,
            store_bytes: memory_bytes,
            disk_bytes,
            words,
            resumed_states: control.resumed(),
            threads: 1,
            elapsed,
            peak_memory: peak_bytes(),
            notes,
        }
    }
}

fn group_report(symmetry: quotient_systems::Symmetry, generators: Vec<Vec<String>>) -> GroupReport {
    let quotient_systems::Symmetry { order, structure, graph, complete, property_cost, refused, .. } = symmetry;
    let behaviour = property_cost.map(|cost| (cost.order, cost.properties));
    GroupReport { order, structure, generators, graph, complete, behaviour, refused }
}
