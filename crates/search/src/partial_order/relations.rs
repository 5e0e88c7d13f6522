//! What instances of rules do to each other, as searches read it.

use crate::partial_order::conditions::{ConditionId, Conditions};
use crate::seam::RuleInstance;

/// An entry of the relations.
pub type EntryId = u32;

/// What a stubborn set consists of.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its kind.
    pub kind: EntryKind,
    /// The conjuncts of its guard.
    pub conjuncts: Vec<ConditionId>,
    /// The instance that is fired.
    pub instance: u32,
}

/// The kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A step of an instance.
    Step,
    /// A step of an instance that goes wrong or reaches a cover statement: it has to be seen, and changes nothing.
    Event,
    /// A condition on states that has to be seen.
    Sight,
}

/// The relations of a model, which do not change during a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relations {
    /// What sets consist of.
    pub entries: Vec<Entry>,
    /// All instances of rules, in order.
    pub instances: Vec<RuleInstance>,
    /// The conjuncts of guards.
    pub conditions: Conditions,
    /// For each conjunct, the steps that can make it true.
    pub enablers: Vec<Vec<EntryId>>,
    /// For each step, what does not accord with it. Empty for other entries.
    pub discords: Vec<Vec<EntryId>>,
    /// What must not be put off forever: everything that has to be seen, and steps that may find something on the way
    /// through transient states. For runs, the visible steps.
    pub targets: Vec<EntryId>,
    /// The steps with which a set may begin.
    pub seeds: Vec<EntryId>,
    /// For runs, the steps that can change the truth of an atom: a set has all of them, or none that can be taken.
    pub visible: Vec<EntryId>,
    /// Whether the work for composing functions did not suffice.
    pub is_coarse: bool,
    /// Whether states in which a local step can be taken are passed through.
    pub passes_local: bool,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.conjuncts, self.instance) == (other.kind, &other.conjuncts, other.instance)
    }
}

impl Eq for Entry {}

impl Relations {
    /// Whether an entry is a step that accords with everything: in no state does it matter to anything else when it is
    /// taken.
    pub(crate) fn is_local(&self, entry: EntryId) -> bool {
        self.discords[entry as usize].is_empty() && self.seeds.binary_search(&entry).is_ok()
    }

    /// The same relations, for a search that stores all states that are reached.
    pub fn storing_all(self) -> Self {
        Self { passes_local: false, ..self }
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.entries.iter().filter(|entry| entry.kind == EntryKind::Step).count()
    }
}
