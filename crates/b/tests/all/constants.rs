//! Constants of a B machine that have several valuations belong to the state. What it takes to write them there,
//! loops over the elements of sets and functions included, belongs to the start or rule that does it.

use quotient_b::LANGUAGE;
use quotient_ir::{Interpreter, Layout, Model, Outcome, Source, print_murphi, verify};
use quotient_kit::LoadOptions;

fn machine(text: &str, extra_nodes: bool) -> Model {
    let options = LoadOptions { extra_nodes, ..LoadOptions::default() };
    let loaded = LANGUAGE.load(Source::new("test.mch", text.to_owned()), &options);
    let model = loaded.unwrap_or_else(|error| panic!("{error:?}")).model;
    assert_eq!(verify(&model), Ok(()));
    model
}

/// How many initial states there are.
fn initial_states(model: &Model) -> usize {
    let layout = Layout::new(model).expect("a layout");
    let interpreter = Interpreter::new(model, &layout);
    let mut states = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            match interpreter.run_start(start, &arguments) {
                Outcome::Next { state, .. } if !states.contains(&state) => states.push(state),
                Outcome::Next { .. } | Outcome::Pruned => {}
                Outcome::Fault(fault) => panic!("{fault:?}"),
            }
        }
    }
    states.len()
}

fn check(properties: &str, constants: &str, expected: usize) {
    let text = format!(
        "MACHINE Constants SETS S = {{p, q, r}} CONSTANTS {constants} PROPERTIES {properties}
         VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0 OPERATIONS flip = BEGIN x := 1 - x END END"
    );
    assert_eq!(initial_states(&machine(&text, false)), expected, "{properties}");
    // With the root and the valuations as states of their own there is one initial state.
    let model = machine(&text, true);
    assert_eq!(initial_states(&model), 1, "{properties}");
    let names = model.rules.iter().filter_map(|rule| rule.name.as_deref());
    assert_eq!(names.filter(|name| name.starts_with("SETUP_CONSTANTS")).count(), expected, "{properties}");
    for extra_nodes in [false, true] {
        print_murphi(&machine(&text, extra_nodes), &Default::default())
            .unwrap_or_else(|error| panic!("{properties}: {error:?}"));
    }
}

#[test]
fn sets_that_may_be_empty() {
    check("c <: S", "c", 8);
    check("c : S <-> S & dom(c) <: {p} & p /: ran(c)", "c", 4);
}

#[test]
fn functions_to_sets_that_may_be_empty() {
    check("c : S --> POW(S) & c(q) = {} & c(r) = {} & p /: c(p)", "c", 4);
    check("c : S +-> POW({p}) & card(c) <= 1", "c", 7);
}

#[test]
fn functions_without_arguments() {
    check("c : (1..0) --> S & d : 0..1", "c, d", 2);
    check("c : {p} +-> S & d : {q} --> {r}", "c, d", 4);
}
