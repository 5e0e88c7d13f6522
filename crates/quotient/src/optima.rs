//! The least or greatest value of an expression among the states that satisfy a cover property. Each question, whether a
//! better state can be reached, is a search of its own, with all reductions; the run that answers it gives the next
//! value to improve on. Steps grow while they succeed, and are halved where they do not.

use quotient_ir::{BinaryOperator, Expr, Formula, Interpreter, Model, Objective, PropertyId, Trace};
use quotient_search::{PropertyReport, StopReason, Subject, Verdict};

use crate::control::{Control, Observer};
use crate::covers::{Sought, has_errors, run_to};
use crate::error::Error;
use crate::plan::Plan;
use crate::report::{Optimum, Report};

/// The optima that a model asks for, of the cover properties that are reached.
///
/// # Errors
/// As for [`Plan::run`].
pub(crate) fn optima(
    plan: &Plan,
    report: &Report,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<(Vec<Optimum>, Option<StopReason>), Error> {
    let is_reached = |property: PropertyId| {
        let judged = |it: &&PropertyReport| it.subject == Subject::Property(property);
        report.properties.iter().find(judged).is_some_and(|it| it.verdict == Verdict::Holds)
    };
    let (mut all, mut stopped) = (Vec::new(), None);
    for objective in plan.model.ir().objectives.iter().filter(|objective| is_reached(objective.property)) {
        let mut search = Search { plan, objective, has_errors: has_errors(report), control, observer: &mut *observer };
        let (optimum, reason) = search.run()?;
        all.extend(optimum);
        stopped = stopped.or(reason);
    }
    Ok((all, stopped))
}

struct Search<'s> {
    plan: &'s Plan,
    objective: &'s Objective,
    has_errors: bool,
    control: &'s Control,
    observer: &'s mut dyn Observer,
}

impl Search<'_> {
    fn run(&mut self) -> Result<(Option<Optimum>, Option<StopReason>), Error> {
        let Objective { property, is_least, .. } = *self.objective;
        let (mut value, mut trace) = match self.seek(None)? {
            Found::Better(value, trace) => (value, trace),
            Found::None => return Ok((None, None)),
            Found::Unknown(reason) => return Ok((None, Some(reason))),
        };
        // A state that is better by `failed` cannot be reached.
        let (mut failed, mut step, mut stopped) = (None::<i64>, 1i64, None);
        while failed != Some(1) {
            let target = if is_least { value.checked_sub(step) } else { value.checked_add(step) };
            let found = match target {
                Some(target) => self.seek(Some(target))?,
                None => Found::None,
            };
            match found {
                Found::Better(better, run) => {
                    let gain = value.abs_diff(better);
                    (value, trace) = (better, run);
                    failed = failed.map(|failed| failed.saturating_sub_unsigned(gain));
                    step = step.saturating_mul(2);
                }
                Found::None => failed = Some(step),
                Found::Unknown(reason) => {
                    stopped = Some(reason);
                    break;
                }
            }
            if let Some(failed) = failed.filter(|&failed| failed > 1) {
                step = failed / 2;
            }
        }
        Ok((Some(Optimum { property, is_least, value, is_proved: stopped.is_none(), trace }), stopped))
    }

    /// A run to a state that satisfies the property and is at least as good as a value.
    fn seek(&mut self, target: Option<i64>) -> Result<Found, Error> {
        let mut model = self.plan.model.ir().clone();
        let Objective { property, value, is_least } = *self.objective;
        if let (Some(target), Some(condition)) = (target, model.properties[property].formula.condition()) {
            let right = model.pool.expression(Expr::Constant { value: target, ty: Model::INTEGER });
            let operator = if is_least { BinaryOperator::LessOrEqual } else { BinaryOperator::GreaterOrEqual };
            let better = model.pool.expression(Expr::Binary { operator, left: value, right });
            let operator = BinaryOperator::And;
            let both = model.pool.expression(Expr::Binary { operator, left: condition, right: better });
            model.properties[property].formula = Formula::Condition(both);
        }
        let sought = run_to(self.plan, &model, property, self.has_errors, self.control, self.observer)?;
        let trace = match sought {
            Sought::Found(trace) => trace,
            Sought::Absent => return Ok(Found::None),
            Sought::Unknown(reason) => return Ok(Found::Unknown(reason)),
        };
        let interpreter = Interpreter::new(self.plan.model.ir(), self.plan.model.layout());
        let value = trace.steps.last().map(|last| interpreter.value_at(property, value, &last.state));
        Ok(match value {
            Some(Ok(value)) => Found::Better(value, trace),
            Some(Err(fault)) => Found::Unknown(StopReason::Fault(fault)),
            None => Found::None,
        })
    }
}

enum Found {
    Better(i64, Trace),
    None,
    Unknown(StopReason),
}
