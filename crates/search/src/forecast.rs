//! How many states a search will have, told from its beginning.
//!
//! In a breadth-first search, the share of the stored states that still wait falls as it goes on, about linearly with the
//! number of states: states are found the more rarely, the more of them are known. Where that line meets zero, the search
//! ends. This needs no clock, so a decision that is based on it is the same in every run.

use crate::observer::Progress;

/// The factor by which the number of states grows between two measurements, in percent.
const GROWTH_PERCENT: u64 = 130;
/// How many times as large as it is a search is believed to become.
const FORESIGHT: u64 = 16;
/// The number of states before the first measurement.
const FIRST_STATES: u64 = 64;

/// Looks at a search, and tells how many states it will have.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// The states stored and waiting at the last measurement.
    last: Option<(u64, u64)>,
    /// What the last two measurements tell.
    expected: [Option<u64>; 2],
}

impl Forecast {
    /// Takes a measurement, if that is due.
    pub fn note(&mut self, progress: &Progress) {
        let (states, waiting) = (progress.states, progress.frontier);
        let (before, waited) = match self.last {
            None if states < FIRST_STATES => return,
            None => {
                self.last = Some((states, waiting));
                return;
            }
            // It began again.
            Some((before, _)) if states < before => {
                *self = Self::default();
                return;
            }
            Some((before, _)) if u128::from(states) * 100 < u128::from(before) * u128::from(GROWTH_PERCENT) => return,
            Some(last) => last,
        };
        self.last = Some((states, waiting));
        self.expected = [self.expected[1], Some(meeting((before, waited), (states, waiting)))];
    }

    /// The number of states expected, if there are measurements: the smaller of the last two, as far as it is believed.
    pub fn states(&self) -> Option<u64> {
        let (known, _) = self.last?;
        Some(self.expected[0]?.min(self.expected[1]?).min(known.saturating_mul(FORESIGHT)))
    }
}

/// The number of states at which none waits, on the line through two measurements of states and those of them that wait.
/// There is no such number if the share does not fall.
fn meeting((first, first_waiting): (u64, u64), (second, second_waiting): (u64, u64)) -> u64 {
    let [first, first_waiting, second, second_waiting] = [first, first_waiting, second, second_waiting].map(u128::from);
    let fall = (first_waiting * second).saturating_sub(second_waiting * first);
    if fall == 0 {
        return u64::MAX;
    }
    // Numbers of states have less than 48 bits, by far.
    let rest = second_waiting.saturating_mul(second - first).saturating_mul(first) / fall;
    u64::try_from(second.saturating_add(rest)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(states: u64, frontier: u64) -> Progress {
        Progress { states, frontier, ..Progress::default() }
    }

    #[test]
    fn a_line_is_followed_to_its_end() {
        // The share that waits is 0.5 - 0.5 n / 10,000.
        let mut forecast = Forecast::default();
        for states in [1_000, 2_000, 4_000] {
            forecast.note(&at(states, states * (10_000 - states) / 20_000));
        }
        assert_eq!(forecast.states(), Some(10_000));
    }

    #[test]
    fn nothing_is_told_without_measurements() {
        let mut forecast = Forecast::default();
        forecast.note(&at(1_000, 500));
        forecast.note(&at(1_100, 500));
        assert_eq!(forecast.states(), None);
    }

    #[test]
    fn a_share_that_does_not_fall_has_no_end() {
        let mut forecast = Forecast::default();
        for states in [1_000, 2_000, 4_000] {
            forecast.note(&at(states, states / 2));
        }
        assert_eq!(forecast.states(), Some(4_000 * FORESIGHT));
    }

    #[test]
    fn a_search_that_begins_again_is_measured_again() {
        let mut forecast = Forecast::default();
        for states in [1_000, 2_000, 4_000, 100] {
            forecast.note(&at(states, states / 2));
        }
        assert_eq!(forecast.states(), None);
    }
}
