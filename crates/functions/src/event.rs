//! One instance of a rule or initial-state program as functions, and the action of relabellings of slots and values on
//! it.

use rustc_hash::FxHashMap;

use quotient_ir::{Action, ExprId, PropertyId, Span};

use crate::circuit::{Circuit, Linear, NodeId, Relabelling};
use crate::instance::{Instance, Subject};

/// One instance of a rule or initial-state program as functions of the state before it.
#[derive(Clone, Debug)]
pub struct Event {
    /// The rule or initial-state program.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// The condition under which it can fire.
    pub guard: NodeId,
    /// The condition under which its guard or body causes a run-time error.
    pub fault: NodeId,
    /// The condition under which an assumption in its body drops it.
    pub dropped: NodeId,
    /// Its writes.
    pub writes: Vec<Write>,
    /// The elements it adds to multisets, in no particular order, each as writes to columns.
    pub additions: Vec<Vec<Write>>,
    /// The cover statements it reaches, with conditions.
    pub covers: Vec<(PropertyId, NodeId)>,
    /// For each place of the text when something goes wrong there, whatever went wrong before, if that is to be
    /// preserved ([`Preserved::errors`](crate::Preserved::errors)).
    pub fault_places: Vec<(Span, NodeId)>,
    /// The conjuncts of a rule's guard, each with its condition.
    pub guard_parts: Vec<(ExprId, NodeId)>,
    /// For each write, the last statement that can perform it.
    pub write_spans: Vec<Span>,
}

/// The effect of an event, without its action and arguments.
pub type EventKey =
    (NodeId, NodeId, NodeId, Vec<Write>, Vec<Vec<Write>>, Vec<(PropertyId, NodeId)>, Vec<(Span, NodeId)>);

impl Event {
    /// The effect: equal for events with the same effect.
    pub fn key(&self) -> EventKey {
        (
            self.guard,
            self.fault,
            self.dropped,
            self.writes.clone(),
            self.additions.clone(),
            self.covers.clone(),
            self.fault_places.clone(),
        )
    }

    /// The action and its arguments.
    pub fn instance(&self) -> Instance {
        Instance { subject: Subject::Action(self.action), arguments: self.arguments.clone() }
    }

    /// Whether it is an instance of an initial-state program.
    pub fn is_start(&self) -> bool {
        matches!(self.action, Action::Start(_))
    }

    /// The effect of the image of this event under a relabelling of slots and values. `None` if numbers do not allow
    /// it.
    pub fn relabelled(
        &self,
        circuit: &mut Circuit,
        relabelling: &Relabelling,
        known: &mut FxHashMap<NodeId, Option<NodeId>>,
    ) -> Option<EventKey> {
        let guard = circuit.relabelled(self.guard, relabelling, known)?;
        let fault = circuit.relabelled(self.fault, relabelling, known)?;
        let dropped = circuit.relabelled(self.dropped, relabelling, known)?;
        let writes = relabelled_writes(&self.writes, circuit, relabelling, known)?;
        let mut additions = Vec::with_capacity(self.additions.len());
        for addition in &self.additions {
            additions.push(relabelled_writes(addition, circuit, relabelling, known)?);
        }
        additions.sort_unstable();
        let mut covers = Vec::with_capacity(self.covers.len());
        for &(property, condition) in &self.covers {
            covers.push((property, circuit.relabelled(condition, relabelling, known)?));
        }
        let mut fault_places = Vec::with_capacity(self.fault_places.len());
        for &(span, condition) in &self.fault_places {
            fault_places.push((span, circuit.relabelled(condition, relabelling, known)?));
        }
        Some((guard, fault, dropped, writes, additions, covers, fault_places))
    }

    /// All functions it is made of.
    pub fn roots(&self) -> Vec<NodeId> {
        let mut roots = vec![self.guard, self.fault, self.dropped];
        for write in self.writes.iter().chain(self.additions.iter().flatten()) {
            match &write.written {
                Written::Cases(cases) => roots.extend(cases.iter().map(|&(_, condition)| condition)),
                Written::Number { when, undefined, value } => {
                    roots.extend([*when, *undefined]);
                    roots.extend(value.terms.iter().map(|&(node, _)| node));
                }
            }
        }
        roots.extend(self.covers.iter().map(|&(_, condition)| condition));
        roots.extend(self.fault_places.iter().map(|&(_, condition)| condition));
        roots
    }
}

/// The writes to relabelled slots.
fn relabelled_writes(
    writes: &[Write],
    circuit: &mut Circuit,
    relabelling: &Relabelling,
    known: &mut FxHashMap<NodeId, Option<NodeId>>,
) -> Option<Vec<Write>> {
    let mut images = Vec::with_capacity(writes.len());
    for write in writes {
        let slot = relabelling.slot(write.slot);
        let written = match &write.written {
            Written::Cases(cases) => {
                let mut image = Vec::with_capacity(cases.len());
                for &(value, condition) in cases {
                    let image_value = if circuit.is_wide(write.slot) {
                        value
                    } else {
                        let position = circuit.values(write.slot).binary_search(&value).ok()?;
                        circuit.values(slot)[relabelling.position(write.slot, position)]
                    };
                    image.push((image_value, circuit.relabelled(condition, relabelling, known)?));
                }
                image.sort_unstable();
                Written::Cases(image)
            }
            Written::Number { when, undefined, value } => {
                // A number can only be mapped to a slot with the same numbers as values.
                let keeps = (0..circuit.values(write.slot).len())
                    .all(|position| relabelling.position(write.slot, position) == position);
                if !keeps || circuit.values(write.slot) != circuit.values(slot) {
                    return None;
                }
                Written::Number {
                    when: circuit.relabelled(*when, relabelling, known)?,
                    undefined: circuit.relabelled(*undefined, relabelling, known)?,
                    value: circuit.relabelled_form(value, relabelling, known)?,
                }
            }
        };
        images.push(Write { slot, written });
    }
    images.sort_by_key(|write| write.slot);
    Some(images)
}

/// What an event writes to one slot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Write {
    /// The slot of the circuit: one of the state, or a column of a multiset if an element is added.
    pub slot: u32,
    /// The values written, with conditions.
    pub written: Written,
}

/// The values written. Meaningful only where the event takes a step; if nothing is written, the slot keeps its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Written {
    /// Each value (undefined is `None`) with the condition under which it is written. Among the conditions of values
    /// that the slot does not already hold, at most one holds; the condition of the value it holds is meaningless.
    Cases(Vec<(Option<i64>, NodeId)>),
    /// A number with too many cases to list, with the condition under which it is written, and the one under which the
    /// slot becomes undefined instead.
    Number {
        /// When anything is written.
        when: NodeId,
        /// When the slot becomes undefined, which also counts as written.
        undefined: NodeId,
        /// The value written otherwise.
        value: Linear,
    },
}
