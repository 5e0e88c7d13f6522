//! Traces for people: the first state in full, then each step with what it changed, and what is
//! wrong at the end.

use std::fmt::Write;

use quotient_ir::{Action, DeadlockMode, Layout, Model, Span, Trace, TraceStep, Valuation, Violation};

use crate::names::{
    action_arguments_text, action_is_named, action_span, action_title, property_arguments_text, property_title,
};
use crate::render::diagnostics::Lines;
use crate::render::state::{Change, StateShape};
use crate::terminal::{Palette, visible};

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
            before = Some(&step.state);
        }
        if let Some(violation) = &trace.violation {
            text.push_str(&self.violation(violation, width));
        }
        text
    }

    /// One step: its number, its action, and what it changed (everything if nothing was before).
    pub(crate) fn step(&self, number: &str, width: usize, step: &TraceStep, before: Option<&Valuation>) -> String {
        let title = self.instance(step.action, &step.arguments);
        let mut text = format!("{number:>width$}  {title}\n");
        let indent = " ".repeat(width + 4);
        match before {
            None => text.push_str(&self.state(&step.state, &indent)),
            Some(before) => text.push_str(&self.changes(before, &step.state, &indent)),
        }
        text
    }

    /// An action with its arguments: `Rule "SendReqS", i: id_2`.
    pub(crate) fn instance(&self, action: Action, arguments: &[i64]) -> String {
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

    /// A whole state, a line for each entry.
    pub(crate) fn state(&self, state: &Valuation, indent: &str) -> String {
        let entries = self.shape.summary(state);
        entries.iter().map(|entry| format!("{indent}{}: {}\n", entry.name, entry.value)).collect()
    }

    fn changes(&self, before: &Valuation, after: &Valuation, indent: &str) -> String {
        let changes = self.shape.changes(before, after);
        if changes.is_empty() {
            return format!("{indent}{}\n", self.palette.faint("nothing changes"));
        }
        let line = |change: &Change| match change {
            Change::Value { name, before, after } => format!("{name}: {before} → {}", self.palette.fresh(after)),
            Change::Added { name, element } => format!("{name}: added {}", self.palette.fresh(element)),
            Change::Removed { name, element } => format!("{name}: removed {element}"),
        };
        changes.iter().map(|change| format!("{indent}{}\n", line(change))).collect()
    }

    /// What is wrong after the last step, with the source it is about.
    pub(crate) fn violation(&self, violation: &Violation, width: usize) -> String {
        let ViolationText { message, span } = describe_violation(self.model, violation);
        let indent = " ".repeat(width + 2);
        let mut text = format!("{indent}{}\n", self.palette.bad(&message));
        if let Some(span) = span {
            let lines = Lines::new(&self.model.source);
            let (line, column) = lines.line_and_column(span);
            let place = format!("{}:{line}:{column}", self.model.source.name);
            let _ = writeln!(text, "{indent}{}", self.palette.faint(&place));
            let _ = writeln!(text, "{indent}{} {}", self.palette.faint(&format!("{line} |")), lines.first_line(span));
        }
        text
    }
}

/// Says in words what a violation is.
pub(crate) fn describe_violation(model: &Model, violation: &Violation) -> ViolationText {
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
            let arguments = action_arguments_text(model, *action, arguments);
            let title = action_title(model, *action);
            let title = if arguments.is_empty() { title } else { format!("{title}, {arguments}") };
            ViolationText {
                message: format!("{title} goes wrong here: {}", visible(&fault.message)),
                span: Some(fault.span),
            }
        }
        Violation::Deadlock(DeadlockMode::Stuttering) => {
            ViolationText { message: "deadlock: no rule can fire here and change the state".into(), span: None }
        }
        Violation::Deadlock(_) => ViolationText { message: "deadlock: no rule can fire here".into(), span: None },
        Violation::Liveness { property, arguments } => ViolationText {
            message: format!(
                "from here no state can be reached that satisfies {}",
                property_with(*property, arguments)
            ),
            span: Some(model.properties[*property].span),
        },
    }
}
