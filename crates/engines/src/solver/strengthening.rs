//! What a proof shows: conditions that hold in all reachable states, as far as they are needed.

use quotient_ir::{Layout, Model, SlotId, TableIndex};
use rustsat::types::Lit;

use crate::booleans::Code;
use crate::solver::atoms::{About, Atoms, Clause};
use crate::solver::clauses::{Clauses, Halted, Limits};
use crate::solver::system::System;
use crate::solver::watch::Watch;

/// An inductive strengthening of what was proved: it holds in the starts, each step preserves it, and nothing is wrong in
/// a state in which it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strengthening {
    /// Disjunctions; all of them hold.
    pub clauses: Vec<Vec<Part>>,
}

/// A condition on one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// It holds one of these values.
    Values {
        /// The slot.
        slot: SlotId,
        /// The values, in increasing order, undefined first.
        values: Vec<Option<i64>>,
    },
    /// A bit of the difference to its least value is this.
    Digit {
        /// The slot.
        slot: SlotId,
        /// The least value.
        low: i64,
        /// The bit; the least significant is 0.
        digit: u32,
        /// Its value.
        value: bool,
    },
    /// It is undefined, or not.
    Undefined {
        /// The slot.
        slot: SlotId,
        /// Whether it is.
        value: bool,
    },
    /// A bit of the position among its possible values is this.
    Position {
        /// The slot.
        slot: SlotId,
        /// The bit; the least significant is 0.
        digit: u32,
        /// Its value.
        value: bool,
    },
}

impl Strengthening {
    /// What clauses say about slots.
    pub(crate) fn new(system: &System, atoms: &Atoms, clauses: &[Clause]) -> Self {
        let parts = |clause: &Clause| {
            let mut parts: Vec<Part> = Vec::new();
            for &atom in clause {
                match atoms.about(atom) {
                    About::Value { slot, position } => {
                        let value = system.encoding.values(slot)[position];
                        let slot = SlotId::from_position(slot as usize);
                        match parts.last_mut() {
                            Some(Part::Values { slot: known, values }) if *known == slot => values.push(value),
                            _ => parts.push(Part::Values { slot, values: vec![value] }),
                        }
                    }
                    About::Bit { slot, bit, value } => {
                        let code = system.encoding.code(slot);
                        let slot = SlotId::from_position(slot as usize);
                        parts.push(match code {
                            Code::Position { .. } => Part::Position { slot, digit: bit as u32, value },
                            Code::Offset { is_optional: true, .. } if bit == 0 => Part::Undefined { slot, value },
                            Code::Offset { low, is_optional, .. } => {
                                Part::Digit { slot, low, digit: (bit - usize::from(is_optional)) as u32, value }
                            }
                        });
                    }
                }
            }
            parts
        };
        Self { clauses: clauses.iter().map(parts).collect() }
    }

    /// The clauses with the names of the model, one a line.
    pub fn lines(&self, model: &Model, layout: &Layout) -> Vec<String> {
        let part = |part: &Part| match part {
            Part::Values { slot, values } => {
                let entry = &layout.slots[*slot];
                let value = |value: &Option<i64>| match value {
                    Some(value) => model.value_name(entry.ty, *value),
                    None => "undefined".to_owned(),
                };
                let names: Vec<String> = values.iter().map(value).collect();
                match &names[..] {
                    [name] => format!("{} = {name}", entry.name),
                    names => format!("{} in {{{}}}", entry.name, names.join(", ")),
                }
            }
            Part::Digit { slot, low, digit, value } => {
                let power = 1u128 << digit;
                format!("({} - {low}) / {power} % 2 = {}", layout.slots[*slot].name, u8::from(*value))
            }
            Part::Undefined { slot, value } => {
                let not = if *value { "" } else { "!" };
                format!("{not}isundefined({})", layout.slots[*slot].name)
            }
            Part::Position { slot, digit, value } => {
                let power = 1u128 << digit;
                format!("position({}) / {power} % 2 = {}", layout.slots[*slot].name, u8::from(*value))
            }
        };
        let line = |clause: &Vec<Part>| match &clause[..] {
            [] => "false".to_owned(),
            parts => parts.iter().map(part).collect::<Vec<_>>().join(" | "),
        };
        self.clauses.iter().map(line).collect()
    }
}

/// Checks with a new solver that clauses hold in all starts, that steps preserve them together, and that nothing is wrong
/// where they hold.
///
/// # Errors
/// If the work was stopped.
pub(crate) fn is_inductive(
    system: &System,
    atoms: &Atoms,
    strengthening: &[Clause],
    limits: &Limits,
    watch: &mut Watch<'_>,
) -> Result<bool, Halted> {
    let mut clauses = Clauses::new(&system.formula, limits);
    let (mut now, mut then) = (clauses.frame(), clauses.frame());
    let started = clauses.literal(&mut now, system.started);
    then.set(system.started, clauses.truth());
    for (bits, next) in system.bits.iter().zip(&system.next) {
        for (&bit, &next) in bits.iter().zip(next) {
            let literal = clauses.literal(&mut now, next);
            then.set(bit, literal);
        }
    }
    // A step leads to a state that is admitted, so all states of the model are.
    let exists = clauses.literal(&mut now, system.admitted);
    clauses.add(&[!started, exists]);
    for clause in strengthening {
        let mut literals = vec![!started];
        for &atom in clause {
            literals.push(clauses.literal(&mut now, atoms.function(atom)));
        }
        clauses.add(&literals);
    }
    let bad = clauses.literal(&mut now, system.bad);
    let mut ask = |clauses: &mut Clauses<'_>, assumed: &[Lit]| {
        watch.tick(0, clauses.bytes())?;
        clauses.is_satisfiable(assumed)
    };
    if ask(&mut clauses, &[bad])? {
        return Ok(false);
    }
    let step = clauses.literal(&mut now, system.step);
    let reached = clauses.literal(&mut then, system.admitted);
    for clause in strengthening {
        let mut assumed = vec![step, reached];
        for &atom in clause {
            assumed.push(!clauses.literal(&mut then, atoms.function(atom)));
        }
        if ask(&mut clauses, &assumed)? {
            return Ok(false);
        }
    }
    Ok(true)
}
