//! A model as sets and relations: where its states start, what its steps relate, where its properties hold.
//!
//! Each bit of the state has two variables, one for the state before a step and one, next to it, for the state after.
//! The inputs of steps come below all of them. The relation of an instance mentions only the slots that it can change:
//! all others keep their value, and an image leaves them alone.

use num_bigint::BigUint;
use quotient_functions::Functions;
use quotient_ir::{Action, DeadlockMode, Model, PropertyId, PropertyKind, RuleId, SlotId, TableIndex, Valuation};
use quotient_symmetry::StateMap;

use crate::diagrams::{Diagrams, Replacement, Set};
use crate::order::Order;
use quotient_booleans::{Encoding, Full, Logic, Step, Steps};
use quotient_search::SearchOptions;

/// An instance whose parameters are inputs is taken apart into at most so many.
const MOST_SINGLES: usize = 4_096;
/// The largest diagram of states that are known to be no deadlocks, in nodes.
const MOVING_NODES: usize = 10_000;
/// The largest part of a relation, in nodes, unless it is about a single bit.
const PART_NODES: usize = 2_000;

/// The variables of a model.
pub(crate) struct Variables {
    /// For each slot of the circuit the variables of its bits: of the state before a step, or of inputs.
    before: Vec<Vec<u32>>,
    /// For each slot of the state those of its bits after the step.
    after: Vec<Vec<u32>>,
    /// The number of bits of a state.
    pub(crate) bits: u32,
    /// The number of all variables.
    pub(crate) total: u32,
}

impl Variables {
    /// The variables of the slots of a state in an order, then those of the inputs.
    pub(crate) fn new(encoding: &Encoding, order: &Order, slots: usize, circuit_slots: usize) -> Self {
        let (mut before, mut after) = (vec![Vec::new(); circuit_slots], vec![Vec::new(); slots]);
        let mut bits = 0;
        // The most significant bit is on top. Numbers with many values are compared and added bit by bit, so bits of the
        // same weight stand together, where the first of these slots is.
        let (listed, numbers): (Vec<u32>, Vec<u32>) = order.slots.iter().partition(|&&slot| encoding.is_listed(slot));
        let first = numbers.first().copied();
        let most = numbers.iter().map(|&slot| encoding.width(slot)).max().unwrap_or(0);
        let mut place = |slot: u32| {
            before[slot as usize].push(2 * bits);
            after[slot as usize].push(2 * bits + 1);
            bits += 1;
        };
        for &slot in &order.slots {
            if Some(slot) == first {
                for bit in (0..most).rev() {
                    numbers.iter().filter(|&&number| bit < encoding.width(number)).for_each(|&number| place(number));
                }
            } else if listed.contains(&slot) {
                (0..encoding.width(slot)).for_each(|_| place(slot));
            }
        }
        for variables in before.iter_mut().chain(&mut after) {
            variables.reverse();
        }
        let mut total = 2 * bits;
        for (slot, variables) in before.iter_mut().enumerate().skip(slots) {
            let width = encoding.width(slot as u32) as u32;
            *variables = (total..total + width).collect();
            total += width;
        }
        Self { before, after, bits, total }
    }

    /// The variables of a slot in the state before a step, least significant first.
    pub(crate) fn before(&self, slot: u32) -> &[u32] {
        &self.before[slot as usize]
    }

    /// The variables of a slot in the state after a step.
    pub(crate) fn after(&self, slot: u32) -> &[u32] {
        &self.after[slot as usize]
    }
}

/// An instance of a rule.
pub(crate) struct Rule {
    pub(crate) action: Action,
    arguments: Vec<i64>,
    inputs: std::ops::Range<u32>,
    /// The slots that it can change.
    slots: Vec<u32>,
    /// Which states with which inputs it relates to which values of the slots that it can change.
    pub(crate) relation: Relation,
    /// Where it takes a step, for some inputs.
    pub(crate) enabled: Set,
    /// Where it takes a step, with the inputs.
    taken: Set,
    /// Where each bit that it writes changes, with the inputs.
    changes: Vec<Set>,
    /// Where it causes a run-time error, with the inputs.
    pub(crate) fault: Set,
    /// The cover statements it reaches, and where.
    pub(crate) covers: Vec<(PropertyId, Set)>,
    /// The inputs.
    input_cube: Set,
    /// From the state after a step to the state before the next.
    forward: Option<Replacement>,
    /// From the state before a step to the state after the one that led there.
    backward: Option<Replacement>,
    /// The topmost variable that it mentions.
    pub(crate) top: u32,
}

/// The relation of an instance as a conjunction: one diagram for all bits can be very large, while an image or preimage
/// takes one part after the other and drops each variable as soon as no later part mentions it.
#[derive(Clone)]
pub(crate) struct Relation(Vec<Part>);

/// A part of a relation.
#[derive(Clone)]
struct Part {
    relation: Set,
    /// What an image drops after it: bits before the step and inputs.
    forward: Set,
    /// What a preimage drops after it: bits after the step and inputs.
    backward: Set,
}

impl Relation {
    /// The relation with a condition on the inputs.
    fn with(&self, diagrams: &mut Diagrams, condition: &Set) -> Result<Self, Full> {
        let mut parts = self.0.clone();
        parts[0].relation = diagrams.common(&parts[0].relation, condition)?;
        Ok(Self(parts))
    }
}

/// What a model does and claims, as sets.
pub(crate) struct Machine<'m> {
    pub(crate) diagrams: Diagrams,
    pub(crate) encoding: Encoding,
    pub(crate) variables: Variables,
    /// The slots that have bits, from the top of diagrams to the bottom.
    order: Vec<u32>,
    model: &'m Model,
    slots: usize,
    /// The initial states, without those that assumptions drop.
    pub(crate) initial: Set,
    /// The initial states of each start with its inputs.
    starts: Vec<StartSet>,
    pub(crate) rules: Vec<Rule>,
    /// The instances of properties.
    pub(crate) claims: Vec<Claim>,
    /// The states that assumptions allow.
    assumed: Set,
    /// Transient states.
    pub(crate) passing: Set,
    /// States that are expanded.
    pub(crate) expanded: Set,
    /// The variables of a state.
    pub(crate) state_cube: Set,
    /// What pairs of states are made of.
    pairs: Pairs,
}

/// Pairs of a state before a step and one after it. Replacements are made once, so that results are found again.
struct Pairs {
    /// The pairs of equal states.
    identity: Set,
    /// The variables of the state after a step.
    after_cube: Set,
    to_after: Replacement,
    to_before: Replacement,
}

impl Pairs {
    fn new(diagrams: &mut Diagrams, bits: u32) -> Result<Self, Full> {
        let mut identity = diagrams.whole().clone();
        for bit in (0..bits).rev() {
            let (before, after) = (diagrams.variable(2 * bit).clone(), diagrams.variable(2 * bit + 1).clone());
            let same = diagrams.equal(&before, &after)?;
            identity = diagrams.common(&same, &identity)?;
        }
        let after_cube = diagrams.cube((0..bits).map(|bit| 2 * bit + 1).collect())?;
        let shift = |from: u32, to: u32| {
            let sets = (0..bits).map(|bit| diagrams.variable(2 * bit + to).clone()).collect();
            Replacement::new((0..bits).map(|bit| 2 * bit + from).collect(), sets)
        };
        Ok(Self { identity, after_cube, to_after: shift(0, 1), to_before: shift(1, 0) })
    }
}

/// One instance of a start.
struct StartSet {
    action: Action,
    arguments: Vec<i64>,
    inputs: std::ops::Range<u32>,
    /// The states, as states before a step, with the inputs that lead to them.
    states: Set,
    /// The inputs for which it causes a run-time error.
    fault: Set,
    /// The cover statements that it reaches.
    covers: Vec<PropertyId>,
}

/// An instance of a property.
pub(crate) struct Claim {
    pub(crate) property: PropertyId,
    pub(crate) arguments: Vec<i64>,
    pub(crate) kind: PropertyKind,
    pub(crate) holds: Set,
    pub(crate) fault: Set,
}

/// Arguments of an instance whose parameters are inputs, and its relation with them.
pub(crate) type Single = (Vec<i64>, Relation);

/// An instance with its arguments.
pub(crate) type Instance = (Action, Vec<i64>);

impl<'m> Machine<'m> {
    /// Builds the sets of a model, within so many bytes.
    ///
    /// # Errors
    /// If they do not fit.
    pub(crate) fn new(model: &'m Model, functions: &Functions, order: &Order, bytes: u64) -> Result<Self, Full> {
        let behaviour = functions.behaviour();
        let encoding = Encoding::new(&behaviour.circuit);
        let circuit_slots = behaviour.circuit.slot_count();
        let variables = Variables::new(&encoding, order, behaviour.slots, circuit_slots);
        let mut diagrams = Diagrams::new(variables.total, bytes)?;
        let bits: Vec<Vec<Set>> = (0..circuit_slots as u32)
            .map(|slot| variables.before(slot).iter().map(|&variable| diagrams.variable(variable).clone()).collect())
            .collect();
        let steps = Steps::new(&mut diagrams, behaviour, &encoding, &bits)?;
        let all: Vec<u32> =
            (0..behaviour.slots as u32).flat_map(|slot| variables.before(slot).iter().copied()).collect();
        let state_cube = diagrams.cube(all)?;
        let pairs = Pairs::new(&mut diagrams, variables.bits)?;
        let whole = diagrams.whole().clone();
        let empty = diagrams.empty().clone();
        let mut machine = Self {
            diagrams,
            encoding,
            variables,
            order: order.slots.clone(),
            model,
            slots: behaviour.slots,
            initial: empty.clone(),
            starts: Vec::new(),
            rules: Vec::new(),
            claims: Vec::new(),
            assumed: whole.clone(),
            passing: empty,
            expanded: whole,
            state_cube,
            pairs,
        };
        machine.add_claims(&steps)?;
        machine.add_starts(&steps)?;
        for step in steps.rules {
            let rule = machine.rule(step)?;
            machine.rules.push(rule);
        }
        // What is at the bottom settles first.
        machine.rules.sort_by_key(|rule| std::cmp::Reverse(rule.top));
        Ok(machine)
    }

    fn add_claims(&mut self, steps: &Steps<Set>) -> Result<(), Full> {
        let has_condition = |property: PropertyId| self.model.properties[property].formula.condition().is_some();
        for condition in steps.conditions.iter().filter(|condition| has_condition(condition.property)) {
            let kind = self.model.properties[condition.property].kind;
            let holds = &condition.holds;
            match kind {
                PropertyKind::Assumption => self.assumed = self.diagrams.common(&self.assumed, holds)?,
                PropertyKind::Passing => self.passing = self.diagrams.union(&self.passing, holds)?,
                PropertyKind::Constraint => self.expanded = self.diagrams.common(&self.expanded, holds)?,
                _ => {}
            }
            self.claims.push(Claim {
                property: condition.property,
                arguments: condition.arguments.clone(),
                kind,
                holds: holds.clone(),
                fault: condition.fault.clone(),
            });
        }
        // No claim is about transient states, and no constraint.
        self.expanded = self.diagrams.union(&self.expanded, &self.passing)?;
        Ok(())
    }

    fn add_starts(&mut self, steps: &Steps<Set>) -> Result<(), Full> {
        for step in &steps.starts {
            let mut states = step.enabled.clone();
            // Bottom first.
            let mut pairs: Vec<(u32, &Set)> = Vec::new();
            for (slot, bits) in &step.next {
                pairs.extend(self.variables.before(*slot).iter().copied().zip(bits));
            }
            pairs.sort_by_key(|&(variable, _)| std::cmp::Reverse(variable));
            for (variable, bit) in pairs {
                let own = self.diagrams.variable(variable).clone();
                let same = self.diagrams.equal(&own, bit)?;
                states = self.diagrams.common(&states, &same)?;
            }
            let inputs = self.inputs(&step.inputs)?;
            let reached = self.diagrams.exists(&states, &inputs)?;
            self.initial = self.diagrams.union(&self.initial, &reached)?;
            self.starts.push(StartSet {
                action: step.action,
                arguments: step.arguments.clone(),
                inputs: step.inputs.clone(),
                states,
                fault: step.fault.clone(),
                covers: self.reached_covers(step),
            });
        }
        Ok(())
    }

    fn reached_covers(&self, step: &Step<Set>) -> Vec<PropertyId> {
        let reached = step.covers.iter().filter(|(_, when)| !self.diagrams.is_empty(when));
        reached.map(|&(property, _)| property).collect()
    }

    /// The cover statements that starts reach.
    pub(crate) fn start_covers(&self) -> Vec<PropertyId> {
        self.starts.iter().flat_map(|start| start.covers.iter().copied()).collect()
    }

    fn inputs(&mut self, inputs: &std::ops::Range<u32>) -> Result<Set, Full> {
        let variables = inputs.clone().flat_map(|input| self.variables.before(input).iter().copied()).collect();
        self.diagrams.cube(variables)
    }

    fn rule(&mut self, step: Step<Set>) -> Result<Rule, Full> {
        let Step { action, arguments, inputs, enabled, fault, next, covers } = step;
        let input_cube = self.inputs(&inputs)?;
        let slots: Vec<u32> = next.iter().map(|&(slot, _)| slot).collect();
        let mut pairs: Vec<(u32, u32, Set)> = Vec::new();
        for (slot, bits) in next {
            let variables = self.variables.before(slot).iter().zip(self.variables.after(slot));
            pairs.extend(variables.zip(bits).map(|((&before, &after), bit)| (before, after, bit)));
        }
        pairs.sort_by_key(|&(variable, _, _)| std::cmp::Reverse(variable));
        let inputs_of: Vec<u32> =
            inputs.clone().flat_map(|input| self.variables.before(input).iter().copied()).collect();
        let (befores, afters): (Vec<u32>, Vec<u32>) = pairs.iter().map(|&(before, after, _)| (before, after)).unzip();
        let mut changes = Vec::new();
        let mut parts: Vec<(Set, Vec<u32>)> = vec![(enabled.clone(), Vec::new())];
        for (before, after, bit) in &pairs {
            let own = self.diagrams.variable(*before).clone();
            let differs = self.diagrams.xor(&own, bit)?;
            if !self.diagrams.is_empty(&differs) {
                changes.push(differs);
            }
            let own = self.diagrams.variable(*after).clone();
            let same = self.diagrams.equal(&own, bit)?;
            let (last, written) = parts.last_mut().expect("there is a first one");
            let both = self.diagrams.common(last, &same)?;
            if self.diagrams.size(&both) <= PART_NODES {
                *last = both;
                written.push(*after);
            } else {
                parts.push((same, vec![*after]));
            }
        }
        let relation = self.relation(parts, &befores, &inputs_of)?;
        let taken = enabled.clone();
        let enabled = self.diagrams.exists(&enabled, &input_cube)?;
        let top = befores.iter().copied().min().unwrap_or(u32::MAX);
        let sets = |variables: &[u32]| -> Vec<Set> {
            variables.iter().map(|&variable| self.diagrams.variable(variable).clone()).collect()
        };
        let (before_sets, after_sets) = (sets(&befores), sets(&afters));
        let is_any = !befores.is_empty();
        let forward = is_any.then(|| Replacement::new(afters, before_sets));
        let backward = is_any.then(|| Replacement::new(befores, after_sets));
        Ok(Rule {
            action,
            arguments,
            inputs,
            slots,
            relation,
            enabled,
            taken,
            changes,
            fault,
            covers,
            input_cube,
            forward,
            backward,
            top,
        })
    }

    /// A relation of parts, each with the bits that it says about the state after a step.
    fn relation(&mut self, parts: Vec<(Set, Vec<u32>)>, befores: &[u32], inputs: &[u32]) -> Result<Relation, Full> {
        let count = parts.len();
        // Each bit before the step and each input is dropped after the last part that mentions it.
        let mut dropped: Vec<(Vec<u32>, Vec<u32>)> = vec![Default::default(); count];
        for (&variable, is_input) in befores.iter().map(|it| (it, false)).chain(inputs.iter().map(|it| (it, true))) {
            let mut last = 0;
            for number in (1..count).rev() {
                let cube = self.diagrams.cube(vec![variable])?;
                let without = self.diagrams.exists(&parts[number].0, &cube)?;
                if without != parts[number].0 {
                    last = number;
                    break;
                }
            }
            dropped[last].0.push(variable);
            if is_input {
                dropped[last].1.push(variable);
            }
        }
        let mut all = Vec::with_capacity(count);
        for ((relation, written), (forward, backward)) in parts.into_iter().zip(dropped) {
            let forward = self.diagrams.cube(forward)?;
            let backward = self.diagrams.cube([backward, written].concat())?;
            all.push(Part { relation, forward, backward });
        }
        Ok(Relation(all))
    }

    /// The states that an instance leads to from a set of states, whatever is assumed.
    pub(crate) fn image(&mut self, number: usize, states: &Set) -> Result<Set, Full> {
        let rule = &self.rules[number];
        let mut after = states.clone();
        for Part { relation, forward, .. } in &rule.relation.0 {
            after = self.diagrams.product(&after, relation, forward)?;
        }
        match &rule.forward {
            Some(forward) => self.diagrams.replaced(&after, forward),
            None => Ok(after),
        }
    }

    /// The states from which an instance leads into a set of states.
    pub(crate) fn preimage(&mut self, number: usize, states: &Set) -> Result<Set, Full> {
        let relation = self.rules[number].relation.clone();
        self.preimage_by(number, &relation, states)
    }

    /// The same for a part of the relation of the instance.
    pub(crate) fn preimage_by(&mut self, number: usize, relation: &Relation, states: &Set) -> Result<Set, Full> {
        let mut before = match &self.rules[number].backward {
            Some(backward) => self.diagrams.replaced(states, backward)?,
            None => states.clone(),
        };
        for Part { relation, backward, .. } in &relation.0 {
            before = self.diagrams.product(&before, relation, backward)?;
        }
        Ok(before)
    }

    /// The states from which some step leads into a set of states.
    pub(crate) fn any_preimage(&mut self, states: &Set) -> Result<Set, Full> {
        let mut all = self.diagrams.empty().clone();
        for number in 0..self.rules.len() {
            let own = self.preimage(number, states)?;
            all = self.diagrams.union(&all, &own)?;
        }
        self.diagrams.common(&all, &self.expanded.clone())
    }

    /// The states that some step leads to from a set of states, without those that assumptions drop.
    pub(crate) fn any_image(&mut self, states: &Set) -> Result<Set, Full> {
        let states = self.diagrams.common(states, &self.expanded.clone())?;
        let mut all = self.diagrams.empty().clone();
        for number in 0..self.rules.len() {
            let own = self.image(number, &states)?;
            all = self.diagrams.union(&all, &own)?;
        }
        Ok(all)
    }

    /// The states of a set that assumptions allow.
    pub(crate) fn assumed(&mut self, states: &Set) -> Result<Set, Full> {
        self.diagrams.common(states, &self.assumed.clone())
    }

    /// Whether a step of an instance does not count as one if it changes nothing.
    fn must_change(&self, number: usize, options: &SearchOptions) -> bool {
        let always = |id: &RuleId| options.moving_rules.contains(id);
        let always = matches!(&self.rules[number].action, Action::Rule(id) if always(id));
        options.deadlock == DeadlockMode::Stuttering && !always
    }

    /// States that are no deadlocks, whether they are reached or not; not all of them, if their diagram would be large.
    pub(crate) fn moving(&mut self, options: &SearchOptions) -> Result<Set, Full> {
        let mut moving = self.diagrams.empty().clone();
        for number in 0..self.rules.len() {
            let mut all = vec![self.rules[number].enabled.clone()];
            if self.must_change(number, options) {
                all.clear();
                for change in 0..self.rules[number].changes.len() {
                    let rule = &self.rules[number];
                    all.push(self.diagrams.product(&rule.taken, &rule.changes[change], &rule.input_cube)?);
                }
            }
            for own in all {
                let more = self.diagrams.union(&moving, &own)?;
                if self.diagrams.size(&more) <= MOVING_NODES {
                    moving = more;
                }
            }
        }
        Ok(moving)
    }

    /// The states of a set that are deadlocks. States are taken away rule by rule: all that are none may have a large
    /// diagram.
    pub(crate) fn deadlocks(&mut self, options: &SearchOptions, states: &Set) -> Result<Set, Full> {
        let mut stuck = self.diagrams.common(states, &self.expanded.clone())?;
        for number in 0..self.rules.len() {
            if self.diagrams.is_empty(&stuck) {
                break;
            }
            let rule = &self.rules[number];
            if self.must_change(number, options) {
                let taking = self.diagrams.common(&stuck, &rule.taken)?;
                if !self.diagrams.is_empty(&taking) {
                    for change in &self.rules[number].changes {
                        let moving = self.diagrams.product(&taking, change, &self.rules[number].input_cube)?;
                        stuck = self.diagrams.without(&stuck, &moving)?;
                    }
                }
            } else {
                stuck = self.diagrams.without(&stuck, &rule.enabled)?;
            }
            let fault = self.fault(number)?;
            stuck = self.diagrams.without(&stuck, &fault)?;
        }
        Ok(stuck)
    }

    /// Where an instance of a rule causes a run-time error, for some inputs.
    pub(crate) fn fault(&mut self, number: usize) -> Result<Set, Full> {
        let rule = &self.rules[number];
        self.diagrams.exists(&rule.fault, &rule.input_cube)
    }

    /// A start that causes a run-time error.
    pub(crate) fn failing_start(&self) -> Option<Instance> {
        self.starts.iter().find_map(|start| {
            let picked = self.diagrams.pick(&start.fault)?;
            Some(self.instance(start.action, &start.arguments, &start.inputs, &picked))
        })
    }

    /// An instance of a rule that causes a run-time error in a state.
    pub(crate) fn failing_rule(&mut self, state: &Set) -> Result<Option<Instance>, Full> {
        for number in 0..self.rules.len() {
            let here = self.diagrams.common(state, &self.rules[number].fault)?;
            if let Some(picked) = self.diagrams.pick(&here) {
                let rule = &self.rules[number];
                return Ok(Some(self.instance(rule.action, &rule.arguments, &rule.inputs, &picked)));
            }
        }
        Ok(None)
    }

    /// A start that leads into a set of states, and the state.
    pub(crate) fn start_into(&mut self, states: &Set) -> Result<Option<(Instance, Valuation)>, Full> {
        for number in 0..self.starts.len() {
            let here = self.diagrams.common(states, &self.starts[number].states)?;
            if let Some(picked) = self.diagrams.pick(&here) {
                let start = &self.starts[number];
                let instance = self.instance(start.action, &start.arguments, &start.inputs, &picked);
                return Ok(Some((instance, self.valuation(&picked, |variables, slot| variables.before(slot)))));
            }
        }
        Ok(None)
    }

    /// A step from a state into a set of states, and the state it leads to.
    pub(crate) fn step_into(&mut self, state: &Valuation, states: &Set) -> Result<Option<(Instance, Valuation)>, Full> {
        for number in 0..self.rules.len() {
            let relation = self.rules[number].relation.clone();
            if let Some(found) = self.step_by(number, &relation, state, states)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The same by a part of the relation of one instance.
    pub(crate) fn step_by(
        &mut self,
        number: usize,
        relation: &Relation,
        state: &Valuation,
        states: &Set,
    ) -> Result<Option<(Instance, Valuation)>, Full> {
        let here = self.state(state)?;
        let after = match &self.rules[number].backward {
            Some(backward) => self.diagrams.replaced(states, backward)?,
            None => states.clone(),
        };
        let mut from_here = here;
        for Part { relation, .. } in &relation.0 {
            from_here = self.diagrams.common(&from_here, relation)?;
        }
        let both = self.diagrams.common(&from_here, &after)?;
        let Some(picked) = self.diagrams.pick(&both) else { return Ok(None) };
        let rule = &self.rules[number];
        let instance = self.instance(rule.action, &rule.arguments, &rule.inputs, &picked);
        let mut next = state.clone();
        let reached = self.valuation(&picked, |variables, slot| variables.after(slot));
        for slot in rule.slots.iter().map(|&slot| SlotId::from_position(slot as usize)) {
            next[slot] = reached[slot];
        }
        Ok(Some((instance, next)))
    }

    /// The relations of an instance of a rule, one for each combination of its arguments; `None` if there are too many to
    /// list.
    pub(crate) fn singles(&mut self, number: usize) -> Result<Option<Vec<Single>>, Full> {
        let Rule { arguments, inputs, relation, taken, .. } = &self.rules[number];
        let relation = relation.clone();
        if inputs.is_empty() {
            return Ok(Some(vec![(arguments.clone(), relation)]));
        }
        if !inputs.clone().all(|input| self.encoding.is_listed(input)) {
            return Ok(None);
        }
        let mut conditions = vec![(Vec::new(), taken.clone())];
        for input in inputs.clone() {
            let mut longer = Vec::new();
            for &value in self.encoding.values(input).to_vec().iter().filter(|value| value.is_some()) {
                let bits = self.encoding.encode(input, value).expect("it is one of its values");
                let literals = self.variables.before(input).to_vec().into_iter().zip(bits);
                let own = self.literals(literals.collect())?;
                for (arguments, condition) in &conditions {
                    let both = self.diagrams.common(condition, &own)?;
                    if !self.diagrams.is_empty(&both) {
                        longer.push((arguments.iter().copied().chain(value).collect(), both));
                    }
                }
            }
            conditions = longer;
            if conditions.len() > MOST_SINGLES {
                return Ok(None);
            }
        }
        let mut singles = Vec::with_capacity(conditions.len());
        for (arguments, condition) in conditions {
            singles.push((arguments, relation.with(&mut self.diagrams, &condition)?));
        }
        Ok(Some(singles))
    }

    /// An instance with the arguments that an assignment gives to its inputs.
    fn instance(&self, action: Action, arguments: &[i64], inputs: &std::ops::Range<u32>, picked: &[bool]) -> Instance {
        if inputs.is_empty() {
            return (action, arguments.to_vec());
        }
        let value = |input: u32| {
            let bits: Vec<bool> =
                self.variables.before(input).iter().map(|&variable| picked[variable as usize]).collect();
            self.encoding.decode(input, &bits).flatten().unwrap_or_default()
        };
        (action, inputs.clone().map(value).collect())
    }

    fn valuation<'a>(&'a self, picked: &[bool], variables: impl Fn(&'a Variables, u32) -> &'a [u32]) -> Valuation {
        let content = |slot: u32| {
            let bits: Vec<bool> =
                variables(&self.variables, slot).iter().map(|&variable| picked[variable as usize]).collect();
            self.encoding.decode(slot, &bits).flatten()
        };
        Valuation((0..self.slots as u32).map(content).collect())
    }

    /// A state in a set.
    pub(crate) fn pick(&self, states: &Set) -> Option<Valuation> {
        let picked = self.diagrams.pick(states)?;
        Some(self.valuation(&picked, |variables, slot| variables.before(slot)))
    }

    /// The set of one state.
    pub(crate) fn state(&mut self, state: &Valuation) -> Result<Set, Full> {
        let mut literals: Vec<(u32, bool)> = Vec::new();
        for slot in 0..self.slots as u32 {
            let Some(bits) = self.encoding.encode(slot, state.0[slot as usize]) else {
                return Ok(self.diagrams.empty().clone());
            };
            literals.extend(self.variables.before(slot).iter().copied().zip(bits));
        }
        self.literals(literals)
    }

    /// Where variables have these values.
    fn literals(&mut self, mut literals: Vec<(u32, bool)>) -> Result<Set, Full> {
        literals.sort_by_key(|&(variable, _)| std::cmp::Reverse(variable));
        let mut set = self.diagrams.whole().clone();
        for (variable, value) in literals {
            let mut literal = self.diagrams.variable(variable).clone();
            if !value {
                literal = self.diagrams.not(&literal)?;
            }
            set = self.diagrams.common(&literal, &set)?;
        }
        Ok(set)
    }

    /// The order of the slots in diagrams.
    pub(crate) fn usual_order(&self) -> &[u32] {
        &self.order
    }

    /// The pairs of equal states before and after a step.
    pub(crate) fn identity(&self) -> Set {
        self.pairs.identity.clone()
    }

    /// The pairs in which the state after a step is less, compared by the codes of slots in an order.
    pub(crate) fn less_after(&mut self, order: &[u32]) -> Result<Set, Full> {
        let mut less = self.diagrams.empty().clone();
        for &slot in order.iter().rev() {
            let pairs = self.variables.before(slot).iter().zip(self.variables.after(slot));
            let pairs: Vec<(u32, u32)> = pairs.map(|(&before, &after)| (before, after)).collect();
            // The least significant bit is the last to decide.
            for (before, after) in pairs {
                let (before, after) = (self.diagrams.variable(before).clone(), self.diagrams.variable(after).clone());
                let is_less = self.diagrams.without(&before, &after)?;
                let differs = self.diagrams.xor(&before, &after)?;
                less = self.diagrams.choose(&differs, &is_less, &less)?;
            }
        }
        Ok(less)
    }

    /// The bits of the image of a state under a map of states, for each slot that is moved or whose values change.
    fn image_bits(&mut self, map: &StateMap) -> Result<Vec<(u32, Vec<Set>)>, Full> {
        let mut images = Vec::with_capacity(map.moves().len());
        for one in map.moves() {
            let (from, to) = (one.from.position() as u32, one.to.position() as u32);
            let variables = self.variables.before(from).iter();
            let own: Vec<Set> = variables.map(|&variable| self.diagrams.variable(variable).clone()).collect();
            if one.values.is_none() && self.encoding.has_same_code(from, to) {
                images.push((to, own));
                continue;
            }
            let mut cases: Vec<Vec<Set>> = vec![Vec::new(); self.encoding.width(to)];
            for value in self.encoding.values(from).to_vec() {
                let code = self.encoding.encode(from, value).expect("it is one of its values");
                // A value without an image does not occur.
                let Some(image) = self.encoding.encode(to, one.value(value)) else { continue };
                let mut literals = Vec::with_capacity(code.len());
                for (bit, &wanted) in own.iter().zip(&code) {
                    literals.push(if wanted { bit.clone() } else { self.diagrams.not(bit)? });
                }
                let holds = self.diagrams.all(literals)?;
                for (case, _) in cases.iter_mut().zip(image).filter(|(_, bit)| *bit) {
                    case.push(holds.clone());
                }
            }
            let bits = cases.into_iter().map(|case| self.diagrams.any(case)).collect::<Result<_, _>>()?;
            images.push((to, bits));
        }
        Ok(images)
    }

    /// The states that a map makes less, compared by the codes of slots in an order, in which every slot that is moved
    /// occurs.
    pub(crate) fn lessened(&mut self, map: &StateMap, order: &[u32]) -> Result<Set, Full> {
        let images = self.image_bits(map)?;
        let mut less = self.diagrams.empty().clone();
        // The last slot is the last to decide, and in it the least significant bit.
        for &slot in order.iter().rev() {
            let Some((_, bits)) = images.iter().find(|(own, _)| *own == slot) else { continue };
            for (position, image) in bits.iter().enumerate() {
                let own = self.diagrams.variable(self.variables.before(slot)[position]).clone();
                let is_less = self.diagrams.without(&own, image)?;
                let differs = self.diagrams.xor(&own, image)?;
                less = self.diagrams.choose(&differs, &is_less, &less)?;
            }
        }
        Ok(less)
    }

    /// The states of a set that a map leaves as they are.
    pub(crate) fn fixed(&mut self, map: &StateMap, states: &Set) -> Result<Set, Full> {
        let mut fixed = states.clone();
        for (slot, bits) in self.image_bits(map)? {
            for (position, image) in bits.iter().enumerate() {
                let own = self.diagrams.variable(self.variables.before(slot)[position]).clone();
                let same = self.diagrams.equal(&own, image)?;
                fixed = self.diagrams.common(&fixed, &same)?;
            }
        }
        Ok(fixed)
    }

    /// The variables of a state after a step.
    pub(crate) fn after_cube(&self) -> Set {
        self.pairs.after_cube.clone()
    }

    /// A set of states as states after a step.
    pub(crate) fn after(&mut self, states: &Set) -> Result<Set, Full> {
        self.diagrams.replaced(states, &self.pairs.to_after)
    }

    /// A set of states after a step as states before one.
    pub(crate) fn before(&mut self, states: &Set) -> Result<Set, Full> {
        self.diagrams.replaced(states, &self.pairs.to_before)
    }

    /// Whether a map of states can be applied to sets: slots have as many values as those that they are mapped to, and
    /// values that are not listed keep their codes.
    pub(crate) fn can_replace(&self, map: &StateMap) -> bool {
        map.multisets().is_empty()
            && map.moves().iter().all(|one| {
                let (from, to) = (one.from.position() as u32, one.to.position() as u32);
                let is_listed = |slot| self.encoding.is_listed(slot);
                let is_as_many = self.encoding.values(from).len() == self.encoding.values(to).len();
                (is_listed(from) && is_listed(to) && is_as_many)
                    || self.encoding.has_same_code(from, to) && one.values.is_none()
            })
    }

    /// What replaces the bits of a state in a set to get its image under a map of states, and the states that are images
    /// of something; for states before or after a step.
    pub(crate) fn replacement(&mut self, map: &StateMap, is_after: bool) -> Result<(Replacement, Set), Full> {
        let (mut variables, mut functions) = (Vec::new(), Vec::new());
        let mut images = self.diagrams.whole().clone();
        for one in map.moves() {
            let (from, to) = (one.from.position() as u32, one.to.position() as u32);
            let of = |slot: u32| if is_after { self.variables.after(slot) } else { self.variables.before(slot) };
            let (own, others) = (of(from).to_vec(), of(to).to_vec());
            let others: Vec<Set> = others.iter().map(|&variable| self.diagrams.variable(variable).clone()).collect();
            let is_same = one.values.is_none() && self.encoding.has_same_code(from, to);
            if is_same {
                variables.extend(own);
                functions.extend(others);
                continue;
            }
            // The image has the value that the slot had, perhaps under another code: a bit of the slot is that of its
            // image, unless the codes of the value differ there.
            let values = self.encoding.values(from).to_vec();
            let codes: Vec<(Vec<bool>, Option<Vec<bool>>)> = values
                .iter()
                .map(|&value| {
                    let own = self.encoding.encode(from, value).expect("it is one of its values");
                    (own, self.encoding.encode(to, one.value(value)))
                })
                .collect();
            let is_onto =
                codes.iter().all(|(_, code)| code.is_some()) && values.len() == self.encoding.values(to).len();
            let mut cases: Vec<(Set, Vec<bool>)> = Vec::new();
            let mut all = Vec::new();
            for (own, code) in codes {
                let Some(code) = code else { continue };
                if is_onto && own == code {
                    continue;
                }
                let mut literals = Vec::with_capacity(code.len());
                for (bit, &wanted) in others.iter().zip(&code) {
                    literals.push(if wanted { bit.clone() } else { self.diagrams.not(bit)? });
                }
                let holds = self.diagrams.all(literals)?;
                all.push(holds.clone());
                let differs = own.iter().zip(&code).map(|(own, code)| own != code).collect();
                cases.push((holds, differs));
            }
            if !is_onto {
                let all = self.diagrams.any(all)?;
                images = self.diagrams.common(&images, &all)?;
            }
            for (position, variable) in own.into_iter().enumerate() {
                let differing = cases.iter().filter(|(_, differs)| differs[position]).map(|(holds, _)| holds.clone());
                let differing = self.diagrams.any(differing.collect())?;
                variables.push(variable);
                functions.push(self.diagrams.xor(&others[position], &differing)?);
            }
        }
        Ok((Replacement::new(variables, functions), images))
    }

    /// The number of states in a set.
    pub(crate) fn count(&self, states: &Set) -> BigUint {
        self.diagrams.count(states) >> (self.variables.total - self.variables.bits)
    }

    /// The greatest value of a slot and the greatest sum of all slots in a set of states. None if the set is empty, or
    /// the bits of some slot do not add up to its value.
    pub(crate) fn greatest_values(&self, states: &Set) -> Option<(u64, u64)> {
        let mut all = vec![0u64; self.variables.total as usize];
        let (mut most, mut least_sum) = (0, 0);
        for slot in 0..self.variables.after.len() as u32 {
            let (least, weights) = self.encoding.weights(slot)?;
            let mut own = vec![0u64; all.len()];
            for (&variable, &weight) in self.variables.before(slot).iter().zip(&weights) {
                own[variable as usize] = weight;
                all[variable as usize] = weight;
            }
            most = most.max(least + self.diagrams.greatest(states, &own)?);
            least_sum += least;
        }
        Some((most, least_sum + self.diagrams.greatest(states, &all)?))
    }

    /// How often instances can fire in the states of a set.
    pub(crate) fn count_steps(&mut self, states: &Set) -> Result<BigUint, Full> {
        let mut steps = BigUint::default();
        for number in 0..self.rules.len() {
            let rule = &self.rules[number];
            let taken = self.diagrams.common(states, &rule.taken)?;
            let inputs: u32 =
                self.rules[number].inputs.clone().map(|input| self.variables.before(input).len() as u32).sum();
            steps += self.diagrams.count(&taken) >> (self.variables.total - self.variables.bits - inputs);
        }
        Ok(steps)
    }

    /// The rules of which no instance can fire in a set of states.
    pub(crate) fn never_fired(&mut self, states: &Set) -> Result<Vec<RuleId>, Full> {
        let mut fired = vec![false; self.model.rules.len()];
        for number in 0..self.rules.len() {
            if let Action::Rule(rule) = self.rules[number].action
                && !fired[rule.position()]
            {
                let enabled = self.rules[number].enabled.clone();
                fired[rule.position()] = self.diagrams.meet(states, &enabled)?;
            }
        }
        let numbered = fired.into_iter().enumerate().filter(|(_, fired)| !fired);
        Ok(numbered.map(|(rule, _)| RuleId::from_position(rule)).collect())
    }
}
