//! Every request, for every language, by a scripted client.

use crate::client::{Client, place, starts};
use serde_json::{Value, json};

/// A small model in each language, with a comment that is not ASCII before everything that is asked about.
struct Sample {
    language: &'static str,
    uri: &'static str,
    text: &'static str,
    /// A name, the number of the occurrence that is asked about, its definition and uses, and what hover says.
    name: &'static str,
    occurrence: usize,
    definition: &'static str,
    places: &'static str,
    hover: &'static str,
    symbols: &'static str,
}

const SAMPLES: &[Sample] = &[
    Sample {
        language: "murphi",
        uri: "file:///none/lock.m",
        text: "/* é😀 */ const N: 3;\ntype Proc: scalarset(N);\nvar waiting: array [Proc] of boolean;\n\
               startstate begin for p: Proc do waiting[p] := true; end; end;\n\
               ruleset p: Proc do /* 😀 */ rule \"enter\" waiting[p] ==> begin waiting[p] := false; end; end;\n\
               invariant \"some\" exists p: Proc do waiting[p] end;\n",
        name: "Proc",
        occurrence: 3,
        definition: "2:6",
        places: "2:6 3:21 4:25 5:12 6:28",
        hover: "interchangeable: order 6",
        symbols: "N Proc waiting startstate enter some",
    },
    Sample {
        language: "promela",
        uri: "file:///none/count.pml",
        text: "/* é😀 */ #define N 2\nbyte count;\ninline up(v) { v = v + 1 }\n\
               active [N] proctype P() { /* 😀 */ up(count); assert(count <= N) }\nltl end_ { <> (count == 2) }\n",
        name: "count",
        occurrence: 2,
        definition: "2:6",
        places: "2:6 4:39 4:54 5:16",
        hover: "byte count",
        symbols: "up count P end_",
    },
    Sample {
        language: "b",
        uri: "file:///none/Lift.mch",
        text: "/* é😀 */ MACHINE Lift SETS FLOOR = {low, high}\nVARIABLES at INVARIANT at : FLOOR\n\
               INITIALISATION at := low\nOPERATIONS move(f) = /* 😀 */ PRE f : FLOOR & f /= at THEN at := f END\nEND\n",
        name: "at",
        occurrence: 4,
        definition: "2:11",
        places: "2:11 2:24 3:16 4:52 4:60",
        hover: "2 values: low, high",
        symbols: "Lift FLOOR low high at move INVARIANT",
    },
    Sample {
        language: "csp",
        uri: "file:///none/ring.csp",
        text: "/* é😀 */ #define N 2;\nvar x[N]:{0..1};\nP(i) = /* 😀 */ [x[i] == 0]go.i{x[i] = 1} -> P(i);\n\
               System() = ||| i:{0..N-1} @ P(i);\n#assert System() deadlockfree;\n",
        name: "P(",
        occurrence: 1,
        definition: "3:1",
        places: "3:1 3:46 4:29",
        hover: "P(i)",
        symbols: "N x P System go",
    },
    Sample {
        language: "dve",
        uri: "file:///none/turn.dve",
        text: "/* é😀 */ byte turn = 0;\nprocess P { state a, b; init a;\n\
               trans a -> b { /* 😀 */ guard turn == 0; effect turn = 1; }, b -> a { guard turn == 1; effect turn = 0; }; }\n\
               system async;\n",
        name: "turn",
        occurrence: 2,
        definition: "1:16",
        places: "1:16 3:31 3:49 3:77 3:95",
        hover: "byte turn = 0",
        symbols: "turn P a b",
    },
];

/// What is true in the end: some answers come from other threads.
fn eventually<E>(mut ask: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let begun = std::time::Instant::now();
    loop {
        let answer = ask();
        if answer.is_ok() || begun.elapsed().as_secs() > 20 {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn symbol_names(symbols: &Value, names: &mut Vec<String>) {
    for symbol in symbols.as_array().into_iter().flatten() {
        names.push(symbol["name"].as_str().expect("a name").to_owned());
        symbol_names(&symbol["children"], names);
    }
}

#[test]
fn names_of_every_language_are_known() {
    let mut client = Client::new();
    for sample in SAMPLES {
        let Sample { language, uri, text, .. } = sample;
        client.open(uri, language, text);
        let found = client.messages(uri, 1);
        assert!(found.iter().all(|it| !it.contains("rror")), "{language}: {found:?}");
        let at = place(text, sample.name, sample.occurrence);
        let definition = client.at("textDocument/definition", uri, at.clone()).expect("an answer");
        assert_eq!(starts(&definition), sample.definition, "{language}");
        let context = json!({"includeDeclaration": true});
        let params = json!({"textDocument": {"uri": uri}, "position": at, "context": context});
        let references = client.ask("textDocument/references", params).expect("an answer");
        let mut places: Vec<String> = starts(&references).split(' ').map(str::to_owned).collect();
        places.sort();
        assert_eq!(places.join(" "), sample.places, "{language}");
        let shown = eventually(|| {
            let hover = client.at("textDocument/hover", uri, at.clone()).expect("an answer");
            let shown = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
            if shown.contains(sample.hover) { Ok(()) } else { Err(shown) }
        });
        assert_eq!(shown, Ok(()), "{language}");
        let symbols =
            client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}})).expect("an answer");
        let mut names = Vec::new();
        symbol_names(&symbols, &mut names);
        for name in sample.symbols.split(' ') {
            assert!(names.iter().any(|it| it == name), "{language}: {name} in {names:?}");
        }
        let items = client.at("textDocument/completion", uri, at).expect("an answer");
        let labels: Vec<&str> =
            items.as_array().expect("a list").iter().filter_map(|it| it["label"].as_str()).collect();
        assert!(labels.contains(&sample.name.trim_end_matches('(')), "{language}: {labels:?}");
        let lenses = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}})).expect("an answer");
        let titles: Vec<&str> =
            lenses.as_array().expect("a list").iter().filter_map(|it| it["command"]["title"].as_str()).collect();
        assert_eq!(titles[..3], ["check", "detect", "explore"], "{language}");
    }
    client.leave();
}

#[test]
fn renaming_edits_every_use_and_nothing_else() {
    let mut client = Client::new();
    for sample in SAMPLES {
        let Sample { language, uri, text, .. } = sample;
        client.open(uri, language, text);
        let at = place(text, sample.name, sample.occurrence);
        let prepared = client.at("textDocument/prepareRename", uri, at.clone()).expect("an answer");
        assert_eq!(prepared["start"], at, "{language}");
        let rename = |name: &str| json!({"textDocument": {"uri": uri}, "position": at, "newName": name});
        for bad in ["1x", "a b", "", "a-b"] {
            let refusal = client.ask("textDocument/rename", rename(bad)).expect_err("not a name");
            assert!(refusal.message.contains("is not a name"), "{language}: {}", refusal.message);
        }
        let edit = client.ask("textDocument/rename", rename("renamed")).expect("an answer");
        let edits = edit["changes"][*uri].as_array().expect("edits").clone();
        assert_eq!(edits.len(), sample.places.split(' ').count(), "{language}");
        // The edited text is right, and its names are the same.
        let mut changed: Vec<Value> =
            edits.iter().map(|it| json!({"range": it["range"], "text": it["newText"]})).collect();
        changed.sort_by_key(|it| {
            let start = &it["range"]["start"];
            std::cmp::Reverse((start["line"].as_u64(), start["character"].as_u64()))
        });
        let document = json!({"uri": uri, "version": 2});
        client.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": changed}));
        let found = client.diagnostics(uri, 2);
        assert!(found.iter().all(|it| it["severity"] != json!(1)), "{language}: {found:?}");
        client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }
    let text = "var x: 0..1; y: 0..1;\nstartstate begin x := 0; y := 1; end;\n";
    client.open("file:///none/two.m", "murphi", text);
    let rename = |name: &str| json!({"textDocument": {"uri": "file:///none/two.m"}, "position": place(text, "x", 1), "newName": name});
    let refusal = client.ask("textDocument/rename", rename("y")).expect_err("taken");
    assert_eq!(refusal.message, "the new name would be confused with another one: line 2 of `two.m`");
    let refusal = client.ask("textDocument/rename", rename("Begin")).expect_err("a keyword");
    assert_eq!(refusal.message, "`Begin` is a keyword of Murphi");
    client.leave();
}

#[test]
fn diagnostics_follow_the_text() {
    let mut client = Client::new();
    let uri = "file:///none/wrong.m";
    client.open(uri, "murphi", "-- é😀\nvar x: 0..1;\nstartstate begin /* 😀 */ y := 0; end;\n");
    let found = client.diagnostics(uri, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"]["start"], json!({"line": 2, "character": 26}));
    assert_eq!(found[0]["code"], "unknown-name");
    assert!(found[0]["message"].as_str().expect("a text").contains("`y`"));
    client.replace(uri, 2, "var x: 0..1;\nstartstate begin x := 0; end;\n");
    assert_eq!(client.messages(uri, 2), [""; 0]);
    client.replace(uri, 3, "var x: 0..1;\nvar x: 0..1;\nstartstate begin x := 0; end;\n");
    let found = client.diagnostics(uri, 3);
    assert_eq!(found[0]["relatedInformation"][0]["message"], "first declared here");
    // Syntax errors come at once, and stay when the front end has read the text.
    client.replace(uri, 4, "var x: 0..1;\nstartstate begin x := ; end;\n");
    assert_eq!(client.diagnostics(uri, 4).len(), 1);
    assert_eq!(client.diagnostics(uri, 4).len(), 1);
    // Names are known all the same.
    let text = "var x: 0..1;\nstartstate begin x := ; end;\n";
    let found = client.at("textDocument/definition", uri, place(text, "x", 1)).expect("an answer");
    assert_eq!(starts(&found), "1:5");
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    client.leave();
}

#[test]
fn other_files_are_read_as_they_are_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| format!("file://{}", folder.path().join(name).display());
    std::fs::write(folder.path().join("names.h"), "#define N 2\n").expect("a file");
    let mut client = Client::new();
    let text = "#include \"names.h\"\nbyte x;\ninit { x = N }\n";
    let main = path("main.pml");
    client.open(&main, "promela", text);
    assert_eq!(client.messages(&main, 1), [""; 0]);
    let found = client.at("textDocument/definition", &main, place(text, "N ", 0)).expect("an answer");
    assert_eq!(found[0]["uri"], json!(path("names.h")));
    assert_eq!(starts(&found), "1:9");
    // The other file is open and says something else now, without having been saved.
    client.open(&path("names.h"), "promela", "#define M 2\n");
    let found = client.messages(&main, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("3: ") && found[0].contains("`N`"), "{found:?}");
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": path("names.h")}}));
    assert_eq!(client.messages(&main, 1), [""; 0]);
    std::fs::write(folder.path().join("names.h"), "#define K 2\n").expect("a file");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": main}}));
    assert_eq!(client.messages(&main, 1).len(), 1);
    client.leave();
}

#[test]
fn murphi_is_formatted() {
    let mut client = Client::new();
    let uri = "file:///none/lock.m";
    client.open(uri, "murphi", "var x:0..1;\nstartstate begin\nx:=0;end;");
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let params = |uri: &str| json!({"textDocument": {"uri": uri}, "options": options});
    let edits = client.ask("textDocument/formatting", params(uri)).expect("an answer");
    let change = json!([{"range": edits[0]["range"], "text": edits[0]["newText"]}]);
    assert_eq!(edits[0]["range"]["start"], json!({"line": 0, "character": 6}));
    let document = json!({"uri": uri, "version": 2});
    client.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": change}));
    assert_eq!(client.ask("textDocument/formatting", params(uri)).expect("an answer"), json!([]));
    client.replace(uri, 3, "var x: 0..1;\nstartstate begin\n  x := 0; end;\n");
    assert_eq!(client.ask("textDocument/formatting", params(uri)).expect("an answer"), json!([]));
    client.replace(uri, 4, "var x: ;");
    assert_eq!(client.ask("textDocument/formatting", params(uri)).expect("an answer"), Value::Null);
    client.open("file:///none/a.pml", "promela", "init{skip}");
    assert_eq!(client.ask("textDocument/formatting", params("file:///none/a.pml")).expect("an answer"), Value::Null);
    client.leave();
}

#[test]
fn what_is_interchangeable_is_marked() {
    let mut client = Client::new();
    let processes = "byte in;\nactive [3] proctype user() {\n  do :: atomic { in == 0 -> in++ }; in-- od\n}\n";
    let machine = "MACHINE Users SETS USER; MODE = {off, on}\nVARIABLES inside INVARIANT inside <: USER\n\
        INITIALISATION inside := {}\nOPERATIONS enter(u) = PRE u : USER & u /: inside THEN inside := inside \\/ {u} END\nEND\n";
    for (uri, language, text, place) in [
        (SAMPLES[0].uri, SAMPLES[0].language, SAMPLES[0].text, json!({"line": 1, "character": 23})),
        ("file:///none/users.pml", "promela", processes, json!({"line": 1, "character": 24})),
        ("file:///none/Users.mch", "b", machine, json!({"line": 0, "character": 23})),
    ] {
        client.open(uri, language, text);
        client.diagnostics(uri, 1);
        let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let params = json!({"textDocument": {"uri": uri}, "range": whole});
        let found = eventually(|| {
            let hints = client.ask("textDocument/inlayHint", params.clone()).expect("an answer");
            let is_right = hints[0]["label"] == "interchangeable" && hints[0]["position"] == place;
            let is_all = hints.as_array().is_some_and(|it| it.len() == 1);
            if is_right && is_all { Ok(()) } else { Err(hints) }
        });
        assert_eq!(found, Ok(()), "{language}");
    }
    client.leave();
}

/// Runs a command on a document.
fn command(client: &mut Client, name: &str, arguments: &Value) -> Value {
    client.ask("workspace/executeCommand", json!({"command": name, "arguments": arguments})).expect("a result")
}

const COUNTER: &str = "var x: 0..3;\nstartstate begin x := 0; end;\nrule \"grow\" x < 3 ==> begin x := x + 1; end;\n\
    rule \"again\" x = 3 ==> begin x := 0; end;\ninvariant \"small\" x < 2;\ninvariant \"bounded\" x <= 3;\n";

#[test]
fn verdicts_become_diagnostics_and_lenses() {
    let capabilities = json!({
        "window": {"workDoneProgress": true},
        "workspace": {"codeLens": {"refreshSupport": true}, "inlayHint": {"refreshSupport": true}},
    });
    let (mut client, _) = Client::with(capabilities);
    let uri = "file:///none/counter.m";
    client.open(uri, "murphi", COUNTER);
    assert_eq!(client.messages(uri, 1), [""; 0]);
    let result = command(&mut client, "quotient.check", &json!([uri]));
    assert_eq!(result["verdict"], "violated");
    let found = client.diagnostics(uri, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["message"], "`small` is violated in 2 steps");
    assert_eq!(found[0]["range"]["start"]["line"], 4);
    let steps = found[0]["relatedInformation"].as_array().expect("steps");
    let steps: Vec<&str> = steps.iter().filter_map(|it| it["message"].as_str()).collect();
    assert_eq!(steps, ["0: startstate 1", "1: grow", "2: grow"]);
    let titles = |client: &mut Client| {
        let lenses = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}})).expect("lenses");
        let titles = lenses.as_array().expect("a list").iter().map(|it| it["command"]["title"].to_string());
        titles.collect::<Vec<_>>().join(" ")
    };
    let shown = titles(&mut client);
    assert!(shown.contains("check: violated in 2 steps"), "{shown}");
    // One property.
    let result = command(&mut client, "quotient.check", &json!([uri, "bounded"]));
    assert_eq!(result["properties"], json!([{"name": "bounded", "verdict": "holds", "steps": null}]));
    let shown = titles(&mut client);
    assert!(shown.contains("check: holds") && shown.contains("check: violated in 2 steps"), "{shown}");
    // An edit takes the diagnostics of the run away.
    client.replace(uri, 2, &COUNTER.replace("x < 2", "x < 4"));
    assert_eq!(client.messages(uri, 2), [""; 0]);
    let result = command(&mut client, "quotient.check", &json!([uri]));
    assert_eq!(result["verdict"], "holds");
    assert!(titles(&mut client).contains("check: holds, 4 states"));
    let kinds = client.said.iter().filter(|it| it.method == "$/progress").map(|it| it.params["value"]["kind"].clone());
    let kinds: Vec<Value> = kinds.collect();
    assert!(kinds.contains(&json!("begin")) && kinds.contains(&json!("end")), "{kinds:?}");
    for method in ["window/workDoneProgress/create", "workspace/codeLens/refresh", "workspace/inlayHint/refresh"] {
        assert!(client.asked.iter().any(|it| it.method == method), "{method}");
    }
    let result = command(&mut client, "quotient.explore", &json!([uri]));
    assert_eq!(result, json!({"states": 4, "transitions": 4, "finished": true}));
    client.open(SAMPLES[0].uri, "murphi", SAMPLES[0].text);
    let result = command(&mut client, "quotient.detect", &json!([SAMPLES[0].uri]));
    assert_eq!(result["order"], "6");
    client.leave();
}

/// A search that does not end soon.
const LONG: &str = "var x: 0..2000000000; y: 0..2000000000;\nstartstate begin x := 0; y := 0; end;\n\
    rule \"x\" x < 2000000000 ==> begin x := x + 1; end;\nrule \"y\" y < 2000000000 ==> begin y := y + 1; end;\n";

#[test]
fn runs_can_be_cancelled() {
    let mut client = Client::with(json!({"window": {"workDoneProgress": true}})).0;
    let uri = "file:///none/long.m";
    client.open(uri, "murphi", LONG);
    client.diagnostics(uri, 1);
    let start = |client: &mut Client| {
        client.begin("workspace/executeCommand", json!({"command": "quotient.check", "arguments": [uri]}))
    };
    let end = |client: &mut Client, id| match client.wait(&id) {
        Ok(result) => assert_eq!(result["verdict"], "inconclusive"),
        Err(error) => assert_eq!(error.message, "the run was cancelled"),
    };
    // By the request.
    let id = start(&mut client);
    std::thread::sleep(std::time::Duration::from_millis(300));
    client.tell("$/cancelRequest", json!({"id": 3}));
    client.tell("$/cancelRequest", json!({"id": id}));
    end(&mut client, id);
    // By its progress; the server answers other requests meanwhile.
    client.said.clear();
    let id = start(&mut client);
    let begun = std::time::Instant::now();
    while !client.said.iter().any(|it| it.method == "$/progress" && it.params["value"]["kind"] == "report") {
        assert!(begun.elapsed().as_secs() < 60, "there is progress");
        let hover =
            client.begin("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": place(LONG, "x", 0)}));
        assert!(client.wait(&hover).is_ok());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let tokens: Vec<Value> =
        client.said.iter().filter(|it| it.method == "$/progress").map(|it| it.params["token"].clone()).collect();
    client.tell("window/workDoneProgress/cancel", json!({"token": tokens.last()}));
    end(&mut client, id);
    // By closing the document.
    let id = start(&mut client);
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    end(&mut client, id);
    client.leave();
}

#[test]
fn the_encoding_is_negotiated() {
    let (client, hello) = Client::with(json!({"general": {"positionEncodings": ["utf-16", "utf-8"]}}));
    assert_eq!(hello["capabilities"]["positionEncoding"], "utf-8");
    client.leave();
    let (mut client, hello) = Client::with(json!({"general": {"positionEncodings": ["utf-8"]}}));
    assert_eq!(hello["capabilities"]["positionEncoding"], "utf-8");
    client.open("file:///none/a.m", "murphi", "/* é😀 */ var x: 0..1; rule begin y := 0; end;");
    let found = client.diagnostics("file:///none/a.m", 1);
    let start = found.iter().find(|it| it["code"] == "unknown-name").expect("an error")["range"]["start"].clone();
    assert_eq!(start, json!({"line": 0, "character": 37}));
    client.leave();
    let (client, hello) = Client::with(json!({}));
    assert_eq!(hello["capabilities"]["positionEncoding"], "utf-16");
    client.leave();
}
