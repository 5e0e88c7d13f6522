//! Full symmetric groups on interchangeable values of a type, and the least image under one by
//! sorting.
//!
//! Exchanging values of a type exchanges the parts of arrays they index and the values themselves
//! where they are stored. What a state says of one value, apart from which value it is, is its *key*:
//! the contents of its own parts, and which shared variables hold it. If no value's part stores
//! another value of the type, values with equal keys cannot be told apart, and sorting by key gives
//! the least image (Wahl and Donaldson 2010, section 4.2). Otherwise the keys are refined by what the
//! referenced and the referring values look like, and where values stay tied, each of them is tried
//! as the next (section 4.3).

use std::cmp::Ordering;

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

use quotient_groups::{OrbitPartition, Point, SparsePermutation};
use quotient_ir::{Layout, Model, SlotId, TableIndex, TypeId, TypeKind};

use super::paths::slot_paths;
use crate::certify::CertifiedGroup;
use crate::literals::Literals;

/// A full symmetric group on some values of a type, acting on the codes of fields.
#[derive(Clone, Debug)]
pub(super) struct Interchange {
    name: String,
    /// How many values are interchangeable. They are called members and numbered from 0.
    size: usize,
    /// Fields that each member has one of: by role, then by member.
    own: Vec<Box<[u32]>>,
    /// Fields that each member has one of and that hold a member: by role.
    references: Vec<(Box<[u32]>, Members)>,
    /// Fields for each pair of members, by role, then first member, then second; with the members
    /// they hold, if they do.
    pairs: Vec<(Box<[u32]>, Option<Members>)>,
    /// Fields that belong to no member and hold one.
    shared: Vec<(u32, Members)>,
    /// The exchanges of each member with the next.
    exchanges: Vec<SparsePermutation>,
    /// Every field it touches.
    fields: FxHashSet<u32>,
}

/// The codes of a field that stand for members.
#[derive(Clone, Debug)]
struct Members {
    /// The member that a code stands for, if it does.
    member_of: Box<[u16]>,
    code_of: Box<[u64]>,
}

const NOBODY: u16 = u16::MAX;

/// What the slots of different members have in common: their path without the members, and their
/// distance from the start of the variable without what members add to it.
type Role = (Vec<(TypeId, i64)>, usize);

impl Members {
    fn member(&self, code: u64) -> Option<usize> {
        let member = *self.member_of.get(code as usize)?;
        (member != NOBODY).then_some(member as usize)
    }
    fn image(&self, code: u64, place_of: &[usize]) -> u64 {
        self.member(code).map_or(code, |member| self.code_of[place_of[member]])
    }
}

/// The memory of sorting.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorter {
    keys: Vec<u64>,
    order: Vec<usize>,
    place_of: Vec<usize>,
    image: Vec<u64>,
}

/// The interchanges of a group: as large as possible, with no field in common.
pub(super) fn find(
    model: &Model,
    layout: &Layout,
    group: &CertifiedGroup,
    field_of: &FxHashMap<SlotId, u32>,
) -> Vec<Interchange> {
    let paths = slot_paths(model, layout);
    let mut candidates: Vec<Interchange> = group
        .interchangeable()
        .iter()
        .filter_map(|class| {
            let exchanges = class.exchanges.clone();
            Interchange::new(model, layout, group.literals(), &paths, field_of, class.ty, &class.values, exchanges)
        })
        .collect();
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.size));
    let mut chosen: Vec<Interchange> = Vec::new();
    for candidate in candidates {
        if chosen.iter().all(|other| other.fields.is_disjoint(&candidate.fields)) {
            chosen.push(candidate);
        }
    }
    chosen
}

/// Whether a permutation of literals is a product of interchanges.
pub(super) fn contains(interchanges: &[Interchange], element: &SparsePermutation) -> bool {
    if element.is_identity() {
        return true;
    }
    let mut rest = element.clone();
    for interchange in interchanges {
        // Undo what it does to the members, one after the other.
        for member in (1..interchange.size).rev() {
            let Some(witness) = interchange.witness(member) else { return false };
            let image = rest.image(witness);
            let Some(place) = (0..=member).find(|&place| interchange.witness(place) == Some(image)) else {
                return false;
            };
            for step in place..member {
                rest = rest.then(&interchange.exchanges[step]);
            }
        }
    }
    rest.is_identity()
}

/// Something that all elements of a coset t·N have in common: the N-orbits of the images.
pub(super) fn coset_key(orbits: &mut OrbitPartition, element: &SparsePermutation) -> Vec<Point> {
    (0..orbits.degree() as Point).map(|point| orbits.find(element.image(point))).collect()
}

/// The orbits of the product of interchanges on literals.
pub(super) fn orbits(degree: usize, interchanges: &[Interchange]) -> OrbitPartition {
    let mut orbits = OrbitPartition::new(degree);
    for interchange in interchanges {
        for exchange in &interchange.exchanges {
            orbits.merge_cycles(exchange);
        }
    }
    orbits
}

/// Whether values of a type are values of another: the same, or a union that has it as a member.
fn holds(model: &Model, whole: TypeId, ty: TypeId) -> bool {
    whole == ty || matches!(&model.types[whole].kind, TypeKind::Union { members } if members.contains(&ty))
}

impl Interchange {
    #[allow(clippy::too_many_arguments)]
    fn new(
        model: &Model,
        layout: &Layout,
        literals: &Literals,
        paths: &[Vec<(TypeId, i64)>],
        field_of: &FxHashMap<SlotId, u32>,
        ty: TypeId,
        values: &[i64],
        exchanges: Vec<SparsePermutation>,
    ) -> Option<Self> {
        let size = values.len();
        let member_of_value: FxHashMap<i64, usize> =
            values.iter().enumerate().map(|(member, &value)| (value, member)).collect();
        let mut own: FxHashMap<Role, Vec<Option<u32>>> = FxHashMap::default();
        let mut pairs: FxHashMap<Role, Vec<Option<u32>>> = FxHashMap::default();
        let mut shared = Vec::new();
        let mut own_order = Vec::new();
        let mut pair_order = Vec::new();
        let mut fields = FxHashSet::default();
        for (slot, entry) in layout.slots.iter_enumerated() {
            let Some(&field) = field_of.get(&slot) else { continue };
            let touched = exchanges.iter().any(|exchange| {
                let own = &literals.slots()[slot];
                let points = if own.wide { 1 } else { own.values.len() };
                (own.first..own.first + points as Point).any(|point| exchange.moves_point(point))
            });
            if !touched {
                continue;
            }
            fields.insert(field);
            let path = &paths[slot.position()];
            let positions: Vec<usize> = path
                .iter()
                .enumerate()
                .filter(|&(_, &(index, value))| holds(model, index, ty) && member_of_value.contains_key(&value))
                .map(|(position, _)| position)
                .collect();
            // A role is a path with the members taken out, and a distance from the start of the
            // variable that does not depend on them.
            let mut role_path = path.clone();
            for &position in &positions {
                role_path[position] = (ty, i64::MIN);
            }
            let offset = role_offset(model, layout, entry.variable, slot, path, &positions);
            let members: Vec<usize> = positions.iter().map(|&position| member_of_value[&path[position].1]).collect();
            match members[..] {
                [] if holds(model, entry.ty, ty) => shared.push((field, members_of(layout, slot, values))),
                [member] => {
                    let key = (role_path, offset);
                    let role = own.entry(key.clone()).or_insert_with(|| {
                        own_order.push((key, holds(model, entry.ty, ty), slot));
                        vec![None; size]
                    });
                    role[member] = Some(field);
                }
                [first, second] => {
                    let key = (role_path, offset);
                    let role = pairs.entry(key.clone()).or_insert_with(|| {
                        pair_order.push((key, holds(model, entry.ty, ty), slot));
                        vec![None; size * size]
                    });
                    role[first * size + second] = Some(field);
                }
                _ => return None,
            }
        }
        let mut plain = Vec::new();
        let mut references = Vec::new();
        for (key, holds_member, slot) in own_order {
            let role: Box<[u32]> = own.remove(&key)?.into_iter().collect::<Option<Vec<u32>>>()?.into_boxed_slice();
            if holds_member {
                references.push((role, members_of(layout, slot, values)));
            } else {
                plain.push(role);
            }
        }
        let mut pair_roles = Vec::new();
        for (key, holds_member, slot) in pair_order {
            let mut role = pairs.remove(&key)?;
            // Pairs on the diagonal may be constant and then have no field.
            for member in 0..size {
                let diagonal = &mut role[member * size + member];
                if diagonal.is_none() {
                    *diagonal = Some(u32::MAX);
                }
            }
            let role: Box<[u32]> = role.into_iter().collect::<Option<Vec<u32>>>()?.into_boxed_slice();
            pair_roles.push((role, holds_member.then(|| members_of(layout, slot, values))));
        }
        let name = model.types[ty].name.clone().unwrap_or_else(|| "values".to_owned());
        Some(Self { name, size, own: plain, references, pairs: pair_roles, shared, exchanges, fields })
    }

    /// A literal that tells where a member goes: one that the exchange of members 0 and 1 moves and
    /// no other does, followed to the member.
    fn witness(&self, member: usize) -> Option<Point> {
        let (first, others) = self.exchanges.split_first()?;
        let is_alone = |point: &Point| others.iter().all(|exchange| !exchange.moves_point(*point));
        let start = first.support().iter().copied().find(is_alone)?;
        Some(self.exchanges[..member].iter().fold(start, |point, exchange| exchange.image(point)))
    }

    /// The number of permutations.
    pub(super) fn order(&self) -> BigUint {
        (1..=self.size).map(BigUint::from).product()
    }

    /// For people.
    pub(super) fn description(&self) -> String {
        let how = if self.references.is_empty() && self.pairs.is_empty() { "" } else { " and what they refer to" };
        format!("{} values of {}{how}", self.size, self.name)
    }

    /// Brings codes to their least image. Returns whether anything changed.
    pub(super) fn sort(&self, codes: &mut [u64], sorter: &mut Sorter) -> bool {
        if self.references.is_empty() && self.pairs.is_empty() {
            self.sort_by_key(codes, sorter)
        } else {
            self.least_by_refinement(codes, sorter).0
        }
    }

    /// Brings codes to their least image and counts the images.
    pub(super) fn orbit_size(&self, codes: &mut [u64], sorter: &mut Sorter) -> BigUint {
        let stabiliser: BigUint = if self.references.is_empty() && self.pairs.is_empty() {
            self.sort_by_key(codes, sorter);
            // After sorting, equal keys are adjacent.
            self.compute_keys(codes, sorter);
            let width = self.key_width();
            let key = |member: usize| &sorter.keys[member * width..(member + 1) * width];
            let mut product = BigUint::from(1u32);
            let mut run = 1u32;
            for member in 1..self.size {
                run = if key(member) == key(member - 1) { run + 1 } else { 1 };
                product *= run;
            }
            product
        } else {
            self.least_by_refinement(codes, sorter).1
        };
        self.order() / stabiliser
    }

    fn key_width(&self) -> usize {
        self.own.len() + self.shared.len().div_ceil(64)
    }

    /// The key of each member: its own codes, then a bit for each shared field that holds it. The
    /// bits are inverted so that earlier holders come first.
    fn compute_keys(&self, codes: &[u64], sorter: &mut Sorter) {
        let width = self.key_width();
        sorter.keys.clear();
        sorter.keys.resize(width * self.size, 0);
        for (role, fields) in self.own.iter().enumerate() {
            for (member, &field) in fields.iter().enumerate() {
                sorter.keys[member * width + role] = codes[field as usize];
            }
        }
        for (number, (field, members)) in self.shared.iter().enumerate() {
            if let Some(member) = members.member(codes[*field as usize]) {
                sorter.keys[member * width + self.own.len() + number / 64] |= 1 << (63 - number % 64);
            }
        }
    }

    fn sort_by_key(&self, codes: &mut [u64], sorter: &mut Sorter) -> bool {
        self.compute_keys(codes, sorter);
        let width = self.key_width();
        let Sorter { keys, order, .. } = sorter;
        order.clear();
        order.extend(0..self.size);
        let key = |member: usize| &keys[member * width..(member + 1) * width];
        if (1..self.size).all(|member| key(member - 1) <= key(member)) {
            return false;
        }
        order.sort_by(|&a, &b| key(a).cmp(key(b)));
        self.rearrange(codes, sorter);
        true
    }

    /// Puts the members in `sorter.order`: the first of it becomes member 0, and so on.
    fn rearrange(&self, codes: &mut [u64], sorter: &mut Sorter) {
        let Sorter { order, place_of, image, .. } = sorter;
        place_of.clear();
        place_of.resize(self.size, 0);
        for (place, &member) in order.iter().enumerate() {
            place_of[member] = place;
        }
        for fields in &self.own {
            image.clear();
            image.extend(order.iter().map(|&member| codes[fields[member] as usize]));
            for (&field, &code) in fields.iter().zip(image.iter()) {
                codes[field as usize] = code;
            }
        }
        for (fields, members) in &self.references {
            image.clear();
            image.extend(order.iter().map(|&member| members.image(codes[fields[member] as usize], place_of)));
            for (&field, &code) in fields.iter().zip(image.iter()) {
                codes[field as usize] = code;
            }
        }
        for (fields, members) in &self.pairs {
            image.clear();
            for &first in order.iter() {
                for &second in order.iter() {
                    let field = fields[first * self.size + second];
                    let code = if field == u32::MAX { 0 } else { codes[field as usize] };
                    image.push(members.as_ref().map_or(code, |members| members.image(code, place_of)));
                }
            }
            for (&field, &code) in fields.iter().zip(image.iter()) {
                if field != u32::MAX {
                    codes[field as usize] = code;
                }
            }
        }
        for (field, members) in &self.shared {
            let code = &mut codes[*field as usize];
            *code = members.image(*code, place_of);
        }
    }

    // ---- members that refer to members ----

    /// The least image by refinement and branching, whether that changed anything, and in how many
    /// ways it is reached.
    fn least_by_refinement(&self, codes: &mut [u64], sorter: &mut Sorter) -> (bool, BigUint) {
        self.compute_keys(codes, sorter);
        let width = self.key_width();
        let keys = &sorter.keys;
        let mut order: Vec<usize> = (0..self.size).collect();
        order.sort_by(|&a, &b| keys[a * width..(a + 1) * width].cmp(&keys[b * width..(b + 1) * width]));
        let mut colours = vec![0usize; self.size];
        for position in 1..self.size {
            let (a, b) = (order[position - 1], order[position]);
            let same = keys[a * width..(a + 1) * width] == keys[b * width..(b + 1) * width];
            colours[b] = if same { colours[a] } else { position };
        }
        let (best, count) = self.descend(codes, colours, &mut Sorter::default());
        let changed = *codes != best[..];
        codes.copy_from_slice(&best);
        (changed, count)
    }

    /// The least image over all orders that agree with the colours, and in how many ways it is
    /// reached.
    fn descend(&self, codes: &[u64], mut colours: Vec<usize>, sorter: &mut Sorter) -> (Vec<u64>, BigUint) {
        self.refine(codes, &mut colours);
        let mut sizes = vec![0usize; self.size];
        for &colour in &colours {
            sizes[colour] += 1;
        }
        // The first colour that several members share.
        let Some(colour) = sizes.iter().position(|&size| size > 1) else {
            let mut image = codes.to_vec();
            sorter.order.clear();
            sorter.order.resize(self.size, 0);
            for (member, &place) in colours.iter().enumerate() {
                sorter.order[place] = member;
            }
            self.rearrange(&mut image, sorter);
            return (image, BigUint::from(1u32));
        };
        let tied: Vec<usize> = (0..self.size).filter(|&member| colours[member] == colour).collect();
        let mut best: Option<(Vec<u64>, BigUint)> = None;
        let mut done = vec![false; tied.len()];
        for (position, &member) in tied.iter().enumerate() {
            if std::mem::replace(&mut done[position], true) {
                continue;
            }
            // Members whose exchange leaves the state as it is lead to the same images.
            let mut alike = 1u32;
            for (other_position, &other) in tied.iter().enumerate().skip(position + 1) {
                if !done[other_position] && self.exchange_is_idle(codes, member, other, sorter) {
                    done[other_position] = true;
                    alike += 1;
                }
            }
            let mut individual = colours.clone();
            for &other in tied.iter().filter(|&&other| other != member) {
                individual[other] += 1;
            }
            let (image, count) = self.descend(codes, individual, sorter);
            let count = count * alike;
            match best.as_mut().map(|(least, total)| (image.cmp(least), total)) {
                None | Some((Ordering::Less, _)) => best = Some((image, count)),
                Some((Ordering::Equal, total)) => *total += count,
                Some((Ordering::Greater, _)) => {}
            }
        }
        best.expect("several members share the colour")
    }

    /// Whether exchanging two members leaves the codes as they are.
    fn exchange_is_idle(&self, codes: &[u64], first: usize, second: usize, sorter: &mut Sorter) -> bool {
        sorter.order.clear();
        sorter.order.extend(0..self.size);
        sorter.order.swap(first, second);
        let mut image = codes.to_vec();
        self.rearrange(&mut image, sorter);
        image == codes
    }

    /// Splits colours by what members refer to and who refers to them, until nothing changes.
    /// A colour is the number of members with a lesser one.
    fn refine(&self, codes: &[u64], colours: &mut Vec<usize>) {
        loop {
            let distinct = colours.iter().collect::<FxHashSet<_>>().len();
            if distinct == self.size {
                return;
            }
            let signatures: Vec<(usize, Vec<u64>)> =
                (0..self.size).map(|member| (colours[member], self.signature(codes, colours, member))).collect();
            let mut order: Vec<usize> = (0..self.size).collect();
            order.sort_by(|&a, &b| signatures[a].cmp(&signatures[b]));
            let mut next = vec![0usize; self.size];
            for position in 1..self.size {
                let (a, b) = (order[position - 1], order[position]);
                next[b] = if signatures[a] == signatures[b] { next[a] } else { position };
            }
            let unchanged = next == *colours;
            *colours = next;
            if unchanged {
                return;
            }
        }
    }

    fn signature(&self, codes: &[u64], colours: &[usize], member: usize) -> Vec<u64> {
        // A reference as seen from outside: the colour of its target, or the code of something else.
        let seen = |members: &Members, code: u64, from: usize| match members.member(code) {
            Some(target) if target == from => 1,
            Some(target) => 2 + colours[target] as u64,
            None => (1 << 32) + code,
        };
        let mut signature = Vec::new();
        for (fields, members) in &self.references {
            signature.push(seen(members, codes[fields[member] as usize], member));
            let mut referring: Vec<u64> = (0..self.size)
                .filter(|&other| members.member(codes[fields[other] as usize]) == Some(member))
                .map(|other| colours[other] as u64)
                .collect();
            referring.sort_unstable();
            signature.push(referring.len() as u64);
            signature.extend(referring);
        }
        for (fields, members) in &self.pairs {
            for outwards in [true, false] {
                let mut row: Vec<(u64, u64)> = (0..self.size)
                    .map(|other| {
                        let field = if outwards {
                            fields[member * self.size + other]
                        } else {
                            fields[other * self.size + member]
                        };
                        let code = if field == u32::MAX { 0 } else { codes[field as usize] };
                        let code = members.as_ref().map_or(code, |members| seen(members, code, member));
                        let colour = if other == member { 0 } else { 1 + colours[other] as u64 };
                        (colour, code)
                    })
                    .collect();
                row.sort_unstable();
                signature.extend(row.into_iter().flat_map(|(colour, code)| [colour, code]));
            }
        }
        signature
    }
}

fn members_of(layout: &Layout, slot: SlotId, values: &[i64]) -> Members {
    let entry = &layout.slots[slot];
    let code_of: Vec<u64> =
        values.iter().map(|&value| entry.stored(Some(value)).expect("a value of the slot's type")).collect();
    let size = code_of.iter().copied().max().map_or(0, |code| code as usize + 1);
    let mut member_of = vec![NOBODY; size];
    for (member, &code) in code_of.iter().enumerate() {
        member_of[code as usize] = member as u16;
    }
    Members { member_of: member_of.into(), code_of: code_of.into() }
}

/// What distinguishes a slot from others on the same path: its distance from where it would be with
/// all members on its path replaced by the first value of their type.
fn role_offset(
    model: &Model,
    layout: &Layout,
    variable: quotient_ir::VariableId,
    slot: SlotId,
    path: &[(TypeId, i64)],
    positions: &[usize],
) -> usize {
    let first = layout.first_slot(variable).position();
    let mut offset = slot.position() - first;
    let mut ty = model.variables[variable].ty;
    // Follow the path to find the stride of each index.
    let mut level = 0;
    let mut rest = offset as u64;
    loop {
        match &model.types[ty].kind {
            quotient_ir::TypeKind::Array { index, element } => {
                let stride = model.cells(*element);
                let code = rest / stride;
                rest %= stride;
                if positions.contains(&level) {
                    offset -= (code * stride) as usize;
                }
                debug_assert_eq!(model.domain(*index).value_of(code), path[level].1);
                level += 1;
                ty = *element;
            }
            quotient_ir::TypeKind::Record { fields } => {
                let mut inside = None;
                for field in fields {
                    let cells = model.cells(field.ty);
                    if rest < cells {
                        inside = Some(field.ty);
                        break;
                    }
                    rest -= cells;
                }
                ty = inside.expect("the slot is inside its variable");
            }
            _ => return first + offset,
        }
    }
}
