//! The partition of points into orbits, grown generator by generator (union–find by size).

use crate::{Point, SparsePermutation};

/// Disjoint classes of the points `0..degree`, merged as generators arrive.
#[derive(Debug, Clone, Default)]
pub struct OrbitPartition {
    parent: Vec<Point>,
    size: Vec<u32>,
}

impl OrbitPartition {
    /// Every point alone.
    pub fn new(degree: usize) -> Self {
        Self { parent: (0..degree as Point).collect(), size: vec![1; degree] }
    }

    /// Makes every point of `0..degree` alone again.
    pub(crate) fn reset(&mut self, degree: usize) {
        self.parent.clear();
        self.parent.extend(0..degree as Point);
        self.size.clear();
        self.size.resize(degree, 1);
    }

    /// The orbits of the group that `generators` generate on `0..degree`.
    pub fn of_generators<'g>(degree: usize, generators: impl IntoIterator<Item = &'g SparsePermutation>) -> Self {
        let mut orbits = Self::new(degree);
        for generator in generators {
            orbits.merge_cycles(generator);
        }
        orbits
    }

    /// The number of points.
    pub fn degree(&self) -> usize {
        self.parent.len()
    }

    /// The representative of the class of `point`; equal for two points exactly when they share a class.
    pub fn find(&mut self, mut point: Point) -> Point {
        while self.parent[point as usize] != point {
            let above = self.parent[self.parent[point as usize] as usize];
            self.parent[point as usize] = above;
            point = above;
        }
        point
    }

    /// Merges two classes and gives the surviving representative, or `None` when they were one already.
    pub fn merge(&mut self, left: Point, right: Point) -> Option<Point> {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return None;
        }
        let (root, child) =
            if self.size[left as usize] >= self.size[right as usize] { (left, right) } else { (right, left) };
        self.parent[child as usize] = root;
        self.size[root as usize] += self.size[child as usize];
        Some(root)
    }

    /// Merges each point with its image under `generator`.
    pub fn merge_cycles(&mut self, generator: &SparsePermutation) {
        for (point, image) in generator.moves() {
            self.merge(point, image);
        }
    }

    /// The number of points in the class of `point`.
    pub fn class_size(&mut self, point: Point) -> u32 {
        let root = self.find(point);
        self.size[root as usize]
    }

    /// The classes with at least `least` points, each in increasing order, ordered by their first point.
    pub fn classes(&mut self, least: usize) -> Vec<Vec<Point>> {
        let mut class_of_root = vec![u32::MAX; self.parent.len()];
        let mut classes: Vec<Vec<Point>> = Vec::new();
        for point in 0..self.parent.len() as Point {
            let root = self.find(point) as usize;
            if (self.size[root] as usize) < least {
                continue;
            }
            if class_of_root[root] == u32::MAX {
                class_of_root[root] = classes.len() as u32;
                classes.push(Vec::with_capacity(self.size[root] as usize));
            }
            classes[class_of_root[root] as usize].push(point);
        }
        classes
    }
}
