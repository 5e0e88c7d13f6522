//! Conditions in the language of a model, given separately from it: constraints, invariants, states to reach, temporal
//! formulas, and expressions to evaluate.
//!
//! An expression is parsed as part of the text, as a property of single states, so names, types and macros have the
//! same meaning in it as in the text. The property then gets its role. Files of a source begin on a new line, so each
//! expression has lines of its own.
//!
//! Where a language has temporal formulas of its own, a formula is put into the text like a condition. In DVE its
//! conditions are, each with blanks around it instead of the formula, so that messages about it can be shown in the
//! formula; the formula is built from them afterwards.

use std::ops::Range;

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Formula, Function, Model, Positions, Property, PropertyId, PropertyKind,
    ReturnValue, Source, Span, Statement, StatementKind, Table, Temporal, TemporalClaim, UnaryOperator,
};
use quotient_temporal::syntax::{self, AtomReader, Binding, Dialect, Quantified, SyntaxTree};
use quotient_temporal::{Atom, Formula as Node, Formulas};

use crate::Language;
use crate::watched::WATCHED;

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
    /// A formula of LTL, claimed to hold on every run.
    Linear,
    /// A formula of CTL*, claimed to hold at the start.
    Branching,
    /// Any expression, evaluated in states.
    Watched,
}

impl Role {
    /// The file name of such a condition in messages.
    fn file_name(self) -> &'static str {
        match self {
            Self::Constraint => "--constraint",
            Self::Invariant => "--invariant",
            Self::Reach => "--reach",
            Self::Linear => "--ltl",
            Self::Branching => "--ctl",
            Self::Watched => "expression",
        }
    }
    /// Whether it is a temporal formula and not a condition on single states.
    fn is_temporal(self) -> bool {
        matches!(self, Self::Linear | Self::Branching)
    }
    fn noun(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Invariant => "invariant",
            Self::Reach => "condition to reach",
            Self::Linear | Self::Branching => "formula",
            Self::Watched => "expression",
        }
    }
    /// The kind of the property, if its role decides.
    fn kind(self) -> Option<PropertyKind> {
        match self {
            Self::Constraint => Some(PropertyKind::Constraint),
            Self::Invariant => Some(PropertyKind::Invariant),
            Self::Reach => Some(PropertyKind::Cover),
            Self::Linear | Self::Branching | Self::Watched => None,
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
    /// The conditions, their numbers, and where they are.
    places: Vec<(Condition, usize, Range<u32>)>,
    /// The conditions of formulas: the number of the formula, where they are in it, and where the formula is.
    parts: Vec<(usize, syntax::Span, Range<u32>)>,
    /// Temporal formulas whose conditions are in the text.
    formulas: Vec<Divided>,
    /// Whether conditions to reach are in the text as invariants that they do not hold. Invariants may be vacuous in
    /// states that only set up the model, such as the root of a B machine; there, nothing is reached.
    reaches_by_negation: bool,
}

/// A temporal formula whose conditions are in the text, each by itself.
#[derive(Clone, Debug)]
struct Divided {
    condition: Condition,
    tree: SyntaxTree,
    /// Its conditions: where they are in the formula, and where the formula around each is in the text.
    parts: Vec<(syntax::Span, Range<u32>)>,
}

/// Something to put into a text.
struct Insertion {
    /// Where.
    at: usize,
    pieces: Vec<Piece>,
}

enum Piece {
    /// Text around conditions.
    Around(String),
    /// A condition, or the condition of a formula with blanks around it.
    Given {
        read: String,
        /// As long as what is read.
        shown: String,
        /// The number of the condition or formula.
        number: usize,
        /// Which condition of the formula it is.
        part: Option<syntax::Span>,
    },
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
    let mut problems = Vec::new();
    let mut trees: Vec<Option<SyntaxTree>> = Vec::new();
    for condition in conditions {
        let file = Source::new(condition.role.file_name(), condition.expression.as_str());
        let found = problems_of(condition, language);
        let tree = match language {
            Language::Dve if condition.role.is_temporal() && found.is_empty() => {
                // A word of a formula is a name of the model if it occurs there.
                let is_name = |word: &str| last_word(&source.text, word).is_some();
                syntax::parse(&condition.expression, &Dialect::dve().with_names(&is_name)).map(Some)
            }
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
    let insertions = match language {
        Language::Murphi => vec![at_end(end, conditions, |role, number| {
            let keyword = match role {
                Role::Constraint => "assume",
                Role::Invariant => "invariant",
                Role::Reach => "cover",
                Role::Watched => return (format!("\ncover \"{WATCHED}\" (\n"), "\n);\n"),
                Role::Linear => return (format!("\nltl \"{}\"\n", formula_name(number)), "\n;\n"),
                Role::Branching => return (format!("\nctl \"{}\"\n", formula_name(number)), "\n;\n"),
            };
            (format!("\n{keyword} (\n"), "\n);\n")
        })],
        Language::Promela => vec![at_end(end, conditions, |role, number| match role {
            Role::Linear => (format!("\nltl {} {{\n", formula_name(number)), "\n}\n"),
            Role::Branching => (format!("\nctl {} {{\n", formula_name(number)), "\n}\n"),
            Role::Watched => (format!("\nltl {WATCHED} {{ [] (\n"), "\n) }\n"),
            _ => {
                let negation = if role == Role::Reach { "!" } else { "" };
                (format!("\nltl {} {{ [] {negation}(\n", formula_name(number)), "\n) }\n")
            }
        })],
        Language::Dve => vec![asserted(end, conditions, &trees)],
        Language::B => {
            let Some(insertions) = insertions_in_machine(&source.text[..end], conditions) else {
                let file = conditions.first().map_or("--invariant", |it| it.role.file_name());
                let error = Diagnostic::error("no-end", "the machine has no end", Span::default());
                return Err((Source::new(file, ""), vec![error.with_help("write `END` behind it")]));
            };
            insertions
        }
        Language::Csp => vec![at_end(end, conditions, |role, _| match role {
            Role::Linear | Role::Branching => ("\n#ltl\n".to_owned(), "\n;\n"),
            Role::Watched => (format!("\n#{WATCHED} (\n"), "\n);\n"),
            Role::Constraint | Role::Invariant | Role::Reach => ("\n#invariant (\n".to_owned(), "\n);\n"),
        })],
        // Each was refused above.
        Language::Pnml => Vec::new(),
    };
    let mut extended = assemble(source, end, insertions, conditions);
    extended.reaches_by_negation = matches!(language, Language::Promela | Language::B);
    let parts = std::mem::take(&mut extended.parts);
    extended.formulas = trees
        .into_iter()
        .enumerate()
        .filter_map(|(number, tree)| {
            let parts = parts.iter().filter(|it| it.0 == number).map(|(_, part, place)| (*part, place.clone()));
            Some(Divided { condition: conditions[number].clone(), tree: tree?, parts: parts.collect() })
        })
        .collect();
    Ok(extended)
}

/// What is wrong with a condition before it is read.
fn problems_of(Condition { role, expression }: &Condition, language: Language) -> Vec<Diagnostic> {
    let separators: &[char] = match language {
        Language::Promela => &[';', '{', '}'],
        Language::B if role.is_temporal() => &['"'],
        // The composition of relations.
        Language::B if *role == Role::Watched => &[],
        _ => &[';'],
    };
    let noun = role.noun();
    let problem = |message: String, span: Span| {
        let help = match role.is_temporal() {
            true => "write a formula such as `[] (p -> <> q)`".to_owned(),
            false if *role == Role::Watched => "write one expression, such as `x + 1`".to_owned(),
            false => format!("a {noun} is one condition on the state, such as `x < 3`"),
        };
        vec![Diagnostic::error(code(*role), message, span).with_help(help)]
    };
    if expression.trim().is_empty() {
        return problem(format!("the {noun} is empty"), Span::default());
    }
    if language == Language::Pnml {
        let error = Diagnostic::error(code(*role), "there are no expressions about nets", Span::default());
        return vec![error.with_help("give formulas in the XML form of the Model Checking Contest, with --properties")];
    }
    if language == Language::Csp && *role == Role::Branching {
        let error = Diagnostic::error(code(*role), "formulas of CTL are not read for CSP#", Span::default());
        return vec![error.with_help("use `--ltl`, or `quotient lower` and the model in Murphi")];
    }
    match expression.find(separators) {
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

/// The code of messages about a condition itself.
fn code(role: Role) -> &'static str {
    match role {
        Role::Constraint => "constraint",
        Role::Invariant => "invariant",
        Role::Reach => "reach",
        Role::Linear => "ltl",
        Role::Branching => "ctl",
        Role::Watched => "expression",
    }
}

/// How the names of formulas begin that carry conditions.
pub(crate) const CARRIER: &str = "quotient_condition_";

/// The name of the formula that carries a condition.
fn formula_name(number: usize) -> String {
    format!("{CARRIER}{number}")
}

fn given(number: usize, Condition { expression, .. }: &Condition) -> Piece {
    Piece::Given { read: expression.clone(), shown: expression.clone(), number, part: None }
}

/// Conditions at the end of a text, with the text around each.
fn at_end(at: usize, conditions: &[Condition], around: fn(Role, usize) -> (String, &'static str)) -> Insertion {
    let mut pieces = Vec::new();
    for (number, condition) in conditions.iter().enumerate() {
        let (before, after) = around(condition.role, number);
        pieces.extend([Piece::Around(before), given(number, condition), Piece::Around(after.to_owned())]);
    }
    Insertion { at, pieces }
}

/// Conditions as assertions of a DVE system; those of formulas each by itself.
fn asserted(at: usize, conditions: &[Condition], trees: &[Option<SyntaxTree>]) -> Insertion {
    let mut pieces = Vec::new();
    for (number, (condition, tree)) in conditions.iter().zip(trees).enumerate() {
        let parts = match tree {
            None => vec![given(number, condition)],
            Some(tree) => {
                let text = &condition.expression;
                let mut spans = merged(tree, text).atoms();
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

/// A formula whose conditions are as large as possible.
fn merged(tree: &SyntaxTree, text: &str) -> SyntaxTree {
    let mut tree = tree.clone();
    tree.merge_atoms(text, Dialect::dve().expressions);
    tree
}

/// Conditions of a B machine are assertions, and formulas definitions: in the clauses that exist, or in new ones.
fn insertions_in_machine(text: &str, conditions: &[Condition]) -> Option<Vec<Insertion>> {
    let text = without_comments(text);
    let end = last_word(&text, "END");
    let is_definition = |role: Role| role.is_temporal() || role == Role::Watched;
    let clause = |word: &str, definitions: bool, around: fn(Role, usize) -> (String, &'static str)| {
        let mut pieces = Vec::new();
        for (number, condition) in conditions.iter().enumerate().filter(|it| is_definition(it.1.role) == definitions) {
            if !pieces.is_empty() {
                pieces.push(Piece::Around(" ;".into()));
            }
            let (before, after) = around(condition.role, number);
            let mut given = given(number, condition);
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
    let definitions = clause("DEFINITIONS", true, |role, number| match role {
        Role::Watched => (format!("\n{WATCHED} == (\n"), "\n)"),
        Role::Branching => (format!("\nASSERT_CTL_{} == \"", formula_name(number)), "\""),
        _ => (format!("\nASSERT_LTL_{} == \"", formula_name(number)), "\""),
    })?;
    Some(assertions.into_iter().chain(definitions).collect())
}

/// A text with insertions.
fn assemble(source: &Source, end: usize, mut insertions: Vec<Insertion>, conditions: &[Condition]) -> Extended {
    insertions.sort_by_key(|insertion| insertion.at);
    let (mut read, mut shown) = (String::new(), String::new());
    let mut own: Vec<(u32, String)> = Vec::new();
    let (mut places, mut parts) = (Vec::new(), Vec::new());
    let mut done = 0;
    for Insertion { at, pieces } in insertions {
        for text in [&mut read, &mut shown] {
            text.push_str(&source.text[done..at]);
        }
        done = at;
        for piece in pieces {
            match piece {
                Piece::Around(around) => {
                    read.push_str(&around);
                    // The quotes around a formula are not part of what was given, which has lines of its own.
                    shown.push_str(&around.replace('"', "\n"));
                }
                Piece::Given { read: given, shown: formula, number, part } => {
                    let start = read.len() as u32;
                    own.push((start, conditions[number].role.file_name().to_owned()));
                    read.push_str(&given);
                    shown.push_str(&formula);
                    let place = start..read.len() as u32;
                    match part {
                        None => places.push((number, place)),
                        Some(part) => parts.push((number, part, place)),
                    }
                }
            }
        }
        if at < end {
            // What follows them in the text belongs to the text again.
            own.push((read.len() as u32, source.name.clone()));
        }
    }
    for text in [&mut read, &mut shown] {
        text.push_str(&source.text[done..]);
    }
    let shift = (read.len() - source.text.len()) as u32;
    let files: Vec<(u32, String)> = source.files.iter().map(|(start, name)| (start + shift, name.clone())).collect();
    let read = Source { name: source.name.clone(), text: read.into(), files };
    let mut shown = Source { text: shown.into(), ..read.clone() };
    shown.files.splice(0..0, own);
    let places = places.into_iter().map(|(number, place)| (conditions[number].clone(), number, place)).collect();
    Extended { source: read, shown, places, parts, formulas: Vec::new(), reaches_by_negation: false }
}

impl Extended {
    /// Messages about the text, with the text to show. What is around a condition was not given: a message about it with its
    /// parentheses is about the condition.
    pub fn invalid(&self, mut diagnostics: Vec<Diagnostic>) -> (Source, Vec<Diagnostic>) {
        for label in diagnostics.iter_mut().flat_map(|it| it.primary.iter_mut().chain(&mut it.secondary)) {
            let span = label.span;
            if let Some((.., place)) =
                self.places.iter().find(|(.., place)| span.start < place.start && place.end < span.end)
            {
                label.span = Span { start: place.start, end: place.end };
            }
        }
        (self.shown.clone(), diagnostics)
    }

    /// Turns the properties inserted into the text into what they are for.
    ///
    /// # Errors
    /// If there is none for a condition.
    pub fn apply(self, model: &mut Model) -> Result<(), (Source, Vec<Diagnostic>)> {
        model.source = self.shown.clone();
        let mut all = Vec::new();
        for (condition, number, place) in self.places.iter().filter(|(it, ..)| it.role != Role::Watched) {
            let carrier = formula_name(*number);
            let mut found = Vec::new();
            for id in model.properties.indices() {
                let property = &mut model.properties[id];
                // A property may begin with its keyword, or be a part of what was written.
                let overlaps = property.span.start < place.end && place.start < property.span.end;
                let is_condition =
                    matches!(property.kind, PropertyKind::Assumption | PropertyKind::Invariant | PropertyKind::Cover);
                let fits = is_condition || condition.role.is_temporal() && property.kind == PropertyKind::Temporal;
                if fits && (overlaps || property.name.as_deref().is_some_and(|name| name.ends_with(&carrier))) {
                    property.kind = condition.role.kind().unwrap_or(property.kind);
                    let (start, end) = (property.span.start.max(place.start), property.span.end.min(place.end));
                    property.span =
                        if overlaps { Span { start, end } } else { Span { start: place.start, end: place.end } };
                    if condition.role != Role::Constraint {
                        property.name = Some(one_line(&condition.expression));
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
                let message = match condition.role.is_temporal() {
                    true => "this formula cannot be checked".to_owned(),
                    false => format!("this cannot be used as a {noun}: it is not a condition on single states"),
                };
                return Err((self.shown, vec![Diagnostic::error(code(condition.role), message, span)]));
            }
            all.extend(found);
        }
        for formula in &self.formulas {
            let property = formula.property(model, &mut all).map_err(|errors| (self.shown.clone(), errors))?;
            model.properties.push(property);
        }
        model.assertions.retain(|id| !all.contains(id));
        self.remove_parts(model);
        Ok(())
    }

    /// Removes the properties that carried the conditions of formulas.
    fn remove_parts(&self, model: &mut Model) {
        let places: Vec<&Range<u32>> = self.formulas.iter().flat_map(|it| &it.parts).map(|(_, place)| place).collect();
        if places.is_empty() {
            return;
        }
        let old = std::mem::take(&mut model.properties);
        let mut renamed = Vec::new();
        for (id, property) in old.iter_enumerated() {
            let carries = property.kind != PropertyKind::Temporal
                && places.iter().any(|place| property.span.start < place.end && place.start < property.span.end);
            renamed.push((id, (!carries).then(|| model.properties.push(property.clone()))));
        }
        let new = |id: PropertyId| renamed.iter().find(|(old, _)| *old == id).and_then(|(_, new)| *new);
        model.assertions = model.assertions.iter().filter_map(|&id| new(id)).collect();
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Divided {
    /// The property of a formula, from the conditions in the model.
    fn property(&self, model: &mut Model, used: &mut Vec<PropertyId>) -> Result<Property, Vec<Diagnostic>> {
        let text = &self.condition.expression;
        let tree = merged(&self.tree, text);
        let branching = self.condition.role == Role::Branching;
        let mut reader = Reader { formula: self, model, used, atoms: Vec::new() };
        let mut pool = Formulas::new();
        let formula = syntax::lower(&tree, &mut pool, &mut reader)?;
        let atoms = reader.atoms;
        let whole = self.parts.first().map_or(0..0, |(_, place)| place.clone());
        let whole = Span { start: whole.start, end: whole.end };
        let problem = |message: &str, help: &str| {
            Err(vec![Diagnostic::error(code(self.condition.role), message, whole).with_help(help)])
        };
        if !branching && pool.has_path_quantifier(formula) {
            return problem("a formula of LTL has no path quantifiers", "use `--ctl`");
        }
        if branching {
            let above = Atom(atoms.len() as u32);
            if quotient_temporal::branching::separate(&mut pool.clone(), formula, above).is_err() {
                let help = "write `A` or `E` before it, or use `--ltl` for what holds on every run";
                return problem("a temporal operator needs a path quantifier", help);
            }
        }
        let claim = match branching {
            true => TemporalClaim::Branching { pool, formula },
            false => TemporalClaim::Linear { pool, formula },
        };
        let names = atoms.iter().map(|(span, _)| one_line(span.of(text))).collect();
        let temporal = Temporal {
            claim,
            atoms: atoms.into_iter().map(|(_, condition)| condition).collect(),
            names,
            text: one_line(text),
            positions: Positions::Stored,
        };
        Ok(Property {
            name: Some(one_line(text)),
            kind: PropertyKind::Temporal,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: Formula::Temporal(Box::new(temporal)),
            span: whole,
        })
    }
}

/// Finds the conditions of a formula in the model.
struct Reader<'a> {
    formula: &'a Divided,
    model: &'a mut Model,
    used: &'a mut Vec<PropertyId>,
    atoms: Vec<(syntax::Span, ExprId)>,
}

impl AtomReader for Reader<'_> {
    type Error = Diagnostic;

    fn atom(&mut self, pool: &mut Formulas, span: syntax::Span, _: &[Binding]) -> Result<Node, Diagnostic> {
        let text = &self.formula.condition.expression;
        let same = |(known, _): &(syntax::Span, ExprId)| known.of(text) == span.of(text);
        if let Some(number) = self.atoms.iter().position(same) {
            return Ok(pool.atom(Atom(number as u32)));
        }
        let place = self.formula.parts.iter().find(|(part, _)| *part == span).map(|(_, place)| place.clone());
        let place = place.expect("every condition is in the text");
        let here = Span { start: place.start + span.start, end: place.start + span.end };
        let mut conditions = Vec::new();
        for id in self.model.properties.indices() {
            let property = &self.model.properties[id];
            let overlaps = property.span.start < place.end && place.start < property.span.end;
            if overlaps && let Some(condition) = property.formula.condition() {
                let locals = property.locals.clone();
                // A condition with bound variables keeps them in a function.
                conditions.push(if locals.is_empty() {
                    condition
                } else {
                    let kind = StatementKind::Return(Some(ReturnValue::Value(condition)));
                    let function = self.model.functions.push(Function {
                        name: format!("condition {}", self.model.functions.len()),
                        parameters: Vec::new(),
                        locals,
                        result: Some(Model::BOOLEAN),
                        body: vec![Statement { kind, span: here }],
                        span: here,
                    });
                    self.model.pool.expression(Expr::Call { function, arguments: Vec::new() })
                });
                self.used.push(id);
            }
        }
        let both = |left, right| Expr::Binary { operator: BinaryOperator::And, left, right };
        let condition = conditions.into_iter().reduce(|left, right| self.model.pool.expression(both(left, right)));
        let Some(condition) = condition else {
            let message = "this is not a condition on single states";
            return Err(Diagnostic::error(code(self.formula.condition.role), message, here));
        };
        self.atoms.push((span, condition));
        Ok(pool.atom(Atom(self.atoms.len() as u32 - 1)))
    }

    fn domain_size(&mut self, quantified: &Quantified, _: &[Binding]) -> Result<usize, Diagnostic> {
        let start = self.formula.parts.first().map_or(0, |(_, place)| place.start);
        let span = Span { start: start + quantified.domain.start, end: start + quantified.domain.end };
        let message = "there are no types here to quantify over";
        Err(Diagnostic::error("quantifier", message, span).with_help("write the formula for each process"))
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
