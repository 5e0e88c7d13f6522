//! From a path on the command line to a model that can be run.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use quotient_frontends::{Language, LoadOptions, MAXIMUM_SOURCE_BYTES, load, source_from_bytes, with_mentioned_files};
use quotient_ir::{Diagnostic, Layout, Model, Source};

use crate::arguments::{LanguageName, ModelArguments};
use crate::failure::Failure;

/// A model, its layout and what its author should know about it.
#[derive(Debug)]
pub(crate) struct LoadedModel {
    /// The model.
    pub(crate) model: Model,
    /// The language it was written in.
    pub(crate) language: Language,
    /// How its states are laid out.
    pub(crate) layout: Layout,
    /// Warnings about its text.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads the model that the command line names.
///
/// # Errors
/// If there is no such file, or no model in it.
pub(crate) fn load_model(arguments: &ModelArguments) -> Result<LoadedModel, Failure> {
    load_model_with(arguments, false)
}

/// Like [`load_model`], with the claims that a Promela model makes about its runs.
pub(crate) fn load_model_and_claims(arguments: &ModelArguments) -> Result<LoadedModel, Failure> {
    load_model_with(arguments, true)
}

fn load_model_with(arguments: &ModelArguments, watch_claims: bool) -> Result<LoadedModel, Failure> {
    let is_stdin = arguments.path.as_os_str() == "-";
    let name = if is_stdin { "<stdin>".to_owned() } else { arguments.path.to_string_lossy().into_owned() };
    let language = match arguments.language {
        Some(LanguageName::Murphi) => Language::Murphi,
        Some(LanguageName::B) => Language::B,
        Some(LanguageName::Promela) => Language::Promela,
        // What `quotient lower` prints is Murphi, whatever the language it was lowered from.
        None if is_stdin => Language::Murphi,
        None => Language::from_file_name(&name).ok_or_else(|| language_unknown(&arguments.path))?,
    };
    let bytes = if is_stdin {
        read(io::stdin().lock()).map_err(|error| Failure::Usage(format!("cannot read standard input: {error}")))?
    } else {
        File::open(&arguments.path).and_then(read).map_err(|error| Failure::file("read", &arguments.path, &error))?
    };
    let source = source_from_bytes(&name, &bytes)
        .map_err(|diagnostic| Failure::Model { source: Source::new(name, ""), diagnostics: vec![diagnostic] })?;
    drop(bytes);
    let source = with_mentioned_files(source, language, |names| read_mentioned(&arguments.path, names))?;
    let options = LoadOptions {
        constants: arguments.definitions.clone(),
        extra_nodes: !arguments.no_extra_nodes,
        watch_claims,
        ..LoadOptions::default()
    };
    let loaded = load(source.clone(), language, &options)
        .map_err(|diagnostics| Failure::Model { source: source.clone(), diagnostics })?;
    let layout = Layout::new(&loaded.model)
        .map_err(|error| Failure::whole_model(source, "state-too-large", error.to_string()))?;
    Ok(LoadedModel { model: loaded.model, language, layout, warnings: loaded.warnings })
}

/// Reads a file that a model mentions, if one of its names is that of a file; seen from the folder of the model.
fn read_mentioned(model: &Path, names: &[String]) -> Result<Option<Source>, Failure> {
    let folder = model.parent().unwrap_or(Path::new(""));
    let Some(path) = names.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else { return Ok(None) };
    let bytes = File::open(&path).and_then(read).map_err(|error| Failure::file("read", &path, &error))?;
    let name = path.to_string_lossy().into_owned();
    let source = source_from_bytes(&name, &bytes)
        .map_err(|diagnostic| Failure::Model { source: Source::new(name, ""), diagnostics: vec![diagnostic] })?;
    Ok(Some(source))
}

/// Reads all of a model, but not all of an endless stream: a little more than can be a model is
/// enough to tell how large a file is.
fn read(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(16 * MAXIMUM_SOURCE_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn language_unknown(path: &Path) -> Failure {
    // A missing file is the better explanation of a strange name.
    match std::fs::metadata(path) {
        Err(error) => Failure::file("read", path, &error),
        Ok(metadata) if metadata.is_dir() => Failure::Usage(format!("`{}` is a folder", path.display())),
        Ok(_) => Failure::Usage(format!(
            "cannot tell the language of `{}` from its name; say it with --language murphi, b or promela",
            path.display()
        )),
    }
}
