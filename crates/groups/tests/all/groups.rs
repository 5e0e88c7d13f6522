//! Orders, membership and names of groups, compared with brute force, known groups and GAP.

use num_bigint::BigUint;
use quotient_groups::graph::families;
use quotient_groups::random::Random;
use quotient_groups::{
    Action, OrbitPartition, Permutation, PermutationGroup, Point, SparsePermutation, StabiliserChain, Structure,
    generators,
};
use quotient_testkit::prerequisites::{Prerequisite, require_or_skip};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// All elements, by multiplying until nothing new appears.
fn closure(degree: usize, generators: &[Permutation]) -> BTreeSet<Permutation> {
    let mut elements = BTreeSet::from([Permutation::identity(degree)]);
    let mut queue = vec![Permutation::identity(degree)];
    while let Some(element) = queue.pop() {
        for generator in generators {
            let product = element.then(generator);
            if elements.insert(product.clone()) {
                queue.push(product);
            }
        }
    }
    elements
}

fn random_permutation(random: &mut Random, degree: usize) -> Permutation {
    let mut images: Vec<Point> = (0..degree as Point).collect();
    random.shuffle(&mut images);
    Permutation::from_images(images).unwrap()
}

/// A random permutation that moves few points, or a power of one, so that small groups occur.
fn random_generator(random: &mut Random, degree: usize) -> Permutation {
    let permutation = random_permutation(random, degree);
    match random.below(4) {
        0 => permutation,
        1 => permutation.power(2),
        2 => permutation.power(3),
        _ => {
            let cycles = permutation.cycles();
            let count = 1 + random.below(2);
            Permutation::from_cycles(degree, &cycles[..count.min(cycles.len())]).unwrap()
        }
    }
}

#[test]
fn random_groups_against_closure() {
    let mut random = Random::new(5);
    for round in 0..400 {
        let degree = 2 + random.below(6);
        let generators: Vec<Permutation> =
            (0..1 + random.below(3)).map(|_| random_generator(&mut random, degree)).collect();
        let elements = closure(degree, &generators);
        let group = PermutationGroup::new(degree, generators.iter().map(Permutation::to_sparse).collect());
        assert_eq!(group.order(), BigUint::from(elements.len()), "{generators:?}");
        assert_eq!(group.structure().order(), group.order(), "{generators:?} {}", group.structure());
        let members = group.members();
        for _ in 0..10 {
            let candidate = random_permutation(&mut random, degree);
            assert_eq!(members.contains(&candidate.to_sparse()), elements.contains(&candidate));
            let element = members.random_element(&mut random).to_dense(degree).unwrap();
            assert!(elements.contains(&element));
        }
        let chain = StabiliserChain::new(degree, &generators);
        assert_eq!(chain.order(), BigUint::from(elements.len()));
        assert_eq!(chain.elements(10_000).unwrap().into_iter().collect::<BTreeSet<_>>(), elements);
        // Stabilisers of points and sets.
        let mut points: Vec<Point> = (0..degree as Point).collect();
        random.shuffle(&mut points);
        points.truncate(1 + random.below(degree));
        let chain = StabiliserChain::with_base(degree, &generators, &points);
        let pointwise = closure(degree, &chain.stabiliser_generators(points.len()));
        let expected: BTreeSet<Permutation> =
            elements.iter().filter(|element| points.iter().all(|&p| element.image(p) == p)).cloned().collect();
        assert_eq!(pointwise, expected, "round {round}");
        let setwise = closure(degree, &chain.set_stabiliser_generators(points.len()));
        let expected: BTreeSet<Permutation> = elements
            .iter()
            .filter(|element| points.iter().all(|&p| points.contains(&element.image(p))))
            .cloned()
            .collect();
        assert_eq!(setwise, expected, "round {round}");
    }
}

#[test]
fn random_elements_are_uniform() {
    let generators = [Permutation::parse("(0 1 2 3)", 4).unwrap(), Permutation::parse("(0 2)", 4).unwrap()];
    let chain = StabiliserChain::new(4, &generators);
    let mut random = Random::new(3);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..8000 {
        *counts.entry(chain.random_element(&mut random)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 8);
    assert!(counts.values().all(|&count| (800..1200).contains(&count)), "{counts:?}");
}

/// A permutation of tuples.
type MapOfTuples = Box<dyn Fn(&[Point]) -> Vec<Point>>;

/// A group that acts on tuples of coordinates through actions on each coordinate: the induced generators on
/// the given set of tuples.
fn on_tuples(tuples: &[Vec<Point>], generators: &[MapOfTuples]) -> (usize, Vec<SparsePermutation>) {
    let mut sorted = tuples.to_vec();
    sorted.sort();
    let images = generators.iter().map(|generator| {
        let moves = sorted
            .iter()
            .enumerate()
            .map(|(name, tuple)| (name as Point, sorted.binary_search(&generator(tuple)).unwrap() as Point))
            .collect();
        SparsePermutation::from_moves(moves).unwrap()
    });
    let images = images.collect();
    (sorted.len(), images)
}

fn check_structure(name: &str, degree: usize, generators: Vec<SparsePermutation>, expected: &str) {
    let group = PermutationGroup::new(degree, generators);
    let structure = group.structure();
    assert_eq!(structure.to_string(), expected, "{name}");
    assert_eq!(structure.order(), group.order(), "{name}");
}

fn parsed(texts: &[&str]) -> Vec<SparsePermutation> {
    texts.iter().map(|text| SparsePermutation::parse(text).unwrap()).collect()
}

#[test]
fn names_of_given_groups() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "1"),
        (&["(0 1)"], "S2"),
        (&["(0 1)(2 3)"], "S2"),
        (&["(0 1 2)"], "C3"),
        (&["(0 1 2)(3 4)"], "C6"),
        (&["(0 1 2 3 4 5 6 7 8 9)"], "C10"),
        (&["(0 1 2 3 4)(5 6 7 8 9)"], "C5"),
        (&["(0 1)", "(0 1 2 3 4 5 6 7 8)"], "S9"),
        (&["(0 1)", "(1 2)", "(3 4)"], "S3 × S2"),
        (&["(0 1)(3 4)", "(1 2)(4 5)"], "S3"),
        (&["(0 1 2 3)", "(0 2)"], "S2 wr S2"),
        (&["(0 1 2 3 4)", "(1 4)(2 3)"], "D5"),
        (&["(0 1 2 3 4 5)", "(1 5)(2 4)"], "D6"),
        (&["(0 1 2 3 4)(5 6 7 8 9)", "(1 4)(2 3)(6 9)(7 8)"], "D5"),
        (&["(0 1 2)", "(1 2 3)"], "A4"),
        (&["(0 1 2 3 4)", "(0 1 2)"], "A5"),
        (&["(0 1)(2 3)", "(0 2)(1 3)"], "S2 × S2"),
        // Three nodes and two values, on the nodes, the values and their pairs: not a hexagon.
        (&["(0 1)(5 6)(8 9)", "(1 2)(6 7)(9 10)", "(3 4)(5 8)(6 9)(7 10)"], "S3 × S2"),
        (&["(0 1)", "(1 2)", "(3 4)", "(4 5)", "(0 3)(1 4)(2 5)", "(6 7)"], "S3 wr S2 × S2"),
        (&["(0 1)", "(2 3)", "(4 5)", "(6 7)"], "S2^4"),
        // Quaternions: not dihedral.
        (&["(0 1 2 3)(4 5 6 7)", "(0 4 2 6)(1 7 3 5)"], "[8]"),
        (&["(0 1 2 3 4 5 6)", "(1 2)(3 6)"], "[168]"),
        // Mathieu 11.
        (&["(0 1 2 3 4 5 6 7 8 9 10)", "(2 6 10 7)(3 9 4 5)"], "[7920]"),
        (&["(0 1 2)(3 4 5)(6 7 8)", "(0 3 6)(1 4 7)(2 5 8)", "(0 1)(3 4)(6 7)", "(0 3)(1 4)(2 5)"], "S3 × S3"),
        (&["(0 1 2)", "(0 3 6)(1 4 7)(2 5 8)"], "C3 wr C3"),
    ];
    for (texts, expected) in cases {
        check_structure(&texts.join(" "), 11, parsed(texts), expected);
    }
}

#[test]
fn names_of_processes_and_values() {
    // Two-hop colouring: colour[i] = c, flag[i][c] = b. Generated by a rotation and a reflection, or by two
    // reflections; the complement of all flags is a generator alone or combined with an exchange of colours.
    for (n, by_reflections, expected) in [
        (9u32, false, "D9 × S3 × S2"),
        (9, true, "D9 × S3 × S2"),
        (12, false, "D12 × S3 × S2"),
        (12, true, "D12 × S3 × S2"),
        (24, true, "D24 × S3 × S2"),
        (48, true, "D48 × S3 × S2"),
    ] {
        let mut tuples = Vec::new();
        for i in 0..n {
            for c in 0..3 {
                tuples.push(vec![0, i, c]);
                tuples.extend((0..2).map(|b| vec![1, i, c, b]));
            }
        }
        let (degree, generators) = on_tuples(
            &tuples,
            &[
                Box::new(move |t| {
                    let mut t = t.to_vec();
                    t[1] = if by_reflections { (2 * n - 1 - t[1]) % n } else { (t[1] + 1) % n };
                    t
                }),
                Box::new(move |t| {
                    let mut t = t.to_vec();
                    t[1] = (2 * n - 2 - t[1]) % n;
                    t
                }),
                Box::new(|t| {
                    let mut t = t.to_vec();
                    t[2] = [0, 2, 1][t[2] as usize];
                    t
                }),
                Box::new(|t| {
                    let mut t = t.to_vec();
                    t[2] = [1, 0, 2][t[2] as usize];
                    t
                }),
                Box::new(move |t| {
                    let mut t = t.to_vec();
                    if by_reflections {
                        t[2] = [2, 1, 0][t[2] as usize];
                    }
                    if t[0] == 1 {
                        t[3] = 1 - t[3];
                    }
                    t
                }),
            ],
        );
        assert_eq!(PermutationGroup::new(degree, generators.clone()).order(), BigUint::from(24 * n));
        check_structure(&format!("two-hop {n}"), degree, generators, expected);
    }

    // All processes, on single cells, ordered pairs, unordered pairs.
    let swap = |i: Point, a: Point, b: Point| {
        if i == a {
            b
        } else if i == b {
            a
        } else {
            i
        }
    };
    for (shape, n) in [("cells", 8u32), ("pairs", 7), ("sets", 7), ("all", 12), ("all", 60)] {
        let mut tuples = Vec::new();
        for i in 0..n {
            if shape == "cells" || shape == "all" {
                tuples.extend((0..3).map(|v| vec![0, i, v]));
            }
            for j in 0..n {
                if i != j && (shape == "pairs" || shape == "all") {
                    tuples.push(vec![1, i, j]);
                }
                if i < j && (shape == "sets" || shape == "all") {
                    tuples.push(vec![2, i, j]);
                }
            }
        }
        let generators: Vec<MapOfTuples> = (1..n)
            .map(|k| {
                Box::new(move |t: &[Point]| {
                    let mut t = t.to_vec();
                    t[1] = swap(t[1], k - 1, k);
                    if t[0] > 0 {
                        t[2] = swap(t[2], k - 1, k);
                    }
                    if t[0] == 2 {
                        t[1..].sort();
                    }
                    t
                }) as MapOfTuples
            })
            .collect();
        let (degree, generators) = on_tuples(&tuples, &generators);
        check_structure(shape, degree, generators, &format!("S{n}"));
    }
}

#[test]
fn names_of_graph_groups() {
    let cases = [
        ("cube 5", families::hypercube(5), "S2 wr S5"),
        ("Petersen", families::petersen(), "S5"),
        ("tree", families::tree(2, 3), "S2 wr S2 wr S2"),
        ("K(4,4)", families::complete_bipartite(4, 4), "S4 wr S2"),
        ("K(4,5)", families::complete_bipartite(4, 5), "S5 × S4"),
        ("cycle", families::cycle(12), "D12"),
        ("torus", families::torus(5, 7), "D7 × D5"),
        ("ring", families::ring_model(10, 3), "C10"),
        ("election", families::election_pairs(9), "S9"),
        ("election table", families::election_table(9), "S9"),
        ("wreath", families::wreath_model(4, 3), "S4 wr S3"),
        ("factors", families::factors_model(5, 4), "S4^5"),
        ("product", families::product_model(4, 6), "S6 × S4"),
        ("Petersens", families::copies(&families::petersen(), 4), "S5 wr S4"),
    ];
    for (name, graph, expected) in cases {
        let found = generators(&graph);
        let group = PermutationGroup::new(graph.vertex_count(), found.generators.clone());
        assert_eq!(group.order(), found.order(), "{name}");
        assert_eq!(group.structure().to_string(), expected, "{name}");
    }
}

#[test]
fn block_systems_of_small_groups() {
    // The rotations of twelve: one system for each divisor.
    let action = Action::new(12, parsed(&["(0 1 2 3 4 5 6 7 8 9 10 11)"]));
    let orbit: Vec<Point> = (0..12).collect();
    let systems = action.block_systems(&orbit, &orbit[1..], 100);
    assert_eq!(systems.iter().map(|system| system.count).collect::<Vec<_>>(), [2, 3, 4, 6]);
    assert_eq!(systems[1].blocks(), [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]);
    let primitive = Action::new(5, parsed(&["(0 1 2 3 4)"]));
    assert!(primitive.block_systems(&orbit[..5], &orbit[1..5], 100).is_empty());
}

/// Runs a GAP program; `None` if the test should be skipped because GAP is missing.
fn gap(program: &str) -> Option<String> {
    use std::io::Write;
    let child = Command::new("gap")
        .args(["-q", "-A", "-x", "4096"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let found = child.map_err(|error| format!("gap does not start: {error}"));
    let mut child = require_or_skip(Prerequisite::Peer, "groups against GAP", found)?;
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let ended = if output.status.success() { Ok(()) } else { Err(format!("gap ended with {}", output.status)) };
    require_or_skip(Prerequisite::Peer, "groups against GAP", ended)?;
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn orders_agree_with_gap() {
    let mut random = Random::new(11);
    let mut program = String::new();
    let mut expected = Vec::new();
    for _ in 0..150 {
        let degree = 4 + random.below(20);
        let count = 1 + random.below(3);
        let permutations: Vec<SparsePermutation> =
            (0..count).map(|_| random_generator(&mut random, degree).to_sparse()).collect();
        let group = PermutationGroup::new(degree, permutations);
        program.push_str(&group.to_gap("g"));
        program.push_str("Print(Size(g), \" \", Length(Orbits(g, MovedPoints(g))), \"\\n\");\n");
        let orbits = OrbitPartition::of_generators(degree, group.generators()).classes(2).len();
        assert_eq!(group.structure().order(), group.order());
        expected.push(format!("{} {orbits}", group.order()));
    }
    program.push_str("QUIT;\n");
    if let Some(output) = gap(&program) {
        // GAP echoes each group; the numbers are the lines that begin with a digit.
        let numbers = output.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let numbers: Vec<&str> = numbers.collect();
        assert_eq!(numbers.len(), expected.len());
        for (index, (found, expected)) in numbers.into_iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "group {index}");
        }
    }
}

/// A structure as a GAP expression for a group of that type; `None` if it has no name.
fn gap_structure(structure: &Structure) -> Option<String> {
    Some(match structure {
        Structure::Trivial => "Group(())".to_owned(),
        Structure::Symmetric(points) => format!("SymmetricGroup({points})"),
        Structure::Alternating(points) => format!("AlternatingGroup({points})"),
        Structure::Cyclic(order) => format!("CyclicGroup(IsPermGroup, {order})"),
        Structure::Dihedral(corners) => format!("DihedralGroup(IsPermGroup, {})", corners * 2u32),
        // The outer group must act on the copies, which the name alone does not determine for every group.
        Structure::Wreath { inner, outer, copies } => match **outer {
            Structure::Symmetric(points) if points == *copies => {
                format!("WreathProduct({}, SymmetricGroup({points}))", gap_structure(inner)?)
            }
            _ => return None,
        },
        Structure::Product(factors) => {
            let factors: Option<Vec<String>> = factors.iter().map(gap_structure).collect();
            format!("DirectProduct({})", factors?.join(", "))
        }
        Structure::Other { .. } => return None,
    })
}

/// The lines of a GAP program's output that begin with a digit or a truth value; GAP echoes much else.
fn gap_answers(program: &str) -> Option<Vec<String>> {
    let output = gap(program)?;
    let is_answer = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit()) || ["true", "false"].contains(line);
    Some(output.lines().filter(is_answer).map(str::to_owned).collect())
}

#[test]
fn members_and_blocks_agree_with_gap() {
    let mut random = Random::new(21);
    let mut program = String::new();
    let mut expected: Vec<String> = Vec::new();
    for _ in 0..120 {
        let degree = 4 + random.below(9);
        let count = 1 + random.below(2);
        let permutations: Vec<SparsePermutation> =
            (0..count).map(|_| random_generator(&mut random, degree).to_sparse()).collect();
        let group = PermutationGroup::new(degree, permutations.clone());
        let members = group.members();
        program.push_str(&group.to_gap("g"));
        for candidate in [
            members.random_element(&mut random),
            permutations[0].then(&random_generator(&mut random, degree).to_sparse()),
            random_permutation(&mut random, degree).power(2).to_sparse(),
        ] {
            program.push_str(&format!("Print({} in g, \"\\n\");\n", candidate.to_gap()));
            expected.push(members.contains(&candidate).to_string());
        }
        // Block systems of transitive groups: GAP lists one block of each.
        let action = Action::new(degree, permutations);
        let orbits = action.orbits();
        if orbits.len() == 1 {
            let orbit = &orbits[0];
            let systems = action.block_systems(orbit, &orbit[1..], 1000);
            program.push_str("Print(Length(AllBlocks(g)), \"\\n\");\n");
            expected.push(systems.len().to_string());
        }
    }
    program.push_str("QUIT;\n");
    if let Some(answers) = gap_answers(&program) {
        assert_eq!(answers, expected);
    }
}

#[test]
fn names_agree_with_gap() {
    let mut random = Random::new(31);
    let mut program = String::new();
    let mut names = Vec::new();
    while names.len() < 60 {
        let degree = 3 + random.below(8);
        let count = 1 + random.below(3);
        let permutations: Vec<SparsePermutation> =
            (0..count).map(|_| random_generator(&mut random, degree).to_sparse()).collect();
        let group = PermutationGroup::new(degree, permutations);
        let structure = group.structure();
        // For larger ones GAP needs packages that are not always installed.
        if group.order() > BigUint::from(700u32) {
            continue;
        }
        if let Some(expression) = gap_structure(&structure) {
            program.push_str(&group.to_gap("g"));
            program.push_str(&format!("h := {expression};\n"));
            program.push_str(&format!("Print({}, IsomorphismGroups(g, h) <> fail, \"\\n\");\n", names.len()));
            names.push(format!("{structure}: {:?}", group.generators()));
        }
    }
    program.push_str("QUIT;\n");
    if let Some(answers) = gap_answers(&program) {
        let missing = |number: &usize| !answers.contains(&format!("{number}true"));
        let wrong: Vec<&String> = (0..names.len()).filter(missing).map(|number| &names[number]).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Permutations of rows and of columns on the cells of a grid, and on copies of its rows behind the cells.
fn on_grid(rows: &[Permutation], columns: &[Permutation], (height, width): (usize, usize)) -> Vec<SparsePermutation> {
    let cell = |row: usize, column: usize| row * width + column;
    let on_points = |row: &dyn Fn(usize) -> usize, column: &dyn Fn(usize) -> usize| {
        let cells = (0..height * width).map(|it| cell(row(it / width), column(it % width)));
        let images = cells.chain((0..height).map(|it| height * width + row(it))).map(|it| it as Point).collect();
        Permutation::from_images(images).unwrap().to_sparse()
    };
    let rows = rows.iter().map(|it| on_points(&|row| it.images()[row] as usize, &|column| column));
    let columns = columns.iter().map(|it| on_points(&|row| row, &|column| it.images()[column] as usize));
    rows.chain(columns).collect()
}

#[test]
fn direct_products_on_grids() {
    let mut random = Random::new(11);
    for _ in 0..200 {
        let size = (2 + random.below(12), 2 + random.below(12));
        let mut side = |size| (0..1 + random.below(3)).map(|_| random_generator(&mut random, size)).collect::<Vec<_>>();
        let (rows, columns) = (side(size.0), side(size.1));
        let order = |degree, generators: &[Permutation]| StabiliserChain::new(degree, generators).order();
        let group = PermutationGroup::new(size.0 * size.1 + size.0, on_grid(&rows, &columns, size));
        assert_eq!(group.order(), order(size.0, &rows) * order(size.1, &columns), "{rows:?} {columns:?}");
        assert_eq!(group.structure().order(), group.order(), "{rows:?} {columns:?}");
    }
    // A chain of stabilisers would take minutes.
    let swaps = |size| (1..size).map(move |it| Permutation::from_cycles(size as usize, &[vec![it - 1, it]]).unwrap());
    let (rows, columns): (Vec<_>, Vec<_>) = (swaps(600).collect(), swaps(3).collect());
    let group = PermutationGroup::new(600 * 3 + 600, on_grid(&rows, &columns, (600, 3)));
    assert_eq!(group.order(), (1..=600u32).map(BigUint::from).product::<BigUint>() * 6u32);
}

#[test]
fn large_degrees_are_cheap() {
    // A hundred thousand points: many factors, a wreath product, a matrix of processes.
    for graph in [families::factors_model(500, 12), families::wreath_model(25, 25), families::election_pairs(150)] {
        let found = generators(&graph);
        let group = PermutationGroup::new(graph.vertex_count(), found.generators.clone());
        assert_eq!(group.order(), found.order());
        assert_eq!(group.structure().order(), found.order());
    }
}
