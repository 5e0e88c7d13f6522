//! Records on disk. Files are unnamed: they disappear with the search, however it ends. Short sequences stay in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quotient_search::StopReason;

/// The approximate number of bytes written and read at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Why something could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The files would take more than this many bytes.
    #[error("the limit of {0} bytes is reached")]
    Limit(u64),
    /// The system reports an error.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl From<DiskError> for StopReason {
    fn from(error: DiskError) -> Self {
        match error {
            DiskError::Limit(limit) => Self::DiskLimit(limit),
            DiskError::System(error) => Self::SpillFailed(error.to_string()),
        }
    }
}

/// A folder for files, and a limit on their total size.
#[derive(Clone, Debug)]
pub struct Disk {
    folder: PathBuf,
    limit: u64,
    used: Arc<AtomicU64>,
    peak: Arc<AtomicU64>,
}

impl Disk {
    /// # Errors
    /// If there is no such folder, or files cannot be made there.
    pub fn new(folder: &Path, limit: Option<u64>) -> Result<Self, DiskError> {
        // Fail now rather than when the first file is needed.
        tempfile::tempfile_in(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            limit: limit.unwrap_or(u64::MAX),
            used: Arc::default(),
            peak: Arc::default(),
        })
    }

    /// The peak total size of the files.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Reserves bytes that will be written.
    #[inline]
    fn take(&self, bytes: u64) -> Result<(), DiskError> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.limit {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(DiskError::Limit(self.limit));
        }
        self.peak.fetch_max(used, Ordering::Relaxed);
        Ok(())
    }

    /// An empty sequence of records of a number of words.
    pub fn sequence(&self, stride: usize) -> Sequence {
        Sequence { file: None, stride, written: 0, pending: Vec::new(), disk: self.clone() }
    }
}

/// Consecutive records of the same number of words in a file.
#[derive(Debug)]
pub struct Sequence {
    /// None while everything is in memory.
    file: Option<File>,
    stride: usize,
    /// Bytes in the file.
    written: u64,
    /// Bytes waiting to be written.
    pending: Vec<u8>,
    disk: Disk,
}

impl Sequence {
    /// The disk it is on.
    #[inline]
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The number of records.
    #[inline]
    pub fn len(&self) -> u64 {
        (self.written + self.pending.len() as u64) / self.record_bytes()
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds words; in the end these must be whole records.
    #[inline]
    pub fn push(&mut self, words: &[u64]) -> Result<(), DiskError> {
        for word in words {
            self.pending.extend_from_slice(&word.to_le_bytes());
        }
        if self.pending.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Whether part of it is in a file.
    pub fn is_on_disk(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the waiting bytes, which frees their memory. If that fails, they remain waiting and readable.
    pub fn flush(&mut self) -> Result<(), DiskError> {
        let bytes = self.pending.len() as u64;
        if bytes == 0 {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.disk.folder)?),
        };
        self.disk.take(bytes)?;
        if let Err(error) = file.seek(SeekFrom::Start(self.written)).and_then(|_| file.write_all(&self.pending)) {
            self.disk.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(error.into());
        }
        self.written += bytes;
        self.pending = Vec::new();
        Ok(())
    }

    /// The approximate number of records read at once.
    #[inline]
    pub fn block(&self) -> u64 {
        (BLOCK_BYTES as u64 / self.record_bytes()).max(1)
    }

    /// Reads some of the records; fewer if there are not enough.
    pub fn read(&self, first: u64, count: u64, words: &mut Vec<u64>) -> io::Result<()> {
        words.clear();
        let start = first * self.record_bytes();
        let end = start + count.min(self.len().saturating_sub(first)) * self.record_bytes();
        let written = self.written.clamp(start, end);
        let mut bytes = vec![0; (written - start) as usize];
        if let Some(mut file) = self.file.as_ref().filter(|_| !bytes.is_empty()) {
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes)?;
        }
        if end > written {
            let offset = |position: u64| (position - self.written) as usize;
            bytes.extend_from_slice(&self.pending[offset(written)..offset(end)]);
        }
        let (chunks, _) = bytes.as_chunks();
        words.extend(chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)));
        Ok(())
    }

    /// A reader of the records from a given one on.
    pub fn reader(&self, first: u64) -> Reader<'_> {
        Reader { sequence: self, next: first, words: Vec::new(), position: 0 }
    }

    fn record_bytes(&self) -> u64 {
        8 * self.stride as u64
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        self.disk.used.fetch_sub(self.written, Ordering::Relaxed);
    }
}

/// Reads a sequence in order.
#[derive(Debug)]
pub struct Reader<'a> {
    sequence: &'a Sequence,
    /// The first record not yet read.
    next: u64,
    words: Vec<u64>,
    position: usize,
}

impl Reader<'_> {
    /// The current record; none after the last.
    #[inline]
    pub fn record(&mut self) -> io::Result<Option<&[u64]>> {
        if self.position == self.words.len() {
            self.sequence.read(self.next, self.sequence.block(), &mut self.words)?;
            self.next += (self.words.len() / self.sequence.stride) as u64;
            self.position = 0;
        }
        Ok(self.words.get(self.position..self.position + self.sequence.stride))
    }

    /// The current record, if it was read.
    #[inline]
    pub fn current(&self) -> &[u64] {
        &self.words[self.position..self.position + self.sequence.stride]
    }

    /// Moves to the next record.
    #[inline]
    pub fn advance(&mut self) {
        self.position += self.sequence.stride;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_limits_are_kept() {
        let disk = Disk::new(&std::env::temp_dir(), Some(1 << 20)).expect("there is a temporary folder");
        let mut sequence = disk.sequence(3);
        for number in 0..20_000 {
            sequence.push(&[number, number * number, !number]).expect("there is room");
        }
        assert_eq!(sequence.len(), 20_000);
        assert!(sequence.is_on_disk() && !sequence.pending.is_empty());
        for first in [0, 1, 7_777, 19_999, 20_000] {
            let mut reader = sequence.reader(first);
            for number in first..20_000 {
                assert_eq!(reader.record().expect("it was written"), Some(&[number, number * number, !number][..]));
                reader.advance();
            }
            assert_eq!(reader.record().expect("it is the end"), None);
        }
        let mut other = disk.sequence(1);
        let full = (0..1 << 17).try_for_each(|number| other.push(&[number]));
        assert!(matches!(full, Err(DiskError::Limit(_))));
        // Nothing is lost.
        let mut reader = other.reader(0);
        for number in 0..other.len() {
            assert_eq!(reader.record().expect("it is there"), Some(&[number][..]));
            reader.advance();
        }
        drop(sequence);
        let mut third = disk.sequence(1);
        (0..1 << 15).try_for_each(|number| third.push(&[number])).expect("there is room again");
    }
}
