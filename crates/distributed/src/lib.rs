//! A search on several machines, by timely dataflow ([why so](../../../docs/adr/0040-several-machines.md)). Timely and
//! sockets are only here. Expansion, judge, store and verdicts are those of `quotient_states`. Knows no other engine.
//!
//! * `joining` connects the processes, after a `handshake` by which they recognise each other; `network` has the
//!   connections, and notices when one is lost.
//! * `worker` is the search: each worker stores and expands the states of its share ([by
//!   hash](../../../docs/adr/0045-shares-by-all-bits.md)). `post` carries states and `messages` between workers, level
//!   by level.
//! * `saving` writes what each worker has at the end of a level to its own disk, and reads it again.
//!
//! Only the first process of a search prints. `testkit/src/workers.rs` runs processes as threads that are connected by
//! sockets.

mod door;
mod handshake;
mod joining;
mod messages;
mod network;
mod post;
mod saving;
mod worker;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::thread;

use num_bigint::BigUint;
use quotient_ir::{Interpreter, Layout, Model, PropertyId, TableIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;

use post::Post;
use quotient_search::need::{Ask, EngineKind, Support};
use quotient_search::words::Hash;
use quotient_search::{
    Checks, EngineError, Event, Identity, Instance, Observer, Progress, Report, SearchOptions, SearchSpace, Space,
    StopReason,
};
use quotient_states::checkpoint::{CheckpointSubject, Saved, Sum};
use quotient_states::judge::Judge;
use quotient_states::store::{Entries, NO_PARENT, Probe, Store};
use quotient_states::{
    End, Everywhere, Exploration, Explorer, OrbitCounter, Orbits, Shards, check_orbits, search_and_judge,
};
use quotient_systems::{DeferredSystem, PassingSystem, ReductionPlan, SpecialisedSystem};
use worker::{Broken, Common, Outcome, Watcher, WorkerSearch};

pub use door::{Distributed, Shared};
pub use joining::{JoinError, join};
pub use network::Network;
pub use quotient_search::Membership;

/// The number of states that workers compare before they begin, and the reports of idle work after which they do not.
const COMPARED: usize = 256;
const IDLE_REPORTS: usize = 64;

/// Searches the reachable states of a model, or their orbits as planned, together with other processes, and checks its
/// properties. Each process stores a share of the states. Only breadth-first, with the exact store, without liveness
/// properties, graphs, markers, and partial order. Checkpoints are folders.
///
/// # Errors
/// If options are incompatible, a process is lost or searches something else, or the search cannot be resumed; if a
/// violation cannot be replayed or a slot holds a value that detection considered impossible: the last two are defects of
/// this program and never a verdict.
pub fn check_distributed(
    model: &Model,
    layout: &Layout,
    plan: Option<&ReductionPlan>,
    network: &Network,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    let explorer = Workers(network);
    if let Some(plan) = plan.filter(|plan| plan.reduction.is_some()) {
        return check_orbits(&explorer, model, layout, plan, options, observer);
    }
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::of_reachable_until(&interpreter, observer.interrupt());
    let system = DeferredSystem::for_search(&evaluator, false, options);
    let system = PassingSystem::new(&system, &interpreter, options);
    let (mut report, _) = search_and_judge(&explorer, &system, &interpreter, options, None, observer, None)?;
    evaluator.fired().report(None, &mut report);
    Ok(report)
}

/// Searches with other processes.
struct Workers<'a>(&'a Network);

impl Explorer for Workers<'_> {
    fn is_shared(&self) -> bool {
        true
    }

    fn explore(
        &self,
        system: &Space<'_>,
        (checks, options): (&Checks, &SearchOptions),
        subject: &CheckpointSubject,
        _begin: Option<Saved>,
        orbits: Option<&Orbits<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Exploration, EngineError> {
        let sound = || true;
        let (size, is_sound) = match orbits {
            Some(orbits) => (Some(orbits.size), orbits.is_sound),
            None => (None, &sound as _),
        };
        search(system, checks, options, subject, (size, is_sound), self.0, observer)
    }

    fn retrace(
        &self,
        _system: &Space<'_>,
        _what: (&Checks, &SearchOptions),
        _exploration: &mut Exploration,
        _observer: &mut dyn Observer,
    ) {
        // The states of all runs are here.
    }
}

/// Why several processes cannot search with these options, if they cannot. `draws` says that the graph is requested,
/// `judges` that there are liveness properties to check.
fn refusal(options: &SearchOptions, identity: Identity, draws: bool, judges: bool) -> Option<&'static str> {
    let need = options.need(identity, draws, judges).with(Ask::Workers);
    // Where firings are not exact, one process leaves them out; several have none in common.
    let need = if options.statistics { need.with(Ask::Statistics) } else { need };
    match need.supported_by(EngineKind::Explicit) {
        Support::Yes => None,
        Support::No(reason) => Some(reason.unnamed()),
    }
}

/// Searches the reachable states of a system together with other processes. All of them have the same result.
///
/// # Errors
/// If a process is lost, or searches something else, or the search cannot be resumed.
fn search<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    subject: &CheckpointSubject,
    (orbits, is_sound): (Option<OrbitCounter<'_>>, &(dyn Fn() -> bool + Sync)),
    network: &Network,
    observer: &mut dyn Observer,
) -> Result<Exploration, EngineError> {
    let refusal = refusal(options, system.identity(), observer.wants_graph(), !checks.liveness.is_empty());
    if let Some(reason) = refusal {
        return Err(EngineError::Refused(reason));
    }
    let builders = match network.open() {
        None => return Err(EngineError::Refused("the connections to other workers were used by another search")),
        Some(Err(error)) => return Err(EngineError::Network(error.to_string())),
        Some(Ok(builders)) => builders,
    };
    let fingerprint = fingerprint(system, checks, options, subject);
    let workers = network.workers();
    let common =
        Common { system, checks, options, orbits, is_sound, links: Arc::clone(network.links()), workers, fingerprint };
    let told = &OnceLock::new();
    let work = &|builder: TcpBuilder, watcher: &mut dyn Watcher| {
        let search = || WorkerSearch::new(&common, Post::new(builder), fresh(), watcher).run();
        let result = catch_unwind(AssertUnwindSafe(search));
        if result.is_err() {
            // The other workers of this process must not wait for this one forever.
            told.get_or_init(|| StopReason::Withdrawn);
        }
        result
    };
    let result = thread::scope(|scope| {
        let mut builders = builders.into_iter();
        let first = builders.next().expect("a process has a worker");
        let others: Vec<_> = builders.map(|builder| scope.spawn(move || work(builder, &mut Follower(told)))).collect();
        let mut results = vec![work(first, &mut Leader { observer, told })];
        results.extend(others.into_iter().map(|other| other.join().unwrap_or_else(Err)));
        results
    });
    let is_done = result.iter().all(|result| matches!(result, Ok(Ok(_))));
    network.close(is_done);
    let mut outcomes = Vec::with_capacity(result.len());
    for result in result {
        outcomes.push(result.unwrap_or_else(|panic| resume_unwind(panic)));
    }
    let outcome = outcomes.into_iter().reduce(|first, other| if first.is_ok() { other.and(first) } else { first });
    match outcome.expect("a process has a worker") {
        Ok(outcome) => explored(system, options, outcome),
        Err(Broken::Unanswered(stop)) => Ok(unanswered(system, stop.into())),
        Err(broken) => Err(error(broken, options, network)),
    }
}

/// The first worker of a process, which has the observer.
struct Leader<'a> {
    observer: &'a mut dyn Observer,
    told: &'a OnceLock<StopReason>,
}

impl Watcher for Leader<'_> {
    fn stop(&mut self, progress: &Progress) -> Option<StopReason> {
        if self.told.get().is_none()
            && let ControlFlow::Break(reason) = self.observer.progress(progress)
        {
            self.told.get_or_init(|| reason);
        }
        self.told.get().cloned()
    }
    fn wants_checkpoint(&mut self) -> bool {
        self.observer.wants_checkpoint()
    }
    fn resumed(&mut self, states: u64) {
        self.observer.resumed(states);
    }
}

/// Another worker of the process.
struct Follower<'a>(&'a OnceLock<StopReason>);

impl Watcher for Follower<'_> {
    fn stop(&mut self, _: &Progress) -> Option<StopReason> {
        self.0.get().cloned()
    }
    fn wants_checkpoint(&mut self) -> bool {
        false
    }
    fn resumed(&mut self, _: u64) {}
}

fn error(broken: Broken, options: &SearchOptions, network: &Network) -> EngineError {
    match broken {
        Broken::Lost(process) => {
            let is_saved = options.checkpoint.is_some();
            EngineError::Lost { process, host: network.host(process).to_owned(), is_saved }
        }
        Broken::Different(worker) => EngineError::Network(format!(
            "process {} searches something else: another model, other options, other symmetries, or only one of them \
             resumes",
            worker / network.workers()
        )),
        Broken::Resume(reason) => {
            let path = options.resume.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            EngineError::Resume { path, reason }
        }
        Broken::Unsound => EngineError::ImpossibleValue("a slot".to_owned()),
        Broken::Unanswered(stop) => EngineError::Network(StopReason::from(stop).to_string()),
    }
}

/// A fresh number, which tells runs apart.
fn fresh() -> u64 {
    // Without random numbers there is still the number of the process.
    getrandom::u64().unwrap_or_else(|_| std::process::id().into())
}

/// A sum over what is searched, and over the first states that are found: workers whose representatives differ must not
/// work together.
fn fingerprint<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    subject: &CheckpointSubject,
) -> u64 {
    let mut judge = Judge::new(system, checks, options);
    let mut sum = Sum::default();
    sum.add(&subject.fingerprint().to_ne_bytes());
    let mut scratch = system.scratch();
    let mut known: FxHashSet<Vec<u64>> = FxHashSet::default();
    let mut waiting: VecDeque<Vec<u64>> = VecDeque::new();
    let mut idle = 0;
    let mut expanded: Option<Vec<u64>> = None;
    loop {
        let mut is_over = false;
        let mut visit = |_: Instance<'_>, event: Event<'_>| {
            match event {
                Event::Next { state, .. } if known.insert(state.to_vec()) => {
                    sum.add(bytemuck::cast_slice(state));
                    waiting.push_back(state.to_vec());
                }
                Event::Idle => idle += 1,
                _ => {}
            }
            is_over = known.len() >= COMPARED || idle >= IDLE_REPORTS;
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match &expanded {
            None => system.starts(&mut scratch, &mut visit),
            Some(state) => system.successors(&mut scratch, state, &mut visit),
        }
        // Rules must not fire where the search does not take them.
        let mut is_expanded = |state: &Vec<u64>| {
            let exists = checks.assumptions.iter().all(|&property| judge.first_failure(property, state).is_none());
            exists && matches!(judge.expands(state), Ok(true))
        };
        expanded = std::iter::from_fn(|| waiting.pop_front()).find(&mut is_expanded);
        if is_over || expanded.is_none() {
            return sum.finish();
        }
    }
}

/// The result of a search, as if its states were here: those of the runs to what was found are.
fn explored<S: SearchSpace>(system: &S, options: &SearchOptions, outcome: Outcome) -> Result<Exploration, EngineError> {
    let Outcome { end, totals, paths, represented, memory_bytes, fired } = outcome;
    system.facts().note_fired_rules(&fired);
    let mut store = Store::new(system.words(), Entries::Numbers, None);
    let mut findings = VecDeque::with_capacity(paths.len());
    for (discovery, path) in totals.findings.iter().zip(paths) {
        let mut last = None;
        for state in &path {
            let hash = Hash::of(state);
            last = Some(match store.probe(state, hash) {
                // It is as many steps from a start on each of the runs.
                Probe::Stored(number) => number,
                Probe::Vacant(vacancy) => store
                    .insert(state, hash, vacancy, last.unwrap_or(NO_PARENT))
                    .map_err(|_| EngineError::Rebuild("there is no room for it"))?,
            });
        }
        let finding = worker::finding(discovery, last, options);
        findings.push_back(finding.ok_or(EngineError::Rebuild("its kind is not known"))?);
    }
    let end = match end {
        None => End::Finished,
        Some(StopReason::Violation) if !options.violations.collects() => match findings.pop_front() {
            Some(finding) => End::Found(finding),
            None => End::Stopped(StopReason::Violation),
        },
        Some(reason) => End::Stopped(reason),
    };
    let covered = totals.covered.iter().map(|&property| PropertyId::from_position(property as usize)).collect();
    Ok(Exploration {
        end,
        states: totals.levels.iter().sum(),
        depth: (totals.levels.len() as u64).saturating_sub(1),
        transitions: totals.transitions,
        unexpanded: totals.unexpanded,
        levels: totals.levels,
        memory_bytes,
        covered,
        findings: findings.into(),
        ..nothing(store, represented)
    })
}

/// The result of a search that was stopped, and about which nothing is known of the others.
fn unanswered<S: SearchSpace>(system: &S, reason: StopReason) -> Exploration {
    let store = Store::new(system.words(), Entries::Numbers, None);
    Exploration { end: End::Stopped(reason), ..nothing(store, None) }
}

/// The result of a search without states.
fn nothing(store: Store, represented: Option<BigUint>) -> Exploration {
    Exploration {
        end: End::Finished,
        store: Shards::partly(store, Everywhere { represented }),
        states: 0,
        surplus: FxHashSet::default(),
        transitions: 0,
        depth: 0,
        levels: Vec::new(),
        memory_bytes: 0,
        covered: Vec::new(),
        unexpanded: 0,
        findings: Vec::new(),
        approximation: None,
        ancestry: None,
        origins: FxHashMap::default(),
        rest: None,
    }
}
