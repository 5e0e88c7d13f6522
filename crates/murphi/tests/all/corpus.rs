//! The front end accepts and refuses the same real models as rumur, save for the differences that
//! the user guide explains.

use quotient_kit::{LoadOptions, source_from_bytes};
use quotient_language_testkit::prerequisites::corpus;
use quotient_murphi::LANGUAGE;

/// Models that rumur 2022.08 refuses and we accept, each for a reason given in the user guide
/// (`docs/guide/murphi.md`, "Differences from rumur").
const ACCEPTED_ALL_THE_SAME: &[&str] = &[
    // Bitwise operators on ranges with a name.
    "amp-with-typedef.m",
    "pipe-with-typedef.m",
    // Operators outside ASCII.
    "unicode-div.m",
    "unicode-mul.m",
];

#[test]
fn real_models_are_accepted_and_refused_as_by_rumur() {
    let Some(folder) = corpus("murphi", "what rumur accepts of real models") else { return };
    let table = std::fs::read_to_string(folder.join("expected.csv")).expect("the table of expectations is readable");
    let mut differences = Vec::new();
    let mut count = 0;
    for line in table.lines().skip(1).filter(|line| !line.is_empty()) {
        let mut columns = line.split(',');
        let (file, verdict) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
        let bytes = std::fs::read(folder.join(file)).expect("every listed model is there");
        let loaded = source_from_bytes(file, &bytes)
            .map_err(|diagnostic| vec![diagnostic])
            .and_then(|source| LANGUAGE.load(source, &LoadOptions::default()));
        let expected = verdict != "noparse" || ACCEPTED_ALL_THE_SAME.contains(&file);
        match loaded {
            Ok(loaded) => {
                if !expected {
                    differences.push(format!("{file}: accepted, but rumur refuses it: {line}"));
                }
                if let Err(problems) = quotient_ir::verify(&loaded.model) {
                    differences.push(format!("{file}: not well formed: {problems:?}"));
                }
            }
            Err(diagnostics) if expected => {
                differences.push(format!("{file}: refused, but rumur accepts it: {diagnostics:#?}"));
            }
            Err(_) => {}
        }
        count += 1;
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(count > 0, "the table of expectations is not empty");
}
