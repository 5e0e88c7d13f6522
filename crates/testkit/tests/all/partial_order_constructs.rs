//! Partial order on what makes steps depend on each other in Promela and Murphi, one small model each: the verdict is that
//! of the search of all states, in both orders, on one and two threads, with and without symmetries. On the example
//! models, partial order and symmetry together never store more than symmetry alone.

use std::sync::Arc;

use quotient::languages::{Language, LoadOptions, load};
use quotient_explicit::check;
use quotient_ir::{DeadlockMode, Interrupt, Layout, Model, PropertyId, PropertyKind, Source};
use quotient_relations as relations;
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, SearchOrder, Silent, Spill, Subject, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::load_murphi;
use quotient_testkit::search::plan;

fn promela(name: &str, text: &str) -> Model {
    let loaded = load(Source::new(name, text), Language::Promela, &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{name}: {error:?}")).model
}

fn claims(model: &Model) -> Vec<PropertyId> {
    let all = model.properties.iter_enumerated();
    let is_claim = |kind| matches!(kind, PropertyKind::Invariant | PropertyKind::Cover);
    all.filter(|(_, property)| is_claim(property.kind)).map(|(id, _)| id).collect()
}

/// States of all searches without and with partial order, whole and reduced by symmetries, after their verdicts agreed.
fn agree(name: &str, model: &Model, deadlock: DeadlockMode) -> Option<[u64; 4]> {
    let layout = Layout::new(model).unwrap();
    let kept = claims(model);
    let options = SearchOptions { deadlock, properties: Some(kept.clone()), ..SearchOptions::default() };
    let whole = check(model, &layout, None, &options, &mut Silent).unwrap();
    let symmetric = plan(model, &layout, &kept, SymmetrySource::Detected, Some(Strategy::Canonical)).unwrap();
    let quotient = check(model, &layout, Some(&symmetric), &options, &mut Silent).unwrap();
    let relations = relations::relations(model, &layout, &options, &Interrupt::new()).map(Arc::new).ok()?;
    let mut states = [whole.states, 0, quotient.states, 0];
    for (order, threads) in
        [(SearchOrder::BreadthFirst, 1), (SearchOrder::BreadthFirst, 2), (SearchOrder::DepthFirst, 1)]
    {
        for (plan, at) in [(None, 1), (Some(&symmetric), 3)] {
            let partial_order = Some(relations.clone());
            let options = SearchOptions { order, threads, partial_order, ..options.clone() };
            let report = check(model, &layout, plan, &options, &mut Silent).unwrap();
            let way = format!("{name}: {order:?}, {threads} threads, symmetries {}", plan.is_some());
            assert_eq!(report.verdict, whole.verdict, "{way}");
            if whole.verdict == Verdict::Holds {
                assert!(report.states <= states[at - 1], "{way}: {} of {}", report.states, states[at - 1]);
                if order == SearchOrder::BreadthFirst && threads == 1 {
                    states[at] = report.states;
                }
            }
        }
    }
    let spill = Some(Spill { folder: std::env::temp_dir(), max_bytes: None });
    let on_disk = SearchOptions { partial_order: Some(relations), spill, max_memory: Some(1 << 12), ..options };
    let report = check(model, &layout, None, &on_disk, &mut Silent).unwrap();
    assert_eq!(report.verdict, whole.verdict, "{name}: on disk");
    Some(states)
}

/// A search in which states are passed through, in both orders.
fn pass(model: &Model) -> [Report; 2] {
    let layout = Layout::new(model).unwrap();
    [SearchOrder::BreadthFirst, SearchOrder::DepthFirst].map(|order| {
        let options = SearchOptions { order, deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
        let relations = relations::relations(model, &layout, &options, &Interrupt::new()).unwrap();
        let options = SearchOptions { partial_order: Some(Arc::new(relations)), ..options };
        check(model, &layout, None, &options, &mut Silent).unwrap()
    })
}

/// Long ways are cut, and all their steps are part of a run.
#[test]
fn long_ways_of_local_steps() {
    let rules = |counter: &str| format!("rule {counter} < 300 ==> {counter} := {counter} + 1; end;");
    let [first, second] = ["x", "y"].map(rules);
    let text = format!("var x: 0..300; y: 0..300; startstate x := 0; y := 0; end; {first} {second}");
    for report in pass(&load_murphi("counters", &text, &[]).unwrap()) {
        assert_eq!((report.states, report.transitions), (4, 600));
        let stuck = report.properties.iter().find(|property| property.subject == Subject::Deadlock).unwrap();
        assert_eq!(stuck.trace.as_ref().map(|trace| trace.steps.len()), Some(601));
    }
}

/// A way that comes round is cut, so that what others do is seen.
#[test]
fn local_steps_that_never_end() {
    let text = "byte x; active proctype A() { byte i; do :: i = 1 - i od }
         active proctype B() { byte own; own = 1; x = own; x = 0 }
         active proctype C() { byte own; own = 1; own = 2; assert(x == 0) }";
    for report in pass(&promela("loop", text)) {
        assert_eq!(report.verdict, Verdict::Violated);
    }
    for report in pass(&promela("loop without an error", &text.replace("x == 0", "x < 2"))) {
        assert_eq!(report.verdict, Verdict::Holds);
    }
}

/// Each construct, the verdict, and whether states must be saved.
const CONSTRUCTS: [(&str, &str, bool, bool); 18] = [
    (
        "rendezvous",
        "chan c = [0] of { byte }; byte got; active [2] proctype S() { byte own; own = 1; c!own; own = 2 }
         active proctype R() { c?got; got = 0; c?got }",
        true,
        true,
    ),
    (
        "rendezvous without a partner",
        "chan c = [0] of { byte }; active proctype S() { byte own; own = 1; c!own } active proctype R() { byte own;
         own = 2; own = 3 }",
        false,
        false,
    ),
    (
        "buffered queue",
        "chan c = [2] of { byte }; active proctype S() { byte i; do :: i < 4 -> c!i; i++ :: else -> break od }
         active proctype R() { byte x, n; do :: n < 4 -> c?x; assert(x == n); n++ :: else -> break od }",
        true,
        true,
    ),
    (
        "two receivers of one queue",
        "chan c = [2] of { byte }; byte sum; active proctype S() { c!1; c!2 }
         active [2] proctype R() { byte x; c?x; assert(x == _pid) }",
        false,
        false,
    ),
    (
        "timeout",
        "chan c = [1] of { byte }; byte lost; active proctype S() { byte own; own = 1; c!1; timeout -> lost++; assert(lost < 2) }
         active proctype R() { byte x; if :: c?x :: c?x -> x = 0 fi }",
        true,
        false,
    ),
    (
        "timeout that comes too early would be seen",
        "byte x; active proctype A() { byte own; own = 1; own = 2; x = 1 } active proctype B() { timeout -> assert(x == 0) }",
        false,
        false,
    ),
    (
        "else",
        "byte x; active proctype A() { byte own; own = 1; x = 1 }
         active proctype B() { byte own; own = 1; if :: x == 1 -> skip :: else -> assert(false) fi }",
        false,
        false,
    ),
    (
        "atomic with a send",
        "chan c = [2] of { byte }; active [2] proctype S() { byte own; own = 1; atomic { nfull(c) -> own = 2; c!own } }
         active proctype R() { byte x; c?x; x = 0; c?x; assert(x == 2) }",
        true,
        true,
    ),
    (
        "atomic that is left where it blocks",
        "chan c = [1] of { byte }; byte x; active proctype S() { atomic { x = 1; c!1; c!2; x = 2 } }
         active proctype R() { byte y; assert(x != 1); c?y; c?y }",
        false,
        false,
    ),
    (
        "error inside of an atomic sequence",
        "byte x; active proctype A() { byte own; do :: own = 1 - own od }
         active proctype B() { byte own; own = 1; atomic { x = 1; assert(x == 0) } }",
        false,
        false,
    ),
    (
        "d_step",
        "byte x; active [2] proctype A() { byte own; own = 1; d_step { own = x; x = own + 1 }; own = 0 }
         active proctype B() { byte own; own = 3; (x == 2) -> assert(x == 2) }",
        true,
        true,
    ),
    (
        "a loop of one process must not hide another",
        "byte x; active proctype A() { byte own; do :: own = 1 - own od }
         active proctype B() { byte own; own = 1; x = 1; assert(x == 0) }",
        false,
        false,
    ),
    (
        "remote reference",
        "active proctype A() { byte own; own = 1; there: own = 2; own = 3 }
         active proctype B() { byte own; own = 1; assert(!A@there) }",
        false,
        false,
    ),
    (
        "variable of another process",
        "active proctype A() { byte own; own = 1; own = 2 } active proctype B() { byte mine; mine = 1; assert(A:own != 1) }",
        false,
        false,
    ),
    (
        "provided",
        "byte turn; active proctype A() provided (turn == 0) { byte own; own = 1; turn = 1; own = 2 }
         active proctype B() provided (turn == 1) { byte own; own = 1; turn = 0; assert(turn == 0) }",
        false,
        false,
    ),
    (
        "unless",
        "byte x; active proctype A() { byte own; { own = 1; own = 2; own = 3 } unless { x == 1 -> assert(own != 2) } }
         active proctype B() { byte mine; mine = 1; x = 1 }",
        false,
        false,
    ),
    (
        "channels as parameters",
        "chan q[3] = [2] of { byte }; proctype N(chan inp, out) { byte x; out!1; inp?x; assert(x == 1); out!2; inp?x }
         init { atomic { run N(q[0], q[1]); run N(q[1], q[2]); run N(q[2], q[0]) } }",
        true,
        true,
    ),
    (
        "priorities",
        "byte x; active proctype A() priority 5 { byte own; own = 1; own = 2; x = 1 }
         active proctype B() priority 1 { byte mine; mine = 1; assert(x == 0) }",
        false,
        false,
    ),
];

#[test]
fn constructs_of_promela() {
    let mut wrong = Vec::new();
    for (name, text, holds, saves) in CONSTRUCTS {
        let model = promela(name, text);
        let layout = Layout::new(&model).unwrap();
        let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
        let report = check(&model, &layout, None, &options, &mut Silent).unwrap();
        if (report.verdict == Verdict::Holds) != holds {
            wrong.push(format!("{name}: {:?}", report.verdict));
            continue;
        }
        match agree(name, &model, DeadlockMode::Stuck) {
            None => wrong.push(format!("{name}: refused")),
            Some([whole, reduced, ..]) if saves && reduced >= whole => {
                wrong.push(format!("{name}: {reduced} of {whole} states"));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Ways through transient states may lead back, which is not known where that counts as no step.
#[test]
fn transient_states_are_refused_where_stuttering_counts_as_a_deadlock() {
    let model = promela("atomic", "byte x; active [2] proctype A() { atomic { x = 1; x = 0 } }");
    let layout = Layout::new(&model).unwrap();
    let options = SearchOptions { deadlock: DeadlockMode::Stuttering, ..SearchOptions::default() };
    let reason = relations::relations(&model, &layout, &options, &Interrupt::new()).expect_err("it is refused");
    assert!(reason.contains("transient"), "{reason}");
}

/// A step that changes nothing does not count, so that the search does not stay with it.
#[test]
fn steps_that_change_nothing() {
    let text = "var x: 0..3; y: 0..3; startstate x := 0; y := 0; end;
        rule \"idle\" true ==> x := x; end;
        rule \"up\" y < 3 ==> y := y + 1; end;";
    let model = load_murphi("idle", text, &[]).unwrap();
    let layout = Layout::new(&model).unwrap();
    let options = SearchOptions { deadlock: DeadlockMode::Stuttering, ..SearchOptions::default() };
    let relations = relations::relations(&model, &layout, &options, &Interrupt::new()).unwrap();
    let options = SearchOptions { partial_order: Some(Arc::new(relations)), ..options };
    let report = check(&model, &layout, None, &options, &mut Silent).unwrap();
    let stuck = report.properties.iter().find(|property| property.subject == Subject::Deadlock).unwrap();
    assert_eq!(stuck.verdict, Verdict::Violated);
}

/// A step that adds an element at times changes nothing at other times: there it counts as none.
#[test]
fn elements_that_are_added_at_times() {
    let text = "var box: array [0..1] of multiset [2] of 0..1;
        startstate end;
        ruleset p: 0..1 do rule \"put\" true ==>
          if multisetcount(x: box[p], true) < 2 then multisetadd(0, box[p]); end;
        end; end;";
    let model = load_murphi("boxes", text, &[]).unwrap();
    let layout = Layout::new(&model).unwrap();
    let options = SearchOptions { deadlock: DeadlockMode::Stuttering, ..SearchOptions::default() };
    let reason = relations::relations(&model, &layout, &options, &Interrupt::new()).expect_err("it is refused");
    assert_eq!(reason, "whether a step changes anything is not known");
}

#[test]
fn together_with_symmetry_no_more_is_stored_than_with_symmetry_alone() {
    let mut compared = 0;
    for (folder, language) in [("murphi", Language::Murphi), ("promela", Language::Promela), ("dve", Language::Dve)] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files {
            let name = path.display().to_string();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Ok(loaded) = load(Source::new(&name, text), language, &LoadOptions::default()) else { continue };
            let model = loaded.model;
            let Ok(layout) = Layout::new(&model) else { continue };
            let limit = SearchOptions { max_states: Some(4_000), ..SearchOptions::default() };
            match check(&model, &layout, None, &limit, &mut Silent) {
                Ok(report) if report.stop_reason.is_none() => {}
                _ => continue,
            }
            let deadlock = if language == Language::Murphi { DeadlockMode::Stuttering } else { DeadlockMode::Stuck };
            compared += usize::from(agree(&name, &model, deadlock).is_some());
        }
    }
    assert!(compared >= 10, "{compared} models");
}
