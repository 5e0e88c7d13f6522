//! A browser for tests of pages: Chromium without a window, driven by the DevTools protocol over a web socket. Only what tests
//! need: opening a page, running JavaScript in it, keys, and pictures.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

use crate::prerequisites::{Prerequisite, require_or_skip};

/// How long anything on a page may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A page in a browser.
pub struct Browser {
    process: Child,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    /// The page that commands are for.
    session: String,
    /// An empty page, which reads pictures.
    reader: String,
    commands: u64,
    /// What the page complained about.
    complaints: Vec<String>,
    /// The profile of the browser, which is removed with it.
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A scheme of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Dark text on light ground.
    Light,
    /// The opposite.
    Dark,
}

impl Browser {
    /// Starts a browser with a window of this size; `None` if there is none and the test should be skipped.
    pub fn start(purpose: &str, size: (u32, u32), colours: Colours) -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let found = names.into_iter().find(|name| {
            let version = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            version.is_ok_and(|status| status.success())
        });
        let program = require_or_skip(Prerequisite::Peer, purpose, found.ok_or("chromium is not installed"))?;
        Some(Self::launch(program, size, colours))
    }

    fn launch(program: &str, (width, height): (u32, u32), colours: Colours) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut process = Command::new(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-background-networking", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--window-size={width},{height}"))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            line.strip_prefix("DevTools listening on ").map(str::to_owned)
        });
        let address = address.expect("the browser says where it listens");
        // Its further remarks are read, so that it does not wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let (socket, _) = tungstenite::connect(&address).expect("the browser listens");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        }
        let (session, reader, complaints) = (String::new(), String::new(), Vec::new());
        let mut browser = Self { process, socket, session, reader, commands: 0, complaints, _profile: profile };
        let reader = browser.new_page();
        browser.session = browser.new_page();
        browser.reader = reader;
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.command(domain, json!({}));
        }
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.command("Emulation.setDeviceMetricsOverride", metrics);
        browser.set_colours(colours);
        browser
    }

    /// A new page, by the session that its commands have.
    fn new_page(&mut self) -> String {
        let target = self.command("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.command("Target.attachToTarget", attach);
        session["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Asks the page for a scheme of colours. Nothing moves after this.
    pub fn set_colours(&mut self, colours: Colours) {
        let scheme = if colours == Colours::Dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Sends a command and waits for its answer.
    fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.commands += 1;
        let mut command = json!({ "id": self.commands, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        self.socket.send(Message::text(command.to_string())).expect("the browser listens");
        loop {
            let Message::Text(text) = self.socket.read().expect("the browser answers") else { continue };
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["id"] == self.commands {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => {
                    self.complaints.push(message["params"]["exceptionDetails"]["exception"]["description"].to_string());
                }
                // That something is not known yet is an answer like others.
                Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => {
                    let entry = &message["params"]["entry"];
                    if !entry["text"].as_str().unwrap_or_default().contains("409") {
                        self.complaints.push(format!("{} {}", entry["text"], entry["url"]));
                    }
                }
                _ => {}
            }
        }
    }

    /// Opens a page.
    pub fn open(&mut self, address: &str) {
        self.command("Page.navigate", json!({ "url": address }));
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.command("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Waits until a condition holds in the page.
    ///
    /// # Panics
    /// If it does not soon.
    pub fn until(&mut self, condition: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({condition})")) != true {
            if begun.elapsed() > PATIENCE {
                let seen = self.value("document.body.innerText");
                panic!("`{condition}` does not hold: {seen}\n{:?}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks on the first element that a selector finds, with the mouse, as a person would.
    pub fn click(&mut self, selector: &str) {
        let quoted = json!(selector);
        self.until(&format!("document.querySelector({quoted})"));
        let place = self.value(&format!(
            "(() => {{ const element = document.querySelector({quoted}); element.scrollIntoView({{block: 'center'}}); \
             const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let parameters = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.command("Input.dispatchMouseEvent", parameters);
        }
    }

    /// Types a text into the first field that a selector finds, instead of what is there, and presses Enter.
    pub fn enter(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.value(&format!("document.querySelector({}).select()", json!(selector)));
        self.command("Input.insertText", json!({ "text": text }));
        self.press("Enter", 13);
    }

    /// Presses a key, by its name and its number.
    pub fn press(&mut self, key: &str, number: u32) {
        let text = if key == "Enter" {
            "\r"
        } else if key.chars().count() == 1 {
            key
        } else {
            ""
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": number });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.command("Input.dispatchKeyEvent", event);
        }
    }

    /// What a person reads in the first element that a selector finds.
    pub fn text(&mut self, selector: &str) -> String {
        let quoted = json!(selector);
        let found = format!("(it => it?.innerText ?? it?.textContent ?? '')(document.querySelector({quoted}))");
        let text = self.value(&found);
        text.as_str().expect("a text").to_owned()
    }

    /// A picture of the page, as a file of the format PNG, and the mean colours of the cells of a grid of so many columns and
    /// rows, channel by channel.
    pub fn picture(&mut self, (columns, rows): (usize, usize)) -> (Vec<u8>, Vec<u8>) {
        let shot = self.command("Page.captureScreenshot", json!({ "format": "png" }));
        let data = shot["data"].as_str().expect("a picture").to_owned();
        let means = format!(
            "(async () => {{
               const bytes = Uint8Array.from(atob('{data}'), (letter) => letter.charCodeAt(0));
               const picture = await createImageBitmap(new Blob([bytes], {{ type: 'image/png' }}));
               const [columns, rows] = [{columns}, {rows}];
               const canvas = new OffscreenCanvas(picture.width, picture.height);
               const context = canvas.getContext('2d');
               context.drawImage(picture, 0, 0);
               const {{ data, width, height }} = context.getImageData(0, 0, picture.width, picture.height);
               const [sums, counts] = [new Float64Array(3 * columns * rows), new Float64Array(columns * rows)];
               for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {{
                 const cell = Math.floor(y * rows / height) * columns + Math.floor(x * columns / width);
                 for (let channel = 0; channel < 3; channel++) sums[3 * cell + channel] += data[4 * (y * width + x) + channel];
                 counts[cell]++;
               }}
               return [...sums].map((sum, at) => Math.round(sum / counts[Math.floor(at / 3)]));
             }})()"
        );
        std::mem::swap(&mut self.session, &mut self.reader);
        let channels = self.value(&means);
        std::mem::swap(&mut self.session, &mut self.reader);
        let channels = channels.as_array().expect("numbers").iter().map(|it| it.as_u64().expect("a number") as u8);
        (decoded(&data), channels.collect())
    }

    /// What the page complained about: errors of its scripts, and what could not be loaded.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }
}

/// The bytes of a text in base 64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn base_64() {
        assert_eq!(decoded("cXVvdGllbnQ="), b"quotient");
        assert_eq!(decoded("cXVvdA=="), b"quot");
        assert_eq!(decoded(""), b"");
    }
}
