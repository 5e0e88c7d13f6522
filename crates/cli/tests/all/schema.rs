//! Every JSON object that the program prints is of the form that `docs/schema` describes, and describes itself.

use std::path::PathBuf;

use crate::transcript::{Transcript, quotient, quotient_with};
use jsonschema::{Registry, Validator};
use serde_json::Value;

fn schema(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(format!("{name}.json"));
    let text = std::fs::read_to_string(path).expect("there is a schema for each command");
    serde_json::from_str(&text).expect("a schema is JSON")
}

/// The validator of what a command prints.
fn validator(command: &str) -> Validator {
    let schema = schema(command);
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{command}: {error}"));
    let common = self::schema("common");
    let registry = Registry::new().add("json-schema:///common.json", &common).expect("a resource");
    let registry = registry.prepare().expect("a registry");
    jsonschema::options().with_registry(&registry).build(&schema).unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// What a command printed, if it is of the form that is described.
fn checked(validator: &Validator, arguments: &[&str], said: &Transcript) -> Value {
    let object: Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{}\n{}", said.stdout, said.stderr));
    let problems: Vec<String> =
        validator.iter_errors(&object).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(problems.is_empty(), "{arguments:?}: {problems:#?}\n{}", said.stdout);
    object
}

fn run(validator: &Validator, arguments: &[&str]) -> (Value, Option<i32>) {
    let said = quotient([arguments, &["--format", "json"]].concat());
    (checked(validator, arguments, &said), said.status)
}

#[test]
fn check() {
    let validator = validator("check");
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoint = folder.path().join("checkpoint").display().to_string();
    let lines: &[&[&str]] = &[
        &["counter.m"],
        &["mutex.m"],
        &["mutex.m", "--statistics"],
        &["stuck.m"],
        &["faulty.m"],
        &["forgotten.m", "--property", "wanted"],
        &["several.m", "--all-errors"],
        &["several.m", "--cover-runs", "--property", "level two"],
        &["counter.m", "--constraint", "true", "--property", "in range"],
        &["grid.m", "--constraint", "false"],
        &["partial.mch"],
        &["partial.mch", "--well-definedness", "error"],
        &["trails/locks.pml"],
        &["missed.m"],
        &["bag.m"],
        &["workers.m", "--cross-check", "--statistics"],
        &["workers.m", "--threads", "2"],
        &["workers.m", "--search", "dfs"],
        &["twins.m", "--store", "compact"],
        &["unfair.m", "--reduction", "adaptive"],
        &["grid.m", "--max-states", "5", "--checkpoint", &checkpoint],
        &["grid.m", "--resume", &checkpoint],
        &["grid.m", "--timeout", "0s"],
        &["temporal.pml"],
        &["dead_code.pml", "--statistics"],
        &["included.pml"],
        &["traced.pml"],
        &["assertions.mch"],
        &["bounds.mch"],
        &["../../../../models/murphi/dining_deadlock.m"],
        &["../../../../models/promela/mutex.pml"],
        &["../../../../models/b/PetersonBroken.mch"],
        &["../../../../models/every/msi.m", "--every", "N"],
        &["../../../../models/every/msi.m", "--every", "N", "-D", "WRONG=1"],
        &["../../../../models/every/msi.m", "--every", "N=3", "--timeout", "0s"],
        &["../../../../models/every/alarm.m", "--every", "N", "--every-method", "cutoff"],
        &["../../../../models/every/token_line.m", "--every", "N"],
        &["../../../../models/every/clients_and_servers.m", "--every", "CLIENTS", "--every", "SERVERS"],
    ];
    for line in lines {
        run(&validator, &[&["check"], *line].concat());
    }
}

#[test]
fn what_is_no_model_is_an_object_too() {
    let validator = validator("check");
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("binary.m");
    std::fs::write(&binary, [0, 1, 2, 255]).expect("a file");
    let unknown = folder.path().join("model.xyz");
    std::fs::write(&unknown, "var x: boolean;").expect("a file");
    for (arguments, code, line, status) in [
        (&["nowhere.m"][..], "unreadable-file", None, 3),
        (&["."], "unreadable-file", None, 3),
        (&[binary.to_str().expect("a name")], "not-text", None, 3),
        (&["invalid.m"], "unknown-name", Some(5), 3),
        (&[unknown.to_str().expect("a name")], "refused", None, 2),
        (&["counter.m", "--property", "nothing"], "refused", None, 2),
        (&["counter.m", "--bitstate-size", "1M"], "usage", None, 2),
    ] {
        let (object, exit) = run(&validator, &[&["check"], arguments].concat());
        assert_eq!(exit, Some(status), "{arguments:?}");
        assert_eq!(object["verdict"], Value::Null, "{arguments:?}");
        let first = &object["diagnostics"][0];
        assert_eq!((first["code"].as_str(), first["line"].as_u64()), (Some(code), line), "{arguments:?}");
        assert_eq!(first["file"], object["model"]["file"], "{arguments:?}");
    }
}

#[test]
fn explore() {
    let validator = validator("explore");
    for line in
        [&["stuck.m"][..], &["workers.m", "--symmetry", "auto"], &["grid.m", "--max-states", "3"], &["faulty.m"]]
    {
        run(&validator, &[&["explore"], line].concat());
    }
    let (_, status) = run(&validator, &["explore", "nowhere.m"]);
    assert_eq!(status, Some(3));
}

#[test]
fn detect() {
    let validator = validator("detect");
    for line in [
        &["mutex.m"][..],
        &["workers.m", "--no-properties"],
        &["unfair.m", "--symmetry", "declared"],
        &["unfair.m", "--symmetry", "off"],
        &["unfair.m", "--why-not"],
        &["mutex.m", "--why-not", "process 0 1"],
        &["unfair.m", "--why-not", "client 0 1"],
        &["unfair.m", "--partial"],
        &["counter.m", "--partial"],
        &["unfair.m", "--family"],
        &["mutex.m", "--family"],
        &["../../../../models/murphi/home_cache.m"],
        &["../../../../models/promela/peterson.pml"],
        &["nowhere.m"],
    ] {
        run(&validator, &[&["detect"], line].concat());
    }
}

#[test]
fn simulate() {
    let validator = validator("simulate");
    for line in [
        &["counter.m", "--seed", "3", "--steps", "4"][..],
        &["faulty.m", "--seed", "1"],
        &["office.pml"],
        &["nowhere.m"],
    ] {
        run(&validator, &[&["simulate", "--random"], line].concat());
    }
    run(&validator, &["simulate", "--check", "--runs", "50", "--seed", "3", "several.m"]);
    run(&validator, &["simulate", "--check", "--runs", "5", "--seed", "3", "counter.m"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json").display().to_string();
    quotient(["check", "--trace-to", &file, "mutex.m"]);
    run(&validator, &["simulate", "--replay", &file, "mutex.m"]);
}

#[test]
fn an_object_says_how_it_came_about() {
    let validator = validator("check");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pml");
    std::fs::write(&path, "#include \"part.h\"\ninit { x = 1 }\n").expect("a model");
    std::fs::write(folder.path().join("part.h"), "byte x;\n").expect("a part of it");
    let line = ["check", path.to_str().expect("a name"), "--threads", "2", "--statistics"];
    let (object, _) = run(&validator, &line);
    assert_eq!(object["tool"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(object["model"]["language"], "promela");
    let files = object["model"]["files"].as_array().expect("a list");
    assert!(files.len() > 1, "{files:?}");
    let own = quotient::TextHash::of(&std::fs::read(path).expect("the model")).to_string();
    assert_eq!(files[0]["sha256"], own);
    assert_ne!(object["model"]["sha256"], own);
    assert_eq!((&object["options"]["threads"], &object["options"]["statistics"]), (&"2".into(), &true.into()));
    assert_eq!(object["threads"], 2);
    let (other, _) = run(&validator, &["check", "counter.m", "-D", "Limit=2"]);
    assert_eq!((&other["definitions"]["Limit"], &other["states"]), (&"2".into(), &3.into()));
    // A model without a file has a text all the same.
    let text = std::fs::read(crate::transcript::models().join("counter.m")).expect("the model");
    let said = quotient_with(["check", "-", "--format", "json"], &text, &[]);
    let object = checked(&validator, &["-"], &said);
    assert_eq!(object["model"]["file"], "<stdin>");
    assert_eq!(object["model"]["sha256"], quotient::TextHash::of(&text).to_string());
}

#[test]
fn the_failing_rule_is_a_field() {
    let validator = validator("check");
    let (object, _) = run(&validator, &["check", "mutex.m"]);
    let violation = &object["properties"][0]["violation"];
    assert_eq!(
        (&violation["rule"]["name"], &violation["rule"]["arguments"]["p"]),
        (&"enter".into(), &"process_1".into())
    );
    assert!(violation["rule"]["line"].as_u64() < violation["line"].as_u64(), "{violation}");
    assert_eq!(object["properties"][2]["verdict"], "undecided");
    assert_eq!(object["summary"], "violated: invariant \"mutual exclusion\"");
    let (object, _) = run(&validator, &["check", "stuck.m"]);
    assert_eq!(object["properties"][0]["violation"].get("rule"), None);
}

#[test]
fn rules_and_levels_are_counted() {
    let validator = validator("check");
    let times = |object: &Value| -> u64 {
        let fired = object["fired"].as_array().expect("a list");
        fired.iter().map(|entry| entry["times"].as_str().expect("digits").parse::<u64>().expect("a number")).sum()
    };
    let line = ["check", "workers.m", "--statistics", "--property", "errors"];
    let (reduced, _) = run(&validator, &line);
    let (whole, _) = run(&validator, &[&line[..], &["--symmetry", "off"]].concat());
    assert!(reduced["states"].as_u64() < whole["states"].as_u64());
    assert_eq!(times(&reduced), times(&whole));
    assert_eq!(Some(times(&whole)), whole["transitions"].as_u64());
    let levels = whole["states_per_level"].as_array().expect("a list");
    assert_eq!(levels.iter().filter_map(Value::as_u64).sum::<u64>(), whole["states"].as_u64().expect("a number"));
    let (depth_first, _) = run(&validator, &["check", "workers.m", "--search", "dfs"]);
    assert_eq!(depth_first.get("states_per_level"), None);
    // Without the option nobody pays for it.
    assert_eq!(run(&validator, &["check", "workers.m"]).0.get("fired"), None);
    // Nothing is said that is not known.
    let (stopped, _) = run(&validator, &["check", "workers.m", "--statistics", "--max-states", "5"]);
    assert_eq!(stopped.get("fired"), None);
    assert!(stopped["notes"].to_string().contains("how often rules fire is not known"), "{stopped}");
}

#[test]
fn verify() {
    let validator = validator("verify");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("certificate").display().to_string();
    quotient(["detect", "workers.m", "--certificate", &path]);
    let (object, status) = run(&validator, &["verify", &path, "workers.m"]);
    assert_eq!((object["verdict"].as_str(), status), (Some("certified"), Some(0)));
    let wrong = std::fs::read_to_string(&path).expect("a certificate").replace("\"order\": \"", "\"order\": \"7");
    std::fs::write(&path, wrong).expect("a certificate");
    let (object, status) = run(&validator, &["verify", &path, "workers.m"]);
    assert_eq!((object["verdict"].as_str(), status), (Some("refuted"), Some(1)));
    let (object, status) = run(&validator, &["verify", &path, "mutex.m"]);
    assert_eq!((object["diagnostics"][0]["code"].as_str(), status), (Some("other-model"), Some(3)));
}
