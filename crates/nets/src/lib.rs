//! The engine of nets: which properties of a model that was made of a Petri net are decided by what the net never reaches,
//! whatever bounds the model assumes. The net is beside the model ([`quotient_ir::Net`]).
//!
//! * `door` answers, from a [`Certificate`](quotient_covering::Certificate): of the markings that the front end claims to cover
//!   all others, or, if they do not, of those that it finds itself. Only the check makes a certificate.
//! * `comparison` compares the net with the model on the reference interpreter before anything is answered: the initial marking;
//!   each change with exactly the tokens that it takes; and that it needs each of these tokens. A difference is a defect of the
//!   front end. What is believed: that this makes a difference in all other markings, too, that no further instance of a rule
//!   can fire, and that goals are those of their properties. Numbers of tokens that the model has no room for are not compared.
//!
//! Only the answer no is given ([why so](../../../docs/adr/0055-coverability-answers.md)); what may be reached is left to others.

mod comparison;
mod door;

pub use door::{BY, Coverability, Settled};
