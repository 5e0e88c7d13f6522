//! Bodies by cases: if the index of elements is in a slot that the body does not change, and the slot has few values,
//! the body is translated once for each of them. Then the elements are at known locations, and copies between them are
//! moves of bits.

use quotient_ir::{BinaryOperator, Statement};
use rustc_hash::FxHashMap;

use super::fields::compare_slot;
use super::mutation::written_slots;
use super::{Owner, Specialiser, Unsupported};
use crate::evaluator::code::{Command, CommandId, Value};

/// The largest number of values of a slot that are worth a case each.
const VALUE_LIMIT: usize = 8;
/// The smallest number of elements that a slot must index.
const LEAST_USES: u32 = 4;
/// The largest number of cases of all bodies together.
const CASE_LIMIT: usize = 2000;

/// The fields, by word and shift, used as indices of array elements, and how often.
pub(super) type IndexUses = FxHashMap<(u32, u8), u32>;

impl<'m> Specialiser<'m> {
    /// The body of an owner.
    pub(super) fn body(&mut self, owner: &Owner<'m>, body: &'m [Statement]) -> Result<CommandId, Unsupported> {
        let mut commands = self.undefine_variables(owner.locals)?;
        self.block_into(body, &mut commands)?;
        Ok(self.sequence(&commands))
    }

    /// The same by cases, if that is worthwhile.
    pub(super) fn body_by_cases(&mut self, owner: &Owner<'m>, body: &'m [Statement]) -> Result<CommandId, Unsupported> {
        self.context.index_uses.clear();
        let whole = self.body(owner, body)?;
        let Some(slot) = self.index_slot(body) else { return Ok(whole) };
        let (low, high) = (self.code.slots[slot].domain.low, self.code.slots[slot].domain.high);
        let (weight, before) = (self.context.weight, self.constants.clone());
        self.constants.resize(self.code.slots.len(), None);
        let translated: Result<Vec<(i64, CommandId)>, Unsupported> = (low..=high)
            .map(|value| {
                self.constants[slot] = Some(value);
                let command = self.body(owner, body)?;
                Ok((value, if self.escapes(command) { self.code.commands.add(Command::Escape) } else { command }))
            })
            .collect();
        // Also after an error: what holds in one case must not be assumed elsewhere.
        self.constants = before;
        let mut cases = translated?;
        self.cases += cases.len();
        // Only one of them runs.
        self.work += self.context.weight - weight;
        self.context.weight = weight;
        // Cases left to the reference interpreter come last, for all such values together.
        cases.sort_by_key(|&(_, command)| self.code.commands[command] == Command::Escape);
        let mut otherwise = cases.pop().map_or(whole, |(_, command)| command);
        for (value, command) in cases.into_iter().rev() {
            if command == otherwise {
                continue;
            }
            let Some(test) = compare_slot(&self.code.slots[slot], BinaryOperator::Equal, value) else {
                return Ok(whole);
            };
            let condition = self.code.tests.add(test);
            otherwise = self.code.commands.add(Command::If { condition, then: command, otherwise });
        }
        Ok(otherwise)
    }

    /// Whether a command always ends with an escape.
    fn escapes(&self, command: CommandId) -> bool {
        match self.code.commands[command] {
            Command::Escape => true,
            Command::Sequence(list) => self.code.command_lists.get(list).last().is_some_and(|&last| self.escapes(last)),
            _ => false,
        }
    }

    /// Records the index of an element.
    pub(super) fn note_index(&mut self, index: &Value) {
        if let Value::Field { word, shift, partial: false, .. } = *index {
            *self.context.index_uses.entry((word, shift)).or_default() += 1;
        }
    }

    /// The slot that a body just translated uses most as an index, if cases on it are worthwhile.
    fn index_slot(&self, body: &[Statement]) -> Option<usize> {
        let (&(word, shift), _) = (self.context.index_uses.iter())
            .filter(|&(_, &uses)| uses >= LEAST_USES)
            .max_by_key(|&(&field, &uses)| (uses, field))?;
        let mut slots = self.code.slots.iter();
        let slot = slots.position(|slot| slot.width > 0 && (slot.field.word, slot.field.shift) == (word, shift))?;
        let domain = &self.code.slots[slot].domain;
        let few = domain.is_interval() && domain.high.checked_sub(domain.low)? < VALUE_LIMIT as i64;
        let worthwhile = few && self.cases < CASE_LIMIT && !written_slots(self.model, self.layout, body)[slot];
        worthwhile.then_some(slot)
    }
}
