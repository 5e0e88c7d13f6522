//! Near, rough and virtual symmetry (Emerson and Trefler 1999; Emerson, Havlicek and Trefler 2000; Wahl and Donaldson
//! 2010, section 8) of the structure of a small model, with respect to all permutations of its families. Each keeps the
//! quotient bisimilar to the structure; virtual symmetry is the weakest condition that does.
//!
//! With G the group, s → t a transition and g in G:
//!
//! * *symmetric*: g(s) → g(t) is a transition, too;
//! * *near*: the same, unless every permutation fixes s;
//! * *rough*: g(s) → h(g(t)) for some h that fixes g(s): among processes in the same local state, priority may choose
//!   which one moves;
//! * *virtual*: g(s) → h(g(t)) for some h in G.
//!
//! The structure consists of everything reachable from initial states by permutations and transitions: the states of
//! the symmetric super-structure, with the transitions of the model.

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_ir::{Interpreter, Outcome, Valuation};

use super::arrangement::{Arrangement, Desk};
use super::{Families, PartialSymmetry};

/// The largest number of permutations for which those that fix a state are found by trying all.
const GROUP_LIMIT: usize = 5040;

/// The notions of symmetry that a structure satisfies.
#[derive(Clone, Debug)]
pub struct Classification {
    /// The number of states examined.
    pub states: usize,
    /// The number of transitions between different pairs of states.
    pub transitions: usize,
    /// Why it is not symmetric.
    pub symmetric: Result<(), Witness>,
    /// Why it is not nearly symmetric.
    pub near: Result<(), Witness>,
    /// Why it is not roughly symmetric; `None` if deciding this was too expensive.
    pub rough: Option<Result<(), Witness>>,
    /// Why it is not virtually symmetric.
    pub virtual_symmetry: Result<(), Witness>,
}

/// A transition, a permutation, and the image of the transition, which violates the condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// A transition of the model.
    pub transition: (Valuation, Valuation),
    /// The image of each member.
    pub places: Vec<usize>,
    /// The image of the transition.
    pub image: (Valuation, Valuation),
}

/// There are more states than the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the structure has more than {0} states")]
pub struct TooManyStates(pub usize);

/// A packed state.
type Packed = Vec<u64>;

struct Structure<'a> {
    arrangement: &'a Arrangement,
    desk: Desk,
    cells: Vec<Vec<usize>>,
    states: Vec<Packed>,
    numbers: FxHashMap<Packed, u32>,
    successors: Vec<Vec<u32>>,
}

/// Determines which notions of symmetry the structure of a model satisfies.
///
/// # Errors
/// If it has more than `limit` states.
pub fn classify(partial: &PartialSymmetry<'_>, limit: usize) -> Result<Classification, TooManyStates> {
    let families = partial.families();
    let arrangement = Arrangement::new(families, partial.layout());
    let cells: Vec<Vec<usize>> =
        families.list().iter().map(|family| (family.first..family.first + family.size).collect()).collect();
    let mut structure = Structure {
        arrangement: &arrangement,
        desk: Desk::default(),
        cells,
        states: Vec::new(),
        numbers: FxHashMap::default(),
        successors: Vec::new(),
    };
    let interpreter = Interpreter::new(partial.model(), partial.layout());
    structure.explore(&interpreter, limit)?;
    let exchanges = exchanges(families);
    let orbits = structure.orbits(&exchanges);
    let (symmetric, near) = structure.compare_exchanges(&interpreter, &exchanges);
    let virtual_symmetry = structure.compare_orbits(&interpreter, &orbits, |structure, _, target| {
        vec![u64::from(orbits[structure.number(target) as usize])]
    });
    let rough = structure.rough(&interpreter, &orbits, families);
    Ok(Classification {
        states: structure.states.len(),
        transitions: structure.successors.iter().map(Vec::len).sum(),
        symmetric,
        near,
        rough,
        virtual_symmetry,
    })
}

/// Exchanges of neighbours, which generate all permutations of families.
fn exchanges(families: &Families) -> Vec<Vec<usize>> {
    let mut exchanges = Vec::new();
    for family in families.list() {
        for member in family.first..family.first + family.size - 1 {
            let mut places: Vec<usize> = (0..families.members()).collect();
            places.swap(member, member + 1);
            exchanges.push(places);
        }
    }
    exchanges
}

impl Structure<'_> {
    fn explore(&mut self, interpreter: &Interpreter<'_>, limit: usize) -> Result<(), TooManyStates> {
        let model = interpreter.model();
        let layout = interpreter.layout();
        for (start, entry) in model.starts.iter_enumerated() {
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                if let Outcome::Next { state, .. } = interpreter.run_start(start, &arguments) {
                    self.add_orbit(layout.state(&state).0.to_vec(), limit)?;
                }
            }
        }
        let mut next = 0;
        while next < self.states.len() {
            let state = layout.unpack(&self.states[next]);
            let mut successors = FxHashSet::default();
            for (rule, entry) in model.rules.iter_enumerated() {
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    if interpreter.enabled(rule, &arguments, &state) != Ok(true) {
                        continue;
                    }
                    if let Outcome::Next { state, .. } = interpreter.fire(rule, &arguments, &state) {
                        let packed = layout.state(&state).0.to_vec();
                        self.add_orbit(packed.clone(), limit)?;
                        successors.insert(self.numbers[&packed]);
                    }
                }
            }
            let mut successors: Vec<u32> = successors.into_iter().collect();
            successors.sort_unstable();
            self.successors.push(successors);
            next += 1;
        }
        Ok(())
    }

    /// Adds a state and all its images under permutations.
    fn add_orbit(&mut self, state: Packed, limit: usize) -> Result<(), TooManyStates> {
        if self.numbers.contains_key(&state) {
            return Ok(());
        }
        let mut pending = vec![state];
        let mut image = Vec::new();
        while let Some(state) = pending.pop() {
            if self.numbers.contains_key(&state) {
                continue;
            }
            if self.states.len() == limit {
                return Err(TooManyStates(limit));
            }
            self.numbers.insert(state.clone(), self.states.len() as u32);
            self.states.push(state.clone());
            for cell in &self.cells {
                for pair in cell.windows(2) {
                    let mut places: Vec<usize> = (0..self.arrangement.members()).collect();
                    places.swap(pair[0], pair[1]);
                    self.arrangement.apply(&state, &places, &mut image);
                    if !self.numbers.contains_key(&image) {
                        pending.push(image.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn number(&self, state: &[u64]) -> u32 {
        self.numbers[state]
    }

    fn image(&self, state: u32, places: &[usize]) -> u32 {
        let mut image = Vec::new();
        self.arrangement.apply(&self.states[state as usize], places, &mut image);
        self.numbers[&image]
    }

    /// The first state of the orbit of each state.
    fn orbits(&self, exchanges: &[Vec<usize>]) -> Vec<u32> {
        let mut orbits = vec![u32::MAX; self.states.len()];
        for first in 0..self.states.len() as u32 {
            if orbits[first as usize] != u32::MAX {
                continue;
            }
            let mut pending = vec![first];
            while let Some(state) = pending.pop() {
                if orbits[state as usize] == u32::MAX {
                    orbits[state as usize] = first;
                    pending.extend(exchanges.iter().map(|places| self.image(state, places)));
                }
            }
        }
        orbits
    }

    /// Symmetry and near symmetry: exchanges of neighbours suffice. If the source of a transition is not fixed by all
    /// permutations, neither are its images, so products of exchanges can be followed one by one.
    fn compare_exchanges(
        &self,
        interpreter: &Interpreter<'_>,
        exchanges: &[Vec<usize>],
    ) -> (Result<(), Witness>, Result<(), Witness>) {
        let (mut symmetric, mut near) = (Ok(()), Ok(()));
        for (source, targets) in self.successors.iter().enumerate() {
            let source = source as u32;
            for places in exchanges {
                let image_source = self.image(source, places);
                for &target in targets {
                    let image_target = self.image(target, places);
                    if self.successors[image_source as usize].binary_search(&image_target).is_ok() {
                        continue;
                    }
                    let witness = || self.witness(interpreter, source, target, places);
                    if symmetric.is_ok() {
                        symmetric = Err(witness());
                    }
                    let is_total = exchanges.iter().all(|places| self.image(source, places) == source);
                    if !is_total {
                        near = Err(witness());
                        return (symmetric, near);
                    }
                }
            }
        }
        (symmetric, near)
    }

    /// Whether all states of an orbit have transitions of the same sorts. A sort is the value of `sort_of` for a source
    /// and a target; it is the same for all images of a transition.
    fn compare_orbits(
        &mut self,
        interpreter: &Interpreter<'_>,
        orbits: &[u32],
        mut sort_of: impl FnMut(&mut Self, &[u64], &[u64]) -> Vec<u64>,
    ) -> Result<(), Witness> {
        let mut sorts: Vec<FxHashSet<Vec<u64>>> = Vec::with_capacity(self.states.len());
        for source in 0..self.states.len() {
            let mut own = FxHashSet::default();
            for target in self.successors[source].clone() {
                let (source, target) = (self.states[source].clone(), self.states[target as usize].clone());
                own.insert(sort_of(self, &source, &target));
            }
            sorts.push(own);
        }
        let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (state, &orbit) in orbits.iter().enumerate() {
            members.entry(orbit).or_default().push(state as u32);
        }
        let mut orbits: Vec<Vec<u32>> = members.into_values().collect();
        orbits.sort_unstable();
        for orbit in orbits {
            for &source in &orbit {
                let missing = orbit.iter().find_map(|&other| {
                    let sort = sorts[source as usize].difference(&sorts[other as usize]).next()?;
                    Some((other, sort.clone()))
                });
                let Some((other, sort)) = missing else { continue };
                let target = self.successors[source as usize].clone().into_iter().find(|&target| {
                    let (source, target) = (self.states[source as usize].clone(), self.states[target as usize].clone());
                    sort_of(self, &source, &target) == sort
                });
                let target = target.expect("the sort is that of a transition");
                let places = self.way(source, other);
                return Err(self.witness(interpreter, source, target, &places));
            }
        }
        Ok(())
    }

    fn rough(
        &mut self,
        interpreter: &Interpreter<'_>,
        orbits: &[u32],
        families: &Families,
    ) -> Option<Result<(), Witness>> {
        if self.arrangement.is_plain() {
            // A permutation that fixes a state permutes members with the same block.
            return Some(self.compare_orbits(interpreter, orbits, |structure, source, target| {
                let mut source = source.to_vec();
                structure.arrangement.canonicalize(&mut structure.desk, &mut source, &structure.cells);
                let places = structure.desk.places.clone();
                let kinds = structure.arrangement.kinds(&mut structure.desk, &source, &structure.cells);
                let alike: Vec<Vec<usize>> = kinds.into_iter().flatten().map(|kind| kind.members).collect();
                let mut image = Vec::new();
                structure.arrangement.apply(target, &places, &mut image);
                structure.arrangement.canonicalize(&mut structure.desk, &mut image, &alike);
                image
            }));
        }
        let group = all_permutations(families)?;
        Some(self.compare_orbits(interpreter, orbits, |structure, source, target| {
            // The least image of the pair.
            let mut least: Option<Vec<u64>> = None;
            let mut image = Vec::new();
            for places in &group {
                structure.arrangement.apply(source, places, &mut image);
                let mut pair = image.clone();
                structure.arrangement.apply(target, places, &mut image);
                pair.extend_from_slice(&image);
                if least.as_ref().is_none_or(|least| pair < *least) {
                    least = Some(pair);
                }
            }
            least.expect("there is the identity")
        }))
    }

    /// A permutation that maps a state to another one of its orbit.
    fn way(&mut self, from: u32, to: u32) -> Vec<usize> {
        let mut state = self.states[from as usize].clone();
        self.arrangement.canonicalize(&mut self.desk, &mut state, &self.cells);
        let there = self.desk.places.clone();
        let mut state = self.states[to as usize].clone();
        self.arrangement.canonicalize(&mut self.desk, &mut state, &self.cells);
        let mut back = vec![0; there.len()];
        for (member, &place) in self.desk.places.iter().enumerate() {
            back[place] = member;
        }
        there.iter().map(|&place| back[place]).collect()
    }

    fn witness(&self, interpreter: &Interpreter<'_>, source: u32, target: u32, places: &[usize]) -> Witness {
        let unpack = |state: u32| interpreter.layout().unpack(&self.states[state as usize]);
        Witness {
            transition: (unpack(source), unpack(target)),
            places: places.to_vec(),
            image: (unpack(self.image(source, places)), unpack(self.image(target, places))),
        }
    }
}

/// All permutations of families, if they are few.
fn all_permutations(families: &Families) -> Option<Vec<Vec<usize>>> {
    let mut group: FxHashSet<Vec<usize>> = FxHashSet::default();
    let exchanges = exchanges(families);
    let mut pending = vec![(0..families.members()).collect::<Vec<usize>>()];
    while let Some(places) = pending.pop() {
        if !group.insert(places.clone()) {
            continue;
        }
        if group.len() > GROUP_LIMIT {
            return None;
        }
        pending.extend(exchanges.iter().map(|exchange| places.iter().map(|&place| exchange[place]).collect()));
    }
    Some(group.into_iter().collect())
}
