//! The sorted states on disk, for membership tests.

use std::cmp::Ordering;

use quotient_states::records::{Disk, DiskError, Sequence};

/// Disjoint sorted sets of states. A set is merged with its predecessor when it has grown to half its size, so there
/// are few of them.
#[derive(Debug)]
pub(crate) struct Visited {
    disk: Disk,
    words: usize,
    runs: Vec<Run>,
}

/// A sorted set of states.
#[derive(Debug)]
struct Run {
    states: Sequence,
    /// The first state of each block.
    index: Vec<u64>,
    /// The block that was read last.
    block: Option<u64>,
    content: Vec<u64>,
}

impl Run {
    fn new(disk: &Disk, words: usize) -> Self {
        Self { states: disk.sequence(words), index: Vec::new(), block: None, content: Vec::new() }
    }

    /// Frees the memory of a set that is mostly on disk. Short sets stay in memory.
    fn finish(&mut self) -> Result<(), DiskError> {
        if self.states.is_on_disk() { self.states.flush() } else { Ok(()) }
    }

    fn push(&mut self, state: &[u64]) -> Result<(), DiskError> {
        if self.states.len().is_multiple_of(self.states.block()) {
            self.index.extend_from_slice(state);
        }
        self.states.push(state)
    }

    fn contains(&mut self, state: &[u64]) -> Result<bool, DiskError> {
        let words = state.len();
        let after = partition(&self.index, words, |first| first <= state);
        let Some(block) = after.checked_sub(1) else { return Ok(false) };
        let block = block as u64;
        // States are queried in order, so each block is read once.
        if self.block != Some(block) {
            self.block = None;
            self.states.read(block * self.states.block(), self.states.block(), &mut self.content)?;
            self.block = Some(block);
        }
        let position = partition(&self.content, words, |stored| stored < state);
        Ok(self.content.get(position * words..(position + 1) * words) == Some(state))
    }
}

/// The number of sorted states before the first for which a condition does not hold.
fn partition(states: &[u64], words: usize, holds: impl Fn(&[u64]) -> bool) -> usize {
    let (mut low, mut high) = (0, states.len() / words);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(&states[middle * words..][..words]) { low = middle + 1 } else { high = middle }
    }
    low
}

impl Visited {
    pub(crate) fn new(disk: &Disk, words: usize) -> Self {
        Self { disk: disk.clone(), words, runs: Vec::new() }
    }

    /// Whether a state was added. Cheapest if states are queried in order.
    pub(crate) fn contains(&mut self, state: &[u64]) -> Result<bool, DiskError> {
        for run in &mut self.runs {
            if run.contains(state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A set to be filled with new states in order.
    pub(crate) fn addition(&self) -> Addition {
        Addition(Run::new(&self.disk, self.words))
    }

    /// Takes ownership of a set of new states.
    pub(crate) fn add(&mut self, addition: Addition) -> Result<(), DiskError> {
        let mut last = addition.0;
        last.finish()?;
        if last.states.is_empty() {
            return Ok(());
        }
        while self.runs.last().is_some_and(|before| before.states.len() <= 2 * last.states.len()) {
            let before = self.runs.pop().expect("there is one");
            last = self.merge(&before, &last)?;
        }
        self.runs.push(last);
        Ok(())
    }

    fn merge(&self, left: &Run, right: &Run) -> Result<Run, DiskError> {
        let mut merged = Run::new(&self.disk, self.words);
        let (mut left, mut right) = (left.states.reader(0), right.states.reader(0));
        loop {
            let next = match (left.record()?, right.record()?) {
                (None, None) => break,
                (Some(_), None) => &mut left,
                (None, Some(_)) => &mut right,
                (Some(one), Some(other)) => match one.cmp(other) {
                    Ordering::Less => &mut left,
                    Ordering::Equal | Ordering::Greater => &mut right,
                },
            };
            merged.push(next.current())?;
            next.advance();
        }
        merged.finish()?;
        Ok(merged)
    }
}

/// A set of new states that is being filled.
#[derive(Debug)]
pub(crate) struct Addition(Run);

impl Addition {
    /// Adds a state that is greater than those before it.
    pub(crate) fn push(&mut self, state: &[u64]) -> Result<(), DiskError> {
        self.0.push(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_added_and_nothing_else() {
        let disk = Disk::new(&std::env::temp_dir(), None).expect("there is a temporary folder");
        let mut visited = Visited::new(&disk, 2);
        let sets = 20;
        for set in 0..sets {
            let mut addition = visited.addition();
            for number in 0..set * set * 50 {
                addition.push(&[number / 3, (number % 3) * 100 + set]).expect("there is room");
            }
            visited.add(addition).expect("there is room");
            assert!(visited.runs.len() < 12);
        }
        for set in 0..sets {
            for number in 0..set * set * 50 + 100 {
                let state = [number / 3, (number % 3) * 100 + set];
                assert_eq!(visited.contains(&state).expect("it can be read"), number < set * set * 50);
            }
        }
        assert!(!visited.contains(&[0, 99]).expect("it can be read"));
    }
}
