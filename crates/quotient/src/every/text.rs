//! The text of a family: how its members are read, and what is said where it does not show what it must.

use quotient_every::{Obstacle, Reading, Text, Unread};
use quotient_ir::{self as ir, Diagnostic, PropertyId, Span};

use super::report::Every;
use crate::control::Control;
use crate::error::Error;
use crate::languages::{NamedNumber, named_numbers};
use crate::model::Model;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::selection::{claims, named_properties};

/// A model as a text with other values of the constants of a claim.
#[derive(Clone, Copy)]
pub(super) struct MemberText<'a> {
    model: &'a Model,
    claim: &'a Every,
    options: &'a Options,
    control: &'a Control,
    has_only_sizes: bool,
}

impl<'a> MemberText<'a> {
    /// Checks the constants of a claim.
    pub(super) fn new(
        model: &'a Model,
        claim: &'a Every,
        options: &'a Options,
        control: &'a Control,
    ) -> Result<Self, Error> {
        let mut has_only_sizes = true;
        for (place, size) in claim.sizes.iter().enumerate() {
            has_only_sizes &= is_size(model, &size.constant)?;
            let refused = |reason: &str| Err(Refusal::Every(format!("`{}` {reason}", size.constant)).into());
            if size.from < 1 {
                return refused("is the number of objects, and begins with 1");
            }
            if claim.sizes[..place].iter().any(|other| other.constant == size.constant) {
                return refused("is given twice");
            }
        }
        Ok(Self { model, claim, options, control, has_only_sizes })
    }

    /// The model with some values of the constants.
    pub(super) fn member(&self, values: &[i64]) -> Result<Model, Error> {
        let constants = self.claim.sizes.iter().zip(values);
        let constants = constants.map(|(size, value)| (size.constant.clone(), value.to_string()));
        self.model.reread(&constants.collect::<Vec<_>>(), self.control)
    }

    /// What is known of the family, or an error that says why it is not.
    pub(super) fn known<T>(&self, result: Result<T, Unread<Error>>) -> Result<T, Error> {
        result.map_err(|unread| match unread {
            Unread::Text(error) => error,
            Unread::Interrupted => Error::Stopped(self.control.reason()),
            Unread::Obstacles(obstacles) => {
                self.against("not-every-size", &format!("not for every {}", self.claim.names()), obstacles)
            }
        })
    }

    /// An error with a diagnostic for each obstacle to a cut-off.
    pub(super) fn no_cut_off(&self, obstacles: Vec<Obstacle>) -> Error {
        let what = format!("the text shows no cut-off for {}", self.claim.names());
        self.against("no-cut-off", &what, obstacles)
    }

    fn against(&self, code: &'static str, what: &str, obstacles: Vec<Obstacle>) -> Error {
        let diagnostics = obstacles.into_iter().map(|Obstacle { reason, span }| {
            let message = format!("{what}: {reason}");
            let diagnostic = Diagnostic::error(code, message, span);
            if span == Span::default() { Diagnostic { primary: None, ..diagnostic } } else { diagnostic }
        });
        Error::model(self.model.source().clone(), diagnostics.collect())
    }
}

impl Text for MemberText<'_> {
    type Error = Error;

    fn read(&self, values: &[i64]) -> Result<Reading, Error> {
        let (model, layout) = self.member(values)?.shared();
        Ok(Reading { model, layout })
    }

    fn claimed(&self, model: &ir::Model) -> Result<Vec<PropertyId>, Error> {
        match self.options.properties.is_empty() {
            true => Ok(claims(model, None)),
            false => Ok(named_properties(model, &self.options.properties)?),
        }
    }

    fn has_only_sizes(&self) -> bool {
        self.has_only_sizes
    }
}

/// Whether a constant is nothing but a size.
fn is_size(model: &Model, name: &str) -> Result<bool, Error> {
    let numbers = model.language().map(|language| named_numbers(model.source(), language)).unwrap_or_default();
    if let Some(NamedNumber { is_size, .. }) = numbers.iter().find(|number| number.name == name) {
        return Ok(*is_size);
    }
    let known: Vec<String> = numbers.iter().map(|number| format!("`{}`", number.name)).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Refusal::Every(format!("the text has no constant `{name}` that can be set; there are: {known}")).into())
}
