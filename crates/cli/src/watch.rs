//! Watching a search: progress on a terminal, the time limit, and the user's wish to stop.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quotient_engines::{Clock, Observer, Progress, StopReason};

use crate::arguments::{Format, OutputArguments};
use crate::render::quantity;

/// How often progress is drawn.
const DRAWING_INTERVAL: Duration = Duration::from_millis(100);

/// An observer with a clock.
pub(crate) struct Watch {
    started: Instant,
    timeout: Option<Duration>,
    interrupted: Arc<AtomicBool>,
    bar: Option<ProgressBar>,
    drawn: Instant,
    /// How often to write a checkpoint, and when it was done last.
    checkpoints: Option<Duration>,
    written: Instant,
}

impl Watch {
    /// Starts the clock.
    pub(crate) fn start(timeout: Option<Duration>, output: &OutputArguments) -> Self {
        let is_shown = !output.no_progress && output.format == Format::Human && io::stderr().is_terminal();
        let now = Instant::now();
        Self {
            started: now,
            timeout,
            interrupted: watch_for_interrupt(),
            bar: is_shown.then(progress_bar),
            drawn: now,
            checkpoints: None,
            written: now,
        }
    }
    /// Wants a checkpoint from time to time.
    pub(crate) fn with_checkpoints(self, every: Duration) -> Self {
        Self { checkpoints: Some(every), ..self }
    }
    /// Starts the clock for something short that an interrupt may end as usual.
    pub(crate) fn start_without_interrupts(timeout: Duration, output: &OutputArguments) -> Self {
        let is_shown = !output.no_progress && io::stderr().is_terminal();
        let now = Instant::now();
        let interrupted = Arc::new(AtomicBool::new(false));
        Self {
            started: now,
            timeout: Some(timeout),
            interrupted,
            bar: is_shown.then(progress_bar),
            drawn: now,
            checkpoints: None,
            written: now,
        }
    }
    /// Stops the clock and takes progress off the terminal.
    pub(crate) fn finish(self) -> Duration {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
    /// Why to stop now, if there is a reason.
    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(StopReason::Interrupted);
        }
        self.timeout.filter(|&timeout| self.started.elapsed() >= timeout).map(StopReason::TimeLimit)
    }
    /// Says what is done before the search.
    pub(crate) fn announce(&self, text: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }
    fn draw(&mut self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        let now = Instant::now();
        if now.duration_since(self.drawn) < DRAWING_INTERVAL {
            return;
        }
        self.drawn = now;
        let elapsed = now.duration_since(self.started);
        bar.set_message(format!(
            "{} states, {} states/s, frontier {}, depth {}, {}, {}",
            quantity::count(progress.states),
            quantity::rate(progress.states, elapsed),
            quantity::count(progress.frontier),
            quantity::count(progress.depth),
            quantity::bytes(progress.memory_bytes),
            quantity::duration(Duration::from_secs(elapsed.as_secs())),
        ));
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        if let Some(reason) = self.stop_reason() {
            return ControlFlow::Break(reason);
        }
        self.draw(progress);
        ControlFlow::Continue(())
    }
    fn wants_checkpoint(&mut self) -> bool {
        let due = self.checkpoints.is_some_and(|every| self.written.elapsed() >= every);
        if due {
            self.written = Instant::now();
        }
        due
    }
    fn clock(&self) -> Option<Clock> {
        Some(time)
    }
}

/// The processor time of the calling thread: what others do on the machine is no part of what something
/// costs.
fn time() -> Duration {
    processor_time::of_thread()
}

/// The processor time of this program.
pub(crate) fn time_spent() -> Duration {
    processor_time::of_process()
}

/// What the clocks of the system say.
#[cfg(unix)]
mod processor_time {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    pub(super) fn of_thread() -> Duration {
        read(ClockId::ThreadCPUTime)
    }

    pub(super) fn of_process() -> Duration {
        read(ClockId::ProcessCPUTime)
    }

    fn read(clock: ClockId) -> Duration {
        let time = clock_gettime(clock);
        // Neither part is negative in a time that was spent.
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
    }
}

/// Where there is no better clock, the time since it was first asked for.
#[cfg(not(unix))]
mod processor_time {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    pub(super) fn of_thread() -> Duration {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed()
    }

    pub(super) fn of_process() -> Duration {
        of_thread()
    }
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is well-formed");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// The first interrupt asks the search to end with what it has; the second ends the program, since
/// a single step may take long.
fn watch_for_interrupt() -> Arc<AtomicBool> {
    const INTERRUPTED: i32 = 130;
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // Without a handler an interrupt ends the program at once, which is no reason not to search.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    });
    interrupted
}
