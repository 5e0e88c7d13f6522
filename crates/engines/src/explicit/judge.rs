//! What a search asks of each new state: assumptions and invariants before it is stored, covers and
//! liveness conditions after.

use std::ops::ControlFlow;

use quotient_ir::{FaultKind, Model, PropertyId, PropertyKind, Violation};

use crate::explicit::store::StateNumber;
use crate::explicit::{End, Finding, Halt};
use crate::options::SearchOptions;
use crate::report::StopReason;
use crate::seam::{Batches, Facts, Tag};
use crate::systems::passing::is_passing;

/// The properties a search checks, by kind, each in order of declaration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    pub(crate) assumptions: Vec<PropertyId>,
    pub(crate) invariants: Vec<PropertyId>,
    pub(crate) covers: Vec<PropertyId>,
    pub(crate) liveness: Vec<PropertyId>,
    /// What is worth saying if it holds somewhere.
    pub(crate) remarks: Vec<PropertyId>,
    /// What tells which states are passed through.
    pub(crate) passing: Vec<PropertyId>,
}

impl Checks {
    /// The properties of a model that are selected; assumptions always are.
    pub(crate) fn new(model: &Model, selection: Option<&[PropertyId]>) -> Self {
        let mut checks = Self::default();
        for (id, property) in model.properties.iter_enumerated() {
            let selected = selection.is_none_or(|selection| selection.contains(&id));
            match property.kind {
                PropertyKind::Assumption => checks.assumptions.push(id),
                PropertyKind::Invariant if selected => checks.invariants.push(id),
                PropertyKind::Cover if selected => checks.covers.push(id),
                PropertyKind::AlwaysReachable if selected => checks.liveness.push(id),
                PropertyKind::Passing => checks.passing.push(id),
                PropertyKind::Remark => checks.remarks.push(id),
                _ => {}
            }
        }
        checks
    }
}

/// What becomes of a new state.
enum Judgement {
    /// It is to be stored.
    Admitted,
    /// An assumption does not hold: it does not exist.
    Dropped,
    /// An invariant does not hold, or something has no value.
    Wrong(Violation),
}

/// What became of a new state.
pub(crate) enum Admission {
    /// It is stored with this number.
    Stored(StateNumber),
    /// An assumption does not hold: it does not exist.
    Dropped,
    /// It ends the search and is not stored.
    Refused(Halt),
    /// It is stored and counts, and ends the search.
    StoredLast(StateNumber, Halt),
}

/// Judges new states; one for each thread.
pub(crate) struct Judge<'a, S: Batches> {
    system: &'a S,
    scratch: S::Scratch,
    checks: &'a Checks,
    options: &'a SearchOptions,
    /// The remarks that were not reached so far.
    remarks: Vec<PropertyId>,
}

impl<'a, S: Batches> Judge<'a, S> {
    pub(crate) fn new(system: &'a S, checks: &'a Checks, options: &'a SearchOptions) -> Self {
        Self { system, scratch: system.scratch(), checks, options, remarks: checks.remarks.clone() }
    }

    /// The one way into a store: checks a new state with a tag that was found from another one, has it stored,
    /// and says which covers it reaches.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        state: &[u64],
        tag: u64,
        origin: Option<StateNumber>,
        store: impl FnOnce() -> Result<StateNumber, Halt>,
        covered: impl FnMut(PropertyId),
    ) -> Admission {
        match self.judge(state, tag) {
            Judgement::Admitted => {}
            Judgement::Dropped => return Admission::Dropped,
            Judgement::Wrong(violation) => {
                return Admission::Refused(Box::new(end_with(origin, Some(state), violation)));
            }
        }
        let number = match store() {
            Ok(number) => number,
            Err(halt) => return Admission::Refused(halt),
        };
        match self.observe(state, covered) {
            Ok(()) => Admission::Stored(number),
            Err(violation) => Admission::StoredLast(number, Box::new(end_with(Some(number), None, violation))),
        }
    }

    /// Whether a new state with a tag is to be stored.
    #[inline]
    fn judge(&mut self, state: &[u64], tag: u64) -> Judgement {
        if tag == Tag::NOTHING || self.system.facts().is_safe(tag, state) {
            return Judgement::Admitted;
        }
        self.judge_in_full(state)
    }

    fn judge_in_full(&mut self, state: &[u64]) -> Judgement {
        let checks = self.checks;
        for &property in &checks.assumptions {
            match self.first_failure(property, state) {
                None => {}
                Some(Violation::Property { .. }) => return Judgement::Dropped,
                Some(fault) => return Judgement::Wrong(fault),
            }
        }
        if self.is_passing(state) {
            return Judgement::Admitted;
        }
        for &property in &checks.invariants {
            if let Some(violation) = self.first_failure(property, state) {
                return Judgement::Wrong(violation);
            }
        }
        Judgement::Admitted
    }

    /// Evaluates what is to be known of every stored state; says which covers are reached.
    ///
    /// # Errors
    /// If a condition has no value.
    #[inline]
    fn observe(&mut self, state: &[u64], mut covered: impl FnMut(PropertyId)) -> Result<(), Violation> {
        let checks = self.checks;
        let is_nothing = checks.covers.is_empty() && checks.liveness.is_empty() && self.remarks.is_empty();
        if is_nothing || self.is_passing(state) {
            return Ok(());
        }
        for &property in &checks.covers {
            if self.holds_somewhere(property, state)? {
                covered(property);
            }
        }
        for &property in &checks.liveness {
            // Only to see whether it has a value; what it is matters at the end.
            self.holds_somewhere(property, state)?;
        }
        let mut remarks = std::mem::take(&mut self.remarks);
        remarks.retain(|&property| {
            // One without a value is not made.
            let holds = matches!(self.holds_somewhere(property, state), Ok(true));
            if holds {
                covered(property);
            }
            !holds
        });
        self.remarks = remarks;
        Ok(())
    }

    /// Whether a state is one that is passed through elsewhere, so that no claim is about it.
    fn is_passing(&mut self, state: &[u64]) -> bool {
        self.options.store_passing && is_passing(self.system, &mut self.scratch, &self.checks.passing, state)
    }

    /// Whether a property is a remark.
    pub(crate) fn is_remark(&self, property: PropertyId) -> bool {
        self.checks.remarks.contains(&property)
    }

    /// The first valuation of parameters for which a property does not hold or has no value.
    pub(crate) fn first_failure(&mut self, property: PropertyId, state: &[u64]) -> Option<Violation> {
        let mut failure = None;
        self.system.evaluate(&mut self.scratch, property, state, |arguments, result| {
            let arguments = arguments.to_vec();
            failure = match result {
                Ok(true) => return ControlFlow::Continue(()),
                Ok(false) => Some(Violation::Property { property, arguments }),
                Err(fault) => Some(Violation::PropertyFault { property, arguments, fault }),
            };
            ControlFlow::Break(())
        });
        failure
    }

    /// Whether a property holds for some valuation of its parameters. All are evaluated, since any
    /// may have no value.
    pub(crate) fn holds_somewhere(&mut self, property: PropertyId, state: &[u64]) -> Result<bool, Violation> {
        let mut holds = false;
        let mut failure = None;
        let options = self.options;
        self.system.evaluate(&mut self.scratch, property, state, |arguments, result| match result {
            _ if !options.evaluates(property, arguments) => ControlFlow::Continue(()),
            Ok(value) => {
                holds |= value;
                ControlFlow::Continue(())
            }
            Err(fault) => {
                failure = Some(Violation::PropertyFault { property, arguments: arguments.to_vec(), fault });
                ControlFlow::Break(())
            }
        });
        match failure {
            None => Ok(holds),
            Some(violation) => Err(violation),
        }
    }
}

/// How a violation ends a search if it does not count as one: what is not known is not wrong.
pub(crate) fn excuse(violation: &Violation) -> Option<StopReason> {
    let fault = violation.fault().filter(|fault| fault.kind == FaultKind::Exhausted)?;
    Some(StopReason::Exhausted(fault.clone()))
}

/// How a violation ends a search. A fault that nobody asked for is found like others: the run to it is shown.
pub(crate) fn end_with(origin: Option<StateNumber>, state: Option<&[u64]>, violation: Violation) -> End {
    match excuse(&violation) {
        Some(reason) => End::Stopped(reason),
        None => End::Found(Finding { origin, state: state.map(<[u64]>::to_vec), violation }),
    }
}
