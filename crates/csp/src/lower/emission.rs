//! The model: a variable for each global variable, buffer, position and register, and a rule for each step.

use quotient_ir::{
    ChartStep, Diagnostic, EventLabel, Exchange, Exchanges, ExprId, Fairness, Field, Model, Number, Owner,
    Participation, Rule, Source, Span, Start, Statement, StatementKind, TERMINATION_EVENT, Table, Type, TypeId,
    TypeKind, Variable, VariableId,
};
use quotient_kit::Building;
use rustc_hash::{FxHashMap, FxHashSet};

use super::captures::{captured_in, captured_in_action, reads_register};
use super::components::{Network, Target};
use super::growth::unbounded_registers;
use super::moves::{Move, Part, chart_step};
use super::steps::{Label, Origin, Step, equal_all};
use super::symbols::{NUMBERS, Symbols};
use super::terms::{Event, Term, Value};
use super::values::{Body, Context, Lowered};
use super::wording;

/// The model under construction.
pub(super) struct Emission<'e, 't> {
    pub(super) model: Model,
    pub(super) symbols: &'e Symbols<'t>,
    pub(super) network: &'e Network,
    pub(super) diagnostics: Vec<Diagnostic>,
    types: FxHashMap<(i64, i64), TypeId>,
    pub(super) variables: Vec<VariableId>,
    pub(super) queues: Vec<Option<VariableId>>,
    /// The position of each component, unless it has only one.
    positions: Vec<Option<VariableId>>,
    pub(super) registers: Vec<Vec<VariableId>>,
    /// The root that runs, if there are several.
    root: Option<VariableId>,
    /// The last event, as far as formulas mention it.
    last: Option<VariableId>,
    events: Vec<Event>,
    /// The guards of the rules of each root.
    pub(super) guards: Vec<Vec<ExprId>>,
    /// What is visible of each rule.
    pub(super) labels: Vec<EventLabel>,
    /// Who takes part in the steps of each rule.
    pub(super) exchanges: Exchanges,
    /// Whether a state after termination is not a deadlock for the search.
    pub(super) may_terminate: bool,
    /// The registers of each component that nothing in the text bounds.
    pub(super) unbounded: Vec<FxHashSet<usize>>,
}

/// New positions and registers of components, after a step.
type Changes = Vec<(usize, i64, Vec<Value>, usize)>;

impl<'e, 't> Emission<'e, 't> {
    /// A model with all variables. `events` are those that formulas mention.
    pub(super) fn new(source: &Source, symbols: &'e Symbols<'t>, network: &'e Network, events: Vec<Event>) -> Self {
        let mut emission = Self {
            model: Model::new(source.clone()),
            symbols,
            network,
            diagnostics: Vec::new(),
            types: FxHashMap::default(),
            variables: Vec::new(),
            queues: Vec::new(),
            positions: Vec::new(),
            registers: Vec::new(),
            root: None,
            last: None,
            events,
            guards: vec![Vec::new(); network.roots.len()],
            labels: Vec::new(),
            exchanges: Exchanges::default(),
            may_terminate: false,
            unbounded: (0..network.components.len()).map(|it| unbounded_registers(network, it)).collect(),
        };
        emission.declare();
        emission
    }

    pub(super) fn range(&mut self, low: i64, high: i64) -> TypeId {
        let types = &mut self.model.types;
        *self.types.entry((low, high)).or_insert_with(|| {
            let name = ((low, high) == NUMBERS).then(|| "int".to_owned());
            types.push(Type { name, kind: TypeKind::Range { low, high } })
        })
    }

    pub(super) fn array(&mut self, size: i64, element: TypeId) -> TypeId {
        let index = self.range(0, size - 1);
        self.model.types.push(Type { name: None, kind: TypeKind::Array { index, element } })
    }

    fn variable(&mut self, name: String, ty: TypeId, span: Span) -> VariableId {
        self.model.variables.push(Variable { name, ty, may_be_undefined: false, span })
    }

    fn declare(&mut self) {
        let symbols = self.symbols;
        for variable in &symbols.variables {
            let mut ty = match variable.is_boolean {
                true => Model::BOOLEAN,
                false => self.range(variable.range.0, variable.range.1),
            };
            for &size in variable.sizes.iter().rev() {
                ty = self.array(size, ty);
            }
            let variable = self.variable(variable.name.to_string(), ty, variable.span);
            self.variables.push(variable);
        }
        for channel in &symbols.channels {
            if channel.capacity == 0 {
                self.queues.push(None);
                continue;
            }
            let int = self.range(NUMBERS.0, NUMBERS.1);
            let parts = channel.parts.map_or(1, |(parts, _)| parts);
            let fields = (1..=parts).map(|part| Field { name: format!("part_{part}"), ty: int }).collect();
            let message = self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } });
            let length = self.range(0, channel.capacity);
            let messages = self.array(channel.capacity, message);
            let fields =
                vec![Field { name: "length".into(), ty: length }, Field { name: "messages".into(), ty: messages }];
            let mut ty = self.model.types.push(Type { name: None, kind: TypeKind::Record { fields } });
            for &size in channel.sizes.iter().rev() {
                ty = self.array(size, ty);
            }
            let queue = self.variable(channel.name.to_string(), ty, channel.span);
            self.queues.push(Some(queue));
        }
        if self.network.roots.len() > 1 {
            let names = self.network.roots.iter().map(|(root, _)| self.network.components[*root].name.clone());
            let kind = TypeKind::Enumeration { first: 0, members: names.collect() };
            let ty = self.model.types.push(Type { name: None, kind });
            self.root = Some(self.variable("process".into(), ty, Span::default()));
        }
        if !self.events.is_empty() {
            let names = self.events.iter().map(|(name, values)| {
                let values = values.iter().map(|value| format!(".{value}"));
                // Messages are written `c!1.2`.
                format!("{name}{}", values.collect::<String>()).replace("!.", "!").replace("?.", "?")
            });
            let members = std::iter::once("another".to_owned()).chain(names).collect();
            let ty = self.model.types.push(Type { name: None, kind: TypeKind::Enumeration { first: 0, members } });
            self.last = Some(self.variable("event".into(), ty, Span::default()));
        }
        self.declare_components();
    }

    fn declare_components(&mut self) {
        let network = self.network;
        let mut used: FxHashMap<String, usize> = FxHashMap::default();
        for it in &network.components {
            *used.entry(it.name.clone()).or_default() += 1;
        }
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        for (component, it) in network.components.iter().enumerate() {
            let mut name = it.name.clone();
            if used[&name] > 1 {
                let number = numbers.entry(name.clone()).or_default();
                *number += 1;
                name = format!("{name} {number}");
            }
            self.exchanges.processes.push(name.clone());
            let is_permanent = network.is_permanent(component);
            let mut position = None;
            if it.locations.len() > 1 || !is_permanent {
                let low = i64::from(is_permanent);
                let high = it.locations.len() as i64;
                // A type of its own, with its own names.
                let ty = self.model.types.push(Type { name: None, kind: TypeKind::Range { low, high } });
                let mut names: FxHashMap<i64, String> = FxHashMap::default();
                names.insert(0, "inactive".into());
                for (location, it) in it.locations.iter().enumerate() {
                    names.insert(location as i64 + 1, wording::term(self.symbols, &it.term));
                }
                self.model.value_names.insert(ty, names);
                position = Some(self.variable(name.clone(), ty, Span::default()));
            }
            self.positions.push(position);
            let int = self.range(NUMBERS.0, NUMBERS.1);
            let registers = (1..=it.registers).map(|number| {
                let name = format!("{name} #{number}");
                self.variable(name, int, Span::default())
            });
            let registers = registers.collect();
            self.registers.push(registers);
        }
    }

    /// The initial states: one for each root.
    pub(super) fn starts(&mut self) {
        let (symbols, network) = (self.symbols, self.network);
        for (number, (component, target)) in network.roots.iter().enumerate() {
            let mut body = Body::default();
            let mut parameters = Vec::new();
            for (variable, it) in symbols.variables.iter().enumerate() {
                if it.is_any {
                    parameters.push(self.any_value(variable, &mut body));
                    continue;
                }
                for (position, &value) in it.initial.iter().enumerate() {
                    // Cells start at the least value of their type.
                    if value == it.range.0 {
                        continue;
                    }
                    let mut place = self.variable_place(self.variables[variable]);
                    let mut rest = position as i64;
                    let mut divisor: i64 = it.sizes.iter().product();
                    for &size in &it.sizes {
                        divisor /= size;
                        let index = self.number(rest / divisor);
                        rest %= divisor;
                        place = self.element(place, index);
                    }
                    let value = if it.is_boolean { self.truth(value != 0) } else { self.number(value) };
                    self.assign(place, value, it.span, &mut body);
                }
            }
            self.empty_queues(&mut body);
            if let Some(root) = self.root {
                let place = self.variable_place(root);
                let value = self.constant_of(root, number as i64);
                self.assign(place, value, Span::default(), &mut body);
            }
            for component in 0..network.components.len() {
                for register in self.registers[component].clone() {
                    let (place, zero) = (self.variable_place(register), self.number(0));
                    self.assign(place, zero, Span::default(), &mut body);
                }
            }
            let begun = std::iter::once((*component, target.location, target.registers.clone()));
            let captured = FxHashMap::default();
            for (component, location, registers) in begun.chain(target.begun.iter().cloned()) {
                self.move_to(component, location as i64 + 1, Span::default(), &mut body);
                for (register, value) in registers.iter().enumerate() {
                    let context = Context { component, captured: &captured };
                    let value = self.number_value(value, context, None);
                    let place = self.variable_place(self.registers[component][register]);
                    self.assign(place, value, Span::default(), &mut body);
                }
            }
            let name = Some("initial state".to_owned());
            let (locals, statements) = (body.locals, body.statements);
            let start = Start { name, parameters, locals, body: statements, span: Span::default() };
            self.model.starts.push(start);
        }
    }

    /// A parameter of the start for a variable that may begin with any values.
    fn any_value(&mut self, variable: usize, body: &mut Body) -> quotient_ir::Parameter {
        let it = &self.symbols.variables[variable];
        let (name, span) = (format!("initial_{}", it.name), it.span);
        let target = self.variable_place(self.variables[variable]);
        let ty = self.model.variables[self.variables[variable]].ty;
        let local = body.locals.push(quotient_ir::Local { name, ty, kind: quotient_ir::LocalKind::Parameter, span });
        let source = self.local_place(&body.locals, local);
        if it.sizes.is_empty() {
            let value = self.read(source);
            self.assign(target, value, span, body);
        } else {
            body.statements.push(Statement { kind: StatementKind::Copy { target, source }, span });
        }
        quotient_ir::Parameter { local, range: quotient_ir::Iteration::Over(ty) }
    }

    fn empty_queues(&mut self, body: &mut Body) {
        for (channel, it) in self.symbols.channels.iter().enumerate() {
            let Some(queue) = self.queues[channel] else { continue };
            let count: i64 = it.sizes.iter().product();
            for number in 0..count {
                let mut place = self.variable_place(queue);
                let (mut rest, mut divisor) = (number, count);
                for &size in &it.sizes {
                    divisor /= size;
                    let index = self.number(rest / divisor);
                    rest %= divisor;
                    place = self.element(place, index);
                }
                let messages = self.field(place, 1);
                for message in 0..it.capacity {
                    for part in 0..it.parts.map_or(1, |(parts, _)| parts) {
                        let index = self.number(message);
                        let message = self.element(messages, index);
                        let (target, zero) = (self.field(message, part as u32), self.number(0));
                        self.assign(target, zero, it.span, body);
                    }
                }
            }
        }
    }

    fn constant_of(&mut self, variable: VariableId, value: i64) -> ExprId {
        let ty = self.model.variables[variable].ty;
        self.model.pool.expression(quotient_ir::Expr::Constant { value, ty })
    }

    /// Whether a root runs.
    pub(super) fn is_running(&mut self, root: usize) -> ExprId {
        let Some(variable) = self.root else { return self.truth(true) };
        let place = self.variable_place(variable);
        let (value, constant) = (self.read(place), self.constant_of(variable, root as i64));
        self.equal(value, constant)
    }

    /// Whether an event that a formula mentions was the last one.
    pub(super) fn is_last(&mut self, event: &Event) -> Option<ExprId> {
        let number = self.events.iter().position(|it| it == event)?;
        let variable = self.last?;
        let place = self.variable_place(variable);
        let (value, constant) = (self.read(place), self.constant_of(variable, number as i64 + 1));
        Some(self.equal(value, constant))
    }

    /// Whether a component is in a position.
    fn is_at(&mut self, component: usize, location: usize) -> ExprId {
        let Some(position) = self.positions[component] else { return self.truth(true) };
        let place = self.variable_place(position);
        let (value, constant) = (self.read(place), self.number(location as i64 + 1));
        self.equal(value, constant)
    }

    /// Whether a root has terminated.
    pub(super) fn has_terminated(&mut self, root: usize) -> ExprId {
        let (component, _) = self.network.roots[root];
        let locations = &self.network.components[component].locations;
        match locations.iter().position(|location| *location.term == Term::Done) {
            Some(location) => self.is_at(component, location),
            None => self.truth(false),
        }
    }

    fn move_to(&mut self, component: usize, value: i64, span: Span, body: &mut Body) {
        if let Some(position) = self.positions[component] {
            let (place, value) = (self.variable_place(position), self.number(value));
            self.assign(place, value, span, body);
        }
    }

    pub(super) fn step(&self, part: Part) -> (&'e Step, &'e Target) {
        let (step, target) = &self.network.components[part.component].locations[part.location].steps[part.step];
        (step, target)
    }

    /// The rules of a root.
    pub(super) fn rules(&mut self, root: usize, moves: &[Move]) {
        let guards: Vec<ExprId> = moves.iter().map(|it| self.guard(it)).collect();
        // Atomic steps go before others; without a composition there are no others.
        let is_composed = self.network.components.iter().any(|component| component.fork.is_some());
        let atomic = moves.iter().zip(&guards).filter(|(it, _)| is_composed && it.is_atomic);
        let not_atomic: Vec<ExprId> = atomic.map(|(_, &guard)| self.not(guard)).collect();
        let no_atomic = self.all(not_atomic);
        for (it, guard) in moves.iter().zip(guards) {
            let guard = if it.is_atomic { guard } else { self.and(guard, no_atomic) };
            self.guards[root].push(guard);
            let rule = self.rule(it, guard);
            self.model.rules.push(rule);
            let event = self.event_label(it);
            let step = chart_step(self.symbols, it, event.clone());
            self.exchanges.steps.push(step);
            self.labels.push(event.clone());
            let processes = self.processes(it);
            self.model.participation.push(Participation { event, processes });
        }
    }

    /// The captured values of a step as expressions over the state before it.
    fn captured(&mut self, it: &Move) -> FxHashMap<u32, Lowered> {
        let mut captured: FxHashMap<u32, Lowered> = FxHashMap::default();
        // Senders before receivers, so that messages are known.
        let mut order: Vec<usize> = (0..it.parts.len()).collect();
        order.sort_by_key(|&part| it.passed.iter().any(|(_, receiver)| *receiver == part));
        for part in order {
            let component = it.parts[part].component;
            let (step, _) = self.step(it.parts[part]);
            let sender = it.passed.iter().find(|(_, receiver)| *receiver == part).map(|(sender, _)| *sender);
            for (number, origin) in &step.captured {
                let lowered = match origin {
                    Origin::Value(value) => self.value(value, Context { component, captured: &captured }, None),
                    Origin::Message(position) => {
                        let Some(sender) = sender else { continue };
                        let Label::Send { values, .. } = &self.step(it.parts[sender]).0.label else { continue };
                        let component = it.parts[sender].component;
                        self.value(&values[*position], Context { component, captured: &captured }, None)
                    }
                };
                captured.insert(*number, lowered);
            }
        }
        captured
    }

    fn guard(&mut self, it: &Move) -> ExprId {
        let captured = self.captured(it);
        let mut guard = self.truth(true);
        let places = it.parts.iter().map(|part| (part.component, part.location));
        for (component, location) in places.chain(it.staying.iter().copied()) {
            let here = self.is_at(component, location);
            guard = self.and(guard, here);
        }
        for &(sender, receiver) in &it.passed {
            let left = self.step(it.parts[sender]).0;
            let right = self.step(it.parts[receiver]).0;
            let (Label::Send { indices, .. }, Label::Receive { indices: others, .. }) = (&left.label, &right.label)
            else {
                continue;
            };
            for (index, other) in indices.iter().zip(others) {
                if index.constant().is_some() && index.constant() == other.constant() {
                    continue;
                }
                let sender = Context { component: it.parts[sender].component, captured: &captured };
                let index = self.number_value(index, sender, None);
                let receiver = Context { component: it.parts[receiver].component, captured: &captured };
                let other = self.number_value(other, receiver, None);
                let same = self.equal(index, other);
                guard = self.and(guard, same);
            }
        }
        for &part in &it.parts {
            let (step, _) = self.step(part);
            let context = Context { component: part.component, captured: &captured };
            for condition in &step.guards {
                let condition = self.condition(condition, context, None);
                guard = self.and(guard, condition);
            }
        }
        guard
    }

    fn rule(&mut self, it: &Move, guard: ExprId) -> Rule {
        let first = it.parts[it.labelled.min(it.parts.len() - 1)];
        let span = self.step(first).0.span;
        let captured = self.captured(it);
        let mut body = Body::default();
        self.check_growth(it, span, &mut body);
        let (changes, used) = self.changes(it);
        // Captured values are those before the step: they are remembered where they are used afterwards.
        let mut remembered: FxHashMap<u32, Lowered> = FxHashMap::default();
        let mut numbers: Vec<u32> = used.into_iter().collect();
        numbers.sort_unstable();
        for number in numbers {
            let Some(&value) = captured.get(&number) else { continue };
            let value = self.number_of(value);
            let expression = match self.model.pool[value] {
                quotient_ir::Expr::Constant { .. } => value,
                _ => self.remember(format!("value_{}", remembered.len() + 1), value, span, &mut body),
            };
            remembered.insert(number, Lowered { expression, is_boolean: false });
        }
        let event = self.event_value(it, &captured);
        let event = event.map(|event| match self.model.pool[event] {
            quotient_ir::Expr::Constant { .. } => event,
            _ => self.remember_event(event, span, &mut body),
        });
        // A message is delivered before blocks are executed, that of the sender first.
        let mut order: Vec<usize> = (0..it.parts.len()).collect();
        order.sort_by_key(|&part| it.passed.iter().any(|(_, receiver)| *receiver == part));
        let new_registers = self.new_registers(&changes, &remembered, span, &mut body);
        for part in order {
            let (step, _) = self.step(it.parts[part]);
            let context = Context { component: it.parts[part].component, captured: &remembered };
            for action in &step.actions {
                self.action(action, context, &mut body);
            }
        }
        for (component, position, ..) in &changes {
            self.move_to(*component, *position, span, &mut body);
        }
        for (place, value) in new_registers {
            self.assign(place, value, span, &mut body);
        }
        self.watch_values(it, span, &mut body);
        if let (Some(event), Some(last)) = (event, self.last) {
            let place = self.variable_place(last);
            self.assign(place, event, span, &mut body);
        }
        let source = self.model.source.text.get(span.range()).unwrap_or_default().to_owned();
        Rule {
            name: Some(wording::label(self.symbols, &it.label, &source)),
            owner: Owner::Process(Number::Constant(first.component as i64)),
            fairness: self.fairness(it),
            parameters: Vec::new(),
            locals: body.locals,
            guard,
            body: body.statements,
            span,
        }
    }

    /// The processes that take part in a step: parts of the outermost composition, by their components.
    fn processes(&self, it: &Move) -> Vec<i64> {
        let mut processes: Vec<i64> = it.parts.iter().map(|part| self.network.process(part.component) as i64).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }

    /// The annotation of the event of a step.
    fn fairness(&mut self, it: &Move) -> Fairness {
        let annotated = it.parts.iter().map(|&part| self.step(part).0).filter(|step| step.fairness != Fairness::None);
        let annotated: Vec<&Step> = annotated.collect();
        let Some(first) = annotated.first() else { return Fairness::None };
        if self.shown(&it.label).is_none() {
            let message = "the annotation has no effect, since the event is hidden";
            let warning = Diagnostic::warning("hidden-fairness", message, first.span);
            if !self.diagnostics.contains(&warning) {
                self.diagnostics.push(warning);
            }
            return Fairness::None;
        }
        annotated.iter().map(|step| step.fairness).max().unwrap_or_default()
    }

    /// The components that change, and the captured values that are used after the beginning of the step.
    fn changes(&self, it: &Move) -> (Changes, FxHashSet<u32>) {
        let mut changes: FxHashMap<usize, (i64, Vec<Value>, usize)> = FxHashMap::default();
        let mut used = FxHashSet::default();
        for &part in &it.parts {
            let (step, target) = self.step(part);
            changes.insert(part.component, (target.location as i64 + 1, target.registers.clone(), part.component));
            for action in &step.actions {
                captured_in_action(action, &mut used);
            }
        }
        for &part in &it.parts {
            let (_, target) = self.step(part);
            let locations = &self.network.components[part.component].locations;
            let (before, after) = (&locations[part.location].forks, &locations[target.location].forks);
            // A fork may end and begin again with other processes, which is set below.
            let begins = |fork: usize| target.begun.iter().any(|(it, ..)| self.network.forks[fork].parts.contains(it));
            for &fork in before.iter().filter(|&&fork| !after.contains(&fork) || begins(fork)) {
                for member in self.network.members(fork) {
                    changes.insert(member, (0, Vec::new(), member));
                }
            }
        }
        for &part in &it.parts {
            // A part that another one ended with does not begin anything.
            if changes.get(&part.component).is_some_and(|(position, ..)| *position == 0) {
                continue;
            }
            for (component, location, registers) in &self.step(part).1.begun {
                changes.insert(*component, (*location as i64 + 1, registers.clone(), part.component));
            }
        }
        let mut all: Changes = Vec::new();
        for (component, (position, mut registers, context)) in changes {
            registers.resize(self.registers[component].len(), Value::Number(0));
            for value in &registers {
                captured_in(value, &mut used);
            }
            all.push((component, position, registers, context));
        }
        all.sort_by_key(|(component, ..)| *component);
        (all, used)
    }

    /// Registers that change and their new values, which do not depend on registers that change.
    fn new_registers(
        &mut self,
        changes: &Changes,
        remembered: &FxHashMap<u32, Lowered>,
        span: Span,
        body: &mut Body,
    ) -> Vec<(quotient_ir::PlaceId, ExprId)> {
        let mut assignments = Vec::new();
        for (component, _, registers, context) in changes {
            for (number, value) in registers.iter().enumerate() {
                let target = self.variable_place(self.registers[*component][number]);
                let reads_register = reads_register(value);
                let value = self.number_value(value, Context { component: *context, captured: remembered }, None);
                if value != self.read(target) {
                    assignments.push((target, value, reads_register));
                }
            }
        }
        let is_alone = assignments.len() == 1;
        let mut result = Vec::new();
        for (target, value, reads_register) in assignments {
            let value = match reads_register && !is_alone {
                true => self.remember(format!("new_{}", result.len() + 1), value, span, body),
                false => value,
            };
            result.push((target, value));
        }
        result
    }

    /// The number of the event of a step among those that formulas mention.
    fn event_value(&mut self, it: &Move, captured: &FxHashMap<u32, Lowered>) -> Option<ExprId> {
        let last = self.last?;
        let events = self.events.clone();
        let (name, values) = self.shown(&it.label).unwrap_or_default();
        let context = Context { component: it.parts[it.labelled].component, captured };
        let mut result = self.constant_of(last, 0);
        for (number, (event, constants)) in events.iter().enumerate() {
            if **event != *name || constants.len() != values.len() {
                continue;
            }
            let constants: Vec<Value> = constants.iter().map(|value| Value::Number(*value)).collect();
            let conditions = equal_all(&values, &constants);
            if conditions.contains(&Value::Truth(false)) {
                continue;
            }
            let mut condition = self.truth(true);
            for one in &conditions {
                let one = self.condition(one, context, None);
                condition = self.and(condition, one);
            }
            let then = self.constant_of(last, number as i64 + 1);
            result = match conditions.is_empty() {
                true => then,
                false => {
                    self.model.pool.expression(quotient_ir::Expr::Conditional { condition, then, otherwise: result })
                }
            };
        }
        Some(result)
    }

    /// Remembers the event of a step, which may depend on what the step changes.
    fn remember_event(&mut self, event: ExprId, span: Span, body: &mut Body) -> ExprId {
        let Some(last) = self.last else { return event };
        let ty = self.model.variables[last].ty;
        let kind = quotient_ir::LocalKind::Variable;
        let local = body.locals.push(quotient_ir::Local { name: "event".into(), ty, kind, span });
        let place = self.local_place(&body.locals, local);
        self.assign(place, event, span, body);
        self.read(place)
    }

    /// What is visible of a step. Its values are those before it.
    fn event_label(&mut self, it: &Move) -> EventLabel {
        let Some((name, values)) = self.shown(&it.label) else { return EventLabel::Internal };
        let captured = self.captured(it);
        let context = Context { component: it.parts[it.labelled].component, captured: &captured };
        let values = values.iter().map(|value| self.number_value(value, context, None)).collect();
        EventLabel::Event { name, values }
    }

    /// The name of a visible step, and what is behind its dots.
    fn shown(&self, label: &Label) -> Option<(String, Vec<Value>)> {
        let message = |channel: &usize, sign: &str, indices: &[Value], values: &[Value]| {
            let name = &self.symbols.channels[*channel].name;
            (format!("{name}{sign}"), indices.iter().chain(values).cloned().collect())
        };
        match label {
            Label::Event { name, arguments, .. } => Some((name.to_string(), arguments.clone())),
            Label::Passed { channel, indices, values } => Some(message(channel, "", indices, values)),
            Label::Queue { channel, indices, values, sends } => {
                Some(message(channel, if *sends { "!" } else { "?" }, indices, values))
            }
            Label::Termination => Some((TERMINATION_EVENT.to_owned(), Vec::new())),
            Label::Internal | Label::Send { .. } | Label::Receive { .. } => None,
        }
    }

    /// A step without an effect after termination.
    pub(super) fn stay_terminated(&mut self) {
        let guard = self.has_terminated(0);
        if guard == self.truth(false) {
            return;
        }
        self.model.rules.push(Rule {
            name: Some("stay terminated".into()),
            owner: Owner::None,
            fairness: Fairness::None,
            parameters: Vec::new(),
            locals: Table::new(),
            guard,
            body: Vec::new(),
            span: Span::default(),
        });
        self.labels.push(EventLabel::Nothing);
        self.model.participation.push(Participation { event: EventLabel::Nothing, processes: Vec::new() });
        let step = ChartStep { participants: Vec::new(), label: EventLabel::Nothing, exchange: Exchange::Nothing };
        self.exchanges.steps.push(step);
    }

    /// Adds a property.
    pub(super) fn property(
        &mut self,
        name: String,
        kind: quotient_ir::PropertyKind,
        formula: ExprId,
        span: Span,
    ) -> quotient_ir::PropertyId {
        self.model.properties.push(quotient_ir::Property {
            name: Some(name),
            kind,
            parameters: Vec::new(),
            locals: Table::new(),
            formula: formula.into(),
            span,
        })
    }
}
