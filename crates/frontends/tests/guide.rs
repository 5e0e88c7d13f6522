//! Every model in the user guide is one that the front end reads without a complaint.

use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::Source;

#[test]
fn models_in_the_guide_are_right() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/murphi.md");
    let text = std::fs::read_to_string(path).expect("the guide is there");
    let mut count = 0;
    for block in text.split("```murphi\n").skip(1) {
        let model = block.split("```").next().unwrap_or_default();
        match load(Source::new("guide.m", model), Language::Murphi, &LoadOptions::default()) {
            Ok(loaded) => assert!(loaded.warnings.is_empty(), "{model}\n{:#?}", loaded.warnings),
            Err(diagnostics) => panic!("{model}\n{diagnostics:#?}"),
        }
        count += 1;
    }
    assert!(count > 0, "the guide shows models");
}
