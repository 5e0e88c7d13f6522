//! Conditions given separately, as directives at the end of a text.

use quotient_kit::conditions::{ConditionSyntax, Conditions, Insertion, Role};
use quotient_kit::watched::WATCHED;

pub(crate) const CONDITIONS: Conditions = Conditions::Inserted(ConditionSyntax {
    refusal: |role| {
        let help = "use `--ltl`, or `quotient lower` and the model in Murphi";
        (role == Role::Branching).then_some(("formulas of CTL are not read for CSP#", help))
    },
    separators: |_| &[';'],
    divide: |_, _| Ok(None),
    insertions: |text, conditions, _| Ok(vec![Insertion::at_end(text.len(), conditions, around)]),
    reaches_by_negation: false,
});

/// The text before and after a condition.
fn around(role: Role, _: &str) -> (String, &'static str) {
    match role {
        Role::Linear | Role::Branching => ("\n#ltl\n".to_owned(), "\n;\n"),
        Role::Watched => (format!("\n#{WATCHED} (\n"), "\n);\n"),
        Role::Constraint | Role::Invariant | Role::Reach => ("\n#invariant (\n".to_owned(), "\n);\n"),
    }
}
