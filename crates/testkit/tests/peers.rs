//! The example models against rumur, where it is installed: what their headers expect is what
//! rumur answers.

use quotient_testkit::examples::murphi_examples;
use quotient_testkit::expectation::with_constants;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::rumur::{Rumur, RumurOptions};

#[test]
fn rumur_gives_what_the_headers_expect() {
    let Some(rumur) = Rumur::find_or_skip("comparing the example models with rumur") else { return };
    let examples = murphi_examples();
    let mut jobs = Vec::new();
    for example in examples.iter().filter(|example| example.header.no_peer.is_none()) {
        jobs.extend(example.header.cases.iter().map(|case| (example, case)));
    }
    assert!(jobs.len() >= 10, "there are models to compare");
    let wrong: Vec<String> = map_on_workers(2, &jobs, |&(example, case)| {
        let compare = || -> Result<(), String> {
            let text = with_constants(&example.text, &case.constants)?;
            let options = RumurOptions { deadlock: example.header.deadlock, ..RumurOptions::default() };
            let answer = rumur.check(&text, &options).map_err(|failure| failure.to_string())?;
            let expected = (case.verdict.class, Some(case.states), Some(case.rules_fired));
            if (answer.class, answer.states, answer.rules_fired) != expected {
                return Err(format!("rumur says {answer:?} and not {expected:?}"));
            }
            if case.verdict.subject.is_some() && answer.subject() != case.verdict.subject.as_deref() {
                return Err(format!("rumur says {:?} is violated", answer.subject()));
            }
            Ok(())
        };
        compare().err().map(|error| format!("{} {}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
