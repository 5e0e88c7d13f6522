//! Random CSP# programs, and a direct interpreter of the operational semantics over process terms.
//!
//! The interpreter shares nothing with the front end. A state is the values of variables, the contents of channels and a
//! term in which values are substituted; names of compositions are replaced by what they stand for. Terms are equal if
//! they are equal trees, with constant expressions evaluated, under a few laws (`laws`).
//!
//! References beside other processes go to later definitions only, and mostly so in positions where something follows,
//! so that the set of reachable terms is finite. Programs with more are left out by their numbers of states.

mod interpreter;
mod laws;
mod refinement;

use std::fmt::Write;
use std::rc::Rc;

pub use self::interpreter::Explored;
pub use self::refinement::{RandomRefinement, random_refinement, random_symmetric_refinement};
use crate::random_murphi::Random;

/// The number of variables.
const VARIABLES: usize = 2;
/// The capacities of channels.
const CAPACITIES: [usize; 3] = [0, 1, 2];

/// A number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Number {
    Constant(i64),
    Variable(usize),
    /// A parameter, or a variable of an input.
    Bound(Rc<str>),
    /// The sum of a number and a constant, modulo 3.
    Next(Rc<Number>, i64),
}

/// A comparison of a number with a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Condition {
    left: Number,
    is_equal: bool,
    right: i64,
}

/// The sorts of choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Choice {
    General,
    External,
    Internal,
}

/// The sorts of conditionals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Check {
    Separate,
    Atomic,
    Blocking,
}

/// An event: a name and what is behind its dots.
type Event = (Rc<str>, Vec<i64>);

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Process {
    Stop,
    Skip,
    Done,
    Reference(usize, Number),
    /// With assignments to variables, if there is a block.
    Event(Rc<str>, Vec<Number>, Option<Vec<(usize, Number)>>, Rc<Process>),
    Output(usize, Number, Rc<Process>),
    Input(usize, Rc<str>, Rc<Process>),
    Guard(Condition, Rc<Process>),
    If(Check, Condition, Rc<Process>, Rc<Process>),
    Choice(Choice, Vec<Rc<Process>>),
    Interleave(Vec<Rc<Process>>),
    /// With alphabets, as soon as they are known.
    Parallel(Vec<Rc<Process>>, Option<Rc<Vec<Vec<Event>>>>),
    Sequence(Rc<Process>, Rc<Process>),
    Interrupt(Rc<Process>, Rc<Process>),
    Hide(Rc<Process>, Vec<Event>),
    Atomic(Rc<Process>),
}

/// A program.
pub struct RandomCsp {
    initial: Vec<i64>,
    /// Each has one parameter.
    definitions: Vec<Rc<Process>>,
    system: Rc<Process>,
}

/// A program for a seed.
pub fn random_csp(seed: u64) -> RandomCsp {
    let mut random = Random::new(seed);
    let count = 2 + random.below(3);
    let mut generator = Generator { random, events: 0, definitions: count, shares_names: false, is_symmetric: false };
    let definitions = (0..count).map(|number| generator.definition(number)).collect();
    let initial = (0..VARIABLES).map(|_| generator.random.between(0, 2)).collect();
    let system = generator.system();
    RandomCsp { initial, definitions, system }
}

struct Generator {
    random: Random,
    events: usize,
    definitions: usize,
    /// Whether different events may have one name.
    shares_names: bool,
    /// Whether parameters are mostly only copied, so that processes that differ in them are alike.
    is_symmetric: bool,
}

/// A number that is no parameter of a part of a symmetric system.
const NONE: i64 = 3;

impl Generator {
    /// A composition of references.
    fn system(&mut self) -> Rc<Process> {
        let alike = self.random.below(self.definitions);
        let parts: Vec<Rc<Process>> = (0..2 + self.random.below(2))
            .map(|number| {
                let (definition, argument) = match self.is_symmetric {
                    true => (alike, number as i64),
                    false => (self.random.below(self.definitions), self.random.between(0, 2)),
                };
                Rc::new(Process::Reference(definition, Number::Constant(argument)))
            })
            .collect();
        Rc::new(match self.random.percent(35) {
            true => Process::Parallel(parts, None),
            false => Process::Interleave(parts),
        })
    }

    /// The number of an event, for its name.
    fn event(&mut self) -> usize {
        self.events += 1;
        if self.shares_names { self.events % 2 } else { self.events }
    }

    fn definition(&mut self, number: usize) -> Rc<Process> {
        self.process(if self.is_symmetric { 2 } else { 3 }, number, true, &["i".into()])
    }

    fn number(&mut self, bound: &[Rc<str>]) -> Number {
        if self.is_symmetric && self.random.percent(97) {
            return match self.random.below(6) {
                0 => Number::Constant(NONE),
                1 => Number::Variable(self.random.below(VARIABLES)),
                _ => Number::Bound(self.random.pick(bound).clone()),
            };
        }
        match self.random.below(6) {
            0 | 1 => Number::Constant(self.random.between(0, 2)),
            2 => Number::Variable(self.random.below(VARIABLES)),
            3 => {
                let inner = self.number(bound);
                Number::Next(Rc::new(inner), self.random.between(1, 2))
            }
            _ => Number::Bound(self.random.pick(bound).clone()),
        }
    }

    fn condition(&mut self, bound: &[Rc<str>]) -> Condition {
        let left = self.number(bound);
        let right = match self.is_symmetric && self.random.percent(95) {
            true => NONE,
            false => self.random.between(0, 2),
        };
        Condition { left, is_equal: self.random.percent(60), right }
    }

    /// A process in which references go to `from` or later definitions; at the end, also to itself.
    fn process(&mut self, depth: usize, from: usize, is_last: bool, bound: &[Rc<str>]) -> Rc<Process> {
        if depth == 0 {
            return self.leaf(from, is_last, bound);
        }
        let process = match self.random.below(20) {
            0..=7 => self.prefix(depth, from, is_last, bound),
            8 => Process::Guard(self.condition(bound), self.guarded(depth - 1, from, is_last, bound)),
            9 | 10 => {
                let check = *self.random.pick(&[Check::Separate, Check::Atomic, Check::Blocking]);
                let condition = self.condition(bound);
                let then = self.guarded(depth - 1, from, is_last, bound);
                let otherwise = match check {
                    Check::Blocking => Rc::new(Process::Skip),
                    _ => self.guarded(depth - 1, from, is_last, bound),
                };
                Process::If(check, condition, then, otherwise)
            }
            11..=13 => {
                let choice = *self.random.pick(&[Choice::General, Choice::General, Choice::External, Choice::Internal]);
                let parts = (0..2).map(|_| self.guarded(depth - 1, from, is_last, bound)).collect();
                Process::Choice(choice, parts)
            }
            14 => {
                let parts = (0..2).map(|_| self.process(depth - 1, from + 1, false, bound)).collect();
                Process::Interleave(parts)
            }
            15 => {
                let parts = (0..2).map(|_| self.process(depth - 1, from + 1, false, bound)).collect();
                Process::Parallel(parts, None)
            }
            16 | 17 => {
                let first = self.inside(depth - 1, from, is_last, bound);
                Process::Sequence(first, self.guarded(depth - 1, from, is_last, bound))
            }
            18 => match self.random.below(3) {
                0 => {
                    let first = self.process(depth - 1, from + 1, false, bound);
                    Process::Interrupt(first, self.guarded(depth - 1, from, is_last, bound))
                }
                1 => {
                    let first = self.inside(depth - 1, from, is_last, bound);
                    let next = Rc::new(if self.random.percent(50) { Process::Skip } else { Process::Stop });
                    let name = format!("s{}", self.random.below(3)).into();
                    Process::Interrupt(first, Rc::new(Process::Event(name, Vec::new(), None, next)))
                }
                _ => {
                    let inner = self.inside(depth - 1, from, is_last, bound);
                    let hidden = vec![(format!("s{}", self.random.below(3)).into(), Vec::new())];
                    Process::Hide(inner, hidden)
                }
            },
            _ => Process::Atomic(self.inside(depth - 1, from, is_last, bound)),
        };
        Rc::new(process)
    }

    /// A process inside of an operator. If it refers to the definition that it is part of, it grows, unless the laws for
    /// equal terms prevent that.
    fn inside(&mut self, depth: usize, from: usize, is_last: bool, bound: &[Rc<str>]) -> Rc<Process> {
        match self.random.percent(40) {
            true => self.guarded(depth, from, is_last, bound),
            false => self.process(depth, from + 1, false, bound),
        }
    }

    /// A process that begins with a step, so that references may follow.
    fn guarded(&mut self, depth: usize, from: usize, is_last: bool, bound: &[Rc<str>]) -> Rc<Process> {
        if depth == 0 || self.random.percent(60) {
            return Rc::new(self.prefix(depth.max(1), from, is_last, bound));
        }
        self.process(depth, from, is_last, bound)
    }

    fn prefix(&mut self, depth: usize, from: usize, is_last: bool, bound: &[Rc<str>]) -> Process {
        match self.random.below(10) {
            // Names that several processes share.
            0..=2 => {
                let name = format!("s{}", self.random.below(3)).into();
                Process::Event(name, Vec::new(), None, self.behind(depth, from, is_last, bound))
            }
            3..=5 => {
                let name = format!("e{}", self.event()).into();
                let least = usize::from(self.is_symmetric && self.random.percent(60));
                let arguments = (0..self.random.below(2).max(least)).map(|_| self.number(bound)).collect();
                let next = self.behind(depth, from, is_last, bound);
                Process::Event(name, arguments, None, next)
            }
            6 | 7 => {
                let name = format!("d{}", self.event()).into();
                let assignments =
                    (0..1 + self.random.below(2)).map(|_| (self.random.below(VARIABLES), self.number(bound))).collect();
                Process::Event(name, Vec::new(), Some(assignments), self.behind(depth, from, is_last, bound))
            }
            8 => {
                let channel = self.random.below(CAPACITIES.len());
                let value = self.number(bound);
                Process::Output(channel, value, self.behind(depth, from, is_last, bound))
            }
            _ => {
                self.events += 1;
                let channel = self.random.below(CAPACITIES.len());
                let name: Rc<str> = format!("x{}", self.events).into();
                let inner: Vec<Rc<str>> = bound.iter().cloned().chain([name.clone()]).collect();
                Process::Input(channel, name, self.behind(depth, from, is_last, &inner))
            }
        }
    }

    fn behind(&mut self, depth: usize, from: usize, is_last: bool, bound: &[Rc<str>]) -> Rc<Process> {
        match self.random.percent(40) {
            true => self.leaf(from, is_last, bound),
            false => self.process(depth - 1, from, is_last, bound),
        }
    }

    fn leaf(&mut self, from: usize, is_last: bool, bound: &[Rc<str>]) -> Rc<Process> {
        let first = if is_last { from } else { from.max(1) };
        Rc::new(match self.random.below(8) {
            0 => Process::Stop,
            1 | 2 => Process::Skip,
            _ if first < self.definitions => {
                let definition = first + self.random.below(self.definitions - first);
                Process::Reference(definition, self.number(bound))
            }
            _ => Process::Skip,
        })
    }
}

impl RandomCsp {
    /// Its text.
    pub fn text(&self) -> String {
        let mut text = self.declarations();
        let _ = writeln!(text, "System() = {};\n#assert System() deadlockfree;", process_text(&self.system));
        text
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        for (number, value) in self.initial.iter().enumerate() {
            let _ = writeln!(text, "var v{number} = {value};");
        }
        for (number, capacity) in CAPACITIES.iter().enumerate() {
            let _ = writeln!(text, "channel c{number} {capacity};");
        }
        for (number, definition) in self.definitions.iter().enumerate() {
            let _ = writeln!(text, "P{number}(i) = {};", process_text(definition));
        }
        text
    }
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Constant(value) => value.to_string(),
        Number::Variable(variable) => format!("v{variable}"),
        Number::Bound(name) => name.to_string(),
        Number::Next(inner, step) => format!("(({} + {step}) % 3)", number_text(inner)),
    }
}

fn condition_text(Condition { left, is_equal, right }: &Condition) -> String {
    format!("{} {} {right}", number_text(left), if *is_equal { "==" } else { "!=" })
}

fn process_text(process: &Process) -> String {
    let several = |symbol: &str, parts: &[Rc<Process>]| {
        let parts: Vec<String> = parts.iter().map(|part| process_text(part)).collect();
        format!("({})", parts.join(&format!(" {symbol} ")))
    };
    match process {
        Process::Stop | Process::Done => "Stop".into(),
        Process::Skip => "Skip".into(),
        Process::Reference(definition, argument) => format!("P{definition}({})", number_text(argument)),
        Process::Event(name, arguments, block, next) => {
            let arguments: String = arguments.iter().map(|argument| format!(".({})", number_text(argument))).collect();
            let block = block.as_ref().map_or_else(String::new, |block| {
                let all = block.iter().map(|(variable, value)| format!("v{variable} = {};", number_text(value)));
                format!("{{{}}}", all.collect::<Vec<_>>().join(" "))
            });
            format!("({name}{arguments}{block} -> {})", process_text(next))
        }
        Process::Output(channel, value, next) => {
            format!("(c{channel}!{} -> {})", number_text(value), process_text(next))
        }
        Process::Input(channel, name, next) => format!("(c{channel}?{name} -> {})", process_text(next)),
        Process::Guard(condition, next) => format!("([{}] {})", condition_text(condition), process_text(next)),
        Process::If(check, condition, then, otherwise) => {
            let word = match check {
                Check::Separate => "if",
                Check::Atomic => "ifa",
                Check::Blocking => "ifb",
            };
            let condition = condition_text(condition);
            match check {
                Check::Blocking => format!("({word} ({condition}) {{ {} }})", process_text(then)),
                _ => format!(
                    "({word} ({condition}) {{ {} }} else {{ {} }})",
                    process_text(then),
                    process_text(otherwise)
                ),
            }
        }
        Process::Choice(Choice::General, parts) => several("[]", parts),
        Process::Choice(Choice::External, parts) => several("[*]", parts),
        Process::Choice(Choice::Internal, parts) => several("<>", parts),
        Process::Interleave(parts) => several("|||", parts),
        Process::Parallel(parts, _) => several("||", parts),
        Process::Sequence(first, second) => format!("({}; {})", process_text(first), process_text(second)),
        Process::Interrupt(first, second) => {
            format!("({} interrupt {})", process_text(first), process_text(second))
        }
        Process::Hide(inner, events) => {
            let text = |(name, values): &Event| quotient_ir::event_text(name, values);
            let events: Vec<String> = events.iter().map(text).collect();
            format!("({} \\ {{{}}})", process_text(inner), events.join(", "))
        }
        Process::Atomic(inner) => format!("atomic {{ {} }}", process_text(inner)),
    }
}
