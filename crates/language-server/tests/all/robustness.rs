//! Nothing that a client sends makes the server fail: nonsense, wrong places, random edits.

use crate::client::Client;
use serde_json::{Value, json};

#[test]
fn nonsense_is_answered() {
    let mut client = Client::silent();
    let refusal = client.ask("textDocument/hover", json!({})).expect_err("not yet");
    assert_eq!(refusal.code, -32002);
    client.ask("initialize", json!({"capabilities": {}})).expect("hello");
    assert!(client.ask("initialize", json!({"capabilities": {}})).is_err());
    client.tell("initialized", json!({}));
    assert_eq!(client.ask("no/such", Value::Null).expect_err("unknown").code, -32601);
    let uri = "file:///none/a.m";
    let place = json!({"line": 0, "character": 0});
    for params in [Value::Null, json!(7), json!({"textDocument": 3}), json!({"textDocument": {"uri": "::"}})] {
        assert!(client.ask("textDocument/hover", params.clone()).is_err());
        assert!(client.ask("textDocument/rename", params.clone()).is_err());
        assert!(client.ask("workspace/executeCommand", params.clone()).is_err());
        client.tell("textDocument/didOpen", params.clone());
        client.tell("textDocument/didChange", params.clone());
        client.tell("textDocument/didClose", params.clone());
        client.tell("$/cancelRequest", params.clone());
        client.tell("window/workDoneProgress/cancel", params.clone());
        client.tell("no/such", params);
    }
    let not_open = client.ask("textDocument/hover", json!({"textDocument": {"uri": uri}, "position": place}));
    assert_eq!(not_open.expect_err("not open").message, "this document is not open");
    client.open(uri, "murphi", "var x: 0..1;");
    client.diagnostics(uri, 1);
    for place in [json!({"line": 99, "character": 99}), json!({"line": 0, "character": 4_000_000_000u32})] {
        for method in ["hover", "definition", "completion", "documentHighlight"] {
            client.at(&format!("textDocument/{method}"), uri, place.clone()).expect("an answer");
        }
    }
    for command in [json!(["::"]), json!([]), json!([uri, 3]), json!(["file:///none/other.m"])] {
        let params = json!({"command": "quotient.check", "arguments": command});
        assert!(client.ask("workspace/executeCommand", params).is_err());
    }
    let params = json!({"command": "rm", "arguments": [uri]});
    assert!(client.ask("workspace/executeCommand", params).is_err());
    let params = json!({"command": "quotient.check", "arguments": [uri, "no such property"]});
    let refusal = client.ask("workspace/executeCommand", params).expect_err("unknown");
    assert!(refusal.message.contains("no property `no such property`"), "{}", refusal.message);
    // A document in a language that is not known is left alone.
    client.open("file:///none/a.txt", "plaintext", "hello");
    client.open("untitled:Untitled-1", "promela", "init { skip }");
    assert_eq!(client.messages("untitled:Untitled-1", 1), [""; 0]);
    client.leave();
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

const TEXTS: &[(&str, &str, &str)] = &[
    (
        "murphi",
        "file:///none/r.m",
        "const N: 2;\ntype t: 0..N; r: record a: t; b: boolean; end;\nvar x: array [t] of r;\n\
         function f(p: t): t; begin return p; end;\nstartstate begin for i: t do x[i].a := f(0); end; end;\n\
         ruleset i: t do alias y: x[i] do rule \"é\" y.b ==> begin y.a := N; end; end; end;\n\
         invariant \"i\" forall i: t do x[i].a < 3 end;\n",
    ),
    (
        "promela",
        "file:///none/r.pml",
        "#define N 2\n#define up(v) v++\nmtype = {ping, pong};\ntypedef T { byte f[N] };\nT t;\nchan c = [N] of {mtype, byte};\n\
         inline send(x) { c!ping, x }\nactive [N] proctype P() { byte i; again: do :: send(i) :: c?ping, i -> up(t.f[0]) :: goto again od }\n\
         ltl l { [] (t.f[0] < 9) }\n",
    ),
    (
        "b",
        "file:///none/R.mch",
        "MACHINE R SETS S = {a, b}; T DEFINITIONS big(v) == v > 1; GOAL == x > 2\nCONSTANTS k PROPERTIES k : 0..3\n\
         VARIABLES x, f INVARIANT x : 0..3 & f : S --> 0..3 & !s.(s : S => f(s) >= 0)\n\
         INITIALISATION x := 0 || f := S * {0}\nOPERATIONS up(s) = ANY y WHERE y : 0..3 & big(y) THEN x := y; f(s) := y END END\n",
    ),
    (
        "csp",
        "file:///none/r.csp",
        "#define N 2;\n#define full (x[0] == N);\nenum {red, green};\nvar x[N]:{0..N};\nchannel c 1;\n\
         P(i) = c!i -> e.i{x[i] = red; var y = 1; x[i] = y} -> P(i) [] [full]c?z -> Skip;\n\
         Sys() = ||| i:{0..N-1} @ P(i);\n#assert Sys() |= [](full -> <> e.0);\n",
    ),
    (
        "dve",
        "file:///none/r.dve",
        "const byte N = 2;\nbyte t[2] = {1, 2};\nchannel c;\nprocess P { byte i; state a, b; init a; assert a: i < 3;\n\
         trans a -> b { guard t[0] == N and not Q.q; sync c!i; effect i = t[1], t[0] = i; }; }\n\
         process Q { byte j; state q; init q; trans q -> q { sync c?j; }; }\nsystem async;\n",
    ),
];

/// The number of random edits of each text.
fn edits() -> usize {
    std::env::var("QUOTIENT_EDITS").ok().and_then(|it| it.parse().ok()).unwrap_or(60)
}

#[test]
fn random_edits_do_no_harm() {
    let words = [
        "",
        "x",
        "{",
        "}",
        "end",
        "é",
        "😀",
        "\n",
        ";",
        "(",
        "do",
        "#define N",
        "\"",
        "/*",
        "::",
        ":=",
        "0..",
        "[",
        ".",
    ];
    for (language, uri, text) in TEXTS {
        let mut client = Client::new();
        let mut random = Random(11);
        let mut units: Vec<u16> = text.encode_utf16().collect();
        client.open(uri, language, text);
        for version in 2..2 + edits() as i32 {
            // From time to time the text is right again.
            if random.below(20) == 0 {
                units = text.encode_utf16().collect();
                client.replace(uri, version, text);
            } else {
                let place = |at: usize| {
                    let line = units[..at].iter().filter(|it| **it == 10).count();
                    let start = units[..at].iter().rposition(|it| *it == 10).map_or(0, |it| it + 1);
                    json!({"line": line, "character": at - start})
                };
                // Not inside of a pair.
                let whole =
                    |at: usize| if at < units.len() && (0xDC00..0xE000).contains(&units[at]) { at - 1 } else { at };
                let start = whole(random.below(units.len() + 1));
                let end = whole((start + random.below(8)).min(units.len())).max(start);
                let word = words[random.below(words.len())];
                let range = json!({"start": place(start), "end": place(end)});
                let change = json!([{"range": range, "text": word}]);
                let document = json!({"uri": uri, "version": version});
                client.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": change}));
                units.splice(start..end, word.encode_utf16());
            }
            let at = random.below(units.len() + 1);
            let line = units[..at].iter().filter(|it| **it == 10).count();
            let position = json!({"line": line, "character": random.below(60)});
            for method in ["hover", "definition", "completion"] {
                client.at(&format!("textDocument/{method}"), uri, position.clone()).expect("an answer");
            }
            let params = json!({"textDocument": {"uri": uri}, "position": position, "newName": "renamed"});
            if let Err(refusal) = client.ask("textDocument/rename", params) {
                assert!(!refusal.message.contains("internal"), "{}", refusal.message);
            }
            let document = json!({"textDocument": {"uri": uri}});
            client.ask("textDocument/documentSymbol", document.clone()).expect("an answer");
            client.ask("textDocument/codeLens", document).expect("an answer");
            let options = json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
            client.ask("textDocument/formatting", options).expect("an answer");
        }
        // What the server has is what the client has: it says the same about the whole text.
        let now = String::from_utf16(&units).expect("whole characters");
        let mut before = client.messages(uri, 1 + edits() as i32);
        client.open("file:///none/other", language, &now);
        let mut fresh = client.messages("file:///none/other", 1);
        before.sort();
        fresh.sort();
        assert_eq!(before, fresh, "{language}");
        client.leave();
    }
}
