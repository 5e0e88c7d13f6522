//! Whether a run violates a claim about events, by the definitions and without any reduction: sets of states of the
//! specification are followed along the run.

use rustc_hash::FxHashSet;

use super::{Trace, run};
use crate::behaviour::{Behaviour, BehaviourClaim, Refinement};
use crate::index::{PropertyId, StartId};
use crate::interpreter::{Interpreter, Shown};
use crate::layout::Valuation;
use crate::model::Action;

/// Checks that a run violates a claim about events.
///
/// # Errors
/// Why it does not.
pub(super) fn check_behaviour(
    interpreter: &Interpreter<'_>,
    trace: &Trace,
    property: PropertyId,
    behaviour: &Behaviour,
) -> Result<(), String> {
    let view = View { interpreter, property };
    let Some((first, last)) = trace.steps.first().zip(trace.steps.last()) else { return Err("no state".into()) };
    if first.action != Action::Start(behaviour.process) {
        return Err("the run is one of another process".into());
    }
    let mut events = Vec::new();
    for pair in trace.steps.windows(2) {
        let Action::Rule(rule) = pair[1].action else { return Err("a start is not the first step".into()) };
        match interpreter.shown(property, rule, &pair[0].state).map_err(|fault| fault.to_string())? {
            Shown::Nothing => return Err("a step is not one of a process".into()),
            Shown::Internal => events.push(None),
            Shown::Event(event) => events.push(Some(event)),
        }
    }
    let diverges = trace.cycle.is_some_and(|begin| events[begin..].iter().all(Option::is_none));
    match behaviour.claim {
        BehaviourClaim::DivergenceFree if diverges => Ok(()),
        BehaviourClaim::DivergenceFree => Err("the run does not take internal steps forever".into()),
        BehaviourClaim::Deterministic => {
            let steps = view.steps(&last.state)?;
            let differs = |(event, state): &(Option<String>, Valuation)| {
                steps.iter().any(|(other, next)| other == event && next != state)
            };
            if steps.iter().any(differs) { Ok(()) } else { Err("each event leads to one state".into()) }
        }
        BehaviourClaim::Refines { specification, sense } => {
            view.check_refinement(specification, sense, &events, diverges, &last.state)
        }
    }
}

struct View<'v, 'm> {
    interpreter: &'v Interpreter<'m>,
    property: PropertyId,
}

impl View<'_, '_> {
    /// The steps of a state, with their events; none for internal ones.
    fn steps(&self, state: &Valuation) -> Result<Vec<(Option<String>, Valuation)>, String> {
        let mut steps = Vec::new();
        for (rule, entry) in self.interpreter.model().rules.iter_enumerated() {
            for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                let next = run(self.interpreter, Action::Rule(rule), &arguments, Some(state));
                let Some(next) = next.map_err(|_| "a step fails".to_owned())? else { continue };
                match self.interpreter.shown(self.property, rule, state).map_err(|fault| fault.to_string())? {
                    Shown::Nothing => {}
                    Shown::Internal => steps.push((None, next)),
                    Shown::Event(event) => steps.push((Some(event), next)),
                }
            }
        }
        Ok(steps)
    }

    /// Adds all states that internal steps lead to.
    fn close(&self, states: &mut Vec<Valuation>) -> Result<(), String> {
        let mut seen: FxHashSet<Valuation> = states.iter().cloned().collect();
        let mut position = 0;
        while position < states.len() {
            for (event, next) in self.steps(&states[position])? {
                if event.is_none() && seen.insert(next.clone()) {
                    states.push(next);
                }
            }
            position += 1;
        }
        Ok(())
    }

    /// Whether internal steps can go on forever in a set that they do not leave.
    fn diverges(&self, states: &[Valuation]) -> Result<bool, String> {
        // States without a way to stay are removed, until there is none.
        let mut remaining: Vec<(Valuation, Vec<Valuation>)> = Vec::new();
        for state in states {
            let internal = self.steps(state)?.into_iter().filter(|(event, _)| event.is_none());
            remaining.push((state.clone(), internal.map(|(_, next)| next).collect()));
        }
        loop {
            let known: FxHashSet<&Valuation> = remaining.iter().map(|(state, _)| state).collect();
            let stays = |next: &[Valuation]| next.iter().any(|state| known.contains(state));
            let stays: Vec<bool> = remaining.iter().map(|(_, next)| stays(next)).collect();
            let before = remaining.len();
            let mut position = 0;
            remaining.retain(|_| {
                position += 1;
                stays[position - 1]
            });
            if remaining.len() == before {
                return Ok(before > 0);
            }
        }
    }

    fn check_refinement(
        &self,
        specification: StartId,
        sense: Refinement,
        events: &[Option<String>],
        diverges: bool,
        last: &Valuation,
    ) -> Result<(), String> {
        let start = &self.interpreter.model().starts[specification];
        let mut states = Vec::new();
        for arguments in self.interpreter.instances(&start.parameters, &start.locals) {
            let state = run(self.interpreter, Action::Start(specification), &arguments, None);
            states.extend(state.map_err(|_| "a start fails".to_owned())?);
        }
        self.close(&mut states)?;
        let is_strict = sense == Refinement::FailuresDivergences;
        let visible: Vec<&String> = events.iter().flatten().collect();
        for (position, &event) in visible.iter().enumerate() {
            if is_strict && self.diverges(&states)? {
                return Err("the specification may diverge before".into());
            }
            let mut after: Vec<Valuation> = Vec::new();
            for state in &states {
                let steps = self.steps(state)?.into_iter();
                after.extend(steps.filter(|(it, _)| it.as_ref() == Some(event)).map(|(_, next)| next));
            }
            if after.is_empty() {
                let is_last = position + 1 == visible.len();
                return if is_last { Ok(()) } else { Err("the run goes on after its violation".into()) };
            }
            self.close(&mut after)?;
            after.sort_unstable_by(|left, right| left.0.cmp(&right.0));
            after.dedup();
            states = after;
        }
        if is_strict && self.diverges(&states)? {
            return Err("the specification may diverge here".into());
        }
        if is_strict && diverges {
            return Ok(());
        }
        if sense == Refinement::Traces {
            return Err("the specification has these events, too".into());
        }
        let ready = self.steps(last)?;
        if ready.iter().any(|(event, _)| event.is_none()) {
            return Err("an internal step is possible in the last state".into());
        }
        for state in &states {
            let steps = self.steps(state)?;
            let allows = steps.iter().all(|(event, _)| event.is_some() && ready.iter().any(|(it, _)| it == event));
            if allows {
                return Err("the specification may refuse as much".into());
            }
        }
        Ok(())
    }
}
