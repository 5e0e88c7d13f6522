//! A model as sets and relations: where its states start, what its steps relate, where its properties hold.
//!
//! Each bit of the state has two variables, one for the state before a step and one, next to it, for the state after.
//! The inputs of steps come below all of them. The relation of an instance mentions only the slots that it can change:
//! all others keep their value, and an image leaves them alone.

use num_bigint::BigUint;
use quotient_functions::Functions;
use quotient_ir::{Action, DeadlockMode, Model, PropertyId, PropertyKind, RuleId, SlotId, TableIndex, Valuation};
use quotient_symmetry::StateMap;

use crate::booleans::{Encoding, Full, Logic, Step, Steps};
use crate::options::SearchOptions;
use crate::symbolic::diagrams::{Diagrams, Replacement, Set};
use crate::symbolic::order::Order;

/// An instance whose parameters are inputs is taken apart into at most so many.
const MOST_PARTS: usize = 4_096;

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
    pub(crate) relation: Set,
    /// Where it takes a step, for some inputs.
    pub(crate) enabled: Set,
    /// Where it takes a step, with the inputs.
    taken: Set,
    /// Where it takes a step to another state.
    leaves: Set,
    /// Where it causes a run-time error, with the inputs.
    pub(crate) fault: Set,
    /// The cover statements it reaches, and where.
    pub(crate) covers: Vec<(PropertyId, Set)>,
    /// The slots that it can change, before the step, and its inputs.
    changed: Set,
    /// The same slots after the step, and its inputs.
    written: Set,
    /// The inputs.
    input_cube: Set,
    /// From the state after a step to the state before the next.
    forward: Option<Replacement>,
    /// From the state before a step to the state after the one that led there.
    backward: Option<Replacement>,
    /// The topmost variable that it mentions.
    pub(crate) top: u32,
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
        let mut relation = enabled.clone();
        let mut changes = self.diagrams.empty().clone();
        for (before, after, bit) in &pairs {
            let (before, after) = (self.diagrams.variable(*before).clone(), self.diagrams.variable(*after).clone());
            let same = self.diagrams.equal(&after, bit)?;
            relation = self.diagrams.common(&relation, &same)?;
            let differs = self.diagrams.xor(&before, bit)?;
            changes = self.diagrams.union(&changes, &differs)?;
        }
        let leaves = self.diagrams.product(&enabled, &changes, &input_cube)?;
        let taken = enabled.clone();
        let enabled = self.diagrams.exists(&enabled, &input_cube)?;
        let inputs_of: Vec<u32> =
            inputs.clone().flat_map(|input| self.variables.before(input).iter().copied()).collect();
        let (befores, afters): (Vec<u32>, Vec<u32>) = pairs.iter().map(|&(before, after, _)| (before, after)).unzip();
        let changed = self.diagrams.cube(befores.iter().chain(&inputs_of).copied().collect())?;
        let written = self.diagrams.cube(afters.iter().chain(&inputs_of).copied().collect())?;
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
            leaves,
            fault,
            covers,
            changed,
            written,
            input_cube,
            forward,
            backward,
            top,
        })
    }

    /// The states that an instance leads to from a set of states, whatever is assumed.
    pub(crate) fn image(&mut self, number: usize, states: &Set) -> Result<Set, Full> {
        let rule = &self.rules[number];
        let after = self.diagrams.product(states, &rule.relation, &rule.changed)?;
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
    pub(crate) fn preimage_by(&mut self, number: usize, relation: &Set, states: &Set) -> Result<Set, Full> {
        let rule = &self.rules[number];
        let after = match &rule.backward {
            Some(backward) => self.diagrams.replaced(states, backward)?,
            None => states.clone(),
        };
        self.diagrams.product(&after, relation, &rule.written)
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

    /// Where there is a deadlock, in any state.
    pub(crate) fn deadlocks(&mut self, options: &SearchOptions) -> Result<Set, Full> {
        let mut moves = Vec::with_capacity(2 * self.rules.len());
        let always = |rule: &Rule| matches!(rule.action, Action::Rule(id) if options.moving_rules.contains(&id));
        for number in 0..self.rules.len() {
            let rule = &self.rules[number];
            let stays = options.deadlock == DeadlockMode::Stuttering && !always(rule);
            moves.push(if stays { rule.leaves.clone() } else { rule.enabled.clone() });
            let fault = self.fault(number)?;
            moves.push(fault);
        }
        let moves = self.diagrams.any(moves)?;
        let stuck = self.diagrams.not(&moves)?;
        self.diagrams.common(&stuck, &self.expanded.clone())
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
        relation: &Set,
        state: &Valuation,
        states: &Set,
    ) -> Result<Option<(Instance, Valuation)>, Full> {
        let here = self.state(state)?;
        let after = match &self.rules[number].backward {
            Some(backward) => self.diagrams.replaced(states, backward)?,
            None => states.clone(),
        };
        let from_here = self.diagrams.common(&here, relation)?;
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

    /// The parts of the relation of an instance of a rule, one for each combination of its arguments; `None` if there are
    /// too many to list.
    pub(crate) fn parts(&mut self, number: usize) -> Result<Option<Vec<(Vec<i64>, Set)>>, Full> {
        let Rule { arguments, inputs, relation, .. } = &self.rules[number];
        if inputs.is_empty() {
            return Ok(Some(vec![(arguments.clone(), relation.clone())]));
        }
        if !inputs.clone().all(|input| self.encoding.is_listed(input)) {
            return Ok(None);
        }
        let mut parts = vec![(Vec::new(), relation.clone())];
        for input in inputs.clone() {
            let mut longer = Vec::new();
            for &value in self.encoding.values(input).to_vec().iter().filter(|value| value.is_some()) {
                let bits = self.encoding.encode(input, value).expect("it is one of its values");
                let mut own = self.diagrams.whole().clone();
                for (&variable, bit) in self.variables.before(input).iter().zip(bits) {
                    let mut literal = self.diagrams.variable(variable).clone();
                    if !bit {
                        literal = self.diagrams.not(&literal)?;
                    }
                    own = self.diagrams.common(&own, &literal)?;
                }
                for (arguments, relation) in &parts {
                    let part = self.diagrams.common(relation, &own)?;
                    if !self.diagrams.is_empty(&part) {
                        longer.push((arguments.iter().copied().chain(value).collect(), part));
                    }
                }
            }
            parts = longer;
            if parts.len() > MOST_PARTS {
                return Ok(None);
            }
        }
        Ok(Some(parts))
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
