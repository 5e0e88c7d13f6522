//! The states found so far: packed words in an arena, in order of discovery, with an open-addressing hash table.
//!
//! A state costs its words, four bytes for the link to its parent and one table entry of eight bytes divided by the
//! load factor of the table (between one half and three quarters; between 0.44 and two thirds for states of one word).
//! There are two forms of entries. States of one word are their own entries, so a probe of the table is conclusive and
//! does not access the arena; but then the table does not know their numbers. Otherwise an entry holds 32 bits of the
//! hash beside the number, so that a probe compares words only if the states are almost certainly equal.
//!
//! The arena grows by whole chunks and never moves. The table consists of many parts, chosen by the hash, that grow one
//! by one: no pause is long, and memory use never doubles temporarily. Within a part, entries are in the order of their
//! hashes (except for collisions), so that growing it traverses old and new memory sequentially.
//!
//! A store can become dense ([`Store::condense`]): it then keeps its states in a [`Dense`] set instead of the table, no
//! parents, and in the arena only the states that are still to be expanded, in their short forms if they have some.

use crate::batch::Table;
use crate::dense::{Dense, Numbers, Short};
pub use crate::numbers::{Full, NO_PARENT, Probe, STATE_LIMIT, Sighting, StateNumber};
use crate::pages::{give_back, prefer_large};
use quotient_search::words::{Hash, PART_BITS, append, copy};

/// The approximate number of words of a chunk, for all stores of a search together. A chunk holds at least one state.
const CHUNK_WORDS: usize = 1 << 16;
/// The same, for one store: parts are large then, and have large pages.
const MOST_PART_BITS: u32 = 4;
/// Entries of the smallest part of a table.
const FIRST_PART: usize = 16;

/// Whether two states of the same length are equal. Most have one or two words, for which a call to compare memory
/// costs more.
#[inline]
fn same(left: &[u64], right: &[u64]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

/// The form of the entries of a store's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// They contain state numbers.
    Numbers,
    /// They are the states themselves. Only for states of one word that is never all ones.
    States,
    /// They contain only hashes: two states with the same hash are identified. States can be forgotten.
    Hashes,
    /// A few bits per state, in a table of this many bytes: a state whose bits are all set is considered stored. States
    /// can be forgotten.
    Bits(u64),
}

impl Entries {
    /// Whether a state may be mistaken for another.
    #[inline]
    pub fn is_approximate(self) -> bool {
        matches!(self, Self::Hashes | Self::Bits(_))
    }
}

/// The number of bits a state sets if only bits are stored.
const BITS_A_STATE: u32 = 3;

/// The set of stored states.
#[derive(Debug)]
pub struct Store {
    words: usize,
    /// The number of words that a state takes in the arena: fewer if the store is dense and states have short forms.
    arena_words: usize,
    entries: Entries,
    /// The binary logarithm of the number of states per chunk.
    chunk_shift: u32,
    states: Vec<Vec<u64>>,
    parents: Vec<Vec<StateNumber>>,
    length: u64,
    /// A power of two, at most that of all parts.
    parts: Vec<Shard>,
    /// The total number of entries of all parts.
    table_length: u64,
    /// How often a part has grown.
    growths: u64,
    /// If only bits are stored: the bits, and how many are set.
    bits: Vec<u64>,
    bits_set: u64,
    /// The states, if the store is dense.
    dense: Option<Box<Dense>>,
    /// The number of chunks whose states were forgotten.
    forgotten: usize,
    memory_limit: u64,
    number_limit: u64,
    peak_bytes: u64,
}

/// A part of the table.
#[derive(Debug, Default)]
struct Shard {
    /// Each entry: tag in the upper half and number plus one in the lower, or a state plus one; zero if vacant.
    entries: Vec<u64>,
    used: usize,
}

impl Shard {
    /// The first position to probe: the tag scaled to the size of the part, which need not be a power of two.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.entries.len() as u64) >> 32) as usize
    }
    #[inline]
    fn after(&self, position: usize) -> usize {
        if position + 1 == self.entries.len() { 0 } else { position + 1 }
    }
    /// Whether one more entry would exceed the load limit.
    #[inline]
    fn is_full(&self, entries: Entries) -> bool {
        match entries {
            Entries::Numbers => (self.used + 1) * 4 > self.entries.len() * 3,
            // Small states afford a lower load and thus shorter searches.
            _ => (self.used + 1) * 3 > self.entries.len() * 2,
        }
    }
    #[inline]
    fn vacant_from(&self, tag: u32) -> usize {
        let mut position = self.home(tag);
        while self.entries[position] != 0 {
            position = self.after(position);
        }
        position
    }
}

impl Store {
    /// An empty store for states of a number of words, with a limit in bytes.
    pub fn new(words: usize, entries: Entries, memory_limit: Option<u64>) -> Self {
        Self::shard(words, entries, memory_limit, 0)
    }

    /// One of a power of two of stores that share numbers, memory and the parts of the table.
    pub fn shard(words: usize, entries: Entries, memory_limit: Option<u64>, shard_bits: u32) -> Self {
        let states = ((CHUNK_WORDS >> shard_bits) / words.max(1)).max(1);
        let parts = 1 << (PART_BITS - shard_bits).min(MOST_PART_BITS);
        let entries = if words > 1 && entries == Entries::States { Entries::Numbers } else { entries };
        let bits = if let Entries::Bits(bytes) = entries { vec![0; (bytes / 8).max(1) as usize] } else { Vec::new() };
        Self {
            words,
            arena_words: words,
            entries,
            chunk_shift: states.ilog2(),
            states: Vec::new(),
            parents: Vec::new(),
            length: 0,
            parts: (0..parts).map(|_| Shard { entries: vec![0; FIRST_PART], used: 0 }).collect(),
            table_length: (FIRST_PART * parts) as u64,
            growths: 0,
            bits,
            bits_set: 0,
            dense: None,
            forgotten: 0,
            memory_limit: memory_limit.unwrap_or(u64::MAX) >> shard_bits,
            number_limit: STATE_LIMIT >> shard_bits,
            peak_bytes: 0,
        }
    }

    /// States with their parents, in chunks of a power of two. They cannot be looked up.
    pub fn of_chunks(
        words: usize,
        chunk_shift: u32,
        states: Vec<Vec<u64>>,
        parents: Vec<Vec<StateNumber>>,
        length: u64,
    ) -> Self {
        let mut store = Self::new(words, Entries::Numbers, None);
        (store.parts, store.table_length) = (Vec::new(), 0);
        Self { chunk_shift, states, parents, length, ..store }
    }

    /// A number of states in a dense set, of which nothing else is known.
    pub fn of_dense(words: usize, dense: Dense, length: u64) -> Self {
        let mut store = Self::new(words, Entries::Numbers, None);
        (store.parts, store.table_length) = (Vec::new(), 0);
        Self { dense: Some(Box::new(dense)), length, ..store }
    }

    /// The number of words of a state.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The number of states.
    #[inline]
    pub fn len(&self) -> u64 {
        self.length
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a state may be mistaken for another.
    #[inline]
    pub(crate) fn is_approximate(&self) -> bool {
        self.entries.is_approximate()
    }

    /// Bytes in use for states.
    pub fn memory_bytes(&self) -> u64 {
        let forgotten = (self.forgotten as u64) << self.chunk_shift;
        let table = 8 * (self.table_length + self.bits.len() as u64) + self.dense.as_ref().map_or(0, |it| it.bytes());
        self.chunk_bytes() * self.states.len() as u64 - 8 * self.arena_words as u64 * forgotten + table
    }

    /// Whether the store is dense.
    #[inline]
    pub fn dense(&self) -> Option<&Dense> {
        self.dense.as_deref()
    }

    /// Makes the store dense. It then knows neither the numbers of states nor their parents, and the words of those only
    /// that have a number from a given one on. The last word of a state has at most these bits, as far as is known.
    ///
    /// # Errors
    /// If there is no room. The store can then not be used.
    pub fn condense(&mut self, last_word: u64, first_kept: StateNumber) -> Result<(), Full> {
        let mut dense = Dense::new(self.words, 64 - last_word.leading_zeros(), self.parts.len().ilog2())?;
        self.parts.drain(..).for_each(|part| give_back(part.entries));
        self.table_length = 0;
        self.parents.iter_mut().for_each(|parents| give_back(std::mem::take(parents)));
        let kept = self.chunk(first_kept);
        for chunk in 0..self.states.len() {
            let others = self.chunk_bytes() * (self.states.len() - chunk) as u64;
            let limit = self.memory_limit.saturating_sub(others);
            let mut short = Vec::new();
            if chunk >= kept && dense.has_short_forms() {
                short.try_reserve_exact(1 << self.chunk_shift).map_err(|_| Full::System)?;
            }
            for state in self.states[chunk].chunks_exact(self.words) {
                if let Some(Short(form)) = dense.insert(state, usize::MAX, limit)?.filter(|_| chunk >= kept) {
                    short.push(form);
                }
            }
            if chunk < kept {
                self.forgotten = chunk + 1;
            }
            if chunk < kept || dense.has_short_forms() {
                give_back(std::mem::replace(&mut self.states[chunk], short));
            }
        }
        if dense.has_short_forms() {
            self.arena_words = 1;
        }
        self.dense = Some(Box::new(dense));
        Ok(())
    }

    /// Forgets the words of states with lower numbers, as far as memory can be freed.
    pub fn forget_before(&mut self, number: StateNumber) {
        let chunk = self.chunk(number);
        while self.forgotten < chunk {
            give_back(std::mem::take(&mut self.states[self.forgotten]));
            self.forgotten += 1;
        }
    }

    /// An upper bound on the probability that a state that is not stored is considered stored.
    pub fn omission_probability(&self) -> f64 {
        match self.entries {
            Entries::Numbers | Entries::States => 0.0,
            Entries::Hashes => self.length as f64 / 2f64.powi(63),
            Entries::Bits(_) => (self.bits_set as f64 / (64 * self.bits.len()) as f64).powi(BITS_A_STATE as i32),
        }
    }

    /// The words and masks of the bits of a state.
    #[inline]
    fn bits_of(&self, hash: Hash) -> [(usize, u64); BITS_A_STATE as usize] {
        let step = hash.second() | 1;
        let count = 64 * self.bits.len() as u64;
        std::array::from_fn(|number| {
            let mixed = hash.value().wrapping_add(step.wrapping_mul(number as u64));
            let bit = ((u128::from(mixed) * u128::from(count)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// The peak number of bytes in use.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// The words of a stored state, in a store without short forms.
    #[inline]
    pub fn state(&self, number: StateNumber) -> &[u64] {
        debug_assert_eq!(self.arena_words, self.words);
        let first = self.offset(number) * self.words;
        &self.states[self.chunk(number)][first..first + self.words]
    }

    /// Copies the words of a stored state, in any store that has not forgotten them, given the state that was read
    /// before.
    #[inline]
    pub fn read(&self, number: StateNumber, memory: &mut Numbers, state: &mut [u64]) {
        match &self.dense {
            Some(dense) if dense.has_short_forms() => {
                let form = Short(self.states[self.chunk(number)][self.offset(number)]);
                state.copy_from_slice(dense.state(form, memory));
            }
            _ => copy(state, self.state(number)),
        }
    }

    /// The parent of a state; none if a start led to it.
    #[inline]
    pub fn parent(&self, number: StateNumber) -> Option<StateNumber> {
        let parent = self.parents[self.chunk(number)][self.offset(number)];
        (parent != NO_PARENT).then_some(parent)
    }

    /// The number of a state if it is stored, in a store whose table knows numbers.
    #[inline]
    pub fn find(&self, state: &[u64], hash: Hash) -> Option<StateNumber> {
        debug_assert_eq!(self.entries, Entries::Numbers);
        match self.probe(state, hash) {
            Probe::Stored(number) => Some(number),
            Probe::Vacant(_) => None,
        }
    }

    /// Looks for a state.
    #[inline]
    pub fn probe(&self, state: &[u64], hash: Hash) -> Probe {
        if matches!(self.entries, Entries::Bits(_)) {
            let stored = self.bits_of(hash).iter().all(|&(word, mask)| self.bits[word] & mask != 0);
            return if stored { Probe::Stored(NO_PARENT) } else { Probe::Vacant(0) };
        }
        if let Some(dense) = &self.dense {
            return dense.probe(state);
        }
        let part = &self.parts[self.part(hash)];
        let mut position = part.home(hash.tag());
        if self.entries != Entries::Numbers {
            let key = if self.entries == Entries::States { state[0].wrapping_add(1) } else { hash.key() };
            loop {
                let entry = part.entries[position];
                if entry == key {
                    return Probe::Stored(NO_PARENT);
                }
                if entry == 0 {
                    return Probe::Vacant(position);
                }
                position = part.after(position);
            }
        }
        let tag = u64::from(hash.tag()) << 32;
        loop {
            let entry = part.entries[position];
            let low = entry as u32;
            if low == 0 {
                return Probe::Vacant(position);
            }
            if entry ^ tag == u64::from(low) && same(self.state(low - 1), state) {
                return Probe::Stored(low - 1);
            }
            position = part.after(position);
        }
    }

    /// Looks for a state, comparing it by `is_same` with stored ones that have the same hash. The table must know
    /// numbers.
    pub(crate) fn probe_matching(&self, hash: Hash, mut is_same: impl FnMut(&[u64]) -> bool) -> Probe {
        debug_assert_eq!(self.entries, Entries::Numbers);
        let part = &self.parts[self.part(hash)];
        let mut position = part.home(hash.tag());
        let tag = u64::from(hash.tag()) << 32;
        loop {
            let entry = part.entries[position];
            let low = entry as u32;
            if low == 0 {
                return Probe::Vacant(position);
            }
            if entry ^ tag == u64::from(low) && is_same(self.state(low - 1)) {
                return Probe::Stored(low - 1);
            }
            position = part.after(position);
        }
    }

    /// Loads the entries that looking up some states reads first, all at a time.
    #[inline]
    pub fn prefetch(&self, hashes: &[Hash]) {
        std::hint::black_box(hashes.iter().fold(0, |sum, &hash| sum ^ self.touch(hash)));
    }

    /// What the first entry shows about a state, unless the table knows numbers.
    #[inline]
    fn sight(&self, entry: u64, hash: Hash, record: &[u64]) -> Sighting {
        let key = match self.entries {
            Entries::States => record[0].wrapping_add(1),
            Entries::Hashes => hash.key(),
            Entries::Numbers | Entries::Bits(_) => return Sighting::Unknown,
        };
        if entry == key { Sighting::Stored } else { Sighting::Unknown }
    }

    /// The entry that [`Store::probe`] reads first.
    #[inline]
    fn touch(&self, hash: Hash) -> u64 {
        if matches!(self.entries, Entries::Bits(_)) {
            return self.bits[self.bits_of(hash)[0].0];
        }
        let part = &self.parts[self.part(hash)];
        part.entries[part.home(hash.tag())]
    }

    /// The first entry with the tag of a hash, if the first entry probed has another tag, and its position; zero and
    /// the vacant position if there is none.
    #[inline]
    fn displaced(&self, first: u64, hash: Hash) -> (u64, usize) {
        let part = &self.parts[self.part(hash)];
        let mut position = part.home(hash.tag());
        let mut entry = first;
        while entry != 0 && (entry >> 32) as u32 != hash.tag() {
            position = part.after(position);
            entry = part.entries[position];
        }
        (entry, position)
    }

    /// Stores a new state, at the position that [`Store::probe`] just returned.
    ///
    /// # Errors
    /// If there is no room for it. The store can then only be read.
    #[inline]
    pub fn insert(
        &mut self,
        state: &[u64],
        hash: Hash,
        mut position: usize,
        parent: StateNumber,
    ) -> Result<StateNumber, Full> {
        if self.length >= self.number_limit {
            return Err(Full::Numbers);
        }
        if self.dense.is_some() {
            return self.insert_dense(state, position);
        }
        if !matches!(self.entries, Entries::Bits(_)) && self.parts[self.part(hash)].is_full(self.entries) {
            self.grow_part(self.part(hash))?;
            position = self.parts[self.part(hash)].vacant_from(hash.tag());
        }
        let number = self.length as StateNumber;
        let chunk = self.chunk(number);
        if chunk == self.states.len() {
            self.add_chunk()?;
        }
        append(&mut self.states[chunk], state);
        self.parents[chunk].push(parent);
        self.length += 1;
        if matches!(self.entries, Entries::Bits(_)) {
            for (word, mask) in self.bits_of(hash) {
                self.bits_set += u64::from(self.bits[word] & mask == 0);
                self.bits[word] |= mask;
            }
            return Ok(number);
        }
        let entry = self.entry(state, hash, number);
        let part = self.part(hash);
        let part = &mut self.parts[part];
        part.entries[position] = entry;
        part.used += 1;
        Ok(number)
    }

    /// Stores a new state if the store is dense.
    #[inline]
    fn insert_dense(&mut self, state: &[u64], position: usize) -> Result<StateNumber, Full> {
        let number = self.length as StateNumber;
        let chunk = self.chunk(number);
        if chunk == self.states.len() {
            self.add_chunk()?;
        }
        let arena = self.chunk_bytes() * (self.states.len() - self.forgotten) as u64;
        let dense = self.dense.as_mut().expect("the store is dense");
        match dense.insert(state, position, self.memory_limit.saturating_sub(arena))? {
            Some(Short(form)) => self.states[chunk].push(form),
            None => append(&mut self.states[chunk], state),
        }
        self.length += 1;
        Ok(number)
    }

    /// Forgets all states except the first ones.
    pub fn truncate(&mut self, length: u64) {
        if length == self.length {
            return;
        }
        for part in &mut self.parts {
            part.entries.fill(0);
            part.used = 0;
        }
        let chunks = length.div_ceil(1 << self.chunk_shift) as usize;
        self.states.truncate(chunks);
        self.parents.truncate(chunks);
        let last = (length & ((1 << self.chunk_shift) - 1)) as usize;
        if last > 0 {
            self.states[chunks - 1].truncate(last * self.words);
            self.parents[chunks - 1].truncate(last);
        }
        self.length = length;
        for number in 0..length as StateNumber {
            let hash = Hash::of(self.state(number));
            let entry = self.entry(self.state(number), hash, number);
            let part = self.part(hash);
            let part = &mut self.parts[part];
            let position = part.vacant_from(hash.tag());
            part.entries[position] = entry;
            part.used += 1;
        }
    }

    /// The entry of a state in the table.
    #[inline]
    fn entry(&self, state: &[u64], hash: Hash, number: StateNumber) -> u64 {
        match self.entries {
            Entries::Hashes | Entries::Bits(_) => hash.key(),
            Entries::States => state[0].wrapping_add(1),
            Entries::Numbers => u64::from(hash.tag()) << 32 | u64::from(number + 1),
        }
    }

    #[inline]
    fn add_chunk(&mut self) -> Result<(), Full> {
        self.reserve(self.memory_bytes() + self.chunk_bytes())?;
        let per_chunk = 1usize << self.chunk_shift;
        let mut states = Vec::new();
        let mut parents = Vec::new();
        states.try_reserve_exact(per_chunk * self.arena_words).map_err(|_| Full::System)?;
        if self.dense.is_none() {
            parents.try_reserve_exact(per_chunk).map_err(|_| Full::System)?;
        }
        self.states.push(states);
        self.parents.push(parents);
        Ok(())
    }

    /// Replaces a part of the table by one that is half as large again (twice while it is small).
    #[cold]
    fn grow_part(&mut self, number: usize) -> Result<(), Full> {
        let old = self.parts[number].entries.len();
        let new = if old < 1 << 10 { 2 * old } else { old + old / 2 };
        self.reserve(self.memory_bytes() + 8 * (new - old) as u64)?;
        let mut entries = Vec::new();
        entries.try_reserve_exact(new).map_err(|_| Full::System)?;
        prefer_large(entries.spare_capacity_mut());
        entries.resize(new, 0);
        let mut part = Shard { entries, used: self.parts[number].used };
        let before = std::mem::take(&mut self.parts[number].entries);
        for &entry in before.iter().filter(|&&entry| entry != 0) {
            let tag = match self.entries {
                Entries::States => Hash::of(&[entry.wrapping_sub(1)]).tag(),
                Entries::Hashes => Hash::with_value(entry).tag(),
                Entries::Numbers | Entries::Bits(_) => (entry >> 32) as u32,
            };
            let position = part.vacant_from(tag);
            part.entries[position] = entry;
        }
        self.parts[number] = part;
        self.table_length += (new - old) as u64;
        self.growths += 1;
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), Full> {
        if bytes > self.memory_limit {
            return Err(Full::Memory);
        }
        self.peak_bytes = self.peak_bytes.max(bytes);
        Ok(())
    }

    /// The part of this store that a state belongs to.
    #[inline]
    fn part(&self, hash: Hash) -> usize {
        hash.part() & (self.parts.len() - 1)
    }
    fn chunk_bytes(&self) -> u64 {
        (1u64 << self.chunk_shift) * (8 * self.arena_words as u64 + if self.dense.is_none() { 4 } else { 0 })
    }
    #[inline]
    fn chunk(&self, number: StateNumber) -> usize {
        (number >> self.chunk_shift) as usize
    }
    #[inline]
    fn offset(&self, number: StateNumber) -> usize {
        number as usize & ((1 << self.chunk_shift) - 1)
    }
}

impl Table for Store {
    /// Each pass waits for memory once, not once for each state: for the table, then for the states that the table
    /// points to.
    #[inline]
    fn recognise<'r>(
        &self,
        hashes: &[Hash],
        records: impl Iterator<Item = &'r [u64]>,
        entries: &mut Vec<u64>,
        sightings: &mut Vec<Sighting>,
    ) {
        if let Some(dense) = &self.dense {
            return dense.recognise(records, sightings);
        }
        entries.clear();
        entries.extend(hashes.iter().map(|&hash| self.touch(hash)));
        sightings.clear();
        if self.entries != Entries::Numbers {
            let sighted = entries.iter().zip(hashes).zip(records);
            sightings.extend(sighted.map(|((&entry, &hash), record)| self.sight(entry, hash, record)));
            return;
        }
        sightings.extend(entries.iter_mut().zip(hashes).map(|(entry, &hash)| {
            if *entry != 0 && (*entry >> 32) as u32 == hash.tag() {
                return Sighting::Unknown;
            }
            let position;
            (*entry, position) = self.displaced(*entry, hash);
            if *entry == 0 { Sighting::Vacant(position as u32) } else { Sighting::Unknown }
        }));
        for ((sighting, &entry), record) in sightings.iter_mut().zip(&*entries).zip(records) {
            if entry != 0 && same(self.state(entry as u32 - 1), record) {
                *sighting = Sighting::Stored;
            }
        }
    }

    #[inline]
    fn growths(&self) -> u64 {
        self.dense.as_ref().map_or(self.growths, |dense| dense.growths())
    }

    #[inline]
    fn probe_sighted(&self, state: &[u64], hash: Hash, sighting: Sighting, growths: u64) -> Probe {
        if let Some(dense) = &self.dense {
            return match sighting {
                // As below.
                Sighting::Vacant(position) if growths == dense.growths() && dense.is_vacant(position) => {
                    Probe::Vacant(position as usize)
                }
                _ => dense.probe(state),
            };
        }
        if let Sighting::Vacant(position) = sighting
            && growths == self.growths
            && self.parts[self.part(hash)].entries[position as usize] == 0
        {
            // Any state with a similar hash that was stored since went to the first vacant position, too.
            return Probe::Vacant(position as usize);
        }
        self.probe(state, hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States that differ in few bits, like those of models.
    fn sample(words: usize, number: u64) -> Vec<u64> {
        (0..words as u64).map(|word| if word % 2 == 0 { number } else { number >> 7 << 40 }).collect()
    }

    fn add(store: &mut Store, state: &[u64], parent: StateNumber) -> Result<StateNumber, Full> {
        let hash = Hash::of(state);
        match store.probe(state, hash) {
            Probe::Vacant(position) => store.insert(state, hash, position, parent),
            Probe::Stored(_) => panic!("{state:?} is stored already"),
        }
    }

    #[test]
    fn finds_what_was_stored_and_nothing_else() {
        let kinds = [
            (1, Entries::Numbers),
            (1, Entries::States),
            (2, Entries::Numbers),
            (3, Entries::Numbers),
            (40, Entries::Numbers),
        ];
        for (words, entries) in kinds {
            let mut store = Store::new(words, entries, None);
            for number in 0..30_000 {
                let state = sample(words, number);
                let hash = Hash::of(&state);
                assert!(matches!(store.probe(&state, hash), Probe::Vacant(_)));
                let parent = if number == 0 { NO_PARENT } else { number as u32 / 2 };
                assert_eq!(add(&mut store, &state, parent), Ok(number as u32));
            }
            for number in 0..30_000 {
                let state = sample(words, number);
                let expected = if entries == Entries::Numbers { number as u32 } else { NO_PARENT };
                assert_eq!(store.probe(&state, Hash::of(&state)), Probe::Stored(expected));
                assert_eq!(store.state(number as u32), state);
                assert_eq!(store.parent(number as u32), (number != 0).then_some(number as u32 / 2));
            }
            assert_eq!(store.len(), 30_000);
        }
    }

    #[test]
    fn what_is_cut_off_is_forgotten() {
        for (words, entries) in [(1, Entries::Numbers), (1, Entries::States), (3, Entries::Numbers)] {
            for length in [0, 1, 21_845, 21_846, 65_536, 70_000] {
                let mut store = Store::new(words, entries, None);
                for number in 0..70_000 {
                    add(&mut store, &sample(words, number), number as u32).expect("there is room");
                }
                store.truncate(length);
                assert_eq!(store.len(), length);
                for number in 0..70_000 {
                    let state = sample(words, number);
                    let stored = matches!(store.probe(&state, Hash::of(&state)), Probe::Stored(_));
                    assert_eq!(stored, number < length);
                }
                for number in length..70_000 {
                    assert_eq!(add(&mut store, &sample(words, number), number as u32), Ok(number as u32));
                }
                assert_eq!(store.state(69_999), sample(words, 69_999));
            }
        }
    }

    #[test]
    fn memory_limit_is_kept() {
        let limit = 1 << 20;
        let mut store = Store::new(1, Entries::States, Some(limit));
        let mut number = 0;
        let full = loop {
            let state = [number];
            match add(&mut store, &state, NO_PARENT) {
                Ok(_) => number += 1,
                Err(full) => break full,
            }
        };
        assert_eq!(full, Full::Memory);
        assert!(store.peak_bytes() <= limit);
        assert!(number > 10_000, "{number} states in a megabyte");
    }

    #[test]
    fn a_small_state_takes_few_bytes() {
        let mut store = Store::new(1, Entries::States, None);
        for number in 0..3_000_000u64 {
            add(&mut store, &[number], NO_PARENT).expect("there is room");
            if number > 1_000_000 {
                assert!(store.peak_bytes() / number <= 30);
            }
        }
    }
}
