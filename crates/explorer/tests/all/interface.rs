//! Every resource of the server over HTTP: what it answers, and what it refuses.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use quotient::Language;
use serde_json::{Value, json};

use crate::support::{LOCK, serve, serve_large, until};

fn names(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|item| item[key].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_model_and_its_search() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    let model = page.get("model");
    assert_eq!(
        (&model["name"], &model["language"], &model["command"]),
        (&json!("lock.m"), &json!("murphi"), &json!("check"))
    );
    assert_eq!(names(&model["rules"], "name"), ["ask", "enter", "leave"]);
    assert_eq!(names(&model["variables"], "name"), ["s", "free", "count"]);
    assert_eq!(model["properties"][0]["title"], "invariant \"alone\"");
    assert_eq!(model["files"][0]["text"], LOCK);
    assert_eq!(model["rules"][0]["place"]["line"], 6);
    let status = page.finished();
    assert_eq!(status["verdict"], "violated");
    assert_eq!(page.get("report")["states"], status["states"]);
    assert_eq!(page.get("levels")["levels"][0], 1);
}

#[test]
fn the_page_is_served_and_protected() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    for path in ["", "style.css", "main.js", "basics.js", "overview.js", "graph.js", "run.js", "symmetry.js"] {
        let reply = page.request("GET", path, "");
        assert_eq!(reply.status, 200, "{path}");
        let head = reply.head.to_ascii_lowercase();
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
        assert!(head.contains("nosniff") && head.contains("no-referrer") && head.contains("no-store"), "{head}");
        // Nothing is fetched from elsewhere.
        let elsewhere = reply.body.replace("http://www.w3.org/", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{path}");
    }
}

#[test]
fn requests_from_elsewhere_are_refused() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    let (host, token) = page.parts();
    let ask = |path: &str, host: &str, more: &str| {
        page.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n")).status
    };
    let path = format!("/{token}/api/status");
    assert_eq!(ask(&path, host, ""), 200);
    assert_eq!(ask(&path, host, &format!("Origin: http://{host}\r\n")), 200);
    let port = host.rsplit(':').next().expect("a port");
    assert_eq!(ask(&path, &format!("localhost:{port}"), ""), 200);
    // Another token, or none.
    assert_eq!(ask("/api/status", host, ""), 403);
    assert_eq!(ask("/", host, ""), 403);
    assert_eq!(ask(&format!("/{}/api/status", "0".repeat(32)), host, ""), 403);
    assert_eq!(ask(&format!("/{}/api/status", &token[..31]), host, ""), 403);
    // A name that was made to point here, and other pages.
    assert_eq!(ask(&path, "evil.example", ""), 403);
    assert_eq!(ask(&path, &format!("evil.example:{port}"), ""), 403);
    assert_eq!(ask(&path, "127.0.0.1", ""), 403);
    assert_eq!(ask(&path, host, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(ask(&path, host, "Origin: null\r\n"), 403);
    assert_eq!(ask(&path, host, &format!("Origin: https://{host}\r\n")), 403);
    let no_host = page.send(&format!("GET {path} HTTP/1.0\r\n\r\n"));
    assert_eq!(no_host.status, 403);
}

#[test]
fn malformed_requests_are_refused() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    page.finished();
    let bad = |method: &str, path: &str, body: &str| page.refused(method, path, body, 400);
    assert!(bad("POST", "runs", "{").contains("EOF"));
    assert!(bad("POST", "runs", "[]").contains("invalid"));
    assert!(bad("POST", "runs", "{\"begin\": 1}").contains("unknown field"));
    assert!(bad("POST", "runs", "{\"random\": 4, \"start\": 0}").contains("one beginning"));
    assert!(bad("POST", "runs", "{\"seed\": 4}").contains("belong"));
    assert!(bad("POST", "runs", "{\"start\": 7}").contains("no such start"));
    assert!(bad("POST", "runs", "{\"random\": -4}").contains("invalid value"));
    assert!(bad("POST", "runs", "{\"file\": \"nothing\"}").len() > 3);
    assert!(bad("GET", "graph?limit=0", "").contains("at most 1000"));
    assert!(bad("GET", "graph?limit=many", "").len() > 3);
    assert!(bad("GET", "graph?colour=red", "").contains("unknown field"));
    assert!(bad("GET", "graph?from=a", "").contains("not the number"));
    assert!(bad("GET", "graph?filter=s%5B", "").len() > 3);
    assert!(bad("GET", "nodes/first", "").contains("not the number"));
    assert!(bad("GET", "sample?count=0", "").contains("at least one"));
    assert!(bad("POST", "find", "{}").contains("expression"));
    assert!(bad("POST", "find", "{\"expression\": \"nothing = 3\"}").contains("nothing"));
    assert!(bad("GET", "why-not", "").contains("request"));
    assert!(bad("GET", "why-not?request=node", "").contains("expected"));
    assert!(page.refused("GET", "nodes/99", "", 404).contains("no node 99"));
    assert!(page.refused("GET", "runs/99", "", 404).contains("no run 99"));
    assert!(page.refused("GET", "nothing", "", 404).contains("no such resource"));
    assert!(page.refused("DELETE", "model", "", 405).contains("other methods"));
    assert!(page.refused("GET", "runs", "", 405).contains("other methods"));
    assert!(page.refused("POST", "runs", "{\"property\": \"together\"}", 404).contains("no property"));
    let long = format!("{{\"file\": \"{}\"}}", "x".repeat(17 << 20));
    assert_eq!(page.request("POST", "api/runs", &long).status, 413);
    // It still answers.
    assert_eq!(page.get("status")["phase"], "done");
}

#[test]
fn the_graph_is_made_on_demand() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    let graph = page.get("graph?limit=1000");
    let nodes = graph["nodes"].as_array().expect("nodes");
    assert!(graph["reduced"] == true && graph["complete"] == true);
    // The orbits of all reachable states, and together they are as many states as there are: found by following steps here.
    let sizes: u64 =
        nodes.iter().map(|node| node["orbit"].as_str().expect("text").parse::<u64>().expect("a number")).sum();
    let all = serve("lock.m", &LOCK.replace("scalarset(3)", "0..2"), Language::Murphi);
    let whole = all.get("graph?limit=1000");
    let reduced_too: u64 = whole["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| node["orbit"].as_str().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(sizes, reduced_too);
    // Edges lead between shown nodes, and begin and end where these are drawn.
    for edge in graph["edges"].as_array().expect("edges") {
        let place = |id: &Value| {
            let node = nodes.iter().find(|node| node["id"] == *id).expect("a node");
            json!([node["x"], node["y"]])
        };
        let points = edge["points"].as_array().expect("points");
        assert_eq!((points.first(), points.last()), (Some(&place(&edge["from"])), Some(&place(&edge["to"]))));
        assert!(edge["place"]["line"].as_u64().expect("a line") > 5);
    }
    let few = page.get("graph?limit=2");
    assert!(few["complete"] == false && few["nodes"].as_array().expect("nodes").len() == 2);
    assert_eq!(page.get("graph?depth=1")["nodes"].as_array().expect("nodes").len(), 2);
    let inside = page.get("graph?limit=1000&filter=exists%20n%3A%20node%20do%20s%5Bn%5D%20%3D%20inside%20end");
    for node in inside["nodes"].as_array().expect("nodes") {
        let state = page.get(&format!("nodes/{}", node["id"]));
        assert!(state["state"].to_string().contains("inside"));
    }
    assert!(inside["nodes"].as_array().expect("nodes").len() < nodes.len());
}

#[test]
fn a_node_its_orbit_and_a_run_to_it() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    page.get("graph?limit=1000");
    let first = page.get("nodes/0");
    assert_eq!((&first["orbit"], &first["is_start"], &first["depth"]), (&json!("1"), &json!(true), &json!(0)));
    let successor = &first["successors"][0];
    assert_eq!((&successor["alike"], &successor["to"]), (&json!(3), &json!(1)));
    let orbit = page.get("nodes/1/orbit");
    assert_eq!((&orbit["size"], &orbit["complete"]), (&json!("3"), &json!(true)));
    let states = orbit["states"].as_array().expect("states");
    assert_eq!(states.len(), 3);
    assert!(states[0]["permutation"] == json!([]) && states[1]["permutation"] != json!([]));
    let cut = page.get("nodes/1/orbit?limit=1");
    assert!(cut["complete"] == false && cut["states"].as_array().expect("states").len() == 1);
    // A run to the deepest node is as long as its depth, and can be replayed.
    let graph = page.get("graph?limit=1000");
    let nodes = graph["nodes"].as_array().expect("nodes");
    let deepest = nodes.iter().max_by_key(|node| node["depth"].as_u64()).expect("a node");
    let run = page.post(&format!("nodes/{}/run", deepest["id"]), json!({}));
    let steps = run["steps"].as_array().expect("steps").len() as u64;
    assert_eq!(Some(steps - 1), deepest["depth"].as_u64());
    let last = page.get(&format!("runs/{}/steps/{}", run["id"], steps - 1));
    assert_eq!(last["node"], deepest["id"]);
    let file = page.request("GET", &format!("api/runs/{}/file", run["id"]), "").body;
    assert_eq!(page.post("runs", json!({ "file": file }))["steps"], run["steps"]);
}

#[test]
fn a_counterexample_step_by_step() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    assert!(matches!(page.finished()["verdict"].as_str(), Some("violated")));
    let run = page.post("runs", json!({ "property": "alone" }));
    assert!(run["violation"]["message"].as_str().expect("text").contains("fails here"));
    assert_eq!(run["subject"], "alone");
    assert_eq!(run["lanes"], json!(["node_0", "node_1", "node_2"]));
    let steps = run["steps"].as_array().expect("steps");
    assert_eq!(steps[0]["title"], "Startstate \"quiet\"");
    assert!(steps[1]["title"].as_str().expect("text").starts_with("Rule \"ask\", n: node_"));
    assert_eq!(steps[1]["lanes"].as_array().expect("lanes").len(), 1);
    assert_eq!(steps[1]["changes"][0]["after"], "waiting");
    let id = &run["id"];
    let detail = page.get(&format!("runs/{id}/steps/1"));
    let changed: Vec<&Value> =
        detail["state"].as_array().expect("entries").iter().filter(|entry| entry["is_changed"] == true).collect();
    assert_eq!(changed.len(), 1);
    // Two of three nodes are idle: asking is one choice, of two instances.
    let ask = detail["enabled"].as_array().expect("groups").iter();
    let ask: Vec<&Value> =
        ask.filter(|group| group["instances"][0]["label"].as_str().unwrap().starts_with("ask")).collect();
    assert_eq!((ask.len(), ask[0]["instances"].as_array().expect("instances").len()), (1, 2));
    // Expressions after every step.
    let watched =
        page.post(&format!("runs/{id}/watch"), json!({ "expressions": ["count", "count + 1 > 1", "s[", "s"] }));
    let values = watched["values"].as_array().expect("values");
    assert_eq!(values[0]["values"].as_array().expect("values").len(), steps.len());
    assert_eq!((&values[0]["values"][0], &values[1]["values"][0]), (&json!("0"), &json!("false")));
    assert!(values[2]["error"].is_string());
    // A whole array has a value, too.
    assert_eq!(values[3]["values"].as_array().expect("values").len(), steps.len());
    // Files in both formats are read again.
    for format in ["own", "itf"] {
        let file = page.request("GET", &format!("api/runs/{id}/file?format={format}"), "");
        assert_eq!(file.status, 200);
        let again = page.post("runs", json!({ "file": file.body }));
        assert_eq!(again["steps"], run["steps"], "{format}");
    }
    assert!(page.refused("GET", &format!("runs/{id}/file?format=pdf"), "", 400).contains("pdf"));
}

#[test]
fn a_run_by_hand() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    let starts = page.get("starts");
    assert_eq!(starts["enabled"][0]["instances"][0]["start"], 0);
    let run = page.post("runs", json!({ "start": 0 }));
    let id = run["id"].clone();
    let choose = |after: u64| {
        let detail = page.get(&format!("runs/{id}/steps/{after}"));
        let instance = &detail["enabled"][0]["instances"][0];
        page.post(
            &format!("runs/{id}/steps"),
            json!({ "after": after, "rule": instance["rule"], "arguments": instance["arguments"] }),
        )
    };
    for after in 0..4 {
        assert_eq!(choose(after)["steps"].as_array().expect("steps").len() as u64, after + 2);
    }
    // Another choice after the first step cuts off what followed.
    assert_eq!(choose(1)["steps"].as_array().expect("steps").len(), 3);
    let cut = page.post(&format!("runs/{id}/steps"), json!({ "after": 0 }));
    assert_eq!(cut["steps"].as_array().expect("steps").len(), 1);
    let refused = |body: Value| page.refused("POST", &format!("runs/{id}/steps"), &body.to_string(), 400);
    assert!(refused(json!({ "after": 0, "rule": 2, "arguments": [0] })).contains("cannot happen"));
    assert!(refused(json!({ "after": 0, "rule": 9 })).contains("no rule 9"));
    assert!(refused(json!({ "after": 5 })).contains("no step 5"));
    assert!(refused(json!({ "rule": 0 })).contains("after"));
    assert!(page.refused("GET", &format!("runs/{id}/steps/7"), "", 404).contains("no step 7"));
    let random = page.post("runs", json!({ "random": 12, "seed": 3 }));
    assert_eq!(page.post("runs", json!({ "random": 12, "seed": 3 }))["steps"], random["steps"]);
}

#[test]
fn states_are_found_and_sampled() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    let found = page.post("find", json!({ "expression": "count = 2 & free" }));
    assert_eq!(found["verdict"], "reached");
    let run = page.get(&format!("runs/{}", found["run"]));
    assert_eq!(run["steps"].as_array().expect("steps").len(), 7);
    assert!(page.get(&format!("nodes/{}", found["node"]))["state"].to_string().contains("\"value\":\"2\""));
    assert_eq!(page.post("find", json!({ "expression": "count = 2 & count = 3" }))["verdict"], "unreachable");
    let sample = page.get("sample?count=5&steps=10&seed=2");
    assert_eq!(sample["nodes"].as_array().expect("nodes").len(), 5);
    let list: Vec<String> = sample["nodes"].as_array().expect("nodes").iter().map(ToString::to_string).collect();
    let drawn = page.get(&format!("graph?depth=0&from={}", list.join(",")));
    assert_eq!(drawn["nodes"].as_array().expect("nodes").len(), 5);
}

#[test]
fn symmetries_and_why_there_are_none() {
    let text = LOCK.replace("scalarset(3)", "0..2").replace("count := 0; end;", "count := 0; s[0] := waiting; end;");
    let page = serve("lock.m", &text, Language::Murphi);
    let symmetry = until(|| {
        let reply = page.request("GET", "api/symmetry", "");
        assert!([200, 409].contains(&reply.status), "{}", reply.body);
        (reply.status == 200).then(|| reply.json())
    });
    assert_eq!((&symmetry["order"], &symmetry["structure"]), (&json!("2"), &json!("S2")));
    let node = symmetry["types"].as_array().expect("types").iter().find(|it| it["name"] == "node").expect("a type");
    assert_eq!(node["classes"], json!([["0"], ["1", "2"]]));
    assert!(node["separators"][0]["place"]["line"].is_u64());
    let parts = &symmetry["variables"][0]["parts"];
    assert_eq!((&parts[1]["orbit"], parts[0]["orbit"] == parts[1]["orbit"]), (&parts[2]["orbit"], false));
    let why = page.get("why-not?request=node%200%201");
    assert_eq!(why["is_symmetry"], false);
    assert_eq!(why["reasons"][0]["place"]["line"], 4);
    let is = page.get("why-not?request=node%201%202");
    assert!(is["is_symmetry"] == true && is["permutation"].as_array().expect("cycles").len() == 1);
}

#[test]
fn messages_of_processes() {
    let text = "chan c = [1] of { byte }; active proctype sender() { c!1; c!2 } active proctype receiver() { byte x; c?x; c?x }";
    let page = serve("messages.pml", text, Language::Promela);
    let run = page.post("runs", json!({ "random": 20, "seed": 1 }));
    assert_eq!(run["lanes"].as_array().expect("lanes").len(), 2);
    let chart = &run["chart"];
    assert_eq!(chart["processes"].as_array().expect("processes").len(), 2);
    let messages = chart["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 2);
    assert!(messages.iter().all(|message| message["received"].as_u64() > message["sent"].as_u64()));
    // Every language has expressions with values.
    let watched = page.post(&format!("runs/{}/watch", run["id"]), json!({ "expressions": ["len(c)", "len(c) == 0"] }));
    assert_eq!(watched["values"][0]["error"], Value::Null);
    assert_eq!((&watched["values"][0]["values"][0], &watched["values"][1]["values"][0]), (&json!("0"), &json!("true")));
}

/// A run that violates a temporal property leads back, and can be saved and opened as such.
#[test]
fn the_cycle_of_a_lasso() {
    let text = "var found: boolean; on: boolean; startstate begin found := false; on := false; end;
        rule \"find\" !found ==> begin found := true; end; rule \"toggle\" found ==> begin on := !on; end;
        ltl \"stays\" <> [] on; invariant \"fine\" true;";
    let page = serve("switch.m", text, Language::Murphi);
    let status = page.finished();
    assert_eq!(status["verdict"], "violated");
    let run = page.post("runs", json!({ "property": "stays" }));
    let steps = run["steps"].as_array().expect("steps").len() as u64;
    assert!(run["cycle"].as_u64().expect("a cycle") < steps - 1, "{run}");
    assert!(run["violation"]["message"].as_str().expect("text").contains("stays"));
    let file = page.request("GET", &format!("api/runs/{}/file", run["id"]), "").body;
    let again = page.post("runs", json!({ "file": file }));
    assert_eq!((&again["cycle"], &again["steps"]), (&run["cycle"], &run["steps"]));
    // Another step after its end is no longer the lasso.
    let detail = page.get(&format!("runs/{}/steps/{}", run["id"], steps - 1));
    let instance = &detail["enabled"][0]["instances"][0];
    let longer = json!({ "after": steps - 1, "rule": instance["rule"], "arguments": instance["arguments"] });
    assert_eq!(page.post(&format!("runs/{}/steps", run["id"]), longer)["cycle"], Value::Null);
}

#[test]
fn two_clients_at_once() {
    let page = serve("lock.m", LOCK, Language::Murphi);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let page = &page;
            scope.spawn(move || {
                let run = page.post("runs", json!({ "random": 5, "seed": seed }));
                for _ in 0..5 {
                    assert_eq!(page.get(&format!("runs/{}", run["id"]))["steps"], run["steps"]);
                    page.get("graph?limit=20");
                    page.get("nodes/0");
                }
            });
        }
    });
}

/// Events come while a search of many states runs, which can be stopped, and closing the connection harms nobody.
#[test]
fn closing_during_a_search() {
    let page = serve_large();
    let (host, token) = page.parts();
    let listen = || {
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        write!(stream, "GET /{token}/api/events HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("sent");
        let mut lines = BufReader::new(stream).lines();
        move || loop {
            let line = lines.next().expect("a line").expect("a line");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str::<Value>(data).expect("JSON");
            }
        }
    };
    let mut first = listen();
    let mut second = listen();
    first();
    let searching = until(|| Some(second()).filter(|status| status["states"].as_u64() > Some(0)));
    assert_eq!(searching["phase"], "searching");
    // The first client goes away; the other goes on, and the server answers meanwhile.
    drop(first);
    assert_eq!(page.refused("GET", "report", "", 409), "the search is not over");
    assert!(page.get("graph?limit=30")["nodes"].as_array().expect("nodes").len() > 3);
    page.post("stop", json!({}));
    let last = until(|| Some(second()).filter(|status| status["phase"] == "done"));
    assert_eq!(last["verdict"], "inconclusive");
}

/// Stopping the server ends it at once, also while events are sent and a search runs.
#[test]
fn stopping_the_server() {
    let page = serve_large();
    let (host, token) = page.parts();
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET /{token}/api/events HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("sent");
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).expect("an answer");
    let begun = Instant::now();
    drop(page);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
