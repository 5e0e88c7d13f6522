//! Symmetries from the text, before anything is unfolded: for each role that values play, the permutations of its
//! values that the text cannot notice.
//!
//! 1. `inference` finds the roles: positions between which values flow share one. What else the text does with values
//!    is noted: constants, computations, orders.
//! 2. `analysis` makes permutations of this: values that are only compared, copied and used as indices are free (Ip
//!    and Dill 1996); those that are named or distinguished by a condition stay; what is computed with (a successor
//!    modulo N) must commute with the table of the computation; and the initial states must be mapped to each other.
//! 3. `checker` shows each claim from the text alone. Only then is there a group.
//!
//! `patch` has constants that are assigned together, `order` says when loops and quantifiers may be reordered, `words`
//! what a claim rests on.
//!
//! The cost is that of reading the text and the initial states: instances of rules are not enumerated.

mod analysis;
mod checker;
mod inference;
mod instances;
mod motion;
mod opaque;
mod order;
mod patch;
mod shapes;
mod strict;
mod uses;
mod words;

use num_bigint::BigUint;
use quotient_functions::{Preserved, Subject};
use quotient_groups::{PermutationGroup, Point, SparsePermutation, Structure};
use quotient_ir::{Action, Budget, Layout, Model, RuleId, SlotId, Spent, TableIndex, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::interchangeable::{InstanceOrbit, InterchangeableValues};
use crate::literals::Literals;
use crate::watch::watch;
use analysis::{Analysis, initial_states};
pub use checker::Contradiction;
use checker::{Checker, Claim};
use inference::Findings;
pub(crate) use instances::TextInstances;
pub(crate) use motion::Motion;
use order::Orders;

pub use shapes::{Role, Scope, Shape, Shapes};
use strict::MayFail;
pub use uses::Uses;
use words::Derivation;
pub use words::{Limit, RoleReport};

/// How often quantifiers are made strict, for those inside others.
const STRICT_ROUNDS: usize = 4;

/// The symmetries that the text of a model shows.
#[derive(Debug)]
pub struct TextSymmetries {
    shapes: Shapes,
    /// Classes of values of roles that are permuted freely.
    free: Vec<(Role, Vec<i64>)>,
    /// Other permutations.
    others: Vec<Motion>,
    structure: Structure,
    /// The structure of the group of the other permutations.
    tied: Option<Structure>,
    derivation: Derivation,
    /// Claims of the analysis that the checker refused: defects of the analysis, without consequences.
    refused: Vec<Contradiction>,
    /// Quantifiers whose order can be noticed, because they may fail.
    may_fail: Vec<MayFail>,
}

/// The symmetries of a text as they act on states and instances. Only certification makes a group of it.
pub(crate) struct TextAction {
    pub(crate) literals: Literals,
    /// The generators as permutations of the literals.
    pub(crate) generators: Vec<SparsePermutation>,
    pub(crate) interchangeable: Vec<InterchangeableValues>,
    pub(crate) instances: TextInstances,
    /// Rules that may be mapped to each other.
    pub(crate) exchanged: Vec<Vec<RuleId>>,
}

/// Reads the symmetries of a model off its text. `None` if the text is too large or too deep.
///
/// # Errors
/// If the budget is spent.
pub fn symmetries_of_text(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<Option<TextSymmetries>, Spent> {
    let errors = preserved.errors();
    let states = initial_states(model, layout, budget);
    let (scopes, only_flow) = scopes(model, preserved, states.is_some());
    let Ok(mut findings) = inference::infer(model, &scopes, &only_flow) else { return Ok(None) };
    inference::pin_instance(model, &mut findings, preserved);
    inference::fix_amounts(model, &mut findings);
    if states.is_none() {
        inference::pin_beginnings(model, &mut findings);
    }
    let analysis = Analysis::new(model, layout, findings, states, errors, budget)?;
    let Analysis { findings, mut free, mut others, states, undefined, universes, may_fail } = analysis;
    let Findings { shapes, computed, uses, patches, .. } = findings;
    let orders = Orders { model, shapes: &shapes, undefined: &undefined, errors };
    let mut refused: Vec<Contradiction> = Vec::new();
    let mut certifies = |claim: &Claim<'_>| {
        let checker = Checker { model, shapes: &shapes, orders: &orders, claim };
        let checked = checker.check(&scopes, preserved).and_then(|()| {
            let generators = claim.generators();
            let starts = checker::Starts { model, layout, shapes: &shapes, states: states.as_deref() };
            generators.iter().try_for_each(|motion| starts.check(motion))
        });
        refused.extend(checked.err());
        checked.is_ok()
    };
    budget.spend(1 + scopes.len() as u64)?;
    let mut by_role: Vec<(Role, Vec<Vec<i64>>)> = Vec::new();
    for (role, class) in std::mem::take(&mut free) {
        match by_role.last_mut() {
            Some((last, classes)) if *last == role => classes.push(class),
            _ => by_role.push((role, vec![class])),
        }
    }
    by_role.retain(|(role, classes)| certifies(&Claim::Free(*role, classes)));
    free.extend(by_role.into_iter().flat_map(|(role, classes)| classes.into_iter().map(move |class| (role, class))));
    others.retain(|motion| certifies(&Claim::Motion(motion)));
    let tied = tied_structure(&shapes, &others, budget)?;
    let factors = free.iter().map(|(_, class)| Structure::Symmetric(class.len() as u32)).chain(tied.clone());
    let structure = Structure::product(factors);
    let derivation = Derivation { universes, computed, uses, patches };
    Ok(Some(TextSymmetries { shapes, free, others, structure, tied, derivation, refused, may_fail }))
}

/// The scopes whose text symmetries must preserve, and those of which only the flow of values counts.
fn scopes(model: &Model, preserved: Preserved<'_>, are_starts_run: bool) -> (Vec<Scope>, Vec<Scope>) {
    let mut scopes: Vec<Scope> = model.rules.indices().map(Scope::Rule).collect();
    scopes.extend(
        model
            .properties
            .iter_enumerated()
            .filter(|(id, property)| !property.kind.is_claim() || preserved.properties().contains(id))
            .map(|(id, _)| Scope::Property(id)),
    );
    let starts: Vec<Scope> = model.starts.indices().map(Scope::Start).collect();
    if !are_starts_run {
        scopes.extend(&starts);
    }
    let called = |from: &[Scope]| {
        let mut seen: FxHashSet<Scope> = from.iter().copied().collect();
        let mut pending: Vec<Scope> = from.to_vec();
        let mut functions = Vec::new();
        while let Some(scope) = pending.pop() {
            for function in inference::called_functions(model, scope) {
                let function = Scope::Function(function);
                if seen.insert(function) {
                    functions.push(function);
                    pending.push(function);
                }
            }
        }
        functions
    };
    let functions = called(&scopes);
    scopes.extend(&functions);
    let mut only_flow = Vec::new();
    if are_starts_run {
        let own = called(&starts);
        only_flow.extend(own.into_iter().filter(|function| !scopes.contains(function)));
        only_flow.extend(starts);
    }
    (scopes, only_flow)
}

/// The structure of the group that permutations generate, as it acts on states.
fn tied_structure(shapes: &Shapes, others: &[Motion], budget: &Budget) -> Result<Option<Structure>, Spent> {
    if others.is_empty() {
        return Ok(None);
    }
    let in_state = analysis::roles_of_state(shapes);
    let mut points: FxHashMap<(Role, i64), Point> = FxHashMap::default();
    let mut point = |role: Role, value: i64| {
        let next = points.len() as Point;
        *points.entry((role, value)).or_insert(next)
    };
    let generators = others.iter().map(|motion| {
        let mut moves = Vec::new();
        for (role, images) in motion.roles().filter(|(role, _)| in_state.contains(role)) {
            moves.extend(images.iter().map(|(value, image)| (point(role, *value), point(role, *image))));
        }
        SparsePermutation::from_moves(moves).expect("a motion permutes values")
    });
    let generators: Vec<SparsePermutation> = generators.collect();
    let watch = watch(budget);
    let group = PermutationGroup::new_watched(points.len(), generators, &watch).ok_or(Spent)?;
    Ok(Some(group.structure_watched(&watch).ok_or(Spent)?))
}

impl TextSymmetries {
    /// Whether there are none but the identity.
    pub fn is_trivial(&self) -> bool {
        self.free.is_empty() && self.others.is_empty()
    }

    /// The roles that values play.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The classes of values of roles that are permuted freely, each on its own, in increasing order.
    pub fn free(&self) -> &[(Role, Vec<i64>)] {
        &self.free
    }

    /// The number of symmetries.
    pub fn order(&self) -> BigUint {
        self.structure.order()
    }

    /// The structure of the group.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The structure of the part of the group that is not free: what is computed with, or tied to other values.
    pub fn tied_structure(&self) -> Option<&Structure> {
        self.tied.as_ref()
    }

    /// What the text says about the roles that have cells in the state.
    pub fn roles(&self, model: &Model) -> Vec<RoleReport> {
        words::reports(model, self)
    }

    /// The model with strict quantifiers instead of those whose order can be noticed because they may go wrong, and its
    /// symmetries, if there are more. It has the same verdicts.
    ///
    /// # Errors
    /// If the budget is spent.
    pub fn with_strict_quantifiers(
        &self,
        model: &Model,
        layout: &Layout,
        preserved: Preserved<'_>,
        budget: &Budget,
    ) -> Result<Option<(Model, Self)>, Spent> {
        let mut last: Option<(Model, Self)> = None;
        // A quantifier inside another is found when the other is strict.
        for _ in 0..STRICT_ROUNDS {
            let (read, found) = last.as_ref().map_or((model, self), |(model, found)| (model, found));
            let Some(strict) = strict::with_strict_quantifiers(read, &found.may_fail) else { break };
            let Some(found) = symmetries_of_text(&strict, layout, preserved, budget)? else { break };
            last = Some((strict, found));
        }
        Ok(last.filter(|(_, found)| found.order() > self.order()))
    }

    /// The claims of the analysis that the checker refused.
    pub fn refused(&self) -> &[Contradiction] {
        &self.refused
    }

    /// Generators, as motions of values.
    fn motions(&self) -> Vec<Motion> {
        let exchanges = self
            .free
            .iter()
            .flat_map(|(role, class)| class.windows(2).map(move |pair| Motion::exchange(*role, pair[0], pair[1])));
        exchanges.chain(self.others.iter().cloned()).collect()
    }

    /// The symmetries as they act on states and instances; `None` if cells have too many values, or too many values are
    /// permuted.
    pub(crate) fn action(&self, model: &Model, layout: &Layout) -> Option<TextAction> {
        if self.free.iter().any(|(_, class)| class.len() as u64 > analysis::MOST_VALUES) {
            return None;
        }
        let motions = self.motions();
        let moved: FxHashSet<Role> = motions.iter().flat_map(|motion| motion.roles().map(|(role, _)| role)).collect();
        let roles = instances::roles_of_slots(model, layout, &self.shapes);
        let permutes = |slot: SlotId| roles[slot.position()].is_some_and(|role| moved.contains(&role));
        let literals = Literals::of_types(layout, permutes);
        let literal = |motion: &Motion| motion.literals(model, layout, &self.shapes, &literals);
        let generators: Vec<SparsePermutation> = motions.iter().map(literal).collect::<Option<_>>()?;
        let mut interchangeable = Vec::new();
        let mut position = 0;
        for (role, class) in &self.free {
            let exchanges = generators[position..position + class.len() - 1].to_vec();
            position += class.len() - 1;
            if let Some(ty) = self.type_of(model, *role, class) {
                interchangeable.push(InterchangeableValues { ty, values: class.clone(), exchanges });
            }
        }
        let exchanged = self.exchanged_rules(model);
        let instances = TextInstances::new(model, layout, &self.shapes, motions, &exchanged);
        Some(TextAction { literals, generators, interchangeable, instances, exchanged })
    }

    /// The generators as permutations of other literals; those that do not permute them are left out.
    pub fn generators_over(&self, model: &Model, layout: &Layout, literals: &Literals) -> Vec<SparsePermutation> {
        self.motions().iter().filter_map(|motion| motion.literals(model, layout, &self.shapes, literals)).collect()
    }

    /// The rules that may be mapped to each other.
    fn exchanged_rules(&self, model: &Model) -> Vec<Vec<RuleId>> {
        let patches = &self.derivation.patches;
        let groups = patch::groups(model, patches).into_iter().filter(|group| group.len() > 1);
        groups.map(|group| group.iter().filter_map(|number| patches[*number].rule).collect()).collect()
    }

    /// A type of values in a role that contains a class.
    fn type_of(&self, model: &Model, role: Role, class: &[i64]) -> Option<TypeId> {
        let mut found: Option<TypeId> = None;
        for shape in self.shapes.variables.iter() {
            shape.visit(&mut |own, ty, _| {
                let fits = own == role && class.iter().all(|value| model.domain(ty).contains(*value));
                let better = |known: TypeId| model.domain(ty).size() < model.domain(known).size();
                if fits && found.is_none_or(better) {
                    found = Some(ty);
                }
            });
        }
        found
    }

    /// The instances of properties that the group exchanges.
    pub fn instance_orbits(&self, model: &Model, layout: &Layout, preserved: Preserved<'_>) -> Vec<InstanceOrbit> {
        instances::orbits(model, layout, &self.shapes, &self.motions(), preserved)
    }
}

/// The subject of a scope with parameters.
fn scope_of(subject: Subject) -> Scope {
    match subject {
        Subject::Action(Action::Rule(rule)) => Scope::Rule(rule),
        Subject::Action(Action::Start(start)) => Scope::Start(start),
        Subject::Property(property) => Scope::Property(property),
    }
}
