//! Partitions of the members of all families: members of one cell have not been distinguished.

use std::fmt::Write as _;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use super::families::Families;

/// A partition of members into cells. Cells are numbered in the order of their first members, so that
/// equal partitions are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    cells: Box<[u16]>,
}

impl Partition {
    /// The partition in which members with equal labels share a cell.
    pub fn from_labels<L: Eq + std::hash::Hash>(labels: impl IntoIterator<Item = L>) -> Self {
        let mut numbers: FxHashMap<L, u16> = FxHashMap::default();
        let cells = labels
            .into_iter()
            .map(|label| {
                let next = numbers.len() as u16;
                *numbers.entry(label).or_insert(next)
            })
            .collect();
        Self { cells }
    }

    /// Every member in its own cell.
    pub fn discrete(members: usize) -> Self {
        Self { cells: (0..members as u16).collect() }
    }

    /// The number of members.
    pub fn members(&self) -> usize {
        self.cells.len()
    }

    /// The cell of a member.
    pub fn cell(&self, member: usize) -> usize {
        self.cells[member] as usize
    }

    /// The number of cells.
    pub fn cell_count(&self) -> usize {
        self.cells.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// The members of each cell, in increasing order.
    pub fn cells(&self) -> Vec<Vec<usize>> {
        let mut cells = vec![Vec::new(); self.cell_count()];
        for (member, &cell) in self.cells.iter().enumerate() {
            cells[cell as usize].push(member);
        }
        cells
    }

    /// Whether two members share a cell.
    pub fn joins(&self, first: usize, second: usize) -> bool {
        self.cells[first] == self.cells[second]
    }

    /// The greatest lower bound: members share a cell if they do so in both partitions. It generates exactly the
    /// permutations that both generate.
    pub fn meet(&self, other: &Partition) -> Partition {
        Self::from_labels(self.cells.iter().zip(&other.cells))
    }

    /// The number of permutations it generates.
    pub fn order(&self) -> BigUint {
        let mut sizes = vec![0u32; self.cell_count()];
        let mut order = BigUint::from(1u32);
        for &cell in &self.cells {
            sizes[cell as usize] += 1;
            order *= sizes[cell as usize];
        }
        order
    }

    /// Whether every cell of this partition lies in a cell of the other.
    pub fn is_finer_than(&self, other: &Partition) -> bool {
        let mut image = vec![u16::MAX; self.cell_count()];
        self.cells.iter().zip(&other.cells).all(|(&own, &its)| {
            let known = &mut image[own as usize];
            if *known == u16::MAX {
                *known = its;
            }
            *known == its
        })
    }

    /// The same with some members put into cells of their own.
    pub fn individualized(&self, members: &[usize]) -> Partition {
        Self::from_labels(
            self.cells
                .iter()
                .enumerate()
                .map(|(member, &cell)| if members.contains(&member) { (true, member) } else { (false, cell as usize) }),
        )
    }

    /// In source terms: the values of each family, cells separated by bars, such as `| 1, 2 | 3 |`. A family with a
    /// single cell is omitted if there are others.
    pub fn describe(&self, families: &Families) -> String {
        let mut text = String::new();
        let several = families.list().len() > 1;
        for family in families.list() {
            let mut cells: Vec<(usize, Vec<usize>)> = Vec::new();
            for position in 0..family.size {
                let cell = self.cell(family.first + position);
                match cells.iter_mut().find(|(known, _)| *known == cell) {
                    Some((_, positions)) => positions.push(position),
                    None => cells.push((cell, vec![position])),
                }
            }
            if several && cells.len() == 1 {
                continue;
            }
            if !text.is_empty() {
                text.push_str(", ");
            }
            if several {
                let _ = write!(text, "{} ", family.name);
            }
            text.push('|');
            for (_, positions) in cells {
                let _ = write!(text, " {} |", runs(&positions, |position| family.value_name(position)));
            }
        }
        if text.is_empty() { "all alike".to_owned() } else { text }
    }
}

/// Positions in increasing order as a short text: ranges of three or more by their ends.
fn runs(positions: &[usize], name: impl Fn(usize) -> String) -> String {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < positions.len() {
        let mut last = at;
        while last + 1 < positions.len() && positions[last + 1] == positions[last] + 1 {
            last += 1;
        }
        if last - at >= 2 {
            parts.push(format!("{}–{}", name(positions[at]), name(positions[last])));
        } else {
            parts.extend(positions[at..=last].iter().map(|&position| name(position)));
        }
        at = last + 1;
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::Partition;

    #[test]
    fn the_lattice_of_partitions() {
        let halves = Partition::from_labels([0, 0, 1, 1]);
        let crossed = Partition::from_labels([5, 7, 5, 7]);
        let all = Partition::from_labels([1, 1, 1, 1]);
        assert_eq!(halves.meet(&crossed), Partition::discrete(4));
        assert_eq!(halves.meet(&all), halves);
        assert!(halves.is_finer_than(&all) && !all.is_finer_than(&halves) && !halves.is_finer_than(&crossed));
        assert_eq!(all.individualized(&[1]).cells(), vec![vec![0, 2, 3], vec![1]]);
        assert_eq!(halves.cells(), vec![vec![0, 1], vec![2, 3]]);
    }
}
