//! Detection: from a model and the properties of a run to the certified group of its symmetries, through the coloured
//! graph and its automorphisms.

use std::time::{Duration, Instant};

use quotient_functions::{self as functions, Behaviour, Fixed, InputMove, Preserved};
use quotient_groups::{ColouredGraph, PermutationGroup, SparsePermutation, generators_watched};
use quotient_ir::{Budget, Layout, Model, PropertyId, SlotId, Spent, TableIndex};

use num_bigint::BigUint;

use crate::certify::{CertificationReport, CertifiedGroup, Certifier};
use crate::error::DetectionError;
use crate::exchanges::interchangeable_values;
use crate::graph::{self, Encoding, restrict};
use crate::interchangeable::InstanceOrbit;
use crate::literals::Literals;
use crate::watch::watch;

/// The result of detection.
#[derive(Debug)]
pub struct Detection {
    /// The group, with every generator certified.
    pub group: CertifiedGroup,
    /// How it was certified.
    pub report: CertificationReport,
    /// The graph it was found in.
    pub graph: ColouredGraph,
    /// A label for each vertex of the graph.
    pub labels: Vec<String>,
    /// Whether the automorphism search was complete.
    pub complete: bool,
    /// Variables that were treated as fixed, with reasons.
    pub fixed: Vec<Fixed>,
    /// Slots that can move but whose values are numbers that do not permute.
    pub numbers: Vec<SlotId>,
    /// Instances of properties that the group exchanges.
    pub instance_orbits: Vec<InstanceOrbit>,
    /// The symmetries lost to properties, if there are any and this was requested.
    pub property_cost: Option<PropertyCost>,
    /// How long each phase took.
    pub times: PhaseTimes,
}

/// Symmetries of the behaviour that some property does not preserve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyCost {
    /// The number of symmetries of the behaviour.
    pub order: BigUint,
    /// The properties that do not preserve all of them, in order of declaration.
    pub properties: Vec<PropertyId>,
}

/// How long each phase of detection took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// From text to functions.
    pub unfolding: Duration,
    /// From functions to the graph.
    pub encoding: Duration,
    /// From the graph to automorphisms.
    pub search: Duration,
    /// Certification of the generators.
    pub certification: Duration,
}

/// Finds the symmetries of a model that preserve the given properties.
///
/// # Errors
/// If a generator cannot be certified, which is a defect of this program and never ignored; or if the budget is spent
/// before the work is done.
pub fn detect(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    budget: &Budget,
) -> Result<Detection, DetectionError> {
    detect_preserving(model, layout, Preserved::Properties(properties), budget)
}

/// Finds the symmetries of a model that preserve the given properties or instance.
///
/// # Errors
/// As for [`detect`].
pub fn detect_preserving(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<Detection, DetectionError> {
    find(model, layout, preserved, false, budget)
}

/// The same as [`detect_preserving`], and what the properties cost.
///
/// # Errors
/// As for [`detect`].
pub fn detect_with_cost(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<Detection, DetectionError> {
    find(model, layout, preserved, true, budget)
}

fn find(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    with_cost: bool,
    budget: &Budget,
) -> Result<Detection, DetectionError> {
    let clock = Instant::now();
    let mut behaviour = functions::unfold(model, layout, preserved, budget)?;
    let unfolding = clock.elapsed();

    let clock = Instant::now();
    let encoding = graph::encode(model, layout, &behaviour, budget)?;
    let literals = Literals::of_functions(&behaviour);
    let encoding_time = clock.elapsed();

    let clock = Instant::now();
    let automorphisms = generators_watched(&encoding.graph, &watch(budget)).ok_or(Spent)?;
    let larger = if with_cost { without_properties(model, layout, &mut behaviour, &encoding, budget)? } else { None };
    let search = clock.elapsed();

    let clock = Instant::now();
    let numbers = layout
        .slots
        .indices()
        .filter(|slot| encoding.numbers[slot.position()] && literals.slots()[*slot].values.len() > 1)
        .filter(|slot| !behaviour.multisets.is_presence(slot.position() as u32))
        .collect();
    let fixed = behaviour.fixed.clone();
    let multisets = behaviour.multisets.clone();
    let mut certifier = Certifier::of_behaviour(model, layout, behaviour, budget)?;
    certifier.expect(automorphisms.generators.len());
    let mut generators = Vec::new();
    for automorphism in &automorphisms.generators {
        budget.spend(automorphism.support().len() as u64)?;
        let generator = restrict(&encoding, &multisets, &literals, automorphism);
        if generator.is_identity() {
            continue;
        }
        match certifier.check_with(&generator, Some(&encoding.input_moves(automorphism))) {
            Ok(map) => generators.push((generator, map)),
            Err(rejection) => {
                return Err(DetectionError::of_refusal(rejection, || literals.describe(model, layout, &generator)));
            }
        }
    }
    let interchangeable = interchangeable_values(model, layout, &literals, &generators, &mut certifier, budget)?;
    let mut property_cost = None;
    if let Some((order, permutations)) = larger {
        let mut properties: Vec<PropertyId> = Vec::new();
        for (permutation, inputs) in &permutations {
            properties.extend(certifier.broken_properties(permutation, Some(inputs))?);
        }
        properties.sort_unstable();
        properties.dedup();
        property_cost = (!properties.is_empty()).then_some(PropertyCost { order, properties });
    }
    let instance_orbits = certifier.instance_orbits();
    let report = certifier.report();
    let group = certifier.group(generators, interchangeable);
    let certification = clock.elapsed();

    Ok(Detection {
        group,
        report,
        graph: encoding.graph,
        labels: encoding.labels,
        complete: automorphisms.complete,
        fixed,
        numbers,
        instance_orbits,
        property_cost,
        times: PhaseTimes { unfolding, encoding: encoding_time, search, certification },
    })
}

/// The largest graph for which the symmetries without properties are computed, to report what the properties cost.
const COST_LIMIT: usize = 50_000;

/// The number of symmetries of a behaviour without its properties, and generators: permutations of the literals, with
/// the images of inputs.
type BareSymmetries = (BigUint, Vec<(SparsePermutation, Vec<InputMove>)>);

/// The symmetries of the behaviour without its properties (assumptions and transient states belong to the behaviour).
/// Only if there are properties at all.
fn without_properties(
    model: &Model,
    layout: &Layout,
    behaviour: &mut Behaviour,
    encoding: &Encoding,
    budget: &Budget,
) -> Result<Option<BareSymmetries>, Spent> {
    let is_claim = |property: PropertyId| model.properties[property].kind.is_claim();
    if encoding.graph.vertex_count() > COST_LIMIT || !behaviour.claims.iter().any(|claim| is_claim(claim.property)) {
        return Ok(None);
    }
    let claims = behaviour.claims.clone();
    behaviour.claims.retain(|claim| !is_claim(claim.property));
    let bare = graph::encode(model, layout, behaviour, budget)?;
    behaviour.claims = claims;
    let literals = Literals::of_functions(behaviour);
    let permutations: Vec<(SparsePermutation, Vec<InputMove>)> = generators_watched(&bare.graph, &watch(budget))
        .ok_or(Spent)?
        .generators
        .iter()
        .map(|automorphism| {
            (restrict(&bare, &behaviour.multisets, &literals, automorphism), bare.input_moves(automorphism))
        })
        .filter(|(permutation, _)| !permutation.is_identity())
        .collect();
    let generators = permutations.iter().map(|(permutation, _)| permutation.clone()).collect();
    let group = PermutationGroup::new_watched(literals.degree(), generators, &watch(budget)).ok_or(Spent)?;
    Ok(Some((group.order(), permutations)))
}
