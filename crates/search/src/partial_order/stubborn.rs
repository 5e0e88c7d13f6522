//! Chooses a stubborn set of steps in a state.
//!
//! A set is closed if it contains, of every step in it that can be taken, all that does not accord with it, and of
//! everything else in it, all that can make one false conjunct of its guard true. Any closed set with a step that can be
//! taken will do (Valmari; Laarman, Pater, van de Pol, Hansen). Of those that begin with one step, the one with the
//! fewest steps is chosen, the first if there are several: the choice depends on nothing but the state.
//!
//! A closed set with everything that has to be seen in it puts nothing off ([`Chooser::complete`]).
//!
//! A step that accords with everything is a set of its own wherever it can be taken: a *local* step.

use std::ops::ControlFlow;

use quotient_ir::Layout;

use crate::partial_order::conditions::{ConditionId, Contents, Reader};
use crate::partial_order::relations::{Entry, EntryId, EntryKind, Relations};
use crate::seam::Selection;

/// The largest number of steps with which a set is begun.
const SEEDS: usize = 64;
/// How much worse it is to include a step that can be taken than one that cannot.
const TAKEN: u32 = 1 << 16;

/// Sets of entries, one after the other, as bits.
#[derive(Debug)]
struct Rows {
    words: usize,
    bits: Box<[u64]>,
}

impl Rows {
    fn new(words: usize, lists: &[Vec<EntryId>]) -> Self {
        let mut bits = vec![0; words * lists.len()];
        for (row, list) in bits.chunks_exact_mut(words.max(1)).zip(lists) {
            list.iter().for_each(|&entry| row[entry as usize / 64] |= 1 << (entry % 64));
        }
        Self { words, bits: bits.into() }
    }

    #[inline]
    fn row(&self, number: usize) -> &[u64] {
        &self.bits[number * self.words..(number + 1) * self.words]
    }
}

/// Chooses stubborn sets in states of one layout.
#[derive(Debug)]
pub(crate) struct Chooser<'a> {
    relations: &'a Relations,
    reader: Reader,
    all: Dispatch,
    /// The local steps.
    local: Dispatch,
    discords: Rows,
    enablers: Rows,
    /// The entries that are steps.
    steps: Box<[u64]>,
    /// The entries that are fired if they can be taken: steps and events.
    fired: Box<[u64]>,
    /// The steps with which a set may begin.
    seeds: Box<[u64]>,
    /// The steps of which a set has all, or none that can be taken.
    visible: Box<[u64]>,
    words: usize,
}

/// Finds the entries that may be taken in a state.
#[derive(Debug, Default)]
struct Dispatch {
    /// Entries by the value that one slot must have; each is in one of the lists.
    lists: Vec<(u32, Vec<Vec<EntryId>>)>,
    /// The entries without a condition on one slot.
    others: Vec<EntryId>,
}

impl Dispatch {
    fn new(relations: &Relations, includes: impl Fn(EntryId) -> bool) -> Self {
        let conditions = &relations.conditions;
        let mut lists: Vec<(u32, Vec<Vec<EntryId>>)> = Vec::new();
        let mut others = Vec::new();
        for (id, entry) in (0..).zip(&relations.entries).filter(|&(id, _)| includes(id)) {
            let keys = entry.conjuncts.iter().filter_map(|&conjunct| conditions.on_one_slot(conjunct));
            let share =
                |(slot, positions): &(u32, Vec<usize>)| positions.len() * 1024 / conditions.values(*slot).max(1);
            let Some((slot, positions)) = keys.min_by_key(share) else {
                others.push(id);
                continue;
            };
            let at = lists.iter().position(|(known, _)| *known == slot).unwrap_or_else(|| {
                lists.push((slot, vec![Vec::new(); conditions.values(slot)]));
                lists.len() - 1
            });
            positions.into_iter().for_each(|position| lists[at].1[position].push(id));
        }
        Self { lists, others }
    }

    fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.others.is_empty()
    }
}

/// The working memory for one state at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChoiceScratch {
    contents: Contents,
    /// The state that marks are about.
    epoch: u32,
    /// For each conjunct whether it holds, as of an epoch.
    conjuncts: Vec<(u32, bool)>,
    /// The entries that can be taken.
    taken: Vec<u64>,
    /// The present set, and what of it was not treated yet.
    set: Vec<u64>,
    pending: Vec<u64>,
    /// What can be taken of the best set.
    best: Vec<u64>,
    /// Whether a condition had no value.
    is_unclear: bool,
    /// The instances to fire.
    pub(crate) chosen: Vec<u32>,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(relations: &'a Relations, layout: &Layout) -> Self {
        let words = relations.entries.len().div_ceil(64);
        let of_kinds = |kinds: &[EntryKind]| {
            let entries = (0..).zip(&relations.entries).filter(|(_, entry)| kinds.contains(&entry.kind));
            Rows::new(words, &[entries.map(|(id, _)| id).collect()]).bits
        };
        Self {
            relations,
            reader: Reader::new(&relations.conditions, layout),
            all: Dispatch::new(relations, |_| true),
            local: Dispatch::new(relations, |id| relations.is_local(id)),
            discords: Rows::new(words, &relations.discords),
            enablers: Rows::new(words, &relations.enablers),
            steps: of_kinds(&[EntryKind::Step]),
            fired: of_kinds(&[EntryKind::Step, EntryKind::Event]),
            seeds: Rows::new(words, std::slice::from_ref(&relations.seeds)).bits,
            visible: Rows::new(words, std::slice::from_ref(&relations.visible)).bits,
            words,
        }
    }

    /// Whether some steps of a state suffice; then the instances to fire are in the scratch.
    #[inline]
    pub(crate) fn choose(&self, state: &[u64], scratch: &mut ChoiceScratch) -> bool {
        scratch.chosen.clear();
        if !self.reader.read(state, &mut scratch.contents) {
            return false;
        }
        scratch.begin(self.relations, self.words);
        let _ = self.each_taken(&self.all, scratch, |scratch, entry| {
            scratch.taken[entry as usize / 64] |= 1 << (entry % 64);
            ControlFlow::Continue(())
        });
        if scratch.is_unclear {
            return false;
        }
        let count: u32 = scratch.taken.iter().zip(&self.steps).map(|(taken, steps)| (taken & steps).count_ones()).sum();
        let mut least = count as usize;
        if least <= 1 {
            return false;
        }
        let local = self.local_step(scratch);
        let begins = |&seed: &usize| self.seeds[seed / 64] >> (seed % 64) & 1 == 1;
        let seeds = || ones(&scratch.taken).filter(begins);
        let seeds: Vec<usize> = local.map_or_else(|| seeds().take(SEEDS).collect(), |seed| vec![seed as usize]);
        for seed in seeds {
            scratch.empty();
            scratch.add(seed);
            let Some(size) = self.close_with_visible(least, scratch) else { continue };
            least = size;
            let ChoiceScratch { best, set, taken, .. } = scratch;
            best.clear();
            best.extend(set.iter().zip(taken.iter()).map(|(set, taken)| set & taken));
            if least <= 1 {
                break;
            }
        }
        // Conditions are evaluated on the way as well.
        if least >= count as usize || scratch.is_unclear {
            return false;
        }
        self.list_best(scratch);
        true
    }

    /// Whether a local step can be taken in a state; then its instance is in the scratch. Of several it is always the same.
    #[inline]
    pub(crate) fn choose_local(&self, state: &[u64], scratch: &mut ChoiceScratch) -> bool {
        scratch.chosen.clear();
        if !self.relations.passes_local || self.local.is_empty() || !self.reader.read(state, &mut scratch.contents) {
            return false;
        }
        scratch.begin(self.relations, self.words);
        let local = self.local_step(scratch);
        scratch.chosen.extend(local.map(|entry| self.relations.entries[entry as usize].instance));
        local.is_some()
    }

    /// A local step that can be taken in the state that was read, always the same one.
    fn local_step(&self, scratch: &mut ChoiceScratch) -> Option<EntryId> {
        let mut found = None;
        let _ = self.each_taken(&self.local, scratch, |_, entry| {
            found = Some(entry);
            ControlFlow::Break(())
        });
        found
    }

    /// The chosen instances.
    #[inline]
    pub(crate) fn selection<'s>(&self, scratch: &'s ChoiceScratch) -> Selection<'s>
    where
        'a: 's,
    {
        Selection { instances: &self.relations.instances, chosen: &scratch.chosen }
    }

    /// Extends the chosen steps to a set with everything that has to be seen in it. What is added replaces the chosen
    /// instances. Returns false if that is not known: then all steps have to be taken.
    #[inline]
    pub(crate) fn complete(&self, scratch: &mut ChoiceScratch) -> bool {
        let before = std::mem::take(&mut scratch.chosen);
        scratch.empty();
        for entry in ones(&scratch.best).collect::<Vec<_>>() {
            scratch.add(entry);
        }
        for &target in &self.relations.targets {
            scratch.add(target as usize);
        }
        let is_closed = self.close(usize::MAX, scratch).is_some();
        let ChoiceScratch { best, set, taken, .. } = scratch;
        best.clear();
        if is_closed {
            best.extend(set.iter().zip(taken.iter()).map(|(set, taken)| set & taken));
        } else {
            best.extend(taken.iter());
        }
        self.list_best(scratch);
        scratch.chosen.retain(|instance| before.binary_search(instance).is_err());
        is_closed
    }

    /// The instances of the best set that can be taken.
    fn list_best(&self, scratch: &mut ChoiceScratch) {
        let ChoiceScratch { best, chosen, .. } = scratch;
        let entries = ones(best).map(|entry| &self.relations.entries[entry]);
        chosen.extend(entries.filter(|entry| entry.kind != EntryKind::Sight).map(|entry| entry.instance));
        chosen.sort_unstable();
        chosen.dedup();
    }

    /// Visits the entries that can be taken, always in the same order, until a break. The state was read.
    #[inline]
    fn each_taken(
        &self,
        dispatch: &Dispatch,
        scratch: &mut ChoiceScratch,
        mut visit: impl FnMut(&mut ChoiceScratch, EntryId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut examine = |entries: &[EntryId], scratch: &mut ChoiceScratch| {
            for &entry in entries {
                if self.is_taken(entry, scratch) {
                    visit(scratch, entry)?;
                }
            }
            ControlFlow::Continue(())
        };
        for (slot, lists) in &dispatch.lists {
            examine(&lists[scratch.contents.position(*slot)], scratch)?;
        }
        examine(&dispatch.others, scratch)
    }

    /// Whether an entry can be taken.
    #[inline]
    fn is_taken(&self, entry: EntryId, scratch: &mut ChoiceScratch) -> bool {
        let Entry { conjuncts, .. } = &self.relations.entries[entry as usize];
        conjuncts.iter().all(|&conjunct| self.holds(conjunct, scratch))
    }

    /// Closes the present set. If a visible step of it can be taken, all visible steps are in it.
    fn close_with_visible(&self, limit: usize, scratch: &mut ChoiceScratch) -> Option<usize> {
        let size = self.close(limit, scratch)?;
        let sets = scratch.set.iter().zip(&scratch.taken).zip(&self.visible);
        if sets.into_iter().all(|((set, taken), visible)| set & taken & visible == 0) {
            return Some(size);
        }
        for &step in &self.relations.visible {
            scratch.add(step as usize);
        }
        Some(size + self.close(limit - size, scratch)?)
    }

    /// Closes the present set. The number of what can be taken in it, of what was not treated yet, if it is less than a
    /// limit.
    fn close(&self, limit: usize, scratch: &mut ChoiceScratch) -> Option<usize> {
        // What is seen in this state is not fired. Everything counts when it is added, so that sets that are too large
        // are given up at once.
        let taken_in =
            |at: usize, added: u64, taken: &[u64]| (added & taken[at] & self.fired[at]).count_ones() as usize;
        let pending = scratch.pending.iter().enumerate();
        let mut size: usize = pending.map(|(at, &pending)| taken_in(at, pending, &scratch.taken)).sum();
        let mut word = 0;
        while word < self.words {
            if size >= limit {
                return None;
            }
            let bits = scratch.pending[word];
            if bits == 0 {
                word += 1;
                continue;
            }
            scratch.pending[word] = bits & (bits - 1);
            let entry = word * 64 + bits.trailing_zeros() as usize;
            let content = &self.relations.entries[entry];
            let row = if scratch.taken[word] >> (entry % 64) & 1 == 1 {
                if content.kind == EntryKind::Sight {
                    continue;
                }
                self.discords.row(entry)
            } else {
                let conjunct = self.cheapest(&content.conjuncts, scratch);
                if scratch.is_unclear {
                    return None;
                }
                self.enablers.row(conjunct as usize)
            };
            let ChoiceScratch { set, pending, taken, .. } = scratch;
            for (at, ((set, pending), row)) in set.iter_mut().zip(pending).zip(row).enumerate() {
                let new = row & !*set;
                if new != 0 {
                    *set |= new;
                    *pending |= new;
                    size += taken_in(at, new, taken);
                    word = word.min(at);
                }
            }
        }
        (size < limit).then_some(size)
    }

    /// The false conjunct whose enabling steps add the least to the set.
    fn cheapest(&self, conjuncts: &[ConditionId], scratch: &mut ChoiceScratch) -> ConditionId {
        let mut best: Option<(u32, ConditionId)> = None;
        for &conjunct in conjuncts {
            if self.holds(conjunct, scratch) {
                continue;
            }
            let row = self.enablers.row(conjunct as usize);
            let mut cost = 0;
            for ((row, set), taken) in row.iter().zip(&scratch.set).zip(&scratch.taken) {
                let new = row & !set;
                cost += new.count_ones() + (new & taken).count_ones() * TAKEN;
            }
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, conjunct));
            }
            if cost == 0 {
                break;
            }
        }
        best.expect("what cannot be taken has a false conjunct").1
    }

    #[inline]
    fn holds(&self, conjunct: ConditionId, scratch: &mut ChoiceScratch) -> bool {
        let (epoch, known) = scratch.conjuncts[conjunct as usize];
        if epoch == scratch.epoch {
            return known;
        }
        let value = self.relations.conditions.holds(conjunct, &scratch.contents);
        // What has no value makes everything unclear, unless something else decides.
        scratch.is_unclear |= value.is_none();
        let holds = value == Some(true);
        scratch.conjuncts[conjunct as usize] = (scratch.epoch, holds);
        holds
    }
}

/// The positions of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (lowest < 64).then_some(at * 64 + lowest)
        })
    })
}

impl ChoiceScratch {
    fn begin(&mut self, relations: &Relations, words: usize) {
        if self.conjuncts.len() < relations.conditions.len() || self.epoch == u32::MAX {
            self.conjuncts = vec![(0, false); relations.conditions.len()];
            self.epoch = 0;
        }
        self.epoch += 1;
        self.taken.clear();
        self.taken.resize(words, 0);
        self.best.clear();
        self.is_unclear = false;
    }

    /// Begins a new set.
    fn empty(&mut self) {
        let words = self.taken.len();
        for bits in [&mut self.set, &mut self.pending] {
            bits.clear();
            bits.resize(words, 0);
        }
    }

    /// Adds an entry to the present set.
    fn add(&mut self, entry: usize) {
        let (word, bit) = (entry / 64, 1 << (entry % 64));
        if self.set[word] & bit == 0 {
            self.set[word] |= bit;
            self.pending[word] |= bit;
        }
    }
}
