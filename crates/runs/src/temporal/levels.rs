//! Which symmetries a product uses where: for each state of the automaton those that preserve the atoms it may still
//! ask for, and before an instance is chosen those that permute the instances.

use std::collections::VecDeque;

use num_bigint::BigUint;
use quotient_groups::SparsePermutation;
use quotient_ir::{Budget, Interpreter, Layout, PropertyId, Temporal};
use quotient_symmetry::{Instance, Literals, Preserved, Subject};
use quotient_temporal::Automaton;
use rustc_hash::FxHashMap;

use quotient_graphs::AtomicModel;
use quotient_search::EngineError;
use quotient_systems::{ReductionPlan, SymmetrySource, plan};

/// The largest number of groups for one automaton.
const LEVELS: usize = 4;
/// With more instances of a formula than this, symmetries between them are not looked for.
const INSTANCES: usize = 4096;

/// Instances of a formula that symmetries exchange.
#[derive(Debug)]
pub(crate) struct Orbit {
    /// The instances; the first one is checked.
    pub(crate) instances: Vec<Vec<i64>>,
    /// For each, a symmetry that maps it to the first.
    pub(crate) turns: Vec<SparsePermutation>,
}

/// The instances of a formula, and the symmetries that permute them.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) orbits: Vec<Orbit>,
    /// The symmetries, if they exchange instances.
    pub(crate) plan: Option<ReductionPlan>,
}

impl Family {
    /// Each instance by itself.
    pub(crate) fn apart(instances: Vec<Vec<i64>>) -> Self {
        let alone = |instance| Orbit { instances: vec![instance], turns: vec![SparsePermutation::identity()] };
        Self { orbits: instances.into_iter().map(alone).collect(), plan: None }
    }

    /// The instances of a property in orbits.
    ///
    /// # Errors
    /// If a symmetry cannot be certified, or the budget is spent.
    pub(crate) fn new(
        interpreter: &Interpreter<'_>,
        property: PropertyId,
        temporal: &Temporal,
        source: SymmetrySource,
        budget: &Budget,
    ) -> Result<Self, EngineError> {
        let model = interpreter.model();
        let entry = &model.properties[property];
        let instances: Vec<Vec<i64>> = interpreter.instances(&entry.parameters, &entry.locals).collect();
        if instances.len() < 2 || instances.len() > INSTANCES {
            return Ok(Self::apart(instances));
        }
        let family = AtomicModel::new(model, property, temporal, None);
        let layout = interpreter.layout();
        let found = plan(&family.model, layout, Preserved::Properties(&family.atoms), source, None, budget)?;
        if found.reduction.is_none() {
            return Ok(Self::apart(instances));
        }
        let group = &found.symmetry.group;
        let numbers: FxHashMap<&[i64], usize> =
            instances.iter().enumerate().map(|(number, instance)| (&instance[..], number)).collect();
        let action = group.instance_action();
        let mut images: Vec<Vec<usize>> = Vec::new();
        for generator in 0..group.generators().len() {
            let map = action.of_generator(generator);
            let mut row = Vec::with_capacity(instances.len());
            for instance in &instances {
                // Each atom moves the parameters it mentions; they must agree.
                let mut image: Vec<Option<i64>> = vec![None; instance.len()];
                for (&atom, mentioned) in family.atoms.iter().zip(&family.mentioned) {
                    let arguments = mentioned.iter().map(|&position| instance[position]).collect();
                    let moved = action.image(&map, &Instance { subject: Subject::Property(atom), arguments });
                    let Some(moved) = moved.filter(|moved| moved.subject == Subject::Property(atom)) else {
                        return Ok(Self::apart(instances));
                    };
                    for (&position, &value) in mentioned.iter().zip(&moved.arguments) {
                        if *image[position].get_or_insert(value) != value {
                            return Ok(Self::apart(instances));
                        }
                    }
                }
                let image: Vec<i64> =
                    image.iter().zip(instance).map(|(image, &value)| image.unwrap_or(value)).collect();
                match numbers.get(&image[..]) {
                    Some(&number) => row.push(number),
                    None => return Ok(Self::apart(instances)),
                }
            }
            let mut hit = vec![false; instances.len()];
            row.iter().for_each(|&number| hit[number] = true);
            if hit.contains(&false) {
                return Ok(Self::apart(instances));
            }
            images.push(row);
        }
        let mut orbits = Vec::new();
        let mut seen = vec![false; instances.len()];
        for first in 0..instances.len() {
            if seen[first] {
                continue;
            }
            let mut orbit = Orbit { instances: Vec::new(), turns: Vec::new() };
            let mut queue = VecDeque::from([(first, SparsePermutation::identity())]);
            seen[first] = true;
            while let Some((number, element)) = queue.pop_front() {
                for (row, generator) in images.iter().zip(group.generators()) {
                    let image = row[number];
                    if !seen[image] {
                        seen[image] = true;
                        queue.push_back((image, element.then(generator)));
                    }
                }
                orbit.instances.push(instances[number].clone());
                orbit.turns.push(element.inverse());
            }
            orbits.push(orbit);
        }
        let exchanges = orbits.iter().any(|orbit| orbit.instances.len() > 1);
        Ok(Self { orbits, plan: exchanges.then_some(found) })
    }
}

/// The symmetries for the states of an automaton.
#[derive(Debug)]
pub(crate) struct Levels {
    pub(crate) plans: Vec<ReductionPlan>,
    /// The level of each state of the automaton.
    pub(crate) level_of: Vec<usize>,
}

impl Levels {
    /// For each state the symmetries that preserve the atoms it may still ask for, or all atoms.
    ///
    /// # Errors
    /// If a symmetry cannot be certified, or the budget is spent.
    pub(crate) fn new(
        atomic: &AtomicModel,
        layout: &Layout,
        automaton: &Automaton,
        (needs_all, source): (bool, SymmetrySource),
        budget: &Budget,
    ) -> Result<Self, EngineError> {
        let mut needed = needed_atoms(automaton);
        if needs_all {
            let all = automaton.atoms.iter().enumerate().fold(0, |all, (bit, _)| all | 1 << bit);
            needed.fill(all);
        }
        let mut sets = needed.clone();
        // The states that need most come first; what has no group of its own shares that of the next larger set.
        sets.sort_unstable_by_key(|set| (std::cmp::Reverse(set.count_ones()), *set));
        sets.dedup();
        let everything = needed.iter().fold(0, |all, set| all | set);
        let chosen: Vec<u64> = match sets.len() {
            0..=LEVELS => sets,
            _ => std::iter::once(everything).chain(sets[sets.len() - (LEVELS - 1)..].iter().copied()).collect(),
        };
        let mut plans: Vec<ReductionPlan> = Vec::new();
        for set in &chosen {
            let bits = (0..automaton.atoms.len()).filter(|bit| set >> bit & 1 == 1);
            let atoms: Vec<PropertyId> = bits.map(|bit| atomic.atoms[automaton.atoms[bit].0 as usize]).collect();
            plans.push(plan(&atomic.model, layout, Preserved::Properties(&atoms), source, None, budget)?);
        }
        // Symmetries of different levels are composed, so they must permute the same points.
        let is_same = |plan: &ReductionPlan| plan.symmetry.group.literals() == plans[0].symmetry.group.literals();
        if !plans.iter().all(is_same) {
            plans.truncate(1);
            return Ok(Self { level_of: vec![0; needed.len()], plans });
        }
        let level = |set: &u64| {
            let fitting = chosen.iter().enumerate().filter(|(_, chosen)| *set & !**chosen == 0);
            fitting.min_by_key(|(_, chosen)| chosen.count_ones()).map_or(0, |(level, _)| level)
        };
        Ok(Self { level_of: needed.iter().map(level).collect(), plans })
    }

    /// The points that all symmetries permute.
    pub(crate) fn literals(&self) -> Option<&Literals> {
        self.plans.first().map(|plan| plan.symmetry.group.literals())
    }

    /// The numbers of symmetries, largest sets of atoms first.
    pub(crate) fn orders(&self) -> Vec<BigUint> {
        self.plans.iter().map(order).collect()
    }
}

/// The number of symmetries that a plan uses.
pub(crate) fn order(plan: &ReductionPlan) -> BigUint {
    if plan.reduction.is_some() { plan.symmetry.order.clone() } else { BigUint::from(1u32) }
}

/// For each state of an automaton, the atoms on transitions that can be reached from it, as bits.
fn needed_atoms(automaton: &Automaton) -> Vec<u64> {
    let mut needed = vec![0; automaton.states as usize];
    loop {
        let mut changes = false;
        for transition in automaton.transitions.iter().rev() {
            let own = transition.cube.positive | transition.cube.negative | needed[transition.to as usize];
            let known = &mut needed[transition.from as usize];
            changes |= own & !*known != 0;
            *known |= own;
        }
        if !changes {
            return needed;
        }
    }
}
