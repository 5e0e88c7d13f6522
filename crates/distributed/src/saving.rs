//! Checkpoints of a worker: the states that it stores, in a file that only grows, and another one that says how much of
//! it belongs to the last two points between levels. All workers save the same points, and none is more than one ahead,
//! so that there is one that all have.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::messages::{Discovery, Point};
use quotient_states::checkpoint::Sum;
use quotient_states::store::{NO_PARENT, StateNumber, Store};

/// The version of the format.
const FORM: u32 = 2;
/// The number of points that are kept.
const KEPT: usize = 2;

/// What all workers know together between two levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    /// States of each level.
    pub(super) levels: Vec<u64>,
    pub(super) transitions: u64,
    pub(super) unexpanded: u64,
    /// The cover properties and remarks that were reached.
    pub(super) covered: Vec<u32>,
    pub(super) findings: Vec<Discovery>,
}

/// What a worker saves between two levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    pub(super) point: Point,
    /// The number of states that it stores, and of those before the last level.
    pub(super) states: u64,
    pub(super) first: u64,
    /// The sum over its states.
    sum: u64,
    pub totals: Totals,
    /// The rules that have fired.
    pub fired: Vec<u32>,
}

/// The contents of the smaller file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Index {
    form: u32,
    fingerprint: u64,
    worker: u32,
    workers: u32,
    words: u32,
    snapshots: Vec<Snapshot>,
}

/// Who saves what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) fingerprint: u64,
    pub(super) worker: u32,
    pub(super) workers: u32,
    pub(super) words: u32,
}

impl Identity {
    fn index(self, snapshots: Vec<Snapshot>) -> Index {
        let Self { fingerprint, worker, workers, words } = self;
        Index { form: FORM, fingerprint, worker, workers, words, snapshots }
    }

    /// The path of one of the files.
    fn path(self, folder: &Path, kind: &str) -> PathBuf {
        folder.join(format!("worker-{}.{kind}", self.worker))
    }

    /// What was saved in a folder, oldest first.
    ///
    /// # Errors
    /// If it cannot be read, or belongs to another search.
    pub(super) fn read(self, folder: &Path) -> Result<Vec<Snapshot>, String> {
        let path = self.path(folder, "levels");
        let shown = path.display();
        let text = fs::read_to_string(&path).map_err(|error| format!("`{shown}`: {error}"))?;
        let index: Index = serde_json::from_str(&text).map_err(|_| format!("`{shown}` is not a checkpoint"))?;
        match () {
            () if index.form != FORM => Err(format!("`{shown}` is a checkpoint of another version of quotient")),
            () if index.workers != self.workers => {
                Err(format!("it is one of {} workers, and these are {}", index.workers, self.workers))
            }
            () if index.worker != self.worker => Err(format!("`{shown}` belongs to another worker")),
            () if index.fingerprint != self.fingerprint || index.words != self.words => {
                Err("it belongs to another search: another model, or other options".to_owned())
            }
            () => Ok(index.snapshots),
        }
    }
}

/// The files that a worker saves to.
pub(super) struct Saver {
    folder: PathBuf,
    identity: Identity,
    /// The file of states; none before the first time.
    file: Option<File>,
    /// The number of states in it, and the sum over them.
    saved: u64,
    sum: Sum,
    snapshots: Vec<Snapshot>,
}

impl Saver {
    /// Saves to a folder, which has what was saved before if the search continues from there.
    pub(super) fn new(folder: &Path, identity: Identity) -> Self {
        let (folder, sum) = (folder.to_owned(), Sum::default());
        Self { folder, identity, file: None, saved: 0, sum, snapshots: Vec::new() }
    }

    /// The last point that was saved.
    pub(super) fn last(&self) -> Option<Point> {
        self.snapshots.last().map(|snapshot| snapshot.point)
    }

    /// Continues in the folder from which a snapshot was read.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub(super) fn continue_from(&mut self, snapshot: Snapshot, sum: Sum) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(self.identity.path(&self.folder, "states"))?;
        file.set_len(snapshot.states * self.stride() as u64)?;
        (self.saved, self.sum, self.file) = (snapshot.states, sum, Some(file));
        self.snapshots = vec![snapshot];
        self.write_index()
    }

    fn stride(&self) -> usize {
        8 * self.identity.words as usize + PARENT_BYTES
    }

    /// Saves a point: the first states of a store, of which those of the last level come last.
    ///
    /// # Errors
    /// If the files cannot be written. What was saved before is still there.
    pub(super) fn save(
        &mut self,
        (store, owners): (&Store, &[u16]),
        point: Point,
        (first, states): (u64, u64),
        totals: &Totals,
        fired: Vec<u32>,
    ) -> io::Result<()> {
        let stride = self.stride();
        if self.file.is_none() {
            fs::create_dir_all(&self.folder)?;
            // What another search has saved here is no longer valid.
            self.write_index()?;
            self.file = Some(File::create(self.identity.path(&self.folder, "states"))?);
        }
        let file = self.file.as_mut().expect("it was opened");
        file.seek(SeekFrom::Start(self.saved * stride as u64))?;
        let mut sum = self.sum.clone();
        let mut output = BufWriter::with_capacity(1 << 16, &mut *file);
        let mut record = Vec::with_capacity(stride);
        for number in self.saved..states {
            let state = number as StateNumber;
            record.clear();
            record.extend(store.state(state).iter().flat_map(|word| word.to_le_bytes()));
            record.extend(store.parent(state).unwrap_or(NO_PARENT).to_le_bytes());
            record.extend(owners[number as usize].to_le_bytes());
            sum.add(&record);
            output.write_all(&record)?;
        }
        output.flush()?;
        drop(output);
        file.sync_data()?;
        (self.saved, self.sum) = (states, sum);
        let sum = self.sum.finish();
        self.snapshots.push(Snapshot { point, states, first, sum, totals: totals.clone(), fired });
        if self.snapshots.len() > KEPT {
            self.snapshots.remove(0);
        }
        self.write_index()
    }

    fn write_index(&self) -> io::Result<()> {
        let path = self.identity.path(&self.folder, "levels");
        let beside = self.identity.path(&self.folder, "levels.unfinished");
        let text = serde_json::to_string(&self.identity.index(self.snapshots.clone()))?;
        let mut file = File::create(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    }
}

/// The bytes of a parent: its number, and the worker that stores it.
const PARENT_BYTES: usize = 6;

/// Reads the states of a snapshot: passes each to `store` with its parent and the worker that stores that one. Returns
/// the sum over them.
///
/// # Errors
/// If they cannot be read, or are not what was saved, or there is no room for them.
pub(super) fn load(
    folder: &Path,
    identity: Identity,
    snapshot: &Snapshot,
    mut store: impl FnMut(&[u64], StateNumber, u16) -> Result<(), String>,
) -> Result<Sum, String> {
    let path = identity.path(folder, "states");
    let shown = path.display();
    let failed = |error: io::Error| format!("`{shown}`: {error}");
    let mut input = BufReader::with_capacity(1 << 16, File::open(&path).map_err(failed)?);
    let words = identity.words as usize;
    let mut record = vec![0; 8 * words + PARENT_BYTES];
    let mut state = vec![0; words];
    let mut sum = Sum::default();
    for _ in 0..snapshot.states {
        input.read_exact(&mut record).map_err(failed)?;
        sum.add(&record);
        let (packed, parent) = record.split_at(8 * words);
        for (word, bytes) in state.iter_mut().zip(packed.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let number = StateNumber::from_le_bytes(parent[..4].try_into().expect("four bytes"));
        let owner = u16::from_le_bytes(parent[4..].try_into().expect("two bytes"));
        store(&state, number, owner)?;
    }
    if sum.finish() == snapshot.sum { Ok(sum) } else { Err(format!("`{shown}` is damaged")) }
}
