//! Blocks of states that one thread expands, and what came of them, each with when it happened.

use std::ops::ControlFlow;

use quotient_ir::PropertyId;

use quotient_search::{Checks, SearchOptions};
use quotient_states::{End, Finding};

/// What goes with a candidate on its way to a store: its number in the block, the position of its
/// parent in the block, and its tag; in one word, since there are very many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) candidate: u32,
    pub(super) parent: u16,
    pub(super) tag: u16,
}

impl Label {
    /// The position of the parent of a state that a start led to.
    pub(super) const NO_PARENT: u16 = u16::MAX;

    pub(super) fn pack(self) -> u64 {
        u64::from(self.candidate) << 32 | u64::from(self.parent) << 16 | u64::from(self.tag)
    }
    pub(super) fn unpack(word: u64) -> Self {
        Self { candidate: (word >> 32) as u32, parent: (word >> 16) as u16, tag: word as u16 }
    }
}

/// When something happened in a block: twice the place of a successor while it was looked at, and
/// one more after it was stored.
pub(super) type Moment = u64;

pub(super) fn at(place: u64) -> Moment {
    2 * place
}

/// What came of a block.
#[derive(Debug)]
pub(super) struct Block {
    /// How many steps there are: to successors and to states that are passed through.
    pub(super) steps: u64,
    /// Steps through states after starts, where only these count, and the place after them.
    pub(super) start_steps: Vec<(u64, u64)>,
    /// What ends the search, and when. Only the first counts.
    pub(super) end: Option<(Moment, End)>,
    /// States that were not expanded because of a constraint.
    pub(super) unexpanded: u64,
    /// Violations that the search continues past, and when.
    pub(super) findings: Vec<(Moment, Finding)>,
    /// Covers and when they were reached; each once.
    pub(super) covered: Vec<(PropertyId, Moment)>,
    /// Which successors the candidates are, in order.
    pub(super) places: Vec<u64>,
    /// The first candidate of each run of successors of the same state, and the position of that state in the block.
    pub(super) runs: Vec<(u32, u16)>,
    /// Candidates on their way to the cells.
    pub(super) outgoing: Vec<Vec<u64>>,
}

impl Block {
    pub(super) fn new(stores: usize) -> Self {
        let outgoing = vec![Vec::new(); stores];
        Self {
            steps: 0,
            start_steps: Vec::new(),
            end: None,
            unexpanded: 0,
            findings: Vec::new(),
            covered: Vec::new(),
            places: Vec::new(),
            runs: Vec::new(),
            outgoing,
        }
    }

    pub(super) fn clear(&mut self) {
        self.steps = 0;
        self.start_steps.clear();
        self.end = None;
        self.unexpanded = 0;
        self.findings.clear();
        self.covered.clear();
        self.places.clear();
        self.runs.clear();
    }

    pub(super) fn note_end(&mut self, moment: Moment, end: End) {
        if self.end.as_ref().is_none_or(|&(known, _)| moment < known) {
            self.end = Some((moment, end));
        }
    }

    /// The same for what happened while a candidate was looked at.
    pub(super) fn note_end_at(&mut self, candidate: u32, end: End) {
        self.note_end(at(self.places[candidate as usize]), end);
    }

    /// Takes note of a violation that the search continues past: the first of each kind.
    pub(super) fn note_finding(&mut self, moment: Moment, finding: Finding, checks: &Checks) {
        let kind = finding.kind(checks);
        match self.findings.iter_mut().find(|(_, known)| known.kind(checks) == kind) {
            Some(known) if moment < known.0 => *known = (moment, finding),
            Some(_) => {}
            None => self.findings.push((moment, finding)),
        }
    }

    /// Takes note of what ends the search, unless it continues past it.
    pub(super) fn receive(&mut self, moment: Moment, end: End, search: (&Checks, &SearchOptions)) -> ControlFlow<()> {
        match end {
            End::Found(finding) if search.1.violations.collects() => {
                self.note_finding(moment, finding, search.0);
                ControlFlow::Continue(())
            }
            end => {
                self.note_end(moment, end);
                ControlFlow::Break(())
            }
        }
    }

    pub(super) fn note_cover(&mut self, property: PropertyId, moment: Moment) {
        match self.covered.iter_mut().find(|(known, _)| *known == property) {
            Some((_, earliest)) => *earliest = moment.min(*earliest),
            None => self.covered.push((property, moment)),
        }
    }
}
