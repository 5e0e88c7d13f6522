//! Random Murphi programs: the oracle, the search in both orders, compiled code, rumur, and all of them on the
//! printed program agree.
//!
//! A few dozen programs are tried; `QUOTIENT_RANDOM_PROGRAMS` sets another number, and
//! `QUOTIENT_RANDOM_SEED` the first seed.

use std::collections::{HashMap, HashSet};

use quotient_explicit::check_system;
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, PrintOptions, PropertyKind, Rule, print_murphi, replay};
use quotient_search::{PropertyReport, Report, SearchOptions, SearchOrder, Silent, Subject, Verdict};
use quotient_systems::SpecialisedSystem;
use quotient_testkit::agreement::compare_compiled;
use quotient_testkit::examples::load_murphi;
use quotient_testkit::oracle::{Exploration, explore, explore_with_priorities};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::search::check;
use quotient_testkit::switches::number_from;
use quotient_testkit::verdict::{Answer, VerdictClass};

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

/// Whether a printed program gives what the original gives: what a multiset cannot do is said with
/// an error statement, and what is absent from it is undefined.
fn alike_printed(printed: VerdictClass, original: VerdictClass) -> bool {
    use VerdictClass::{ErrorStatement, Range, UndefinedRead};
    printed == original || (original == Range && matches!(printed, ErrorStatement | UndefinedRead))
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
fn compare(text: &str, setting: &Setting, rumur: Option<&Rumur>) -> Result<VerdictClass, String> {
    let Setting { deadlock, extensions } = *setting;
    let model = load_murphi("random.m", text, &[]).map_err(|errors| format!("the program is refused: {errors}"))?;
    let expected = explore(&model, deadlock, 100_000);
    compare_priorities(text, deadlock, &expected)?;
    compare_search(&model, deadlock, &expected)?;
    compare_compiled(&model, 500)?;

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
    let counts = (expected.states, expected.rules_fired);
    if !alike_printed(found.0, expected.class) || (found.1, found.2) != counts {
        let Exploration { class, states, rules_fired, .. } = expected;
        let expected = (class, states, rules_fired);
        return Err(format!("the printed program gives {found:?}, the original {expected:?}:\n{printed}"));
    }

    if let Some(rumur) = rumur {
        for (what, text, wide_values) in [("original", text, true), ("printed", &printed, false)] {
            if what == "original" && extensions {
                continue;
            }
            let options = RumurOptions { deadlock, wide_values, ..RumurOptions::default() };
            let answer =
                rumur.check(text, &options).map_err(|failure| format!("the {what} program: {failure}\n{text}"))?;
            let same_counts = (answer.states, answer.rules_fired) == (Some(counts.0), Some(counts.1));
            if !(alike(answer.class, expected.class) || alike_printed(answer.class, expected.class)) || !same_counts {
                let Exploration { class, states, rules_fired, .. } = expected;
                let expected = (class, states, rules_fired);
                return Err(format!("rumur says {answer:?} of the {what} program, we say {expected:?}\n{text}"));
            }
        }
    }
    Ok(expected.class)
}

/// The number in front of the name of a rule, 0 unless there is one, and the text without such numbers.
fn priorities(text: &str) -> (HashMap<String, u64>, String) {
    let mut numbers = HashMap::new();
    let mut stripped = String::new();
    for line in text.lines() {
        let numbered = line.strip_prefix("rule ").filter(|rest| rest.starts_with(|it: char| it.is_ascii_digit()));
        if let Some((number, rest)) = numbered.and_then(|rest| rest.split_once(' ')) {
            let name = rest.split('"').nth(1).expect("rules have names");
            numbers.insert(name.to_owned(), number.parse().expect("it starts with a digit"));
            stripped.push_str("rule ");
            stripped.push_str(rest);
        } else {
            stripped.push_str(line);
        }
        stripped.push('\n');
    }
    (numbers, stripped)
}

/// Compares a program with the same one without priorities, of which the oracle is told them.
fn compare_priorities(text: &str, deadlock: DeadlockMode, found: &Exploration) -> Result<(), String> {
    let (numbers, stripped) = priorities(text);
    if numbers.is_empty() {
        return Ok(());
    }
    let model = load_murphi("stripped.m", &stripped, &[])?;
    let priority = |rule: &Rule| rule.name.as_ref().and_then(|name| numbers.get(name)).copied().unwrap_or(0);
    let expected = explore_with_priorities(&model, deadlock, 100_000, &priority);
    let complete = |class| matches!(class, VerdictClass::Holds | VerdictClass::Cover | VerdictClass::Liveness);
    // Rules are looked at in another order, so that another violation may come first.
    let same = if complete(expected.class) {
        let states = |exploration: &Exploration| -> HashSet<Vec<Option<i64>>> {
            exploration.reached.iter().map(|state| state.0.clone()).collect()
        };
        (found.class, found.rules_fired) == (expected.class, expected.rules_fired) && states(found) == states(&expected)
    } else {
        !complete(found.class)
    };
    if same {
        return Ok(());
    }
    let counts = |it: &Exploration| (it.class, it.states, it.rules_fired);
    Err(format!("with priorities {:?}, the oracle told of them {:?}", counts(found), counts(&expected)))
}

/// The smallest options under which the program of a seed still shows a difference.
fn shrunk(seed: u64, setting: &Setting, rumur: Option<&Rumur>) -> Option<String> {
    let Setting { extensions, .. } = *setting;
    for size in 1..=ProgramOptions::default().size {
        for most_states in [20, 100, 500, ProgramOptions::default().most_states] {
            let options = ProgramOptions { size, most_states, extensions };
            let text = random_program(seed, &options);
            if let Err(difference) = compare(&text, setting, rumur) {
                return Some(format!("seed {seed}, {options:?}, {setting:?}: {difference}\n{text}"));
            }
        }
    }
    None
}

/// What varies from program to program besides the program.
#[derive(Debug)]
struct Setting {
    deadlock: DeadlockMode,
    extensions: bool,
}

/// Compares the answers about the programs of many seeds.
fn compare_many(count: u64, extensions: bool) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let rumur = Rumur::find_or_skip("comparing random programs with rumur");
    let seeds: Vec<u64> = (first..first + count).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let deadlock = match seed % 4 {
            0 => DeadlockMode::Off,
            1 => DeadlockMode::Stuck,
            _ => DeadlockMode::Stuttering,
        };
        let setting = Setting { deadlock, extensions };
        let text = random_program(seed, &ProgramOptions { extensions, ..ProgramOptions::default() });
        compare(&text, &setting, rumur.as_ref())
            .map_err(|difference| shrunk(seed, &setting, rumur.as_ref()).unwrap_or(difference))
    });
    let wrong: Vec<&str> = results.iter().filter_map(|result| result.as_ref().err()).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {count} programs differ\n{}", wrong.len(), wrong.join("\n----\n"));
    // A generator whose programs all end the same way would test nothing.
    let mut classes: Vec<&str> = results.iter().flatten().map(|class| class.word()).collect();
    classes.sort_unstable();
    classes.dedup();
    assert!(count < 40 || classes.len() >= 4, "only {classes:?}");
}

#[test]
fn random_programs_get_one_answer_from_all() {
    compare_many(number_from("QUOTIENT_RANDOM_PROGRAMS", 40), false);
}

#[test]
fn random_programs_beyond_rumur_get_one_answer_from_all() {
    compare_many(number_from("QUOTIENT_RANDOM_PROGRAMS", 40), true);
}
