//! States by numbers. Where objects are named by shared cells only, a state is the shared part and how many objects have
//! which row, and both recur: they get numbers when they occur for the first time. The stored form of such a state is the
//! sorted list of these numbers, so it is unique without canonical labelling, and a step of one object replaces one number.
//!
//! Objects that the shared part names are numbered in the order in which they occur there; such a number stands beside that
//! of the row of the object. Rows of objects that name other objects, pairs and multisets have no such form.

use super::cell::{Cell, code, decoded, read, write};
use super::store::Store;

/// The first byte of the stored forms by numbers, and of others.
pub(crate) const NUMBERED: u8 = 1;
pub(crate) const ENCODED: u8 = 0;

/// The rows and shared parts that have numbers.
#[derive(Default)]
pub(crate) struct Numbers {
    shared: Store,
    /// Of all families.
    rows: Store,
    /// The cells of the first of these, and where they end.
    cells: Vec<Cell>,
    ends: Vec<usize>,
    room: Vec<u8>,
}

/// The most cells of rows that are kept as they are.
const MOST_CELLS: usize = 1 << 18;

/// A row with the name of its object: none is 0, the first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kind {
    pub(crate) row: u32,
    pub(crate) name: u32,
}

/// Objects that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) count: u64,
}

/// A state by numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) shared: u32,
    /// For each family, in increasing order.
    pub(crate) groups: Vec<Vec<Group>>,
}

impl Numbers {
    /// The bytes it takes.
    pub(crate) fn memory(&self) -> u64 {
        self.shared.memory() + self.rows.memory() + (self.cells.capacity() * size_of::<Cell>()) as u64
    }

    /// The number of a row of one of so many families. None if it names another object.
    pub(crate) fn row(&mut self, families: usize, family: usize, cells: &[Cell]) -> Option<u32> {
        self.room.clear();
        write(&mut self.room, family as u128);
        for &cell in cells {
            if let Cell::Object { .. } = cell {
                return None;
            }
            write(&mut self.room, code(cell, families as u128));
        }
        Some(self.rows.number(&self.room).unwrap_or_else(|| {
            if self.ends.len() == self.rows.len() && self.cells.len() + cells.len() <= MOST_CELLS {
                self.cells.extend_from_slice(cells);
                self.ends.push(self.cells.len());
            }
            self.rows.push(&self.room, None)
        }))
    }

    /// The number of shared cells, and the objects that they name, in order.
    pub(crate) fn shared(&mut self, families: usize, cells: &[Cell], names: &mut Vec<(usize, usize)>) -> u32 {
        names.clear();
        self.room.clear();
        for &cell in cells {
            let cell = match cell {
                Cell::Object { family, entity } => {
                    let object = (family as usize, entity as usize);
                    let number = names.iter().position(|name| *name == object).unwrap_or_else(|| {
                        names.push(object);
                        names.len() - 1
                    });
                    Cell::object(object.0, number)
                }
                cell => cell,
            };
            write(&mut self.room, code(cell, families as u128));
        }
        self.shared.number(&self.room).unwrap_or_else(|| self.shared.push(&self.room, None))
    }

    /// Appends the cells of a row.
    pub(crate) fn read_row(&self, families: usize, row: u32, width: usize, cells: &mut Vec<Cell>) {
        if let Some(&end) = self.ends.get(row as usize) {
            cells.extend_from_slice(&self.cells[end - width..end]);
            return;
        }
        let mut bytes = self.rows.key(row).iter().copied();
        read(&mut bytes);
        cells.extend((0..width).map(|_| decoded(read(&mut bytes), families as u128)));
    }

    /// Replaces cells by the shared ones of a state. Objects among them are named by numbers.
    pub(crate) fn read_shared(&self, families: usize, shared: u32, count: usize, cells: &mut Vec<Cell>) {
        let mut bytes = self.shared.key(shared).iter().copied();
        cells.clear();
        cells.extend((0..count).map(|_| decoded(read(&mut bytes), families as u128)));
    }
}

impl Numbered {
    /// A state from its stored form.
    pub(crate) fn read(&mut self, families: usize, key: &[u8]) {
        let mut bytes = key[1..].iter().copied();
        self.shared = read(&mut bytes) as u32;
        self.groups.resize_with(families, Vec::new);
        for groups in &mut self.groups {
            groups.clear();
            for _ in 0..read(&mut bytes) {
                let head = read(&mut bytes);
                let name = if head & 1 == 1 { read(&mut bytes) as u32 } else { 0 };
                let count = if head & 2 == 2 { read(&mut bytes) as u64 } else { 1 };
                groups.push(Group { kind: Kind { row: (head >> 2) as u32, name }, count });
            }
        }
    }

    /// Appends the stored form.
    pub(crate) fn write(&self, key: &mut Vec<u8>) {
        key.push(NUMBERED);
        write(key, u128::from(self.shared));
        for groups in &self.groups {
            write(key, groups.len() as u128);
            for Group { kind: Kind { row, name }, count } in groups {
                let (is_named, are_several) = (*name > 0, *count > 1);
                write(key, u128::from(*row) << 2 | u128::from(are_several) << 1 | u128::from(is_named));
                if is_named {
                    write(key, u128::from(*name));
                }
                if are_several {
                    write(key, u128::from(*count));
                }
            }
        }
    }

    /// The objects that the shared part names: family and position, in order.
    pub(crate) fn named(&self, names: &mut Vec<(usize, usize)>) {
        names.clear();
        for (family, groups) in self.groups.iter().enumerate() {
            for (position, group) in groups.iter().enumerate().filter(|(_, group)| group.kind.name > 0) {
                let number = group.kind.name as usize - 1;
                names.resize(names.len().max(number + 1), (usize::MAX, 0));
                names[number] = (family, position);
            }
        }
    }

    /// Sorts the groups of a family, and merges those that are alike: a name is that of one object.
    pub(crate) fn sort(groups: &mut Vec<Group>) {
        groups.sort_unstable();
        groups.dedup_by(|later, known| {
            let is_same = later.kind == known.kind;
            if is_same {
                known.count += later.count;
            }
            is_same
        });
    }
}
