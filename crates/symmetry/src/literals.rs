//! The points that symmetries permute: the literals of a model (slot = value), and how a
//! permutation of them acts on a state.

use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, Model, SlotId, Table, TableIndex, Valuation};

/// The literals of a model, numbered from zero: the values each slot can hold, slot by slot.
/// A slot with very many values has a single point, because its values never permute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literals {
    slots: Table<SlotId, SlotLiterals>,
    owners: Vec<SlotId>,
}

/// The literals of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotLiterals {
    /// The point of the first value.
    pub first: Point,
    /// The values the slot can hold in a reachable state, in increasing order, undefined first.
    /// For a wide slot the least and the greatest only.
    pub values: Vec<Option<i64>>,
    /// Whether the values are too many to list: then `first` is its only point.
    pub wide: bool,
}

/// Why a permutation of points does not act on states.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAction {
    /// The literals of one slot go to several.
    #[error("the values of {0} go to different variables")]
    Torn(String),
    /// Undefined goes to a value, or a value to undefined.
    #[error("{0} exchanges a value with undefined")]
    Undefined(String),
    /// A point that does not exist.
    #[error("point {0} does not exist")]
    NoPoint(Point),
}

/// A permutation of literals as a map of states: where each moved slot goes, and what becomes of
/// its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateMap {
    moves: Vec<SlotMove>,
}

/// What becomes of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotMove {
    /// The slot.
    pub from: SlotId,
    /// Where it goes.
    pub to: SlotId,
    /// What becomes of its values, if not all stay the same: pairs in increasing order of the
    /// first.
    pub values: Option<Vec<(Option<i64>, Option<i64>)>>,
}

impl Literals {
    /// The literals of the given possible values.
    pub(crate) fn new(slots: impl IntoIterator<Item = (Vec<Option<i64>>, bool)>) -> Self {
        let mut table = Table::new();
        let mut owners = Vec::new();
        for (values, wide) in slots {
            let first = owners.len() as Point;
            let points = if wide { 1 } else { values.len() };
            let slot = table.push(SlotLiterals { first, values, wide });
            owners.extend(std::iter::repeat_n(slot, points));
        }
        Self { slots: table, owners }
    }

    /// The literals of all values that slots can hold by their types. Slots with very many are wide.
    #[doc(hidden)]
    pub fn of_layout(layout: &Layout) -> Self {
        const MANY: u64 = 256;
        Self::new(layout.slots.iter().map(|slot| {
            let undefined = slot.may_be_undefined.then_some(None);
            let size = slot.domain.size();
            if size == 0 || size > MANY {
                (vec![Some(slot.domain.least()), Some(slot.domain.greatest())], true)
            } else {
                (undefined.into_iter().chain(slot.domain.values().map(Some)).collect(), false)
            }
        }))
    }

    /// How many points there are.
    pub fn degree(&self) -> usize {
        self.owners.len()
    }

    /// The literals of each slot.
    pub fn slots(&self) -> &Table<SlotId, SlotLiterals> {
        &self.slots
    }

    /// The slot of a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn slot_of(&self, point: Point) -> SlotId {
        self.owners[point as usize]
    }

    /// The value of a point; undefined is `None`. For the point of a wide slot, its least value.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn value_of(&self, point: Point) -> Option<i64> {
        let slot = &self.slots[self.slot_of(point)];
        slot.values[(point - slot.first) as usize]
    }

    /// The point of a literal, if the slot can hold the value.
    pub fn point(&self, slot: SlotId, value: Option<i64>) -> Option<Point> {
        let entry = &self.slots[slot];
        if entry.wide {
            return Some(entry.first);
        }
        entry.values.binary_search(&value).ok().map(|position| entry.first + position as Point)
    }

    /// A permutation in source terms, cycle by cycle: literals where values move, slots where they
    /// go along.
    pub fn describe(&self, model: &Model, layout: &Layout, permutation: &SparsePermutation) -> String {
        let mut text = String::new();
        for cycle in permutation.cycles() {
            text.push('(');
            for (position, &point) in cycle.iter().enumerate() {
                let slot = self.slot_of(point);
                let entry = &layout.slots[slot];
                let value = self
                    .value_of(point)
                    .map_or_else(|| "undefined".to_owned(), |value| model.value_name(entry.ty, value));
                if position > 0 {
                    text.push(' ');
                }
                text.push_str(&format!("{}={value}", entry.name));
            }
            text.push(')');
        }
        text
    }

    /// How a permutation of points acts on states.
    ///
    /// # Errors
    /// If it does not map all literals of a slot to the literals of one slot, or moves undefined.
    pub fn action(&self, layout: &Layout, permutation: &SparsePermutation) -> Result<StateMap, NoAction> {
        let mut moved: Vec<SlotId> = Vec::new();
        for &point in permutation.support() {
            let Some(&slot) = self.owners.get(point as usize) else { return Err(NoAction::NoPoint(point)) };
            if moved.last() != Some(&slot) {
                moved.push(slot);
            }
        }
        let mut moves = Vec::with_capacity(moved.len());
        for from in moved {
            let entry = &self.slots[from];
            let name = || layout.slots[from].name.clone();
            let to = self.slot_of(permutation.image(entry.first));
            let target = &self.slots[to];
            if entry.wide || target.wide {
                if entry.wide != target.wide || entry.values != target.values {
                    return Err(NoAction::Torn(name()));
                }
                moves.push(SlotMove { from, to, values: None });
                continue;
            }
            let mut pairs = Vec::with_capacity(entry.values.len());
            for (position, &value) in entry.values.iter().enumerate() {
                let image = permutation.image(entry.first + position as Point);
                if self.slot_of(image) != to {
                    return Err(NoAction::Torn(name()));
                }
                let image = self.value_of(image);
                if value.is_none() != image.is_none() {
                    return Err(NoAction::Undefined(name()));
                }
                pairs.push((value, image));
            }
            if target.values.len() != entry.values.len() {
                return Err(NoAction::Torn(name()));
            }
            let values = pairs.iter().any(|(value, image)| value != image).then_some(pairs);
            moves.push(SlotMove { from, to, values });
        }
        Ok(StateMap { moves })
    }
}

impl StateMap {
    /// What becomes of the slots that are not left alone.
    pub fn moves(&self) -> &[SlotMove] {
        &self.moves
    }

    /// The image of a state.
    pub fn apply(&self, state: &Valuation) -> Valuation {
        let mut image = state.clone();
        for slot_move in &self.moves {
            image.0[slot_move.to.position()] = slot_move.value(state.0[slot_move.from.position()]);
        }
        image
    }
}

impl SlotMove {
    /// What becomes of a value. A value that never occurs stays as it is.
    pub fn value(&self, value: Option<i64>) -> Option<i64> {
        match &self.values {
            None => value,
            Some(pairs) => match pairs.binary_search_by_key(&value, |&(from, _)| from) {
                Ok(position) => pairs[position].1,
                Err(_) => value,
            },
        }
    }
}
