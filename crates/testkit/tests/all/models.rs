//! Every example model, with every set of constants that its header names, in every search order
//! and on every transition system: the verdict, the states and the rules fired are the expected
//! ones, and every violation comes with a run that replays.

use quotient_explicit::check_system;
use quotient_ir::{Interpreter, Layout, Model, PropertyKind, replay, verify};
use quotient_search::{EngineError, Report, SearchOptions, SearchOrder, Silent, Spill, Verdict};
use quotient_testkit::examples::{Example, murphi_examples, workspace};
use quotient_testkit::expectation::Case;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::reference::ReferenceSystem;
use quotient_testkit::search::check;
use quotient_testkit::verdict::{Answer, VerdictClass};

/// The reference interpreter is naive; beyond this many states it would take most of the time.
const LARGEST_FOR_REFERENCE: u64 = 15_000;

/// What runs the model under a search.
#[derive(Clone, Copy, Debug, PartialEq)]
enum System {
    Default,
    /// The default one on several threads, and on disk.
    Threads,
    Reference,
}

fn search(model: &Model, system: System, options: &SearchOptions) -> Result<Report, EngineError> {
    match system {
        System::Default => check(model, options, &mut Silent),
        System::Threads => {
            let parallel = SearchOptions { threads: 3, ..options.clone() };
            let report = check(model, &parallel, &mut Silent)?;
            let alone = check(model, options, &mut Silent)?;
            // Only the memory may differ.
            let without_memory = |report: Report| Report { memory_bytes: 0, disk_bytes: 0, words: 0, ..report };
            assert_eq!(without_memory(report.clone()), without_memory(alone));
            let liveness = model.properties.iter().any(|property| property.kind == PropertyKind::AlwaysReachable);
            if options.order == SearchOrder::BreadthFirst && !liveness && report.states <= LARGEST_FOR_REFERENCE {
                let spill = Some(Spill { folder: std::env::temp_dir(), max_bytes: None });
                let on_disk = SearchOptions { max_memory: Some(1), spill, ..options.clone() };
                let on_disk = check(model, &on_disk, &mut Silent)?;
                assert_eq!(without_memory(on_disk), without_memory(report.clone()));
            }
            Ok(report)
        }
        System::Reference => {
            let layout = Layout::new(model)?;
            let interpreter = Interpreter::new(model, &layout);
            check_system(&ReferenceSystem::new(&interpreter), &interpreter, options, &mut Silent)
        }
    }
}

/// Checks one model in one way; says what is wrong.
fn run(example: &Example, case: &Case, system: System, order: SearchOrder) -> Result<(), String> {
    let model = example.load(case)?;
    verify(&model).map_err(|faults| faults.join("\n"))?;
    let options = SearchOptions { order, deadlock: example.header.deadlock, ..SearchOptions::default() };
    let report = search(&model, system, &options).map_err(|error| error.to_string())?;
    let answer = Answer::of(&model, &report);
    let expected = &case.verdict;

    let holds = expected.class == VerdictClass::Holds;
    if holds || order == SearchOrder::BreadthFirst {
        if (answer.class, answer.states, answer.rules_fired) != (expected.class, case.states, case.rules_fired) {
            return Err(format!(
                "{} ({} states, {} rules fired) and not {} ({}, {}): {:?}",
                answer.class,
                answer.states,
                answer.rules_fired,
                expected.class,
                case.states,
                case.rules_fired,
                answer.subject
            ));
        }
        if expected.subject.is_some() && expected.subject != answer.subject {
            return Err(format!("violates {:?} and not {:?}", answer.subject, expected.subject));
        }
    } else if report.verdict != Verdict::Violated {
        // Depth-first may come across another violation first.
        return Err(format!("{} and not violated", answer.class));
    }

    let layout = Layout::new(&model).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(&model, &layout);
    for property in report.properties.iter().filter(|property| property.verdict == Verdict::Violated) {
        let trace = property.trace.as_ref().ok_or("a violation without a run")?;
        if trace.violation.is_none() {
            return Err("a run without a violation".into());
        }
        replay(&interpreter, trace).map_err(|error| format!("the run does not replay: {error}"))?;
    }
    Ok(())
}

#[test]
fn every_model_gives_what_its_header_expects() {
    let examples = murphi_examples();
    let mut jobs = Vec::new();
    for example in &examples {
        for case in &example.header.cases {
            for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
                for system in [System::Default, System::Threads, System::Reference] {
                    if system != System::Reference || case.states <= LARGEST_FOR_REFERENCE {
                        jobs.push((example, case, system, order));
                    }
                }
            }
        }
    }
    assert!(jobs.len() > examples.len(), "there are models to check");
    let wrong: Vec<String> = map_on_workers(2, &jobs, |&(example, case, system, order)| {
        let result = run(example, case, system, order);
        result.err().map(|error| format!("{} {}, {system:?}, {order:?}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_models_show_what_the_list_of_models_says() {
    let list = std::fs::read_to_string(workspace().join("models/README.md")).expect("the list of models");
    let examples = murphi_examples();
    for example in &examples {
        assert!(
            list.contains(&format!("(murphi/{})", example.name)),
            "models/README.md does not list {}",
            example.name
        );
    }
    let expects = |class| examples.iter().any(|example| example.header.cases[0].verdict.class == class);
    for class in [VerdictClass::Holds, VerdictClass::Invariant, VerdictClass::Deadlock] {
        assert!(expects(class), "no model whose result is {class}");
    }
    let models: Vec<Model> = examples
        .iter()
        .map(|example| example.load(&example.header.cases[0]).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    let has = |kind| models.iter().any(|model| model.properties.iter().any(|property| property.kind == kind));
    for kind in [PropertyKind::Invariant, PropertyKind::Cover, PropertyKind::AlwaysReachable, PropertyKind::Assumption]
    {
        assert!(has(kind), "no model with {kind:?}");
    }
}

/// The number of rules fired on the shortest way to the violation of an example.
fn steps_to_violation(name: &str) -> usize {
    let examples = murphi_examples();
    let example = examples.iter().find(|example| example.name == name).expect("the example exists");
    let model = example.load(&example.header.cases[0]).unwrap_or_else(|error| panic!("{error}"));
    let options = SearchOptions { deadlock: example.header.deadlock, ..SearchOptions::default() };
    let report = check(&model, &options, &mut Silent).expect("a report");
    let trace = report.properties.iter().find_map(|property| property.trace.as_ref()).expect("a violation");
    trace.steps.len() - 1
}

#[test]
fn breadth_first_finds_the_shortest_runs() {
    // Lowe's attack: begin with the intruder, which plays messages 1 and 2 through; done.
    assert_eq!(steps_to_violation("needham_schroeder.m"), 4);
    // Ask, accept, grant, receive: once for the forgotten reader, once for the writer.
    assert_eq!(steps_to_violation("german_forgotten_reader.m"), 8);
    // Everyone takes one fork.
    assert_eq!(steps_to_violation("dining_deadlock.m"), 4);
}
