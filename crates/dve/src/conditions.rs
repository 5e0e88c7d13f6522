//! Conditions given separately, as assertions at the end of a text. A DVE system has no temporal formulas: of a formula, its
//! conditions become assertions, each with blanks around it instead of the formula.

use std::ops::Range;

use quotient_ir::Source;
use quotient_kit::conditions::{Condition, ConditionSyntax, Conditions, Insertion, Piece, Role, last_word};
use quotient_kit::watched::WATCHED;
use quotient_temporal::syntax::{self, Dialect, SyntaxTree};

pub(crate) const CONDITIONS: Conditions = Conditions::Inserted(ConditionSyntax {
    refusal: |_| None,
    separators: |_| &[';'],
    divide,
    insertions: |text, conditions, trees| Ok(vec![asserted(text.len(), conditions, trees)]),
    reaches_by_negation: false,
});

/// The tree of a formula. Its conditions are as large as possible.
fn divide(source: &Source, condition: &Condition) -> Result<Option<SyntaxTree>, Vec<syntax::SyntaxError>> {
    if !condition.role.is_temporal() {
        return Ok(None);
    }
    // A word of a formula is a name of the model if it occurs there.
    let is_name = |word: &str| last_word(&source.text, word).is_some();
    let mut tree = syntax::parse(&condition.expression, &Dialect::dve().with_names(&is_name))?;
    tree.merge_atoms(&condition.expression, Dialect::dve().expressions);
    Ok(Some(tree))
}

/// Conditions as assertions of a DVE system; those of formulas each by itself.
fn asserted(at: usize, conditions: &[Condition], trees: &[Option<SyntaxTree>]) -> Insertion {
    let mut pieces = Vec::new();
    for (number, (condition, tree)) in conditions.iter().zip(trees).enumerate() {
        let parts = match tree {
            None => vec![Piece::given(number, condition)],
            Some(tree) => {
                let text = &condition.expression;
                let mut spans = tree.atoms();
                spans.sort_unstable();
                spans.dedup();
                let blank = |text: &str| -> String {
                    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
                };
                let part = |span: syntax::Span| {
                    let Range { start, end } = span.range();
                    let read = format!("{}{}{}", blank(&text[..start]), &text[start..end], blank(&text[end..]));
                    Piece::Given { read, shown: text.clone(), number, part: Some(span) }
                };
                spans.into_iter().map(part).collect()
            }
        };
        let keyword = if condition.role == Role::Watched { WATCHED } else { "assert" };
        for part in parts {
            pieces.extend([Piece::Around(format!("\n{keyword} (\n")), part, Piece::Around("\n);\n".into())]);
        }
    }
    Insertion { at, pieces }
}
