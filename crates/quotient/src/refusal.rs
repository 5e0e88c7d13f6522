//! Why a request is refused, in the words of the command line.

/// The maximum number of threads of a search.
pub const MOST_THREADS: u32 = 1024;
/// Why a request is refused. Options are called by their names on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The model has no such property.
    #[error("the model has no property `{name}`{hint}")]
    UnknownProperty {
        /// The name requested.
        name: String,
        /// Suggested names.
        hint: String,
    },
    /// The model has such a property, but it cannot be checked.
    #[error("property `{name}`: {reason}")]
    UnsupportedProperty {
        /// The name requested.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Deadlock is both selected and switched off.
    #[error("--property deadlock contradicts --deadlock off")]
    DeadlockOff,
    /// Too few or too many threads.
    #[error("a search needs a thread, and uses at most {MOST_THREADS}: {0} cannot be used")]
    Threads(u32),
    /// A limit that leaves no room for any state.
    #[error("a search needs room for a state")]
    NoRoom,
    /// A combination that the table of what goes together excludes.
    #[error("{0}")]
    Unsupported(String),
    /// A search for zero violations.
    #[error("--max-errors 0 looks for nothing: a search ends at the first error with 1")]
    NoErrors,
    /// Adaptive reduction for a model that it does not apply to.
    #[error("{0}")]
    Adaptive(String),
    /// An option that searches for temporal properties do not support.
    #[error("{0}")]
    Temporal(String),
    /// An option that the exploration of a graph does not support.
    #[error("{0}")]
    Explore(&'static str),
    /// Partial order where all steps are needed.
    #[error("--partial-order on cannot be used: {0}")]
    PartialOrder(String),
    /// An engine that was left out of this build.
    #[error("this build of quotient has no {engine}: build it with the feature `{feature}`, which is on by default")]
    LeftOut {
        /// The engine, and the option that asks for it.
        engine: &'static str,
        /// The Cargo feature.
        feature: &'static str,
    },
    /// An engine with an incompatible option, or for a model that it does not apply to.
    #[error("{0}")]
    Engine(String),
    /// Processes that cannot search together.
    #[error("{0}")]
    Workers(String),
    /// A claim about every size with an incompatible option, or of a constant that does not exist.
    #[error("--every: {0}")]
    Every(String),
    /// A checkpoint that does not match.
    #[error("{0}")]
    Resume(String),
    /// An option of B machines for a model in another language.
    #[error("--no-extra-nodes is for B machines")]
    NoExtraNodes,
    /// An option of B machines for a model in another language.
    #[error("--well-definedness is for B machines")]
    WellDefinedness,
    /// An option of Promela models for a model in another language.
    #[error("--max-processes is for Promela models")]
    MaxProcesses,
    /// An option of Petri nets for a model in another language.
    #[error("--properties is for Petri nets")]
    PropertyFiles,
    /// A file whose name does not determine the language.
    #[error(
        "cannot tell the language of `{0}` from its name; say it with --language murphi, b, promela, dve, csp or pnml"
    )]
    LanguageUnknown(String),
    /// A text in one language that is declared to be in another.
    #[error("the text is said to be in two languages")]
    Language,
    /// An expression for a model that was built.
    #[error("expressions are read in the language of a text, and this model has none")]
    NoText,
    /// An expression that adds something to the state.
    #[error("this expression needs something that is not part of the state of the model")]
    OtherStates,
    /// An expression that has several values, or none.
    #[error("this expression is neither a condition nor has a single value")]
    NoValue,
    /// A question about symmetries that does not make sense for the model.
    #[error("{0}")]
    Question(String),
}
