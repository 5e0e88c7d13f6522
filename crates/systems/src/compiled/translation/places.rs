//! Places: slots and cells, and elements of arrays with computed indices.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlags, types};

use super::super::call::Table;
use super::{Attempt, Translator, Unsupported};
use crate::evaluator::code::{Address, AddressId, SlotCode, UNDEFINED, ValueId};

/// The largest number of words that an element with an unknown index may be in.
const WORD_LIMIT: u32 = 4;
/// The same if words are in memory: their bits are numbered with sixteen bits.
const MEMORY_LIMIT: u32 = 1024;
/// The largest number of elements that an index may choose from.
const ELEMENT_LIMIT: usize = 1024;

/// The location of a value.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Slot(u32),
    Cell(u32),
    /// A slot that depends on positions, each with a number of elements and a stride.
    Element {
        base: u32,
        dimensions: Vec<Dimension>,
    },
}

/// A position, the number of positions, and the distance between them in slots.
type Dimension = (ir::Value, u32, u32);

/// The slots that an element may be.
struct Candidates {
    /// The slot of each candidate; another one in place of a slot without bits.
    slots: Vec<usize>,
    /// A candidate that has bits, if any.
    like: Option<usize>,
    /// The contents of slots without bits, and [`UNDEFINED`] for the others; empty if all have bits.
    fixed: Box<[i64]>,
}

/// A field whose word and shift are computed.
struct DynamicField {
    /// The number of the first word it may be in.
    first_word: u32,
    /// The number of words it may be in.
    words: u32,
    /// The number of the word relative to the first; `None` if there is only one.
    word: Option<ir::Value>,
    shift: ir::Value,
}

impl Translator<'_, '_> {
    pub(super) fn place(&mut self, id: AddressId) -> Attempt<Target> {
        self.nested(|translator| translator.place_node(id))
    }

    fn place_node(&mut self, id: AddressId) -> Attempt<Target> {
        Ok(match self.code.addresses[id] {
            Address::Slot(slot) => Target::Slot(slot),
            Address::Frame(cell) => Target::Cell(cell),
            Address::Offset { base, cells } => {
                let place = self.place(base)?;
                self.after(&place, cells)
            }
            Address::SlotElement { slot, index, first, count, stride } => {
                let position = self.position(index, first, count)?;
                Target::Element { base: slot, dimensions: vec![(position, count, stride)] }
            }
            Address::Element { base, index, first, count, stride } => {
                let place = self.place(base)?;
                let position = self.position(index, first, count)?;
                match place {
                    Target::Slot(base) => Target::Element { base, dimensions: vec![(position, count, stride)] },
                    Target::Element { base, mut dimensions } => {
                        dimensions.push((position, count, stride));
                        Target::Element { base, dimensions }
                    }
                    Target::Cell(_) => return Err(Unsupported),
                }
            }
            Address::After { command, address } => {
                self.before(command)?;
                self.place(address)?
            }
            Address::Escape => {
                self.escape_always();
                Target::Slot(0)
            }
            Address::Reference(_) | Address::ElementOf { .. } | Address::AfterPresent(_) | Address::Choice { .. } => {
                return Err(Unsupported);
            }
        })
    }

    /// The position of an element, which must exist.
    fn position(&mut self, index: ValueId, first: i64, count: u32) -> Attempt<ir::Value> {
        let value = self.value(index)?;
        let position = if first == 0 { value } else { self.builder.ins().iadd_imm(value, first.wrapping_neg()) };
        let fits = self
            .plain()
            .range(index)
            .is_some_and(|(low, high)| first <= low && i128::from(high) - i128::from(first) < i128::from(count));
        if !fits {
            let count = self.constant(i64::from(count));
            let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, count);
            self.escape_unless(inside);
        }
        Ok(position)
    }

    /// The place a number of cells after another.
    pub(super) fn after(&self, place: &Target, cells: u32) -> Target {
        match place {
            Target::Slot(slot) => Target::Slot(slot + cells),
            Target::Cell(cell) => Target::Cell(cell + cells),
            Target::Element { base, dimensions } => {
                Target::Element { base: base + cells, dimensions: dimensions.clone() }
            }
        }
    }

    pub(super) fn load(&mut self, address: AddressId) -> Attempt<ir::Value> {
        let place = self.place(address)?;
        self.load_place(&place)
    }

    /// The content of a place, which may be [`UNDEFINED`].
    pub(super) fn load_place(&mut self, place: &Target) -> Attempt<ir::Value> {
        match place {
            Target::Cell(cell) => {
                let variable = self.cell(*cell);
                Ok(self.builder.use_var(variable))
            }
            Target::Slot(slot) => {
                let slot = self.code.slots.get(*slot as usize).ok_or(Unsupported)?;
                let field = slot.field;
                let found =
                    if slot.width == 0 { self.constant(0) } else { self.field(field.word, field.shift, field.mask) };
                let assured = slot.width > 0 && self.assured.contains(field.word, field.mask << field.shift);
                self.decode(slot, found, assured)
            }
            Target::Element { base, dimensions } => {
                let candidates = self.candidates(*base, dimensions)?;
                let fixed = self.fixed_value(&candidates, dimensions);
                let Some(like) = candidates.like else { return fixed.ok_or(Unsupported) };
                let slot = &self.code.slots[like];
                let location = self.locate(&candidates.slots, dimensions)?;
                let word = self.choose_word(&location);
                let moved = self.builder.ins().ushr(word, location.shift);
                let found = self.builder.ins().band_imm(moved, slot.field.mask as i64);
                let value = self.decode(slot, found, self.all_assured(&candidates))?;
                Ok(match fixed {
                    None => value,
                    Some(fixed) => {
                        let varies = self.is_mark(fixed);
                        self.builder.ins().select(varies, value, fixed)
                    }
                })
            }
        }
    }

    /// Whether the content of a place may be [`UNDEFINED`].
    pub(super) fn may_lack_value(&self, place: &Target) -> Attempt<bool> {
        Ok(match place {
            Target::Cell(_) => true,
            Target::Slot(slot) => {
                let SlotCode { field, .. } = self.code.slots.get(*slot as usize).ok_or(Unsupported)?;
                field.partial && !self.assured.contains(field.word, field.mask << field.shift)
            }
            Target::Element { base, dimensions } => {
                let candidates = self.candidates(*base, dimensions)?;
                let partial = candidates.like.is_some_and(|slot| self.code.slots[slot].field.partial);
                partial && !self.all_assured(&candidates)
            }
        })
    }

    fn all_assured(&self, candidates: &Candidates) -> bool {
        candidates.slots.iter().all(|&slot| {
            let field = self.code.slots[slot].field;
            self.assured.contains(field.word, field.mask << field.shift)
        })
    }

    /// Whether a value is the marker of undefined cells.
    fn is_mark(&mut self, value: ir::Value) -> ir::Value {
        let undefined = self.constant(UNDEFINED);
        self.builder.ins().icmp(IntCC::Equal, value, undefined)
    }

    /// The content of an element if it has no bits, and [`UNDEFINED`] if it has; `None` if all have.
    fn fixed_value(&mut self, candidates: &Candidates, dimensions: &[Dimension]) -> Option<ir::Value> {
        let values = &candidates.fixed;
        let &first = values.first()?;
        if values.iter().all(|&value| value == first) {
            return Some(self.constant(first));
        }
        let values = values.clone();
        let address = values.as_ptr() as usize as i64;
        self.tables.push(Table::Values(values));
        let number = self.number(dimensions);
        let offset = self.builder.ins().ishl_imm(number, 3);
        let address = self.constant(address);
        let address = self.builder.ins().iadd(address, offset);
        Some(self.builder.ins().load(types::I64, MemFlags::trusted().with_readonly(), address, 0))
    }

    /// The number of an element among the candidates.
    fn number(&mut self, dimensions: &[Dimension]) -> ir::Value {
        let mut number = self.constant(0);
        for &(position, count, _) in dimensions {
            number = self.builder.ins().imul_imm(number, i64::from(count));
            number = self.builder.ins().iadd(number, position);
        }
        number
    }

    /// The value that the bits of a slot represent.
    fn decode(&mut self, slot: &SlotCode, found: ir::Value, assured: bool) -> Attempt<ir::Value> {
        if !slot.domain.is_interval() {
            return Err(Unsupported);
        }
        let offset = slot.domain.low.wrapping_sub(i64::from(slot.field.partial));
        let value = if offset == 0 { found } else { self.builder.ins().iadd_imm(found, offset) };
        if slot.field.partial && !assured {
            let undefined = self.constant(UNDEFINED);
            return Ok(self.builder.ins().select(found, value, undefined));
        }
        Ok(value)
    }

    /// Stores a value, which may be [`UNDEFINED`] unless it is known to need no check.
    pub(super) fn store_place(&mut self, place: &Target, value: ir::Value, defined: bool) -> Attempt<()> {
        match place {
            Target::Cell(cell) => self.set_cell(*cell, value),
            Target::Slot(slot) => {
                let slot = self.code.slots.get(*slot as usize).ok_or(Unsupported)?;
                let bits = self.checked_bits(slot, value, defined)?;
                if slot.width > 0 {
                    self.put_field(slot.field.word, slot.field.shift, slot.field.mask, bits);
                }
            }
            Target::Element { base, dimensions } => self.store_element(*base, dimensions, value, defined)?,
        }
        Ok(())
    }

    /// The bits of a value, which must fit into the slot.
    fn checked_bits(&mut self, slot: &SlotCode, value: ir::Value, defined: bool) -> Attempt<ir::Value> {
        if !slot.domain.is_interval() {
            return Err(Unsupported);
        }
        if defined || !slot.field.partial {
            // For a field that always has a value, the check refuses the marker of undefined cells.
            self.require_range(value, slot.domain.low, slot.domain.high);
            return Ok(self.encode(slot, value));
        }
        let lacking = self.is_mark(value);
        let least = self.constant(slot.domain.low);
        let checked = self.builder.ins().select(lacking, least, value);
        self.require_range(checked, slot.domain.low, slot.domain.high);
        let bits = self.encode(slot, value);
        let zero = self.constant(0);
        Ok(self.builder.ins().select(lacking, zero, bits))
    }

    fn store_element(&mut self, base: u32, dimensions: &[Dimension], value: ir::Value, defined: bool) -> Attempt<()> {
        let candidates = self.candidates(base, dimensions)?;
        let fixed = self.fixed_value(&candidates, dimensions);
        // A slot without bits keeps its value.
        let varies = match fixed {
            None => None,
            Some(fixed) => {
                let same = self.builder.ins().icmp(IntCC::Equal, value, fixed);
                let varies = candidates.like.map(|_| self.is_mark(fixed));
                let fits = varies.map_or(same, |varies| self.builder.ins().bor(varies, same));
                self.escape_unless(fits);
                varies
            }
        };
        let Some(like) = candidates.like else { return Ok(()) };
        let slot = &self.code.slots[like];
        let mut bits = self.checked_bits(slot, value, defined)?;
        let location = self.locate(&candidates.slots, dimensions)?;
        let mut mask = self.constant(slot.field.mask as i64);
        if let Some(varies) = varies {
            let zero = self.constant(0);
            mask = self.builder.ins().select(varies, mask, zero);
            bits = self.builder.ins().select(varies, bits, zero);
        }
        let mask = self.builder.ins().ishl(mask, location.shift);
        let bits = self.builder.ins().ishl(bits, location.shift);
        if let Some(address) = self.address_of(&location) {
            let flags = MemFlags::trusted();
            let before = self.builder.ins().load(types::I64, flags, address, 0);
            let cleared = self.builder.ins().band_not(before, mask);
            let after = self.builder.ins().bor(cleared, bits);
            self.builder.ins().store(flags, after, address, 0);
            for offset in 0..location.words {
                self.known.forget(location.first_word + offset, u64::MAX);
            }
            return Ok(());
        }
        for offset in 0..location.words {
            let word = location.first_word + offset;
            let before = self.word(word);
            let cleared = self.builder.ins().band_not(before, mask);
            let after = self.builder.ins().bor(cleared, bits);
            let after = match location.word {
                None => after,
                Some(chosen) => {
                    let this = self.builder.ins().icmp_imm(IntCC::Equal, chosen, i64::from(offset));
                    self.builder.ins().select(this, after, before)
                }
            };
            self.set_word(word, after);
        }
        Ok(())
    }

    fn encode(&mut self, slot: &SlotCode, value: ir::Value) -> ir::Value {
        let offset = slot.domain.low.wrapping_sub(i64::from(slot.field.partial));
        if offset == 0 { value } else { self.builder.ins().iadd_imm(value, offset.wrapping_neg()) }
    }

    /// The slots that an element may be, all alike except those without bits; in the order of their positions, the last
    /// dimension fastest.
    fn candidates(&self, base: u32, dimensions: &[Dimension]) -> Attempt<Candidates> {
        let mut slots = vec![base as usize];
        for &(_, count, stride) in dimensions {
            if slots.len() * count as usize > ELEMENT_LIMIT {
                return Err(Unsupported);
            }
            slots = slots
                .iter()
                .flat_map(|&slot| (0..count as usize).map(move |position| slot + position * stride as usize))
                .collect();
        }
        if slots.last().is_none_or(|&last| last >= self.code.slots.len()) {
            return Err(Unsupported);
        }
        let varies = |slot: usize| self.code.slots[slot].width > 0;
        let Some(&like) = slots.iter().find(|&&slot| varies(slot)) else {
            let fixed = slots.iter().map(|&slot| self.code.slots[slot].domain.value_of(0)).collect();
            return Ok(Candidates { slots, like: None, fixed });
        };
        let first = &self.code.slots[like];
        let alike = |slot: usize| {
            let slot = &self.code.slots[slot];
            slot.width == first.width && slot.field.partial == first.field.partial && slot.domain == first.domain
        };
        if !slots.iter().all(|&slot| !varies(slot) || alike(slot)) {
            return Err(Unsupported);
        }
        let mut fixed: Box<[i64]> = Box::default();
        if !slots.iter().all(|&slot| varies(slot)) {
            let fixed_value =
                |slot: usize| if varies(slot) { UNDEFINED } else { self.code.slots[slot].domain.value_of(0) };
            fixed = slots.iter().map(|&slot| fixed_value(slot)).collect();
            for slot in slots.iter_mut().filter(|slot| !varies(**slot)) {
                *slot = like;
            }
        }
        Ok(Candidates { slots, like: Some(like), fixed })
    }

    /// Computes the location of an element.
    fn locate(&mut self, slots: &[usize], dimensions: &[Dimension]) -> Attempt<DynamicField> {
        let code = self.code;
        let bit = |slot: usize| u64::from(code.slots[slot].field.word) * 64 + u64::from(code.slots[slot].field.shift);
        let first_word = slots.iter().map(|&slot| code.slots[slot].field.word).min().ok_or(Unsupported)?;
        let last_word = slots.iter().map(|&slot| code.slots[slot].field.word).max().ok_or(Unsupported)?;
        let words = last_word - first_word + 1;
        if words > if self.base.is_some() { MEMORY_LIMIT } else { WORD_LIMIT } {
            return Err(Unsupported);
        }
        // The distance between neighbours, if it is the same everywhere.
        let start = bit(slots[0]);
        let mut apart = slots.len();
        let mut steps: Vec<i64> = Vec::with_capacity(dimensions.len());
        for &(_, count, _) in dimensions {
            apart /= count as usize;
            steps.push(if count > 1 { bit(slots[apart]) as i64 - start as i64 } else { 0 });
        }
        let regular = {
            let mut expected = vec![start as i64];
            for (&(_, count, _), &step) in dimensions.iter().zip(&steps) {
                expected = expected
                    .iter()
                    .flat_map(|&bit| (0..i64::from(count)).map(move |number| bit + number * step))
                    .collect();
            }
            expected.iter().zip(slots).all(|(&expected, &slot)| expected == bit(slot) as i64)
        };
        let origin = u64::from(first_word) * 64;
        let place = if regular {
            let mut place = self.constant((start - origin) as i64);
            for (&(position, _, _), &step) in dimensions.iter().zip(&steps) {
                let moved = self.builder.ins().imul_imm(position, step);
                place = self.builder.ins().iadd(place, moved);
            }
            place
        } else {
            // A table of the bit of each candidate.
            let table: Box<[u16]> = slots.iter().map(|&slot| (bit(slot) - origin) as u16).collect();
            let address = table.as_ptr() as usize as i64;
            self.tables.push(Table::Bits(table));
            let number = self.number(dimensions);
            let offset = self.builder.ins().ishl_imm(number, 1);
            let address = self.constant(address);
            let address = self.builder.ins().iadd(address, offset);
            self.builder.ins().uload16(types::I64, MemFlags::trusted().with_readonly(), address, 0)
        };
        Ok(if words == 1 {
            DynamicField { first_word, words, word: None, shift: place }
        } else {
            let word = self.builder.ins().ushr_imm(place, 6);
            let shift = self.builder.ins().band_imm(place, 63);
            DynamicField { first_word, words, word: Some(word), shift }
        })
    }

    /// The address of a computed word, if words are in memory. All writes are done.
    fn address_of(&mut self, location: &DynamicField) -> Option<ir::Value> {
        let base = self.base?;
        for offset in 0..location.words {
            self.flush(location.first_word + offset);
        }
        let first = self.builder.ins().iadd_imm(base, i64::from(location.first_word) * 8);
        Some(match location.word {
            None => first,
            Some(word) => {
                let offset = self.builder.ins().ishl_imm(word, 3);
                self.builder.ins().iadd(first, offset)
            }
        })
    }

    fn choose_word(&mut self, location: &DynamicField) -> ir::Value {
        if let Some(address) = self.address_of(location) {
            return self.builder.ins().load(types::I64, MemFlags::trusted(), address, 0);
        }
        let mut value = self.word(location.first_word);
        if let Some(chosen) = location.word {
            for offset in 1..location.words {
                let other = self.word(location.first_word + offset);
                let this = self.builder.ins().icmp_imm(IntCC::Equal, chosen, i64::from(offset));
                value = self.builder.ins().select(this, other, value);
            }
        }
        value
    }
}
