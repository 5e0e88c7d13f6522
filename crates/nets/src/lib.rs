//! The engine for Petri nets: decides properties of an unbounded net by what the net can never reach, independent of the bounds
//! that the model assumes for its places. The front end attaches the net to the model ([`quotient_ir::Net`]).
//!
//! * `door` answers from a [`Certificate`](quotient_covering::Certificate) that passed its check: the set of markings that the
//!   front end claims covers all reachable ones or, failing that, a set computed here.
//! * `comparison` tests the net against the model before any verdict is given: the initial marking, and every change with exactly
//!   the tokens it takes and with one token less. A difference is a defect of the front end. Not tested, and therefore trusted: a
//!   change that is right at this marking is right at every marking, no other rule instance can fire, and each goal belongs to
//!   its property. Markings that do not fit the model's counters are skipped.
//!
//! It only says what cannot be reached ([why](../../../docs/adr/0055-coverability-answers.md)); everything else is left to other
//! engines.

mod comparison;
mod door;

pub use door::{BY, Coverability, Settled};
