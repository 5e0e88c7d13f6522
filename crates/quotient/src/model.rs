//! From a path, a text or a built representation to a model that can be run.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quotient_ir::{self as ir, Claim, DeadlockMode, Diagnostic, Layout, PropertyId, Source, Watched};

use crate::control::{Control, Phase};
use crate::error::Error;
use crate::identity::{TextFile, TextHash, hash_of};
use crate::languages::{
    self, Condition, Language, MAXIMUM_SOURCE_BYTES, Role, UNSUPPORTED_PROPERTY, WellDefinedness, source_from_bytes,
    with_conditions, with_mentioned_files,
};
use crate::lowering::Lowering;
use crate::names::visible;
use crate::refusal::Refusal;
use quotient_search::{Defect, Job, SearchOptions};

/// Options for loading a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Names and values that override the model's constants, in the order given.
    pub constants: Vec<(String, String)>,
    /// The language, if the file's extension does not determine it.
    pub language: Option<Language>,
    /// Starts a B machine with its initialised states, without a root and states of the constants.
    pub no_extra_nodes: bool,
    /// The maximum number of processes of a Promela model at a time. By default the bound that follows from the text,
    /// or twelve more than at the start; a run that needs more ends as inconclusive.
    pub max_processes: Option<u8>,
    /// What the model is first used for.
    pub lowering: Lowering,
    /// A condition in the language of the model: states in which it is false are stored and checked, but not expanded.
    pub constraint: Option<String>,
    /// Further invariants, in the language of the model.
    pub invariants: Vec<String>,
    /// Conditions in the language of the model, each claimed to hold in some reachable state.
    pub reach: Vec<String>,
    /// Further formulas of LTL over conditions in the language of the model, each claimed to hold on every run.
    pub ltl: Vec<String>,
    /// Further formulas of CTL*, each claimed to hold at the start.
    pub ctl: Vec<String>,
    /// Files with properties of a Petri net, in the form of the Model Checking Contest.
    pub property_files: Vec<PathBuf>,
    /// How a condition of a B operation without a value is treated. By default it is false, with a remark, unless the
    /// machine itself declares it an error.
    pub well_definedness: Option<WellDefinedness>,
}

impl LoadOptions {
    /// Refuses options that are for other languages.
    fn check(&self, language: Language) -> Result<(), Refusal> {
        match () {
            () if self.no_extra_nodes && language != Language::B => Err(Refusal::NoExtraNodes),
            () if self.max_processes.is_some() && language != Language::Promela => Err(Refusal::MaxProcesses),
            () if !self.property_files.is_empty() && language != Language::Pnml => Err(Refusal::PropertyFiles),
            () if self.well_definedness.is_some() && language != Language::B => Err(Refusal::WellDefinedness),
            () => Ok(()),
        }
    }

    /// The conditions given separately from the text.
    fn conditions(&self) -> Vec<Condition> {
        let constraint = self.constraint.iter().map(|it| (Role::Constraint, it));
        let invariants = self.invariants.iter().map(|it| (Role::Invariant, it));
        let reach = self.reach.iter().map(|it| (Role::Reach, it));
        let linear = self.ltl.iter().map(|it| (Role::Linear, it));
        let branching = self.ctl.iter().map(|it| (Role::Branching, it));
        let all = constraint.chain(invariants).chain(reach).chain(linear).chain(branching);
        all.map(|(role, expression)| Condition { role, expression: expression.clone() }).collect()
    }
}

/// A model, the layout of its states, and its warnings. Cheap to clone.
#[derive(Clone)]
pub struct Model(Arc<Loaded>);

impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Model").field(&self.source().name).finish_non_exhaustive()
    }
}

struct Loaded {
    model: Arc<ir::Model>,
    layout: Arc<Layout>,
    language: Option<Language>,
    warnings: Vec<Diagnostic>,
    files: Vec<TextFile>,
    /// Constants that were overridden.
    constants: Vec<(String, String)>,
    /// What it was read from, if it was not built.
    reading: Option<Reading>,
}

/// A text and how it is read, to read it again for another use, with further conditions or with other constants.
#[derive(Clone)]
struct Reading {
    source: Source,
    language: Language,
    /// The options it was read with.
    options: LoadOptions,
    /// The conditions of the options and further ones.
    conditions: Vec<Condition>,
    /// What the front end leaves out.
    lowering: Lowering,
}

impl Reading {
    fn new(source: Source, language: Language, options: &LoadOptions) -> Self {
        let conditions = options.conditions();
        let lowering = options.lowering.applied(language, !conditions.is_empty());
        Self { source, language, options: options.clone(), conditions, lowering }
    }

    fn for_front_end(&self) -> languages::LoadOptions {
        let LoadOptions { constants, no_extra_nodes, max_processes, well_definedness, .. } = &self.options;
        let Lowering { merges_orders, states_only, ignores_claims, labels } = self.lowering;
        languages::LoadOptions {
            constants: constants.clone(),
            extra_nodes: !no_extra_nodes,
            watch_claims: !ignores_claims,
            labels,
            max_processes: *max_processes,
            merges_orders,
            states_only,
            well_definedness: *well_definedness,
            ..languages::LoadOptions::default()
        }
    }
}

impl Model {
    /// Reads a model from a file; its extension determines the language.
    ///
    /// # Errors
    /// If there is no such file, or no model in it.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load(path, &LoadOptions::default(), &Control::default())
    }

    /// Reads a model from a file with overridden constants, or in a language other than its extension implies.
    ///
    /// # Errors
    /// If there is no such file, or no model in it.
    pub fn from_path_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, Error> {
        Self::load(path, options, &Control::default())
    }

    /// The same within limits: loading ends when the control is interrupted.
    ///
    /// # Errors
    /// If there is no such file, or no model in it, or a limit was reached first.
    pub fn load(path: impl AsRef<Path>, options: &LoadOptions, control: &Control) -> Result<Self, Error> {
        let path = path.as_ref();
        let language = match options.language {
            Some(language) => language,
            None => Language::from_file_name(&path.to_string_lossy()).ok_or_else(|| language_unknown(path))?,
        };
        let bytes = File::open(path).and_then(read).map_err(|error| unreadable(path, &error))?;
        Self::parse(&path.to_string_lossy(), &bytes, Some(path), language, options, control)
    }

    /// Reads a model from a text; `name` is used in messages.
    ///
    /// # Errors
    /// If the text is not a model.
    pub fn from_text(name: &str, text: &str, language: Language) -> Result<Self, Error> {
        Self::from_bytes(name, text.as_bytes(), language, &LoadOptions::default(), &Control::default())
    }

    /// Reads a model from the bytes of a text, within limits. Files that it mentions are searched for in the current
    /// directory.
    ///
    /// # Errors
    /// If the text is not a model, or a limit was reached first.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        language: Language,
        options: &LoadOptions,
        control: &Control,
    ) -> Result<Self, Error> {
        if options.language.is_some_and(|other| other != language) {
            return Err(Refusal::Language.into());
        }
        Self::parse(name, bytes, None, language, options, control)
    }

    /// Reads a model from a text that has all files it needs, such as [`read_source`] gives.
    ///
    /// # Errors
    /// If the text is not a model, or a limit was reached first.
    pub fn from_source(
        source: Source,
        language: Language,
        options: &LoadOptions,
        control: &Control,
    ) -> Result<Self, Error> {
        options.check(language)?;
        let reading = Reading::new(source, language, options);
        let source = &reading.source;
        let starts = std::iter::once(0).chain(source.files.iter().map(|(start, _)| *start));
        let parts = starts.map(|start| source.file_at(start));
        let files = parts.map(|(name, part)| TextFile::new(name, source.text[part].as_bytes())).collect();
        control.run_briefly(Phase::Loading, move || load_text(reading, files))?
    }

    /// A model that was built in Rust.
    ///
    /// # Errors
    /// If its states cannot be laid out, or it is not well formed.
    pub fn new(model: ir::Model) -> Result<Self, Error> {
        if let Err(problems) = ir::verify(&model) {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(Error::whole_model(model.source.clone(), "not-well-formed", problems.join("; ")));
        }
        let layout = layout_of(&model)?;
        let (warnings, files, constants) = (Vec::new(), Vec::new(), Vec::new());
        let (model, layout) = (Arc::new(model), Arc::new(layout));
        Ok(Self(Arc::new(Loaded { model, layout, language: None, warnings, files, constants, reading: None })))
    }

    fn parse(
        name: &str,
        bytes: &[u8],
        path: Option<&Path>,
        language: Language,
        options: &LoadOptions,
        control: &Control,
    ) -> Result<Self, Error> {
        options.check(language)?;
        let options = options.clone();
        let source = source_from_bytes(name, bytes)
            .map_err(|diagnostic| Error::model(Source::new(name, ""), vec![diagnostic]))?;
        let file = TextFile::new(name, bytes);
        let folder = path.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        // Front ends evaluate constants, which may take arbitrarily long.
        control.run_briefly(Phase::Loading, move || {
            let mut files = vec![file];
            let source = with_mentioned_files(source, language, |names| read_mentioned(&folder, names, &mut files))?;
            let source = with_property_files(source, &options.property_files, &mut files)?;
            load_text(Reading::new(source, language, &options), files)
        })?
    }

    /// The same with another representation, which has the same variables.
    pub(crate) fn with_ir(&self, model: ir::Model) -> Self {
        let Loaded { layout, language, warnings, files, constants, reading, .. } = &*self.0;
        Self(Arc::new(Loaded {
            model: Arc::new(model),
            layout: layout.clone(),
            language: *language,
            warnings: warnings.clone(),
            files: files.clone(),
            constants: constants.clone(),
            reading: reading.clone(),
        }))
    }

    /// The same text read in another way.
    fn read_again(&self, reading: Reading, control: &Control) -> Result<Self, Error> {
        let files = self.0.files.clone();
        control.run_briefly(Phase::Loading, move || load_text(reading, files))?
    }

    /// Whether it is lowered for another use than this.
    pub(crate) fn is_other_than(&self, wanted: Lowering) -> bool {
        let applied = |reading: &Reading| wanted.applied(reading.language, !reading.conditions.is_empty());
        self.0.reading.as_ref().is_some_and(|reading| reading.lowering != applied(reading))
    }

    /// Whether both are the same text, lowered for the same use.
    pub(crate) fn is_lowered_as(&self, other: &Self) -> bool {
        let lowering = |model: &Self| model.0.reading.as_ref().map(|reading| reading.lowering);
        lowering(self) == lowering(other)
    }

    /// The same model for another use, which may notice more or less of it.
    pub(crate) fn lowered(&self, wanted: Lowering, control: &Control) -> Result<Self, Error> {
        if !self.is_other_than(wanted) {
            return Ok(self.clone());
        }
        let reading = self.0.reading.clone().ok_or(Refusal::NoText)?;
        let lowering = wanted.applied(reading.language, !reading.conditions.is_empty());
        let options = LoadOptions { lowering: wanted, ..reading.options };
        self.read_again(Reading { options, lowering, ..reading }, control)
    }

    /// The same text with other values of some constants: another member of its family. They override those that were
    /// given when it was loaded.
    ///
    /// # Errors
    /// If the model was built, the text is not a model with these constants, or a limit was reached first.
    pub fn reread(&self, constants: &[(String, String)], control: &Control) -> Result<Self, Error> {
        let mut reading = self.0.reading.clone().ok_or(Refusal::NoText)?;
        reading.options.constants.extend_from_slice(constants);
        self.read_again(reading, control)
    }

    /// The options it was loaded with; the default if it was built.
    pub(crate) fn load_options(&self) -> LoadOptions {
        self.0.reading.as_ref().map(|reading| reading.options.clone()).unwrap_or_default()
    }

    /// The same text with a further condition.
    fn extended(&self, condition: Condition, control: &Control) -> Result<Self, Error> {
        let mut reading = self.0.reading.clone().ok_or(Refusal::NoText)?;
        // An expression that is only evaluated sees no steps.
        reading.lowering.merges_orders &= condition.role == Role::Watched;
        reading.conditions.push(condition);
        let model = self.read_again(reading, control)?;
        let is_same = |(own, other): (&ir::Slot, &ir::Slot)| own.name == other.name && own.domain == other.domain;
        let (own, other) = (&self.layout().slots, &model.layout().slots);
        if own.len() != other.len() || !own.iter().zip(other.iter()).all(is_same) {
            return Err(Refusal::OtherStates.into());
        }
        Ok(model)
    }

    /// The same text with a further expression to evaluate, and what it became.
    pub(crate) fn watching(&self, expression: &str, control: &Control) -> Result<(Self, Watched), Error> {
        let model = self.extended(Condition { role: Role::Watched, expression: expression.to_owned() }, control)?;
        let watched = model.ir().watched.clone();
        let watched = watched.ok_or_else(|| Defect::noticed("an expression is not in the model"))?;
        Ok((model, watched))
    }

    /// The same text with a further condition of the role to be reached, and the property that it is.
    pub(crate) fn reaching(&self, condition: &str, control: &Control) -> Result<(Self, PropertyId), Error> {
        let model = self.extended(Condition { role: Role::Reach, expression: condition.to_owned() }, control)?;
        // Other covers of that name come before it.
        let text = condition.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_it = |entry: &ir::Property| {
            entry.kind == ir::PropertyKind::Cover && entry.name.as_deref() == Some(text.as_str())
        };
        let found = model.ir().properties.iter_enumerated().rfind(|(_, entry)| is_it(entry));
        let (property, _) = found.ok_or_else(|| Defect::noticed("a condition is not in the model"))?;
        Ok((model, property))
    }

    /// The model.
    pub fn ir(&self) -> &ir::Model {
        &self.0.model
    }
    /// The model and its layout, for those who keep them.
    pub(crate) fn shared(&self) -> (Arc<ir::Model>, Arc<Layout>) {
        (Arc::clone(&self.0.model), Arc::clone(&self.0.layout))
    }
    /// What an engine works on.
    pub(crate) fn job<Q>(&self, options: SearchOptions, question: Q) -> Job<Q> {
        Job { model: Arc::clone(&self.0.model), layout: Arc::clone(&self.0.layout), options, question }
    }
    /// The layout of its states.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }
    /// The language it was written in, if it was not built.
    pub fn language(&self) -> Option<Language> {
        self.0.language
    }
    /// Warnings about its text.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }
    /// The files it was read from, the model's own first; none if it was built.
    pub fn files(&self) -> &[TextFile] {
        &self.0.files
    }
    /// Its identity as text: the hashes of its files, and overridden constants.
    pub(crate) fn origin(&self) -> Vec<(String, String)> {
        let texts = self.files().iter().enumerate().map(|(position, file)| {
            let short = file.name.rsplit(['/', '\\']).next().unwrap_or(&file.name);
            let name = if position == 0 { "the text of the model".into() } else { format!("the text of `{short}`") };
            (name, file.hash.to_string())
        });
        let constants = self.0.constants.iter().map(|(name, value)| (format!("-D {name}"), value.clone()));
        texts.chain(constants).collect()
    }
    /// The hash of its text; none if it was built.
    pub fn hash(&self) -> Option<TextHash> {
        hash_of(self.files())
    }
    /// The constants that were set from outside.
    pub(crate) fn constants(&self) -> &[(String, String)] {
        &self.0.constants
    }
    /// Its claims that cannot be checked, in the order of the text.
    pub fn unsupported(&self) -> Vec<UnsupportedProperty> {
        self.warnings().iter().filter(|warning| warning.code == UNSUPPORTED_PROPERTY).map(unsupported).collect()
    }
    /// Its text, and the name of that.
    pub fn source(&self) -> &Source {
        &self.0.model.source
    }

    /// What counts as a deadlock by default.
    pub fn usual_deadlock_mode(&self) -> DeadlockMode {
        match self.language() {
            // For SPIN and DiVinE, a process that only waits in a loop is not stuck, and in B an operation that changes
            // nothing is a step like any other.
            Some(Language::Promela | Language::B | Language::Dve | Language::Pnml) => DeadlockMode::Stuck,
            // PAT looks for deadlocks only where the text asserts that there is none.
            Some(Language::Csp) if self.ir().claims_no_deadlock => DeadlockMode::Stuck,
            Some(Language::Csp) => DeadlockMode::Off,
            Some(Language::Murphi) | None => DeadlockMode::Stuttering,
        }
    }
}

/// A claim of a model that cannot be checked, so it has no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedProperty {
    /// The kind of claim, in the terms of the language: `ltl`, `never`, `trace`.
    pub kind: &'static str,
    /// Its name, or its description if it has none.
    pub name: String,
    /// Why it cannot be checked.
    pub reason: String,
    /// Its location in the text.
    pub span: Option<ir::Span>,
}

/// The claim that a warning reports as unsupported.
fn unsupported(warning: &Diagnostic) -> UnsupportedProperty {
    let &Claim { kind, ref name } =
        warning.claim.as_ref().expect("a warning of this code says which claim it is about");
    let span = warning.primary.as_ref().map(|label| label.span);
    UnsupportedProperty { kind, name: visible(name), reason: warning.message.clone(), span }
}

/// A source followed by files of properties.
fn with_property_files(mut source: Source, paths: &[PathBuf], files: &mut Vec<TextFile>) -> Result<Source, Error> {
    for path in paths {
        source = source.followed_by(&read_file(path, files)?);
    }
    Ok(source)
}

/// The model of a text with further conditions.
fn load_text(reading: Reading, files: Vec<TextFile>) -> Result<Model, Error> {
    let options = reading.for_front_end();
    let Reading { source, language, conditions, .. } = &reading;
    let language = *language;
    let mut constants = options.constants.clone();
    let loaded = if conditions.is_empty() {
        languages::load(source.clone(), language, &options)
            .map_err(|diagnostics| Error::model(source.clone(), diagnostics))?
    } else {
        let invalid = |(source, diagnostics)| Error::model(source, diagnostics);
        let extended = with_conditions(source, language, conditions).map_err(invalid)?;
        let mut loaded = languages::load(extended.source.clone(), language, &options)
            .map_err(|diagnostics| invalid(extended.invalid(diagnostics)))?;
        extended.apply(&mut loaded.model).map_err(invalid)?;
        constants.extend(conditions.iter().filter_map(|Condition { role, expression }| {
            let option = match role {
                Role::Constraint => "--constraint",
                Role::Invariant => "--invariant",
                Role::Reach => "--reach",
                Role::Linear => "--ltl",
                Role::Branching => "--ctl",
                Role::Watched => return None,
            };
            Some((option.to_owned(), expression.clone()))
        }));
        loaded
    };
    let (layout, warnings) = (layout_of(&loaded.model)?, loaded.warnings);
    let (model, language, reading) = (loaded.model, Some(language), Some(reading));
    let (model, layout) = (Arc::new(model), Arc::new(layout));
    Ok(Model(Arc::new(Loaded { model, layout, language, warnings, files, constants, reading })))
}

fn layout_of(model: &ir::Model) -> Result<Layout, Error> {
    Layout::new(model).map_err(|error| Error::whole_model(model.source.clone(), "state-too-large", error.to_string()))
}

/// A text with the files that it mentions, as an editor has them: `text` is that of the file `path`, saved or not, and
/// `open` gives the texts of others that are open. The rest are read from disk. One that cannot be read counts as missing,
/// which the front end reports where it is mentioned.
pub fn read_source(path: &Path, text: &str, language: Language, open: impl Fn(&Path) -> Option<String>) -> Source {
    let folder = path.parent().unwrap_or(Path::new(""));
    let source = Source::new(path.to_string_lossy(), text);
    let found = with_mentioned_files(source.clone(), language, |names| {
        let paths = names.iter().map(|name| folder.join(name));
        let texts = paths.map(|path| {
            let name = path.to_string_lossy().into_owned();
            let is_file = || path.is_file().then(|| File::open(&path).and_then(read).ok()).flatten();
            let saved = || source_from_bytes(&name, &is_file()?).ok();
            open(&path).map(|text| Source::new(&*name, text)).or_else(saved)
        });
        Ok::<_, Infallible>(texts.into_iter().flatten().next())
    });
    found.unwrap_or(source)
}

/// Reads a file that a model mentions, relative to the directory of the model, if one of its names exists.
fn read_mentioned(folder: &Path, names: &[String], files: &mut Vec<TextFile>) -> Result<Option<Source>, Error> {
    let Some(path) = names.iter().map(|name| folder.join(name)).find(|path: &PathBuf| path.is_file()) else {
        return Ok(None);
    };
    read_file(&path, files).map(Some)
}

/// Reads a further file of a model.
fn read_file(path: &Path, files: &mut Vec<TextFile>) -> Result<Source, Error> {
    let bytes = File::open(path).and_then(read).map_err(|error| unreadable(path, &error))?;
    let name = path.to_string_lossy().into_owned();
    files.push(TextFile::new(&name, &bytes));
    source_from_bytes(&name, &bytes).map_err(|diagnostic| Error::model(Source::new(name, ""), vec![diagnostic]))
}

/// Reads a whole model, but not an endless stream: slightly more than the size limit is enough to report a file as too
/// large.
///
/// # Errors
/// If it cannot be read.
pub fn read(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(16 * MAXIMUM_SOURCE_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot read `{}`: {error}", path.display());
    Error::File { path: path.to_string_lossy().into_owned(), message }
}

fn language_unknown(path: &Path) -> Error {
    // A missing file is the better explanation of a strange name.
    match std::fs::metadata(path) {
        Err(error) => unreadable(path, &error),
        Ok(metadata) if metadata.is_dir() => {
            let message = format!("`{}` is a folder", path.display());
            Error::File { path: path.to_string_lossy().into_owned(), message }
        }
        Ok(_) => Refusal::LanguageUnknown(path.display().to_string()).into(),
    }
}
