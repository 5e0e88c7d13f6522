//! A hash table of states that all threads read and fill at the same time, without locks.
//!
//! The entries are those of a [`Store`](quotient_states::store::Store): states of one word themselves, otherwise 32 bits
//! of the hash beside the number. An entry is written once, from vacant to its value, so that two threads that store the same
//! state meet at the same place, and one of them learns that the other was first. The table grows only while no thread
//! stores anything, all parts at a time, each by one thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use bytemuck::allocation::try_zeroed_slice_box;

use crate::unordered::arena::Arena;
use crate::unordered::shared::SharedDense;
use quotient_search::words::Hash;
use quotient_states::batch::Table as Lookups;
use quotient_states::pages::prefer_large;
use quotient_states::store::{Entries, Full, NO_PARENT, Probe, Sighting, StateNumber};

/// The binary logarithm of the number of parts: few, so that they have large pages, and enough for many threads to let
/// them grow.
const PART_BITS: u32 = 4;

/// The number of entries below which a part grows to twice its length: all threads wait for that.
const SMALL_PART: usize = 1 << 18;

/// A part of the table.
type Part = Box<[AtomicU64]>;

/// All parts. They have the same length, since hashes are distributed evenly.
#[derive(Debug)]
pub(super) struct Table {
    entries: Entries,
    parts: Vec<RwLock<Part>>,
}

impl Table {
    /// A table with this many vacant entries, at least.
    pub(super) fn new(entries: Entries, length: usize) -> Result<Self, Full> {
        let part = length >> PART_BITS;
        let parts = (0..1 << PART_BITS).map(|_| vacant(part).map(RwLock::new));
        Ok(Self { entries, parts: parts.collect::<Result<_, Full>>()? })
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The number of entries.
    pub(super) fn length(&self) -> u64 {
        self.parts.iter().map(|part| read(part).len() as u64).sum()
    }

    /// The number of entries after the next growth.
    pub(super) fn next_length(&self) -> u64 {
        self.parts.iter().map(|part| grown(read(part).len()) as u64).sum()
    }

    /// The number of states at which the table should grow.
    pub(super) fn load_limit(&self, length: u64) -> u64 {
        match self.entries {
            Entries::Numbers => length / 100 * 72,
            // Small states afford a lower load and thus shorter searches.
            _ => length / 100 * 62,
        }
    }

    /// Locks the table for reading: it does not grow meanwhile.
    pub(super) fn guards(&self) -> Vec<RwLockReadGuard<'_, Part>> {
        self.parts.iter().map(read).collect()
    }

    /// Frees all entries.
    pub(super) fn clear(&self) {
        self.parts.iter().for_each(|part| *part.write().unwrap_or_else(PoisonError::into_inner) = Part::default());
    }

    /// Lets a part grow.
    pub(super) fn grow(&self, number: usize) -> Result<(), Full> {
        let mut part = self.parts[number].write().unwrap_or_else(PoisonError::into_inner);
        let length = grown(part.len());
        let mut new = vacant(length)?;
        for entry in part.iter_mut().map(|entry| *entry.get_mut()).filter(|&entry| entry != 0) {
            let tag = match self.entries {
                Entries::States => place(Hash::of(&[entry.wrapping_sub(1)])).1,
                _ => (entry >> 32) as u32,
            };
            let mut position = home(tag, length);
            while *new[position].get_mut() != 0 {
                position = after(position, length);
            }
            *new[position].get_mut() = entry;
        }
        *part = new;
        Ok(())
    }
}

/// The table while it does not grow, with the words of the states.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'t> {
    pub(super) entries: Entries,
    pub(super) parts: &'t [&'t [AtomicU64]],
    pub(super) arenas: &'t [&'t Arena],
    /// The binary logarithm of the number of arenas.
    pub(super) bits: u32,
    /// What has the states instead of the table, if anything does.
    pub(super) dense: Option<&'t SharedDense>,
}

impl<'t> View<'t> {
    pub(super) fn new(
        table: &Table,
        parts: &'t [&'t [AtomicU64]],
        arenas: &'t [&'t Arena],
        dense: Option<&'t SharedDense>,
    ) -> Self {
        Self { entries: table.entries, parts, arenas, bits: arenas.len().ilog2(), dense }
    }

    /// The part that a state belongs to, and its tag there.
    #[inline]
    fn part(&self, hash: Hash) -> (&'t [AtomicU64], u32) {
        let (part, tag) = place(hash);
        (self.parts[part], tag)
    }

    /// Whether an entry stands for a state.
    #[inline]
    fn is(&self, entry: u64, state: &[u64], tag: u32) -> bool {
        match self.entries {
            Entries::States => entry == state[0].wrapping_add(1),
            _ => (entry >> 32) as u32 == tag && self.is_state(entry as u32 - 1, state),
        }
    }

    #[inline]
    fn is_state(&self, number: StateNumber, state: &[u64]) -> bool {
        self.arenas[number as usize & ((1 << self.bits) - 1)].is(u64::from(number >> self.bits), state)
    }

    /// Looks for a state.
    #[inline]
    pub(super) fn probe(&self, state: &[u64], hash: Hash) -> Probe {
        if let Some(dense) = self.dense {
            return if dense.contains(state, hash) { Probe::Stored(NO_PARENT) } else { Probe::Vacant(0) };
        }
        let (part, tag) = self.part(hash);
        let mut position = home(tag, part.len());
        loop {
            let entry = part[position].load(Ordering::Acquire);
            if entry == 0 {
                return Probe::Vacant(position);
            }
            if self.is(entry, state, tag) {
                return Probe::Stored(if self.entries == Entries::States { NO_PARENT } else { entry as u32 - 1 });
            }
            position = after(position, part.len());
        }
    }

    /// Stores a state in the table, from the position on that [`View::probe`] returned, unless another thread has stored it
    /// meanwhile. Returns whether it did.
    #[inline]
    pub(super) fn claim(&self, state: &[u64], hash: Hash, mut position: usize, number: StateNumber) -> bool {
        let (part, tag) = self.part(hash);
        let entry = match self.entries {
            Entries::States => state[0].wrapping_add(1),
            _ => u64::from(tag) << 32 | u64::from(number + 1),
        };
        loop {
            match part[position].compare_exchange(0, entry, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) if self.is(other, state, tag) => return false,
                Err(_) => position = after(position, part.len()),
            }
        }
    }
}

impl Lookups for View<'_> {
    #[inline]
    fn recognise<'r>(
        &self,
        hashes: &[Hash],
        records: impl Iterator<Item = &'r [u64]>,
        entries: &mut Vec<u64>,
        sightings: &mut Vec<Sighting>,
    ) {
        if let Some(dense) = self.dense {
            return dense.recognise(hashes, records, sightings);
        }
        entries.clear();
        entries.extend(hashes.iter().map(|&hash| {
            let (part, tag) = self.part(hash);
            part[home(tag, part.len())].load(Ordering::Acquire)
        }));
        sightings.clear();
        if self.entries == Entries::States {
            let sighted = entries.iter().zip(records);
            sightings.extend(sighted.map(|(&entry, record)| match entry == record[0].wrapping_add(1) {
                true => Sighting::Stored,
                false => Sighting::Unknown,
            }));
            return;
        }
        sightings.extend(entries.iter_mut().zip(hashes).map(|(entry, &hash)| {
            let (part, tag) = self.part(hash);
            let mut position = home(tag, part.len());
            while *entry != 0 && (*entry >> 32) as u32 != tag {
                position = after(position, part.len());
                *entry = part[position].load(Ordering::Acquire);
            }
            if *entry == 0 { Sighting::Vacant(position as u32) } else { Sighting::Unknown }
        }));
        for ((sighting, &entry), record) in sightings.iter_mut().zip(&*entries).zip(records) {
            if entry != 0 && self.is_state(entry as u32 - 1, record) {
                *sighting = Sighting::Stored;
            }
        }
    }

    fn growths(&self) -> u64 {
        0
    }

    #[inline]
    fn probe_sighted(&self, state: &[u64], hash: Hash, sighting: Sighting, _: u64) -> Probe {
        match sighting {
            // It is looked for once more when it is added.
            _ if self.dense.is_some() => Probe::Vacant(0),
            // Any state with a similar hash that was stored since went to the first vacant position, too.
            Sighting::Vacant(position) if self.part(hash).0[position as usize].load(Ordering::Relaxed) == 0 => {
                Probe::Vacant(position as usize)
            }
            _ => self.probe(state, hash),
        }
    }
}

/// The entries of a new part.
fn vacant(length: usize) -> Result<Part, Full> {
    let mut part: Part = try_zeroed_slice_box(length).map_err(|()| Full::System)?;
    prefer_large(&mut part);
    Ok(part)
}

/// The part that a state belongs to, and the bits that order the entries of a part.
#[inline]
fn place(hash: Hash) -> (usize, u32) {
    ((hash.value() >> (64 - PART_BITS)) as usize, (hash.value() << PART_BITS >> 32) as u32)
}

/// The length of a part after it grew.
fn grown(length: usize) -> usize {
    if length < SMALL_PART { 2 * length } else { length + length / 2 }
}

/// The first position to probe: entries are in the order of their hashes, except for collisions.
#[inline]
fn home(tag: u32, length: usize) -> usize {
    ((u64::from(tag) * length as u64) >> 32) as usize
}

#[inline]
fn after(position: usize, length: usize) -> usize {
    if position + 1 == length { 0 } else { position + 1 }
}

fn read(part: &RwLock<Part>) -> RwLockReadGuard<'_, Part> {
    part.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads store overlapping sets of states; each state is stored once.
    #[test]
    fn each_state_is_stored_by_one_thread() {
        const THREADS: usize = 4;
        for (words, entries) in [(1, Entries::States), (1, Entries::Numbers), (3, Entries::Numbers)] {
            let table = Table::new(entries, 1 << 15).expect("there is room");
            let arenas: Vec<Arena> = (0..THREADS).map(|_| Arena::new(words, 1 << 20, None, 1)).collect();
            let arenas: Vec<&Arena> = arenas.iter().collect();
            let state = |number: u64| -> Vec<u64> { (0..words as u64).map(|word| number * 64 + word).collect() };
            let mut stored = 0;
            for round in 0..3u64 {
                let guards = table.guards();
                let parts: Vec<&[AtomicU64]> = guards.iter().map(|part| &***part).collect();
                let view = View::new(&table, &parts, &arenas, None);
                let lengths: u64 = std::thread::scope(|scope| {
                    let workers: Vec<_> = (0..THREADS)
                        .map(|thread| {
                            scope.spawn(move || {
                                let mut own = 0;
                                for number in round * 5_000..(round + 1) * 5_000 {
                                    let state = state((number * 7 + thread as u64 * 13) % 15_000);
                                    let hash = Hash::of(&state);
                                    let Probe::Vacant(position) = view.probe(&state, hash) else { continue };
                                    let place = round << 18 | own;
                                    view.arenas[thread].write(place, &state, 0).expect("there is room");
                                    let number = (place << view.bits) as u32 | thread as u32;
                                    own += u64::from(view.claim(&state, hash, position, number));
                                }
                                own
                            })
                        })
                        .collect();
                    workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
                });
                stored += lengths;
                drop(guards);
                (0..table.parts()).for_each(|part| table.grow(part).expect("there is room"));
            }
            assert_eq!(
                table.guards().iter().flat_map(|part| part.iter()).filter(|it| it.load(Ordering::Relaxed) != 0).count()
                    as u64,
                stored
            );
            let guards = table.guards();
            let parts: Vec<&[AtomicU64]> = guards.iter().map(|part| &***part).collect();
            let view = View::new(&table, &parts, &arenas, None);
            let known = (0..20_000)
                .filter(|&number| matches!(view.probe(&state(number), Hash::of(&state(number))), Probe::Stored(_)));
            assert_eq!(known.count() as u64, stored);
        }
    }
}
