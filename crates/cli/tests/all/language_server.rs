//! `quotient language-server` over its standard input and output, as an editor starts it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
        command
            .args(["language-server", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, input, output }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a header") > 0, "it says something");
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("a number");
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).expect("a message");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// The first message for which something holds.
    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.receive();
            if is_it(&message) {
                return message;
            }
        }
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input);
        let status = self.process.wait().expect("it ends");
        let mut said = String::new();
        self.process.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        (status.code(), said)
    }
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
}

#[test]
fn an_editor_is_served() {
    let mut server = Server::start();
    server.send(&hello());
    let answer = server.wait(|it| it["id"] == 1);
    assert_eq!(answer["result"]["serverInfo"]["name"], "quotient");
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let text = "type t: scalarset(3);\nvar x: array [t] of boolean;\nstartstate begin for i: t do x[i] := true; end; end;\n\
                ruleset i: t do rule \"flip\" begin x[i] := !x[i]; end; end;\ninvariant \"all\" forall i: t do x[i] end;\n";
    let document = json!({"uri": "file:///none/a.m", "languageId": "murphi", "version": 1, "text": text});
    let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}});
    server.send(&open);
    let said = server.wait(|it| it["method"] == "textDocument/publishDiagnostics");
    assert_eq!(said["params"]["diagnostics"], json!([]));
    let run = json!({"command": "quotient.check", "arguments": ["file:///none/a.m"]});
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "workspace/executeCommand", "params": run}));
    let said = server.wait(|it| it["method"] == "textDocument/publishDiagnostics");
    assert_eq!(said["params"]["diagnostics"][0]["message"], "`all` is violated in 1 step");
    assert_eq!(server.wait(|it| it["id"] == 2)["result"]["verdict"], "violated");
    server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "shutdown"}));
    server.wait(|it| it["id"] == 3);
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn the_explorer_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counter.m");
    let text = "var x: 0..2;\nstartstate begin x := 0; end;\nrule \"up\" x < 2 ==> begin x := x + 1; end;\n";
    std::fs::write(&file, text).expect("it is written");
    let uri = format!("file://{}", file.display());
    let mut server = Server::start();
    let capabilities = json!({"window": {"showDocument": {"support": true}}});
    let params = json!({"capabilities": capabilities});
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
    server.wait(|it| it["id"] == 1);
    let document = json!({"uri": uri, "languageId": "murphi", "version": 1, "text": text});
    let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}});
    server.send(&open);
    let lenses = json!({"textDocument": {"uri": uri}});
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/codeLens", "params": lenses}));
    let command = server.wait(|it| it["id"] == 2)["result"][2]["command"].clone();
    assert_eq!((&command["title"], &command["command"]), (&json!("explore"), &json!("quotient.serve")));
    server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "workspace/executeCommand", "params": command}));
    let asked = server.wait(|it| it["method"] == "window/showDocument");
    let address = asked["params"]["uri"].as_str().expect("an address").to_owned();
    assert_eq!(server.wait(|it| it["id"] == 3)["result"]["address"], json!(address));
    let (host, path) = address.strip_prefix("http://").and_then(|it| it.split_once('/')).expect("an address");
    let page = || {
        let mut stream = std::net::TcpStream::connect(host).ok()?;
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").ok()?;
        let mut said = String::new();
        stream.read_to_string(&mut said).ok()?;
        Some(said)
    };
    let said = page().expect("a page");
    assert!(said.starts_with("HTTP/1.1 200") && said.contains("<html"), "{said}");
    // A text that is not saved is not what the page would show.
    let change = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "var y: 0..1;"}]});
    server.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change}));
    server.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "workspace/executeCommand", "params": command}));
    let refused = server.wait(|it| it["id"] == 4);
    assert_eq!(refused["error"]["message"], "save the file first: the explorer reads it");
    server.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "shutdown"}));
    server.wait(|it| it["id"] == 5);
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(server.end(), (Some(0), String::new()));
    // The page ends with the service.
    assert_eq!(page(), None);
}

#[test]
fn what_is_not_the_protocol_ends_the_service() {
    for garbage in ["hello\r\n\r\n", "Content-Length: 5\r\n\r\nhello", "Content-Length: x\r\n\r\n", "\0\u{1}"] {
        let mut server = Server::start();
        server.send(&hello());
        server.wait(|it| it["id"] == 1);
        server.input.write_all(garbage.as_bytes()).expect("it listens");
        let (status, said) = server.end();
        assert!(matches!(status, Some(0 | 2)), "{garbage:?}: {status:?}: {said}");
        assert!(!said.contains("internal error") && !said.contains("panicked"), "{garbage:?}: {said}");
    }
    // An editor that goes away in the middle of it.
    let mut server = Server::start();
    server.send(&hello());
    server.wait(|it| it["id"] == 1);
    assert_eq!(server.end(), (Some(0), String::new()));
}
