//! Unrollings: bounded checking, one step more at a time, and proofs by induction over simple paths.

use rustsat::types::Lit;

use crate::clauses::{Clauses, Frame, Halted, Limits};
use crate::formula::Bit;
use crate::runs::Found;
use crate::system::System;
use crate::watch::Watch;
use quotient_search::StopReason;

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
    /// The first frame that is a state.
    first: usize,
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
        Self { system, clauses, frames: vec![frame], first: usize::from(from_beginning) }
    }

    /// A step more.
    fn extend(&mut self) {
        let Self { system, clauses, frames, first: _ } = self;
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

    /// Requires that some functions of the last state differ from those of each state before.
    fn differs(&mut self, functions: &[Bit]) {
        let (last, before) = self.frames.split_last_mut().expect("there is a frame");
        for frame in &mut before[self.first..] {
            let mut differs = Vec::new();
            for &bit in functions {
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
    /// Functions that differ for any two states of a run, if such runs suffice.
    different: Option<&'s [Bit]>,
}

impl<'s> BoundedCheck<'s> {
    /// A check in which the first state of runs satisfies a predicate.
    ///
    /// The predicate holds in some state of each orbit of starts. It is required of the first state only. Starts are
    /// closed under the group, so that each run to something wrong has an image that begins in such a state, and the
    /// image is a run to something wrong, too. If it were required of the states after, that image would have to consist
    /// of representatives only, and there need not be one: a representative may have no successor that is one.
    pub(crate) fn new(system: &'s System, limits: &Limits, representative: Bit) -> Self {
        Self { unrolling: Unrolling::new(system, limits, true), representative, different: None }
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
            self.extend();
            if !self.unrolling.ask(&[], watch)? {
                return Ok(Bounded::Ends(depth));
            }
        }
    }

    fn extend(&mut self) {
        let is_first = self.unrolling.frames.len() == 1;
        self.unrolling.extend();
        if is_first {
            let representative = self.unrolling.last(self.representative);
            self.unrolling.clauses.add(&[representative]);
        }
        if let Some(different) = self.different {
            self.unrolling.differs(different);
        }
    }
}

/// How a proof by induction ends.
pub(crate) enum Induction {
    /// A run to something wrong, none of which is shorter.
    Found(Found),
    /// Nothing is wrong.
    Proved(Proof),
}

/// What a proof by induction rests on, in addition to that nothing is wrong within so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// No run is longer and has different states.
    Ends(usize),
    /// No path of this length through different states in which nothing is wrong leads to something wrong.
    Step(usize),
}

/// Induction over simple paths: whatever is wrong within `k` steps is found; and nothing is wrong if no longer run has
/// different states, or no path of `k` steps through different states in which nothing is wrong leads to something wrong.
/// States are different if one of some functions differs.
///
/// These functions agree for two states only if a symmetry maps one to the other. The argument: suppose that something
/// wrong can be reached, and take a shortest run to it, from any start. Nothing is wrong in the states before its last
/// one. If the functions agreed for the states at `i` and at `j > i`, a symmetry would map the state at `i` to that at
/// `j`, and the first `i` steps to a run from a start to the state at `j`. That run, continued from `j`, would lead to the
/// same end and be shorter. So all states of the run are different, and so are those of its image that begins with a
/// representative, and those of its last `k` steps. Either the run has at most `k` steps, and is found, or it refutes both
/// conditions for a proof. Only states of a run are mapped, which are reachable, and there the formula is symmetric.
///
/// # Errors
/// If the work was stopped.
pub(crate) fn by_induction<'s>(
    system: &'s System,
    limits: &Limits,
    representative: Bit,
    different: &'s [Bit],
    most: Option<u64>,
    watch: &mut Watch<'_>,
) -> Result<Induction, Halted> {
    let mut base = BoundedCheck { different: Some(different), ..BoundedCheck::new(system, limits, representative) };
    let mut step = Unrolling::new(system, limits, false);
    for length in 0.. {
        match base.run(Some(length), watch)? {
            Bounded::Found(found) => return Ok(Induction::Found(found)),
            Bounded::Ends(steps) => return Ok(Induction::Proved(Proof::Ends(steps))),
            Bounded::Nothing => {}
        }
        let bad = step.last(system.bad);
        if !step.ask(&[bad], watch)? {
            return Ok(Induction::Proved(Proof::Step(length as usize)));
        }
        if let Some(most) = most.filter(|&most| length >= most) {
            return Err(Halted::Stopped(StopReason::DepthLimit(most)));
        }
        step.clauses.add(&[!bad]);
        step.extend();
        step.differs(different);
    }
    unreachable!("the number of steps has no bound")
}

/// Checks a proof by induction with new solvers. That nothing is wrong within the length of the proof is checked without
/// symmetries; for longer runs, the proof rests on what makes states different.
///
/// # Errors
/// If the work was stopped.
pub(crate) fn confirms(
    system: &System,
    limits: &Limits,
    different: Option<&[Bit]>,
    proof: Proof,
    watch: &mut Watch<'_>,
) -> Result<bool, Halted> {
    let (Proof::Ends(length) | Proof::Step(length)) = proof;
    match BoundedCheck::new(system, limits, Bit::TRUE).run(Some(length as u64), watch)? {
        Bounded::Found(_) => return Ok(false),
        Bounded::Ends(_) => return Ok(true),
        Bounded::Nothing => {}
    }
    let Some(different) = different else { return Ok(false) };
    if let Proof::Ends(_) = proof {
        let mut runs = BoundedCheck { different: Some(different), ..BoundedCheck::new(system, limits, Bit::TRUE) };
        for _ in 0..=length {
            runs.extend();
        }
        return Ok(!runs.unrolling.ask(&[], watch)?);
    }
    let mut step = Unrolling::new(system, limits, false);
    for _ in 0..length {
        let bad = step.last(system.bad);
        step.clauses.add(&[!bad]);
        step.extend();
        step.differs(different);
    }
    let bad = step.last(system.bad);
    Ok(!step.ask(&[bad], watch)?)
}
