//! Runs to reached cover properties. A check only establishes that they are reached, so each run takes a separate
//! search: of the same model with the claim that the cover property is never reached.

use quotient_ir::{
    self as ir, Action, DeadlockMode, Expr, ExprId, Formula, Interpreter, Outcome, PropertyId, PropertyKind, Span,
    Statement, StatementKind, Trace, TraceStep, UnaryOperator, Violation, replay,
};
use quotient_search::{StopReason, StoreMode, Subject, Verdict, ViolationLimit};

use crate::control::{Control, Observer};
use crate::error::Error;
use crate::model::Model;
use crate::names::{ERRORS, property_name};
use crate::options::{Engine, Options};
use crate::plan::Plan;
use crate::report::Report;
use crate::run;

/// A run to each cover property that a report says is reached, as far as the limits allow.
///
/// # Errors
/// As for [`Plan::run`].
pub(crate) fn runs(
    plan: &Plan,
    report: &Report,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Vec<(PropertyId, Trace)>, Error> {
    let has_errors = has_errors(report);
    let mut found = Vec::new();
    for property in report.properties.iter().filter(|property| property.verdict == Verdict::Holds) {
        let Subject::Property(cover) = property.subject else { continue };
        if plan.model.ir().properties[cover].kind == PropertyKind::Cover
            && let Sought::Found(trace) = run_to(plan, plan.model.ir(), cover, has_errors, control, observer)?
        {
            found.push((cover, trace));
        }
    }
    Ok(found)
}

/// Whether run-time errors were found.
pub(crate) fn has_errors(report: &Report) -> bool {
    report.fault.is_some()
        || report.properties.iter().any(|it| it.subject == Subject::Errors && it.verdict == Verdict::Violated)
}

/// What became of the search for a run.
pub(crate) enum Sought {
    Found(Trace),
    /// There is none.
    Absent,
    /// The search did not finish.
    Unknown(StopReason),
}

/// A run to a cover property of a model, which is that of the plan up to that property.
pub(crate) fn run_to(
    plan: &Plan,
    model: &ir::Model,
    cover: PropertyId,
    has_errors: bool,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Sought, Error> {
    let (mut denied, places) = denying(model, cover);
    // The property is a claim now.
    denied.objectives.clear();
    let denied = Model::new(denied)?;
    let is_statement = plan.model.ir().properties[cover].formula.condition().is_none();
    let subject = if is_statement { ERRORS.to_owned() } else { property_name(denied.ir(), cover) };
    let options = Options {
        properties: vec![subject],
        deadlock: Some(DeadlockMode::Off),
        // A run-time error may come first. A search with counters ends there.
        violations: match has_errors && plan.options.engine != Engine::Counters {
            true => ViolationLimit::All,
            false => ViolationLimit::First,
        },
        store: StoreMode::Exact,
        checkpoint: None,
        resume: None,
        cross_check: false,
        cover_runs: false,
        ..plan.options.clone()
    };
    let searched = run::check(&Plan::of(&denied, &options)?, control, observer)?;
    let is_reached = |trace: &&Trace| match &trace.violation {
        Some(Violation::Property { property, .. }) => *property == cover,
        Some(Violation::Fault { fault, .. }) => is_statement && places.contains(&fault.span),
        _ => false,
    };
    let Some(trace) = searched.properties.iter().flat_map(|property| property.traces()).find(is_reached) else {
        return Ok(match searched.verdict {
            Verdict::Holds => Sought::Absent,
            _ => Sought::Unknown(searched.stop_reason.unwrap_or(StopReason::Withdrawn)),
        });
    };
    let interpreter = Interpreter::new(plan.model.ir(), plan.model.layout());
    let mut steps = trace.steps.clone();
    if let Some(Violation::Fault { action, arguments, .. }) = &trace.violation {
        let outcome = match (action, steps.last()) {
            (Action::Start(start), _) => interpreter.run_start(*start, arguments),
            (Action::Rule(rule), Some(last)) => interpreter.fire(*rule, arguments, &last.state),
            (Action::Rule(_), None) => return Ok(Sought::Unknown(StopReason::Withdrawn)),
        };
        match outcome {
            Outcome::Next { state, covered } if covered.contains(&cover) => {
                steps.push(TraceStep { action: *action, arguments: arguments.clone(), state });
            }
            // A later statement of the step fails or drops the step.
            _ => return Ok(Sought::Unknown(StopReason::Withdrawn)),
        }
    }
    let trace = Trace::new(steps, None);
    match replay(&interpreter, &trace) {
        Ok(()) => Ok(Sought::Found(trace)),
        Err(error) => Err(Error::of_engine(plan.model.source(), error.into())),
    }
}

/// The model with the claim that a cover property is never reached, and the locations of the statements that reach it.
fn denying(model: &ir::Model, cover: PropertyId) -> (ir::Model, Vec<Span>) {
    let mut denied = model.clone();
    // It describes what is claimed otherwise.
    denied.net = None;
    let property = &mut denied.properties[cover];
    if let Some(condition) = property.formula.condition() {
        property.kind = PropertyKind::Invariant;
        let negation = denied.pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand: condition });
        denied.properties[cover].formula = Formula::Condition(negation);
        return (denied, Vec::new());
    }
    let ir::Model { pool, rules, starts, functions, .. } = &mut denied;
    let mut places = Vec::new();
    let mut negate =
        |condition: ExprId| pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand: condition });
    for id in rules.indices() {
        deny(&mut rules[id].body, cover, &mut negate, &mut places);
    }
    for id in starts.indices() {
        deny(&mut starts[id].body, cover, &mut negate, &mut places);
    }
    for id in functions.indices() {
        deny(&mut functions[id].body, cover, &mut negate, &mut places);
    }
    (denied, places)
}

/// Turns the cover statements of a property into assertions.
fn deny(
    statements: &mut [Statement],
    cover: PropertyId,
    negate: &mut impl FnMut(ExprId) -> ExprId,
    places: &mut Vec<Span>,
) {
    for statement in statements {
        match &mut statement.kind {
            StatementKind::Cover { condition, property } if *property == cover => {
                let condition = negate(*condition);
                places.push(statement.span);
                statement.kind = StatementKind::Assert { condition, message: String::new(), violates: None };
            }
            StatementKind::If { branches, otherwise } => {
                for (_, body) in branches {
                    deny(body, cover, negate, places);
                }
                deny(otherwise, cover, negate, places);
            }
            StatementKind::While { body, .. } | StatementKind::For { body, .. } => deny(body, cover, negate, places),
            _ => {}
        }
    }
}
