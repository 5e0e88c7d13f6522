//! What the front end says about the models of `tests/bad`.

use std::path::Path;

use quotient_dve::LANGUAGE;
use quotient_language_testkit::bad_models;

#[test]
fn bad_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    bad_models::compare(&folder, &LANGUAGE, |name, report| insta::assert_snapshot!(name, report));
}
