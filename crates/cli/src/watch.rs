//! Progress on a terminal, and interrupts by the user.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quotient::{Control, Observer, Phase, Progress};
use quotient_explorer::Stopper;

use crate::arguments::CheckFormat;
use crate::render::quantity;

/// How often progress is drawn.
const DRAWING_INTERVAL: Duration = Duration::from_millis(100);

/// Draws progress, if there is a terminal to draw it on.
pub(crate) struct Display {
    bar: Option<ProgressBar>,
    drawn: Instant,
    /// States that come from a checkpoint.
    resumed: u64,
}

impl Display {
    /// On standard error, unless progress is switched off.
    pub(crate) fn new(format: impl Into<CheckFormat>, no_progress: bool) -> Self {
        let is_shown = !no_progress && format.into() == CheckFormat::Human && io::stderr().is_terminal();
        Self { bar: is_shown.then(progress_bar), drawn: Instant::now(), resumed: 0 }
    }
    /// Clears progress from the terminal.
    pub(crate) fn clear(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Display {
    fn phase(&mut self, phase: Phase) {
        let Some(bar) = &self.bar else { return };
        bar.set_message(match phase {
            Phase::Loading => "reading the model",
            Phase::Joining => "waiting for the other processes",
            Phase::Detecting => "looking for symmetries",
            Phase::Partitioning => "looking at what rules distinguish",
            Phase::Searching | Phase::Comparing => "searching",
        });
    }
    fn resumed(&mut self, states: u64) {
        self.resumed = states;
    }
    fn progress(&mut self, progress: &Progress, elapsed: Duration) {
        let Some(bar) = &self.bar else { return };
        let now = Instant::now();
        if now.duration_since(self.drawn) < DRAWING_INTERVAL {
            return;
        }
        self.drawn = now;
        bar.set_message(format!(
            "{} states, {} states/s, frontier {}, depth {}, {}, {}",
            quantity::count(progress.states),
            quantity::rate(progress.states.saturating_sub(self.resumed), elapsed),
            quantity::count(progress.frontier),
            quantity::count(progress.depth),
            quantity::bytes(progress.memory_bytes),
            quantity::duration(Duration::from_secs(elapsed.as_secs())),
        ));
    }
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is well-formed");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// The page that is being served.
static SERVED: OnceLock<Stopper> = OnceLock::new();

/// Lets an interrupt end a page, too.
pub(crate) fn stop_on_interrupt(stopper: Stopper) {
    // There is one page.
    let _ = SERVED.set(stopper);
}

/// The first interrupt asks the search to end with its results so far; the second ends the program, since a single step
/// may take long.
pub(crate) fn cancel_on_interrupt(control: &Control) {
    const INTERRUPTED: i32 = 130;
    let (control, asked) = (control.clone(), AtomicBool::new(false));
    // Without a handler an interrupt ends the program at once, which is no reason not to search.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        control.cancel();
        if let Some(stopper) = SERVED.get() {
            stopper.stop();
        }
    });
}
