//! Unwinding: replacing a state with a partition by states with a finer one that represent the same states (Wahl 2007,
//! sections 7 and 8). Members of a cell that are alike are counted, not distinguished, and only the number of each kind
//! in each part of the cell is chosen, so the work is proportional to the output; results known to be useless are not
//! generated at all.

use std::ops::ControlFlow;

use super::arrangement::Kind;

/// A part of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its positions.
    pub places: Vec<usize>,
}

/// Visits one assignment of members to positions for each way to fill the targets of each cell with kinds of its
/// members; `allows(cell, target, kind)` says whether a kind may go to a target.
pub fn unwind(
    cells: &[Vec<Kind>],
    targets: &[Vec<Target>],
    members: usize,
    allows: &mut impl FnMut(usize, usize, usize) -> bool,
    visit: &mut impl FnMut(&[usize]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // What each target takes, and the room that later targets have for a kind.
    let mut room: Vec<Vec<Vec<usize>>> = Vec::with_capacity(cells.len());
    let mut allowed: Vec<Vec<Vec<bool>>> = Vec::with_capacity(cells.len());
    for (cell, (kinds, targets)) in cells.iter().zip(targets).enumerate() {
        let takes: Vec<Vec<bool>> = (0..targets.len())
            .map(|target| (0..kinds.len()).map(|kind| allows(cell, target, kind)).collect())
            .collect();
        let mut after = vec![vec![0; kinds.len()]; targets.len() + 1];
        for target in (0..targets.len()).rev() {
            for kind in 0..kinds.len() {
                let own = if takes[target][kind] { targets[target].places.len() } else { 0 };
                after[target][kind] = after[target + 1][kind] + own;
            }
        }
        // Not enough room.
        if kinds.iter().enumerate().any(|(kind, entry)| entry.members.len() > after[0][kind]) {
            return ControlFlow::Continue(());
        }
        allowed.push(takes);
        room.push(after);
    }
    let used = cells.iter().map(|kinds| vec![0; kinds.len()]).collect();
    let mut filling = Filling { cells, targets, allowed, room, used, place_of: (0..members).collect() };
    let first = filling.left(0, 0);
    filling.fill(0, 0, 0, first, visit)
}

struct Filling<'a> {
    cells: &'a [Vec<Kind>],
    targets: &'a [Vec<Target>],
    allowed: Vec<Vec<Vec<bool>>>,
    room: Vec<Vec<Vec<usize>>>,
    /// The number of members of each kind that have been placed.
    used: Vec<Vec<usize>>,
    place_of: Vec<usize>,
}

impl Filling<'_> {
    fn left(&self, cell: usize, target: usize) -> usize {
        self.targets.get(cell).and_then(|targets| targets.get(target)).map_or(0, |target| target.places.len())
    }

    /// Fills the rest of a target, with some positions left, from a kind on.
    fn fill(
        &mut self,
        cell: usize,
        target: usize,
        kind: usize,
        left: usize,
        visit: &mut impl FnMut(&[usize]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if cell == self.cells.len() {
            return visit(&self.place_of);
        }
        if target == self.targets[cell].len() {
            let first = self.left(cell + 1, 0);
            return self.fill(cell + 1, 0, 0, first, visit);
        }
        if kind == self.cells[cell].len() {
            if left > 0 {
                return ControlFlow::Continue(());
            }
            let next = self.left(cell, target + 1);
            return self.fill(cell, target + 1, 0, next, visit);
        }
        let entry = &self.cells[cell][kind];
        let waiting = entry.members.len() - self.used[cell][kind];
        let least = waiting.saturating_sub(self.room[cell][target + 1][kind]);
        let most = if self.allowed[cell][target][kind] { waiting.min(left) } else { 0 };
        for count in least..=most {
            let places = &self.targets[cell][target].places;
            let from = places.len() - left;
            let used = self.used[cell][kind];
            for step in 0..count {
                self.place_of[entry.members[used + step]] = places[from + step];
            }
            self.used[cell][kind] += count;
            let flow = self.fill(cell, target, kind + 1, left - count, visit);
            self.used[cell][kind] -= count;
            flow?;
        }
        ControlFlow::Continue(())
    }
}
