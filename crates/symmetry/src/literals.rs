//! The points that symmetries permute: the literals of a model (slot = value), and the action of their permutations on
//! states.

use quotient_functions::Behaviour;
use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, Model, MultisetSlots, SlotId, Table, TableIndex, Valuation};

/// The literals of a model, numbered from zero: the values each slot can hold, slot by slot. A slot with very many
/// values has a single point, because its values never permute.
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
    /// The values the slot can hold in a reachable state, in increasing order, undefined first. For a wide slot, only
    /// the least and the greatest.
    pub values: Vec<Option<i64>>,
    /// Whether there are too many values to list: then `first` is its only point.
    pub wide: bool,
}

/// Why a permutation of points does not act on states.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAction {
    /// The literals of one slot are mapped to several slots.
    #[error("the values of {0} go to different variables")]
    Torn(String),
    /// Undefined is mapped to a value, or a value to undefined.
    #[error("{0} exchanges a value with undefined")]
    Undefined(String),
    /// Not all elements of a multiset are treated alike.
    #[error("the elements of a multiset are not treated alike: {0}")]
    Multiset(String),
    /// A point that does not exist.
    #[error("point {0} does not exist")]
    NoPoint(Point),
}

/// A permutation of literals as a map of states: the image of each moved slot and of its values. Multisets whose
/// elements it changes are sorted again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateMap {
    moves: Vec<SlotMove>,
    multisets: Vec<MultisetSlots>,
}

/// The image of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotMove {
    /// The slot.
    pub from: SlotId,
    /// Its image.
    pub to: SlotId,
    /// The values that are not fixed, if there are any, and their images: pairs in increasing order of the first.
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

    /// The literals of the values that the functions of a model are over.
    pub(crate) fn of_functions(behaviour: &Behaviour) -> Self {
        let circuit = &behaviour.circuit;
        let slots = 0..behaviour.slots as u32;
        Self::new(slots.map(|slot| (circuit.values(slot).to_vec(), circuit.is_wide(slot))))
    }

    /// The literals of all values of the slots' types. Slots with very many are wide.
    #[doc(hidden)]
    pub fn of_layout(layout: &Layout) -> Self {
        Self::of_types(layout, |_| false)
    }

    /// The same; slots whose values permute may have more of them.
    pub(crate) fn of_types(layout: &Layout, permutes: impl Fn(SlotId) -> bool) -> Self {
        const MANY: u64 = 256;
        const MOST: u64 = 4096;
        Self::new(layout.slots.iter_enumerated().map(|(id, slot)| {
            let undefined = slot.may_be_undefined.then_some(None);
            let size = slot.domain.size();
            if size == 0 || size > if permutes(id) { MOST } else { MANY } {
                (vec![Some(slot.domain.least()), Some(slot.domain.greatest())], true)
            } else {
                (undefined.into_iter().chain(slot.domain.values().map(Some)).collect(), false)
            }
        }))
    }

    /// The number of points.
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

    /// A permutation in source terms, cycle by cycle: literals where values change, slots where they move unchanged.
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
        if let Some(&point) = permutation.support().iter().find(|&&point| self.owners.len() <= point as usize) {
            return Err(NoAction::NoPoint(point));
        }
        let mut moves = Vec::new();
        let mut rest = permutation.support();
        while let Some(&point) = rest.first() {
            let from = self.slot_of(point);
            let entry = &self.slots[from];
            let name = || layout.slots[from].name.clone();
            let to = self.slot_of(permutation.image(point));
            let target = &self.slots[to];
            let points = if entry.wide { 1 } else { entry.values.len() } as Point;
            let (moved, others) = rest.split_at(rest.partition_point(|&point| point < entry.first + points));
            rest = others;
            if entry.wide || target.wide {
                if entry.wide != target.wide || entry.values != target.values {
                    return Err(NoAction::Torn(name()));
                }
                moves.push(SlotMove { from, to, values: None });
                continue;
            }
            // Points that are fixed stay in their slot.
            let is_torn = from != to && moved.len() < entry.values.len();
            if is_torn || target.values.len() != entry.values.len() {
                return Err(NoAction::Torn(name()));
            }
            let mut pairs = Vec::new();
            for &point in moved {
                let (value, image) = (self.value_of(point), permutation.image(point));
                if self.slot_of(image) != to {
                    return Err(NoAction::Torn(name()));
                }
                let image = self.value_of(image);
                if value.is_none() != image.is_none() {
                    return Err(NoAction::Undefined(name()));
                }
                if value != image {
                    pairs.push((value, image));
                }
            }
            moves.push(SlotMove { from, to, values: (!pairs.is_empty()).then_some(pairs) });
        }
        let multisets = moved_multisets(layout, &moves)?;
        Ok(StateMap { moves, multisets })
    }
}

/// The multisets in which slots move, if each of their positions is treated alike.
fn moved_multisets(layout: &Layout, moves: &[SlotMove]) -> Result<Vec<MultisetSlots>, NoAction> {
    let mut moved = Vec::new();
    for multiset in layout.multisets() {
        let first = multiset.first.position();
        let end = first + multiset.capacity * multiset.stride;
        let start = moves.partition_point(|slot_move| slot_move.from.position() < first);
        let count = moves[start..].partition_point(|slot_move| slot_move.from.position() < end);
        let own = &moves[start..start + count];
        let Some(one) = own.first() else { continue };
        let error = || NoAction::Multiset(layout.slots[multiset.first].name.clone());
        let target = layout.multisets().iter().find(|other| {
            let last = other.first.position() + other.capacity * other.stride;
            other.first <= one.to && one.to.position() < last
        });
        let target = target.filter(|target| target.capacity == multiset.capacity && target.stride == multiset.stride);
        let target_first = target.ok_or_else(error)?.first.position();
        // The moves of the first position; the other positions must repeat them.
        let columns = own.partition_point(|slot_move| slot_move.from.position() < first + multiset.stride);
        let is_uniform = columns > 0
            && own.len() == columns * multiset.capacity
            && own.iter().enumerate().all(|(number, slot_move)| {
                let (pattern, shift) = (&own[number % columns], number / columns * multiset.stride);
                // The slot that says whether an element is present must keep that role.
                let tells_presence = pattern.from.position() == first;
                slot_move.from.position() == pattern.from.position() + shift
                    && slot_move.to.position() == pattern.to.position() + shift
                    && (target_first..target_first + multiset.stride).contains(&pattern.to.position())
                    && slot_move.values == pattern.values
                    && tells_presence == (pattern.to.position() == target_first)
                    && !(tells_presence && slot_move.values.is_some())
            });
        if !is_uniform {
            return Err(error());
        }
        moved.push(*multiset);
    }
    Ok(moved)
}

/// Brings a multiset into the normal form of states: elements first, in order. It has no nested multisets.
fn sort(multiset: &MultisetSlots, state: &mut Valuation) {
    let first = multiset.first.position();
    let cells = &mut state.0[first..first + multiset.capacity * multiset.stride];
    let mut elements: Vec<Vec<Option<i64>>> =
        cells.chunks(multiset.stride).filter(|position| position[0] == Some(1)).map(<[_]>::to_vec).collect();
    elements.sort_unstable();
    for (number, position) in cells.chunks_mut(multiset.stride).enumerate() {
        match elements.get(number) {
            Some(element) => position.copy_from_slice(element),
            None => {
                position.fill(None);
                position[0] = Some(0);
            }
        }
    }
}

impl StateMap {
    /// Exchanges of slots that can hold the same values, regardless of multisets.
    pub fn exchange_of_slots(pairs: impl IntoIterator<Item = (SlotId, SlotId)>) -> Self {
        let one = |from, to| SlotMove { from, to, values: None };
        let mut moves: Vec<SlotMove> = pairs.into_iter().flat_map(|(a, b)| [one(a, b), one(b, a)]).collect();
        moves.sort_unstable_by_key(|slot_move| slot_move.from);
        Self { moves, multisets: Vec::new() }
    }

    /// The moves of the slots that are not fixed.
    pub fn moves(&self) -> &[SlotMove] {
        &self.moves
    }

    /// The multisets that it moves, or whose elements it changes.
    pub fn multisets(&self) -> &[MultisetSlots] {
        &self.multisets
    }

    /// The image of a state.
    pub fn apply(&self, state: &Valuation) -> Valuation {
        let mut image = state.clone();
        for slot_move in &self.moves {
            image.0[slot_move.to.position()] = slot_move.value(state.0[slot_move.from.position()]);
        }
        for multiset in &self.multisets {
            sort(multiset, &mut image);
        }
        image
    }
}

impl SlotMove {
    /// The image of a value.
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
