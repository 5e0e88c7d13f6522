//! Runs as files: written by `check` and `simulate`, stepped through by `simulate --replay`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::transcript::{Transcript, expect, quotient, quotient_with};
use snapbox::str;
use tempfile::TempDir;

/// A file in a folder of its own.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the run was written")
    }
    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the folder can be written to");
    }
    /// Checks a model and writes the run that violates something.
    fn check(&self, name: &str, arguments: &[&str]) -> Transcript {
        let path = self.path(name);
        let first = ["check", "--no-progress", "--trace-to"].map(Path::new);
        quotient(first.into_iter().chain([path.as_path()]).chain(arguments.iter().map(Path::new)))
    }
    fn replay(&self, name: &str, arguments: &[&str]) -> Transcript {
        let path = self.path(name);
        let first = ["simulate", "--replay"].map(Path::new);
        let mut said = quotient(first.into_iter().chain([path.as_path()]).chain(arguments.iter().map(Path::new)));
        let folder = format!("{}{}", self.folder.path().display(), std::path::MAIN_SEPARATOR);
        said.stderr = said.stderr.replace(&folder, "");
        said
    }
}

/// The part of what `check` says that is a run.
fn run_in(text: &str) -> String {
    let start = text.find("\n 0  ").expect("there is a run") + 1;
    let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
    text[start..end].to_owned()
}

/// A written run is replayed to the same text, in both formats, whatever the search was that found it.
#[test]
fn round_trips() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let own = |name: &str| format!("{examples}/{name}");
    let cases: Vec<(String, Vec<&str>)> = vec![
        ("mutex.m".into(), vec![]),
        ("mutex.m".into(), vec!["--symmetry", "off"]),
        ("mutex.m".into(), vec!["-D", "Processes=4", "--reduction", "sorted"]),
        ("mutex.m".into(), vec!["--search", "dfs"]),
        ("faulty.m".into(), vec![]),
        ("stuck.m".into(), vec![]),
        ("forgotten.m".into(), vec![]),
        ("messages.pml".into(), vec![]),
        ("office.pml".into(), vec![]),
        ("office.pml".into(), vec!["--store-passing"]),
        ("traced.pml".into(), vec![]),
        ("watched.pml".into(), vec![]),
        ("assertions.mch".into(), vec![]),
        ("bounds.mch".into(), vec![]),
        (own("murphi/german_forgotten_reader.m"), vec![]),
        (own("murphi/dining_deadlock.m"), vec!["--threads", "2"]),
        (own("b/PetersonBroken.mch"), vec![]),
        (own("b/PhoneBookBroken.mch"), vec![]),
        (own("b/PhoneBookBroken.mch"), vec!["--no-extra-nodes"]),
    ];
    for (model, options) in &cases {
        for name in ["run.json", "run.itf.json"] {
            let scene = Scene::new();
            let mut arguments = options.clone();
            arguments.push(model);
            let checked = scene.check(name, &arguments);
            assert_eq!(checked.status, Some(1), "{model} {options:?}: {checked}");
            let replayed = scene.replay(name, &[model]);
            assert_eq!(replayed.stderr.replace("note: ", ""), checked.stderr, "{model} {options:?}");
            assert_eq!(replayed.status, Some(1), "{model} {options:?} {name}: {replayed}");
            assert_eq!(
                run_in(&format!("\n{}", replayed.stdout)),
                run_in(&checked.stdout),
                "{model} {options:?} {name}"
            );
            // What was replayed can be written again, and is the same but for the command.
            let again = scene.path(&format!("again.{name}"));
            scene.replay(name, &["--trace-to", &again.to_string_lossy(), model]);
            let (first, second) = (scene.read(name), scene.read(&format!("again.{name}")));
            let second = second.replace("\"command\": \"simulate\"", "\"command\": \"check\"");
            let without_property = |text: &str| {
                text.lines().filter(|line| !line.contains("\"property\": ")).collect::<Vec<_>>().join("\n")
            };
            assert_eq!(without_property(&second), without_property(&first), "{model} {options:?}");
        }
    }
}

#[test]
fn the_format_describes_itself() {
    let scene = Scene::new();
    scene.check("run.json", &["-D", "Processes=2", "mutex.m"]);
    let text = scene.read("run.json");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["format"], "quotient-run");
    assert_eq!(value["version"], 1);
    assert_eq!(value["tool"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(value["model"]["file"], "mutex.m");
    assert_eq!(value["model"]["language"], "murphi");
    assert_eq!(value["model"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(value["definitions"][0], "Processes=2");
    assert_eq!(value["property"]["name"], "mutual exclusion");
    assert_eq!(value["violation"]["kind"], "property");
    let step = &value["steps"][1];
    assert_eq!(step["kind"], "rule");
    assert_eq!(step["name"], "try");
    assert!(step["arguments"]["p"].is_string(), "{step}");
    assert_eq!(step["state"]["locked"], false);
    assert_eq!(value["steps"][0]["state"]["last"], serde_json::Value::Null);

    scene.check("run.json", &["messages.pml"]);
    let value: serde_json::Value = serde_json::from_str(&scene.read("run.json")).expect("it is JSON");
    let processes = &value["steps"][1]["processes"][0];
    assert!(processes["line"].is_number() && processes["statement"].is_string(), "{processes}");

    scene.check("run.itf.json", &["mutex.m"]);
    let value: serde_json::Value = serde_json::from_str(&scene.read("run.itf.json")).expect("it is JSON");
    assert_eq!(value["#meta"]["format"], "ITF");
    assert_eq!(value["vars"], serde_json::json!(["at", "locked", "last"]));
    let first = serde_json::json!({"#map": [["process_0", "idle"], ["process_1", "idle"]]});
    assert_eq!(value["states"][0]["at"], first);
    assert_eq!(value["states"][0]["#meta"]["index"], 0);
}

#[test]
fn lassos() {
    let scene = Scene::new();
    let path = scene.path("run.json");
    quotient(["simulate", "--seed", "3", "--steps", "4", "counter.m", "--trace-to", &path.to_string_lossy()]);
    scene.write("lasso.json", &scene.read("run.json").replace("\"loop\": null", "\"loop\": 0"));
    let expected = str![[r#"
 0  Startstate "Zero"
      count: 0
    the cycle begins here
 1  Rule "increment"
      count: 0 → 1
 2  Rule "increment"
      count: 1 → 2
 3  Rule "increment"
      count: 2 → 3
 4  Rule "reset"
      count: 3 → 0
    the cycle leads back to the state after step 0, and repeats forever
---- exit status 0

"#]];
    expect(scene.replay("lasso.json", &["counter.m"]), expected.clone());
    let path = scene.path("lasso.itf.json");
    scene.replay("lasso.json", &["--trace-to", &path.to_string_lossy(), "counter.m"]);
    let text = scene.read("lasso.itf.json");
    assert!(text.contains("\"loop\": 0") && text.matches("\"index\"").count() == 4, "{text}");
    expect(scene.replay("lasso.itf.json", &["counter.m"]), expected);
    scene.write("open.json", &scene.read("run.json").replace("\"loop\": null", "\"loop\": 1"));
    expect(
        scene.replay("open.json", &["counter.m"]),
        str![[r#"
---- stderr
error[run-file]: the last step does not lead back to the state after step 1: `count` differs
  --> open.json:22:11
   |
22 |   "loop": 1,
   |           ^

1 error
---- exit status 3

"#]],
    );
}

/// States written by others, with numbers as such, sets and maps in another order, and without our hints.
#[test]
fn foreign_itf() {
    let scene = Scene::new();
    let states = r##"{"vars": ["at", "locked"], "states": [
      {"at": {"#map": [["process_1", "idle"], ["process_0", "idle"]]}, "locked": false},
      {"at": {"#map": [["process_1", "trying"], ["process_0", "idle"]]}, "locked": false},
      {"at": {"#map": [["process_1", "critical"], ["process_0", "idle"]]}, "locked": true}]}"##;
    scene.write("foreign.itf.json", states);
    let replayed = scene.replay("foreign.itf.json", &["mutex.m"]);
    assert!(replayed.stdout.contains("2  Rule \"enter\", p: process_1"), "{replayed}");
    scene.write("number.itf.json", r##"{"vars": ["count"], "states": [{"count": 0}, {"count": {"#bigint": "1"}}]}"##);
    assert_eq!(scene.replay("number.itf.json", &["counter.m"]).status, Some(0));
    scene.write("wrong.itf.json", r#"{"vars": ["count"], "states": [{"count": 0}, {"count": 2}]}"#);
    expect(
        scene.replay("wrong.itf.json", &["counter.m"]),
        str![[r##"
---- stderr
error[run-file]: no step of the model leads from state 0 to state 1
 --> wrong.itf.json:1:56
  |
1 | {"vars": ["count"], "states": [{"count": 0}, {"count": 2}]}
  |                                                        ^
  |
  = help: the nearest state that can be reached has `count` = {"#bigint": "1"}

1 error
---- exit status 3

"##]],
    );
}

/// The same keys as in any run by hand, and those that follow the record.
#[test]
fn stepping() {
    let scene = Scene::new();
    scene.check("run.json", &["mutex.m"]);
    let path = scene.path("run.json");
    let arguments =
        ["simulate", "--interactive", "--values", "defined", "--replay", &path.to_string_lossy(), "mutex.m"];
    expect(
        quotient_with(arguments, b"n\nu\n2\nn\nu\ne\nn\nq\n", &[]),
        str![[r#"
  0  Startstate "free"
       at[process_0]: idle
       at[process_1]: idle
       locked: false

  1) Rule "try", p: process_0 (likewise 2)
>   1  Rule "try", p: process_0
       at[process_0]: trying
       at[process_1]: idle
       locked: false

  1) Rule "try", p: process_1
  2) Rule "enter", p: process_0
> back after step 0

  1) Rule "try", p: process_0 (likewise 2)
>   1  Rule "try", p: process_1
       at[process_0]: idle
       at[process_1]: trying
       locked: false

  1) Rule "try", p: process_0
  2) Rule "enter", p: process_1
> this is not the recorded run any more; undo to get back to it

  1) Rule "try", p: process_0
  2) Rule "enter", p: process_1
> back after step 0

  1) Rule "try", p: process_0 (likewise 2)
>   1  Rule "try", p: process_0
       at[process_0]: trying
       at[process_1]: idle
       locked: false
  2  Rule "try", p: process_1
       at[process_0]: trying
       at[process_1]: trying
       locked: false
  3  Rule "enter", p: process_0
       at[process_0]: critical
       at[process_1]: trying
       locked: true
       last: process_0
  4  Rule "enter", p: process_1
       at[process_0]: critical
       at[process_1]: critical
       locked: true
       last: process_1
     invariant "mutual exclusion" fails here
     mutex.m:37:1
     37 | invariant "mutual exclusion"
     true for p = process_0, q = process_1: at[p] = critical & at[q] = critical (mutex.m:39:17)
       while p != q
       here at[process_0] = critical, at[process_1] = critical

  1) Rule 3, p: process_0 (mutex.m:30:3)
  2) Rule 3, p: process_1 (mutex.m:30:3)
> the recorded run ends here

  1) Rule 3, p: process_0 (mutex.m:30:3)
  2) Rule 3, p: process_1 (mutex.m:30:3)
> 
---- exit status 0

"#]],
    );
}

#[test]
fn how_much_of_states_is_shown() {
    let scene = Scene::new();
    scene.check("run.json", &["mutex.m"]);
    expect(
        scene.replay("run.json", &["--values", "all", "mutex.m"]),
        str![[r#"
 0  Startstate "free"
      at[process_0]: idle
      at[process_1]: idle
      locked: false
      last: undefined
 1  Rule "try", p: process_0
      at[process_0]: trying
      at[process_1]: idle
      locked: false
      last: undefined
 2  Rule "try", p: process_1
      at[process_0]: trying
      at[process_1]: trying
      locked: false
      last: undefined
 3  Rule "enter", p: process_0
      at[process_0]: critical
      at[process_1]: trying
      locked: true
      last: process_0
 4  Rule "enter", p: process_1
      at[process_0]: critical
      at[process_1]: critical
      locked: true
      last: process_1
    invariant "mutual exclusion" fails here
    mutex.m:37:1
    37 | invariant "mutual exclusion"
    true for p = process_0, q = process_1: at[p] = critical & at[q] = critical (mutex.m:39:17)
      while p != q
      here at[process_0] = critical, at[process_1] = critical
---- exit status 1

"#]],
    );
    let defined = scene.replay("run.json", &["--values", "defined", "--last-state", "mutex.m"]);
    assert!(!defined.stdout.contains("undefined"), "{defined}");
    let checked = quotient(["check", "--no-progress", "--last-state", "mutex.m"]);
    assert!(checked.stdout.contains("\nthe last state:\n  at[process_0]: critical\n"), "{checked}");
    let random = quotient(["simulate", "--seed", "3", "--steps", "4", "--last-state", "counter.m"]);
    assert!(random.stdout.ends_with("\nthe last state:\n  count: 0\n"), "{random}");
}

/// Every way to break a file gives a message with a place in it, and exit status 3.
#[test]
fn broken_files() {
    let scene = Scene::new();
    scene.check("run.json", &["mutex.m"]);
    scene.check("run.itf.json", &["mutex.m"]);
    let (text, itf) = (scene.read("run.json"), scene.read("run.itf.json"));
    let half = &text[..text.len() / 2];
    let without = |key: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(&format!("\"{key}\"")));
        lines.collect::<Vec<_>>().join("\n")
    };
    let second = text.rfind("\"number\": 2").expect("a second step");
    let later = |from: &str, to: &str| format!("{}{}", &text[..second], text[second..].replacen(from, to, 1));
    let cases: Vec<(&str, String, &str)> = vec![
        ("empty", String::new(), "this is not JSON: the file ends here, a value is expected here"),
        ("truncated", half.to_owned(), "this is not JSON: the file ends here"),
        ("other JSON", "{\"a\": 1}".into(), "this is not a run"),
        ("a list", "[1, 2]".into(), "this is not a run: an object is expected"),
        ("format", text.replace("quotient-run", "something"), "its format is not \"quotient-run\""),
        ("version", text.replace("\"version\": 1", "\"version\": 99"), "this version of the format is not known"),
        ("no version", without("version"), "`version` is missing"),
        ("no violation", text.replace("\"violation\":", "\"was\":"), "`violation` is missing"),
        ("no steps", text.replace("\"steps\":", "\"was\":"), "`steps` is missing"),
        ("no state", text.replacen("\"state\":", "\"was\":", 1), "`state` is missing"),
        ("no kind", text.replacen("\"kind\": \"start\",", "", 1), "`kind` is missing"),
        ("kind", text.replacen("\"kind\": \"rule\"", "\"kind\": \"leap\"", 1), "`kind` must be \"start\" or \"rule\""),
        ("value", text.replacen("\"idle\"", "\"asleep\"", 1), "`at[process_0]` cannot be \"asleep\""),
        ("kind of value", text.replacen("\"locked\": false", "\"locked\": 0", 1), "`locked` cannot be 0"),
        ("undefined", text.replacen("\"locked\": false", "\"locked\": null", 1), "is false, not undefined"),
        (
            "other value",
            later("\"locked\": false", "\"locked\": true"),
            "leads to a state in which `locked` is false, not true",
        ),
        ("variable", text.replacen("\"locked\"", "\"blocked\"", 1), "the model has no variable `blocked`"),
        ("no variable", text.replacen("\"locked\": false,", "", 1), "the state says nothing about `locked`"),
        ("rule", text.replacen("\"name\": \"try\"", "\"name\": \"cry\"", 1), "the model has no rule `cry`"),
        ("argument", later("\"p\": \"process_", "\"q\": \"process_"), "there is no parameter `q`"),
        ("argument value", later("\"p\": \"process_", "\"p\": \"process_7"), "`p` cannot be \"process_7"),
        ("order", text.replacen("\"number\": 1", "\"number\": 2", 1), "this is step 1: steps are missing"),
        ("property", text.replace("\"property\": \"mutual exclusion\"", "\"property\": \"x\""), "has no property `x`"),
        ("loop", text.replace("\"loop\": null", "\"loop\": 17"), "the loop must begin at a step before the last"),
        ("twice", text.replacen("\"number\": 1", "\"number\": 1, \"number\": 1", 1), "`number` is here twice"),
        ("definitions", text.replace("\"definitions\": []", "\"definitions\": 7"), "must be a list of texts"),
        ("language", text.replace("\"language\": \"murphi\"", "\"language\": \"c\""), "this language is not known"),
        ("violation", text.replace("\"kind\": \"property\"", "\"kind\": \"bug\""), "kind of violation is not known"),
        (
            "no deadlock",
            text.replace("\"kind\": \"property\"", "\"kind\": \"deadlock\", \"mode\": \"stuck\""),
            "the run does not end in this violation: a rule can leave the last state",
        ),
        ("ITF variable", itf.replacen("\"locked\"", "\"blocked\"", 1), "the model has no variable `blocked`"),
        (
            "ITF value",
            itf.replacen("\"locked\": false", "\"locked\": true", 1),
            "no initial state of the model is state 0",
        ),
        ("ITF states", itf.replace("\"states\": [", "\"states\": [], \"was\": ["), "must be a list of states"),
        ("ITF loop", itf.replace("\"params\": []", "\"loop\": 0"), "no step of the model closes the loop"),
    ];
    for (what, broken, message) in &cases {
        scene.write("broken.json", broken);
        let said = scene.replay("broken.json", &["mutex.m"]);
        assert_eq!(said.status, Some(3), "{what}: {said}");
        assert!(said.stderr.contains(message), "{what}: {said}");
        assert!(said.stderr.contains("--> broken.json:"), "{what}: {said}");
    }
    // The file of another model, and other constants than the command line has.
    for (model, message) in [("counter.m", "the model has no"), ("messages.pml", "the model has no")] {
        let said = scene.replay("run.json", &["--language", "murphi", model]);
        assert_eq!(said.status, Some(3), "{said}");
        assert!(said.stderr.contains(message) || model == "messages.pml", "{said}");
    }
    let said = scene.replay("run.json", &["-D", "Processes=3", "mutex.m"]);
    assert!(said.status == Some(3) && said.stderr.contains("the run was made without -D Processes=3"), "{said}");
    assert_eq!(scene.replay("none.json", &["mutex.m"]).status, Some(3));
    expect(
        scene.replay("run.json", &["counter.m"]),
        str![[r#"
---- stderr
error[run-file]: the model has no start `free`
  --> run.json:35:15
   |
35 |       "name": "free",
   |               ^^^^^^
   |
   = help: the text of the model is not the one that the run was written for (`mutex.m`)

1 error
---- exit status 3

"#]],
    );
}

#[test]
fn nothing_to_write() {
    let scene = Scene::new();
    let mut said = scene.check("run.json", &["counter.m"]);
    said.stderr = said.stderr.replace(&scene.path("run.json").display().to_string(), "run.json");
    assert_eq!(said.status, Some(0), "{said}");
    assert_eq!(said.stderr, "note: there is no run to write to `run.json`\n");
    assert!(!scene.path("run.json").exists());
    let said = quotient(["check", "--trace-to", "run.txt", "mutex.m"]);
    assert!(said.status == Some(2) && said.stderr.contains("must end in .json or .itf.json"), "{said}");
    let said = quotient(["check", "--trace-to", "no/such/folder/run.json", "mutex.m"]);
    assert_eq!(said.status, Some(2), "{said}");
}
