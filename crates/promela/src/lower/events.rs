//! `trace` and `notrace` as observers of sends and receives. As in SPIN, the trace makes a step with every send and
//! receive that it mentions for a channel, and its position is part of the state. It observes the last message of a
//! queue after a send, and the first at a receive.
//!
//! A `trace` is violated by a send or receive for which it has no step, a `notrace` when it reaches its end; a
//! `notrace` that has no step is not tracked any further.

use std::rc::Rc;

use quotient_ir::{Diagnostic, ExprId, Span, Statement, StatementKind, Variable};
use quotient_kit::Building;
use rustc_hash::FxHashSet;

use super::channels::ChannelTarget;
use super::emission::Emission;
use super::flow::{Action, ElementId, ElementKind, Flow, build};
use super::owner::{Context, Owner};
use super::symbols::Symbols;
use super::words::Value;
use crate::syntax::tree::{self, Expression, ExpressionKind, Proctype};

/// The message for a violated `trace`.
const NO_STEP: &str = "the trace has no step for this";
/// The message for a violated `notrace`.
const NOTRACE_ENDS: &str = "the notrace has come to its end";

/// A trace that can be observed.
#[derive(Clone, Debug)]
pub(super) struct EventTrace {
    negated: bool,
    span: Span,
    flow: Flow,
}

/// The kind of event on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    Sent,
    Received,
}

/// A step of a trace.
struct EventStep<'a> {
    kind: EventKind,
    channel: &'a Expression,
    fields: &'a [Expression],
    /// The number of the point that it leads to.
    to: i64,
}

impl EventTrace {
    /// Translates a trace. None, with a warning, if it cannot be checked.
    pub(super) fn new(
        tree: &tree::Claim,
        symbols: &Symbols,
        watched: &FxHashSet<(Rc<str>, Rc<str>)>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let proctype = Proctype::of_claim(tree, if tree.negated { ":notrace:" } else { ":trace:" }.into());
        let (flow, process) = build(&proctype, symbols, watched, diagnostics);
        let trace = Self { negated: tree.negated, span: tree.span, flow };
        let is_plain = |point: &ElementId| {
            trace.flow.exits(*point).iter().all(|exit| exit.escape.is_none() && trace.step(exit.element).is_some())
        };
        let all_plain = trace.flow.points.iter().filter(|&&point| !trace.is_over(point)).all(is_plain);
        if all_plain && process.variables.is_empty() {
            return Some(trace);
        }
        diagnostics.push(
            Diagnostic::warning(quotient_kit::UNSUPPORTED_PROPERTY, "this `trace` cannot be checked", tree.span)
                .with_help("a trace has plain sends and receives only, with constants or `_` as fields")
                .about("trace", if tree.negated { "notrace" } else { "trace" }),
        );
        None
    }

    /// Its control flow.
    pub(super) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Whether a point is the end.
    fn is_over(&self, point: ElementId) -> bool {
        matches!(self.flow.elements[point].kind, ElementKind::End)
    }

    fn step(&self, element: ElementId) -> Option<EventStep<'_>> {
        let to = self.flow.number(self.flow.target(element)?);
        let (kind, channel, fields) = match &self.flow.elements[element].kind {
            ElementKind::Basic(Action::Send { channel, sorted: false, arguments }) => {
                (EventKind::Sent, channel, arguments)
            }
            ElementKind::Basic(Action::Receive { channel, random: false, copying: false, arguments }) => {
                (EventKind::Received, channel, arguments)
            }
            _ => return None,
        };
        Some(EventStep { kind, channel, fields, to })
    }

    /// The number of the end; one that no point has if the trace does not get there.
    fn end(&self) -> i64 {
        let end = self.flow.points.iter().find(|&&point| self.is_over(point));
        end.map_or(self.flow.points.len() as i64 + 1, |&end| self.flow.number(end))
    }

    /// The steps from each point that is not the end.
    fn steps(&self) -> impl Iterator<Item = (i64, Vec<EventStep<'_>>)> {
        self.flow.points.iter().filter(|&&point| !self.is_over(point)).map(|&point| {
            let steps = self.flow.exits(point).iter().filter_map(|exit| self.step(exit.element)).collect();
            (self.flow.number(point), steps)
        })
    }
}

impl Emission<'_, '_> {
    /// Declares the position of the trace.
    pub(super) fn declare_trace(&mut self) {
        let Some(trace) = &self.program.trace else { return };
        let ty = self.range_type(0, trace.flow.points.len() as i64 + 1);
        let name = self.unique_name("trace");
        let span = trace.span;
        self.event = Some(self.model.variables.push(Variable { name, ty, may_be_undefined: false, span }));
    }

    /// Statements that set the trace to its initial position.
    pub(super) fn start_trace(&mut self) -> Vec<Statement> {
        let (Some(trace), Some(event)) = (&self.program.trace, self.event) else { return Vec::new() };
        let place = self.variable_place(event);
        vec![self.set_number(place, trace.flow.number(trace.flow.first), trace.span)]
    }

    /// Whether the trace may stop at its position. As in SPIN, this is not checked when all processes are gone.
    pub(super) fn is_trace_complete(&mut self) -> ExprId {
        let (Some(trace), Some(event)) = (&self.program.trace, self.event) else { return self.truth(true) };
        let place = self.variable_place(event);
        let now = self.read(place);
        let ends = trace.flow.points.iter().filter(|&&point| trace.flow.is_end(point));
        let mut numbers: Vec<i64> = ends.map(|&point| trace.flow.number(point)).collect();
        numbers.push(trace.end());
        let first = self.number(0);
        let alive = self.is_alive(first);
        let mut conditions = vec![self.not(alive)];
        for number in numbers {
            let number = self.number(number);
            conditions.push(self.equal(now, number));
        }
        self.any(conditions)
    }

    /// Whether a step of the trace is this event.
    fn matches(&mut self, step: &EventStep<'_>, target: &ChannelTarget, fields: &[Value]) -> Option<ExprId> {
        let mut owner = Owner::default();
        let mut conditions = vec![self.is_channel(step.channel, target)?];
        for (wanted, value) in step.fields.iter().zip(fields) {
            if matches!(&wanted.kind, ExpressionKind::Reference(parts) if &*parts[0].name.text == "_") {
                continue;
            }
            let wanted_value = self.numeric(&mut owner, Context::outside(), wanted)?;
            if self.constant_of(wanted_value.expression).is_none() {
                self.error("bad-event", "a field of an event is a constant or `_`", wanted.span);
                return None;
            }
            let value = self.number_of(*value);
            conditions.push(self.equal(value.expression, wanted_value.expression));
        }
        Some(self.all(conditions))
    }

    /// Whether an event is on a channel.
    fn is_channel(&mut self, channel: &Expression, target: &ChannelTarget) -> Option<ExprId> {
        let number = self.numeric(&mut Owner::default(), Context::outside(), channel)?;
        let shapes = self.program.channel_shapes(None, 0, channel);
        if !shapes.contains(&target.shape) {
            return Some(self.truth(false));
        }
        Some(self.equal(number.expression, target.number))
    }

    /// Whether an event concerns the trace.
    fn is_in_scope(&mut self, trace: &EventTrace, kind: EventKind, target: &ChannelTarget) -> Option<ExprId> {
        let mut conditions = Vec::new();
        for (_, steps) in trace.steps() {
            for step in steps.iter().filter(|step| step.kind == kind) {
                conditions.push(self.is_channel(step.channel, target)?);
            }
        }
        Some(self.any(conditions))
    }

    /// Statements by which the trace observes an event with these fields; none if the event does not concern it.
    pub(super) fn note_event(
        &mut self,
        kind: EventKind,
        target: &ChannelTarget,
        fields: &[Value],
        span: Span,
    ) -> Vec<Statement> {
        let program = self.program;
        let (Some(trace), Some(event)) = (&program.trace, self.event) else { return Vec::new() };
        let Some(in_scope) = self.is_in_scope(trace, kind, target) else { return Vec::new() };
        if self.constant_of(in_scope) == Some(0) {
            return Vec::new();
        }
        let place = self.variable_place(event);
        let now = self.read(place);
        let mut branches = Vec::new();
        for (from, steps) in trace.steps() {
            let from = self.number(from);
            let here = self.equal(now, from);
            let own: Vec<&EventStep<'_>> = steps.iter().filter(|step| step.kind == kind).collect();
            let mut conditions = Vec::new();
            for step in &own {
                let Some(condition) = self.matches(step, target, fields) else { return Vec::new() };
                conditions.push(condition);
            }
            for (position, step) in own.iter().enumerate() {
                let mut body = vec![self.set_number(place, step.to, span)];
                let others = self.any(conditions[position + 1..].to_vec());
                if self.constant_of(others) != Some(0) {
                    let message = "two steps of the trace are this event".to_owned();
                    let wrong = Statement { kind: StatementKind::Error { message }, span };
                    body.insert(0, Self::when(others, vec![wrong], Vec::new(), span));
                }
                if trace.negated && step.to == trace.end() {
                    body.extend(self.wrong_event(NOTRACE_ENDS, span));
                }
                branches.push((self.and(here, conditions[position]), body));
            }
        }
        let otherwise = match trace.negated {
            true => vec![self.set_number(place, trace.end(), span)],
            false => self.wrong_event(NO_STEP, span),
        };
        branches.retain(|(condition, _)| self.constant_of(*condition) != Some(0));
        let body = match branches.is_empty() {
            true => otherwise,
            false => vec![Statement { kind: StatementKind::If { branches, otherwise }, span }],
        };
        match self.constant_of(in_scope) {
            Some(_) => body,
            None => vec![Self::when(in_scope, body, Vec::new(), span)],
        }
    }

    /// Whether sending a message violates the trace, and the error.
    pub(super) fn wrong_offer(
        &mut self,
        target: &ChannelTarget,
        fields: &[Value],
        span: Span,
    ) -> Option<(ExprId, Vec<Statement>)> {
        let program = self.program;
        let (trace, event) = (program.trace.as_ref()?, self.event?);
        let in_scope = self.is_in_scope(trace, EventKind::Sent, target)?;
        let place = self.variable_place(event);
        let now = self.read(place);
        let mut ways = Vec::new();
        for (from, steps) in trace.steps() {
            let from = self.number(from);
            let here = self.equal(now, from);
            // A `notrace` is violated by what leads to its end, a `trace` by an event without a step.
            let counts = |step: &&EventStep<'_>| !trace.negated || step.to == trace.end();
            for step in steps.iter().filter(|step| step.kind == EventKind::Sent).filter(counts) {
                let condition = self.matches(step, target, fields)?;
                ways.push(self.and(here, condition));
            }
        }
        let continues = self.any(ways);
        let wrong = if trace.negated { continues } else { self.not(continues) };
        let message = if trace.negated { NOTRACE_ENDS } else { NO_STEP };
        Some((self.and(in_scope, wrong), self.wrong_event(message, span)))
    }

    fn wrong_event(&self, message: &str, span: Span) -> Vec<Statement> {
        if !self.check_assertions {
            return Vec::new();
        }
        vec![Statement { kind: StatementKind::Error { message: message.to_owned() }, span }]
    }
}
