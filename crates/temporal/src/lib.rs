//! Temporal logic: LTL with past and CTL*, from text to automata.
//!
//! Owns formulas and their syntax, normal forms, simplification, invariance under stuttering, and the translation of
//! LTL to generalised Büchi automata. Knows nothing about models: atomic propositions are numbers, and the text of an
//! atom is left to the caller.
//!
//! * `syntax`: text becomes a tree with spans. A `Dialect` says which tokens belong to expressions of the language, so
//!   that `[] (p -> <> (q && x == 3))` has the atoms `p`, `q` and `x == 3`; an `AtomReader` of the front end reads
//!   these.
//! * `formula`: formulas in a pool. `simplify`, `normal`, `stuttering` (invariance under stuttering) and `branching`
//!   (CTL* as questions of LTL, from the inside to the outside) work on it; `print` writes formulas.
//! * `translate` makes an `automaton` ([how](../../../docs/adr/0017-automata-from-formulas.md)), `reduce` makes it
//!   smaller.
//! * `lasso` evaluates formulas without automata: the oracle for all of these.
//!
//! An operator is added to `syntax/vocabulary.rs` for its spelling; one that is new to the pool also to `formula`,
//! `lasso` (its meaning), `normal` and `translate`.
//!
//! ```
//! use quotient_temporal::syntax::{AtomTable, Dialect};
//! use quotient_temporal::{Formulas, translate};
//!
//! let (mut pool, mut atoms) = (Formulas::new(), AtomTable::default());
//! let formula = atoms.parse(&mut pool, "[] (p -> <> (q && x == 3))", &Dialect::promela()).unwrap();
//! let automaton = translate(&mut pool, formula).unwrap();
//! assert_eq!(atoms.names(), ["p", "q", "x == 3"]);
//! assert_eq!(automaton.states, 2);
//! ```
//!
//! Everything here is deterministic: no global state, no clock, no unseeded randomness.

pub mod automaton;
pub mod branching;
pub mod formula;
pub mod lasso;
pub mod normal;
pub mod print;
pub mod random;
pub mod reduce;
pub mod simplify;
pub mod stuttering;
pub mod syntax;
pub mod translate;

pub use automaton::{Automaton, Cube, StateId, Transition};
pub use formula::{Atom, Formula, Formulas, Node, PathQuantifier};
pub use lasso::{Lasso, Letter};
pub use simplify::simplify;
pub use translate::{TranslationError, TranslationOptions, translate, translate_with};
