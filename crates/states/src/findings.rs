//! Violations that a search has found: the first, or the first of each kind where it continues past them.
//!
//! A search that continues past violations keeps one run for each property that is violated and for each kind of
//! error. In a breadth-first search the first run of a kind is a shortest one.

use quotient_ir::{Action, TableIndex, Violation};
use serde::{Deserialize, Serialize};

use crate::exploration::{End, Finding, Halt, stop};
use crate::store::{NO_PARENT, StateNumber};
pub use crate::violation_kind::ViolationKind;
use quotient_search::{Checks, SearchOptions, StopReason, ViolationLimit};

/// Where a violation comes among all those of a level, if its states are found in any order: after those with shorter
/// runs, then by kind, by the words of the last state, and by the step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    length: u64,
    /// The kind of the violation (`ViolationKind::encode`).
    pub kind: [u64; 3],
    state: Vec<u64>,
    step: Vec<i64>,
}

impl Rank {
    /// The rank of a violation after a number of steps, in a state or in a step from it.
    pub fn new(finding: &Finding, checks: &Checks, length: u64, state: &[u64]) -> Self {
        let step = match &finding.violation {
            Violation::Fault { action, arguments, .. } => {
                let action = match action {
                    Action::Rule(rule) => rule.position() as i64,
                    Action::Start(start) => -1 - start.position() as i64,
                };
                std::iter::once(action).chain(arguments.iter().copied()).collect()
            }
            Violation::Property { arguments, .. }
            | Violation::PropertyFault { arguments, .. }
            | Violation::Unreachable { arguments, .. }
            | Violation::Temporal { arguments, .. } => arguments.clone(),
            Violation::Deadlock(_) => Vec::new(),
        };
        Self { length, kind: finding.kind(checks).encode(), state: state.to_vec(), step }
    }
}

/// The violations that a search has found so far, one of each kind.
#[derive(Clone, Debug)]
pub struct Findings<'a> {
    checks: &'a Checks,
    limit: ViolationLimit,
    list: Vec<Finding>,
}

impl<'a> Findings<'a> {
    /// None yet, or those of the search that is continued.
    pub fn new(checks: &'a Checks, options: &SearchOptions, list: Vec<Finding>) -> Self {
        Self { checks, limit: options.violations, list }
    }

    /// Whether the search continues past a violation.
    #[inline]
    pub fn collects(&self) -> bool {
        self.limit.collects()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One of each kind, in the order in which they were found.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The same, for the end of the search.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }

    /// Takes what would end a search: keeps a violation if the search continues past it.
    ///
    /// # Errors
    /// What ends the search after all.
    pub fn receive(&mut self, end: End) -> Result<(), Halt> {
        match end {
            End::Found(finding) if self.collects() => self.note(finding),
            end => Err(Box::new(end)),
        }
    }

    /// Keeps a violation unless one of its kind is known.
    ///
    /// # Errors
    /// If these are as many as the search is to find.
    pub fn note(&mut self, finding: Finding) -> Result<(), Halt> {
        let kind = finding.kind(self.checks);
        if self.list.iter().all(|known| known.kind(self.checks) != kind) {
            self.list.push(finding);
            if let ViolationLimit::Kinds(most) = self.limit
                && self.list.len() as u64 >= most
            {
                return Err(stop(StopReason::Violation));
            }
        }
        Ok(())
    }
}

impl Finding {
    /// Its kind.
    pub fn kind(&self, checks: &Checks) -> ViolationKind {
        self.kept_kind.unwrap_or_else(|| ViolationKind::of(&self.violation, checks))
    }

    /// As words for a checkpoint: the origin, the kind, and the words of the state after the origin, if there is one.
    pub(crate) fn encode(&self, checks: &Checks) -> Vec<u64> {
        let mut words = vec![u64::from(self.origin.unwrap_or(NO_PARENT))];
        words.extend(self.kind(checks).encode());
        words.extend(self.state.iter().flatten());
        words
    }

    /// What [`Finding::encode`] made of it, for states of so many words.
    pub(crate) fn decode(encoded: &[u64], words: usize, options: &SearchOptions) -> Option<Self> {
        let (&[origin, code, first, second], state) = encoded.split_first_chunk()?;
        let kind = ViolationKind::decode([code, first, second])?;
        let state = match state.len() {
            0 => None,
            length if length == words => Some(state.to_vec()),
            _ => return None,
        };
        let origin = Some(StateNumber::try_from(origin).ok()?).filter(|&origin| origin != NO_PARENT);
        Some(Self { origin, state, violation: kind.outline(options), kept_kind: Some(kind) })
    }
}
