//! Counts the states that annotated states represent, each once. Annotated states whose members have the same blocks up
//! to a permutation may represent some states in common; others do not.

use std::rc::Rc;

use num_bigint::BigUint;
use quotient_symmetry::{Kind, Partition};
use rustc_hash::{FxHashMap, FxHashSet};

use super::partitions::PartitionNumber;
use super::search::Annotated;
use super::stepper::Stepper;

/// The largest number of fillings of atoms and pairs of annotated states for which states are counted.
const WORK_LIMIT: usize = 3_000_000;
/// The largest number of states for which orbits are listed if blocks do not describe members completely.
const LIST_LIMIT: usize = 200_000;

/// Counts classes, and recognises those that differ from an earlier one only in the names of blocks.
#[derive(Debug, Default)]
pub(super) struct Counter {
    known: FxHashMap<(Vec<PartitionNumber>, Vec<u16>), BigUint>,
    binomials: Binomials,
    /// For a pair of partitions, the number of members that pairs of their cells have in common.
    overlaps: FxHashMap<(PartitionNumber, PartitionNumber), Rc<[Overlap]>>,
    work: usize,
}

/// Cells of two partitions with common members, and the number of these.
#[derive(Clone, Copy, Debug)]
struct Overlap {
    first: usize,
    second: usize,
    members: u16,
}

/// An annotated state with the kinds of members in each of its cells.
type Counted<'a> = (&'a Annotated, Vec<Vec<Kind>>);

/// The counts of an annotated state: how many members of each cell have each block.
struct Profile<'a> {
    number: PartitionNumber,
    partition: &'a Partition,
    /// For each cell, the number of members with each letter.
    counts: Vec<u16>,
}

impl Counter {
    /// The number of states represented by annotated states that agree in everything no permutation changes and in the
    /// sum over their blocks.
    pub(super) fn count(&mut self, stepper: &mut Stepper<'_, '_>, alike: &[&Annotated]) -> Option<BigUint> {
        if !stepper.arrangement.is_plain() {
            return count_by_representatives(stepper, alike);
        }
        // Sums may be equal by chance: the annotated states of a class have the same number of each block.
        let mut classes: FxHashMap<Vec<(usize, u64, usize)>, Vec<Counted<'_>>> = FxHashMap::default();
        for &annotated in alike {
            let kinds = stepper.kinds(&annotated.state, annotated.partition);
            let mut blocks: Vec<(usize, u64, usize)> = kinds
                .iter()
                .flatten()
                .map(|kind| (stepper.family_of(kind.members[0]), kind.block, kind.members.len()))
                .collect();
            blocks.sort_unstable();
            blocks.dedup_by(|next, kept| {
                let same = (next.0, next.1) == (kept.0, kept.1);
                kept.2 += if same { next.2 } else { 0 };
                same
            });
            classes.entry(blocks).or_default().push((annotated, kinds));
        }
        classes.into_values().map(|class| self.count_class(stepper, &class)).sum()
    }

    /// Words over the blocks, with one letter per member: an annotated state represents all words with a given number
    /// of each block in each cell.
    fn count_class(&mut self, stepper: &Stepper<'_, '_>, class: &[Counted<'_>]) -> Option<BigUint> {
        if let [(_, kinds)] = class {
            return Some(self.binomials.orbit_size(kinds));
        }
        // An annotated state in which nothing was distinguished represents the whole class.
        let coarsest = class.iter().find(|(annotated, _)| annotated.partition == PartitionNumber::COARSEST);
        if let Some((_, kinds)) = coarsest {
            return Some(self.binomials.orbit_size(kinds));
        }
        let mut letters: Vec<u64> =
            class.iter().flat_map(|(_, kinds)| kinds.iter().flatten()).map(|kind| kind.block).collect();
        letters.sort_unstable();
        letters.dedup();
        let mut profiles = Vec::with_capacity(class.len());
        for (annotated, kinds) in class {
            let mut counts = vec![0u16; kinds.len() * letters.len()];
            for (cell, kinds) in kinds.iter().enumerate() {
                for kind in kinds {
                    let letter = letters.binary_search(&kind.block).expect("it is one of them");
                    counts[cell * letters.len() + letter] = kind.members.len() as u16;
                }
            }
            let (number, partition) = (annotated.partition, stepper.partitions.partition(annotated.partition));
            profiles.push(Profile { number, partition, counts });
        }
        let key = (
            profiles.iter().map(|profile| profile.number).collect(),
            profiles.iter().flat_map(|profile| profile.counts.iter().copied()).collect(),
        );
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        let mut total = BigUint::default();
        for component in self.components(&profiles, letters.len())? {
            total += match component[..] {
                [only] => self.binomials.orbit_size(&class[only].1),
                _ => {
                    let own: Vec<&Profile<'_>> = component.iter().map(|&number| &profiles[number]).collect();
                    self.count_words(&own, letters.len())?
                }
            };
        }
        self.known.insert(key, total.clone());
        Some(total)
    }

    /// Splits profiles into sets that have no word in common.
    fn components(&mut self, profiles: &[Profile<'_>], letters: usize) -> Option<Vec<Vec<usize>>> {
        let mut groups: FxHashMap<PartitionNumber, Vec<usize>> = FxHashMap::default();
        for (number, profile) in profiles.iter().enumerate() {
            groups.entry(profile.number).or_default().push(number);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        let mut owner: Vec<usize> = (0..profiles.len()).collect();
        fn find(owner: &mut [usize], mut number: usize) -> usize {
            while owner[number] != number {
                owner[number] = owner[owner[number]];
                number = owner[number];
            }
            number
        }
        // Different states with the same partition have no word in common.
        for (at, group) in groups.iter().enumerate() {
            for other in &groups[..at] {
                self.work += group.len() * other.len();
                if self.work > WORK_LIMIT {
                    return None;
                }
                for &first in group {
                    for &second in other {
                        if !self.are_disjoint(&profiles[first], &profiles[second], letters) {
                            let (one, two) = (find(&mut owner, first), find(&mut owner, second));
                            owner[one] = two;
                        }
                    }
                }
            }
        }
        let mut components: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for number in 0..profiles.len() {
            components.entry(find(&mut owner, number)).or_default().push(number);
        }
        Some(components.into_values().collect())
    }

    /// Whether two profiles certainly have no word in common: some cell of one has more of a letter than the other can
    /// have at its positions. (If there is no such cell, they may still have none in common.)
    fn are_disjoint(&mut self, first: &Profile<'_>, second: &Profile<'_>, letters: usize) -> bool {
        let overlaps = self.overlaps.entry((first.number, second.number)).or_insert_with(|| {
            let mut shared: FxHashMap<(usize, usize), u16> = FxHashMap::default();
            for member in 0..first.partition.members() {
                *shared.entry((first.partition.cell(member), second.partition.cell(member))).or_default() += 1;
            }
            shared.into_iter().map(|((first, second), members)| Overlap { first, second, members }).collect()
        });
        let exceeds = |one: &Profile<'_>, other: &Profile<'_>, cells: &dyn Fn(&Overlap) -> (usize, usize)| {
            let mut room = vec![0u16; one.counts.len()];
            for overlap in overlaps.iter() {
                let (own, its) = cells(overlap);
                for letter in 0..letters {
                    room[own * letters + letter] += overlap.members.min(other.counts[its * letters + letter]);
                }
            }
            one.counts.iter().zip(&room).any(|(count, room)| count > room)
        };
        exceeds(first, second, &|overlap| (overlap.first, overlap.second))
            || exceeds(second, first, &|overlap| (overlap.second, overlap.first))
    }

    /// The number of words that some profile allows. Members that no profile distinguishes form an atom; only the
    /// number of each letter in an atom is chosen. Prefixes with the same possible continuations are counted together.
    fn count_words(&mut self, profiles: &[&Profile<'_>], letters: usize) -> Option<BigUint> {
        let meet =
            profiles[1..].iter().fold(profiles[0].partition.clone(), |meet, profile| meet.meet(profile.partition));
        let mut atoms = meet.cells();
        // The last ones get the rest.
        atoms.sort_by_key(Vec::len);
        let mut counts: FxHashMap<Vec<(u16, Vec<u16>)>, BigUint> = FxHashMap::default();
        let whole = profiles.iter().enumerate().map(|(number, profile)| (number as u16, profile.counts.clone()));
        counts.insert(whole.collect(), BigUint::from(1u32));
        for atom in atoms {
            let cell_of: Vec<usize> = profiles.iter().map(|profile| profile.partition.cell(atom[0])).collect();
            let mut next: FxHashMap<Vec<(u16, Vec<u16>)>, BigUint> = FxHashMap::default();
            for (alive, count) in counts {
                let left = |&(number, ref left): &(u16, Vec<u16>)| {
                    let first = cell_of[number as usize] * letters;
                    left[first..first + letters].to_vec()
                };
                let rooms: Vec<Vec<u16>> = alive.iter().map(left).collect();
                let most: Vec<u16> =
                    (0..letters).map(|letter| rooms.iter().map(|room| room[letter]).max().unwrap_or(0)).collect();
                for_each_filling(atom.len() as u16, &most, &mut |filling| {
                    self.work += 1;
                    let mut survivors = Vec::new();
                    for ((number, left), room) in alive.iter().zip(&rooms) {
                        if filling.iter().zip(room).all(|(used, room)| used <= room) {
                            let mut left = left.clone();
                            let first = cell_of[*number as usize] * letters;
                            left[first..].iter_mut().zip(filling).for_each(|(left, used)| *left -= used);
                            survivors.push((*number, left));
                        }
                    }
                    if !survivors.is_empty() {
                        *next.entry(survivors).or_default() += &count * self.binomials.multinomial(filling);
                    }
                    self.work <= WORK_LIMIT
                });
                if self.work > WORK_LIMIT {
                    return None;
                }
            }
            counts = next;
        }
        Some(counts.into_values().sum())
    }
}

/// Visits all ways to choose some letters, at most a given number of each, until the visitor stops.
fn for_each_filling(size: u16, most: &[u16], visit: &mut impl FnMut(&[u16]) -> bool) {
    fn choose(
        left: u16,
        most: &[u16],
        room: &[u32],
        filling: &mut Vec<u16>,
        visit: &mut impl FnMut(&[u16]) -> bool,
    ) -> bool {
        let letter = filling.len();
        if letter == most.len() {
            return visit(filling);
        }
        let least = u32::from(left).saturating_sub(room[letter + 1]) as u16;
        for count in least..=most[letter].min(left) {
            filling.push(count);
            let continues = choose(left - count, most, room, filling, visit);
            filling.pop();
            if !continues {
                return false;
            }
        }
        true
    }
    // The room in later letters; nothing may remain after the last.
    let mut room = vec![0u32; most.len() + 1];
    for letter in (0..most.len()).rev() {
        room[letter] = room[letter + 1] + u32::from(most[letter]);
    }
    if u32::from(size) <= room[0] {
        choose(size, most, &room, &mut Vec::with_capacity(most.len()), visit);
    }
}

/// Cached binomial coefficients.
#[derive(Debug, Default)]
struct Binomials {
    known: FxHashMap<(u16, u16), BigUint>,
}

impl Binomials {
    fn binomial(&mut self, all: u16, some: u16) -> &BigUint {
        let some = some.min(all - some);
        self.known.entry((all, some)).or_insert_with(|| {
            let mut value = BigUint::from(1u32);
            for number in 0..u32::from(some) {
                value = value * (u32::from(all) - number) / (number + 1);
            }
            value
        })
    }

    /// The number of arrangements of letters.
    fn multinomial(&mut self, counts: &[u16]) -> BigUint {
        let mut value = BigUint::from(1u32);
        let mut placed = 0;
        for &count in counts {
            placed += count;
            if count > 0 && count < placed {
                value *= self.binomial(placed, count);
            }
        }
        value
    }

    /// The number of different arrangements of the members of each cell.
    fn orbit_size(&mut self, kinds: &[Vec<Kind>]) -> BigUint {
        let mut size = BigUint::from(1u32);
        for cell in kinds.iter().filter(|cell| cell.len() > 1) {
            let counts: Vec<u16> = cell.iter().map(|kind| kind.members.len() as u16).collect();
            size *= self.multinomial(&counts);
        }
        size
    }
}

/// If blocks do not describe members completely, the classes are those of equal representatives.
fn count_by_representatives(stepper: &mut Stepper<'_, '_>, alike: &[&Annotated]) -> Option<BigUint> {
    let mut classes: FxHashMap<Vec<u64>, Vec<&Annotated>> = FxHashMap::default();
    for &annotated in alike {
        let mut state = annotated.state.clone();
        if alike.len() > 1 {
            stepper.canonicalize(&mut state, PartitionNumber::COARSEST);
        }
        classes.entry(state).or_default().push(annotated);
    }
    let mut total = BigUint::default();
    for mut class in classes.into_values() {
        if let Some(whole) = class.iter().position(|annotated| annotated.partition == PartitionNumber::COARSEST) {
            class = vec![class[whole]];
        }
        total += count_listed(stepper, &class)?;
    }
    Some(total)
}

fn count_listed(stepper: &mut Stepper<'_, '_>, class: &[&Annotated]) -> Option<BigUint> {
    let members = stepper.arrangement.members();
    let discrete = stepper.partitions.number(&Partition::discrete(members));
    let mut states: FxHashSet<Vec<u64>> = FxHashSet::default();
    let mut binomials = Binomials::default();
    for annotated in class {
        let kinds = stepper.kinds(&annotated.state, annotated.partition);
        if binomials.orbit_size(&kinds) > BigUint::from(LIST_LIMIT) {
            return None;
        }
        states.extend(stepper.unwind(&annotated.state, annotated.partition, discrete));
        if states.len() > LIST_LIMIT {
            return None;
        }
    }
    Some(BigUint::from(states.len()))
}
