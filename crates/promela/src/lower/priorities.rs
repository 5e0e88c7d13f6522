//! Priorities of processes: a process moves only if no process of higher priority can. As in SPIN since version 6.2,
//! only `active` gives a process the priority of its type; `run` gives it the stated priority, or 1.
//!
//! Priorities are part of the state only if some statement changes them, or if processes of one type start with
//! different ones.

use quotient_ir::{
    Argument, BinaryOperator, Diagnostic, Expr, ExprId, Function, Model, PlaceId, Quantifier, ReturnValue, Span,
    Statement, StatementKind, Table,
};
use quotient_kit::Building;

use super::emission::Emission;
use super::owner::Owner;
use super::program::{Program, expressions_of, walk};
use super::words::Value;
use crate::syntax::tree::{Expression, ExpressionKind};

/// The greatest priority.
pub(super) const GREATEST: i64 = 255;

/// How priorities are represented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Priorities {
    /// The text does not mention them.
    None,
    /// The processes of each type always have this one.
    Fixed(Vec<i64>),
    /// They are part of the state.
    Kept,
}

impl Priorities {
    /// The priorities of a specification.
    pub(super) fn new(program: &Program<'_>) -> Self {
        let count = program.processes.len();
        let mut spoken = program.processes.iter().any(|process| process.tree.priority.is_some());
        let mut changed = false;
        let mut given: Vec<Vec<i64>> = vec![Vec::new(); count];
        for (number, process) in program.processes.iter().enumerate() {
            if process.active > 0 {
                given[number].push(program.declared_priority(number));
            }
        }
        let mut look = |expression: &Expression| {
            walk(expression, &mut |inner| match &inner.kind {
                ExpressionKind::Priority(_) => spoken = true,
                ExpressionKind::Reference(parts) if &*parts[0].name.text == "_priority" => spoken = true,
                ExpressionKind::Run { proctype, priority, .. } => {
                    spoken |= priority.is_some();
                    if let Some(&created) = program.symbols.proctype_names.get(&proctype.text) {
                        let priority = priority.as_ref().and_then(|it| program.symbols.constant(it));
                        given[created].push(priority.filter(|&it| it > 0).unwrap_or(1));
                    }
                }
                _ => {}
            });
        };
        for (_, _, action) in program.actions() {
            expressions_of(action).into_iter().for_each(&mut look);
            match action {
                super::flow::Action::SetPriority { .. } => changed = true,
                super::flow::Action::Assign { target, .. } => changed |= names_priority(target),
                super::flow::Action::Receive { arguments, .. } => changed |= arguments.iter().any(names_priority),
                _ => {}
            }
        }
        program.claimed_conditions().for_each(&mut look);
        if !spoken && !changed {
            return Self::None;
        }
        let fixed: Option<Vec<i64>> = given
            .iter()
            .map(|all| match &all[..] {
                [] => Some(1),
                [first, rest @ ..] => rest.iter().all(|other| other == first).then_some(*first),
            })
            .collect();
        match fixed {
            Some(fixed) if !changed => Self::Fixed(fixed),
            _ => Self::Kept,
        }
    }
}

fn names_priority(target: &Expression) -> bool {
    matches!(&target.kind, ExpressionKind::Reference(parts) if &*parts[0].name.text == "_priority")
}

impl Program<'_> {
    /// The priority of the processes of a type that exist from the start.
    pub(super) fn declared_priority(&self, process: usize) -> i64 {
        let declared = self.processes[process].tree.priority.as_ref();
        declared.and_then(|priority| self.symbols.constant(priority)).filter(|&it| it > 0).unwrap_or(1)
    }
}

impl Emission<'_, '_> {
    /// Reports priorities that no process can have, and those together with a rendezvous, which SPIN refuses.
    pub(super) fn check_priorities(&mut self) {
        let program = self.program;
        if program.priorities == Priorities::None {
            return;
        }
        let mut given: Vec<&Expression> = Vec::new();
        given.extend(program.processes.iter().filter_map(|process| process.tree.priority.as_ref()));
        for (_, _, action) in program.actions() {
            for expression in expressions_of(action) {
                if let ExpressionKind::Run { priority: Some(priority), .. } = &expression.kind {
                    given.push(priority);
                }
            }
        }
        for priority in given {
            if !program.symbols.constant(priority).is_some_and(|value| (0..=GREATEST).contains(&value)) {
                self.complain(
                    Diagnostic::error("priority", "this is not a priority", priority.span)
                        .with_help(format!("a priority is a constant from 1 to {GREATEST}")),
                );
            }
        }
        if let Some(site) = program.sites.iter().find(|site| program.shapes[site.shape].capacity == 0) {
            let span = program.variable(site.variable).span;
            self.complain(
                Diagnostic::error("priority", "priorities cannot be combined with a rendezvous", span)
                    .with_help("SPIN refuses this as well; give the channel a capacity, or use `provided`"),
            );
        }
    }

    /// `_priority` of a process as a place, where it can change.
    pub(super) fn priority_place(&mut self, process: usize, pid: ExprId) -> Option<PlaceId> {
        let field = self.priority_fields[process]?;
        let place = self.process_place(process, pid);
        Some(self.field(place, field))
    }

    /// The priority of a process of a type.
    pub(super) fn priority_of(&mut self, process: usize, pid: ExprId) -> Value {
        match (&self.program.priorities, self.priority_place(process, pid)) {
            (_, Some(place)) => {
                let expression = self.read(place);
                Value { expression, is_boolean: false, low: 0, high: GREATEST }
            }
            (Priorities::Fixed(fixed), None) => {
                let value = fixed[process];
                self.number_value(value)
            }
            _ => self.number_value(1),
        }
    }

    /// `get_priority(pid)`; zero if there is no such process.
    pub(super) fn priority_of_any(&mut self, pid: ExprId) -> Value {
        let mut result = self.number(0);
        for process in (0..self.program.processes.len()).rev() {
            let condition = self.is_alive_as(process, pid);
            if self.constant_of(condition) == Some(0) {
                continue;
            }
            let then = self.priority_of(process, pid).expression;
            result = self.model.pool.expression(Expr::Conditional { condition, then, otherwise: result });
        }
        Value { expression: result, is_boolean: false, low: 0, high: GREATEST }
    }

    /// `set_priority(pid, priority)`; nothing happens if there is no such process.
    pub(super) fn set_priority(&mut self, pid: ExprId, priority: Value, span: Span) -> Vec<Statement> {
        let mut branches = Vec::new();
        for process in 0..self.program.processes.len() {
            let alive = self.is_alive_as(process, pid);
            if self.constant_of(alive) == Some(0) {
                continue;
            }
            let Some(place) = self.priority_place(process, pid) else { continue };
            let mut body = Vec::new();
            if priority.low < 1 || priority.high > GREATEST {
                let possible = self.is_between(priority.expression, 1, GREATEST);
                let wrong = self.not(possible);
                let kind = StatementKind::Error { message: "a priority is out of range".into() };
                body.push(Self::when(wrong, vec![Statement { kind, span }], Vec::new(), span));
            }
            body.push(self.set(place, priority.expression, span));
            branches.push((alive, body));
        }
        match branches.is_empty() {
            true => Vec::new(),
            false => vec![Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }],
        }
    }

    /// What gives a new process its priority.
    pub(super) fn give_priority(
        &mut self,
        process: usize,
        pid: ExprId,
        priority: i64,
        span: Span,
    ) -> Option<Statement> {
        let place = self.priority_place(process, pid)?;
        Some(self.set_number(place, priority, span))
    }

    /// Whether no process of higher priority can move before a process of a type.
    pub(super) fn is_not_outranked(&mut self, process: usize, pid: ExprId) -> ExprId {
        let Some(function) = self.outranked else { return self.truth(true) };
        if let Priorities::Fixed(fixed) = &self.program.priorities {
            let living = (0..fixed.len()).filter(|&other| self.pools.ranges[other].is_some());
            if living.map(|other| fixed[other]).max() <= Some(fixed[process]) {
                return self.truth(true);
            }
        }
        let priority = self.priority_of(process, pid).expression;
        let arguments = vec![Argument::Value(priority)];
        let outranked = self.model.pool.expression(Expr::Call { function, arguments });
        self.not(outranked)
    }

    /// Reserves the function that says whether a process of higher priority can move.
    pub(super) fn declare_outranked(&mut self) {
        if self.program.priorities != Priorities::None {
            self.outranked = Some(self.model.functions.push(Function {
                name: "a_greater_priority_moves".into(),
                parameters: Vec::new(),
                locals: Table::new(),
                result: Some(Model::BOOLEAN),
                body: Vec::new(),
                span: Span::default(),
            }));
        }
    }

    /// Writes that function.
    pub(super) fn define_outranked(&mut self) {
        let Some(function) = self.outranked else { return };
        let mut owner = Owner::default();
        let ty = self.range_type(0, GREATEST);
        let priority = owner.parameter("priority", ty);
        let own = self.read_local(&owner, priority);
        let mut conditions = Vec::new();
        for process in 0..self.program.processes.len() {
            let Some(ty) = self.pid_type(process) else { continue };
            for &point in &self.program.processes[process].flow.points {
                let local = owner.parameter("q", ty);
                let pid = self.read_local(&owner, local);
                let number = self.program.processes[process].flow.number(point);
                let here = self.is_at(process, pid, number);
                let other = self.priority_of(process, pid).expression;
                let greater = self.compare(BinaryOperator::Greater, other, own);
                let can_move = self.can_leave(&mut owner, process, pid, point, true);
                let moves = self.all([here, greater, can_move]);
                conditions.push(self.quantified(Quantifier::Any, local, ty, moves));
            }
        }
        let condition = self.any(conditions);
        let kind = StatementKind::Return(Some(ReturnValue::Value(condition)));
        let entry = &mut self.model.functions[function];
        entry.parameters = vec![priority];
        entry.locals = owner.locals;
        entry.body = vec![Statement { kind, span: Span::default() }];
    }
}
