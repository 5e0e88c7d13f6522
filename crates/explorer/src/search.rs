//! The search of a model on a thread of its own: what it is doing now, and what it found.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quotient::{Control, Error, Model, Observer, Phase, Progress, Subject, Verdict, defect, names};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::answers::{Answer, Problem};
use crate::{Found, Task};

/// How often news are sent.
const INTERVAL: Duration = Duration::from_millis(250);

/// How a search ended.
pub type Ended = Result<Found, Error>;

/// A search and what is known of it.
pub(crate) struct Search {
    model: Model,
    control: Control,
    state: Mutex<State>,
    /// Counts what is new.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    phase: Phase,
    progress: Option<(Progress, Duration)>,
    /// States of a checkpoint.
    resumed: u64,
    /// Verdicts that are known.
    decided: Vec<(Subject, Verdict)>,
    /// How it ended, and after how long. It is shared, so that answers can be long.
    ended: Option<(Arc<Ended>, Duration)>,
}

impl Search {
    /// Starts a search.
    pub(crate) fn start(model: &Model, task: Task, control: Control) -> std::io::Result<Arc<Self>> {
        let search =
            Arc::new(Self { model: model.clone(), control, state: Mutex::default(), news: watch::channel(0).0 });
        let own = search.clone();
        std::thread::Builder::new().name("search".to_owned()).spawn(move || {
            let mut watcher = Watcher { search: &own, told: Instant::now() };
            let found = defect::catch(|| task(&own.control, &mut watcher)).unwrap_or_else(|defect| Err(defect.into()));
            own.state().ended = Some((Arc::new(found), own.control.elapsed()));
            own.tell();
        })?;
        Ok(search)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Ends the search with what is known.
    pub(crate) fn stop(&self) {
        self.control.cancel();
    }

    /// Changes when something is new.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// How the search ended.
    pub(crate) fn ended(&self) -> Option<Arc<Ended>> {
        self.state().ended.as_ref().map(|(ended, _)| ended.clone())
    }

    /// What was found, or why there is nothing yet.
    pub(crate) fn found<T>(&self, read: impl FnOnce(&Found) -> T) -> Result<T, Problem> {
        match self.ended().as_deref() {
            None => Err(Problem::early("the search is not over")),
            Some(Ok(found)) => Ok(read(found)),
            Some(Err(error)) => Err(Problem::bad(error.to_string())),
        }
    }

    /// What it is doing now.
    pub(crate) fn status(&self) -> Value {
        let state = self.state();
        let phase = match (&state.ended, state.phase) {
            (Some(_), _) => "done",
            (None, Phase::Loading) => "loading",
            (None, Phase::Joining) => "joining",
            (None, Phase::Detecting) => "detecting",
            (None, Phase::Partitioning) => "partitioning",
            (None, Phase::Searching) => "searching",
            (None, Phase::Comparing) => "comparing",
        };
        let elapsed = state.ended.as_ref().map_or_else(|| self.control.elapsed(), |(_, elapsed)| *elapsed);
        let (progress, rate) = match &state.progress {
            Some((progress, elapsed)) => {
                let own = progress.states.saturating_sub(state.resumed);
                (Some(*progress), Some(own as f64 / elapsed.as_secs_f64().max(0.001)))
            }
            None => (None, None),
        };
        let mut answer = json!({
            "phase": phase,
            "seconds": elapsed.as_secs_f64(),
            "states": progress.map(|it| it.states),
            "rate": rate,
            "transitions": progress.map(|it| it.transitions),
            "depth": progress.map(|it| it.depth),
            "frontier": progress.map(|it| it.frontier),
            "store_bytes": progress.map(|it| it.memory_bytes),
            "represented": null,
            "decided": state.decided.iter().map(|(subject, verdict)| json!({
                "name": names::subject_name(self.model.ir(), *subject),
                "verdict": verdict_name(*verdict),
            })).collect::<Vec<_>>(),
            "verdict": null,
            "error": null,
        });
        match state.ended.as_ref().map(|(ended, _)| &**ended) {
            Some(Ok(Found { report, .. })) => {
                answer["states"] = report.states.into();
                answer["transitions"] = report.transitions.into();
                answer["depth"] = report.depth.into();
                answer["frontier"] = 0.into();
                answer["store_bytes"] = report.store_bytes.into();
                answer["rate"] = (report.states as f64 / report.elapsed.as_secs_f64().max(0.001)).into();
                answer["represented"] = report.represented.as_ref().map(ToString::to_string).into();
                answer["verdict"] = verdict_name(report.verdict).into();
            }
            Some(Err(error)) => answer["error"] = error.to_string().into(),
            None => {}
        }
        answer
    }

    /// The number of states at each depth.
    pub(crate) fn levels(&self) -> Answer {
        self.found(|found| json!({ "levels": found.report.levels }))
    }
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// Tells a search what it is doing.
struct Watcher<'a> {
    search: &'a Search,
    told: Instant,
}

impl Observer for Watcher<'_> {
    fn phase(&mut self, phase: Phase) {
        self.search.state().phase = phase;
        self.search.tell();
    }
    fn resumed(&mut self, states: u64) {
        self.search.state().resumed = states;
    }
    fn decided(&mut self, subject: Subject, verdict: Verdict) {
        self.search.state().decided.push((subject, verdict));
        self.search.tell();
    }
    fn progress(&mut self, progress: &Progress, elapsed: Duration) {
        self.search.state().progress = Some((*progress, elapsed));
        if self.told.elapsed() >= INTERVAL {
            self.told = Instant::now();
            self.search.tell();
        }
    }
}
