//! Every model in the user guide is one that the front end reads without a complaint.

use quotient_language_testkit::guide;
use quotient_murphi::LANGUAGE;

#[test]
fn models_in_the_guide_are_right() {
    guide::check("murphi.md", "murphi", &LANGUAGE);
}
