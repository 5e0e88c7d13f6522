//! Conditions given separately, as assertions and definitions of a machine.

use quotient_ir::{Diagnostic, Span};
use quotient_kit::conditions::{
    Condition, ConditionSyntax, Conditions, Insertion, Piece, Role, formula_name, last_word,
};
use quotient_kit::watched::WATCHED;

pub(crate) const CONDITIONS: Conditions = Conditions::Inserted(ConditionSyntax {
    refusal: |_| None,
    separators: |role| match role {
        Role::Linear | Role::Branching => &['"'],
        // `;` is the composition of relations.
        Role::Watched => &[],
        Role::Constraint | Role::Invariant | Role::Reach => &[';'],
    },
    divide: |_, _| Ok(None),
    insertions: |text, conditions, _| {
        insertions_in_machine(text, conditions).ok_or_else(|| {
            let error = Diagnostic::error("no-end", "the machine has no end", Span::default());
            Box::new(error.with_help("write `END` behind it"))
        })
    },
    reaches_by_negation: true,
});

/// Conditions of a B machine are assertions, and formulas definitions: in the clauses that exist, or in new ones.
fn insertions_in_machine(text: &str, conditions: &[Condition]) -> Option<Vec<Insertion>> {
    let text = without_comments(text);
    let end = last_word(&text, "END");
    let is_definition = |role: Role| role.is_temporal() || role == Role::Watched;
    let clause = |word: &str, definitions: bool, around: fn(Role, &str) -> (String, &'static str)| {
        let mut pieces = Vec::new();
        for (number, condition) in conditions.iter().enumerate().filter(|it| is_definition(it.1.role) == definitions) {
            if !pieces.is_empty() {
                pieces.push(Piece::Around(" ;".into()));
            }
            let (before, after) = around(condition.role, &formula_name(number));
            let mut given = Piece::given(number, condition);
            if let Piece::Given { read, .. } = &mut given
                && condition.role.is_temporal()
            {
                // Strings have one line.
                *read = read.replace(['\n', '\r'], " ");
            }
            pieces.extend([Piece::Around(before), given, Piece::Around(after.to_owned())]);
        }
        if pieces.is_empty() {
            return Some(None);
        }
        let at = match last_word(&text, word) {
            Some(at) => {
                pieces.push(Piece::Around(" ;\n".into()));
                at + word.len()
            }
            None => {
                pieces.insert(0, Piece::Around(format!("\n{word}")));
                pieces.push(Piece::Around("\n".into()));
                end?
            }
        };
        Some(Some(Insertion { at, pieces }))
    };
    let assertions = clause("ASSERTIONS", false, |role, _| match role {
        // An invariant that is not divided into its parts.
        Role::Reach => (" (bool(\n".to_owned(), "\n) = FALSE)"),
        _ => (" (\n".to_owned(), "\n)"),
    })?;
    let definitions = clause("DEFINITIONS", true, |role, carrier| match role {
        Role::Watched => (format!("\n{WATCHED} == (\n"), "\n)"),
        Role::Branching => (format!("\nASSERT_CTL_{carrier} == \""), "\""),
        _ => (format!("\nASSERT_LTL_{carrier} == \""), "\""),
    })?;
    Some(assertions.into_iter().chain(definitions).collect())
}

/// The text of a B machine with its comments blanked out.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'/', b'*', ..] => text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4),
            [b'/', b'/', ..] => text[at..].find('\n').map_or(bytes.len(), |end| at + end),
            _ => at,
        };
        bytes[at..end].fill(b' ');
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
