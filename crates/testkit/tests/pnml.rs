//! Petri nets: those of the Model Checking Contest with the numbers that it publishes, our own with what their headers
//! expect, and random ones against a direct interpreter, whole and reduced, state by state and by sets.

use std::path::Path;

use quotient::{
    Control, DetectOptions, Engine, Error, ExploreOptions, Language, Model, NetCounts, Options, Plan, Silent,
    StopReason, Symmetry, Verdict, detect, explore,
};
use quotient_testkit::examples::pnml_examples;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::random_pnml::{Explored, random_net};
use quotient_testkit::switches::number_from;

/// The numbers of a net, or why they are not known.
fn counts(model: &Model, engine: Engine, symmetry: Symmetry) -> Result<Result<NetCounts, Option<StopReason>>, Error> {
    let options = ExploreOptions { engine, symmetry, ..ExploreOptions::default() };
    let found = explore(model, &options, &Control::default(), &mut Silent)?;
    Ok(found.net.ok_or(found.report.stop_reason))
}

/// Nets that take longer than a test should.
const LARGE: [&str; 2] = ["philo.pnml", "SharedMemory-COL-000100.pnml"];

#[test]
fn nets_of_the_contest_have_the_numbers_that_it_publishes() {
    let Some(folder) = corpus("pnml", "nets of the Model Checking Contest") else { return };
    let table = std::fs::read_to_string(folder.join("expected.csv")).expect("the answers of the contest");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let [file, _, states, transitions, place, marking] = columns[..] else { panic!("a line of six: {line}") };
        if LARGE.contains(&file) && number_from("QUOTIENT_LARGE_NETS", 0) == 0 {
            continue;
        }
        let model = Model::from_path(folder.join(file)).expect("a net of the contest is read");
        for symmetry in [Symmetry::Off, Symmetry::Auto] {
            if LARGE.contains(&file) && symmetry == Symmetry::Off {
                continue;
            }
            let found = counts(&model, Engine::Auto, symmetry).expect("a result").expect("a finished search");
            let numbers = [
                found.states.to_string(),
                found.transitions.to_string(),
                found.most_in_place.to_string(),
                found.most_in_marking.to_string(),
            ];
            assert_eq!(numbers, [states, transitions, place, marking], "{file}, {symmetry:?}");
        }
        compared += 1;
    }
    assert!(compared >= 10, "{compared} nets compared");
}

/// The value of a line of the header.
fn expected<'t>(text: &'t str, key: &str) -> &'t str {
    let header = text.split("-->").next().unwrap_or_default();
    let value = header.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("the header has no line `{key}: …`"))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[test]
fn own_nets_give_what_their_headers_expect() {
    let paths = pnml_examples();
    assert!(paths.len() >= 3);
    for path in paths {
        let name = name_of(&path);
        let text = std::fs::read_to_string(&path).expect("a net is a text");
        let model = Model::from_path(&path).expect("our nets are right");
        let report = Plan::new(&model, Options::default()).expect("a plan").run().expect("a report");
        let verdict = match expected(&text, "expect") {
            "holds" => Verdict::Holds,
            "violated deadlock" => Verdict::Violated,
            other => panic!("{name}: what does `{other}` expect?"),
        };
        assert_eq!(report.verdict, verdict, "{name}");
        let group = detect(&model, &DetectOptions::default(), &Control::default(), &mut Silent).expect("symmetries");
        let order = group.group().map(|group| group.order().to_string());
        assert_eq!(order.as_deref(), Some(expected(&text, "order")), "{name}");
        for (engine, symmetry) in searches() {
            let found = counts(&model, engine, symmetry).expect("a result").expect("a finished search");
            assert_eq!(found.states.to_string(), expected(&text, "states"), "{name}, {engine:?}, {symmetry:?}");
            assert_eq!(found.transitions.to_string(), expected(&text, "transitions"), "{name}, {engine:?}");
            let tokens = format!("{} in a place, {} in a marking", found.most_in_place, found.most_in_marking);
            assert_eq!(tokens, expected(&text, "tokens"), "{name}, {engine:?}, {symmetry:?}");
        }
    }
}

fn searches() -> [(Engine, Symmetry); 3] {
    [(Engine::Explicit, Symmetry::Off), (Engine::Explicit, Symmetry::Auto), (Engine::Symbolic, Symmetry::Off)]
}

/// Compares a random net with the oracle; whether it was small enough.
fn compare(seed: u64) -> Result<bool, String> {
    let net = random_net(seed);
    let text = net.text();
    let Some(oracle) = net.explore(400, 50) else { return Ok(false) };
    let told = |problem: String| format!("seed {seed}: {problem}\n{text}");
    let model = Model::from_text("random.pnml", &text, Language::Pnml).map_err(|error| told(format!("{error:?}")))?;
    for (engine, symmetry) in searches() {
        let found = counts(&model, engine, symmetry).map_err(|error| told(error.to_string()))?;
        let found = found.map_err(|reason| told(format!("{engine:?}, {symmetry:?}: not finished, {reason:?}")))?;
        let Explored { states, transitions, most_in_place, most_in_marking, .. } = oracle;
        let expected =
            NetCounts { states: states.into(), transitions: transitions.into(), most_in_place, most_in_marking };
        if found != expected {
            return Err(told(format!("{engine:?}, {symmetry:?}: {found:?}, not {expected:?}")));
        }
    }
    let plan = Plan::new(&model, Options::default()).map_err(|error| told(error.to_string()))?;
    let report = plan.run().map_err(|error| told(error.to_string()))?;
    let verdict = if oracle.deadlock { Verdict::Violated } else { Verdict::Holds };
    if report.verdict != verdict {
        return Err(told(format!("deadlock: {:?}, not {verdict:?}", report.verdict)));
    }
    Ok(true)
}

#[test]
fn random_nets_against_a_direct_interpreter() {
    let seeds: Vec<u64> = (1..=number_from("QUOTIENT_RANDOM_NETS", 150)).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    let compared = results.iter().filter(|it| matches!(it, Ok(true))).count();
    assert!(2 * compared > results.len(), "{compared} compared");
}
