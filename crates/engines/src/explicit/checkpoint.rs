//! Searches that go on later: what was found is written to a file, and read again.
//!
//! A checkpoint holds every stored state with its parent, which states wait to be expanded and in
//! what order, and what was counted so far; so a search that goes on from it ends as one that was
//! never stopped, on any number of threads. It is written beside its final place and then renamed,
//! so that a full disk or a killed process leaves the checkpoint before it as it was; and it ends
//! with a sum over all of it, so that half a file is not taken for a whole one.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use quotient_ir::{Model, PropertyId, RuleId, TableIndex};

use crate::explicit::Finding;
use crate::explicit::judge::Checks;
use crate::explicit::lookup::Lookup;
use crate::explicit::store::{Full, NO_PARENT, Probe, StateNumber, Store};
use crate::options::SearchOptions;
use crate::report::StopReason;
use crate::seam::SearchSpace;

/// The first bytes of a checkpoint, with the version of the format.
const MAGIC: &[u8; 24] = b"quotient checkpoint v3\n\0";

/// What a search has found out so far, besides its states.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchTotals {
    /// Steps from a start to the states that are being expanded.
    pub(crate) level: u64,
    /// Steps from a start to the deepest state.
    pub(crate) depth: u64,
    pub(crate) transitions: u64,
    pub(crate) covered: Vec<PropertyId>,
    /// States that were not expanded because of a constraint.
    pub(crate) unexpanded: u64,
    /// The violations that the search continued past.
    pub(crate) findings: Vec<Finding>,
}

/// A search at a moment between two expansions.
pub(crate) struct Snapshot<'a, C, N> {
    pub(crate) fingerprint: u64,
    pub(crate) checks: &'a Checks,
    pub(crate) words: usize,
    /// The stores, and how many states of each belong to the snapshot. The number of a state is
    /// its number in its store, followed by that of the store.
    pub(crate) stores: &'a [(&'a Store, u64)],
    pub(crate) totals: &'a SearchTotals,
    /// The rules that have fired, perhaps also some that fire again when the search goes on.
    pub(crate) fired: Vec<RuleId>,
    /// States of the level that wait to be expanded, in order.
    pub(crate) current: C,
    /// States of the next level so far, in order.
    pub(crate) next: N,
}

/// What a checkpoint is about: the model, and what is asked of it.
pub(crate) fn fingerprint(model: &Model, options: &SearchOptions, system: &str) -> u64 {
    let mut sum = Sum::default();
    // Writing to a sum cannot fail.
    let _ = write!(
        sum,
        "{} {model:?} {:?} {:?} {:?} {} {} {} {system}",
        env!("CARGO_PKG_VERSION"),
        options.deadlock,
        options.properties,
        options.liveness,
        options.store_passing,
        options.errors,
        options.violations.collects()
    );
    sum.finish()
}

/// Writes a checkpoint.
///
/// # Errors
/// If the file cannot be written; the one before it is left as it was.
pub(crate) fn write<C, N>(path: &Path, snapshot: Snapshot<'_, C, N>) -> io::Result<()>
where
    C: ExactSizeIterator<Item = StateNumber>,
    N: ExactSizeIterator<Item = StateNumber>,
{
    let beside = temporary(path);
    let result = write_to(&beside, snapshot).and_then(|()| fs::rename(&beside, path));
    if result.is_err() {
        // What is left of it helps nobody; that it may not be there is fine.
        let _ = fs::remove_file(&beside);
    }
    result
}

/// Where a checkpoint is written before it gets its name.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".unfinished");
    path.with_file_name(name)
}

fn write_to<C, N>(path: &Path, snapshot: Snapshot<'_, C, N>) -> io::Result<()>
where
    C: ExactSizeIterator<Item = StateNumber>,
    N: ExactSizeIterator<Item = StateNumber>,
{
    let Snapshot { fingerprint, checks, words, stores, totals, fired, current, next } = snapshot;
    let file = File::create(path)?;
    let mut output = Summing { inner: BufWriter::with_capacity(1 << 16, file), sum: Sum::default() };
    output.write_all(MAGIC)?;
    let SearchTotals { level, depth, transitions, covered, unexpanded, findings } = totals;
    let header = [fingerprint, words as u64, *level, *depth, *transitions, *unexpanded, covered.len() as u64];
    write_words(&mut output, header.into_iter().chain(covered.iter().map(|id| id.position() as u64)))?;
    write_words(
        &mut output,
        std::iter::once(fired.len()).chain(fired.iter().map(|id| id.position())).map(|it| it as u64),
    )?;
    write_words(&mut output, [findings.len() as u64])?;
    for finding in findings {
        let encoded = finding.encode(checks);
        write_words(&mut output, std::iter::once(encoded.len() as u64).chain(encoded))?;
    }
    for waiting in [&mut current.into_iter() as &mut dyn ExactSizeIterator<Item = StateNumber>, &mut next.into_iter()] {
        write_words(&mut output, [waiting.len() as u64])?;
        write_numbers(&mut output, waiting)?;
    }
    write_words(&mut output, [stores.len() as u64])?;
    for &(store, length) in stores {
        write_words(&mut output, [length])?;
        for number in 0..length as StateNumber {
            write_words(&mut output, store.state(number).iter().copied())?;
        }
        write_numbers(&mut output, (0..length as StateNumber).map(|number| store.parent(number).unwrap_or(NO_PARENT)))?;
    }
    let sum = output.sum.finish();
    write_words(&mut output, [sum])?;
    let file = output.inner.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()
}

fn write_words(output: &mut impl Write, words: impl IntoIterator<Item = u64>) -> io::Result<()> {
    words.into_iter().try_for_each(|word| output.write_all(&word.to_le_bytes()))
}

fn write_numbers(output: &mut impl Write, numbers: impl Iterator<Item = StateNumber>) -> io::Result<()> {
    for number in numbers {
        output.write_all(&number.to_le_bytes())?;
    }
    Ok(())
}

/// Why a search cannot go on from a checkpoint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResumeError {
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    #[error("it is not a checkpoint, or of another version, or damaged")]
    Malformed,
    #[error("it belongs to another model, or to other options")]
    Foreign,
    #[error("there is not enough memory for it")]
    TooLarge(Full),
}

/// A checkpoint that was read.
#[derive(Debug)]
pub(crate) struct Saved {
    words: usize,
    pub(crate) totals: SearchTotals,
    /// The rules that have fired.
    pub(crate) fired: Vec<RuleId>,
    current: Vec<StateNumber>,
    next: Vec<StateNumber>,
    /// States and parents of each store.
    stores: Vec<(Vec<u64>, Vec<StateNumber>)>,
}

impl Saved {
    /// How many states it has.
    pub(crate) fn states(&self) -> u64 {
        self.stores.iter().map(|(_, parents)| parents.len() as u64).sum()
    }
}

/// Where a search goes on.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) totals: SearchTotals,
    /// Numbers in the new stores.
    pub(crate) current: Vec<StateNumber>,
    pub(crate) next: Vec<StateNumber>,
}

/// Reads a checkpoint.
///
/// # Errors
/// If it cannot be read or is not one for this search.
pub(crate) fn read(path: &Path, fingerprint: u64, words: usize, options: &SearchOptions) -> Result<Saved, ResumeError> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut input = Summing { inner: BufReader::with_capacity(1 << 16, file), sum: Sum::default() };
    let mut magic = [0; MAGIC.len()];
    input.read_exact(&mut magic).map_err(cut_short)?;
    if magic != *MAGIC {
        return Err(ResumeError::Malformed);
    }
    // No count can be greater than the file, so a damaged one does not exhaust memory.
    let count = |number: u64, bytes: u64| {
        if number.checked_mul(bytes).is_some_and(|bytes| bytes <= size) {
            Ok(number as usize)
        } else {
            Err(ResumeError::Malformed)
        }
    };
    if read_word(&mut input)? != fingerprint {
        return Err(ResumeError::Foreign);
    }
    if read_word(&mut input)? != words as u64 {
        return Err(ResumeError::Foreign);
    }
    let (level, depth, transitions) = (read_word(&mut input)?, read_word(&mut input)?, read_word(&mut input)?);
    let unexpanded = read_word(&mut input)?;
    let mut positions = || {
        let length = count(read_word(&mut input)?, 8)?;
        let position = |_| match u32::try_from(read_word(&mut input)?) {
            Ok(position) => Ok(position as usize),
            Err(_) => Err(ResumeError::Malformed),
        };
        (0..length).map(position).collect::<Result<Vec<usize>, ResumeError>>()
    };
    let covered = positions()?.into_iter().map(PropertyId::from_position).collect();
    let fired = positions()?.into_iter().map(RuleId::from_position).collect();
    let mut findings = Vec::new();
    for _ in 0..count(read_word(&mut input)?, 8)? {
        let length = count(read_word(&mut input)?, 8)?;
        let encoded = (0..length).map(|_| read_word(&mut input)).collect::<Result<Vec<u64>, ResumeError>>()?;
        findings.push(Finding::decode(&encoded, words, options).ok_or(ResumeError::Malformed)?);
    }
    let mut lists = [Vec::new(), Vec::new()];
    for list in &mut lists {
        let length = count(read_word(&mut input)?, 4)?;
        *list = read_numbers(&mut input, length)?;
    }
    let [current, next] = lists;
    let number = count(read_word(&mut input)?, 8)?;
    if !number.is_power_of_two() {
        return Err(ResumeError::Malformed);
    }
    let mut stores = Vec::new();
    for _ in 0..number {
        let length = count(read_word(&mut input)?, 8 * words as u64 + 4)?;
        let states = (0..length * words).map(|_| read_word(&mut input)).collect::<Result<Vec<u64>, ResumeError>>()?;
        stores.push((states, read_numbers(&mut input, length)?));
    }
    let sum = input.sum.finish();
    if read_word(&mut input)? != sum {
        return Err(ResumeError::Malformed);
    }
    let totals = SearchTotals { level, depth, transitions, covered, unexpanded, findings };
    Ok(Saved { words, totals, fired, current, next, stores })
}

fn cut_short(error: io::Error) -> ResumeError {
    if error.kind() == io::ErrorKind::UnexpectedEof { ResumeError::Malformed } else { ResumeError::Unreadable(error) }
}

fn read_word(input: &mut impl Read) -> Result<u64, ResumeError> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes).map_err(cut_short)?;
    Ok(u64::from_le_bytes(bytes))
}

fn read_numbers(input: &mut impl Read, count: usize) -> Result<Vec<StateNumber>, ResumeError> {
    let read = (0..count).map(|_| {
        let mut bytes = [0; 4];
        input.read_exact(&mut bytes).map_err(cut_short)?;
        Ok(StateNumber::from_le_bytes(bytes))
    });
    read.collect()
}

impl Saved {
    /// What one store of a search holds that goes on: its states and their parents, and those that wait.
    pub(crate) fn new(
        words: usize,
        totals: SearchTotals,
        current: Range<StateNumber>,
        next: Range<StateNumber>,
        store: (Vec<u64>, Vec<StateNumber>),
    ) -> Self {
        // Which rules fired is known where they did.
        let fired = Vec::new();
        Self { words, totals, fired, current: current.collect(), next: next.collect(), stores: vec![store] }
    }

    /// Puts the states into new stores, whose number is two to some power: first those that were
    /// expanded, then those that wait, in order.
    ///
    /// # Errors
    /// If there is no room, or the checkpoint does not make sense.
    pub(crate) fn restore<S: SearchSpace>(
        self,
        lookup: &mut Lookup<'_, S>,
        stores: &mut [Store],
        bits: u32,
    ) -> Result<Restored, ResumeError> {
        let old_bits = self.stores.len().ilog2();
        let locate = |number: StateNumber| {
            let (store, position) = (number as usize & (self.stores.len() - 1), (number >> old_bits) as usize);
            if position < self.stores[store].1.len() { Ok((store, position)) } else { Err(ResumeError::Malformed) }
        };
        // Where each old number goes; the states that wait are known by now.
        const UNKNOWN: StateNumber = NO_PARENT;
        const WAITING: StateNumber = NO_PARENT - 1;
        let mut new: Vec<Vec<StateNumber>> =
            self.stores.iter().map(|(_, parents)| vec![UNKNOWN; parents.len()]).collect();
        let mut waiting = Vec::with_capacity(self.current.len() + self.next.len());
        for &number in self.current.iter().chain(&self.next) {
            let (store, position) = locate(number)?;
            if std::mem::replace(&mut new[store][position], WAITING) == WAITING {
                return Err(ResumeError::Malformed);
            }
            waiting.push((store, position));
        }
        let expanded = self
            .stores
            .iter()
            .enumerate()
            .flat_map(|(store, (_, parents))| (0..parents.len()).map(move |position| (store, position)));
        let expanded: Vec<(usize, usize)> =
            expanded.filter(|&(store, position)| new[store][position] == UNKNOWN).collect();
        let state = |(store, position): (usize, usize)| &self.stores[store].0[position * self.words..][..self.words];
        let mut lengths = vec![0 as StateNumber; stores.len()];
        let mut hashes = Vec::with_capacity(expanded.len() + waiting.len());
        for &place in expanded.iter().chain(&waiting) {
            let hash = lookup.hash(state(place));
            let shard = hash.shard(bits);
            new[place.0][place.1] = lengths[shard] << bits | shard as StateNumber;
            lengths[shard] += 1;
            hashes.push(hash);
        }
        for (&place, hash) in expanded.iter().chain(&waiting).zip(hashes) {
            let parent = match self.stores[place.0].1[place.1] {
                NO_PARENT => NO_PARENT,
                parent => {
                    let (store, position) = locate(parent)?;
                    new[store][position]
                }
            };
            let store = &mut stores[hash.shard(bits)];
            let Probe::Vacant(vacancy) = lookup.probe(store, state(place), hash) else {
                return Err(ResumeError::Malformed);
            };
            store.insert(state(place), hash, vacancy, parent).map_err(ResumeError::TooLarge)?;
        }
        let number = |&old: &StateNumber| locate(old).map(|(store, position)| new[store][position]);
        let current = self.current.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let next = self.next.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let mut totals = self.totals.clone();
        for origin in totals.findings.iter_mut().filter_map(|finding| finding.origin.as_mut()) {
            *origin = number(origin)?;
        }
        Ok(Restored { totals, current, next })
    }
}

/// Whether a search that ends for a reason can go on from a checkpoint.
pub(crate) fn can_go_on(reason: &StopReason) -> bool {
    match reason {
        StopReason::StateLimit(_)
        | StopReason::DepthLimit(_)
        | StopReason::MemoryLimit(_)
        | StopReason::TooManyStates
        | StopReason::OutOfMemory
        | StopReason::TimeLimit(_)
        | StopReason::Interrupted => true,
        StopReason::Violation
        | StopReason::Exhausted(_)
        | StopReason::Fault(_)
        | StopReason::Constraint(_)
        | StopReason::CheckpointFailed(_)
        | StopReason::DiskLimit(_)
        | StopReason::SpillFailed(_)
        | StopReason::Approximate => false,
    }
}

/// A sum over bytes, for accidents, not for attacks.
#[derive(Clone, Debug, Default)]
struct Sum {
    value: u64,
    /// Bytes that do not fill a word yet.
    rest: u64,
    count: u32,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.rest = self.rest << 8 | u64::from(byte);
            self.count += 1;
            if self.count == 8 {
                self.mix();
            }
        }
    }
    fn mix(&mut self) {
        let product = u128::from(self.value ^ self.rest ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15u128;
        self.value = (product >> 64) as u64 ^ product as u64;
        self.rest = 0;
        self.count = 0;
    }
    fn finish(&self) -> u64 {
        let mut sum = self.clone();
        sum.rest = sum.rest << 8 | u64::from(sum.count);
        sum.mix();
        sum.value
    }
}

impl std::fmt::Write for Sum {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

/// Sums what passes through.
struct Summing<T> {
    inner: T,
    sum: Sum,
}

impl<T: Write> Write for Summing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.add(&bytes[..written]);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Summing<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.sum.add(&bytes[..read]);
        Ok(read)
    }
}
