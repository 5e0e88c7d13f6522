//! Stubborn sets: for a state, some of its steps that suffice.
//!
//! A set is closed if it contains, of every step in it that can be taken, all that does not accord with it, and of
//! everything else in it, all that can make one false conjunct of its guard true. Any closed set with a step that can be
//! taken will do (Valmari; Laarman, Pater, van de Pol, Hansen). Of those that begin with one step, the one with the
//! fewest steps is chosen, the first if there are several: the choice depends on nothing but the state.

use crate::partial_order::conditions::{ConditionId, Contents, Reader};
use crate::partial_order::relations::{EntryId, EntryKind, Relations};
use quotient_ir::Layout;

/// The largest number of steps with which a set is begun.
const SEEDS: usize = 64;
/// How much worse it is to include a step that can be taken than one that cannot.
const TAKEN: u32 = 1 << 16;

/// Chooses stubborn sets in states of one layout.
#[derive(Debug)]
pub(crate) struct Chooser<'a> {
    relations: &'a Relations,
    reader: Reader,
    /// The steps by the value that one slot must have; each is in one of the lists.
    dispatch: Vec<(u32, Vec<Vec<EntryId>>)>,
    /// The steps without a condition on one slot.
    others: Vec<EntryId>,
    /// What has to be seen when it happens.
    events: Vec<EntryId>,
}

/// The working memory for one state at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChoiceScratch {
    contents: Contents,
    /// The state that marks are about.
    epoch: u32,
    /// For each conjunct whether it holds, as of an epoch.
    conjuncts: Vec<(u32, bool)>,
    /// For each entry whether it can be taken, as of an epoch.
    taken: Vec<(u32, bool)>,
    /// For each entry the set that it is in.
    sets: Vec<u32>,
    set: u32,
    pending: Vec<EntryId>,
    enabled: Vec<EntryId>,
    members: Vec<EntryId>,
    best: Vec<EntryId>,
    /// Whether a condition had no value.
    is_unclear: bool,
    /// The instances to fire.
    pub(crate) chosen: Vec<u32>,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(relations: &'a Relations, layout: &Layout) -> Self {
        let conditions = &relations.conditions;
        let mut lists: Vec<(u32, Vec<Vec<EntryId>>)> = Vec::new();
        let mut others = Vec::new();
        let mut events = Vec::new();
        for (id, entry) in (0..).zip(&relations.entries) {
            match entry.kind {
                EntryKind::Step => {}
                EntryKind::Event => {
                    events.push(id);
                    continue;
                }
                EntryKind::Sight => continue,
            }
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
        Self { relations, reader: Reader::new(conditions, layout), dispatch: lists, others, events }
    }

    /// Whether some steps of a state suffice; then the instances to fire are in the scratch.
    pub(crate) fn choose(&self, state: &[u64], scratch: &mut ChoiceScratch) -> bool {
        if !self.reader.read(state, &mut scratch.contents) {
            return false;
        }
        scratch.begin(self.relations);
        let mut enabled = std::mem::take(&mut scratch.enabled);
        enabled.clear();
        for (slot, lists) in &self.dispatch {
            let list = &lists[scratch.contents.position(*slot)];
            enabled.extend(list.iter().copied().filter(|&step| self.is_taken(step, scratch)));
        }
        enabled.extend(self.others.iter().copied().filter(|&step| self.is_taken(step, scratch)));
        enabled.sort_unstable();
        let mut least = enabled.len();
        scratch.best.clear();
        if enabled.len() > 1 && !scratch.is_unclear {
            for &seed in enabled.iter().take(SEEDS) {
                if let Some(size) = self.close(seed, least, scratch) {
                    least = size;
                    std::mem::swap(&mut scratch.best, &mut scratch.members);
                    if least <= 1 {
                        break;
                    }
                }
            }
        }
        let is_part = least < enabled.len() && !scratch.is_unclear;
        scratch.enabled = enabled;
        scratch.chosen.clear();
        if is_part {
            let ChoiceScratch { best, chosen, .. } = scratch;
            chosen.extend(best.iter().map(|&entry| self.relations.entries[entry as usize].instance));
            chosen.sort_unstable();
            chosen.dedup();
        }
        is_part
    }

    /// Replaces the chosen instances of the state by all others that can fire.
    pub(crate) fn invert(&self, scratch: &mut ChoiceScratch) {
        let before = std::mem::take(&mut scratch.chosen);
        let enabled = std::mem::take(&mut scratch.enabled);
        let mut rest: Vec<u32> = Vec::new();
        let events = self.events.iter().copied().filter(|&event| self.is_taken(event, scratch));
        for entry in events.collect::<Vec<_>>().into_iter().chain(enabled.iter().copied()) {
            rest.push(self.relations.entries[entry as usize].instance);
        }
        rest.sort_unstable();
        rest.dedup();
        rest.retain(|instance| before.binary_search(instance).is_err());
        scratch.enabled = enabled;
        scratch.chosen = rest;
    }

    /// The number of steps of the closed set that begins with a step, if it is less than a limit; its members that can
    /// be taken are in the scratch.
    fn close(&self, seed: EntryId, limit: usize, scratch: &mut ChoiceScratch) -> Option<usize> {
        scratch.set += 1;
        scratch.members.clear();
        scratch.pending.clear();
        scratch.add(seed);
        let mut size = 0;
        while let Some(entry) = scratch.pending.pop() {
            let content = &self.relations.entries[entry as usize];
            if self.is_taken(entry, scratch) {
                if content.kind == EntryKind::Sight {
                    // It is seen in this state.
                    continue;
                }
                size += 1;
                if size >= limit {
                    return None;
                }
                scratch.members.push(entry);
                for &other in &self.relations.discords[entry as usize] {
                    scratch.add(other);
                }
                continue;
            }
            if scratch.is_unclear {
                return None;
            }
            let conjunct = self.cheapest(&content.conjuncts, scratch);
            for &step in &self.relations.enablers[conjunct as usize] {
                scratch.add(step);
            }
        }
        Some(size)
    }

    /// The false conjunct whose enabling steps add the least to the set.
    fn cheapest(&self, conjuncts: &[ConditionId], scratch: &mut ChoiceScratch) -> ConditionId {
        let mut best: Option<(u32, ConditionId)> = None;
        for &conjunct in conjuncts {
            if self.holds(conjunct, scratch) {
                continue;
            }
            let mut cost = 0;
            for &step in &self.relations.enablers[conjunct as usize] {
                if scratch.sets[step as usize] != scratch.set {
                    cost += if self.is_taken(step, scratch) { TAKEN } else { 1 };
                }
                if best.is_some_and(|(least, _)| cost >= least) {
                    break;
                }
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

    fn is_taken(&self, entry: EntryId, scratch: &mut ChoiceScratch) -> bool {
        let (epoch, known) = scratch.taken[entry as usize];
        if epoch == scratch.epoch {
            return known;
        }
        let conjuncts = &self.relations.entries[entry as usize].conjuncts;
        let is_taken = conjuncts.iter().all(|&conjunct| self.holds(conjunct, scratch));
        scratch.taken[entry as usize] = (scratch.epoch, is_taken);
        is_taken
    }

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

impl ChoiceScratch {
    fn begin(&mut self, relations: &Relations) {
        if self.taken.len() < relations.entries.len() || self.epoch == u32::MAX || self.set > u32::MAX / 2 {
            self.taken = vec![(0, false); relations.entries.len()];
            self.sets = vec![0; relations.entries.len()];
            self.conjuncts = vec![(0, false); relations.conditions.len()];
            (self.epoch, self.set) = (0, 0);
        }
        self.epoch += 1;
        self.is_unclear = false;
    }

    /// Adds an entry to the present set.
    fn add(&mut self, entry: EntryId) {
        if self.sets[entry as usize] != self.set {
            self.sets[entry as usize] = self.set;
            self.pending.push(entry);
        }
    }
}
