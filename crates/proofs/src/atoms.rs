//! The conditions that learned clauses consist of, and how symmetries permute them.
//!
//! An atom says that a slot has a certain value. A state is given by the atoms that are false in it, so a set of states
//! is excluded by a disjunction of atoms that are true outside of it: a clause without negations, `a in {1, 2} | b in
//! {0}`. Since symmetries permute slots and values, the image of such a clause is one, too; for clauses of bits that is
//! not so. A slot with many values has atoms for its bits instead (a bit is 0, a bit is 1); symmetries that permute the
//! values of such a slot are not used.

use quotient_ir::TableIndex;
use quotient_symmetry::{CertifiedGroup, StateMap};
use rustc_hash::FxHashSet;

use crate::formula::Bit;
use crate::system::System;
use quotient_booleans::{Full, Logic};

/// The largest number of values that have an atom each.
const MOST_VALUES: usize = 64;

/// An atom, by number.
pub(crate) type Atom = u32;

/// A disjunction of atoms, in increasing order.
pub(crate) type Clause = Vec<Atom>;

/// The atoms of a model.
pub(crate) struct Atoms {
    slots: Vec<SlotAtoms>,
    /// The function of each atom, and what it is about.
    atoms: Vec<(Bit, About)>,
}

/// The atoms of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SlotAtoms {
    first: Atom,
    count: u32,
    /// Whether there is one for each value.
    by_value: bool,
}

/// What an atom says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// That a slot has the value at a position.
    Value { slot: u32, position: usize },
    /// That a bit of a slot has a value.
    Bit { slot: u32, bit: usize, value: bool },
}

impl Atoms {
    /// The atoms of a model, whose functions are added to its formula.
    pub(crate) fn new(system: &mut System) -> Result<Self, Full> {
        let mut slots = Vec::with_capacity(system.slots);
        let mut atoms: Vec<(Bit, About)> = Vec::new();
        for slot in 0..system.slots as u32 {
            let first = atoms.len() as Atom;
            let bits = system.bits[slot as usize].clone();
            let count = system.encoding.values(slot).len();
            let by_value = system.encoding.is_listed(slot) && count <= MOST_VALUES;
            match by_value {
                _ if bits.is_empty() => {}
                true => {
                    for position in 0..count {
                        let digits = bits.iter().enumerate();
                        let digits = digits.map(|(digit, bit)| bit.negated_if(position >> digit & 1 == 0)).collect();
                        atoms.push((system.formula.all(digits)?, About::Value { slot, position }));
                    }
                }
                false => {
                    for (bit, &function) in bits.iter().enumerate() {
                        atoms.push((!function, About::Bit { slot, bit, value: false }));
                        atoms.push((function, About::Bit { slot, bit, value: true }));
                    }
                }
            }
            slots.push(SlotAtoms { first, count: atoms.len() as Atom - first, by_value });
        }
        Ok(Self { slots, atoms })
    }

    /// The number of atoms.
    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The function of an atom.
    pub(crate) fn function(&self, atom: Atom) -> Bit {
        self.atoms[atom as usize].0
    }

    /// What an atom says.
    pub(crate) fn about(&self, atom: Atom) -> About {
        self.atoms[atom as usize].1
    }

    /// The atoms of slots with an atom for each value, of which one holds.
    pub(crate) fn choices(&self) -> impl Iterator<Item = std::ops::Range<Atom>> + '_ {
        let by_value = self.slots.iter().filter(|slot| slot.by_value && slot.count > 0);
        by_value.map(|slot| slot.first..slot.first + slot.count)
    }

    /// The permutations of atoms by the generators of a group, as far as atoms are permuted.
    pub(crate) fn permutations(&self, system: &System, group: &CertifiedGroup) -> Vec<Vec<Atom>> {
        group.maps().iter().filter_map(|map| self.permutation(system, map)).collect()
    }

    fn permutation(&self, system: &System, map: &StateMap) -> Option<Vec<Atom>> {
        if !map.multisets().is_empty() {
            return None;
        }
        let mut images: Vec<Atom> = (0..self.len() as Atom).collect();
        for entry in map.moves() {
            let (from, to) = (entry.from.position(), entry.to.position());
            let (own, image) = (self.slots[from], self.slots[to]);
            if own.count != image.count || own.by_value != image.by_value {
                return None;
            }
            if !own.by_value {
                // The same bits must stand for the same value.
                let is_same = entry.values.is_none() && system.encoding.has_same_code(from as u32, to as u32);
                if own.count > 0 && !is_same {
                    return None;
                }
                for number in 0..own.count {
                    images[(own.first + number) as usize] = image.first + number;
                }
                continue;
            }
            let values = system.encoding.values(to as u32);
            for (position, &value) in system.encoding.values(from as u32).iter().enumerate().take(own.count as usize) {
                let position_of_image = values.binary_search(&entry.value(value)).ok()?;
                images[own.first as usize + position] = image.first + position_of_image as Atom;
            }
        }
        let mut sorted = images.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..self.len() as Atom).then_some(images)
    }
}

/// The images of a clause under the products of some permutations, itself first, up to a number; and whether these are
/// all.
pub(crate) fn orbit(clause: &Clause, permutations: &[Vec<Atom>], most: usize) -> (Vec<Clause>, bool) {
    let mut orbit = vec![clause.clone()];
    let mut seen: FxHashSet<Clause> = FxHashSet::from_iter([clause.clone()]);
    let mut next = 0;
    while next < orbit.len() {
        for permutation in permutations {
            let mut image: Clause = orbit[next].iter().map(|&atom| permutation[atom as usize]).collect();
            image.sort_unstable();
            if !seen.contains(&image) {
                if orbit.len() >= most {
                    return (orbit, false);
                }
                seen.insert(image.clone());
                orbit.push(image);
            }
        }
        next += 1;
    }
    (orbit, true)
}
