//! Elements of a group as maps of codes, and the least image over all elements of a small group.
//!
//! A code of the image comes from one field of the original through one table. Elements that agree on the first fields
//! share the work for them: the elements form a tree, and only those subtrees are visited in which all codes so far are
//! least.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use quotient_groups::SparsePermutation;

use crate::points::{Content, NONE, View};

/// An element acting on the codes of the fields: the source of each field's code, and the table it goes through.
#[derive(Clone, Debug)]
pub(crate) struct CodeMap {
    sources: Vec<u32>,
    codes: Vec<Option<Box<[u64]>>>,
}

impl CodeMap {
    /// The map of a permutation of points.
    pub(crate) fn new(view: &View, permutation: &SparsePermutation) -> Self {
        let mut sources: Vec<u32> = (0..view.fields.len() as u32).collect();
        let mut codes: Vec<Option<Box<[u64]>>> = vec![None; view.fields.len()];
        for (field, content) in view.contents.iter().enumerate() {
            let Some(first) = content.points().next() else { continue };
            let target = view.field_of(permutation.image(first));
            sources[target] = field as u32;
            if let Content::Lettered(points) = content {
                let image = |(code, &point): (usize, &u32)| {
                    if point == NONE { code as u64 } else { view.origins[permutation.image(point) as usize].1 }
                };
                let table: Box<[u64]> = points.iter().enumerate().map(image).collect();
                if table.iter().enumerate().any(|(code, &image)| code as u64 != image) {
                    codes[target] = Some(table);
                }
            }
        }
        Self { sources, codes }
    }

    #[inline]
    fn code(&self, field: usize, original: &[u64]) -> u64 {
        self.image(field, original[self.sources[field] as usize])
    }

    /// The code of a field of the image that comes from a code of its source.
    #[inline]
    fn image(&self, field: usize, code: u64) -> u64 {
        match &self.codes[field] {
            None => code,
            Some(table) => table.get(code as usize).copied().unwrap_or(code),
        }
    }

    #[inline]
    pub(crate) fn apply(&self, original: &[u64], image: &mut Vec<u64>) {
        image.clear();
        image.extend((0..original.len()).map(|field| self.code(field, original)));
    }
}

/// All elements of a small group.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    elements: Vec<CodeMap>,
    /// The fields in the order in which they are compared.
    order: Vec<u32>,
    nodes: Vec<Node>,
    tables: Vec<Box<[u64]>>,
}

/// Elements that agree in all fields so far.
#[derive(Clone, Debug)]
enum Node {
    /// A single element remains.
    Element(u32),
    /// The branches for the next field, in the list of consecutive nodes: the source of the code, the table it goes
    /// through, and the node.
    Branches(Box<[(u32, u32, u32)]>),
}

/// No table: the code is unchanged.
const SAME: u32 = u32::MAX;

/// Working memory for comparisons.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListingScratch {
    frontier: Vec<u32>,
    next: Vec<u32>,
    best: Vec<u64>,
    /// The codes compared so far.
    pub(crate) work: u64,
}

impl Listing {
    /// The listing of all elements of a group, including the identity.
    pub(crate) fn new(view: &View, permutations: &[SparsePermutation]) -> Self {
        let elements: Vec<CodeMap> = permutations.iter().map(|element| CodeMap::new(view, element)).collect();
        let fields = view.fields.len();
        // The fields on which elements differ most come first.
        let mut variety: Vec<(usize, u32)> = (0..fields)
            .map(|field| {
                let mut sources: Vec<u32> = elements.iter().map(|element| element.sources[field]).collect();
                sources.sort_unstable();
                sources.dedup();
                (sources.len(), field as u32)
            })
            .collect();
        variety.sort_by_key(|&(count, field)| (std::cmp::Reverse(count), field));
        let order: Vec<u32> = variety.into_iter().map(|(_, field)| field).collect();
        let mut listing = Self { elements, order, nodes: Vec::new(), tables: Vec::new() };
        let mut names: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
        let all: Vec<u32> = (0..listing.elements.len() as u32).collect();
        listing.grow(all, 0, &mut names);
        listing
    }

    /// Makes the node of elements that agree on the fields before `depth`. The recursion is as deep as there are fields
    /// that distinguish elements.
    fn grow(&mut self, elements: Vec<u32>, depth: usize, names: &mut FxHashMap<Box<[u64]>, u32>) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node::Element(elements[0]));
        if elements.len() == 1 || depth == self.order.len() {
            return node;
        }
        let field = self.order[depth] as usize;
        let mut groups: Vec<(u32, u32, Vec<u32>)> = Vec::new();
        let mut group_of: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for &number in &elements {
            let element = &self.elements[number as usize];
            let table = match &element.codes[field] {
                None => SAME,
                Some(table) => *names.entry(table.clone()).or_insert_with(|| {
                    self.tables.push(table.clone());
                    self.tables.len() as u32 - 1
                }),
            };
            let key = (element.sources[field], table);
            let group = *group_of.entry(key).or_insert_with(|| {
                groups.push((key.0, key.1, Vec::new()));
                groups.len() - 1
            });
            groups[group].2.push(number);
        }
        let branches: Vec<(u32, u32, u32)> = groups
            .into_iter()
            .map(|(source, table, members)| (source, table, self.grow(members, depth + 1, names)))
            .collect();
        self.nodes[node as usize] = Node::Branches(branches.into());
        node
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    #[inline]
    fn code(&self, original: &[u64], source: u32, table: u32) -> u64 {
        let code = original[source as usize];
        if table == SAME { code } else { self.tables[table as usize].get(code as usize).copied().unwrap_or(code) }
    }

    /// Whether codes are their own least image. For most that are not, the first fields show it, so this costs a
    /// fraction of finding the image.
    pub(crate) fn is_least(&self, original: &[u64], scratch: &mut ListingScratch) -> bool {
        let ListingScratch { frontier, next, .. } = scratch;
        frontier.clear();
        frontier.push(0);
        for &field in &self.order {
            let own = original[field as usize];
            next.clear();
            for &node in frontier.iter() {
                match &self.nodes[node as usize] {
                    Node::Element(element) => {
                        match self.elements[*element as usize].code(field as usize, original).cmp(&own) {
                            Ordering::Less => return false,
                            Ordering::Equal => next.push(node),
                            Ordering::Greater => {}
                        }
                    }
                    Node::Branches(branches) => {
                        for &(source, table, child) in branches {
                            match self.code(original, source, table).cmp(&own) {
                                Ordering::Less => return false,
                                Ordering::Equal => next.push(child),
                                Ordering::Greater => {}
                            }
                        }
                    }
                }
            }
            std::mem::swap(frontier, next);
        }
        true
    }

    /// The only element besides the identity, if there are two.
    fn other_of_two(&self) -> Option<&CodeMap> {
        match &self.elements[..] {
            [_, other] => Some(other),
            _ => None,
        }
    }

    /// Replaces a state by its least image, if there are two elements: as a rule, the first fields decide.
    #[inline]
    pub(crate) fn take_least_of_two(
        &self,
        view: &View,
        state: &mut [u64],
        codes: &mut Vec<u64>,
        image: &mut Vec<u64>,
    ) -> bool {
        let Some(other) = self.other_of_two() else { return false };
        for &field in &self.order {
            let own = view.fields[field as usize].read(state);
            let source = view.fields[other.sources[field as usize] as usize].read(state);
            match other.image(field as usize, source).cmp(&own) {
                Ordering::Equal => {}
                Ordering::Greater => return true,
                Ordering::Less => {
                    view.read(state, codes);
                    other.apply(codes, image);
                    view.write(image, state);
                    return true;
                }
            }
        }
        true
    }

    /// Replaces codes by their least image; returns the number of elements that lead to it.
    pub(crate) fn least(&self, original: &mut [u64], scratch: &mut ListingScratch) -> usize {
        let ListingScratch { frontier, next, best, work } = scratch;
        best.clear();
        best.resize(original.len(), 0);
        frontier.clear();
        frontier.push(0);
        for &field in &self.order {
            let mut least = u64::MAX;
            next.clear();
            let mut keep = |code: u64, node: u32| {
                *work += 1;
                if code < least {
                    least = code;
                    next.clear();
                }
                if code == least {
                    next.push(node);
                }
            };
            for &node in frontier.iter() {
                match &self.nodes[node as usize] {
                    Node::Element(element) => {
                        keep(self.elements[*element as usize].code(field as usize, original), node);
                    }
                    Node::Branches(branches) => {
                        for &(source, table, child) in branches {
                            keep(self.code(original, source, table), child);
                        }
                    }
                }
            }
            best[field as usize] = least;
            std::mem::swap(frontier, next);
        }
        original.copy_from_slice(best);
        frontier.len()
    }
}
