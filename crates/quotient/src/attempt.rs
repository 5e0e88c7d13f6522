//! A search with a part of the steps that is made beside another one.
//!
//! It runs on its own thread, but never at the same time as the search beside it, which grants it a number of states and
//! waits until they are stored. So it continues where it had to wait, and how far it gets does not depend on the clock.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use quotient_engines::{EngineError, Observer, Progress, ReductionPlan, Report, SearchOptions, StopReason};
use quotient_ir::{Budget, Interrupt, Meter};

use crate::control::{Control, STACK_BYTES};
use crate::defect::{self, Defect};
use crate::error::Error;
use crate::forecast::Forecast;
use crate::model::Model;
use crate::search;

/// What an attempt ends with.
type Outcome = Result<Result<Report, EngineError>, Defect>;

/// An attempt that has begun.
pub(crate) struct Attempt {
    model: Model,
    receiver: Receiver<Outcome>,
    meter: Meter,
    /// Stops it when nobody waits for it any longer.
    interrupt: Interrupt,
    reached: Arc<Mutex<(Progress, Forecast)>>,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.interrupt.raise();
        self.meter.end();
    }
}

impl Attempt {
    /// Begins, without a state. None if there are too few resources. It has to be dropped before the scope ends.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        model: &'scope Model,
        method: Option<&'scope ReductionPlan>,
        options: SearchOptions,
        control: &Control,
    ) -> Option<Self> {
        let (sender, receiver) = mpsc::channel();
        let (interrupt, meter, reached) = (Interrupt::new(), Meter::new(0), Arc::new(Mutex::default()));
        let mut pace = Pace {
            control: control.clone(),
            budget: Budget::metered(&meter, &interrupt),
            counted: 0,
            reached: Arc::clone(&reached),
        };
        let ended = meter.clone();
        let work = move || {
            let found = defect::catch(|| search::run_within(model, method, &options, &mut pace));
            // The receiver is gone if the result is no longer needed.
            let _ = sender.send(found);
            ended.end();
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok()?;
        Some(Self { model: model.clone(), receiver, meter, interrupt, reached })
    }

    /// The report, if it ends with no more than about this number of states.
    pub(crate) fn proceed(&self, states: u64, interrupt: &Interrupt) -> Option<Result<Report, Error>> {
        self.meter.grant(states, interrupt);
        Some(match self.receiver.try_recv().ok()? {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(error)) => Err(Error::of_engine(self.model.source(), error)),
            Err(defect) => Err(defect.into()),
        })
    }

    /// How far it got.
    pub(crate) fn reached(&self) -> Reached {
        let (progress, forecast) = &*self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        Reached { progress: *progress, expected: forecast.states() }
    }
}

/// How far an attempt got.
pub(crate) struct Reached {
    pub(crate) progress: Progress,
    /// The number of states it is expected to have, if that can be told.
    pub(crate) expected: Option<u64>,
}

/// Lets an attempt wait where it has stored what it was granted.
struct Pace {
    control: Control,
    budget: Budget,
    counted: u64,
    reached: Arc<Mutex<(Progress, Forecast)>>,
}

impl Observer for Pace {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        if let Some(reason) = self.control.check() {
            return ControlFlow::Break(reason);
        }
        {
            let (reached, forecast) = &mut *self.reached.lock().unwrap_or_else(PoisonError::into_inner);
            *reached = *progress;
            forecast.note(progress);
        }
        let new = progress.states.saturating_sub(std::mem::replace(&mut self.counted, progress.states));
        match self.budget.spend(new) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(StopReason::Interrupted),
        }
    }

    fn interrupt(&self) -> Interrupt {
        self.budget.interrupt().clone()
    }
}
