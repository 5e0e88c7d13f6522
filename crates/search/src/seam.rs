//! The interface between searches and transition systems: packed states in, successors out.
//!
//! [`TransitionSystem`] is all that a model must provide. Faster paths, and what a reduction adds, are separate traits:
//!
//! * [`Batches`]: bare successors in bulk, tags for the properties that a step cannot have violated, and the [`Facts`]
//!   known to the innermost system;
//! * [`Parts`]: expansion of a part of the instances, where that suffices
//!   ([partial order](../../../docs/adr/0023-stubborn-sets-on-functions.md));
//! * [`Steps`]: one step at a time through transient states;
//! * [`Representatives`]: the state stored for an orbit, on request the permutation that leads to it, concrete
//!   successors, and when two states are identified (by words, by key, or by key and match).
//!
//! A search needs all of them ([`SearchSpace`]); the systems for transient states and for quotients implement them.

use std::ops::ControlFlow;

use quotient_groups::SparsePermutation;
use quotient_ir::{Action, Fault, PropertyId, RuleId, StartId, TableIndex, Violation};

use crate::words::copy;

/// An action with the cells of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// The start or rule.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: &'a [i64],
}

impl Instance<'_> {
    /// A placeholder for an event that no instance caused.
    pub fn none() -> Self {
        Self { action: Action::Start(StartId::from_position(0)), arguments: &[] }
    }
}

/// An instance of a rule, as one that can be chosen to be fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInstance {
    /// The rule.
    pub rule: RuleId,
    /// The cells of its parameters.
    pub arguments: Box<[i64]>,
    /// Its place in the order of the instances of the rule, if that is known.
    pub number: u32,
}

/// Some instances of rules: positions in a list of all of them, in order.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// All instances.
    pub instances: &'a [RuleInstance],
    /// The chosen ones.
    pub chosen: &'a [u32],
}

impl<'a> Selection<'a> {
    /// The chosen instances.
    pub fn iter(self) -> impl Iterator<Item = &'a RuleInstance> {
        self.chosen.iter().map(move |&position| &self.instances[position as usize])
    }
}

/// The outcome of firing an instance.
#[derive(Debug)]
pub enum Event<'a> {
    /// A state.
    Next {
        /// The packed state.
        state: &'a [u64],
        /// The cover statements reached along the way, each once.
        covered: &'a [PropertyId],
    },
    /// An assume statement failed: the instance counts as not fired.
    Pruned,
    /// The guard or the body caused a run-time error.
    Fault(Fault),
    /// Steps to transient states; the events after them are reported as well.
    Passed {
        /// The number of steps, without those of starts.
        steps: u64,
        /// The cover statements reached along the way.
        covered: &'a [PropertyId],
    },
    /// A violation in a transient state.
    Wrong {
        /// The packed state.
        state: &'a [u64],
        /// The violation.
        violation: Violation,
    },
    /// Many consecutive instances could not fire, or many transient states were visited: an opportunity to stop.
    Idle,
}

/// A condition on some bits of one word of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldTest {
    /// A constant, without bits.
    Constant(bool),
    /// Whether the bits are equal to a pattern.
    Is {
        /// The word.
        word: usize,
        /// The bits.
        mask: u64,
        /// The pattern.
        pattern: u64,
        /// Whether they must be equal, or must differ.
        equal: bool,
    },
    /// Whether the bits, as a number, are a member of a set.
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

/// What is known about a successor: the least numbers say which assumptions and invariants the step may have touched.
/// Other numbers belong to the system that produced them.
#[derive(Clone, Copy, Debug)]
pub enum Tag {}

impl Tag {
    /// All assumptions and invariants that held before the step hold after it.
    pub const NOTHING: u64 = 0;
    /// Nothing is known.
    pub const EVERYTHING: u64 = 1;
    /// The combined tag of two steps.
    #[inline]
    pub fn join(first: u64, second: u64) -> u64 {
        match (first, second) {
            (Self::NOTHING, other) | (other, Self::NOTHING) => other,
            (first, second) if first == second => first,
            _ => Self::EVERYTHING,
        }
    }
    /// The first number that a system may use freely.
    pub const FIRST_FREE: u64 = 2;
}

/// Consecutive successors, in the order in which they were found. Each is a record: the words of the state and a
/// [`Tag`].
#[derive(Clone, Debug)]
pub struct Successors {
    stride: usize,
    /// Longer than the part in use, so that compiled code can write to it.
    records: Vec<u64>,
    /// The number of successors, and the words in use.
    count: usize,
    used: usize,
    /// The number of steps to transient states, which are not among these.
    passed: u64,
}

impl Successors {
    /// No successors, of a number of words each.
    pub fn new(words: usize) -> Self {
        Self { stride: words + 1, records: Vec::new(), count: 0, used: 0, passed: 0 }
    }
    /// The number of successors.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }
    /// The number of words of each.
    #[inline]
    pub fn words(&self) -> usize {
        self.stride - 1
    }
    /// Whether there are none.
    #[inline]
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
    /// Adds a successor whose words are written by a function.
    #[inline]
    pub fn push_with(&mut self, write: impl FnOnce(&mut [u64]), tag: u64) {
        let stride = self.stride;
        let room = &mut self.room(stride)[..stride];
        write(&mut room[..stride - 1]);
        room[stride - 1] = tag;
        self.used += stride;
        self.count += 1;
    }
    /// One of them, with its tag.
    #[inline]
    pub fn get(&self, position: usize) -> (&[u64], u64) {
        let record = &self.records[position * self.stride..][..self.stride];
        (&record[..self.stride - 1], record[self.stride - 1])
    }
    /// One of them, mutably.
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> (&mut [u64], &mut u64) {
        let record = &mut self.records[position * self.stride..][..self.stride];
        let (tag, state) = record.split_last_mut().expect("a record has a tag");
        (state, tag)
    }
    /// The records, in order.
    #[inline]
    pub fn records(&self) -> std::slice::ChunksExact<'_, u64> {
        self.records[..self.used].chunks_exact(self.stride)
    }
    /// The records from a position on.
    #[inline]
    pub fn records_from(&mut self, position: usize) -> &mut [u64] {
        &mut self.records[position * self.stride..self.used]
    }
    /// Removes all.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
        self.used = 0;
        self.passed = 0;
    }
    /// The number of additional steps that led to transient states.
    #[inline]
    pub fn passed(&self) -> u64 {
        self.passed
    }
    /// The same, reset to zero.
    #[inline]
    pub fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }
    /// Counts steps to transient states.
    #[inline]
    pub fn pass(&mut self, steps: u64) {
        self.passed += steps;
    }
    /// Replaces an earlier successor by a later one.
    #[inline]
    pub fn replace(&mut self, position: usize, by: usize) {
        debug_assert!(position < by);
        let (before, rest) = self.records.split_at_mut(by * self.stride);
        copy(&mut before[position * self.stride..][..self.stride], &rest[..self.stride]);
    }
    /// Removes all except the first ones.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.count = self.count.min(length);
        self.used = self.count * self.stride;
    }
    /// Room for a number of words after those in use.
    #[inline]
    pub fn room(&mut self, words: usize) -> &mut [u64] {
        if self.records.len() < self.used + words {
            self.records.resize((self.used + words).max(2 * self.records.len()), 0);
        }
        &mut self.records[self.used..]
    }
    /// Takes over words that were written to the room, and passes their tags to `visit`.
    #[inline]
    pub fn advance(&mut self, words: usize, mut visit: impl FnMut(&mut u64)) {
        debug_assert!(words.is_multiple_of(self.stride));
        let end = self.used + words;
        // A division takes longer than most runs of records.
        while self.used < end {
            self.used += self.stride;
            self.count += 1;
            visit(&mut self.records[self.used - 1]);
        }
    }
}

/// The receiver of the successors of a state.
pub trait Sink {
    /// The buffer for successors as bare states.
    fn successors(&mut self) -> &mut Successors;
    /// Receives everything else, in the same order. A break ends the expansion.
    fn event(&mut self, instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()>;
}

/// Receives each instance and what it leads to, in order. A break ends the enumeration.
///
/// It is a trait object: closures would compile every system again for each caller, and successors that must be fast are
/// bare states in a buffer ([`Batches`]).
pub type Visit<'a> = dyn FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()> + 'a;

/// Receives the truth of a property for each valuation of its parameters, in order. A break ends the enumeration.
pub type VisitTruth<'a> = dyn FnMut(&[i64], Result<bool, Fault>) -> ControlFlow<()> + 'a;

/// A model as seen by searches. All orders are those of the model's text: actions in order of declaration, the last
/// parameter fastest. Assumptions are ordinary properties here; the search drops states.
///
/// Running a system does not change it, so several threads can share it, and a search does not depend on earlier ones;
/// the working memory of each run is a `Scratch`.
///
/// None of the traits here has a method with a default: a wrapper that forgets one does not compile. What it leaves to the
/// system inside, [`forward!`](crate::forward) writes.
pub trait TransitionSystem: Sync {
    /// The working memory of one run.
    type Scratch: 'static;

    /// Working memory, one for each run in progress at the same time.
    fn scratch(&self) -> Self::Scratch;

    /// The number of words of a packed state; at least one.
    fn words(&self) -> usize;

    /// Runs every instance of every start in order. A break from `visit` ends the enumeration.
    fn starts(&self, scratch: &mut Self::Scratch, visit: &mut Visit<'_>);

    /// Fires every enabled instance of every rule in order. Instances with a false guard are not reported. A break from
    /// `visit` ends the enumeration.
    fn successors(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>);

    /// Evaluates a property for each valuation of its parameters in order. A cover property without a condition has
    /// none. A break from `visit` ends the enumeration.
    fn evaluate(&self, scratch: &mut Self::Scratch, property: PropertyId, state: &[u64], visit: &mut VisitTruth<'_>);
}

/// Facts about a model and what was run of it, regardless of wrappers.
pub trait Facts: Sync {
    /// Whether every assumption and every invariant certainly holds in a successor with this tag from
    /// [`Batches::expand`], provided that all held in the state it was expanded from. If not, they must be evaluated.
    fn is_safe(&self, tag: u64, state: &[u64]) -> bool;

    /// The condition of a property without parameters, if it is a test of the bits of one word that never fails to
    /// evaluate.
    fn field_test(&self, property: PropertyId) -> Option<FieldTest>;

    /// The bits that the last word of a state may have.
    fn last_word(&self) -> u64;

    /// The rules of which some instance has fired, if this is recorded.
    fn fired_rules(&self) -> Vec<RuleId>;

    /// Adds rules that have fired elsewhere.
    fn note_fired_rules(&self, rules: &[RuleId]);
}

/// Successors in batches, with tags that say which properties a step cannot have violated.
pub trait Batches: TransitionSystem {
    /// The facts about the model.
    fn facts(&self) -> &dyn Facts;

    /// Like [`TransitionSystem::successors`], with successors as bare states, without the instance that produced them
    /// and the cover statements it reached, as far as the system supports this.
    fn expand(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink);

    /// The same for some instances only.
    fn expand_some(&self, scratch: &mut Self::Scratch, state: &[u64], selection: Selection<'_>, sink: &mut dyn Sink);
}

/// How much of a state was expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All that is needed.
    Enough,
    /// A part, which is enough if some successor is expanded later than the state.
    Part,
}

/// Expansion of a part of the instances where that suffices: partial order.
pub trait Parts: Batches {
    /// Whether it ever expands a part only.
    fn reduces(&self) -> bool;

    /// Like [`Batches::expand`], for as few instances as suffice.
    fn expand_part(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink) -> Share;

    /// Expands what the expansion of a part of the same state, immediately before, has left out.
    fn expand_rest(&self, scratch: &mut Self::Scratch, state: &[u64], sink: &mut dyn Sink);

    /// The states of this system that were passed through on the way from one to another of its expansion. Unlike
    /// transient states, they are none of the model.
    fn passed_between(&self, scratch: &mut Self::Scratch, from: &[u64], to: &[u64]) -> Vec<Vec<u64>>;
}

/// Steps one at a time, also through transient states.
pub trait Steps: TransitionSystem {
    /// Like [`TransitionSystem::starts`], with the states of the model itself and one step at a time: transient states
    /// are ordinary states here, and so are states represented by others.
    fn first_steps(&self, scratch: &mut Self::Scratch, visit: &mut Visit<'_>);

    /// Like [`Representatives::concrete_successors`], one step at a time.
    fn steps(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>);

    /// Whether a state is transient in this system: not stored, and expanded at once.
    fn is_passed_through(&self, scratch: &mut Self::Scratch, state: &[u64]) -> bool;
}

/// Which states a search identifies.
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
    /// Distinguishes this system from others of the same model whose stored states have another meaning.
    fn name(&self) -> &'static str;

    /// Replaces a state of the model by its representative in this system.
    fn represent(&self, scratch: &mut Self::Scratch, state: &mut [u64]);

    /// The same, with a symmetry that maps the state to its representative, as a permutation of the literals. It costs
    /// more than the representative alone.
    fn represent_with_witness(&self, scratch: &mut Self::Scratch, state: &mut [u64]) -> SparsePermutation;

    /// Replaces a state by one that is the same for all states that can be reached in place of each other on the path
    /// to a stored state. It need not be the one that [`Representatives::represent`] gives.
    fn identify(&self, scratch: &mut Self::Scratch, state: &mut [u64]);

    /// Like [`TransitionSystem::successors`], with the states of the model itself, even in a quotient.
    fn concrete_successors(&self, scratch: &mut Self::Scratch, state: &[u64], visit: &mut Visit<'_>);

    /// Which states are identified. If this is not decided by their words, the first one found is stored.
    fn identity(&self) -> Identity;

    /// A number that is the same for all identified states. Only called if words do not decide.
    fn key(&self, scratch: &mut Self::Scratch, state: &[u64]) -> u64;

    /// Whether two states with the same key are identified. Only called if words do not decide.
    fn is_same(&self, scratch: &mut Self::Scratch, stored: &[u64], state: &[u64]) -> bool;
}

/// Everything a search needs: all of the above.
pub trait SearchSpace: Batches + Parts + Steps + Representatives {}

impl<S: Batches + Parts + Steps + Representatives> SearchSpace for S {}
