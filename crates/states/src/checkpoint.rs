//! Checkpoints: a search is saved to a file and resumed later.
//!
//! A checkpoint contains every stored state with its parent, the states waiting for expansion in their order, and the
//! counts so far. So a resumed search ends exactly like one that was never stopped, on any number of threads. The
//! checkpoint is written to a temporary file and then renamed, so that a full disk or a killed process leaves the
//! previous checkpoint intact. It ends with a checksum of its whole content, so that a truncated file is detected.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use quotient_ir::{DeadlockMode, Model, PropertyId, RuleId, Source, TableIndex};

use crate::dense::ancestry::Ancestry;
use crate::exploration::Finding;
pub use crate::exploration::SearchTotals;
use crate::lookup::Lookup;
use crate::store::{Full, NO_PARENT, Probe, StateNumber, Store};
use quotient_search::{Checks, SearchOptions, SearchSpace, StopReason};

/// The first bytes of a checkpoint, with the version of the format.
const MAGIC: &[u8; 24] = b"quotient checkpoint v3\n\0";

/// The version of the format, for people.
const FORM: &str = "v3";

/// A search at a point between two expansions.
pub struct Snapshot<'a, C, N> {
    /// What the search is about.
    pub subject: &'a CheckpointSubject,
    /// The properties it checks.
    pub checks: &'a Checks,
    /// The number of words of a state.
    pub words: usize,
    /// The stores, and how many states of each belong to the snapshot. The number of a state is its number in its
    /// store, followed by that of the store.
    pub stores: &'a [(&'a Store, u64)],
    /// The results so far.
    pub totals: &'a SearchTotals,
    /// The rules that have fired, possibly including some that fire again after resuming.
    pub fired: Vec<RuleId>,
    /// States of the level that wait to be expanded, in order.
    pub current: C,
    /// States of the next level so far, in order.
    pub next: N,
}

/// A fingerprint of the model and the query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointSubject {
    /// A sum over all of it.
    fingerprint: u64,
    /// The same in words, to tell what differs: names and values.
    facts: Vec<(String, String)>,
}

/// That of a search without checkpoints.
pub static NO_SUBJECT: CheckpointSubject = CheckpointSubject { fingerprint: 0, facts: Vec::new() };

/// The name of the fact that has another wording than the others.
const VERSION: &str = "version";

impl CheckpointSubject {
    /// What a search of a model by a system is about.
    pub(crate) fn new(model: &Model, options: &SearchOptions, system: &str) -> Self {
        let name = |&id: &PropertyId| match &model.properties[id].name {
            Some(name) => name.clone(),
            None => format!("number {}", id.position() + 1),
        };
        let properties = match &options.properties {
            None => "all".to_owned(),
            Some(selected) => {
                let extra = [("deadlock", options.deadlock != DeadlockMode::Off), ("errors", options.errors)];
                let extra = extra.into_iter().filter(|(_, is_checked)| *is_checked).map(|(name, _)| name.to_owned());
                selected.iter().map(name).chain(extra).collect::<Vec<_>>().join(", ")
            }
        };
        let mut facts = vec![(VERSION.to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
        facts.extend(options.origin.iter().cloned());
        facts.extend([
            ("--property".to_owned(), properties),
            ("--deadlock".to_owned(), format!("{:?}", options.deadlock).to_lowercase()),
            ("--store-passing".to_owned(), if options.store_passing { "on" } else { "off" }.to_owned()),
            ("--partial-order".to_owned(), if options.partial_order.is_some() { "on" } else { "off" }.to_owned()),
            ("the reduction".to_owned(), if system == "whole" { "none" } else { system }.to_owned()),
        ]);
        Self { fingerprint: fingerprint(model, options, system), facts }
    }

    /// A sum over all of it.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// What distinguishes this search from that of a checkpoint, in words.
    fn differences(&self, saved: &[(String, String)]) -> Vec<String> {
        let value = |facts: &[(String, String)], name: &str| {
            facts.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let mut names: Vec<&String> = saved.iter().chain(&self.facts).map(|(name, _)| name).collect();
        let mut known = Vec::new();
        names.retain(|name| {
            !known.contains(name) && {
                known.push(name);
                true
            }
        });
        let difference = |name: &String| {
            let (was, is) = (value(saved, name), value(&self.facts, name));
            let words = match (&was, &is) {
                _ if was == is => return None,
                (Some(was), Some(is)) if name == VERSION => {
                    format!("it was written by version {was}, and this is version {is}")
                }
                _ if name.starts_with("the text of") => format!("{name} differs"),
                (Some(was), Some(is)) => format!("{name} was {was} and is {is}"),
                (Some(was), None) => format!("{name} was {was} and is not given"),
                (None, Some(is)) => format!("{name} was not given and is {is}"),
                (None, None) => return None,
            };
            Some(words)
        };
        names.into_iter().filter_map(difference).collect()
    }
}

/// A sum over the model and what is asked of it.
fn fingerprint(model: &Model, options: &SearchOptions, system: &str) -> u64 {
    let mut sum = Sum::default();
    // The same text is the same model, whatever its file is called.
    let model = &Model { source: Source::new("", model.source.text.clone()), ..model.clone() };
    // Writing to a checksum cannot fail.
    let _ = write!(
        sum,
        "{} {model:?} {:?} {:?} {:?} {} {} {} {} {system}",
        env!("CARGO_PKG_VERSION"),
        options.deadlock,
        options.properties,
        options.liveness,
        options.store_passing,
        options.errors,
        options.violations.collects(),
        options.partial_order.is_some()
    );
    sum.finish()
}

/// Writes a checkpoint.
///
/// # Errors
/// If the file cannot be written; the previous checkpoint is left intact.
pub fn write<C, N>(path: &Path, snapshot: Snapshot<'_, C, N>) -> io::Result<()>
where
    C: ExactSizeIterator<Item = StateNumber>,
    N: ExactSizeIterator<Item = StateNumber>,
{
    let beside = temporary(path);
    let result = write_to(&beside, snapshot).and_then(|()| fs::rename(&beside, path));
    if result.is_err() {
        // The partial file is useless; it may also not exist, which is fine.
        let _ = fs::remove_file(&beside);
    }
    result
}

/// The temporary path of a checkpoint before it is renamed.
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
    let Snapshot { subject, checks, words, stores, totals, fired, current, next } = snapshot;
    let file = File::create(path)?;
    let mut output = Summing { inner: BufWriter::with_capacity(1 << 16, file), sum: Sum::default() };
    output.write_all(MAGIC)?;
    let SearchTotals { level, depth, transitions, covered, levels, unexpanded, findings } = totals;
    write_words(&mut output, [subject.facts.len() as u64])?;
    for text in subject.facts.iter().flat_map(|(name, value)| [name, value]) {
        write_words(&mut output, [text.len() as u64])?;
        output.write_all(text.as_bytes())?;
    }
    let header = [subject.fingerprint, words as u64, *level, *depth, *transitions, *unexpanded, covered.len() as u64];
    write_words(&mut output, header.into_iter().chain(covered.iter().map(|id| id.position() as u64)))?;
    write_words(
        &mut output,
        std::iter::once(fired.len()).chain(fired.iter().map(|id| id.position())).map(|it| it as u64),
    )?;
    write_words(&mut output, std::iter::once(levels.len() as u64).chain(levels.iter().copied()))?;
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

/// Why a search cannot be resumed from a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// It is not a checkpoint, or a damaged one.
    #[error("it is not a checkpoint, or of another version, or damaged")]
    Malformed,
    /// Another version of the program wrote it, in another form.
    #[error("it is a checkpoint of another version of quotient (form {0}, and this version reads {FORM})")]
    OtherForm(String),
    /// It belongs to a search that differs in this.
    #[error("it belongs to another search: {}", words(.0))]
    Foreign(Vec<String>),
    /// Its states cannot be stored.
    #[error("there is not enough memory for it")]
    TooLarge(Full),
}

/// A checkpoint as read.
#[derive(Debug)]
pub struct Saved {
    words: usize,
    pub(crate) totals: SearchTotals,
    /// The rules that have fired.
    pub fired: Vec<RuleId>,
    current: Vec<StateNumber>,
    next: Vec<StateNumber>,
    /// States and parents of each store.
    stores: Vec<(Vec<u64>, Vec<StateNumber>)>,
}

impl Saved {
    /// The number of states.
    pub fn states(&self) -> u64 {
        self.stores.iter().map(|(_, parents)| parents.len() as u64).sum()
    }
}

/// The point where a search resumes.
#[derive(Debug)]
pub struct Restored {
    /// The results so far.
    pub totals: SearchTotals,
    /// Numbers in the new stores.
    pub current: Vec<StateNumber>,
    /// The states of the next level so far, in order.
    pub next: Vec<StateNumber>,
}

/// Reads a checkpoint.
///
/// # Errors
/// If it cannot be read or is not one for this search.
pub fn read(
    path: &Path,
    subject: &CheckpointSubject,
    words: usize,
    options: &SearchOptions,
) -> Result<Saved, ResumeError> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut input = Summing { inner: BufReader::with_capacity(1 << 16, file), sum: Sum::default() };
    let mut magic = [0; MAGIC.len()];
    input.read_exact(&mut magic).map_err(cut_short)?;
    if magic != *MAGIC {
        return Err(other_form(&magic).map_or(ResumeError::Malformed, ResumeError::OtherForm));
    }
    // No count can exceed the size of the file, so a damaged one does not exhaust memory.
    let count = |number: u64, bytes: u64| {
        if number.checked_mul(bytes).is_some_and(|bytes| bytes <= size) {
            Ok(number as usize)
        } else {
            Err(ResumeError::Malformed)
        }
    };
    let mut facts = Vec::new();
    for _ in 0..count(read_word(&mut input)?, 16)? {
        let mut text = || {
            let mut bytes = vec![0; count(read_word(&mut input)?, 1)?];
            input.read_exact(&mut bytes).map_err(cut_short)?;
            String::from_utf8(bytes).map_err(|_| ResumeError::Malformed)
        };
        facts.push((text()?, text()?));
    }
    if read_word(&mut input)? != subject.fingerprint || read_word(&mut input)? != words as u64 {
        return Err(ResumeError::Foreign(subject.differences(&facts)));
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
    let length = count(read_word(&mut input)?, 8)?;
    let levels = (0..length).map(|_| read_word(&mut input)).collect::<Result<Vec<u64>, ResumeError>>()?;
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
    let totals = SearchTotals { level, depth, transitions, covered, levels, unexpanded, findings };
    Ok(Saved { words, totals, fired, current, next, stores })
}

/// The form of a file that begins like a checkpoint.
fn other_form(magic: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(magic).ok()?;
    text.strip_prefix("quotient checkpoint ")?.split('\n').next().map(str::to_owned)
}

/// What differs, in a row.
fn words(differences: &[String]) -> String {
    if differences.is_empty() { "another model, or other options".to_owned() } else { differences.join("; ") }
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
    /// The content of one store of a search that continues: its states and their parents, and the states waiting for
    /// expansion.
    pub fn new(
        words: usize,
        totals: SearchTotals,
        current: Range<StateNumber>,
        next: Range<StateNumber>,
        store: (Vec<u64>, Vec<StateNumber>),
    ) -> Self {
        // The earlier search knows which rules have fired.
        let fired = Vec::new();
        Self { words, totals, fired, current: current.collect(), next: next.collect(), stores: vec![store] }
    }

    /// The parents of its states, if it has them in the order in which they were found.
    pub fn ancestry(&self) -> Option<Ancestry> {
        let [(_, parents)] = &self.stores[..] else { return None };
        let mut ancestry = Ancestry::default();
        parents.iter().for_each(|&parent| ancestry.push((parent != NO_PARENT).then_some(parent)));
        Some(ancestry)
    }

    /// Puts the states into new stores, whose number is a power of two: first the expanded ones, then those waiting, in
    /// order.
    ///
    /// # Errors
    /// If there is no room, or the checkpoint is inconsistent.
    pub fn restore<S: SearchSpace>(
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
        // The new number of each old one; the waiting states are assigned by then.
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

/// Whether a search that ended for this reason can be resumed from a checkpoint.
pub fn is_resumable(reason: &StopReason) -> bool {
    match reason {
        StopReason::StateLimit(_)
        | StopReason::DepthLimit(_)
        | StopReason::MemoryLimit(_)
        | StopReason::TooManyStates
        | StopReason::OutOfMemory
        | StopReason::TimeLimit(_)
        | StopReason::Interrupted
        | StopReason::Withdrawn => true,
        StopReason::Violation
        | StopReason::Exhausted(_)
        | StopReason::Fault(_)
        | StopReason::Constraint(_)
        | StopReason::CheckpointFailed(_)
        | StopReason::DiskLimit(_)
        | StopReason::SpillFailed(_)
        | StopReason::Approximate
        | StopReason::Undecided(_) => false,
    }
}

/// A checksum against accidental damage, not against attacks.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    value: u64,
    /// Bytes that do not fill a word yet.
    rest: u64,
    count: u32,
}

impl Sum {
    /// Adds some bytes.
    pub fn add(&mut self, bytes: &[u8]) {
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
    /// The sum of what was added.
    pub fn finish(&self) -> u64 {
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

/// Computes a checksum of everything that passes through.
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
