//! The operational semantics, rule by rule, on terms.

use std::rc::Rc;

use quotient_ir::event_text;
use rustc_hash::{FxHashMap, FxHashSet};

use super::laws::{atomic, hide};
use super::{CAPACITIES, Check, Choice, Condition, Event, Number, Process, RandomCsp};
use crate::refinement_oracle::EventGraph;

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// The number of states.
    pub states: u64,
    /// The number of steps.
    pub steps: u64,
    /// The number of states after termination.
    pub terminated: u64,
    /// Whether there is a state without a step that is not termination.
    pub deadlock: bool,
    /// The values that the variables have together in some state, each once.
    pub valuations: Vec<Vec<i64>>,
}

/// Variables and channels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Data {
    variables: Vec<i64>,
    queues: Vec<Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    /// Whether it synchronises.
    Event(Event, bool),
    /// A message that was sent or received, as a text.
    Message(String),
    Send(usize, i64),
    /// With the name that is bound.
    Receive(usize, Rc<str>),
    Internal,
    Termination,
}

#[derive(Clone, Debug)]
struct Step {
    label: Label,
    data: Data,
    target: Rc<Process>,
    is_atomic: bool,
}

/// Too difficult for the front end: synchronised events that depend on the state.
struct Unsupported;

impl RandomCsp {
    /// Visits all states. None if there are too many, or something that the front end refuses.
    pub fn explore(&self, limit: u64) -> Option<Explored> {
        let data = Data { variables: self.initial.clone(), queues: vec![Vec::new(); CAPACITIES.len()] };
        let initial = (data, self.normal(&self.system).ok()?);
        let mut seen = FxHashSet::default();
        let mut pending = vec![initial.clone()];
        seen.insert(initial);
        let (mut steps, mut terminated, mut deadlock) = (0, 0, false);
        while let Some((data, process)) = pending.pop() {
            let mut all = self.steps(&process, &data).ok()?;
            all.retain(|step| !matches!(step.label, Label::Send(..) | Label::Receive(..)));
            if all.iter().any(|step| step.is_atomic) {
                all.retain(|step| step.is_atomic);
            }
            terminated += u64::from(*process == Process::Done);
            deadlock |= all.is_empty() && *process != Process::Done;
            steps += all.len() as u64;
            for step in all {
                let next = (step.data, self.normal(&step.target).ok()?);
                if seen.insert(next.clone()) {
                    pending.push(next);
                }
            }
            if seen.len() as u64 > limit {
                return None;
            }
        }
        let mut valuations: Vec<Vec<i64>> = seen.iter().map(|(data, _)| data.variables.clone()).collect();
        valuations.sort();
        valuations.dedup();
        Some(Explored { states: seen.len() as u64, steps, terminated, deadlock, valuations })
    }

    /// The graph of a process with its events. None if there are too many states, or something that the front end
    /// refuses.
    pub(super) fn graph(&self, process: &Rc<Process>, limit: usize) -> Option<EventGraph> {
        let data = Data { variables: self.initial.clone(), queues: vec![Vec::new(); CAPACITIES.len()] };
        let initial = (data, self.normal(process).ok()?);
        let mut numbers = FxHashMap::default();
        numbers.insert(initial.clone(), 0);
        let mut states = vec![initial];
        let mut graph = EventGraph::default();
        while graph.steps.len() < states.len() {
            let (data, process) = states[graph.steps.len()].clone();
            let mut all = self.steps(&process, &data).ok()?;
            all.retain(|step| !matches!(step.label, Label::Send(..) | Label::Receive(..)));
            if all.iter().any(|step| step.is_atomic) {
                all.retain(|step| step.is_atomic);
            }
            let mut steps = Vec::new();
            for step in all {
                let event = match &step.label {
                    Label::Event((name, values), _) => Some(event_text(name, values)),
                    Label::Message(text) => Some(text.clone()),
                    Label::Termination => Some("✓".to_owned()),
                    Label::Send(..) | Label::Receive(..) | Label::Internal => None,
                };
                let next = (step.data, self.normal(&step.target).ok()?);
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                steps.push((event, number));
            }
            graph.steps.push(steps);
            if states.len() > limit {
                return None;
            }
        }
        Some(graph)
    }

    /// A term in which compositions that begin are not hidden behind names.
    fn normal(&self, process: &Rc<Process>) -> Result<Rc<Process>, Unsupported> {
        let normal = match &**process {
            Process::Sequence(first, second) => return Ok(self.sequence(self.normal(first)?, second)),
            Process::Interrupt(first, second) => return Ok(self.interrupt(self.normal(first)?, second)),
            Process::Hide(inner, events) => return Ok(hide(self.normal(inner)?, events)),
            Process::Atomic(inner) => return Ok(atomic(self.normal(inner)?)),
            Process::Interleave(parts) => {
                Process::Interleave(parts.iter().map(|part| self.normal(part)).collect::<Result<_, _>>()?)
            }
            Process::Parallel(parts, alphabets) => {
                let alphabets = self.alphabets(parts, alphabets)?;
                let parts = parts.iter().map(|part| self.normal(part)).collect::<Result<_, _>>()?;
                Process::Parallel(parts, Some(alphabets))
            }
            Process::Reference(..) if self.begins_composition(process) => {
                let Process::Reference(definition, argument) = &**process else { unreachable!("matched above") };
                return self.normal(&self.body(*definition, argument));
            }
            _ => return Ok(process.clone()),
        };
        Ok(Rc::new(normal))
    }

    fn begins_composition(&self, process: &Process) -> bool {
        match process {
            Process::Reference(definition, argument) => {
                constant(argument).is_some() && self.begins_composition(&self.body(*definition, argument))
            }
            Process::Sequence(first, _) | Process::Interrupt(first, _) => self.begins_composition(first),
            Process::Hide(inner, _) | Process::Atomic(inner) => self.begins_composition(inner),
            Process::Interleave(_) | Process::Parallel(..) => true,
            _ => false,
        }
    }

    fn body(&self, definition: usize, argument: &Number) -> Rc<Process> {
        substitute(&self.definitions[definition], "i", argument)
    }

    fn alphabets(
        &self,
        parts: &[Rc<Process>],
        known: &Option<Rc<Vec<Vec<Event>>>>,
    ) -> Result<Rc<Vec<Vec<Event>>>, Unsupported> {
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let mut all = Vec::new();
        for part in parts {
            let (mut events, mut seen) = (Vec::new(), FxHashSet::default());
            self.collect(part, &mut events, &mut seen)?;
            events.sort();
            events.dedup();
            all.push(events);
        }
        // What only one part has does not distinguish compositions.
        let others = all.clone();
        for (part, events) in all.iter_mut().enumerate() {
            let has = |alphabet: &[Event], (name, values): &Event| {
                alphabet.iter().any(|(it, others)| it == name && others.len() == values.len())
            };
            events.retain(|event| {
                others.iter().enumerate().any(|(other, alphabet)| other != part && has(alphabet, event))
            });
        }
        Ok(Rc::new(all))
    }

    /// The events without a block that occur in a process.
    fn collect(
        &self,
        process: &Rc<Process>,
        events: &mut Vec<Event>,
        seen: &mut FxHashSet<(usize, Number)>,
    ) -> Result<(), Unsupported> {
        match &**process {
            Process::Stop | Process::Skip | Process::Done => {}
            Process::Reference(definition, argument) => {
                // What varies is left to the front end, which may refuse it.
                let Some(value) = constant(argument) else { return Err(Unsupported) };
                if seen.insert((*definition, Number::Constant(value))) {
                    self.collect(&self.body(*definition, argument), events, seen)?;
                }
            }
            Process::Event(name, arguments, block, next) => {
                if block.is_none() {
                    let values: Option<Vec<i64>> = arguments.iter().map(constant).collect();
                    events.push((name.clone(), values.ok_or(Unsupported)?));
                }
                self.collect(next, events, seen)?;
            }
            Process::Output(_, _, next) | Process::Input(_, _, next) => {
                self.collect(next, events, seen)?;
            }
            Process::Guard(_, next) => self.collect(next, events, seen)?,
            Process::If(_, _, then, otherwise) => {
                self.collect(then, events, seen)?;
                self.collect(otherwise, events, seen)?;
            }
            Process::Choice(_, parts) | Process::Interleave(parts) | Process::Parallel(parts, _) => {
                for part in parts {
                    self.collect(part, events, seen)?;
                }
            }
            Process::Sequence(first, second) | Process::Interrupt(first, second) => {
                self.collect(first, events, seen)?;
                self.collect(second, events, seen)?;
            }
            Process::Hide(inner, hidden) => {
                let mut inside = Vec::new();
                self.collect(inner, &mut inside, seen)?;
                inside.retain(|event| !hidden.contains(event));
                events.extend(inside);
            }
            Process::Atomic(inner) => self.collect(inner, events, seen)?,
        }
        Ok(())
    }

    fn steps(&self, process: &Rc<Process>, data: &Data) -> Result<Vec<Step>, Unsupported> {
        let one = |label: Label, data: &Data, target: &Rc<Process>| Step {
            label,
            data: data.clone(),
            target: target.clone(),
            is_atomic: false,
        };
        let rewrapped = |steps: Vec<Step>, wrap: &dyn Fn(Rc<Process>) -> Rc<Process>| {
            let rewrap = |step: Step| match step.label {
                Label::Termination => step,
                _ => Step { target: wrap(step.target), ..step },
            };
            steps.into_iter().map(rewrap).collect::<Vec<Step>>()
        };
        Ok(match &**process {
            Process::Stop | Process::Done => Vec::new(),
            Process::Skip => vec![one(Label::Termination, data, &Rc::new(Process::Done))],
            Process::Reference(definition, argument) => {
                let value = Number::Constant(evaluate(argument, data));
                self.steps(&self.body(*definition, &value), data)?
            }
            Process::Event(name, arguments, block, next) => {
                let values = arguments.iter().map(|argument| evaluate(argument, data)).collect();
                let mut step = one(Label::Event((name.clone(), values), block.is_none()), data, next);
                for (variable, value) in block.iter().flatten() {
                    step.data.variables[*variable] = evaluate(value, &step.data);
                }
                vec![step]
            }
            Process::Output(channel, value, next) => {
                let value = evaluate(value, data);
                if CAPACITIES[*channel] == 0 {
                    return Ok(vec![one(Label::Send(*channel, value), data, next)]);
                }
                if data.queues[*channel].len() == CAPACITIES[*channel] {
                    return Ok(Vec::new());
                }
                let mut step = one(Label::Message(format!("c{channel}!{value}")), data, next);
                step.data.queues[*channel].push(value);
                vec![step]
            }
            Process::Input(channel, name, next) => {
                if CAPACITIES[*channel] == 0 {
                    return Ok(vec![one(Label::Receive(*channel, name.clone()), data, next)]);
                }
                let Some(&value) = data.queues[*channel].first() else { return Ok(Vec::new()) };
                let next = substitute(next, name, &Number::Constant(value));
                let mut step = one(Label::Message(format!("c{channel}?{value}")), data, &next);
                step.data.queues[*channel].remove(0);
                vec![step]
            }
            Process::Guard(condition, next) => match holds(condition, data) {
                true => self.steps(next, data)?,
                false => Vec::new(),
            },
            Process::If(check, condition, then, otherwise) => match (check, holds(condition, data)) {
                (Check::Separate | Check::Blocking, true) => vec![one(Label::Internal, data, then)],
                (Check::Separate, false) => vec![one(Label::Internal, data, otherwise)],
                (Check::Blocking, false) => Vec::new(),
                (Check::Atomic, true) => self.steps(then, data)?,
                (Check::Atomic, false) => self.steps(otherwise, data)?,
            },
            Process::Choice(Choice::General, parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.steps(part, data)?);
                }
                all
            }
            Process::Choice(Choice::Internal, parts) => {
                parts.iter().map(|part| one(Label::Internal, data, part)).collect()
            }
            Process::Choice(Choice::External, parts) => {
                let mut all = Vec::new();
                for (position, part) in parts.iter().enumerate() {
                    for mut step in self.steps(part, data)? {
                        if step.label == Label::Internal {
                            let mut parts = parts.clone();
                            parts[position] = step.target;
                            step.target = Rc::new(Process::Choice(Choice::External, parts));
                        }
                        all.push(step);
                    }
                }
                all
            }
            Process::Interleave(parts) => self.together(parts, None, data)?,
            Process::Parallel(parts, alphabets) => {
                let alphabets = self.alphabets(parts, alphabets)?;
                self.together(parts, Some(&alphabets), data)?
            }
            Process::Sequence(first, second) => {
                let follow = |step: Step| match step.label {
                    Label::Termination => Step { label: Label::Internal, target: second.clone(), ..step },
                    _ if *step.target == Process::Skip => Step { target: second.clone(), ..step },
                    _ => Step { target: self.sequence(step.target, second), ..step },
                };
                self.steps(first, data)?.into_iter().map(follow).collect()
            }
            Process::Interrupt(first, second) => {
                let mut all = rewrapped(self.steps(first, data)?, &|target| self.interrupt(target, second));
                for mut step in self.steps(second, data)? {
                    if step.label == Label::Internal {
                        step.target = self.interrupt(first.clone(), &step.target);
                    }
                    all.push(step);
                }
                all
            }
            Process::Hide(inner, hidden) => {
                let mut all = rewrapped(self.steps(inner, data)?, &|target| hide(target, hidden));
                for step in &mut all {
                    if matches!(&step.label, Label::Event(event, _) if hidden.contains(event)) {
                        step.label = Label::Internal;
                    }
                }
                all
            }
            Process::Atomic(inner) => {
                let mut all = rewrapped(self.steps(inner, data)?, &atomic);
                all.iter_mut().for_each(|step| step.is_atomic = true);
                all
            }
        })
    }

    /// The steps of a composition.
    fn together(
        &self,
        parts: &[Rc<Process>],
        alphabets: Option<&Rc<Vec<Vec<Event>>>>,
        data: &Data,
    ) -> Result<Vec<Step>, Unsupported> {
        let all = parts.iter().map(|part| self.steps(part, data)).collect::<Result<Vec<_>, _>>()?;
        let rebuild = |changed: &[(usize, Rc<Process>)]| {
            let mut parts = parts.to_vec();
            for (part, target) in changed {
                parts[*part] = target.clone();
            }
            Rc::new(match alphabets {
                Some(alphabets) => Process::Parallel(parts, Some(alphabets.clone())),
                None => Process::Interleave(parts),
            })
        };
        let mut joined = Vec::new();
        for (part, steps) in all.iter().enumerate() {
            for step in steps {
                match (&step.label, alphabets) {
                    (Label::Termination, _) => {}
                    (Label::Event(event, true), Some(alphabets)) => {
                        let with: Vec<usize> = (0..parts.len())
                            .filter(|&other| other != part && alphabets[other].contains(event))
                            .collect();
                        let is_own = alphabets[part].contains(event);
                        if is_own && with.iter().any(|&other| other < part) {
                            continue;
                        }
                        let mut combinations = vec![(vec![(part, step.target.clone())], step.is_atomic)];
                        for other in with {
                            let fitting: Vec<&Step> = all[other].iter().filter(|it| it.label == step.label).collect();
                            combinations = combinations
                                .iter()
                                .flat_map(|(members, is_atomic)| {
                                    fitting.iter().map(move |it| {
                                        let mut members = members.clone();
                                        members.push((other, it.target.clone()));
                                        (members, *is_atomic || it.is_atomic)
                                    })
                                })
                                .collect();
                        }
                        for (members, is_atomic) in combinations {
                            let target = rebuild(&members);
                            joined.push(Step { target, is_atomic, ..step.clone() });
                        }
                    }
                    _ => joined.push(Step { target: rebuild(&[(part, step.target.clone())]), ..step.clone() }),
                }
                if let Label::Send(channel, value) = step.label {
                    for (other, others) in all.iter().enumerate().filter(|(other, _)| *other != part) {
                        for it in others {
                            let Label::Receive(same, name) = &it.label else { continue };
                            if *same != channel {
                                continue;
                            }
                            let received = substitute(&it.target, name, &Number::Constant(value));
                            joined.push(Step {
                                label: Label::Message(format!("c{channel}.{value}")),
                                data: data.clone(),
                                target: rebuild(&[(part, step.target.clone()), (other, received)]),
                                is_atomic: step.is_atomic || it.is_atomic,
                            });
                        }
                    }
                }
            }
        }
        let ends: Vec<Vec<&Step>> =
            all.iter().map(|steps| steps.iter().filter(|step| step.label == Label::Termination).collect()).collect();
        let count: usize = ends.iter().map(Vec::len).product();
        for number in 0..count {
            let mut rest = number;
            let mut is_atomic = false;
            for steps in &ends {
                is_atomic |= steps[rest % steps.len()].is_atomic;
                rest /= steps.len();
            }
            let target = Rc::new(Process::Done);
            joined.push(Step { label: Label::Termination, data: data.clone(), target, is_atomic });
        }
        Ok(joined)
    }
}

fn evaluate(number: &Number, data: &Data) -> i64 {
    match number {
        Number::Constant(value) => *value,
        Number::Variable(variable) => data.variables[*variable],
        Number::Bound(name) => unreachable!("`{name}` has no value"),
        Number::Next(inner, step) => (evaluate(inner, data) + step) % 3,
    }
}

fn holds(Condition { left, is_equal, right }: &Condition, data: &Data) -> bool {
    (evaluate(left, data) == *right) == *is_equal
}

fn constant(number: &Number) -> Option<i64> {
    match number {
        Number::Constant(value) => Some(*value),
        Number::Next(inner, step) => Some((constant(inner)? + step) % 3),
        Number::Variable(_) | Number::Bound(_) => None,
    }
}

fn known(Condition { left, is_equal, right }: &Condition) -> Option<bool> {
    Some((constant(left)? == *right) == *is_equal)
}

fn replaced(number: &Number, name: &str, value: &Number) -> Number {
    match number {
        Number::Bound(bound) if **bound == *name => value.clone(),
        Number::Next(inner, step) => {
            let next = Number::Next(Rc::new(replaced(inner, name, value)), *step);
            constant(&next).map_or(next, Number::Constant)
        }
        _ => number.clone(),
    }
}

/// A process with a value for a name.
fn substitute(process: &Rc<Process>, name: &str, value: &Number) -> Rc<Process> {
    let again = |process: &Rc<Process>| substitute(process, name, value);
    let all = |parts: &[Rc<Process>]| parts.iter().map(again).collect::<Vec<_>>();
    let condition = |condition: &Condition| {
        let condition = Condition { left: replaced(&condition.left, name, value), ..condition.clone() };
        // What is constant is evaluated: conditions with the same value are the same.
        known(&condition).map_or(condition, |holds| Condition { left: Number::Constant(0), is_equal: holds, right: 0 })
    };
    Rc::new(match &**process {
        Process::Stop | Process::Skip | Process::Done => return process.clone(),
        Process::Reference(definition, argument) => Process::Reference(*definition, replaced(argument, name, value)),
        Process::Event(event, arguments, block, next) => {
            let arguments = arguments.iter().map(|argument| replaced(argument, name, value)).collect();
            let block = block.as_ref().map(|block| {
                block.iter().map(|(variable, number)| (*variable, replaced(number, name, value))).collect()
            });
            Process::Event(event.clone(), arguments, block, again(next))
        }
        Process::Output(channel, number, next) => Process::Output(*channel, replaced(number, name, value), again(next)),
        // Names of inputs are different from all others.
        Process::Input(channel, bound, next) => Process::Input(*channel, bound.clone(), again(next)),
        Process::Guard(guard, next) => Process::Guard(condition(guard), again(next)),
        Process::If(check, it, then, otherwise) => Process::If(*check, condition(it), again(then), again(otherwise)),
        Process::Choice(choice, parts) => Process::Choice(*choice, all(parts)),
        Process::Interleave(parts) => Process::Interleave(all(parts)),
        Process::Parallel(parts, alphabets) => Process::Parallel(all(parts), alphabets.clone()),
        Process::Sequence(first, second) => Process::Sequence(again(first), again(second)),
        Process::Interrupt(first, second) => Process::Interrupt(again(first), again(second)),
        Process::Hide(inner, events) => Process::Hide(again(inner), events.clone()),
        Process::Atomic(inner) => Process::Atomic(again(inner)),
    })
}
