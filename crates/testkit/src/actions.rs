//! Groups acting on states in all the ways that symmetries of models do, whether or not a model has them: sorts of ids,
//! permutations of them, and variables that are indexed by ids and hold ids. The conformance suite of canonicalizers
//! uses these.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use num_bigint::BigUint;
use quotient_groups::random::Random;
use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, Model, SlotId, TableIndex, Valuation};
use quotient_representatives::{Canonicalizer, MethodKind, Strategy, Workspace};
use quotient_symmetry::{Literals, StateMap};

use crate::examples::load_murphi;

/// A group and the variables it acts on.
#[derive(Clone, Debug)]
pub struct Acting {
    /// A name for messages.
    pub name: String,
    /// The number of ids of each sort.
    pub sorts: Vec<usize>,
    /// Generators: for each sort, the image of each id.
    pub generators: Vec<Vec<Vec<usize>>>,
    /// The variables.
    pub variables: Vec<Variable>,
}

/// A variable: the sorts that index it, and the contents of its cells.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The sorts of its indices.
    pub indices: Vec<usize>,
    /// The contents of a cell.
    pub holds: Holds,
}

/// The contents of a cell.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// One of a number of values with the same meaning everywhere.
    Values(usize),
    /// An id of a sort.
    Ids(usize),
}

/// A variable of values.
pub fn values(indices: &[usize], count: usize) -> Variable {
    Variable { indices: indices.to_vec(), holds: Holds::Values(count) }
}

/// A variable of ids.
pub fn ids(indices: &[usize], sort: usize) -> Variable {
    Variable { indices: indices.to_vec(), holds: Holds::Ids(sort) }
}

/// The permutation of a number of ids with the given cycles.
///
/// # Panics
/// If the text is malformed.
pub fn cycles(count: usize, text: &str) -> Vec<usize> {
    let permutation = SparsePermutation::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (0..count).map(|id| permutation.image(id as Point) as usize).collect()
}

/// An acting group prepared for canonicalizers.
#[derive(Debug)]
pub struct Prepared {
    name: String,
    layout: Layout,
    generators: Vec<SparsePermutation>,
    maps: Vec<StateMap>,
    literals: Literals,
}

impl Acting {
    /// The model with these variables and without behaviour.
    fn model(&self) -> Model {
        let mut text = String::from("type\n");
        for (sort, size) in self.sorts.iter().enumerate() {
            writeln!(text, "  sort{sort} : 0..{};", size - 1).expect("writing to a string");
        }
        text.push_str("var\n");
        for (number, variable) in self.variables.iter().enumerate() {
            let indices: String = variable.indices.iter().map(|sort| format!("array [sort{sort}] of ")).collect();
            let held = match variable.holds {
                Holds::Values(count) => format!("0..{}", count - 1),
                Holds::Ids(sort) => format!("sort{sort}"),
            };
            writeln!(text, "  v{number} : {indices}{held};").expect("writing to a string");
        }
        text.push_str("startstate undefine v0; end;\nrule \"idle\" true ==> begin undefine v0; end;\n");
        load_murphi(&self.name, &text, &[]).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Lays out the variables and converts the generators to permutations of literals.
    ///
    /// # Panics
    /// If the generators do not fit the sorts.
    pub fn prepare(&self) -> Prepared {
        let model = self.model();
        let layout = Layout::new(&model).expect("few variables");
        let literals = Literals::of_layout(&layout);
        let mut generators = Vec::new();
        for generator in &self.generators {
            let mut moves = Vec::new();
            let mut first = 0;
            for variable in &self.variables {
                let sizes: Vec<usize> = variable.indices.iter().map(|&sort| self.sorts[sort]).collect();
                let cells: usize = sizes.iter().product();
                for cell in 0..cells {
                    let mut image = 0;
                    let mut rest = cell;
                    let mut stride = cells;
                    for (&sort, &size) in variable.indices.iter().zip(&sizes) {
                        stride /= size;
                        image += generator[sort][rest / stride] * stride;
                        rest %= stride;
                    }
                    let (from, to) = (SlotId::from_position(first + cell), SlotId::from_position(first + image));
                    for &value in &literals.slots()[from].values {
                        let held = value.map(|value| match variable.holds {
                            Holds::Values(_) => value,
                            Holds::Ids(sort) => generator[sort][value as usize] as i64,
                        });
                        let point = |slot, value| literals.point(slot, value).expect("a literal");
                        moves.push((point(from, value), point(to, held)));
                    }
                }
                first += cells;
            }
            // All values of a wide slot are one point.
            moves.sort_unstable();
            moves.dedup();
            generators.push(SparsePermutation::from_moves(moves).expect("a permutation of ids permutes literals"));
        }
        let maps = generators
            .iter()
            .map(|generator| literals.action(&layout, generator).expect("slots go to slots"))
            .collect();
        Prepared { name: self.name.clone(), layout, generators, maps, literals }
    }
}

impl Prepared {
    /// The canonicalizer with a method, if the method supports the group.
    pub fn canonicalizer(&self, strategy: Strategy) -> Option<Canonicalizer> {
        Canonicalizer::of_uncertified(&self.layout, &self.generators, strategy).ok()
    }

    /// The canonicalizer with one exact method for all factors of the group, if the method supports them.
    pub fn canonicalizer_by(&self, kind: MethodKind) -> Option<Canonicalizer> {
        Canonicalizer::of_uncertified_by(&self.layout, &self.generators, kind)
    }

    /// States as records: their words and another one.
    pub fn records(&self, states: &[Valuation]) -> Vec<u64> {
        states.iter().flat_map(|state| self.layout.state(state).0.into_iter().chain([7])).collect()
    }

    /// Checks an exact canonicalizer on all states of an orbit, if there are at most `limit`. Returns their number.
    ///
    /// # Errors
    /// A description of the failure.
    pub fn check_orbit(&self, canonicalizer: &Canonicalizer, state: &Valuation, limit: usize) -> Result<usize, String> {
        let Some(orbit) = self.orbit(state, limit) else { return Ok(0) };
        let mut workspace = Workspace::default();
        let members: Vec<Valuation> = orbit.iter().cloned().map(Valuation).collect();
        let stride = self.layout.words() + 1;
        let mut records = self.records(&members);
        canonicalizer.canonicalize_records(&mut workspace, None, &mut records, stride);
        let representative = &records[..stride - 1];
        let complain =
            |what: String| Err(format!("{}, {}: {what} for {:?}", self.name, canonicalizer.reason(), state.0));
        if !orbit.contains(&self.layout.unpack(representative).0) {
            return complain("a representative outside the orbit".to_owned());
        }
        if let Some(member) = records.chunks_exact(stride).position(|record| &record[..stride - 1] != representative) {
            return complain(format!("another representative for {:?}", members[member].0));
        }
        if records.chunks_exact(stride).any(|record| record[stride - 1] != 7) {
            return complain("a changed word after a state".to_owned());
        }
        // States near a representative, and states that are not.
        let mut near = members.clone();
        for (number, state) in near.iter_mut().enumerate().take(members.len() / 2) {
            let mut changed = self.layout.unpack(representative);
            let other = &members[(number * 7 + 3) % members.len()];
            for cell in [number % changed.0.len(), (number * 5 + 1) % changed.0.len()] {
                changed.0[cell] = other.0[cell];
            }
            *state = changed;
        }
        let mut near = self.records(&near);
        let mut alone = near.clone();
        canonicalizer.canonicalize_records(&mut workspace, Some(representative), &mut near, stride);
        alone
            .chunks_exact_mut(stride)
            .for_each(|record| canonicalizer.canonicalize(&mut workspace, &mut record[..stride - 1]));
        if near != alone {
            return complain("another representative for a state near a representative".to_owned());
        }
        let size = canonicalizer.orbit_size(&mut workspace, representative);
        if size != BigUint::from(orbit.len()) {
            return complain(format!("{size} as the size of an orbit of {}", orbit.len()));
        }
        Ok(orbit.len())
    }

    /// The layout of the variables in states.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A random state with few different values.
    pub fn random_state(&self, random: &mut Random) -> Valuation {
        let variety = 1 + random.below(3);
        let defined = random.below(4) > 0;
        let value = |random: &mut Random, slot: SlotId| {
            let values = &self.literals.slots()[slot].values;
            // The first value is undefined.
            let first = usize::from(defined || random.below(8) > 0).min(values.len() - 1);
            if self.literals.slots()[slot].wide {
                let domain = &self.layout.slots[slot].domain;
                return Some(domain.value_of(domain.size() / variety as u64 * random.below(variety) as u64));
            }
            let choice = variety + 4 * random.below(2);
            values[first + random.below((values.len() - first).min(choice))]
        };
        Valuation(self.layout.slots.indices().map(|slot| value(random, slot)).collect())
    }

    /// All states, if there are at most `limit`.
    pub fn all_states(&self, limit: usize) -> Option<Vec<Valuation>> {
        let mut states = vec![Vec::new()];
        for slot in self.layout.slots.indices() {
            let values = &self.literals.slots()[slot].values;
            if states.len() * values.len() > limit || self.literals.slots()[slot].wide {
                return None;
            }
            states = states
                .into_iter()
                .flat_map(|state: Vec<Option<i64>>| {
                    values.iter().map(move |&value| {
                        let mut longer = state.clone();
                        longer.push(value);
                        longer
                    })
                })
                .collect();
        }
        Some(states.into_iter().map(Valuation).collect())
    }

    /// All images of a state, if there are at most `limit`.
    pub fn orbit(&self, state: &Valuation, limit: usize) -> Option<BTreeSet<Vec<Option<i64>>>> {
        let mut orbit = BTreeSet::from([state.0.clone()]);
        let mut pending = vec![state.clone()];
        while let Some(next) = pending.pop() {
            for map in &self.maps {
                let image = map.apply(&next);
                if orbit.insert(image.0.clone()) {
                    if orbit.len() > limit {
                        return None;
                    }
                    pending.push(image);
                }
            }
        }
        Some(orbit)
    }

    /// Checks the guarantees of a canonicalizer on some states by brute force. Exact ones: equal representatives for
    /// the states of one orbit, different ones for different orbits, orbit sizes. All: the representative is in the
    /// orbit, it is its own representative, and the witness leads to it.
    ///
    /// # Errors
    /// A description of the failure.
    pub fn check(&self, canonicalizer: &Canonicalizer, states: &[Valuation], limit: usize) -> Result<(), String> {
        let mut workspace = Workspace::default();
        let mut random = Random::new(states.len() as u64);
        let mut representatives: BTreeSet<Box<[u64]>> = BTreeSet::new();
        let mut seen: BTreeSet<Vec<Option<i64>>> = BTreeSet::new();
        let complain = |what: &str, state: &Valuation| {
            Err(format!("{}, {}: {what} for {:?}", self.name, canonicalizer.reason(), state.0))
        };
        for state in states {
            if seen.contains(&state.0) {
                continue;
            }
            let Some(orbit) = self.orbit(state, limit) else { continue };
            let mut expected: Option<Box<[u64]>> = None;
            let often = 60.max(orbit.len() / 10);
            for member in &orbit {
                if expected.is_some() && random.below(orbit.len()) >= often {
                    continue;
                }
                let member = Valuation(member.clone());
                let before = self.layout.state(&member).0;
                let mut words = before.clone();
                canonicalizer.canonicalize(&mut workspace, &mut words);
                let image = self.layout.unpack(&words);
                if !orbit.contains(&image.0) {
                    return complain("a representative outside the orbit", &member);
                }
                let mut again = words.clone();
                canonicalizer.canonicalize(&mut workspace, &mut again);
                if again != words {
                    return complain("a representative of a representative is another", &member);
                }
                for state in [&before, &words] {
                    if canonicalizer.is_representative(&mut workspace, state) != (*state == words) {
                        return complain("what is a representative is not known for one", &member);
                    }
                }
                if random.below(8) == 0 {
                    let mut with_witness = before;
                    let witness = canonicalizer.canonicalize_with_witness(&mut workspace, &mut with_witness);
                    let map = self.literals.action(&self.layout, &witness);
                    if with_witness != words || map.map(|map| map.apply(&member)) != Ok(image) {
                        return complain("the witness does not lead to the representative", &member);
                    }
                }
                if random.below(8) == 0 {
                    let size = canonicalizer.orbit_size(&mut workspace, &self.layout.state(&member).0);
                    if size != BigUint::from(orbit.len()) {
                        return complain(&format!("{size} as the size of an orbit of {}", orbit.len()), &member);
                    }
                }
                if canonicalizer.is_exact() && *expected.get_or_insert_with(|| words.clone()) != words {
                    return complain("two representatives in one orbit", &member);
                }
            }
            if let Some(expected) = expected
                && !representatives.insert(expected)
            {
                return complain("the representative of another orbit", state);
            }
            seen.extend(orbit);
        }
        Ok(())
    }
}
