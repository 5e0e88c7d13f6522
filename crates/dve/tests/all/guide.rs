//! Every model in the user guide is one that the front end reads without a complaint.

use quotient_dve::LANGUAGE;
use quotient_language_testkit::guide;

#[test]
fn models_in_the_guide_are_right() {
    guide::check("dve.md", "dve", &LANGUAGE);
}
