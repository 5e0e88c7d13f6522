//! The specialised transition system and the one on the reference interpreter agree to the letter:
//! the same initial states, the same instances in the same order, the same successors, covers and
//! faults, the same values of properties. Compiled code gives the same successors in the same order,
//! and what it says to be safe is. Compared on models that use every construct, on the
//! example models and on real ones.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use quotient_explicit::check_system;
use quotient_ir::{Action, Fault, Interpreter, Layout, Model, PropertyId, Source};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_search::{Event, Instance, Report, SearchOptions, SearchOrder, Silent, TransitionSystem, Verdict};
use quotient_systems::{CompiledSystem, SpecialisedSystem};
use quotient_testkit::agreement::compare_compiled;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::reference::ReferenceSystem;

/// States of one model that are compared; the rest would show nothing new.
const STATES: usize = 600;

/// An event that can be kept.
#[derive(Debug, PartialEq, Eq)]
enum Happening {
    Next(Vec<u64>, Vec<PropertyId>),
    Pruned,
    Fault(Fault),
}

type Step = (Action, Vec<i64>, Happening);

fn collect(steps: &mut Vec<Step>) -> impl FnMut(Instance<'_>, Event<'_>) -> ControlFlow<()> {
    |instance, event| {
        let happening = match event {
            Event::Next { state, covered } => Happening::Next(state.to_vec(), covered.to_vec()),
            Event::Pruned => Happening::Pruned,
            Event::Fault(fault) => Happening::Fault(fault),
            Event::Idle | Event::Passed { .. } | Event::Wrong { .. } => return ControlFlow::Continue(()),
        };
        steps.push((instance.action, instance.arguments.to_vec(), happening));
        ControlFlow::Continue(())
    }
}

fn starts<S: TransitionSystem>(system: &S, scratch: &mut S::Scratch) -> Vec<Step> {
    let mut steps = Vec::new();
    system.starts(scratch, &mut collect(&mut steps));
    steps
}

fn successors<S: TransitionSystem>(system: &S, scratch: &mut S::Scratch, state: &[u64]) -> Vec<Step> {
    let mut steps = Vec::new();
    system.successors(scratch, state, &mut collect(&mut steps));
    steps
}

fn evaluations<S: TransitionSystem>(
    system: &S,
    scratch: &mut S::Scratch,
    model: &Model,
    state: &[u64],
) -> Vec<(PropertyId, Vec<i64>, Result<bool, Fault>)> {
    let mut values = Vec::new();
    for property in model.properties.indices() {
        system.evaluate(scratch, property, state, &mut |arguments, result| {
            values.push((property, arguments.to_vec(), result));
            ControlFlow::Continue(())
        });
    }
    values
}

/// Compares the systems state by state; says how many were compared. Nothing of the model may be
/// left to the reference interpreter as a whole.
fn compare(name: &str, model: &Model) -> usize {
    let layout = Layout::new(model).expect("the model has a layout");
    let interpreter = Interpreter::new(model, &layout);
    let untranslated = SpecialisedSystem::new(&interpreter).untranslated();
    assert_eq!(untranslated, 0, "{name}: left to the reference interpreter");
    compare_loosely(name, model)
}

/// Compares the systems state by state; says how many were compared.
fn compare_loosely(name: &str, model: &Model) -> usize {
    let layout = Layout::new(model).expect("the model has a layout");
    let interpreter = Interpreter::new(model, &layout);
    let specialised = SpecialisedSystem::of_reachable(&interpreter);
    let compiled = CompiledSystem::new(&specialised, true);
    let reference = ReferenceSystem::new(&interpreter);
    let mut scratch = specialised.scratch();
    let mut reference_scratch = reference.scratch();

    let mut found = HashSet::new();
    let mut queue = Vec::new();
    let mut enqueue = |steps: Vec<Step>, queue: &mut Vec<Vec<u64>>| {
        for (_, _, happening) in steps {
            if let Happening::Next(state, _) = happening
                && found.len() < STATES
                && found.insert(state.clone())
            {
                queue.push(state);
            }
        }
    };
    let expected = starts(&reference, &mut reference_scratch);
    assert_eq!(starts(&specialised, &mut scratch), expected, "{name}: starts");
    enqueue(expected, &mut queue);
    let mut compared = 0;
    while let Some(state) = queue.get(compared).cloned() {
        compared += 1;
        let expected = evaluations(&reference, &mut reference_scratch, model, &state);
        let values = evaluations(&specialised, &mut scratch, model, &state);
        assert_eq!(values, expected, "{name}: properties in {:?}", layout.unpack(&state));
        let expected = successors(&reference, &mut reference_scratch, &state);
        let steps = successors(&specialised, &mut scratch, &state);
        assert_eq!(steps, expected, "{name}: successors of {:?}", layout.unpack(&state));
        enqueue(expected, &mut queue);
    }

    if let Err(difference) = compare_compiled(model, STATES / 2) {
        panic!("{name}: {difference}");
    }

    // Whole searches: the same reports, and the same verdict depth-first.
    let limited = SearchOptions { max_states: Some(STATES as u64), ..SearchOptions::default() };
    let report = check_system(&specialised, &interpreter, &limited, &mut Silent).expect("violations replay");
    let expected = check_system(&reference, &interpreter, &limited, &mut Silent).expect("violations replay");
    // Only the memory may differ.
    let expected = Report { memory_bytes: 0, ..expected };
    let report = Report { memory_bytes: 0, ..report };
    assert_eq!(report, expected, "{name}: reports");
    let report = check_system(&compiled, &interpreter, &limited, &mut Silent).expect("violations replay");
    let report = Report { memory_bytes: 0, ..report };
    assert_eq!(report, expected, "{name}: reports of compiled code");
    // The same on a machine for which there is no code generator.
    let evaluated = CompiledSystem::without_code(&specialised);
    let report = check_system(&evaluated, &interpreter, &limited, &mut Silent).expect("violations replay");
    let report = Report { memory_bytes: 0, ..report };
    assert_eq!(report, expected, "{name}: reports without compiled code");
    let depth_first = SearchOptions { order: SearchOrder::DepthFirst, ..limited };
    let deep = check_system(&compiled, &interpreter, &depth_first, &mut Silent).expect("violations replay");
    if report.verdict == Verdict::Holds {
        assert_eq!((deep.verdict, deep.states, deep.transitions), (report.verdict, report.states, report.transitions));
        assert_eq!(deep.properties, report.properties, "{name}");
    } else if report.stop_reason.is_none() {
        assert_eq!(deep.verdict, report.verdict, "{name}");
    }
    compared
}

fn read(path: &Path) -> Option<(String, Model)> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
    let loaded = LANGUAGE.load(Source::new(name.clone(), text), &LoadOptions::default());
    Some((name, loaded.ok()?.model))
}

fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "m")).collect();
    files.sort();
    files
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn on_models_that_use_every_construct() {
    let files = models_in(&here("tests/agreement"));
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).expect("the model can be read");
        let source = Source::new(file.display().to_string(), text);
        let model = match LANGUAGE.load(source, &LoadOptions::default()) {
            Ok(loaded) => loaded.model,
            Err(diagnostics) => {
                let messages: Vec<String> = diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect();
                panic!("{}: {}", file.display(), messages.join("\n"))
            }
        };
        let name = file.display().to_string();
        let compared = compare(&name, &model);
        assert!(compared > 50, "{name}: only {compared} states");
        // Languages without undefined values store their variables in another way.
        let mut total = model;
        for variable in total.variables.indices() {
            total.variables[variable].may_be_undefined = false;
        }
        compare(&format!("{name}, never undefined"), &total);
    }
}

/// What nests deeply, runs long or has many instances must not exhaust anything.
#[test]
fn on_extremes() {
    let chain = |operator: &str, terms: usize| vec!["n"; terms].join(operator);
    let conjunction: Vec<String> = (0..3000).map(|value| format!("n != {}", value % 90 + 10)).collect();
    let nested = format!("{}n{}", "(1 + ".repeat(120), ")".repeat(120));
    let cases: String = (0..2000).map(|value| format!("case {}: n := {};\n", value + 10, value % 7)).collect();
    let text = format!(
        "var n: 0..5000; m: 0..5000;
        function down(v: 0..5000): 0..5000; begin if v = 0 then return 0; end; return down(v - 1) + 1; end;
        procedure add(var a: 0..5000; v: 0..5000); begin if v > 0 then a := a + 1; add(a, v - 1); end; end;
        startstate begin n := 1; m := 0; end;
        rule \"chain\" n < 4 ==> begin n := ({sum}) % 11; end;
        rule \"conjunction\" {conjunction} ==> begin n := n + 1; end;
        rule \"nested\" n = 9 & {nested} = 129 ==> begin n := 10; end;
        rule \"switch\" n >= 10 ==> begin switch n {cases} end; end;
        ruleset k: 1..4 do
          rule \"deep\" n = 5 ==> begin m := down(k * k * k * 10); end;
          rule \"deep by reference\" n = 6 & m < 300 ==> begin add(m, k * 37); end;
        end;
        rule \"long\" n = 7 & m = 0 ==> begin
          m := 0;
          for i := 0 to 5000 do for j := 0 to 80 do m := (m + j) % 97; end; end;
        end;
        ruleset a: 0..2100 do rule \"many\" a = n + m & n = 3 ==> begin n := 8; m := a % 3; end; end;
        invariant forall i: 0..200 do i < n -> i < 5000 end;",
        sum = chain(" + ", 200),
        conjunction = conjunction.join(" & "),
    );
    let model = match LANGUAGE.load(Source::new("extremes.m", text), &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{:?}", diagnostics.iter().map(|entry| &entry.message).collect::<Vec<_>>()),
    };
    assert!(compare_loosely("extremes", &model) > 20);
}

#[test]
fn on_the_example_models() {
    for file in models_in(&here("../../models/murphi")) {
        let (name, model) = read(&file).expect("an example is a model");
        compare(&name, &model);
    }
}

#[test]
fn on_real_models() {
    let Some(folder) = corpus("murphi", "evaluators on real models") else { return };
    let files = models_in(&folder);
    let models: Vec<(String, Model)> = files.iter().filter_map(|file| read(file)).collect();
    assert!(models.len() > 100, "most of the corpus can be read");
    for (name, model) in &models {
        compare(name, model);
    }
}
