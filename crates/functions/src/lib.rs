//! A model as functions of its state.
//!
//! Whoever wants to know what a model does without running it reads it through this crate: detection and
//! certification of symmetries, dependence of rules, decision diagrams, formulas for solvers. It knows nothing of
//! groups and of searches.
//!
//! [`Functions`] has, for every instance of a rule, start and property,
//!
//! * its **guard**, and when it runs into a **fault** or is **dropped** by an assumption: conditions;
//! * its **next values**: for each slot that it can change, the values it writes and when ([`Written`]), and the
//!   elements it adds to multisets;
//! * what it **reads** and **writes**: the slots that these functions depend on and change;
//!
//! and, for every slot of the state, which **values** it can hold.
//!
//! All functions are nodes of one [`Circuit`]. A node is a condition over literals (slot = value) or a number;
//! walk it with [`Circuit::node`] and [`Node::for_each_child`], evaluate it with [`Evaluation`].
//!
//! ```
//! use quotient_functions::{Effect, Functions, Preserved};
//! use quotient_ir::{Budget, Interpreter, Layout, Outcome, Source, StartId, TableIndex};
//!
//! let text = "var x: 0..2; startstate x := 0 end; rule x < 2 ==> x := x + 1 end;";
//! let source = Source::new("count.m", text.to_owned());
//! let model = quotient_frontends::load(source, quotient_frontends::Language::Murphi, &Default::default())
//!     .expect("a model").model;
//! let layout = Layout::new(&model).expect("a layout");
//! let functions = Functions::of(&model, &layout, Preserved::Properties(&[]), &Budget::unlimited()).expect("unlimited");
//! let rule = functions.instances().find(|&id| !functions.reads(id).is_empty()).expect("the rule reads x");
//! assert_eq!(functions.reads(rule), functions.writes(rule));
//! let start = Interpreter::new(&model, &layout).run_start(StartId::from_position(0), &[]);
//! let Outcome::Next { state, .. } = start else { panic!("a state") };
//! let Some(Effect::Next(next)) = functions.effect(&layout, rule, &state, &[]) else { panic!("a step") };
//! assert_eq!(next.0, [Some(1)]);
//! ```
//!
//! # What is promised
//!
//! * **The functions are exact on reachable states**, where the reference interpreter defines what a model means.
//!   An instance takes a step where its guard holds, it has no fault and is not dropped; a property has the value
//!   of its condition where it has no fault. Elsewhere the functions mean nothing: what an event would write where
//!   it takes no step, or that a slot is set to the value it holds, is left open, so that it cannot distinguish
//!   instances that do the same.
//! * **Possible values are an over-approximation.** [`possible_values`] is an abstract interpretation with one set
//!   of values a slot, run until nothing changes: every value that a reachable state has in a slot is listed, a
//!   listed one need not occur. A slot is *wide* if more than 4096 values would have to be listed, or if its set
//!   kept growing (a counter): then only the bounds of its type are known. If the text is too much for the
//!   analysis, all values of all types are possible.
//! * **Equal nodes are equal functions**, on all states of the possible values. The converse is not promised:
//!   conditions over few assignments are represented by their truth table and are equal if and only if they are
//!   the same node, larger ones are flat, sorted and simplified, but not canonical.
//! * **What is read is an over-approximation**, of slots that matter to the functions in normal form, and thus
//!   mostly less than the text mentions. What is written is, too.
//! * **The order of the text does not matter.** Two texts that differ in the order of operands, of statements that
//!   do not depend on each other, or of rules, give the same functions; a permutation of slots and values of the
//!   text gives functions that differ by it ([`Relabelling`]), as far as normal forms reach.
//! * **Everything is deterministic**: the same model gives the same nodes with the same numbers.
//! * **What cannot be represented is refused aloud** ([`Functions::refused`]): too many cases, numbers beyond 64
//!   bits, loops and recursions that do not end whatever the state. The variables it mentions are [`Fixed`].
//! * **Work is counted.** Nodes made, statements and cells looked at draw on a [`Budget`](quotient_ir::Budget); if
//!   it is spent, or interrupted, the result is [`Spent`](quotient_ir::Spent), never a part of the functions.

mod behaviour;
mod circuit;
mod evaluation;
mod functions;
mod instance;
mod intervals;
mod mentions;
mod multisets;
mod possible;
mod unfold;

pub use behaviour::{Behaviour, Claim, ClaimKey, Fixed, InputMove, Preserved, Refused, unfold, unfold_over};
pub use circuit::{
    Circuit, KnownValues, Linear, Node, NodeId, Operation, Relabelling, Relation, TooLarge, Users, Value, ValueSet,
};
pub use evaluation::{Assignment, Evaluation};
pub use functions::{Effect, Functions, InstanceId};
pub use instance::{Instance, Subject};
pub use multisets::{Multiset, Multisets};
pub use possible::{Holds, Possible, TiedSlots, Ties, possible_values, tied_values};
pub use unfold::{Event, EventKey, Write, Written};
