//! A set of markings, some numbers of which may be ω, that covers the initial marking and every step from one of its
//! markings. Then it covers every reachable marking, by induction; this is all that the answers here rest on. It is checked
//! with code of its own, so a mistake in the search for the set cannot give a wrong answer.

use super::{Charge, UNBOUNDED, VectorNet, is_covered};

/// A condition on cells that more tokens do not turn false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// All of these hold.
    All(Vec<Goal>),
    /// One of these holds.
    Any(Vec<Goal>),
    /// The sum of some cells, each with a positive weight, is at least this.
    AtLeast {
        /// Cells and their weights.
        weights: Vec<(usize, i64)>,
        /// The least sum.
        tokens: i128,
    },
}

impl Goal {
    /// What always holds.
    pub const ALWAYS: Self = Self::All(Vec::new());
    /// What never holds.
    pub const NEVER: Self = Self::Any(Vec::new());

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
#[derive(Clone, Debug)]
pub struct Certificate(Vec<Vec<i64>>);

/// Why a set is not a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncertified {
    /// It does not cover the initial marking, or a step from one of its markings.
    NotClosed,
    /// The check takes more work than is permitted, or numbers are too large.
    TooMuchWork,
}

impl Certificate {
    /// A set as a certificate, whoever claims that it is one.
    ///
    /// # Errors
    /// If it is none, or checking it needs too much work.
    pub fn of(net: &VectorNet, set: Vec<Vec<i64>>, charge: &mut Charge<'_>) -> Result<Self, Uncertified> {
        match is_closed(net, &set, charge) {
            Some(true) => Ok(Self(set)),
            Some(false) => Err(Uncertified::NotClosed),
            None => Err(Uncertified::TooMuchWork),
        }
    }

    /// The set.
    pub fn markings(&self) -> &[Vec<i64>] {
        &self.0
    }

    /// Whether a condition may hold in some reachable marking: if this is false, it holds in none. If the set is minimal,
    /// reachable markings come as close as one likes to each marking of it, and the answer is exact.
    pub fn may_reach(&self, goal: &Goal) -> bool {
        self.0.iter().any(|marking| goal.holds_up_to(marking))
    }

    /// The greatest number of tokens of a cell; none if there is no greatest.
    pub fn bound(&self, cell: usize) -> Option<i64> {
        self.0.iter().map(|marking| marking[cell]).max().filter(|&most| most != UNBOUNDED)
    }

    /// The same for each cell.
    pub fn bounds(&self) -> impl Iterator<Item = Option<i64>> {
        let cells = self.0.first().map_or(0, Vec::len);
        (0..cells).map(|cell| self.bound(cell))
    }
}

/// Whether markings cover the initial one and every step from them. None if that is too much work, or numbers are too large.
fn is_closed(net: &VectorNet, set: &[Vec<i64>], charge: &mut Charge<'_>) -> Option<bool> {
    let width = net.initial.len().max(1) as u64;
    let is_covered_by_set = |marking: &[i64]| set.iter().any(|known| is_covered(marking, known));
    let is_marking = |marking: &Vec<i64>| marking.len() == net.initial.len() && marking.iter().all(|&it| it >= 0);
    if !set.iter().all(is_marking) || !is_covered_by_set(&net.initial) {
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
            charge(width * set.len() as u64)?;
            if !is_covered_by_set(&after) {
                return Some(false);
            }
        }
    }
    Some(true)
}
