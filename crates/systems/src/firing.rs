//! Which rules fired at all. Every thread that runs a system records them here; once all rules that can fire have done
//! so, only reads remain.

use std::sync::atomic::{AtomicBool, Ordering};

use quotient_ir::{RuleId, TableIndex};

use quotient_search::{Report, StopReason};

/// The rules that have fired.
#[derive(Debug)]
pub struct FiredRules(Box<[AtomicBool]>);

impl FiredRules {
    /// Adds the rules that fired elsewhere.
    pub fn include(&self, other: &Self) {
        for (own, other) in self.0.iter().zip(&other.0) {
            if other.load(Ordering::Relaxed) {
                own.store(true, Ordering::Relaxed);
            }
        }
    }

    /// None fired yet, of a number of rules.
    pub(crate) fn new(rules: usize) -> Self {
        Self((0..rules).map(|_| AtomicBool::new(false)).collect())
    }

    /// Records that a rule, given by its position, has fired.
    #[inline]
    pub(crate) fn note(&self, rule: usize) {
        let fired = &self.0[rule];
        // A cache line that is never written is shared by all processors.
        if !fired.load(Ordering::Relaxed) {
            fired.store(true, Ordering::Relaxed);
        }
    }

    /// The rules that have fired.
    pub(crate) fn all(&self) -> Vec<RuleId> {
        let fired = (0..self.0.len()).filter(|&rule| self.0[rule].load(Ordering::Relaxed));
        fired.map(RuleId::from_position).collect()
    }

    /// The rules that have not fired, nor any rule in their orbit. `classes` gives the orbit of each rule; none if no
    /// symmetries were used.
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

    /// Adds the rules that never fired to the report of a finished search. For an approximate search, this refers to
    /// the states visited.
    pub fn report(&self, classes: Option<&[u32]>, report: &mut Report) {
        let is_whole = matches!(report.stop_reason, None | Some(StopReason::Approximate));
        // A step that is left out may be the only one of its rule.
        let is_whole = is_whole && !report.partial_order;
        report.never_fired = is_whole.then(|| self.rest(classes));
    }
}
