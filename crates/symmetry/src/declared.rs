//! The symmetry that a model declares, for example by scalarsets, whose values are claimed to be interchangeable. A
//! declaration is only a claim, so each exchange is certified; exchanges that the text violates are dropped and
//! explained.

use std::time::Instant;

use quotient_functions::Preserved;
use quotient_ir::{Budget, Layout, Model, PropertyId, Span, TypeId, TypeKind};

use crate::certify::{CertificationReport, CertifiedGroup, Certifier};
use crate::detect::PhaseTimes;
use crate::error::DetectionError;
use crate::explain::{Explainer, Reason, Request};
use crate::interchangeable::{InstanceOrbit, InterchangeableValues};

/// The largest scalarset considered.
const LARGEST_SCALARSET: u64 = 4096;
/// The number of reasons given for each refused exchange.
const REASONS: usize = 3;

/// The declared symmetry of a model.
#[derive(Debug)]
pub struct Declared {
    /// The group of the declarations that hold.
    pub group: CertifiedGroup,
    /// How it was certified.
    pub report: CertificationReport,
    /// Declared exchanges that are not symmetries: one for each pair of neighbouring classes of interchangeable values.
    pub refused: Vec<Refused>,
    /// Instances of properties that the group exchanges.
    pub instance_orbits: Vec<InstanceOrbit>,
    /// How long each phase took.
    pub times: PhaseTimes,
}

/// An exchange that a declaration claims and the text violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The scalarset.
    pub ty: TypeId,
    /// One value.
    pub first: i64,
    /// The other.
    pub second: i64,
    /// Why they cannot be exchanged.
    pub reasons: Vec<Reason>,
}

/// The symmetries declared by scalarsets that are symmetries of the model and the given properties.
///
/// # Errors
/// If the arguments of certification contradict each other, which is a defect of this program; or if the budget is
/// spent before the work is done.
pub fn declared(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    budget: &Budget,
) -> Result<Declared, DetectionError> {
    declared_preserving(model, layout, Preserved::Properties(properties), budget)
}

/// The same, preserving the given properties.
///
/// # Errors
/// As for [`declared`].
pub fn declared_preserving(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<Declared, DetectionError> {
    let clock = Instant::now();
    let mut explainer = None;
    let mut certifier = Certifier::preserving(model, layout, preserved, budget)?;
    let unfolding = clock.elapsed();

    let clock = Instant::now();
    let literals = certifier.literals().clone();
    let mut generators = Vec::new();
    let mut refused = Vec::new();
    let mut interchangeable = Vec::new();
    for (ty, entry) in model.types.iter_enumerated() {
        if !matches!(entry.kind, TypeKind::Scalarset { .. }) && !model.interchangeable.contains(&ty) {
            continue;
        }
        let size = model.domain(ty).size();
        if size > LARGEST_SCALARSET {
            let text = format!("a scalarset of more than {LARGEST_SCALARSET} values is not looked at");
            let (first, second) = (model.domain(ty).least(), model.domain(ty).greatest());
            refused.push(Refused { ty, first, second, reasons: vec![Reason { span: Span::default(), text }] });
            continue;
        }
        // Being exchangeable is an equivalence, so each value is compared with one of each class.
        let mut classes: Vec<InterchangeableValues> = Vec::new();
        'values: for value in model.domain(ty).values() {
            for class in &mut classes {
                let last = *class.values.last().expect("a class has a value");
                let request = Request::Exchange { ty, first: last, second: value };
                budget.spend(1 + layout.slots.len() as u64 / 16)?;
                let Ok(permutation) = request.permutation(model, layout, &literals) else { continue };
                match certifier.check(&permutation) {
                    Ok(map) => {
                        if !permutation.is_identity() {
                            generators.push((permutation.clone(), map));
                        }
                        class.values.push(value);
                        class.exchanges.push(permutation);
                        continue 'values;
                    }
                    Err(rejection) => {
                        DetectionError::of_candidate(rejection, || literals.describe(model, layout, &permutation))?;
                    }
                }
            }
            classes.push(InterchangeableValues { ty, values: vec![value], exchanges: Vec::new() });
        }
        for pair in classes.windows(2) {
            let (first, second) = (pair[0].values[0], pair[1].values[0]);
            let request = Request::Exchange { ty, first, second };
            let explainer = match &mut explainer {
                Some(explainer) => explainer,
                none => none.insert(Explainer::new(model, layout, preserved.properties(), budget)?),
            };
            let mut reasons = explainer.why_not(&request, REASONS)?;
            if reasons.is_empty() {
                let rejection =
                    request.permutation(model, layout, &literals).map(|permutation| certifier.check(&permutation));
                let text = match rejection {
                    Ok(Err(rejection)) => rejection.to_string(),
                    _ => "it could not be certified".to_owned(),
                };
                reasons.push(Reason { span: Span::default(), text });
            }
            refused.push(Refused { ty, first, second, reasons });
        }
        // An exchange that does not act on states is of no use for sorting them.
        interchangeable.extend(
            classes.into_iter().filter(|class| {
                class.values.len() > 1 && class.exchanges.iter().all(|exchange| !exchange.is_identity())
            }),
        );
    }
    let instance_orbits = certifier.instance_orbits();
    let report = certifier.report();
    let group = certifier.group(generators, interchangeable);
    let times = PhaseTimes { unfolding, certification: clock.elapsed(), ..PhaseTimes::default() };
    Ok(Declared { group, report, refused, instance_orbits, times })
}
