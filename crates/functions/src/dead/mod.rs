//! Dead values: slots that are written before they are read on every way onward.
//!
//! A *control part* is a part of variables to which only constants are written and which conditions compare with
//! constants: the program counter of processes, the state of a cache. For each other part of the same members (`nr` of
//! `node[p]`, whose control part is `pc`), the control values at which it is live are the least solution of: it is live
//! where it may be read, and where a rule may lead to a value at which it is live without giving it a new value (live
//! variables, as compilers compute them; SPIN resets dead variables in the same way, see G. J. Holzmann, "The engineering
//! of a model checker: the Gnu i-protocol case study revisited", SPIN 1999).
//!
//! The result is a model with the same variables and rules in which every dead slot holds a *mark*, the same in all
//! states: rules that lead to where a slot is dead set it. Two states that differ in dead slots only have the same
//! future, so the model with marks is the quotient by a bisimulation, and its states are the states of the model with
//! their dead slots replaced.
//!
//! * `parts` are the scalar parts of variables and their members;
//! * `lens` and `facts` say what conditions tell about the control values of a member;
//! * `reads` and `flow` collect what is read where, and what rules do;
//! * `solution` decides which part is dead where, `marks` with what it is replaced, `rewriting` makes the model.

mod facts;
mod flow;
mod lens;
mod marks;
mod parts;
mod reads;
mod rewriting;
mod solution;
mod values;

use quotient_ir::{DeadlockMode, Layout, Model, PropertyId, SlotId, Valuation};
use rustc_hash::FxHashSet;

use crate::slice::classes::Classes;
use parts::Parts;
use values::{Values, code_of};

/// A model whose dead slots all hold the same.
#[derive(Clone, Debug)]
pub struct DeadValues {
    /// The model: the same variables, rules and parameters.
    pub model: Model,
    /// The parts that are dead at times, such as `node:nr`.
    pub names: Vec<String>,
    masks: Vec<Mask>,
}

/// When a slot is dead, and what it then holds.
#[derive(Clone, Debug)]
struct Mask {
    slot: SlotId,
    control: SlotId,
    dead: Values,
    mark: Option<i64>,
}

impl DeadValues {
    /// The state with marks that stands for a state of the model.
    pub fn project(&self, layout: &Layout, state: &mut Valuation) {
        for mask in &self.masks {
            let code = code_of(&layout.slots[mask.control].domain, state[mask.control]);
            if code.is_some_and(|code| mask.dead.contains(code)) {
                state[mask.slot] = mask.mark;
            }
        }
    }
}

/// The model in which dead slots hold marks, if these properties are checked; assumptions and what else is not a claim
/// always count. None if nothing is found to be dead.
///
/// The model must be one that [`quotient_ir::verify()`] accepts.
pub fn dead_values(
    model: &Model,
    layout: &Layout,
    properties: &[PropertyId],
    deadlock: DeadlockMode,
) -> Option<DeadValues> {
    // Steps through transient states are one step, which may change what none of its parts changes.
    if deadlock == DeadlockMode::Stuttering && model.passing().next().is_some() {
        return None;
    }
    let is_checked = |id: &PropertyId| properties.contains(id) || !model.properties[*id].kind.is_claim();
    let checked: FxHashSet<PropertyId> = model.properties.indices().filter(is_checked).collect();
    let classes = Classes::new(model)?;
    let parts = Parts::new(&classes, layout);
    let found = solution::solve(&parts, &checked, deadlock);
    let found = marks::marked(&parts, layout, found)?;
    let masks = found.iter().flat_map(|marked| rewriting::masks(&parts, marked)).collect();
    let names = found.iter().map(|marked| parts.title(marked.dead.part)).collect();
    let model = rewriting::rewritten(&parts, &checked, &found);
    Some(DeadValues { model, names, masks })
}
