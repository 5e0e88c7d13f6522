//! Checks, detections and explorations that an editor asks for: each on a thread of its own, with progress, until it is
//! done or cancelled.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lsp_server::RequestId;
use quotient::ir::Source;
use quotient::{
    Control, DetectOptions, Error, ExploreOptions, Language, LoadOptions, Lowering, Model, Observer, Options, Phase,
    Plan, Progress, Report, Verdict, detect, explore,
};

use crate::pages::Page;

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(200);

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Check all properties, or one.
    Check(Option<String>),
    Detect,
    Explore,
    /// Serve a page about a file.
    Serve {
        program: PathBuf,
        file: PathBuf,
    },
}

impl Task {
    /// What is shown while it runs.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Detect => "detect",
            Self::Explore => "explore",
            Self::Serve { .. } => "check --serve",
        }
    }
}

/// A run that has been started.
pub(crate) struct Run {
    pub(crate) id: RequestId,
    pub(crate) uri: lsp_types::Uri,
    pub(crate) version: i32,
    pub(crate) task: Task,
    pub(crate) control: Control,
    /// The name of its progress, if the editor shows it.
    pub(crate) token: Option<String>,
}

/// What a run found.
pub(crate) enum Outcome {
    Checked(Model, Box<Report>),
    Detected { order: String, structure: String, generators: usize },
    Explored { states: u64, transitions: u64, finished: bool },
    Served(Result<Page, String>),
}

/// What a run tells the server.
pub(crate) enum Update {
    /// How far it is.
    Progress(String),
    /// It is over.
    Ended(Result<Outcome, Error>),
}

/// Passes on the progress of a run.
struct Teller<'a> {
    tell: &'a dyn Fn(Update),
    last: Instant,
}

impl Observer for Teller<'_> {
    fn phase(&mut self, phase: Phase) {
        let text = match phase {
            Phase::Loading => "reading",
            Phase::Joining => "waiting for the other processes",
            Phase::Detecting => "looking for symmetries",
            Phase::Partitioning => "looking at what rules distinguish",
            Phase::Searching => "searching",
            Phase::Comparing => "comparing",
        };
        (self.tell)(Update::Progress(text.to_owned()));
    }
    fn progress(&mut self, progress: &Progress, elapsed: Duration) {
        if self.last.elapsed() >= INTERVAL {
            self.last = Instant::now();
            let text = format!("{} states, depth {}, {} s", progress.states, progress.depth, elapsed.as_secs());
            (self.tell)(Update::Progress(text));
        }
    }
}

/// Starts a run, which tells its progress and its outcome on a thread of its own.
pub(crate) fn start(
    task: Task,
    source: Source,
    language: Language,
    control: Control,
    tell: impl Fn(Update) + Send + 'static,
) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("run".to_owned());
    let work = move || {
        let mut teller = Teller { tell: &tell, last: Instant::now() };
        let outcome = quotient::defect::catch(|| run(&task, source, language, &control, &mut teller));
        let outcome = outcome.unwrap_or_else(|defect| Err(defect.into()));
        tell(Update::Ended(outcome));
    };
    thread.spawn(work).map(drop)
}

fn run(
    task: &Task,
    source: Source,
    language: Language,
    control: &Control,
    teller: &mut Teller<'_>,
) -> Result<Outcome, Error> {
    let load = |lowering| {
        let options = LoadOptions { lowering, ..LoadOptions::default() };
        Model::from_source(source, language, &options, control)
    };
    match task {
        Task::Check(property) => {
            let options = property.iter().fold(Options::default(), |options, name| options.property(name));
            let plan = Plan::new(&load(Lowering::for_check(&options))?, &options)?;
            let report = plan.run_with(control, teller)?;
            Ok(Outcome::Checked(plan.model().clone(), Box::new(report)))
        }
        Task::Detect => {
            let found = detect(&load(Lowering::for_detection())?, &DetectOptions::default(), control, teller)?;
            Ok(Outcome::Detected {
                order: found.order.to_string(),
                structure: found.structure.clone(),
                generators: found.generator_count,
            })
        }
        Task::Serve { program, file } => Ok(Outcome::Served(Page::open(program, file, control))),
        Task::Explore => {
            let found = explore(&load(Lowering::for_exploration())?, &ExploreOptions::default(), control, teller)?;
            let finished = found.report.stop_reason.is_none();
            Ok(Outcome::Explored { states: found.report.states, transitions: found.report.transitions, finished })
        }
    }
}

/// A verdict as the lens shows it.
pub(crate) fn verdict_text(verdict: Verdict, steps: Option<usize>, stop: Option<&str>) -> String {
    match (verdict, steps, stop) {
        (Verdict::Holds, ..) => "holds".to_owned(),
        (Verdict::Violated, Some(1), _) => "violated at the start".to_owned(),
        (Verdict::Violated, Some(2), _) => "violated in 1 step".to_owned(),
        (Verdict::Violated, Some(states), _) => format!("violated in {} steps", states - 1),
        (Verdict::Violated, None, _) => "violated".to_owned(),
        (Verdict::Inconclusive, _, Some(reason)) => format!("inconclusive: {reason}"),
        (Verdict::Inconclusive, _, None) => "inconclusive".to_owned(),
    }
}
