//! Traces for people: the first state in full, then each step with what it changed, where the cycle of a
//! lasso begins, and what is wrong at the end.

use std::fmt::Write;

use quotient_ir::{Action, DeadlockMode, FaultKind, Layout, Model, Span, Trace, TraceStep, Valuation, Violation};

use crate::names::{
    action_arguments_text, action_is_named, action_span, action_title, is_remark, joint_title, operation_title,
    participants, property_arguments_text, property_title,
};
use crate::render::diagnostics::Lines;
use crate::render::state::{Change, Entry, StateShape};
use crate::terminal::{Palette, visible};

/// The most statements of one step that are listed.
const LISTED_STATEMENTS: usize = 20;

/// Renders steps of one model.
pub(crate) struct TraceRenderer<'m> {
    model: &'m Model,
    shape: StateShape<'m>,
    palette: Palette,
}

/// What is wrong at the end of a trace.
pub(crate) struct ViolationText {
    /// In one sentence.
    pub(crate) message: String,
    /// The part of the source it is about, if it is about one.
    pub(crate) span: Option<Span>,
}

impl<'m> TraceRenderer<'m> {
    /// A renderer for the traces of a model.
    pub(crate) fn new(model: &'m Model, layout: &'m Layout, palette: Palette) -> Self {
        Self { model, shape: StateShape::new(model, layout), palette }
    }

    /// A whole trace.
    pub(crate) fn trace(&self, trace: &Trace) -> String {
        let width = trace.steps.len().saturating_sub(1).to_string().len().max(2);
        let mut text = String::new();
        let mut before = None;
        for (number, step) in trace.steps.iter().enumerate() {
            text.push_str(&self.step(&number.to_string(), width, step, before));
            before = self.shown_state(&trace.steps[..=number]);
            if trace.cycle == Some(number) {
                let _ = writeln!(text, "{:>width$}  {}", "", self.palette.faint("the cycle begins here"));
            }
        }
        if let Some(begin) = trace.cycle {
            let back = format!("the cycle leads back to the state after step {begin}, and repeats forever");
            let _ = writeln!(text, "{:>width$}  {}", "", self.palette.faint(&back));
        }
        if let Some(violation) = &trace.violation {
            text.push_str(&self.violation(violation, width));
        }
        if let (Some(state), Some(_)) = (before, &trace.violation) {
            text.push_str(&self.positions(state, width));
        }
        text
    }

    /// The last state of a run that is shown, and does not only stand between others.
    pub(crate) fn shown_state<'s>(&self, steps: &'s [TraceStep]) -> Option<&'s Valuation> {
        let layout = self.shape.layout();
        steps.iter().rev().map(|step| &step.state).find(|state| !self.model.is_between(layout, state))
    }

    /// Where processes stand, if the model has some.
    fn positions(&self, state: &Valuation, width: usize) -> String {
        let positions = self.shape.positions(state);
        if positions.is_empty() {
            return String::new();
        }
        let indent = " ".repeat(width + 2);
        let mut text = format!("{indent}{}\n", self.palette.faint("where the processes are:"));
        for Entry { name, value } in positions {
            let _ = writeln!(text, "{indent}  {name} {}", visible(&value));
        }
        text
    }

    /// One step: its number, its action, and what it changed (everything if nothing was before).
    pub(crate) fn step(&self, number: &str, width: usize, step: &TraceStep, before: Option<&Valuation>) -> String {
        let mut text = match participants(self.model, step.action, &step.arguments) {
            None => format!("{number:>width$}  {}\n", self.instance_after(step.action, &step.arguments, before)),
            Some(lines) => self.participant_lines(number, width, step.action, &lines),
        };
        let indent = " ".repeat(width + 4);
        if self.model.is_between(self.shape.layout(), &step.state) {
            return text;
        }
        match before {
            None => text.push_str(&self.state(&step.state, &indent)),
            Some(before) => text.push_str(&self.changes(before, &step.state, &indent)),
        }
        text
    }

    fn participant_lines(&self, number: &str, width: usize, action: Action, lines: &[String]) -> String {
        let mut text = String::new();
        let omitted = lines.len().saturating_sub(LISTED_STATEMENTS + 1);
        for (position, line) in lines.iter().take(lines.len() - omitted).enumerate() {
            let number = if position == 0 { number } else { "" };
            let line = if is_remark(self.model, action) { self.palette.faint(line) } else { self.palette.strong(line) };
            let _ = writeln!(text, "{number:>width$}  {line}");
        }
        if omitted > 0 {
            let _ = writeln!(text, "{:>width$}  {}", "", self.palette.faint(&format!("… and {omitted} more")));
        }
        text
    }

    /// An action with its arguments: `Rule "SendReqS", i: id_2`.
    pub(crate) fn instance(&self, action: Action, arguments: &[i64]) -> String {
        self.instance_after(action, arguments, None)
    }

    /// The same with what the state before tells of it.
    fn instance_after(&self, action: Action, arguments: &[i64], before: Option<&Valuation>) -> String {
        let title = joint_title(self.model, action, arguments);
        let own = || operation_title(self.model, self.shape.layout(), action, arguments, before);
        if let Some(title) = title.or_else(own) {
            return self.palette.strong(&title);
        }
        let mut text = self.palette.strong(&action_title(self.model, action));
        let arguments = action_arguments_text(self.model, action, arguments);
        if !arguments.is_empty() {
            let _ = write!(text, ", {arguments}");
        }
        if !action_is_named(self.model, action) {
            let place = self.model.source.locate(action_span(self.model, action));
            let _ = write!(text, " {}", self.palette.faint(&format!("({place})")));
        }
        text
    }

    /// What there is to say where nothing can be done.
    pub(crate) fn stuck(&self) -> &'static str {
        if self.model.operations.is_some() { "no operation is enabled" } else { "no rule can fire" }
    }

    /// A whole state, a line for each entry.
    pub(crate) fn state(&self, state: &Valuation, indent: &str) -> String {
        let entries = self.shape.summary(state);
        entries.iter().map(|entry| format!("{indent}{}: {}\n", entry.name, entry.value)).collect()
    }

    fn changes(&self, before: &Valuation, after: &Valuation, indent: &str) -> String {
        let changes = self.shape.changes(before, after);
        if changes.is_empty() {
            if self.model.presentation.is_some() {
                return String::new();
            }
            return format!("{indent}{}\n", self.palette.faint("nothing changes"));
        }
        let line = |change: &Change| match change {
            Change::Value { name, before, after } => format!("{name}: {before} → {}", self.palette.fresh(after)),
            Change::Became { name, value } => format!("{name}: {}", self.palette.fresh(value)),
            Change::Moved { name, places } => format!("{name} moves to {}", self.palette.fresh(places)),
            Change::Started { name } => format!("{name} starts"),
            Change::Added { name, element } => format!("{name}: added {}", self.palette.fresh(element)),
            Change::Removed { name, element } => format!("{name}: removed {element}"),
        };
        changes.iter().map(|change| format!("{indent}{}\n", line(change))).collect()
    }

    /// What is wrong after the last step, with the source it is about.
    pub(crate) fn violation(&self, violation: &Violation, width: usize) -> String {
        let ViolationText { message, span } = describe_violation(self.model, self.shape.layout(), violation);
        let indent = " ".repeat(width + 2);
        let mut text = format!("{indent}{}\n", self.palette.bad(&message));
        if let Some(span) = span {
            text.push_str(&Lines::new(&self.model.source).quotation(span, &indent, self.palette));
        }
        text
    }
}

/// Says in words what a violation is.
pub(crate) fn describe_violation(model: &Model, layout: &Layout, violation: &Violation) -> ViolationText {
    let property_with = |property, arguments: &[i64]| {
        let arguments = property_arguments_text(model, property, arguments);
        let title = property_title(model, property);
        if arguments.is_empty() { title } else { format!("{title} with {arguments}") }
    };
    match violation {
        Violation::Property { property, arguments } => ViolationText {
            message: format!("{} does not hold here", property_with(*property, arguments)),
            span: Some(model.properties[*property].span),
        },
        Violation::PropertyFault { property, arguments, fault } => ViolationText {
            message: format!("{} has no value here: {}", property_with(*property, arguments), visible(&fault.message)),
            span: Some(fault.span),
        },
        Violation::Fault { action, arguments, fault } => {
            let what = match fault.kind {
                FaultKind::Invariant(_) => "leads to a violation",
                _ => "goes wrong here",
            };
            let own = || operation_title(model, layout, *action, arguments, None);
            if let Some(title) = joint_title(model, *action, arguments).or_else(own) {
                let message = format!("{title} {what}: {}", visible(&fault.message));
                return ViolationText { message, span: Some(fault.span) };
            }
            let arguments = action_arguments_text(model, *action, arguments);
            let title = action_title(model, *action);
            let title = if arguments.is_empty() { title } else { format!("{title}, {arguments}") };
            ViolationText { message: format!("{title} {what}: {}", visible(&fault.message)), span: Some(fault.span) }
        }
        Violation::Deadlock(mode) => {
            let own = model.presentation.as_ref().and_then(|presentation| presentation.deadlock.as_deref());
            let usual = match mode {
                _ if model.operations.is_some() => "deadlock: no operation is enabled here",
                DeadlockMode::Stuttering => "deadlock: no rule can fire here and change the state",
                _ => "deadlock: no rule can fire here",
            };
            ViolationText { message: own.unwrap_or(usual).into(), span: None }
        }
        Violation::Unreachable { property, arguments } => ViolationText {
            message: format!(
                "from here no state can be reached that satisfies {}",
                property_with(*property, arguments)
            ),
            span: Some(model.properties[*property].span),
        },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use quotient_ir::builder::{ModelBuilder, Type};
    use quotient_ir::{Interpreter, Outcome, RuleId, StartId, TableIndex, replay};

    use super::*;

    /// A switch that goes on and off for ever once it has been found, and a run that shows it.
    pub(crate) fn lasso() -> (Model, Layout, Trace) {
        let mut builder = ModelBuilder::new("switch");
        let found = builder.variable("found", Type::boolean());
        let on = builder.variable("on", Type::boolean());
        builder.start("dark", |start| {
            start.assign(&found, false);
            start.assign(&on, false);
        });
        builder.rule("find", |rule| rule.assign(&found, true));
        builder.rule("toggle", |rule| {
            rule.guard(&found);
            rule.assign(&on, !&on);
        });
        builder.always_reachable("light", |_| on.and(&found));
        let model = builder.build().unwrap_or_else(|error| panic!("{error}"));
        let layout = Layout::new(&model).expect("a layout");
        let interpreter = Interpreter::new(&model, &layout);
        let mut steps: Vec<TraceStep> = Vec::new();
        let rules = [0, 1, 1].map(|rule| Action::Rule(RuleId::from_position(rule)));
        for action in [Action::Start(StartId::from_position(0))].into_iter().chain(rules) {
            let outcome = match (action, steps.last()) {
                (Action::Rule(rule), Some(last)) => interpreter.fire(rule, &[], &last.state),
                (Action::Start(start), _) => interpreter.run_start(start, &[]),
                (Action::Rule(_), None) => unreachable!("a start comes first"),
            };
            let Outcome::Next { state, .. } = outcome else { panic!("{outcome:?}") };
            steps.push(TraceStep { action, arguments: Vec::new(), state });
        }
        let trace = Trace::lasso(steps, 1, None);
        assert_eq!(replay(&interpreter, &trace), Ok(()));
        (model, layout, trace)
    }

    #[test]
    fn a_lasso_says_where_its_cycle_begins() {
        let (model, layout, trace) = lasso();
        snapbox::assert_data_eq!(
            TraceRenderer::new(&model, &layout, Palette::PLAIN).trace(&trace),
            snapbox::str![[r#"
 0  Startstate "dark"
      found: false
      on: false
 1  Rule "find"
      found: false → true
    the cycle begins here
 2  Rule "toggle"
      on: false → true
 3  Rule "toggle"
      on: true → false
    the cycle leads back to the state after step 1, and repeats forever

"#]]
        );
    }
}
