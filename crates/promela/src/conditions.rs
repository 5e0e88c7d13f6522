//! Conditions given separately, as formulas at the end of a text.

use quotient_kit::conditions::{ConditionSyntax, Conditions, Insertion, Role};
use quotient_kit::watched::WATCHED;

pub(crate) const CONDITIONS: Conditions = Conditions::Inserted(ConditionSyntax {
    refusal: |_| None,
    separators: |_| &[';', '{', '}'],
    divide: |_, _| Ok(None),
    insertions: |text, conditions, _| Ok(vec![Insertion::at_end(text.len(), conditions, around)]),
    reaches_by_negation: true,
});

/// The text before and after a condition.
fn around(role: Role, carrier: &str) -> (String, &'static str) {
    match role {
        Role::Linear => (format!("\nltl {carrier} {{\n"), "\n}\n"),
        Role::Branching => (format!("\nctl {carrier} {{\n"), "\n}\n"),
        Role::Watched => (format!("\nltl {WATCHED} {{ [] (\n"), "\n) }\n"),
        Role::Constraint | Role::Invariant | Role::Reach => {
            let negation = if role == Role::Reach { "!" } else { "" };
            (format!("\nltl {carrier} {{ [] {negation}(\n"), "\n) }\n")
        }
    }
}
