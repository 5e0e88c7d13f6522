//! External sorting: sorted runs on disk, merged.

use std::ops::Range;

use quotient_states::records::{Disk, DiskError, Reader, Sequence};

/// The number of runs merged at once.
const RUNS: usize = 48;

/// Records to be sorted.
#[derive(Debug)]
pub(crate) struct Sorter {
    disk: Disk,
    stride: usize,
    /// The words of a record by which it is sorted.
    order: Range<usize>,
    /// Of records that agree in this many leading words, only the first is kept. None: all are kept.
    unique: Option<usize>,
    records: Vec<u64>,
    /// The largest number of words of records in memory.
    room: usize,
    runs: Vec<Sequence>,
}

impl Sorter {
    pub(crate) fn new(disk: &Disk, stride: usize, order: Range<usize>, unique: Option<usize>, bytes: u64) -> Self {
        // The sorting permutation takes a few bytes per record.
        let room = (bytes as usize / (8 * stride + 4)).max(16) * stride;
        Self { disk: disk.clone(), stride, order, unique, records: Vec::new(), room, runs: Vec::new() }
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, parts: [&[u64]; 2]) -> Result<(), DiskError> {
        if self.records.len() >= self.room {
            self.write_run()?;
        }
        if self.records.len() + self.stride > self.records.capacity() {
            // Doubling must not exceed the room.
            let more = self.records.len().max(16 * self.stride).min(self.room - self.records.len());
            self.records.reserve_exact(more);
        }
        for part in parts {
            self.records.extend_from_slice(part);
        }
        Ok(())
    }

    /// Takes all records, leaving none.
    pub(crate) fn take(&mut self) -> Self {
        let Self { ref disk, stride, ref order, unique, room, .. } = *self;
        let empty = Self {
            disk: disk.clone(),
            stride,
            order: order.clone(),
            unique,
            records: Vec::new(),
            room,
            runs: Vec::new(),
        };
        std::mem::replace(self, empty)
    }

    /// Visits all records in order and removes them.
    pub(crate) fn drain<E: From<DiskError>>(
        &mut self,
        mut visit: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.runs.is_empty() {
            let sorted = self.sorted();
            let mut last: Option<u32> = None;
            for number in sorted {
                let record = self.record(number);
                let known = last.is_some_and(|last| self.same(self.record(last), record));
                if !known {
                    visit(record)?;
                    last = Some(number);
                }
            }
            self.records.clear();
            return Ok(());
        }
        self.write_run()?;
        let runs = std::mem::take(&mut self.runs);
        self.merge(&runs, visit)
    }

    fn record(&self, number: u32) -> &[u64] {
        &self.records[number as usize * self.stride..][..self.stride]
    }

    fn same(&self, left: &[u64], right: &[u64]) -> bool {
        self.unique.is_some_and(|words| left[..words] == right[..words])
    }

    /// The numbers of the records in memory in order.
    fn sorted(&self) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..(self.records.len() / self.stride) as u32).collect();
        let key = |number: u32| &self.record(number)[self.order.clone()];
        sorted.sort_unstable_by(|&left, &right| key(left).cmp(key(right)));
        sorted
    }

    /// Moves the records in memory to disk.
    fn write_run(&mut self) -> Result<(), DiskError> {
        let mut run = self.disk.sequence(self.stride);
        self.drain_memory(&mut run)?;
        self.runs.push(run);
        if self.runs.len() >= RUNS {
            let runs = std::mem::take(&mut self.runs);
            let mut merged = self.disk.sequence(self.stride);
            self.merge::<DiskError>(&runs, |record| merged.push(record))?;
            merged.flush()?;
            self.runs.push(merged);
        }
        Ok(())
    }

    fn drain_memory(&mut self, run: &mut Sequence) -> Result<(), DiskError> {
        let runs = std::mem::take(&mut self.runs);
        let result = self.drain(|record| run.push(record));
        self.runs = runs;
        result?;
        run.flush()
    }

    /// Visits the records of several runs in order.
    fn merge<E: From<DiskError>>(
        &self,
        runs: &[Sequence],
        mut visit: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut readers: Vec<Reader<'_>> = runs.iter().map(|run| run.reader(0)).collect();
        let mut last: Vec<u64> = Vec::new();
        loop {
            let mut least: Option<usize> = None;
            for number in 0..readers.len() {
                if readers[number].record().map_err(DiskError::from)?.is_none() {
                    continue;
                }
                let key = |number: usize| &readers[number].current()[self.order.clone()];
                if least.is_none_or(|least| key(number) < key(least)) {
                    least = Some(number);
                }
            }
            let Some(least) = least else { return Ok(()) };
            let record = readers[least].current();
            if last.is_empty() || !self.same(&last, record) {
                visit(record)?;
                last.clear();
                last.extend_from_slice(record);
            }
            readers[least].advance();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_out_once_and_in_order() {
        let disk = Disk::new(&std::env::temp_dir(), None).expect("there is a temporary folder");
        // All in memory, some runs, and more runs than are merged at once.
        for (bytes, count) in [(1 << 20, 1000), (1 << 12, 1000), (1 << 10, 10_000)] {
            let mut by_state = Sorter::new(&disk, 2, 0..2, Some(1), bytes);
            let mut by_key = Sorter::new(&disk, 2, 1..2, None, bytes);
            for number in 0..count {
                let state = number * 7919 % (count / 3);
                by_state.push([&[state], &[number]]).expect("there is room");
                by_key.push([&[state], &[count - number]]).expect("there is room");
            }
            let mut states = Vec::new();
            let drained = by_state.drain::<DiskError>(|record| {
                // The first of those with the same state.
                assert!((0..record[1]).all(|before| before * 7919 % (count / 3) != record[0]));
                states.push(record[0]);
                Ok(())
            });
            drained.expect("it can be read");
            assert_eq!(states, (0..count / 3).collect::<Vec<_>>());
            let mut keys = Vec::new();
            let drained = by_key.drain::<DiskError>(|record| {
                keys.push(record[1]);
                Ok(())
            });
            drained.expect("it can be read");
            assert_eq!(keys, (1..=count).collect::<Vec<_>>());
            assert!(by_key.drain::<DiskError>(|_| panic!("nothing is left")).is_ok());
        }
    }
}
