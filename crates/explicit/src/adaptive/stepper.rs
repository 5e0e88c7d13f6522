//! Steps of annotated states: all steps of all states that an annotated state represents, each up to the permutations
//! common to its edge and the state's partition.
//!
//! For an edge with partition Q and a state s with partition P, let R be the greatest lower bound of both. An instance
//! a of the edge represents all its images under permutations of R. It has to be fired in all states of the orbit of
//! (s, P), but states that are mapped to each other by a permutation of R that fixes a count once. So s is unwound to R
//! refined by what a itself distinguishes, and only to states that satisfy the conditions of a on single slots. Each
//! successor is annotated with R.

use std::ops::ControlFlow;
use std::rc::Rc;

use quotient_ir::{Fault, PropertyId, RuleId, TableIndex};
use quotient_symmetry::{Arrangement, Desk, DetectionError, Edge, Held, Kind, Need, PartialSymmetry, Target, unwind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::partitions::{PartitionNumber, Partitions};
use quotient_search::{Event, Observer, Progress, StopReason};
use quotient_systems::{EvaluatorScratch, SpecialisedSystem};

/// The number of states examined between reports of progress, however few steps they have.
const WORK_INTERVAL: u64 = 1024;

/// The outcome of an instance fired in a state that an annotated state represents.
#[derive(Clone, Debug)]
pub(super) enum Fired {
    Next { state: Vec<u64>, covered: Vec<PropertyId> },
    Pruned,
    Fault(Fault),
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Firing {
    pub(super) before: Vec<u64>,
    pub(super) arguments: Vec<i64>,
    pub(super) fired: Fired,
}

/// An edge, prepared for the search.
#[derive(Clone, Debug)]
pub(crate) struct EdgeEntry {
    /// None for the edges of a property.
    pub(crate) rule: Option<RuleId>,
    pub(crate) edge: Rc<Edge>,
    pub(crate) partition: PartitionNumber,
}

/// How to fire an edge in states with a given partition.
#[derive(Debug)]
struct Plan {
    /// The partition of the successors.
    result: PartitionNumber,
    attempts: Vec<Attempt>,
}

/// One instance, representing all that are equal up to permutations.
#[derive(Debug)]
struct Attempt {
    instance: usize,
    targets: Vec<Vec<Target>>,
    /// For each target, the conditions of its positions on the parts of a member, by number.
    needs: Vec<Vec<PartNeeds>>,
    /// The conditions on shared variables that hold members, by number.
    shared: Vec<(usize, Need)>,
    /// The conditions on other slots.
    fixed: Vec<Need>,
}

/// Conditions on the parts of a member, by the number of the part.
type PartNeeds = Vec<(usize, Need)>;

/// The same as sets of codes only.
type CodeNeeds = Vec<(usize, Box<[u64]>)>;

/// The conditions of the instances of a rule, irrespective of members, for skipping the rule early.
#[derive(Debug, Default)]
struct RuleFilter {
    /// The distinct conditions of positions.
    needs: Vec<CodeNeeds>,
    /// For each sort of instance: the slots that no permutation changes, and how many positions of each family have
    /// each of the conditions.
    demands: Vec<Demand>,
    /// Whether a block satisfies a condition.
    met: FxHashMap<(usize, u64), bool>,
}

/// The conditions of a sort of instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Demand {
    fixed: Vec<(usize, Box<[u64]>)>,
    /// For each family, the number of positions with each condition, and with none.
    families: Vec<(Vec<(usize, usize)>, usize)>,
}

/// Fires edges in annotated states.
pub(crate) struct Stepper<'s, 'm> {
    pub(crate) partial: &'s mut PartialSymmetry<'m>,
    pub(crate) system: &'s SpecialisedSystem<'s>,
    pub(crate) arrangement: Rc<Arrangement>,
    pub(crate) partitions: Partitions,
    pub(crate) desk: Desk,
    scratch: EvaluatorScratch,
    pub(crate) edges: Vec<EdgeEntry>,
    rule_edges: Vec<Option<Vec<usize>>>,
    filters: Vec<Option<RuleFilter>>,
    plans: FxHashMap<(usize, PartitionNumber), Rc<Plan>>,
    family_of: Vec<usize>,
    /// The blocks hashed last.
    hashes: Vec<u64>,
    observer: &'s mut dyn Observer,
    /// The progress of the search.
    pub(crate) progress: Progress,
    /// The number of states examined in search of steps.
    pub(crate) work: u64,
    /// Why the observer stopped the search.
    stopped: Option<StopReason>,
    /// Whether the search is over: the remaining work is completed, whatever the observer requests.
    pub(crate) is_over: bool,
}

impl<'s, 'm> Stepper<'s, 'm> {
    pub(crate) fn new(
        partial: &'s mut PartialSymmetry<'m>,
        system: &'s SpecialisedSystem<'s>,
        observer: &'s mut dyn Observer,
    ) -> Self {
        use quotient_search::TransitionSystem;
        let arrangement = Rc::new(Arrangement::new(partial.families(), partial.layout()));
        let rules = partial.model().rules.len();
        let family_of = (0..partial.families().members()).map(|member| partial.families().family_of(member)).collect();
        let mut partitions = Partitions::default();
        let coarsest = partitions.number(&partial.coarsest());
        debug_assert_eq!(coarsest, PartitionNumber::COARSEST);
        Self {
            partial,
            system,
            arrangement,
            partitions,
            desk: Desk::default(),
            hashes: Vec::new(),
            observer,
            progress: Progress::default(),
            work: 0,
            stopped: None,
            is_over: false,
            scratch: system.scratch(),
            edges: Vec::new(),
            rule_edges: vec![None; rules],
            filters: (0..rules).map(|_| None).collect(),
            plans: FxHashMap::default(),
            family_of,
        }
    }

    /// Reports progress to the observer, which may request a stop.
    pub(crate) fn report_progress(&mut self) -> ControlFlow<()> {
        if self.is_over {
            return ControlFlow::Continue(());
        }
        if let ControlFlow::Break(reason) = self.observer.progress(&self.progress) {
            self.stopped = Some(reason);
        }
        if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Why the observer stopped the search, if it did. The last results are incomplete then.
    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        self.stopped.clone()
    }

    /// The kinds of members of a state in each cell of a partition.
    pub(crate) fn kinds(&mut self, state: &[u64], partition: PartitionNumber) -> Vec<Vec<Kind>> {
        let cells = self.partitions.cells(partition);
        self.arrangement.kinds(&mut self.desk, state, &cells)
    }

    /// Replaces a state by its representative under the permutations of a partition.
    pub(crate) fn canonicalize(&mut self, state: &mut Vec<u64>, partition: PartitionNumber) {
        let cells = self.partitions.cells(partition);
        self.arrangement.canonicalize(&mut self.desk, state, &cells);
    }

    /// The family of a member.
    pub(crate) fn family_of(&self, member: usize) -> usize {
        self.family_of[member]
    }

    /// Computes the blocks of a state and the sum of their hashes: the same for all its permutations.
    pub(crate) fn hash_blocks(&mut self, state: &[u64]) -> u64 {
        let blocks = self.arrangement.blocks(&mut self.desk, state);
        self.hashes.clear();
        self.hashes.extend(blocks.iter().zip(&self.family_of).map(|(&block, &family)| {
            let bits = (block ^ (family as u64) << 57).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        }));
        self.hashes.iter().fold(0, |sum, &hash| sum.wrapping_add(hash))
    }

    /// A number shared by all states that the state whose blocks were hashed last represents with a given partition,
    /// and rarely by others of its class.
    pub(crate) fn print(&self, partition: PartitionNumber) -> u64 {
        let mut print = 0u64;
        for cell in self.partitions.cells(partition).iter() {
            let sum = cell.iter().fold(0u64, |sum, &member| sum.wrapping_add(self.hashes[member]));
            print = (print.rotate_left(23) ^ sum).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        print
    }

    /// The edges of a rule.
    pub(crate) fn rule_edges(&mut self, rule: RuleId) -> Result<Vec<usize>, DetectionError> {
        if self.rule_edges[rule.position()].is_none() {
            let edges = self.partial.rule(rule)?.edges.clone();
            let numbers = edges.into_iter().map(|edge| self.add_edge(Some(rule), edge)).collect();
            self.rule_edges[rule.position()] = Some(numbers);
        }
        Ok(self.rule_edges[rule.position()].clone().expect("it was just filled in"))
    }

    /// The edges of a rule, if they were computed.
    pub(crate) fn known_edges(&self, rule: RuleId) -> Option<&[usize]> {
        self.rule_edges[rule.position()].as_deref()
    }

    pub(crate) fn add_edge(&mut self, rule: Option<RuleId>, edge: Edge) -> usize {
        let partition = self.partitions.number(&edge.partition);
        self.edges.push(EdgeEntry { rule, edge: Rc::new(edge), partition });
        self.edges.len() - 1
    }

    /// Whether counting shows that no instance of a rule can have an effect in any state that an annotated state
    /// represents. This does not compute what the rule distinguishes.
    pub(crate) fn is_out_of_reach(&mut self, rule: RuleId, state: &[u64], kinds: &[Vec<Kind>]) -> bool {
        if self.filters[rule.position()].is_none() {
            let filter = self.filter(rule);
            self.filters[rule.position()] = Some(filter);
        }
        let arrangement = &self.arrangement;
        let family_of = &self.family_of;
        let RuleFilter { needs, demands, met } = self.filters[rule.position()].as_mut().expect("it was just filled in");
        let mut meets = |need: usize, kind: &Kind| {
            *met.entry((need, kind.block)).or_insert_with(|| {
                let own = arrangement.own(kind.members[0]);
                let allows = |(part, codes): &(usize, Box<[u64]>)| {
                    let code = arrangement.code(state, own[*part].slot);
                    codes.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
                };
                needs[need].iter().all(allows)
            })
        };
        let is_met = |slot: usize, codes: &[u64]| {
            let code = arrangement.code(state, quotient_ir::SlotId::from_position(slot));
            codes.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
        };
        !demands.iter().any(|demand| {
            demand.fixed.iter().all(|(slot, codes)| is_met(*slot, codes))
                && demand.families.iter().enumerate().all(|(family, (places, free))| {
                    let own = || kinds.iter().flatten().filter(|kind| family_of[kind.members[0]] == family);
                    let mut homeless = 0;
                    for kind in own() {
                        if !places.iter().any(|&(need, _)| meets(need, kind)) {
                            homeless += kind.members.len();
                            if homeless > *free {
                                return false;
                            }
                        }
                    }
                    places.iter().all(|&(need, count)| {
                        let suitable = own().filter(|kind| meets(need, kind)).map(|kind| kind.members.len());
                        count <= suitable.sum::<usize>()
                    })
                })
        })
    }

    fn filter(&mut self, rule: RuleId) -> RuleFilter {
        let instances = self.partial.rule_needs(rule);
        let families: Vec<usize> = self.partial.families().list().iter().map(|family| family.size).collect();
        let part_of: FxHashMap<usize, (usize, usize)> = (0..self.arrangement.members())
            .flat_map(|member| {
                let parts = self.arrangement.own(member).iter().enumerate();
                parts.map(move |(part, own)| (own.slot.position(), (member, part)))
            })
            .collect();
        let mut filter = RuleFilter::default();
        let mut numbers: FxHashMap<CodeNeeds, usize> = FxHashMap::default();
        let mut demands: FxHashSet<Demand> = FxHashSet::default();
        for needs in &instances {
            let mut by_member: FxHashMap<usize, CodeNeeds> = FxHashMap::default();
            let mut fixed = Vec::new();
            for need in needs {
                let slot = need.slot.position();
                if let Some(&(member, part)) = part_of.get(&slot) {
                    by_member.entry(member).or_default().push((part, need.codes.clone()));
                } else if !self.arrangement.is_moved(slot) {
                    fixed.push((slot, need.codes.clone()));
                }
            }
            let mut counts: Vec<FxHashMap<usize, usize>> = vec![FxHashMap::default(); families.len()];
            for (member, needs) in by_member {
                let next = numbers.len();
                let number = *numbers.entry(needs.clone()).or_insert(next);
                if number == next {
                    filter.needs.push(needs);
                }
                *counts[self.family_of[member]].entry(number).or_default() += 1;
            }
            let families = counts.into_iter().zip(&families).map(|(counts, size)| {
                let mut places: Vec<(usize, usize)> = counts.into_iter().collect();
                // Conditions with few positions are the most selective.
                places.sort_unstable_by_key(|&(need, count)| (count, need));
                let free = size - places.iter().map(|(_, count)| count).sum::<usize>();
                (places, free)
            });
            let demand = Demand { fixed, families: families.collect() };
            if demands.insert(demand.clone()) {
                filter.demands.push(demand);
            }
        }
        filter
    }

    fn plan(&mut self, edge: usize, partition: PartitionNumber) -> Rc<Plan> {
        if let Some(plan) = self.plans.get(&(edge, partition)) {
            return Rc::clone(plan);
        }
        let entry = self.edges[edge].clone();
        let result = self.partitions.meet(partition, entry.partition);
        let common = self.partitions.partition(result).clone();
        let mut attempts = Vec::new();
        let mut seen = FxHashSet::default();
        for (number, instance) in entry.edge.instances.iter().enumerate() {
            if entry.edge.natural {
                // Instances are equal up to permutations if their arguments are: members of the same cells, with the
                // same equalities among them.
                let pattern: Vec<(usize, i64)> = instance
                    .members
                    .iter()
                    .zip(&instance.arguments)
                    .map(|(member, &argument)| match member {
                        Some(own) => {
                            let first = instance.members.iter().position(|other| other == member);
                            (common.cell(*own), first.expect("it is one of them") as i64)
                        }
                        None => (usize::MAX, argument),
                    })
                    .collect();
                if !seen.insert(pattern) {
                    continue;
                }
            }
            attempts.push(self.attempt(number, instance, partition, &common));
        }
        let plan = Rc::new(Plan { result, attempts });
        self.plans.insert((edge, partition), Rc::clone(&plan));
        plan
    }

    fn attempt(
        &self,
        number: usize,
        instance: &quotient_symmetry::EdgeInstance,
        partition: PartitionNumber,
        common: &quotient_symmetry::Partition,
    ) -> Attempt {
        let fine = common.meet(&instance.stabiliser);
        let fine_cells = fine.cells();
        let cells = self.partitions.cells(partition);
        let coarse = self.partitions.partition(partition);
        let mut targets: Vec<Vec<Target>> = vec![Vec::new(); cells.len()];
        for places in fine_cells {
            targets[coarse.cell(places[0])].push(Target { places });
        }
        for targets in &mut targets {
            // Small targets are the most selective.
            targets.sort_by_key(|target| target.places.len());
        }
        let need_of: FxHashMap<usize, &Need> = instance.needs.iter().map(|need| (need.slot.position(), need)).collect();
        let needs = targets
            .iter()
            .map(|targets| {
                let needs = |target: &Target| -> PartNeeds {
                    let parts = self.arrangement.own(target.places[0]).iter().enumerate();
                    parts
                        .filter_map(|(part, own)| Some((part, (*need_of.get(&own.slot.position())?).clone())))
                        .collect()
                };
                targets.iter().map(needs).collect()
            })
            .collect();
        let mut shared = Vec::new();
        let mut special: FxHashSet<usize> = FxHashSet::default();
        for (holder, (slot, _)) in self.arrangement.shared().enumerate() {
            special.insert(slot.position());
            if let Some(&need) = need_of.get(&slot.position()) {
                shared.push((holder, need.clone()));
            }
        }
        let moved = |slot: usize| special.contains(&slot) || self.arrangement.is_moved(slot);
        let fixed = instance.needs.iter().filter(|need| !moved(need.slot.position())).cloned().collect();
        Attempt { instance: number, targets, needs, shared, fixed }
    }

    /// Visits the states that an annotated state represents and in which an attempt may have an effect.
    fn try_out(
        &mut self,
        attempt: &Attempt,
        state: &[u64],
        kinds: &[Vec<Kind>],
        visit: &mut impl FnMut(&mut Self, &[u64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !attempt.fixed.iter().all(|need| need.allows(self.arrangement.code(state, need.slot))) {
            return ControlFlow::Continue(());
        }
        let mut held: Vec<(usize, usize)> = Vec::new();
        {
            let holders: Vec<(quotient_ir::SlotId, &Held)> = self.arrangement.shared().collect();
            for (number, (holder, need)) in attempt.shared.iter().enumerate() {
                let (slot, codes) = holders[*holder];
                let code = self.arrangement.code(state, slot);
                match codes.member(code) {
                    Some(member) => held.push((member, number)),
                    None if !need.allows(code) => return ControlFlow::Continue(()),
                    None => {}
                }
            }
        }
        let arrangement = Rc::clone(&self.arrangement);
        let holders: Vec<(quotient_ir::SlotId, &Held)> = arrangement.shared().collect();
        let mut allows = |cell: usize, target: usize, kind: usize| {
            let kind = &kinds[cell][kind];
            let own = arrangement.own(kind.members[0]);
            attempt.needs[cell][target].iter().all(|(part, need)| need.allows(arrangement.code(state, own[*part].slot)))
                && held.iter().all(|&(member, number)| {
                    let (holder, need) = &attempt.shared[number];
                    !kind.members.contains(&member)
                        || attempt.targets[cell][target]
                            .places
                            .iter()
                            .any(|&place| need.allows(holders[*holder].1.code(place)))
                })
        };
        let mut image = Vec::new();
        unwind(kinds, &attempt.targets, arrangement.members(), &mut allows, &mut |place_of| {
            self.work += 1;
            if self.work.is_multiple_of(WORK_INTERVAL) {
                self.progress.transitions += WORK_INTERVAL;
                self.report_progress()?;
            }
            arrangement.apply(state, place_of, &mut image);
            visit(self, &image)
        })
    }

    /// All steps of an edge, and the partition of the states they lead to; incomplete if the observer requests a stop.
    pub(super) fn fire(
        &mut self,
        edge: usize,
        state: &[u64],
        partition: PartitionNumber,
        kinds: &[Vec<Kind>],
    ) -> (PartitionNumber, Vec<Firing>) {
        let plan = self.plan(edge, partition);
        let entry = self.edges[edge].clone();
        let rule = entry.rule.expect("edges of rules are fired");
        let mut firings = Vec::new();
        for attempt in &plan.attempts {
            let arguments = &entry.edge.instances[attempt.instance].arguments;
            let flow = self.try_out(attempt, state, kinds, &mut |stepper, before| {
                stepper.system.fire_instance(&mut stepper.scratch, rule, arguments, before, &mut |_, event| {
                    let fired = match event {
                        Event::Next { state, covered } => {
                            Fired::Next { state: state.to_vec(), covered: covered.to_vec() }
                        }
                        Event::Pruned => Fired::Pruned,
                        Event::Fault(fault) => Fired::Fault(fault),
                        Event::Idle | Event::Passed { .. } | Event::Wrong { .. } => return ControlFlow::Continue(()),
                    };
                    firings.push(Firing { before: before.to_vec(), arguments: arguments.clone(), fired });
                    ControlFlow::Continue(())
                });
                ControlFlow::Continue(())
            });
            if flow.is_break() {
                break;
            }
        }
        (plan.result, firings)
    }

    /// Visits states that an annotated state represents: at least one of each sort that an edge of a property
    /// distinguishes and that may satisfy the edge.
    pub(crate) fn look(
        &mut self,
        edge: usize,
        state: &[u64],
        partition: PartitionNumber,
        visit: &mut impl FnMut(&mut Self, &[u64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let plan = self.plan(edge, partition);
        let kinds = self.kinds(state, partition);
        for attempt in &plan.attempts {
            self.try_out(attempt, state, &kinds, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Unwinds a state to a finer partition; incompletely if the observer requests a stop.
    pub(crate) fn unwind(&mut self, state: &[u64], partition: PartitionNumber, fine: PartitionNumber) -> Vec<Vec<u64>> {
        if partition == fine {
            return vec![state.to_vec()];
        }
        let kinds = self.kinds(state, partition);
        let coarse = self.partitions.partition(partition).clone();
        let mut targets: Vec<Vec<Target>> = vec![Vec::new(); kinds.len()];
        for places in self.partitions.cells(fine).iter() {
            targets[coarse.cell(places[0])].push(Target { places: places.clone() });
        }
        let mut states = Vec::new();
        let arrangement = Rc::clone(&self.arrangement);
        let mut keep = |place_of: &[usize]| {
            self.work += 1;
            if self.work.is_multiple_of(WORK_INTERVAL) {
                self.report_progress()?;
            }
            let mut image = Vec::new();
            arrangement.apply(state, place_of, &mut image);
            states.push(image);
            ControlFlow::Continue(())
        };
        let _ = unwind(&kinds, &targets, arrangement.members(), &mut |_, _, _| true, &mut keep);
        states
    }
}
