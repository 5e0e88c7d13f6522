//! States as arrangements of members: permuting the members of a packed state, and the representative of a state under
//! the permutations of a partition.
//!
//! What a state says about one member, apart from which member it is, is its *block*: the contents of its own parts,
//! and which shared variables hold it. In a plain model, blocks describe members completely, and sorting them inside
//! each cell gives the representative (Wahl and Donaldson 2010, section 4.2). Otherwise members are distinguished
//! further by what they refer to and what refers to them, and if some remain tied, each is tried as the first (section
//! 4.3); the least image is the representative.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use quotient_ir::{Layout, SlotId};

use super::families::{Families, Held, Role};

/// Permutes the members of packed states.
#[derive(Clone, Debug)]
pub struct Arrangement {
    fields: Vec<Field>,
    roles: Vec<Role>,
    members: usize,
    plain: bool,
    /// For each member, its own parts that hold no member.
    own: Vec<Vec<OwnPart>>,
    /// Roles of variables that belong to no member and hold one.
    shared: Vec<usize>,
    /// Whether every block fits into one word.
    small: bool,
    /// Whether permuting members can change each slot.
    moved: Vec<bool>,
}

/// The location of a slot in a packed state.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    width: u32,
}

/// A part of a member: its role, shared by the family, and the member's own slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnPart {
    /// Equal for the same part of each member of the family.
    pub role: u32,
    /// The slot.
    pub slot: SlotId,
}

/// Members of a cell that can be exchanged without changing the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The members.
    pub members: Vec<usize>,
    /// Their block.
    pub block: u64,
}

/// Working memory for arranging.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    blocks: Vec<u64>,
    interned: FxHashMap<Box<[u64]>, u64>,
    order: Vec<(u64, usize)>,
    /// The image of each member.
    pub places: Vec<usize>,
    image: Vec<u64>,
}

impl Arrangement {
    /// The action of the families on packed states.
    pub fn new(families: &Families, layout: &Layout) -> Self {
        let fields = layout
            .slots
            .iter()
            .map(|slot| Field { word: slot.bit / 64, shift: slot.bit % 64, width: slot.width })
            .collect();
        let roles = families.roles().to_vec();
        let mut own = vec![Vec::new(); families.members()];
        let mut shared = Vec::new();
        for (number, role) in roles.iter().enumerate() {
            match (&role.axes[..], &role.held) {
                ([axis], None) => {
                    for (member, own) in own.iter_mut().enumerate().skip(axis.first).take(axis.size) {
                        let slot = quotient_ir::TableIndex::from_position(role.slot(&[member]));
                        own.push(OwnPart { role: number as u32, slot });
                    }
                }
                ([], Some(_)) => shared.push(number),
                _ => {}
            }
        }
        let mut moved = vec![false; layout.slots.len()];
        for role in &roles {
            role.for_each_slot(|slot, _| moved[slot] = true);
        }
        let mut arrangement = Self {
            moved,
            fields,
            roles,
            members: families.members(),
            plain: families.are_plain(),
            own,
            shared,
            small: false,
        };
        arrangement.small = (0..arrangement.members).all(|member| {
            let width = |part: &OwnPart| arrangement.field(part.slot).width;
            arrangement.own[member].iter().map(width).sum::<u32>() + arrangement.shared.len() as u32 <= 64
        });
        arrangement
    }

    fn field(&self, slot: SlotId) -> Field {
        self.fields[quotient_ir::TableIndex::position(slot)]
    }

    /// The number of members.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Whether blocks describe members completely.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// A member's own parts that hold no member.
    pub fn own(&self, member: usize) -> &[OwnPart] {
        &self.own[member]
    }

    /// The shared variables that can hold members: the slot, and the translation between stored codes and members.
    pub fn shared(&self) -> impl Iterator<Item = (SlotId, &Held)> {
        self.shared.iter().map(|&role| {
            let role = &self.roles[role];
            let slot = quotient_ir::TableIndex::from_position(role.base);
            (slot, role.held.as_ref().expect("shared roles hold members"))
        })
    }

    /// Whether permuting members can change a slot.
    pub fn is_moved(&self, slot: usize) -> bool {
        self.moved[slot]
    }

    /// The code that a slot holds.
    #[inline]
    pub fn code(&self, state: &[u64], slot: SlotId) -> u64 {
        read(self.field(slot), state)
    }

    /// The block of each member.
    pub fn blocks<'d>(&self, desk: &'d mut Desk, state: &[u64]) -> &'d [u64] {
        desk.blocks.clear();
        if self.small {
            for parts in &self.own {
                let mut block = 0u64;
                for part in parts {
                    let field = self.field(part.slot);
                    // A shift by a whole word occurs only for the first part.
                    block = block.checked_shl(field.width).unwrap_or(0) | read(field, state);
                }
                desk.blocks.push(block.checked_shl(self.shared.len() as u32).unwrap_or(0));
            }
            for (number, &role) in self.shared.iter().enumerate() {
                let role = &self.roles[role];
                let held = role.held.as_ref().expect("shared roles hold members");
                if let Some(member) = held.member(read(self.fields[role.base], state)) {
                    // Earlier holders come first in the order.
                    desk.blocks[member] |= 1 << (self.shared.len() - 1 - number);
                }
            }
            return &desk.blocks;
        }
        for (member, parts) in self.own.iter().enumerate() {
            let mut key: Vec<u64> = parts.iter().map(|part| read(self.field(part.slot), state)).collect();
            for &role in &self.shared {
                let role = &self.roles[role];
                let held = role.held.as_ref().expect("shared roles hold members");
                key.push(u64::from(held.member(read(self.fields[role.base], state)) == Some(member)));
            }
            let next = desk.interned.len() as u64;
            desk.blocks.push(*desk.interned.entry(key.into()).or_insert(next));
        }
        &desk.blocks
    }

    /// The state after each member has moved to its image.
    pub fn apply(&self, state: &[u64], place_of: &[usize], image: &mut Vec<u64>) {
        image.clear();
        image.extend_from_slice(state);
        for role in &self.roles {
            match (&role.axes[..], &role.held) {
                ([axis], held) => {
                    let places = &place_of[axis.first..axis.first + axis.size];
                    for (position, &place) in places.iter().enumerate() {
                        let from = self.fields[role.base + position * axis.stride];
                        let to = self.fields[role.base + (place - axis.first) * axis.stride];
                        let code = read(from, state);
                        write(to, held.as_ref().map_or(code, |held| held.image(code, place_of)), image);
                    }
                }
                (_, held) => {
                    let mut places = Vec::with_capacity(role.axes.len());
                    role.for_each_slot(|slot, members| {
                        places.clear();
                        places.extend(members.iter().map(|&member| place_of[member]));
                        let code = read(self.fields[slot], state);
                        let code = held.as_ref().map_or(code, |held| held.image(code, place_of));
                        write(self.fields[role.slot(&places)], code, image);
                    });
                }
            }
        }
    }

    /// Replaces a state by its representative under the permutations of cells, and leaves the image of each member in
    /// `desk.places`.
    pub fn canonicalize(&self, desk: &mut Desk, state: &mut Vec<u64>, cells: &[Vec<usize>]) {
        self.blocks(desk, state);
        desk.places.clear();
        desk.places.extend(0..self.members);
        if !self.plain {
            self.canonicalize_by_refinement(desk, state, cells);
            return;
        }
        let mut is_sorted = true;
        for cell in cells {
            if cell.windows(2).all(|pair| desk.blocks[pair[0]] <= desk.blocks[pair[1]]) {
                continue;
            }
            is_sorted = false;
            desk.order.clear();
            desk.order.extend(cell.iter().map(|&member| (desk.blocks[member], member)));
            desk.order.sort_unstable();
            for (&(_, member), &place) in desk.order.iter().zip(cell) {
                desk.places[member] = place;
            }
        }
        if !is_sorted {
            let mut image = std::mem::take(&mut desk.image);
            self.apply(state, &desk.places, &mut image);
            std::mem::swap(state, &mut image);
            desk.image = image;
        }
    }

    /// The kinds of members in each cell.
    pub fn kinds(&self, desk: &mut Desk, state: &[u64], cells: &[Vec<usize>]) -> Vec<Vec<Kind>> {
        self.blocks(desk, state);
        let mut kinds: Vec<Vec<Kind>> = Vec::with_capacity(cells.len());
        let mut number_of: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for cell in cells {
            let mut own: Vec<Kind> = Vec::new();
            number_of.clear();
            for &member in cell {
                let block = desk.blocks[member];
                let alike = if let Some(last) = own.last().filter(|last| self.plain && last.block == block) {
                    debug_assert!(!last.members.is_empty());
                    Some(own.len() - 1)
                } else {
                    let candidates = number_of.entry(block).or_default();
                    candidates
                        .iter()
                        .copied()
                        .find(|&kind| self.plain || self.are_alike(desk, state, own[kind].members[0], member))
                };
                match alike {
                    Some(kind) => own[kind].members.push(member),
                    None => {
                        number_of.entry(block).or_default().push(own.len());
                        own.push(Kind { members: vec![member], block });
                    }
                }
            }
            kinds.push(own);
        }
        kinds
    }

    /// Whether exchanging two members preserves a state. Blocks must be those of the state.
    pub fn are_alike(&self, desk: &mut Desk, state: &[u64], first: usize, second: usize) -> bool {
        if desk.blocks[first] != desk.blocks[second] {
            return false;
        }
        if self.plain {
            // Two members with the same block are held by no shared variable.
            return true;
        }
        let mut place_of: Vec<usize> = (0..self.members).collect();
        place_of.swap(first, second);
        let mut image = std::mem::take(&mut desk.image);
        self.apply(state, &place_of, &mut image);
        let alike = image == state;
        desk.image = image;
        alike
    }

    // ---- members that refer to members ----

    fn canonicalize_by_refinement(&self, desk: &mut Desk, state: &mut Vec<u64>, cells: &[Vec<usize>]) {
        let mut labels: Vec<(usize, u64, usize)> = Vec::with_capacity(self.members);
        for (number, cell) in cells.iter().enumerate() {
            labels.extend(cell.iter().map(|&member| (number, desk.blocks[member], member)));
        }
        labels.sort_unstable();
        let mut colours = vec![0usize; self.members];
        for at in 1..labels.len() {
            let (before, here) = (labels[at - 1], labels[at]);
            colours[here.2] = if (before.0, before.1) == (here.0, here.1) { colours[before.2] } else { at };
        }
        let mut best: Option<(Vec<u64>, Vec<usize>)> = None;
        self.descend(desk, state, cells, colours, &mut best);
        let (image, places) = best.expect("there is an order");
        *state = image;
        desk.places = places;
    }

    /// Tries all orders consistent with the colours, and keeps the least image.
    fn descend(
        &self,
        desk: &mut Desk,
        state: &[u64],
        cells: &[Vec<usize>],
        mut colours: Vec<usize>,
        best: &mut Option<(Vec<u64>, Vec<usize>)>,
    ) {
        self.refine(state, &mut colours);
        let mut sizes = vec![0usize; self.members];
        for &colour in &colours {
            sizes[colour] += 1;
        }
        let Some(colour) = sizes.iter().position(|&size| size > 1) else {
            // The colours of a cell form a range, in the order of the cells.
            let order: Vec<usize> = cells.iter().flatten().copied().collect();
            let places: Vec<usize> = colours.iter().map(|&colour| order[colour]).collect();
            let mut image = Vec::new();
            self.apply(state, &places, &mut image);
            if best.as_ref().is_none_or(|(least, _)| image < *least) {
                *best = Some((image, places));
            }
            return;
        };
        let tied: Vec<usize> = (0..self.members).filter(|&member| colours[member] == colour).collect();
        let mut tried: Vec<usize> = Vec::new();
        for &member in &tied {
            // Members whose exchange preserves the state lead to the same images.
            if tried.iter().any(|&other| self.are_alike(desk, state, other, member)) {
                continue;
            }
            tried.push(member);
            let mut individual = colours.clone();
            for &other in tied.iter().filter(|&&other| other != member) {
                individual[other] += 1;
            }
            self.descend(desk, state, cells, individual, best);
        }
    }

    /// Splits colours by what members refer to and what refers to them, until nothing changes. A colour is the number
    /// of members with a lesser one.
    fn refine(&self, state: &[u64], colours: &mut Vec<usize>) {
        let mut sums = vec![0u64; self.members];
        let mut order: Vec<usize> = (0..self.members).collect();
        loop {
            sums.fill(0);
            for (number, role) in self.roles.iter().enumerate() {
                if role.axes.len() + usize::from(role.held.is_some()) < 2 {
                    continue;
                }
                role.for_each_slot(|slot, members| {
                    let code = read(self.fields[slot], state);
                    let held = role.held.as_ref().and_then(|held| held.member(code));
                    let mut hasher = FxHasher::default();
                    number.hash(&mut hasher);
                    for &member in members {
                        colours[member].hash(&mut hasher);
                    }
                    match held {
                        Some(member) => (1u8, colours[member]).hash(&mut hasher),
                        None => (0u8, code).hash(&mut hasher),
                    }
                    // It also matters which of the positions hold the same member.
                    for &member in members {
                        members.iter().position(|&other| other == member).hash(&mut hasher);
                    }
                    held.map(|member| members.iter().position(|&other| other == member)).hash(&mut hasher);
                    let seen = spread(hasher.finish());
                    for (axis, &member) in members.iter().enumerate() {
                        sums[member] = sums[member].wrapping_add(spread(seen ^ (axis as u64 + 1)));
                    }
                    if let Some(member) = held {
                        sums[member] = sums[member].wrapping_add(spread(seen ^ 0xff));
                    }
                });
            }
            order.sort_by_key(|&member| (colours[member], sums[member]));
            let mut next = vec![0usize; self.members];
            for at in 1..order.len() {
                let (before, here) = (order[at - 1], order[at]);
                let same = (colours[before], sums[before]) == (colours[here], sums[here]);
                next[here] = if same { next[before] } else { at };
            }
            if next == *colours {
                return;
            }
            *colours = next;
        }
    }
}

fn spread(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[inline]
fn read(field: Field, state: &[u64]) -> u64 {
    match field.width {
        0 => 0,
        64 => state[field.word as usize],
        width => state[field.word as usize] >> field.shift & ((1 << width) - 1),
    }
}

#[inline]
fn write(field: Field, code: u64, state: &mut [u64]) {
    if field.width == 0 {
        return;
    }
    let mask = if field.width == 64 { u64::MAX } else { (1 << field.width) - 1 };
    let word = &mut state[field.word as usize];
    *word = *word & !(mask << field.shift) | code << field.shift;
}
