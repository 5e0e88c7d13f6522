//! A scripted client: it speaks the protocol and waits for what it asked.

use std::time::{Duration, Instant};

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response, ResponseError};
use quotient_language_server::serve;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// A client of a server in this process.
pub(crate) struct Client {
    connection: Connection,
    next: i32,
    /// What the server said without being asked, and has not been looked at.
    pub(crate) said: Vec<Notification>,
    /// What the server asked.
    pub(crate) asked: Vec<Request>,
    server: Option<std::thread::JoinHandle<()>>,
}

impl Client {
    /// A client that has said hello, with these capabilities.
    pub(crate) fn with(capabilities: Value) -> (Self, Value) {
        let mut client = Self::silent();
        let hello = client.ask("initialize", json!({"capabilities": capabilities})).expect("a server");
        client.tell("initialized", json!({}));
        (client, hello)
    }

    pub(crate) fn new() -> Self {
        Self::with(json!({})).0
    }

    /// A client that has said nothing.
    pub(crate) fn silent() -> Self {
        let (server, connection) = Connection::memory();
        let thread = std::thread::spawn(move || serve(server, None).expect("the server does not fail"));
        Self { connection, next: 0, said: Vec::new(), asked: Vec::new(), server: Some(thread) }
    }

    pub(crate) fn tell(&self, method: &str, params: Value) {
        let message = Notification { method: method.to_owned(), params };
        self.connection.sender.send(message.into()).expect("the server listens");
    }

    /// Sends a request and does not wait.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection.sender.send(request.into()).expect("the server listens");
        id
    }

    /// Waits for the answer to a request.
    pub(crate) fn wait(&mut self, id: &RequestId) -> Result<Value, ResponseError> {
        loop {
            if let Some(Response { id: found, response_result }) = self.receive() {
                assert_eq!(&found, id, "answers come to what was asked");
                return response_result;
            }
        }
    }

    /// Takes a message; an answer is given back, others are kept.
    fn receive(&mut self) -> Option<Response> {
        match self.connection.receiver.recv_timeout(PATIENCE).expect("the server says something") {
            Message::Response(response) => return Some(response),
            Message::Notification(notification) => self.said.push(notification),
            Message::Request(request) => {
                let answer = Response::new_ok(request.id.clone(), Value::Null);
                self.connection.sender.send(answer.into()).expect("the server listens");
                self.asked.push(request);
            }
        }
        None
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.begin(method, params);
        self.wait(&id)
    }

    pub(crate) fn open(&self, uri: &str, language: &str, text: &str) {
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": item}));
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&self, uri: &str, version: i32, text: &str) {
        let document = json!({"uri": uri, "version": version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"text": text}]}));
    }

    /// The diagnostics of a version of a document. A text with syntax errors is spoken about twice.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let begun = Instant::now();
        loop {
            let is_it = |it: &Notification| {
                it.method == "textDocument/publishDiagnostics"
                    && it.params["uri"] == json!(uri)
                    && it.params["version"] == json!(version)
            };
            if let Some(at) = self.said.iter().position(is_it) {
                let found = self.said.remove(at);
                return found.params["diagnostics"].as_array().expect("a list").clone();
            }
            assert!(begun.elapsed() < PATIENCE, "no diagnostics");
            assert!(self.receive().is_none(), "nothing was asked");
        }
    }

    /// The messages of the diagnostics, with their lines, counted from one.
    pub(crate) fn messages(&mut self, uri: &str, version: i32) -> Vec<String> {
        let found = self.diagnostics(uri, version);
        found.iter().map(|it| format!("{}: {}", line(&it["range"]), first_line(&it["message"]))).collect()
    }

    /// Asks about a place, by the first occurrence of a text in a document and an offset from there.
    pub(crate) fn at(&mut self, method: &str, uri: &str, place: Value) -> Result<Value, ResponseError> {
        self.ask(method, json!({"textDocument": {"uri": uri}, "position": place}))
    }

    /// Says goodbye and waits for the server to end.
    pub(crate) fn leave(mut self) {
        self.ask("shutdown", Value::Null).expect("an answer");
        self.tell("exit", Value::Null);
        self.server.take().expect("it runs").join().expect("the server ends well");
    }
}

fn first_line(message: &Value) -> &str {
    message.as_str().expect("a text").lines().next().unwrap_or("")
}

fn line(range: &Value) -> u64 {
    range["start"]["line"].as_u64().expect("a line") + 1
}

/// The place of the `number`th occurrence of a text, in units of UTF-16.
pub(crate) fn place(text: &str, part: &str, number: usize) -> Value {
    let offset = text.match_indices(part).nth(number).unwrap_or_else(|| panic!("`{part}` {number}")).0;
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": before.matches('\n').count(), "character": before[start..].encode_utf16().count()})
}

/// `line:character` of the starts of locations, counted from one.
pub(crate) fn starts(locations: &Value) -> String {
    let one = |it: &Value| {
        let start = &it["range"]["start"];
        format!("{}:{}", start["line"].as_u64().expect("a line") + 1, start["character"].as_u64().expect("a place") + 1)
    };
    locations.as_array().expect("a list").iter().map(one).collect::<Vec<_>>().join(" ")
}
