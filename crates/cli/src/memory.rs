//! How much memory the program has taken.

/// The most memory this process has taken so far, where the system tells.
pub(crate) fn peak_bytes() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Reads `VmHWM:  12345 kB` (the high-water mark of resident memory) from a status file of Linux.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::peak_of;

    #[test]
    fn status_files() {
        assert_eq!(peak_of("Name:\tx\nVmHWM:\t   12 kB\nVmRSS:\t 1 kB\n"), Some(12 * 1024));
        assert_eq!(peak_of("Name:\tx\n"), None);
        assert_eq!(peak_of("VmHWM:\t many kB\n"), None);
    }
}
