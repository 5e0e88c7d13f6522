//! What workers tell each other.

use std::time::Duration;

use quotient_ir::{Fault, FaultKind, Span};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use quotient_search::StopReason;
use quotient_states::findings::Rank;
use quotient_states::store::StateNumber;

/// States on the way to the worker that stores them. Each is a record: the words of the state and a [`Label`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Letter {
    pub(super) from: u32,
    pub(super) to: u32,
    #[serde(serialize_with = "write_words", deserialize_with = "read_words")]
    pub(super) records: Vec<u64>,
}

impl Letter {
    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        8 * self.records.len() as u64
    }
}

/// What is known about a state on its way, as a word: the number that its parent has where it is stored, and whether
/// assumptions and invariants certainly hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) parent: StateNumber,
    pub(super) is_safe: bool,
}

impl Label {
    #[inline]
    pub(super) fn encode(self) -> u64 {
        u64::from(self.parent) | u64::from(self.is_safe) << 32
    }

    #[inline]
    pub(super) fn decode(word: u64) -> Self {
        Self { parent: word as StateNumber, is_safe: word >> 32 & 1 == 1 }
    }
}

/// Anything else, from one worker to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) news: News,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum News {
    /// What the worker is about to do.
    Hello(Hello),
    /// The worker has the states of the point where the search resumes.
    Ready,
    /// So many bytes of letters were read.
    Read(u64),
    /// So many states are stored, and steps were taken.
    Count { states: u64, transitions: u64 },
    /// All have to stop.
    Stop(Stop),
    /// The level is over for the worker, which knows all states that it stores of the next one.
    Level(LevelSummary),
    /// The search is over.
    End(EndSummary),
    /// A state on the run to a finding, its distance from the end of the run, and its parent.
    Step { finding: u32, distance: u32, state: Vec<u64>, parent: Option<Place> },
    /// Nothing else comes.
    Done,
}

/// A stored state: its worker, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) worker: u32,
    pub(super) number: StateNumber,
}

/// The beginning of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// A sum over the model, what is asked of it, and the first states that are found.
    pub(super) fingerprint: u64,
    /// A fresh number. That of the first worker tells this run from others.
    pub(super) run: u64,
    /// The points that the worker can resume from; none if it begins from the start.
    pub(super) points: Option<Vec<Point>>,
}

/// A point between two levels: the run that reached it, and the number of levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) level: u64,
    pub(super) run: u64,
}

/// What a worker did in a level.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LevelSummary {
    /// New states.
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) unexpanded: u64,
    /// The cover properties and remarks that were reached.
    pub(super) covered: Vec<u32>,
    pub(super) findings: Vec<Discovery>,
    /// Why it was stopped.
    pub(super) stop: Option<Stop>,
    /// Whether it asks for a checkpoint.
    pub(super) saves: bool,
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Discovery {
    /// Its place among others, so that all choose the same one of several.
    pub(super) rank: Rank,
    /// The last stored state of the run.
    pub(super) origin: Option<Place>,
    /// A state after it that was not stored.
    pub(super) state: Option<Vec<u64>>,
}

/// What a worker knows at the end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EndSummary {
    /// Rules that have fired.
    pub(super) fired: Vec<u32>,
    /// The number of states represented by those it stores, in bytes.
    pub(super) represented: Option<Vec<u8>>,
    pub(super) memory_bytes: u64,
    /// Whether it met a value that was considered impossible.
    pub(super) is_unsound: bool,
}

/// Why a worker stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stop {
    States(u64),
    Depth(u64),
    Memory(u64),
    TooManyStates,
    OutOfMemory,
    Time(Duration),
    Interrupted,
    Checkpoint(String),
    Exhausted { start: u32, end: u32, message: String },
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::StateLimit(limit) => Self::States(limit),
            StopReason::DepthLimit(limit) => Self::Depth(limit),
            StopReason::MemoryLimit(limit) => Self::Memory(limit),
            StopReason::TooManyStates => Self::TooManyStates,
            StopReason::OutOfMemory => Self::OutOfMemory,
            StopReason::TimeLimit(limit) => Self::Time(limit),
            StopReason::CheckpointFailed(reason) => Self::Checkpoint(reason),
            StopReason::Exhausted(fault) => {
                Self::Exhausted { start: fault.span.start, end: fault.span.end, message: fault.message }
            }
            // The others do not arise in such a search.
            _ => Self::Interrupted,
        }
    }
}

impl From<Stop> for StopReason {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::States(limit) => Self::StateLimit(limit),
            Stop::Depth(limit) => Self::DepthLimit(limit),
            Stop::Memory(limit) => Self::MemoryLimit(limit),
            Stop::TooManyStates => Self::TooManyStates,
            Stop::OutOfMemory => Self::OutOfMemory,
            Stop::Time(limit) => Self::TimeLimit(limit),
            Stop::Interrupted => Self::Withdrawn,
            Stop::Checkpoint(reason) => Self::CheckpointFailed(reason),
            Stop::Exhausted { start, end, message } => {
                Self::Exhausted(Fault { kind: FaultKind::Exhausted, span: Span { start, end }, message })
            }
        }
    }
}

/// Words as bytes at once: one at a time takes longer than everything else that is done with a letter. All processors
/// that this program is built for have the same order of bytes.
fn write_words<S: Serializer>(words: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytemuck::cast_slice(words))
}

fn read_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    struct Words;
    impl Visitor<'_> for Words {
        type Value = Vec<u64>;
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(formatter, "whole words")
        }
        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u64>, E> {
            let (words, rest) = bytes.as_chunks();
            if !rest.is_empty() {
                return Err(E::invalid_length(bytes.len(), &self));
            }
            Ok(words.iter().map(|&word| u64::from_ne_bytes(word)).collect())
        }
    }
    deserializer.deserialize_bytes(Words)
}
