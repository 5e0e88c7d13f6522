//! Text output of states: cells by their source names, multisets by their elements, and the changes between states.

use quotient_ir::{Layout, Model, Notation, PartKind, SlotId, TableIndex, TypeId, TypeKind, Valuation, queue_text};

use crate::names::{scalar_text, value_text};

/// A larger array takes one line if all its cells are equal.
const LISTED_CELLS: u64 = 8;

/// How the states of a model are shown.
pub struct StateShape<'m> {
    model: &'m Model,
    layout: &'m Layout,
    pieces: Vec<ShownPiece<'m>>,
    /// Large arrays of (arrays of …) one scalar type, an outer one before those in it.
    arrays: Vec<ScalarArray>,
}

/// An array of (arrays of …) one scalar type.
struct ScalarArray {
    /// Its name in source terms.
    name: String,
    /// The position of its first cell.
    first: usize,
    /// The number of its cells.
    cells: usize,
    /// The type of its cells.
    ty: TypeId,
}

impl ScalarArray {
    fn is_uniform(&self, state: &Valuation) -> bool {
        let cells = &state.0[self.first..self.first + self.cells];
        cells.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// A part of the state, and the condition under which it exists.
struct ShownPiece<'m> {
    /// The cell that is zero if the part does not exist; none if it always exists.
    presence: Option<usize>,
    /// The cell that records the stage of a run, and its least value for which the part has a value.
    since: Option<(usize, i64)>,
    piece: Piece<'m>,
}

impl ShownPiece<'_> {
    fn is_there(&self, state: &Valuation) -> bool {
        self.presence.is_none_or(|cell| state.0[cell] != Some(0))
            && self.since.is_none_or(|(cell, least)| state.0[cell].is_some_and(|stage| stage >= least))
    }
}

/// A part of the state that is shown as a unit.
enum Piece<'m> {
    /// A scalar cell.
    Cell {
        /// Its name in source terms.
        name: String,
        /// Which cell.
        slot: SlotId,
    },
    /// A queue, shown with its messages.
    Queue {
        /// Its name in source terms.
        name: String,
        /// The position of its first cell.
        first: usize,
        /// The number of its cells.
        cells: usize,
        /// Its type.
        ty: TypeId,
    },
    /// The control point of a process.
    Position {
        /// The process.
        name: &'m str,
        /// The cell with the control point.
        slot: SlotId,
        /// What the values of the cell mean.
        texts: &'m [String],
    },
    /// The possible positions of an observer.
    Places {
        /// Its name.
        name: &'m str,
        /// The position of its first cell.
        first: usize,
        /// The number of its cells: one for a number.
        cells: usize,
        /// A text for each position.
        texts: &'m [String],
    },
    /// A value with a notation of its own.
    Value {
        /// Its name in source terms.
        name: String,
        /// The position of its first cell.
        first: usize,
        /// The number of its cells.
        cells: usize,
        /// Its type.
        ty: TypeId,
        /// Its notation.
        notation: &'m Notation,
    },
    /// A multiset: its positions are meaningless, its elements are shown.
    Multiset {
        /// Its name in source terms.
        name: String,
        /// The position of its first cell.
        first: usize,
        /// The maximum number of elements.
        capacity: usize,
        /// The type of the elements.
        element: TypeId,
        /// The number of cells of an element, not counting its presence.
        cells: usize,
    },
}

/// The parts of the state that are worth showing, in the order of a [`StateShape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying(Vec<bool>);

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in source terms.
    pub name: String,
    /// The value in source notation.
    pub value: String,
}

/// A change to a part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A cell has another value.
    Value {
        /// Its name.
        name: String,
        /// The old value.
        before: String,
        /// The new value.
        after: String,
    },
    /// A part is new or has a new value.
    Became {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// An observer has moved.
    Moved {
        /// Its name.
        name: String,
        /// Its possible positions.
        places: String,
    },
    /// There is a new process.
    Started {
        /// Its name.
        name: String,
    },
    /// A multiset has a new element.
    Added {
        /// The multiset's name.
        name: String,
        /// The element.
        element: String,
    },
    /// A multiset has lost an element.
    Removed {
        /// The multiset's name.
        name: String,
        /// The element.
        element: String,
    },
}

impl<'m> StateShape<'m> {
    /// Determines how the states of a model are shown.
    pub fn new(model: &'m Model, layout: &'m Layout) -> Self {
        let mut shape = Self { model, layout, pieces: Vec::new(), arrays: Vec::new() };
        if let Some(presentation) = &model.presentation {
            for part in &presentation.parts {
                let presence = part.presence_slot(layout);
                let (mut first, ty) = (part.first_slot(layout), part.ty);
                let piece = match &part.kind {
                    PartKind::Value => {
                        shape.collect(&part.name, ty, &mut first, presence);
                        continue;
                    }
                    PartKind::Queue => {
                        let cells = usize::try_from(model.cells(ty)).expect("the layout has room for every cell");
                        Piece::Queue { name: part.name.clone(), first, cells, ty }
                    }
                    PartKind::Position(texts) => {
                        Piece::Position { name: &part.name, slot: SlotId::from_position(first), texts }
                    }
                    PartKind::Places(texts) => {
                        let cells = usize::try_from(model.cells(ty)).expect("the layout has room for every cell");
                        Piece::Places { name: &part.name, first, cells, texts }
                    }
                };
                shape.pieces.push(ShownPiece { presence, since: None, piece });
            }
            return shape;
        }
        let stages = model.operations.as_ref().and_then(|operations| operations.stages.as_ref());
        for (variable, entry) in model.variables.iter_enumerated() {
            if stages.is_some_and(|stages| stages.variable == variable) {
                continue;
            }
            let known = shape.pieces.len();
            let mut next = layout.first_slot(variable).position();
            if let Some((_, notation)) = model.notations.iter().find(|(it, _)| *it == variable) {
                let cells = usize::try_from(model.cells(entry.ty)).expect("the layout has room for every cell");
                let name = entry.name.clone();
                let piece = Piece::Value { name, first: next, cells, ty: entry.ty, notation };
                shape.pieces.push(ShownPiece { presence: None, since: None, piece });
            } else {
                shape.collect(&entry.name, entry.ty, &mut next, None);
            }
            if let Some(stages) = stages {
                let since = stages.since.iter().find(|(it, _)| *it == variable);
                let cell = layout.first_slot(stages.variable).position();
                let since = since.map(|(_, least)| (cell, *least));
                shape.pieces[known..].iter_mut().for_each(|piece| piece.since = since);
            }
        }
        shape
    }

    /// The layout of the states.
    pub fn layout(&self) -> &'m Layout {
        self.layout
    }

    /// Everything in a state, with large arrays of equal cells on one line.
    pub fn summary(&self, state: &Valuation) -> Vec<Entry> {
        if self.model.presentation.is_some() {
            return self.telling_entries(state);
        }
        let mut entries = Vec::new();
        let mut pieces = self.pieces.iter().peekable();
        let mut uniform = self.arrays.iter().filter(|array| array.is_uniform(state)).peekable();
        while let Some(piece) = pieces.peek() {
            while uniform.next_if(|array| array.first < piece.piece.first()).is_some() {}
            match uniform.next_if(|array| array.first == piece.piece.first()) {
                Some(array) => {
                    let value = scalar_text(self.model, array.ty, state.0[array.first]);
                    entries.push(Entry { name: array.name.clone(), value: format!("all {value}") });
                    while pieces.next_if(|piece| piece.piece.first() < array.first + array.cells).is_some() {}
                }
                None => self.add_entries(pieces.next().expect("a piece was seen"), state, &mut entries),
            }
        }
        entries
    }

    /// The nonzero entries of a state.
    fn telling_entries(&self, state: &Valuation) -> Vec<Entry> {
        let mut entries = Vec::new();
        let (mut zeros, mut empty) = (false, false);
        for shown in self.pieces.iter().filter(|shown| shown.is_there(state)) {
            if shown.piece.cells(state).iter().any(|&cell| cell != Some(0)) {
                self.add_entries(shown, state, &mut entries);
            } else {
                zeros |= !matches!(shown.piece, Piece::Queue { .. });
                empty |= matches!(shown.piece, Piece::Queue { .. });
            }
        }
        let value = match (zeros, empty) {
            (true, true) => "0, or empty",
            (true, false) => "0",
            (false, true) => "empty",
            (false, false) => return entries,
        };
        entries.push(Entry { name: "everything else".into(), value: value.into() });
        entries
    }

    /// All entries of a state.
    pub fn entries(&self, state: &Valuation) -> Vec<Entry> {
        let mut entries = Vec::new();
        for shown in &self.pieces {
            self.add_entries(shown, state, &mut entries);
        }
        entries
    }

    /// All entries of a state that have a value.
    pub fn defined_entries(&self, state: &Valuation) -> Vec<Entry> {
        let mut entries = Vec::new();
        for shown in self.pieces.iter().filter(|shown| shown.piece.cells(state).iter().any(Option::is_some)) {
            self.add_entries(shown, state, &mut entries);
        }
        entries
    }

    /// The control points of the processes of a state.
    pub fn positions(&self, state: &Valuation) -> Vec<Entry> {
        let mut entries = Vec::new();
        for shown in self.pieces.iter().filter(|shown| matches!(shown.piece, Piece::Position { .. })) {
            self.add_entries(shown, state, &mut entries);
        }
        entries
    }

    /// The parts that differ among states.
    pub fn varying(&self, states: &[Valuation]) -> Varying {
        let differs = |shown: &ShownPiece<'_>, one: &Valuation, other: &Valuation| {
            shown.piece.cells(one) != shown.piece.cells(other) || shown.is_there(one) != shown.is_there(other)
        };
        let varies = |shown: &ShownPiece<'_>| states.windows(2).any(|pair| differs(shown, &pair[0], &pair[1]));
        Varying(self.pieces.iter().map(varies).collect())
    }

    /// The parts that belong to these variables or, if none are chosen, those of [`StateShape::varying`].
    ///
    /// # Errors
    /// The first name that is not a variable.
    pub fn chosen(&self, names: &[String], states: &[Valuation]) -> Result<Varying, String> {
        if names.is_empty() {
            return Ok(self.varying(states));
        }
        let belongs = |shown: &ShownPiece<'_>, name: &str| {
            let rest = shown.piece.name().strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.', ' ', ':']))
        };
        if let Some(unknown) = names.iter().find(|name| !self.pieces.iter().any(|shown| belongs(shown, name))) {
            return Err(unknown.clone());
        }
        Ok(Varying(self.pieces.iter().map(|shown| names.iter().any(|name| belongs(shown, name))).collect()))
    }

    /// Some of the parts of a state.
    pub fn entries_of(&self, parts: &Varying, state: &Valuation) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (shown, _) in self.pieces.iter().zip(&parts.0).filter(|&(_, &is_wanted)| is_wanted) {
            self.add_entries(shown, state, &mut entries);
        }
        entries
    }

    fn add_entries(&self, shown: &ShownPiece<'_>, state: &Valuation, entries: &mut Vec<Entry>) {
        if !shown.is_there(state) {
            return;
        }
        let piece = &shown.piece;
        match piece {
            Piece::Queue { name, .. } => {
                entries.push(Entry { name: name.clone(), value: self.notated(piece, state) });
            }
            Piece::Position { name, .. } | Piece::Places { name, .. } => {
                entries.push(Entry { name: (*name).to_owned(), value: self.notated(piece, state) });
            }
            Piece::Value { name, .. } => {
                entries.push(Entry { name: name.clone(), value: self.notated(piece, state) });
            }
            Piece::Cell { name, slot } => {
                let value = self.cell_text(*slot, state[*slot]);
                // A channel held by its own variable carries no information.
                if self.model.presentation.is_none() || value != *name {
                    entries.push(Entry { name: name.clone(), value });
                }
            }
            Piece::Multiset { name, element, .. } => {
                let elements = piece.elements(state);
                if elements.is_empty() {
                    entries.push(Entry { name: name.clone(), value: "empty".into() });
                }
                entries.extend(elements.into_iter().map(|cells| Entry {
                    name: name.clone(),
                    value: value_text(self.model, *element, &mut cells.iter().copied()),
                }));
            }
        }
    }

    /// The differences in the second state.
    pub fn changes(&self, before: &Valuation, after: &Valuation) -> Vec<Change> {
        let mut changes = Vec::new();
        for shown in &self.pieces {
            let piece = &shown.piece;
            if !shown.is_there(after) {
                continue;
            }
            let is_new = !shown.is_there(before);
            if is_new && shown.since.is_some() {
                let mut entries = Vec::new();
                self.add_entries(shown, after, &mut entries);
                changes.extend(entries.into_iter().map(|Entry { name, value }| Change::Became { name, value }));
                continue;
            }
            match piece {
                Piece::Position { name, .. } => {
                    if is_new {
                        changes.push(Change::Started { name: (*name).to_owned() });
                    }
                }
                Piece::Places { name, .. } => {
                    if piece.cells(before) != piece.cells(after) {
                        changes.push(Change::Moved { name: (*name).to_owned(), places: self.notated(piece, after) });
                    }
                }
                Piece::Queue { name, .. } => {
                    if piece.cells(before) != piece.cells(after) {
                        changes.push(Change::Became { name: name.clone(), value: self.notated(piece, after) });
                    }
                }
                Piece::Cell { name, slot } if is_new => {
                    if after[*slot] != Some(0) {
                        let value = self.cell_text(*slot, after[*slot]);
                        changes.push(Change::Became { name: name.clone(), value });
                    }
                }
                Piece::Value { name, .. } => {
                    let (old, new) = (self.notated(piece, before), self.notated(piece, after));
                    if old != new {
                        changes.push(Change::Value { name: name.clone(), before: old, after: new });
                    }
                }
                Piece::Cell { name, slot } => {
                    if before[*slot] != after[*slot] {
                        changes.push(Change::Value {
                            name: name.clone(),
                            before: self.cell_text(*slot, before[*slot]),
                            after: self.cell_text(*slot, after[*slot]),
                        });
                    }
                }
                Piece::Multiset { name, element, .. } => {
                    let (old, new) = (piece.elements(before), piece.elements(after));
                    let text = |cells: &[Option<i64>]| value_text(self.model, *element, &mut cells.iter().copied());
                    for cells in difference(&old, &new) {
                        changes.push(Change::Removed { name: name.clone(), element: text(cells) });
                    }
                    for cells in difference(&new, &old) {
                        changes.push(Change::Added { name: name.clone(), element: text(cells) });
                    }
                }
            }
        }
        changes
    }

    /// Walks a type in the order of the layout, which has bounded its nesting and its cells.
    fn collect(&mut self, name: &str, ty: TypeId, next: &mut usize, presence: Option<usize>) {
        let model = self.model;
        let fits = "the layout has room for every cell";
        match &model.types[ty].kind {
            TypeKind::Array { index, element } => {
                let cells = model.cells(ty);
                if let Some(scalar) = only_scalar(model, ty).filter(|_| cells > LISTED_CELLS) {
                    let cells = usize::try_from(cells).expect(fits);
                    self.arrays.push(ScalarArray { name: name.to_owned(), first: *next, cells, ty: scalar });
                }
                for value in model.domain(*index).values() {
                    let name = format!("{name}[{}]", model.value_name(*index, value));
                    self.collect(&name, *element, next, presence);
                }
            }
            TypeKind::Record { fields } => {
                for field in fields {
                    self.collect(&format!("{name}.{}", field.name), field.ty, next, presence);
                }
            }
            TypeKind::Multiset { capacity, element } => {
                let cells = usize::try_from(model.cells(*element)).expect(fits);
                let capacity = usize::try_from(*capacity).expect(fits);
                let (name, first) = (name.to_owned(), *next);
                let piece = Piece::Multiset { name, first, capacity, element: *element, cells };
                self.pieces.push(ShownPiece { presence, since: None, piece });
                *next += capacity * (cells + 1);
            }
            _ => {
                let piece = Piece::Cell { name: name.to_owned(), slot: SlotId::from_position(*next) };
                self.pieces.push(ShownPiece { presence, since: None, piece });
                *next += 1;
            }
        }
    }

    /// A value in its own notation.
    fn notated(&self, piece: &Piece<'_>, state: &Valuation) -> String {
        match piece {
            Piece::Value { ty, notation, .. } => {
                notation.text(self.model, *ty, &mut piece.cells(state).iter().copied())
            }
            Piece::Queue { ty, .. } => queue_text(self.model, *ty, piece.cells(state)),
            Piece::Position { slot, texts, .. } => {
                let text = state[*slot].and_then(|value| texts.get(usize::try_from(value).ok()?));
                text.cloned().unwrap_or_default()
            }
            Piece::Places { texts, cells: 1, .. } => {
                let place = piece.cells(state)[0].and_then(|place| texts.get(usize::try_from(place).ok()?));
                place.cloned().unwrap_or_default()
            }
            Piece::Places { texts, .. } => {
                let there = piece.cells(state).iter().zip(*texts).filter(|(cell, _)| **cell == Some(1));
                let there: Vec<&str> = there.map(|(_, text)| text.as_str()).collect();
                if there.is_empty() { "nowhere: it cannot go on".to_owned() } else { there.join(" or ") }
            }
            _ => String::new(),
        }
    }

    fn cell_text(&self, slot: SlotId, value: Option<i64>) -> String {
        scalar_text(self.model, self.layout.slots[slot].ty, value)
    }
}

impl Piece<'_> {
    /// Its name in source terms.
    fn name(&self) -> &str {
        match self {
            Self::Cell { name, .. } | Self::Queue { name, .. } | Self::Value { name, .. } => name,
            Self::Multiset { name, .. } => name,
            Self::Position { name, .. } | Self::Places { name, .. } => name,
        }
    }
    /// The position of its first cell.
    fn first(&self) -> usize {
        match *self {
            Self::Cell { slot, .. } | Self::Position { slot, .. } => slot.position(),
            Self::Multiset { first, .. } | Self::Value { first, .. } => first,
            Self::Queue { first, .. } | Self::Places { first, .. } => first,
        }
    }
    /// All its cells.
    fn cells<'s>(&self, state: &'s Valuation) -> &'s [Option<i64>] {
        match *self {
            Self::Cell { slot, .. } | Self::Position { slot, .. } => &state.0[slot.position()..=slot.position()],
            Self::Value { first, cells, .. } | Self::Queue { first, cells, .. } => &state.0[first..first + cells],
            Self::Places { first, cells, .. } => &state.0[first..first + cells],
            Self::Multiset { first, capacity, cells, .. } => &state.0[first..first + capacity * (cells + 1)],
        }
    }
    /// The cells of the present elements; nothing for a single cell.
    fn elements<'s>(&self, state: &'s Valuation) -> Vec<&'s [Option<i64>]> {
        match *self {
            Self::Multiset { first, capacity, cells, .. } => {
                let positions = state.0[first..].chunks(cells + 1).take(capacity);
                positions.filter(|position| position[0] == Some(1)).map(|position| &position[1..]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The elements of one list that remain when those of the other are removed, with multiplicity.
fn difference<'s>(from: &[&'s [Option<i64>]], without: &[&[Option<i64>]]) -> Vec<&'s [Option<i64>]> {
    let mut remaining = without.to_vec();
    let is_left = |element: &&&[Option<i64>]| match remaining.iter().position(|other| other == *element) {
        Some(position) => {
            remaining.swap_remove(position);
            false
        }
        None => true,
    };
    from.iter().filter(is_left).copied().collect()
}

/// The scalar type at the bottom of arrays of arrays, if there is nothing else in them.
fn only_scalar(model: &Model, mut ty: TypeId) -> Option<TypeId> {
    loop {
        match &model.types[ty].kind {
            TypeKind::Array { element, .. } => ty = *element,
            TypeKind::Record { .. } | TypeKind::Multiset { .. } => return None,
            _ => return Some(ty),
        }
    }
}
