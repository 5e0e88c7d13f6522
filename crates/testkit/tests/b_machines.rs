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

use quotient_engines::{SearchOptions, Silent, SymmetrySource, Verdict, check, check_with, plan};
use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, PropertyId, Source, replay, verify};
use quotient_testkit::examples::workspace;

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
        let source = Source::new(self.file.clone(), self.text.clone());
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
fn violation(model: &Model, report: &quotient_engines::Report) -> Option<String> {
    let layout = Layout::new(model).expect("a layout");
    let interpreter = Interpreter::new(model, &layout);
    let found = report.properties.iter().find(|property| property.verdict == Verdict::Violated)?;
    if let Some(trace) = &found.trace {
        replay(&interpreter, trace).expect("a run that replays");
    }
    Some(match &found.subject {
        quotient_engines::Subject::Property(property) => {
            let name = model.properties[*property].name.clone().unwrap_or_default();
            format!("invariant \"{name}\"")
        }
        quotient_engines::Subject::Deadlock => "deadlock".to_owned(),
        quotient_engines::Subject::Errors => "error".to_owned(),
    })
}

#[test]
fn unreduced_searches_are_as_the_headers_say() {
    for case in cases().iter().filter(|case| case.figure("states").is_some_and(|states| states <= 20_000)) {
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
