//! Reads arbitrary bytes as a Murphi model: either a well-formed model comes of it or diagnostics
//! do, each at a place that can be shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quotient_frontends::{Language, LoadOptions, load, source_from_bytes};
use quotient_ir::{Diagnostic, Source};

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = source_from_bytes("fuzz.m", bytes) else { return };
    match load(source.clone(), Language::Murphi, &LoadOptions::default()) {
        Ok(loaded) => {
            quotient_ir::verify(&loaded.model).expect("a model that was read is well formed");
            check_places(&source, &loaded.warnings);
        }
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(Diagnostic::is_error), "a refused model has an error");
            check_places(&source, &diagnostics);
        }
    }
});

fn check_places(source: &Source, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(source.text.get(label.span.range()).is_some(), "{diagnostic:?} is not at a place of the text");
        }
    }
}
