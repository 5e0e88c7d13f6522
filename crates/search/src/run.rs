//! A run: work on a thread of its own, which continues only as far as it is granted work.
//!
//! A run is the only owner of a thread, a meter, an interrupt and the capture of panics. Searches, detection, relations,
//! saturation and proofs are all runs. An engine keeps its loop: it waits where it charges its [`Budget`], or where it
//! reports progress to a [`Paced`] observer. Work is counted, so how far a run gets does not depend on the clock.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quotient_ir::{Budget, Interrupt, Meter};

use crate::defect::{self, Defect};
use crate::forecast::Forecast;
use crate::observer::{Clock, Edge, Observer, Progress};
use crate::report::StopReason;

/// The stack size of runs: detection, front ends and evaluators recurse with the nesting of the text.
const STACK_BYTES: usize = 256 << 20;

/// Work that has begun.
///
/// Dropping it raises its interrupt, and leaves its thread to end by itself.
#[derive(Debug)]
pub struct Run<A> {
    begun: Begun,
    answer: PhantomData<fn() -> A>,
}

/// A run whatever its answer: compiled once, and not for each kind of answer.
#[derive(Debug)]
struct Begun {
    told: Receiver<Told>,
    meter: Meter,
    interrupt: Interrupt,
    above: Interrupt,
    reached: Shared,
}

/// An answer of the type of the run.
type AnyAnswer = Box<dyn Any + Send>;

/// What a run tells: what it found so far, or its end.
#[derive(Debug)]
enum Told {
    Partial(AnyAnswer),
    End(Result<AnyAnswer, Defect>),
}

/// The outcome of a grant.
#[derive(Debug)]
pub enum Step<A> {
    /// The run waits for more: it has used what it was granted, or is at a mark.
    Working(Reached),
    /// It tells what it found so far; it may have work left.
    Partial(A),
    /// It has ended, perhaps by a panic.
    Done(Result<A, Defect>),
}

/// How far a search got.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// Its last report.
    pub progress: Progress,
    /// Whether it is held at a mark.
    pub is_at_mark: bool,
    forecast: Forecast,
}

impl Reached {
    /// The number of states that it is expected to have, if that can be told.
    pub fn expected(&self) -> Option<u64> {
        self.forecast.states()
    }

    /// How far a search is that has reported only this.
    pub fn after(reports: &[Progress]) -> Self {
        let mut reached = Self::default();
        reports.iter().for_each(|progress| reached.note(progress));
        reached
    }

    fn note(&mut self, progress: &Progress) {
        self.progress = *progress;
        self.forecast.note(progress);
    }
}

type Shared = Arc<Mutex<Reached>>;

impl<A: Send + 'static> Run<A> {
    /// Begins some work, which is held until the first grant. Its interrupt is raised with the given one. None if there are
    /// too few resources for a thread.
    pub fn start(above: &Interrupt, work: impl FnOnce(&Pace<A>) -> A + Send + 'static) -> Option<Self> {
        let work = |line: &Line| -> AnyAnswer { Box::new(work(&Pace { line: line.clone(), answer: PhantomData })) };
        Some(Self { begun: Begun::start(above, Box::new(work))?, answer: PhantomData })
    }

    /// Lets it work until it has used this much in all, is at a mark, or has ended.
    pub fn advance(&mut self, total: u64) -> Step<A> {
        self.begun.grant(total, &Interrupt::new()).into()
    }

    /// The same, but returns as soon as the interrupt above is raised: for what is not worth waiting for then.
    pub fn advance_until_interrupted(&mut self, total: u64) -> Step<A> {
        let above = self.begun.above.clone();
        self.begun.grant(total, &above).into()
    }

    /// Lets it work to its end.
    ///
    /// # Errors
    /// If it panicked.
    pub fn finish(self) -> Result<A, Defect> {
        self.begun.finish().map(own)
    }

    /// Stops it, and waits until its memory is free.
    pub fn stop(self) {
        self.begun.stop();
    }

    /// Grants all that it needs, and does not wait.
    pub fn release(&self) {
        self.begun.meter.release();
    }

    /// Its result, if it ends within this time.
    pub fn wait(&self, patience: Duration) -> Option<Result<A, Defect>> {
        self.begun.wait(patience).map(|end| end.map(own))
    }
}

/// An answer as the run gave it.
fn own<A: 'static>(answer: AnyAnswer) -> A {
    *answer.downcast().expect("a run tells answers of its own type")
}

impl<A> Run<A> {
    /// How far it got, also while it is working.
    pub fn reached(&self) -> Reached {
        self.begun.reached()
    }
}

impl Begun {
    fn start(above: &Interrupt, work: Box<dyn FnOnce(&Line) -> AnyAnswer + Send>) -> Option<Self> {
        let (sender, told) = mpsc::channel();
        let (interrupt, meter, reached) = (Interrupt::below(above), Meter::held(), Shared::default());
        let budget = Budget::metered(&meter, &interrupt);
        let line = Line { budget, meter: meter.clone(), sender, reached: Arc::clone(&reached) };
        let body = move || {
            line.meter.begin();
            let end = defect::catch(|| work(&line));
            // The receiver is gone if nobody waits for the result.
            let _ = line.sender.send(Told::End(end));
            line.meter.end();
        };
        let thread = std::thread::Builder::new().name("quotient".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(body).ok()?;
        Some(Self { told, meter, interrupt, above: above.clone(), reached })
    }

    fn grant(&mut self, total: u64, interrupt: &Interrupt) -> Granted {
        self.meter.grant(total, interrupt);
        self.told.try_recv().map_err(|_| self.reached())
    }

    fn finish(self) -> Result<AnyAnswer, Defect> {
        self.meter.release();
        loop {
            match self.told.recv() {
                Ok(Told::Partial(_)) => {}
                Ok(Told::End(end)) => return end,
                Err(_) => return Err(defect::recorded()),
            }
        }
    }

    fn stop(self) {
        self.interrupt.raise();
        self.meter.end();
        // The end is told when all that the run had is gone. What it found is dropped here.
        while let Ok(Told::Partial(_)) = self.told.recv() {}
    }

    fn wait(&self, patience: Duration) -> Option<Result<AnyAnswer, Defect>> {
        match self.told.recv_timeout(patience) {
            Ok(Told::End(end)) => Some(end),
            Ok(Told::Partial(_)) | Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(defect::recorded())),
        }
    }

    fn reached(&self) -> Reached {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.interrupt.raise();
        self.meter.end();
    }
}

/// What a grant led to: something told, or how far the run got.
type Granted = Result<Told, Reached>;

impl<A: 'static> From<Granted> for Step<A> {
    fn from(granted: Granted) -> Self {
        match granted {
            Ok(Told::Partial(answer)) => Self::Partial(own(answer)),
            Ok(Told::End(end)) => Self::Done(end.map(own)),
            Err(reached) => Self::Working(reached),
        }
    }
}

/// What the work of a run has of it: where it charges work, reports progress, and tells what it found so far.
#[derive(Debug)]
pub struct Pace<A> {
    line: Line,
    answer: PhantomData<fn(A)>,
}

/// The end of a run that its thread has.
#[derive(Clone, Debug)]
struct Line {
    budget: Budget,
    meter: Meter,
    sender: Sender<Told>,
    reached: Shared,
}

impl<A: Send + 'static> Pace<A> {
    /// Tells what was found so far.
    pub fn tell(&self, answer: A) {
        // The receiver is gone if nobody waits for the result.
        let _ = self.line.sender.send(Told::Partial(Box::new(answer)));
    }
}

impl<A> Pace<A> {
    /// The work that it may do. It waits where it has used what was granted.
    pub fn budget(&self) -> &Budget {
        &self.line.budget
    }

    /// An observer of a search that waits where the search has used what was granted, and at marks.
    pub fn observer<O: Observer>(&self, watched: O, measure: Measure, marks: Option<Marks>) -> Paced<O> {
        let Line { budget, meter, reached, .. } = self.line.clone();
        Paced { watched, budget, meter, reached, measure, counted: 0, marks }
    }
}

/// What work of a search is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// States stored.
    States,
    /// Rule instances fired.
    Steps,
}

impl Measure {
    fn of(self, progress: &Progress) -> u64 {
        match self {
            Self::States => progress.states,
            Self::Steps => progress.transitions,
        }
    }
}

/// Where a search is held so that something can be decided: at its first report beyond so many states or steps, and again
/// whenever either has grown by a share. So the marks depend on what the search reports, and not on grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The states at the next mark.
    pub states: u64,
    /// The steps at the next mark.
    pub steps: u64,
    /// Either grows by one part in this many from one mark to the next.
    pub share: u64,
}

impl Marks {
    /// Whether a report is at a mark, which then moves on.
    fn is_at(&mut self, progress: &Progress) -> bool {
        let Progress { states, transitions: steps, .. } = *progress;
        if states < self.states && steps < self.steps {
            return false;
        }
        let after = |now: u64| now.saturating_add((now / self.share).max(1));
        (self.states, self.steps) = (self.states.max(after(states)), self.steps.max(after(steps)));
        true
    }
}

/// An observer that lets a search wait where a run does.
#[derive(Debug)]
pub struct Paced<O> {
    /// Who else watches, and is asked first whether to go on.
    pub watched: O,
    budget: Budget,
    meter: Meter,
    reached: Shared,
    measure: Measure,
    counted: u64,
    marks: Option<Marks>,
}

impl<O: Observer> Observer for Paced<O> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        self.watched.progress(progress)?;
        let is_at_mark = self.marks.as_mut().is_some_and(|marks| marks.is_at(progress));
        {
            let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
            reached.note(progress);
            reached.is_at_mark = is_at_mark;
        }
        if is_at_mark {
            self.meter.hold();
        }
        let now = self.measure.of(progress);
        let new = now.saturating_sub(std::mem::replace(&mut self.counted, now));
        if self.budget.spend(new).is_ok() {
            return ControlFlow::Continue(());
        }
        // Whoever watches knows why, unless only this run is to end.
        self.watched.progress(progress)?;
        ControlFlow::Break(StopReason::Withdrawn)
    }
    fn glance(&mut self, progress: &Progress) {
        self.watched.glance(progress);
    }
    fn resumed(&mut self, states: u64) {
        self.watched.resumed(states);
    }
    fn wants_checkpoint(&mut self) -> bool {
        self.watched.wants_checkpoint()
    }
    fn wants_graph(&self) -> bool {
        self.watched.wants_graph()
    }
    fn state(&mut self, number: u64, state: &[u64], initial: bool) {
        self.watched.state(number, state, initial);
    }
    fn edge(&mut self, edge: Edge<'_>) {
        self.watched.edge(edge);
    }
    fn interrupt(&self) -> Interrupt {
        self.budget.interrupt().clone()
    }
    fn clock(&self) -> Option<Clock> {
        self.watched.clock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;

    fn at(states: u64, transitions: u64) -> Progress {
        Progress { states, transitions, ..Progress::default() }
    }

    /// A search of a hundred states with two steps each, which reports every ten states.
    fn search(observer: &mut dyn Observer) -> Result<u64, StopReason> {
        for states in (10..=100).step_by(10) {
            if let ControlFlow::Break(reason) = observer.progress(&at(states, 2 * states)) {
                return Err(reason);
            }
        }
        Ok(100)
    }

    fn started(marks: Option<Marks>) -> Run<Result<u64, StopReason>> {
        let work = move |pace: &Pace<_>| search(&mut pace.observer(Silent, Measure::Steps, marks));
        Run::start(&Interrupt::new(), work).expect("there is room for a thread")
    }

    #[test]
    fn a_run_goes_as_far_as_it_is_granted() {
        let mut run = started(None);
        for (total, states) in [(30, 20), (30, 20), (40, 30), (150, 80)] {
            assert!(matches!(run.advance(total), Step::Working(reached) if reached.progress.states == states));
        }
        assert!(matches!(run.advance(u64::MAX), Step::Done(Ok(Ok(100)))));
    }

    #[test]
    fn marks_do_not_depend_on_grants() {
        let marks = Marks { states: 30, steps: u64::MAX, share: 2 };
        for quantum in [1, 7, u64::MAX] {
            let (mut run, mut total, mut at_marks) = (started(Some(marks)), 0u64, Vec::new());
            loop {
                total = total.saturating_add(quantum);
                match run.advance(total) {
                    Step::Working(reached) if reached.is_at_mark => at_marks.push(reached.progress.states),
                    Step::Working(_) => {}
                    Step::Partial(_) => unreachable!("it tells nothing before its end"),
                    Step::Done(end) => break assert!(matches!(end, Ok(Ok(100)))),
                }
            }
            at_marks.dedup();
            assert_eq!(at_marks, [30, 50, 80], "quantum {quantum}");
        }
    }

    #[test]
    fn a_run_that_is_stopped_is_withdrawn_and_not_interrupted_by_the_user() {
        let (sender, told) = mpsc::channel();
        let work = move |pace: &Pace<()>| {
            let _ = sender.send(search(&mut pace.observer(Silent, Measure::Steps, None)));
        };
        let mut run = Run::start(&Interrupt::new(), work).expect("there is room for a thread");
        assert!(matches!(run.advance(1), Step::Working(_)));
        run.stop();
        assert_eq!(told.recv(), Ok(Err(StopReason::Withdrawn)));
    }

    #[test]
    fn a_panic_is_the_end_of_a_run() {
        let run = Run::<()>::start(&Interrupt::new(), |_| panic!("on purpose")).expect("there is room for a thread");
        assert_eq!(run.finish().expect_err("it panics").message, "on purpose");
    }

    #[test]
    fn what_was_found_so_far_is_told_in_order() {
        let work = |pace: &Pace<u32>| {
            pace.tell(1);
            pace.budget().spend(5).map_or(0, |()| 2)
        };
        let mut run = Run::start(&Interrupt::new(), work).expect("there is room for a thread");
        assert!(matches!(run.advance(1), Step::Partial(1)));
        assert!(matches!(run.advance(1), Step::Working(_)));
        assert!(matches!(run.advance(5), Step::Done(Ok(2))));
    }
}
