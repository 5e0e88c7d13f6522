//! The solver engine against the explicit one and a brute-force search: the same verdicts by each method, with and
//! without symmetries, runs as short as possible, and proofs of example models.
//!
//! Some hundred random models are tried; `QUOTIENT_RANDOM_MODELS` sets another number of each sort, and
//! `QUOTIENT_RANDOM_SEED` the first seed.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::thread::available_parallelism;

use quotient::{Engine, Error, Language, Plan, Refusal};
use quotient_ir::{
    DeadlockMode, Interpreter, Interrupt, Layout, Model, Outcome, PropertyId, PropertyKind, Trace, Valuation,
};
use quotient_proofs::{Operators, SolverMethod, SolverReport, as_aiger, check_by_solver};
use quotient_search::{EngineError, Observer, Progress, SearchOptions, Silent, StopReason, Verdict};
use quotient_symmetry::CertifiedGroup;
use quotient_systems::SymmetrySource;
use quotient_testkit::abc::Abc;
use quotient_testkit::examples::{Example, load_murphi, murphi_examples};
use quotient_testkit::expectation::Case;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::search::{check, plan};
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::verdict::VerdictClass;

fn workers() -> usize {
    available_parallelism().map_or(2, usize::from)
}

fn report(wrong: &[String], tried: usize) {
    assert!(wrong.is_empty(), "{} of {tried} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn of_kind(model: &Model, kind: PropertyKind) -> Vec<PropertyId> {
    let properties = model.properties.iter_enumerated();
    properties.filter(|(_, property)| property.kind == kind).map(|(id, _)| id).collect()
}

/// The symmetries of a model that preserve its invariants.
fn group(model: &Model, layout: &Layout) -> Option<CertifiedGroup> {
    let invariants = of_kind(model, PropertyKind::Invariant);
    let plan = plan(model, layout, &invariants, SymmetrySource::Detected, None).ok()?;
    Some(plan.symmetry.group)
}

/// The number of steps, the start included, of a shortest run to something wrong: its last state violates something, or a
/// step from it goes wrong. `None` if there are too many states.
fn shortest(model: &Model, layout: &Layout, deadlock: DeadlockMode, limit: usize) -> Option<Option<usize>> {
    let interpreter = Interpreter::new(model, layout);
    let mut seen: HashSet<Vec<Option<i64>>> = HashSet::new();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        let instances = interpreter.instances(&entry.parameters, &entry.locals);
        outcomes.extend(instances.map(|arguments| interpreter.run_start(start, &arguments)));
    }
    let is_fault = |outcomes: &[Outcome]| outcomes.iter().any(|outcome| matches!(outcome, Outcome::Fault(_)));
    if is_fault(&outcomes) {
        return Some(Some(0));
    }
    let mut length = 0;
    while !outcomes.is_empty() {
        length += 1;
        let mut level: Vec<Valuation> = Vec::new();
        for outcome in std::mem::take(&mut outcomes) {
            let Outcome::Next { state, .. } = outcome else { continue };
            let mut exists = true;
            'assumptions: for property in of_kind(model, PropertyKind::Assumption) {
                let entry = &model.properties[property];
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    match interpreter.holds(property, &arguments, &state) {
                        Ok(true) => {}
                        Ok(false) => {
                            exists = false;
                            break 'assumptions;
                        }
                        Err(_) => return Some(Some(length)),
                    }
                }
            }
            if exists && seen.insert(state.0.clone()) {
                level.push(state);
            }
        }
        if seen.len() > limit {
            return None;
        }
        for state in &level {
            for property in of_kind(model, PropertyKind::Invariant) {
                let entry = &model.properties[property];
                let mut instances = interpreter.instances(&entry.parameters, &entry.locals);
                let holds = |arguments: Vec<i64>| interpreter.holds(property, &arguments, state) == Ok(true);
                if !interpreter.passes(state) && !instances.all(holds) {
                    return Some(Some(length));
                }
            }
            let mut own: Vec<Outcome> = Vec::new();
            for (rule, entry) in model.rules.iter_enumerated() {
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    match interpreter.enabled(rule, &arguments, state) {
                        Ok(true) => own.push(interpreter.fire(rule, &arguments, state)),
                        Ok(false) => {}
                        Err(fault) => own.push(Outcome::Fault(fault)),
                    }
                }
            }
            if is_fault(&own) {
                return Some(Some(length));
            }
            let moves = own.iter().any(|outcome| match outcome {
                Outcome::Next { state: next, .. } => deadlock == DeadlockMode::Stuck || next != state,
                _ => false,
            });
            if deadlock != DeadlockMode::Off && !moves {
                return Some(Some(length));
            }
            outcomes.extend(own);
        }
    }
    Some(None)
}

/// The run to the violation, if there is one.
fn run(report: &SolverReport) -> Option<&Trace> {
    report.report.properties.iter().find_map(|property| property.trace.as_ref())
}

/// Compares each method, with and without symmetries, with the explicit engine and the brute-force search. Returns
/// whether the model was small enough, and whether it had symmetries that were used.
fn compare(model: &Model, deadlock: DeadlockMode) -> Result<Option<bool>, String> {
    let Ok(layout) = Layout::new(model) else { return Ok(None) };
    let Some(shortest) = shortest(model, &layout, deadlock, 600) else { return Ok(None) };
    let invariants = of_kind(model, PropertyKind::Invariant);
    let options = SearchOptions { properties: Some(invariants), deadlock, ..SearchOptions::default() };
    let explicit = check(model, &options, &mut Silent).map_err(|error| format!("explicit: {error}"))?;
    let expected = if shortest.is_some() { Verdict::Violated } else { Verdict::Holds };
    if explicit.verdict != expected {
        return Err(format!("explicit and brute force disagree: {:?}, {shortest:?}", explicit.verdict));
    }
    let group = group(model, &layout);
    let mut is_used = false;
    for method in SolverMethod::ALL {
        // The depth of a proof by induction without symmetries.
        let mut depth = None;
        for group in [None, group.as_ref()] {
            let options = SearchOptions { max_depth: (method != SolverMethod::Ic3).then_some(8), ..options.clone() };
            let name = format!("{} {}", method.name(), if group.is_some() { "with symmetries" } else { "without" });
            let found = match check_by_solver(model, &layout, group, method, &options, &mut Silent) {
                Ok(found) => found,
                Err(EngineError::NotEncodable { .. }) => return Ok(None),
                Err(error) => return Err(format!("{name}: {error}")),
            };
            is_used |= found.generators > 0;
            let verdict = found.report.verdict;
            let is_bounded = method != SolverMethod::Ic3;
            let limit = Some(StopReason::DepthLimit(8));
            match (verdict, run(&found).map(|trace| trace.steps.len())) {
                (Verdict::Inconclusive, None) if is_bounded && found.report.stop_reason == limit => {
                    if shortest.is_some_and(|shortest| shortest <= 9) {
                        return Err(format!("{name}: a run of {shortest:?} steps is missed"));
                    }
                }
                (Verdict::Violated, Some(steps)) if Some(steps) == shortest => {}
                (Verdict::Holds, None) if expected == Verdict::Holds => {
                    if method == SolverMethod::Ic3 && found.invariant.is_none() {
                        return Err(format!("{name}: no invariant"));
                    }
                    if method == SolverMethod::Induction && found.depth > *depth.get_or_insert(found.depth) {
                        return Err(format!("{name}: a proof of depth {}, without of depth {depth:?}", found.depth));
                    }
                }
                (verdict, steps) => return Err(format!("{name}: {verdict:?} after {steps:?}, not {shortest:?}")),
            }
        }
    }
    Ok(Some(is_used))
}

/// Compares on the programs of some seeds; those that are no programs, or too large, do not count. Returns how many were
/// compared, and for how many the comparison says yes.
fn on_programs(
    default: u64,
    program: impl Fn(u64) -> String + Sync,
    compare: impl Fn(&Model, DeadlockMode) -> Result<Option<bool>, String> + Sync,
) -> (usize, usize) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", default)).collect();
    let results = map_on_workers(workers(), &seeds, |&seed| {
        let model = load_murphi("random", &program(seed), &[]).ok()?;
        let deadlock = [DeadlockMode::Off, DeadlockMode::Stuck, DeadlockMode::Stuttering][seed as usize % 3];
        compare(&model, deadlock).map_err(|reason| format!("seed {seed}: {reason}")).transpose()
    });
    let results: Vec<Result<bool, String>> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    report(&wrong, results.len());
    (results.len(), results.iter().filter(|result| **result == Ok(true)).count())
}

#[test]
fn verdicts_on_random_models_are_those_of_the_explicit_engine() {
    let program = |seed: u64| {
        random_program(seed, &ProgramOptions { size: 2, most_states: 2000, extensions: seed.is_multiple_of(2) })
    };
    let (compared, _) = on_programs(60, program, compare);
    assert!(compared >= 20, "only {compared} were compared");
}

#[test]
fn verdicts_on_random_symmetric_models_are_those_of_the_explicit_engine() {
    let (compared, symmetric) = on_programs(60, |seed| symmetric_program(seed, Kind::Symmetric), compare);
    assert!(compared >= 20 && symmetric * 2 >= compared, "only {symmetric} of {compared} have symmetries");
}

/// The verdicts of the solver on an example with the constants of a case, if the model can be written as a formula.
fn of_example(
    model: &Model,
    deadlock: DeadlockMode,
    with_symmetries: bool,
    observer: &mut dyn Observer,
) -> Option<Result<Verdict, String>> {
    let layout = Layout::new(model).ok()?;
    let group = group(model, &layout).filter(|_| with_symmetries);
    let properties = Some(of_kind(model, PropertyKind::Invariant));
    let options = SearchOptions { properties, deadlock, ..SearchOptions::default() };
    match check_by_solver(model, &layout, group.as_ref(), SolverMethod::Ic3, &options, observer) {
        Ok(found) => Some(Ok(found.report.verdict)),
        Err(EngineError::NotEncodable { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// An observer that ends a check after some reports of progress.
struct Patience(u64);

impl Observer for Patience {
    fn progress(&mut self, _: &Progress) -> ControlFlow<StopReason> {
        self.0 -= 1;
        if self.0 == 0 { ControlFlow::Break(StopReason::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

/// The smallest case of each Murphi example.
fn smallest_cases() -> Vec<(Example, Case)> {
    const MOST_STATES: u64 = 20_000;
    let smallest = |example: Example| {
        let cases = example.header.cases.iter().filter(|case| case.states <= MOST_STATES);
        let case = cases.min_by_key(|case| case.states).cloned()?;
        Some((example, case))
    };
    murphi_examples().into_iter().filter_map(smallest).collect()
}

/// What a solver should say. Covers and liveness are not looked at.
fn expected(case: &Case) -> Verdict {
    match case.verdict.class {
        VerdictClass::Holds | VerdictClass::Cover | VerdictClass::Liveness => Verdict::Holds,
        _ => Verdict::Violated,
    }
}

/// `QUOTIENT_SOLVER_PATIENCE` sets for how long each example is tried, in units of 64 questions to the solver.
#[test]
fn examples_have_the_expected_verdicts() {
    let patience = number_from("QUOTIENT_SOLVER_PATIENCE", 6);
    let cases = smallest_cases();
    let work = cases.iter().flat_map(|(example, case)| [(example, case, false), (example, case, true)]);
    let work: Vec<(&Example, &Case, bool)> = work.collect();
    let results = map_on_workers(workers(), &work, |(example, case, with_symmetries)| {
        let name = format!("{} {}", example.name, case.label());
        let model = example.load(case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = expected(case);
        match of_example(&model, example.header.deadlock, *with_symmetries, &mut Patience(patience))? {
            Ok(verdict) if verdict == expected || verdict == Verdict::Inconclusive => Some(Ok(verdict)),
            Ok(verdict) => Some(Err(format!("{name}: {verdict:?}"))),
            Err(error) => Some(Err(format!("{name}: {error}"))),
        }
    });
    let results: Vec<Result<Verdict, String>> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    report(&wrong, results.len());
    let decided = results.iter().filter(|result| **result != Ok(Verdict::Inconclusive)).count();
    assert!(decided * 2 >= results.len(), "only {decided} of {} are decided", results.len());
}

/// What ABC says about the circuit of a model; `None` if there is none, or it takes longer than some seconds.
fn by_abc(abc: &Abc, model: &Model, deadlock: DeadlockMode, seconds: u64) -> Result<Option<Verdict>, String> {
    let properties = Some(of_kind(model, PropertyKind::Invariant));
    let options = SearchOptions { properties, deadlock, ..SearchOptions::default() };
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let circuit = match as_aiger(model, &layout, &options) {
        Ok(circuit) => circuit,
        Err(EngineError::NotEncodable { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let holds = abc.holds(&circuit, seconds)?;
    Ok(holds.map(|holds| if holds { Verdict::Holds } else { Verdict::Violated }))
}

/// `QUOTIENT_SOLVER_SECONDS` sets for how long ABC tries each example.
#[test]
fn abc_has_the_expected_verdicts_on_examples() {
    let Some(abc) = Abc::find_or_skip("comparing the formulas of the example models with ABC") else { return };
    let seconds = number_from("QUOTIENT_SOLVER_SECONDS", 1);
    let results = map_on_workers(workers(), &smallest_cases(), |(example, case)| {
        let name = format!("{} {}", example.name, case.label());
        let model = example.load(case).unwrap_or_else(|error| panic!("{name}: {error}"));
        match by_abc(&abc, &model, example.header.deadlock, seconds) {
            Ok(Some(verdict)) if verdict != expected(case) => Some(Err(format!("{name}: {verdict:?}"))),
            Ok(verdict) => verdict.map(Ok),
            Err(error) => Some(Err(format!("{name}: {error}"))),
        }
    });
    let results: Vec<Result<Verdict, String>> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    report(&wrong, results.len());
    assert!(results.len() >= 15, "only {} are decided", results.len());
}

#[test]
fn abc_has_the_verdicts_of_a_search_on_random_models() {
    let Some(abc) = Abc::find_or_skip("comparing the formulas of random models with ABC") else { return };
    let (compared, _) = on_programs(40, mixed_program, |model, deadlock| {
        let Ok(layout) = Layout::new(model) else { return Ok(None) };
        let Some(shortest) = shortest(model, &layout, deadlock, 600) else { return Ok(None) };
        let expected = if shortest.is_some() { Verdict::Violated } else { Verdict::Holds };
        match by_abc(&abc, model, deadlock, 10)? {
            Some(verdict) if verdict != expected => Err(format!("ABC says {verdict:?}, brute force {shortest:?}")),
            verdict => Ok(verdict.map(|verdict| verdict == Verdict::Holds)),
        }
    });
    assert!(compared >= 15, "only {compared} were compared");
}

/// Programs of two sorts.
fn mixed_program(seed: u64) -> String {
    match seed.is_multiple_of(2) {
        true => symmetric_program(seed, Kind::Symmetric),
        false => random_program(seed, &ProgramOptions { size: 2, most_states: 2000, extensions: true }),
    }
}

/// Paths through different orbits are shorter than paths through different states: both from the starts, and to what is
/// wrong.
#[test]
fn induction_needs_fewer_steps_with_symmetries() {
    let text = "type process: scalarset(3); var up: array [process] of boolean; open: boolean;
        startstate for i: process do up[i] := false end; open := false end;
        ruleset i: process do
          rule open | up[i] | exists j: process do i != j & !up[j] end ==> up[i] := !up[i] end
        end;
        rule !open & forall i: process do up[i] end ==> open := true end;
        invariant open -> exists i: process do up[i] end;";
    let model = load_murphi("bolts", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a layout");
    let group = group(&model, &layout);
    let options = SearchOptions {
        deadlock: DeadlockMode::Off,
        properties: Some(of_kind(&model, PropertyKind::Invariant)),
        ..SearchOptions::default()
    };
    let depths = [None, group.as_ref()].map(|group| {
        let found =
            check_by_solver(&model, &layout, group, SolverMethod::Induction, &options, &mut Silent).expect("a report");
        assert_eq!(found.report.verdict, Verdict::Holds);
        found.depth
    });
    assert_eq!(depths, [8, 4]);
}

#[test]
fn a_check_that_is_interrupted_is_inconclusive() {
    struct Raised;
    impl Observer for Raised {
        fn interrupt(&self) -> Interrupt {
            let interrupt = Interrupt::new();
            interrupt.raise();
            interrupt
        }
    }
    let text = "var x: 0..2; startstate x := 0 end; rule x < 2 ==> x := x + 1 end; invariant x < 3;";
    let model = load_murphi("count", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a layout");
    for max_memory in [None, Some(1000)] {
        let options = SearchOptions { max_memory, deadlock: DeadlockMode::Off, ..SearchOptions::default() };
        let found = match max_memory {
            None => check_by_solver(&model, &layout, None, SolverMethod::Ic3, &options, &mut Raised),
            Some(_) => check_by_solver(&model, &layout, None, SolverMethod::Ic3, &options, &mut Silent),
        };
        let found = found.expect("a report").report;
        let reason = max_memory.map_or(StopReason::Withdrawn, StopReason::MemoryLimit);
        assert_eq!((found.verdict, found.stop_reason), (Verdict::Inconclusive, Some(reason)));
    }
}

#[test]
fn a_proof_prints_in_names_of_the_model() {
    let text = "type colour: enum { red, green, blue }; var x, y: colour;
        startstate x := red; y := red end;
        rule x = red ==> x := green; y := green end;
        rule x = green ==> x := red; y := red end;
        invariant x = red -> y != blue;";
    let model = load_murphi("colours", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a layout");
    let options = SearchOptions::default();
    let found = check_by_solver(&model, &layout, None, SolverMethod::Ic3, &options, &mut Silent).expect("a report");
    assert_eq!(found.report.verdict, Verdict::Holds);
    let invariant = found.invariant.expect("a proof");
    let lines = invariant.lines(&model, &layout, Operators::MURPHI);
    assert!(lines.iter().all(|line| line.contains("red") || line.contains("green")), "{lines:?}");
}

/// Adds the conditions of a proof to the text of a model: they hold, and evaluating them is not an error. Members of
/// scalarsets have no names in Murphi; conditions with them are not read. `None` if there is no proof, or none is read.
fn conditions_hold(
    model: &Model,
    constants: &[(String, String)],
    deadlock: DeadlockMode,
    observer: &mut dyn Observer,
) -> Result<Option<bool>, String> {
    let Ok(layout) = Layout::new(model) else { return Ok(None) };
    let properties = Some(of_kind(model, PropertyKind::Invariant));
    let options = SearchOptions { properties, deadlock, ..SearchOptions::default() };
    let found = match check_by_solver(model, &layout, None, SolverMethod::Ic3, &options, observer) {
        Ok(found) => found,
        Err(EngineError::NotEncodable { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let Some(invariant) = found.invariant else { return Ok(None) };
    let lines = invariant.lines(model, &layout, Operators::MURPHI);
    let (mut text, mut read) = (model.source.text.to_string(), 0);
    for line in lines.iter().take(40) {
        let longer = format!("{text}\ninvariant {line};\n");
        let is_read = load_murphi("proved", &longer, constants).is_ok();
        if !is_read && !line.contains('_') {
            return Err(format!("not read: {line}"));
        }
        if is_read {
            (text, read) = (longer, read + 1);
        }
    }
    let stronger = load_murphi("proved", &text, constants)?;
    let properties = Some(of_kind(&stronger, PropertyKind::Invariant));
    let options = SearchOptions { properties, deadlock, ..SearchOptions::default() };
    let verdict = check(&stronger, &options, &mut Silent).map_err(|error| error.to_string())?.verdict;
    if verdict != Verdict::Holds {
        return Err(format!("{verdict:?} with {lines:?}"));
    }
    Ok((read > 0).then_some(true))
}

#[test]
fn the_conditions_of_a_proof_can_be_added_to_the_text() {
    let program = |seed: u64| random_program(seed, &ProgramOptions { size: 2, most_states: 2000, extensions: false });
    on_programs(100, program, |model, deadlock| {
        let is_small = Layout::new(model).is_ok_and(|layout| shortest(model, &layout, deadlock, 600) == Some(None));
        if is_small { conditions_hold(model, &[], deadlock, &mut Silent) } else { Ok(None) }
    });
    let results = map_on_workers(workers(), &smallest_cases(), |(example, case)| {
        let model = example.load(case).unwrap_or_else(|error| panic!("{}: {error}", example.name));
        let result = conditions_hold(&model, &case.constants, example.header.deadlock, &mut Patience(10));
        result.map_err(|error| format!("{}: {error}", example.name)).transpose()
    });
    let results: Vec<Result<bool, String>> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    report(&wrong, results.len());
    assert!(results.len() >= 5, "only {} were compared", results.len());
}

#[test]
fn a_proof_is_in_the_language_of_the_model() {
    let text = "byte inside; bool busy;
        active [2] proctype P() { do :: atomic { !busy -> busy = true; inside++ }; assert(inside == 1);
        atomic { inside--; busy = false } od }";
    let model = quotient::Model::from_text("mutex", text, Language::Promela).expect("a model");
    let options = quotient::Options::default().engine(Engine::Solver(SolverMethod::Ic3));
    let report = Plan::new(&model, &options).expect("a plan").run().expect("a report");
    assert_eq!(report.verdict, Verdict::Holds);
    let lines = report.proof.and_then(|proof| proof.invariant).expect("conditions");
    assert!(lines.iter().any(|line| line.contains("busy == ")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains(" = ") && !line.contains(" | ")), "{lines:?}");
}

#[test]
fn what_is_not_encoded_is_refused_with_a_location() {
    let text = "var m: multiset [2] of boolean; x: boolean; startstate undefine m; x := true; end;
        rule multisetcount(i: m, true) < 2 ==> multisetadd(x, m) end;";
    let model = load_murphi("multiset", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a layout");
    let refused = check_by_solver(&model, &layout, None, SolverMethod::Ic3, &SearchOptions::default(), &mut Silent);
    let Err(EngineError::NotEncodable { span, .. }) = refused else { panic!("{refused:?}") };
    assert!(text[span.start as usize..].starts_with('m'), "{span:?}");
}

#[test]
fn covers_stay_undecided() {
    let text = "var x: boolean; startstate x := true end; rule true ==> x := !x end; invariant x | !x; cover x;";
    let model = load_murphi("cover", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a layout");
    let found = check_by_solver(&model, &layout, None, SolverMethod::Ic3, &SearchOptions::default(), &mut Silent)
        .expect("a report");
    let verdicts: Vec<Verdict> = found.report.properties.iter().map(|property| property.verdict).collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Inconclusive, Verdict::Holds, Verdict::Holds]);
    assert_eq!(found.report.verdict, Verdict::Inconclusive);
}

/// The facade: a proof with its conditions, a run, and what is refused.
#[test]
fn the_facade_asks_the_solver() {
    let text = "type process: scalarset(3); var waiting: array [process] of boolean; busy: boolean;
        startstate for p: process do waiting[p] := true end; busy := false end;
        ruleset p: process do
          rule waiting[p] & !busy ==> waiting[p] := false; busy := true end;
          rule !waiting[p] & busy ==> waiting[p] := true; busy := false end;
        end;
        invariant \"one\" forall p: process do forall q: process do !waiting[p] & !waiting[q] -> p = q end end;
        invariant \"idle\" !busy;";
    let model = quotient::Model::from_text("lock", text, Language::Murphi).expect("a model");
    for method in SolverMethod::ALL {
        let options = quotient::Options::default().engine(Engine::Solver(method));
        let run = |options: &quotient::Options| Plan::new(&model, options).expect("a plan").run().expect("a report");
        let violated = run(&options.clone().property("idle"));
        assert_eq!(violated.verdict, Verdict::Violated);
        assert_eq!(violated.properties[0].trace.as_ref().map(|trace| trace.steps.len()), Some(2));
        if method == SolverMethod::Ic3 {
            let proved = run(&options.clone().property("one"));
            assert_eq!(proved.verdict, Verdict::Holds);
            let proof = proved.proof.expect("what the solver did");
            assert_eq!(proof.method, "ic3, with symmetries");
            assert!(proof.invariant.is_some());
        }
        let mut limited = options;
        limited.limits.max_states = Some(5);
        assert!(matches!(Plan::new(&model, &limited), Err(Error::Refused(Refusal::Engine(_)))));
    }
}
