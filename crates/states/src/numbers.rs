//! The numbers of stored states, and what tables of states answer.

use quotient_search::{SearchOptions, StopReason};

/// The number of a stored state, in order of discovery.
pub type StateNumber = u32;

/// The parent of a state produced by a start.
pub const NO_PARENT: StateNumber = u32::MAX;

/// The number of states the store can number; the last numbers are reserved for "none".
pub const STATE_LIMIT: u64 = u32::MAX as u64 - 1;

/// Why a state cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// All state numbers are used.
    Numbers,
    /// The memory limit would be exceeded.
    Memory,
    /// The system has no more memory.
    System,
}

impl Full {
    /// Why a search with a full store ends.
    pub fn reason(self, options: &SearchOptions) -> StopReason {
        match self {
            Self::Numbers => StopReason::TooManyStates,
            Self::Memory => StopReason::MemoryLimit(options.max_memory.unwrap_or(u64::MAX)),
            Self::System => StopReason::OutOfMemory,
        }
    }
}

/// The result of a table lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The state is stored, with this number, if the table knows numbers.
    Stored(StateNumber),
    /// It is not stored; its entry would go to this position of its part.
    Vacant(usize),
}

/// The result of a bulk lookup for one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// It is stored.
    Stored,
    /// It was not stored; its entry would have gone to this position of its part.
    Vacant(u32),
    /// Unknown.
    Unknown,
}
