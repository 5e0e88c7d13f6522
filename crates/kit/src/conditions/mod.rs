//! Conditions in the language of a model, given separately from it: constraints, invariants, states to reach, temporal
//! formulas, and expressions to evaluate.
//!
//! An expression is parsed as part of the text, as a property of single states, so names, types and macros have the
//! same meaning in it as in the text. The property then gets its role. Files of a source begin on a new line, so each
//! expression has lines of its own. What is written around an expression is the language's own ([`ConditionSyntax`]).
//!
//! Where a language has temporal formulas of its own, a formula is put into the text like a condition. Otherwise its
//! conditions are, each with blanks around it instead of the formula, so that messages about it can be shown in the
//! formula; the formula is built from them afterwards (`divided`).

mod divided;
mod extended;
mod insertion;
mod role;

use quotient_ir::{Diagnostic, Source, Span};
use quotient_temporal::syntax::{self, SyntaxTree};

pub use self::extended::Extended;
pub use self::insertion::{CARRIER, Insertion, Piece, formula_name, last_word};
pub use self::role::{Condition, Role};

/// Whether and how conditions can be given in a language.
#[derive(Debug)]
pub enum Conditions {
    /// There are no expressions in the language.
    Refused {
        /// The message.
        message: &'static str,
        /// What to do instead.
        help: &'static str,
    },
    /// They become part of the text.
    Inserted(ConditionSyntax),
}

/// How conditions become part of a text.
#[derive(Debug)]
pub struct ConditionSyntax {
    /// Why a condition of a role cannot be given, if it cannot: the message and what to do instead.
    pub refusal: fn(Role) -> Option<(&'static str, &'static str)>,
    /// What would end an expression of a role, and so cannot be in it.
    pub separators: fn(Role) -> &'static [char],
    /// The tree of a condition of which only parts are put into the text: a temporal formula that the language cannot
    /// write.
    pub divide: Division,
    /// What to put into the text of the first file, for conditions with the trees of those that are divided. An error is
    /// about the text.
    pub insertions: Insertions,
    /// Whether conditions to reach are in the text as invariants that they do not hold. Invariants may be vacuous in
    /// states that only set up the model, such as the root of a B machine; there, nothing is reached.
    pub reaches_by_negation: bool,
}

/// The tree of a condition that is divided, or what is wrong with its syntax.
pub type Division = fn(&Source, &Condition) -> Result<Option<SyntaxTree>, Vec<syntax::SyntaxError>>;

/// Where conditions go in a text.
pub type Insertions = fn(&str, &[Condition], &[Option<SyntaxTree>]) -> Result<Vec<Insertion>, Box<Diagnostic>>;

/// Puts conditions into a text.
///
/// # Errors
/// If one of them cannot be a single expression, with the text to show.
pub(crate) fn with_conditions(
    source: &Source,
    language: &Conditions,
    conditions: &[Condition],
) -> Result<Extended, (Source, Vec<Diagnostic>)> {
    let mut problems = Vec::new();
    let mut trees: Vec<Option<SyntaxTree>> = Vec::new();
    for condition in conditions {
        let file = Source::new(condition.role.file_name(), condition.expression.as_str());
        let found = problems_of(condition, language);
        let tree = match language {
            Conditions::Inserted(syntax) if found.is_empty() => (syntax.divide)(source, condition),
            _ => Ok(None),
        };
        match tree {
            Ok(tree) => {
                trees.push(tree);
                problems.extend((!found.is_empty()).then_some((file, found)));
            }
            Err(errors) => problems.push((file, errors.into_iter().map(located).collect())),
        }
    }
    if !problems.is_empty() {
        return Err(joined(problems));
    }
    let end = source.files.first().map_or(source.text.len(), |(start, _)| *start as usize - 1);
    let (insertions, reaches_by_negation) = match language {
        // Each was refused above.
        Conditions::Refused { .. } => (Vec::new(), false),
        Conditions::Inserted(syntax) => {
            let insertions = (syntax.insertions)(&source.text[..end], conditions, &trees).map_err(|error| {
                let file = conditions.first().map_or("--invariant", |it| it.role.file_name());
                (Source::new(file, ""), vec![*error])
            })?;
            (insertions, syntax.reaches_by_negation)
        }
    };
    Ok(Extended::new(source, end, insertions, conditions, trees, reaches_by_negation))
}

/// What is wrong with a condition before it is read.
fn problems_of(Condition { role, expression }: &Condition, language: &Conditions) -> Vec<Diagnostic> {
    let noun = role.noun();
    let problem = |message: String, span: Span| {
        let help = match role.is_temporal() {
            true => "write a formula such as `[] (p -> <> q)`".to_owned(),
            false if *role == Role::Watched => "write one expression, such as `x + 1`".to_owned(),
            false => format!("a {noun} is one condition on the state, such as `x < 3`"),
        };
        vec![Diagnostic::error(role.code(), message, span).with_help(help)]
    };
    if expression.trim().is_empty() {
        return problem(format!("the {noun} is empty"), Span::default());
    }
    let refused = |message, help| vec![Diagnostic::error(role.code(), message, Span::default()).with_help(help)];
    let syntax = match language {
        Conditions::Refused { message, help } => return refused(*message, *help),
        Conditions::Inserted(syntax) => syntax,
    };
    if let Some((message, help)) = (syntax.refusal)(*role) {
        return refused(message, help);
    }
    match expression.find((syntax.separators)(*role)) {
        Some(at) => {
            let message = match role.is_temporal() {
                true => format!("`{}` cannot be in a formula", &expression[at..=at]),
                false if *role == Role::Watched => "only one expression can be evaluated".to_owned(),
                false => format!("a {noun} is a single expression"),
            };
            problem(message, Span::new(at, at + 1))
        }
        None => Vec::new(),
    }
}

/// An error in the text of a formula.
fn located(error: syntax::SyntaxError) -> Diagnostic {
    let span = |span: syntax::Span| Span { start: span.start, end: span.end };
    let mut diagnostic = Diagnostic::error(error.code, error.message, span(error.span));
    diagnostic.help = error.help;
    match error.related {
        Some((related, text)) => diagnostic.with_secondary(span(related), text),
        None => diagnostic,
    }
}

/// The texts of several conditions, and what is wrong with each.
fn joined(problems: Vec<(Source, Vec<Diagnostic>)>) -> (Source, Vec<Diagnostic>) {
    let mut problems = problems.into_iter();
    let (mut source, mut all) = problems.next().expect("there is a problem");
    for (other, diagnostics) in problems {
        let start = source.text.len() as u32 + 1;
        source = source.followed_by(&other);
        for mut diagnostic in diagnostics {
            for label in diagnostic.primary.iter_mut().chain(&mut diagnostic.secondary) {
                label.span = Span { start: label.span.start + start, end: label.span.end + start };
            }
            all.push(diagnostic);
        }
    }
    (source, all)
}
