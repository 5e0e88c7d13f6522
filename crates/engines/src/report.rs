//! What a search found out.

use std::fmt;
use std::time::Duration;

use num_bigint::BigUint;
use quotient_ir::{Fault, LayoutError, PropertyId, ReplayError, RuleId, Trace};

use crate::cross_check::CrossCheck;
use crate::explicit::store::Full;
use crate::options::SearchOptions;

/// The answer about a model or about one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It holds in the whole model.
    Holds,
    /// It does not, and a run shows it (except for what is never reached).
    Violated,
    /// The search ended before this was decided.
    Inconclusive,
}

/// Why a search ended before it was finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A violation was found; what else there is was not looked at.
    Violation,
    /// This many states were stored.
    StateLimit(u64),
    /// States this many steps from a start were not expanded.
    DepthLimit(u64),
    /// More than this many bytes would be needed.
    MemoryLimit(u64),
    /// More than this many bytes of disk would be needed.
    DiskLimit(u64),
    /// States could not be written to disk or read from it, for this reason.
    SpillFailed(String),
    /// More states than the store can number.
    TooManyStates,
    /// The system has no more memory.
    OutOfMemory,
    /// This much time has passed. Only observers say so.
    TimeLimit(Duration),
    /// Somebody asked to stop. Only observers say so.
    Interrupted,
    /// A checkpoint could not be written, for this reason.
    CheckpointFailed(String),
    /// A step took more loop iterations or nested calls than are allowed, or leaves what was assumed of the model.
    Exhausted(Fault),
    /// A fault of the model ended the search, and faults were not to be reported as violations. The report has the
    /// run to it.
    Fault(Fault),
    /// States that are not symmetric may have been taken for each other.
    Approximate,
}

impl StopReason {
    /// Why a search whose store is full ends.
    pub(crate) fn of_full_store(full: Full, options: &SearchOptions) -> Self {
        match full {
            Full::Numbers => Self::TooManyStates,
            Full::Memory => Self::MemoryLimit(options.max_memory.unwrap_or(u64::MAX)),
            Full::System => Self::OutOfMemory,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violation => write!(formatter, "a violation was found"),
            Self::StateLimit(limit) => write!(formatter, "the limit of {limit} states was reached"),
            Self::DepthLimit(limit) => write!(formatter, "the limit of {limit} steps was reached"),
            Self::MemoryLimit(limit) => write!(formatter, "the limit of {limit} bytes of memory was reached"),
            Self::DiskLimit(limit) => write!(formatter, "the limit of {limit} bytes of disk space was reached"),
            Self::SpillFailed(reason) => write!(formatter, "states could not be kept on disk: {reason}"),
            Self::TooManyStates => write!(formatter, "there are more states than can be numbered"),
            Self::OutOfMemory => write!(formatter, "the system has no more memory"),
            Self::TimeLimit(limit) => write!(formatter, "the time limit of {limit:?} was reached"),
            Self::Interrupted => write!(formatter, "the search was interrupted"),
            Self::CheckpointFailed(reason) => write!(formatter, "the checkpoint could not be written: {reason}"),
            Self::Exhausted(fault) => write!(formatter, "{fault}"),
            Self::Fault(fault) => write!(formatter, "the model went wrong: {fault}"),
            Self::Approximate => {
                write!(formatter, "the reduction is approximate: states that are not symmetric may share a marker")
            }
        }
    }
}

/// What a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A property of the model.
    Property(PropertyId),
    /// That there is no deadlock.
    Deadlock,
    /// That nothing goes wrong: no failed assertion, error statement, undefined read, value out
    /// of range or other [`Fault`], in a step or in a property.
    Errors,
}

/// The verdict on one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyReport {
    /// What it is about.
    pub subject: Subject,
    /// The answer.
    pub verdict: Verdict,
    /// A run that ends in the violation. A cover property that is never reached has none.
    pub trace: Option<Trace>,
}

/// How far a search may have missed states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approximation {
    /// How likely it is at most that a given reachable state was missed for a reason of its own.
    pub omission_probability: f64,
}

impl Eq for Approximation {}

/// What a search counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) states: u64,
    pub(crate) represented: Option<BigUint>,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) disk_bytes: u64,
    pub(crate) words: usize,
    pub(crate) approximation: Option<Approximation>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Violated if any subject is; else inconclusive if any is; else holds.
    pub verdict: Verdict,
    /// Why the search ended before it was finished, if it did.
    pub stop_reason: Option<StopReason>,
    /// States stored.
    pub states: u64,
    /// States of the model that the stored ones stand for: the same without a reduction; not known
    /// where an orbit may be stored several times or there was no time to count.
    pub represented: Option<BigUint>,
    /// Rule instances fired.
    pub transitions: u64,
    /// Steps from a start to the deepest state stored.
    pub depth: u64,
    /// Most bytes used for stored states.
    pub memory_bytes: u64,
    /// Most bytes used on disk for states that did not fit into memory.
    pub disk_bytes: u64,
    /// One verdict for each property checked (in order of declaration, without assumptions), then
    /// for deadlock and for errors as far as they were to be checked.
    pub properties: Vec<PropertyReport>,
    /// The run to the fault that ended the search, if faults were not to be reported as violations.
    pub fault: Option<Trace>,
    /// The remarks of the model ([`quotient_ir::PropertyKind::Remark`]) that hold in some state that was reached.
    pub remarks: Vec<PropertyId>,
    /// The 64-bit words of a packed state, as the search had it at its end.
    pub words: usize,
    /// What may have been missed, if states were not stored as they are.
    pub approximation: Option<Approximation>,
    /// Searches besides, one for each entry, for liveness of instances that symmetries exchange.
    pub liveness_searches: Vec<LivenessReport>,
    /// Time spent to find representatives, of all threads together, if there are any and there was a clock.
    pub canonicalization: Option<Duration>,
    /// How many states of different orbits had a marker that was known already, if markers were used and
    /// somebody could tell.
    pub marker_collisions: Option<u64>,
    /// The rules of which no instance can fire in any reachable state; not known unless the search was finished.
    /// After an approximate search: in any state that it saw.
    pub never_fired: Option<Vec<RuleId>>,
    /// How often states outgrew a layout that was chosen by the values seen before.
    pub outgrown: u32,
    /// How the search compares with an unreduced one, if that was asked for and there was something to compare.
    pub cross_check: Option<CrossCheck>,
}

impl Report {
    /// The report of a search that ended for a reason, unless it is finished.
    pub(crate) fn new(
        properties: Vec<PropertyReport>,
        stop_reason: Option<StopReason>,
        Figures { states, represented, transitions, depth, memory_bytes, disk_bytes, words, approximation }: Figures,
    ) -> Self {
        let mut report = Self {
            verdict: Verdict::Inconclusive,
            stop_reason,
            states,
            represented,
            transitions,
            depth,
            memory_bytes,
            disk_bytes,
            properties,
            fault: None,
            remarks: Vec::new(),
            words,
            approximation,
            liveness_searches: Vec::new(),
            canonicalization: None,
            marker_collisions: None,
            never_fired: None,
            outgrown: 0,
            cross_check: None,
        };
        report.summarize();
        report
    }

    /// Says what the verdicts on all subjects come to. A search that did not finish is inconclusive even if
    /// nobody asked for anything.
    pub(crate) fn summarize(&mut self) {
        let any = |verdict| self.properties.iter().any(|report| report.verdict == verdict);
        self.verdict = if any(Verdict::Violated) {
            Verdict::Violated
        } else if any(Verdict::Inconclusive) || self.stop_reason.is_some() && self.properties.is_empty() {
            Verdict::Inconclusive
        } else {
            Verdict::Holds
        };
    }
}

/// A search for the liveness of some instances, with symmetries that preserve each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivenessReport {
    /// The instances it judged.
    pub instances: Vec<JudgedInstance>,
    /// How many symmetries it used.
    pub order: BigUint,
    /// States stored.
    pub states: u64,
    /// Rule instances fired.
    pub transitions: u64,
}

/// An instance of a liveness property that was judged for others that are symmetric to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedInstance {
    /// The property.
    pub property: PropertyId,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// How many instances it stands for, itself included.
    pub symmetric: usize,
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The states of the model cannot be stored.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The reference interpreter does not agree that there is a violation.
    #[error("internal error: a violation could not be replayed: {0}")]
    Replay(#[from] ReplayError),
    /// The run to a stored state could not be found again.
    #[error("internal error: the run to a violation could not be rebuilt: {0}")]
    Rebuild(&'static str),
    /// Options that do not go together.
    #[error("{0}")]
    Refused(&'static str),
    /// A search cannot go on from a checkpoint.
    #[error("cannot go on from `{path}`: {reason}")]
    Resume {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The run to a violation could not be read from disk.
    #[error("the run to a violation could not be read from disk: {0}")]
    Disk(String),
    /// A symmetry could not be certified.
    #[error("internal error: {0}")]
    Uncertified(String),
    /// Symmetries were not found in the time or with the work there was for it.
    #[error("the search for symmetries {0}")]
    GaveUp(#[from] quotient_ir::Spent),
    /// A slot held a value that detection took to be impossible.
    #[error("internal error: {0} holds a value that it was taken to be unable to hold")]
    ImpossibleValue(String),
    /// Searches with and without symmetry do not agree.
    #[error("internal error: the reduced and the unreduced search do not agree: {0}")]
    CrossCheck(String),
}
