//! Small models, each about one rule of the language (`semantics.txt`): our answer is the recorded
//! one on every transition system, and so is rumur's where it is installed.

use quotient_explicit::check_system;
use quotient_ir::{Interpreter, Layout};
use quotient_search::{SearchOptions, Silent};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::reference::ReferenceSystem;
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::search::check;
use quotient_testkit::verdict::{Answer, VerdictClass};

/// The verdict, and states and rules fired unless the model is rejected.
type Recorded = (VerdictClass, Option<(u64, u64)>);

struct Case {
    name: &'static str,
    recorded: Recorded,
    text: &'static str,
}

fn cases() -> Vec<Case> {
    let (_introduction, cases) = include_str!("semantics.txt").split_once("\n## ").expect("there are cases");
    let read = |case: &'static str| {
        let read = || {
            let (name, rest) = case.split_once("\n# ")?;
            let (answer, text) = rest.split_once('\n')?;
            let mut words = answer.split(' ');
            let class = VerdictClass::from_word(words.next()?)?;
            let counts = match class {
                VerdictClass::Rejected => None,
                _ => Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?)),
            };
            words.next().is_none().then_some(Case { name, recorded: (class, counts), text })
        };
        read().unwrap_or_else(|| panic!("not a case: {case}"))
    };
    cases.split("\n## ").map(read).collect()
}

fn report(wrong: impl IntoIterator<Item = Option<String>>) {
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn our_answers_are_the_recorded_ones() {
    let cases = cases();
    assert!(cases.len() > 100);
    report(cases.iter().flat_map(|case| {
        let model = match load_murphi(case.name, case.text, &[]) {
            Ok(model) => model,
            Err(_) if case.recorded.0 == VerdictClass::Rejected => return [None, None],
            Err(messages) => return [Some(format!("{}: rejected: {messages}", case.name)), None],
        };
        let layout = Layout::new(&model).expect("a small layout");
        let interpreter = Interpreter::new(&model, &layout);
        let options = SearchOptions::default();
        let reference = check_system(&ReferenceSystem::new(&interpreter), &interpreter, &options, &mut Silent);
        [("default", check(&model, &options, &mut Silent)), ("reference", reference)].map(|(system, report)| {
            let answer = Answer::of(&model, &report.expect("a report"));
            let found = (answer.class, Some((answer.states, answer.rules_fired)));
            (found != case.recorded).then(|| {
                format!("{}, {system}: {found:?}, recorded {:?}: {:?}", case.name, case.recorded, answer.subject)
            })
        })
    }));
}

#[test]
fn answers_of_rumur_are_the_recorded_ones() {
    let Some(rumur) = Rumur::find_or_skip("comparing rules of the language with rumur") else { return };
    report(map_on_workers(2, &cases(), |case| {
        let answer = match rumur.check(case.text, &RumurOptions::default()) {
            Ok(answer) => answer,
            Err(failure) => return Some(format!("{}: {failure}", case.name)),
        };
        let found = (answer.class, answer.states.zip(answer.rules_fired));
        (found != case.recorded)
            .then(|| format!("{}: {found:?}, recorded {:?}: {}", case.name, case.recorded, answer.message))
    }));
}
