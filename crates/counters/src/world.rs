//! Cells by entities. An entity is an object, or several that nothing distinguishes and that are counted. Values denote
//! entities of one object only: before an object of several is used, it is split off.

pub(crate) use super::cell::Cell;
use super::columns::{Address, Columns, Scheme};

/// The cells of some declarations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) single: Vec<Cell>,
    /// For each family, the rows of its entities.
    pub(crate) each: Vec<Vec<Cell>>,
    /// For each sort of pairs, the rows of the first entities; a row has the cells of all second ones. Those of an
    /// entity with itself are for two objects of it.
    pub(crate) pairs: Vec<Vec<Vec<Cell>>>,
}

/// Copies are made for every step, so they reuse memory.
impl Clone for Area {
    fn clone(&self) -> Self {
        Self { single: self.single.clone(), each: self.each.clone(), pairs: self.pairs.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.single.clone_from(&other.single);
        self.each.clone_from(&other.each);
        self.pairs.clone_from(&other.pairs);
    }
}

impl Area {
    /// Makes all cells undefined, for some entities.
    pub(crate) fn undefine(&mut self, columns: &Columns, scheme: &Scheme<'_>, counts: &[Vec<u64>]) {
        let undefine = |cells: &mut Vec<Cell>, count: usize| {
            cells.clear();
            cells.resize(count, Cell::Undefined);
        };
        undefine(&mut self.single, columns.singles);
        self.each.resize_with(columns.widths.len(), Vec::new);
        for (row, (width, counts)) in self.each.iter_mut().zip(columns.widths.iter().zip(counts)) {
            undefine(row, width * counts.len());
        }
        self.pairs.resize_with(columns.pair_widths.len(), Vec::new);
        for (rows, (&width, &(row, column))) in self.pairs.iter_mut().zip(columns.pair_widths.iter().zip(&scheme.pairs))
        {
            rows.resize_with(if width == 0 { 0 } else { counts[row].len() }, Vec::new);
            rows.iter_mut().for_each(|row| undefine(row, width * counts[column].len()));
        }
        for multiset in &columns.multisets {
            for position in 0..multiset.capacity {
                self.fill(columns, multiset.first + position * multiset.stride, Cell::Int(0));
            }
        }
    }

    /// The cells of an entity.
    pub(crate) fn row(&self, columns: &Columns, family: usize, entity: usize) -> &[Cell] {
        let width = columns.widths[family];
        &self.each[family][entity * width..(entity + 1) * width]
    }

    /// Gives all cells of a column the same contents.
    fn fill(&mut self, columns: &Columns, column: usize, cell: Cell) {
        let every = |cells: &mut [Cell], width: usize, position: usize| {
            cells.chunks_mut(width).for_each(|row| row[position] = cell);
        };
        match columns.columns[column].address {
            Address::Single(position) => self.single[position] = cell,
            Address::Each(family, position) => every(&mut self.each[family], columns.widths[family], position),
            Address::Pairs { .. } => {
                unreachable!("a multiset in an array with two dimensions over families is refused")
            }
        }
    }

    /// Adds an entity that has the cells of another one.
    pub(crate) fn split(&mut self, columns: &Columns, scheme: &Scheme<'_>, family: usize, entity: usize) {
        let width = columns.widths[family];
        self.each[family].extend_from_within(entity * width..(entity + 1) * width);
        for (pair, &(row, column)) in scheme.pairs.iter().enumerate() {
            let width = columns.pair_widths[pair];
            if width == 0 {
                continue;
            }
            let rows = &mut self.pairs[pair];
            if column == family {
                rows.iter_mut().for_each(|row| row.extend_from_within(entity * width..(entity + 1) * width));
            }
            if row == family {
                rows.push(rows[entity].clone());
            }
        }
    }

    /// Removes the last entity of a family.
    pub(crate) fn remove_last(&mut self, columns: &Columns, scheme: &Scheme<'_>, family: usize) {
        let rows = &mut self.each[family];
        rows.truncate(rows.len() - columns.widths[family]);
        for (pair, &(row, column)) in scheme.pairs.iter().enumerate() {
            let width = columns.pair_widths[pair];
            if width == 0 {
                continue;
            }
            if row == family {
                self.pairs[pair].pop();
            }
            if column == family {
                self.pairs[pair].iter_mut().for_each(|row| row.truncate(row.len() - width));
            }
        }
    }

    /// A cell, with the entities for the dimensions of its column.
    pub(crate) fn get(&self, columns: &Columns, address: Address, entities: &[usize]) -> Cell {
        match (address, entities) {
            (Address::Single(position), _) => self.single[position],
            (Address::Each(family, position), &[entity, ..]) => {
                self.each[family][entity * columns.widths[family] + position]
            }
            (Address::Pairs { pair, position, .. }, &[row, column, ..]) => {
                self.pairs[pair][row][column * columns.pair_widths[pair] + position]
            }
            _ => unreachable!("a cell has an entity for each dimension of its column"),
        }
    }

    /// The same, to be written.
    pub(crate) fn get_mut(&mut self, columns: &Columns, address: Address, entities: &[usize]) -> &mut Cell {
        match (address, entities) {
            (Address::Single(position), _) => &mut self.single[position],
            (Address::Each(family, position), &[entity, ..]) => {
                &mut self.each[family][entity * columns.widths[family] + position]
            }
            (Address::Pairs { pair, position, .. }, &[row, column, ..]) => {
                &mut self.pairs[pair][row][column * columns.pair_widths[pair] + position]
            }
            _ => unreachable!("a cell has an entity for each dimension of its column"),
        }
    }
}

/// A state: how many objects each entity has, and the cells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct World {
    /// For each family, the number of objects of its entities. None are left in one that was used up.
    pub(crate) counts: Vec<Vec<u64>>,
    pub(crate) area: Area,
}

impl Clone for World {
    fn clone(&self) -> Self {
        Self { counts: self.counts.clone(), area: self.area.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.counts.clone_from(&other.counts);
        self.area.clone_from(&other.area);
    }
}

impl World {
    /// Splits an object off an entity of several; returns the new entity.
    pub(crate) fn split(&mut self, scheme: &Scheme<'_>, family: usize, entity: usize) -> usize {
        self.area.split(&scheme.globals, scheme, family, entity);
        self.counts[family][entity] -= 1;
        self.counts[family].push(1);
        self.counts[family].len() - 1
    }

    /// The greatest number in a cell, and the sum of all, where all cells hold numbers of tokens.
    pub(crate) fn tokens(&self, scheme: &Scheme<'_>) -> (u64, u64) {
        let (mut greatest, mut all) = (0u64, 0u64);
        let mut add = |cell: Cell, cells: u64| {
            if let (Cell::Int(tokens), 1..) = (cell, cells) {
                let tokens = u64::try_from(tokens).unwrap_or(0);
                greatest = greatest.max(tokens);
                all = all.saturating_add(tokens.saturating_mul(cells));
            }
        };
        let columns = &scheme.globals;
        for column in &columns.columns {
            let each = |family: usize| self.counts[family].iter().copied().enumerate();
            match column.address {
                Address::Single(position) => add(self.area.single[position], 1),
                Address::Each(family, _) => {
                    each(family).for_each(|(entity, count)| {
                        add(self.area.get(columns, column.address, &[entity]), count);
                    });
                }
                Address::Pairs { pair, diagonal, .. } => {
                    let (row, column_family) = scheme.pairs[pair];
                    for (first, count) in each(row) {
                        for (second, others) in each(column_family) {
                            let is_same = row == column_family && first == second;
                            let others = if is_same { others.saturating_sub(1) } else { others };
                            let cells = count.saturating_mul(others);
                            add(self.area.get(columns, column.address, &[first, second]), cells);
                        }
                        if let Some(position) = diagonal {
                            add(self.area.get(columns, Address::Each(row, position), &[first]), count);
                        }
                    }
                }
            }
        }
        (greatest, all)
    }

    /// Takes the last split back. A loop may have given that entity the other objects as well.
    pub(crate) fn unite(&mut self, scheme: &Scheme<'_>, family: usize, entity: usize) {
        self.area.remove_last(&scheme.globals, scheme, family);
        let count = self.counts[family].pop().unwrap_or(0);
        self.counts[family][entity] += count;
    }
}

/// A parameter of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// A value that is not interchangeable.
    Value(i64),
    /// An object of an entity of the state.
    Object { family: usize, entity: usize },
    /// The same object as an earlier parameter.
    Same(usize),
}
