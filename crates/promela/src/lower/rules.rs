//! From control flow to rules: one rule for each way to leave a control point, with the process as its parameter, and
//! joint rules for rendezvous.
//!
//! A process in an atomic sequence has exclusive control (`atomic` holds its number) as long as it can move, and so has one
//! at a private point that it has come to. A state in which it blocks is left by a rule that only gives up this control.

use std::collections::BTreeSet;

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Fairness, Iteration, LocalId, Number, Parameter, Quantifier, Rule, Span, Statement,
    StatementKind, VariableId,
};
use quotient_kit::Building;

use super::channels::{Pattern, RECEIVED, SENT};
use super::emission::{Emission, Origin};
use super::events::EventKind;
use super::expressions::Referent;
use super::flow::{Action, ElementId, ElementKind, Exit};
use super::owner::{Context, Owner};
use super::pools::MOST;
use super::presentation::{Taking, Telling};
use super::priorities::Priorities;
use super::wording::condition_text;
use super::words::Value;
use crate::syntax::tree::{Expression, ExpressionKind};

/// A way to leave a control point, in full.
#[derive(Clone, Copy, Debug)]
struct Move<'a> {
    process: usize,
    point: ElementId,
    exits: &'a [Exit],
    /// Which of the exits.
    position: usize,
}

/// A message being passed from one process to another.
struct Offer<'a> {
    channel: ExprId,
    shape: usize,
    values: &'a [Value],
}

impl Emission<'_, '_> {
    /// Emits all rules.
    pub(super) fn emit_rules(&mut self) {
        let program = self.program;
        let inner: Vec<BTreeSet<ElementId>> = program
            .processes
            .iter()
            .enumerate()
            .map(|(number, process)| {
                let flow = &process.flow;
                let exits = flow.points.iter().flat_map(|&point| flow.exits(point));
                let goes_on = exits.filter(|exit| program.goes_on(number, exit.element));
                goes_on.filter_map(|exit| flow.target(exit.element)).collect()
            })
            .collect();
        for (process, entry) in program.processes.iter().enumerate() {
            if self.pools.ranges[process].is_none() {
                // It is never executed, but its errors should be reported.
                continue;
            }
            for &point in &entry.flow.points {
                let exits = entry.flow.exits(point);
                for position in 0..exits.len() {
                    self.emit_move(Move { process, point, exits: &exits, position }, &inner);
                }
                if inner[process].contains(&point) {
                    self.emit_release(process, point);
                }
            }
        }
        self.emit_end();
        self.emit_stutter();
    }

    /// The process of a rule: a parameter, or a constant where there is only one.
    fn mover(
        &mut self,
        owner: &mut Owner,
        parameters: &mut Vec<Parameter>,
        process: usize,
        name: &str,
    ) -> Option<ExprId> {
        let (low, high) = self.pools.ranges[process]?;
        if low == high {
            return Some(self.number(low));
        }
        let ty = self.pid_type(process)?;
        let local = owner.parameter(name, ty);
        parameters.push(Parameter { local, range: Iteration::Over(ty) });
        Some(self.read_local(owner, local))
    }

    fn context(&self, process: usize, pid: ExprId, element: ElementId, asks_timeout: bool) -> Context {
        let scope = self.program.processes[process].flow.elements[element].scope;
        Context { process: Some(process), pid: Some(pid), scope, asks_timeout }
    }

    /// The name that a rule is shown under: process type, line and text.
    fn rule_name(&self, process: usize, element: ElementId) -> String {
        let entry = &self.program.processes[process].flow.elements[element];
        let name = self.program.name(process);
        let (line, _) = self.model.source.line_and_column(entry.span.start);
        let text = match entry.kind {
            ElementKind::End => "-end-".to_owned(),
            ElementKind::Else => "else".to_owned(),
            _ => {
                let text = self.model.source.text.get(entry.span.range()).unwrap_or("");
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if text.chars().count() > 50 { text.chars().take(47).chain("...".chars()).collect() } else { text }
            }
        };
        format!("{name} {line}: {text}")
    }

    /// Whether no other process has exclusive control.
    fn may_move(&mut self, pid: ExprId, may_hold: bool) -> ExprId {
        let Some(exclusive) = self.exclusive else { return self.truth(true) };
        let place = self.variable_place(exclusive);
        let holder = self.read(place);
        let nobody = self.number(-1);
        let free = self.equal(holder, nobody);
        if !may_hold {
            return free;
        }
        let own = self.equal(holder, pid);
        self.or(free, own)
    }

    /// Gives a process exclusive control, or gives it up.
    fn hold(&mut self, holder: Option<ExprId>, held: bool, span: Span) -> Vec<Statement> {
        let Some(exclusive) = self.exclusive else { return Vec::new() };
        let place = self.variable_place(exclusive);
        match holder {
            Some(pid) => vec![self.set(place, pid, span)],
            None if held => self.release(exclusive, span),
            None => Vec::new(),
        }
    }

    /// Gives up exclusive control, to the process that waits for it if there is one.
    fn release(&mut self, exclusive: VariableId, span: Span) -> Vec<Statement> {
        let place = self.variable_place(exclusive);
        let Some(waiting) = self.waiting else { return vec![self.set_number(place, -1, span)] };
        let waiting = self.variable_place(waiting);
        let next = self.read(waiting);
        vec![self.set(place, next, span), self.set_number(waiting, -1, span)]
    }

    fn note_last(&mut self, pid: ExprId, span: Span) -> Option<Statement> {
        let last = self.last?;
        let place = self.variable_place(last);
        Some(self.set(place, pid, span))
    }

    fn provided(&mut self, owner: &mut Owner, process: usize, pid: ExprId) -> ExprId {
        match &self.program.processes[process].tree.provided {
            Some(condition) => {
                let context = Context { process: Some(process), pid: Some(pid), scope: 0, asks_timeout: false };
                match self.condition(owner, context, condition) {
                    Some(condition) => condition,
                    None => self.truth(false),
                }
            }
            None => self.truth(true),
        }
    }

    /// Whether no escape takes precedence over an exit.
    fn is_not_escaped(&mut self, owner: &mut Owner, it: Move<'_>, pid: ExprId) -> ExprId {
        let own = &it.exits[it.position];
        let point_escapes = &self.program.processes[it.process].flow.elements[it.point].escapes;
        let mut conditions = Vec::new();
        for (position, other) in it.exits[..it.position].iter().enumerate() {
            let Some(escape) = other.escape else { continue };
            if own.escape == Some(escape) {
                continue;
            }
            if own.escape.is_none() && !point_escapes.contains(&escape) && !own.below.contains(&escape) {
                continue;
            }
            let enabled = self.executable(owner, Move { position, ..it }, pid, true, false);
            conditions.push(self.not(enabled));
        }
        self.all(conditions)
    }

    /// Whether an element can be executed, apart from escapes. `with_partners` counts a rendezvous as possible if some
    /// process receives the message.
    fn executable(
        &mut self,
        owner: &mut Owner,
        it: Move<'_>,
        pid: ExprId,
        with_partners: bool,
        asks_timeout: bool,
    ) -> ExprId {
        let element = it.exits[it.position].element;
        let flow = &self.program.processes[it.process].flow;
        let context = self.context(it.process, pid, element, asks_timeout);
        match &flow.elements[element].kind {
            ElementKind::Else => self.is_else(owner, it, pid),
            ElementKind::End => self.is_youngest(pid),
            ElementKind::DeterministicStep => self.step_executable(owner, it.process, pid, element, asks_timeout),
            ElementKind::Basic(Action::Send { channel, arguments, .. }) if with_partners => {
                let span = flow.elements[element].span;
                let arguments = self.message_arguments(context, arguments);
                let Some(targets) = self.send_targets(owner, context, channel, arguments.len(), span) else {
                    return self.truth(false);
                };
                let mut conditions = Vec::new();
                for target in targets {
                    if self.program.shapes[target.shape].capacity > 0 {
                        conditions.push(self.can_send(&target));
                    } else {
                        conditions.push(self.has_partner(owner, it, pid, target.shape));
                    }
                }
                self.any(conditions)
            }
            ElementKind::Basic(action) => self.action_executable(owner, context, action, flow.elements[element].span),
            _ => self.truth(true),
        }
    }

    /// Whether an action can be executed by a process on its own.
    pub(super) fn action_executable(
        &mut self,
        owner: &mut Owner,
        context: Context,
        action: &Action,
        span: Span,
    ) -> ExprId {
        match action {
            Action::Skip
            | Action::Print { .. }
            | Action::Assert(_)
            | Action::Assign { .. }
            | Action::SetPriority { .. } => self.truth(true),
            Action::Condition(condition) => {
                if matches!(condition.kind, ExpressionKind::Run { .. }) {
                    return self.truth(true);
                }
                match self.condition(owner, context, condition) {
                    Some(condition) => condition,
                    None => self.truth(false),
                }
            }
            Action::Send { channel, arguments, .. } => {
                let arguments = self.message_arguments(context, arguments);
                let targets = self.send_targets(owner, context, channel, arguments.len(), span).unwrap_or_default();
                let mut conditions = Vec::new();
                for target in targets {
                    if self.program.shapes[target.shape].capacity > 0 {
                        conditions.push(self.can_send(&target));
                    }
                }
                self.any(conditions)
            }
            Action::Receive { channel, random, arguments, .. } => {
                let arguments = self.message_arguments(context, arguments);
                let targets = self.channels_of(owner, context, channel).unwrap_or_default();
                let Some(patterns) = self.patterns(owner, context, &arguments) else { return self.truth(false) };
                let mut conditions = Vec::new();
                for target in targets {
                    if self.program.shapes[target.shape].capacity > 0 {
                        conditions.push(self.can_receive(&target, *random, &patterns));
                    }
                }
                self.any(conditions)
            }
        }
    }

    /// Whether nothing before an `else` can be executed. As in SPIN, a rendezvous counts at the sender, if some process
    /// receives the message, and never at the receiver.
    fn is_else(&mut self, owner: &mut Owner, it: Move<'_>, pid: ExprId) -> ExprId {
        let mut conditions = Vec::new();
        for position in 0..it.position {
            let enabled = self.executable(owner, Move { position, ..it }, pid, true, false);
            conditions.push(self.not(enabled));
        }
        self.all(conditions)
    }

    /// Whether there is no process with a greater number. The next number would suffice, since there are no gaps, but
    /// testing one process would distinguish it from the others.
    fn is_youngest(&mut self, pid: ExprId) -> ExprId {
        if self.pools.stay_at_end {
            return self.truth(false);
        }
        let (low, high) = self.bounds_of(pid);
        if self.pools.lasting.is_some_and(|lasting| lasting > high) {
            return self.truth(false);
        }
        let mut conditions = Vec::new();
        for other in low.saturating_add(1).max(1)..self.pools.processes {
            let other = self.number(other);
            let alive = self.is_alive(other);
            let dead = self.not(alive);
            let older = self.compare(BinaryOperator::LessOrEqual, other, pid);
            conditions.push(self.or(older, dead));
        }
        self.all(conditions)
    }

    /// Whether a process at a control point can move, ignoring exclusive control of others.
    pub(super) fn can_leave(
        &mut self,
        owner: &mut Owner,
        process: usize,
        pid: ExprId,
        point: ElementId,
        by_timeout: bool,
    ) -> ExprId {
        let exits = self.program.processes[process].flow.exits(point);
        let mut conditions = Vec::new();
        for position in 0..exits.len() {
            let it = Move { process, point, exits: &exits, position };
            conditions.push(self.executable(owner, it, pid, true, by_timeout));
        }
        let any = self.any(conditions);
        let provided = self.provided(owner, process, pid);
        self.and(provided, any)
    }

    /// The arguments of a send, as values.
    fn sent_values(&mut self, owner: &mut Owner, context: Context, arguments: &[Expression]) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(owner, context, argument)?);
        }
        Some(values)
    }

    /// All receives that may take messages of a rendezvous shape.
    fn receivers(&self, shape: usize) -> Vec<(usize, ElementId, usize)> {
        let mut found = Vec::new();
        for (process, entry) in self.program.processes.iter().enumerate() {
            if self.pools.ranges[process].is_none() {
                continue;
            }
            for &point in &entry.flow.points {
                for (position, exit) in entry.flow.exits(point).iter().enumerate() {
                    let Some(receive) = entry.flow.receive_of(exit.element) else { continue };
                    let element = &entry.flow.elements[receive];
                    if let ElementKind::Basic(Action::Receive { channel, .. }) = &element.kind
                        && self.program.channel_shapes(Some(process), element.scope, channel).contains(&shape)
                    {
                        found.push((process, point, position));
                    }
                }
            }
        }
        found
    }

    /// Whether a process accepts an offer at one of its exits; with the effects on the fields.
    fn takes(
        &mut self,
        owner: &mut Owner,
        it: Move<'_>,
        pid: ExprId,
        offer: &Offer<'_>,
    ) -> Option<(ExprId, Vec<Pattern>)> {
        let flow = &self.program.processes[it.process].flow;
        let accept = |emission: &mut Self, owner: &mut Owner, position: usize| {
            let element = flow.receive_of(it.exits[position].element)?;
            let ElementKind::Basic(Action::Receive { channel, arguments, .. }) = &flow.elements[element].kind else {
                return None;
            };
            let context = emission.context(it.process, pid, element, false);
            let arguments = emission.message_arguments(context, arguments);
            let targets = emission.channels_of(owner, context, channel)?;
            let target = targets.iter().find(|target| target.shape == offer.shape)?;
            let same = emission.equal(target.number, offer.channel);
            let patterns = emission.patterns(owner, context, &arguments)?;
            let agrees =
                emission.agrees(&patterns, |emission, field| emission.sent_field(offer.shape, field, offer.values));
            Some((emission.and(same, agrees), patterns))
        };
        let (condition, patterns) = accept(self, owner, it.position)?;
        let number = flow.number(it.point);
        let here = self.is_at(it.process, pid, number);
        let provided = self.provided(owner, it.process, pid);
        // Only an escape that takes the same message comes before it.
        let mut conditions = vec![here, provided, condition];
        for (position, other) in it.exits[..it.position].iter().enumerate() {
            if other.escape.is_some()
                && other.escape != it.exits[it.position].escape
                && let Some((condition, _)) = accept(self, owner, position)
            {
                conditions.push(self.not(condition));
            }
        }
        Some((self.all(conditions), patterns))
    }

    /// Whether some other process receives the message of a rendezvous send.
    fn has_partner(&mut self, owner: &mut Owner, it: Move<'_>, pid: ExprId, shape: usize) -> ExprId {
        let element = it.exits[it.position].element;
        let flow = &self.program.processes[it.process].flow;
        let ElementKind::Basic(Action::Send { channel, arguments, .. }) = &flow.elements[element].kind else {
            return self.truth(false);
        };
        let context = self.context(it.process, pid, element, false);
        let arguments = self.message_arguments(context, arguments);
        let Some(values) = self.sent_values(owner, context, &arguments) else { return self.truth(false) };
        let Some(targets) = self.channels_of(owner, context, channel) else { return self.truth(false) };
        let Some(target) = targets.into_iter().find(|target| target.shape == shape) else { return self.truth(false) };
        let of_shape = self.is_of_shape(&target);
        let offer = Offer { channel: target.number, shape, values: &values };
        let mut conditions = Vec::new();
        for (process, point, position) in self.receivers(shape) {
            let exits = self.program.processes[process].flow.exits(point);
            let Some((low, high)) = self.pools.ranges[process] else { continue };
            let (partner, bound) = if low == high {
                (self.number(low), None)
            } else {
                let ty = self.range_type(low, high);
                let local = owner.parameter("q", ty);
                (self.read_local(owner, local), Some((local, ty)))
            };
            let it = Move { process, point, exits: &exits, position };
            let Some((takes, _)) = self.takes(owner, it, partner, &offer) else { continue };
            let other = self.compare(BinaryOperator::NotEqual, partner, pid);
            let both = self.and(other, takes);
            conditions.push(match bound {
                Some((local, ty)) => self.quantified(Quantifier::Any, local, ty, both),
                None => both,
            });
        }
        let any = self.any(conditions);
        self.and(of_shape, any)
    }

    /// Emits the rules of one way to leave a control point.
    fn emit_move(&mut self, it: Move<'_>, inner: &[BTreeSet<ElementId>]) {
        let element = it.exits[it.position].element;
        let flow = &self.program.processes[it.process].flow;
        let entry = &flow.elements[element];
        let span = entry.span;
        let held = inner[it.process].contains(&it.point);
        match &entry.kind {
            ElementKind::Basic(Action::Send { channel, sorted, arguments }) => {
                let shapes = self.program.channel_shapes(Some(it.process), entry.scope, channel);
                let buffered = shapes.iter().any(|&shape| self.program.shapes[shape].capacity > 0);
                if buffered || shapes.is_empty() {
                    self.emit_plain(it, held, |emission, owner, context, _| {
                        emission.send_statements(owner, context, channel, *sorted, arguments, span)
                    });
                }
                for &shape in shapes.iter().filter(|&&shape| self.program.shapes[shape].capacity == 0) {
                    self.emit_handshakes(it, held, shape);
                    self.emit_wrong_offer(it, held, shape);
                }
            }
            ElementKind::Basic(action) => match run_of(action) {
                Some(run) => self.emit_run(it, held, action, run),
                None => self
                    .emit_plain(it, held, |emission, owner, context, _| emission.effect(owner, context, action, span)),
            },
            ElementKind::DeterministicStep => {
                self.emit_plain(it, held, |emission, owner, _, pid| {
                    emission.step_statements(owner, it.process, pid, element)
                });
            }
            ElementKind::End => {
                self.emit_plain(it, held, |emission, _, _, pid| {
                    let mut statements = emission.clear_channels(it.process, pid, span);
                    statements.extend(emission.clear_process(it.process, pid, span));
                    Some(statements)
                });
            }
            _ => self.emit_plain(it, held, |_, _, _, _| Some(Vec::new())),
        }
    }

    /// Emits a rule for an exit that a process takes on its own.
    fn emit_plain(
        &mut self,
        it: Move<'_>,
        held: bool,
        effect: impl FnOnce(&mut Self, &mut Owner, Context, ExprId) -> Option<Vec<Statement>>,
    ) {
        let element = it.exits[it.position].element;
        let span = self.program.processes[it.process].flow.elements[element].span;
        let mut owner = Owner::default();
        let mut parameters = Vec::new();
        let Some(pid) = self.mover(&mut owner, &mut parameters, it.process, "p") else { return };
        let guard = self.move_guard(&mut owner, it, pid, held);
        let can = self.executable(&mut owner, it, pid, false, true);
        let guard = self.and(guard, can);
        let context = self.context(it.process, pid, element, true);
        let Some(mut body) = effect(self, &mut owner, context, pid) else { return };
        self.finish_move(it, pid, held, span, &mut body);
        self.push_rule(it, None, parameters, owner, guard, body);
    }

    /// Adds a rule; `taker` is the process type and the element that takes the message of a send.
    fn push_rule(
        &mut self,
        it: Move<'_>,
        taker: Option<(usize, ElementId)>,
        parameters: Vec<Parameter>,
        mut owner: Owner,
        guard: ExprId,
        mut body: Vec<Statement>,
    ) {
        if self.constant_of(guard) == Some(0) {
            return;
        }
        let element = it.exits[it.position].element;
        body.extend(self.forget_hidden((it.process, element), taker));
        body.extend(self.observe(&mut owner));
        let flow = &self.program.processes[it.process].flow;
        let span = flow.elements[element].span;
        let mut name = self.rule_name(it.process, element);
        if let Some((process, element)) = taker {
            name = format!("{name} → {}", self.rule_name(process, element));
        }
        let name = Some(name);
        let number = |process: usize, name: &str| match self.pools.ranges[process] {
            Some((low, high)) if low == high => Number::Constant(low),
            _ => {
                let named = |parameter: &Parameter| owner.locals[parameter.local].name == name;
                Number::Parameter(parameters.iter().position(named).unwrap_or(0))
            }
        };
        let mover = number(it.process, "p");
        let mut takings = vec![Taking { number: mover, process: it.process, element }];
        takings.extend(taker.map(|(process, element)| Taking { number: number(process, "q"), process, element }));
        let telling = Telling::Statements(takings);
        self.model.rules.push(Rule {
            name,
            owner: quotient_ir::Owner::Process(mover),
            fairness: Fairness::None,
            parameters,
            locals: owner.locals,
            guard,
            body,
            span,
        });
        self.origins.push(Origin { mover: Some((it.process, flow.number(it.point))), telling });
    }

    /// Where the process is, whose turn it is, and that no escape comes first.
    fn move_guard(&mut self, owner: &mut Owner, it: Move<'_>, pid: ExprId, held: bool) -> ExprId {
        let number = self.program.processes[it.process].flow.number(it.point);
        let here = self.is_at(it.process, pid, number);
        let turn = self.may_move(pid, held);
        let provided = self.provided(owner, it.process, pid);
        let preferred = self.is_not_escaped(owner, it, pid);
        let highest = self.is_not_outranked(it.process, pid);
        self.all([here, turn, provided, preferred, highest])
    }

    /// Moves the control of the process on.
    fn finish_move(&mut self, it: Move<'_>, pid: ExprId, held: bool, span: Span, body: &mut Vec<Statement>) {
        let element = it.exits[it.position].element;
        let flow = &self.program.processes[it.process].flow;
        if let Some(target) = flow.target(element)
            && target != it.point
        {
            let control = self.control_place(it.process, pid);
            body.push(self.set_number(control, flow.number(target), span));
        }
        let holder = self.program.goes_on(it.process, element).then_some(pid);
        body.extend(self.hold(holder, held, span));
        body.extend(self.note_last(pid, span));
    }

    /// The statements of an action that can be executed.
    pub(super) fn effect(
        &mut self,
        owner: &mut Owner,
        context: Context,
        action: &Action,
        span: Span,
    ) -> Option<Vec<Statement>> {
        match action {
            Action::Skip => Some(Vec::new()),
            Action::Print { format, arguments } => Some(self.print(owner, context, format, arguments, span)),
            Action::Condition(_) => Some(Vec::new()),
            Action::Assign { target, value } => {
                let ExpressionKind::Reference(parts) = &target.kind else { return None };
                let value = self.value(owner, context, value);
                let referent = self.referent(owner, context, parts);
                let (value, referent) = (value?, referent?);
                Some(self.store(referent, value, span))
            }
            Action::Assert(condition) => {
                let message = format!("`{}`", condition_text(&self.model.source, condition));
                let condition = self.condition(owner, context, condition)?;
                if !self.check_assertions {
                    return Some(Vec::new());
                }
                let kind = StatementKind::Assert { condition, message, violates: None };
                Some(vec![Statement { kind, span }])
            }
            Action::SetPriority { process, priority } => {
                let process = self.numeric(owner, context, process);
                let priority = self.numeric(owner, context, priority);
                let (process, priority) = (process?, priority?);
                Some(self.set_priority(process.expression, priority, span))
            }
            Action::Send { channel, sorted, arguments } => {
                self.send_statements(owner, context, channel, *sorted, arguments, span)
            }
            Action::Receive { channel, random, copying, arguments } => {
                let arguments = self.message_arguments(context, arguments);
                let targets = self.channels_of(owner, context, channel)?;
                let patterns = self.patterns(owner, context, &arguments)?;
                let mut branches = Vec::new();
                for target in targets {
                    if self.program.shapes[target.shape].capacity > 0 {
                        let condition = self.is_of_shape(&target);
                        branches.push((condition, self.receive(owner, &target, *random, *copying, &patterns, span)));
                    }
                }
                Some(self.choose(branches, span))
            }
        }
    }

    /// The branch whose condition holds; one of them does.
    fn choose(&mut self, mut branches: Vec<(ExprId, Vec<Statement>)>, span: Span) -> Vec<Statement> {
        if branches.len() <= 1 {
            return branches.pop().map(|(_, statements)| statements).unwrap_or_default();
        }
        vec![Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }]
    }

    fn send_statements(
        &mut self,
        owner: &mut Owner,
        context: Context,
        channel: &Expression,
        sorted: bool,
        arguments: &[Expression],
        span: Span,
    ) -> Option<Vec<Statement>> {
        let arguments = self.message_arguments(context, arguments);
        let targets = self.send_targets(owner, context, channel, arguments.len(), span)?;
        let values = self.sent_values(owner, context, &arguments)?;
        let mut branches = Vec::new();
        for target in targets {
            if self.program.shapes[target.shape].capacity > 0 {
                let condition = self.is_of_shape(&target);
                branches.push((condition, self.send(owner, &target, sorted, &values, span)));
            }
        }
        Some(self.choose(branches, span))
    }

    /// Emits a joint rule for each receive that may take the message of a send.
    fn emit_handshakes(&mut self, it: Move<'_>, held: bool, shape: usize) {
        let element = it.exits[it.position].element;
        let flow = &self.program.processes[it.process].flow;
        let ElementKind::Basic(Action::Send { channel, arguments, .. }) = &flow.elements[element].kind else { return };
        let span = flow.elements[element].span;
        for (process, point, position) in self.receivers(shape) {
            let exits = self.program.processes[process].flow.exits(point);
            let taker = Move { process, point, exits: &exits, position };
            let mut owner = Owner::default();
            let mut parameters = Vec::new();
            let Some(pid) = self.mover(&mut owner, &mut parameters, it.process, "p") else { return };
            let Some(partner) = self.mover(&mut owner, &mut parameters, process, "q") else { continue };
            let context = self.context(it.process, pid, element, false);
            let arguments = self.message_arguments(context, arguments);
            let targets = self.send_targets(&mut owner, context, channel, arguments.len(), span);
            let values = self.sent_values(&mut owner, context, &arguments);
            let (Some(targets), Some(values)) = (targets, values) else { return };
            let Some(target) = targets.into_iter().find(|target| target.shape == shape) else { return };
            let guard = self.move_guard(&mut owner, it, pid, held);
            let of_shape = self.is_of_shape(&target);
            let other = self.compare(BinaryOperator::NotEqual, partner, pid);
            let offer = Offer { channel: target.number, shape, values: &values };
            let Some((takes, patterns)) = self.takes(&mut owner, taker, partner, &offer) else { continue };
            let guard = self.all([guard, of_shape, other, takes]);
            if self.constant_of(guard) == Some(0) {
                // The constants of the message differ from those that the receive requires.
                continue;
            }
            let mut body = self.wrong_fields(shape, patterns.len(), RECEIVED, span);
            let fields = self.program.shapes[shape].fields.len();
            let message: Vec<Value> = (0..fields).map(|field| self.sent_field(shape, field, &values)).collect();
            body.extend(self.note_event(EventKind::Sent, &target, &message, span));
            body.extend(self.note_event(EventKind::Received, &target, &message, span));
            body.extend(self.hand_over(&mut owner, shape, &values, &patterns, span));
            let Some(rest) = self.rest_of_step(&mut owner, process, partner, exits[position].element) else { return };
            body.extend(rest);
            for (moved, number, element) in [(it.process, pid, element), (process, partner, exits[position].element)] {
                let flow = &self.program.processes[moved].flow;
                if let Some(target) = flow.target(element) {
                    let control = self.control_place(moved, number);
                    body.push(self.set_number(control, flow.number(target), span));
                }
            }
            let (sender_goes_on, taker_goes_on) = (
                self.program.is_before_private(it.process, element),
                self.program.goes_on(process, exits[position].element),
            );
            let holder = taker_goes_on.then_some(partner).or(sender_goes_on.then_some(pid));
            if let Some(waiting) = self.waiting.filter(|_| sender_goes_on && taker_goes_on) {
                let place = self.variable_place(waiting);
                body.push(self.set(place, pid, span));
            }
            body.extend(self.hold(holder, held, span));
            body.extend(self.note_last(partner, span));
            self.push_rule(it, Some((process, exits[position].element)), parameters, owner, guard, body);
        }
    }

    /// A message with the wrong number of fields, or for which the trace has no step, is an error as soon as it is
    /// offered, even if no process receives it.
    fn emit_wrong_offer(&mut self, it: Move<'_>, held: bool, shape: usize) {
        let element = it.exits[it.position].element;
        let entry = &self.program.processes[it.process].flow.elements[element];
        let ElementKind::Basic(Action::Send { channel, arguments, .. }) = &entry.kind else { return };
        let mut owner = Owner::default();
        let mut parameters = Vec::new();
        let Some(pid) = self.mover(&mut owner, &mut parameters, it.process, "p") else { return };
        let context = self.context(it.process, pid, element, false);
        let arguments = self.message_arguments(context, arguments);
        let given = arguments.len();
        let mut body = self.wrong_fields(shape, given, SENT, entry.span);
        if body.is_empty() && (self.event.is_none() || !self.check_assertions) {
            return;
        }
        let Some(targets) = self.send_targets(&mut owner, context, channel, given, entry.span) else { return };
        let Some(target) = targets.into_iter().find(|target| target.shape == shape) else { return };
        let mut guard = self.move_guard(&mut owner, it, pid, held);
        if body.is_empty() {
            let Some(values) = self.sent_values(&mut owner, context, &arguments) else { return };
            let fields = self.program.shapes[shape].fields.len();
            let message: Vec<Value> = (0..fields).map(|field| self.sent_field(shape, field, &values)).collect();
            let Some((wrong, error)) = self.wrong_offer(&target, &message, entry.span) else { return };
            guard = self.and(guard, wrong);
            body = error;
        }
        let of_shape = self.is_of_shape(&target);
        let guard = self.and(guard, of_shape);
        self.push_rule(it, None, parameters, owner, guard, body);
    }

    /// Moves the fields of a message from the sender's values into the receiver's variables.
    fn hand_over(
        &mut self,
        owner: &mut Owner,
        shape: usize,
        values: &[Value],
        patterns: &[Pattern],
        span: Span,
    ) -> Vec<Statement> {
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut stores = 0;
        for (field, pattern) in patterns.iter().enumerate() {
            let Pattern::Into(referent) = *pattern else { continue };
            let mut value = self.sent_field(shape, field, values);
            if stores > 0 && self.constant_of(value.expression).is_none() {
                // All fields are taken before the first is stored: a store may change what is sent.
                let ty = self.field_of_message_type(shape, field);
                let local = owner.variable("field", ty);
                let place = self.local_place(owner, local);
                before.push(self.set(place, value.expression, span));
                value.expression = self.read(place);
            }
            if !matches!(referent, Referent::Nowhere) {
                stores += 1;
            }
            after.extend(self.store(referent, value, span));
        }
        before.extend(after);
        before
    }

    /// Emits the rule of a statement that creates a process. The number of the new process is a
    /// parameter: the least that is free.
    fn emit_run(&mut self, it: Move<'_>, held: bool, action: &Action, run: &Expression) {
        let element = it.exits[it.position].element;
        let span = self.program.processes[it.process].flow.elements[element].span;
        let ExpressionKind::Run { proctype, arguments, priority } = &run.kind else { return };
        let priority = self.run_priority(priority.as_deref());
        let Some(created) = self.proctype(proctype) else { return };
        let mut owner = Owner::default();
        let mut parameters = Vec::new();
        let Some(pid) = self.mover(&mut owner, &mut parameters, it.process, "p") else { return };
        let context = self.context(it.process, pid, element, false);
        let guard = self.move_guard(&mut owner, it, pid, held);
        let Some(values) = self.run_arguments(&mut owner, context, created, arguments, run.span) else { return };
        if self.pools.ranges[created].is_some() {
            let Some(new) = self.mover(&mut owner, &mut parameters, created, "new") else { return };
            let is_next = self.is_next_free(new);
            let guard = self.and(guard, is_next);
            let mut body = Vec::new();
            let store = self.store_run(&mut owner, context, action, new, span);
            body.extend(self.create(&mut owner, created, new, &values, priority, span));
            body.extend(store);
            self.finish_move(it, pid, held, span, &mut body);
            self.push_rule(it, None, parameters, owner, guard, body);
        }
        if !self.pools.bounded {
            let mut owner = Owner::default();
            let mut parameters = Vec::new();
            let Some(pid) = self.mover(&mut owner, &mut parameters, it.process, "p") else { return };
            let guard = self.move_guard(&mut owner, it, pid, held);
            let last = self.number(self.pools.processes - 1);
            let full = self.is_alive(last);
            let guard = self.and(guard, full);
            let body = vec![self.out_of_processes(span)];
            self.push_rule(it, None, parameters, owner, guard, body);
        }
    }

    /// The outcome if there are more processes than the state has room for: inconclusive, unless SPIN itself has no
    /// room.
    pub(super) fn out_of_processes(&mut self, span: Span) -> Statement {
        let room = self.pools.processes;
        let kind = if room >= MOST {
            StatementKind::Error { message: "too many processes".into() }
        } else {
            let condition = self.truth(false);
            let message =
                format!("there is room for {room} processes only; `--max-processes` makes room for up to {MOST}");
            StatementKind::Require { condition, message }
        };
        Statement { kind, span }
    }

    /// Whether a number is the one that the next process gets.
    pub(super) fn is_next_free(&mut self, new: ExprId) -> ExprId {
        let alive = self.is_alive(new);
        let free = self.not(alive);
        let minus_one = self.number(-1);
        let before = self.add(new, minus_one);
        let follows = self.is_alive(before);
        self.and(free, follows)
    }

    pub(super) fn run_arguments(
        &mut self,
        owner: &mut Owner,
        context: Context,
        created: usize,
        arguments: &[Expression],
        span: Span,
    ) -> Option<Vec<Value>> {
        let wanted = self.program.argument_count(created);
        let arguments = &self.message_arguments(context, arguments)[..];
        if arguments.len() != wanted {
            let name = self.program.name(created);
            let message = format!("process type `{name}` takes {wanted} arguments, {} are given", arguments.len());
            self.error("wrong-arity", message, span);
            return None;
        }
        self.sent_values(owner, context, arguments)
    }

    /// The priority that a `run` gives.
    pub(super) fn run_priority(&self, priority: Option<&Expression>) -> i64 {
        let given = priority.and_then(|priority| self.program.symbols.constant(priority));
        given.filter(|&it| it > 0).unwrap_or(1)
    }

    /// `v = run p()` stores the number of the new process.
    pub(super) fn store_run(
        &mut self,
        owner: &mut Owner,
        context: Context,
        action: &Action,
        new: ExprId,
        span: Span,
    ) -> Vec<Statement> {
        let Action::Assign { target, .. } = action else { return Vec::new() };
        let ExpressionKind::Reference(parts) = &target.kind else { return Vec::new() };
        let Some(referent) = self.referent(owner, context, parts) else { return Vec::new() };
        let value = Value { expression: new, is_boolean: false, low: 0, high: self.pools.processes.max(1) - 1 };
        self.store(referent, value, span)
    }

    /// A process with exclusive control that blocks lets others move.
    fn emit_release(&mut self, process: usize, point: ElementId) {
        let Some(exclusive) = self.exclusive else { return };
        let entry = &self.program.processes[process];
        let flow = &entry.flow;
        let has_else =
            flow.exits(point).iter().any(|exit| matches!(flow.elements[exit.element].kind, ElementKind::Else));
        if has_else && entry.tree.provided.is_none() && matches!(self.program.priorities, Priorities::None) {
            return;
        }
        let span = flow.elements[point].span;
        let number = flow.number(point);
        let mut owner = Owner::default();
        let mut parameters = Vec::new();
        let Some(pid) = self.mover(&mut owner, &mut parameters, process, "p") else { return };
        let place = self.variable_place(exclusive);
        let holder = self.read(place);
        let holds = self.equal(holder, pid);
        let here = self.is_at(process, pid, number);
        let can_leave = self.can_leave(&mut owner, process, pid, point, false);
        let highest = self.is_not_outranked(process, pid);
        let can_leave = self.and(can_leave, highest);
        let blocked = self.not(can_leave);
        let guard = self.all([holds, here, blocked]);
        if self.constant_of(guard) == Some(0) {
            return;
        }
        let mut body = self.release(exclusive, span);
        body.extend(self.observe(&mut owner));
        let (line, _) = self.model.source.line_and_column(span.start);
        let (place, remark) = match self.program.private[process].contains(&point) {
            // Nobody else changes what it waits for.
            true => ("blocked", "blocks, and can never go on"),
            false => ("blocked in atomic", "blocks: others may move"),
        };
        let name = Some(format!("{} {line}: {place}", self.program.name(process)));
        let mover = match self.pools.ranges[process] {
            Some((low, high)) if low == high => Number::Constant(low),
            _ => Number::Parameter(0),
        };
        self.model.rules.push(Rule {
            name,
            owner: quotient_ir::Owner::Process(mover),
            fairness: Fairness::None,
            parameters,
            locals: owner.locals,
            guard,
            body,
            span,
        });
        let flow = &self.program.processes[process].flow;
        let taking = flow.exits(point).first().map(|exit| Taking { number: mover, process, element: exit.element });
        let telling = Telling::Remark(taking, remark.into());
        self.origins.push(Origin { mover: Some((process, number)), telling });
    }

    /// A state in which every process may stop is not a deadlock: a rule leads from it to itself.
    fn emit_end(&mut self) {
        let mut owner = Owner::default();
        let mut conditions = Vec::new();
        for (process, entry) in self.program.processes.iter().enumerate() {
            let Some((low, high)) = self.pools.ranges[process] else { continue };
            let ends: Vec<i64> = std::iter::once(0)
                .chain(
                    entry
                        .flow
                        .points
                        .iter()
                        .filter(|&&point| entry.flow.is_end(point))
                        .map(|&it| entry.flow.number(it)),
                )
                .collect();
            let (pid, bound): (ExprId, Option<LocalId>) = if low == high {
                (self.number(low), None)
            } else {
                let ty = self.range_type(low, high);
                let local = owner.parameter("p", ty);
                (self.read_local(&owner, local), Some(local))
            };
            let mut at_end = Vec::new();
            for end in ends {
                at_end.push(self.is_at(process, pid, end));
            }
            let at_end = self.any(at_end);
            conditions.push(match bound {
                Some(local) => {
                    let ty = self.range_type(low, high);
                    self.model.pool.expression(Expr::Quantified {
                        quantifier: Quantifier::All,
                        local,
                        range: Iteration::Over(ty),
                        body: at_end,
                    })
                }
                None => at_end,
            });
        }
        conditions.push(self.is_trace_complete());
        if self.watches_runs {
            // A run must not stay where a process can move.
            conditions.push(self.nobody_moves(&mut owner, true));
        }
        let guard = self.all(conditions);
        let name = Some("valid end".into());
        let (parameters, body, span) = (Vec::new(), Vec::new(), Span::default());
        self.model.rules.push(Rule {
            name,
            owner: quotient_ir::Owner::None,
            fairness: Fairness::None,
            parameters,
            locals: owner.locals,
            guard,
            body,
            span,
        });
        let telling = Telling::Remark(None, "every process is where it may stop".into());
        self.origins.push(Origin { mover: None, telling });
    }
}

/// The `run` of an action that creates a process.
pub(super) fn run_of(action: &Action) -> Option<&Expression> {
    match action {
        Action::Condition(value) | Action::Assign { value, .. } if matches!(value.kind, ExpressionKind::Run { .. }) => {
            Some(value)
        }
        _ => None,
    }
}
