//! Initial states as annotated states. An annotated initial state may represent only initial states, so a search does
//! not always start with the coarsest partition.

use quotient_symmetry::Partition;
use rustc_hash::{FxHashMap, FxHashSet};

use super::partitions::PartitionNumber;
use super::stepper::Stepper;

/// Splits a set of states into orbits of partitions that are as coarse as possible.
pub(super) fn annotate(
    stepper: &mut Stepper<'_, '_>,
    coarsest: PartitionNumber,
    states: &[Vec<u64>],
) -> Vec<(Vec<u64>, PartitionNumber)> {
    let mut annotated = Vec::new();
    for class in grouped(stepper, coarsest, states) {
        let partition = preserving(stepper, coarsest, &class);
        if partition == coarsest {
            annotated.push((class[0].clone(), coarsest));
            continue;
        }
        for orbit in grouped(stepper, partition, &class) {
            let own = preserving(stepper, coarsest, &orbit);
            annotated.push((orbit[0].clone(), own));
        }
    }
    for (state, partition) in &mut annotated {
        stepper.canonicalize(state, *partition);
    }
    annotated
}

/// The states by their representatives, in order.
fn grouped(stepper: &mut Stepper<'_, '_>, partition: PartitionNumber, states: &[Vec<u64>]) -> Vec<Vec<Vec<u64>>> {
    let mut numbers: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<Vec<u64>>> = Vec::new();
    for state in states {
        let mut key = state.clone();
        stepper.canonicalize(&mut key, partition);
        let next = groups.len();
        let number = *numbers.entry(key).or_insert(next);
        if number == next {
            groups.push(Vec::new());
        }
        groups[number].push(state.clone());
    }
    groups
}

/// The coarsest partition whose permutations preserve a set of states.
fn preserving(stepper: &mut Stepper<'_, '_>, coarsest: PartitionNumber, states: &[Vec<u64>]) -> PartitionNumber {
    let set: FxHashSet<&[u64]> = states.iter().map(Vec::as_slice).collect();
    let arrangement = &stepper.arrangement;
    let members = arrangement.members();
    let mut image = Vec::new();
    let mut preserves = |first: usize, second: usize| {
        let mut place_of: Vec<usize> = (0..members).collect();
        place_of.swap(first, second);
        states.iter().all(|state| {
            arrangement.apply(state, &place_of, &mut image);
            set.contains(&image[..])
        })
    };
    let mut label: Vec<usize> = (0..members).collect();
    for cell in stepper.partitions.cells(coarsest).iter() {
        let mut classes: Vec<usize> = Vec::new();
        for &member in cell {
            match classes.iter().find(|&&known| preserves(known, member)) {
                Some(&known) => label[member] = known,
                None => classes.push(member),
            }
        }
    }
    stepper.partitions.number(&Partition::from_labels(label))
}
