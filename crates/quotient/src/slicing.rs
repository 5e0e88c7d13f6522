//! The model that a check searches instead of the given one, and its runs as runs of that: a slice, in which dead slots
//! hold marks.

use quotient_functions::{DeadValues, Slice};
use quotient_ir::{Action, Interpreter, Layout, Outcome, Trace, TraceStep, Valuation, Violation, replay};
use quotient_search::{PropertyReport, SearchOptions, StopReason};

use crate::error::Error;
use crate::found::Found;
use crate::options::{Engine, Symmetry};
use crate::plan::Plan;
use crate::report::SliceReport;
use quotient_search::defect::Defect;

/// A plan for a model with fewer states.
pub(crate) struct Sliced {
    pub(crate) plan: Plan,
    slice: Option<Slice>,
    dead: Option<DeadValues>,
}

/// The plan for the slice of a model, with marks in its dead slots; none if every slot always counts.
pub(crate) fn sliced(plan: &Plan) -> Option<Sliced> {
    // The least value stands for all values of a slot, also of one that is declared to have interchangeable values: then
    // the declaration would no longer be true. Counters are for rows in which all objects have the same cells.
    if plan.options.exact_counts
        || plan.options.symmetry == Symmetry::Declared
        || plan.options.engine == Engine::Counters
    {
        return None;
    }
    let layout = plan.model.layout();
    // Temporal properties are checked on the whole model, but what they read is read.
    let properties = [&plan.properties[..], &plan.temporal].concat();
    let slice = quotient_functions::slice(plan.model.ir(), layout, &properties, plan.search.deadlock);
    let model = slice.as_ref().map_or(plan.model.ir(), |slice| &slice.model);
    let dead = quotient_functions::dead_values(model, layout, &properties, plan.search.deadlock);
    let model = dead.as_ref().map(|dead| &dead.model).or(slice.as_ref().map(|slice| &slice.model))?;
    debug_assert_eq!(quotient_ir::verify(model), Ok(()), "what is searched is a model");
    let moving_rules = slice.as_ref().map(|slice| slice.moving_rules.clone()).unwrap_or_default();
    let search = SearchOptions { moving_rules, ..plan.search.clone() };
    let plan = Plan { model: plan.model.with_ir(model.clone()), search, ..plan.clone() };
    Some(Sliced { plan, slice, dead })
}

impl Sliced {
    /// What is left out.
    pub(crate) fn report(&self) -> SliceReport {
        let parts = |slice: &Slice| (slice.unread.clone(), slice.only_definedness.clone());
        let (unread, only_definedness) = self.slice.as_ref().map(parts).unwrap_or_default();
        let dead = self.dead.as_ref().map(|dead| dead.names.clone()).unwrap_or_default();
        SliceReport { unread, only_definedness, dead }
    }

    /// The searched state that stands for a state of the model.
    fn project(&self, layout: &Layout, state: &mut Valuation) {
        if let Some(slice) = &self.slice {
            slice.project(layout, state);
        }
        if let Some(dead) = &self.dead {
            dead.project(layout, state);
        }
    }

    /// The same result with runs of the whole model.
    ///
    /// # Errors
    /// If a run of the slice is not one of the model: a defect of this program.
    pub(crate) fn lift(&self, whole: &Plan, found: &mut Found) -> Result<(), Error> {
        let interpreter = Interpreter::new(whole.model.ir(), whole.model.layout());
        let report = &mut found.report;
        let traces = report
            .properties
            .iter_mut()
            .flat_map(|PropertyReport { trace, other_traces, .. }| trace.iter_mut().chain(other_traces.iter_mut()));
        let remarks = found.remarks.iter_mut().filter_map(|remark| remark.trace.as_mut());
        for trace in traces.chain(&mut report.fault).chain(remarks) {
            *trace = self.lifted(&interpreter, trace).map_err(|message| {
                Error::from(Defect::noticed(format!("a run of the slice is not one of the model: {message}")))
            })?;
        }
        // The message of a run-time error names what the model assigns, and not what the slice has instead.
        let fault = report.fault.as_ref().and_then(|trace| trace.violation.as_ref()?.fault().cloned());
        if let (Some(StopReason::Fault(shown) | StopReason::Exhausted(shown)), Some(fault)) =
            (&mut report.stop_reason, fault)
            && (shown.kind, shown.span) == (fault.kind, fault.span)
        {
            *shown = fault;
        }
        Ok(())
    }

    /// The run of the model that a run of the slice represents, checked in every step.
    fn lifted(&self, interpreter: &Interpreter<'_>, trace: &Trace) -> Result<Trace, String> {
        if trace.cycle.is_some() {
            return Err("it has a cycle".to_owned());
        }
        let mut steps: Vec<TraceStep> = Vec::with_capacity(trace.steps.len());
        for step in &trace.steps {
            let before = steps.last().map(|step| &step.state);
            let Some(Outcome::Next { state, .. }) = outcome(interpreter, step.action, &step.arguments, before) else {
                return Err(format!("step {} is not possible", steps.len()));
            };
            let mut projection = state.clone();
            self.project(interpreter.layout(), &mut projection);
            if projection != step.state {
                return Err(format!("step {} leads to another state", steps.len()));
            }
            steps.push(TraceStep { action: step.action, arguments: step.arguments.clone(), state });
        }
        let last = steps.last().map(|step| &step.state);
        let mut violation = trace.violation.clone();
        match &mut violation {
            Some(Violation::Fault { action, arguments, fault }) => {
                if let Some(Outcome::Fault(found)) = outcome(interpreter, *action, arguments, last) {
                    *fault = found;
                }
            }
            Some(Violation::PropertyFault { property, arguments, fault }) => {
                if let Some(Err(found)) = last.map(|state| interpreter.holds(*property, arguments, state)) {
                    *fault = found;
                }
            }
            _ => {}
        }
        let mut lifted = trace.clone();
        (lifted.steps, lifted.violation) = (steps, violation);
        replay(interpreter, &lifted).map_err(|error| error.to_string())?;
        Ok(lifted)
    }
}

/// The outcome of an action in a state, or before there is one; a guard that fails is a run-time error.
fn outcome(
    interpreter: &Interpreter<'_>,
    action: Action,
    arguments: &[i64],
    before: Option<&Valuation>,
) -> Option<Outcome> {
    match (action, before) {
        (Action::Start(start), None) => Some(interpreter.run_start(start, arguments)),
        (Action::Rule(rule), Some(state)) => match interpreter.enabled(rule, arguments, state) {
            Ok(true) => Some(interpreter.fire(rule, arguments, state)),
            Ok(false) => None,
            Err(fault) => Some(Outcome::Fault(fault)),
        },
        _ => None,
    }
}
