//! The places of slots in a packed state.
//!
//! The cells of arrays with the same index lie together: first all cells of element 1, whichever array they belong to,
//! then those of element 2, at equal distances. What a step changes then lies in few words, and elements can be moved as
//! a whole, as a search with symmetry does all the time. Where this would take more words than slots one after the other,
//! elements are cut into pieces. Other slots fill the gaps.

use crate::index::{SlotId, Table, TableIndex};
use crate::types::Domain;

use super::Slot;

/// The bits of a word.
const WORD: u32 = 64;
/// The number of words whose gaps are considered for a slot.
const GAPS: usize = 32;

/// The number of times that elements are cut before slots simply follow each other.
const MOST_CUTS: usize = 64;

/// The element of an array that a slot belongs to, by the outermost index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// The number of the index domain.
    pub(super) family: usize,
    /// The position of the index.
    pub(super) index: usize,
    /// The number of indices.
    pub(super) depth: usize,
}

/// Some cells of each element of a family, at the same distances from each other.
#[derive(Clone, Debug)]
struct Piece {
    /// For each element its slots, in order.
    elements: Vec<Vec<SlotId>>,
    /// The bits of an element.
    width: u32,
}

/// Places under construction.
struct Places {
    /// The place of each slot.
    bits: Vec<u32>,
    end: u32,
    /// The words with gaps at their ends: the first free bit.
    gaps: Vec<u32>,
}

/// Assigns a place to each slot. Returns the number of bits.
pub(super) fn place(slots: &mut Table<SlotId, Slot>, elements: &[Option<Element>], families: &[Domain]) -> u32 {
    let (mut pieces, loose) = pieces(slots, elements, families);
    let in_order = Places::in_order(slots);
    let mut best = Places::of(slots, &pieces, &loose);
    for _ in 0..MOST_CUTS {
        if best.words() <= in_order.words() {
            break;
        }
        // The piece that wastes most is cut.
        let cut = (0..pieces.len())
            .filter(|&number| pieces[number].elements[0].len() > 1)
            .max_by_key(|&number| (pieces[number].waste(), std::cmp::Reverse(number)));
        let Some(cut) = cut else { break };
        let (upper, lower) = pieces[cut].halves(slots);
        pieces[cut] = upper;
        pieces.insert(cut + 1, lower);
        best = Places::of(slots, &pieces, &loose);
    }
    if best.words() > in_order.words() {
        best = in_order;
    }
    for id in slots.indices() {
        slots[id].bit = best.bits[id.position()];
    }
    best.end
}

/// The families as whole pieces, and the slots that belong to none.
fn pieces(slots: &Table<SlotId, Slot>, elements: &[Option<Element>], families: &[Domain]) -> (Vec<Piece>, Vec<SlotId>) {
    let mut members: Vec<Vec<Vec<SlotId>>> = vec![Vec::new(); families.len()];
    let mut loose = Vec::new();
    for ((slot, _), element) in slots.iter_enumerated().zip(elements) {
        let Some(element) = element else {
            loose.push(slot);
            continue;
        };
        let family = &mut members[element.family];
        if family.len() <= element.index {
            family.resize(element.index + 1, Vec::new());
        }
        family[element.index].push(slot);
    }
    let mut pieces = Vec::new();
    for mut family in members.into_iter().filter(|family| !family.is_empty()) {
        // Cells that may hold an index come after those that surely do not, and inner arrays last: what is moved
        // unchanged lies together.
        for cells in &mut family {
            cells.sort_by_cached_key(|&slot| {
                let depth = elements[slot.position()].map_or(0, |element| element.depth);
                (depth, families.contains(&slots[slot].domain))
            });
        }
        let width = |cells: &[SlotId]| cells.iter().map(|&slot| slots[slot].width).collect::<Vec<u32>>();
        let widths = width(&family[0]);
        if family.iter().any(|cells| width(cells) != widths) {
            loose.extend(family.into_iter().flatten());
            continue;
        }
        // Pieces of at most a word.
        let mut start = 0;
        while start < widths.len() {
            let mut end = start;
            let mut total = 0;
            while end < widths.len() && total + widths[end] <= WORD {
                total += widths[end];
                end += 1;
            }
            let elements = family.iter().map(|cells| cells[start..end].to_vec()).collect();
            pieces.push(Piece { elements, width: total });
            start = end;
        }
    }
    loose.sort_unstable();
    (pieces, loose)
}

impl Piece {
    /// The bits that words full of elements leave unused, as a rule.
    fn waste(&self) -> u32 {
        let width = self.width.max(1);
        self.elements.len() as u32 / (WORD / width) * (WORD % width)
    }

    /// The piece cut where its halves differ least in width.
    fn halves(&self, slots: &Table<SlotId, Slot>) -> (Self, Self) {
        let mut upper = 0;
        let mut cut = 1;
        let mut least = u32::MAX;
        for (position, &slot) in self.elements[0].iter().enumerate().take(self.elements[0].len() - 1) {
            upper += slots[slot].width;
            let difference = (2 * upper).abs_diff(self.width);
            if difference < least {
                (cut, least) = (position + 1, difference);
            }
        }
        let part = |from: usize, to: usize| {
            let elements: Vec<Vec<SlotId>> = self.elements.iter().map(|cells| cells[from..to].to_vec()).collect();
            let width = elements[0].iter().map(|&slot| slots[slot].width).sum();
            Self { elements, width }
        };
        (part(0, cut), part(cut, self.elements[0].len()))
    }
}

impl Places {
    /// All slots, one after the other.
    fn in_order(slots: &Table<SlotId, Slot>) -> Self {
        let mut places = Self { bits: vec![0; slots.len()], end: 0, gaps: Vec::new() };
        for (id, slot) in slots.iter_enumerated() {
            places.append(slots, &[id], slot.width);
        }
        places
    }

    fn of(slots: &Table<SlotId, Slot>, pieces: &[Piece], loose: &[SlotId]) -> Self {
        let mut places = Self { bits: vec![0; slots.len()], end: 0, gaps: Vec::new() };
        for piece in pieces {
            // Elements that fit into one word are not spread over two.
            let total = u64::from(piece.width) * piece.elements.len() as u64;
            if total <= u64::from(WORD) && u64::from(places.end % WORD) + total > u64::from(WORD) {
                places.next_word();
            }
            for element in &piece.elements {
                places.append(slots, element, piece.width);
            }
        }
        for &slot in loose {
            let width = slots[slot].width;
            let gap = (0..places.gaps.len().min(GAPS)).find(|&gap| places.gaps[gap] % WORD + width <= WORD);
            if let Some(gap) = gap {
                places.bits[slot.position()] = places.gaps[gap];
                places.gaps[gap] += width;
                if places.gaps[gap].is_multiple_of(WORD) {
                    places.gaps.remove(gap);
                }
            } else {
                places.append(slots, &[slot], width);
            }
        }
        places
    }

    /// Begins a word.
    fn next_word(&mut self) {
        if !self.end.is_multiple_of(WORD) {
            self.gaps.push(self.end);
            self.end = self.end.next_multiple_of(WORD);
        }
    }

    /// Appends slots at the next position where they do not straddle a word.
    fn append(&mut self, slots: &Table<SlotId, Slot>, cells: &[SlotId], width: u32) {
        if self.end % WORD + width > WORD {
            self.next_word();
        }
        for &slot in cells {
            self.bits[slot.position()] = self.end;
            self.end += slots[slot].width;
        }
    }

    fn words(&self) -> u32 {
        self.end.div_ceil(WORD)
    }
}
