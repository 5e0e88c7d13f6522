//! Conditions over few assignments of slots, as sets of assignments: one bit for each.

/// The largest number of assignments for which a condition is represented by its truth table: they fit into a word.
pub(super) const TABLE_LIMIT: usize = u64::BITS as usize;

/// The assignments of value positions to some slots, in increasing order; the first slot counts most. There are at most
/// [`TABLE_LIMIT`].
#[derive(Clone, Debug)]
pub(super) struct Assignments {
    /// The slots, in increasing order.
    pub(super) slots: Vec<u32>,
    /// The number of values of each slot.
    sizes: Vec<usize>,
}

impl Assignments {
    /// `None` if there are too many.
    pub(super) fn new(slots: Vec<u32>, sizes: Vec<usize>) -> Option<Self> {
        let count = sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
        count.filter(|&count| count <= TABLE_LIMIT).map(|_| Self { slots, sizes })
    }

    /// All assignments.
    pub(super) fn all(&self) -> u64 {
        lowest(self.sizes.iter().product())
    }

    /// The number of values of a slot, by its column.
    pub(super) fn size(&self, column: usize) -> usize {
        self.sizes[column]
    }

    /// The column of a slot.
    pub(super) fn column(&self, slot: u32) -> usize {
        self.slots.binary_search(&slot).expect("the slot is one of these")
    }

    /// The number of assignments to the slots after a column.
    fn stride(&self, column: usize) -> usize {
        self.sizes[column + 1..].iter().product()
    }

    /// Where the assignments begin that agree on the slots before a column.
    fn blocks(&self, column: usize) -> impl Iterator<Item = usize> + use<> {
        let length = self.stride(column) * self.sizes[column];
        let blocks = self.sizes[..column].iter().product::<usize>();
        (0..blocks).map(move |block| block * length)
    }

    /// The assignments in which a slot has one of some positions.
    pub(super) fn with(&self, column: usize, positions: impl Iterator<Item = usize>) -> u64 {
        let stride = self.stride(column);
        let own = positions.fold(0, |own, position| own | lowest(stride) << (position * stride));
        self.blocks(column).fold(0, |all, block| all | own << block)
    }

    /// The assignments in which slots have one of some tuples of positions.
    pub(super) fn of_tuples(&self, columns: impl Iterator<Item = usize>, tuples: &[Box<[u16]>]) -> u64 {
        let columns: Vec<usize> = columns.collect();
        let with = |tuple: &[u16]| {
            let parts = columns.iter().zip(tuple);
            let parts = parts.map(|(&column, &position)| self.with(column, std::iter::once(usize::from(position))));
            parts.fold(u64::MAX, |all, part| all & part)
        };
        tuples.iter().fold(0, |all, tuple| all | with(tuple))
    }

    /// The position of a slot in an assignment, by its number.
    pub(super) fn position(&self, column: usize, assignment: usize) -> usize {
        assignment / self.stride(column) % self.sizes[column]
    }

    /// The tuple of positions of an assignment.
    pub(super) fn tuple(&self, assignment: usize) -> Box<[u16]> {
        (0..self.slots.len()).map(|column| self.position(column, assignment) as u16).collect()
    }

    /// The other slots.
    pub(super) fn without(&self, column: usize) -> Self {
        let (mut slots, mut sizes) = (self.slots.clone(), self.sizes.clone());
        slots.remove(column);
        sizes.remove(column);
        Self { slots, sizes }
    }

    /// The assignments to the other slots with which a slot may have a position.
    pub(super) fn rest(&self, set: u64, column: usize, position: usize) -> u64 {
        let stride = self.stride(column);
        let parts = self.blocks(column).map(|block| set >> (block + position * stride) & lowest(stride));
        parts.enumerate().fold(0, |rest, (block, part)| rest | part << (block * stride))
    }
}

/// A word with this many bits set, the lowest ones.
fn lowest(count: usize) -> u64 {
    match count {
        TABLE_LIMIT => u64::MAX,
        _ => (1 << count) - 1,
    }
}

/// The numbers of the bits that are set, in increasing order.
pub(super) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < TABLE_LIMIT).then_some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::{Assignments, members};

    #[test]
    fn slots_are_columns_of_words() {
        for sizes in [vec![64], vec![1, 64], vec![2, 3, 4], vec![3, 1, 2], vec![2; 6], vec![8, 8]] {
            let slots = (0..sizes.len() as u32).collect();
            let all = Assignments::new(slots, sizes.clone()).expect("there are few");
            let count = sizes.iter().product::<usize>();
            assert_eq!(members(all.all()).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
            let tuples: Vec<_> = (0..count).map(|at| all.tuple(at)).collect();
            assert!(tuples.is_sorted());
            // Any set will do.
            let set = 0x9e37_79b9_7f4a_7c15 & all.all();
            for column in 0..sizes.len() {
                for position in 0..sizes[column] {
                    let with: Vec<usize> = members(all.with(column, [position].into_iter())).collect();
                    let expected = (0..count).filter(|&at| usize::from(tuples[at][column]) == position);
                    assert_eq!(with, expected.collect::<Vec<_>>());
                    let others = all.without(column);
                    let rest: Vec<_> = members(all.rest(set, column, position)).map(|at| others.tuple(at)).collect();
                    let is_here = |at: &usize| set >> at & 1 == 1 && usize::from(tuples[*at][column]) == position;
                    let expected = (0..count).filter(is_here).map(|at| {
                        let mut tuple = tuples[at].to_vec();
                        tuple.remove(column);
                        tuple.into_boxed_slice()
                    });
                    assert_eq!(rest, expected.collect::<Vec<_>>());
                }
            }
        }
    }
}
