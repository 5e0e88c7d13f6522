//! Types and their finite sets of values.
//!
//! Every scalar value is a plain integer. Booleans are 0 and 1. The members of an enumeration and of a scalarset are
//! consecutive integers from the type's `first` on. The members of a union have disjoint ranges, so a value of a member
//! type *is* a value of the union, and no conversion exists.

use crate::index::TypeId;

/// A type, with the name it was declared under (if any).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The declared name, as the source spells it.
    pub name: Option<String>,
    /// Its kind.
    pub kind: TypeKind,
}

/// The shapes of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `false` (0) and `true` (1).
    Boolean,
    /// All 64-bit integers: the type of arithmetic and of loop counters. Never the type of a
    /// state variable.
    Integer,
    /// The integers from `low` to `high`.
    Range {
        /// The least value.
        low: i64,
        /// The greatest value; not less than `low`.
        high: i64,
    },
    /// Named values `first`, `first + 1`, … in order.
    Enumeration {
        /// The value of the first member.
        first: i64,
        /// The names of the members.
        members: Vec<String>,
    },
    /// Interchangeable values `first .. first + size`, by declaration.
    Scalarset {
        /// The value of the first member.
        first: i64,
        /// The number of members.
        size: u64,
    },
    /// The values of several enumerations and scalarsets.
    Union {
        /// The member types: enumerations and scalarsets, disjoint by their `first`.
        members: Vec<TypeId>,
    },
    /// One element per value of a scalar index type.
    Array {
        /// The scalar type of the indices.
        index: TypeId,
        /// The type of the elements.
        element: TypeId,
    },
    /// Named fields.
    Record {
        /// The fields in order of declaration.
        fields: Vec<Field>,
    },
    /// At most `capacity` elements without order. Flattened to `capacity` positions, each a
    /// boolean "present" cell followed by the element's cells. Between steps the positions are in
    /// normal form: present ones first, sorted, the cells of absent elements undefined.
    Multiset {
        /// The greatest number of elements.
        capacity: u64,
        /// The type of the elements.
        element: TypeId,
    },
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
}

/// The values of a scalar type, in increasing order, as disjoint intervals of integers. The position of a value in that
/// order is its *code*.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    pieces: Vec<(i64, i64)>,
}

impl Domain {
    /// The integers from `low` to `high`.
    pub fn interval(low: i64, high: i64) -> Self {
        debug_assert!(low <= high);
        Self { pieces: vec![(low, high)] }
    }
    /// The union of the given disjoint intervals.
    pub fn union(mut pieces: Vec<(i64, i64)>) -> Self {
        pieces.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(pieces.len());
        for (low, high) in pieces {
            match merged.last_mut() {
                Some(last) if last.1.checked_add(1) == Some(low) => last.1 = high,
                _ => merged.push((low, high)),
            }
        }
        Self { pieces: merged }
    }
    /// The values between two numbers, if there are any.
    pub fn between(&self, low: i64, high: i64) -> Option<Self> {
        let overlap = |&(first, last): &(i64, i64)| (first.max(low), last.min(high));
        let pieces: Vec<_> = self.pieces.iter().map(overlap).filter(|(first, last)| first <= last).collect();
        (!pieces.is_empty()).then_some(Self { pieces })
    }
    /// The intervals, in increasing order.
    pub fn pieces(&self) -> &[(i64, i64)] {
        &self.pieces
    }
    /// The number of values. Zero denotes 2^64.
    pub fn size(&self) -> u64 {
        self.pieces
            .iter()
            .fold(0u64, |sum, &(low, high)| sum.wrapping_add((high.wrapping_sub(low) as u64).wrapping_add(1)))
    }
    /// The least value.
    pub fn least(&self) -> i64 {
        self.pieces[0].0
    }
    /// The greatest value.
    pub fn greatest(&self) -> i64 {
        self.pieces[self.pieces.len() - 1].1
    }
    /// Whether `value` is one of the values.
    pub fn contains(&self, value: i64) -> bool {
        self.pieces.iter().any(|&(low, high)| low <= value && value <= high)
    }
    /// The position of `value` in increasing order, if it is one of the values.
    pub fn code_of(&self, value: i64) -> Option<u64> {
        let mut before = 0u64;
        for &(low, high) in &self.pieces {
            if low <= value && value <= high {
                return Some(before + value.wrapping_sub(low) as u64);
            }
            before += (high.wrapping_sub(low) as u64) + 1;
        }
        None
    }
    /// The value at a position in increasing order.
    ///
    /// # Panics
    /// If `code` is not below [`Domain::size`].
    pub fn value_of(&self, code: u64) -> i64 {
        let mut code = code;
        for &(low, high) in &self.pieces {
            // The number of values may be 2^64; the difference of the ends always fits.
            let distance = high.wrapping_sub(low) as u64;
            if code <= distance {
                return low.wrapping_add(code as i64);
            }
            code -= distance + 1;
        }
        panic!("a code is below the size of its domain")
    }
    /// All values in increasing order.
    pub fn values(&self) -> impl Iterator<Item = i64> + '_ {
        self.pieces.iter().flat_map(|&(low, high)| low..=high)
    }
}
