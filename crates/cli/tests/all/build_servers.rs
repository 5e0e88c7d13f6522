//! `quotient check --format junit` and `--format sarif`: what build servers read.

use crate::transcript::{Transcript, models, quotient};
use serde_json::Value;

fn junit(arguments: &[&str]) -> Transcript {
    let said = quotient([&["check", "--format", "junit"], arguments].concat());
    assert_well_formed(&said.stdout);
    said
}

/// Checks that tags match, that attributes are quoted, and that nothing is left unescaped.
fn assert_well_formed(xml: &str) {
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a declaration");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    let mut elements = 0;
    while let Some(start) = rest.find('<') {
        assert_escaped(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{xml}");
            continue;
        }
        let content = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = content.split_once(' ').unwrap_or((content, ""));
        assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
        attributes.split('"').for_each(assert_escaped);
        elements += 1;
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && elements > 2 && rest.trim().is_empty(), "{xml}");
}

fn assert_escaped(text: &str) {
    assert!(!text.contains('<'), "{text}");
    let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#10;", "&#13;", "&#9;"];
    for (position, _) in text.match_indices('&') {
        assert!(known.iter().any(|entity| text[position..].starts_with(entity)), "{text}");
    }
    assert!(text.chars().all(|character| character == '\n' || character == '\t' || character >= ' '), "{text:?}");
}

#[test]
fn junit_has_a_test_case_for_each_property() {
    let said = junit(&["mutex.m"]);
    assert_eq!(said.status, Some(1));
    let xml = &said.stdout;
    assert!(xml.contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""), "{xml}");
    assert!(xml.contains("<testcase name=\"invariant &quot;mutual exclusion&quot;\" classname=\"mutex.m\" file=\"mutex.m\" line=\"37\">"), "{xml}");
    assert!(
        xml.contains("<failure type=\"invariant\" message=\"invariant &quot;mutual exclusion&quot; fails here\">"),
        "{xml}"
    );
    assert!(xml.contains("at[process_0]: idle → trying"), "{xml}");
    assert!(xml.contains("<skipped message=\"undecided: a violation was found\"/>"), "{xml}");
    let said = junit(&["counter.m", "-D", "Limit=4"]);
    assert_eq!(said.status, Some(0));
    assert!(said.stdout.contains("failures=\"0\" errors=\"0\" skipped=\"0\""), "{said}");
    assert!(said.stdout.contains("<property name=\"-D Limit\" value=\"4\"/>"), "{said}");
}

#[test]
fn junit_tells_what_could_not_be_checked() {
    for (arguments, status, message) in [
        (&["workers.m", "--max-states", "3"][..], 4, "undecided: the limit of 3 states was reached"),
        (&["temporal.pml"], 4, "this `never` claim cannot be checked"),
        (&["forgotten.m", "--property", "wanted"], 4, "read of undefined"),
        (&["invalid.m"], 3, "there is no name `cuont` here"),
        (&["nowhere.m"], 3, "cannot read `nowhere.m`"),
        (&["counter.m", "--property", "x"], 2, "the model has no property `x`"),
        (&["counter.m", "--timeout", "0s"], 4, "the limit of 0 s was reached"),
    ] {
        let said = junit(arguments);
        assert_eq!(said.status, Some(status), "{arguments:?}: {said}");
        assert!(said.stdout.contains("<error ") && !said.stdout.contains("errors=\"0\""), "{arguments:?}: {said}");
        let message = message.replace('\'', "&apos;");
        assert!(said.stdout.contains(&message), "{arguments:?}: {said}");
    }
}

#[test]
fn junit_escapes_what_a_model_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a & \"b\".m");
    let text = "var x: 0..3; startstate begin x := 0; end; rule \"<go> & 'come'\" x < 3 ==> begin x := x + 1; end; \
                invariant \"x < 2 & \u{1b}[1m ]]>\" x < 2;";
    std::fs::write(&path, text).expect("a model");
    let said = junit(&[path.to_str().expect("a name")]);
    assert_eq!(said.status, Some(1), "{said}");
    assert!(said.stdout.contains("&lt;go&gt; &amp; 'come'"), "{said}");
}

fn sarif(arguments: &[&str]) -> (Value, Transcript) {
    let said = quotient([&["check", "--format", "sarif"], arguments].concat());
    let log: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_sarif(&log);
    assert_eq!(log["runs"][0]["invocations"][0]["exitCode"].as_i64(), said.status.map(i64::from), "{log}");
    (log, said)
}

/// What SARIF 2.1.0 requires of the objects that occur (sections 3.13, 3.14, 3.18 to 3.20, 3.24, 3.27 to 3.30, 3.36 to
/// 3.38, 3.49).
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().is_some_and(|schema| schema.ends_with("sarif-schema-2.1.0.json")));
    let runs = log["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "quotient");
    let rules = driver["rules"].as_array().expect("rules");
    assert!(rules.iter().all(|rule| rule["id"].is_string() && rule["shortDescription"]["text"].is_string()));
    assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
    assert!(run["invocations"][0]["startTimeUtc"].as_str().is_some_and(|date| date.ends_with('Z')));
    for artifact in run["artifacts"].as_array().expect("artifacts") {
        assert!(artifact["location"]["uri"].is_string());
        assert_eq!(artifact["hashes"]["sha-256"].as_str().map(str::len), Some(64));
    }
    for result in run["results"].as_array().expect("results") {
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().expect("a level")));
        // Only what fails has a level.
        let kind = result["kind"].as_str().unwrap_or("fail");
        assert_eq!(kind == "fail", result["level"] != "none", "{result}");
        assert!(["fail", "pass", "open"].contains(&kind));
        result["locations"].as_array().expect("locations").iter().for_each(assert_location);
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            for thread in flow["threadFlows"].as_array().expect("thread flows") {
                for step in thread["locations"].as_array().expect("steps") {
                    assert_location(&step["location"]);
                    assert!(step["location"]["message"]["text"].is_string());
                    assert!(step["state"].as_object().expect("a state").values().all(|it| it["text"].is_string()));
                }
            }
        }
    }
}

fn assert_location(location: &Value) {
    let physical = &location["physicalLocation"];
    assert!(
        physical["artifactLocation"]["uri"].as_str().is_some_and(|uri| !uri.contains([' ', '\\', '"'])),
        "{location}"
    );
    assert!(physical["region"]["startLine"].as_u64() > Some(0) && physical["region"]["startColumn"].as_u64() > Some(0));
}

#[test]
fn sarif_locates_violations_and_their_runs() {
    let (log, _) = sarif(&["mutex.m"]);
    let results = log["runs"][0]["results"].as_array().expect("results");
    let kinds: Vec<&str> = results.iter().map(|result| result["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["fail", "pass", "open", "open"]);
    let violated = &results[0];
    assert_eq!(violated["locations"][0]["physicalLocation"]["region"]["startLine"], 37);
    let steps = violated["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    assert_eq!(steps.len(), 5);
    assert_eq!(steps[4]["location"]["message"]["text"], "Rule \"enter\", p: process_1");
    assert_eq!(steps[4]["executionOrder"], 5);
    // Of an assertion, the statement is what fails.
    let (log, _) = sarif(&["faulty.m"]);
    let failed = log["runs"][0]["results"].as_array().expect("results").iter().find(|it| it["kind"] == "fail");
    assert!(failed.is_some_and(|it| it["ruleId"] == "errors"), "{log}");
    sarif(&["included.pml"]);
    sarif(&["traced.pml"]);
    sarif(&["assertions.mch"]);
    sarif(&["stuck.m"]);
}

#[test]
fn sarif_tells_what_could_not_be_checked() {
    let (log, said) = sarif(&["invalid.m"]);
    assert_eq!(said.status, Some(3));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "unknown-name");
    assert_eq!(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 5);
    let (log, said) = sarif(&["nowhere.m"]);
    assert_eq!((said.status, &log["runs"][0]["results"][0]["ruleId"]), (Some(3), &"unreadable-file".into()));
    let (log, _) = sarif(&["temporal.pml"]);
    assert!(log.to_string().contains("this `never` claim cannot be checked"), "{log}");
    assert!(models().join("temporal.pml").is_file());
}
