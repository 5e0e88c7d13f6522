//! What a check finds does not depend on how its runs take turns.

use quotient_search::Subject;

use crate::control::{Control, Silent};
use crate::languages::Language;
use crate::model::Model;
use crate::options::{Options, PartialOrder, Symmetry};
use crate::plan::Plan;
use crate::report::Report;

/// Philosophers that pick up forks, of which `n` sit around a table; with `n` = 7, beyond the first marks.
fn philosophers(n: usize) -> String {
    format!(
        "const N: {n}; type place: 0..N-1; fork: enum {{ free, left, right }};
         var forks: array [place] of fork; eats: array [place] of boolean; meals: array [place] of 0..2;
         startstate begin
           for p: place do forks[p] := free; eats[p] := false; meals[p] := 0; end;
         end;
         ruleset p: place do
           rule \"first\" forks[p] = free ==> begin forks[p] := left; end;
           rule \"second\" forks[p] = left & forks[(p + 1) % N] = free & !eats[p] ==>
             begin forks[(p + 1) % N] := right; eats[p] := true; end;
           rule \"done\" eats[p] & meals[p] < 2 ==>
             begin eats[p] := false; forks[p] := free; forks[(p + 1) % N] := free; meals[p] := meals[p] + 1; end;
         end;
         invariant \"meals\" forall p: place do meals[p] <= 2 end;"
    )
}

/// Clients whose numbers a server draws by lot: interchangeable, and many steps commute.
fn clients(n: usize) -> String {
    format!(
        "const N: {n}; type client: scalarset(N);
         var state: array [client] of 0..3; count: 0..N;
         startstate begin for c: client do state[c] := 0; end; count := 0; end;
         ruleset c: client do
           rule \"step\" state[c] < 3 ==> begin state[c] := state[c] + 1; end;
           rule \"enter\" state[c] = 3 & count < N ==> begin state[c] := 0; count := count + 1; end;
         end;
         invariant \"bound\" count < N | forall c: client do state[c] <= 3 end;"
    )
}

fn checked(text: &str, options: &Options, quantum: u64) -> Report {
    let model = Model::from_text("model", text, Language::Murphi).expect("it is a model");
    let control = Control::default();
    control.set_quantum(quantum);
    let plan = Plan::new(&model, options).expect("the options go together");
    plan.run_with(&control, &mut Silent).expect("there is no defect")
}

/// What must not depend on turns: verdicts, counts, and which run was the answer.
fn shown(report: &Report) -> String {
    let Report { verdict, states, transitions, represented, stop_reason, reduction, partial_order, .. } = report;
    let verdicts: Vec<_> = report.properties.iter().map(|it| (it.subject, it.verdict)).collect();
    let group = report.symmetry.as_ref().map(|symmetry| symmetry.group.as_ref().map(|group| group.order.clone()));
    format!(
        "{verdict:?} {verdicts:?} {states} {transitions} {represented:?} {stop_reason:?} {} {partial_order:?} {group:?}",
        reduction.name
    )
}

#[test]
fn quanta_change_nothing() {
    let reduced = Options::default();
    let plain = Options { symmetry: Symmetry::Off, ..Options::default() };
    let parts = Options { symmetry: Symmetry::Off, partial_order: PartialOrder::Auto, ..Options::default() };
    for (text, options) in [(philosophers(6), &reduced), (philosophers(5), &plain), (clients(7), &parts)] {
        for threads in [1, 4] {
            let options = Options { threads, ..options.clone() };
            let expected = shown(&checked(&text, &options, u64::MAX));
            for quantum in [1, 7] {
                assert_eq!(shown(&checked(&text, &options, quantum)), expected, "{threads} threads, quantum {quantum}");
            }
        }
    }
}

#[test]
fn errors_of_a_search_are_not_interrupts() {
    let report = checked(&philosophers(3), &Options::default(), 1);
    assert_eq!(report.stop_reason.map(|reason| reason.to_string()), Some("a violation was found".to_owned()));
    assert!(report.properties.iter().any(|property| property.subject == Subject::Deadlock));
}
