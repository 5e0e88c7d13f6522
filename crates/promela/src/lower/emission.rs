//! The model under construction: its variables, and what every part of the lowering uses.
//!
//! The processes of a type are in one array over their process numbers: the control point (zero if there is no such
//! process) and the local variables. Which processes exist is recorded nowhere else: they are the numbers from zero on
//! that have a control point.

use std::rc::Rc;

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Field, Function, FunctionId, Model, PlaceId, Property, PropertyKind,
    Quantifier, ReturnValue, Source, Span, Start, Statement, StatementKind, Table, Type, TypeId, TypeKind, Variable,
    VariableId,
};
use quotient_kit::Building;
use quotient_kit::similar;
use rustc_hash::{FxHashMap, FxHashSet};

use super::channels::ShapeLayout;
use super::expressions::{Referent, Root};
use super::owner::{Context, Owner};
use super::pools::Pools;
use super::presentation::{Named, Telling};
use super::priorities::{GREATEST, Priorities};
use super::program::{Program, VariableKey, expressions_of, walk};
use super::symbols::{Scalar, ValueType, VariableInfo};
use super::words::Value;
use crate::syntax::tree::{Expression, ExpressionKind, Initial, Member, Name};

/// The origin of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The process type and the control point it moves from; none if no process moves.
    pub(super) mover: Option<(usize, i64)>,
    /// Its description for human readers.
    pub(super) telling: Telling,
}

/// What can hold bytes although its type has fewer values: arrays of bits, and message names, which SPIN stores in
/// bytes and does not check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wide {
    Variable(VariableKey),
    /// A field of the messages of a shape.
    Message(usize, usize),
}

/// A variable, or a field inside of it: the positions of the fields that lead there, and which of all
/// elements of the arrays on the way it lies in.
#[derive(Clone, Copy)]
pub(super) struct FieldAddress<'a> {
    pub(super) variable: VariableKey,
    pub(super) path: &'a [usize],
    pub(super) index: i64,
}

pub(super) struct Emission<'p, 't> {
    pub(super) program: &'p Program<'t>,
    pub(super) pools: &'p Pools,
    pub(super) model: Model,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) ranges: FxHashMap<(i64, i64), TypeId>,
    /// Types whose values have names.
    pub(super) named: FxHashMap<Named, TypeId>,
    pub(super) globals: Vec<Option<VariableId>>,
    /// The field of each local variable in its record.
    pub(super) locals: Vec<Vec<Option<u32>>>,
    pub(super) process_variables: Vec<Option<VariableId>>,
    pub(super) shapes: Vec<ShapeLayout>,
    pub(super) site_bases: Vec<i64>,
    pub(super) channel_count: i64,
    /// The process with exclusive control, or -1.
    pub(super) exclusive: Option<VariableId>,
    /// The process that has control next, or -1: both processes of a rendezvous may come to private points.
    pub(super) waiting: Option<VariableId>,
    /// The process that moved last.
    pub(super) last: Option<VariableId>,
    /// Counts the steps that the model skips at its start.
    pub(super) startup: Option<VariableId>,
    /// Whether no process can move.
    pub(super) quiet: Option<FunctionId>,
    /// Whether a process of a greater priority can move.
    pub(super) outranked: Option<FunctionId>,
    /// The field of the priority in the record of each process type.
    pub(super) priority_fields: Vec<Option<u32>>,
    /// The position of each claim.
    pub(super) claims: Vec<VariableId>,
    /// The position of the trace.
    pub(super) event: Option<VariableId>,
    pub(super) uses_timeout: bool,
    /// Where the query whether a process can move occurs, while it is being answered.
    asks_enabled: Option<Span>,
    /// Holders of bytes, whatever their types.
    pub(super) wide: &'p FxHashSet<Wide>,
    /// Holders of bytes found while emitting.
    pub(super) widen: Vec<Wide>,
    /// The origin of each rule.
    pub(super) origins: Vec<Origin>,
    pub(super) check_assertions: bool,
    /// Whether something is claimed about whole runs, and not only about states.
    pub(super) watches_runs: bool,
}

/// What is checked besides the properties of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checks {
    pub(super) assertions: bool,
    /// That no run passes labels `accept` again and again.
    pub(super) acceptance: bool,
    /// That every run passes labels `progress` again and again.
    pub(super) progress: bool,
}

impl Checks {
    /// Whether something about infinite runs is checked.
    pub(super) fn watch_runs(self) -> bool {
        self.acceptance || self.progress
    }
}

impl<'p, 't> Emission<'p, 't> {
    /// Declares all variables.
    pub(super) fn new(
        source: &Source,
        program: &'p Program<'t>,
        pools: &'p Pools,
        wide: &'p FxHashSet<Wide>,
        checks: Checks,
    ) -> Self {
        let mut uses_timeout = false;
        let own = program.actions().flat_map(|(_, _, action)| expressions_of(action));
        for expression in own.chain(program.claimed_conditions()) {
            walk(expression, &mut |inner| uses_timeout |= inner.kind == ExpressionKind::Timeout);
        }
        let mut emission = Self {
            program,
            pools,
            model: Model::new(source.clone()),
            diagnostics: Vec::new(),
            ranges: FxHashMap::default(),
            named: FxHashMap::default(),
            globals: Vec::new(),
            locals: Vec::new(),
            process_variables: Vec::new(),
            shapes: Vec::new(),
            site_bases: Vec::new(),
            channel_count: 0,
            exclusive: None,
            waiting: None,
            last: None,
            startup: None,
            quiet: None,
            outranked: None,
            priority_fields: Vec::new(),
            claims: Vec::new(),
            event: None,
            uses_timeout,
            asks_enabled: None,
            wide,
            widen: Vec::new(),
            origins: Vec::new(),
            check_assertions: checks.assertions,
            watches_runs: checks.watch_runs() || program.watches_runs(),
        };
        emission.lay_out_channel_numbers();
        emission.declare_globals();
        emission.declare_processes();
        emission.lay_out_channels();
        emission.declare_control();
        emission.declare_trace();
        emission.declare_claims();
        emission
    }

    /// How many channels there are, before anything that holds their numbers is declared.
    fn lay_out_channel_numbers(&mut self) {
        for site in &self.program.sites {
            let owners = match site.variable {
                VariableKey::Global(_) => 1,
                VariableKey::Local(process, _) => self.pools.ranges[process].map_or(0, |(low, high)| high - low + 1),
            };
            self.channel_count += owners * site.count;
        }
    }

    pub(super) fn unique_name(&self, name: &str) -> String {
        let mut unique = name.to_owned();
        let mut number = 1;
        while self.model.variables.iter().any(|variable| variable.name == unique) {
            number += 1;
            unique = format!("{name}.{number}");
        }
        unique
    }

    /// The type of a field of a message.
    pub(super) fn field_type(&mut self, scalar: Scalar) -> TypeId {
        match scalar {
            Scalar::Bool => Model::BOOLEAN,
            Scalar::Chan => self.named_type(Named::Channel, 0, self.channel_count),
            Scalar::Mtype => self.message_type(None, false),
            _ => {
                let (low, high) = scalar.range(&self.program.symbols);
                self.range_type(low, high)
            }
        }
    }

    /// The type of messages of a kind; they are bytes where other numbers are stored than their names.
    pub(super) fn message_type(&mut self, subtype: Option<Rc<str>>, wide: bool) -> TypeId {
        if wide {
            return self.range_type(0, 255);
        }
        let (low, high) = Scalar::Mtype.range(&self.program.symbols);
        self.named_type(Named::Message(subtype), low, high)
    }

    /// A range whose values have names.
    fn named_type(&mut self, named: Named, low: i64, high: i64) -> TypeId {
        let types = &mut self.model.types;
        *self.named.entry(named).or_insert_with(|| types.push(Type { name: None, kind: TypeKind::Range { low, high } }))
    }

    fn variable_type(&mut self, info: &VariableInfo, key: VariableKey) -> TypeId {
        let element = match info.ty {
            ValueType::Scalar(Scalar::Mtype) => {
                self.message_type(info.subtype.clone(), self.wide.contains(&Wide::Variable(key)))
            }
            ValueType::Scalar(scalar) if scalar.may_be_wide(info.count.is_some()) => {
                match self.wide.contains(&Wide::Variable(key)) {
                    true => self.range_type(0, 255),
                    false => self.field_type(scalar),
                }
            }
            ValueType::Scalar(scalar) => self.field_type(scalar),
            ValueType::Structure(number) => {
                let structure = &self.program.symbols.structures[number];
                let mut fields = Vec::new();
                for field in &structure.fields {
                    fields.push(Field { name: field.name.to_string(), ty: self.variable_type(field, key) });
                }
                self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } })
            }
        };
        match info.count {
            None => element,
            Some(count) => {
                let index = self.range_type(0, count - 1);
                self.array_type(index, element)
            }
        }
    }

    /// Whether a variable always holds the channel it was declared with, so that it need not be kept.
    fn is_fixed_channel(info: &VariableInfo, is_parameter: bool) -> bool {
        info.channel.is_some() && info.count.is_none() && !info.assigned && !is_parameter
    }

    fn declare_globals(&mut self) {
        for (number, info) in self.program.symbols.globals.iter().enumerate() {
            if Self::is_fixed_channel(info, false) {
                self.globals.push(None);
                continue;
            }
            let ty = self.variable_type(info, VariableKey::Global(number));
            let name = self.unique_name(&info.name);
            let variable = Variable { name, ty, may_be_undefined: false, span: info.span };
            self.globals.push(Some(self.model.variables.push(variable)));
        }
    }

    fn declare_processes(&mut self) {
        for (number, process) in self.program.processes.iter().enumerate() {
            let mut locals = Vec::new();
            let points = self.range_type(0, process.flow.points.len() as i64);
            let mut fields = vec![Field { name: "pc".into(), ty: points }];
            for (position, info) in process.symbols.variables.iter().enumerate() {
                if Self::is_fixed_channel(info, position < process.symbols.parameters) {
                    locals.push(None);
                    continue;
                }
                locals.push(Some(fields.len() as u32));
                let ty = self.variable_type(info, VariableKey::Local(number, position));
                let mut name = info.name.to_string();
                let mut again = 1;
                while fields.iter().any(|field| field.name == name) {
                    again += 1;
                    name = format!("{}{again}", info.name);
                }
                fields.push(Field { name, ty });
            }
            self.locals.push(locals);
            let priority_field = match self.program.priorities {
                Priorities::Kept => {
                    let ty = self.range_type(0, GREATEST);
                    fields.push(Field { name: "_priority".into(), ty });
                    Some(fields.len() as u32 - 1)
                }
                _ => None,
            };
            self.priority_fields.push(priority_field);
            let variable = self.pools.ranges[number].map(|(low, high)| {
                let record = self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } });
                let index = self.range_type(low, high);
                let ty = self.array_type(index, record);
                let name = self.unique_name(self.program.name(number));
                let span = process.tree.name.span;
                self.model.variables.push(Variable { name, ty, may_be_undefined: false, span })
            });
            self.process_variables.push(variable);
        }
    }

    fn declare_control(&mut self) {
        let most = (self.pools.processes - 1).max(0);
        let atomic = self.program.processes.iter().any(|process| {
            let flow = &process.flow;
            let mut exits = flow.points.iter().flat_map(|&point| flow.exits(point));
            exits.any(|exit| flow.elements[exit.element].atomic)
        });
        if atomic || self.program.private.iter().any(|points| !points.is_empty()) {
            let ty = self.range_type(-1, most);
            let name = self.unique_name(if atomic { "atomic" } else { "control" });
            let variable = Variable { name, ty, may_be_undefined: false, span: Span::default() };
            self.exclusive = Some(self.model.variables.push(variable));
        }
        if self.program.both_may_go_on() {
            let ty = self.range_type(-1, most);
            let name = self.unique_name("waiting");
            let variable = Variable { name, ty, may_be_undefined: false, span: Span::default() };
            self.waiting = Some(self.model.variables.push(variable));
        }
        if self.program.uses_last {
            let ty = self.range_type(0, most);
            let name = self.unique_name("_last");
            let variable = Variable { name, ty, may_be_undefined: false, span: Span::default() };
            self.last = Some(self.model.variables.push(variable));
        }
    }

    /// The type of the numbers of the processes of a type.
    pub(super) fn pid_type(&mut self, process: usize) -> Option<TypeId> {
        let (low, high) = self.pools.ranges[process]?;
        Some(self.range_type(low, high))
    }

    /// A process of a type.
    pub(super) fn process_place(&mut self, process: usize, pid: ExprId) -> PlaceId {
        let variable = self.process_variables[process].expect("a process type with processes has a variable");
        let place = self.variable_place(variable);
        self.element(place, pid)
    }
    pub(super) fn control_place(&mut self, process: usize, pid: ExprId) -> PlaceId {
        let place = self.process_place(process, pid);
        self.field(place, 0)
    }
    /// Statements that remove a process.
    pub(super) fn clear_process(&mut self, process: usize, pid: ExprId, span: Span) -> Vec<Statement> {
        let place = self.process_place(process, pid);
        let clear = |place| Statement { kind: StatementKind::Clear(place), span };
        let kept: Vec<u32> = (0..self.program.processes[process].symbols.parameters)
            .filter(|&position| self.pools.settled.contains(&(process, position)))
            .filter_map(|position| self.locals[process][position])
            .collect();
        if kept.is_empty() {
            return vec![clear(place)];
        }
        let own = u32::from(self.priority_fields[process].is_some());
        let fields = 1 + own + self.locals[process].iter().flatten().count() as u32;
        (0..fields).filter(|field| !kept.contains(field)).map(|field| clear(self.field(place, field))).collect()
    }
    /// Whether a process is at a control point.
    pub(super) fn is_at(&mut self, process: usize, pid: ExprId, point: i64) -> ExprId {
        let place = self.control_place(process, pid);
        let control = self.read(place);
        let point = self.number(point);
        self.equal(control, point)
    }

    /// Whether there is a process of a number, of any type.
    pub(super) fn is_alive(&mut self, pid: ExprId) -> ExprId {
        let mut conditions = Vec::new();
        for process in 0..self.program.processes.len() {
            conditions.push(self.is_alive_as(process, pid));
        }
        self.any(conditions)
    }

    /// Whether there is a process of a number and a type.
    pub(super) fn is_alive_as(&mut self, process: usize, pid: ExprId) -> ExprId {
        let Some((low, high)) = self.pools.ranges[process] else { return self.truth(false) };
        let inside = self.is_between(pid, low, high);
        if self.constant_of(inside) == Some(0) {
            return inside;
        }
        let control = self.control_place(process, pid);
        let control = self.read(control);
        let zero = self.number(0);
        let alive = self.binary(BinaryOperator::NotEqual, control, zero);
        self.and(inside, alive)
    }

    /// The least and the greatest value of an expression, as far as its form determines them.
    pub(super) fn bounds_of(&self, value: ExprId) -> (i64, i64) {
        match self.model.pool[value] {
            Expr::Constant { value, .. } => (value, value),
            Expr::Read(place) => match self.model.types[self.model.pool[place].ty].kind {
                TypeKind::Range { low, high } => (low, high),
                _ => (i64::MIN, i64::MAX),
            },
            _ => (i64::MIN, i64::MAX),
        }
    }

    pub(super) fn is_between(&mut self, value: ExprId, low: i64, high: i64) -> ExprId {
        if let Some(value) = self.constant_of(value) {
            return self.truth(low <= value && value <= high);
        }
        let (least, greatest) = self.bounds_of(value);
        if low <= least && greatest <= high {
            return self.truth(true);
        }
        let (low, high) = (self.number(low), self.number(high));
        let above = self.compare(BinaryOperator::GreaterOrEqual, value, low);
        let below = self.compare(BinaryOperator::LessOrEqual, value, high);
        self.and(above, below)
    }

    /// `_nr_pr`
    pub(super) fn process_count(&mut self, _owner: &mut Owner) -> Value {
        let mut sum = self.number(0);
        for pid in 0..self.pools.processes {
            let pid = self.number(pid);
            let alive = self.is_alive(pid);
            let (then, otherwise) = (self.number(1), self.number(0));
            let one = match self.constant_of(alive) {
                Some(0) => otherwise,
                _ => self.model.pool.expression(Expr::Conditional { condition: alive, then, otherwise }),
            };
            sum = self.add(sum, one);
        }
        Value { expression: sum, is_boolean: false, low: 0, high: self.pools.processes }
    }

    /// Whether no process can move.
    pub(super) fn timeout(&mut self) -> ExprId {
        match self.quiet {
            Some(function) => self.model.pool.expression(Expr::Call { function, arguments: Vec::new() }),
            None => self.truth(false),
        }
    }

    /// Reserves the function that says whether no process can move, if it is used.
    pub(super) fn declare_quiet(&mut self) {
        if self.uses_timeout {
            self.quiet = Some(self.model.functions.push(Function {
                name: "nobody_can_move".into(),
                parameters: Vec::new(),
                locals: Table::new(),
                result: Some(Model::BOOLEAN),
                body: Vec::new(),
                span: Span::default(),
            }));
        }
    }

    /// Writes that function.
    pub(super) fn define_quiet(&mut self) {
        let Some(function) = self.quiet else { return };
        let mut owner = Owner::default();
        let condition = self.nobody_moves(&mut owner, false);
        let kind = StatementKind::Return(Some(ReturnValue::Value(condition)));
        let entry = &mut self.model.functions[function];
        entry.locals = owner.locals;
        entry.body = vec![Statement { kind, span: Span::default() }];
    }

    /// Whether no process can move, by a timeout or without one.
    pub(super) fn nobody_moves(&mut self, owner: &mut Owner, by_timeout: bool) -> ExprId {
        let mut conditions = Vec::new();
        if let Some(exclusive) = self.exclusive {
            let place = self.variable_place(exclusive);
            let holder = self.read(place);
            let nobody = self.number(-1);
            conditions.push(self.equal(holder, nobody));
        }
        for process in 0..self.program.processes.len() {
            let Some(ty) = self.pid_type(process) else { continue };
            let local = owner.parameter("p", ty);
            let pid = self.read_local(owner, local);
            // Point after point of one process: at most one of these conditions is of interest.
            let mut stays = Vec::new();
            for &point in &self.program.processes[process].flow.points {
                let number = self.program.processes[process].flow.number(point);
                let here = self.is_at(process, pid, number);
                let can_move = self.can_leave(owner, process, pid, point, by_timeout);
                let moves = self.and(here, can_move);
                stays.push(self.not(moves));
            }
            let stays = self.all(stays);
            conditions.push(self.quantified(Quantifier::All, local, ty, stays));
        }
        self.all(conditions)
    }

    /// `enabled(pid)`
    pub(super) fn enabled_process(&mut self, owner: &mut Owner, pid: ExprId, span: Span) -> ExprId {
        if let Some(asking) = self.asks_enabled {
            self.complain(
                Diagnostic::error("circular", "`enabled` asks for a process that itself asks `enabled`", asking)
                    .with_secondary(span, "here")
                    .with_help("SPIN's verifier goes wrong where this happens; look at variables or labels instead"),
            );
            return self.truth(false);
        }
        self.asks_enabled = Some(span);
        let mut conditions = Vec::new();
        for process in 0..self.program.processes.len() {
            let Some((low, high)) = self.pools.ranges[process] else { continue };
            let inside = self.is_between(pid, low, high);
            if self.constant_of(inside) == Some(0) {
                continue;
            }
            for &point in &self.program.processes[process].flow.points {
                let number = self.program.processes[process].flow.number(point);
                let here = self.is_at(process, pid, number);
                let here = self.and(inside, here);
                let can_move = self.can_leave(owner, process, pid, point, false);
                conditions.push(self.and(here, can_move));
            }
        }
        self.asks_enabled = None;
        self.any(conditions)
    }

    /// `pc_value(pid)`: the number that SPIN gives the state of a process; zero if there is no such process.
    pub(super) fn state_number(&mut self, pid: ExprId) -> Value {
        let (mut number, mut high) = (self.number(0), 0);
        for process in 0..self.program.processes.len() {
            let Some((first, last)) = self.pools.ranges[process] else { continue };
            let inside = self.is_between(pid, first, last);
            if self.constant_of(inside) == Some(0) {
                continue;
            }
            let flow = &self.program.processes[process].flow;
            for &point in &flow.points {
                let state = flow.elements[point].state;
                high = high.max(state);
                let here = self.is_at(process, pid, flow.number(point));
                let condition = self.and(inside, here);
                let then = self.number(state);
                number = self.model.pool.expression(Expr::Conditional { condition, then, otherwise: number });
            }
        }
        Value { expression: number, is_boolean: false, low: 0, high }
    }

    /// The process type that a name denotes.
    pub(super) fn proctype(&mut self, name: &Name) -> Option<usize> {
        if let Some(&number) = self.program.symbols.proctype_names.get(&name.text) {
            return Some(number);
        }
        let message = format!("there is no process type `{}`", name.text);
        let mut diagnostic = Diagnostic::error("unknown-process", message, name.span);
        diagnostic.help = similar(&name.text, self.program.symbols.proctype_names.keys().map(|it| &**it))
            .map(|close| format!("did you mean `{close}`?"));
        self.complain(diagnostic);
        None
    }

    /// The number of a process that is referred to from outside; without an index, the only one.
    fn remote_pid(
        &mut self,
        owner: &mut Owner,
        context: Context,
        process: usize,
        index: Option<&Expression>,
    ) -> Option<ExprId> {
        match index {
            Some(index) => Some(self.numeric(owner, context, index)?.expression),
            None => {
                let (low, _) = self.pools.ranges[process]?;
                Some(self.number(low))
            }
        }
    }

    /// `p[i]@label`
    pub(super) fn at_label(
        &mut self,
        owner: &mut Owner,
        context: Context,
        proctype: &Name,
        index: Option<&Expression>,
        label: &Name,
    ) -> Option<ExprId> {
        let process = self.proctype(proctype)?;
        let flow = &self.program.processes[process].flow;
        let Some(&element) = flow.labels.get(&label.text) else {
            let message = format!("process type `{}` has no label `{}`", proctype.text, label.text);
            let mut diagnostic = Diagnostic::error("unknown-label", message, label.span);
            diagnostic.help = similar(&label.text, flow.labels.keys().map(|it| &**it))
                .map(|close| format!("did you mean `{close}`?"));
            self.complain(diagnostic);
            return None;
        };
        let point = flow.numbers.get(&element).copied();
        if point.is_none() {
            let message = format!("no process is ever seen at label `{}`", label.text);
            let help = "a label before the first statement of an option, or inside a `d_step`, is no place where a process waits; write it before the `do`, `if` or `d_step`";
            self.complain(Diagnostic::warning("unseen-label", message, label.span).with_help(help));
        }
        if self.pools.ranges[process].is_none() {
            return Some(self.truth(false));
        }
        let pid = self.remote_pid(owner, context, process, index)?;
        let Some(point) = point else { return Some(self.truth(false)) };
        let (low, high) = self.pools.ranges[process]?;
        let inside = self.is_between(pid, low, high);
        if self.constant_of(inside) == Some(0) {
            return Some(inside);
        }
        let here = self.is_at(process, pid, point);
        Some(self.and(inside, here))
    }

    /// `p[i]:variable`
    pub(super) fn remote_variable(
        &mut self,
        owner: &mut Owner,
        context: Context,
        proctype: &Name,
        index: Option<&Expression>,
        parts: &[Member],
    ) -> Option<Value> {
        match self.remote_root(owner, context, proctype, index, parts)? {
            None => Some(self.number_value(0)),
            Some(Root::Channel(value)) => Some(value),
            Some(Root::Variable { place, info, key }) => match self.path(owner, context, place, &info, parts, key)? {
                Referent::Place { place, scalar, in_array, key } => {
                    let expression = self.read(place);
                    let (low, high) = self.scalar_range(scalar, in_array, key);
                    let is_boolean = self.model.pool[place].ty == Model::BOOLEAN;
                    Some(Value { expression, is_boolean, low, high })
                }
                Referent::Value(value) => Some(value),
                Referent::Nowhere => None,
            },
        }
    }

    /// The variable of a process that a reference begins with; nothing if there are no such processes.
    pub(super) fn remote_root(
        &mut self,
        owner: &mut Owner,
        context: Context,
        proctype: &Name,
        index: Option<&Expression>,
        parts: &[Member],
    ) -> Option<Option<Root>> {
        let process = self.proctype(proctype)?;
        let variables = &self.program.processes[process].symbols.variables;
        let Some(number) = variables.iter().position(|variable| variable.name == parts[0].name.text) else {
            let message = format!("process type `{}` has no variable `{}`", proctype.text, parts[0].name.text);
            self.error("unknown-name", message, parts[0].name.span);
            return None;
        };
        let info = variables[number].clone();
        if self.pools.ranges[process].is_none() {
            return Some(None);
        }
        let pid = self.remote_pid(owner, context, process, index)?;
        let key = VariableKey::Local(process, number);
        let Some(field) = self.locals[process][number] else {
            let expression = self.own_channel(key, &[], Some(pid))?;
            let value = Value { expression, is_boolean: false, low: 0, high: self.channel_count };
            return Some(Some(Root::Channel(value)));
        };
        let place = self.process_place(process, pid);
        let place = self.field(place, field);
        Some(Some(Root::Variable { place, info: Box::new(info), key }))
    }

    /// Statements that give a fresh variable (all cells at their least values) its initial value.
    pub(super) fn initialize(
        &mut self,
        owner: &mut Owner,
        context: Context,
        place: PlaceId,
        info: &VariableInfo,
        at: FieldAddress<'_>,
        statements: &mut Vec<Statement>,
    ) {
        let key = at.variable;
        let span = info.span;
        let elements: Vec<PlaceId> = match info.count {
            None => vec![place],
            Some(count) => (0..count)
                .map(|index| {
                    let index = self.number(index);
                    self.element(place, index)
                })
                .collect(),
        };
        match info.ty {
            ValueType::Structure(number) => {
                let fields = self.program.symbols.structures[number].fields.clone();
                let count = elements.len() as i64;
                for (element, index) in elements.into_iter().zip(0..) {
                    for (position, field) in fields.iter().enumerate() {
                        let place = self.field(element, position as u32);
                        let path = [at.path, &[position]].concat();
                        let at = FieldAddress { variable: key, path: &path, index: at.index * count + index };
                        self.initialize(owner, context, place, field, at, statements);
                    }
                }
            }
            ValueType::Scalar(scalar) => {
                let in_array = info.count.is_some();
                let (least, _) = self.scalar_range(scalar, in_array, key);
                let list: Option<Vec<Value>> = match &info.initial {
                    Some(Initial::List(values)) => {
                        let mut list = Vec::new();
                        for value in values {
                            list.extend(self.numeric(owner, context, value));
                        }
                        Some(list)
                    }
                    _ => None,
                };
                let single = match &info.initial {
                    Some(Initial::Value(value)) => self.value(owner, context, value),
                    _ => None,
                };
                let own = match &info.channel {
                    Some(_) => self.own_channel(key, at.path, context.pid),
                    None => None,
                };
                for (position, element) in elements.into_iter().enumerate() {
                    let value = if let Some(first) = own {
                        let offset = self.number(at.index * info.count.unwrap_or(1) + position as i64);
                        let expression = self.add(first, offset);
                        Value { expression, is_boolean: false, low: 0, high: self.channel_count }
                    } else if let Some(list) = &list {
                        match list.get(position).or(list.last()) {
                            Some(value) => *value,
                            None => self.number_value(0),
                        }
                    } else {
                        match single {
                            Some(value) => value,
                            None => self.number_value(0),
                        }
                    };
                    if self.constant_of(value.expression) == Some(least) {
                        continue;
                    }
                    let referent = Referent::Place { place: element, scalar, in_array, key };
                    statements.extend(self.store(referent, value, span));
                }
            }
        }
    }

    /// Statements that create a process with a free number.
    pub(super) fn create(
        &mut self,
        owner: &mut Owner,
        process: usize,
        pid: ExprId,
        arguments: &[Value],
        priority: i64,
        span: Span,
    ) -> Vec<Statement> {
        let entry = &self.program.processes[process];
        let mut statements = Vec::new();
        let context = Context { process: Some(process), pid: Some(pid), scope: 0, asks_timeout: false };
        let mut arguments = arguments.iter().copied();
        for (number, info) in entry.symbols.variables.iter().enumerate() {
            let Some(field) = self.locals[process][number] else { continue };
            let key = VariableKey::Local(process, number);
            let place = self.process_place(process, pid);
            let place = self.field(place, field);
            if number < entry.symbols.parameters && arguments.len() > 0 {
                self.pass(key, place, info, &mut arguments, span, &mut statements);
            } else {
                let at = FieldAddress { variable: key, path: &[], index: 0 };
                self.initialize(owner, context, place, info, at, &mut statements);
            }
        }
        statements.extend(self.give_priority(process, pid, priority, span));
        let control = self.control_place(process, pid);
        let first = entry.flow.number(entry.flow.first);
        statements.push(self.set_number(control, first, span));
        statements
    }

    /// Statements that give a parameter of a new process its arguments: a structure takes one for each
    /// of its fields.
    fn pass(
        &mut self,
        key: VariableKey,
        place: PlaceId,
        info: &VariableInfo,
        arguments: &mut impl Iterator<Item = Value>,
        span: Span,
        statements: &mut Vec<Statement>,
    ) {
        for index in 0..info.count.unwrap_or(1) {
            let place = match info.count {
                None => place,
                Some(_) => {
                    let index = self.number(index);
                    self.element(place, index)
                }
            };
            match info.ty {
                ValueType::Scalar(scalar) => {
                    let Some(value) = arguments.next() else { return };
                    let in_array = info.count.is_some();
                    let (least, _) = self.scalar_range(scalar, in_array, key);
                    if self.constant_of(value.expression) != Some(least) {
                        let referent = Referent::Place { place, scalar, in_array, key };
                        statements.extend(self.store(referent, value, span));
                    }
                }
                ValueType::Structure(number) => {
                    let program = self.program;
                    for (position, field) in program.symbols.structures[number].fields.iter().enumerate() {
                        let place = self.field(place, position as u32);
                        self.pass(key, place, field, arguments, span, statements);
                    }
                }
            }
        }
    }

    /// The initial state.
    pub(super) fn emit_start(&mut self) {
        let mut owner = Owner::default();
        let mut body = Vec::new();
        for (number, info) in self.program.symbols.globals.iter().enumerate() {
            if let Some(variable) = self.globals[number] {
                let place = self.variable_place(variable);
                let at = FieldAddress { variable: VariableKey::Global(number), path: &[], index: 0 };
                self.initialize(&mut owner, Context::outside(), place, info, at, &mut body);
            }
        }
        let mut pid = 0;
        for (number, process) in self.program.processes.iter().enumerate() {
            for _ in 0..process.active {
                let expression = self.number(pid);
                let priority = self.program.declared_priority(number);
                body.extend(self.create(&mut owner, number, expression, &[], priority, process.tree.span));
                pid += 1;
            }
        }
        body.extend(self.start_trace());
        body.extend(self.start_claims(&mut owner));
        self.model.starts.push(Start {
            name: Some("initial".into()),
            parameters: Vec::new(),
            locals: owner.locals,
            body,
            span: Span::default(),
        });
    }

    /// A property that must hold in every state that SPIN checks.
    pub(super) fn emit_invariant(&mut self, name: Option<String>, condition: &Expression, span: Span) {
        let mut owner = Owner::default();
        let Some(condition) = self.condition(&mut owner, Context::of_formula(), condition) else { return };
        self.model.properties.push(Property {
            name,
            kind: PropertyKind::Invariant,
            parameters: Vec::new(),
            locals: owner.locals,
            formula: condition.into(),
            span,
        });
    }

    /// Declares states in which a process goes on at once as transient.
    pub(super) fn emit_passing(&mut self) {
        let Some(exclusive) = self.exclusive else { return };
        let place = self.variable_place(exclusive);
        let (holder, nobody) = (self.read(place), self.number(-1));
        let condition = self.compare(BinaryOperator::NotEqual, holder, nobody);
        self.model.properties.push(Property {
            name: Some("atomic".into()),
            kind: PropertyKind::Passing,
            parameters: Vec::new(),
            locals: quotient_ir::Table::new(),
            formula: condition.into(),
            span: Span::default(),
        });
    }
}
