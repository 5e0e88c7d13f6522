//! Conditions in the language of a model, given separately from it: constraints, invariants and states to reach.
//!
//! An expression is parsed as part of the text, as a property of single states, so names, types and macros have the
//! same meaning in it as in the text. The property then gets its role. Files of a source begin on a new line, so each
//! expression has lines of its own.

use std::ops::Range;

use quotient_ir::{Diagnostic, Expr, Model, PropertyKind, Source, Span, UnaryOperator};

use crate::Language;

/// A condition given separately from the text of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is for.
    pub role: Role,
    /// An expression in the language of the model.
    pub expression: String,
}

/// What a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// States in which it is false are stored and checked, but not expanded.
    Constraint,
    /// It is claimed to hold in every reachable state.
    Invariant,
    /// It is claimed to hold in some reachable state.
    Reach,
}

impl Role {
    /// The file name of such a condition in messages.
    fn file_name(self) -> &'static str {
        match self {
            Self::Constraint => "--constraint",
            Self::Invariant => "--invariant",
            Self::Reach => "--reach",
        }
    }
    fn noun(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Invariant => "invariant",
            Self::Reach => "condition to reach",
        }
    }
    fn kind(self) -> PropertyKind {
        match self {
            Self::Constraint => PropertyKind::Constraint,
            Self::Invariant => PropertyKind::Invariant,
            Self::Reach => PropertyKind::Cover,
        }
    }
}

/// A text with conditions in it.
#[derive(Clone, Debug)]
pub struct Extended {
    /// The text to read.
    pub source: Source,
    /// The same text, in which the conditions are files of their own: for messages.
    pub shown: Source,
    /// The conditions and where they are.
    places: Vec<(Condition, Range<u32>)>,
    /// Whether conditions to reach are in the text as invariants that they do not hold. Invariants may be vacuous in
    /// states that only set up the model, such as the root of a B machine; there, nothing is reached.
    reaches_by_negation: bool,
}

/// The form in which conditions are inserted into a text.
struct Form {
    /// Where they are inserted.
    at: usize,
    prefix: String,
    /// The text around each, by its number.
    around: fn(Role, usize) -> (String, &'static str),
    separator: &'static str,
    suffix: &'static str,
}

/// Puts conditions into a text.
///
/// # Errors
/// If one of them cannot be a single expression, with the text to show.
pub fn with_conditions(
    source: &Source,
    language: Language,
    conditions: &[Condition],
) -> Result<Extended, (Source, Vec<Diagnostic>)> {
    let separators: &[char] = if language == Language::Promela { &[';', '{', '}'] } else { &[';'] };
    for Condition { role, expression } in conditions {
        let (noun, file) = (role.noun(), Source::new(role.file_name(), expression.as_str()));
        let problem = |message: String, span: Span| {
            let help = format!("a {noun} is one condition on the state, such as `x < 3`");
            vec![Diagnostic::error(code(*role), message, span).with_help(help)]
        };
        if expression.trim().is_empty() {
            return Err((file, problem(format!("the {noun} is empty"), Span::default())));
        }
        if let Some(at) = expression.find(separators) {
            return Err((file, problem(format!("a {noun} is a single expression"), Span::new(at, at + 1))));
        }
    }
    let end = source.files.first().map_or(source.text.len(), |(start, _)| *start as usize - 1);
    let form = match language {
        Language::Murphi => Form::at_end(end, |role, _| {
            let keyword = match role {
                Role::Constraint => "assume",
                Role::Invariant => "invariant",
                Role::Reach => "cover",
            };
            (format!("\n{keyword} (\n"), "\n);\n")
        }),
        Language::Promela => Form::at_end(end, |role, number| {
            let negation = if role == Role::Reach { "!" } else { "" };
            (format!("\nltl {} {{ [] {negation}(\n", formula_name(number)), "\n) }\n")
        }),
        Language::Dve => Form::at_end(end, |_, _| ("\nassert (\n".to_owned(), "\n);\n")),
        Language::B => {
            let Some(form) = form_in_machine(&source.text[..end]) else {
                let file = conditions.first().map_or("--invariant", |it| it.role.file_name());
                let error = Diagnostic::error("no-end", "the machine has no end", Span::default());
                return Err((Source::new(file, ""), vec![error.with_help("write `END` behind it")]));
            };
            form
        }
    };
    let reaches_by_negation = matches!(language, Language::Promela | Language::B);
    Ok(Extended { reaches_by_negation, ..form.insert(source, conditions, end) })
}

/// The code of messages about a condition itself.
fn code(role: Role) -> &'static str {
    match role {
        Role::Constraint => "constraint",
        Role::Invariant => "invariant",
        Role::Reach => "reach",
    }
}

/// How the names of formulas begin that carry conditions in Promela.
pub(crate) const CARRIER: &str = "quotient_condition_";

/// The name of the formula that carries a condition in Promela.
fn formula_name(number: usize) -> String {
    format!("{CARRIER}{number}")
}

/// Conditions of a B machine are assertions: in the clause that exists, or in a new one.
fn form_in_machine(text: &str) -> Option<Form> {
    let around = |role: Role, _| match role {
        // An invariant that is not divided into its parts.
        Role::Reach => (" (bool(\n".to_owned(), "\n) = FALSE)"),
        _ => (" (\n".to_owned(), "\n)"),
    };
    let text = without_comments(text);
    Some(match (last_word(&text, "ASSERTIONS"), last_word(&text, "END")) {
        (Some(clause), _) => {
            let at = clause + "ASSERTIONS".len();
            Form { at, prefix: String::new(), around, separator: " ;", suffix: " ;\n" }
        }
        (None, Some(at)) => Form { at, prefix: "\nASSERTIONS".into(), around, separator: " ;", suffix: "\n" },
        (None, None) => return None,
    })
}

impl Form {
    fn at_end(at: usize, around: fn(Role, usize) -> (String, &'static str)) -> Self {
        Self { at, prefix: String::new(), around, separator: "", suffix: "" }
    }

    fn insert(self, source: &Source, conditions: &[Condition], end: usize) -> Extended {
        let mut inserted = self.prefix;
        let mut places = Vec::new();
        for (number, condition) in conditions.iter().enumerate() {
            if number > 0 {
                inserted.push_str(self.separator);
            }
            let (before, after) = (self.around)(condition.role, number);
            inserted.push_str(&before);
            let start = self.at + inserted.len();
            inserted.push_str(&condition.expression);
            places.push((condition.clone(), start as u32..(start + condition.expression.len()) as u32));
            inserted.push_str(after);
        }
        inserted.push_str(self.suffix);
        let text = format!("{}{inserted}{}", &source.text[..self.at], &source.text[self.at..]);
        let shift = inserted.len() as u32;
        let files = source.files.iter().map(|(start, name)| (start + shift, name.clone())).collect();
        let read = Source { name: source.name.clone(), text: text.into(), files };
        let mut shown = read.clone();
        let own = places.iter().map(|(condition, place)| (place.start, condition.role.file_name().to_owned()));
        let mut own: Vec<(u32, String)> = own.collect();
        if self.at < end {
            // What follows them in the text belongs to the text again.
            own.push(((self.at + inserted.len()) as u32, source.name.clone()));
        }
        shown.files.splice(0..0, own);
        Extended { source: read, shown, places, reaches_by_negation: false }
    }
}

impl Extended {
    /// Turns the properties inserted into the text into what they are for.
    ///
    /// # Errors
    /// If there is none for a condition.
    pub fn apply(self, model: &mut Model) -> Result<(), (Source, Vec<Diagnostic>)> {
        model.source = self.shown.clone();
        let mut all = Vec::new();
        for (number, (condition, place)) in self.places.iter().enumerate() {
            let carrier = formula_name(number);
            let mut found = Vec::new();
            for id in model.properties.indices() {
                let property = &mut model.properties[id];
                // A property may begin with its keyword, or be a part of what was written.
                let overlaps = property.span.start < place.end && place.start < property.span.end;
                let is_condition =
                    matches!(property.kind, PropertyKind::Assumption | PropertyKind::Invariant | PropertyKind::Cover);
                if is_condition && (overlaps || property.name.as_deref() == Some(&carrier)) {
                    property.kind = condition.role.kind();
                    let (start, end) = (property.span.start.max(place.start), property.span.end.min(place.end));
                    property.span =
                        if overlaps { Span { start, end } } else { Span { start: place.start, end: place.end } };
                    if condition.role != Role::Constraint {
                        let words: Vec<&str> = condition.expression.split_whitespace().collect();
                        property.name = Some(words.join(" "));
                    }
                    if condition.role == Role::Reach
                        && self.reaches_by_negation
                        && let Some(operand) = property.formula.condition()
                    {
                        let negation = Expr::Unary { operator: UnaryOperator::Not, operand };
                        property.formula = model.pool.expression(negation).into();
                    }
                    found.push(id);
                }
            }
            if found.is_empty() || condition.role == Role::Reach && found.len() > 1 {
                let span = Span { start: place.start, end: place.end };
                let noun = condition.role.noun();
                let message = format!("this cannot be used as a {noun}: it is not a condition on single states");
                return Err((self.shown, vec![Diagnostic::error(code(condition.role), message, span)]));
            }
            all.extend(found);
        }
        model.assertions.retain(|id| !all.contains(id));
        Ok(())
    }
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

/// The last occurrence of a word.
fn last_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let occurrences = text
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part));
    occurrences.last()
}
