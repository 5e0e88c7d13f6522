//! The front ends: one module per language, each translating source text into a [`Model`] or into located diagnostics,
//! all of a file at once. They know nothing of engines and symmetry.

mod b;
mod conditions;
mod constants;
mod csp;
mod dve;
mod joined;
mod murphi;
pub mod outline;
mod pnml;
mod promela;
mod watched;

pub use conditions::{Condition, Extended, Role, with_conditions};
pub use constants::{NamedNumber, named_numbers};
use quotient_ir::{Diagnostic, Model, Source};

/// The maximum size of a source text, in bytes. Realistic models are far smaller; a larger file is a mistake, and
/// refusing it keeps time and memory bounded.
pub const MAXIMUM_SOURCE_BYTES: usize = 8 << 20;

/// The maximum number of errors reported for one file. More would hide the first ones, which matter most.
const MAXIMUM_ERRORS: usize = 50;

/// The languages a model may be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Murphi, as rumur and CMurphi read it.
    Murphi,
    /// Classical B, as ProB and Atelier B read it.
    B,
    /// Promela, as SPIN reads it.
    Promela,
    /// DVE, as DiVinE reads it.
    Dve,
    /// CSP#, as PAT reads it.
    Csp,
    /// PNML, the XML form of Petri nets.
    Pnml,
}

impl Language {
    /// The name of the language on the command line and in files of runs.
    pub fn identifier(self) -> &'static str {
        match self {
            Self::Murphi => "murphi",
            Self::B => "b",
            Self::Promela => "promela",
            Self::Dve => "dve",
            Self::Csp => "csp",
            Self::Pnml => "pnml",
        }
    }

    /// The language that a file's extension implies.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "m" | "murphi" => Some(Self::Murphi),
            "mch" | "ref" | "imp" | "sys" => Some(Self::B),
            "pml" | "prom" | "promela" | "prm" | "spin" => Some(Self::Promela),
            "dve" => Some(Self::Dve),
            "csp" => Some(Self::Csp),
            "pnml" => Some(Self::Pnml),
            _ => None,
        }
    }
}

/// Options for loading a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Names and values that override the model's constants, in the order given.
    pub constants: Vec<(String, String)>,
    /// Whether the state graph of a B machine starts with a root and has a state for each valuation of the constants,
    /// as in ProB.
    pub extra_nodes: bool,
    /// Whether a failed assertion of a Promela model is ignored, as by `pan -A`, so that the search continues past it.
    pub ignore_assertions: bool,
    /// Whether the `never` claims of a Promela model are tracked and checked. Their positions are then part of the
    /// state.
    pub watch_claims: bool,
    /// Whether the labels `accept` and `progress` of a Promela model are checked.
    pub labels: LabelChecks,
    /// The maximum number of processes of a Promela model at a time. A run that needs more ends as inconclusive, unless
    /// SPIN has no room for more either (255). By default the bound that follows from the text, or twelve more than at
    /// the start.
    pub max_processes: Option<u8>,
    /// Whether orders of steps of a Promela model are left out where nothing can tell: the process that creates the
    /// others does so before any of them moves, and what concerns only one process is done at once. There are fewer
    /// states then, and which of several violations is found first may differ.
    pub merges_orders: bool,
    /// Whether nothing is claimed about the runs of a Promela model but that they neither get stuck nor go wrong: its
    /// formulas and labels are left out.
    pub states_only: bool,
    /// How a condition of a B operation without a value is treated, unless the machine itself specifies it
    /// (`SET_PREF_TRY_FIND_ABORT`).
    pub well_definedness: Option<WellDefinedness>,
}

/// Whether the labels `accept` and `progress` of a Promela model are checked. Each is a temporal property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelChecks {
    /// Whether no run may pass labels `accept` again and again (`pan -a`). By default if there are such labels and
    /// neither formulas nor claims.
    pub acceptance: Option<bool>,
    /// Whether every run must pass labels `progress` again and again (`pan -l`).
    pub progress: bool,
}

/// How a B operation is treated whose guard, or another condition that decides how it continues, has no value: for
/// example, a function is applied outside its domain, or a number is divided by zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WellDefinedness {
    /// The operation is not enabled, as in ProB. A remark records where that happens
    /// ([`quotient_ir::PropertyKind::Remark`]).
    #[default]
    Remark,
    /// It is a run-time error.
    Error,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            constants: Vec::new(),
            extra_nodes: true,
            ignore_assertions: false,
            watch_claims: false,
            labels: LabelChecks::default(),
            max_processes: None,
            merges_orders: false,
            states_only: false,
            well_definedness: None,
        }
    }
}

/// The code of warnings about properties of a model that cannot be checked; each names its claim. A model with such a
/// warning is not reported as holding.
pub const UNSUPPORTED_PROPERTY: &str = "unsupported-property";

/// A usable model with its warnings.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// Warnings, in the order of the source.
    pub warnings: Vec<Diagnostic>,
}

/// The other files that a model mentions, by the names they may have: for each, the first that exists is used. The
/// caller appends them to the source ([`Source::followed_by`]), and calls this again, since they may mention others.
pub fn mentioned_files(source: &Source, language: Language) -> Vec<Vec<String>> {
    match language {
        Language::B => b::mentioned_files(source),
        Language::Promela => promela::mentioned_files(source),
        Language::Murphi | Language::Dve | Language::Csp | Language::Pnml => Vec::new(),
    }
}

/// A source followed by the files that it mentions, and those that these mention. `read` is called with the names that
/// a file may have, relative to the directory of the source. A missing file is reported by the front end, which knows
/// where it is mentioned.
///
/// # Errors
/// The first error of `read`.
pub fn with_mentioned_files<Error>(
    mut source: Source,
    language: Language,
    mut read: impl FnMut(&[String]) -> Result<Option<Source>, Error>,
) -> Result<Source, Error> {
    const MOST_FILES: usize = 100;
    let mut tried: Vec<Vec<String>> = Vec::new();
    while source.files.len() < MOST_FILES {
        let mentioned = mentioned_files(&source, language);
        let Some(names) = mentioned.into_iter().find(|names| !tried.contains(names)) else { break };
        if let Some(other) = read(&names)? {
            source = source.followed_by(&other);
        }
        tried.push(names);
    }
    Ok(source)
}

/// Reads a model.
///
/// # Errors
/// Every error found in the source, and its warnings, in the order of the source.
pub fn load(source: Source, language: Language, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    if source.text.len() > MAXIMUM_SOURCE_BYTES {
        return Err(vec![too_large(&source.name, source.text.len())]);
    }
    match language {
        Language::Murphi => murphi::load(source, options),
        Language::B => b::load(source, options),
        Language::Promela => promela::load(source, options),
        Language::Dve => dve::load(source, options),
        Language::Csp => csp::load(source, options),
        Language::Pnml => pnml::load(source, options),
    }
}

/// The syntax errors of a text, without reading what it means: this takes little time also where reading takes long.
pub fn syntax_errors(source: &Source, language: Language) -> Vec<Diagnostic> {
    if source.text.len() > MAXIMUM_SOURCE_BYTES {
        return vec![too_large(&source.name, source.text.len())];
    }
    match language {
        Language::Murphi => murphi::syntax_errors(source),
        Language::B => b::syntax_errors(source),
        Language::Promela => promela::syntax_errors(source),
        Language::Dve => dve::syntax_errors(source),
        Language::Csp => csp::syntax_errors(source),
        Language::Pnml => pnml::syntax_errors(source),
    }
}

/// A Murphi text with usual indentation and spaces; `None` if it has syntax errors.
pub fn format_murphi(text: &str) -> Option<String> {
    murphi::format(text)
}

/// Converts a file's bytes to a source text. Bytes that are not UTF-8 become replacement characters: old models have
/// other encodings in their comments, where they are harmless; everywhere else the front end reports them.
///
/// # Errors
/// A diagnostic about the whole file, if it is too large or not text at all.
#[expect(clippy::result_large_err, reason = "this is called once a file, and boxing would burden every caller")]
pub fn source_from_bytes(name: &str, bytes: &[u8]) -> Result<Source, Diagnostic> {
    if bytes.len() > MAXIMUM_SOURCE_BYTES {
        return Err(too_large(name, bytes.len()));
    }
    if bytes.contains(&0) {
        let message = format!("`{name}` is not a text file");
        return Err(whole_file("not-text", message, "a model is plain text; this looks like a binary file"));
    }
    Ok(Source::new(name, String::from_utf8_lossy(bytes)))
}

/// The errors of one file in the order of the source, without those after the first [`MAXIMUM_ERRORS`].
fn first_errors(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|it| it.primary.as_ref().map(|label| label.span.start));
    if let Some(last) = errors.get(MAXIMUM_ERRORS) {
        let span = last.primary.as_ref().map(|label| label.span).unwrap_or_default();
        errors.truncate(MAXIMUM_ERRORS);
        errors.push(
            Diagnostic::error("too-many-errors", format!("more than {MAXIMUM_ERRORS} errors"), span)
                .with_label("the file is not checked from here on"),
        );
    }
    errors
}

fn too_large(name: &str, bytes: usize) -> Diagnostic {
    let message = format!("`{name}` is too large to be read as a model: {} MiB", bytes.div_ceil(1 << 20));
    whole_file("file-too-large", message, format!("models of up to {} MiB are read", MAXIMUM_SOURCE_BYTES >> 20))
}

fn whole_file(code: &'static str, message: String, help: impl Into<String>) -> Diagnostic {
    Diagnostic { primary: None, ..Diagnostic::error(code, message, quotient_ir::Span::default()) }.with_help(help)
}
