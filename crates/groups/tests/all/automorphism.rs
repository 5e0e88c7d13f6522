//! The automorphism search, compared with brute force on all small graphs and with known groups.

use num_bigint::BigUint;
use quotient_groups::graph::families;
use quotient_groups::random::Random;
use quotient_groups::{ColouredGraph, GraphBuilder, OrbitPartition, PermutationGroup, Point, generators};

/// Counts the automorphisms one by one and computes the orbits.
fn brute_force(graph: &ColouredGraph) -> (u64, OrbitPartition) {
    fn extend(graph: &ColouredGraph, images: &mut Vec<Point>, count: &mut u64, orbits: &mut OrbitPartition) {
        let vertex = images.len() as Point;
        if images.len() == graph.vertex_count() {
            *count += 1;
            for (vertex, &image) in images.iter().enumerate() {
                orbits.merge(vertex as Point, image);
            }
            return;
        }
        for image in 0..graph.vertex_count() as Point {
            if !images.contains(&image)
                && graph.colour(vertex) == graph.colour(image)
                && (0..vertex).all(|w| graph.has_edge(vertex, w) == graph.has_edge(image, images[w as usize]))
            {
                images.push(image);
                extend(graph, images, count, orbits);
                images.pop();
            }
        }
    }
    let (mut count, mut orbits) = (0, OrbitPartition::new(graph.vertex_count()));
    extend(graph, &mut Vec::new(), &mut count, &mut orbits);
    (count, orbits)
}

/// The order and the orbits agree with brute force, and every generator is an automorphism.
fn check_small(graph: &ColouredGraph) {
    let found = generators(graph);
    let (count, mut orbits) = brute_force(graph);
    assert_eq!(found.order(), BigUint::from(count), "{graph:?}");
    assert_eq!(found.orbits.clone().classes(1), orbits.classes(1), "{graph:?}");
    assert!(found.complete);
    check_generators(graph, &found);
}

fn check_generators(graph: &ColouredGraph, found: &quotient_groups::AutomorphismGroup) {
    for generator in &found.generators {
        assert!(!generator.is_identity());
        assert!(graph.has_automorphism(generator));
    }
    assert_eq!(found.statistics.bad_leaves, 0);
}

fn graph_of_bits(vertices: usize, mut edges: u64, mut colours: u64, palette: u64) -> ColouredGraph {
    let mut builder = GraphBuilder::new();
    for _ in 0..vertices {
        builder.add_vertex((colours % palette) as u32);
        colours /= palette;
    }
    for left in 0..vertices as Point {
        for right in 0..left {
            if edges & 1 == 1 {
                builder.add_edge(left, right);
            }
            edges >>= 1;
        }
    }
    builder.build().unwrap()
}

#[test]
fn all_small_graphs() {
    for vertices in 0..=5usize {
        let pairs = vertices * vertices.saturating_sub(1) / 2;
        for edges in 0..1u64 << pairs {
            for colours in 0..1u64 << vertices {
                check_small(&graph_of_bits(vertices, edges, colours, 2));
            }
        }
    }
    // Six vertices: every graph, with the vertices in two colours, split by vertex number.
    for edges in 0..1u64 << 15 {
        for colours in [0, 0b1, 0b11, 0b101010] {
            check_small(&graph_of_bits(6, edges, colours, 2));
        }
    }
}

#[test]
fn random_small_graphs() {
    let mut random = Random::new(1);
    for _ in 0..4000 {
        let vertices = 6 + random.below(3);
        let edges = match random.below(3) {
            0 => random.number(),
            1 => random.number() & random.number(),
            _ => random.number() & random.number() & random.number(),
        };
        let palette = [1, 1, 2, 3][random.below(4)];
        check_small(&graph_of_bits(vertices, edges, random.number() >> 32, palette));
    }
}

fn factorial(n: u32) -> BigUint {
    (1..=n).map(BigUint::from).product()
}

fn power(base: BigUint, exponent: u32) -> BigUint {
    base.pow(exponent)
}

/// The order is as expected, for the graph as built and for two renumberings.
fn check_order(name: &str, graph: &ColouredGraph, expected: BigUint) {
    for graph in [graph.clone(), families::shuffled(graph, 1), families::shuffled(graph, 2)] {
        let found = generators(&graph);
        assert_eq!(found.order(), expected, "{name}");
        check_generators(&graph, &found);
        assert!(
            found.generators.len() <= found.base.iter().map(|point| point.orbit_length as usize).sum::<usize>(),
            "{name}: more generators than orbit joins"
        );
    }
}

#[test]
fn known_orders() {
    let number = |n: u64| BigUint::from(n);
    check_order("Petersen", &families::petersen(), number(120));
    check_order("Kneser 7 3", &families::kneser(7, 3), factorial(7));
    for n in [1, 2, 5, 20, 60] {
        check_order("complete", &families::complete(n as usize), factorial(n));
    }
    check_order("K(3,4)", &families::complete_bipartite(3, 4), factorial(3) * factorial(4));
    check_order("K(6,6)", &families::complete_bipartite(6, 6), power(factorial(6), 2) * 2u32);
    for n in [3, 4, 5, 17, 100] {
        check_order("cycle", &families::cycle(n), number(2 * n as u64));
    }
    for d in [1, 2, 3, 5, 8] {
        check_order("hypercube", &families::hypercube(d), (factorial(d as u32)) << d);
    }
    for p in [5, 13, 17, 29, 37, 101] {
        check_order("Paley", &families::paley(p), number((p * (p - 1) / 2) as u64));
    }
    check_order("torus 5 7", &families::torus(5, 7), number(4 * 35));
    check_order("torus 9 9", &families::torus(9, 9), number(8 * 81));
    check_order("binary tree", &families::tree(2, 5), number(1) << 31u32);
    check_order("ternary tree", &families::tree(3, 3), power(number(6), 13));
    check_order("plane 2", &families::projective_plane(2), number(168));
    check_order("plane 3", &families::projective_plane(3), number(5616));
    check_order("plane 7", &families::projective_plane(7), number(5_630_688));
    check_order("Steiner", &families::steiner_12(), number(95040));
    check_order("CFI 6", &families::cai_furer_immerman(6, false), number(24 * (1 << 7)));
    check_order("empty", &families::from_edges(30, []), factorial(30));
    check_order("matching", &families::copies(&families::complete(2), 40), (factorial(40)) << 40);
    check_order("Petersens", &families::copies(&families::petersen(), 5), power(number(120), 5) * factorial(5));
    check_order("rigid copies", &families::copies(&families::random_regular(60, 4, 3), 7), factorial(7));
    check_order("rigid", &families::random_regular(400, 6, 1), number(1));
}

#[test]
fn twisted_cfi_has_the_same_order() {
    for rungs in [4, 5, 8, 12] {
        assert_eq!(
            generators(&families::cai_furer_immerman(rungs, false)).order(),
            generators(&families::cai_furer_immerman(rungs, true)).order()
        );
    }
}

#[test]
fn model_families() {
    let number = |n: u64| BigUint::from(n);
    check_order("ring", &families::ring_model(50, 4), number(50));
    check_order("election table", &families::election_table(8), factorial(8));
    check_order("election pairs", &families::election_pairs(20), factorial(20));
    check_order("hypercube", &families::hypercube_model(5), number(3840));
    check_order("wreath", &families::wreath_model(6, 5), power(factorial(6), 5) * factorial(5));
    check_order("factors", &families::factors_model(12, 4), power(factorial(4), 12));
    check_order("product", &families::product_model(4, 6), factorial(4) * factorial(6));
}

#[test]
fn generators_are_strong() {
    for graph in [families::petersen(), families::hypercube(4), families::tree(3, 2), families::torus(4, 6)] {
        let found = generators(&graph);
        let chain = found.chain().unwrap();
        assert_eq!(chain.order(), found.order());
        // An element of the group, built from other generators, sifts through this chain.
        let shuffled = PermutationGroup::new(graph.vertex_count(), found.generators.clone());
        let mut random = Random::new(2);
        let members = shuffled.members();
        for _ in 0..20 {
            let element = members.random_element(&mut random).to_dense(graph.vertex_count()).unwrap();
            assert!(chain.contains(&element));
        }
    }
}

#[test]
fn the_same_graph_gives_the_same_generators() {
    let graph = families::wreath_model(4, 4);
    assert_eq!(generators(&graph).generators, generators(&graph).generators);
}

#[test]
fn limits_stop_the_search() {
    use quotient_groups::automorphism::{SearchLimits, generators_within};
    let graph = families::complete(20);
    let found = generators_within(&graph, &SearchLimits { refinements: Some(25) });
    assert!(!found.complete);
    check_generators(&graph, &found);
    assert!(found.order() < factorial(20));
}
