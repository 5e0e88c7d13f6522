//! Dead values of random models: on every reachable state, the model with marks does on the state with marks what the
//! model does on the state. So verdicts are the same, and its states are those of the model with their dead slots
//! replaced.
//!
//! A few hundred models are tried; `QUOTIENT_RANDOM_PROGRAMS` sets another number, and `QUOTIENT_RANDOM_SEED` the first
//! seed.

use std::collections::HashSet;

use quotient::{Language, Options, PartialOrder, Plan, Report, SearchOrder, Subject, Symmetry, Verdict};
use quotient_functions::{DeadValues, dead_values};
use quotient_ir::{
    DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Valuation, replay, verify,
};
use quotient_testkit::outcomes::{shown, truth};
use quotient_testkit::random_b::random_machine;
use quotient_testkit::random_csp::random_csp;
use quotient_testkit::random_dve::random_dve;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::random_promela::{random_promela, random_promela_claim, random_promela_hidden};
use quotient_testkit::switches::number_from;

/// The numbers of states of a model and of the one with marks, if they agree in every step from so many states.
fn compare(
    model: &Model,
    layout: &Layout,
    dead: &DeadValues,
    checked: &[PropertyId],
    deadlock: DeadlockMode,
    limit: usize,
) -> Result<(usize, usize), String> {
    verify(&dead.model).map_err(|problems| format!("the model is not well formed: {problems:?}"))?;
    let (whole, marking) = (Interpreter::new(model, layout), Interpreter::new(&dead.model, layout));
    let mut pending: Vec<Valuation> = Vec::new();
    let mut known: HashSet<Valuation> = HashSet::new();
    let mut projections: HashSet<Valuation> = HashSet::new();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in whole.instances(&entry.parameters, &entry.locals) {
            let (one, two) = (whole.run_start(start, &arguments), marking.run_start(start, &arguments));
            if shown(&one, |it| dead.project(layout, it)) != shown(&two, |_| ()) {
                return Err(format!("start {arguments:?}: {one:?} and {two:?}"));
            }
            if let Outcome::Next { state, .. } = one
                && known.insert(state.clone())
            {
                pending.push(state);
            }
        }
    }
    let relevant = |id: &PropertyId| checked.contains(id) || !model.properties[*id].kind.is_claim();
    let relevant: Vec<PropertyId> = model.properties.indices().filter(relevant).collect();
    while let Some(state) = pending.pop() {
        if known.len() > limit {
            break;
        }
        let mut projection = state.clone();
        dead.project(layout, &mut projection);
        projections.insert(projection.clone());
        for &property in &relevant {
            let entry = &model.properties[property];
            if entry.formula.condition().is_none() {
                continue;
            }
            for arguments in whole.instances(&entry.parameters, &entry.locals) {
                let one = truth(whole.holds(property, &arguments, &state));
                let two = truth(marking.holds(property, &arguments, &projection));
                if one != two {
                    return Err(format!("property {property:?} {arguments:?}: {one} and {two} in {state:?}"));
                }
            }
        }
        let mut alive = [false; 2];
        for (rule, entry) in model.rules.iter_enumerated() {
            for arguments in whole.instances(&entry.parameters, &entry.locals) {
                let enabled = whole.enabled(rule, &arguments, &state);
                let one = truth(enabled.clone());
                let two = truth(marking.enabled(rule, &arguments, &projection));
                if one != two {
                    return Err(format!("guard of {rule:?} {arguments:?}: {one} and {two} in {state:?}"));
                }
                if enabled != Ok(true) {
                    continue;
                }
                let one = whole.fire(rule, &arguments, &state);
                let two = marking.fire(rule, &arguments, &projection);
                if shown(&one, |it| dead.project(layout, it)) != shown(&two, |_| ()) {
                    return Err(format!("{rule:?} {arguments:?} in {state:?}: {one:?} and {two:?}"));
                }
                if let (Outcome::Next { state: next, .. }, Outcome::Next { state: other, .. }) = (one, two) {
                    alive[0] |= next != state;
                    alive[1] |= other != projection;
                    if known.insert(next.clone()) {
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

const LANGUAGES: [&str; 5] = ["Murphi", "B", "Promela", "DVE", "CSP#"];

/// A random model of a language.
fn random_model(language: usize, seed: u64) -> Option<(quotient::Model, String)> {
    let (language, text) = match language {
        0 => {
            let options =
                ProgramOptions { extensions: seed % 2 == 1, size: 2 + (seed % 4) as u32, ..Default::default() };
            (Language::Murphi, random_program(seed, &options))
        }
        1 => (Language::B, random_machine(seed)),
        2 => {
            let text = match seed % 3 {
                0 => random_promela(seed),
                1 => random_promela_claim(seed),
                _ => random_promela_hidden(seed),
            };
            (Language::Promela, text)
        }
        3 => (Language::Dve, random_dve(seed).text()),
        _ => (Language::Csp, random_csp(seed).text()),
    };
    quotient::Model::from_text("random", &text, language).ok().map(|model| (model, text))
}

/// In lockstep: model and marks on the reference interpreter.
#[test]
fn marks_of_random_models_change_nothing() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let count = number_from("QUOTIENT_RANDOM_PROGRAMS", 40);
    let (mut dead_ones, mut smaller) = ([0; 5], [0; 5]);
    for seed in first..first + count {
        for (language, name) in LANGUAGES.iter().enumerate() {
            let Some((model, text)) = random_model(language, seed) else { continue };
            let deadlock = if seed % 2 == 0 { DeadlockMode::Stuttering } else { DeadlockMode::Stuck };
            let properties: Vec<PropertyId> = model.ir().properties.indices().filter(|_| seed % 3 > 0).collect();
            let (ir, layout) = (model.ir(), model.layout());
            let Some(dead) = dead_values(ir, layout, &properties, deadlock) else { continue };
            match compare(ir, layout, &dead, &properties, deadlock, 400) {
                Ok((states, projections)) => {
                    dead_ones[language] += 1;
                    smaller[language] += u32::from(projections < states);
                }
                Err(error) => panic!("{} {seed}, {deadlock:?}: {error}\n{:?}\n{text}", name, dead.names),
            }
        }
    }
    assert!(count < 40 || dead_ones[2] > 10 && smaller[2] > 5, "{dead_ones:?}, {smaller:?}");
}

fn checked(model: &quotient::Model, options: &Options) -> Report {
    Plan::new(model, options).expect("a plan").run().expect("a report")
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

/// Through the facade: verdicts as without marks, in both orders, with symmetries and partial order; never more states,
/// and with symmetries not more than without marks; runs of the whole model.
#[test]
fn verdicts_of_random_models_do_not_depend_on_marks() {
    let count = number_from("QUOTIENT_RANDOM_PROGRAMS", 12);
    let mut fewer = 0;
    for seed in 9000..9000 + count {
        for (language, name) in LANGUAGES.iter().enumerate() {
            let Some((model, text)) = random_model(language, seed) else { continue };
            let has_temporal = model.ir().properties.iter().any(|it| it.kind == PropertyKind::Temporal);
            if has_temporal {
                continue;
            }
            let limits = quotient::Limits { max_states: Some(3000), ..Default::default() };
            let plain = Options { limits, ..Options::default() };
            let unreduced = plain.clone().symmetry(Symmetry::Off);
            let exact = checked(&model, &unreduced.clone().exact_counts());
            if exact.verdict == Verdict::Inconclusive {
                continue;
            }
            let exact_symmetric = checked(&model, &plain.clone().exact_counts());
            for options in [
                unreduced.clone(),
                plain.clone(),
                Options { order: SearchOrder::DepthFirst, ..unreduced.clone() },
                Options { partial_order: PartialOrder::Auto, ..unreduced.clone() },
                Options { partial_order: PartialOrder::Auto, ..plain.clone() },
            ] {
                let plan = Plan::new(&model, &options).expect("a plan");
                let report = plan.run().expect("a report");
                let title = format!("{} {seed}, {options:?}\n{:?}\n{text}", name, report.slice);
                assert_eq!(report.verdict, exact.verdict, "{title}");
                if exact.verdict == Verdict::Holds {
                    assert_eq!(verdicts(&report), verdicts(&exact), "{title}");
                    let most = if options.symmetry == Symmetry::Off { exact.states } else { exact_symmetric.states };
                    assert!(report.states <= most, "{} and {most} states: {title}", report.states);
                    let has_marks = report.slice.as_ref().is_some_and(|slice| !slice.dead.is_empty());
                    fewer += u32::from(has_marks && report.states < most);
                }
                replays(plan.model(), &report);
            }
        }
    }
    assert!(count < 30 || fewer > 5, "{fewer}");
}

/// Clients that take a ticket, use it once and forget it. `rules` replaces what they do with it.
fn clients(rules: &str) -> quotient::Model {
    let text = format!(
        "type client: scalarset(2); place: enum {{ idle, busy, gone }};
         var at: array[client] of place; ticket: array[client] of 0..3; seen: 0..3;
         startstate for c: client do at[c] := idle; ticket[c] := 0; end; seen := 0; end;
         ruleset c: client; t: 0..3 do rule \"take\" at[c] = idle ==> ticket[c] := t; at[c] := busy; end; end;
         {rules}
         invariant \"small\" seen < 4;"
    );
    quotient::Model::from_text("clients.m", &text, Language::Murphi).expect("a model")
}

/// What counts as a read, and what does not.
#[test]
fn what_is_dead() {
    let use_it = "ruleset c: client do rule \"use\" at[c] = busy ==> seen := ticket[c]; at[c] := gone; end;
                  rule \"back\" at[c] = gone ==> at[c] := idle; end; end;";
    let cases: [(&str, &str, &[&str]); 7] = [
        ("used once", use_it, &["ticket"]),
        (
            "read elsewhere",
            "ruleset c: client do rule \"use\" at[c] = busy ==> seen := ticket[c]; at[c] := idle; end; end;
             ruleset c: client do rule \"look\" ticket[c] > 2 & seen = 0 ==> seen := 1; end; end;",
            &[],
        ),
        (
            "read where it is live, in an invariant",
            "ruleset c: client do rule \"use\" at[c] = busy ==> seen := ticket[c]; at[c] := idle; end; end;
             invariant \"known\" forall c: client do at[c] = busy -> ticket[c] <= 3 end;",
            &["ticket"],
        ),
        (
            "read before the condition",
            "ruleset c: client do rule \"use\" ticket[c] <= 3 & at[c] = busy ==> seen := ticket[c]; at[c] := idle; end; end;",
            &[],
        ),
        (
            "read of another client",
            "ruleset c: client; d: client do rule \"use\" at[c] = busy ==> seen := ticket[d]; at[c] := idle; end; end;",
            &[],
        ),
        (
            "kept by a step that goes on",
            "ruleset c: client do rule \"wait\" at[c] = busy ==> at[c] := gone; end;
             rule \"use\" at[c] = gone ==> seen := ticket[c]; at[c] := idle; end; end;",
            &["ticket"],
        ),
        (
            "not written before it is read",
            "ruleset c: client do rule \"use\" at[c] = busy ==> seen := ticket[c]; at[c] := idle; end;
             rule \"skip\" at[c] = idle & seen > 0 ==> at[c] := busy; end; end;",
            &[],
        ),
    ];
    for (title, rules, names) in cases {
        let model = clients(rules);
        let properties: Vec<PropertyId> = model.ir().properties.indices().collect();
        for deadlock in [DeadlockMode::Stuttering, DeadlockMode::Stuck] {
            let dead = dead_values(model.ir(), model.layout(), &properties, deadlock);
            let found = dead.as_ref().map(|dead| dead.names.clone()).unwrap_or_default();
            assert_eq!(found, names, "{title}");
            if let Some(dead) = dead {
                let compared = compare(model.ir(), model.layout(), &dead, &properties, deadlock, 3000);
                let (states, projections) = compared.unwrap_or_else(|error| panic!("{title}: {error}"));
                assert!(projections < states, "{title}: {projections} of {states}");
                let unreduced = Options::default().symmetry(Symmetry::Off);
                assert_eq!(checked(&model, &unreduced).states, projections as u64, "{title}");
                let symmetric = checked(&model, &Options { cross_check: true, ..Options::default() });
                assert_eq!(symmetric.represented, Some(projections.into()), "{title}");
                let exact = checked(&model, &Options::default().exact_counts().symmetry(Symmetry::Off));
                assert_eq!((exact.states, exact.verdict), (states as u64, symmetric.verdict), "{title}");
            }
        }
    }
}

/// A step that changes nothing but a dead slot keeps a state alive where steps that change nothing count as none.
#[test]
fn a_change_of_a_dead_slot_is_a_step() {
    let rules = "ruleset c: client do rule \"use\" at[c] = busy ==> seen := ticket[c]; at[c] := gone; end;
                 rule \"spin\" at[c] = gone ==> ticket[c] := 1; end;
                 rule \"spin back\" at[c] = gone ==> ticket[c] := 2; end; end;";
    let model = clients(rules);
    let properties: Vec<PropertyId> = model.ir().properties.indices().collect();
    assert!(dead_values(model.ir(), model.layout(), &properties, DeadlockMode::Stuttering).is_none());
    let dead = dead_values(model.ir(), model.layout(), &properties, DeadlockMode::Stuck).expect("a dead part");
    assert_eq!(dead.names, ["ticket"]);
    let deadlock = |deadlock| checked(&model, &Options { deadlock: Some(deadlock), ..Options::default() }).verdict;
    assert_eq!(deadlock(DeadlockMode::Stuttering), Verdict::Holds);
    assert_eq!(deadlock(DeadlockMode::Stuck), Verdict::Holds);
}
