//! The B machines of `models/b`: what their headers expect, with and without reduction, and the same
//! from rumur where it can run the lowered model.
//!
//! A header is made of comment lines such as
//!
//! ```text
//! // expect: violated invariant "card(active) <= 1"
//! // with PROC=3: states 55, orbits 17
//! ```
//!
//! States count the root and the valuations of the constants. Orbits are those of the deferred sets.

use std::fs;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{
    DeadlockMode, Interpreter, Layout, Model, PrintOptions, PropertyId, PropertyKind, Source, print_murphi, replay,
    verify,
};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, Silent, Verdict};
use quotient_systems::{ReductionPlan, SymmetrySource};
use quotient_testkit::examples::{murphi_examples, with_files_beside, workspace};
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::search::{check, check_with, plan};

struct Case {
    file: String,
    text: String,
    constants: Vec<(String, String)>,
    violated: Option<String>,
    figures: Vec<(String, u64)>,
}

impl Case {
    fn figure(&self, name: &str) -> Option<u64> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
    fn label(&self) -> String {
        let constants: Vec<String> = self.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", self.file, constants.join(","))
    }
    fn load(&self) -> Model {
        let options = LoadOptions { constants: self.constants.clone(), ..LoadOptions::default() };
        let path = workspace().join("models/b").join(&self.file);
        let source = with_files_beside(Source::new(path.to_string_lossy(), self.text.clone()), Language::B);
        let loaded = load(source, Language::B, &options).unwrap_or_else(|diagnostics| {
            panic!("{}: {diagnostics:?}", self.label());
        });
        assert_eq!(verify(&loaded.model), Ok(()), "{}", self.label());
        loaded.model
    }
}

/// All cases that the headers give.
fn cases() -> Vec<Case> {
    let folder = workspace().join("models/b");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).expect("the folder of B machines").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        if Language::from_file_name(&file) != Some(Language::B) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable machine");
        let mut violated = None;
        let before = cases.len();
        for line in text.lines().map_while(|line| line.strip_prefix("//")).map(str::trim) {
            if let Some(expected) = line.strip_prefix("expect: ") {
                violated = expected.strip_prefix("violated ").map(str::to_owned);
                assert!(violated.is_some() || expected == "holds", "{file}: {line}");
            } else if let Some(rest) = line.strip_prefix("with ") {
                let (constants, figures) = rest.split_once(": ").unwrap_or_else(|| panic!("{file}: {line}"));
                let pair = |text: &str, sign: char| {
                    let (left, right) = text.trim().split_once(sign).unwrap_or_else(|| panic!("{file}: {line}"));
                    (left.to_owned(), right.to_owned())
                };
                let constants = if constants == "nothing" {
                    Vec::new()
                } else {
                    constants.split(',').map(|it| pair(it, '=')).collect()
                };
                let figures = figures.split(',').map(|it| pair(it, ' '));
                let figures = figures.map(|(name, value)| (name, value.parse().expect("a number"))).collect();
                cases.push(Case {
                    file: file.clone(),
                    text: text.clone(),
                    constants,
                    violated: violated.clone(),
                    figures,
                });
            }
        }
        assert!(cases.len() > before, "{file} expects nothing");
    }
    cases
}

fn options() -> SearchOptions {
    SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() }
}

/// What a search says: the violated property, if any.
fn violation(model: &Model, report: &quotient_search::Report) -> Option<String> {
    let layout = Layout::new(model).expect("a layout");
    let interpreter = Interpreter::new(model, &layout);
    let found = report.properties.iter().find(|property| property.verdict == Verdict::Violated)?;
    if let Some(trace) = &found.trace {
        replay(&interpreter, trace).expect("a run that replays");
    }
    Some(match &found.subject {
        quotient_search::Subject::Property(property) => {
            let entry = &model.properties[*property];
            let kind = if matches!(entry.kind, PropertyKind::Cover) { "cover" } else { "invariant" };
            format!("{kind} \"{}\"", entry.name.clone().unwrap_or_default())
        }
        quotient_search::Subject::Deadlock => "deadlock".to_owned(),
        quotient_search::Subject::Errors => "error".to_owned(),
    })
}

#[test]
fn unreduced_searches_are_as_the_headers_say() {
    for case in cases().iter().filter(|case| case.figure("states").is_some_and(|states| states <= 40_000)) {
        let model = case.load();
        let report = check(&model, &options(), &mut Silent).unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        assert_eq!(violation(&model, &report), case.violated, "{}", case.label());
        assert_eq!(Some(report.states), case.figure("states"), "{}", case.label());
    }
}

#[test]
fn orbits_of_the_deferred_sets_are_as_the_headers_say() {
    for case in cases().iter().filter(|case| case.figure("orbits").is_some_and(|orbits| orbits <= 2_000)) {
        let model = case.load();
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let plan = plan(&model, &layout, &properties, SymmetrySource::Declared, None)
            .unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        assert_eq!(plan.symmetry.refused, Vec::new(), "{}", case.label());
        let report = check_with(&model, &layout, &plan, &options(), &mut Silent)
            .unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        assert_eq!(violation(&model, &report), case.violated, "{}", case.label());
        assert_eq!(Some(report.states), case.figure("orbits"), "{}", case.label());
        if case.violated.is_none() {
            let represented = report.represented.as_ref().map(ToString::to_string);
            assert_eq!(represented, case.figure("states").map(|states| states.to_string()), "{}", case.label());
        }
    }
}

#[test]
fn detected_symmetries_keep_the_verdicts() {
    for case in cases().iter().filter(|case| case.figure("states").is_some_and(|states| states <= 3_000)) {
        let model = case.load();
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let plan = plan(&model, &layout, &properties, SymmetrySource::Detected, None)
            .unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        let report = check_with(&model, &layout, &plan, &options(), &mut Silent)
            .unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        assert_eq!(violation(&model, &report).is_some(), case.violated.is_some(), "{}", case.label());
        if let (None, Some(orbits)) = (&case.violated, case.figure("orbits")) {
            let represented = report.represented.as_ref().map(ToString::to_string);
            assert_eq!(represented, case.figure("states").map(|states| states.to_string()), "{}", case.label());
            assert!(report.states <= orbits, "{}: {} states", case.label(), report.states);
        }
    }
}

/// Searches with a method of reduction by the deferred sets.
fn reduced(model: &Model, strategy: Strategy, label: &str) -> (ReductionPlan, Report) {
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let plan = plan(model, &layout, &properties, SymmetrySource::Declared, Some(strategy))
        .unwrap_or_else(|error| panic!("{label}: {error}"));
    let report =
        check_with(model, &layout, &plan, &options(), &mut Silent).unwrap_or_else(|error| panic!("{label}: {error}"));
    (plan, report)
}

#[test]
fn markers_are_as_the_headers_say() {
    for case in cases().iter().filter(|case| case.figure("markers").is_some()) {
        let model = case.load();
        let (plan, report) = reduced(&model, Strategy::Markers, &case.label());
        assert_eq!(violation(&model, &report), case.violated, "{}", case.label());
        assert_eq!(Some(report.states), case.figure("markers"), "{}", case.label());
        let Some(reduction) = &plan.reduction else {
            continue;
        };
        // Where proposition 2 applies there are as many markers as orbits, and the verdict is certain.
        if reduction.is_exact() {
            assert_eq!(case.figure("markers"), case.figure("orbits"), "{}", case.label());
        } else if case.violated.is_none() {
            assert_eq!(report.verdict, Verdict::Inconclusive, "{}", case.label());
        }
    }
}

#[test]
fn canonical_forms_decide_between_equal_markers() {
    for case in cases().iter().filter(|case| case.figure("orbits").is_some_and(|orbits| orbits <= 2_000)) {
        let model = case.load();
        let (plan, report) = reduced(&model, Strategy::MarkersCanonical, &case.label());
        assert_eq!(violation(&model, &report), case.violated, "{}", case.label());
        assert_eq!(Some(report.states), case.figure("orbits"), "{}", case.label());
        if let (Some(_), None, Some(orbits), Some(markers)) =
            (&plan.reduction, &case.violated, case.figure("orbits"), case.figure("markers"))
        {
            // A collision may hide others, so their numbers need not fit.
            assert_eq!(report.marker_collisions.is_some_and(|it| it > 0), markers < orbits, "{}", case.label());
        }
    }
}

/// The states, orbits and markers of a machine with a root.
fn figures(text: &str) -> [u64; 3] {
    let loaded = load(Source::new("test.mch", text), Language::B, &LoadOptions::default()).expect("a machine");
    let whole = check(&loaded.model, &options(), &mut Silent).expect("a report");
    let [orbits, markers] =
        [Strategy::Canonical, Strategy::Markers].map(|it| reduced(&loaded.model, it, "test").1.states);
    [whole.states, orbits, markers]
}

/// Definition 1 with its refinement: which value goes with which element is told.
#[test]
fn refined_paths_tell_values_apart() {
    let text = "MACHINE m SETS D DEFINITIONS scope_D == 2 VARIABLES x, y
        INVARIANT x : D --> 1..2 & y : D --> 1..2
        INITIALISATION ANY a, b WHERE a : D & b : D & a /= b THEN
          CHOICE x := {a |-> 1, b |-> 2} || y := {a |-> 1, b |-> 2}
          OR x := {a |-> 2, b |-> 1} || y := {a |-> 1, b |-> 2} END END
        OPERATIONS stay = skip END";
    assert_eq!(figures(text), [5, 3, 3]);
}

/// The paper's states with equal markers that are not symmetric: a cycle of four and two of two.
#[test]
fn cycles_of_different_length_have_one_marker() {
    let text = "MACHINE m SETS D DEFINITIONS scope_D == 4 VARIABLES r INVARIANT r : D <-> D
        INITIALISATION ANY a, b, c, d WHERE a : D & b : D & c : D & d : D & card({a, b, c, d}) = 4 THEN
          CHOICE r := {a |-> b, b |-> c, c |-> d, d |-> a}
          OR r := {a |-> b, b |-> a, c |-> d, d |-> c} END END
        OPERATIONS stay = skip END";
    assert_eq!(figures(text), [10, 3, 2]);
}

/// Figure 4 and the example after it: an element that a variable holds, and the pair it is in.
#[test]
fn elements_are_told_by_where_they_occur() {
    let text = "MACHINE m SETS D DEFINITIONS scope_D == 2 VARIABLES x, y
        INVARIANT x : D +-> 0..0 & y <: D
        INITIALISATION ANY a, b WHERE a : D & b : D THEN x := {a |-> 0} || y := {b} END
        OPERATIONS stay = skip END";
    assert_eq!(figures(text), [5, 3, 3]);
}

#[test]
fn rumur_agrees_on_the_lowered_machines() {
    let Some(rumur) = Rumur::find_or_skip("comparing B machines with rumur") else {
        return;
    };
    let options = RumurOptions { deadlock: DeadlockMode::Stuck, ..RumurOptions::default() };
    for case in
        cases().iter().filter(|case| case.violated.is_none() && case.figure("states").is_some_and(|it| it <= 600))
    {
        let model = case.load();
        let text =
            print_murphi(&model, &PrintOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        let answer = rumur.check(&text, &options).unwrap_or_else(|error| panic!("{}: {error}", case.label()));
        assert_eq!(answer.states, case.figure("states"), "{}: {}", case.label(), answer.message);
    }
}

/// Flooding enumerates the orbit of each state, and so processes one node for each. It is refused for very
/// large groups.
#[test]
fn flooding_processes_a_node_for_each_orbit() {
    for case in cases().iter().filter(|case| case.figure("states").is_some_and(|states| states <= 3_000)) {
        let Some(orbits) = case.figure("orbits") else {
            continue;
        };
        let model = case.load();
        let (plan, report) = reduced(&model, Strategy::Flooding, &case.label());
        // 10! symmetries are too many to list an orbit.
        if plan.reduction.is_none() && case.constants.iter().any(|(_, size)| size == "10") {
            continue;
        }
        assert_eq!(violation(&model, &report), case.violated, "{}", case.label());
        assert_eq!(report.states, orbits, "{}", case.label());
    }
}

/// Table 1 of the paper on symmetry markers: all rows whose machines are known. Searches compare the numbers
/// in the headers with what is found; this compares the headers with the table.
#[test]
fn the_headers_have_the_numbers_of_the_paper() {
    // States, orbits and markers, for growing sizes of the deferred set.
    let table: [(&str, &str, u64, &[[u64; 3]]); 7] = [
        (
            "LoginVerySimple.mch",
            "Session",
            1,
            &[[3, 3, 3], [5, 4, 4], [9, 5, 5], [17, 6, 6], [33, 7, 7], [65, 8, 8], [129, 9, 9]],
        ),
        ("Philosophers.mch", "Phil", 2, &[[21, 8, 7], [337, 13, 11], [11809, 26, 20]]),
        (
            "scheduler0.mch",
            "PROC",
            1,
            &[[5, 5, 5], [16, 10, 10], [55, 17, 17], [190, 26, 26], [649, 37, 37], [2188, 50, 50], [7291, 65, 65]],
        ),
        (
            "scheduler1.ref",
            "PROC",
            1,
            &[
                [5, 5, 5],
                [27, 14, 14],
                [145, 29, 29],
                [825, 51, 51],
                [5201, 81, 81],
                [37009, 120, 120],
                [297_473, 169, 169],
            ],
        ),
        (
            "RussianPostalPuzzle.mch",
            "Padlock",
            1,
            &[[15, 15, 15], [81, 48, 48], [441, 119, 119], [2325, 248, 248], [11985, 459, 459]],
        ),
        ("Peterson.mch", "Proc", 2, &[[49, 27, 27], [884, 174, 174], [22283, 1134, 1134]]),
        ("Towns.mch", "TOWN", 1, &[[3, 3, 3], [17, 11, 11], [513, 105, 105]]),
    ];
    let cases = cases();
    let find = |file: &str, set: &str, size: u64| {
        let constants = vec![(set.to_owned(), size.to_string())];
        cases.iter().find(|case| case.file == file && case.constants == constants).expect("a row of the table")
    };
    for (file, set, first, rows) in table {
        for (size, row) in (first..).zip(rows) {
            let case = find(file, set, size);
            let found = ["states", "orbits", "markers"].map(|name| case.figure(name));
            assert_eq!(found, row.map(Some), "{}", case.label());
        }
    }
    assert_eq!(find("AllPhilosophers.mch", "Phil", 4).figure("states"), Some(17713));
}

/// The improvement that the paper discusses tells the philosophers' states apart, and still not the cycles.
#[test]
fn trees_tell_more_than_paths() {
    for case in cases().iter().filter(|case| case.file == "Philosophers.mch") {
        let (_, report) = reduced(&case.load(), Strategy::MarkersTrees, &case.label());
        let (markers, orbits) = (case.figure("markers").expect("markers"), case.figure("orbits").expect("orbits"));
        assert!(markers <= report.states && report.states <= orbits, "{}: {}", case.label(), report.states);
    }
}

/// Markers serve every language with values that can be exchanged freely.
#[test]
fn markers_of_scalarsets() {
    for example in murphi_examples()
        .iter()
        .filter(|it| ["german.m", "peterson.m", "two_phase_commit.m"].contains(&it.name.as_str()))
    {
        let case = &example.header.cases[0];
        let model = example.load(case).unwrap_or_else(|error| panic!("{}: {error}", example.name));
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let options = SearchOptions { deadlock: example.header.deadlock, ..SearchOptions::default() };
        let search = |strategy| {
            let plan = plan(&model, &layout, &properties, SymmetrySource::Detected, Some(strategy)).expect("a plan");
            let report = check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report");
            (plan.reduction.is_some(), report)
        };
        let (_, exact) = search(Strategy::Canonical);
        for strategy in [Strategy::Markers, Strategy::MarkersTrees, Strategy::MarkersCanonical] {
            let (is_reduced, report) = search(strategy);
            // The group may have more symmetries than the exchanges that markers know.
            if is_reduced && strategy == Strategy::MarkersCanonical {
                assert_eq!(report.verdict, exact.verdict, "{}", example.name);
                assert!(report.states >= exact.states, "{}", example.name);
                assert_eq!(report.represented, exact.represented, "{}", example.name);
            }
        }
    }
}
