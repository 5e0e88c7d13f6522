//! The search: algorithms 1 and 2 of the paper, breadth-first.
//!
//! There is one difference. The paper drops every unexplored state that a new one represents, however much farther away
//! the new one is; then violations may be found later than at their distance. Here only states at the same distance are
//! dropped.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_ir::{Action, DeadlockMode, Interpreter, PropertyId, RuleId, Violation};
use quotient_symmetry::{PartialSymmetry, Partition};
use rustc_hash::FxHashMap;

use super::partitions::PartitionNumber;
use super::stepper::{Fired, Stepper};
use super::{AdaptiveError, AdaptiveReport, HAND_OUT_LIMIT, PartitionTime, count, initial, trace};
use quotient_search::{
    Checks, EngineError, Event, Figures, Observer, Progress, SearchOptions, StopReason, TransitionSystem, Verdicts,
    excuse, is_passing,
};
use quotient_states::expansion::deadlock;
use quotient_states::judge::Judge;
use quotient_states::note;
use quotient_systems::{EvaluatorScratch, Guard, SpecialisedSystem};

/// States expanded between reports of progress.
const PROGRESS_INTERVAL: u64 = 64;

/// A state with a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Annotated {
    pub(crate) state: Vec<u64>,
    pub(crate) partition: PartitionNumber,
}

/// An annotated state that was reached.
struct Reached {
    annotated: Annotated,
    parent: Option<u32>,
    removed: bool,
    /// Whether the states it represents are transient and do not count.
    passing: bool,
    /// A number shared by all images of the state.
    class: u64,
    /// Another annotated state of the same class, partition and print.
    next: Option<u32>,
}

/// A property, with the edges that search for its violations if some states of an orbit may violate it and others not.
struct Watched {
    property: PropertyId,
    partition: PartitionNumber,
    edges: Vec<usize>,
}

enum End {
    Stopped(StopReason),
    Found {
        origin: Option<u32>,
        last: Option<Annotated>,
        state: Vec<u64>,
        violation: Violation,
    },
    /// A start itself causes a violation.
    FoundAtStart(Violation),
    Error(AdaptiveError),
}

type Halt = Box<End>;

struct AdaptiveSearch<'a, 's, 'm> {
    stepper: Stepper<'s, 'm>,
    judge: Judge<'a, SpecialisedSystem<'s>>,
    options: &'a SearchOptions,
    scratch: EvaluatorScratch,
    assumptions: Vec<Watched>,
    invariants: Vec<Watched>,
    covers: Vec<Watched>,
    /// The properties that say which states are transient.
    passing: Vec<Watched>,
    /// The number of annotated states that count.
    states: u64,
    covered: Vec<PropertyId>,
    reached: Vec<Reached>,
    /// The partitions of the annotated states of each class.
    classes: FxHashMap<u64, Vec<PartitionNumber>>,
    /// The last annotated state of a class, a partition and a print.
    prints: FxHashMap<(u64, PartitionNumber, u64), u32>,
    /// The annotated states of each class at the distance currently being found.
    fresh: FxHashMap<u64, Vec<u32>>,
    level: u32,
    depth: u32,
    transitions: u64,
    removed: u64,
    bytes: u64,
    /// The words without the bits that permutations change.
    unmoved: Vec<u64>,
    /// Checks for values that the certification of partitions considered impossible.
    guard: Guard,
}

/// Runs the search.
pub(super) fn run(
    partial: &mut PartialSymmetry<'_>,
    system: &SpecialisedSystem<'_>,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    time: PartitionTime,
    observer: &mut dyn Observer,
) -> Result<AdaptiveReport, AdaptiveError> {
    let model = interpreter.model();
    let checks = Checks::new(model, options.properties.as_deref());
    let mut stepper = Stepper::new(partial, system, observer);
    if time == PartitionTime::Eager {
        for rule in model.rules.indices() {
            stepper.rule_edges(rule)?;
        }
    }
    let mut watch = |properties: &[PropertyId]| -> Result<Vec<Watched>, AdaptiveError> {
        let conditions =
            properties.iter().filter(|&&property| model.properties[property].formula.condition().is_some());
        conditions
            .map(|&property| {
                let symmetry = stepper.partial.property(property)?;
                let partition = stepper.partitions.number(&symmetry.partition);
                let edges = symmetry.edges.into_iter().map(|edge| stepper.add_edge(None, edge)).collect();
                Ok(Watched { property, partition, edges })
            })
            .collect()
    };
    let assumptions = watch(&checks.assumptions)?;
    let invariants = watch(&checks.invariants)?;
    let reached: Vec<PropertyId> = checks.covers.iter().chain(&checks.remarks).copied().collect();
    let covers = watch(&reached)?;
    let passing = watch(&checks.passing)?;
    let mut unmoved = vec![0u64; system.words()];
    for (number, slot) in interpreter.layout().slots.iter().enumerate() {
        if !stepper.arrangement.is_moved(number) && slot.width > 0 {
            let mask = if slot.width == 64 { u64::MAX } else { (1 << slot.width) - 1 };
            unmoved[slot.bit as usize / 64] |= mask << (slot.bit % 64);
        }
    }
    let guard = Guard::new(interpreter.layout(), stepper.partial.literals());
    let mut search = AdaptiveSearch {
        judge: Judge::new(system, &checks, options),
        stepper,
        options,
        scratch: system.scratch(),
        assumptions,
        invariants,
        covers,
        passing,
        states: 0,
        covered: Vec::new(),
        reached: Vec::new(),
        classes: FxHashMap::default(),
        prints: FxHashMap::default(),
        fresh: FxHashMap::default(),
        level: 0,
        depth: 0,
        transitions: 0,
        removed: 0,
        bytes: 0,
        unmoved,
        guard,
    };
    let end = search.run().err().map(|end| *end);
    search.finish(end, interpreter, &checks)
}

impl AdaptiveSearch<'_, '_, '_> {
    fn run(&mut self) -> Result<(), Halt> {
        self.begin()?;
        let mut number = 0;
        loop {
            let end_of_level = self.reached.len();
            if number == end_of_level {
                return Ok(());
            }
            if let Some(limit) = self.options.max_depth.filter(|&limit| u64::from(self.level) >= limit) {
                return Err(stop(StopReason::DepthLimit(limit)));
            }
            self.level += 1;
            self.fresh.clear();
            while number < end_of_level {
                if !self.reached[number].removed {
                    self.expand(number as u32)?;
                }
                number += 1;
                if (number as u64).is_multiple_of(PROGRESS_INTERVAL) {
                    self.report_progress(number as u64)?;
                }
            }
        }
    }

    /// Runs the starts.
    fn begin(&mut self) -> Result<(), Halt> {
        let mut states: Vec<Vec<u64>> = Vec::new();
        let mut covered_on_the_way = Vec::new();
        let mut failed = None;
        let system = self.stepper.system;
        system.starts(&mut self.scratch, &mut |instance, event| match event {
            Event::Next { state, covered } => {
                covered_on_the_way.extend_from_slice(covered);
                states.push(state.to_vec());
                ControlFlow::Continue(())
            }
            Event::Fault(fault) => {
                failed = Some((instance.action, instance.arguments.to_vec(), fault));
                ControlFlow::Break(())
            }
            // The states themselves are requested here: none is transient yet.
            Event::Pruned | Event::Idle | Event::Passed { .. } | Event::Wrong { .. } => ControlFlow::Continue(()),
        });
        covered_on_the_way.into_iter().for_each(|property| note(&mut self.covered, property));
        if let Some((action, arguments, fault)) = failed {
            let violation = Violation::Fault { action, arguments, fault };
            return Err(match excuse(&violation) {
                Some(reason) => stop(reason),
                None => Box::new(End::FoundAtStart(violation)),
            });
        }
        if !states.iter().all(|state| self.guard.passes(None, state)) {
            return Err(self.impossible());
        }
        let mut seen = rustc_hash::FxHashSet::default();
        states.retain(|state| seen.insert(state.clone()));
        for (state, partition) in initial::annotate(&mut self.stepper, PartitionNumber::COARSEST, &states) {
            self.update(Annotated { state, partition }, None)?;
        }
        Ok(())
    }

    /// Fires all edges in an annotated state.
    fn expand(&mut self, number: u32) -> Result<(), Halt> {
        let Annotated { state, partition } = self.reached[number as usize].annotated.clone();
        let kinds = self.stepper.kinds(&state, partition);
        let stuttering = self.options.deadlock == DeadlockMode::Stuttering;
        // Whether every state that this one represents has a step, and which edges distinguish some of them.
        let mut alive = false;
        let mut telling_apart = partition;
        let rules: Vec<RuleId> = self.stepper.partial.model().rules.indices().collect();
        for rule in rules {
            if self.stepper.is_out_of_reach(rule, &state, &kinds) {
                continue;
            }
            let edges = self.stepper.rule_edges(rule).map_err(|error| Box::new(End::Error(error.into())))?;
            for edge in edges {
                let (result, firings) = self.stepper.fire(edge, &state, partition, &kinds);
                self.poll_limits()?;
                telling_apart = self.stepper.partitions.meet(telling_apart, result);
                for firing in firings {
                    match firing.fired {
                        Fired::Next { state: next, covered } => {
                            if !self.guard.passes(Some(&firing.before), &next) {
                                return Err(self.impossible());
                            }
                            covered.into_iter().for_each(|property| note(&mut self.covered, property));
                            self.transitions += 1;
                            // The edge preserves the set of represented states: each of them has a step.
                            alive |= result == partition && (!stuttering || next != firing.before);
                            let mut next = next;
                            self.stepper.canonicalize(&mut next, result);
                            self.update(Annotated { state: next, partition: result }, Some(number))?;
                        }
                        Fired::Pruned => {}
                        Fired::Fault(fault) => {
                            let (action, arguments) = (Action::Rule(rule), firing.arguments);
                            let violation = Violation::Fault { action, arguments, fault };
                            return Err(self.found(Some(number), None, firing.before, violation));
                        }
                    }
                }
            }
        }
        if !alive && self.options.deadlock != DeadlockMode::Off {
            let states = self.stepper.unwind(&state, partition, telling_apart);
            self.poll_limits()?;
            for state in states {
                let (system, scratch) = (self.stepper.system, &mut self.scratch);
                if let Some(violation) = deadlock(self.options, &state, |each| system.successors(scratch, &state, each))
                {
                    return Err(self.found(Some(number), None, state, violation));
                }
            }
        }
        Ok(())
    }

    /// A slot holds a value considered impossible: all results are invalid.
    fn impossible(&self) -> Halt {
        let slot = self.guard.caught().expect("asked after a state did not pass");
        let name = self.stepper.partial.layout().slots[slot].name.clone();
        Box::new(End::Error(EngineError::ImpossibleValue(name).into()))
    }

    /// Algorithm 2: stores an annotated state unless another one represents all of it.
    fn update(&mut self, annotated: Annotated, parent: Option<u32>) -> Result<(), Halt> {
        let class = self.class_of(&annotated.state);
        let print = self.stepper.print(annotated.partition);
        let Self { stepper, reached, classes, prints, .. } = &mut *self;
        for &coarse in classes.get(&class).map_or(&[][..], Vec::as_slice) {
            let is_own = coarse == annotated.partition;
            let print = if is_own { print } else { stepper.print(coarse) };
            let mut number = prints.get(&(class, coarse, print)).copied();
            while let Some(at) = number {
                let Reached { annotated: other, next, .. } = &reached[at as usize];
                if if is_own { other.state == annotated.state } else { subsumes(stepper, other, &annotated) } {
                    return Ok(());
                }
                number = *next;
            }
        }
        // Some of the represented states may be dropped or transient, and others not.
        let deciding = self.assumptions.iter().chain(&self.passing).map(|watched| watched.partition);
        for partition in deciding.collect::<Vec<_>>() {
            let fine = self.stepper.partitions.meet(annotated.partition, partition);
            if fine != annotated.partition {
                let states = self.stepper.unwind(&annotated.state, annotated.partition, fine);
                self.poll_limits()?;
                for mut state in states {
                    self.stepper.canonicalize(&mut state, fine);
                    self.update(Annotated { state, partition: fine }, parent)?;
                }
                return Ok(());
            }
        }
        for at in 0..self.assumptions.len() {
            let property = self.assumptions[at].property;
            match self.judge.first_failure(property, &annotated.state) {
                None => {}
                Some(Violation::Property { .. }) => return Ok(()),
                Some(fault) => {
                    let state = annotated.state.clone();
                    return Err(self.found(parent, Some(annotated), state, fault));
                }
            }
        }
        let properties: Vec<PropertyId> = self.passing.iter().map(|watched| watched.property).collect();
        let passing = is_passing(self.stepper.system, &mut self.scratch, &properties, &annotated.state);
        if !passing {
            for at in 0..self.invariants.len() {
                self.check_invariant(at, &annotated, parent)?;
            }
        }
        let counts = !passing || self.options.store_passing;
        if let Some(limit) = self.options.max_states.filter(|&limit| counts && self.states >= limit) {
            return Err(stop(StopReason::StateLimit(limit)));
        }
        if !passing {
            for at in 0..self.covers.len() {
                self.check_cover(at, &annotated, parent)?;
            }
        }
        self.states += u64::from(counts);
        for number in self.fresh.get(&class).cloned().unwrap_or_default() {
            let older = &mut self.reached[number as usize];
            let is_other = !older.removed && older.annotated.partition != annotated.partition;
            if is_other && subsumes(&mut self.stepper, &annotated, &older.annotated) {
                older.removed = true;
                self.removed += 1;
            }
        }
        let number = self.reached.len() as u32;
        self.bytes += 8 * annotated.state.len() as u64 + 96;
        let partition = annotated.partition;
        let next = self.prints.insert((class, partition, print), number);
        let partitions = self.classes.entry(class).or_default();
        if !partitions.contains(&partition) {
            partitions.push(partition);
        }
        self.fresh.entry(class).or_default().push(number);
        self.reached.push(Reached { annotated, parent, removed: false, passing: !counts, class, next });
        self.depth = self.depth.max(self.level);
        Ok(())
    }

    /// A number shared by all images of a state under permutations. Leaves the hashes of its blocks with the stepper.
    fn class_of(&mut self, state: &[u64]) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        self.fixed(state).for_each(|word| word.hash(&mut hasher));
        self.stepper.hash_blocks(state).hash(&mut hasher);
        hasher.finish()
    }

    /// The part of a state that is not in blocks and that no permutation changes: the variables unrelated to members,
    /// and, for those that can hold a member, the other values they hold.
    fn fixed(&self, state: &[u64]) -> impl Iterator<Item = u64> {
        let arrangement = &self.stepper.arrangement;
        let other = arrangement.shared().map(|(slot, held)| {
            let code = arrangement.code(state, slot);
            if held.member(code).is_some() { u64::MAX } else { code }
        });
        state.iter().zip(&self.unmoved).map(|(word, mask)| word & mask).chain(other)
    }

    fn check_invariant(&mut self, at: usize, annotated: &Annotated, parent: Option<u32>) -> Result<(), Halt> {
        let Watched { property, partition, .. } = self.invariants[at];
        let states = self.states_to_look_at(annotated, partition, self.invariants[at].edges.clone());
        self.poll_limits()?;
        for state in states {
            if let Some(violation) = self.judge.first_failure(property, &state) {
                return Err(self.found(parent, Some(annotated.clone()), state, violation));
            }
        }
        Ok(())
    }

    fn check_cover(&mut self, at: usize, annotated: &Annotated, parent: Option<u32>) -> Result<(), Halt> {
        let Watched { property, partition, .. } = self.covers[at];
        if self.covered.contains(&property) {
            return Ok(());
        }
        let states = self.states_to_look_at(annotated, partition, self.covers[at].edges.clone());
        self.poll_limits()?;
        for state in states {
            match self.judge.holds_somewhere(property, &state) {
                Ok(false) => {}
                Ok(true) => {
                    note(&mut self.covered, property);
                    return Ok(());
                }
                // A remark without a value is not made.
                Err(_) if self.judge.is_remark(property) => {}
                Err(violation) => return Err(self.found(parent, Some(annotated.clone()), state, violation)),
            }
        }
        Ok(())
    }

    /// Some represented states: at least one of each sort that a property distinguishes and that may be relevant to it.
    fn states_to_look_at(
        &mut self,
        annotated: &Annotated,
        partition: PartitionNumber,
        edges: Vec<usize>,
    ) -> Vec<Vec<u64>> {
        if self.stepper.partitions.meet(annotated.partition, partition) == annotated.partition {
            return vec![annotated.state.clone()];
        }
        let mut states = Vec::new();
        for edge in edges {
            let _ = self.stepper.look(edge, &annotated.state, annotated.partition, &mut |_, state| {
                states.push(state.to_vec());
                ControlFlow::Continue(())
            });
        }
        states
    }

    /// The end of the search caused by a violation.
    fn found(&self, origin: Option<u32>, last: Option<Annotated>, state: Vec<u64>, violation: Violation) -> Halt {
        match excuse(&violation) {
            Some(reason) => stop(reason),
            None => Box::new(End::Found { origin, last, state, violation }),
        }
    }

    fn report_progress(&mut self, expanded: u64) -> Result<(), Halt> {
        if let Some(limit) = self.options.max_memory.filter(|&limit| self.bytes > limit) {
            return Err(stop(StopReason::MemoryLimit(limit)));
        }
        let progress = Progress {
            states: self.states,
            transitions: self.transitions.max(self.stepper.work),
            frontier: self.reached.len() as u64 - expanded,
            depth: u64::from(self.depth),
            memory_bytes: self.bytes,
        };
        self.stepper.progress = progress;
        let _ = self.stepper.report_progress();
        self.poll_limits()
    }

    /// Ends the search if the observer requests it.
    fn poll_limits(&self) -> Result<(), Halt> {
        self.stepper.stop_reason().map_or(Ok(()), |reason| Err(stop(reason)))
    }

    fn finish(
        mut self,
        end: Option<End>,
        interpreter: &Interpreter<'_>,
        checks: &Checks,
    ) -> Result<AdaptiveReport, AdaptiveError> {
        self.stepper.is_over = true;
        let model = interpreter.model();
        let mut verdicts = Verdicts::new(model, checks, self.options, end.is_none(), &self.covered);
        let stop_reason = match end {
            None => None,
            Some(End::Stopped(reason)) => Some(reason),
            Some(End::Error(error)) => return Err(error),
            Some(End::FoundAtStart(violation)) => {
                let trace = quotient_ir::Trace::new(Vec::new(), Some(violation));
                quotient_ir::replay(interpreter, &trace).map_err(EngineError::from)?;
                Some(verdicts.conclude(trace))
            }
            Some(End::Found { origin, last, state, violation }) => {
                let mut path = Vec::new();
                let mut number = origin;
                while let Some(at) = number {
                    path.push(self.reached[at as usize].annotated.clone());
                    number = self.reached[at as usize].parent;
                }
                path.reverse();
                path.extend(last);
                let trace = trace::rebuild(&mut self.stepper, interpreter, &path, state, violation)?;
                Some(verdicts.conclude(trace))
            }
        };
        // After an early end, the user should not have to wait for this figure.
        let represented = if self.stepper.stop_reason().is_some() { None } else { self.represented() };
        let figures = Figures {
            states: self.states,
            represented,
            transitions: self.transitions,
            depth: u64::from(self.depth),
            memory_bytes: self.bytes,
            words: interpreter.layout().words(),
            ..Figures::default()
        };
        let report = verdicts.report(stop_reason, figures);
        let mut rules: Vec<(RuleId, Option<Partition>)> = Vec::new();
        for rule in model.rules.indices() {
            let known = self.stepper.partial.is_known(rule);
            let partition = if known { Some(self.stepper.partial.rule(rule)?.partition.clone()) } else { None };
            rules.push((rule, partition));
        }
        let annotated = if self.reached.len() <= HAND_OUT_LIMIT {
            let partitions = &self.stepper.partitions;
            let reached = self.reached.iter().filter(|entry| !entry.passing).map(|entry| &entry.annotated);
            reached.map(|entry| (entry.state.clone(), partitions.partition(entry.partition).clone())).collect()
        } else {
            Vec::new()
        };
        Ok(AdaptiveReport {
            report,
            removed: self.removed,
            partitions: self.stepper.partitions.len(),
            rules,
            annotated,
        })
    }

    /// The number of states that the annotated states represent.
    fn represented(&mut self) -> Option<BigUint> {
        let mut total = BigUint::default();
        let mut counter = count::Counter::default();
        let mut classes: FxHashMap<(u64, Vec<u64>), Vec<&Annotated>> = FxHashMap::default();
        for entry in self.reached.iter().filter(|entry| !entry.passing) {
            let state = &entry.annotated.state;
            // Different classes may have the same number.
            let fixed = self.fixed(state).collect();
            classes.entry((entry.class, fixed)).or_default().push(&entry.annotated);
        }
        for class in classes.into_values() {
            total += counter.count(&mut self.stepper, &class)?;
        }
        Some(total)
    }
}

/// Theorem 4: whether `coarse` represents everything that `fine` represents. Exact if blocks describe members
/// completely, and never wrongly true.
fn subsumes(stepper: &mut Stepper<'_, '_>, coarse: &Annotated, fine: &Annotated) -> bool {
    // Members that the coarse state distinguishes and the fine one does not must look the same.
    let straddling = stepper.partitions.straddling(coarse.partition, fine.partition);
    if !straddling.is_empty() {
        stepper.arrangement.blocks(&mut stepper.desk, &fine.state);
        let alike = straddling.iter().all(|cell| {
            cell[1..]
                .iter()
                .all(|&member| stepper.arrangement.are_alike(&mut stepper.desk, &fine.state, cell[0], member))
        });
        if !alike {
            return false;
        }
    }
    let mut state = fine.state.clone();
    stepper.canonicalize(&mut state, coarse.partition);
    state == coarse.state
}

fn stop(reason: StopReason) -> Halt {
    Box::new(End::Stopped(reason))
}
