//! Bounds by weights: if no change increases the weighted sum of some counters, none of them exceeds what the sum is at the
//! beginning, divided by its weight.
//!
//! Such weights are solutions of the dual of the linear programs of `bounds`. They are looked for near a counter only: it gets a
//! weight, and where a change increases the sum, a counter that the change decreases gets one, too. In nets of processes that
//! pass a token on, each change decreases one counter of a process, so the weights follow the process around. Where several
//! counters are decreased, one is guessed, in a few ways. What is found is a bound; it need not be the least.

use super::bounds::System;

/// The greatest weight.
const MOST_WEIGHT: i64 = 1 << 20;
/// How often weights are looked for, for one counter.
const ATTEMPTS: u64 = 6;
/// How often weights are increased in an attempt, for each counter of the system, and besides: where there are no weights,
/// they may grow for ever.
const INCREASES: (usize, usize) = (4, 256);

/// A bound for each counter, where one is found; as far as the work suffices.
pub(super) fn bounds(system: &System, work: &mut u64) -> Vec<Option<i64>> {
    let mut best: Vec<Option<i64>> = vec![None; system.initial.len()];
    let mut search = Search::new(system);
    for target in search.targets() {
        // No bound is less than what is there at the beginning, and no useful one less than 1.
        let least = system.initial[target].max(1);
        for attempt in 0..ATTEMPTS {
            if *work == 0 || best[target].is_some_and(|bound| bound <= least) {
                break;
            }
            let Found { is_bound, is_guessed } = search.weigh(target, attempt, work);
            if let Some(sum) = search.sum().filter(|_| is_bound) {
                for &counter in &search.weighted {
                    let bound = sum / search.weights[counter];
                    best[counter] = Some(best[counter].map_or(bound, |known| known.min(bound)));
                }
                if sum / search.weights[target] <= least {
                    search.note_passed_on();
                }
            }
            search.clear();
            if !is_guessed {
                break;
            }
        }
    }
    best
}

/// What came of looking for weights.
struct Found {
    is_bound: bool,
    /// Whether there was more than one counter to choose from somewhere.
    is_guessed: bool,
}

struct Search<'s> {
    system: &'s System,
    /// For each counter the columns that change it, and by how much.
    changes: Vec<Vec<(usize, i64)>>,
    weights: Vec<i64>,
    /// The counters with a weight.
    weighted: Vec<usize>,
    /// By how much each column increases the weighted sum.
    growth: Vec<i64>,
    /// The columns that increased it at some time, and those that are still to be looked at.
    touched: Vec<usize>,
    /// For each entry of each column whether the least sum for some counter has weights there, so that what the column takes
    /// from it goes to another counter.
    is_passed_on: Vec<Vec<bool>>,
}

impl<'s> Search<'s> {
    fn new(system: &'s System) -> Self {
        let mut changes = vec![Vec::new(); system.initial.len()];
        for (column, entries) in system.columns.iter().enumerate() {
            for &(counter, change) in entries {
                changes[counter].push((column, change));
            }
        }
        Self {
            system,
            changes,
            weights: vec![0; system.initial.len()],
            weighted: Vec::new(),
            growth: vec![0; system.columns.len()],
            touched: Vec::new(),
            is_passed_on: system.columns.iter().map(|column| vec![false; column.len()]).collect(),
        }
    }

    /// All counters; first those that nothing decreases: weights for the end of a chain are weights for all of it.
    fn targets(&self) -> Vec<usize> {
        let is_end = |counter: &usize| self.changes[*counter].iter().all(|&(_, change)| change > 0);
        let (ends, others): (Vec<usize>, Vec<usize>) = (0..self.changes.len()).partition(is_end);
        [ends, others].concat()
    }

    /// Looks for weights with which no column increases the sum, and the target has one.
    fn weigh(&mut self, target: usize, attempt: u64, work: &mut u64) -> Found {
        let mut found = Found { is_bound: false, is_guessed: false };
        let mut pending = Vec::new();
        if self.raise(target, 1, &mut pending, work).is_none() {
            return found;
        }
        let (each, besides) = INCREASES;
        let mut left = each * self.weights.len() + besides;
        while let Some(column) = pending.pop() {
            let growth = self.growth[column];
            if growth <= 0 {
                continue;
            }
            let entries = self.system.columns[column].iter().enumerate().filter(|(_, (_, change))| *change < 0);
            let Some((_, &(counter, change))) =
                entries.clone().min_by_key(|&(entry, &(counter, _))| self.rank(column, entry, counter, attempt))
            else {
                return found;
            };
            found.is_guessed |= entries.count() > 1;
            let by = growth.unsigned_abs().div_ceil(change.unsigned_abs());
            left -= 1;
            if left == 0 {
                return found;
            }
            if self.raise(counter, by as i64, &mut pending, work).is_none() {
                return found;
            }
        }
        found.is_bound = true;
        found
    }

    /// How little a counter that a column decreases suggests itself. Those whose tokens go elsewhere as far as is known do
    /// not, nor those that have a weight already, nor those that add to the sum.
    fn rank(&self, column: usize, entry: usize, counter: usize, attempt: u64) -> (bool, bool, u64, usize) {
        let is_passed_on = self.is_passed_on[column][entry] && attempt < ATTEMPTS / 2;
        let has_weight = self.weights[counter] > 0;
        let order = match attempt {
            0 => u64::from(self.system.initial[counter] > 0),
            _ => scattered(counter as u64 ^ attempt << 32),
        };
        (is_passed_on, has_weight, order, self.changes[counter].len())
    }

    /// Increases the weight of a counter. None if something becomes too large.
    fn raise(&mut self, counter: usize, by: i64, pending: &mut Vec<usize>, work: &mut u64) -> Option<()> {
        *work = work.saturating_sub(1 + self.changes[counter].len() as u64);
        if *work == 0 {
            return None;
        }
        if self.weights[counter] == 0 {
            self.weighted.push(counter);
        }
        self.weights[counter] = self.weights[counter].checked_add(by).filter(|&weight| weight <= MOST_WEIGHT)?;
        for &(column, change) in &self.changes[counter] {
            self.touched.push(column);
            self.growth[column] = self.growth[column].checked_add(change.checked_mul(by)?)?;
            if self.growth[column] > 0 {
                pending.push(column);
            }
        }
        Some(())
    }

    /// The weighted sum at the beginning.
    fn sum(&self) -> Option<i64> {
        let part = |&counter: &usize| self.system.initial[counter].checked_mul(self.weights[counter]);
        self.weighted.iter().try_fold(0i64, |sum, counter| sum.checked_add(part(counter)?))
    }

    /// Notes which columns pass tokens on between counters with weights.
    fn note_passed_on(&mut self) {
        for &column in &self.touched {
            let has_weight = |&(counter, change): &(usize, i64)| self.weights[counter] > 0 && change > 0;
            if self.system.columns[column].iter().any(has_weight) {
                for (is_passed_on, &(counter, change)) in
                    self.is_passed_on[column].iter_mut().zip(&self.system.columns[column])
                {
                    *is_passed_on |= change < 0 && self.weights[counter] > 0;
                }
            }
        }
    }

    fn clear(&mut self) {
        for counter in self.weighted.drain(..) {
            self.weights[counter] = 0;
        }
        for column in self.touched.drain(..) {
            self.growth[column] = 0;
        }
    }
}

/// A number that looks random, always the same for the same one.
fn scattered(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use super::super::bounds::System;
    use super::bounds;

    fn found(initial: &[i64], columns: &[&[(usize, i64)]]) -> Vec<Option<i64>> {
        let columns = columns.iter().map(|column| column.to_vec()).collect();
        bounds(&System { initial: initial.to_vec(), columns }, &mut 1_000_000)
    }

    #[test]
    fn a_token_that_is_passed_on() {
        let around: [&[(usize, i64)]; 3] = [&[(0, -1), (1, 1)], &[(1, -1), (2, 1)], &[(0, 1), (2, -1)]];
        assert_eq!(found(&[1, 0, 0], &around), [Some(1); 3]);
        assert_eq!(found(&[2, 3, 0], &around), [Some(5); 3]);
    }

    #[test]
    fn processes_that_meet() {
        // Two processes with two places each take both steps together.
        let meet: [&[(usize, i64)]; 2] = [&[(0, -1), (1, 1), (2, -1), (3, 1)], &[(0, 1), (1, -1), (2, 1), (3, -1)]];
        assert_eq!(found(&[1, 0, 1, 0], &meet), [Some(1); 4]);
    }

    #[test]
    fn weights_of_arcs_count() {
        // Two tokens make one, and one makes three: there is no bound. One makes two again: there is.
        assert_eq!(found(&[6, 0], &[&[(0, -2), (1, 1)], &[(0, 3), (1, -1)]]), [None; 2]);
        assert_eq!(found(&[6, 0], &[&[(0, -2), (1, 1)], &[(0, 2), (1, -1)]])[0], Some(6));
    }

    /// No marking that is reached exceeds a bound.
    #[test]
    fn random_systems() {
        let (mut number, mut bounded) = (1u64, 0);
        let mut below = |end: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) % end
        };
        for _ in 0..3_000 {
            let counters = 2 + below(5) as usize;
            let initial: Vec<i64> = (0..counters).map(|_| [0, 0, 1, 2][below(4) as usize]).collect();
            let mut columns: Vec<Vec<(usize, i64)>> = Vec::new();
            for _ in 0..1 + below(6) {
                let changes = (0..counters).map(|counter| (counter, [0, 0, 0, -1, 1, -1, 1, -2, 2][below(9) as usize]));
                columns.push(changes.filter(|&(_, change)| change != 0).collect());
            }
            let bounds = bounds(&System { initial: initial.clone(), columns: columns.clone() }, &mut 1_000_000);
            bounded += bounds.iter().flatten().count();
            let mut reached = vec![initial];
            let mut next = 0;
            while next < reached.len() && reached.len() < 300 {
                let marking = reached[next].clone();
                next += 1;
                assert!(marking.iter().zip(&bounds).all(|(tokens, bound)| bound.is_none_or(|bound| *tokens <= bound)));
                for column in &columns {
                    let mut after = marking.clone();
                    column.iter().for_each(|&(counter, change)| after[counter] += change);
                    if after.iter().all(|&tokens| tokens >= 0) && !reached.contains(&after) {
                        reached.push(after);
                    }
                }
            }
        }
        assert!(bounded > 3_000, "{bounded}");
    }

    /// The third counter grows with each round of the first two: so would the weights.
    #[test]
    fn weights_that_would_grow_for_ever() {
        let mut work = 10_000;
        let columns = vec![vec![(0, -1), (1, 1), (2, 1)], vec![(0, 1), (1, -1)]];
        let found = bounds(&System { initial: vec![1, 0, 0], columns }, &mut work);
        assert_eq!((found, work > 5_000), (vec![Some(1), Some(1), None], true));
    }

    #[test]
    fn what_grows_has_no_bound() {
        assert_eq!(found(&[1, 0], &[&[(1, 1)], &[(0, -1), (1, -1)]]), [Some(1), None]);
    }
}
