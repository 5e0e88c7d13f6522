//! A text with conditions in it, and what becomes of the properties that carry them.

use std::ops::Range;

use quotient_ir::{Diagnostic, Expr, Model, PropertyId, PropertyKind, Source, Span, UnaryOperator};
use quotient_temporal::syntax::SyntaxTree;

use super::divided::{Divided, one_line};
use super::insertion::{Insertion, Piece, formula_name};
use super::role::{Condition, Role};

/// A text with conditions in it.
#[derive(Clone, Debug)]
pub struct Extended {
    /// The text to read.
    pub source: Source,
    /// The same text, in which the conditions are files of their own: for messages.
    pub shown: Source,
    /// The conditions, their numbers, and where they are.
    places: Vec<(Condition, usize, Range<u32>)>,
    /// Temporal formulas whose conditions are in the text.
    formulas: Vec<Divided>,
    /// Whether conditions to reach are in the text as invariants that they do not hold.
    reaches_by_negation: bool,
}

impl Extended {
    /// A text with insertions, of which those of divided formulas carry their conditions. `end` is that of the first
    /// file.
    pub(super) fn new(
        source: &Source,
        end: usize,
        mut insertions: Vec<Insertion>,
        conditions: &[Condition],
        trees: Vec<Option<SyntaxTree>>,
        reaches_by_negation: bool,
    ) -> Self {
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
        let files: Vec<(u32, String)> =
            source.files.iter().map(|(start, name)| (start + shift, name.clone())).collect();
        let read = Source { name: source.name.clone(), text: read.into(), files };
        let mut shown = Source { text: shown.into(), ..read.clone() };
        shown.files.splice(0..0, own);
        let places = places.into_iter().map(|(number, place)| (conditions[number].clone(), number, place)).collect();
        let formulas = trees.into_iter().enumerate().filter_map(|(number, tree)| {
            let parts = parts.iter().filter(|it| it.0 == number).map(|(_, part, place)| (*part, place.clone()));
            Some(Divided { condition: conditions[number].clone(), tree: tree?, parts: parts.collect() })
        });
        Self { source: read, shown, places, formulas: formulas.collect(), reaches_by_negation }
    }

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
                return Err((self.shown, vec![Diagnostic::error(condition.role.code(), message, span)]));
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
