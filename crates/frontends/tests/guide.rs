//! Every model in the user guide is one that the front end reads without a complaint.

use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::Source;

fn check(page: &str, fence: &str, language: Language) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(page);
    let text = std::fs::read_to_string(path).expect("the guide is there");
    let mut count = 0;
    for block in text.split(&format!("```{fence}\n")).skip(1) {
        let model = block.split("```").next().unwrap_or_default();
        match load(Source::new("guide", model), language, &LoadOptions::default()) {
            Ok(loaded) => assert!(loaded.warnings.is_empty(), "{model}\n{:#?}", loaded.warnings),
            Err(diagnostics) => panic!("{model}\n{diagnostics:#?}"),
        }
        count += 1;
    }
    assert!(count > 0, "the guide shows models");
}

#[test]
fn models_in_the_guide_are_right() {
    check("murphi.md", "murphi", Language::Murphi);
    check("promela.md", "promela", Language::Promela);
    check("dve.md", "dve", Language::Dve);
    check("csp.md", "csp", Language::Csp);
}

#[test]
fn machines_in_the_guide_are_right() {
    check("b.md", "b", Language::B);
}
