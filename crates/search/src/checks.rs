//! The properties that a search checks, by kind.

use std::ops::ControlFlow;

use quotient_ir::{Model, PropertyId, PropertyKind};

use crate::seam::TransitionSystem;

/// The properties a search checks, by kind, each in order of declaration.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// What must hold in a state for it to exist.
    pub assumptions: Vec<PropertyId>,
    /// What must hold in every state.
    pub invariants: Vec<PropertyId>,
    /// What must be reached.
    pub covers: Vec<PropertyId>,
    /// What must be reachable from every state.
    pub liveness: Vec<PropertyId>,
    /// What tells which states are expanded.
    pub constraints: Vec<PropertyId>,
    /// What is worth saying if it holds somewhere.
    pub remarks: Vec<PropertyId>,
    /// The properties that say which states are transient.
    pub passing: Vec<PropertyId>,
}

impl Checks {
    /// The selected properties of a model; assumptions are always included.
    pub fn new(model: &Model, selection: Option<&[PropertyId]>) -> Self {
        let mut checks = Self::default();
        for (id, property) in model.properties.iter_enumerated() {
            let selected = selection.is_none_or(|selection| selection.contains(&id));
            match property.kind {
                PropertyKind::Assumption => checks.assumptions.push(id),
                PropertyKind::Invariant if selected => checks.invariants.push(id),
                PropertyKind::Cover if selected => checks.covers.push(id),
                PropertyKind::AlwaysReachable if selected => checks.liveness.push(id),
                PropertyKind::Passing => checks.passing.push(id),
                PropertyKind::Constraint => checks.constraints.push(id),
                PropertyKind::Remark => checks.remarks.push(id),
                _ => {}
            }
        }
        checks
    }
}

/// Whether one of some conditions holds in a state; one whose evaluation fails does not.
pub fn is_passing<S: TransitionSystem>(
    system: &S,
    scratch: &mut S::Scratch,
    properties: &[PropertyId],
    state: &[u64],
) -> bool {
    properties.iter().any(|&property| {
        let mut holds = false;
        system.evaluate(scratch, property, state, &mut |_, result| {
            holds = result == Ok(true);
            ControlFlow::Break(())
        });
        holds
    })
}
