//! Limits of time and memory, cancellation and progress for all operations on a model.
//!
//! Long operations run on a separate thread, and the calling thread watches. Every [`INTERVAL`] it checks the clock and
//! the memory use of the process, and raises an interrupt when a limit is exceeded. The worker then ends, with the
//! reason stored next to the interrupt. A worker that cannot be interrupted (a front end, a compiler) is abandoned
//! after [`GRACE`]: its thread ends with the process, or when it has finished.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quotient_ir::Interrupt;
use quotient_search::Observer as EngineObserver;
use quotient_search::{Clock, Engine, Job, Pacing, Progress, Run, StopReason, Subject, Verdict};

use crate::clock;
use crate::error::Error;
use crate::memory::{resident_bytes, usable_bytes};
use crate::options::Limits;
use quotient_search::{defect, defect::Defect};

/// How often limits are checked.
const INTERVAL: Duration = Duration::from_millis(25);
/// How long a worker may take to notice an interrupt.
const GRACE: Duration = Duration::from_millis(500);
/// The share of the remaining memory that stored states may use, in eighths. The rest is for data that is not counted
/// with them but grows with them.
const STORE_EIGHTHS: u64 = 7;
/// Additional memory for each thread of a search, independent of the number of states: compiled rules, buffers.
const OVERHEAD_BYTES: u64 = 8 << 20;
/// Additional memory for each thread of a search that continues on disk: blocks up to this size stay with the process
/// when they are freed (the mmap threshold of the usual allocator).
const SPILL_OVERHEAD_BYTES: u64 = 32 << 20;

/// The phases of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Reading the text.
    #[default]
    Loading,
    /// Waiting for the other processes of a search on several machines.
    Joining,
    /// Finding symmetries.
    Detecting,
    /// Finding what each rule distinguishes.
    Partitioning,
    /// Searching states.
    Searching,
    /// Comparing a search with the unreduced one.
    Comparing,
}

/// Observes an operation. Called on the calling thread, a few times per second.
pub trait Observer {
    /// A new phase begins.
    fn phase(&mut self, phase: Phase) {
        let _ = phase;
    }
    /// The search continues from a checkpoint with this many states. Progress reports include them.
    fn resumed(&mut self, states: u64) {
        let _ = states;
    }
    /// The progress of the search, and the total time so far.
    fn progress(&mut self, progress: &Progress, elapsed: Duration) {
        let _ = (progress, elapsed);
    }
    /// A verdict is known, while other properties are still being checked: temporal ones have searches of their own.
    fn decided(&mut self, subject: Subject, verdict: Verdict) {
        let _ = (subject, verdict);
    }
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Limits and a cancellation request, shared by all operations on a model. A clone is the same control: pass one to
/// another thread to cancel from there.
///
/// ```
/// use quotient::{Control, Language, Model, Options, Plan, Silent, StopReason};
///
/// let text = "var x: boolean; startstate begin x := true; end; rule begin x := !x; end;";
/// let model = Model::from_text("flip", text, Language::Murphi)?;
/// let plan = Plan::new(&model, &Options::default())?;
/// let control = Control::default();
/// control.cancel();
/// let report = plan.run_with(&control, &mut Silent)?;
/// assert_eq!(report.stop_reason, Some(StopReason::Interrupted));
/// # Ok::<(), quotient::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    started: Instant,
    interrupt: Interrupt,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The deadline, and the duration it was set to.
    deadline: Option<(Instant, Duration)>,
    max_memory: Option<u64>,
    /// Why and when the interrupt was raised.
    reason: Option<(StopReason, Instant)>,
    phase: Phase,
    progress: Option<Progress>,
    /// States of the checkpoint from which a search was resumed.
    resumed: u64,
    /// Verdicts that are known before the operation is over, in the order in which they became known.
    decided: Vec<(Subject, Verdict)>,
    /// Whether something is being written that must not be cut short.
    is_writing: bool,
    /// The work after which main searches are looked at, if that is bounded.
    quantum: Option<u64>,
}

impl Default for Control {
    fn default() -> Self {
        Self::start(&Limits::default())
    }
}

/// The outcome of work under a control.
pub(crate) enum Supervised<T> {
    /// It finished, perhaps with a partial result.
    Done(T),
    /// It did not react to the interrupt.
    Abandoned(StopReason),
}

impl Control {
    /// Starts the clock and limits all operations from now on. The default memory limit is seven eighths of the free
    /// memory.
    pub fn start(limits: &Limits) -> Self {
        let started = Instant::now();
        let usual = || usable_bytes().map(|bytes| bytes.saturating_add(resident_bytes().unwrap_or(0)));
        let state = State {
            deadline: deadline(started, limits.timeout),
            max_memory: limits.max_memory.or_else(usual),
            ..State::default()
        };
        Self(Arc::new(Shared { started, interrupt: Interrupt::new(), state: Mutex::new(state) }))
    }

    /// Ends the operation as soon as possible, with what is known by then.
    pub fn cancel(&self) {
        self.stop(StopReason::Interrupted);
    }

    /// The time since the clock was started.
    pub fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// Why everything must end, if it must.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.state().reason.as_ref().map(|(reason, _)| reason.clone())
    }

    /// Why everything must end, for those who noticed that it must: at the least, somebody asked for it.
    pub(crate) fn reason(&self) -> StopReason {
        self.check().unwrap_or(StopReason::Interrupted)
    }

    /// Applies limits from now on, in addition to those already applied.
    pub(crate) fn tighten(&self, limits: &Limits) {
        let new = deadline(Instant::now(), limits.timeout);
        let mut state = self.state();
        state.deadline = match (state.deadline, new) {
            (Some(old), Some(new)) => Some(if new.0 < old.0 { new } else { old }),
            (old, new) => old.or(new),
        };
        state.max_memory = match (state.max_memory, limits.max_memory) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
    }

    /// The interrupt, for workers that poll it.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// The memory limit of the process.
    pub(crate) fn max_memory(&self) -> Option<u64> {
        self.state().max_memory
    }

    /// The memory available for states stored by this many threads: most of what the process does not use yet, and
    /// always at least a share, since a small search has little overhead.
    pub(crate) fn store_bytes(&self, threads: u32, spills: bool) -> Option<u64> {
        let left = self.max_memory()?.saturating_sub(resident_bytes().unwrap_or(0));
        let (overhead, least) = if spills { (SPILL_OVERHEAD_BYTES, left / 4) } else { (OVERHEAD_BYTES, left / 2) };
        let overhead = u64::from(threads).saturating_mul(overhead);
        Some(left.saturating_sub(overhead).max(least) / 8 * STORE_EIGHTHS)
    }

    /// Whether the process already exceeds its memory limit.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.look();
        matches!(self.stop_reason(), Some(StopReason::MemoryLimit(_)))
    }

    /// The work after which a main search is looked at, whatever its marks.
    pub(crate) fn quantum(&self) -> u64 {
        self.state().quantum.unwrap_or(u64::MAX)
    }

    /// Looks at main searches after this much work, too: nothing may depend on it.
    #[cfg(test)]
    pub(crate) fn set_quantum(&self, quantum: u64) {
        self.state().quantum = Some(quantum);
    }

    /// Enters a new phase.
    pub(crate) fn enter(&self, phase: Phase) {
        let mut state = self.state();
        (state.phase, state.progress) = (phase, None);
    }

    /// The progress of the search.
    pub(crate) fn progress(&self) -> Option<Progress> {
        self.state().progress
    }

    /// The number of states from a checkpoint.
    pub(crate) fn resumed(&self) -> u64 {
        self.state().resumed
    }

    /// A verdict is known, and others are not yet.
    pub(crate) fn decide(&self, subject: Subject, verdict: Verdict) {
        self.state().decided.push((subject, verdict));
    }

    /// Marks the current operation as one that must not be abandoned before it ends.
    pub(crate) fn write_at_the_end(&self) {
        self.state().is_writing = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, reason: StopReason) {
        let mut state = self.state();
        state.reason.get_or_insert((reason, Instant::now()));
        drop(state);
        self.0.interrupt.raise();
    }

    /// Why to stop now. Checks only the clock, which is cheap.
    pub(crate) fn check(&self) -> Option<StopReason> {
        let state = self.state();
        let over = state.deadline.filter(|(end, _)| state.reason.is_none() && Instant::now() >= *end);
        drop(state);
        if let Some((_, timeout)) = over {
            self.stop(StopReason::TimeLimit(timeout));
        }
        if self.0.interrupt.is_raised() { self.stop_reason() } else { None }
    }

    /// Checks the clock and the memory.
    fn look(&self) {
        if self.check().is_some() {
            return;
        }
        if let Some(limit) = self.max_memory()
            && resident_bytes().is_some_and(|bytes| bytes > limit)
        {
            self.stop(StopReason::MemoryLimit(limit));
        }
    }

    /// How long to sleep before the next check.
    fn nap(&self) -> Duration {
        let left = self.state().deadline.map(|(end, _)| end.saturating_duration_since(Instant::now()));
        // A deadline in the past has already been noticed.
        left.filter(|left| !left.is_zero()).map_or(INTERVAL, |left| left.min(INTERVAL))
    }

    /// Runs an operation on another thread, and watches it.
    ///
    /// # Errors
    /// If it panics.
    pub(crate) fn supervise<T: Send + 'static>(
        &self,
        observer: &mut dyn Observer,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Supervised<T>, Defect> {
        self.watch(observer, Run::start(&self.0.interrupt, |_| work()))
    }

    /// The answer of an engine, which this thread watches.
    ///
    /// # Errors
    /// If it panics.
    pub(crate) fn ask<E: Engine>(
        &self,
        engine: E,
        job: Job<E::Question>,
        observer: &mut dyn Observer,
    ) -> Result<Supervised<E::Answer>, Defect> {
        let watched = Follower::new(self, None);
        // Without marks, nothing but a lack of resources prevents a run.
        self.watch(observer, engine.start(job, watched, Pacing::WITHOUT_MARKS, &self.0.interrupt).ok())
    }

    /// Lets a run go on to its end, unless there were too few resources for one.
    fn watch<A: Send + 'static>(
        &self,
        observer: &mut dyn Observer,
        run: Option<Run<A>>,
    ) -> Result<Supervised<A>, Defect> {
        let Some(run) = run else {
            self.stop(StopReason::OutOfMemory);
            return Ok(Supervised::Abandoned(StopReason::OutOfMemory));
        };
        // A control may watch several searches in succession.
        self.state().resumed = 0;
        self.state().decided.clear();
        run.release();
        let mut end = None;
        let mut has_ended = |nap| {
            end = run.wait(nap);
            end.is_some()
        };
        match self.follow(observer, &mut has_ended)? {
            Supervised::Done(()) => end.expect("it has ended").map(Supervised::Done),
            Supervised::Abandoned(reason) => Ok(Supervised::Abandoned(reason)),
        }
    }

    /// Watches a run until it has ended, whatever its answer: compiled once.
    fn follow(
        &self,
        observer: &mut dyn Observer,
        has_ended: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Supervised<()>, Defect> {
        let mut shown = None;
        let mut resumed = 0;
        let mut stuck = None;
        let mut told = 0;
        loop {
            if has_ended(self.nap()) {
                return Ok(Supervised::Done(()));
            }
            self.look();
            let (phase, progress, ended, decided) = {
                let state = self.state();
                let ended = state.reason.clone().filter(|(_, when)| !state.is_writing && when.elapsed() >= GRACE);
                (state.phase, state.progress, ended, state.decided[told.min(state.decided.len())..].to_vec())
            };
            told += decided.len();
            for (subject, verdict) in decided {
                observer.decided(subject, verdict);
            }
            if shown.replace(phase) != Some(phase) {
                observer.phase(phase);
            }
            let known = std::mem::replace(&mut resumed, self.resumed());
            if resumed != known {
                observer.resumed(resumed);
            }
            if let Some(progress) = progress {
                observer.progress(&progress, self.elapsed());
            }
            if let Some((reason, _)) = ended {
                return Ok(Supervised::Abandoned(reason));
            }
            // Threads of a search that wait for one that panicked wait forever.
            if defect::is_recorded() && stuck.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                return Err(defect::recorded());
            }
        }
    }

    /// Runs an operation that cannot be interrupted, watches it, and abandons it at a limit.
    ///
    /// # Errors
    /// If it panics, or did not end in time.
    pub(crate) fn run_briefly<T: Send + 'static>(
        &self,
        phase: Phase,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.enter(phase);
        match self.supervise(&mut Silent, work)? {
            Supervised::Done(value) => Ok(value),
            Supervised::Abandoned(reason) => Err(Error::Stopped(reason)),
        }
    }
}

/// Notes that a limit is below what the program itself needs.
pub(crate) fn too_little_memory(control: &Control) -> Option<String> {
    let (limit, taken) = (control.max_memory()?, resident_bytes()?);
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    Some(format!(
        "the limit of {} MiB of memory is for the whole process, which takes {} MiB before the search",
        mebibytes(limit),
        mebibytes(taken)
    ))
}

fn deadline(start: Instant, timeout: Option<Duration>) -> Option<(Instant, Duration)> {
    let timeout = timeout?;
    // A deadline beyond the range of the clock never arrives.
    Some((start.checked_add(timeout)?, timeout))
}

/// Keeps a search within the limits of a control, without showing its progress.
pub(crate) struct Limited(pub(crate) Control);

impl EngineObserver for Limited {
    fn progress(&mut self, _: &Progress) -> ControlFlow<StopReason> {
        self.0.check().map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }
    fn interrupt(&self) -> Interrupt {
        self.0.interrupt().clone()
    }
}

/// Watches a search for a control.
pub(crate) struct Follower {
    control: Control,
    /// How often to write a checkpoint, and when one was last written.
    checkpoints: Option<Duration>,
    written: Instant,
}

impl Follower {
    /// Watches, and requests a checkpoint periodically.
    pub(crate) fn new(control: &Control, checkpoints: Option<Duration>) -> Self {
        Self { control: control.clone(), checkpoints, written: Instant::now() }
    }

    /// Why to stop now.
    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        self.control.check()
    }

    /// The control it watches for.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }
}

impl EngineObserver for Follower {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.control.state().progress = Some(*progress);
        self.stop_reason().map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }
    fn glance(&mut self, progress: &Progress) {
        self.control.state().progress = Some(*progress);
    }
    fn resumed(&mut self, states: u64) {
        self.control.state().resumed = states;
    }
    fn wants_checkpoint(&mut self) -> bool {
        let due = self.checkpoints.is_some_and(|every| self.written.elapsed() >= every);
        if due {
            self.written = Instant::now();
        }
        due
    }
    fn interrupt(&self) -> Interrupt {
        self.control.interrupt().clone()
    }
    fn clock(&self) -> Option<Clock> {
        Some(clock::of_thread)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Control, Observer, Silent, StopReason, Subject, Supervised, Verdict};
    use crate::options::Limits;

    #[test]
    fn work_that_cannot_be_interrupted_is_left_alone() {
        let control = Control::start(&Limits { timeout: Some(Duration::from_millis(50)), ..Limits::default() });
        let begun = Instant::now();
        let found = control.supervise(&mut Silent, || std::thread::sleep(Duration::from_secs(20)));
        assert!(matches!(found, Ok(Supervised::Abandoned(StopReason::TimeLimit(_)))));
        assert!(begun.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn verdicts_are_told_once_and_in_order() {
        struct Told(Vec<(Subject, Verdict)>);
        impl Observer for Told {
            fn decided(&mut self, subject: Subject, verdict: Verdict) {
                self.0.push((subject, verdict));
            }
        }
        let control = Control::default();
        let (own, mut told) = (control.clone(), Told(Vec::new()));
        let work = move || {
            own.decide(Subject::Deadlock, Verdict::Holds);
            std::thread::sleep(Duration::from_millis(100));
            own.decide(Subject::Errors, Verdict::Violated);
            std::thread::sleep(Duration::from_millis(300));
        };
        assert!(matches!(control.supervise(&mut told, work), Ok(Supervised::Done(()))));
        assert_eq!(told.0, [(Subject::Deadlock, Verdict::Holds), (Subject::Errors, Verdict::Violated)]);
    }

    #[test]
    fn the_first_reason_counts() {
        let control = Control::default();
        control.cancel();
        control.stop(StopReason::OutOfMemory);
        assert_eq!(control.check(), Some(StopReason::Interrupted));
    }

    #[test]
    fn the_tighter_limit_applies() {
        let limits = |seconds| Limits { timeout: Some(Duration::from_secs(seconds)), ..Limits::default() };
        let control = Control::start(&limits(5));
        control.tighten(&limits(9));
        assert_eq!(control.state().deadline.map(|(_, timeout)| timeout.as_secs()), Some(5));
        control.tighten(&limits(2));
        assert_eq!(control.state().deadline.map(|(_, timeout)| timeout.as_secs()), Some(2));
    }
}
