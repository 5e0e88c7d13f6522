//! The server: listens on the loopback interface, refuses what does not come from its own page, and answers requests.
//!
//! One thread serves; what takes more than a moment runs on further threads, so that it never waits.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream;
use quotient::ir::Interpreter;
use quotient::{
    Control, Expression, Limits, Model, Options, Reached, RunFormat, RunOrigin, Silent, Symmetry, defect, reach,
    write_run,
};
use serde_json::json;
use tokio::sync::Notify;

use crate::answers::{Answer, Problem, object, query, respond, response};
use crate::assets::ASSETS;
use crate::graph::{Context, Graph, Part, Sample};
use crate::orbits::SharedOrbits;
use crate::runs::{self, Beginning, Chosen, Run, Runs};
use crate::search::{Ended, Search};
use crate::symmetry::{self, Symmetries};
use crate::{Subject, texts};

/// The longest body of a request.
const LONGEST_BODY: usize = 16 << 20;
/// How long a state is searched for.
const PATIENCE: Duration = Duration::from_secs(20);
/// The threads for what takes more than a moment.
const WORKERS: usize = 16;
/// Their stack: evaluators recurse with the nesting of the text.
const STACK_BYTES: usize = 64 << 20;
/// The most expressions that are remembered, and that one request may have.
const EXPRESSIONS: usize = 200;

/// Everything that is served.
struct Explorer {
    model: Model,
    command: &'static str,
    symmetry: Symmetry,
    search: Arc<Search>,
    orbits: Arc<SharedOrbits>,
    symmetries: Symmetries,
    graph: Mutex<Graph>,
    runs: Mutex<Runs>,
    /// Expressions that were read, by text.
    expressions: Mutex<HashMap<(String, bool), Expression>>,
    /// What `Host` may be.
    hosts: Vec<String>,
}

/// A page that is being served.
pub struct Server {
    address: String,
    explorer: Arc<Explorer>,
    stopper: Stopper,
    serving: JoinHandle<()>,
}

/// Ends a server from another thread.
#[derive(Clone)]
pub struct Stopper {
    search: Arc<Search>,
    stop: Arc<Notify>,
}

impl Stopper {
    /// Ends the search and the server.
    pub fn stop(&self) {
        self.search.stop();
        self.stop.notify_one();
    }
}

impl Server {
    /// Begins to search and to serve. The port is chosen by the system if it is 0.
    ///
    /// # Errors
    /// If the port is not free, or there are no threads.
    pub fn start(subject: Subject, port: u16, control: Control) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let Subject { model, searched, command, symmetry, task } = subject;
        let orbits = SharedOrbits::start(&model, symmetry);
        let search = Search::start(&searched, task, control)?;
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")).to_vec();
        let explorer = Arc::new(Explorer {
            model,
            command,
            symmetry,
            search: search.clone(),
            orbits,
            symmetries: Symmetries::default(),
            graph: Mutex::default(),
            runs: Mutex::default(),
            expressions: Mutex::default(),
            hosts,
        });
        let router = router(&explorer, &token);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(WORKERS)
            .thread_stack_size(STACK_BYTES)
            .build()?;
        let stop = Arc::new(Notify::new());
        let stopper = Stopper { search, stop: stop.clone() };
        let serve = move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let serving = axum::serve(listener, router);
                // Open streams of events would keep a graceful end waiting.
                tokio::select! {
                    _ = serving => {}
                    () = stop.notified() => {}
                }
            });
            // Work in progress ends with the process.
            runtime.shutdown_background();
        };
        let serving = std::thread::Builder::new().name("server".to_owned()).spawn(serve)?;
        Ok(Self { address: format!("http://127.0.0.1:{port}/{token}/"), explorer, stopper, serving })
    }

    /// The address of the page.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends it from another thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits until it is stopped. Returns how the search ended, if it did.
    pub fn wait(self) -> Option<Arc<Ended>> {
        // A panic there is recorded elsewhere.
        let _ = self.serving.join();
        self.explorer.search.ended()
    }
}

/// 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

type Shared = State<Arc<Explorer>>;

fn router(explorer: &Arc<Explorer>, token: &str) -> Router {
    let mut router = Router::new();
    let resources = [
        ("model", get(model)),
        ("status", get(status)),
        ("events", get(events)),
        ("report", get(report)),
        ("stop", post(stop)),
        ("levels", get(levels)),
        ("graph", get(graph)),
        ("nodes/{id}", get(node)),
        ("nodes/{id}/orbit", get(orbit)),
        ("nodes/{id}/run", post(run_to_node)),
        ("sample", get(sample)),
        ("find", post(find)),
        ("starts", get(starts)),
        ("runs", post(begin_run)),
        ("runs/{id}", get(run)),
        ("runs/{id}/steps", post(take_step)),
        ("runs/{id}/steps/{step}", get(step)),
        ("runs/{id}/watch", post(watch)),
        ("runs/{id}/file", get(run_file)),
        ("symmetry", get(symmetries)),
        ("why-not", get(why_not)),
    ];
    for (path, methods) in resources {
        router = router.route(&format!("/{token}/api/{path}"), methods);
    }
    for asset in ASSETS {
        let serve = || async { respond(StatusCode::OK, asset.kind, asset.text) };
        router = router.route(&format!("/{token}{}", asset.path), get(serve));
    }
    let below = format!("/{token}/");
    let other = move |uri: Uri| async move {
        match uri.path().starts_with(&below) {
            true => Problem::missing("there is no such resource"),
            false => Problem::forbidden("the address has no valid token: use the one that was printed"),
        }
    };
    router
        .fallback(other)
        .method_not_allowed_fallback(|| async { Problem::method() })
        .layer(middleware::from_fn_with_state(explorer.clone(), protect))
        .with_state(explorer.clone())
}

/// Refuses requests that do not come from here.
async fn protect(State(explorer): Shared, request: Request, next: Next) -> Response {
    match is_own(&explorer.hosts, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Whether a request was sent to this server, and not by another page.
fn is_own(hosts: &[String], headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !hosts.iter().any(|own| own == host) {
        return Err(Problem::forbidden("this server has another name"));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if !hosts.iter().any(|own| origin.strip_prefix("http://") == Some(own)) {
            return Err(Problem::forbidden("another page may not use this server"));
        }
    }
    Ok(())
}

/// Does something on another thread.
async fn aside<T: Send + 'static>(
    explorer: Arc<Explorer>,
    work: impl FnOnce(&Explorer) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(move || defect::catch(|| work(&explorer)));
    match done.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(defect)) => Err(Problem::defect(defect.to_string())),
        Err(_) => Err(Problem::defect("the server is ending")),
    }
}

/// The body of a request.
async fn body_of(body: Body) -> Result<Bytes, Problem> {
    to_bytes(body, LONGEST_BODY).await.map_err(|error| {
        let message = error.to_string();
        if message.contains("length limit") { Problem::too_long("more than 16 MiB") } else { Problem::bad(message) }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Explorer {
    fn context(&self) -> Context<'_> {
        let interpreter = Interpreter::new(self.model.ir(), self.model.layout());
        Context { model: &self.model, interpreter, orbits: &self.orbits }
    }

    /// An expression of the model's language, or a condition.
    fn expression(&self, text: &str, is_condition: bool) -> Result<Expression, Problem> {
        let key = (text.to_owned(), is_condition);
        if let Some(known) = lock(&self.expressions).get(&key) {
            return Ok(known.clone());
        }
        let control = Control::start(&Limits { timeout: Some(PATIENCE), ..Limits::default() });
        let read = if is_condition { Expression::condition } else { Expression::new };
        let expression = read(&self.model, text, &control)?;
        let mut expressions = lock(&self.expressions);
        if expressions.len() >= EXPRESSIONS {
            expressions.clear();
        }
        expressions.insert(key, expression.clone());
        Ok(expression)
    }

    /// Keeps a run and shows it.
    fn shown(&self, run: Run) -> Answer {
        let number = lock(&self.runs).keep(run.clone());
        Ok(run.object(&self.context(), number))
    }

    fn run(&self, number: u64) -> Result<Run, Problem> {
        lock(&self.runs).get(number).cloned()
    }
}

async fn model(State(explorer): Shared) -> Response {
    response(aside(explorer, |explorer| Ok(texts::model(&explorer.model, explorer.command))).await)
}

async fn status(State(explorer): Shared) -> Response {
    response(Ok(explorer.search.status()))
}

async fn events(State(explorer): Shared) -> Response {
    let mut news = explorer.search.news();
    news.mark_changed();
    let next = |(explorer, mut news): (Arc<Explorer>, tokio::sync::watch::Receiver<u64>)| async move {
        news.changed().await.ok()?;
        let event = Event::default().data(explorer.search.status().to_string());
        Some((Ok::<_, std::convert::Infallible>(event), (explorer, news)))
    };
    let stream = stream::unfold((explorer, news), next);
    let mut response = Sse::new(stream).keep_alive(KeepAlive::default()).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}

async fn report(State(explorer): Shared) -> Response {
    match explorer.search.found(|found| found.json.clone()) {
        Ok(json) => respond(StatusCode::OK, "application/json", json),
        Err(problem) => problem.into_response(),
    }
}

async fn stop(State(explorer): Shared) -> Response {
    explorer.search.stop();
    response(Ok(json!({})))
}

async fn levels(State(explorer): Shared) -> Response {
    response(explorer.search.levels())
}

async fn graph(State(explorer): Shared, uri: Uri) -> Response {
    let answer = aside(explorer, move |explorer| {
        let part: Part = query(&uri)?;
        let filter = part.filter.as_deref().filter(|text| !text.trim().is_empty());
        let filter = filter.map(|text| explorer.expression(text, true)).transpose()?;
        lock(&explorer.graph).part(&explorer.context(), &part, filter.as_ref())
    });
    response(answer.await)
}

/// The number in a path.
fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::bad(format!("`{text}` is not the number of a {what}")))
}

async fn node(State(explorer): Shared, Path(id): Path<String>) -> Response {
    let answer =
        aside(explorer, move |explorer| lock(&explorer.graph).details(&explorer.context(), number(&id, "node")?));
    response(answer.await)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OrbitQuery {
    limit: Option<usize>,
}

async fn orbit(State(explorer): Shared, Path(id): Path<String>, uri: Uri) -> Response {
    let answer = aside(explorer, move |explorer| {
        let OrbitQuery { limit } = query(&uri)?;
        lock(&explorer.graph).orbit(&explorer.context(), number(&id, "node")?, limit.unwrap_or(100))
    });
    response(answer.await)
}

async fn run_to_node(State(explorer): Shared, Path(id): Path<String>) -> Response {
    let answer = aside(explorer, move |explorer| {
        let context = explorer.context();
        let steps = lock(&explorer.graph).run_to(&context, number(&id, "node")?)?;
        explorer.shown(Run::new(steps, &context.interpreter))
    });
    response(answer.await)
}

async fn sample(State(explorer): Shared, uri: Uri) -> Response {
    let answer = aside(explorer, move |explorer| {
        let sample: Sample = query(&uri)?;
        lock(&explorer.graph).sample(&explorer.context(), &sample)
    });
    response(answer.await)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Sought {
    expression: String,
}

async fn find(State(explorer): Shared, body: Body) -> Response {
    let body = body_of(body).await;
    let answer = aside(explorer, move |explorer| {
        let Sought { expression } = object(&body?)?;
        let control = Control::start(&Limits { timeout: Some(PATIENCE), ..Limits::default() });
        let options = Options { symmetry: explorer.symmetry, ..Options::default() };
        match reach(&explorer.model, &expression, &options, &control, &mut Silent)? {
            Reached::Run(trace) => {
                let context = explorer.context();
                let last = trace.steps.last().map(|step| step.state.clone());
                let node = last.map(|state| lock(&explorer.graph).number(&context, state)).transpose()?;
                let run = lock(&explorer.runs).keep(Run::new(trace.steps, &context.interpreter));
                Ok(json!({ "verdict": "reached", "run": run, "node": node }))
            }
            Reached::Nowhere => Ok(json!({ "verdict": "unreachable" })),
            Reached::Unknown(reason) => Ok(json!({ "verdict": "unknown", "reason": reason.to_string() })),
        }
    });
    response(answer.await)
}

async fn starts(State(explorer): Shared) -> Response {
    response(aside(explorer, |explorer| Ok(runs::starts(&explorer.context()))).await)
}

async fn begin_run(State(explorer): Shared, body: Body) -> Response {
    let body = body_of(body).await;
    let answer = aside(explorer, move |explorer| {
        let beginning: Beginning = object(&body?)?;
        let ended = explorer.search.ended();
        let report = match ended.as_deref() {
            Some(Ok(found)) => Some(&found.shown),
            _ => None,
        };
        explorer.shown(Run::begin(&explorer.context(), beginning, report)?)
    });
    response(answer.await)
}

async fn run(State(explorer): Shared, Path(id): Path<String>) -> Response {
    let answer = aside(explorer, move |explorer| {
        let id = number(&id, "run")?;
        Ok(explorer.run(id)?.object(&explorer.context(), id))
    });
    response(answer.await)
}

async fn take_step(State(explorer): Shared, Path(id): Path<String>, body: Body) -> Response {
    let body = body_of(body).await;
    let answer = aside(explorer, move |explorer| {
        let (id, chosen) = (number(&id, "run")?, object::<Chosen>(&body?)?);
        let context = explorer.context();
        let run = explorer.run(id)?.continued(&context.interpreter, chosen)?;
        lock(&explorer.runs).replace(id, run.clone());
        Ok(run.object(&context, id))
    });
    response(answer.await)
}

async fn step(State(explorer): Shared, Path((id, step)): Path<(String, String)>) -> Response {
    let answer = aside(explorer, move |explorer| {
        let (run, step) = (explorer.run(number(&id, "run")?)?, number(&step, "step")?);
        let context = explorer.context();
        let mut answer = run.step(&context, step)?;
        let state = run.trace.steps[step].state.clone();
        answer["node"] = lock(&explorer.graph).number(&context, state)?.into();
        Ok(answer)
    });
    response(answer.await)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Watched {
    expressions: Vec<String>,
}

async fn watch(State(explorer): Shared, Path(id): Path<String>, body: Body) -> Response {
    let body = body_of(body).await;
    let answer = aside(explorer, move |explorer| {
        let (id, Watched { expressions }) = (number(&id, "run")?, object(&body?)?);
        if expressions.len() > EXPRESSIONS {
            return Err(Problem::bad(format!("at most {EXPRESSIONS} expressions are watched")));
        }
        let run = explorer.run(id)?;
        let read = |text: String| {
            let expression = explorer.expression(&text, false);
            (text, expression)
        };
        Ok(run.values(&expressions.into_iter().map(read).collect::<Vec<_>>()))
    });
    response(answer.await)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FileQuery {
    format: Option<String>,
}

async fn run_file(State(explorer): Shared, Path(id): Path<String>, uri: Uri) -> Response {
    let written = aside(explorer, move |explorer| {
        let format = match query::<FileQuery>(&uri)?.format.as_deref() {
            None | Some("own") => RunFormat::Own,
            Some("itf") => RunFormat::Itf,
            Some(other) => return Err(Problem::bad(format!("the format `{other}` is neither `own` nor `itf`"))),
        };
        let run = explorer.run(number(&id, "run")?)?;
        let Explorer { model, command, .. } = explorer;
        let origin = RunOrigin::new(command, model, run.subject, &run.trace);
        let mut text = Vec::new();
        write_run(&mut text, format, model, &origin, &run.trace).map_err(|error| Problem::defect(error.to_string()))?;
        Ok(text)
    });
    match written.await {
        Ok(text) => respond(StatusCode::OK, "application/json", text),
        Err(problem) => problem.into_response(),
    }
}

async fn symmetries(State(explorer): Shared) -> Response {
    let own = explorer.clone();
    response(explorer.symmetries.get(move || {
        tokio::task::spawn_blocking(move || own.symmetries.find(&own.model));
    }))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Doubt {
    request: String,
}

async fn why_not(State(explorer): Shared, uri: Uri) -> Response {
    let answer = aside(explorer, move |explorer| {
        let Doubt { request } = query(&uri)?;
        symmetry::why_not(&explorer.model, &request)
    });
    response(answer.await)
}
