//! Searches with counters against explicit ones: the same verdicts and shortest runs, as many states represented as there
//! are, as many stored as there are orbits, and as many firings, on random models of each language and on the example
//! models; and counts that are known.
//!
//! `QUOTIENT_RANDOM_COUNTERS` sets the number of models of each sort, `QUOTIENT_RANDOM_SEED` the first seed.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use num_bigint::BigUint;
use quotient::languages::{Language, LoadOptions, load};
use quotient_counters::{CountersBounds, CountersError, CountersReport, check_by_counters};
use quotient_explicit::check;
use quotient_ir::{Budget, DeadlockMode, Layout, Model, PropertyId, PropertyKind, Source};
use quotient_search::{Report, SearchOptions, Silent, StopReason, Subject, Verdict};
use quotient_symmetry::{Preserved, TextSymmetries, symmetries_of_text};
use quotient_systems::plan_in_steps;
use quotient_testkit::examples::{
    csp_examples, dve_examples, load_murphi, murphi_examples, promela_examples, with_files_beside,
};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_models::Sort;
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};

/// Larger state spaces are left out.
const LARGEST: u64 = 20_000;

/// What happened over all models.
#[derive(Default)]
struct Tally {
    compared: AtomicU64,
    /// How often each reason was given.
    refused: Mutex<BTreeMap<String, u64>>,
    violated: AtomicU64,
    orbits: AtomicU64,
    /// There is nothing to count.
    without: AtomicU64,
}

fn violated(report: &Report) -> Vec<(Subject, Option<usize>)> {
    let wrong = report.properties.iter().filter(|property| property.verdict == Verdict::Violated);
    wrong.map(|property| (property.subject, property.trace.as_ref().map(|trace| trace.steps.len()))).collect()
}

/// What is checked of a model: all that is about single states.
fn checked(model: &Model) -> Vec<PropertyId> {
    let is_kept = |kind| matches!(kind, PropertyKind::Invariant | PropertyKind::Cover | PropertyKind::AlwaysReachable);
    model.properties.iter_enumerated().filter(|(_, property)| is_kept(property.kind)).map(|(id, _)| id).collect()
}

fn by_counters(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
) -> Option<Result<CountersReport, CountersError>> {
    let properties = options.properties.as_deref().unwrap_or_default();
    let text = symmetries_of_text(model, layout, Preserved::Properties(properties), &Budget::unlimited());
    let text = text.ok().flatten().filter(|text| !text.free().is_empty())?;
    Some(check_by_counters(model, layout, &text, (options, CountersBounds::default()), &mut Silent))
}

/// Compares a search with counters with the explicit one.
fn compare(model: &Model, deadlock: DeadlockMode, tally: &Tally) -> Result<(), String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let properties = checked(model);
    let options = SearchOptions {
        deadlock,
        properties: Some(properties.clone()),
        statistics: true,
        max_states: Some(LARGEST),
        ..SearchOptions::default()
    };
    let report = match by_counters(model, &layout, &options) {
        None => {
            tally.without.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        Some(Err(CountersError::Refused(refused))) => {
            *tally.refused.lock().expect("no panic while it is held").entry(refused.reason).or_default() += 1;
            return Ok(());
        }
        Some(Err(error)) => return Err(error.to_string()),
        Some(Ok(found)) => found.report,
    };
    let whole = check(model, &layout, None, &options, &mut Silent).map_err(text)?;
    match (&whole.stop_reason, &report.stop_reason) {
        (Some(StopReason::StateLimit(_) | StopReason::Exhausted(_)), _) | (_, Some(StopReason::Exhausted(_))) => {
            return Ok(());
        }
        _ => {}
    }
    tally.compared.fetch_add(1, Ordering::Relaxed);
    if whole.stop_reason.is_some() {
        tally.violated.fetch_add(1, Ordering::Relaxed);
        // Of several violations in one level, another one may come first. Each has a run, and these are shortest.
        let (here, there) = (violated(&report), violated(&whole));
        let length = |found: &[(Subject, Option<usize>)]| found.iter().filter_map(|(_, length)| *length).max();
        let is_near = match (length(&here), length(&there)) {
            // A step goes wrong where a state is expanded, which is a level later than where it is found.
            (Some(here), Some(there)) => here.abs_diff(there) <= 1,
            (here, there) => here == there,
        };
        return match (whole.verdict, report.verdict) {
            (Verdict::Violated, Verdict::Violated) if is_near => Ok(()),
            (Verdict::Inconclusive, Verdict::Inconclusive | Verdict::Violated) => Ok(()),
            (Verdict::Violated, Verdict::Inconclusive) if matches!(report.stop_reason, Some(StopReason::Fault(_))) => {
                Ok(())
            }
            _ => Err(format!("{here:?} ({:?}) instead of {there:?} ({:?})", report.stop_reason, whole.stop_reason)),
        };
    }
    let verdicts = |report: &Report| report.properties.iter().map(|it| (it.subject, it.verdict)).collect::<Vec<_>>();
    if report.stop_reason.is_some() || verdicts(&report) != verdicts(&whole) {
        return Err(format!("{:?} and {:?} instead of {:?}", report.stop_reason, verdicts(&report), verdicts(&whole)));
    }
    let expected = BigUint::from(whole.states);
    if report.represented.as_ref() != Some(&expected) {
        return Err(format!("{:?} states represented instead of {expected}", report.represented));
    }
    if report.firings != whole.firings {
        return Err(format!("firings {:?} instead of {:?}", report.firings, whole.firings));
    }
    if report.never_fired != whole.never_fired {
        return Err(format!("{:?} never fired instead of {:?}", report.never_fired, whole.never_fired));
    }
    if report.depth != whole.depth {
        return Err(format!("a depth of {} instead of {}", report.depth, whole.depth));
    }
    // As many states are stored as there are orbits of the permutations that the text shows.
    let preserved = Preserved::Properties(&properties);
    let counted = symmetries_of_text(model, &layout, preserved, &Budget::unlimited()).ok().flatten();
    if counted.is_some_and(|counted| are_all_counted(&counted)) {
        let mut by_text = None;
        plan_in_steps(model, &layout, preserved, &Budget::unlimited(), |plan| by_text = Some(plan)).map_err(text)?;
        let reduced = check(model, &layout, by_text.as_ref(), &options, &mut Silent).map_err(text)?;
        tally.orbits.fetch_add(1, Ordering::Relaxed);
        if (report.states, report.transitions) != (reduced.states, reduced.transitions) {
            return Err(format!(
                "{} states and {} steps instead of {} and {}",
                report.states, report.transitions, reduced.states, reduced.transitions
            ));
        }
        if report.levels != reduced.levels {
            return Err(format!("levels {:?} instead of {:?}", report.levels, reduced.levels));
        }
    }
    Ok(())
}

/// Whether all permutations that the text shows are those of values that are counted: classes with gaps are not.
fn are_all_counted(text: &TextSymmetries) -> bool {
    let is_contiguous = |class: &[i64]| class.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    text.tied_structure().is_none() && text.free().iter().all(|(_, class)| is_contiguous(class))
}

fn compare_all(name: &str, count: u64, model: impl Fn(u64) -> Option<(Model, DeadlockMode)> + Sync) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let count = number_from("QUOTIENT_RANDOM_COUNTERS", count);
    let tally = Tally::default();
    let seeds: Vec<u64> = (first..first + count).collect();
    let wrong: Vec<String> = map_on_workers(2, &seeds, |&seed| {
        let (model, deadlock) = model(seed)?;
        compare(&model, deadlock, &tally).err().map(|error| format!("{name} {seed}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    let Tally { compared, refused, violated, orbits, without } = tally;
    let [compared, violated, orbits, without] = [compared, violated, orbits, without].map(|it| it.into_inner());
    let summary = format!(
        "{name}: {compared} compared, {violated} of them wrong, {orbits} with all orbits, {without} without families, \
         refused: {refused:?}"
    );
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{summary}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn of_sort(sort: Sort) -> impl Fn(u64) -> Option<(Model, DeadlockMode)> + Sync {
    move |seed| Some((sort.model(seed)?, sort.deadlock(seed)))
}

#[test]
fn symmetric_murphi_programs() {
    compare_all("symmetric murphi", 150, |seed| {
        let model = load_murphi("random", &symmetric_program(seed, Kind::Symmetric), &[]).ok()?;
        Some((model, Sort::Murphi.deadlock(seed)))
    });
}

#[test]
fn nearly_symmetric_murphi_programs() {
    compare_all("nearly symmetric murphi", 60, |seed| {
        let model = load_murphi("random", &symmetric_program(seed, Kind::NearlySymmetric), &[]).ok()?;
        Some((model, Sort::Murphi.deadlock(seed)))
    });
}

#[test]
fn random_murphi_programs() {
    compare_all("murphi", 60, of_sort(Sort::Murphi));
}

#[test]
fn loosely_coupled_processes() {
    compare_all("loose", 30, of_sort(Sort::Loose));
}

#[test]
fn random_promela_programs() {
    compare_all("promela", 20, of_sort(Sort::Promela));
}

#[test]
fn random_dve_systems() {
    compare_all("dve", 20, of_sort(Sort::Dve));
}

#[test]
fn random_b_machines() {
    compare_all("b", 8, of_sort(Sort::B));
}

/// The text shows values to be interchangeable that no state holds, and there are as many other symmetries: more states are
/// stored than there are orbits of those.
#[test]
fn values_that_no_state_holds() {
    let tally = Tally::default();
    let symmetric = load_murphi("random", &symmetric_program(15_667, Kind::Symmetric), &[]).expect("it is valid");
    let others = [19_272, 20_056, 21_700].map(|seed| (Sort::Murphi.model(seed), Sort::Murphi.deadlock(seed)));
    let others = others.into_iter().map(|(model, deadlock)| (model.expect("it is valid"), deadlock));
    for (model, deadlock) in others.chain([(symmetric, Sort::Murphi.deadlock(15_667))]) {
        assert_eq!(compare(&model, deadlock, &tally), Ok(()));
    }
    assert_eq!(tally.orbits.into_inner(), 4);
}

/// Loops of functions that a guard calls split entities of several local states, which the guard must not leave behind.
#[test]
fn guards_that_count() {
    let text = "const N: 5; type proc: 0 .. N - 1; var st: array [proc] of 0 .. 2; owner: proc;
        function busy(): 0 .. N; var c: 0 .. N;
        begin c := 0; for x: proc do if st[x] = 1 then c := c + 1; end; end; return c; end;
        function free(): 0 .. N; var c: 0 .. N;
        begin c := 0; for x: proc do if st[x] = 0 then c := c + 1; end; end; return c; end;
        startstate begin for p: proc do st[p] := 0; end; undefine owner; end;
        ruleset p: proc do ruleset q: proc do
          rule p != q & st[p] = 0 & busy() < 3 & free() > 1 ==> begin st[p] := 1; owner := q; end;
          rule st[p] = 1 & st[q] = 1 & busy() + free() > 2 ==> begin st[q] := 2; st[p] := 0; end;
        end; end;
        ruleset p: proc do
          rule busy() > 0 & st[p] = 2 ==> begin st[p] := 0; owner := p; end;
        end;
        invariant busy() < 4;";
    let model = load_murphi("counting.m", text, &[]).expect("it is valid");
    let tally = Tally::default();
    assert_eq!(compare(&model, DeadlockMode::Off, &tally), Ok(()));
    assert_eq!(tally.orbits.into_inner(), 1, "{:?}", tally.refused);
    for seed in [10_014, 10_056] {
        let model = Sort::B.model(seed).expect("it is valid");
        let tally = Tally::default();
        assert_eq!(compare(&model, Sort::B.deadlock(seed), &tally), Ok(()));
        assert_eq!(tally.orbits.into_inner(), 1, "{:?}", tally.refused);
    }
}

/// Steps that copy or set cells of all processes, and conditions about several processes: what is remembered of them must
/// have all that they depend on.
#[test]
fn steps_for_all_and_conditions_about_several() {
    let text = |rules: &str| {
        format!(
            "const N: 3; type proc: 0 .. N - 1; kind: 0 .. 2; list: array [proc] of kind;
            var st: list; old: list; owner: proc; last: proc; turn: kind;
            function other(all: list; p: proc): kind; begin return all[p]; end;
            function shown(p: proc): boolean;
            begin return exists q: proc do p != q & st[q] = st[p] & !isundefined(owner) & owner = q end; end;
            procedure take(all: list; p: proc); begin st[p] := all[p]; end;
            startstate begin for p: proc do st[p] := 0; old[p] := 0; end; undefine owner; undefine last; turn := 0; end;
            ruleset p: proc do
              rule st[p] < 2 ==> begin st[p] := st[p] + 1; owner := p; end;
              {rules}
            end;
            cover exists p: proc do st[p] = 2 & exists q: proc do q != p & st[q] = 1
              & !isundefined(old[p]) & !isundefined(old[q]) & old[p] = old[q] end end;
            cover exists p: proc do forall q: proc do q = p -> st[q] = 2 & !isundefined(owner) & owner != q end end;"
        )
    };
    let rules = [
        "rule st[p] = 2 & old[p] = 0 ==> begin old := st; end;",
        "rule st[p] = 2 & old[p] = 0 ==> begin old := st; st[p] := 0; end;
         rule st[p] = 1 & old[p] = 2 ==> begin st := old; undefine owner; end;",
        "rule st[p] = 2 & old[p] = 0 ==> begin st[p] := turn; old := st; last := p; end;
         rule st[p] = 1 & !isundefined(last) & last = p ==> begin clear st; turn := (turn + 1) % 3; end;",
        "rule st[p] = 2 ==> begin clear old; old[p] := 1; undefine last; end;
         rule old[p] = 1 ==> begin st := old; last := p; end;",
        "rule st[p] = 1 & other(st, p) = 1 ==> var mine: list; begin mine := old; old := st; st[p] := mine[p]; end;
         rule st[p] = 2 & !shown(p) ==> begin take(old, p); old[p] := 2; end;",
        "rule shown(p) & st[p] = 2 ==> begin old[p] := 1; last := owner; undefine owner; end;
         ruleset q: proc do rule p != q & st[p] = 2 & old[q] = 1 & !isundefined(last) & last != q
           ==> begin st[q] := 0; st[p] := old[p]; last := q; end; end;",
        "ruleset q: proc do rule !isundefined(owner) & owner != q & st[q] = 2 & st[p] = st[owner]
           ==> begin old := st; st[owner] := 0; owner := p; end; end;",
        "rule exists q: proc do st[q] = 2 & exists r: proc do r != q & r != p & old[r] = old[q] & st[r] = 1 end end
           ==> begin old := st; clear st; last := p; end;",
        "ruleset k: kind do rule st[p] = k & old[p] != k & turn < 2
           ==> begin old := st; assert turn = 0 | (exists q: proc do st[q] != k end); turn := turn + 1; end; end;",
    ];
    let tally = Tally::default();
    for rules in rules {
        let (model, _) = with_strict_quantifiers(load_murphi("several.m", &text(rules), &[]).expect("it is valid"));
        assert_eq!(compare(&model, DeadlockMode::Off, &tally), Ok(()), "{rules}");
    }
    // One of them goes wrong.
    assert_eq!(tally.orbits.into_inner(), rules.len() as u64 - 1, "{:?}", tally.refused);
}

/// A model, with strict quantifiers if that shows more symmetries, and what its text shows.
fn with_strict_quantifiers(model: Model) -> (Model, TextSymmetries) {
    let layout = Layout::new(&model).expect("it is small");
    let properties = checked(&model);
    let preserved = Preserved::Properties(&properties);
    let read = symmetries_of_text(&model, &layout, preserved, &Budget::unlimited()).expect("unlimited");
    let text = read.expect("it is small");
    let strict = text.with_strict_quantifiers(&model, &layout, preserved, &Budget::unlimited()).expect("unlimited");
    strict.unwrap_or((model, text))
}

/// What the text computes from a process may have more values than a table: a class for each, all the same or two.
#[test]
fn classes_of_many_processes() {
    let text = "const N: 5000; SIZE: 5000; type proc: 1 .. N;
        var at: array [proc] of 0 .. 1;
        function class(p: proc): 0 .. N; begin if (p - 1) / SIZE < 1 then return (p - 1) / SIZE; end; return 1; end;
        startstate begin for p: proc do at[p] := 0; end; end;
        ruleset p: proc do
          rule at[p] = 0 & (forall q: proc do class(q) < class(p) -> at[q] = 1 end) ==> begin at[p] := 1; end;
        end;";
    for (size, families) in [(5000, vec![5000]), (4990, vec![4990, 10])] {
        let constants = [("SIZE".to_owned(), size.to_string())];
        let model = load_murphi("classes.m", text, &constants).expect("it is valid");
        let layout = Layout::new(&model).expect("it is small");
        let (model, text) = with_strict_quantifiers(model);
        assert_eq!(text.free().iter().map(|(_, class)| class.len()).collect::<Vec<_>>(), families);
        let properties = Some(Vec::new());
        let options = SearchOptions { deadlock: DeadlockMode::Off, properties, ..SearchOptions::default() };
        let run = (&options, CountersBounds::default());
        let report = check_by_counters(&model, &layout, &text, run, &mut Silent).expect("it is symmetric").report;
        assert_eq!(report.states, 5001);
    }
}

/// A cover that one process reaches has no value for another one.
#[test]
fn covers_without_a_value() {
    let text = symmetric_program(127_111, Kind::NearlySymmetric);
    let model = load_murphi("random", &text, &[]).expect("it is valid");
    let tally = Tally::default();
    assert_eq!(compare(&model, DeadlockMode::Off, &tally), Ok(()));
    assert_eq!(tally.violated.into_inner(), 1, "{:?}", tally.refused);
}

/// What can always be reached, for each process or for each pair of them: some may die, or there is no way back.
#[test]
fn what_can_always_be_reached_for_each() {
    let text = |rules: &str| {
        format!(
            "const N: 3; type proc: 0 .. N - 1; var st: array [proc] of 0 .. 2; owner: proc;
            startstate begin for p: proc do st[p] := 0; end; undefine owner; end;
            ruleset p: proc do
              rule st[p] = 0 ==> begin st[p] := 1; owner := p; end;
              rule st[p] = 1 ==> begin st[p] := 0; end;
              {rules}
            end;
            ruleset p: proc do liveness \"one\" st[p] = 1; end;
            ruleset p: proc do ruleset q: proc do liveness \"two\" p = q | (st[p] = 1 & st[q] = 0); end; end;"
        )
    };
    for (rules, expected) in [
        ("", Verdict::Holds),
        ("rule st[p] = 1 ==> begin st[p] := 2; end;", Verdict::Violated),
        ("rule st[p] = 1 ==> begin st[p] := 2; end; rule st[p] = 2 ==> begin st[p] := 0; end;", Verdict::Holds),
        ("rule st[p] = 1 & !isundefined(owner) & owner != p ==> begin st[p] := 2; end;", Verdict::Violated),
    ] {
        let model = load_murphi("live.m", &text(rules), &[]).expect("it is valid");
        let layout = Layout::new(&model).expect("it is small");
        let options = SearchOptions {
            properties: Some(checked(&model)),
            deadlock: DeadlockMode::Off,
            ..SearchOptions::default()
        };
        let whole = check(&model, &layout, None, &options, &mut Silent).expect("it is small");
        let found = by_counters(&model, &layout, &options).expect("it is symmetric").expect("it has counters").report;
        assert_eq!((whole.verdict, found.verdict), (expected, expected), "{rules}");
        let verdicts = |report: &Report| report.properties.iter().map(|it| it.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&found), verdicts(&whole), "{rules}");
    }
}

#[test]
fn murphi_examples_agree() {
    let examples = murphi_examples();
    let tally = Tally::default();
    let wrong: Vec<String> = map_on_workers(2, &examples, |example| {
        let model = load_murphi(&example.name, &example.text, &[]).expect("an example is valid");
        compare(&model, example.header.deadlock, &tally).err().map(|error| format!("{}: {error}", example.name))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.compared.into_inner() > 8, "many have interchangeable values");
}

#[test]
fn other_examples_agree() {
    let paths = [promela_examples(), dve_examples(), csp_examples()].concat();
    let tally = Tally::default();
    let wrong: Vec<String> = map_on_workers(2, &paths, |path| {
        let text = std::fs::read_to_string(path).expect("an example is a text");
        let name = path.to_string_lossy();
        let language = Language::from_file_name(&name).expect("its ending tells the language");
        let source = with_files_beside(Source::new(name.as_ref(), text), language);
        let loaded = load(source, language, &LoadOptions::default()).expect("an example is valid");
        compare(&loaded.model, DeadlockMode::Stuck, &tally).err().map(|error| format!("{name}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SEMAPHORE: &str = include_str!("../../../../models/murphi/semaphore_mutex.m");

/// Figure 7 of the survey: counters for the local states of a semaphore mutex, with sum n.
#[test]
fn the_semaphore_mutex_has_two_n_plus_one_states() {
    for processes in [2u64, 3, 10, 1000] {
        let constants = [("N".to_owned(), processes.to_string())];
        let model = load_murphi("semaphore", SEMAPHORE, &constants).expect("it is valid");
        let layout = Layout::new(&model).expect("it is small");
        let options = SearchOptions { properties: Some(checked(&model)), ..SearchOptions::default() };
        let found = by_counters(&model, &layout, &options).expect("it is symmetric").expect("it has counters");
        let CountersReport { report, families, most_entities, .. } = found;
        assert_eq!(report.verdict, Verdict::Holds);
        // Nobody is critical: 0 to n try; somebody is: 0 to n - 1 do.
        assert_eq!(report.states, 2 * processes + 1);
        let two = BigUint::from(2u32);
        let expected = two.pow(processes as u32) + two.pow(processes as u32 - 1) * processes;
        assert_eq!(report.represented, Some(expected));
        assert_eq!((families, most_entities), (vec![processes], processes.min(3) as usize));
    }
}
