//! One factor of a group, and the choice of the method that canonicalizes states under it.

use std::sync::OnceLock;

use num_bigint::BigUint;

use quotient_groups::action::Action;
use quotient_groups::arrangement::{Arrangement, arrangement, rotation};
use quotient_groups::{ImageScratch, ImageSearch, SparsePermutation};

use crate::cardinality::Cardinality;
use crate::elements::{CodeMap, Listing, ListingScratch};
use crate::invariants::{InvariantScratch, Invariants};
use crate::labelling::{Labelling, LabellingScratch};
use crate::nesting::{NestedSort, SortScratch};
use crate::points::{NONE, View};
use crate::rotation::{Ring, RingScratch};

/// The largest number of elements that are listed without trying any other method.
const FEW_ELEMENTS: usize = 6;
/// The largest number of elements that are listed if the only alternative is a search.
const LISTED_ELEMENTS: usize = 130;
/// The same limit for groups other than freely permuted objects, where colours distinguish little and the search has to
/// branch much; applies only if there are not too many fields.
const LISTED_RIGID_ELEMENTS: usize = 8_000;
/// The largest total number of codes of all listed elements.
const LISTED_CODES: usize = 600_000;
/// The largest number of cosets of the rotations for which these are used.
const RING_COSETS: usize = 24;

/// A factor of the group.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub(crate) view: View,
    pub(crate) order: BigUint,
    method: Method,
    /// The search, created on demand if the method is another.
    search: OnceLock<Box<ImageSearch>>,
}

/// How images are found.
#[derive(Clone, Debug)]
enum Method {
    /// The least image over all elements.
    Listing(Listing),
    /// The least image over the elements that sums select.
    Selecting(Box<Invariants>),
    /// Sorting interchangeable objects.
    Sorting(Vec<NestedSort>),
    /// Labelling objects by colour refinement.
    Labelling(Box<Labelling>),
    /// Rotating a ring.
    Turning(Ring),
    /// The general search.
    Searching,
}

/// Working memory for all methods.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactorScratch {
    codes: Vec<u64>,
    image_codes: Vec<u64>,
    listing: ListingScratch,
    invariants: InvariantScratch,
    sort: SortScratch,
    labelling: LabellingScratch,
    ring: RingScratch,
    image: ImageScratch,
}

impl FactorScratch {
    /// The work that was counted.
    fn work(&self) -> u64 {
        self.listing.work + self.invariants.work + self.labelling.work + self.ring.work
    }
}

impl Factor {
    /// The factor for a view whose group does not split further, with the method that suits it.
    pub(crate) fn new(view: View, order: BigUint) -> Self {
        let method = Choice::new(&view, &order).usual();
        Self::with_method(view, order, method)
    }

    /// The factor with a given method, if that supports the group.
    pub(crate) fn of_kind(view: View, order: BigUint, kind: MethodKind) -> Option<Self> {
        let method = Choice::new(&view, &order).method(kind)?;
        Some(Self::with_method(view, order, method))
    }

    fn with_method(view: View, order: BigUint, method: Method) -> Self {
        let part = Self { view, order, method, search: OnceLock::new() };
        if matches!(part.method, Method::Searching) {
            part.search();
        }
        part
    }

    /// Whether there may be another method whose work can be compared.
    pub(crate) fn is_tunable(&self) -> bool {
        let is_counted = matches!(
            self.method,
            Method::Listing(_) | Method::Selecting(_) | Method::Labelling(_) | Method::Turning(_)
        );
        is_counted && self.order > BigUint::from(2u32)
    }

    /// Takes the method that does the least work on some states, among those whose work is counted. Returns whether it
    /// is another one than before.
    pub(crate) fn tune(&mut self, records: &[u64], stride: usize) -> bool {
        if !self.is_tunable() {
            return false;
        }
        let own = self.work(records, stride, u64::MAX);
        let choice = Choice::new(&self.view, &self.order);
        let mut best: Option<(u64, Method)> = None;
        for kind in [MethodKind::Listing, MethodKind::Selecting, MethodKind::Labelling, MethodKind::Turning] {
            // Preparing a long list costs more than it can save.
            let is_long = !choice.has_at_most(LISTED_ELEMENTS)
                && (kind == MethodKind::Listing || kind == MethodKind::Selecting && choice.found.is_some());
            if kind == self.kind() || is_long {
                continue;
            }
            let Some(method) = choice.method(kind) else { continue };
            let other = Self { view: self.view.clone(), order: self.order.clone(), method, search: OnceLock::new() };
            let least = best.as_ref().map_or(own, |(least, _)| *least);
            let work = other.work(records, stride, least);
            if work < least {
                best = Some((work, other.method));
            }
        }
        let Some((_, method)) = best else { return false };
        self.method = method;
        true
    }

    /// The work that the method does on some states, as far as it is less than a limit.
    fn work(&self, records: &[u64], stride: usize, limit: u64) -> u64 {
        let mut scratch = FactorScratch::default();
        // Listing also reads and writes all codes.
        let is_list = matches!(self.method, Method::Listing(_) | Method::Selecting(_));
        let codes = if is_list { 2 * self.view.fields.len() } else { 0 };
        let mut work = 0;
        for records in records.chunks(64 * stride) {
            self.canonicalize_records(None, &mut records.to_vec(), stride, &mut scratch);
            work += (records.len() / stride * codes) as u64;
            if work + scratch.work() >= limit {
                return limit;
            }
        }
        work + scratch.work()
    }

    fn kind(&self) -> MethodKind {
        match self.method {
            Method::Listing(_) => MethodKind::Listing,
            Method::Selecting(_) => MethodKind::Selecting,
            Method::Sorting(_) => MethodKind::Sorting,
            Method::Labelling(_) => MethodKind::Labelling,
            Method::Turning(_) => MethodKind::Turning,
            Method::Searching => MethodKind::Searching,
        }
    }

    /// The factor with the general search only.
    pub(crate) fn searching(view: View, order: BigUint) -> Self {
        Self { view, order, method: Method::Searching, search: OnceLock::new() }
    }

    fn search(&self) -> &ImageSearch {
        self.search.get_or_init(|| Box::new(ImageSearch::new(&self.view.action, &self.order)))
    }

    /// A description for reports.
    pub(crate) fn describe(&self) -> String {
        match &self.method {
            Method::Listing(listing) => format!("the least of {} images", listing.len()),
            Method::Selecting(invariants) => format!("the least of {} images by sums over the parts", invariants.len()),
            Method::Sorting(sorts) => sorts.iter().map(NestedSort::describe).collect::<Vec<_>>().join(", "),
            Method::Labelling(labelling) => labelling.describe().to_owned(),
            Method::Turning(ring) => ring.describe(),
            Method::Searching => {
                format!("a search among {} images by refinement and stabilisers", self.order)
            }
        }
    }

    /// Replaces a state by its canonical image.
    #[inline]
    pub(crate) fn canonicalize(&self, state: &mut [u64], scratch: &mut FactorScratch) {
        match &self.method {
            Method::Sorting(sorts) => {
                for sort in sorts {
                    sort.canonicalize(state, &mut scratch.sort);
                }
            }
            Method::Labelling(labelling) => labelling.canonicalize(state, &mut scratch.labelling),
            Method::Turning(ring) => ring.canonicalize(&self.view, state, &mut scratch.ring),
            Method::Selecting(invariants) => {
                invariants.canonicalize(&self.view, state, &mut scratch.invariants);
            }
            Method::Listing(listing) => {
                let FactorScratch { codes, image_codes, .. } = scratch;
                if listing.take_least_of_two(&self.view, state, codes, image_codes) {
                    return;
                }
                self.view.read(state, &mut scratch.codes);
                listing.least(&mut scratch.codes, &mut scratch.listing);
                self.view.write(&scratch.codes, state);
            }
            Method::Searching => self.find_image(state, scratch),
        }
    }

    /// Replaces the states in records of `stride` words, all but the last of each, by their canonical images. `before` is
    /// a representative that they differ little from, if there is one.
    pub(crate) fn canonicalize_records(
        &self,
        before: Option<&[u64]>,
        records: &mut [u64],
        stride: usize,
        scratch: &mut FactorScratch,
    ) {
        // For a single state there is nothing to share.
        let before = before.filter(|_| records.len() > stride);
        if let (Some(before), Method::Sorting(sorts)) = (before, &self.method) {
            for sort in sorts {
                let states = records.chunks_exact_mut(stride).map(|record| &mut record[..stride - 1]);
                sort.canonicalize_near(before, states, &mut scratch.sort);
            }
            return;
        }
        let records = records.chunks_exact_mut(stride).map(|record| &mut record[..stride - 1]);
        // The method is chosen once.
        match &self.method {
            Method::Sorting(sorts) => {
                if let [sort] = &sorts[..] {
                    records.for_each(|state| sort.canonicalize(state, &mut scratch.sort));
                } else {
                    records.for_each(|state| sorts.iter().for_each(|sort| sort.canonicalize(state, &mut scratch.sort)));
                }
            }
            Method::Selecting(invariants) => {
                invariants.canonicalize_all(&self.view, before, records, &mut scratch.invariants);
            }
            Method::Turning(ring) => ring.canonicalize_all(&self.view, before, records, &mut scratch.ring),
            Method::Labelling(labelling) => {
                labelling.canonicalize_all(before, records, &mut scratch.labelling);
            }
            Method::Listing(_) | Method::Searching => records.for_each(|state| self.canonicalize(state, scratch)),
        }
    }

    /// Replaces a state by its canonical image. It differs little from `before`, or else from states that came before it.
    /// Nothing but this factor moves anything.
    pub(crate) fn canonicalize_near(&self, before: Option<&[u64]>, state: &mut [u64], scratch: &mut FactorScratch) {
        match &self.method {
            Method::Labelling(labelling) => {
                labelling.canonicalize_near(&self.view, before, state, &mut scratch.labelling);
            }
            _ => self.canonicalize(state, scratch),
        }
    }

    /// Whether successors of a state may be alike.
    pub(crate) fn has_twins(&self) -> bool {
        matches!(&self.method, Method::Labelling(labelling) if labelling.has_twins())
    }

    /// Whether a state is its own canonical image. `copy` is as long as the state.
    pub(crate) fn is_canonical(&self, state: &[u64], copy: &mut [u64], scratch: &mut FactorScratch) -> bool {
        if let Method::Listing(listing) = &self.method {
            self.view.read(state, &mut scratch.codes);
            return listing.is_least(&scratch.codes, &mut scratch.listing);
        }
        copy.copy_from_slice(state);
        self.canonicalize(copy, scratch);
        copy == state
    }

    /// Replaces a state by the canonical image that the search finds.
    fn find_image(&self, state: &mut [u64], scratch: &mut FactorScratch) {
        let FactorScratch { codes, image, .. } = scratch;
        let search = self.search();
        self.view.read(state, codes);
        let fields = self.view.contents.iter().zip(codes.iter());
        let set = fields
            .map(|(content, &code)| match content {
                crate::points::Content::Plain(point) => (*point, code),
                lettered => (lettered.point(code), 0),
            })
            .filter(|&(point, _)| point != NONE);
        search.search(image, set.clone());
        for ((_, code), point) in set.zip(image.images(search)) {
            let (field, letter) = self.view.origins[point as usize];
            let field = field as usize;
            let code =
                if matches!(self.view.contents[field], crate::points::Content::Plain(_)) { code } else { letter };
            self.view.fields[field].write(state, code);
        }
    }

    /// The number of states in the orbit of a state. The state becomes its canonical image.
    pub(crate) fn orbit_size(&self, state: &mut [u64], scratch: &mut FactorScratch) -> Cardinality {
        match &self.method {
            Method::Sorting(sorts) => {
                let mut size = Cardinality::ONE;
                for sort in sorts {
                    let stabiliser = sort.stabiliser_order(state, &mut scratch.sort);
                    size.multiply(sort.order().over(&stabiliser));
                }
                size
            }
            Method::Labelling(labelling) => {
                labelling.canonicalize(state, &mut scratch.labelling);
                let stabiliser = labelling.stabiliser_order(state, &mut scratch.labelling);
                labelling.order().over(&stabiliser)
            }
            Method::Selecting(invariants) => {
                let stabiliser = invariants.canonicalize(&self.view, state, &mut scratch.invariants);
                Cardinality::Small((invariants.len() / stabiliser) as u64)
            }
            Method::Turning(ring) => Cardinality::Small(ring.orbit_size(&self.view, state, &mut scratch.ring)),
            Method::Listing(listing) => {
                self.view.read(state, &mut scratch.codes);
                let stabiliser = listing.least(&mut scratch.codes, &mut scratch.listing);
                self.view.write(&scratch.codes, state);
                Cardinality::Small((listing.len() / stabiliser) as u64)
            }
            Method::Searching => {
                self.find_image(state, scratch);
                (&self.order / scratch.image.stabiliser_order()).into()
            }
        }
    }

    /// An element, on the literals, that maps one state of an orbit to another.
    pub(crate) fn element_between(&self, from: &[u64], to: &[u64], scratch: &mut FactorScratch) -> SparsePermutation {
        let mut element_to_image = |state: &[u64]| {
            let mut state = state.to_vec();
            self.find_image(&mut state, scratch);
            scratch.image.element(self.search())
        };
        let element = element_to_image(from).then(&element_to_image(to).inverse());
        self.view.to_literals(&element)
    }
}

/// A method of finding images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// The least image over all elements.
    Listing,
    /// The least image over the elements that sums select.
    Selecting,
    /// Sorting interchangeable objects.
    Sorting,
    /// Labelling objects by colour refinement.
    Labelling,
    /// Rotating a ring.
    Turning,
    /// The general search.
    Searching,
}

impl MethodKind {
    /// All methods.
    pub const ALL: [Self; 6] =
        [Self::Listing, Self::Selecting, Self::Sorting, Self::Labelling, Self::Turning, Self::Searching];
}

/// A group that does not split further, and what is known about it.
struct Choice<'a> {
    view: &'a View,
    order: &'a BigUint,
    found: Option<Arrangement>,
}

impl<'a> Choice<'a> {
    fn new(view: &'a View, order: &'a BigUint) -> Self {
        // Two elements are listed, whatever they are.
        let found = if *order <= BigUint::from(2u32) { None } else { arrangement(&view.action, order) };
        Self { view, order, found }
    }

    fn has_at_most(&self, elements: usize) -> bool {
        *self.order <= BigUint::from(elements)
    }

    /// Whether there are few enough elements for a list.
    fn is_listable(&self) -> bool {
        let most = LISTED_RIGID_ELEMENTS.min(LISTED_CODES / self.view.fields.len().max(1));
        self.has_at_most(most.max(FEW_ELEMENTS))
    }

    /// A method, if it supports the group.
    fn method(&self, kind: MethodKind) -> Option<Method> {
        let Self { view, order, found } = self;
        match kind {
            MethodKind::Listing => {
                self.is_listable().then(|| Method::Listing(Listing::new(view, &permutations(&view.action, order))))
            }
            MethodKind::Selecting => {
                let listed = self.is_listable().then(|| permutations(&view.action, order))?;
                Invariants::new(view, &listed).map(|invariants| Method::Selecting(Box::new(invariants)))
            }
            MethodKind::Sorting => {
                let found = found.as_ref().filter(|found| found.is_complete())?;
                sorts(view, found).map(Method::Sorting)
            }
            MethodKind::Labelling => {
                Labelling::new(view, found.as_ref()?, order).map(|labelling| Method::Labelling(Box::new(labelling)))
            }
            MethodKind::Turning => ring(view, order).map(Method::Turning),
            MethodKind::Searching => Some(Method::Searching),
        }
    }

    /// The method that is usually best.
    fn usual(&self) -> Method {
        let listed = if self.found.is_some() { LISTED_ELEMENTS } else { LISTED_RIGID_ELEMENTS };
        let mut kinds = Vec::new();
        if self.has_at_most(2) {
            kinds.push(MethodKind::Listing);
        }
        kinds.push(MethodKind::Sorting);
        if self.has_at_most(FEW_ELEMENTS) {
            kinds.push(MethodKind::Listing);
        }
        kinds.push(MethodKind::Labelling);
        // Few elements are listed, unless there are rotations only.
        let is_list_first = self.has_at_most(LISTED_ELEMENTS) && !self.is_cyclic();
        if !is_list_first {
            kinds.push(MethodKind::Turning);
        }
        if self.has_at_most(listed) {
            kinds.extend([MethodKind::Selecting, MethodKind::Listing]);
        }
        if is_list_first {
            kinds.push(MethodKind::Turning);
        }
        kinds.into_iter().find_map(|kind| self.method(kind)).unwrap_or(Method::Searching)
    }

    /// Whether the group consists of the rotations of a ring.
    fn is_cyclic(&self) -> bool {
        rotation(&self.view.action).is_some_and(|(_, length)| *self.order == BigUint::from(length))
    }
}

fn sorts(view: &View, found: &Arrangement) -> Option<Vec<NestedSort>> {
    (0..found.nestings.len()).map(|number| NestedSort::new(view, found, number)).collect()
}

/// All elements of a small group, as permutations of the points.
fn permutations(action: &Action, order: &BigUint) -> Vec<SparsePermutation> {
    let mut known = rustc_hash::FxHashSet::default();
    let mut list = vec![SparsePermutation::identity()];
    known.insert(list[0].clone());
    let mut next = 0;
    while next < list.len() && BigUint::from(list.len()) < *order {
        for generator in action.generators() {
            let product = list[next].then(generator);
            if known.insert(product.clone()) {
                list.push(product);
            }
        }
        next += 1;
    }
    list
}

/// The ring that the group rotates, if it rotates one and does little else.
fn ring(view: &View, order: &BigUint) -> Option<Ring> {
    let (turn, length) = rotation(&view.action)?;
    let cosets = usize::try_from(order / BigUint::from(length)).ok().filter(|&count| count <= RING_COSETS)?;
    // One element of each coset. An element is looked up through the elements of its coset, which are its products with
    // the powers of the rotation.
    let mut powers = vec![SparsePermutation::identity()];
    for _ in 1..length {
        powers.push(powers[powers.len() - 1].then(&turn));
    }
    let mut known: rustc_hash::FxHashSet<SparsePermutation> = powers.iter().cloned().collect();
    let mut representatives = vec![SparsePermutation::identity()];
    let mut next = 0;
    while next < representatives.len() && representatives.len() < cosets {
        for generator in view.action.generators() {
            // The generator is applied first, so that products stay in cosets: the rotation is applied last.
            let product = generator.then(&representatives[next]);
            if !known.contains(&product) {
                known.extend(powers.iter().map(|power| product.then(power)));
                representatives.push(product);
            }
        }
        next += 1;
    }
    let others = representatives[1..].iter().map(|element| CodeMap::new(view, element)).collect();
    Ring::new(view, &turn, length, others)
}
