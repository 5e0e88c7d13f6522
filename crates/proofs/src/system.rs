//! A model as one formula: from the bits of a state, and inputs that choose an instance, to the bits of the next state,
//! and where something is wrong.
//!
//! Before the first state there is one in which nothing is started; the instances of initial-state programs lead from it
//! to the starts. So a run is a path from a single state, and a start that goes wrong is a state in which something is
//! wrong, like any other.

use quotient_functions::{Behaviour, Preserved};
use quotient_ir::{Action, Budget, DeadlockMode, Interrupt, Layout, Model, PropertyId, PropertyKind, Span, Valuation};

use crate::formula::{Bit, Formula, Gate, Values};
use quotient_booleans::{Condition, Encoding, Full, Logic, Refusal, Step, Steps, Translator};
use quotient_search::{Checks, EngineError, SearchOptions};

/// A model as a formula.
pub(crate) struct System {
    pub(crate) formula: Formula,
    pub(crate) encoding: Encoding,
    /// The bits of each slot, then of each input of an instance.
    pub(crate) bits: Vec<Vec<Bit>>,
    /// The number of slots.
    pub(crate) slots: usize,
    /// Whether this is a state of the model.
    pub(crate) started: Bit,
    /// The bits of each slot after the chosen step.
    pub(crate) next: Vec<Vec<Bit>>,
    /// Whether the chosen instance takes a step.
    pub(crate) step: Bit,
    /// Whether a step may lead to the state: its bits stand for values, and no assumption is false. If one has no value,
    /// something is wrong in the state.
    pub(crate) admitted: Bit,
    /// Whether something is wrong in the state.
    pub(crate) bad: Bit,
    steps: Steps<Bit>,
    /// Whether the inputs choose an instance: starts first.
    chosen: Vec<Bit>,
    /// What can be wrong, in the order in which it is looked for.
    wrongs: Vec<(Wrong, Bit)>,
    /// What is not part of the state: the choice of an instance, and parameters.
    pub(crate) inputs: Vec<Bit>,
}

/// What can be wrong in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// A property is false or has no value.
    Property(PropertyId),
    /// The step of an instance causes a run-time error; starts count first.
    Step(usize),
    /// There is no step.
    Deadlock,
}

/// An instance, and the cells of its parameters.
pub(crate) type Taken = (Action, Vec<i64>);

/// Why a model has no formula.
pub(crate) enum NoSystem {
    Refused(EngineError),
    /// Interrupted, or out of room.
    Spent,
}

impl From<Full> for NoSystem {
    fn from(_: Full) -> Self {
        Self::Spent
    }
}

impl System {
    /// The formula of a model, with room for so many gates.
    pub(crate) fn new(
        model: &Model,
        layout: &Layout,
        checks: &Checks,
        options: &SearchOptions,
        most_gates: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, NoSystem> {
        let refuse =
            |reason: &str, span: Span| NoSystem::Refused(EngineError::NotEncodable { reason: reason.to_owned(), span });
        if let Some(&constraint) = checks.constraints.first() {
            return Err(refuse("constraints are not encoded in a formula", model.properties[constraint].span));
        }
        let claims = checks.invariants.iter().chain(&checks.covers).chain(&checks.liveness);
        let properties: Vec<PropertyId> = claims.copied().collect();
        let budget = Budget::until(interrupt);
        let behaviour = quotient_functions::unfold(model, layout, Preserved::Properties(&properties), &budget)
            .map_err(|_| NoSystem::Spent)?;
        if let Some(Refusal { reason, span }) = Refusal::of(model, layout, &behaviour) {
            return Err(refuse(&reason, span));
        }
        let system = Self::of_behaviour(model, &behaviour, checks, options, most_gates, interrupt)?;
        if options.deadlock != DeadlockMode::Off
            && let Some(step) = system.hidden_mover(options)
        {
            let span = match step {
                Action::Rule(rule) => model.rules[rule].span,
                Action::Start(start) => model.starts[start].span,
            };
            return Err(refuse("a deadlock depends on parameters that are too many to list", span));
        }
        Ok(system)
    }

    fn of_behaviour(
        model: &Model,
        behaviour: &Behaviour,
        checks: &Checks,
        options: &SearchOptions,
        most_gates: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, Full> {
        let encoding = Encoding::new(&behaviour.circuit);
        let mut formula = Formula::new(most_gates, interrupt.clone());
        let started = formula.input()?;
        let mut bits = Vec::with_capacity(behaviour.circuit.slot_count());
        for slot in 0..behaviour.circuit.slot_count() as u32 {
            let own: Result<Vec<Bit>, Full> = (0..encoding.width(slot)).map(|_| formula.input()).collect();
            bits.push(own?);
        }
        let steps = Steps::new(&mut formula, behaviour, &encoding, &bits)?;
        let mut valid = Vec::new();
        let mut translator = Translator::new(&mut formula, &behaviour.circuit, &encoding, &bits);
        for slot in 0..behaviour.slots as u32 {
            valid.push(translator.is_valid(slot)?);
        }
        let valid = formula.all(valid)?;
        let (chosen, mut inputs) = selectors(&mut formula, steps.starts.len() + steps.rules.len())?;
        inputs.extend(bits[behaviour.slots..].iter().flatten());
        let mut possible = Vec::with_capacity(chosen.len());
        for (number, step) in all(&steps).enumerate() {
            let phase = started.negated_if(number < steps.starts.len());
            possible.push(formula.all(vec![chosen[number], phase, step.enabled])?);
        }
        let step = formula.any(possible)?;
        let next = next_bits(&mut formula, &steps, &chosen, &bits[..behaviour.slots])?;
        let mut judged = Judged::new(&mut formula, model, &steps, checks)?;
        let assumed = formula.or(&judged.assumed, &judged.unassumable)?;
        let admitted = formula.and(&valid, &assumed)?;
        for (number, step) in all(&steps).enumerate() {
            let phase = started.negated_if(number < steps.starts.len());
            judged.wrongs.push((Wrong::Step(number), formula.and(&phase, &step.fault)?));
        }
        if options.deadlock != DeadlockMode::Off {
            let mut moves = Vec::with_capacity(steps.rules.len());
            for step in &steps.rules {
                moves.push(mover(&mut formula, step, &bits, options)?);
            }
            let moves = formula.any(moves)?;
            judged.wrongs.push((Wrong::Deadlock, !moves));
        }
        let mut wrongs = Vec::with_capacity(judged.wrongs.len());
        for (wrong, bit) in judged.wrongs {
            let bit = if let Wrong::Step(_) = wrong { bit } else { formula.and(&started, &bit)? };
            if bit != Bit::FALSE {
                wrongs.push((wrong, bit));
            }
        }
        let bad = formula.any(wrongs.iter().map(|&(_, bit)| bit).collect())?;
        let slots = behaviour.slots;
        Ok(Self { formula, encoding, bits, slots, started, next, step, admitted, bad, steps, chosen, wrongs, inputs })
    }

    /// A rule of which an input decides whether the state is a deadlock.
    fn hidden_mover(&self, options: &SearchOptions) -> Option<Action> {
        let first = self.bits[self.slots..].iter().flatten().map(|bit| bit.node()).min()?;
        let last = self.bits[self.slots..].iter().flatten().map(|bit| bit.node()).max()?;
        let reads_inputs = |roots: Vec<Bit>| {
            let mut seen = vec![false; self.formula.gates().len()];
            let mut pending: Vec<usize> = roots.iter().map(|root| root.node()).collect();
            while let Some(node) = pending.pop() {
                if std::mem::replace(&mut seen[node], true) {
                    continue;
                }
                match self.formula.gates()[node] {
                    Gate::Input if (first..=last).contains(&node) => return true,
                    Gate::And(left, right) => pending.extend([left.node(), right.node()]),
                    _ => {}
                }
            }
            false
        };
        let with_inputs = self.steps.rules.iter().filter(|step| !step.inputs.is_empty());
        let found = with_inputs.into_iter().find(|step| {
            let mut roots = vec![step.enabled];
            if options.deadlock == DeadlockMode::Stuttering {
                roots.extend(step.next.iter().flat_map(|(_, bits)| bits));
            }
            reads_inputs(roots)
        })?;
        Some(found.action)
    }

    /// The instances of initial-state programs and of rules.
    fn instance(&self, number: usize) -> &Step<Bit> {
        let starts = &self.steps.starts;
        starts.get(number).unwrap_or_else(|| &self.steps.rules[number - starts.len()])
    }

    /// The values of all functions in a state (or, without one, where nothing is started) with some inputs.
    pub(crate) fn values(&self, state: Option<&Valuation>, inputs: &[(Bit, bool)]) -> Option<Values> {
        let mut known = vec![false; self.formula.gates().len()];
        let mut set = |bit: Bit, value: bool| known[bit.node()] = value;
        set(self.started, state.is_some());
        for &(bit, value) in inputs {
            set(bit, value);
        }
        if let Some(state) = state {
            for (slot, bits) in self.bits[..self.slots].iter().enumerate() {
                for (&bit, value) in bits.iter().zip(self.encoding.encode(slot as u32, state.0[slot])?) {
                    set(bit, value);
                }
            }
        }
        Some(self.formula.evaluate(|node| known[node]))
    }

    /// The instance that the inputs choose.
    pub(crate) fn taken(&self, inputs: &[(Bit, bool)]) -> Option<Taken> {
        let values = self.values(None, inputs)?;
        let number = self.chosen.iter().position(|&chosen| values.of(chosen))?;
        self.arguments(number, &values)
    }

    fn arguments(&self, number: usize, values: &Values) -> Option<Taken> {
        let step = self.instance(number);
        if step.inputs.is_empty() {
            return Some((step.action, step.arguments.clone()));
        }
        let argument = |slot: u32| {
            let bits: Vec<bool> = self.bits[slot as usize].iter().map(|&bit| values.of(bit)).collect();
            self.encoding.decode(slot, &bits).flatten()
        };
        Some((step.action, step.inputs.clone().map(argument).collect::<Option<_>>()?))
    }

    /// What is wrong, given the values of all functions, and the instance that goes wrong if one does.
    pub(crate) fn wrong<'s>(&'s self, values: &'s Values) -> impl Iterator<Item = (Wrong, Option<Taken>)> + 's {
        let found = self.wrongs.iter().filter(|(_, bit)| values.of(*bit));
        found.map(|&(wrong, _)| match wrong {
            Wrong::Step(number) => (wrong, self.arguments(number, values)),
            _ => (wrong, None),
        })
    }
}

/// Starts first.
fn all(steps: &Steps<Bit>) -> impl Iterator<Item = &Step<Bit>> {
    steps.starts.iter().chain(&steps.rules)
}

/// Functions of new inputs, of which at most one holds, and these inputs.
fn selectors(formula: &mut Formula, count: usize) -> Result<(Vec<Bit>, Vec<Bit>), Full> {
    let mut selectors = vec![Bit::TRUE];
    let mut inputs = Vec::new();
    while selectors.len() < count {
        let input = formula.input()?;
        inputs.push(input);
        let mut split = Vec::with_capacity(2 * selectors.len());
        for selector in selectors {
            split.push(formula.and(&selector, &!input)?);
            split.push(formula.and(&selector, &input)?);
        }
        selectors = split;
    }
    selectors.truncate(count);
    Ok((selectors, inputs))
}

/// The bits of each slot after the chosen step.
fn next_bits(
    formula: &mut Formula,
    steps: &Steps<Bit>,
    chosen: &[Bit],
    bits: &[Vec<Bit>],
) -> Result<Vec<Vec<Bit>>, Full> {
    let mut writers: Vec<Vec<(Bit, &[Bit])>> = vec![Vec::new(); bits.len()];
    for (step, &chosen) in all(steps).zip(chosen) {
        for (slot, written) in &step.next {
            writers[*slot as usize].push((chosen, written));
        }
    }
    let mut next = Vec::with_capacity(bits.len());
    for (old, writers) in bits.iter().zip(writers) {
        let changes = formula.any(writers.iter().map(|(chosen, _)| *chosen).collect())?;
        let mut own = Vec::with_capacity(old.len());
        for (position, old) in old.iter().enumerate() {
            let mut parts = vec![formula.and(&!changes, old)?];
            for (chosen, written) in &writers {
                parts.push(formula.and(chosen, &written[position])?);
            }
            own.push(formula.any(parts)?);
        }
        next.push(own);
    }
    Ok(next)
}

/// Where an instance of a rule leaves the state, as far as that counts.
fn mover(formula: &mut Formula, step: &Step<Bit>, bits: &[Vec<Bit>], options: &SearchOptions) -> Result<Bit, Full> {
    let moves = matches!(step.action, Action::Rule(rule) if options.moving_rules.contains(&rule));
    if options.deadlock != DeadlockMode::Stuttering || moves {
        return Ok(step.enabled);
    }
    let mut differs = Vec::new();
    for (slot, written) in &step.next {
        for (old, new) in bits[*slot as usize].iter().zip(written) {
            differs.push(formula.xor(old, new)?);
        }
    }
    let differs = formula.any(differs)?;
    formula.and(&step.enabled, &differs)
}

/// What the properties of a model say about a state.
struct Judged {
    /// Whether all assumptions hold.
    assumed: Bit,
    /// Whether one has no value, and those before it hold.
    unassumable: Bit,
    wrongs: Vec<(Wrong, Bit)>,
}

impl Judged {
    fn new(formula: &mut Formula, model: &Model, steps: &Steps<Bit>, checks: &Checks) -> Result<Self, Full> {
        let mut assumed = Bit::TRUE;
        let mut unassumable = Bit::FALSE;
        let mut wrongs = Vec::new();
        for property in &checks.assumptions {
            for Condition { holds, fault, .. } in of(steps, *property) {
                let wrong = formula.and(&assumed, fault)?;
                wrongs.push((Wrong::Property(*property), wrong));
                unassumable = formula.or(&unassumable, &wrong)?;
                let has_value = formula.and(holds, &!*fault)?;
                assumed = formula.and(&assumed, &has_value)?;
            }
        }
        let mut passing = Bit::FALSE;
        for property in model.passing() {
            for Condition { holds, fault, .. } in of(steps, property) {
                let holds = formula.and(holds, &!*fault)?;
                passing = formula.or(&passing, &holds)?;
            }
        }
        for &property in checks.invariants.iter().chain(&checks.covers).chain(&checks.liveness) {
            let is_invariant = model.properties[property].kind == PropertyKind::Invariant;
            let mut parts = Vec::new();
            for Condition { holds, fault, .. } in of(steps, property) {
                parts.push(if is_invariant { formula.or(&!*holds, fault)? } else { *fault });
            }
            let wrong = formula.any(parts)?;
            wrongs.push((Wrong::Property(property), formula.and(&!passing, &wrong)?));
        }
        Ok(Self { assumed, unassumable, wrongs })
    }
}

fn of(steps: &Steps<Bit>, property: PropertyId) -> impl Iterator<Item = &Condition<Bit>> {
    steps.conditions.iter().filter(move |condition| condition.property == property)
}

#[cfg(test)]
mod tests {
    use quotient_ir::{Interpreter, Outcome, Source};
    use quotient_kit::LoadOptions;
    use quotient_murphi::LANGUAGE;

    use super::*;

    /// Every operation on all values of small variables: the formula does what the reference interpreter does.
    #[test]
    fn operations_are_those_of_the_interpreter() {
        let operations = ["x + y", "x - y", "x * y", "x / y", "x % y", "x & y", "x | y", "x ^ y", "x << y", "x >> y"];
        let conditions = ["x < y", "x <= y", "x = y", "x * y >= x + 2", "(x - y) % 3 = 1", "x / 2 = y", "~x < y"];
        let mut text = "var x: -3..4; y: -2..3; z: -300..300; b: boolean;
            startstate x := 0; y := 0; z := 0; b := false end;
            ruleset v: -3..4 do rule true ==> x := v end end;
            ruleset v: -2..3 do rule true ==> y := v end end;\n"
            .to_owned();
        for operation in operations {
            text.push_str(&format!("rule true ==> z := {operation} end;\n"));
        }
        for condition in conditions {
            text.push_str(&format!("rule {condition} ==> b := !b end;\nrule true ==> b := {condition} end;\n"));
            text.push_str(&format!("invariant {condition};\n"));
        }
        let source = Source::new("operations", text);
        let model = LANGUAGE.load(source, &LoadOptions::default()).expect("a model").model;
        let layout = Layout::new(&model).expect("a layout");
        let options = SearchOptions::default();
        let checks = Checks::new(&model, None);
        let Ok(system) = System::new(&model, &layout, &checks, &options, usize::MAX, &Interrupt::new()) else {
            panic!("a formula")
        };
        let interpreter = Interpreter::new(&model, &layout);
        for (x, y) in (-3..=4).flat_map(|x| (-2..=3).map(move |y| (x, y))) {
            let state = Valuation(vec![Some(x), Some(y), Some(7), Some(1)]);
            let values = system.values(Some(&state), &[]).expect("the state has bits");
            for step in &system.steps.rules {
                let Action::Rule(rule) = step.action else { panic!("a rule") };
                let is_enabled = interpreter.enabled(rule, &step.arguments, &state).expect("guards do not fail");
                let outcome = interpreter.fire(rule, &step.arguments, &state);
                assert_eq!(values.of(step.fault), is_enabled && matches!(outcome, Outcome::Fault(_)), "{x} {y}");
                let Outcome::Next { state: next, .. } = outcome else { continue };
                assert_eq!(values.of(step.enabled), is_enabled, "{x} {y}");
                for (slot, bits) in step.next.iter().filter(|_| is_enabled) {
                    let bits: Vec<bool> = bits.iter().map(|&bit| values.of(bit)).collect();
                    let expected = next.0[*slot as usize];
                    assert_eq!(system.encoding.decode(*slot, &bits), Some(expected), "{x} {y} {:?}", step.action);
                }
            }
            for condition in &system.steps.conditions {
                let holds = interpreter.holds(condition.property, &condition.arguments, &state);
                assert_eq!(values.of(condition.holds), holds == Ok(true), "{x} {y} {:?}", condition.property);
            }
        }
    }
}
