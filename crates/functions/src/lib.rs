//! A model as functions of its state.
//!
//! All analyses that need to know what a model does without running it use this crate: detection and certification of
//! symmetries, dependence of rules, decision diagrams, formulas for solvers. It knows nothing about groups or searches.
//!
//! For every instance of a rule, start and property, [`Functions`] gives
//!
//! * its **guard**, and the conditions under which it causes a run-time error (**fault**) or is **dropped** by an
//!   assumption;
//! * its **next values**: for each slot that it can change, the values it writes and when ([`Written`]), and the
//!   elements it adds to multisets;
//! * the slots it **reads** and **writes**: those that these functions depend on and change;
//!
//! and, for every slot of the state, the **values** it can hold.
//!
//! `possible` finds these values, `unfold` unfolds the text to the nodes of `circuit`, `behaviour` is the model as a
//! whole. `slice` makes a model without the slots that nothing can notice ([slices](../../../docs/adr/0019-slices.md);
//! `needs`: what notices a slot, `stuttering`: what keeps states alive), and `dead` one in which dead slots hold marks
//! ([how](../../../docs/adr/0029-dead-values-are-marked.md); `solution`: which parts show where others are dead,
//! `marks`: what is stored instead).
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
//! let model = quotient_murphi::LANGUAGE.load(source, &Default::default())
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
//! # Guarantees
//!
//! * **The functions are exact on reachable states**, as defined by the reference interpreter. An instance takes a step
//!   if its guard holds, it causes no run-time error and is not dropped. A property has the value of its condition if
//!   that causes no run-time error. Elsewhere the functions are meaningless: what an event would write where it takes
//!   no step, or that a slot is set to the value it already holds, is left open, so that it cannot distinguish
//!   instances with the same effect.
//! * **Possible values are an over-approximation.** [`possible_values`] is an abstract interpretation with one set of
//!   values per slot, iterated to a fixed point: every value that a slot has in a reachable state is listed, but a
//!   listed value need not occur. A slot is *wide* if more than 4096 values would have to be listed, or if its set kept
//!   growing (a counter): then only the bounds of its type are known. If the text is too complex for the analysis, all
//!   values of all types are possible.
//! * **Equal nodes are equal functions**, on all states composed of possible values. The converse is not guaranteed:
//!   conditions over few assignments are represented by their truth table and are equal if and only if they are the
//!   same node; larger ones are flat, sorted and simplified, but not canonical.
//! * **Reads and writes are over-approximations.** They are computed from the functions in normal form, so they usually
//!   contain less than the text mentions.
//! * **The order of the text does not matter.** Texts that differ in the order of operands, of independent statements,
//!   or of rules give the same functions; a permutation of slots and values of the text gives functions that differ by
//!   it ([`Relabelling`]), as far as normal forms reach.
//! * **Everything is deterministic**: the same model gives the same nodes with the same numbers.
//! * **What cannot be represented is refused explicitly** ([`Functions::refused`]): too many cases, numbers beyond 64
//!   bits, loops and recursions that do not terminate in any state. The variables it mentions are [`Fixed`].
//! * **Work is counted.** Nodes made, statements and cells processed draw on a [`Budget`](quotient_ir::Budget). If it
//!   is spent or interrupted, the result is [`Spent`](quotient_ir::Spent), never partial functions.

mod behaviour;
mod circuit;
mod dead;
mod evaluation;
mod event;
mod functions;
mod instance;
mod intervals;
mod mentions;
mod multisets;
mod possible;
mod slice;
mod unfold;

pub use behaviour::{
    Behaviour, Claim, ClaimKey, Fixed, InputMove, Preserved, Refused, unfold, unfold_by_pointers, unfold_over,
};
pub use circuit::{
    Circuit, KnownValues, Linear, Node, NodeId, Operation, Relabelling, Relation, TooLarge, Users, Value, ValueSet,
};
pub use dead::{DeadValues, dead_values};
pub use evaluation::{Assignment, Evaluation};
pub use event::{Event, EventKey, Write, Written};
pub use functions::{Effect, Functions, InstanceId};
pub use instance::{Instance, Subject};
pub use multisets::{Multiset, Multisets};
pub use possible::{Holds, Possible, TiedSlots, Ties, possible_values, tied_values};
pub use slice::{Slice, slice};
