//! Memory use of the process, its peak, and the memory available.

/// The peak memory use of this process so far, if the system reports it.
pub fn peak_bytes() -> Option<u64> {
    value_of(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The current memory use of this process, if the system reports it.
pub(crate) fn resident_bytes() -> Option<u64> {
    value_of(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The default memory limit of the process: its present use plus most of the free memory, so that the machine does not
/// run out. None if the system does not report it.
pub(crate) fn usable_bytes() -> Option<u64> {
    let available = value_of(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    // A container may allow less than the machine has; `max` means no limit.
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let usable = allowed.map_or(available, |allowed: u64| available.min(allowed));
    Some(usable / 8 * 7)
}

/// Reads a line such as `MemAvailable:  12345 kB` of a status file of Linux.
fn value_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn some_memory_can_be_used() {
        assert!(super::usable_bytes().is_some_and(|bytes| bytes > 1 << 20));
        let (now, most) = (super::resident_bytes(), super::peak_bytes());
        assert!(now.is_some_and(|now| now > 1 << 16) && most >= now, "{now:?} {most:?}");
    }

    #[test]
    fn status_files() {
        let peak = |status| super::value_of(status, "VmHWM:");
        assert_eq!(peak("Name:\tx\nVmHWM:\t   12 kB\nVmRSS:\t 1 kB\n"), Some(12 * 1024));
        assert_eq!(peak("Name:\tx\n"), None);
        assert_eq!(peak("VmHWM:\t many kB\n"), None);
    }
}
