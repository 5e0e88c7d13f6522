//! Graphs with known automorphism groups, for tests, benchmarks and experiments.
//!
//! The first part contains textbook graphs. The second part imitates the graphs of models: variables with their
//! literals, constraint nodes with a node for each allowed assignment.

use super::{ColouredGraph, GraphBuilder};
use crate::Point;
use crate::random::Random;

/// The graph with `vertices` vertices of one colour and the given edges. The caller must not pass loops or edges to
/// missing vertices.
pub fn from_edges(vertices: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> ColouredGraph {
    let mut builder = GraphBuilder::new();
    builder.add_vertices(vertices, 0);
    for (left, right) in edges {
        builder.add_edge(left as Point, right as Point);
    }
    builder.build().expect("the edges are between given vertices and are no loops")
}

/// The complete graph: the symmetric group.
pub fn complete(vertices: usize) -> ColouredGraph {
    from_edges(vertices, (0..vertices).flat_map(|left| (0..left).map(move |right| (left, right))))
}

/// The complete bipartite graph.
pub fn complete_bipartite(left: usize, right: usize) -> ColouredGraph {
    from_edges(left + right, (0..left).flat_map(|l| (0..right).map(move |r| (l, left + r))))
}

/// The cycle: a dihedral group, of order twice the number of vertices (at least three).
pub fn cycle(vertices: usize) -> ColouredGraph {
    from_edges(vertices, (0..vertices).map(|vertex| (vertex, (vertex + 1) % vertices)))
}

/// The hypercube: order 2^d · d!.
pub fn hypercube(dimension: usize) -> ColouredGraph {
    let edges = (0..1usize << dimension).flat_map(|v| (0..dimension).map(move |bit| (v, v ^ (1 << bit))));
    from_edges(1 << dimension, edges)
}

/// The Petersen graph: order 120.
pub fn petersen() -> ColouredGraph {
    kneser(5, 2)
}

/// The Kneser graph: subsets of a given size, joined if disjoint. Its group is the symmetric group on the elements if
/// these are more than twice the size.
pub fn kneser(elements: usize, size: usize) -> ColouredGraph {
    let subsets: Vec<usize> = (0..1usize << elements).filter(|set| set.count_ones() as usize == size).collect();
    let mut edges = Vec::new();
    for (left, a) in subsets.iter().enumerate() {
        edges.extend(subsets[..left].iter().enumerate().filter(|(_, b)| a & **b == 0).map(|(right, _)| (left, right)));
    }
    from_edges(subsets.len(), edges)
}

/// The Paley graph of a prime p ≡ 1 (mod 4): order p (p - 1) / 2.
pub fn paley(prime: usize) -> ColouredGraph {
    let squares: Vec<bool> = {
        let mut squares = vec![false; prime];
        (1..prime).for_each(|x| squares[x * x % prime] = true);
        squares
    };
    let edges: Vec<(usize, usize)> =
        (0..prime).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|(a, b)| squares[a - b]).collect();
    from_edges(prime, edges)
}

/// A rows × columns grid that wraps around.
pub fn torus(rows: usize, columns: usize) -> ColouredGraph {
    let at = move |row: usize, column: usize| (row % rows) * columns + column % columns;
    from_edges(
        rows * columns,
        (0..rows)
            .flat_map(|r| (0..columns).map(move |c| (r, c)))
            .flat_map(|(r, c)| [(at(r, c), at(r + 1, c)), (at(r, c), at(r, c + 1))]),
    )
}

/// The complete tree where each inner vertex has `arity` children: order (arity!)^(inner vertices).
pub fn tree(arity: usize, depth: usize) -> ColouredGraph {
    let count = (0..=depth).map(|level| arity.pow(level as u32)).sum();
    from_edges(count, (1..count).map(|vertex| ((vertex - 1) / arity, vertex)))
}

/// Points and lines of the projective plane over a prime field, in two colours.
pub fn projective_plane(prime: usize) -> ColouredGraph {
    let mut points = vec![[0, 0, 1]];
    points.extend((0..prime).map(|z| [0, 1, z]));
    points.extend((0..prime).flat_map(|y| (0..prime).map(move |z| [1, y, z])));
    let mut builder = GraphBuilder::new();
    builder.add_vertices(points.len(), 0);
    builder.add_vertices(points.len(), 1);
    for (point, p) in points.iter().enumerate() {
        for (line, l) in points.iter().enumerate() {
            if (p[0] * l[0] + p[1] * l[1] + p[2] * l[2]) % prime == 0 {
                builder.add_edge(point as Point, (points.len() + line) as Point);
            }
        }
    }
    builder.build().expect("points and lines are different vertices")
}

/// The incidence graph of the Steiner system S(5, 6, 12), blocks as a second colour: the Mathieu group
/// M12, of order 95040. The blocks are the images of the squares modulo 11 under x ↦ (ax + b)/(cx + d)
/// (Conway and Sloane, chapter 11).
pub fn steiner_12() -> ColouredGraph {
    // Point 11 is infinity. Generators of PSL(2, 11): x + 1, 3x (a square), -1/x.
    let inverse = |x: usize| (1..11).find(|y| x * y % 11 == 1).expect("11 is prime");
    let images: [Vec<usize>; 3] = [
        (0..12).map(|x| if x == 11 { 11 } else { (x + 1) % 11 }).collect(),
        (0..12).map(|x| if x == 11 { 11 } else { 3 * x % 11 }).collect(),
        (0..12)
            .map(|x| {
                if x == 11 {
                    0
                } else if x == 0 {
                    11
                } else {
                    (11 - inverse(x)) % 11
                }
            })
            .collect(),
    ];
    let mut blocks: Vec<u32> = vec![[11, 1, 3, 4, 5, 9].iter().map(|bit| 1u32 << bit).sum()];
    let mut next = 0;
    while next < blocks.len() {
        for image in &images {
            let block = (0..12).filter(|bit| blocks[next] >> bit & 1 == 1).map(|bit| 1u32 << image[bit]).sum();
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        next += 1;
    }
    let mut builder = GraphBuilder::new();
    builder.add_vertices(12, 0);
    for block in blocks {
        let vertex = builder.add_vertex(1);
        (0..12).filter(|bit| block >> bit & 1 == 1).for_each(|bit| builder.add_edge(bit, vertex));
    }
    builder.build().expect("blocks and points are different vertices")
}

/// The strongly regular graph of the addition table modulo n: cells are joined if they share the row, the column or the
/// entry.
pub fn latin_square(size: usize) -> ColouredGraph {
    let lines = move |cell: usize| [cell / size, cell % size, (cell / size + cell % size) % size];
    let cells = size * size;
    from_edges(
        cells,
        (0..cells)
            .flat_map(|left| (0..left).map(move |right| (left, right)))
            .filter(move |&(left, right)| lines(left).iter().zip(lines(right)).any(|(a, b)| *a == b)),
    )
}

/// The graph of Cai, Fürer and Immerman over the circular ladder with `rungs` rungs (a cubic base graph); `twisted`
/// crosses one edge. Refinement alone distinguishes nothing here.
pub fn cai_furer_immerman(rungs: usize, twisted: bool) -> ColouredGraph {
    let mut base: Vec<(usize, usize)> = Vec::new();
    for rung in 0..rungs {
        base.push((rung, (rung + 1) % rungs));
        base.push((rungs + rung, rungs + (rung + 1) % rungs));
        base.push((rung, rungs + rung));
    }
    let mut builder = GraphBuilder::new();
    // One pair of vertices for each base edge; one inner vertex for each even subset of edges at a base
    // vertex, joined to the second of the pair for edges in the subset and to the first for the others.
    let pair = |edge: usize, second: bool| (2 * edge + usize::from(second)) as Point;
    builder.add_vertices(2 * base.len(), 0);
    for vertex in 0..2 * rungs {
        let incident: Vec<usize> =
            (0..base.len()).filter(|&edge| base[edge].0 == vertex || base[edge].1 == vertex).collect();
        for subset in 0..8u32 {
            if subset.count_ones() % 2 == u32::from(twisted && vertex == 0) {
                let inner = builder.add_vertex(1);
                for (index, &edge) in incident.iter().enumerate() {
                    builder.add_edge(inner, pair(edge, subset >> index & 1 == 1));
                }
            }
        }
    }
    builder.build().expect("inner vertices and pairs are different vertices")
}

/// A random simple graph with that many edges (repetitions are dropped).
pub fn random(vertices: usize, edges: usize, colours: u32, seed: u64) -> ColouredGraph {
    let mut random = Random::new(seed);
    let mut builder = GraphBuilder::with_capacity(vertices, edges);
    for _ in 0..vertices {
        builder.add_vertex(random.below(colours as usize) as u32);
    }
    for _ in 0..edges {
        let (left, right) = (random.below(vertices), random.below(vertices));
        if left != right {
            builder.add_edge(left as Point, right as Point);
        }
    }
    builder.build().expect("loops were left out")
}

/// A union of `degree / 2` random edge-disjoint cycles through all vertices: regular, and almost surely rigid unless
/// there are too few vertices. There must be more vertices than twice the degree.
pub fn random_regular(vertices: usize, degree: usize, seed: u64) -> ColouredGraph {
    let mut random = Random::new(seed);
    let mut edges: rustc_hash::FxHashSet<(usize, usize)> = rustc_hash::FxHashSet::default();
    let mut order: Vec<usize> = (0..vertices).collect();
    let mut cycles = 0;
    while cycles < degree / 2 {
        random.shuffle(&mut order);
        let next = |index: usize| order[(index + 1) % vertices];
        let cycle: Vec<(usize, usize)> =
            (0..vertices).map(|index| (order[index].min(next(index)), order[index].max(next(index)))).collect();
        // Some attempts share an edge with an earlier cycle; a constant fraction does not.
        if !cycle.iter().any(|edge| edges.contains(edge)) {
            edges.extend(cycle);
            cycles += 1;
        }
    }
    let mut edges: Vec<(usize, usize)> = edges.into_iter().collect();
    edges.sort_unstable();
    from_edges(vertices, edges)
}

/// `copies` disjoint copies of a graph: if connected, the wreath product with the symmetric group.
pub fn copies(graph: &ColouredGraph, copies: usize) -> ColouredGraph {
    let mut builder = GraphBuilder::new();
    for copy in 0..copies {
        let offset = (copy * graph.vertex_count()) as Point;
        graph.colours().iter().for_each(|&colour| {
            builder.add_vertex(colour);
        });
        graph.edges().for_each(|(left, right)| builder.add_edge(offset + left, offset + right));
    }
    builder.build().expect("the copied graph was well-formed")
}

/// The same graph with its vertices renumbered at random.
pub fn shuffled(graph: &ColouredGraph, seed: u64) -> ColouredGraph {
    let mut names: Vec<Point> = (0..graph.vertex_count() as Point).collect();
    Random::new(seed).shuffle(&mut names);
    let mut colours = vec![0; names.len()];
    for (vertex, &name) in names.iter().enumerate() {
        colours[name as usize] = graph.colour(vertex as Point);
    }
    let mut builder = GraphBuilder::new();
    colours.into_iter().for_each(|colour| {
        builder.add_vertex(colour);
    });
    for (left, right) in graph.edges() {
        builder.add_edge(names[left as usize], names[right as usize]);
    }
    builder.build().expect("the shuffled graph was well-formed")
}

/// Nodes and edges of a constraint graph: a variable is joined to its literals, a constraint to its
/// allowed assignments, and an assignment to the literals it contains.
#[derive(Default)]
struct Constraints {
    builder: GraphBuilder,
}

impl Constraints {
    /// A variable whose values `0..values` get the colours `colour + 1 + value`; returns the first literal.
    fn variable(&mut self, values: usize, colour: u32) -> Point {
        let variable = self.builder.add_vertex(colour);
        let first = variable + 1;
        for value in 0..values as u32 {
            let literal = self.builder.add_vertex(colour + 1 + value);
            self.builder.add_edge(variable, literal);
        }
        first
    }

    /// A constraint with its allowed assignments, each a list of literals.
    fn constraint(&mut self, colour: u32, assignments: impl IntoIterator<Item = Vec<Point>>) {
        let constraint = self.builder.add_vertex(colour);
        for assignment in assignments {
            let node = self.builder.add_vertex(colour + 1);
            self.builder.add_edge(constraint, node);
            assignment.into_iter().for_each(|literal| self.builder.add_edge(node, literal));
        }
    }

    fn finish(self) -> ColouredGraph {
        self.builder.build().expect("every node was added before its edges")
    }
}

/// A ring of processes with `states` states each: neighbours are related by the same directed relation everywhere. The
/// group is cyclic.
pub fn ring_model(processes: usize, states: usize) -> ColouredGraph {
    let mut model = Constraints::default();
    let literals: Vec<Point> = (0..processes).map(|_| model.variable(states, 0)).collect();
    let colour = states as u32 + 1;
    for process in 0..processes {
        let (here, next) = (literals[process], literals[(process + 1) % processes]);
        let pairs = (0..states as Point).flat_map(|a| (0..states as Point).map(move |b| (a, b)));
        model.constraint(
            colour,
            pairs.filter(|(a, b)| (a + 1) % states as Point != *b).map(|(a, b)| vec![here + a, next + b]),
        );
    }
    model.finish()
}

/// Processes that all take part in one table over two-valued variables, with a node for each of the 2^n assignments:
/// the full encoding of an election in a complete graph. The group is symmetric.
pub fn election_table(processes: usize) -> ColouredGraph {
    let mut model = Constraints::default();
    let literals: Vec<Point> = (0..processes).map(|_| model.variable(2, 0)).collect();
    let assignments = (0..1usize << processes)
        .map(|set| literals.iter().enumerate().map(|(i, first)| first + (set >> i & 1) as Point).collect());
    model.constraint(3, assignments);
    model.finish()
}

/// Processes where every ordered pair has its own rule with two slot nodes: the compact encoding of an election in a
/// complete graph. The group is symmetric.
pub fn election_pairs(processes: usize) -> ColouredGraph {
    let mut builder = GraphBuilder::new();
    builder.add_vertices(processes, 0);
    for left in 0..processes as Point {
        for right in 0..processes as Point {
            if left != right {
                let rule = builder.add_vertex(1);
                let slot = builder.add_vertex(2);
                builder.add_edge(rule, left);
                builder.add_edge(rule, slot);
                builder.add_edge(slot, right);
            }
        }
    }
    builder.build().expect("every node was added before its edges")
}

/// Message passing in a hypercube: a three-valued variable per node, a relation per directed edge. Order 2^d · d!.
pub fn hypercube_model(dimension: usize) -> ColouredGraph {
    let mut model = Constraints::default();
    let literals: Vec<Point> = (0..1usize << dimension).map(|_| model.variable(3, 0)).collect();
    for node in 0..1usize << dimension {
        for bit in 0..dimension {
            let (here, next) = (literals[node], literals[node ^ (1 << bit)]);
            model.constraint(4, [(0, 1), (1, 2), (2, 2)].map(|(a, b)| vec![here + a, next + b]));
        }
    }
    model.finish()
}

/// `outer` groups of `inner` processes each, with mutual exclusion of every pair inside a group. The wreath product of
/// symmetric groups.
pub fn wreath_model(inner: usize, outer: usize) -> ColouredGraph {
    let mut model = Constraints::default();
    for _ in 0..outer {
        let literals: Vec<Point> = (0..inner).map(|_| model.variable(3, 0)).collect();
        for left in 0..inner {
            for right in 0..left {
                let (a, b) = (literals[left], literals[right]);
                model.constraint(4, [(0, 0), (0, 1), (1, 0), (2, 2)].map(|(x, y)| vec![a + x, b + y]));
            }
        }
    }
    model.finish()
}

/// Independent parts, each with its own colours and `size` interchangeable processes around a shared variable. A direct
/// product of symmetric groups.
pub fn factors_model(factors: usize, size: usize) -> ColouredGraph {
    let mut model = Constraints::default();
    for factor in 0..factors {
        let colour = (factor * 14) as u32;
        let shared = model.variable(3, colour);
        for _ in 0..size {
            let process = model.variable(4, colour + 4);
            model.constraint(
                colour + 9,
                (0..4)
                    .flat_map(|a| (0..3).map(move |b| (a, b)))
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| vec![process + a, shared + b]),
            );
        }
    }
    model.finish()
}

/// Two families of interchangeable processes with a relation for every pair across: S_left × S_right.
pub fn product_model(left: usize, right: usize) -> ColouredGraph {
    let mut model = Constraints::default();
    let lefts: Vec<Point> = (0..left).map(|_| model.variable(4, 0)).collect();
    let rights: Vec<Point> = (0..right).map(|_| model.variable(4, 5)).collect();
    for &a in &lefts {
        for &b in &rights {
            model.constraint(
                10,
                (0..4)
                    .flat_map(|x| (0..4).map(move |y| (x, y)))
                    .filter(|(x, y)| x != y)
                    .map(|(x, y)| vec![a + x, b + y]),
            );
        }
    }
    model.finish()
}
