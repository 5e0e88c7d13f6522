//! The door of an engine: what it supports, and how it is started.

use std::sync::Arc;

use quotient_ir::{Interrupt, Layout, Model};

use crate::defect::Defect;
use crate::need::{EngineKind, Need, Support, support};
use crate::observer::Observer;
use crate::options::SearchOptions;
use crate::run::{Marks, Measure, Pace, Run};

/// What an engine works on. It owns what it needs, since a run may outlive the one who asked.
#[derive(Clone, Debug)]
pub struct Job<Q> {
    /// The model, which [`quotient_ir::verify()`] accepts.
    pub model: Arc<Model>,
    /// Its layout.
    pub layout: Arc<Layout>,
    /// How, and how far.
    pub options: SearchOptions,
    /// What only this engine is asked.
    pub question: Q,
}

/// Where a run waits, beside where it has used what it was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// What its work is counted in.
    pub measure: Measure,
    /// Where it is held for decisions.
    pub marks: Option<Marks>,
}

impl Pacing {
    /// A run that is not held at marks.
    pub const WITHOUT_MARKS: Self = Self { measure: Measure::Steps, marks: None };
}

/// Why a run has not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There are too few resources for a thread.
    #[error("there are too few resources for another thread")]
    NoThread,
    /// The engine cannot wait in the middle of its work.
    #[error("{0}")]
    Paced(&'static str),
}

/// One way to answer a question about a model.
pub trait Engine: Copy + Send + 'static {
    /// What only this engine is asked.
    type Question: Send + 'static;
    /// What it answers.
    type Answer: Send + 'static;

    /// Its row in the [table of what goes together](crate::need).
    fn kind(self) -> EngineKind;

    /// The work itself. It reports to the observer, or charges the budget of its pace, and waits there.
    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer;

    /// Why it cannot be held at marks, if it cannot.
    fn without_marks(self) -> Option<&'static str> {
        None
    }

    /// Whether it supports all that is asked.
    fn support(self, need: &Need) -> Support {
        support(self.kind(), need)
    }

    /// Begins a run, which is held until its first grant. It ends early if the interrupt is raised.
    ///
    /// # Errors
    /// If it cannot be paced so, or there are too few resources.
    fn start(
        self,
        job: Job<Self::Question>,
        watched: impl Observer + Send + 'static,
        pacing: Pacing,
        interrupt: &Interrupt,
    ) -> Result<Run<Self::Answer>, Refused> {
        if let Some(reason) = self.without_marks().filter(|_| pacing.marks.is_some()) {
            return Err(Refused::Paced(reason));
        }
        let work = move |pace: &Pace<Self::Answer>| {
            let mut observer = pace.observer(watched, pacing.measure, pacing.marks);
            self.answer(&job, pace, &mut observer)
        };
        Run::start(interrupt, work).ok_or(Refused::NoThread)
    }
}

/// Why there is no answer of a run that went on to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// It has not begun.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It panicked.
    #[error(transparent)]
    Defect(#[from] Defect),
}

/// The answer of an engine that has all the time it needs.
///
/// # Errors
/// If it cannot begin, or panics.
pub fn answer<E: Engine>(
    engine: E,
    job: Job<E::Question>,
    watched: impl Observer + Send + 'static,
    interrupt: &Interrupt,
) -> Result<E::Answer, NoAnswer> {
    Ok(engine.start(job, watched, Pacing::WITHOUT_MARKS, interrupt)?.finish()?)
}
