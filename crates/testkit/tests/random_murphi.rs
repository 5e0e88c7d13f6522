//! Random Murphi programs: the oracle, the search in both orders, rumur, and all of them on the
//! printed program agree.
//!
//! A few dozen programs are tried; `QUOTIENT_RANDOM_PROGRAMS` sets another number, and
//! `QUOTIENT_RANDOM_SEED` the first seed.

use quotient_engines::{
    PropertyReport, Report, SearchOptions, SearchOrder, Silent, SpecialisedSystem, Subject, Verdict, check,
    check_system,
};
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, PrintOptions, PropertyKind, print_murphi, replay};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::oracle::{Exploration, explore};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::verdict::{Answer, VerdictClass};

fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")),
        Err(_) => default,
    }
}

/// A class as rumur would name it: it looks at cover before liveness properties, whatever the
/// order of declaration.
fn class_in_order(model: &Model, report: &Report) -> VerdictClass {
    let missed = |property: &PropertyReport| {
        property.verdict == Verdict::Violated
            && matches!(property.subject, Subject::Property(id) if model.properties[id].kind == PropertyKind::Cover)
    };
    match Answer::of(model, report).class {
        VerdictClass::Liveness if report.properties.iter().any(missed) => VerdictClass::Cover,
        class => class,
    }
}

/// Whether two classes are the same as far as C fixes it: which of two faults in one expression
/// comes first is up to the compiler of rumur's verifiers.
fn alike(one: VerdictClass, other: VerdictClass) -> bool {
    let fault = |class| matches!(class, VerdictClass::UndefinedRead | VerdictClass::Range);
    one == other || (fault(one) && fault(other))
}

/// Compares the search with the oracle.
fn compare_search(model: &Model, deadlock: DeadlockMode, expected: &Exploration) -> Result<(), String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    let system = SpecialisedSystem::new(&interpreter);
    for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
        let options = SearchOptions { order, deadlock, ..SearchOptions::default() };
        let report = check_system(&system, &interpreter, &options, &mut Silent).map_err(|error| error.to_string())?;
        let found = (class_in_order(model, &report), report.states, report.transitions);
        let complete = matches!(expected.class, VerdictClass::Holds | VerdictClass::Cover | VerdictClass::Liveness);
        // In another order another violation may come first, after other states.
        let same = match order {
            SearchOrder::BreadthFirst => found == (expected.class, expected.states, expected.rules_fired),
            SearchOrder::DepthFirst if complete => found == (expected.class, expected.states, expected.rules_fired),
            SearchOrder::DepthFirst => !matches!(
                found.0,
                VerdictClass::Holds | VerdictClass::Cover | VerdictClass::Liveness | VerdictClass::Inconclusive
            ),
        };
        if !same {
            let expected = (expected.class, expected.states, expected.rules_fired);
            return Err(format!("the {order:?} search says {found:?}, the oracle {expected:?}"));
        }
        for trace in report.properties.iter().filter_map(|property| property.trace.as_ref()) {
            replay(&interpreter, trace).map_err(|error| format!("a trace does not replay: {error}"))?;
        }
    }
    Ok(())
}

/// Everything about one program that can differ.
fn compare(text: &str, deadlock: DeadlockMode, rumur: Option<&Rumur>) -> Result<VerdictClass, String> {
    let model = load_murphi("random.m", text, &[]).map_err(|errors| format!("the program is refused: {errors}"))?;
    let expected = explore(&model, deadlock, 100_000);
    compare_search(&model, deadlock, &expected)?;

    let printed = print_murphi(&model, &PrintOptions::default()).map_err(|error| error.to_string())?;
    let read = load_murphi("printed.m", &printed, &[])
        .map_err(|errors| format!("the printed program is refused: {errors}\n{printed}"))?;
    let again = print_murphi(&read, &PrintOptions::default()).map_err(|error| error.to_string())?;
    let third = load_murphi("again.m", &again, &[]).map_err(|errors| format!("{errors}\n{again}"))?;
    let third = print_murphi(&third, &PrintOptions::default()).map_err(|error| error.to_string())?;
    if third != again {
        return Err(format!("printed text does not come back:\n{again}\nbecomes\n{third}"));
    }
    let options = SearchOptions { deadlock, ..SearchOptions::default() };
    let report = check(&read, &options, &mut Silent).map_err(|error| error.to_string())?;
    let found = (class_in_order(&read, &report), report.states, report.transitions);
    if found != (expected.class, expected.states, expected.rules_fired) {
        let Exploration { class, states, rules_fired, .. } = expected;
        let expected = (class, states, rules_fired);
        return Err(format!("the printed program gives {found:?}, the original {expected:?}:\n{printed}"));
    }

    if let Some(rumur) = rumur {
        for (what, text, wide_values) in [("original", text, true), ("printed", &printed, false)] {
            let options = RumurOptions { deadlock, wide_values, ..RumurOptions::default() };
            let answer =
                rumur.check(text, &options).map_err(|failure| format!("the {what} program: {failure}\n{text}"))?;
            let counts = (answer.states, answer.rules_fired);
            if !alike(answer.class, expected.class) || counts != (Some(expected.states), Some(expected.rules_fired)) {
                let Exploration { class, states, rules_fired, .. } = expected;
                let expected = (class, states, rules_fired);
                return Err(format!("rumur says {answer:?} of the {what} program, we say {expected:?}\n{text}"));
            }
        }
    }
    Ok(expected.class)
}

/// The smallest options under which the program of a seed still shows a difference.
fn shrunk(seed: u64, deadlock: DeadlockMode, rumur: Option<&Rumur>) -> Option<String> {
    for size in 1..=ProgramOptions::default().size {
        for most_states in [20, 100, 500, ProgramOptions::default().most_states] {
            let text = random_program(seed, &ProgramOptions { size, most_states });
            if let Err(difference) = compare(&text, deadlock, rumur) {
                return Some(format!(
                    "seed {seed}, size {size}, {most_states} states, {deadlock:?}: {difference}\n{text}"
                ));
            }
        }
    }
    None
}

#[test]
fn random_programs_get_one_answer_from_all() {
    let count = number_from("QUOTIENT_RANDOM_PROGRAMS", 40);
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let rumur = Rumur::find_or_explain("comparing random programs with rumur");
    let seeds: Vec<u64> = (first..first + count).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let deadlock = match seed % 4 {
            0 => DeadlockMode::Off,
            1 => DeadlockMode::Stuck,
            _ => DeadlockMode::Stuttering,
        };
        let text = random_program(seed, &ProgramOptions::default());
        compare(&text, deadlock, rumur.as_ref())
            .map_err(|difference| shrunk(seed, deadlock, rumur.as_ref()).unwrap_or(difference))
    });
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(
        wrong.is_empty(),
        "{} of {count} programs differ\n{}",
        wrong.len(),
        wrong.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n----\n")
    );
    // A generator whose programs all end the same way would test nothing.
    let mut classes: Vec<&str> = results.iter().flatten().map(|class| class.word()).collect();
    classes.sort_unstable();
    classes.dedup();
    assert!(count < 40 || classes.len() >= 4, "only {classes:?}");
}
