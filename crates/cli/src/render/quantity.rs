//! Numbers with their units, formatted for human readers.

use std::time::Duration;

/// A count with thousands separators: `1,684,801`.
pub(crate) fn count(number: u64) -> String {
    digits(&number.to_string())
}

/// Numbers with more digits than this are shown by their magnitude.
const LONGEST: usize = 60;

/// The digits of a number of any size with thousands separators; very large ones are shown by their magnitude.
pub(crate) fn digits(digits: &str) -> String {
    if digits.len() > LONGEST {
        return large(digits);
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of very many digits: `1.32 × 10^9034`.
pub(crate) fn large(digits: &str) -> String {
    match digits.split_at_checked(1) {
        Some((first, rest)) if digits.len() > LONGEST => format!("{first}.{} × 10^{}", &rest[..2], rest.len()),
        _ => digits.to_owned(),
    }
}

/// Bytes in the largest unit that leaves a number above one: `23.4 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A duration with about three digits: `0.4 ms`, `1.23 s`, `3 min 12 s`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let whole = duration.as_secs();
    let is_whole = duration.subsec_nanos() == 0;
    if seconds >= 3600.0 {
        format!("{} h {} min", whole / 3600, whole / 60 % 60)
    } else if seconds >= 120.0 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else if is_whole {
        format!("{whole} s")
    } else if seconds >= 10.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 0.01 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}

/// A factor, to three digits: `4.25`, `84.3`, `13,997`.
pub(crate) fn factor(factor: f64) -> String {
    match factor {
        _ if factor < 9.995 => format!("{factor:.2}"),
        _ if factor < 99.95 => format!("{factor:.1}"),
        _ if factor < 1e15 => count(factor.round() as u64),
        _ => format!("{factor:.2e}"),
    }
}

/// A rate per second, to three digits: `450,000`.
pub(crate) fn rate(number: u64, duration: Duration) -> String {
    let rate = number as f64 / duration.as_secs_f64().max(1e-6);
    let digits = if rate >= 1.0 { rate.log10().floor() as i32 } else { 0 };
    let unit = 10f64.powi((digits - 2).max(0));
    count(((rate / unit).round() * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_684_801, "1,684,801")] {
            assert_eq!(count(number), text);
        }
        let large = format!("1324{}", "0".repeat(80));
        assert_eq!(digits(&large), "1.32 × 10^83");
    }

    #[test]
    fn sizes() {
        for (number, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1 << 20, "1.0 MiB"),
            ((1 << 30) - 1, "1.0 GiB"),
            (u64::MAX, "16384.0 PiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn durations() {
        for (milliseconds, text) in [
            (0, "0 s"),
            (4, "4.0 ms"),
            (20, "20 ms"),
            (1000, "1 s"),
            (9500, "9.50 s"),
            (12_340, "12.3 s"),
            (192_000, "3 min 12 s"),
            (5_400_000, "1 h 30 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn rates() {
        assert_eq!(rate(123_456, Duration::from_secs(1)), "123,000");
        assert_eq!(rate(5, Duration::from_secs(1)), "5");
        assert_eq!(rate(0, Duration::ZERO), "0");
    }
}
