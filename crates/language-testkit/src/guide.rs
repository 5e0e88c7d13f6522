//! Models in the user guide: the front end must read each without a complaint.

use quotient_ir::Source;
use quotient_kit::{FrontEnd, LoadOptions};

use crate::workspace;

/// Reads every model that a page of the guide shows in fences of a name.
///
/// # Panics
/// If one is refused or has warnings, or there is none.
pub fn check(page: &str, fence: &str, language: &FrontEnd) {
    let path = workspace().join("docs/guide").join(page);
    let text = std::fs::read_to_string(path).expect("the guide is there");
    let mut count = 0;
    for block in text.split(&format!("```{fence}\n")).skip(1) {
        let model = block.split("```").next().unwrap_or_default();
        match language.load(Source::new("guide", model), &LoadOptions::default()) {
            Ok(loaded) => assert!(loaded.warnings.is_empty(), "{model}\n{:#?}", loaded.warnings),
            Err(diagnostics) => panic!("{model}\n{diagnostics:#?}"),
        }
        count += 1;
    }
    assert!(count > 0, "the guide shows models");
}
