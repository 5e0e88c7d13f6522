//! The classes of answers a checker can give about a model: the vocabulary in which checkers are compared with each
//! other and with recorded expectations.

use std::fmt;

use quotient_ir::{Fault, FaultKind, Model, PropertyKind, Violation};
use quotient_search::{PropertyReport, Report, Subject, Verdict};

/// The answer of a checker about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerdictClass {
    /// Every property holds.
    Holds,
    /// An invariant is violated.
    Invariant,
    /// An assertion statement fails.
    Assertion,
    /// An error statement is reached.
    ErrorStatement,
    /// There is a deadlock.
    Deadlock,
    /// A cover property is never reached.
    Cover,
    /// A liveness property cannot be reached again.
    Liveness,
    /// An undefined value is read.
    UndefinedRead,
    /// Any other run-time error: a value or index out of range, division by zero, overflow, a loop with a wrong step, a
    /// missing return.
    Range,
    /// The model is rejected before it runs.
    Rejected,
    /// The search did not finish.
    Inconclusive,
}

impl VerdictClass {
    /// All classes with their words in recorded results.
    const WORDS: [(Self, &'static str); 11] = [
        (Self::Holds, "ok"),
        (Self::Invariant, "invariant"),
        (Self::Assertion, "assertion"),
        (Self::ErrorStatement, "error-stmt"),
        (Self::Deadlock, "deadlock"),
        (Self::Cover, "cover"),
        (Self::Liveness, "liveness"),
        (Self::UndefinedRead, "undefined-read"),
        (Self::Range, "range"),
        (Self::Rejected, "noparse"),
        (Self::Inconclusive, "inconclusive"),
    ];

    /// The word for this class in recorded results.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(class, _)| *class == self).expect("every class has a word").1
    }

    /// The class of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(class, _)| *class)
    }
}

impl fmt::Display for VerdictClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// The result of our search, in these terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The verdict.
    pub class: VerdictClass,
    /// The name of the violated property, or the message of the failed assertion, error statement or other run-time
    /// error.
    pub subject: Option<String>,
    /// States stored.
    pub states: u64,
    /// Rules fired.
    pub rules_fired: u64,
}

impl Answer {
    /// The overall answer of a report, or the first violation it lists.
    pub fn of(model: &Model, report: &Report) -> Self {
        let violated = report.properties.iter().find(|property| property.verdict == Verdict::Violated);
        let (class, subject) = match (report.verdict, violated) {
            (Verdict::Violated, Some(violated)) => class_of_violation(model, violated),
            (Verdict::Violated, None) => unreachable!("a violation is one of some subject"),
            (Verdict::Holds, _) => (VerdictClass::Holds, None),
            (Verdict::Inconclusive, _) => {
                (VerdictClass::Inconclusive, report.stop_reason.as_ref().map(ToString::to_string))
            }
        };
        Self { class, subject, states: report.states, rules_fired: report.transitions }
    }
}

fn class_of_violation(model: &Model, report: &PropertyReport) -> (VerdictClass, Option<String>) {
    match report.subject {
        Subject::Property(id) => {
            let property = &model.properties[id];
            let class = match property.kind {
                PropertyKind::Invariant => VerdictClass::Invariant,
                PropertyKind::Cover => VerdictClass::Cover,
                PropertyKind::AlwaysReachable | PropertyKind::Temporal => VerdictClass::Liveness,
                PropertyKind::Assumption
                | PropertyKind::Passing
                | PropertyKind::Constraint
                | PropertyKind::Remark
                | PropertyKind::Atom => unreachable!("it is not a claim"),
            };
            (class, property.name.clone())
        }
        Subject::Deadlock => (VerdictClass::Deadlock, None),
        Subject::Errors => match report.trace.as_ref().and_then(|trace| trace.violation.as_ref()) {
            Some(Violation::Fault { fault, .. } | Violation::PropertyFault { fault, .. }) => {
                (class_of_fault(fault), Some(fault.message.clone()))
            }
            other => unreachable!("an error of the model is a fault, not {other:?}"),
        },
    }
}

pub(crate) fn class_of_fault(fault: &Fault) -> VerdictClass {
    match fault.kind {
        FaultKind::UndefinedRead => VerdictClass::UndefinedRead,
        FaultKind::Assertion => VerdictClass::Assertion,
        FaultKind::Invariant(_) => VerdictClass::Invariant,
        FaultKind::Error => VerdictClass::ErrorStatement,
        FaultKind::Exhausted => VerdictClass::Inconclusive,
        FaultKind::OutOfRange
        | FaultKind::IndexOutOfRange
        | FaultKind::DivisionByZero
        | FaultKind::Overflow
        | FaultKind::MissingReturn
        | FaultKind::BadStep
        | FaultKind::MultisetFull
        | FaultKind::AbsentElement => VerdictClass::Range,
    }
}
