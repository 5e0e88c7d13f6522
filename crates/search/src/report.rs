//! The report of a search.

use std::fmt;
use std::time::Duration;

use num_bigint::BigUint;
use quotient_ir::{Fault, Layout, LayoutError, PropertyId, ReplayError, RuleId, Span, Trace};

/// The verdict on a model or on one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It holds in the whole model.
    Holds,
    /// It is violated, and a run shows it (except for covers that are never reached).
    Violated,
    /// The search ended before this was decided.
    Inconclusive,
}

/// Why a search ended before it was finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A violation was found; the rest was not searched.
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
    /// There are more states than the store can number.
    TooManyStates,
    /// The system has no more memory.
    OutOfMemory,
    /// This much time has passed. Only observers use this.
    TimeLimit(Duration),
    /// The user requested a stop. Only the one who watches the whole command uses this.
    Interrupted,
    /// Whoever started the search no longer waits for it, such as a schedule that restarts it with more symmetries. Never
    /// the reason of a whole check.
    Withdrawn,
    /// A checkpoint could not be written, for this reason.
    CheckpointFailed(String),
    /// A step took more loop iterations or nested calls than allowed, or leaves the assumptions about the model.
    Exhausted(Fault),
    /// A run-time error of the model ended the search, and run-time errors are not reported as violations. The report
    /// contains the run to it.
    Fault(Fault),
    /// So many states were not expanded, since a constraint does not hold in them. Nothing else was left out.
    Constraint(u64),
    /// States that are not symmetric may have been identified.
    Approximate,
    /// All that the engine decides was decided. This says what it does not.
    Undecided(&'static str),
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
            Self::Interrupted | Self::Withdrawn => write!(formatter, "the search was interrupted"),
            Self::CheckpointFailed(reason) => write!(formatter, "the checkpoint could not be written: {reason}"),
            Self::Exhausted(fault) => write!(formatter, "{fault}"),
            Self::Fault(fault) => write!(formatter, "run-time error: {fault}"),
            Self::Constraint(states) => {
                write!(formatter, "nothing is violated within the constraint; {states} states were not expanded")
            }
            Self::Undecided(what) => write!(formatter, "{what}"),
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
    /// The absence of deadlocks.
    Deadlock,
    /// The absence of run-time errors: no failed assertion, error statement, undefined read, value out of range or
    /// other [`Fault`], in a step or in a property.
    Errors,
}

/// The verdict on one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyReport {
    /// The subject.
    pub subject: Subject,
    /// The verdict.
    pub verdict: Verdict,
    /// A counterexample. A cover property that is never reached has none.
    pub trace: Option<Trace>,
    /// Runs that end in violations of other kinds, if the search continued past the first: other errors.
    pub other_traces: Vec<Trace>,
}

impl PropertyReport {
    /// All runs that end in a violation.
    pub fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.trace.iter().chain(&self.other_traces)
    }
}

/// The extent to which a search may have missed states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approximation {
    /// An upper bound on the probability that a given reachable state was missed in its own right.
    pub omission_probability: f64,
}

impl Eq for Approximation {}

/// The figures of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// See [`Report::states`].
    pub states: u64,
    /// See [`Report::represented`].
    pub represented: Option<BigUint>,
    /// See [`Report::transitions`].
    pub transitions: u64,
    /// See [`Report::depth`].
    pub depth: u64,
    /// See [`Report::levels`].
    pub levels: Option<Vec<u64>>,
    /// See [`Report::firings`].
    pub firings: Option<Vec<RuleFirings>>,
    /// See [`Report::memory_bytes`].
    pub memory_bytes: u64,
    /// See [`Report::disk_bytes`].
    pub disk_bytes: u64,
    /// See [`Report::words`].
    pub words: usize,
    /// See [`Report::approximation`].
    pub approximation: Option<Approximation>,
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
    /// The number of states of the model that the stored ones represent: the same without a reduction; unknown if an
    /// orbit may be stored several times or there was no time to count.
    pub represented: Option<BigUint>,
    /// Rule instances fired.
    pub transitions: u64,
    /// Steps from a start to the deepest state stored.
    pub depth: u64,
    /// How many of the states stored are so many steps from a start, the starts first; known of breadth-first searches
    /// without adaptive reduction.
    pub levels: Option<Vec<u64>>,
    /// How often rules fire, if that was asked for and is known ([`crate::SearchOptions::statistics`]).
    pub firings: Option<Vec<RuleFirings>>,
    /// The peak number of bytes used for stored states.
    pub memory_bytes: u64,
    /// The peak number of bytes used on disk for states that did not fit into memory.
    pub disk_bytes: u64,
    /// One verdict for each checked property (in order of declaration, without assumptions), then for deadlock and
    /// run-time errors, if they were checked.
    pub properties: Vec<PropertyReport>,
    /// The run to the run-time error that ended the search, if these are not reported as violations.
    pub fault: Option<Trace>,
    /// The remarks of the model ([`quotient_ir::PropertyKind::Remark`]) that hold in some state that was reached.
    pub remarks: Vec<PropertyId>,
    /// The number of 64-bit words of a packed state, at the end of the search.
    pub words: usize,
    /// The extent of what may have been missed, if states were stored approximately.
    pub approximation: Option<Approximation>,
    /// Additional searches, one for each entry, for liveness of instances that symmetries exchange.
    pub liveness_searches: Vec<LivenessReport>,
    /// How representatives were found, if states were replaced by them.
    pub method: Option<String>,
    /// The time spent on canonicalization, by all threads together, if there was any and a clock was available.
    pub canonicalization: Option<Duration>,
    /// The number of states of different orbits whose marker was already known, if markers were used and this could be
    /// determined.
    pub marker_collisions: Option<u64>,
    /// The rules of which no instance can fire in any reachable state; unknown unless the search was finished. After an
    /// approximate search: in any state that it visited.
    pub never_fired: Option<Vec<RuleId>>,
    /// How often states outgrew a layout that was chosen by the values seen before.
    pub outgrown: u32,
    /// Whether steps were left out by partial order. Then the states represented are not counted, and of rules it is not
    /// known whether they can fire.
    pub partial_order: bool,
    /// The comparison with an unreduced search, if it was requested and there was something to compare.
    pub cross_check: Option<CrossCheck>,
}

impl Report {
    /// The report of a search that ended early for a reason, or finished.
    pub fn new(properties: Vec<PropertyReport>, stop_reason: Option<StopReason>, figures: Figures) -> Self {
        let Figures { states, represented, transitions, depth, levels, firings, .. } = figures;
        let Figures { memory_bytes, disk_bytes, words, approximation, .. } = figures;
        let mut report = Self {
            verdict: Verdict::Inconclusive,
            stop_reason,
            states,
            represented,
            transitions,
            depth,
            levels,
            firings,
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
            method: None,
            outgrown: 0,
            partial_order: false,
            cross_check: None,
        };
        report.summarize();
        report
    }

    /// The report of a search that was not needed.
    pub fn of_nothing(layout: &Layout) -> Self {
        Self::new(Vec::new(), None, Figures { words: layout.words(), ..Figures::default() })
    }

    /// Adds the verdict on a property, in the order of declaration.
    pub fn add(&mut self, property: PropertyReport) {
        let position = |subject: Subject| match subject {
            Subject::Property(id) => Some(id),
            Subject::Deadlock | Subject::Errors => None,
        };
        let own = position(property.subject);
        let is_later = |other: &PropertyReport| position(other.subject).is_none_or(|id| Some(id) > own);
        let place = self.properties.iter().position(is_later).unwrap_or(self.properties.len());
        self.properties.insert(place, property);
    }

    /// Computes the overall verdict from those on all subjects. A search that did not finish is inconclusive even if
    /// nothing was checked.
    pub fn summarize(&mut self) {
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

/// The outcome of a comparison. A difference is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossCheck {
    /// The report of the unreduced search.
    pub whole: Box<Report>,
    /// How far the comparison went.
    pub extent: Extent,
}

/// How far a comparison went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Verdicts and every state.
    Everything,
    /// Verdicts only: both searches ended at a violation.
    Verdicts,
    /// Nothing, since a search did not finish.
    Nothing(StopReason),
}

/// How often the instances of some rules fire in the reachable states of a model. Symmetries exchange the rules of an
/// entry, so that a reduced search can only tell how often they fire together; without symmetries each rule has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFirings {
    /// The rules, in order of declaration.
    pub rules: Vec<RuleId>,
    /// How often they fire together: in each reachable state, each instance that is enabled fires once.
    pub times: BigUint,
}

/// A search for the liveness of some instances, with symmetries that preserve each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivenessReport {
    /// The instances it checked.
    pub instances: Vec<JudgedInstance>,
    /// The number of symmetries it used.
    pub order: BigUint,
    /// States stored.
    pub states: u64,
    /// Rule instances fired.
    pub transitions: u64,
}

/// An instance of a liveness property that was checked on behalf of its orbit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedInstance {
    /// The property.
    pub property: PropertyId,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// The number of instances it represents, including itself.
    pub symmetric: usize,
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The states of the model cannot be stored.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The reference interpreter does not confirm a violation.
    #[error("internal error: a violation could not be replayed: {0}")]
    Replay(#[from] ReplayError),
    /// The run to a stored state could not be rebuilt.
    #[error("internal error: the run to a violation could not be rebuilt: {0}")]
    Rebuild(&'static str),
    /// Incompatible options.
    #[error("{0}")]
    Refused(&'static str),
    /// A temporal formula has no automaton.
    #[error("the formula cannot be checked: {0}")]
    Formula(String),
    /// A search cannot resume from a checkpoint.
    #[error("cannot resume from `{path}`: {reason}")]
    Resume {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The run to a violation could not be read from disk.
    #[error("the run to a violation could not be read from disk: {0}")]
    Disk(String),
    /// The processes of a search do not work together.
    #[error("{0}")]
    Network(String),
    /// The connection to another process was lost.
    #[error("the connection to process {process} at `{host}` was lost")]
    Lost {
        /// Its index.
        process: usize,
        /// Its address.
        host: String,
        /// Whether checkpoints were written.
        is_saved: bool,
    },
    /// A symmetry could not be certified.
    #[error("internal error: {0}")]
    Uncertified(String),
    /// Symmetries were not found within the limits on time or work.
    #[error("the search for symmetries {0}")]
    GaveUp(#[from] quotient_ir::Spent),
    /// A slot held a value that detection considered impossible.
    #[error("internal error: {0} holds a value that it was taken to be unable to hold")]
    ImpossibleValue(String),
    /// The model cannot be written as Boolean functions.
    #[error("{reason}")]
    NotEncodable {
        /// The reason.
        reason: String,
        /// The responsible location in the text.
        span: Span,
    },
    /// A new solver does not confirm a proof.
    #[error("internal error: a proof could not be confirmed")]
    Unconfirmed,
    /// Searches with and without symmetry disagree.
    #[error("internal error: the reduced and the unreduced search do not agree: {0}")]
    CrossCheck(String),
}
