//! What must hold of every text that a front end is given: either a well-formed model comes of it or
//! diagnostics do, each at a place that can be shown.

use quotient::languages::{Language, LoadOptions, load, source_from_bytes};
use quotient_ir::{Diagnostic, Source};

/// Reads arbitrary bytes, in a language that has claims also with these.
pub fn read(bytes: &[u8], name: &str, language: Language) {
    let Ok(source) = source_from_bytes(name, bytes) else { return };
    read_with(&source, language, &LoadOptions::default());
    if language == Language::Promela {
        read_with(&source, language, &LoadOptions { watch_claims: true, ..LoadOptions::default() });
    }
}

fn read_with(source: &Source, language: Language, options: &LoadOptions) {
    match load(source.clone(), language, options) {
        Ok(loaded) => {
            quotient_ir::verify(&loaded.model).expect("a model that was read is well formed");
            check_places(source, &loaded.warnings);
        }
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(Diagnostic::is_error), "a refused model has an error");
            check_places(source, &diagnostics);
        }
    }
}

fn check_places(source: &Source, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(source.text.get(label.span.range()).is_some(), "{diagnostic:?} is not at a place of the text");
        }
    }
}
