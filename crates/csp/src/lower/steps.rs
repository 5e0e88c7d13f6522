//! The operational semantics: the steps of a term.
//!
//! Values in a step are those of the state before it. A step of a composition whose parts are components of their own
//! ([`Term::Running`]) is only announced here ([`Via`]); `moves` puts it together.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Fairness, Span};

use super::alphabets;
use super::composition::{Labelled, compose};
use super::equality::{atomic, terminating};
use super::substitution::{Environment, Fixed, map_term, map_value};
use super::symbols::Symbols;
use super::terms::{At, Events, Pattern, Question, Statement, Term, Value, binary, is_composition};
use crate::syntax::tree::{Binary, Check, Operator};

/// How often references are followed without a step.
const UNFOLDING_LIMIT: usize = 100;

/// The most steps of a term.
const STEP_LIMIT: usize = 20_000;

/// The most work to find the positions of all processes: parts of terms that are built and looked at. It bounds time
/// and memory where few positions have many steps, or large terms.
pub(super) const WORK_LIMIT: usize = 20_000_000;

/// What is visible of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// Whether it synchronises: it has no block.
    Event {
        name: Rc<str>,
        arguments: Vec<Value>,
        joins: bool,
    },
    /// A message through a channel with a buffer: sent or received.
    Queue {
        channel: usize,
        indices: Vec<Value>,
        values: Vec<Value>,
        sends: bool,
    },
    /// A message through a channel without a buffer.
    Passed {
        channel: usize,
        indices: Vec<Value>,
        values: Vec<Value>,
    },
    /// Half of such a message.
    Send {
        channel: usize,
        indices: Vec<Value>,
        values: Vec<Value>,
    },
    /// The other half: the numbers of the captured values that it receives.
    Receive {
        channel: usize,
        indices: Vec<Value>,
        captured: Vec<u32>,
    },
    Internal,
    Termination,
}

/// What a step does besides changing the term.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Block(Rc<[Statement]>),
    Enqueue(usize, Vec<Value>, Vec<Value>, At),
    Dequeue(usize, Vec<Value>, At),
}

/// Where a captured value comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    Value(Value),
    /// The part of a message that is received.
    Message(usize),
}

/// A step that the parts of a running composition take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// Any step except termination.
    Parts(usize),
    /// Termination of all.
    End(usize),
}

/// A step of a term.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) guards: Vec<Value>,
    pub(super) label: Label,
    pub(super) captured: Vec<(u32, Origin)>,
    pub(super) actions: Vec<Action>,
    pub(super) target: Rc<Term>,
    pub(super) via: Option<Via>,
    /// Events that are hidden, for a step of parts.
    pub(super) hidden: Vec<Rc<[Events]>>,
    pub(super) is_atomic: bool,
    /// Whether its event is annotated.
    pub(super) fairness: Fairness,
    pub(super) span: Span,
}

impl Labelled for Step {
    fn label(&self) -> &Label {
        &self.label
    }
}

/// Computes steps.
pub(super) struct Stepper<'s, 't> {
    pub(super) symbols: &'s mut Symbols<'t>,
    /// The number of captured values so far.
    pub(super) captured: u32,
    /// Which definitions may terminate.
    pub(super) terminating: Vec<bool>,
    depth: usize,
    /// The work that was done, and the most that may be.
    pub(super) work: usize,
    work_limit: usize,
}

impl<'s, 't> Stepper<'s, 't> {
    pub(super) fn new(symbols: &'s mut Symbols<'t>, work_limit: usize) -> Self {
        let terminating = terminating(&symbols.definitions);
        Self { symbols, captured: 0, terminating, depth: 0, work: 0, work_limit }
    }

    fn capture(&mut self) -> u32 {
        self.captured += 1;
        self.captured - 1
    }

    /// Counts work; whether there was too much of it, which is reported.
    pub(super) fn spend(&mut self, work: usize, span: Span) -> bool {
        let was_enough = self.work <= self.work_limit;
        self.work = self.work.saturating_add(work);
        let is_enough = self.work <= self.work_limit;
        if was_enough && !is_enough {
            let message = "the processes of this model are too large, or there are too many of them";
            let error = Diagnostic::error("too-large", message, span);
            let error = error.with_help("use smaller constants, or fewer processes inside of choices and interrupts");
            let primary = error.primary.clone().filter(|_| span != Span::default());
            self.symbols.report(Diagnostic { primary, ..error });
        }
        !is_enough
    }

    /// The body of a definition for arguments. Those that depend on the state are captured.
    pub(super) fn unfold(&mut self, definition: usize, arguments: &[Value]) -> (Rc<Term>, Vec<(u32, Origin)>) {
        let mut captured = Vec::new();
        let mut environment = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let value = if argument.reads_state() {
                let number = self.capture();
                captured.push((number, Origin::Value(argument.clone())));
                Value::Captured(number)
            } else {
                argument.clone()
            };
            environment.push((self.symbols.definitions[definition].parameters[position].clone(), value));
        }
        let body = self.symbols.definitions[definition].body.clone();
        (map_term(&body, &mut Environment(environment)), captured)
    }

    /// All steps of a term; none if there was too much work.
    pub(super) fn steps(&mut self, term: &Rc<Term>) -> Vec<Step> {
        let steps = self.steps_of(term);
        // Each operator wraps every step of its operands.
        let span = steps.first().map_or(Span::default(), |step| step.span);
        if self.spend(1 + steps.len(), span) { Vec::new() } else { steps }
    }

    fn steps_of(&mut self, term: &Rc<Term>) -> Vec<Step> {
        match &**term {
            Term::Stop | Term::Done => Vec::new(),
            Term::Skip => vec![plain(Label::Termination, Rc::new(Term::Done), Span::default())],
            Term::Reference(definition, arguments, at) => self.reference(*definition, arguments, at.0),
            Term::Prefix { event, fairness, block, at, next } => {
                let label = match event {
                    Some((name, arguments)) => {
                        Label::Event { name: name.clone(), arguments: arguments.clone(), joins: block.is_none() }
                    }
                    None => Label::Internal,
                };
                let actions = block.iter().cloned().map(Action::Block).collect();
                vec![Step { actions, fairness: *fairness, ..plain(label, next.clone(), at.0) }]
            }
            Term::Output { channel, indices, values, block, at, next } => {
                vec![self.output(*channel, indices, values, block, *at, next)]
            }
            Term::Input { channel, indices, guard, patterns, block, at, next } => {
                vec![self.input(*channel, indices, guard.as_ref(), patterns, block, *at, next)]
            }
            Term::Guard(condition, next) => self.guarded(condition, next),
            Term::If(check, condition, then, otherwise, at) => match check {
                Check::Separate => {
                    let mut steps = Vec::new();
                    self.internal(condition, then, at.0, &mut steps);
                    self.internal(&condition.clone().negated(), otherwise, at.0, &mut steps);
                    steps
                }
                Check::Blocking => {
                    let mut steps = Vec::new();
                    self.internal(condition, then, at.0, &mut steps);
                    steps
                }
                Check::Atomic => {
                    let mut steps = self.guarded(condition, then);
                    steps.extend(self.guarded(&condition.clone().negated(), otherwise));
                    steps
                }
            },
            Term::Case(branches, default, at) => {
                let mut steps = Vec::new();
                let mut before = Value::Truth(true);
                for (condition, branch) in branches {
                    let here = binary(Binary::And, before.clone(), truth(condition));
                    self.internal(&here, branch, at.0, &mut steps);
                    before = binary(Binary::And, before, truth(condition).negated());
                }
                self.internal(&before, default, at.0, &mut steps);
                steps
            }
            Term::Several(Operator::Choice, parts) => parts.iter().flat_map(|part| self.steps(part)).collect(),
            Term::Several(Operator::Internal, parts) => {
                let internal = |part: &Rc<Term>| plain(Label::Internal, part.clone(), Span::default());
                parts.iter().map(internal).collect()
            }
            Term::Several(Operator::External, parts) => {
                let mut steps = Vec::new();
                for (position, part) in parts.iter().enumerate() {
                    for mut step in self.steps(part) {
                        // What is not visible does not decide.
                        if step.label == Label::Internal {
                            if self.spend(parts.len(), step.span) {
                                return Vec::new();
                            }
                            let mut parts = parts.clone();
                            parts[position] = step.target;
                            step.target = Rc::new(Term::Several(Operator::External, parts));
                        }
                        steps.push(step);
                    }
                }
                steps
            }
            Term::Several(Operator::Interleave, parts) => {
                self.composed(parts, None, |parts| Term::Several(Operator::Interleave, parts))
            }
            Term::Several(Operator::Parallel, parts) => {
                let alphabets = alphabets::of_parts(self, parts);
                self.steps(&Rc::new(Term::Parallel(parts.clone(), alphabets)))
            }
            Term::Parallel(parts, alphabets) => {
                self.composed(parts, Some(alphabets), |parts| Term::Parallel(parts, alphabets.clone()))
            }
            Term::Indexed(_, indices, _, at) => {
                let span = indices.first().map_or(at.0, |index| index.at.0);
                let message = "the range of this index depends on the state, or is too large";
                let error = Diagnostic::error("not-constant", message, span);
                self.symbols.report(error.with_help("ranges are constant, with at most 2,000 values"));
                Vec::new()
            }
            Term::Sequence(first, second) => {
                let mut steps = self.steps(first);
                for step in &mut steps {
                    if step.label == Label::Termination {
                        step.label = Label::Internal;
                        step.target = second.clone();
                    } else if *step.target == Term::Skip {
                        // As in PAT, there is no step between the last event and what follows.
                        step.target = second.clone();
                    } else {
                        step.target = self.sequence(step.target.clone(), second);
                    }
                }
                steps
            }
            Term::Interrupt(first, second) => {
                let mut steps = self.steps(first);
                for step in &mut steps {
                    if step.label != Label::Termination {
                        step.target = self.interrupt(step.target.clone(), second);
                    }
                }
                for mut step in self.steps(second) {
                    if step.label == Label::Internal {
                        step.target = self.interrupt(first.clone(), &step.target);
                    }
                    steps.push(step);
                }
                steps
            }
            Term::Hide(inner, events) => {
                let mut steps = self.steps(inner);
                for step in &mut steps {
                    match step.via {
                        Some(Via::Parts(_)) => step.hidden.push(events.clone()),
                        _ => self.hide(step, events),
                    }
                    if step.label != Label::Termination {
                        step.target = self.hiding(step.target.clone(), events);
                    }
                }
                steps
            }
            Term::Atomic(inner) => {
                let mut steps = self.steps(inner);
                for step in &mut steps {
                    step.is_atomic = true;
                    if step.label != Label::Termination {
                        step.target = atomic(step.target.clone());
                    }
                }
                steps
            }
            Term::Running(number) => {
                let announced = |via, label, target| Step { via: Some(via), ..plain(label, target, Span::default()) };
                vec![
                    // The label is that of the part; it is neither internal nor termination.
                    announced(Via::Parts(*number), PARTS, term.clone()),
                    announced(Via::End(*number), Label::Termination, Rc::new(Term::Done)),
                ]
            }
        }
    }

    fn reference(&mut self, definition: usize, arguments: &[Value], span: Span) -> Vec<Step> {
        if self.depth >= UNFOLDING_LIMIT {
            let it = &self.symbols.definitions[definition];
            let (name, at) = (it.name.clone(), it.span);
            let message = format!("`{name}` refers to itself without an event before");
            if !self.symbols.diagnostics.iter().any(|it| it.code == "unguarded-recursion") {
                let error = Diagnostic::error("unguarded-recursion", message, at).with_secondary(span, "reached here");
                self.symbols.report(error.with_help("write an event before the reference: `P = a -> P;`"));
            }
            return Vec::new();
        }
        self.depth += 1;
        let (body, captured) = self.unfold(definition, arguments);
        let mut steps = self.steps(&body);
        self.depth -= 1;
        if steps.len() > STEP_LIMIT {
            self.symbols.error("too-large", format!("a process has more than {STEP_LIMIT} steps at a time"), span);
            steps.clear();
        }
        for step in &mut steps {
            step.captured.splice(0..0, captured.iter().cloned());
        }
        steps
    }

    /// A condition as far as it is known without the state. Arguments of processes are left as they are: terms are compared
    /// before these are evaluated.
    fn known(&self, condition: &Value) -> Value {
        map_value(condition, &mut Fixed(self.symbols))
    }

    fn guarded(&mut self, condition: &Value, next: &Rc<Term>) -> Vec<Step> {
        let condition = self.known(condition);
        match condition.constant() {
            Some(0) => Vec::new(),
            Some(_) => self.steps(next),
            None => {
                let mut steps = self.steps(next);
                for step in &mut steps {
                    step.guards.insert(0, condition.clone());
                }
                steps
            }
        }
    }

    fn internal(&mut self, condition: &Value, next: &Rc<Term>, span: Span, steps: &mut Vec<Step>) {
        let condition = self.known(condition);
        let guards = match condition.constant() {
            Some(0) => return,
            Some(_) => Vec::new(),
            None => vec![condition],
        };
        steps.push(Step { guards, ..plain(Label::Internal, next.clone(), span) });
    }

    fn output(
        &mut self,
        channel: usize,
        indices: &[Value],
        values: &[Value],
        block: &Option<Rc<[Statement]>>,
        at: At,
        next: &Rc<Term>,
    ) -> Step {
        let (indices, values) = (indices.to_vec(), values.to_vec());
        let block = block.iter().cloned().map(Action::Block);
        if self.symbols.channels[channel].capacity == 0 {
            let label = Label::Send { channel, indices, values };
            return Step { actions: block.collect(), ..plain(label, next.clone(), at.0) };
        }
        let guards = vec![Value::Queue(Question::IsFull, channel, indices.clone()).negated()];
        let enqueue = Action::Enqueue(channel, indices.clone(), values.clone(), at);
        let actions = std::iter::once(enqueue).chain(block).collect();
        let label = Label::Queue { channel, indices, values, sends: true };
        Step { guards, actions, ..plain(label, next.clone(), at.0) }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an input")]
    fn input(
        &mut self,
        channel: usize,
        indices: &[Value],
        guard: Option<&Value>,
        patterns: &[Pattern],
        block: &Option<Rc<[Statement]>>,
        at: At,
        next: &Rc<Term>,
    ) -> Step {
        let indices = indices.to_vec();
        let is_buffered = self.symbols.channels[channel].capacity > 0;
        let mut guards = Vec::new();
        if is_buffered {
            guards.push(Value::Queue(Question::IsEmpty, channel, indices.clone()).negated());
        }
        let mut captured = Vec::new();
        let mut environment = Environment(Vec::new());
        let mut conditions = Vec::new();
        for (position, pattern) in patterns.iter().enumerate() {
            let number = self.capture();
            let origin = match is_buffered {
                true => Origin::Value(Value::Queue(Question::First(position), channel, indices.clone())),
                false => Origin::Message(position),
            };
            captured.push((number, origin));
            match pattern {
                Pattern::Bind(name) => environment.0.push((name.clone(), Value::Captured(number))),
                Pattern::Match(value) => {
                    let value = map_value(value, &mut environment);
                    conditions.push(binary(Binary::Equal, Value::Captured(number), value));
                }
            }
        }
        guards.extend(conditions);
        guards.extend(guard.map(|guard| map_value(guard, &mut environment)));
        let received: Vec<u32> = captured.iter().map(|(number, _)| *number).collect();
        // The block and what follows mention what is bound here.
        let carrier =
            Term::Prefix { event: None, fairness: Fairness::None, block: block.clone(), at, next: next.clone() };
        let carrier = Rc::new(carrier);
        let carrier = map_term(&carrier, &mut environment);
        let Term::Prefix { block, next, .. } = &*carrier else { unreachable!("a mapping preserves the form") };
        let block = block.iter().cloned().map(Action::Block);
        let (label, actions) = if is_buffered {
            let values = received.iter().map(|&number| Value::Captured(number)).collect();
            let dequeue = Action::Dequeue(channel, indices.clone(), at);
            let label = Label::Queue { channel, indices, values, sends: false };
            (label, std::iter::once(dequeue).chain(block).collect())
        } else {
            (Label::Receive { channel, indices, captured: received }, block.collect())
        };
        Step { guards, captured, actions, ..plain(label, next.clone(), at.0) }
    }

    /// The steps of a composition of terms.
    fn composed(
        &mut self,
        parts: &[Rc<Term>],
        alphabets: Option<&[Vec<super::terms::Event>]>,
        rebuild: impl Fn(Vec<Rc<Term>>) -> Term,
    ) -> Vec<Step> {
        let all: Vec<Vec<Step>> = parts.iter().map(|part| self.steps(part)).collect();
        let combinations = compose(&all, alphabets, &mut self.symbols.diagnostics);
        let span = all.iter().flatten().map(|step| step.span).find(|span| *span != Span::default());
        if self.spend(combinations.len().saturating_mul(1 + parts.len()), span.unwrap_or_default()) {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for combination in combinations {
            let mut targets = parts.to_vec();
            let mut joined = plain(combination.label.clone(), Rc::new(Term::Done), Span::default());
            for &(part, number) in &combination.members {
                let step = &all[part][number];
                targets[part] = step.target.clone();
                joined.guards.extend(step.guards.iter().cloned());
                joined.actions.extend(step.actions.iter().cloned());
                joined.is_atomic |= step.is_atomic;
                joined.fairness = joined.fairness.max(step.fairness);
                joined.span = if joined.span == Span::default() { step.span } else { joined.span };
                let message = match (&combination.label, &step.label) {
                    (Label::Passed { values, .. }, Label::Receive { .. }) => Some(values.clone()),
                    _ => None,
                };
                for (captured, origin) in &step.captured {
                    let origin = match (origin, &message) {
                        (Origin::Message(position), Some(values)) => Origin::Value(values[*position].clone()),
                        _ => origin.clone(),
                    };
                    joined.captured.push((*captured, origin));
                }
            }
            if let Some((left, right)) = combination.same_index(&all) {
                joined.guards.extend(equal_all(&left, &right));
            }
            if joined.label != Label::Termination {
                joined.target = Rc::new(rebuild(targets));
            }
            steps.push(joined);
        }
        steps
    }

    /// Makes a step internal if its event is hidden.
    fn hide(&mut self, step: &mut Step, events: &[Events]) {
        if let Label::Event { name, arguments, .. } = &step.label
            && alphabets::contains(self.symbols, events, name, arguments, step.span)
        {
            step.label = Label::Internal;
        }
    }

    /// Whether a term becomes a composition without a step. References with arguments that depend on the state do not:
    /// these are evaluated with the first step.
    pub(super) fn unfolds_to_composition(&mut self, term: &Rc<Term>, depth: usize) -> bool {
        match &**term {
            Term::Reference(definition, arguments, _) => {
                let is_deep = depth >= UNFOLDING_LIMIT;
                if is_deep || arguments.iter().any(Value::reads_state) {
                    return false;
                }
                let (body, _) = self.unfold(*definition, arguments);
                self.unfolds_to_composition(&body, depth + 1)
            }
            Term::Sequence(first, _) | Term::Interrupt(first, _) => self.unfolds_to_composition(first, depth),
            Term::Hide(inner, _) | Term::Atomic(inner) => self.unfolds_to_composition(inner, depth),
            other => is_composition(other) && !matches!(other, Term::Indexed(..)),
        }
    }
}

/// The label of an announced step.
const PARTS: Label = Label::Queue { channel: usize::MAX, indices: Vec::new(), values: Vec::new(), sends: false };

fn plain(label: Label, target: Rc<Term>, span: Span) -> Step {
    Step {
        guards: Vec::new(),
        label,
        captured: Vec::new(),
        actions: Vec::new(),
        target,
        via: None,
        hidden: Vec::new(),
        is_atomic: false,
        fairness: Fairness::None,
        span,
    }
}

/// A value as a truth value.
pub(super) fn truth(value: &Value) -> Value {
    if value.is_boolean() { value.clone() } else { binary(Binary::NotEqual, value.clone(), Value::Number(0)) }
}

/// The conditions under which two lists of values are equal, without those that always hold.
pub(super) fn equal_all(left: &[Value], right: &[Value]) -> Vec<Value> {
    let equal = left.iter().zip(right).map(|(left, right)| binary(Binary::Equal, left.clone(), right.clone()));
    equal.filter(|condition| *condition != Value::Truth(true)).collect()
}
