//! The second argument of certification: exhaustive evaluation. The reference interpreter runs an event for every
//! assignment of the slots it reads. Nothing here uses unfolded functions; the text is only run.
//!
//! The assignments are the leaves of a decision tree: a run on some state shows which slots it read, and the next run
//! changes the last of them that has a value left. Slots that a run does not read do not matter, whatever they hold.
//! The *survey* does this once for every instance, keeps the trees, and checks along the way that every value written
//! is among the possible ones. It also finds which slots an event touches at all, so that an event considered
//! unaffected by a permutation has not merely been misread.
//!
//! A generator then compares the tree of an instance with that of its image, without running anything again: every leaf
//! of the one, permuted, must have the same effect as all compatible leaves of the other. A slot that only one of the
//! two writes must be known to hold that value already: writing the value a slot already has is the same as not writing
//! it.
//!
//! All of this has a budget, so that certification takes some hundredths of a second at most; the remaining instances
//! are certified by normal forms alone, and the report counts them.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_ir::{
    Action, Budget, FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, SlotId, TableIndex,
    Valuation,
};

use super::decisions::{Agreement, Decisions, Effect};
use super::{Instance, Rejection, Subject};
use crate::literals::{Literals, SlotMove, StateMap};

/// The largest number of assignments for which an event is evaluated exhaustively.
const LEAF_LIMIT: u32 = 512;
/// The largest number of instances of initial-state programs for which all initial states are listed.
const START_LIMIT: usize = 512;
/// The budget of the survey, in steps of the interpreter, which does some twenty million per second.
const SURVEY_BUDGET: u64 = 400_000;
/// The budget of comparisons for all generators together, in steps between nodes of decision trees.
const COMPARISON_BUDGET: u64 = 1_000_000;
/// The minimum share of each generator.
const GENERATOR_BUDGET: u64 = 10_000;
/// The number of generators assumed for sharing the budget if it is unknown.
const GENERATORS: u64 = 4;

/// How the events and properties were certified for the generators. An instance counts once for each generator that
/// touches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificationReport {
    /// Instances of rules, initial-state programs and properties that were compared with their images for every
    /// assignment of the slots they read, in addition to their normal forms.
    pub exhausted: u64,
    /// Instances certified by their normal forms alone.
    pub by_normal_form: u64,
    /// Runs of the reference interpreter.
    pub runs: u64,
}

/// Runs instances for all assignments.
pub(super) struct Exhaustion<'m> {
    interpreter: Interpreter<'m>,
    literals: Rc<Literals>,
    /// All instances; the number of an instance is its position here.
    instances: Vec<Instance>,
    /// The effect of each instance, if it was run for every assignment.
    decisions: Vec<Option<Decisions>>,
    /// Subjects with an instance that is too large to be run for all assignments.
    large: FxHashSet<Subject>,
    /// All initial states with the properties covered along the way, if they are few.
    initial: Option<FxHashSet<(Valuation, Vec<PropertyId>)>>,
    /// Whether each slot has a possible value; otherwise there are no states.
    inhabited: bool,
    budget: u64,
    /// The budget of the whole detection.
    whole: Budget,
    /// The number of generators still to be compared.
    pub(super) expected: u64,
    pub(super) report: CertificationReport,
}

/// The effect of a run and the slots it read; `None` if it did not finish.
type Run = Option<(Effect, Vec<SlotId>)>;

/// A state that is being varied.
struct Variation<'a> {
    literals: &'a Literals,
    state: Valuation,
    /// The slots that are varied and the position of the value of each.
    path: Vec<(SlotId, usize)>,
    on_path: FxHashSet<SlotId>,
}

/// A map of states, by slots.
pub(super) struct SlotPermutation<'a> {
    moves: FxHashMap<SlotId, &'a SlotMove>,
    origins: FxHashMap<SlotId, SlotId>,
}

impl<'a> SlotPermutation<'a> {
    pub(super) fn new(map: &'a StateMap) -> Self {
        Self {
            moves: map.moves().iter().map(|slot_move| (slot_move.from, slot_move)).collect(),
            origins: map.moves().iter().map(|slot_move| (slot_move.to, slot_move.from)).collect(),
        }
    }

    /// The image of a literal.
    pub(super) fn literal(&self, slot: SlotId, value: Option<i64>) -> (SlotId, Option<i64>) {
        match self.moves.get(&slot) {
            Some(slot_move) => (slot_move.to, slot_move.value(value)),
            None => (slot, value),
        }
    }

    /// The image of a slot, if it or its values move.
    pub(super) fn slot_move(&self, slot: SlotId) -> Option<&SlotMove> {
        self.moves.get(&slot).copied()
    }

    /// The preimage of a slot.
    pub(super) fn origin(&self, slot: SlotId) -> SlotId {
        self.origins.get(&slot).copied().unwrap_or(slot)
    }
}

impl<'a> Variation<'a> {
    fn new(literals: &'a Literals) -> Self {
        let state = Valuation(literals.slots().iter().map(|slot| slot.values[0]).collect());
        Self { literals, state, path: Vec::new(), on_path: FxHashSet::default() }
    }

    fn set(&mut self, slot: SlotId, position: usize) {
        self.state[slot] = self.literals.slots()[slot].values[position];
    }

    /// Records a relevant slot. Returns false if it cannot be varied.
    fn vary(&mut self, slot: SlotId) -> bool {
        let entry = &self.literals.slots()[slot];
        if entry.wide {
            return false;
        }
        if entry.values.len() > 1 && self.on_path.insert(slot) {
            self.path.push((slot, 0));
        }
        true
    }

    /// Moves to the next assignment. Returns false if there is none; then everything is as it was at the start.
    fn advance(&mut self) -> bool {
        while let Some((slot, position)) = self.path.pop() {
            if position + 1 < self.literals.slots()[slot].values.len() {
                self.path.push((slot, position + 1));
                self.set(slot, position + 1);
                return true;
            }
            self.on_path.remove(&slot);
            self.set(slot, 0);
        }
        false
    }

    /// Forgets the slots being varied.
    fn reset(&mut self) {
        while let Some((slot, _)) = self.path.pop() {
            self.on_path.remove(&slot);
            self.set(slot, 0);
        }
    }
}

impl<'m> Exhaustion<'m> {
    pub(super) fn new(
        model: &'m Model,
        layout: &'m Layout,
        literals: Literals,
        instances: Vec<Instance>,
        whole: &Budget,
    ) -> Self {
        let inhabited = literals.slots().iter().all(|slot| !slot.values.is_empty());
        Self {
            interpreter: Interpreter::new(model, layout).until(whole.interrupt()),
            whole: whole.clone(),
            literals: Rc::new(literals),
            decisions: instances.iter().map(|_| None).collect(),
            instances,
            large: FxHashSet::default(),
            initial: None,
            inhabited,
            budget: 0,
            expected: GENERATORS,
            report: CertificationReport::default(),
        }
    }

    /// Runs every instance individually. `idle` are instances considered to never have an effect. Returns, for each
    /// instance, the slots that it touches (none if unknown).
    pub(super) fn survey(&mut self, idle: &[Instance]) -> Result<Vec<Vec<SlotId>>, Rejection> {
        let mut touched = vec![Vec::new(); self.instances.len()];
        if !self.inhabited {
            return Ok(touched);
        }
        self.budget = SURVEY_BUDGET;
        self.list_initial_states()?;
        let literals = Rc::clone(&self.literals);
        let mut variation = Variation::new(&literals);
        let instances = std::mem::take(&mut self.instances);
        // Each rule and property gets its share; unused work goes to the others.
        let mut groups: Vec<&[Instance]> = instances.chunk_by(|left, right| left.subject == right.subject).collect();
        groups.extend(idle.chunk_by(|left, right| left.subject == right.subject));
        let mut number = 0;
        for (group, rest) in groups.iter().zip((1..=groups.len() as u64).rev()) {
            let reserve = self.budget - self.budget / rest;
            self.budget -= reserve;
            for instance in *group {
                let is_idle = number >= instances.len();
                let (slots, decisions) = self.survey_one(&mut variation, instance, is_idle)?;
                if !is_idle {
                    touched[number] = slots;
                    self.decisions[number] = decisions;
                }
                number += 1;
            }
            self.budget += reserve;
        }
        self.instances = instances;
        self.budget = COMPARISON_BUDGET;
        Ok(touched)
    }

    fn survey_one(
        &mut self,
        variation: &mut Variation<'_>,
        instance: &Instance,
        is_idle: bool,
    ) -> Result<(Vec<SlotId>, Option<Decisions>), Rejection> {
        let is_start = matches!(instance.subject, Subject::Action(Action::Start(_)));
        if self.budget == 0 || is_start || !self.is_runnable(instance) || self.large.contains(&instance.subject) {
            return Ok((Vec::new(), None));
        }
        let mut touched = FxHashSet::default();
        let mut decisions = Decisions::default();
        let mut is_complete = false;
        for leaves in 1.. {
            if leaves > LEAF_LIMIT || self.budget == 0 {
                break;
            }
            self.whole.spend(1)?;
            let Some((effect, reads)) = self.run(instance, &variation.state) else { break };
            touched.extend(&reads);
            if let Effect::Next { writes, .. } = &effect {
                touched.extend(writes.iter().map(|&(slot, _)| slot));
                self.check_possible(instance, writes)?;
            }
            if is_idle && effect != Effect::Disabled {
                return Err(Rejection::Overlooked(instance.clone()));
            }
            if !reads.into_iter().all(|slot| variation.vary(slot)) {
                break;
            }
            decisions.add(&variation.path, effect, |slot| self.literals.slots()[slot].values.len());
            if !variation.advance() {
                is_complete = true;
                break;
            }
        }
        variation.reset();
        if !is_complete && self.budget > 0 {
            self.large.insert(instance.subject);
        }
        let mut touched: Vec<SlotId> = touched.into_iter().collect();
        touched.sort_unstable();
        Ok((touched, is_complete.then_some(decisions)))
    }

    /// Lists the initial states, if they are few.
    fn list_initial_states(&mut self) -> Result<(), Rejection> {
        let model = self.interpreter.model();
        let mut initial = FxHashSet::default();
        let mut count = 0;
        for (start, entry) in model.starts.iter_enumerated() {
            for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                count += 1;
                if count > START_LIMIT || self.budget == 0 {
                    return Ok(());
                }
                self.whole.spend(1 + self.literals.slots().len() as u64 / 16)?;
                self.report.runs += 1;
                let outcome = self.interpreter.run_start(start, &arguments);
                if let Outcome::Next { state, covered } = outcome {
                    self.charge(state.0.len());
                    let instance = Instance { subject: Subject::Action(Action::Start(start)), arguments };
                    let writes: Vec<(SlotId, Option<i64>)> =
                        self.literals.slots().indices().map(|slot| (slot, state[slot])).collect();
                    self.check_possible(&instance, &writes)?;
                    initial.insert((state, covered));
                }
            }
        }
        // An interrupted run may have missed a state.
        self.whole.spend(0)?;
        self.initial = Some(initial);
        Ok(())
    }

    fn check_possible(&self, instance: &Instance, writes: &[(SlotId, Option<i64>)]) -> Result<(), Rejection> {
        for &(slot, value) in writes {
            let entry = &self.literals.slots()[slot];
            let possible = match value {
                Some(number) if entry.wide => {
                    let mut bounds = entry.values.iter().flatten();
                    let (low, high) = (bounds.next(), bounds.next_back());
                    low.is_some_and(|&low| low <= number) && high.is_some_and(|&high| number <= high)
                }
                _ => entry.values.binary_search(&value).is_ok(),
            };
            if !possible {
                let slot = self.interpreter.layout().slots[slot].name.clone();
                return Err(Rejection::Impossible { instance: instance.clone(), slot });
            }
        }
        Ok(())
    }

    /// Compares instances, by their numbers, with their images under a generator, cheap ones first, as far as the
    /// budget goes; also compares the initial states with theirs.
    pub(super) fn compare(
        &mut self,
        permutation: &SlotPermutation<'_>,
        pairs: Vec<(u32, u32)>,
    ) -> Result<(), Rejection> {
        let has_initial = self.inhabited && self.compare_initial_states(permutation)?;
        self.compare_instances(permutation, pairs, has_initial)
    }

    /// The same without the initial states.
    pub(super) fn compare_instances(
        &mut self,
        permutation: &SlotPermutation<'_>,
        mut pairs: Vec<(u32, u32)>,
        has_initial: bool,
    ) -> Result<(), Rejection> {
        if !self.inhabited {
            return Ok(());
        }
        let reserve = self.budget - (self.budget / self.expected).max(GENERATOR_BUDGET).min(self.budget);
        // The remaining budget goes to unannounced generators, half of the rest to each.
        self.expected = (self.expected - 1).max(2);
        self.budget -= reserve;
        let size_of = |number: u32| self.decisions[number as usize].as_ref().map_or(usize::MAX, Decisions::size);
        pairs.sort_by_cached_key(|&(number, _)| size_of(number));
        let literals = Rc::clone(&self.literals);
        let mut agreement = Agreement::new(&literals, permutation);
        for (number, image) in pairs {
            self.whole.spend(1)?;
            let is_start = matches!(self.instances[number as usize].subject, Subject::Action(Action::Start(_)));
            let compared = if is_start {
                has_initial || self.compare_starts(permutation, number, image)?
            } else if let (Some(own), Some(other)) = (&self.decisions[number as usize], &self.decisions[image as usize])
            {
                match agreement.holds(own, other, &mut self.budget) {
                    Some(true) => true,
                    Some(false) => return Err(self.contradiction(number, image)),
                    None => false,
                }
            } else {
                false
            };
            if compared {
                self.report.exhausted += 1;
            } else {
                self.report.by_normal_form += 1;
            }
        }
        self.budget += reserve;
        Ok(())
    }

    fn contradiction(&self, number: u32, image: u32) -> Rejection {
        let instance = |number: u32| self.instances[number as usize].clone();
        Rejection::Run { instance: instance(number), image: instance(image) }
    }

    /// Compares all initial states with their images, if they are few.
    fn compare_initial_states(&mut self, permutation: &SlotPermutation<'_>) -> Result<bool, Rejection> {
        let Some(initial) = self.initial.take() else { return Ok(false) };
        for (state, covered) in &initial {
            self.whole.spend(1 + permutation.moves.len() as u64 / 16)?;
            self.charge(1 + permutation.moves.len());
            // Most are their own images.
            let stays = |&slot: &SlotId| {
                let (to, value) = permutation.literal(slot, state[slot]);
                state[to] == value
            };
            if permutation.moves.keys().all(stays) {
                continue;
            }
            let mut image = state.clone();
            for &slot in permutation.moves.keys() {
                let (to, value) = permutation.literal(slot, state[slot]);
                image[to] = value;
            }
            self.charge(state.0.len());
            self.interpreter.layout().normalize(&mut image);
            if !initial.contains(&(image, covered.clone())) {
                return Err(Rejection::InitialStates);
            }
        }
        self.initial = Some(initial);
        Ok(true)
    }

    fn compare_starts(
        &mut self,
        permutation: &SlotPermutation<'_>,
        number: u32,
        image_number: u32,
    ) -> Result<bool, Rejection> {
        let (instance, image) = (&self.instances[number as usize], &self.instances[image_number as usize]);
        let (Subject::Action(Action::Start(first)), Subject::Action(Action::Start(second))) =
            (instance.subject, image.subject)
        else {
            unreachable!("initial-state programs go to initial-state programs")
        };
        if self.budget == 0 || !self.is_runnable(instance) || !self.is_runnable(image) {
            return Ok(false);
        }
        self.whole.spend(1 + self.literals.slots().len() as u64 / 8)?;
        let outcome = self.interpreter.run_start(first, &instance.arguments);
        let image_outcome = self.interpreter.run_start(second, &image.arguments);
        self.report.runs += 2;
        let agree = match (outcome, image_outcome) {
            (Outcome::Next { state, covered }, Outcome::Next { state: image_state, covered: image_covered }) => {
                // A run of the interpreter takes some steps per cell.
                self.charge(16 * state.0.len());
                let mut expected = state.clone();
                for slot in self.literals.slots().indices() {
                    let (to, value) = permutation.literal(slot, state[slot]);
                    expected[to] = value;
                }
                self.interpreter.layout().normalize(&mut expected);
                covered == image_covered && expected == image_state
            }
            (Outcome::Pruned, Outcome::Pruned) => true,
            (Outcome::Fault(first), Outcome::Fault(second)) => {
                (first.kind == FaultKind::Exhausted) == (second.kind == FaultKind::Exhausted)
            }
            _ => false,
        };
        // An interrupted run proves nothing.
        self.whole.spend(0)?;
        if agree { Ok(true) } else { Err(self.contradiction(number, image_number)) }
    }

    fn charge(&mut self, work: usize) {
        self.budget = self.budget.saturating_sub(work as u64);
    }

    /// Whether the arguments are those of an instance, and not open inputs.
    fn is_runnable(&self, instance: &Instance) -> bool {
        let model = self.interpreter.model();
        let parameters = match instance.subject {
            Subject::Action(Action::Start(start)) => &model.starts[start].parameters,
            Subject::Action(Action::Rule(rule)) => &model.rules[rule].parameters,
            Subject::Property(property) => &model.properties[property].parameters,
        };
        self.interpreter.is_instance(parameters, &instance.arguments)
    }

    /// Runs an instance of a rule or property. One that involves a multiset is not run: its elements are sorted after a
    /// step, so the slots it reads do not determine its effect.
    fn run(&mut self, instance: &Instance, state: &Valuation) -> Run {
        let (effect, reads) = self.run_any(instance, state)?;
        let layout = self.interpreter.layout();
        let is_in_multiset = |slot: SlotId| {
            layout.multisets().iter().any(|multiset| {
                let end = multiset.first.position() + multiset.capacity * multiset.stride;
                multiset.first <= slot && slot.position() < end
            })
        };
        let writes_multiset = match &effect {
            Effect::Next { writes, .. } => writes.iter().any(|&(slot, _)| is_in_multiset(slot)),
            Effect::Disabled | Effect::Fault | Effect::Truth(_) => false,
        };
        if layout.multisets().is_empty() || !(writes_multiset || reads.iter().any(|&slot| is_in_multiset(slot))) {
            return Some((effect, reads));
        }
        None
    }

    fn run_any(&mut self, instance: &Instance, state: &Valuation) -> Run {
        self.report.runs += 1;
        // Copying a state has a cost, too.
        self.charge(10 + state.0.len() / 32);
        match instance.subject {
            Subject::Action(Action::Rule(rule)) => {
                let (enabled, footprint) = self.interpreter.enabled_with_footprint(rule, &instance.arguments, state);
                let mut reads = footprint.reads;
                self.charge(footprint.work as usize + reads.len());
                match enabled {
                    Err(fault) => (fault.kind != FaultKind::Exhausted).then_some((Effect::Fault, reads)),
                    Ok(false) => Some((Effect::Disabled, reads)),
                    Ok(true) => {
                        let (outcome, footprint) =
                            self.interpreter.fire_with_footprint(rule, &instance.arguments, state);
                        self.charge(footprint.work as usize + footprint.reads.len() + footprint.writes.len());
                        reads.extend(footprint.reads);
                        let effect = match outcome {
                            Outcome::Next { covered, .. } => Effect::Next { writes: footprint.writes, covered },
                            Outcome::Pruned => Effect::Disabled,
                            Outcome::Fault(fault) if fault.kind == FaultKind::Exhausted => return None,
                            Outcome::Fault(_) => Effect::Fault,
                        };
                        Some((effect, reads))
                    }
                }
            }
            Subject::Property(property) => {
                let (holds, footprint) = self.interpreter.holds_with_footprint(property, &instance.arguments, state);
                self.charge(footprint.work as usize + footprint.reads.len());
                let kind = self.interpreter.model().properties[property].kind;
                let effect = match holds {
                    Ok(truth) => Effect::Truth(truth),
                    Err(fault) if fault.kind == FaultKind::Exhausted => return None,
                    // A run-time error also violates an invariant, and a state with one is not transient, so only where
                    // they hold matters.
                    Err(_)
                        if matches!(kind, PropertyKind::Invariant | PropertyKind::Passing | PropertyKind::Remark) =>
                    {
                        Effect::Truth(false)
                    }
                    Err(_) => Effect::Fault,
                };
                Some((effect, footprint.reads))
            }
            Subject::Action(Action::Start(_)) => unreachable!("initial-state programs do not run on states"),
        }
    }
}
