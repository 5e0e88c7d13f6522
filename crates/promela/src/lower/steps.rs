//! Deterministic steps: a whole sequence as the body of one rule. Of several options the first executable one is taken;
//! a statement that blocks is a run-time error, as in SPIN.

use quotient_ir::{Diagnostic, ExprId, LocalId, Model, Span, Statement, StatementKind};
use quotient_kit::Building;
use rustc_hash::FxHashMap;

use super::emission::Emission;
use super::flow::{Action, ElementId, ElementKind};
use super::owner::{Context, Owner};
use super::rules::run_of;
use crate::syntax::tree::ExpressionKind;

/// The process whose step it is.
#[derive(Clone, Copy)]
struct Stepper {
    process: usize,
    pid: ExprId,
}

/// The loop around a statement: its flag, its join and its exit.
#[derive(Clone, Copy)]
struct Loop {
    flag: LocalId,
    join: ElementId,
    exit: ElementId,
}

impl Emission<'_, '_> {
    /// Whether a deterministic step can begin.
    pub(super) fn step_executable(
        &mut self,
        owner: &mut Owner,
        process: usize,
        pid: ExprId,
        step: ElementId,
        asks_timeout: bool,
    ) -> ExprId {
        let flow = &self.program.processes[process].flow;
        let block = flow.elements[step].block.expect("a step has a body");
        let leaves = flow.leaves_of(flow.start_of(block.first));
        let mut conditions = Vec::new();
        for leaf in leaves {
            conditions.push(self.leaf_executable(owner, Stepper { process, pid }, leaf, asks_timeout));
        }
        self.any(conditions)
    }

    fn stepper_context(&self, stepper: Stepper, element: ElementId, asks_timeout: bool) -> Context {
        let scope = self.program.processes[stepper.process].flow.elements[element].scope;
        Context { process: Some(stepper.process), pid: Some(stepper.pid), scope, asks_timeout }
    }

    /// Whether a basic element in a step can be executed; `else` always can when it is reached.
    fn leaf_executable(&mut self, owner: &mut Owner, stepper: Stepper, leaf: ElementId, asks_timeout: bool) -> ExprId {
        let element = &self.program.processes[stepper.process].flow.elements[leaf];
        match &element.kind {
            ElementKind::Basic(action) => {
                let context = self.stepper_context(stepper, leaf, asks_timeout);
                let executable = self.action_executable(owner, context, action, element.span);
                // A rendezvous send is possible, and is a run-time error.
                let attempt = self.attempts_handshake(owner, context, action);
                self.or(executable, attempt)
            }
            _ => self.truth(true),
        }
    }

    /// Whether an action sends to a rendezvous channel.
    fn attempts_handshake(&mut self, owner: &mut Owner, context: Context, action: &Action) -> ExprId {
        let Action::Send { channel, .. } = action else { return self.truth(false) };
        let mut conditions = Vec::new();
        for target in self.channels_of(owner, context, channel).unwrap_or_default() {
            if self.program.shapes[target.shape].capacity == 0 {
                conditions.push(self.is_of_shape(&target));
            }
        }
        self.any(conditions)
    }

    /// What follows in a deterministic step that began with taking a message.
    pub(super) fn rest_of_step(
        &mut self,
        owner: &mut Owner,
        process: usize,
        pid: ExprId,
        step: ElementId,
    ) -> Option<Vec<Statement>> {
        let flow = &self.program.processes[process].flow;
        if !matches!(flow.elements[step].kind, ElementKind::DeterministicStep) {
            return Some(Vec::new());
        }
        match flow.elements[flow.receive_of(step)?].next {
            Some(next) if flow.elements[next].in_step => self.statements_from(owner, process, pid, step, next, false),
            _ => Some(Vec::new()),
        }
    }

    /// The body of a deterministic step.
    pub(super) fn step_statements(
        &mut self,
        owner: &mut Owner,
        process: usize,
        pid: ExprId,
        step: ElementId,
    ) -> Option<Vec<Statement>> {
        let flow = &self.program.processes[process].flow;
        let block = flow.elements[step].block.expect("a step has a body");
        self.refuse_handshakes(process, step);
        self.refuse_jumps(process, step);
        self.statements_from(owner, process, pid, step, block.first, true)
    }

    /// The statements of a step from an element on, which is known to be executable or not.
    fn statements_from(
        &mut self,
        owner: &mut Owner,
        process: usize,
        pid: ExprId,
        step: ElementId,
        first: ElementId,
        chosen: bool,
    ) -> Option<Vec<Statement>> {
        let stepper = Stepper { process, pid };
        let saved = owner.clone();
        if let Some(statements) = self.sequence(owner, stepper, first, None, None, chosen, 0) {
            return Some(statements);
        }
        *owner = saved;
        self.jumping_step(owner, stepper, step, first)
    }

    /// A jump stays in its step.
    fn refuse_jumps(&mut self, process: usize, step: ElementId) {
        let flow = &self.program.processes[process].flow;
        let inside = flow.elements_of_step(step);
        for &element in &inside {
            if let ElementKind::Goto(Some(target)) = flow.elements[element].kind
                && !inside.contains(&target)
                && flow.target(element) != flow.target(step)
            {
                self.complain(
                    Diagnostic::error("jump-out-of-step", "a jump leaves its `d_step`", flow.elements[element].span)
                        .with_help("use `atomic`"),
                );
            }
        }
    }

    /// Several rendezvous receives at the start of a step cannot be distinguished.
    fn refuse_handshakes(&mut self, process: usize, step: ElementId) {
        let flow = &self.program.processes[process].flow;
        let block = flow.elements[step].block.expect("a step has a body");
        let leaves = flow.leaves_of(flow.start_of(block.first));
        for element in leaves.iter().copied().filter(|_| leaves.len() > 1) {
            let entry = &self.program.processes[process].flow.elements[element];
            let ElementKind::Basic(Action::Receive { channel, .. }) = &entry.kind else { continue };
            let shapes = self.program.channel_shapes(Some(process), entry.scope, channel);
            if shapes.iter().any(|&shape| self.program.shapes[shape].capacity == 0) {
                let span = entry.span;
                self.complain(
                    Diagnostic::error("handshake-in-step", "a `d_step` cannot begin with a choice of rendezvous", span)
                        .with_help("use `atomic`, or a channel with a capacity"),
                );
            }
        }
    }

    /// A check that a statement does not block.
    fn must(&mut self, condition: ExprId, span: Span) -> Vec<Statement> {
        match self.constant_of(condition) {
            Some(1) => Vec::new(),
            _ => {
                let blocked = self.not(condition);
                let kind = StatementKind::Error { message: "a statement blocks in a d_step".into() };
                vec![Self::when(blocked, vec![Statement { kind, span }], Vec::new(), span)]
            }
        }
    }

    /// The statements of a basic element.
    fn leaf_statements(&mut self, owner: &mut Owner, stepper: Stepper, leaf: ElementId) -> Option<Vec<Statement>> {
        let element = &self.program.processes[stepper.process].flow.elements[leaf];
        let ElementKind::Basic(action) = &element.kind else { return Some(Vec::new()) };
        let context = self.stepper_context(stepper, leaf, false);
        let span = element.span;
        let Some(run) = run_of(action) else {
            let attempt = self.attempts_handshake(owner, context, action);
            let kind = StatementKind::Error { message: "a rendezvous is attempted in a d_step".into() };
            let mut statements = match self.constant_of(attempt) {
                Some(0) => Vec::new(),
                _ => vec![Self::when(attempt, vec![Statement { kind, span }], Vec::new(), span)],
            };
            statements.extend(self.effect(owner, context, action, span)?);
            return Some(statements);
        };
        let ExpressionKind::Run { proctype, arguments, priority } = &run.kind else { return None };
        let priority = self.run_priority(priority.as_deref());
        let created = self.proctype(proctype)?;
        let values = self.run_arguments(owner, context, created, arguments, run.span)?;
        if self.pools.ranges[created].is_none() {
            // All numbers are permanently in use.
            return Some(vec![self.out_of_processes(span)]);
        }
        let ty = self.range_type(0, (self.pools.processes - 1).max(0));
        let local = owner.variable("new", ty);
        let place = self.local_place(owner, local);
        let new = self.read(place);
        let mut statements = vec![self.set_number(place, 0, span)];
        let taken = self.is_alive(new);
        let one = self.number(1);
        let next = self.add(new, one);
        let mut count = Vec::new();
        if !self.pools.bounded {
            let last = self.number(self.pools.processes - 1);
            let full = self.equal(new, last);
            let stop = self.out_of_processes(span);
            count.push(Self::when(full, vec![stop], Vec::new(), span));
        }
        count.push(self.set(place, next, span));
        statements.push(Statement { kind: StatementKind::While { condition: taken, body: count }, span });
        statements.extend(self.create(owner, created, new, &values, priority, span));
        statements.extend(self.store_run(owner, context, action, new, span));
        Some(statements)
    }

    /// A sequence without jumps as structured statements; nothing if it has jumps.
    #[expect(clippy::too_many_arguments, reason = "the state of a walk over one structure")]
    fn sequence(
        &mut self,
        owner: &mut Owner,
        stepper: Stepper,
        from: ElementId,
        stop: Option<ElementId>,
        around: Option<Loop>,
        chosen: bool,
        depth: usize,
    ) -> Option<Vec<Statement>> {
        if depth > 60 {
            return None;
        }
        let program = self.program;
        let flow = &program.processes[stepper.process].flow;
        let mut statements = Vec::new();
        let mut current = Some(from);
        // The first element was chosen because it can be executed.
        let mut chosen = chosen;
        while let Some(element) = current {
            if Some(element) == stop || !flow.elements[element].in_step {
                break;
            }
            let entry = &flow.elements[element];
            match &entry.kind {
                ElementKind::Join | ElementKind::Exit | ElementKind::Else => current = entry.next,
                ElementKind::Basic(_) => {
                    if !chosen {
                        let condition = self.leaf_executable(owner, stepper, element, false);
                        statements.extend(self.must(condition, entry.span));
                    }
                    statements.extend(self.leaf_statements(owner, stepper, element)?);
                    current = entry.next;
                    chosen = false;
                }
                ElementKind::Block | ElementKind::Atomic | ElementKind::DeterministicStep => {
                    current = Some(entry.block.expect("a block has a body").first);
                }
                ElementKind::If => {
                    let join = entry.options.first()?.last;
                    statements.push(self.choice(owner, stepper, element, join, around, depth)?);
                    current = Some(join);
                    chosen = false;
                }
                ElementKind::Do => {
                    let join = entry.options.first()?.last;
                    let exit = entry.next?;
                    let flag = owner.variable("looping", Model::BOOLEAN);
                    let place = self.local_place(owner, flag);
                    let yes = self.truth(true);
                    statements.push(self.set(place, yes, entry.span));
                    let condition = self.read(place);
                    let inside = Some(Loop { flag, join, exit });
                    let body = vec![self.choice(owner, stepper, element, join, inside, depth)?];
                    statements.push(Statement { kind: StatementKind::While { condition, body }, span: entry.span });
                    current = Some(exit);
                    chosen = false;
                }
                ElementKind::Goto(target) => {
                    // The end of an option that leaves the loop around it, and nothing else.
                    let around = around?;
                    let mut behind = entry.next;
                    while let Some(next) = behind {
                        if next == around.join {
                            break;
                        }
                        if !matches!(flow.elements[next].kind, ElementKind::Join) {
                            return None;
                        }
                        behind = flow.elements[next].next;
                    }
                    if *target != Some(around.exit) || behind != Some(around.join) {
                        return None;
                    }
                    let place = self.local_place(owner, around.flag);
                    let no = self.truth(false);
                    statements.push(self.set(place, no, entry.span));
                    break;
                }
                ElementKind::Unless | ElementKind::End => return None,
            }
        }
        Some(statements)
    }

    /// The first option of a selection that can be executed.
    fn choice(
        &mut self,
        owner: &mut Owner,
        stepper: Stepper,
        head: ElementId,
        join: ElementId,
        around: Option<Loop>,
        depth: usize,
    ) -> Option<Statement> {
        let program = self.program;
        let flow = &program.processes[stepper.process].flow;
        let span = flow.elements[head].span;
        let kind = StatementKind::Error { message: "no option can be executed in a d_step".into() };
        let mut otherwise = vec![Statement { kind, span }];
        let mut branches = Vec::new();
        for option in &flow.elements[head].options {
            let body = self.sequence(owner, stepper, option.first, Some(join), around, true, depth + 1)?;
            if matches!(flow.elements[option.first].kind, ElementKind::Else) {
                otherwise = body;
                continue;
            }
            let mut conditions = Vec::new();
            for leaf in flow.leaves_of(flow.start_of(option.first)) {
                conditions.push(self.leaf_executable(owner, stepper, leaf, false));
            }
            branches.push((self.any(conditions), body));
        }
        if branches.is_empty() {
            let condition = self.truth(true);
            return Some(Self::when(condition, otherwise, Vec::new(), span));
        }
        Some(Statement { kind: StatementKind::If { branches, otherwise }, span })
    }

    /// A step with jumps: a loop over the number of the element that comes next.
    fn jumping_step(
        &mut self,
        owner: &mut Owner,
        stepper: Stepper,
        step: ElementId,
        first: ElementId,
    ) -> Option<Vec<Statement>> {
        let program = self.program;
        let flow = &program.processes[stepper.process].flow;
        let elements = flow.elements_of_step(step);
        let numbers: FxHashMap<ElementId, i64> =
            elements.iter().enumerate().map(|(position, &element)| (element, position as i64 + 1)).collect();
        let number_of = |element: Option<ElementId>| element.and_then(|it| numbers.get(&it).copied()).unwrap_or(0);
        let ty = self.range_type(0, elements.len() as i64);
        let at = owner.variable("at", ty);
        let at_place = self.local_place(owner, at);
        let at_value = self.read(at_place);
        let mut branches = Vec::new();
        for &element in &elements {
            let entry = &flow.elements[element];
            let span = entry.span;
            let mut body = Vec::new();
            match &entry.kind {
                ElementKind::Basic(_) => {
                    let condition = self.leaf_executable(owner, stepper, element, false);
                    body.extend(self.must(condition, span));
                    body.extend(self.leaf_statements(owner, stepper, element)?);
                    body.push(self.set_number(at_place, number_of(entry.next), span));
                }
                ElementKind::If | ElementKind::Do => {
                    let kind = StatementKind::Error { message: "no option can be executed in a d_step".into() };
                    let mut otherwise = vec![Statement { kind, span }];
                    let mut options = Vec::new();
                    for option in &entry.options {
                        let go = vec![self.set_number(at_place, number_of(Some(option.first)), span)];
                        if matches!(flow.elements[option.first].kind, ElementKind::Else) {
                            otherwise = go;
                            continue;
                        }
                        let mut conditions = Vec::new();
                        for leaf in flow.leaves_of(flow.start_of(option.first)) {
                            conditions.push(self.leaf_executable(owner, stepper, leaf, false));
                        }
                        options.push((self.any(conditions), go));
                    }
                    if options.is_empty() {
                        body.extend(otherwise);
                    } else {
                        body.push(Statement { kind: StatementKind::If { branches: options, otherwise }, span });
                    }
                }
                ElementKind::Block | ElementKind::Atomic | ElementKind::DeterministicStep => {
                    let inner = entry.block.expect("a block has a body").first;
                    body.push(self.set_number(at_place, number_of(Some(inner)), span));
                }
                ElementKind::Goto(target) => body.push(self.set_number(at_place, number_of(*target), span)),
                ElementKind::Unless => {
                    self.error("unless-in-step", "`unless` cannot be part of a `d_step`", span);
                    return None;
                }
                _ => body.push(self.set_number(at_place, number_of(entry.next), span)),
            }
            let number = self.number(numbers[&element]);
            branches.push((self.equal(at_value, number), body));
        }
        let span = flow.elements[first].span;
        let start = self.set_number(at_place, numbers[&first], span);
        let zero = self.number(0);
        let condition = self.binary(quotient_ir::BinaryOperator::NotEqual, at_value, zero);
        let body = vec![Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }];
        Some(vec![start, Statement { kind: StatementKind::While { condition, body }, span }])
    }
}
