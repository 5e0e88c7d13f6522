//! The multisets of a state. The order of their elements has no meaning, and states keep them sorted. So a permutation
//! of literals acts on them through their *columns*, one for each cell of an element: it acts alike on every position,
//! and the image is sorted again.
//!
//! Functions are over the positions, in any order. Rules add elements to no particular position. If all exchanges of
//! two positions are symmetries of these functions, then a permutation of the columns that is also a symmetry of them
//! is a symmetry of the sorted states: whatever order sorting gives the image, the rules act alike on it. If the text
//! distinguishes positions, the multiset is treated as fixed.

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_ir::{Layout, TableIndex};

/// One multiset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiset {
    /// Its first slot.
    pub first: u32,
    /// The largest number of elements it can hold.
    pub capacity: u32,
    /// The number of slots per position: one for whether it holds an element, and those of the element.
    pub stride: u32,
    /// The first of its columns, which are slots of the circuit and not of the state.
    pub columns: u32,
}

/// The multisets of a model, except nested ones.
#[derive(Clone, Debug, Default)]
pub struct Multisets {
    entries: Vec<Multiset>,
    by_first: FxHashMap<u32, u32>,
    /// Columns that can be undefined in an element that is present.
    undefined: FxHashSet<u32>,
}

impl Multiset {
    /// The slot of a position in a column.
    pub fn slot(&self, position: u32, column: u32) -> u32 {
        self.first + position * self.stride + column
    }

    fn end(&self) -> u32 {
        self.first + self.capacity * self.stride
    }
}

impl Multisets {
    /// The multisets of a layout. Columns are numbered from `first_column` on.
    pub fn new(layout: &Layout, first_column: u32) -> Self {
        let mut multisets = Self::default();
        let mut columns = first_column;
        let all: Vec<(u32, u32)> = layout
            .multisets()
            .iter()
            .map(|entry| {
                let first = entry.first.position() as u32;
                (first, first + (entry.capacity * entry.stride) as u32)
            })
            .collect();
        for entry in layout.multisets() {
            let first = entry.first.position() as u32;
            let (capacity, stride) = (entry.capacity as u32, entry.stride as u32);
            let end = first + capacity * stride;
            // Neither inside another nor around one.
            let is_plain = all
                .iter()
                .all(|&(other, other_end)| (other, other_end) == (first, end) || other_end <= first || end <= other);
            if is_plain && capacity > 0 {
                multisets.by_first.insert(first, multisets.entries.len() as u32);
                multisets.entries.push(Multiset { first, capacity, stride, columns });
                columns += stride;
            }
        }
        multisets
    }

    /// Records the slots that can be undefined in an element that is present.
    pub fn note_undefined(&mut self, slots: &[bool]) {
        for entry in &self.entries {
            for column in 1..entry.stride {
                if (0..entry.capacity).any(|position| slots[entry.slot(position, column) as usize]) {
                    self.undefined.insert(entry.columns + column);
                }
            }
        }
    }

    /// Whether the slots of a column are undefined only if there is no element.
    fn is_defined(&self, column: u32) -> bool {
        !self.undefined.contains(&column)
    }

    /// For a slot that is undefined if and only if there is no element, the slot that says whether there is one.
    pub fn presence_of(&self, slot: u32) -> Option<u32> {
        let (_, entry) = self.of_slot(slot)?;
        let (position, column) = ((slot - entry.first) / entry.stride, (slot - entry.first) % entry.stride);
        (column > 0 && self.is_defined(entry.columns + column)).then(|| entry.slot(position, 0))
    }

    /// Whether all elements have the same value in a column, given its values.
    pub fn is_constant(&self, column: u32, values: &[Option<i64>]) -> bool {
        self.is_defined(column) && values.iter().flatten().count() < 2
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Multiset> {
        self.entries.iter()
    }

    /// The one that starts at a slot.
    pub fn at(&self, first: u32) -> Option<(usize, &Multiset)> {
        let number = *self.by_first.get(&first)? as usize;
        Some((number, &self.entries[number]))
    }

    /// The one that a slot belongs to.
    pub fn of_slot(&self, slot: u32) -> Option<(usize, &Multiset)> {
        self.entries.iter().enumerate().find(|(_, entry)| entry.first <= slot && slot < entry.end())
    }

    /// Whether a slot says if a position holds an element.
    pub fn is_presence(&self, slot: u32) -> bool {
        self.of_slot(slot).is_some_and(|(_, entry)| (slot - entry.first).is_multiple_of(entry.stride))
    }
}
