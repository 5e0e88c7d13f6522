//! Temporal properties: is there a run that violates the formula? The negation of the formula becomes an automaton, and
//! a run that it accepts is a cycle in the product of the model with it.
//!
//! * `levels`: which symmetries apply where.
//! * `product`: nodes and their successors; `search`: components with all acceptance sets, on the fly; `crew`:
//!   the same on threads.
//! * `parts`: which steps of a state are taken, if some suffice.
//! * `component`: a component as a graph.
//! * `lasso`: the run, concrete and replayed.
//! * `global`: global fairness, by a `chain` of all states.
//! * `branching`: the graph of all states, for CTL and CTL*.
//!
//! Atoms, fairness classes, components and the check of trees are those of `quotient_graphs`.

pub(crate) mod branching;
mod chain;
mod component;
mod crew;
mod decisions;
mod global;
pub(crate) mod lasso;
mod levels;
mod parts;
mod product;
mod search;

use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_ir::{
    Budget, DeadlockMode, Fairness, Interpreter, Layout, Model, Positions, PropertyId, PropertyKind, Temporal,
    TemporalClaim, Trace,
};
use quotient_temporal::Automaton;
use quotient_temporal::stuttering::{decide_automaton, decide_stutter_invariance};

use crate::refinement::check_behaviour;
use crate::temporal::component::{Component, FairnessData};
use crate::temporal::global::check_global;
pub use crate::temporal::global::global_obstacle;
use crate::temporal::lasso::{Failure, Goal, lasso};
use crate::temporal::levels::{Family, Levels, Orbit};
use crate::temporal::product::{Choice, Level, Product, Trouble};
use crate::temporal::search::{Outcome, Search};
use quotient_graphs::classes::{ClassAction, Classes};
use quotient_graphs::{AtomicModel, PartsReport, ProductReport, TemporalReport, UsedSymmetry, follower, negated};
use quotient_relations::{Obstacle, relations_of_runs};
use quotient_search::partial_order::{PartialOrderSystem, Relations};
use quotient_search::{
    EngineError, FairnessMode, Observer, SearchOptions, SearchOrder, Space, StopReason, TemporalParts, Verdict,
};
use quotient_systems::{DeferredSystem, Guard, PackedMap, PassingSystem, SpecialisedSystem, SymmetrySource, too_large};

/// Checks a temporal property. Symmetries are looked for if a source is given.
///
/// # Errors
/// If the formula is too large for an automaton, a symmetry cannot be certified, or a run cannot be replayed: the last
/// two are defects of this program and never a verdict.
pub fn check_temporal(
    model: &Model,
    layout: &Layout,
    property: PropertyId,
    source: Option<SymmetrySource>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<TemporalReport, EngineError> {
    let entry = &model.properties[property];
    let Some(temporal) = entry.formula.temporal() else {
        return Err(EngineError::Refused("the property is not temporal"));
    };
    if let TemporalClaim::Behaviour(behaviour) = &temporal.claim {
        return check_behaviour(model, layout, (property, behaviour), source, options, observer);
    }
    let interpreter = Interpreter::new(model, layout);
    let is_global = options.fairness == FairnessMode::Global;
    if is_global && global_obstacle(temporal).is_some() {
        return Err(EngineError::Refused("the property cannot be checked under global fairness"));
    }
    let automaton = match is_global {
        true => follower(temporal.atoms.len()),
        false => negated(temporal)?,
    };
    let source = source.filter(|_| too_large(model).is_none());
    let budget = Budget::until(&observer.interrupt());
    let fairness_matters =
        options.fairness != FairnessMode::None || model.rules.iter().any(|rule| rule.fairness != Fairness::None);
    // Almost all runs are fair to all events and processes, whatever the text of the model asks for.
    let classes = (fairness_matters && !is_global).then(|| Classes::new(&interpreter, options.fairness));
    let detection = &Budget::new(options.temporal_detection, observer.interrupt());
    let interpreter = &interpreter;
    let check = Check { model, layout, interpreter, property, temporal, automaton: &automaton, options, detection };
    let mut report = TemporalReport::new(property, options.fairness);
    let by_parts = options.temporal_parts == TemporalParts::Always;
    if by_parts {
        if let Some(reason) = parts_obstacle(model, temporal, options) {
            report.give_up_parts(reason.to_owned());
            return Ok(report);
        }
    } else if let Some(report) = check.try_without_symmetries(classes.as_ref(), &budget, observer, &report)? {
        return Ok(report);
    } else if options.temporal_parts != TemporalParts::Never {
        // Symmetries are looked for if this does not suffice.
        let mut reduced = report.clone();
        match parts_obstacle(model, temporal, options) {
            Some(reason) => reduced.give_up_parts(reason.to_owned()),
            None => check.run(None, None, true, &budget, observer, &mut reduced)?,
        }
        if reduced.all_steps.is_none() {
            return Ok(reduced);
        }
        report.all_steps = reduced.all_steps;
    }
    let whole = report.clone();
    let mut result = check.run(source, classes.as_ref(), by_parts, &budget, observer, &mut report);
    if let Err(EngineError::GaveUp(_)) = result
        && detection.is_spent()
        && !observer.interrupt().is_raised()
    {
        report = whole;
        result = check.run(None, classes.as_ref(), by_parts, &budget, observer, &mut report);
    }
    match result {
        Ok(()) => Ok(report),
        Err(EngineError::GaveUp(_)) => {
            report.verdict = Verdict::Inconclusive;
            report.stop_reason = Some(StopReason::Withdrawn);
            Ok(report)
        }
        Err(error) => Err(error),
    }
}

/// One property to check.
struct Check<'a, 'm> {
    model: &'m Model,
    layout: &'m Layout,
    interpreter: &'a Interpreter<'m>,
    property: PropertyId,
    temporal: &'a Temporal,
    automaton: &'a Automaton,
    options: &'a SearchOptions,
    /// What looking for symmetries may take.
    detection: &'a Budget,
}

impl Check<'_, '_> {
    /// Whether the graph of all states is needed, with all atoms.
    fn needs_graph(&self) -> bool {
        let is_branching = matches!(self.temporal.claim, TemporalClaim::Branching { .. });
        is_branching || self.options.fairness == FairnessMode::Global
    }

    /// The result of a short search without symmetries, depth-first since that often finds violations soon, if it decides
    /// the property.
    fn try_without_symmetries(
        &self,
        classes: Option<&Classes<'_, '_>>,
        budget: &Budget,
        observer: &mut dyn Observer,
        report: &TemporalReport,
    ) -> Result<Option<TemporalReport>, EngineError> {
        let trial = self.options.temporal_trial;
        if trial == 0 || self.options.max_states.is_some_and(|limit| limit <= trial) {
            return Ok(None);
        }
        let options = SearchOptions {
            max_states: Some(trial),
            order: SearchOrder::DepthFirst,
            threads: 1,
            ..self.options.clone()
        };
        let short = Check { options: &options, ..*self };
        let mut report = report.clone();
        short.run(None, classes, false, budget, observer, &mut report)?;
        Ok((report.stop_reason != Some(StopReason::StateLimit(trial))).then_some(report))
    }

    fn run(
        &self,
        source: Option<SymmetrySource>,
        classes: Option<&Classes<'_, '_>>,
        by_parts: bool,
        budget: &Budget,
        observer: &mut dyn Observer,
        report: &mut TemporalReport,
    ) -> Result<(), EngineError> {
        let entry = &self.model.properties[self.property];
        let apart = || Family::apart(self.interpreter.instances(&entry.parameters, &entry.locals).collect());
        let is_branching = self.needs_graph();
        // Fairness in trees would need classes followed along every path.
        let mut source = source.filter(|_| !is_branching || classes.is_none());
        let mut family = match source {
            Some(source) => Family::new(self.interpreter, self.property, self.temporal, source, self.detection)?,
            None => apart(),
        };
        // Symmetries that do not permute the fairness classes cannot be used.
        if let (Some(plan), Some(classes)) = (&family.plan, classes)
            && ClassAction::new(&plan.symmetry.group, classes).is_none()
        {
            (family, source) = (apart(), None);
        }
        for orbit in &family.orbits {
            let found = self.check_orbit(&family, orbit, source, classes, by_parts, budget, observer, report)?;
            match found {
                Checked::Fine => {}
                Checked::Stopped(reason) => {
                    report.verdict = Verdict::Inconclusive;
                    report.stop_reason = Some(reason);
                    return Ok(());
                }
                Checked::NotByParts(reason) => {
                    report.give_up_parts(reason);
                    return Ok(());
                }
                Checked::Violated(trace) => {
                    report.verdict = Verdict::Violated;
                    report.trace = Some(*trace);
                    report.stop_reason = Some(StopReason::Violation);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one call")]
    fn check_orbit(
        &self,
        family: &Family,
        orbit: &Orbit,
        source: Option<SymmetrySource>,
        classes: Option<&Classes<'_, '_>>,
        by_parts: bool,
        budget: &Budget,
        observer: &mut dyn Observer,
        report: &mut TemporalReport,
    ) -> Result<Checked, EngineError> {
        let atomic =
            AtomicModel::new(self.model, self.property, self.temporal, orbit.instances.first().map(|it| &it[..]));
        let interpreter = Interpreter::new(&atomic.model, self.layout);
        let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt());
        // Which steps are taken in a state must not depend on the state of the automaton.
        let is_branching = self.needs_graph() || by_parts;
        let mut levels = match source {
            Some(source) => {
                let wanted = (is_branching, source);
                Some(Levels::new(&atomic, self.layout, self.automaton, wanted, self.detection)?)
            }
            None => None,
        };
        // What needs the whole graph is decided for one instance, which is known from the start.
        let mut family_plan = family.plan.as_ref().filter(|_| orbit.instances.len() > 1 && !is_branching);
        let fits = |levels: &Levels, plan: &quotient_systems::ReductionPlan| {
            levels.literals() == Some(plan.symmetry.group.literals())
        };
        if let (Some(levels), Some(plan)) = (&levels, family_plan)
            && !fits(levels, plan)
        {
            family_plan = None;
        }
        // The action of each level on the classes.
        let mut actions: Vec<Option<ClassAction>> = Vec::new();
        if let (Some(classes), Some(own)) = (classes, &levels) {
            let plans = own.plans.iter().chain(family_plan);
            for plan in plans {
                let action =
                    plan.reduction.as_ref().map(|reduction| ClassAction::new(&reduction.group, classes).ok_or(()));
                match action.transpose() {
                    Ok(action) => actions.push(action),
                    Err(()) => {
                        levels = None;
                        break;
                    }
                }
            }
        }
        if levels.is_none() {
            if family_plan.is_some() {
                // Without symmetries no instance stands for another.
                for instance in &orbit.instances {
                    let turns = vec![quotient_groups::SparsePermutation::identity()];
                    let alone = Orbit { instances: vec![instance.clone()], turns };
                    let apart = Family { orbits: Vec::new(), plan: None };
                    let found = self.check_orbit(&apart, &alone, None, classes, by_parts, budget, observer, report)?;
                    if !matches!(found, Checked::Fine) {
                        return Ok(found);
                    }
                }
                return Ok(Checked::Fine);
            }
            actions = Vec::new();
        }
        if let Some(levels) = &mut levels {
            for plan in &mut levels.plans {
                plan.tune(&evaluator, self.layout);
            }
        }
        let mut used: Vec<Level<'_>> = Vec::new();
        let mut level_of = vec![0; self.automaton.states as usize];
        let mut choice = None;
        if let Some(levels) = &levels {
            used.extend(levels.plans.iter().map(|plan| Level::new(self.layout, plan.reduction.as_ref())));
            level_of.clone_from(&levels.level_of);
            if let Some(plan) = family_plan {
                choice = Some(self.choice(&atomic, orbit, plan, used.len())?);
                used.push(Level::new(self.layout, plan.reduction.as_ref()));
            }
        } else {
            used.push(Level::new(self.layout, None));
        }
        actions.resize_with(used.len(), || None);
        let symmetry = match &levels {
            None => UsedSymmetry::None,
            Some(levels) => {
                let orders = levels.orders();
                let least = orders[0].clone();
                let most = family_plan.map(levels::order).into_iter().chain(orders).max().unwrap_or_default();
                match () {
                    () if most == BigUint::from(1u32) => UsedSymmetry::None,
                    () if most == least => UsedSymmetry::Whole(least),
                    () => UsedSymmetry::Annotated { most, least },
                }
            }
        };
        let compiled = DeferredSystem::new(&evaluator, true);
        let store_passing = self.options.store_passing || self.temporal.positions == Positions::All;
        let options = SearchOptions { deadlock: DeadlockMode::Off, store_passing, ..self.options.clone() };
        let mut passing = PassingSystem::new(&compiled, &interpreter, &options);
        if let Some(literals) = levels.as_ref().and_then(Levels::literals) {
            passing = passing.watched(Guard::new(self.layout, literals));
        }
        let properties = atomic.model.properties.iter_enumerated();
        let assumptions = properties.filter(|(_, entry)| entry.kind == PropertyKind::Assumption).map(|(id, _)| id);
        let data = classes.map(|classes| FairnessData { classes, actions, budget });
        let goal = Goal {
            interpreter: self.interpreter,
            property: self.property,
            instances: &orbit.instances,
            fairness: data.as_ref(),
            literals: levels.as_ref().and_then(Levels::literals),
        };
        let (found, parts, figures) = if by_parts {
            let relations = match self.relations(&atomic, &options, observer) {
                Ok(relations) => relations,
                Err(reason) => return Ok(Checked::NotByParts(reason)),
            };
            let limit = match self.options.temporal_parts {
                TemporalParts::IfFew { states, .. } => Some(states),
                _ => options.max_states,
            };
            let limits = SearchOptions { max_states: limit, ..options.clone() };
            let space = Space::new(&passing);
            let system = PartialOrderSystem::new(&space, &relations, self.layout);
            let decisions = match parts::decide(&system, &used[0], &limits, observer) {
                Ok(decisions) => decisions,
                Err(Trouble::Stop(StopReason::StateLimit(_) | StopReason::MemoryLimit(_)))
                    if limit != options.max_states =>
                {
                    return Ok(Checked::NotByParts("it does not pay".to_owned()));
                }
                Err(trouble) => return self.ended(Failure::Trouble(trouble)),
            };
            let system = system.with(&decisions);
            let space = Space::new(&system);
            let product = self.product(&space, &atomic, Vec::new(), (used, level_of), None);
            let (found, figures) = run_product(&product, &options, None, &goal, observer);
            let parts = PartsReport { states: decisions.len(), reduced: decisions.parts() };
            (found, Some(parts), figures)
        } else {
            let space = Space::new(&passing);
            let product = self.product(&space, &atomic, assumptions.collect(), (used, level_of), choice);
            let (found, figures) = self.search_product(&product, &options, data.as_ref(), &goal, observer, report);
            (found, None, figures)
        };
        report.searches.push(ProductReport {
            instances: orbit.instances.clone(),
            automaton: (self.automaton.states, self.automaton.acceptance_sets),
            symmetry,
            parts,
            states: figures.0,
            transitions: figures.1,
            memory_bytes: figures.2,
        });
        if let Some(slot) = passing.impossible_slot() {
            return Err(EngineError::ImpossibleValue(self.layout.slots[slot].name.clone()));
        }
        match found {
            Ok(None) => Ok(Checked::Fine),
            Ok(Some(trace)) => Ok(Checked::Violated(Box::new(trace))),
            Err(failure) => self.ended(failure),
        }
    }

    /// What a search that did not finish means.
    fn ended(&self, failure: Failure) -> Result<Checked, EngineError> {
        match failure {
            Failure::Trouble(Trouble::Stop(reason)) => Ok(Checked::Stopped(reason)),
            Failure::Trouble(Trouble::Impossible(slot)) => {
                Err(EngineError::ImpossibleValue(self.layout.slots[slot].name.clone()))
            }
            Failure::Defect(error) => Err(error),
        }
    }

    /// What steps do to each other and to the atoms of the automaton, or why that is not known.
    fn relations(
        &self,
        atomic: &AtomicModel,
        options: &SearchOptions,
        observer: &mut dyn Observer,
    ) -> Result<Relations, String> {
        let atoms: Vec<PropertyId> = self.automaton.atoms.iter().map(|atom| atomic.atoms[atom.0 as usize]).collect();
        let work = match options.temporal_parts {
            TemporalParts::IfFew { work, .. } => Some(work),
            _ => None,
        };
        let model = (&atomic.model, self.layout);
        relations_of_runs(work, model, &atoms, options, &observer.interrupt()).map_err(Obstacle::into_reason)
    }

    /// The product of a system with the automaton.
    fn product<'p>(
        &'p self,
        system: &'p Space<'p>,
        atomic: &AtomicModel,
        assumptions: Vec<PropertyId>,
        levels: (Vec<Level<'p>>, Vec<usize>),
        choice: Option<Choice>,
    ) -> Product<'p, Space<'p>> {
        Product::new((system, self.layout), self.automaton, &atomic.atoms, assumptions, levels, choice)
    }

    /// Searches a product for what the claim forbids.
    fn search_product(
        &self,
        product: &Product<'_, Space<'_>>,
        options: &SearchOptions,
        data: Option<&FairnessData<'_>>,
        goal: &Goal<'_, '_>,
        observer: &mut dyn Observer,
        report: &mut TemporalReport,
    ) -> (Result<Option<Trace>, Failure>, Figures) {
        match &self.temporal.claim {
            _ if self.options.fairness == FairnessMode::Global => {
                let mut search = Search::new(product, options, observer);
                let found = check_global(&mut search, self.temporal, goal, options.max_memory).map(|found| {
                    found.map(|(trace, remarks)| {
                        report.remarks = remarks;
                        trace
                    })
                });
                (found, search.figures())
            }
            TemporalClaim::Branching { pool, formula } => {
                let mut search = Search::new(product, options, observer);
                let formula = (pool, *formula);
                let memory = options.max_memory;
                let found =
                    branching::check_branching(&mut search, self.temporal, formula, data, goal, memory).map(|found| {
                        found.map(|(trace, remarks)| {
                            report.remarks = remarks;
                            trace
                        })
                    });
                (found, search.figures())
            }
            _ => run_product(product, options, data, goal, observer),
        }
    }

    /// The choice among the instances of an orbit.
    fn choice(
        &self,
        atomic: &AtomicModel,
        orbit: &Orbit,
        plan: &quotient_systems::ReductionPlan,
        level: usize,
    ) -> Result<Choice, EngineError> {
        let indexed = (0..self.automaton.atoms.len())
            .filter(|&bit| !atomic.mentioned[self.automaton.atoms[bit].0 as usize].is_empty())
            .fold(0, |bits, bit| bits | 1 << bit);
        let literals = plan.symmetry.group.literals();
        let mut turns = Vec::with_capacity(orbit.turns.len());
        for turn in &orbit.turns {
            let map = literals.action(self.layout, turn);
            let map = map.map_err(|error| EngineError::Uncertified(error.to_string()))?;
            turns.push((turn.clone(), PackedMap::new(self.layout, &map)));
        }
        Ok(Choice { level, indexed, turns })
    }
}

enum Checked {
    Fine,
    Stopped(StopReason),
    /// A part of the steps cannot be used, for this reason.
    NotByParts(String),
    Violated(Box<Trace>),
}

/// Why a claim needs all steps of each state, if it does.
pub fn parts_obstacle(model: &Model, temporal: &Temporal, options: &SearchOptions) -> Option<&'static str> {
    let told = |is_invariant: Option<bool>| match is_invariant {
        Some(true) => None,
        Some(false) => Some("it distinguishes runs by how often a state is repeated"),
        None => Some("whether it distinguishes runs by how often a state is repeated is not known"),
    };
    if options.fairness != FairnessMode::None || model.rules.iter().any(|rule| rule.fairness != Fairness::None) {
        return Some("whether a run is fair depends on steps that are left out");
    }
    match &temporal.claim {
        TemporalClaim::Linear { pool, formula } => {
            told(decide_stutter_invariance(&mut pool.clone(), *formula).ok().flatten())
        }
        TemporalClaim::Never(automaton) => told(decide_automaton(automaton)),
        TemporalClaim::Branching { .. } => Some("what branches off a run needs all steps"),
        TemporalClaim::Behaviour(_) => Some("claims about events need all steps"),
    }
}

/// Nodes, steps and bytes of a search.
type Figures = (u64, u64, u64);

/// Searches a product; returns a run that it accepts, if there is one.
fn run_product(
    product: &Product<'_, Space<'_>>,
    options: &SearchOptions,
    fairness: Option<&FairnessData<'_>>,
    goal: &Goal<'_, '_>,
    observer: &mut dyn Observer,
) -> (Result<Option<Trace>, Failure>, Figures) {
    let mut search = Search::new(product, options, observer);
    let all = product.automaton.all_sets();
    let mut fair: Option<(Component, Vec<u32>)> = None;
    let outcome = match fairness {
        None => search.run(None),
        Some(data) => search.run(Some(&mut |search, members| {
            let component = Component::new(search, members, Some(data))?;
            let bytes = search.store.memory_bytes();
            let mut poll = || match search.poll(bytes, members.len() as u64) {
                Err(Trouble::Stop(reason)) => ControlFlow::Break(reason),
                _ => ControlFlow::Continue(()),
            };
            let part = component.fair_part((&product.marks, all), &mut poll);
            match part.map_err(Trouble::Stop)? {
                None => Ok(ControlFlow::Continue(())),
                Some(part) => {
                    fair = Some((component, part));
                    Ok(ControlFlow::Break(()))
                }
            }
        })),
    };
    let figures = search.figures();
    let found = match outcome {
        Err(trouble) => Err(Failure::Trouble(trouble)),
        Ok(Outcome::Empty) => Ok(None),
        Ok(Outcome::Accepting(members)) => {
            Component::new(&mut search, &members, None).map_err(Failure::Trouble).and_then(|component| {
                let part: Vec<u32> = (0..members.len() as u32).collect();
                lasso(&mut search, &component, &part, goal).map(Some)
            })
        }
        Ok(Outcome::Judged) => {
            let (component, part) = fair.expect("the judge found it");
            lasso(&mut search, &component, &part, goal).map(Some)
        }
    };
    (found, figures)
}
