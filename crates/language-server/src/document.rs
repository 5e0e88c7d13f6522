//! An open document: its text, and what is known of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{Location, Position, Range, Uri};
use quotient::ir::{Diagnostic, Source, Span, TypeKind};
use quotient::outline::{Outline, outline};
use quotient::{Control, DetectOptions, Language, Limits, LoadOptions, Model, Silent, detect};

use crate::text::{Encoding, Text};
use crate::uris;

/// How long a front end may take before it is given up.
const READING: std::time::Duration = std::time::Duration::from_secs(30);
/// How long the search for symmetries in the text may take.
const SYMMETRIES: std::time::Duration = std::time::Duration::from_secs(5);

/// An open document.
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) path: PathBuf,
    pub(crate) language: Language,
    pub(crate) version: i32,
    pub(crate) text: Text,
    /// The names of the text, as it is now.
    names: Option<Names>,
    /// What the front end said, perhaps about an earlier version.
    pub(crate) facts: Option<Arc<Facts>>,
    /// What the text says about values that are interchangeable, perhaps of an earlier version.
    pub(crate) roles: Vec<Role>,
    /// The outline of the last text without syntax errors.
    pub(crate) last_good: Option<Arc<Outline>>,
    /// The last verdicts, by what they are about.
    pub(crate) verdicts: BTreeMap<String, String>,
    /// What the last run found wrong with the text as it is.
    pub(crate) violations: Vec<lsp_types::Diagnostic>,
}

/// The definitions of a text with those of the files it mentions.
#[derive(Clone)]
pub(crate) struct Names {
    pub(crate) source: Source,
    pub(crate) outline: Arc<Outline>,
    /// Whether the text has syntax errors, so that the parser has left something out.
    pub(crate) is_wrong: bool,
}

/// What a front end says about a text.
pub(crate) struct Facts {
    pub(crate) version: i32,
    pub(crate) source: Source,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) model: Option<Model>,
}

/// Values that are interchangeable, as far as the text shows it.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    /// The name of a type, or where the values are used.
    pub(crate) name: String,
    /// The variables whose elements they number, and whether all elements can be permuted freely.
    pub(crate) variables: Vec<(String, bool)>,
    pub(crate) size: usize,
    /// The names of values that can be permuted freely, class by class.
    pub(crate) classes: Vec<Vec<String>>,
    /// Whether all can.
    pub(crate) is_free: bool,
    /// How many other permutations move its values.
    pub(crate) others: usize,
    /// What speaks against more, with its place.
    pub(crate) limits: Vec<(Span, String)>,
}

impl Role {
    /// The number of permutations of its classes.
    pub(crate) fn order(&self) -> String {
        let sizes = self.classes.iter().map(|class| class.len() as u128);
        let order = sizes.flat_map(|size| 1..=size).try_fold(1u128, u128::checked_mul);
        let factorials: Vec<String> = self.classes.iter().map(|class| format!("{}!", class.len())).collect();
        order.map_or_else(|| factorials.join(" · "), |order| order.to_string())
    }
}

/// The language of a document: what the editor calls it, or what its extension says.
pub(crate) fn language_of(identifier: &str, path: &Path) -> Option<Language> {
    match identifier.to_ascii_lowercase().as_str() {
        "murphi" | "rumur" | "cmurphi" => Some(Language::Murphi),
        "promela" | "spin" => Some(Language::Promela),
        "b" | "classicalb" => Some(Language::B),
        "dve" => Some(Language::Dve),
        "csp" | "csp#" | "cspsharp" => Some(Language::Csp),
        "pnml" => Some(Language::Pnml),
        _ => Language::from_file_name(&path.to_string_lossy()),
    }
}

impl Document {
    pub(crate) fn new(uri: Uri, language_identifier: &str, version: i32, text: String) -> Option<Self> {
        let path = uris::path_of(&uri).unwrap_or_else(|| PathBuf::from(uri.as_str()));
        let language = language_of(language_identifier, &path)?;
        Some(Self {
            uri,
            path,
            language,
            version,
            text: Text::new(text),
            names: None,
            facts: None,
            roles: Vec::new(),
            last_good: None,
            verdicts: BTreeMap::new(),
            violations: Vec::new(),
        })
    }

    /// Forgets what was known of the names: this text or one that it mentions has changed.
    pub(crate) fn touch(&mut self) {
        self.names = None;
    }

    /// The names of the text as it is. `open` gives the texts of other documents.
    pub(crate) fn names(&mut self, open: &BTreeMap<PathBuf, String>) -> Names {
        if let Some(names) = &self.names {
            return names.clone();
        }
        let source = self.source(open);
        let outline = Arc::new(outline(&source, self.language));
        let errors = quotient::syntax_errors(&source, self.language);
        let is_wrong = errors.iter().any(Diagnostic::is_error);
        if self.last_good.is_none() || !is_wrong {
            self.last_good = Some(outline.clone());
        }
        self.names.insert(Names { source, outline, is_wrong }).clone()
    }

    /// The text with the files that it mentions.
    pub(crate) fn source(&self, open: &BTreeMap<PathBuf, String>) -> Source {
        quotient::read_source(&self.path, self.text.content(), self.language, |path| open.get(path).cloned())
    }

    /// Where a span of a source is: in this document, or in a file that it mentions.
    pub(crate) fn location(&self, source: &Source, span: Span, encoding: Encoding) -> Option<Location> {
        let (name, part) = source.file_at(span.start);
        if part.start == 0 {
            return Some(Location { uri: self.uri.clone(), range: self.text.range(span, encoding) });
        }
        let text = Text::new(&source.text[part.clone()]);
        let local = |offset: u32| (offset as usize).saturating_sub(part.start).min(part.len());
        let range = text.range(Span::new(local(span.start), local(span.end)), encoding);
        Some(Location { uri: uris::uri_of(&std::path::absolute(name).ok()?)?, range })
    }

    /// The range of a span if it is in this document, otherwise the beginning of the document.
    pub(crate) fn range(&self, source: &Source, span: Span, encoding: Encoding) -> Range {
        match source.file_at(span.start).1.start {
            0 => self.text.range(span, encoding),
            _ => Range::default(),
        }
    }

    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> u32 {
        self.text.offset(position, encoding) as u32
    }
}

/// Reads a text as a model. This may take long.
pub(crate) fn read(source: Source, language: Language, version: i32) -> Facts {
    let limits = Limits { timeout: Some(READING), ..Limits::default() };
    let options = LoadOptions::default();
    let mut facts = Facts { version, source: source.clone(), diagnostics: Vec::new(), model: None };
    match Model::from_source(source, language, &options, &Control::start(&limits)) {
        Ok(model) => {
            facts.diagnostics = model.warnings().to_vec();
            facts.model = Some(model);
        }
        Err(quotient::Error::Model(invalid)) => facts.diagnostics = invalid.diagnostics,
        Err(error) => {
            let message = format!("the model was not read: {error}");
            let diagnostic = Diagnostic::warning("not-read", message, Span::default());
            facts.diagnostics.push(Diagnostic { primary: None, ..diagnostic });
        }
    }
    facts
}

/// A control for [`roles`].
pub(crate) fn symmetry_control() -> Control {
    Control::start(&Limits { timeout: Some(SYMMETRIES), ..Limits::default() })
}

/// What the text of a model says about values that are interchangeable.
pub(crate) fn roles(model: &Model, control: &Control) -> Vec<Role> {
    let options = DetectOptions { only_text: true, ..DetectOptions::default() };
    let Ok(found) = detect(model, &options, control, &mut Silent) else { return Vec::new() };
    let reports = found.text.as_ref().map(|text| &text.roles[..]).unwrap_or_default();
    let ir = found.model().ir();
    // Other values, such as -1 for nobody, may be among those of a role.
    let is_whole = |report: &quotient::RoleReport, ty| {
        let is_in = |class: &Vec<i64>| ir.is_scalar(ty) && ir.domain(ty).values().all(|it| class.contains(&it));
        report.is_free() || report.free.iter().any(is_in)
    };
    let index = |ty| match ir.types[ty].kind {
        TypeKind::Array { index, .. } => index,
        _ => ty,
    };
    let role = |report: &quotient::RoleReport| Role {
        name: report.name.clone(),
        variables: report
            .indexes
            .iter()
            .map(|variable| &ir.variables[*variable])
            .map(|variable| (variable.name.clone(), is_whole(report, index(variable.ty))))
            .collect(),
        size: report.size,
        classes: report
            .free
            .iter()
            .map(|class| class.iter().map(|value| ir.value_name(report.ty, *value)).collect())
            .collect(),
        is_free: is_whole(report, report.ty),
        others: report.others,
        limits: report.limits.iter().map(|limit| (limit.span, limit.text.clone())).collect(),
    };
    reports.iter().map(role).collect()
}
