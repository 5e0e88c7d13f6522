//! How many states annotated states stand for, each counted once. Annotated states whose members have
//! the same blocks up to a permutation may stand for some states in common; others do not.

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

use super::partitions::PartitionNumber;
use super::search::Annotated;
use super::stepper::Stepper;

/// Partial words up to which a class is counted.
const WORD_LIMIT: usize = 200_000;
/// States up to which orbits are listed where blocks do not say everything.
const LIST_LIMIT: usize = 200_000;

/// Counts classes, and knows those that differ from one counted before by the names of blocks only.
#[derive(Debug, Default)]
pub(super) struct Counter {
    known: FxHashMap<(Vec<PartitionNumber>, Vec<u16>), BigUint>,
}

impl Counter {
    /// The number of states that annotated states of one class stand for: all have the same blocks up to a
    /// permutation, and the same in what no permutation changes.
    pub(super) fn count(&mut self, stepper: &mut Stepper<'_, '_>, class: &[&Annotated]) -> Option<BigUint> {
        if stepper.arrangement.is_plain() { self.count_plain(stepper, class) } else { count_listed(stepper, class) }
    }

    /// Words over the blocks, one letter a member: those of one annotated state are all with a given number
    /// of each block in each cell. Words of several are counted letter by letter; prefixes after which the
    /// same may follow are counted together.
    fn count_plain(&mut self, stepper: &mut Stepper<'_, '_>, class: &[&Annotated]) -> Option<BigUint> {
        let mut letters: Vec<u64> = Vec::new();
        let mut all_kinds = Vec::with_capacity(class.len());
        for annotated in class {
            let kinds = stepper.kinds(&annotated.state, annotated.partition);
            letters.extend(kinds.iter().flatten().map(|kind| kind.block));
            all_kinds.push(kinds);
        }
        letters.sort_unstable();
        letters.dedup();
        if let [kinds] = &all_kinds[..] {
            return Some(orbit_size(kinds));
        }
        // What is left of each block in each cell, for each annotated state.
        let mut starts: Vec<usize> = Vec::with_capacity(class.len());
        let mut left: Vec<u16> = Vec::new();
        for kinds in &all_kinds {
            starts.push(left.len());
            for cell in kinds {
                let first = left.len();
                left.resize(first + letters.len(), 0);
                for kind in cell {
                    let letter = letters.binary_search(&kind.block).expect("it is one of them");
                    left[first + letter] = kind.members.len() as u16;
                }
            }
        }
        starts.push(left.len());
        let key = (class.iter().map(|annotated| annotated.partition).collect(), left.clone());
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        let count = count_words(stepper, class, letters.len(), &starts, left)?;
        self.known.insert(key, count.clone());
        Some(count)
    }
}

/// The number of words that some annotated state allows.
fn count_words(
    stepper: &Stepper<'_, '_>,
    class: &[&Annotated],
    letters: usize,
    starts: &[usize],
    left: Vec<u16>,
) -> Option<BigUint> {
    let members = stepper.arrangement.members();
    let alive: Vec<u16> = (0..class.len() as u16).collect();
    let mut counts: FxHashMap<(Vec<u16>, Vec<u16>), BigUint> = FxHashMap::default();
    counts.insert((alive, left), BigUint::from(1u32));
    let cells: Vec<&quotient_symmetry::Partition> =
        class.iter().map(|annotated| stepper.partitions.partition(annotated.partition)).collect();
    for member in 0..members {
        let mut next: FxHashMap<(Vec<u16>, Vec<u16>), BigUint> = FxHashMap::default();
        for ((alive, left), count) in counts {
            for letter in 0..letters {
                let mut survivors = Vec::new();
                let mut rest = Vec::new();
                let mut at = 0;
                for &number in &alive {
                    let width = starts[number as usize + 1] - starts[number as usize];
                    let own = &left[at..at + width];
                    at += width;
                    let position = cells[number as usize].cell(member) * letters + letter;
                    if own[position] > 0 {
                        survivors.push(number);
                        let first = rest.len();
                        rest.extend_from_slice(own);
                        rest[first + position] -= 1;
                    }
                }
                if !survivors.is_empty() {
                    *next.entry((survivors, rest)).or_default() += &count;
                }
            }
        }
        if next.len() > WORD_LIMIT {
            return None;
        }
        counts = next;
    }
    Some(counts.into_values().sum())
}

/// The number of different ways to put the members of each cell in order.
fn orbit_size(kinds: &[Vec<quotient_symmetry::Kind>]) -> BigUint {
    let mut size = BigUint::from(1u32);
    for cell in kinds {
        let mut placed = 0u32;
        for kind in cell {
            for number in 1..=kind.members.len() as u32 {
                placed += 1;
                size = size * placed / number;
            }
        }
    }
    size
}

fn count_listed(stepper: &mut Stepper<'_, '_>, class: &[&Annotated]) -> Option<BigUint> {
    let members = stepper.arrangement.members();
    let discrete = stepper.partitions.number(&quotient_symmetry::Partition::discrete(members));
    let mut states: FxHashSet<Vec<u64>> = FxHashSet::default();
    for annotated in class {
        let kinds = stepper.kinds(&annotated.state, annotated.partition);
        if orbit_size(&kinds) > BigUint::from(LIST_LIMIT) {
            return None;
        }
        states.extend(stepper.unwind(&annotated.state, annotated.partition, discrete));
        if states.len() > LIST_LIMIT {
            return None;
        }
    }
    Some(BigUint::from(states.len()))
}
