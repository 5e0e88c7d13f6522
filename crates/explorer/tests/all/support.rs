//! A server about a model, and a client that speaks plain HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use quotient::{Control, Language, Model, Options, PartialOrder, Plan, Symmetry};
use quotient_explorer::{Found, Server, Stopper, Subject, Task};
use serde_json::{Value, json};

/// A server that ends with the test.
pub(crate) struct Page {
    pub(crate) address: String,
    pub(crate) stopper: Stopper,
    server: Option<Server>,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(server) = self.server.take() {
            server.wait();
        }
    }
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Checks a model and serves a page about it.
pub(crate) fn serve(name: &str, text: &str, language: Language) -> Page {
    serve_with(name, text, language, &Options::default())
}

/// A search that takes longer than any test.
pub(crate) fn serve_large() -> Page {
    let whole = Options::default().symmetry(Symmetry::Off).partial_order(PartialOrder::Off);
    serve_with("large.m", LARGE, Language::Murphi, &whole)
}

fn serve_with(name: &str, text: &str, language: Language, options: &Options) -> Page {
    let model = Model::from_text(name, text, language).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::new(&model, options).expect("a plan");
    let (own, searched) = (model.clone(), plan.model().clone());
    let task: Task = Box::new(move |control, observer| {
        let report = plan.run_with(control, observer)?;
        let shown = plan.report_on(&own, &report, control)?;
        let json = json!({ "states": report.states }).to_string();
        Ok(Found { report, shown, json })
    });
    let subject = Subject { model, searched, command: "check", symmetry: Symmetry::Auto, task };
    let server = Server::start(subject, 0, Control::default()).expect("a server");
    Page { address: server.address().to_owned(), stopper: server.stopper(), server: Some(server) }
}

impl Page {
    /// `127.0.0.1:PORT`, and the token.
    pub(crate) fn parts(&self) -> (&str, &str) {
        let rest = self.address.strip_prefix("http://").expect("an address");
        let (host, token) = rest.split_once('/').expect("a path");
        (host, token.trim_end_matches('/'))
    }

    /// Sends the lines of a request and reads the answer.
    pub(crate) fn send(&self, request: &str) -> Reply {
        let mut stream = TcpStream::connect(self.parts().0).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        // A request that is refused early may not be read to its end.
        let _ = stream.write_all(request.as_bytes());
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), None);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).expect("a line") == 0 || line == "\r\n" {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse::<usize>().ok();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).expect("the body");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Reply { status, head, body: String::from_utf8(body).expect("UTF-8") }
    }

    /// A request with a body.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Reply {
        let (host, token) = self.parts();
        let length = body.len();
        self.send(&format!(
            "{method} /{token}/{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let reply = self.request("GET", &format!("api/{path}"), "");
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.json()
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Value {
        let reply = self.request("POST", &format!("api/{path}"), &body.to_string());
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.json()
    }

    /// The message of a request that is refused.
    pub(crate) fn refused(&self, method: &str, path: &str, body: &str, status: u16) -> String {
        let reply = self.request(method, &format!("api/{path}"), body);
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
        reply.json()["error"].as_str().expect("a message").to_owned()
    }

    /// Waits for the end of the search.
    pub(crate) fn finished(&self) -> Value {
        until(|| Some(self.get("status")).filter(|status| status["phase"] == "done"))
    }
}

/// Waits until something is there.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A lock with a mistake: whoever comes second is let in, too. Nodes are interchangeable, but for the one that begins.
pub(crate) const LOCK: &str = r#"
type node: scalarset(3); state: enum { idle, waiting, inside };
var s: array [node] of state; free: boolean; count: 0..9;
startstate "quiet" begin for n: node do s[n] := idle; end; free := true; count := 0; end;
ruleset n: node do
  rule "ask" s[n] = idle ==> begin s[n] := waiting; end;
  rule "enter" s[n] = waiting & (free | count = 2) ==> begin s[n] := inside; free := false;
    if count < 9 then count := count + 1; end; end;
  rule "leave" s[n] = inside ==> begin s[n] := idle; free := true; end;
end;
invariant "alone" forall a: node do forall b: node do s[a] = inside & s[b] = inside -> a = b end end;
"#;

/// A hundred million states.
const LARGE: &str = r#"
var x: array [0..7] of 0..9;
startstate begin clear x; end;
ruleset i: 0..7 do rule "step" x[i] < 9 ==> begin x[i] := x[i] + 1; end; end;
invariant "order" x[0] < 10 | x[1] = 7;
"#;
