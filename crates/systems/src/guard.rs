//! The guard of a reduced search. Symmetries were found under the assumption that each slot holds only its possible
//! values. A state with another value reveals a defect of this program, and the results of the search cannot be
//! trusted: it must end with an error, not with a verdict.

use std::sync::atomic::{AtomicU32, Ordering};

use quotient_ir::{Layout, SlotId, TableIndex};
use quotient_symmetry::Literals;

/// No violation was detected.
const NONE: u32 = u32::MAX;

/// Checks the values of slots.
#[derive(Debug)]
pub struct Guard {
    /// The fields of each word that can hold more than was assumed.
    words: Vec<GuardedWord>,
    /// The first slot with an impossible value.
    caught: AtomicU32,
}

/// The fields of a word to check.
#[derive(Debug)]
struct GuardedWord {
    /// The bits of all fields.
    bits: u64,
    /// For each bit, the number of its field.
    field_of: [u8; 64],
    fields: Vec<GuardedField>,
}

/// The location of a slot's code, and the codes it may have.
#[derive(Debug)]
struct GuardedField {
    slot: SlotId,
    shift: u32,
    mask: u64,
    allowed: Allowed,
}

/// The codes a slot may have.
#[derive(Debug)]
enum Allowed {
    /// One bit per code.
    Few(u64),
    /// One bit per code, in words.
    Many(Box<[u64]>),
    /// From the first to the second, and possibly undefined.
    Between(u64, u64, bool),
}

impl Guard {
    /// Checks for values that are not among the literals.
    pub fn new(layout: &Layout, literals: &Literals) -> Self {
        Self::of_values(layout, |slot| (literals.slots()[slot].values.clone(), literals.slots()[slot].wide))
    }

    /// Checks for values other than those of each slot; if it is wide, other than those between the least and the
    /// greatest of them.
    pub fn of_values(layout: &Layout, possible: impl Fn(SlotId) -> (Vec<Option<i64>>, bool)) -> Self {
        let none = || GuardedWord { bits: 0, field_of: [0; 64], fields: Vec::new() };
        let mut words: Vec<GuardedWord> = (0..layout.words()).map(|_| none()).collect();
        for (slot, entry) in layout.slots.iter_enumerated() {
            let (values, is_wide) = possible(slot);
            let codes: Vec<u64> = values.iter().filter_map(|&value| entry.stored(value)).collect();
            // A size of zero denotes 2^64 values.
            let size = entry.domain.size().wrapping_sub(1).saturating_add(1 + u64::from(entry.has_undefined));
            let has_undefined = values.contains(&None);
            let allowed = match codes[..] {
                _ if !is_wide && codes.len() as u64 == size => continue,
                [.., low, high] if is_wide => {
                    let defined = size - u64::from(entry.has_undefined);
                    if high - low == defined.wrapping_sub(1) && has_undefined == entry.has_undefined {
                        continue;
                    }
                    Allowed::Between(low, high, has_undefined)
                }
                _ if entry.width <= 6 => Allowed::Few(codes.iter().fold(0, |bits, code| bits | 1 << code)),
                _ => {
                    let greatest = codes.iter().copied().max().unwrap_or(0) as usize;
                    let mut bits = vec![0u64; greatest / 64 + 1];
                    for code in codes {
                        bits[code as usize / 64] |= 1 << (code % 64);
                    }
                    Allowed::Many(bits.into_boxed_slice())
                }
            };
            let mask = if entry.width >= 64 { u64::MAX } else { (1 << entry.width) - 1 };
            let word = &mut words[entry.bit as usize / 64];
            let shift = entry.bit % 64;
            word.bits |= mask << shift;
            word.field_of[shift as usize..(shift + entry.width) as usize].fill(word.fields.len() as u8);
            word.fields.push(GuardedField { slot, shift, mask, allowed });
        }
        Self { words, caught: AtomicU32::new(NONE) }
    }

    /// Whether there is nothing to check.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.bits == 0)
    }

    /// Whether a state holds only possible values, checking only where it differs from a state known to pass.
    #[inline]
    pub fn passes(&self, known: Option<&[u64]>, state: &[u64]) -> bool {
        let mut passes = true;
        for (position, guarded) in self.words.iter().enumerate() {
            let word = state[position];
            let mut changed = known.map_or(u64::MAX, |known| known[position] ^ word) & guarded.bits;
            while changed != 0 {
                let field = &guarded.fields[guarded.field_of[changed.trailing_zeros() as usize] as usize];
                changed &= !(field.mask << field.shift);
                if !field.allowed.contains(word >> field.shift & field.mask) {
                    passes = false;
                    self.catch(field.slot);
                }
            }
        }
        passes
    }

    #[cold]
    fn catch(&self, slot: SlotId) {
        // The first one is reported; it does not matter whether there is another.
        let slot = slot.position() as u32;
        let _ = self.caught.compare_exchange(NONE, slot, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The slot that held an impossible value.
    pub fn caught(&self) -> Option<SlotId> {
        match self.caught.load(Ordering::Relaxed) {
            NONE => None,
            slot => Some(SlotId::from_position(slot as usize)),
        }
    }
}

impl Allowed {
    #[inline]
    fn contains(&self, code: u64) -> bool {
        match self {
            Self::Few(bits) => bits >> code & 1 == 1,
            Self::Many(bits) => bits.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1),
            &Self::Between(low, high, undefined) => (low..=high).contains(&code) || undefined && code == 0,
        }
    }
}
