//! One run of a model, step by step on the reference interpreter: at random or interactively.

mod candidates;
mod checked;
mod orbits;
mod randomness;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use quotient_ir::{Fault, FaultKind, Interpreter, TraceStep, Valuation, Violation};
use quotient_systems::walk;

pub(crate) use candidates::candidate_of;
pub use candidates::{CONSIDERED, Candidate, Candidates, Consequence, random_start, starts, successors, take_random};
pub use checked::{RunsOptions, RunsReport, ViolatingRun, check_runs};
pub use orbits::Orbits;
pub use quotient_systems::walk::violated_invariant;
pub use randomness::{Randomness, fresh_seed};

use crate::control::{Control, Observer, Supervised};
use crate::detection::{self, Symmetries};
use crate::error::Error;
use crate::model::Model;
use crate::options::{Limits, Reduction, Symmetry};
use crate::selection::claims;

/// How long an interactive run waits for symmetries.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Something is violated.
    Violation(Violation),
    /// A step does not terminate within its limit.
    Exhausted(Fault),
    /// No rule can fire.
    Stuck,
    /// There is no initial state.
    NoStart,
    /// The run has the requested length.
    StepLimit,
    /// The observer of the steps ended it.
    Stopped,
}

/// Takes up to this many random steps and shows each. The same seed gives the same run.
///
/// ```
/// use std::ops::ControlFlow;
/// use quotient::{Language, Model, ir::Interpreter, walk};
///
/// let text = "var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end;";
/// let model = Model::from_text("counter", text, Language::Murphi)?;
/// let interpreter = Interpreter::new(model.ir(), model.layout());
/// let mut steps = 0;
/// let end = walk::at_random(&interpreter, 1, 100, |_| {
///     steps += 1;
///     ControlFlow::Continue(())
/// });
/// assert_eq!((steps, end), (4, walk::RunEnd::Stuck));
/// # Ok::<(), quotient::Error>(())
/// ```
pub fn at_random(
    interpreter: &Interpreter<'_>,
    seed: u64,
    steps: u64,
    mut show: impl FnMut(&TraceStep) -> ControlFlow<()>,
) -> RunEnd {
    let mut randomness = Randomness::new(seed);
    let mut before: Option<Valuation> = None;
    for _ in 0..=steps {
        let candidate = match &before {
            None => random_start(interpreter, &mut randomness),
            Some(state) => take_random(&mut successors(interpreter, state), &mut randomness),
        };
        let Some(candidate) = candidate else {
            return if before.is_some() { RunEnd::Stuck } else { RunEnd::NoStart };
        };
        let state = match candidate.consequence {
            Consequence::State(state) => state,
            Consequence::Violation(violation) => return RunEnd::Violation(violation),
            Consequence::Exhausted(fault) => return RunEnd::Exhausted(fault),
        };
        let step = TraceStep { action: candidate.action, arguments: candidate.arguments, state };
        if show(&step).is_break() {
            return RunEnd::Stopped;
        }
        match walk::violated_invariant(interpreter, &step.state) {
            Some(Violation::PropertyFault { fault, .. }) if fault.kind == FaultKind::Exhausted => {
                return RunEnd::Exhausted(fault);
            }
            Some(violation) => return RunEnd::Violation(violation),
            None => before = Some(step.state),
        }
    }
    RunEnd::StepLimit
}

/// The orbits that group steps for interactive use, if they are found soon.
///
/// # Errors
/// If there is a defect in this program.
pub fn orbits(model: &Model, symmetry: Symmetry, observer: &mut dyn Observer) -> Result<Option<Orbits>, Error> {
    let control = Control::start(&Limits { timeout: Some(PATIENCE), ..Limits::default() });
    let (job, watched) = (model.clone(), control.clone());
    let work = move || {
        let properties = claims(job.ir(), None);
        detection::find(&job, (symmetry, Reduction::Auto), properties.into(), &watched)
    };
    let symmetries = match control.supervise(observer, work)? {
        Supervised::Done(found) => found?,
        Supervised::Abandoned(_) => None,
    };
    let plan = symmetries.as_ref().and_then(Symmetries::plan).filter(|plan| plan.reduction.is_some());
    Ok(plan.map(|plan| Orbits::new(model, Arc::clone(plan))))
}
