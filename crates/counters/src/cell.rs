//! The contents of a cell, its number in encodings of states, and numbers as bytes.

/// The contents of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cell {
    Undefined,
    /// In the row of an entity: the object itself.
    Own,
    Int(i64),
    /// The only object of an entity.
    Object {
        family: u32,
        entity: u32,
    },
}

impl Cell {
    pub(crate) fn object(family: usize, entity: usize) -> Self {
        Self::Object { family: family as u32, entity: entity as u32 }
    }
}

/// The number of a cell in encodings.
pub(crate) fn code(cell: Cell, families: u128) -> u128 {
    match cell {
        Cell::Undefined => 0,
        Cell::Own => 1,
        Cell::Int(value) => {
            let folded = (i128::from(value) << 1) ^ (i128::from(value) >> 127);
            2 + 2 * folded as u128
        }
        Cell::Object { family, entity } => 3 + 2 * (u128::from(entity) * families + u128::from(family)),
    }
}

/// The cell that has a number in encodings.
pub(crate) fn decoded(code: u128, families: u128) -> Cell {
    match code {
        0 => Cell::Undefined,
        1 => Cell::Own,
        // Most numbers are small.
        code if code % 2 == 0 && code < 1 << 32 => {
            let folded = (code as i64 - 2) / 2;
            Cell::Int((folded >> 1) ^ -(folded & 1))
        }
        code if code % 2 == 0 => {
            let folded = (code - 2) / 2;
            Cell::Int(((folded >> 1) as i128 ^ -((folded & 1) as i128)) as i64)
        }
        code => {
            let number = (code - 3) / 2;
            Cell::Object { family: (number % families) as u32, entity: (number / families) as u32 }
        }
    }
}

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn write(bytes: &mut Vec<u8>, mut value: u128) {
    // Most numbers are small.
    if value < 128 {
        return bytes.push(value as u8);
    }
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The number that comes next.
pub(crate) fn read(bytes: &mut impl Iterator<Item = u8>) -> u128 {
    let first = bytes.next().expect("an encoding is complete");
    if first < 128 {
        return u128::from(first);
    }
    let (mut value, mut shift) = (u128::from(first & 127), 7);
    loop {
        let byte = bytes.next().expect("an encoding is complete");
        value |= u128::from(byte & 127) << shift;
        if byte < 128 {
            return value;
        }
        shift += 7;
    }
}
