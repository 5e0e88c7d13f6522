//! Slices of random Murphi programs: on every reachable state, the slice does on the projection what the program does on
//! the state. So verdicts are the same, and the states of the slice are the projections of those of the program.
//!
//! A few hundred programs are tried; `QUOTIENT_RANDOM_PROGRAMS` sets another number, and `QUOTIENT_RANDOM_SEED` the
//! first seed.

use std::collections::HashSet;

use quotient::{
    Checkpoint, Language, Limits, Options, PartialOrder, Plan, Reduction, Report, Spill, Strategy, Subject, Symmetry,
    Verdict, ViolationLimit,
};
use quotient_functions::{Slice, slice};
use quotient_ir::{
    DeadlockMode, FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Valuation, replay, verify,
};
use quotient_testkit::examples::{load_murphi, murphi_examples};
use quotient_testkit::outcomes::{shown, truth};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_b::random_machine;
use quotient_testkit::random_murphi::{ProgramOptions, Random, random_program};
use quotient_testkit::random_promela::{random_promela, random_promela_claim, random_promela_hidden};
use quotient_testkit::switches::number_from;
use quotient_testkit::verdict::VerdictClass;

/// The number of states of a program that are compared with its slice.
const LIMIT: usize = 3000;

/// Whether no assumption drops a state.
fn is_assumed(interpreter: &Interpreter<'_>, state: &Valuation) -> bool {
    let assumptions = interpreter.model().properties.iter_enumerated();
    assumptions.filter(|(_, property)| property.kind == PropertyKind::Assumption).all(|(id, property)| {
        let mut instances = interpreter.instances(&property.parameters, &property.locals);
        instances.all(|arguments| interpreter.holds(id, &arguments, state) == Ok(true))
    })
}

/// The numbers of states of a program and of its slice, if they agree in every step from so many states.
fn compare(
    model: &Model,
    slice: &Slice,
    checked: &[PropertyId],
    deadlock: DeadlockMode,
    limit: usize,
) -> Result<(usize, usize), String> {
    verify(&slice.model).map_err(|problems| format!("the slice is not well formed: {problems:?}"))?;
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let interpreters = [Interpreter::new(model, &layout), Interpreter::new(&slice.model, &layout)];
    let [whole, sliced] = &interpreters;
    let mut pending: Vec<Valuation> = Vec::new();
    let mut known: HashSet<Valuation> = HashSet::new();
    let mut projections: HashSet<Valuation> = HashSet::new();
    for start in model.starts.indices() {
        let entry = &model.starts[start];
        for arguments in whole.instances(&entry.parameters, &entry.locals) {
            let outcome = whole.run_start(start, &arguments);
            let other = sliced.run_start(start, &arguments);
            if shown(&outcome, |it| slice.project(&layout, it)) != shown(&other, |_| ()) {
                return Err(format!("start {arguments:?}: {outcome:?} and {other:?}"));
            }
            if let Outcome::Next { state, .. } = outcome
                && is_assumed(whole, &state)
                && known.insert(state.clone())
            {
                pending.push(state);
            }
        }
    }
    while let Some(state) = pending.pop() {
        if known.len() > limit {
            break;
        }
        let mut projection = state.clone();
        slice.project(&layout, &mut projection);
        projections.insert(projection.clone());
        for &property in checked {
            let entry = &model.properties[property];
            for arguments in whole.instances(&entry.parameters, &entry.locals) {
                let one = truth(whole.holds(property, &arguments, &state));
                let two = truth(sliced.holds(property, &arguments, &projection));
                if one != two {
                    return Err(format!("property {property:?} {arguments:?}: {one} and {two} in {state:?}"));
                }
            }
        }
        let mut alive = [false; 2];
        for rule in model.rules.indices() {
            let entry = &model.rules[rule];
            for arguments in whole.instances(&entry.parameters, &entry.locals) {
                let enabled = whole.enabled(rule, &arguments, &state);
                let one = truth(enabled.clone());
                let two = truth(sliced.enabled(rule, &arguments, &projection));
                if one != two {
                    return Err(format!("guard of {rule:?} {arguments:?}: {one} and {two} in {state:?}"));
                }
                if enabled != Ok(true) {
                    continue;
                }
                let outcome = whole.fire(rule, &arguments, &state);
                let other = sliced.fire(rule, &arguments, &projection);
                if shown(&outcome, |it| slice.project(&layout, it)) != shown(&other, |_| ()) {
                    return Err(format!("{rule:?} {arguments:?} in {state:?}: {outcome:?} and {other:?}"));
                }
                if let (Outcome::Next { state: next, .. }, Outcome::Next { state: other, .. }) = (outcome, other) {
                    alive[0] |= next != state;
                    alive[1] |= other != projection || slice.moving_rules.contains(&rule);
                    if is_assumed(whole, &next) && known.insert(next.clone()) {
                        pending.push(next);
                    }
                }
            }
        }
        if deadlock == DeadlockMode::Stuttering && alive[0] != alive[1] {
            return Err(format!("alive: {alive:?} in {state:?}"));
        }
    }
    Ok((known.len(), projections.len()))
}

/// The seed, and the numbers of states before and after if there is a slice.
fn try_seed(seed: u64) -> Result<Option<(usize, usize)>, String> {
    let options =
        ProgramOptions { extensions: seed % 2 == 1, size: 2 + (seed % 4) as u32, ..ProgramOptions::default() };
    let text = random_program(seed, &options);
    // A few programs compare what cannot be compared.
    let Ok(model) = load_murphi("random.m", &text, &[]) else { return Ok(None) };
    let layout = Layout::new(&model).map_err(|error| error.to_string())?;
    let mut random = Random::new(seed);
    let deadlock = *random.pick(&[DeadlockMode::Stuttering, DeadlockMode::Stuck]);
    let all: Vec<PropertyId> = model.properties.indices().collect();
    let checked: Vec<PropertyId> = all.into_iter().filter(|_| random.percent(30)).collect();
    let Some(slice) = slice(&model, &layout, &checked, deadlock) else { return Ok(None) };
    let compared = compare(&model, &slice, &checked, deadlock, LIMIT);
    compared.map(Some).map_err(|error| {
        format!(
            "seed {seed}, {deadlock:?}, {checked:?}: {error}\n{:?} {:?}\n{text}",
            slice.unread, slice.only_definedness
        )
    })
}

#[test]
fn slices_of_random_programs_do_the_same() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let count = number_from("QUOTIENT_RANDOM_PROGRAMS", 400);
    let seeds: Vec<u64> = (first..first + count).collect();
    let results = map_on_workers(2, &seeds, |&seed| try_seed(seed));
    let mut sliced = 0;
    let mut smaller = 0;
    for result in results {
        match result {
            Ok(Some((states, projections))) => {
                sliced += 1;
                smaller += usize::from(projections < states);
            }
            Ok(None) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        sliced * 10 > count as usize && smaller * 20 > count as usize,
        "of {count}, {sliced} have slices, {smaller} smaller"
    );
}

/// The same for random programs in the other languages.
#[test]
fn slices_of_other_languages_do_the_same() {
    let mut sliced = [0, 0];
    for seed in 0..number_from("QUOTIENT_RANDOM_PROGRAMS", 120) {
        let (language, text) = match seed % 4 {
            0 => (Language::B, random_machine(seed)),
            1 => (Language::Promela, random_promela_claim(seed)),
            2 => (Language::Promela, random_promela_hidden(seed)),
            _ => (Language::Promela, random_promela(seed)),
        };
        let Ok(model) = quotient::Model::from_text("random", &text, language) else { continue };
        let properties: Vec<PropertyId> = model.ir().properties.indices().filter(|_| seed % 3 > 0).collect();
        let Some(slice) = slice(model.ir(), model.layout(), &properties, DeadlockMode::Stuck) else { continue };
        sliced[usize::from(language == Language::B)] += 1;
        let compared = compare(model.ir(), &slice, &properties, DeadlockMode::Stuck, 100);
        assert!(compared.is_ok(), "seed {seed}: {compared:?}\n{:?}\n{text}", slice.unread);
    }
    assert!(sliced[0] > 10 && sliced[1] > 2, "{sliced:?}");
}

fn checked(model: &quotient::Model, options: &Options) -> Report {
    Plan::new(model, options).expect("a plan").run().expect("a report")
}

/// A model from a text.
fn murphi(text: &str) -> quotient::Model {
    quotient::Model::from_text("model.m", text, Language::Murphi).expect("a model")
}

/// The verdicts of a report, in order.
fn verdicts(report: &Report) -> Vec<(Subject, Verdict)> {
    report.properties.iter().map(|property| (property.subject, property.verdict)).collect()
}

/// Every run of a report is one of the whole model.
fn replays(model: &quotient::Model, report: &Report) {
    let interpreter = Interpreter::new(model.ir(), model.layout());
    for trace in report.properties.iter().flat_map(|property| property.traces()).chain(&report.fault) {
        replay(&interpreter, trace).expect("a run of the model");
    }
}

/// Random programs through the facade: verdicts as without slices, whatever searches them; one state for each
/// projection; runs of the whole model.
#[test]
fn verdicts_of_random_programs_do_not_depend_on_slices() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut smaller = 0;
    for seed in 5100..5140 {
        let text = random_program(seed, &ProgramOptions { size: 2 + (seed % 3) as u32, ..ProgramOptions::default() });
        let Ok(model) = quotient::Model::from_text("random.m", &text, Language::Murphi) else { continue };
        let deadlock = if seed % 2 == 0 { DeadlockMode::Stuttering } else { DeadlockMode::Stuck };
        let plain = Options { deadlock: Some(deadlock), ..Options::default() };
        let unreduced = plain.clone().symmetry(Symmetry::Off);
        let exact = checked(&model, &unreduced.clone().exact_counts());
        assert!(exact.slice.is_none());
        let spill = Some(Spill { folder: folder.path().to_owned(), max_bytes: None });
        let limits = Limits { max_memory: None, ..Limits::default() };
        let has_liveness = model.ir().properties.iter().any(|it| it.kind == PropertyKind::AlwaysReachable);
        let mut ways = vec![
            unreduced.clone(),
            plain.clone(),
            Options { order: quotient::SearchOrder::DepthFirst, ..plain.clone() },
            Options { violations: ViolationLimit::All, ..plain.clone() },
            plain.clone().reduction(Reduction::By(Strategy::MarkersCanonical)),
        ];
        if !has_liveness {
            ways.push(plain.clone().threads(2));
            ways.push(Options { spill, limits, ..plain.clone() });
        }
        for options in ways {
            let report = checked(&model, &options);
            assert_eq!(report.verdict, exact.verdict, "seed {seed}, {options:?}\n{text}");
            if exact.verdict == Verdict::Holds {
                assert_eq!(verdicts(&report), verdicts(&exact), "seed {seed}, {options:?}\n{text}");
            }
            replays(&model, &report);
        }
        let sliced = checked(&model, &unreduced);
        let Some(_) = &sliced.slice else { continue };
        if exact.verdict == Verdict::Holds {
            let properties: Vec<PropertyId> = model.ir().properties.indices().collect();
            let slice = slice(model.ir(), model.layout(), &properties, deadlock).expect("a slice");
            let (states, projections) = compare(model.ir(), &slice, &[], deadlock, LIMIT).expect("the same steps");
            if states < LIMIT {
                assert_eq!((exact.states, sliced.states), (states as u64, projections as u64), "seed {seed}\n{text}");
                smaller += usize::from(projections < states);
            }
        }
    }
    assert!(smaller > 2, "{smaller}");
}

const COUNTER: &str = "
    type value: 0..2; process: scalarset(3);
    var at: array[process] of value; seen: array[process] of value; last: process; total: 0..9;
    startstate for p: process do at[p] := 0; seen[p] := 0; end; total := 0; end;
    ruleset p: process do
      rule \"step\" at[p] < 2 ==> at[p] := at[p] + 1; seen[p] := at[p]; last := p; end;
      rule \"back\" at[p] = 2 ==> at[p] := 0; end;
    end;
    invariant \"small\" forall p: process do at[p] <= 2 end;";

/// A search that is interrupted and resumed counts the same, and does not resume a search of the whole model.
#[test]
fn checkpoints_of_slices() {
    let model = murphi(COUNTER);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved");
    let plain = Options::default().symmetry(Symmetry::Off);
    let whole = checked(&model, &plain);
    let slice = whole.slice.as_ref().expect("a slice");
    assert_eq!(
        (&slice.unread[..], &slice.only_definedness[..]),
        (&["seen".to_owned(), "last".into(), "total".into()][..], &[][..])
    );
    assert_eq!(whole.states, 27);
    let limits = Limits { max_states: Some(10), ..Limits::default() };
    let begun = Options { checkpoint: Some(Checkpoint::new(&file)), limits, ..plain.clone() };
    assert_eq!(checked(&model, &begun).verdict, Verdict::Inconclusive);
    let resumed = Options { resume: Some(file.clone()), ..plain.clone() };
    let report = checked(&model, &resumed);
    assert_eq!((report.verdict, report.states, report.transitions), (Verdict::Holds, 27, whole.transitions));
    let other = Plan::new(&model, &resumed.exact_counts()).and_then(|plan| plan.run());
    let message = other.expect_err("another search").to_string();
    assert!(message.contains("--exact-counts was not given and is on"), "{message}");
}

/// What is written to a slot that is left out is still checked.
#[test]
fn errors_in_writes_of_what_is_left_out() {
    for (statement, kind) in [
        ("unread := n + 1", FaultKind::OutOfRange),
        ("unread := 4 / (2 - n)", FaultKind::DivisionByZero),
        ("list[n + 1] := 0", FaultKind::IndexOutOfRange),
        ("unread := never", FaultKind::UndefinedRead),
        ("list[never] := 0", FaultKind::UndefinedRead),
        ("unread := first(n + 1)", FaultKind::OutOfRange),
    ] {
        let text = format!(
            "var n: 0..2; unread: 0..2; never: 0..2; list: array[0..2] of 0..2;
             function first(x: 0..2): 0..2; begin return x; end;
             startstate n := 0; end;
             rule n < 2 ==> n := n + 1; end;
             rule n = 2 ==> {statement}; n := 0; end;"
        );
        let model = murphi(&text);
        let report = checked(&model, &Options::default());
        let slice = report.slice.as_ref().expect("a slice");
        assert!(slice.unread.contains(&"unread".to_owned()), "{statement}: {slice:?}");
        let traces: Vec<_> = report.properties.iter().flat_map(|property| property.traces()).collect();
        let fault = traces[0].violation.as_ref().and_then(|violation| violation.fault()).expect("a run-time error");
        assert_eq!(fault.kind, kind, "{statement}: {fault}");
        assert!(!fault.message.contains("`value`"), "{fault}");
        replays(&model, &report);
    }
}

/// The example models: verdicts as expected, and the states that the headers name.
#[test]
fn example_models() {
    for example in murphi_examples() {
        let case = &example.header.cases[0];
        let model = murphi(&example.text);
        let options =
            Options { deadlock: Some(example.header.deadlock), ..Options::default().partial_order(PartialOrder::Off) };
        let report = checked(&model, &options.symmetry(Symmetry::Off));
        let is_violated = case.verdict.class != VerdictClass::Holds;
        assert_eq!(report.verdict == Verdict::Violated, is_violated, "{}", example.name);
        let expected = example.header.sliced_states.unwrap_or(case.states);
        assert_eq!(report.states, expected, "{}: {:?}", example.name, report.slice);
        replays(&model, &report);
    }
}

/// What stands for all values is not interchangeable with them, so declared symmetries keep everything.
#[test]
fn declared_symmetries_keep_everything() {
    let model = murphi(COUNTER);
    let declared = checked(&model, &Options::default().symmetry(Symmetry::Declared));
    let exact = checked(&model, &Options::default().symmetry(Symmetry::Declared).exact_counts());
    assert_eq!((declared.slice, declared.states), (None, exact.states));
}

/// The rules of a model, what of it is left out, and whether it has a deadlock.
type StutteringCase = (&'static str, &'static [&'static str], bool);

/// Where a step that changes nothing counts as none, what keeps a state alive stays, unless a rule always changes
/// something.
#[test]
fn what_keeps_a_state_alive() {
    let cases: [StutteringCase; 7] = [
        // The second rule changes `u` once, and then nothing.
        ("rule x < 2 ==> x := x + 1; end; rule x = 2 ==> u := 1; end;", &["b"], true),
        // It always changes `u`.
        ("rule x < 2 ==> x := x + 1; end; rule x = 2 ==> u := (u + 1) % 3; end;", &["b"], false),
        ("rule x < 2 ==> x := x + 1; end; rule x = 2 ==> b := !b; end;", &["u", "b"], false),
        // One of its instances always changes `u`.
        ("rule x < 2 ==> x := x + 1; end; ruleset v: 0..2 do rule x = 2 ==> u := v; end; end;", &["u", "b"], false),
        // There is only one instance.
        ("rule x < 2 ==> x := x + 1; end; ruleset v: 1..1 do rule x = 2 ==> u := v; end; end;", &["b"], true),
        // Only one of the instances can fire.
        ("rule x < 2 ==> x := x + 1; end; ruleset v: 0..2 do rule x = v & x = 2 ==> u := v; end; end;", &["b"], true),
        // The branch that writes to `u` also changes `x`.
        ("rule x != 2 ==> if x = 0 then u := 1; x := 1; else x := 2; end; end;", &["u", "b"], true),
    ];
    for (rules, left_out, is_dead) in cases {
        let text = format!("var x: 0..2; u: 0..2; b: boolean; startstate x := 0; u := 0; b := false; end; {rules}");
        let model = murphi(&text);
        let exact = checked(&model, &Options::default().exact_counts());
        let report = checked(&model, &Options::default());
        assert_eq!((exact.verdict == Verdict::Violated, verdicts(&report)), (is_dead, verdicts(&exact)), "{rules}");
        replays(&model, &report);
        let slice = report.slice.as_ref();
        let names: Vec<&str> =
            slice.iter().flat_map(|it| it.unread.iter().chain(&it.only_definedness)).map(String::as_str).collect();
        assert_eq!(names, left_out, "{rules}");
        let stuck = checked(&model, &Options { deadlock: Some(DeadlockMode::Stuck), ..Options::default() });
        let stuck_exact =
            checked(&model, &Options { deadlock: Some(DeadlockMode::Stuck), ..Options::default().exact_counts() });
        assert_eq!(verdicts(&stuck), verdicts(&stuck_exact), "{rules}");
    }
}
