//! The choice of a reduction for a search: which symmetries there are, and how to use them.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use quotient_engines::{Plan, SymmetrySource, plan};
use quotient_ir::{PropertyId, PropertyKind};
use quotient_symmetry::{Describer, Strategy};

use crate::arguments::{ReductionName, SymmetryName};
use crate::commands::engine_failure;
use crate::failure::Failure;
use crate::load::LoadedModel;
use crate::watch::Watch;

/// How often detection is interrupted to see whether somebody wants to stop.
const PATIENCE: Duration = Duration::from_millis(20);
/// Detection follows the nesting of the text.
const STACK_BYTES: usize = 256 << 20;

/// The symmetries of a search and what is made of them.
pub(crate) struct Symmetries {
    /// What is known about them, unless the time was over before.
    pub(crate) plan: Option<Plan>,
    /// Generators in source terms.
    pub(crate) generators: Vec<Vec<String>>,
    /// How long it took to find them.
    pub(crate) elapsed: Duration,
}

/// Finds the symmetries that a search is to use, if it is to use any. They preserve the given
/// properties, and the assumptions in any case.
pub(super) fn choose(
    loaded: &Arc<LoadedModel>,
    symmetry: SymmetryName,
    reduction: ReductionName,
    properties: Vec<PropertyId>,
    watch: &Watch,
) -> Result<Option<Symmetries>, Failure> {
    let strategy = match reduction {
        ReductionName::Auto | ReductionName::None => None,
        ReductionName::Canonical => Some(Strategy::Canonical),
        ReductionName::Sorted => Some(Strategy::Sorted),
        ReductionName::Segmented => Some(Strategy::Segmented),
        ReductionName::LocalSearch => Some(Strategy::LocalSearch),
        ReductionName::Flooding => Some(Strategy::Flooding),
    };
    let source = match (symmetry, strategy) {
        (SymmetryName::Off, Some(strategy)) => {
            return Err(Failure::Usage(format!("--reduction {strategy} needs symmetries: add --symmetry auto")));
        }
        (SymmetryName::Off, None) => return Ok(None),
        _ if reduction == ReductionName::None => return Ok(None),
        (SymmetryName::Auto, _) => SymmetrySource::Detected,
        (SymmetryName::Declared, _) => SymmetrySource::Declared,
    };
    watch.announce("looking for symmetries");
    let clock = Instant::now();
    let plan = match plan_watched(loaded, properties, source, strategy, watch) {
        Some(plan) => Some(plan.map_err(|error| engine_failure(&loaded.model.source, error))?),
        None => None,
    };
    let generators = plan.as_ref().map_or_else(Vec::new, |plan| {
        let group = &plan.symmetry.group;
        let describer = Describer::new(&loaded.model, &loaded.layout, group.literals());
        group.maps().iter().map(|map| describer.describe(map).cycles()).collect()
    });
    Ok(Some(Symmetries { plan, generators, elapsed: clock.elapsed() }))
}

/// Plans beside the thread that watches; nothing if that wants to stop.
fn plan_watched(
    loaded: &Arc<LoadedModel>,
    properties: Vec<PropertyId>,
    source: SymmetrySource,
    strategy: Option<Strategy>,
    watch: &Watch,
) -> Option<Result<Plan, quotient_engines::EngineError>> {
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::clone(loaded);
    let planning = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // Nobody listens if the time was over; then the program is about to end.
        let _ = sender.send(plan(&shared.model, &shared.layout, &properties, source, strategy));
    });
    let Ok(planning) = planning else { return None };
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(plan) => return Some(plan),
            Err(RecvTimeoutError::Timeout) if watch.stop_reason().is_some() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match planning.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a plan that was made was sent"),
            },
        }
    }
}

/// The properties that a search checks; all if none are selected.
pub(super) fn checked_properties(loaded: &LoadedModel, selected: Option<&[PropertyId]>) -> Vec<PropertyId> {
    let properties = loaded.model.properties.iter_enumerated();
    properties
        .filter(|(id, property)| {
            property.kind != PropertyKind::Assumption && selected.is_none_or(|selected| selected.contains(id))
        })
        .map(|(id, _)| id)
        .collect()
}

impl Symmetries {
    /// The name of the reduction in use.
    pub(crate) fn reduction_name(&self) -> &'static str {
        let reduction = self.plan.as_ref().and_then(|plan| plan.reduction.as_ref());
        reduction.map_or("none", |reduction| reduction.canonicalizer.strategy().name())
    }

    /// Whether a reduction is in use.
    pub(crate) fn reduces(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.reduction.is_some())
    }

    /// Whether nothing is approximated.
    pub(crate) fn is_exact(&self) -> bool {
        let reduction = self.plan.as_ref().and_then(|plan| plan.reduction.as_ref());
        reduction.is_none_or(|reduction| reduction.canonicalizer.is_exact())
    }
}
