//! A set of markings, some numbers of which may be ω, that covers the initial marking and every step from one of its
//! markings. Then it covers every reachable marking, by induction; this is all that the answers here rest on. It is checked
//! with code of its own, so a mistake in the search for the set cannot give a wrong answer.

use super::{UNBOUNDED, VectorNet, is_covered};

/// A condition on cells that more tokens do not turn false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    All(Vec<Goal>),
    Any(Vec<Goal>),
    /// The sum of some cells, each with a positive weight, is at least this.
    AtLeast {
        weights: Vec<(usize, i64)>,
        tokens: i128,
    },
}

impl Goal {
    /// What always holds.
    pub(crate) const ALWAYS: Self = Self::All(Vec::new());
    /// What never holds.
    pub(crate) const NEVER: Self = Self::Any(Vec::new());

    /// Whether it holds where numbers of tokens are at least those of a marking, as far as these are finite, and as large as
    /// need be otherwise.
    fn holds_up_to(&self, marking: &[i64]) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds_up_to(marking)),
            Self::Any(parts) => parts.iter().any(|part| part.holds_up_to(marking)),
            Self::AtLeast { weights, tokens } => {
                let is_unbounded = |&(cell, _): &(usize, i64)| marking[cell] == UNBOUNDED;
                let sum = || weights.iter().map(|&(cell, weight)| i128::from(marking[cell]) * i128::from(weight)).sum();
                weights.iter().any(is_unbounded) || tokens <= &sum()
            }
        }
    }
}

/// A set that covers all reachable markings. Only the check makes one.
#[derive(Debug)]
pub(crate) struct Certificate(Vec<Vec<i64>>);

impl Certificate {
    /// A set as a certificate, if it is one. None also if checking it needs too much work.
    pub(super) fn of(net: &VectorNet, set: Vec<Vec<i64>>, work: &mut u64) -> Option<Self> {
        let is_closed = is_closed(net, &set, work)?;
        debug_assert!(is_closed, "a step leaves the coverability set");
        is_closed.then_some(Self(set))
    }

    /// Whether a condition may hold in some reachable marking: if this is false, it holds in none. If the set is minimal,
    /// reachable markings come as close as one likes to each marking of it, and the answer is exact.
    pub(crate) fn may_reach(&self, goal: &Goal) -> bool {
        self.0.iter().any(|marking| goal.holds_up_to(marking))
    }

    /// The greatest number of tokens of a cell; none if there is no greatest.
    pub(crate) fn bound(&self, cell: usize) -> Option<i64> {
        self.0.iter().map(|marking| marking[cell]).max().filter(|&most| most != UNBOUNDED)
    }

    /// The same for each cell.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = Option<i64>> {
        let cells = self.0.first().map_or(0, Vec::len);
        (0..cells).map(|cell| self.bound(cell))
    }
}

/// Whether markings cover the initial one and every step from them. None if that is too much work, or numbers are too large.
fn is_closed(net: &VectorNet, set: &[Vec<i64>], work: &mut u64) -> Option<bool> {
    let width = net.initial.len().max(1) as u64;
    let is_covered_by_set = |marking: &[i64]| set.iter().any(|known| is_covered(marking, known));
    if !is_covered_by_set(&net.initial) {
        return Some(false);
    }
    for marking in set {
        for change in &net.changes {
            if change.takes.iter().any(|&(cell, tokens)| marking[cell] < tokens) {
                continue;
            }
            let mut after = marking.clone();
            let taken = change.takes.iter().map(|&(cell, tokens)| (cell, -tokens));
            for (cell, difference) in taken.chain(change.adds.iter().copied()) {
                if marking[cell] != UNBOUNDED {
                    after[cell] = after[cell].checked_add(difference).filter(|&sum| sum != UNBOUNDED)?;
                }
            }
            *work = work.checked_sub(width * set.len() as u64)?;
            if !is_covered_by_set(&after) {
                return Some(false);
            }
        }
    }
    Some(true)
}
