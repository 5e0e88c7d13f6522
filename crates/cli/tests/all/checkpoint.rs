//! Searches that end at a limit, or at a disk that is full, and go on later; and searches that go on on
//! disk.

use std::process::Command;

use crate::transcript::quotient;

const MODEL: &str = "
    const N: 9; type id: 1..N;
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
    let common = ["check", model, "--symmetry", "off", "--partial-order", "off", "--format", "json"];
    let whole = quotient(common);
    assert_eq!(whole.status, Some(0), "{whole}");
    let limited = quotient(common.into_iter().chain(["--checkpoint", checkpoint, "--max-memory", "24M"]));
    assert_eq!(limited.status, Some(4), "{limited}");
    assert_eq!(value(&limited.stdout, "stop_reason"), "\"memory-limit\"");
    let note = format!("what was found is in `{checkpoint}`: --resume {checkpoint} continues from there");
    assert_eq!(limited.stderr, format!("note: {note}\n"));
    for threads in ["1", "2"] {
        let resumed = quotient(common.into_iter().chain(["--resume", checkpoint, "--threads", threads]));
        assert_eq!(resumed.status, Some(0), "{resumed}");
        for key in ["verdict", "states", "transitions", "depth"] {
            assert_eq!(value(&resumed.stdout, key), value(&whole.stdout, key), "{resumed}");
        }
        // What the first run found is not what this one found in its time.
        let inherited: u64 = value(&resumed.stdout, "resumed_states").parse().expect("a number");
        let found: u64 = value(&limited.stdout, "states").parse().expect("a number");
        assert!(0 < inherited && inherited <= found, "{inherited} of {found}");
        let shown =
            quotient(["check", model, "--symmetry", "off", "--resume", checkpoint, "--threads", threads]).stdout;
        assert!(shown.contains(" since the checkpoint of "), "{shown}");
    }
    assert!(!whole.stdout.contains("resumed_states"), "{whole}");
    let foreign = quotient(["check", "--symmetry", "off", "--deadlock", "off", "--resume", checkpoint, model]);
    assert_eq!(foreign.status, Some(2), "{foreign}");
    assert!(foreign.stderr.contains("it belongs to another search: --deadlock was stuttering and is off"), "{foreign}");
    let deep = quotient(["check", "--search", "dfs", "--checkpoint", checkpoint, model]);
    assert_eq!(deep.status, Some(2), "{deep}");
    assert!(deep.stderr.contains("breadth-first"), "{deep}");
}

#[test]
fn a_checkpoint_that_does_not_fit_says_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (model, other) = (folder.path().join("model.m"), folder.path().join("other.m"));
    let checkpoint = folder.path().join("checkpoint").display().to_string();
    std::fs::write(&model, MODEL).expect("the model can be written");
    std::fs::write(&other, format!("{MODEL}invariant \"small\" c[1] < 4;")).expect("the model can be written");
    let (model, other) = (model.to_str().expect("a plain path"), other.to_str().expect("a plain path"));
    let write: &[&str] = &["check", model, "-D", "N=5", "--max-states", "50", "--checkpoint", &checkpoint];
    assert_eq!(quotient(write).status, Some(4));
    let resume = |arguments: &[&str]| quotient([&["check", "--resume", &checkpoint], arguments].concat());
    for (arguments, difference) in [
        (&[model, "-D", "N=6"][..], "-D N was 5 and is 6"),
        (&[model], "-D N was 5 and is not given"),
        (&[model, "-D", "N=5", "--symmetry", "off"], "the reduction was canonical and is none"),
        (&[model, "-D", "N=5", "--reduction", "sorted"], "the reduction was canonical and is sorted"),
        (&[model, "-D", "N=5", "--property", "errors"], "--property was all and is errors"),
        (&[other, "-D", "N=5"], "the text of the model differs"),
        (
            &[other, "-D", "N=5", "--deadlock", "off"],
            "the text of the model differs; --deadlock was stuttering and is off",
        ),
    ] {
        let said = resume(arguments);
        assert_eq!(said.status, Some(2), "{said}");
        assert!(said.stderr.contains(&format!("it belongs to another search: {difference}")), "{arguments:?}: {said}");
    }
    // The same text is the same model, whatever its file is called.
    std::fs::copy(model, other).expect("the model can be copied");
    assert_eq!(resume(&[other, "-D", "N=5"]).status, Some(0));
    // What another version wrote is not damaged, and cannot be read all the same.
    let mut bytes = std::fs::read(&checkpoint).expect("there is a checkpoint");
    bytes[..24].copy_from_slice(b"quotient checkpoint v2\n\0");
    std::fs::write(&checkpoint, &bytes).expect("the checkpoint can be written");
    let said = resume(&[model, "-D", "N=5"]);
    assert!(said.stderr.contains("another version of quotient (form v2, and this version reads v"), "{said}");
}

/// Runs a script of a shell that calls the program as `$0`.
#[cfg(unix)]
fn run_script(script: &str, folder: &std::path::Path) -> std::process::Output {
    Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_quotient")])
        .current_dir(folder)
        .output()
        .expect("a shell runs")
}

/// An interrupt leaves a checkpoint behind, and says where.
#[cfg(unix)]
#[test]
fn an_interrupted_search_says_where_it_can_be_continued() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.m"), MODEL).expect("the model can be written");
    // Large enough that it is never finished before the interrupt.
    let script = "\"$0\" check -D N=16 model.m --symmetry off --checkpoint file --timeout 60s & \
                  sleep 1; kill -INT $!; wait $!";
    let output = run_script(script, folder.path());
    let (said, noted) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{said}{noted}");
    assert!(said.starts_with("inconclusive: the search was interrupted"), "{said}");
    assert_eq!(noted, "note: what was found is in `file`: --resume file continues from there\n");
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
    let output = run_script(script, folder.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("the checkpoint could not be written"), "{said}");
    let left = std::fs::read_to_string(folder.path().join("checkpoint")).expect("it is still there");
    assert_eq!(left, "the last one");
    // There is one, and not of this search.
    assert!(!String::from_utf8_lossy(&output.stderr).contains("--resume"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing else is left");
}

#[test]
fn a_search_goes_on_on_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let (model, spill) = (folder.path().join("model.m"), folder.path().join("spill"));
    std::fs::write(&model, MODEL).expect("the model can be written");
    std::fs::create_dir(&spill).expect("a folder can be made");
    let (model, spill) = (model.to_str().expect("a plain path"), spill.to_str().expect("a plain path"));
    let common = ["check", "-D", "N=10", model, "--format", "json", "--partial-order", "off", "--symmetry"];
    let limited = ["--max-memory", "48M", "--spill", spill];
    for symmetry in ["off", "auto"] {
        let whole = quotient(common.into_iter().chain([symmetry]));
        assert_eq!(whole.status, Some(0), "{whole}");
        for threads in ["1", "2"] {
            let spilled = quotient(common.into_iter().chain([symmetry, "--threads", threads]).chain(limited));
            assert_eq!(spilled.status, Some(0), "{spilled}");
            for key in ["verdict", "states", "transitions", "depth", "represented"] {
                assert_eq!(value(&spilled.stdout, key), value(&whole.stdout, key), "{spilled}");
            }
            assert!(symmetry == "auto" || spilled.stdout.contains("\"disk_bytes\""), "{spilled}");
        }
    }
    let full = quotient(common.into_iter().chain(["off", "--max-disk", "300K"]).chain(limited));
    assert_eq!(full.status, Some(4), "{full}");
    assert_eq!(value(&full.stdout, "stop_reason"), "\"disk-limit\"");
    let missing = quotient([
        "check",
        "-D",
        "N=10",
        model,
        "--symmetry",
        "off",
        "--partial-order",
        "off",
        "--max-memory",
        "48M",
        "--spill",
        "no/such/folder",
    ]);
    assert_eq!(missing.status, Some(4), "{missing}");
    assert!(missing.stdout.contains("states could not be kept on disk"), "{missing}");
    assert_eq!(std::fs::read_dir(spill).expect("a folder").count(), 0, "nothing is left");
    for refused in [["--search", "dfs"], ["--store", "compact"], ["--reduction", "adaptive"], ["--checkpoint", "file"]]
    {
        let transcript = quotient(["check", model].into_iter().chain(limited).chain(refused));
        assert_eq!(transcript.status, Some(2), "{transcript}");
    }
}

/// A limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_a_search_on_disk_cleanly() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.m"), MODEL).expect("the model can be written");
    let script = "trap '' XFSZ; ulimit -f 100; \"$0\" check model.m --symmetry off --partial-order off --max-memory 24M --spill .";
    let output = run_script(script, folder.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("states could not be kept on disk"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left");
}
