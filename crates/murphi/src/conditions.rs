//! Conditions given separately, as properties at the end of a text.

use quotient_kit::conditions::{ConditionSyntax, Conditions, Insertion, Role};
use quotient_kit::watched::WATCHED;

pub(crate) const CONDITIONS: Conditions = Conditions::Inserted(ConditionSyntax {
    refusal: |_| None,
    separators: |_| &[';'],
    divide: |_, _| Ok(None),
    insertions: |text, conditions, _| Ok(vec![Insertion::at_end(text.len(), conditions, around)]),
    reaches_by_negation: false,
});

/// The text before and after a condition.
fn around(role: Role, carrier: &str) -> (String, &'static str) {
    let keyword = match role {
        Role::Constraint => "assume",
        Role::Invariant => "invariant",
        Role::Reach => "cover",
        Role::Watched => return (format!("\ncover \"{WATCHED}\" (\n"), "\n);\n"),
        Role::Linear => return (format!("\nltl \"{carrier}\"\n"), "\n;\n"),
        Role::Branching => return (format!("\nctl \"{carrier}\"\n"), "\n;\n"),
    };
    (format!("\n{keyword} (\n"), "\n);\n")
}
