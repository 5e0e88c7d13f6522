//! Symmetry markers: a cheap orbit invariant of states, for groups that exchange the values of types freely (Leuschel
//! and Massart 2007, definitions 1 and 2, with the refined paths `to`, `from` and `leftright`). Symmetric states have
//! equal markers; states with equal markers are usually symmetric, and always if proposition 2 applies.
//!
//! A state is read as in B: an array is the set of its defined cells, each a tuple of the indices and the value; a
//! boolean array is the set of the indices where it is true. The *paths* of an element are the tuples it occurs in,
//! each given by the variable, the positions of the element in the tuple (`left`, `right`, or both) and the components
//! that no symmetry moves (`to n`, `from n`). The *marker* is the multiset of all tuples with each element replaced by
//! its paths. For pairs this is exactly the definition of the paper; longer tuples are read flat.
//!
//! With *rounds*, the paths of an element also include the paths of neighbouring elements, up to that number of steps:
//! trees instead of paths, the improvement that the paper discusses.

use quotient_ir::{Layout, Model, SlotId, TypeId, TypeKind};
use rustc_hash::FxHashMap;

use crate::certify::CertifiedGroup;
use crate::explain::Request;
use crate::places::Places;

/// How markers are computed for a model.
#[derive(Clone, Debug)]
pub struct Marking {
    slots: Vec<MarkedSlot>,
    /// The class of each element: elements of different classes are never exchanged.
    classes: Vec<u32>,
    rounds: usize,
    is_exact: bool,
    reason: String,
    group: CertifiedGroup,
}

/// The location of a slot in a packed state, and the tuple it represents.
#[derive(Clone, Debug)]
struct MarkedSlot {
    word: usize,
    shift: u32,
    mask: u64,
    may_be_undefined: bool,
    /// The variable, its fields, and the values of the indices that no symmetry moves, as one number.
    signature: u32,
    /// The elements among the indices.
    elements: Vec<u32>,
    content: Content,
}

/// The meaning of a slot's value.
#[derive(Clone, Debug)]
enum Content {
    /// A value that no symmetry moves.
    Plain,
    /// Whether the indices belong to a set.
    Membership,
    /// For each code, the element it denotes, if any.
    Element(Box<[Option<u32>]>),
}

/// Working memory for one computation.
#[derive(Clone, Debug, Default)]
pub struct MarkerScratch {
    tuples: Vec<Tuple>,
    /// The positions of elements in tuples, all tuples concatenated.
    occurrences: Vec<u32>,
    paths: Vec<Vec<Path>>,
    order: Vec<u32>,
    ranks: Vec<u64>,
    rows: Vec<Vec<u64>>,
}

#[derive(Clone, Copy, Debug)]
struct Tuple {
    signature: u32,
    /// The value, if no symmetry moves it.
    value: u64,
    first: u32,
    count: u32,
}

/// One occurrence of an element: the signature of the tuple, the element's positions there, the plain value, and its
/// neighbours.
type Path = (u32, u32, u64, u64);

/// Why there are no markers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMarkers {
    /// No type has values that can all be exchanged in the same way.
    #[error("markers need a type whose values can be exchanged freely, and there is none")]
    NothingInterchangeable,
    /// There are multisets.
    #[error("markers do not know multisets, which have no places")]
    Multiset,
    /// A tuple too long for its positions to be encoded.
    #[error("an array with more than 31 indices")]
    TooManyIndices,
}

impl Marking {
    /// The markers for the values that a group exchanges freely. `rounds` is zero for those of the paper.
    ///
    /// # Errors
    /// If there are no such values, or the model has something that markers do not support.
    pub fn new(model: &Model, layout: &Layout, group: &CertifiedGroup, rounds: usize) -> Result<Self, NoMarkers> {
        if model.types.iter().any(|ty| matches!(ty.kind, TypeKind::Multiset { .. })) {
            return Err(NoMarkers::Multiset);
        }
        // Elements are the values of types whose certified exchanges cover the whole type.
        let mut elements: FxHashMap<(TypeId, i64), u32> = FxHashMap::default();
        let mut classes = Vec::new();
        let mut names = Vec::new();
        let mut used = Vec::new();
        for (class, entry) in group.interchangeable().iter().enumerate() {
            let uniform = entry.values.windows(2).zip(&entry.exchanges).all(|(pair, exchange)| {
                let request = Request::Exchange { ty: entry.ty, first: pair[0], second: pair[1] };
                request.permutation(model, layout, group.literals()).is_ok_and(|expected| expected == *exchange)
            });
            if !uniform || entry.exchanges.len() + 1 < entry.values.len() {
                continue;
            }
            for &value in &entry.values {
                elements.insert((entry.ty, value), classes.len() as u32);
                classes.push(class as u32);
            }
            used.push(class);
            let name = model.types[entry.ty].name.clone().unwrap_or_else(|| "a type".into());
            names.push(format!("{} values of {name}", entry.values.len()));
        }
        if classes.is_empty() {
            return Err(NoMarkers::NothingInterchangeable);
        }
        let find = |ty: TypeId, value: i64| {
            let own = elements.get(&(ty, value));
            own.copied().or_else(|| match &model.types[ty].kind {
                TypeKind::Union { members } => {
                    members.iter().find_map(|&member| elements.get(&(member, value)).copied())
                }
                _ => None,
            })
        };
        let places = Places::new(model, layout);
        let mut signatures: FxHashMap<(u32, Vec<Option<i64>>), u32> = FxHashMap::default();
        let mut slots = Vec::new();
        let mut is_exact = true;
        for (slot, entry) in layout.slots.iter_enumerated() {
            let possible = &group.literals().slots()[slot];
            if !possible.wide && possible.values.len() == 1 {
                // Constants carry no information about a state, and symmetries fix them: they would distinguish
                // elements that can be exchanged.
                continue;
            }
            let path = places.path(slot);
            if path.indices.len() > 31 {
                return Err(NoMarkers::TooManyIndices);
            }
            let found: Vec<Option<u32>> = path.indices.iter().map(|&(ty, value)| find(ty, value)).collect();
            let fixed: Vec<Option<i64>> = path
                .indices
                .iter()
                .zip(&found)
                .map(|(&(_, value), element)| if element.is_some() { None } else { Some(value) })
                .collect();
            let next = signatures.len() as u32;
            let signature = *signatures.entry((path.shape, fixed)).or_insert(next);
            let codes = entry.domain.size();
            let values: Option<Box<[Option<u32>]>> = (codes > 0 && codes <= 1 << 16)
                .then(|| entry.domain.values().map(|value| find(entry.ty, value)).collect::<Box<[_]>>())
                .filter(|values| values.iter().any(Option::is_some));
            let own: Vec<u32> = found.into_iter().flatten().collect();
            is_exact &= own.len() + usize::from(values.is_some()) <= 1;
            let is_membership = matches!(model.types[entry.ty].kind, TypeKind::Boolean) && !path.indices.is_empty();
            let content = match values {
                Some(values) => Content::Element(values),
                None if is_membership && !entry.may_be_undefined => Content::Membership,
                None => Content::Plain,
            };
            slots.push(marked(layout, slot, signature, own, content));
        }
        let depth = if rounds == 0 { String::new() } else { format!(", {rounds} rounds deep") };
        let reason = format!("markers of {}{depth}", names.join(", "));
        let group = group.exchanging(layout, &used);
        Ok(Self { slots, classes, rounds, is_exact, reason, group })
    }

    /// Whether only symmetric states have equal markers, by proposition 2: no cell of the state relates two elements.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The symmetries under which markers are invariant: those that exchange the elements. The group that they were
    /// made for may have more.
    pub fn group(&self) -> &CertifiedGroup {
        &self.group
    }

    /// The number of steps beyond an element that the markers include.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// What the markers are based on, for reports.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The marker of a packed state, in normal form: equal markers are equal sequences of numbers.
    pub fn marker(&self, scratch: &mut MarkerScratch, state: &[u64], marker: &mut Vec<u64>) {
        marker.clear();
        let MarkerScratch { tuples, occurrences, paths, order, ranks, rows } = scratch;
        tuples.clear();
        occurrences.clear();
        for slot in &self.slots {
            let stored = if slot.mask == 0 { 0 } else { state[slot.word] >> slot.shift & slot.mask };
            let first = occurrences.len() as u32;
            let mut value = stored;
            match &slot.content {
                _ if slot.may_be_undefined && stored == 0 => {
                    // No value here. A single cell shows this by itself; a set of cells has one element less.
                    if slot.elements.is_empty() {
                        marker.push(0);
                    }
                    continue;
                }
                Content::Plain if slot.elements.is_empty() => {
                    marker.push(stored + u64::from(!slot.may_be_undefined));
                    continue;
                }
                Content::Plain => {}
                Content::Membership if slot.elements.is_empty() => {
                    marker.push(stored);
                    continue;
                }
                Content::Membership => {
                    if stored == 0 {
                        continue;
                    }
                    value = 0;
                }
                Content::Element(elements) => {
                    let code = (stored - u64::from(slot.may_be_undefined)) as usize;
                    if let Some(element) = elements[code] {
                        occurrences.extend(&slot.elements);
                        occurrences.push(element);
                        let count = occurrences.len() as u32 - first;
                        tuples.push(Tuple { signature: slot.signature, value: u64::MAX, first, count });
                        if slot.elements.is_empty() {
                            marker.push(u64::MAX);
                        }
                        continue;
                    }
                    if slot.elements.is_empty() {
                        marker.push(stored);
                        continue;
                    }
                }
            }
            occurrences.extend(&slot.elements);
            tuples.push(Tuple { signature: slot.signature, value, first, count: slot.elements.len() as u32 });
        }
        let count = self.classes.len();
        ranks.clear();
        ranks.extend(self.classes.iter().map(|&class| u64::from(class)));
        paths.resize_with(count, Vec::new);
        for round in 0..=self.rounds {
            paths.iter_mut().for_each(Vec::clear);
            for tuple in tuples.iter() {
                let own = &occurrences[tuple.first as usize..(tuple.first + tuple.count) as usize];
                for (place, &element) in own.iter().enumerate() {
                    // An element at several positions has one path for all of them.
                    if own[..place].contains(&element) {
                        continue;
                    }
                    let mut places = 0;
                    let mut beside = 0_u64;
                    for (other_place, &other) in own.iter().enumerate() {
                        if other == element {
                            places |= 1 << other_place;
                        } else if round > 0 {
                            // Ranks are less than the number of elements, and positions keep their order.
                            beside = beside.wrapping_mul(count as u64 + 1).wrapping_add(ranks[other as usize] + 1);
                        }
                    }
                    paths[element as usize].push((tuple.signature, places, tuple.value, beside));
                }
            }
            paths.iter_mut().for_each(|own| own.sort_unstable());
            order.clear();
            order.extend(0..count as u32);
            let compare = |one: u32, other: u32| {
                (self.classes[one as usize], ranks[one as usize], &paths[one as usize]).cmp(&(
                    self.classes[other as usize],
                    ranks[other as usize],
                    &paths[other as usize],
                ))
            };
            order.sort_unstable_by(|&one, &other| compare(one, other));
            // The rank of an element is the number of lesser ones; equal elements have equal ranks.
            let mut next = vec![0_u64; count];
            for position in 0..count {
                let element = order[position] as usize;
                next[element] = match position.checked_sub(1).map(|before| order[before]) {
                    Some(before) if compare(before, element as u32).is_eq() => next[before as usize],
                    _ => position as u64,
                };
            }
            // The meaning of this round's ranks belongs to the marker.
            for &element in order.iter() {
                let own = &paths[element as usize];
                marker.push(ranks[element as usize]);
                marker.push(own.len() as u64);
                for &(signature, places, value, beside) in own {
                    marker.push(u64::from(signature) << 32 | u64::from(places));
                    marker.push(value);
                    if round > 0 {
                        marker.push(beside);
                    }
                }
            }
            *ranks = next;
        }
        // Tuples of one element are already determined by its paths.
        let mut used = 0;
        for tuple in tuples.iter().filter(|tuple| tuple.count > 1) {
            if rows.len() == used {
                rows.push(Vec::new());
            }
            let row = &mut rows[used];
            row.clear();
            row.push(u64::from(tuple.signature));
            row.push(tuple.value);
            let own = &occurrences[tuple.first as usize..(tuple.first + tuple.count) as usize];
            row.extend(own.iter().map(|&element| ranks[element as usize]));
            used += 1;
        }
        rows[..used].sort_unstable();
        for row in &rows[..used] {
            marker.extend_from_slice(row);
        }
    }
}

fn marked(layout: &Layout, slot: SlotId, signature: u32, elements: Vec<u32>, content: Content) -> MarkedSlot {
    let entry = &layout.slots[slot];
    let mask = match entry.width {
        0 => 0,
        64 => u64::MAX,
        width => (1 << width) - 1,
    };
    MarkedSlot {
        word: entry.bit as usize / 64,
        shift: entry.bit % 64,
        mask,
        may_be_undefined: entry.may_be_undefined,
        signature,
        elements,
        content,
    }
}
