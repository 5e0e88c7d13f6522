//! The conformance suite of canonicalizers: groups of all kinds acting on states in all ways, and
//! representatives held against orbits that are listed.

use std::collections::BTreeSet;

use quotient_groups::random::Random;
use quotient_ir::{Layout, Model, Valuation};
use quotient_representatives::{Canonicalizer, MethodKind, Strategy, Workspace};
use quotient_symmetry::detect;
use quotient_testkit::actions::{Acting, Variable, cycles, ids, values};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::switches::number_from;

fn acting(name: &str, sorts: &[usize], generators: &[&[&str]], variables: Vec<Variable>) -> Acting {
    let generators = generators
        .iter()
        .map(|generator| {
            let texts = generator.iter().copied().chain(std::iter::repeat("()"));
            sorts.iter().zip(texts).map(|(&size, text)| cycles(size, text)).collect()
        })
        .collect();
    Acting { name: name.to_owned(), sorts: sorts.to_vec(), generators, variables }
}

/// One sort, a group on it, and each of the ways in which variables can have to do with it.
fn in_all_ways(name: &str, size: usize, generators: &[&str]) -> Vec<Acting> {
    let generators: Vec<&[&str]> = generators.iter().map(std::slice::from_ref).collect();
    let ways = [
        ("contents", vec![values(&[0], 3)]),
        ("two arrays", vec![values(&[0], 2), values(&[], 2), values(&[0], 5)]),
        ("holders", vec![ids(&[], 0), values(&[0], 3), ids(&[], 0)]),
        ("only holders", vec![ids(&[], 0), ids(&[], 0), ids(&[], 0)]),
        ("references", vec![values(&[0], 2), ids(&[0], 0)]),
        ("pairs", vec![values(&[0, 0], 2)]),
        ("all", vec![ids(&[], 0), values(&[0], 2), ids(&[0], 0), values(&[0, 0], 2)]),
    ];
    ways.into_iter()
        .map(|(way, variables)| acting(&format!("{name}, {way}"), &[size], &generators, variables))
        .collect()
}

const M11: [&str; 2] = ["(0 1 2 3 4 5 6 7 8 9 10)", "(2 6 10 7)(3 9 4 5)"];
const M12: [&str; 3] = ["(0 1 2 3 4 5 6 7 8 9 10)", "(2 6 10 7)(3 9 4 5)", "(0 11)(1 10)(2 5)(3 7)(4 8)(6 9)"];

fn suite() -> Vec<Acting> {
    let mut suite = Vec::new();
    for (name, size, generators) in [
        ("S2", 2, vec!["(0 1)"]),
        ("S3", 3, vec!["(0 1)", "(0 1 2)"]),
        ("S4", 4, vec!["(0 1)", "(1 2)", "(2 3)"]),
        ("S5 by two", 5, vec!["(0 1)", "(0 1 2 3 4)"]),
        ("A4", 4, vec!["(0 1 2)", "(1 2 3)"]),
        ("A5", 5, vec!["(0 1 2)", "(2 3 4)"]),
        ("C3", 3, vec!["(0 1 2)"]),
        ("C7", 7, vec!["(0 1 2 3 4 5 6)"]),
        ("C12", 12, vec!["(0 1 2 3 4 5 6 7 8 9 10 11)"]),
        ("C12 the other way", 12, vec!["(0 5 10 3 8 1 6 11 4 9 2 7)"]),
        ("D5", 5, vec!["(0 1 2 3 4)", "(1 4)(2 3)"]),
        ("D12", 12, vec!["(0 1 2 3 4 5 6 7 8 9 10 11)", "(1 11)(2 10)(3 9)(4 8)(5 7)"]),
        ("two cycles at once", 5, vec!["(0 1 2)(3 4)"]),
        ("two turns at once", 6, vec!["(0 1 2)(3 4 5)"]),
        ("Klein", 4, vec!["(0 1)(2 3)", "(0 2)(1 3)"]),
        ("S2 wr S3", 6, vec!["(0 1)", "(0 2)(1 3)", "(0 2 4)(1 3 5)"]),
        ("S3 wr S2", 6, vec!["(0 1)", "(1 2)", "(0 3)(1 4)(2 5)"]),
        ("S2 wr S2 wr S2", 8, vec!["(0 1)", "(0 2)(1 3)", "(0 4)(1 5)(2 6)(3 7)"]),
        ("C3 wr C2", 6, vec!["(0 1 2)", "(0 3)(1 4)(2 5)"]),
        ("S2 wr C4", 8, vec!["(0 1)", "(0 2 4 6)(1 3 5 7)"]),
        ("S3 x S2", 5, vec!["(0 1)", "(0 1 2)", "(3 4)"]),
        ("S3 x S3 tied", 6, vec!["(0 1)(3 4)", "(0 1 2)", "(3 4 5)"]),
        ("half of S3 x S3", 6, vec!["(0 1)(3 4)", "(0 1 2)", "(3 5 4)"]),
        ("AGL(1,5)", 5, vec!["(0 1 2 3 4)", "(1 2 4 3)"]),
        ("AGL(1,7)", 7, vec!["(0 1 2 3 4 5 6)", "(1 3 2 6 4 5)"]),
        ("AGL(1,8)", 8, vec!["(0 1)(2 3)(4 5)(6 7)", "(1 2 4 3 6 7 5)"]),
        ("PSL(2,5)", 6, vec!["(0 1 2 3 4)", "(0 5)(1 4)"]),
        ("PSL(3,2)", 7, vec!["(0 1 2 3 4 5 6)", "(1 2)(3 6)"]),
        ("cube", 8, vec!["(0 1)(2 3)(4 5)(6 7)", "(1 2)(5 6)", "(1 2 4)(3 6 5)"]),
        // The ten pairs of five things.
        ("S5 on pairs", 10, vec!["(1 4)(2 5)(3 6)", "(0 4 7 9 3)(1 5 8 2 6)"]),
    ] {
        suite.extend(in_all_ways(name, size, &generators));
    }
    suite.push(acting("M11", &[11], &[&M11[..1], &M11[1..]], vec![values(&[0], 2)]));
    suite.push(acting("M12", &[12], &[&M12[..1], &M12[1..2], &M12[2..]], vec![values(&[0], 2)]));
    suite.push(acting("M12, holders", &[12], &[&M12[..1], &M12[1..2], &M12[2..]], vec![ids(&[], 0), values(&[0], 2)]));
    // Several sorts.
    let rows_and_columns: &[&[&str]] = &[&["(0 1)"], &["(0 1 2)"], &["()", "(0 1)"], &["()", "(0 1 2 3)"]];
    for (name, variables) in [
        ("matrix", vec![values(&[0, 1], 2)]),
        ("matrix and margins", vec![values(&[0], 2), values(&[0, 1], 2), values(&[1], 3)]),
        ("assignment", vec![ids(&[0], 1)]),
        ("assignment and holders", vec![ids(&[0], 1), ids(&[], 0), ids(&[], 1)]),
        ("no meeting", vec![values(&[0], 3), values(&[1], 2), ids(&[], 1)]),
        ("matrix of ids", vec![ids(&[0, 1], 1)]),
    ] {
        suite.push(acting(&format!("S3 x S4, {name}"), &[3, 4], rows_and_columns, variables));
    }
    // Values that permute together with positions, or by themselves.
    for (name, generators, variables) in [
        ("colours", vec![vec!["(0 1 2 3)"], vec!["()", "(0 1)"], vec!["()", "(0 1 2)"]], vec![ids(&[0], 1)]),
        (
            "ring, colours and flags",
            vec![
                vec!["(0 1 2 3)"],
                vec!["(1 3)"],
                vec!["()", "(0 1)"],
                vec!["()", "(0 1 2)"],
                vec!["()", "()", "(0 1)"],
            ],
            vec![ids(&[0], 1), ids(&[0, 1], 2)],
        ),
        ("turn with a flip", vec![vec!["(0 1 2 3)", "(0 1)"]], vec![ids(&[0], 1), values(&[0], 2)]),
        ("flips", vec![vec!["()", "(0 1)"]], vec![ids(&[0], 1), ids(&[], 1)]),
        ("a flip for a swap", vec![vec!["(0 1)", "(0 1)"], vec!["(2 3)"]], vec![ids(&[0], 1)]),
    ] {
        let generators: Vec<&[&str]> = generators.iter().map(Vec::as_slice).collect();
        suite.push(acting(name, &[4, 3, 2], &generators, variables));
    }
    // Servers with clients: sorts of different levels.
    let servers: &[&[&str]] =
        &[&["(0 1)"], &["(0 1 2)"], &["(0 3)(1 4)(2 5)", "(0 1)"], &["(0 3 6)(1 4 7)(2 5 8)", "(0 1 2)"]];
    for (name, variables) in [
        ("contents", vec![values(&[0], 2), values(&[1], 2)]),
        ("holders", vec![values(&[0], 2), ids(&[], 1), ids(&[], 0)]),
        ("references upward", vec![ids(&[0], 1)]),
        ("references downward", vec![values(&[0], 2), ids(&[1], 0)]),
    ] {
        suite.push(acting(&format!("S3 wr S3 with servers, {name}"), &[9, 3], servers, variables));
    }
    // A cube by its sides, each node a triple of them.
    suite.push(acting(
        "cube by sides",
        &[2, 2, 2],
        &[&["(0 1)"], &["()", "(0 1)"], &["()", "()", "(0 1)"]],
        vec![values(&[0, 1, 2], 2)],
    ));
    // Wide contents: more than 64 and more than 128 bits for each part.
    suite.push(acting(
        "S4, wide contents",
        &[4],
        &[&["(0 1)"], &["(0 1 2 3)"]],
        vec![values(&[0], 100_000), values(&[0], 2), values(&[0], 1_000_000), values(&[0], 200), values(&[0], 65_000)],
    ));
    suite.push(acting(
        "C5, wide contents",
        &[5],
        &[&["(0 1 2 3 4)"]],
        vec![values(&[0], 1_000_000_000_000), values(&[0], 1_000_000_000_000), values(&[0], 1_000_000_000_000_000)],
    ));
    suite.push(acting(
        "S3 wr S2, wide contents",
        &[6],
        &[&["(0 1)"], &["(0 1 2)"], &["(0 3)(1 4)(2 5)"]],
        vec![values(&[0], 1_000_000_000), values(&[0], 1_000_000_000), values(&[0], 3)],
    ));
    suite
}

/// Parts that refer to parts are labelled; without this the suite would not notice that another method is used.
#[test]
fn parts_that_refer_to_parts_are_labelled() {
    let two_sorts: &[&[&str]] = &[&["(0 1)"], &["(0 1 2 3 4)"], &["()", "(0 1)"], &["()", "(0 1 2)"]];
    let nested: &[&[&str]] = &[&["(0 1)"], &["(0 1 2)"], &["(0 3)(1 4)(2 5)"]];
    for (name, sorts, generators, variables) in [
        ("references", vec![5], &two_sorts[..2], vec![values(&[0], 2), ids(&[0], 0)]),
        ("pairs", vec![5], &two_sorts[..2], vec![values(&[0, 0], 2)]),
        ("data", vec![5, 3], two_sorts, vec![values(&[0], 3), ids(&[0], 1), ids(&[], 1), ids(&[], 0)]),
        ("matrix", vec![5, 3], two_sorts, vec![values(&[0, 1], 2)]),
        ("triples", vec![5, 3], two_sorts, vec![ids(&[0, 1], 0)]),
        ("nested references", vec![6], nested, vec![values(&[0], 2), ids(&[0], 0)]),
    ] {
        let acting = acting(name, &sorts, generators, variables);
        let canonicalizer = acting.prepare().canonicalizer(Strategy::Canonical).expect("a canonicalizer");
        assert!(canonicalizer.reason().contains("canonical labelling"), "{name}: {}", canonicalizer.reason());
        check_all(&[acting], 40, 2_000, 500);
    }
}

/// Groups generated at random: by a few elements of products and wreath products, on two sorts.
fn random_suite(count: u64) -> Vec<Acting> {
    (0..count).map(random_acting).collect()
}

fn random_acting(seed: u64) -> Acting {
    let mut random = Random::new(seed);
    let sorts = [2 + random.below(6), 2 + random.below(3)];
    let mut generators = Vec::new();
    for _ in 0..1 + random.below(3) {
        let mut element = Vec::new();
        for &size in &sorts {
            let mut images: Vec<usize> = (0..size).collect();
            match random.below(5) {
                0 => {}
                1 => images.rotate_left(1),
                2 => images.swap(random.below(size), random.below(size)),
                3 => {
                    // Within blocks of two or three.
                    let block = 2 + random.below(2);
                    for chunk in images.chunks_mut(block) {
                        random.shuffle(chunk);
                    }
                }
                _ => random.shuffle(&mut images),
            }
            element.push(images);
        }
        generators.push(element);
    }
    let mut variables = vec![values(&[0], 2 + random.below(2))];
    for _ in 0..1 + random.below(3) {
        variables.push(match random.below(7) {
            0 => ids(&[], 0),
            1 => ids(&[0], 1),
            2 => ids(&[0], 0),
            3 => values(&[0, 1], 2),
            4 => values(&[1], 2),
            5 => ids(&[], 1),
            _ => ids(&[1], 0),
        });
    }
    Acting { name: format!("seed {seed}"), sorts: sorts.to_vec(), generators, variables }
}

fn check_all(suite: &[Acting], states: usize, limit: usize, all_states: usize) {
    let wrong: Vec<String> = map_on_workers(2, suite, |acting| {
        let prepared = acting.prepare();
        let mut random = Random::new(acting.name.len() as u64);
        let mut list: Vec<_> = (0..states).map(|_| prepared.random_state(&mut random)).collect();
        list.extend(prepared.all_states(all_states).unwrap_or_default());
        let mut errors = Vec::new();
        for strategy in Strategy::OF_CANONICALIZERS {
            let Some(canonicalizer) = prepared.canonicalizer(strategy) else {
                if strategy == Strategy::Canonical {
                    errors.push(format!("{}: no canonicalizer", acting.name));
                }
                continue;
            };
            // Flooding lists orbits itself; a few will do.
            let list = if strategy == Strategy::Flooding { &list[..states.min(4)] } else { &list[..] };
            errors
                .extend(prepared.check(&canonicalizer, list, limit).err().map(|error| format!("{strategy}: {error}")));
        }
        // Every exact method that supports the group, whether it would be chosen or not.
        for kind in MethodKind::ALL {
            let Some(canonicalizer) = prepared.canonicalizer_by(kind) else { continue };
            errors.extend(prepared.check(&canonicalizer, &list, limit).err().map(|error| format!("{kind:?}: {error}")));
        }
        if let Some(mut canonicalizer) = prepared.canonicalizer(Strategy::Canonical)
            && canonicalizer.tune(&prepared.records(&list), prepared.layout().words() + 1)
        {
            errors.extend(prepared.check(&canonicalizer, &list, limit).err().map(|error| format!("tuned: {error}")));
        }
        errors
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All states of random orbits of random groups, `QUOTIENT_RANDOM_IMAGES` of them, by brute force and by every method.
#[test]
fn all_states_of_random_orbits_have_one_representative() {
    const BATCH: u64 = 64;
    let wanted = number_from("QUOTIENT_RANDOM_IMAGES", 20_000) as usize;
    let mut seed = number_from("QUOTIENT_RANDOM_SEED", 1) * 1_000_000;
    let (mut states, mut groups) = (0, 0);
    while states < wanted {
        let suite: Vec<Acting> = (seed..seed + BATCH).map(random_acting).collect();
        let found = map_on_workers(2, &suite, |acting| {
            let prepared = acting.prepare();
            let mut random = Random::new(acting.name.len() as u64);
            let sample: Vec<Valuation> = (0..16).map(|_| prepared.random_state(&mut random)).collect();
            let forced = MethodKind::ALL.into_iter().filter_map(|kind| prepared.canonicalizer_by(kind));
            let canonicalizers: Vec<Canonicalizer> =
                prepared.canonicalizer(Strategy::Canonical).into_iter().chain(forced).collect();
            let mut count = 0;
            for state in &sample {
                for canonicalizer in &canonicalizers {
                    count += prepared.check_orbit(canonicalizer, state, 4_000)?;
                }
            }
            Ok::<usize, String>(count)
        });
        for result in found {
            states += result.unwrap_or_else(|error| panic!("{error}"));
            groups += 1;
        }
        seed += BATCH;
    }
    assert!(groups > 0 && states >= wanted, "{states} states of {groups} groups");
}

/// All states of orbits, and states near their representatives, by every method.
#[test]
fn all_states_of_some_orbits_have_one_representative() {
    let found = map_on_workers(2, &suite(), |acting| {
        let prepared = acting.prepare();
        let mut random = Random::new(acting.name.len() as u64);
        let sample: Vec<Valuation> = (0..8).map(|_| prepared.random_state(&mut random)).collect();
        for kind in MethodKind::ALL {
            let Some(canonicalizer) = prepared.canonicalizer_by(kind) else { continue };
            for state in &sample {
                prepared.check_orbit(&canonicalizer, state, 1_500)?;
            }
        }
        Ok::<(), String>(())
    });
    let wrong: Vec<String> = found.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_representative_for_each_orbit() {
    check_all(&suite(), 16, 1_500, 500);
}

#[test]
fn one_representative_for_each_orbit_of_random_groups() {
    check_all(&random_suite(200), 8, 1_000, 250);
}

/// The representatives of states, given as values in the order of the slots, under the symmetries of a
/// model that are found.
fn representatives(model: &Model, strategy: Strategy, states: &[&[i64]]) -> Vec<Vec<i64>> {
    let layout = Layout::new(model).expect("a layout");
    let detection = detect(model, &layout, &[], &quotient_ir::Budget::unlimited()).expect("certified symmetries");
    let canonicalizer =
        Canonicalizer::with_strategy(model, &layout, &detection.group, strategy, &quotient_ir::Budget::unlimited())
            .expect("a canonicalizer");
    assert_eq!(canonicalizer.is_exact(), strategy != Strategy::Sorted);
    assert_eq!(canonicalizer.order().to_string(), "24");
    let mut workspace = Workspace::default();
    let representative = |state: &&[i64]| {
        let valuation = Valuation(state.iter().map(|&value| Some(value)).collect());
        let mut words = layout.state(&valuation).0;
        canonicalizer.canonicalize(&mut workspace, &mut words);
        layout.unpack(&words).0.into_iter().map(|value| value.expect("every slot has a value")).collect()
    };
    states.iter().map(representative).collect()
}

/// Section 4.2 of the survey of Wahl and Donaldson (2010): with id-sensitive shared variables,
/// ((1,2,3),A,C,A,B) and ((3,4,2),B,A,A,C) have the same least representative ((1,4,2),A,A,B,C).
#[test]
fn shared_variables_that_hold_processes() {
    let text = "type p: 1..4; l: 0..2;
        var x1: p; x2: p; x3: p; at: array[p] of l;
        ruleset i: p; j: p; k: p do startstate
          x1 := i; x2 := j; x3 := k;
          for q: p do at[q] := 0; end;
        end end;
        ruleset i: p do
          rule at[i] = 0 ==> at[i] := 1; x1 := i; end;
          rule at[i] = 1 ==> at[i] := 2; x2 := i; end;
          rule at[i] = 2 ==> at[i] := 0; x3 := x1; end;
        end;";
    let model = load_murphi("shared", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    // A, B and C are 0, 1 and 2.
    let found = representatives(&model, Strategy::Canonical, &[&[1, 2, 3, 0, 2, 0, 1], &[3, 4, 2, 1, 0, 0, 2]]);
    assert_eq!(found, [[1, 4, 2, 0, 0, 1, 2], [1, 4, 2, 0, 0, 1, 2]]);
}

/// Section 4.3 of the same: with an id-sensitive local variable, ((B,1),(A,1),(C,3),(A,3)) and
/// ((A,4),(B,2),(A,2),(C,4)) are equivalent. Sorting gives two representatives, sorting by segments one.
#[test]
fn variables_of_different_widths() {
    // `a`, `c` and `e` are interchangeable, since none is ever 2 or more, but they have different numbers of bits.
    let text = "var a: 0..1; b: 0..3; c: 0..2; d: 0..3; e: 0..7;
        startstate a := 0; b := 0; c := 0; d := 1; e := 0; end;
        rule a = 0 ==> a := 1; end; rule c = 0 ==> c := 1; end; rule e = 0 ==> e := 1; end;
        rule b < 3 ==> b := b + 1; end; rule d < 3 ==> d := d + 1; end;";
    let model = load_murphi("widths", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let layout = Layout::new(&model).expect("a layout");
    let detection = detect(&model, &layout, &[], &quotient_ir::Budget::unlimited()).expect("certified symmetries");
    let canonicalizer = Canonicalizer::new(&model, &layout, &detection.group).expect("a canonicalizer");
    assert_eq!(canonicalizer.order().to_string(), "6");
    let mut workspace = Workspace::default();
    let mut found = BTreeSet::new();
    for number in 0..8 * 4 * 3 {
        let bit = |shift: i64| Some(number >> shift & 1);
        let (b, d) = (Some(number / 8 % 4), Some(1 + number / 32));
        let state = Valuation(vec![bit(0), b, bit(1), d, bit(2)]);
        let mut words = layout.state(&state).0;
        canonicalizer.canonicalize(&mut workspace, &mut words);
        let image = layout.unpack(&words);
        assert_eq!(layout.state(&image).0, words, "{state:?}");
        let ones = |state: &Valuation| [0, 2, 4].iter().filter(|&&slot| state.0[slot] == Some(1)).count();
        let others = |state: &Valuation| [1, 3].map(|slot| state.0[slot]);
        assert_eq!((ones(&image), others(&image)), (ones(&state), others(&state)));
        found.insert(image.0);
    }
    assert_eq!(found.len(), 4 * 4 * 3);
}

#[test]
fn local_variables_that_hold_processes() {
    let text = "type p: 1..4; l: 0..2;
        var process: array[p] of record at: l; leader: p; end;
        startstate for i: p do process[i].at := 0; process[i].leader := i; end; end;
        ruleset i: p; j: p do
          rule process[i].at = 0 ==> process[i].at := 1; process[i].leader := j; end;
          rule process[i].at = 1 ==> process[i].at := 2; end;
          rule process[i].at = 2 & process[j].leader = i ==> process[i].at := 0; end;
        end;";
    let model = load_murphi("local", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let states: [&[i64]; 2] = [&[1, 1, 0, 1, 2, 3, 0, 3], &[0, 4, 1, 2, 0, 2, 2, 4]];
    let sorted = representatives(&model, Strategy::Sorted, &states);
    // ((A,3),(A,4),(B,3),(C,4)) and ((A,4),(A,3),(B,3),(C,4)), as in the text.
    assert_eq!(sorted, [[0, 3, 0, 4, 1, 3, 2, 4], [0, 4, 0, 3, 1, 3, 2, 4]]);
    for strategy in [Strategy::Segmented, Strategy::Canonical, Strategy::Flooding] {
        let found: BTreeSet<Vec<i64>> = representatives(&model, strategy, &states).into_iter().collect();
        assert_eq!(found.len(), 1, "{strategy}: {found:?}");
        if strategy == Strategy::Segmented {
            assert!(found.contains(&sorted[0]), "{found:?}");
        }
    }
}
