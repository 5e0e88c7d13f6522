//! The loop: messages of the client, results of other threads, and what is due.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types::{
    CodeLensOptions, CompletionOptions, DiagnosticRelatedInformation, DiagnosticSeverity, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams, DocumentSymbolParams,
    DocumentSymbolResponse, ExecuteCommandOptions, ExecuteCommandParams, GotoDefinitionResponse,
    HoverProviderCapability, InitializeParams, InlayHintParams, NumberOrString, OneOf, PositionEncodingKind,
    PublishDiagnosticsParams, Range, ReferenceParams, RenameOptions, RenameParams, ServerCapabilities,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri,
};
use quotient::{Control, Error, PropertyReport, Report, Subject, Verdict, names};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answers::{self, WHOLE};
use crate::document::{self, Document, Facts, Names, Role};
use crate::pages::Page;
use crate::runs::{self, Outcome, Run, Task, Update, verdict_text};
use crate::text::Encoding;

/// How long a text must rest before it is read.
const DEBOUNCE: Duration = Duration::from_millis(20);
/// The most steps of a run that are shown with a violation.
const SHOWN_STEPS: usize = 30;

/// What the loop reacts to.
pub(crate) enum Event {
    Message(Message),
    /// The client has closed the connection.
    Closed,
    /// A text was read.
    Read(Uri, Box<Facts>),
    /// What is interchangeable in a version of a text is known.
    Compared(Uri, i32, Vec<Role>),
    /// A run tells something.
    Run(u64, Update),
}

/// What the client can do.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    encoding: Encoding,
    shows_progress: bool,
    refreshes_lenses: bool,
    refreshes_inlays: bool,
    shows_documents: bool,
}

struct Server {
    send: Box<dyn Fn(Message)>,
    events: Sender<Event>,
    client: Client,
    // The addresses as text: the type of the protocol has a cache in it.
    documents: HashMap<String, Document>,
    /// When texts that have changed are to be read.
    due: HashMap<String, Instant>,
    /// The documents that are being read.
    reading: Vec<String>,
    /// Those of them that have changed since.
    outdated: Vec<String>,
    /// The searches for what is interchangeable.
    comparing: HashMap<String, Control>,
    runs: HashMap<u64, Run>,
    /// What serves pages, and those that are served, by the addresses of documents.
    program: Option<PathBuf>,
    pages: HashMap<String, Page>,
    next: u64,
    is_initialized: bool,
    is_shutting_down: bool,
}

type Answer = Result<Value, ResponseError>;

/// Answers a client until it leaves.
pub(crate) fn run(connection: Connection, program: Option<PathBuf>) {
    let (events, receiver) = mpsc::channel();
    let Connection { sender, receiver: messages } = connection;
    let incoming = events.clone();
    std::thread::spawn(move || {
        for message in messages {
            if incoming.send(Event::Message(message)).is_err() {
                return;
            }
        }
        let _ = incoming.send(Event::Closed);
    });
    // A client that has left does not read answers.
    let send = move |message| drop(sender.send(message));
    let mut server = Server {
        send: Box::new(send),
        events,
        client: Client::default(),
        documents: HashMap::new(),
        due: HashMap::new(),
        reading: Vec::new(),
        outdated: Vec::new(),
        comparing: HashMap::new(),
        runs: HashMap::new(),
        program,
        pages: HashMap::new(),
        next: 0,
        is_initialized: false,
        is_shutting_down: false,
    };
    server.answer_all(&receiver);
    server.runs.values().for_each(|run| run.control.cancel());
}

impl Server {
    fn answer_all(&mut self, events: &Receiver<Event>) {
        loop {
            let due = self.due.values().min().copied();
            let event = match due {
                Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Err(RecvTimeoutError::Timeout) => self.read_what_is_due(),
                Err(RecvTimeoutError::Disconnected) | Ok(Event::Closed) => return,
                Ok(Event::Message(Message::Notification(message))) if message.method == "exit" => return,
                Ok(Event::Message(message)) => self.message(message),
                Ok(Event::Read(uri, facts)) => self.was_read(&uri, *facts),
                Ok(Event::Compared(uri, version, roles)) => self.was_compared(&uri, version, roles),
                Ok(Event::Run(number, Update::Progress(text))) => {
                    self.progress(number, json!({"kind": "report", "message": text}));
                }
                Ok(Event::Run(number, Update::Ended(outcome))) => self.ran(number, outcome),
            }
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let answer = quotient::defect::catch(|| self.request(request))
                    .unwrap_or_else(|defect| Some(Err(error(ErrorCode::InternalError, defect.to_string()))));
                if let Some(answer) = answer {
                    self.respond(id, answer);
                }
            }
            Message::Notification(notification) => {
                // What a client tells needs no answer, also if it makes no sense.
                let _ = quotient::defect::catch(|| self.notification(notification));
            }
            // The answers to what was asked of the client do not matter.
            Message::Response(_) => {}
        }
    }

    fn respond(&self, id: RequestId, answer: Answer) {
        let response = match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(ResponseError { code, message, .. }) => Response::new_err(id, code, message),
        };
        (self.send)(response.into());
    }

    fn notify(&self, method: &str, params: Value) {
        (self.send)(Notification::new(method.to_owned(), params).into());
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.next += 1;
        let id = RequestId::from(format!("quotient/{}", self.next));
        (self.send)(Request::new(id, method.to_owned(), params).into());
    }

    /// Answers a request at once, or starts something that will.
    fn request(&mut self, request: Request) -> Option<Answer> {
        let Request { id, method, params } = request;
        if method == "initialize" {
            return Some(self.initialize(params));
        }
        if !self.is_initialized {
            return Some(Err(error(ErrorCode::ServerNotInitialized, "the first request is `initialize`")));
        }
        if self.is_shutting_down {
            return Some(Err(error(ErrorCode::InvalidRequest, "the service is shutting down")));
        }
        let encoding = self.client.encoding;
        Some(match &*method {
            "shutdown" => {
                self.is_shutting_down = true;
                self.runs.values().for_each(|run| run.control.cancel());
                Ok(Value::Null)
            }
            "textDocument/hover" => {
                self.at(params, |document, names, position| json!(answers::hover(document, names, position, encoding)))
            }
            "textDocument/definition" | "textDocument/declaration" => self.at(params, |document, names, position| {
                let places = answers::definition(document, names, position, encoding);
                json!(GotoDefinitionResponse::Array(places))
            }),
            "textDocument/references" => parsed(params).and_then(|params: ReferenceParams| {
                let TextDocumentPositionParams { text_document, position } = params.text_document_position;
                let with_declaration = params.context.include_declaration;
                let (document, names) = self.document(&text_document.uri)?;
                Ok(json!(answers::references(document, &names, position, with_declaration, encoding)))
            }),
            "textDocument/documentHighlight" => self.at(params, |document, names, position| {
                json!(answers::highlights(document, names, position, encoding))
            }),
            "textDocument/prepareRename" => {
                let answer = self.at_place(params).and_then(|(document, names, position)| {
                    answers::renamable(document, &names, position, encoding)
                        .map_err(|text| error(ErrorCode::RequestFailed, text))
                });
                answer.map(|range| json!(range))
            }
            "textDocument/rename" => parsed(params).and_then(|params: RenameParams| {
                let TextDocumentPositionParams { text_document, position } = params.text_document_position;
                let (document, names) = self.document(&text_document.uri)?;
                let edit = answers::renamed(document, &names, position, &params.new_name, encoding);
                edit.map(|edit| json!(edit)).map_err(|text| error(ErrorCode::RequestFailed, text))
            }),
            "textDocument/documentSymbol" => parsed(params).and_then(|params: DocumentSymbolParams| {
                let (document, names) = self.document(&params.text_document.uri)?;
                Ok(json!(DocumentSymbolResponse::Nested(answers::symbols(document, &names, encoding))))
            }),
            "textDocument/completion" => self.at(params, |document, names, position| {
                json!(answers::completions(document, names, position, encoding))
            }),
            "textDocument/formatting" => parsed(params).and_then(|params: DocumentFormattingParams| {
                let (document, _) = self.document(&params.text_document.uri)?;
                Ok(json!(answers::formatted(document, encoding)))
            }),
            "textDocument/codeLens" => parsed(params).and_then(|params: lsp_types::CodeLensParams| {
                let has_pages = self.client.shows_documents && self.program.is_some();
                let explorer = if has_pages { "quotient.serve" } else { "quotient.explore" };
                let (document, _) = self.document(&params.text_document.uri)?;
                Ok(json!(answers::lenses(document, explorer, encoding)))
            }),
            "textDocument/inlayHint" => parsed(params).and_then(|params: InlayHintParams| {
                let (document, names) = self.document(&params.text_document.uri)?;
                Ok(json!(answers::inlays(document, &names, params.range, encoding)))
            }),
            "workspace/executeCommand" => match self.execute(id, params) {
                Ok(()) => return None,
                Err(problem) => Err(problem),
            },
            _ => Err(error(ErrorCode::MethodNotFound, format!("`{method}` is not known"))),
        })
    }

    fn initialize(&mut self, params: Value) -> Answer {
        if self.is_initialized {
            return Err(error(ErrorCode::InvalidRequest, "the service is initialized already"));
        }
        let params: InitializeParams = parsed(params)?;
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let encodings = general.and_then(|it| it.position_encodings.as_deref()).unwrap_or_default();
        let utf8 = encodings.contains(&PositionEncodingKind::UTF8);
        let workspace = capabilities.workspace.as_ref();
        let lenses = workspace.and_then(|it| it.code_lens.as_ref()).and_then(|it| it.refresh_support);
        let inlays = workspace.and_then(|it| it.inlay_hint.as_ref()).and_then(|it| it.refresh_support);
        let window = capabilities.window.as_ref();
        let progress = window.and_then(|it| it.work_done_progress);
        let shows = window.and_then(|it| it.show_document.as_ref()).map(|it| it.support);
        self.client = Client {
            encoding: if utf8 { Encoding::Utf8 } else { Encoding::Utf16 },
            shows_progress: progress == Some(true),
            refreshes_lenses: lenses == Some(true),
            refreshes_inlays: inlays == Some(true),
            shows_documents: shows == Some(true),
        };
        self.is_initialized = true;
        let capabilities = ServerCapabilities {
            position_encoding: Some(if utf8 { PositionEncodingKind::UTF8 } else { PositionEncodingKind::UTF16 }),
            text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::Supported(true)),
                ..TextDocumentSyncOptions::default()
            })),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            references_provider: Some(OneOf::Left(true)),
            document_highlight_provider: Some(OneOf::Left(true)),
            document_symbol_provider: Some(OneOf::Left(true)),
            document_formatting_provider: Some(OneOf::Left(true)),
            rename_provider: Some(OneOf::Right(RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: lsp_types::WorkDoneProgressOptions::default(),
            })),
            completion_provider: Some(CompletionOptions {
                trigger_characters: Some(vec![".".to_owned()]),
                ..CompletionOptions::default()
            }),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
            inlay_hint_provider: Some(OneOf::Left(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: ["check", "detect", "explore", "serve"].map(|it| format!("quotient.{it}")).to_vec(),
                ..ExecuteCommandOptions::default()
            }),
            ..ServerCapabilities::default()
        };
        Ok(json!({
            "capabilities": capabilities,
            "serverInfo": {"name": "quotient", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    /// A document and its names.
    fn document(&mut self, uri: &Uri) -> Result<(&Document, Names), ResponseError> {
        let open = self.open_texts(uri);
        let found = self.documents.get_mut(uri.as_str());
        let document = found.ok_or_else(|| error(ErrorCode::InvalidParams, "this document is not open"))?;
        let names = document.names(&open);
        Ok((document, names))
    }

    /// The texts of the other documents.
    fn open_texts(&self, except: &Uri) -> BTreeMap<PathBuf, String> {
        let others = self.documents.values().filter(|it| it.uri != *except);
        others.map(|it| (it.path.clone(), it.text.content().to_owned())).collect()
    }

    fn at_place(&mut self, params: Value) -> Result<(&Document, Names, lsp_types::Position), ResponseError> {
        let TextDocumentPositionParams { text_document, position } = parsed(params)?;
        let (document, names) = self.document(&text_document.uri)?;
        Ok((document, names, position))
    }

    /// Answers a question about a place.
    fn at(&mut self, params: Value, answer: impl Fn(&Document, &Names, lsp_types::Position) -> Value) -> Answer {
        let (document, names, position) = self.at_place(params)?;
        Ok(answer(document, &names, position))
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match &*method {
            "textDocument/didOpen" => {
                let Ok(params) = parsed::<DidOpenTextDocumentParams>(params) else { return };
                let item = params.text_document;
                let uri = item.uri.clone();
                let Some(document) = Document::new(item.uri, &item.language_id, item.version, item.text) else {
                    return;
                };
                self.documents.insert(uri.as_str().to_owned(), document);
                self.changed(&uri);
            }
            "textDocument/didChange" => {
                let Ok(params) = parsed::<DidChangeTextDocumentParams>(params) else { return };
                let encoding = self.client.encoding;
                let uri = params.text_document.uri;
                let Some(document) = self.documents.get_mut(uri.as_str()) else { return };
                for change in &params.content_changes {
                    document.text = document.text.changed(change, encoding);
                }
                document.version = params.text_document.version;
                document.violations.clear();
                self.changed(&uri);
            }
            "textDocument/didClose" => {
                let Ok(params) = parsed::<DidCloseTextDocumentParams>(params) else { return };
                let uri = params.text_document.uri;
                // Those that mention it see the saved text again.
                self.changed(&uri);
                self.due.remove(uri.as_str());
                if self.documents.remove(uri.as_str()).is_some() {
                    self.runs.values().filter(|run| run.uri == uri).for_each(|run| run.control.cancel());
                    self.publish(&uri, None, Vec::new());
                }
            }
            // Others may mention a file that is not open and was saved by another program.
            "textDocument/didSave" => {
                let due = Instant::now() + DEBOUNCE;
                self.documents.values_mut().for_each(Document::touch);
                self.due.extend(self.documents.keys().map(|uri| (uri.clone(), due)));
            }
            "$/cancelRequest" => {
                let id = match params.get("id") {
                    Some(Value::Number(number)) => {
                        number.as_i64().and_then(|it| i32::try_from(it).ok()).map(RequestId::from)
                    }
                    Some(Value::String(text)) => Some(RequestId::from(text.clone())),
                    _ => None,
                };
                self.runs.values().filter(|run| Some(&run.id) == id.as_ref()).for_each(|run| run.control.cancel());
            }
            "window/workDoneProgress/cancel" => {
                let token = params.get("token").and_then(Value::as_str).map(str::to_owned);
                self.runs.values().filter(|run| run.token == token).for_each(|run| run.control.cancel());
            }
            _ => {}
        }
    }

    /// Notes that a text is another one now. Those that mention it may mean something else.
    fn changed(&mut self, uri: &Uri) {
        let due = Instant::now() + DEBOUNCE;
        if let Some(earlier) = self.comparing.remove(uri.as_str()) {
            earlier.cancel();
        }
        let path = self.documents.get(uri.as_str()).map(|it| it.path.clone());
        for document in self.documents.values_mut() {
            document.touch();
            let mentions = |facts: &Arc<Facts>| {
                facts.source.files.iter().any(|(_, name)| path.as_deref() == Some(std::path::Path::new(name)))
            };
            if document.uri == *uri || document.facts.as_ref().is_some_and(mentions) {
                self.due.insert(document.uri.as_str().to_owned(), due);
            }
        }
    }

    /// Starts to read the texts that have rested long enough, one version of a document at a time.
    fn read_what_is_due(&mut self) {
        let now = Instant::now();
        let due: Vec<String> = self.due.iter().filter(|(_, due)| **due <= now).map(|(uri, _)| uri.clone()).collect();
        for uri in due {
            self.due.remove(&uri);
            if self.reading.contains(&uri) {
                // The thread that reads it tells when it is done, and the newest text is read then.
                self.outdated.push(uri);
            } else {
                self.read(&uri);
            }
        }
    }

    fn read(&mut self, uri: &str) {
        let Some(document) = self.documents.get(uri) else { return };
        let open = self.open_texts(&document.uri);
        let (source, language, version) = (document.source(&open), document.language, document.version);
        // Reading may take long, and these errors are known at once.
        let errors = quotient::syntax_errors(&source, language);
        if errors.iter().any(quotient::ir::Diagnostic::is_error) {
            let shown =
                errors.iter().map(|it| answers::diagnostic(document, &source, it, self.client.encoding)).collect();
            self.publish(&document.uri, Some(version), shown);
        }
        let (events, address) = (self.events.clone(), document.uri.clone());
        let thread = std::thread::Builder::new().name("reader".to_owned());
        let work = move || {
            let facts = quotient::defect::catch(|| document::read(source.clone(), language, version));
            let facts = facts.unwrap_or_else(|_| Facts { version, source, diagnostics: Vec::new(), model: None });
            let _ = events.send(Event::Read(address, Box::new(facts)));
        };
        if thread.spawn(work).is_ok() {
            self.reading.push(uri.to_owned());
        }
    }

    fn was_read(&mut self, uri: &Uri, facts: Facts) {
        self.reading.retain(|it| it != uri.as_str());
        let is_outdated = self.outdated.iter().any(|it| it == uri.as_str());
        self.outdated.retain(|it| it != uri.as_str());
        let Some(document) = self.documents.get_mut(uri.as_str()) else { return };
        if is_outdated || facts.version != document.version {
            self.read(uri.as_str());
            return;
        }
        let model = facts.model.clone();
        let version = facts.version;
        document.facts = Some(Arc::new(facts));
        self.publish_facts(uri);
        if self.client.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null);
        }
        if let Some(model) = model {
            self.compare(uri, version, model);
        }
    }

    /// Looks for what is interchangeable, until the text changes.
    fn compare(&mut self, uri: &Uri, version: i32, model: quotient::Model) {
        let control = document::symmetry_control();
        if let Some(earlier) = self.comparing.insert(uri.as_str().to_owned(), control.clone()) {
            earlier.cancel();
        }
        let (events, uri) = (self.events.clone(), uri.clone());
        let work = move || {
            let roles = quotient::defect::catch(|| document::roles(&model, &control)).unwrap_or_default();
            let _ = events.send(Event::Compared(uri, version, roles));
        };
        // Without a thread nothing is marked.
        let _ = std::thread::Builder::new().name("symmetries".to_owned()).spawn(work);
    }

    fn was_compared(&mut self, uri: &Uri, version: i32, roles: Vec<Role>) {
        let Some(document) = self.documents.get_mut(uri.as_str()).filter(|it| it.version == version) else { return };
        document.roles = roles;
        if self.client.refreshes_inlays {
            self.ask("workspace/inlayHint/refresh", Value::Null);
        }
    }

    /// Publishes what the front end and the last run say about a text.
    fn publish_facts(&self, uri: &Uri) {
        let Some(document) = self.documents.get(uri.as_str()) else { return };
        let Some(facts) = document.facts.as_ref().filter(|facts| facts.version == document.version) else { return };
        let shown = facts.diagnostics.iter();
        let shown = shown.map(|it| answers::diagnostic(document, &facts.source, it, self.client.encoding));
        self.publish(uri, Some(document.version), shown.chain(document.violations.iter().cloned()).collect());
    }

    fn publish(&self, uri: &Uri, version: Option<i32>, diagnostics: Vec<lsp_types::Diagnostic>) {
        let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
        self.notify("textDocument/publishDiagnostics", json!(params));
    }

    /// Starts a run; its end is the answer.
    fn execute(&mut self, id: RequestId, params: Value) -> Result<(), ResponseError> {
        let ExecuteCommandParams { command, arguments, .. } = parsed(params)?;
        let mut arguments = arguments.into_iter();
        let uri: Uri = arguments
            .next()
            .map(parsed)
            .transpose()?
            .ok_or_else(|| error(ErrorCode::InvalidParams, "the first argument is the address of a document"))?;
        let task = match &*command {
            "quotient.check" => match arguments.next() {
                None | Some(Value::Null) => Task::Check(None),
                Some(Value::String(name)) => Task::Check(Some(name)),
                Some(_) => {
                    return Err(error(ErrorCode::InvalidParams, "the second argument is the name of a property"));
                }
            },
            "quotient.detect" => Task::Detect,
            "quotient.explore" => Task::Explore,
            "quotient.serve" => self.page_of(&uri)?,
            _ => return Err(error(ErrorCode::InvalidParams, format!("`{command}` is not a command of quotient"))),
        };
        let open = self.open_texts(&uri);
        let (document, _) = self.document(&uri)?;
        let (source, language, version) = (document.source(&open), document.language, document.version);
        let title = format!("quotient {} {}", task.title(), answers::short_name(&document.path));
        self.next += 1;
        let number = self.next;
        let control = Control::default();
        let token = self.client.shows_progress.then(|| format!("quotient/run/{number}"));
        let events = self.events.clone();
        let tell = move |update| {
            let _ = events.send(Event::Run(number, update));
        };
        let started = runs::start(task.clone(), source, language, control.clone(), tell);
        started.map_err(|problem| error(ErrorCode::InternalError, problem.to_string()))?;
        if let Some(token) = &token {
            self.ask("window/workDoneProgress/create", json!({"token": token}));
        }
        self.runs.insert(number, Run { id, uri, version, task, control, token });
        self.progress(number, json!({"kind": "begin", "title": title, "cancellable": true}));
        Ok(())
    }

    /// The task that serves a page about a document, which must be saved: another process reads it.
    fn page_of(&self, uri: &Uri) -> Result<Task, ResponseError> {
        let refused = |text: &str| error(ErrorCode::RequestFailed, text);
        let program = self.program.clone().ok_or_else(|| refused("there is no program that serves pages"))?;
        let document = self.documents.get(uri.as_str()).ok_or_else(|| refused("the document is not open"))?;
        let saved = std::fs::read_to_string(&document.path).ok();
        if saved.as_deref() != Some(document.text.content()) {
            return Err(refused("save the file first: the explorer reads it"));
        }
        Ok(Task::Serve { program, file: document.path.clone() })
    }

    fn progress(&self, number: u64, value: Value) {
        if let Some(token) = self.runs.get(&number).and_then(|run| run.token.as_ref()) {
            self.notify("$/progress", json!({"token": token, "value": value}));
        }
    }

    fn ran(&mut self, number: u64, outcome: Result<Outcome, Error>) {
        self.progress(number, json!({"kind": "end"}));
        let Some(run) = self.runs.remove(&number) else { return };
        let was_cancelled = run.control.stop_reason().is_some();
        let answer = match outcome {
            Err(_) if was_cancelled => Err(error(ErrorCode::RequestCanceled, "the run was cancelled")),
            Err(problem) => Err(error(ErrorCode::RequestFailed, problem.to_string())),
            Ok(Outcome::Checked(model, report)) => Ok(self.checked(&run, &model, &report)),
            Ok(Outcome::Detected { order, structure, generators }) => {
                Ok(json!({"order": order, "structure": structure, "generators": generators}))
            }
            Ok(Outcome::Explored { states, transitions, finished }) => {
                Ok(json!({"states": states, "transitions": transitions, "finished": finished}))
            }
            Ok(Outcome::Served(Err(problem))) => Err(error(ErrorCode::RequestFailed, problem)),
            Ok(Outcome::Served(Ok(page))) => {
                if self.client.shows_documents {
                    self.ask("window/showDocument", json!({"uri": page.address, "external": true}));
                }
                let answer = json!({"address": page.address});
                self.pages.insert(run.uri.as_str().to_owned(), page);
                Ok(answer)
            }
        };
        self.respond(run.id, answer);
    }

    /// Shows the result of a check, and gives it in short.
    fn checked(&mut self, run: &Run, model: &quotient::Model, report: &Report) -> Value {
        let stop = report.stop_reason.as_ref().map(ToString::to_string);
        let encoding = self.client.encoding;
        let title = |property: &PropertyReport| names::subject_name(model.ir(), property.subject);
        let text = |property: &PropertyReport| {
            let steps = property.trace.as_ref().map(|trace| trace.steps.len());
            verdict_text(property.verdict, steps, stop.as_deref())
        };
        if let Some(document) = self.documents.get_mut(run.uri.as_str()) {
            if run.task == Task::Check(None) {
                document.verdicts.clear();
                let states =
                    if report.states == 1 { "1 state".to_owned() } else { format!("{} states", report.states) };
                let whole = verdict_text(report.verdict, None, stop.as_deref());
                document.verdicts.insert(WHOLE.to_owned(), format!("{whole}, {states}"));
            }
            for property in &report.properties {
                document.verdicts.insert(title(property), text(property));
            }
            // The text may be another one by now; then the places are not those of the model.
            if document.version == run.version {
                let violated = report.properties.iter().filter(|it| it.verdict == Verdict::Violated);
                let found = violated.map(|it| violation(document, model, it, &title(it), &text(it), encoding));
                document.violations = found.collect();
                self.publish_facts(&run.uri);
            }
        }
        if self.client.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null);
        }
        let verdict = |verdict| match verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
        };
        let properties = report.properties.iter().map(|property| {
            let steps = property.trace.as_ref().map(|trace| trace.steps.len().saturating_sub(1));
            json!({"name": title(property), "verdict": verdict(property.verdict), "steps": steps})
        });
        json!({
            "verdict": verdict(report.verdict),
            "states": report.states,
            "transitions": report.transitions,
            "represented": report.represented.as_ref().map(ToString::to_string),
            "group": report.symmetry.as_ref().and_then(|it| it.group.as_ref().ok()).map(|group| &group.structure),
            "stop_reason": stop,
            "properties": properties.collect::<Vec<_>>(),
        })
    }
}

/// A violated property as a diagnostic: at its place, with the steps that lead there.
fn violation(
    document: &Document,
    model: &quotient::Model,
    property: &PropertyReport,
    name: &str,
    text: &str,
    encoding: Encoding,
) -> lsp_types::Diagnostic {
    let ir = model.ir();
    let fault = property.trace.as_ref().and_then(|trace| trace.violation.as_ref()?.fault());
    let range = match (property.subject, fault) {
        (Subject::Property(id), _) => answers::property_range(document, ir, id, encoding),
        (_, Some(fault)) => document.range(&ir.source, fault.span, encoding),
        _ => Range::default(),
    };
    let mut message = format!("`{name}` is {text}");
    if let Some(fault) = fault {
        message.push_str(&format!(": {}", fault.message));
    }
    let steps = property.trace.iter().flat_map(|trace| trace.steps.iter().enumerate());
    let related: Vec<DiagnosticRelatedInformation> = steps
        .take(SHOWN_STEPS)
        .filter_map(|(number, step)| {
            let span = match step.action {
                quotient::ir::Action::Start(id) => ir.starts[id].span,
                quotient::ir::Action::Rule(id) => ir.rules[id].span,
            };
            let arguments = names::action_arguments(ir, step.action, &step.arguments);
            let arguments: Vec<String> = arguments.iter().map(|it| format!("{} = {}", it.name, it.value)).collect();
            let arguments = if arguments.is_empty() { String::new() } else { format!(" ({})", arguments.join(", ")) };
            let message = format!("{number}: {}{arguments}", names::action_name(ir, step.action));
            Some(DiagnosticRelatedInformation { location: document.location(&ir.source, span, encoding)?, message })
        })
        .collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String("violated".to_owned())),
        source: Some("quotient check".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

fn error(code: ErrorCode, message: impl Into<String>) -> ResponseError {
    ResponseError { code: code as i32, message: message.into(), data: None }
}

fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, ResponseError> {
    serde_json::from_value(params).map_err(|problem| error(ErrorCode::InvalidParams, problem.to_string()))
}
