//! The canonicalizer: chooses a method for a certified group and applies it to states.

use num_bigint::BigUint;

use quotient_groups::{PermutationGroup, SparsePermutation};
use quotient_ir::{Budget, Layout, Model, Spent};
use quotient_symmetry::{CertifiedGroup, FirstSlots, Literals, StateMap, watch};

use crate::cardinality::Cardinality;
use crate::factor::MethodKind;
use crate::factor::{Factor, FactorScratch};
use crate::multisets::Multisets;
use crate::orbit::{Walk, WalkScratch};
use crate::points::View;
use crate::segments::{SegmentScratch, Segments};
use crate::strategy::{Strategy, Unsupported};

/// The largest group order for which whole orbits are enumerated.
const FLOOD_LIMIT: u64 = 1_000_000;

/// Maps each state to the representative of its orbit.
#[derive(Clone, Debug)]
pub struct Canonicalizer {
    parts: Vec<Factor>,
    /// The multisets whose elements the group changes; the factors then permute their positions, too.
    multisets: Multisets,
    literals: Option<Literals>,
    order: BigUint,
    reason: String,
    strategy: Strategy,
    method: Method,
    is_exact: bool,
}

/// The method applied to a state.
#[derive(Clone, Debug)]
enum Method {
    /// The factors, one after the other.
    Parts,
    Segments(Vec<Segments>),
    LocalSearch(Walk),
    Flooding(Walk),
}

/// Working memory for a canonicalizer.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    part: FactorScratch,
    segments: SegmentScratch,
    walk: WalkScratch,
    state: Vec<u64>,
}

impl Canonicalizer {
    /// The canonicalizer of a group: exact, with methods that suit the group.
    ///
    /// # Errors
    /// Currently never: there is a method for every group.
    pub fn new(model: &Model, layout: &Layout, group: &CertifiedGroup) -> Result<Self, Unsupported> {
        Self::with_strategy(model, layout, group, Strategy::Canonical, &Budget::unlimited())
    }

    /// The canonicalizer of a group with a given method.
    ///
    /// # Errors
    /// If the method does not support the group, or the budget does not suffice to find the order of the group.
    pub fn with_strategy(
        _model: &Model,
        layout: &Layout,
        group: &CertifiedGroup,
        strategy: Strategy,
        budget: &Budget,
    ) -> Result<Self, Unsupported> {
        Self::of_maps(layout, group.literals(), group.maps(), strategy, budget)
    }

    /// The canonicalizer of a group as it acts on the first slots of its states.
    ///
    /// # Errors
    /// Currently never: there is a method for every group.
    pub fn of_first_slots(layout: &Layout, group: &FirstSlots) -> Result<Self, Unsupported> {
        Self::of_maps(layout, group.literals(), group.maps(), Strategy::Canonical, &Budget::unlimited())
    }

    /// The canonicalizer of an uncertified group of permutations of literals: for testing the methods on groups that no
    /// model has. A search must never use one.
    ///
    /// # Panics
    /// If a permutation does not act on states.
    ///
    /// # Errors
    /// If the method does not support the group.
    #[doc(hidden)]
    pub fn of_uncertified(
        layout: &Layout,
        generators: &[SparsePermutation],
        strategy: Strategy,
    ) -> Result<Self, Unsupported> {
        let literals = Literals::of_layout(layout);
        let maps: Vec<StateMap> = generators
            .iter()
            .map(|generator| literals.action(layout, generator).expect("a permutation that acts on states"))
            .collect();
        Self::of_maps(layout, &literals, &maps, strategy, &Budget::unlimited())
    }

    /// The same with a given exact method for every factor; `None` if it does not support one of them.
    #[doc(hidden)]
    pub fn of_uncertified_by(layout: &Layout, generators: &[SparsePermutation], kind: MethodKind) -> Option<Self> {
        let mut canonicalizer = Self::of_uncertified(layout, generators, Strategy::Canonical).ok()?;
        let parts = std::mem::take(&mut canonicalizer.parts);
        canonicalizer.parts =
            parts.into_iter().map(|part| Factor::of_kind(part.view, part.order, kind)).collect::<Option<_>>()?;
        canonicalizer.reason = canonicalizer.describe();
        Some(canonicalizer)
    }

    /// Whether there may be several methods for a factor whose work can be compared.
    pub fn is_tunable(&self) -> bool {
        matches!(self.method, Method::Parts) && self.parts.iter().any(Factor::is_tunable)
    }

    /// Chooses the method for each factor that does the least work on some states, which are given like those of
    /// [`Canonicalizer::canonicalize_records`]. Returns whether representatives may be others now. Work is counted, not
    /// timed, so the choice depends on nothing but the states.
    pub fn tune(&mut self, records: &[u64], stride: usize) -> bool {
        if !matches!(self.method, Method::Parts) {
            return false;
        }
        let mut is_changed = false;
        for part in &mut self.parts {
            is_changed |= part.tune(records, stride);
        }
        if is_changed {
            self.reason = self.describe();
        }
        is_changed
    }

    /// How the factors find representatives.
    fn describe(&self) -> String {
        if self.parts.is_empty() {
            return "nothing to reduce".to_owned();
        }
        let mut texts = counted(self.parts.iter().map(Factor::describe));
        if !self.multisets.is_empty() {
            texts.push("multisets sorted again".to_owned());
        }
        texts.join("; ")
    }

    fn of_maps(
        layout: &Layout,
        literals: &Literals,
        maps: &[StateMap],
        strategy: Strategy,
        budget: &Budget,
    ) -> Result<Self, Unsupported> {
        let multisets = Multisets::new(layout, maps);
        if !multisets.is_empty() && strategy != Strategy::Canonical {
            let reason = "it changes the elements of multisets".to_owned();
            return Err(Unsupported::NotApplicable { strategy, reason });
        }
        let mut maps = maps.to_vec();
        maps.extend(multisets.exchanges());
        let view = View::new(layout, literals, &maps);
        let (degree, generators) = (view.action.degree(), view.action.generators().to_vec());
        let group = PermutationGroup::new_watched(degree, generators, &watch(budget)).ok_or(Spent)?;
        let factors: Vec<(View, BigUint)> = group
            .factors()
            .iter()
            .map(|factor| (view.restricted(&factor.points, factor.action.clone()), factor.order.clone()))
            .collect();
        let not_applicable = |reason: String| Unsupported::NotApplicable { strategy, reason };
        let order = group.order() / multisets.order();
        let mut is_exact = true;
        let mut reason = None;
        let method = match strategy {
            Strategy::Canonical => Method::Parts,
            Strategy::Sorted | Strategy::Segmented => {
                let found: Vec<Segments> = factors
                    .iter()
                    .filter_map(|(view, order)| Segments::new(view, order, strategy == Strategy::Segmented))
                    .collect();
                if found.is_empty() && !factors.is_empty() {
                    return Err(not_applicable("there are no parts that can be exchanged freely".to_owned()));
                }
                is_exact = found.len() == factors.len() && found.iter().all(Segments::is_exact);
                let mut text = match strategy {
                    Strategy::Sorted => "sorting interchangeable parts by what mentions none of them".to_owned(),
                    _ => "sorting interchangeable parts, and the least over the permutations of equal ones".to_owned(),
                };
                if found.len() < factors.len() {
                    text.push_str(&format!(
                        "; {} of {} factors of the group have none and are not used",
                        factors.len() - found.len(),
                        factors.len()
                    ));
                }
                reason = Some(text);
                Method::Segments(found)
            }
            Strategy::LocalSearch => {
                is_exact = factors.is_empty();
                reason = Some(format!(
                    "applying {} generators for as long as one makes the state less",
                    view.action.generators().len()
                ));
                Method::LocalSearch(Walk::new(&view))
            }
            Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical => {
                return Err(not_applicable("markers depend on what was seen before".to_owned()));
            }
            Strategy::Flooding => {
                if order > BigUint::from(FLOOD_LIMIT) {
                    return Err(not_applicable(format!(
                        "with {order} symmetries, more than {FLOOD_LIMIT} states might have to be listed for each"
                    )));
                }
                reason = Some("the least state of the whole orbit, which is listed".to_owned());
                Method::Flooding(Walk::new(&view))
            }
        };
        let parts: Vec<Factor> = factors
            .into_iter()
            .map(|(view, order)| match strategy {
                Strategy::Canonical => Factor::new(view, order),
                // Used only for orbit sizes and for elements between states.
                _ => Factor::searching(view, order),
            })
            .collect();
        let literals = (!multisets.is_empty()).then(|| literals.clone());
        let canonicalizer =
            Self { parts, multisets, literals, order, reason: String::new(), strategy, method, is_exact };
        let reason = reason.unwrap_or_else(|| canonicalizer.describe());
        Ok(Self { reason, ..canonicalizer })
    }

    /// The order of the group, as it acts on states.
    pub fn order(&self) -> &BigUint {
        &self.order
    }

    /// How representatives are found, for reports.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The method.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Whether every orbit has exactly one representative.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Replaces a packed state by the representative of its orbit.
    #[inline]
    pub fn canonicalize(&self, workspace: &mut Workspace, state: &mut [u64]) {
        match &self.method {
            Method::Parts => {
                for part in &self.parts {
                    part.canonicalize(state, &mut workspace.part);
                }
                if !self.multisets.is_empty() {
                    self.multisets.sort(state);
                }
            }
            Method::Segments(segments) => {
                for segment in segments {
                    segment.canonicalize(state, &mut workspace.segments);
                }
            }
            Method::LocalSearch(walk) => walk.descend(state, &mut workspace.walk),
            Method::Flooding(walk) => walk.take_least(state, &mut workspace.walk),
        }
    }

    /// Replaces a packed state by the representative of its orbit. It differs little from `before`, such as the state that
    /// it is a successor of, or else from states for which this was called before: such states share work.
    #[inline]
    pub fn canonicalize_near(&self, workspace: &mut Workspace, before: Option<&[u64]>, state: &mut [u64]) {
        match self.only_part() {
            Some(part) => part.canonicalize_near(before, state, &mut workspace.part),
            None => self.canonicalize(workspace, state),
        }
    }

    /// The factor, if there is only one and nothing else changes states.
    fn only_part(&self) -> Option<&Factor> {
        match (&self.method, &self.parts[..]) {
            (Method::Parts, [only]) if self.multisets.is_empty() => Some(only),
            _ => None,
        }
    }

    /// Replaces several packed states by the representatives of their orbits. `before` is a representative that they
    /// differ little from, such as the one they are successors of. Each is followed by another word: records
    /// have `stride` words.
    #[inline]
    pub fn canonicalize_records(
        &self,
        workspace: &mut Workspace,
        before: Option<&[u64]>,
        records: &mut [u64],
        stride: usize,
    ) {
        if let (Some(before), Some(part)) = (before, self.only_part().filter(|part| part.has_twins())) {
            let states = records.chunks_exact_mut(stride).map(|record| &mut record[..stride - 1]);
            return states.for_each(|state| part.canonicalize_near(Some(before), state, &mut workspace.part));
        }
        match &self.method {
            Method::Parts if self.multisets.is_empty() => {
                // The factors move different points, so one does not change what another one sees.
                for part in &self.parts {
                    part.canonicalize_records(before, records, stride, &mut workspace.part);
                }
            }
            _ => records
                .chunks_exact_mut(stride)
                .for_each(|record| self.canonicalize(workspace, &mut record[..stride - 1])),
        }
    }

    /// Whether a packed state is the representative of its orbit. This is cheaper than finding the representative.
    pub fn is_representative(&self, workspace: &mut Workspace, state: &[u64]) -> bool {
        let mut copy = std::mem::take(&mut workspace.state);
        copy.clear();
        copy.extend_from_slice(state);
        let answer = if matches!(self.method, Method::Parts) && self.multisets.is_empty() {
            // The factors move different points: the state is canonical if it is canonical for each of them.
            self.parts.iter().all(|part| part.is_canonical(state, &mut copy, &mut workspace.part))
        } else {
            self.canonicalize(workspace, &mut copy);
            copy == state
        };
        workspace.state = copy;
        answer
    }

    /// Replaces a packed state by the representative of its orbit and returns a symmetry that maps the state to it, as
    /// a permutation of the literals. Intended for few states: it costs more than the representative alone. Literals of
    /// variables that never change are omitted.
    pub fn canonicalize_with_witness(&self, workspace: &mut Workspace, state: &mut [u64]) -> SparsePermutation {
        let before = state.to_vec();
        self.canonicalize(workspace, state);
        let element = self.parts.iter().fold(SparsePermutation::identity(), |element, part| {
            element.then(&part.element_between(&before, state, &mut workspace.part))
        });
        match &self.literals {
            Some(literals) => self.multisets.straightened(literals, &element),
            None => element,
        }
    }

    /// The number of states that a stored representative represents, if known: if an orbit may have several
    /// representatives, orbit sizes do not add up.
    pub fn represented(&self, workspace: &mut Workspace, state: &[u64]) -> Option<Cardinality> {
        self.is_exact.then(|| self.size_of_orbit(workspace, state))
    }

    /// The number of states in the orbit of a state.
    pub fn orbit_size(&self, workspace: &mut Workspace, state: &[u64]) -> BigUint {
        self.size_of_orbit(workspace, state).into()
    }

    fn size_of_orbit(&self, workspace: &mut Workspace, state: &[u64]) -> Cardinality {
        let Workspace { part: scratch, state: copy, .. } = workspace;
        copy.clear();
        copy.extend_from_slice(state);
        let mut size = Cardinality::ONE;
        for part in &self.parts {
            size.multiply(part.orbit_size(copy, scratch));
        }
        if self.multisets.is_empty() { size } else { size.over(&self.multisets.arrangements(state).into()) }
    }
}

/// Each text once, with the number of factors it applies to.
fn counted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match counts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    let with_count = |(text, count)| if count == 1 { text } else { format!("{text} ({count} factors)") };
    counts.into_iter().map(with_count).collect()
}
