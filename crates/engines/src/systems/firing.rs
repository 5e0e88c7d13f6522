//! Which rules fired at all. Every thread that runs a system notes them here; once all rules that can fire
//! have done so, that is only reading.

use std::sync::atomic::{AtomicBool, Ordering};

use quotient_ir::{RuleId, TableIndex};

use crate::report::{Report, StopReason};

/// The rules that have fired.
#[derive(Debug)]
pub(crate) struct FiredRules(Box<[AtomicBool]>);

impl FiredRules {
    /// Takes over what fired elsewhere.
    pub(crate) fn include(&self, other: &Self) {
        for (own, other) in self.0.iter().zip(&other.0) {
            if other.load(Ordering::Relaxed) {
                own.store(true, Ordering::Relaxed);
            }
        }
    }

    /// None of so many.
    pub(crate) fn new(rules: usize) -> Self {
        Self((0..rules).map(|_| AtomicBool::new(false)).collect())
    }

    /// Notes that a rule has fired, given by its position.
    #[inline]
    pub(crate) fn note(&self, rule: usize) {
        let fired = &self.0[rule];
        // A line that nobody writes is shared by all processors.
        if !fired.load(Ordering::Relaxed) {
            fired.store(true, Ordering::Relaxed);
        }
    }

    /// The rules that have fired.
    pub(crate) fn all(&self) -> Vec<RuleId> {
        let fired = (0..self.0.len()).filter(|&rule| self.0[rule].load(Ordering::Relaxed));
        fired.map(RuleId::from_position).collect()
    }

    /// The rules that have not fired, nor one that symmetries exchange with them. `classes` says for each rule
    /// which it is exchanged with; none if no symmetries were used.
    pub(crate) fn rest(&self, classes: Option<&[u32]>) -> Vec<RuleId> {
        let has_fired = |rule: usize| self.0[rule].load(Ordering::Relaxed);
        let mut fired: Vec<bool> = (0..self.0.len()).map(has_fired).collect();
        if let Some(classes) = classes {
            let mut class_fired = vec![false; fired.len()];
            for (rule, &class) in classes.iter().enumerate() {
                class_fired[class as usize] |= fired[rule];
            }
            for (rule, &class) in classes.iter().enumerate() {
                fired[rule] |= class_fired[class as usize];
            }
        }
        (0..fired.len()).filter(|&rule| !fired[rule]).map(RuleId::from_position).collect()
    }

    /// Says in the report of a search that came to its end which rules never fired. Of an approximate one that
    /// is said of what it saw.
    pub(crate) fn report(&self, classes: Option<&[u32]>, report: &mut Report) {
        let is_whole = matches!(report.stop_reason, None | Some(StopReason::Approximate));
        report.never_fired = is_whole.then(|| self.rest(classes));
    }
}
