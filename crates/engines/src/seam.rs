//! The seam between searches and what runs a model: packed states in, successors out.
//!
//! [`TransitionSystem`] is all that a model has to offer. What a system can do faster, and what a reduction
//! adds, are traits of their own: [`Batches`] (with [`Facts`]), [`Steps`], [`Representatives`]. A search needs all of them
//! ([`SearchSpace`]), which [`crate::PassingSystem`] and [`crate::QuotientSystem`] have.

use std::ops::ControlFlow;

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Fault, PropertyId, RuleId, StartId, TableIndex, Violation};

use crate::explicit::store::copy;

/// An action with the cells of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// The start or rule.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: &'a [i64],
}

impl Instance<'_> {
    /// In place of an instance where an event is not the work of one.
    pub(crate) fn none() -> Self {
        Self { action: Action::Start(StartId::from_position(0)), arguments: &[] }
    }
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
    /// Steps to states that are passed through; what comes after them is told as well.
    Passed {
        /// How many there were, those of starts not counted.
        steps: u64,
        /// The cover statements reached on the way.
        covered: &'a [PropertyId],
    },
    /// Something is wrong in a state that is passed through.
    Wrong {
        /// The packed state.
        state: &'a [u64],
        /// What is wrong in it.
        violation: Violation,
    },
    /// Many instances in a row could not fire, or many states were passed through: a chance to stop.
    Idle,
}

/// A condition on some bits of one word of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldTest {
    /// One on no bits at all.
    Constant(bool),
    /// Whether they are equal to something.
    Is {
        /// The word.
        word: usize,
        /// The bits.
        mask: u64,
        /// What they are compared with.
        pattern: u64,
        /// Whether the two must be equal, or must not.
        equal: bool,
    },
    /// Whether they are the number of a bit of a set.
    In {
        /// The word.
        word: usize,
        /// The first of the bits.
        shift: u32,
        /// As many ones as there are bits, at most six.
        mask: u64,
        /// The set.
        set: u64,
    },
}

impl FieldTest {
    /// Whether the condition holds in a state.
    #[inline]
    pub fn holds(&self, state: &[u64]) -> bool {
        match *self {
            Self::Constant(holds) => holds,
            Self::Is { word, mask, pattern, equal } => (state[word] & mask == pattern) == equal,
            Self::In { word, shift, mask, set } => set >> (state[word] >> shift & mask) & 1 == 1,
        }
    }
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
    /// What is known after two steps.
    #[inline]
    pub(crate) fn join(first: u64, second: u64) -> u64 {
        match (first, second) {
            (Self::NOTHING, other) | (other, Self::NOTHING) => other,
            (first, second) if first == second => first,
            _ => Self::EVERYTHING,
        }
    }
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
    /// How many there are, and the words of these.
    count: usize,
    used: usize,
    /// Steps to states that are passed through and not among these.
    passed: u64,
}

impl Successors {
    /// No successors of so many words each.
    pub fn new(words: usize) -> Self {
        Self { stride: words + 1, records: Vec::new(), count: 0, used: 0, passed: 0 }
    }
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
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
        copy(&mut room[..state.len()], state);
        room[state.len()] = tag;
        self.used += state.len() + 1;
        self.count += 1;
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
        self.count = 0;
        self.used = 0;
        self.passed = 0;
    }
    /// How many steps led to states that were passed through, beside these.
    #[inline]
    pub fn passed(&self) -> u64 {
        self.passed
    }
    /// The same, forgotten.
    #[inline]
    pub(crate) fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }
    /// Counts steps to states that are passed through.
    #[inline]
    pub(crate) fn pass(&mut self, steps: u64) {
        self.passed += steps;
    }
    /// Puts one of them in the place of another one before it.
    #[inline]
    pub(crate) fn replace(&mut self, position: usize, by: usize) {
        debug_assert!(position < by);
        let (before, rest) = self.records.split_at_mut(by * self.stride);
        copy(&mut before[position * self.stride..][..self.stride], &rest[..self.stride]);
    }
    /// Forgets all but the first.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.count = self.count.min(length);
        self.used = self.count * self.stride;
    }
    /// Room for so many words after what is used.
    #[inline]
    pub(crate) fn room(&mut self, words: usize) -> &mut [u64] {
        if self.records.len() < self.used + words {
            self.records.resize((self.used + words).max(2 * self.records.len()), 0);
        }
        &mut self.records[self.used..]
    }
    /// Takes over so many words that were written to the room, and shows the tags in them.
    #[inline]
    pub(crate) fn advance(&mut self, words: usize, mut visit: impl FnMut(&mut u64)) {
        debug_assert!(words.is_multiple_of(self.stride));
        let end = self.used + words;
        // Dividing takes longer than most runs of records.
        while self.used < end {
            self.used += self.stride;
            self.count += 1;
            visit(&mut self.records[self.used - 1]);
        }
    }
}

/// Where the successors of a state go.
pub trait Sink {
    /// For successors as bare states: they are added to these.
    fn successors(&mut self) -> &mut Successors;
    /// For everything else, in the same order. Breaking ends the expansion.
    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()>;
}

/// A model as its searches see it. All orders are those of the model's text: actions in order of
/// declaration, the last parameter fastest. Assumptions are properties like others here; it is
/// the search that drops states.
///
/// A system is not changed by running it, so that several threads can share it, and what is searched
/// does not depend on what was searched before; what each run needs to work in is a `Scratch`.
///
/// None of the traits of the seam has a method with a default: a wrapper that forgets one does not compile.
pub trait TransitionSystem: Sync {
    /// The memory of one run.
    type Scratch;

    /// Memory to run in, one for each run that is under way at the same time.
    fn scratch(&self) -> Self::Scratch;

    /// The number of words of a packed state; at least one.
    fn words(&self) -> usize;

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
}

/// What is known of a model and of what was run of it, whatever wraps the system that runs it.
pub trait Facts: Sync {
    /// Whether every assumption and every invariant surely holds in a successor with this tag that
    /// [`Batches::expand`] gave, provided that all held in the state it was expanded from.
    /// If not, they have to be evaluated.
    fn is_safe(&self, tag: u64, state: &[u64]) -> bool;

    /// The condition of a property without parameters, if it is one on the bits of a word that always has
    /// a value.
    fn field_test(&self, property: PropertyId) -> Option<FieldTest>;

    /// Whether some state may have all bits of its last word set.
    fn fills_words(&self) -> bool;

    /// The rules of which some instance has fired, where that is noted.
    fn fired_rules(&self) -> Vec<RuleId>;

    /// Takes over which rules have fired elsewhere.
    fn note_fired_rules(&self, rules: &[RuleId]);
}

/// Successors in batches, with tags that say which properties a step cannot have broken.
pub trait Batches: TransitionSystem {
    /// What knows the facts about the model: the system below all wrappers.
    type Facts: Facts;

    /// The facts about the model.
    fn facts(&self) -> &Self::Facts;

    /// Like [`TransitionSystem::successors`], with successors as bare states, without the instance that
    /// produced them and the cover statements it reached on the way, as far as the system can.
    fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut impl Sink);
}

/// Steps one at a time, also where a system passes through states.
pub trait Steps: TransitionSystem {
    /// Like [`TransitionSystem::starts`], with the states of the model itself and one step at a time: states
    /// that are passed through are states like others here, and so are those that others represent.
    fn first_steps(&self, scratch: &mut Self::Scratch, visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>);

    /// Like [`Representatives::concrete_successors`], one step at a time.
    fn steps(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    );

    /// Whether a state is passed through in this system: not stored, and searched from at once.
    fn is_passed_through(&self, scratch: &mut Self::Scratch, state: &[u64]) -> bool;
}

/// Which states are one to a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Those with the same words.
    Words,
    /// Those with the same key ([`Representatives::key`]).
    Keys,
    /// Those with the same key that are also the same by [`Representatives::is_same`].
    KeysAndMatches,
}

/// States that represent others.
pub trait Representatives: TransitionSystem {
    /// What distinguishes this system from others of the same model whose stored states mean something else.
    fn name(&self) -> &'static str;

    /// Replaces a state of the model by the one that represents it in this system.
    fn represent(&self, scratch: &mut Self::Scratch, state: &mut [u64]);

    /// The same, with a symmetry that leads from the state to its representative, as a permutation of the
    /// literals. It costs more than the representative alone.
    fn represent_with_witness(&self, scratch: &mut Self::Scratch, state: &mut [u64]) -> SparsePermutation;

    /// Replaces a state by one that is the same for all states which may be reached in place of each other
    /// on the way to a stored state. It need not be the one that [`Representatives::represent`] gives.
    fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]);

    /// Like [`TransitionSystem::successors`], with the states of the model itself also in a quotient.
    fn concrete_successors(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u64],
        visit: impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()>,
    );

    /// Which states are stored once. Where it is not their words that decide, of all states that are one the
    /// first to be found is stored.
    fn identity(&self) -> Identity;

    /// A number that is the same for all states that are one. Only asked where words do not decide.
    fn key(&self, scratch: &mut Self::Scratch, state: &[u64]) -> u64;

    /// Whether two states with the same key are one. Only asked where words do not decide.
    fn is_same(&self, scratch: &mut Self::Scratch, stored: &[u64], state: &[u64]) -> bool;
}

/// What a search needs of a system: all of the above.
pub trait SearchSpace: Batches + Steps + Representatives {}

impl<S: Batches + Steps + Representatives> SearchSpace for S {}
