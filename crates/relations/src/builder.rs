//! What instances of rules do to each other, computed once from the functions of a model:
//!
//! * for each conjunct of a guard, the steps that can make it true (a necessary enabling set);
//! * for each step, what does not accord with it: what it may disable, what may disable it, and what leads to another
//!   state in the other order. Two steps that never can be taken in the same state accord.
//!
//! Guards and accordance are those of Laarman, Pater, van de Pol and Hansen, "Guard-based partial-order reduction"
//! (STTT 2016), with commutation decided on functions instead of read and write sets.
//!
//! The states here are those that are stored. A step through transient states is one step, of all rules that may fire
//! on the way (`stretches`); it accords only with what touches nothing of all that.

use std::rc::Rc;

use quotient_functions::{
    Behaviour, Circuit, Event, KnownValues, Node, NodeId, Preserved, Subject, unfold_by_pointers,
};
use quotient_ir::{Action, Budget, DeadlockMode, Interrupt, Layout, Model, PropertyId, PropertyKind, Spent};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::beginnings::with_beginnings;
use crate::composition::{Composer, Slots, whole_multiset};
use crate::deciding::Decider;
use crate::independence::{Independence, Passage, without};
use crate::meeting::{Meetings, only_common};
use crate::stable::{StableValues, Way};
use crate::stretches::{Stretch, Stretches};
use quotient_search::partial_order::conditions::{ConditionId, Conditions};
use quotient_search::partial_order::relations::{Entry, EntryId, EntryKind, Relations};
use quotient_search::{Checks, RuleInstance, SearchOptions};

/// The largest number of pairs of steps that share a slot.
const PAIRS: usize = 32_000_000;
/// The work that composing functions may take, in nodes.
const WORK: u64 = 20_000_000;
/// The work that unfolding the model may take.
const UNFOLDING: u64 = 200_000_000;

/// Why there are no relations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// What is checked, or the model, needs all steps.
    Refused(String),
    /// They take more work than they may, for this reason.
    TooMuchWork(String),
}

impl Obstacle {
    /// The reason, in words.
    pub fn into_reason(self) -> String {
        match self {
            Self::Refused(reason) | Self::TooMuchWork(reason) => reason,
        }
    }
}

impl From<String> for Obstacle {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

/// What a search with a part of the steps has to preserve.
#[derive(Clone, Copy)]
enum Aim<'a> {
    /// Which of some properties hold somewhere, what goes wrong, what is covered, and where runs end.
    States(&'a [PropertyId]),
    /// The runs as far as some conditions on states tell them apart, and repetitions of a state do not matter.
    Runs(&'a [PropertyId]),
}

impl<'a> Aim<'a> {
    fn properties(self) -> &'a [PropertyId] {
        match self {
            Self::States(properties) | Self::Runs(properties) => properties,
        }
    }

    fn is_about_runs(self) -> bool {
        matches!(self, Self::Runs(_))
    }
}

/// A step while relations are computed.
struct Step {
    event: usize,
    /// When it is taken.
    guard: NodeId,
    /// The same, with what else is known of the states where that is so.
    narrow: NodeId,
    /// The events that may fire, if it can lead to transient states.
    stretch: Option<Rc<[usize]>>,
    /// What is known of the events on its way but the first, if it is.
    inside: Option<Vec<(usize, NodeId)>>,
    /// Whether something may be found on the way through transient states.
    finds: bool,
    reads: Vec<u32>,
    writes: Vec<u32>,
    /// All that it reads or writes.
    slots: Vec<u32>,
}

impl Step {
    /// Its events, as far as they are known.
    fn way(&self) -> Way<'_> {
        Way { first: (self.event, self.narrow), inside: self.inside.as_deref() }
    }
}

/// The relations of a model for what a search checks.
///
/// # Errors
/// The reason why there are none.
pub fn relations(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    interrupt: &Interrupt,
) -> Result<Relations, String> {
    let [unfolding, composing] = [UNFOLDING, WORK].map(|work| Budget::new(work, interrupt.clone()));
    within([&unfolding, &composing], model, layout, options).map_err(Obstacle::into_reason)
}

/// The relations of a model for what a search checks, if they take no more than some work, counted in nodes of functions.
///
/// # Errors
/// What prevents it.
pub fn relations_within(
    budget: &Budget,
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
) -> Result<Relations, Obstacle> {
    let relations = within([budget, budget], model, layout, options)?;
    match relations.is_coarse {
        true => Err(Obstacle::TooMuchWork("what steps do to each other takes too long to find out".to_owned())),
        false => Ok(relations),
    }
}

/// The relations of a model for the runs of it, as far as some atoms distinguish them up to repeated states; with no more
/// than some work, if that is given.
///
/// # Errors
/// What prevents it.
pub fn relations_of_runs(
    work: Option<u64>,
    (model, layout): (&Model, &Layout),
    atoms: &[PropertyId],
    options: &SearchOptions,
    interrupt: &Interrupt,
) -> Result<Relations, Obstacle> {
    let checks = Checks::new(model, Some(&[]));
    let refusal = match () {
        () if !checks.assumptions.is_empty() => Some("assumptions about states can end a run anywhere"),
        () if !checks.constraints.is_empty() => Some("states outside of the constraints are not expanded"),
        () if options.store_passing && !checks.passing.is_empty() => Some("transient states are stored"),
        () => None,
    };
    if let Some(reason) = refusal {
        return Err(reason.to_owned().into());
    }
    let budgets = [work.unwrap_or(UNFOLDING), work.unwrap_or(WORK)].map(|it| Budget::new(it, interrupt.clone()));
    let relations = for_aim(budgets.each_ref(), model, layout, Aim::Runs(atoms), options)?;
    match relations.is_coarse && work.is_some() {
        true => Err(Obstacle::TooMuchWork("what steps do to each other takes too long to find out".to_owned())),
        // An atom has its value in each state, also in those with a local step.
        false => Ok(relations.storing_all()),
    }
}

/// The relations for what a search checks, with one budget for the functions of the model and one for composing them.
fn within(
    [unfolding, composing]: [&Budget; 2],
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
) -> Result<Relations, Obstacle> {
    if let Some(reason) = refusal(model, options) {
        return Err(reason.into());
    }
    let checks = Checks::new(model, options.properties.as_deref());
    let seen: Vec<PropertyId> =
        [&checks.invariants, &checks.covers, &checks.remarks].into_iter().flatten().copied().collect();
    for_aim([unfolding, composing], model, layout, Aim::States(&seen), options)
}

fn for_aim(
    [unfolding, composing]: [&Budget; 2],
    model: &Model,
    layout: &Layout,
    aim: Aim<'_>,
    options: &SearchOptions,
) -> Result<Relations, Obstacle> {
    let preserved = Preserved::Properties(aim.properties());
    let behaviour = unfold_by_pointers(model, layout, preserved, unfolding).map_err(|Spent| spent())?;
    for refused in &behaviour.refused {
        let name = match &refused.subject {
            Subject::Action(Action::Start(_)) => continue,
            Subject::Action(Action::Rule(rule)) => {
                format!("rule {}", model.rules[*rule].name.as_deref().unwrap_or("without a name"))
            }
            Subject::Property(property) => {
                format!("property {}", model.properties[*property].name.as_deref().unwrap_or("without a name"))
            }
        };
        return Err(format!("{name} has no functions: {}", refused.reason).into());
    }
    if behaviour.inputs.iter().any(|(action, _)| matches!(action, Action::Rule(_))) {
        return Err("a rule has too many instances to list".to_owned().into());
    }
    Builder::new(model, options, behaviour, aim)?.build(composing)
}

/// The functions are not known, since they take too much work.
fn spent() -> Obstacle {
    Obstacle::TooMuchWork("the functions of the model take too long to compute".to_owned())
}

/// Why what a search checks needs all steps.
fn refusal(model: &Model, options: &SearchOptions) -> Option<String> {
    let checks = Checks::new(model, options.properties.as_deref());
    match () {
        () if !checks.liveness.is_empty() => Some("what can always be reached needs all steps".to_owned()),
        () if !checks.assumptions.is_empty() => Some("assumptions about states can end a run anywhere".to_owned()),
        () if !checks.constraints.is_empty() => Some("states outside of the constraints are not expanded".to_owned()),
        () if options.violations.collects() => Some("only the first violation is looked for".to_owned()),
        () if options.store_passing && !checks.passing.is_empty() => Some("transient states are stored".to_owned()),
        () => None,
    }
}

/// The work of computing relations.
struct Builder {
    behaviour: Behaviour,
    /// When a state is stored.
    stable: NodeId,
    steps: Vec<Step>,
    /// Conditions that have to be seen, with the event if it is one.
    sights: Vec<(EntryKind, NodeId, Option<usize>)>,
    /// For runs, what tells states apart.
    labels: Option<Vec<NodeId>>,
    numbers: Vec<u32>,
    /// Slots with a single value in all stored states.
    constant: FxHashSet<u32>,
}

impl Builder {
    fn new(model: &Model, options: &SearchOptions, mut behaviour: Behaviour, aim: Aim<'_>) -> Result<Self, Obstacle> {
        let mut passing = Vec::new();
        for claim in &behaviour.claims {
            if model.properties[claim.property].kind == PropertyKind::Passing {
                passing.push(claim.condition);
            }
        }
        let passing = behaviour.circuit.or(passing);
        let stable = behaviour.circuit.not(passing);
        let known = behaviour.circuit.known_values(stable);
        let constant = known.iter().filter(|(_, values)| values.iter().count() == 1).map(|(&slot, _)| slot).collect();
        let numbers = instance_numbers(&behaviour);
        let (steps, sights) = (Vec::new(), Vec::new());
        let mut builder = Self { behaviour, stable, steps, sights, labels: None, numbers, constant };
        match aim {
            Aim::States(seen) => builder.collect_sights(model, seen),
            Aim::Runs(atoms) => builder.collect_labels(&known, atoms),
        }
        builder.collect_steps(passing, options, aim.is_about_runs())?;
        Ok(builder)
    }

    /// The conditions that tell states of runs apart, as far as stored states go.
    fn collect_labels(&mut self, stable: &KnownValues, atoms: &[PropertyId]) {
        let circuit = &mut self.behaviour.circuit;
        let mut labels = Vec::new();
        for claim in self.behaviour.claims.iter().filter(|claim| atoms.contains(&claim.property)) {
            for part in [claim.condition, claim.fault] {
                labels.push(circuit.given(part, stable, &mut FxHashMap::default()));
            }
        }
        labels.sort_unstable();
        labels.dedup();
        self.labels = Some(labels);
    }

    /// The conditions on states that have to be seen.
    fn collect_sights(&mut self, model: &Model, seen: &[PropertyId]) {
        let circuit = &mut self.behaviour.circuit;
        for claim in self.behaviour.claims.iter().filter(|claim| seen.contains(&claim.property)) {
            let is_sight = match model.properties[claim.property].kind {
                PropertyKind::Invariant => circuit.not(claim.condition),
                _ => circuit.or([claim.condition, claim.fault]),
            };
            let condition = circuit.and([self.stable, is_sight]);
            if condition != NodeId::FALSE {
                self.sights.push((EntryKind::Sight, condition, None));
            }
            // A cover that fails to evaluate is a violation of its own.
            if claim.fault != NodeId::FALSE {
                let condition = circuit.and([self.stable, claim.fault]);
                self.sights.push((EntryKind::Sight, condition, None));
            }
        }
    }

    /// The steps from stored states.
    fn collect_steps(&mut self, passing: NodeId, options: &SearchOptions, is_about_runs: bool) -> Result<(), Obstacle> {
        let Self { behaviour, stable, .. } = self;
        let mut composer = Composer::new(&mut behaviour.circuit, &behaviour.multisets);
        let mut guards = Vec::with_capacity(behaviour.events.len());
        for event in &behaviour.events {
            let (sound, kept) = (composer.circuit.not(event.fault), composer.circuit.not(event.dropped));
            guards.push(composer.circuit.and([event.guard, sound, kept]));
        }
        let narrow = with_beginnings(&mut composer, &behaviour.events, &guards);
        let mut stretches = Stretches::new(composer.circuit, &behaviour.events, &narrow, passing);
        let mut faults: Vec<(usize, NodeId)> = Vec::new();
        let mut event_slots: FxHashMap<usize, Slots> = FxHashMap::default();
        // Many steps begin the same stretch where it is not known well.
        let mut stretch_slots: FxHashMap<Rc<[usize]>, Slots> = FxHashMap::default();
        for (number, event) in behaviour.events.iter().enumerate() {
            let Action::Rule(rule) = event.action else { continue };
            let fault = composer.circuit.and([*stable, event.fault]);
            if fault != NodeId::FALSE && !is_about_runs {
                faults.push((number, fault));
            }
            let mut guard = composer.circuit.and([*stable, guards[number]]);
            if guard == NodeId::FALSE {
                continue;
            }
            for &(_, condition) in event.covers.iter().filter(|_| !is_about_runs) {
                let covers = composer.circuit.and([guard, condition]);
                self.sights.push((EntryKind::Event, covers, Some(number)));
            }
            let stretch = stretches.from(&mut composer, number, guard);
            if stretch.is_some() && options.deadlock == DeadlockMode::Stuttering && !is_about_runs {
                return Err("whether a way through transient states changes anything is not known".to_owned().into());
            }
            let (stretch, inside, finds) = match stretch {
                Some(Stretch { members, inside, is_total }) => {
                    let finds = |&member: &usize| {
                        let event = &behaviour.events[member];
                        member != number && (event.fault != NodeId::FALSE || !event.covers.is_empty())
                    };
                    let finds = members.iter().any(finds) || !is_total && options.deadlock != DeadlockMode::Off;
                    (Some(members), inside, finds)
                }
                None => (None, Some(Vec::new()), false),
            };
            // A run can stay in a state by steps that change nothing.
            if stretch.is_none()
                && !is_about_runs
                && options.deadlock != DeadlockMode::Stuck
                && !options.moving_rules.contains(&rule)
            {
                match composer.changes(event) {
                    Some(changes) => guard = composer.circuit.and([guard, changes]),
                    None if options.deadlock == DeadlockMode::Off || composer.always_adds(event) => {}
                    None => return Err("whether a step changes anything is not known".to_owned().into()),
                }
                if guard == NodeId::FALSE {
                    continue;
                }
            }
            if stretch.is_none() && event.writes.is_empty() && event.additions.is_empty() && !is_about_runs {
                // It leads nowhere. Where nothing else is possible, all steps are taken, and it is seen that it is.
                continue;
            }
            let mut slots_of = |composer: &mut Composer<'_>, member: usize| -> Slots {
                let slots = event_slots.entry(member).or_insert_with(|| composer.slots(&behaviour.events[member]));
                composer.circuit.charge(1 + (slots.0.len() + slots.1.len()) / 8);
                slots.clone()
            };
            let (own_reads, own_writes) = match &stretch {
                None => slots_of(&mut composer, number),
                Some(members) if stretch_slots.contains_key(members) => {
                    composer.circuit.charge(1 + members.len() / 64);
                    stretch_slots[members].clone()
                }
                Some(members) => {
                    let mut all: [FxHashSet<u32>; 2] = Default::default();
                    for &member in &**members {
                        let (reads, writes) = slots_of(&mut composer, member);
                        all[0].extend(reads);
                        all[1].extend(writes);
                    }
                    let [reads, writes] = all.map(|slots| slots.into_iter().collect());
                    stretch_slots.entry(Rc::clone(members)).or_insert((reads, writes)).clone()
                }
            };
            let mut reads: FxHashSet<u32> = composer.support(guard).iter().copied().chain(own_reads).collect();
            let mut writes: FxHashSet<u32> = own_writes.into_iter().collect();
            let multisets = &behaviour.multisets;
            for slots in [&mut reads, &mut writes] {
                // All slots of a multiset are one here.
                let own: Vec<u32> = slots.drain().map(|slot| whole_multiset(multisets, slot)).collect();
                slots.extend(own.into_iter().filter(|slot| !self.constant.contains(slot)));
            }
            let sorted = |slots: FxHashSet<u32>| {
                let mut slots: Vec<u32> = slots.into_iter().collect();
                slots.sort_unstable();
                slots
            };
            let slots = sorted(reads.union(&writes).copied().collect());
            let (reads, writes) = (sorted(reads), sorted(writes));
            let narrow = composer.circuit.and([guard, narrow[number]]);
            self.steps.push(Step { event: number, narrow, guard, stretch, inside, finds, reads, writes, slots });
        }
        let ways: Vec<Way<'_>> = self.steps.iter().map(Step::way).collect();
        let mut values = StableValues::new(&mut composer, &behaviour.events, passing, *stable, &ways);
        if let Some(stored) = &behaviour.stored {
            values = values.within(&composer, stored);
        }
        self.steps.retain(|step| values.allow(&composer.circuit.known_values(step.narrow)));
        if is_about_runs {
            // Where nothing else is possible, a run stays, whether a step says so or not.
            let idle = self.steps.iter().enumerate().filter(|(_, step)| step.writes.is_empty());
            let idle: Vec<usize> = idle.map(|(number, _)| number).collect();
            let superfluous: Vec<bool> = (0..self.steps.len())
                .map(|number| {
                    idle.contains(&number)
                        && (0..self.steps.len()).all(|other| {
                            let both = [self.steps[number].narrow, self.steps[other].narrow];
                            idle.contains(&other) || {
                                let both = composer.circuit.and(both);
                                composer.is_refuted(both)
                            }
                        })
                })
                .collect();
            let mut superfluous = superfluous.into_iter();
            self.steps.retain(|_| superfluous.next() != Some(true));
        }
        // An event that changes nothing (a valid end of Promela) asks what all others can do, and so fails in many ways.
        // Where another event goes wrong, too, that is enough.
        let is_idle = |event: usize| {
            let Event { writes, additions, .. } = &behaviour.events[event];
            guards[event] != NodeId::FALSE && writes.is_empty() && additions.is_empty()
        };
        let others = faults.iter().filter(|&&(event, _)| !is_idle(event));
        let others: Vec<NodeId> = others.map(|&(_, fault)| composer.circuit.not(fault)).collect();
        self.sights.extend(faults.iter().map(|&(event, fault)| (EntryKind::Event, fault, Some(event))));
        for (kind, condition, event) in std::mem::take(&mut self.sights) {
            let is_fault = event.is_some_and(|event| is_idle(event) && faults.contains(&(event, condition)));
            for part in alternatives(composer.circuit, condition) {
                let is_possible = values.allow(&composer.circuit.known_values(part));
                if !is_possible
                    || is_fault && others.iter().any(|&other| composer.circuit.and([part, other]) == NodeId::FALSE)
                {
                    continue;
                }
                self.sights.push((kind, part, event));
            }
        }
        match behaviour.circuit.is_spent() {
            true => Err(spent()),
            false => Ok(()),
        }
    }

    fn build(self, budget: &Budget) -> Result<Relations, Obstacle> {
        let Self { mut behaviour, stable, steps, sights, labels, numbers, constant } = self;
        let known = behaviour.circuit.known_values(stable);
        let mut conditions = Conditions::new(&behaviour.circuit, behaviour.slots);
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut known_nodes: FxHashMap<NodeId, ConditionId> = FxHashMap::default();
        let mut conjuncts_of = |behaviour: &mut Behaviour, guard: NodeId| -> Option<Vec<ConditionId>> {
            let guard = behaviour.circuit.given(guard, &known, &mut FxHashMap::default());
            let parts = match behaviour.circuit.node(guard) {
                Node::And(children) => children.to_vec(),
                Node::True => Vec::new(),
                _ => vec![guard],
            };
            let mut own = Vec::with_capacity(parts.len());
            for part in parts {
                own.push(match known_nodes.get(&part) {
                    Some(&known) => known,
                    None => {
                        let id = conditions.add(&behaviour.circuit, part)?;
                        nodes.push(part);
                        known_nodes.insert(part, id);
                        id
                    }
                });
            }
            Some(own)
        };
        let too_large = || "a condition is too large".to_owned();
        let mut entries = Vec::new();
        let mut instances = Vec::new();
        let mut numbered: FxHashMap<usize, u32> = FxHashMap::default();
        let mut instance_of = |behaviour: &Behaviour, event: usize| {
            *numbered.entry(event).or_insert_with(|| {
                let Event { action, arguments, .. } = &behaviour.events[event];
                let Action::Rule(rule) = *action else { unreachable!("starts are not steps") };
                instances.push(RuleInstance { rule, arguments: arguments.as_slice().into(), number: numbers[event] });
                instances.len() as u32 - 1
            })
        };
        for step in &steps {
            let conjuncts = conjuncts_of(&mut behaviour, step.guard).ok_or_else(too_large)?;
            entries.push(Entry { kind: EntryKind::Step, conjuncts, instance: instance_of(&behaviour, step.event) });
        }
        for &(kind, condition, event) in &sights {
            let conjuncts = conjuncts_of(&mut behaviour, condition).ok_or_else(too_large)?;
            let instance = event.map_or(u32::MAX, |event| instance_of(&behaviour, event));
            entries.push(Entry { kind, conjuncts, instance });
        }
        conditions.seal();
        // Conjuncts are numbered in the order in which they were added.
        let conjuncts: Vec<ConditionId> = nodes.iter().map(|node| known_nodes[node]).collect();

        behaviour.circuit.draw_on(budget);
        let Behaviour { circuit, multisets, events, .. } = &mut behaviour;
        let mut decider = Decider::new(Composer::new(circuit, multisets), events);
        let slot_of = |slot: u32| whole_multiset(multisets, slot);
        let mut pairs = Pairs::new(&steps);

        let mut enablers: Vec<Vec<EntryId>> = vec![Vec::new(); conditions.len()];
        for (&node, &conjunct) in nodes.iter().zip(&conjuncts) {
            let support: Vec<u32> = decider.composer.support(node).iter().map(|&slot| slot_of(slot)).collect();
            let writers = pairs.writers_of(&support);
            pairs.spend(decider.composer.circuit, writers.len())?;
            for step in writers {
                let entry = &steps[step as usize];
                let can = |decider: &mut Decider<'_>, event: usize, guard: NodeId| {
                    decider.composer.circuit.is_spent() || decider.may_enable(event, guard, node)
                };
                let enables = match &entry.stretch {
                    None => can(&mut decider, entry.event, entry.guard),
                    Some(members) => members.iter().any(|&member| {
                        let guard = events[member].guard;
                        can(&mut decider, member, guard)
                    }),
                };
                if enables || decider.composer.circuit.is_spent() {
                    enablers[conjunct as usize].push(step);
                }
            }
        }

        let mut independence = Independence::default();
        let mut meetings = Meetings::default();
        // Whether a state is transient must not depend on anything else.
        let are_separate = decider.composer.support(stable).iter().all(|slot| constant.contains(slot));
        let ways: Vec<Option<Vec<Passage>>> =
            steps.iter().map(|step| passages(&mut decider, events, step, &constant)).collect();
        let mut discords: Vec<Vec<EntryId>> = vec![Vec::new(); entries.len()];
        for first in 0..steps.len() {
            let others = pairs.later_than(first as u32);
            pairs.spend(decider.composer.circuit, others.len())?;
            for second in others {
                let (one, other) = (&steps[first], &steps[second as usize]);
                let accord = !decider.composer.circuit.is_spent()
                    && match (&one.stretch, &other.stretch) {
                        (None, None) => {
                            let known = only_common(&one.slots, &other.slots).and_then(|slot| {
                                let of = |number: usize, step: &Step| (number, step.event, step.narrow);
                                meetings.accord(&mut decider, slot, of(first, one), of(second as usize, other))
                            });
                            let of = |step: &Step| (step.event, step.narrow);
                            known.unwrap_or_else(|| decider.accord(of(one), of(other)))
                                && !decider.composer.circuit.is_spent()
                        }
                        _ => {
                            decider.exclude_each_other(one.narrow, other.narrow)
                                || match (&ways[first], &ways[second as usize]) {
                                    (Some(first), Some(second)) if are_separate => {
                                        independence.of_ways(&mut decider, first, second, &constant)
                                    }
                                    _ => false,
                                }
                                || {
                                    let both = decider.composer.circuit.and([one.narrow, other.narrow]);
                                    decider.composer.is_refuted(both)
                                }
                        }
                    };
                if !accord {
                    discords[first].push(second);
                    discords[second as usize].push(first as u32);
                }
            }
        }
        for (number, &(_, condition, _)) in sights.iter().enumerate() {
            let id = (steps.len() + number) as EntryId;
            let support: Vec<u32> = decider.composer.support(condition).iter().map(|&slot| slot_of(slot)).collect();
            let support: Vec<u32> = support.into_iter().filter(|slot| !constant.contains(slot)).collect();
            let writers = pairs.writers_of(&support);
            pairs.spend(decider.composer.circuit, writers.len())?;
            for step in writers {
                let entry = &steps[step as usize];
                let disables = decider.composer.circuit.is_spent()
                    || match &entry.stretch {
                        None => decider.may_disable(entry.event, entry.narrow, condition),
                        // Only what holds before the first event can be ended.
                        Some(_) if decider.exclude_each_other(entry.narrow, condition) => false,
                        Some(members) => members.iter().any(|&member| {
                            let parts = match decider.composer.circuit.node(condition).clone() {
                                Node::And(children) => children.to_vec(),
                                _ => vec![condition],
                            };
                            parts.into_iter().any(|part| decider.may_disable(member, events[member].guard, part))
                        }),
                    };
                if disables || decider.composer.circuit.is_spent() {
                    discords[step as usize].push(id);
                }
            }
        }
        let mut visible: FxHashSet<EntryId> = FxHashSet::default();
        for &label in labels.iter().flatten() {
            let support: Vec<u32> = decider.composer.support(label).iter().map(|&slot| slot_of(slot)).collect();
            let writers = pairs.writers_of(&support);
            pairs.spend(decider.composer.circuit, writers.len())?;
            for step in writers.into_iter().filter(|step| !visible.contains(step)).collect::<Vec<_>>() {
                let entry = &steps[step as usize];
                let mut changes = |event: usize, guard: NodeId| {
                    decider.composer.circuit.is_spent()
                        || decider.may_enable(event, guard, label)
                        || decider.may_disable(event, guard, label)
                };
                let is_visible = match &entry.stretch {
                    None => changes(entry.event, entry.narrow),
                    Some(members) => members.iter().any(|&member| changes(member, events[member].guard)),
                };
                if is_visible || decider.composer.circuit.is_spent() {
                    visible.insert(step);
                }
            }
        }
        let is_coarse = decider.composer.circuit.is_spent();
        if budget.interrupt().is_raised() {
            return Err("interrupted".to_owned().into());
        }
        for discord in &mut discords {
            discord.sort_unstable();
        }
        // What is found on the way through transient states belongs to no state.
        let finding = (0..).zip(&steps).filter(|(_, step)| step.finds).map(|(id, _)| id);
        let mut targets: Vec<EntryId> = finding.chain(steps.len() as EntryId..entries.len() as EntryId).collect();
        let visible = sorted(visible.into_iter().collect());
        let mut seeds: Vec<EntryId> = (0..steps.len() as EntryId).collect();
        if labels.is_some() {
            // A set that begins with a step that changes nothing leads nowhere.
            seeds.retain(|&seed| !steps[seed as usize].writes.is_empty() && visible.binary_search(&seed).is_err());
            targets.clone_from(&visible);
        }
        Ok(Relations {
            entries,
            instances,
            conditions,
            enablers,
            discords,
            targets,
            seeds,
            visible,
            is_coarse,
            passes_local: true,
        })
    }
}

/// The events on the way of a step, without what is said of slots with one value in all stored states; `None` if that is
/// not possible.
fn passages(
    decider: &mut Decider<'_>,
    events: &[Event],
    step: &Step,
    constant: &FxHashSet<u32>,
) -> Option<Vec<Passage>> {
    let guard = without(decider, step.narrow, constant)?;
    let mut all = vec![Passage { event: step.event, states: NodeId::TRUE, guard, is_inside: false }];
    for &(event, states) in step.inside.as_ref()? {
        let guard = without(decider, events[event].guard, constant)?;
        let states = without(decider, states, constant)?;
        all.push(Passage { event, states, guard, is_inside: true });
    }
    Some(all)
}

/// The largest number of alternatives into which a condition is split.
const ALTERNATIVES: usize = 64;

/// A condition as alternatives, each with conjuncts of its own: a step that cannot enable one of these cannot enable it,
/// whatever it does to the others.
fn alternatives(circuit: &mut Circuit, condition: NodeId) -> Vec<NodeId> {
    let mut done = Vec::new();
    let mut pending = vec![condition];
    while let Some(condition) = pending.pop() {
        let parts = match circuit.node(condition) {
            Node::Or(children) => children.to_vec(),
            Node::And(children) => {
                let children = children.to_vec();
                let choices = children.iter().filter_map(|&child| match circuit.node(child) {
                    Node::Or(parts) => Some((child, parts.to_vec())),
                    _ => None,
                });
                let Some((choice, parts)) = choices.min_by_key(|(_, parts)| parts.len()) else {
                    done.push(condition);
                    continue;
                };
                let rest: Vec<NodeId> = children.into_iter().filter(|&child| child != choice).collect();
                parts.into_iter().map(|part| circuit.and(rest.iter().copied().chain([part]))).collect()
            }
            _ => {
                done.push(condition);
                continue;
            }
        };
        if done.len() + pending.len() + parts.len() > ALTERNATIVES {
            done.push(condition);
            continue;
        }
        pending.extend(parts.into_iter().filter(|&part| part != NodeId::FALSE));
    }
    done.sort_unstable();
    done.dedup();
    done
}

/// The number of each event among the instances of its rule. Instances that never have an effect count as well.
fn instance_numbers(behaviour: &Behaviour) -> Vec<u32> {
    let mut all: FxHashMap<Action, Vec<&[i64]>> = FxHashMap::default();
    for event in &behaviour.events {
        all.entry(event.action).or_default().push(&event.arguments);
    }
    for idle in &behaviour.idle {
        if let Subject::Action(action) = idle.subject {
            all.entry(action).or_default().push(&idle.arguments);
        }
    }
    for arguments in all.values_mut() {
        arguments.sort_unstable();
        // An instance is one event for each value of its pointers.
        arguments.dedup();
    }
    let number = |event: &Event| all[&event.action].binary_search(&event.arguments.as_slice());
    behaviour.events.iter().map(|event| number(event).map_or(u32::MAX, |number| number as u32)).collect()
}

/// Which steps share slots.
struct Pairs<'a> {
    steps: &'a [Step],
    writers: FxHashMap<u32, Vec<EntryId>>,
    readers: FxHashMap<u32, Vec<EntryId>>,
    /// For each step whether it was listed; none between questions.
    is_listed: Vec<bool>,
    left: usize,
}

impl<'a> Pairs<'a> {
    fn new(steps: &'a [Step]) -> Self {
        let mut writers: FxHashMap<u32, Vec<EntryId>> = FxHashMap::default();
        let mut readers: FxHashMap<u32, Vec<EntryId>> = FxHashMap::default();
        for (number, step) in (0..).zip(steps) {
            step.writes.iter().for_each(|&slot| writers.entry(slot).or_default().push(number));
            step.reads.iter().for_each(|&slot| readers.entry(slot).or_default().push(number));
        }
        Self { steps, writers, readers, is_listed: vec![false; steps.len()], left: PAIRS }
    }

    /// Counts pairs.
    fn spend(&mut self, circuit: &mut Circuit, pairs: usize) -> Result<(), String> {
        circuit.charge(pairs);
        self.left = self.left.checked_sub(pairs).ok_or("too many steps share variables")?;
        Ok(())
    }

    /// The steps that write one of some slots, in order.
    fn writers_of(&self, slots: &[u32]) -> Vec<EntryId> {
        sorted(slots.iter().filter_map(|slot| self.writers.get(slot)).flatten().copied().collect())
    }

    /// The later steps that share a slot with a step, which one of them writes, in order.
    fn later_than(&mut self, step: EntryId) -> Vec<EntryId> {
        let Self { steps, writers, readers, is_listed, .. } = self;
        let Step { reads, writes, .. } = &steps[step as usize];
        let lists = reads.iter().chain(writes).filter_map(|slot| writers.get(slot));
        let lists = lists.chain(writes.iter().filter_map(|slot| readers.get(slot)));
        let mut others = Vec::new();
        for list in lists {
            for &other in &list[list.partition_point(|&other| other <= step)..] {
                if !std::mem::replace(&mut is_listed[other as usize], true) {
                    others.push(other);
                }
            }
        }
        for &other in &others {
            is_listed[other as usize] = false;
        }
        others.sort_unstable();
        others
    }
}

fn sorted(mut list: Vec<EntryId>) -> Vec<EntryId> {
    list.sort_unstable();
    list.dedup();
    list
}
