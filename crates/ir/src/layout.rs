//! The state vector: variables flattened to scalar slots with their source names, and the packing
//! of their values into words.
//!
//! The slots of a record are in field order, those of an array in increasing order of the index,
//! and a multiset has for each position a boolean "present" slot followed by the element's slots. Their places in a
//! packed state are another matter (`packing`).
//! A slot stores the code of its value in the domain, plus one if zero represents "undefined". No slot straddles a
//! word. A layout may be repacked so that slots have room only for some of their values; then a value that does not fit
//! must be detected when it is stored.

mod packing;

use std::ops::{Index, IndexMut};

use crate::index::{SlotId, Table, TableIndex, TypeId, VariableId};
use crate::model::{LocalKind, Model};
use crate::types::{Domain, TypeKind};
use packing::Element;

/// A scalar cell of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in source terms, such as `net[Proc_0].kind`.
    pub name: String,
    /// The variable it is a cell of.
    pub variable: VariableId,
    /// Its scalar type.
    pub ty: TypeId,
    /// The values it has room for: those of its type, or fewer if the layout was repacked.
    pub domain: Domain,
    /// The least value of its type.
    pub least: i64,
    /// Whether it can be undefined. The element cells of a multiset always can, since those of absent elements are; its
    /// "present" cells never can.
    pub may_be_undefined: bool,
    /// Whether it has room for "undefined": if it can be undefined, unless the layout was repacked.
    pub has_undefined: bool,
    /// Its first bit in the packed state.
    pub bit: u32,
    /// The number of bits; zero if there is a single value.
    pub width: u32,
}

/// The location of a multiset in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultisetSlots {
    /// The "present" slot of the first position.
    pub first: SlotId,
    /// The number of positions.
    pub capacity: usize,
    /// The number of slots per position, including its "present" slot.
    pub stride: usize,
}

/// Why a model has no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// More cells than a state may have.
    #[error("the variables take more than {limit} cells; `{variable}` goes over the limit")]
    TooManySlots {
        /// The variable that exceeds the limit.
        variable: String,
        /// The limit.
        limit: u64,
    },
    /// More cells than the locals of one owner may have.
    #[error("the parameters and local variables of {owner} take more than {limit} cells")]
    TooManyLocals {
        /// The rule, initial-state program, property or function.
        owner: String,
        /// The limit.
        limit: u64,
    },
    /// A cell whose values do not fit a word.
    #[error("`{slot}` has more values than 64 bits can distinguish")]
    DomainTooLarge {
        /// The cell.
        slot: String,
    },
    /// A type nested too deeply.
    #[error("the type of `{variable}` is nested more than {limit} levels deep")]
    TypeTooDeep {
        /// The variable.
        variable: String,
        /// The limit.
        limit: usize,
    },
}

/// The location of the variables of a model in its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The cells of all variables, in order of declaration.
    pub slots: Table<SlotId, Slot>,
    first_slots: Table<VariableId, SlotId>,
    multisets: Vec<MultisetSlots>,
    /// The domains of outermost indices, and the element of each slot.
    families: Vec<Domain>,
    elements: Vec<Option<Element>>,
    bits: u32,
}

/// One value (or undefined) for each slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Valuation(pub Vec<Option<i64>>);

impl Index<SlotId> for Valuation {
    type Output = Option<i64>;
    fn index(&self, slot: SlotId) -> &Option<i64> {
        &self.0[slot.position()]
    }
}

impl IndexMut<SlotId> for Valuation {
    fn index_mut(&mut self, slot: SlotId) -> &mut Option<i64> {
        &mut self.0[slot.position()]
    }
}

/// A packed state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(pub Box<[u64]>);

impl Slot {
    /// The number stored for a value (or undefined); `None` if the slot cannot hold it.
    pub fn stored(&self, value: Option<i64>) -> Option<u64> {
        match value {
            Some(value) => Some(self.domain.code_of(value)? + u64::from(self.has_undefined)),
            None => self.has_undefined.then_some(0),
        }
    }
    /// The value of a stored number.
    ///
    /// # Panics
    /// If the number represents no value.
    pub fn value(&self, stored: u64) -> Option<i64> {
        match (self.has_undefined, stored) {
            (true, 0) => None,
            (true, _) => Some(self.domain.value_of(stored - 1)),
            (false, _) => Some(self.domain.value_of(stored)),
        }
    }
    /// Its content before the first step: undefined if that is possible, or else its least value.
    pub fn initial(&self) -> Option<i64> {
        if self.may_be_undefined { None } else { Some(self.least) }
    }
}

impl Layout {
    /// The greatest number of slots, and of cells of the locals of one owner.
    pub const SLOT_LIMIT: u64 = 1 << 20;
    /// The greatest nesting of the types of variables.
    pub const NESTING_LIMIT: usize = 200;

    /// Lays out the variables of a model.
    ///
    /// # Errors
    /// If the variables or the locals of an owner have too many cells, a cell has too many values,
    /// or a type is nested too deeply.
    pub fn new(model: &Model) -> Result<Self, LayoutError> {
        let mut layout = Self {
            slots: Table::new(),
            first_slots: Table::new(),
            multisets: Vec::new(),
            families: Vec::new(),
            elements: Vec::new(),
            bits: 0,
        };
        for (variable, entry) in model.variables.iter_enumerated() {
            layout.first_slots.push(layout.slots.next_index());
            if model.cells(entry.ty).saturating_add(layout.slots.len() as u64) > Self::SLOT_LIMIT {
                return Err(LayoutError::TooManySlots { variable: entry.name.clone(), limit: Self::SLOT_LIMIT });
            }
            let mut flattening =
                Flattening { model, variable, layout: &mut layout, element: None, is_in_multiset: false, depth: 0 };
            flattening.flatten(&entry.name, entry.ty, entry.may_be_undefined)?;
        }
        check_locals(model)?;
        layout.bits = packing::place(&mut layout.slots, &layout.elements, &layout.families);
        Ok(layout)
    }
    /// The same slots with room for fewer values: for each slot the given values and whether it can be undefined, or,
    /// for `None`, the same as here.
    pub fn repacked(&self, mut room: impl FnMut(SlotId, &Slot) -> Option<(Domain, bool)>) -> Self {
        let mut layout = Self { slots: Table::new(), ..self.clone() };
        for (id, slot) in self.slots.iter_enumerated() {
            let (domain, has_undefined) = room(id, slot).unwrap_or_else(|| (slot.domain.clone(), slot.has_undefined));
            let width = width(&domain, has_undefined).expect("there are no more values than before");
            layout.slots.push(Slot { domain, has_undefined, width, ..slot.clone() });
        }
        layout.bits = packing::place(&mut layout.slots, &layout.elements, &layout.families);
        layout
    }
    /// Whether the state before the first step is stored as zeros.
    pub fn begins_with_zeros(&self) -> bool {
        self.slots.iter().all(|slot| slot.stored(slot.initial()) == Some(0))
    }
    /// The first slot of a variable; the others follow it.
    pub fn first_slot(&self, variable: VariableId) -> SlotId {
        self.first_slots[variable]
    }
    /// The element of an array that a slot is a part of, by the domain of its outermost index and the position of its
    /// value there. Arrays over the same domain have elements in common.
    pub fn element(&self, slot: SlotId) -> Option<(usize, usize)> {
        self.elements[slot.position()].map(|element| (element.family, element.index))
    }
    /// The number of words of a packed state. At least one, so that a store of states can divide by it.
    pub fn words(&self) -> usize {
        (self.bits as usize).div_ceil(64).max(1)
    }
    /// The number of bits of a packed state, including padding.
    pub fn bits(&self) -> u32 {
        self.bits
    }
    /// The multisets of the state; a nested one comes before the one around it.
    pub fn multisets(&self) -> &[MultisetSlots] {
        &self.multisets
    }
    /// The state before an initial-state program runs.
    pub fn initial(&self) -> Valuation {
        Valuation(self.slots.iter().map(Slot::initial).collect())
    }
    /// Whether every slot can hold its value.
    pub fn admits(&self, valuation: &Valuation) -> bool {
        let slots = self.slots.as_slice();
        slots.len() == valuation.0.len()
            && slots.iter().zip(&valuation.0).all(|(slot, &value)| slot.stored(value).is_some())
    }
    /// Packs a valuation into words.
    ///
    /// # Panics
    /// If there are not [`Layout::words`] words or a slot cannot hold its value.
    pub fn pack(&self, valuation: &Valuation, words: &mut [u64]) {
        assert!(self.try_pack(valuation, words), "a slot holds a value of its domain");
    }
    /// Packs a valuation into words. Returns false if a slot cannot hold its value; then the words must not be used.
    ///
    /// # Panics
    /// If there are not [`Layout::words`] words.
    pub fn try_pack(&self, valuation: &Valuation, words: &mut [u64]) -> bool {
        assert_eq!(words.len(), self.words(), "a packed state has the words of its layout");
        assert_eq!(valuation.0.len(), self.slots.len(), "a valuation has a value for each slot");
        words.fill(0);
        for (slot, &value) in self.slots.iter().zip(&valuation.0) {
            let Some(stored) = slot.stored(value) else { return false };
            if slot.width > 0 {
                words[slot.bit as usize / 64] |= stored << (slot.bit % 64);
            }
        }
        true
    }
    /// The packed form of a valuation.
    ///
    /// # Panics
    /// If a slot cannot hold its value.
    pub fn state(&self, valuation: &Valuation) -> State {
        let mut words = vec![0; self.words()].into_boxed_slice();
        self.pack(valuation, &mut words);
        State(words)
    }
    /// The valuation of a packed state.
    ///
    /// # Panics
    /// If it was not packed with this layout.
    pub fn unpack(&self, words: &[u64]) -> Valuation {
        let value = |slot: &Slot| {
            if slot.width == 0 {
                return slot.value(0);
            }
            let mask = u64::MAX >> (64 - slot.width);
            slot.value((words[slot.bit as usize / 64] >> (slot.bit % 64)) & mask)
        };
        Valuation(self.slots.iter().map(value).collect())
    }
    /// Brings every multiset into normal form: present positions first, sorted with undefined before every value; the
    /// cells of absent elements undefined. States that differ only in the order of elements become equal.
    pub fn normalize(&self, valuation: &mut Valuation) {
        for multiset in &self.multisets {
            let first = multiset.first.position();
            let end = first + multiset.capacity * multiset.stride;
            let cells = &mut valuation.0[first..end];
            let mut elements: Vec<Vec<Option<i64>>> =
                cells.chunks(multiset.stride).filter(|position| position[0] == Some(1)).map(<[_]>::to_vec).collect();
            elements.sort_unstable();
            for (cell, slot) in cells.iter_mut().zip(&self.slots.as_slice()[first..end]) {
                *cell = slot.initial();
            }
            for (position, element) in cells.chunks_mut(multiset.stride).zip(elements) {
                position.copy_from_slice(&element);
            }
        }
    }
}

/// Checks that the locals of each owner fit into a frame.
fn check_locals(model: &Model) -> Result<(), LayoutError> {
    let named = |kind: &str, name: &Option<String>| match name {
        Some(name) => format!("{kind} `{name}`"),
        None => format!("a {kind} without a name"),
    };
    let functions = model.functions.iter().map(|owner| (&owner.locals, named("function", &Some(owner.name.clone()))));
    let starts = model.starts.iter().map(|owner| (&owner.locals, named("start state", &owner.name)));
    let rules = model.rules.iter().map(|owner| (&owner.locals, named("rule", &owner.name)));
    let properties = model.properties.iter().map(|owner| (&owner.locals, named("property", &owner.name)));
    for (locals, owner) in functions.chain(starts).chain(rules).chain(properties) {
        let own = locals.iter().filter(|local| local.kind != LocalKind::Reference);
        let cells = own.map(|local| model.cells(local.ty)).fold(0, u64::saturating_add);
        if cells > Layout::SLOT_LIMIT {
            return Err(LayoutError::TooManyLocals { owner, limit: Layout::SLOT_LIMIT });
        }
    }
    Ok(())
}

/// The number of bits needed for the values of a domain, and undefined; `None` if 64 do not suffice.
fn width(domain: &Domain, may_be_undefined: bool) -> Option<u32> {
    // A size of zero denotes 2^64, so this is the greatest code.
    let greatest = domain.size().wrapping_sub(1).checked_add(u64::from(may_be_undefined))?;
    Some(u64::BITS - greatest.leading_zeros())
}

/// Flattens one variable. The recursion is as deep as the nesting of the type.
struct Flattening<'a> {
    model: &'a Model,
    variable: VariableId,
    layout: &'a mut Layout,
    /// The element that is being flattened.
    element: Option<Element>,
    is_in_multiset: bool,
    depth: usize,
}

impl Flattening<'_> {
    fn flatten(&mut self, name: &str, ty: TypeId, may_be_undefined: bool) -> Result<(), LayoutError> {
        if self.depth == Layout::NESTING_LIMIT {
            let variable = self.model.variables[self.variable].name.clone();
            return Err(LayoutError::TypeTooDeep { variable, limit: Layout::NESTING_LIMIT });
        }
        self.depth += 1;
        let model = self.model;
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let around = self.element;
                let family = match around {
                    Some(around) => around.family,
                    None => self.family(model.domain(*index)),
                };
                for (position, value) in model.domain(*index).values().enumerate() {
                    let name = format!("{name}[{}]", model.value_name(*index, value));
                    self.element = Some(match around {
                        Some(around) => Element { depth: around.depth + 1, ..around },
                        None => Element { family, index: position, depth: 1 },
                    });
                    self.flatten(&name, *element, may_be_undefined)?;
                }
                self.element = around;
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.flatten(&format!("{name}.{}", field.name), field.ty, may_be_undefined)?;
                }
            }
            TypeKind::Multiset { capacity, element } => {
                let first = self.layout.slots.next_index();
                let is_inner = std::mem::replace(&mut self.is_in_multiset, true);
                for position in 0..*capacity {
                    let name = format!("{name}[{position}]");
                    self.push(format!("present({name})"), Model::BOOLEAN, false)?;
                    self.flatten(&name, *element, true)?;
                }
                self.is_in_multiset = is_inner;
                let capacity = usize::try_from(*capacity).expect("the number of cells is limited");
                let stride = (self.layout.slots.len() - first.position()).checked_div(capacity).unwrap_or(1);
                self.layout.multisets.push(MultisetSlots { first, capacity, stride });
            }
            _ => self.push(name.to_owned(), ty, may_be_undefined)?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn push(&mut self, name: String, ty: TypeId, may_be_undefined: bool) -> Result<(), LayoutError> {
        let domain = self.model.domain(ty);
        let Some(width) = width(&domain, may_be_undefined) else {
            return Err(LayoutError::DomainTooLarge { slot: name });
        };
        let least = domain.least();
        let variable = self.variable;
        let has_undefined = may_be_undefined;
        let slot = Slot { name, variable, ty, domain, least, may_be_undefined, has_undefined, bit: 0, width };
        self.layout.slots.push(slot);
        // A multiset stays in one piece.
        self.layout.elements.push(self.element.filter(|_| !self.is_in_multiset));
        Ok(())
    }

    /// The number of the domain of an outermost index.
    fn family(&mut self, domain: Domain) -> usize {
        let families = &mut self.layout.families;
        families.iter().position(|known| *known == domain).unwrap_or_else(|| {
            families.push(domain);
            families.len() - 1
        })
    }
}

#[cfg(test)]
mod tests;
