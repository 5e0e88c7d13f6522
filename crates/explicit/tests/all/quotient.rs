//! Searches in a quotient: the guard against values that detection took to be impossible, the graph with
//! the steps of the model, time for representatives.

use std::time::Duration;

use quotient_ir::{DeadlockMode, Layout, Model, PropertyId, Source};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_representatives::{Strategy, Workspace};
use quotient_search::{Clock, Edge, EngineError, Observer, Report, SearchOptions, Silent, StoreMode, Verdict};
use quotient_systems::{ReductionPlan, SymmetrySource};
use quotient_testkit::search::{check_with, cross_check, plan};

fn model(text: &str) -> Model {
    match LANGUAGE.load(Source::new("test.m", text), &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{:?}", diagnostics.iter().map(|entry| &entry.message).collect::<Vec<_>>()),
    }
}

fn plan_for(model: &Model, layout: &Layout, strategy: Strategy) -> ReductionPlan {
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    plan(model, layout, &properties, SymmetrySource::Detected, Some(strategy)).expect("certified symmetries")
}

fn off() -> SearchOptions {
    SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() }
}

fn processes(last: i64) -> String {
    format!(
        "type p: 1..3;
         var at: array[p] of 0..9; wide: 0..1000000;
         startstate for i: p do at[i] := 0; end; wide := 0; end;
         ruleset i: p do rule at[i] < {last} ==> at[i] := at[i] + 1; end; end;
         invariant \"small\" forall i: p do at[i] < 9 end;"
    )
}

/// A plan for another model stands for a mistake in detection: it must not become a verdict.
#[test]
fn impossible_values_are_caught() {
    let (assumed, real) = (model(&processes(2)), model(&processes(3)));
    let layout = Layout::new(&real).expect("a layout");
    for strategy in Strategy::ALL {
        let plan = plan_for(&assumed, &layout, strategy);
        assert!(plan.reduction.is_some());
        let result = check_with(&real, &layout, &plan, &off(), &mut Silent);
        assert!(matches!(result, Err(EngineError::ImpossibleValue(_))), "{strategy}: {result:?}");
        // And without the mistake it is not.
        let report = check_with(&assumed, &layout, &plan, &off(), &mut Silent).expect("a report");
        assert_eq!(report.verdict, Verdict::Holds, "{strategy}");
    }
}

/// A group of the wrong model does not survive a comparison with the unreduced search.
#[test]
fn wrong_groups_are_caught() {
    let text = |condition: &str| {
        format!(
            "type p: 1..3;
             var at: array[p] of 0..2;
             startstate for i: p do at[i] := 0; end; end;
             ruleset i: p do rule at[i] < 2 & ({condition}) ==> at[i] := at[i] + 1; end; end;"
        )
    };
    let (symmetric, real) = (model(&text("true")), model(&text("i != 2 | at[1] = 2")));
    let layout = Layout::new(&real).expect("a layout");
    for strategy in Strategy::ALL {
        let plan = plan_for(&symmetric, &layout, strategy);
        let result = cross_check(&real, &layout, &plan, &off(), &mut Silent);
        assert!(matches!(result, Err(EngineError::CrossCheck(_))), "{strategy}: {result:?}");
    }
}

/// Keeps the graph of a quotient, and has a clock.
#[derive(Default)]
struct Graph {
    states: Vec<Vec<u64>>,
    edges: Vec<(u64, u64, Vec<u64>, bool)>,
}

impl Observer for Graph {
    fn wants_graph(&self) -> bool {
        true
    }
    fn state(&mut self, _: u64, state: &[u64], _: bool) {
        self.states.push(state.to_vec());
    }
    fn edge(&mut self, edge: Edge<'_>) {
        self.edges.push((edge.from, edge.to, edge.concrete.to_vec(), edge.changes));
    }
    fn clock(&self) -> Option<Clock> {
        fn clock() -> Duration {
            use std::sync::atomic::{AtomicU64, Ordering};
            static READINGS: AtomicU64 = AtomicU64::new(0);
            let reading = READINGS.fetch_add(1, Ordering::Relaxed);
            // The more readings, the longer between them, so that something is left after the cost of one.
            Duration::from_nanos(reading * reading)
        }
        Some(clock)
    }
}

fn explore(model: &Model, layout: &Layout, plan: &ReductionPlan) -> (Report, Graph) {
    let mut graph = Graph::default();
    let report = check_with(model, layout, plan, &off(), &mut graph).expect("a report");
    (report, graph)
}

/// Each step of the quotient's graph leads to a state of the model that its permutation takes to the
/// stored one.
#[test]
fn edges_carry_permutations() {
    let model = model(
        "type p: 1..4;
         var at: array[p] of 0..2; owner: 0..4;
         startstate for i: p do at[i] := 0; end; owner := 0; end;
         ruleset i: p do
           rule at[i] = 0 ==> at[i] := 1; end;
           rule at[i] = 1 & owner = 0 ==> at[i] := 2; owner := i; end;
           rule at[i] = 2 ==> at[i] := 0; owner := 0; end;
         end;",
    );
    let layout = Layout::new(&model).expect("a layout");
    for strategy in Strategy::OF_CANONICALIZERS {
        let plan = plan_for(&model, &layout, strategy);
        let reduction = plan.reduction.as_ref().expect("a reduction");
        let (report, graph) = explore(&model, &layout, &plan);
        assert_eq!(graph.states.len() as u64, report.states, "{strategy}");
        assert_eq!(graph.edges.len() as u64, report.transitions, "{strategy}");
        let mut workspace = Workspace::default();
        let mut moved = 0;
        for (from, to, concrete, changes) in &graph.edges {
            let mut image = concrete.clone();
            let permutation = reduction.canonicalizer.canonicalize_with_witness(&mut workspace, &mut image);
            assert_eq!(image, graph.states[*to as usize], "{strategy}");
            let map = reduction.group.literals().action(&layout, &permutation).expect("a symmetry acts on states");
            assert_eq!(layout.state(&map.apply(&layout.unpack(concrete))).0[..], image[..], "{strategy}");
            assert_eq!(*changes, *concrete != graph.states[*from as usize], "{strategy}");
            moved += usize::from(!permutation.is_identity());
        }
        assert!(moved > 0, "{strategy}");
        assert!(report.canonicalization.is_some_and(|time| time > Duration::ZERO), "{strategy}");
    }
}

/// The states represented up to a violation are those of the usual store if states are stored densely, from the beginning
/// or from somewhere on. Threads that keep the order count the same; those that do not count whole levels.
#[test]
fn dense_stores_represent_the_same_states_up_to_a_violation() {
    let model = model(
        "type p: 1..5; var at: array[p] of 0..7;
         startstate for i: p do at[i] := 0; end; end;
         ruleset i: p do rule at[i] < 7 ==> at[i] := at[i] + 1; end; end;
         invariant \"apart\" !(exists i: p do exists j: p do at[i] = 5 & at[j] = 6 end end);",
    );
    let layout = Layout::new(&model).expect("a layout");
    let plan = plan_for(&model, &layout, Strategy::Canonical);
    let run = |store, dense_from, threads, ordered_states| {
        let options = SearchOptions { store, dense_from, threads, ordered_states, ..off() };
        let report = check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report");
        let trace = report.properties[0].trace.as_ref().expect("a run");
        (report.states, report.represented, trace.steps.len())
    };
    let in_order = run(StoreMode::Exact, None, 1, u64::MAX);
    assert_eq!(in_order, (IN_ORDER.0, Some(IN_ORDER.1.into()), 12));
    for (store, dense_from) in [(StoreMode::Dense, None), (StoreMode::Exact, Some(0)), (StoreMode::Exact, Some(3000))] {
        for threads in [1, 2, 3] {
            assert_eq!(run(store, dense_from, threads, u64::MAX), in_order, "{store:?} {dense_from:?} {threads}");
        }
    }
    let by_levels = run(StoreMode::Exact, None, 2, 10);
    assert_eq!(by_levels, (BY_LEVELS.0, Some(BY_LEVELS.1.into()), 12));
    for (threads, ordered_states) in [(2, 10), (3, 10), (2, 100)] {
        assert_eq!(run(StoreMode::Exact, Some(0), threads, ordered_states), by_levels, "{threads} {ordered_states}");
    }
}

/// The states stored up to the violation and those they represent: up to it, and up to the end of its level.
const IN_ORDER: (u64, u32) = (134, 4048);
const BY_LEVELS: (u64, u32) = (135, 4068);
