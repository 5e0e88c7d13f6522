//! One worker of a search on several machines.
//!
//! It stores the states of its share, and expands them level by level. Successors are replaced by their representatives
//! where they are found, sorted by the worker that stores them, and sent in letters; those that this worker has sent
//! recently are not sent again. When all letters of a level have arrived everywhere, each worker tells all others what
//! the level was like. All then know the same, and come to the same conclusion, so that none leads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_ir::{DeadlockMode, PropertyId, RuleId, TableIndex, Violation};
use quotient_representatives::Workspace;
use rustc_hash::FxHashSet;

use super::messages::{Discovery, EndSummary, Hello, Label, Letter, LevelSummary, News, Note, Place, Point, Stop};
use super::network::Links;
use super::post::{LETTER_BYTES, Post};
use super::saving::{self, Identity, Saver, Snapshot, Totals};
use quotient_search::words::{Hash, append};
use quotient_search::{Checks, Progress, SearchOptions, SearchSpace, Sink, StopReason, Tag, ViolationLimit};
use quotient_states::batch::{Batch, Run, Table};
use quotient_states::checkpoint::is_resumable;
use quotient_states::expansion::{Expander, Expansion, deadlock};
use quotient_states::findings::{Rank, ViolationKind};
use quotient_states::judge::{Admission, Judge, end_with};
use quotient_states::recent::Recent;
use quotient_states::store::{Entries, NO_PARENT, Probe, Sighting, StateNumber, Store};
use quotient_states::{End, Finding, Halt, OrbitCounter, note, stop};

/// The number of states that are expanded before messages are looked at.
const CHUNK: usize = 512;
/// The number of lookups whose memory latencies overlap.
const LOOKAHEAD: usize = 256;
/// The number of hits among sixteen lookups of recent successors that makes this lookup worthwhile.
const RECENT_WORTH: u32 = 2;
/// The size of the table of recent successors. It is larger than elsewhere, since states that follow each other are stored by
/// different workers, so that common successors are further apart, and since a hit saves the way to another machine.
const RECENT_BYTES: usize = 1 << 21;
/// How long a worker without work sleeps if nobody wakes it.
const NAP: Duration = Duration::from_millis(5);
/// The number of new states after which a worker tells the first one how many it has.
const COUNT_INTERVAL: u64 = 1 << 14;
/// The number of orbits counted between looks at whether to stop.
const COUNTING_INTERVAL: u64 = 4096;
/// How often nothing may arrive from a connection that has ended.
const LAST_LOOKS: u32 = 3;
/// How long the others may take to agree that the search stops.
const AGREEMENT: Duration = Duration::from_secs(30);

/// What a worker asks its process for.
pub(super) trait Watcher {
    /// Why the search should end now, if it should.
    fn stop(&mut self, progress: &Progress) -> Option<StopReason>;
    /// Whether a checkpoint should be written at the next opportunity.
    fn wants_checkpoint(&mut self) -> bool;
    /// The search continues with this many states.
    fn resumed(&mut self, states: u64);
}

/// What all workers of a search have in common.
pub(super) struct Common<'a, S: SearchSpace> {
    pub(super) system: &'a S,
    pub(super) checks: &'a Checks,
    pub(super) options: &'a SearchOptions,
    pub(super) orbits: Option<OrbitCounter<'a>>,
    /// Whether no value was met that was considered impossible.
    pub(super) is_sound: &'a (dyn Fn() -> bool + Sync),
    pub(super) links: Arc<Links>,
    /// The number of workers of a process.
    pub(super) workers: usize,
    pub(super) fingerprint: u64,
}

/// Why a worker ends without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The connection to a process has ended.
    Lost(usize),
    /// A worker searches something else.
    Different(usize),
    /// The search cannot be resumed.
    Resume(String),
    /// The others do not answer, and this one was told to stop.
    Unanswered(Stop),
    /// A value was met that was considered impossible.
    Unsound,
}

/// What all workers know at the end.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) end: Option<StopReason>,
    pub(super) totals: Totals,
    /// The states of the run to each finding.
    pub(super) paths: Vec<Vec<Vec<u64>>>,
    pub(super) represented: Option<BigUint>,
    pub(super) memory_bytes: u64,
    pub(super) fired: Vec<RuleId>,
}

/// How a search ends: finished, found something, or stopped.
type Ending = Option<StopReason>;

pub(super) struct WorkerSearch<'a, 'x, S: SearchSpace> {
    common: &'a Common<'a, S>,
    post: Post,
    watcher: &'x mut dyn Watcher,
    index: usize,
    peers: usize,
    store: Store,
    /// The worker that stores the parent of each state.
    owners: Vec<u16>,
    judge: Judge<'a, S>,
    batch: Batch,
    recent: Recent,
    /// Records for each worker, this one included.
    outgoing: Vec<Vec<u64>>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    sightings: Vec<Sighting>,
    /// The states of the level.
    first: u64,
    end: u64,
    /// What this worker did in the level.
    summary: LevelSummary,
    covered: Vec<PropertyId>,
    findings: Vec<(Place, Finding)>,
    stop: Option<(Stop, Instant)>,
    totals: Totals,
    /// The states of each worker, as far as they were told, and the steps.
    counts: Vec<(u64, u64)>,
    counted: u64,
    transitions: u64,
    /// What was heard of the others.
    hellos: Vec<Option<Hello>>,
    ready: Vec<bool>,
    levels: Vec<Option<LevelSummary>>,
    ends: Vec<Option<EndSummary>>,
    paths: Vec<Trail>,
    done: Vec<bool>,
    last_looks: u32,
    run: u64,
    saver: Option<Saver>,
}

/// The states of a run by their distances from its end. They may be told in another order.
#[derive(Clone, Debug, Default)]
struct Trail {
    states: BTreeMap<u32, Vec<u64>>,
    /// The number of its states, if that is known.
    length: Option<u32>,
}

impl Trail {
    fn is_complete(&self) -> bool {
        self.length.is_some_and(|length| self.states.len() == length as usize)
    }
}

impl<'a, 'x, S: SearchSpace> WorkerSearch<'a, 'x, S> {
    pub(super) fn new(common: &'a Common<'a, S>, post: Post, run: u64, watcher: &'x mut dyn Watcher) -> Self {
        let Common { system, checks, options, workers, .. } = common;
        let words = system.words();
        let entries = if system.facts().last_word() == u64::MAX { Entries::Numbers } else { Entries::States };
        let memory = options.max_memory.map(|bytes| bytes / *workers as u64);
        let (index, peers) = (post.index(), post.peers());
        let mut judge = Judge::new(*system, checks, options);
        if options.violations.collects() {
            // A parent may violate an invariant that the step does not touch.
            judge.suspect();
        }
        Self {
            common,
            post,
            watcher,
            index,
            peers,
            store: Store::new(words, entries, memory),
            owners: Vec::new(),
            judge,
            batch: Batch::new(words),
            recent: Recent::of_bytes(words, RECENT_WORTH, RECENT_BYTES),
            outgoing: vec![Vec::new(); peers],
            hashes: Vec::new(),
            entries: Vec::new(),
            sightings: Vec::new(),
            first: 0,
            end: 0,
            summary: LevelSummary::default(),
            covered: Vec::new(),
            findings: Vec::new(),
            stop: None,
            totals: Totals::default(),
            counts: vec![(0, 0); peers],
            counted: 0,
            transitions: 0,
            hellos: vec![None; peers],
            ready: vec![false; peers],
            levels: vec![None; peers],
            ends: vec![None; peers],
            paths: Vec::new(),
            done: vec![false; peers],
            last_looks: 0,
            run,
            saver: None,
        }
    }

    /// Searches, together with the others.
    pub(super) fn run(mut self) -> Result<Outcome, Broken> {
        let mut end = None;
        if !self.greet()? {
            end = self.level(Self::run_starts)?;
        }
        while end.is_none() {
            end = self.level(Self::expand_level)?;
        }
        let end = end.unwrap_or_default();
        self.finish(end)
    }

    /// Compares what is searched, and resumes if that is asked for. Returns whether it does.
    fn greet(&mut self) -> Result<bool, Broken> {
        let options = self.common.options;
        let identity = Identity {
            fingerprint: self.common.fingerprint,
            worker: self.index as u32,
            workers: self.peers as u32,
            words: self.common.system.words() as u32,
        };
        let saved = options.resume.as_deref().map(|folder| identity.read(folder));
        // The others have to know that it cannot be resumed.
        let points = |snapshots: &Vec<Snapshot>| snapshots.iter().map(|snapshot| snapshot.point).collect();
        let own = saved.as_ref().map(|saved| saved.as_ref().map(points).unwrap_or_default());
        let hello = Hello { fingerprint: self.common.fingerprint, run: self.run, points: own };
        self.post.tell_all(&News::Hello(hello.clone()));
        self.wait_until(|it| it.hellos.iter().all(Option::is_some))?;
        let hellos: Vec<Hello> = self.hellos.iter().flatten().cloned().collect();
        let differs =
            |other: &Hello| other.fingerprint != hello.fingerprint || other.points.is_some() != hello.points.is_some();
        if let Some(worker) = hellos.iter().position(differs) {
            return Err(Broken::Different(worker));
        }
        self.run = hellos[0].run;
        self.saver = options.checkpoint.as_deref().map(|folder| Saver::new(folder, identity));
        let (Some(folder), Some(saved)) = (options.resume.as_deref(), saved) else { return Ok(false) };
        let snapshots = saved.map_err(Broken::Resume)?;
        let has = |hello: &Hello, point: Point| hello.points.iter().flatten().any(|&other| other == point);
        let common = snapshots.into_iter().filter(|snapshot| hellos.iter().all(|hello| has(hello, snapshot.point)));
        let Some(snapshot) = common.max_by_key(|snapshot| snapshot.point) else {
            return Err(Broken::Resume("there is no level that all workers have saved".to_owned()));
        };
        self.restore(folder, identity, snapshot)?;
        // States that others send must not come before those that were saved.
        self.post.tell_all(&News::Ready);
        self.wait_until(|it| it.ready.iter().all(|&ready| ready))?;
        Ok(true)
    }

    fn restore(&mut self, folder: &Path, identity: Identity, snapshot: Snapshot) -> Result<(), Broken> {
        let (store, owners) = (&mut self.store, &mut self.owners);
        let sum = saving::load(folder, identity, &snapshot, |state, parent, owner| {
            let hash = Hash::of(state);
            let Probe::Vacant(vacancy) = store.probe(state, hash) else {
                return Err("it has a state twice".to_owned());
            };
            owners.push(owner);
            let full = |_| "there is not enough memory for it".to_owned();
            store.insert(state, hash, vacancy, parent).map(|_| ()).map_err(full)
        });
        let sum = sum.map_err(Broken::Resume)?;
        (self.first, self.end) = (snapshot.first, snapshot.states);
        self.totals = snapshot.totals.clone();
        self.watcher.resumed(self.totals.levels.iter().sum());
        let fired: Vec<RuleId> = snapshot.fired.iter().map(|&rule| RuleId::from_position(rule as usize)).collect();
        self.common.system.facts().note_fired_rules(&fired);
        if let Some(saver) = self.saver.as_mut().filter(|_| self.common.options.checkpoint.as_deref() == Some(folder)) {
            saver.continue_from(snapshot, sum).map_err(|error| Broken::Resume(error.to_string()))?;
        }
        Ok(())
    }

    /// Does the work of a level, and finds out how it went for all. Returns how the search ends, if it does: an inner
    /// `None` says that it is finished or found what it was looking for.
    fn level(&mut self, work: fn(&mut Self) -> Result<(), Broken>) -> Result<Option<Ending>, Broken> {
        let round = self.totals.levels.len() as u64;
        let before = self.saver.is_some().then(|| self.totals.clone());
        let transitions = self.transitions;
        work(self)?;
        self.send_all();
        self.post.close_level(round);
        self.wait_until(|it| it.post.has_arrived(round))?;
        let bounds = (self.first, self.end);
        (self.first, self.end) = (self.end, self.store.len());
        self.summary.states = self.end - self.first;
        self.summary.transitions = self.transitions - transitions;
        self.summary.covered = self.covered.iter().map(|property| property.position() as u32).collect();
        self.summary.findings = self.discoveries();
        self.summary.stop = self.stop.as_ref().map(|(stop, _)| stop.clone());
        // One clock is enough.
        self.summary.saves = self.index == 0 && self.saver.is_some() && self.watcher.wants_checkpoint();
        let summary = std::mem::take(&mut self.summary);
        self.post.tell_all(&News::Level(summary));
        self.wait_until(|it| it.levels.iter().all(Option::is_some))?;
        let summaries: Vec<LevelSummary> = self.levels.iter_mut().filter_map(Option::take).collect();
        let ending = self.conclude(&summaries);
        match &ending {
            None if summaries.iter().any(|summary| summary.saves) => {
                if let Err(reason) = self.save(None, (self.first, self.end)) {
                    self.raise(reason);
                }
            }
            Some(Some(reason)) if round > 0 && is_resumable(reason) => {
                // If the last level is not complete, the one before is.
                let is_cut = !matches!(reason, StopReason::DepthLimit(_));
                let (totals, bounds) = if is_cut { (before, bounds) } else { (None, (self.first, self.end)) };
                if let Err(reason) = self.save(totals, bounds) {
                    return Ok(Some(Some(reason)));
                }
            }
            _ => {}
        }
        Ok(ending)
    }

    /// What all workers did in a level, and whether that is the end.
    fn conclude(&mut self, summaries: &[LevelSummary]) -> Option<Ending> {
        let options = self.common.options;
        let states: u64 = summaries.iter().map(|summary| summary.states).sum();
        if states > 0 {
            self.totals.levels.push(states);
        }
        for summary in summaries {
            self.totals.transitions += summary.transitions;
            self.totals.unexpanded += summary.unexpanded;
            for &property in &summary.covered {
                if !self.totals.covered.contains(&property) {
                    self.totals.covered.push(property);
                }
            }
        }
        self.totals.covered.sort_unstable();
        // Of each kind, the same one of several everywhere.
        let mut found: Vec<&Discovery> = summaries.iter().flat_map(|summary| &summary.findings).collect();
        found.sort();
        let most = if let ViolationLimit::Kinds(most) = options.violations { most as usize } else { usize::MAX };
        let known = self.totals.findings.len();
        for discovery in found {
            let is_known = self.totals.findings.iter().any(|known| known.rank.kind == discovery.rank.kind);
            if !is_known && self.totals.findings.len() < most {
                self.totals.findings.push(discovery.clone());
            }
        }
        let limit = self.totals.findings.len() >= most;
        let all: u64 = self.totals.levels.iter().sum();
        let is_found = !options.violations.collects() && self.totals.findings.len() > known;
        match summaries.iter().find_map(|summary| summary.stop.clone()) {
            _ if is_found => Some(Some(StopReason::Violation)),
            _ if limit => Some(Some(StopReason::Violation)),
            Some(stop) => Some(Some(stop.into())),
            None if states == 0 => Some(None),
            None => {
                let too_many = options.max_states.filter(|&limit| all > limit).map(StopReason::StateLimit);
                let level = self.totals.levels.len() as u64 - 1;
                let too_deep = options.max_depth.filter(|&limit| level >= limit).map(StopReason::DepthLimit);
                too_many.or(too_deep).map(Some)
            }
        }
    }

    /// The violations of the level, one of each kind. Its new states are those that will be expanded next.
    fn discoveries(&mut self) -> Vec<Discovery> {
        let level = self.totals.levels.len() as u64;
        let mut found: Vec<Discovery> = Vec::new();
        for (place, finding) in std::mem::take(&mut self.findings) {
            let origin = (place.number != NO_PARENT).then_some(place);
            let is_new = place.worker as usize == self.index && u64::from(place.number) >= self.first;
            // The origin of a state that is not stored may be elsewhere.
            let (state, length) = match (&finding.state, origin) {
                (Some(state), _) => (state.clone(), level),
                (None, Some(place)) => {
                    (self.store.state(place.number).to_vec(), if is_new { level } else { level.saturating_sub(1) })
                }
                (None, None) => (Vec::new(), 0),
            };
            let rank = Rank::new(&finding, self.common.checks, length, &state);
            found.push(Discovery { rank, origin, state: finding.state });
        }
        found.sort();
        let mut kinds = FxHashSet::default();
        found.retain(|discovery| kinds.insert(discovery.rank.kind));
        found
    }

    /// Saves the states of a level and those before it, if that is asked for.
    fn save(&mut self, totals: Option<Totals>, bounds: (u64, u64)) -> Result<(), StopReason> {
        let Some(saver) = &mut self.saver else { return Ok(()) };
        let totals = totals.as_ref().unwrap_or(&self.totals);
        let point = Point { level: totals.levels.len() as u64, run: self.run };
        if saver.last().is_some_and(|last| last.level == point.level) {
            return Ok(());
        }
        let fired = self.common.system.facts().fired_rules().iter().map(|rule| rule.position() as u32).collect();
        let saved = saver.save((&self.store, &self.owners), point, bounds, totals, fired);
        saved.map_err(|error| StopReason::CheckpointFailed(error.to_string()))
    }

    /// The first worker runs the starts.
    fn run_starts(&mut self) -> Result<(), Broken> {
        if self.index == 0 {
            let (system, options) = (self.common.system, self.common.options);
            let mut scratch = system.scratch();
            let mut expansion = Expansion::of_starts(self, options);
            system.starts(&mut scratch, &mut |instance, event| expansion.event(instance, event));
            expansion.close();
            self.sort();
        }
        Ok(())
    }

    /// Expands the states of the level that this worker stores.
    fn expand_level(&mut self) -> Result<(), Broken> {
        let system = self.common.system;
        let mut scratch = system.scratch();
        let mut state = vec![0; system.words()];
        let mut number = self.first;
        while number < self.end && self.stop.is_none() {
            let has_room = self.post.has_room();
            if has_room {
                let end = self.end.min(number + CHUNK as u64);
                while number < end && self.stop.is_none() {
                    self.expand(number as StateNumber, &mut scratch, &mut state);
                    number += 1;
                    if self.batch.is_full() {
                        self.sort();
                    }
                }
                self.sort();
            }
            self.exchange(!has_room)?;
        }
        Ok(())
    }

    /// Fires all instances in a state.
    fn expand(&mut self, number: StateNumber, scratch: &mut S::Scratch, state: &mut [u64]) {
        let (system, options) = (self.common.system, self.common.options);
        state.copy_from_slice(self.store.state(number));
        let origin = self.place(number);
        match self.judge.expands(state) {
            Ok(true) => {}
            Ok(false) => {
                self.summary.unexpanded += 1;
                return;
            }
            Err(violation) => return self.receive(origin, end_with(Some(number), None, violation)),
        }
        let state = &*state;
        let moved = Expansion::of_state(self, options, state, number, number).run(system, scratch);
        if !moved
            && self.stop.is_none()
            && options.deadlock != DeadlockMode::Off
            && let Some(violation) = deadlock(options, state, |each| system.steps(scratch, state, each))
        {
            self.receive(origin, end_with(Some(number), None, violation));
        }
    }

    fn place(&self, number: StateNumber) -> Place {
        Place { worker: self.index as u32, number }
    }

    /// Takes note of a violation, or of a reason to stop.
    fn receive(&mut self, origin: Place, end: End) {
        match end {
            End::Found(finding) => self.findings.push((origin, finding)),
            End::Stopped(reason) => self.raise(reason),
            End::Finished => {}
        }
    }

    /// Lets all stop.
    fn raise(&mut self, reason: StopReason) {
        if self.stop.is_none() {
            let stop = Stop::from(reason);
            self.post.tell_all(&News::Stop(stop.clone()));
            self.stop = Some((stop, Instant::now()));
        }
    }

    /// The worker that stores a state: by bits of the hash that its store does not use.
    #[inline]
    fn owner(&self, hash: Hash) -> usize {
        const BITS: u32 = 24;
        (hash.low((1 << BITS) - 1) * self.peers) >> BITS
    }

    /// Sorts the successors in the batch by the workers that store them.
    fn sort(&mut self) {
        let mut batch = std::mem::replace(&mut self.batch, Batch::new(0));
        batch.hash_all();
        let is_paused = self.recent.is_paused(batch.len());
        if !is_paused {
            self.recent.prefetch(batch.hashes());
        }
        let mut number = 0;
        while let Some(Run { parent, first, end, passed }) = batch.run(number) {
            number += 1;
            self.transitions += passed;
            if parent != NO_PARENT {
                self.transitions += (end - first) as u64;
            }
            for position in first..end {
                let (state, tag, hash) = batch.entry(position);
                if !is_paused && self.recent.meets(state, hash) {
                    continue;
                }
                let owner = self.owner(hash);
                let outgoing = &mut self.outgoing[owner];
                append(outgoing, state);
                outgoing.push(Label { parent, is_safe: tag == Tag::NOTHING }.encode());
                if 8 * outgoing.len() >= LETTER_BYTES {
                    self.dispatch(owner);
                }
            }
        }
        batch.clear();
        self.batch = batch;
    }

    /// Sends what waits for a worker, or keeps it if that is this one.
    fn dispatch(&mut self, owner: usize) {
        let mut records = std::mem::take(&mut self.outgoing[owner]);
        if owner == self.index {
            self.take_in(&records, owner);
            records.clear();
            self.outgoing[owner] = records;
        } else if !records.is_empty() {
            self.outgoing[owner] = Vec::with_capacity(records.capacity());
            self.post.send(Letter { from: self.index as u32, to: owner as u32, records });
        }
    }

    fn send_all(&mut self) {
        (0..self.peers).for_each(|owner| self.dispatch(owner));
    }

    /// Stores those of some records that are new. Their parents are stored by another worker, perhaps.
    fn take_in(&mut self, records: &[u64], owner: usize) {
        let words = self.common.system.words();
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut sightings = std::mem::take(&mut self.sightings);
        for part in records.chunks((words + 1) * LOOKAHEAD) {
            if self.stop.is_some() {
                break;
            }
            hashes.clear();
            hashes.extend(part.chunks_exact(words + 1).map(|record| Hash::of(&record[..words])));
            self.store.recognise(&hashes, part.chunks_exact(words + 1), &mut self.entries, &mut sightings);
            let growths = self.store.growths();
            for ((record, &hash), &sighting) in part.chunks_exact(words + 1).zip(&hashes).zip(&sightings) {
                if sighting == Sighting::Stored {
                    continue;
                }
                let (state, label) = (&record[..words], Label::decode(record[words]));
                if let Probe::Vacant(vacancy) = self.store.probe_sighted(state, hash, sighting, growths) {
                    self.admit(state, label, (hash, vacancy), owner);
                }
            }
        }
        (self.hashes, self.sightings) = (hashes, sightings);
    }

    /// Checks and stores a state that was not seen before.
    fn admit(&mut self, state: &[u64], label: Label, (hash, vacancy): (Hash, usize), owner: usize) {
        let options = self.common.options;
        let origin = (label.parent != NO_PARENT).then_some(label.parent);
        let tag = if label.is_safe { Tag::NOTHING } else { Tag::EVERYTHING };
        let Self { judge, store, owners, covered, .. } = self;
        let keep = || -> Result<Option<StateNumber>, Halt> {
            let number = store.insert(state, hash, vacancy, label.parent).map_err(|full| stop(full.reason(options)))?;
            owners.push(owner as u16);
            Ok(Some(number))
        };
        let admission = judge.admit(state, tag, origin, keep, |property| note(covered, property));
        let parent = Place { worker: owner as u32, number: label.parent };
        match admission {
            Admission::Stored(_) | Admission::Dropped => {}
            Admission::StoredLast(number, halt) => self.receive(self.place(number), *halt),
            Admission::StoredWrong(number, findings) => {
                let place = self.place(number);
                self.findings.extend(findings.into_iter().map(|finding| (place, finding)));
            }
            Admission::DroppedWrong(finding) => self.findings.push((parent, finding)),
            Admission::Refused(halt) => self.receive(parent, *halt),
        }
    }

    /// Exchanges messages, and reads what has arrived.
    fn exchange(&mut self, is_idle: bool) -> Result<(), Broken> {
        self.post.exchange(is_idle.then_some(NAP));
        let mut is_quiet = !self.listen();
        while let Some(letter) = self.post.letter() {
            is_quiet = false;
            let from = letter.from as usize;
            self.take_in(&letter.records, from);
            self.post.tell(from, News::Read(letter.bytes()));
        }
        if self.store.len() - self.counted >= COUNT_INTERVAL {
            self.counted = self.store.len();
            let (states, transitions) = (self.counted, self.transitions);
            self.post.tell(0, News::Count { states, transitions });
        }
        self.look_for_losses(is_quiet)?;
        if let Some((stop, since)) = &self.stop
            && since.elapsed() > AGREEMENT
        {
            return Err(Broken::Unanswered(stop.clone()));
        }
        let progress = self.progress();
        if self.index == 0
            && let Some(limit) = self.common.options.max_states.filter(|&limit| progress.states > limit)
        {
            self.raise(StopReason::StateLimit(limit));
        }
        if let Some(reason) = self.watcher.stop(&progress) {
            self.raise(reason);
        }
        Ok(())
    }

    /// Hears what others tell. Returns whether there was anything.
    fn listen(&mut self) -> bool {
        let mut has_heard = false;
        while let Some(Note { from, news, .. }) = self.post.note() {
            has_heard = true;
            self.hear(from as usize, news);
        }
        has_heard
    }

    /// Waits until all that matters was heard.
    fn wait_until(&mut self, is_over: impl Fn(&Self) -> bool) -> Result<(), Broken> {
        loop {
            self.exchange(true)?;
            // Letters that have arrived were read above.
            if is_over(self) {
                return Ok(());
            }
        }
    }

    /// Whether a process is gone that was not done. What it sent before is read first.
    fn look_for_losses(&mut self, is_quiet: bool) -> Result<(), Broken> {
        let workers = self.common.workers;
        let is_done = |process: usize| self.done[process * workers..][..workers].iter().all(|&done| done);
        let lost = self.common.links.ended().into_iter().find(|&process| !is_done(process));
        self.last_looks = if is_quiet && lost.is_some() { self.last_looks + 1 } else { 0 };
        match lost {
            Some(process) if self.last_looks >= LAST_LOOKS => Err(Broken::Lost(process)),
            _ => Ok(()),
        }
    }

    fn hear(&mut self, from: usize, news: News) {
        match news {
            News::Hello(hello) => self.hellos[from] = Some(hello),
            News::Ready => self.ready[from] = true,
            News::Read(bytes) => self.post.note_read(from, bytes),
            News::Count { states, transitions } => self.counts[from] = (states, transitions),
            News::Stop(stop) => {
                self.stop.get_or_insert((stop, Instant::now()));
            }
            News::Level(summary) => self.levels[from] = Some(summary),
            News::End(summary) => self.ends[from] = Some(summary),
            News::Step { finding, distance, state, parent } => {
                let path = &mut self.paths[finding as usize];
                path.states.insert(distance, state);
                match parent {
                    None => path.length = Some(distance + 1),
                    Some(place) => self.show(finding, distance + 1, place),
                }
            }
            News::Done => self.done[from] = true,
        }
    }

    /// Tells all about a state on the run to a finding, if this worker stores it.
    fn show(&mut self, finding: u32, distance: u32, place: Place) {
        if place.worker as usize != self.index {
            return;
        }
        let state = self.store.state(place.number).to_vec();
        let owner = u32::from(self.owners[place.number as usize]);
        let parent = self.store.parent(place.number).map(|number| Place { worker: owner, number });
        self.post.tell_all(&News::Step { finding, distance, state, parent });
    }

    /// The progress of all workers, as far as it was told.
    fn progress(&self) -> Progress {
        let others = self.counts.iter().enumerate().filter(|&(worker, _)| worker != self.index);
        let (states, transitions) = others.fold((0, 0), |sum, (_, count)| (sum.0 + count.0, sum.1 + count.1));
        Progress {
            states: states + self.store.len(),
            transitions: transitions + self.transitions,
            frontier: self.store.len() - self.end,
            depth: self.totals.levels.len() as u64,
            memory_bytes: self.memory_bytes(),
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + 2 * self.owners.capacity() as u64
    }

    /// Finds out what the others know, and the runs to what was found.
    fn finish(mut self, end: Ending) -> Result<Outcome, Broken> {
        let represented = self.count_represented().map(|number| number.to_bytes_le());
        let fired = self.common.system.facts().fired_rules().iter().map(|rule| rule.position() as u32).collect();
        let summary = EndSummary {
            fired,
            represented,
            memory_bytes: self.store.peak_bytes() + 2 * self.owners.capacity() as u64,
            is_unsound: !(self.common.is_sound)(),
        };
        self.paths = vec![Trail::default(); self.totals.findings.len()];
        self.post.tell_all(&News::End(summary));
        self.wait_until_the_end(|it| it.ends.iter().all(Option::is_some))?;
        for (finding, discovery) in self.totals.findings.clone().into_iter().enumerate() {
            match discovery.origin {
                None => self.paths[finding].length = Some(0),
                Some(place) => self.show(finding as u32, 0, place),
            }
        }
        self.wait_until_the_end(|it| it.paths.iter().all(Trail::is_complete))?;
        self.post.tell_all(&News::Done);
        self.wait_until_the_end(|it| it.done.iter().all(|&done| done))?;
        // What was told last leaves with this.
        self.post.exchange(None);
        let ends: Vec<EndSummary> = self.ends.iter_mut().filter_map(Option::take).collect();
        if ends.iter().any(|end| end.is_unsound) {
            return Err(Broken::Unsound);
        }
        let mut fired: Vec<u32> = ends.iter().flat_map(|end| end.fired.iter().copied()).collect();
        fired.sort_unstable();
        fired.dedup();
        let represented = ends.iter().map(|end| end.represented.as_deref().map(BigUint::from_bytes_le)).sum();
        let paths = self.paths.into_iter().map(|path| path.states.into_values().rev().collect()).collect();
        Ok(Outcome {
            end,
            totals: self.totals,
            paths,
            represented,
            memory_bytes: ends.iter().map(|end| end.memory_bytes).sum(),
            fired: fired.into_iter().map(|rule| RuleId::from_position(rule as usize)).collect(),
        })
    }

    /// The same after the search, when being told to stop changes nothing any more.
    fn wait_until_the_end(&mut self, is_over: impl Fn(&Self) -> bool) -> Result<(), Broken> {
        while !is_over(self) {
            self.post.exchange(Some(NAP));
            let is_quiet = !self.listen();
            self.look_for_losses(is_quiet)?;
        }
        Ok(())
    }

    /// The number of states that those of this worker represent, unless that takes too long.
    fn count_represented(&mut self) -> Option<BigUint> {
        let Some(size) = self.common.orbits else { return Some(self.store.len().into()) };
        let mut workspace = Workspace::default();
        let mut represented = BigUint::ZERO;
        for number in 0..self.store.len() {
            represented += size(&mut workspace, self.store.state(number as StateNumber))?;
            if number % COUNTING_INTERVAL == COUNTING_INTERVAL - 1 && self.watcher.stop(&self.progress()).is_some() {
                return None;
            }
        }
        Some(represented)
    }
}

impl<S: SearchSpace> Expander for WorkerSearch<'_, '_, S> {
    #[inline]
    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    fn drain(&mut self) -> ControlFlow<()> {
        self.sort();
        ControlFlow::Continue(())
    }

    fn cover(&mut self, covered: &[PropertyId]) -> ControlFlow<()> {
        covered.iter().for_each(|&property| note(&mut self.covered, property));
        ControlFlow::Continue(())
    }

    fn pause(&mut self) -> ControlFlow<()> {
        if let Some(reason) = self.watcher.stop(&self.progress()) {
            self.raise(reason);
        }
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Steps are not left out here.
    fn is_new(&mut self, _: usize) -> bool {
        true
    }

    fn is_halted(&self) -> bool {
        self.stop.is_some()
    }

    fn end(&mut self, end: End) -> ControlFlow<()> {
        let origin = match &end {
            End::Found(finding) => finding.origin.unwrap_or(NO_PARENT),
            _ => NO_PARENT,
        };
        self.receive(self.place(origin), end);
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A finding as the rest of the engine knows it, whose run ends at a state of a store.
pub(super) fn finding(discovery: &Discovery, origin: Option<StateNumber>, options: &SearchOptions) -> Option<Finding> {
    let kind = ViolationKind::decode(discovery.rank.kind)?;
    let violation: Violation = kind.outline(options);
    Some(Finding { origin, state: discovery.state.clone(), violation, kept_kind: Some(kind) })
}
