//! Transition systems and wrappers: the evaluator specialised to each instance, the code generator on top of it, when code
//! is generated, the reference interpreter for comparison; the layer for transient states, and the quotient by symmetries.

pub(crate) mod compiled;
pub(crate) mod deferred;
pub(crate) mod evaluator;
pub(crate) mod firing;
pub(crate) mod guard;
pub(crate) mod passing;
pub(crate) mod quotient;
pub(crate) mod reference;
pub(crate) mod repacking;
pub(crate) mod starts;
