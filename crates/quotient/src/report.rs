//! What a check, or the exploration of a state space, found out.

use std::time::Duration;

use num_bigint::BigUint;
use quotient_engines::{
    self as engines, Approximation, Extent, LivenessReport, PropertyReport, RuleFirings, StopReason, Verdict,
};
use quotient_ir::{PropertyId, RuleId, Span, Trace};
use quotient_symmetry::Refused;

use crate::adaptive::AdaptiveUse;
use crate::control::Control;
use crate::detection::Symmetries;
use crate::memory::peak_bytes;
use crate::plan::Plan;
use crate::run::Found;

/// The result of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Violated if any property is; else inconclusive if any is, or any cannot be checked; else holds.
    pub verdict: Verdict,
    /// Why the search ended before it was finished, if it did.
    pub stop_reason: Option<StopReason>,
    /// One verdict for each property checked (in order of declaration, without assumptions), then for deadlock
    /// and for errors as far as they were to be checked. Violations come with a run that was replayed.
    pub properties: Vec<PropertyReport>,
    /// A run to each cover that is reached, if that was asked for and no limit was reached first.
    pub cover_runs: Vec<(PropertyId, Trace)>,
    /// Whether the search was to continue past violations.
    pub all_errors: bool,
    /// The run to the fault that ended the search, if faults were not to be judged ([`StopReason::Fault`]).
    pub fault: Option<Trace>,
    /// What is worth saying about states that were reached, each once; no verdict depends on it.
    pub remarks: Vec<Remark>,
    /// What the model claims besides, and cannot be checked. Nothing if the properties to check were named.
    pub unsupported: Vec<UnsupportedProperty>,
    /// States stored.
    pub states: u64,
    /// Rule instances fired.
    pub transitions: u64,
    /// Steps from a start to the deepest state stored.
    pub depth: u64,
    /// How many of the states stored are so many steps from a start, the starts first; known of breadth-first searches
    /// without adaptive reduction.
    pub levels: Option<Vec<u64>>,
    /// How often rules fire, if that was asked for and is known.
    pub firings: Option<Vec<RuleFirings>>,
    /// States of the model that the stored ones represent: the same without a reduction; not known where an
    /// orbit may be stored several times or there was no time to count.
    pub represented: Option<BigUint>,
    /// Whether each orbit is stored once, and each state as it is.
    pub exact: bool,
    /// What may have been missed, if states were not stored as they are.
    pub approximation: Option<Approximation>,
    /// How the search was reduced.
    pub reduction: ReductionReport,
    /// The symmetries, if they were to be used.
    pub symmetry: Option<SymmetryReport>,
    /// How adaptive reduction went about it, if it was used.
    pub adaptive: Option<AdaptiveUse>,
    /// Searches besides, for liveness of instances that symmetries exchange.
    pub liveness_searches: Vec<LivenessReport>,
    /// The comparison with the unreduced search, if there was one.
    pub cross_check: Option<CrossCheck>,
    /// The rules of which no instance can fire in any reachable state; not known unless the search was finished.
    /// After an approximate search: in any state that it saw.
    pub never_fired: Option<Vec<RuleId>>,
    /// Most bytes used for stored states.
    pub store_bytes: u64,
    /// Most bytes used on disk for states that did not fit into memory.
    pub disk_bytes: u64,
    /// The 64-bit words of a packed state, as the search had it at its end.
    pub words: usize,
    /// States that come from the checkpoint the search was resumed from, and were not found in the time it took.
    pub resumed_states: u64,
    /// How many threads the search could use.
    pub threads: u32,
    /// How long everything took, without the runs before a checkpoint.
    pub elapsed: Duration,
    /// The most memory the process took, if the system tells.
    pub peak_memory: Option<u64>,
    /// What was done otherwise than asked, or is to be known besides.
    pub notes: Vec<String>,
}

/// A claim of a model that cannot be checked: there is no verdict on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedProperty {
    /// What sort of claim it is, in the words of the language: `ltl`, `never`, `trace`.
    pub kind: &'static str,
    /// Its name, or what it is called if it has none.
    pub name: String,
    /// Why it cannot be checked.
    pub reason: String,
    /// Where it stands in the text.
    pub span: Option<Span>,
}

/// How a search was reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionReport {
    /// The name of the strategy; `none` and `adaptive` are two.
    pub name: &'static str,
    /// How representatives are found, or why there are none.
    pub method: Option<String>,
    /// Whether each orbit is stored once.
    pub exact: bool,
    /// Whether states that are not symmetric may be taken for each other.
    pub approximate: bool,
    /// How many states of different orbits had the marker of another one, if markers were used and somebody
    /// could tell.
    pub marker_collisions: Option<u64>,
    /// Processor time spent to find representatives, of all threads together.
    pub canonicalization: Option<Duration>,
}

impl ReductionReport {
    /// Whether there is a reduction.
    pub fn reduces(&self) -> bool {
        self.name != NONE
    }
}

/// What is known about the symmetries of a model.
#[derive(Clone, Debug)]
pub struct SymmetryReport {
    /// The group.
    pub group: Result<GroupReport, &'static str>,
    /// How long it took to find it.
    pub elapsed: Duration,
}

/// A group of symmetries.
#[derive(Clone, Debug)]
pub struct GroupReport {
    /// How many symmetries there are.
    pub order: BigUint,
    /// What group it is, for people.
    pub structure: String,
    /// Generators in source terms, each a list of cycles.
    pub generators: Vec<Vec<String>>,
    /// Vertices and edges of the graph it was found in.
    pub graph: Option<(usize, usize)>,
    /// Whether these are all symmetries that the graph has.
    pub complete: bool,
    /// How many symmetries the behaviour has, and the properties that do not have them all.
    pub behaviour: Option<(BigUint, Vec<PropertyId>)>,
    /// Declarations that do not hold.
    pub refused: Vec<Refused>,
}

/// Something about a model that is worth saying and violates nothing: that a guard of a B operation has no value in
/// some state that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The property of the model that says when: its name is the remark, its span the place it is about.
    pub property: PropertyId,
    /// A run to a state in which it holds, unless there was no time to find one.
    pub trace: Option<Trace>,
}

/// The unreduced search that was compared with the reduced one. That something differs is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossCheck {
    /// How far the comparison went.
    pub extent: Extent,
    /// The verdict of the unreduced search.
    pub verdict: Verdict,
    /// Why it ended before it was finished.
    pub stop_reason: Option<StopReason>,
    /// The states it stored.
    pub states: u64,
    /// The rule instances it fired.
    pub transitions: u64,
}

const NONE: &str = "none";

impl Report {
    /// The report on what a search found.
    pub(crate) fn new(found: Found, notes: Vec<String>, control: &Control, elapsed: Duration) -> Self {
        let Found { symmetries, report, remarks } = found;
        let engines::Report {
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
            cross_check,
        } = report;
        // A store knows the part of the limit that it was given.
        let own = |reason: StopReason| match (reason, control.max_memory()) {
            (StopReason::MemoryLimit(_), Some(limit)) => StopReason::MemoryLimit(limit),
            (reason, _) => reason,
        };
        let used = symmetries.as_ref().and_then(Symmetries::reduction);
        let is_adaptive = symmetries.as_ref().is_some_and(|symmetries| symmetries.adaptive.is_some());
        let is_exact = is_adaptive || used.is_none_or(|used| used.is_exact());
        let name = if is_adaptive { "adaptive" } else { used.map_or(NONE, |used| used.strategy().name()) };
        let plan = symmetries.as_ref().and_then(|symmetries| symmetries.plan.as_ref());
        let reduction = ReductionReport {
            name,
            method: plan.map(|plan| plan.method.clone()),
            exact: is_exact,
            approximate: !is_adaptive && used.is_some_and(|used| used.is_approximate()),
            marker_collisions,
            canonicalization,
        };
        let (symmetry, adaptive) = symmetries.map_or((None, None), |symmetries| {
            let Symmetries { plan, unknown, generators, elapsed, adaptive } = symmetries;
            let group = plan.map(|plan| group_report(plan.symmetry, generators)).ok_or(unknown);
            (Some(SymmetryReport { group, elapsed }), adaptive)
        });
        let cross_check = cross_check.map(|engines::CrossCheck { whole, extent }| CrossCheck {
            extent: match extent {
                Extent::Nothing(reason) => Extent::Nothing(own(reason)),
                extent => extent,
            },
            verdict: whole.verdict,
            stop_reason: whole.stop_reason.map(own),
            states: whole.states,
            transitions: whole.transitions,
        });
        Self {
            verdict,
            stop_reason: stop_reason.map(own),
            properties,
            cover_runs: Vec::new(),
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
            reduction,
            symmetry,
            adaptive,
            liveness_searches,
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

    /// The same with what only the plan knows. A model that claims what cannot be checked cannot be said to hold.
    pub(crate) fn planned(self, plan: &Plan) -> Self {
        let verdict = match self.verdict {
            Verdict::Holds if !plan.unsupported.is_empty() => Verdict::Inconclusive,
            verdict => verdict,
        };
        Self {
            verdict,
            unsupported: plan.unsupported.clone(),
            threads: plan.threads,
            all_errors: plan.search.violations.collects(),
            ..self
        }
    }

    /// How many states of the model there are for each that is stored.
    pub fn reduction_factor(&self) -> Option<f64> {
        let represented = self.represented.as_ref().filter(|_| self.states > 0)?;
        // A float for people; only beyond 10^300 is there none.
        let represented: f64 = represented.to_string().parse().ok()?;
        Some(represented / self.states as f64).filter(|factor| factor.is_finite())
    }

    /// How many instances of a liveness property were judged, and for how many, if symmetries made them fewer.
    pub fn judged_instances(&self, property: PropertyId) -> Option<(usize, usize)> {
        let instances = self.liveness_searches.iter().flat_map(|search| &search.instances);
        let judged: Vec<usize> =
            instances.filter(|instance| instance.property == property).map(|instance| instance.symmetric).collect();
        (!judged.is_empty()).then(|| (judged.len(), judged.iter().sum()))
    }
}

fn group_report(symmetry: engines::Symmetry, generators: Vec<Vec<String>>) -> GroupReport {
    let engines::Symmetry { order, structure, graph, complete, property_cost, refused, .. } = symmetry;
    let behaviour = property_cost.map(|cost| (cost.order, cost.properties));
    GroupReport { order, structure, generators, graph, complete, behaviour, refused }
}
