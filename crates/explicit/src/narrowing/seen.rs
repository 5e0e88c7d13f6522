//! The values seen in slots, and a layout with room for them and a little more.
//!
//! Elements of arrays are judged together, so that the guess is not refuted whenever one element does what another was
//! seen to do. Slots of one *class* differ only in indices: they have the same width. Slots of one *element* have the
//! same innermost index, whatever the indices around it: the third position of any queue, the record of one process. If
//! one of them changes, all of them change whose class changes anywhere.

use quotient_ir::{Domain, Layout, Model, Slot, SlotId, TableIndex, TypeId, TypeKind, Valuation};

use quotient_states::Exploration;

/// Types with at most this many values keep room for all of them, unless nothing ever changes.
const SMALL: u64 = 64;
/// The approximate number of states examined.
const SAMPLE: u64 = 1 << 14;
/// The number of bits added to a slot that was outgrown.
const MORE_BITS: u32 = 2;

/// The values seen in slots.
pub(super) struct Seen {
    slots: Vec<Values>,
    cells: Vec<Cell>,
    classes: Vec<Class>,
    elements: Vec<Element>,
}

/// The values seen in a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    undefined: bool,
    /// The least and the greatest value.
    between: Option<(i64, i64)>,
}

/// The class and element of a slot.
#[derive(Clone, Copy, Debug)]
struct Cell {
    class: u32,
    element: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// How often its slots were outgrown.
    widened: u32,
    /// Whether one of its slots was found to change.
    changes: bool,
}

#[derive(Clone, Copy, Debug)]
struct Element {
    /// The first element of the array, and the number of elements.
    first: u32,
    count: u32,
    /// Whether it was found to change.
    changes: bool,
}

/// The location of a slot in packed states, and the codes seen there.
struct Field {
    slot: SlotId,
    word: usize,
    shift: u32,
    mask: u64,
    /// Whether zero was among them.
    undefined: bool,
    /// One less than the least nonzero code.
    least: u64,
    greatest: u64,
}

impl Values {
    fn include(&mut self, value: Option<i64>) {
        match value {
            None => self.undefined = true,
            Some(value) => {
                let (low, high) = self.between.unwrap_or((value, value));
                self.between = Some((low.min(value), high.max(value)));
            }
        }
    }

    fn include_both(&mut self, other: &Self) {
        self.undefined |= other.undefined;
        if let Some((low, high)) = other.between {
            self.include(Some(low));
            self.include(Some(high));
        }
    }

    /// The only value, if there is just one.
    fn only(&self) -> Option<i64> {
        self.between.filter(|(low, high)| !self.undefined && low == high).map(|(value, _)| value)
    }
}

impl Seen {
    /// Nothing was seen yet.
    pub(super) fn new(model: &Model, layout: &Layout) -> Self {
        let mut seen = Self {
            slots: vec![Values::default(); layout.slots.len()],
            cells: Vec::with_capacity(layout.slots.len()),
            classes: Vec::new(),
            elements: Vec::new(),
        };
        for variable in model.variables.iter() {
            seen.classify(model, variable.ty, seen.classes.len(), seen.elements.len(), None);
        }
        seen
    }

    /// Adds the cells of a type, with classes and elements numbered from the given ones on.
    fn classify(
        &mut self,
        model: &Model,
        ty: TypeId,
        class: usize,
        element: usize,
        inside: Option<usize>,
    ) -> (usize, usize) {
        match &model.types[ty].kind {
            TypeKind::Array { index, element: inner } => {
                let count = model.domain(*index).size() as usize;
                self.add_elements(element, count);
                let mut used = (0, 0);
                for position in 0..count {
                    used = self.classify(model, *inner, class, element + count, Some(element + position));
                }
                (used.0, used.1 + count)
            }
            TypeKind::Record { fields } => {
                let mut used = (0, 0);
                for field in fields {
                    let more = self.classify(model, field.ty, class + used.0, element + used.1, inside);
                    used = (used.0 + more.0, used.1 + more.1);
                }
                used
            }
            _ => {
                if self.classes.len() == class {
                    self.classes.push(Class::default());
                }
                let own = inside.is_none();
                if own {
                    self.add_elements(element, 1);
                }
                self.cells.push(Cell { class: class as u32, element: inside.unwrap_or(element) as u32 });
                (1, usize::from(own))
            }
        }
    }

    /// Ensures that there are elements of an array from a number on.
    fn add_elements(&mut self, first: usize, count: usize) {
        let array = Element { first: first as u32, count: count as u32, changes: false };
        while self.elements.len() < first + count {
            self.elements.push(array);
        }
    }

    /// Records the states of a search, or a sample of them.
    pub(super) fn include_some(&mut self, layout: &Layout, exploration: &Exploration) {
        let store = &exploration.store;
        let Some(first) = store.numbers().next().map(|number| store.state(number)) else { return };
        self.include(&layout.unpack(first));
        // Most slots never change, which whole words show.
        let mut changes = vec![0; layout.words()];
        let step = (store.len() / SAMPLE).max(1) as usize;
        for number in store.numbers().step_by(step) {
            for ((changes, first), word) in changes.iter_mut().zip(first).zip(store.state(number)) {
                *changes |= first ^ word;
            }
        }
        let mut fields: Vec<Field> = Vec::new();
        for (id, slot) in layout.slots.iter_enumerated().filter(|(_, slot)| slot.width > 0) {
            let (word, shift, mask) = (slot.bit as usize / 64, slot.bit % 64, u64::MAX >> (64 - slot.width));
            if changes[word] >> shift & mask != 0 {
                fields.push(Field { slot: id, word, shift, mask, undefined: false, least: u64::MAX, greatest: 0 });
            }
        }
        for number in store.numbers().step_by(step) {
            let state = store.state(number);
            for field in &mut fields {
                let code = state[field.word] >> field.shift & field.mask;
                // Codes have the order of values; zero may represent undefined.
                field.undefined |= code == 0;
                field.least = field.least.min(code.wrapping_sub(1));
                field.greatest = field.greatest.max(code);
            }
        }
        for field in fields {
            let slot = &layout.slots[field.slot];
            let values = &mut self.slots[field.slot.position()];
            // The least nonzero code, if there is one.
            let least = field.least.saturating_add(1);
            let codes =
                [field.undefined.then_some(0), (least <= field.greatest).then_some(least), Some(field.greatest)];
            codes.into_iter().flatten().for_each(|code| values.include(slot.value(code)));
        }
    }

    /// Records a state.
    pub(super) fn include(&mut self, valuation: &Valuation) {
        for (slot, &value) in self.slots.iter_mut().zip(&valuation.0) {
            slot.include(value);
        }
    }

    /// Records a state that outgrew a layout.
    pub(super) fn widen(&mut self, layout: &Layout, state: &Valuation) {
        for (id, slot) in layout.slots.iter_enumerated().filter(|(id, slot)| slot.stored(state[*id]).is_none()) {
            let Cell { class, element } = self.cells[id.position()];
            if slot.width > 0 {
                self.classes[class as usize].widened += 1;
                continue;
            }
            self.classes[class as usize].changes = true;
            // A queue that fills up tends to fill up further.
            let Element { first, count, .. } = self.elements[element as usize];
            let end = (first + count).min(element + 1 + (element - first).div_ceil(2));
            self.elements[element as usize..end as usize].iter_mut().for_each(|element| element.changes = true);
        }
        self.include(state);
    }

    /// A layout with room for what was seen.
    pub(super) fn layout(&self, whole: &Layout) -> Layout {
        let mut classes = self.classes.clone();
        let mut elements = self.elements.clone();
        let mut ranges = vec![Values::default(); classes.len()];
        for (values, cell) in self.slots.iter().zip(&self.cells) {
            ranges[cell.class as usize].include_both(values);
            if values.only().is_none() {
                classes[cell.class as usize].changes = true;
                elements[cell.element as usize].changes = true;
            }
        }
        whole.repacked(|id: SlotId, slot: &Slot| {
            let Cell { class, element } = self.cells[id.position()];
            let (class, element) = (class as usize, element as usize);
            if let Some(value) = self.slots[id.position()].only()
                && !(classes[class].changes && elements[element].changes)
            {
                return slot.domain.between(value, value).map(|domain| (domain, false));
            }
            room(slot, &ranges[class], classes[class].widened)
        })
    }
}

/// The values seen in a slot and more, as many as the bits have room for; `None` if that amounts to all of them.
fn room(slot: &Slot, values: &Values, widened: u32) -> Option<(Domain, bool)> {
    if widened > 1 {
        return None;
    }
    let undefined = slot.has_undefined && (values.undefined || widened > 0);
    let size = slot.domain.size();
    if size != 0 && size <= SMALL {
        return Some((slot.domain.clone(), undefined));
    }
    // A slot that is never defined still needs room for some value.
    let (low, high) = values.between.unwrap_or((slot.least, slot.least));
    // Start from zero if possible: then values copied between slots need no conversion.
    let low = if low > 0 && slot.least <= 0 { 0 } else { low };
    let codes = high.checked_sub(low)?.checked_add(i64::from(undefined))?;
    let bits = (u64::BITS - codes.leading_zeros()).max(1) + widened * MORE_BITS;
    let codes = if bits < 62 { 1i64 << bits } else { return None };
    let domain = slot.domain.between(low, low.checked_add(codes - 1 - i64::from(undefined))?)?;
    Some((domain, undefined))
}

#[cfg(test)]
mod tests {
    use quotient_ir::{Model, Source, Span, Type, Variable};

    use super::*;

    /// `queues: array [0..1] of record len: 0..9; slot: array [0..3] of 0..255 end`
    fn queues() -> (Model, Layout) {
        let mut model = Model::new(Source::new("queues", ""));
        let mut add = |kind| model.types.push(Type { name: None, kind });
        let byte = add(TypeKind::Range { low: 0, high: 255 });
        let length = add(TypeKind::Range { low: 0, high: 9 });
        let two = add(TypeKind::Range { low: 0, high: 1 });
        let four = add(TypeKind::Range { low: 0, high: 3 });
        let slots = add(TypeKind::Array { index: four, element: byte });
        let fields = [("len", length), ("slot", slots)].map(|(name, ty)| quotient_ir::Field { name: name.into(), ty });
        let queue = add(TypeKind::Record { fields: fields.into() });
        let ty = add(TypeKind::Array { index: two, element: queue });
        let span = Span { start: 0, end: 0 };
        model.variables.push(Variable { name: "queues".into(), ty, may_be_undefined: false, span });
        let layout = Layout::new(&model).expect("few slots");
        (model, layout)
    }

    fn widths(layout: &Layout) -> Vec<u32> {
        layout.slots.iter().map(|slot| slot.width).collect()
    }

    #[test]
    fn what_one_queue_does_all_may_do() {
        let (model, layout) = queues();
        let mut seen = Seen::new(&model, &layout);
        let mut state = layout.initial();
        seen.include(&state);
        assert_eq!(widths(&seen.layout(&layout)), [0; 10]);
        state.0[0] = Some(1);
        state.0[1] = Some(5);
        seen.include(&state);
        let narrow = seen.layout(&layout);
        assert_eq!(widths(&narrow), [4, 3, 0, 0, 0, 0, 3, 0, 0, 0]);
        state.0[7] = Some(3);
        assert!(!narrow.admits(&state));
        seen.widen(&narrow, &state);
        assert_eq!(widths(&seen.layout(&layout)), [4, 3, 3, 3, 0, 0, 3, 3, 3, 0]);
        state.0[7] = Some(9);
        let narrow = seen.layout(&layout);
        seen.widen(&narrow, &state);
        let narrow = seen.layout(&layout);
        assert_eq!(widths(&narrow), [4, 6, 6, 6, 0, 0, 6, 6, 6, 0]);
        assert!(narrow.admits(&state));
        assert_eq!(narrow.unpack(&narrow.state(&state).0), state);
    }
}
