//! From a search to a report: explores a search space, counts what its states represent, rebuilds and replays the runs to
//! what was found.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use num_bigint::BigUint;
use quotient_ir::Interpreter;
use quotient_representatives::{Cardinality, Workspace};

use crate::checkpoint::{CheckpointSubject, Saved};
use crate::exploration::{End, Exploration};
use crate::liveness::find_dead_ends;
use crate::overflow::Overflow;
use crate::rebuild::rebuild;
use crate::statistics::{OrbitSize, count_firings};
use crate::store::StateNumber;
use quotient_search::partial_order::PartialOrderSystem;
use quotient_search::{
    Checks, EngineError, Figures, Observer, Progress, Report, Representatives as _, SearchOptions, SearchSpace, Space,
    StopReason, Subject, TransitionSystem as _, Verdict, Verdicts,
};

/// The number of concrete states that a stored state represents, if known.
pub type OrbitCounter<'a> = &'a (dyn Fn(&mut Workspace, &[u64]) -> Option<Cardinality> + Sync);

/// What a search knows of the orbits that its states represent.
pub struct Orbits<'a> {
    /// How many states of the model a stored one represents.
    pub size: OrbitCounter<'a>,
    /// For each rule which others symmetries exchange with it.
    pub(crate) rule_classes: &'a [u32],
    /// Whether each orbit is stored once.
    pub(crate) are_exact: bool,
    /// Whether no value was met that was considered impossible.
    pub is_sound: &'a (dyn Fn() -> bool + Sync),
}

/// A way to find the reachable states of a search space: in one process, or in several.
pub trait Explorer {
    /// Whether other processes take part. They have the same layout, and cannot begin again.
    fn is_shared(&self) -> bool;

    /// Searches the reachable states of a system, from the start or from where another search left off.
    ///
    /// # Errors
    /// If options are incompatible, or a search cannot be resumed.
    fn explore(
        &self,
        space: &Space<'_>,
        what: (&Checks, &SearchOptions),
        subject: &CheckpointSubject,
        begin: Option<Saved>,
        orbits: Option<&Orbits<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Exploration, EngineError>;

    /// Finds the states of the runs to what a search has found, if the store has forgotten them.
    fn retrace(
        &self,
        space: &Space<'_>,
        what: (&Checks, &SearchOptions),
        exploration: &mut Exploration,
        observer: &mut dyn Observer,
    );
}

/// The number of orbits counted between reports of progress.
const COUNTING_INTERVAL: usize = 4096;

/// Searches the reachable states of a system, from the start or where another search left off, and checks the
/// properties of its model. `orbits` counts the states that a stored one represents, if it represents others.
/// The interpreter replays what is found.
///
/// # Errors
/// If a violation cannot be replayed, which is a defect of this program and never a verdict.
pub fn search_and_judge<S: SearchSpace>(
    explorer: &dyn Explorer,
    system: &S,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
    orbits: Option<Orbits<'_>>,
) -> Result<(Report, Exploration), EngineError> {
    let space = Space::new(system);
    let Some(relations) = &options.partial_order else {
        return search_space_and_judge(explorer, &space, interpreter, options, begin, observer, orbits);
    };
    let reduced = PartialOrderSystem::new(&space, relations, interpreter.layout());
    search_space_and_judge(explorer, &Space::new(&reduced), interpreter, options, begin, observer, orbits)
}

/// The same, with all reductions in the search space.
fn search_space_and_judge(
    explorer: &dyn Explorer,
    system: &Space<'_>,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
    orbits: Option<Orbits<'_>>,
) -> Result<(Report, Exploration), EngineError> {
    let model = interpreter.model();
    let checks = Checks::new(model, options.properties.as_deref());
    let is_saved = options.checkpoint.is_some() || options.resume.is_some();
    let subject = match is_saved || explorer.is_shared() {
        false => CheckpointSubject::default(),
        true => CheckpointSubject::new(model, options, system.name()),
    };
    let mut exploration = explorer.explore(system, (&checks, options), &subject, begin, orbits.as_ref(), observer)?;
    let mut workspace = Workspace::default();
    let mut size = orbits.as_ref().map(|orbits| |state: &[u64]| (orbits.size)(&mut workspace, state));
    let represented = match (&mut size, &exploration.store.everywhere) {
        // What was left out is not known.
        _ if options.partial_order.is_some() => None,
        (Some(_), _) if exploration.approximation.is_some() => None,
        (None, _) => Some(exploration.states.into()),
        (_, Some(everywhere)) => everywhere.represented.clone(),
        (Some(size), None) => match (&orbits, exploration.store.pieces(COUNTING_INTERVAL)) {
            (Some(orbits), Some(pieces)) if options.threads > 1 && pieces.len() > 1 => {
                count_on_threads(&exploration, orbits.size, pieces, options.threads, observer)
            }
            _ => count_represented(&exploration, size, observer),
        },
    };
    explorer.retrace(system, (&checks, options), &mut exploration, observer);
    let is_finished = matches!(exploration.end, End::Finished);
    let mut verdicts = Verdicts::new(model, &checks, options, is_finished, &exploration.covered);
    let ended = match &exploration.end {
        End::Stopped(reason) => Some(reason.clone()),
        End::Found(finding) => match rebuild(system, &exploration.store, finding, interpreter) {
            Ok(trace) => Some(verdicts.conclude(trace)),
            // A violation that cannot be shown is not claimed.
            Err(EngineError::Disk(reason)) => Some(StopReason::SpillFailed(reason)),
            Err(error) => return Err(error),
        },
        End::Finished => judge_liveness(system, interpreter, &checks, options, &exploration, observer, &mut verdicts)?,
    };
    let mut unasked = None;
    let mut traces = Vec::with_capacity(exploration.findings.len());
    for finding in &exploration.findings {
        match rebuild(system, &exploration.store, finding, interpreter) {
            Ok(trace) => traces.push(trace),
            Err(EngineError::Disk(reason)) => unasked = Some(StopReason::SpillFailed(reason)),
            Err(error) => return Err(error),
        }
    }
    unasked = verdicts.collect(traces).or(unasked);
    if unasked.is_some() {
        verdicts.leave_open();
    }
    let cut = Some(exploration.unexpanded).filter(|&states| is_finished && states > 0).map(StopReason::Constraint);
    if cut.is_some() {
        verdicts.leave_open();
    }
    // The second pass expands every state, which a search with a constraint does not.
    let is_counted = options.statistics
        && options.partial_order.is_none()
        && is_finished
        && cut.is_none()
        && exploration.findings.is_empty()
        && orbits.as_ref().is_none_or(|orbits| orbits.are_exact);
    let stop_reason = ended.or(unasked).or(cut);
    let firings = if is_counted {
        let classes = orbits.as_ref().map(|orbits| orbits.rule_classes);
        let size = size.as_mut().map(|size| size as OrbitSize<'_>);
        count_firings(system, &exploration, model, classes, size, observer)
    } else {
        None
    };
    let figures = Figures {
        states: exploration.states,
        represented,
        transitions: exploration.transitions,
        depth: exploration.depth,
        levels: exploration.states_per_level(options.order),
        firings,
        memory_bytes: exploration.memory_bytes,
        disk_bytes: exploration.store.overflow.as_ref().map_or(0, Overflow::peak_bytes),
        words: system.words(),
        approximation: exploration.approximation,
    };
    let report = verdicts.report(stop_reason, figures);
    Ok((Report { partial_order: options.partial_order.is_some(), ..report }, exploration))
}

/// The progress of a search that has ended.
fn final_progress(exploration: &Exploration) -> Progress {
    Progress {
        states: exploration.states,
        transitions: exploration.transitions,
        frontier: 0,
        depth: exploration.depth,
        memory_bytes: exploration.memory_bytes,
    }
}

/// Adds up the orbit sizes of the states of all pieces on several threads, unless that takes longer than the observer
/// allows.
fn count_on_threads(
    exploration: &Exploration,
    size: OrbitCounter<'_>,
    pieces: Vec<impl Iterator<Item = StateNumber> + Send>,
    threads: u32,
    observer: &mut dyn Observer,
) -> Option<BigUint> {
    let (store, surplus) = (&exploration.store, &exploration.surplus);
    let progress = final_progress(exploration);
    let is_over = AtomicBool::new(false);
    let pieces = Mutex::new(pieces);
    // None if the size of an orbit is not known.
    let count = |mut is_stopped: Box<dyn FnMut() -> bool + '_>| {
        let (mut workspace, mut sum) = (Workspace::default(), BigUint::ZERO);
        while !is_stopped() {
            let Some(piece) = pieces.lock().unwrap_or_else(PoisonError::into_inner).pop() else { return Some(sum) };
            for number in piece.filter(|number| !surplus.contains(number)) {
                let Some(size) = size(&mut workspace, store.state(number)) else {
                    is_over.store(true, Ordering::Relaxed);
                    return None;
                };
                sum += size;
            }
        }
        None
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .filter_map(|_| {
                let work = || count(Box::new(|| is_over.load(Ordering::Relaxed)));
                std::thread::Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        let mut own = count(Box::new(|| {
            if observer.progress(&progress).is_break() {
                is_over.store(true, Ordering::Relaxed);
            }
            is_over.load(Ordering::Relaxed)
        }));
        for other in others {
            let counted = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            own = own.zip(counted).map(|(own, other)| own + other);
        }
        own
    })
}

/// Adds up the orbit sizes of all stored states, unless that takes longer than the observer allows.
fn count_represented(
    exploration: &Exploration,
    orbit_size: OrbitSize<'_>,
    observer: &mut dyn Observer,
) -> Option<BigUint> {
    let progress = final_progress(exploration);
    let mut represented = BigUint::ZERO;
    let mut position = 0;
    let counted = exploration.store.visit(&exploration.surplus, |state| {
        let Some(size) = orbit_size(state) else { return ControlFlow::Break(()) };
        represented += size;
        position += 1;
        if position % COUNTING_INTERVAL == 0 && observer.progress(&progress).is_break() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    matches!(counted, Ok(ControlFlow::Continue(()))).then_some(represented)
}

/// Fills in the verdicts on liveness after a finished search; returns the reason if it could not.
fn judge_liveness<S: SearchSpace>(
    system: &S,
    interpreter: &Interpreter<'_>,
    checks: &Checks,
    options: &SearchOptions,
    exploration: &Exploration,
    observer: &mut dyn Observer,
    verdicts: &mut Verdicts,
) -> Result<Option<StopReason>, EngineError> {
    if checks.liveness.is_empty() {
        return Ok(None);
    }
    match find_dead_ends(system, exploration, checks, options, observer) {
        Ok(findings) => {
            for finding in findings.into_iter().flatten() {
                verdicts.violate(rebuild(system, &exploration.store, &finding, interpreter)?);
            }
            Ok(None)
        }
        Err(reason) => {
            for &property in &checks.liveness {
                verdicts.of(Subject::Property(property)).verdict = Verdict::Inconclusive;
            }
            Ok(Some(reason))
        }
    }
}
