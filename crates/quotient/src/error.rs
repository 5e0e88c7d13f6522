//! The ways an operation ends without a report.

use std::path::PathBuf;

use quotient_explicit::AdaptiveError;
use quotient_ir::builder::BuildError;
use quotient_ir::{Diagnostic, Source, Span};
use quotient_search::{EngineError, StopReason};
use quotient_symmetry::PartialRefusal;

use crate::refusal::Refusal;
use quotient_search::defect::Defect;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be carried out.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file of the model cannot be read.
    #[error("{message}")]
    File {
        /// Its path.
        path: String,
        /// The reason, with the path.
        message: String,
    },
    /// The model cannot be used, for the reasons in the diagnostics.
    #[error("{}", summary(.0))]
    Model(Box<Invalid>),
    /// A limit was reached, or the operation was cancelled, before there was anything to report.
    #[error("{0}")]
    Stopped(StopReason),
    /// The connection to another process of a search on several machines was lost.
    #[error("{message}")]
    Lost {
        /// The reason.
        message: String,
        /// Where checkpoints were written, if they were: a search can be resumed from there.
        checkpoint: Option<PathBuf>,
    },
    /// A defect of this program.
    #[error(transparent)]
    Internal(#[from] Defect),
}

/// A model that cannot be used.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The text of the model.
    pub source: Source,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

fn summary(invalid: &Invalid) -> String {
    let Invalid { source, diagnostics } = invalid;
    let lines = diagnostics.iter().map(|diagnostic| match &diagnostic.primary {
        Some(label) => format!("{}: {}", source.locate(label.span), diagnostic.message),
        None => format!("{}: {}", source.name, diagnostic.message),
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl From<BuildError> for Error {
    fn from(BuildError { source, diagnostics }: BuildError) -> Self {
        Self::model(source, diagnostics)
    }
}

impl Error {
    /// An error with these diagnostics.
    pub(crate) fn model(source: Source, diagnostics: Vec<Diagnostic>) -> Self {
        Self::Model(Box::new(Invalid { source, diagnostics }))
    }
    /// An error about the model as a whole.
    pub(crate) fn whole_model(source: Source, code: &'static str, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic { primary: None, ..Diagnostic::error(code, message, Span::default()) };
        Self::model(source, vec![diagnostic])
    }
    /// Something in the text that cannot be used as requested.
    pub(crate) fn unsupported(source: &Source, message: impl Into<String>, span: Span) -> Self {
        Self::model(source.clone(), vec![Diagnostic::error("unsupported", message, span)])
    }
    /// An engine's error about a model.
    pub(crate) fn of_engine(source: &Source, error: EngineError) -> Self {
        match error {
            EngineError::GaveUp(_) => Self::Stopped(StopReason::Withdrawn),
            EngineError::Resume { .. } => Refusal::Resume(error.to_string()).into(),
            EngineError::NotEncodable { reason, span } => Self::unsupported(source, reason, span),
            EngineError::Layout(error) => Self::whole_model(source.clone(), "state-too-large", error.to_string()),
            error => Defect::noticed(error.to_string()).into(),
        }
    }
    /// An error of adaptive reduction about a model.
    pub(crate) fn of_adaptive(source: &Source, error: AdaptiveError) -> Self {
        match error {
            AdaptiveError::Engine(error) => Self::of_engine(source, error),
            AdaptiveError::Uncertified(error) => Defect::noticed(error.to_string()).into(),
            AdaptiveError::GaveUp(_) | AdaptiveError::Refused(PartialRefusal::GaveUp(_)) => {
                Self::Stopped(StopReason::Withdrawn)
            }
            AdaptiveError::Refused(_) | AdaptiveError::Unsupported(_) => Refusal::Adaptive(error.to_string()).into(),
        }
    }
}
