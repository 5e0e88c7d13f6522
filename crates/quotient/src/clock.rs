//! Processor time, so that other load on the machine does not count towards a cost.

use std::time::Duration;

/// The processor time of the calling thread.
pub(crate) fn of_thread() -> Duration {
    processor_time::of_thread()
}

/// Reads the clocks of the system.
#[cfg(unix)]
mod processor_time {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    pub(super) fn of_thread() -> Duration {
        read(ClockId::ThreadCPUTime)
    }

    fn read(clock: ClockId) -> Duration {
        let time = clock_gettime(clock);
        // A duration has no negative part.
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
    }
}

/// If there is no better clock, the time since the first call.
#[cfg(not(unix))]
mod processor_time {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    pub(super) fn of_thread() -> Duration {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed()
    }
}
