//! Compiled code and the reference interpreter agree on Promela models, whose many control points,
//! wide states and channels use other ways through the compiler than Murphi models do.

use std::path::Path;

use quotient_ir::Diagnostic;
use quotient_testkit::agreement::compare_compiled;
use quotient_testkit::promela::load_promela;
use quotient_testkit::random_promela::random_promela;

/// Compares the first states of a model, if it is one.
fn agrees(path: &Path, limit: usize) -> Result<usize, String> {
    match load_promela(path, &[], false) {
        Ok(model) => compare_compiled(&model, limit).map_err(|error| format!("{}: {error}", path.display())),
        Err(diagnostics) if diagnostics.iter().any(Diagnostic::is_error) => Ok(0),
        Err(_) => Err(format!("{}: refused without an error", path.display())),
    }
}

#[test]
fn on_the_example_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).expect("there are example models").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "pml") {
            compared += agrees(&entry.path(), 400).expect("compiled code is right");
        }
    }
    assert!(compared > 1000, "only {compared} states");
}

#[test]
fn on_random_programs() {
    let folder = tempfile::tempdir().expect("a folder for programs");
    let mut compared = 0;
    for seed in 1..=80 {
        let path = folder.path().join(format!("random{seed}.pml"));
        std::fs::write(&path, random_promela(seed)).expect("a program can be written");
        compared += agrees(&path, 200).expect("compiled code is right");
    }
    assert!(compared > 1000, "only {compared} states");
}

/// Several processes that wait for a timeout, so that compiled guards share the question whether anybody can move,
/// and arrays of channels that nobody changes.
const TIMEOUTS: &str = "
mtype = { data, ack };
chan forth[2] = [1] of { mtype, bit };
chan back[2] = [1] of { mtype, bit };
chan hand = [0] of { byte };
byte sent[2];

active [2] proctype sender() {
    bit turn;
    byte me = _pid;
    do
    :: sent[me] < 3 -> forth[me]!data(turn); sent[me]++
    :: back[me]?ack(eval(turn)) -> turn = 1 - turn
    :: back[me]?ack(eval(1 - turn))
    :: timeout -> forth[me]!data(turn)
    :: sent[me] == 3 && empty(forth[me]) && empty(back[me]) -> hand!me; break
    od
}

active [2] proctype receiver() {
    bit turn;
    byte it = _pid - 2;
    do
    :: forth[it]?data(turn) -> if :: back[it]!ack(turn) :: skip fi
    :: forth[it]?data(turn)
    :: timeout -> if :: sent[it] == 3 -> break :: else -> back[it]!ack(turn) fi
    od
}

active proctype judge() {
    byte who, more;
    do
    :: hand?who -> more++
    :: timeout -> break
    :: more == 2 -> break
    od
}
";

#[test]
fn on_timeouts_and_constant_channels() {
    let folder = tempfile::tempdir().expect("a folder for programs");
    let path = folder.path().join("timeouts.pml");
    std::fs::write(&path, TIMEOUTS).expect("a program can be written");
    let compared = agrees(&path, 3000).expect("compiled code is right");
    assert!(compared > 1000, "only {compared} states");
}
