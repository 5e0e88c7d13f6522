//! What each rule of a model distinguishes, and which notion of approximate symmetry its state space satisfies.

use quotient_explicit::AdaptiveError;
use quotient_ir::{Budget, PropertyId};
use quotient_symmetry::{Classification, PartialSymmetry, TooManyStates, Witness, classify};

use crate::adaptive::{self, RuleUse, rule_uses};
use crate::control::{Control, Observer, Phase, Supervised};
use crate::error::Error;
use crate::lowering::Lowering;
use crate::model::Model;
use crate::selection::{claims, named_properties};
use crate::symmetries::{Preserve, stopped};

/// The maximum number of states for which the state space is analysed.
const STATE_LIMIT: usize = 20_000;

/// What rules distinguish.
#[derive(Debug)]
pub struct PartialReport {
    /// The model that this is about.
    pub model: Model,
    /// The families, and the number of members of each.
    pub families: Vec<(String, usize)>,
    /// What each rule distinguishes.
    pub rules: Vec<RuleUse>,
    /// Properties that distinguish members, with their partitions.
    pub properties: Vec<(PropertyId, String)>,
    /// The state space, unless it is too large.
    pub structure: Result<Approximations, TooManyStates>,
}

/// The notions of symmetry that a state space satisfies, with a witness for each that it does not.
#[derive(Debug)]
pub struct Approximations {
    /// The number of states.
    pub states: usize,
    /// The number of transitions.
    pub transitions: usize,
    /// Every transition has its images.
    pub symmetric: Result<(), Box<Image>>,
    /// Near symmetry.
    pub near: Result<(), Box<Image>>,
    /// Rough symmetry; none if it was too expensive to decide.
    pub rough: Option<Result<(), Box<Image>>>,
    /// Virtual symmetry.
    pub virtual_symmetry: Result<(), Box<Image>>,
}

/// A transition, and its missing image.
#[derive(Debug)]
pub struct Image {
    /// The states and their images.
    pub witness: Witness,
    /// The permutation in cycles.
    pub permutation: String,
}

/// Finds out what each rule distinguishes.
///
/// # Errors
/// If the model is not supported, a limit was reached first, or there is a defect in this program.
pub fn partial_symmetry(
    model: &Model,
    preserve: &Preserve,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<PartialReport, Error> {
    let model = &model.lowered(Lowering::for_detection(), control)?;
    let properties = match preserve {
        Preserve::All => claims(model.ir(), None),
        Preserve::Named(names) => named_properties(model.ir(), names)?,
        Preserve::Behaviour => Vec::new(),
    };
    control.enter(Phase::Partitioning);
    let (job, watched) = (model.clone(), control.clone());
    let work = move || find(&job, &properties, &Budget::until(watched.interrupt()));
    match control.supervise(observer, work)? {
        Supervised::Done(Err(_)) if control.stop_reason().is_some() => Err(stopped(control)),
        Supervised::Done(found) => found.map_err(|error| Error::of_adaptive(model.source(), error)),
        Supervised::Abandoned(reason) => Err(Error::Stopped(reason)),
    }
}

fn find(model: &Model, properties: &[PropertyId], budget: &Budget) -> Result<PartialReport, AdaptiveError> {
    let mut partial = adaptive::partial_symmetry(model, properties, budget)?;
    let mut partitions = Vec::new();
    for rule in model.ir().rules.indices() {
        partitions.push((rule, Some(partial.rule(rule)?.partition.clone())));
    }
    let rules = rule_uses(&mut partial, &partitions)?;
    let mut distinguishing = Vec::new();
    for &property in
        properties.iter().filter(|&&property| model.ir().properties[property].formula.condition().is_some())
    {
        let partition = partial.property(property)?.partition;
        if partition != partial.coarsest() {
            distinguishing.push((property, partition.describe(partial.families())));
        }
    }
    let structure = classify(&partial, STATE_LIMIT).map(|found| approximations(&partial, found));
    let families = partial.families().list().iter().map(|family| (family.name.clone(), family.size)).collect();
    Ok(PartialReport { model: model.clone(), families, rules, properties: distinguishing, structure })
}

fn approximations(partial: &PartialSymmetry<'_>, found: Classification) -> Approximations {
    let notion = |result: Result<(), Witness>| {
        result.map_err(|witness| Box::new(Image { permutation: cycles(partial, &witness.places), witness }))
    };
    Approximations {
        states: found.states,
        transitions: found.transitions,
        symmetric: notion(found.symmetric),
        near: notion(found.near),
        rough: found.rough.map(notion),
        virtual_symmetry: notion(found.virtual_symmetry),
    }
}

/// A permutation of members in cycles.
fn cycles(partial: &PartialSymmetry<'_>, places: &[usize]) -> String {
    let mut text = String::new();
    let mut seen = vec![false; places.len()];
    for first in 0..places.len() {
        if seen[first] || places[first] == first {
            continue;
        }
        text.push('(');
        let mut at = first;
        while !seen[at] {
            seen[at] = true;
            if at != first {
                text.push(' ');
            }
            let family = &partial.families().list()[partial.families().family_of(at)];
            text.push_str(&family.value_name(at - family.first));
            at = places[at];
        }
        text.push(')');
    }
    text
}
