//! Unrollings: bounded checking, one step more at a time, and proofs by induction over simple paths.

use rustsat::types::Lit;

use crate::report::StopReason;
use crate::solver::clauses::{Clauses, Frame, Halted, Limits};
use crate::solver::formula::Bit;
use crate::solver::runs::Found;
use crate::solver::system::System;
use crate::solver::watch::Watch;

/// How a bounded check ends.
#[derive(Clone, Debug)]
pub(crate) enum Bounded {
    /// A run to something wrong, none of which is shorter.
    Found(Found),
    /// Every run ends before this many steps, and nothing is wrong in any of their states.
    Ends(usize),
    /// Nothing is wrong within the number of steps that was asked for.
    Nothing,
}

/// Frames, each one step after the other.
struct Unrolling<'s> {
    system: &'s System,
    clauses: Clauses<'s>,
    frames: Vec<Frame>,
}

impl<'s> Unrolling<'s> {
    /// One frame: the beginning, or any state that may exist.
    fn new(system: &'s System, limits: &Limits, from_beginning: bool) -> Self {
        let mut clauses = Clauses::new(&system.formula, limits);
        let mut frame = clauses.frame();
        let truth = clauses.truth();
        if from_beginning {
            frame.set(system.started, !truth);
            for &bit in system.bits[..system.slots].iter().flatten() {
                frame.set(bit, !truth);
            }
        } else {
            frame.set(system.started, truth);
            let exists = clauses.literal(&mut frame, system.admitted);
            clauses.add(&[exists]);
        }
        Self { system, clauses, frames: vec![frame] }
    }

    /// A step more.
    fn extend(&mut self) {
        let Self { system, clauses, frames } = self;
        let last = frames.last_mut().expect("there is a frame");
        let step = clauses.literal(last, system.step);
        clauses.add(&[step]);
        let mut frame = clauses.frame();
        frame.set(system.started, clauses.truth());
        for (bits, next) in system.bits.iter().zip(&system.next) {
            for (&bit, &next) in bits.iter().zip(next) {
                let literal = clauses.literal(last, next);
                frame.set(bit, literal);
            }
        }
        let exists = clauses.literal(&mut frame, system.admitted);
        clauses.add(&[exists]);
        frames.push(frame);
    }

    /// The literal of a function in the last frame.
    fn last(&mut self, bit: Bit) -> Lit {
        let frame = self.frames.last_mut().expect("there is a frame");
        self.clauses.literal(frame, bit)
    }

    /// Asks the solver.
    fn ask(&mut self, assumed: &[Lit], watch: &mut Watch<'_>) -> Result<bool, Halted> {
        watch.tick(self.frames.len() as u64 - 1, self.clauses.bytes())?;
        self.clauses.is_satisfiable(assumed)
    }

    /// The run of the solution.
    fn run(&self) -> Found {
        let inputs = |frame: &Frame| -> Vec<(Bit, bool)> {
            let known = self.system.inputs.iter().filter_map(|&bit| Some((bit, frame.known(bit)?)));
            known.map(|(bit, literal)| (bit, self.clauses.value(literal))).collect()
        };
        let (last, before) = self.frames.split_last().expect("there is a frame");
        let taken = |frame| self.system.taken(&inputs(frame)).expect("a step is chosen");
        Found { steps: before.iter().map(taken).collect(), inputs: inputs(last) }
    }

    /// Requires that the last state differs from all before it.
    fn is_new(&mut self) {
        let (last, before) = self.frames.split_last_mut().expect("there is a frame");
        for frame in before {
            let mut differs = Vec::new();
            for &bit in self.system.bits[..self.system.slots].iter().flatten() {
                let (one, other) = (self.clauses.literal(frame, bit), self.clauses.literal(last, bit));
                if one == !other {
                    differs.push(self.clauses.truth());
                } else if one != other {
                    let differ = self.clauses.variable();
                    self.clauses.add(&[!differ, one, other]);
                    self.clauses.add(&[!differ, !one, !other]);
                    differs.push(differ);
                }
            }
            self.clauses.add(&differs);
        }
    }
}

/// A bounded check from the beginning, continued from one depth to the next.
pub(crate) struct BoundedCheck<'s> {
    unrolling: Unrolling<'s>,
    /// What the first state satisfies, if one state of each orbit of starts suffices.
    representative: Bit,
}

impl<'s> BoundedCheck<'s> {
    /// A check in which the first state of runs satisfies a predicate.
    ///
    /// The predicate holds in some state of each orbit of starts. It is required of the first state only. Starts are
    /// closed under the group, so that each run to something wrong has an image that begins in such a state, and the
    /// image is a run to something wrong, too. If it were required of the states after, that image would have to consist
    /// of representatives only, and there need not be one: a representative may have no successor that is one.
    pub(crate) fn new(system: &'s System, limits: &Limits, representative: Bit) -> Self {
        Self { unrolling: Unrolling::new(system, limits, true), representative }
    }

    /// Looks for something wrong, up to a number of steps in addition to the start.
    ///
    /// # Errors
    /// If the work was stopped.
    pub(crate) fn run(&mut self, most: Option<u64>, watch: &mut Watch<'_>) -> Result<Bounded, Halted> {
        loop {
            let depth = self.unrolling.frames.len() - 1;
            let bad = self.unrolling.last(self.unrolling.system.bad);
            if self.unrolling.ask(&[bad], watch)? {
                return Ok(Bounded::Found(self.unrolling.run()));
            }
            // The first frame is that of nothing.
            if most.is_some_and(|most| depth as u64 > most) {
                return Ok(Bounded::Nothing);
            }
            self.unrolling.clauses.add(&[!bad]);
            self.unrolling.extend();
            if depth == 0 {
                let representative = self.unrolling.last(self.representative);
                self.unrolling.clauses.add(&[representative]);
            }
            if !self.unrolling.ask(&[], watch)? {
                return Ok(Bounded::Ends(depth));
            }
        }
    }
}

/// How a proof by induction ends.
pub(crate) enum Induction {
    /// A run to something wrong, none of which is shorter.
    Found(Found),
    /// Nothing is wrong: runs end, or simple paths of this length without anything wrong do not lead to something wrong.
    Proved(usize),
}

/// Induction over simple paths: whatever is wrong within `k` steps is found; and if no path of `k` steps through
/// different states in which nothing is wrong leads to something wrong, nothing is.
///
/// # Errors
/// If the work was stopped.
pub(crate) fn by_induction(
    system: &System,
    limits: &Limits,
    representative: Bit,
    most: Option<u64>,
    watch: &mut Watch<'_>,
) -> Result<Induction, Halted> {
    let mut base = BoundedCheck::new(system, limits, representative);
    let mut step = Unrolling::new(system, limits, false);
    for length in 0.. {
        match base.run(Some(length), watch)? {
            Bounded::Found(found) => return Ok(Induction::Found(found)),
            Bounded::Ends(steps) => return Ok(Induction::Proved(steps)),
            Bounded::Nothing => {}
        }
        let bad = step.last(system.bad);
        if !step.ask(&[bad], watch)? {
            return Ok(Induction::Proved(length as usize));
        }
        if let Some(most) = most.filter(|&most| length >= most) {
            return Err(Halted::Stopped(StopReason::DepthLimit(most)));
        }
        step.clauses.add(&[!bad]);
        step.extend();
        step.is_new();
    }
    unreachable!("the number of steps has no bound")
}

/// Checks a proof by induction with new solvers and without symmetries.
///
/// # Errors
/// If the work was stopped.
pub(crate) fn confirms(system: &System, limits: &Limits, length: usize, watch: &mut Watch<'_>) -> Result<bool, Halted> {
    match BoundedCheck::new(system, limits, Bit::TRUE).run(Some(length as u64), watch)? {
        Bounded::Found(_) => return Ok(false),
        Bounded::Ends(_) => return Ok(true),
        Bounded::Nothing => {}
    }
    let mut step = Unrolling::new(system, limits, false);
    for _ in 0..length {
        let bad = step.last(system.bad);
        step.clauses.add(&[!bad]);
        step.extend();
        step.is_new();
    }
    let bad = step.last(system.bad);
    Ok(!step.ask(&[bad], watch)?)
}
