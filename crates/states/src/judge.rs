//! The checks on each new state: assumptions and invariants before it is stored, covers and liveness conditions after.

use std::ops::ControlFlow;

use quotient_ir::{PropertyId, Violation};

use crate::exploration::{End, Finding, Halt};
use crate::store::StateNumber;
use quotient_search::{Batches, Checks, SearchOptions, Tag, excuse, is_passing};

/// The result of checking a new state.
enum Judgement {
    /// It should be stored.
    Admitted,
    /// An assumption is false: the state does not exist.
    Dropped,
    /// An invariant is false, or an evaluation failed.
    Wrong(Violation),
    /// Some invariants do not hold or have no value; it is to be stored all the same.
    AdmittedWrong(Vec<Violation>),
}

/// The result of admitting a new state.
pub enum Admission {
    /// It is stored with this number.
    Stored(StateNumber),
    /// An assumption is false, so that the state does not exist; or another thread has stored it.
    Dropped,
    /// It ends the search and is not stored.
    Refused(Halt),
    /// It is stored and counts, and ends the search.
    StoredLast(StateNumber, Halt),
    /// It is stored, and the search continues past what is wrong in it.
    StoredWrong(StateNumber, Vec<Finding>),
    /// It does not exist, since an assumption has no value, and the search continues past that.
    DroppedWrong(Finding),
}

/// Judges new states; one for each thread.
pub struct Judge<'a, S: Batches> {
    system: &'a S,
    scratch: S::Scratch,
    checks: &'a Checks,
    options: &'a SearchOptions,
    /// Whether states may have been expanded in which an invariant does not hold, so that tags mean nothing.
    is_suspicious: bool,
    /// The remarks that were not reached so far.
    remarks: Vec<PropertyId>,
}

impl<'a, S: Batches> Judge<'a, S> {
    /// A judge of new states of a system.
    pub fn new(system: &'a S, checks: &'a Checks, options: &'a SearchOptions) -> Self {
        let remarks = checks.remarks.clone();
        Self { system, scratch: system.scratch(), checks, options, is_suspicious: false, remarks }
    }

    /// From now on, invariants may be violated in states that are expanded.
    #[inline]
    pub fn suspect(&mut self) {
        self.is_suspicious = true;
    }

    /// The only way into a store: checks a new state with a tag that was found from another one, has it stored, and
    /// reports which covers it reaches. `store` returns none if another thread has stored it meanwhile.
    #[inline]
    pub fn admit(
        &mut self,
        state: &[u64],
        tag: u64,
        origin: Option<StateNumber>,
        store: impl FnOnce() -> Result<Option<StateNumber>, Halt>,
        covered: impl FnMut(PropertyId),
    ) -> Admission {
        let wrong = match self.judge(state, tag) {
            Judgement::Admitted => Vec::new(),
            Judgement::Dropped => return Admission::Dropped,
            Judgement::AdmittedWrong(violations) => violations,
            Judgement::Wrong(violation) => {
                return match end_with(origin, Some(state), violation) {
                    End::Found(finding) if self.options.violations.collects() => Admission::DroppedWrong(finding),
                    end => Admission::Refused(Box::new(end)),
                };
            }
        };
        let number = match store() {
            Ok(Some(number)) => number,
            Ok(None) => return Admission::Dropped,
            Err(halt) => return Admission::Refused(halt),
        };
        if self.options.violations.collects() {
            return self.finish_wrong(state, number, wrong, covered);
        }
        match self.observe(state, covered) {
            Ok(()) => Admission::Stored(number),
            Err(violation) => Admission::StoredLast(number, Box::new(end_with(Some(number), None, violation))),
        }
    }

    /// The rest of the admission of a state in a search that continues past violations.
    fn finish_wrong(
        &mut self,
        state: &[u64],
        number: StateNumber,
        mut wrong: Vec<Violation>,
        mut covered: impl FnMut(PropertyId),
    ) -> Admission {
        self.is_suspicious |= !wrong.is_empty();
        let checks = self.checks;
        if !self.is_passing(state) {
            for &property in checks.covers.iter().chain(&checks.liveness) {
                let (holds, failure) = self.value_somewhere(property, state);
                if holds && checks.covers.contains(&property) {
                    covered(property);
                }
                wrong.extend(failure);
            }
            self.observe_remarks(state, &mut covered);
        }
        let mut findings = Vec::new();
        for violation in wrong {
            match end_with(Some(number), None, violation) {
                End::Found(finding) => findings.push(finding),
                end => return Admission::StoredLast(number, Box::new(end)),
            }
        }
        if findings.is_empty() { Admission::Stored(number) } else { Admission::StoredWrong(number, findings) }
    }

    /// Whether a stored state is expanded: every constraint holds in it.
    ///
    /// # Errors
    /// If one has no value.
    #[inline]
    pub fn expands(&mut self, state: &[u64]) -> Result<bool, Violation> {
        if self.checks.constraints.is_empty() { Ok(true) } else { self.meets_constraints(state) }
    }

    #[cold]
    fn meets_constraints(&mut self, state: &[u64]) -> Result<bool, Violation> {
        if self.is_passing(state) {
            return Ok(true);
        }
        let checks = self.checks;
        for &property in &checks.constraints {
            match self.first_failure(property, state) {
                None => {}
                Some(Violation::Property { .. }) => return Ok(false),
                Some(fault) => return Err(fault),
            }
        }
        Ok(true)
    }

    /// Whether a new state with a tag should be stored.
    #[inline]
    fn judge(&mut self, state: &[u64], tag: u64) -> Judgement {
        let tag = if self.is_suspicious { Tag::EVERYTHING } else { tag };
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
        let mut violations = Vec::new();
        for &property in &checks.invariants {
            match self.first_failure(property, state) {
                Some(violation) if self.options.violations.collects() => violations.push(violation),
                Some(violation) => return Judgement::Wrong(violation),
                None => {}
            }
        }
        if !violations.is_empty() {
            return Judgement::AdmittedWrong(violations);
        }
        Judgement::Admitted
    }

    /// Evaluates the conditions needed for every stored state; reports which covers are reached.
    ///
    /// # Errors
    /// If the evaluation of a condition fails.
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
            // Only to see whether evaluation fails; the value matters at the end.
            self.holds_somewhere(property, state)?;
        }
        self.observe_remarks(state, covered);
        Ok(())
    }

    /// Reports the remarks that apply to a state, each once.
    fn observe_remarks(&mut self, state: &[u64], mut covered: impl FnMut(PropertyId)) {
        let mut remarks = std::mem::take(&mut self.remarks);
        remarks.retain(|&property| {
            // A remark without a value does not apply.
            let holds = matches!(self.holds_somewhere(property, state), Ok(true));
            if holds {
                covered(property);
            }
            !holds
        });
        self.remarks = remarks;
    }

    /// Whether a state is transient elsewhere, so that no claim applies to it.
    fn is_passing(&mut self, state: &[u64]) -> bool {
        self.options.store_passing && is_passing(self.system, &mut self.scratch, &self.checks.passing, state)
    }

    /// Whether a property is a remark.
    pub fn is_remark(&self, property: PropertyId) -> bool {
        self.checks.remarks.contains(&property)
    }

    /// The first valuation of parameters for which a property is false or its evaluation fails.
    pub fn first_failure(&mut self, property: PropertyId, state: &[u64]) -> Option<Violation> {
        let mut failure = None;
        self.system.evaluate(&mut self.scratch, property, state, &mut |arguments, result| {
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

    /// Whether a property holds for some valuation of its parameters. All are evaluated, since the evaluation of any
    /// may fail.
    pub fn holds_somewhere(&mut self, property: PropertyId, state: &[u64]) -> Result<bool, Violation> {
        match self.value_somewhere(property, state) {
            (holds, None) => Ok(holds),
            (_, Some(violation)) => Err(violation),
        }
    }

    /// Whether a property holds for some valuation of its parameters, and the first for which it has no value.
    fn value_somewhere(&mut self, property: PropertyId, state: &[u64]) -> (bool, Option<Violation>) {
        let mut holds = false;
        let mut failure = None;
        let options = self.options;
        self.system.evaluate(&mut self.scratch, property, state, &mut |arguments, result| match result {
            _ if !options.evaluates(property, arguments) => ControlFlow::Continue(()),
            Ok(value) => {
                holds |= value;
                ControlFlow::Continue(())
            }
            Err(fault) => {
                let arguments = arguments.to_vec();
                failure.get_or_insert(Violation::PropertyFault { property, arguments, fault });
                match options.violations.collects() {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            }
        });
        (holds, failure)
    }
}

/// How a violation ends a search. A run-time error outside the selected properties is found like others: the run to it
/// is shown.
#[inline]
pub fn end_with(origin: Option<StateNumber>, state: Option<&[u64]>, violation: Violation) -> End {
    match excuse(&violation) {
        Some(reason) => End::Stopped(reason),
        None => End::Found(Finding { origin, state: state.map(<[u64]>::to_vec), violation, kept_kind: None }),
    }
}
