//! The quotient against the whole state space: the same verdicts, orbit sizes that add up to the
//! states of the model, runs that replay, and the figures of the papers.

use quotient_engines::{Report, SearchOptions, SearchOrder, Silent, Verdict, check, check_quotient};
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, PropertyId, replay};
use quotient_symmetry::{Canonicalizer, LivenessInstances, detect_with};
use quotient_testkit::examples::{load_murphi, murphi_examples, workspace};
use quotient_testkit::pool::map_on_workers;

/// Searches one state of each orbit of the symmetries that detection finds.
fn reduced(model: &Model, options: &SearchOptions) -> Result<Report, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let detection = detect_with(model, &layout, &properties, LivenessInstances::OneByOne).map_err(|error| error.to_string())?;
    let canonicalizer = Canonicalizer::new(model, &layout, &detection.group).map_err(|error| error.to_string())?;
    let report = check_quotient(model, &layout, &canonicalizer, options, &mut Silent).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    for property in &report.properties {
        if let Some(trace) = &property.trace {
            replay(&interpreter, trace).map_err(|error| format!("a run does not replay: {error}"))?;
        }
    }
    Ok(report)
}

#[test]
fn reduced_and_whole_searches_agree_on_the_example_models() {
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in 0..example.header.cases.len() {
            for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
                if example.header.cases[case].states <= 60_000 {
                    work.push((example.clone(), case, order));
                }
            }
        }
    }
    let wrong: Vec<String> = map_on_workers(2, &work, |(example, case, order)| {
        let case = &example.header.cases[*case];
        let compare = || -> Result<(), String> {
            let model = example.load(case)?;
            let options = SearchOptions { order: *order, deadlock: example.header.deadlock, ..SearchOptions::default() };
            let whole = check(&model, &options, &mut Silent).map_err(|error| error.to_string())?;
            let quotient = reduced(&model, &options)?;
            if whole.verdict != quotient.verdict {
                return Err(format!("{:?} reduced, {:?} whole", quotient.verdict, whole.verdict));
            }
            if whole.verdict == Verdict::Holds && quotient.represented != whole.represented {
                return Err(format!("{} represented, {} whole", quotient.represented, whole.represented));
            }
            if quotient.states > whole.states {
                return Err(format!("{} stored, {} whole", quotient.states, whole.states));
            }
            let lengths = |report: &Report| -> Vec<usize> {
                report.properties.iter().filter_map(|entry| Some(entry.trace.as_ref()?.steps.len())).collect()
            };
            if *order == SearchOrder::BreadthFirst && lengths(&whole) != lengths(&quotient) {
                return Err(format!("runs of {:?} steps reduced, {:?} whole", lengths(&quotient), lengths(&whole)));
            }
            Ok(())
        };
        compare().err().map(|error| format!("{} {}, {order:?}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A model, constants, stored states, represented states.
type Figure = (&'static str, &'static [(&'static str, &'static str)], u64, u64);

fn check_figures(folder: &std::path::Path, figures: &[Figure]) {
    let wrong: Vec<String> = map_on_workers(2, figures, |&(name, constants, stored, represented)| {
        let text = std::fs::read_to_string(folder.join(name)).expect("the model");
        let constants: Vec<(String, String)> =
            constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let model = load_murphi(name, &text, &constants).unwrap_or_else(|error| panic!("{error}"));
        let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
        let report = reduced(&model, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = (report.states, report.represented.to_string());
        (found != (stored, represented.to_string()))
            .then(|| format!("{name} {constants:?}: {found:?} and not ({stored}, {represented})"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tables II and III of Zhang et al. (2013), with the orbits of the full group. The larger ones are
/// in the benchmark.
#[test]
fn the_figures_of_constraint_based_detection() {
    check_figures(
        &workspace().join("models/murphi"),
        &[
            ("dining_philosophers.m", &[("N", "10")], 15489, 154450),
            ("three_tiered.m", &[("A", "3"), ("B", "3"), ("C", "2")], 462, 7840),
            ("three_tiered.m", &[("A", "3"), ("B", "3"), ("C", "3")], 286, 21952),
            ("three_tiered.m", &[("A", "4"), ("B", "4"), ("C", "3")], 1496, 188272),
            ("two_hop_colouring.m", &[("N", "3")], 233, 13824),
        ],
    );
}

/// The orbits that rumur counts with exhaustive symmetry reduction on declared scalarsets.
#[test]
fn the_orbits_of_the_benchmark_models() {
    let folder = workspace().join("../shared/peers/murphi");
    if !folder.is_dir() {
        println!("skipped: the benchmark models are not there");
        return;
    }
    check_figures(
        &folder,
        &[
            ("german_4.m", &[], 27554, 544617),
            ("peterson_6.m", &[], 4789, 2111008),
            ("mutex_8.m", &[], 209, 176240),
            ("mutex_10.m", &[], 321, 2368104),
            ("chan_8.m", &[], 77, 1315209),
            ("dining_10.m", &[], 15489, 154450),
        ],
    );
}
