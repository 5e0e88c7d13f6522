//! Random pairs of processes that do similar things: a system, and a copy of it with changes.

use std::fmt::Write;
use std::rc::Rc;

use super::{Choice, Event, Generator, NONE, Number, Process, RandomCsp, VARIABLES, process_text};
use crate::random_murphi::Random;
use crate::refinement_oracle::EventGraph;

/// The claims about events that are made, without the processes.
const SENSES: [&str; 3] = ["refines", "refines<F>", "refines<FD>"];

/// Two processes in one program.
pub struct RandomRefinement {
    program: RandomCsp,
    other: Rc<Process>,
}

/// A program for a seed.
pub fn random_refinement(seed: u64) -> RandomRefinement {
    random_pair(seed, false)
}

/// A program for a seed in which mostly all parts of each process are alike up to their parameters.
pub fn random_symmetric_refinement(seed: u64) -> RandomRefinement {
    random_pair(seed, true)
}

fn random_pair(seed: u64, is_symmetric: bool) -> RandomRefinement {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let mut generator = Generator { random, events: 0, definitions: count, shares_names: true, is_symmetric };
    let definitions: Vec<Rc<Process>> = (0..count).map(|number| generator.definition(number)).collect();
    let initial = (0..VARIABLES)
        .map(|_| match is_symmetric && generator.random.percent(95) {
            true => NONE,
            false => generator.random.between(0, 2),
        })
        .collect();
    let system = generator.system();
    let mut all = definitions.clone();
    for definition in &definitions {
        all.push(generator.changed(definition, count));
    }
    let mut other = generator.changed(&system, count);
    let mut system = system;
    if generator.random.percent(60) {
        let hidden: Vec<Event> = generator.hidden();
        system = Rc::new(Process::Hide(system, hidden.clone()));
        let hidden = if generator.random.percent(70) { hidden } else { generator.hidden() };
        other = Rc::new(Process::Hide(other, hidden));
    }
    RandomRefinement { program: RandomCsp { initial, definitions: all, system }, other }
}

impl Generator {
    fn hidden(&mut self) -> Vec<Event> {
        let names = ["s0", "s1", "s2", "d0", "d1", "e0"];
        let names: Vec<&str> = names.into_iter().filter(|_| self.random.percent(50)).collect();
        let mut hidden: Vec<Event> = names.into_iter().map(|name| (name.into(), Vec::new())).collect();
        if self.is_symmetric && self.random.percent(50) {
            // Events of all parts, or now and then of some of them.
            let most = if self.random.percent(85) { NONE } else { self.random.between(0, 1) };
            hidden.extend((0..=most).map(|value| ("e0".into(), vec![value])));
        }
        hidden
    }

    /// A copy with changes now and then, in which references go to definitions that many further on.
    fn changed(&mut self, process: &Rc<Process>, shift: usize) -> Rc<Process> {
        let is_symmetric = self.is_symmetric;
        let mut several = |parts: &[Rc<Process>]| parts.iter().map(|part| self.changed(part, shift)).collect();
        let copy = match &**process {
            Process::Stop => Process::Stop,
            Process::Skip => Process::Skip,
            Process::Done => Process::Done,
            Process::Reference(definition, Number::Constant(argument)) if is_symmetric => {
                let argument = if self.random.percent(6) { self.random.between(0, 2) } else { *argument };
                Process::Reference(definition + shift, Number::Constant(argument))
            }
            Process::Reference(definition, argument) => Process::Reference(definition + shift, argument.clone()),
            Process::Event(name, arguments, block, next) => {
                let next = self.changed(next, shift);
                let name = match self.random.percent(4) && block.is_none() && arguments.is_empty() {
                    true => format!("s{}", self.random.below(3)).into(),
                    false => name.clone(),
                };
                Process::Event(name, arguments.clone(), block.clone(), next)
            }
            Process::Output(channel, value, next) => {
                Process::Output(*channel, value.clone(), self.changed(next, shift))
            }
            Process::Input(channel, name, next) => Process::Input(*channel, name.clone(), self.changed(next, shift)),
            Process::Guard(condition, next) => Process::Guard(condition.clone(), self.changed(next, shift)),
            Process::If(check, condition, then, otherwise) => {
                let then = self.changed(then, shift);
                Process::If(*check, condition.clone(), then, self.changed(otherwise, shift))
            }
            Process::Choice(choice, parts) => {
                let parts = several(parts);
                let choice = match self.random.percent(30) {
                    true => *self.random.pick(&[Choice::General, Choice::External, Choice::Internal]),
                    false => *choice,
                };
                Process::Choice(choice, parts)
            }
            Process::Interleave(parts) => Process::Interleave(several(parts)),
            Process::Parallel(parts, _) => Process::Parallel(several(parts), None),
            Process::Sequence(first, second) => {
                let first = self.changed(first, shift);
                Process::Sequence(first, self.changed(second, shift))
            }
            Process::Interrupt(first, second) => {
                let first = self.changed(first, shift);
                Process::Interrupt(first, self.changed(second, shift))
            }
            Process::Hide(inner, events) => Process::Hide(self.changed(inner, shift), events.clone()),
            Process::Atomic(inner) => Process::Atomic(self.changed(inner, shift)),
        };
        let copy = Rc::new(copy);
        // What begins with a step still does.
        if !matches!(*copy, Process::Event(..)) || self.random.percent(88) {
            return copy;
        }
        let other = match self.random.below(3) {
            0 => Process::Stop,
            1 => Process::Event("s0".into(), Vec::new(), None, Rc::new(Process::Stop)),
            _ => return Rc::new(Process::Stop),
        };
        let choice = *self.random.pick(&[Choice::General, Choice::Internal]);
        Rc::new(Process::Choice(choice, vec![copy, Rc::new(other)]))
    }
}

impl RandomRefinement {
    /// The text, with the assertions in the order of [`RandomRefinement::answers`].
    pub fn text(&self) -> String {
        let mut text = self.program.declarations();
        let _ = writeln!(text, "A() = {};", process_text(&self.program.system));
        let _ = writeln!(text, "B() = {};", process_text(&self.other));
        for (left, right) in [("A", "B"), ("B", "A")] {
            for sense in SENSES {
                let _ = writeln!(text, "#assert {left}() {sense} {right}();");
            }
            let _ = writeln!(text, "#assert {left}() divergencefree;\n#assert {left}() deterministic;");
        }
        text
    }

    /// The graphs of the two processes, if they have at most this many states.
    pub fn graphs(&self, limit: usize) -> Option<[EventGraph; 2]> {
        Some([self.program.graph(&self.program.system, limit)?, self.program.graph(&self.other, limit)?])
    }

    /// What is right for each assertion of the text.
    pub fn answers([a, b]: &[EventGraph; 2]) -> Vec<bool> {
        use quotient_ir::Refinement::{Failures, FailuresDivergences, Traces};
        let mut answers = Vec::new();
        for (left, right) in [(a, b), (b, a)] {
            answers.extend([Traces, Failures, FailuresDivergences].map(|sense| left.refines(right, sense)));
            answers.extend([left.is_divergence_free(), left.is_deterministic()]);
        }
        answers
    }
}
