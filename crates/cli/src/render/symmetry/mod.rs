//! The symmetries of a model, as text and as JSON.

pub(crate) mod human;
pub(crate) mod json;

use std::time::Duration;

use quotient::Phases;
use quotient_ir::Span;

pub(crate) use json::{ReasonObject, located};

/// The location of a reason, if it has one.
pub(crate) fn place(span: Span) -> Option<Span> {
    (span != Span::default()).then_some(span)
}

/// The names and durations of phases, in order.
fn named(phases: &Phases) -> [(&'static str, Duration); 5] {
    [
        ("unfolding", phases.unfolding),
        ("graph", phases.graph),
        ("automorphisms", phases.automorphisms),
        ("certification", phases.certification),
        ("structure", phases.structure),
    ]
}
