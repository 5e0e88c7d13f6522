//! What objects hold: fields of an object that can hold objects of other kinds.
//!
//! If all that a state says about an object, beyond its key, is what its own fields hold, these fields are its row. Once
//! the objects that are held have names, a row is a number, and objects with equal keys and equal rows can be exchanged
//! without changing the state.

use std::collections::BTreeMap;

use quotient_groups::arrangement::NodePosition;

use crate::points::{Content, Field, NONE, View};

/// The largest number of bits of a row.
const WIDEST: u32 = 128;

/// How to read the rows of the objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct RowPlan {
    /// One bit for each kind whose objects are held.
    pub(crate) held: u64,
    /// The fields of each object, in the same order for all of them.
    fields: Box<[Box<[RowField]>]>,
}

/// One field of an object.
#[derive(Clone, Debug)]
struct RowField {
    field: Field,
    width: u32,
    /// The letter of each code.
    letters: Box<[Letter]>,
    /// The code of each letter, including what is held.
    codes: Box<[u64]>,
}

/// A number that is equal for corresponding codes of other objects, not counting what is held; and the kind and position
/// of the object held.
type Letter = (u64, Option<(u16, u16)>);

/// The fields of each object by the orbits of their points: object and field.
type FieldsByOrbits = BTreeMap<Vec<usize>, Vec<(usize, usize)>>;

impl RowPlan {
    /// The row of an object, given the name of each object by kind and position.
    #[inline]
    pub(crate) fn row(&self, node: usize, state: &[u64], name: impl Fn(usize, usize) -> u64) -> u128 {
        let mut row = 0;
        for RowField { field, width, letters, .. } in &self.fields[node] {
            let letter = match letters.get(field.read(state) as usize) {
                Some(&(letter, None)) => letter,
                Some(&(letter, Some((kind, held)))) => letter + name(kind as usize, held as usize),
                // Excluded when the plan was made.
                None => 0,
            };
            row = row << width | u128::from(letter);
        }
        row
    }

    /// Makes a row that of an object.
    #[inline]
    pub(crate) fn store(&self, node: usize, mut row: u128, state: &mut [u64]) {
        for RowField { field, width, codes, .. } in self.fields[node].iter().rev() {
            let letter = row as u64 & (u64::MAX >> (64 - width));
            field.write(state, codes[letter as usize]);
            row >>= width;
        }
    }

    /// The number of fields of all objects.
    pub(crate) fn field_count(&self) -> usize {
        self.fields.iter().map(|fields| fields.len()).sum()
    }
}

/// What is needed to find rows.
pub(crate) struct Rows<'a, N> {
    pub(crate) view: &'a View,
    /// The objects that each point depends on, and its orbit.
    pub(crate) tuples: &'a [Vec<NodePosition>],
    pub(crate) orbits: &'a [usize],
    /// The number of objects of each kind, and the kind of an object.
    pub(crate) counts: &'a [usize],
    pub(crate) kind: N,
}

impl<N: Fn(&NodePosition) -> usize> Rows<'_, N> {
    /// The row plans of the kinds of objects about which the listed fields say nothing but what they hold.
    pub(crate) fn find(&self, is_listed: &[bool]) -> Vec<(usize, RowPlan)> {
        let mut is_possible = vec![true; self.counts.len()];
        let mut found: Vec<FieldsByOrbits> = vec![FieldsByOrbits::new(); self.counts.len()];
        for field in (0..is_listed.len()).filter(|&field| is_listed[field]) {
            let owner = self.owner(field);
            for point in self.view.contents[field].points() {
                // Objects that are held, or that share a field, need more than rows.
                for place in self.tuples[point as usize].iter().filter(|&place| Some(*place) != owner) {
                    is_possible[(self.kind)(place)] = false;
                }
            }
            if let Some(owner) = owner {
                let mut own: Vec<usize> =
                    self.view.contents[field].points().map(|point| self.orbits[point as usize]).collect();
                own.sort_unstable();
                own.dedup();
                found[(self.kind)(&owner)].entry(own).or_default().push((owner.node, field));
            }
        }
        let possible = found.into_iter().enumerate().filter(|(kind, found)| is_possible[*kind] && !found.is_empty());
        possible.filter_map(|(kind, found)| Some((kind, self.plan(kind, found)?))).collect()
    }

    /// The object that all points of a field belong to: alone, or with one of another kind.
    fn owner(&self, field: usize) -> Option<NodePosition> {
        let Content::Lettered(_) = &self.view.contents[field] else { return None };
        let points = || self.view.contents[field].points().map(|point| &self.tuples[point as usize][..]);
        let belongs_to = |tuple: &[NodePosition], owner: &NodePosition| match tuple {
            [only] => only == owner,
            [one, other] => (one == owner || other == owner) && (self.kind)(one) != (self.kind)(other),
            _ => false,
        };
        points().next()?.iter().find(|owner| points().all(|tuple| belongs_to(tuple, owner))).copied()
    }

    /// The plan for the fields of the objects of a kind, by the orbits of their points. `None` if an object has several
    /// fields of the same orbits, or none.
    fn plan(&self, kind: usize, found: FieldsByOrbits) -> Option<RowPlan> {
        let count = self.counts[kind];
        let mut rows: Vec<Vec<RowField>> = vec![Vec::new(); count];
        let mut held_kinds = 0;
        let mut total = 0;
        for (own, mut fields) in found {
            fields.sort_unstable();
            if fields.len() != count || fields.iter().enumerate().any(|(node, &(owner, _))| owner != node) {
                return None;
            }
            let held = |point: u32| self.tuples[point as usize].iter().find(|place| (self.kind)(place) != kind);
            // The first letter of each orbit.
            let mut firsts = Vec::new();
            let mut next = 0u64;
            for orbit in &own {
                firsts.push(next);
                let mut points = self.view.contents[fields[0].1].points();
                let held = held(points.find(|&point| self.orbits[point as usize] == *orbit)?);
                next += held.map_or(1, |held| self.counts[(self.kind)(held)] as u64);
            }
            let width = u64::BITS - next.leading_zeros();
            total += width;
            if total > WIDEST {
                return None;
            }
            for (node, field) in fields {
                let Content::Lettered(codes) = &self.view.contents[field] else { return None };
                let mut letters = vec![(0, None); codes.len()];
                let mut letter_codes = vec![0; next as usize];
                for (code, &point) in codes.iter().enumerate().filter(|&(_, &point)| point != NONE) {
                    let first = firsts[own.binary_search(&self.orbits[point as usize]).ok()?];
                    let held = held(point).map(|held| ((self.kind)(held), held.node));
                    if let Some((kind, _)) = held {
                        held_kinds |= 1u64.checked_shl(kind as u32)?;
                    }
                    letter_codes[first as usize + held.map_or(0, |(_, node)| node)] = code as u64;
                    letters[code] = (first, held.map(|(kind, node)| (kind as u16, node as u16)));
                }
                let field = self.view.fields[field].clone();
                rows[node].push(RowField { field, width, letters: letters.into(), codes: letter_codes.into() });
            }
        }
        Some(RowPlan { held: held_kinds, fields: rows.into_iter().map(Vec::into_boxed_slice).collect() })
    }
}
