//! What a state says about each of some objects, as numbers: keys that are read from a packed state, rearranged, and
//! written back.
//!
//! The key of an object consists of its own fields and, for each field that can hold one of the objects, whether it
//! holds this one. Objects with equal keys are indistinguishable, and the sequence of keys is the whole state, as far
//! as the group is concerned.

use std::ops::{BitAnd, BitOr, BitOrAssign, BitXor, Shl, Shr};

use crate::points::{Content, Field, NONE, View};

/// The number of objects that insertion sorts fastest.
pub(crate) const FEW: usize = 32;

/// A number wide enough for a key.
pub(crate) trait Key:
    Copy
    + Ord
    + Default
    + BitOr<Output = Self>
    + BitOrAssign
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    const BITS: u32;
    fn of(number: u64) -> Self;
    /// As many low bits as fit.
    fn cut(bits: u128) -> Self;
    fn low(self) -> u64;
    /// The number of the lowest bit that is set.
    fn first_bit(self) -> u32;
}

impl Key for u64 {
    const BITS: u32 = 64;
    #[inline]
    fn cut(bits: u128) -> Self {
        bits as u64
    }
    #[inline]
    fn of(number: u64) -> Self {
        number
    }
    #[inline]
    fn low(self) -> u64 {
        self
    }
    #[inline]
    fn first_bit(self) -> u32 {
        self.trailing_zeros()
    }
}

impl Key for u128 {
    const BITS: u32 = 128;
    #[inline]
    fn cut(bits: u128) -> Self {
        bits
    }
    #[inline]
    fn of(number: u64) -> Self {
        u128::from(number)
    }
    #[inline]
    fn low(self) -> u64 {
        self as u64
    }
    #[inline]
    fn first_bit(self) -> u32 {
        self.trailing_zeros()
    }
}

/// The location of the keys of some objects in a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyPlan {
    /// The number of objects.
    pub(crate) count: usize,
    /// The number of bits of a key.
    pub(crate) width: u32,
    runs: Vec<Run>,
    letters: Vec<Letters>,
    classes: Vec<Classes>,
    holders: Vec<Holder>,
    /// The key bits which say that no field holds the object.
    unheld: u128,
    /// The key bits of holders.
    held_mask: u128,
    /// For each of the lowest key bits, the holder it belongs to.
    holder_of: Vec<u16>,
}

/// Adjacent bits of all objects that are used unchanged.
#[derive(Clone, Debug)]
struct Run {
    /// The position in the key.
    position: u32,
    width: u32,
    mask: u64,
    bands: Vec<Band>,
    /// The word and the first bit of each object.
    places: Box<[(u32, u32)]>,
}

/// Consecutive objects in one word, at equal distances.
#[derive(Clone, Copy, Debug)]
struct Band {
    word: u32,
    /// The first object, and the number of objects.
    object: u32,
    count: u32,
    /// The first bit, and the distance.
    first: u32,
    stride: u32,
    /// All bits of these objects.
    mask: u64,
}

impl Band {
    /// The bands of objects at the given words and bits.
    fn of(places: &[(u32, u32)], mask: u64) -> Vec<Self> {
        let mut bands: Vec<Self> = Vec::new();
        for (object, &(word, bit)) in (0..).zip(places) {
            if let Some(last) = bands.last_mut()
                && last.word == word
                && bit > last.first
                && (last.count == 1 || bit == last.first + last.count * last.stride)
            {
                if last.count == 1 {
                    last.stride = bit - last.first;
                }
                last.count += 1;
                last.mask |= mask << bit;
            } else {
                bands.push(Self { word, object, count: 1, first: bit, stride: 0, mask: mask << bit });
            }
        }
        bands
    }
}

/// A field of each object whose codes have different meanings in different objects, or that cannot be moved as bits.
#[derive(Clone, Debug)]
struct Letters {
    position: u32,
    mask: u64,
    fields: Box<[Field]>,
    /// For each object, the tables from code to letter and back; the code itself if there is none.
    tables: Option<Box<[Alphabet]>>,
}

/// A field of each object of which the key tells only a part: which of several classes its code belongs to.
#[derive(Clone, Debug)]
struct Classes {
    position: u32,
    mask: u64,
    fields: Box<[ClassField]>,
}

/// A field that can hold objects of the same kind, for example.
#[derive(Clone, Debug)]
pub(crate) struct ClassField {
    pub(crate) field: Field,
    /// The class of each code.
    pub(crate) class_of: Box<[u64]>,
    /// The code of each class that has a single one.
    pub(crate) code_of: Box<[Option<u64>]>,
}

#[derive(Clone, Debug)]
struct Alphabet {
    letter_of: Box<[u64]>,
    code_of: Box<[u64]>,
}

/// A field that can hold one of the objects.
#[derive(Clone, Debug)]
struct Holder {
    position: u32,
    field: Field,
    /// For each code the object, if it is one, and the letter: fields can hold objects in several ways.
    things: Box<[Option<(u32, u64)>]>,
    /// For each code the object whose key changes, and the bits of the key that change; without an object, no bits of the
    /// first one.
    flips: Box<[(u32, u128)]>,
    /// For each letter and object, the code.
    codes: Box<[Box<[u64]>]>,
    /// The letter which says that the field does not hold the object.
    none: u64,
}

/// The fields of objects, or the reason why there is no plan.
#[derive(Default)]
struct Roles {
    /// For each role of plain fields, the field of each object.
    plain: Vec<(usize, Vec<Option<usize>>)>,
    lettered: Vec<(usize, Vec<Option<usize>>)>,
    holders: Vec<usize>,
}

fn bits_for(values: u64) -> u32 {
    u64::BITS - values.saturating_sub(1).leading_zeros()
}

impl KeyPlan {
    /// The plan for objects, given the object and orbit of each point of the view, if it belongs to one. `None` if the
    /// values of a field belong to different objects although the field moves. Without holders, fields that hold
    /// objects are ignored.
    pub(crate) fn new(
        view: &View,
        count: usize,
        place: impl Fn(u32) -> Option<usize>,
        orbit: impl Fn(u32) -> usize,
        with_holders: bool,
    ) -> Option<Self> {
        let mut roles = Roles::default();
        let add = |roles: &mut Vec<(usize, Vec<Option<usize>>)>, role: usize, thing: usize, field: usize| {
            let index = roles.iter().position(|(other, _)| *other == role).unwrap_or_else(|| {
                roles.push((role, vec![None; count]));
                roles.len() - 1
            });
            roles[index].1[thing] = Some(field);
        };
        for (field, content) in view.contents.iter().enumerate() {
            match content {
                Content::Plain(point) => {
                    if let Some(thing) = place(*point) {
                        add(&mut roles.plain, orbit(*point), thing, field);
                    }
                }
                Content::Lettered(_) => {
                    let placed: Vec<(u32, usize)> =
                        content.points().filter_map(|point| Some((point, place(point)?))).collect();
                    let Some(&(first, thing)) = placed.first() else { continue };
                    if view.is_fixed(field) {
                        if with_holders {
                            roles.holders.push(field);
                        }
                        continue;
                    }
                    if placed.len() != content.points().count() || placed.iter().any(|&(_, other)| other != thing) {
                        if with_holders {
                            return None;
                        }
                        // What an object says about others is ignored as well.
                        continue;
                    }
                    let role = placed.iter().map(|&(point, _)| orbit(point)).min().unwrap_or(orbit(first));
                    add(&mut roles.lettered, role, thing, field);
                }
            }
        }
        let mut plan = Self { count, ..Self::default() };
        plan.lay_out(view, roles, &place, &orbit)?;
        Some(plan)
    }

    /// Assigns bits to each role: own fields at the top, holders at the bottom, the first holder highest.
    fn lay_out(
        &mut self,
        view: &View,
        mut roles: Roles,
        place: &impl Fn(u32) -> Option<usize>,
        orbit: &impl Fn(u32) -> usize,
    ) -> Option<()> {
        // Built from the lowest bits up, so the last comes first.
        for &field in roles.holders.iter().rev() {
            let Content::Lettered(points) = &view.contents[field] else { return None };
            let mut orbits: Vec<usize> = points
                .iter()
                .filter(|&&point| point != NONE && place(point).is_some())
                .map(|&point| orbit(point))
                .collect();
            orbits.sort_unstable();
            orbits.dedup();
            let none = orbits.len() as u64;
            let mut things = vec![None; points.len()];
            let mut codes = vec![vec![0; self.count].into_boxed_slice(); orbits.len()];
            for (code, &point) in points.iter().enumerate() {
                if point == NONE {
                    continue;
                }
                let Some(thing) = place(point) else { continue };
                let letter = orbits.binary_search(&orbit(point)).ok()?;
                things[code] = Some((thing as u32, letter as u64));
                codes[letter][thing] = code as u64;
            }
            let width = bits_for(none + 1);
            if self.width + width <= 128 {
                self.unheld |= u128::from(none) << self.width;
                self.held_mask |= u128::from(u64::MAX >> (64 - width)) << self.width;
                self.holder_of.resize((self.width + width) as usize, self.holders.len() as u16);
            }
            let flip = |thing: &Option<(u32, u64)>| match thing {
                // The key says "none" so far.
                Some((thing, letter)) if self.width < 128 => (*thing, u128::from(none ^ letter) << self.width),
                _ => (0, 0),
            };
            self.holders.push(Holder {
                position: self.width,
                field: view.fields[field].clone(),
                flips: things.iter().map(flip).collect(),
                things: things.into(),
                codes: codes.into(),
                none,
            });
            self.width += width;
        }
        // Codes that mean the same in all objects are moved unchanged.
        let (same, different): (Vec<_>, Vec<_>) =
            roles.lettered.drain(..).partition(|(_, fields)| has_same_codes(view, fields, orbit));
        roles.plain.extend(same);
        for (_, fields) in different.into_iter().rev() {
            let fields: Vec<usize> = fields.into_iter().collect::<Option<_>>()?;
            let mut letters: Vec<usize> = view.contents[fields[0]].points().map(orbit).collect();
            letters.sort_unstable();
            let mut tables = Vec::new();
            for &field in &fields {
                let Content::Lettered(points) = &view.contents[field] else { return None };
                let mut alphabet =
                    Alphabet { letter_of: vec![0; points.len()].into(), code_of: vec![0; letters.len()].into() };
                for (code, &point) in points.iter().enumerate().filter(|&(_, &point)| point != NONE) {
                    let letter = letters.binary_search(&orbit(point)).ok()?;
                    alphabet.letter_of[code] = letter as u64;
                    alphabet.code_of[letter] = code as u64;
                }
                tables.push(alphabet);
            }
            let width = bits_for(letters.len() as u64);
            self.letters.push(Letters {
                position: self.width,
                mask: u64::MAX >> (64 - width.max(1)),
                fields: fields.iter().map(|&field| view.fields[field].clone()).collect(),
                tables: Some(tables.into()),
            });
            self.width += width;
        }
        let mut places: Vec<Vec<(u32, u32)>> = Vec::new();
        // In the order of the state, so that neighbours there are neighbours in the key.
        roles
            .plain
            .sort_by_key(|(_, fields)| fields[0].map(|field| (view.fields[field].word, view.fields[field].shift)));
        for (_, fields) in roles.plain.drain(..) {
            let fields: Vec<&Field> =
                fields.into_iter().map(|field| Some(&view.fields[field?])).collect::<Option<_>>()?;
            let is_direct = fields.iter().all(|field| field.is_direct());
            let width = fields[0].width;
            // Fields of different widths have the same codes, but are not the same bits.
            if !is_direct || fields.iter().any(|field| field.width != width) {
                let widest = fields.iter().map(|field| field.width).max().unwrap_or(0);
                let width = if is_direct { widest.max(1) } else { 64 };
                self.letters.push(Letters {
                    position: self.width,
                    mask: u64::MAX >> (64 - width),
                    fields: fields.iter().map(|&field| field.clone()).collect(),
                    tables: None,
                });
                self.width += width;
                continue;
            }
            let at: Vec<(u32, u32)> = fields.iter().map(|field| (field.word, field.shift)).collect();
            // Bits that follow the last run in the state extend it, if the key still has room.
            if let Some(Run { position, width: run_width, mask, .. }) = self.runs.last_mut()
                && *position + *run_width == self.width
                && *run_width + width <= 64
                && places[places.len() - 1]
                    .iter()
                    .zip(&at)
                    .all(|(&(word, shift), &(other, above))| word == other && shift + *run_width == above)
            {
                *run_width += width;
                *mask = u64::MAX >> (64 - *run_width);
            } else {
                let mask = u64::MAX >> (64 - width);
                let (bands, no_places) = (Vec::new(), Box::default());
                self.runs.push(Run { position: self.width, width, mask, bands, places: no_places });
                places.push(at);
            }
            self.width += width;
        }
        for (run, places) in self.runs.iter_mut().zip(places) {
            run.bands = Band::of(&places, run.mask);
            run.places = places.into();
        }
        Some(())
    }

    /// Adds what is known about a field of each object to the keys, if they have room for it.
    pub(crate) fn add_classes(&mut self, fields: Vec<ClassField>) -> bool {
        let width = bits_for(fields[0].code_of.len() as u64);
        if self.width + width > 128 {
            return false;
        }
        let mask = u64::MAX >> (64 - width.max(1));
        self.classes.push(Classes { position: self.width, mask, fields: fields.into() });
        self.width += width;
        true
    }

    /// Whether some fields can hold objects.
    pub(crate) fn has_holders(&self) -> bool {
        !self.holders.is_empty()
    }

    /// Whether a key consists only of own fields that are moved unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        self.holders.is_empty() && self.letters.is_empty()
    }

    /// The runs as word, first bit, distance and width, if all of them lie in one word at equal distances.
    pub(crate) fn strided_runs(&self) -> Option<Vec<(u32, u32, u32, u32)>> {
        let strided = |run: &Run| match run.bands[..] {
            [Band { word, first, stride, .. }] => Some((word, first, stride, run.width)),
            _ => None,
        };
        self.is_plain().then(|| self.runs.iter().rev().map(strided).collect()).flatten()
    }

    /// Reads the keys. `K` must be wide enough.
    #[inline]
    pub(crate) fn load<K: Key>(&self, state: &[u64], keys: &mut [K]) {
        keys.fill(K::cut(self.unheld));
        for run in &self.runs {
            for band in &run.bands {
                let mut bits = state[band.word as usize] >> band.first;
                for key in &mut keys[band.object as usize..][..band.count as usize] {
                    *key |= K::of(bits & run.mask) << run.position;
                    bits >>= band.stride;
                }
            }
        }
        for letters in &self.letters {
            for (object, key) in keys.iter_mut().enumerate() {
                *key |= K::of(letters.letter(object, state)) << letters.position;
            }
        }
        for classes in &self.classes {
            for (object, key) in keys.iter_mut().enumerate() {
                *key |= K::of(classes.class(object, state)) << classes.position;
            }
        }
        for holder in &self.holders {
            // Without a branch: whether a variable holds an object is hard to predict.
            let code = holder.field.read(state) as usize;
            let (thing, flip) = holder.flips.get(code).copied().unwrap_or((0, 0));
            let key = &mut keys[thing as usize];
            *key = *key ^ K::cut(flip);
        }
    }

    /// The bits of each object: object, word and bits.
    pub(crate) fn own_bits(&self) -> Vec<(usize, usize, u64)> {
        let mut list = Vec::new();
        for run in &self.runs {
            let places = run.places.iter().enumerate();
            list.extend(places.map(|(object, &(word, shift))| (object, word as usize, run.mask << shift)));
        }
        let bits = |(object, field): (usize, &Field)| (object, field.word as usize, field.mask << field.shift);
        for letters in &self.letters {
            list.extend(letters.fields.iter().enumerate().map(bits));
        }
        for classes in &self.classes {
            list.extend(classes.fields.iter().map(|entry| &entry.field).enumerate().map(bits));
        }
        list
    }

    /// The bits of variables that can hold objects: word and bits.
    pub(crate) fn holder_bits(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.holders.iter().map(|Holder { field, .. }| (field.word as usize, field.mask << field.shift))
    }

    /// Reads the own bits of an object again; what holds it stays.
    #[inline]
    pub(crate) fn reload(&self, object: usize, state: &[u64], key: &mut u64) {
        let mut own = 0;
        for run in &self.runs {
            let (word, shift) = run.places[object];
            own |= (state[word as usize] >> shift & run.mask) << run.position;
        }
        for letters in &self.letters {
            own |= letters.letter(object, state) << letters.position;
        }
        for classes in &self.classes {
            own |= classes.class(object, state) << classes.position;
        }
        *key = *key & self.held_mask as u64 | own;
    }

    /// Changes the keys of objects that are held by other variables than before.
    pub(crate) fn update_held(&self, before: &[u64], state: &[u64], keys: &mut [u64]) {
        for holder in &self.holders {
            for state in [before, state] {
                let code = holder.field.read(state) as usize;
                let (thing, flip) = holder.flips.get(code).copied().unwrap_or((0, 0));
                keys[thing as usize] ^= flip as u64;
            }
        }
    }

    /// Writes the keys of the places from `first` to `last`.
    #[inline]
    pub(crate) fn shift(&self, first: usize, last: usize, key: impl Fn(usize) -> u64, state: &mut [u64]) {
        for run in &self.runs {
            let mut place = first;
            while place <= last {
                let (word, _) = run.places[place];
                let mut bits = state[word as usize];
                while place <= last && run.places[place].0 == word {
                    let shift = run.places[place].1;
                    bits = bits & !(run.mask << shift) | (key(place) >> run.position & run.mask) << shift;
                    place += 1;
                }
                state[word as usize] = bits;
            }
        }
        if self.has_fields() {
            (first..=last).for_each(|place| self.store_fields(place, key(place), state));
        }
        if self.holders.is_empty() {
            return;
        }
        let (unheld, mask) = (self.unheld as u64, self.held_mask as u64);
        for place in first..=last {
            let key = key(place);
            if key & mask != unheld {
                self.store_holders_of(place, key, state);
            }
        }
    }

    /// Writes keys back in their new order, where it differs from the old one.
    #[inline]
    pub(crate) fn store_changes(&self, keys: &[u64], sorted: &[u64], state: &mut [u64]) {
        for (object, (&key, _)) in sorted.iter().zip(keys).enumerate().filter(|(_, (new, old))| new != old) {
            for run in &self.runs {
                let (word, shift) = run.places[object];
                let word = &mut state[word as usize];
                *word = *word & !(run.mask << shift) | (key >> run.position & run.mask) << shift;
            }
            if self.has_fields() {
                self.store_fields(object, key, state);
            }
        }
        self.store_holders(sorted, state);
    }

    /// Writes the fields of one object that are not moved as bits.
    #[inline]
    fn store_fields<K: Key>(&self, object: usize, key: K, state: &mut [u64]) {
        self.letters.iter().for_each(|letters| letters.store(object, key, state));
        self.classes.iter().for_each(|classes| classes.store(object, key, state));
    }

    /// Whether some fields are not moved as bits.
    #[inline]
    fn has_fields(&self) -> bool {
        !self.letters.is_empty() || !self.classes.is_empty()
    }

    /// Writes the keys back, in their current order.
    #[inline]
    pub(crate) fn store<K: Key>(&self, keys: &[K], state: &mut [u64]) {
        for run in &self.runs {
            for band in &run.bands {
                let mut bits = 0;
                for &key in keys[band.object as usize..][..band.count as usize].iter().rev() {
                    bits = bits << band.stride | (key >> run.position).low() & run.mask;
                }
                let word = &mut state[band.word as usize];
                *word = *word & !band.mask | bits << band.first;
            }
        }
        for letters in &self.letters {
            keys.iter().enumerate().for_each(|(object, &key)| letters.store(object, key, state));
        }
        for classes in &self.classes {
            keys.iter().enumerate().for_each(|(object, &key)| classes.store(object, key, state));
        }
        self.store_holders(keys, state);
    }

    /// Writes what holds objects.
    #[inline]
    fn store_holders<K: Key>(&self, keys: &[K], state: &mut [u64]) {
        if self.holders.is_empty() {
            return;
        }
        let (unheld, mask) = (K::cut(self.unheld), K::cut(self.held_mask));
        for (thing, &key) in keys.iter().enumerate() {
            if key & mask == unheld {
                continue;
            }
            self.store_holders_of(thing, key, state);
        }
    }

    /// Writes what holds one object.
    #[inline]
    fn store_holders_of<K: Key>(&self, thing: usize, key: K, state: &mut [u64]) {
        let mut held = (key & K::cut(self.held_mask)) ^ K::cut(self.unheld);
        while held != K::default() {
            // The holder whose bits do not say that it does not hold the object.
            let holder = &self.holders[self.holder_of[held.first_bit() as usize] as usize];
            let mask = u64::MAX >> (64 - bits_for(holder.none + 1));
            let letter = (key >> holder.position).low() & mask;
            if letter < holder.none {
                holder.field.write(state, holder.codes[letter as usize][thing]);
            }
            held = held & (K::of(mask) << holder.position ^ K::cut(u128::MAX));
        }
    }

    /// Sorts at most [`FEW`] objects by keys of at most 128 bits.
    #[inline]
    pub(crate) fn sort_few(&self, state: &mut [u64]) {
        if self.width <= 64 { self.sort_by_insertion::<u64>(state) } else { self.sort_by_insertion::<u128>(state) }
    }

    #[inline]
    fn sort_by_insertion<K: Key>(&self, state: &mut [u64]) {
        let mut keys = [K::default(); FEW];
        let keys = &mut keys[..self.count];
        self.load(state, keys);
        if insert(keys) {
            self.store(keys, state);
        }
    }

    /// Reads keys of any width: `words` numbers for each object, equal for objects with equal keys.
    pub(crate) fn load_wide(&self, state: &[u64], keys: &mut Vec<u64>) -> usize {
        let words = self.runs.len() + self.letters.len() + self.holders.len();
        keys.clear();
        keys.resize(words * self.count, 0);
        let mut column = 0;
        for run in self.runs.iter().rev() {
            for thing in 0..self.count {
                let (word, shift) = run.place(thing);
                keys[thing * words + column] = state[word as usize] >> shift & run.mask;
            }
            column += 1;
        }
        for letters in self.letters.iter().rev() {
            for (thing, field) in letters.fields.iter().enumerate() {
                let code = field.read(state);
                keys[thing * words + column] =
                    letters.tables.as_ref().map_or(code, |tables| tables[thing].letter_of[code as usize]);
            }
            column += 1;
        }
        for holder in self.holders.iter().rev() {
            for thing in 0..self.count {
                keys[thing * words + column] = holder.none;
            }
            if let Some(Some((thing, letter))) = holder.things.get(holder.field.read(state) as usize) {
                keys[*thing as usize * words + column] = *letter;
            }
            column += 1;
        }
        words
    }

    /// Writes keys of any width back: `order` gives the object at each position.
    pub(crate) fn store_wide(&self, keys: &[u64], order: &[u32], state: &mut [u64]) {
        let words = self.runs.len() + self.letters.len() + self.holders.len();
        let mut column = 0;
        let key = |place: usize, column: usize| keys[order[place] as usize * words + column];
        for run in self.runs.iter().rev() {
            for place in 0..self.count {
                let (word, shift) = run.place(place);
                let bits = &mut state[word as usize];
                *bits = *bits & !(run.mask << shift) | key(place, column) << shift;
            }
            column += 1;
        }
        for letters in self.letters.iter().rev() {
            for (place, field) in letters.fields.iter().enumerate() {
                let letter = key(place, column);
                let code = letters.tables.as_ref().map_or(letter, |tables| tables[place].code_of[letter as usize]);
                field.write(state, code);
            }
            column += 1;
        }
        for holder in self.holders.iter().rev() {
            for place in 0..self.count {
                let letter = key(place, column);
                if letter < holder.none {
                    holder.field.write(state, holder.codes[letter as usize][place]);
                }
            }
            column += 1;
        }
    }
}

/// Sorts few keys by insertion: states usually differ from a sorted one in few positions, or in none. Returns whether
/// they were in another order.
#[inline]
pub(crate) fn insert<K: Key>(keys: &mut [K]) -> bool {
    let mut is_changed = false;
    for next in 1..keys.len() {
        let key = keys[next];
        let mut position = next;
        while position > 0 && keys[position - 1] > key {
            keys[position] = keys[position - 1];
            position -= 1;
        }
        is_changed |= position < next;
        keys[position] = key;
    }
    is_changed
}

/// Whether the codes of fields, one for each object, have the same meanings in all of them.
fn has_same_codes(view: &View, fields: &[Option<usize>], orbit: &impl Fn(u32) -> usize) -> bool {
    let meanings = |field: usize| match &view.contents[field] {
        Content::Lettered(points) if view.fields[field].is_direct() => {
            let meaning = |&point: &u32| if point == NONE { None } else { Some(orbit(point)) };
            Some((view.fields[field].width, points.iter().map(meaning).collect::<Vec<_>>()))
        }
        _ => None,
    };
    let mut all = fields.iter().map(|field| field.and_then(meanings));
    let first = all.next().flatten();
    first.is_some() && all.all(|meanings| meanings == first)
}

impl Letters {
    /// The letter of an object.
    #[inline]
    fn letter(&self, object: usize, state: &[u64]) -> u64 {
        let code = self.fields[object].read(state);
        self.tables.as_ref().map_or(code, |tables| tables[object].letter_of[code as usize])
    }

    /// Writes the letter of an object.
    #[inline]
    fn store<K: Key>(&self, object: usize, key: K, state: &mut [u64]) {
        let letter = (key >> self.position).low() & self.mask;
        let code = self.tables.as_ref().map_or(letter, |tables| tables[object].code_of[letter as usize]);
        self.fields[object].write(state, code);
    }
}

impl Classes {
    /// The class of the code of an object.
    #[inline]
    fn class(&self, object: usize, state: &[u64]) -> u64 {
        let ClassField { field, class_of, .. } = &self.fields[object];
        class_of.get(field.read(state) as usize).copied().unwrap_or(0)
    }

    /// Writes the class of an object, if it has a single code.
    #[inline]
    fn store<K: Key>(&self, object: usize, key: K, state: &mut [u64]) {
        let ClassField { field, code_of, .. } = &self.fields[object];
        let class = (key >> self.position).low() & self.mask;
        if let Some(code) = code_of[class as usize] {
            field.write(state, code);
        }
    }
}

impl Run {
    fn place(&self, thing: usize) -> (u32, u32) {
        self.places[thing]
    }
}
