//! States as sets of points that a group permutes.
//!
//! If the values of a slot never permute, the slot is one point, with its code attached. If they do, every literal is a
//! point. Slots with a single possible value are omitted: they carry no information.

use rustc_hash::FxHashMap;

use quotient_groups::action::Action;
use quotient_groups::{OrbitPartition, Point, SparsePermutation};
use quotient_ir::{Layout, Slot, SlotId, TableIndex};

use quotient_symmetry::{Literals, StateMap};

/// Not a point.
pub(crate) const NONE: Point = Point::MAX;

/// The location of a slot's stored code in a packed state.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    pub(crate) width: u32,
    pub(crate) mask: u64,
    /// For slots that are mapped to slots with another domain, where codes have another meaning: values are read and
    /// written instead.
    translated: Option<Box<Slot>>,
    /// For slots with few possible values in a very large domain: the codes of these values, in order. Positions in
    /// this list are read and written instead of codes, so that tables stay small.
    listed: Option<Box<[u64]>>,
}

/// The largest code for which tables are made.
const TABLE_LIMIT: u64 = 1 << 16;
/// Added to codes that are not listed. No symmetry affects them; they are written back unchanged.
const UNLISTED: u64 = 1 << 62;

impl Field {
    /// The field of a slot, by its codes.
    pub(crate) fn of_slot(slot: &Slot) -> Self {
        Self::new(slot, false)
    }

    fn new(slot: &Slot, is_translated: bool) -> Self {
        let mask = u64::MAX >> (64 - slot.width.clamp(1, 64));
        Self {
            word: slot.bit / 64,
            shift: slot.bit % 64,
            width: slot.width,
            mask,
            translated: is_translated.then(|| Box::new(slot.clone())),
            listed: None,
        }
    }

    /// The field of a slot, by the positions of its codes in a list.
    fn by_list(slot: &Slot, mut codes: Vec<u64>) -> Self {
        codes.sort_unstable();
        Self { listed: Some(codes.into()), ..Self::new(slot, false) }
    }

    /// The code as read, for a code held by the slot.
    fn encode(&self, code: u64) -> u64 {
        match &self.listed {
            None => code,
            Some(codes) => codes.binary_search(&code).map_or(code | UNLISTED, |position| position as u64),
        }
    }

    /// Whether the stored code itself is read and written.
    pub(crate) fn is_direct(&self) -> bool {
        self.translated.is_none() && self.listed.is_none()
    }

    #[inline]
    pub(crate) fn read(&self, state: &[u64]) -> u64 {
        let code = state[self.word as usize] >> self.shift & self.mask;
        match &self.translated {
            None => self.encode(code),
            Some(slot) => slot.value(code).map_or(u64::MAX, |value| value.wrapping_sub(i64::MIN) as u64),
        }
    }

    #[inline]
    pub(crate) fn write(&self, state: &mut [u64], code: u64) {
        let code = match &self.translated {
            None => match &self.listed {
                Some(codes) => codes.get(code as usize).copied().unwrap_or(code & !UNLISTED),
                None => code,
            },
            Some(slot) => {
                let value = (code != u64::MAX).then(|| (code as i64).wrapping_add(i64::MIN));
                slot.stored(value).expect("a value that a slot of the same orbit held")
            }
        };
        let word = &mut state[self.word as usize];
        *word = *word & !(self.mask << self.shift) | code << self.shift;
    }
}

/// What a field is under a group.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The field is a point with an attached code.
    Plain(Point),
    /// The point of each code, or none if the group does not move it.
    Lettered(Box<[Point]>),
}

impl Content {
    /// The point of a code.
    #[inline]
    pub(crate) fn point(&self, code: u64) -> Point {
        match self {
            Self::Plain(point) => *point,
            Self::Lettered(points) => points.get(code as usize).copied().unwrap_or(NONE),
        }
    }

    /// Its points.
    pub(crate) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        match self {
            Self::Plain(point) => std::slice::from_ref(point),
            Self::Lettered(points) => &points[..],
        }
        .iter()
        .copied()
        .filter(|&point| point != NONE)
    }
}

/// The fields that a group changes, and the group as permutations of their points.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) fields: Vec<Field>,
    pub(crate) contents: Vec<Content>,
    /// The field of each point and, if literals are points, the code.
    pub(crate) origins: Vec<(u32, u64)>,
    pub(crate) action: Action,
    /// The literals that each point represents, in order.
    pub(crate) literals: Vec<Vec<Point>>,
}

impl View {
    /// The points that maps of states permute.
    pub(crate) fn new(layout: &Layout, literals: &Literals, maps: &[StateMap]) -> Self {
        let mut orbits = OrbitPartition::new(layout.slots.len());
        for slot_move in maps.iter().flat_map(StateMap::moves) {
            orbits.merge(slot_move.from.position() as Point, slot_move.to.position() as Point);
        }
        let possible = |slot: SlotId| &literals.slots()[slot];
        // Orbits of slots whose codes change along the way, and wide ones whose codes would.
        let mut is_lettered = vec![false; layout.slots.len()];
        let mut is_translated = vec![false; layout.slots.len()];
        let mut moved = vec![false; layout.slots.len()];
        for slot_move in maps.iter().flat_map(StateMap::moves) {
            let (from, to) = (&layout.slots[slot_move.from], &layout.slots[slot_move.to]);
            moved[slot_move.from.position()] = true;
            moved[slot_move.to.position()] = true;
            let orbit = orbits.find(slot_move.from.position() as Point) as usize;
            let entry = possible(slot_move.from);
            if entry.wide {
                is_translated[orbit] |= from.domain != to.domain || from.has_undefined != to.has_undefined;
            } else if slot_move.from == slot_move.to {
                is_lettered[orbit] |= slot_move.values.is_some();
            } else {
                is_lettered[orbit] |=
                    entry.values.iter().any(|&value| from.stored(value) != to.stored(slot_move.value(value)));
            }
        }
        let mut view = Self {
            fields: Vec::new(),
            contents: Vec::new(),
            origins: Vec::new(),
            action: Action::new(0, []),
            literals: Vec::new(),
        };
        let mut field_of: FxHashMap<SlotId, usize> = FxHashMap::default();
        for (slot, entry) in layout.slots.iter_enumerated() {
            let values = possible(slot);
            if !moved[slot.position()] || entry.width == 0 || (values.values.len() < 2 && !values.wide) {
                continue;
            }
            let orbit = orbits.find(slot.position() as Point) as usize;
            let number = view.fields.len() as u32;
            field_of.insert(slot, number as usize);
            if is_lettered[orbit] {
                let codes: Vec<u64> =
                    values.values.iter().map(|&value| entry.stored(value).expect("a possible value")).collect();
                let field = if codes.iter().any(|&code| code > TABLE_LIMIT) {
                    Field::by_list(entry, codes.clone())
                } else {
                    Field::new(entry, is_translated[orbit])
                };
                let codes: Vec<u64> = codes.into_iter().map(|code| field.encode(code)).collect();
                view.fields.push(field);
                let size = codes.iter().max().map_or(0, |&code| code as usize + 1);
                let mut points = vec![NONE; size];
                for (position, &code) in codes.iter().enumerate() {
                    points[code as usize] = view.origins.len() as Point;
                    view.origins.push((number, code));
                    view.literals.push(vec![values.first + position as Point]);
                }
                view.contents.push(Content::Lettered(points.into()));
            } else {
                view.fields.push(Field::new(entry, is_translated[orbit]));
                view.contents.push(Content::Plain(view.origins.len() as Point));
                view.origins.push((number, 0));
                let count = if values.wide { 1 } else { values.values.len() };
                view.literals.push((values.first..values.first + count as Point).collect());
            }
        }
        let generators = maps.iter().map(|map| {
            let mut moves = Vec::new();
            for slot_move in map.moves() {
                let Some(&from) = field_of.get(&slot_move.from) else { continue };
                let to = field_of[&slot_move.to];
                let (source, target) = (&layout.slots[slot_move.from], &layout.slots[slot_move.to]);
                let (first, second) = (&view.fields[from], &view.fields[to]);
                match (&view.contents[from], &view.contents[to]) {
                    (Content::Plain(from), Content::Plain(to)) => moves.push((*from, *to)),
                    (from, to) => {
                        let mut add = |value, image| {
                            let code = source.stored(value).expect("a possible value");
                            let image = target.stored(image).expect("a possible value");
                            moves.push((from.point(first.encode(code)), to.point(second.encode(image))));
                        };
                        if slot_move.from == slot_move.to {
                            slot_move.values.iter().flatten().for_each(|&(value, image)| add(value, image));
                        } else {
                            let values = &possible(slot_move.from).values;
                            values.iter().for_each(|&value| add(value, slot_move.value(value)));
                        }
                    }
                }
            }
            SparsePermutation::from_moves(moves).expect("a symmetry permutes the points")
        });
        let generators: Vec<SparsePermutation> = generators.filter(|generator| !generator.is_identity()).collect();
        view.action = Action::new(view.origins.len(), generators);
        view
    }

    /// The part of the view that a factor of the group acts on, given by its points.
    pub(crate) fn restricted(&self, points: &[Point], action: Action) -> Self {
        let mut name = vec![NONE; self.origins.len()];
        for (new, &point) in points.iter().enumerate() {
            name[point as usize] = new as Point;
        }
        let mut view = Self {
            fields: Vec::new(),
            contents: Vec::new(),
            origins: vec![(0, 0); points.len()],
            action,
            literals: points.iter().map(|&point| self.literals[point as usize].clone()).collect(),
        };
        for (field, content) in self.fields.iter().zip(&self.contents) {
            let content = match content {
                Content::Plain(point) => Content::Plain(name[*point as usize]),
                Content::Lettered(points) => Content::Lettered(
                    points.iter().map(|&point| if point == NONE { NONE } else { name[point as usize] }).collect(),
                ),
            };
            if !content.points().any(|_| true) {
                continue;
            }
            let number = view.fields.len() as u32;
            match &content {
                Content::Plain(point) => view.origins[*point as usize] = (number, 0),
                Content::Lettered(points) => {
                    for (code, &point) in points.iter().enumerate().filter(|&(_, &point)| point != NONE) {
                        view.origins[point as usize] = (number, code as u64);
                    }
                }
            }
            view.fields.push(field.clone());
            view.contents.push(content);
        }
        view
    }

    /// The field of a point.
    pub(crate) fn field_of(&self, point: Point) -> usize {
        self.origins[point as usize].0 as usize
    }

    /// Whether the group fixes a field.
    pub(crate) fn is_fixed(&self, field: usize) -> bool {
        self.action
            .generators()
            .iter()
            .all(|generator| self.contents[field].points().all(|point| self.field_of(generator.image(point)) == field))
    }

    /// Reads the codes of the fields.
    #[inline]
    pub(crate) fn read(&self, state: &[u64], codes: &mut Vec<u64>) {
        codes.clear();
        codes.extend(self.fields.iter().map(|field| field.read(state)));
    }

    /// Writes the codes of the fields.
    #[inline]
    pub(crate) fn write(&self, codes: &[u64], state: &mut [u64]) {
        for (field, &code) in self.fields.iter().zip(codes) {
            field.write(state, code);
        }
    }

    /// A permutation of points as one of literals.
    pub(crate) fn to_literals(&self, permutation: &SparsePermutation) -> SparsePermutation {
        let moves = permutation
            .moves()
            .flat_map(|(from, to)| {
                self.literals[from as usize].iter().copied().zip(self.literals[to as usize].iter().copied())
            })
            .collect();
        SparsePermutation::from_moves(moves).expect("points go to points with as many literals")
    }
}
