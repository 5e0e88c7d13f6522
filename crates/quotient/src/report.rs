//! The results of a check, or of the exploration of a state space.

use std::time::Duration;

use num_bigint::BigUint;
use quotient_graphs::TemporalReport;
use quotient_ir::{PropertyId, RuleId, Trace};
use quotient_search::{
    Approximation, Extent, LivenessReport, PropertyReport, RuleFirings, SetsReport, StopReason, Subject, Verdict,
};
use quotient_symmetry::Refused;

use crate::adaptive::AdaptiveUse;
use crate::model::UnsupportedProperty;
use crate::plan::Plan;

/// The result of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Violated if any property is; otherwise inconclusive if any property is, or cannot be checked; otherwise holds.
    pub verdict: Verdict,
    /// Why the search ended before it finished, if it did.
    pub stop_reason: Option<StopReason>,
    /// One verdict for each property checked (in order of declaration, without assumptions), then for deadlock and for
    /// run-time errors if they were selected. Violations come with a replayed counterexample.
    pub properties: Vec<PropertyReport>,
    /// A run to each reached cover property, if requested and no limit was reached first.
    pub cover_runs: Vec<(PropertyId, Trace)>,
    /// The least or greatest values that the model asks for, where the cover property is reached.
    pub optima: Vec<Optimum>,
    /// Whether the search continues past violations.
    pub all_errors: bool,
    /// The run to the run-time error that ended the search, if errors were not selected ([`StopReason::Fault`]).
    pub fault: Option<Trace>,
    /// Remarks about reached states, each once; no verdict depends on them.
    pub remarks: Vec<Remark>,
    /// Further claims of the model, which cannot be checked. Empty if properties were selected by name.
    pub unsupported: Vec<UnsupportedProperty>,
    /// States stored.
    pub states: u64,
    /// Rule instances fired.
    pub transitions: u64,
    /// The depth of the deepest state stored.
    pub depth: u64,
    /// The number of stored states at each depth, starting with the initial states; known for breadth-first searches
    /// without adaptive reduction.
    pub levels: Option<Vec<u64>>,
    /// How often rules fire, if requested and known.
    pub firings: Option<Vec<RuleFirings>>,
    /// The number of states of the model that the stored ones represent, which is the same number without a reduction;
    /// unknown if an orbit may be stored several times or there was no time to count.
    pub represented: Option<BigUint>,
    /// Whether each orbit is stored once, and every state exactly.
    pub exact: bool,
    /// What may have been missed, if states were stored approximately.
    pub approximation: Option<Approximation>,
    /// What is not part of the state, since nothing can notice it; none if there is no such thing. All counts are those
    /// of the states without it.
    pub slice: Option<SliceReport>,
    /// Whether steps were left out by partial order, if that was not switched off.
    pub partial_order: Option<PartialOrderReport>,
    /// How the search was reduced.
    pub reduction: ReductionReport,
    /// The symmetries, if they were requested.
    pub symmetry: Option<SymmetryReport>,
    /// Details of adaptive reduction, if it was used.
    pub adaptive: Option<AdaptiveUse>,
    /// The sets of states, if the search was symbolic. Counts that do not fit elsewhere are exact here.
    pub sets: Option<SetsReport>,
    /// Whether interchangeable values were counted instead of storing what each of them does.
    pub counted: bool,
    /// What a solver did, if one was asked instead of a search.
    pub proof: Option<ProofReport>,
    /// Additional searches, for liveness of instances that symmetries exchange.
    pub liveness_searches: Vec<LivenessReport>,
    /// The searches for temporal properties.
    pub temporal: Vec<TemporalReport>,
    /// The properties that needed no search.
    pub settled: Vec<PropertyId>,
    /// The comparison with the unreduced search, if there was one.
    pub cross_check: Option<CrossCheck>,
    /// The rules without an instance that can fire in any reachable state; unknown unless the search finished. After an
    /// approximate search: in any visited state.
    pub never_fired: Option<Vec<RuleId>>,
    /// Peak number of bytes used for stored states.
    pub store_bytes: u64,
    /// Peak number of bytes used on disk for states that did not fit into memory.
    pub disk_bytes: u64,
    /// The number of 64-bit words of a packed state at the end of the search.
    pub words: usize,
    /// States from the checkpoint that the search was resumed from, which were not found in the reported time.
    pub resumed_states: u64,
    /// The number of threads the search could use.
    pub threads: u32,
    /// The total time, without the time before a checkpoint.
    pub elapsed: Duration,
    /// The peak memory use of the process, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Deviations from the options, and other notes.
    pub notes: Vec<String>,
}

/// The best state that satisfies a cover property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimum {
    /// The cover property.
    pub property: PropertyId,
    /// Whether the least value is best.
    pub is_least: bool,
    /// The value.
    pub value: i64,
    /// Whether there is no better one. If a limit was reached first, this is the best that was found.
    pub is_proved: bool,
    /// A run to the state.
    pub trace: Trace,
}

/// What a check leaves out of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceReport {
    /// Variables, or parts of them, that nothing reads, such as `Chan1.Data`.
    pub unread: Vec<String>,
    /// Those that are read, but only where nothing depends on their value: it only counts whether they are defined.
    pub only_definedness: Vec<String>,
    /// Those that do not count where they are written before they are read on every way onward.
    pub dead: Vec<String>,
}

/// Whether a search took a part of the steps where that suffices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialOrderReport {
    /// Why it took all; none if it did not. Then the states represented are not counted.
    pub unused: Option<String>,
}

/// How a search was reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionReport {
    /// The name of the strategy, including `none` and `adaptive`.
    pub name: &'static str,
    /// How representatives are found, or why there are none.
    pub method: Option<String>,
    /// Whether each orbit is stored once.
    pub exact: bool,
    /// Whether states of different orbits may be identified.
    pub approximate: bool,
    /// The number of states whose marker equals that of a different orbit, if markers were used and collisions could be
    /// counted.
    pub marker_collisions: Option<u64>,
    /// Processor time spent on canonicalization, of all threads together.
    pub canonicalization: Option<Duration>,
}

impl ReductionReport {
    /// Whether there is a reduction.
    pub fn reduces(&self) -> bool {
        self.name != NONE
    }
}

/// What a solver did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofReport {
    /// How it proves and refutes.
    pub method: String,
    /// The gates of the formula of the model.
    pub gates: usize,
    /// Questions to the solver.
    pub queries: u64,
    /// Clauses that were learned, with their images under symmetries.
    pub clauses: u64,
    /// Steps that were unrolled, or levels of the proof.
    pub depth: u64,
    /// If IC3 proved that nothing is wrong: conditions that hold together in all reachable states and show it. Another
    /// solver has checked them.
    pub invariant: Option<Vec<String>>,
}

/// What is known about the symmetries of a model.
#[derive(Clone, Debug)]
pub struct SymmetryReport {
    /// The group.
    pub group: Result<GroupReport, &'static str>,
    /// The time taken to find it.
    pub elapsed: Duration,
}

/// A group of symmetries.
#[derive(Clone, Debug)]
pub struct GroupReport {
    /// The number of symmetries.
    pub order: BigUint,
    /// The structure of the group, for human readers.
    pub structure: String,
    /// Generators in source terms, each a list of cycles.
    pub generators: Vec<Vec<String>>,
    /// Vertices and edges of the graph it was found in.
    pub graph: Option<(usize, usize)>,
    /// Whether these are all symmetries of the graph.
    pub complete: bool,
    /// The number of symmetries of the behaviour, and the properties that do not have them all.
    pub behaviour: Option<(BigUint, Vec<PropertyId>)>,
    /// Declarations that do not hold.
    pub refused: Vec<Refused>,
}

/// A remark about a model that is not a violation: that a guard of a B operation has no value in some reachable state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The property of the model that states the condition: its name is the remark, its span the location.
    pub property: PropertyId,
    /// A run to a state in which it holds, unless there was no time to find one.
    pub trace: Option<Trace>,
}

/// The unreduced search that was compared with the reduced one. A difference is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossCheck {
    /// The extent of the comparison.
    pub extent: Extent,
    /// The verdict of the unreduced search.
    pub verdict: Verdict,
    /// Why it ended before it finished.
    pub stop_reason: Option<StopReason>,
    /// The states it stored.
    pub states: u64,
    /// The rule instances it fired.
    pub transitions: u64,
}

pub(crate) const NONE: &str = "none";

impl Report {
    /// The same with the data that only the plan has. A model with a claim that cannot be checked is not reported as
    /// holding.
    pub(crate) fn planned(self, plan: &Plan) -> Self {
        let verdict = match self.verdict {
            Verdict::Holds if !plan.unsupported.is_empty() => Verdict::Inconclusive,
            verdict => verdict,
        };
        Self {
            verdict,
            unsupported: plan.unsupported.clone(),
            settled: plan.settled.clone(),
            threads: plan.threads,
            all_errors: plan.search.violations.collects(),
            ..self
        }
    }

    /// Whether nothing was searched, since no property needed it.
    pub fn needed_no_search(&self) -> bool {
        let is_settled = |property: &PropertyReport| match property.subject {
            Subject::Property(id) => self.settled.contains(&id),
            Subject::Deadlock | Subject::Errors => false,
        };
        !self.properties.is_empty() && self.properties.iter().all(is_settled)
    }

    /// The states stored, however many: orbits or single states, as far as they are known.
    pub fn all_states(&self) -> BigUint {
        match &self.sets {
            Some(sets) => sets.orbits.as_ref().unwrap_or(&sets.states).clone(),
            None => BigUint::from(self.states),
        }
    }

    /// The rule instances fired, however many.
    pub fn all_transitions(&self) -> BigUint {
        self.sets.as_ref().map_or_else(|| BigUint::from(self.transitions), |sets| sets.transitions.clone())
    }

    /// The number of states of the model for each stored one.
    pub fn reduction_factor(&self) -> Option<f64> {
        let represented = self.represented.as_ref().filter(|_| self.states > 0)?;
        // A float for human readers; there is none only beyond 10^300.
        let float = |number: &BigUint| number.to_string().parse::<f64>().ok();
        Some(float(represented)? / float(&self.all_states())?).filter(|factor| factor.is_finite())
    }

    /// The number of instances of a liveness property that were checked, and the number they represent, if symmetries
    /// reduced it.
    pub fn judged_instances(&self, property: PropertyId) -> Option<(usize, usize)> {
        let instances = self.liveness_searches.iter().flat_map(|search| &search.instances);
        let judged: Vec<usize> =
            instances.filter(|instance| instance.property == property).map(|instance| instance.symmetric).collect();
        (!judged.is_empty()).then(|| (judged.len(), judged.iter().sum()))
    }
}
