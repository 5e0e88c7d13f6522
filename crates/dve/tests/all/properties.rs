//! The automata that DVE properties become: states, labels as cubes over conditions, acceptance.

use quotient_dve::LANGUAGE;
use quotient_ir::{Model, Property, PropertyKind, Source, TemporalClaim};
use quotient_kit::LoadOptions;

const SYSTEM: &str = "
byte x; byte a[3]; int y;
process P { state s, t; init s; trans s -> t { guard x < 3; effect x = x + 1; }, t -> s {}; }
";

fn model(text: &str) -> Model {
    match LANGUAGE.load(Source::new("test.dve", text), &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{text}\n{diagnostics:#?}"),
    }
}

fn property(model: &Model) -> &Property {
    model.properties.iter().find(|it| it.kind == PropertyKind::Temporal).expect("there is a property")
}

/// The conditions, the initial state, and each transition: states, literals, and `!` if it is accepting.
fn show(text: &str) -> String {
    let model = model(text);
    let temporal = property(&model).formula.temporal().expect("a temporal property");
    let TemporalClaim::Never(automaton) = &temporal.claim else { panic!("not an automaton") };
    let mut lines = vec![format!("{:?} from {:?} of {}", temporal.names, automaton.initial, automaton.states)];
    for transition in &automaton.transitions {
        let literals = |mask: u64, sign: &str| -> String {
            (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| format!(" {sign}{bit}")).collect()
        };
        let (positive, negative) = (literals(transition.cube.positive, ""), literals(transition.cube.negative, "-"));
        let accepting = if transition.acceptance == 1 { " !" } else { "" };
        lines.push(format!("{} {}{positive}{negative}{accepting}", transition.from, transition.to));
    }
    lines.join("\n")
}

#[track_caller]
fn check(property: &str, system: &str, expected: &str) {
    assert_eq!(show(&format!("{SYSTEM}process A {{ {property} }}\nsystem {system} property A;")), expected);
}

#[test]
fn guards_become_cubes() {
    check(
        "state q, r; init q; accept r;
         trans q -> q {}, q -> r { guard P.s && not (x == 2 or P.t); }, r -> r { guard not (P.s) and !(x  == 2); };",
        "async",
        "[\"P.s\", \"x == 2\", \"P.t\"] from [0] of 2\n0 0\n0 1 0 -1 -2\n1 1 -0 -1 !",
    );
}

#[test]
fn what_may_be_an_error_stays_behind_its_condition() {
    check(
        "state q; init q; accept q; trans q -> q { guard x < 3 and a[x] == 1; }, q -> q { guard x > 0 and y / x > 1; };",
        "async",
        "[\"x < 3 and a[x] == 1\", \"x > 0 and y / x > 1\"] from [0] of 1\n0 0 0 !\n0 0 1 !",
    );
    check(
        "state q; init q; accept q; trans q -> q { guard a[x] == 1 and x < 3; };",
        "async",
        "[\"a[x] == 1\", \"x < 3\"] from [0] of 1\n0 0 0 1 !",
    );
}

#[test]
fn constants_and_contradictions() {
    check(
        "const byte N = 2; byte v = 3; byte w[2] = {4, 5}; state q, r; init r; accept q, r;
         trans q -> r { guard N == 2 && v == 3; }, q -> r { guard v == 0; }, r -> q { guard P.s && not P.s; },
               r -> r { guard w[1] == 5; };",
        "async",
        "[\"P.s\", \"w[1] == 5\"] from [1] of 2\n0 1 !\n1 1 1 !",
    );
}

/// In a synchronous system nothing moves without the others, not even the automaton.
#[test]
fn a_synchronous_system_that_is_stuck_ends() {
    check(
        "state q; init q; accept q; trans q -> q { guard not P.t; };",
        "sync",
        "[\"a step is possible\", \"P.t\"] from [0] of 1\n0 0 0 -1 !",
    );
}
