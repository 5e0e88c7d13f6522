//! Interrupted detection: every entry point gives up at once if interrupted beforehand, gives up after the same work
//! every time, and stops soon after an interrupt in the middle. It never returns another group instead.

use std::path::Path;
use std::time::{Duration, Instant};

use quotient_ir::{Budget, Interrupt, Layout, Model, PropertyId, Source};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_symmetry::{
    Certifier, DetectionError, Explainer, PartialRefusal, PartialSymmetry, Preserved, Rejection, declared,
    declared_preserving, detect, detect_preserving, detect_with_cost, most_permutations,
};

fn example(name: &str, constants: &[(&str, &str)]) -> Model {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let constants = constants.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let options = LoadOptions { constants, ..LoadOptions::default() };
    let loaded = LANGUAGE.load(Source::new(name, text), &options);
    loaded.unwrap_or_else(|error| panic!("{name}: {error:?}")).model
}

fn interrupted() -> Budget {
    let interrupt = Interrupt::new();
    interrupt.raise();
    Budget::until(&interrupt)
}

#[test]
fn nothing_is_begun_after_an_interrupt() {
    let model = example("german.m", &[]);
    let layout = Layout::new(&model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let all = Preserved::Properties(&properties);
    let is_given_up = |error: &DetectionError| matches!(error, DetectionError::GaveUp(_));
    let stop = &interrupted();
    assert!(detect(&model, &layout, &properties, stop).is_err_and(|error| is_given_up(&error)));
    assert!(detect_preserving(&model, &layout, all, stop).is_err_and(|error| is_given_up(&error)));
    assert!(
        detect_with_cost(&model, &layout, Preserved::Properties(&properties), stop)
            .is_err_and(|error| is_given_up(&error))
    );
    assert!(declared(&model, &layout, &properties, stop).is_err_and(|error| is_given_up(&error)));
    assert!(declared_preserving(&model, &layout, all, stop).is_err_and(|error| is_given_up(&error)));
    assert!(most_permutations(&model, &layout, stop).is_err());
    assert!(Certifier::new(&model, &layout, &properties, stop).is_err());
    assert!(Explainer::new(&model, &layout, &properties, stop).is_err());
    let partial = PartialSymmetry::new(&model, &layout, &properties, stop);
    assert!(matches!(partial.err(), Some(PartialRefusal::GaveUp(_))));
}

#[test]
fn what_is_prepared_gives_up_as_well() {
    let model = example("german.m", &[]);
    let layout = Layout::new(&model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let interrupt = Interrupt::new();
    let budget = Budget::until(&interrupt);
    let mut certifier = Certifier::new(&model, &layout, &properties, &budget).expect("not interrupted yet");
    let mut partial = PartialSymmetry::new(&model, &layout, &properties, &budget).expect("not interrupted yet");
    let found = detect(&model, &layout, &properties, &budget).expect("not interrupted yet");
    interrupt.raise();
    let checked = certifier.check(&found.group.generators()[0]);
    assert!(matches!(checked, Err(Rejection::GaveUp(_))));
    let is_given_up = |error: &DetectionError| matches!(error, DetectionError::GaveUp(_));
    let rule = model.rules.indices().next().expect("a rule");
    assert!(partial.rule(rule).is_err_and(|error| is_given_up(&error)));
    assert!(partial.property(properties[0]).is_err_and(|error| is_given_up(&error)));
    assert!(partial.sharing().is_err_and(|error| is_given_up(&error)));
    assert!(partial.whole_group().is_err_and(|error| is_given_up(&error)));
}

#[test]
fn a_limit_of_work_gives_up_every_time_or_never() {
    for name in ["german.m", "peterson.m", "lock_server.m", "needham_schroeder.m"] {
        let model = example(name, &[]);
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let unlimited = Budget::unlimited();
        let whole =
            detect_with_cost(&model, &layout, Preserved::Properties(&properties), &unlimited).expect("certified").group;
        let used = unlimited.used();
        for sixteenths in 0..16 {
            let run = || {
                let budget = Budget::new(used * sixteenths / 16, Interrupt::new());
                let result = detect_with_cost(&model, &layout, Preserved::Properties(&properties), &budget);
                (result, budget.used())
            };
            let ((first, first_used), (second, second_used)) = (run(), run());
            assert_eq!(first_used, second_used, "{name} {sixteenths}/16");
            assert!(matches!(first, Err(DetectionError::GaveUp(_))), "{name} {sixteenths}/16");
            assert!(matches!(second, Err(DetectionError::GaveUp(_))), "{name} {sixteenths}/16");
        }
        let budget = Budget::new(used, Interrupt::new());
        let again = detect_with_cost(&model, &layout, Preserved::Properties(&properties), &budget)
            .expect("there is enough")
            .group;
        assert_eq!(again.generators(), whole.generators(), "{name}");
    }
}

/// Interrupts work after some time, and returns how long it took to stop; zero if it had already finished.
fn time_to_stop(after: Duration, work: impl FnOnce(&Budget)) -> Duration {
    let interrupt = Interrupt::new();
    let budget = Budget::until(&interrupt);
    let alarm = std::thread::spawn(move || {
        std::thread::sleep(after);
        interrupt.raise();
        Instant::now()
    });
    work(&budget);
    let end = Instant::now();
    let raised = alarm.join().expect("it only sleeps");
    end.saturating_duration_since(raised)
}

#[test]
fn slow_detection_stops_soon_after_an_interrupt() {
    let model = example("peterson.m", &[("N", "60")]);
    let layout = Layout::new(&model).expect("a layout");
    for milliseconds in [50, 400] {
        let after = Duration::from_millis(milliseconds);
        let latencies = [
            time_to_stop(after, |budget| {
                let found = detect(&model, &layout, &[], budget);
                assert!(matches!(found, Ok(_) | Err(DetectionError::GaveUp(_))));
            }),
            time_to_stop(after, |budget| {
                let refusal = PartialSymmetry::new(&model, &layout, &[], budget).err();
                assert!(matches!(refusal, None | Some(PartialRefusal::GaveUp(_))));
            }),
        ];
        assert!(latencies.iter().all(|latency| *latency < Duration::from_secs(1)), "{latencies:?}");
    }
}
