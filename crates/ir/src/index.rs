//! Typed indices and the tables they index: one index type per kind of entity, so that a rule
//! number cannot be used where a slot number is meant.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense index into a [`Table`].
pub trait TableIndex: Copy + Eq {
    /// The index of the entry at `position`.
    fn from_position(position: usize) -> Self;
    /// The position of this index.
    fn position(self) -> usize;
}

/// Declares index types, each with its documentation.
macro_rules! index_types {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The index of the entry at a position known at compile time.
            #[allow(dead_code)]
            pub(crate) const fn new(position: u32) -> Self {
                Self(position)
            }
        }

        impl TableIndex for $name {
            fn from_position(position: usize) -> Self {
                Self(u32::try_from(position).expect("a table holds fewer than 2^32 entries"))
            }
            fn position(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

index_types! {
    /// A type of the model.
    TypeId;
    /// A global variable of the model, before flattening.
    VariableId;
    /// A scalar slot of the state vector.
    SlotId;
    /// A hash-consed expression.
    ExprId;
    /// A hash-consed place: something that can be read or written.
    PlaceId;
    /// A function or procedure.
    FunctionId;
    /// A transition rule (with its parameters, so it has many instances).
    RuleId;
    /// An initial-state program (with its parameters).
    StartId;
    /// A property.
    PropertyId;
    /// A local of one rule, initial-state program, function or property.
    LocalId;
}

/// A growable array indexed by its own index type.
#[derive(Clone, PartialEq, Eq)]
pub struct Table<I, T> {
    entries: Vec<T>,
    index: PhantomData<I>,
}

impl<I: TableIndex, T> Table<I, T> {
    /// An empty table.
    pub fn new() -> Self {
        Self { entries: Vec::new(), index: PhantomData }
    }
    /// Appends an entry and returns its index.
    pub fn push(&mut self, entry: T) -> I {
        let index = I::from_position(self.entries.len());
        self.entries.push(entry);
        index
    }
    /// The index the next `push` will return.
    pub fn next_index(&self) -> I {
        I::from_position(self.entries.len())
    }
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The entry at `index`, if it exists.
    pub fn get(&self, index: I) -> Option<&T> {
        self.entries.get(index.position())
    }
    /// All entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }
    /// All indices in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.entries.len()).map(I::from_position)
    }
    /// All entries with their indices, in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.entries.iter().enumerate().map(|(position, entry)| (I::from_position(position), entry))
    }
    /// The entries as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.entries
    }
}

impl<I: TableIndex, T> Default for Table<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: TableIndex, T> Index<I> for Table<I, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        &self.entries[index.position()]
    }
}

impl<I: TableIndex, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.entries[index.position()]
    }
}

impl<I: TableIndex, T> FromIterator<T> for Table<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(entries: S) -> Self {
        Self { entries: entries.into_iter().collect(), index: PhantomData }
    }
}

impl<I: TableIndex + fmt::Debug, T: fmt::Debug> fmt::Debug for Table<I, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.entries.iter()).finish()
    }
}
