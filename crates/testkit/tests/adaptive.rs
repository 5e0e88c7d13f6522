//! Adaptive symmetry reduction: the figures of the paper, and brute force on random models.

use quotient_engines::{AdaptiveReport, PartitionTime, SearchOptions, Silent, check_adaptive};
use quotient_ir::{DeadlockMode, Layout, Model, PropertyKind};
use quotient_testkit::examples::{load_murphi, workspace};

fn load(name: &str, constants: &[(&str, String)]) -> Model {
    let text = std::fs::read_to_string(workspace().join("models/murphi").join(name)).expect("the model");
    let constants: Vec<(String, String)> =
        constants.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    load_murphi(name, &text, &constants).unwrap_or_else(|error| panic!("{error}"))
}

/// A run that checks everything but liveness.
fn adaptive(model: &Model) -> AdaptiveReport {
    let layout = Layout::new(model).expect("a layout");
    let safety = model.properties.iter_enumerated().filter(|(_, entry)| entry.kind != PropertyKind::Liveness);
    let options = SearchOptions {
        deadlock: DeadlockMode::Off,
        properties: Some(safety.map(|(id, _)| id).collect()),
        ..SearchOptions::default()
    };
    check_adaptive(model, &layout, &options, PartitionTime::Lazy, &mut Silent).unwrap_or_else(|error| panic!("{error}"))
}

fn controller(processes: u64, size: u64, classes: u64) -> Model {
    let constants = [("N", processes.to_string()), ("SIZE", size.to_string()), ("K", classes.to_string())];
    load("resource_controller.m", &constants)
}

/// Section 3 of the paper: 22 states, 9 annotated ones.
#[test]
fn readers_and_writers() {
    let report = adaptive(&load("readers_writers.m", &[]));
    assert_eq!(report.report.states, 9);
    assert_eq!(report.report.represented.expect("few enough to count").to_string(), "22");
}

/// Figures 3 and 4, at n = 18.
#[test]
fn the_resource_controller_of_eighteen_processes() {
    for (size, classes, annotated, represented) in [(2, 9, 505, "1310716"), (9, 2, 316, "3808000")] {
        let report = adaptive(&controller(18, size, classes));
        assert_eq!(report.report.states, annotated);
        assert_eq!(report.report.represented.expect("few enough to count").to_string(), represented);
    }
}

/// Table 1.
#[test]
fn the_resource_controller_of_eighty_processes() {
    let table: [(u64, u64, u64); 8] = [
        (2, 558, 789),
        (3, 792, 1245),
        (5, 1251, 2121),
        (7, 1698, 2949),
        (10, 2346, 4101),
        (15, 3366, 5781),
        (20, 4311, 7161),
        (25, 5181, 8241),
    ];
    for (classes, ones, twos) in table {
        for (size, annotated) in [(1, ones), (2, twos)] {
            let report = adaptive(&controller(80, size, classes));
            assert_eq!(report.report.states, annotated, "{classes} classes of {size}");
        }
    }
}
