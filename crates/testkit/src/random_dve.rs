//! Random DVE systems, and an oracle for them: a direct interpreter of the generated tree, which shares nothing with the
//! front end. Small enough that all states can be explored.

use std::collections::HashSet;
use std::fmt::Write;

use crate::random_murphi::Random;

/// A number is `byte` if its least value is zero, otherwise `int`.
const BYTE: (i64, i64) = (0, 255);
const INT: (i64, i64) = (-32768, 32767);

#[derive(Clone, Debug)]
enum Expression {
    Number(i64),
    /// A variable by its number, and the index if it is an array.
    Variable(usize, Option<Box<Expression>>),
    InState(usize, usize),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Debug)]
struct Variable {
    /// The process that owns it.
    owner: Option<usize>,
    name: String,
    range: (i64, i64),
    /// An array of several elements; otherwise a single one.
    initial: Vec<i64>,
    is_array: bool,
}

#[derive(Clone, Debug)]
struct Channel {
    capacity: usize,
    /// The ranges of its values, if declared.
    types: Option<Vec<(i64, i64)>>,
    /// The number of values of a message.
    values: usize,
}

#[derive(Clone, Debug)]
struct Transition {
    from: usize,
    to: usize,
    guard: Option<Expression>,
    /// The channel, whether it sends, and the values or variables.
    sync: Option<(usize, bool, Vec<Expression>)>,
    effects: Vec<(Expression, Expression)>,
}

#[derive(Clone, Debug)]
struct Process {
    states: usize,
    initial: usize,
    committed: Vec<usize>,
    transitions: Vec<Transition>,
}

/// A random system.
#[derive(Clone, Debug)]
pub struct RandomDve {
    variables: Vec<Variable>,
    channels: Vec<Channel>,
    processes: Vec<Process>,
    synchronous: bool,
}

/// What the oracle finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// The number of states.
    pub states: u64,
    /// Whether some state has no successor, and no error.
    pub deadlock: bool,
    /// Whether a step is a run-time error.
    pub error: bool,
}

/// A state: the variables one after the other, the states of the processes, the buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    cells: Vec<Vec<i64>>,
    places: Vec<usize>,
    queues: Vec<Vec<Vec<i64>>>,
}

/// A run-time error.
struct Error;

/// A system for a seed. Every other one has processes with the same text.
pub fn random_dve(seed: u64) -> RandomDve {
    let mut random = Random::new(seed);
    let alike = seed.is_multiple_of(2);
    let synchronous = random.percent(12);
    let mut variables = Vec::new();
    for number in 0..1 + random.below(2) {
        let range = if random.percent(70) { BYTE } else { INT };
        let is_array = random.percent(40);
        let size = if is_array { 1 + random.below(3) } else { 1 };
        let initial = (0..size).map(|_| random.between(if range == BYTE { 0 } else { -1 }, 2)).collect();
        variables.push(Variable { owner: None, name: format!("g{number}"), range, initial, is_array });
    }
    let mut channels = Vec::new();
    for _ in 0..if synchronous { 0 } else { random.below(3) } {
        let capacity = if random.percent(40) { 1 + random.below(2) } else { 0 };
        let values = random.below(3);
        let is_typed = capacity > 0 || values > 1 || random.percent(30);
        let values = if is_typed { values.max(1) } else { values };
        let types = (0..values).map(|_| if random.percent(70) { BYTE } else { INT }).collect();
        channels.push(Channel { capacity, types: is_typed.then_some(types), values });
    }
    let count = 2 + random.below(2);
    let states: Vec<usize> = (0..count).map(|_| 2 + random.below(2)).collect();
    let states = if alike { vec![states[0]; count] } else { states };
    let locals: Vec<usize> = (0..count).map(|_| random.below(2)).collect();
    let locals = if alike { vec![locals[0]; count] } else { locals };
    let first_initial = random.between(0, 1);
    for (process, &own) in locals.iter().enumerate() {
        for number in 0..own {
            let initial = if alike { first_initial } else { random.between(0, 1) };
            variables.push(Variable {
                owner: Some(process),
                name: format!("x{number}"),
                range: BYTE,
                initial: vec![initial],
                is_array: false,
            });
        }
    }
    let mut system = RandomDve { variables, channels, processes: Vec::new(), synchronous };
    for process in 0..count {
        let made = if alike && process > 0 {
            system.renamed(process)
        } else {
            system.process(&mut random, process, &states, alike)
        };
        system.processes.push(made);
    }
    system
}

impl RandomDve {
    fn process(&self, random: &mut Random, process: usize, states: &[usize], alike: bool) -> Process {
        let own = states[process];
        let committed = if !self.synchronous && random.percent(30) { vec![random.below(own)] } else { Vec::new() };
        let mut transitions = Vec::new();
        for _ in 0..own + random.below(3) {
            let guard = random.percent(70).then(|| self.expression(random, process, states, alike, 2));
            let sync = if !self.channels.is_empty() && random.percent(55) {
                let channel = random.below(self.channels.len());
                let sends = random.percent(50);
                let values = (0..self.channels[channel].values)
                    .map(|_| match sends {
                        true => self.expression(random, process, states, alike, 1),
                        false => self.variable(random, process, states, alike, true),
                    })
                    .collect();
                Some((channel, sends, values))
            } else {
                None
            };
            let effects = (0..random.below(3))
                .map(|_| {
                    let target = self.variable(random, process, states, alike, true);
                    let value = self.expression(random, process, states, alike, 2);
                    // Mostly small numbers, so that there are few states.
                    let value = if random.percent(80) {
                        Expression::Binary("%", value.into(), Expression::Number(3).into())
                    } else {
                        value
                    };
                    (target, value)
                })
                .collect();
            transitions.push(Transition { from: random.below(own), to: random.below(own), guard, sync, effects });
        }
        Process { states: own, initial: random.below(own), committed, transitions }
    }

    /// The first process with the variables of another one.
    fn renamed(&self, process: usize) -> Process {
        let rename = |expression: &Expression| self.rename(expression, process);
        let mut made = self.processes[0].clone();
        for transition in &mut made.transitions {
            transition.guard = transition.guard.as_ref().map(rename);
            if let Some((_, _, values)) = &mut transition.sync {
                *values = values.iter().map(rename).collect();
            }
            for (target, value) in &mut transition.effects {
                (*target, *value) = (rename(target), rename(value));
            }
        }
        made
    }

    fn rename(&self, expression: &Expression, process: usize) -> Expression {
        let inner = |it: &Expression| Box::new(self.rename(it, process));
        match expression {
            Expression::Number(_) => expression.clone(),
            Expression::Variable(number, index) => {
                let variable = &self.variables[*number];
                let number = match variable.owner {
                    None => *number,
                    Some(_) => self
                        .variables
                        .iter()
                        .position(|it| it.owner == Some(process) && it.name == variable.name)
                        .expect("processes that are alike have the same variables"),
                };
                Expression::Variable(number, index.as_ref().map(|index| inner(index)))
            }
            Expression::InState(_, state) => Expression::InState(process, *state),
            Expression::Not(it) => Expression::Not(inner(it)),
            Expression::Negate(it) => Expression::Negate(inner(it)),
            Expression::Binary(operator, left, right) => Expression::Binary(operator, inner(left), inner(right)),
        }
    }

    /// A variable; processes that are alike mention only themselves.
    fn variable(&self, random: &mut Random, process: usize, states: &[usize], alike: bool, own: bool) -> Expression {
        let is_seen = |it: &Variable| it.owner.is_none_or(|owner| owner == process || !(alike || own));
        let seen: Vec<usize> = (0..self.variables.len()).filter(|&it| is_seen(&self.variables[it])).collect();
        let number = *random.pick(&seen);
        let variable = &self.variables[number];
        let index = variable.is_array.then(|| {
            let index = match random.percent(70) {
                true => Expression::Number(random.below(variable.initial.len()) as i64),
                false => self.expression(random, process, states, alike, 0),
            };
            Box::new(index)
        });
        Expression::Variable(number, index)
    }

    fn expression(
        &self,
        random: &mut Random,
        process: usize,
        states: &[usize],
        alike: bool,
        depth: usize,
    ) -> Expression {
        if depth == 0 || random.percent(25) {
            return match random.below(3) {
                0 => Expression::Number(random.between(0, 3)),
                1 if depth > 0 => self.variable(random, process, states, alike, false),
                _ => {
                    let other = if alike { process } else { random.below(states.len()) };
                    Expression::InState(other, random.below(states[other]))
                }
            };
        }
        let mut inner = || Box::new(self.expression(random, process, states, alike, depth - 1));
        let (left, right) = (inner(), inner());
        match random.below(12) {
            0 => Expression::Not(left),
            1 => Expression::Negate(left),
            _ => {
                const OPERATORS: [&str; 20] = [
                    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "&&", "||", "imply", "&",
                    "|", "^", "<<",
                ];
                Expression::Binary(OPERATORS[random.below(OPERATORS.len())], left, right)
            }
        }
    }

    /// The text of the system.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let ty = |range: (i64, i64)| if range == BYTE { "byte" } else { "int" };
        let declare = |text: &mut String, it: &Variable| {
            let values: Vec<String> = it.initial.iter().map(ToString::to_string).collect();
            let _ = match it.is_array {
                true => writeln!(text, "{} {}[{}] = {{{}}};", ty(it.range), it.name, values.len(), values.join(", ")),
                false => writeln!(text, "{} {} = {};", ty(it.range), it.name, values[0]),
            };
        };
        for variable in self.variables.iter().filter(|it| it.owner.is_none()) {
            declare(&mut text, variable);
        }
        for (number, channel) in self.channels.iter().enumerate() {
            let _ = match &channel.types {
                Some(types) => {
                    let types: Vec<&str> = types.iter().map(|&range| ty(range)).collect();
                    writeln!(text, "channel {{{}}} c{number}[{}];", types.join(", "), channel.capacity)
                }
                None => writeln!(text, "channel c{number};"),
            };
        }
        for (number, process) in self.processes.iter().enumerate() {
            let _ = writeln!(text, "process P_{number} {{");
            for variable in self.variables.iter().filter(|it| it.owner == Some(number)) {
                declare(&mut text, variable);
            }
            let states: Vec<String> = (0..process.states).map(|state| format!("s{state}")).collect();
            let _ = writeln!(text, "state {};\ninit s{};", states.join(", "), process.initial);
            if let Some(committed) = process.committed.first() {
                let _ = writeln!(text, "commit s{committed};");
            }
            let transitions: Vec<String> =
                process.transitions.iter().map(|it| self.transition_text(it, number)).collect();
            let _ = writeln!(text, "trans\n {};\n}}", transitions.join(",\n "));
        }
        let _ = writeln!(text, "system {};", if self.synchronous { "sync" } else { "async" });
        text
    }

    fn transition_text(&self, transition: &Transition, process: usize) -> String {
        let mut text = format!("s{} -> s{} {{", transition.from, transition.to);
        if let Some(guard) = &transition.guard {
            let _ = write!(text, " guard {};", self.expression_text(guard, process));
        }
        if let Some((channel, sends, values)) = &transition.sync {
            let sign = if *sends { '!' } else { '?' };
            let values: Vec<String> = values.iter().map(|it| self.expression_text(it, process)).collect();
            let _ = match &values[..] {
                [] => write!(text, " sync c{channel}{sign};"),
                _ if self.channels[*channel].types.is_some() => {
                    write!(text, " sync c{channel}{sign}{{{}}};", values.join(", "))
                }
                values => write!(text, " sync c{channel}{sign}{};", values[0]),
            };
        }
        if !transition.effects.is_empty() {
            let effects = transition.effects.iter().map(|(target, value)| {
                format!("{} = {}", self.expression_text(target, process), self.expression_text(value, process))
            });
            let _ = write!(text, " effect {};", effects.collect::<Vec<_>>().join(", "));
        }
        text + " }"
    }

    fn expression_text(&self, expression: &Expression, process: usize) -> String {
        let inner = |it: &Expression| self.expression_text(it, process);
        match expression {
            Expression::Number(value) => value.to_string(),
            Expression::Variable(number, index) => {
                let variable = &self.variables[*number];
                let owner = match variable.owner {
                    Some(owner) if owner != process => format!("P_{owner}->"),
                    _ => String::new(),
                };
                let index = index.as_ref().map_or_else(String::new, |index| format!("[{}]", inner(index)));
                format!("{owner}{}{index}", variable.name)
            }
            Expression::InState(of, state) => format!("P_{of}.s{state}"),
            Expression::Not(it) => format!("(not {})", inner(it)),
            Expression::Negate(it) => format!("(-{})", inner(it)),
            Expression::Binary(operator, left, right) => format!("({} {operator} {})", inner(left), inner(right)),
        }
    }

    /// Explores all states, up to a limit; none if there are more.
    pub fn explore(&self, limit: u64) -> Option<Explored> {
        let initial = State {
            cells: self.variables.iter().map(|it| it.initial.clone()).collect(),
            places: self.processes.iter().map(|it| it.initial).collect(),
            queues: vec![Vec::new(); self.channels.len()],
        };
        let mut explored = Explored { states: 1, deadlock: false, error: false };
        let mut seen = HashSet::from([initial.clone()]);
        let mut pending = vec![initial];
        while let Some(state) = pending.pop() {
            let successors = if self.synchronous { self.synchronous_steps(&state) } else { self.steps(&state) };
            explored.deadlock |= successors.is_empty();
            for successor in successors {
                let Ok(next) = successor else {
                    explored.error = true;
                    continue;
                };
                if seen.insert(next.clone()) {
                    explored.states += 1;
                    pending.push(next);
                }
            }
            if explored.states > limit {
                return None;
            }
        }
        Some(explored)
    }

    fn steps(&self, state: &State) -> Vec<Result<State, Error>> {
        let mut found = Vec::new();
        let is_committed = |process: usize| self.processes[process].committed.contains(&state.places[process]);
        let anyone = (0..self.processes.len()).any(is_committed);
        for (number, process) in self.processes.iter().enumerate() {
            for transition in process.transitions.iter().filter(|it| it.from == state.places[number]) {
                let buffered =
                    transition.sync.as_ref().is_none_or(|(channel, ..)| self.channels[*channel].capacity > 0);
                if buffered {
                    if !anyone || is_committed(number) {
                        found.extend(self.single(state, number, transition).transpose());
                    }
                    continue;
                }
                let Some((channel, true, values)) = &transition.sync else { continue };
                for (other, receiver) in self.processes.iter().enumerate().filter(|(other, _)| *other != number) {
                    if anyone && !is_committed(number) && !is_committed(other) {
                        continue;
                    }
                    for partner in receiver.transitions.iter().filter(|it| it.from == state.places[other]) {
                        if let Some((same, false, targets)) = &partner.sync
                            && same == channel
                        {
                            let pair = ((number, transition, &values[..]), (other, partner, &targets[..]));
                            found.extend(self.pair(state, *channel, pair.0, pair.1).transpose());
                        }
                    }
                }
            }
        }
        found
    }

    fn allowed(&self, state: &State, transition: &Transition) -> Result<bool, Error> {
        transition.guard.as_ref().map_or(Ok(true), |guard| Ok(self.value(guard, state)? != 0))
    }

    /// A transition that does not synchronise, if it is possible.
    fn single(&self, state: &State, process: usize, transition: &Transition) -> Result<Option<State>, Error> {
        let mut next = state.clone();
        if let Some((channel, sends, values)) = &transition.sync {
            let queue = &state.queues[*channel];
            let ready = if *sends { queue.len() < self.channels[*channel].capacity } else { !queue.is_empty() };
            if !ready || !self.allowed(state, transition)? {
                return Ok(None);
            }
            if *sends {
                next.queues[*channel].push(self.message(*channel, values, state)?);
            } else {
                let message = next.queues[*channel].remove(0);
                for (target, value) in values.iter().zip(message) {
                    self.assign(target, value, &mut next)?;
                }
            }
        } else if !self.allowed(state, transition)? {
            return Ok(None);
        }
        self.effects(process, transition, &mut next)?;
        next.places[process] = transition.to;
        Ok(Some(next))
    }

    fn pair(
        &self,
        state: &State,
        channel: usize,
        (sender, sending, values): (usize, &Transition, &[Expression]),
        (receiver, receiving, targets): (usize, &Transition, &[Expression]),
    ) -> Result<Option<State>, Error> {
        if !self.allowed(state, sending)? || !self.allowed(state, receiving)? {
            return Ok(None);
        }
        let mut next = state.clone();
        let message = self.message(channel, values, state)?;
        for (target, value) in targets.iter().zip(message) {
            self.assign(target, value, &mut next)?;
        }
        self.effects(sender, sending, &mut next)?;
        self.effects(receiver, receiving, &mut next)?;
        (next.places[sender], next.places[receiver]) = (sending.to, receiving.to);
        Ok(Some(next))
    }

    /// The values of a message.
    fn message(&self, channel: usize, values: &[Expression], state: &State) -> Result<Vec<i64>, Error> {
        let types = self.channels[channel].types.as_ref();
        let mut message = Vec::new();
        for (position, value) in values.iter().enumerate() {
            let value = self.value(value, state)?;
            if types.is_some_and(|types| value < types[position].0 || types[position].1 < value) {
                return Err(Error);
            }
            message.push(value);
        }
        Ok(message)
    }

    fn synchronous_steps(&self, state: &State) -> Vec<Result<State, Error>> {
        let mut choices: Vec<Vec<&Transition>> = vec![Vec::new()];
        let mut error = false;
        for (number, process) in self.processes.iter().enumerate() {
            let mut longer = Vec::new();
            for choice in &choices {
                for transition in process.transitions.iter().filter(|it| it.from == state.places[number]) {
                    match self.allowed(state, transition) {
                        Ok(true) => longer.push(choice.iter().copied().chain([transition]).collect()),
                        Ok(false) => {}
                        Err(Error) => error = true,
                    }
                }
            }
            choices = longer;
        }
        let mut found: Vec<Result<State, Error>> = Vec::new();
        if error {
            found.push(Err(Error));
        }
        for choice in choices {
            let mut next = state.clone();
            let mut step = || -> Result<(), Error> {
                for (process, transition) in choice.iter().enumerate() {
                    self.effects(process, transition, &mut next)?;
                    next.places[process] = transition.to;
                }
                Ok(())
            };
            let done = step();
            found.push(done.map(|()| next));
        }
        found
    }

    fn effects(&self, _process: usize, transition: &Transition, state: &mut State) -> Result<(), Error> {
        for (target, value) in &transition.effects {
            let value = self.value(value, state)?;
            self.assign(target, value, state)?;
        }
        Ok(())
    }

    fn assign(&self, target: &Expression, value: i64, state: &mut State) -> Result<(), Error> {
        let Expression::Variable(number, index) = target else { return Err(Error) };
        let index = index.as_ref().map_or(Ok(0), |index| self.value(index, state))?;
        let (low, high) = self.variables[*number].range;
        let cell = usize::try_from(index).ok().and_then(|index| state.cells[*number].get_mut(index)).ok_or(Error)?;
        if value < low || high < value {
            return Err(Error);
        }
        *cell = value;
        Ok(())
    }

    fn value(&self, expression: &Expression, state: &State) -> Result<i64, Error> {
        Ok(match expression {
            Expression::Number(value) => *value,
            Expression::Variable(number, index) => {
                let index = index.as_ref().map_or(Ok(0), |index| self.value(index, state))?;
                *usize::try_from(index).ok().and_then(|index| state.cells[*number].get(index)).ok_or(Error)?
            }
            Expression::InState(process, place) => i64::from(state.places[*process] == *place),
            Expression::Not(it) => i64::from(self.value(it, state)? == 0),
            Expression::Negate(it) => i64::from((self.value(it, state)? as i32).wrapping_neg()),
            Expression::Binary(operator, left, right) => {
                let left = self.value(left, state)?;
                match *operator {
                    "and" | "&&" if left == 0 => return Ok(0),
                    "or" | "||" if left != 0 => return Ok(1),
                    "imply" if left == 0 => return Ok(1),
                    _ => {}
                }
                let right = self.value(right, state)?;
                let (a, b) = (left as i32, right as i32);
                let number = match *operator {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    "/" => a.checked_div(b).ok_or(Error)?,
                    "%" => a.checked_rem(b).ok_or(Error)?,
                    "&" => a & b,
                    "|" => a | b,
                    "^" => a ^ b,
                    // Shifts by a negative number go the other way, and one by many places leaves nothing.
                    "<<" if b >= 32 => 0,
                    "<<" if b >= 0 => a << b,
                    "<<" => a >> b.unsigned_abs().min(31),
                    "==" => i32::from(a == b),
                    "!=" => i32::from(a != b),
                    "<" => i32::from(a < b),
                    "<=" => i32::from(a <= b),
                    ">" => i32::from(a > b),
                    ">=" => i32::from(a >= b),
                    _ => i32::from(b != 0),
                };
                i64::from(number)
            }
        })
    }
}
