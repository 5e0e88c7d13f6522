//! Searches that end at a limit, or at a disk that is full, and go on later.

mod transcript;

use std::process::Command;

use transcript::quotient;

const MODEL: &str = "
    const N: 8; type id: 1..N;
    var c: array[id] of 0..3; d: array[id] of 0..9999999;
    startstate begin for i: id do c[i] := 0; d[i] := i; end; end;
    ruleset i: id do rule \"up\" c[i] < 3 ==> begin c[i] := c[i] + 1; end; end;
    rule \"again\" forall i: id do c[i] = 3 end ==> begin for i: id do c[i] := 0; end; end;
";

/// The value of a key of a JSON object.
fn value<'a>(json: &'a str, key: &str) -> &'a str {
    let start = json.find(&format!("\"{key}\":")).map(|at| at + key.len() + 3).expect("the key is there");
    json[start..].split([',', '}']).next().expect("a value follows").trim()
}

#[test]
fn an_exhausted_memory_limit_ends_cleanly_and_the_search_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (model, checkpoint) = (folder.path().join("model.m"), folder.path().join("checkpoint"));
    std::fs::write(&model, MODEL).expect("the model can be written");
    let (model, checkpoint) = (model.to_str().expect("a plain path"), checkpoint.to_str().expect("a plain path"));
    let common = ["check", model, "--symmetry", "off", "--format", "json"];
    let whole = quotient(common);
    assert_eq!(whole.status, Some(0), "{whole}");
    let limited = quotient(common.into_iter().chain(["--checkpoint", checkpoint, "--max-memory", "1500K"]));
    assert_eq!(limited.status, Some(4), "{limited}");
    assert_eq!(value(&limited.stdout, "stop_reason"), "\"memory-limit\"");
    for threads in ["1", "2"] {
        let resumed = quotient(common.into_iter().chain(["--resume", checkpoint, "--threads", threads]));
        assert_eq!(resumed.status, Some(0), "{resumed}");
        for key in ["verdict", "states", "transitions", "depth"] {
            assert_eq!(value(&resumed.stdout, key), value(&whole.stdout, key), "{resumed}");
        }
    }
    let foreign = quotient(["check", "--symmetry", "off", "--deadlock", "off", "--resume", checkpoint, model]);
    assert_eq!(foreign.status, Some(2), "{foreign}");
    assert!(foreign.stderr.contains("another model, or to other options"), "{foreign}");
    let deep = quotient(["check", "--search", "dfs", "--checkpoint", checkpoint, model]);
    assert_eq!(deep.status, Some(2), "{deep}");
    assert!(deep.stderr.contains("breadth-first"), "{deep}");
}

/// A limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_cleanly_and_leaves_the_last_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.m"), MODEL).expect("the model can be written");
    std::fs::write(folder.path().join("checkpoint"), "the last one").expect("the file can be written");
    let script =
        "trap '' XFSZ; ulimit -f 8; \"$0\" check model.m --symmetry off --max-states 4000 --checkpoint checkpoint";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_quotient")])
        .current_dir(folder.path())
        .output()
        .expect("a shell runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("the checkpoint could not be written"), "{said}");
    let left = std::fs::read_to_string(folder.path().join("checkpoint")).expect("it is still there");
    assert_eq!(left, "the last one");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing else is left");
}
