//! Symmetries as maps of packed states.

use quotient_ir::{Layout, Slot};
use quotient_symmetry::{SlotMove, StateMap};

/// A map of packed states.
#[derive(Clone, Debug)]
pub struct PackedMap {
    fields: Vec<MappedField>,
    /// For states with multisets, which are sorted again.
    slow: Option<(StateMap, Layout)>,
}

/// A field of a packed state, and where its image goes.
#[derive(Clone, Debug)]
struct MappedField {
    from: (usize, u32),
    to: (usize, u32),
    mask: u64,
    target_mask: u64,
    /// The image of each code, if it is not the same.
    codes: Option<Codes>,
}

/// The images of the codes of a slot.
#[derive(Clone, Debug)]
enum Codes {
    Listed(Vec<u64>),
    /// There are too many to list.
    Computed(Box<(Slot, Slot, SlotMove)>),
}

/// The largest number of codes that are listed.
const LISTED: u64 = 1 << 12;

impl PackedMap {
    /// The map of the packed states of a layout.
    pub fn new(layout: &Layout, map: &StateMap) -> Self {
        if !map.multisets().is_empty() {
            return Self { fields: Vec::new(), slow: Some((map.clone(), layout.clone())) };
        }
        let place = |slot: &Slot| (slot.bit as usize / 64, slot.bit % 64);
        let mask = |slot: &Slot| if slot.width == 0 { 0 } else { u64::MAX >> (64 - slot.width) };
        let field = |one: &SlotMove| {
            let (from, to) = (&layout.slots[one.from], &layout.slots[one.to]);
            let same = from.domain == to.domain && from.has_undefined == to.has_undefined;
            let codes = (one.values.is_some() || !same).then(|| {
                // A size of zero denotes 2^64 values.
                let size = from.domain.size().wrapping_sub(1).saturating_add(1 + u64::from(from.has_undefined));
                match size <= LISTED {
                    true => Codes::Listed((0..size).map(|code| image(one, from, to, code)).collect()),
                    false => Codes::Computed(Box::new((from.clone(), to.clone(), one.clone()))),
                }
            });
            MappedField { from: place(from), to: place(to), mask: mask(from), target_mask: mask(to), codes }
        };
        let fields = map.moves().iter().filter(|one| layout.slots[one.to].width > 0).map(field).collect();
        Self { fields, slow: None }
    }

    /// Makes `target` the image of a state.
    #[inline]
    pub fn apply(&self, state: &[u64], target: &mut Vec<u64>) {
        target.clear();
        target.extend_from_slice(state);
        if let Some((map, layout)) = &self.slow {
            return layout.pack(&map.apply(&layout.unpack(state)), target);
        }
        for field in &self.fields {
            let code = state.get(field.from.0).map_or(0, |word| word >> field.from.1 & field.mask);
            let code = match &field.codes {
                None => code,
                Some(Codes::Listed(codes)) => codes[code as usize],
                Some(Codes::Computed(parts)) => image(&parts.2, &parts.0, &parts.1, code),
            };
            let word = &mut target[field.to.0];
            *word = *word & !(field.target_mask << field.to.1) | code << field.to.1;
        }
    }
}

/// The image of a code. That of a value that never occurs has none.
#[inline]
fn image(one: &SlotMove, from: &Slot, to: &Slot, code: u64) -> u64 {
    to.stored(one.value(from.value(code))).unwrap_or(0)
}
