//! What is the same for all violations of which one run is enough, and how a checkpoint writes it.

use quotient_ir::{Action, Fault, FaultKind, PropertyId, RuleId, Span, TableIndex, Violation};
use quotient_search::{Checks, SearchOptions};

/// The ways a step can go wrong, by their numbers in a checkpoint.
const FAULT_KINDS: [FaultKind; 11] = [
    FaultKind::UndefinedRead,
    FaultKind::OutOfRange,
    FaultKind::IndexOutOfRange,
    FaultKind::DivisionByZero,
    FaultKind::Overflow,
    FaultKind::Assertion,
    FaultKind::Error,
    FaultKind::MissingReturn,
    FaultKind::BadStep,
    FaultKind::MultisetFull,
    FaultKind::AbsentElement,
];

/// What is the same for all violations of which one run is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// An invariant that does not hold, or has no value: symmetries preserve only that it is not satisfied.
    Invariant(PropertyId),
    /// Another property that has no value.
    NoValue(PropertyId),
    /// A deadlock.
    Deadlock,
    /// A step that goes wrong in this way at this place.
    Step(FaultKind, Span),
}

impl ViolationKind {
    /// The kind of a violation that a search finds in a state or a step.
    pub(crate) fn of(violation: &Violation, checks: &Checks) -> Self {
        match violation {
            Violation::Property { property, .. }
            | Violation::Unreachable { property, .. }
            | Violation::Temporal { property, .. } => Self::Invariant(*property),
            Violation::PropertyFault { property, .. } if checks.invariants.contains(property) => {
                Self::Invariant(*property)
            }
            Violation::PropertyFault { property, .. } => Self::NoValue(*property),
            Violation::Fault { fault, .. } => Self::Step(fault.kind, fault.span),
            Violation::Deadlock(_) => Self::Deadlock,
        }
    }

    /// As three words, for a checkpoint.
    pub(crate) fn encode(self) -> [u64; 3] {
        match self {
            Self::Invariant(property) => [0, property.position() as u64, 0],
            Self::NoValue(property) => [1, property.position() as u64, 0],
            Self::Deadlock => [2, 0, 0],
            Self::Step(kind, span) => {
                let (code, property) = match kind {
                    FaultKind::Invariant(property) => (FAULT_KINDS.len(), property.position()),
                    kind => (FAULT_KINDS.iter().position(|&known| known == kind).unwrap_or(0), 0),
                };
                let place = u64::from(span.start) << 32 | u64::from(span.end);
                [3 + code as u64, place, property as u64]
            }
        }
    }

    /// What `ViolationKind::encode` made of it.
    pub fn decode([code, first, second]: [u64; 3]) -> Option<Self> {
        let property = |number: u64| Some(PropertyId::from_position(u32::try_from(number).ok()? as usize));
        Some(match code {
            0 => Self::Invariant(property(first)?),
            1 => Self::NoValue(property(first)?),
            2 => Self::Deadlock,
            _ => {
                let span = Span { start: (first >> 32) as u32, end: first as u32 };
                let kind = match FAULT_KINDS.get(usize::try_from(code - 3).ok()?) {
                    Some(&kind) => kind,
                    None if code - 3 == FAULT_KINDS.len() as u64 => FaultKind::Invariant(property(second)?),
                    None => return None,
                };
                Self::Step(kind, span)
            }
        })
    }

    /// A violation of this kind, with no further details.
    pub fn outline(self, options: &SearchOptions) -> Violation {
        let arguments = Vec::new();
        match self {
            Self::Invariant(property) => Violation::Property { property, arguments },
            Self::NoValue(property) => {
                let fault = Fault { kind: FaultKind::UndefinedRead, span: Span::default(), message: String::new() };
                Violation::PropertyFault { property, arguments, fault }
            }
            Self::Deadlock => Violation::Deadlock(options.deadlock),
            Self::Step(kind, span) => {
                let fault = Fault { kind, span, message: String::new() };
                Violation::Fault { action: Action::Rule(RuleId::from_position(0)), arguments, fault }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_were_written() {
        let property = PropertyId::from_position(7);
        let mut kinds =
            vec![ViolationKind::Invariant(property), ViolationKind::NoValue(property), ViolationKind::Deadlock];
        kinds.extend(FAULT_KINDS.map(|kind| ViolationKind::Step(kind, Span::new(3, 9))));
        kinds.push(ViolationKind::Step(FaultKind::Invariant(property), Span { start: 1 << 20, end: u32::MAX }));
        for kind in kinds {
            assert_eq!(ViolationKind::decode(kind.encode()), Some(kind));
        }
        assert_eq!(ViolationKind::decode([3 + FAULT_KINDS.len() as u64 + 1, 0, 0]), None);
    }
}
