//! Text output of traces: the first state in full, then each step with its changes, the start of the cycle of a lasso,
//! and the violation at the end.

use std::fmt::Write;

use quotient_ir::{
    Action, Interpreter, Layout, Model, PropertyId, TemporalClaim, Trace, TraceStep, Valuation, Violation,
};

use crate::render::context::{context_lines, failure_context};
use crate::render::diagnostics::Lines;
use crate::terminal::{Palette, visible};
use quotient::names::{action_is_named, action_span, instance_title, is_remark, joint_title, participants};
use quotient::shown::{Change, Entry, StateShape, ViolationText, describe_violation};

/// The maximum number of statements listed for one step.
const LISTED_STATEMENTS: usize = 20;

/// Renders steps of one model.
pub(crate) struct TraceRenderer<'m> {
    model: &'m Model,
    shape: StateShape<'m>,
    interpreter: Interpreter<'m>,
    palette: Palette,
    detail: StateDetail,
}

/// The states before a step.
#[derive(Clone, Copy, Default)]
pub(crate) struct StatesBefore<'s> {
    /// The last one that was shown.
    pub(crate) shown: Option<&'s Valuation>,
    /// The one that the step was taken in.
    pub(crate) previous: Option<&'s Valuation>,
}

/// How much of the states of a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateDetail {
    /// Which values of each state.
    pub(crate) values: ShownValues,
    /// Whether the last state is shown in full at the end.
    pub(crate) last_state: bool,
}

/// What of each state is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ShownValues {
    /// Every variable
    All,
    /// Every variable that has a value
    Defined,
    /// The first state in full, then what each step changes
    #[default]
    Changed,
}

impl<'m> TraceRenderer<'m> {
    /// A renderer for the traces of a model.
    pub(crate) fn new(model: &'m Model, layout: &'m Layout, palette: Palette) -> Self {
        let (shape, interpreter) = (StateShape::new(model, layout), Interpreter::new(model, layout));
        Self { model, shape, interpreter, palette, detail: StateDetail::default() }
    }

    /// The same with a different level of detail.
    pub(crate) fn showing(self, detail: StateDetail) -> Self {
        Self { detail, ..self }
    }

    /// A whole trace.
    pub(crate) fn trace(&self, trace: &Trace) -> String {
        let width = trace.steps.len().saturating_sub(1).to_string().len().max(2);
        let mut text = String::new();
        let mut before = None;
        for (number, step) in trace.steps.iter().enumerate() {
            let previous = number.checked_sub(1).map(|previous| &trace.steps[previous].state);
            text.push_str(&self.step(&number.to_string(), width, step, StatesBefore { shown: before, previous }));
            before = self.shown_state(&trace.steps[..=number]);
            if trace.cycle == Some(number) {
                text.push_str(&self.cycle_begins(width));
            }
        }
        text + &self.ending(trace, width)
    }

    /// The note after the step that leads to the start of the cycle of a lasso.
    pub(crate) fn cycle_begins(&self, width: usize) -> String {
        format!("{:>width$}  {}\n", "", self.palette.faint("the cycle begins here"))
    }

    /// Whether a property is about the events of finite runs.
    fn is_about_events(&self, property: PropertyId) -> bool {
        let temporal = self.interpreter.model().properties[property].formula.temporal();
        temporal.is_some_and(|temporal| matches!(temporal.claim, TemporalClaim::Behaviour(_)))
    }

    /// What follows the last step of a trace.
    pub(crate) fn ending(&self, trace: &Trace, width: usize) -> String {
        let mut text = String::new();
        let last = self.shown_state(&trace.steps);
        if let Some(begin) = trace.cycle {
            let back = format!("the cycle leads back to the state after step {begin}, and repeats forever");
            let _ = writeln!(text, "{:>width$}  {}", "", self.palette.faint(&back));
        } else if let Some(Violation::Temporal { property, .. }) = &trace.violation
            && !self.is_about_events(*property)
        {
            let stays = "nothing can happen here: the run stays in this state forever";
            let _ = writeln!(text, "{:>width$}  {}", "", self.palette.faint(stays));
        }
        if let Some(violation) = &trace.violation {
            let last = trace.steps.last().map(|step| &step.state);
            if let Violation::Fault { action, arguments, .. } = violation {
                let printed = self.interpreter.printed(*action, arguments, last);
                text.push_str(&self.printed_lines(&printed, &" ".repeat(width + 2)));
            }
            text.push_str(&self.violation(violation, last, width));
        }
        if let (Some(state), Some(_)) = (last, &trace.violation) {
            text.push_str(&self.positions(state, width));
        }
        text + &self.last_state(last)
    }

    /// The last state in full, if requested.
    pub(crate) fn last_state(&self, state: Option<&Valuation>) -> String {
        match state {
            Some(state) if self.detail.last_state => {
                let entries = self.shape.entries(state);
                let lines = entries.iter().map(|entry| format!("  {}: {}\n", entry.name, entry.value));
                format!("\n{}\n{}", self.palette.faint("the last state:"), lines.collect::<String>())
            }
            _ => String::new(),
        }
    }

    /// The last state of a run that is shown and is not only transient.
    pub(crate) fn shown_state<'s>(&self, steps: &'s [TraceStep]) -> Option<&'s Valuation> {
        let layout = self.shape.layout();
        steps.iter().rev().map(|step| &step.state).find(|state| !self.model.is_between(layout, state))
    }

    /// The control points of processes, if the model has any.
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

    /// The printed text, line by line.
    fn printed_lines(&self, printed: &str, indent: &str) -> String {
        let line = |line: &str| {
            let text = visible(&line.replace('\t', "    "));
            let space = if text.is_empty() { "" } else { " " };
            format!("{indent}{}{space}{text}\n", self.palette.faint("prints:"))
        };
        printed.lines().map(line).collect()
    }

    /// One step: its number, its action, what it prints, and its changes (the whole state if there was none before).
    pub(crate) fn step(&self, number: &str, width: usize, step: &TraceStep, before: StatesBefore<'_>) -> String {
        let mut text = match participants(self.model, step.action, &step.arguments) {
            None => {
                format!("{number:>width$}  {}\n", self.instance_after(step.action, &step.arguments, before.previous))
            }
            Some(lines) => self.participant_lines(number, width, step.action, &lines),
        };
        let indent = " ".repeat(width + 4);
        let printed = self.interpreter.printed(step.action, &step.arguments, before.previous);
        text.push_str(&self.printed_lines(&printed, &indent));
        if self.model.is_between(self.shape.layout(), &step.state) {
            return text;
        }
        match before.shown {
            _ if self.detail.values != ShownValues::Changed => text.push_str(&self.state(&step.state, &indent)),
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

    /// The same with the details that follow from the previous state.
    fn instance_after(&self, action: Action, arguments: &[i64], before: Option<&Valuation>) -> String {
        let (name, rest) = instance_title(&self.interpreter, action, arguments, before);
        let mut text = format!("{}{rest}", self.palette.strong(&name));
        let is_own = joint_title(self.model, action, arguments).is_none() && self.model.operations.is_none();
        if is_own && !action_is_named(self.model, action) {
            let place = self.model.source.locate(action_span(self.model, action));
            let _ = write!(text, " {}", self.palette.faint(&format!("({place})")));
        }
        text
    }

    /// The message for a state in which nothing can happen.
    pub(crate) fn stuck(&self) -> &'static str {
        if self.model.operations.is_some() { "no operation is enabled" } else { "no rule can fire" }
    }

    /// A whole state, a line for each entry.
    pub(crate) fn state(&self, state: &Valuation, indent: &str) -> String {
        let entries = match self.detail.values {
            ShownValues::All => self.shape.entries(state),
            ShownValues::Defined => self.shape.defined_entries(state),
            ShownValues::Changed => self.shape.summary(state),
        };
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

    /// The violation in the last state, with its source location and the reason.
    pub(crate) fn violation(&self, violation: &Violation, last: Option<&Valuation>, width: usize) -> String {
        let ViolationText { message, span } = describe_violation(self.model, self.shape.layout(), violation);
        let indent = " ".repeat(width + 2);
        let mut text = format!("{indent}{}\n", self.palette.bad(&message));
        if let Some(span) = span {
            text.push_str(&Lines::new(&self.model.source).quotation(span, &indent, self.palette));
        }
        let context = failure_context(self.model, self.shape.layout(), violation, last);
        text.push_str(&context_lines(self.model, &context, &indent, self.palette));
        text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use quotient_ir::builder::{ModelBuilder, Type};
    use quotient_ir::{Outcome, RuleId, StartId, TableIndex, replay};

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
