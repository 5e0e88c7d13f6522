//! The choice of a reduction for a search: which symmetries there are, and how to use them.

use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_engines::SearchOptions;
use quotient_groups::{PermutationGroup, Structure};
use quotient_ir::{Layout, Model, PropertyId, PropertyKind};
use quotient_symmetry::{Canonicalizer, Describer, LivenessInstances, detect_with};

use crate::arguments::{ReductionName, SearchArguments, SymmetryName};
use crate::failure::Failure;

/// The symmetries of a search and what is made of them.
pub(crate) struct Reduction {
    /// Gives the representatives, unless the group is trivial or beyond its methods.
    pub(crate) canonicalizer: Option<Canonicalizer>,
    /// How many symmetries there are.
    pub(crate) order: BigUint,
    /// What group they are.
    pub(crate) structure: String,
    /// Generators in source terms.
    pub(crate) generators: Vec<Vec<String>>,
    /// How representatives are found, or why there are none.
    pub(crate) method: String,
    /// The vertices and edges of the graph the symmetries were found in.
    pub(crate) graph: (usize, usize),
    /// How long it took to find the symmetries.
    pub(crate) elapsed: Duration,
}

/// Finds the symmetries that a search is to use, if it is to use any.
pub(super) fn choose(
    model: &Model,
    layout: &Layout,
    arguments: &SearchArguments,
    options: &SearchOptions,
) -> Result<Option<Reduction>, Failure> {
    match (arguments.symmetry, arguments.reduction) {
        (SymmetryName::Off, ReductionName::Canonical) => {
            return Err(Failure::Usage("--reduction canonical needs symmetries: add --symmetry auto".into()));
        }
        (SymmetryName::Off, _) | (_, ReductionName::None) => return Ok(None),
        (SymmetryName::Auto, ReductionName::Auto | ReductionName::Canonical) => {}
    }
    let clock = Instant::now();
    // Assumptions decide which states there are, whatever is checked.
    let properties: Vec<PropertyId> = model
        .properties
        .iter_enumerated()
        .filter(|(id, property)| {
            property.kind == PropertyKind::Assumption
                || options.properties.as_ref().is_none_or(|selected| selected.contains(id))
        })
        .map(|(id, _)| id)
        .collect();
    let detection = detect_with(model, layout, &properties, LivenessInstances::OneByOne)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let group = &detection.group;
    let permutations = PermutationGroup::new(group.literals().degree(), group.generators().to_vec());
    let structure = match permutations.structure() {
        Structure::Trivial => "trivial".to_owned(),
        structure => structure.to_string(),
    };
    let describer = Describer::new(model, layout, group.literals());
    let (canonicalizer, method) = if group.is_trivial() {
        (None, "there is nothing to reduce by".to_owned())
    } else {
        match Canonicalizer::new(model, layout, group) {
            Ok(canonicalizer) => {
                let method = canonicalizer.reason().to_owned();
                (Some(canonicalizer), method)
            }
            Err(error) => (None, format!("not used: {error}")),
        }
    };
    Ok(Some(Reduction {
        canonicalizer,
        order: permutations.order(),
        structure,
        generators: group.maps().iter().map(|map| describer.describe(map).cycles()).collect(),
        method,
        graph: (detection.graph.vertex_count(), detection.graph.edge_count()),
        elapsed: clock.elapsed(),
    }))
}
