//! Runs of the model from sets of states: backwards to the starts, then forwards from state to state. The reference
//! interpreter replays them.

use quotient_ir::{Action, Fault, FaultKind, Interpreter, Outcome, Trace, TraceStep, Valuation, Violation, replay};

use crate::diagrams::Set;
use crate::search::{Halt, Search};
use quotient_booleans::Full;
use quotient_search::{EngineError, StopReason, failure};

/// Why there is no run.
pub(crate) enum NoRun {
    /// There is no room, or no time.
    Halt(Halt),
    /// What is wrong is not known to be so: the interpreter gives up there.
    Unknown(Fault),
    /// A defect.
    Error(EngineError),
}

impl From<Full> for NoRun {
    fn from(_: Full) -> Self {
        Self::Halt(Halt::Full)
    }
}

impl From<Halt> for NoRun {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<EngineError> for NoRun {
    fn from(error: EngineError) -> Self {
        Self::Error(error)
    }
}

impl Search<'_, '_> {
    /// A shortest run to a state of a set, or with symmetries to an image of one: its steps.
    ///
    /// # Errors
    /// If there is no room, or the set cannot be reached, which is a defect.
    fn steps_to(&mut self, states: &Set) -> Result<Vec<TraceStep>, NoRun> {
        let layers = match self.rings.clone() {
            Some(rings) => self.layers_of_rings(&rings, states)?,
            None => {
                let whole = self.orbits_of(&self.reached.clone())?;
                self.layers(&whole, states)?
            }
        };
        self.steps_through(&layers)
    }

    /// A shortest run to a state of a set, through states of another one.
    ///
    /// # Errors
    /// As for a run to anything that is wrong.
    pub(crate) fn steps_within(&mut self, whole: &Set, states: &Set) -> Result<Vec<TraceStep>, NoRun> {
        let layers = self.layers(whole, states)?;
        self.steps_through(&layers)
    }

    /// A run through some sets of states.
    fn steps_through(&mut self, layers: &[Set]) -> Result<Vec<TraceStep>, NoRun> {
        let missing = || NoRun::Error(EngineError::Rebuild("no action leads from one set of states to the next"));
        let (instance, first) = self.machine.start_into(&layers[0])?.ok_or_else(missing)?;
        let mut steps = vec![step(instance, first)];
        for layer in &layers[1..] {
            let from = steps.last().expect("there is a start").state.clone();
            let (instance, next) = self.machine.step_into(&from, layer)?.ok_or_else(missing)?;
            steps.push(step(instance, next));
        }
        Ok(steps)
    }

    /// Sets of states, from the starts on, each of which has a step into the next; the last one is in the given set.
    fn layers(&mut self, whole: &Set, states: &Set) -> Result<Vec<Set>, NoRun> {
        let initial = self.machine.initial.clone();
        let mut layers = vec![states.clone()];
        let mut known = states.clone();
        loop {
            let last = layers.last().expect("there is one").clone();
            let first = self.machine.diagrams.common(&last, &initial)?;
            if !self.machine.diagrams.is_empty(&first) {
                layers.reverse();
                layers[0] = first;
                return Ok(layers);
            }
            if let std::ops::ControlFlow::Break(reason) = self.observer.progress(&Default::default()) {
                return Err(NoRun::Halt(Halt::Stopped(reason)));
            }
            let before = self.machine.any_preimage(&last)?;
            let before = self.machine.diagrams.common(&before, whole)?;
            let before = self.machine.diagrams.without(&before, &known)?;
            if self.machine.diagrams.is_empty(&before) {
                return Err(NoRun::Error(EngineError::Rebuild("no start leads to a set of states")));
            }
            known = self.machine.diagrams.union(&known, &before)?;
            layers.push(before);
        }
    }

    /// The same through the rings of a search, of which each is as many steps from the starts; with symmetries, through
    /// their orbits.
    fn layers_of_rings(&mut self, rings: &[Set], states: &Set) -> Result<Vec<Set>, NoRun> {
        // The states are in a ring, or one step from the last.
        let mut depth = rings.len();
        for (number, ring) in rings.iter().enumerate() {
            let orbits = self.orbits_of(ring)?;
            if self.machine.diagrams.meet(&orbits, states)? {
                depth = number;
                break;
            }
        }
        let missing = || NoRun::Error(EngineError::Rebuild("no state of a ring leads to the next"));
        let mut layers = Vec::with_capacity(depth + 1);
        let mut target = states.clone();
        for number in (0..=depth).rev() {
            if let Some(ring) = rings.get(number) {
                let orbits = self.orbits_of(ring)?;
                target = self.machine.diagrams.common(&target, &orbits)?;
            }
            // One orbit is enough, and has a small diagram.
            let one = self.machine.pick(&target).ok_or_else(missing)?;
            let one = self.machine.state(&one)?;
            let orbit = self.orbits_of(&one)?;
            target = self.machine.any_preimage(&orbit)?;
            layers.push(orbit);
        }
        layers.reverse();
        Ok(layers)
    }

    /// The union of the orbits of some states.
    pub(crate) fn orbits_of(&mut self, states: &Set) -> Result<Set, Full> {
        match self.symmetries {
            None => Ok(states.clone()),
            Some((symmetries, _)) => symmetries.orbits(self.machine, states),
        }
    }

    /// The run to something that is wrong in a state of a set.
    ///
    /// # Errors
    /// If there is no room, or the interpreter disagrees, which is a defect.
    pub(crate) fn run_to(&mut self, states: &Set, interpreter: &Interpreter<'_>) -> Result<Trace, NoRun> {
        let steps = self.steps_to(states)?;
        let last = &steps.last().expect("there is a start").state;
        let violation = self.violation(last, interpreter)?;
        if let Some(fault) = violation.fault().filter(|fault| fault.kind == FaultKind::Exhausted) {
            return Err(NoRun::Unknown(fault.clone()));
        }
        replayed(steps, violation, interpreter)
    }

    /// What is wrong in a state, in the order in which other searches look for it.
    fn violation(&mut self, state: &Valuation, interpreter: &Interpreter<'_>) -> Result<Violation, NoRun> {
        let checks = self.checks;
        for &property in &checks.assumptions {
            if let Some(violation) = failure(interpreter, property, state, true) {
                return Ok(violation);
            }
        }
        if !interpreter.passes(state) {
            for &property in &checks.invariants {
                if let Some(violation) = failure(interpreter, property, state, false) {
                    return Ok(violation);
                }
            }
            for &property in checks.covers.iter().chain(&checks.liveness).chain(&checks.constraints) {
                if let Some(violation) = failure(interpreter, property, state, true) {
                    return Ok(violation);
                }
            }
        }
        let here = self.machine.state(state)?;
        if let Some((Action::Rule(rule), arguments)) = self.machine.failing_rule(&here)? {
            let fault = match interpreter.enabled(rule, &arguments, state) {
                Err(fault) => Some(fault),
                Ok(_) => match interpreter.fire(rule, &arguments, state) {
                    Outcome::Fault(fault) => Some(fault),
                    _ => None,
                },
            };
            let fault = fault.ok_or(EngineError::Rebuild("a step does not go wrong"))?;
            return Ok(Violation::Fault { action: Action::Rule(rule), arguments, fault });
        }
        Ok(Violation::Deadlock(self.options.deadlock))
    }
}

/// A run that the interpreter confirms.
pub(crate) fn replayed(
    steps: Vec<TraceStep>,
    violation: Violation,
    interpreter: &Interpreter<'_>,
) -> Result<Trace, NoRun> {
    let trace = Trace::new(steps, Some(violation));
    replay(interpreter, &trace).map_err(EngineError::from)?;
    Ok(trace)
}

/// The run of a start that causes a run-time error.
pub(crate) fn failing_start(
    (action, arguments): (Action, Vec<i64>),
    interpreter: &Interpreter<'_>,
) -> Result<Trace, NoRun> {
    let outcome = match action {
        Action::Start(start) => interpreter.run_start(start, &arguments),
        Action::Rule(_) => Outcome::Pruned,
    };
    let Outcome::Fault(fault) = outcome else {
        return Err(NoRun::Error(EngineError::Rebuild("a start does not go wrong")));
    };
    if fault.kind == FaultKind::Exhausted {
        return Err(NoRun::Unknown(fault));
    }
    replayed(Vec::new(), Violation::Fault { action, arguments, fault }, interpreter)
}

pub(crate) fn step((action, arguments): (Action, Vec<i64>), state: Valuation) -> TraceStep {
    TraceStep { action, arguments, state }
}

/// How a search ends for a reason that is no violation.
pub(crate) fn stop_reason(halt: &Halt, bytes: u64) -> StopReason {
    match halt {
        Halt::Stopped(reason) => reason.clone(),
        Halt::Full | Halt::Found(_) => StopReason::MemoryLimit(bytes),
    }
}
