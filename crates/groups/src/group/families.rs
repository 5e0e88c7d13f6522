//! Known groups of any size by sparse generators, for tests, benchmarks and comparison.

use crate::{Point, SparsePermutation};

/// Generators of a group whose name is known.
#[derive(Debug, Clone)]
pub struct KnownGroup {
    /// The number of points.
    pub degree: usize,
    /// The generators.
    pub generators: Vec<SparsePermutation>,
    /// The name that [`crate::PermutationGroup::structure`] should find.
    pub structure: String,
}

fn permutation(moves: impl IntoIterator<Item = (usize, usize)>) -> SparsePermutation {
    let moves = moves.into_iter().map(|(from, to)| (from as Point, to as Point)).collect();
    SparsePermutation::from_moves(moves).expect("families are made of permutations")
}

/// Exchanges two ranges of points.
fn exchange(first: usize, second: usize, length: usize) -> SparsePermutation {
    permutation((0..length).flat_map(|offset| [(first + offset, second + offset), (second + offset, first + offset)]))
}

/// The symmetric group on `points` points, acting alike on `orbits` orbits: processes with several variables each.
pub fn symmetric_on_orbits(points: usize, orbits: usize) -> KnownGroup {
    let generators = (1..points).map(|point| {
        permutation((0..orbits).flat_map(|orbit| {
            let (left, right) = (orbit * points + point - 1, orbit * points + point);
            [(left, right), (right, left)]
        }))
    });
    KnownGroup { degree: points * orbits, generators: generators.collect(), structure: format!("S{points}") }
}

/// The symmetric group on the cells of a square matrix, acting on rows and columns alike.
pub fn symmetric_on_matrix(points: usize) -> KnownGroup {
    let generators = (1..points).map(|point| {
        let image = |index: usize| match index {
            index if index == point => point - 1,
            index if index + 1 == point => point,
            index => index,
        };
        let rows = [point - 1, point].into_iter().flat_map(move |row| (0..points).map(move |column| (row, column)));
        let columns = [point - 1, point].into_iter().flat_map(move |column| (0..points).map(move |row| (row, column)));
        let cells: std::collections::BTreeSet<(usize, usize)> = rows.chain(columns).collect();
        permutation(cells.into_iter().map(|(row, column)| (row * points + column, image(row) * points + image(column))))
    });
    KnownGroup { degree: points * points, generators: generators.collect(), structure: format!("S{points}") }
}

/// Rotations of `orbits` rings of `length` points, all at once.
pub fn cyclic_on_orbits(length: usize, orbits: usize) -> KnownGroup {
    let rotation =
        permutation((0..length * orbits).map(|point| (point, point / length * length + (point % length + 1) % length)));
    KnownGroup { degree: length * orbits, generators: vec![rotation], structure: format!("C{length}") }
}

/// Rotations and reflections of a polygon.
pub fn dihedral(corners: usize) -> KnownGroup {
    let rotation = permutation((0..corners).map(|corner| (corner, (corner + 1) % corners)));
    let reflection = permutation((0..corners).map(|corner| (corner, (corners - corner) % corners)));
    KnownGroup { degree: corners, generators: vec![rotation, reflection], structure: format!("D{corners}") }
}

/// Nested symmetric groups of the given sizes, innermost first: all symmetries of a tree of that shape, acting on its
/// leaves.
pub fn iterated_wreath(sizes: &[usize]) -> KnownGroup {
    let degree = sizes.iter().product();
    let mut generators = Vec::new();
    let mut length = 1;
    for &size in sizes {
        for first in (0..degree).step_by(length * size) {
            generators.extend((1..size).map(|place| {
                let left = first + (place - 1) * length;
                exchange(left, left + length, length)
            }));
        }
        length *= size;
    }
    let names: Vec<String> = sizes.iter().map(|size| format!("S{size}")).collect();
    KnownGroup { degree, generators, structure: names.join(" wr ") }
}

/// Interchangeable rings of `length` points, each of which also rotates independently.
pub fn rings_exchanged(length: usize, rings: usize) -> KnownGroup {
    let turn = |ring: usize| {
        permutation((0..length).map(move |place| (ring * length + place, ring * length + (place + 1) % length)))
    };
    let generators =
        (0..rings).map(turn).chain((1..rings).map(|ring| exchange((ring - 1) * length, ring * length, length)));
    KnownGroup { degree: length * rings, generators: generators.collect(), structure: format!("C{length} wr S{rings}") }
}

/// The direct product of copies of a group on disjoint points.
pub fn copies(group: &KnownGroup, count: usize) -> KnownGroup {
    let generators = (0..count).flat_map(|copy| {
        group.generators.iter().map(move |generator| {
            let offset = (copy * group.degree) as Point;
            SparsePermutation::from_sorted_moves(
                generator.moves().map(|(from, to)| (from + offset, to + offset)).collect(),
            )
        })
    });
    let structure = format!("{}^{count}", group.structure);
    KnownGroup { degree: group.degree * count, generators: generators.collect(), structure }
}

/// The symmetries of a hypercube on its corners: exchanges of neighbouring dimensions, and reflections in each
/// dimension.
pub fn hypercube(dimensions: usize) -> KnownGroup {
    let corners = 1usize << dimensions;
    let exchanges = (1..dimensions).map(|dimension| {
        let (low, high) = (dimension - 1, dimension);
        permutation((0..corners).map(move |corner| {
            let differ = (corner >> low ^ corner >> high) & 1;
            (corner, corner ^ (differ << low) ^ (differ << high))
        }))
    });
    let turns =
        (0..dimensions).map(|dimension| permutation((0..corners).map(|corner| (corner, corner ^ 1 << dimension))));
    let generators = exchanges.chain(turns).collect();
    KnownGroup { degree: corners, generators, structure: format!("S2 wr S{dimensions}") }
}
