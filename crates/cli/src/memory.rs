//! How much memory the program has taken, and how much there is.

/// The most memory this process has taken so far, where the system tells.
pub(crate) fn peak_bytes() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The memory that a search may take unless told otherwise: most of what is free, so that the machine
/// is never in trouble. None where the system does not tell.
pub(crate) fn usable_bytes() -> Option<u64> {
    let available = value_of(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    // A container may allow less than the machine has; without a limit it says `max`.
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let usable = allowed.map_or(available, |allowed: u64| available.min(allowed));
    Some(usable / 8 * 7)
}

/// Reads `VmHWM:  12345 kB` (the high-water mark of resident memory) from a status file of Linux.
fn peak_of(status: &str) -> Option<u64> {
    value_of(status, "VmHWM:")
}

/// Reads a line such as `MemAvailable:  12345 kB`.
fn value_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::{peak_of, usable_bytes};

    #[cfg(target_os = "linux")]
    #[test]
    fn some_memory_can_be_used() {
        assert!(usable_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn status_files() {
        assert_eq!(peak_of("Name:\tx\nVmHWM:\t   12 kB\nVmRSS:\t 1 kB\n"), Some(12 * 1024));
        assert_eq!(peak_of("Name:\tx\n"), None);
        assert_eq!(peak_of("VmHWM:\t many kB\n"), None);
    }
}
