//! The example models of `models/`, with the expectations in their headers.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use quotient::languages::{Language, LoadOptions, load, with_mentioned_files};
use quotient_ir::{Model, Source};
pub use quotient_language_testkit::workspace;

use crate::expectation::{Case, Header};

/// An example model.
#[derive(Clone, Debug)]
pub struct Example {
    /// The name of the file, such as `german.m`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its expectations.
    pub header: Header,
}

/// All Murphi examples, by name.
///
/// # Panics
/// If a file cannot be read or its header is malformed.
pub fn murphi_examples() -> Vec<Example> {
    let folder = workspace().join("models/murphi");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "m"));
    paths.sort();
    let example = |path: PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let header = Header::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        Example { name, text, header }
    };
    paths.into_iter().map(example).collect()
}

/// The files of all Promela examples, by name.
///
/// # Panics
/// If the folder cannot be read.
pub fn promela_examples() -> Vec<PathBuf> {
    files_in("models/promela")
}

/// The files of all DVE examples, by name.
///
/// # Panics
/// If the folder cannot be read.
pub fn dve_examples() -> Vec<PathBuf> {
    files_in("models/dve")
}

/// The files of all CSP# examples, by name.
///
/// # Panics
/// If the folder cannot be read.
pub fn csp_examples() -> Vec<PathBuf> {
    files_in("models/csp")
}

/// The files of all examples of Petri nets, by name.
///
/// # Panics
/// If the folder cannot be read.
pub fn pnml_examples() -> Vec<PathBuf> {
    files_in("models/pnml")
}

fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = workspace().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
    paths.sort();
    paths
}

impl Example {
    /// The model with the constants of one of its cases.
    ///
    /// # Errors
    /// The diagnostics, in one text.
    pub fn load(&self, case: &Case) -> Result<Model, String> {
        load_murphi(&self.name, &self.text, &case.constants)
    }
}

/// Reads a Murphi text.
///
/// # Errors
/// The diagnostics, in one text.
pub fn load_murphi(name: &str, text: &str, constants: &[(String, String)]) -> Result<Model, String> {
    let source = Source::new(name, text);
    let options = LoadOptions { constants: constants.to_vec(), ..LoadOptions::default() };
    match load(source.clone(), Language::Murphi, &options) {
        Ok(loaded) => Ok(loaded.model),
        Err(diagnostics) => {
            let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
            let lines = errors.map(|error| match &error.primary {
                Some(label) => format!("{}: {}", source.locate(label.span), error.message),
                None => error.message.clone(),
            });
            Err(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A source with the files that it includes, from the same folder.
pub fn with_files_beside(source: Source, language: Language) -> Source {
    let folder = Path::new(&source.name).parent().map(Path::to_path_buf).unwrap_or_default();
    let read = |names: &[String]| -> Result<Option<Source>, Infallible> {
        let found =
            names.iter().map(|name| folder.join(name)).find_map(|path| Some((fs::read_to_string(&path).ok()?, path)));
        Ok(found.map(|(text, path)| Source::new(path.to_string_lossy(), text)))
    };
    let Ok(source) = with_mentioned_files(source, language, read);
    source
}
