//! Converts packed states from one layout to another with the same slots.

use quotient_ir::{Layout, Slot};

/// The conversion from one layout to another.
#[derive(Debug)]
pub struct Repacking {
    /// The words of a state, except for the fields below.
    base: Vec<u64>,
    fields: Vec<Moved>,
    /// The bits of each word for which the other layout has no room, and their required contents.
    dropped: Vec<(u64, u64)>,
}

/// A field in both layouts.
#[derive(Debug)]
struct Moved {
    from: Field,
    to: Field,
    /// The offset to add to the stored number, and the greatest permitted result; `None` if the offset depends on it.
    distance: Option<(u64, u64)>,
    slots: Box<(Slot, Slot)>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Field {
    /// The location of a slot that has bits.
    fn of(slot: &Slot) -> Self {
        Self { word: slot.bit as usize / 64, shift: slot.bit % 64, mask: u64::MAX >> (64 - slot.width) }
    }
}

impl Repacking {
    /// The conversion of states of one layout to another.
    pub fn new(from: &Layout, to: &Layout) -> Self {
        let mut base = vec![0; to.words()];
        let mut fields = Vec::new();
        let mut dropped = vec![(0, 0); from.words()];
        for (source, target) in from.slots.iter().zip(to.slots.iter()) {
            if target.width == 0 {
                if source.width > 0 {
                    let Field { word, shift, mask } = Field::of(source);
                    match source.stored(target.value(0)) {
                        Some(expected) => {
                            dropped[word].0 |= mask << shift;
                            dropped[word].1 |= expected << shift;
                        }
                        // No state fits.
                        None => dropped[word] = (0, 1),
                    }
                }
                continue;
            }
            let place = Field::of(target);
            if source.width == 0 {
                let stored = target.stored(source.value(0)).expect("what never changed has room in every layout");
                base[place.word] |= stored << place.shift;
                continue;
            }
            let distance = match (source.domain.pieces(), target.domain.pieces()) {
                _ if source.domain == target.domain && source.has_undefined == target.has_undefined => {
                    Some((0, u64::MAX))
                }
                (&[(first, _)], &[(second, last)]) if !source.has_undefined && !target.has_undefined => {
                    Some((first.wrapping_sub(second) as u64, last.wrapping_sub(second) as u64))
                }
                _ => None,
            };
            let slots = Box::new((source.clone(), target.clone()));
            fields.push(Moved { from: Field::of(source), to: place, distance, slots });
        }
        Self { base, fields, dropped }
    }

    /// Appends a state. Returns whether the new layout has room for it; if not, what was appended must not be used.
    #[inline]
    pub fn append(&self, state: &[u64], states: &mut Vec<u64>) -> bool {
        let start = states.len();
        states.extend_from_slice(&self.base);
        let words = &mut states[start..];
        let mut fits = state.iter().zip(&self.dropped).all(|(word, (mask, expected))| word & mask == *expected);
        for Moved { from, to, distance, slots } in &self.fields {
            let code = state[from.word] >> from.shift & from.mask;
            let code = match distance {
                Some((distance, greatest)) => {
                    let code = code.wrapping_add(*distance);
                    fits &= code <= *greatest;
                    code & to.mask
                }
                None => slots.1.stored(slots.0.value(code)).unwrap_or_else(|| {
                    fits = false;
                    0
                }),
            };
            words[to.word] |= code << to.shift;
        }
        fits
    }
}
