//! What a proof shows: conditions that hold in all reachable states, as far as they are needed.

use quotient_ir::{Layout, Model, SlotId, TableIndex};
use rustsat::types::Lit;

use crate::atoms::{About, Atoms, Clause};
use crate::clauses::{Clauses, Halted, Limits};
use crate::system::System;
use crate::watch::Watch;
use quotient_booleans::Code;

/// An inductive strengthening of what was proved: it holds in the starts, each step preserves it, and nothing is wrong in
/// a state in which it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strengthening {
    /// Disjunctions; all of them hold.
    pub clauses: Vec<Vec<Part>>,
}

/// A condition on one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The slot.
    pub slot: SlotId,
    /// Whether it can be undefined.
    pub is_optional: bool,
    /// What it holds.
    pub content: Content,
}

/// A set of contents of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// These values, in increasing order, undefined first.
    Values(Vec<Option<i64>>),
    /// Values whose difference to the least one has a certain bit. Undefined counts as a difference of zero.
    Digit {
        /// The least value.
        low: i64,
        /// The bit; the least significant is 0.
        digit: u32,
        /// Its value.
        value: bool,
    },
    /// Undefined, or anything else.
    Undefined(bool),
}

/// How a language writes conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operators {
    equals: &'static str,
    and: &'static str,
    or: &'static str,
    not: &'static str,
    remainder: &'static str,
}

impl Operators {
    /// Those of Murphi.
    pub const MURPHI: Self = Self { equals: "=", and: "&", or: "|", not: "!", remainder: "%" };
    /// Those of C, Promela, DVE and CSP#.
    pub const C: Self = Self { equals: "==", and: "&&", or: "||", not: "!", remainder: "%" };
    /// Those of B.
    pub const B: Self = Self { equals: "=", and: "&", or: "or", not: "not ", remainder: "mod" };
}

impl Strengthening {
    /// What clauses say about slots.
    pub(crate) fn new(system: &System, atoms: &Atoms, clauses: &[Clause]) -> Self {
        let parts = |clause: &Clause| {
            let mut parts: Vec<Part> = Vec::new();
            for &atom in clause {
                let part = part(system, atoms.about(atom));
                match (parts.last_mut(), &part.content) {
                    (Some(Part { slot, content: Content::Values(known), .. }), Content::Values(values))
                        if *slot == part.slot =>
                    {
                        known.extend(values);
                        known.sort_unstable();
                        known.dedup();
                    }
                    _ => parts.push(part),
                }
            }
            parts
        };
        Self { clauses: clauses.iter().map(parts).collect() }
    }

    /// The clauses with the names of the model and operators of its language, one a line. They have a value in each
    /// state: a slot that is undefined is not compared.
    pub fn lines(&self, model: &Model, layout: &Layout, operators: Operators) -> Vec<String> {
        let line = |clause: &Vec<Part>| {
            let parts: Vec<String> =
                clause.iter().flat_map(|part| part.alternatives(model, layout, operators)).collect();
            if parts.is_empty() { "false".to_owned() } else { parts.join(&format!(" {} ", operators.or)) }
        };
        self.clauses.iter().map(line).collect()
    }
}

/// What an atom says about its slot.
fn part(system: &System, about: About) -> Part {
    let (About::Value { slot, .. } | About::Bit { slot, .. }) = about;
    let values = system.encoding.values(slot);
    let content = match (about, system.encoding.code(slot)) {
        (About::Value { position, .. }, _) => Content::Values(vec![values[position]]),
        (About::Bit { bit, value, .. }, Code::Position { .. }) => {
            let fits = values.iter().enumerate().filter(|(position, _)| (position >> bit & 1 == 1) == value);
            Content::Values(fits.map(|(_, &content)| content).collect())
        }
        (About::Bit { bit: 0, value, .. }, Code::Offset { is_optional: true, .. }) => Content::Undefined(value),
        (About::Bit { bit, value, .. }, Code::Offset { low, is_optional, .. }) => {
            Content::Digit { low, digit: (bit - usize::from(is_optional)) as u32, value }
        }
    };
    Part { slot: SlotId::from_position(slot as usize), is_optional: values[0].is_none(), content }
}

impl Part {
    /// Conditions, one of which holds.
    fn alternatives(&self, model: &Model, layout: &Layout, operators: Operators) -> Vec<String> {
        let Operators { equals, and, or, not, remainder } = operators;
        let entry = &layout.slots[self.slot];
        let name = &entry.name;
        let is_undefined = format!("isundefined({name})");
        let (with_undefined, mut defined) = match &self.content {
            Content::Undefined(true) => return vec![is_undefined],
            Content::Undefined(false) => return vec![format!("{not}{is_undefined}")],
            Content::Digit { low, digit, value } => {
                let difference = match low {
                    0 => name.clone(),
                    ..0 => format!("({name} + {})", low.unsigned_abs()),
                    _ => format!("({name} - {low})"),
                };
                let shifted = if *digit == 0 { difference } else { format!("{difference} / {}", 1u128 << digit) };
                (!value, vec![format!("{shifted} {remainder} 2 {equals} {}", u8::from(*value))])
            }
            Content::Values(values) => {
                let mut defined = Vec::new();
                let numbers: Vec<i64> = values.iter().copied().flatten().collect();
                for range in numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next)) {
                    let (first, last) = (range[0], range[range.len() - 1]);
                    let are_numbers = range.iter().all(|&value| model.value_name(entry.ty, value) == value.to_string());
                    if range.len() > 2 && are_numbers {
                        defined.push(format!("({first} <= {name} {and} {name} <= {last})"));
                    } else {
                        let is = |&value: &i64| format!("{name} {equals} {}", model.value_name(entry.ty, value));
                        defined.extend(range.iter().map(is));
                    }
                }
                (values.contains(&None), defined)
            }
        };
        match (self.is_optional, with_undefined) {
            (false, _) => defined,
            (true, true) => {
                defined.insert(0, is_undefined);
                defined
            }
            (true, false) => {
                let defined = match &defined[..] {
                    [one] => one.clone(),
                    several => format!("({})", several.join(&format!(" {or} "))),
                };
                vec![format!("({not}{is_undefined} {and} {defined})")]
            }
        }
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
