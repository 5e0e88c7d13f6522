//! The seam between searches and what runs a model: packed states in, successors out.

use std::ops::ControlFlow;

use quotient_ir::{Action, Fault, PropertyId};

/// An action with the cells of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// The start or rule.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: &'a [i64],
}

/// What came of firing an instance.
#[derive(Debug)]
pub enum Event<'a> {
    /// A state.
    Next {
        /// The packed state.
        state: &'a [u64],
        /// The cover statements reached on the way, each once.
        covered: &'a [PropertyId],
    },
    /// An assume statement failed; it is as if the instance had not fired.
    Pruned,
    /// The guard or the body went wrong.
    Fault(Fault),
    /// Many instances in a row could not fire: a chance to stop.
    Idle,
}

/// What is known of a successor: the least number that says which assumptions and invariants the
/// step may have touched. Other numbers belong to the system that gave them.
#[derive(Clone, Copy, Debug)]
pub enum Tag {}

impl Tag {
    /// All assumptions and invariants that held before the step hold after it.
    pub const NOTHING: u64 = 0;
    /// Nothing is known.
    pub const EVERYTHING: u64 = 1;
    /// The first number that a system may use as it likes.
    pub(crate) const FIRST_FREE: u64 = 2;
}

/// Successors in a row, in the order in which they were found. Each is a record: the words of the
/// state and a [`Tag`].
#[derive(Clone, Debug)]
pub struct Successors {
    stride: usize,
    /// Longer than what is used of it, so that compiled code can write to it.
    records: Vec<u64>,
    used: usize,
}

impl Successors {
    /// No successors of so many words each.
    pub fn new(words: usize) -> Self {
        Self { stride: words + 1, records: Vec::new(), used: 0 }
    }
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.used / self.stride
    }
    /// The words of each.
    pub fn words(&self) -> usize {
        self.stride - 1
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
    /// Adds a successor.
    #[inline]
    pub fn push(&mut self, state: &[u64], tag: u64) {
        let room = self.room(state.len() + 1);
        room[..state.len()].copy_from_slice(state);
        room[state.len()] = tag;
        self.used += state.len() + 1;
    }
    /// One of them, with its tag.
    #[inline]
    pub fn get(&self, position: usize) -> (&[u64], u64) {
        let record = &self.records[position * self.stride..][..self.stride];
        (&record[..self.stride - 1], record[self.stride - 1])
    }
    /// One of them, to change.
    pub fn get_mut(&mut self, position: usize) -> (&mut [u64], &mut u64) {
        let record = &mut self.records[position * self.stride..][..self.stride];
        let (tag, state) = record.split_last_mut().expect("a record has a tag");
        (state, tag)
    }
    /// The records, one after the other.
    #[inline]
    pub(crate) fn records(&self) -> std::slice::ChunksExact<'_, u64> {
        self.records[..self.used].chunks_exact(self.stride)
    }
    /// Forgets all.
    pub fn clear(&mut self) {
        self.used = 0;
    }
    /// Room for so many words after what is used.
    #[inline]
    pub(crate) fn room(&mut self, words: usize) -> &mut [u64] {
        if self.records.len() < self.used + words {
            self.records.resize((self.used + words).max(2 * self.records.len()), 0);
        }
        &mut self.records[self.used..]
    }
    /// Takes over so many words that were written to the room.
    #[inline]
    pub(crate) fn advance(&mut self, words: usize) {
        debug_assert!(words.is_multiple_of(self.stride) && self.used + words <= self.records.len());
        self.used += words;
    }
}

/// Where the successors of a state go.
pub trait Sink {
    /// For successors of which nothing is to be known but the state: they are added to these.
    fn successors(&mut self) -> &mut Successors;
    /// For everything else, in the same order. Breaking ends the expansion.
    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()>;
}

/// A model as its searches see it. All orders are those of the model's text: actions in order of
/// declaration, the last parameter fastest. Assumptions are properties like others here; it is
/// the search that drops states.
///
/// A system is not changed by running it, so that several threads can share it; what each needs to
/// run it is a `Scratch`.
pub trait TransitionSystem: Sync {
    /// The memory of one run.
    type Scratch;

    /// Memory to run in, one for each run that is under way at the same time.
    fn scratch(&self) -> Self::Scratch;

    /// The number of words of a packed state; at least one.
    fn words(&self) -> usize;

    /// Whether some state may have all bits of its last word set.
    fn fills_words(&self) -> bool {
        true
    }

    /// Runs every instance of every start in order. Breaking from `visit` ends the enumeration.
    fn starts(&self, scratch: &mut Self::Scratch, visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>);

    /// Fires every enabled instance of every rule in order. Nothing is said about an instance
    /// whose guard is false. Breaking from `visit` ends the enumeration.
    fn successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    );

    /// Evaluates a property for each valuation of its parameters in order. A cover property
    /// without a condition has none. Breaking from `visit` ends the enumeration.
    fn evaluate(
        &self,
        scratch: &mut Self::Scratch,
        property: PropertyId,
        state: &[u64],
        visit: impl FnMut(&[i64], Result<bool, Fault>) -> ControlFlow<()>,
    );

    /// Like [`TransitionSystem::successors`], for those who do not want to know which instance led
    /// to a successor and which cover statements it reached on the way.
    fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut impl Sink) {
        self.successors(scratch, state, |instance, event| sink.event(instance, event));
    }

    /// Whether every assumption and every invariant surely holds in a successor with this tag that
    /// [`TransitionSystem::expand`] gave, provided that all held in the state it was expanded from.
    /// If not, they have to be evaluated.
    fn is_safe(&self, _tag: u64, _state: &[u64]) -> bool {
        false
    }

    /// What tells this system from others of the same model whose states mean something else.
    fn name(&self) -> &'static str {
        ""
    }

    /// Replaces a state by the one that stands for it in this system. Nothing, unless this is a
    /// quotient.
    fn represent(&self, _scratch: &mut Self::Scratch, _state: &mut [u64]) {}

    /// Replaces a state by one that is the same for all states that stand for each other. It need not
    /// be the one that [`TransitionSystem::represent`] gives.
    fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]) {
        self.represent(scratch, state);
    }

    /// Like [`TransitionSystem::starts`], with the states of the model itself also in a quotient.
    fn concrete_starts(
        &self,
        scratch: &mut Self::Scratch,
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.starts(scratch, visit);
    }

    /// Like [`TransitionSystem::successors`], with the states of the model itself also in a
    /// quotient.
    fn concrete_successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    ) {
        self.successors(scratch, state, visit);
    }
}
