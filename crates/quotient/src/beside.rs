//! All markings of a net as one set, which is computed beside a search of single markings.
//!
//! It is computed on its own thread, but never at the same time as the search, which grants it a share of its own work and
//! waits until that is used up. Work is counted, so that the same run has the same result.

use std::sync::mpsc::{self, Receiver};

use quotient_engines::{
    Progress, SPECIALISED_INSTANCES, SearchOptions, SymbolicError, SymbolicReport, count_by_saturation,
};
use quotient_ir::{Budget, Interrupt, Meter};

use crate::background;
use crate::control::{Control, STACK_BYTES};
use crate::defect::{self, Defect};
use crate::error::Error;
use crate::model::Model;
use crate::symbolic::{self, TRIED_BYTES};

/// The number of states before the set is begun, unless these take long: most nets have fewer.
const FIRST_STATES: u64 = 512;
/// The share of the set with which it is begun whatever the number of states: some 40 ms.
const FIRST_SHARE: u64 = 1 << 20;
/// The steps of a search without symmetries for which one unit of work may be done: a unit takes some 40 ns, a step some 200.
const STEPS_PER_UNIT: u64 = 4;
/// With symmetries, the slots for which a unit may be done at each step: they are sorted.
const SLOTS_PER_UNIT: u64 = 64;
/// The rule instances that are tried in a state for a unit: most of them are dismissed in a few nanoseconds.
const INSTANCES_PER_UNIT: u64 = 32;
/// The units for an instance of a rule that has too many for code of their own.
const UNITS_PER_INSTANCE: u64 = 2;
/// The least work that is granted at a time: the search is not interrupted for less.
const LEAST_GRANT: u64 = 20_000;

type Outcome = Result<Result<Option<SymbolicReport>, SymbolicError>, Defect>;

/// A set that is computed beside a search.
pub(crate) struct SetBeside {
    model: Model,
    control: Control,
    /// The units that it is worth to try all instances in a state, times [`INSTANCES_PER_UNIT`].
    instances: u64,
    /// The units that a step of a search with symmetries is worth.
    units_of_step: u64,
    granted: u64,
    stage: Stage,
}

enum Stage {
    /// It is not begun.
    Waiting(Box<SearchOptions>),
    Begun(Running),
    Ended(Option<Box<SymbolicReport>>),
}

struct Running {
    receiver: Receiver<Outcome>,
    meter: Meter,
    /// Stops it when nobody waits for it any longer.
    interrupt: Interrupt,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.interrupt.raise();
        self.meter.end();
    }
}

impl SetBeside {
    /// The set of all states of a model that is being searched.
    pub(crate) fn new(model: &Model, search: &SearchOptions, control: &Control) -> Self {
        let options = symbolic::counting(search, control, TRIED_BYTES);
        let (model, control) = (model.clone(), control.clone());
        let rules = model.ir().rules.iter();
        let of_rule = |instances: u64| match instances > SPECIALISED_INSTANCES as u64 {
            true => instances.saturating_mul(UNITS_PER_INSTANCE * INSTANCES_PER_UNIT),
            false => instances,
        };
        let instances =
            rules.map(|rule| of_rule(background::instances(model.ir(), &rule.parameters))).fold(0, u64::saturating_add);
        let units_of_step = 1 + model.layout().slots.len() as u64 / SLOTS_PER_UNIT;
        Self { model, control, instances, units_of_step, granted: 0, stage: Stage::Waiting(Box::new(options)) }
    }

    /// Lets it do its share beside the search, which uses symmetries or not, and tells whether it is done.
    pub(crate) fn work(&mut self, progress: &Progress, is_reduced: bool) -> Result<bool, Error> {
        let tried = progress.states.saturating_mul(self.instances);
        let steps = match is_reduced {
            true => progress.transitions.saturating_mul(self.units_of_step),
            false => progress.transitions / STEPS_PER_UNIT,
        };
        let share = steps.saturating_add(tried / INSTANCES_PER_UNIT);
        let is_early = progress.states < FIRST_STATES && share < FIRST_SHARE;
        if is_early || share < self.granted.saturating_add(LEAST_GRANT) {
            return Ok(false);
        }
        self.proceed(share)?;
        Ok(self.is_done())
    }

    /// Whether there is a result.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Ended(Some(_)))
    }

    /// The result, with as much work as it takes. None if there is none.
    pub(crate) fn finish(mut self) -> Result<Option<SymbolicReport>, Error> {
        self.proceed(u64::MAX)?;
        match self.stage {
            Stage::Ended(report) => Ok(report.map(|report| *report)),
            _ => Ok(None),
        }
    }

    fn proceed(&mut self, work: u64) -> Result<(), Error> {
        self.granted = work;
        if let Stage::Waiting(options) = &self.stage {
            match Running::start(&self.model, options) {
                Some(running) => self.stage = Stage::Begun(running),
                None => self.stage = Stage::Ended(None),
            }
        }
        let Stage::Begun(running) = &self.stage else { return Ok(()) };
        running.meter.grant(work, self.control.interrupt());
        let Ok(outcome) = running.receiver.try_recv() else { return Ok(()) };
        let report = match outcome? {
            Ok(report) => report.filter(|report| report.report.stop_reason.is_none()),
            Err(error) => match symbolic::refused(self.model.source(), error) {
                error @ Error::Internal(_) => return Err(error),
                _ => None,
            },
        };
        self.stage = Stage::Ended(report.map(Box::new));
        Ok(())
    }
}

impl Running {
    /// Begins, without any work. None if there are too few resources.
    fn start(model: &Model, options: &SearchOptions) -> Option<Self> {
        let (sender, receiver) = mpsc::channel();
        let (interrupt, meter) = (Interrupt::new(), Meter::new(0));
        let (model, options) = (model.clone(), options.clone());
        let (budget, ended) = (Budget::metered(&meter, &interrupt), meter.clone());
        let work = move || {
            let found = defect::catch(|| count_by_saturation(model.ir(), model.layout(), &options, &budget));
            // The receiver is gone if the result is no longer needed.
            let _ = sender.send(found);
            ended.end();
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).ok()?;
        Some(Self { receiver, meter, interrupt })
    }
}
