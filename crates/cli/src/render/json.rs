//! Results as one JSON object on one line. The keys are stable: programs read them.

use std::io::{self, Write};
use std::time::Duration;

use quotient::walk::{RunsOptions, RunsReport};
use quotient::{
    AdaptiveUse, CrossCheck, Extent, LivenessReport, PartialOrderReport, ProductReport, ProofReport, PropertyReport,
    Remark, Report, RuleFirings, SetsReport, SliceReport, StopReason, Subject, TemporalReport, UsedSymmetry, Verdict,
};
use quotient_ir::{
    Action, Diagnostic, Interpreter, Layout, Model, RuleId, Severity, Source, Span, Trace, TraceStep, TypeId, TypeKind,
    Unexecuted, Valuation, Violation,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::invocation::Invocation;
use crate::render::context::{ContextObject, failure_context};
use crate::render::diagnostics::Lines;
use crate::render::header::Header;
use crate::render::human::{Outcome, stop_text, summary};
use quotient::names::{
    NamedArgument, RuleGroup, action_arguments, action_name, action_span, participants, property_arguments,
    property_name, rule_groups, rule_name, subject_kind, subject_name, subject_title,
};
use quotient::shown::StateShape;
use quotient::shown::describe_violation;

/// The maximum number of diagnostics: a million messages do not explain an invalid file better.
const LISTED_DIAGNOSTICS: usize = 1000;

/// Whether steps were left out by partial order.
#[derive(serde::Serialize)]
struct PartialOrderObject<'a> {
    used: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The result of `check` or `explore`.
#[derive(serde::Serialize)]
struct SearchObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    threads: u32,
    verdict: &'static str,
    /// The verdict and its subject, as in the text output.
    summary: String,
    stop_reason: Option<&'static str>,
    /// The same as in the text output.
    stop_message: Option<String>,
    /// None if there are too many for an integer of 64 bits; `symbolic` has the number.
    states: Option<u64>,
    transitions: Option<u64>,
    represented: Option<String>,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    omission_probability: Option<f64>,
    /// What is not part of the state, since nothing can notice it.
    #[serde(skip_serializing_if = "Option::is_none")]
    slice: Option<SliceObject<'a>>,
    /// Whether steps were left out by partial order, if that was not switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_order: Option<PartialOrderObject<'a>>,
    reduction: &'static str,
    reduction_factor: Option<f64>,
    symmetry: SymmetryObject<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adaptive: Option<AdaptiveObject<'a>>,
    /// The sets of a symbolic search.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbolic: Option<SetsObject>,
    /// What a solver did.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofObject<'a>>,
    properties: Vec<PropertyObject<'a>>,
    /// All violations, one for each property and each kind of error, if the search continues past them.
    #[serde(skip_serializing_if = "Option::is_none")]
    violations: Option<Vec<FoundObject<'a>>>,
    /// The run to the run-time error that ended the search, if errors were not selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultObject<'a>>,
    /// Remarks, which are not violations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<RemarkObject<'a>>,
    #[serde(flatten)]
    graph: Option<GraphObject>,
    depth: u64,
    /// The number of states at each depth, starting with the initial states.
    #[serde(skip_serializing_if = "Option::is_none")]
    states_per_level: Option<&'a [u64]>,
    /// How often rules fire, summed over each orbit of rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    fired: Option<Vec<FiredObject>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    liveness_searches: Vec<LivenessObject<'a>>,
    /// The searches for temporal properties.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    temporal_searches: Vec<TemporalObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_check: Option<CrossCheckObject>,
    /// Rules without an instance that ever fires, for models without statements of processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    never_fired: Option<Vec<RulePlaceObject>>,
    /// Statements of processes that are never executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    never_executed: Option<Vec<NeverExecutedObject<'a>>>,
    /// States of the checkpoint that the search was resumed from; `seconds` are those since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_states: Option<u64>,
    seconds: f64,
    canonicalization_seconds: Option<f64>,
    store_bytes: u64,
    words: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_bytes: Option<u64>,
    peak_memory_bytes: Option<u64>,
    /// Deviations from the options.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    diagnostics: Vec<DiagnosticObject<'a>>,
}

/// What a symbolic search computed.
#[derive(serde::Serialize)]
struct SetsObject {
    states: String,
    orbits: Option<String>,
    transitions: String,
    nodes: usize,
    peak_nodes: usize,
    images: u64,
    bits: u32,
    order: &'static str,
}

fn sets_object(sets: &SetsReport) -> SetsObject {
    let SetsReport { states, orbits, transitions, nodes, peak_nodes, images, bits, order, way: _, greatest: _ } = sets;
    SetsObject {
        states: states.to_string(),
        orbits: orbits.as_ref().map(ToString::to_string),
        transitions: transitions.to_string(),
        nodes: *nodes,
        peak_nodes: *peak_nodes,
        images: *images,
        bits: *bits,
        order,
    }
}

/// What a solver did.
#[derive(serde::Serialize)]
struct ProofObject<'a> {
    method: &'a str,
    gates: usize,
    queries: u64,
    clauses: u64,
    depth: u64,
    /// Conditions that hold together in all reachable states and show that nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<&'a [String]>,
}

fn proof_object(proof: &ProofReport) -> ProofObject<'_> {
    let ProofReport { method, gates, queries, clauses, depth, invariant } = proof;
    ProofObject {
        method,
        gates: *gates,
        queries: *queries,
        clauses: *clauses,
        depth: *depth,
        invariant: invariant.as_deref(),
    }
}

/// Variables, or parts of them, that are not part of the state.
#[derive(serde::Serialize)]
struct SliceObject<'a> {
    unread: &'a [String],
    only_definedness: &'a [String],
    dead: &'a [String],
}

/// An orbit of rules, and how often they fire in all states of the model.
#[derive(serde::Serialize)]
struct FiredObject {
    rules: Vec<RulePlaceObject>,
    times: String,
}

/// A rule and where it is.
#[derive(serde::Serialize)]
struct RulePlaceObject {
    rule: String,
    line: usize,
}

/// A statement that is never executed.
#[derive(serde::Serialize)]
struct NeverExecutedObject<'a> {
    process: &'a str,
    file: &'a str,
    line: usize,
    text: &'a str,
    /// Whether some process reaches it but can never execute it.
    reached: bool,
}

/// Counts that only `explore` provides.
#[derive(serde::Serialize)]
struct GraphObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_states: Option<u64>,
    deadlocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    net: Option<NetObject>,
}

/// What the Model Checking Contest asks about a net. Numbers that may have more than 64 bits are texts.
#[derive(serde::Serialize)]
struct NetObject {
    states: String,
    transitions: String,
    most_tokens_in_place: u64,
    most_tokens_in_marking: u64,
}

/// The symmetries in use.
#[derive(serde::Serialize)]
struct SymmetryObject<'a> {
    order: String,
    structure: &'a str,
    generators: Vec<GeneratorObject<'a>>,
    graph: Option<SizeObject>,
    seconds: f64,
    /// How representatives are found, or why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    /// Whether these are all symmetries visible to detection.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// The effect of properties on the symmetries of the behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    behaviour: Option<BehaviourObject>,
}

/// The symmetries of the behaviour, if some property does not have them all.
#[derive(serde::Serialize)]
struct BehaviourObject {
    order: String,
    broken_by: Vec<String>,
}

/// Details of adaptive reduction.
#[derive(serde::Serialize)]
struct AdaptiveObject<'a> {
    families: &'a [String],
    rules: Vec<RuleObject<'a>>,
    partitions: usize,
    removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// What a rule distinguishes; no partition if it was never considered.
#[derive(serde::Serialize)]
struct RuleObject<'a> {
    name: &'a str,
    partition: Option<&'a str>,
    symmetric: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

/// A search for a temporal property: the product with an automaton.
#[derive(serde::Serialize)]
struct TemporalObject {
    property: String,
    fairness: &'static str,
    /// The number of instances of the formula that it decides.
    instances: usize,
    automaton_states: u32,
    acceptance_sets: u32,
    /// The numbers of symmetries: where nothing is tracked, and of the whole formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_symmetries: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_symmetries: Option<String>,
    /// Instead of these, the sizes of the families whose values were counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counted: Vec<u64>,
    states: u64,
    transitions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_order: Option<TemporalPartialOrderObject>,
    /// What a run that violates the property does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

/// What partial order did to a search for a temporal property.
#[derive(serde::Serialize)]
struct TemporalPartialOrderObject {
    used: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The states of the model that the steps lead to, and those of which some steps are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduced_states: Option<u64>,
}

/// An additional search, for liveness.
#[derive(serde::Serialize)]
struct LivenessObject<'a> {
    instances: Vec<InstanceObject<'a>>,
    order: String,
    states: u64,
    transitions: u64,
}

/// An instance that was checked on behalf of all symmetric ones.
#[derive(serde::Serialize)]
struct InstanceObject<'a> {
    property: String,
    arguments: ArgumentsObject<'a>,
    symmetric: usize,
}

/// The unreduced search that was compared with the reduced one.
#[derive(serde::Serialize)]
struct CrossCheckObject {
    compared: &'static str,
    verdict: &'static str,
    stop_reason: Option<&'static str>,
    states: u64,
    transitions: u64,
}

/// A generator in source terms.
#[derive(serde::Serialize)]
struct GeneratorObject<'a> {
    cycles: &'a [String],
}

/// The size of the graph the symmetries were found in.
#[derive(serde::Serialize)]
struct SizeObject {
    nodes: usize,
    edges: usize,
}

impl<'a> SymmetryObject<'a> {
    fn of(model: &Model, report: &'a Report) -> Self {
        let symmetry = report.symmetry.as_ref();
        let none = Self {
            order: "1".to_owned(),
            structure: "trivial",
            generators: Vec::new(),
            graph: None,
            seconds: symmetry.map_or(0.0, |symmetry| seconds(symmetry.elapsed)),
            method: symmetry.and_then(|symmetry| symmetry.group.as_ref().err().copied()),
            complete: symmetry.map(|_| false),
            behaviour: None,
        };
        let Some(group) = symmetry.and_then(|symmetry| symmetry.group.as_ref().ok()) else { return none };
        Self {
            order: group.order.to_string(),
            structure: &group.structure,
            generators: group.generators.iter().map(|cycles| GeneratorObject { cycles }).collect(),
            graph: group.graph.map(|(nodes, edges)| SizeObject { nodes, edges }),
            method: report.reduction.method.as_deref(),
            complete: Some(group.complete),
            behaviour: group.behaviour.as_ref().map(|(order, properties)| BehaviourObject {
                order: order.to_string(),
                broken_by: properties.iter().map(|&id| property_name(model, id)).collect(),
            }),
            ..none
        }
    }
}

#[derive(serde::Serialize)]
pub(super) struct PropertyObject<'a> {
    name: String,
    kind: &'static str,
    /// The title of the property, as in the text output.
    title: String,
    verdict: &'static str,
    trace: Option<TraceObject<'a>>,
    /// The step of the trace, from 0, in whose state the cycle of a lasso begins. The last step leads back to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<usize>,
    violation: Option<ViolationObject<'a>>,
    /// The least or greatest value, if the property asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    optimum: Option<OptimumObject>,
    /// Why it cannot be checked, if its verdict is `unsupported`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<ViolationObject<'a>>,
}

/// The best state that satisfies a property; the trace of the property leads to it.
#[derive(serde::Serialize)]
struct OptimumObject {
    extreme: &'static str,
    value: i64,
    proved: bool,
}

/// A run to a run-time error: one of several, or one that is not a violation because errors were not selected.
#[derive(serde::Serialize)]
struct FaultObject<'a> {
    trace: TraceObject<'a>,
    violation: Option<ViolationObject<'a>>,
}

/// One of all violations.
#[derive(serde::Serialize)]
struct FoundObject<'a> {
    property: String,
    kind: &'static str,
    trace: Option<TraceObject<'a>>,
    violation: Option<ViolationObject<'a>>,
}

/// A remark: the location of a condition without a value, with a run to a state in which it has none.
#[derive(serde::Serialize)]
struct RemarkObject<'a> {
    message: String,
    file: &'a str,
    line: usize,
    column: usize,
    trace: Option<TraceObject<'a>>,
}

/// The violation at the end of a trace.
#[derive(serde::Serialize)]
struct ViolationObject<'a> {
    message: String,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    /// The calls, values and part of a condition that explain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextObject<'a>>,
    /// The rule that fired last: the one that fails, or the one that leads to the violating state.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<FailingRuleObject<'a>>,
}

/// A rule or initial state with its arguments and its location.
#[derive(serde::Serialize)]
struct FailingRuleObject<'a> {
    name: String,
    arguments: ArgumentsObject<'a>,
    /// The statements of the participating processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Vec<String>>,
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(serde::Serialize)]
pub(super) struct DiagnosticObject<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    help: Option<&'a str>,
}

/// A command that ended without a result.
#[derive(serde::Serialize)]
struct FailureObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_message: Option<String>,
    diagnostics: Vec<DiagnosticObject<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    omitted_diagnostics: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The run of `simulate`.
#[derive(serde::Serialize)]
struct SimulationObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    verdict: &'static str,
    stop_reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    steps: usize,
    /// The step of the trace in whose state the cycle of a lasso begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<usize>,
    trace: TraceObject<'a>,
    violation: Option<ViolationObject<'a>>,
    diagnostics: Vec<DiagnosticObject<'a>>,
}

/// The runs of `simulate --check`.
#[derive(serde::Serialize)]
struct CheckedRunsObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    verdict: &'static str,
    stop_reason: &'static str,
    seed: u64,
    runs: u64,
    steps: u64,
    /// The seed that reproduces the violating run.
    violating_seed: Option<u64>,
    trace: Option<TraceObject<'a>>,
    violation: Option<ViolationObject<'a>>,
    /// The cover properties that were reached.
    covered: Vec<String>,
    diagnostics: Vec<DiagnosticObject<'a>>,
}

/// A model and the layout of its states, to name the contents of a trace.
#[derive(Clone, Copy)]
pub(super) struct Naming<'a> {
    pub(super) model: &'a Model,
    pub(super) layout: &'a Layout,
}

/// A trace as a list of steps.
struct TraceObject<'a> {
    naming: Naming<'a>,
    trace: &'a Trace,
}

struct StepObject<'a> {
    naming: Naming<'a>,
    /// The state as in the text output, if that is not cell by cell.
    shape: Option<&'a StateShape<'a>>,
    step: &'a TraceStep,
    interpreter: &'a Interpreter<'a>,
    /// The text printed by the step.
    printed: String,
    /// The previous state, if there is one.
    before: Option<&'a Valuation>,
}

/// A state as in the text output.
struct ShownObject<'a>(&'a StateShape<'a>, &'a Valuation);

struct ArgumentsObject<'a> {
    model: &'a Model,
    arguments: Vec<NamedArgument>,
}

struct StateObject<'a> {
    naming: Naming<'a>,
    state: &'a Valuation,
}

/// A scalar: a JSON boolean, a number, a name, or null if undefined.
struct ScalarObject<'a> {
    model: &'a Model,
    ty: TypeId,
    value: Option<i64>,
}

impl Serialize for TraceObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Naming { model, layout } = self.naming;
        let is_shown = model.presentation.is_some() || model.operations.is_some() || !model.notations.is_empty();
        let shape = is_shown.then(|| StateShape::new(model, layout));
        let interpreter = Interpreter::new(model, layout);
        let steps = &self.trace.steps;
        let step = |position: usize| {
            let (step, before) = (&steps[position], position.checked_sub(1).map(|previous| &steps[previous].state));
            let printed = interpreter.printed(step.action, &step.arguments, before);
            StepObject { naming: self.naming, shape: shape.as_ref(), step, interpreter: &interpreter, printed, before }
        };
        serializer.collect_seq((0..steps.len()).map(step))
    }
}

impl Serialize for StepObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (model, step) = (self.naming.model, self.step);
        let arguments = action_arguments(model, step.action, &step.arguments);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rule", &action_name(model, step.action))?;
        map.serialize_entry("arguments", &ArgumentsObject { model, arguments })?;
        map.serialize_entry("state", &StateObject { naming: self.naming, state: &step.state })?;
        if let Some(operations) = &model.operations {
            let call = operations.call_text(self.interpreter, step.action, &step.arguments, self.before);
            map.serialize_entry("operation", &call)?;
            let results =
                self.before.map(|before| operations.results(self.interpreter, step.action, &step.arguments, before));
            let results = results.unwrap_or_default();
            if !results.is_empty() {
                map.serialize_entry("results", &ResultsObject(&results))?;
            }
        }
        if let Some(lines) = participants(model, step.action, &step.arguments) {
            map.serialize_entry("text", &lines)?;
        }
        if !self.printed.is_empty() {
            map.serialize_entry("printed", &self.printed)?;
        }
        if let Some(shape) = self.shape.filter(|_| !model.is_between(self.naming.layout, &step.state)) {
            map.serialize_entry("shown", &ShownObject(shape, &step.state))?;
        }
        map.end()
    }
}

/// The results of an operation as in the text output.
struct ResultsObject<'a>(&'a [(String, String)]);

impl Serialize for ResultsObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for ShownObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.0.entries(self.1);
        serializer.collect_map(entries.into_iter().map(|entry| (entry.name, entry.value)))
    }
}

impl Serialize for ArgumentsObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.arguments.iter().map(|argument| {
            (&argument.name, ScalarObject { model: self.model, ty: argument.ty, value: Some(argument.value) })
        }))
    }
}

impl Serialize for StateObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Naming { model, layout } = self.naming;
        serializer.collect_map(
            layout
                .slots
                .iter_enumerated()
                .map(|(id, slot)| (&slot.name, ScalarObject { model, ty: slot.ty, value: self.state[id] })),
        )
    }
}

impl Serialize for ScalarObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(value) = self.value else { return serializer.serialize_none() };
        match self.model.types[self.ty].kind {
            TypeKind::Boolean => serializer.serialize_bool(value != 0),
            TypeKind::Integer | TypeKind::Range { .. } => serializer.serialize_i64(value),
            _ => serializer.serialize_str(&self.model.value_name(self.ty, value)),
        }
    }
}

/// What is written, as text.
pub(crate) fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    write(&mut text).expect("memory can be written to");
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// The result of `check` (without `counts`) or `explore`.
pub(crate) fn search(
    writer: &mut dyn Write,
    command: &'static str,
    outcome: &Outcome<'_>,
    invocation: &Invocation,
) -> io::Result<()> {
    let (model, report) = (outcome.model.ir(), outcome.report);
    let naming = Naming { model, layout: outcome.model.layout() };
    let lines = Lines::new(&model.source);
    let object = SearchObject {
        header: Header::new(command, outcome.model, invocation),
        threads: report.threads,
        verdict: verdict_name(report.verdict),
        summary: summary(outcome),
        stop_reason: report.stop_reason.as_ref().map(stop_reason_name),
        stop_message: report.stop_reason.as_ref().map(stop_text),
        states: u64::try_from(report.all_states()).ok(),
        transitions: u64::try_from(report.all_transitions()).ok(),
        represented: report.represented.as_ref().map(ToString::to_string),
        exact: report.exact,
        omission_probability: report.approximation.map(|approximation| approximation.omission_probability),
        slice: report.slice.as_ref().map(|slice| {
            let SliceReport { unread, only_definedness, dead } = slice;
            SliceObject { unread, only_definedness, dead }
        }),
        partial_order: report.partial_order.as_ref().map(|PartialOrderReport { unused }| PartialOrderObject {
            used: unused.is_none(),
            reason: unused.as_deref(),
        }),
        reduction: report.reduction.name,
        reduction_factor: report.reduction_factor().map(|factor| (factor * 1e6).round() / 1e6),
        symmetry: SymmetryObject::of(model, report),
        adaptive: report.adaptive.as_ref().map(adaptive_object),
        symbolic: report.sets.as_ref().map(sets_object),
        proof: report.proof.as_ref().map(proof_object),
        properties: property_objects(naming, &lines, report),
        violations: report.all_errors.then(|| found_objects(naming, &lines, report)),
        fault: report.fault.as_ref().map(|trace| fault_object(naming, &lines, trace)),
        remarks: remark_objects(naming, &lines, report),
        graph: outcome.counts.as_ref().map(|counts| GraphObject {
            initial_states: counts.initial,
            deadlocks: counts.deadlocks,
            net: counts.net.map(|net| NetObject {
                states: net.states.to_string(),
                transitions: net.transitions.to_string(),
                most_tokens_in_place: net.most_in_place,
                most_tokens_in_marking: net.most_in_marking,
            }),
        }),
        depth: report.depth,
        states_per_level: report.levels.as_deref(),
        fired: report.firings.as_ref().map(|firings| fired_objects(model, &lines, firings)),
        liveness_searches: report.liveness_searches.iter().map(|search| liveness_object(model, search)).collect(),
        temporal_searches: report.temporal.iter().flat_map(|temporal| temporal_objects(model, temporal)).collect(),
        cross_check: report.cross_check.as_ref().map(cross_check_object),
        never_fired: never_fired_objects(outcome, &lines),
        never_executed: never_executed_objects(outcome),
        resumed_states: (report.resumed_states > 0).then_some(report.resumed_states),
        seconds: seconds(report.elapsed),
        canonicalization_seconds: report.reduction.canonicalization.map(seconds),
        store_bytes: report.store_bytes,
        words: report.words,
        disk_bytes: (report.disk_bytes > 0).then_some(report.disk_bytes),
        peak_memory_bytes: report.peak_memory,
        notes: &report.notes,
        diagnostics: diagnostic_objects(&model.source, outcome.model.warnings()),
    };
    write(writer, &object)
}

fn temporal_objects(model: &Model, temporal: &TemporalReport) -> Vec<TemporalObject> {
    let object = |search: &ProductReport| {
        let (orders, counted) = match &search.symmetry {
            UsedSymmetry::None => (Some(("1".to_owned(), "1".to_owned())), Vec::new()),
            UsedSymmetry::Whole(order) => (Some((order.to_string(), order.to_string())), Vec::new()),
            UsedSymmetry::Annotated { most, least } => (Some((most.to_string(), least.to_string())), Vec::new()),
            UsedSymmetry::Counted(sizes) => (None, sizes.clone()),
        };
        let (most, least) = orders.unzip();
        TemporalObject {
            property: property_name(model, temporal.property),
            fairness: temporal.fairness.name(),
            instances: search.instances.len(),
            automaton_states: search.automaton.0,
            acceptance_sets: search.automaton.1,
            most_symmetries: most,
            least_symmetries: least,
            counted,
            states: search.states,
            transitions: search.transitions,
            partial_order: match (search.parts, &temporal.all_steps) {
                (None, None) => None,
                (parts, reason) => Some(TemporalPartialOrderObject {
                    used: parts.is_some(),
                    reason: reason.clone(),
                    states: parts.map(|parts| parts.states),
                    reduced_states: parts.map(|parts| parts.reduced),
                }),
            },
            remarks: temporal.remarks.clone(),
        }
    };
    temporal.searches.iter().map(object).collect()
}

fn remark_objects<'a>(naming: Naming<'a>, lines: &Lines<'a>, report: &'a Report) -> Vec<RemarkObject<'a>> {
    let object = |remark: &'a Remark| {
        let place = lines.place(naming.model.properties[remark.property].span);
        RemarkObject {
            message: property_name(naming.model, remark.property),
            file: place.file,
            line: place.line,
            column: place.column,
            trace: remark.trace.as_ref().map(|trace| TraceObject { naming, trace }),
        }
    };
    report.remarks.iter().map(object).collect()
}

fn never_fired_objects(outcome: &Outcome<'_>, lines: &Lines<'_>) -> Option<Vec<RulePlaceObject>> {
    let model = outcome.model.ir();
    let rules = outcome.report.never_fired.as_ref().filter(|_| model.presentation.is_none())?;
    let never = rule_groups(model, rules).into_iter().filter(|group| group.is_never_fired);
    let object =
        |RuleGroup { name, first, .. }| RulePlaceObject { rule: name, line: lines.place(model.rules[first].span).line };
    Some(never.map(object).collect())
}

fn fired_objects(model: &Model, lines: &Lines<'_>, firings: &[RuleFirings]) -> Vec<FiredObject> {
    let object = |RuleFirings { rules, times }: &RuleFirings| FiredObject {
        rules: rules.iter().map(|&rule| rule_place(model, lines, rule)).collect(),
        times: times.to_string(),
    };
    firings.iter().map(object).collect()
}

fn rule_place(model: &Model, lines: &Lines<'_>, rule: RuleId) -> RulePlaceObject {
    RulePlaceObject { rule: rule_name(model, rule), line: lines.place(model.rules[rule].span).line }
}

fn never_executed_objects<'a>(outcome: &Outcome<'a>) -> Option<Vec<NeverExecutedObject<'a>>> {
    let model = outcome.model.ir();
    let unexecuted = model.presentation.as_ref()?.unexecuted(outcome.report.never_fired.as_ref()?);
    let object = |it: Unexecuted<'a>| NeverExecutedObject {
        process: &it.statement.process,
        file: model.source.file_at(it.statement.span.start).0,
        line: it.statement.line,
        text: &it.statement.text,
        reached: it.is_reached,
    };
    Some(unexecuted.into_iter().map(object).collect())
}

fn adaptive_object(adaptive: &AdaptiveUse) -> AdaptiveObject<'_> {
    let rules = adaptive.rules.iter().map(|rule| RuleObject {
        name: &rule.name,
        partition: rule.partition.as_deref(),
        symmetric: !rule.tells_apart,
        cause: rule.cause.as_deref(),
    });
    AdaptiveObject {
        families: &adaptive.families,
        rules: rules.collect(),
        partitions: adaptive.partitions,
        removed: adaptive.removed,
        reason: adaptive.reason.as_deref(),
    }
}

fn liveness_object<'a>(model: &'a Model, search: &LivenessReport) -> LivenessObject<'a> {
    let instances = search.instances.iter().map(|instance| InstanceObject {
        property: property_name(model, instance.property),
        arguments: ArgumentsObject {
            model,
            arguments: property_arguments(model, instance.property, &instance.arguments),
        },
        symmetric: instance.symmetric,
    });
    LivenessObject {
        instances: instances.collect(),
        order: search.order.to_string(),
        states: search.states,
        transitions: search.transitions,
    }
}

fn cross_check_object(comparison: &CrossCheck) -> CrossCheckObject {
    let CrossCheck { extent, verdict, stop_reason, states, transitions } = comparison;
    CrossCheckObject {
        compared: match extent {
            Extent::Everything => "everything",
            Extent::Verdicts => "verdicts",
            Extent::Nothing(_) => "nothing",
        },
        verdict: verdict_name(*verdict),
        stop_reason: stop_reason.as_ref().map(stop_reason_name),
        states: *states,
        transitions: *transitions,
    }
}

/// A command that ended because of the model.
pub(crate) fn failure(
    writer: &mut dyn Write,
    header: Header<'_>,
    source: &Source,
    diagnostics: &[Diagnostic],
) -> io::Result<()> {
    let omitted_diagnostics = diagnostics.len().saturating_sub(LISTED_DIAGNOSTICS);
    let diagnostics = diagnostic_objects(source, &diagnostics[..diagnostics.len() - omitted_diagnostics]);
    let (verdict, stop_reason, stop_message) = (None, None, None);
    write(writer, &FailureObject { header, verdict, stop_reason, stop_message, diagnostics, omitted_diagnostics })
}

/// A command that was stopped before there was anything to report.
pub(crate) fn stopped(writer: &mut dyn Write, header: Header<'_>, reason: &StopReason) -> io::Result<()> {
    let (verdict, stop_reason) = (Some(verdict_name(Verdict::Inconclusive)), Some(stop_reason_name(reason)));
    let (stop_message, diagnostics, omitted_diagnostics) = (Some(stop_text(reason)), Vec::new(), 0);
    write(writer, &FailureObject { header, verdict, stop_reason, stop_message, diagnostics, omitted_diagnostics })
}

/// The run of `simulate`.
pub(crate) fn simulation(
    writer: &mut dyn Write,
    loaded: &quotient::Model,
    seed: Option<u64>,
    stop_reason: &'static str,
    trace: &Trace,
    invocation: &Invocation,
) -> io::Result<()> {
    let (model, layout) = (loaded.ir(), loaded.layout());
    let lines = Lines::new(&model.source);
    // A run without a violation proves nothing.
    let verdict = if trace.violation.is_some() { Verdict::Violated } else { Verdict::Inconclusive };
    let object = SimulationObject {
        header: Header::new("simulate", loaded, invocation),
        verdict: verdict_name(verdict),
        stop_reason,
        seed,
        cycle: trace.cycle,
        steps: trace.steps.iter().filter(|step| matches!(step.action, Action::Rule(_))).count(),
        trace: TraceObject { naming: Naming { model, layout }, trace },
        violation: violation_object(Naming { model, layout }, &lines, trace),
        diagnostics: diagnostic_objects(&model.source, loaded.warnings()),
    };
    write(writer, &object)
}

/// Random runs that were checked, of `simulate --check`.
pub(crate) fn checked_runs(
    writer: &mut dyn Write,
    options: &RunsOptions,
    report: &RunsReport,
    loaded: &quotient::Model,
    invocation: &Invocation,
) -> io::Result<()> {
    let (model, layout) = (loaded.ir(), loaded.layout());
    let lines = Lines::new(&model.source);
    let naming = Naming { model, layout };
    let run = report.violation.as_ref();
    let object = CheckedRunsObject {
        header: Header::new("simulate", loaded, invocation),
        verdict: verdict_name(if run.is_some() { Verdict::Violated } else { Verdict::Inconclusive }),
        stop_reason: if run.is_some() { "violation" } else { "run-limit" },
        seed: options.seed,
        runs: report.runs,
        steps: report.steps,
        violating_seed: run.map(|run| run.seed),
        trace: run.map(|run| TraceObject { naming, trace: &run.trace }),
        violation: run.and_then(|run| violation_object(naming, &lines, &run.trace)),
        covered: report.covered.iter().map(|&cover| property_name(model, cover)).collect(),
        diagnostics: diagnostic_objects(&model.source, loaded.warnings()),
    };
    write(writer, &object)
}

/// Writes an object piece by piece: a long trace with large states may be too long to hold in memory.
pub(crate) fn write(writer: &mut dyn Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, object)?;
    writeln!(writer)
}

/// The verdict on each property, and what cannot be checked.
pub(super) fn property_objects<'a>(
    naming: Naming<'a>,
    lines: &Lines<'a>,
    report: &'a Report,
) -> Vec<PropertyObject<'a>> {
    let judged = report.properties.iter().map(|property| {
        let run = report.cover_runs.iter().find(|(cover, _)| property.subject == Subject::Property(*cover));
        let run = run.map(|(_, trace)| TraceObject { naming, trace });
        let object = property_object(naming, lines, property);
        let optimum = report.optima.iter().find(|it| property.subject == Subject::Property(it.property));
        let best = optimum.map(|it| TraceObject { naming, trace: &it.trace });
        let optimum = optimum.map(|it| OptimumObject {
            extreme: if it.is_least { "least" } else { "greatest" },
            value: it.value,
            proved: it.is_proved,
        });
        PropertyObject { trace: object.trace.or(best).or(run), optimum, ..object }
    });
    let unsupported = report.unsupported.iter().map(|property| PropertyObject {
        name: property.name.clone(),
        kind: property.kind,
        title: format!("{} \"{}\"", property.kind, property.name),
        verdict: "unsupported",
        trace: None,
        cycle: None,
        violation: None,
        optimum: None,
        reason: Some(located(lines, property.reason.clone(), property.span)),
    });
    judged.chain(unsupported).collect()
}

/// All violations of all properties.
fn found_objects<'a>(naming: Naming<'a>, lines: &Lines<'a>, report: &'a Report) -> Vec<FoundObject<'a>> {
    let mut found = Vec::new();
    for property in report.properties.iter().filter(|property| property.verdict == Verdict::Violated) {
        let PropertyObject { name, kind, trace, violation, .. } = property_object(naming, lines, property);
        found.push(FoundObject { property: name.clone(), kind, trace, violation });
        found.extend(property.other_traces.iter().map(|trace| FoundObject {
            property: name.clone(),
            kind,
            trace: Some(TraceObject { naming, trace }),
            violation: violation_object(naming, lines, trace),
        }));
    }
    found
}

fn property_object<'a>(naming: Naming<'a>, lines: &Lines<'a>, property: &'a PropertyReport) -> PropertyObject<'a> {
    let model = naming.model;
    let subject = property.subject;
    let (name, kind) = (subject_name(model, subject), subject_kind(model, subject));
    let title = subject_title(model, subject);
    let violation = match (&property.trace, property.subject) {
        (Some(trace), _) => violation_object(naming, lines, trace),
        (None, Subject::Property(id)) if property.verdict == Verdict::Violated => {
            let message = "no reachable state satisfies it".into();
            Some(located(lines, message, Some(model.properties[id].span)))
        }
        (None, _) => None,
    };
    PropertyObject {
        name,
        kind,
        title,
        verdict: match property.verdict {
            Verdict::Inconclusive => "undecided",
            verdict => verdict_name(verdict),
        },
        cycle: property.trace.as_ref().and_then(|trace| trace.cycle),
        trace: property.trace.as_ref().map(|trace| TraceObject { naming, trace }),
        violation,
        optimum: None,
        reason: None,
    }
}

fn fault_object<'a>(naming: Naming<'a>, lines: &Lines<'a>, trace: &'a Trace) -> FaultObject<'a> {
    FaultObject { trace: TraceObject { naming, trace }, violation: violation_object(naming, lines, trace) }
}

fn violation_object<'a>(naming: Naming<'a>, lines: &Lines<'a>, trace: &Trace) -> Option<ViolationObject<'a>> {
    let Naming { model, layout } = naming;
    let violation = trace.violation.as_ref()?;
    let text = describe_violation(model, layout, violation);
    let context = failure_context(model, layout, violation, trace.steps.last().map(|step| &step.state));
    Some(ViolationObject {
        context: ContextObject::of(lines, context),
        rule: failing_rule(model, lines, trace, violation),
        ..located(lines, text.message, text.span)
    })
}

/// The rule that fired last before a violation; none for a deadlock, where nothing can fire.
fn failing_rule<'a>(
    model: &'a Model,
    lines: &Lines<'a>,
    trace: &Trace,
    violation: &Violation,
) -> Option<FailingRuleObject<'a>> {
    let (action, arguments) = match violation {
        Violation::Fault { action, arguments, .. } => (*action, arguments),
        Violation::Deadlock(_) => return None,
        _ => trace.steps.last().map(|step| (step.action, &step.arguments))?,
    };
    let place = lines.place(action_span(model, action));
    Some(FailingRuleObject {
        name: action_name(model, action),
        arguments: ArgumentsObject { model, arguments: action_arguments(model, action, arguments) },
        text: participants(model, action, arguments),
        file: place.file,
        line: place.line,
        column: place.column,
    })
}

fn located<'a>(lines: &Lines<'a>, message: String, span: Option<Span>) -> ViolationObject<'a> {
    let place = span.map(|span| lines.place(span));
    ViolationObject {
        message,
        file: place.map(|place| place.file),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        context: None,
        rule: None,
    }
}

pub(super) fn diagnostic_objects<'a>(source: &'a Source, diagnostics: &'a [Diagnostic]) -> Vec<DiagnosticObject<'a>> {
    let lines = Lines::new(source);
    let object = |diagnostic: &'a Diagnostic| {
        let place = diagnostic.primary.as_ref().map(|primary| lines.place(primary.span));
        DiagnosticObject {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: diagnostic.code,
            message: &diagnostic.message,
            file: place.map_or(&source.name, |place| place.file),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            help: diagnostic.help.as_deref(),
        }
    };
    diagnostics.iter().map(object).collect()
}

pub(super) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive => "inconclusive",
    }
}

pub(super) fn stop_reason_name(reason: &StopReason) -> &'static str {
    match reason {
        StopReason::Violation => "violation",
        StopReason::StateLimit(_) => "state-limit",
        StopReason::DepthLimit(_) => "depth-limit",
        StopReason::MemoryLimit(_) => "memory-limit",
        StopReason::DiskLimit(_) => "disk-limit",
        StopReason::SpillFailed(_) => "spill-failed",
        StopReason::TooManyStates => "too-many-states",
        StopReason::OutOfMemory => "out-of-memory",
        StopReason::TimeLimit(_) => "time-limit",
        StopReason::Interrupted | StopReason::Withdrawn => "interrupted",
        StopReason::CheckpointFailed(_) => "checkpoint-failed",
        StopReason::Exhausted(_) => "exhausted",
        StopReason::Fault(_) => "fault",
        StopReason::Constraint(_) => "constraint",
        StopReason::Approximate => "approximate",
        StopReason::Undecided(_) => "undecided",
    }
}

/// Rounds to microseconds: more digits are noise.
pub(super) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use quotient_ir::{PropertyId, TableIndex};

    use super::*;

    #[test]
    fn a_lasso_says_where_its_cycle_begins() {
        let (model, layout, trace) = crate::render::trace::tests::lasso();
        let subject = Subject::Property(PropertyId::from_position(0));
        let naming = Naming { model: &model, layout: &layout };
        let text = |trace: Trace| {
            let verdict = Verdict::Violated;
            let report = PropertyReport { subject, verdict, trace: Some(trace), other_traces: Vec::new() };
            serde_json::to_string(&property_object(naming, &Lines::new(&model.source), &report)).expect("an object")
        };
        let finite = text(Trace::new(trace.steps.clone(), None));
        let infinite = text(trace);
        assert!(
            finite.starts_with(r#"{"name":"light","kind":"liveness","title":"liveness \"light\"","verdict":"violated","trace":[{"rule":"#),
            "{finite}"
        );
        assert!(!finite.contains("cycle"), "{finite}");
        assert!(infinite.ends_with(r#"],"cycle":1,"violation":null}"#), "{infinite}");
    }
}
