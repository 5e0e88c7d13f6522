//! The choice of a reduction: the symmetries, which instances of which properties each search can decide, and how
//! representatives are found.
//!
//! Properties are families of instances. For invariants, assumptions and covers, a group that maps each family to
//! itself suffices: all instances are evaluated in every state, so a representative decides them for its orbit.
//! Liveness relates one instance to a state: a group that exchanges instances cannot decide it. But instances in the
//! same orbit have the same verdict, so one of each orbit is checked, in a separate search with the symmetries that
//! preserve it.

use num_bigint::BigUint;
use quotient_ir::{Budget, Iteration, Layout, Model, Parameter, PropertyKind, Spent};
use quotient_representatives::{Canonicalizer, Strategy, Unsupported};
use quotient_symmetry::{
    CertifiedGroup, DetectionError, InstanceOrbit, Marking, NoMarkers, Preserved, PropertyCost, Refused,
    declared_preserving, detect_with_cost, symmetries_of_text,
};

use crate::starts::StartSieve;
use quotient_search::{EngineError, Identity, JudgedInstance};

/// The number of steps that tree markers look ahead.
const MARKER_ROUNDS: usize = 3;
/// With more orbits of liveness instances than this, all are checked in one search without symmetries.
const LIVENESS_SEARCHES: usize = 32;

/// With more instances of rules and properties than this, a model is not unfolded for detection: it would take
/// gigabytes.
const INSTANCE_LIMIT: u64 = 250_000;

/// How much work may be spent on the functions of a model whose text already shows symmetries.
const CHEAP_FUNCTIONS: u64 = 4_000_000;

/// The source of symmetries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymmetrySource {
    /// All that detection finds.
    Detected,
    /// Those declared by scalarsets and certified.
    Declared,
}

/// How a group was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// From the text alone; the functions of the model were not looked at, or not to the end.
    Text,
    /// From the functions of the model.
    Functions,
    /// From declarations.
    Declarations,
}

/// The symmetries of a model that a search may use.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// The group.
    pub group: CertifiedGroup,
    /// The order of the group.
    pub order: BigUint,
    /// The structure of the group, for reports.
    pub structure: String,
    /// Vertices and edges of the graph it was found in.
    pub graph: Option<(usize, usize)>,
    /// How the group was found.
    pub route: Route,
    /// Whether these are all symmetries of the graph.
    pub complete: bool,
    /// Symmetries of the behaviour that properties do not preserve.
    pub property_cost: Option<PropertyCost>,
    /// Declarations that do not hold.
    pub refused: Vec<Refused>,
}

/// A reduction by a group of symmetries.
#[derive(Debug)]
pub struct Reduction {
    /// The symmetries.
    pub group: CertifiedGroup,
    /// Maps each state to a representative.
    pub canonicalizer: Canonicalizer,
    /// Maps all states of an orbit to the same representative, if the first canonicalizer may not.
    pub exact: Option<Canonicalizer>,
    /// Markers that are compared first, or instead.
    pub markers: Option<Markers>,
    /// The starts that suffice.
    pub(crate) starts: StartSieve,
}

/// Why there is no reduction by a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReduction {
    /// The method does not support the group, or was not prepared to the end.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// There are no markers for it.
    #[error(transparent)]
    NoMarkers(#[from] NoMarkers),
}

/// How markers are used.
#[derive(Debug)]
pub struct Markers {
    /// What the markers are.
    pub marking: Marking,
    /// Whether the canonicalizer decides between states with equal markers.
    pub decides: bool,
}

/// An additional search for liveness.
#[derive(Debug)]
pub struct LivenessSearch {
    /// The instances it checks.
    pub instances: Vec<JudgedInstance>,
    /// The number of symmetries that preserve each of them.
    pub order: BigUint,
    /// Its reduction, if there are any.
    pub reduction: Option<Reduction>,
}

/// The symmetries available to a search, and how they are used.
#[derive(Debug)]
pub struct ReductionPlan {
    /// The symmetries.
    pub symmetry: Symmetry,
    /// The reduction of the main search, if it is worthwhile.
    pub reduction: Option<Reduction>,
    /// How representatives are found, or why there are none.
    pub method: String,
    /// Instances of liveness properties that the symmetries exchange: not checked in the main search.
    pub exchanged: Vec<InstanceOrbit>,
    /// The searches for them.
    pub liveness_searches: Vec<LivenessSearch>,
}

impl Reduction {
    /// A reduction by a group with a given method.
    ///
    /// # Errors
    /// The reason why the method cannot be used, or that the budget does not suffice to prepare it.
    pub fn new(
        model: &Model,
        layout: &Layout,
        group: CertifiedGroup,
        strategy: Strategy,
        budget: &Budget,
    ) -> Result<Self, NoReduction> {
        let build = |strategy| Canonicalizer::with_strategy(model, layout, &group, strategy, budget);
        if let Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical = strategy {
            let rounds = if strategy == Strategy::MarkersTrees { MARKER_ROUNDS } else { 0 };
            let marking = Marking::new(model, layout, &group, rounds)?;
            // Markers are invariant only under exchanges of values, so the deciding canonicalizer must use the same
            // group.
            let group = marking.group().clone();
            let canonicalizer = Canonicalizer::with_strategy(model, layout, &group, Strategy::Canonical, budget)?;
            let markers = Some(Markers { marking, decides: strategy == Strategy::MarkersCanonical });
            // The stored state of an orbit is the first one found, not a canonical one.
            let exact = Some(canonicalizer.clone());
            return Ok(Self { group, canonicalizer, exact, markers, starts: StartSieve::default() });
        }
        let canonicalizer = build(strategy)?;
        // Runs are rebuilt by comparing orbits.
        let exact = match canonicalizer.is_exact() {
            true => None,
            false => Some(build(Strategy::Canonical)?),
        };
        let starts = StartSieve::new(model, layout, &group);
        Ok(Self { group, canonicalizer, exact, markers: None, starts })
    }

    /// The method.
    pub fn strategy(&self) -> Strategy {
        match &self.markers {
            Some(markers) if markers.decides => Strategy::MarkersCanonical,
            Some(markers) if markers.marking.rounds() > 0 => Strategy::MarkersTrees,
            Some(_) => Strategy::Markers,
            None => self.canonicalizer.strategy(),
        }
    }

    /// Maps all states of an orbit to the same representative.
    pub fn exact(&self) -> &Canonicalizer {
        self.exact.as_ref().unwrap_or(&self.canonicalizer)
    }

    /// Which states are identified.
    pub(crate) fn identity(&self) -> Identity {
        match &self.markers {
            None => Identity::Words,
            Some(markers) if markers.decides => Identity::KeysAndMatches,
            Some(_) => Identity::Keys,
        }
    }

    /// Whether each orbit is stored once.
    pub fn is_exact(&self) -> bool {
        match &self.markers {
            Some(markers) => markers.decides || markers.marking.is_exact(),
            None => self.canonicalizer.is_exact(),
        }
    }

    /// Whether states that are not symmetric may be identified, so that violations may be missed.
    pub fn is_approximate(&self) -> bool {
        self.markers.as_ref().is_some_and(|markers| !markers.decides && !markers.marking.is_exact())
    }
}

/// Why a model is too large for detection by default, if it is.
pub fn too_large(model: &Model) -> Option<String> {
    let rules = model.rules.iter().map(|rule| instances(model, &rule.parameters));
    let properties = model.properties.iter().map(|property| instances(model, &property.parameters));
    let total = rules.chain(properties).fold(0u64, u64::saturating_add);
    (total > INSTANCE_LIMIT).then(|| format!("the model has more than {INSTANCE_LIMIT} instances of rules"))
}

/// The number of valuations of parameters. Those of arrays and records are not enumerated.
fn instances(model: &Model, parameters: &[Parameter]) -> u64 {
    let scalars = parameters.iter().filter_map(|parameter| match parameter.range {
        Iteration::Over(ty) if model.is_scalar(ty) => Some(model.domain(ty).size()),
        _ => None,
    });
    scalars.fold(1, u64::saturating_mul)
}

/// Finds the symmetries that preserve what is given (and the assumptions), and decides how to use
/// them. Without a strategy the reduction is the one with one representative for each orbit.
///
/// # Errors
/// If a symmetry cannot be certified, which is a defect of this program.
pub fn plan(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    source: SymmetrySource,
    strategy: Option<Strategy>,
    budget: &Budget,
) -> Result<ReductionPlan, EngineError> {
    let planner = Planner { model, layout, strategy: strategy.unwrap_or(Strategy::Canonical), budget };
    let found = find(model, layout, preserved, source, budget).map_err(no_group)?;
    planner.plan(found, &|preserved| find(model, layout, preserved, source, budget).map(Some))
}

/// The symmetries that preserve what is given and the assumptions.
///
/// # Errors
/// As for [`plan`].
pub fn symmetries(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    source: SymmetrySource,
    budget: &Budget,
) -> Result<Symmetry, EngineError> {
    find(model, layout, preserved, source, budget).map(|(symmetry, _)| symmetry).map_err(no_group)
}

/// The same as [`plan`] for symmetries that are detected, and all of them, whatever that takes. If the text shows some,
/// a plan with these is given to `text` first.
///
/// # Errors
/// As for [`plan`].
pub fn plan_in_steps(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
    text: impl FnOnce(ReductionPlan),
) -> Result<ReductionPlan, EngineError> {
    let planner = Planner { model, layout, strategy: Strategy::Canonical, budget };
    let by_text = by_text(model, layout, preserved, budget).map_err(no_group)?;
    if let Some(found) = &by_text {
        // Instances whose group the text does not show are searched without.
        let find = |preserved: Preserved<'_>| self::by_text(model, layout, preserved, budget);
        text(planner.plan(found.clone(), &find)?);
    }
    let found = best(model, layout, preserved, by_text, budget, budget).map_err(no_group)?;
    planner.plan(found, &|preserved| detected(model, layout, preserved, budget).map(Some))
}

/// Symmetries, and the instances of properties that they exchange.
type FoundSymmetry = (Symmetry, Vec<InstanceOrbit>);

/// Decides how symmetries are used.
struct Planner<'a> {
    model: &'a Model,
    layout: &'a Layout,
    strategy: Strategy,
    budget: &'a Budget,
}

impl Planner<'_> {
    /// The plan for symmetries. `find` finds those that preserve an instance.
    fn plan(
        &self,
        (symmetry, mut exchanged): FoundSymmetry,
        find: &dyn Fn(Preserved<'_>) -> Result<Option<FoundSymmetry>, DetectionError>,
    ) -> Result<ReductionPlan, EngineError> {
        let Self { model, layout, strategy, budget } = *self;
        exchanged.retain(|orbit| model.properties[orbit.property].kind == PropertyKind::AlwaysReachable);
        if !acts_on_states(&symmetry.group) {
            let method = match symmetry.group.is_trivial() {
                true => "there is nothing to reduce by".to_owned(),
                false => "not used: they move nothing but constants".to_owned(),
            };
            return Ok(ReductionPlan {
                symmetry,
                reduction: None,
                method,
                exchanged: Vec::new(),
                liveness_searches: Vec::new(),
            });
        }
        let (reduction, method) = match Reduction::new(model, layout, symmetry.group.clone(), strategy, budget) {
            Ok(reduction) => {
                let method = match &reduction.markers {
                    Some(markers) => {
                        let kind = match (markers.decides, markers.marking.is_exact()) {
                            (true, _) => "exact, since canonical forms decide",
                            (false, true) => "exact, since no cell relates two of them",
                            (false, false) => "approximate",
                        };
                        format!("{}; {kind}", markers.marking.reason())
                    }
                    None => reduction.canonicalizer.reason().to_owned(),
                };
                (Some(reduction), method)
            }
            Err(NoReduction::Unsupported(Unsupported::GaveUp(spent))) => return Err(EngineError::GaveUp(spent)),
            Err(reason) => (None, format!("not used: {reason}")),
        };
        if reduction.is_none() {
            exchanged.clear();
        }
        let liveness_searches = self.plan_liveness(&exchanged, find)?;
        Ok(ReductionPlan { symmetry, reduction, method, exchanged, liveness_searches })
    }
}

impl ReductionPlan {
    /// For each rule, the class of rules in its orbit under the symmetries used; `None` if none are used.
    pub fn rule_classes(&self) -> Option<&[u32]> {
        self.reduction.as_ref().map(|reduction| reduction.group.rule_classes())
    }

    /// The same plan for states of another layout of the model; `None` if a reduction does not support it.
    pub fn repacked(&self, model: &Model, layout: &Layout) -> Option<Self> {
        let repacked = |reduction: &Option<Reduction>| match reduction {
            Some(reduction) => {
                let (group, strategy) = (reduction.group.clone(), reduction.strategy());
                Reduction::new(model, layout, group, strategy, &Budget::unlimited()).ok().map(Some)
            }
            None => Some(None),
        };
        let mut liveness_searches = Vec::new();
        for LivenessSearch { instances, order, reduction } in &self.liveness_searches {
            let (instances, order) = (instances.clone(), order.clone());
            liveness_searches.push(LivenessSearch { instances, order, reduction: repacked(reduction)? });
        }
        Some(Self {
            symmetry: self.symmetry.clone(),
            reduction: repacked(&self.reduction)?,
            method: self.method.clone(),
            exchanged: self.exchanged.clone(),
            liveness_searches,
        })
    }

    /// A plan that reduces by a known group, for searches without liveness. `None` if the group cannot be used.
    pub fn of_group(model: &Model, layout: &Layout, group: CertifiedGroup, order: BigUint) -> Option<Self> {
        if !acts_on_states(&group) {
            return None;
        }
        let reduction = Reduction::new(model, layout, group.clone(), Strategy::Canonical, &Budget::unlimited()).ok()?;
        let method = reduction.canonicalizer.reason().to_owned();
        let symmetry = Symmetry {
            group,
            structure: format!("[{order}]"),
            order,
            graph: None,
            route: Route::Functions,
            complete: true,
            property_cost: None,
            refused: Vec::new(),
        };
        let reduction = Some(reduction);
        Some(Self { symmetry, reduction, method, exchanged: Vec::new(), liveness_searches: Vec::new() })
    }
}

fn no_group(error: DetectionError) -> EngineError {
    match error {
        DetectionError::Uncertified(error) => EngineError::Uncertified(error.to_string()),
        DetectionError::GaveUp(spent) => EngineError::GaveUp(spent),
    }
}

fn find(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    source: SymmetrySource,
    budget: &Budget,
) -> Result<FoundSymmetry, DetectionError> {
    match source {
        SymmetrySource::Detected => detected(model, layout, preserved, budget),
        SymmetrySource::Declared => {
            let declared = declared_preserving(model, layout, preserved, budget)?;
            let (order, structure) = declared.group.order_and_structure(budget)?;
            let symmetry = Symmetry {
                group: declared.group,
                order,
                structure,
                graph: None,
                route: Route::Declarations,
                complete: true,
                property_cost: None,
                refused: declared.refused,
            };
            Ok((symmetry, declared.instance_orbits))
        }
    }
}

/// The symmetries that the text shows, or those of the functions of the model, which may be more. If the text shows
/// some, functions are looked at only while that is cheap.
fn detected(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<FoundSymmetry, DetectionError> {
    let by_text = by_text(model, layout, preserved, budget)?;
    let allowed = match &by_text {
        Some(_) => Budget::new(CHEAP_FUNCTIONS, budget.interrupt().clone()),
        None => budget.clone(),
    };
    best(model, layout, preserved, by_text, &allowed, budget)
}

/// The symmetries that the text shows, if it shows any.
fn by_text(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<Option<FoundSymmetry>, DetectionError> {
    let text = symmetries_of_text(model, layout, preserved, budget)?.filter(|text| !text.is_trivial());
    let group = text.as_ref().and_then(|text| text.group(model, layout));
    Ok(text.zip(group).map(|(text, group)| {
        let symmetry = Symmetry {
            group,
            order: text.order(),
            structure: text.structure().to_string(),
            graph: None,
            route: Route::Text,
            complete: false,
            property_cost: None,
            refused: Vec::new(),
        };
        (symmetry, text.instance_orbits(model, layout, preserved))
    }))
}

/// The symmetries of the functions of the model, as far as these may be looked at, or those of its text.
fn best(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    by_text: Option<FoundSymmetry>,
    allowed: &Budget,
    budget: &Budget,
) -> Result<FoundSymmetry, DetectionError> {
    let by_functions = match too_large(model) {
        None => by_functions(model, layout, preserved, allowed),
        Some(_) => Err(Spent.into()),
    };
    match (by_functions, by_text) {
        // Functions know which values occur. They say nothing about the variables of what is too large for them.
        (Ok((symmetry, _, false)), Some(by_text)) if symmetry.order < by_text.0.order => Ok(by_text),
        (Ok((symmetry, exchanged, _)), _) => Ok((symmetry, exchanged)),
        (Err(DetectionError::GaveUp(_)), Some(by_text)) if !budget.is_spent() => Ok(by_text),
        (Err(error), _) => Err(error),
    }
}

/// The symmetries of the functions of the model, and whether everything has functions.
fn by_functions(
    model: &Model,
    layout: &Layout,
    preserved: Preserved<'_>,
    budget: &Budget,
) -> Result<(Symmetry, Vec<InstanceOrbit>, bool), DetectionError> {
    let detection = detect_with_cost(model, layout, preserved, budget)?;
    let (order, structure) = detection.group.order_and_structure(budget)?;
    let symmetry = Symmetry {
        group: detection.group,
        order,
        structure,
        graph: Some((detection.graph.vertex_count(), detection.graph.edge_count())),
        route: Route::Functions,
        complete: detection.complete,
        property_cost: detection.property_cost,
        refused: Vec::new(),
    };
    Ok((symmetry, detection.instance_orbits, detection.fixed.is_empty()))
}

/// Whether some symmetry maps a state to another one: one that moves only slots with a single possible value does not.
fn acts_on_states(group: &CertifiedGroup) -> bool {
    let literals = group.literals();
    group.generators().iter().any(|generator| {
        generator.moves().any(|(from, to)| {
            let (from_slot, to_slot) = (literals.slot_of(from), literals.slot_of(to));
            let entry = &literals.slots()[from_slot];
            from_slot == to_slot
                || entry.wide
                || entry.values.len() > 1
                || literals.value_of(from) != literals.value_of(to)
        })
    })
}

impl Planner<'_> {
    /// One search for each orbit of instances, or one for all if that costs less.
    fn plan_liveness(
        &self,
        exchanged: &[InstanceOrbit],
        find: &dyn Fn(Preserved<'_>) -> Result<Option<FoundSymmetry>, DetectionError>,
    ) -> Result<Vec<LivenessSearch>, EngineError> {
        let Self { model, layout, strategy, budget } = *self;
        let judged = |orbit: &InstanceOrbit| JudgedInstance {
            property: orbit.property,
            arguments: orbit.instances[0].clone(),
            symmetric: orbit.instances.len(),
        };
        let whole =
            |instances: Vec<JudgedInstance>| LivenessSearch { instances, order: BigUint::from(1u32), reduction: None };
        if exchanged.len() > LIVENESS_SEARCHES {
            return Ok(vec![whole(exchanged.iter().map(judged).collect())]);
        }
        let mut searches = Vec::new();
        let mut unreduced = Vec::new();
        // In units of the unreduced search.
        let mut cost = 0.0;
        for orbit in exchanged {
            let instance = judged(orbit);
            let properties = std::slice::from_ref(&instance.property);
            let preserved = Preserved::Instances { properties, arguments: &instance.arguments };
            let found = find(preserved).map_err(no_group)?.map(|(symmetry, _)| symmetry);
            let reduction = found.filter(|symmetry| acts_on_states(&symmetry.group)).map(|symmetry| {
                let Symmetry { group, order, .. } = symmetry;
                Reduction::new(model, layout, group, strategy, budget).map(|reduction| (reduction, order))
            });
            match reduction {
                Some(Ok((reduction, order))) => {
                    cost += u64::try_from(&order).map_or(0.0, |order| 1.0 / order as f64);
                    searches.push(LivenessSearch { instances: vec![instance], order, reduction: Some(reduction) });
                }
                Some(Err(NoReduction::Unsupported(Unsupported::GaveUp(spent)))) => {
                    return Err(EngineError::GaveUp(spent));
                }
                Some(Err(_)) | None => unreduced.push(instance),
            }
        }
        if cost >= 1.0 || cost > 0.0 && !unreduced.is_empty() {
            // The search without symmetries decides all of them.
            return Ok(vec![whole(exchanged.iter().map(judged).collect())]);
        }
        if !unreduced.is_empty() {
            searches.push(whole(unreduced));
        }
        Ok(searches)
    }
}
