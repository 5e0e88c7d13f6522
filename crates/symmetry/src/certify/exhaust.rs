//! The second argument of certification: exhaustive evaluation. The reference interpreter runs an
//! event for every assignment of what it reads, and its image for the image of that assignment.
//! Nothing here looks at unfolded functions; the text is only run.
//!
//! The assignments are the leaves of a decision tree: a run on some state tells which slots it read,
//! and the next run changes the last of them that has a value left. Slots that neither run reads do
//! not matter, whatever they hold. One that only one of the two writes does matter: writing the value
//! a slot had is the same as not writing it.
//!
//! A *survey* first runs every event by itself. It shows that every value written is among those that
//! were taken to be possible, and finds which slots an event touches at all, so that an event on
//! which a permutation has no bearing is not one that was merely misread.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_ir::{
    Action, FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, SlotId, Valuation,
};

use super::{Instance, Rejection, Subject};
use crate::literals::{Literals, SlotMove, StateMap};

/// Assignments up to which an event is evaluated for all of them.
const LEAF_LIMIT: u32 = 512;
/// Instances of initial-state programs up to which all initial states are listed.
const START_LIMIT: usize = 512;
/// The work of the survey, and of comparisons for all generators together. A unit is a slot read or
/// written, of which the interpreter does some ten million in a second.
const SURVEY_BUDGET: u64 = 200_000;
const COMPARISON_BUDGET: u64 = 400_000;
/// What one generator may use of it in any case.
const GENERATOR_BUDGET: u64 = 4_000;
/// How many generators the budget is shared among if nothing is known about it.
const GENERATORS: u64 = 4;

/// What the survey found about an instance.
#[derive(Clone, Debug)]
enum Survey {
    /// It was run for every assignment: how much work that was.
    Complete { work: u64 },
    /// It was not, or not for all.
    Incomplete,
}

/// How the events and properties of the generators were certified. Those of an instance count once
/// for each generator that touches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificationReport {
    /// Instances of rules, initial-state programs and properties that were compared with their images
    /// for every assignment of what they read, besides their normal forms.
    pub exhausted: u64,
    /// Those that rest on their normal forms alone.
    pub by_normal_form: u64,
    /// Runs of the reference interpreter.
    pub runs: u64,
}

/// Runs instances for all assignments.
pub(super) struct Exhaustion<'m> {
    interpreter: Interpreter<'m>,
    literals: Rc<Literals>,
    surveys: FxHashMap<Instance, Survey>,
    /// Subjects of which some instance is too large to be run for all assignments.
    large: FxHashSet<Subject>,
    /// All initial states with the properties covered on the way, if they are few.
    initial: Option<FxHashSet<(Valuation, Vec<PropertyId>)>>,
    /// Whether each slot has a possible value, without which there are no states.
    inhabited: bool,
    budget: u64,
    /// How many generators are still to be compared.
    pub(super) expected: u64,
    pub(super) report: CertificationReport,
}

/// What a run did, as far as a symmetry must respect it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Effect {
    /// The guard is false, or an assumption dropped the step as if it were.
    Disabled,
    /// Something went wrong.
    Fault,
    /// A step.
    Next { writes: Vec<(SlotId, Option<i64>)>, covered: Vec<PropertyId> },
    /// A property's value.
    Truth(bool),
}

/// A run: what it did and what it read, or nothing if it did not end.
type Run = Option<(Effect, Vec<SlotId>)>;

/// How a walk through all assignments ended.
enum Walk {
    Complete,
    /// Too many assignments, or too many values of a slot, or the budget is used up.
    GivenUp,
}

/// A state that is being varied, with its image.
struct Variation<'a> {
    literals: &'a Literals,
    permutation: Option<&'a SlotPermutation<'a>>,
    state: Valuation,
    image: Valuation,
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

    fn literal(&self, slot: SlotId, value: Option<i64>) -> (SlotId, Option<i64>) {
        match self.moves.get(&slot) {
            Some(slot_move) => (slot_move.to, slot_move.value(value)),
            None => (slot, value),
        }
    }

    fn origin(&self, slot: SlotId) -> SlotId {
        self.origins.get(&slot).copied().unwrap_or(slot)
    }
}

impl<'a> Variation<'a> {
    fn new(literals: &'a Literals, permutation: Option<&'a SlotPermutation<'a>>) -> Self {
        let state = Valuation(literals.slots().iter().map(|slot| slot.values[0]).collect());
        let mut image = state.clone();
        if let Some(permutation) = permutation {
            for &slot in permutation.moves.keys() {
                let (to, value) = permutation.literal(slot, state[slot]);
                image[to] = value;
            }
        }
        Self { literals, permutation, state, image, path: Vec::new(), on_path: FxHashSet::default() }
    }

    fn set(&mut self, slot: SlotId, position: usize) {
        let value = self.literals.slots()[slot].values[position];
        self.state[slot] = value;
        if let Some(permutation) = self.permutation {
            let (to, value) = permutation.literal(slot, value);
            self.image[to] = value;
        }
    }

    /// Takes note of a slot that matters. Gives false if it cannot be varied.
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

    /// Goes to the next assignment. Gives false if there is none; then all is as it was at first.
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

    /// Forgets what is varied.
    fn reset(&mut self) {
        while let Some((slot, _)) = self.path.pop() {
            self.on_path.remove(&slot);
            self.set(slot, 0);
        }
    }
}

impl<'m> Exhaustion<'m> {
    pub(super) fn new(model: &'m Model, layout: &'m Layout, literals: Literals) -> Self {
        let inhabited = literals.slots().iter().all(|slot| !slot.values.is_empty());
        Self {
            interpreter: Interpreter::new(model, layout),
            literals: Rc::new(literals),
            surveys: FxHashMap::default(),
            large: FxHashSet::default(),
            initial: None,
            inhabited,
            budget: SURVEY_BUDGET,
            expected: GENERATORS,
            report: CertificationReport::default(),
        }
    }

    /// Runs every instance by itself. `idle` are instances that were taken to never do anything.
    /// Gives, for each instance, the slots that it touches (none where that is not known).
    pub(super) fn survey(&mut self, instances: &[Instance], idle: &[Instance]) -> Result<Vec<Vec<SlotId>>, Rejection> {
        let mut touched = vec![Vec::new(); instances.len()];
        if !self.inhabited {
            return Ok(touched);
        }
        self.list_initial_states()?;
        let literals = Rc::clone(&self.literals);
        let mut variation = Variation::new(&literals, None);
        for (instance, touched) in instances.iter().zip(&mut touched) {
            *touched = self.survey_one(&mut variation, instance, false)?;
        }
        for instance in idle {
            self.survey_one(&mut variation, instance, true)?;
        }
        self.budget = COMPARISON_BUDGET;
        Ok(touched)
    }

    fn survey_one(
        &mut self,
        variation: &mut Variation<'_>,
        instance: &Instance,
        idle: bool,
    ) -> Result<Vec<SlotId>, Rejection> {
        let is_start = matches!(instance.subject, Subject::Action(Action::Start(_)));
        if is_start || !self.is_runnable(instance) || self.large.contains(&instance.subject) {
            return Ok(Vec::new());
        }
        let mut touched = FxHashSet::default();
        let before = self.budget;
        let walk = self.walk(variation, |exhaustion, variation| {
            let Some((effect, reads)) = exhaustion.run(instance, &variation.state) else { return Ok(None) };
            exhaustion.charge(reads.len());
            touched.extend(&reads);
            match &effect {
                Effect::Next { writes, .. } => {
                    exhaustion.charge(writes.len());
                    touched.extend(writes.iter().map(|&(slot, _)| slot));
                    exhaustion.check_possible(instance, writes)?;
                }
                Effect::Disabled | Effect::Fault | Effect::Truth(_) => {}
            }
            if idle && effect != Effect::Disabled {
                return Err(Rejection::Overlooked(instance.clone()));
            }
            Ok(Some(reads))
        });
        variation.reset();
        match walk? {
            Walk::Complete => {
                let work = before - self.budget;
                self.surveys.insert(instance.clone(), Survey::Complete { work });
            }
            Walk::GivenUp => {
                self.surveys.insert(instance.clone(), Survey::Incomplete);
                self.large.insert(instance.subject);
            }
        }
        let mut touched: Vec<SlotId> = touched.into_iter().collect();
        touched.sort_unstable();
        Ok(touched)
    }

    /// Lists the initial states, if they are few.
    fn list_initial_states(&mut self) -> Result<(), Rejection> {
        let model = self.interpreter.model();
        let mut initial = FxHashSet::default();
        let mut count = 0;
        for (start, entry) in model.starts.iter_enumerated() {
            for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                count += 1;
                if count > START_LIMIT {
                    return Ok(());
                }
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

    /// Compares instances with their images under a generator, cheap ones first, as far as the budget
    /// goes; and the initial states with theirs.
    pub(super) fn compare(
        &mut self,
        permutation: &SlotPermutation<'_>,
        mut pairs: Vec<(Instance, Instance)>,
    ) -> Result<(), Rejection> {
        if !self.inhabited {
            return Ok(());
        }
        let reserve = self.budget - (self.budget / self.expected).max(GENERATOR_BUDGET).min(self.budget);
        // Whatever is left goes to those that come unexpected, half of it to each.
        self.expected = (self.expected - 1).max(2);
        self.budget -= reserve;
        let work_of = |instance: &Instance| match self.surveys.get(instance) {
            Some(Survey::Complete { work }) => *work,
            Some(Survey::Incomplete) | None => u64::MAX,
        };
        pairs.sort_by_cached_key(|(instance, _)| work_of(instance));
        let has_initial = self.compare_initial_states(permutation)?;
        let literals = Rc::clone(&self.literals);
        let mut variation = Variation::new(&literals, Some(permutation));
        for (instance, image) in &pairs {
            let compared = match instance.subject {
                Subject::Action(Action::Start(_)) => {
                    has_initial || self.compare_starts(permutation, instance, image)?
                }
                _ => {
                    matches!(self.surveys.get(instance), Some(Survey::Complete { .. }))
                        && self.compare_pair(&mut variation, instance, image)?
                }
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

    /// Compares all initial states with their images, if they are few.
    fn compare_initial_states(&mut self, permutation: &SlotPermutation<'_>) -> Result<bool, Rejection> {
        let Some(initial) = self.initial.take() else { return Ok(false) };
        for (state, covered) in &initial {
            let mut image = state.clone();
            for &slot in permutation.moves.keys() {
                let (to, value) = permutation.literal(slot, state[slot]);
                image[to] = value;
            }
            self.charge(1 + permutation.moves.len() + state.0.len() / 8);
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
        instance: &Instance,
        image: &Instance,
    ) -> Result<bool, Rejection> {
        let (Subject::Action(Action::Start(first)), Subject::Action(Action::Start(second))) =
            (instance.subject, image.subject)
        else {
            unreachable!("initial-state programs go to initial-state programs")
        };
        if self.budget == 0 || !self.is_runnable(instance) || !self.is_runnable(image) {
            return Ok(false);
        }
        let outcome = self.interpreter.run_start(first, &instance.arguments);
        let image_outcome = self.interpreter.run_start(second, &image.arguments);
        self.report.runs += 2;
        let agree = match (outcome, image_outcome) {
            (Outcome::Next { state, covered }, Outcome::Next { state: image_state, covered: image_covered }) => {
                self.charge(2 * state.0.len());
                covered == image_covered
                    && self.literals.slots().indices().all(|slot| {
                        let (to, value) = permutation.literal(slot, state[slot]);
                        image_state[to] == value
                    })
            }
            (Outcome::Pruned, Outcome::Pruned) => true,
            (Outcome::Fault(first), Outcome::Fault(second)) => {
                (first.kind == FaultKind::Exhausted) == (second.kind == FaultKind::Exhausted)
            }
            _ => false,
        };
        if agree { Ok(true) } else { Err(Rejection::Run { instance: instance.clone(), image: image.clone() }) }
    }

    fn compare_pair(
        &mut self,
        variation: &mut Variation<'_>,
        instance: &Instance,
        image: &Instance,
    ) -> Result<bool, Rejection> {
        if self.budget == 0 || !self.is_runnable(image) {
            return Ok(false);
        }
        let permutation = variation.permutation.expect("a comparison is with the image");
        let walk = self.walk(variation, |exhaustion, variation| {
            let first = exhaustion.run(instance, &variation.state);
            let second = exhaustion.run(image, &variation.image);
            let (Some((effect, mut needed)), Some((image_effect, image_reads))) = (first, second) else {
                return Ok(None);
            };
            exhaustion.charge(needed.len() + image_reads.len());
            needed.extend(image_reads.into_iter().map(|slot| permutation.origin(slot)));
            let agree = match (&effect, &image_effect) {
                (Effect::Next { writes, covered }, Effect::Next { writes: image_writes, covered: image_covered }) => {
                    exhaustion.charge(writes.len() + image_writes.len());
                    exhaustion.check_possible(instance, writes)?;
                    covered == image_covered && same_step(variation, permutation, writes, image_writes, &mut needed)
                }
                _ => effect == image_effect,
            };
            if !agree {
                return Err(Rejection::Run { instance: instance.clone(), image: image.clone() });
            }
            Ok(Some(needed))
        });
        variation.reset();
        Ok(matches!(walk?, Walk::Complete))
    }

    /// Visits a state for every assignment of what matters; `visit` gives the slots that do, in an
    /// order in which each follows from the values of those before it.
    fn walk(
        &mut self,
        variation: &mut Variation<'_>,
        mut visit: impl FnMut(&mut Self, &Variation<'_>) -> Result<Option<Vec<SlotId>>, Rejection>,
    ) -> Result<Walk, Rejection> {
        for leaves in 1.. {
            if leaves > LEAF_LIMIT || self.budget == 0 {
                break;
            }
            let Some(needed) = visit(self, variation)? else { break };
            if !needed.into_iter().all(|slot| variation.vary(slot)) {
                break;
            }
            if !variation.advance() {
                return Ok(Walk::Complete);
            }
        }
        Ok(Walk::GivenUp)
    }

    fn charge(&mut self, work: usize) {
        self.budget = self.budget.saturating_sub(work as u64);
    }

    /// Whether the arguments are those of an instance, and not left open.
    fn is_runnable(&self, instance: &Instance) -> bool {
        let model = self.interpreter.model();
        let parameters = match instance.subject {
            Subject::Action(Action::Start(start)) => &model.starts[start].parameters,
            Subject::Action(Action::Rule(rule)) => &model.rules[rule].parameters,
            Subject::Property(property) => &model.properties[property].parameters,
        };
        self.interpreter.is_instance(parameters, &instance.arguments)
    }

    /// Runs an instance of a rule or property.
    fn run(&mut self, instance: &Instance, state: &Valuation) -> Run {
        self.report.runs += 1;
        // Copying a state has its cost, too.
        self.charge(6 + state.0.len() / 32);
        match instance.subject {
            Subject::Action(Action::Rule(rule)) => {
                let (enabled, footprint) = self.interpreter.enabled_with_footprint(rule, &instance.arguments, state);
                let mut reads = footprint.reads;
                match enabled {
                    Err(fault) => (fault.kind != FaultKind::Exhausted).then_some((Effect::Fault, reads)),
                    Ok(false) => Some((Effect::Disabled, reads)),
                    Ok(true) => {
                        let (outcome, footprint) =
                            self.interpreter.fire_with_footprint(rule, &instance.arguments, state);
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
                let is_invariant = self.interpreter.model().properties[property].kind == PropertyKind::Invariant;
                let effect = match holds {
                    Ok(truth) => Effect::Truth(truth),
                    Err(fault) if fault.kind == FaultKind::Exhausted => return None,
                    // A fault violates an invariant as well, so only where it holds matters.
                    Err(_) if is_invariant => Effect::Truth(false),
                    Err(_) => Effect::Fault,
                };
                Some((effect, footprint.reads))
            }
            Subject::Action(Action::Start(_)) => unreachable!("initial-state programs do not run on states"),
        }
    }
}

/// Whether two steps lead to a state and its image. Slots that only one of them writes are needed:
/// what they held decides.
fn same_step(
    variation: &Variation<'_>,
    permutation: &SlotPermutation<'_>,
    writes: &[(SlotId, Option<i64>)],
    image_writes: &[(SlotId, Option<i64>)],
    needed: &mut Vec<SlotId>,
) -> bool {
    let image_of = |slot: SlotId| {
        let position = image_writes.binary_search_by_key(&slot, |&(written, _)| written).ok()?;
        Some(image_writes[position].1)
    };
    let mut common = 0;
    for &(slot, value) in writes {
        let (to, value) = permutation.literal(slot, value);
        let found = match image_of(to) {
            Some(found) => {
                common += 1;
                found
            }
            None => {
                needed.push(slot);
                variation.image[to]
            }
        };
        if found != value {
            return false;
        }
    }
    if common < image_writes.len() {
        for &(to, value) in image_writes {
            let slot = permutation.origin(to);
            if writes.binary_search_by_key(&slot, |&(written, _)| written).is_err() {
                needed.push(slot);
                if variation.image[to] != value {
                    return false;
                }
            }
        }
    }
    true
}
