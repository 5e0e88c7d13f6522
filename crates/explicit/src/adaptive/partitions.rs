//! The partitions of a search, each stored once, with their greatest lower bounds.

use std::rc::Rc;

use quotient_symmetry::Partition;
use rustc_hash::FxHashMap;

/// A stored partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PartitionNumber(u32);

impl PartitionNumber {
    /// The partition that keeps every family together: the first one that a [`super::stepper::Stepper`] stores.
    pub(crate) const COARSEST: Self = Self(0);
}

/// All partitions of a search.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    list: Vec<(Partition, Rc<[Vec<usize>]>)>,
    numbers: FxHashMap<Partition, PartitionNumber>,
    meets: FxHashMap<(PartitionNumber, PartitionNumber), PartitionNumber>,
    /// For a pair: the cells of the second that are not contained in a cell of the first.
    straddling: FxHashMap<(PartitionNumber, PartitionNumber), Rc<[Vec<usize>]>>,
}

impl Partitions {
    pub(crate) fn number(&mut self, partition: &Partition) -> PartitionNumber {
        if let Some(&number) = self.numbers.get(partition) {
            return number;
        }
        let number = PartitionNumber(self.list.len() as u32);
        self.list.push((partition.clone(), partition.cells().into()));
        self.numbers.insert(partition.clone(), number);
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn partition(&self, number: PartitionNumber) -> &Partition {
        &self.list[number.0 as usize].0
    }

    pub(crate) fn cells(&self, number: PartitionNumber) -> Rc<[Vec<usize>]> {
        Rc::clone(&self.list[number.0 as usize].1)
    }

    /// The greatest lower bound.
    pub(crate) fn meet(&mut self, first: PartitionNumber, second: PartitionNumber) -> PartitionNumber {
        if first == second {
            return first;
        }
        let key = (first.min(second), first.max(second));
        if let Some(&known) = self.meets.get(&key) {
            return known;
        }
        let meet = self.partition(first).meet(self.partition(second));
        let number = self.number(&meet);
        self.meets.insert(key, number);
        number
    }

    /// The cells of `fine` whose members are in several cells of `coarse`.
    pub(crate) fn straddling(&mut self, coarse: PartitionNumber, fine: PartitionNumber) -> Rc<[Vec<usize>]> {
        if let Some(known) = self.straddling.get(&(coarse, fine)) {
            return Rc::clone(known);
        }
        let partition = self.partition(coarse);
        let straddling: Rc<[Vec<usize>]> = self
            .cells(fine)
            .iter()
            .filter(|cell| cell.iter().any(|&member| !partition.joins(cell[0], member)))
            .cloned()
            .collect();
        self.straddling.insert((coarse, fine), Rc::clone(&straddling));
        straddling
    }
}
