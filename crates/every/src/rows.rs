//! Numbers of rows. What an object holds is its row; rows are numbered for each type of objects.
//!
//! If objects have an order, the number of an object that is not named also says between which named ones it stands (its
//! gap). Then a context, in which named objects are numbered in their order, and the numbers of the other objects in
//! their order say how all of them stand to each other.

use super::sizes::{MOST_SORTS, Sizes, Value, sizes_of};

/// How many rows of one type there can be.
const PLACES: u32 = 1 << 26;
/// How many gaps there can be between named objects.
const GAPS: u32 = 1 << 5;
/// The numbers of a type of objects begin with a multiple of this.
const NUMBERS: u32 = PLACES * GAPS;

/// The most objects with an order that shared variables can name.
pub(super) const MOST_NAMED: usize = GAPS as usize - 1;

/// What objects hold, for each type.
pub(super) type Contents = [Vec<Vec<Value>>; MOST_SORTS];

/// The type of the objects with a row.
pub(super) fn sort_of(row: u32) -> usize {
    (row / NUMBERS) as usize
}

/// How many named objects stand before an object; 0 if there is no order.
pub(super) fn gap_of(row: u32) -> usize {
    (row / PLACES % GAPS) as usize
}

/// The place of a row among those of its type.
pub(super) fn place_of(row: u32) -> usize {
    (row % PLACES) as usize
}

/// The number of a row, by its place among those of its type.
pub(super) fn row_number(sort: usize, place: usize) -> u32 {
    let place = u32::try_from(place).ok().filter(|&place| place < PLACES).expect("memory ends first");
    sort as u32 * NUMBERS + place
}

/// The number of a row of an object with so many named ones before it.
pub(super) fn in_gap(row: u32, gap: usize) -> u32 {
    debug_assert!(gap_of(row) == 0 && gap <= MOST_NAMED, "members name no more objects");
    row + gap as u32 * PLACES
}

/// What an object holds, by the number of its row.
pub(super) fn contents(rows: &Contents, row: u32) -> &[Value] {
    &rows[sort_of(row)][place_of(row)]
}

/// How many of some rows are of each type.
pub(super) fn sizes_of_rows(rows: &[u32]) -> Sizes {
    sizes_of(rows.iter().map(|&row| sort_of(row)))
}

/// Arranges the rows of a state: if objects have an order, the rows are given in it; otherwise they are sorted, which brings
/// those of each type together.
pub(super) fn arrange(rows: &mut [u32], is_ordered: bool) {
    if !is_ordered {
        rows.sort_unstable();
    }
}

/// Calls `visit` for all choices of some of the given rows, so many of each type. The rows are arranged.
pub(super) fn choices(rows: &[u32], count: Sizes, chosen: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
    let Some(sort) = (0..MOST_SORTS).find(|&sort| count[sort] > 0) else { return visit(chosen) };
    let begin = rows.partition_point(|&row| sort_of(row) < sort);
    let end = rows.partition_point(|&row| sort_of(row) <= sort);
    for place in begin..end {
        if end - place < count[sort] {
            break;
        }
        // Of equal neighbours the left one is chosen first.
        if place > begin && rows[place - 1] == rows[place] {
            continue;
        }
        chosen.push(rows[place]);
        choices(&rows[place + 1..], count - Sizes::one(sort), chosen, visit);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_parts() {
        for (sort, gap, place) in [(0, 0, 0), (1, 31, 3), (0, 5, (1 << 26) - 1), (1, 31, (1 << 26) - 1)] {
            let row = in_gap(row_number(sort, place), gap);
            assert_eq!((sort_of(row), gap_of(row), place_of(row)), (sort, gap, place));
        }
    }

    #[test]
    fn words_keep_their_order() {
        let mut rows = [3, 1, 3];
        arrange(&mut rows, true);
        assert_eq!(rows, [3, 1, 3]);
        arrange(&mut rows, false);
        assert_eq!(rows, [1, 3, 3]);
        let mut found = Vec::new();
        choices(&[3, 3, 1, 3], Sizes::of(|sort| if sort == 0 { 2 } else { 0 }), &mut Vec::new(), &mut |word| {
            found.push(word.to_vec());
        });
        found.sort();
        found.dedup();
        assert_eq!(found, [[1, 3], [3, 1], [3, 3]]);
    }
}
