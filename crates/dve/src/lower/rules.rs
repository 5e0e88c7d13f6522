//! Steps: transitions of one process, pairs of transitions that synchronise, and steps of all processes.
//!
//! Guards and the values of a message are evaluated in the state before the step. The message is delivered first, then
//! the effects of the sender are executed, then those of the receiver, each from left to right, then the processes
//! change their states.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Fairness, Iteration, Local, LocalId, LocalKind, Number, Owner, Parameter,
    Place, PlaceId, Root, Rule, Span, Statement, StatementKind, Table, TypeId,
};
use quotient_kit::Building;
use quotient_kit::similar;
use rustc_hash::FxHashMap;

use super::symbols::Symbol;
use super::{Lowering, Shared};
use crate::syntax::tree::{Sync, Transition};

/// The most rules of a model.
const RULE_LIMIT: usize = 200_000;

/// A transition whose names are resolved.
struct Move<'t> {
    process: usize,
    tree: &'t Transition,
    from: usize,
    to: usize,
    guard: ExprId,
    effects: Vec<Statement>,
    /// The channel it uses.
    channel: Option<usize>,
    /// What it is called, alone and in pairs.
    title: String,
}

/// The rule under construction.
struct Step {
    guard: ExprId,
    body: Vec<Statement>,
    locals: Table<LocalId, Local>,
}

impl<'t> Lowering<'t> {
    /// The rules of an asynchronous system.
    pub(super) fn transitions(&mut self) {
        let moves = self.moves();
        let nobody = self.nobody_is_committed();
        // Channels with what uses them: senders and receivers.
        let mut users: Vec<(Vec<usize>, Vec<usize>)> = vec![Default::default(); self.symbols.channels.len()];
        for (number, it) in moves.iter().enumerate() {
            let (Some(channel), Some(sync)) = (it.channel, &it.tree.sync) else { continue };
            let (senders, receivers) = &mut users[channel];
            if sync.sends { senders.push(number) } else { receivers.push(number) }
        }
        self.check_use(&moves, &users);
        let mut pairs = 0usize;
        for (channel, (senders, receivers)) in self.symbols.channels.iter().zip(&users) {
            if channel.capacity == 0 {
                pairs = pairs.saturating_add(senders.len().saturating_mul(receivers.len()));
            }
        }
        if pairs > RULE_LIMIT {
            let span = self.tree.composition.as_ref().map(|it| it.span).unwrap_or_default();
            let message = format!("more than {RULE_LIMIT} pairs of transitions synchronise");
            self.report(Diagnostic::error("too-large", message, span));
            return;
        }
        for (number, it) in moves.iter().enumerate() {
            match (it.channel, &it.tree.sync) {
                (None, None) => {
                    let step = self.alone(it, nobody);
                    self.add_rule(it.title.clone(), it, step);
                }
                (Some(channel), Some(sync)) if self.symbols.channels[channel].capacity > 0 => {
                    let step = self.buffered(it, channel, sync, nobody);
                    let sign = if sync.sends { '!' } else { '?' };
                    self.add_rule(format!("{}, {}{sign}", it.title, sync.channel.text), it, step);
                }
                (Some(channel), Some(sync)) if sync.sends => {
                    for &other in &users[channel].1 {
                        let receiver = &moves[other];
                        if receiver.process == it.process || other == number {
                            continue;
                        }
                        let Some(receiving) = &receiver.tree.sync else { continue };
                        let step = self.together(it, sync, receiver, receiving, nobody);
                        let title = format!("{} with {} over {}", it.title, receiver.title, sync.channel.text);
                        self.add_rule(title, it, step);
                    }
                }
                _ => {}
            }
        }
    }

    /// The only rule of a synchronous system: each process chooses a transition, by a parameter called like the process.
    pub(super) fn synchronous_step(&mut self, span: Span) {
        let moves = self.moves();
        for it in &moves {
            if let Some(sync) = &it.tree.sync {
                let error =
                    Diagnostic::error("synchronous-channel", "channels are not used in synchronous systems", sync.span)
                        .with_secondary(span, "all processes move at the same time");
                self.report(error.with_help("use global variables"));
            }
        }
        let mut step = Step { guard: self.truth(true), body: Vec::new(), locals: Table::new() };
        let mut parameters = Vec::new();
        for &process in &self.symbols.moving {
            let own: Vec<&Move<'_>> = moves.iter().filter(|it| it.process == process).collect();
            let name = &self.symbols.processes[process].tree.name;
            if own.is_empty() {
                // It never moves, and nobody moves without it.
                let warning = Diagnostic::warning(
                    "no-transition",
                    format!("process `{}` has no transition", name.text),
                    name.span,
                );
                self.report(warning.with_help("in a synchronous system nothing happens without it"));
                return;
            }
            let titles: Vec<String> = own.iter().map(|it| unprefixed(&it.title).to_owned()).collect();
            let ty = self.ty(Shared::Enumeration(titles));
            let local = Local { name: name.text.to_string(), ty, kind: LocalKind::Parameter, span: name.span };
            let local = step.locals.push(local);
            parameters.push(Parameter { local, range: Iteration::Over(ty) });
            let place = self.local_place(&step.locals, local);
            let chosen = self.read(place);
            let mut enabled = self.truth(false);
            let mut branches = Vec::new();
            for (number, it) in own.into_iter().enumerate() {
                let number = self.model.pool.expression(Expr::Constant { value: number as i64, ty });
                let is_chosen = self.binary(BinaryOperator::Equal, chosen, number);
                let here = self.in_state(process, it.from);
                let guard = self.and(here, it.guard);
                let possible = self.and(is_chosen, guard);
                enabled =
                    if branches.is_empty() { possible } else { self.binary(BinaryOperator::Or, enabled, possible) };
                let mut statements = it.effects.clone();
                statements.push(self.change_state(it));
                branches.push((is_chosen, statements));
            }
            step.guard = self.and(step.guard, enabled);
            let kind = StatementKind::If { branches, otherwise: Vec::new() };
            step.body.push(Statement { kind, span: name.span });
        }
        self.model.rules.push(Rule {
            name: Some("step".into()),
            owner: Owner::None,
            fairness: Fairness::None,
            parameters,
            locals: step.locals,
            guard: step.guard,
            body: step.body,
            span,
        });
    }

    /// All transitions of the system.
    fn moves(&mut self) -> Vec<Move<'t>> {
        let symbols = self.symbols;
        let mut moves = Vec::new();
        for &process in &symbols.moving {
            let tree = symbols.processes[process].tree;
            for transition in &tree.transitions {
                let (from, to) = (self.state_of(process, &transition.from), self.state_of(process, &transition.to));
                let guard = match &transition.guard {
                    Some(guard) => self.condition(guard, Some(process)),
                    None => self.truth(true),
                };
                let effects = self.effects(transition, process);
                let channel = transition.sync.as_ref().map(|sync| self.channel_of(sync));
                if let (Some(from), Some(to)) = (from, to)
                    && channel != Some(None)
                {
                    let title = format!("{}: {} → {}", tree.name.text, transition.from.text, transition.to.text);
                    let channel = channel.flatten();
                    moves.push(Move { process, tree: transition, from, to, guard, effects, channel, title });
                }
            }
        }
        self.distinguish(&mut moves);
        moves
    }

    /// Adds lines to the titles of transitions between the same states.
    fn distinguish(&self, moves: &mut [Move<'_>]) {
        let mut same: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (number, it) in moves.iter().enumerate() {
            same.entry(it.title.clone()).or_default().push(number);
        }
        for numbers in same.values().filter(|numbers| numbers.len() > 1) {
            let line = |number: usize| self.model.source.line_and_column(moves[number].tree.span.start).0;
            let lines: Vec<usize> = numbers.iter().map(|&number| line(number)).collect();
            for (position, (&number, line)) in numbers.iter().zip(&lines).enumerate() {
                let before = lines[..position].iter().filter(|it| *it == line).count();
                let on_line = lines.iter().filter(|it| *it == line).count();
                let place =
                    if on_line > 1 { format!(" (line {line}, {})", before + 1) } else { format!(" (line {line})") };
                moves[number].title.push_str(&place);
            }
        }
    }

    fn effects(&mut self, transition: &Transition, process: usize) -> Vec<Statement> {
        let mut statements = Vec::new();
        for assignment in &transition.effects {
            let value = self.value(&assignment.value, Some(process));
            if let Some((target, scalar)) = self.target(&assignment.target, Some(process)) {
                let value = self.fit(value, scalar, assignment.value.span);
                statements.push(Statement { kind: StatementKind::Assign { target, value }, span: assignment.span });
            }
        }
        statements
    }

    fn channel_of(&mut self, sync: &Sync) -> Option<usize> {
        match self.symbols.names.get(&sync.channel.text) {
            Some((Symbol::Channel(number), _)) => Some(*number),
            found => {
                let message = format!("there is no channel `{}`", sync.channel.text);
                let mut error = Diagnostic::error("unknown-channel", message, sync.channel.span);
                if let Some((_, span)) = found {
                    error = error.with_secondary(*span, "this is not a channel");
                }
                let names = self.symbols.channels.iter().map(|it| &*it.tree.name.text);
                error.help = similar(&sync.channel.text, names).map(|it| format!("did you mean `{it}`?"));
                self.report(error);
                None
            }
        }
    }

    /// Checks the values of messages against the types of channels, and the targets of those that are received.
    fn check_use(&mut self, moves: &[Move<'_>], users: &[(Vec<usize>, Vec<usize>)]) {
        let symbols = self.symbols;
        for it in moves {
            let (Some(channel), Some(sync)) = (it.channel, &it.tree.sync) else { continue };
            let declaration = symbols.channels[channel].tree;
            if sync.sends {
                for value in &sync.values {
                    self.value(value, Some(it.process));
                }
            } else {
                for target in &sync.values {
                    self.target(target, Some(it.process));
                }
            }
            let count = sync.values.len();
            match &declaration.types {
                Some(types) if types.len() != count => {
                    let message =
                        format!("a message of `{}` has {} values, not {count}", sync.channel.text, types.len());
                    let error = Diagnostic::error("wrong-message", message, sync.span);
                    self.report(error.with_secondary(declaration.name.span, "declared here"));
                }
                None if count > 1 => {
                    let message = format!("a message of `{}` has at most one value", sync.channel.text);
                    let error = Diagnostic::error("wrong-message", message, sync.span);
                    self.report(error.with_help(format!(
                        "declare the types of its values: `channel {{byte, byte}} {}[0];`",
                        sync.channel.text
                    )));
                }
                _ => {}
            }
        }
        // A value that nobody sends cannot be received.
        for (channel, (senders, receivers)) in symbols.channels.iter().zip(users) {
            if channel.tree.types.is_some() {
                continue;
            }
            let empty =
                senders.iter().filter_map(|&it| moves[it].tree.sync.as_ref()).find(|sync| sync.values.is_empty());
            let full =
                receivers.iter().filter_map(|&it| moves[it].tree.sync.as_ref()).find(|sync| !sync.values.is_empty());
            if let (Some(sender), Some(receiver)) = (empty, full) {
                let message = format!("`{}` is sent without a value", channel.tree.name.text);
                let error = Diagnostic::error("wrong-message", message, sender.span)
                    .with_secondary(receiver.span, "a value is received here");
                self.report(error);
            }
        }
    }

    /// No process is in a committed state.
    fn nobody_is_committed(&mut self) -> ExprId {
        let symbols = self.symbols;
        let mut condition = self.truth(true);
        for &process in &symbols.moving {
            for &state in &symbols.processes[process].committed {
                let here = self.in_state(process, state);
                let elsewhere = self.not(here);
                condition = self.and(condition, elsewhere);
            }
        }
        condition
    }

    fn is_committed(&self, it: &Move<'_>) -> bool {
        self.symbols.processes[it.process].committed.contains(&it.from)
    }

    fn change_state(&mut self, it: &Move<'_>) -> Statement {
        let value = self.state_constant(it.process, it.to);
        let variable = self.positions[it.process].expect("a process with a transition has a state");
        let target = self.variable_place(variable);
        Statement { kind: StatementKind::Assign { target, value }, span: it.tree.to.span }
    }

    /// The condition for transitions to be taken together. Conditions of the text, which may be errors, come last.
    fn possible(&mut self, moves: &[&Move<'_>], ready: Option<ExprId>, nobody: ExprId) -> ExprId {
        let mut condition = self.truth(true);
        for it in moves {
            let here = self.in_state(it.process, it.from);
            condition = self.and(condition, here);
        }
        if !moves.iter().any(|it| self.is_committed(it)) {
            condition = self.and(condition, nobody);
        }
        for part in ready.into_iter().chain(moves.iter().map(|it| it.guard)) {
            condition = self.and(condition, part);
        }
        condition
    }

    fn alone(&mut self, it: &Move<'_>, nobody: ExprId) -> Step {
        let guard = self.possible(&[it], None, nobody);
        let mut body = it.effects.clone();
        body.push(self.change_state(it));
        Step { guard, body, locals: Table::new() }
    }

    fn buffered(&mut self, it: &Move<'_>, channel: usize, sync: &Sync, nobody: ExprId) -> Step {
        let ready = self.queue_is_ready(channel, sync.sends);
        let guard = self.possible(&[it], Some(ready), nobody);
        let types = self.symbols.channels[channel].tree.types.clone().unwrap_or_default();
        let mut body = Vec::new();
        if sync.sends {
            let mut values = Vec::new();
            for (value, scalar) in sync.values.iter().zip(types) {
                let (value, span) = (self.value(value, Some(it.process)), value.span);
                values.push(self.fit(value, scalar, span));
            }
            body.extend(self.enqueue(channel, &values, sync.span));
        } else {
            let first = self.first_message(channel);
            for ((target, place), scalar) in sync.values.iter().zip(first).zip(types) {
                let value = self.stored(place, scalar);
                if let Some((target, scalar)) = self.target(target, Some(it.process)) {
                    let value = self.fit(value, scalar, sync.span);
                    body.push(Statement { kind: StatementKind::Assign { target, value }, span: sync.span });
                }
            }
            body.extend(self.dequeue(channel, sync.span));
        }
        body.extend(it.effects.iter().cloned());
        body.push(self.change_state(it));
        Step { guard, body, locals: Table::new() }
    }

    /// A sender and a receiver.
    fn together(
        &mut self,
        sender: &Move<'_>,
        sending: &Sync,
        receiver: &Move<'_>,
        receiving: &Sync,
        nobody: ExprId,
    ) -> Step {
        let guard = self.possible(&[sender, receiver], None, nobody);
        let mut locals = Table::new();
        let mut body = Vec::new();
        let mut deliveries = Vec::new();
        let types = sender.channel.and_then(|channel| self.symbols.channels[channel].tree.types.as_deref());
        for (position, (value, target)) in sending.values.iter().zip(&receiving.values).enumerate() {
            let (value, span) = (self.value(value, Some(sender.process)), value.span);
            let Some((place, scalar)) = self.target(target, Some(receiver.process)) else { continue };
            let channel_type = types.and_then(|types| types.get(position).copied());
            let mut value = self.fit(value, channel_type.unwrap_or(scalar), span);
            if let Some(scalar) = channel_type {
                // All values are those before the step, and fit the channel.
                let ty = self.scalar_type(scalar);
                let local = self.new_local(&mut locals, format!("value_{}", position + 1), ty);
                body.push(Statement { kind: StatementKind::Assign { target: local, value }, span: sending.span });
                value = self.read(local);
            }
            deliveries.push(Statement { kind: StatementKind::Assign { target: place, value }, span: receiving.span });
        }
        body.extend(deliveries);
        body.extend(sender.effects.iter().cloned());
        body.extend(receiver.effects.iter().cloned());
        body.push(self.change_state(sender));
        body.push(self.change_state(receiver));
        Step { guard, body, locals }
    }

    fn new_local(&mut self, locals: &mut Table<LocalId, Local>, name: String, ty: TypeId) -> PlaceId {
        let local = locals.push(Local { name, ty, kind: LocalKind::Variable, span: Span::default() });
        self.local_place(locals, local)
    }

    fn local_place(&mut self, locals: &Table<LocalId, Local>, local: LocalId) -> PlaceId {
        let ty = locals[local].ty;
        self.model.pool.place(Place { root: Root::Local(local), steps: Vec::new(), ty })
    }

    fn add_rule(&mut self, name: String, active: &Move<'_>, step: Step) {
        self.model.rules.push(Rule {
            name: Some(name),
            owner: Owner::Process(Number::Constant(active.process as i64)),
            fairness: Fairness::None,
            parameters: Vec::new(),
            locals: step.locals,
            guard: step.guard,
            body: step.body,
            span: active.tree.span,
        });
    }
}

/// The title of a transition without its process.
fn unprefixed(title: &str) -> &str {
    title.split_once(": ").map_or(title, |(_, rest)| rest)
}
