//! The first members of every JSON object: the tool, the date, the model, and the options.

use std::path::Path;

use quotient::{Language, Model};
use serde_json::{Map, Value};

use crate::invocation::Invocation;

/// The version of the output format.
const SCHEMA: &str = "quotient/1";

/// The first members of an object.
#[derive(serde::Serialize)]
pub(crate) struct Header<'a> {
    schema: &'static str,
    command: &'static str,
    tool: ToolObject,
    date: &'a str,
    model: Option<ModelObject<'a>>,
    definitions: &'a Map<String, Value>,
    options: &'a Map<String, Value>,
}

#[derive(serde::Serialize)]
struct ToolObject {
    name: &'static str,
    version: &'static str,
}

/// A model: its file, and the files read.
#[derive(serde::Serialize)]
struct ModelObject<'a> {
    file: String,
    /// Unknown if the file could not be read.
    language: Option<&'static str>,
    /// The hash of the bytes of one file; for several files, the hash of their concatenated hashes.
    sha256: Option<String>,
    files: Vec<FileObject<'a>>,
}

#[derive(serde::Serialize)]
struct FileObject<'a> {
    file: &'a str,
    sha256: String,
}

impl<'a> Header<'a> {
    /// For a result about a model.
    pub(crate) fn new(command: &'static str, model: &'a Model, invocation: &'a Invocation) -> Self {
        let files = model.files().iter();
        let object = ModelObject {
            file: model.source().name.clone(),
            language: model.language().map(Language::identifier),
            sha256: model.hash().map(|hash| hash.to_string()),
            files: files.map(|file| FileObject { file: &file.name, sha256: file.hash.to_string() }).collect(),
        };
        Self { model: Some(object), ..Self::without_model(command, None, invocation) }
    }

    /// For a command that ended before it had a model.
    pub(crate) fn without_model(command: &'static str, path: Option<&Path>, invocation: &'a Invocation) -> Self {
        let object = |path: &Path| ModelObject {
            file: path.display().to_string(),
            language: None,
            sha256: None,
            files: Vec::new(),
        };
        Self {
            schema: SCHEMA,
            command,
            tool: ToolObject { name: "quotient", version: env!("CARGO_PKG_VERSION") },
            date: &invocation.date,
            model: path.map(object),
            definitions: &invocation.definitions,
            options: &invocation.options,
        }
    }
}
