//! Canonical labelling: representatives under products of symmetric groups, possibly nested (wreath products), however
//! the variables refer to the objects (`object` in the code) that the group permutes.
//!
//! A state is a set of points, and each point is a tuple of objects with a role: "variable `owner` holds node 3" is the
//! tuple (3), "`data[2]` is value 1" the tuple (2, 1). Objects are first ordered exactly by what is known about each of
//! them alone (`keys`), then by the tuples they share with others, by colour refinement with hashes (Weisfeiler and
//! Leman 1968). Kinds of objects whose tuples only say what they hold (`rows`), and not who holds them, are ordered
//! exactly as soon as what they hold has names. Objects that remain equal are individualised one after the other, as in McKay's nauty (1981, 2014); the
//! least image over the leaves of the search tree is the representative. Three techniques keep the tree small. Objects
//! that can be exchanged without changing the state need no branches. A leaf with a known image is an automorphism, and
//! objects that automorphisms map to each other need only one branch. A branch whose refinement is greater than that of
//! the best leaf is abandoned. A hash collision makes a partition coarser, but never the result wrong: hashes depend
//! only on the state up to symmetry, and equality is decided by the state.

use std::collections::BTreeMap;

use num_bigint::BigUint;

use quotient_groups::arrangement::{Arrangement, NodePosition};

use crate::cardinality::Cardinality;
use crate::keys::{ClassField, FEW, KeyPlan};
use crate::near::{Bits, NearPlan, NearScratch};
use crate::points::{Content, Field, NONE, View};
use crate::rows::{RowPlan, Rows};
use crate::stages::{KindParts, Stages};
use crate::twins::{TwinScratch, Twins};

/// The largest number of objects that a point may depend on.
const LONGEST_TUPLE: usize = 4;
/// The largest total number of entries of all tables of tuples.
const TABLE_LIMIT: usize = 1 << 20;
/// The largest total number of objects.
const THING_LIMIT: usize = 1 << 12;
/// The number of automorphisms that are remembered for one state.
const REMEMBERED: usize = 64;

/// Finds representatives by canonical labelling of the objects of a state.
#[derive(Clone, Debug)]
pub(crate) struct Labelling {
    kinds: Vec<Kind>,
    /// The kind of each object.
    kind_of: Vec<u16>,
    /// The parent of each object, or itself if it has none.
    parent_of: Vec<u16>,
    has_parents: bool,
    /// Whether rows contain all that keys do not.
    only_rows: bool,
    /// How states without tuples are sorted by keys alone.
    sortable: Option<Sortable>,
    /// A shorter way for states in which keys decide the order of what is held.
    stages: Option<Stages>,
    /// Which successors are alike, if that is worth asking.
    twins: Option<Twins>,
    /// The fields that keys do not cover.
    fields: Vec<TupleField>,
    roles: Vec<Role>,
    order: Cardinality,
    description: String,
}

/// The objects of one level of a nesting. They are numbered consecutively.
#[derive(Clone, Debug)]
struct Kind {
    first: usize,
    count: usize,
    /// The number of objects with the same parent.
    siblings: usize,
    /// The kind of the parents.
    parent: Option<usize>,
    has_children: bool,
    /// What is known about each object alone.
    plan: Option<KeyPlan>,
    /// What each object holds, if no tuple says more about it.
    rows: Option<RowPlan>,
}

/// Sorting states without tuples.
#[derive(Clone, Debug)]
struct Sortable {
    /// For each kind, how successors are sorted.
    kinds: Vec<Option<NearPlan>>,
    /// The bits of all fields with tuples.
    tuple_bits: Bits,
}

/// A field whose points are tuples.
#[derive(Clone, Debug)]
struct TupleField {
    field: Field,
    tuples: Tuples,
    /// A code that says nothing: the same in every field of an orbit. Its tuples need not be listed.
    blank: Option<u64>,
    /// Whether the codes without a tuple are in the key of an object.
    is_classed: bool,
}

#[derive(Clone, Debug)]
enum Tuples {
    /// One tuple, with the code attached.
    Carrying(Tuple),
    /// For each code a tuple, or none if the group does not affect it.
    ByCode(Box<[Option<Tuple>]>),
}

/// A tuple of objects with a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tuple {
    role: u16,
    length: u16,
    things: [u16; LONGEST_TUPLE],
}

impl Tuple {
    #[inline]
    fn things(&self) -> &[u16] {
        &self.things[..self.length as usize]
    }
}

/// The meaning of the tuples of one orbit.
#[derive(Clone, Debug)]
struct Role {
    /// For each component, the first object of its kind, and the stride of an object in the table.
    strides: Vec<(usize, usize)>,
    /// For each tuple, the field and the code. A field with an attached code has no code here.
    targets: Box<[(u32, u64)]>,
    /// The initial hash value of each component.
    salts: [u64; LONGEST_TUPLE],
}

impl Role {
    #[inline]
    fn target(&self, things: impl Iterator<Item = u16>) -> (u32, u64) {
        let index: usize =
            self.strides.iter().zip(things).map(|(&(first, stride), thing)| (thing as usize - first) * stride).sum();
        self.targets[index]
    }
}

/// A tuple present in a state.
#[derive(Clone, Copy, Debug)]
struct Present {
    tuple: Tuple,
    code: u64,
    field: u32,
}

/// An ordered partition of the objects: those of a cell are adjacent, and a colour is the start of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cells {
    order: Vec<u16>,
    colour: Vec<u16>,
    /// The number of objects that share a cell with others.
    undecided: usize,
}

/// A leaf of the search tree.
#[derive(Clone, Debug, Default)]
struct Leaf {
    /// The new name of each object.
    names: Vec<u16>,
    /// What the state becomes: the codes of the fields and, where objects have parents, the ranks of objects.
    image: Vec<u64>,
    /// The trace of the refinement along the path.
    path: Vec<u64>,
}

/// Working memory for labelling.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabellingScratch {
    /// The keys of the objects of all kinds whose keys are narrow, and those of wide ones.
    narrow: Vec<u64>,
    wide: Vec<u128>,
    narrow_ordered: Vec<u64>,
    wide_ordered: Vec<u128>,
    /// One bit for each kind with objects that have equal keys.
    ties: u64,
    rows: Vec<u128>,
    near: NearScratch,
    twins: TwinScratch,
    /// For each kind, the keys of the state before, and whether they are in order.
    nears: Vec<(NearScratch, bool)>,
    /// Whether the tuples were read.
    is_read: bool,
    /// The fields, objects and tuples looked at so far.
    pub(crate) work: u64,
    codes: Vec<u64>,
    /// The codes of the fields without their tuples.
    blanks: Vec<u64>,
    present: Vec<Present>,
    /// For each object, the number of tuples it is in, and a sum over their roles and codes.
    occurrences: Vec<(u32, u64)>,
    /// The tuples with objects that are not alone in their cells.
    open_tuples: Vec<Present>,
    hashes: Vec<u64>,
    cells: Cells,
    /// Partitions of the open nodes of the search tree, and lists for other nodes.
    open: Vec<Cells>,
    lists: Vec<Vec<u16>>,
    names: Vec<u16>,
    leaf: Leaf,
    best: Leaf,
    path: Vec<u64>,
    individualised: Vec<u16>,
    automorphisms: Vec<Vec<u16>>,
    /// For each parent how many of its children have names.
    taken: Vec<u16>,
}

/// The goal of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// The least leaf.
    Least,
    /// A leaf with the image of the best one.
    Equal,
}

#[inline]
fn mixed(hash: u64, value: u64) -> u64 {
    let product = (hash ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    product ^ product >> 32
}

impl Labelling {
    /// The labelling for a view whose group is an arrangement; `None` if a point is not determined by a few objects.
    pub(crate) fn new(view: &View, arrangement: &Arrangement, order: &BigUint) -> Option<Self> {
        let tuples = arrangement.tuples(&view.action, LONGEST_TUPLE)?;
        let mut kinds: Vec<Kind> = Vec::new();
        // For each nesting, the number of its first kind.
        let mut first_kind = Vec::new();
        let mut things = 0;
        for nesting in &arrangement.nestings {
            first_kind.push(kinds.len());
            for (level, &siblings) in nesting.arities.iter().enumerate() {
                let count = nesting.node_count(level);
                let parent = (level > 0).then(|| kinds.len() - 1);
                let has_children = level + 1 < nesting.arities.len();
                kinds.push(Kind { first: things, count, siblings, parent, has_children, plan: None, rows: None });
                things += count;
            }
        }
        if things > THING_LIMIT {
            return None;
        }
        let kind_number = |place: &NodePosition| first_kind[place.nesting] + place.level;
        let thing = |place: &NodePosition| (kinds[kind_number(place)].first + place.node) as u16;
        let is_keyed: Vec<bool> = (0..view.fields.len()).map(|field| is_keyed(view, field, &tuples)).collect();
        let mut plans = Vec::new();
        for (number, kind) in kinds.iter().enumerate() {
            let place = |point: u32| match &tuples[point as usize][..] {
                [only] if kind_number(only) == number && is_keyed[view.field_of(point)] => Some(only.node),
                _ => None,
            };
            let orbit = |point: u32| arrangement.orbits[point as usize];
            plans.push(KeyPlan::new(view, kind.count, place, orbit, true)?);
        }
        // Of a field that belongs to an object and may hold others, the key tells whether it does.
        let mut is_classed = vec![false; view.fields.len()];
        for (number, plan) in plans.iter_mut().enumerate() {
            for fields in classed_fields(view, &tuples, arrangement, &is_keyed, kinds[number].count, |place| {
                (kind_number(place) == number).then_some(place.node)
            }) {
                let entries = fields.iter().map(|&field| class_field(view, &tuples, arrangement, field)).collect();
                if plan.add_classes(entries) {
                    fields.iter().for_each(|&field| is_classed[field] = true);
                }
            }
        }
        // Keys that are too wide are replaced by hashes.
        let is_wide = |number: usize| plans[number].width > 128;
        let mut fields = Vec::new();
        let mut roles: Vec<Option<Role>> = vec![None; arrangement.orbits.iter().max().map_or(0, |&last| last + 1)];
        let mut entries = 0;
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut is_listed = vec![false; view.fields.len()];
        for (number, field) in view.fields.iter().enumerate() {
            let content = &view.contents[number];
            let of_key = content.points().next().filter(|_| is_keyed[number]);
            if of_key.is_some_and(|point| !is_wide(kind_number(&tuples[point as usize][0]))) {
                continue;
            }
            let mut tuple_of = |point: u32, code: u64| -> Option<Tuple> {
                let nodes = &tuples[point as usize];
                let role = arrangement.orbits[point as usize];
                let entry = &mut roles[role];
                if entry.is_none() {
                    let mut strides = Vec::new();
                    let mut size = 1usize;
                    for place in nodes {
                        let kind = &kinds[kind_number(place)];
                        strides.push((kind.first, size));
                        size = size.checked_mul(kind.count).filter(|&size| size <= TABLE_LIMIT)?;
                    }
                    entries += size;
                    let salts = std::array::from_fn(|_| {
                        random = mixed(random, 0x9e37_79b9);
                        random
                    });
                    *entry = Some(Role { strides, targets: vec![(u32::MAX, 0); size].into(), salts });
                }
                let entry = entry.as_mut()?;
                let mut tuple = Tuple { role: role as u16, length: nodes.len() as u16, things: [0; LONGEST_TUPLE] };
                let mut index = 0;
                for (component, place) in nodes.iter().enumerate() {
                    tuple.things[component] = thing(place);
                    index += place.node * entry.strides[component].1;
                }
                entry.targets[index] = (fields.len() as u32, code);
                Some(tuple)
            };
            let tuples = match content {
                Content::Plain(point) => Tuples::Carrying(tuple_of(*point, 0)?),
                Content::Lettered(points) => {
                    let mut list = Vec::new();
                    for (code, &point) in points.iter().enumerate() {
                        let is_in_key = point != NONE && is_classed[number] && tuples[point as usize].len() == 1;
                        list.push(if point == NONE || is_in_key { None } else { Some(tuple_of(point, code as u64)?) });
                    }
                    Tuples::ByCode(list.into())
                }
            };
            let blank = if is_classed[number] { None } else { blank_code(&tuples, field) };
            fields.push(TupleField { field: field.clone(), tuples, blank, is_classed: is_classed[number] });
            is_listed[number] = true;
        }
        if entries > TABLE_LIMIT || roles.len() > usize::from(u16::MAX) {
            return None;
        }
        for (number, plan) in plans.into_iter().enumerate() {
            if plan.width <= 128 {
                kinds[number].plan = Some(plan);
            }
        }
        let mut kind_of = vec![0; things];
        let mut parent_of: Vec<u16> = (0..things as u16).collect();
        for (number, kind) in kinds.iter().enumerate() {
            for node in 0..kind.count {
                kind_of[kind.first + node] = number as u16;
                if let Some(parent) = kind.parent {
                    parent_of[kind.first + node] = (kinds[parent].first + node / kind.siblings) as u16;
                }
            }
        }
        let counts: Vec<usize> = kinds.iter().map(|kind| kind.count).collect();
        let rows = Rows { view, tuples: &tuples, orbits: &arrangement.orbits, counts: &counts, kind: kind_number };
        if kinds.len() <= 64 {
            for (number, plan) in rows.find(&is_listed) {
                // Nested objects cannot be exchanged freely.
                if kinds[number].parent.is_none() && !kinds[number].has_children {
                    kinds[number].rows = Some(plan);
                }
            }
        }
        let in_rows: usize = kinds.iter().filter_map(|kind| kind.rows.as_ref()).map(RowPlan::field_count).sum();
        let is_flat = kinds.iter().all(|kind| kind.parent.is_none() && !kind.has_children);
        let stages = if is_flat && in_rows == fields.len() {
            let parts: Vec<KindParts<'_>> = kinds
                .iter()
                .map(|kind| KindParts { count: kind.count, plan: kind.plan.as_ref(), rows: kind.rows.as_ref() })
                .collect();
            Stages::new(view, &tuples, &arrangement.orbits, &parts, kind_number)
        } else {
            None
        };
        let twins = match is_flat {
            true => Twins::new(view, &kind_of, |point| {
                let object = |place: &NodePosition| (kinds[kind_number(place)].first + place.node) as u16;
                let objects = tuples[point as usize].iter().map(object).collect();
                (arrangement.orbits[point as usize], objects)
            }),
            false => None,
        };
        let mut sortable = None;
        if stages.is_none()
            && is_flat
            && kinds.iter().all(|kind| kind.count <= FEW && kind.plan.is_some())
            && fields.iter().any(|field| field.is_classed || field.blank.is_some())
        {
            let mut tuple_bits = Bits::default();
            fields.iter().for_each(|TupleField { field, .. }| {
                tuple_bits.add(field.word as usize, field.mask << field.shift);
            });
            let near = |kind: &Kind| kind.plan.as_ref().and_then(NearPlan::new);
            sortable = Some(Sortable { kinds: kinds.iter().map(near).collect(), tuple_bits });
        }
        let no_role = || Role { strides: Vec::new(), targets: Box::default(), salts: [0; LONGEST_TUPLE] };
        let description = describe(arrangement);
        Some(Self {
            has_parents: kinds.iter().any(|kind| kind.parent.is_some()),
            sortable,
            only_rows: in_rows == fields.len(),
            stages,
            twins,
            kinds,
            kind_of,
            parent_of,
            fields,
            roles: roles.into_iter().map(|role| role.unwrap_or_else(no_role)).collect(),
            order: order.clone().into(),
            description,
        })
    }

    /// A description for reports.
    pub(crate) fn describe(&self) -> &str {
        &self.description
    }

    /// Replaces states by their representatives. `before` is a representative that they differ little from.
    pub(crate) fn canonicalize_all<'s>(
        &self,
        before: Option<&[u64]>,
        states: impl Iterator<Item = &'s mut [u64]>,
        scratch: &mut LabellingScratch,
    ) {
        if let Some((sortable, before)) = self.sortable.as_ref().zip(before)
            && self.has_no_tuples(before)
        {
            return self.sort_all(sortable, before, states, scratch);
        }
        let stages = self.stages.as_ref();
        let begun = stages.zip(before).filter(|(stages, before)| stages.begin(before, &mut scratch.near));
        for state in states {
            if !begun.is_some_and(|(stages, before)| stages.canonicalize_near(before, state, &mut scratch.near)) {
                self.canonicalize(state, scratch);
            }
        }
    }

    /// Replaces a state by its representative. It differs little from `before`, or else from states that came before it.
    pub(crate) fn canonicalize_near(
        &self,
        view: &View,
        before: Option<&[u64]>,
        state: &mut [u64],
        scratch: &mut LabellingScratch,
    ) {
        let Some(twins) = &self.twins else { return self.canonicalize(state, scratch) };
        let mut known = std::mem::take(&mut scratch.twins);
        twins.canonicalize(view, before, state, &mut known, |state| self.canonicalize(state, scratch));
        scratch.twins = known;
    }

    /// Whether successors may be alike by twins.
    pub(crate) fn has_twins(&self) -> bool {
        self.twins.is_some()
    }

    /// The same for states that differ little from a representative without tuples.
    fn sort_all<'s>(
        &self,
        sortable: &Sortable,
        before: &[u64],
        states: impl Iterator<Item = &'s mut [u64]>,
        scratch: &mut LabellingScratch,
    ) {
        let plans = || self.kinds.iter().map(|kind| kind.plan.as_ref()).zip(&sortable.kinds);
        let mut nears = std::mem::take(&mut scratch.nears);
        nears.resize_with(self.kinds.len(), Default::default);
        for ((plan, near), (read, is_begun)) in plans().zip(&mut nears) {
            *is_begun = plan.zip(near.as_ref()).is_some_and(|(plan, near)| near.begin(plan, before, read));
        }
        for state in states {
            if sortable.tuple_bits.differ(before, state) && !self.has_no_tuples(state) {
                self.canonicalize(state, scratch);
                continue;
            }
            for ((plan, near), (read, is_begun)) in plans().zip(&mut nears) {
                let Some(plan) = plan else { continue };
                let near = near.as_ref().filter(|_| *is_begun);
                if !near.is_some_and(|near| near.sort(plan, before, state, read)) {
                    plan.sort_few(state);
                }
            }
        }
        scratch.nears = nears;
    }

    /// Whether the fields of a state have no tuples.
    #[inline]
    fn has_no_tuples(&self, state: &[u64]) -> bool {
        self.fields.iter().all(|field| field.tuple(field.field.read(state)).is_none())
    }

    /// Replaces a state by its representative.
    #[inline]
    pub(crate) fn canonicalize(&self, state: &mut [u64], scratch: &mut LabellingScratch) {
        if let Some(stages) = &self.stages
            && stages.canonicalize(state)
        {
            scratch.work += 2 * self.kind_of.len() as u64;
            return;
        }
        scratch.is_read = false;
        scratch.work += 3 * self.kind_of.len() as u64;
        if self.sortable.is_some() {
            self.read(state, scratch);
            if scratch.present.is_empty() {
                // Keys tell everything.
                for plan in self.kinds.iter().filter_map(|kind| kind.plan.as_ref()) {
                    plan.sort_few(state);
                }
                return;
            }
        }
        let mut cells = std::mem::take(&mut scratch.cells);
        self.order_by_keys(state, &mut cells, scratch);
        self.order_by_rows(state, &mut cells, scratch, None);
        // What has equal keys is equal altogether, as a rule.
        if cells.undecided > 0 {
            if !scratch.is_read {
                self.read(state, scratch);
            }
            self.settle_twins(&mut cells, scratch, None);
            if cells.undecided > 0 {
                self.refine(&mut cells, scratch, None);
                self.settle_twins(&mut cells, scratch, None);
            }
        }
        if cells.undecided == 0 {
            self.name(&cells, scratch);
        } else {
            self.begin_search(scratch);
            self.search(&cells, 0, Goal::Least, scratch);
            std::mem::swap(&mut scratch.names, &mut scratch.best.names);
        }
        scratch.cells = cells;
        self.write(state, scratch);
    }

    /// The number of elements of the group that fix a state.
    pub(crate) fn stabiliser_order(&self, state: &[u64], scratch: &mut LabellingScratch) -> Cardinality {
        if let Some(order) = self.stages.as_ref().and_then(|stages| stages.stabiliser_order(state)) {
            return order;
        }
        let mut cells = std::mem::take(&mut scratch.cells);
        self.order_by_keys(state, &mut cells, scratch);
        let mut order = Cardinality::ONE;
        self.order_by_rows(state, &mut cells, scratch, Some(&mut order));
        if cells.undecided > 0 {
            self.read(state, scratch);
            self.settle_twins(&mut cells, scratch, Some(&mut order));
            if cells.undecided > 0 {
                self.refine(&mut cells, scratch, None);
                self.settle_twins(&mut cells, scratch, Some(&mut order));
            }
        }
        if cells.undecided > 0 {
            self.begin_search(scratch);
            self.count(&cells, scratch, &mut order);
        }
        scratch.cells = cells;
        order
    }

    pub(crate) fn order(&self) -> &Cardinality {
        &self.order
    }

    /// Reads the tuples of a state.
    #[inline]
    fn read(&self, state: &[u64], scratch: &mut LabellingScratch) {
        scratch.is_read = true;
        scratch.work += 2 * self.fields.len() as u64;
        let LabellingScratch { codes, blanks, present, occurrences, .. } = scratch;
        codes.clear();
        blanks.clear();
        present.clear();
        occurrences.clear();
        occurrences.resize(self.kind_of.len(), (0, 0));
        for (number, field) in self.fields.iter().enumerate() {
            let code = field.field.read(state);
            codes.push(code);
            // What is in keys is in the order of the cells already.
            let mut rest = if field.is_classed { u64::MAX } else { code };
            if let Some(tuple) = field.tuple(code) {
                let code = if matches!(field.tuples, Tuples::Carrying(_)) { code } else { 0 };
                present.push(Present { tuple: *tuple, code, field: number as u32 });
                let role = &self.roles[tuple.role as usize];
                for (&thing, salt) in tuple.things().iter().zip(role.salts) {
                    let (count, sum) = &mut occurrences[thing as usize];
                    *count += 1;
                    *sum = sum.wrapping_add(mixed(salt, code));
                }
                rest = field.blank.unwrap_or(rest);
            }
            blanks.push(rest);
        }
    }

    /// Orders the objects of each kind by their keys.
    #[inline]
    fn order_by_keys(&self, state: &[u64], cells: &mut Cells, scratch: &mut LabellingScratch) {
        cells.order.clear();
        cells.order.extend(0..self.kind_of.len() as u16);
        cells.colour.clear();
        cells.colour.resize(self.kind_of.len(), 0);
        cells.undecided = 0;
        let LabellingScratch { narrow, wide, ties, .. } = scratch;
        narrow.resize(self.kind_of.len(), 0);
        *ties = 0;
        for (number, kind) in self.kinds.iter().enumerate() {
            let before = cells.undecided;
            let range = kind.first..kind.first + kind.count;
            match &kind.plan {
                Some(plan) if plan.width > 64 => {
                    wide.resize(self.kind_of.len(), 0);
                    plan.load(state, &mut wide[range.clone()]);
                    cells.split(range, |thing| wide[thing as usize]);
                }
                Some(plan) if plan.width > 0 => {
                    plan.load(state, &mut narrow[range.clone()]);
                    cells.split(range, |thing| narrow[thing as usize]);
                }
                _ => cells.fill(range),
            }
            if cells.undecided > before && number < 64 {
                *ties |= 1 << number;
            }
        }
    }

    /// Orders objects with equal keys by what they hold, if that has names already, and settles those that are equal:
    /// nothing distinguishes them.
    #[inline]
    fn order_by_rows(
        &self,
        state: &[u64],
        cells: &mut Cells,
        scratch: &mut LabellingScratch,
        mut orders: Option<&mut Cardinality>,
    ) {
        let ties = scratch.ties;
        for (number, kind) in self.kinds.iter().enumerate() {
            let Some(plan) = kind.rows.as_ref().filter(|plan| ties >> number & 1 == 1 && ties & plan.held == 0) else {
                continue;
            };
            let rows = &mut scratch.rows;
            rows.resize(self.kind_of.len(), 0);
            let mut start = kind.first;
            while start < kind.first + kind.count {
                let end = cells.end_of(start);
                if end - start > 1 {
                    for &thing in &cells.order[start..end] {
                        let node = thing as usize - kind.first;
                        rows[thing as usize] = plan.row(node, state, |held, node| {
                            let first = self.kinds[held].first;
                            u64::from(cells.colour[first + node]) - first as u64
                        });
                    }
                    cells.settle(start..end, |thing| rows[thing as usize], orders.as_deref_mut());
                }
                start = end;
            }
        }
    }

    /// Reads the rows of all objects, with the new names of what they hold.
    fn read_rows(&self, state: &[u64], scratch: &mut LabellingScratch) {
        let LabellingScratch { rows, names, .. } = scratch;
        rows.resize(self.kind_of.len(), 0);
        for kind in &self.kinds {
            let Some(plan) = &kind.rows else { continue };
            for node in 0..kind.count {
                rows[kind.first + node] = plan.row(node, state, |held, node| {
                    let first = self.kinds[held].first;
                    u64::from(names[first + node]) - first as u64
                });
            }
        }
    }

    /// Splits cells by the tuples that objects are in, until nothing changes. What is seen goes into `seen`, if that is
    /// asked for; it is the same for states that a symmetry takes to each other.
    fn refine(&self, cells: &mut Cells, scratch: &mut LabellingScratch, mut seen: Option<&mut u64>) {
        if self.fields.is_empty() && !self.has_parents {
            return;
        }
        let LabellingScratch { present, hashes, open_tuples, work, .. } = scratch;
        let things = self.kind_of.len();
        let is_open = |cells: &Cells, tuple: &Tuple| tuple.things().iter().any(|&thing| !cells.is_single(thing));
        open_tuples.clear();
        open_tuples.extend(present.iter().filter(|present| is_open(cells, &present.tuple)));
        loop {
            if cells.undecided == 0 {
                return;
            }
            *work += (3 * open_tuples.len() + 2 * things) as u64;
            hashes.clear();
            hashes.resize(things, 0);
            for Present { tuple, code, .. } in open_tuples.iter() {
                let role = &self.roles[tuple.role as usize];
                match tuple.things() {
                    [only] => {
                        let hash = &mut hashes[*only as usize];
                        *hash = hash.wrapping_add(mixed(role.salts[0], *code));
                    }
                    [first, second] => {
                        let (first, second) = (*first as usize, *second as usize);
                        let one = mixed(mixed(role.salts[0], *code), u64::from(cells.colour[second]));
                        let other = mixed(mixed(role.salts[1], *code), u64::from(cells.colour[first]));
                        hashes[first] = hashes[first].wrapping_add(one);
                        hashes[second] = hashes[second].wrapping_add(other);
                    }
                    several => {
                        for (component, &thing) in several.iter().enumerate() {
                            let mut hash = mixed(role.salts[component], *code);
                            for &other in several {
                                hash = mixed(hash, u64::from(cells.colour[other as usize]));
                            }
                            let sum = &mut hashes[thing as usize];
                            *sum = sum.wrapping_add(hash);
                        }
                    }
                }
            }
            if self.has_parents {
                for (thing, &parent) in self.parent_of.iter().enumerate() {
                    if parent as usize == thing {
                        continue;
                    }
                    let up = mixed(0x5851_f42d_4c95_7f2d, u64::from(cells.colour[parent as usize]));
                    let down = mixed(0x1405_7b7e_f767_814f, u64::from(cells.colour[thing]));
                    hashes[thing] = hashes[thing].wrapping_add(up);
                    hashes[parent as usize] = hashes[parent as usize].wrapping_add(down);
                }
            }
            let before = cells.undecided;
            let mut has_split = false;
            let mut start = 0;
            while start < things {
                let end = cells.end_of(start);
                if end - start > 1 {
                    if let Some(seen) = &mut seen {
                        for &thing in &cells.order[start..end] {
                            **seen = seen.wrapping_add(mixed(start as u64 + 1, hashes[thing as usize]));
                        }
                    }
                    has_split |= cells.split_again(start..end, |thing| hashes[thing as usize]);
                }
                start = end;
            }
            if let Some(seen) = &mut seen {
                **seen = mixed(**seen, before as u64);
            }
            if !has_split {
                return;
            }
        }
    }

    /// Whether exchanging just these two objects preserves the state. The objects have equal keys.
    fn are_twins(&self, first: u16, second: u16, scratch: &LabellingScratch) -> bool {
        if self.kinds[self.kind_of[first as usize] as usize].has_children
            || self.parent_of[first as usize] != self.parent_of[second as usize]
                && self.kinds[self.kind_of[first as usize] as usize].parent.is_some()
        {
            return false;
        }
        match (scratch.occurrences[first as usize], scratch.occurrences[second as usize]) {
            ((0, _), (0, _)) => return true,
            (one, other) if one != other => return false,
            _ => {}
        }
        let exchanged = |thing: u16| match thing {
            _ if thing == first => second,
            _ if thing == second => first,
            other => other,
        };
        scratch.present.iter().all(|Present { tuple, code, .. }| {
            let things = tuple.things();
            if !things.contains(&first) && !things.contains(&second) {
                return true;
            }
            let role = &self.roles[tuple.role as usize];
            let (field, own) = role.target(things.iter().map(|&thing| exchanged(thing)));
            let expected = match self.fields[field as usize].tuples {
                Tuples::Carrying(_) => *code,
                Tuples::ByCode(_) => own,
            };
            scratch.codes[field as usize] == expected
        })
    }

    /// Takes cells apart whose objects can be exchanged freely: any order will do. The number of orders is
    /// multiplied to the count, if that is asked for.
    fn settle_twins(&self, cells: &mut Cells, scratch: &LabellingScratch, mut orders: Option<&mut Cardinality>) {
        let mut start = 0;
        while start < cells.order.len() {
            let end = cells.end_of(start);
            if end - start > 1 {
                let are_twins =
                    (start + 1..end).all(|next| self.are_twins(cells.order[start], cells.order[next], scratch));
                if are_twins {
                    for position in start..end {
                        cells.colour[cells.order[position] as usize] = position as u16;
                        if let Some(orders) = &mut orders {
                            orders.multiply(Cardinality::Small((position - start + 1) as u64));
                        }
                    }
                    cells.undecided -= end - start;
                }
            }
            start = end;
        }
    }

    /// The new name of each object of a discrete partition.
    #[inline]
    fn name(&self, cells: &Cells, scratch: &mut LabellingScratch) {
        let LabellingScratch { names, taken, .. } = scratch;
        names.resize(self.kind_of.len(), 0);
        for (position, &thing) in cells.order.iter().enumerate() {
            names[thing as usize] = position as u16;
        }
        if !self.has_parents {
            return;
        }
        for kind in &self.kinds {
            let Some(parent) = kind.parent else { continue };
            // In the order of the cells, each object takes the next place below its parent.
            let parents = &self.kinds[parent];
            taken.clear();
            taken.resize(parents.count, 0u16);
            for &thing in &cells.order[kind.first..kind.first + kind.count] {
                let parent = names[self.parent_of[thing as usize] as usize] as usize - parents.first;
                names[thing as usize] = (kind.first + parent * kind.siblings) as u16 + taken[parent];
                taken[parent] += 1;
            }
        }
    }

    fn begin_search(&self, scratch: &mut LabellingScratch) {
        scratch.best.names.clear();
        scratch.best.path.clear();
        scratch.path.clear();
        scratch.individualised.clear();
        scratch.automorphisms.clear();
    }

    /// Searches the tree below a node whose partition is refined and has no cells of twins. Returns whether a leaf that
    /// satisfies the goal was found; for the least leaf this is irrelevant.
    fn search(&self, cells: &Cells, depth: usize, goal: Goal, scratch: &mut LabellingScratch) -> bool {
        if cells.undecided == 0 {
            return self.visit_leaf(cells, goal, scratch);
        }
        let (start, end) = self.branching_cell(cells);
        let mut tried = scratch.lists.pop().unwrap_or_default();
        tried.clear();
        let mut is_found = false;
        for position in start..end {
            let thing = cells.order[position];
            if self.is_covered(thing, &tried, cells, depth, scratch) {
                continue;
            }
            tried.push(thing);
            if self.branch(cells, (start, end), thing, depth, goal, scratch) && goal == Goal::Equal {
                is_found = true;
                break;
            }
        }
        scratch.lists.push(tried);
        is_found
    }

    /// Individualises an object and searches below, unless refinement shows that nothing new can be found.
    fn branch(
        &self,
        cells: &Cells,
        (start, end): (usize, usize),
        thing: u16,
        depth: usize,
        goal: Goal,
        scratch: &mut LabellingScratch,
    ) -> bool {
        let mut below = scratch.open.pop().unwrap_or_default();
        below.clone_from(cells);
        below.individualise(start, end, thing);
        let mut seen = 0;
        self.refine(&mut below, scratch, Some(&mut seen));
        self.settle_twins(&mut below, scratch, None);
        scratch.path.truncate(depth);
        scratch.path.push(seen);
        let known = &scratch.best.path;
        let is_worth_it = scratch.best.names.is_empty()
            || match goal {
                Goal::Least => scratch.path[..] <= known[..known.len().min(depth + 1)],
                Goal::Equal => known.get(..=depth) == Some(&scratch.path[..]),
            };
        let mut is_found = false;
        if is_worth_it {
            scratch.individualised.truncate(depth);
            scratch.individualised.push(thing);
            is_found = self.search(&below, depth + 1, goal, scratch);
        }
        scratch.open.push(below);
        is_found
    }

    /// Whether a branch is redundant: an automorphism that fixes all individualised objects maps a tried object to this
    /// one.
    fn is_covered(&self, thing: u16, tried: &[u16], cells: &Cells, depth: usize, scratch: &LabellingScratch) -> bool {
        if tried.is_empty() {
            return false;
        }
        if tried.iter().any(|&other| self.are_twins(other, thing, scratch)) {
            return true;
        }
        let fixed = &scratch.individualised[..depth];
        let usable = || {
            let fixes = |automorphism: &&Vec<u16>| fixed.iter().all(|&thing| automorphism[thing as usize] == thing);
            scratch.automorphisms.iter().filter(fixes)
        };
        if usable().next().is_none() {
            return false;
        }
        // The orbit of the object under these.
        if cells.order.len() <= 64 {
            let mut reached = 1u64 << thing;
            let mut pending = reached;
            while pending != 0 {
                let next = pending.trailing_zeros() as usize;
                pending &= pending - 1;
                for automorphism in usable() {
                    let image = 1u64 << automorphism[next] & !reached;
                    reached |= image;
                    pending |= image;
                }
            }
            return tried.iter().any(|&other| reached >> other & 1 == 1);
        }
        let mut reached = vec![false; cells.order.len()];
        let mut list = vec![thing];
        reached[thing as usize] = true;
        let mut next = 0;
        while next < list.len() {
            for automorphism in usable() {
                let image = automorphism[list[next] as usize];
                if !std::mem::replace(&mut reached[image as usize], true) {
                    list.push(image);
                }
            }
            next += 1;
        }
        tried.iter().any(|&other| reached[other as usize])
    }

    /// The cell to branch on: the first of those with the fewest objects, upper levels first, since their order decides
    /// that of the lower ones.
    fn branching_cell(&self, cells: &Cells) -> (usize, usize) {
        let mut best: Option<(bool, usize, usize)> = None;
        let mut start = 0;
        while start < cells.order.len() {
            let end = cells.end_of(start);
            if end - start > 1 {
                let is_lower = !self.kinds[self.kind_of[start] as usize].has_children;
                let candidate = (is_lower, end - start, start);
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
            start = end;
        }
        let (_, size, start) = best.expect("there are things to decide");
        (start, start + size)
    }

    fn visit_leaf(&self, cells: &Cells, goal: Goal, scratch: &mut LabellingScratch) -> bool {
        scratch.work += (3 * scratch.present.len() + cells.order.len()) as u64;
        self.name(cells, scratch);
        let mut leaf = std::mem::take(&mut scratch.leaf);
        leaf.names.clone_from(&scratch.names);
        leaf.image.clone_from(&scratch.blanks);
        self.place_tuples(scratch, |field, code| leaf.image[field as usize] = code);
        if self.has_parents {
            // Keys depend on the rank of a object, and with parents the rank is not the name.
            let first = leaf.image.len();
            leaf.image.resize(first + leaf.names.len(), 0);
            for (rank, &thing) in cells.order.iter().enumerate() {
                leaf.image[first + leaf.names[thing as usize] as usize] = rank as u64;
            }
        }
        leaf.path.clone_from(&scratch.path);
        let is_first = scratch.best.names.is_empty();
        let is_equal = !is_first && leaf.image == scratch.best.image;
        if is_equal && scratch.automorphisms.len() < REMEMBERED {
            // The object that one leaf gives a name goes to the one that the other gives it; and back, so that
            // orbits can be followed from any of their objects.
            let mut thing_of = vec![0u16; leaf.names.len()];
            for (thing, &name) in leaf.names.iter().enumerate() {
                thing_of[name as usize] = thing as u16;
            }
            let forward: Vec<u16> = scratch.best.names.iter().map(|&name| thing_of[name as usize]).collect();
            let mut back = vec![0; forward.len()];
            for (thing, &image) in forward.iter().enumerate() {
                back[image as usize] = thing as u16;
            }
            scratch.automorphisms.extend([forward, back]);
        }
        if is_first || goal == Goal::Least && (&leaf.path, &leaf.image) < (&scratch.best.path, &scratch.best.image) {
            std::mem::swap(&mut scratch.best, &mut leaf);
        }
        scratch.leaf = leaf;
        is_equal
    }

    /// Passes the image of each tuple of the state, field and code, to a callback.
    #[inline]
    fn place_tuples(&self, scratch: &LabellingScratch, mut place: impl FnMut(u32, u64)) {
        for Present { tuple, code, .. } in &scratch.present {
            let role = &self.roles[tuple.role as usize];
            let (field, own) = role.target(tuple.things().iter().map(|&thing| scratch.names[thing as usize]));
            place(field, if matches!(self.fields[field as usize].tuples, Tuples::Carrying(_)) { *code } else { own });
        }
    }

    /// Multiplies `order` by the number of automorphisms below a node: along the first path, the orbit of each object
    /// that is individualised under those that fix the objects before it.
    fn count(&self, cells: &Cells, scratch: &mut LabellingScratch, order: &mut Cardinality) {
        // The first path, with the partition of each node.
        let mut nodes: Vec<(Cells, (usize, usize))> = Vec::new();
        let mut current = cells.clone();
        while current.undecided > 0 {
            let (start, end) = self.branching_cell(&current);
            let thing = current.order[start];
            nodes.push((current.clone(), (start, end)));
            current.individualise(start, end, thing);
            let mut seen = 0;
            self.refine(&mut current, scratch, Some(&mut seen));
            self.settle_twins(&mut current, scratch, Some(order));
            scratch.path.push(seen);
            scratch.individualised.push(thing);
        }
        self.visit_leaf(&current, Goal::Least, scratch);
        let first_path = scratch.individualised.clone();
        let path = scratch.path.clone();
        for (depth, (cells, (start, end))) in nodes.iter().enumerate().rev() {
            let first = cells.order[*start];
            let mut orbit = 1;
            // Objects known to be outside the orbit; neither are those that automorphisms map to one of them.
            let mut outside: Vec<u16> = Vec::new();
            for position in start + 1..*end {
                let thing = cells.order[position];
                scratch.path.clear();
                scratch.path.extend_from_slice(&path[..depth]);
                scratch.individualised.clear();
                scratch.individualised.extend_from_slice(&first_path[..depth]);
                if self.is_covered(thing, &[first], cells, depth, scratch) {
                    orbit += 1;
                } else if self.is_covered(thing, &outside, cells, depth, scratch) {
                    continue;
                } else if self.branch(cells, (*start, *end), thing, depth, Goal::Equal, scratch) {
                    orbit += 1;
                } else {
                    outside.push(thing);
                }
            }
            order.multiply(Cardinality::Small(orbit));
        }
    }

    /// Writes the state with its objects under their new names.
    #[inline]
    fn write(&self, state: &mut [u64], scratch: &mut LabellingScratch) {
        if scratch.names.iter().enumerate().all(|(thing, &name)| name as usize == thing) {
            return;
        }
        let by_rows = self.only_rows && !scratch.is_read;
        if by_rows {
            self.read_rows(state, scratch);
        } else if !scratch.is_read {
            self.read(state, scratch);
        }
        let LabellingScratch { narrow, wide, narrow_ordered, wide_ordered, names, .. } = scratch;
        for kind in &self.kinds {
            let range = kind.first..kind.first + kind.count;
            let names = &names[range.clone()];
            if names.iter().enumerate().all(|(thing, &name)| name as usize == kind.first + thing) {
                continue;
            }
            match &kind.plan {
                Some(plan) if plan.width > 64 => {
                    wide_ordered.resize(kind.count, 0);
                    for (&key, &name) in wide[range].iter().zip(names) {
                        wide_ordered[name as usize - kind.first] = key;
                    }
                    plan.store(wide_ordered, state);
                }
                Some(plan) if plan.width > 0 => {
                    narrow_ordered.resize(kind.count, 0);
                    for (&key, &name) in narrow[range].iter().zip(names) {
                        narrow_ordered[name as usize - kind.first] = key;
                    }
                    plan.store(narrow_ordered, state);
                }
                _ => {}
            }
        }
        if by_rows {
            for kind in &self.kinds {
                let Some(plan) = &kind.rows else { continue };
                for thing in kind.first..kind.first + kind.count {
                    plan.store(scratch.names[thing] as usize - kind.first, scratch.rows[thing], state);
                }
            }
        } else {
            for present in &scratch.present {
                let field = &self.fields[present.field as usize];
                if let Some(blank) = field.blank {
                    field.field.write(state, blank);
                }
            }
            self.place_tuples(scratch, |field, code| self.fields[field as usize].field.write(state, code));
        }
    }
}

impl TupleField {
    /// The tuple of a code, unless it says nothing.
    #[inline]
    fn tuple(&self, code: u64) -> Option<&Tuple> {
        if self.blank == Some(code) {
            return None;
        }
        match &self.tuples {
            Tuples::Carrying(tuple) => Some(tuple),
            Tuples::ByCode(list) => list.get(code as usize)?.as_ref(),
        }
    }
}

/// A code that corresponds to one code of every other field of the orbit.
fn blank_code(tuples: &Tuples, field: &Field) -> Option<u64> {
    let Tuples::ByCode(list) = tuples else { return field.is_direct().then_some(0) };
    let role = |tuple: &Option<Tuple>| tuple.map(|tuple| tuple.role);
    let is_alone = |code: usize| list.iter().filter(|other| role(other) == role(&list[code])).count() == 1;
    let alone = (0..list.len()).filter(|&code| list[code].is_some() && is_alone(code));
    alone.min_by_key(|&code| role(&list[code])).map(|code| code as u64)
}

impl Cells {
    /// The end of the cell that begins at a position.
    #[inline]
    fn end_of(&self, start: usize) -> usize {
        let mut end = start + 1;
        while end < self.order.len() && self.colour[self.order[end] as usize] as usize == start {
            end += 1;
        }
        end
    }

    /// Whether an object is alone in its cell.
    #[inline]
    fn is_single(&self, thing: u16) -> bool {
        let start = self.colour[thing as usize];
        self.order.get(start as usize + 1).is_none_or(|&next| self.colour[next as usize] != start)
    }

    /// Makes a range a single cell.
    #[inline]
    fn fill(&mut self, range: std::ops::Range<usize>) {
        if range.len() > 1 {
            self.undecided += range.len();
        }
        for position in range.clone() {
            self.colour[self.order[position] as usize] = range.start as u16;
        }
    }

    /// Orders a range by keys; equal keys share a cell.
    #[inline]
    fn split<K: Ord + Copy>(&mut self, range: std::ops::Range<usize>, key: impl Fn(u16) -> K) {
        let things = &mut self.order[range.clone()];
        if !things.is_sorted_by_key(|&thing| key(thing)) {
            things.sort_by_key(|&thing| key(thing));
        }
        let mut start = range.start;
        for position in range.clone() {
            if position > start && key(self.order[position]) != key(self.order[start]) {
                start = position;
            }
            let colour = &mut self.colour[self.order[position] as usize];
            *colour = start as u16;
            if position > start {
                self.undecided += 1 + usize::from(position == start + 1);
            }
        }
    }

    /// Splits a cell by keys. Returns whether it was split.
    #[inline]
    fn split_again(&mut self, range: std::ops::Range<usize>, key: impl Fn(u16) -> u64) -> bool {
        let first = key(self.order[range.start]);
        if self.order[range.clone()].iter().all(|&thing| key(thing) == first) {
            return false;
        }
        self.undecided -= range.len();
        self.split(range, key);
        true
    }

    /// Orders a cell by keys. Objects with equal keys are in no order that matters; the number of their orders is
    /// multiplied to the count, if that is asked for.
    #[inline]
    fn settle<K: Ord + Copy>(
        &mut self,
        range: std::ops::Range<usize>,
        key: impl Fn(u16) -> K,
        mut orders: Option<&mut Cardinality>,
    ) {
        let things = &mut self.order[range.clone()];
        if !things.is_sorted_by_key(|&thing| key(thing)) {
            things.sort_by_key(|&thing| key(thing));
        }
        let mut equal = 1;
        for position in range.clone() {
            let thing = self.order[position];
            self.colour[thing as usize] = position as u16;
            if let Some(orders) = &mut orders {
                equal =
                    if position > range.start && key(self.order[position - 1]) == key(thing) { equal + 1 } else { 1 };
                orders.multiply(Cardinality::Small(equal));
            }
        }
        self.undecided -= range.len();
    }

    /// Puts one object of a cell first, in its own cell.
    fn individualise(&mut self, start: usize, end: usize, thing: u16) {
        let position =
            start + self.order[start..end].iter().position(|&other| other == thing).expect("a thing of the cell");
        self.order[start..=position].rotate_right(1);
        for &other in &self.order[start + 1..end] {
            self.colour[other as usize] = start as u16 + 1;
        }
        self.undecided -= if end - start == 2 { 2 } else { 1 };
    }
}

/// Whether keys describe a field completely: each of its points belongs to one object and, if the field moves, all to
/// the same one.
fn is_keyed(view: &View, field: usize, tuples: &[Vec<NodePosition>]) -> bool {
    let mut things = view.contents[field].points().map(|point| match &tuples[point as usize][..] {
        [only] => Some(*only),
        _ => None,
    });
    let Some(Some(first)) = things.next() else { return false };
    let is_same_kind = |place: &NodePosition| (place.nesting, place.level) == (first.nesting, first.level);
    if matches!(view.contents[field], Content::Lettered(_)) && view.is_fixed(field) {
        things.all(|place| place.as_ref().is_some_and(is_same_kind))
    } else {
        things.all(|place| place == Some(first))
    }
}

/// The fields, one for each object of a kind, of which some values only concern the object and others concern further
/// objects.
fn classed_fields(
    view: &View,
    tuples: &[Vec<NodePosition>],
    arrangement: &Arrangement,
    is_keyed: &[bool],
    count: usize,
    node: impl Fn(&NodePosition) -> Option<usize>,
) -> Vec<Vec<usize>> {
    let mut by_orbits: BTreeMap<Vec<usize>, Vec<(usize, usize)>> = BTreeMap::new();
    for field in (0..view.fields.len()).filter(|&field| !is_keyed[field]) {
        let Content::Lettered(codes) = &view.contents[field] else { continue };
        let points = || codes.iter().copied().filter(|&point| point != NONE);
        // A value that concerns one object only tells which.
        let Some([owner]) = points().map(|point| &tuples[point as usize][..]).find(|tuple| tuple.len() == 1) else {
            continue;
        };
        let Some(owner_node) = node(owner) else { continue };
        if view.is_fixed(field) || !points().all(|point| tuples[point as usize].contains(owner)) {
            continue;
        }
        by_orbits.entry(orbits_of(view, arrangement, field)).or_default().push((owner_node, field));
    }
    let mut found = Vec::new();
    for mut fields in by_orbits.into_values() {
        fields.sort_unstable();
        if fields.len() == count && fields.iter().enumerate().all(|(node, &(owner, _))| owner == node) {
            found.push(fields.into_iter().map(|(_, field)| field).collect());
        }
    }
    found
}

/// The orbits of the points of a field.
fn orbits_of(view: &View, arrangement: &Arrangement, field: usize) -> Vec<usize> {
    let mut orbits: Vec<usize> =
        view.contents[field].points().map(|point| arrangement.orbits[point as usize]).collect();
    orbits.sort_unstable();
    orbits.dedup();
    orbits
}

/// The classes of the codes of a field: their orbits. A class of values that concern a single object has one code.
fn class_field(view: &View, tuples: &[Vec<NodePosition>], arrangement: &Arrangement, field: usize) -> ClassField {
    let orbits = orbits_of(view, arrangement, field);
    let mut class_of = Vec::new();
    let mut code_of = vec![None; orbits.len()];
    if let Content::Lettered(codes) = &view.contents[field] {
        for (code, &point) in codes.iter().enumerate() {
            let class = match point {
                NONE => 0,
                _ => orbits.binary_search(&arrangement.orbits[point as usize]).expect("an orbit of the field"),
            };
            class_of.push(class as u64);
            if point != NONE && tuples[point as usize].len() == 1 {
                code_of[class] = Some(code as u64);
            }
        }
    }
    ClassField { field: view.fields[field].clone(), class_of: class_of.into(), code_of: code_of.into() }
}

fn describe(arrangement: &Arrangement) -> String {
    let text = |arities: &[usize]| arities.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
    let kinds: Vec<String> = arrangement.nestings.iter().map(|nesting| text(&nesting.arities)).collect();
    format!("canonical labelling of {} interchangeable parts by colour refinement", kinds.join(" and "))
}
