//! The stored states that did not fit into memory: a sequence on disk, in the order of discovery.

use std::io;
use std::ops::ControlFlow;

use crate::records::{Disk, Sequence};
use crate::store::StateNumber;

/// States in the order of discovery, with their parents.
#[derive(Debug)]
pub struct Overflow {
    words: usize,
    /// The number of the first one. Those in memory have lower numbers.
    pub first: u64,
    /// The states, each with its parent.
    pub records: Sequence,
}

impl Overflow {
    /// No states yet, which have numbers from a given one on.
    pub fn new(disk: &Disk, words: usize, first: u64) -> Self {
        Self { words, first, records: disk.sequence(words + 1) }
    }

    /// The number of states.
    #[inline]
    pub fn len(&self) -> u64 {
        self.records.len()
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The peak disk use of the search, in bytes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.records.disk().peak_bytes()
    }

    /// A state and its parent; none if it is in memory.
    #[inline]
    pub(crate) fn get(&self, number: StateNumber) -> io::Result<Option<(Vec<u64>, StateNumber)>> {
        let Some(position) = u64::from(number).checked_sub(self.first) else { return Ok(None) };
        let mut record = Vec::new();
        self.records.read(position, 1, &mut record)?;
        let parent = record.pop().ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Some((record, parent as StateNumber)))
    }

    /// Visits all states. A break ends the traversal.
    pub(crate) fn visit(&self, mut visit: impl FnMut(&[u64]) -> ControlFlow<()>) -> io::Result<ControlFlow<()>> {
        let mut reader = self.records.reader(0);
        while let Some(record) = reader.record()? {
            if visit(&record[..self.words]).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            reader.advance();
        }
        Ok(ControlFlow::Continue(()))
    }
}
